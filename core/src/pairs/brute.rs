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

#[cfg(feature = "compact")]
use super::tiled::{Tile, subtract_rows, sum_pairs, sum_rows};
use crate::error::{Error, Result, exact_len};
use crate::real::Real;
use crate::simd::{Kernel, vectorised};
use crate::surrogate::{Family, Surrogate};
#[cfg(not(feature = "compact"))]
use core::hint::black_box;

/// Accumulators per sum; part of the summation order, so of the result's last bits.
pub(super) const LANES: usize = 8;
/// Rows that share one walk over the others; the accumulators of more would not stay in sixteen registers.
pub(super) const ROWS: usize = 2;
/// Rows whose shares are added to the others at once.
pub(super) const SHARED: usize = 4;
/// Others whose exponentials are kept at a time.
pub(super) const TILE: usize = 64;

/// Σ ℓ and Σ ℓ' of every anchor over all others: `values[i] = Σ_j ℓ(a_i − o_j)`, `slopes[i] = Σ_j ℓ'(a_i − o_j)`.
///
/// All slices but `others` are as long as `anchors`. Scores must be finite, and sums that leave the range of `T` become
/// infinite: ask [`check`] first where that can happen.
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
    #[cfg_attr(not(feature = "compact"), inline(always))]
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
    #[cfg_attr(not(feature = "compact"), inline(always))]
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
    #[cfg_attr(not(feature = "compact"), inline(always))]
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

/// One pair: (ℓ, ℓ'/unit) from the prepared scores of the anchor and the other.
#[cfg(not(feature = "compact"))]
pub(super) trait Pair<T: Real>: Copy {
    fn at(self, anchor: T, other: T) -> (T, T);
}

/// The scores are scores.
#[derive(Clone, Copy)]
pub(super) struct Plain<L>(pub(super) L);
#[cfg(not(feature = "compact"))]
impl<T: Real, L: Surrogate<T>> Pair<T> for Plain<L> {
    #[inline(always)]
    fn at(self, anchor: T, other: T) -> (T, T) {
        self.0.parts(anchor - other)
    }
}

/// The scores are e^(−c(a−z)) and e^(c(o−z)).
#[derive(Clone, Copy)]
pub(super) struct Factored<L>(pub(super) L);
#[cfg(not(feature = "compact"))]
impl<T: Real, L: Surrogate<T>> Pair<T> for Factored<L> {
    #[inline(always)]
    fn at(self, anchor: T, other: T) -> (T, T) {
        self.0.parts_of_exp(anchor * other)
    }
}

#[cfg(feature = "compact")]
impl<T: Real, L: Surrogate<T>> Tile<T> for Plain<L> {
    fn fill(&self, anchor: T, others: &[T], values: &mut [T; TILE], slopes: &mut [T; TILE]) {
        self.0.parts_of_all(anchor, others, values, slopes);
    }
}
#[cfg(feature = "compact")]
impl<T: Real, L: Surrogate<T>> Tile<T> for Factored<L> {
    fn fill(&self, anchor: T, others: &[T], values: &mut [T; TILE], slopes: &mut [T; TILE]) {
        self.0.parts_of_all_exp(anchor, others, values, slopes);
    }
}

/// How to factorise e^(−ct): the rate c and the centre z.
#[derive(Clone, Copy)]
pub(super) struct Factors<T> {
    rate: T,
    centre: T,
    /// The largest −ct.
    largest: T,
}

impl<T: Real> Factors<T> {
    /// `None` when the loss is no function of e^(−ct), or the scores are too far apart for that exponential.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    pub(super) fn of<L: Surrogate<T>>(loss: L, anchors: &[T], others: &[T]) -> Option<Self> {
        let (rate, span) = match loss.family() {
            Family::Smooth { scale } => (T::of(scale), T::EXP_SPAN),
            // What multiplies these is a sum over the other factor's inverse, which fades as they do.
            Family::Exponential { rate } => (T::of(rate), T::of(0.5) * T::EXP_SPAN),
            _ => return None,
        };
        let (a0, a1) = range(anchors)?;
        let (o0, o1) = range(others)?;
        let (low, high) = (a0.or_smaller(o0), a1.or_larger(o1));
        // NaN and infinite spans fail the comparison too.
        (rate * (high - low) <= span).then(|| Self {
            rate,
            centre: low + T::of(0.5) * (high - low),
            largest: rate * (o1 - a0),
        })
    }
    pub(super) fn largest(self) -> T {
        self.largest
    }
    #[cfg_attr(not(feature = "compact"), inline(always))]
    fn left<'a>(self, anchors: &[T], out: &'a mut [T; TILE]) -> &'a [T] {
        for (e, &a) in out.iter_mut().zip(anchors) {
            *e = (self.rate * (self.centre - a)).exp_in_span();
        }
        &out[..anchors.len().min(TILE)]
    }
    #[cfg_attr(not(feature = "compact"), inline(always))]
    fn right<'a>(self, others: &[T], out: &'a mut [T; TILE]) -> &'a [T] {
        self.right_of(others, out);
        &out[..others.len().min(TILE)]
    }
    /// e^(c(o−z)) of all others; `out` is at least as long.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    fn right_of(self, others: &[T], out: &mut [T]) {
        for (e, &o) in out.iter_mut().zip(others) {
            *e = (self.rate * (o - self.centre)).exp_in_span();
        }
    }
}

