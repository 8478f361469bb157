//! Square and exponential losses over whole data in closed form, one or two passes.
//!
//! Square, with the mean a and variance of the positives and o of the negatives:
//!
//! ```text
//! mean (m − (s_i − s_j))² = (m − (a − o))² + var₊ + var₋
//! ```
//!
//! Exponential: e^(−c(s_i − s_j)) = e^(−c s_i) e^(c s_j), both shifted by their largest exponent. In the AP objective the
//! factor of the positive cancels from g1/g2, so P = −F₊/F with F the sum of e^(c s_j) over a class or over all, and
//! ∂P/∂s_j = −c F₋ e^(c s_j)/F² for a positive j, c F₊ e^(c s_j)/F² for a negative.

use super::weight::Class;
use crate::error::{Error, Result};
use crate::real::Real;

/// Sum of weights, mean and mean square deviation of one class.
///
/// The mean is `rough + rest` unevaluated: a rounded one far from 0 would cost digits of every deviation from it.
#[derive(Clone, Copy, Default)]
struct Moments {
    weight: f64,
    rough: f64,
    rest: f64,
    variance: f64,
}

impl Moments {
    /// s − mean.
    fn deviation(&self, s: f64) -> f64 {
        (s - self.rough) - self.rest
    }
}

fn moments<S: Real, Y: Class>(scores: &[S], labels: &[Y], positive: bool) -> Moments {
    let rows = || {
        scores.iter().zip(labels).filter(move |&(_, &y)| y.is_positive() == positive).map(|(s, &y)| (s.f64(), y.mass()))
    };
    let (mut weight, mut low, mut high) = (0.0, f64::MAX, f64::MIN);
    for (s, w) in rows() {
        weight += w;
        (low, high) = (low.or_smaller(s), high.or_larger(s));
    }
    let rough = rows().map(|(s, w)| w / weight * s).sum::<f64>();
    let rough = rough + rows().map(|(s, w)| w / weight * (s - rough)).sum::<f64>();
    // Of equal scores the mean is the score, whatever the sums round to.
    let rough = rough.or_larger(low).or_smaller(high);
    let rest = rows().map(|(s, w)| w / weight * (s - rough)).sum();
    let out = Moments { weight, rough, rest, variance: 0.0 };
    let variance = rows().map(|(s, w)| w / weight * (out.deviation(s) * out.deviation(s))).sum();
    Moments { variance, ..out }
}

/// Mean of (m − (s_i − s_j))² over positives × weighted negatives, and its derivatives.
///
/// # Errors
/// `Overflow`, before anything is written.
pub(super) fn auc_square<S: Real, Y: Class, G: Real>(
    scores: &[S],
    labels: &[Y],
    margin: f64,
    grad: &mut [G],
) -> Result<f64> {
    let (p, n) = (moments(scores, labels, true), moments(scores, labels, false));
    let lack = margin - ((p.rough - n.rough) + (p.rest - n.rest));
    let value = lack * lack + p.variance + n.variance;
    if !value.is_finite() {
        return Err(Error::Overflow { what: "pair sum" });
    }
    for ((s, &y), g) in scores.iter().zip(labels).zip(grad) {
        *g = G::settled_of(if y.is_positive() {
            -2.0 / p.weight * y.mass() * (margin - n.deviation(s.f64()))
        } else {
            2.0 / n.weight * y.mass() * (margin + p.deviation(s.f64()))
        });
    }
    Ok(value)
}

/// Σ κ and Σ κ(s_i − centre) over positives.
#[derive(Clone, Copy)]
struct Weighted {
    centre: f64,
    sum: f64,
    first: f64,
}

impl Weighted {
    fn about(centre: f64) -> Self {
        Self { centre, sum: 0.0, first: 0.0 }
    }
    fn add(&mut self, kappa: f64, s: f64) {
        self.sum += kappa;
        self.first += kappa * (s - self.centre);
    }
    /// None, about the weighted mean: from there Σ κ(m + s − s_i) cancels no more than its terms do.
    fn centred(self) -> Self {
        Self::about(if self.sum == 0.0 { self.centre } else { self.centre + self.first / self.sum })
    }
    /// Σ κ(m + s − s_i).
    fn at(self, s: f64, margin: f64) -> f64 {
        self.sum * (margin + (s - self.centre)) - self.first
    }
}

