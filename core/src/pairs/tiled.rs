//! The inner loops of [`brute`](super::brute) and [`keep_slopes`](super::keep_slopes) for the feature `compact`: one copy for all losses,
//! which look at a tile of others at a time. Every sum has the terms and the order of the loops it stands for, so the bits are the same.

use super::lanes::{Factored, LANES, Plain, Products, ROWS, SHARED, Sums, TILE, of_exp, total};
use crate::real::Real;
use crate::surrogate::Surrogate;

/// One kind of pairs.
pub(super) trait Pair<T: Real> {
    /// (ℓ, ℓ'/unit) of one anchor with each of at most [`TILE`] others.
    fn fill(&self, anchor: T, others: &[T], values: &mut [T; TILE], slopes: &mut [T; TILE]);
    /// How to multiply the values, where they are not to be added.
    fn products(&self) -> Option<Products> {
        None
    }
}

impl<T: Real, L: Surrogate<T>> Pair<T> for Plain<L> {
    fn fill(&self, anchor: T, others: &[T], values: &mut [T; TILE], slopes: &mut [T; TILE]) {
        self.0.parts_of_all(anchor, others, values, slopes);
    }
}

impl<T: Real, L: Surrogate<T>> Pair<T> for Factored<L> {
    fn fill(&self, anchor: T, others: &[T], values: &mut [T; TILE], slopes: &mut [T; TILE]) {
        let family = self.0.family();
        for ((&other, value), slope) in others.iter().zip(values).zip(slopes) {
            (*value, *slope) = of_exp(family, anchor * other);
        }
    }
}

impl<T: Real> Pair<T> for Products {
    fn fill(&self, anchor: T, others: &[T], values: &mut [T; TILE], slopes: &mut [T; TILE]) {
        for ((&other, value), slope) in others.iter().zip(values).zip(slopes) {
            let x = anchor * other;
            (*value, *slope) = (x, (x / (T::ONE + x)).settled());
        }
    }
    fn products(&self) -> Option<Products> {
        Some(*self)
    }
}

// The loops by name; one copy for every kind of pair behind them.

pub(super) fn sum_rows<T: Real>(pair: impl Pair<T>, anchors: &[T], others: &[T], values: &mut [T], slopes: &mut [T]) {
    sum_rows_of(&pair, anchors, others, values, slopes);
}

pub(super) fn subtract_rows<T: Real>(
    pair: impl Pair<T>,
    anchors: &[T],
    kappa: &[T],
    unit: T,
    others: &[T],
    grad: &mut [T],
) {
    subtract_rows_of(&pair, anchors, kappa, unit, others, grad);
}

pub(super) fn sum_pairs<T: Real>(
    pair: impl Pair<T>,
    anchors: &[T],
    others: &[T],
    left: &mut [T],
    right: &mut [T],
) -> T {
    sum_pairs_of(&pair, anchors, others, left, right)
}

pub(super) fn keep<T: Real>(pair: impl Pair<T>, anchors: &[T], others: &[T], kept: &mut [T], sums: &mut Sums<T>) {
    keep_of(&pair, anchors, others, kept, sums);
}

fn keep_of<T: Real>(pair: &dyn Pair<T>, anchors: &[T], others: &[T], kept: &mut [T], sums: &mut Sums<T>) {
    let kept = kept.chunks_exact_mut(others.len().max(1));
    for ((i, &anchor), kept) in anchors.iter().enumerate().zip(kept) {
        (sums.values[i], sums.slopes[i]) = keep_row(pair, anchor, others, kept);
    }
}

fn keep_row<T: Real>(pair: &dyn Pair<T>, anchor: T, others: &[T], kept: &mut [T]) -> (T, T) {
    let products = pair.products();
    let (mut value, mut slope) = ([T::ZERO; LANES], [T::ZERO; LANES]);
    let (mut v, mut s) = ([T::ZERO; TILE], [T::ZERO; TILE]);
    let whole = others.len() - others.len() % LANES;
    let mut at = 0;
    while at < others.len() {
        let rest = if at < whole { whole - at } else { others.len() - at };
        let group = rest.min(products.map_or(rest, |p| p.room() * LANES));
        let mut folds = [T::ZERO; LANES];
        for (tile, kept) in others[at..at + group].chunks(TILE).zip(kept[at..at + group].chunks_mut(TILE)) {
            pair.fill(anchor, tile, &mut v, &mut s);
            kept.copy_from_slice(&s[..tile.len()]);
            for k in 0..tile.len() {
                let fold = &mut folds[k % LANES];
                *fold = if products.is_some() { Products::product(*fold, v[k]) } else { *fold + v[k] };
                slope[k % LANES] += s[k];
            }
        }
        match products {
            Some(products) => products.add_logs(&mut value, &folds, group.div_ceil(LANES)),
            None => value.iter_mut().zip(folds).for_each(|(value, fold)| *value += fold),
        }
        at += group;
    }
    (total(value), total(slope))
}

