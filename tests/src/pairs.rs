//! Pair sums as double loops.

/// A loss of the margin by name: (ℓ(t), ℓ'(t)). `c` is the margin, the scale or the smoothing (then the margin is 1).
pub fn loss(name: &str, c: f64, t: f64) -> (f64, f64) {
    match name {
        "square" => ((c - t) * (c - t), -2.0 * (c - t)),
        "squared-hinge" => {
            let d = (c - t).max(0.0);
            (d * d, -2.0 * d)
        }
        "hinge" => {
            if c > t {
                (c - t, -1.0)
            } else {
                (0.0, 0.0)
            }
        }
        "smoothed-hinge" => {
            let d = 1.0 - t;
            if d <= 0.0 {
                (0.0, 0.0)
            } else if d < c {
                (d * d / (2.0 * c), -d / c)
            } else {
                (d - c / 2.0, -1.0)
            }
        }
        "ramp" => {
            if t < 0.0 {
                (1.0, 0.0)
            } else if t < c {
                ((c - t) / c, -1.0 / c)
            } else {
                (0.0, 0.0)
            }
        }
        "logistic" => {
            let x = -c * t;
            let value = if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() };
            (value, -c / (1.0 + (c * t).exp()))
        }
        "sigmoid" => {
            let a = (-(c * t).abs()).exp();
            let value = if t > 0.0 { a / (1.0 + a) } else { 1.0 / (1.0 + a) };
            (value, -c * a / ((1.0 + a) * (1.0 + a)))
        }
        "exponential" => {
            let e = (-c * t).exp();
            (e, -c * e)
        }
        _ => panic!("no loss named {name}"),
    }
}

/// Value, gradient by every score, and for each gradient entry the sum of the absolute values of its terms: the scale
/// on which its rounding error is to be judged when the terms have both signs.
pub struct Sums {
    /// The objective.
    pub value: f64,
    /// Its derivative by each score.
    pub grad: Vec<f64>,
    /// Sum of the absolute terms of each derivative.
    pub size: Vec<f64>,
}

impl Sums {
    fn new(n: usize) -> Self {
        Self { value: 0.0, grad: vec![0.0; n], size: vec![0.0; n] }
    }
    fn add(&mut self, at: usize, term: f64) {
        self.grad[at] += term;
        self.size[at] += term.abs();
    }
}

/// Mean of ℓ(s_i − s_j) over positives i and others j, the pair weighing `weight[j]` (negatives with weight 0 are left out).
pub fn weighted_auc(name: &str, c: f64, scores: &[f64], labels: &[u8], weight: &[f64]) -> Sums {
    let n = scores.len();
    let mut out = Sums::new(n);
    let positives = labels.iter().filter(|&&y| y == 1).count() as f64;
    let total: f64 = (0..n).filter(|&j| labels[j] == 0).map(|j| weight[j]).sum();
    for i in (0..n).filter(|&i| labels[i] == 1) {
        let mut row = 0.0;
        for j in (0..n).filter(|&j| labels[j] == 0 && weight[j] > 0.0) {
            let (v, s) = loss(name, c, scores[i] - scores[j]);
            let w = weight[j] / (positives * total);
            row += w * v;
            out.add(i, w * s);
            out.add(j, -w * s);
        }
        out.value += row;
    }
    out
}

/// Mean of ℓ(s_i − s_j) over positives i and negatives j.
pub fn auc(name: &str, c: f64, scores: &[f64], labels: &[u8]) -> Sums {
    weighted_auc(name, c, scores, labels, &vec![1.0; scores.len()])
}

/// −1/n₊ Σ_i g1_i/g2_i with g1 the sum of ℓ over positives and g2 over everything.
pub fn ap(name: &str, c: f64, scores: &[f64], labels: &[u8]) -> Sums {
    let n = scores.len();
    let mut out = Sums::new(n);
    let positives = labels.iter().filter(|&&y| y == 1).count() as f64;
    for i in (0..n).filter(|&i| labels[i] == 1) {
        let (mut of_positives, mut of_negatives) = (0.0, 0.0);
        for j in 0..n {
            let v = loss(name, c, scores[i] - scores[j]).0;
            if labels[j] == 1 {
                of_positives += v;
            } else {
                of_negatives += v;
            }
        }
        let all = of_positives + of_negatives;
        out.value -= of_positives / all / positives;
        for j in 0..n {
            let s = loss(name, c, scores[i] - scores[j]).1;
            let kappa = if labels[j] == 1 { -of_negatives } else { of_positives } / (all * all * positives);
            out.add(i, kappa * s);
            out.add(j, -kappa * s);
        }
    }
    out
}

/// The weight of every negative in the false-positive range: its place by descending score (ties: the later row
/// first) covers one rank.
pub fn pauc_weights(scores: &[f64], labels: &[u8], alpha: f64, beta: f64) -> Vec<f64> {
    let mut negatives: Vec<usize> = (0..scores.len()).filter(|&j| labels[j] == 0).collect();
    negatives.sort_by(|&a, &b| scores[b].partial_cmp(&scores[a]).unwrap().then(b.cmp(&a)));
    let n = negatives.len() as f64;
    let mut weights = vec![0.0; scores.len()];
    for (rank, &j) in negatives.iter().enumerate() {
        let (from, to) = ((alpha * n).max(rank as f64), (beta * n).min(rank as f64 + 1.0));
        weights[j] = (to - from).max(0.0);
    }
    weights
}
