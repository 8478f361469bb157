//! Models and losses on the same folds of a table: what `compare` and `auto` do.

use crate::args::candidates::{Candidate, Encoding};
use crate::args::data::DataPlan;
use crate::args::train::TOP;
use crate::error::{CliError, Result};
use crate::output;
use crate::run::shared::Shared;
use crate::run::store::{self, Store};
use crate::tell;
use crate::tell::paired::mean_sd;
use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use undercurve::data::{Dataset, Preparation, RawTable, group_folds};
use undercurve::metric::student;
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Predictor, Trainer, top};

/// The generator's purpose for folds.
const PURPOSE: u64 = 0x666f_6c64;

/// A finished training.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trained {
    /// The metric on the held-out rows.
    pub value: f64,
    pub seconds: f64,
    /// The held-out rows' scores, and what the training chose; neither of a training that a file has kept.
    #[serde(skip)]
    pub scores: Vec<f32>,
    #[serde(skip)]
    pub chosen: Option<Config>,
    /// Its networks, or its one model; none of a training that a file has kept.
    #[serde(skip)]
    models: Vec<Predictor<f32>>,
}

impl Trained {
    /// The model that all come to.
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
    pub candidate: Candidate,
    pub trained: Vec<Trained>,
    /// Whether it was not trained on all splits.
    pub dropped: bool,
}

impl Row {
    /// The candidate with what its first training chose.
    pub fn pinned(&self) -> Candidate {
        let candidate = self.candidate.clone();
        let Some(config) = self.trained.first().and_then(|trained| trained.chosen.clone()) else { return candidate };
        let settings = config.settings.into_iter().filter(|(name, _)| name != "choose").collect();
        Candidate { settings, class_weights: config.class_weights, init: config.init, ..candidate }
    }

    pub fn values(&self) -> Vec<f64> {
        self.trained.iter().map(|one| one.value).collect()
    }

    pub fn mean(&self) -> f64 {
        mean_sd(&self.values()).0
    }

    /// Of one training, in the mean.
    pub fn seconds(&self) -> f64 {
        self.trained.iter().map(|one| one.seconds).sum::<f64>() / self.trained.len() as f64
    }
}

/// How far a candidate is ahead of another on the same folds, and half its 95 % interval.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    pub mean: f64,
    pub half: f64,
    /// The standard error.
    pub error: f64,
}

impl Ahead {
    /// With a variance of 1/(r·k) + 1/(k − 1) times that of a fold: the training rows of k folds, r times drawn, overlap (Nadeau and Bengio 2003).
    pub fn new(ours: &[f64], theirs: &[f64], folds: usize) -> Self {
        let apart: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| a - b).collect();
        let (mean, sd) = mean_sd(&apart);
        let (all, k) = (apart.len() as f64, folds as f64);
        let error = sd * (1.0 / all + 1.0 / (k - 1.0)).sqrt();
        Self { mean, error, half: student((apart.len() as u64).max(2) - 1) * error }
    }

    pub fn ends(&self) -> [f64; 2] {
        [self.mean - self.half, self.mean + self.half]
    }
}

/// Which rows are trained on and which held out.
pub struct Folds {
    /// The rows of the table that take part, ascending.
    rows: Vec<u32>,
    /// Of every repeat the fold of each of them; where rows are in order, the folds are in order, too, and the first is never held out.
    of: Vec<Vec<usize>>,
    pub count: usize,
    ordered: bool,
}