fn sum_rows_of<T: Real>(pair: &dyn Pair<T>, anchors: &[T], others: &[T], values: &mut [T], slopes: &mut [T]) {
    let (mut v, mut s) = ([T::ZERO; TILE], [T::ZERO; TILE]);
    for ((&anchor, value), slope) in anchors.iter().zip(values).zip(slopes) {
        let (mut of_values, mut of_slopes) = ([T::ZERO; LANES], [T::ZERO; LANES]);
        for tile in others.chunks(TILE) {
            pair.fill(anchor, tile, &mut v, &mut s);
            for (k, (&v, &s)) in v.iter().zip(&s).enumerate().take(tile.len()) {
                of_values[k % LANES] += v;
                of_slopes[k % LANES] += s;
            }
        }
        *value += total(of_values);
        *slope += total(of_slopes);
    }
}

fn subtract_rows_of<T: Real>(pair: &dyn Pair<T>, anchors: &[T], kappa: &[T], unit: T, others: &[T], grad: &mut [T]) {
    let mut values = [T::ZERO; TILE];
    let mut d = [[T::ZERO; TILE]; SHARED];
    for (tile, grad) in others.chunks(TILE).zip(grad.chunks_mut(TILE)) {
        for (anchors, kappa) in anchors.chunks(SHARED).zip(kappa.chunks(SHARED)) {
            for ((&anchor, &kappa), d) in anchors.iter().zip(kappa).zip(&mut d) {
                pair.fill(anchor, tile, &mut values, d);
                let kappa = kappa * unit;
                d.iter_mut().for_each(|d| *d = kappa * *d);
            }
            let [a, b, c, e] = &d;
            for ((((g, &a), &b), &c), &e) in grad.iter_mut().zip(a).zip(b).zip(c).zip(e) {
                if anchors.len() == SHARED {
                    *g -= (a + b) + (c + e);
                } else {
                    [a, b, c, e].iter().take(anchors.len()).for_each(|&d| *g -= d);
                }
            }
        }
    }
}

fn sum_pairs_of<T: Real>(pair: &dyn Pair<T>, anchors: &[T], others: &[T], left: &mut [T], right: &mut [T]) -> T {
    let mut value = T::ZERO;
    let mut at = 0;
    while at < anchors.len() {
        let rows = if anchors.len() - at < ROWS { 1 } else { ROWS };
        value += walk(pair, &anchors[at..at + rows], others, &mut left[at..at + rows], right);
        at += rows;
    }
    value
}

/// One walk of at most [`ROWS`] anchors over the others.
fn walk<T: Real>(pair: &dyn Pair<T>, anchors: &[T], others: &[T], left: &mut [T], right: &mut [T]) -> T {
    let mut value = [T::ZERO; LANES];
    let mut slope = [[T::ZERO; LANES]; ROWS];
    let (mut v, mut s) = ([[T::ZERO; TILE]; ROWS], [[T::ZERO; TILE]; ROWS]);
    for (tile, grad) in others.chunks(TILE).zip(right.chunks_mut(TILE)) {
        for (r, &anchor) in anchors.iter().enumerate() {
            pair.fill(anchor, tile, &mut v[r], &mut s[r]);
        }
        for (k, grad) in grad.iter_mut().enumerate() {
            for r in 0..anchors.len() {
                value[k % LANES] += v[r][k];
                slope[r][k % LANES] += s[r][k];
                *grad += s[r][k];
            }
        }
    }
    for (left, slope) in left.iter_mut().zip(slope) {
        *left += total(slope);
    }
    total(value)
}
