//! The golden runs: what each method makes of dense and of sparse rows, in both precisions, by a linear model and by a network, of two
//! classes and of several. Each is stepped to its end, and once more with a save half way. Without `std`.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use alloc::{format, vec};
use undercurve::Real;
use undercurve::data::Dataset;
use undercurve::registry::{METHODS, Method, class_methods};
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Figures, Length, ModelSpec, Trainer};

const ROWS: usize = 300;
const COLUMNS: usize = 6;
const STEPS: u64 = 24;
const CLASSES: u32 = 4;

/// What a run comes to.
pub struct Golden {
    /// Method, model, rows, number type, settings.
    pub name: String,
    /// Bits of its numbers by field: `params`, `state` (of two classes), `values` (what its steps returned) and `figures`; bytes of
    /// `saved`, and of the run that was `resumed` half way. None where no run can be made, which is then what is said.
    pub fields: Result<Vec<(&'static str, Vec<u64>)>, String>,
}

impl Golden {
    /// The line of `tests/golden/bits.txt`: a hash for each of the first fields.
    pub fn line(&self) -> String {
        match &self.fields {
            Err(why) => format!("{}: {why}", self.name),
            Ok(fields) => {
                let hashes: String =
                    fields.iter().rev().skip(2).rev().map(|(_, words)| format!(" {:016x}", hash(words))).collect();
                format!("{}:{hashes}", self.name)
            }
        }
    }

    /// A hash of the saved bytes, and whether the run that was saved half way came to the same.
    pub fn saved(&self) -> (u64, bool) {
        let of = |name| self.fields.iter().flatten().find(|field| field.0 == name).map(|field| field.1.as_slice());
        (of("saved").map_or(0, hash), of("saved") == of("resumed"))
    }
}

/// FNV-1a over words.
pub fn hash(words: &[u64]) -> u64 {
    words.iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3))
}

fn bits<T: Real>(values: &[T]) -> Vec<u64> {
    values.iter().map(|x| x.f64().to_bits()).collect()
}

fn bytes(all: &[u8]) -> Vec<u64> {
    all.iter().map(|&byte| u64::from(byte)).collect()
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
    core::iter::once(needed.clone()).chain(other).collect()
}

fn config(method: &str, model: &str, settings: &[(&str, &str)]) -> Config {
    // (Some partial AUCs begin at 0.)
    let low = if ["sopa", "sopa-s", "sota-s"].contains(&method) { 0.0 } else { 0.05 };
    Config {
        method: method.into(),
        settings: settings.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        model: ModelSpec::parse(model).unwrap(),
        length: Length::Steps(STEPS),
        seed: 3,
        fpr: (low, 0.5),
        ..Config::default()
    }
}

/// Models and settings of a method.
fn tried(method: &'static Method) -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    let models = [("linear", false), ("mlp:5,4", true)];
    let of = |(model, network)| settings(method, network).into_iter().map(move |s| (model, s));
    models.into_iter().flat_map(of).collect()
}

fn name(method: &'static Method, model: &str, sparse: bool, real: &str, settings: &[(&str, &str)]) -> String {
    let rows = if sparse { "sparse" } else { "dense" };
    let settings: String = settings.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    format!("{} {model} {rows} {real}{settings}", method.name)
}

/// What is done with the runs.
pub enum Task<'a> {
    /// Each to its end, if its name is wanted.
    Whole(&'a dyn Fn(&str) -> bool, &'a mut dyn FnMut(Golden)),
    /// That of this name, from these saved bytes or from its start, so many calls or to its end; then saved.
    Part(&'a str, Vec<u8>, usize),
}

impl Task<'_> {
    fn wants(&self, name: &str) -> bool {
        match self {
            Task::Whole(wanted, _) => wanted(name),
            Task::Part(only, ..) => *only == name,
        }
    }
}

/// So many calls further; the saved bytes.
fn part<T: Real>(mut trainer: Trainer<T>, calls: usize) -> Vec<u8> {
    for _ in 0..calls {
        if trainer.step().unwrap().is_none() {
            break;
        }
    }
    trainer.save()
}

