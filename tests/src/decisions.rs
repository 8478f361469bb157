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

/// All orders of these rows that keep scores descending.
fn orders(s: &[f64], rows: &[usize]) -> Vec<Vec<usize>> {
    if rows.is_empty() {
        return vec![Vec::new()];
    }
    let most = rows.iter().map(|&row| s[row]).fold(f64::NEG_INFINITY, f64::max);
    let mut all = Vec::new();
    for &first in rows.iter().filter(|&&row| s[row] == most) {
        let rest: Vec<usize> = rows.iter().copied().filter(|&row| row != first).collect();
        all.extend(orders(s, &rest).into_iter().map(|tail| [vec![first], tail].concat()));
    }
    all
}

/// The mean over the queries with something to find of the mean over all orders of what is tied of `of`, which sees the gains
/// in an order; and how many queries these are.
pub fn over_queries(s: &[f64], gains: &[f64], query: &[u32], of: impl Fn(&[f64]) -> f64) -> (f64, u64) {
    let mut names = query.to_vec();
    names.sort_unstable();
    names.dedup();
    let (mut sum, mut count) = (0.0, 0);
    for name in names {
        let rows: Vec<usize> = (0..s.len()).filter(|&row| query[row] == name).collect();
        if rows.iter().all(|&row| gains[row] == 0.0) {
            continue;
        }
        let all = orders(s, &rows);
        let value = |order: &Vec<usize>| of(&order.iter().map(|&row| gains[row]).collect::<Vec<_>>());
        sum += all.iter().map(value).sum::<f64>() / all.len() as f64;
        count += 1;
    }
    (sum / count as f64, count)
}

/// Normalised discounted cumulative gain of the first k.
pub fn ndcg(gains: &[f64], k: usize) -> f64 {
    let dcg = |gains: &[f64]| -> f64 {
        gains.iter().take(k).enumerate().map(|(at, g)| (2f64.powf(*g) - 1.0) / (at as f64 + 2.0).log2()).sum()
    };
    let mut best = gains.to_vec();
    best.sort_by(|a, b| b.total_cmp(a));
    dcg(gains) / dcg(&best)
}
