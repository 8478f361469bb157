//! Sums of ranked losses and the partial AUC by the algorithms of Yao, Lin and Yang 2022, transcribed by plain loops for
//! linear models: AGD-SBCD (algorithms 1 and 2), SoRR (algorithm 3), DCA and proximal DCA (algorithm 4), and the batches
//! of Kar, Narasimhan and Jain 2014 (MB).
//!
//! Everything is in units where a step of 1 is sensible: a problem is a list of groups of losses (one group for each
//! positive with all negatives; one group of all examples for SoRR), f^l is the sum over the groups of the l largest of
//! each, over `groups · size · (β − α)`, and μ, η, γ belong to that; `relax` stands for γ/μ. The dual variables keep the
//! units of the losses.

use crate::soap::surrogate;

/// Losses of linear scores, in groups.
pub trait Problem {
    /// Groups, and losses in each.
    fn shape(&self) -> (usize, usize);
    /// Loss `j` of group `i` at `w`, and its gradient.
    fn loss(&self, w: &[f64], i: usize, j: usize) -> (f64, Vec<f64>);
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Pairs of a positive and a negative.
pub struct Pairs<'a> {
    pub positives: &'a [Vec<f64>],
    pub negatives: &'a [Vec<f64>],
    pub loss: (&'a str, f64),
}

impl Problem for Pairs<'_> {
    fn shape(&self) -> (usize, usize) {
        (self.positives.len(), self.negatives.len())
    }
    fn loss(&self, w: &[f64], i: usize, j: usize) -> (f64, Vec<f64>) {
        let (x, z) = (&self.positives[i], &self.negatives[j]);
        let (value, slope) = surrogate(self.loss.0, self.loss.1, dot(w, x) - dot(w, z));
        (value, x.iter().zip(z).map(|(x, z)| slope * (x - z)).collect())
    }
}

/// What SoRR may sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Example {
    /// ln(1 + e^−ys) with y = ±1.
    Logistic,
    /// (s − y)²/2.
    Squares,
    /// |s − y|.
    Absolute,
}

/// Losses of single examples, one group of all.
pub struct Examples<'a> {
    pub x: &'a [Vec<f64>],
    pub y: &'a [f64],
    pub loss: Example,
}

impl Problem for Examples<'_> {
    fn shape(&self) -> (usize, usize) {
        (1, self.x.len())
    }
    fn loss(&self, w: &[f64], _: usize, j: usize) -> (f64, Vec<f64>) {
        let (s, y) = (dot(w, &self.x[j]), self.y[j]);
        let (value, slope) = match self.loss {
            Example::Logistic => {
                let (value, slope) = surrogate("logistic", 1.0, y * s);
                (value, y * slope)
            }
            Example::Squares => (0.5 * (s - y) * (s - y), s - y),
            Example::Absolute => ((s - y).abs(), (s - y).signum()),
        };
        (value, self.x[j].iter().map(|x| slope * x).collect())
    }
}

/// Indices that a step looks at: groups, and losses of each.
pub type Draw = (Vec<usize>, Vec<usize>);

/// A range of ranks, as shares.
#[derive(Clone, Copy)]
pub struct Range {
    pub low: f64,
    pub high: f64,
}

impl Range {
    /// What sums over all groups are divided by.
    fn unit(self, p: &dyn Problem) -> f64 {
        let (groups, size) = p.shape();
        groups as f64 * size as f64 * (self.high - self.low)
    }
}

/// f^l = Σ_i φ_l(S_i) with l = share · size, the last by its fraction, and a subgradient of it.
pub fn top(p: &dyn Problem, range: Range, share: f64, w: &[f64]) -> (f64, Vec<f64>) {
    let (groups, size) = p.shape();
    let (mut value, mut grad) = (0.0, vec![0.0; w.len()]);
    for i in 0..groups {
        let mut losses: Vec<_> = (0..size).map(|j| p.loss(w, i, j)).collect();
        losses.sort_by(|a, b| b.0.partial_cmp(&a.0).unwrap());
        for (rank, (loss, slope)) in losses.iter().enumerate() {
            let part = (share * size as f64 - rank as f64).clamp(0.0, 1.0) / range.unit(p);
            value += part * loss;
            grad.iter_mut().zip(slope).for_each(|(g, s)| *g += part * s);
        }
    }
    (value, grad)
}

/// F = f^n − f^m.
pub fn objective(p: &dyn Problem, range: Range, w: &[f64]) -> f64 {
    top(p, range, range.high, w).0 - top(p, range, range.low, w).0
}

