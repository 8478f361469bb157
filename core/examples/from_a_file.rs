//! From a file to a model file and scores of rows, from the root of a checkout: the README's example.

include!("../src/guide/from_a_file.rs");
