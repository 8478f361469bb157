//! Trainings of candidates on folds of a table.

use crate::candidate::{Candidate, Encoding, TOP};
use crate::error::{Error, Result};
use crate::folds::Folds;
use crate::shared::Shared;
use crate::want::RANGE;
use crate::workers::{cores, in_parallel};
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use undercurve::data::{Dataset, Options, Preparation, RawTable};
use undercurve::metric::student;
use undercurve::trainer::{Config, Predictor, Trainer, top};

/// Mean and standard deviation (n − 1).
#[must_use]
pub fn mean_sd(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let spread = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0).max(1.0);
    (mean, spread.sqrt())
}

/// Who is told of a search, and what is known of it from before. Every method may be called from several threads.
pub trait Watch: Sync {
    /// So many trainings are next, of which so many are known.
    fn begin(&self, _all: usize, _known: usize) {}
    /// A candidate trains, by its name.
    fn train(&self, _name: &str) {}
    /// A training has ended.
    fn trained(&self) {}
    /// All of them have.
    fn end(&self) {}
    /// Something to say.
    fn note(&self, _text: fmt::Arguments<'_>) {}
    /// Whether to go on; asked before each training, and at each of its steps.
    fn goes_on(&self) -> bool {
        true
    }
    /// Metric and seconds of a training, by its name, if they are known.
    fn known(&self, _name: &str) -> Option<(f64, f64)> {
        None
    }
    /// Keeps those of one.
    ///
    /// # Errors
    /// In words, where that failed.
    fn keep(&self, _name: &str, _value: f64, _seconds: f64) -> Result<(), String> {
        Ok(())
    }
}

/// A finished training.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The metric on the held-out rows.
    pub value: f64,
    /// What it took.
    pub seconds: f64,
    /// The held-out rows' scores; none of a training that was known from before.
    pub scores: Vec<f32>,
    /// What the training chose; likewise.
    pub chosen: Option<Config>,
    /// Its networks, or its one model; likewise.
    pub(crate) models: Vec<Predictor<f32>>,
}

impl Trained {
    /// Of which no more is known.
    pub(crate) fn known(value: f64, seconds: f64) -> Self {
        Self { value, seconds, scores: Vec::new(), chosen: None, models: Vec::new() }
    }

    /// The model that all come to.
    ///
    /// # Errors
    /// As [`Predictor::average`].
    pub fn model(&self) -> Result<Option<Predictor<f32>>> {
        whole(&self.models)
    }
}

/// The mean of networks, or the one model.
fn whole(models: &[Predictor<f32>]) -> Result<Option<Predictor<f32>>> {
    Ok(match models {
        [] => None,
        [one] => Some(one.clone()),
        all => Some(Predictor::average(all)?),
    })
}

/// A candidate on all folds.
pub struct Row {
    /// What was trained.
    pub candidate: Candidate,
    /// Its trainings, split by split.
    pub trained: Vec<Trained>,
    /// Whether it was not trained on all splits.
    pub dropped: bool,
}

impl Row {
    /// The candidate with what its first training chose.
    pub(crate) fn pinned(&self) -> Candidate {
        let chosen = self.trained.first().and_then(|trained| trained.chosen.as_ref());
        chosen.map_or_else(|| self.candidate.clone(), |config| self.with(config))
    }

    /// The candidate with what a training chose.
    pub(crate) fn with(&self, config: &Config) -> Candidate {
        let settings = config.settings.iter().filter(|(name, _)| name != "choose").cloned().collect();
        let class_weights = config.class_weights.clone();
        Candidate { settings, class_weights, init: config.init, ..self.candidate.clone() }
    }

    /// The metric on each split.
    #[must_use]
    pub fn values(&self) -> Vec<f64> {
        self.trained.iter().map(|one| one.value).collect()
    }

    /// In the mean.
    #[must_use]
    pub fn mean(&self) -> f64 {
        mean_sd(&self.values()).0
    }

    /// Of one training, in the mean.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.trained.iter().map(|one| one.seconds).sum::<f64>() / self.trained.len() as f64
    }
}

