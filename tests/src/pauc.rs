//! Partial AUC in a range of false-positive rates, transcribed from Yao, Lin and Yang 2022 by plain loops.

use crate::soap::surrogate;

/// The part of the rank `rank` (0 the highest score) that lies in the range, of `n` in all.
fn inside(rank: usize, n: usize, fpr: (f64, f64)) -> f64 {
    let (from, to) = (rank as f64, rank as f64 + 1.0);
    (to.min(fpr.1 * n as f64) - from.max(fpr.0 * n as f64)).max(0.0)
}

/// Positions of one class.
fn of_class(y: &[u8], class: u8) -> Vec<usize> {
    (0..y.len()).filter(|&i| y[i] == class).collect()
}

/// Equation (2) with a loss in place of the indicator, and its subgradient by score; among tied negatives the earlier one
/// ranks higher.
pub fn objective(loss: (&str, f64), fpr: (f64, f64), s: &[f64], y: &[u8]) -> (f64, Vec<f64>) {
    let (pos, mut neg) = (of_class(y, 1), of_class(y, 0));
    neg.sort_by(|&a, &b| s[b].partial_cmp(&s[a]).unwrap());
    let share = 1.0 / (pos.len() as f64 * neg.len() as f64 * (fpr.1 - fpr.0));
    let (mut value, mut grad) = (0.0, vec![0.0; s.len()]);
    for &i in &pos {
        for (rank, &j) in neg.iter().enumerate() {
            let weight = share * inside(rank, neg.len(), fpr);
            let (l, slope) = surrogate(loss.0, loss.1, s[i] - s[j]);
            value += weight * l;
            grad[i] += weight * slope;
            grad[j] -= weight * slope;
        }
    }
    (value, grad)
}

/// The two-way form: of the same negatives and the (1 − tpr)n₊ lowest positives, the highest of these by its part; among tied
/// positives the later one ranks higher.
pub fn two_way(loss: (&str, f64), fpr: (f64, f64), tpr: f64, s: &[f64], y: &[u8]) -> (f64, Vec<f64>) {
    let (mut pos, mut neg) = (of_class(y, 1), of_class(y, 0));
    // (Of negatives the later ranks higher, too, where the near-linear sums choose.)
    neg.sort_by(|&a, &b| s[b].partial_cmp(&s[a]).unwrap().then(b.cmp(&a)));
    pos.sort_by(|&a, &b| s[a].partial_cmp(&s[b]).unwrap().then(a.cmp(&b)));
    let wanted = (1.0 - tpr) * pos.len() as f64;
    let share = 1.0 / (wanted * neg.len() as f64 * (fpr.1 - fpr.0));
    let (mut value, mut grad) = (0.0, vec![0.0; s.len()]);
    for (place, &i) in pos.iter().enumerate() {
        let part = (wanted - place as f64).clamp(0.0, 1.0);
        for (rank, &j) in neg.iter().enumerate() {
            let weight = share * part * inside(rank, neg.len(), fpr);
            let (l, slope) = surrogate(loss.0, loss.1, s[i] - s[j]);
            value += weight * l;
            grad[i] += weight * slope;
            grad[j] -= weight * slope;
        }
    }
    (value, grad)
}

/// SOPA, SOPA-s and SOTA-s (Zhu et al. 2022, algorithms 1 to 3): what one batch does to the gradient by score.
pub enum Dro {
    /// β, η.
    Sopa(f64, f64),
    /// λ, γ.
    SopaS(f64, f64),
    /// λ, τ, γ, γ'.
    SotaS(f64, f64, f64, f64),
}

/// s or u of every positive, and v; nothing before the first draw.
#[derive(Clone, Debug)]
pub struct DroState {
    pub each: Vec<Option<f64>>,
    pub all: Option<f64>,
}

