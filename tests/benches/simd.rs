//! All pairs of the squared hinge: the compiler's own vectors against two crates for safe vectors. `wide` compiles for the
//! instructions that the program is compiled for, `pulp` chooses them when it runs.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pulp::{Arch, Simd, WithSimd};
use std::hint::black_box;
use undercurve::pairs::brute;
use undercurve::rng::Rng;
use undercurve::surrogate::SquaredHinge;
use wide::f32x8;

const LANES: usize = 8;
const ROWS: usize = 2;
const MARGIN: f32 = 1.0;

/// Scores of both classes and Σ max(m − (a − o), 0) by score; whole numbers of rows and lanes.
struct Sums {
    positives: Vec<f32>,
    negatives: Vec<f32>,
    of_positives: Vec<f32>,
    of_negatives: Vec<f32>,
}

/// Returns Σ d². The lanes of the core, so the bits of its sums.
fn by_wide(sums: &mut Sums) -> f32 {
    let (zero, margin) = (f32x8::ZERO, f32x8::splat(MARGIN));
    let anchors = sums.positives.as_chunks::<ROWS>().0.iter();
    let mut all = 0.0;
    for (anchors, left) in anchors.zip(sums.of_positives.as_chunks_mut::<ROWS>().0) {
        let anchors = anchors.map(f32x8::splat);
        let (mut value, mut slope) = (zero, [zero; ROWS]);
        let others = sums.negatives.as_chunks::<LANES>().0.iter();
        for (others, right) in others.zip(sums.of_negatives.as_chunks_mut::<LANES>().0) {
            let mut sum = f32x8::new(*right);
            for r in 0..ROWS {
                let d = (margin - (anchors[r] - f32x8::new(*others))).fast_max(zero);
                value += d * d;
                slope[r] += d;
                sum += d;
            }
            *right = sum.to_array();
        }
        let total = |x: f32x8| {
            let x = x.to_array();
            ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]))
        };
        all += total(value);
        left.iter_mut().zip(slope).for_each(|(left, slope)| *left += total(slope));
    }
    all
}

/// The same with as many lanes as the machine has, so not the same bits on all.
struct ByPulp<'a>(&'a mut Sums);

impl WithSimd for ByPulp<'_> {
    type Output = f32;
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f32 {
        let (zero, margin) = (simd.splat_f32s(0.0), simd.splat_f32s(MARGIN));
        let Sums { positives, negatives, of_positives, of_negatives } = self.0;
        let mut all = 0.0;
        for (anchors, left) in positives.as_chunks::<ROWS>().0.iter().zip(of_positives.as_chunks_mut::<ROWS>().0) {
            let anchors = anchors.map(|a| simd.splat_f32s(a));
            let (mut value, mut slope) = (zero, [zero; ROWS]);
            for (&others, right) in S::as_simd_f32s(negatives).0.iter().zip(S::as_mut_simd_f32s(of_negatives).0) {
                let mut sum = *right;
                for r in 0..ROWS {
                    let d = simd.max_f32s(simd.sub_f32s(margin, simd.sub_f32s(anchors[r], others)), zero);
                    value = simd.add_f32s(value, simd.mul_f32s(d, d));
                    slope[r] = simd.add_f32s(slope[r], d);
                    sum = simd.add_f32s(sum, d);
                }
                *right = sum;
            }
            all += simd.reduce_sum_f32s(value);
            left.iter_mut().zip(slope).for_each(|(left, slope)| *left += simd.reduce_sum_f32s(slope));
        }
        all
    }
}

fn all_pairs(criterion: &mut Criterion) {
    let (positives, negatives) = (480, 9_520);
    let mut random = Rng::new(1);
    let mut scores = |count: usize| -> Vec<f32> { (0..count).map(|_| random.normal() as f32).collect() };
    let mut sums = Sums {
        positives: scores(positives),
        negatives: scores(negatives),
        of_positives: vec![0.0; positives],
        of_negatives: vec![0.0; negatives],
    };
    let mut group = criterion.benchmark_group("480 positives, 9520 negatives");
    group.throughput(Throughput::Elements((positives * negatives) as u64));
    let loss = SquaredHinge::new(MARGIN).unwrap();
    group.bench_function("core", |bencher| {
        let Sums { positives, negatives, of_positives, of_negatives } = &mut sums;
        bencher.iter(|| brute::auc(loss, black_box(positives), negatives, of_positives, of_negatives));
    });
    group.bench_function("wide", |bencher| bencher.iter(|| by_wide(black_box(&mut sums))));
    let arch = Arch::new();
    group.bench_function("pulp", |bencher| bencher.iter(|| arch.dispatch(ByPulp(black_box(&mut sums)))));
    group.finish();
}

criterion_group!(benches, all_pairs);
criterion_main!(benches);
