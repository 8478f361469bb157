//! What lies on the device for [`GpuExact`](super::GpuExact): programs, buffers and what binds them.

use crate::context::Context;
use crate::kernel::exact::panel::{self, MOST_BAND, MOST_PANELS, Series, TERMS};
use crate::kernel::exact::scan::{self, Scan};
use crate::kernel::exact::{hinge, rank, sort};
use wgpu::{BindGroup, BindGroupLayout, BindingResource, Buffer, BufferUsages, ComputePipeline, Device};

/// Uniforms lie in slots of one buffer: the passes of the sort, the scans, the series, the rest.
pub(super) const SLOT: usize = 256;
pub(super) const SCANS: usize = sort::PASSES;
pub(super) const SERIES: usize = SCANS + MOST_SCANS;
pub(super) const JOB: usize = SERIES + MOST_SERIES;
pub(super) const SLOTS: usize = JOB + 1;
/// Scans a call makes, at most, and series.
const MOST_SCANS: usize = 4;
const MOST_SERIES: usize = 4;
/// Bytes of a uniform.
const UNIFORM: u64 = 48;

/// The layouts and what runs on them.
#[derive(Debug)]
pub(super) struct Programs {
    /// Of the sort, of scans, and of what reads the order.
    layouts: [BindGroupLayout; 3],
    /// make, count, offsets, scatter.
    sort: [ComputePipeline; 4],
    /// reduce, spine, apply.
    scan: [ComputePipeline; 3],
    /// tally, sample.
    pub(super) rank: [ComputePipeline; 2],
    /// auc, ap_weights, ap_gradient.
    pub(super) hinge: [ComputePipeline; 3],
}

/// Device memory for so many rows, and what binds it.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) rows: usize,
    pub(super) scores: Buffer,
    pub(super) labels: Buffer,
    pub(super) grad: Buffer,
    pub(super) parts: Buffer,
    pub(super) staging: Buffer,
    pub(super) uniforms: Buffer,
    /// Both orders: the last is the second.
    keys: [Buffer; 2],
    marks: [Buffer; 2],
    /// Two of [`scan`](crate::kernel::exact::scan), by row.
    sums: [Buffer; 2],
    /// From the scores to the first order; from that to the second; back.
    sort: [BindGroup; 3],
    /// Into one place for sums, by the first weights; into the other, by the second.
    pub(super) scan: [BindGroup; 2],
    pub(super) job: BindGroup,
}

/// What sigmoid and logistic loss need beside it, made when the first of them is asked for.
#[derive(Debug)]
pub(super) struct Smooth {
    /// bounds, moments, spread.
    panel: [ComputePipeline; 3],
    /// auc, ap_weights, ap_gradient.
    pub(super) programs: [ComputePipeline; 3],
    /// Derivatives of the loss.
    pub(super) table: Buffer,
    /// What `table` is of: its unit, and whether the loss is logistic.
    pub(super) of: (f32, bool),
    starts: Buffer,
    moments: Buffer,
    series: [Buffer; 2],
    layout: BindGroupLayout,
    /// Made anew with the memory: of each of the four series of a call.
    groups: [BindGroup; 4],
    pub(super) job: BindGroup,
}

/// One dispatch.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    pub(super) program: &'a ComputePipeline,
    pub(super) group: &'a BindGroup,
    pub(super) slot: usize,
    pub(super) groups: usize,
}

/// A uniform, then so many buffers that are read, then those that are written.
pub(super) fn layout(device: &Device, read: usize, written: usize) -> BindGroupLayout {
    let storage = |read_only| wgpu::BufferBindingType::Storage { read_only };
    let bound = (0..read).map(|_| storage(true)).chain((0..written).map(|_| storage(false)));
    let entry = |(binding, ty)| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: binding == 0, min_binding_size: None },
        count: None,
    };
    let entries: Vec<_> = (0..).zip([wgpu::BufferBindingType::Uniform].into_iter().chain(bound)).map(entry).collect();
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some("exact"), entries: &entries })
}