/// g^l of equation (13), whose least value over λ is f^l.
pub fn dual(p: &dyn Problem, range: Range, share: f64, w: &[f64], lambda: &[f64]) -> f64 {
    let (groups, size) = p.shape();
    let mut sum = 0.0;
    for i in 0..groups {
        sum += share * size as f64 * lambda[i];
        sum += (0..size).map(|j| (p.loss(w, i, j).0 - lambda[i]).max(0.0)).sum::<f64>();
    }
    sum / range.unit(p)
}

/// The best λ at w: the l-th largest loss of each group.
pub fn duals(p: &dyn Problem, share: f64, w: &[f64]) -> Vec<f64> {
    let (groups, size) = p.shape();
    let of = |i: usize| {
        let mut losses: Vec<f64> = (0..size).map(|j| p.loss(w, i, j).0).collect();
        losses.sort_by(|a, b| b.partial_cmp(a).unwrap());
        losses[((share * size as f64).ceil() as usize).clamp(1, size) - 1]
    };
    (0..groups).map(of).collect()
}

/// The sums of one draw: the subgradient of g^l by the parameters, and the share of losses above λ of every drawn group.
pub fn draw_sums(p: &dyn Problem, range: Range, v: &[f64], lambda: &[f64], draw: &Draw) -> (Vec<f64>, Vec<f64>) {
    let (groups, others) = draw;
    let mut grad = vec![0.0; v.len()];
    let mut above = vec![0.0; groups.len()];
    for (at, &i) in groups.iter().enumerate() {
        for &j in others {
            let (loss, slope) = p.loss(v, i, j);
            if loss > lambda[i] {
                above[at] += 1.0 / others.len() as f64;
                let share = 1.0 / (groups.len() as f64 * others.len() as f64 * (range.high - range.low));
                grad.iter_mut().zip(slope).for_each(|(g, s)| *g += share * s);
            }
        }
    }
    (grad, above)
}

/// Steps of an inner problem.
#[derive(Clone, Copy)]
pub struct Inner {
    pub steps: usize,
    pub eta: f64,
    pub theta: f64,
}

/// Weight decay, half of `weight` times the squared distance from `to`: a part of f^n.
#[derive(Clone, Copy)]
pub struct Decay<'a> {
    pub weight: f64,
    pub to: &'a [f64],
}

/// None.
pub const NO_DECAY: Decay<'static> = Decay { weight: 0.0, to: &[] };

impl Decay<'_> {
    fn centre(&self, k: usize) -> f64 {
        self.to.get(k).copied().unwrap_or(0.0)
    }
}

/// Algorithm 1 (algorithm 3 where there is one group): the means of v and λ over the iterates 0 … T − 1.
pub fn sbcd(
    p: &dyn Problem,
    range: Range,
    share: f64,
    w: &[f64],
    lambda: &[f64],
    mu: f64,
    inner: Inner,
    decay: Decay<'_>,
    draws: &mut dyn FnMut() -> Draw,
) -> (Vec<f64>, Vec<f64>) {
    let (mut v, mut lambda) = (w.to_vec(), lambda.to_vec());
    let (mut mean, mut mean_lambda) = (vec![0.0; v.len()], vec![0.0; lambda.len()]);
    for _ in 0..inner.steps {
        mean.iter_mut().zip(&v).for_each(|(m, v)| *m += v / inner.steps as f64);
        mean_lambda.iter_mut().zip(&lambda).for_each(|(m, l)| *m += l / inner.steps as f64);
        let draw = draws();
        let (grad, above) = draw_sums(p, range, &v, &lambda, &draw);
        for k in 0..v.len() {
            let above = w[k] / mu + v[k] / inner.eta + decay.weight * decay.centre(k) - grad[k];
            v[k] = above / (1.0 / mu + 1.0 / inner.eta + decay.weight);
        }
        for (&i, above) in draw.0.iter().zip(above) {
            lambda[i] -= inner.theta * (share - above);
        }
    }
    (mean, mean_lambda)
}

/// Algorithm 2: w ← w − relax (v̄_m − v̄_n) over stages with inner problems of their own; the last stage's v̄_n, the w after
/// it, and both banks. With decay δ, relax is at most 3/2 (1 + (1/μ + 2/(Tη))/δ), and without
/// f^m at most 2.
pub struct Agd {
    pub answer: Vec<f64>,
    pub w: Vec<f64>,
    pub banks: [Vec<f64>; 2],
}

