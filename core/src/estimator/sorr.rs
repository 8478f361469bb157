//! Sum of ranked range: the losses of single examples ranked m + 1 to n, as the difference of two sums of the largest.
//!
//! Source: Hu, Ying, Wang and Lyu 2020, "Learning by Minimizing the Sum of Ranked Range"; in the form of Yao, Lin and Yang
//! 2022, "Large-scale Optimization of Partial AUC in a Range of False Positive Rates", equations (5) and (7), algorithm 3.
//!
//! ```text
//! F = f^n − f^m,   f^l = 1/(N(β−α)) φ_l(ℓ_1 … ℓ_N) = 1/(N(β−α)) min_λ (l λ + Σ_j [ℓ_j − λ]₊),   m = αN,  n = βN
//! ```
//!
//! φ_l the sum of the l largest. m > 0 leaves the m worst out, as outliers. A batch gives, with the weights p_j of its rows in
//! a mean over all (1/b where b are drawn uniformly), c_j = p_j 𝟙(ℓ_j > λ) ℓ'_j/(β−α) and
//! λ ← λ − θ(l/N − Σ_j p_j 𝟙(ℓ_j > λ)). A batch of everything brings the best λ, the ⌈l⌉-th largest loss, and with it a new
//! inner problem; its gradient is that of f^l. Ending an inner problem ([`turn`](Estimator::turn)) makes λ its mean over the
//! problem's steps. Deviations: the objective is divided by N(β−α), θ here is the paper's times N; rows may be drawn by class.
//!
//! Term 0 is f^m and term 1 f^n; there is no f^m where α = 0, and f^n needs no λ where β = 1. As an [`Estimator`] of two
//! classes y is −1 and 1. Of rows in one segment y is 0: their scores are residuals, less the numbers that they are to be
//! ([`Residuals`](crate::host::Residuals)). The state is `[λ, λ̄ so far, steps that it holds]` of either term, then the steps of each
//! term's inner problem. [`Sorr::largest`] and [`Sorr::term`] are over slices of the caller's. Cost
//! O(b) a batch, O(N log N) for everything. Scratch: 2 values and one `u32` a row.

use super::pauc_dual::{CHANGING, RADIUS, RELAX, TERMS, THETA, mean_until, turn_bank};
use super::{Estimator, Grad, Held, Weights, class_weights, commit, finite, segment_weight};
use crate::batch::{Batch, Drawn, Shape};
use crate::device::Recipe;
use crate::error::{Error, Result, all_finite, exact_len};
use crate::real::Real;
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::params::*;
use crate::registry::settings::Settings;
use crate::scratch::{Need, Scratch};
use crate::slices::Part;
use core::ops::Range;

/// Numbers of a term's state.
pub const DUAL: usize = super::pauc_dual::DUAL;

/// What a batch does to the dual of its term.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Track {
    /// θ ≥ 0.
    pub rate: f64,
    /// Steps of the inner problem before this one.
    pub done: u64,
}

/// The dual of a term, and how a batch moves it, if it does.
#[derive(Debug)]
pub struct Dual<'a, T> {
    /// λ, its sum over the steps of the inner problem, and what is lost of it to rounding.
    pub values: &'a mut [T; DUAL],
    /// `None` leaves it as it is.
    pub track: Option<Track>,
}

/// Ends an inner problem of so many steps: λ becomes its mean over them, and the next begins.
pub fn turn<T: Real>(dual: &mut [T; DUAL], steps: u64) {
    turn_bank(dual, steps as f64);
}

/// Loss of one example, of its score s and its target y.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExampleLoss {
    /// ln(1 + e^−s) for y > 0 and ln(1 + e^s) for others: the log loss of σ(s).
    Logistic,
    /// (s − y)²/2.
    Squares,
    /// |s − y|, 0 for its slope at 0.
    Absolute,
}

impl ExampleLoss {
    /// Value and slope by the score.
    fn parts<T: Real>(self, s: T, y: T) -> (T, T) {
        match self {
            Self::Logistic if y > T::ZERO => ((-s).softplus(), -(-s).sigmoid()),
            Self::Logistic => (s.softplus(), s.sigmoid()),
            Self::Squares => {
                let d = s - y;
                (T::of(0.5) * d * d, d)
            }
            Self::Absolute => {
                let d = s - y;
                let sign = if d > T::ZERO {
                    T::ONE
                } else if d < T::ZERO {
                    -T::ONE
                } else {
                    T::ZERO
                };
                (d.abs(), sign)
            }
        }
    }
}

