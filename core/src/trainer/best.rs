//! The best checkpoint of a run by a metric on validation rows, and early stopping.
//!
//! Under constraints the bounds come first, judged on the validation rows alone, because an overfitted network meets them on its
//! training rows. A gap between groups of a few thousand rows has a noise of .05 or more, so the smallest measured value is chance.
//! So the excesses over the bounds are divided by their noise ([`Judged::noise`]) and added. Of the models within .5 of the
//! least sum the latest is kept, since it was trained longest for the bounds. Of models that meet all bounds, the one with the best
//! metric is kept. (Larger gap of the kept models on test rows, six seeds of COMPAS and of 3,000 rows of Adult: .101 and .093. By the
//! least sum .116 and .100; by the best metric within .5 of it .131 and .126; judged with training rows too, .098 and .092, but
//! reported as .053 and .067.)
//!
//! [`Judged::noise`]: crate::judge::Judged::noise

use super::config::TrainerError;
use super::run::Run;
use super::{Figures, Trainer};
use crate::checkpoint::{CheckpointError, Coded, Reader, reals, write_reals};
use crate::data::{Dataset, Targets};
use crate::error::Result;
use crate::metric;
use crate::real::Real;
use crate::registry::{self, Method};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// So many times in a run its model is measured: where the method's own steps begin, if others come before, whenever this
/// part of them (or of its passes) is done, and at its end.
pub const LOOKS: u64 = 20;

/// Watches a run: after every step, [`look`](Self::look). What it looks at depends on how far the run is alone, so a run that
/// is saved with it and resumed keeps the same model.
///
/// ```
/// use undercurve::data::Dataset;
/// use undercurve::trainer::{Best, Config, Trainer};
///
/// let rows = |shift: f32| (0..40).map(|k| (k % 7) as f32 + shift * (k % 3) as f32).collect();
/// let labels = || (0..40).map(|k| u8::from(k % 7 > 4)).collect();
/// let (train, valid) = (Dataset::dense(rows(0.0), labels(), 1)?, Dataset::dense(rows(1.0), labels(), 1)?);
/// let config = Config { method: "soap".into(), ..Config::default() };
/// let mut trainer = Trainer::<f32>::new(&config, train.into(), None)?;
/// let mut best = Best::new(&trainer, valid.into(), "ap", Some(5))?;
/// while trainer.step()?.is_some() && best.look(&mut trainer)? {}
///
/// let mut model = trainer.predictor().with_params(best.params().to_vec())?;
/// assert_eq!(model.evaluate(best.valid_data())?.get("ap"), Some(best.value()));
/// assert!(best.step() <= trainer.steps_done());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Best<T: Real> {
    valid: Arc<Dataset<T>>,
    metric: String,
    patience: Option<u64>,
    /// Whether the best model is to be kept, or the last.
    keep: bool,
    /// Parts of the run that were looked at, and looks since the best.
    looked: u64,
    since: u64,
    /// The step of the last look, of the best model, and that one's metric and parameters.
    last: u64,
    step: u64,
    value: f64,
    excess: Excess,
    /// The least excess of a look, in units of noise.
    least: f64,
    params: Vec<T>,
}

/// By how much bounds are passed: in sum, and each in units of its noise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Excess {
    pub sum: f64,
    pub noises: f64,
}

/// Models so near to the least excess cannot be told from it.
const ALIKE: f64 = 0.5;

/// Of methods of the worst groups: the mean loss of the share of the groups (or cells) that is the worst. Less is better.
const RISK: &str = "cvar";

/// Added to what says whether the best is kept, where the excess is saved, too.
const WITH_EXCESS: u64 = 2;
/// The same for excess in units of noise.
const WITH_NOISES: u64 = 4;

/// The metric that a method trains for on data like these, by its name in [`Figures::get`](super::Figures::get); what one that
/// minimises the loss of the worst groups trains for, `cvar`, only [`Trainer::own_metric`] knows.
#[must_use]
pub fn own_metric<T: Real>(method: Option<&Method>, data: &Dataset<T>) -> &'static str {
    match data.targets() {
        Targets::Classes { .. } => "hand-till",
        Targets::Values(_) => "rmse",
        Targets::None | Targets::Binary(_) => method.map_or("auroc", Method::metric),
    }
}

/// The metrics that a model may be kept by.
fn metrics<T: Real>(data: &Dataset<T>) -> &'static [&'static str] {
    match data.targets() {
        Targets::Classes { .. } => &["hand-till", "auroc", "ap", "accuracy"],
        Targets::Values(_) => &["rmse", "mae", "r2"],
        Targets::None | Targets::Binary(_) => &["auroc", "ap", "pauc"],
    }
}

