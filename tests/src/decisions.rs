//! Naive twins of thresholds, calibration and rankings: every threshold tried, every block tried, every order tried.

/// A place between two neighbouring scores (infinite beyond all of them), with the true and false positives above it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    pub above: f64,
    pub below: f64,
    pub tp: usize,
    pub fp: usize,
}

/// All places where a threshold may lie, from the highest: between scores that are 32 units of ε times their size apart.
pub fn cuts(s: &[f64], y: &[u8], epsilon: f64) -> Vec<Cut> {
    let logs: Vec<f64> = s.iter().filter(|&&x| x != 0.0).map(|x| x.abs().log2().floor()).collect();
    let size = if logs.is_empty() { 0.0 } else { (logs.iter().sum::<f64>() / logs.len() as f64).ceil().exp2() };
    let mut ends = s.to_vec();
    ends.extend([f64::INFINITY, f64::NEG_INFINITY]);
    ends.sort_by(|a, b| b.total_cmp(a));
    ends.dedup();
    let wide = |a: f64, b: f64| !(a - b).is_finite() || a - b >= 32.0 * epsilon * size.max(a.abs()).max(b.abs());
    let count = |label: u8, above: f64| (0..s.len()).filter(|&i| y[i] == label && s[i] >= above).count();
    let cut = |pair: &[f64]| Cut { above: pair[0], below: pair[1], tp: count(1, pair[0]), fp: count(0, pair[0]) };
    ends.windows(2).filter(|pair| wide(pair[0], pair[1])).map(cut).collect()
}

/// Whether rates of a cut keep a rule, and what they are worth: more is better, first the first, then the second.
pub type Worth<'a> = &'a dyn Fn(f64, f64, f64) -> Option<[f64; 2]>;

