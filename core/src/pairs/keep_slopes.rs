//! The pairs of a batch's positives with all its rows, for objectives whose weights depend on row sums (SOAP, Smooth-AP).
//!
//! With positives a_i and rows o_j, the negatives before the positives:
//!
//! ```text
//! sums        Σ_j ℓ(a_i − o_j)  and  Σ_j ℓ'(a_i − o_j)  over the negatives and over the positives
//! subtract    c_j −= Σ_i κ_i ℓ'(a_i − o_j)
//! ```
//!
//! Positives are taken [`BLOCK`] at a time, and the slopes of their pairs are kept until their weights are known, so that
//! no pair is computed twice. What depends on the loss:
//!
//! - Losses of x = e^(−ct) take one exponential a row, as e^(−c(a−o)) = e^(c(o−z)) / e^(c(a−z)), while the scores span
//!   less than the type's exponent range; wider batches take the exponentials of every pair.
//! - ln(1 + x): several pairs share a logarithm, Σ ln(1 + x_j) = ln Π (1 + x_j). The product is kept less 1, p ← p(1 + x) + x:
//!   terms that are not negative, so small x keep their digits. As many factors as surely fit share one.
//! - e^(−ct) itself: Σ_j e^(−c(a_i−o_j)) is the sum of the rows' exponentials over that of a_i, and there are no pairs.
//!
//! Sums run in the lanes and the tree of [`brute`](super::brute). Cost: n₊·n pairs. Memory: [`need`], and a few hundred
//! bytes of stack.

use super::kernel::{Pair, keep};
pub(crate) use super::lanes::{BLOCK, Sums};
use super::lanes::{Exponentials, Factored, Factors, LANES, Plain, Products, SHARED, total};
use crate::real::Real;
use crate::simd::{Kernel, vectorised};
use crate::surrogate::{Family, Surrogate, Use};

/// Values that [`Kept`] borrows.
pub(crate) const fn need(rows: usize) -> usize {
    (1 + BLOCK) * rows
}

/// How the pairs of a batch are computed.
#[derive(Clone, Copy)]
enum Form<T> {
    /// From margins.
    Plain,
    /// From exponentials of the scores.
    Factored,
    /// The same, of ln(1 + x).
    Products(Products),
    /// Without pairs, from Σ of the exponentials of the negatives and of the positives; with Σ κ_i e^(−c(a_i−z)) so far.
    Separate { sums: [T; 2], weights: [T; 2] },
}

/// A batch whose pairs are being summed.
pub(crate) struct Kept<'a, T> {
    form: Form<T>,
    /// Scores, or their exponentials e^(c(o−z)).
    rows: &'a [T],
    /// ℓ'/unit of the block's pairs: with the negatives, positive by positive, then with the positives.
    slopes: &'a mut [T],
    negatives: usize,
    unit: T,
}

/// [`Kept::new`] of a surrogate that is lent.
pub(crate) struct Begin<'a, T> {
    pub scores: &'a [T],
    pub negatives: usize,
    pub memory: &'a mut [T],
}

impl<'a, T: Real> Use<T> for Begin<'a, T> {
    type Output = Kept<'a, T>;
    fn with<S: Surrogate<T>>(self, loss: S) -> Kept<'a, T> {
        Kept::new(loss, self.scores, self.negatives, self.memory)
    }
}

/// [`Kept::sums`] of a surrogate that is lent.
pub(crate) struct Next<'k, 'a, T> {
    pub kept: &'k mut Kept<'a, T>,
    pub from: usize,
    pub count: usize,
}

impl<T: Real> Use<T> for Next<'_, '_, T> {
    type Output = [Sums<T>; 2];
    fn with<S: Surrogate<T>>(self, loss: S) -> [Sums<T>; 2] {
        self.kept.sums(loss, self.from, self.count)
    }
}

