//! The family on networks: the same algorithms and the same counts, on whole vectors.
//!
//! A gradient of a network moves every parameter, so nothing here is lazy. AI-SARAH and its bounded form take ξ'(0) and
//! ξ''(0) from exact derivatives along v ([`Mlp::along`](crate::model::Mlp::along)), in the same walk as the gradient at w:
//!
//! - ξ'(0) = −2(vᵀHv + λ‖v‖²), ξ''(0) = 2‖Hv + λv‖² + 2vᵀ∇³f_S[v, v], with H and ∇³ of φ alone.
//!
//! A network is not convex: where vᵀHv + λ‖v‖² ≤ 0 there is no Newton step. AI-SARAH skips such a minibatch, as it does
//! where the linear model has none, and ⌈n/b⌉ skips in a row end the inner loop. Derivatives do not see the bends of a
//! ReLU: there AI-SARAH's steps can be too long and P may rise.
//!
//! Theoretical-AI-SARAH is left out: it needs the smoothness L_i of every example along the step, for which only models
//! with a scalar φ'' have a closed form.
//!
//! Cost of a step: two gradients of the minibatch (SARAH, SARAH+, SVRG), the same and a third of its derivatives along v
//! (AI-SARAH, bounded), or one (momentum, Adam), and a few walks over the parameters. [`Run::gradients`] counts the
//! gradients. A full gradient is cut into pieces of at most 256 rows. Memory: 4 vectors as long as the parameters (3 for
//! momentum), n indices and one more per example of the minibatch (n for momentum and Adam).

use super::glm::{fits, limit, norm_sq};
use super::network::{NetworkSum, Which};
use super::recursive::StepModel;
use super::run::{Event, Memory, Run, View};
use super::{AnySum, draw};
use crate::error::{Error, Result, all_finite, exact_len};
use crate::{Need, Real};

/// An algorithm of the family on a [`NetworkSum`]. Holds configuration only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnNetwork {
    algorithm: AnySum,
}

/// Layout: w; then v (SARAH and its descendants), μ (SVRG) or m (momentum, Adam); then work, in which a full gradient
/// grows; then a point or Hv (SARAH and its descendants), the anchor w̃ (SVRG) or s (Adam; none for momentum). All `dim`
/// long. Of the counts: the order of the examples, then `batch` exchanges, or none where minibatches follow one another.
struct Vectors<'m, T> {
    w: &'m mut [T],
    v: &'m mut [T],
    work: &'m mut [T],
    other: &'m mut [T],
    order: &'m mut [u32],
    partner: &'m mut [u32],
}

impl<'m, T: Real> Vectors<'m, T> {
    fn split(memory: &'m mut Memory<'_, T>, net: &NetworkSum<'_, T>) -> Self {
        let dim = net.dim();
        let (w, rest) = memory.real.split_at_mut(dim);
        let (v, rest) = rest.split_at_mut(dim);
        let (work, other) = rest.split_at_mut(dim);
        let (order, partner) = memory.u32.split_at_mut(net.len());
        Self { w, v, work, other, order, partner }
    }

    /// v ← ∇P(w), a piece at a time: whether it is done. After an error the walk begins anew.
    fn full_gradient(&mut self, net: &NetworkSum<'_, T>, run: &mut Run, scratch: &mut [T]) -> Result<bool> {
        let n = net.len();
        let from = (run.cursor as usize).min(n - 1);
        let to = n.min(from + net.chunk());
        if from == 0 {
            self.work.fill(T::ZERO);
        }
        net.add_slopes(self.w, Which::Span(from, to), 1.0 / n as f64, self.work, scratch)?;
        if to < n {
            run.cursor = to as u64;
            return Ok(false);
        }
        run.cursor = 0;
        let norm = net.finish_gradient(self.w, self.work)?;
        self.v.copy_from_slice(self.work);
        run.anchor(n, norm);
        Ok(true)
    }

    /// ξ'(0) and ξ''(0) on the minibatch; leaves −∇f_S(w), without λ, in `work`.
    fn step_model(&mut self, net: &NetworkSum<'_, T>, run: &Run, scratch: &mut [T]) -> Result<StepModel> {
        let batch = self.partner.len();
        let along = net.along(self.w, self.v, &self.order[..batch], scratch, self.work, self.other)?;
        let lambda = T::of(net.lambda());
        for (product, &v) in self.other.iter_mut().zip(self.v.iter()) {
            *product += lambda * v;
        }
        for slope in self.work.iter_mut() {
            *slope = -*slope;
        }
        let second = along.second + net.lambda() * run.norm_sq;
        Ok(StepModel { slope: -2.0 * second, curvature: 2.0 * norm_sq(self.other) + 2.0 * along.third })
    }

