//! AI-SARAH for any differentiable model, through minibatch gradients alone.
//!
//! Algorithm 2 of Shi et al. 2021, "AI-SARAH", with the derivatives along v taken by central differences of the
//! minibatch gradient g(w) = ∇f_S(w): with h = step/‖v‖,
//!
//! - Hv ≈ (g(w + hv) − g(w − hv))/(2h), ∇³f_S[v, v] ≈ (g(w + hv) − 2g(w) + g(w − hv))/h²;
//! - ξ'(0) = −2 vᵀHv, ξ''(0) = 2‖Hv‖² + 2 vᵀ∇³f_S[v, v].
//!
//! `step` is the length of the probe in parameter space; 10⁻³ in f64 leaves about 6 digits, more than the step size
//! needs. Where a model is not convex α̃ can be negative or undefined: such a minibatch is skipped.
//!
//! A host that can compute these derivatives exactly (as [`Mlp::along`](crate::model::Mlp::along) does) tells them with the
//! gradient at w, and the two probes are left out.
//!
//! The machine asks ([`AnyModelAsk`]) and the host answers with a gradient: one full gradient per outer loop, four
//! minibatch gradients per step (w, w + hv, w − hv, w⁺), or two with exact derivatives. Memory: 5 vectors of the length of the parameters.

use super::glm::{dot, fits, limit, norm_sq};
use super::recursive::StepModel;
use super::{fraction, positive};
use crate::Real;
use crate::error::{Error, Result, all_finite, exact_len};

/// What the host is to compute, at [`AiSarahAnyModel::point`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnyModelAsk {
    /// The gradient over all examples.
    Full,
    /// The gradient over a fresh minibatch, to be kept for the next asks.
    Fresh,
    /// The gradient over the same minibatch.
    Again,
}

/// Configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AiSarahAnyModel {
    stop: f64,
    beta: f64,
    probe: f64,
    patience: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Full,
    Here,
    Ahead,
    Behind,
    Moved,
}

/// Scalars of a run; with the vectors they are its whole state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AnyModelRun {
    stage: Stage,
    /// Steps taken.
    pub steps: u64,
    /// Outer loops opened.
    pub outer: u64,
    skipped: u64,
    delta: f64,
    /// The last step size.
    pub alpha: f64,
    /// ‖v‖².
    pub norm_sq: f64,
    /// ‖∇P‖² at the last full gradient.
    pub start_norm_sq: f64,
}

impl AiSarahAnyModel {
    /// Stop γ in (0, 1), smoothing β in [0, 1), probe length > 0, and how many minibatches in a row may be skipped before
    /// the inner loop ends (≥ 1; n/b is sensible).
    ///
    /// # Errors
    /// `Param`.
    pub fn new(stop: f64, beta: f64, probe: f64, patience: u64) -> Result<Self> {
        positive("stop", fraction("stop", stop)?)?;
        if patience == 0 {
            return Err(Error::Param { what: "patience" });
        }
        Ok(Self { stop, beta: fraction("beta", beta)?, probe: positive("probe", probe)?, patience })
    }

    /// Length of the memory for `dim` parameters. Layout: w, the point asked about, v, g(w), g(w + hv).
    #[must_use]
    pub const fn memory_len(dim: usize) -> usize {
        5 * dim
    }

    /// Starts at `w0`.
    ///
    /// # Errors
    /// `Length`, `NonFinite`.
    pub fn start<T: Real>(&self, w0: &[T], memory: &mut [T]) -> Result<AnyModelRun> {
        exact_len("memory", Self::memory_len(w0.len()), memory.len())?;
        all_finite("w0", w0)?;
        memory.fill(T::ZERO);
        memory[..w0.len()].copy_from_slice(w0);
        memory[w0.len()..2 * w0.len()].copy_from_slice(w0);
        Ok(AnyModelRun::default())
    }

    /// What to compute next.
    #[must_use]
    pub fn next(&self, run: &AnyModelRun) -> AnyModelAsk {
        match run.stage {
            Stage::Full => AnyModelAsk::Full,
            Stage::Here => AnyModelAsk::Fresh,
            Stage::Ahead | Stage::Behind | Stage::Moved => AnyModelAsk::Again,
        }
    }

