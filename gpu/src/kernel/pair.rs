//! Sums over all pairs (positive i, other j): by positive, and the weighted score gradient.
//!
//! For every positive i, over the negatives and over the *other* positives apart: Σ_j ℓ(s_i − s_j), Σ_j ℓ'(s_i − s_j).
//! Then, with weights κ_ij = a_i for negatives and b_i for positives j,
//!
//! ```text
//! c_i = Σ_j κ_ij ℓ'(s_i − s_j)        c_j −= Σ_i κ_ij ℓ'(s_i − s_j)
//! ```
//!
//! (the pair of an example with itself adds nothing to c). Cost: 2 evaluations a pair. Memory on the device: the scores,
//! weights and sums, and up to 64 MiB of partial sums.

use super::surrogate::{Snippet, largest, snippet};
use crate::{Context, GpuError};
use std::collections::HashMap;
use undercurve::Error;
use undercurve::surrogate::{AnySurrogate, SURROGATES};
use wgpu::{BindGroup, BindGroupEntry, Buffer, BufferBinding, BufferUsages, ComputePipeline};

const STAGE: usize = 256;
/// Own scores of a workgroup, eight an invocation: what is staged serves all of them.
const OWN: usize = 512;
const CHUNK: usize = 2048;
/// Own scores of a block, at most.
const LANES: usize = 65_536;
/// Partial sums of a dispatch, at most.
const PARTIAL: usize = 16 << 20;
/// Chunks of a dispatch, at most: `fold_*` loops over them.
const CHUNKS: usize = 8192;

/// Rounds of an invocation, at most, of all its loops together: Mesa's llvmpipe silently stops it after 65,535.
const ROUNDS: usize = 60_000;
/// Rounds of `rows` and `columns`: for each stage itself, its loads and its pairs, and for each plane the eight lanes.
const SWEEP_ROUNDS: usize = CHUNK / STAGE * (1 + STAGE / 64 + STAGE) + 2 * 8;
// Longer data take more dispatches, so no lengths make an invocation loop more often.
const _: () = assert!(SWEEP_ROUNDS <= ROUNDS && CHUNKS <= ROUNDS);

/// Bind groups that are kept, at most: some drivers can make no more than 129.
const GROUPS: usize = 64;

/// Sums of one positive, without the pair of it with itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowSum {
    /// Σ ℓ over the negatives.
    pub negative_loss: f32,
    /// Σ ℓ' over the negatives.
    pub negative_slope: f32,
    /// Σ ℓ over the other positives.
    pub positive_loss: f32,
    /// Σ ℓ' over the other positives.
    pub positive_slope: f32,
}

/// Weights of the pairs of one positive.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairWeight {
    /// a_i, of its pairs with negatives.
    pub negative: f32,
    /// b_i, of its pairs with other positives.
    pub positive: f32,
}

/// The uniform of one block, as the shader has it.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Tile {
    own: u32,
    stream: u32,
    chunks: u32,
    has_self: u32,
    self_at: u32,
    pad: u32,
    shape: [f32; 2],
}

/// A device buffer that grows.
#[derive(Debug)]
struct Store {
    buffer: Buffer,
    floats: usize,
}

/// The pair kernel for one surrogate, with its device memory.
#[derive(Debug)]
pub struct PairKernel {
    context: Context,
    loss: AnySurrogate<f32>,
    snippet: Snippet,
    layout: wgpu::BindGroupLayout,
    /// Sweep and fold by positive.
    rows: [ComputePipeline; 2],
    /// Sweep and fold by score.
    columns: [ComputePipeline; 2],
    negatives: Store,
    positives: Store,
    weights: [Store; 2],
    partial: Store,
    totals: [Store; 2],
    staging: Store,
    groups: Groups,
    /// Own and stream scores of a block, at most.
    block: [usize; 2],
    sums: Vec<RowSum>,
    low: usize,
    /// Largest |ℓ'| of the loaded scores.
    slope: f64,
}

/// The bind groups of the blocks met so far, each with the uniform of its block. A training run meets the same few sizes
/// in every step.
#[derive(Debug, Default)]
struct Groups {
    /// By planes, has_self, own_at, stream_at, own, stream, which decide what is bound.
    made: HashMap<[usize; 6], BindGroup>,
    /// Sizes of the buffers they bind: one that has grown is another buffer.
    floats: [usize; 7],
}

