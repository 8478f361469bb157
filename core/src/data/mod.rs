//! Feature rows, and (with `alloc`) their preparation from files.

mod rows;

pub use rows::{Rows, Selection};
