//! Models with forward and backward passes.
