//! The text of a run's step, joined from parts: `step.wgsl` for all, a model, an estimator, a surrogate, a rule.
//!
//! One workgroup is one run; [`DeviceRuns`](crate::DeviceRuns) runs it; gpu/tests/mirror/step is the same in the same order on the CPU.
//!
//! Products of hidden layers are single sums in ascending order; the last layer and sums over rows are four partial sums,
//! (0 + 1) + (2 + 3); sums over pairs are four partial sums, added alike. Cost a step: 3·B·params multiply-adds and two
//! evaluations a pair. Memory of a run: its state and B·(hidden widths + twice the widest) activations; of a workgroup at
//! most 15,872 bytes.

use super::objective::{self, Batch, OBJECTIVES, Objective};
use super::parts::{self, Estimator, Family};
use super::rule::{self, RULES, Rule};
use super::{GROUP, times};
use crate::GpuError;
use std::fmt::Write;
use undercurve::device::Shape;

/// Rows of a batch, at most.
pub const MAX_ROWS: u32 = 512;
/// Rounds of an invocation, at most, of all its loops together: Mesa's llvmpipe silently stops it after 65,535.
pub(crate) const ROUNDS: u64 = 60_000;

/// Entries of two slabs of a product: more than rows of a batch.
const SLABS: u32 = 2 * 16 * 17;

/// A shape, and where its activations and parameters lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub shape: Shape,
    /// Floats of a run's activations.
    pub work: u32,
    /// Where the last layer's parameters begin.
    pub last: u32,
    /// Where the last hidden layer's activations begin, and the gradient by them.
    pub input: u32,
    pub delta: u32,
    pub stages: Vec<Stage>,
}

/// One product of a hidden layer, as network.wgsl has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    pub kind: Kind,
    pub rows: u32,
    pub columns: u32,
    pub depth: u32,
    pub left: u32,
    pub right: u32,
    pub to: u32,
    pub value: u32,
}

/// What a product makes: activations, the gradient by them, or that by the weights; numbered as network.wgsl does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Forward = 0,
    Back = 1,
    Weights = 2,
}

/// Of a stage's left side: the rows of the batch.
pub const DATA: u32 = u32::MAX;

/// A shape for tests, of an objective and a rule that have a text: 50 rows a batch, 40 of them negatives, and 30 positives in the data.
#[must_use]
pub fn shape(widths: &[u32], objective: &str, rule: &str) -> Option<Shape> {
    Some(shape_of(widths, objective::by_name(objective)?, rule::by_name(rule)?))
}

fn shape_of(widths: &[u32], of: &Objective, rule: &Rule) -> Shape {
    let Rule { name: rule, points, slots, .. } = *rule;
    let Objective { name: objective, surrogate, aux, each, beside, .. } = *of;
    let params: u32 = widths.windows(2).map(|pair| (pair[0] + 1) * pair[1]).sum();
    let length = params + aux;
    let bank = length * (points + slots);
    Shape {
        widths: widths.to_vec(),
        tanh: false,
        rows: 50,
        negatives: Some(40),
        objective,
        surrogate,
        sigmoid: false,
        rule,
        ascent: if aux > 3 { aux / 2 } else { aux / 3 },
        pull: None,
        params,
        length,
        points,
        slots: length * points,
        bank,
        state: bank + 30 * each + beside,
    }
}

/// Shapes with every part: all objectives with one rule, all rules with one objective, and all surrogates.
pub(super) fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for (at, widths) in [&[5, 1][..], &[70, 3, 65, 1]].into_iter().enumerate() {
        shapes.extend(OBJECTIVES.iter().filter_map(|of| shape(widths, of.name, "adam")));
        let ruled = RULES.iter().filter_map(|of| shape(widths, "auc-min-max", of.name));
        shapes.extend(ruled.map(|shape| Shape { pull: (shape.rule == "adam").then_some(shape.slots), ..shape }));
        for &(surrogate, _, _) in undercurve::surrogate::SURROGATES {
            let sigmoid = at == 1;
            let of = |shape| Shape { surrogate, sigmoid, tanh: true, rows: 512, negatives: None, ..shape };
            shapes.extend(shape(widths, "soap", "sgd").map(of));
        }
    }
    shapes
}

/// Texts of every part.
pub(super) fn texts() -> Vec<(String, String)> {
    let text = |shape: &Shape| Some((format!("narrow {shape}"), Layout::of(shape).ok()?.text().ok()?));
    shapes().iter().filter_map(text).collect()
}

/// Inputs of the last layer.
pub fn last(shape: &Shape) -> u32 {
    shape.widths[shape.widths.len() - 2]
}

