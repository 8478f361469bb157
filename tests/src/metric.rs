//! Metrics straight from their definitions: loops over pairs and over thresholds.

/// What a tied pair counts.
pub fn credit(a: f64, b: f64, tied: f64) -> f64 {
    if a > b {
        1.0
    } else if a == b {
        tied
    } else {
        0.0
    }
}

fn of_class(s: &[f64], y: &[u8], class: u8) -> Vec<f64> {
    (0..s.len()).filter(|&i| y[i] == class).map(|i| s[i]).collect()
}

/// Mean over pairs of [`credit`].
pub fn auroc(s: &[f64], y: &[u8], tied: f64) -> f64 {
    let (pos, neg) = (of_class(s, y, 1), of_class(s, y, 0));
    let mut sum = 0.0;
    for &a in &pos {
        for &b in &neg {
            sum += credit(a, b, tied);
        }
    }
    sum / (pos.len() * neg.len()) as f64
}

/// Mean over positives of the precision at their score.
pub fn average_precision(s: &[f64], y: &[u8]) -> f64 {
    let pos = of_class(s, y, 1);
    let mut sum = 0.0;
    for &a in &pos {
        let above = pos.iter().filter(|&&b| b >= a).count();
        let all = s.iter().filter(|&&b| b >= a).count();
        sum += above as f64 / all as f64;
    }
    sum / pos.len() as f64
}

/// (threshold, false-positive rate, true-positive rate) at every distinct score, descending.
pub fn roc(s: &[f64], y: &[u8]) -> Vec<(f64, f64, f64)> {
    let (pos, neg) = (of_class(s, y, 1), of_class(s, y, 0));
    let mut thresholds = s.to_vec();
    thresholds.sort_by(|a, b| b.partial_cmp(a).unwrap());
    thresholds.dedup();
    let rate = |v: &[f64], t: f64| v.iter().filter(|&&x| x >= t).count() as f64 / v.len() as f64;
    thresholds.into_iter().map(|t| (t, rate(&neg, t), rate(&pos, t))).collect()
}

/// (threshold, recall, precision) at every distinct score, descending.
pub fn pr(s: &[f64], y: &[u8]) -> Vec<(f64, f64, f64)> {
    let pos = of_class(s, y, 1);
    roc(s, y)
        .into_iter()
        .map(|(t, _, _)| {
            let hits = pos.iter().filter(|&&x| x >= t).count() as f64;
            let all = s.iter().filter(|&&x| x >= t).count() as f64;
            (t, hits / pos.len() as f64, hits / all)
        })
        .collect()
}

/// Length of [a, b] ∩ [c, d].
fn overlap(a: f64, b: f64, c: f64, d: f64) -> f64 {
    (b.min(d) - a.max(c)).max(0.0)
}

/// Two-way partial AUC over pairs: positives among the lowest share 1 − `min_tpr`, negatives of ranks in
/// [`low` n₋, `high` n₋] from the top, each by the fraction inside. `tied` is what a tied pair counts.
pub fn pair_area(s: &[f64], y: &[u8], min_tpr: f64, low: f64, high: f64, tied: f64) -> f64 {
    let (mut pos, mut neg) = (of_class(s, y, 1), of_class(s, y, 0));
    pos.sort_by(|a, b| b.partial_cmp(a).unwrap());
    neg.sort_by(|a, b| b.partial_cmp(a).unwrap());
    let (np, nn) = (pos.len() as f64, neg.len() as f64);
    let mut sum = 0.0;
    for (i, &a) in pos.iter().enumerate() {
        let wi = overlap(i as f64, i as f64 + 1.0, min_tpr * np, np);
        for (j, &b) in neg.iter().enumerate() {
            let wj = overlap(j as f64, j as f64 + 1.0, low * nn, high * nn);
            sum += wi * wj * credit(a, b, tied);
        }
    }
    sum / (np * (1.0 - min_tpr) * nn * (high - low))
}

/// Area under the interpolated ROC curve between the rates `low` and `high` and above `min_tpr`, as a share of that
/// rectangle.
pub fn curve_area(s: &[f64], y: &[u8], min_tpr: f64, low: f64, high: f64) -> f64 {
    let mut area = 0.0;
    let (mut x0, mut y0) = (0.0, 0.0);
    for (_, x1, y1) in roc(s, y) {
        let (a, b) = (f64::max(x0, low), f64::min(x1, high));
        if b > a {
            let at = |x: f64| y0 + (y1 - y0) * (x - x0) / (x1 - x0) - min_tpr;
            let (left, right) = (at(a), at(b));
            area += if left >= 0.0 {
                0.5 * (left + right) * (b - a)
            } else if right > 0.0 {
                // A triangle, from where the line crosses `min_tpr`.
                0.5 * right * right / (right - left) * (b - a)
            } else {
                0.0
            };
        }
        (x0, y0) = (x1, y1);
    }
    area / ((high - low) * (1.0 - min_tpr))
}

