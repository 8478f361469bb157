//! Parameter space: one file per published algorithm.
//!
//! An algorithm is a state machine over its own vectors. [`Algorithm::next`] says what it needs (usually a gradient at one of its
//! points), the host computes that in any way it likes, and [`Algorithm::tell`] takes the answer and moves on. So the same
//! code serves the [`Trainer`](crate::trainer::Trainer), a page, a GPU, or a model of your own.

mod adagrad;
mod adam;
mod agd;
mod alexr2;
mod cutting_plane;
mod dca;
mod icppac;
mod lagrange;
mod lbfgs;
mod momentum;
mod msvr;
mod oauc;
mod ooa;
mod pesg;
mod pga;
mod ppd_adagrad;
mod ppd_sg;
mod schedule;
mod sgd;
mod sonex;
mod stages;
mod step_rule;

pub use adagrad::Adagrad;
pub use adam::{Adam, AdamForm, AdamSettings};
pub use agd::AgdSbcd;
pub(crate) use agd::MOST_RELAX;
pub use alexr2::Alexr2;
pub use cutting_plane::CuttingPlane;
pub use dca::Dca;
pub use icppac::Icppac;
pub use lagrange::Lagrange;
pub use lbfgs::Lbfgs;
pub use momentum::Momentum;
pub use msvr::Msvr;
pub use oauc::Oauc;
pub use ooa::Ooa;
pub use pesg::Pesg;
pub use pga::Pga;
pub use ppd_adagrad::{PpdAdagrad, StageLength};
pub use ppd_sg::PpdSg;
pub use schedule::{Schedule, Shape as ScheduleShape};
pub use sgd::Sgd;
pub use sonex::Sonex;
pub use stages::Stages;
pub use step_rule::StepRule;

use crate::device::Recipe;
use crate::error::{Error, Result, all_finite, exact_len};
use crate::real::Real;
use crate::registry::entry::Optimizer;
use crate::registry::settings::Settings;

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
    /// All rows.
    All,
}

/// What an evaluation is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Want {
    /// Move the estimator's state; no gradient. The answer is [`Answer::Continue`].
    Track,
    /// The gradient, the state as it is.
    Gradient,
    /// Both, as [`Estimator::update`](crate::estimator::Estimator::update).
    Both,
}

/// What an algorithm wants next.
///
/// A host answers an ask fully or with [`Error::Unsupported`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Ask {
    /// Run the estimator on a term of the objective; unless only its state is to be tracked, back-propagate and answer with
    /// the gradient by parameters and auxiliaries, in that order. Each such answer is a step of the run, so an algorithm
    /// that asks for two terms in turn has two steps, and rows drawn once and evaluated twice count twice.
    Evaluate {
        /// Which term of the objective; 0 where there is one.
        term: u8,
        /// The point of the evaluation.
        at: Point,
        /// Where the scores of the same rows are needed too ([`Batch::previous`](crate::batch::Batch::previous)).
        previous: Option<Point>,
        /// On which rows.
        draw: Draw,
        /// Weight of new values in the estimator's state; `None` for the estimator's own.
        rate: Option<f64>,
        /// What it is to do.
        want: Want,
    },
    /// A new inner problem begins on a term: [`Estimator::turn`](crate::estimator::Estimator::turn). The answer is
    /// [`Answer::Continue`].
    Turn {
        /// Which term.
        term: u8,
    },
    /// Mean link score of each class over so many batches together, for dual resets; where there are several ascent
    /// variables, their best values given those means.
    ClassMeans {
        /// The point of the evaluation.
        at: Point,
        /// On which rows.
        draw: Draw,
        /// How many times `draw`.
        batches: u64,
    },
    /// A stage or a pass ended; `at` is the iterate to look at. The answer is [`Answer::Continue`].
    Report {
        /// Which point.
        at: Point,
    },
    /// Nothing more to do.
    Done,
}

impl Ask {
    /// The gradient of the whole objective at a point, with its state tracked.
    #[must_use]
    pub const fn gradient(at: Point, draw: Draw) -> Self {
        Self::Evaluate { term: 0, at, previous: None, draw, rate: None, want: Want::Both }
    }
}

