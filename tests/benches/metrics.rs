//! Exact metrics of a million `f32` scores beside one sort of them.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use undercurve::metric::{FprRange, Metrics};
use undercurve::rng::Rng;

const N: usize = 1_000_000;

fn metrics(criterion: &mut Criterion) {
    for (name, share, step) in [
        ("5 % positives", 0.05, None),
        ("5 % positives, ties", 0.05, Some(0.008)),
        ("50 % positives", 0.5, None),
        ("50 % positives, ties", 0.5, Some(0.008)),
    ] {
        let mut random = Rng::new(1);
        let labels: Vec<u8> = (0..N).map(|_| u8::from(random.uniform() < share)).collect();
        let mut score = |&label: &u8| {
            let score = random.normal() + f64::from(label);
            step.map_or(score, |step| (score / step).round() * step) as f32
        };
        let scores: Vec<f32> = labels.iter().map(&mut score).collect();
        let mut metrics = Metrics::new();
        let mut group = criterion.benchmark_group(name);
        group.sample_size(15);
        group.bench_function("sort of the scores", |bencher| {
            bencher.iter_batched_ref(
                || scores.clone(),
                |keys| keys.sort_unstable_by(f32::total_cmp),
                BatchSize::LargeInput,
            );
        });
        group.bench_function("AUROC", |bencher| bencher.iter(|| metrics.auroc(black_box(&scores), &labels)));
        group.bench_function("AP", |bencher| bencher.iter(|| metrics.average_precision(black_box(&scores), &labels)));
        group.bench_function("AUROC, AP and pAUC", |bencher| {
            bencher.iter(|| metrics.summary(black_box(&scores), &labels, FprRange::FULL));
        });
        group.finish();
    }
}

criterion_group!(benches, metrics);
criterion_main!(benches);
