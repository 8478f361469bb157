//! The recursion w⁺ = w − αv, v⁺ = v + ρ(∇f_S(w⁺) − ∇f_S(w)) that SARAH and all its descendants share.
//!
//! Where the minibatch has no value in column j, the recursion is v_j ← (1 − ρλα) v_j, w_j ← w_j − αv_j, with factors
//! common to all such columns. So on sparse rows the vectors are kept as v = c·v̂ and w = ŵ − C·v̂: a step changes the
//! two scalars, and writes only the columns of its minibatch (v̂_j += g_j/c and ŵ_j += C g_j/c leave w_j where it was).
//! ‖v‖² is kept by the change of each written entry. A step costs O(values of the minibatch), whatever the dimension.
//!
//! The vectors are written out, and ‖v‖² summed afresh, when an outer loop begins, when c has become small, when ‖v‖²
//! has shrunk so far that rounding could show, and after every 32·dim touched values, which keeps the cost per step and
//! stops drift.
//!
//! Where the minibatch holds half as many values as there are columns, passes over whole vectors are cheaper, and the step
//! is that of [`Updates::Eager`]; dense rows always take it. ‖Hv‖² of many values in very many columns is summed in `windows.rs`.
//!
//! w_j and v_j lie side by side, because a sparse step needs both of every column it meets. So does a full gradient of
//! sparse rows, which grows where v was: its second look at a column finds it near. For one of dense rows w alone lies in
//! front, in one piece, and the gradient in another.

use super::glm::{Glm, Row};
use super::interleaved::{dot_pairs, drained, fused, gather_first, gather_pairs, rewritten};
use super::oracle::{Bend, Examples, Gradients};
use super::plain::{self, Plain};
use super::run::{Event, Memory, Run, View};
use super::vectors::{finish_gradient, fits, limit, norm_sq};
use super::windows;
use crate::error::{Error, Result};
use crate::{Need, Real};
use core::ops::Range;

/// How the vectors of the recursion are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Updates {
    /// Whichever is cheaper, step by step.
    #[default]
    Auto,
    /// Lazily on sparse rows, always.
    Lazy,
    /// Whole vectors in every step, O(dim): what a step costs that does not look at which columns its minibatch holds.
    Eager,
}

impl Updates {
    /// Whether a step on so many touched values passes over whole vectors.
    fn whole<T: Real>(self, glm: &Glm<'_, T>, touched: usize) -> bool {
        !glm.is_sparse()
            || match self {
                Self::Eager => true,
                Self::Auto => CROWDED * touched >= glm.dim(),
                Self::Lazy => false,
            }
    }
}

/// Below this c the lazy vectors are written out.
const SMALL_SCALE: f64 = 1.0 / 1_048_576.0;
/// ‖v‖² may shrink by this before it is summed afresh.
const SMALL_NORM: f64 = 1.0 / 65_536.0;
/// Touched values, per column, between two summations.
const TOUCHED: u64 = 32;

/// Share of the columns, as a divisor, that a minibatch must hold for whole vectors to be cheaper.
const CROWDED: usize = 2;

/// Vectors w and v of the recursion on a sum. By default in plain vectors; lazily on the rows of a linear model.
pub trait Recursion<T: Real>: Gradients<T> {
    /// Memory for minibatches of `batch`: of the counts the order of the examples, then `batch` exchanges.
    fn need(&self, batch: usize) -> Need {
        plain::need(self, 4, batch)
    }

    /// Writes w, with v = 0.
    fn place(&self, _run: &mut Run, memory: &mut Memory<'_, T>, w: &[T]) {
        Plain::split(self, memory).w.copy_from_slice(w);
    }

    /// v ← ∇P(w) and its length, a piece at a time: whether it is done.
    ///
    /// # Errors
    /// `Overflow`, and those of the sum; the walk then begins anew.
    fn full_gradient(&self, run: &mut Run, memory: &mut Memory<'_, T>) -> Result<bool> {
        Plain::split(self, memory).full_gradient(self, run)
    }

