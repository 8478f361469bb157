//! Objectives of batches whose scores come from elsewhere: value, gradient, and what moves from batch to batch. In f64 inside.

use crate::failure::Failure;
use crate::work::Work;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use these::{Held, METHODS, held};
use undercurve::Error;
use undercurve::batch::{Batch, Drawn};
use undercurve::checkpoint::CheckpointError;
use undercurve::estimator::{Estimator, Grad};
use undercurve::registry::{Kind, Method, Scope, SettingError};
use wasm_bindgen::prelude::wasm_bindgen;

/// Every method of the registry that this build has.
#[cfg(feature = "objective")]
mod these {
    use undercurve::estimator::AnyEstimator;
    use undercurve::registry::{self, Method};

    pub static METHODS: &[Method] = registry::METHODS;
    pub type Held = AnyEstimator;

    pub fn held(estimator: AnyEstimator) -> Option<Held> {
        Some(estimator)
    }
}

/// The exact methods alone.
#[cfg(not(feature = "objective"))]
mod these {
    use undercurve::batch::{Batch, Shape};
    use undercurve::estimator::{AnyEstimator, CrossEntropyExact, Estimator, Exact, Grad};
    use undercurve::registry::{EXACT_METHODS, Method};
    use undercurve::{Need, Result, Scratch};

    pub static METHODS: &[Method] = &EXACT_METHODS;

    /// Their estimators: without a state, and without variables of their own.
    #[derive(Clone, Copy)]
    pub enum Held {
        Sum(Exact),
        CrossEntropy(CrossEntropyExact),
    }

    pub fn held(estimator: AnyEstimator) -> Option<Held> {
        match estimator {
            AnyEstimator::Exact(sum) => Some(Held::Sum(sum)),
            AnyEstimator::CrossEntropyExact(of) => Some(Held::CrossEntropy(of)),
            _ => None,
        }
    }

    macro_rules! each {
        ($any:expr, $e:ident => $body:expr) => {
            match $any {
                Held::Sum($e) => $body,
                Held::CrossEntropy($e) => $body,
            }
        };
    }

    impl Held {
        pub fn aux(&self) -> (usize, usize) {
            (0, 0)
        }
        pub fn state_len(&self, _: usize) -> usize {
            0
        }
        pub fn needs_all(&self) -> bool {
            true
        }
    }

    impl Estimator<f64> for Held {
        fn tables_len(&self) -> usize {
            each!(self, e => Estimator::<f64>::tables_len(e))
        }
        fn prepare<'t>(&self, tables: &'t mut [f64]) -> &'t [f64] {
            each!(self, e => Estimator::<f64>::prepare(e, tables))
        }
        fn takes_weights(&self) -> bool {
            true
        }
        fn need(&self, shape: Shape) -> Need {
            each!(self, e => Estimator::<f64>::need(e, shape))
        }
        fn value(&self, batch: &Batch<'_, f64>, aux: &[f64], scratch: Scratch<'_, f64>) -> Result<f64> {
            each!(self, e => e.value(batch, aux, scratch))
        }
        fn gradient(
            &self,
            batch: &Batch<'_, f64>,
            aux: &[f64],
            state: &[f64],
            scratch: Scratch<'_, f64>,
            grad: Grad<'_, f64>,
        ) -> Result<f64> {
            each!(self, e => e.gradient(batch, aux, state, scratch, grad))
        }
    }
}

/// What an objective is made of.
#[wasm_bindgen]
pub struct Asked {
    name: String,
    labels: Vec<u8>,
    classes: u32,
    settings: Vec<(String, String)>,
    fpr: (f64, f64),
    stratified: bool,
    seed: u64,
}

