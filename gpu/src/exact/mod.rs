//! Metrics and exact pair sums of whole data on the device.

mod device;
pub(crate) mod objective;

use crate::kernel::exact::panel::{self, Grid};
use crate::kernel::exact::{Job, Loss, MOST_ROWS, hinge, rank, sort};
use crate::{Context, GpuError};
use device::{JOB, Memory, Programs, SCANS, SERIES, SLOT, SLOTS, Smooth, Step};
use undercurve::Error;
use undercurve::metric::rank::{Classes, check};
use undercurve::metric::{PairCounts, PrPoint, RocPoint};
use undercurve::surrogate::AnySurrogate;

/// Rows that all dispatches of one submit pass over, about: a submit of a few milliseconds on a GPU.
const SUBMIT: usize = 1 << 25;
/// The largest sum that is computed: what is divided by its square does not vanish.
const LARGEST: f64 = 1e36;
/// The smallest margin.
const LEAST_MARGIN: f64 = 1e-12;

/// What [`GpuExact::metrics`] found.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactMetrics {
    /// The pairs of both classes: exact, so `counts.auroc()` has the bits of the core's.
    pub counts: PairCounts,
    /// Average precision, within 10⁻⁶ of the core's.
    pub ap: f64,
    /// Points of the ROC curve by descending threshold, 511 at most, at even steps of either class, both ends included. Each
    /// is a point of [`roc_curve`](undercurve::metric::roc_curve) to the last bit.
    pub roc: Vec<RocPoint>,
    /// The points of the precision–recall curve at the same thresholds.
    pub pr: Vec<PrPoint>,
}

/// Which sum over pairs.
#[derive(Clone, Copy, Debug)]
enum Sum {
    Auc,
    Ap,
    Pauc((f64, f64)),
}

/// Metrics, and exact values and gradients of pairwise losses, of up to 2²⁴ rows: one radix sort of the scores, then scans
/// and look-ups, all in fixed order, so one device and driver gives the same bits from run to run.
///
/// ```no_run
/// use undercurve::surrogate::AnySurrogate;
/// use undercurve_gpu::{Context, GpuExact};
///
/// let context = Context::new()?;
/// let mut exact = GpuExact::new(&context, 1_000_000)?;
/// let (scores, labels) = ([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]);
/// let metrics = exact.metrics(&scores, &labels)?;
/// assert_eq!(metrics.counts.auroc(), 0.75);
/// let mut grad = [0.0; 4];
/// let value = exact.ap(AnySurrogate::by_name("squared-hinge", 1.0)?, &scores, &labels, &mut grad)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Shared by all calls: `scores` finite, `labels` 0 or 1 and as long, both classes there. Errors: `Core` with `Empty`, `Length`,
/// `NonFinite`, `Label`, `OneClass`; `TooLarge` above 2²⁴ rows or what a buffer of the device holds; `Device`, `Lost`. After
/// an error nothing the caller lent has changed. Memory on the device: 44 bytes a row, and 4 to read back.
#[derive(Debug)]
pub struct GpuExact {
    context: Context,
    programs: Programs,
    memory: Option<Memory>,
    smooth: Option<Smooth>,
    /// As they lie on the device.
    uniforms: Vec<u32>,
    bits: Vec<u32>,
}