impl Folds {
    /// As many rows of every class in each fold, or one more; rows of a group together; of rows that a column orders, the later held out. At
    /// most so many rows take part, drawn by class.
    ///
    /// # Errors
    /// `Input` where a fold, or what is trained on, would be without a class.
    pub fn new(data: &Dataset<f32>, count: usize, repeats: usize, seed: u64, most: usize) -> Result<Self> {
        let labels = data.labels();
        let all: Vec<u32> = (0..labels.len() as u32).collect();
        let rows = match labels.len() > most {
            true => {
                let share = most as f64 / labels.len() as f64;
                let of = |class: u8| {
                    let mut rows: Vec<u32> = all.iter().copied().filter(|&row| labels[row as usize] == class).collect();
                    Rng::keyed(seed, PURPOSE, 1 << 32 | u64::from(class)).shuffle(&mut rows);
                    let keep = (share * rows.len() as f64).ceil() as usize;
                    rows.truncate(keep);
                    rows
                };
                let mut rows = [of(0), of(1)].concat();
                rows.sort_unstable();
                rows
            }
            false => all,
        };
        let own: Vec<u8> = rows.iter().map(|&row| labels[row as usize]).collect();
        let ordered = !data.split_ranks().is_empty();
        let of = if ordered {
            let ranks: Vec<u32> = rows.iter().map(|&row| data.split_ranks()[row as usize]).collect();
            vec![in_order(&ranks, count)]
        } else if data.split_groups().is_empty() {
            (0..repeats).map(|repeat| by_class(&own, count, seed, repeat)).collect::<Result<_>>()?
        } else {
            let classes: Vec<u32> = own.iter().map(|&label| label.into()).collect();
            let groups: Vec<u32> = rows.iter().map(|&row| data.split_groups()[row as usize]).collect();
            let dealt = |repeat: usize| {
                group_folds(&classes, &groups, count, seed.wrapping_add(repeat as u64))
                    .map(|folds| folds.into_iter().map(|fold| fold as usize).collect())
                    .map_err(|_| CliError::input(format!("--folds {count}: there are fewer groups (--split-group)")))
            };
            (0..repeats).map(dealt).collect::<Result<_>>()?
        };
        let folds = Self { rows, of, count, ordered };
        for split in 0..folds.splits() {
            for part in folds.split(split) {
                let positives = part.iter().filter(|&&row| labels[row as usize] == 1).count();
                if positives == 0 || positives == part.len() {
                    return Err(CliError::input(format!(
                        "--folds {count}: a fold, or the rows outside it, would have no row of one class; --folds takes fewer"
                    )));
                }
            }
        }
        Ok(folds)
    }

    pub fn splits(&self) -> usize {
        self.count * self.of.len()
    }

    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The rows to train on, and those held out.
    pub fn split(&self, split: usize) -> [Vec<u32>; 2] {
        let (folds, fold) = (&self.of[split / self.count], split % self.count + usize::from(self.ordered));
        let with = |takes: &dyn Fn(usize) -> bool| -> Vec<u32> {
            self.rows.iter().zip(folds).filter(|(_, of)| takes(**of)).map(|(&row, _)| row).collect()
        };
        [with(&|of| if self.ordered { of < fold } else { of != fold }), with(&|of| of == fold)]
    }

    /// What is said of them.
    pub fn told(&self) -> String {
        match (self.ordered, self.of.len()) {
            (true, _) => format!("{} folds, each of later rows", self.count),
            (_, 1) => format!("{} folds", self.count),
            (_, repeats) => format!("{repeats} times {} folds", self.count),
        }
    }
}

/// Folds of equal sizes in the order of the ranks, rows of one rank together, one more than are held out.
fn in_order(ranks: &[u32], count: usize) -> Vec<usize> {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    let parts = count + 1;
    let starts: Vec<u32> = (1..parts).map(|part| sorted[sorted.len() * part / parts]).collect();
    ranks.iter().map(|&rank| starts.partition_point(|&start| start <= rank)).collect()
}