/// The entry points of a text.
pub(super) fn pipelines<const N: usize>(
    context: &Context,
    layout: &BindGroupLayout,
    text: String,
    names: [&str; N],
) -> [ComputePipeline; N] {
    let module = context.module("exact", text);
    let layout = context.device().create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("exact"),
        bind_group_layouts: &[Some(layout)],
        ..Default::default()
    });
    names.map(|name| {
        context.pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(name),
            layout: Some(&layout),
            module: &module,
            entry_point: Some(name),
            compilation_options: Default::default(),
            cache: None,
        })
    })
}

pub(super) fn buffer(device: &Device, words: usize, usage: BufferUsages) -> Buffer {
    let size = 4 * words as u64;
    device.create_buffer(&wgpu::BufferDescriptor { label: Some("exact"), size, usage, mapped_at_creation: false })
}

/// The uniform of a slot that is named in the dispatch, then the buffers.
pub(super) fn bind(device: &Device, layout: &BindGroupLayout, uniforms: &Buffer, buffers: &[&Buffer]) -> BindGroup {
    let size = wgpu::BufferSize::new(UNIFORM);
    let uniform = BindingResource::Buffer(wgpu::BufferBinding { buffer: uniforms, offset: 0, size });
    let bound = buffers.iter().map(|buffer| buffer.as_entire_binding());
    let entry = |(binding, resource)| wgpu::BindGroupEntry { binding, resource };
    let entries: Vec<_> = (0..).zip([uniform].into_iter().chain(bound)).map(entry).collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some("exact"), layout, entries: &entries })
}

impl Programs {
    pub(super) fn new(context: &Context) -> Self {
        let device = context.device();
        let layouts = [layout(device, 2, 3), layout(device, 2, 2), layout(device, 4, 4)];
        Self {
            sort: pipelines(context, &layouts[0], sort::text(), ["make", "count", "offsets", "scatter"]),
            scan: pipelines(context, &layouts[1], scan::text(), ["reduce", "spine", "apply"]),
            rank: pipelines(context, &layouts[2], rank::text(), ["tally", "sample"]),
            hinge: pipelines(context, &layouts[2], hinge::text(), ["auc", "ap_weights", "ap_gradient"]),
            layouts,
        }
    }

    /// From scores to the order, which ends in the second place.
    pub(super) fn sort<'a>(&'a self, memory: &'a Memory, rows: usize) -> Vec<Step<'a>> {
        let [make, count, offsets, scatter] = &self.sort;
        let tiles = sort::tiles(rows);
        let mut steps = vec![Step { program: make, group: &memory.sort[0], slot: 0, groups: tiles }];
        for pass in 0..sort::PASSES {
            let group = &memory.sort[1 + pass % 2];
            let step = |(program, groups)| Step { program, group, slot: pass, groups };
            steps.extend([(count, tiles), (offsets, sort::DIGITS), (scatter, tiles)].map(step));
        }
        steps
    }

    /// The scan of the k-th slot.
    pub(super) fn scan<'a>(&'a self, memory: &'a Memory, scan: &Scan, k: usize) -> impl Iterator<Item = Step<'a>> {
        // The second weights are those of the last scan of average precision.
        let group = &memory.scan[usize::from(k == MOST_SCANS - 1)];
        let tiles = scan.tiles();
        // One tile needs no totals.
        let steps = self.scan.iter().zip([tiles, 1, tiles]).skip(if tiles > 1 { 0 } else { 2 });
        steps.map(move |(program, groups)| Step { program, group, slot: SCANS + k, groups })
    }
}

