//! Many trainers at once, their steps on a device.

mod state;

use crate::device_runs::{DeviceRuns, IDLE, MAX_RUNS, RowTable};
use crate::kernel::narrow::{Layout, ROUNDS};
use crate::kernel::wide::Wide;
use crate::{Context, GpuError};
use state::{kind, moved, with_state};
use std::borrow::Cow;
use std::sync::Arc;
use std::thread;
use undercurve::data::{Dataset, Rows};
use undercurve::device::Shape;
use undercurve::trainer::{Snapshot, Trainer};
use undercurve::{Error, Result as CoreResult};

/// Steps that are drawn at a time, at most, and bytes of their lists.
const PIECE: usize = 256;
const LISTS: usize = 64 << 20;

/// Trainers whose steps are made side by side on a device, by a workgroup each or all of it: runs that differ in their seed, in
/// numbers as parameters or in their rows, as of another split. All rows go to the device once, data set after data set, and the batches
/// of a run name its own. Every step has the batch that the trainer would have drawn, and what is no plain step (the first of
/// a stage, a dual reset, the end of pre-training) is the trainer's own, so each run is the one that it would be on the CPU, up
/// to the rounding of sums.
///
/// A device that fails loses nothing: the trainers go back to where they were when they last were brought up to date
/// ([`sync`](Self::sync)) and make the same steps themselves, on all threads of this processor; [`failure`](Self::failure) says why.
///
/// ```no_run
/// # use std::sync::Arc;
/// # use undercurve::{data::Dataset, trainer::{Config, Trainer}};
/// # use undercurve_gpu::{Context, MultiTrainer};
/// # fn train(data: Arc<Dataset<f32>>) -> Result<(), Box<dyn std::error::Error>> {
/// let runs = (1..=64).map(|seed| Trainer::new(&Config { seed, ..Config::default() }, data.clone(), None));
/// let mut multi = MultiTrainer::new(&Context::new()?, runs.collect::<Result<_, _>>()?)?;
/// while !multi.is_done() {
///     multi.advance(100);
///     for (run, trainer) in multi.sync().iter_mut().enumerate() {
///         println!("run {run}: {:?}", trainer.report()?.train.get("ap"));
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct MultiTrainer {
    context: Context,
    runs: Vec<Run>,
    /// The data sets, whose rows lie one after the other.
    data: Vec<Arc<Dataset<f32>>>,
    /// The rows on the device; `None` before there are runs on it.
    rows: Option<RowTable>,
    /// By shape: of pre-training and of the method's own steps.
    on_device: Vec<DeviceRuns>,
    /// Which of them holds the runs that are away.
    current: usize,
    /// Steps that the device was given to make, of all runs.
    made: u64,
    /// Whether another device has been given after a failure.
    renewed: bool,
    failure: Option<GpuError>,
    // Memory for a piece.
    lists: Vec<u32>,
    pace: Vec<f32>,
    states: Vec<f32>,
}

#[derive(Debug)]
struct Run {
    trainer: Trainer<f32>,
    /// Of its data set in the table, the first row.
    first: u32,
    /// Where the trainer was when its numbers went to the device.
    known: Snapshot<f32>,
    /// Whether the device has its numbers, and the trainer those of before.
    away: bool,
    /// What ended it.
    error: Option<Error>,
    /// The step that an [`MultiTrainer::advance`] goes to.
    target: u64,
}

impl Run {
    /// Whether it has steps to make, and can.
    fn goes_on(&self) -> bool {
        self.error.is_none() && self.trainer.steps_done() < self.target && !self.trainer.is_done()
    }

    /// Steps on the CPU until so many are done.
    fn step_to(&mut self, until: u64) {
        while self.error.is_none() && self.trainer.steps_done() < until {
            match self.trainer.step() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => self.error = Some(error),
            }
        }
    }

    /// Back to where they went.
    fn go_back(&mut self) -> CoreResult<()> {
        self.away = false;
        self.trainer.restore(&self.known)
    }

    /// Takes over what the device made. Numbers that are none are made again here, which tells where they came from.
    fn come_back(&mut self, state: &[f32], value: f32) -> CoreResult<()> {
        self.away = false;
        if self.trainer.set_state(state, f64::from(value)).is_err() {
            let steps = self.trainer.steps_done();
            self.trainer.restore(&self.known)?;
            self.step_to(steps);
        }
        Ok(())
    }
}