/// Parameters of each layer.
fn sizes(shape: &Shape) -> impl Iterator<Item = u64> {
    shape.widths.windows(2).map(|pair| (u64::from(pair[0]) + 1) * u64::from(pair[1]))
}

/// Whether it is a shape.
fn is_sound(shape: &Shape) -> bool {
    let ends = [shape.params, shape.length, shape.slots, shape.bank, shape.state];
    shape.widths.len() >= 2
        && shape.widths.last() == Some(&1)
        && !shape.widths.contains(&0)
        && shape.rows > 0
        && shape.negatives.is_none_or(|negatives| negatives <= shape.rows)
        && sizes(shape).sum::<u64>() == u64::from(shape.params)
        && shape.points.checked_mul(shape.length).is_some_and(|points| points <= shape.slots)
        && ends.is_sorted()
        && shape.pull.is_none_or(|start| {
            start >= shape.slots && u64::from(start) + u64::from(shape.params) <= shape.state.into()
        })
        && shape.ascent <= shape.length
}

/// The products of the hidden layers, of parameters from `starts` on, activations from `values` on, and the gradient by them in
/// both places in turn.
fn stages(shape: &Shape, starts: &[u32], values: &[u32], deltas: [u32; 2]) -> Vec<Stage> {
    let (hidden, batch) = (values.len(), shape.rows);
    let left = |at: usize| if at == 0 { DATA } else { values[at - 1] };
    let forward = |(at, pair): (usize, &[u32])| Stage {
        kind: Kind::Forward,
        rows: batch,
        columns: pair[1],
        depth: pair[0],
        left: left(at),
        right: starts[at],
        to: values[at],
        value: 0,
    };
    let mut stages: Vec<_> = shape.widths.windows(2).take(hidden).enumerate().map(forward).collect();
    for at in (0..hidden).rev() {
        let (inputs, outputs) = (shape.widths[at], shape.widths[at + 1]);
        let here = deltas[(hidden - 1 - at) % 2];
        if at > 0 {
            stages.push(Stage {
                kind: Kind::Back,
                rows: batch,
                columns: inputs,
                depth: outputs,
                left: here,
                right: starts[at],
                to: deltas[(hidden - at) % 2],
                value: values[at - 1],
            });
        }
        stages.push(Stage {
            kind: Kind::Weights,
            rows: inputs,
            columns: outputs,
            depth: batch,
            left: left(at),
            right: here,
            to: starts[at],
            value: 0,
        });
    }
    stages
}

impl Layout {
    /// Where everything lies.
    ///
    /// # Errors
    /// `NoKernel` for a shape that is none; `TooLarge`.
    pub fn of(shape: &Shape) -> Result<Self, GpuError> {
        if !is_sound(shape) {
            return Err(GpuError::NoKernel { what: format!("{shape:?}") });
        }
        let hidden = &shape.widths[1..shape.widths.len() - 1];
        let starts: Vec<u32> =
            sizes(shape).scan(0, |at, size| Some(std::mem::replace(at, *at + size as u32))).collect();
        let mut values = Vec::new();
        let mut work = 0u64;
        for &width in hidden {
            values.push(work as u32);
            work += u64::from(shape.rows) * u64::from(width);
        }
        let widest = u64::from(shape.rows) * u64::from(hidden.iter().copied().max().unwrap_or(0));
        let deltas = [work as u32, (work + widest) as u32];
        work += 2 * widest;
        let work = u32::try_from(work).map_err(|_| GpuError::TooLarge {
            what: "activations",
            need: 4 * work,
            limit: u32::MAX.into(),
        })?;
        let last = starts.last().copied().unwrap_or(0);
        let input = values.last().copied().unwrap_or(0);
        let stages = stages(shape, &starts, &values, deltas);
        Ok(Self { shape: shape.clone(), work: work.max(1), last, input, delta: deltas[0], stages })
    }

