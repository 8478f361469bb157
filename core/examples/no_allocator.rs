//! Training without an allocator: every byte is an array, as on a microcontroller. f32, linear model, stratified batches of
//! 4 positives and 12 negatives.
//!
//! How much memory a run needs is known when it is compiled; what does not fit is an error, not a crash.

use undercurve::algorithm::{Adam, AdamSettings, Algorithm, PpdSg, Schedule, Stages};
use undercurve::data::{Rows, Segments, Selection};
use undercurve::estimator::{AucMinMax, Estimator, Link, Prior, Soap, SoapSettings, Weights};
use undercurve::host::{Data, Footprint, Host};
use undercurve::metric::{self, FprRange};
use undercurve::model::{Linear, Model};
use undercurve::rng::Rng;
use undercurve::sampler::Stratified;
use undercurve::surrogate::Sigmoid;
use undercurve::{Need, Result, Scratch};

const ROWS: usize = 200;
const COLS: usize = 3;
const POSITIVES: usize = 20;
/// Positives and negatives of a batch.
const BATCH: [u32; 2] = [4, 12];

undercurve::run_memory! {
    /// All the memory of either run: what is saved of it, and what is not.
    struct Memory(f32) = {
        let rows = Footprint::linear(ROWS, POSITIVES, COLS).batches(BATCH[0] as usize, BATCH[1] as usize);
        rows.soap().adam().lengths().either(rows.auc_min_max().ppd_sg().lengths())
    };
}

/// Trains to the end of the run; the model's parameters after it.
fn train<E: Estimator<f32>, A: Algorithm<f32>>(
    host: &Host<Linear, E, A, Stratified>,
    data: &Data<'_, f32>,
    memory: &mut Memory,
) -> Result<[f32; COLS + 1]> {
    let (mut state, mut buffers, mut passes) = memory.lend(host.state(data)?)?;
    host.start(data, &mut state, &mut buffers)?;
    while host.step(data, &mut state, &mut buffers, &mut passes)?.is_some() {}
    let params = host.params(data, &state)?;
    Ok(core::array::from_fn(|k| params[k]))
}

fn average_precision(params: &[f32], rows: Rows<'_, f32>, labels: &[u8; ROWS]) -> Result<f64> {
    let mut scores = [0.0; ROWS];
    Linear::new(COLS, 1)?.forward(params, Selection::all(rows), &mut [], &mut scores)?;
    const NEED: Need = metric::need(ROWS);
    let (mut real, mut f64s) = ([0.0; NEED.real], [0.0; NEED.f64]);
    let (mut u32s, mut u64s) = ([0; NEED.u32], [0; NEED.u64]);
    let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
    Ok(metric::summary(&scores, labels, FprRange::FULL, scratch)?.ap)
}

fn main() -> Result<()> {
    let mut rng = Rng::new(3);
    let labels: [u8; ROWS] = core::array::from_fn(|k| u8::from(k % (ROWS / POSITIVES) == 0));
    let x: [f32; ROWS * COLS] =
        core::array::from_fn(|k| (rng.normal() + [1.5, -0.5, 0.0][k % COLS] * f64::from(labels[k / COLS])) as f32);
    let (mut order, mut starts) = ([0; ROWS], [0; 3]);
    let data = Data { rows: Rows::dense(&x, COLS)?, segments: Segments::new(&labels, &mut order, &mut starts)? };
    let (model, sampler) = (Linear::new(COLS, 1)?, Stratified::new(1, BATCH[0], BATCH[1])?);

    let adam = Adam::new(AdamSettings { lr: Schedule::constant(0.02), ..AdamSettings::default() })?;
    // (The loss is named, so that no other is in the program.)
    let of_sigmoid = Soap::new(SoapSettings::of(Sigmoid::DOUBLE))?;
    let soap = Host { steps: 500, ..Host::new(model, of_sigmoid, adam, sampler) };
    let min_max = AucMinMax::new(Link::Sigmoid, Weights::Unbiased, Prior::Known);
    let rule = PpdSg::new(Stages::practice(1.0, 50.0, 5.0)?, 1000.0, 0.0, 1)?;
    let ppd_sg = Host { steps: 500, ..Host::new(model, min_max, rule, sampler) };
    let mut memory = Memory::EMPTY;
    for (name, params) in [("SOAP", train(&soap, &data, &mut memory)?), ("PPD-SG", train(&ppd_sg, &data, &mut memory)?)]
    {
        let ap = average_precision(&params, data.rows, &labels)?;
        println!("{name}: average precision {ap:.3}, from {:.3} by chance", POSITIVES as f64 / ROWS as f64);
        assert!(ap > 0.5);
    }
    Ok(())
}
