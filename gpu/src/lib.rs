//! WGSL kernels for pairwise losses through wgpu.