    /// Where to compute it, `dim` long.
    #[must_use]
    pub fn point<'m, T>(&self, memory: &'m [T]) -> &'m [T] {
        let dim = memory.len() / 5;
        &memory[dim..2 * dim]
    }

    /// The iterate, `dim` long.
    #[must_use]
    pub fn params<'m, T>(&self, memory: &'m [T]) -> &'m [T] {
        &memory[..memory.len() / 5]
    }

    /// The direction v, `dim` long.
    #[must_use]
    pub fn direction<'m, T>(&self, memory: &'m [T]) -> &'m [T] {
        let dim = memory.len() / 5;
        &memory[2 * dim..3 * dim]
    }

    /// As [`tell`](Self::tell), in answer to `Fresh`, together with the exact derivatives of the same minibatch at the same
    /// point along [`direction`](Self::direction): vᵀHv, ‖Hv‖² and vᵀ∇³f_S[v, v].
    ///
    /// # Errors
    /// As there, and `Param` when something else was asked for.
    pub fn tell_exact<T: Real>(
        &self,
        run: &mut AnyModelRun,
        memory: &mut [T],
        gradient: &[T],
        second: f64,
        product_norm_sq: f64,
        third: f64,
    ) -> Result<()> {
        let dim = gradient.len();
        exact_len("memory", Self::memory_len(dim), memory.len())?;
        all_finite("gradient", gradient)?;
        if run.stage != Stage::Here {
            return Err(Error::Param { what: "stage" });
        }
        let (w, rest) = memory.split_at_mut(dim);
        let (point, rest) = rest.split_at_mut(dim);
        let (v, rest) = rest.split_at_mut(dim);
        rest[..dim].copy_from_slice(gradient);
        let model = StepModel { slope: -2.0 * second, curvature: 2.0 * product_norm_sq + 2.0 * third };
        self.choose(run, model, w, point, v);
        Ok(())
    }

    /// α from the Newton step, and the point to look at next.
    fn choose<T: Real>(&self, run: &mut AnyModelRun, model: StepModel, w: &[T], point: &mut [T], v: &[T]) {
        match model.bounded(self.beta, &mut run.delta) {
            Some((alpha, _)) => {
                run.alpha = alpha;
                run.skipped = 0;
                place(point, w, v, -alpha);
                run.stage = Stage::Moved;
            }
            None => {
                run.skipped += 1;
                point.copy_from_slice(w);
                run.stage = if run.skipped >= self.patience { Stage::Full } else { Stage::Here };
            }
        }
    }

    /// Takes the gradient that [`next`](Self::next) asked for. O(dim).
    ///
    /// # Errors
    /// `Length`, `NonFinite`, `Overflow`; nothing has then changed.
    pub fn tell<T: Real>(&self, run: &mut AnyModelRun, memory: &mut [T], gradient: &[T]) -> Result<()> {
        let dim = gradient.len();
        exact_len("memory", Self::memory_len(dim), memory.len())?;
        all_finite("gradient", gradient)?;
        let norm = norm_sq(gradient);
        if !fits(norm, limit::<T>()) {
            return Err(Error::Overflow { what: "gradient" });
        }
        let (w, rest) = memory.split_at_mut(dim);
        let (point, rest) = rest.split_at_mut(dim);
        let (v, rest) = rest.split_at_mut(dim);
        let (here, ahead) = rest.split_at_mut(dim);
        match run.stage {
            Stage::Full => {
                v.copy_from_slice(gradient);
                run.norm_sq = norm;
                run.start_norm_sq = norm;
                run.outer += 1;
                run.skipped = 0;
                if norm > 0.0 {
                    run.stage = Stage::Here;
                }
            }
            Stage::Here => {
                here.copy_from_slice(gradient);
                place(point, w, v, self.reach(run));
                run.stage = Stage::Ahead;
            }
            Stage::Ahead => {
                ahead.copy_from_slice(gradient);
                place(point, w, v, -self.reach(run));
                run.stage = Stage::Behind;
            }
            Stage::Behind => {
                let model = self.differences(run, v, here, ahead, gradient);
                self.choose(run, model, w, point, v);
            }
            Stage::Moved => {
                w.copy_from_slice(point);
                for ((v, &new), &old) in v.iter_mut().zip(gradient).zip(here.iter()) {
                    *v += new - old;
                }
                run.norm_sq = norm_sq(v);
                run.steps += 1;
                run.stage = if run.norm_sq < self.stop * run.start_norm_sq { Stage::Full } else { Stage::Here };
            }
        }
        Ok(())
    }

    /// h of the differences.
    fn reach(&self, run: &AnyModelRun) -> f64 {
        let length = Real::sqrt(run.norm_sq);
        if length > 0.0 { self.probe / length } else { 0.0 }
    }

    fn differences<T: Real>(&self, run: &AnyModelRun, v: &[T], here: &[T], ahead: &[T], behind: &[T]) -> StepModel {
        let h = self.reach(run);
        let along = (dot(v, ahead).f64() - dot(v, behind).f64()) / (2.0 * h);
        let bend = (dot(v, ahead).f64() - 2.0 * dot(v, here).f64() + dot(v, behind).f64()) / (h * h);
        let mut squared = 0.0;
        for (&p, &m) in ahead.iter().zip(behind) {
            let d = p.f64() - m.f64();
            squared += d * d;
        }
        squared /= 4.0 * h * h;
        StepModel { slope: -2.0 * along, curvature: 2.0 * squared + 2.0 * bend }
    }
}

/// point = w + h v.
fn place<T: Real>(point: &mut [T], w: &[T], v: &[T], h: f64) {
    let h = T::of(h);
    for ((point, &w), &v) in point.iter_mut().zip(w).zip(v) {
        *point = w + h * v;
    }
}
