//! Minimising finite sums: AI-SARAH and its family, on generalised linear models, on networks, and on a host's own sums.
//!
//! An algorithm is resumable and works on memory that the caller owns. [`FiniteSum::need`] says how much, [`FiniteSum::start`] fills
//! it, each [`FiniteSum::step`] does one unit of work and says what it was, and [`FiniteSum::params`] reads the iterate. A unit is
//! one minibatch, or a part of a full gradient: well under a millisecond on linear models, 8 to 256 examples on networks.
//! Configuration, memory and [`Run`] are the whole state; saved and restored they continue with the same bits.
//!
//! An algorithm asks an [`Oracle`]: [`Glm`], [`NetworkSum`], or one of your own ([`oracle`] shows how). On sparse rows of a [`Glm`]
//! a step touches the columns of its minibatch alone ([`recursive`] says how); elsewhere vectors are dense. A network is not
//! convex, and derivatives do not see the kinks of a ReLU, so there AI-SARAH's steps can be too long and P may rise.
//!
//! Passes are counted in two ways, as integers of examples: [`Run::samples`] counts a full gradient as n and a minibatch
//! as b; [`Run::gradients`] counts every gradient of one example, so that a minibatch difference costs 2b.

pub(crate) mod adam;
pub(crate) mod ai_sarah;
mod algorithm;
mod anchored;
mod any_sum;
pub(crate) mod bounded_ai_sarah;
mod draw;
mod glm;
mod heavy_ball;
mod interleaved;
mod largest_eigenvalue;
#[cfg(feature = "alloc")]
mod lent;
pub(crate) mod momentum;
mod network;
pub mod oracle;
mod plain;
pub mod recursive;
mod run;
pub(crate) mod sarah;
mod settings;
pub(crate) mod svrg;
pub(crate) mod theoretical_ai_sarah;
mod vectors;
mod windows;

pub use crate::example_loss::{GLM_LOSSES, GlmLoss, Response};
pub use adam::AdamSum;
pub use ai_sarah::AiSarah;
pub use algorithm::{FiniteSum, Oracle};
pub use anchored::Anchored;
pub use any_sum::AnySum;
pub use bounded_ai_sarah::BoundedAiSarah;
pub use glm::Glm;
pub use heavy_ball::HeavyBall;
pub use largest_eigenvalue::{Eigenvalue, largest_eigenvalue, largest_eigenvalue_need};
#[cfg(feature = "alloc")]
pub use lent::{AsOracle, Lent, ModelSum, OverRows};
pub use momentum::MomentumSum;
pub use network::NetworkSum;
pub use oracle::{Bend, Examples, Gradients, gradient};
pub use recursive::{Recursion, Updates};
pub use run::{Event, Memory, Run, View};
pub use sarah::Sarah;
pub use settings::loss_of;
pub use svrg::Svrg;
pub use theoretical_ai_sarah::{Sampling, TheoreticalAiSarah};
