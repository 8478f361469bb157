//! The feature `simd`: loops over batches compiled a second time, for AVX2, and chosen at run time.
//!
//! A [`Kernel`] is ordinary code with a fixed number of accumulators, sums in a fixed tree, and nothing contracted. Compiled for
//! AVX2, a register holds eight numbers instead of four. The operations are the same, so the bits are the same. What a kernel calls
//! has to be inlined into it; the rest is compiled for SSE2 alone, which is slower but right.
//!
//! The crate `pulp` knows what the CPU has (asked once, then a byte that is read) and holds the one `unsafe` call. Beyond that
//! byte a kernel costs a call, so kernels are whole loops over a batch. Programs compiled for AVX2 (`-C target-cpu`)
//! have nothing to choose.
//!
//! Accumulators of lanes go through `black_box` into the loop, so that they lie in memory as arrays when their tree is added up:
//! otherwise the tree decides how the lanes lie in registers inside the loop, and they do not fill them.

#[cfg_attr(
    not(all(feature = "simd", target_arch = "x86_64", not(target_feature = "avx2"))),
    path = "simd/as_compiled.rs"
)]
mod chosen;

pub(crate) use chosen::vectorised;

/// Work that pays to be compiled for wider registers.
pub(crate) trait Kernel {
    /// What it returns.
    type Output;
    /// Does the work. To be marked `#[inline(always)]`, with all that it calls. `wide`: registers of 256 bits, so that
    /// blocks may be larger; no result depends on it.
    fn run(self, wide: bool) -> Self::Output;
}

/// Whether the loops over batches run with AVX2: compiled for it, or (with the feature `simd`) on a CPU that has it. The
/// bits of a result do not depend on it.
#[must_use]
pub fn uses_avx2() -> bool {
    struct Asked;
    impl Kernel for Asked {
        type Output = bool;
        #[inline(always)]
        fn run(self, wide: bool) -> bool {
            wide
        }
    }
    vectorised(Asked)
}
