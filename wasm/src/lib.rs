//! WebAssembly bindings of undercurve.
//!
//! Inputs and outputs are typed arrays. Every error is an `UndercurveError` with a number and a message of one line. `wasm/js`
//! wraps this in sessions and a worker.
//!
//! The package has eleven modules, so that each page downloads little. The feature `train` makes the first, with mini-batch methods;
//! `whole`, `sums` and `groups` those that have methods of whole data, finite sums, and groups and several classes beside them;
//! `objective` the one with objectives of scores from elsewhere, `pairs` the one with exact sums and metrics of such, `exact` the same with weights of rows and exact objectives; `judge` the one with metrics by name
//! and comparisons, `decide` the one with thresholds; `files` the one that reads files and scores with saved models; `webgpu` the one with the GPU kernels. They share no memory; rows and saved
//! runs cross as arrays.

#![no_std]

extern crate alloc;
#[cfg(any(feature = "files", feature = "webgpu", not(target_arch = "wasm32")))]
extern crate std;

#[cfg(any(feature = "pairs", feature = "webgpu"))]
mod exact;
// What `undercurve export` writes: the command line's own files, which are a part of no library.
#[cfg(any(feature = "judge", feature = "decide"))]
mod decide;
#[cfg(feature = "files")]
#[path = "../../demo/src/export/mod.rs"]
mod export;
mod failure;
#[cfg(feature = "files")]
mod files;
#[cfg(feature = "more")]
mod groups;
#[cfg(feature = "judge")]
mod judge;
#[cfg(feature = "more")]
mod lane;
#[cfg(feature = "files")]
mod model;
#[cfg(any(feature = "exact", feature = "objective"))]
mod objective;
#[cfg(feature = "files")]
mod plane;
#[cfg(feature = "train")]
mod synthetic;
#[cfg(feature = "train")]
mod train;
#[cfg(feature = "webgpu")]
mod webgpu;
#[cfg(any(feature = "pairs", feature = "objective"))]
mod work;

#[cfg(feature = "decide")]
pub use decide::decide;
#[cfg(any(feature = "judge", feature = "decide"))]
pub use decide::first_positive;
#[cfg(feature = "pairs")]
pub use exact::Exact;
pub use failure::Failure;
#[cfg(feature = "files")]
pub use files::{Prepared, Table};
#[cfg(feature = "judge")]
pub use judge::{Beside, Judge, metric_names};
#[cfg(feature = "more")]
pub use lane::{Ahead, Memory, RunLane};
#[cfg(feature = "files")]
pub use model::Model;
#[cfg(any(feature = "exact", feature = "objective"))]
pub use objective::{Asked, Objective};
#[cfg(feature = "train")]
pub use train::{Data, Drawn, Options, Trainer, flip_labels};
#[cfg(feature = "groups")]
pub use train::{draw_pinwheel, draw_towns, pinwheel_classes};
#[cfg(feature = "webgpu")]
pub use webgpu::{Gpu, GpuExact, GpuLanes};

/// The standard library's part, in builds that have it.
#[cfg(all(target_arch = "wasm32", not(any(feature = "files", feature = "webgpu"))))]
mod alone {
    #[global_allocator]
    static MEMORY: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

    /// Only a bug panics here. The module then stops; the texts of panics are left out, since they would cost bytes.
    #[panic_handler]
    fn stop(_: &core::panic::PanicInfo<'_>) -> ! {
        core::arch::wasm32::unreachable()
    }
}
