//! Sort, ranks and exact sums on the CPU, in the order of the device: a file each beside its kernel's name.

pub mod hinge;
pub mod panel;
pub mod rank;
pub mod scan;
pub mod sort;
