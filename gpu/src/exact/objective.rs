//! Whole objectives on the device: rows, model and exact sum.

use super::device::{Memory, SLOT, bind, buffer, layout, pipelines};
use super::{GpuExact, Sum, job};
use crate::kernel::exact::linear::{self, CHUNK, COLUMNS, MOST_COLUMNS};
use crate::kernel::exact::{Loss, MOST_ROWS, sort};
use crate::{Context, GpuError};
use undercurve::Error;
use undercurve::data::Rows;
use undercurve::estimator::{Estimator, Link};
use undercurve::host::WholeObjective;
use undercurve::metric::rank::Classes;
use undercurve::model::AnyModel;
use undercurve::pairs;
use undercurve::surrogate::AnySurrogate;
use undercurve::trainer::Trainer;
use wgpu::{BindGroup, Buffer, BufferUsages, ComputePipeline};

/// Entries of the rows that a submit passes over, about: a few milliseconds on a GPU.
const SUBMIT: usize = 1 << 26;
/// Entries that go up in one piece.
const PIECE: usize = 1 << 22;
/// What a key of a score that is not finite is.
const NOT_FINITE: u32 = u32::MAX;

/// An exact objective of a linear model, with its rows on the device: parameters go up, value and gradient by them come back. The step
/// rule stays the core's, whichever it is, and so does the run's state; nothing is lost with a device.
///
/// ```no_run
/// use undercurve::data::Dataset;
/// use undercurve::trainer::{Config, Trainer};
/// use undercurve_gpu::{Context, GpuObjective};
///
/// let data = Dataset::dense(vec![0.1f32, 0.9, 0.3, 0.2], vec![0, 1, 0, 1], 1)?;
/// let mut trainer = Trainer::new(&Config { method: "auc-exact".into(), ..Config::default() }, data.into(), None)?;
/// let mut objective = GpuObjective::of(&Context::new()?, &trainer)?;
/// while !trainer.is_done() {
///     // What is no such step, or does not fit f32 on the device, is the core's; so is everything after a loss.
///     if !objective.step(&mut trainer).unwrap_or(false) {
///         trainer.step()?;
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// An evaluation waits twice for the device: for the range of the scores, 8 bytes for 1024 rows, and for the answer. The order of every sum depends
/// on the lengths only, so one device and driver gives the same bits from run to run. Memory on the device: the rows, and 52 bytes a row.
#[derive(Debug)]
pub struct GpuObjective {
    exact: GpuExact,
    rows: usize,
    cols: usize,
    negatives: usize,
    places: Places,
    /// Chunks of one dispatch.
    piece: usize,
    sum: Sum,
    loss: AnySurrogate<f32>,
}

/// Programs of the model, and what else than the rows lies on the device for them.
#[derive(Debug)]
struct Places {
    /// forward, backward, total.
    programs: [ComputePipeline; 3],
    params: Buffer,
    parts: Buffer,
    gradient: Buffer,
    staging: Buffer,
    group: BindGroup,
}

/// What there are kernels for.
struct Known<'a> {
    data: &'a [f32],
    cols: usize,
    sum: Sum,
    loss: AnySurrogate<f32>,
}

fn no(what: &str) -> GpuError {
    GpuError::NoKernel { what: what.to_string() }
}

/// The objective of a trainer of a linear model.
fn whole_of(trainer: &Trainer<f32>) -> Result<WholeObjective<'_>, GpuError> {
    // (Finite sums have no such objective either.)
    let Ok(Some(whole)) = trainer.whole() else {
        return Err(no("the objective of this method over whole data"));
    };
    if !matches!(trainer.model(), AnyModel::Linear(_)) {
        return Err(no("exact objectives of networks"));
    }
    Ok(whole)
}

fn known<'a>(data: Rows<'a, f32>, whole: &WholeObjective<'_>) -> Result<Known<'a>, GpuError> {
    if !whole.weights.is_empty() {
        return Err(no("weights of rows in exact objectives"));
    }
    let (sum, loss) = sum_of(&whole.objective)?;
    let Rows::Dense { data, cols, .. } = data else {
        return Err(no("sparse rows in exact objectives"));
    };
    if cols > MOST_COLUMNS {
        return Err(no("more than 16,383 columns in exact objectives"));
    }
    Ok(Known { data, cols, sum, loss })
}