/// Greatest precision of a threshold with at least this recall.
pub fn precision_at_recall(s: &[f64], y: &[u8], recall: f64) -> f64 {
    pr(s, y).into_iter().filter(|p| p.1 >= recall).map(|p| p.2).fold(0.0, f64::max)
}

/// Greatest recall of a threshold with at least this precision, or 0.
pub fn recall_at_precision(s: &[f64], y: &[u8], precision: f64) -> f64 {
    pr(s, y).into_iter().filter(|p| p.2 >= precision).map(|p| p.1).fold(0.0, f64::max)
}

/// Hand and Till's mean over ordered pairs of classes, and the one-vs-rest mean.
pub fn multiclass(s: &[f64], classes: usize, y: &[u32], tied: f64) -> (f64, f64) {
    let n = y.len();
    let mean = |class: usize, other: &dyn Fn(u32) -> bool| {
        let (mut sum, mut count) = (0.0, 0.0);
        for i in (0..n).filter(|&i| y[i] as usize == class) {
            for j in (0..n).filter(|&j| other(y[j])) {
                sum += credit(s[i * classes + class], s[j * classes + class], tied);
                count += 1.0;
            }
        }
        sum / count
    };
    let (mut pairwise, mut rest) = (0.0, 0.0);
    for class in 0..classes {
        for other in (0..classes).filter(|&o| o != class) {
            pairwise += mean(class, &|label| label as usize == other);
        }
        rest += mean(class, &|label| label as usize != class);
    }
    (pairwise / (classes * (classes - 1)) as f64, rest / classes as f64)
}

/// Rate of scores at or above `t` among the examples of a label and a group; NaN without any.
fn rate(s: &[f64], y: &[u8], groups: &[u32], class: u8, group: u32, t: f64) -> f64 {
    let of: Vec<usize> = (0..s.len()).filter(|&i| y[i] == class && groups[i] == group).collect();
    of.iter().filter(|&&i| s[i] >= t).count() as f64 / of.len() as f64
}

/// Largest gap of that rate between two groups.
pub fn gap(s: &[f64], y: &[u8], groups: &[u32], class: u8, pair: [u32; 2]) -> f64 {
    let apart = |&t: &f64| {
        let [a, b] = pair.map(|group| rate(s, y, groups, class, group, t));
        (a - b).abs()
    };
    s.iter().map(apart).fold(0.0, f64::max)
}

/// That gap at the lowest threshold where at most this share of all negatives is at or above it.
pub fn gap_at(s: &[f64], y: &[u8], groups: &[u32], class: u8, pair: [u32; 2], level: f64) -> f64 {
    let neg = of_class(s, y, 0);
    let share = |t: f64| neg.iter().filter(|&&x| x >= t).count() as f64 / neg.len() as f64;
    let lowest = s.iter().copied().filter(|&t| share(t) <= level).fold(f64::INFINITY, f64::min);
    let [a, b] = pair.map(|group| rate(s, y, groups, class, group, lowest));
    (a - b).abs()
}

/// Mean of ln(1 + e^(−m)), m the score of a positive and minus that of a negative.
pub fn logistic_loss(s: &[f64], y: &[u8]) -> f64 {
    let sum: f64 = s.iter().zip(y).map(|(&s, &y)| (1.0 + (if y == 1 { -s } else { s }).exp()).ln()).sum();
    sum / s.len() as f64
}

/// Mean of the worst share of the losses: min over λ of λ + mean [loss − λ]₊ / level, attained at one of them.
pub fn cvar(losses: &[f64], level: f64) -> f64 {
    losses
        .iter()
        .map(|&at| at + losses.iter().map(|&l| (l - at).max(0.0)).sum::<f64>() / (level * losses.len() as f64))
        .fold(f64::INFINITY, f64::min)
}

/// (false-positive rate, true-positive rate, average cost of a row) of the cheapest threshold, the highest of equal ones.
pub fn cheapest(s: &[f64], y: &[u8], false_positive: f64, false_negative: f64, prevalence: f64) -> (f64, f64, f64) {
    let cost =
        |fpr: f64, tpr: f64| prevalence * false_negative * (1.0 - tpr) + (1.0 - prevalence) * false_positive * fpr;
    let mut best = (0.0, 0.0, cost(0.0, 0.0));
    for (_, fpr, tpr) in roc(s, y) {
        if cost(fpr, tpr) < best.2 - 1e-12 {
            best = (fpr, tpr, cost(fpr, tpr));
        }
    }
    best
}
