//! The constraint monitor of a run: tracked values and multipliers now, and over its last quarter.

use super::Trainer;
use crate::expression::Expression;
use crate::judge::{Judged, Verdict};
use crate::real::Real;
use alloc::vec;
use alloc::vec::Vec;

/// Looks in the last quarter of a run, about.
const LOOKS: u64 = 1000;

/// What a run knows of a constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tracked {
    /// The largest of its functions, at most 0 where it holds on the tracked values.
    pub value: f64,
    /// The largest of their weights.
    pub dual: f64,
    /// The largest that a weight may be: ρ, or infinity.
    pub bound: f64,
}

/// Stands beside a trainer and sees which constraints are in conflict with the others or with the objective: those whose weight
/// is as large as it may be while they pass their bounds still (not only what training aims at), in most of the last quarter of
/// the run.
///
/// ```
/// use undercurve::data::Dataset;
/// use undercurve::trainer::{Config, Trainer, Watch};
///
/// let data = Dataset::dense(vec![0.1, 0.9, 0.3, 0.2], vec![0, 1, 0, 1], 1)?;
/// let config = Config { method: "lagrange".into(), constraints: vec!["recall >= 0.8".into()], ..Config::default() };
/// let mut trainer = Trainer::<f32>::new(&config, data.into(), None)?;
/// let mut watch = Watch::new(&trainer);
/// while trainer.step()?.is_some() {
///     watch.look(&trainer);
/// }
/// let tracked = watch.tracked(&trainer)[0].unwrap();
/// assert!((0.0..=tracked.bound).contains(&tracked.dual)); // what the constraint weighs at the end
/// assert!(watch.at_bound(0).is_some_and(|share| share <= 1.0)); // how long it weighed all that it may
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Watch {
    constraints: Vec<Expression>,
    looks: u64,
    /// Of each function the constraint, and how often it was violated with its weight at the bound.
    stuck: Vec<(usize, u64)>,
}

impl Watch {
    /// Of what a run trains under. (What a resumed run did before is not known.)
    #[must_use]
    pub fn new<T: Real>(trainer: &Trainer<T>) -> Self {
        Self { constraints: trainer.constraints(), looks: 0, stuck: Vec::new() }
    }

    /// What the run trains under.
    #[must_use]
    pub fn constraints(&self) -> &[Expression] {
        &self.constraints
    }

    /// To be called after every step. O(functions) about a thousand times in the last quarter of the run, else nothing.
    pub fn look<T: Real>(&mut self, trainer: &Trainer<T>) {
        let (done, all) = (trainer.steps_done(), trainer.total_steps());
        let quarter = all.div_ceil(4);
        if self.constraints.is_empty() || done + quarter <= all || !done.is_multiple_of((quarter / LOOKS).max(1)) {
            return;
        }
        self.looks += 1;
        let functions = trainer.constraint_functions();
        self.stuck.resize(functions.len(), (0, 0));
        for (function, stuck) in functions.iter().zip(&mut self.stuck) {
            // (Within the rounding of f32.)
            let at_bound = function.excess > 0.0 && function.bound > 0.0 && function.dual >= 0.999 * function.bound;
            *stuck = (function.constraint, stuck.1 + u64::from(at_bound));
        }
    }

    /// What the run knows of each constraint, now; of none before the method's own steps. O(functions).
    #[must_use]
    pub fn tracked<T: Real>(&self, trainer: &Trainer<T>) -> Vec<Option<Tracked>> {
        let mut out: Vec<Option<Tracked>> = vec![None; self.constraints.len()];
        for function in trainer.constraint_functions() {
            let of = Tracked { value: function.value, dual: function.dual, bound: function.bound };
            // (NaN is the value of a function that has a cell without rows.)
            let larger = |a: f64, b: f64| if b > a || a.is_nan() { b } else { a };
            let tracked = &mut out[function.constraint];
            *tracked = Some(tracked.map_or(of, |before| Tracked {
                value: larger(before.value, of.value),
                dual: larger(before.dual, of.dual),
                bound: of.bound,
            }));
        }
        out
    }

    /// The share of the looks at which one function of a constraint could weigh no more and was violated still; `None` before
    /// the last quarter.
    #[must_use]
    pub fn at_bound(&self, at: usize) -> Option<f64> {
        let of = self.stuck.iter().filter(|(constraint, _)| *constraint == at).map(|(_, count)| *count);
        (self.looks > 0).then(|| of.max().unwrap_or(0) as f64 / self.looks as f64)
    }

    /// Whether a constraint is in conflict, with what is said of it on the training rows: a batch is noisy, and where these do
    /// not say, beyond their noise, that it is not met, there is no conflict.
    #[must_use]
    pub fn conflict(&self, at: usize, train: &Judged) -> bool {
        self.at_bound(at).is_some_and(|share| share > 0.5) && train.verdict == Verdict::NotMet
    }
}
