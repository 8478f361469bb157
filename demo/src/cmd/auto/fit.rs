//! The rows set aside, the folds, the trainings, and what comes of them.

use super::Plan;
use crate::args::candidates::Candidate;
use crate::cmd::compare::report::Ahead;
use crate::error::{CliError, Result};
use crate::run::store;
use crate::tell::explain::places;
use crate::tell::paired::mean_sd;
use crate::tell::threshold::choose;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use undercurve::checkpoint::{SavedModel, Trained};
use undercurve::data::{Dataset, Preparation, RawTable, Rows, Targets, group_folds};
use undercurve::decision::{Calibrate, ThresholdRule, rate_interval};
use undercurve::metric::{Bin, Confusion, FprRange, Interval, Metrics, PrPoint, RocPoint, TieRule, Truth, brier};
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Predictor, Trainer};

/// Parts of the rows, one of which is set aside.
const PARTS: usize = 4;
/// Shuffles of a column, and draws of rows for the interval of a threshold.
const SHUFFLES: u64 = 5;
const DRAWS: u64 = 200;
/// Shuffled rows that are scored together.
const SCORED: usize = 256;
/// The generator's purposes.
const SHUFFLE: u64 = 0x7368_7566;
const DRAW: u64 = 0x6472_6177;
/// The false-positive rates of the partial AUC.
const FPR: (f64, f64) = (0.0, 0.05);
/// Points of a curve in the card, and bins of its reliability.
const POINTS: usize = 200;
const BINS: usize = 10;

/// What there is to do.
pub struct Job<'a> {
    plan: &'a Plan,
    table: &'a RawTable,
    /// Rows to train on, with the fold of each, and rows set aside.
    train: Vec<u32>,
    folds: Vec<usize>,
    test: Vec<u32>,
    labels: Vec<u8>,
}

/// A candidate over the folds.
pub struct Row {
    pub name: String,
    pub values: Vec<f64>,
    pub mean: f64,
    pub sd: f64,
    /// The mean lead over cross-entropy, and its interval.
    pub ahead: Option<[f64; 3]>,
}

pub struct Counts {
    pub train_rows: usize,
    pub train_positives: usize,
    pub test_rows: usize,
    pub test_positives: usize,
}

/// A figure on the rows set aside.
pub struct Figure {
    pub key: &'static str,
    pub name: &'static str,
    pub value: f64,
    pub interval: Option<[f64; 2]>,
}

impl Figure {
    pub fn text(&self) -> String {
        let interval = self.interval.map_or(String::new(), |[low, high]| format!(" [{low:.4}, {high:.4}]"));
        format!("{:.4}{interval}", self.value)
    }
}

/// What the metric loses on the rows set aside when a column is shuffled.
pub struct Importance {
    pub column: String,
    pub loss: f64,
    pub sd: f64,
}

/// All that came of it.
pub struct Outcome {
    pub parts: Counts,
    pub rows: Vec<Row>,
    /// The candidate that was taken, and whether it is ahead of cross-entropy beyond noise.
    pub shipped: String,
    pub beyond: bool,
    pub verdict: String,
    pub file: SavedModel,
    pub figures: Vec<Figure>,
    pub threshold: Option<f64>,
    pub threshold_interval: Option<[f64; 2]>,
    pub rule: Option<ThresholdRule>,
    pub importances: Vec<Importance>,
    pub roc: Vec<RocPoint>,
    pub pr: Vec<PrPoint>,
    pub bins: Vec<Bin>,
    /// Of each row of the table: the fold, none where it was set aside, its label and its held-out score.
    scored: Vec<(Option<usize>, u8, f32)>,
    model: Predictor<f32>,
}

