//! The stagewise algorithms' stages: lengths, rates, dual batches, and what happens between two of them.

use super::{Answer, Ask, Draw, FRESH_GRADIENT, Point, State, in_range, power};
use crate::error::{Error, Result, exact_len};
use crate::real::Real;
use crate::registry::settings::Settings;

/// Stage k = 0, 1, … has the rate `lr`·`lr_factor`ᵏ, the length ⌈`length`·`length_factor`ᵏ⌉ and
/// ⌈`reset`·`length_factor`ᵏ⌉ batches for the dual reset at its end.
///
/// ```
/// use undercurve::algorithm::Stages;
///
/// let stages = Stages::practice(0.9, 100.0, 5.0)?; // a third of the rate, for three times as long
/// assert_eq!([0, 1, 2].map(|stage| stages.steps(stage)), [100, 300, 900]);
/// assert!((stages.lr(2) - 0.1).abs() < 1e-12);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stages {
    lr: f64,
    lr_factor: f64,
    length: f64,
    length_factor: f64,
    reset: f64,
}

impl Stages {
    /// - `lr` ≥ 0, `lr_factor` in (0, 1].
    /// - `length` ≥ 1, `length_factor` ≥ 1.
    /// - `reset` ≥ 0: batches for the first dual reset, 0 for no resets.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(lr: f64, lr_factor: f64, length: f64, length_factor: f64, reset: f64) -> Result<Self> {
        Ok(Self {
            lr: in_range("lr", lr, 0.0, f64::INFINITY)?,
            lr_factor: in_range("lr-factor", lr_factor, f64::MIN_POSITIVE, 1.0 + f64::EPSILON)?,
            length: in_range("stage", length, 1.0, f64::INFINITY)?,
            length_factor: in_range("stage-factor", length_factor, 1.0, f64::INFINITY)?,
            reset: in_range("reset", reset, 0.0, f64::INFINITY)?,
        })
    }

    /// The practice of Liu et al. 2020: rates divided by 3 and lengths multiplied by 3.
    ///
    /// # Errors
    /// `Param`.
    pub fn practice(lr: f64, length: f64, reset: f64) -> Result<Self> {
        Self::new(lr, 1.0 / 3.0, length, 3.0, reset)
    }

    /// The theory of PPD-SG (Liu et al. 2020, theorem 2): with q = e^((μ/L)/(5 + μ/L)), rates divided by q and lengths
    /// multiplied by q from max(2, 16L̃²)/(L·lr). `mu` is the Polyak–Łojasiewicz constant, `l` the smoothness of the
    /// objective, `l_tilde` the bound of ‖∇h‖. The proximal radius that goes with it is 1/(2L).
    ///
    /// # Errors
    /// `Param`.
    pub fn theory(lr: f64, mu: f64, l: f64, l_tilde: f64, reset: f64) -> Result<Self> {
        let q = Self::growth(mu, l)?;
        let scale = 16.0 * in_range("l_tilde", l_tilde, 0.0, f64::INFINITY)? * l_tilde;
        let length = (if scale > 2.0 { scale } else { 2.0 }) / (l * lr);
        Self::new(lr, 1.0 / q, if length > 1.0 { length } else { 1.0 }, q, reset)
    }

    /// The theory of PPD-AdaGrad (theorem 3): half the exponent. Its M_k is c = 1/√(d+3), for d + 3 parameters and
    /// auxiliaries, times the real length of these stages, from 4/(L·lr);
    /// [`StageLength::Theory`](super::StageLength::Theory) multiplies by c.
    ///
    /// # Errors
    /// `Param`.
    pub fn theory_adagrad(lr: f64, mu: f64, l: f64, reset: f64) -> Result<Self> {
        let q = crate::Real::sqrt(Self::growth(mu, l)?);
        let length = 4.0 / (l * lr);
        Self::new(lr, 1.0 / q, if length > 1.0 { length } else { 1.0 }, q, reset)
    }

    /// Whether settings ask for the constants of the theorems.
    pub(super) fn are_of_theory(settings: &Settings<'_>) -> bool {
        settings.text("schedule") == Some("theory")
    }

    /// The proximal radius of settings. (The constants of the theorems are those of the objective as it is, without units.)
    pub(super) fn prox(settings: &Settings<'_>) -> f64 {
        match Self::are_of_theory(settings) {
            true => 0.5 / settings.value("smoothness"),
            false => settings.unit() * settings.value("prox"),
        }
    }

    /// The stages of settings that no theorem is asked for.
    pub(super) fn of_practice(settings: &Settings<'_>) -> Result<Self> {
        let (lr, factor) = (settings.unit() * settings.value("lr"), settings.value("stage-factor"));
        Self::new(lr, 1.0 / factor, settings.value("stage"), factor, settings.value("reset"))
    }

    fn growth(mu: f64, l: f64) -> Result<f64> {
        in_range("mu", mu, f64::MIN_POSITIVE, f64::INFINITY)?;
        in_range("l", l, f64::MIN_POSITIVE, f64::INFINITY)?;
        let ratio = mu / l;
        in_range("mu", libm::exp(ratio / (5.0 + ratio)), 1.0, f64::INFINITY)
    }

    /// Rate of a stage.
    #[must_use]
    pub fn lr(&self, stage: u64) -> f64 {
        self.lr * power(self.lr_factor, stage)
    }

    /// The real number of which [`steps`](Self::steps) is the ceiling.
    #[must_use]
    pub fn length(&self, stage: u64) -> f64 {
        self.length * power(self.length_factor, stage)
    }

    /// T of a stage, at least 1.
    #[must_use]
    pub fn steps(&self, stage: u64) -> u64 {
        ceil(self.length(stage))
    }

    /// Batches of the dual reset that ends a stage; 0 for none.
    #[must_use]
    pub fn reset(&self, stage: u64) -> u64 {
        if self.reset == 0.0 { 0 } else { ceil(self.reset * power(self.length_factor, stage)) }
    }
}

