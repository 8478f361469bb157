//! Steps of a run on the CPU, in the same order of summation as the device's, with the core's surrogates and functions: of one workgroup
//! ([`step`]) and of many ([`wide_step`]). What belongs to an objective or to a rule is in the file of its name.

mod family;
mod objective;
mod rule;

use rule::Entry;
use undercurve::device::{Shape, StepSpec};
use undercurve::surrogate::{AnySurrogate, SmoothedHinge};
use undercurve::{Error, Real};
use undercurve_gpu::GpuError;
use undercurve_gpu::kernel::narrow::{DATA, Kind, Layout, Stage, last};
use undercurve_gpu::kernel::wide::Wide;

const FAINT: f32 = <f32 as Real>::FAINT;
const TINY: f32 = <f32 as Real>::TINY;

/// Gradient by h, and the estimate.
type Estimated = (Vec<f32>, f32);

/// One step of a run: moves its state, and returns the objective's estimate. `rows` are all rows of the data, `list` is
/// that of the step, `pace` the run's for it.
///
/// # Errors
/// `NoKernel`, `Limits`; `Core` for slices of other lengths.
pub fn step(spec: &StepSpec, rows: &[f32], state: &mut [f32], list: &[u32], pace: [f32; 2]) -> Result<f32, GpuError> {
    let layout = Layout::of(&spec.shape)?;
    layout.text()?;
    step_in(LANE, (&layout, &[]), spec, rows, state, list, pace)
}

/// The same over many workgroups.
///
/// # Errors
/// As [`step`].
pub fn wide_step(
    spec: &StepSpec,
    rows: &[f32],
    state: &mut [f32],
    list: &[u32],
    pace: [f32; 2],
) -> Result<f32, GpuError> {
    let wide = Wide::of(&spec.shape)?;
    step_in(WIDE, (&wide.layout, &wide.chunks), spec, rows, state, list, pace)
}