    /// Before a step: time for vectors that are not plain to be written out.
    fn settle(&self, _run: &mut Run, _memory: &mut Memory<'_, T>) {}

    /// Looks at the drawn minibatch at w and along v: ξ'(0) and ξ''(0).
    ///
    /// # Errors
    /// Those of the sum.
    fn model(&self, run: &Run, memory: &mut Memory<'_, T>, _updates: Updates) -> Result<StepModel> {
        let Plain { w, v, work, other, drawn, scratch, .. } = Plain::split(self, memory);
        let Bend { second, third } = self.along(w, v, drawn, [&mut *work, &mut *other], scratch)?;
        let lambda = T::of(self.lambda());
        for (product, &v) in other.iter_mut().zip(v.iter()) {
            *product += lambda * v;
        }
        for slope in work.iter_mut() {
            *slope = -*slope;
        }
        let second = second + self.lambda() * run.norm_sq;
        Ok(StepModel { slope: -2.0 * second, curvature: 2.0 * norm_sq(other) + 2.0 * third })
    }

    /// The same, for a step whose size is given.
    ///
    /// # Errors
    /// Those of the sum.
    fn probe(&self, _run: &Run, memory: &mut Memory<'_, T>) -> Result<()> {
        Plain::split(self, memory).subtract_here(self)
    }

    /// The step by α on the minibatch that [`model`](Self::model) or [`probe`](Self::probe) has looked at, its difference
    /// weighted by ρ = `weight`. Checks, then writes.
    ///
    /// # Errors
    /// `Overflow`, and those of the sum.
    fn advance(
        &self,
        run: &mut Run,
        memory: &mut Memory<'_, T>,
        alpha: f64,
        weight: f64,
        _updates: Updates,
    ) -> Result<()> {
        let mut vectors = Plain::split(self, memory);
        let step = T::of(alpha);
        for ((point, &w), &v) in vectors.other.iter_mut().zip(vectors.w.iter()).zip(vectors.v.iter()) {
            *point = w - step * v;
        }
        vectors.add_there(self)?;
        let (weight, shrink) = (T::of(weight), T::of(1.0 - weight * self.lambda() * alpha));
        for (work, &v) in vectors.work.iter_mut().zip(vectors.v.iter()) {
            *work = (weight * *work + shrink * v).settled();
        }
        let norm = norm_sq(vectors.work);
        plain::check_length::<T>("direction", norm)?;
        plain::check("direction", vectors.other)?;
        vectors.w.copy_from_slice(vectors.other);
        vectors.v.copy_from_slice(vectors.work);
        run.norm_sq = norm;
        Ok(())
    }

    /// L_i of the examples `which` along v, into `out`.
    ///
    /// # Errors
    /// `Unsupported` where the sum does not know them.
    fn smoothness_here(
        &self,
        _run: &Run,
        memory: &mut Memory<'_, T>,
        which: Range<usize>,
        out: &mut [T],
    ) -> Result<()> {
        let Plain { w, v, .. } = Plain::split(self, memory);
        self.smoothness(w, v, which, out)
    }

    /// w into `out`.
    fn params(&self, _run: &Run, memory: View<'_, T>, out: &mut [T]) {
        out.copy_from_slice(&memory.real[..out.len()]);
    }
}

/// The lazy form. Layout: w (or ŵ) and v (or v̂) entry by entry, 2·`dim` together; zeroed work, `dim` long; then margins
/// z, their change a, and coefficients, all `batch` long.
impl<T: Real> Recursion<T> for Glm<'_, T> {
    fn need(&self, batch: usize) -> Need {
        Need { real: 3 * self.dim() + 3 * batch, u32: self.len() + batch, ..Need::NONE }
    }

    fn place(&self, run: &mut Run, memory: &mut Memory<'_, T>, w: &[T]) {
        let vectors = &mut Vectors::split(memory, self);
        vectors.sync(run);
        for (pair, &w) in vectors.pairs.iter_mut().zip(w) {
            *pair = [w, T::ZERO];
        }
        run.bound = Real::sqrt(norm_sq(w));
    }

    fn full_gradient(&self, run: &mut Run, memory: &mut Memory<'_, T>) -> Result<bool> {
        Vectors::split(memory, self).full_gradient(self, run)
    }

    fn settle(&self, run: &mut Run, memory: &mut Memory<'_, T>) {
        Vectors::split(memory, self).settle(run);
    }

