//! Weights of rows: whole ones are repeated rows, none is a row that is not there, ones are none.

use std::collections::BTreeSet;
use std::sync::Arc;
use undercurve::batch::{Batch, Drawn};
use undercurve::data::{Dataset, Format, Missing, Options, Preparation, RawTable, Scale, Segments};
use undercurve::estimator::{AucPairwise, ClassWeights, CrossEntropy, Estimator, Exact, Grad, Link, Weights};
use undercurve::finite_sum::{Glm, GlmLoss, Gradients};
use undercurve::metric::multiclass::{self, Ties};
use undercurve::metric::{Confusion, Costs, FprRange, Labels, Metrics, TieRule, Truth, class_summary, value_summary};
use undercurve::pairs::{self, Grade, Sum};
use undercurve::registry::{Kind, METHODS};
use undercurve::rng::Rng;
use undercurve::sampler::{AnySampler, Place, Sampler, Shuffle, Stratified};
use undercurve::surrogate::{AnySurrogate, SURROGATES, Surrogate};
use undercurve::trainer::{Config, Init, Length, ModelSpec, Predictor, Trainer};
use undercurve::{Error, Scratch};
use undercurve_tests::pairs::loss;
use undercurve_tests::weights::{self as naive, repeated};

/// Scores with ties, labels, and weights, whole or not; some are 0.
fn rows(rng: &mut Rng, n: usize, whole: bool) -> (Vec<f64>, Vec<u8>, Vec<f64>) {
    let labels: Vec<u8> = (0..n).map(|k| u8::from(k < 3 || rng.uniform() < 0.3)).collect();
    let score = |&y: &u8, rng: &mut Rng| ((rng.normal() + f64::from(y)) * 4.0).round() / 4.0;
    let scores = labels.iter().map(|y| score(y, rng)).collect();
    let mut weights: Vec<f64> =
        (0..n).map(|_| if whole { (rng.uniform() * 4.0).floor() } else { (rng.uniform() - 0.2).max(0.0) }).collect();
    (weights[0], weights[n - 1]) = (1.0, 2.0);
    let mut labels = labels;
    labels[n - 1] = 0;
    (scores, labels, weights)
}

/// Every binary metric, in one order.
fn all_metrics(scores: &[f64], labels: &(impl Labels + ?Sized)) -> Vec<f64> {
    let mut m = Metrics::new();
    let (range, full) = (FprRange::new(0.07, 0.61).unwrap(), FprRange::FULL);
    let mut out = vec![
        m.auroc(scores, labels).unwrap(),
        m.average_precision(scores, labels).unwrap(),
        m.precision_at_recall(scores, labels, 0.6).unwrap(),
        m.recall_at_precision(scores, labels, 0.3).unwrap(),
        m.point_at_fpr(scores, labels, 0.25).unwrap().tpr,
        m.point_at_slope(scores, labels, 1.5).unwrap().threshold,
    ];
    for rule in [TieRule::Trapezoid, TieRule::Half, TieRule::Strict] {
        out.push(m.partial_auc(scores, labels, range, rule).unwrap());
        out.push(m.partial_auc(scores, labels, full, rule).unwrap());
        out.push(m.partial_auc_two_way(scores, labels, 0.43, range, rule).unwrap());
    }
    for point in m.roc_curve(scores, labels, None).unwrap() {
        out.extend([point.fpr, point.tpr]);
    }
    for point in m.pr_curve(scores, labels, None).unwrap() {
        out.extend([point.recall, point.precision]);
    }
    let summary = m.summary(scores, labels, range).unwrap();
    out.extend([summary.auroc, summary.ap, summary.pauc, summary.accuracy, summary.tied]);
    let counts = labels.confusion(scores, 0.25).unwrap();
    out.extend([counts.accuracy(), counts.tpr(), counts.fpr(), counts.precision()].map(|rate| rate.unwrap_or(-1.0)));
    out
}

fn near(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    for (k, (x, y)) in a.iter().zip(b).enumerate() {
        assert!(x == y || (x - y).abs() <= 1e-12, "figure {k}: {x} and {y}");
    }
}

#[test]
fn whole_weights_are_repeated_rows_in_every_metric() {
    let mut rng = Rng::new(14);
    for n in [7, 30, 200, 700] {
        for _ in 0..8 {
            let (scores, labels, weights) = rows(&mut rng, n, true);
            let more = (repeated(&scores, &weights), repeated(&labels, &weights));
            let truth = Truth::new(&labels, &weights).unwrap();
            near(&all_metrics(&scores, &truth), &all_metrics(&more.0, &more.1));
        }
    }
}

#[test]
fn weighted_metrics_are_those_of_their_definitions() {
    let mut rng = Rng::new(15);
    for n in [7, 30, 120] {
        let (scores, labels, weights) = rows(&mut rng, n, false);
        let truth = Truth::new(&labels, &weights).unwrap();
        let mut m = Metrics::new();
        near(&[m.auroc(&scores, &truth).unwrap()], &[naive::auroc(&scores, &labels, &weights)]);
        let ap = naive::average_precision(&scores, &labels, &weights);
        near(&[m.average_precision(&scores, &truth).unwrap()], &[ap]);
        // The ends are reached to the last bit.
        let (roc, pr) = (m.roc_curve(&scores, &truth, None).unwrap(), m.pr_curve(&scores, &truth, None).unwrap());
        let (roc, pr) = (roc.last().unwrap(), pr.last().unwrap());
        assert_eq!((roc.fpr, roc.tpr, pr.recall), (1.0, 1.0, 1.0));
        // The weights of one class do not move the ROC curve, and do move the precision.
        let weights: Vec<f64> = weights.iter().zip(&labels).map(|(w, &y)| if y == 1 { 7.0 * w } else { *w }).collect();
        let heavier = Truth::new(&labels, &weights).unwrap();
        near(&[m.auroc(&scores, &heavier).unwrap()], &[naive::auroc(&scores, &labels, &weights)]);
        assert!(m.average_precision(&scores, &heavier).unwrap() > ap);
    }
}