/// The two terms of a sum of ranked range.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::batch::{Batch, Drawn};
/// use undercurve::estimator::{Estimator, Sorr, sorr::ExampleLoss};
///
/// let scores = [0.0, 0.0, 0.0, -50.0]; // three negatives, and a positive that looks mislabelled
/// let batch = Batch::new(&scores, 1, &[0, 3, 4], &[3, 1], Drawn::All)?;
/// // Ranks ¼ to 1: all but the largest quarter of the losses.
/// let loss = Sorr::new(ExampleLoss::Logistic, (0.25, 1.0), 0.1)?;
/// let scratch = Scratch { real: &mut [0.0; 8], u32: &mut [0; 4], ..Scratch::default() }; // as `need` says, or more
/// let value: f64 = Estimator::value(&loss, &batch, &[], scratch)?;
/// assert!((value - 2.0f64.ln()).abs() < 1e-12); // the outlier's loss of 50 is left out
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sorr {
    loss: ExampleLoss,
    range: (f64, f64),
    theta: f64,
}

impl Sorr {
    /// - `range`: of ranks as shares of the examples, 0 ≤ α < β ≤ 1.
    /// - `theta` ≥ 0: the step of λ where no other is asked for.
    ///
    /// # Errors
    /// `Param` (from, to, theta).
    pub fn new(loss: ExampleLoss, range: (f64, f64), theta: f64) -> Result<Self> {
        if !(0.0 <= range.0 && range.0 < range.1) {
            return Err(Error::Param { what: "from" });
        }
        if range.1 > 1.0 {
            return Err(Error::Param { what: "to" });
        }
        if theta >= 0.0 && theta.is_finite() {
            Ok(Self { loss, range, theta })
        } else {
            Err(Error::Param { what: "theta" })
        }
    }

    fn share(&self, term: usize) -> f64 {
        if term == 0 { self.range.0 } else { self.range.1 }
    }

    /// Working memory for so many rows.
    #[must_use]
    pub fn need(&self, rows: usize) -> Need {
        Need { real: 2 * rows, u32: rows, ..Need::NONE }
    }

