//! Cuts: where a threshold may lie, between two scores that no other processor can confuse.
//!
//! Another program that computes the scores of a model adds in another order, and its last bits differ: by up to some ten ε·S, with ε the
//! [`EPSILON`](Real::EPSILON) of the number type and S what the scores are large by, however near to 0 the score itself comes. So
//! neighbouring scores s > s′ are parted only where
//!
//! ```text
//! s − s′ ≥ 32 ε max(|s|, |s′|, S),      S = 2 to the mean of the scores' binary exponents,
//! ```
//!
//! and the threshold is midway between them, a number of that type. Scores nearer than that stay together, as equal ones do. Of a thousand
//! neighbouring gaps that are all narrower (of 32-bit scores of tens of millions of rows) the widest parts, too. Above the highest score
//! the threshold is +∞, below the lowest −∞.

use crate::error::Result;
use crate::metric::Labels;
use crate::metric::rank::{Classes, Group};
use crate::real::Real;
use crate::scratch::Scratch;

/// What a gap is wide by at least, in units of ε·S.
const APART: f64 = 32.0;
/// Of so many gaps that are narrower the widest is taken.
const MOST: u32 = 1000;

/// A place between two neighbouring scores, with the rows above it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cut<P> {
    /// The next score above, and the next below: +∞ and −∞ beyond all of them.
    pub nearest: [f64; 2],
    /// What is known of the rows above.
    pub above: P,
}

impl<P> Cut<P> {
    /// Midway.
    pub fn threshold<T: Real>(&self) -> f64 {
        let [above, below] = self.nearest;
        if above.is_finite() && below.is_finite() { T::of(0.5 * above + 0.5 * below).f64() } else { above + below }
    }
}

/// Finds the cuts on the way down the scores.
pub(super) struct Cutter<P> {
    /// 32 ε, and S.
    apart: f64,
    size: f64,
    /// Narrower gaps since the last cut, and the widest of them.
    refused: u32,
    widest: Option<Cut<P>>,
}

impl<P: Copy> Cutter<P> {
    /// Of these scores, which are finite.
    pub fn of<T: Real>(scores: &[T]) -> Self {
        // (Whole numbers, so that no order of the rows enters.)
        let exponents =
            scores.iter().filter(|&&score| score != T::ZERO).map(|score| (score.f64().to_bits() >> 52) & 0x7ff);
        let (sum, count) = exponents.fold((0, 0), |(sum, count), exponent| (sum + exponent, count + 1));
        let mean = f64::from_bits(if count > 0 { sum.div_ceil(count) << 52 } else { 0 });
        // (Subnormal numbers are noise, and other processors have none.)
        let size = mean.or_larger(T::TINY.f64() * T::EPSILON.f64());
        Self { apart: APART * T::EPSILON.f64(), size, refused: 0, widest: None }
    }

    /// The next gap below, with what is known of the rows above it.
    pub fn gap(&mut self, nearest: [f64; 2], above: P) -> Option<Cut<P>> {
        let (cut, width) = (Cut { nearest, above }, |[above, below]: [f64; 2]| 0.5 * above - 0.5 * below);
        let size = self.size.or_larger(nearest[0].abs()).or_larger(nearest[1].abs());
        if width(nearest) >= 0.5 * self.apart * size || !size.is_finite() {
            (self.refused, self.widest) = (0, None);
            return Some(cut);
        }
        if self.widest.is_none_or(|widest| width(nearest) > width(widest.nearest)) {
            self.widest = Some(cut);
        }
        self.refused += 1;
        if self.refused < MOST {
            return None;
        }
        self.refused = 0;
        self.widest.take()
    }
}

/// Visits the cuts, from +∞ down to −∞, with the sums of the classes and of the true and false positives. `scratch` as
/// [`need`](crate::metric::need) says.
///
/// # Errors
/// As [`auroc`](crate::metric::auroc).
pub(super) fn cuts<T: Real, Y: Labels + ?Sized>(
    scores: &[T],
    labels: &Y,
    scratch: Scratch<'_, T>,
    mut visit: impl FnMut(Classes<Y::Amount>, Cut<[Y::Amount; 2]>),
) -> Result<Classes<Y::Amount>> {
    let none = Y::Amount::default();
    let (mut cutter, mut last, mut above) = (Cutter::of(scores), f64::INFINITY, [none; 2]);
    let classes = labels.groups(scores, scratch, |classes, group: Group<T, Y::Amount>| {
        let score = group.score.f64();
        if let Some(cut) = cutter.gap([last, score], above) {
            visit(classes, cut);
        }
        last = score;
        above[0] += group.run.positives;
        above[1] += group.run.negatives;
    })?;
    visit(classes, Cut { nearest: [last, f64::NEG_INFINITY], above });
    Ok(classes)
}
