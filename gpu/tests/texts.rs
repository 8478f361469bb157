//! Every shader text without a driver: it is valid WGSL, becomes SPIR-V, MSL and HLSL, and keeps to WebGPU's default
//! limits, so that it runs wherever WebGPU does.

use naga::back::{hlsl, msl, spv};
use naga::proc::Layouter;
use naga::valid::{Capabilities, GlobalUse, ValidationFlags, Validator};
use naga::{AddressSpace, Module, StorageAccess};
use undercurve_gpu::kernel::{Order, in_order, texts};

/// maxStorageBuffersPerShaderStage, maxUniformBuffersPerShaderStage, maxComputeWorkgroupStorageSize,
/// maxComputeInvocationsPerWorkgroup and maxComputeWorkgroupSizeX, Y, Z.
const STORAGE: usize = 8;
const UNIFORMS: usize = 12;
const SHARED: u32 = 16_384;
const INVOCATIONS: u32 = 256;
const SIZE: [u32; 3] = [256, 256, 64];

/// What a text does not keep to.
fn broken(text: &str) -> Result<(), String> {
    let module = naga::front::wgsl::parse_str(text).map_err(|error| error.emit_to_string(text))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .map_err(|error| error.emit_to_string(text))?;
    spv::write_vec(&module, &info, &spv::Options::default(), None).map_err(|error| format!("SPIR-V: {error}"))?;
    msl::write_string(&module, &info, &msl::Options::default(), &msl::PipelineOptions::default())
        .map_err(|error| format!("MSL: {error}"))?;
    hlsl::Writer::new(&mut String::new(), &hlsl::Options::default(), &hlsl::PipelineOptions::default())
        .write(&module, &info, None)
        .map_err(|error| format!("HLSL: {error}"))?;
    let mut sizes = Layouter::default();
    sizes.update(module.to_ctx()).map_err(|error| error.to_string())?;
    if module.entry_points.is_empty() {
        return Err("no entry point".to_string());
    }
    for (at, entry) in module.entry_points.iter().enumerate() {
        let (mut storage, mut uniforms, mut shared) = (0, 0, 0);
        for (handle, global) in module.global_variables.iter() {
            if info.get_entry_point(at)[handle] == GlobalUse::empty() {
                continue;
            }
            match global.space {
                AddressSpace::Storage { .. } => storage += 1,
                AddressSpace::Uniform => uniforms += 1,
                AddressSpace::WorkGroup => shared += sizes[global.ty].size.next_multiple_of(16),
                AddressSpace::Private => {}
                other => return Err(format!("{}: {other:?}", entry.name)),
            }
        }
        let size = entry.workgroup_size;
        if storage > STORAGE || uniforms > UNIFORMS || shared > SHARED {
            let name = &entry.name;
            return Err(format!("{name}: {storage} storage buffers, {uniforms} uniforms, {shared} bytes shared"));
        }
        if size.iter().product::<u32>() > INVOCATIONS || size.iter().zip(SIZE).any(|(&size, most)| size > most) {
            return Err(format!("{}: workgroups of {size:?}", entry.name));
        }
    }
    mixed(text)?;
    doubly_bound(&module)
}

/// `||` and `&&` beside each other without parentheses, which naga takes and Chromium does not.
fn mixed(text: &str) -> Result<(), String> {
    for line in text.lines().map(|line| line.split("//").next().unwrap_or("")) {
        let mut open = vec![[false; 2]];
        for (at, sign) in line.char_indices() {
            match sign {
                '(' | '[' => open.push([false; 2]),
                ')' | ']' => drop(open.pop()),
                _ => {}
            }
            let Some(seen) = open.last_mut() else { break };
            for (seen, operator) in seen.iter_mut().zip(["||", "&&"]) {
                *seen |= line[at..].starts_with(operator);
            }
            if *seen == [true; 2] {
                return Err(format!("operators mixed: {line}"));
            }
        }
    }
    Ok(())
}

/// Two globals at one place are one binding of the layout, so they have to be of one kind.
fn doubly_bound(module: &Module) -> Result<(), String> {
    let bound: Vec<_> = module.global_variables.iter().filter_map(|(_, g)| Some((g.binding?, g.space))).collect();
    let writes = |space| matches!(space, AddressSpace::Storage { access } if access.contains(StorageAccess::STORE));
    for (k, (place, space)) in bound.iter().enumerate() {
        if bound[..k].iter().any(|(other, before)| other == place && writes(*before) != writes(*space)) {
            return Err(format!("binding {} is bound in two ways", place.binding));
        }
    }
    Ok(())
}

#[test]
fn every_text_runs_wherever_webgpu_does() {
    let texts = texts();
    assert!(texts.len() >= 8);
    for (name, text) in &texts {
        if let Err(why) = broken(text) {
            panic!("{name}: {why}");
        }
    }
    let mut names: Vec<_> = texts.iter().map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), texts.len(), "each text has a name of its own");
}

/// gpu/tests/order.rs compares bits of what these texts compute.
#[test]
fn every_entry_point_can_take_its_invocations_in_another_order() {
    for (name, text) in texts() {
        for order in [Order::Reversed, Order::Mixed] {
            let other = in_order(text.clone(), order);
            if let Err(why) = broken(&other) {
                panic!("{name}: {order:?}: {why}");
            }
            let indices = other.lines().filter(|line| line.contains("_given") && line.contains("u - 1u - "));
            let indices = if order == Order::Mixed { other.matches("37u * ").count() } else { indices.count() };
            assert_eq!(indices, text.matches("@compute").count(), "{name}: {order:?}");
        }
    }
}

#[test]
fn what_does_not_run_is_found() {
    let entry = "@compute @workgroup_size(64) fn main() {";
    for (text, why) in [
        (format!("{entry} let move = 1; }}"), "reserved"),
        (format!("{entry} x = 1u; }}"), "x"),
        (String::new(), "no entry point"),
        (format!("{entry} let x = true || false && true; }}"), "operators mixed"),
        (format!("var<workgroup> a: array<u32, 4097>; {entry} a[0] = 1u; }}"), "bytes shared"),
        ("@compute @workgroup_size(512) fn main() {}".to_string(), "workgroups of"),
        ("@compute @workgroup_size(1, 1, 65) fn main() {}".to_string(), "workgroups of"),
        (
            (0..9)
                .map(|k| format!("@group(0) @binding({k}) var<storage, read_write> b{k}: array<u32>; "))
                .collect::<String>()
                + entry
                + &(0..9).map(|k| format!("b{k}[0] = 1u;")).collect::<String>()
                + "}",
            "9 storage buffers",
        ),
    ] {
        let error = broken(&text).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
}