#[test]
fn equal_weights_are_none_and_rows_of_weight_0_are_left_out() {
    let mut rng = Rng::new(16);
    for n in [9, 300, 900] {
        let (scores, labels, weights) = rows(&mut rng, n, false);
        let plain = all_metrics(&scores, &labels);
        assert_eq!(plain, all_metrics(&scores, &Truth::from(labels.as_slice())));
        assert_eq!(plain, all_metrics(&scores, &Truth::new(&labels, &vec![1.0; n]).unwrap()));
        near(&plain, &all_metrics(&scores, &Truth::new(&labels, &vec![0.3; n]).unwrap()));
        let kept: Vec<usize> = (0..n).filter(|&k| weights[k] > 0.0).collect();
        let of = |values: &[f64]| kept.iter().map(|&k| values[k]).collect::<Vec<f64>>();
        let (few, those): (Vec<f64>, Vec<u8>) = (of(&weights), kept.iter().map(|&k| labels[k]).collect());
        let without = all_metrics(&of(&scores), &Truth::new(&those, &few).unwrap());
        assert_eq!(all_metrics(&scores, &Truth::new(&labels, &weights).unwrap()), without);
        let truth = Truth::new(&labels, &weights).unwrap();
        assert_eq!(truth.rows()[0] + truth.rows()[1], kept.len() as u64);
    }
}

#[test]
fn several_classes_and_numbers_take_weights() {
    let mut rng = Rng::new(17);
    let (n, classes) = (90, 3);
    let scores: Vec<f64> = (0..n * classes).map(|_| (rng.normal() * 4.0).round() / 4.0).collect();
    let labels: Vec<u32> = (0..n).map(|k| (k % classes) as u32).collect();
    let weights: Vec<f64> = (0..n).map(|k| f64::from(k as u8 % 4)).collect();
    let rows: Vec<[f64; 3]> = scores.chunks(classes).map(|row| row.try_into().unwrap()).collect();
    let more: Vec<f64> = repeated(&rows, &weights).concat();
    let weighted = class_summary(&scores, classes, &labels, &weights).unwrap();
    let twin = class_summary(&more, classes, &repeated(&labels, &weights), &[]).unwrap();
    near(
        &[weighted.hand_till, weighted.auroc, weighted.ap, weighted.accuracy],
        &[twin.hand_till, twin.auroc, twin.ap, twin.accuracy],
    );
    for ties in [Ties::Half, Ties::Lose, Ties::Win] {
        let (mut order, mut sums, mut counts) = (vec![0; 500], [0.0; 12], [0; 12]);
        let mut scratch = Scratch { real: &mut [], f64: &mut sums, u32: &mut order, u64: &mut counts };
        let a = multiclass::weighted_auc(&scores, classes, &labels, &weights, ties, scratch.reborrow()).unwrap();
        let b = multiclass::auc(&more, classes, &repeated(&labels, &weights), ties, scratch).unwrap();
        near(&[a.hand_till, a.one_vs_rest], &[b.hand_till, b.one_vs_rest]);
    }
    let values: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
    let a = value_summary(&scores[..n], &values, &weights).unwrap();
    let b = value_summary(&repeated(&scores[..n], &weights), &repeated(&values, &weights), &[]).unwrap();
    near(&[a.rmse, a.mae, a.r2], &[b.rmse, b.mae, b.r2]);
}

#[test]
fn what_is_no_weight_is_refused() {
    let labels = [0u8, 1, 1];
    let nan = f64::NAN;
    assert_eq!(Truth::new(&labels, &[1.0]), Err(Error::Length { what: "weights", need: 3, got: 1 }));
    assert_eq!(Truth::new(&labels, &[1.0, -0.5, 1.0]), Err(Error::Weight { at: 1 }));
    assert_eq!(Truth::new(&labels, &[1.0, 1.0, nan]), Err(Error::Weight { at: 2 }));
    assert!(matches!(Truth::new(&labels, &[1e308; 3]), Err(Error::Overflow { .. })));
    let one = Truth::new(&labels, &[0.0, 1.0, 1.0]).unwrap();
    assert_eq!(Metrics::new().auroc(&[0.1, 0.2, 0.3], &one), Err(Error::OneClass));
    assert_eq!(Confusion::at(&[0.1, 0.2, 0.3], &one, 0.15).unwrap().true_positives, 2.0);
    let costs = Costs::new(1.0, 1.0, 0.5).unwrap();
    assert_eq!(Metrics::new().range_of_costs(&[0.1, 0.2, 0.3], &labels, costs).unwrap().high(), 1.0);
    let data = || Dataset::dense(vec![0.5, 1.0, 2.0], labels.to_vec(), 1).unwrap();
    assert_eq!(data().with_weights(vec![1.0; 2]), Err(Error::Length { what: "weights", need: 3, got: 2 }));
    assert_eq!(data().with_weights(vec![1.0, 1.0, -1.0]), Err(Error::Weight { at: 2 }));
    assert!(matches!(data().with_weights(vec![0.0; 3]), Err(Error::Empty { .. })));
    assert!(data().with_weights(vec![0.0, 1.0, 1.0]).unwrap().require_every_class("a").is_err());
    let some = data().with_weights(vec![1.0, 2.0, 3.0]).unwrap();
    assert_eq!(some.select(&[2, 0]).unwrap().weights(), [3.0, 1.0]);
}

/// Scores of both classes, negatives first, continuous, with weights above 0, whole or not; and where the classes begin.
fn by_class(rng: &mut Rng, [low, high]: [usize; 2], whole: bool) -> (Vec<f64>, Vec<u8>, Vec<f64>) {
    let labels: Vec<u8> = (0..low + high).map(|k| u8::from(k >= low)).collect();
    let scores = labels.iter().map(|&y| rng.normal() + 0.7 * f64::from(y)).collect();
    let weight = |rng: &mut Rng| if whole { 1.0 + (rng.uniform() * 3.0).floor() } else { 0.01 + rng.uniform() };
    let weights = labels.iter().map(|_| weight(rng)).collect();
    (scores, labels, weights)
}

