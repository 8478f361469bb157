//! Pair sums as double loops, with a bound on how far rounding may move each result.
//!
//! The bound knows what is fair to ask of f64. A margin t = s_i − s_j is known to a few units of rounding of |t| and of
//! the surrogate's own parameter, so a pair near a bend or far out may move by what ℓ and ℓ' change over that distance,
//! and every result by its grade times the sum of the absolute values of its terms.

use crate::pairs::loss;

/// A result of every kind with its bound.
pub struct Bounded {
    /// The objective.
    pub value: f64,
    /// How far it may be off.
    pub value_slack: f64,
    /// Its derivative by every score.
    pub grad: Vec<f64>,
    /// How far each may be off.
    pub slack: Vec<f64>,
}

/// A sum that carries what rounding takes off (Neumaier's), so that the twin's own error is none.
#[derive(Clone, Copy, Default)]
struct Exact {
    sum: f64,
    lost: f64,
}

impl Exact {
    fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        self.lost += if self.sum.abs() >= x.abs() { (self.sum - sum) + x } else { (x - sum) + self.sum };
        self.sum = sum;
    }
    fn get(self) -> f64 {
        // After an overflow there is only that to say.
        if self.sum.is_finite() { self.sum + self.lost } else { self.sum }
    }
}

/// Units of rounding of a margin.
const MARGIN_UNITS: f64 = 4.0;
/// The smallest step between numbers below the normal ones: what an underflow may cost.
const QUANTUM: f64 = 5e-324;

/// How far ℓ(t) and ℓ'(t) may move when t is off by a few units of rounding.
fn wobble(name: &str, c: f64, t: f64) -> (f64, f64) {
    let (parameter, jumps): (f64, &[f64]) = match name {
        "square" | "squared-hinge" => (c, &[]),
        "hinge" => (c, &[c]),
        "smoothed-hinge" => (1.0, &[]),
        "ramp" => (c, &[0.0, c]),
        _ => (0.0, &[]),
    };
    let e = MARGIN_UNITS * f64::EPSILON * (t.abs() + parameter);
    let ((v, s), (v0, s0), (v1, s1)) = (loss(name, c, t), loss(name, c, t - e), loss(name, c, t + e));
    let mut slope = (s0 - s).abs().max((s1 - s).abs());
    if jumps.iter().any(|jump| (t - jump).abs() <= e) {
        slope = slope.max(if name == "ramp" { 1.0 / c } else { 1.0 });
    }
    ((v0 - v).abs().max((v1 - v).abs()), slope)
}

/// Mean of ℓ(s_i − s_j) over positives i and weighted negatives j; every sum to `grade` of its absolute terms.
pub fn auc(name: &str, c: f64, grade: f64, scores: &[f64], labels: &[u8], weight: &[f64]) -> Bounded {
    let n = scores.len();
    let (mut value, mut grad) = (Exact::default(), vec![Exact::default(); n]);
    let (mut value_slack, mut slack) = (f64::MIN_POSITIVE, vec![f64::MIN_POSITIVE; n]);
    let positives = labels.iter().filter(|&&y| y == 1).count() as f64;
    let mut total = Exact::default();
    (0..n).filter(|&j| labels[j] == 0).for_each(|j| total.add(weight[j]));
    let total = total.get();
    for i in (0..n).filter(|&i| labels[i] == 1) {
        for j in (0..n).filter(|&j| labels[j] == 0 && weight[j] > 0.0) {
            let t = scores[i] - scores[j];
            let ((v, s), (dv, ds)) = (loss(name, c, t), wobble(name, c, t));
            let w = weight[j] / (positives * total);
            value.add(w * v);
            value_slack += w * (dv + grade * v);
            for (at, sign) in [(i, 1.0), (j, -1.0)] {
                grad[at].add(sign * w * s);
                slack[at] += w * (ds + grade * s.abs()) + QUANTUM * s.abs();
            }
        }
    }
    Bounded { value: value.get(), value_slack, grad: grad.into_iter().map(Exact::get).collect(), slack }
}

/// −1/n₊ Σ_i g1_i/g2_i with g1 the sum of ℓ over positives and g2 over everything; see [`auc`].
pub fn ap(name: &str, c: f64, grade: f64, scores: &[f64], labels: &[u8]) -> Bounded {
    let n = scores.len();
    let (mut value, mut grad) = (Exact::default(), vec![Exact::default(); n]);
    let (mut value_slack, mut slack) = (f64::MIN_POSITIVE, vec![f64::MIN_POSITIVE; n]);
    let positives = labels.iter().filter(|&&y| y == 1).count() as f64;
    let mut row = vec![[0.0; 2]; n];
    for i in (0..n).filter(|&i| labels[i] == 1) {
        // Sums over negatives and over positives, and how far rounding may move them.
        let (mut sum, mut off) = ([Exact::default(); 2], [0.0; 2]);
        for j in 0..n {
            let t = scores[i] - scores[j];
            let ((v, s), (dv, ds)) = (loss(name, c, t), wobble(name, c, t));
            row[j] = [s, ds];
            sum[usize::from(labels[j])].add(v);
            off[usize::from(labels[j])] += dv;
        }
        let sum = sum.map(Exact::get);
        let all = sum[0] + sum[1];
        let share = sum.map(|sum| sum / all);
        let away = off.map(|off| off / all);
        let both = away[0] + away[1];
        value.add(-share[1] / positives);
        value_slack += (share[0] * away[1] + share[1] * away[0] + grade * share[1]) / positives;
        for j in 0..n {
            let [s, ds] = row[j];
            let (class, sign) = if labels[j] == 1 { (0, -1.0) } else { (1, 1.0) };
            let kappa = sign * share[class] / all / positives;
            let off = (away[class] + 2.0 * share[class] * both) / all / positives + QUANTUM / all + QUANTUM;
            let may = off * (s.abs() + ds) + kappa.abs() * (ds + grade * s.abs());
            grad[i].add(kappa * s);
            grad[j].add(-kappa * s);
            slack[i] += may;
            slack[j] += may;
        }
    }
    Bounded { value: value.get(), value_slack, grad: grad.into_iter().map(Exact::get).collect(), slack }
}