    fn model(&self, run: &Run, memory: &mut Memory<'_, T>, updates: Updates) -> Result<StepModel> {
        let mut vectors = Vectors::split(memory, self);
        vectors.probe(self, run);
        Ok(vectors.step_model(self, run, updates))
    }

    fn probe(&self, run: &Run, memory: &mut Memory<'_, T>) -> Result<()> {
        Vectors::split(memory, self).probe(self, run);
        Ok(())
    }

    fn advance(
        &self,
        run: &mut Run,
        memory: &mut Memory<'_, T>,
        alpha: f64,
        weight: f64,
        updates: Updates,
    ) -> Result<()> {
        Vectors::split(memory, self).advance(self, run, alpha, weight, updates)
    }

    fn smoothness_here(&self, run: &Run, memory: &mut Memory<'_, T>, which: Range<usize>, out: &mut [T]) -> Result<()> {
        let vectors = Vectors::split(memory, self);
        for (i, out) in which.zip(out) {
            let (z, a) = vectors.margins(self, run, i);
            *out = T::of(self.smoothness_along(i, z.f64(), a.f64()));
        }
        Ok(())
    }

    fn params(&self, run: &Run, memory: View<'_, T>, out: &mut [T]) {
        let real = &memory.real[..2 * out.len()];
        if run.phase == 0 && run.cursor > 0 && !self.is_sparse() {
            out.copy_from_slice(&real[..out.len()]);
            return;
        }
        // (Beside a gradient that grows the vectors are plain: `shift` is 0.)
        let shift = T::of(run.shift);
        for (out, &[w, v]) in out.iter_mut().zip(real.as_chunks::<2>().0) {
            *out = w - shift * v;
        }
    }
}

/// Opens the next outer loop when one is due: `Some` full gradient or a piece of it, `None` inside a loop.
pub(super) fn open<T: Real, O: Recursion<T> + ?Sized>(
    sum: &O,
    run: &mut Run,
    memory: &mut Memory<'_, T>,
) -> Result<Option<Event>> {
    if run.phase != 0 {
        return Ok(None);
    }
    let done = sum.full_gradient(run, memory)?;
    Ok(Some(run.opened(done)))
}

/// The memory of the lazy form by name.
struct Vectors<'m, T> {
    /// (w_j, v_j).
    pairs: &'m mut [[T; 2]],
    work: &'m mut [T],
    z: &'m mut [T],
    a: &'m mut [T],
    coef: &'m mut [T],
    order: &'m [u32],
    /// The exchanges of a draw, until [`windows`] count here what they read.
    partner: &'m mut [u32],
}

/// ξ'(0) and ξ''(0) of ξ(α) = ‖∇f_S(w − αv) − ∇f_S(w) + v‖².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepModel {
    /// ξ'(0) = −2 vᵀHv.
    pub slope: f64,
    /// ξ''(0) = 2‖Hv‖² + 2 vᵀ∇³f_S[v, v].
    pub curvature: f64,
}

impl StepModel {
    /// The Newton step α̃ = −ξ'(0)/|ξ''(0)|, where there is one: ξ'(0) < 0 and ξ''(0) ≠ 0.
    #[must_use]
    pub fn newton(self) -> Option<f64> {
        let step = -self.slope / self.curvature.abs();
        if self.slope < 0.0 && step.is_finite() && step > 0.0 { Some(step) } else { None }
    }

    /// AI-SARAH's rule: δ ← βδ + (1 − β)/α̃ (1/α̃ where δ is still 0), then (α, 1/δ) with α = min(α̃, 1/δ). `None`, and δ
    /// as it was, where there is no Newton step.
    pub(super) fn bounded(self, beta: f64, delta: &mut f64) -> Option<(f64, f64)> {
        let newton = self.newton()?;
        let smoothness = 1.0 / newton;
        let smoothed = if *delta == 0.0 { smoothness } else { beta * *delta + (1.0 - beta) * smoothness };
        let cap = 1.0 / smoothed;
        if !(cap.is_finite() && cap > 0.0) {
            return None;
        }
        *delta = smoothed;
        Some((newton.or_smaller(cap), cap))
    }
}

