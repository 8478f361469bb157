//! The text of one step of one run over many workgroups: a chain of dispatches. gpu/tests/mirror/step is the
//! same in the same order on the CPU.
//!
//! ```text
//! forward × hidden layers → score → estimate → slopes (pairs alone) → turn → (back, gradient) × hidden layers
//! ```
//!
//! So a network with two hidden layers takes nine dispatches with pairs, eight without. Above 1024 rows a batch gradients of
//! fewer than 64 tiles are sums of parts, which `gather` adds behind `turn` or `gradient`: up to three more. The last step of many has `value` besides.
//!
//! Products are tiles of 64 × 64 with single sums in ascending order; scores and the last layer's gradient have 16 strands, pairs
//! 64, moments 128, the value 256, neighbours added first. Cost: 3·B·params multiply-adds and two evaluations a pair. Memory: a
//! run's in one workgroup, once for all runs, and the parts of the largest gradient; of a workgroup 8,704 bytes.

use super::narrow::{Kind, Layout, ROUNDS, Stage, last, shapes};
use super::parts::{self, Estimator, Family};
use crate::GpuError;
use std::fmt::Write;
use undercurve::device::Shape;

/// Rows of a batch whose gradients are whole, at most.
const WHOLE: u32 = 1024;
/// Workgroups that keep a device busy, about.
const BUSY: u32 = 128;

/// The uniform of a stage, as step.wgsl has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct StageUniform {
    rows: u32,
    columns: u32,
    depth: u32,
    chunk: u32,
    left: u32,
    right: u32,
    to: u32,
    value: u32,
    partials: u32,
    count: u32,
    pad: [u32; 2],
}

/// One dispatch of a step: which entry point, with which stage, over how many workgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dispatch {
    pub entry: Entry,
    pub stage: u32,
    pub groups: [u32; 3],
}

/// An entry point of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Forward,
    Score,
    Estimate,
    Slopes,
    Turn,
    Back,
    Gradient,
    Gather,
    Value,
}

/// All of them, in order.
pub(crate) const ENTRIES: [(Entry, &str); 9] = [
    (Entry::Forward, "forward"),
    (Entry::Score, "score"),
    (Entry::Estimate, "estimate"),
    (Entry::Slopes, "slopes"),
    (Entry::Turn, "turn"),
    (Entry::Back, "back"),
    (Entry::Gradient, "gradient"),
    (Entry::Gather, "gather"),
    (Entry::Value, "value"),
];

/// A shape over many workgroups.
#[derive(Clone, Debug)]
pub struct Wide {
    pub layout: Layout,
    /// Rows of a part of each stage's gradient, and behind them of the last layer's.
    pub chunks: Vec<u32>,
    /// Floats of activations and parts.
    pub work: u32,
    family: Family,
}

impl Wide {
    /// Where everything lies.
    ///
    /// # Errors
    /// `NoKernel`, `TooLarge`; `Limits` for more loop rounds than every driver makes.
    pub fn of(shape: &Shape) -> Result<Self, GpuError> {
        let layout = Layout::of(shape)?;
        let family = parts::estimator(shape)?.family;
        source(family, shape)?;
        let last = last(shape);
        let rows = shape.rows;
        let chunk = |groups: u32| match rows <= WHOLE {
            true => rows,
            false => rows.div_ceil((BUSY / groups).max(1)).clamp(WHOLE / 4, 4 * WHOLE),
        };
        let mut chunks: Vec<u32> = (layout.stages.iter())
            .map(
                |s| if s.kind == Kind::Weights { chunk(s.rows.div_ceil(64) * s.columns.div_ceil(64)) } else { s.depth },
            )
            .collect();
        chunks.push(chunk((last + 1).div_ceil(16)));
        let parts = |chunk: u32, count: u64| if chunk < rows { u64::from(rows.div_ceil(chunk)) * count } else { 0 };
        let of_stages = layout.stages.iter().zip(&chunks).filter(|(s, _)| s.kind == Kind::Weights);
        let most = of_stages.map(|(s, &chunk)| parts(chunk, (u64::from(s.rows) + 1) * u64::from(s.columns)));
        let most = most.max().unwrap_or(0).max(parts(chunks[chunks.len() - 1], u64::from(last) + 1));
        let words = u64::from(layout.work) + most;
        let work = u32::try_from(words).map_err(|_| GpuError::TooLarge {
            what: "activations",
            need: 4 * words,
            limit: u32::MAX.into(),
        })?;
        let wide = Self { layout, chunks, work, family };
        let need = wide.rounds();
        if need > ROUNDS {
            return Err(GpuError::Limits { what: "loop rounds of a step", need, got: ROUNDS });
        }
        Ok(wide)
    }

    /// The text, with the entry points of [`dispatches`](Self::dispatches).
    ///
    /// # Errors
    /// `NoKernel`.
    pub(crate) fn text(&self) -> Result<String, GpuError> {
        let shape = &self.layout.shape;
        let Estimator { family, text: estimator } = parts::estimator(shape)?;
        let mut text = parts::common(shape)?;
        for (name, value) in [
            ("LAST", last(shape)),
            ("LAST_AT", self.layout.last),
            ("HIDDEN", shape.widths.len() as u32 - 2),
            ("LAST_INPUT", self.layout.input),
            ("LAST_DELTA", self.layout.delta),
        ] {
            let _ = writeln!(text, "const {name} = {value}u;");
        }
        text.push_str(wgsl!("step.wgsl"));
        text.push_str(source(family, shape)?);
        text.push_str(&estimator);
        text.push_str(wgsl!("product.wgsl"));
        Ok(text)
    }

