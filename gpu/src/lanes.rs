//! Many runs at once: one workgroup is one run and makes many steps a dispatch.

use crate::GpuError;
use crate::context::{Context, Signal, Submitted};
use crate::kernel::lane::{Layout, ROUNDS, Rounds, Shape};
use std::collections::VecDeque;
use undercurve::Error;
use wgpu::{BindGroup, BindGroupEntry, Buffer, BufferUsages, ComputePipeline};

/// Runs, at most.
pub const MAX_RUNS: usize = 1024;
/// What a submission is to take, in seconds: some systems reset a GPU that gives no answer for two, and a page needs it for
/// its own frames.
const AIM: f64 = if cfg!(target_arch = "wasm32") { 0.008 } else { 0.05 };
/// Dispatches of a submission, at most.
const DISPATCHES: usize = 64;
/// Bytes between two jobs of the uniform: WebGPU's largest alignment.
const JOB: u64 = 256;
/// Bytes of lists and of paces that are on the device at a time, about.
const WINDOW: usize = 16 << 20;
/// Submissions on their way, at most, so that the device always has one more.
const AHEAD: usize = 2;

/// Runs of one [`Shape`] on one device, each with its own state and numbers.
///
/// ```no_run
/// # use undercurve_gpu::{Context, GpuError, Lanes, kernel::lane::Lane};
/// # fn train(lane: &Lane, rows: &[f32], start: &[f32], lists: &[u32], pace: &[f32]) -> Result<(), GpuError> {
/// let mut lanes = Lanes::new(&Context::new()?, &lane.shape, rows, 64)?;
/// for run in 0..64 {
///     lanes.load(run, start, &lane.numbers)?;
/// }
/// lanes.advance(100, lists, &[0; 64], pace)?; // one list of batches for all
/// let mut states = vec![0.0; 64 * start.len()];
/// lanes.states(&mut states)?;
/// # Ok(())
/// # }
/// ```
///
/// The order of every sum depends on the shape only. Nothing is checked on the device: a run that overflows has numbers
/// that are not finite in its value and its state.
#[derive(Debug)]
pub struct Lanes {
    context: Context,
    layout: Layout,
    rounds: Rounds,
    runs: usize,
    /// Rows of the data.
    rows: usize,
    /// Steps whose lists and paces fit on the device.
    window: usize,
    module: wgpu::ShaderModule,
    advance: ComputePipeline,
    bindings: wgpu::BindGroupLayout,
    jobs: Buffer,
    buffers: Buffers,
    group: BindGroup,
    test: Option<Test>,
    /// States, and values of runs, on their way to the caller.
    staging: [Buffer; 2],
    flights: VecDeque<Flight>,
    /// When the last submission ended.
    ended: f64,
    /// Seconds a step of all runs takes, and a block of rows.
    pace: [Pace; 2],
}

/// What every dispatch binds.
#[derive(Debug)]
struct Buffers {
    rows: Buffer,
    lists: Buffer,
    table: Buffer,
    numbers: Buffer,
    pace: Buffer,
    state: Buffer,
    work: Buffer,
    values: Buffer,
}

/// Rows that are scored for reports.
#[derive(Debug)]
struct Test {
    rows: usize,
    look: ComputePipeline,
    scores: Buffer,
    group: BindGroup,
    /// Reports that were begun, by the staging buffer they come through, oldest first.
    begun: VecDeque<(usize, Signal)>,
    ring: [Buffer; 2],
}

/// A submission on its way: when it was submitted, what it does, and how many of it.
#[derive(Debug)]
struct Flight {
    work: Submitted,
    at: f64,
    kind: usize,
    count: u64,
}

/// How many steps (or blocks) a submission has.
#[derive(Clone, Copy, Debug)]
struct Pace(u64);

impl Pace {
    /// After so many took so many seconds: no more than four times as many as before.
    fn learn(&mut self, count: u64, seconds: f64) {
        let fit = AIM * count as f64 / seconds.max(1e-6);
        self.0 = (fit as u64).clamp(1, 4 * count.max(1));
    }
}

