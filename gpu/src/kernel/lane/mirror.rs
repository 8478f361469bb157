//! The same steps on the CPU, in the same order of summation, with the core's surrogates and functions.

mod gates;
mod own;

use super::{BACK, DATA, FORWARD, Lane, Layout, Shape, Stage, WEIGHTS};
use crate::GpuError;
use undercurve::surrogate::{AnySurrogate, SmoothedHinge, Surrogate};
use undercurve::{Error, Real};

const FAINT: f32 = <f32 as Real>::FAINT;
const TINY: f32 = <f32 as Real>::TINY;

/// One step of a run: moves its state, and returns the objective's estimate. `rows` are all rows of the data, `list` is
/// that of the step, `pace` the run's for it.
///
/// # Errors
/// `NoKernel`, `Limits`; `Core` for slices of other lengths.
pub fn step(lane: &Lane, rows: &[f32], state: &mut [f32], list: &[u32], pace: [f32; 2]) -> Result<f32, GpuError> {
    let layout = Layout::of(&lane.shape)?;
    layout.text()?;
    step_in(LANE, (&layout, &[]), lane, rows, state, list, pace)
}

/// The same in this order, with gradients in parts of so many rows by stage, and behind them that of the last layer; with no
/// such number they are whole.
pub(crate) fn step_in(
    order: Order,
    (layout, chunks): (&Layout, &[u32]),
    lane: &Lane,
    rows: &[f32],
    state: &mut [f32],
    list: &[u32],
    pace: [f32; 2],
) -> Result<f32, GpuError> {
    for (what, need, got) in
        [("state", lane.shape.state as usize, state.len()), ("list", lane.shape.list_len(), list.len())]
    {
        if need != got {
            return Err(Error::Length { what, need, got }.into());
        }
    }
    let (negatives, picked) = (list[0] as usize, &list[1..=lane.shape.rows as usize]);
    let slots = &list[1 + picked.len()..];
    let (loss, work) = (surrogate(lane)?, vec![0.0; layout.work as usize]);
    let mut run = Run { order, chunks, lane, layout, rows, picked, negatives, slots, pace, loss, state, work };
    run.forward();
    let mut h = run.score();
    if lane.shape.sigmoid {
        h.iter_mut().for_each(|h| *h = h.sigmoid());
    }
    let (mut c, value) = run.estimate(&h);
    let least = FAINT / h.len() as f32;
    for (g, &h) in c.iter_mut().zip(&h) {
        if lane.shape.sigmoid {
            *g = g.settled_below(least) * h.settled() * (1.0 - h);
        }
        *g = g.settled_below(least);
    }
    run.backward(&c);
    Ok(value)
}

/// Raw scores of rows.
///
/// # Errors
/// As [`step`].
pub fn scores(lane: &Lane, rows: &[f32], state: &mut [f32]) -> Result<Vec<f32>, GpuError> {
    let count = rows.len() / lane.shape.widths[0] as usize;
    let mut layout = Layout::of(&lane.shape)?;
    let picked: Vec<u32> = (0..count as u32).collect();
    let (mut out, loss) = (Vec::new(), surrogate(lane)?);
    // In blocks as large as a batch.
    for picked in picked.chunks(lane.shape.rows as usize) {
        layout.stages.iter_mut().filter(|s| s.kind == FORWARD).for_each(|s| s.rows = picked.len() as u32);
        let (negatives, slots, work) = (0, &[][..], vec![0.0; layout.work as usize]);
        let state = &mut *state;
        let (layout, pace) = (&layout, [0.0; 2]);
        let (order, chunks) = (LANE, &[][..]);
        let mut run = Run { order, chunks, lane, layout, rows, picked, negatives, slots, pace, loss, state, work };
        run.forward();
        out.extend(run.score());
    }
    Ok(out)
}

/// The surrogate; any, where the objective has none.
fn surrogate(lane: &Lane) -> Result<AnySurrogate<f32>, GpuError> {
    Ok(match lane.shape.surrogate {
        "" => AnySurrogate::by_name("hinge", 1.0)?,
        "smoothed-hinge" => AnySurrogate::SmoothedHinge(SmoothedHinge::new(lane.numbers[20], lane.numbers[21])?),
        name => AnySurrogate::by_name(name, lane.numbers[20])?,
    })
}

