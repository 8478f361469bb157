//! SARAH and SARAH+, the recursion with a constant step size.
//!
//! Nguyen et al. 2017, "SARAH: A Novel Method for Machine Learning Problems Using Stochastic Recursive Gradient". Outer
//! loop: v₀ = ∇P(w₀); then, on minibatches S, w⁺ = w − αv and v⁺ = ∇f_S(w⁺) − ∇f_S(w) + v. SARAH ends the loop after
//! `inner` steps; SARAH+ as soon as ‖v‖² < γ‖v₀‖² (and after `inner` steps, where given).
//!
//! Deviation: the next outer loop starts from the last iterate, not from one drawn at random.
//!
//! Cost and memory are those of AI-SARAH, less the products for the step size.

use super::algorithm::{FiniteSum, Oracle, check_step};
use super::recursive::{self, Recursion, Updates};
use super::run::{Event, Memory, Run};
use super::settings::{batch, fraction, inner, positive, step_size};
use crate::Real;
use crate::error::{Error, Result};
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::params::{ALPHA, INNER, LAMBDA, LOSS, STOP, SUM_BATCH, SUM_PASSES};
use crate::registry::settings::Settings;

/// Configuration.
///
/// ```
/// use undercurve::data::Rows;
/// use undercurve::finite_sum::{FiniteSum, Glm, GlmLoss, Memory, Response, Sarah};
///
/// let (x, y) = ([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 5.0]);
/// let sum = Glm::new(Rows::dense(&x, 1)?, Response::Values(&y), GlmLoss::LeastSquares, 0.0, false)?;
/// let algorithm = Sarah::new(2, 0.02, 10)?; // minibatches of 2, steps of 0.02, 10 of them from each full gradient
/// let need = algorithm.need(&sum)?;
/// let (mut real, mut u32s) = (vec![0.0; need.real], vec![0; need.u32]);
/// let memory = &mut Memory { real: &mut real, u32: &mut u32s, scratch: &mut [] };
/// let mut run = algorithm.start(&sum, &[0.0], 1, memory)?;
/// for _ in 0..2000 {
///     algorithm.step(&sum, &mut run, memory)?;
/// }
/// let mut w = [0.0f64];
/// algorithm.params(&sum, &run, memory.view(), &mut w)?;
/// assert!((w[0] - 1.1).abs() < 1e-6); // Σxy/Σx² = 33/30
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sarah {
    batch: usize,
    alpha: f64,
    inner: u64,
    stop: f64,
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
    fn batch(&self) -> usize {
        self.batch
    }

    fn step(&self, oracle: &dyn Oracle<T>, run: &mut Run, memory: &mut Memory<'_, T>) -> Result<Event> {
        check_step(oracle, self.need(oracle), memory)?;
        if let Some(event) = recursive::open(oracle, run, memory)? {
            return Ok(event);
        }
        oracle.settle(run, memory);
        run.on_subset(oracle.len(), memory, |run, memory| {
            oracle.probe(run, memory)?;
            Recursion::advance(oracle, run, memory, self.alpha, 1.0, self.updates)?;
            run.count(self.batch, 2);
            let ends = |run: &Run| run.inner >= self.inner || run.norm_sq < self.stop * run.start_norm_sq;
            Ok(run.end_inner(self.alpha, ends))
        })
    }
}

impl Sarah {
    /// Of settings, for `n` examples, each at most `smooth`-smooth.
    pub(crate) fn from_settings(settings: &Settings<'_>, n: usize, smooth: f64) -> Result<Self> {
        let batch = batch(settings, n)?;
        Self::new(batch, step_size(settings, "alpha", 1.0, smooth)?, inner(settings, n, batch)?)
    }
    /// SARAH+, of settings.
    pub(crate) fn plus_from_settings(settings: &Settings<'_>, n: usize, smooth: f64) -> Result<Self> {
        Self::plus(batch(settings, n)?, step_size(settings, "alpha", 1.0, smooth)?, settings.value("stop"))
    }
}

const SARAH_PAPER: &str = "Nguyen, Liu, Scheinberg, Takac 2017, SARAH: A Novel Method for Machine Learning Problems Using Stochastic Recursive Gradient";

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "sarah",
    title: "SARAH",
    about: "Minimises a finite sum by recursive gradients with a constant step size.",
    kind: Kind::FiniteSum,
    metric: Metric::Auroc,
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
    metric: Metric::Auroc,
    params: &[SUM_PASSES, LOSS, LAMBDA, SUM_BATCH, ALPHA, STOP],
    paper: &[],
    source: Source { paper: SARAH_PAPER, part: "algorithm 2" },
    files: &["core/src/finite_sum/sarah.rs", "core/src/finite_sum/recursive.rs"],
};