#[wasm_bindgen]
impl Asked {
    /// A method by name, and the label of each row of the data: 0 or 1, or the numbers of so many classes.
    #[wasm_bindgen(constructor)]
    pub fn new(name: String, labels: Vec<u8>, classes: u32) -> Self {
        Self { name, labels, classes, settings: Vec::new(), fpr: (0.0, 0.05), stratified: false, seed: 1 }
    }
    /// Overrides a parameter of the method.
    pub fn set(&mut self, name: String, value: String) {
        self.settings.push((name, value));
    }
    /// False-positive range of the partial AUC.
    pub fn fpr(&mut self, low: f64, high: f64) {
        self.fpr = (low, high);
    }
    /// Batches have so many rows of each class.
    pub fn stratified(&mut self) {
        self.stratified = true;
    }
    /// Of what the objective draws by itself.
    pub fn seed(&mut self, seed: f64) {
        self.seed = seed as u64;
    }
}

/// An objective with its state.
#[wasm_bindgen]
pub struct Objective {
    method: &'static Method,
    estimator: Held,
    drawn: Drawn,
    /// Of the method, its settings and the rows.
    mark: u64,
    /// The label or class of each row.
    segments: Vec<u8>,
    /// The place of each row in the state, where it has one.
    slots: Vec<u32>,
    /// Whether rows have one.
    owns: bool,
    /// Rows of each segment.
    population: Vec<u32>,
    masses: Vec<f64>,
    heads: usize,
    tables: Vec<f64>,
    state: Vec<f64>,
    /// The state after the last gradient.
    next: Vec<f64>,
    pending: bool,
    aux: Vec<f64>,
    by_aux: Vec<f64>,
    work: Work,
    /// The value of the last gradient.
    #[wasm_bindgen(readonly)]
    pub value: f64,
}

/// The names of the methods whose objective is one of scores, of two classes or of several.
fn names(several: bool) -> String {
    let mut names = String::new();
    for method in METHODS {
        let Some(method) = (if several { method.of_classes() } else { Some(method) }) else { continue };
        if refusal(method).is_none() {
            listed(&mut names, method.name);
        }
    }
    names
}

/// A name more.
fn listed(names: &mut String, name: &str) {
    if !names.is_empty() {
        names.push_str(", ");
    }
    names.push_str(name);
}

const OWN: &str = "has an algorithm of its own, which only a session runs";

/// Why a method's objective cannot be had alone.
fn refusal(method: &Method) -> Option<&'static str> {
    match method.kind {
        Kind::Batches | Kind::Whole if method.is_built() => None,
        Kind::Batches | Kind::Whole => Some(OWN),
        Kind::Cells => Some("is of groups, which only a session has"),
        _ => Some("is no loss of scores; only a session trains it"),
    }
}

/// A text of its parts. (Nothing formats: that would be a tenth of the module.)
#[inline(never)]
fn said(parts: &[&str]) -> String {
    let mut text = String::new();
    parts.iter().for_each(|part| text.push_str(part));
    text
}

fn config(parts: &[&str]) -> Failure {
    Failure::new(121, "name", &said(parts))
}

/// The method of this name, in its form for so many classes.
fn method_of(name: &str, several: bool) -> Result<&'static Method, Failure> {
    let Some(method) = METHODS.iter().find(|method| method.name == name) else {
        return Err(config(&["no method \"", name, "\"; there are ", &names(several)]));
    };
    if let Some(why) = refusal(method) {
        return Err(config(&["method ", method.name, " ", why]));
    }
    if !several {
        return Ok(method);
    }
    method.of_classes().ok_or_else(|| {
        let others = names(true);
        let those = if others.is_empty() { "" } else { "; of several classes are " };
        config(&["method ", method.name, " is of two classes", those, &others])
    })
}

fn wrong_setting(method: &Method, pairs: &[(&str, &str)], error: SettingError) -> Failure {
    let text = match error {
        SettingError::Unknown { at } => {
            let mut names = String::new();
            method.params.iter().for_each(|param| listed(&mut names, param.name));
            said(&["method ", method.name, " has no parameter \"", pairs[at].0, "\"; it has ", &names])
        }
        SettingError::Value { at, param } => {
            said(&["settings.", param.name, " ", pairs[at].1, ": is outside its range"])
        }
    };
    Failure::new(error.code(), "settings", &text)
}

