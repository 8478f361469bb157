//! Kernels that are compiled a second time.

use super::Kernel;

struct Wide<K>(K);

impl<K: Kernel> pulp::NullaryFnOnce for Wide<K> {
    type Output = K::Output;
    #[inline(always)]
    fn call(self) -> K::Output {
        self.0.run(true)
    }
}

/// Runs a kernel, with AVX2 where the CPU has it.
#[inline(always)]
pub(crate) fn vectorised<K: Kernel>(kernel: K) -> K::Output {
    match pulp::x86::V3::try_new() {
        Some(avx2) => avx2.vectorize(Wide(kernel)),
        None => kernel.run(false),
    }
}
