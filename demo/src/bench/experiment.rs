//! What the experiments share: data sets in three parts, candidates with their grids, and one run of one point.

use super::compare::Measured;
use crate::error::{CliError, Result};
use crate::input::{self, LayoutArgs};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use undercurve::data::{Dataset, Options, Preparation, Scale, Split, prepare};
use undercurve::metric::Summary;
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Length, ModelSpec, Trainer};

/// Settings by name.
pub type Settings = Vec<(String, String)>;

/// A method with the settings that are tried for it.
#[derive(Clone)]
pub struct Candidate {
    /// Name in the tables.
    pub name: String,
    /// Method of the registry.
    pub method: String,
    /// The grid: one alternative of each axis. An axis is text, `a=1 b=2 | a=3 b=4`: alternatives with a bar between
    /// them, each of some settings. A value `33%` is that share of the steps.
    pub axes: Vec<String>,
}

impl Candidate {
    /// From its parts.
    pub fn new(name: &str, method: &str, axes: &[&str]) -> Self {
        Self { name: name.into(), method: method.into(), axes: axes.iter().map(|&axis| axis.into()).collect() }
    }

    /// Candidates from text, one a line: `NAME; METHOD; AXIS; AXIS…`. Empty lines and lines that begin with `#` count
    /// for nothing.
    ///
    /// # Errors
    /// `Input`, naming the line.
    pub fn parse(text: &str, file: &str) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let mut parts = line.split(';').map(str::trim);
            match (parts.next(), parts.next()) {
                (Some(""), None) => {}
                (Some(name), _) if name.starts_with('#') => {}
                (Some(name), Some(method)) => all.push(Self::new(name, method, &parts.collect::<Vec<_>>())),
                _ => {
                    let expected = "expected NAME; METHOD; AXIS; AXIS…";
                    return Err(CliError::input(format!("{file}, line {}: {expected}", number + 1)));
                }
            }
        }
        Ok(all)
    }

    /// Every point of the grid for runs of so many steps; the first axis changes slowest.
    pub fn grid(&self, steps: u64) -> Vec<Settings> {
        let setting = |text: &str| {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            let share = value.strip_suffix('%').and_then(|share| share.parse::<u64>().ok());
            (name.to_owned(), share.map_or(value.to_owned(), |share| (steps * share / 100).to_string()))
        };
        let mut grid = vec![Vec::new()];
        for axis in &self.axes {
            let alternatives: Vec<Settings> =
                axis.split('|').map(|text| text.split_whitespace().map(setting).collect()).collect();
            let with = |point: &Settings, more: &Settings| point.iter().chain(more).cloned().collect::<Settings>();
            grid = grid.iter().flat_map(|point| alternatives.iter().map(move |more| with(point, more))).collect();
        }
        grid
    }
}