    /// The text of its step, with the entry points `advance` and `look`.
    ///
    /// # Errors
    /// As `DeviceRuns::new`: `NoKernel`, `Limits`.
    pub fn text(&self) -> Result<String, GpuError> {
        let shape = &self.shape;
        if shape.rows > MAX_ROWS {
            let (need, got) = (shape.rows.into(), MAX_ROWS.into());
            return Err(GpuError::Limits { what: "rows of a batch", need, got });
        }
        let Estimator { family, text: estimator } = parts::estimator(shape)?;
        let family = match family {
            Family::Pairs => wgsl!("estimate/pairs.wgsl"),
            Family::Points => wgsl!("estimate/points.wgsl"),
            Family::Moments => wgsl!("estimate/moments.wgsl"),
            Family::Gates => wgsl!("estimate/gates.wgsl"),
            Family::Own => "",
        };
        let hidden = shape.widths.len() - 2;
        let mut text = parts::common(shape)?;
        for (name, value) in [
            ("STAGED", if hidden == 0 { self.staged() } else { SLABS }),
            ("LAST", last(shape)),
            ("LAST_AT", self.last),
            ("LIST", shape.list_len() as u32),
            ("WORK", self.work),
            ("HIDDEN", hidden as u32),
            ("STAGES", self.stages.len() as u32),
            ("LAST_INPUT", self.input),
            ("LAST_DELTA", self.delta),
        ] {
            let _ = writeln!(text, "const {name} = {value}u;");
        }
        text.push_str(wgsl!("step.wgsl"));
        text.push_str(family);
        text.push_str(&estimator);
        if hidden == 0 {
            text.push_str(wgsl!("model/linear.wgsl"));
        } else {
            text.push_str(wgsl!("model/network.wgsl"));
            text.push_str("\nfn stage_of(at: u32) -> Stage {\n    switch at {\n");
            for (at, s) in self.stages.iter().enumerate() {
                let Stage { kind, rows, columns, depth, left, right, to, value } = *s;
                let label = if at + 1 == self.stages.len() { "default".to_string() } else { format!("case {at}u") };
                let numbers = [kind as u32, rows, columns, depth, left, right, to, value].map(|x| format!("{x}u"));
                let _ = writeln!(text, "        {label}: {{ return Stage({}); }}", numbers.join(", "));
            }
            text.push_str("    }\n}\n");
        }
        Ok(text)
    }

    /// Entries that an objective stages: four numbers of each row, bin or anchor.
    fn staged(&self) -> u32 {
        let of = objective::by_name(self.shape.objective);
        self.shape.rows.max(of.map_or(0, |of| (of.staged)(&self.shape)))
    }

    /// Positives of the data that have numbers in the objective's state; any number where none has.
    pub(crate) fn owners(&self) -> usize {
        let Shape { objective, bank, state, .. } = &self.shape;
        match objective::by_name(objective) {
            Some(of) if of.each > 0 => ((state - bank).saturating_sub(of.beside) / of.each) as usize,
            Some(_) | None => usize::MAX,
        }
    }

    /// Rounds of all loops of one step, and of a dispatch besides.
    pub(crate) fn rounds(&self) -> Rounds {
        let shape = &self.shape;
        let (rows, last, parts) = (shape.rows, last(shape), u64::from(shape.rows.div_ceil(4)));
        let score = times(rows.div_ceil(64), 1 + u64::from(last.div_ceil(4)));
        let columns = |width: u32| times(width.div_ceil(64), 1 + parts);
        let over_rows = u64::from(rows.div_ceil(GROUP));
        let positives = shape.rows - shape.negatives.unwrap_or(0);
        // Where they differ, all may be negatives, or all positives.
        let negatives = shape.negatives.unwrap_or(rows);
        let batch = Batch { rows, negatives, positives, ascent: shape.ascent };
        let of = objective::by_name(shape.objective);
        let (estimate, value) = of.map_or((0, 0), |of| (of.rounds)(&batch));
        let links = over_rows * if shape.sigmoid { 2 } else { 1 };
        let products = |forward: bool| -> u64 {
            let stages = self.stages.iter().filter(|stage| !forward || stage.kind == Kind::Forward);
            stages.map(|stage| 1 + stage.rounds(columns)).sum()
        };
        let turn = if self.stages.is_empty() { 0 } else { (u64::from(rows) * u64::from(last)).div_ceil(GROUP.into()) };
        Rounds {
            step: 1 + over_rows + products(false) + score + links + estimate + turn + columns(last + 1),
            block: 1 + 2 * over_rows + products(true) + score,
            value: value.into(),
        }
    }
}

/// Rounds of loops, of whichever invocation has most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rounds {
    /// Of a step.
    pub step: u64,
    /// Of a block of rows that is scored.
    pub block: u64,
    /// Of a dispatch's last step besides.
    pub value: u64,
}

impl Stage {
    fn rounds(&self, columns: impl Fn(u32) -> u64) -> u64 {
        // A slab is its round and four inside, the entries four.
        let tile = 1 + 5 * u64::from(self.depth.div_ceil(16)) + 4;
        let tiles = times(self.rows.div_ceil(64), 1 + times(self.columns.div_ceil(64), tile));
        tiles + if self.kind == Kind::Weights { columns(self.columns) } else { 0 }
    }
}