impl<'m, T: Real> Vectors<'m, T> {
    fn split(memory: &'m mut Memory<'_, T>, glm: &Glm<'_, T>) -> Self {
        let (order, partner) = memory.u32.split_at_mut(glm.len());
        let (dim, batch) = (glm.dim(), partner.len());
        let (flat, rest) = memory.real.split_at_mut(2 * dim);
        let (work, rest) = rest.split_at_mut(dim);
        let (z, rest) = rest.split_at_mut(batch);
        let (a, coef) = rest.split_at_mut(batch);
        Self { pairs: flat.as_chunks_mut::<2>().0, work, z, a, coef, order, partner }
    }

    /// Writes the lazy vectors out: the values stay, the representation becomes plain.
    fn sync(&mut self, run: &mut Run) {
        if run.shift != 0.0 || run.scale != 1.0 {
            let (shift, scale) = (T::of(run.shift), T::of(run.scale));
            let [w, v] = rewritten(self.pairs, |[w, v]| [w - shift * v, scale * v]);
            run.shift = 0.0;
            run.scale = 1.0;
            run.norm_sq = v;
            run.bound = Real::sqrt(w);
        }
        run.synced_norm_sq = run.norm_sq;
        run.touched = 0;
    }

    /// Writes out where the rules of the module ask for it. To be called before a step.
    fn settle(&mut self, run: &mut Run) {
        if run.scale < SMALL_SCALE
            || run.norm_sq < SMALL_NORM * run.synced_norm_sq
            || run.touched > TOUCHED * self.pairs.len() as u64
        {
            self.sync(run);
        }
    }

    /// v ← ∇P(w), a piece at a time: whether it is done.
    fn full_gradient(&mut self, glm: &Glm<'_, T>, run: &mut Run) -> Result<bool> {
        if glm.is_sparse() {
            return self.full_gradient_in_place(glm, run);
        }
        if run.cursor == 0 {
            self.sync(run);
            self.lay_apart();
        }
        let from = (run.cursor as usize).min(glm.len());
        let to = glm.piece_end(from);
        let dim = self.work.len();
        let w = &self.pairs.as_flattened()[..dim];
        let scale = T::of(1.0 / glm.len() as f64);
        glm.add_rows(w, Examples::Span(from, to), scale, self.work);
        if to < glm.len() {
            run.cursor = to as u64;
            return Ok(false);
        }
        run.cursor = 0;
        let gradient = finish_gradient(glm.lambda(), w, self.work);
        let w_norm = norm_sq(w);
        if gradient.is_err() {
            self.work.fill(T::ZERO);
        }
        self.lay_together();
        if let Ok(norm) = gradient {
            run.anchor(glm.len(), norm);
            run.synced_norm_sq = norm;
            run.bound = Real::sqrt(w_norm);
        }
        gradient.map(|_| true)
    }

    /// The same, with the gradient beside w.
    fn full_gradient_in_place(&mut self, glm: &Glm<'_, T>, run: &mut Run) -> Result<bool> {
        if run.cursor == 0 {
            self.sync(run);
            self.pairs.iter_mut().for_each(|pair| pair[1] = T::ZERO);
        }
        let from = (run.cursor as usize).min(glm.len());
        let to = glm.piece_end(from);
        let scale = T::of(1.0 / glm.len() as f64);
        for i in from..to {
            let Row::Sparse(col, x) = glm.row(i) else { continue };
            let mut z = gather_first(col, x, self.pairs);
            if let Some(at) = glm.bias() {
                z += self.pairs[at][0];
            }
            let k = glm.slope(i, z) * scale;
            for (&j, &x) in col.iter().zip(x) {
                self.pairs[j as usize][1] += k * x;
            }
            if let Some(at) = glm.bias() {
                self.pairs[at][1] += k;
            }
        }
        if to < glm.len() {
            run.cursor = to as u64;
            return Ok(false);
        }
        run.cursor = 0;
        let [w_norm, norm] = rewritten(self.pairs, |[w, g]| [w, g + T::of(glm.lambda()) * w]);
        if !fits(norm, limit::<T>()) {
            self.pairs.iter_mut().for_each(|pair| pair[1] = T::ZERO);
            return Err(Error::Overflow { what: "gradient" });
        }
        run.anchor(glm.len(), norm);
        run.synced_norm_sq = norm;
        run.bound = Real::sqrt(w_norm);
        Ok(true)
    }