/// One pass over own × stream.
struct Sweep<'a> {
    pipelines: &'a [ComputePipeline; 2],
    own: (&'a Buffer, usize),
    stream: (&'a Buffer, usize),
    weight: &'a Buffer,
    total: &'a Buffer,
    /// Totals an own score has: 2 for rows, 1 for columns.
    planes: usize,
    has_self: bool,
}

impl PairKernel {
    /// Builds the shaders of one surrogate.
    ///
    /// # Errors
    /// `Device`, `Lost`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(context: &Context, loss: AnySurrogate<f32>) -> Result<Self, GpuError> {
        pollster::block_on(Self::new_async(context, loss))
    }

    /// As [`new`](Self::new), also on the web.
    ///
    /// # Errors
    /// `Device`, `Lost`.
    pub async fn new_async(context: &Context, loss: AnySurrogate<f32>) -> Result<Self, GpuError> {
        let snippet = snippet(loss);
        let source = text(snippet);
        context
            .checked(|| {
                let device = context.device();
                let module = context.module("pair", source);
                let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
                    binding,
                    visibility: wgpu::ShaderStages::COMPUTE,
                    ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
                    count: None,
                };
                let storage = |read_only| wgpu::BufferBindingType::Storage { read_only };
                let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                    label: Some("pair"),
                    entries: &[
                        entry(0, wgpu::BufferBindingType::Uniform),
                        entry(1, storage(true)),
                        entry(2, storage(true)),
                        entry(3, storage(true)),
                        entry(4, storage(false)),
                        entry(5, storage(false)),
                    ],
                });
                let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                    label: Some("pair"),
                    bind_group_layouts: &[Some(&layout)],
                    ..Default::default()
                });
                let pipeline = |name| {
                    context.pipeline(&wgpu::ComputePipelineDescriptor {
                        label: Some(name),
                        layout: Some(&pipeline_layout),
                        module: &module,
                        entry_point: Some(name),
                        compilation_options: Default::default(),
                        cache: None,
                    })
                };
                let store = || Store::new(device, 64);
                Self {
                    context: context.clone(),
                    loss,
                    snippet,
                    rows: [pipeline("rows"), pipeline("fold_rows")],
                    columns: [pipeline("columns"), pipeline("fold_columns")],
                    layout,
                    negatives: store(),
                    positives: store(),
                    weights: [store(), store()],
                    partial: store(),
                    totals: [store(), store()],
                    staging: Store::staging(device, 64),
                    groups: Groups::default(),
                    block: [LANES, usize::MAX],
                    sums: Vec::new(),
                    low: 0,
                    slope: 0.0,
                }
            })
            .await
    }

    /// Limits the blocks a dispatch works on, in units of 2048 scores (own, stream). The bits of the results do not
    /// depend on it; dispatches get shorter.
    #[must_use]
    pub fn with_blocks(mut self, own: usize, stream: usize) -> Self {
        self.block = [own.clamp(1, LANES / CHUNK) * CHUNK, stream.clamp(1, CHUNKS) * CHUNK];
        self
    }

    /// The sums of every positive; `out` is as long as `positives`. The scores stay loaded for
    /// [`gradient`](Self::gradient). Either class may be empty.
    ///
    /// # Errors
    /// `Core` with `Length`, `NonFinite`, or `Overflow` when the largest term times the number of terms does not fit
    /// f32; `TooLarge`, `Device`, `Lost`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn row_sums(&mut self, negatives: &[f32], positives: &[f32], out: &mut [RowSum]) -> Result<(), GpuError> {
        pollster::block_on(self.row_sums_async(negatives, positives, out))
    }

    /// As [`row_sums`](Self::row_sums), also on the web.
    ///
    /// # Errors
    /// As there.
    pub async fn row_sums_async(
        &mut self,
        negatives: &[f32],
        positives: &[f32],
        out: &mut [RowSum],
    ) -> Result<(), GpuError> {
        if out.len() != positives.len() {
            return Err(Error::Length { what: "sums", need: positives.len(), got: out.len() }.into());
        }
        self.slope = check(self.loss, negatives, positives)?;
        let (low, high) = (negatives.len(), positives.len());
        self.sums.clear();
        self.low = low;
        if high == 0 {
            return Ok(());
        }
        self.fit(low, high)?;
        let context = self.context.clone();
        // After an error they are gone: some may be invalid.
        let mut groups = std::mem::take(&mut self.groups);
        context
            .checked(|| {
                let (device, queue) = (context.device(), context.queue());
                self.make_room(low, high);
                self.negatives.write(queue, negatives);
                self.positives.write(queue, positives);
                let own = (&self.positives.buffer, high);
                let mut encoder = device.create_command_encoder(&Default::default());
                for (at, stream) in [(&self.negatives.buffer, low), own].into_iter().enumerate() {
                    let total = &self.totals[at].buffer;
                    encoder.clear_buffer(total, 0, None);
                    let sweep = Sweep {
                        pipelines: &self.rows,
                        own,
                        stream,
                        weight: stream.0,
                        total,
                        planes: 2,
                        has_self: at == 1,
                    };
                    self.encode(&mut encoder, &mut groups, &sweep);
                    let bytes = 8 * high as u64;
                    encoder.copy_buffer_to_buffer(total, 0, &self.staging.buffer, at as u64 * bytes, bytes);
                }
                queue.submit([encoder.finish()]);
            })
            .await?;
        self.groups = groups;
        let read = context.read(&self.staging.buffer, 4 * high, self.pairs(high)).await?;
        overflow("pairwise loss", &read)?;
        let (negative, positive) = read.split_at(2 * high);
        self.sums.extend(negative.chunks_exact(2).zip(positive.chunks_exact(2)).map(|(n, p)| RowSum {
            negative_loss: n[0],
            negative_slope: n[1],
            positive_loss: p[0],
            positive_slope: p[1],
        }));
        self.low = low;
        out.copy_from_slice(&self.sums);
        Ok(())
    }

    /// The gradient by the scores of the last [`row_sums`](Self::row_sums), `[negatives | positives]`, with one weight
    /// pair for each positive.
    ///
    /// # Errors
    /// As there.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn gradient(&mut self, weights: &[PairWeight], grad: &mut [f32]) -> Result<(), GpuError> {
        pollster::block_on(self.gradient_async(weights, grad))
    }

    /// As [`gradient`](Self::gradient), also on the web.
    ///
    /// # Errors
    /// As there.
    pub async fn gradient_async(&mut self, weights: &[PairWeight], grad: &mut [f32]) -> Result<(), GpuError> {
        let (low, high) = (self.low, self.sums.len());
        if weights.len() != high {
            return Err(Error::Length { what: "weights", need: high, got: weights.len() }.into());
        }
        if grad.len() != low + high {
            return Err(Error::Length { what: "gradient", need: low + high, got: grad.len() }.into());
        }
        if high == 0 {
            grad.fill(0.0);
            return Ok(());
        }
        let mut most = 0.0f64;
        for (at, w) in weights.iter().enumerate() {
            if !(w.negative.is_finite() && w.positive.is_finite()) {
                return Err(Error::NonFinite { what: "weights", at }.into());
            }
            most = most.max(f64::from(w.negative).abs()).max(f64::from(w.positive).abs());
        }
        if most * self.slope * (low + high) as f64 > f64::from(f32::MAX) {
            return Err(Error::Overflow { what: "score gradient" }.into());
        }
        let context = self.context.clone();
        let mut groups = std::mem::take(&mut self.groups);
        let planes: [Vec<f32>; 2] =
            [weights.iter().map(|w| w.negative).collect(), weights.iter().map(|w| w.positive).collect()];
        context
            .checked(|| {
                let (device, queue) = (context.device(), context.queue());
                for (store, plane) in self.weights.iter().zip(&planes) {
                    store.write(queue, plane);
                }
                let stream = (&self.positives.buffer, high);
                let mut encoder = device.create_command_encoder(&Default::default());
                for (at, own) in [(&self.negatives.buffer, low), stream].into_iter().enumerate() {
                    let total = &self.totals[at].buffer;
                    encoder.clear_buffer(total, 0, None);
                    let sweep = Sweep {
                        pipelines: &self.columns,
                        own,
                        stream,
                        weight: &self.weights[at].buffer,
                        total,
                        planes: 1,
                        has_self: at == 1,
                    };
                    self.encode(&mut encoder, &mut groups, &sweep);
                    let to = 4 * (at * low) as u64;
                    encoder.copy_buffer_to_buffer(total, 0, &self.staging.buffer, to, 4 * own.1 as u64);
                }
                queue.submit([encoder.finish()]);
            })
            .await?;
        self.groups = groups;
        let mut read = context.read(&self.staging.buffer, low + high, self.pairs(high)).await?;
        finish(&mut read, low, &self.sums, weights);
        overflow("score gradient", &read)?;
        grad.copy_from_slice(&read);
        Ok(())
    }

    /// Own scores of a block and stream scores of one, from the lengths of the whole.
    fn blocks(&self, own: usize, planes: usize) -> [usize; 2] {
        let lanes = own.min(self.block[0]);
        let chunks = (PARTIAL / (planes * lanes)).clamp(1, CHUNKS);
        [self.block[0], self.block[1].min(chunks * CHUNK)]
    }

    /// Floats of partial sums the largest block needs.
    fn partial_len(&self, own: usize, stream: usize, planes: usize) -> usize {
        let lanes = own.min(self.block[0]);
        // A smaller own side may take more chunks, but never more than this.
        (planes * lanes * stream.div_ceil(CHUNK)).min(PARTIAL)
    }

    /// Buffers for the sums and for the gradient of so many scores.
    fn make_room(&mut self, low: usize, high: usize) {
        let device = self.context.device();
        let partial = self.partial_len(high, low.max(high), 2).max(self.partial_len(low.max(high), high, 1));
        self.negatives.grow(device, low);
        self.positives.grow(device, high);
        for (weights, totals) in self.weights.iter_mut().zip(&mut self.totals) {
            weights.grow(device, high);
            totals.grow(device, low.max(2 * high));
        }
        self.partial.grow(device, partial);
        self.staging.grow(device, (4 * high).max(low + high));
    }

    /// Pairs of the loaded negatives and so many positives.
    fn pairs(&self, high: usize) -> u64 {
        (high as u64).saturating_mul((self.low + high) as u64)
    }

    /// Writes one sweep's dispatches, block by block.
    fn encode(&self, encoder: &mut wgpu::CommandEncoder, groups: &mut Groups, sweep: &Sweep<'_>) {
        let bound = [&self.negatives, &self.positives, &self.partial];
        let floats = bound.into_iter().chain(&self.weights).chain(&self.totals).map(|store| store.floats);
        if !floats.clone().eq(groups.floats) {
            groups.made.clear();
            groups.floats.iter_mut().zip(floats).for_each(|(kept, now)| *kept = now);
        }
        let (owns, streams) = (sweep.own.1, sweep.stream.1);
        if owns == 0 {
            return;
        }
        let [lanes, length] = self.blocks(owns, sweep.planes);
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for own_at in (0..owns).step_by(lanes) {
            let own_len = lanes.min(owns - own_at);
            for at in (0..streams).step_by(length) {
                let len = length.min(streams - at);
                let key = [sweep.planes, sweep.has_self.into(), own_at, at, own_len, len];
                if groups.made.len() == GROUPS && !groups.made.contains_key(&key) {
                    groups.made.clear();
                }
                let group = groups.made.entry(key).or_insert_with(|| self.bind(sweep, own_at, at, own_len, len));
                pass.set_bind_group(0, &*group, &[]);
                pass.set_pipeline(&sweep.pipelines[0]);
                self.context.dispatch(&mut pass, [own_len.div_ceil(OWN) as u32, len.div_ceil(CHUNK) as u32, 1]);
                pass.set_pipeline(&sweep.pipelines[1]);
                self.context.dispatch(&mut pass, [own_len.div_ceil(64) as u32, 1, 1]);
            }
        }
    }

    /// The uniform and the bind group of one block.
    fn bind(&self, sweep: &Sweep<'_>, own_at: usize, stream_at: usize, own: usize, stream: usize) -> BindGroup {
        let device = self.context.device();
        let chunks = stream.div_ceil(CHUNK);
        let tile = Tile {
            own: own as u32,
            stream: stream as u32,
            chunks: chunks as u32,
            has_self: sweep.has_self.into(),
            self_at: (own_at as u32).wrapping_sub(stream_at as u32),
            pad: 0,
            shape: self.snippet.shape,
        };
        let uniform = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("tile"),
            size: size_of::<Tile>() as u64,
            usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.context.queue().write_buffer(&uniform, 0, bytemuck::bytes_of(&tile));
        let bind = |binding, buffer, at: usize, len: usize| BindGroupEntry {
            binding,
            resource: wgpu::BindingResource::Buffer(BufferBinding {
                buffer,
                offset: 4 * at as u64,
                size: std::num::NonZeroU64::new(4 * len as u64),
            }),
        };
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("pair"),
            layout: &self.layout,
            entries: &[
                bind(0, &uniform, 0, size_of::<Tile>() / 4),
                bind(1, sweep.own.0, own_at, own),
                bind(2, sweep.stream.0, stream_at, stream),
                bind(3, sweep.weight, stream_at, stream),
                bind(4, &self.partial.buffer, 0, sweep.planes * own * chunks),
                bind(5, sweep.total, sweep.planes * own_at, sweep.planes * own),
            ],
        })
    }

    /// Whether the device's buffers can hold this much.
    fn fit(&self, low: usize, high: usize) -> Result<(), GpuError> {
        let need = 4 * (low + high).max(4 * high) as u64;
        let limit = self.context.device().limits().max_buffer_size.min(1 << 34);
        if need > limit { Err(GpuError::TooLarge { what: "scores", need, limit }) } else { Ok(()) }
    }
}

