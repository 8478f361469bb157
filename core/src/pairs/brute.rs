//! Pair sums by brute force, n₊·n work in blocks: the fastest way for small batches.
//!
//! With anchors a_i (positives), others o_j and margins t_ij = a_i − o_j:
//!
//! ```text
//! row_sums     V_i  = Σ_j ℓ(t_ij),   S_i = Σ_j ℓ'(t_ij)
//! add_slopes   c_j −= Σ_i κ_i ℓ'(t_ij)
//! auc          F    = 1/(n₊n₋) Σ_i Σ_j ℓ(t_ij)  and  ∂F/∂a_i, ∂F/∂o_j
//! ```
//!
//! An objective with weights κ that depend on the row sums calls `row_sums` first, then `add_slopes` with the weights, and
//! adds κ_i S_i to the anchors itself. (SOAP and Smooth-AP keep their slopes instead of computing them twice.)
//!
//! Rows are taken `ROWS` at a time and others `LANES` at a time with one accumulator per lane, and the lanes are
//! added in one fixed tree: the compiler can use vector registers and the bits do not depend on which. Losses of
//! e^(−ct) take one exponential per score instead of one per pair, as e^(−c(a−o)) = e^(−c(a−z)) · e^(c(o−z)), while the
//! scores span less than the type's exponent range; wider batches take the plain way.
//!
//! Slopes of these losses that are smaller than [`Real::FAINT`] count as 0.
//!
//! Cost: `row_sums` and `add_slopes` each n₊·n pairs, `auc` n₊·n₋ pairs. Memory: a few hundred bytes of stack.

use super::kernel::{subtract_rows, sum_pairs, sum_rows};
use super::lanes::{Factored, Factors, Plain, TILE, range};
use crate::error::{Error, Result, exact_len};
use crate::real::Real;
use crate::simd::{Kernel, vectorised};
use crate::surrogate::Surrogate;

/// Σ ℓ and Σ ℓ' of every anchor over all others: `values[i] = Σ_j ℓ(a_i − o_j)`, `slopes[i] = Σ_j ℓ'(a_i − o_j)`.
///
/// All slices but `others` are as long as `anchors`. Scores must be finite, and sums that leave the range of `T` become
/// infinite: ask [`check`] first where that can happen.
///
/// ```
/// use undercurve::pairs::brute::{add_slopes, row_sums};
/// use undercurve::surrogate::Hinge;
///
/// let (loss, positives, negatives) = (Hinge::new(1.0)?, [0.5, 3.0], [0.0, 1.0]);
/// let (mut values, mut slopes, mut grad) = ([0.0; 2], [0.0; 2], [0.0; 2]);
/// row_sums(loss, &positives, &negatives, &mut values, &mut slopes)?;
/// assert_eq!((values, slopes), ([2.0, 0.0], [-2.0, 0.0])); // ½ + 1½, and nothing where the margin holds
/// add_slopes(loss, &positives, &[0.5, 0.5], &negatives, &mut grad)?;
/// assert_eq!(grad, [0.5, 0.5]);
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// `Length`.
#[cfg_attr(not(feature = "compact"), inline)]
#[cfg_attr(feature = "compact", inline(never))]
pub fn row_sums<T: Real, L: Surrogate<T>>(
    loss: L,
    anchors: &[T],
    others: &[T],
    values: &mut [T],
    slopes: &mut [T],
) -> Result<()> {
    exact_len("values", anchors.len(), values.len())?;
    exact_len("slopes", anchors.len(), slopes.len())?;
    vectorised(RowSums { loss, anchors, others, values: &mut *values, slopes: &mut *slopes });
    let unit = loss.slope_unit();
    for s in slopes {
        *s *= unit;
    }
    Ok(())
}

/// Adds the share of every other: `grad[j] −= Σ_i κ_i ℓ'(a_i − o_j)`.
///
/// `kappa` is as long as `anchors`, `grad` as long as `others`.
///
/// # Errors
/// `Length`.
#[cfg_attr(not(feature = "compact"), inline)]
#[cfg_attr(feature = "compact", inline(never))]
pub fn add_slopes<T: Real, L: Surrogate<T>>(
    loss: L,
    anchors: &[T],
    kappa: &[T],
    others: &[T],
    grad: &mut [T],
) -> Result<()> {
    exact_len("kappa", anchors.len(), kappa.len())?;
    exact_len("grad", others.len(), grad.len())?;
    vectorised(Slopes { loss, anchors, kappa, others, grad });
    Ok(())
}

/// Pairwise AUC loss: returns the mean of ℓ(s₊ − s₋) over all pairs and writes its derivative by every score.
///
/// `grad_positives` and `grad_negatives` are as long as the scores of their class. For a batch laid out as negatives
/// then positives, split one gradient slice at the boundary.
///
/// ```
/// use undercurve::pairs::brute;
/// use undercurve::surrogate::Hinge;
///
/// let (mut by_positive, mut by_negative) = ([0.0; 1], [0.0; 2]);
/// let value = brute::auc(Hinge::new(1.0)?, &[0.5], &[0.0, 1.0], &mut by_positive, &mut by_negative)?;
/// assert_eq!(value, 1.0); // the mean of 1 − ½ and 1 + ½
/// assert_eq!((by_positive, by_negative), ([-1.0], [0.5, 0.5]));
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// `Length`, `OneClass`, `Overflow`.
pub fn auc<T: Real, L: Surrogate<T>>(
    loss: L,
    positives: &[T],
    negatives: &[T],
    grad_positives: &mut [T],
    grad_negatives: &mut [T],
) -> Result<T> {
    exact_len("grad_positives", positives.len(), grad_positives.len())?;
    exact_len("grad_negatives", negatives.len(), grad_negatives.len())?;
    if positives.is_empty() || negatives.is_empty() {
        return Err(Error::OneClass);
    }
    check(loss, positives, negatives)?;
    let (left, right) = (&mut *grad_positives, &mut *grad_negatives);
    let value = vectorised(AllPairs { loss, positives, negatives, left, right });
    let mean = T::ONE / (T::of(positives.len() as f64) * T::of(negatives.len() as f64));
    let scale = mean * loss.slope_unit();
    for g in grad_positives {
        *g *= scale;
    }
    for g in grad_negatives {
        *g = -(*g * scale);
    }
    Ok(value * mean)
}

