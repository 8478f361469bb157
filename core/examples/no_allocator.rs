//! Training without an allocator: every byte is an array on the stack, as on a microcontroller. f32, linear model,
//! SOAP with Adam on stratified batches of 4 positives and 12 negatives.

use undercurve::algorithm::{Adam, AdamForm, Algorithm, Answer, COUNTERS, Schedule, State};
use undercurve::batch::Batch;
use undercurve::data::{Rows, Selection};
use undercurve::estimator::{Estimator, First, Grad, Link, Soap, Weights};
use undercurve::metric::{self, FprRange};
use undercurve::model::{Linear, Model};
use undercurve::rng::Rng;
use undercurve::sampler::{Classes, Cursor, Sampler, Stratified};
use undercurve::surrogate::{AnySurrogate, SquaredHinge};
use undercurve::{Result, Scratch};

const ROWS: usize = 200;
const COLS: usize = 3;
const POSITIVES: usize = 20;

fn train() -> Result<f64> {
    let mut rng = Rng::new(3);
    let labels: [u8; ROWS] = core::array::from_fn(|k| u8::from(k % (ROWS / POSITIVES) == 0));
    let data: [f32; ROWS * COLS] =
        core::array::from_fn(|k| (rng.normal() + [1.5, -0.5, 0.0][k % COLS] * f64::from(labels[k / COLS])) as f32);
    let rows = Rows::dense(&data, COLS)?;

    let model = Linear::new(COLS, 1)?;
    let soap = Soap::new(
        AnySurrogate::SquaredHinge(SquaredHinge::new(1.0)?),
        Link::Sigmoid,
        0.1,
        0.0,
        Weights::Unbiased,
        First::Estimate,
    )?;
    let adam = Adam::new(Schedule::constant(0.02), 0.9, 0.999, 1e-8, 0.0, AdamForm::Corrected)?;
    let sampler = Stratified::new(1, 4, 12)?;

    let (mut by_class, mut order) = ([0; ROWS], [0; ROWS]);
    let classes = Classes::new(&labels, &mut by_class)?;
    let (mut cursor, population) = (Cursor::default(), classes.population());
    sampler.prepare(&classes, &cursor, &mut order)?;

    let (mut params, mut moments, mut counters) = ([0.0f32; COLS + 1], [0.0; 2 * (COLS + 1)], [0; COUNTERS]);
    let mut u = [0.0; 2 * POSITIVES];
    let (mut index, mut slots) = ([0; 16], [0; 16]);
    let (mut scores, mut score_grad, mut memory) = ([0.0; 16], [0.0; 16], [0.0; 160]);
    for _ in 0..500 {
        let drawn = sampler.draw(&classes, &mut cursor, &mut order, &mut index, &mut slots)?;
        let x = Selection::of(rows, &index)?;
        model.forward(&params, x, &mut [], &mut scores)?;
        let batch = Batch::new(&scores, 1, &drawn.starts, &population, drawn.drawn)?.with_slots(&slots[..4]);
        let scratch = Scratch { real: &mut memory, ..Scratch::default() };
        let value = soap.update(&batch, &[], &mut u, scratch, Grad { scores: &mut score_grad, aux: &mut [] })?;
        let mut grad = [0.0; COLS + 1];
        model.backward(&params, x, &[], &score_grad, &mut [], &mut grad)?;
        let mut state = State { points: &mut params, slots: &mut moments, counters: &mut counters };
        adam.tell(&mut state, Answer::Gradient { value, grad: &grad })?;
    }

    let mut all = [0.0; ROWS];
    model.forward(&params, Selection::all(rows), &mut [], &mut all)?;
    const NEED: undercurve::Need = metric::need(ROWS);
    let (mut real, mut f64s) = ([0.0; NEED.real], [0.0; NEED.f64]);
    let (mut u32s, mut u64s) = ([0; NEED.u32], [0; NEED.u64]);
    let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
    Ok(metric::summary(&all, &labels, FprRange::FULL, scratch)?.ap)
}

fn main() -> Result<()> {
    let ap = train()?;
    println!("average precision {ap:.3}, from {:.3} by chance", POSITIVES as f64 / ROWS as f64);
    assert!(ap > 0.5);
    Ok(())
}
