//! The bits of every run: what each method makes of dense and of sparse rows, in both precisions, by a linear model and by
//! a network, of two classes and of several. `tests/golden/bits.txt` holds a line a run with hashes of its parameters, its
//! estimator's state and its reports; a run that is saved half way and resumed must come to the same.
//!
//! `UNDERCURVE_BLESS=new cargo test -p undercurve-tests bits::` adds the lines of runs that the file does not have yet, of
//! a new method, say, and leaves the others; `UNDERCURVE_BLESS=1`, after a change that is meant to change bits, writes all.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;
use undercurve::Real;
use undercurve::data::Dataset;
use undercurve::registry::{METHODS, Method, class_methods};
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Figures, Length, ModelSpec, Trainer};

const ROWS: usize = 300;
const COLUMNS: usize = 6;
const STEPS: u64 = 24;
const CLASSES: u32 = 4;
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/bits.txt");
/// FNV-1a over words.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
    fn eat(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3);
    }
    fn reals<T: Real>(values: &[T]) -> u64 {
        let mut hash = Self::new();
        values.iter().for_each(|x| hash.eat(x.f64().to_bits()));
        hash.0
    }
    fn numbers(values: &[f64]) -> u64 {
        Self::reals(values)
    }
}

fn class_of(row: usize) -> u32 {
    [0, 0, 1, 0, 2, 0, 0, 3, 1, 0][row % 10]
}

/// Rows of which a third of the values are 0, dense or sparse, with the positives moved.
fn rows<T: Real>(sparse: bool, seed: u64, labels: Vec<u8>) -> Dataset<T> {
    let mut rng = Rng::new(seed);
    let dense: Vec<T> = (0..ROWS * COLUMNS)
        .map(|at| {
            let shift = if at % COLUMNS == 0 { 0.7 * f64::from(class_of(at / COLUMNS)) } else { 0.0 };
            let x = rng.normal() + shift;
            if (at / COLUMNS + at % COLUMNS).is_multiple_of(3) { T::ZERO } else { T::of(x) }
        })
        .collect();
    if !sparse {
        return Dataset::dense(dense, labels, COLUMNS).unwrap();
    }
    let (mut ptr, mut col, mut val) = (vec![0], Vec::new(), Vec::new());
    for row in dense.chunks(COLUMNS) {
        for (k, &x) in row.iter().enumerate().filter(|(_, x)| **x != T::ZERO) {
            col.push(k as u32);
            val.push(x);
        }
        ptr.push(col.len());
    }
    Dataset::csr(ptr, col, val, labels, COLUMNS).unwrap()
}

fn numbers(figures: &Figures) -> [f64; 3] {
    let summary = figures.binary().unwrap();
    [summary.ap, summary.auroc, summary.pauc]
}

/// Settings that every method is tried with: its defaults, and without what comes before; other draws.
fn settings(method: &'static Method, network: bool) -> Vec<Vec<(&'static str, &'static str)>> {
    let takes = |name: &str| method.params.iter().any(|param| param.name == name);
    // What has no default for networks.
    let needed = [("alpha", "0.1"), ("alpha-min", "0.05"), ("alpha-max", "0.2")];
    let needed: Vec<_> =
        needed.into_iter().filter(|(name, _)| network && method.is_finite_sum() && takes(name)).collect();
    let other = [("pretrain", "0"), ("sampling", "uniform")]
        .into_iter()
        .filter(|(name, word)| takes(name) && method.settings(&[(*name, *word)]).is_ok());
    let other = other.map(|setting| [needed.as_slice(), &[setting]].concat());
    std::iter::once(needed.clone()).chain(other).collect()
}

fn config(method: &str, model: &str, settings: &[(&str, &str)]) -> Config {
    Config {
        method: method.into(),
        settings: settings.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        model: ModelSpec::parse(model).unwrap(),
        length: Length::Steps(STEPS),
        seed: 3,
        fpr: undercurve_tests::range_of(method, (0.05, 0.5)),
        ..Config::default()
    }
}

/// Models and settings of a method.
fn tried(method: &'static Method) -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    let models = [("linear", false), ("mlp:5,4", true)];
    models
        .into_iter()
        .flat_map(|(model, network)| settings(method, network).into_iter().map(move |s| (model, s)))
        .collect()
}

fn name(method: &'static Method, model: &str, sparse: bool, real: &str, settings: &[(&str, &str)]) -> String {
    let rows = if sparse { "sparse" } else { "dense" };
    let settings: String = settings.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    format!("{} {model} {rows} {real}{settings}", method.name)
}

/// Runs to the end by `step`, saving half way and going on from there with `load`; the trainers of both kinds have the same
/// calls.
macro_rules! through {
    ($fresh:expr, $load:expr) => {{
        let mut trainer = $fresh;
        let mut values = Vec::new();
        let mut calls = 0;
        while let Some(value) = trainer.step().unwrap() {
            values.push(value);
            calls += 1;
        }
        let mut resumed = $fresh;
        for _ in 0..calls / 2 {
            resumed.step().unwrap();
        }
        let mut resumed = $load(&resumed.save()).unwrap();
        while resumed.step().unwrap().is_some() {}
        assert!(resumed.params().iter().zip(trainer.params()).all(|(a, b)| a.f64().to_bits() == b.f64().to_bits()));
        assert_eq!(resumed.save(), trainer.save());
        values.push(trainer.steps_done() as f64);
        values.push(trainer.pass());
        (trainer, values)
    }};
}

