//! What the loops over pairs share: how many lanes and rows they take, scores as factors, and the one tree of additions.

use crate::real::Real;
use crate::simd::Kernel;
use crate::surrogate::{Family, Surrogate};

/// Accumulators per sum; part of the summation order, so of the result's last bits.
pub(super) const LANES: usize = 8;
/// Rows that share one walk over the others; the accumulators of more would not stay in sixteen registers.
pub(super) const ROWS: usize = 2;
/// Rows whose shares are added to the others at once.
pub(super) const SHARED: usize = 4;
/// Others whose exponentials are kept at a time.
pub(super) const TILE: usize = 64;
/// Positives whose slopes are kept at once.
pub(crate) const BLOCK: usize = 8;
/// Most factors of a product: more save little, and their roundings add up.
const MOST_FACTORS: usize = 16;

/// The scores are scores.
#[derive(Clone, Copy)]
pub(super) struct Plain<L>(pub(super) L);

/// The scores are e^(−c(a−z)) and e^(c(o−z)).
#[derive(Clone, Copy)]
pub(super) struct Factored<L>(pub(super) L);

/// (ℓ, ℓ'/unit) from x = e^(−ct), of a loss that has [`Factors`].
#[inline(always)]
pub(super) fn of_exp<T: Real>(family: Family, x: T) -> (T, T) {
    match family {
        Family::Sigmoid { .. } => {
            let r = T::ONE / (T::ONE + x);
            let s = x * r;
            (s, (s * r).settled())
        }
        Family::Softplus { .. } => (x.ln_1p_in_span(), (x / (T::ONE + x)).settled()),
        // (The exponential; the others have none.)
        Family::Exponential { .. }
        | Family::Pairs
        | Family::Square { .. }
        | Family::Hinge { .. }
        | Family::Window { .. } => (x, x.settled()),
    }
}

/// Σ ℓ and Σ ℓ' of each positive of a block over one class.
pub(crate) struct Sums<T> {
    pub(crate) values: [T; BLOCK],
    pub(crate) slopes: [T; BLOCK],
}

/// ln(1 + p).
#[cfg_attr(not(feature = "compact"), inline(always))]
#[cfg_attr(feature = "compact", inline(never))]
fn log<T: Real>(p: T) -> T {
    p.ln_1p_in_span()
}

/// Pairs of ln(1 + x), whose values are the x, to be multiplied.
#[derive(Clone, Copy)]
pub(super) struct Products {
    /// How many factors 1 + x surely fit.
    room: usize,
}

impl Products {
    /// For x of at most e^`largest` ≥ 1.
    pub(super) fn within<T: Real>(largest: T) -> Self {
        let room = T::EXP_SPAN.f64() / (largest.f64() + core::f64::consts::LN_2);
        Self { room: (room as usize).clamp(1, MOST_FACTORS) }
    }
    #[inline(always)]
    pub(super) fn room(self) -> usize {
        self.room
    }
    /// (1 + p)(1 + x) − 1.
    #[inline(always)]
    pub(super) fn product<T: Real>(p: T, x: T) -> T {
        p * (T::ONE + x) + x
    }
    /// Adds the logarithms of products of so many factors in each lane.
    #[inline(always)]
    pub(super) fn add_logs<T: Real>(self, to: &mut [T; LANES], products: &[T; LANES], factors: usize) {
        const HALF: usize = LANES / 2;
        if 2 * factors <= self.room {
            for l in 0..HALF {
                to[l] += log(Self::product(products[l], products[l + HALF]));
            }
        } else {
            for l in 0..LANES {
                to[l] += log(products[l]);
            }
        }
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
            Family::Sigmoid { scale } | Family::Softplus { scale } => (T::of(scale), T::EXP_SPAN),
            // What multiplies these is a sum over the other factor's inverse, which fades as they do.
            Family::Exponential { rate } => (T::of(rate), T::of(0.5) * T::EXP_SPAN),
            Family::Pairs | Family::Square { .. } | Family::Hinge { .. } | Family::Window { .. } => return None,
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
    pub(super) fn left<'a>(self, anchors: &[T], out: &'a mut [T; TILE]) -> &'a [T] {
        for (e, &a) in out.iter_mut().zip(anchors) {
            *e = (self.rate * (self.centre - a)).exp_in_span();
        }
        &out[..anchors.len().min(TILE)]
    }
    #[cfg_attr(not(feature = "compact"), inline(always))]
    pub(super) fn right<'a>(self, others: &[T], out: &'a mut [T; TILE]) -> &'a [T] {
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
    #[inline(always)]
    fn run(self, _: bool) {
        self.factors.right_of(self.others, self.out);
    }
}

/// Smallest and largest value. One after the other: both in one walk do not become vector code.
#[cfg_attr(not(feature = "compact"), inline(always))]
pub(super) fn range<T: Real>(xs: &[T]) -> Option<(T, T)> {
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
