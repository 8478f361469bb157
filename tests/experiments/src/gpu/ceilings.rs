//! What the adapter itself can do, by shaders that do one thing each.

use super::{Run, Times, spans};
use std::time::Instant;
use undercurve_demo::error::Result;
use undercurve_gpu::{Context, wgpu};
use wgpu::{BindGroup, Buffer, BufferUsages, ComputePipeline};

/// Ceilings that are measured.
pub const COUNT: usize = 4 + DISPATCHES.len();
/// Of them, what the host takes part in.
pub const OF_HOST: usize = 1 + DISPATCHES.len();
/// Dispatches a submit.
const DISPATCHES: [usize; 3] = [1, 14, 1400];
/// Rounds of an invocation, lines of a round, numbers of a line.
const ROUNDS: usize = 128;
const LINES: usize = 8;
const NUMBERS: usize = 16;
/// Invocations of a workgroup.
const GROUP: usize = 256;
/// Bytes that are copied: more than caches hold, and WebGPU's default binding. Software adapters copy fewer.
const COPIED: usize = 128 << 20;
const COPIED_BY_SOFTWARE: usize = 8 << 20;

/// Units a second.
pub struct Ceilings {
    /// Fused multiply-adds.
    pub fma: f64,
    /// 1/x.
    pub inverse: f64,
    /// Bytes, read and written ones together.
    pub copy: f64,
}

impl Ceilings {
    /// Measures and tells all.
    pub fn measure(run: &mut Run) -> Result<Self> {
        let nothing = Self { fma: f64::NAN, inverse: f64::NAN, copy: f64::NAN };
        let Self { fma, inverse, copy } = if run.null { nothing } else { Self::of_adapter(run)? };
        for count in DISPATCHES {
            let name = format!("dispatches, {count} a submit");
            run.ceiling(&name, "dispatches/s", |context, budget| dispatches(context, budget, count))?;
        }
        run.ceiling("from a submit to mapped memory", "round trips/s", round_trips)?;
        Ok(Self { fma, inverse, copy })
    }

    /// What it computes and copies.
    fn of_adapter(run: &mut Run) -> Result<Self> {
        let fma = run.ceiling("fused multiply-adds", "FMA/s", |context, budget| {
            arithmetic(context, budget, |a| format!("{a} = fma({a}, b, c);"))
        })?;
        let inverse = run.ceiling("1/x", "1/s", |context, budget| {
            arithmetic(context, budget, |a| format!("{a} = vec4<f32>(1.0) / ({a} + c);"))
        })?;
        let copy = run.ceiling("copy, bytes read and written", "B/s", copy)?;
        Ok(Self { fma, inverse, copy })
    }
}

fn buffer(context: &Context, bytes: usize, usage: BufferUsages) -> Buffer {
    let size = bytes as u64;
    let descriptor = wgpu::BufferDescriptor { label: Some("ceiling"), size, usage, mapped_at_creation: false };
    context.device().create_buffer(&descriptor)
}

/// The program of a text with the entry point `main`, and its buffers bound.
fn program(context: &Context, text: String, buffers: &[&Buffer]) -> (ComputePipeline, BindGroup) {
    let device = context.device();
    let source = wgpu::ShaderSource::Wgsl(text.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some("ceiling"), source });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("ceiling"),
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    });
    let bound = (0..).zip(buffers);
    let entries: Vec<_> =
        bound.map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() }).collect();
    let layout = pipeline.get_bind_group_layout(0);
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("ceiling"),
        layout: &layout,
        entries: &entries,
    });
    (pipeline, group)
}

/// Submits so many dispatches.
fn submit(context: &Context, (pipeline, group): &(ComputePipeline, BindGroup), groups: usize, dispatches: usize) {
    let mut encoder = context.device().create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(pipeline);
    pass.set_bind_group(0, group, &[]);
    for _ in 0..dispatches {
        pass.dispatch_workgroups(groups as u32, 1, 1);
    }
    drop(pass);
    context.queue().submit([encoder.finish()]);
}

