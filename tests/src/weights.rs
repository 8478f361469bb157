//! Naive twins of what weights mean: sums over rows and pairs as the definitions have them, and rows repeated.

/// Every row as often as its whole weight says.
pub fn repeated<V: Copy>(values: &[V], weights: &[f64]) -> Vec<V> {
    let of = |(value, weight): (&V, &f64)| std::iter::repeat_n(*value, *weight as usize);
    values.iter().zip(weights).flat_map(of).collect()
}

/// AUROC: Σ w_i w_j (1[s_i > s_j] + ½ 1[s_i = s_j]) / (W₊ W₋).
pub fn auroc(scores: &[f64], labels: &[u8], weights: &[f64]) -> f64 {
    let (mut sum, mut all) = (0.0, 0.0);
    for i in (0..scores.len()).filter(|&i| labels[i] == 1) {
        for j in (0..scores.len()).filter(|&j| labels[j] == 0) {
            let won = if scores[i] > scores[j] {
                1.0
            } else if scores[i] == scores[j] {
                0.5
            } else {
                0.0
            };
            sum += weights[i] * weights[j] * won;
            all += weights[i] * weights[j];
        }
    }
    sum / all
}

/// Average precision: 1/W₊ Σ_{i∈+} w_i Σ_{k∈+, s_k ≥ s_i} w_k / Σ_{k, s_k ≥ s_i} w_k.
pub fn average_precision(scores: &[f64], labels: &[u8], weights: &[f64]) -> f64 {
    let above = |i: usize, all: bool| -> f64 {
        (0..scores.len()).filter(|&k| scores[k] >= scores[i] && (all || labels[k] == 1)).map(|k| weights[k]).sum()
    };
    let positives = || (0..scores.len()).filter(|&i| labels[i] == 1 && weights[i] > 0.0);
    let total: f64 = positives().map(|i| weights[i]).sum();
    positives().map(|i| weights[i] * above(i, false) / above(i, true)).sum::<f64>() / total
}

/// Value and gradient of 1/(W₊W₋) Σ_{i∈+} w_i Σ_{j∈−} w_j ℓ(s_i − s_j).
pub fn auc(scores: &[f64], labels: &[u8], weights: &[f64], loss: impl Fn(f64) -> (f64, f64)) -> (f64, Vec<f64>) {
    let of = |class: u8| (0..scores.len()).filter(move |&k| labels[k] == class);
    let [low, high] = [0, 1].map(|class| of(class).map(|k| weights[k]).sum::<f64>());
    let (mut value, mut grad) = (0.0, vec![0.0; scores.len()]);
    for i in of(1) {
        for j in of(0) {
            let (l, slope) = loss(scores[i] - scores[j]);
            let kappa = weights[i] * weights[j] / (low * high);
            value += kappa * l;
            grad[i] += kappa * slope;
            grad[j] -= kappa * slope;
        }
    }
    (value, grad)
}

/// Value and gradient of −1/W₊ Σ_{i∈+} w_i g1_i/g2_i with g1_i = Σ_{j∈+} w_j ℓ(s_i − s_j), g2_i the same over all rows.
pub fn ap(scores: &[f64], labels: &[u8], weights: &[f64], loss: impl Fn(f64) -> (f64, f64)) -> (f64, Vec<f64>) {
    let positives = || (0..scores.len()).filter(|&k| labels[k] == 1);
    let total: f64 = positives().map(|k| weights[k]).sum();
    let (mut value, mut grad) = (0.0, vec![0.0; scores.len()]);
    for i in positives() {
        let (mut g1, mut g2) = (0.0, 0.0);
        for j in 0..scores.len() {
            let l = weights[j] * loss(scores[i] - scores[j]).0;
            g2 += l;
            g1 += if labels[j] == 1 { l } else { 0.0 };
        }
        let share = weights[i] / total;
        value -= share * g1 / g2;
        for j in 0..scores.len() {
            let by_g1 = if labels[j] == 1 { -share / g2 } else { 0.0 };
            let slope = (by_g1 + share * g1 / (g2 * g2)) * weights[j] * loss(scores[i] - scores[j]).1;
            grad[i] += slope;
            grad[j] -= slope;
        }
    }
    (value, grad)
}

/// Weights of the rows of a partial AUC: of the negatives, by descending score, what lies between `low` and `high` of their
/// whole weight; of the positives what lies beyond `tpr`.
pub fn in_range(scores: &[f64], labels: &[u8], weights: &[f64], (low, high): (f64, f64), tpr: f64) -> Vec<f64> {
    let mut out = vec![0.0; scores.len()];
    for (class, from, to) in [(0, low, high), (1, tpr, 1.0)] {
        let mut rows: Vec<usize> = (0..scores.len()).filter(|&k| labels[k] == class).collect();
        rows.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let total: f64 = rows.iter().map(|&k| weights[k]).sum();
        let mut before = 0.0;
        for k in rows {
            let end = before + weights[k];
            out[k] = (end.min(to * total) - before.max(from * total)).max(0.0);
            before = end;
        }
    }
    out
}