/// A run to its end: the trainer, what its steps returned, and the bytes of the same run saved half way and resumed.
fn through<T: Real>(
    fresh: impl Fn() -> Trainer<T>,
    load: impl Fn(&[u8]) -> Trainer<T>,
) -> (Trainer<T>, Vec<f64>, Vec<u8>) {
    let (mut trainer, mut values) = (fresh(), Vec::new());
    while let Some(value) = trainer.step().unwrap() {
        values.push(value);
    }
    let mut resumed = fresh();
    for _ in 0..values.len() / 2 {
        resumed.step().unwrap();
    }
    let mut resumed = load(&resumed.save());
    while resumed.step().unwrap().is_some() {}
    values.push(trainer.steps_done() as f64);
    values.push(trainer.pass());
    (trainer, values, resumed.save())
}

fn two<T: Real>(real: &str, task: &mut Task<'_>) {
    let labels = || (0..ROWS).map(|row| u8::from(class_of(row) > 1)).collect::<Vec<u8>>();
    for sparse in [false, true] {
        let train = Arc::new(rows::<T>(sparse, 1, labels()));
        let test = Some(Arc::new(rows::<T>(sparse, 2, labels())));
        for method in METHODS {
            for (model, settings) in tried(method) {
                let config = config(method.name, model, &settings);
                let name = name(method, model, sparse, real, &settings);
                if !task.wants(&name) {
                    continue;
                }
                let fresh = || Trainer::new(&config, Arc::clone(&train), test.clone());
                let load = |bytes: &[u8]| Trainer::load(bytes, Arc::clone(&train), test.clone()).unwrap();
                let visit = match task {
                    Task::Whole(_, visit) => visit,
                    Task::Part(_, saved, calls) => {
                        let trainer = if saved.is_empty() { fresh().unwrap() } else { load(saved) };
                        return *saved = part(trainer, *calls);
                    }
                };
                if let Err(error) = fresh() {
                    visit(Golden { name, fields: Err(error.to_string()) });
                    continue;
                }
                let (mut trainer, values, resumed) = through(|| fresh().unwrap(), load);
                let saved = trainer.save();
                let report = trainer.report().unwrap();
                let mut figures = vec![report.objective, report.grad_norm_sq.unwrap_or(-1.0), report.pass];
                figures.extend(numbers(&report.train));
                figures.extend(numbers(&report.test.unwrap()));
                let fields = vec![
                    ("params", bits(trainer.params())),
                    ("state", bits(trainer.estimator_state())),
                    ("values", bits(&values)),
                    ("figures", bits(&figures)),
                    ("saved", bytes(&saved)),
                    ("resumed", bytes(&resumed)),
                ];
                visit(Golden { name, fields: Ok(fields) });
            }
        }
    }
}

fn several<T: Real>(real: &str, task: &mut Task<'_>) {
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
                if !task.wants(&name) {
                    continue;
                }
                let load = |bytes: &[u8]| Trainer::load(bytes, Arc::clone(&train), test.clone()).unwrap();
                let fresh = || Trainer::new(&config, Arc::clone(&train), test.clone()).unwrap();
                let visit = match task {
                    Task::Whole(_, visit) => visit,
                    Task::Part(_, saved, calls) => {
                        let trainer = if saved.is_empty() { fresh() } else { load(saved) };
                        return *saved = part(trainer, *calls);
                    }
                };
                let (mut trainer, values, resumed) = through(fresh, load);
                let saved = trainer.save();
                let report = trainer.report().unwrap();
                let mut figures = vec![report.objective, report.pass];
                for figures_of in [Some(&report.train), report.test.as_ref()].into_iter().flatten() {
                    let summary = figures_of.classes().unwrap();
                    figures.extend([summary.hand_till, summary.auroc, summary.ap, summary.accuracy]);
                    figures.extend(summary.classes.iter().flat_map(|class| [class.auroc, class.ap]));
                }
                let fields = vec![
                    ("params", bits(trainer.params())),
                    ("values", bits(&values)),
                    ("figures", bits(&figures)),
                    ("saved", bytes(&saved)),
                    ("resumed", bytes(&resumed)),
                ];
                visit(Golden { name, fields: Ok(fields) });
            }
        }
    }
}

/// Does it, in the order of the methods.
pub fn every(task: &mut Task<'_>) {
    two::<f32>("f32", task);
    two::<f64>("f64", task);
    several::<f32>("f32", task);
    several::<f64>("f64", task);
}
