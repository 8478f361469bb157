//! Naive twins: every metric and estimator written again as plain f64 loops, using nothing of the core.

use std::io::Write as _;
use std::path::PathBuf;
use std::{env, fs};

pub mod algorithms;
pub mod bounds;
pub mod classes;
pub mod contrastive;
pub mod decisions;
pub mod distributed;
pub mod docs;
pub mod estimators;
pub mod fcco;
pub mod finite_sum;
pub mod folder;
pub mod fuzz;
pub mod hostile;
pub mod hostile_estimators;
pub mod intervals;
pub mod metric;
pub mod model;
pub mod network;
pub mod pairs;
pub mod pauc;
pub mod ranges;
pub mod soap;
#[cfg(target_os = "linux")] // for /dev/full
pub mod streams;
pub mod vulkan;
pub mod weights;

/// Says that a test passes without having run, and why. It is listed in the file that `UNDERCURVE_SKIPPED` names, if it
/// names one (a line of the reason, a tab and the test), because what a test prints is not seen when it passes.
pub fn skipped(why: &str) {
    println!("skipped: {why}");
    if let Some(list) = std::env::var_os("UNDERCURVE_SKIPPED") {
        let thread = std::thread::current();
        let line = format!("{why}\t{}\n", thread.name().unwrap_or("a test without a name"));
        let mut list = std::fs::OpenOptions::new().create(true).append(true).open(list).unwrap();
        list.write_all(line.as_bytes()).unwrap();
    }
}

/// A folder in this one that has the Python package as an interpreter finds it: its files, and the module that was built beside this program; `None`
/// where none was.
pub fn python_package(folder: &str) -> Option<PathBuf> {
    let (from, name) = match env::consts::OS {
        "windows" => ("undercurve_python.dll", "_core.pyd"),
        "macos" => ("libundercurve_python.dylib", "_core.abi3.so"),
        _ => ("libundercurve_python.so", "_core.abi3.so"),
    };
    let module = env::current_exe().unwrap().with_file_name(from);
    if !module.exists() {
        return None;
    }
    let place = PathBuf::from(folder).join("python");
    let _ = fs::remove_dir_all(&place);
    let to = place.join("undercurve");
    fs::create_dir_all(&to).unwrap();
    for file in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../core/python/undercurve")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|end| ["py", "pyi", "typed"].iter().any(|known| end == *known)) {
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
    fs::copy(module, to.join(name)).unwrap();
    Some(place)
}

/// The folder of shared data sets: the environment's `UNDERCURVE_SHARED`, or `shared` beside the repository. `None`
/// where there is none; tests that need it then return, and count as [`skipped`].
pub fn shared() -> Option<PathBuf> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let folder = std::env::var_os("UNDERCURVE_SHARED").map_or_else(|| root.join("shared"), PathBuf::from);
    if folder.join("data").is_dir() {
        return Some(folder);
    }
    skipped("no shared data beside the repository, nor where UNDERCURVE_SHARED says");
    None
}

/// Whether a method of the registry trains this model: some train linear ones alone.
pub fn trains(method: &str, model: &str) -> bool {
    model == "linear" || !["theoretical-ai-sarah", "svm-pauc-tight"].contains(&method)
}

/// The range of false-positive rates for a method: some begin at 0.
pub fn range_of(method: &str, wanted: (f64, f64)) -> (f64, f64) {
    if ["sopa", "sopa-s", "sota-s"].contains(&method) { (0.0, wanted.1) } else { wanted }
}

/// Saved bytes changed at one place: bits turned over, and a whole number of seven-bit groups made large.
pub fn nonsense(bytes: &[u8], at: usize) -> impl Iterator<Item = Vec<u8>> {
    let flipped = [1, 2, 3, 0x80, 0xff].map(|flip| vec![bytes[at] ^ flip]);
    let large = [1 << 40, u64::MAX].map(|number: u64| {
        let groups = number.ilog2() / 7 + 1;
        (0..groups).map(|k| (number >> (7 * k)) as u8 & 0x7f | if k + 1 < groups { 0x80 } else { 0 }).collect()
    });
    flipped.into_iter().chain(large).map(move |part| [&bytes[..at], &part, &bytes[at + 1..]].concat())
}

/// The Rust example of the README runs as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
