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