/// Value and gradient of an exact objective over rows in class order.
fn exact(of: &Exact, scores: &[f64], labels: &[u8], weights: &[f64]) -> (f64, Vec<f64>) {
    let low = labels.iter().filter(|&&y| y == 0).count() as u32;
    let population = [low, labels.len() as u32 - low];
    let starts = [0, low, labels.len() as u32];
    let batch = Batch::new(scores, 1, &starts, &population, Drawn::All).unwrap().with_weights(weights).unwrap();
    let need = Estimator::<f64>::need(of, batch.shape());
    let (mut real, mut f64s) = (vec![0.0; need.real], vec![0.0; need.f64]);
    let (mut u32s, mut u64s) = (vec![0; need.u32], vec![0; need.u64]);
    let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
    let mut grad = vec![0.0; scores.len()];
    let value = of.gradient(&batch, &[], &[], scratch, Grad { scores: &mut grad, aux: &mut [] }).unwrap();
    (value, grad)
}

fn close((value, grad): &(f64, Vec<f64>), (twin, by): &(f64, Vec<f64>), tolerance: f64, what: &str) {
    assert!((value - twin).abs() <= tolerance * twin.abs().max(1.0), "{what}: {value} and {twin}");
    let scale = by.iter().fold(0.0f64, |most, g| most.max(g.abs()));
    for (k, (g, twin)) in grad.iter().zip(by).enumerate() {
        assert!((g - twin).abs() <= tolerance * scale, "{what}, row {k}: {g} and {twin}");
    }
}

const LOSSES: [(&str, f64); 8] = [
    ("square", 1.0),
    ("squared-hinge", 1.0),
    ("hinge", 0.8),
    ("smoothed-hinge", 0.4),
    ("ramp", 1.2),
    ("logistic", 2.0),
    ("sigmoid", 2.0),
    ("exponential", 0.7),
];

#[test]
fn weighted_pair_sums_are_those_of_all_pairs() {
    let mut rng = Rng::new(18);
    for sizes in [[5, 2], [40, 20], [700, 300]] {
        let (scores, labels, weights) = by_class(&mut rng, sizes, false);
        for (name, c) in LOSSES {
            let surrogate = AnySurrogate::by_name(name, c).unwrap();
            let what = |sum: &str| format!("{sum} {name} {sizes:?}");
            let of = |t: f64| loss(name, c, t);
            let got = exact(&Exact::auc(surrogate, Link::Identity), &scores, &labels, &weights);
            close(&got, &naive::auc(&scores, &labels, &weights, of), 1e-12, &what("auc"));
            let got = exact(&Exact::ap(surrogate, Link::Identity), &scores, &labels, &weights);
            close(&got, &naive::ap(&scores, &labels, &weights, of), 1e-11, &what("ap"));
            let Ok(pauc) = Exact::two_way_pauc(surrogate, Link::Identity, (0.13, 0.71), 0.37) else { continue };
            let inside = naive::in_range(&scores, &labels, &weights, (0.13, 0.71), 0.37);
            let got = exact(&pauc, &scores, &labels, &weights);
            close(&got, &naive::auc(&scores, &labels, &inside, of), 1e-12, &what("pauc"));
        }
    }
}

#[test]
fn whole_weights_are_repeated_rows_in_every_pair_sum() {
    let mut rng = Rng::new(19);
    for sizes in [[30, 10], [500, 150]] {
        let (scores, labels, weights) = by_class(&mut rng, sizes, true);
        let more = [&scores, &labels.iter().map(|&y| f64::from(y)).collect()].map(|all| repeated(all, &weights));
        let ones = repeated(&labels, &weights);
        for (name, c) in LOSSES {
            let surrogate = AnySurrogate::by_name(name, c).unwrap();
            let mut sums = vec![Exact::auc(surrogate, Link::Sigmoid), Exact::ap(surrogate, Link::Sigmoid)];
            sums.extend(Exact::pauc(surrogate, Link::Identity, (0.05, 0.55)));
            for of in sums {
                let got = exact(&of, &scores, &labels, &weights);
                let (value, grad) = exact(&of, &more[0], &ones, &[]);
                // What a row weighs, its copies share.
                let mut copies = grad.iter();
                let summed = weights.iter().map(|&w| copies.by_ref().take(w as usize).sum()).collect();
                close(&got, &(value, summed), 1e-12, name);
            }
        }
    }
}

/// Segments of two classes with weights, and what they are made of.
struct Weighed {
    order: Vec<u32>,
    starts: Vec<u32>,
    weights: Vec<f64>,
    masses: Vec<f64>,
}

impl Weighed {
    fn new(labels: &[u8], weights: &[f64]) -> Self {
        let (mut order, mut starts, mut masses) = (vec![0; labels.len()], vec![0; 3], vec![0.0; 2]);
        let segments = Segments::new(labels, &mut order, &mut starts).unwrap();
        let weights: Vec<f64> = segments.order().iter().map(|&row| weights[row as usize]).collect();
        segments.with_weights(&weights, 1.0, &mut masses).unwrap();
        Self { order, starts, weights, masses }
    }
    fn segments(&self) -> Segments<'_> {
        let segments = Segments::again(&self.order, &self.starts).unwrap();
        segments.weighted_again(&self.weights, &self.masses).unwrap()
    }
}

/// Calls `see` with the rows and starts of batches.
fn draw(sampler: AnySampler, segments: &Segments<'_>, batches: usize, mut see: impl FnMut(&[u32], &[u32], Drawn)) {
    let rows = sampler.rows(segments);
    let (mut cursor, mut order) = (vec![0; segments.cursor_len()], vec![0; segments.items()]);
    let (mut index, mut items, mut starts) = (vec![0; rows], vec![0; rows], vec![0; 3]);
    sampler.prepare(segments, &cursor, &mut order).unwrap();
    for _ in 0..batches {
        let to = Place { index: &mut index, items: &mut items, starts: &mut starts };
        let drawn = sampler.draw(segments, &mut cursor, &mut order, to).unwrap();
        see(&index, &starts, drawn);
    }
}

