//! What the experiments share: data sets in three parts, candidates with equal grids, tuning on the validation part.

use crate::error::Result;
use crate::input::{self, FormatArg};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use undercurve::data::{Dataset, Options, Preparation, Scale, Split, prepare};
use undercurve::metric::Summary;
use undercurve::trainer::{Config, Length, ModelSpec, Trainer};

/// Settings by name.
pub type Setting = (&'static str, &'static str);

/// A method with the settings that are tried for it.
pub struct Candidate {
    /// Name in the tables.
    pub name: &'static str,
    /// Method of the registry.
    pub method: &'static str,
    /// Settings of every run.
    pub fixed: &'static [Setting],
    /// The grid: one of each axis.
    pub axes: &'static [&'static [Setting]],
}

impl Candidate {
    /// Every point of the grid; the first axis changes slowest.
    pub fn grid(&self) -> Vec<Vec<Setting>> {
        let mut grid = vec![self.fixed.to_vec()];
        for axis in self.axes {
            let with = |point: &Vec<Setting>, setting: &Setting| point.iter().copied().chain([*setting]).collect();
            grid = grid.iter().flat_map(|point| axis.iter().map(move |setting| with(point, setting))).collect();
        }
        grid
    }
}

/// Training, validation and test rows.
pub struct Parts {
    /// To train on.
    pub train: Arc<Dataset<f32>>,
    /// To choose settings by.
    pub valid: Arc<Dataset<f32>>,
    /// Looked at once, with the settings chosen.
    pub test: Arc<Dataset<f32>>,
}

/// The data sets of the experiments, in the order of the tables.
pub const DATASETS: &[&str] = &["annthyroid", "mammography", "ijcnn1", "w8a", "hiv"];

/// A data set for a seed: 60 % to train, 20 % to choose by, 20 % to test, drawn by class with the seed; hiv keeps its
/// published scaffold split.
///
/// # Errors
/// `Input`.
pub fn parts(folder: &Path, name: &str, seed: u64) -> Result<Parts> {
    let sparse = Options { scale: Some(Scale::None), ..Options::default() };
    if name == "hiv" {
        let part = |part: &str| input::table(&folder.join(format!("hiv.{part}.svm.gz")), FormatArg::Auto, None);
        let (train, valid, test) = (part("train")?, part("valid")?, part("test")?);
        let preparation = Preparation::fit(&train, &sparse)?;
        let [train, valid, test] = [&train, &valid, &test].map(|table| preparation.apply(table));
        return Ok(Parts { train: Arc::new(train?), valid: Arc::new(valid?), test: Arc::new(test?) });
    }
    let csv = matches!(name, "annthyroid" | "mammography");
    let ending = if csv { "csv" } else { "svm" };
    let table = input::table(&folder.join(format!("{name}.{ending}.gz")), FormatArg::Auto, csv.then_some("label"))?;
    let options = match name {
        "w8a" => sparse,
        _ if csv => Options { label: Some("label".into()), positive: Some("1".into()), ..Options::default() },
        _ => Options::default(),
    };
    let data = prepare::<f32>(&table, &options, Split::new(0.8, seed))?;
    let inner = Split::new(0.75, seed).parts(data.train.labels())?;
    Ok(Parts {
        train: Arc::new(data.train.select(&inner.train)?),
        valid: Arc::new(data.train.select(&inner.test)?),
        test: Arc::new(data.test),
    })
}

/// How long and with what every run trains.
#[derive(Clone)]
pub struct Budget {
    /// Steps, those of pre-training included.
    pub steps: u64,
    /// The model.
    pub model: ModelSpec,
    /// At most so many points of a grid.
    pub points: usize,
}

fn trainer(
    parts: &Parts,
    judge: &Arc<Dataset<f32>>,
    candidate: &Candidate,
    settings: &[Setting],
    seed: u64,
    budget: &Budget,
) -> Result<Trainer<f32>> {
    let config = Config {
        method: candidate.method.into(),
        settings: settings.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect(),
        model: budget.model.clone(),
        seed,
        length: Length::Steps(budget.steps),
        ..Config::default()
    };
    Ok(Trainer::new(&config, Arc::clone(&parts.train), Some(Arc::clone(judge)))?)
}

/// Trains to the end; a run that leaves the number type's range stays where it was.
fn finish(trainer: &mut Trainer<f32>) {
    while trainer.steps_done() < trainer.total_steps() && matches!(trainer.step(), Ok(Some(_))) {}
}

fn judged(trainer: &mut Trainer<f32>, metric: fn(&Summary) -> f64) -> f64 {
    trainer.report().ok().and_then(|report| report.test).map_or(0.0, |test| metric(&test))
}

/// The settings with the best validation metric, and what they cost.
pub struct Tuned {
    /// The settings.
    pub settings: Vec<Setting>,
    /// Their validation metric.
    pub valid: f64,
    /// Runs made.
    pub runs: usize,
    /// Seconds of all of them.
    pub seconds: f64,
}

/// Tries every point of the grid on the validation part.
///
/// # Errors
/// `Config`.
pub fn tune(
    parts: &Parts,
    candidate: &Candidate,
    seed: u64,
    budget: &Budget,
    metric: fn(&Summary) -> f64,
) -> Result<Tuned> {
    let start = Instant::now();
    let mut best = Tuned { settings: Vec::new(), valid: -1.0, runs: 0, seconds: 0.0 };
    for settings in candidate.grid().into_iter().take(budget.points) {
        let mut trainer = trainer(parts, &parts.valid, candidate, &settings, seed, budget)?;
        finish(&mut trainer);
        let valid = judged(&mut trainer, metric);
        best.runs += 1;
        if valid > best.valid {
            (best.valid, best.settings) = (valid, settings);
        }
    }
    best.seconds = start.elapsed().as_secs_f64();
    Ok(best)
}

/// One run with the settings chosen, judged on the test part every `every` steps: `(pass, metric)`, the last at the end.
///
/// # Errors
/// `Config`.
pub fn curve(
    parts: &Parts,
    candidate: &Candidate,
    tuned: &Tuned,
    seed: u64,
    budget: &Budget,
    metric: fn(&Summary) -> f64,
    every: u64,
) -> Result<Vec<(f64, f64)>> {
    let mut trainer = trainer(parts, &parts.test, candidate, &tuned.settings, seed, budget)?;
    let mut points = Vec::new();
    while trainer.steps_done() < trainer.total_steps() && matches!(trainer.step(), Ok(Some(_))) {
        if trainer.steps_done() % every == 0 && trainer.steps_done() < trainer.total_steps() {
            points.push((trainer.pass(), judged(&mut trainer, metric)));
        }
    }
    points.push((trainer.pass(), judged(&mut trainer, metric)));
    Ok(points)
}

/// Mean and standard deviation.
pub fn mean_sd(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let spread = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0).max(1.0);
    (mean, spread.sqrt())
}