impl<T: Real, R: Run<T>> Trainer<T, R> {
    /// The metric that the run trains for, of those that [`Best::new`] takes.
    #[must_use]
    pub fn own_metric(&self) -> &'static str {
        if self.minimises_risk() { RISK } else { own_metric(registry::method(&self.config.method), &self.train) }
    }

    /// The metric of scores on some rows (NaN where it has none), and by how much bounds are passed.
    fn seen(&mut self, metric: &str, data: &Dataset<T>) -> Result<(f64, Excess)> {
        let mut scores = vec![T::ZERO; data.len() * self.run.heads()];
        self.score(data.rows(), &mut scores)?;
        let excess = self.excess(&scores, data)?;
        let risk = if metric == RISK { self.risk(&scores, data)? } else { None };
        if let Some(risk) = risk {
            return Ok((risk, excess));
        }
        let figures = Figures::of(&scores, data, self.range, self.work.lend(metric::need(scores.len())))?;
        Ok((figures.get(metric).unwrap_or(f64::NAN), excess))
    }
}

impl<T: Real> Best<T> {
    /// Nothing looked at yet. `metric` of two classes is `auroc`, `ap` or `pauc` (over the run's range), and `cvar` where the
    /// run minimises the loss of the worst groups; of several `hand-till`, `auroc`, `ap` or `accuracy`, of numbers `rmse`,
    /// `mae` or `r2`. With `patience` the run ends after so many looks
    /// without a better model.
    ///
    /// # Errors
    /// `Config`: another metric, rows of other columns or classes, patience 0.
    pub fn new<R: Run<T>>(
        trainer: &Trainer<T, R>,
        valid: Arc<Dataset<T>>,
        metric: &str,
        patience: Option<u64>,
    ) -> Result<Self, TrainerError> {
        let train = trainer.train_data();
        if valid.cols() != train.cols() {
            let (has, other) = (train.cols(), valid.cols());
            return Err(TrainerError::Config(format!(
                "the validation data has {other} columns, the training data {has}"
            )));
        }
        if valid.classes() != train.classes() {
            return Err(TrainerError::Config(
                "the validation data has other classes than the training data".to_string(),
            ));
        }
        let mut known = metrics(&valid).to_vec();
        known.extend(trainer.minimises_risk().then_some(RISK));
        if !known.contains(&metric) {
            return Err(TrainerError::Config(format!(
                "\"{metric}\" is no metric to keep a model by; there are {}",
                known.join(", ")
            )));
        }
        if patience == Some(0) {
            return Err(TrainerError::Config("patience: expected at least 1".to_string()));
        }
        let (looked, since, last, step) = (0, 0, 0, 0);
        let metric = metric.to_string();
        let (keep, value, excess, least, params) = (true, f64::NAN, Excess::default(), f64::INFINITY, Vec::new());
        Ok(Self { valid, metric, patience, keep, looked, since, last, step, value, excess, least, params })
    }

    /// The same for the early end alone: the model is the run's last.
    #[must_use]
    pub fn keeping_the_last(self) -> Self {
        Self { keep: false, ..self }
    }

    /// Measures the run's model where a twentieth of the method's own steps has been done since it last did, where these begin,
    /// and at the end; false when the
    /// run is to end, for want of a better model. Costs the scores of the validation rows, and O(n log n).
    ///
    /// # Errors
    /// As [`Trainer::evaluate`].
    pub fn look<R: Run<T>>(&mut self, trainer: &mut Trainer<T, R>) -> Result<bool> {
        let ((at, end), begin) = (trainer.progress(), trainer.pretraining_steps());
        // (A run with steps before its own counts them, and not rows.)
        let parts = match at.checked_sub(begin) {
            Some(own) => own / end.saturating_sub(begin).div_ceil(LOOKS).max(1) + u64::from(begin > 0),
            None => 0,
        };
        let step = trainer.steps_done();
        if step > self.last && (parts > self.looked || trainer.is_done()) {
            (self.looked, self.last) = (parts, step);
            let (value, excess) = trainer.seen(&self.metric, &self.valid)?;
            let less_is_better = matches!(self.metric.as_str(), "rmse" | "mae" | RISK);
            let of_value = if less_is_better { value < self.value } else { value > self.value };
            // (Of metrics and of excess: what is later without being better than all before does not go on for ever.)
            let record = excess.noises < self.least || of_value || self.value.is_nan();
            let first = self.value.is_nan() && !value.is_nan();
            self.least = self.least.or_smaller(excess.noises);
            let alike = |excess: Excess| excess.noises <= self.least + ALIKE;
            let better = match (alike(excess), alike(self.excess)) {
                // (Where both keep all bounds, or there are none.)
                (true, true) if excess.noises == 0.0 && self.excess.noises == 0.0 => of_value,
                (now, _) => now && !value.is_nan(),
            };
            if better || first {
                (self.value, self.excess, self.step) = (value, excess, step);
                self.params.clear();
                self.params.extend_from_slice(trainer.params());
            }
            self.since = if record { 0 } else { self.since + 1 };
        }
        Ok(!self.is_out_of_patience())
    }