fn by_class(labels: &[u8], count: usize, seed: u64, repeat: usize) -> Result<Vec<usize>> {
    let mut fold = vec![0; labels.len()];
    let mut rng = Rng::keyed(seed, PURPOSE, repeat as u64);
    for class in [0, 1] {
        let mut rows: Vec<usize> = (0..labels.len()).filter(|&row| labels[row] == class).collect();
        if rows.len() < count {
            let word = if class == 1 { "positive" } else { "negative" };
            return Err(CliError::input(format!("--folds {count}: there are {} {word} rows", rows.len())));
        }
        rng.shuffle(&mut rows);
        rows.iter().enumerate().for_each(|(at, &row)| fold[row] = at % count);
    }
    Ok(fold)
}

/// What there is to do.
pub struct Job<'a> {
    pub table: &'a RawTable,
    pub plan: &'a DataPlan,
    pub folds: Folds,
    pub metric: &'static str,
    pub fpr: (f64, f64),
    pub seed: u64,
    pub threads: Option<usize>,
    pub is_libsvm: bool,
    /// Finished trainings, and a name for the data.
    pub store: Store<Trained>,
    pub data: u64,
}

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
    pub preparation: Preparation,
    pub train: Arc<Dataset<f32>>,
    pub held: Arc<Dataset<f32>>,
}

