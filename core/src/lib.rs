//! Training models for the area under the curve.
//!
//! `undercurve` is a numeric core: surrogates, exact metrics, estimators of AUC-type objectives and the step rules
//! that minimise them, over slices that the caller owns. It needs neither `std` nor an allocator, contains no
//! `unsafe`, and gives the same bits on every CPU target.
//!
//! The crate is one house with a wall in the middle:
//!
//! ```text
//! data ─► sampler ─► model.forward ─► scores ─► estimator ─► score gradient ─► model.backward ─► gradient ─► algorithm ─► params
//!                                         └► metric (exact)
//! ```
//!
//! Left of the parameters everything is *score space* ([`estimator`], [`pairs`], [`surrogate`], [`metric`]): scores in,
//! the derivative of the objective by each score out. Right of it is *parameter space* ([`algorithm`]). Any model that
//! can propagate a score gradient back fits between them; [`model`] has a linear one and a multilayer perceptron.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod algorithm;
pub mod batch;
#[cfg(feature = "serde")]
pub mod checkpoint;
pub mod data;
mod decimal;
mod error;
pub mod estimator;
pub mod finite_sum;
pub mod metric;
pub mod model;
pub mod pairs;
mod real;
pub mod registry;
pub mod rng;
pub mod sampler;
mod scratch;
mod sort;
pub mod surrogate;
#[cfg(feature = "alloc")]
pub mod trainer;

pub use error::{Error, Result};
pub use real::Real;
pub use scratch::{Need, Scratch};