/// Settings as text.
pub fn text(settings: &Settings) -> String {
    settings.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// Rows taken away from the training and validation parts; the test part stays as it is.
#[derive(Clone, Copy, PartialEq)]
pub enum Thin {
    /// None.
    No,
    /// Positives, so that this share of them is left.
    Positives(f64),
    /// Negatives, so that this share of all rows is positive.
    Negatives(f64),
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

/// The data sets of the experiments, in the order of the tables. Fashion-MNIST is not part of the repository's data:
/// `tests/golden/fashion_mnist.py` writes it.
pub const DATASETS: &[&str] = &["annthyroid", "mammography", "ijcnn1", "w8a", "hiv", "fashion-mnist"];

/// A data set for a seed. The seed draws, by class, the test part (20 %) and the validation part (20 %); hiv keeps its
/// published scaffold split, Fashion-MNIST its published test part.
///
/// # Errors
/// `Input`.
pub fn parts(folder: &Path, name: &str, seed: u64, thin: Thin) -> Result<Parts> {
    let as_is = Options { scale: Some(Scale::None), ..Options::default() };
    let file = |ending: &str| input::table(&folder.join(format!("{name}.{ending}.gz")), LayoutArgs::default(), None);
    let (train, valid, test) = match name {
        "hiv" => {
            let (train, valid, test) = (file("train.svm")?, file("valid.svm")?, file("test.svm")?);
            let preparation = Preparation::fit(&train, &as_is)?;
            (preparation.apply(&train)?, preparation.apply(&valid)?, preparation.apply(&test)?)
        }
        "fashion-mnist" => {
            let (train, test) = (file("train.svm")?, file("test.svm")?);
            let preparation = Preparation::fit(&train, &as_is)?;
            let (train, test) = (preparation.apply::<f32>(&train)?, preparation.apply(&test)?);
            let inner = Split::new(0.8, seed).parts(train.labels())?;
            (train.select(&inner.train)?, train.select(&inner.test)?, test)
        }
        "annthyroid" | "mammography" | "ijcnn1" | "w8a" => {
            let csv = matches!(name, "annthyroid" | "mammography");
            let options = match name {
                "w8a" => as_is,
                _ if csv => Options { label: Some("label".into()), positive: Some("1".into()), ..Options::default() },
                _ => Options::default(),
            };
            let ending = if csv { "csv" } else { "svm" };
            let path = folder.join(format!("{name}.{ending}.gz"));
            let table = input::table(&path, LayoutArgs::default(), csv.then_some("label"))?;
            let data = prepare::<f32>(&table, &options, Split::new(0.8, seed))?;
            let inner = Split::new(0.75, seed).parts(data.train.labels())?;
            (data.train.select(&inner.train)?, data.train.select(&inner.test)?, data.test)
        }
        _ => return Err(CliError::input(format!("no data set {name}; there are {}", DATASETS.join(", ")))),
    };
    let thinned = |data: Dataset<f32>, part| match left(data.labels(), thin, seed, part) {
        Some(rows) => data.select(&rows),
        None => Ok(data),
    };
    Ok(Parts { train: Arc::new(thinned(train, 0)?), valid: Arc::new(thinned(valid, 1)?), test: Arc::new(test) })
}

/// The rows that thinning leaves; `None` for all.
fn left(labels: &[u8], thin: Thin, seed: u64, part: u64) -> Option<Vec<u32>> {
    let positives = labels.iter().filter(|&&y| y == 1).count() as f64;
    let (class, keep) = match thin {
        Thin::No => return None,
        Thin::Positives(share) => (1, share * positives),
        Thin::Negatives(share) => (0, positives * (1.0 - share) / share),
    };
    let mut of_class: Vec<u32> = (0..labels.len() as u32).filter(|&row| labels[row as usize] == class).collect();
    Rng::keyed(seed, 0x7468_696e, part).shuffle(&mut of_class);
    of_class.truncate((keep + 0.5).max(2.0) as usize);
    of_class.extend((0..labels.len() as u32).filter(|&row| labels[row as usize] != class));
    of_class.sort_unstable();
    Some(of_class)
}

/// How long and with what every run trains, and how often it is looked at.
#[derive(Clone)]
pub struct Budget {
    /// Steps, those of pre-training included.
    pub steps: u64,
    /// The model.
    pub model: ModelSpec,
    /// The metric is measured this often, at even distances, the last time at the end.
    pub checks: u64,
}

/// Trains one point and measures a metric on the judge's rows at every check. A run whose numbers leave the type's range
/// ends there and has no more checks.
///
/// # Errors
/// `Config`.
pub fn run(
    parts: &Parts,
    judge: &Dataset<f32>,
    method: &str,
    settings: &Settings,
    seed: u64,
    budget: &Budget,
    metric: fn(&Summary) -> f64,
) -> Result<Measured> {
    let start = Instant::now();
    let config = Config {
        method: method.into(),
        settings: settings.clone(),
        model: budget.model.clone(),
        seed,
        length: Length::Steps(budget.steps),
        ..Config::default()
    };
    let mut trainer = Trainer::<f32>::new(&config, Arc::clone(&parts.train), None)?;
    let mut checks = Vec::new();
    for check in 1..=budget.checks {
        let until = budget.steps * check / budget.checks;
        while trainer.steps_done() < until && matches!(trainer.step(), Ok(Some(_))) {}
        let Ok(summary) = trainer.evaluate(judge) else { break };
        checks.push((trainer.steps_done(), trainer.pass(), metric(&summary)));
        if trainer.steps_done() < until {
            break;
        }
    }
    Ok(Measured { checks, seconds: start.elapsed().as_secs_f64() })
}

/// Mean and standard deviation (n − 1).
pub fn mean_sd(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let spread = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0).max(1.0);
    (mean, spread.sqrt())
}

#[cfg(test)]
mod tests {
    use super::{Candidate, Thin, left, text};

    #[test]
    fn grids_are_products_and_shares_are_of_the_steps() {
        let candidates = Candidate::parse("# none\n\nName; m; a=1 b=2 | a=3; pretrain=0 | pretrain=33%", "").unwrap();
        let [candidate] = &candidates[..] else { panic!("{} candidates", candidates.len()) };
        assert_eq!((&*candidate.name, &*candidate.method), ("Name", "m"));
        assert!(Candidate::parse("\nName", "").is_err());
        let grid: Vec<String> = candidate.grid(3000).iter().map(text).collect();
        assert_eq!(grid, ["a=1 b=2 pretrain=0", "a=1 b=2 pretrain=990", "a=3 pretrain=0", "a=3 pretrain=990"]);
    }

    #[test]
    fn thinning_reaches_the_share_and_leaves_the_other_class() {
        let labels: Vec<u8> = (0..1000).map(|k| u8::from(k % 10 == 0)).collect();
        let count = |rows: &[u32], class| rows.iter().filter(|&&row| labels[row as usize] == class).count();
        let rows = left(&labels, Thin::Positives(0.25), 1, 0).unwrap();
        assert_eq!((count(&rows, 0), count(&rows, 1)), (900, 25));
        let rows = left(&labels, Thin::Negatives(0.5), 1, 0).unwrap();
        assert_eq!((count(&rows, 0), count(&rows, 1)), (100, 100));
        assert!(left(&labels, Thin::No, 1, 0).is_none());
    }
}