#[test]
fn weights_are_shares_of_the_draws() {
    let mut rng = Rng::new(20);
    let (n, epochs) = (40usize, 3000usize);
    let labels: Vec<u8> = (0..n).map(|k| u8::from(k % 4 == 0)).collect();
    let weights: Vec<f64> = (0..n).map(|_| 0.05 + rng.uniform() * rng.uniform() * 3.0).collect();
    let weighed = Weighed::new(&labels, &weights);
    let segments = weighed.segments();
    let [low, high] = [0, 1].map(|class| segments.size(class));
    for (sampler, of) in [
        (AnySampler::Stratified(Stratified::new(3, high, low).unwrap()), [[0, 0], [1, 1]]),
        (AnySampler::Shuffle(Shuffle::new(3, n as u32).unwrap()), [[0, 1], [0, 1]]),
    ] {
        let mut counts = vec![0u64; n];
        // A batch is an epoch here: every row as often as its weight says, rounded down or up.
        let sums = of.map(|classes| {
            let there = (0..n).filter(|&k| classes.contains(&usize::from(labels[k])));
            (there.clone().count() as f64, there.map(|k| weights[k]).sum::<f64>())
        });
        let expected = |k: usize| {
            let (rows, sum) = sums[usize::from(labels[k])];
            rows * weights[k] / sum
        };
        draw(sampler, &segments, epochs, |index, _, _| {
            let mut here = vec![0; n];
            index.iter().for_each(|&row| here[row as usize] += 1);
            for k in 0..n {
                let (count, expected) = (f64::from(here[k]), expected(k));
                assert!(count >= expected.floor() - 1e-9 && count <= expected.ceil() + 1e-9, "{count} for {expected}");
                counts[k] += here[k] as u64;
            }
        });
        for (k, &count) in counts.iter().enumerate() {
            let (mean, expected) = (count as f64 / epochs as f64, expected(k));
            let part = expected.fract();
            let noise = 4.5 * (part * (1.0 - part) / epochs as f64).sqrt();
            assert!((mean - expected).abs() <= noise + 1e-9, "row {k}: {mean}, expected {expected} ± {noise}");
        }
    }
    // Ones are none.
    let plain = Weighed::new(&labels, &vec![1.0; n]);
    let (even, none) = (plain.segments(), Segments::again(&plain.order, &plain.starts).unwrap());
    let sampler = AnySampler::Stratified(Stratified::new(3, 3, 7).unwrap());
    let rows = |segments: &Segments<'_>| {
        let mut all = Vec::new();
        draw(sampler, segments, 50, |index, _, _| all.extend_from_slice(index));
        all
    };
    assert_eq!(rows(&even), rows(&none));
}

#[test]
fn gradients_of_batches_are_unbiased_for_the_weighted_objective() {
    let mut rng = Rng::new(21);
    let n = 24;
    let labels: Vec<u8> = (0..n).map(|k| u8::from(k % 3 == 0)).collect();
    let scores: Vec<f64> = labels.iter().map(|&y| rng.normal() + f64::from(y)).collect();
    let weights: Vec<f64> = (0..n).map(|_| 0.2 + 2.0 * rng.uniform()).collect();
    let weighed = Weighed::new(&labels, &weights);
    let segments = weighed.segments();
    let population = [segments.size(0), segments.size(1)];
    let total: f64 = weights.iter().sum();
    let sigmoid = |s: f64| 1.0 / (1.0 + (-s).exp());
    let by_ce: Vec<f64> = (0..n).map(|k| weights[k] / total * (sigmoid(scores[k]) - f64::from(labels[k]))).collect();
    let by_pairs = naive::auc(&scores, &labels, &weights, |t| loss("squared-hinge", 1.0, t)).1;
    let (ce, pairs) = (CrossEntropy::new(ClassWeights::Plain, Weights::Unbiased), AucPairwise::default());
    let of: [(&dyn Estimator<f64>, &[f64], AnySampler); 3] = [
        (&ce, &by_ce, AnySampler::Stratified(Stratified::new(5, 3, 5).unwrap())),
        (&ce, &by_ce, AnySampler::Shuffle(Shuffle::new(5, 8).unwrap())),
        (&pairs, &by_pairs, AnySampler::Stratified(Stratified::new(5, 3, 5).unwrap())),
    ];
    for (estimator, expected, sampler) in of {
        let (mut mean, mut square, mut batches) = (vec![0.0; n], vec![0.0; n], 0.0);
        draw(sampler, &segments, 30_000, |index, starts, drawn| {
            let at: Vec<f64> = index.iter().map(|&row| scores[row as usize]).collect();
            let batch = Batch::weighted(&at, 1, starts, &population, &weighed.masses, drawn).unwrap();
            let mut real = vec![0.0; Estimator::<f64>::need(estimator, batch.shape()).real];
            let (scratch, mut grad) = (Scratch { real: &mut real, ..Scratch::default() }, vec![0.0; at.len()]);
            estimator.gradient(&batch, &[], &[], scratch, Grad { scores: &mut grad, aux: &mut [] }).unwrap();
            let mut by_row = vec![0.0; n];
            index.iter().zip(grad).for_each(|(&row, g)| by_row[row as usize] += g);
            for k in 0..n {
                mean[k] += by_row[k];
                square[k] += by_row[k] * by_row[k];
            }
            batches += 1.0;
        });
        for k in 0..n {
            let (mean, square) = (mean[k] / batches, square[k] / batches);
            let noise = 4.5 * ((square - mean * mean) / batches).sqrt();
            assert!((mean - expected[k]).abs() <= noise + 1e-12, "row {k}: {mean}, expected {} ± {noise}", expected[k]);
        }
    }
}

fn weight(k: usize) -> f64 {
    (k * 7 % 5) as f64
}

/// Two classes of rows with two features; some weights are 0, and the others whole.
fn training(kept: Option<&dyn Fn(usize) -> bool>) -> (Dataset<f64>, Vec<f64>) {
    let mut rng = Rng::new(22);
    let (n, mut x, mut y, mut w) = (90, Vec::new(), Vec::new(), Vec::new());
    for k in 0..n {
        let label = u8::from(k % 4 == 1);
        let row = [rng.normal() + f64::from(label), rng.normal()];
        if kept.is_none_or(|kept| kept(k)) {
            x.extend(row);
            y.push(label);
            w.push(weight(k));
        }
    }
    (Dataset::dense(x, y, 2).unwrap(), w)
}

