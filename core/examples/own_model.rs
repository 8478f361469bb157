//! A model of one's own between the estimator and the algorithm: scores in, score gradient out, no Trainer.
//!
//! Here h(x) = w₀ + w₁·x + w₂·x² on one feature, where positives lie in the middle: no line ranks them.

use undercurve::algorithm::{Adam, AdamForm, Algorithm, Answer, Ask, COUNTERS, Schedule, State};
use undercurve::batch::{Batch, Drawn};
use undercurve::estimator::{Estimator, First, Grad, Link, Soap, SoapSettings, Weights};
use undercurve::rng::Rng;
use undercurve::surrogate::{AnySurrogate, SquaredHinge};
use undercurve::{Scratch, metric::Metrics};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // 380 negatives over [−3, 3], then 20 positives near 0.
    let mut rng = Rng::new(7);
    let x: Vec<f64> = (0..400).map(|k| if k < 380 { 6.0 * rng.uniform() - 3.0 } else { 0.4 * rng.normal() }).collect();
    let labels: Vec<u8> = (0..400).map(|k| u8::from(k >= 380)).collect();
    let positives: Vec<u32> = (0..20).collect();

    let loss = AnySurrogate::SquaredHinge(SquaredHinge::new(1.0)?);
    let soap = Soap::new(SoapSettings {
        surrogate: loss,
        link: Link::Sigmoid,
        gamma: 0.9,
        floor: 0.0,
        weights: Weights::Unbiased,
        first: First::Estimate,
    })?;
    let adam = Adam::new(Schedule::constant(0.05), 0.9, 0.999, 1e-8, 0.0, AdamForm::Corrected)?;

    // How much memory, they say: the algorithm by the number of parameters, the estimator by the batch's shape.
    let mut points = vec![0.0; 3 * Algorithm::<f64>::points(&adam)];
    let mut slots = vec![0.0; Algorithm::<f64>::slots_len(&adam, 3)];
    let mut counters = [0; COUNTERS];
    let mut u = vec![0.0; Estimator::<f64>::state_len(&soap, positives.len())];
    let (mut score_grad, mut memory) = (vec![0.0; 400], Vec::new());

    let forward = |w: &[f64]| x.iter().map(|x| w[0] + w[1] * x + w[2] * x * x).collect::<Vec<_>>();
    let mut steps = 0;
    while steps < 300 {
        let mut state = State { points: &mut points, slots: &mut slots, counters: &mut counters };
        match adam.next(&state) {
            // (Every batch is all rows here, whatever the draw.)
            Ask::Gradient { at, previous: None, .. } => {
                let scores = forward(&state.points[3 * usize::from(at.0)..]);
                let batch = Batch::new(&scores, 1, &[0, 380, 400], &[380, 20], Drawn::All)?.with_slots(&positives);
                memory.resize(Estimator::<f64>::need(&soap, batch.shape()).real, 0.0);
                let scratch = Scratch { real: &mut memory, ..Scratch::default() };
                let out = Grad { scores: &mut score_grad, aux: &mut [] };
                let value = soap.update(&batch, &[], &mut u, scratch, out)?;
                // The model's own backward pass: Σ_j c_j ∂h(x_j)/∂w.
                let mut grad = [0.0; 3];
                for (c, x) in score_grad.iter().zip(&x) {
                    grad[0] += c;
                    grad[1] += c * x;
                    grad[2] += c * x * x;
                }
                adam.tell(&mut state, Answer::Gradient { value, grad: &grad })?;
                steps += 1;
            }
            // Between the stages of algorithms that have some.
            Ask::Report { .. } => adam.tell(&mut state, Answer::Continue)?,
            Ask::Done => break,
            // Better refused than answered with something else: no_allocator.rs answers these, too.
            ask => return Err(format!("not answered here: {ask:?}").into()),
        }
    }
    let w = &points[3 * usize::from(Algorithm::<f64>::iterate(&adam).0)..][..3];
    let ap = Metrics::new().average_precision(&forward(w), &labels)?;
    println!("average precision {ap:.3}, from {:.3} by chance", 20.0 / 400.0);
    assert!(ap > 0.2 && w[2] < 0.0);
    Ok(())
}
