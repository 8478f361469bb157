//! Groups of rows and constraints on them: what the command line says of a run, as numbers.

use crate::failure::Failure;
#[cfg(feature = "groups")]
use crate::train::Options;
use crate::train::{Data, Trainer};
use alloc::format;
use alloc::string::String;
#[cfg(feature = "groups")]
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Display;
use undercurve::Error;
use undercurve::data::Dataset;
#[cfg(feature = "groups")]
use undercurve::expression::Bound;
use undercurve::expression::{Expression, Quantity};
use undercurve::judge::{JudgeError, Judged, Scored, Verdict};
use undercurve::metric::{Gap, Rate};
#[cfg(feature = "groups")]
use undercurve::{
    registry,
    trainer::{self, Given, Predictor},
};
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
impl Data {
    /// The same rows with the group number of each, and the names of the groups.
    #[wasm_bindgen(js_name = ofGroups)]
    pub fn of_groups(self, of: Vec<u32>, names: Vec<String>) -> Result<Self, Failure> {
        Ok(Self { train: Arc::new(Arc::unwrap_or_clone(self.train).with_groups(of, names)?), ..self })
    }

    /// Takes the rows of `held` as those that constraints call by this name.
    #[cfg(feature = "groups")]
    pub fn beside(&mut self, name: String, held: Data) {
        self.files.push((name, held.train));
    }
}

#[cfg(feature = "groups")]
impl Data {
    /// What a run is given.
    pub(crate) fn given(&self, start: Option<Predictor<f32>>) -> Given<f32> {
        Given { train: self.train.clone(), test: self.test.clone(), start, files: self.files.clone() }
    }
}

#[cfg(feature = "groups")]
#[wasm_bindgen]
impl Options {
    /// Adds a constraint, for methods that train under constraints.
    pub fn constraint(&mut self, text: &str) {
        self.config.constraints.push(text.to_string());
    }
    /// The objective of such a method: `auc`, `ce` or `cvar:SHARE`.
    pub fn objective(&mut self, text: &str) -> Result<(), Failure> {
        if let Some(method) = registry::method(&self.config.method) {
            self.config.settings.extend(trainer::objective(method, text)?);
        }
        Ok(())
    }
    /// Takes a preset: its method and settings, and its constraints where a run has none of its own.
    pub fn preset(&mut self, name: &str, bare: bool) -> Result<(), Failure> {
        let refuse = |text: &str| Failure::new(121, "method.preset", &format!("preset {name}: {text}"));
        let preset = registry::preset(name).ok_or_else(|| {
            let names: Vec<&str> = registry::PRESETS.iter().map(|preset| preset.name).collect();
            refuse(&format!("expected paper, {}", names.join(", ")))
        })?;
        if !self.config.method.is_empty() && self.config.method != preset.method {
            return Err(refuse(&format!("is of the method {}", preset.method)));
        }
        if let (Some(wants), true) = (preset.wants, bare) {
            return Err(refuse(&format!("needs what it is for, as in constraints: [\"{wants}\"]")));
        }
        self.config.method = preset.method.into();
        preset.settings.iter().for_each(|(name, value)| self.set(name, value));
        let own = preset.constraints.as_slice().iter().filter(|_| bare);
        self.config.constraints.extend(own.map(|constraint| Expression::of(constraint, &[]).to_string()));
        Ok(())
    }
    /// Whether this needs groups.
    #[wasm_bindgen(getter, js_name = needsGroups)]
    pub fn needs_groups(&self) -> bool {
        self.config.needs_groups()
    }
}

/// The entry for an absent value in an array of numbers.
fn or_nan(value: Option<f64>) -> f64 {
    value.unwrap_or(f64::NAN)
}

#[cfg(feature = "groups")]
#[wasm_bindgen]
impl Trainer {
    /// The constraints of the run: the given ones, or the defaults of its method.
    pub fn constraints(&self) -> Vec<String> {
        self.watch.constraints().iter().map(ToString::to_string).collect()
    }

    /// Of each constraint of the run: its tracked value, its weight and the largest that this may be; the share of the last
    /// quarter so far in which it weighed that much and was violated, and whether it is in conflict. Unknown values are NaN.
    pub fn tracked(&mut self) -> Result<Vec<f64>, Failure> {
        let rows = self.scored(false)?;
        let mut out = Vec::new();
        for (at, tracked) in self.watch.tracked(&self.inner).into_iter().enumerate() {
            let judged = self.judged(&self.watch.constraints()[at].clone(), &rows, false)?;
            let of = |number: fn(trainer::Tracked) -> f64| or_nan(tracked.map(number));
            out.extend([of(|of| of.value), of(|of| of.dual), of(|of| of.bound)]);
            let conflict = judged.is_some_and(|judged| self.watch.conflict(at, &judged));
            out.extend([or_nan(self.watch.at_bound(at)), f64::from(u8::from(conflict))]);
        }
        Ok(out)
    }
}

