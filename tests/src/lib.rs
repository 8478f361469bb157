//! Naive twins: every metric and estimator written again as plain f64 loops, using nothing of the core.

use std::path::PathBuf;

pub mod algorithms;
pub mod bounds;
pub mod classes;
pub mod docs;
pub mod estimators;
pub mod finite_sum;
pub mod fuzz;
pub mod metric;
pub mod model;
pub mod network;
pub mod pairs;
pub mod soap;

/// The folder of shared data sets: the environment's `UNDERCURVE_SHARED`, or `shared` beside the repository. `None`
/// (with a line that says so) where there is none; tests that need it then return.
pub fn shared() -> Option<PathBuf> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let folder = std::env::var_os("UNDERCURVE_SHARED").map_or_else(|| root.join("shared"), PathBuf::from);
    if folder.join("data").is_dir() {
        return Some(folder);
    }
    println!("skipped: no shared data at {} (set UNDERCURVE_SHARED to its folder)", folder.display());
    None
}

/// The Rust example of the README runs as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
