//! Weights of rows: whole ones are repeated rows, none is a row that is not there, equal ones are none.

use undercurve::data::Dataset;
use undercurve::metric::multiclass::{self, Ties};
use undercurve::metric::{Confusion, Costs, FprRange, Labels, Metrics, TieRule, Truth, class_summary, value_summary};
use undercurve::rng::Rng;
use undercurve::{Error, Scratch};
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