impl<'a> Job<'a> {
    /// Sets rows aside and deals the others to folds.
    ///
    /// # Errors
    /// `Input` for other than two classes, and where a part would be without one of them.
    pub fn new(plan: &'a Plan, table: &'a RawTable) -> Result<Self> {
        let whole = Preparation::fit(table, &plan.data.options)?;
        let all = whole.apply::<f32>(table)?;
        let Targets::Binary(labels) = all.targets() else {
            return Err(CliError::input(format!("{}: auto is for two classes", plan.file.display())));
        };
        let rows: Vec<u32> = (0..labels.len() as u32).collect();
        let ranks = all.split_ranks();
        let test: Vec<u32> = if ranks.is_empty() {
            let part = deal(&rows, labels, &all, PARTS, plan.seed)?;
            rows.iter().copied().filter(|&row| part[row as usize] == 0).collect()
        } else {
            // The last quarter, rows of one value together.
            let mut sorted = ranks.to_vec();
            sorted.sort_unstable();
            let from = sorted[sorted.len() - sorted.len() / PARTS];
            rows.iter().copied().filter(|&row| ranks[row as usize] >= from).collect()
        };
        let is_test: Vec<bool> = {
            let mut is = vec![false; labels.len()];
            test.iter().for_each(|&row| is[row as usize] = true);
            is
        };
        let train: Vec<u32> = rows.into_iter().filter(|&row| !is_test[row as usize]).collect();
        let count = |rows: &[u32]| rows.iter().filter(|&&row| labels[row as usize] == 1).count();
        let (positives, tested) = (count(&train), count(&test));
        let least = positives.min(train.len() - positives);
        if least < plan.folds || tested == 0 || tested == test.len() {
            let text = format!(
                "{}: too few rows of a class for {} folds and rows set aside: {least} to train on; --folds takes fewer",
                plan.file.display(),
                plan.folds
            );
            return Err(CliError::input(text));
        }
        let folds = deal(&train, labels, &all, plan.folds, plan.seed.wrapping_add(1))?;
        Ok(Self { plan, table, train, folds, test, labels: labels.clone() })
    }

    fn labels_of(&self, rows: &[u32]) -> Vec<u8> {
        rows.iter().map(|&row| self.labels[row as usize]).collect()
    }

    fn config(&self, candidate: &Candidate, of: &Preparation, train: &Dataset<f32>) -> Result<Config> {
        let (method, model, seed) = (candidate.method.to_string(), candidate.model.clone(), self.plan.seed);
        let class_weights = self.plan.data.class_weights(of, train)?;
        Ok(Config { method, model, seed, class_weights, fpr: FPR, ..Config::default() })
    }

    /// Trains on some rows.
    fn trained(&self, candidate: &Candidate, rows: &[u32]) -> Result<(Preparation, Trainer<f32>)> {
        let of = Preparation::fit_rows(self.table, &self.plan.data.options, rows)?;
        let data = Arc::new(of.apply_rows::<f32>(self.table, rows)?);
        let failed = |error| CliError::input(format!("{} broke down: {error}", candidate.name));
        let mut trainer = Trainer::new(&self.config(candidate, &of, &data)?, data, None)?;
        while trainer.step().map_err(failed)?.is_some() {}
        Ok((of, trainer))
    }