    /// The uniforms of the stages, and of the last layer.
    pub(crate) fn stages(&self) -> Vec<StageUniform> {
        let Layout { shape, stages, last: to, work, .. } = &self.layout;
        let chunked = stages.iter().zip(&self.chunks).map(|(s, &chunk)| {
            let Stage { rows, columns, depth, left, right, to, value, .. } = *s;
            let count = if s.kind == Kind::Weights { (rows + 1) * columns } else { 0 };
            let pad = [0; 2];
            StageUniform { rows, columns, depth, chunk, left, right, to, value, partials: *work, count, pad }
        });
        let mut all: Vec<_> = chunked.collect();
        let chunk = self.chunks[self.chunks.len() - 1];
        let (depth, partials, count) = (shape.rows, *work, last(shape) + 1);
        all.push(StageUniform { depth, chunk, to: *to, partials, count, ..StageUniform::default() });
        all
    }

    /// What a step consists of; with its value.
    pub(crate) fn dispatches(&self, value: bool) -> Vec<Dispatch> {
        let Layout { shape, stages, .. } = &self.layout;
        let (rows, behind) = (shape.rows, stages.len() as u32);
        let one = |entry, groups: u32| Dispatch { entry, stage: behind, groups: [groups, 1, 1] };
        let parts = |at: usize| rows.div_ceil(self.chunks[at]);
        let mut all = Vec::new();
        let product = |at: usize, entry| {
            let Stage { kind, rows, columns, .. } = stages[at];
            let splits = if kind == Kind::Weights { parts(at) } else { 1 };
            Dispatch { entry, stage: at as u32, groups: [rows.div_ceil(64), columns.div_ceil(64), splits] }
        };
        let gather = |at: usize, count: u32, all: &mut Vec<Dispatch>| {
            if parts(at) > 1 {
                all.push(Dispatch { entry: Entry::Gather, stage: at as u32, groups: [count.div_ceil(256), 1, 1] });
            }
        };
        let forward = (0..stages.len()).filter(|&at| stages[at].kind == Kind::Forward);
        all.extend(forward.map(|at| product(at, Entry::Forward)));
        all.push(one(Entry::Score, rows.div_ceil(16)));
        match self.family {
            Family::Pairs => {
                let positives = rows - shape.negatives.unwrap_or(0);
                all.extend([one(Entry::Estimate, positives.div_ceil(16)), one(Entry::Slopes, rows.div_ceil(16))]);
            }
            Family::Points => all.push(one(Entry::Estimate, rows.div_ceil(256))),
            // (Of the last two there are none.)
            Family::Moments | Family::Gates | Family::Own => all.push(one(Entry::Estimate, 1)),
        }
        let last = last(shape) + 1;
        all.push(Dispatch { groups: [last.div_ceil(16), 1, parts(stages.len())], ..one(Entry::Turn, 1) });
        gather(stages.len(), last, &mut all);
        for (at, stage) in stages.iter().enumerate().filter(|(_, stage)| stage.kind != Kind::Forward) {
            all.push(product(at, if stage.kind == Kind::Weights { Entry::Gradient } else { Entry::Back }));
            if stage.kind == Kind::Weights {
                gather(at, (stage.rows + 1) * stage.columns, &mut all);
            }
        }
        if value {
            all.push(one(Entry::Value, 1));
        }
        all
    }

    /// Workgroups along the longest dimension of any dispatch.
    pub(crate) fn groups(&self) -> u64 {
        self.dispatches(true).iter().flat_map(|dispatch| dispatch.groups).max().unwrap_or(0).into()
    }

    /// Loop rounds of the invocation that has most.
    pub(crate) fn rounds(&self) -> u64 {
        let Layout { shape, stages, .. } = &self.layout;
        let rows = u64::from(shape.rows);
        let slabs = |depth: u64| 5 * depth.div_ceil(16) + 4;
        let chunk = |at: usize| u64::from(self.chunks[at].min(shape.rows));
        let products = stages.iter().enumerate().map(|(at, s)| match s.kind {
            Kind::Weights => slabs(chunk(at)).max(5 * rows.div_ceil(4 * chunk(at))),
            Kind::Forward | Kind::Back => slabs(u64::from(s.depth)),
        });
        let estimate = match self.family {
            Family::Pairs => 2 * rows.div_ceil(64),
            Family::Points => 0,
            Family::Moments | Family::Gates | Family::Own => rows.div_ceil(128) + rows.div_ceil(256),
        };
        let turn = chunk(stages.len()).div_ceil(16).max(5 * rows.div_ceil(4 * chunk(stages.len())));
        let all = [u64::from(last(shape)).div_ceil(16), estimate, turn, rows.div_ceil(256)];
        all.into_iter().chain(products).max().unwrap_or(0)
    }
}

/// The text of a family.
///
/// # Errors
/// `NoKernel` for one that wants all scores of a batch in one workgroup.
fn source(family: Family, shape: &Shape) -> Result<&'static str, GpuError> {
    match family {
        Family::Pairs => Ok(wgsl!("estimate/pairs.wgsl")),
        Family::Points => Ok(wgsl!("estimate/points.wgsl")),
        Family::Moments => Ok(wgsl!("estimate/moments.wgsl")),
        Family::Gates | Family::Own => {
            Err(GpuError::NoKernel { what: format!("the objective {:?} over many workgroups", shape.objective) })
        }
    }
}

/// Texts of every part.
pub(super) fn texts() -> Vec<(String, String)> {
    let text = |shape: &Shape| Some((format!("wide {shape}"), Wide::of(shape).ok()?.text().ok()?));
    shapes().iter().filter_map(text).collect()
}