/// The host's answer to an [`Ask`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Answer<'a, T> {
    /// To `Ask::Evaluate`, where a gradient is wanted.
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
    /// To `Ask::Report`, `Ask::Turn` and `Want::Track`.
    Continue,
}

impl<T> Answer<'_, T> {
    /// The value that comes with a gradient; NaN of others.
    fn value(&self) -> f64 {
        if let Self::Gradient { value, .. } = *self { value } else { f64::NAN }
    }
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
    /// Batches that it draws for a step, which is an answer with a gradient: what a run of so many passes is counted by.
    fn batches(&self) -> u64 {
        1
    }
    /// Whether it may ask for [`Draw::All`]: hosts then keep memory for all rows.
    fn draws_all(&self) -> bool {
        false
    }
    /// Whether restored counters can be its own after so many steps; what it says no to is refused as damaged.
    fn sound(&self, _counters: &[u64], _steps: u64) -> bool {
        true
    }
    /// Whether it has ended without having made a step.
    fn is_stuck(&self, _counters: &[u64]) -> bool {
        false
    }
    /// The norm of the gradient at the iterate over that of the first, of one that keeps both in its slots.
    fn remaining(&self, _slots: &[T]) -> Option<f64> {
        None
    }
    /// The radius of a ball that it projects the iterate onto, and how many entries, the last ones, are not in it; `None`
    /// without one.
    fn ball(&self) -> Option<(f64, usize)> {
        None
    }
    /// Elements of `State::slots` for so many parameters and auxiliaries. They start at 0.
    fn slots_len(&self, params: usize) -> usize;
    /// What it wants next; where the counters say [`Ask::Done`], from them alone: hosts ask with empty points and slots, too.
    fn next(&self, state: &State<'_, T>) -> Ask;
    /// Takes the answer to what `next` asked and moves.
    ///
    /// # Errors
    /// `Length`, `NonFinite` (gradient), `Overflow` (a parameter would become infinite). Nothing has changed then.
    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()>;
    /// What a kernel elsewhere needs to know of it; `None` where it cannot be computed by one. A plain step there is: a fresh
    /// batch, its gradient at the iterate, and the move.
    fn recipe(&self) -> Option<Recipe> {
        None
    }
    /// Two numbers of each of the next steps, as its recipe wants them; moves the counters past those steps. Returns how many:
    /// fewer than `out` is long where something else is to be done first, which [`next`](Self::next) asks for.
    fn pace(&self, _counters: &mut [u64], _out: &mut [[f64; 2]]) -> usize {
        0
    }
}

/// [`Algorithm::pace`] of a rule whose steps are all alike: `of` the number of the step.
fn even_pace(counters: &mut [u64], out: &mut [[f64; 2]], of: impl Fn(u64) -> [f64; 2]) -> usize {
    for out in &mut *out {
        *out = of(counters[0]);
        counters[0] = counters[0].saturating_add(1);
    }
    out.len()
}

