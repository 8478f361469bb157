//! Which adapter is taken: a software one only when it is asked for.

use undercurve_gpu::{Context, GpuError, wgpu};

#[test]
fn software_is_taken_by_name_only() {
    let adapters = pollster::block_on(wgpu::Instance::default().enumerate_adapters(wgpu::Backends::all()));
    let infos: Vec<_> = adapters.iter().map(wgpu::Adapter::get_info).collect();
    let names: Vec<_> = infos.iter().map(|info| info.name.clone()).collect();
    if infos.is_empty() {
        undercurve_tests::skipped("no GPU driver found (on Debian: apt install mesa-vulkan-drivers)");
        assert_eq!(Context::new().unwrap_err(), GpuError::NoAdapter);
        assert_eq!(Context::named("llvmpipe").unwrap_err(), GpuError::NoAdapter);
        return;
    }
    if infos.iter().all(|info| info.device_type == wgpu::DeviceType::Cpu) {
        let error = Context::new().unwrap_err();
        assert_eq!(error, GpuError::OnlySoftware { names: names.clone() });
        assert!(error.to_string().contains(&names[0]), "{error}");
    } else {
        assert!(!Context::new().unwrap().is_software());
    }
    let part = names[0].to_uppercase();
    let context = Context::named(&part[..part.len().min(5)]).unwrap();
    assert!(context.name().starts_with(&names[0]), "{} is not {}", context.name(), names[0]);
    assert_eq!(context.is_software(), infos[0].device_type == wgpu::DeviceType::Cpu);
    let part = "no such adapter".to_string();
    assert_eq!(Context::named(&part).unwrap_err(), GpuError::NotFound { part, names });
}
