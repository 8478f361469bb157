//! One `.wgsl` file a kernel, beside it a `.rs` file of the same name that runs it and holds its CPU mirror.

pub mod pair;
pub mod surrogate;
