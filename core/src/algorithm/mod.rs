//! Parameter space: one file per published algorithm.
//!
//! Algorithms do no work outside their own vectors. They are state machines: [`Algorithm::next`] says what is needed
//! (usually a gradient at one of the points), the host evaluates it in any way it likes, [`Algorithm::tell`] moves on.
//! So the same code serves the [`Trainer`](crate::trainer::Trainer), a page, a GPU, or somebody's own model.

mod adagrad;
mod adam;
mod lbfgs;
mod momentum;
mod oauc;
mod pesg;
mod pga;
mod ppd_adagrad;
mod ppd_sg;
mod schedule;
mod sgd;
mod stages;

pub use adagrad::Adagrad;
pub use adam::{Adam, AdamForm};
pub use lbfgs::Lbfgs;
pub use momentum::Momentum;
pub use oauc::Oauc;
pub use pesg::Pesg;
pub use pga::Pga;
pub use ppd_adagrad::{PpdAdagrad, StageLength};
pub use ppd_sg::PpdSg;
pub use schedule::{Schedule, Shape as ScheduleShape};
pub use sgd::Sgd;
pub use stages::Stages;

use crate::error::{Error, Result, all_finite, exact_len};
use crate::real::Real;

/// A parameter vector that an algorithm keeps: 0 the iterate, further ones as the algorithm documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point(pub u8);

/// Which rows an evaluation wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Draw {
    /// The next batch of a sampler.
    Fresh {
        /// Which sampler.
        sampler: u8,
    },
    /// The batch of the last request again.
    Again,
    /// Everything.
    All,
}

/// What an algorithm wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ask {
    /// Run the estimator at `at` (with scores at `previous`, if given) and back-propagate; answer with the gradient by
    /// parameters and auxiliaries, in that order.
    Gradient {
        /// Where.
        at: Point,
        /// Where the scores of the same rows are needed too.
        previous: Option<Point>,
        /// On which rows.
        draw: Draw,
    },
    /// Mean link score of each class over so many batches together, for dual resets; where there are several ascent
    /// variables, their best values given those means.
    ClassMeans {
        /// Where.
        at: Point,
        /// On which rows.
        draw: Draw,
        /// How many times `draw`.
        batches: u64,
    },
    /// A stage or a pass ended; `at` is the iterate to look at.
    Report {
        /// Which point.
        at: Point,
    },
    /// Nothing more to do.
    Done,
}

/// The host's answer to an [`Ask`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Answer<'a, T> {
    /// To `Ask::Gradient`.
    Gradient {
        /// The objective's estimate.
        value: f64,
        /// Gradient by parameters and auxiliaries.
        grad: &'a [T],
    },
    /// To `Ask::ClassMeans`.
    ClassMeans {
        /// Mean of the positives; `None` when there were none.
        positive: Option<T>,
        /// Mean of the negatives; `None` when there were none.
        negative: Option<T>,
    },
    /// To `Ask::ClassMeans` where there are several ascent variables, one for each ordered pair of classes.
    Duals {
        /// Their best values. For a pair (i, j): the mean of score i over class j less that over class i.
        alpha: &'a [T],
    },
    /// To `Ask::Report`.
    Continue,
}

/// An algorithm's memory, all of it the caller's.
#[derive(Debug)]
pub struct State<'a, T> {
    /// [`Algorithm::points`] vectors of parameters and auxiliaries, one after the other.
    pub points: &'a mut [T],
    /// Moments and the like, [`Algorithm::slots_len`] long.
    pub slots: &'a mut [T],
    /// Steps and stages, [`COUNTERS`] long.
    pub counters: &'a mut [u64],
}

/// Number of counters every algorithm's state has.
pub const COUNTERS: usize = 4;

/// A resumable algorithm. It holds configuration only; everything that changes is in the [`State`].
pub trait Algorithm<T: Real> {
    /// Vectors of parameters it keeps.
    fn points(&self) -> usize {
        1
    }
    /// The point to look at between steps: the best parameters so far, not a trial.
    fn iterate(&self) -> Point {
        Point(0)
    }
    /// Elements of `State::slots` for so many parameters and auxiliaries. They start at 0.
    fn slots_len(&self, params: usize) -> usize;
    /// What it wants next.
    fn next(&self, state: &State<'_, T>) -> Ask;
    /// Takes the answer to what `next` asked and moves.
    ///
    /// # Errors
    /// `Length`, `NonFinite` (gradient), `Overflow` (a parameter would become infinite). Nothing has changed then.
    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()>;
}

/// Every algorithm by value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnyAlgorithm {
    /// Stochastic gradient descent.
    Sgd(Sgd),
    /// With momentum.
    Momentum(Momentum),
    /// Adam and its forms.
    Adam(Adam),
    /// L-BFGS, over all data.
    #[cfg(feature = "every-method")]
    Lbfgs(Lbfgs),
    /// AdaGrad.
    Adagrad(Adagrad),
    /// Proximal primal-dual stochastic gradient.
    PpdSg(PpdSg),
    /// Proximal primal-dual AdaGrad.
    PpdAdagrad(PpdAdagrad),
    /// The proximally guided algorithm.
    Pga(Pga),
    /// Online AUC maximisation.
    Oauc(Oauc),
    /// Proximal epoch stochastic gradient.
    Pesg(Pesg),
}

