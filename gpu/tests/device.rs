//! Training steps on every Vulkan driver of this machine, against the core's own.

mod common;

use common::contexts;
use undercurve::batch::{Batch, Drawn};
use undercurve::estimator::{AucPairwise, First, Grad, Link, PairEstimator, Soap, SoapSettings, Weights};
use undercurve::rng::Rng;
use undercurve::surrogate::{AnySurrogate, SURROGATES};
use undercurve::trainer::Device;
use undercurve::{Error, Scratch};
use undercurve_gpu::GpuDevice;

const POPULATION: [u32; 2] = [900, 60];

/// Scores in [−1, 1), the positives higher, and slots without repetition.
fn draw(seed: u64, negatives: usize, positives: usize) -> (Vec<f32>, Vec<u32>) {
    let mut rng = Rng::keyed(seed, 0, 0);
    let mut slots: Vec<u32> = (0..POPULATION[1]).collect();
    for k in 0..positives {
        let other = k + rng.below(POPULATION[1] - k as u32) as usize;
        slots.swap(k, other);
    }
    slots.truncate(positives);
    let scores = (0..negatives + positives)
        .map(|k| (rng.below(1 << 20) as f32 / (1 << 19) as f32) - if k < negatives { 1.0 } else { 0.7 });
    (scores.collect(), slots)
}

fn core_update(
    estimator: &dyn PairEstimator<f32>,
    batch: &Batch<'_, f32>,
    state: &mut [f32],
    scores: &mut [f32],
) -> undercurve::Result<f64> {
    let need = estimator.need(batch.shape());
    let (mut real, mut f64, mut u32) = (vec![0.0; need.real], vec![0.0; need.f64], vec![0; need.u32]);
    let mut u64 = vec![0; need.u64];
    let scratch = Scratch { real: &mut real, f64: &mut f64, u32: &mut u32, u64: &mut u64 };
    estimator.update(batch, &[], state, scratch, Grad { scores, aux: &mut [] })
}

/// Largest |a − b| / largest |b|.
fn apart(a: &[f32], b: &[f32]) -> f64 {
    let scale = b.iter().fold(1e-30f64, |m, &x| m.max(f64::from(x).abs()));
    a.iter().zip(b).fold(0.0, |m, (&a, &b)| m.max(f64::from(a - b).abs() / scale))
}

/// Both are f32 sums of at most 300 terms of one sign, in different orders: some tens of roundings of 6e-8. The positives'
/// gradient is a difference of two such sums.
const TOLERANCE: f64 = 5e-6;

#[test]
fn steps_agree_with_the_core() {
    for context in contexts() {
        let mut device = GpuDevice::new(context.clone());
        let mut worst = 0.0f64;
        for &(name, _, param) in SURROGATES {
            let loss = AnySurrogate::by_name(name, param as f32).unwrap();
            for (link, weights, first) in [
                (Link::Identity, Weights::AsDrawn, First::Estimate),
                (Link::Sigmoid, Weights::Unbiased, First::Zero),
                (Link::Identity, Weights::Unbiased, First::Estimate),
            ] {
                let soap = SoapSettings { surrogate: loss.to(), link, gamma: 0.3, floor: 1e-3, weights, first };
                let (soap, auc) = (Soap::new(soap).unwrap(), AucPairwise::new(loss.to(), link));
                let both: [&dyn PairEstimator<f32>; 2] = [&soap, &auc];
                for estimator in both {
                    let states = estimator.state_len(POPULATION[1] as usize);
                    let (mut state, mut want_state) = (vec![0.0; states], vec![0.0; states]);
                    for (step, (low, high)) in [(300, 40), (50, 2), (7, 60), (128, 33)].into_iter().enumerate() {
                        let (scores, slots) = draw(step as u64, low, high);
                        let starts = [0, low as u32, (low + high) as u32];
                        let batch =
                            Batch::new(&scores, 1, &starts, &POPULATION, Drawn::Stratified).unwrap().with_slots(&slots);
                        let (mut grad, mut want_grad) = (vec![0.0; low + high], vec![0.0; low + high]);
                        let value = device.update(estimator, &batch, &mut state, &mut grad).unwrap().unwrap();
                        let want = core_update(estimator, &batch, &mut want_state, &mut want_grad).unwrap();
                        assert!(want_grad.iter().any(|&c| c != 0.0));
                        let off = apart(&grad, &want_grad)
                            .max(apart(&state, &want_state))
                            .max((value - want).abs() / want.abs());
                        worst = worst.max(off);
                        assert!(
                            off < TOLERANCE,
                            "{}: {loss:?}, {states} numbers of state, step {step}: {off:e}",
                            context.name()
                        );
                    }
                }
            }
        }
        println!("{}: {worst:.1e}", context.name());
        assert!(device.failure().is_none());
    }
}

#[test]
fn wrong_input_is_the_cores_error_and_writes_nothing() {
    for context in contexts() {
        let mut device = GpuDevice::new(context);
        let loss = AnySurrogate::by_name("squared-hinge", 1.0).unwrap();
        let soap = Soap::new(SoapSettings {
            surrogate: loss,
            link: Link::Identity,
            gamma: 0.5,
            floor: 0.0,
            weights: Weights::AsDrawn,
            first: First::Estimate,
        })
        .unwrap();
        let scores = [0.1, -0.2, 0.3];
        let (mut state, mut grad) = ([7.0; 4], [9.0; 3]);
        for (starts, slots, want) in [
            ([0, 2, 3], &[2][..], Error::Index { what: "slots", at: 0, len: 2 }),
            ([0, 2, 3], &[], Error::Length { what: "slots", need: 1, got: 0 }),
            ([0, 3, 3], &[], Error::OneClass),
        ] {
            let batch = Batch::new(&scores, 1, &starts, &POPULATION, Drawn::Stratified).unwrap().with_slots(slots);
            assert_eq!(core_update(&soap, &batch, &mut state, &mut grad), Err(want));
            assert_eq!(device.update(&soap, &batch, &mut state, &mut grad), Some(Err(want)));
        }
        let batch = Batch::new(&scores, 1, &[0, 2, 3], &POPULATION, Drawn::Stratified).unwrap().with_slots(&[0]);
        let short = &mut grad[..2];
        assert!(matches!(device.update(&soap, &batch, &mut state, short), Some(Err(Error::Length { .. }))));
        assert_eq!((state, grad), ([7.0; 4], [9.0; 3]));
    }
}

#[test]
fn a_lost_device_leaves_the_step_to_the_core() {
    for context in contexts() {
        let mut device = GpuDevice::new(context.clone());
        let loss = AnySurrogate::by_name("squared-hinge", 1.0).unwrap();
        let soap = Soap::new(SoapSettings {
            surrogate: loss,
            link: Link::Identity,
            gamma: 0.5,
            floor: 0.0,
            weights: Weights::AsDrawn,
            first: First::Estimate,
        })
        .unwrap();
        let scores = [0.1, -0.2, 0.3];
        let batch = Batch::new(&scores, 1, &[0, 2, 3], &POPULATION, Drawn::Stratified).unwrap().with_slots(&[0]);
        let (mut state, mut grad) = ([0.0; 2], [0.0; 3]);
        assert!(matches!(device.update(&soap, &batch, &mut state, &mut grad), Some(Ok(_))));
        let before = (state, grad);
        context.device().destroy();
        for _ in 0..2 {
            assert_eq!(device.update(&soap, &batch, &mut state, &mut grad), None);
            assert_eq!((state, grad), before);
        }
        assert!(device.failure().is_some());
    }
}
