//! Naive twins of thresholds, calibration and rankings: every threshold tried, every block tried, every order tried.

use crate::metric::{pr, roc};

/// The distinct scores with (false-positive rate, recall, precision, rows at or above), descending.
pub fn thresholds(s: &[f64], y: &[u8]) -> Vec<(f64, f64, f64, f64, usize)> {
    let rows = |t: f64| s.iter().filter(|&&x| x >= t).count();
    roc(s, y)
        .into_iter()
        .zip(pr(s, y))
        .map(|((t, fpr, tpr), (_, _, precision))| (t, fpr, tpr, precision, rows(t)))
        .collect()
}

/// Isotonic regression by its min-max formula: f_i = max over j ≤ i of min over k ≥ i of the mean of y_j … y_k, of rows in
/// ascending order of their scores, equal scores together. The values at the scores, kept within what so many rows can tell.
pub fn isotonic(s: &[f64], y: &[u8]) -> Vec<(f64, f64)> {
    let mut points = s.to_vec();
    points.sort_by(|a, b| a.partial_cmp(b).unwrap());
    points.dedup();
    let mean = |low: f64, high: f64| {
        let inside: Vec<f64> = (0..s.len()).filter(|&i| low <= s[i] && s[i] <= high).map(|i| f64::from(y[i])).collect();
        inside.iter().sum::<f64>() / inside.len() as f64
    };
    let positives = y.iter().filter(|&&y| y == 1).count() as f64;
    let negatives = y.len() as f64 - positives;
    let value = |at: f64| {
        let from = points.iter().filter(|&&low| low <= at);
        let least = |low: f64| {
            points.iter().filter(|&&high| high >= at).map(|&high| mean(low, high)).fold(f64::INFINITY, f64::min)
        };
        from.map(|&low| least(low)).fold(0.0, f64::max)
    };
    let kept = |v: f64| v.max(1.0 / (negatives + 2.0)).min((positives + 1.0) / (positives + 2.0));
    points.iter().map(|&at| (at, kept(value(at)))).collect()
}

/// The loss of Platt's calibration at (slope, offset), as its paper writes it.
pub fn platt_loss(s: &[f64], y: &[u8], slope: f64, offset: f64) -> f64 {
    let positives = y.iter().filter(|&&y| y == 1).count() as f64;
    let negatives = y.len() as f64 - positives;
    let mut loss = 0.0;
    for (&s, &y) in s.iter().zip(y) {
        let p = 1.0 / (1.0 + (-(slope * s + offset)).exp());
        let t = if y == 1 { (positives + 1.0) / (positives + 2.0) } else { 1.0 / (negatives + 2.0) };
        loss -= t * p.ln() + (1.0 - t) * (1.0 - p).ln();
    }
    loss
}

/// Positives among the first k of every order of the rows that keeps scores descending, on average: by trying all orders of the
/// rows tied at the end, of which there are few.
pub fn found_at(s: &[f64], y: &[u8], k: usize) -> f64 {
    let mut order: Vec<usize> = (0..s.len()).collect();
    order.sort_by(|&a, &b| s[b].partial_cmp(&s[a]).unwrap());
    let edge = s[order[k - 1]];
    let sure = order.iter().filter(|&&i| s[i] > edge);
    let (above, hits) = (sure.clone().count(), sure.filter(|&&i| y[i] == 1).count());
    let tied: Vec<u8> = order.iter().filter(|&&i| s[i] == edge).map(|&i| y[i]).collect();
    let (mut sum, mut count) = (0.0, 0.0);
    // Every choice of k − above of the tied rows comes first equally often.
    for mask in 0u32..1 << tied.len() {
        if mask.count_ones() as usize == k - above {
            sum += (0..tied.len()).filter(|&i| mask >> i & 1 == 1 && tied[i] == 1).count() as f64;
            count += 1.0;
        }
    }
    hits as f64 + sum / count
}
