//! What a search tells people, and the finished trainings that a file keeps.

use crate::args::data::DataPlan;
use crate::error::{CliError, Result};
use crate::run::store::Store;
use crate::{output, tell};
use indicatif::ProgressBar;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use undercurve::data::{Dataset, Preparation};
use undercurve_search::{Error, Watch};

/// A finished training.
#[derive(Clone, Serialize, Deserialize)]
struct Finished {
    value: f64,
    seconds: f64,
}

/// Shows how far a search is.
pub struct Desk {
    store: Store<Finished>,
    bar: Mutex<ProgressBar>,
}

impl Desk {
    /// With a file of finished trainings, if there is one.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn new(file: Option<&Path>) -> Result<Self> {
        Ok(Self { store: Store::open(file)?, bar: Mutex::new(ProgressBar::hidden()) })
    }

    fn bar(&self) -> ProgressBar {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Watch for Desk {
    fn begin(&self, all: usize, known: usize) {
        let bar = tell::bar(all as u64, "{bar:30} {pos}/{len} trainings  {msg}  {eta} left");
        bar.inc(known as u64);
        bar.reset_eta();
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = bar;
    }

    fn train(&self, name: &str) {
        self.bar().set_message(name.to_string());
    }

    fn trained(&self) {
        self.bar().inc(1);
    }

    fn end(&self) {
        self.bar().finish_and_clear();
    }

    fn note(&self, text: std::fmt::Arguments<'_>) {
        self.bar().suspend(|| output::note(text));
    }

    fn known(&self, name: &str) -> Option<(f64, f64)> {
        self.store.get(name).map(|one| (one.value, one.seconds))
    }

    fn keep(&self, name: &str, value: f64, seconds: f64) -> Result<(), String> {
        self.store.put(name.to_string(), Finished { value, seconds }).map_err(|error| match error {
            CliError::Input(text) => text,
            error => format!("{error:?}"),
        })
    }
}

/// The weights of classes that were said, for a search.
pub fn class_weights(
    plan: &DataPlan,
) -> impl Fn(&Preparation, &Dataset<f32>) -> undercurve_search::Result<Vec<f64>> + Sync + '_ {
    |of, train| match plan.class_weights(of, train) {
        Ok(weights) => Ok(weights),
        Err(CliError::Input(text)) => Err(Error::Input(text)),
        Err(error) => Err(Error::Input(format!("{error:?}"))),
    }
}
