//! Training runs: their rows, their steps, what the steps are computed on, and many of them.

pub mod device;
pub mod many;
pub mod parts;
pub mod shared;
pub mod store;
pub mod walk;
