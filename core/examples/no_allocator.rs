//! Training without an allocator: every byte is an array on the stack, as on a microcontroller. f32, linear model,
//! stratified batches of 4 positives and 12 negatives.
//!
//! One loop answers whatever an algorithm asks for: SOAP with Adam wants a gradient for each step, PPD-SG has stages, with
//! mean scores of the classes asked for between them.

use undercurve::algorithm::{Adam, AdamForm, Algorithm, Answer, Ask, COUNTERS, Draw, PpdSg, Schedule, Stages, State};
use undercurve::batch::{Batch, Shape};
use undercurve::data::{Rows, Selection};
use undercurve::estimator::{AucMinMax, Estimator, First, Grad, Link, Prior, Soap, SoapSettings, Weights};
use undercurve::metric::{self, FprRange};
use undercurve::model::{Linear, Model};
use undercurve::rng::Rng;
use undercurve::sampler::{Classes, Cursor, DrawnRows, Sampler, Stratified};
use undercurve::surrogate::{AnySurrogate, SquaredHinge};
use undercurve::{Error, Result, Scratch};

const ROWS: usize = 200;
const COLS: usize = 3;
const POSITIVES: usize = 20;
/// Rows of a batch, and how many of them are positive.
const BATCH: usize = 16;
const DRAWN: usize = 4;
/// Parameters of the model, and what may ride behind them.
const PARAMS: usize = COLS + 1;
const LENGTH: usize = PARAMS + 3;

/// The memory of a run. How much of it a method needs its estimator and its algorithm say, when the run begins.
struct Memory {
    points: [f32; 2 * LENGTH],
    slots: [f32; 2 * LENGTH],
    state: [f32; 2 * POSITIVES],
    real: [f32; 256],
}

/// As much of an array as is needed, if it has that.
fn part<'a>(what: &'static str, array: &'a mut [f32], need: usize) -> Result<&'a mut [f32]> {
    let got = array.len();
    array.get_mut(..need).ok_or(Error::Length { what, need, got })
}

/// The rows, and where their batches come from.
struct Source<'a> {
    model: Linear,
    rows: Rows<'a, f32>,
    classes: Classes<'a>,
    sampler: Stratified,
    cursor: Cursor,
    order: [u32; ROWS],
    index: [u32; BATCH],
    positives: [u32; BATCH],
    scores: [f32; BATCH],
}

impl Source<'_> {
    /// The next batch, scored.
    fn draw(&mut self, params: &[f32]) -> Result<DrawnRows> {
        let Self { classes, cursor, order, index, positives, .. } = self;
        let taken = self.sampler.draw(classes, cursor, order, index, positives)?;
        self.model.forward(params, Selection::of(self.rows, &self.index)?, &mut [], &mut self.scores)?;
        Ok(taken)
    }

    /// Mean score of the negatives and of the positives over so many batches.
    fn class_means(&mut self, link: Link, params: &[f32], batches: u64) -> Result<[Option<f32>; 2]> {
        let (mut sums, mut counts) = ([0.0; 2], [0.0; 2]);
        for _ in 0..batches {
            let starts = self.draw(params)?.starts.map(|row| row as usize);
            let mut h = [0.0; BATCH];
            link.apply(&self.scores, &mut h);
            for class in 0..2 {
                let own = &h[starts[class]..starts[class + 1]];
                sums[class] += own.iter().sum::<f32>();
                counts[class] += own.len() as f32;
            }
        }
        Ok([0, 1].map(|class| (counts[class] > 0.0).then(|| sums[class] / counts[class])))
    }
}