#[wasm_bindgen]
impl Trainer {
    /// Of each constraint on the training rows, or on the held-out rows: 0 where it is met, 1 where it is not, 2 where that
    /// cannot be told; exact value (NaN without rows), bound and noise; of a gap the numbers of its groups (else −1); rows, of
    /// a gap those of both groups. Rates are from score 0. Of a constraint on rows that train, 3 and zeros on the held-out rows.
    pub fn judge(&mut self, texts: Vec<String>, held: bool) -> Result<Vec<f64>, Failure> {
        let rows = self.scored(held)?;
        let mut out = Vec::new();
        for text in &texts {
            let refuse = |why: &dyn Display| Failure::new(141, "judge", &format!("constraint \"{text}\": {why}"));
            let constraint = Expression::parse(text).map_err(|error| refuse(&error))?;
            let judged = self.judged(&constraint, &rows, held).map_err(|error| refuse(&error))?;
            let Some(judged) = judged else {
                out.extend([3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
                continue;
            };
            let verdict = match judged.verdict {
                Verdict::Met => 0.0,
                Verdict::NotMet => 1.0,
                Verdict::CannotTell => 2.0,
            };
            let [a, b] = judged.groups.map_or([-1.0; 2], |groups| groups.map(f64::from));
            let [m, n] = judged.rows.map(|rows| rows as f64);
            out.extend([verdict, or_nan(judged.value), judged.bound, judged.noise, a, b, m, n]);
        }
        Ok(out)
    }

    /// The training rows, or the held-out rows, by group. First the largest gap of the false-positive rates and that of the
    /// true-positive rates: value, noise, numbers of its groups, rows of each and threshold, all NaN where there are not two
    /// groups with such rows. Then of each group its rows, positives, AUROC, mean logistic loss, and from score 0 accuracy,
    /// true- and false-positive rate, NaN where there are no such rows.
    pub fn groups(&mut self, held: bool) -> Result<Vec<f64>, Failure> {
        let (data, scores) = self.scored(held)?;
        let (of, count) = (data.group_of(), data.groups());
        let mut out = Vec::new();
        for rate in [Rate::Fpr, Rate::Tpr] {
            let gaps = self.metrics.gaps(&scores, data.labels(), of, count, rate, None)?;
            match Gap::worst(&gaps) {
                Some(Gap { groups: [a, b], rows: [m, n], value, noise, threshold, .. }) => {
                    out.extend([value, noise, a.into(), b.into(), m as f64, n as f64, threshold]);
                }
                None => out.extend([f64::NAN; 7]),
            }
        }
        for group in self.metrics.groups(&scores, data.labels(), of, count, 0.0)? {
            let counts = group.counts;
            out.extend([counts.total() as f64, counts.positives() as f64, or_nan(group.auroc), or_nan(group.loss)]);
            out.extend([counts.accuracy(), counts.tpr(), counts.fpr()].map(or_nan));
        }
        Ok(out)
    }
}

/// Rows with their scores.
type Scores = (Arc<Dataset<f32>>, Vec<f32>);

impl Trainer {
    /// The training rows, or the held-out rows, with their scores.
    fn scored(&mut self, held: bool) -> Result<Scores, Failure> {
        if held {
            return Ok((self.refresh()?, self.scores.clone()));
        }
        let data = self.inner.train_data().clone();
        let mut scores = vec![0.0; data.len()];
        self.inner.score(data.rows(), &mut scores)?;
        Ok((data, scores))
    }

    /// A constraint on rows with their scores, or on those of the file that it names, which train; nothing of these where `held`.
    fn judged(&mut self, constraint: &Expression, rows: &Scores, held: bool) -> Result<Option<Judged>, JudgeError> {
        let file = if let Quantity::LossOn { file } = &constraint.quantity { Some(file) } else { None };
        if held && file.is_some() {
            return Ok(None);
        }
        let named = file.map(|file| self.named(file)).transpose()?;
        let (data, scores) = named.as_ref().unwrap_or(rows);
        let old = self.old(constraint, data)?;
        let (labels, group_of, group_names) = (data.labels(), data.group_of(), data.group_names());
        let scored = Scored { scores, labels, group_of, group_names, old: &old };
        constraint.judge(&scored, 0.0, &mut self.metrics).map(Some)
    }
}

#[cfg(feature = "groups")]
impl Trainer {
    /// The rows of a file, with their scores.
    fn named(&mut self, file: &str) -> Result<Scores, JudgeError> {
        let named = self.inner.files().iter().find(|(name, _)| name == file).map(|(_, rows)| rows.clone());
        let data = named.ok_or(Error::Empty { what: "files" })?;
        let mut scores = vec![0.0; data.len()];
        self.inner.score(data.rows(), &mut scores)?;
        Ok((data, scores))
    }

    /// The scores of the model that the run began at, where a constraint asks for them.
    fn old(&self, constraint: &Expression, data: &Dataset<f32>) -> Result<Vec<f32>, JudgeError> {
        let (Bound::Old(_), Some(start)) = (constraint.bound, self.inner.start()) else { return Ok(Vec::new()) };
        let mut scores = vec![0.0; data.len()];
        start.clone().score(data.rows(), &mut scores)?;
        Ok(scores)
    }
}

/// (The other modules are given neither.)
#[cfg(not(feature = "groups"))]
impl Trainer {
    fn named(&mut self, _: &str) -> Result<Scores, JudgeError> {
        Err(Error::Empty { what: "files" }.into())
    }

    fn old(&self, _: &Expression, _: &Dataset<f32>) -> Result<Vec<f32>, JudgeError> {
        Ok(Vec::new())
    }
}
