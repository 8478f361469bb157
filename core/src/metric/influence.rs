//! How far each row moves a metric: what intervals and differences are made of.
//!
//! With weights w, Σ w_i = W₊ over the positives and W₋ over the negatives, the influence of a row is the derivative of the metric by its
//! weight. With u a false-positive rate, T(u) the true-positive rate there (a straight line where scores tie) and u_j that of negative j,
//!
//! ```text
//! partial AUC A over [α, β]   W₊ f_i = h_i − A, with h_i the share of [α, β] to the right of positive i
//!                             W₋ f_j = (T(v_j) − (1 − β) T(β) − α T(α))/(β − α) − A, with v_j = u_j moved into [α, β]
//! AP, with S = TP + FP        W₊ f_i = P_i − AP + Σ_{k∈+, s_k ≤ s_i} w_k FP_k/S_k²
//!                             W₊ f_j = −Σ_{k∈+, s_k ≤ s_j} w_k TP_k/S_k²
//! precision at K of W         K f_i = t_i (y_i − p) + (p − precision) K/W, with t_i 1 for a row at the top
//! recall at K of W            W₊ f_i = t_i (y_i − p) + p K/W − y_i recall
//! ```
//!
//! Over [0, 1] these are the placements of DeLong, DeLong and Clarke-Pearson 1988 less their mean: W₊ f_i = V10_i − A, W₋ f_j = V01_j − A.
//! The others are ours, by differentiation (tests compare them with differences). A row moves the partial AUC through the thresholds
//! of α and β, too: by T there, not by a density. One more row at the top pushes another out, which is a positive with probability p: the
//! share of positives of the score at the cut, or where it is cut between scores, of those that weigh √K to either side of it.
//! All are sums over the runs of one ordering: O(runs), two numbers of memory a run.

use super::amount::Amount;
use super::partial_auc::FprRange;
use super::rank::Run;
use super::top::Top;
use crate::error::{Error, Result, exact_len};
use crate::real::Real;

/// A metric of an ordering whose interval and differences are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimate {
    /// Average precision.
    Ap,
    /// Partial AUC over a range of false-positive rates, by the trapezoid rule; over [0, 1] AUROC.
    Roc(FprRange),
    /// Share of positives among the highest scores.
    PrecisionAt(Top),
    /// Share of all positives among them.
    RecallAt(Top),
}

impl Estimate {
    /// AUROC.
    pub const AUROC: Self = Self::Roc(FprRange::FULL);
}

/// The influence of a positive and of a negative of each run (in descending order), and the metric itself. `out`: one for each run. O(runs).
///
/// ```
/// use undercurve::metric::{Estimate, influence, rank::Run};
/// // Scores of the classes + − +, descending: of two pairs one is in order.
/// let run = |positives: u64, negatives: u64| Run { positives, negatives };
/// let mut out = [[0.0; 2]; 3];
/// assert_eq!(influence(Estimate::AUROC, &[run(1, 0), run(0, 1), run(1, 0)], &mut out)?, 0.5);
/// assert_eq!((out[0][0], out[1][1], out[2][0]), (0.25, 0.0, -0.25)); // more weight of the first raises it
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// `OneClass`; `Length` (out); as [`Top::of`].
pub fn influence<A: Amount>(of: Estimate, runs: &[Run<A>], out: &mut [[f64; 2]]) -> Result<f64> {
    exact_len("out", runs.len(), out.len())?;
    let all = runs.iter().fold([0.0; 2], |[p, n], run| [p + run.positives.f64(), n + run.negatives.f64()]);
    if all.contains(&0.0) {
        return Err(Error::OneClass);
    }
    Ok(match of {
        Estimate::Ap => of_precision(runs, all[0], out),
        Estimate::Roc(range) => of_roc(runs, all, range, out),
        Estimate::PrecisionAt(top) => {
            let (rows, share) = (all[0] + all[1], top.of(all[0] + all[1])?);
            let (found, local) = of_top(runs, share, out);
            let fixed = (local - found / share) / rows;
            moved_at_top(out, |top, positive| top * (positive - local) / share + fixed);
            found / share
        }
        Estimate::RecallAt(top) => {
            let (rows, share) = (all[0] + all[1], top.of(all[0] + all[1])?);
            let (found, local) = of_top(runs, share, out);
            let recall = found / all[0];
            moved_at_top(out, |top, positive| {
                (top * (positive - local) + local * share / rows - positive * recall) / all[0]
            });
            recall
        }
    })
}

