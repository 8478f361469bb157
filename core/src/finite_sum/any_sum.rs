//! Every algorithm of the family by value.

use super::run::{Event, Memory, Run, View};
use super::{AdamSum, AiSarah, BoundedAiSarah, FiniteSum, Glm, MomentumSum, Sarah, Svrg, TheoreticalAiSarah, momentum};
use crate::error::{Error, Result};
use crate::{Need, Real};

/// One algorithm of the family.
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

macro_rules! each {
    ($any:expr, $a:ident => $body:expr) => {
        match $any {
            AnySum::AiSarah($a) => $body,
            AnySum::Theoretical($a) => $body,
            AnySum::Bounded($a) => $body,
            AnySum::Sarah($a) => $body,
            AnySum::Svrg($a) => $body,
            AnySum::Momentum($a) => $body,
            AnySum::Adam($a) => $body,
        }
    };
}

impl AnySum {
    /// Whether the counts of restored memory can be of a run on this sum: every example there. O(n + dim).
    ///
    /// # Errors
    /// `Length`, `Index`.
    pub fn check<T: Real>(&self, glm: &Glm<'_, T>, run: &Run, memory: View<'_, T>) -> Result<()> {
        memory.check(self.need(glm)?)?;
        let n = glm.len();
        check_order(&memory.u32[..n])?;
        match self {
            Self::Momentum(_) if !momentum::sound(run, &memory.u32[n..]) => {
                Err(Error::Index { what: "memory.u32", at: n, len: n })
            }
            _ => Ok(()),
        }
    }
}

/// Whether restored numbers are of examples: below their count.
pub(super) fn check_order(order: &[u32]) -> Result<()> {
    let n = order.len();
    match order.iter().position(|&i| i as usize >= n) {
        Some(at) => Err(Error::Index { what: "memory.u32", at, len: n }),
        None => Ok(()),
    }
}

impl<T: Real> FiniteSum<T> for AnySum {
    fn need(&self, glm: &Glm<'_, T>) -> Result<Need> {
        each!(self, a => a.need(glm))
    }
    fn start(&self, glm: &Glm<'_, T>, w0: &[T], seed: u64, memory: &mut Memory<'_, T>) -> Result<Run> {
        each!(self, a => a.start(glm, w0, seed, memory))
    }
    fn step(&self, glm: &Glm<'_, T>, run: &mut Run, memory: &mut Memory<'_, T>) -> Result<Event> {
        each!(self, a => a.step(glm, run, memory))
    }
    fn minibatch<'m>(&self, glm: &Glm<'_, T>, run: &Run, memory: View<'m, T>) -> &'m [u32] {
        each!(self, a => a.minibatch(glm, run, memory))
    }
    fn params(&self, glm: &Glm<'_, T>, run: &Run, memory: View<'_, T>, out: &mut [T]) -> Result<()> {
        each!(self, a => a.params(glm, run, memory, out))
    }
}