    /// −∇f_S(w) into `work`, without λ: what a recursion with a given step size needs before it.
    fn subtract_here(&mut self, net: &NetworkSum<'_, T>, scratch: &mut [T]) -> Result<()> {
        let batch = self.partner.len();
        self.work.fill(T::ZERO);
        net.add_slopes(self.w, Which::Picked(&self.order[..batch]), -1.0 / batch as f64, self.work, scratch)
    }

    /// w⁺ = w − αv and v⁺ = v + ∇f_S(w⁺) − ∇f_S(w), with the last term in `work`. Checks, then writes.
    fn advance(&mut self, net: &NetworkSum<'_, T>, run: &mut Run, alpha: f64, scratch: &mut [T]) -> Result<()> {
        let batch = self.partner.len();
        let step = T::of(alpha);
        for ((point, &w), &v) in self.other.iter_mut().zip(self.w.iter()).zip(self.v.iter()) {
            *point = w - step * v;
        }
        net.add_slopes(self.other, Which::Picked(&self.order[..batch]), 1.0 / batch as f64, self.work, scratch)?;
        let shrink = T::of(1.0 - net.lambda() * alpha);
        for (work, &v) in self.work.iter_mut().zip(self.v.iter()) {
            *work = (*work + shrink * v).settled();
        }
        let norm = norm_sq(self.work);
        if !fits(norm, limit::<T>()) || !fits(norm_sq(self.other), limit::<T>()) {
            return Err(Error::Overflow { what: "direction" });
        }
        self.w.copy_from_slice(self.other);
        self.v.copy_from_slice(self.work);
        run.norm_sq = norm;
        Ok(())
    }

    /// SVRG's step: u = ∇f_S(w) − ∇f_S(w̃) + μ, with μ in `v` and w̃ in `other`; w ← w − αu. Checks, then writes.
    fn advance_from_anchor(&mut self, net: &NetworkSum<'_, T>, alpha: f64, scratch: &mut [T]) -> Result<()> {
        self.subtract_here(net, scratch)?;
        let batch = self.partner.len();
        net.add_slopes(self.other, Which::Picked(&self.order[..batch]), 1.0 / batch as f64, self.work, scratch)?;
        let (step, lambda) = (T::of(alpha), T::of(net.lambda()));
        for (((work, &w), &anchor), &mean) in
            self.work.iter_mut().zip(self.w.iter()).zip(self.other.iter()).zip(self.v.iter())
        {
            *work = w - step * (lambda * (w - anchor) - *work + mean);
        }
        if !fits(norm_sq(self.work), limit::<T>()) {
            return Err(Error::Overflow { what: "w" });
        }
        self.w.copy_from_slice(self.work);
        Ok(())
    }

    /// ∇f_S(w), without λ, into `work`: the mean over the next examples of the pass.
    fn slope_of_turn(
        &mut self,
        net: &NetworkSum<'_, T>,
        turn: core::ops::Range<usize>,
        scratch: &mut [T],
    ) -> Result<()> {
        let scale = 1.0 / turn.len() as f64;
        self.work.fill(T::ZERO);
        net.add_slopes(self.w, Which::Picked(&self.order[turn]), scale, self.work, scratch)
    }
}

impl OnNetwork {
    /// The algorithm on networks.
    ///
    /// # Errors
    /// `Unsupported` for Theoretical-AI-SARAH.
    pub fn new(algorithm: AnySum) -> Result<Self> {
        match algorithm {
            AnySum::Theoretical(_) => Err(Error::Unsupported { what: "the smoothness of every example of a network" }),
            _ => Ok(Self { algorithm }),
        }
    }

    /// Minibatch size.
    fn batch(&self) -> usize {
        match self.algorithm {
            AnySum::AiSarah(a) => a.batch,
            AnySum::Bounded(a) => a.batch,
            AnySum::Sarah(a) => a.batch,
            AnySum::Svrg(a) => a.batch,
            AnySum::Momentum(a) => a.batch,
            AnySum::Adam(a) => a.batch,
            AnySum::Theoretical(_) => 1,
        }
    }

