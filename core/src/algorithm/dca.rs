//! DCA and proximal DCA in parameter space: a difference f^n − f^m is minimised by making f^m linear where an outer step
//! begins, and descending on f^n less that.
//!
//! Source: Yao, Lin and Yang 2022, "Large-scale Optimization of Partial AUC in a Range of False Positive Rates",
//! algorithm 4 and equations (37) and (38); DCA for ranked losses: Hu, Ying, Wang and Lyu 2020, "Learning by Minimizing the
//! Sum of Ranked Range".
//!
//! For outer steps k = 0, 1, … with ξ = ∂f^m(w_k) over all rows:
//!
//! ```text
//! w ← (w/η_k + L w_k + δ·to − G + ξ)/(1/η_k + L + δ)          T_k times, G of f^n on a batch
//! ```
//!
//! L = 0 is DCA. Both quadratic parts, L/2 ‖w − w_k‖² and weight decay δ/2 ‖w − to‖², are inside the proximal step, so that no
//! product with η is too large. Steps are constant (η, T) or change as AGD-SBCD's: η/(k+1), T(k+1)². λ begins at its best by a batch of
//! everything. The answer is the last iterate. Where there is no f^m (α = 0), ξ = 0.
//!
//! Points: 0 the iterate, 1 w_k. Slots: ξ (d values). Counters: gradients, outer steps, steps in the outer step, phase. Cost
//! O(d) a step.

use super::{Algorithm, Answer, Ask, COUNTERS, Draw, Point, State, Want, gradient, in_range};
use crate::device::Recipe;
use crate::error::{Error, Result, exact_len};
use crate::real::Real;
use crate::registry::settings::Settings;

/// Descent on a difference of convex functions.
///
/// ```
/// use undercurve::algorithm::{Algorithm, Answer, Ask, COUNTERS, Dca, State, Want};
///
/// let rule = Dca::new(10, 0.25, 0.1, 0.0, 0.0, false, true)?;
/// let (mut points, mut slots) = (vec![0.0; 2], vec![0.0; 1]); // of one parameter
/// let mut state = State { points: &mut points, slots: &mut slots, counters: &mut [0; COUNTERS] };
/// // f^n − f^m = (w − 1)² − ½w², least at w = 2. Term 0 is f^m, which is made linear; term 1 is f^n.
/// for _ in 0..1000 {
///     let answer = match rule.next(&state) {
///         Ask::Evaluate { at, term, want, .. } if want != Want::Track => {
///             let w = state.points[usize::from(at.0)];
///             Answer::Gradient { value: 0.0, grad: &[if term == 1 { 2.0 * (w - 1.0) } else { w }] }
///         }
///         _ => Answer::Continue, // the dual variables: an estimator's
///     };
///     rule.tell(&mut state, answer)?;
/// }
/// assert!((points[0] - 2.0f64).abs() < 1e-6);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dca {
    steps: u64,
    eta: f64,
    theta: f64,
    prox: f64,
    decay: f64,
    pull: f64,
    changing: bool,
    low: bool,
}

/// Where it stands, in counter 3: the best duals, the linear part, steps.
mod phase {
    pub const START: u64 = 0;
    pub const LINEAR: u64 = 1;
    pub const STEP: u64 = 2;
}

impl Dca {
    /// - `steps` ≥ 1: of the first outer step.
    /// - `eta` > 0, `theta` ≥ 0: the steps there.
    /// - `prox` ≥ 0: L, 0 for DCA itself.
    /// - `decay` ≥ 0: weight of half the squared norm, a part of f^n.
    /// - `changing`: whether steps shorten and outer steps lengthen.
    /// - `low`: whether there is an f^m.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(steps: u64, eta: f64, theta: f64, prox: f64, decay: f64, changing: bool, low: bool) -> Result<Self> {
        if steps == 0 {
            return Err(Error::Param { what: "stage" });
        }
        let eta = in_range("lr", eta, f64::MIN_POSITIVE, f64::INFINITY)?;
        let least = |what, x: f64| in_range(what, x, 0.0, f64::INFINITY);
        let (theta, prox, decay) = (least("theta", theta)?, least("prox", prox)?, least("decay", decay)?);
        Ok(Self { steps, eta, theta, prox, decay, pull: 0.0, changing, low })
    }

    /// Where the gradients of f^n already hold that of half a squared distance, its weight ≥ 0: steps take it as they take
    /// decay.
    ///
    /// # Errors
    /// `Param`.
    pub fn with_pull(self, pull: f64) -> Result<Self> {
        Ok(Self { pull: in_range("pull", pull, 0.0, f64::INFINITY)?, ..self })
    }

    /// What a step from w is by its gradient, that of all parts.
    fn rate(&self, outer: u64) -> f64 {
        let eta = self.eta / self.shrink(outer);
        eta / (1.0 + eta * (self.prox + self.decay + self.pull))
    }

    /// Steps of an outer step.
    #[must_use]
    pub fn steps(&self, outer: u64) -> u64 {
        let factor = if self.changing { outer.saturating_add(1) } else { 1 };
        self.steps.saturating_mul(factor.saturating_mul(factor))
    }

    /// What the steps of an outer step are divided by.
    fn shrink(&self, outer: u64) -> f64 {
        if self.changing { outer.saturating_add(1) as f64 } else { 1.0 }
    }
}

