//! Whole-data sums of a million `f32` scores beside one sort of them, and the small-batch kernels.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use undercurve::Scratch;
use undercurve::pairs::{self, Grade, brute};
use undercurve::rng::Rng;
use undercurve::surrogate::{AnySurrogate, Sigmoid, SquaredHinge};

const N: usize = 1_000_000;

fn whole(criterion: &mut Criterion) {
    for (title, share) in [("5 % positives", 0.05), ("50 % positives", 0.5)] {
        let mut random = Rng::new(1);
        let labels: Vec<u8> = (0..N).map(|_| u8::from(random.uniform() < share)).collect();
        let scores: Vec<f32> = labels.iter().map(|&y| (random.normal() + f64::from(y)) as f32).collect();
        let need = pairs::need(N, labels.iter().filter(|&&y| y == 1).count());
        let (mut f, mut i, mut k) = (vec![0.0; need.f64], vec![0; need.u32], vec![0; need.u64]);
        let mut grad = vec![0.0f32; N];
        let mut group = criterion.benchmark_group(title);
        group.sample_size(15);
        group.bench_function("sort of the scores", |bencher| {
            bencher.iter_batched_ref(
                || scores.clone(),
                |keys| keys.sort_unstable_by(f32::total_cmp),
                BatchSize::LargeInput,
            );
        });
        for name in ["squared-hinge", "sigmoid"] {
            let loss = AnySurrogate::by_name(name, 1.0).unwrap();
            group.bench_function(format!("AUC {name}"), |bencher| {
                bencher.iter(|| {
                    let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
                    pairs::auc(black_box(&scores), &labels, loss, Grade::Full, scratch, &mut grad).unwrap()
                });
            });
            group.bench_function(format!("AP {name}"), |bencher| {
                bencher.iter(|| {
                    let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
                    pairs::ap(black_box(&scores), &labels, loss, Grade::Full, scratch, &mut grad).unwrap()
                });
            });
        }
        group.finish();
    }
}

fn small(criterion: &mut Criterion) {
    let mut random = Rng::new(2);
    let high: Vec<f32> = (0..8).map(|_| random.normal() as f32).collect();
    let low: Vec<f32> = (0..56).map(|_| random.normal() as f32).collect();
    let (mut grad_high, mut grad_low) = ([0.0; 8], [0.0; 56]);
    let mut group = criterion.benchmark_group("8 positives, 56 negatives");
    let hinge = SquaredHinge::new(1.0f32).unwrap();
    group.bench_function("AUC squared hinge", |bencher| {
        bencher.iter(|| brute::auc(hinge, black_box(&high), &low, &mut grad_high, &mut grad_low));
    });
    let sigmoid = Sigmoid::new(1.0f32).unwrap();
    group.bench_function("AUC sigmoid", |bencher| {
        bencher.iter(|| brute::auc(sigmoid, black_box(&high), &low, &mut grad_high, &mut grad_low));
    });
    group.finish();
}

criterion_group!(benches, whole, small);
criterion_main!(benches);