    /// Losses and slopes of all rows into scratch.
    fn losses<'a, T: Real>(
        &self,
        scores: &[T],
        target: impl Fn(usize) -> T,
        scratch: Scratch<'a, T>,
    ) -> Result<Losses<'a, T>> {
        if scores.is_empty() {
            return Err(Error::Empty { what: "scores" });
        }
        scratch.check(self.need(scores.len()))?;
        all_finite("scores", scores)?;
        let (losses, rest) = scratch.real.split_at_mut(scores.len());
        let slopes = &mut rest[..scores.len()];
        for (at, (&s, (loss, slope))) in scores.iter().zip(losses.iter_mut().zip(&mut *slopes)).enumerate() {
            (*loss, *slope) = self.loss.parts(s, target(at));
        }
        all_finite("loss", losses).map_err(|_| Error::Overflow { what: "loss" })?;
        Ok((losses, slopes, &mut scratch.u32[..scores.len()]))
    }

    /// f^l of a term over all rows exactly, with a subgradient by score, and the best λ of the term in `dual` (its mean
    /// begins anew). Where l is no integer the last loss counts by its fraction; of equal losses the earlier rank higher.
    ///
    /// # Errors
    /// `Empty`, `Length`, `NonFinite`, `Overflow`. Nothing has changed then.
    pub fn largest<T: Real>(
        &self,
        term: usize,
        scores: &[T],
        targets: &[T],
        dual: &mut [T; DUAL],
        scratch: Scratch<'_, T>,
        grad: &mut [T],
    ) -> Result<f64> {
        exact_len("targets", scores.len(), targets.len())?;
        all_finite("targets", targets)?;
        let (value, best) = self.top(term, self.losses(scores, |at| targets[at], scratch)?, Some(grad))?;
        *dual = best;
        Ok(value)
    }

    /// f^l, with its subgradient if one is wanted; and the state of the best λ.
    fn top<T: Real>(&self, term: usize, rows: Losses<'_, T>, grad: Option<&mut [T]>) -> Result<(f64, [T; DUAL])> {
        let (losses, slopes, order) = rows;
        let wanted = self.share(term) * losses.len() as f64;
        let unit = 1.0 / (losses.len() as f64 * (self.range.1 - self.range.0));
        crate::sort::falling(losses, order);
        let mut total = 0.0;
        for (rank, &row) in order.iter().enumerate() {
            let part = (wanted - rank as f64).or_larger(0.0).or_smaller(1.0);
            total += part * losses[row as usize].f64();
            slopes[row as usize] *= T::of(part * unit);
        }
        let value = finite("ranked loss", total * unit)?;
        let last = (libm::ceil(wanted) as usize).max(1).min(order.len()) - 1;
        let lambda = losses[order[last] as usize];
        if let Some(grad) = grad {
            commit(slopes, grad)?;
        }
        Ok((value, [lambda, T::ZERO, T::ZERO]))
    }

    /// The estimate of the dual form of a term from a batch that was drawn uniformly, and its gradient by score; where
    /// it is tracked, λ moves after it was used. A term that is not there is 0.
    ///
    /// # Errors
    /// `Empty`, `Length`, `NonFinite`, `Param` (a negative rate), `Overflow`. Nothing has changed then.
    pub fn term<T: Real>(
        &self,
        term: usize,
        scores: &[T],
        targets: &[T],
        dual: Dual<'_, T>,
        scratch: Scratch<'_, T>,
        grad: &mut [T],
    ) -> Result<f64> {
        exact_len("targets", scores.len(), targets.len())?;
        all_finite("targets", targets)?;
        let rows = self.losses(scores, |at| targets[at], scratch)?;
        let weight = 1.0 / scores.len() as f64;
        let (value, next) = self.dual_form(term, rows, |_| weight, dual.values, dual.track, Some(grad))?;
        *dual.values = next;
        Ok(value)
    }

    /// The same with a weight for each row, if a gradient is wanted; and the state after the batch.
    fn dual_form<T: Real>(
        &self,
        term: usize,
        rows: Losses<'_, T>,
        weight: impl Fn(usize) -> f64,
        dual: &[T; DUAL],
        track: Option<Track>,
        grad: Option<&mut [T]>,
    ) -> Result<(f64, [T; DUAL])> {
        if track.is_some_and(|track| !(track.rate >= 0.0 && track.rate.is_finite())) {
            return Err(Error::Param { what: "theta" });
        }
        let (losses, slopes, _) = rows;
        let share = self.share(term);
        let unit = 1.0 / (self.range.1 - self.range.0);
        // All losses are among the N largest.
        let every = share >= 1.0;
        let lambda = if every { T::ZERO } else { dual[0] };
        let (mut total, mut above) = (share * lambda.f64(), 0.0);
        for (at, (&loss, slope)) in losses.iter().zip(&mut *slopes).enumerate() {
            let counts = share > 0.0 && (every || loss > lambda);
            let weight = weight(at);
            *slope = if counts { *slope * T::of(weight * unit) } else { T::ZERO };
            if counts {
                total += weight * (loss - lambda).f64();
                above += weight;
            }
        }
        let value = if share > 0.0 { finite("ranked loss", total * unit)? } else { 0.0 };
        let mut next = *dual;
        if let (Some(Track { rate, done }), true) = (track, share > 0.0 && !every) {
            // (Restored counts may be anything.)
            let done = done.checked_add(1).ok_or(Error::Overflow { what: "steps" })? as f64;
            let moved = lambda.f64() - rate * (share - above);
            next = [T::of(moved), mean_until(dual, done), T::of(done)];
            all_finite("lambda", &next).map_err(|_| Error::Overflow { what: "lambda" })?;
        }
        if let Some(grad) = grad {
            commit(slopes, grad)?;
        }
        Ok((value, next))
    }

    /// Writes the gradient of the batch's term, if one is wanted, then the state after the batch, if it is to move.
    fn step<T: Real>(
        &self,
        batch: &Batch<'_, T>,
        state: Held<'_, T>,
        scratch: Scratch<'_, T>,
        grad: Option<&mut [T]>,
    ) -> Result<f64> {
        let target = labels(batch)?;
        let (term, old) = (usize::from(batch.term()), state.read());
        if term >= TERMS {
            return Err(Error::Unsupported { what: "a term that the objective does not have" });
        }
        exact_len("state", TERMS * (DUAL + 1), old.len())?;
        let mut dual = [T::ZERO; DUAL];
        dual.copy_from_slice(&old[DUAL * term..][..DUAL]);
        let done = old[TERMS * DUAL + term].f64();
        let rows = self.losses(batch.scores(), target, scratch)?;
        let all = batch.drawn() == Drawn::All;
        let (value, next) = if all {
            self.top(term, rows, grad)?
        } else {
            let segments = batch.shape().segments;
            let count = batch.starts()[1] as usize;
            let weights = [0, segments - 1].map(|segment| segment_weight(Weights::Unbiased, batch, segment));
            let track = Track { rate: batch.rate().unwrap_or(self.theta), done: done as u64 };
            self.dual_form(term, rows, |at| weights[usize::from(at >= count)], &dual, Some(track), grad)?
        };
        let share = self.share(term);
        if let (Held::Moved(state), true) = (state, share > 0.0 && share < 1.0) {
            state[DUAL * term..][..DUAL].copy_from_slice(&next);
            state[TERMS * DUAL + term] = if all { T::ZERO } else { T::of(done + 1.0) };
        }
        Ok(value)
    }
}

