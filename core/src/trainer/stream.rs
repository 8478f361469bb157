//! Runs on rows that come and go: a part of more rows than fit in memory.

use super::{Config, Trainer, TrainerError};
use crate::algorithm::Algorithm;
use crate::data::{Dataset, Targets};
use crate::error::{Error, Result};
use crate::estimator::Estimator;
use crate::real::Real;
use crate::registry::{Kind, METHODS, Method};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Whether a method, by its defaults, looks at so many rows of each class a step, and keeps nothing of single rows.
fn streams(method: &Method) -> bool {
    let of = || {
        let (estimator, algorithm) = method.parts(&method.settings(&[]).ok()?).ok()?;
        let state = Estimator::<f32>::state_len(&estimator, 1);
        Some(state == 0 && !Algorithm::<f32>::draws_all(&algorithm))
    };
    method.kind == Kind::Batches && of().unwrap_or(false)
}

/// The methods of [`Trainer::of_stream`].
pub fn stream_methods() -> Vec<&'static Method> {
    METHODS.iter().filter(|method| streams(method)).collect()
}

impl<T: Real> Trainer<T> {
    /// A run on some of `population` rows, negatives and positives, of which others [take the place](Self::replace) of these as they come.
    /// Estimates are those of all: a class counts as its share of the population, whatever its share of these rows, and defaults and
    /// passes are those of so many rows. A [`report`](Self::report) is of these rows.
    ///
    /// Batches are stratified, and the method keeps no state of single rows ([`stream_methods`]).
    ///
    /// ```
    /// use std::sync::Arc;
    /// use undercurve::data::Dataset;
    /// use undercurve::trainer::{Config, Length, Trainer};
    ///
    /// let some = Arc::new(Dataset::dense(vec![0.1f32, 0.9, 0.3, 0.2], vec![0, 1, 0, 0], 1)?);
    /// let config = Config { method: "ce".into(), length: Length::Steps(500), ..Config::default() };
    /// let mut trainer = Trainer::of_stream(&config, some, [9_000, 1_000])?;
    /// while trainer.step()?.is_some() {
    ///     trainer.replace(1, &[0.8])?; // another positive
    /// }
    /// assert!(trainer.params()[0] > 0.0);
    /// let soap = Config { method: "soap".into(), ..config };
    /// assert!(Trainer::of_stream(&soap, trainer.train_data().clone(), [9_000, 1_000]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new); `Config` for other methods, uniform batches, and rows that are sparse, weighted or not of two classes.
    pub fn of_stream(config: &Config, rows: Arc<Dataset<T>>, population: [u32; 2]) -> Result<Self, TrainerError> {
        let refuse = |text| Err(TrainerError::Config(text));
        if !matches!(rows.targets(), Targets::Binary(_)) || !rows.weights().is_empty() || rows.groups() > 1 {
            return refuse("rows that come and go are of two classes, without weights and groups".into());
        }
        let sizes = rows.class_sizes();
        if sizes.iter().zip(population).any(|(&rows, all)| rows > all) {
            return Err(Error::Param { what: "population" }.into());
        }
        let method = super::method_for(config, &rows)?;
        if !streams(method) {
            let names: Vec<&str> = stream_methods().iter().map(|method| method.name).collect();
            let why = match method.kind {
                Kind::Batches => "keeps a state of single rows",
                Kind::Cells => "is of groups",
                Kind::Whole | Kind::FiniteSum => "looks at all rows",
            };
            let names = super::config::listed(&names);
            return refuse(format!("method {} {why}; rows that come and go are for {names}", method.name));
        }
        if config.settings.iter().any(|(name, value)| name == "sampling" && value == "uniform") {
            return refuse("sampling=uniform: rows that come and go are drawn by class (sampling=stratified)".into());
        }
        if !config.class_weights.is_empty() {
            return refuse("class_weights: not for rows that come and go".into());
        }
        Self::new(config, Arc::new(Arc::unwrap_or_clone(rows).standing_for(population)), None)
    }

    /// Rows of each class, negatives and positives, that a pass has.
    #[must_use]
    pub fn population(&self) -> [u32; 2] {
        let sizes = self.train.class_sizes();
        self.train.stands_for().unwrap_or_else(|| [0, 1].map(|at| sizes.get(at).copied().unwrap_or(0)))
    }

    /// Puts the features of another row in the place of one with the same label.
    ///
    /// # Errors
    /// `Length`, `NonFinite`, `Index`; `Unsupported` for sparse rows.
    pub fn replace(&mut self, row: usize, features: &[T]) -> Result<()> {
        Arc::make_mut(&mut self.train).replace(row, features)
    }
}
