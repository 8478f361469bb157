//! SVRG, the stochastic variance-reduced gradient.
//!
//! Johnson and Zhang 2013, "Accelerating Stochastic Gradient Descent using Predictive Variance Reduction". Outer loop:
//! anchor w̃, μ = ∇P(w̃); then `inner` times, on minibatches S, w ← w − α(∇f_S(w) − ∇f_S(w̃) + μ). The last iterate is the
//! next anchor.
//!
//! Cost of a step: O(values of the minibatch) on sparse rows of a linear model (see `anchored.rs`), O(b·dim) on dense ones,
//! elsewhere two gradients of the minibatch. Memory: 4 vectors of length dim, n indices, 2 numbers per example of the
//! minibatch.

use super::algorithm::{FiniteSum, Oracle, check_batch, check_out, check_step};
use super::anchored::Anchored;
use super::run::{Event, Memory, Run, View};
use super::settings::{batch, inner, positive, step_size};
use crate::error::{Error, Result};
use crate::registry::entry::{Entry, Kind, Metric, Source};
use crate::registry::params::{ALPHA, INNER, LAMBDA, LOSS, SUM_BATCH, SUM_PASSES};
use crate::registry::settings::Settings;
use crate::{Need, Real};

/// Configuration.
///
/// ```
/// use undercurve::data::Rows;
/// use undercurve::finite_sum::{FiniteSum, Glm, GlmLoss, Memory, Response, Svrg};
///
/// let (x, y) = ([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 5.0]);
/// let sum = Glm::new(Rows::dense(&x, 1)?, Response::Values(&y), GlmLoss::LeastSquares, 0.0, false)?;
/// let algorithm = Svrg::new(2, 0.02, 10)?; // minibatches of 2, steps of 0.02, 10 of them from each full gradient
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
pub struct Svrg {
    batch: usize,
    alpha: f64,
    inner: u64,
}

impl Svrg {
    /// Minibatch size, step size > 0, steps of an inner loop, all ≥ 1.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(batch: usize, alpha: f64, inner: u64) -> Result<Self> {
        positive("batch", batch as f64)?;
        if inner == 0 {
            return Err(Error::Param { what: "inner" });
        }
        Ok(Self { batch, alpha: positive("alpha", alpha)?, inner })
    }
}

impl<T: Real> FiniteSum<T> for Svrg {
    fn batch(&self) -> usize {
        self.batch
    }

    fn need(&self, oracle: &dyn Oracle<T>) -> Result<Need> {
        check_batch(oracle, self.batch)?;
        Ok(Anchored::need(oracle, self.batch))
    }

    fn start(&self, oracle: &dyn Oracle<T>, w0: &[T], seed: u64, memory: &mut Memory<'_, T>) -> Result<Run> {
        Run::begin(oracle, self.need(oracle)?, w0, seed, memory)
    }

    fn step(&self, oracle: &dyn Oracle<T>, run: &mut Run, memory: &mut Memory<'_, T>) -> Result<Event> {
        check_step(oracle, self.need(oracle), memory)?;
        if run.phase == 0 {
            let done = Anchored::full_gradient(oracle, run, memory)?;
            return Ok(run.opened(done));
        }
        run.on_subset(oracle.len(), memory, |run, memory| {
            Anchored::advance(oracle, run, memory, self.alpha)?;
            run.count(self.batch, 2);
            Ok(run.end_inner(self.alpha, |run| run.inner >= self.inner))
        })
    }

    fn params(&self, oracle: &dyn Oracle<T>, run: &Run, memory: View<'_, T>, out: &mut [T]) -> Result<()> {
        check_out(oracle, self.need(oracle), memory, out)?;
        Anchored::params(oracle, run, memory, out);
        Ok(())
    }
}

impl Svrg {
    /// Of settings, for `n` examples, each at most `smooth`-smooth.
    pub(crate) fn from_settings(settings: &Settings<'_>, n: usize, smooth: f64) -> Result<Self> {
        let batch = batch(settings, n)?;
        Self::new(batch, step_size(settings, "alpha", 1.0, smooth)?, inner(settings, n, batch)?)
    }
}

/// Its entry in the table of methods.
pub(crate) const ENTRY: Entry = Entry {
    name: "svrg",
    title: "SVRG",
    about: "Minimises a finite sum by gradients whose variance an anchor reduces.",
    kind: Kind::FiniteSum,
    metric: Metric::Auroc,
    params: &[SUM_PASSES, LOSS, LAMBDA, SUM_BATCH, ALPHA, INNER],
    paper: &[],
    source: Source {
        paper: "Johnson, Zhang 2013, Accelerating Stochastic Gradient Descent using Predictive Variance Reduction",
        part: "procedure SVRG, option I",
    },
    files: &["core/src/finite_sum/svrg.rs", "core/src/finite_sum/anchored.rs"],
};