fn trained(config: &Config, data: Dataset<f64>) -> Result<(Vec<f64>, f64), String> {
    let mut trainer = Trainer::new(config, Arc::new(data), None).map_err(|error| error.to_string())?;
    while trainer.step().map_err(|error| error.to_string())?.is_some() {}
    let report = trainer.report().map_err(|error| error.to_string())?;
    Ok((trainer.params().to_vec(), report.objective))
}

/// What takes no weights: what looks at all rows at once without a weighted sum, and what draws from cells.
const WITHOUT: [&str; 13] = [
    "agd-sbcd",
    "dca",
    "proximal-dca",
    "svm-pauc-tight",
    "sorr",
    "sonex",
    "alexr2",
    "sox",
    "msvr",
    "sonx",
    "lagrange",
    "icppac",
    "ooa",
];

#[test]
fn every_method_takes_weights_or_says_that_it_does_not() {
    let without = BTreeSet::from(WITHOUT);
    let mut refused = BTreeSet::new();
    for method in METHODS {
        let mut config = Config { method: method.name.into(), length: Length::Steps(25), ..Config::default() };
        config.fpr = (0.0, 0.6);
        if method.kind == Kind::Cells {
            config.constraints = vec!["fpr <= 0.3".into()];
        }
        let (plain, weights) = training(None);
        let with = |weights: Vec<f64>| training(None).0.with_weights(weights).unwrap();
        if let Err(text) = trained(&config, with(weights.clone())) {
            assert_eq!(text, format!("method {} takes no weights of rows or classes", method.name));
            refused.insert(method.name);
            continue;
        }
        // Equal shares are none, and rows of weight 0 are rows that are not there, both to the bit.
        let equal = trained(&config, with(vec![0.37; plain.len()])).unwrap();
        assert_eq!(equal, trained(&config, plain).unwrap(), "{}", method.name);
        let there = |k: usize| weights[k] > 0.0;
        let (few, some) = training(Some(&there));
        let all = trained(&config, with(weights.clone())).unwrap();
        // (A finite sum draws them, and they move nothing.)
        if !method.is_finite_sum() {
            assert_eq!(all, trained(&config, few.with_weights(some).unwrap()).unwrap(), "{}", method.name);
        }
        // And they do something; classes count by theirs.
        assert_ne!(all.0, equal.0, "{}", method.name);
        let heavier = Config { class_weights: vec![1.0, 5.0], ..config.clone() };
        // (Shares, so that the greater weights of a class are no greater number of rows.)
        let shares: Vec<f64> = weights.iter().zip(1..).map(|(w, k)| w * (1.0 + 0.01 / f64::from(k))).collect();
        let labels = training(None).0;
        let by_row = labels.labels().iter().zip(&shares).map(|(&y, w)| if y == 1 { 5.0 * w } else { *w }).collect();
        let by_class = trained(&heavier, with(shares)).unwrap();
        let by_row = trained(&config, with(by_row)).unwrap();
        // (Rankings leave the intercept to rounding.)
        let told = |of: &(Vec<f64>, f64)| [of.0[0], of.0[1], of.1];
        for (a, b) in told(&by_class).into_iter().zip(told(&by_row)) {
            assert!((a - b).abs() < 1e-6 * b.abs().max(1.0), "{}: {by_class:?} and {by_row:?}", method.name);
        }
    }
    assert_eq!(refused, without);
}

#[test]
fn exact_methods_train_on_whole_weights_as_on_repeated_rows() {
    let there = |k: usize| weight(k) > 0.0;
    for (method, surrogate) in [("auc-exact", "squared-hinge"), ("ap-exact", "sigmoid"), ("pauc-exact", "logistic")] {
        let settings =
            [("surrogate", surrogate), ("decay", "0.01"), ("pretrain", "0")].map(|(k, v)| (k.into(), v.into()));
        let config = Config {
            method: method.into(),
            settings: settings.to_vec(),
            length: Length::Steps(6),
            fpr: (0.1, 0.6),
            ..Config::default()
        };
        let (data, weights) = training(Some(&there));
        let rows: Vec<u32> = repeated(&(0..data.len() as u32).collect::<Vec<_>>(), &weights);
        let more = trained(&config, data.select(&rows).unwrap()).unwrap();
        let got = trained(&config, data.with_weights(weights).unwrap()).unwrap();
        for (a, b) in got.0.iter().zip(&more.0).chain([(&got.1, &more.1)]) {
            assert!((a - b).abs() < 1e-8 * b.abs().max(1.0), "{method}: {got:?} and {more:?}");
        }
    }
}

/// Scores of rows by a model that was trained on others.
fn scores_of(config: &Config, train: Dataset<f64>, rows: &Dataset<f64>) -> (u64, Vec<f64>) {
    let mut trainer = Trainer::new(config, Arc::new(train), None).unwrap();
    trainer.run().unwrap();
    let mut scores = vec![0.0; rows.len()];
    let mut model = trainer.predictor();
    model.score(rows.rows(), &mut scores).unwrap();
    (trainer.total_steps(), scores)
}

/// How far scores are from others, as a part of the largest.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    let largest = b.iter().fold(0.0f64, |most, b| most.max(b.abs()));
    a.iter().zip(b).fold(0.0f64, |most, (a, b)| most.max((a - b).abs())) / largest
}

/// What has no state of its own for each row, and no step that turns at a kink.
const OF_REPEATED_ROWS: [&str; 12] = [
    "auc-exact",
    "ap-exact",
    "pauc-exact",
    "auc-pairwise",
    "ce",
    "ce-balanced",
    "cb-ce",
    "focal",
    "ldam",
    "ppd-sg",
    "ppd-adagrad",
    "smooth-ap",
];

