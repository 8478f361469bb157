//! In place of `chosen.rs` in builds with nothing to choose.

use super::Kernel;

/// Runs a kernel.
#[inline(always)]
pub(crate) fn vectorised<K: Kernel>(kernel: K) -> K::Output {
    kernel.run(cfg!(target_feature = "avx2"))
}
