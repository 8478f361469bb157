//! The smallest programs over the core, without an allocator. `measure.py` builds them for wasm and counts what they come to.
#![no_std]

#[cfg(target_arch = "wasm32")]
#[panic_handler]
fn panicked(info: &core::panic::PanicInfo) -> ! {
    // A program that cannot panic imports nothing.
    #[link(wasm_import_module = "env")]
    unsafe extern "C" {
        safe fn panicked(line: u32) -> !;
    }
    // (With `places`, calls that panic keep where they are, for `measure.py -v`.)
    panicked(if cfg!(feature = "places") { info.location().map_or(0, |place| place.line()) } else { 0 })
}

mod rows;
#[cfg(feature = "soap")]
mod soap;

/// A linear model trained by SOAP and Adam on batches of 4 positives and 12 negatives: its average precision on the same rows,
/// below 0 for an error.
#[cfg(feature = "soap")]
#[unsafe(no_mangle)]
extern "C" fn soap() -> f64 {
    soap::train().map_or(-1.0, |(ap, _)| ap)
}

/// The average precision of given scores, below 0 for an error.
#[cfg(feature = "metrics")]
#[unsafe(no_mangle)]
extern "C" fn metrics() -> f64 {
    use rows::{COLS, ROWS, rows_and_labels};
    use undercurve::metric::{self, FprRange};
    use undercurve::{Need, Scratch};
    let (x, labels) = rows_and_labels();
    let mut scores = [0.0; ROWS];
    scores.iter_mut().zip(x.chunks_exact(COLS)).for_each(|(score, x)| *score = x[0]);
    const NEED: Need = metric::need(ROWS);
    let (mut real, mut f64s) = ([0.0; NEED.real], [0.0; NEED.f64]);
    let (mut u32s, mut u64s) = ([0; NEED.u32], [0; NEED.u64]);
    let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
    metric::summary(&scores, &labels, FprRange::FULL, scratch).map_or(-1.0, |summary| summary.ap)
}

/// The exact AP objective of given scores with the squared hinge, and its gradient; 1 for an error.
#[cfg(feature = "pairs")]
#[unsafe(no_mangle)]
extern "C" fn pairs() -> f64 {
    use rows::{COLS, POSITIVES, ROWS, rows_and_labels};
    use undercurve::pairs::{self, Grade};
    use undercurve::surrogate::{AnySurrogate, SquaredHinge};
    use undercurve::{Need, Scratch};
    let (x, labels) = rows_and_labels();
    let mut scores = [0.0; ROWS];
    scores.iter_mut().zip(x.chunks_exact(COLS)).for_each(|(score, x)| *score = x[0]);
    const NEED: Need = pairs::need(ROWS, POSITIVES);
    let (mut f64s, mut u32s, mut u64s) = ([0.0; NEED.f64], [0; NEED.u32], [0; NEED.u64]);
    let scratch = Scratch { real: &mut [], f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
    let mut grad = [0.0f32; ROWS];
    let Ok(loss) = SquaredHinge::new(1.0) else { return 1.0 };
    pairs::ap(&scores, &labels, AnySurrogate::SquaredHinge(loss), Grade::Full, scratch, &mut grad).unwrap_or(1.0)
}