/// How far a candidate is ahead of another on the same folds, and half its 95 % interval.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    /// In the mean.
    pub mean: f64,
    /// Half the interval.
    pub half: f64,
    /// The standard error.
    pub error: f64,
}

impl Ahead {
    /// With a variance of 1/(r·k) + 1/(k − 1) times that of a fold: the training rows of k folds, r times drawn, overlap (Nadeau and Bengio 2003).
    #[must_use]
    pub fn new(ours: &[f64], theirs: &[f64], folds: usize) -> Self {
        let apart: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| a - b).collect();
        let (mean, sd) = mean_sd(&apart);
        let (all, k) = (apart.len() as f64, folds as f64);
        let error = sd * (1.0 / all + 1.0 / (k - 1.0)).sqrt();
        Self { mean, error, half: student((apart.len() as u64).max(2) - 1) * error }
    }

    /// Its interval.
    #[must_use]
    pub fn ends(&self) -> [f64; 2] {
        [self.mean - self.half, self.mean + self.half]
    }
}

/// The encodings of candidates, each once.
fn encodings(candidates: &[Candidate]) -> Vec<Encoding> {
    let mut all: Vec<Encoding> = Vec::new();
    for one in candidates {
        if !all.contains(&one.encoding) {
            all.push(one.encoding);
        }
    }
    all
}

/// What there is to do.
pub struct Job<'a> {
    /// The table.
    pub table: &'a RawTable,
    /// What is made of its columns.
    pub options: &'a Options,
    /// What a row of each class counts for training rows, where that was said, and how.
    pub class_weights: Option<(String, &'a ClassWeights<'a>)>,
    /// The folds.
    pub folds: Folds,
    /// `ap`, `auroc` or `pauc`.
    pub metric: &'static str,
    /// The range of a partial AUC.
    pub fpr: (f64, f64),
    /// Decides start values and batches.
    pub seed: u64,
    /// Trainings at a time; all cores without.
    pub threads: Option<usize>,
    /// Whether the columns have no names.
    pub(crate) is_libsvm: bool,
    /// A name for the data, which [`Watch::known`] and [`Watch::keep`] see.
    data: u64,
    /// Who is told.
    pub watch: &'a dyn Watch,
    /// Finished trainings by name.
    done: Mutex<HashMap<String, Trained>>,
}

/// What a row of each class counts, of a preparation and the rows that it made.
pub type ClassWeights<'a> = dyn Fn(&Preparation, &Dataset<f32>) -> Result<Vec<f64>> + Sync + 'a;

/// Seconds from which on they are foretold.
const LONG: f64 = 10.0;

/// How long all will take, by the trainings of one split.
struct Foretold {
    splits: usize,
    /// Trainings of the first split that are open, and what the others took.
    first: Mutex<(usize, f64)>,
}

impl Foretold {
    fn new(splits: usize, candidates: usize) -> Self {
        Self { splits, first: Mutex::new((candidates, 0.0)) }
    }

    /// Seconds of all other splits, said once: when the first is done.
    fn of(&self, split: usize, seconds: f64) -> Option<f64> {
        if split > 0 {
            return None;
        }
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        *first = (first.0.saturating_sub(1), first.1 + seconds);
        (first.0 == 0 && self.splits > 1).then(|| first.1 * (self.splits - 1) as f64)
    }
}

/// Rows as a candidate reads them, and what they were prepared with.
pub struct Part {
    /// Fitted on the training rows.
    pub preparation: Preparation,
    /// The training rows.
    pub train: Arc<Dataset<f32>>,
    /// The held-out rows.
    pub held: Arc<Dataset<f32>>,
}

impl<'a> Job<'a> {
    /// By average precision, on all cores, of rows that count alike; `whole` as `options` prepare all rows, to `data`.
    #[must_use]
    pub fn new(
        table: &'a RawTable,
        options: &'a Options,
        folds: Folds,
        (whole, data): (&Preparation, &Dataset<f32>),
        watch: &'a dyn Watch,
    ) -> Self {
        Self {
            table,
            options,
            class_weights: None,
            folds,
            metric: "ap",
            fpr: RANGE,
            seed: 1,
            threads: None,
            is_libsvm: whole.label_column().is_none(),
            data: data.fingerprint(),
            watch,
            done: Mutex::default(),
        }
    }

