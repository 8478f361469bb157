//! Training runs: their rows, their steps, what the steps are computed on, and many of them.

pub mod average;
pub mod decisions;
pub mod device;
pub mod due;
pub mod many;
pub mod resume;
pub mod rows;
pub mod searching;
pub mod stop;
pub mod store;
pub mod stream;
pub mod training;
pub mod walk;
