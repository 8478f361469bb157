//! Values of the estimators as plain sums over examples and pairs, in the papers' own form. Gradients are checked against
//! differences of these. `y[i]` is 1 for positives, `w[i]` the weight of an example in a mean over all of them.

pub fn sigmoid(s: f64) -> f64 {
    1.0 / (1.0 + (-s).exp())
}

fn log_loss(z: f64) -> f64 {
    // −ln σ(z)
    if z > 0.0 { (-z).exp().ln_1p() } else { -z + z.exp().ln_1p() }
}

fn toward(s: f64, y: u8) -> f64 {
    if y == 1 { s } else { -s }
}

/// Proposition 1 of Liu et al. 2020, of link scores; `variance` stands for p(1−p).
pub fn auc_min_max(h: &[f64], y: &[u8], w: &[f64], p: f64, variance: f64, aux: [f64; 3]) -> f64 {
    let [a, b, alpha] = aux;
    let mut sum = 0.0;
    for i in 0..h.len() {
        let (plus, minus) = (f64::from(y[i] == 1), f64::from(y[i] == 0));
        let f = (1.0 - p) * (h[i] - a).powi(2) * plus
            + p * (h[i] - b).powi(2) * minus
            + 2.0 * (1.0 + alpha) * (p * h[i] * minus - (1.0 - p) * h[i] * plus);
        sum += w[i] * f;
    }
    sum - variance * alpha * alpha
}

/// Mean of (1 − h₊ + h₋)² over all pairs.
pub fn square_pairs(h: &[f64], y: &[u8]) -> f64 {
    let (mut sum, mut pairs) = (0.0, 0.0);
    for i in 0..h.len() {
        for j in 0..h.len() {
            if y[i] == 1 && y[j] == 0 {
                sum += (1.0 - h[i] + h[j]).powi(2);
                pairs += 1.0;
            }
        }
    }
    sum / pairs
}

/// Yuan et al. 2021, equation (4), times `scale`.
pub fn auc_margin(h: &[f64], y: &[u8], margin: f64, scale: f64, aux: [f64; 3]) -> f64 {
    let [a, b, alpha] = aux;
    let mean = |class: u8, f: &dyn Fn(f64) -> f64| {
        let part: Vec<f64> = (0..h.len()).filter(|&i| y[i] == class).map(|i| f(h[i])).collect();
        part.iter().sum::<f64>() / part.len() as f64
    };
    let spread = mean(1, &|h| (h - a).powi(2)) + mean(0, &|h| (h - b).powi(2));
    scale * (spread + 2.0 * alpha * (margin + mean(0, &|h| h) - mean(1, &|h| h)) - alpha * alpha)
}

pub fn cross_entropy(s: &[f64], y: &[u8], w: &[f64]) -> f64 {
    (0..s.len()).map(|i| w[i] * log_loss(toward(s[i], y[i]))).sum()
}

/// Lin et al. 2017, equation (4).
pub fn focal(s: &[f64], y: &[u8], w: &[f64], gamma: f64) -> f64 {
    let one = |z: f64| sigmoid(-z).powf(gamma) * log_loss(z);
    (0..s.len()).map(|i| w[i] * one(toward(s[i], y[i]))).sum()
}

/// Cui et al. 2019, equation (4): the weights of the negatives and the positives, summing to 2.
pub fn effective(beta: f64, counts: [f64; 2]) -> [f64; 2] {
    let [low, high] = counts.map(|n| (1.0 - beta) / (1.0 - beta.powf(n)));
    [2.0 * low / (low + high), 2.0 * high / (low + high)]
}

/// Cao et al. 2019, equation (13) with the two logits (0, s), both scaled.
pub fn ldam(s: &[f64], y: &[u8], w: &[f64], scale: f64, margin: [f64; 2]) -> f64 {
    let mut sum = 0.0;
    for i in 0..s.len() {
        let class = usize::from(y[i]);
        let mut logits = [0.0, s[i]];
        logits[class] -= margin[class];
        let other = (scale * (logits[1 - class] - logits[class])).exp();
        sum += w[i] * (1.0 + other).ln();
    }
    sum
}

/// Brown et al. 2020, equations (5) and (6); `weight` of the negatives and of the other positives in a rank.
pub fn smooth_ap(h: &[f64], y: &[u8], tau: f64, weight: [f64; 2]) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for i in (0..h.len()).filter(|&i| y[i] == 1) {
        let (mut own, mut all) = (1.0, 1.0);
        for j in (0..h.len()).filter(|&j| j != i) {
            let step = weight[usize::from(y[j])] * sigmoid((h[j] - h[i]) / tau);
            all += step;
            own += if y[j] == 1 { step } else { 0.0 };
        }
        sum += own / all;
        count += 1.0;
    }
    1.0 - sum / count
}