impl Places {
    /// For so many rows and columns, so many chunks a dispatch; with the buffer for the rows.
    fn new(context: &Context, memory: &Memory, [rows, cols, piece]: [usize; 3], sigmoid: bool) -> (Buffer, Self) {
        let (device, queue, chunks) = (context.device(), context.queue(), rows.div_ceil(CHUNK));
        let (up, down) =
            (BufferUsages::STORAGE | BufferUsages::COPY_DST, BufferUsages::STORAGE | BufferUsages::COPY_SRC);
        let layout = layout(device, 3, 4);
        let uniforms = BufferUsages::UNIFORM | BufferUsages::COPY_DST;
        let uniforms = buffer(device, chunks.div_ceil(piece) * SLOT / 4, uniforms);
        for (slot, first) in (0..chunks).step_by(piece).enumerate() {
            let words = linear::words(rows, cols, first, sigmoid);
            queue.write_buffer(&uniforms, (slot * SLOT) as u64, bytemuck::cast_slice(&words));
        }
        let (x, params) = (buffer(device, rows * cols, up), buffer(device, cols + 1, up));
        let scores = buffer(device, rows, BufferUsages::STORAGE);
        let parts = buffer(device, chunks * (cols + 1).max(2), down);
        let gradient = buffer(device, cols + 1, down);
        let staging = (2 * chunks).max(chunks + cols + 1);
        let staging = buffer(device, staging, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        let bound = [&x, &params, &memory.grad, &scores, &memory.scores, &parts, &gradient];
        let group = bind(device, &layout, &uniforms, &bound);
        let programs = pipelines(context, &layout, linear::text(), ["forward", "backward", "total"]);
        (x, Self { programs, params, parts, gradient, staging, group })
    }
}

/// These rows of the data to the device, column by column, some at a time.
async fn upload(context: &Context, to: &Buffer, index: &[u32], (data, cols): (&[f32], usize)) -> Result<(), GpuError> {
    let each = (PIECE / index.len()).max(1);
    for first in (0..cols).step_by(each) {
        let columns = first..cols.min(first + each);
        let piece: Vec<f32> =
            columns.flat_map(|column| index.iter().map(move |&row| data[row as usize * cols + column])).collect();
        context
            .checked(|| {
                context.queue().write_buffer(to, 4 * (first * index.len()) as u64, bytemuck::cast_slice(&piece));
                context.queue().submit([]);
            })
            .await?;
    }
    Ok(())
}

impl GpuObjective {
    /// Of the objective that a trainer's method minimises.
    ///
    /// # Errors
    /// `NoKernel` for what no device computes here: other methods than `ap-exact`, `auc-exact` and `pauc-exact`, two-way partial AUC,
    /// surrogates but hinge, squared hinge, sigmoid and logistic, networks, sparse rows, weights of rows, more than 16,383 columns. `TooLarge`, `Device`,
    /// `Lost`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn of(context: &Context, trainer: &Trainer<f32>) -> Result<Self, GpuError> {
        pollster::block_on(Self::of_async(context, trainer))
    }

    /// As [`of`](Self::of), also on the web.
    ///
    /// # Errors
    /// As there.
    pub async fn of_async(context: &Context, trainer: &Trainer<f32>) -> Result<Self, GpuError> {
        Self::new_async(context, trainer.train_data().rows(), &whole_of(trainer)?).await
    }

    /// Whether there are kernels for the objective of a trainer; no device is opened to find out.
    ///
    /// # Errors
    /// `NoKernel`, as [`of`](Self::of).
    pub fn able(trainer: &Trainer<f32>) -> Result<(), GpuError> {
        known(trainer.train_data().rows(), &whole_of(trainer)?).map(drop)
    }