    /// A name for a training, which says all that it depends on.
    fn name(&self, candidate: &Candidate, split: usize) -> String {
        let Self { metric, folds, fpr, seed, class_weights, data, .. } = self;
        let weights = class_weights.as_ref().map_or_else(String::new, |(text, _)| format!(" class weights {text}"));
        let settings = candidate.settings.iter().map(|(name, value)| format!("{name}={value}"));
        let own = (!candidate.class_weights.is_empty()).then(|| format!("class-weights={:?}", candidate.class_weights));
        let pauc = if *metric == "pauc" { format!(" {}:{}", fpr.0, fpr.1) } else { String::new() };
        let (repeat, fold, rows) = (split / folds.count, split % folds.count, folds.rows().len());
        format!(
            "{data:016x} {} {}{weights} {metric}{pauc} seed {seed} repeat {repeat} fold {fold} of {} of {rows}",
            candidate.name,
            settings.chain(own).collect::<Vec<_>>().join(" "),
            folds.count
        )
    }

    /// A finished training.
    fn finished(&self, name: &str) -> Option<Trained> {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(trained) = done.get(name) {
            return Some(trained.clone());
        }
        let (value, seconds) = self.watch.known(name)?;
        let trained = Trained::known(value, seconds);
        done.insert(name.to_string(), trained.clone());
        Some(trained)
    }

    /// What scores that know nothing come to on a fold, in the mean.
    #[must_use]
    pub fn chance(&self, data: &Dataset<f32>) -> f64 {
        match self.metric {
            "auroc" => 0.5,
            // The mean over all orders: 1/n Σ_k (1 + (k − 1)(m − 1)/(n − 1))/k.
            "ap" => {
                let rows = self.folds.rows();
                let positives = rows.iter().filter(|&&row| data.labels()[row as usize] == 1).count();
                let [n, m] = [rows.len(), positives].map(|count| count as f64 / self.folds.count as f64);
                let harmonic = (1..=n.round().max(1.0) as usize).map(|k| 1.0 / k as f64).sum::<f64>();
                (harmonic + (m - 1.0) / (n - 1.0) * (n - harmonic)) / n
            }
            _ => 0.5 * (self.fpr.0 + self.fpr.1),
        }
    }

    /// The metric as it is told.
    #[must_use]
    pub fn metric_told(&self) -> String {
        match self.metric {
            "pauc" => format!("pauc {}:{}", self.fpr.0, self.fpr.1),
            other => other.to_string(),
        }
    }

    /// Trains every candidate on every fold.
    ///
    /// # Errors
    /// [`Error::Input`] for a method that breaks down.
    pub fn measure(&self, candidates: &[Candidate]) -> Result<Vec<Row>> {
        self.measure_splits(candidates, 0..self.folds.splits(), &[])
    }