impl GpuExact {
    /// Builds the shaders, and buffers for so many rows; a call with more makes new ones.
    ///
    /// # Errors
    /// `TooLarge`, `Device`, `Lost`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(context: &Context, rows: usize) -> Result<Self, GpuError> {
        pollster::block_on(Self::new_async(context, rows))
    }

    /// As [`new`](Self::new), also on the web.
    ///
    /// # Errors
    /// As there.
    pub async fn new_async(context: &Context, rows: usize) -> Result<Self, GpuError> {
        let programs = context.checked(|| Programs::new(context)).await?;
        let mut exact = Self {
            context: context.clone(),
            programs,
            memory: None,
            smooth: None,
            uniforms: Vec::new(),
            bits: Vec::new(),
        };
        exact.make_room(rows.max(1)).await?;
        Ok(exact)
    }

    /// AUROC from its integers, average precision, and points of the curves.
    ///
    /// # Errors
    /// Those that all calls share.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn metrics(&mut self, scores: &[f32], labels: &[u8]) -> Result<ExactMetrics, GpuError> {
        pollster::block_on(self.metrics_async(scores, labels))
    }

    /// As [`metrics`](Self::metrics), also on the web.
    ///
    /// # Errors
    /// Those that all calls share.
    pub async fn metrics_async(&mut self, scores: &[f32], labels: &[u8]) -> Result<ExactMetrics, GpuError> {
        let classes = check(scores, labels)?;
        let [negatives, positives] = [classes.negatives as usize, classes.positives as usize];
        let job = Job {
            negatives,
            positives,
            range: [0, negatives - 1],
            ends: [1.0; 2],
            margin: 0.0,
            scale: 0.0,
            square: false,
            grid: None,
        };
        self.load(scores, labels).await?;
        self.set(&job, &[]).await?;
        let (programs, memory) = (&self.programs, self.memory()?);
        let mut steps = programs.sort(memory, scores.len());
        let step = |k: usize, groups| Step { program: &programs.rank[k], group: &memory.job, slot: JOB, groups };
        steps.extend([step(0, positives.div_ceil(rank::TILE)), step(1, 2)]);
        self.submit(scores.len(), &steps).await?;
        let words = self.take(rank::parts_len(positives), 0, scores.len()).await?;
        let (sums, points) = words.split_at(rank::PART * positives.div_ceil(rank::TILE));
        let (mut wins, mut ties, mut sum) = (0, 0, 0.0);
        for part in sums.chunks_exact(rank::PART) {
            let wide = |at: usize| u64::from(part[at].to_bits()) | u64::from(part[at + 1].to_bits()) << 32;
            wins += wide(0);
            ties += wide(2);
            sum += f64::from(part[4]);
        }
        let counts = PairCounts { wins, ties, pairs: classes.positives * classes.negatives };
        let points = points.chunks_exact(3).map(|point| [point[0], point[1], point[2]].map(f32::to_bits)).collect();
        let (roc, pr) = curves(points, classes);
        Ok(ExactMetrics { counts, ap: sum / classes.positives as f64, roc, pr })
    }

    /// The pairwise AUC loss, the mean of ℓ(s₊ − s₋) over all pairs, and its derivative by every score, for hinge, squared
    /// hinge, sigmoid and logistic loss. Value and entries are within 2·10⁻⁶ of the largest of their class, or of what a mean
    /// loss of 10⁻⁶ would give: margins of hinges are rounded once to f32, and smooth losses beyond 30/c, with the scale c, count
    /// as their limits.
    ///
    /// # Errors
    /// `Core` with `Unsupported` for other surrogates, and for smooth ones where c times the scores spread over more than
    /// 1,600 or lie more than 400,000 from 0; `Param` for a margin below 10⁻¹² or a scale outside 10⁻²⁵ to 10²⁵; `Overflow` where
    /// sums of hinges might pass 10³⁶; `Length` for `grad`; and those that all calls share.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn auc(
        &mut self,
        loss: AnySurrogate<f32>,
        scores: &[f32],
        labels: &[u8],
        grad: &mut [f32],
    ) -> Result<f64, GpuError> {
        pollster::block_on(self.auc_async(loss, scores, labels, grad))
    }

    /// As [`auc`](Self::auc), also on the web.
    ///
    /// # Errors
    /// As there.
    pub async fn auc_async(
        &mut self,
        loss: AnySurrogate<f32>,
        scores: &[f32],
        labels: &[u8],
        grad: &mut [f32],
    ) -> Result<f64, GpuError> {
        self.sum(Sum::Auc, loss, scores, labels, grad).await
    }

    /// The partial AUC loss: the mean over all positives and the negatives of the false-positive range `fpr` = (α, β),
    /// 0 ≤ α < β ≤ 1, those ranked αn₋ to βn₋ by descending score, the ones on a fractional end by their part of it. Value,
    /// gradient and accuracy as [`auc`](Self::auc)'s.
    ///
    /// # Errors
    /// `Param` for another range, and as [`auc`](Self::auc).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn pauc(
        &mut self,
        loss: AnySurrogate<f32>,
        fpr: (f64, f64),
        scores: &[f32],
        labels: &[u8],
        grad: &mut [f32],
    ) -> Result<f64, GpuError> {
        pollster::block_on(self.pauc_async(loss, fpr, scores, labels, grad))
    }

    /// As [`pauc`](Self::pauc), also on the web.
    ///
    /// # Errors
    /// As there.
    pub async fn pauc_async(
        &mut self,
        loss: AnySurrogate<f32>,
        fpr: (f64, f64),
        scores: &[f32],
        labels: &[u8],
        grad: &mut [f32],
    ) -> Result<f64, GpuError> {
        self.sum(Sum::Pauc(fpr), loss, scores, labels, grad).await
    }

    /// The average-precision loss −1/n₊ Σ_{i∈+} g₁/g₂ with g₁ = Σ_{j∈+} ℓ(s_i − s_j) and g₂ = Σ_j ℓ(s_i − s_j), and its
    /// derivative by every score. Accuracy as [`auc`](Self::auc)'s.
    ///
    /// # Errors
    /// As [`auc`](Self::auc).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn ap(
        &mut self,
        loss: AnySurrogate<f32>,
        scores: &[f32],
        labels: &[u8],
        grad: &mut [f32],
    ) -> Result<f64, GpuError> {
        pollster::block_on(self.ap_async(loss, scores, labels, grad))
    }

    /// As [`ap`](Self::ap), also on the web.
    ///
    /// # Errors
    /// As there.
    pub async fn ap_async(
        &mut self,
        loss: AnySurrogate<f32>,
        scores: &[f32],
        labels: &[u8],
        grad: &mut [f32],
    ) -> Result<f64, GpuError> {
        self.sum(Sum::Ap, loss, scores, labels, grad).await
    }

    async fn sum(
        &mut self,
        sum: Sum,
        loss: AnySurrogate<f32>,
        scores: &[f32],
        labels: &[u8],
        grad: &mut [f32],
    ) -> Result<f64, GpuError> {
        if grad.len() != scores.len() {
            return Err(Error::Length { what: "grad", need: scores.len(), got: grad.len() }.into());
        }
        let classes = check(scores, labels)?;
        let ends = scores.iter().fold((f32::MAX, f32::MIN), |(low, high), &s| (low.min(s), high.max(s)));
        let (job, mean) = job(sum, loss, ends, classes)?;
        self.load(scores, labels).await?;
        let parts = self.by_score(sum, &job).await?;
        let read = self.take(parts, scores.len(), scores.len()).await?;
        let value = read[..parts].iter().map(|&part| f64::from(part)).sum::<f64>() * mean;
        if !(value.is_finite() && read.iter().all(|x| x.is_finite())) {
            return Err(Error::Overflow { what: "pairwise loss" }.into());
        }
        grad.copy_from_slice(&read[parts..]);
        Ok(value)
    }

    /// Encodes and submits a sum over the scores that lie on the device; the gradient by each score stays there. Returns how many parts
    /// of the value there are.
    async fn by_score(&mut self, sum: Sum, job: &Job) -> Result<usize, GpuError> {
        let (grid, rows) = (job.grid, job.negatives + job.positives);
        let by = hinge::weighted(job);
        let (scans, series) = match sum {
            Sum::Auc | Sum::Pauc(_) => (
                vec![hinge::negatives(job), hinge::positives(job, false)],
                grid.map(|grid| vec![panel::negatives(job, grid), panel::positives(job, grid, true)]),
            ),
            Sum::Ap => (
                vec![hinge::negatives(job), hinge::positives(job, true), by, by],
                grid.map(|grid| {
                    let by = panel::weighted(job, grid);
                    vec![panel::negatives(job, grid), panel::positives(job, grid, false), by, by]
                }),
            ),
        };
        let series = series.unwrap_or_default();
        let of_scans = scans.iter().enumerate().map(|(k, scan)| (SCANS + k, scan.words()));
        let of_series = series.iter().enumerate().map(|(k, series)| (SERIES + k, series.words()));
        self.set(job, &of_scans.chain(of_series).collect::<Vec<_>>()).await?;
        if let Some(grid) = grid {
            self.make_smooth(&grid).await?;
        }
        let (programs, memory, smooth) =
            (&self.programs, self.memory()?, self.smooth.as_ref().filter(|_| grid.is_some()));
        let (last, group) = smooth.map_or((&programs.hinge, &memory.job), |smooth| (&smooth.programs, &smooth.job));
        let step =
            |k: usize, rows: usize| Step { program: &last[k], group, slot: JOB, groups: rows.div_ceil(hinge::TILE) };
        // A sweep over each class, and for average precision a second one, by the weights of the first.
        let mut steps = programs.sort(memory, rows);
        for sweep in 0..scans.len() / 2 {
            if sweep == 1 {
                steps.push(step(1, job.positives));
            }
            let both = 2 * sweep..2 * sweep + 2;
            steps.extend(both.clone().flat_map(|k| programs.scan(memory, &scans[k], k)));
            if let Some(smooth) = smooth {
                steps.extend(both.flat_map(|k| smooth.series(&series[k], k)));
            }
        }
        let parts = match sum {
            Sum::Ap => job.positives,
            Sum::Auc | Sum::Pauc(_) => rows,
        };
        steps.push(step(if matches!(sum, Sum::Ap) { 2 } else { 0 }, rows));
        let parts = parts.div_ceil(hinge::TILE);
        self.submit(rows, &steps).await?;
        Ok(parts)
    }

    /// Sorts the rows of the last call so many times more and waits, to time the sort without the way there and back.
    ///
    /// # Errors
    /// `Core` with `Empty` before the first call; `Device`, `Lost`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn sort_again(&self, times: usize) -> Result<(), GpuError> {
        // The uniform of every pass begins with the number of rows.
        let rows = self.uniforms.first().map_or(0, |&rows| rows as usize);
        if rows == 0 {
            return Err(Error::Empty { what: "scores" }.into());
        }
        let sort = self.programs.sort(self.memory()?, rows);
        let steps: Vec<_> = (0..times).flat_map(|_| &sort).copied().collect();
        let done = async {
            self.submit(rows, &steps).await?;
            self.take(1, 0, rows).await
        };
        pollster::block_on(done).map(drop)
    }

    fn memory(&self) -> Result<&Memory, GpuError> {
        // (There is none after an error alone, and then a call makes it.)
        self.memory.as_ref().ok_or(GpuError::Core(Error::Empty { what: "device memory" }))
    }

    /// Buffers for so many rows.
    async fn make_room(&mut self, rows: usize) -> Result<(), GpuError> {
        if self.memory.as_ref().is_some_and(|memory| memory.rows >= rows) {
            return Ok(());
        }
        let limit = self.context.binding().min(8 * MOST_ROWS as u64);
        let need = 8 * rows as u64;
        if need > limit {
            return Err(GpuError::TooLarge { what: "scores", need, limit });
        }
        self.memory = None;
        self.uniforms.clear();
        let device = self.context.device();
        let memory = self.context.checked(|| Memory::new(device, &self.programs, rows)).await?;
        if let Some(mut smooth) = self.smooth.take() {
            self.context.checked(|| smooth.rebind(device, &self.programs, &memory)).await?;
            self.smooth = Some(smooth);
        }
        self.memory = Some(memory);
        Ok(())
    }

    /// Programs, series and the table of a smooth loss.
    async fn make_smooth(&mut self, grid: &Grid) -> Result<(), GpuError> {
        let of = (grid.unit, grid.linear);
        if self.smooth.as_ref().is_some_and(|smooth| smooth.of == of) {
            return Ok(());
        }
        let queue = self.context.queue();
        let mut smooth = match self.smooth.take() {
            Some(smooth) => smooth,
            None => {
                let memory = self.memory()?;
                self.context.checked(|| Smooth::new(&self.context, &self.programs, memory)).await?
            }
        };
        let table = grid.derivatives();
        self.context.checked(|| queue.write_buffer(&smooth.table, 0, bytemuck::cast_slice(&table))).await?;
        smooth.of = of;
        self.smooth = Some(smooth);
        Ok(())
    }

    /// Scores and labels onto the device.
    async fn load(&mut self, scores: &[f32], labels: &[u8]) -> Result<(), GpuError> {
        self.make_room(scores.len()).await?;
        self.bits.clear();
        let word = |labels: &[u8]| labels.iter().rev().fold(0, |word, &y| word << 1 | u32::from(y));
        self.bits.extend(labels.chunks(32).map(word));
        let memory = self.memory()?;
        self.context
            .checked(|| {
                let queue = self.context.queue();
                queue.write_buffer(&memory.scores, 0, bytemuck::cast_slice(scores));
                queue.write_buffer(&memory.labels, 0, bytemuck::cast_slice(&self.bits));
            })
            .await
    }

    /// Uniforms, where they are others.
    async fn set(&mut self, job: &Job, others: &[(usize, [u32; 12])]) -> Result<(), GpuError> {
        let rows = job.negatives + job.positives;
        let mut uniforms = vec![0; SLOTS * SLOT / 4];
        let passes = (0..sort::PASSES).map(|pass| (pass, sort::words(rows, pass)));
        for (slot, words) in passes.chain(others.iter().copied()).chain([(JOB, job.words())]) {
            uniforms[slot * SLOT / 4..][..words.len()].copy_from_slice(&words);
        }
        if uniforms != self.uniforms {
            let to = &self.memory()?.uniforms;
            let write = || self.context.queue().write_buffer(to, 0, bytemuck::cast_slice(&uniforms));
            self.context.checked(write).await?;
            self.uniforms = uniforms;
        }
        Ok(())
    }

    /// Submits the steps.
    async fn submit(&self, rows: usize, steps: &[Step<'_>]) -> Result<(), GpuError> {
        self.context
            .checked(|| {
                for steps in steps.chunks((SUBMIT / rows).max(1)) {
                    let mut encoder = self.context.device().create_command_encoder(&Default::default());
                    let mut pass = encoder.begin_compute_pass(&Default::default());
                    for step in steps {
                        pass.set_pipeline(step.program);
                        pass.set_bind_group(0, step.group, &[(step.slot * SLOT) as u32]);
                        self.context.dispatch(&mut pass, [step.groups as u32, 1, 1]);
                    }
                    drop(pass);
                    self.context.queue().submit([encoder.finish()]);
                }
            })
            .await
    }

    /// So many words of parts, and entries of the gradient, after work on so many rows.
    async fn take(&self, parts: usize, grad: usize, rows: usize) -> Result<Vec<f32>, GpuError> {
        let memory = self.memory()?;
        let bytes = 4 * parts as u64;
        self.context
            .checked(|| {
                let mut encoder = self.context.device().create_command_encoder(&Default::default());
                encoder.copy_buffer_to_buffer(&memory.parts, 0, &memory.staging, 0, bytes);
                if grad > 0 {
                    encoder.copy_buffer_to_buffer(&memory.grad, 0, &memory.staging, bytes, 4 * grad as u64);
                }
                self.context.queue().submit([encoder.finish()]);
            })
            .await?;
        // A row is about as much work as 32 pairs.
        self.context.read(&memory.staging, parts + grad, 32 * rows as u64).await
    }
}

