//! One run on a graphics adapter.

use super::{Elsewhere, adapter, one_line};
use std::mem;
use std::time::Instant;
use undercurve::trainer::Trainer;
use undercurve_gpu::{Context, GpuError, MultiTrainer};

/// What steps are to take before the run is looked at again, for its bar and Ctrl-C; seconds.
const SLICE: f64 = 0.1;

/// A fleet of one.
pub struct Alone {
    /// (Between two calls the trainer is its owner's, and a copy in here.)
    fleet: MultiTrainer,
    name: String,
    /// The adapter that was asked for.
    asked: Option<String>,
    /// Steps of a slice.
    slice: u64,
    /// Whether its failure has been said.
    said: bool,
}

impl Alone {
    pub fn new(context: &Context, asked: Option<&str>, trainer: &Trainer<f32>) -> Result<Self, GpuError> {
        let fleet = MultiTrainer::new(context, vec![trainer.clone()])?;
        let (name, asked) = (context.name().to_string(), asked.map(str::to_string));
        Ok(Self { fleet, name, asked, slice: 1, said: false })
    }

    fn swap(&mut self, trainer: &mut Trainer<f32>) {
        self.fleet.sync().into_iter().for_each(|own| mem::swap(own, trainer));
    }
}

impl Elsewhere<f32> for Alone {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn advance(&mut self, trainer: &mut Trainer<f32>, most: u64) -> undercurve::Result<Option<f64>> {
        if trainer.is_done() {
            return Ok(None);
        }
        let clock = Instant::now();
        let steps = self.slice.min(most).max(1);
        self.swap(trainer);
        self.fleet.advance(steps);
        self.swap(trainer);
        let fit = steps as f64 * SLICE / clock.elapsed().as_secs_f64().max(1e-6);
        self.slice = (fit as u64).clamp(1, 4 * self.slice);
        match self.fleet.error(0) {
            Some(&error) => Err(error),
            None => trainer.value().map(Some),
        }
    }

    fn made(&self) -> u64 {
        self.fleet.made()
    }

    fn trouble(&mut self) -> Option<(String, bool)> {
        if self.said {
            return None;
        }
        let failure = self.fleet.failure()?;
        let why = one_line(&failure.to_string());
        let another = self.fleet.is_renewable().then(|| adapter(self.asked.as_deref()).ok()).flatten();
        match another {
            Some(context) => {
                self.fleet.renew(&context);
                self.name = context.name().to_string();
                Some((why, true))
            }
            None => {
                self.said = true;
                Some((why, false))
            }
        }
    }
}
