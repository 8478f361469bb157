//! Training without an allocator: every byte is an array, as on a microcontroller. f32, linear model, stratified batches of
//! 4 positives and 12 negatives.
//!
//! The host says how much memory a run needs; what does not fit the arrays is an error, not a crash.

use undercurve::algorithm::{Adam, AdamSettings, Algorithm, PpdSg, Schedule, Stages};
use undercurve::data::{Rows, Segments, Selection};
use undercurve::estimator::{AucMinMax, Estimator, Link, Prior, Soap, Weights};
use undercurve::host::{Buffers, Chunks, Data, Host, RunState};
use undercurve::metric::{self, FprRange};
use undercurve::model::{Linear, Model};
use undercurve::rng::Rng;
use undercurve::sampler::Stratified;
use undercurve::{Error, Need, Result, Scratch};

const ROWS: usize = 200;
const COLS: usize = 3;
const POSITIVES: usize = 20;

/// All the memory of a run: what is saved of it, and what is not.
struct Memory {
    real: [f32; 96],
    sums: [f64; 4],
    counts: [u64; 18],
    work: [f32; 512],
    tables: [f64; 8],
    index: [u32; 256],
    keys: [u64; 4],
    passes: [f32; 256],
}

impl Memory {
    const EMPTY: Self = Self {
        real: [0.0; 96],
        sums: [0.0; 4],
        counts: [0; 18],
        work: [0.0; 512],
        tables: [0.0; 8],
        index: [0; 256],
        keys: [0; 4],
        passes: [0.0; 256],
    };
}

/// As much of an array as is needed, if it has that.
fn part<'a, E>(what: &'static str, array: &'a mut [E], need: usize) -> Result<&'a mut [E]> {
    let got = array.len();
    array.get_mut(..need).ok_or(Error::Length { what, need, got })
}

/// Trains to the end of the run; the model's parameters after it.
fn train<E: Estimator<f32>, A: Algorithm<f32>>(
    host: &Host<Linear, E, A, Stratified>,
    data: &Data<'_, f32>,
    memory: &mut Memory,
) -> Result<[f32; COLS + 1]> {
    let Need { real, f64, u64, .. } = host.state(data)?;
    let mut state = RunState {
        real: part("real", &mut memory.real, real)?,
        f64: part("sums", &mut memory.sums, f64)?,
        u64: part("counts", &mut memory.counts, u64)?,
    };
    let mut buffers = Buffers::new(&mut memory.work, &mut memory.tables, &mut memory.index, &mut memory.keys);
    let mut passes = Chunks::new(&mut memory.passes);
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
    let (model, sampler) = (Linear::new(COLS, 1)?, Stratified::new(1, 4, 12)?);

    let adam = Adam::new(AdamSettings { lr: Schedule::constant(0.02), ..AdamSettings::default() })?;
    let soap = Host { steps: 500, ..Host::new(model, Soap::default(), adam, sampler) };
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