/// Rows of each of so many segments; the place of each row of all but the first, and how many those are.
fn counted(segments: &[u8], count: usize) -> Result<(Vec<u32>, Vec<u32>, u32), Failure> {
    let mut population = vec![0u32; count];
    let mut slots = vec![0; segments.len()];
    let mut owners = 0;
    for (row, &of) in segments.iter().enumerate() {
        let rows = population.get_mut(of as usize).ok_or(Error::Label { at: row })?;
        *rows += 1;
        if of > 0 {
            slots[row] = owners;
            owners += 1;
        }
    }
    if population.contains(&0) {
        return Err(Error::OneClass.into());
    }
    Ok((population, slots, owners))
}

/// FNV-1a.
struct Mark(u64);

impl Mark {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    fn of(bytes: &[u8]) -> u64 {
        let mut mark = Self(0xcbf2_9ce4_8422_2325);
        mark.add(bytes);
        mark.0
    }
}

/// Begins a saved state.
const MAGIC: &[u8; 8] = b"ucobj\0\x01\0";

#[wasm_bindgen]
impl Objective {
    /// Of what was asked for.
    #[wasm_bindgen(constructor)]
    pub fn new(asked: Asked) -> Result<Self, Failure> {
        let several = asked.classes > 2;
        let method = method_of(&asked.name, several)?;
        let name = method.name;
        let pairs: Vec<(&str, &str)> = asked.settings.iter().map(|(name, text)| (&name[..], &text[..])).collect();
        let made = method.settings(&pairs).map_err(|error| wrong_setting(method, &pairs, error))?;
        let count = if several { asked.classes as usize } else { 2 };
        let segments = asked.labels;
        let (population, slots, owners) = counted(&segments, count)?;
        let rows = segments.len() as u32;
        let positives = if several { 0 } else { population[1] };
        let population_of = [rows - positives, positives];
        let scope =
            Scope { population: population_of, network: true, classes: asked.classes.max(2), ..Scope::default() };
        let made = made.with_fpr(asked.fpr).with_seed(asked.seed).with_scope(scope);
        let estimator = held(method.estimator(&made)?).ok_or_else(|| config(&["method ", name, " ", OWN]))?;
        // (Steps and passes have no reader to wait for.)
        let steps = pairs.iter().position(|pair| matches!(pair.0, "steps" | "passes"));
        if let Some(at) = made.unread(&[]).or(steps) {
            const UNREAD: &str = ": nothing here reads it; it is of steps and batches, which are the caller's";
            return Err(Failure::new(202, "settings", &said(&["settings.", pairs[at].0, UNREAD])));
        }
        let drawn = match (estimator.needs_all(), asked.stratified) {
            (true, _) => Drawn::All,
            (false, true) => Drawn::Stratified,
            (false, false) => Drawn::Uniform,
        };
        let mut tables = vec![0.0; Estimator::<f64>::tables_len(&estimator)];
        let len = Estimator::<f64>::prepare(&estimator, &mut tables).len();
        tables.truncate(len);
        let (low, high) = estimator.aux();
        let owns = estimator.state_len(2) > estimator.state_len(1);
        let mut mark = Mark(Mark::of(name.as_bytes()));
        pairs.iter().for_each(|pair| [pair.0, "=", pair.1, ";"].iter().for_each(|text| mark.add(text.as_bytes())));
        mark.add(&segments);
        Ok(Self {
            method,
            estimator,
            drawn,
            mark: mark.0,
            segments,
            slots,
            owns,
            masses: population.iter().map(|&rows| rows.into()).collect(),
            population,
            heads: if several { count } else { 1 },
            tables,
            state: vec![0.0; estimator.state_len(if owns { owners as usize } else { 1 })],
            next: Vec::new(),
            pending: false,
            aux: vec![0.0; low + high],
            by_aux: vec![0.0; low + high],
            work: Work::default(),
            value: f64::NAN,
        })
    }