    /// Whether so many looks brought nothing better that the run is to end.
    #[must_use]
    pub fn is_out_of_patience(&self) -> bool {
        self.patience.is_some_and(|patience| self.since >= patience)
    }

    /// What to say of a run that ended by itself before so many looks that its patience could have had a part, as exact methods do.
    #[must_use]
    pub fn idle_patience(&self) -> Option<String> {
        let patience = self.patience.filter(|&patience| self.looked < patience)?;
        Some(format!(
            "patience {patience} had no part: the run ended by itself before so many looks at the validation rows"
        ))
    }

    /// The rows that it looks at.
    #[must_use]
    pub fn valid_data(&self) -> &Arc<Dataset<T>> {
        &self.valid
    }
    /// The metric's name.
    #[must_use]
    pub fn metric(&self) -> &str {
        &self.metric
    }
    /// Looks without a better model before the run ends.
    #[must_use]
    pub fn patience(&self) -> Option<u64> {
        self.patience
    }
    /// Whether the best model is to be kept.
    #[must_use]
    pub fn keeps_the_best(&self) -> bool {
        self.keep
    }
    /// Whether the model to keep is that of a step looked at, and not the run's last.
    #[must_use]
    pub fn keeps_a_step(&self) -> bool {
        self.keep && !self.params.is_empty()
    }
    /// The step of the best model; 0 before the first look.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.step
    }
    /// Its metric; NaN before the first look.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.value
    }
    /// By how much it passes the bounds of the run's constraints on the validation rows, in sum; 0 where it keeps them.
    #[must_use]
    pub fn excess(&self) -> f64 {
        self.excess.sum
    }
    /// Its parameters; empty before the first look.
    #[must_use]
    pub fn params(&self) -> &[T] {
        &self.params
    }
    /// Everything of it but the rows.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let mut out = Vec::new();
        (self.keep && !self.params.is_empty()).write(&mut out);
        write_reals(&self.params, &mut out);
        (u64::from(self.keep) + WITH_EXCESS + WITH_NOISES).write(&mut out);
        self.valid.fingerprint().write(&mut out);
        self.metric.write(&mut out);
        self.patience.write(&mut out);
        [self.looked, self.since, self.last, self.step].write(&mut out);
        self.value.write(&mut out);
        self.excess.sum.write(&mut out);
        self.excess.noises.write(&mut out);
        self.least.write(&mut out);
        out
    }

    /// Goes on where [`save`](Self::save) was, with the run that it was saved with and the same validation rows.
    ///
    /// # Errors
    /// `Checkpoint` for damaged bytes and other rows; those of [`new`](Self::new).
    pub fn load<R: Run<T>>(
        bytes: &[u8],
        trainer: &Trainer<T, R>,
        valid: Arc<Dataset<T>>,
    ) -> Result<Self, TrainerError> {
        let mut from = Reader(bytes);
        let mut read = || {
            let (_, params, keep, data): (bool, _, u64, u64) =
                (from.value()?, from.bytes()?, from.value()?, from.value()?);
            let (metric, patience, counts): (String, _, [u64; 4]) = (from.value()?, from.value()?, from.value()?);
            let value: f64 = from.value()?;
            let sum = if keep & WITH_EXCESS != 0 { from.value()? } else { 0.0 };
            let (noises, least) =
                if keep & WITH_NOISES != 0 { (from.value()?, from.value()?) } else { (0.0, f64::INFINITY) };
            let excess = Excess { sum, noises };
            (keep < 2 * WITH_NOISES).then_some((params, keep, data, metric, patience, counts, (value, excess, least)))
        };
        let (saved, keep, data, metric, patience, [looked, since, last, step], (value, excess, least)) =
            read().ok_or(CheckpointError::Damaged)?;
        let new = Self::new(trainer, valid, &metric, patience)?;
        if data != new.valid.fingerprint() {
            return Err(CheckpointError::Mismatch("validation data set").into());
        }
        let mut params = vec![T::ZERO; saved.len() / T::BYTES];
        reals(saved, &mut params)?;
        let count = trainer.run.copy_params(&trainer.train).len();
        if !params.is_empty() && params.len() != count {
            return Err(CheckpointError::Mismatch("model").into());
        }
        let keep = !keep.is_multiple_of(WITH_EXCESS);
        Ok(Self { keep, looked, since, last, step, value, excess, least, params, ..new })
    }
}

/// The parameters to keep, of saved bytes; `None` where it is the run's last.
pub(super) fn best_params(bytes: &[u8]) -> Result<Option<&[u8]>, CheckpointError> {
    let mut from = Reader(bytes);
    let mut read = || Some((from.value::<bool>()?, from.bytes()?));
    let (keep, params) = read().ok_or(CheckpointError::Damaged)?;
    Ok(keep.then_some(params))
}