/// Cakir et al. 2019, equations (7)–(12), with a triangular kernel of half-width 1/bins on [0, 1].
pub fn fast_ap(h: &[f64], y: &[u8], bins: usize, weight: [f64; 2]) -> f64 {
    let kernel = |x: f64, z: usize| (1.0 - (x - z as f64 / bins as f64).abs() * bins as f64).max(0.0);
    let mass = |class: u8, z: usize| -> f64 {
        (0..h.len()).filter(|&i| y[i] == class).map(|i| weight[usize::from(class)] * kernel(h[i], z)).sum()
    };
    let mut sum = 0.0;
    for z in 0..=bins {
        let above = |class: u8| (z..=bins).map(|z| mass(class, z)).sum::<f64>();
        let (high, all) = (above(1), above(0) + above(1));
        if all > 0.0 {
            sum += mass(1, z) * high / all;
        }
    }
    let positives: f64 = (0..=bins).map(|z| mass(1, z)).sum();
    1.0 - sum / positives
}

/// Eban et al. 2017: the Lagrangian of recall at each anchor precision, divided by K n₊. `weight` is what an example of
/// each class stands for, divided by n₊.
pub fn min_max_ap(
    h: &[f64],
    y: &[u8],
    loss: &dyn Fn(f64) -> f64,
    share: f64,
    weight: [f64; 2],
    thresholds: &[f64],
    multipliers: &[f64],
) -> f64 {
    let anchors = thresholds.len();
    let mut sum = 0.0;
    for k in 0..anchors {
        let precision = share + (1.0 - share) * (k + 1) as f64 / (anchors + 1) as f64;
        let (mut missed, mut alarms) = (0.0, 0.0);
        for i in 0..h.len() {
            if y[i] == 1 {
                missed += weight[1] * loss(h[i] - thresholds[k]);
            } else {
                alarms += weight[0] * loss(thresholds[k] - h[i]);
            }
        }
        let lambda = multipliers[k].abs();
        sum += (1.0 + lambda) * missed + lambda * (precision / (1.0 - precision) * alarms - 1.0);
    }
    sum / anchors as f64
}

pub fn softmax(s: &[f64]) -> Vec<f64> {
    let sum: f64 = s.iter().map(|s| s.exp()).sum();
    s.iter().map(|s| s.exp() / sum).collect()
}

/// Equation (5) of Liu et al. 2020. `h` rows × classes, `y` class numbers, `w` the weight of a row in a mean over all,
/// `aux` `[a, b, α]` of each ordered pair in the order (0, 1), (0, 2) … (1, 0) …
pub fn auc_multiclass(
    h: &[f64],
    y: &[usize],
    w: &[f64],
    share: &[f64],
    aux: &[[f64; 3]],
    pairs: &[(usize, usize)],
    hand_till: bool,
) -> f64 {
    let classes = share.len();
    let mut total = 0.0;
    for &(i, j) in pairs {
        let place = i * (classes - 1) + if j > i { j - 1 } else { j };
        let [a, b, alpha] = aux[place];
        let (pi, pj) = (share[i], share[j]);
        let mut f = -pi * pj * alpha * alpha;
        for row in 0..y.len() {
            let x = h[row * classes + i];
            if y[row] == i {
                f += w[row] * (pj * (x - a).powi(2) - 2.0 * (1.0 + alpha) * pj * x);
            } else if y[row] == j {
                f += w[row] * (pi * (x - b).powi(2) + 2.0 * (1.0 + alpha) * pi * x);
            }
        }
        total += if hand_till { f / (pi * pj) } else { f };
    }
    total / pairs.len() as f64
}

/// Algorithm 4 of Liu et al. 2020, with one earlier sample of each class.
pub struct Prior {
    pub positives: f64,
    pub negatives: f64,
    pub mean: f64,
    pub variance: f64,
}

impl Prior {
    pub fn new() -> Self {
        Self { positives: 1.0, negatives: 1.0, mean: 0.5, variance: 0.5 }
    }

    pub fn add(&mut self, y: &[u8]) {
        let (j, m) = (self.positives + self.negatives - 2.0, y.len() as f64);
        let ones: f64 = y.iter().map(|&y| f64::from(y)).sum();
        self.mean = ((j + 2.0) * self.mean + ones) / (j + m + 2.0);
        let squares: f64 = y.iter().map(|&y| (f64::from(y) - self.mean).powi(2)).sum();
        self.variance = ((j + 1.0) * self.variance + squares) / (j + m + 1.0);
        self.positives += ones;
        self.negatives += m - ones;
    }
}

impl Default for Prior {
    fn default() -> Self {
        Self::new()
    }
}

/// Derivative of `f` by each coordinate of `x`, by differences of fourth order.
pub fn differences(x: &[f64], f: &dyn Fn(&[f64]) -> f64) -> Vec<f64> {
    let h = 1e-4;
    (0..x.len())
        .map(|i| {
            let at = |step: f64| {
                let mut x = x.to_vec();
                x[i] += step;
                f(&x)
            };
            (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)
        })
        .collect()
}
