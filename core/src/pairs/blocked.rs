//! The inner loops of [`brute`](super::brute) and [`keep_slopes`](super::keep_slopes): one copy for each loss, for vector registers.

use super::lanes::{Factored, LANES, Plain, Products, ROWS, SHARED, Sums, of_exp, total};
use crate::real::Real;
use crate::surrogate::Surrogate;
use core::hint::black_box;

/// One kind of pairs.
pub(super) trait Pair<T: Real>: Copy {
    /// (ℓ, ℓ'/unit) from the prepared scores of the anchor and the other.
    fn at(self, anchor: T, other: T) -> (T, T);
    /// How many values may be folded into one.
    #[inline(always)]
    fn room(self) -> usize {
        usize::MAX
    }
    /// Adds a value to a fold.
    #[inline(always)]
    fn fold(self, fold: T, value: T) -> T {
        fold + value
    }
    /// Adds folds of so many values to a sum.
    #[inline(always)]
    fn unfold(self, to: &mut [T; LANES], folds: &[T; LANES], _: usize) {
        add(to, folds);
    }
}

impl<T: Real, L: Surrogate<T>> Pair<T> for Plain<L> {
    #[inline(always)]
    fn at(self, anchor: T, other: T) -> (T, T) {
        self.0.parts(anchor - other)
    }
}

impl<T: Real, L: Surrogate<T>> Pair<T> for Factored<L> {
    #[inline(always)]
    fn at(self, anchor: T, other: T) -> (T, T) {
        of_exp(self.0.family(), anchor * other)
    }
}

impl<T: Real> Pair<T> for Products {
    #[inline(always)]
    fn at(self, anchor: T, other: T) -> (T, T) {
        let x = anchor * other;
        (x, (x / (T::ONE + x)).settled())
    }
    #[inline(always)]
    fn room(self) -> usize {
        Self::room(self)
    }
    #[inline(always)]
    fn fold(self, fold: T, value: T) -> T {
        Self::product(fold, value)
    }
    #[inline(always)]
    fn unfold(self, to: &mut [T; LANES], folds: &[T; LANES], factors: usize) {
        self.add_logs(to, folds, factors);
    }
}

/// Both parts of one anchor with a chunk of others. Whole lanes are computed and added step by step, as vector registers
/// would: written pair by pair, the same sums do not become vector code.
#[inline(always)]
fn parts<T: Real, P: Pair<T>>(pair: P, anchor: T, others: &[T; LANES]) -> ([T; LANES], [T; LANES]) {
    let (mut value, mut slope) = ([T::ZERO; LANES], [T::ZERO; LANES]);
    for l in 0..LANES {
        (value[l], slope[l]) = pair.at(anchor, others[l]);
    }
    (value, slope)
}

#[inline(always)]
fn add<T: Real>(to: &mut [T; LANES], x: &[T; LANES]) {
    for l in 0..LANES {
        to[l] += x[l];
    }
}

/// Accumulators of `R` anchors.
type Lanes<T, const R: usize> = [[T; LANES]; R];

/// Adds both parts of whole chunks of others to the accumulators, which lie in memory: see [`simd`](crate::simd).
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
#[inline(always)]
fn rows<T: Real, P: Pair<T>, const R: usize>(pair: P, anchors: [T; R], others: &[T]) -> ([T; R], [T; R]) {
    let mut value = [[T::ZERO; LANES]; R];
    let mut slope = [[T::ZERO; LANES]; R];
    let (chunks, rest) = others.as_chunks::<LANES>();
    add_rows(pair, anchors, chunks, black_box(&mut value), black_box(&mut slope));
    for r in 0..R {
        for ((value, slope), &o) in value[r].iter_mut().zip(&mut slope[r]).zip(rest) {
            let (v, s) = pair.at(anchors[r], o);
            *value += v;
            *slope += s;
        }
    }
    (value.map(total), slope.map(total))
}