impl Store {
    fn with(device: &wgpu::Device, floats: usize, usage: BufferUsages) -> Self {
        let size = 4 * floats as u64;
        let descriptor = wgpu::BufferDescriptor { label: Some("undercurve"), size, usage, mapped_at_creation: false };
        Self { buffer: device.create_buffer(&descriptor), floats }
    }
    fn new(device: &wgpu::Device, floats: usize) -> Self {
        Self::with(device, floats, BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC)
    }
    fn staging(device: &wgpu::Device, floats: usize) -> Self {
        Self::with(device, floats, BufferUsages::MAP_READ | BufferUsages::COPY_DST)
    }
    fn grow(&mut self, device: &wgpu::Device, floats: usize) {
        if self.floats < floats {
            *self = Self::with(device, floats, self.buffer.usage());
        }
    }
    fn write(&self, queue: &wgpu::Queue, values: &[f32]) {
        queue.write_buffer(&self.buffer, 0, bytemuck::cast_slice(values));
    }
}

/// The shader of one surrogate.
fn text(snippet: Snippet) -> String {
    format!("{}\n{}", wgsl!("pair.wgsl"), snippet.source)
}

/// The shader of each surrogate.
pub(super) fn texts() -> Vec<(String, String)> {
    let of = |&(name, _, param): &(&str, _, f64)| {
        AnySurrogate::by_name(name, param as f32).ok().map(|loss| (format!("pair, {name}"), text(snippet(loss))))
    };
    SURROGATES.iter().filter_map(of).collect()
}

