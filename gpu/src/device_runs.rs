//! Many runs at once: one workgroup is one run and makes many steps a dispatch.

mod narrow;
mod report;
mod setup;
mod wide;

use crate::GpuError;
use crate::context::{Context, Submitted};
use crate::kernel::narrow::{Layout, MAX_ROWS, ROUNDS};
use crate::kernel::{objective, rule};
use narrow::Narrow;
use report::Test;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use setup::RowTable;
use setup::{Job, Source, finite, fits, staging, storage};
use std::collections::VecDeque;
use undercurve::Error;
use undercurve::device::Shape;
use wgpu::Buffer;
use wide::Wide;

/// Runs, at most.
pub const MAX_RUNS: usize = 1024;
/// In a table of lists: none, so that the run stays where it is.
pub const IDLE: u32 = u32::MAX;
/// What a submission is to take, in seconds: some systems reset a GPU that gives no answer for two, and a page needs it for
/// its own frames.
const AIM: f64 = if cfg!(target_arch = "wasm32") { 0.008 } else { 0.05 };
/// Dispatches of a submission, at most.
const DISPATCHES: usize = 64;
/// Bytes of lists and of paces that are on the device at a time, about.
const WINDOW: usize = 16 << 20;
/// Submissions on their way, at most, so that the device always has one more.
const AHEAD: usize = 2;

/// Multiply-adds of a step's product, from which on one workgroup takes longer than the dispatches of many: at B·params of a
/// million it computes for some 50 µs, which is what ten dispatches cost. (By count; it was not measured.)
const WIDE: u64 = 1 << 20;
/// Runs that keep a device busy by themselves.
const MANY: usize = 16;

/// Runs of one [`Shape`] on one device, each with its own state and numbers: [one workgroup a run](Self::new), which suits many
/// small ones, or [all of the device for each](Self::wide), which suits few large ones.
///
/// ```no_run
/// # use undercurve::device::StepSpec;
/// # use undercurve_gpu::{Context, GpuError, DeviceRuns};
/// # fn train(spec: &StepSpec, rows: &[f32], start: &[f32], lists: &[u32], pace: &[f32]) -> Result<(), GpuError> {
/// let mut on_device = DeviceRuns::new(&Context::new()?, &spec.shape, rows, 64)?;
/// for run in 0..64 {
///     on_device.load(run, start, &spec.numbers)?;
/// }
/// on_device.advance(100, lists, &[0; 64], pace)?; // one list of batches for all
/// let mut states = vec![0.0; 64 * start.len()];
/// on_device.states(&mut states)?;
/// # Ok(())
/// # }
/// ```
///
/// The order of every sum depends on the shape only. Nothing is checked on the device: a run that overflows has numbers
/// that are not finite in its value and its state.
#[derive(Debug)]
pub struct DeviceRuns {
    context: Context,
    layout: Layout,
    runs: usize,
    /// Rows of the data.
    rows: usize,
    /// Steps whose lists and paces fit on the device.
    window: usize,
    engine: Engine,
    lists: Buffer,
    state: Buffer,
    values: Buffer,
    test: Option<Test>,
    /// States, and values of runs, on their way to the caller.
    staging: [Buffer; 2],
    flights: VecDeque<Flight>,
    /// When the last submission ended.
    ended: f64,
    /// Seconds a step of all runs takes (wide: of one run), and a block of rows.
    pace: [Pace; 2],
}

/// What makes the steps.
#[derive(Debug)]
enum Engine {
    Narrow(Box<Narrow>),
    Wide(Box<Wide>),
}

/// What an engine is built on.
#[derive(Clone, Copy, Debug)]
struct Shared<'a> {
    runs: usize,
    window: usize,
    rows: &'a Buffer,
    lists: &'a Buffer,
    state: &'a Buffer,
    values: &'a Buffer,
}

/// What a submission does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// Steps of all runs (wide: of one run).
    Steps,
    /// Blocks of rows that are scored.
    Blocks,
}

