//! One `.wgsl` file a kernel, beside it a `.rs` file of the same name with what runs it; its CPU mirror is in gpu/tests/mirror. Texts of whole steps
//! are joined from parts: `common.wgsl`, `pairs.wgsl`, `objective`, `rule`, `surrogate`, and what an engine has of its own (`narrow`, `wide`).

#[macro_use]
pub(crate) mod text;
#[cfg(not(target_arch = "wasm32"))]
pub use text::{Order, in_order};

pub mod exact;
pub mod narrow;
pub(crate) mod objective;
pub(crate) mod parts;
pub(crate) mod rule;
pub(crate) mod surrogate;
pub mod wide;

/// Invocations of a workgroup.
pub(crate) const GROUP: u32 = 256;

/// Rounds of so many loops.
pub(crate) fn times(count: u32, each: u64) -> u64 {
    u64::from(count) * each
}

/// Names of the objectives and of the rules that have a text.
#[must_use]
pub fn names() -> [Vec<&'static str>; 2] {
    [objective::OBJECTIVES.iter().map(|of| of.name).collect(), rule::RULES.iter().map(|of| of.name).collect()]
}

/// Every shader text that the kernels can make, by name, for tests without a driver.
#[must_use]
pub fn texts() -> Vec<(String, String)> {
    [exact::texts(), narrow::texts(), wide::texts()].concat()
}