/// Finite scores whose sums fit: the largest |ℓ'|.
fn check(loss: AnySurrogate<f32>, negatives: &[f32], positives: &[f32]) -> Result<f64, GpuError> {
    let mut ends = [[f32::MAX, f32::MIN]; 2];
    for ((what, scores), ends) in [("negatives", negatives), ("positives", positives)].into_iter().zip(&mut ends) {
        for (at, &s) in scores.iter().enumerate() {
            if !s.is_finite() {
                return Err(Error::NonFinite { what, at }.into());
            }
            *ends = [ends[0].min(s), ends[1].max(s)];
        }
    }
    if positives.is_empty() {
        return Ok(0.0);
    }
    let low = ends[1][0] - ends[0][1].max(ends[1][1]);
    let high = ends[1][1] - ends[0][0].min(ends[1][0]);
    let most = largest(loss, low, high);
    if !(low.is_finite() && high.is_finite()) || most * (negatives.len() + positives.len()) as f64 > f64::from(f32::MAX)
    {
        return Err(Error::Overflow { what: "pairwise loss" }.into());
    }
    Ok(most)
}

fn overflow(what: &'static str, values: &[f32]) -> Result<(), GpuError> {
    if values.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(Error::Overflow { what }.into()) }
}

/// Turns column sums into the gradient.
fn finish(columns: &mut [f32], low: usize, sums: &[RowSum], weights: &[PairWeight]) {
    for c in columns.iter_mut() {
        *c = -*c;
    }
    for ((c, sum), w) in columns[low..].iter_mut().zip(sums).zip(weights) {
        *c += w.negative * sum.negative_slope + w.positive * sum.positive_slope;
    }
}