impl Dro {
    /// Of a batch with the negatives first; `slots` tells which of the positives those of the batch are.
    pub fn step(&self, loss: (&str, f64), s: &[f64], low: usize, slots: &[usize], state: &mut DroState) -> Vec<f64> {
        let (neg, pos) = s.split_at(low);
        let l = |i: usize, j: usize| surrogate(loss.0, loss.1, pos[i] - neg[j]);
        let moved = |old: Option<f64>, new: f64, gamma: f64| old.map_or(new, |old| (1.0 - gamma) * old + gamma * new);
        let mut p = vec![vec![0.0; low]; pos.len()];
        match *self {
            Self::Sopa(beta, eta) => {
                for i in 0..pos.len() {
                    let mut losses: Vec<f64> = (0..low).map(|j| l(i, j).0).collect();
                    losses.sort_by(|a, b| b.partial_cmp(a).unwrap());
                    let first = losses[((beta * low as f64).ceil() as usize).clamp(1, low) - 1];
                    let threshold = state.each[slots[i]].unwrap_or(first);
                    let mut above = 0.0;
                    for j in 0..low {
                        if l(i, j).0 > threshold {
                            p[i][j] = 1.0 / beta;
                            above += 1.0 / (beta * low as f64);
                        }
                    }
                    state.each[slots[i]] = Some(threshold - eta * (1.0 - above));
                }
            }
            Self::SopaS(lambda, gamma) | Self::SotaS(lambda, _, gamma, _) => {
                for i in 0..pos.len() {
                    let g = (0..low).map(|j| (l(i, j).0 / lambda).exp()).sum::<f64>() / low as f64;
                    state.each[slots[i]] = Some(moved(state.each[slots[i]], g, gamma));
                }
                let u = |i: usize| state.each[slots[i]].unwrap();
                let (mut power, mut v) = (1.0, 1.0);
                if let Self::SotaS(lambda, tau, _, gamma) = *self {
                    power = lambda / tau;
                    let mean = (0..pos.len()).map(|i| u(i).powf(power)).sum::<f64>() / pos.len() as f64;
                    v = moved(state.all, mean, gamma);
                    state.all = Some(v);
                }
                for i in 0..pos.len() {
                    for j in 0..low {
                        let e = (l(i, j).0 / lambda).exp();
                        p[i][j] = if let Self::SotaS(..) = self { u(i).powf(power - 1.0) * e / v } else { e / u(i) };
                    }
                }
            }
        }
        let share = 1.0 / (pos.len() * low) as f64;
        let mut grad = vec![0.0; s.len()];
        for i in 0..pos.len() {
            for j in 0..low {
                let c = share * p[i][j] * l(i, j).1;
                grad[low + i] += c;
                grad[j] -= c;
            }
        }
        grad
    }

    /// F over everything.
    pub fn objective(&self, loss: (&str, f64), s: &[f64], low: usize) -> f64 {
        let (neg, pos) = s.split_at(low);
        let g = |i: usize, lambda: f64| {
            let l = |j: usize| surrogate(loss.0, loss.1, pos[i] - neg[j]).0;
            (0..low).map(|j| (l(j) / lambda).exp()).sum::<f64>() / low as f64
        };
        let positives = pos.len() as f64;
        match *self {
            Self::Sopa(beta, _) => {
                let y: Vec<u8> = (0..s.len()).map(|k| u8::from(k >= low)).collect();
                objective(loss, (0.0, beta), s, &y).0
            }
            Self::SopaS(lambda, _) => (0..pos.len()).map(|i| lambda * g(i, lambda).ln()).sum::<f64>() / positives,
            Self::SotaS(lambda, tau, ..) => {
                let mean = (0..pos.len()).map(|i| g(i, lambda).powf(lambda / tau)).sum::<f64>() / positives;
                tau * mean.ln()
            }
        }
    }
}

/// The method `pauc-threshold`: what one batch does. `state` is q_n, r_n, q_m, r_m; r = 0 for none yet.
pub struct Threshold<'a> {
    pub loss: (&'a str, f64),
    pub sigmoid: bool,
    pub fpr: (f64, f64),
    pub gamma: f64,
}