/// The same in this order, with gradients in parts of so many rows by stage, and behind them that of the last layer; with no
/// such number they are whole.
fn step_in(
    order: Order,
    (layout, chunks): (&Layout, &[u32]),
    spec: &StepSpec,
    rows: &[f32],
    state: &mut [f32],
    list: &[u32],
    pace: [f32; 2],
) -> Result<f32, GpuError> {
    for (what, need, got) in
        [("state", spec.shape.state as usize, state.len()), ("list", spec.shape.list_len(), list.len())]
    {
        if need != got {
            return Err(Error::Length { what, need, got }.into());
        }
    }
    let (negatives, picked) = (list[0] as usize, &list[1..=spec.shape.rows as usize]);
    let slots = &list[1 + picked.len()..];
    let (loss, work) = (surrogate(spec)?, vec![0.0; layout.work as usize]);
    let rule = rule::by_name(spec.shape.rule);
    let mut run = Run { order, chunks, spec, layout, rows, picked, negatives, slots, pace, loss, rule, state, work };
    run.forward();
    let mut h = run.score();
    if spec.shape.sigmoid {
        h.iter_mut().for_each(|h| *h = h.sigmoid());
    }
    let (mut c, value) = objective::by_name(spec.shape.objective)(&mut run, &h);
    let least = FAINT / h.len() as f32;
    for (g, &h) in c.iter_mut().zip(&h) {
        if spec.shape.sigmoid {
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
pub fn scores(spec: &StepSpec, rows: &[f32], state: &mut [f32]) -> Result<Vec<f32>, GpuError> {
    let count = rows.len() / spec.shape.widths[0] as usize;
    let mut layout = Layout::of(&spec.shape)?;
    let picked: Vec<u32> = (0..count as u32).collect();
    let (mut out, loss) = (Vec::new(), surrogate(spec)?);
    // In blocks as large as a batch.
    for picked in picked.chunks(spec.shape.rows as usize) {
        layout.stages.iter_mut().filter(|s| s.kind == Kind::Forward).for_each(|s| s.rows = picked.len() as u32);
        let (negatives, slots, work) = (0, &[][..], vec![0.0; layout.work as usize]);
        let state = &mut *state;
        let (layout, pace) = (&layout, [0.0; 2]);
        let (order, chunks) = (LANE, &[][..]);
        let rule = rule::by_name(spec.shape.rule);
        let mut run =
            Run { order, chunks, spec, layout, rows, picked, negatives, slots, pace, loss, rule, state, work };
        run.forward();
        out.extend(run.score());
    }
    Ok(out)
}

/// The surrogate; any, where the objective has none.
fn surrogate(spec: &StepSpec) -> Result<AnySurrogate<f32>, GpuError> {
    Ok(match spec.shape.surrogate {
        "" => AnySurrogate::by_name("hinge", 1.0)?,
        "smoothed-hinge" => AnySurrogate::SmoothedHinge(SmoothedHinge::new(spec.numbers[20], spec.numbers[21])?),
        name => AnySurrogate::by_name(name, spec.numbers[20])?,
    })
}

/// How many partial sums there are, a power of two, of every so-manieth term each. Neighbours are added first.
#[derive(Clone, Copy, Debug)]
struct Order {
    /// Of a score.
    score: usize,
    /// Of the gradient by a weight of the last layer, and by a bias of a hidden one.
    columns: usize,
    biases: usize,
    /// Over the pairs of a row.
    pairs: usize,
    /// Over a class.
    moments: usize,
    /// Of the value.
    values: usize,
}

const LANE: Order = Order { score: 4, columns: 4, biases: 4, pairs: 4, moments: 4, values: 1 };
const WIDE: Order = Order { score: 16, columns: 16, biases: 1, pairs: 64, moments: 128, values: 256 };

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
    spec: &'a StepSpec,
    layout: &'a Layout,
    rows: &'a [f32],
    picked: &'a [u32],
    negatives: usize,
    slots: &'a [u32],
    pace: [f32; 2],
    loss: AnySurrogate<f32>,
    rule: rule::Rule,
    state: &'a mut [f32],
    work: Vec<f32>,
}

impl Run<'_> {
    fn shape(&self) -> &Shape {
        &self.spec.shape
    }

    /// Entry k of a row's input to the last layer.
    fn input(&self, r: usize, k: usize) -> f32 {
        let last = last(self.shape()) as usize;
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
            Kind::Forward | Kind::Back => (row, k, s.depth as usize),
            Kind::Weights => (k, row, s.rows as usize),
        };
        match s.left {
            DATA => self.rows[self.picked[r] as usize * width + x],
            at => self.work[at as usize + r * width + x],
        }
    }

    fn right(&self, s: &Stage, k: usize, column: usize) -> f32 {
        let at = s.right as usize;
        match s.kind {
            Kind::Forward => self.state[at + k * s.columns as usize + column],
            Kind::Back => self.state[at + column * s.depth as usize + k],
            Kind::Weights => self.work[at + k * s.columns as usize + column],
        }
    }

    /// Rows of a part of the gradient of a stage.
    fn chunk(&self, stage: usize) -> usize {
        self.chunks.get(stage).map_or(usize::MAX, |&rows| rows as usize)
    }

    fn product(&mut self, stage: usize, s: &Stage) {
        let (rows, columns, depth) = (s.rows as usize, s.columns as usize, s.depth as usize);
        let chunk = if s.kind == Kind::Weights { self.chunk(stage) } else { usize::MAX };
        let mut sums = vec![0.0f32; rows * columns];
        for (at, sum) in sums.iter_mut().enumerate() {
            let (row, column) = (at / columns, at % columns);
            let part = |from, end| strided(1, from, end, |k| self.left(s, row, k) * self.right(s, k, column));
            *sum = in_chunks(chunk, depth, part);
        }
        for (at, &sum) in sums.iter().enumerate() {
            let to = s.to as usize + at;
            match s.kind {
                Kind::Forward => {
                    let bias = self.state[s.right as usize + depth * columns + at % columns];
                    self.work[to] = self.activate(sum + bias);
                }
                Kind::Back => self.work[to] = self.through(sum, self.work[s.value as usize + at]),
                Kind::Weights => self.move_along(to, sum),
            }
        }
    }

    fn forward(&mut self) {
        let layout = self.layout;
        for (at, s) in layout.stages.iter().enumerate().filter(|(_, s)| s.kind == Kind::Forward) {
            self.product(at, s);
        }
    }

    fn score(&self) -> Vec<f32> {
        let (at, last) = (self.layout.last as usize, last(self.shape()) as usize);
        let sum = |r| strided(self.order.score, 0, last, |k| self.input(r, k) * self.state[at + k]);
        (0..self.picked.len()).map(|r| self.state[at + last] + sum(r)).collect()
    }

    fn backward(&mut self, c: &[f32]) {
        let layout = self.layout;
        let (at, last) = (layout.last as usize, last(self.shape()) as usize);
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
        for (at, s) in layout.stages.iter().enumerate().filter(|(_, s)| s.kind != Kind::Forward) {
            self.product(at, s);
            if s.kind == Kind::Back {
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
        match self.shape().pull {
            Some(start) if k < self.shape().params as usize => {
                let gone = self.state[k] - self.state[start as usize + k];
                self.rule(k, (g + self.spec.numbers[7] * gone).settled());
            }
            _ => self.rule(k, g),
        }
    }

    fn rule(&mut self, k: usize, g: f32) {
        let (length, slots) = (self.shape().length as usize, self.shape().slots as usize);
        let descends = k < length - self.shape().ascent as usize;
        let (numbers, pace) = (&self.spec.numbers, self.pace);
        let (mean, first) = (length + k, slots + k);
        (self.rule)(Entry { k, mean, first, length, descends, numbers, pace, state: self.state }, g);
    }

    /// The numbers of the objective.
    fn numbers(&self) -> [f32; 12] {
        std::array::from_fn(|k| self.spec.numbers[8 + k])
    }

    /// Where its state begins.
    fn bank(&self) -> usize {
        self.shape().bank as usize
    }

    /// Moves λ of a place in the state, with its mean up to this step, by the clock of its inner problem.
    fn dual(&mut self, at: usize, clock: usize, moved: f32) {
        let (lambda, mean, held, done) =
            (self.state[at], self.state[at + 1], self.state[at + 2], self.state[clock] + 1.0);
        let mean = if done > held { (mean * held + lambda * (done - held)) / done } else { mean };
        self.state[at..at + 3].copy_from_slice(&[moved, mean, done]);
    }
}