/// The job of a sum over pairs of scores between these, and what the sum of its terms is multiplied by.
fn job(sum: Sum, loss: AnySurrogate<f32>, (low, high): (f32, f32), classes: Classes) -> Result<(Job, f64), GpuError> {
    let (margin, square, grid) = match Loss::of(loss) {
        Some(Loss::Smooth { scale, linear }) => (0.0, false, Some(Grid::of(scale, linear, [low, high])?)),
        Some(Loss::Hinge { margin, square }) => {
            if f64::from(margin) < LEAST_MARGIN {
                return Err(Error::Param { what: "margin" }.into());
            }
            let widest = (f64::from(high) - f64::from(low)) + f64::from(margin);
            let rows = (classes.negatives + classes.positives) as f64;
            if rows * widest * if square { widest } else { 1.0 } > LARGEST {
                return Err(Error::Overflow { what: "pairwise loss" }.into());
            }
            (margin, square, None)
        }
        None => {
            let what = "exact sums on the GPU but of hinge, squared-hinge, sigmoid and logistic";
            return Err(Error::Unsupported { what }.into());
        }
    };
    let [negatives, positives] = [classes.negatives as usize, classes.positives as usize];
    let (range, ends, mass) = match sum {
        Sum::Auc | Sum::Ap => ([0, negatives - 1], [1.0; 2], negatives as f64),
        Sum::Pauc(fpr) => part(fpr, negatives)?,
    };
    let mean = match sum {
        Sum::Ap => -1.0 / positives as f64,
        Sum::Auc | Sum::Pauc(_) => 1.0 / (positives as f64 * mass),
    };
    let scale = (mean.abs() * if square { 2.0 } else { 1.0 }) as f32;
    Ok((Job { negatives, positives, range, ends, margin, scale, square, grid }, mean))
}