    /// Memory of a run on this sum.
    ///
    /// # Errors
    /// `Param` when the minibatch is larger than the sum.
    pub fn need<T: Real>(&self, net: &NetworkSum<'_, T>) -> Result<Need> {
        let batch = self.batch();
        if batch == 0 || batch > net.len() {
            return Err(Error::Param { what: "batch" });
        }
        let (vectors, exchanges) = match self.algorithm {
            AnySum::Momentum(_) => (3, 0),
            AnySum::Adam(_) => (4, 0),
            _ => (4, batch),
        };
        Ok(Need { real: vectors * net.dim(), u32: net.len() + exchanges, ..Need::NONE })
    }

    /// Starts at `w0`, `net.dim()` long.
    ///
    /// # Errors
    /// `Length`, `NonFinite`, `Param`, `Overflow`.
    pub fn start<T: Real>(
        &self,
        net: &NetworkSum<'_, T>,
        w0: &[T],
        seed: u64,
        memory: &mut Memory<'_, T>,
    ) -> Result<Run> {
        exact_len("w0", net.dim(), w0.len())?;
        all_finite("w0", w0)?;
        memory.check(self.need(net)?)?;
        let norm = norm_sq(w0);
        if !fits(norm, limit::<T>()) {
            return Err(Error::Overflow { what: "w0" });
        }
        memory.real.fill(T::ZERO);
        memory.u32.fill(0);
        let vectors = Vectors::split(memory, net);
        vectors.w.copy_from_slice(w0);
        draw::identity(vectors.order);
        let mut run = Run::new(seed);
        match self.algorithm {
            AnySum::Adam(_) => super::AdamSum::begin(&mut run, norm),
            AnySum::Bounded(a) => run.alpha_max = a.alpha_max,
            _ => {}
        }
        Ok(run)
    }

    /// One unit of work: a minibatch, or a piece of a full gradient. `net` and `memory` must be those of the run; `scratch`
    /// is at least [`NetworkSum::scratch_len`] long.
    ///
    /// # Errors
    /// `Length`, `Overflow` when the iterate, its direction or a derivative would not fit the number type; the iterate has
    /// then not moved.
    pub fn step<T: Real>(
        &self,
        net: &NetworkSum<'_, T>,
        run: &mut Run,
        memory: &mut Memory<'_, T>,
        scratch: &mut [T],
    ) -> Result<Event> {
        memory.check(self.need(net)?)?;
        net.check_scratch(scratch)?;
        let mut vectors = Vectors::split(memory, net);
        match self.algorithm {
            AnySum::Momentum(_) | AnySum::Adam(_) => self.pass(net, run, &mut vectors, scratch),
            _ => self.loops(net, run, &mut vectors, scratch),
        }
    }

    /// The algorithms with a full gradient at the head of an inner loop.
    fn loops<T: Real>(
        &self,
        net: &NetworkSum<'_, T>,
        run: &mut Run,
        vectors: &mut Vectors<'_, T>,
        scratch: &mut [T],
    ) -> Result<Event> {
        if run.phase == 0 {
            let done = vectors.full_gradient(net, run, scratch)?;
            let event = run.opened(done);
            match (event, self.algorithm) {
                (Event::FullGradient { .. }, AnySum::Svrg(_)) => vectors.other.copy_from_slice(vectors.w),
                (Event::FullGradient { .. }, AnySum::Bounded(a)) => a.draw_end(run),
                _ => {}
            }
            return Ok(event);
        }
        let before = run.clone();
        draw::subset(&mut run.rng, vectors.order, vectors.partner);
        let moved = self.inner(net, run, vectors, scratch);
        if moved.is_err() {
            draw::undo(vectors.order, vectors.partner);
            *run = before;
        }
        moved
    }