    /// Of a linear model over rows of one's own.
    ///
    /// # Errors
    /// As [`of`](Self::of); `Core` with `OneClass`, `Index`.
    pub async fn new_async(
        context: &Context,
        data: Rows<'_, f32>,
        whole: &WholeObjective<'_>,
    ) -> Result<Self, GpuError> {
        let Known { data, cols, sum, loss } = known(data, whole)?;
        let WholeObjective { objective, rows: index, negatives, .. } = *whole;
        let rows = index.len();
        if negatives == 0 || negatives >= rows {
            return Err(Error::OneClass.into());
        }
        let len = data.len() / cols;
        if let Some(at) = index.iter().position(|&row| row as usize >= len) {
            return Err(Error::Index { what: "rows", at, len }.into());
        }
        let most = context.binding();
        let (chunks, entries) = (rows.div_ceil(CHUNK), 4 * (rows as u64 * cols as u64));
        // (Rows first: what there are too many of is not brought into an order.)
        for (what, need, limit) in [
            ("scores", 8 * rows as u64, most.min(8 * MOST_ROWS as u64)),
            ("rows", entries, most),
            ("sums of the gradient", 4 * chunks as u64 * (cols as u64 + 1), most),
        ] {
            if need > limit {
                return Err(GpuError::TooLarge { what, need, limit });
            }
        }
        let mut exact = GpuExact::new_async(context, rows).await?;
        exact.bits.clear();
        let word = |k: usize| (32 * k..32 * k + 32).rev().fold(0, |word, at| word << 1 | u32::from(at >= negatives));
        exact.bits.extend((0..rows.div_ceil(32)).map(word));
        let memory = exact.memory()?;
        // Dispatches of so many chunks pass over few enough entries.
        let piece = (SUBMIT / (CHUNK * cols)).clamp(1, chunks);
        let made = context.checked(|| {
            context.queue().write_buffer(&memory.labels, 0, bytemuck::cast_slice(&exact.bits));
            Places::new(context, memory, [rows, cols, piece], Estimator::<f32>::link(&objective) == Link::Sigmoid)
        });
        let (x, places) = made.await?;
        upload(context, &x, index, (data, cols)).await?;
        Ok(Self { exact, rows, cols, negatives, places, piece, sum, loss })
    }

    /// Value of the objective at the parameters (weights, bias), and its gradient by them. Beside the core's in f64: scores are sums of as many terms
    /// as there are columns, in f32; the sums of their pairs are as [`GpuExact::auc`]'s; an entry of the gradient is within
    /// 3·10⁻⁶ of the sum of the sizes of its terms. Through a link the margins of a pair are differences of numbers in \[0, 1\], each rounded to f32.
    ///
    /// # Errors
    /// `Length`; `Core` as [`GpuExact::auc`], of the scores (linked ones, where there is a link), with `Overflow` for those that are not finite; `Device`, `Lost`. Nothing is written then.
    pub async fn gradient_async(&mut self, params: &[f32], grad: &mut [f32]) -> Result<f64, GpuError> {
        let (sum, loss) = (self.sum, self.loss);
        for (what, got) in [("params", params.len()), ("grad", grad.len())] {
            if got != self.cols + 1 {
                return Err(Error::Length { what, need: self.cols + 1, got }.into());
            }
        }
        let context = self.exact.context.clone();
        let chunks = self.rows.div_ceil(CHUNK);
        let queue = context.queue();
        context.checked(|| queue.write_buffer(&self.places.params, 0, bytemuck::cast_slice(params))).await?;
        self.dispatch(0, 1).await?;
        let keys = self.read(&[(&self.places.parts, 2 * chunks)]).await?;
        let keys = keys.chunks_exact(2).map(|keys| [keys[0].to_bits(), keys[1].to_bits()]);
        let [low, high] = keys.fold([u32::MAX, 0], |[low, high], own| [low.min(own[0]), high.max(own[1])]);
        if high == NOT_FINITE {
            return Err(Error::Overflow { what: "scores" }.into());
        }
        let classes = Classes { positives: (self.rows - self.negatives) as u64, negatives: self.negatives as u64 };
        let (job, mean) = job(sum, loss, (sort::score(low), sort::score(high)), classes)?;
        let values = self.exact.by_score(sum, &job).await?;
        self.dispatch(1, (self.cols + 1).div_ceil(COLUMNS)).await?;
        context
            .checked(|| {
                let mut encoder = context.device().create_command_encoder(&Default::default());
                let mut pass = encoder.begin_compute_pass(&Default::default());
                pass.set_pipeline(&self.places.programs[2]);
                pass.set_bind_group(0, &self.places.group, &[0]);
                context.dispatch(&mut pass, [self.cols as u32 + 1, 1, 1]);
                drop(pass);
                context.queue().submit([encoder.finish()]);
            })
            .await?;
        let read = self.read(&[(&self.exact.memory()?.parts, values), (&self.places.gradient, self.cols + 1)]).await?;
        let value = read[..values].iter().map(|&part| f64::from(part)).sum::<f64>() * mean;
        if !(value.is_finite() && read.iter().all(|x| x.is_finite())) {
            return Err(Error::Overflow { what: "pairwise loss" }.into());
        }
        grad.copy_from_slice(&read[values..]);
        Ok(value)
    }