impl<T: Real> Algorithm<T> for Dca {
    /// The decay, L; of a step η/(1 + η(L + δ)), and that of the duals. The last step of an outer step is none of these.
    fn recipe(&self) -> Option<Recipe> {
        Some(Recipe::new("dca", &[self.decay, self.prox]))
    }
    fn pace(&self, counters: &mut [u64], out: &mut [[f64; 2]]) -> usize {
        let &mut [_, outer, inner, phase::STEP] = counters else { return 0 };
        let left = (self.steps(outer) - 1).saturating_sub(inner);
        let made = usize::try_from(left).unwrap_or(usize::MAX).min(out.len());
        out[..made].fill([self.rate(outer), self.theta / self.shrink(outer)]);
        counters[0] = counters[0].saturating_add(made as u64);
        counters[2] = counters[2].saturating_add(made as u64);
        made
    }
    fn points(&self) -> usize {
        2
    }
    fn draws_all(&self) -> bool {
        true
    }
    fn sound(&self, counters: &[u64], steps: u64) -> bool {
        matches!(*counters, [done, outer, inner, phase]
            if done <= steps && outer <= done && inner <= done && phase <= phase::STEP)
    }
    fn slots_len(&self, params: usize) -> usize {
        params
    }
    fn next(&self, state: &State<'_, T>) -> Ask {
        let everything =
            |term, want| Ask::Evaluate { term, at: Point(0), previous: None, draw: Draw::All, rate: None, want };
        match state.counters[3] {
            phase::START => everything(1, Want::Track),
            phase::LINEAR => everything(0, Want::Gradient),
            _ => Ask::Evaluate {
                term: 1,
                at: Point(0),
                previous: None,
                draw: Draw::Fresh { sampler: 0 },
                rate: Some(self.theta / self.shrink(state.counters[1])),
                want: Want::Both,
            },
        }
    }
    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        exact_len("counters", COUNTERS, state.counters.len())?;
        let len = state.points.len() / 2;
        if let (phase::START, Answer::Continue) = (state.counters[3], answer) {
            state.counters[3] = if self.low { phase::LINEAR } else { phase::STEP };
            return Ok(());
        }
        let grad = gradient(len, state, len, answer)?;
        let (w, centre) = state.points.split_at_mut(len);
        match state.counters[3] {
            phase::LINEAR => {
                state.slots.copy_from_slice(grad);
                centre.copy_from_slice(w);
                state.counters[0] = state.counters[0].saturating_add(1);
                state.counters[3] = phase::STEP;
                return Ok(());
            }
            phase::STEP => {}
            _ => return Err(Error::Param { what: "answer" }),
        }
        let outer = state.counters[1];
        let [rate, prox, decay] = [self.rate(outer), self.prox, self.decay].map(T::of);
        let moved =
            |w: T, centre: T, linear: T, g: T| w - rate * (g - linear + prox * (w - centre) + decay * w).settled();
        let each = || w.iter().zip(&*centre).zip(&*state.slots).zip(grad);
        if each().any(|(((&w, &centre), &linear), &g)| !moved(w, centre, linear, g).is_finite()) {
            return Err(Error::Overflow { what: "params" });
        }
        for (((w, &centre), &linear), &g) in w.iter_mut().zip(&*centre).zip(&*state.slots).zip(grad) {
            *w = moved(*w, centre, linear, g);
        }
        state.counters[0] = state.counters[0].saturating_add(1);
        state.counters[2] = state.counters[2].saturating_add(1);
        if state.counters[2] >= self.steps(outer) {
            state.counters[1] = state.counters[1].saturating_add(1);
            state.counters[2] = 0;
            if self.low {
                state.counters[3] = phase::LINEAR;
            } else {
                centre.copy_from_slice(w);
            }
        }
        Ok(())
    }
}

impl Dca {
    /// Of settings; proximal where they have a weight for that.
    pub(super) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        let of = |name| settings.value(name);
        let changing = settings.text("schedule") == Some("changing");
        let prox = if settings.text("prox").is_some() { of("prox") } else { 0.0 };
        let low = settings.ranks().0 > 0.0;
        Self::new(of("stage") as u64, of("lr"), of("theta"), prox, settings.decay(), changing, low)?
            .with_pull(settings.pull())
    }
}