impl Threshold<'_> {
    fn link(&self, s: f64) -> (f64, f64) {
        if self.sigmoid {
            let h = 1.0 / (1.0 + (-s).exp());
            (h, h * (1.0 - h))
        } else {
            (s, 1.0)
        }
    }

    /// What each negative counts against a threshold, a subgradient of Σ [h_j − q]₊ by each, chosen so that all together
    /// are as near to `wanted` as possible; and what they are together.
    fn gates(h: &[f64], q: f64, wanted: f64) -> (Vec<f64>, f64) {
        let above = h.iter().filter(|&&h| h > q).count() as f64;
        let tied = h.iter().filter(|&&h| h == q).count() as f64;
        let sum = wanted.clamp(above, above + tied);
        (h.iter().map(|&h| if h == q { (sum - above) / tied } else { f64::from(u8::from(h > q)) }).collect(), sum)
    }

    /// The score that `wanted` of these exceed.
    fn quantile(h: &[f64], wanted: f64) -> f64 {
        let mut sorted = h.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.reverse();
        let at = (wanted - 0.5).clamp(0.0, (h.len() - 1) as f64);
        let (k, part) = (at.floor() as usize, at - at.floor());
        sorted[k] + part * (sorted[(k + 1).min(h.len() - 1)] - sorted[k])
    }

    /// One batch: moves the thresholds, and returns the estimate and its gradient by raw score.
    pub fn step(&self, s: &[f64], y: &[u8], state: &mut [f64; 4]) -> (f64, Vec<f64>) {
        let (pos, neg) = (of_class(y, 1), of_class(y, 0));
        let h: Vec<f64> = neg.iter().map(|&j| self.link(s[j]).0).collect();
        let n = h.len() as f64;
        let mean = h.iter().sum::<f64>() / n;
        let deviation = h.iter().map(|h| (h - mean).abs()).sum::<f64>() / n;
        let mut weights = vec![0.0; h.len()];
        for (which, p, sign) in [(0, self.fpr.1, 1.0), (2, self.fpr.0, -1.0)] {
            // All negatives lie above −∞, none above +∞.
            let mut gates = vec![p; h.len()];
            if p > 0.0 && p < 1.0 {
                let (mut q, mut r) = (state[which], state[which + 1]);
                if r == 0.0 {
                    (q, r) = (Self::quantile(&h, p * n), deviation);
                }
                let sum;
                (gates, sum) = Self::gates(&h, q, p * n);
                // The subgradient of l q + Σ_j [h_j − q]₊ by q is l − Σ_j gate_j.
                let slope = (p * n - sum) / n;
                let over: Vec<f64> = h.iter().map(|h| if p > 0.5 { q - h } else { h - q }).collect();
                let beyond: Vec<f64> = over.iter().copied().filter(|&x| x > 0.0).collect();
                let away = -over.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                if away > r && away > 12.0 * r / (p.min(1.0 - p) * n) {
                    (state[which], state[which + 1]) = (if p > 0.5 { q + away } else { q - away }, r);
                } else {
                    let seen = match beyond.len() {
                        0 => away,
                        count => beyond.iter().sum::<f64>() / count as f64,
                    };
                    state[which] = q - self.gamma * r * slope / p.min(1.0 - p);
                    state[which + 1] = (1.0 - self.gamma) * r + self.gamma * seen;
                }
            }
            weights.iter_mut().zip(gates).for_each(|(weight, gate)| *weight += sign * gate);
        }
        let share = 1.0 / (pos.len() as f64 * n * (self.fpr.1 - self.fpr.0));
        let (mut value, mut grad) = (0.0, vec![0.0; s.len()]);
        for &i in &pos {
            for (&j, &weight) in neg.iter().zip(&weights) {
                let weight = share * weight.max(0.0);
                let ((hi, di), (hj, dj)) = (self.link(s[i]), self.link(s[j]));
                let (l, slope) = surrogate(self.loss.0, self.loss.1, hi - hj);
                value += weight * l;
                grad[i] += weight * slope * di;
                grad[j] -= weight * slope * dj;
            }
        }
        (value, grad)
    }
}