/// A submission on its way: when it was submitted, what it does, and how many of it.
#[derive(Debug)]
struct Flight {
    submitted: Submitted,
    at: f64,
    work: Work,
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

impl DeviceRuns {
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
        Self::one_workgroup(context, shape, Source::Here(rows), runs).await
    }

    async fn one_workgroup(context: &Context, shape: &Shape, rows: Source<'_>, runs: usize) -> Result<Self, GpuError> {
        let layout = Layout::of(shape)?;
        let text = layout.text()?;
        Self::narrow(context, layout, rows, runs, text).await
    }

    /// As [`new`](Self::new), but each step of a run is spread over many workgroups, some ten dispatches; runs follow one
    /// another. For wide networks and batches of up to 4096 rows. There are no reports.
    ///
    /// # Errors
    /// As there; `Limits` for more workgroups than WebGPU allows, too.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn wide(context: &Context, shape: &Shape, rows: &[f32], runs: usize) -> Result<Self, GpuError> {
        pollster::block_on(Self::wide_async(context, shape, rows, runs))
    }

    /// As [`wide`](Self::wide), also on the web.
    ///
    /// # Errors
    /// As there.
    pub async fn wide_async(context: &Context, shape: &Shape, rows: &[f32], runs: usize) -> Result<Self, GpuError> {
        Self::many_workgroups(context, shape, Source::Here(rows), runs).await
    }

    async fn many_workgroups(
        context: &Context,
        shape: &Shape,
        rows: Source<'_>,
        runs: usize,
    ) -> Result<Self, GpuError> {
        let wide = crate::kernel::wide::Wide::of(shape)?;
        let text = wide.text()?;
        Self::over_many(context, wide, rows, runs, text).await
    }

    async fn over_many(
        context: &Context,
        wide: crate::kernel::wide::Wide,
        rows: Source<'_>,
        runs: usize,
        text: String,
    ) -> Result<Self, GpuError> {
        let across = u64::from(context.device().limits().max_compute_workgroups_per_dimension);
        if wide.groups() > across {
            return Err(GpuError::Limits { what: "workgroups", need: wide.groups(), got: across });
        }
        let most = Wide::window(runs);
        let work = [("activations", wide.work as usize)];
        Self::build(context, wide.layout.clone(), rows, runs, (most, &work), |shared| {
            Engine::Wide(Box::new(Wide::new(context, wide, text, shared)))
        })
        .await
    }

    /// The shape that a text is of, as [`Shape`] writes it.
    ///
    /// # Errors
    /// `Core` with `Param` for anything else, and for an objective or a rule without a kernel.
    pub fn read(text: &str) -> Result<Shape, GpuError> {
        let objective = |name: &str| Some(objective::by_name(name)?.name);
        Ok(Shape::read(text, objective, |name| Some(rule::by_name(name)?.name))?)
    }

    /// Whether a step computes longer than the dispatches of a [`wide`](Self::wide) one take.
    #[must_use]
    pub fn is_large(shape: &Shape) -> bool {
        u64::from(shape.rows) * u64::from(shape.params) > WIDE
    }

    /// The one of both that suits: many workgroups a step where one cannot make it, and for few runs of large models.
    ///
    /// # Errors
    /// As [`new`](Self::new) and [`wide`](Self::wide).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn suited(context: &Context, shape: &Shape, rows: &[f32], runs: usize) -> Result<Self, GpuError> {
        pollster::block_on(Self::suited_async(context, shape, rows, runs))
    }

    /// As [`suited`](Self::suited), also on the web.
    ///
    /// # Errors
    /// As there.
    pub async fn suited_async(context: &Context, shape: &Shape, rows: &[f32], runs: usize) -> Result<Self, GpuError> {
        Self::suited_to(context, shape, Source::Here(rows), runs).await
    }

    /// As [`suited`](Self::suited), of rows that are on the device.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn suited_on(context: &Context, shape: &Shape, rows: &RowTable, runs: usize) -> Result<Self, GpuError> {
        pollster::block_on(Self::suited_to(context, shape, Source::There(rows), runs))
    }

    async fn suited_to(context: &Context, shape: &Shape, rows: Source<'_>, runs: usize) -> Result<Self, GpuError> {
        let layout = Layout::of(shape)?;
        let rounds = layout.rounds();
        let one_cannot = shape.rows > MAX_ROWS
            || rounds.value + rounds.step.max(rounds.block) > ROUNDS
            || fits("activations", runs * layout.work as usize, context.binding()).is_err();
        // (Not every text of one workgroup has one for many.)
        let spreads = || crate::kernel::wide::Wide::of(shape).is_ok();
        match (one_cannot || Self::is_large(shape) && runs < MANY) && spreads() {
            true => Self::many_workgroups(context, shape, rows, runs).await,
            false => Self::one_workgroup(context, shape, rows, runs).await,
        }
    }

    async fn narrow(
        context: &Context,
        layout: Layout,
        rows: Source<'_>,
        runs: usize,
        text: String,
    ) -> Result<Self, GpuError> {
        let rounds = layout.rounds();
        let (what, need) = ("loop rounds of a step", rounds.value + rounds.step.max(rounds.block));
        if need > ROUNDS {
            return Err(GpuError::Limits { what, need, got: ROUNDS });
        }
        let own = [("numbers", 24 * runs), ("activations", runs * layout.work as usize)];
        Self::build(context, layout, rows, runs, (4096, &own), |shared| {
            Engine::Narrow(Box::new(Narrow::new(context, rounds, text, &own, shared)))
        })
        .await
    }

    /// What both have: rows, lists, states. `most` steps are loaded at a time, at most; `own` words of an engine's own buffers.
    async fn build(
        context: &Context,
        layout: Layout,
        rows: Source<'_>,
        runs: usize,
        (most, own): (usize, &[(&'static str, usize)]),
        engine: impl FnOnce(Shared<'_>) -> Engine,
    ) -> Result<Self, GpuError> {
        let shape = &layout.shape;
        if runs > MAX_RUNS {
            return Err(GpuError::Limits { what: "runs", need: runs as u64, got: MAX_RUNS as u64 });
        }
        if runs == 0 {
            return Err(Error::Empty { what: "runs" }.into());
        }
        let count = rows.count(shape.widths[0] as usize)?;
        let each = runs * shape.list_len();
        let window = (WINDOW / (4 * each.max(2 * runs))).clamp(1, most);
        let sizes = [
            ("rows", rows.words()),
            ("lists", each * window),
            ("states", runs * shape.state as usize),
            ("values", runs),
        ];
        let limit = context.binding();
        for &(what, words) in sizes.iter().chain(own) {
            fits(what, words, limit)?;
        }
        context
            .checked(|| {
                let device = context.device();
                let data = rows.buffer(context);
                let [lists, state, values] = [1, 2, 3].map(|at| storage(device, sizes[at].0, sizes[at].1));
                let shared = Shared { runs, window, rows: &data, lists: &lists, state: &state, values: &values };
                let engine = engine(shared);
                let staging = [staging(device, sizes[2].1), staging(device, runs)];
                Self {
                    context: context.clone(),
                    layout,
                    runs,
                    rows: count,
                    window,
                    engine,
                    lists,
                    state,
                    values,
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
        queue.write_buffer(&self.state, 4 * (run * need) as u64, bytemuck::cast_slice(state));
        match &mut self.engine {
            Engine::Narrow(narrow) => {
                queue.write_buffer(&narrow.buffers.numbers, 96 * run as u64, bytemuck::cast_slice(numbers));
            }
            Engine::Wide(wide) => wide.numbers[run] = *numbers,
        }
        Ok(())
    }

    /// So many steps of every run. `lists` holds list by list, of each step by step [`list_len`](Shape::list_len) entries;
    /// `table` which list each run reads, or [`IDLE`]; `pace` two floats for each run and step. The work goes on when it returns.
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
        for from in (0..steps).step_by(self.window) {
            let count = self.window.min(steps - from);
            let queue = self.context.queue();
            let part = |all: &[u32], each: usize| -> Vec<u32> {
                all.chunks_exact(steps * each).flat_map(|one| &one[from * each..][..count * each]).copied().collect()
            };
            queue.write_buffer(&self.lists, 0, bytemuck::cast_slice(&part(lists, len)));
            let pace = part(bytemuck::cast_slice(pace), 2);
            let most = match &mut self.engine {
                Engine::Narrow(narrow) => {
                    queue.write_buffer(&narrow.buffers.table, 0, bytemuck::cast_slice(table));
                    queue.write_buffer(&narrow.buffers.pace, 0, bytemuck::cast_slice(&pace));
                    (ROUNDS - narrow.rounds.value) / narrow.rounds.step
                }
                Engine::Wide(wide) => {
                    let last = from + count == steps;
                    let jobs = wide.prepare(queue, count, table, bytemuck::cast_slice(&pace), len, last);
                    self.submit_all(Work::Steps, jobs, 1, 1, 0, None).await?;
                    continue;
                }
            };
            self.submit_all(Work::Steps, count as u64, most, 1, count as u32, None).await?;
        }
        Ok(())
    }

    fn check(&self, steps: usize, lists: &[u32], table: &[u32], pace: &[f32]) -> Result<(), GpuError> {
        let len = self.layout.shape.list_len();
        let count = table.iter().filter(|&&list| list != IDLE).max().map_or(0, |&list| list as usize + 1);
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
        let (rows, slots) = (self.layout.shape.rows as usize, self.layout.owners());
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
        work: Work,
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
            let count = self.pace[work as usize].0.min(all - done).min(most * DISPATCHES as u64);
            let mut encoder = self.context.device().create_command_encoder(&Default::default());
            match &self.engine {
                Engine::Wide(wide) => wide.encode(&self.context, &mut encoder, done, count),
                Engine::Narrow(narrow) => {
                    let work = match work {
                        Work::Steps => None,
                        Work::Blocks => self.test.as_ref(),
                    };
                    let job = Job { first: done as u32, steps: 0, stride, rows };
                    narrow.encode(&self.context, &mut encoder, (self.runs, work), job, (count, most, unit));
                }
            }
            done += count;
            if let (Some((from, to, bytes)), true) = (copy, done == all) {
                encoder.copy_buffer_to_buffer(from, 0, to, 0, bytes);
            }
            let submitted = self.context.submit(encoder.finish());
            self.flights.push_back(Flight { submitted, at: now(), work, count });
        }
        self.context.alive()
    }

    /// Waits for the oldest submission, and learns from its time.
    async fn land(&mut self) -> Result<(), GpuError> {
        let Some(Flight { submitted, at, work, count }) = self.flights.pop_front() else { return Ok(()) };
        let seconds = match &self.engine {
            // Software takes a microsecond for each round of a workgroup's loops, if not ten.
            Engine::Narrow(narrow) => {
                let rounds = &narrow.rounds;
                count * [rounds.step, rounds.block][work as usize] * self.runs as u64 / 10_000
            }
            Engine::Wide(wide) => count * wide.work() / 100_000_000,
        };
        self.context.finish(submitted, seconds).await?;
        let end = now();
        self.pace[work as usize].learn(count, end - at.max(self.ended));
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
        let buffer = [&self.state, &self.values][what];
        let mut encoder = self.context.device().create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 4 * from as u64, &self.staging[what], 0, 4 * floats as u64);
        self.context.queue().submit([encoder.finish()]);
        self.context.read(&self.staging[what], floats, 0).await
    }
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
mod tests;