#[test]
fn runs_at_their_defaults_take_whole_weights_for_repeated_rows() {
    let mut rng = Rng::new(31);
    let (n, cols) = (240, 4);
    let y: Vec<u8> = (0..n).map(|k| u8::from(k % 6 == 1)).collect();
    let x: Vec<[f64; 4]> = y
        .iter()
        .map(|&y| {
            let y = f64::from(y);
            [
                5.0 + rng.normal() + 0.8 * y,
                f64::from(rng.uniform() < 0.2 + 0.2 * y),
                rng.normal() - 0.3 * y,
                rng.uniform(),
            ]
        })
        .collect();
    let mut far = Vec::new();
    for times in [1.0, 3.0] {
        let weights: Vec<f64> = (0..n).map(weight).collect();
        let [plain, more] = [x.concat(), repeated(&x, &weights).concat()];
        let ones = repeated(&y, &weights);
        // (Their scale says nothing.)
        let weights: Vec<f64> = weights.iter().map(|w| times * w).collect();
        let of = Preparation::fit_weighted_arrays(&plain, &y, &weights, cols, Scale::Standard).unwrap();
        let by = Preparation::fit_arrays(&more, &ones, cols, Scale::Standard).unwrap();
        let rows = of.apply_arrays(&plain, &y).unwrap();
        let (weighted, twin) = (rows.clone().with_weights(weights).unwrap(), by.apply_arrays(&more, &ones).unwrap());
        let networks = [("auc-exact", "mlp:8"), ("ap-exact", "mlp-tanh:8"), ("ce", "mlp:8,8")];
        for (method, model) in OF_REPEATED_ROWS.iter().map(|&name| (name, "linear")).chain(networks) {
            let config = Config {
                method: method.into(),
                model: ModelSpec::parse(model).unwrap(),
                // (A trial would draw its rows, and a row with its repeats is one to it.)
                init: if model.starts_with("mlp:") { Init::Linear } else { Init::Auto },
                fpr: (0.0, 0.3),
                // (Whole-data methods at their defaults, which is what takes a start of steps over batches.)
                length: if method.ends_with("exact") { Length::Method } else { Length::Passes(40.0) },
                ..Config::default()
            };
            let (steps, got) = scores_of(&config, weighted.clone(), &rows);
            let (others, want) = scores_of(&config, twin.clone(), &rows);
            assert_eq!(steps, others, "{method}");
            let by = apart(&got, &want);
            far.extend((by > 1e-7).then(|| format!("{method}, {model}, {times}: {by:e}")));
        }
    }
    assert!(far.is_empty(), "{far:?}");
}

/// From files: rows that are written as often as the weights say, and words of which one is rarer by weight alone.
#[test]
fn files_with_whole_weights_are_files_of_repeated_rows() {
    let mut rng = Rng::new(32);
    let (mut text, mut more) = (String::from("a,colour,b,w,label\n"), String::from("a,colour,b,label\n"));
    for k in 0..260 {
        let ill = k % 9 < 5;
        let a =
            if k % 11 == 0 { String::new() } else { format!("{:.3}", 3.0 + rng.normal() + f64::from(u8::from(ill))) };
        let colour = ["red", "green", "", "blue"][(4.0 * rng.uniform()) as usize];
        // (One that is in rows of weight 0 alone.)
        let colour = if weight(k) == 0.0 && k % 3 == 0 { "black" } else { colour };
        let (b, label) = (u8::from(rng.uniform() < 0.3), if ill { "ill" } else { "well" });
        let w = weight(k) + if ill || weight(k) == 0.0 { 0.0 } else { 2.0 };
        text += &format!("{a},{colour},{b},{w},{label}\n");
        (0..w as usize).for_each(|_| more += &format!("{a},{colour},{b},{label}\n"));
    }
    let read = |text: &str| RawTable::parse(text.as_bytes(), Format::Auto, "f.csv").unwrap();
    let plain = Options { missing: Missing::Impute, ..Options::default() };
    let (table, others) = (read(&text), read(&more));
    let of = Preparation::fit(&table, &Options { weight: Some("w".into()), ..plain.clone() }).unwrap();
    let by = Preparation::fit(&others, &plain).unwrap();
    assert_eq!((of.positive(), of.column_names()), (by.positive(), by.column_names()));
    assert_eq!(of.positive(), Some("ill"));
    for (a, b) in of.encoded().iter().zip(by.encoded()) {
        near(&[a.shift, a.divisor], &[b.shift, b.divisor]);
    }
    let (weighted, twin) = (of.apply::<f64>(&table).unwrap(), by.apply::<f64>(&others).unwrap());
    for method in ["auc-exact", "ap-exact", "ce"] {
        let config = Config { method: method.into(), ..Config::default() };
        let file = |train: &Dataset<f64>, preparation: &Preparation| {
            let mut trainer = Trainer::new(&config, Arc::new(train.clone()), None).unwrap();
            trainer.run().unwrap();
            let file = trainer.predictor().file(preparation.clone()).to_bytes();
            Predictor::<f64>::load(&file).unwrap().predict(&table).unwrap()
        };
        let far = apart(&file(&weighted, &of), &file(&twin, &by));
        assert!(far <= 1e-7, "{method}: {far:e}");
    }
}

/// w, w/mean and 1000 w are one model, and the length of a run goes by what its rows come to.
#[test]
fn weights_have_no_scale() {
    let base: Vec<f64> = (0..90).map(weight).collect();
    let mean = base.iter().sum::<f64>() / base.len() as f64;
    for method in ["ce", "soap", "ap-exact", "ppd-sg", "ai-sarah"] {
        let of = |by: f64| {
            let data = training(None).0.with_weights(base.iter().map(|w| w * by).collect()).unwrap();
            // (So that passes are more steps than the least.)
            let batch = |name: &str| (name.to_string(), "1".to_string());
            let settings = if method == "ce" { vec![batch("positives"), batch("negatives")] } else { Vec::new() };
            let length = if method == "ce" { Length::Passes(10.0) } else { Length::Method };
            let config = Config { method: method.into(), length, settings, ..Config::default() };
            let mut trainer = Trainer::new(&config, Arc::new(data), None).unwrap();
            trainer.run().unwrap();
            (trainer.total_steps(), trainer.predictor().params().to_vec())
        };
        let (steps, want) = of(1.0);
        // (Of multiples to the last bit.)
        for (by, bound) in [(1000.0, 0.0), (3.0, 0.0), (2.0_f64.powi(-40), 0.0), (1.0 / mean, 0.0), (0.1, 0.0)] {
            let (other, got) = of(by);
            assert_eq!(other, steps, "{method}, {by}");
            let far = apart(&got, &want);
            assert!(far <= bound, "{method}, {by}: {far:e}");
        }
        assert!(method != "ce" || steps == 5 * base.iter().sum::<f64>() as u64, "{steps}");
    }
}