#[cfg(feature = "alloc")]
impl AnyAlgorithm {
    /// Whether it has ended without having made a step.
    #[cfg_attr(not(feature = "every-method"), allow(unused_variables))]
    pub(crate) fn is_stuck(&self, counters: &[u64; COUNTERS]) -> bool {
        match self {
            #[cfg(feature = "every-method")]
            Self::Lbfgs(_) => Lbfgs::is_stuck(counters),
            _ => false,
        }
    }

    /// Whether restored counters can be of a run after so many steps.
    pub(crate) fn sound(&self, counters: &[u64; COUNTERS], steps: u64) -> bool {
        let [done, stage, inner, phase] = *counters;
        match self {
            #[cfg(feature = "every-method")]
            Self::Lbfgs(a) => done <= steps && a.sound(counters),
            // A stage takes a step or more.
            _ => done <= steps && stage <= done && inner <= done && phase <= ppd_sg::phase::REPORT,
        }
    }
}

macro_rules! each {
    ($any:expr, $a:ident => $body:expr) => {
        match $any {
            AnyAlgorithm::Sgd($a) => $body,
            AnyAlgorithm::Momentum($a) => $body,
            AnyAlgorithm::Adam($a) => $body,
            #[cfg(feature = "every-method")]
            AnyAlgorithm::Lbfgs($a) => $body,
            AnyAlgorithm::Adagrad($a) => $body,
            AnyAlgorithm::PpdSg($a) => $body,
            AnyAlgorithm::PpdAdagrad($a) => $body,
            AnyAlgorithm::Pga($a) => $body,
            AnyAlgorithm::Oauc($a) => $body,
            AnyAlgorithm::Pesg($a) => $body,
        }
    };
}

impl<T: Real> Algorithm<T> for AnyAlgorithm {
    fn points(&self) -> usize {
        each!(self, a => Algorithm::<T>::points(a))
    }
    fn iterate(&self) -> Point {
        each!(self, a => Algorithm::<T>::iterate(a))
    }
    fn slots_len(&self, params: usize) -> usize {
        each!(self, a => Algorithm::<T>::slots_len(a, params))
    }
    fn next(&self, state: &State<'_, T>) -> Ask {
        each!(self, a => a.next(state))
    }
    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        each!(self, a => a.tell(state, answer))
    }
}

/// The request of every plain first-order method: the gradient of a fresh batch at the iterate.
const FRESH_GRADIENT: Ask = Ask::Gradient { at: Point(0), previous: None, draw: Draw::Fresh { sampler: 0 } };

/// The gradient in an answer, `len` long, checked with the state's lengths.
fn gradient<'g, T: Real>(len: usize, state: &State<'_, T>, slots: usize, answer: Answer<'g, T>) -> Result<&'g [T]> {
    let Answer::Gradient { grad, .. } = answer else {
        return Err(Error::Param { what: "answer" });
    };
    exact_len("grad", len, grad.len())?;
    exact_len("slots", slots, state.slots.len())?;
    exact_len("counters", COUNTERS, state.counters.len())?;
    all_finite("grad", grad)?;
    Ok(grad)
}

/// x to a whole power by squaring, the same bits everywhere.
fn power(mut x: f64, mut n: u64) -> f64 {
    let mut y = 1.0;
    while n > 0 {
        if n & 1 == 1 {
            y *= x;
        }
        x *= x;
        n >>= 1;
    }
    y
}

/// A finite parameter in [low, high), or the error that names it.
fn in_range(what: &'static str, x: f64, low: f64, high: f64) -> Result<f64> {
    if x >= low && x < high { Ok(x) } else { Err(Error::Param { what }) }
}

#[cfg(test)]
mod tests {
    use super::{AnyAlgorithm, Schedule, Sgd};

    #[test]
    fn configurations_stay_small() {
        assert!(size_of::<AnyAlgorithm>() <= 96);
        assert!(Sgd::new(Schedule::constant(f64::NAN), 0.0).is_err());
    }
}