    /// Derivative by each score, and in `value` the estimate, as if the state had moved by this batch; `commit` moves it. A batch
    /// that lacks a class which the objective needs counts nothing: all of it is 0. The rows are all there are without numbers.
    pub fn gradient(&mut self, scores: &[f64], rows: Option<Vec<u32>>) -> Result<Vec<f64>, Failure> {
        self.pending = false;
        let batch = Sorted::of(self, scores, rows)?;
        self.next.clone_from(&self.state);
        let (mut by_score, mut by_aux) = (vec![0.0; scores.len()], vec![0.0; self.aux.len()]);
        let grad = Grad { scores: &mut by_score, aux: &mut by_aux };
        let value = batch.with(self.heads, &self.population, &self.masses, self.drawn, &self.tables, |batch| {
            let scratch = self.work.lend(Estimator::<f64>::need(&self.estimator, batch.shape()));
            self.estimator.update(batch, &self.aux, &mut self.next, scratch, grad)
        })?;
        (self.value, self.by_aux, self.pending) = (value, by_aux, true);
        Ok(batch.by_row(&by_score, self.heads))
    }

    /// The estimate of the whole objective on a batch alone; the state does not enter.
    #[wasm_bindgen(js_name = valueOf)]
    pub fn value_of(&mut self, scores: &[f64], rows: Option<Vec<u32>>) -> Result<f64, Failure> {
        let batch = Sorted::of(self, scores, rows)?;
        batch.with(self.heads, &self.population, &self.masses, self.drawn, &self.tables, |batch| {
            let scratch = self.work.lend(Estimator::<f64>::need(&self.estimator, batch.shape()));
            self.estimator.value(batch, &self.aux, scratch)
        })
    }

    /// Moves the state by the batch of the last gradient, and the auxiliary variables by `rate` times theirs.
    pub fn commit(&mut self, rate: f64) -> Result<(), Failure> {
        if !self.pending {
            return Err(Failure::new(201, "commit", "commit: no gradient was asked for since the last one"));
        }
        self.pending = false;
        core::mem::swap(&mut self.state, &mut self.next);
        self.aux.iter_mut().zip(&self.by_aux).for_each(|(x, g)| *x -= rate * g);
        self.within();
        Ok(())
    }

    /// Auxiliary variables: those that are minimised over, then those that are maximised over.
    pub fn aux(&self) -> Vec<f64> {
        self.aux.clone()
    }
    /// Derivative by each of them at the last gradient, so that descent is right for all.
    #[wasm_bindgen(js_name = auxGradient)]
    pub fn aux_gradient(&self) -> Vec<f64> {
        self.by_aux.clone()
    }
    /// Sets them.
    #[wasm_bindgen(js_name = setAux)]
    pub fn set_aux(&mut self, values: &[f64]) -> Result<(), Failure> {
        if values.len() != self.aux.len() {
            return Err(Error::Length { what: "aux", need: self.aux.len(), got: values.len() }.into());
        }
        if let Some(at) = values.iter().position(|x| !x.is_finite()) {
            return Err(Error::NonFinite { what: "aux", at }.into());
        }
        self.aux.copy_from_slice(values);
        self.within();
        Ok(())
    }

    /// What moves from batch to batch.
    pub fn save(&self) -> Vec<u8> {
        let mut out = Vec::from(*MAGIC);
        out.extend(self.mark.to_le_bytes());
        self.state.iter().chain(&self.aux).for_each(|x| out.extend(x.to_le_bytes()));
        out.extend(Mark::of(&out).to_le_bytes());
        out
    }
    /// Goes on from what `save` gave, of the same method, settings and labels.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let (words, rest) = bytes.as_chunks::<8>();
        let [magic, mark, body @ .., sum] = words else { return Err(CheckpointError::NotOurs.into()) };
        if magic != MAGIC {
            return Err(CheckpointError::NotOurs.into());
        }
        if !rest.is_empty() || u64::from_le_bytes(*sum) != Mark::of(&bytes[..bytes.len() - 8]) {
            return Err(CheckpointError::Damaged.into());
        }
        if u64::from_le_bytes(*mark) != self.mark || body.len() != self.state.len() + self.aux.len() {
            return Err(CheckpointError::Mismatch("objective, setting or label").into());
        }
        let all = self.state.iter_mut().chain(&mut self.aux);
        all.zip(body).for_each(|(x, word)| *x = f64::from_le_bytes(*word));
        self.pending = false;
        Ok(())
    }
}

