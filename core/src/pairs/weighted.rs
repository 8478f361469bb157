//! Sums over pairs of rows that have weights: the pair (i, j) counts w_i·w_j.
//!
//! ```text
//! AUC   F = 1/(W₊W₋) Σ_{i∈+} w_i Σ_{j∈−} w_j ℓ(s_i − s_j)
//! AP    P = −1/W₊ Σ_{i∈+} w_i g1_i/g2_i,   g1_i = Σ_{j∈+} w_j ℓ(s_i − s_j),   g2_i the same over all rows
//! ```
//!
//! which are the sums over rows repeated as often as whole weights say. The hinge, [d]₊ with d = m − (s_i − s_j), and its square
//! are sums of powers. Rows are sorted, and moments of weights pass over the gap δ from one threshold to the next as in
//! `sorted.rs`,
//!
//! ```text
//! N₂ ← N₂ + δ(2N₁ + δN₀),   N₁ ← N₁ + δN₀,   N₀ ← N₀ + w
//! ```
//!
//! Smoothed hinge and ramp are sums over windows of the sorted rows (`windows.rs`), which serve rows without weights, too, where
//! their scores spread too far for `ramp_sums.rs`. Sigmoid and logistic sums go through the panels, square and exponential
//! ones through closed forms, whose moments take weights; what is left, and few pairs, through all pairs. Source: own, as
//! those. Cost: O(n log n), all pairs O(n₊n). Error: rounding.

use super::ramp_sums::Window;
use super::weight::{Class, Rows};
use super::windows;
use crate::real::Real;
use crate::scratch::Scratch;
use crate::surrogate::{AnySurrogate, Family, Surrogate};

/// A loss that is summed over sorted rows.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// [d]₊, or its square.
    Hinge { margin: f64, square: bool },
    /// Smoothed hinge or ramp.
    Window(Window),
}

impl Form {
    /// `None` for losses of another kind.
    pub(super) fn of(loss: AnySurrogate<f64>) -> Option<Self> {
        match loss.family() {
            Family::Hinge { margin, square } => Some(Self::Hinge { margin, square }),
            Family::Window { margin, width, round } => Some(Self::Window(Window { margin, width, round })),
            Family::Pairs
            | Family::Square { .. }
            | Family::Exponential { .. }
            | Family::Sigmoid { .. }
            | Family::Softplus { .. } => None,
        }
    }

    pub(super) fn margin(&self) -> f64 {
        match *self {
            Self::Hinge { margin, .. } => margin,
            Self::Window(window) => window.margin,
        }
    }
}

/// Rows of one class, ascending by score.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub order: &'a [u32],
    pub scores: &'a [f64],
    pub masses: &'a [f64],
}

impl Side<'_> {
    fn at(&self, k: usize) -> (f64, f64) {
        (self.scores[k], self.masses[k])
    }
    fn len(&self) -> usize {
        self.order.len()
    }
}

/// Σ_j w_j ℓ and Σ_j w_j ∂ℓ/∂d over the others, added for each positive to `sums`.
fn over_others(form: &Form, positives: Side<'_>, others: Side<'_>, posts: &mut [u64], sums: &mut [[f64; 2]]) {
    let (margin, square) = match *form {
        Form::Hinge { margin, square } => (margin, square),
        Form::Window(window) => {
            let targets = (positives.len(), |k| positives.at(k).0);
            windows::sums(&window, targets, (others.len(), |k| others.at(k)), posts, |k, inside, beyond| {
                let [inside, beyond] = [window.inside(inside), window.beyond(beyond)];
                sums[k][0] += inside.0 + beyond.0;
                sums[k][1] += inside.1 + beyond.1;
            });
            return;
        }
    };
    let (mut n0, mut n1, mut n2) = (0.0, 0.0, 0.0);
    let (mut left, mut above) = (others.len(), f64::NAN);
    for k in (0..positives.len()).rev() {
        let (s, _) = positives.at(k);
        if k + 1 < positives.len() {
            let gap = above - s;
            n2 += gap * (2.0 * n1 + gap * n0);
            n1 += gap * n0;
        }
        above = s;
        while left > 0 {
            let (x, w) = others.at(left - 1);
            let d = (x - s) + margin;
            if d <= 0.0 {
                break;
            }
            left -= 1;
            n0 += w;
            n1 += w * d;
            n2 += w * (d * d);
        }
        let (value, slope) = if square { (n2, 2.0 * n1) } else { (n1, n0) };
        sums[k][0] += value;
        sums[k][1] += slope;
    }
}