/// The AP objective of the square loss, and its derivatives.
///
/// # Errors
/// `Overflow`, before anything is written.
pub(super) fn ap_square<S: Real, Y: Class, G: Real>(
    scores: &[S],
    labels: &[Y],
    margin: f64,
    grad: &mut [G],
) -> Result<f64> {
    let (p, n) = (moments(scores, labels, true), moments(scores, labels, false));
    let share = 1.0 / p.weight;
    // With e = m − s_i + mean of the class: Σ ℓ = weight·(e² + variance), Σ ℓ' = −2·weight·e.
    let weigh = |s: f64, mass: f64| {
        let share = share * mass;
        let (e_p, e_n) = (margin - p.deviation(s), margin - n.deviation(s));
        let (g_p, g_n) = (p.weight * (e_p * e_p + p.variance), n.weight * (e_n * e_n + n.variance));
        let inverse = 1.0 / (g_p + g_n);
        let (beta, both) = (share * g_p * inverse * inverse, -(share * g_n * inverse * inverse));
        (g_p * inverse, beta, both, -2.0 * (both * p.weight * e_p + beta * n.weight * e_n))
    };
    let positives = || scores.iter().zip(labels).filter(|&(_, &y)| y.is_positive()).map(|(s, y)| (s.f64(), y.mass()));
    let (mut beta, mut both) = (Weighted::about(p.rough), Weighted::about(p.rough));
    let mut value = 0.0;
    for (s, mass) in positives() {
        let (ratio, of_negatives, of_positives, own) = weigh(s, mass);
        value -= share * mass * ratio;
        if !own.is_finite() {
            return Err(Error::Overflow { what: "pair sum" });
        }
        beta.add(of_negatives, s);
        both.add(of_positives, s);
    }
    (beta, both) = (beta.centred(), both.centred());
    for (s, mass) in positives() {
        let (_, of_negatives, of_positives, _) = weigh(s, mass);
        beta.add(of_negatives, s);
        both.add(of_positives, s);
    }
    for ((s, &y), g) in scores.iter().zip(labels).zip(grad) {
        let s = s.f64();
        *g = G::settled_of(if y.is_positive() {
            2.0 * y.mass() * both.at(s, margin) + weigh(s, y.mass()).3
        } else {
            2.0 * y.mass() * beta.at(s, margin)
        });
    }
    Ok(value)
}

/// Mean of e^(−c(s_i − s_j)) over positives × weighted negatives, and its derivatives. `mean` is 1/(n₊ · total weight).
///
/// # Errors
/// `Overflow`, before anything is written.
pub(super) fn auc_exponential<S: Real, Y: Class, G: Real>(
    scores: &[S],
    labels: &[Y],
    rate: f64,
    mean: f64,
    grad: &mut [G],
) -> Result<f64> {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for (s, &y) in scores.iter().zip(labels) {
        if y.is_positive() {
            low = low.or_smaller(s.f64());
        } else if y.weight() > 0.0 {
            high = high.or_larger(s.f64());
        }
    }
    let (mut of_positives, mut of_negatives) = (0.0, 0.0);
    for (s, &y) in scores.iter().zip(labels) {
        if y.is_positive() {
            of_positives += y.mass() * Real::fading_exp(rate * (low - s.f64()));
        } else if y.weight() > 0.0 {
            of_negatives += y.weight() * Real::fading_exp(rate * (s.f64() - high));
        }
    }
    let value = Real::fading_exp(rate * (high - low)) * (of_positives * of_negatives * mean);
    if !(value <= f64::MAX && value * rate <= G::MAX.f64()) {
        return Err(Error::Overflow { what: "exponential" });
    }
    let steep = rate * value.settled();
    for ((s, &y), g) in scores.iter().zip(labels).zip(grad) {
        *g = G::settled_of(if y.is_positive() {
            -steep * (y.mass() * Real::fading_exp(rate * (low - s.f64())) / of_positives).settled()
        } else if y.weight() > 0.0 {
            steep * (y.weight() * Real::fading_exp(rate * (s.f64() - high)) / of_negatives).settled()
        } else {
            0.0
        });
    }
    Ok(value)
}

/// The AP objective of the exponential loss, and its derivatives.
pub(super) fn ap_exponential<S: Real, Y: Class, G: Real>(scores: &[S], labels: &[Y], rate: f64, grad: &mut [G]) -> f64 {
    let mut high = f64::NEG_INFINITY;
    for s in scores {
        high = high.or_larger(s.f64());
    }
    let mut sums = [0.0; 2];
    for (s, &y) in scores.iter().zip(labels) {
        sums[usize::from(y.is_positive())] += y.mass() * Real::fading_exp(rate * (s.f64() - high));
    }
    let all = sums[0] + sums[1];
    for ((s, &y), g) in scores.iter().zip(labels).zip(grad) {
        let share = (y.mass() * Real::fading_exp(rate * (s.f64() - high)) / all).settled();
        let other = (sums[usize::from(!y.is_positive())] / all).settled();
        *g = G::settled_of(if y.is_positive() { -rate * other } else { rate * other } * share);
    }
    -(sums[1] / all)
}
