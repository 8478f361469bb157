//! SARAH and SARAH+, the recursion with a constant step size.
//!
//! Nguyen et al. 2017, "SARAH: A Novel Method for Machine Learning Problems Using Stochastic Recursive Gradient". Outer
//! loop: v₀ = ∇P(w₀); then, on minibatches S, w⁺ = w − αv and v⁺ = ∇f_S(w⁺) − ∇f_S(w) + v. SARAH ends the loop after
//! `inner` steps; SARAH+ as soon as ‖v‖² < γ‖v₀‖² (and after `inner` steps, where given).
//!
//! Deviation: the next outer loop starts from the last iterate, not from one drawn at random.
//!
//! Cost and memory are those of AI-SARAH, less the products for the step size.

use super::recursive::{Updates, Vectors, need_on};
use super::run::{Event, Memory, Run, View};
use super::{FiniteSum, Glm, draw, fraction, positive};
use crate::error::{Error, Result, exact_len};
use crate::registry::entry::{Entry, Kind, Source};
use crate::registry::params::{ALPHA, INNER, LAMBDA, LOSS, STOP, SUM_BATCH, SUM_PASSES};
use crate::registry::settings::Settings;
use crate::{Need, Real};

/// Configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sarah {
    pub(super) batch: usize,
    pub(super) alpha: f64,
    pub(super) inner: u64,
    pub(super) stop: f64,
    updates: Updates,
}

impl Sarah {
    /// SARAH: minibatch size, step size > 0, steps of an inner loop, all ≥ 1.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(batch: usize, alpha: f64, inner: u64) -> Result<Self> {
        positive("batch", batch as f64)?;
        if inner == 0 {
            return Err(Error::Param { what: "inner" });
        }
        Ok(Self { batch, alpha: positive("alpha", alpha)?, inner, stop: 0.0, updates: Updates::Auto })
    }

    /// SARAH+: minibatch size, step size, and the stop γ in (0, 1).
    ///
    /// # Errors
    /// `Param`.
    pub fn plus(batch: usize, alpha: f64, stop: f64) -> Result<Self> {
        positive("stop", fraction("stop", stop)?)?;
        Ok(Self { stop, ..Self::new(batch, alpha, u64::MAX)? })
    }

    /// With a bound on the steps of an inner loop (≥ 1).
    #[must_use]
    pub fn with_inner(self, inner: u64) -> Self {
        Self { inner: inner.max(1), ..self }
    }

    /// With a fixed way of writing the vectors.
    #[must_use]
    pub fn with_updates(self, updates: Updates) -> Self {
        Self { updates, ..self }
    }
}

impl<T: Real> FiniteSum<T> for Sarah {
    fn need(&self, glm: &Glm<'_, T>) -> Result<Need> {
        need_on(glm, self.batch)
    }

    fn start(&self, glm: &Glm<'_, T>, w0: &[T], seed: u64, memory: &mut Memory<'_, T>) -> Result<Run> {
        Vectors::begin(glm, self.batch, w0, seed, memory)
    }

    fn step(&self, glm: &Glm<'_, T>, run: &mut Run, memory: &mut Memory<'_, T>) -> Result<Event> {
        memory.check(self.need(glm)?)?;
        let mut vectors = Vectors::split(memory, glm, self.batch);
        if let Some(event) = vectors.open(glm, run)? {
            return Ok(event);
        }
        vectors.settle(run);
        let before = run.clone();
        vectors.draw(run);
        vectors.probe(glm, run);
        vectors.advance_or_undo(glm, run, before, self.alpha, self.updates)?;
        run.count(self.batch, 2);
        run.alpha = self.alpha;
        if run.inner >= self.inner || run.norm_sq < self.stop * run.start_norm_sq {
            run.phase = 0;
        }
        Ok(Event::Step { alpha: self.alpha })
    }

    fn minibatch<'m>(&self, _: &Glm<'_, T>, run: &Run, memory: View<'m, T>) -> &'m [u32] {
        draw::drawn(memory.u32, run.steps, self.batch)
    }

    fn params(&self, glm: &Glm<'_, T>, run: &Run, memory: View<'_, T>, out: &mut [T]) -> Result<()> {
        memory.check(FiniteSum::<T>::need(self, glm)?)?;
        exact_len("out", glm.dim(), out.len())?;
        Vectors::params(glm, memory.real, run, out);
        Ok(())
    }
}

impl Sarah {
    /// Of settings, for `n` examples, each at most `smooth`-smooth.
    pub(crate) fn from_settings(settings: &Settings<'_>, n: usize, smooth: f64) -> Result<Self> {
        let batch = super::batch(settings, n)?;
        Self::new(batch, super::step_size(settings, "alpha", 1.0, smooth)?, super::inner(settings, n, batch)?)
    }
    /// SARAH+, of settings.
    pub(crate) fn plus_from_settings(settings: &Settings<'_>, n: usize, smooth: f64) -> Result<Self> {
        Self::plus(
            super::batch(settings, n)?,
            super::step_size(settings, "alpha", 1.0, smooth)?,
            settings.value("stop"),
        )
    }
}

const SARAH_PAPER: &str = "Nguyen, Liu, Scheinberg, Takac 2017, SARAH: A Novel Method for Machine Learning Problems Using Stochastic Recursive Gradient";

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "sarah",
    title: "SARAH",
    about: "Minimises a finite sum by recursive gradients with a constant step size.",
    kind: Kind::FiniteSum,
    params: &[SUM_PASSES, LOSS, LAMBDA, SUM_BATCH, ALPHA, INNER],
    paper: &[],
    source: Source { paper: SARAH_PAPER, part: "algorithm 1" },
    files: &["core/src/finite_sum/sarah.rs", "core/src/finite_sum/recursive.rs"],
};

/// Its entry in the table of methods.
pub(crate) const PLUS: Entry = Entry {
    name: "sarah+",
    title: "SARAH+",
    about: "Minimises a finite sum by SARAH with inner loops that end by themselves.",
    kind: Kind::FiniteSum,
    params: &[SUM_PASSES, LOSS, LAMBDA, SUM_BATCH, ALPHA, STOP],
    paper: &[],
    source: Source { paper: SARAH_PAPER, part: "algorithm 2" },
    files: &["core/src/finite_sum/sarah.rs", "core/src/finite_sum/recursive.rs"],
};