    /// The same on some of the splits. Of candidates that are made of another (its networks and more, or another loss from where it led) `made_of`
    /// are the other's trainings on all splits.
    pub(crate) fn measure_splits(
        &self,
        candidates: &[Candidate],
        splits: Range<usize>,
        made_of: &[Trained],
    ) -> Result<Vec<Row>> {
        let jobs: Vec<(usize, usize)> =
            splits.clone().flat_map(|split| (0..candidates.len()).map(move |at| (split, at))).collect();
        let open: Vec<(usize, usize)> = jobs
            .iter()
            .filter(|(split, at)| self.finished(&self.name(&candidates[*at], *split)).is_none())
            .copied()
            .collect();
        self.watch.begin(jobs.len(), jobs.len() - open.len());
        let encodings = encodings(candidates);
        let place = |split: usize, at: usize| {
            let encoding = encodings.iter().position(|&of| of == candidates[at].encoding).unwrap_or(0);
            (split - splits.start) * encodings.len() + encoding
        };
        let wanted = splits.len() * encodings.len();
        let parts = Shared::new((0..wanted).map(|slot| open.iter().filter(|job| place(job.0, job.1) == slot).count()));
        let workers = self.threads.unwrap_or_else(cores).min(open.len().max(1));
        let first = Foretold::new(splits.len(), candidates.len());
        let done = in_parallel(&open, workers, |&(split, at)| {
            let candidate = &candidates[at];
            if !self.watch.goes_on() {
                return Err(Error::Stopped);
            }
            self.watch.train(&candidate.name);
            let slot = place(split, at);
            let part = parts.get(slot, || self.part(candidate.encoding, split))?;
            let known = made_of.get(split).map_or(&[][..], |trained| &trained.models);
            let trained = self.train(candidate, split, &part, known)?;
            if let Some(seconds) = first.of(split - splits.start, trained.seconds)
                && seconds / workers as f64 > LONG
            {
                let left = candidates.len() * (splits.len() - 1);
                self.watch.note(format_args!(
                    "the other {left} trainings take about {seconds:.0} s, some {:.0} s with {workers} at a time",
                    seconds / workers as f64
                ));
            }
            parts.done(slot);
            self.watch.trained();
            let name = self.name(candidate, split);
            self.watch.keep(&name, trained.value, trained.seconds).map_err(Error::Input)?;
            self.done.lock().unwrap_or_else(PoisonError::into_inner).insert(name, trained);
            Ok(())
        });
        self.watch.end();
        done?;
        let row = |candidate: &Candidate| {
            let trained = splits.clone().filter_map(|split| self.finished(&self.name(candidate, split))).collect();
            Row { candidate: candidate.clone(), trained, dropped: false }
        };
        Ok(candidates.iter().map(row).collect())
    }

    /// Training rows and held-out rows, with the preparation that is fitted on the former.
    ///
    /// # Errors
    /// As [`Preparation::fit_rows`].
    pub fn part(&self, encoding: Encoding, split: usize) -> Result<Part> {
        let [train, held] = self.folds.split(split);
        let (preparation, train) = self.prepared(encoding, &train)?;
        let held = Arc::new(preparation.apply_rows::<f32>(self.table, &held)?);
        Ok(Part { preparation, train, held })
    }

    /// Rows of the table, prepared by themselves.
    ///
    /// # Errors
    /// As [`Preparation::fit_rows`].
    pub fn prepared(&self, encoding: Encoding, rows: &[u32]) -> Result<(Preparation, Arc<Dataset<f32>>)> {
        let preparation = Preparation::fit_rows(self.table, &encoding.options(self.options), rows)?;
        let data = Arc::new(preparation.apply_rows::<f32>(self.table, rows)?);
        Ok((preparation, data))
    }

    /// A candidate's configuration on training rows.
    ///
    /// # Errors
    /// As of the weights of classes.
    pub(crate) fn config(
        &self,
        candidate: &Candidate,
        preparation: &Preparation,
        train: &Dataset<f32>,
    ) -> Result<Config> {
        let class_weights = match &self.class_weights {
            Some((_, of)) if candidate.class_weights.is_empty() => of(preparation, train)?,
            _ => candidate.class_weights.clone(),
        };
        let (method, settings) = (candidate.method.to_string(), candidate.settings.clone());
        let (model, init) = (candidate.model.clone(), candidate.init);
        Ok(Config { method, settings, model, init, seed: self.seed, fpr: self.fpr, class_weights, ..Config::default() })
    }

    /// A candidate on training rows: the run of its first network, or of its one model, and the model that all come to.
    ///
    /// # Errors
    /// As a training.
    pub fn fit(
        &self,
        candidate: &Candidate,
        preparation: &Preparation,
        train: &Arc<Dataset<f32>>,
    ) -> Result<(Trainer<f32>, Predictor<f32>)> {
        let first = self.run(candidate, preparation, train, 0, None)?;
        let all = self.models(candidate, preparation, train, vec![first.predictor()], &[])?;
        let model = whole(&all)?.unwrap_or_else(|| first.predictor());
        Ok((first, model))
    }

    /// The networks of a candidate, or its one model, behind those that there are; `from` are those that they begin at.
    fn models(
        &self,
        candidate: &Candidate,
        of: &Preparation,
        train: &Arc<Dataset<f32>>,
        mut all: Vec<Predictor<f32>>,
        from: &[Predictor<f32>],
    ) -> Result<Vec<Predictor<f32>>> {
        for k in all.len()..candidate.average as usize {
            // (Where networks begin is tried once.)
            let init = all.first().map_or(candidate.init, |first| first.config().init);
            let own = Candidate { init, ..candidate.clone() };
            all.push(self.run(&own, of, train, k as u64, from.get(k))?.predictor());
        }
        Ok(all)
    }