    /// w to the front, in one piece; v is lost. Leaves `work` zero.
    fn lay_apart(&mut self) {
        for (work, pair) in self.work.iter_mut().zip(self.pairs.iter()) {
            *work = pair[0];
        }
        let dim = self.work.len();
        self.pairs.as_flattened_mut()[..dim].copy_from_slice(self.work);
        self.work.fill(T::ZERO);
    }

    /// Back side by side, with v from `work`, which becomes zero.
    fn lay_together(&mut self) {
        let flat = self.pairs.as_flattened_mut();
        // From behind, so that nothing is written over before it is read.
        for (j, work) in self.work.iter_mut().enumerate().rev() {
            let w = flat[j];
            flat[2 * j] = w;
            flat[2 * j + 1] = core::mem::take(work);
        }
    }

    /// (x_iᵀw, x_iᵀv).
    #[inline]
    fn margins(&self, glm: &Glm<'_, T>, run: &Run, i: usize) -> (T, T) {
        let [mut p, mut q] = match glm.row(i) {
            Row::Dense(x) => dot_pairs(x, self.pairs),
            Row::Sparse(col, x) => gather_pairs(col, x, self.pairs),
        };
        if let Some(at) = glm.bias() {
            p += self.pairs[at][0];
            q += self.pairs[at][1];
        }
        (p - T::of(run.shift) * q, T::of(run.scale) * q)
    }

    /// z and a of the minibatch.
    fn probe(&mut self, glm: &Glm<'_, T>, run: &Run) {
        for k in 0..self.partner.len() {
            (self.z[k], self.a[k]) = self.margins(glm, run, self.order[k] as usize);
        }
    }

    /// ξ'(0) and ξ''(0) on the probed minibatch.
    fn step_model(&mut self, glm: &Glm<'_, T>, run: &Run, updates: Updates) -> StepModel {
        let order = &self.order[..self.partner.len()];
        let share = 1.0 / order.len() as f64;
        let (sums, squared);
        if let [i] = *order {
            let mut pulled = 0.0;
            sums = pulls(glm, order, self.z, self.a, |_, pull| pulled = pull.f64() * pull.f64());
            squared = pulled * glm.row_norm_sq(i as usize);
        } else if updates != Updates::Eager
            && windows::pay(glm, order)
            && let Some(window) = self.work.first_chunk_mut()
        {
            sums = pulls(glm, order, self.z, self.a, |k, pull| self.coef[k] = pull * T::of(share));
            squared = windows::norm_sq(glm, order, self.coef, self.partner, window);
        } else {
            let mut touched = 0;
            sums = pulls(glm, order, self.z, self.a, |k, pull| {
                let i = order[k] as usize;
                glm.add_row(i, pull * T::of(share), self.work);
                touched += glm.row_len(i);
            });
            squared = self.drain_work(glm, touched, updates);
        }
        let [second, third] = sums.map(|sum| sum * share);
        let lambda = glm.lambda();
        let along = second + lambda * run.norm_sq;
        let norm = squared + 2.0 * lambda * second + lambda * lambda * run.norm_sq;
        StepModel { slope: -2.0 * along, curvature: 2.0 * norm + 2.0 * third }
    }

    /// ‖work‖², leaving zeros. Each entry is counted by the first row that meets it.
    fn drain_work(&mut self, glm: &Glm<'_, T>, touched: usize, updates: Updates) -> f64 {
        if updates.whole(glm, touched) {
            return drained(self.work);
        }
        let mut sum = 0.0;
        for k in 0..self.partner.len() {
            if let Row::Sparse(col, _) = glm.row(self.order[k] as usize) {
                for &j in col {
                    let x = core::mem::take(&mut self.work[j as usize]).f64();
                    sum += x * x;
                }
            }
        }
        if let Some(at) = glm.bias() {
            let x = core::mem::take(&mut self.work[at]).f64();
            sum += x * x;
        }
        sum
    }