impl Memory {
    pub(super) fn new(device: &Device, programs: &Programs, rows: usize) -> Self {
        let buffer = |words, usage| buffer(device, words, usage);
        let (up, down) = (BufferUsages::COPY_DST, BufferUsages::COPY_SRC);
        let storage = |words| buffer(words, BufferUsages::STORAGE);
        let scores = buffer(rows, BufferUsages::STORAGE | up);
        let labels = buffer(rows.div_ceil(32), BufferUsages::STORAGE | up);
        let grad = buffer(rows, BufferUsages::STORAGE | down);
        let words = rank::parts_len(rows);
        let parts = buffer(words, BufferUsages::STORAGE | down);
        let staging = buffer(words + rows, BufferUsages::MAP_READ | up);
        let uniforms = buffer(SLOTS * SLOT / 4, BufferUsages::UNIFORM | up);
        let [keys, marks] = [[storage(rows), storage(rows)], [storage(rows), storage(rows)]];
        let (counts, totals) = (storage(sort::counts_len(rows)), storage(4 * rows.div_ceil(scan::TILE)));
        let sums = [storage(2 * rows), storage(2 * rows)];
        let bind = |k: usize, buffers: &[&Buffer]| bind(device, &programs.layouts[k], &uniforms, buffers);
        let sort = [
            bind(0, &[&scores, &labels, &keys[0], &marks[0], &counts]),
            bind(0, &[&keys[0], &marks[0], &keys[1], &marks[1], &counts]),
            bind(0, &[&keys[1], &marks[1], &keys[0], &marks[0], &counts]),
        ];
        // After the sort the first order is no longer read: the weights of pairs take its place.
        let scan =
            [bind(1, &[&keys[1], &keys[0], &totals, &sums[0]]), bind(1, &[&keys[1], &marks[0], &totals, &sums[1]])];
        let job = bind(2, &[&keys[1], &marks[1], &sums[0], &sums[1], &grad, &parts, &keys[0], &marks[0]]);
        Self { rows, scores, labels, grad, parts, staging, uniforms, keys, marks, sums, sort, scan, job }
    }
}

impl Smooth {
    pub(super) fn new(context: &Context, programs: &Programs, memory: &Memory) -> Self {
        let device = context.device();
        let storage = |words| buffer(device, words, BufferUsages::STORAGE);
        let table = TERMS * (2 * MOST_BAND + 1);
        let table = buffer(device, table, BufferUsages::STORAGE | BufferUsages::COPY_DST);
        let (starts, moments) = (storage(MOST_PANELS + 1), storage(TERMS * MOST_PANELS));
        let series = [storage(TERMS * MOST_PANELS), storage(TERMS * MOST_PANELS)];
        let layout = layout(device, 4, 3);
        let (groups, job) =
            Self::bind(device, (&layout, &programs.layouts[2]), (&table, &starts, &moments, &series), memory);
        Self {
            panel: pipelines(context, &layout, panel::text(), ["bounds", "moments", "spread"]),
            programs: pipelines(
                context,
                &programs.layouts[2],
                panel::smooth_text(),
                ["auc", "ap_weights", "ap_gradient"],
            ),
            table,
            of: (0.0, false),
            starts,
            moments,
            series,
            layout,
            groups,
            job,
        }
    }

    /// With other memory for the rows.
    pub(super) fn rebind(&mut self, device: &Device, programs: &Programs, memory: &Memory) {
        let layouts = (&self.layout, &programs.layouts[2]);
        let own = (&self.table, &self.starts, &self.moments, &self.series);
        (self.groups, self.job) = Self::bind(device, layouts, own, memory);
    }

    fn bind(
        device: &Device,
        (layout, order): (&BindGroupLayout, &BindGroupLayout),
        (table, starts, moments, series): (&Buffer, &Buffer, &Buffer, &[Buffer; 2]),
        memory: &Memory,
    ) -> ([BindGroup; 4], BindGroup) {
        let Memory { keys, marks, sums, grad, parts, uniforms, .. } = memory;
        let group = |weights, sums, series| {
            bind(device, layout, uniforms, &[&keys[1], weights, sums, table, starts, moments, series])
        };
        let groups = [
            group(&keys[0], &sums[0], &series[0]),
            group(&keys[0], &sums[0], &series[1]),
            group(&keys[0], &sums[0], &series[0]),
            group(&marks[0], &sums[1], &series[1]),
        ];
        let read = [&keys[1], &marks[1], &series[0], &series[1], grad, parts, &keys[0], &marks[0]];
        (groups, bind(device, order, uniforms, &read))
    }

    /// The series of the k-th slot.
    pub(super) fn series(&self, series: &Series, k: usize) -> [Step<'_>; 3] {
        let panels = series.grid.panels;
        let groups = [(panels + 1).div_ceil(64), panels, panels.div_ceil(64)];
        std::array::from_fn(|at| Step {
            program: &self.panel[at],
            group: &self.groups[k],
            slot: SERIES + k,
            groups: groups[at],
        })
    }
}
