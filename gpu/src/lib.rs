//! WGSL kernels for pairwise losses and metrics through wgpu, natively and in the browser. [`GpuExact`] sorts whole data once,
//! for metrics and exact gradients; [`GpuObjective`] evaluates exact objectives of linear models with it; [`DeviceRuns`] makes whole
//! training steps of many runs at once, and a [`MultiTrainer`] drives trainers by them.
//!
//! ```no_run
//! use undercurve::surrogate::AnySurrogate;
//! use undercurve_gpu::{Context, GpuExact};
//!
//! let context = Context::new()?; // or Context::named("llvmpipe"), Context::lent(device, queue)
//! let mut exact = GpuExact::new(&context, 1_000_000)?;
//! let (scores, labels) = ([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]);
//! assert_eq!(exact.metrics(&scores, &labels)?.counts.auroc(), 0.75);
//! let mut gradient = [0.0; 4];
//! let value = exact.auc(AnySurrogate::by_name("squared-hinge", 1.0)?, &scores, &labels, &mut gradient)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Trainer`](undercurve::trainer::Trainer), or many of them, train on it by a [`MultiTrainer`]; one of an exact method by a [`GpuObjective`].
//!
//! On the web the functions named `*_async` are to be used; the blocking ones do not exist there.
//!
//! Promises: the order of every sum depends on the lengths only, so one device and driver gives the same bits from run
//! to run; different devices round differently (fused multiply-add, their own exp). Everything is f32. Inputs that are
//! not finite, or whose sums might not fit f32, are refused before anything is computed. A device that is lost or stops
//! answering is [`GpuError::Lost`], from then on. Software adapters are taken only when they are asked for by name.
//!
//! **Not supported:** f64; exact sums of other losses than hinge, squared hinge, sigmoid and logistic, or of more than 2²⁴
//! rows; exact objectives of networks; keeping u, model or step rule on the device but for whole steps (otherwise scores or parameters go up
//! and gradients come back each call); OpenGL adapters.
#![forbid(unsafe_code)]

mod context;
mod device_runs;
mod error;
mod exact;
#[doc(hidden)] // for the tests
pub mod kernel;
#[cfg(not(target_arch = "wasm32"))]
mod multi_trainer;

pub use context::{Context, Given};
pub use device_runs::{DeviceRuns, IDLE, MAX_RUNS};
pub use error::GpuError;
pub use exact::objective::GpuObjective;
pub use exact::{ExactMetrics, GpuExact};
#[cfg(not(target_arch = "wasm32"))]
pub use multi_trainer::MultiTrainer;
pub use wgpu;