fn two<T: Real>(out: &mut String, real: &str) {
    let labels = || (0..ROWS).map(|row| u8::from(class_of(row) > 1)).collect::<Vec<u8>>();
    for sparse in [false, true] {
        let train = Arc::new(rows::<T>(sparse, 1, labels()));
        let test = Some(Arc::new(rows::<T>(sparse, 2, labels())));
        for method in METHODS {
            for (model, settings) in tried(method) {
                let config = config(method.name, model, &settings);
                let name = name(method, model, sparse, real, &settings);
                let fresh = || Trainer::new(&config, Arc::clone(&train), test.clone());
                if let Err(error) = fresh() {
                    writeln!(out, "{name}: {error}").unwrap();
                    continue;
                }
                let load = |bytes: &[u8]| Trainer::load(bytes, Arc::clone(&train), test.clone());
                let (mut trainer, values) = through!(fresh().unwrap(), load);
                let report = trainer.report().unwrap();
                let mut figures = vec![report.objective, report.grad_norm_sq.unwrap_or(-1.0), report.pass];
                figures.extend(numbers(&report.train));
                figures.extend(numbers(&report.test.unwrap()));
                let (params, state) = (Hash::reals(trainer.params()), Hash::reals(trainer.estimator_state()));
                let (values, figures) = (Hash::numbers(&values), Hash::numbers(&figures));
                writeln!(out, "{name}: {params:016x} {state:016x} {values:016x} {figures:016x}").unwrap();
            }
        }
    }
}

fn several<T: Real>(out: &mut String, real: &str) {
    let names: Vec<String> = (0..CLASSES).map(|class| class.to_string()).collect();
    for sparse in [false, true] {
        let data = |seed| {
            let labels = (0..ROWS).map(class_of).collect();
            Arc::new(rows::<T>(sparse, seed, Vec::new()).with_classes(labels, names.clone()).unwrap())
        };
        let (train, test) = (data(1), Some(data(2)));
        for method in class_methods() {
            for (model, settings) in tried(method) {
                let config = config(method.name, model, &settings);
                let name = format!("classes {}", name(method, model, sparse, real, &settings));
                let load = |bytes: &[u8]| Trainer::load(bytes, Arc::clone(&train), test.clone());
                let fresh = || Trainer::new(&config, Arc::clone(&train), test.clone()).unwrap();
                let (mut trainer, values) = through!(fresh(), load);
                let report = trainer.report().unwrap();
                let mut figures = vec![report.objective, report.pass];
                for figures_of in [Some(&report.train), report.test.as_ref()].into_iter().flatten() {
                    let summary = figures_of.classes().unwrap();
                    figures.extend([summary.hand_till, summary.auroc, summary.ap, summary.accuracy]);
                    figures.extend(summary.classes.iter().flat_map(|class| [class.auroc, class.ap]));
                }
                let params = Hash::reals(trainer.params());
                let (values, figures) = (Hash::numbers(&values), Hash::numbers(&figures));
                writeln!(out, "{name}: {params:016x} {values:016x} {figures:016x}").unwrap();
            }
        }
    }
}

#[test]
fn every_run_keeps_its_bits() {
    let mut out = String::new();
    two::<f32>(&mut out, "f32");
    two::<f64>(&mut out, "f64");
    several::<f32>(&mut out, "f32");
    several::<f64>(&mut out, "f64");
    let split = |line: &str| line.split_once(": ").map(|(name, bits)| (name.to_owned(), bits.to_owned())).unwrap();
    let mut golden: Vec<(String, String)> = std::fs::read_to_string(GOLDEN).unwrap().lines().map(split).collect();
    let runs: Vec<(String, String)> = out.lines().map(split).collect();
    let known: BTreeMap<String, String> = golden.iter().cloned().collect();
    let (old, new): (Vec<_>, Vec<_>) = runs.iter().cloned().partition(|(name, _)| known.contains_key(name));
    let blessing = std::env::var("UNDERCURVE_BLESS").unwrap_or_default();
    if blessing == "1" || blessing == "new" {
        if blessing == "1" {
            golden = old.clone();
        }
        golden.extend(new.iter().cloned());
        let lines: String = golden.iter().map(|(name, bits)| format!("{name}: {bits}\n")).collect();
        return std::fs::write(GOLDEN, lines).unwrap();
    }
    let other = old.iter().filter(|(name, bits)| known[name] != *bits);
    let other: Vec<String> = other.map(|(name, bits)| format!("{name}\n was {}\n is  {bits}", known[name])).collect();
    assert!(other.is_empty(), "{} runs have other bits:\n{}", other.len(), other.join("\n"));
    let names: BTreeSet<&str> = runs.iter().map(|(name, _)| name.as_str()).collect();
    let gone: Vec<&str> = known.keys().map(String::as_str).filter(|name| !names.contains(name)).collect();
    assert!(gone.is_empty(), "runs that are no more: {}", gone.join(", "));
    let new: Vec<&str> = new.iter().map(|(name, _)| name.as_str()).collect();
    assert!(new.is_empty(), "runs without a line yet, which UNDERCURVE_BLESS=new adds:\n{}", new.join("\n"));
}
