//! What comes before a method's own steps.

use crate::algorithm::{Algorithm, AnyAlgorithm, Sgd};
use crate::estimator::{AnyEstimator, CrossEntropy, Estimator};
use crate::real::Real;
use crate::sampler::{AnySampler, Sampler, Whole};

/// Steps on another objective before the method's own, usually cross-entropy.
#[derive(Clone, Copy, Debug)]
pub struct Pretraining<E = AnyEstimator, A = AnyAlgorithm, S = AnySampler> {
    /// Number of steps.
    pub steps: u64,
    /// The objective, without auxiliaries.
    pub estimator: E,
    /// The step rule.
    pub algorithm: A,
    /// Where its batches come from.
    pub sampler: S,
    /// Whether the last layer starts again after them.
    pub restart: bool,
    /// Weight of half the squared distance to where they start in what they minimise.
    pub pull: f64,
}

/// Nothing before the method's own steps; a program with it holds no code for more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoPretraining;

/// What comes before a method's own steps: [`NoPretraining`], a [`Pretraining`], or an `Option` of one, for choices made at run
/// time.
pub trait Before {
    /// The objective.
    type Estimator;
    /// The step rule.
    type Algorithm;
    /// Where batches come from.
    type Sampler;
    /// The steps, if there are any.
    fn get(&self) -> Option<&Pretraining<Self::Estimator, Self::Algorithm, Self::Sampler>>;
}

/// The same in a number type; whatever is [`Before`] and has parts for that type is it.
pub trait BeforeIn<T: Real>: Before<Estimator: Estimator<T>, Algorithm: Algorithm<T>, Sampler: Sampler> {}

impl<T: Real, P: Before<Estimator: Estimator<T>, Algorithm: Algorithm<T>, Sampler: Sampler>> BeforeIn<T> for P {}

impl Before for NoPretraining {
    // (Never made. What could be is left out when compiled.)
    type Estimator = CrossEntropy;
    type Algorithm = Sgd;
    type Sampler = Whole;

    #[inline(always)]
    fn get(&self) -> Option<&Pretraining<CrossEntropy, Sgd, Whole>> {
        None
    }
}

impl<E, A, S> Before for Pretraining<E, A, S> {
    type Estimator = E;
    type Algorithm = A;
    type Sampler = S;

    #[inline]
    fn get(&self) -> Option<&Self> {
        Some(self)
    }
}

impl<E, A, S> Before for Option<Pretraining<E, A, S>> {
    type Estimator = E;
    type Algorithm = A;
    type Sampler = S;

    #[inline]
    fn get(&self) -> Option<&Pretraining<E, A, S>> {
        self.as_ref()
    }
}
