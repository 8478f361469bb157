//! WebAssembly bindings of undercurve.
//!
//! Inputs and outputs are typed arrays. Every error is an `UndercurveError` with a number and a message of one line. `wasm/js`
//! wraps this in sessions and a worker.
//!
//! The package has five modules, so that training can start before anything else is downloaded. The feature `train` makes the
//! first, with mini-batch methods; `full` the one with every method, several classes and groups; `objective` the one with
//! objectives, exact sums and metrics of scores from elsewhere; `files` the one that reads files and scores with saved models;
//! `webgpu` the one with the GPU kernels. They share no memory; rows and saved runs cross as arrays.

#![no_std]

extern crate alloc;
#[cfg(any(feature = "files", feature = "webgpu", not(target_arch = "wasm32")))]
extern crate std;

#[cfg(any(feature = "objective", feature = "webgpu"))]
mod exact;
mod failure;
#[cfg(feature = "files")]
mod files;
#[cfg(feature = "full")]
mod groups;
#[cfg(feature = "files")]
mod json;
#[cfg(feature = "full")]
mod lane;
#[cfg(feature = "files")]
mod model;
#[cfg(feature = "objective")]
mod objective;
#[cfg(feature = "files")]
mod plane;
#[cfg(feature = "train")]
mod synthetic;
#[cfg(feature = "train")]
mod train;

#[cfg(feature = "webgpu")]
mod webgpu;

#[cfg(feature = "objective")]
pub use exact::Exact;
pub use failure::Failure;
#[cfg(feature = "files")]
pub use files::{Prepared, Table};
#[cfg(feature = "full")]
pub use lane::{Ahead, Memory, RunLane};
#[cfg(feature = "files")]
pub use model::Model;
#[cfg(feature = "objective")]
pub use objective::{Asked, Objective};
#[cfg(feature = "train")]
pub use train::{Data, Drawn, Options, Trainer, flip_labels};
#[cfg(feature = "full")]
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