    /// A step of an inner loop on the drawn minibatch.
    fn inner<T: Real>(
        &self,
        net: &NetworkSum<'_, T>,
        run: &mut Run,
        vectors: &mut Vectors<'_, T>,
        scratch: &mut [T],
    ) -> Result<Event> {
        let mut modelled = |run: &mut Run, vectors: &mut Vectors<'_, T>| -> Result<StepModel> {
            let model = vectors.step_model(net, run, scratch)?;
            (run.slope, run.curvature) = (model.slope, model.curvature);
            Ok(model)
        };
        run.count(self.batch(), 2);
        let (alpha, ends) = match self.algorithm {
            AnySum::AiSarah(a) => {
                let Some((alpha, cap)) = modelled(run, vectors)?.bounded(a.beta, &mut run.delta) else {
                    run.skipped += 1;
                    if run.skipped >= net.len().div_ceil(a.batch) as u64 {
                        run.phase = 0;
                    }
                    return Ok(Event::Skipped);
                };
                (run.alpha_max, run.skipped) = (cap, 0);
                vectors.advance(net, run, alpha, scratch)?;
                (alpha, run.norm_sq < a.stop * run.start_norm_sq)
            }
            AnySum::Bounded(a) => {
                let alpha = a.clamp(modelled(run, vectors)?);
                vectors.advance(net, run, alpha, scratch)?;
                (alpha, run.inner >= run.mark)
            }
            AnySum::Sarah(a) => {
                vectors.subtract_here(net, scratch)?;
                vectors.advance(net, run, a.alpha, scratch)?;
                (a.alpha, run.inner >= a.inner || run.norm_sq < a.stop * run.start_norm_sq)
            }
            AnySum::Svrg(a) => {
                vectors.advance_from_anchor(net, a.alpha, scratch)?;
                (a.alpha, run.inner >= a.inner)
            }
            AnySum::Momentum(_) | AnySum::Adam(_) | AnySum::Theoretical(_) => (0.0, true),
        };
        run.alpha = alpha;
        if ends {
            run.phase = 0;
        }
        Ok(Event::Step { alpha })
    }

    /// The algorithms whose minibatches follow one another in a shuffled order.
    fn pass<T: Real>(
        &self,
        net: &NetworkSum<'_, T>,
        run: &mut Run,
        vectors: &mut Vectors<'_, T>,
        scratch: &mut [T],
    ) -> Result<Event> {
        let n = net.len();
        if run.phase == 0 {
            run.bound = Real::sqrt(norm_sq(vectors.w));
            let (alpha, decay) = match self.algorithm {
                AnySum::Momentum(a) => (a.alpha, a.decay),
                AnySum::Adam(a) => (a.alpha, a.decay),
                _ => (0.0, 0.0),
            };
            return Ok(run.begin_pass(alpha, decay, vectors.order));
        }
        let turn = run.turn(n, self.batch());
        vectors.slope_of_turn(net, turn.clone(), scratch)?;
        match self.algorithm {
            AnySum::Momentum(a) => {
                let (alpha, beta, lambda) = (T::of(run.alpha), T::of(a.beta), T::of(net.lambda()));
                let mut w_norm = 0.0;
                for ((work, &m), &w) in vectors.work.iter_mut().zip(vectors.v.iter()).zip(vectors.w.iter()) {
                    *work += beta * m + lambda * w;
                    let next = (w - alpha * *work).f64();
                    w_norm += next * next;
                }
                if !fits(norm_sq(vectors.work), limit::<T>()) || !fits(w_norm, limit::<T>()) {
                    return Err(Error::Overflow { what: "w" });
                }
                vectors.v.copy_from_slice(vectors.work);
                for (w, &m) in vectors.w.iter_mut().zip(vectors.v.iter()) {
                    *w -= alpha * m;
                }
            }
            AnySum::Adam(a) => {
                let gradient = Real::sqrt(norm_sq(vectors.work)) + net.lambda() * run.bound;
                run.bound = a.check::<T>(run, gradient, net.dim())?;
                a.advance(run, net.lambda(), vectors.w, vectors.v, vectors.other, vectors.work);
            }
            _ => {}
        }
        Ok(run.end_turn(turn, n))
    }

    /// The examples of the last minibatch; empty before the first and, for momentum and Adam, right after a shuffle.
    pub fn minibatch<'m, T: Real>(&self, net: &NetworkSum<'_, T>, run: &Run, memory: View<'m, T>) -> &'m [u32] {
        match self.algorithm {
            AnySum::Momentum(_) | AnySum::Adam(_) => {
                draw::consecutive(&memory.u32[..net.len().min(memory.u32.len())], run.inner, self.batch())
            }
            _ => draw::drawn(memory.u32, run.steps, self.batch()),
        }
    }

    /// The present iterate: the first `net.dim()` numbers of the memory.
    ///
    /// # Errors
    /// `Length`.
    pub fn params<'m, T: Real>(&self, net: &NetworkSum<'_, T>, memory: View<'m, T>) -> Result<&'m [T]> {
        memory.check(self.need(net)?)?;
        Ok(&memory.real[..net.dim()])
    }

    /// Whether the counts of restored memory can be of a run on this sum. O(n).
    ///
    /// # Errors
    /// `Length`, `Index`.
    pub fn check<T: Real>(&self, net: &NetworkSum<'_, T>, memory: View<'_, T>) -> Result<()> {
        memory.check(self.need(net)?)?;
        super::any_sum::check_order(&memory.u32[..net.len()])
    }
}
