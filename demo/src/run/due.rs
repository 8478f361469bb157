//! When a run is reported on, saved and looked at.

use undercurve::Real;
use undercurve::trainer::Trainer;

/// When something is due: every so many steps, or whenever a twentieth of the run is done.
pub struct Due {
    every: Option<u64>,
    part: u64,
    at: u64,
    steps: u64,
}

impl Due {
    /// From where the run is.
    pub fn new<T: Real>(trainer: &Trainer<T>, every: Option<u64>) -> Self {
        let (at, end) = trainer.progress();
        Self { every, part: end.div_ceil(20).max(1), at, steps: trainer.steps_done() }
    }

    /// Whether it is, asked after every step. (A full gradient moves a run along without one.)
    pub fn is_now<T: Real>(&mut self, trainer: &Trainer<T>) -> bool {
        let before = std::mem::replace(&mut self.at, trainer.progress().0);
        let steps = std::mem::replace(&mut self.steps, trainer.steps_done());
        match self.every {
            Some(every) => self.steps > steps && self.steps.is_multiple_of(every),
            None => before / self.part != self.at / self.part,
        }
    }
}

/// The first step after so many at which a run is looked at: for a report, for the best model, at its end.
pub fn next_stop<T: Real>(trainer: &Trainer<T>, every: Option<u64>, done: u64) -> u64 {
    let (end, begin) = (trainer.total_steps(), trainer.pretraining_steps());
    let part = every.unwrap_or_else(|| end.div_ceil(20).max(1));
    let own = (end - begin).div_ceil(undercurve::trainer::LOOKS).max(1);
    let of_own = begin + done.checked_sub(begin).map_or(0, |done| (done / own + 1) * own);
    of_own.min((done / part + 1) * part).min(end)
}
