//! Metrics of weighted rows as plain sums over pairs of rows, Newcombe's interval, and the variances of DeLong and Obuchowski.

/// Σ w over rows of a class that pass.
fn sum(y: &[u8], w: &[f64], class: u8, pass: impl Fn(usize) -> bool) -> f64 {
    (0..y.len()).filter(|&k| y[k] == class && pass(k)).map(|k| w[k]).sum()
}

/// 1 for a, ½ for a tie.
fn credit(a: f64, b: f64) -> f64 {
    if a > b {
        1.0
    } else if a < b {
        0.0
    } else {
        0.5
    }
}

/// Average precision.
pub fn ap(s: &[f64], y: &[u8], w: &[f64]) -> f64 {
    let all = sum(y, w, 1, |_| true);
    let positives = (0..s.len()).filter(|&i| y[i] == 1);
    let precision = |i: usize| {
        let (right, wrong) = (sum(y, w, 1, |k| s[k] >= s[i]), sum(y, w, 0, |k| s[k] >= s[i]));
        right / (right + wrong)
    };
    positives.map(|i| w[i] * precision(i)).sum::<f64>() / all
}

/// The area of the ROC curve between two false-positive rates over its width: each positive counts the part of the range to its right, where
/// it ties with negatives the mean over their stretch.
pub fn pauc(s: &[f64], y: &[u8], w: &[f64], low: f64, high: f64) -> f64 {
    let (positives, negatives) = (sum(y, w, 1, |_| true), sum(y, w, 0, |_| true));
    let share = |i: usize| {
        let from = sum(y, w, 0, |k| s[k] > s[i]) / negatives;
        let tied = sum(y, w, 0, |k| s[k] == s[i]) / negatives;
        // ∫ over the range of the chance that a place drawn from [from, from + tied] is to the left.
        let below = |x: f64| {
            if x <= from {
                0.0
            } else if x < from + tied {
                (x - from).powi(2) / (2.0 * tied)
            } else {
                x - from - 0.5 * tied
            }
        };
        (below(high) - below(low)) / (high - low)
    };
    (0..s.len()).filter(|&i| y[i] == 1).map(|i| w[i] * share(i)).sum::<f64>() / positives
}

/// Precision and recall of the rows at the top that weigh so much; of those tied at the end a share.
pub fn top(s: &[f64], y: &[u8], w: &[f64], most: f64) -> [f64; 2] {
    let share = |i: usize| {
        let above: f64 = (0..s.len()).filter(|&k| s[k] > s[i]).map(|k| w[k]).sum();
        let tied: f64 = (0..s.len()).filter(|&k| s[k] == s[i]).map(|k| w[k]).sum();
        ((most - above) / tied).clamp(0.0, 1.0)
    };
    let found: f64 = (0..s.len()).filter(|&i| y[i] == 1).map(|i| w[i] * share(i)).sum();
    [found / most, found / sum(y, w, 1, |_| true)]
}

/// By how much a metric moves with the weight of each row, times that weight: central differences.
pub fn moved(w: &[f64], metric: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let at = |row: usize, step: f64| {
        let mut w = w.to_vec();
        w[row] *= 1.0 + step;
        metric(&w)
    };
    (0..w.len()).map(|row| (at(row, 1e-5) - at(row, -1e-5)) / 2e-5).collect()
}

/// Newcombe's method 5: where (A − θ)² is this many times its variance.
pub fn newcombe(value: f64, m: f64, n: f64, square: f64) -> [f64; 2] {
    let half = (m + n) / 2.0;
    let variance = |t: f64| t * (1.0 - t) * (1.0 + (half - 1.0) * ((1.0 - t) / (2.0 - t) + t / (1.0 + t))) / (m * n);
    [0.0, 1.0].map(|end: f64| {
        // By small steps from the value outwards.
        let inside = |t: f64| (value - t).powi(2) <= square * variance(t);
        let (mut at, mut step) = (value, (end - value) / 2.0);
        for _ in 0..200 {
            if inside(at + step) {
                at += step;
            } else {
                step /= 2.0;
            }
        }
        at
    })
}

/// The placements of rows of two scores, and the variance of AUROC and of the difference of two by Obuchowski 1997, equations of her section 2: with
/// X_c and Y_c what positives and negatives of cluster c have of placements beyond the mean,
/// I₁₀/((I₁₀ − 1) m²) Σ X_c² + I₀₁/((I₀₁ − 1) n²) Σ Y_c² + 2 I/((I − 1) m n) Σ X_c Y_c, I₁₀ clusters with positives, I₀₁ with negatives, I all.
/// With every row a cluster of its own it is DeLong's.
pub fn obuchowski(scores: &[&[f64]], y: &[u8], clusters: &[u32]) -> (Vec<f64>, f64) {
    let rows = |class: u8| (0..y.len()).filter(move |&k| y[k] == class).collect::<Vec<_>>();
    let (pos, neg) = (rows(1), rows(0));
    let (m, n) = (pos.len() as f64, neg.len() as f64);
    let area =
        |s: &[f64]| pos.iter().map(|&i| neg.iter().map(|&j| credit(s[i], s[j])).sum::<f64>()).sum::<f64>() / (m * n);
    let values: Vec<f64> = scores.iter().map(|s| area(s)).collect();
    // The second is subtracted from the first.
    let beyond = |k: usize| -> f64 {
        let one = |s: &[f64], value: f64| match y[k] {
            1 => neg.iter().map(|&j| credit(s[k], s[j])).sum::<f64>() / n - value,
            _ => pos.iter().map(|&i| credit(s[i], s[k])).sum::<f64>() / m - value,
        };
        one(scores[0], values[0]) - scores.get(1).map_or(0.0, |s| one(s, values[1]))
    };
    let mut names = clusters.to_vec();
    names.sort_unstable();
    names.dedup();
    let of =
        |class: u8, name: u32| (0..y.len()).filter(|&k| y[k] == class && clusters[k] == name).map(beyond).sum::<f64>();
    let with = |class: u8| {
        names.iter().filter(|&&name| (0..y.len()).any(|k| y[k] == class && clusters[k] == name)).count() as f64
    };
    let (mut x, mut z, mut both) = (0.0, 0.0, 0.0);
    for &name in &names {
        let (a, b) = (of(1, name), of(0, name));
        (x, z, both) = (x + a * a, z + b * b, both + a * b);
    }
    let (i10, i01, i) = (with(1), with(0), names.len() as f64);
    let variance =
        x * i10 / (i10 - 1.0) / (m * m) + z * i01 / (i01 - 1.0) / (n * n) + 2.0 * both * i / (i - 1.0) / (m * n);
    (values, variance)
}