    /// The step by α on the probed minibatch, differences weighted by ρ. Checks, then writes.
    fn advance(&mut self, glm: &Glm<'_, T>, run: &mut Run, alpha: f64, weight: f64, updates: Updates) -> Result<()> {
        let batch = self.partner.len();
        let share = weight / batch as f64;
        let step = T::of(alpha);
        let mut touched = 0;
        let mut pull = 0.0;
        for k in 0..batch {
            let i = self.order[k] as usize;
            let (z, a) = (self.z[k], self.a[k]);
            let change = glm.slope(i, z - step * a) - glm.slope(i, z);
            self.coef[k] = change * T::of(share);
            pull += self.coef[k].f64().abs();
            touched += glm.row_len(i);
        }
        let shrink = 1.0 - weight * glm.lambda() * alpha;
        let length = Real::sqrt(run.norm_sq);
        let v_bound = shrink.abs() * length + pull * glm.max_row_norm();
        let w_bound = run.bound + alpha * length;
        let most = Real::sqrt(limit::<T>());
        if !fits(v_bound, most) || !fits(w_bound, most) {
            return Err(Error::Overflow { what: "direction" });
        }
        let scale = run.scale * shrink;
        let shift = run.shift + alpha * run.scale;
        let stored = (1.0 + shift) / scale * v_bound + w_bound;
        if updates.whole(glm, touched) || scale < SMALL_SCALE || !fits(stored, most) {
            self.advance_eagerly(glm, run, step, shrink);
        } else {
            run.scale = scale;
            run.shift = shift;
            run.touched += touched as u64;
            self.advance_lazily(glm, run, shrink);
        }
        run.bound = w_bound;
        Ok(())
    }

    fn advance_eagerly(&mut self, glm: &Glm<'_, T>, run: &mut Run, alpha: T, shrink: f64) {
        self.sync(run);
        for k in 0..self.partner.len() {
            glm.add_row(self.order[k] as usize, self.coef[k], self.work);
        }
        run.norm_sq = fused(self.pairs, self.work, alpha, T::of(shrink));
        run.synced_norm_sq = run.norm_sq;
    }

    fn advance_lazily(&mut self, glm: &Glm<'_, T>, run: &mut Run, shrink: f64) {
        let mut change = 0.0f64;
        let (by_scale, shift) = (1.0 / run.scale, T::of(run.shift));
        let two = T::of(2.0);
        let mut tail = 0.0;
        for k in 0..self.partner.len() {
            let Row::Sparse(col, x) = glm.row(self.order[k] as usize) else { continue };
            let coef = T::of(self.coef[k].f64() * by_scale);
            tail += coef.f64();
            // Two chains of additions, taken in turn.
            let mut lane = [T::ZERO; 2];
            let mut write = |j: u32, x: T, lane: &mut T| {
                let pair = &mut self.pairs[j as usize];
                let d = coef * x;
                let old = pair[1];
                *pair = [pair[0] + shift * d, old + d];
                *lane += d * (two * old + d);
            };
            let (cols, col_rest) = col.as_chunks::<4>();
            let (xs, x_rest) = x.as_chunks::<4>();
            for (col, x) in cols.iter().zip(xs) {
                for k in 0..4 {
                    write(col[k], x[k], &mut lane[k % 2]);
                }
            }
            for (k, (&j, &x)) in col_rest.iter().zip(x_rest).enumerate() {
                write(j, x, &mut lane[k % 2]);
            }
            change += (lane[0] + lane[1]).f64();
        }
        if let Some(at) = glm.bias() {
            let d = T::of(tail);
            let [w, old] = self.pairs[at];
            self.pairs[at] = [w + shift * d, old + d];
            change += (d * (two * old + d)).f64();
        }
        let norm = shrink * shrink * run.norm_sq + run.scale * run.scale * change;
        run.norm_sq = if norm > 0.0 { norm } else { 0.0 };
    }
}

/// Σ φ''a² and Σ φ'''a³ of the examples at margins z that change by a; `each` is told of φ''a, example by example.
#[inline]
fn pulls<T: Real>(glm: &Glm<'_, T>, which: &[u32], z: &[T], a: &[T], mut each: impl FnMut(usize, T)) -> [f64; 2] {
    let (mut second, mut third) = (0.0, 0.0);
    for (k, ((&i, &z), &a)) in which.iter().zip(z).zip(a).enumerate() {
        let (_, h, t) = glm.derivatives(i as usize, z);
        let change = a.f64();
        second += h.f64() * change * change;
        third += t.f64() * change * change * change;
        each(k, h * a);
    }
    [second, third]
}
