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

const ROWS: usize = 200;
const COLS: usize = 3;
const POSITIVES: usize = 20;

fn rows_and_labels() -> ([f32; ROWS * COLS], [u8; ROWS]) {
    let mut rng = undercurve::rng::Rng::new(3);
    let mut x = [0.0; ROWS * COLS];
    let mut labels = [0; ROWS];
    for (k, (x, label)) in x.chunks_exact_mut(COLS).zip(&mut labels).enumerate() {
        *label = u8::from(k % (ROWS / POSITIVES) == 0);
        for (x, mean) in x.iter_mut().zip([1.5, -0.5, 0.0]) {
            *x = (rng.normal() + mean * f64::from(*label)) as f32;
        }
    }
    (x, labels)
}

/// A linear model trained by SOAP and Adam on batches of 4 positives and 12 negatives: its average precision on the same rows,
/// below 0 for an error.
#[cfg(feature = "soap")]
#[unsafe(no_mangle)]
extern "C" fn soap() -> f64 {
    train().unwrap_or(-1.0)
}

#[cfg(feature = "soap")]
fn train() -> undercurve::Result<f64> {
    use undercurve::algorithm::{Adam, AdamSettings, Schedule};
    use undercurve::data::{Rows, Segments, Selection};
    use undercurve::estimator::{Soap, SoapSettings};
    use undercurve::host::{Data, Footprint, Host};
    use undercurve::metric::{self, FprRange};
    use undercurve::model::{Linear, Model};
    use undercurve::sampler::Stratified;
    use undercurve::surrogate::Sigmoid;
    use undercurve::{Need, Scratch};

    undercurve::run_memory! {
        struct Memory(f32) = Footprint::linear(ROWS, POSITIVES, COLS).batches(4, 12).soap().adam().lengths();
    }

    let (x, labels) = rows_and_labels();
    let (mut order, mut starts) = ([0; ROWS], [0; 3]);
    let data = Data { rows: Rows::dense(&x, COLS)?, segments: Segments::new(&labels, &mut order, &mut starts)? };
    let (model, sampler) = (Linear::new(COLS, 1)?, Stratified::new(1, 4, 12)?);
    let adam = Adam::new(AdamSettings { lr: Schedule::constant(0.02), ..AdamSettings::default() })?;
    let host = Host { steps: 500, ..Host::new(model, Soap::new(SoapSettings::of(Sigmoid::DOUBLE))?, adam, sampler) };

    let mut memory = Memory::EMPTY;
    let (mut state, mut buffers, mut passes) = memory.lend(host.state(&data)?)?;
    host.start(&data, &mut state, &mut buffers)?;
    while host.step(&data, &mut state, &mut buffers, &mut passes)?.is_some() {}
    let mut scores = [0.0; ROWS];
    model.forward(host.params(&data, &state)?, Selection::all(data.rows), &mut [], &mut scores)?;
    const NEED: Need = metric::need(ROWS);
    let (mut real, mut f64s) = ([0.0; NEED.real], [0.0; NEED.f64]);
    let (mut u32s, mut u64s) = ([0; NEED.u32], [0; NEED.u64]);
    let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
    Ok(metric::summary(&scores, &labels, FprRange::FULL, scratch)?.ap)
}

/// The average precision of given scores, below 0 for an error.
#[cfg(feature = "metrics")]
#[unsafe(no_mangle)]
extern "C" fn metrics() -> f64 {
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