/// How many partial sums there are, a power of two, of every so-manieth term each. Neighbours are added first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    /// Of a score.
    pub score: usize,
    /// Of the gradient by a weight of the last layer, and by a bias of a hidden one.
    pub columns: usize,
    pub biases: usize,
    /// Over the pairs of a row.
    pub pairs: usize,
    /// Over a class.
    pub moments: usize,
    /// Of the value.
    pub values: usize,
}

const LANE: Order = Order { score: 4, columns: 4, biases: 4, pairs: 4, moments: 4, values: 1 };

/// So many partial sums of terms.
fn strided(ways: usize, from: usize, end: usize, term: impl Fn(usize) -> f32) -> f32 {
    let mut parts = vec![0.0f32; ways];
    for k in from..end {
        parts[(k - from) % ways] += term(k);
    }
    while parts.len() > 1 {
        parts = parts.chunks(2).map(|two| two[0] + two[1]).collect();
    }
    parts[0]
}

/// Four partial sums.
fn four(from: usize, end: usize, term: impl Fn(usize) -> f32) -> f32 {
    strided(4, from, end, term)
}

/// A sum over rows: of parts of so many, where that is not all, four partial sums.
fn in_chunks(chunk: usize, end: usize, sum: impl Fn(usize, usize) -> f32) -> f32 {
    match chunk < end {
        true => strided(4, 0, end.div_ceil(chunk), |part| sum(part * chunk, end.min((part + 1) * chunk))),
        false => sum(0, end),
    }
}

/// A step in the making.
struct Run<'a> {
    order: Order,
    chunks: &'a [u32],
    lane: &'a Lane,
    layout: &'a Layout,
    rows: &'a [f32],
    picked: &'a [u32],
    negatives: usize,
    slots: &'a [u32],
    pace: [f32; 2],
    loss: AnySurrogate<f32>,
    state: &'a mut [f32],
    work: Vec<f32>,
}