pub fn agd(
    p: &dyn Problem,
    range: Range,
    start: &[f64],
    mu: f64,
    relax: f64,
    stages: &[Inner],
    decay: Decay<'_>,
    draws: &mut dyn FnMut() -> Draw,
) -> Agd {
    let (mut w, mut answer) = (start.to_vec(), start.to_vec());
    // All losses are among the n₋ largest, whatever the rest does.
    let none = vec![f64::NEG_INFINITY; p.shape().0];
    let mut banks = [range.low, range.high].map(|share| if share < 1.0 { duals(p, share, &w) } else { none.clone() });
    for &inner in stages {
        let mut low = w.clone();
        if range.low > 0.0 {
            (low, banks[0]) = sbcd(p, range, range.low, &w, &banks[0], mu, inner, NO_DECAY, draws);
        }
        let high;
        (high, banks[1]) = sbcd(p, range, range.high, &w, &banks[1], mu, inner, decay, draws);
        let short = 1.0 / mu + 2.0 / (inner.steps as f64 * inner.eta);
        let relax = if decay.weight > 0.0 { relax.min(1.5 + 1.5 * short / decay.weight) } else { relax };
        let relax = if range.low == 0.0 { relax.min(2.0) } else { relax };
        for k in 0..w.len() {
            w[k] -= relax * (low[k] - high[k]);
        }
        answer = high;
    }
    Agd { answer, w, banks }
}

/// DCA (`prox` = 0) and proximal DCA: algorithm 4 in every outer step, from the last iterate of the one before.
pub fn dca(
    p: &dyn Problem,
    range: Range,
    start: &[f64],
    prox: f64,
    stages: &[Inner],
    decay: Decay<'_>,
    draws: &mut dyn FnMut() -> Draw,
) -> Vec<f64> {
    let mut w = start.to_vec();
    let mut lambda = duals(p, range.high, &w);
    for inner in stages {
        let (_, linear) = top(p, range, range.low, &w);
        let centre = w.clone();
        for _ in 0..inner.steps {
            let draw = draws();
            let (grad, above) = draw_sums(p, range, &w, &lambda, &draw);
            for k in 0..w.len() {
                let pulled = prox * centre[k] + decay.weight * decay.centre(k);
                w[k] = (w[k] / inner.eta + pulled + linear[k] - grad[k]) / (1.0 / inner.eta + prox + decay.weight);
            }
            for (&i, above) in draw.0.iter().zip(above) {
                lambda[i] -= inner.theta * (range.high - above);
            }
        }
    }
    w
}

/// MB: descent on the same objective of the batch alone.
pub fn mini_batch(
    p: &Pairs<'_>,
    range: Range,
    start: &[f64],
    steps: usize,
    rate: &dyn Fn(usize) -> f64,
    draws: &mut dyn FnMut() -> Draw,
) -> Vec<f64> {
    let mut w = start.to_vec();
    for step in 0..steps {
        let (groups, others) = draws();
        let positives: Vec<_> = groups.iter().map(|&i| p.positives[i].clone()).collect();
        let negatives: Vec<_> = others.iter().map(|&j| p.negatives[j].clone()).collect();
        let batch = Pairs { positives: &positives, negatives: &negatives, loss: p.loss };
        let [(_, low), (_, high)] = [range.low, range.high].map(|share| top(&batch, range, share, &w));
        for k in 0..w.len() {
            w[k] -= rate(step) * (high[k] - low[k]);
        }
    }
    w
}

/// The most violated ordering of SVMpAUC-tight (Narasimhan and Agarwal 2013) by trying all: how the negatives are ordered,
/// and below how many of them each positive stands. The loss is the share of wrong pairs with the negatives ranked m + 1 to
/// n; every wrong pair with one of the first n costs s_i − s_j, over n₊(n − m) like the loss. For few rows.
pub fn most_violated(positive: &[f64], negative: &[f64], m: usize, n: usize) -> f64 {
    let mut best = f64::NEG_INFINITY;
    let mut order: Vec<usize> = (0..negative.len()).collect();
    permutations(&mut order, 0, &mut |order| {
        let of = |s: f64| {
            let below = |place: usize| -> f64 {
                (0..place).map(|rank| f64::from(u8::from(rank >= m)) - (s - negative[order[rank]])).sum()
            };
            (0..=n).map(below).fold(f64::NEG_INFINITY, f64::max)
        };
        best = best.max(positive.iter().map(|&s| of(s)).sum::<f64>());
    });
    best / (positive.len() * (n - m)) as f64
}

fn permutations(items: &mut Vec<usize>, from: usize, visit: &mut dyn FnMut(&[usize])) {
    if from == items.len() {
        visit(items);
        return;
    }
    for k in from..items.len() {
        items.swap(from, k);
        permutations(items, from + 1, visit);
        items.swap(from, k);
    }
}
