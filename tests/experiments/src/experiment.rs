//! What the experiments share: data sets in three parts, candidates with their grids, and one run of one point.

use super::tune::{self, Axis, Settings};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use undercurve::Real;
use undercurve::data::{Dataset, Options, Preparation, RawTable, Scale, Split, prepare};
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Init, Length, ModelSpec, Trainer};
use undercurve_demo::error::{CliError, Result};
use undercurve_demo::input::{self, Layout};

/// A method with the settings that are tried for it.
#[derive(Clone)]
pub struct Candidate {
    /// Name in the tables.
    pub name: String,
    /// Method of the registry.
    pub method: String,
    /// The grid, as [`tune`](super::tune) reads it.
    pub axes: Vec<String>,
}

impl Candidate {
    /// From its parts.
    pub fn new(name: &str, method: &str, axes: &[&str]) -> Self {
        Self { name: name.into(), method: method.into(), axes: axes.iter().map(|&axis| axis.into()).collect() }
    }

    /// With one more axis.
    pub fn and(mut self, axis: &str) -> Self {
        self.axes.push(axis.into());
        self
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

    /// The axes, for runs of so many steps.
    pub fn parsed(&self, steps: u64) -> Vec<Axis> {
        self.axes.iter().map(|axis| Axis::parse(axis, &self.method, steps)).collect()
    }

    /// Every point of the grid for runs of so many steps; the first axis changes slowest.
    pub fn grid(&self, steps: u64) -> Vec<Settings> {
        tune::product(&self.parsed(steps)).iter().map(tune::settings).collect()
    }

    /// What the points of the grid leave to defaults that depend on the data or may well change: how a run begins, what it
    /// minimises, and what is `auto`.
    #[cfg(test)]
    pub fn unnamed(&self, steps: u64) -> Vec<String> {
        const CHOICES: [&str; 7] = ["surrogate", "link", "margin", "scale", "restart", "units", "prox"];
        let params = undercurve::registry::method(&self.method).map_or(&[][..], |method| method.params);
        let open = |point: &Settings| {
            let of = |name: &str| point.iter().find(|own| own.0 == name).map(|own| &*own.1);
            let loss = of("surrogate");
            let open = |name: &str| {
                of(name).is_none()
                    && match name {
                        "steps" => false,
                        "restart" | "pretrain-lr" => of("pretrain") != Some("0"),
                        "stage" => of("optimizer").is_none(),
                        "margin" => loss.is_none_or(|loss| loss == "squared-hinge"),
                        "scale" => loss.is_some_and(|loss| loss != "squared-hinge"),
                        _ => true,
                    }
            };
            let asked = params.iter().filter(|param| param.auto.is_some() || CHOICES.contains(&param.name));
            asked.map(|param| param.name).filter(|name| open(name)).map(str::to_owned).collect::<Vec<_>>()
        };
        // Also what only the climb looks at.
        let axes = self.axes.iter().map(|axis| axis.replace('~', "")).collect();
        let whole = Self { axes, ..self.clone() };
        let mut all: Vec<String> = whole.grid(steps).iter().flat_map(open).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether there is nothing to choose: a method as it is shipped, judged at the end of its run.
    pub fn is_fixed(&self) -> bool {
        self.axes.is_empty()
    }
}

/// Settings as text.
pub fn text(settings: &Settings) -> String {
    settings.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// What a run measured: `(step, pass, metric)` at each check, and its seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The checks, in the order of steps.
    pub checks: Vec<(u64, f64, f64)>,
    /// Seconds of training and checks.
    pub seconds: f64,
    /// Where a range is trained for, at each check: seconds of training so far, the exact objective and the metric on the
    /// training rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_train: Vec<[f64; 3]>,
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
pub struct Parts<T: Real> {
    /// To train on.
    pub train: Arc<Dataset<T>>,
    /// To choose settings by.
    pub valid: Arc<Dataset<T>>,
    /// To judge by, with the settings chosen.
    pub test: Arc<Dataset<T>>,
}

/// The data sets of the experiments, in the order of the tables. Fashion-MNIST is not part of the repository's data:
/// `tests/golden/fashion_mnist.py` writes it.
pub const DATASETS: &[&str] = &["annthyroid", "mammography", "ijcnn1", "w8a", "hiv", "fashion-mnist"];

/// The files of a data set.
pub struct Source {
    name: String,
    /// One, or those of the training, validation and test parts.
    tables: Vec<RawTable>,
}

impl Source {
    /// Reads the files.
    ///
    /// # Errors
    /// `Input`.
    pub fn open(folder: &Path, name: &str) -> Result<Self> {
        let csv = matches!(name, "annthyroid" | "mammography");
        let endings: &[&str] = match name {
            "hiv" => &[".train.svm", ".valid.svm", ".test.svm"],
            "fashion-mnist" => &[".train.svm", ".test.svm"],
            "annthyroid" | "mammography" => &[".csv"],
            "ijcnn1" | "w8a" => &[".svm"],
            _ => return Err(CliError::input(format!("no data set {name}; there are {}", DATASETS.join(", ")))),
        };
        let read = |ending: &&str| {
            input::table(&folder.join(format!("{name}{ending}.gz")), Layout::default(), csv.then_some("label"))
        };
        Ok(Self { name: name.to_owned(), tables: endings.iter().map(read).collect::<Result<_>>()? })
    }

    /// Whether the test part is a published one, so that seeds change the run (and of Fashion-MNIST the validation part)
    /// only.
    pub fn is_published(name: &str) -> bool {
        matches!(name, "hiv" | "fashion-mnist")
    }

    /// The parts for a seed. The seed draws, by class, the test part (20 %) and the validation part (20 %); hiv keeps its
    /// published scaffold split, Fashion-MNIST its published test part.
    ///
    /// # Errors
    /// `Input`.
    pub fn parts<T: Real>(&self, seed: u64, thin: Thin) -> Result<Parts<T>> {
        let as_is = Options { scale: Some(Scale::None), ..Options::default() };
        let (train, valid, test) = match self.tables.as_slice() {
            [train, valid, test] => {
                let preparation = Preparation::fit(train, &as_is)?;
                (preparation.apply(train)?, preparation.apply(valid)?, preparation.apply(test)?)
            }
            [train, test] => {
                let preparation = Preparation::fit(train, &as_is)?;
                let (train, test) = (preparation.apply::<T>(train)?, preparation.apply(test)?);
                let inner = Split::new(0.8, seed).parts(train.labels())?;
                (train.select(&inner.train)?, train.select(&inner.test)?, test)
            }
            tables => {
                let options = match &*self.name {
                    "w8a" => as_is,
                    "annthyroid" | "mammography" => {
                        Options { label: Some("label".into()), positive: Some("1".into()), ..Options::default() }
                    }
                    _ => Options::default(),
                };
                let data = prepare::<T>(&tables[0], &options, Split::new(0.8, seed))?;
                let inner = Split::new(0.75, seed).parts(data.train.labels())?;
                (data.train.select(&inner.train)?, data.train.select(&inner.test)?, data.test)
            }
        };
        let thinned = |data: Dataset<T>, part| match left(data.labels(), thin, seed, part) {
            Some(rows) => data.select(&rows),
            None => Ok(data),
        };
        Ok(Parts { train: Arc::new(thinned(train, 0)?), valid: Arc::new(thinned(valid, 1)?), test: Arc::new(test) })
    }
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
    /// The range of false-positive rates, for methods and metrics that have one.
    pub fpr: (f64, f64),
}

/// Trains one point and measures at every check, given the seconds of training so far. A run whose numbers leave the type's range ends there and has no more
/// checks.
///
/// # Errors
/// `Config`.
pub fn run<T: Real>(
    train: &Arc<Dataset<T>>,
    method: &str,
    settings: &Settings,
    seed: u64,
    budget: &Budget,
    mut measure: impl FnMut(&mut Trainer<T>, f64) -> Option<f64>,
) -> Result<Measured> {
    let start = Instant::now();
    let config = Config {
        // (Networks of the published experiments begin at random.)
        init: Init::Random,
        method: method.into(),
        settings: settings.clone(),
        model: budget.model.clone(),
        seed,
        length: Length::Steps(budget.steps),
        fpr: budget.fpr,
        constraints: Vec::new(),
        class_weights: Vec::new(),
    };
    let mut trainer = Trainer::<T>::new(&config, Arc::clone(train), None)?;
    let (mut checks, mut training) = (Vec::new(), 0.0);
    for check in 1..=budget.checks {
        let until = budget.steps * check / budget.checks;
        let from = Instant::now();
        while trainer.steps_done() < until && matches!(trainer.step(), Ok(Some(_))) {}
        training += from.elapsed().as_secs_f64();
        let Some(value) = measure(&mut trainer, training) else { break };
        checks.push((trainer.steps_done(), trainer.pass(), value));
        if trainer.steps_done() < until {
            break;
        }
    }
    Ok(Measured { checks, seconds: start.elapsed().as_secs_f64(), on_train: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::{Candidate, Measured, Thin, left};
    use crate::ai_sarah::Curve;
    use undercurve_demo::store::Store;

    #[test]
    fn candidates_are_read_line_by_line() {
        let candidates = Candidate::parse("# none\n\nName; m; a=1 b=2 | a=3; pretrain=0 | pretrain=33%", "").unwrap();
        let [candidate] = &candidates[..] else { panic!("{} candidates", candidates.len()) };
        assert_eq!((&*candidate.name, &*candidate.method), ("Name", "m"));
        assert_eq!(candidate.grid(3000).len(), 4);
        assert!(!candidate.is_fixed() && Candidate::parse("Name; m", "").unwrap()[0].is_fixed());
        assert!(Candidate::parse("\nName", "").is_err());
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

    /// Lines as they were written by earlier versions.
    #[test]
    fn lines_of_earlier_versions_are_read() {
        let file = std::env::temp_dir().join(format!("undercurve-earlier-{}.jsonl", std::process::id()));
        let text = "{\"checks\":[[3,1.5,0.75]],\"run\":\"a; seed 1\",\"seconds\":0.25}\n";
        std::fs::write(&file, text).unwrap();
        let store = Store::<Measured>::open(Some(&file)).unwrap();
        assert_eq!(
            store.get("a; seed 1"),
            Some(Measured { checks: vec![(3, 1.5, 0.75)], seconds: 0.25, ..Measured::default() })
        );
        let text =
            "\n{\"run\":\"a1a true sarah 1.5e0 8e0 2\",\"points\":[[0e0,0e0,0e0,6.9e-1,1.25e-2,null,0e0,null]]}\n";
        std::fs::write(&file, text).unwrap();
        let store = Store::<Curve>::open(Some(&file)).unwrap();
        let points = store.get("a1a true sarah 1.5e0 8e0 2").unwrap().points;
        assert_eq!((points.len(), points[0][3], points[0][4]), (1, 0.69, 0.0125));
        assert!(points[0][5].is_nan() && points[0][7].is_nan());
        drop(store);
        // And what is written now: NaN and infinity as null.
        let store = Store::open(Some(&file)).unwrap();
        let curve = Curve { points: vec![[1.0, 2.0, 3.0, 4.0, 5.0, f64::NAN, 7.0, f64::INFINITY]] };
        store.put("again".into(), curve).unwrap();
        drop(store);
        let points = Store::<Curve>::open(Some(&file)).unwrap().get("again").unwrap().points;
        assert!(points[0][..5] == [1.0, 2.0, 3.0, 4.0, 5.0] && points[0][5].is_nan() && points[0][7].is_nan());
        std::fs::remove_file(file).unwrap();
    }
}