impl Run<'_> {
    fn shape(&self) -> &Shape {
        &self.lane.shape
    }

    /// Entry k of a row's input to the last layer.
    fn input(&self, r: usize, k: usize) -> f32 {
        let last = super::last(self.shape()) as usize;
        match self.layout.stages.is_empty() {
            true => self.rows[self.picked[r] as usize * last + k],
            false => self.work[self.layout.input as usize + r * last + k],
        }
    }

    fn activate(&self, z: f32) -> f32 {
        if self.shape().tanh { z.tanh() } else { z.max(0.0) }
    }

    fn through(&self, dz: f32, value: f32) -> f32 {
        match self.shape().tanh {
            true => dz.settled() * (1.0 - value * value),
            false if value > 0.0 => dz.settled(),
            false => 0.0,
        }
    }

    fn left(&self, s: &Stage, row: usize, k: usize) -> f32 {
        let (r, x, width) = match s.kind {
            FORWARD | BACK => (row, k, s.depth as usize),
            _ => (k, row, s.rows as usize),
        };
        match s.left {
            DATA => self.rows[self.picked[r] as usize * width + x],
            at => self.work[at as usize + r * width + x],
        }
    }

    fn right(&self, s: &Stage, k: usize, column: usize) -> f32 {
        let at = s.right as usize;
        match s.kind {
            FORWARD => self.state[at + k * s.columns as usize + column],
            BACK => self.state[at + column * s.depth as usize + k],
            _ => self.work[at + k * s.columns as usize + column],
        }
    }

    /// Rows of a part of the gradient of a stage.
    fn chunk(&self, stage: usize) -> usize {
        self.chunks.get(stage).map_or(usize::MAX, |&rows| rows as usize)
    }

    fn product(&mut self, stage: usize, s: &Stage) {
        let (rows, columns, depth) = (s.rows as usize, s.columns as usize, s.depth as usize);
        let chunk = if s.kind == WEIGHTS { self.chunk(stage) } else { usize::MAX };
        let mut sums = vec![0.0f32; rows * columns];
        for (at, sum) in sums.iter_mut().enumerate() {
            let (row, column) = (at / columns, at % columns);
            let part = |from, end| strided(1, from, end, |k| self.left(s, row, k) * self.right(s, k, column));
            *sum = in_chunks(chunk, depth, part);
        }
        for (at, &sum) in sums.iter().enumerate() {
            let to = s.to as usize + at;
            match s.kind {
                FORWARD => {
                    let bias = self.state[s.right as usize + depth * columns + at % columns];
                    self.work[to] = self.activate(sum + bias);
                }
                BACK => self.work[to] = self.through(sum, self.work[s.value as usize + at]),
                _ => self.move_along(to, sum),
            }
        }
    }

    fn forward(&mut self) {
        let layout = self.layout;
        for (at, s) in layout.stages.iter().enumerate().filter(|(_, s)| s.kind == FORWARD) {
            self.product(at, s);
        }
    }

    fn score(&self) -> Vec<f32> {
        let (at, last) = (self.layout.last as usize, super::last(self.shape()) as usize);
        let sum = |r| strided(self.order.score, 0, last, |k| self.input(r, k) * self.state[at + k]);
        (0..self.picked.len()).map(|r| self.state[at + last] + sum(r)).collect()
    }

    fn backward(&mut self, c: &[f32]) {
        let layout = self.layout;
        let (at, last) = (layout.last as usize, super::last(self.shape()) as usize);
        if !layout.stages.is_empty() {
            for i in 0..c.len() * last {
                let by_input = c[i / last] * self.state[at + i % last];
                let to = layout.delta as usize + i;
                self.work[to] = self.through(by_input, self.work[layout.input as usize + i]);
            }
        }
        for k in 0..=last {
            let term = |r: usize| c[r] * if k < last { self.input(r, k) } else { 1.0 };
            let part = |from, end| strided(self.order.columns, from, end, term);
            let g = in_chunks(self.chunk(layout.stages.len()), c.len(), part);
            self.move_along(at + k, g);
        }
        for (at, s) in layout.stages.iter().enumerate().filter(|(_, s)| s.kind != FORWARD) {
            self.product(at, s);
            if s.kind == BACK {
                continue;
            }
            let width = s.columns as usize;
            for k in 0..width {
                let term = |r: usize| self.work[s.right as usize + r * width + k];
                let part = |from, end| strided(self.order.biases, from, end, term);
                let g = in_chunks(self.chunk(at), c.len(), part);
                self.move_along(s.to as usize + s.rows as usize * width + k, g);
            }
        }
    }

    /// The pull toward the start, then the rule.
    fn move_along(&mut self, k: usize, g: f32) {
        let (params, bank) = (self.shape().params as usize, self.shape().bank as usize);
        match self.shape().pull && k < params {
            true => {
                let gone = self.state[k] - self.state[bank - params + k];
                self.rule(k, (g + self.lane.numbers[7] * gone).settled());
            }
            false => self.rule(k, g),
        }
    }

    fn rule(&mut self, k: usize, g: f32) {
        let (n, [lr, other]) = (&self.lane.numbers, self.pace);
        let (length, slots) = (self.shape().length as usize, self.shape().slots as usize);
        let descends = k < length - self.shape().ascent as usize;
        let (mean, first) = (length + k, slots + k);
        let state = &mut *self.state;
        let w = state[k];
        match self.lane.shape.rule {
            "sgd" => state[k] = w - lr * (g + n[0] * w).settled(),
            "momentum" => {
                state[first] = (n[1] * state[first] + n[2] * (g + n[0] * w).settled()).settled_below(TINY);
                state[k] = w - lr * state[first];
            }
            "adam" | "amsgrad" => {
                let g = (g + n[0] * w).settled();
                let second = first + length;
                let m = (n[1] * state[first] + n[2] * g).settled_below(TINY);
                let mut v = (n[3] * state[second] + n[4] * g * g).settled_below(f32::MIN_POSITIVE);
                if self.lane.shape.rule == "amsgrad" {
                    v = v.max(state[second]);
                }
                (state[first], state[second]) = (m, v);
                state[k] = w - lr * m / ((v + n[5]).sqrt() + other);
            }
            "adagrad" => {
                let g = (g + n[0] * w).settled();
                state[first] += g * g;
                state[k] = w - lr * g / (state[first].sqrt() + n[1]);
            }
            "dca" => {
                let away = n[1] * (w - state[mean]);
                state[k] = w - lr * (g - state[first] + away + n[0] * w).settled();
            }
            "ppd-sg" => {
                let extra = if descends { n[0] * w + n[1] * (w - state[first]) } else { 0.0 };
                state[k] = w - lr * (g + extra).settled();
                state[mean] += (state[k] - state[mean]) * other;
            }
            "ppd-adagrad" => {
                let g = if descends { g + n[1] * (w - state[first]) } else { g }.settled();
                let (sums, squares) = (first + length, first + 2 * length);
                state[sums] += g;
                state[squares] += g * g;
                state[k] = state[first] - lr * state[sums] / (n[2] + state[squares].sqrt());
                state[mean] += (state[k] - state[mean]) * other;
            }
            _ => {
                state[k] = match descends {
                    true => w - lr * (g + n[1] * (w - state[first]) + n[0] * w).settled(),
                    false => (w - lr * g.settled()).max(0.0),
                };
                state[mean] = if other == 1.0 { state[k] } else { state[mean] + (state[k] - state[mean]) * other };
            }
        }
    }

    /// The gradient by h and the estimate.
    fn estimate(&mut self, h: &[f32]) -> (Vec<f32>, f32) {
        match self.lane.shape.objective {
            "soap" | "auc-pairwise" | "smooth-ap" => self.pairs(h),
            "cross-entropy" | "focal" => self.points(h),
            "auc-margin" | "auc-min-max" => self.moments(h),
            "ldam" => self.margins(h),
            "sorr" => self.ranked(h),
            "fast-ap" => self.histogram(h),
            "min-max-ap" => self.anchors(h),
            _ => self.gates(h),
        }
    }

    fn pairs(&mut self, h: &[f32]) -> (Vec<f32>, f32) {
        let (low, loss) = (self.negatives, self.loss);
        let others = self.lane.shape.objective != "auc-pairwise";
        let count = h.len() - low;
        let end = if others { h.len() } else { low };
        let mut weighed = Vec::new();
        for i in 0..count {
            let ways = self.order.pairs;
            let over = |from, end, f: &dyn Fn(f32) -> f32| strided(ways, from, end, |j| f(h[low + i] - h[j]));
            let (value, slope) = (|t| loss.value(t), |t| loss.slope(t));
            let sums = [over(0, low, &value), over(low, end.max(low), &value)];
            let slopes = [over(0, low, &slope), over(low, end.max(low), &slope)];
            weighed.push(self.weigh(i, count as f32, sums, slopes));
        }
        let mut c = vec![0.0; h.len()];
        for (j, c) in c.iter_mut().enumerate() {
            let own = if j >= low { weighed[j - low][3] } else { 0.0 };
            let of = usize::from(j >= low);
            let sum = match others || j < low {
                true => strided(self.order.pairs, 0, count, |i| weighed[i][of] * loss.slope(h[low + i] - h[j])),
                false => 0.0,
            };
            *c = own - sum;
        }
        let (sum, count) = (strided(self.order.values, 0, count, |i| weighed[i][2]), count as f32);
        let value = match self.lane.shape.objective {
            "soap" => -(sum / count),
            "smooth-ap" => 1.0 - sum / count,
            _ => sum * (1.0 / (count * low as f32)),
        };
        (c, value)
    }

    /// κ for negatives and for positives, the share of the value, the positive's own gradient.
    fn weigh(&mut self, i: usize, count: f32, [low, high]: [f32; 2], slopes: [f32; 2]) -> [f32; 4] {
        let n = &self.lane.numbers[8..20];
        let own = self.loss.value(0.0);
        let ([wl, wh], ratio) = match self.lane.shape.objective {
            "soap" => {
                let g1 = n[0] * own + n[1] * (high - own).settled();
                let g2 = g1 + n[2] * low.settled();
                let at = self.shape().bank as usize + 2 * self.slots[i] as usize;
                let (o1, o2) = (self.state[at], self.state[at + 1]);
                let gamma = if o2 == 0.0 && n[5] != 0.0 { 1.0 } else { n[3] };
                let u1 = (1.0 - gamma) * o1 + gamma * g1;
                let u2 = ((1.0 - gamma) * o2 + gamma * g2).max(n[4]);
                (self.state[at], self.state[at + 1]) = (u1, u2);
                let ratio = (u1 / u2).settled();
                let over = (1.0 / count) / u2;
                let kappa = |kappa: f32, sum: f32| if kappa.abs() * (1.0 + sum) < FAINT { 0.0 } else { kappa };
                ([kappa(n[2] * over * ratio, low), kappa(n[1] * over * (ratio - 1.0), high)], ratio)
            }
            "smooth-ap" => {
                let (mut wl, mut wh) = (1.0, 1.0);
                if n[0] != 0.0 {
                    wl = n[1] / self.negatives as f32;
                    wh = if count > 1.0 { (n[2] - 1.0) / (count - 1.0) } else { n[2] };
                }
                let own = 1.0 + wh * (high - own).settled();
                let all = own + wl * low.settled();
                let (ratio, over) = (own / all, (1.0 / count) / all);
                ([(wl * over * ratio).settled(), (wh * over * (ratio - 1.0)).settled()], ratio)
            }
            _ => {
                let mean = 1.0 / (count * self.negatives as f32);
                return [mean, 0.0, low, mean * slopes[0]];
            }
        };
        [wl, wh, ratio, wl * slopes[0] + wh * slopes[1]]
    }

    fn points(&self, h: &[f32]) -> (Vec<f32>, f32) {
        let n = &self.lane.numbers[8..20];
        let point = |r: usize| {
            let positive = r >= self.negatives;
            let z = if positive { h[r] } else { -h[r] };
            let (loss, slope) = match self.lane.shape.objective {
                "focal" => {
                    let loss = (-z).softplus().settled();
                    let modulation = (-(n[3] * z.softplus())).fading_exp().settled();
                    (modulation * loss, -(modulation * (n[3] * z.sigmoid() * loss + (-z).sigmoid()).settled()))
                }
                _ => ((-z).softplus(), -(-z).sigmoid().settled()),
            };
            let weight = n[usize::from(positive)];
            (if positive { weight * slope } else { -(weight * slope) }, weight * loss)
        };
        let c = (0..h.len()).map(|r| point(r).0).collect();
        (c, strided(self.order.values, 0, h.len(), |r| point(r).1))
    }

    fn moments(&mut self, h: &[f32]) -> (Vec<f32>, f32) {
        let n: [f32; 12] = std::array::from_fn(|k| self.lane.numbers[8 + k]);
        let at = self.shape().params as usize;
        let [a, b, alpha] = [self.state[at], self.state[at + 1], self.state[at + 2]];
        let split = self.negatives;
        let (low, high) = (split as f32, (h.len() - split) as f32);
        let sums = |from, end, centre: f32| -> [f32; 3] {
            let d = |r: usize| h[r] - centre;
            let ways = self.order.moments;
            [strided(ways, from, end, |r| h[r]), strided(ways, from, end, d), strided(ways, from, end, |r| d(r) * d(r))]
        };
        let (of_low, of_high) = (sums(0, split, b), sums(split, h.len(), a));
        let d = |r: usize| h[r] - if r < split { b } else { a };
        let (c, by): (Vec<f32>, [f32; 4]) = match self.lane.shape.objective {
            "auc-margin" => {
                let c = |r| match r < split {
                    true => 2.0 * n[1] * (1.0 / low) * (d(r) + alpha),
                    false => 2.0 * n[1] * (1.0 / high) * (d(r) - alpha),
                };
                let (l, p) = (of_low.map(|x| x / low), of_high.map(|x| x / high));
                let gap = n[0] + l[0] - p[0];
                let value = p[2] + l[2] + 2.0 * alpha * gap - alpha * alpha;
                let by = [-2.0 * p[1], -2.0 * l[1], -2.0 * (gap - alpha), value].map(|x| n[1] * x);
                ((0..h.len()).map(c).collect(), by)
            }
            _ => {
                let share = |of: f32, count: f32| if count == 0.0 { 0.0 } else { of / ((n[3] + n[4]) * count) };
                let [wl, wh] = match n[2] == 0.0 {
                    true => [1.0 / h.len() as f32; 2],
                    false => [share(n[3], low), share(n[4], high)],
                };
                let (p, variance) = (n[0], n[1]);
                let c = |r| match r < split {
                    true => wl * 2.0 * p * (d(r) + 1.0 + alpha),
                    false => wh * 2.0 * (1.0 - p) * (d(r) - 1.0 - alpha),
                };
                let (l, q) = (of_low.map(|x| p * wl * x), of_high.map(|x| (1.0 - p) * wh * x));
                let cross = l[0] - q[0];
                let value = q[2] + l[2] + 2.0 * (1.0 + alpha) * cross - variance * alpha * alpha;
                let by = [-2.0 * q[1], -2.0 * l[1], -(2.0 * cross - 2.0 * variance * alpha), value];
                ((0..h.len()).map(c).collect(), by)
            }
        };
        for (k, by) in by.into_iter().take(3).enumerate() {
            self.move_along(at + k, by.settled_below(TINY));
        }
        (c, by[3])
    }
}