impl<T: Real> Estimator<T> for Sorr {
    /// Of f^n with the logistic loss: weights of negatives and of positives, 1/(β − α), β.
    fn recipe(&self, batch: &Batch<'_, T>) -> Option<Recipe> {
        batch.binary().ok()?;
        let [low, high] = class_weights(Weights::Unbiased, batch);
        let numbers = [low, high, 1.0 / (self.range.1 - self.range.0), self.range.1];
        (self.loss == ExampleLoss::Logistic).then(|| Recipe::new("sorr", &numbers))
    }

    /// No row: λ is one number for all.
    fn owners(&self, _: usize) -> Range<usize> {
        0..0
    }

    fn state_len(&self, _: usize) -> usize {
        TERMS * (DUAL + 1)
    }

    fn terms(&self) -> u8 {
        TERMS as u8
    }

    fn need(&self, shape: Shape) -> Need {
        Sorr::need(self, shape.rows)
    }

    /// Of the batch's own ranks, every row alike.
    fn value(&self, batch: &Batch<'_, T>, _: &[T], scratch: Scratch<'_, T>) -> Result<f64> {
        let (losses, _, order) = self.losses(batch.scores(), labels(batch)?, scratch)?;
        crate::sort::falling(losses, order);
        let [from, to] = [0, 1].map(|term| self.share(term) * losses.len() as f64);
        let inside = |rank: f64| ((rank + 1.0).or_smaller(to) - rank.or_larger(from)).or_larger(0.0);
        let total: f64 = order.iter().enumerate().map(|(k, &row)| inside(k as f64) * losses[row as usize].f64()).sum();
        finite("ranked loss", total / (to - from))
    }