/// Writes e^(c(o−z)) of all others to `out`, which is as long.
pub(super) struct Exponentials<'a, T> {
    pub(super) factors: Factors<T>,
    pub(super) others: &'a [T],
    pub(super) out: &'a mut [T],
}

impl<T: Real> Kernel for Exponentials<'_, T> {
    type Output = ();
    #[cfg_attr(not(feature = "compact"), inline(always))]
    fn run(self, _: bool) {
        self.factors.right_of(self.others, self.out);
    }
}

/// Smallest and largest value. One after the other: both in one walk do not become vector code.
#[cfg_attr(not(feature = "compact"), inline(always))]
fn range<T: Real>(xs: &[T]) -> Option<(T, T)> {
    let &first = xs.first()?;
    Some((extreme(first, xs, T::or_smaller), extreme(first, xs, T::or_larger)))
}

/// What `pick` leaves of all values.
#[cfg_attr(not(feature = "compact"), inline(always))]
#[cfg_attr(feature = "compact", inline(never))]
fn extreme<T: Real>(first: T, xs: &[T], pick: fn(T, T) -> T) -> T {
    let mut left = [first; LANES];
    let (chunks, rest) = xs.as_chunks::<LANES>();
    for chunk in chunks {
        for l in 0..LANES {
            left[l] = pick(left[l], chunk[l]);
        }
    }
    for (left, &x) in left.iter_mut().zip(rest) {
        *left = pick(*left, x);
    }
    let mut width = LANES / 2;
    while width > 0 {
        for l in 0..width {
            left[l] = pick(left[l], left[l + width]);
        }
        width /= 2;
    }
    left[0]
}

/// The one tree in which lanes are added.
#[inline(always)]
pub(super) fn total<T: Real>(x: [T; LANES]) -> T {
    ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]))
}

/// Both parts of one anchor with a chunk of others. Whole lanes are computed and added step by step, as vector registers
/// would: written pair by pair, the same sums do not become vector code.
#[cfg(not(feature = "compact"))]
#[inline(always)]
pub(super) fn parts<T: Real, P: Pair<T>>(pair: P, anchor: T, others: &[T; LANES]) -> ([T; LANES], [T; LANES]) {
    let (mut value, mut slope) = ([T::ZERO; LANES], [T::ZERO; LANES]);
    for l in 0..LANES {
        (value[l], slope[l]) = pair.at(anchor, others[l]);
    }
    (value, slope)
}

#[cfg(not(feature = "compact"))]
#[inline(always)]
pub(super) fn add<T: Real>(to: &mut [T; LANES], x: &[T; LANES]) {
    for l in 0..LANES {
        to[l] += x[l];
    }
}

/// Accumulators of `R` anchors.
#[cfg(not(feature = "compact"))]
pub(super) type Lanes<T, const R: usize> = [[T; LANES]; R];

/// Adds both parts of whole chunks of others to the accumulators, which lie in memory: see [`simd`](crate::simd).
#[cfg(not(feature = "compact"))]
#[inline(always)]
fn add_rows<T: Real, P: Pair<T>, const R: usize>(
    pair: P,
    anchors: [T; R],
    chunks: &[[T; LANES]],
    values: &mut Lanes<T, R>,
    slopes: &mut Lanes<T, R>,
) {
    let (mut value, mut slope) = (*values, *slopes);
    for chunk in chunks {
        for r in 0..R {
            let (v, s) = parts(pair, anchors[r], chunk);
            add(&mut value[r], &v);
            add(&mut slope[r], &s);
        }
    }
    (*values, *slopes) = (value, slope);
}

/// Σ over others of both parts for `R` anchors.
#[cfg(not(feature = "compact"))]
#[inline(always)]
fn rows<T: Real, P: Pair<T>, const R: usize>(pair: P, anchors: [T; R], others: &[T]) -> ([T; R], [T; R]) {
    let mut value = [[T::ZERO; LANES]; R];
    let mut slope = [[T::ZERO; LANES]; R];
    let (chunks, rest) = others.as_chunks::<LANES>();
    add_rows(pair, anchors, chunks, black_box(&mut value), black_box(&mut slope));
    for r in 0..R {
        for (l, &o) in rest.iter().enumerate() {
            let (v, s) = pair.at(anchors[r], o);
            value[r][l] += v;
            slope[r][l] += s;
        }
    }
    (value.map(total), slope.map(total))
}

