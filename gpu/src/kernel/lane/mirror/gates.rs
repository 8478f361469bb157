//! Pairs of a positive with the negatives, each with a weight of its own.

use super::{Run, four};
use undercurve::Real;
use undercurve::surrogate::Surrogate;

impl Run<'_> {
    pub(super) fn gates(&mut self, h: &[f32]) -> (Vec<f32>, f32) {
        let (loss, name) = (self.loss, self.lane.shape.objective);
        let n: [f32; 12] = std::array::from_fn(|k| self.lane.numbers[8 + k]);
        let (low, high) = h.split_at(self.negatives);
        let (negatives, count) = (low.len() as f32, high.len() as f32);
        let gates: Vec<f32> = match name {
            "pauc-minibatch" => (0..low.len())
                .map(|j| {
                    let rank = ahead(low, j) as f32;
                    ((rank + 1.0).min(n[1]) - rank.max(n[0])).max(0.0)
                })
                .collect(),
            "pauc-threshold" => self.thresholds(low, &n),
            _ => vec![0.0; low.len()],
        };
        let first = (0..low.len()).find(|&j| name == "sopa" && ahead(low, j) as f32 + 1.0 == n[0]);
        let over = |f: &dyn Fn(usize) -> f32| four(0, low.len(), f);
        let (mut of, mut shares) = (Vec::new(), Vec::new());
        for (i, &own) in high.iter().enumerate() {
            let bank = self.lane.shape.bank as usize;
            let [own_of, share] = match name {
                "pauc-minibatch" | "pauc-threshold" => [0.0, over(&|j| gates[j] * loss.value(own - low[j]))],
                "sopa" => {
                    let at = bank + self.slots[i] as usize;
                    let s = match self.state[at] {
                        0.0 => loss.value(own - first.map_or(0.0, |j| low[j])),
                        s => s,
                    };
                    let excess = |j: usize| loss.value(own - low[j]) - s;
                    let above = over(&|j| f32::from(u8::from(excess(j) > 0.0)));
                    self.state[at] = (s - n[3] * (1.0 - n[2] * above)).settled();
                    [s, s + n[2] * over(&|j| excess(j).max(0.0))]
                }
                "pauc-dual" => {
                    let owners = (self.state.len() - bank - 2) / 6;
                    let at = bank + 3 * (owners + self.slots[i] as usize);
                    let every = n[0] >= 1.0;
                    let lambda = if every { 0.0 } else { self.state[at] };
                    let gate = if every { f32::MIN } else { lambda };
                    let counts = |j: usize| loss.value(own - low[j]) > gate;
                    let above = over(&|j| f32::from(u8::from(counts(j))));
                    if !every {
                        let moved = lambda - self.pace[1] * (n[0] - above / negatives);
                        self.dual(at, self.state.len() - 1, moved);
                    }
                    let beyond = over(&|j| if counts(j) { loss.value(own - low[j]) - lambda } else { 0.0 });
                    [gate, beyond + n[0] * negatives * lambda]
                }
                _ => {
                    let at = bank + self.slots[i] as usize;
                    let x = |j: usize| n[0] * loss.value(own - low[j]);
                    let most = (0..low.len()).map(x).fold(f32::MIN, f32::max);
                    let sum = over(&|j| (x(j) - most).fading_exp());
                    let u = blend(self.state[at], (most + Real::ln(sum / negatives)).settled(), n[1]);
                    self.state[at] = u;
                    if name == "sopa-s" { [-u, n[2] * u] } else { [u, 0.0] }
                }
            };
            of.push(own_of);
            shares.push(share);
        }
        if name == "sota-s" {
            let power = n[3];
            let most = of.iter().fold(f32::MIN, |most, u| most.max(power * u));
            let sum: f32 = of.iter().map(|u| (power * u - most).fading_exp()).sum();
            let at = self.state.len() - 1;
            let v = blend(self.state[at], (most + Real::ln(sum / count)).settled(), n[4]);
            self.state[at] = v;
            of.iter_mut().for_each(|u| *u = (power - 1.0) * *u - v);
            shares.fill(n[5] * v);
        }
        if name == "pauc-dual" && n[0] < 1.0 {
            *self.state.last_mut().unwrap_or(&mut 0.0) += 1.0;
        }
        let in_range = name.starts_with("pauc");
        let unit = match name {
            "pauc-dual" => 1.0 / (count * negatives * n[1]),
            _ if in_range => 1.0 / (count * (n[1] - n[0])),
            _ => 1.0 / (count * negatives),
        };
        let pair = |i: usize, j: usize| {
            let margin = high[i] - low[j];
            let weight = match name {
                "pauc-minibatch" | "pauc-threshold" => gates[j],
                "sopa" if loss.value(margin) - of[i] > 0.0 => n[1],
                "pauc-dual" if loss.value(margin) > of[i] => 1.0,
                "sopa" | "pauc-dual" => 0.0,
                _ => (n[0] * loss.value(margin) + of[i]).fading_exp(),
            };
            weight * loss.slope(margin)
        };
        let of_low = (0..low.len()).map(|j| -(unit * four(0, high.len(), |i| pair(i, j))));
        let of_high = (0..high.len()).map(|i| unit * over(&|j| pair(i, j)));
        let c = of_low.chain(of_high).collect();
        let sum: f32 = shares.iter().fold(0.0, |sum, share| sum + share);
        (c, if in_range { sum * unit } else { sum / count })
    }

    /// Moves λ of a place in the state, with its mean up to this step, by the clock of its inner problem.
    pub(super) fn dual(&mut self, at: usize, clock: usize, moved: f32) {
        let (lambda, mean, held, done) =
            (self.state[at], self.state[at + 1], self.state[at + 2], self.state[clock] + 1.0);
        let mean = if done > held { (mean * held + lambda * (done - held)) / done } else { mean };
        self.state[at..at + 3].copy_from_slice(&[moved, mean, done]);
    }

    /// What each negative counts beside both thresholds, and both moved.
    fn thresholds(&mut self, low: &[f32], n: &[f32; 12]) -> Vec<f32> {
        let (bank, count) = (self.lane.shape.bank as usize, low.len() as f32);
        let mut gates = [None; 2];
        for (which, gate) in gates.iter_mut().enumerate() {
            let [level, above, part] = [0, 1, 2].map(|k| n[4 + 4 * which + k]);
            if level == 0.0 {
                continue;
            }
            let at = bank + 2 * which;
            let (q, width) = match self.state[at + 1] {
                0.0 => {
                    let ranked =
                        |rank: f32| (0..low.len()).find(|&j| ahead(low, j) as f32 == rank).map_or(0.0, |j| low[j]);
                    let (left, right) = (ranked(above), ranked((above + 1.0).min(count - 1.0)));
                    let mean = four(0, low.len(), |j| low[j]) / count;
                    (left + part * (right - left), four(0, low.len(), |j| (low[j] - mean).abs()) / count)
                }
                width => (self.state[at], width),
            };
            let (side, tail) = if level > 0.5 { (-1.0, 1.0 - level) } else { (1.0, level) };
            let over = |j: usize| side * (low[j] - q);
            let count_of = |f: &dyn Fn(f32) -> bool| low.iter().filter(|&&h| f(h)).count() as f32;
            let (higher, tied) = (count_of(&|h| h > q), count_of(&|h| h == q));
            let number = count_of(&|h| side * (h - q) > 0.0);
            let beyond = four(0, low.len(), |j| over(j).max(0.0));
            let nearest = (0..low.len()).map(over).fold(f32::MIN, f32::max);
            let wanted = level * count;
            let reached = wanted.max(higher).min(higher + tied);
            *gate = Some((q, if tied > 0.0 { (reached - higher) / tied } else { 0.0 }));
            let moved = if -nearest > width * (12.0 / (tail * count)).max(1.0) {
                [q + side * nearest, width]
            } else {
                let seen = if number > 0.0 { beyond / number } else { -nearest };
                let step = (n[2] * width * ((reached - wanted) / count)).settled();
                [q + step / tail, ((1.0 - n[2]) * width + n[2] * seen).settled()]
            };
            self.state[at..at + 2].copy_from_slice(&moved);
        }
        let of = |gate: Option<(f32, f32)>, absent: f32, h: f32| {
            gate.map_or(absent, |(q, tie)| {
                if h > q {
                    1.0
                } else if h == q {
                    tie
                } else {
                    0.0
                }
            })
        };
        low.iter().map(|&h| (of(gates[0], 1.0, h) - of(gates[1], 0.0, h)).max(0.0)).collect()
    }
}

/// How many are ahead of one, the earlier one of equal scores.
fn ahead(low: &[f32], j: usize) -> usize {
    low.iter().enumerate().filter(|&(k, &h)| h > low[j] || h == low[j] && k < j).count()
}

/// ln((1 − γ)e^old + γe^new); `new` where there is no old one.
fn blend(old: f32, new: f32, gamma: f32) -> f32 {
    if old == 0.0 {
        return new;
    }
    let most = old.max(new);
    let sum = (1.0 - gamma) * (old - most).fading_exp() + gamma * (new - most).fading_exp();
    (most + Real::ln(sum)).settled()
}