    /// As [`gradient_async`](Self::gradient_async), which waits.
    ///
    /// # Errors
    /// As there.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn gradient(&mut self, params: &[f32], grad: &mut [f32]) -> Result<f64, GpuError> {
        pollster::block_on(self.gradient_async(params, grad))
    }

    /// Makes the next step of the trainer that it is of, where that is an evaluation of the objective that the device can make; `false`, and
    /// nothing has changed, where it is the trainer's own to make: steps before the method's own, a point whose value does not fit, and the end.
    ///
    /// # Errors
    /// `Device`, `Lost`, and of the trainer's step rule `Core`. The trainer goes on by itself from where it is.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn step(&mut self, trainer: &mut Trainer<f32>) -> Result<bool, GpuError> {
        pollster::block_on(self.step_async(trainer))
    }

    /// As [`step`](Self::step), also on the web.
    ///
    /// # Errors
    /// As there.
    pub async fn step_async(&mut self, trainer: &mut Trainer<f32>) -> Result<bool, GpuError> {
        let mut grad = vec![0.0; self.cols + 1];
        let value = match trainer.wanted()? {
            None => return Ok(false),
            Some(params) => self.gradient_async(params, &mut grad).await,
        };
        match value {
            // (The core in f64 knows whether it is too large.)
            Err(GpuError::Core(_)) => Ok(false),
            value => {
                trainer.answer(value?, &grad)?;
                Ok(true)
            }
        }
    }

    /// A program over all chunks, each with so many workgroups, a submit for each piece of them.
    async fn dispatch(&self, program: usize, each: usize) -> Result<(), GpuError> {
        let (context, chunks) = (&self.exact.context, self.rows.div_ceil(CHUNK));
        context
            .checked(|| {
                for (slot, first) in (0..chunks).step_by(self.piece).enumerate() {
                    let mut encoder = context.device().create_command_encoder(&Default::default());
                    let mut pass = encoder.begin_compute_pass(&Default::default());
                    pass.set_pipeline(&self.places.programs[program]);
                    pass.set_bind_group(0, &self.places.group, &[(slot * SLOT) as u32]);
                    context.dispatch(&mut pass, [(chunks - first).min(self.piece) as u32, each as u32, 1]);
                    drop(pass);
                    context.queue().submit([encoder.finish()]);
                }
            })
            .await
    }

    /// The first words of some buffers.
    async fn read(&self, of: &[(&Buffer, usize)]) -> Result<Vec<f32>, GpuError> {
        let (context, mut to) = (&self.exact.context, 0);
        context
            .checked(|| {
                let mut encoder = context.device().create_command_encoder(&Default::default());
                for &(buffer, words) in of {
                    encoder.copy_buffer_to_buffer(buffer, 0, &self.places.staging, 4 * to as u64, 4 * words as u64);
                    to += words;
                }
                context.queue().submit([encoder.finish()]);
            })
            .await?;
        // A row is about as much work as 32 pairs, and an entry as one.
        context.read(&self.places.staging, to, (self.rows * (32 + self.cols)) as u64).await
    }
}

/// The sum over pairs and the loss of an objective, where there is a kernel for them.
fn sum_of(objective: &undercurve::estimator::Exact) -> Result<(Sum, AnySurrogate<f32>), GpuError> {
    let loss = objective.surrogate().to();
    if Loss::of(loss).is_none() {
        return Err(GpuError::NoKernel { what: format!("exact objectives of surrogate {}", loss.name()) });
    }
    let sum = match objective.sum() {
        pairs::Sum::Auc => Sum::Auc,
        pairs::Sum::Ap => Sum::Ap,
        pairs::Sum::Pauc { fpr, tpr: 0.0 } => Sum::Pauc(fpr),
        pairs::Sum::Pauc { .. } => {
            return Err(GpuError::NoKernel { what: "two-way partial AUC".to_string() });
        }
    };
    Ok((sum, loss))
}