/// The positives among so much weight at the top, and the share of positives around the cut. To `out` goes how much of each run is there.
fn of_top<A: Amount>(runs: &[Run<A>], most: f64, out: &mut [[f64; 2]]) -> (f64, f64) {
    let around = Real::sqrt(most);
    let (mut seen, mut found, mut near, mut cut) = (0.0, 0.0, [0.0; 2], None);
    for (run, out) in runs.iter().zip(out.iter_mut()) {
        let (own, all) = (run.positives.f64(), run.positives.f64() + run.negatives.f64());
        let taken = all.or_smaller((most - seen).or_larger(0.0));
        *out = [if all > 0.0 { taken / all } else { 0.0 }; 2];
        found += own * out[0];
        if taken > 0.0 && taken < all {
            cut = Some(own / all);
        }
        if seen + all > most - around && seen < most + around {
            near = [near[0] + own, near[1] + all];
        }
        seen += all;
    }
    (found, cut.unwrap_or(near[0] / near[1].or_larger(f64::MIN_POSITIVE)))
}

/// To `out`, which says how much of each run is at the top, by how much its positives and its negatives move the metric.
fn moved_at_top(out: &mut [[f64; 2]], of: impl Fn(f64, f64) -> f64) {
    out.iter_mut().for_each(|out| *out = [of(out[0], 1.0), of(out[0], 0.0)]);
}

fn of_precision<A: Amount>(runs: &[Run<A>], positives: f64, out: &mut [[f64; 2]]) -> f64 {
    // First the precision of each run, and what its positives let the rows above move the precision by.
    let (mut tp, mut seen, mut area) = (0.0, 0.0, 0.0);
    for (run, out) in runs.iter().zip(out.iter_mut()) {
        let own = run.positives.f64();
        tp += own;
        seen += own + run.negatives.f64();
        *out = [tp, seen];
        if own > 0.0 {
            area += own * (tp / seen);
        }
    }
    area /= positives;
    // Then from the lowest up the sums of that.
    let (mut up, mut down) = (0.0, 0.0);
    for (run, out) in runs.iter().zip(out.iter_mut()).rev() {
        let (own, [tp, seen]) = (run.positives.f64(), *out);
        if own > 0.0 {
            up += own * ((seen - tp) / seen / seen);
            down += own * (tp / seen / seen);
        }
        *out = [(tp / seen - area + up) / positives, -down / positives];
    }
    area
}

/// Where a range of false positives meets a run: negatives before the range, inside, behind it, and the middle of those inside, from the
/// first of the run.
fn parts([low, high]: [f64; 2], from: f64, negatives: f64) -> [f64; 4] {
    let within = |end: f64| (end - from).or_larger(0.0).or_smaller(negatives);
    let (before, until) = (within(low), within(high));
    [before, until - before, negatives - until, 0.5 * (before + until)]
}

fn of_roc<A: Amount>(runs: &[Run<A>], [positives, negatives]: [f64; 2], range: FprRange, out: &mut [[f64; 2]]) -> f64 {
    let (alpha, beta) = (range.low(), range.high());
    let ends = [alpha * negatives, beta * negatives];
    // (tp, fp) before each run, with its positives and negatives.
    let walk = || {
        let (mut tp, mut fp) = (0.0, 0.0);
        runs.iter().map(move |run| {
            let (here, own) = ([tp, fp], [run.positives.f64(), run.negatives.f64()]);
            (tp, fp) = (tp + own[0], fp + own[1]);
            (here, own)
        })
    };
    // True positives where the curve comes to either end of the range.
    let (mut at, mut area) = ([0.0, positives], 0.0);
    for (([tp, fp], [own, others]), out) in walk().zip(out.iter_mut()) {
        let [_, inside, _, middle] = parts(ends, fp, others);
        // A positive counts the part of the range to its right; on a straight line that of its place.
        let right = (ends[1] - (fp + others).or_larger(ends[0])).or_larger(0.0);
        let inside = if inside > 0.0 { inside * (middle / others) } else { 0.0 };
        out[0] = (right + inside) / (ends[1] - ends[0]);
        area += own * out[0];
        for (at, end) in at.iter_mut().zip(ends) {
            if fp < end && end <= fp + others {
                *at = tp + own * ((end - fp) / others);
            }
        }
    }
    area /= positives;
    let [low, high] = at;
    let mean = (1.0 - beta) * high + alpha * low + (beta - alpha) * area * positives;
    for (([tp, fp], [own, others]), out) in walk().zip(out.iter_mut()) {
        let [before, inside, behind, middle] = parts(ends, fp, others);
        let own = if others > 0.0 {
            (before * low + inside * (tp + own * (middle / others)) + behind * high) / others
        } else {
            mean
        };
        *out = [(out[0] - area) / positives, (own - mean) / ((beta - alpha) * positives * negatives)];
    }
    area
}