/// Weights that are no multiples of the least are shares, and each row is one.
#[test]
fn shares_have_no_scale_either() {
    let share = |k: usize| 0.3 + (k as f64 * 0.618).fract();
    let of = |by: f64| {
        let data = training(None).0.with_weights((0..90).map(|k| by * share(k)).collect()).unwrap();
        let batch = |name: &str| (name.to_string(), "1".to_string());
        let settings = vec![batch("positives"), batch("negatives")];
        let config = Config { method: "ce".into(), length: Length::Passes(10.0), settings, ..Config::default() };
        let mut trainer = Trainer::new(&config, Arc::new(data), None).unwrap();
        trainer.run().unwrap();
        (trainer.total_steps(), trainer.predictor().params().to_vec())
    };
    let (steps, want) = of(1.0);
    assert_eq!(steps, 450);
    for by in [1000.0, 1e-9, 1e30, 0.37] {
        let (other, got) = of(by);
        assert!(other == steps && apart(&got, &want) < 1e-9, "{by}");
    }
    // (Equal ones are none.)
    let equal = training(None).0.with_weights(vec![7.5; 90]).unwrap();
    let config = Config { method: "soap".into(), ..Config::default() };
    assert_eq!(trained(&config, equal).unwrap(), trained(&config, training(None).0).unwrap());
}

#[test]
fn reported_objectives_of_whole_weights_are_those_of_repeated_rows() {
    let there = |k: usize| weight(k) > 0.0;
    for method in METHODS.iter().filter(|method| !WITHOUT.contains(&method.name)) {
        let config =
            Config { method: method.name.into(), length: Length::Steps(0), fpr: (0.0, 0.6), ..Config::default() };
        let (data, weights) = training(Some(&there));
        let rows: Vec<u32> = repeated(&(0..data.len() as u32).collect::<Vec<_>>(), &weights);
        // At one model: that of cross-entropy after some steps.
        let ce = Config { method: "ce".into(), length: Length::Steps(40), ..Config::default() };
        let mut start = Trainer::new(&ce, Arc::new(data.clone()), None).unwrap();
        start.run().unwrap();
        let objective = |data: Dataset<f64>| {
            let given = undercurve::trainer::Given {
                start: Some(start.predictor()),
                ..undercurve::trainer::Given::rows(Arc::new(data))
            };
            Trainer::of(&config, given).unwrap().report().unwrap().objective
        };
        let (a, b) =
            (objective(data.clone().with_weights(weights.clone()).unwrap()), objective(data.select(&rows).unwrap()));
        assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{}: {a} and {b}", method.name);
    }
}

#[test]
fn finite_sums_of_whole_weights_are_those_of_repeated_rows() {
    let (data, weights) = training(None);
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    let scaled: Vec<f64> = weights.iter().map(|w| w / mean).collect();
    let rows: Vec<u32> = repeated(&(0..data.len() as u32).collect::<Vec<_>>(), &weights);
    let more = data.select(&rows).unwrap();
    for loss in [GlmLoss::Logistic, GlmLoss::LeastSquares] {
        let a = Glm::new(data.rows(), data.response(), loss, 0.01, true).unwrap().with_weights(&scaled).unwrap();
        let b = Glm::new(more.rows(), more.response(), loss, 0.01, true).unwrap();
        let (w, v) = ([0.3, -0.7, 0.2], [0.1, 0.4, -0.3]);
        let (mut by_a, mut by_b) = ([0.0; 3], [0.0; 3]);
        near(&[a.gradient(&w, &mut by_a).unwrap()], &[b.gradient(&w, &mut by_b).unwrap()]);
        near(&by_a, &by_b);
        near(
            &[a.objective(&w).unwrap(), a.accuracy(&w).unwrap()],
            &[b.objective(&w).unwrap(), b.accuracy(&w).unwrap()],
        );
        for at in [None, Some(&w[..])] {
            a.hessian(at, &v, &mut by_a).unwrap();
            b.hessian(at, &v, &mut by_b).unwrap();
            near(&by_a, &by_b);
        }
        let (some, all): (Vec<u32>, Vec<u32>) = ((0..a.len() as u32).collect(), (0..b.len() as u32).collect());
        let (mut other_a, mut other_b) = ([0.0; 3], [0.0; 3]);
        let bend = a.along(&w, &v, &some, [&mut by_a, &mut other_a], &mut []).unwrap();
        let twin = b.along(&w, &v, &all, [&mut by_b, &mut other_b], &mut []).unwrap();
        near(&[bend.second, bend.third], &[twin.second, twin.third]);
        near(&[by_a, other_a].concat(), &[by_b, other_b].concat());
        // An example's bound is that of its loss, weight and all.
        let mut bounds = vec![0.0; a.len()];
        a.smoothness(&w, &v, 0..a.len(), &mut bounds).unwrap();
        let most = a.max_weighted_norm_sq() * loss.curvature_bound() + 0.01;
        assert!(bounds.iter().all(|&bound| bound <= most * (1.0 + 1e-12)));
    }
    // Every algorithm comes to the same minimum, but for those whose steps do not shrink.
    for method in
        METHODS.iter().filter(|method| method.is_finite_sum() && !["momentum-sum", "adam-sum"].contains(&method.name))
    {
        let settings = vec![("lambda".to_string(), "0.05".to_string())];
        let config =
            Config { method: method.name.into(), settings, length: Length::Passes(300.0), ..Config::default() };
        let got = trained(&config, data.clone().with_weights(weights.clone()).unwrap()).unwrap();
        let twin = trained(&config, more.clone()).unwrap();
        for (a, b) in got.0.iter().zip(&twin.0).chain([(&got.1, &twin.1)]) {
            assert!((a - b).abs() < 2e-3, "{}: {got:?} and {twin:?}", method.name);
        }
    }
    let config =
        Config { method: "ai-sarah".into(), model: ModelSpec::parse("mlp-tanh:3").unwrap(), ..Config::default() };
    let text = trained(&config, data.clone().with_weights(weights).unwrap()).unwrap_err();
    assert_eq!(text, "method ai-sarah with mlp-tanh:3 takes no weights of rows or classes");
}