    /// Scores of the rows that each fold holds out, in the order of `train`.
    fn held_out(&self) -> Result<Vec<Vec<f32>>> {
        let candidates = &self.plan.candidates;
        let jobs: Vec<(usize, usize)> = (0..self.plan.folds)
            .flat_map(|fold| (0..candidates.len()).map(move |candidate| (fold, candidate)))
            .collect();
        let all = Mutex::new(vec![vec![0.0_f32; self.train.len()]; candidates.len()]);
        let bar = crate::tell::bar(jobs.len() as u64, "{bar:30} {pos}/{len} trainings  {eta} left");
        let workers = self.plan.threads.unwrap_or_else(store::cores).min(jobs.len());
        store::in_parallel(&jobs, workers, |&(fold, candidate)| {
            let (held, rest): (Vec<usize>, Vec<usize>) = (0..self.train.len()).partition(|&at| self.folds[at] == fold);
            let rows = |places: &[usize]| -> Vec<u32> { places.iter().map(|&at| self.train[at]).collect() };
            let (of, mut trainer) = self.trained(&candidates[candidate], &rows(&rest))?;
            let data = of.apply_rows::<f32>(self.table, &rows(&held))?;
            let mut scores = vec![0.0; data.len()];
            trainer.score(data.rows(), &mut scores)?;
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            held.iter().zip(scores).for_each(|(&at, score)| all[candidate][at] = score);
            bar.inc(1);
            Ok(())
        })?;
        bar.finish_and_clear();
        Ok(all.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// The metric of held-out scores on each fold.
    fn on_folds(&self, scores: &[f32]) -> Result<Vec<f64>> {
        let labels = self.labels_of(&self.train);
        let of = |fold: usize| {
            let at = (0..scores.len()).filter(|&at| self.folds[at] == fold);
            let (some, labels): (Vec<f32>, Vec<u8>) = at.map(|at| (scores[at], labels[at])).unzip();
            measure(self.plan.metric, &some, &labels)
        };
        (0..self.plan.folds).map(of).collect()
    }

    pub fn run(&self) -> Result<Outcome> {
        let plan = self.plan;
        let scores = self.held_out()?;
        let values = scores.iter().map(|scores| self.on_folds(scores)).collect::<Result<Vec<_>>>()?;
        let rows: Vec<Row> = plan
            .candidates
            .iter()
            .zip(values.iter().cloned())
            .enumerate()
            .map(|(at, (candidate, own))| {
                let (mean, sd) = mean_sd(&own);
                let ahead = (at > 0).then(|| Ahead::new(&own, &values[0], plan.folds));
                let ahead = ahead.map(|Ahead { mean, half }| [mean, mean - half, mean + half]);
                Row { name: candidate.name.clone(), values: own, mean, sd, ahead }
            })
            .collect();
        let best = (1..rows.len()).fold(0, |best, at| if rows[at].mean > rows[best].mean { at } else { best });
        let beyond = rows[best].ahead.is_some_and(|ahead| ahead[1] > 0.0);
        let shipped = if beyond { best } else { 0 };
        let verdict = verdict(plan, &rows, best, beyond);
        let (of, mut trainer) = self.trained(&plan.candidates[shipped], &self.train)?;
        self.outcome(rows, shipped, (beyond, verdict), &scores[shipped], of, &mut trainer)
    }

    fn outcome(
        &self,
        rows: Vec<Row>,
        shipped: usize,
        (beyond, verdict): (bool, String),
        held_out: &[f32],
        of: Preparation,
        trainer: &mut Trainer<f32>,
    ) -> Result<Outcome> {
        let plan = self.plan;
        let (labels, truth_of_test) = (self.labels_of(&self.train), self.labels_of(&self.test));
        let test = of.apply_rows::<f32>(self.table, &self.test)?;
        let mut scores = vec![0.0_f32; test.len()];
        trainer.score(test.rows(), &mut scores)?;
        let (done, total) = (trainer.steps_done(), trainer.total_steps());
        let name = format!("{} folds {}", plan.folds, plan.metric);
        let trained = Trained { step: done, done, of: total, over: true, figures: vec![(name, rows[shipped].mean)] };
        let mut file = SavedModel { trained, ..trainer.predictor().file(of) };
        let truth = Truth::new(&labels, &[])?;
        if !file.probabilities {
            file.calibrate(Calibrate::Platt, held_out, truth, "held-out folds")?;
        }
        if let Some(rule) = plan.rule {
            let chosen = choose(rule, held_out, truth, None, "held-out folds")?;
            (file.threshold, file.decided) = (Some(chosen.at()), Some(chosen.decided().clone()));
        }
        let mut model = Predictor::<f32>::of(&file)?;
        let importances = self.importances(&mut model, &test, &scores)?;
        let probabilities: Vec<f64> =
            scores.iter().filter_map(|&score| model.probability(score)).map(f64::from).collect();
        let figures = figures(&scores, &truth_of_test, &probabilities, file.threshold)?;
        let mut memory = Metrics::<f32>::new();
        let test_truth = Truth::new(&truth_of_test, &[])?;
        let bins = Metrics::<f64>::new().reliability(&probabilities, &test_truth, BINS)?;
        let count = |labels: &[u8]| labels.iter().map(|&label| usize::from(label)).sum();
        Ok(Outcome {
            parts: Counts {
                train_rows: labels.len(),
                train_positives: count(&labels),
                test_rows: truth_of_test.len(),
                test_positives: count(&truth_of_test),
            },
            shipped: rows[shipped].name.clone(),
            rows,
            beyond,
            verdict,
            figures,
            threshold: file.threshold,
            threshold_interval: plan.rule.map_or(Ok(None), |rule| self.interval(rule, held_out, &labels))?,
            rule: plan.rule,
            importances,
            roc: memory.roc_curve(&scores, &test_truth, Some(POINTS))?,
            pr: memory.pr_curve(&scores, &test_truth, Some(POINTS))?,
            bins,
            scored: self.scored(held_out, &scores),
            model,
            file,
        })
    }

    /// By row of the table: its fold, where it is of the training part, its label and its score.
    fn scored(&self, held_out: &[f32], of_test: &[f32]) -> Vec<(Option<usize>, u8, f32)> {
        let mut scored = vec![(None, 0, 0.0); self.labels.len()];
        for (at, &row) in self.train.iter().enumerate() {
            scored[row as usize] = (Some(self.folds[at]), self.labels[row as usize], held_out[at]);
        }
        for (&row, &score) in self.test.iter().zip(of_test) {
            scored[row as usize] = (None, self.labels[row as usize], score);
        }
        scored
    }

    /// Where the threshold lies in 95 of 100 draws of the rows that it was chosen on.
    fn interval(&self, rule: ThresholdRule, scores: &[f32], labels: &[u8]) -> Result<Option<[f64; 2]>> {
        let (mut memory, mut found) = (Metrics::<f32>::new(), Vec::new());
        for draw in 0..DRAWS {
            let mut rng = Rng::keyed(self.plan.seed, DRAW, draw);
            let pick: Vec<usize> = (0..scores.len()).map(|_| (rng.uniform() * scores.len() as f64) as usize).collect();
            let (some, own): (Vec<f32>, Vec<u8>) = pick.iter().map(|&at| (scores[at], labels[at])).unzip();
            match memory.decide(&some, &own[..], rule) {
                Ok(decision) if decision.threshold.is_finite() => found.push(decision.threshold),
                _ => {}
            }
        }
        found.sort_by(f64::total_cmp);
        // (Of a rule that few draws can keep there is none.)
        let enough = found.len() as u64 * 10 >= DRAWS * 9;
        Ok(enough.then(|| [found[found.len() / 40], found[found.len() - 1 - found.len() / 40]]))
    }

    /// What the metric loses on these rows when all that was made of a column is shuffled; the most first.
    fn importances(&self, model: &mut Predictor<f32>, test: &Dataset<f32>, scores: &[f32]) -> Result<Vec<Importance>> {
        let Some(of) = model.preparation().cloned() else { return Ok(Vec::new()) };
        let (rows, cols, metric) = (test.rows(), test.cols(), self.plan.metric);
        let labels = self.labels_of(&self.test);
        let before = measure(metric, scores, &labels)?;
        let (mut all, mut shuffled) = (Vec::new(), Vec::with_capacity(SCORED * cols));
        let [mut own, mut drawn] = [(); 2].map(|()| vec![0.0; cols]);
        for (number, (column, at)) in places(&of).into_iter().enumerate() {
            let mut losses = Vec::new();
            for shuffle in 0..SHUFFLES {
                let mut order: Vec<usize> = (0..test.len()).collect();
                Rng::keyed(self.plan.seed, SHUFFLE, number as u64 * SHUFFLES + shuffle).shuffle(&mut order);
                let mut after = vec![0.0; test.len()];
                for (from, after) in (0..).step_by(SCORED).zip(after.chunks_mut(SCORED)) {
                    shuffled.clear();
                    for row in from..from + after.len() {
                        rows.copy_row(row, &mut own)?;
                        rows.copy_row(order[row], &mut drawn)?;
                        at.iter().for_each(|&k| own[k] = drawn[k]);
                        shuffled.extend_from_slice(&own);
                    }
                    model.score(Rows::dense(&shuffled, cols)?, after)?;
                }
                losses.push(before - measure(metric, &after, &labels)?);
            }
            let (loss, sd) = mean_sd(&losses);
            all.push(Importance { column, loss, sd });
        }
        all.sort_by(|a, b| b.loss.total_cmp(&a.loss));
        Ok(all)
    }
}

/// The part of each of these rows, of every class about as many, groups together.
fn deal(rows: &[u32], labels: &[u8], all: &Dataset<f32>, parts: usize, seed: u64) -> Result<Vec<usize>> {
    let classes: Vec<u32> = rows.iter().map(|&row| labels[row as usize].into()).collect();
    let groups: Vec<u32> = match all.split_groups() {
        [] => (0..rows.len() as u32).collect(),
        groups => {
            let mut number = BTreeMap::new();
            let of = |&row: &u32| {
                let next = number.len() as u32;
                *number.entry(groups[row as usize]).or_insert(next)
            };
            rows.iter().map(of).collect()
        }
    };
    let dealt = group_folds(&classes, &groups, parts, seed).map_err(|_| {
        CliError::input(format!("{parts} parts: there are fewer groups (--split-group); --folds takes fewer"))
    })?;
    Ok(dealt.into_iter().map(|part| part as usize).collect())
}

fn measure(metric: &str, scores: &[f32], labels: &[u8]) -> Result<f64> {
    let mut memory = Metrics::<f32>::new();
    Ok(match metric {
        "auroc" => memory.auroc(scores, labels)?,
        "ap" => memory.average_precision(scores, labels)?,
        _ => memory.partial_auc(scores, labels, FprRange::new(FPR.0, FPR.1)?, TieRule::Trapezoid)?,
    })
}

/// What was taken, and why.
fn verdict(plan: &Plan, rows: &[Row], best: usize, beyond: bool) -> String {
    let (metric, base) = (plan.metric, &rows[0].name);
    match rows[best].ahead {
        Some([mean, low, high]) if beyond => format!(
            "{} is taken: it beats {base} by {mean:.4} in {metric} over the folds, 95 % interval {low:.4} to {high:.4}.",
            rows[best].name
        ),
        Some([mean, low, high]) => format!(
            "{base} is taken: nothing beats it beyond noise. {} is ahead by {mean:.4} in {metric}, but the 95 % interval, {low:.4} to {high:.4}, includes 0.",
            rows[best].name
        ),
        None => format!("{base} is taken: its mean {metric} over the folds is the greatest."),
    }
}

/// The figures on the rows set aside.
fn figures(scores: &[f32], labels: &[u8], probabilities: &[f64], threshold: Option<f64>) -> Result<Vec<Figure>> {
    let mut memory = Metrics::<f32>::new();
    let range = FprRange::new(FPR.0, FPR.1)?;
    let intervals = memory.intervals(scores, labels, range)?;
    let ends = |interval: Option<Interval>| interval.map(|ends| [ends.low, ends.high]);
    let mut all = vec![
        Figure { key: "auroc", name: "AUROC", value: memory.auroc(scores, labels)?, interval: ends(intervals.auroc) },
        Figure {
            key: "ap",
            name: "Average precision",
            value: memory.average_precision(scores, labels)?,
            interval: ends(intervals.ap),
        },
        Figure {
            key: "pauc",
            name: "Partial AUC to a false-positive rate of 0.05",
            value: memory.partial_auc(scores, labels, range, TieRule::Trapezoid)?,
            interval: ends(intervals.pauc),
        },
    ];
    if let Some(at) = threshold {
        let counts = Confusion::<u64>::at(scores, labels, at as f32)?;
        let alerts = counts.true_positives + counts.false_positives;
        let mut rate = |key, name, hits: u64, rows: u64| {
            if rows > 0 {
                let Interval { low, high, .. } = rate_interval(hits, rows);
                all.push(Figure { key, name, value: hits as f64 / rows as f64, interval: Some([low, high]) });
            }
        };
        rate("recall", "Recall at the threshold", counts.true_positives, counts.positives());
        rate("precision", "Precision at the threshold", counts.true_positives, alerts);
        rate("fpr", "False-positive rate at the threshold", counts.false_positives, counts.negatives());
    }
    if probabilities.len() == labels.len() {
        let value = brier(probabilities, Truth::new(labels, &[])?)?;
        all.push(Figure { key: "brier", name: "Brier score of the probabilities", value, interval: None });
    }
    Ok(all)
}

impl Outcome {
    pub fn threshold_text(&self) -> String {
        let (Some(at), Some(rule)) = (self.threshold, self.rule) else {
            return "No threshold: --threshold \"precision>=0.8\" chooses one on the held-out folds".to_string();
        };
        let interval = self.threshold_interval.map_or(String::new(), |[low, high]| format!(" [{low:.4}, {high:.4}]"));
        format!("Threshold {at:.4}{interval} by {rule} on the held-out folds")
    }

    /// Held-out scores of all rows.
    pub fn scores_csv(&self) -> String {
        let sure = self.model.has_probabilities();
        let mut text = format!("row,part,label,score{}\n", if sure { ",probability" } else { "" });
        for (row, (fold, label, score)) in self.scored.iter().enumerate() {
            let part = fold.map_or("aside".to_string(), |fold| format!("fold {}", fold + 1));
            // (Writing to a string cannot fail.)
            let _ = write!(text, "{},{part},{label},{score}", row + 1);
            if let Some(probability) = self.model.probability(*score).filter(|_| sure) {
                let _ = write!(text, ",{probability}");
            }
            text.push('\n');
        }
        text
    }
}