impl<'a, T: Real> Kept<'a, T> {
    /// `scores` are the finite scores of `negatives` negatives and then of the positives; `memory` is at least
    /// [`need`] long.
    pub(crate) fn new(loss: impl Surrogate<T>, scores: &'a [T], negatives: usize, memory: &'a mut [T]) -> Self {
        // (The memory is long enough: its owner looked. Said so that a program without panics can be made of it, here and below.)
        let (right, slopes) = memory.split_at_mut_checked(scores.len()).unwrap_or_default();
        let slopes = slopes.get_mut(..BLOCK * scores.len()).unwrap_or_default();
        let unit = loss.slope_unit();
        let Some(factors) = Factors::of(loss, scores.get(negatives..).unwrap_or_default(), scores) else {
            return Self { form: Form::Plain, rows: scores, slopes, negatives, unit };
        };
        vectorised(Exponentials { factors, others: scores, out: &mut *right });
        let form = match loss.family() {
            Family::Exponential { .. } => {
                let (low, high) = cut(right, negatives);
                Form::Separate { sums: [sum(low), sum(high)], weights: [T::ZERO; 2] }
            }
            Family::Softplus { .. } => Form::Products(Products::within(factors.largest())),
            Family::Sigmoid { .. }
            | Family::Pairs
            | Family::Square { .. }
            | Family::Hinge { .. }
            | Family::Window { .. } => Form::Factored,
        };
        Self { form, rows: right, slopes, negatives, unit }
    }

    /// The sums over the negatives and over the positives, of `count` ≤ [`BLOCK`] positives from the one numbered `from`.
    pub(crate) fn sums(&mut self, loss: impl Surrogate<T>, from: usize, count: usize) -> [Sums<T>; 2] {
        let (low, high) = cut(self.rows, self.negatives);
        let (kept_low, kept_high) = self.slopes.split_at_mut_checked(BLOCK * self.negatives).unwrap_or_default();
        let mut anchors = [T::ONE; BLOCK];
        let count = count.min(BLOCK);
        anchors.iter_mut().zip(high.iter().skip(from)).take(count).for_each(|(anchor, &score)| *anchor = score);
        if !matches!(self.form, Form::Plain) {
            for anchor in &mut anchors {
                *anchor = T::ONE / *anchor;
            }
        }
        let of = anchors.get(..count).unwrap_or_default();
        let (form, unit) = (self.form, self.unit);
        [class_sums(form, loss, unit, of, low, kept_low, 0), class_sums(form, loss, unit, of, high, kept_high, 1)]
    }

    /// Adds the shares of the positives of the last [`sums`](Self::sums) to all rows, negatives first:
    /// `grad[j] −= Σ_i κ_i ℓ'(a_i − o_j)`, with κ for negatives and for positives.
    pub(crate) fn subtract(&mut self, from: usize, kappa_low: &[T], kappa_high: &[T], grad: &mut [T]) {
        if let Form::Separate { weights, .. } = &mut self.form {
            let high = self.rows.iter().skip(self.negatives + from);
            for ((&right, &low), &high) in high.zip(kappa_low).zip(kappa_high) {
                weights[0] += low / right;
                weights[1] += high / right;
            }
            return;
        }
        let (of_low, of_high) = grad.split_at_mut_checked(self.negatives).unwrap_or_default();
        let (kept_low, kept_high) = cut(self.slopes, BLOCK * self.negatives);
        let low = Share { kappa: kappa_low, unit: self.unit, kept: kept_low, grad: of_low };
        let high = Share { kappa: kappa_high, unit: self.unit, kept: kept_high, grad: of_high };
        vectorised(Shares(low, high));
    }

    /// What is left to add to `grad` when all positives have been there.
    pub(crate) fn finish(self, grad: &mut [T]) {
        if let Form::Separate { weights, .. } = self.form {
            let (low, high) = cut(self.rows, self.negatives);
            let (of_low, of_high) = grad.split_at_mut_checked(self.negatives).unwrap_or_default();
            let low = Share { kappa: &weights[..1], unit: self.unit, kept: low, grad: of_low };
            let high = Share { kappa: &weights[1..], unit: self.unit, kept: high, grad: of_high };
            vectorised(Shares(low, high));
        }
    }
}

