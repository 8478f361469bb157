//! What the tests run on.

use undercurve_gpu::{Context, wgpu};

/// Every adapter there is, software ones included; says so when there is none.
pub fn contexts() -> Vec<Context> {
    let instance = wgpu::Instance::default();
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let contexts: Vec<_> = adapters.iter().filter_map(|a| pollster::block_on(Context::open(a)).ok()).collect();
    if contexts.is_empty() {
        undercurve_tests::skipped("no GPU driver found (on Debian: apt install mesa-vulkan-drivers)");
    }
    contexts
}
