//! What a picture needs: curves at fixed places, histograms, ranks.

use alloc::vec;
use alloc::vec::Vec;
use undercurve::metric::{PrPoint, RocPoint};

/// True-positive rate at `points` equally spaced false-positive rates from 0 to 1, linear between the curve's points.
pub fn roc_at(curve: &[RocPoint], points: usize) -> Vec<f32> {
    let mut next = 0;
    (0..points)
        .map(|k| {
            let fpr = k as f64 / (points.max(2) - 1) as f64;
            while next + 1 < curve.len() && curve[next + 1].fpr <= fpr {
                next += 1;
            }
            let Some(here) = curve.get(next) else { return 0.0 };
            let there = curve.get(next + 1).unwrap_or(here);
            let width = there.fpr - here.fpr;
            let part = if width > 0.0 { (fpr - here.fpr) / width } else { 0.0 };
            (here.tpr + part * (there.tpr - here.tpr)) as f32
        })
        .collect()
}

/// Precision where the recall first reaches each of `points` equally spaced values from 0 to 1: the steps whose area is
/// the average precision.
pub fn pr_at(curve: &[PrPoint], points: usize) -> Vec<f32> {
    let mut next = 0;
    (0..points)
        .map(|k| {
            let recall = k as f64 / (points.max(2) - 1) as f64;
            // The first point with some recall stands for recall 0.
            while next + 1 < curve.len() && (curve[next].recall < recall || curve[next].recall <= 0.0) {
                next += 1;
            }
            curve.get(next).map_or(0.0, |point| point.precision as f32)
        })
        .collect()
}

/// Lowest and highest score, then each bin's share of the negatives, then of the positives. The range leaves out the
/// most extreme 0.2 % of the scores, which are counted in the outer bins.
pub fn histogram(scores: &[f32], labels: &[u8], bins: usize) -> Vec<f32> {
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let cut = sorted.len() / 500;
    let (Some(&low), Some(&high)) = (sorted.get(cut), sorted.get(sorted.len().wrapping_sub(1 + cut))) else {
        return Vec::new();
    };
    let width = if high > low { high - low } else { 1.0 };
    let mut out = vec![0.0; 2 + 2 * bins];
    out[0] = low;
    out[1] = low + width;
    let positives = labels.iter().filter(|&&y| y == 1).count();
    for (&score, &label) in scores.iter().zip(labels) {
        let bin = (((score - low) / width * bins as f32) as usize).min(bins.saturating_sub(1));
        let (from, count) = if label == 1 { (2 + bins, positives) } else { (2, labels.len() - positives) };
        out[from + bin] += 1.0 / count as f32;
    }
    out
}

/// Replaces each score by the share of `negatives` (ascending) below it, ties counting one half.
pub fn ranks(scores: &mut [f32], negatives: &[f32]) {
    let count = negatives.len().max(1) as f32;
    for score in scores {
        let below = negatives.partition_point(|&x| x < *score);
        let upto = negatives.partition_point(|&x| x <= *score);
        *score = (below + upto) as f32 / (2.0 * count);
    }
}

/// The scores of the negatives, ascending.
pub fn negatives(scores: &[f32], labels: &[u8]) -> Vec<f32> {
    let mut out: Vec<f32> = scores.iter().zip(labels).filter(|(_, y)| **y == 0).map(|(&s, _)| s).collect();
    out.sort_unstable_by(f32::total_cmp);
    out
}
