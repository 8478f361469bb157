//! A linear model trained by SOAP and Adam without an allocator, for WebAssembly and for Cortex-M.

use crate::rows::{COLS, POSITIVES, ROWS, rows_and_labels};
use undercurve::algorithm::{Adam, AdamSettings, Schedule};
use undercurve::data::{Rows, Segments, Selection};
use undercurve::estimator::{Soap, SoapSettings};
use undercurve::host::{Data, Footprint, Host};
use undercurve::metric::{self, FprRange};
use undercurve::model::{Linear, Model};
use undercurve::sampler::Stratified;
use undercurve::surrogate::Sigmoid;
use undercurve::{Need, Scratch};

/// 500 steps on batches of 4 positives and 12 negatives: the average precision on the same rows, and their scores.
pub fn train() -> undercurve::Result<(f64, [f32; ROWS])> {
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
    let ap = metric::summary(&scores, &labels, FprRange::FULL, scratch)?.ap;
    Ok((ap, scores))
}