impl Job<'_> {
    /// A name for a training, which says all that it depends on.
    fn name(&self, candidate: &Candidate, split: usize) -> String {
        let Self { metric, folds, fpr, seed, plan, data, .. } = self;
        let weights = plan.class_weight.as_ref().map_or_else(String::new, |text| format!(" class weights {text}"));
        let pauc = if *metric == "pauc" { format!(" {}:{}", fpr.0, fpr.1) } else { String::new() };
        let (repeat, fold, rows) = (split / folds.count, split % folds.count, folds.rows.len());
        format!(
            "{data:016x} {} {}{weights} {metric}{pauc} seed {seed} repeat {repeat} fold {fold} of {} of {rows}",
            candidate.name,
            candidate.settings.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" "),
            folds.count
        )
    }

    /// What scores that know nothing come to on a fold, in the mean.
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
    pub fn metric_told(&self) -> String {
        match self.metric {
            "pauc" => format!("pauc {}:{}", self.fpr.0, self.fpr.1),
            other => other.to_string(),
        }
    }

    /// Trains every candidate on every fold.
    ///
    /// # Errors
    /// `Input` for a method that breaks down, and for a file of finished trainings that is none.
    pub fn measure(&self, candidates: &[Candidate]) -> Result<Vec<Row>> {
        self.measure_splits(candidates, 0..self.folds.splits(), &[])
    }

    /// The same on some of the splits. Of candidates that are made of another (its networks and more, or another loss from where it led) `made_of`
    /// are the other's trainings on all splits.
    pub fn measure_splits(
        &self,
        candidates: &[Candidate],
        splits: std::ops::Range<usize>,
        made_of: &[Trained],
    ) -> Result<Vec<Row>> {
        let jobs: Vec<(usize, usize)> =
            splits.clone().flat_map(|split| (0..candidates.len()).map(move |at| (split, at))).collect();
        let open: Vec<(usize, usize)> = jobs
            .iter()
            .filter(|(split, at)| self.store.get(&self.name(&candidates[*at], *split)).is_none())
            .copied()
            .collect();
        let bar = tell::bar(jobs.len() as u64, "{bar:30} {pos}/{len} trainings  {msg}  {eta} left");
        bar.inc((jobs.len() - open.len()) as u64);
        bar.reset_eta();
        let mut encodings: Vec<Encoding> = Vec::new();
        candidates.iter().for_each(|one| {
            if !encodings.contains(&one.encoding) {
                encodings.push(one.encoding)
            }
        });
        let place = |split: usize, at: usize| {
            let encoding = encodings.iter().position(|&of| of == candidates[at].encoding).unwrap_or(0);
            (split - splits.start) * encodings.len() + encoding
        };
        let wanted = splits.len() * encodings.len();
        let parts = Shared::new((0..wanted).map(|slot| open.iter().filter(|job| place(job.0, job.1) == slot).count()));
        let workers = self.threads.unwrap_or_else(store::cores).min(open.len().max(1));
        let first = Foretold::new(splits.len(), candidates.len());
        let done = store::in_parallel(&open, workers, |&(split, at)| {
            let candidate = &candidates[at];
            bar.set_message(candidate.name.clone());
            let slot = place(split, at);
            let part = parts.get(slot, || self.part(candidate.encoding, split))?;
            let known = made_of.get(split).map_or(&[][..], |trained| &trained.models);
            let trained = self.train(candidate, split, &part, known)?;
            if let Some(seconds) = first.of(split - splits.start, trained.seconds)
                && seconds / workers as f64 > LONG
            {
                let left = candidates.len() * (splits.len() - 1);
                bar.suspend(|| {
                    output::note(format_args!(
                        "the other {left} trainings take about {seconds:.0} s, some {:.0} s with {workers} at a time",
                        seconds / workers as f64
                    ));
                });
            }
            parts.done(slot);
            bar.inc(1);
            self.store.put(self.name(candidate, split), trained)
        });
        bar.finish_and_clear();
        done?;
        let row = |candidate: &Candidate| {
            let trained = splits.clone().filter_map(|split| self.store.get(&self.name(candidate, split))).collect();
            Row { candidate: candidate.clone(), trained, dropped: false }
        };
        Ok(candidates.iter().map(row).collect())
    }

    /// Training rows and held-out rows, with the preparation that is fitted on the former.
    pub fn part(&self, encoding: Encoding, split: usize) -> Result<Part> {
        let [train, held] = self.folds.split(split);
        let (preparation, train) = self.prepared(encoding, &train)?;
        let held = Arc::new(preparation.apply_rows::<f32>(self.table, &held)?);
        Ok(Part { preparation, train, held })
    }

    /// Rows of the table, prepared by themselves.
    pub fn prepared(&self, encoding: Encoding, rows: &[u32]) -> Result<(Preparation, Arc<Dataset<f32>>)> {
        let preparation = Preparation::fit_rows(self.table, &encoding.options(&self.plan.options), rows)?;
        let data = Arc::new(preparation.apply_rows::<f32>(self.table, rows)?);
        Ok((preparation, data))
    }

    /// A candidate's configuration on training rows.
    ///
    /// # Errors
    /// `Input` for weights of classes that do not fit them.
    pub fn config(&self, candidate: &Candidate, preparation: &Preparation, train: &Dataset<f32>) -> Result<Config> {
        let class_weights = match candidate.class_weights.is_empty() {
            true => self.plan.class_weights(preparation, train)?,
            false => candidate.class_weights.clone(),
        };
        let (method, settings) = (candidate.method.to_string(), candidate.settings.clone());
        let (model, init) = (candidate.model.clone(), candidate.init);
        Ok(Config { method, settings, model, init, seed: self.seed, fpr: self.fpr, class_weights, ..Config::default() })
    }

    /// A candidate on training rows: the run of its first network, or of its one model, and the model that all come to.
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
        while trainer.step().map_err(|error| CliError::input(format!("it broke down: {error}")))?.is_some() {}
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
            CliError::Input(text) => CliError::input(format!("{}, {place}: {text}", candidate.name)),
            other => other,
        };
        let (own, from) = if candidate.from.is_some() { (&[][..], known) } else { (known, &[][..]) };
        let models = self.models(candidate, &part.preparation, &part.train, own.to_vec(), from).map_err(failed)?;
        let mut model = whole(&models)?.context("a candidate without a model")?;
        let seconds = clock.elapsed().as_secs_f64();
        let value = model.evaluate(&part.held)?.get(self.metric).unwrap_or(f64::NAN);
        let mut scores = vec![0.0; part.held.len()];
        model.score(part.held.rows(), &mut scores)?;
        let chosen = models.first().map(|first| first.config().clone());
        Ok(Trained { value, seconds, scores, chosen, models })
    }
}