/// w_j Σ_i κ_i ∂ℓ/∂d over the positives, added for each other to its row of `by`. All κ have one sign.
fn over_positives(
    form: &Form,
    positives: Side<'_>,
    others: Side<'_>,
    posts: &mut [u64],
    kappa: &dyn Fn(usize) -> f64,
    by: &mut [f64],
) {
    let (margin, square) = match *form {
        Form::Hinge { margin, square } => (margin, square),
        Form::Window(window) => {
            // With all signs changed positives are above others.
            let (last, top) = (others.len() - 1, positives.len() - 1);
            let targets = (others.len(), |k| -others.at(last - k).0);
            let sources = (positives.len(), |k| (-positives.at(top - k).0, kappa(top - k)));
            windows::sums(&window, targets, sources, posts, |k, inside, beyond| {
                let at = others.order[last - k] as usize;
                by[at] += others.at(last - k).1 * (window.inside(inside).1 + window.beyond(beyond).1);
            });
            return;
        }
    };
    let (mut b0, mut b1, mut last, mut next) = (0.0, 0.0, f64::NAN, 0);
    for (k, &row) in others.order.iter().enumerate() {
        let (x, w) = others.at(k);
        if k > 0 {
            b1 += (x - last) * b0;
        }
        last = x;
        while next < positives.len() {
            let d = (x - positives.at(next).0) + margin;
            if d <= 0.0 {
                break;
            }
            b0 += kappa(next);
            b1 += kappa(next) * d;
            next += 1;
        }
        by[row as usize] += w * if square { 2.0 * b1 } else { b0 };
    }
}

/// Rows of both classes, each ascending by score, of equal ones the first row first: positives, then negatives.
fn sorted<S: Real, Y: Class>(scores: &[S], labels: &[Y], positives: usize, order: &mut [u32], keys: &mut [u64]) {
    let (mut front, mut back) = (0, positives);
    // Short keys hold the row, too.
    let short = S::BYTES == 4;
    for ((row, s), y) in (0u32..).zip(scores).zip(labels) {
        let to = if y.is_positive() { &mut front } else { &mut back };
        order[*to] = row;
        let at = if short { *to } else { row as usize };
        keys[at] = if short { s.key() << 32 | u64::from(row) } else { s.key() };
        *to += 1;
    }
    let (of_positives, of_negatives) = order.split_at_mut(positives);
    if short {
        let (high, low) = keys.split_at_mut(positives);
        for (side, keys) in [(of_positives, high), (of_negatives, low)] {
            crate::sort::ascending(keys);
            side.iter_mut().zip(keys).for_each(|(row, key)| *row = *key as u32);
        }
        return;
    }
    for side in [of_positives, of_negatives] {
        crate::sort::rows_by(side, &|a, b| (keys[a as usize], a).cmp(&(keys[b as usize], b)));
    }
}