    fn gradient(
        &self,
        batch: &Batch<'_, T>,
        _: &[T],
        state: &[T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        self.step(batch, Held::Read(state), scratch, Some(grad.scores))
    }

    fn track(&self, batch: &Batch<'_, T>, state: &mut [T], scratch: Scratch<'_, T>) -> Result<()> {
        self.step(batch, Held::Moved(state), scratch, None).map(|_| ())
    }

    /// The gradient is that of λ before the batch.
    fn update(
        &self,
        batch: &Batch<'_, T>,
        _: &[T],
        state: &mut [T],
        scratch: Scratch<'_, T>,
        grad: Grad<'_, T>,
    ) -> Result<f64> {
        self.step(batch, Held::Moved(state), scratch, Some(grad.scores))
    }

    fn turn(&self, term: u8, state: &mut [T]) -> Result<()> {
        exact_len("state", TERMS * (DUAL + 1), state.len())?;
        let term = usize::from(term);
        if term >= TERMS {
            return Err(Error::Unsupported { what: "a term that the objective does not have" });
        }
        let (duals, clocks) = state.split_at_mut(TERMS * DUAL);
        turn_bank(&mut duals[DUAL * term..][..DUAL], clocks[term].f64());
        clocks[term] = T::ZERO;
        Ok(())
    }
}

/// What the scores of a batch are held against: the class of each row, or 0 where they are residuals.
fn labels<T: Real>(batch: &Batch<'_, T>) -> Result<impl Fn(usize) -> T> {
    let residuals = batch.shape().segments == 1;
    let count = if residuals { 0 } else { batch.binary()?.0.len() };
    Ok(move |at: usize| match residuals {
        true => T::ZERO,
        false if at < count => -T::ONE,
        false => T::ONE,
    })
}

impl Sorr {
    /// Of settings.
    pub(crate) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        let loss = match settings.text("loss") {
            Some("least-squares") => ExampleLoss::Squares,
            Some("absolute") => ExampleLoss::Absolute,
            _ => ExampleLoss::Logistic,
        };
        Self::new(loss, settings.ranks(), settings.value("theta"))
    }

    /// The rows that are left out, the worst first: of the αN largest losses, whole rows alone.
    ///
    /// # Errors
    /// `Empty`, `Length`, `NonFinite`, `Overflow`.
    pub fn left_out<'a, T: Real>(&self, scores: &[T], targets: &[T], scratch: Scratch<'a, T>) -> Result<&'a [u32]> {
        exact_len("targets", scores.len(), targets.len())?;
        let (losses, _, order) = self.losses(scores, |at| targets[at], scratch)?;
        crate::sort::falling(losses, order);
        // (A share that comes to a whole number of rows in all but rounding.)
        let count = libm::floor(self.range.0 * losses.len() as f64 + 1e-9) as usize;
        order.head(count)
    }
}

/// Losses, slopes and room for an order.
type Losses<'a, T> = (&'a mut [T], &'a mut [T], &'a mut [u32]);

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "sorr",
    title: "Sum of ranked range",
    about: "Minimises the mean of the losses of single examples in a range of ranks: without the worst, as outliers, and without the easy ones. Also of numbers (--target values), by default all but the worst 5 %.",
    kind: Kind::Batches,
    metric: Metric::Auroc,
    params: &[
        FROM_CE_STEPS,
        rule("dca", &["dca", "agd-sbcd"]),
        auto_lr(2.0, 0.02),
        THETA,
        auto_number(
            "stage",
            1.0,
            Auto::Share { linear: 1.0 / 30.0, network: 1.0 / 30.0 },
            "steps of the first outer step (agd-sbcd: gradients of the first stage)",
        ),
        RADIUS,
        RELAX,
        CHANGING,
        number("prox", "0", 0.0, BIG, "dca: weight of half the squared distance to the start of an outer step"),
        choice(
            "loss",
            "logistic",
            &["logistic", "least-squares", "absolute"],
            "of an example, classes being -1 and 1; of numbers least-squares by default, absolute where many may be wrong",
        ),
        choice("units", "shares", &["shares", "ranks"], "what from and to are: shares of the rows, or ranks"),
        number("from", "0.001", 0.0, BIG, "how many of the largest losses are left out"),
        number("to", "0.5", 0.0, BIG, "down to which rank losses count"),
        sampling("uniform"),
        POSITIVES,
        NEGATIVES,
        BATCH,
        pull(0.03, 4.0),
        DECAY_TO,
        FROM_CE,
        PRETRAIN_LR,
        NO_RESTART,
    ],
    paper: &[("units", "ranks"), ("from", "1000"), ("to", "20000"), ("pretrain", "0"), ("decay", "0")],
    source: Source {
        paper: "Yao, Lin, Yang 2022, Large-scale Optimization of Partial AUC in a Range of False Positive Rates",
        part: "equations (5), (7), algorithm 3, after Hu, Ying, Wang, Lyu 2020",
    },
    files: &["core/src/estimator/sorr.rs", "core/src/algorithm/agd.rs", "core/src/algorithm/dca.rs"],
};
