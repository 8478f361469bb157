//! Every algorithm of the family by value.

use super::adam::AdamSum;
use super::ai_sarah::AiSarah;
use super::algorithm::{FiniteSum, Oracle};
use super::bounded_ai_sarah::BoundedAiSarah;
use super::momentum::MomentumSum;
use super::run::{Event, Memory, Run, View};
use super::sarah::Sarah;
use super::svrg::Svrg;
use super::theoretical_ai_sarah::TheoreticalAiSarah;
use crate::error::Result;
use crate::{Need, Real};

/// One algorithm of the family.
///
/// ```
/// use undercurve::finite_sum::{AiSarah, AnySum, FiniteSum, Sarah};
///
/// let choice = |name: &str| match name {
///     "ai-sarah" => Ok(AnySum::AiSarah(AiSarah::default())),
///     _ => Sarah::new(32, 0.1, 100).map(AnySum::Sarah),
/// };
/// assert_eq!(FiniteSum::<f64>::batch(&choice("ai-sarah")?), 64);
/// assert_eq!(FiniteSum::<f64>::batch(&choice("sarah")?), 32);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnySum {
    /// AI-SARAH.
    AiSarah(AiSarah),
    /// Theoretical-AI-SARAH.
    Theoretical(TheoreticalAiSarah),
    /// AI-SARAH with fixed bounds of the step size.
    Bounded(BoundedAiSarah),
    /// SARAH and SARAH+.
    Sarah(Sarah),
    /// SVRG.
    Svrg(Svrg),
    /// Stochastic gradient descent with momentum.
    Momentum(MomentumSum),
    /// Adam.
    Adam(AdamSum),
}

impl AnySum {
    /// The algorithm.
    #[must_use]
    pub fn get<T: Real>(&self) -> &dyn FiniteSum<T> {
        match self {
            Self::AiSarah(a) => a,
            Self::Theoretical(a) => a,
            Self::Bounded(a) => a,
            Self::Sarah(a) => a,
            Self::Svrg(a) => a,
            Self::Momentum(a) => a,
            Self::Adam(a) => a,
        }
    }
}

impl<T: Real> FiniteSum<T> for AnySum {
    fn batch(&self) -> usize {
        self.get::<T>().batch()
    }
    fn need(&self, oracle: &dyn Oracle<T>) -> Result<Need> {
        self.get().need(oracle)
    }
    fn start(&self, oracle: &dyn Oracle<T>, w0: &[T], seed: u64, memory: &mut Memory<'_, T>) -> Result<Run> {
        self.get().start(oracle, w0, seed, memory)
    }
    fn step(&self, oracle: &dyn Oracle<T>, run: &mut Run, memory: &mut Memory<'_, T>) -> Result<Event> {
        self.get().step(oracle, run, memory)
    }
    fn minibatch<'m>(&self, oracle: &dyn Oracle<T>, run: &Run, memory: View<'m, T>) -> &'m [u32] {
        self.get().minibatch(oracle, run, memory)
    }
    fn params(&self, oracle: &dyn Oracle<T>, run: &Run, memory: View<'_, T>, out: &mut [T]) -> Result<()> {
        self.get().params(oracle, run, memory, out)
    }
    fn check(&self, oracle: &dyn Oracle<T>, run: &Run, memory: View<'_, T>) -> Result<()> {
        self.get().check(oracle, run, memory)
    }
}