/// `Ok` when no sum of ℓ or ℓ' over all pairs of anchors and others can leave the range of `T`.
///
/// # Errors
/// `Overflow`.
pub fn check<T: Real, L: Surrogate<T>>(loss: L, anchors: &[T], others: &[T]) -> Result<()> {
    let (Some((a0, a1)), Some((o0, o1))) = (range(anchors), range(others)) else { return Ok(()) };
    // Every loss is largest at an end of the margins, and its slope steepest there or no steeper than its unit (c of smooth
    // losses, the slope of the ramp).
    let mut worst = loss.slope_unit().f64().abs().or_larger(1.0);
    for t in [a0 - o1, a1 - o0, T::ZERO] {
        if !t.is_finite() {
            return Err(Error::Overflow { what: "margin" });
        }
        worst = loss.value(t).f64().or_larger(loss.slope(t).f64().abs()).or_larger(worst);
    }
    if worst * (anchors.len() as f64) * (others.len() as f64) > 0.5 * T::MAX.f64() {
        return Err(Error::Overflow { what: "pair sum" });
    }
    Ok(())
}

/// The loop of [`row_sums`].
struct RowSums<'a, T, L> {
    loss: L,
    anchors: &'a [T],
    others: &'a [T],
    values: &'a mut [T],
    slopes: &'a mut [T],
}

impl<T: Real, L: Surrogate<T>> Kernel for RowSums<'_, T, L> {
    type Output = ();
    #[inline(always)]
    fn run(self, _: bool) {
        let Self { loss, anchors, others, values, slopes } = self;
        values.fill(T::ZERO);
        slopes.fill(T::ZERO);
        match Factors::of(loss, anchors, others) {
            None => sum_rows(Plain(loss), anchors, others, values, slopes),
            Some(factors) => {
                let pair = Factored(loss);
                let mut right = [T::ZERO; TILE];
                for tile in others.chunks(TILE) {
                    let right = factors.right(tile, &mut right);
                    let rows = anchors.chunks(TILE).zip(values.chunks_mut(TILE)).zip(slopes.chunks_mut(TILE));
                    for ((anchors, values), slopes) in rows {
                        let mut left = [T::ZERO; TILE];
                        sum_rows(pair, factors.left(anchors, &mut left), right, values, slopes);
                    }
                }
            }
        }
    }
}

/// The loop of [`add_slopes`].
struct Slopes<'a, T, L> {
    loss: L,
    anchors: &'a [T],
    kappa: &'a [T],
    others: &'a [T],
    grad: &'a mut [T],
}

impl<T: Real, L: Surrogate<T>> Kernel for Slopes<'_, T, L> {
    type Output = ();
    #[inline(always)]
    fn run(self, _: bool) {
        let Self { loss, anchors, kappa, others, grad } = self;
        let unit = loss.slope_unit();
        match Factors::of(loss, anchors, others) {
            None => subtract_rows(Plain(loss), anchors, kappa, unit, others, grad),
            Some(factors) => {
                let mut right = [T::ZERO; TILE];
                for (tile, grad) in others.chunks(TILE).zip(grad.chunks_mut(TILE)) {
                    let right = factors.right(tile, &mut right);
                    for (anchors, kappa) in anchors.chunks(TILE).zip(kappa.chunks(TILE)) {
                        let mut left = [T::ZERO; TILE];
                        let left = factors.left(anchors, &mut left);
                        subtract_rows(Factored(loss), left, kappa, unit, right, grad);
                    }
                }
            }
        }
    }
}

/// The loop of [`auc`].
struct AllPairs<'a, T, L> {
    loss: L,
    positives: &'a [T],
    negatives: &'a [T],
    left: &'a mut [T],
    right: &'a mut [T],
}

impl<T: Real, L: Surrogate<T>> Kernel for AllPairs<'_, T, L> {
    type Output = T;
    #[inline(always)]
    fn run(self, _: bool) -> T {
        let Self { loss, positives, negatives, left: left_grad, right: right_grad } = self;
        left_grad.fill(T::ZERO);
        right_grad.fill(T::ZERO);
        match Factors::of(loss, positives, negatives) {
            None => sum_pairs(Plain(loss), positives, negatives, left_grad, right_grad),
            Some(factors) => {
                let mut value = T::ZERO;
                let mut right = [T::ZERO; TILE];
                for (tile, grad_n) in negatives.chunks(TILE).zip(right_grad.chunks_mut(TILE)) {
                    let right = factors.right(tile, &mut right);
                    for (anchors, grad_p) in positives.chunks(TILE).zip(left_grad.chunks_mut(TILE)) {
                        let mut left = [T::ZERO; TILE];
                        let left = factors.left(anchors, &mut left);
                        value += sum_pairs(Factored(loss), left, right, grad_p, grad_n);
                    }
                }
                value
            }
        }
    }
}