    /// A run of a candidate by the k-th seed; where it begins at another's end that is trained, too, unless it is given.
    fn run(
        &self,
        candidate: &Candidate,
        of: &Preparation,
        train: &Arc<Dataset<f32>>,
        k: u64,
        known: Option<&Predictor<f32>>,
    ) -> Result<Trainer<f32>> {
        let config = self.config(candidate, of, train)?;
        let config = Config { seed: self.seed.wrapping_add(k), ..config };
        let config = if config.method == TOP { top(&config, train)?.0 } else { config };
        let mut trainer = match &candidate.from {
            Some(from) => {
                let start = match known {
                    Some(known) => known.clone(),
                    None => self
                        .run(&Candidate { init: candidate.init, ..(**from).clone() }, of, train, k, None)?
                        .predictor(),
                };
                let config = Config { init: start.config().init, ..config };
                Trainer::new_at(&config, train.clone(), None, start.params())?
            }
            None => Trainer::new(&config, train.clone(), None)?,
        };
        while trainer.step().map_err(|error| Error::Input(format!("it broke down: {error}")))?.is_some() {
            if !self.watch.goes_on() {
                return Err(Error::Stopped);
            }
        }
        Ok(trainer)
    }

    /// With models of another candidate that this one is made of.
    fn train(&self, candidate: &Candidate, split: usize, part: &Part, known: &[Predictor<f32>]) -> Result<Trained> {
        let clock = Instant::now();
        let place = match self.folds.of.len() {
            1 => format!("fold {}", split + 1),
            _ => format!("fold {} of repeat {}", split % self.folds.count + 1, split / self.folds.count + 1),
        };
        let failed = |error| match error {
            Error::Input(text) => Error::Input(format!("{}, {place}: {text}", candidate.name)),
            other => other,
        };
        let (own, from) = if candidate.from.is_some() { (&[][..], known) } else { (known, &[][..]) };
        let models = self.models(candidate, &part.preparation, &part.train, own.to_vec(), from).map_err(failed)?;
        let mut model = whole(&models)?.ok_or(Error::Panicked)?;
        let seconds = clock.elapsed().as_secs_f64();
        let value = model.evaluate(&part.held)?.get(self.metric).unwrap_or(f64::NAN);
        let mut scores = vec![0.0; part.held.len()];
        model.score(part.held.rows(), &mut scores)?;
        let chosen = models.first().map(|first| first.config().clone());
        Ok(Trained { value, seconds, scores, chosen, models })
    }
}

#[cfg(test)]
mod tests {
    use super::{Job, Watch};
    use crate::candidate::Candidate;
    use crate::folds::Folds;
    use undercurve::data::{Format, Options, Preparation, RawTable};
    use undercurve::trainer::ModelSpec;

    struct Nobody;

    impl Watch for Nobody {}

    #[test]
    fn trainings_with_other_class_weights_are_others() {
        let text: String = (0..8).map(|row| format!("{row},{}\n", row % 2)).collect();
        let table = RawTable::parse(format!("a,label\n{text}").as_bytes(), Format::Csv, "t.csv").unwrap();
        let options = Options { label: Some("label".into()), ..Options::default() };
        let whole = Preparation::fit(&table, &options).unwrap();
        let data = whole.apply::<f32>(&table).unwrap();
        let folds = Folds::new(&data, 2, 1, 1, 8).unwrap();
        let job = Job::new(&table, &options, folds, (&whole, &data), &Nobody);
        let plain = Candidate::new("ce-exact", ModelSpec::Linear);
        let weighed = Candidate { class_weights: vec![1.0, 3.0], ..plain.clone() };
        assert_ne!(job.name(&plain, 0), job.name(&weighed, 0));
        let names = [0, 1].map(|split| job.name(&plain, split));
        assert_ne!(names[0], names[1]);
    }
}