#[cfg(not(feature = "compact"))]
#[inline(always)]
fn sum_rows<T: Real, P: Pair<T>>(pair: P, anchors: &[T], others: &[T], values: &mut [T], slopes: &mut [T]) {
    let (a, a_rest) = anchors.as_chunks::<ROWS>();
    let (v, v_rest) = values.as_chunks_mut::<ROWS>();
    let (s, s_rest) = slopes.as_chunks_mut::<ROWS>();
    for ((&a, v), s) in a.iter().zip(v).zip(s) {
        let (value, slope) = rows(pair, a, others);
        for r in 0..ROWS {
            v[r] += value[r];
            s[r] += slope[r];
        }
    }
    for ((&a, v), s) in a_rest.iter().zip(v_rest).zip(s_rest) {
        let (value, slope) = rows(pair, [a], others);
        *v += value[0];
        *s += slope[0];
    }
}

#[cfg(not(feature = "compact"))]
#[inline(always)]
fn subtract_rows<T: Real, P: Pair<T>>(pair: P, anchors: &[T], kappa: &[T], unit: T, others: &[T], grad: &mut [T]) {
    let (a, a_rest) = anchors.as_chunks::<SHARED>();
    let (k, k_rest) = kappa.as_chunks::<SHARED>();
    for (a, k) in a.iter().zip(k) {
        let k = k.map(|k| k * unit);
        for (&o, g) in others.iter().zip(grad.iter_mut()) {
            let d: [T; SHARED] = core::array::from_fn(|r| k[r] * pair.at(a[r], o).1);
            *g -= (d[0] + d[1]) + (d[2] + d[3]);
        }
    }
    for (&a, &k) in a_rest.iter().zip(k_rest) {
        let k = k * unit;
        for (&o, g) in others.iter().zip(grad.iter_mut()) {
            *g -= k * pair.at(a, o).1;
        }
    }
}

/// Σ of the first part over all pairs; the second part is added to both gradients.
#[cfg(not(feature = "compact"))]
#[inline(always)]
fn sum_pairs<T: Real, P: Pair<T>>(pair: P, anchors: &[T], others: &[T], left: &mut [T], right: &mut [T]) -> T {
    let mut value = T::ZERO;
    let (a, a_rest) = anchors.as_chunks::<ROWS>();
    let (g, g_rest) = left.as_chunks_mut::<ROWS>();
    for (&a, g) in a.iter().zip(g) {
        let (v, s) = walk(pair, a, others, right);
        value += v;
        for r in 0..ROWS {
            g[r] += s[r];
        }
    }
    for (&a, g) in a_rest.iter().zip(g_rest) {
        let (v, s) = walk(pair, [a], others, right);
        value += v;
        *g += s[0];
    }
    value
}

/// As [`add_rows`], with one accumulator of values, and the second part is added to the others' gradients too. With SSE2 a
/// function of its own: the constants of the logistic loss, kept for the next walk, would leave it too few registers.
#[cfg(not(feature = "compact"))]
#[cfg_attr(not(feature = "simd"), inline(never))]
#[cfg_attr(feature = "simd", inline(always))]
fn add_walk<T: Real, P: Pair<T>, const R: usize>(
    pair: P,
    anchors: [T; R],
    chunks: &[[T; LANES]],
    grads: &mut [[T; LANES]],
    values: &mut [T; LANES],
    slopes: &mut Lanes<T, R>,
) {
    let (mut value, mut slope) = (*values, *slopes);
    for (chunk, grad) in chunks.iter().zip(grads) {
        for r in 0..R {
            let (v, s) = parts(pair, anchors[r], chunk);
            add(&mut value, &v);
            add(&mut slope[r], &s);
            add(grad, &s);
        }
    }
    (*values, *slopes) = (value, slope);
}

/// One walk of `R` anchors over the others.
#[cfg(not(feature = "compact"))]
#[inline(always)]
fn walk<T: Real, P: Pair<T>, const R: usize>(pair: P, anchors: [T; R], others: &[T], grad: &mut [T]) -> (T, [T; R]) {
    let mut value = [T::ZERO; LANES];
    let mut slope = [[T::ZERO; LANES]; R];
    let (chunks, rest) = others.as_chunks::<LANES>();
    let (grads, grad_rest) = grad.as_chunks_mut::<LANES>();
    add_walk(pair, anchors, chunks, grads, black_box(&mut value), black_box(&mut slope));
    for (l, (&o, grad)) in rest.iter().zip(grad_rest).enumerate() {
        for r in 0..R {
            let (v, s) = pair.at(anchors[r], o);
            value[l] += v;
            slope[r][l] += s;
            *grad += s;
        }
    }
    (total(value), slope.map(total))
}