/// The same sums on the CPU, in the same order, with the core's surrogates.
pub mod mirror {
    use super::{CHUNK, PairWeight, RowSum, STAGE, finish};
    use undercurve::surrogate::{AnySurrogate, Surrogate};

    /// Adds `term(k)` for k below `len` as the shader does: stages, chunks, total.
    fn staged(len: usize, mut term: impl FnMut(usize) -> f32) -> f32 {
        let mut total = 0.0;
        for begin in (0..len).step_by(CHUNK) {
            let end = len.min(begin + CHUNK);
            let mut chunk = 0.0;
            for base in (begin..end).step_by(STAGE) {
                let mut stage = 0.0;
                for k in base..end.min(base + STAGE) {
                    stage += term(k);
                }
                chunk += stage;
            }
            total += chunk;
        }
        total
    }

    /// What [`PairKernel::row_sums`](super::PairKernel::row_sums) gives.
    #[must_use]
    pub fn row_sums(loss: AnySurrogate<f32>, negatives: &[f32], positives: &[f32]) -> Vec<RowSum> {
        let others = |i: usize, k: usize, x: f32| if i == k { 0.0 } else { x };
        (0..positives.len())
            .map(|i| RowSum {
                negative_loss: staged(negatives.len(), |k| loss.value(positives[i] - negatives[k])),
                negative_slope: staged(negatives.len(), |k| loss.slope(positives[i] - negatives[k])),
                positive_loss: staged(positives.len(), |k| others(i, k, loss.value(positives[i] - positives[k]))),
                positive_slope: staged(positives.len(), |k| others(i, k, loss.slope(positives[i] - positives[k]))),
            })
            .collect()
    }