/// The first elements, and the others.
#[inline]
fn cut<T>(all: &[T], at: usize) -> (&[T], &[T]) {
    all.split_at_checked(at).unwrap_or_default()
}

/// The sums of a block over one class.
#[cfg_attr(not(feature = "compact"), inline(always))]
#[cfg_attr(feature = "compact", inline(never))]
fn class_sums<T: Real>(
    form: Form<T>,
    loss: impl Surrogate<T>,
    unit: T,
    anchors: &[T],
    others: &[T],
    kept: &mut [T],
    class: usize,
) -> Sums<T> {
    let mut of = Sums { values: [T::ZERO; BLOCK], slopes: [T::ZERO; BLOCK] };
    // (Each loss is compiled with the forms that it can have.)
    let (is_softplus, of_exp) = match loss.family() {
        Family::Softplus { .. } => (true, true),
        Family::Sigmoid { .. } | Family::Exponential { .. } => (false, true),
        Family::Pairs | Family::Square { .. } | Family::Hinge { .. } | Family::Window { .. } => (false, false),
    };
    match form {
        Form::Products(pair) if is_softplus => vectorised(Keep { pair, anchors, others, kept, sums: &mut of }),
        Form::Factored if of_exp => vectorised(Keep { pair: Factored(loss), anchors, others, kept, sums: &mut of }),
        Form::Separate { sums, .. } => {
            for ((value, slope), &left) in of.values.iter_mut().zip(&mut of.slopes).zip(anchors) {
                *value = left * if class == 0 { sums[0] } else { sums[1] };
                *slope = *value;
            }
        }
        Form::Plain | Form::Factored | Form::Products(_) => {
            vectorised(Keep { pair: Plain(loss), anchors, others, kept, sums: &mut of });
        }
    }
    for slope in &mut of.slopes {
        *slope *= unit;
    }
    of
}

/// Σ x.
fn sum<T: Real>(xs: &[T]) -> T {
    let mut lanes = [T::ZERO; LANES];
    let (chunks, rest) = xs.as_chunks::<LANES>();
    for chunk in chunks {
        for l in 0..LANES {
            lanes[l] += chunk[l];
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(rest) {
        *lane += x;
    }
    total(lanes)
}

/// [`keep`], to be run.
struct Keep<'a, T, P> {
    pair: P,
    anchors: &'a [T],
    others: &'a [T],
    kept: &'a mut [T],
    sums: &'a mut Sums<T>,
}

impl<T: Real, P: Pair<T>> Kernel for Keep<'_, T, P> {
    type Output = ();
    #[inline(always)]
    fn run(self, _: bool) {
        keep(self.pair, self.anchors, self.others, self.kept, self.sums);
    }
}

/// The share of a block with one class: `grad[j] −= Σ_i κ_i unit s_ij`.
struct Share<'a, T> {
    kappa: &'a [T],
    unit: T,
    kept: &'a [T],
    grad: &'a mut [T],
}

/// The shares with both classes.
struct Shares<'a, T>(Share<'a, T>, Share<'a, T>);

impl<T: Real> Kernel for Shares<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self, _: bool) {
        subtract(self.0);
        subtract(self.1);
    }
}

#[cfg_attr(not(feature = "compact"), inline(always))]
fn subtract<T: Real>(Share { kappa, unit, kept, grad }: Share<'_, T>) {
    let width = grad.len();
    let mut kept = kept;
    let mut row = || {
        let (row, rest) = cut(kept, width);
        kept = rest;
        row
    };
    let (groups, rest) = kappa.as_chunks::<SHARED>();
    for &[p, q, r, s] in groups {
        let (p, q, r, s) = (p * unit, q * unit, r * unit, s * unit);
        let (a, b, c, d) = (row(), row(), row(), row());
        for ((((g, &a), &b), &c), &d) in grad.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *g -= (p * a + q * b) + (r * c + s * d);
        }
    }
    for &k in rest {
        let k = k * unit;
        for (g, &s) in grad.iter_mut().zip(row()) {
            *g -= k * s;
        }
    }
}