/// Sixteen chains of one operation an invocation, unrolled; `line` is the operation on four of them. What comes out decides over
/// a store that never happens, so that nothing can be left out.
fn arithmetic(context: &Context, budget: f64, line: impl Fn(&str) -> String) -> Result<(f64, Times)> {
    let lines: String = ["a0", "a1", "a2", "a3"].map(line).join("\n").repeat(LINES);
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> data: array<vec4<f32>>;
        @compute @workgroup_size({GROUP}) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
            let b = data[0];
            let c = data[1];
            var a0 = vec4<f32>(f32(id.x)) + vec4<f32>(0.0, 1.0, 2.0, 3.0);
            var a1 = a0 + 4.0;
            var a2 = a0 + 8.0;
            var a3 = a0 + 12.0;
            for (var k = 0u; k < {ROUNDS}u; k++) {{ {lines} }}
            let sum = (a0 + a1) + (a2 + a3);
            if (sum.x + sum.y) + (sum.z + sum.w) == -1.0 {{ data[2] = sum; }}
        }}"
    );
    let data = buffer(context, 48, BufferUsages::STORAGE | BufferUsages::COPY_DST);
    let numbers = [[0.75f32; 4], [0.5; 4]].concat();
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    context.queue().write_buffer(&data, 0, &bytes);
    let program = program(context, text, &[&data]);
    submit(context, &program, 1, 1);
    context.idle(0)?;
    // As many workgroups as fill the adapter for a while, beside which the cost of a dispatch is small.
    let (mut groups, enough) = (16, (budget / 20.0).min(2e-3));
    loop {
        let start = Instant::now();
        submit(context, &program, groups, 1);
        context.idle(0)?;
        if start.elapsed().as_secs_f64() >= enough || groups >= 32_768 {
            break;
        }
        groups *= 2;
    }
    let times = spans(budget, |calls| {
        submit(context, &program, groups, calls);
        Ok(context.idle(0)?)
    })?;
    Ok(((groups * GROUP * ROUNDS * LINES * NUMBERS) as f64, times))
}

fn copy(context: &Context, budget: f64) -> Result<(f64, Times)> {
    let bytes = if context.is_software() { COPIED_BY_SOFTWARE } else { COPIED };
    let text = format!(
        "@group(0) @binding(0) var<storage, read> source: array<vec4<f32>>;
        @group(0) @binding(1) var<storage, read_write> copied: array<vec4<f32>>;
        @compute @workgroup_size({GROUP}) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ copied[id.x] = source[id.x]; }}"
    );
    let [from, to] = [0; 2].map(|_| buffer(context, bytes, BufferUsages::STORAGE));
    let program = program(context, text, &[&from, &to]);
    let times = spans(budget, |calls| {
        submit(context, &program, bytes / 16 / GROUP, calls);
        Ok(context.idle(0)?)
    })?;
    Ok((2.0 * bytes as f64, times))
}

const ONE_WORD: &str = "@group(0) @binding(0) var<storage, read_write> word: array<u32>;
    @compute @workgroup_size(1) fn main() { word[0] = word[0] + 1u; }";

/// Dispatches of one workgroup that changes one word, each after the one before; a call is a submit.
fn dispatches(context: &Context, budget: f64, count: usize) -> Result<(f64, Times)> {
    let word = buffer(context, 4, BufferUsages::STORAGE);
    let program = program(context, ONE_WORD.to_string(), &[&word]);
    let times = spans(budget, |calls| {
        (0..calls).for_each(|_| submit(context, &program, 1, count));
        Ok(context.idle(0)?)
    })?;
    Ok((count as f64, times))
}

/// Whether the driver never gets dispatches.
pub fn is_dropped(context: &Context) -> Result<bool> {
    let word = buffer(context, 4, BufferUsages::STORAGE | BufferUsages::COPY_SRC);
    let staging = buffer(context, 4, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
    let program = program(context, ONE_WORD.to_string(), &[&word]);
    submit(context, &program, 1, 1);
    let mut encoder = context.device().create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(&word, 0, &staging, 0, 4);
    context.queue().submit([encoder.finish()]);
    staging.map_async(wgpu::MapMode::Read, 0..4, |_| ());
    context.idle(0)?;
    let view = staging.get_mapped_range(0..4).map_err(|error| anyhow::anyhow!("{error}"))?;
    Ok(*view != 1u32.to_le_bytes())
}

/// One such dispatch, and its word read back.
fn round_trips(context: &Context, budget: f64) -> Result<(f64, Times)> {
    let word = buffer(context, 4, BufferUsages::STORAGE | BufferUsages::COPY_SRC);
    let staging = buffer(context, 4, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
    let program = program(context, ONE_WORD.to_string(), &[&word]);
    let times = spans(budget, |calls| {
        for _ in 0..calls {
            submit(context, &program, 1, 1);
            let mut encoder = context.device().create_command_encoder(&Default::default());
            encoder.copy_buffer_to_buffer(&word, 0, &staging, 0, 4);
            context.queue().submit([encoder.finish()]);
            staging.map_async(wgpu::MapMode::Read, 0..4, |_| ());
            context.idle(0)?;
            staging.unmap();
        }
        Ok(())
    })?;
    Ok((1.0, times))
}