/// Positives and negatives, each ascending by score, in 2 numbers a row of the memory; and the rest of it.
pub(super) fn sides<'a, S: Real, Y: Class>(
    rows: Rows<'_, S, Y>,
    order: &'a mut [u32],
    keys: &mut [u64],
    memory: &'a mut [f64],
) -> ([Side<'a>; 2], &'a mut [f64]) {
    let Rows { scores, labels, positives, .. } = rows;
    let order = &mut order[..rows.len()];
    sorted(scores, labels, positives, order, &mut keys[..rows.len()]);
    let (own, rest) = memory.split_at_mut(2 * rows.len());
    let (of_rows, masses) = own.split_at_mut(rows.len());
    for ((&row, s), mass) in order.iter().zip(&mut *of_rows).zip(&mut *masses) {
        (*s, *mass) = (scores[row as usize].f64(), labels[row as usize].mass());
    }
    let (high, low) = order.split_at(positives);
    let ((high_s, low_s), (high_m, low_m)) = (of_rows.split_at(positives), masses.split_at(positives));
    let high = Side { order: high, scores: high_s, masses: high_m };
    ([high, Side { order: low, scores: low_s, masses: low_m }], rest)
}

/// Mean of ℓ over weighted pairs, and its derivative by every score. `mean` is 1/(W₊W₋). The caller has checked lengths,
/// labels, finiteness, scratch, and that both classes have rows.
pub(super) fn auc<S: Real, Y: Class, G: Real>(
    rows: Rows<'_, S, Y>,
    form: Form,
    mean: f64,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> f64 {
    let (sides, memory) = sides(rows, scratch.u32, scratch.u64, scratch.f64);
    let (by, memory) = memory.split_at_mut(rows.len());
    let value = auc_of(&form, sides, scratch.u64, memory, by);
    grad.iter_mut().zip(by).for_each(|(g, by)| *g = G::settled_of(mean * *by));
    value * mean
}

fn auc_of(form: &Form, [high, low]: [Side<'_>; 2], posts: &mut [u64], memory: &mut [f64], by: &mut [f64]) -> f64 {
    let sums = &mut memory[..2 * high.len()].as_chunks_mut().0;
    by.fill(0.0);
    sums.fill([0.0; 2]);
    over_others(form, high, low, posts, sums);
    over_positives(form, high, low, posts, &|k| high.at(k).1, by);
    let mut value = 0.0;
    for (k, &[of_others, slope]) in sums.iter().enumerate() {
        let w = high.at(k).1;
        value += w * of_others;
        by[high.order[k] as usize] = -w * slope;
    }
    value
}

/// The weighted AP objective and its derivative by every score; see [`auc`]. `share` is 1/W₊.
pub(super) fn ap<S: Real, Y: Class, G: Real>(
    rows: Rows<'_, S, Y>,
    form: Form,
    share: f64,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> f64 {
    let (sides, memory) = sides(rows, scratch.u32, scratch.u64, scratch.f64);
    let (by, memory) = memory.split_at_mut(rows.len());
    let value = ap_of(&form, sides, share, scratch.u64, memory, by);
    grad.iter_mut().zip(by).for_each(|(g, by)| *g = G::settled_of(*by));
    value
}

fn ap_of(
    form: &Form,
    [high, low]: [Side<'_>; 2],
    share: f64,
    posts: &mut [u64],
    memory: &mut [f64],
    by: &mut [f64],
) -> f64 {
    let (of_low, rest) = memory.split_at_mut(2 * high.len());
    let (of_low, of_high) = (of_low.as_chunks_mut().0, rest[..2 * high.len()].as_chunks_mut().0);
    by.fill(0.0);
    of_low.fill([0.0; 2]);
    of_high.fill([0.0; 2]);
    over_others(form, high, low, posts, of_low);
    over_others(form, high, high, posts, of_high);
    let mut value = 0.0;
    for (k, (low, own)) in of_low.iter_mut().zip(&mut *of_high).enumerate() {
        let weighed = Ratio::of(own[0], low[0], share * high.at(k).1);
        value += weighed.value;
        // From here on κ for negatives and for positives, and the positive's own derivative.
        let derivative = -(weighed.both * own[1] + weighed.beta * low[1]);
        (*low, *own) = ([weighed.beta, derivative], [weighed.both, 0.0]);
    }
    over_positives(form, high, low, posts, &|k| of_low[k][0], by);
    over_positives(form, high, high, posts, &|k| of_high[k][0], by);
    for (&row, &[_, derivative]) in high.order.iter().zip(&*of_low) {
        by[row as usize] += derivative;
    }
    value
}

/// A positive's part of the AP objective.
struct Ratio {
    value: f64,
    /// κ of its pairs with negatives, and with positives.
    beta: f64,
    both: f64,
}

impl Ratio {
    fn of(of_positives: f64, of_negatives: f64, share: f64) -> Self {
        let inverse = 1.0 / (of_positives + of_negatives);
        let (ratio_p, ratio_n) = (of_positives * inverse, of_negatives * inverse);
        Self { value: -(share * ratio_p), beta: share * ratio_p * inverse, both: -(share * ratio_n * inverse) }
    }
}

/// [`auc`] of any loss by all pairs.
pub(super) fn auc_of_all_pairs<S: Real, Y: Class, G: Real, L: Surrogate<f64>>(
    scores: &[S],
    labels: &[Y],
    loss: L,
    mean: f64,
    memory: &mut [f64],
    grad: &mut [G],
) -> f64 {
    let by = &mut memory[..scores.len()];
    by.fill(0.0);
    let mut value = 0.0;
    for (i, y) in labels.iter().enumerate().filter(|(_, y)| y.is_positive()) {
        let (s, mut own) = (scores[i].f64(), 0.0);
        for (j, other) in labels.iter().enumerate().filter(|(_, other)| !other.is_positive()) {
            let (t, w) = (s - scores[j].f64(), y.mass() * other.mass());
            value += w * loss.value(t);
            let slope = w * loss.slope(t);
            own += slope;
            by[j] -= slope;
        }
        by[i] = own;
    }
    grad.iter_mut().zip(by).for_each(|(g, by)| *g = G::settled_of(mean * *by));
    value * mean
}

/// [`ap`] of any loss by all pairs.
pub(super) fn ap_of_all_pairs<S: Real, Y: Class, G: Real, L: Surrogate<f64>>(
    scores: &[S],
    labels: &[Y],
    loss: L,
    share: f64,
    memory: &mut [f64],
    grad: &mut [G],
) -> f64 {
    let by = &mut memory[..scores.len()];
    by.fill(0.0);
    let mut value = 0.0;
    for (i, y) in labels.iter().enumerate().filter(|(_, y)| y.is_positive()) {
        let (s, mut sums) = (scores[i].f64(), [0.0; 2]);
        for (x, other) in scores.iter().zip(labels) {
            sums[usize::from(other.is_positive())] += other.mass() * loss.value(s - x.f64());
        }
        let weighed = Ratio::of(sums[1], sums[0], share * y.mass());
        value += weighed.value;
        for (j, other) in labels.iter().enumerate() {
            let kappa = if other.is_positive() { weighed.both } else { weighed.beta };
            let slope = kappa * other.mass() * loss.slope(s - scores[j].f64());
            by[i] += slope;
            by[j] -= slope;
        }
    }
    grad.iter_mut().zip(by).for_each(|(g, by)| *g = G::settled_of(*by));
    value
}

/// Weighs the rows that a partial AUC is of, positives below 0: of the negatives, in the order of descending scores, what of
/// their weight lies between `fpr` of all of it; of the positives what lies beyond `tpr`. Returns how many positives are left,
/// and the weights of both parts.
pub(super) fn select<S: Real>(
    scores: &[S],
    labels: &[f64],
    (low, high): (f64, f64),
    tpr: f64,
    weights: &mut [f64],
    order: &mut [u32],
    keys: &mut [u64],
) -> (usize, [f64; 2]) {
    let positives = labels.iter().filter(|&&y| y < 0.0).count();
    sorted(scores, labels, positives, &mut order[..scores.len()], &mut keys[..scores.len()]);
    let mut part = |rows: &[u32], from: f64, to: f64| {
        let total: f64 = rows.iter().rev().map(|&row| labels[row as usize].mass()).sum();
        let (from, to) = (from * total, to * total);
        let (mut before, mut inside) = (0.0, 0.0);
        for &row in rows.iter().rev() {
            let label = labels[row as usize];
            let end = before + label.mass();
            let held = (end.or_smaller(to) - Real::or_larger(before, from)).or_larger(0.0);
            weights[row as usize] = if label < 0.0 && held > 0.0 { -held } else { held };
            inside += held;
            before = end;
        }
        inside
    };
    let (of_positives, of_negatives) = order[..scores.len()].split_at(positives);
    let inside = [part(of_negatives, low, high), part(of_positives, tpr, 1.0)];
    (weights.iter().filter(|&&w| w < 0.0).count(), inside)
}
