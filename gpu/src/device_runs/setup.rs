//! Buffers, bindings and pipelines of runs on a device, and what may go into them.

use crate::GpuError;
use crate::context::Context;
use undercurve::Error;
use wgpu::{BindGroup, BindGroupEntry, Buffer, BufferUsages, ComputePipeline};

/// Bytes between two jobs of the uniform: WebGPU's largest alignment.
pub(super) const JOB: u64 = 256;

/// What every dispatch of one workgroup a run binds, but of rows and what it answers.
#[derive(Debug)]
pub(super) struct Buffers {
    pub jobs: Buffer,
    pub lists: Buffer,
    pub table: Buffer,
    pub numbers: Buffer,
    pub pace: Buffer,
    pub state: Buffer,
    pub work: Buffer,
}

/// Rows on a device, which any number of [`DeviceRuns`](super::DeviceRuns) share.
#[derive(Clone, Debug)]
pub(crate) struct RowTable {
    buffer: Buffer,
    columns: usize,
    count: usize,
}

impl RowTable {
    /// Rows (row-major) of so many columns, part after part.
    ///
    /// # Errors
    /// As `DeviceRuns::new` of rows.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn new(context: &Context, parts: &[&[f32]], columns: usize) -> Result<Self, GpuError> {
        let mut count = 0;
        for part in parts {
            count += check_rows(part, columns)?;
        }
        fits("rows", count * columns, context.binding())?;
        let made = pollster::block_on(context.checked(|| storage(context.device(), "rows", count * columns)));
        let (buffer, mut at) = (made?, 0);
        for (place, part) in parts.iter().enumerate() {
            let write = || {
                // (Each is on its way before the next is copied.)
                if place > 0 {
                    context.queue().submit([]);
                }
                context.queue().write_buffer(&buffer, at, bytemuck::cast_slice(part));
            };
            pollster::block_on(context.checked(write))?;
            at += 4 * part.len() as u64;
        }
        Ok(Self { buffer, columns, count })
    }
}

/// Where rows are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source<'a> {
    /// Still to go to the device.
    Here(&'a [f32]),
    /// On it already.
    #[cfg_attr(target_arch = "wasm32", allow(dead_code))]
    There(&'a RowTable),
}

impl Source<'_> {
    /// How many rows of so many columns.
    pub fn count(self, columns: usize) -> Result<usize, GpuError> {
        match self {
            Self::Here(rows) => check_rows(rows, columns),
            Self::There(table) if table.columns == columns => Ok(table.count),
            Self::There(table) => Err(Error::Length { what: "columns", need: columns, got: table.columns }.into()),
        }
    }

    pub fn words(self) -> usize {
        match self {
            Self::Here(rows) => rows.len(),
            Self::There(table) => table.count * table.columns,
        }
    }

    pub fn buffer(self, context: &Context) -> Buffer {
        match self {
            Self::Here(rows) => {
                let buffer = storage(context.device(), "rows", rows.len());
                context.queue().write_buffer(&buffer, 0, bytemuck::cast_slice(rows));
                buffer
            }
            Self::There(table) => table.buffer.clone(),
        }
    }
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

/// So many uniforms.
pub(super) fn jobs(device: &wgpu::Device, count: usize, label: &'static str) -> Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: JOB * count as u64,
        usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
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

/// The bindings of narrow/step.wgsl.
pub(super) fn bindings(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    bindings_of(device, 1, 9, 6)
}

/// Uniforms up to one place, read-only buffers up to another, and others.
pub(super) fn bindings_of(device: &wgpu::Device, uniforms: u32, end: u32, read_only: u32) -> wgpu::BindGroupLayout {
    let entry = |binding, ty, has_dynamic_offset| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
        count: None,
    };
    let storage = |at| wgpu::BufferBindingType::Storage { read_only: at < read_only };
    let mut entries: Vec<_> = (0..uniforms).map(|at| entry(at, wgpu::BufferBindingType::Uniform, true)).collect();
    entries.extend((uniforms..end).map(|at| entry(at, storage(at), false)));
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some("steps"), entries: &entries })
}

pub(super) fn pipeline(
    context: &Context,
    module: &wgpu::ShaderModule,
    bindings: &wgpu::BindGroupLayout,
    name: &'static str,
) -> ComputePipeline {
    let layout = context.device().create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("steps"),
        bind_group_layouts: &[Some(bindings)],
        ..Default::default()
    });
    context.pipeline(&wgpu::ComputePipelineDescriptor {
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
    buffers: &Buffers,
    rows: &Buffer,
    answer: &Buffer,
) -> BindGroup {
    let Buffers { jobs, lists, table, numbers, pace, state, work } = buffers;
    let uniforms = [(jobs, size_of::<Job>())];
    bind_all(device, layout, &uniforms, &[rows, lists, table, numbers, pace, state, work, answer])
}

/// Uniforms, each with the bytes of one, then buffers.
pub(super) fn bind_all(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    uniforms: &[(&Buffer, usize)],
    buffers: &[&Buffer],
) -> BindGroup {
    let uniform = |&(buffer, bytes): &(_, usize)| {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer,
            offset: 0,
            size: std::num::NonZeroU64::new(bytes as u64),
        })
    };
    let all = uniforms.iter().map(uniform).chain(buffers.iter().map(|buffer| buffer.as_entire_binding()));
    let entries: Vec<_> = (0..).zip(all).map(|(binding, resource)| BindGroupEntry { binding, resource }).collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some("steps"), layout, entries: &entries })
}