impl MultiTrainer {
    /// Trainers at any step. Builds the shader of their next steps.
    ///
    /// # Errors
    /// `Core` with `Empty` (no trainers), and those of [`Trainer::step_spec`]; `Mixed` for steps of several shapes, which cannot go side by
    /// side ([`together`](Self::together)); those of [`DeviceRuns::suited`], with `TooLarge` for more rows than a binding holds: fewer data
    /// sets may go.
    pub fn new(context: &Context, trainers: Vec<Trainer<f32>>) -> Result<Self, GpuError> {
        let Some(first) = trainers.first() else { return Err(Error::Empty { what: "runs" }.into()) };
        let columns = first.train_data().cols();
        if trainers.len() > MAX_RUNS {
            return Err(GpuError::Limits { what: "runs", need: trainers.len() as u64, got: MAX_RUNS as u64 });
        }
        if trainers.iter().any(|other| other.train_data().cols() != columns) {
            return Err(GpuError::Mixed);
        }
        let (mut data, mut firsts, mut rows) = (Vec::<Arc<Dataset<f32>>>::new(), Vec::new(), 0usize);
        let runs = trainers.into_iter().map(|trainer| {
            let own = trainer.train_data();
            let first = match data.iter().position(|other| Arc::ptr_eq(other, own)) {
                Some(at) => firsts[at],
                None => {
                    // (More rows than this counts are too large for any device.)
                    let first = u32::try_from(rows).map_err(|_| Error::Overflow { what: "rows" })?;
                    rows += own.len();
                    data.push(Arc::clone(own));
                    firsts.push(first);
                    first
                }
            };
            let known = trainer.snapshot()?;
            Ok(Run { trainer, first, known, away: false, error: None, target: 0 })
        });
        let runs = runs.collect::<CoreResult<_>>()?;
        let mut multi = Self {
            context: context.clone(),
            runs,
            data,
            rows: None,
            on_device: Vec::new(),
            current: 0,
            made: 0,
            renewed: false,
            failure: None,
            lists: Vec::new(),
            pace: Vec::new(),
            states: Vec::new(),
        };
        let shape = multi.runs[0].trainer.step_spec()?.shape;
        for run in &multi.runs {
            if kind(&run.trainer.step_spec()?.shape) != kind(&shape) {
                return Err(GpuError::Mixed);
            }
        }
        multi.go_to(&shape)?;
        Ok(multi)
    }

    /// Whether there are kernels for the next steps of a trainer, on a device of WebGPU's limits; none is opened to find out.
    ///
    /// # Errors
    /// `NoKernel`, `Limits` and those of [`Trainer::step_spec`]: why there are none.
    pub fn able(trainer: &Trainer<f32>) -> Result<(), GpuError> {
        let shape = trainer.step_spec()?.shape;
        let layout = Layout::of(&shape)?;
        let rounds = layout.rounds();
        let need = rounds.value + rounds.step.max(rounds.block);
        let narrow = layout.text().and(match need > ROUNDS {
            true => Err(GpuError::Limits { what: "loop rounds of a step", need, got: ROUNDS }),
            false => Ok(()),
        });
        // (What one workgroup cannot make many may.)
        narrow.or_else(|error| Wide::of(&shape).and_then(|wide| wide.text()).map(drop).map_err(|_| error))
    }

    /// Whether the next steps of two trainers can go side by side: of one shape, whatever their rows.
    ///
    /// # Errors
    /// Those of [`Trainer::step_spec`].
    pub fn together(one: &Trainer<f32>, other: &Trainer<f32>) -> CoreResult<bool> {
        let same = one.train_data().cols() == other.train_data().cols();
        Ok(same && kind(&one.step_spec()?.shape) == kind(&other.step_spec()?.shape))
    }

    /// Makes so many steps of every run, or as many as it has left. What fails is found in [`error`](Self::error) and
    /// [`failure`](Self::failure). The device's last steps may still be on their way when it returns.
    pub fn advance(&mut self, steps: u64) {
        for run in &mut self.runs {
            run.target = run.trainer.steps_done().saturating_add(steps).min(run.trainer.total_steps());
        }
        while self.failure.is_none() && self.runs.iter().any(Run::goes_on) {
            if let Err(error) = self.piece() {
                self.fail(error);
            }
        }
        // What the device has nothing to do with.
        self.on_threads();
    }

    /// The trainers with their numbers, for reports, saving and anything else. They go on from where they are then.
    pub fn sync(&mut self) -> Vec<&mut Trainer<f32>> {
        if let Err(error) = self.bring_back() {
            self.fail(error);
            self.on_threads();
        }
        self.runs.iter_mut().map(|run| &mut run.trainer).collect()
    }

