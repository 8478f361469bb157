//! The pair kernel on every Vulkan driver of this machine, against its mirror and a naive f64 twin.

mod common;

use common::contexts;
use undercurve::surrogate::{AnySurrogate, SURROGATES};
use undercurve_gpu::kernel::pair::mirror;
use undercurve_gpu::{Context, GpuError, PairKernel, PairWeight, RowSum};

/// Scores in (−2, 2), always the same.
fn scores(count: usize, seed: u64, shift: f32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1u64 << 22) as f32 - 2.0 + shift
        })
        .collect()
}

fn weights(count: usize) -> Vec<PairWeight> {
    (0..count)
        .map(|i| PairWeight { negative: 0.01 + (i % 7) as f32 * 0.003, positive: -0.02 + (i % 5) as f32 * 0.001 })
        .collect()
}

fn twin(name: &str, t: f64) -> (f64, f64) {
    let d = (1.0 - t).max(0.0);
    let s = 1.0 / (1.0 + t.exp());
    match name {
        "square" => ((1.0 - t).powi(2), -2.0 * (1.0 - t)),
        "squared-hinge" => (d * d, -2.0 * d),
        "hinge" => (d, if t < 1.0 { -1.0 } else { 0.0 }),
        "logistic" => ((-t).exp().ln_1p(), -s),
        "sigmoid" => (s, -s * (1.0 - s)),
        "exponential" => ((-t).exp(), -(-t).exp()),
        "smoothed-hinge" => {
            if d < 1.0 {
                (d * d / 2.0, -d)
            } else {
                (d - 0.5, -1.0)
            }
        }
        "ramp" => (d.min(1.0), if t > 0.0 && t < 1.0 { -1.0 } else { 0.0 }),
        _ => panic!("no twin of {name}"),
    }
}

/// Largest |a − b| / scale.
fn worst(got: &[f32], want: &[f64]) -> f64 {
    let scale = want.iter().fold(1e-30f64, |m, x| m.max(x.abs()));
    got.iter().zip(want).fold(0.0f64, |m, (&a, b)| m.max((f64::from(a) - b).abs() / scale))
}

fn flat(sums: &[RowSum]) -> Vec<f32> {
    sums.iter().flat_map(|s| [s.negative_loss, s.negative_slope, s.positive_loss, s.positive_slope]).collect()
}

fn run(context: &Context, loss: AnySurrogate<f32>, low: &[f32], high: &[f32], blocks: Option<usize>) -> [Vec<f32>; 2] {
    let mut kernel = PairKernel::new(context, loss).unwrap();
    if let Some(count) = blocks {
        kernel = kernel.with_blocks(count, count);
    }
    let mut sums = vec![RowSum::default(); high.len()];
    kernel.row_sums(low, high, &mut sums).unwrap();
    let mut grad = vec![0.0; low.len() + high.len()];
    kernel.gradient(&weights(high.len()), &mut grad).unwrap();
    [flat(&sums), grad]
}

#[test]
fn every_surrogate_agrees_with_mirror_and_twin() {
    for context in contexts() {
        for &(name, _, param) in SURROGATES {
            let loss = AnySurrogate::by_name(name, param as f32).unwrap();
            let (mut mirrored, mut exact) = (0.0f64, 0.0f64);
            for (negatives, positives) in [(1, 1), (0, 3), (5, 1), (300, 70), (2500, 300)] {
                let (low, high) = (scores(negatives, 3, 0.0), scores(positives, 4, 0.5));
                let w = weights(positives);
                let [sums, grad] = run(&context, loss, &low, &high, None);
                let mirror_sums = mirror::row_sums(loss, &low, &high);
                let mirror_grad = mirror::gradient(loss, &low, &high, &mirror_sums, &w);
                let widen = |x: &[f32]| x.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
                mirrored = mirrored.max(worst(&sums, &widen(&flat(&mirror_sums))));
                mirrored = mirrored.max(worst(&grad, &widen(&mirror_grad)));
                let (mut want, mut want_grad) = (Vec::new(), vec![0.0f64; negatives + positives]);
                for (i, &si) in high.iter().enumerate() {
                    let mut row = [0.0; 4];
                    for (j, &sj) in low.iter().chain(&high).enumerate() {
                        if j == negatives + i {
                            continue;
                        }
                        // The margin is the f32 difference: at a kink its side is what counts.
                        let (l, s) = twin(name, f64::from(si - sj));
                        let positive = j >= negatives;
                        row[2 * usize::from(positive)] += l;
                        row[2 * usize::from(positive) + 1] += s;
                        let kappa = f64::from(if positive { w[i].positive } else { w[i].negative });
                        want_grad[negatives + i] += kappa * s;
                        want_grad[j] -= kappa * s;
                    }
                    want.extend(row);
                }
                exact = exact.max(worst(&sums, &want)).max(worst(&grad, &want_grad));
            }
            println!("{}: {name}: mirror {mirrored:.1e}, twin {exact:.1e}", context.name());
            assert!(mirrored < 2e-6, "{}: {name} is {mirrored:e} from its mirror", context.name());
            assert!(exact < 3e-6, "{}: {name} is {exact:e} from the twin", context.name());
        }
    }
}