/// The whole number just above, forgiving the last bits of a power of 3.
fn ceil(x: f64) -> u64 {
    let nearest = libm::round(x);
    (if (x - nearest).abs() <= 1e-9 * x { nearest } else { libm::ceil(x) }) as u64
}

/// Where a stage stands, in counter 3.
pub(super) mod phase {
    /// Nothing done yet: anchor and mean are to be set.
    pub const START: u64 = 0;
    /// Steps.
    pub const STEPS: u64 = 1;
    /// The dual reset is asked for.
    pub const RESET: u64 = 2;
    /// The stage's end is reported.
    pub const REPORT: u64 = 3;
}

/// [`Algorithm::pace`](super::Algorithm::pace) of a stagewise rule: the stage's rate, and 1/(steps done in it + `more`). The stage
/// is at its end, which `end` follows, when the sum is its length. A run's first step is none of these.
pub(super) fn pace(stages: &Stages, more: u64, end: u64, counters: &mut [u64], out: &mut [[f64; 2]]) -> usize {
    let mut made = 0;
    for out in out {
        let &mut [_, stage, done, phase::STEPS] = counters else { break };
        *out = [stages.lr(stage), 1.0 / (done + more) as f64];
        made += 1;
        counters[0] = counters[0].saturating_add(1);
        counters[2] = done.saturating_add(1);
        if done + more >= stages.steps(stage) {
            counters[3] = end;
        }
    }
    made
}

/// What follows the steps of a stage.
pub(super) fn after_steps(stages: &Stages, stage: u64) -> u64 {
    if stages.reset(stage) > 0 { phase::RESET } else { phase::REPORT }
}

/// The request of a stagewise algorithm with dual resets.
pub(super) fn ask(stages: &Stages, counters: &[u64]) -> Ask {
    match counters[3] {
        phase::RESET => {
            Ask::ClassMeans { at: Point(1), draw: Draw::Fresh { sampler: 0 }, batches: stages.reset(counters[1]) }
        }
        phase::REPORT => Ask::Report { at: Point(1) },
        _ => FRESH_GRADIENT,
    }
}

/// Takes the answer to a reset or a report of a stagewise algorithm: sets ᾱ, or begins the next stage at the mean.
pub(super) fn between<T: Real>(ascent: usize, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
    let len = state.points.len() / 2;
    let (iterate, mean) = state.points.split_at_mut(len);
    match (state.counters[3], answer) {
        (phase::RESET, Answer::Duals { alpha }) => {
            exact_len("alpha", ascent, alpha.len())?;
            let split = len.checked_sub(ascent).ok_or(Error::Param { what: "ascent" })?;
            crate::error::all_finite("alpha", alpha)?;
            mean[split..].copy_from_slice(alpha);
            state.counters[3] = phase::REPORT;
        }
        (phase::RESET, Answer::ClassMeans { positive, negative }) if ascent == 1 => {
            if let (Some(positive), Some(negative)) = (positive, negative) {
                let dual = negative - positive;
                if !dual.is_finite() {
                    return Err(Error::Overflow { what: "class means" });
                }
                mean[len - 1] = dual;
            }
            state.counters[3] = phase::REPORT;
        }
        (phase::REPORT, Answer::Continue) => {
            iterate.copy_from_slice(mean);
            state.slots[..len].copy_from_slice(mean);
            state.counters[1] = state.counters[1].saturating_add(1);
            state.counters[2] = 0;
            state.counters[3] = phase::STEPS;
        }
        _ => return Err(Error::Param { what: "answer" }),
    }
    Ok(())
}