    /// Whether another device may take over: after a loss, once.
    #[must_use]
    pub fn is_renewable(&self) -> bool {
        !self.renewed && matches!(self.failure, Some(GpuError::Lost { .. } | GpuError::Device { .. }))
    }

    /// Goes on on another device after a [`failure`](Self::failure); once.
    pub fn renew(&mut self, context: &Context) {
        if self.failure.is_some() && !self.renewed {
            self.renewed = true;
            (self.context, self.failure, self.rows) = (context.clone(), None, None);
        }
    }

    /// Whether every run is at its end.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.runs.iter().all(|run| run.error.is_some() || run.trainer.is_done())
    }

    /// What ended a run before its time.
    #[must_use]
    pub fn error(&self, run: usize) -> Option<&Error> {
        self.runs.get(run)?.error.as_ref()
    }

    /// Steps that the device was given to make, of all runs; the others were the processor's.
    #[must_use]
    pub fn made(&self) -> u64 {
        self.made
    }

    /// Why the device no longer takes part.
    #[must_use]
    pub fn failure(&self) -> Option<&GpuError> {
        self.failure.as_ref()
    }

    /// How many runs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Never.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The trainers, when nothing more is to be done here.
    #[must_use]
    pub fn into_trainers(mut self) -> Vec<Trainer<f32>> {
        self.sync();
        self.runs.into_iter().map(|run| run.trainer).collect()
    }

    /// Makes the runs of this kind of shape the current ones.
    fn go_to(&mut self, shape: &Shape) -> Result<(), GpuError> {
        // The longest state of the runs of this kind.
        let mut longest = shape.state;
        for run in &self.runs {
            let other = run.trainer.step_spec()?.shape;
            if kind(&other) == kind(shape) {
                longest = longest.max(other.state);
            }
        }
        let holds =
            |on_device: &DeviceRuns| kind(on_device.shape()) == kind(shape) && on_device.shape().state >= longest;
        if self.on_device.get(self.current).is_some_and(holds) {
            return Ok(());
        }
        self.bring_back()?;
        let known = self.on_device.iter().position(holds);
        self.current = known.unwrap_or(self.on_device.len());
        if known.is_none() {
            let rows = match self.rows.take() {
                Some(rows) => rows,
                None => self.all_rows()?,
            };
            let on_device = DeviceRuns::suited_on(&self.context, &with_state(shape, longest), &rows, self.runs.len());
            self.rows = Some(rows);
            self.on_device.push(on_device?);
        }
        Ok(())
    }

    /// The rows of all data sets, to the device.
    fn all_rows(&self) -> Result<RowTable, GpuError> {
        let mut parts = Vec::with_capacity(self.data.len());
        for data in &self.data {
            let Rows::Dense { data, .. } = data.rows() else {
                return Err(Error::Unsupported { what: "sparse rows elsewhere" }.into());
            };
            parts.push(data);
        }
        RowTable::new(&self.context, &parts, self.data[0].cols())
    }

    /// Some steps of runs that go on, of which there is one.
    fn piece(&mut self) -> Result<(), GpuError> {
        // What is no plain step first.
        let mut others = Vec::new();
        let mut count = PIECE;
        for (at, run) in self.runs.iter().enumerate().filter(|(_, run)| run.goes_on()) {
            let left = usize::try_from(run.target - run.trainer.steps_done()).unwrap_or(PIECE).min(PIECE);
            match run.trainer.plain_steps(left)? {
                0 => others.push(at),
                plain => count = count.min(plain),
            }
        }
        if !others.is_empty() {
            self.bring_back()?;
            let is_one = |at: &usize| others.binary_search(at).is_ok();
            let runs = self.runs.iter_mut().enumerate().filter(|(at, _)| is_one(at));
            step_on_threads(&mut runs.map(|(_, run)| run).collect::<Vec<_>>(), 1);
            return Ok(());
        }
        // Runs of the first one's shape go side by side; the others wait for their turn.
        let Some(first) = self.runs.iter().position(Run::goes_on) else { return Ok(()) };
        let shape = self.runs[first].trainer.step_spec()?.shape;
        self.go_to(&shape)?;
        let mut going = Vec::new();
        for (at, run) in self.runs.iter().enumerate() {
            if run.goes_on() && kind(&run.trainer.step_spec()?.shape) == kind(&shape) {
                going.push(at);
            }
        }
        let bytes = 4 * shape.list_len() * going.len();
        self.drive(&going, count.min(LISTS / bytes).max(1))
    }

    /// So many plain steps of these runs, side by side.
    fn drive(&mut self, going: &[usize], count: usize) -> Result<(), GpuError> {
        let Self { on_device, current, runs, lists, pace, .. } = self;
        let on_device = &mut on_device[*current];
        let (len, rows) = (on_device.shape().list_len(), on_device.shape().rows as usize);
        lists.clear();
        pace.clear();
        pace.resize(2 * count * runs.len(), 0.0);
        let mut table = vec![IDLE; runs.len()];
        // Runs of one seed draw the same batches of the same rows at the same step: the key of each list.
        let mut keys: Vec<(u64, u64, u32)> = Vec::new();
        // Where negatives differ from batch to batch, one may have none.
        let mut before = Vec::new();
        if on_device.shape().negatives.is_none() {
            for &at in going {
                before.push(runs[at].trainer.snapshot()?);
            }
        }
        let mut refused = false;
        for &at in going {
            let Run { trainer, first, away, known, .. } = &mut runs[at];
            if !*away {
                let spec = trainer.step_spec()?;
                on_device.load(
                    at,
                    &as_long(trainer.state()?, &spec.shape, on_device.shape().state as usize),
                    &spec.numbers,
                )?;
                *known = trainer.snapshot()?;
                *away = true;
            }
            let key = (trainer.config().seed, trainer.steps_done(), *first);
            let (from, mut paces) = (lists.len(), vec![[0.0; 2]; count]);
            lists.resize(from + count * len, 0);
            refused |= trainer.draw(&mut lists[from..], &mut paces)? < count;
            for list in lists[from..].chunks_exact_mut(len) {
                list[1..=rows].iter_mut().for_each(|row| *row += *first);
            }
            pace[2 * count * at..][..2 * count].copy_from_slice(paces.as_flattened());
            let twin = keys.iter().position(|other| *other == key);
            let twin = twin.filter(|&twin| lists[twin * count * len..][..count * len] == lists[from..]);
            table[at] = twin.unwrap_or(keys.len()) as u32;
            match twin {
                Some(_) => lists.truncate(from),
                None => keys.push(key),
            }
        }
        if !refused {
            self.made += (count * going.len()) as u64;
            return on_device.advance(count, lists, &table, pace);
        }
        // The step of that run is its trainer's, which says what is wrong with it.
        for (&at, before) in going.iter().zip(&before) {
            runs[at].trainer.restore(before)?;
        }
        self.bring_back()?;
        let mut runs: Vec<&mut Run> = self.runs.iter_mut().filter(|run| run.goes_on()).collect();
        step_on_threads(&mut runs, count as u64);
        Ok(())
    }

    /// Every number that the device has becomes its trainer's.
    fn bring_back(&mut self) -> Result<(), GpuError> {
        if self.runs.iter().any(|run| run.away) {
            let on_device = &mut self.on_device[self.current];
            let shape = on_device.shape().clone();
            let len = shape.state as usize;
            self.states.resize(len * on_device.runs(), 0.0);
            on_device.states(&mut self.states)?;
            let values = on_device.values()?;
            for ((run, state), value) in self.runs.iter_mut().zip(self.states.chunks_exact(len)).zip(values) {
                if run.away {
                    let own = run.trainer.state()?.len();
                    run.come_back(&as_long(state, &shape, own), value)?;
                }
            }
        }
        Ok(())
    }

    /// The device no longer takes part: its runs are where they left.
    fn fail(&mut self, error: GpuError) {
        for run in self.runs.iter_mut().filter(|run| run.away) {
            if let Err(error) = run.go_back() {
                run.error = Some(error);
            }
        }
        self.on_device.clear();
        self.rows = None;
        self.failure = Some(error);
    }

    /// All runs to where they are to go, on the CPU.
    fn on_threads(&mut self) {
        let mut runs: Vec<&mut Run> = self.runs.iter_mut().filter(|run| !run.away && run.goes_on()).collect();
        step_on_threads(&mut runs, u64::MAX);
    }
}

/// A state as one of another length.
fn as_long<'a>(state: &'a [f32], shape: &Shape, len: usize) -> Cow<'a, [f32]> {
    if state.len() == len { Cow::Borrowed(state) } else { Cow::Owned(moved(state, shape, len)) }
}

/// So many steps of each run, or those to its target, on all threads of this processor.
fn step_on_threads(runs: &mut [&mut Run], steps: u64) {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let each = runs.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        for part in runs.chunks_mut(each) {
            scope.spawn(move || {
                for run in part {
                    run.step_to(run.trainer.steps_done().saturating_add(steps).min(run.target));
                }
            });
        }
    });
}
