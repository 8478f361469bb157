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
//! Finite sums, whose steps need the sum itself and not only a gradient, stand beside the wall ([`finite_sum`]).
//!
//! Functions over slices say with a [`Need`] how much memory they work in and take it as a [`Scratch`]; after an
//! [`enum@Error`] nothing the caller lent has changed. [`host`] joins a sampler, a model, an estimator and an algorithm on
//! lent memory. With the feature `alloc`, a `Trainer` owns all of it:
//!
#![cfg_attr(feature = "std", doc = "```no_run")]
#![cfg_attr(not(feature = "std"), doc = "```ignore")]
#![doc = include_str!("guide/from_a_file.rs")]
//! ```
//!
//! | I have | I want | use |
//! |---|---|---|
//! | a file | a model, and scores of other files | [`data::prepare`](fn@data::prepare), [`Trainer`](trainer::Trainer), [`Predictor`](trainer::Predictor), as above |
//! | arrays | a model | [`Dataset::dense`](data::Dataset::dense), [`Dataset::csr`](data::Dataset::csr), [`Trainer`](trainer::Trainer) |
//! | a network in another library | the gradient of an AUC by its scores | [`estimator`] for batches, [`pairs`] for whole data; back-propagate it there |
//! | a model of my own | training here | [`model::Model`], [`host`] or [`Trainer::with_run`](trainer::Trainer::with_run) |
//! | a saved run | to go on | [`Trainer::load`](trainer::Trainer::load) |
//! | validation rows | the best step of a run | [`Best`](trainer::Best), [`Watch`](trainer::Watch) |
//! | groups of rows | what holds of them | [`Config::constraints`](trainer::Config), [`expression`], [`judge`] |
//! | scores and labels | exact metrics, intervals, gaps | [`metric`], [`Metrics`](metric::Metrics), [`Cells`](metric::Cells) |
//! | a finite sum of smooth functions | its minimum without a step size | [`finite_sum`] |
//! | no allocator | any of it over slices | [`host`], [`Scratch`], `examples/no_allocator.rs` |
//!
//! Every estimator, algorithm, sampler, model and metric has an example on its page. Whole programs are in the folder
//! `core/examples` (`cargo run -p undercurve --example NAME`): `from_a_file`, the above; `no_allocator`, a [`host`] on arrays;
//! `own_model`, a [`Model`](model::Model) of one's own in a [`Trainer`](trainer::Trainer); `own_surrogate`, a
//! [`Surrogate`](surrogate::Surrogate) of one's own.
//!
//! The [`guide`] tells which method to use, and has pages on imbalanced data, groups, your own model, JavaScript, deploying, the same
//! bits, results and limits, and a glossary.
//!
//! Features: `std` (default: gzip input; implies the next two), `alloc` (reading data, the `Trainer`, saved runs),
//! `every-method` (exact objectives and finite sums by name, too), `multiclass` (more than two classes; implies
//! `alloc`), `rayon` (whole data on the threads of the caller's
//! pool, the same bits; implies `std`), `simd` (on x86-64, AVX2 where the CPU has it, the same bits; implies `std`),
//! `compact` (smaller code, the same bits).
#![no_std]
#![forbid(unsafe_code)]
// Builds of fewer methods leave parts of the others unused; the build with everything says what nobody uses.
#![cfg_attr(
    not(all(feature = "alloc", feature = "every-method", feature = "multiclass", not(feature = "compact"))),
    allow(dead_code, irrefutable_let_patterns, unused_imports)
)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod algorithm;
pub mod batch;
#[cfg(feature = "alloc")]
pub mod checkpoint;
pub mod constraint;
pub mod data;
mod decimal;
pub mod decision;
pub mod device;
mod error;
pub mod estimator;
mod example_loss;
#[cfg(feature = "alloc")]
pub mod expression;
mod features;
pub mod finite_sum;
#[cfg(any(doc, all(doctest, feature = "std")))]
pub mod guide;
pub mod host;
#[cfg(feature = "alloc")]
pub mod judge;
pub mod metric;
pub mod model;
pub mod outer;
pub mod pairs;
mod parts;
mod real;
pub mod registry;
pub mod rng;
pub mod sampler;
mod scratch;
mod simd;
mod sort;
pub mod surrogate;
#[cfg(feature = "alloc")]
pub mod trainer;

pub use error::{Error, Result};
pub use real::Real;
pub use scratch::{Need, Scratch};
pub use simd::uses_avx2;
