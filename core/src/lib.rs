//! Training classifiers that rank: for AUROC, average precision and partial AUC.
//!
//! `undercurve` has surrogate losses, exact metrics, estimators of AUC objectives, and the step rules that minimise them,
//! over slices that the caller owns. It needs neither `std` nor an allocator, contains no `unsafe`, and gives the same bits
//! on every processor. New users begin with the [guide](guide::start).
//!
//! A step goes from the data to the parameters:
//!
//! ```text
//! data ─► sampler ─► model.forward ─► scores ─► estimator ─► score gradient ─► model.backward ─► gradient ─► algorithm ─► params
//!                                         └► metric (exact)
//! ```
//!
//! An *estimator* works in score space: it takes scores and returns the derivative of the objective by each score
//! ([`estimator`], with [`pairs`], [`surrogate`] and [`metric`]). An *algorithm* works in parameter space: it takes a gradient
//! and moves the parameters ([`algorithm`]). Any model that can propagate a score gradient back fits between them; [`model`]
//! has a linear model and a multilayer perceptron. Finite sums ([`finite_sum`]) are apart, since their steps need the sum
//! itself.
//!
//! Functions over slices say with a [`Need`] how much working memory they use and take it as a [`Scratch`]. After an
//! [`enum@Error`] nothing of the caller's has changed. [`host`] joins a sampler, a model, an estimator and an algorithm on
//! lent memory. With the feature `alloc`, a `Trainer` owns all of this:
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
//! | a model of my own | to train it here | [`model::Model`], [`host`] or [`Trainer::with_run`](trainer::Trainer::with_run) |
//! | a saved run | to go on | [`Trainer::load`](trainer::Trainer::load) |
//! | validation rows | the best step of a run | [`Best`](trainer::Best), [`Watch`](trainer::Watch) |
//! | groups of rows | constraints, and whether they are met | [`Config::constraints`](trainer::Config), [`expression`], [`judge`] |
//! | scores and labels | exact metrics, intervals, gaps | [`metric`], [`Metrics`](metric::Metrics), [`Cells`](metric::Cells) |
//! | a finite sum of smooth functions | its minimum without a step size | [`finite_sum`] |
//! | no allocator | all of this over slices | [`host`], [`Scratch`], `examples/no_allocator.rs` |
//!
//! Every estimator, algorithm, sampler, model and metric has an example on its page. Whole programs are in the folder
//! `core/examples` (`cargo run -p undercurve --example NAME`): `from_a_file`, the above; `no_allocator`, a [`host`] on arrays;
//! `own_model`, a [`Model`](model::Model) of your own in a [`Trainer`](trainer::Trainer); `own_surrogate`, a
//! [`Surrogate`](surrogate::Surrogate) of your own.
//!
//! The [`guide`] has pages on the first steps, which method to use, your own model, imbalanced data, groups, deploying, the same bits,
//! results and limits, JavaScript, and a glossary.
//!
//! | feature | what it adds |
//! |---|---|
//! | `std` (default) | gzip input; implies `tables` and `every-method` |
//! | `alloc` | the `Trainer`, its data, saved runs |
//! | `tables` | reading data, the preparation of columns, model files; implies `alloc` |
//! | `every-method` | exact objectives, finite sums and the other large methods, by name |
//! | `multiclass` | more than two classes; implies `alloc` |
//! | `stream` | tables in parts, runs on rows that come and go, hashed categories; implies `std` |
//! | `distributed` | exact sums over rows that several workers hold (`pairs::distributed`); implies `alloc` |
//! | `rayon` | whole data on the threads of the caller's pool, with the same bits; implies `std` |
//! | `simd` | AVX2 on x86-64 where the processor has it, with the same bits; implies `std` |
//! | `zstd` | zstd input; implies `std` |
//! | `compact` | smaller and slower code, with the same bits |
//! | `exact-methods`, `range-methods`, `term-methods`, `group-methods`, `sum-methods`, `more-methods`, `weights` | parts of what `compact` leaves out |
#![no_std]
#![forbid(unsafe_code)]
// What wants a feature says so in the documentation.
#![cfg_attr(docsrs, feature(doc_cfg))]
// Builds of fewer methods leave parts of the others unused; the build with everything says what nobody uses.
#![cfg_attr(
    not(all(feature = "tables", feature = "every-method", feature = "multiclass", not(feature = "compact"))),
    allow(dead_code, irrefutable_let_patterns, unused_imports)
)]

// (The older unit of these processors rounds products and quotients twice, so no sum would have its bits.)
const _: () = assert!(
    cfg!(not(all(target_arch = "x86", not(target_feature = "sse2")))),
    "the same bits everywhere take SSE2 here: build for i686, or with -C target-feature=+sse2"
);

#[cfg(any(feature = "alloc", test))]
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
#[cfg(feature = "alloc")]
pub mod measure;
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
#[cfg(all(debug_assertions, feature = "std", not(test)))]
#[doc(hidden)]
pub mod shared;
mod simd;
mod slices;
mod sort;
pub mod surrogate;
#[cfg(feature = "alloc")]
pub mod trainer;

pub use error::{CODES, Error, Result};
pub use real::Real;
pub use scratch::{Need, Scratch};
pub use simd::uses_avx2;

/// The program of the package's own page.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct Readme;