/// What makes a step rule of settings, where so many of the last entries are maximised over.
type Of<A> = fn(&Settings<'_>, usize) -> Result<A>;

/// The list of algorithms, and what follows from it: step rules that any estimator may run on, by their entries, and those that
/// are part of one method, by name; then those of builds with a feature, rules and others. Each with what makes it of settings, and
/// of how many of the last entries are maximised over.
macro_rules! algorithms {
    (
        $d:tt
        rules { $($Rule:ident($RuleType:ident) $rule_about:literal {
            $($rule:path => $rule_make:expr),*
        })* }
        own { $($Own:ident($OwnType:ident) $own_about:literal {
            $($own:literal => $own_make:expr),*
        })* }
        $rule_feature:literal rules { $($EveryRule:ident($EveryRuleType:ident) $every_rule_about:literal {
            $($every_rule:path => $every_rule_make:expr),*
        })* }
        $($feature:literal own { $($Every:ident($EveryType:ident) $every_about:literal {
            $($every:literal => $every_make:expr),*
        })* })*
    ) => {
        /// Every algorithm by value.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum AnyAlgorithm {
            $(#[doc = $rule_about] $Rule($RuleType),)*
            $(#[doc = $own_about] $Own($OwnType),)*
            $(#[cfg(feature = $rule_feature)] #[doc = $every_rule_about] $EveryRule($EveryRuleType),)*
            $($(#[cfg(feature = $feature)] #[doc = $every_about] $Every($EveryType),)*)*
        }

        /// The same for whichever it is.
        macro_rules! each {
            ($d any:expr, $d a:ident => $d body:expr) => {
                match $d any {
                    $(AnyAlgorithm::$Rule($d a) => $d body,)*
                    $(AnyAlgorithm::$Own($d a) => $d body,)*
                    $(#[cfg(feature = $rule_feature)]
                    AnyAlgorithm::$EveryRule($d a) => $d body,)*
                    $($(#[cfg(feature = $feature)]
                    AnyAlgorithm::$Every($d a) => $d body,)*)*
                }
            };
        }

        /// Every step rule.
        pub static OPTIMIZERS: &[Optimizer] = &[$($($rule,)*)* $($($every_rule,)*)*];
        /// The names of those that go over batches.
        pub(crate) const OPTIMIZER_NAMES: &[&str] = &[$($($rule.name,)*)*];
        /// What makes each.
        const MAKE: &[(&str, Of<AnyAlgorithm>)] = &[
            $($(($rule.name, |s, ascent| Ok(AnyAlgorithm::$Rule(($rule_make as Of<$RuleType>)(s, ascent)?))),)*)*
            $($(($own, |s, ascent| Ok(AnyAlgorithm::$Own(($own_make as Of<$OwnType>)(s, ascent)?))),)*)*
            $($(#[cfg(feature = $rule_feature)]
            ($every_rule.name, |s, ascent| Ok(AnyAlgorithm::$EveryRule(($every_rule_make as Of<$EveryRuleType>)(s, ascent)?))),)*)*
            $($($(#[cfg(feature = $feature)]
            ($every, |s, ascent| Ok(AnyAlgorithm::$Every(($every_make as Of<$EveryType>)(s, ascent)?))),)*)*)*
        ];
    };
}

algorithms! {
    $
    rules {
        Sgd(Sgd) "Stochastic gradient descent." { sgd::ENTRY => |s, _| Sgd::from_settings(s) }
        Momentum(Momentum) "With momentum." { momentum::ENTRY => |s, _| Momentum::from_settings(s) }
        Adam(Adam) "Adam and its forms." {
            adam::ENTRY => |s, _| Adam::from_settings(s, AdamForm::Corrected),
            adam::PLAIN => |s, _| Adam::from_settings(s, AdamForm::Plain),
            adam::AMSGRAD => |s, _| Adam::from_settings(s, AdamForm::AmsGrad)
        }
        Adagrad(Adagrad) "AdaGrad." { adagrad::ENTRY => |s, _| Adagrad::from_settings(s) }
    }
    own {
        PpdSg(PpdSg) "Proximal primal-dual stochastic gradient." { "ppd-sg" => PpdSg::from_settings }
        PpdAdagrad(PpdAdagrad) "Proximal primal-dual AdaGrad." { "ppd-adagrad" => PpdAdagrad::from_settings }
        Pga(Pga) "The proximally guided algorithm." { "pga" => Pga::from_settings }
        Oauc(Oauc) "Online AUC maximisation." { "oauc" => Oauc::from_settings }
        Pesg(Pesg) "Proximal epoch stochastic gradient." { "pesg" => Pesg::from_settings }
    }
    "exact-methods" rules {
        Lbfgs(Lbfgs) "L-BFGS, over all data." { lbfgs::ENTRY => |s, _| Lbfgs::from_settings(s) }
    }
    "term-methods" own {
        AgdSbcd(AgdSbcd) "Approximate gradient descent on Moreau envelopes." { "agd-sbcd" => |s, _| AgdSbcd::from_settings(s) }
        Dca(Dca) "Descent on a difference of convex functions." { "dca" => |s, _| Dca::from_settings(s) }
    }
    "group-methods" own {
        Sonex(Sonex) "Steps with scores at two points." { "sonex" => |s, _| Sonex::from_settings(s) }
        Alexr2(Alexr2) "A double loop around proximal points." { "alexr2" => |s, _| Alexr2::from_settings(s) }
        Msvr(Msvr) "Steps along a running gradient that each batch corrects." { "msvr" => |s, _| Msvr::from_settings(s) }
        Lagrange(Lagrange) "Projected ascent on multipliers." { "lagrange" => Lagrange::from_settings }
        Icppac(Icppac) "Proximal points by constraint extrapolation." { "icppac" => Icppac::from_settings }
        Ooa(Ooa) "Mirror ascent on weights of groups." { "ooa" => Ooa::from_settings }
    }
    "range-methods" own {
        CuttingPlane(CuttingPlane) "The cutting-plane method, over all data." { "cutting-plane" => |s, _| CuttingPlane::from_settings(s) }
    }
}

// (What is not said here would be the trait's default, whatever the algorithm says.)
#[deny(clippy::missing_trait_methods)]
impl<T: Real> Algorithm<T> for AnyAlgorithm {
    fn points(&self) -> usize {
        each!(self, a => Algorithm::<T>::points(a))
    }
    fn iterate(&self) -> Point {
        each!(self, a => Algorithm::<T>::iterate(a))
    }
    fn batches(&self) -> u64 {
        each!(self, a => Algorithm::<T>::batches(a))
    }
    fn draws_all(&self) -> bool {
        each!(self, a => Algorithm::<T>::draws_all(a))
    }
    fn sound(&self, counters: &[u64], steps: u64) -> bool {
        each!(self, a => Algorithm::<T>::sound(a, counters, steps))
    }
    fn is_stuck(&self, counters: &[u64]) -> bool {
        each!(self, a => Algorithm::<T>::is_stuck(a, counters))
    }
    fn remaining(&self, slots: &[T]) -> Option<f64> {
        each!(self, a => Algorithm::<T>::remaining(a, slots))
    }
    fn ball(&self) -> Option<(f64, usize)> {
        each!(self, a => Algorithm::<T>::ball(a))
    }
    fn slots_len(&self, params: usize) -> usize {
        each!(self, a => Algorithm::<T>::slots_len(a, params))
    }
    fn next(&self, state: &State<'_, T>) -> Ask {
        each!(self, a => Algorithm::<T>::next(a, state))
    }
    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        each!(self, a => Algorithm::<T>::tell(a, state, answer))
    }
    fn recipe(&self) -> Option<Recipe> {
        each!(self, a => Algorithm::<T>::recipe(a))
    }
    fn pace(&self, counters: &mut [u64], out: &mut [[f64; 2]]) -> usize {
        each!(self, a => Algorithm::<T>::pace(a, counters, out))
    }
}

/// Whether counters are steps, stages, steps in the stage and phase of a run after so many steps: a stage takes one or more.
fn counted(counters: &[u64], steps: u64) -> bool {
    matches!(*counters, [done, stage, inner, phase]
        if done <= steps && stage <= done && inner <= done && phase <= stages::phase::REPORT)
}

/// The step rule that settings name, where so many of the last entries are maximised over.
///
/// # Errors
/// `Param`.
pub(crate) fn from_settings(settings: &Settings<'_>, ascent: usize) -> Result<AnyAlgorithm> {
    let name = settings.word("optimizer")?;
    let (_, make) = MAKE.iter().find(|rule| rule.0 == name).ok_or(Error::Param { what: "optimizer" })?;
    make(settings, ascent)
}

/// The point that settings want to be looked at between steps.
fn answer(settings: &Settings<'_>) -> Point {
    Point(match settings.text("answer") {
        Some("mean") => 1,
        Some("stage") => 2,
        _ => 0,
    })
}

/// The request of every plain first-order method: the gradient of a fresh batch at the iterate.
const FRESH_GRADIENT: Ask = Ask::gradient(Point(0), Draw::Fresh { sampler: 0 });

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

/// The factor that brings a vector with these entries into the ball.
fn shrink<T: Real>(radius: f64, entries: impl Iterator<Item = T>) -> T {
    if radius == f64::INFINITY {
        return T::ONE;
    }
    let mut square = 0.0;
    for x in entries {
        square += x.f64() * x.f64();
    }
    let norm = crate::Real::sqrt(square);
    if norm > radius { T::of(radius / norm) } else { T::ONE }
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
        assert!(size_of::<AnyAlgorithm>() <= 128);
        assert!(Sgd::new(Schedule::constant(f64::NAN), 0.0).is_err());
    }
}