/// So many steps; the model's parameters after them.
fn train(
    estimator: &impl Estimator<f32>,
    algorithm: &impl Algorithm<f32>,
    source: &mut Source<'_>,
    memory: &mut Memory,
    steps: u64,
) -> Result<[f32; PARAMS]> {
    let (low, high) = estimator.aux();
    let length = PARAMS + low + high;
    let need = estimator.need(Shape { rows: BATCH, heads: 1, segments: 2, slots: DRAWN });
    let points = part("points", &mut memory.points, algorithm.points() * length)?;
    let slots = part("slots", &mut memory.slots, algorithm.slots_len(length))?;
    let state = part("state", &mut memory.state, estimator.state_len(POSITIVES))?;
    let real = part("real", &mut memory.real, need.real)?;
    let (mut grad, mut score_grad) = ([0.0; LENGTH], [0.0; BATCH]);
    let (mut counters, population) = ([0; COUNTERS], source.classes.population());
    for memory in [&mut *points, slots, state] {
        memory.fill(0.0);
    }

    let mut done = 0;
    while done < steps {
        let mut kept = State { points: &mut *points, slots: &mut *slots, counters: &mut counters };
        match algorithm.next(&kept) {
            Ask::Gradient { at, previous: None, draw: Draw::Fresh { sampler: 0 } } => {
                let (params, aux) = kept.points[usize::from(at.0) * length..][..length].split_at(PARAMS);
                let taken = source.draw(params)?;
                let batch = Batch::new(&source.scores, 1, &taken.starts, &population, taken.drawn)?;
                let batch = batch.with_slots(&source.positives[..DRAWN]);
                let (by_params, by_aux) = grad[..length].split_at_mut(PARAMS);
                let scratch = Scratch { real: &mut *real, ..Scratch::default() };
                let out = Grad { scores: &mut score_grad, aux: by_aux };
                let value = estimator.update(&batch, aux, &mut *state, scratch, out)?;
                by_params.fill(0.0);
                let x = Selection::of(source.rows, &source.index)?;
                source.model.backward(params, x, &[], &score_grad, &mut [], by_params)?;
                algorithm.tell(&mut kept, Answer::Gradient { value, grad: &grad[..length] })?;
                done += 1;
            }
            Ask::ClassMeans { at, draw: Draw::Fresh { sampler: 0 }, batches } => {
                let params = &kept.points[usize::from(at.0) * length..][..PARAMS];
                let [negative, positive] = source.class_means(estimator.link(), params, batches)?;
                algorithm.tell(&mut kept, Answer::ClassMeans { positive, negative })?;
            }
            Ask::Report { .. } => algorithm.tell(&mut kept, Answer::Continue)?,
            Ask::Done => break,
            // Better refused than answered with something else.
            _ => return Err(Error::Unsupported { what: "what this algorithm asks for" }),
        }
    }
    let iterate = &points[usize::from(algorithm.iterate().0) * length..][..PARAMS];
    Ok(core::array::from_fn(|k| iterate[k]))
}

fn average_precision(model: &Linear, params: &[f32], rows: Rows<'_, f32>, labels: &[u8; ROWS]) -> Result<f64> {
    let mut scores = [0.0; ROWS];
    model.forward(params, Selection::all(rows), &mut [], &mut scores)?;
    const NEED: undercurve::Need = metric::need(ROWS);
    let (mut real, mut f64s) = ([0.0; NEED.real], [0.0; NEED.f64]);
    let (mut u32s, mut u64s) = ([0; NEED.u32], [0; NEED.u64]);
    let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
    Ok(metric::summary(&scores, labels, FprRange::FULL, scratch)?.ap)
}

fn main() -> Result<()> {
    let mut rng = Rng::new(3);
    let labels: [u8; ROWS] = core::array::from_fn(|k| u8::from(k % (ROWS / POSITIVES) == 0));
    let data: [f32; ROWS * COLS] =
        core::array::from_fn(|k| (rng.normal() + [1.5, -0.5, 0.0][k % COLS] * f64::from(labels[k / COLS])) as f32);
    let (rows, model) = (Rows::dense(&data, COLS)?, Linear::new(COLS, 1)?);

    let mut by_class = [0; ROWS];
    let classes = Classes::new(&labels, &mut by_class)?;
    let (sampler, cursor) = (Stratified::new(1, DRAWN as u32, (BATCH - DRAWN) as u32)?, Cursor::default());
    let mut order = [0; ROWS];
    sampler.prepare(&classes, &cursor, &mut order)?;
    let (index, positives, scores) = ([0; BATCH], [0; BATCH], [0.0; BATCH]);
    let mut source = Source { model, rows, classes, sampler, cursor, order, index, positives, scores };
    let mut memory =
        Memory { points: [0.0; 2 * LENGTH], slots: [0.0; 2 * LENGTH], state: [0.0; 2 * POSITIVES], real: [0.0; 256] };

    let hinge = AnySurrogate::SquaredHinge(SquaredHinge::new(1.0)?);
    let soap = Soap::new(SoapSettings {
        surrogate: hinge,
        link: Link::Sigmoid,
        gamma: 0.1,
        floor: 0.0,
        weights: Weights::Unbiased,
        first: First::Estimate,
    })?;
    let adam = Adam::new(Schedule::constant(0.02), 0.9, 0.999, 1e-8, 0.0, AdamForm::Corrected)?;
    let min_max = AucMinMax::new(Link::Sigmoid, Weights::Unbiased, Prior::Known);
    let ppd_sg = PpdSg::new(Stages::practice(1.0, 50.0, 5.0)?, 1000.0, 0.0, 1)?;
    for (name, params) in [
        ("SOAP", train(&soap, &adam, &mut source, &mut memory, 500)?),
        ("PPD-SG", train(&min_max, &ppd_sg, &mut source, &mut memory, 500)?),
    ] {
        let ap = average_precision(&model, &params, rows, &labels)?;
        println!("{name}: average precision {ap:.3}, from {:.3} by chance", POSITIVES as f64 / ROWS as f64);
        assert!(ap > 0.5);
    }
    Ok(())
}
