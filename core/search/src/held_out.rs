//! What a search took: the scores of rows that were held out, and the model of all rows.

use crate::error::Result;
use crate::job::{Job, Row};
use undercurve::checkpoint::{SavedModel, Trained};
use undercurve::decision::Calibrate;
use undercurve::metric::Truth;
use undercurve::trainer::Config;

/// A row that was held out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scored {
    /// Its number in the table.
    pub row: u32,
    /// The fold that it was in.
    pub fold: usize,
    /// Its label.
    pub label: u8,
    /// Its score.
    pub score: f32,
}

/// The rows that were held out, in order.
#[derive(Clone, Debug)]
pub struct HeldOut(Vec<Scored>);

impl HeldOut {
    /// The scores of the first repeat, each fold's moved to the mean of all: models of several folds differ in their bias by chance. Where trainings
    /// choose penalty and class weight, which decide how far scores spread, all folds are trained anew with those of the refit, which is made where none is given. `labels` are those of the
    /// table.
    ///
    /// # Errors
    /// As a training.
    pub fn of(job: &Job<'_>, row: &Row, refit: Option<&Refit>, labels: &[u8]) -> Result<Self> {
        let settled;
        let row = if row.candidate.settings.iter().any(|(name, _)| name == "choose") {
            let config = match refit {
                Some(refit) => refit.config.clone(),
                None => Refit::of(job, row)?.config,
            };
            settled = job.measure_splits(&[row.with(&config)], 0..job.folds.count, &[])?.remove(0);
            &settled
        } else {
            row
        };
        let folds: Vec<(Vec<u32>, &[f32])> = (0..job.folds.count)
            .map(|split| (job.folds.split(split)[1].clone(), &*row.trained[split].scores))
            .collect();
        let mean = |scores: &[f32]| scores.iter().map(|&score| f64::from(score)).sum::<f64>() / scores.len() as f64;
        let all: f64 = folds.iter().map(|(_, scores)| mean(scores)).sum::<f64>() / folds.len() as f64;
        let mut scored: Vec<Scored> = folds
            .iter()
            .enumerate()
            .flat_map(|(fold, (rows, scores))| {
                let shift = (all - mean(scores)) as f32;
                rows.iter().zip(*scores).map(move |(&row, &score)| (row, fold, score + shift))
            })
            .map(|(row, fold, score)| Scored { row, fold, label: labels[row as usize], score })
            .collect();
        scored.sort_by_key(|one| one.row);
        Ok(Self(scored))
    }

    /// The rows.
    #[must_use]
    pub fn rows(&self) -> &[Scored] {
        &self.0
    }

    /// Their scores and labels.
    #[must_use]
    pub fn scores(&self) -> (Vec<f32>, Vec<u8>) {
        self.0.iter().map(|one| (one.score, one.label)).unzip()
    }
}

/// The model of all rows.
#[derive(Debug)]
pub struct Refit {
    /// Its file.
    pub file: SavedModel,
    /// What its training chose.
    config: Config,
    /// The groups that rows of the table are split by, where there are some.
    split_groups: Vec<u32>,
}

impl Refit {
    /// Trains a candidate on all rows.
    ///
    /// # Errors
    /// As a training.
    pub fn of(job: &Job<'_>, row: &Row) -> Result<Self> {
        let numbers: Vec<u32> = (0..job.table.rows() as u32).collect();
        let (preparation, data) = job.prepared(row.candidate.encoding, &numbers)?;
        let (run, model) = job.fit(&row.candidate, &preparation, &data)?;
        let (done, of) = (run.steps_done(), run.total_steps());
        let name = format!("{} folds {}", job.folds.count, job.metric);
        let trained = Trained { step: done, done, of, over: true, figures: vec![(name, row.mean())] };
        let file = SavedModel { trained, ..model.file(preparation) };
        Ok(Self { file, config: run.config().clone(), split_groups: data.split_groups().to_vec() })
    }

    /// The same with the held-out rows, by which its scores become probabilities where they are none.
    ///
    /// # Errors
    /// As a training.
    pub fn with_held_out(job: &Job<'_>, row: &Row, labels: &[u8]) -> Result<(Self, HeldOut)> {
        let mut refit = Self::of(job, row)?;
        let held_out = HeldOut::of(job, row, Some(&refit), labels)?;
        refit.calibrate(&held_out)?;
        Ok((refit, held_out))
    }

    /// Of rows that were held out the group that each is split by, where there are some.
    #[must_use]
    pub fn clusters(&self, held_out: &HeldOut) -> Vec<u32> {
        held_out.rows().iter().filter_map(|one| self.split_groups.get(one.row as usize).copied()).collect()
    }

    fn calibrate(&mut self, held_out: &HeldOut) -> Result<()> {
        if !self.file.probabilities || !self.config.class_weights.is_empty() {
            let (scores, labels) = held_out.scores();
            self.file.calibrate(Calibrate::Platt, &scores, Truth::new(&labels, &[])?, "held-out folds")?;
        }
        Ok(())
    }
}
