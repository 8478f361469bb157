//! Buffers, bindings and pipelines of the lanes, and what may go into them.

use crate::GpuError;
use undercurve::Error;
use wgpu::{BindGroup, BindGroupEntry, Buffer, BufferUsages, ComputePipeline};

/// Bytes between two jobs of the uniform: WebGPU's largest alignment.
pub(super) const JOB: u64 = 256;

/// What every dispatch binds.
#[derive(Debug)]
pub(super) struct Buffers {
    pub rows: Buffer,
    pub lists: Buffer,
    pub table: Buffer,
    pub numbers: Buffer,
    pub pace: Buffer,
    pub state: Buffer,
    pub work: Buffer,
    pub values: Buffer,
}

/// The uniform of a dispatch, as step.wgsl has it.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct Job {
    pub first: u32,
    pub steps: u32,
    pub stride: u32,
    pub rows: u32,
}

/// So many words fit a binding.
pub(super) fn fits(what: &'static str, words: usize, limit: u64) -> Result<(), GpuError> {
    let need = 4 * words as u64;
    // (The shader counts in 32 bits.)
    let limit = limit.min(1 << 34);
    if need > limit { Err(GpuError::TooLarge { what, need, limit }) } else { Ok(()) }
}

/// Whole rows of finite numbers: how many.
pub(super) fn check_rows(rows: &[f32], columns: usize) -> Result<usize, GpuError> {
    let count = rows.len() / columns;
    if count == 0 {
        return Err(Error::Empty { what: "rows" }.into());
    }
    if rows.len() != count * columns {
        return Err(Error::Length { what: "rows", need: count * columns, got: rows.len() }.into());
    }
    finite("rows", rows)?;
    Ok(count)
}

pub(super) fn finite(what: &'static str, values: &[f32]) -> Result<(), GpuError> {
    match values.iter().position(|x| !x.is_finite()) {
        Some(at) => Err(Error::NonFinite { what, at }.into()),
        None => Ok(()),
    }
}

pub(super) fn storage(device: &wgpu::Device, label: &'static str, words: usize) -> Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: 4 * words as u64,
        usage: BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    })
}

pub(super) fn staging(device: &wgpu::Device, words: usize) -> Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("staging"),
        size: 4 * words as u64,
        usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

/// The bindings of step.wgsl.
pub(super) fn bindings(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let entry = |binding, ty, has_dynamic_offset| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
        count: None,
    };
    let mut entries = vec![entry(0, wgpu::BufferBindingType::Uniform, true)];
    entries.extend((1..=8).map(|at| entry(at, wgpu::BufferBindingType::Storage { read_only: at < 6 }, false)));
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some("lane"), entries: &entries })
}

pub(super) fn pipeline(
    device: &wgpu::Device,
    module: &wgpu::ShaderModule,
    bindings: &wgpu::BindGroupLayout,
    name: &'static str,
) -> ComputePipeline {
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("lane"),
        bind_group_layouts: &[Some(bindings)],
        ..Default::default()
    });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(name),
        layout: Some(&layout),
        module,
        entry_point: Some(name),
        // All of it is written before it is read, and SwiftShader takes ten times as long to compile its clearing.
        compilation_options: wgpu::PipelineCompilationOptions {
            zero_initialize_workgroup_memory: false,
            ..Default::default()
        },
        cache: None,
    })
}

pub(super) fn bind(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    jobs: &Buffer,
    buffers: &Buffers,
    rows: &Buffer,
    answer: &Buffer,
) -> BindGroup {
    let Buffers { lists, table, numbers, pace, state, work, .. } = buffers;
    let job = wgpu::BufferBinding { buffer: jobs, offset: 0, size: std::num::NonZeroU64::new(size_of::<Job>() as u64) };
    let mut entries = vec![BindGroupEntry { binding: 0, resource: wgpu::BindingResource::Buffer(job) }];
    let bound = [rows, lists, table, numbers, pace, state, work, answer];
    entries.extend((1..).zip(bound).map(|(binding, b)| BindGroupEntry { binding, resource: b.as_entire_binding() }));
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some("lane"), layout, entries: &entries })
}