/// The uniform of a dispatch, as step.wgsl has it.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Job {
    first: u32,
    steps: u32,
    stride: u32,
    rows: u32,
}

impl Lanes {
    /// Builds the shader of a shape, with all rows of the data (row-major) and so many runs, whose states are 0.
    ///
    /// # Errors
    /// `NoKernel` for what has no text or is no shape; `Limits` for more than 512 rows a batch, 1024 runs, or a step of more
    /// loop rounds than every driver makes; `TooLarge` for more rows, states or activations than one binding of this device
    /// holds; `Core` with `Length`, `Empty` or `NonFinite` for the rows; `Device`, `Lost`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(context: &Context, shape: &Shape, rows: &[f32], runs: usize) -> Result<Self, GpuError> {
        pollster::block_on(Self::new_async(context, shape, rows, runs))
    }

    /// As [`new`](Self::new), also on the web.
    ///
    /// # Errors
    /// As there.
    pub async fn new_async(context: &Context, shape: &Shape, rows: &[f32], runs: usize) -> Result<Self, GpuError> {
        let layout = Layout::of(shape)?;
        let text = layout.text()?;
        Self::build(context, layout, rows, runs, text).await
    }

    async fn build(
        context: &Context,
        layout: Layout,
        rows: &[f32],
        runs: usize,
        text: String,
    ) -> Result<Self, GpuError> {
        let (shape, rounds) = (&layout.shape, layout.rounds());
        for (what, need, got) in [
            ("runs", runs.max(1) as u64, MAX_RUNS as u64),
            ("loop rounds of a step", rounds.value + rounds.step.max(rounds.block), ROUNDS),
        ] {
            if need > got {
                return Err(GpuError::Limits { what, need, got });
            }
        }
        if runs == 0 {
            return Err(Error::Empty { what: "runs" }.into());
        }
        let count = check_rows(rows, shape.widths[0] as usize)?;
        let each = runs * shape.list_len();
        let window = (WINDOW / (4 * each.max(2 * runs))).clamp(1, 4096);
        let sizes = [
            ("rows", rows.len()),
            ("lists", each * window),
            ("runs", runs),
            ("numbers", 24 * runs),
            ("paces", 2 * runs * window),
            ("states", runs * shape.state as usize),
            ("activations", runs * layout.work as usize),
            ("values", runs),
        ];
        let limits = context.device().limits();
        let limit = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        for (what, words) in sizes {
            fits(what, words, limit)?;
        }
        context
            .checked(|| {
                let device = context.device();
                let store = |at: usize| storage(device, sizes[at].0, sizes[at].1);
                let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
                    label: Some("lane"),
                    source: wgpu::ShaderSource::Wgsl(text.into()),
                });
                let bindings = bindings(device);
                let jobs = device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("jobs"),
                    size: JOB * DISPATCHES as u64,
                    usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                });
                let buffers = Buffers {
                    rows: store(0),
                    lists: store(1),
                    table: store(2),
                    numbers: store(3),
                    pace: store(4),
                    state: store(5),
                    work: store(6),
                    values: store(7),
                };
                context.queue().write_buffer(&buffers.rows, 0, bytemuck::cast_slice(rows));
                let group = bind(device, &bindings, &jobs, &buffers, &buffers.rows, &buffers.values);
                let staging = [staging(device, sizes[5].1), staging(device, runs)];
                Self {
                    context: context.clone(),
                    layout,
                    rounds,
                    runs,
                    rows: count,
                    window,
                    advance: pipeline(device, &module, &bindings, "advance"),
                    module,
                    bindings,
                    jobs,
                    buffers,
                    group,
                    test: None,
                    staging,
                    flights: VecDeque::new(),
                    ended: now(),
                    pace: [Pace(1); 2],
                }
            })
            .await
    }

    /// What the runs are made of.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.layout.shape
    }

    /// How many runs.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// Sets a run's state and numbers.
    ///
    /// # Errors
    /// `Core` with `Index` (no such run), `Length`, `NonFinite`; `Device`, `Lost` of earlier work.
    pub fn load(&mut self, run: usize, state: &[f32], numbers: &[f32; 24]) -> Result<(), GpuError> {
        self.context.alive()?;
        if run >= self.runs {
            return Err(Error::Index { what: "run", at: run, len: self.runs }.into());
        }
        let need = self.layout.shape.state as usize;
        if state.len() != need {
            return Err(Error::Length { what: "state", need, got: state.len() }.into());
        }
        finite("state", state)?;
        finite("numbers", numbers)?;
        let queue = self.context.queue();
        queue.write_buffer(&self.buffers.state, 4 * (run * need) as u64, bytemuck::cast_slice(state));
        queue.write_buffer(&self.buffers.numbers, 96 * run as u64, bytemuck::cast_slice(numbers));
        Ok(())
    }

    /// So many steps of every run. `lists` holds list by list, of each step by step [`list_len`](Shape::list_len) entries;
    /// `table` which list each run reads; `pace` two floats for each run and step. The work goes on when it returns.
    ///
    /// # Errors
    /// `Core` with `Length`, `Index` (a list, row or slot there is not; then nothing was done), `NonFinite`; `Device`, `Lost`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn advance(&mut self, steps: usize, lists: &[u32], table: &[u32], pace: &[f32]) -> Result<(), GpuError> {
        pollster::block_on(self.advance_async(steps, lists, table, pace))
    }

    /// As [`advance`](Self::advance), also on the web.
    ///
    /// # Errors
    /// As there.
    pub async fn advance_async(
        &mut self,
        steps: usize,
        lists: &[u32],
        table: &[u32],
        pace: &[f32],
    ) -> Result<(), GpuError> {
        self.check(steps, lists, table, pace)?;
        if steps == 0 {
            return Ok(());
        }
        let len = self.layout.shape.list_len();
        self.context.queue().write_buffer(&self.buffers.table, 0, bytemuck::cast_slice(table));
        for from in (0..steps).step_by(self.window) {
            let count = self.window.min(steps - from);
            let queue = self.context.queue();
            let part = |all: &[u32], each: usize| -> Vec<u32> {
                all.chunks_exact(steps * each).flat_map(|one| &one[from * each..][..count * each]).copied().collect()
            };
            queue.write_buffer(&self.buffers.lists, 0, bytemuck::cast_slice(&part(lists, len)));
            queue.write_buffer(&self.buffers.pace, 0, bytemuck::cast_slice(&part(bytemuck::cast_slice(pace), 2)));
            let most = (ROUNDS - self.rounds.value) / self.rounds.step;
            self.submit_all(0, count as u64, most, 1, count as u32, None).await?;
        }
        Ok(())
    }

    fn check(&self, steps: usize, lists: &[u32], table: &[u32], pace: &[f32]) -> Result<(), GpuError> {
        let len = self.layout.shape.list_len();
        let count = table.iter().max().map_or(0, |&list| list as usize + 1);
        for (what, need, got) in [
            ("table", self.runs, table.len()),
            ("lists", count.min(self.runs) * steps * len, lists.len()),
            ("pace", 2 * self.runs * steps, pace.len()),
        ] {
            if need != got {
                return Err(Error::Length { what, need, got }.into());
            }
        }
        finite("pace", pace)?;
        let (rows, slots) =
            (self.layout.shape.rows as usize, (self.layout.shape.state - self.layout.shape.bank) as usize / 2);
        for (step, list) in lists.chunks_exact(len).enumerate() {
            let negatives = list[0] as usize;
            if negatives > rows || self.layout.shape.negatives.is_some_and(|fixed| fixed != list[0]) {
                return Err(Error::Index { what: "negatives", at: step * len, len: rows }.into());
            }
            let positives = (rows - negatives).min(len - 1 - rows);
            let (picked, marked) = list[1..].split_at(rows);
            for (what, numbers, from, end) in
                [("rows", picked, 1, self.rows), ("slots", &marked[..positives], 1 + rows, slots)]
            {
                if let Some(at) = numbers.iter().position(|&number| number as usize >= end) {
                    return Err(Error::Index { what, at: step * len + from + at, len: end }.into());
                }
            }
        }
        Ok(())
    }

    /// Dispatches of so many steps or blocks in all, at most `most` each, cut into submissions by time.
    async fn submit_all(
        &mut self,
        kind: usize,
        all: u64,
        most: u64,
        unit: u32,
        stride: u32,
        copy: Option<(&Buffer, &Buffer, u64)>,
    ) -> Result<(), GpuError> {
        let rows = self.test.as_ref().map_or(0, |test| test.rows as u32);
        let mut done = 0;
        while done < all {
            while self.flights.len() >= AHEAD {
                self.land().await?;
            }
            let count = self.pace[kind].0.min(all - done).min(most * DISPATCHES as u64);
            let mut bytes = Vec::new();
            let mut dispatches = 0;
            for from in (0..count).step_by(most as usize) {
                let steps = most.min(count - from) as u32;
                let job = Job { first: (done + from) as u32 * unit, steps, stride, rows };
                bytes.resize(JOB as usize * dispatches, 0);
                bytes.extend_from_slice(bytemuck::bytes_of(&job));
                dispatches += 1;
            }
            self.context.queue().write_buffer(&self.jobs, 0, &bytes);
            let mut encoder = self.context.device().create_command_encoder(&Default::default());
            {
                let mut pass = encoder.begin_compute_pass(&Default::default());
                let (pipeline, group) = match &self.test {
                    Some(test) if kind == 1 => (&test.look, &test.group),
                    _ => (&self.advance, &self.group),
                };
                pass.set_pipeline(pipeline);
                for dispatch in 0..dispatches {
                    pass.set_bind_group(0, group, &[dispatch as u32 * JOB as u32]);
                    pass.dispatch_workgroups(self.runs as u32, 1, 1);
                }
            }
            done += count;
            if let (Some((from, to, bytes)), true) = (copy, done == all) {
                encoder.copy_buffer_to_buffer(from, 0, to, 0, bytes);
            }
            let work = self.context.submit(encoder.finish());
            self.flights.push_back(Flight { work, at: now(), kind, count });
        }
        self.context.alive()
    }

    /// Waits for the oldest submission, and learns from its time.
    async fn land(&mut self) -> Result<(), GpuError> {
        let Some(Flight { work, at, kind, count }) = self.flights.pop_front() else { return Ok(()) };
        self.context.finish(work).await?;
        let end = now();
        self.pace[kind].learn(count, end - at.max(self.ended));
        self.ended = end;
        Ok(())
    }

    /// The states of all runs, one after the other.
    ///
    /// # Errors
    /// `Core` with `Length`; `Device`, `Lost`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn states(&mut self, out: &mut [f32]) -> Result<(), GpuError> {
        pollster::block_on(self.states_async(out))
    }

    /// As [`states`](Self::states), also on the web.
    ///
    /// # Errors
    /// As there.
    pub async fn states_async(&mut self, out: &mut [f32]) -> Result<(), GpuError> {
        let need = self.runs * self.layout.shape.state as usize;
        if out.len() != need {
            return Err(Error::Length { what: "states", need, got: out.len() }.into());
        }
        out.copy_from_slice(&self.fetch(0, 0, need).await?);
        Ok(())
    }

    /// The state of one run.
    ///
    /// # Errors
    /// `Core` with `Index`; `Device`, `Lost`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn state(&mut self, run: usize) -> Result<Vec<f32>, GpuError> {
        pollster::block_on(self.state_async(run))
    }

    /// As [`state`](Self::state), also on the web.
    ///
    /// # Errors
    /// As there.
    pub async fn state_async(&mut self, run: usize) -> Result<Vec<f32>, GpuError> {
        if run >= self.runs {
            return Err(Error::Index { what: "run", at: run, len: self.runs }.into());
        }
        let len = self.layout.shape.state as usize;
        self.fetch(0, run * len, len).await
    }

    /// Each run's estimate of the objective of the last step.
    ///
    /// # Errors
    /// `Device`, `Lost`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn values(&mut self) -> Result<Vec<f32>, GpuError> {
        pollster::block_on(self.values_async())
    }

    /// As [`values`](Self::values), also on the web.
    ///
    /// # Errors
    /// As there.
    pub async fn values_async(&mut self) -> Result<Vec<f32>, GpuError> {
        self.fetch(1, 0, self.runs).await
    }

    /// Part of the states (0) or of the values (1), after all work.
    async fn fetch(&mut self, what: usize, from: usize, floats: usize) -> Result<Vec<f32>, GpuError> {
        while !self.flights.is_empty() {
            self.land().await?;
        }
        let buffer = [&self.buffers.state, &self.buffers.values][what];
        let mut encoder = self.context.device().create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 4 * from as u64, &self.staging[what], 0, 4 * floats as u64);
        self.context.queue().submit([encoder.finish()]);
        self.context.read(&self.staging[what], floats, 0).await
    }

    /// Loads the rows (row-major) that reports score. Reports that were begun are dropped.
    ///
    /// # Errors
    /// As [`new`](Self::new) of rows; `TooLarge` for their scores, too.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn test(&mut self, rows: &[f32]) -> Result<(), GpuError> {
        pollster::block_on(self.test_async(rows))
    }

    /// As [`test`](Self::test), also on the web.
    ///
    /// # Errors
    /// As there.
    pub async fn test_async(&mut self, rows: &[f32]) -> Result<(), GpuError> {
        let count = check_rows(rows, self.layout.shape.widths[0] as usize)?;
        let limits = self.context.device().limits();
        let limit = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        fits("test rows", rows.len(), limit)?;
        fits("scores of test rows", self.runs * count, limit)?;
        let context = self.context.clone();
        let test = context
            .checked(|| {
                let device = context.device();
                let data = storage(device, "test rows", rows.len());
                context.queue().write_buffer(&data, 0, bytemuck::cast_slice(rows));
                let scores = storage(device, "scores", self.runs * count);
                let group = bind(device, &self.bindings, &self.jobs, &self.buffers, &data, &scores);
                let ring = [0, 1].map(|_| staging(device, self.runs * count));
                let look = pipeline(device, &self.module, &self.bindings, "look");
                Test { rows: count, look, scores, group, begun: VecDeque::new(), ring }
            })
            .await?;
        self.test = Some(test);
        Ok(())
    }

    /// Begins to score the test rows of all runs as they are now; training may go on. `false` where two reports are on
    /// their way already.
    ///
    /// # Errors
    /// `Core` with `Empty` (no test rows); `Device`, `Lost`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn begin_report(&mut self) -> Result<bool, GpuError> {
        pollster::block_on(self.begin_report_async())
    }

    /// As [`begin_report`](Self::begin_report), also on the web.
    ///
    /// # Errors
    /// As there.
    pub async fn begin_report_async(&mut self) -> Result<bool, GpuError> {
        let test = self.test.as_ref().ok_or(Error::Empty { what: "test rows" })?;
        let Some(slot) = [0, 1].into_iter().find(|slot| test.begun.iter().all(|(used, _)| used != slot)) else {
            return Ok(false);
        };
        let floats = self.runs * test.rows;
        let blocks = test.rows.div_ceil(self.layout.shape.rows as usize) as u64;
        let (scores, to) = (test.scores.clone(), test.ring[slot].clone());
        let copy = Some((&scores, &to, 4 * floats as u64));
        self.submit_all(1, blocks, ROUNDS / self.rounds.block, self.layout.shape.rows, 0, copy).await?;
        let mapped = self.context.map(&to, floats);
        if let Some(test) = &mut self.test {
            test.begun.push_back((slot, mapped));
        }
        Ok(true)
    }

    /// The oldest report, if it has arrived: run by run the raw scores of the test rows. Waits for nothing.
    ///
    /// # Errors
    /// `Device`, `Lost`.
    pub fn report(&mut self) -> Result<Option<Vec<f32>>, GpuError> {
        self.context.look_up()?;
        let Some(test) = &mut self.test else { return Ok(None) };
        let Some((slot, mapped)) = test.begun.front().and_then(|(slot, signal)| Some((*slot, signal.get()?))) else {
            return Ok(None);
        };
        test.begun.pop_front();
        self.context.take(&test.ring[slot], self.runs * test.rows, mapped).map(Some)
    }

    /// The oldest report, once it has arrived; `None` where none was begun.
    ///
    /// # Errors
    /// `Device`, `Lost`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn wait_for_report(&mut self) -> Result<Option<Vec<f32>>, GpuError> {
        pollster::block_on(self.wait_for_report_async())
    }

    /// As [`wait_for_report`](Self::wait_for_report), also on the web.
    ///
    /// # Errors
    /// As there.
    pub async fn wait_for_report_async(&mut self) -> Result<Option<Vec<f32>>, GpuError> {
        while !self.flights.is_empty() {
            self.land().await?;
        }
        #[cfg(target_arch = "wasm32")]
        if let Some((_, signal)) = self.test.as_ref().and_then(|test| test.begun.front()) {
            signal.clone().await;
        }
        #[cfg(not(target_arch = "wasm32"))]
        if self.test.as_ref().is_some_and(|test| !test.begun.is_empty()) {
            // A mapping is answered when what was submitted before it is done.
            self.fetch(1, 0, 1).await?;
        }
        self.report()
    }
}