#[test]
fn blocks_and_repetition_keep_the_bits() {
    for context in contexts() {
        let loss = AnySurrogate::by_name("sigmoid", 1.0).unwrap();
        let (low, high) = (scores(9000, 5, 0.0), scores(4500, 6, 0.3));
        let whole = run(&context, loss, &low, &high, None);
        assert_eq!(whole, run(&context, loss, &low, &high, None), "{}", context.name());
        assert_eq!(whole, run(&context, loss, &low, &high, Some(1)), "{}", context.name());
    }
}

/// Some drivers silently stop long loops: with a hinge and constant scores every pair counts exactly 1.
#[test]
fn every_pair_is_counted() {
    for context in contexts() {
        let loss = AnySurrogate::by_name("hinge", 1.0).unwrap();
        let (low, high) = (vec![0.25; 300_000], vec![0.25; 40]);
        let mut kernel = PairKernel::new(&context, loss).unwrap();
        let mut sums = vec![RowSum::default(); 40];
        kernel.row_sums(&low, &high, &mut sums).unwrap();
        for sum in &sums {
            assert_eq!((sum.negative_loss, sum.positive_loss), (300_000.0, 39.0), "{}", context.name());
        }
        let mut grad = vec![0.0; low.len() + high.len()];
        kernel.gradient(&[PairWeight { negative: 1.0, positive: 1.0 }; 40], &mut grad).unwrap();
        assert!(grad[..300_000].iter().all(|&c| c == 40.0));
        assert!(grad[300_000..].iter().all(|&c| c == -300_000.0));
    }
}

#[test]
fn bad_input_is_refused_and_writes_nothing() {
    for context in contexts() {
        let loss = AnySurrogate::by_name("exponential", 1.0).unwrap();
        let mut kernel = PairKernel::new(&context, loss).unwrap();
        let mut sums = [RowSum { negative_loss: 7.0, ..RowSum::default() }];
        let before = sums;
        for (low, high) in [([f32::NAN], [0.0]), ([0.0], [f32::INFINITY]), ([1e3], [0.0]), ([f32::MAX], [f32::MIN])] {
            let error = kernel.row_sums(&low, &high, &mut sums).unwrap_err();
            assert!(matches!(error, GpuError::Core(_)), "{error}");
            assert_eq!(sums, before);
        }
        assert!(kernel.row_sums(&[0.0], &[0.0, 1.0], &mut sums).is_err());
        kernel.row_sums(&[0.0], &[0.0], &mut sums).unwrap();
        let mut grad = [9.0; 2];
        assert!(kernel.gradient(&[PairWeight { negative: f32::NAN, positive: 0.0 }], &mut grad).is_err());
        assert!(kernel.gradient(&[], &mut grad).is_err());
        assert_eq!(grad, [9.0; 2]);
    }
}

#[test]
fn a_lent_device_works_and_a_destroyed_one_is_an_error() {
    for context in contexts() {
        let lent = Context::lent(context.device().clone(), context.queue().clone()).unwrap();
        let loss = AnySurrogate::by_name("square", 1.0).unwrap();
        let mut kernel = PairKernel::new(&lent, loss).unwrap();
        let mut sums = [RowSum::default()];
        kernel.row_sums(&[0.0], &[0.5], &mut sums).unwrap();
        assert_eq!(sums[0].negative_loss, 0.25);
        context.device().destroy();
        assert!(kernel.row_sums(&[0.0], &[0.5], &mut sums).is_err());
    }
}