impl Objective {
    /// The dual of a margin is 0 or more.
    fn within(&mut self) {
        if self.method.name == "auc-margin" {
            let (low, _) = self.estimator.aux();
            self.aux[low..].iter_mut().for_each(|dual| *dual = dual.max(0.0));
        }
    }
}

/// A batch whose rows lie segment by segment.
struct Sorted {
    scores: Vec<f64>,
    /// Where each row was.
    order: Vec<usize>,
    starts: Vec<u32>,
    slots: Vec<u32>,
}

impl Sorted {
    fn of(of: &Objective, scores: &[f64], rows: Option<Vec<u32>>) -> Result<Self, Failure> {
        let all = of.segments.len();
        let rows = rows.unwrap_or_else(|| (0..all as u32).collect());
        if scores.len() != rows.len() * of.heads {
            return Err(Error::Length { what: "scores", need: rows.len() * of.heads, got: scores.len() }.into());
        }
        if let Some(at) = rows.iter().position(|&row| row as usize >= all) {
            return Err(Error::Index { what: "rows", at, len: all }.into());
        }
        if let Some(at) = scores.iter().position(|score| !score.is_finite()) {
            return Err(Error::NonFinite { what: "scores", at: at / of.heads }.into());
        }
        let segment = |row: u32| of.segments[row as usize] as usize;
        let mut starts = vec![0u32; of.population.len() + 1];
        rows.iter().for_each(|&row| starts[segment(row) + 1] += 1);
        (1..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
        let (mut order, mut next) = (vec![0; rows.len()], starts.clone());
        for (at, &row) in rows.iter().enumerate() {
            let place = &mut next[segment(row)];
            order[*place as usize] = at;
            *place += 1;
        }
        let sorted = order.iter().flat_map(|&at| &scores[at * of.heads..(at + 1) * of.heads]).copied().collect();
        let slots = match of.owns {
            true => order[starts[1] as usize..].iter().map(|&at| of.slots[rows[at] as usize]).collect(),
            false => Vec::new(),
        };
        Ok(Self { scores: sorted, order, starts, slots })
    }

    /// What comes of the batch; 0 where it lacks a class.
    fn with(
        &self,
        heads: usize,
        population: &[u32],
        masses: &[f64],
        drawn: Drawn,
        tables: &[f64],
        work: impl FnOnce(&Batch<'_, f64>) -> undercurve::Result<f64>,
    ) -> Result<f64, Failure> {
        // (Of a batch that is all there is, that is what there is.)
        let own: Vec<u32> = self.starts.windows(2).map(|ends| ends[1] - ends[0]).collect();
        let own_masses: Vec<f64> = own.iter().map(|&rows| rows.into()).collect();
        let (population, masses) = if drawn == Drawn::All { (&own[..], &own_masses[..]) } else { (population, masses) };
        let batch = Batch::weighted(&self.scores, heads, &self.starts, population, masses, drawn)?;
        match work(&batch.with_slots(&self.slots).with_tables(tables)) {
            Err(Error::OneClass) => Ok(0.0),
            told => Ok(told?),
        }
    }

    fn by_row(&self, sorted: &[f64], heads: usize) -> Vec<f64> {
        let mut out = vec![0.0; sorted.len()];
        for (row, &at) in sorted.chunks_exact(heads).zip(&self.order) {
            out[at * heads..(at + 1) * heads].copy_from_slice(row);
        }
        out
    }
}