/// So many words fit a binding.
fn fits(what: &'static str, words: usize, limit: u64) -> Result<(), GpuError> {
    let need = 4 * words as u64;
    // (The shader counts in 32 bits.)
    let limit = limit.min(1 << 34);
    if need > limit { Err(GpuError::TooLarge { what, need, limit }) } else { Ok(()) }
}

/// Whole rows of finite numbers: how many.
fn check_rows(rows: &[f32], columns: usize) -> Result<usize, GpuError> {
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

fn finite(what: &'static str, values: &[f32]) -> Result<(), GpuError> {
    match values.iter().position(|x| !x.is_finite()) {
        Some(at) => Err(Error::NonFinite { what, at }.into()),
        None => Ok(()),
    }
}

fn storage(device: &wgpu::Device, label: &'static str, words: usize) -> Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: 4 * words as u64,
        usage: BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    })
}

fn staging(device: &wgpu::Device, words: usize) -> Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("staging"),
        size: 4 * words as u64,
        usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

/// The bindings of step.wgsl.
fn bindings(device: &wgpu::Device) -> wgpu::BindGroupLayout {
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

fn pipeline(
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

fn bind(
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

/// Seconds of a clock that never matters by itself.
fn now() -> f64 {
    #[cfg(target_arch = "wasm32")]
    return js_sys::Date::now() / 1000.0;
    #[cfg(not(target_arch = "wasm32"))]
    {
        static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        START.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::kernel::lane::{self, MAX_ROWS};

    /// A text whose loops count their rounds, and answer with them.
    fn counting(text: &str) -> String {
        let mut out = String::from("var<private> counted: u32;\n");
        for line in text.lines() {
            out.push_str(line);
            if line.trim_start().starts_with("for (") {
                out.push_str(" counted++;");
            }
            out.push('\n');
        }
        let answer = "if t == 0u { answer[run * max(job.rows, 1u)] = f32(counted); }\n";
        for (end, behind) in
            [("whole_step(t, run, step + 1u == job.steps);", true), ("storageBarrier();\n        workgroup", false)]
        {
            assert_eq!(out.matches(end).count(), 1);
            let at = out.rfind(end).unwrap() + if behind { end.len() } else { 0 };
            out.insert_str(at, answer);
        }
        out
    }

    fn first() -> Option<Context> {
        let adapters = pollster::block_on(wgpu::Instance::default().enumerate_adapters(wgpu::Backends::all()));
        let context = adapters.iter().find_map(|adapter| pollster::block_on(Context::open(adapter)).ok());
        if context.is_none() {
            undercurve_tests::skipped("no GPU driver found (on Debian: apt install mesa-vulkan-drivers)");
        }
        context
    }

    #[test]
    fn cuts_change_no_bit() {
        let Some(context) = first() else { return };
        let shape = lane::shape(&[2, 1], 0, 1);
        let rows: Vec<f32> = (0..60).map(|k| (k * 37 % 60) as f32 / 60.0).collect();
        let (len, steps) = (shape.list_len(), 40);
        let entry = |k: usize| if k.is_multiple_of(len) { 40 } else { (k * 7 % 30) as u32 };
        let lists: Vec<u32> = (0..2 * steps * len).map(entry).collect();
        let pace: Vec<f32> = (0..4 * steps).map(|k| (k % 5) as f32 / 50.0).collect();
        let mut numbers = [0.0; 24];
        numbers[..3].copy_from_slice(&[1e-3, 0.9, 0.1]);
        numbers[8..14].copy_from_slice(&[0.02, 0.02, 0.02, 0.5, 0.0, 1.0]);
        numbers[20] = 1.0;
        let run = |window: usize, most: u64| {
            let mut lanes = Lanes::new(&context, &shape, &rows, 2).unwrap();
            let state = vec![0.0; shape.state as usize];
            (0..2).for_each(|run| lanes.load(run, &state, &numbers).unwrap());
            lanes.window = lanes.window.min(window);
            lanes.rounds.step = lanes.rounds.step.max(ROUNDS / (most + 1));
            lanes.advance(steps, &lists, &[1, 0], &pace).unwrap();
            [lanes.state(0).unwrap(), lanes.state(1).unwrap(), lanes.values().unwrap()]
        };
        let whole = run(usize::MAX, u64::MAX - 1);
        assert_ne!(whole[0], whole[1]);
        assert!(whole[2].iter().all(|x| x.is_finite() && *x != 0.0));
        for (window, most) in [(1, 100), (7, 3), (100, 1)] {
            assert_eq!(run(window, most), whole, "{window}, {most}");
        }
    }

    #[test]
    fn rounds_are_those_of_the_text() {
        let Some(context) = first() else { return };
        for shape in [
            Shape { rows: 300, negatives: Some(20), ..lane::shape(&[7, 1], 0, 0) },
            Shape { rows: MAX_ROWS, negatives: None, sigmoid: true, ..lane::shape(&[130, 1], 1, 0) },
            lane::shape(&[17, 70, 1], 3, 0),
            Shape { rows: 65, ..lane::shape(&[20, 9, 130, 33, 1], 6, 0) },
        ] {
            let layout = Layout::of(&shape).unwrap();
            // (Its stage loop has barriers of its own, further in.)
            let text = counting(&layout.text().unwrap());
            let columns = shape.widths[0] as usize;
            let rounds = layout.rounds();
            let rows = vec![0.5; 3 * columns];
            let mut lanes = pollster::block_on(Lanes::build(&context, layout, &rows, 1, text)).unwrap();
            let mut list = vec![0; shape.list_len()];
            list[0] = shape.negatives.unwrap_or(0);
            lanes.advance(1, &list, &[0], &[0.0; 2]).unwrap();
            let counted = lanes.values().unwrap()[0] as u64;
            let most = rounds.step + rounds.value;
            match shape.negatives {
                Some(_) => assert_eq!(counted, most, "{shape:?}"),
                None => assert!(counted <= most && most < 2 * counted, "{shape:?}: {counted}, {most}"),
            }
            lanes.test(&rows[..columns]).unwrap();
            assert!(lanes.begin_report().unwrap());
            let report = lanes.wait_for_report().unwrap().unwrap();
            assert_eq!(report[0] as u64, rounds.block, "{shape:?}");
        }
    }
}