/// The negatives of a range of false-positive rates by place in the order, the weights of the lowest and the highest, and of
/// all together.
fn part((alpha, beta): (f64, f64), negatives: usize) -> Result<([usize; 2], [f32; 2], f64), GpuError> {
    let (from, to) = (alpha * negatives as f64, beta * negatives as f64);
    if !(0.0 <= alpha && alpha < beta && beta <= 1.0 && from < to) {
        return Err(Error::Param { what: "fpr" }.into());
    }
    // Ranks, by descending score; rank r covers r to r + 1.
    let first = (from as usize).min(negatives - 1);
    let last = (to.ceil() as usize).clamp(first + 1, negatives) - 1;
    let inside = |rank: usize| (to.min((rank + 1) as f64) - from.max(rank as f64)).max(0.0) as f32;
    Ok(([negatives - 1 - last, negatives - 1 - first], [inside(last), inside(first)], to - from))
}

/// The curves from points (key, true positives, false positives) in any order.
fn curves(mut points: Vec<[u32; 3]>, classes: Classes) -> (Vec<RocPoint>, Vec<PrPoint>) {
    points.sort_unstable_by(|a, b| b.cmp(a));
    points.dedup();
    let [positives, negatives] = [classes.positives as f64, classes.negatives as f64];
    let mut roc = vec![RocPoint { threshold: f64::INFINITY, fpr: 0.0, tpr: 0.0 }];
    let mut pr = Vec::new();
    for [key, found, wrong] in points {
        let (threshold, found, wrong) = (f64::from(sort::score(key)), f64::from(found), f64::from(wrong));
        roc.push(RocPoint { threshold, fpr: wrong / negatives, tpr: found / positives });
        pr.push(PrPoint { threshold, recall: found / positives, precision: found / (found + wrong) });
    }
    (roc, pr)
}