#[test]
fn the_state_of_a_row_that_is_in_a_batch_twice_moves_once() {
    let scores = [0.3, -0.4, 0.9, -1.1, 0.2, 0.05, 0.6, 0.6, -0.2];
    let (starts, population, masses) = ([0, 6, 9], [20, 5], [31.0, 12.5]);
    for method in METHODS.iter().filter(|method| method.kind == Kind::Batches && !WITHOUT.contains(&method.name)) {
        let estimator = method.estimator(&method.settings(&[]).unwrap().with_fpr((0.0, 0.5))).unwrap();
        let of = |state: &mut Vec<f64>, slots: &[u32]| {
            let batch = Batch::weighted(&scores, 1, &starts, &population, &masses, Drawn::Stratified).unwrap();
            let batch = batch.with_slots(slots);
            let need = Estimator::<f64>::need(&estimator, batch.shape());
            let (mut real, mut f64s) = (vec![0.0; need.real], vec![0.0; need.f64]);
            let (mut u32s, mut u64s) = (vec![0; need.u32], vec![0; need.u64]);
            let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
            let (low, high) = estimator.aux();
            let (aux, mut by_aux, mut grad) = (vec![0.1; low + high], vec![0.0; low + high], vec![0.0; 9]);
            let grad_of = Grad { scores: &mut grad, aux: &mut by_aux };
            estimator.update(&batch, &aux, state, scratch, grad_of).map(|value| (value, [grad, by_aux].concat()))
        };
        let mut before = vec![0.0; estimator.state_len(5)];
        // (What wants uniform batches has no state of rows.)
        if of(&mut before, &[0, 2, 1]).is_err() {
            continue;
        }
        let (mut apart, mut twice) = (before.clone(), before.clone());
        let (a, b) = (of(&mut apart, &[0, 2, 1]).unwrap(), of(&mut twice, &[0, 0, 1]).unwrap());
        near(&[a.0], &[b.0]);
        near(&a.1, &b.1);
        for k in 0..before.len() {
            let moved = (apart[k] - twice[k]).abs() <= 1e-12;
            assert!(moved || twice[k] == before[k], "{}, {k}: {} and {}", method.name, apart[k], twice[k]);
        }
    }
}

#[test]
fn a_sum_takes_weights_and_rows_in_any_order() {
    let mut rng = Rng::new(23);
    let value_grad = |sum, scores: &[f64], labels: &[u8], weights: &[f64], loss| {
        let need = pairs::sum_need(scores.len());
        let (mut f, mut i, mut k) = (vec![0.0; need.f64], vec![0; need.u32], vec![0; need.u64]);
        let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
        let mut grad = vec![0.0f64; scores.len()];
        let truth = Truth::new(labels, weights)?;
        pairs::sum(sum, scores, truth, loss, Grade::Full, scratch, &mut grad).map(|value| (value, grad))
    };
    for &(name, _, param) in SURROGATES {
        let loss = AnySurrogate::by_name(name, param).unwrap();
        for sum in [Sum::Auc, Sum::Ap, Sum::Pauc { fpr: (0.1, 0.6), tpr: 0.0 }, Sum::Pauc { fpr: (0.0, 0.5), tpr: 0.3 }]
        {
            if matches!(sum, Sum::Pauc { .. }) && !loss.is_monotone() {
                continue;
            }
            for n in [8, 60, 900] {
                let (mut scores, labels, weights) = rows(&mut rng, n, true);
                // (Which of two tied rows is in a range is nobody's choice.)
                scores.iter_mut().for_each(|s| *s += 1e-3 * rng.normal());
                let (value, grad) = value_grad(sum, &scores, &labels, &weights, loss).unwrap();
                let more = (repeated(&scores, &weights), repeated(&labels, &weights));
                let (twin, by_row) = value_grad(sum, &more.0, &more.1, &[], loss).unwrap();
                near(&[value], &[twin]);
                let mut from = 0;
                for (g, w) in grad.iter().zip(&weights) {
                    let to = from + *w as usize;
                    near(&[*g], &[by_row[from..to].iter().sum()]);
                    from = to;
                }
                // Without weights it is the function of its own.
                let plain = value_grad(sum, &scores, &labels, &[], loss).unwrap();
                let need = pairs::need(n, n);
                let (mut f, mut i, mut k) = (vec![0.0; need.f64], vec![0; need.u32], vec![0; need.u64]);
                let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
                let mut own = vec![0.0f64; n];
                let value = match sum {
                    Sum::Auc => pairs::auc(&scores, &labels, loss, Grade::Full, scratch, &mut own),
                    Sum::Ap => pairs::ap(&scores, &labels, loss, Grade::Full, scratch, &mut own),
                    Sum::Pauc { fpr, tpr: 0.0 } => {
                        pairs::pauc(&scores, &labels, loss, fpr, Grade::Full, scratch, &mut own)
                    }
                    Sum::Pauc { .. } => continue,
                };
                assert_eq!((value.unwrap(), own), plain, "{name} {sum:?}");
            }
        }
    }
    let hinge = AnySurrogate::by_name("hinge", 1.0).unwrap();
    let one = value_grad(Sum::Auc, &[0.1, 0.2], &[1, 0], &[0.0, 1.0], hinge);
    assert_eq!(one, Err(Error::OneClass));
    let other = value_grad(Sum::Auc, &[0.1, 0.2], &[1, 2], &[1.0, 1.0], hinge);
    assert!(matches!(other, Err(Error::Label { .. })), "{other:?}");
}