    /// What [`PairKernel::gradient`](super::PairKernel::gradient) gives.
    #[must_use]
    pub fn gradient(
        loss: AnySurrogate<f32>,
        negatives: &[f32],
        positives: &[f32],
        sums: &[RowSum],
        weights: &[PairWeight],
    ) -> Vec<f32> {
        let column = |own: &[f32], weight: &dyn Fn(usize, usize) -> f32| -> Vec<f32> {
            (0..own.len())
                .map(|j| staged(positives.len(), |i| weight(i, j) * loss.slope(positives[i] - own[j])))
                .collect()
        };
        let mut grad = column(negatives, &|i, _| weights[i].negative);
        grad.extend(column(positives, &|i, j| if i == j { 0.0 } else { weights[i].positive }));
        finish(&mut grad, negatives.len(), sums, weights);
        grad
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;

    /// Steps of sizes that were met before bind what was bound then.
    #[test]
    fn bind_groups_are_made_once_a_shape() {
        let adapters = pollster::block_on(wgpu::Instance::default().enumerate_adapters(wgpu::Backends::all()));
        let Some(context) = adapters.iter().find_map(|adapter| pollster::block_on(Context::open(adapter)).ok()) else {
            return undercurve_tests::skipped("no GPU driver found (on Debian: apt install mesa-vulkan-drivers)");
        };
        let loss = AnySurrogate::by_name("squared-hinge", 1.0).unwrap();
        let mut kernel = PairKernel::new(&context, loss).unwrap();
        let (low, high) = ([0.25; 300], [0.5; 100]);
        let mut step = |low: &[f32], high: &[f32]| {
            let mut sums = vec![RowSum::default(); high.len()];
            kernel.row_sums(low, high, &mut sums).unwrap();
            kernel.gradient(&vec![PairWeight::default(); high.len()], &mut vec![0.0; low.len() + high.len()]).unwrap();
            // wgpu's objects are equal when they are the same.
            kernel.groups.made.clone()
        };
        let first = step(&low, &high);
        assert_eq!(first.len(), 4);
        assert_eq!(step(&low, &high), first);
        let both = step(&low[..200], &high[..10]);
        assert_eq!(both.len(), 8);
        assert!(first.iter().all(|(key, group)| both.get(key) == Some(group)));
        for positives in 1..=100 {
            assert!(step(&low, &high[..positives]).len() <= GROUPS);
        }
        assert_ne!(step(&low, &high), first);
    }
}