#[inline(always)]
pub(super) fn sum_rows<T: Real, P: Pair<T>>(pair: P, anchors: &[T], others: &[T], values: &mut [T], slopes: &mut [T]) {
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

#[inline(always)]
pub(super) fn subtract_rows<T: Real, P: Pair<T>>(
    pair: P,
    anchors: &[T],
    kappa: &[T],
    unit: T,
    others: &[T],
    grad: &mut [T],
) {
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
#[inline(always)]
pub(super) fn sum_pairs<T: Real, P: Pair<T>>(
    pair: P,
    anchors: &[T],
    others: &[T],
    left: &mut [T],
    right: &mut [T],
) -> T {
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

/// Both parts of every anchor (at most [`BLOCK`]) with all others: writes the sums and keeps the second parts, anchor by
/// anchor.
#[inline(always)]
pub(super) fn keep<T: Real, P: Pair<T>>(pair: P, anchors: &[T], others: &[T], kept: &mut [T], sums: &mut Sums<T>) {
    let mut left = kept.chunks_exact_mut(others.len().max(1));
    let mut row = || left.next().unwrap_or_default();
    let (pairs, last) = anchors.as_chunks::<ROWS>();
    let mut sums = sums.values.as_chunks_mut::<ROWS>().0.iter_mut().zip(sums.slopes.as_chunks_mut::<ROWS>().0);
    for (&anchors, (value, slope)) in pairs.iter().zip(&mut sums) {
        (*value, *slope) = keep_rows(pair, anchors, others, core::array::from_fn(|_| row()));
    }
    if let (&[anchor], Some((value, slope))) = (last, sums.next()) {
        let ([v], [s]) = keep_rows(pair, [anchor], others, [row()]);
        (value[0], slope[0]) = (v, s);
    }
}

/// Folds whole chunks of others into accumulators that lie in memory: see [`simd`](crate::simd).
#[inline(always)]
fn fold_rows<T: Real, P: Pair<T>, const R: usize>(
    pair: P,
    anchors: [T; R],
    chunks: &[[T; LANES]],
    kept: [&mut [[T; LANES]]; R],
    folds: &mut Lanes<T, R>,
    slopes: &mut Lanes<T, R>,
) {
    const { assert!(R == 1 || R == 2, "one row or two are written out below") };
    let (mut fold, mut slope) = (*folds, *slopes);
    let mut one = |r: usize, chunk: &[T; LANES], kept: &mut [T; LANES]| {
        let (v, s) = parts(pair, anchors[r], chunk);
        for l in 0..LANES {
            fold[r][l] = pair.fold(fold[r][l], v[l]);
        }
        add(&mut slope[r], &s);
        *kept = s;
    };
    let mut kept = kept.into_iter();
    let mut row = || kept.next().unwrap_or_default();
    if R == 1 {
        for (chunk, kept) in chunks.iter().zip(row()) {
            one(0, chunk, kept);
        }
    } else {
        for ((chunk, first), second) in chunks.iter().zip(row()).zip(row()) {
            one(0, chunk, first);
            one(1, chunk, second);
        }
    }
    (*folds, *slopes) = (fold, slope);
}

/// Σ over others of both parts for `R` anchors; the second parts are kept.
#[inline(always)]
fn keep_rows<T: Real, P: Pair<T>, const R: usize>(
    pair: P,
    anchors: [T; R],
    others: &[T],
    kept: [&mut [T]; R],
) -> ([T; R], [T; R]) {
    let (mut value, mut slope) = ([[T::ZERO; LANES]; R], [[T::ZERO; LANES]; R]);
    let (chunks, rest) = others.as_chunks::<LANES>();
    let mut kept = kept.map(|kept| kept.as_chunks_mut::<LANES>());
    if pair.room() == usize::MAX {
        let rows = kept.each_mut().map(|kept| &mut *kept.0);
        fold_rows(pair, anchors, chunks, rows, black_box(&mut value), black_box(&mut slope));
    } else {
        let mut at = 0;
        for group in chunks.chunks(pair.room().max(1)) {
            let mut folds = [[T::ZERO; LANES]; R];
            let rows = kept.each_mut().map(|kept| kept.0.get_mut(at..at + group.len()).unwrap_or_default());
            fold_rows(pair, anchors, group, rows, black_box(&mut folds), black_box(&mut slope));
            for r in 0..R {
                pair.unfold(&mut value[r], &folds[r], group.len());
            }
            at += group.len();
        }
    }
    if !rest.is_empty() {
        for r in 0..R {
            let mut fold = [T::ZERO; LANES];
            for (l, (&o, kept)) in rest.iter().zip(&mut *kept[r].1).enumerate() {
                let (v, s) = pair.at(anchors[r], o);
                fold[l] = pair.fold(fold[l], v);
                slope[r][l] += s;
                *kept = s;
            }
            pair.unfold(&mut value[r], &fold, 1);
        }
    }
    (value.map(total), slope.map(total))
}