/// The cut of the greatest worth of those that keep a rule, given recall, false-positive rate and precision (NaN without alerts).
pub fn best(cuts: &[Cut], y: &[u8], worth: Worth<'_>) -> Option<Cut> {
    let positives = y.iter().filter(|&&y| y == 1).count() as f64;
    let negatives = y.len() as f64 - positives;
    let of = |cut: &Cut| {
        let (tp, fp) = (cut.tp as f64, cut.fp as f64);
        worth(tp / positives, fp / negatives, tp / (tp + fp)).map(|worth| (worth, *cut))
    };
    let better = |a: &[f64; 2], b: &[f64; 2]| a[0] > b[0] || a[0] == b[0] && a[1] > b[1];
    let found = cuts.iter().filter_map(of).reduce(|best, one| if better(&one.0, &best.0) { one } else { best });
    found.map(|found| found.1)
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

/// The probability that a binomial number of n draws is `at` or more, by logarithms of factorials.
pub fn binomial_tail(n: usize, p: f64, at: usize) -> f64 {
    let factorial = |k: usize| (1..=k).map(|i| (i as f64).ln()).sum::<f64>();
    let mut sum = 0.0;
    for k in at..=n {
        let choose = factorial(n) - factorial(k) - factorial(n - k);
        sum += (choose + k as f64 * p.ln() + (n - k) as f64 * (1.0 - p).ln()).exp();
    }
    sum
}

/// The alerts of the threshold that can be promised for `precision`, `recall` or `fpr`: every number of alerts that ties allow,
/// judged by itself from the definition.
pub fn promised_alerts(scores: &[f64], labels: &[u8], rate: &str, bound: f64, risk: f64) -> Option<usize> {
    let mut rows: Vec<(f64, u8)> = scores.iter().copied().zip(labels.iter().copied()).collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let n = rows.len();
    let positives = labels.iter().filter(|&&y| y == 1).count();
    let right = |k: usize| rows[..k].iter().filter(|row| row.1 == 1).count();
    let ends: Vec<usize> = cuts(scores, labels, f64::EPSILON).into_iter().map(|cut| cut.tp + cut.fp).collect();
    match rate {
        // Few enough are wrong that a rate of the bound would rarely show so few; no alert that finds nothing.
        "fpr" => {
            let negatives = n - positives;
            let keeps = |k: usize| 1.0 - binomial_tail(negatives, bound, k - right(k) + 1) <= risk;
            let most = ends.iter().copied().filter(|&k| keeps(k)).map(right).max()?;
            ends.into_iter().find(|&k| right(k) == most)
        }
        // And none that is missed for nothing.
        "recall" => {
            let first = ends.iter().copied().find(|&k| k > 0 && binomial_tail(positives, bound, right(k)) <= risk)?;
            ends.into_iter().rfind(|&k| k - right(k) == first - right(first))
        }
        _ => {
            let most = (positives as f64 / bound).min(n as f64);
            promised_precision(&ends, most, bound, risk, right, |k, _| binomial_tail(k, bound, right(k)))
        }
    }
}

/// The alerts of a promised precision: `most` that can have it, `ends` that ties allow, and the tail of the first k of them in a test at a level.
fn promised_precision(
    ends: &[usize],
    most: f64,
    bound: f64,
    risk: f64,
    right: impl Fn(usize) -> usize,
    tail: impl Fn(usize, f64) -> f64,
) -> Option<usize> {
    let size = |at: i32| (0.7 * most / 1.5f64.powi(at)).round();
    let fewest = |level: f64| (level.ln() / bound.ln()).ceil();
    let count = (1..=8).rfind(|&count| size(count - 1) >= fewest(0.6 * risk / f64::from(count)))?;
    let level = 0.6 * risk / f64::from(count);
    let starts: Vec<f64> = (0..count).rev().map(size).collect();
    // All sizes, each with the last end that it reaches; of a great tie the tie itself.
    let mut sizes = vec![starts[0]];
    loop {
        let last = sizes[sizes.len() - 1];
        let step = (last + 1.0).max((1.03 * last).round());
        let next = starts.iter().copied().find(|&start| start > last).map_or(step, |start| start.min(step));
        if next > most {
            break;
        }
        sizes.push(next);
    }
    let reached = |size: f64| ends.iter().copied().rfind(|&k| k as f64 <= size).unwrap_or(0);
    let (mut open, mut clear, mut failed, mut best) = (false, false, 0, None);
    for sizes in sizes.chunk_by(|&a, &b| reached(a) == reached(b)) {
        let (k, last) = (reached(sizes[0]), sizes[sizes.len() - 1]);
        let later = starts.iter().filter(|&&start| start > last).count();
        let here = starts.iter().filter(|start| sizes.contains(start)).count();
        let passes = |level: f64| k > 0 && tail(k, level) <= level;
        open = open && passes(if clear { risk - level * (failed + later) as f64 } else { level });
        clear = open && clear;
        open |= here > 0 && passes(level);
        failed += if open { 0 } else { here };
        clear |= open && passes(0.01 * risk);
        if open && best.is_none_or(|best| right(k) > right(best)) {
            best = Some(k);
        }
    }
    best
}

/// The area of a density that need not be one of total 1 between two numbers, by so many strips.
fn area(from: f64, to: f64, density: impl Fn(f64) -> f64) -> f64 {
    let (strips, width) = (800, (to - from) / 800.0);
    (0..strips).map(|k| density(from + (f64::from(k) + 0.5) * width)).sum::<f64>() * width
}

/// Where the tail of a symmetric density on (−end, end) is a level.
fn quantile(level: f64, end: f64, density: impl Fn(f64) -> f64) -> f64 {
    let (all, mut low, mut high) = (area(-end, end, &density), 0.0, end);
    for _ in 0..30 {
        let middle = 0.5 * (low + high);
        *(if area(middle, end, &density) > level * all { &mut low } else { &mut high }) = middle;
    }
    0.5 * (low + high)
}

/// The chance of as high a rate as these clusters have, of hits among rows each, where it is the bound, in a test at a level: by Korn and Graubard's
/// effective rows, with all distributions as sums of strips.
pub fn tail_of_clusters(clusters: &[(f64, f64)], rows: f64, bound: f64, level: f64) -> f64 {
    let some: Vec<(f64, f64)> = clusters.iter().copied().filter(|one| one.1 > 0.0).collect();
    let count = some.len() as f64;
    if count < 2.0 {
        return 1.0;
    }
    let sum = |of: &dyn Fn(f64, f64) -> f64| some.iter().map(|&(h, n)| of(h, n)).sum::<f64>();
    let all = sum(&|_, n| n);
    let rate = sum(&|h, _| h) / all;
    let variance = sum(&|h, n| (h - rate * n).powi(2)) * count / (count - 1.0) / all.powi(2);
    let effective = if rate * (1.0 - rate) < 1e-12 {
        all.powi(2) / sum(&|_, n| n.powi(2))
    } else {
        (rate * (1.0 - rate) / variance).min(rows)
    };
    let freedom = (sum(&|_, n| n.powi(2)).powi(2) / sum(&|_, n| n.powi(4)) - 1.0).max(1.0);
    // Student's t is √ν tan θ.
    let angle = quantile(level, std::f64::consts::FRAC_PI_2, |angle| angle.cos().powf(freedom - 1.0));
    let student = freedom.sqrt() * angle.tan();
    let normal = quantile(level, 12.0, |z| (-0.5 * z * z).exp());
    let worth = if level < 0.5 { (normal / student).powi(2) } else { 1.0 };
    let rows = (effective * worth).min(rows);
    let hits = rate * rows;
    if hits <= 0.0 {
        return 1.0;
    }
    let (a, b) = (hits - 1.0, rows - hits);
    let top = (a / (a + b)).clamp(1e-9, 1.0 - 1e-9);
    let log = |x: f64| a * x.ln() + b * (1.0 - x).ln();
    let density = |x: f64| (log(x) - log(top)).exp();
    area(0.0, bound, density) / (area(0.0, bound, density) + area(bound, 1.0, density))
}

/// As [`promised_alerts`] of a precision, of rows with weights in clusters.
pub fn promised_alerts_in(
    scores: &[f64],
    labels: &[u8],
    weights: &[f64],
    clusters: &[u32],
    bound: f64,
    risk: f64,
) -> Option<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let ends: Vec<usize> = cuts(scores, labels, f64::EPSILON).into_iter().map(|cut| cut.tp + cut.fp).collect();
    let weight = |of: &[usize], label: u8| of.iter().filter(|&&i| labels[i] == label).map(|&i| weights[i]).sum::<f64>();
    let share = weight(&order, 1) / (weight(&order, 0) + weight(&order, 1));
    let n = scores.len() as f64;
    let most = (share * n / bound).min(n);
    let right = |k: usize| order[..k].iter().filter(|&&i| labels[i] == 1).count();
    promised_precision(&ends, most, bound, risk, right, |k, level| {
        let mut sums = std::collections::BTreeMap::new();
        for &i in &order[..k] {
            let (hits, all) = sums.entry(clusters[i]).or_insert((0.0, 0.0));
            *hits += weights[i] * f64::from(labels[i]);
            *all += weights[i];
        }
        tail_of_clusters(&sums.into_values().collect::<Vec<_>>(), k as f64, bound, level)
    })
}
