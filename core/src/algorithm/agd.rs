//! AGD-SBCD in parameter space: approximate gradient descent on the Moreau envelopes of a difference f^n − f^m, whose
//! proximal points come from stochastic block coordinate descent.
//!
//! Source: Yao, Lin and Yang 2022, "Large-scale Optimization of Partial AUC in a Range of False Positive Rates",
//! algorithms 1 and 2; algorithm 3 (sums of ranked losses) is the same here, the difference is the estimator's.
//!
//! For stages k = 0, 1, … with T_k = C(k+1)² steps and η_k = c/(k+1), from v_m = v_n = w, G by terms:
//!
//! ```text
//! v ← (w/μ + v/η_k + δ·to − G)/(1/μ + 1/η_k + δ)       T_k times, for m and for n; δ for n alone
//! v̄ = mean of the iterates t = 0 … T_k − 1
//! w ← w − relax_k (v̄_m − v̄_n)
//! relax_k = min(relax, 3/2 (1 + 1/(δ R_k))),   1/R_k = 1/μ + 2/(T_k η_k),   relax = γ/μ
//! ```
//!
//! Weight decay, δ/2 ‖v − to‖², is inside the proximal step, so that no product η δ is too large.
//!
//! Where there is no f^m (α = 0), v̄_m = w. The proof asks for γ ≤ μ(1 − μρ)/2, so for relax ≤ ½; the paper's grids have 2 to
//! 50, and .2 to 100 for ranked losses, all of which may be set. What is stable: v̄ is at most R_k times a gradient away from w,
//! so a stage is a step of relax·R_k on F, and a loss of bounded slope cannot make w run away. Decay can: v̄_n comes by a share
//! b ≤ 1.15 δR_k/(1 + δR_k) of the way to where it pulls, and w comes nearer only where relax·b < 2. So relax is held to the
//! bound above in every stage (relax·b ≤ 1.73). Without f^m a step is one to the proximal point of a convex function, whose
//! over-relaxation converges up to 2: relax is held to that, too. With f^m the curvature of f^n that f^m shares cancels, and how
//! far one may go is the data's: 5 still gains in [.05, .5] and loses in [.02, .2], 20 loses in both (tests/results/pauc.md).
//!
//! In the estimator's units (divided by n₊n₋(β−α)) a c near 1 over the mean ‖x‖² of a linear model is sensible. Deviations:
//! the answer is v̄_n where the paper draws a stage: that of the last stage that ended, and of the stage that runs once it has
//! more steps than that one had, from the first stage on; both terms use the same draws. Every stage begins at the means λ̄ of
//! the one before; the first at the best λ, by a batch of everything for each term.
//!
//! Points: 0 the answer, 1 w, 2 v_m, 3 v_n, 4 v̄_m so far, 5 v̄_n so far. Counters: steps (a step is a gradient of each term
//! that there is), stage, steps in the stage, phase. Cost O(d) a gradient.

use super::{Algorithm, Answer, Ask, COUNTERS, Draw, Point, Schedule, State, Want, gradient, in_range};
use crate::error::{Error, Result, exact_len};
use crate::real::Real;
use crate::registry::settings::Settings;

const POINTS: usize = 6;

/// Approximate gradient descent with inner problems by stochastic block coordinate descent.
///
/// ```
/// use undercurve::algorithm::{AgdSbcd, Algorithm, Answer, Ask, COUNTERS, Schedule, State, Want};
///
/// let rule = AgdSbcd::new(10, Schedule::constant(0.5), 0.1, 0.5, 0.5, 0.0, true)?;
/// let mut points = vec![0.0f64; Algorithm::<f64>::points(&rule)]; // of one parameter
/// let mut state = State { points: &mut points, slots: &mut [], counters: &mut [0; COUNTERS] };
/// // f^n − f^m = (w − 2)² − w, least at w = 2½.
/// for _ in 0..100_000 {
///     let answer = match rule.next(&state) {
///         Ask::Evaluate { at, term, want, .. } if want != Want::Track => {
///             let w = state.points[usize::from(at.0)];
///             Answer::Gradient { value: 0.0, grad: &[if term == 1 { 2.0 * (w - 2.0) } else { 1.0 }] }
///         }
///         _ => Answer::Continue, // the dual variables: an estimator's
///     };
///     rule.tell(&mut state, answer)?;
/// }
/// assert!((points[0] - 2.5).abs() < 0.01);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgdSbcd {
    first: u64,
    lr: Schedule,
    theta: f64,
    mu: f64,
    relax: f64,
    decay: f64,
    pull: f64,
    low: bool,
}

/// The greatest share of v̄_m − v̄_n: the end of the paper's grids.
pub(crate) const MOST_RELAX: f64 = 100.0;

/// Where it stands, in counter 3: the best duals, gradients and the end of a stage, of each term.
mod phase {
    pub const START: u64 = 0;
    pub const START_HIGH: u64 = 1;
    pub const LOW: u64 = 2;
    pub const HIGH: u64 = 3;
    pub const TURN: u64 = 4;
    pub const TURN_HIGH: u64 = 5;
}

impl AgdSbcd {
    /// - `first` ≥ 1: C, the steps of the first stage.
    /// - `lr` > 0: step of v in the first stage; it may also fall over the run, by steps of both terms.
    /// - `theta` ≥ 0: step of the dual variables in the first stage.
    /// - `mu` > 0, `relax` in (0, 100]: the smoothing, and the share of v̄_m − v̄_n that w moves by.
    /// - `decay` ≥ 0: weight of half the squared norm, a part of f^n.
    /// - `low`: whether there is an f^m.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(first: u64, lr: Schedule, theta: f64, mu: f64, relax: f64, decay: f64, low: bool) -> Result<Self> {
        if first == 0 {
            return Err(Error::Param { what: "stage" });
        }
        let above = |what, x: f64| in_range(what, x, f64::MIN_POSITIVE, f64::INFINITY);
        if !(relax > 0.0 && relax <= MOST_RELAX) {
            return Err(Error::Param { what: "relax" });
        }
        let [theta, decay] =
            [("theta", theta), ("decay", decay)].map(|(what, x)| in_range(what, x, 0.0, f64::INFINITY));
        above("lr", lr.at(0))?;
        Ok(Self { first, lr, theta: theta?, mu: above("mu", mu)?, relax, decay: decay?, pull: 0.0, low })
    }

    /// Where the gradients of f^n already hold that of half a squared distance, its weight ≥ 0: steps take it as they take
    /// decay.
    ///
    /// # Errors
    /// `Param`.
    pub fn with_pull(self, pull: f64) -> Result<Self> {
        Ok(Self { pull: in_range("pull", pull, 0.0, f64::INFINITY)?, ..self })
    }

    /// The share of v̄_m − v̄_n that w moves by at the end of a stage, whose first step was this one of the run.
    fn share(&self, stage: u64, first: u64) -> f64 {
        let eta = self.lr.at(first) / stage.saturating_add(1) as f64;
        let reach = 1.0 / (1.0 / self.mu + 2.0 / (self.steps(stage) as f64 * eta));
        let most = if self.low { MOST_RELAX } else { 2.0 };
        self.relax.or_smaller(most).or_smaller(1.5 * (1.0 + 1.0 / (reach * (self.decay + self.pull))))
    }

    /// Steps of a stage.
    #[must_use]
    pub fn steps(&self, stage: u64) -> u64 {
        let factor = stage.saturating_add(1);
        self.first.saturating_mul(factor.saturating_mul(factor))
    }

    /// Where a step begins.
    fn begin(&self) -> u64 {
        if self.low { phase::LOW } else { phase::HIGH }
    }

    /// Moves v of a term by its gradient, and the mean of its iterates.
    fn step<T: Real>(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        let len = state.points.len() / POINTS;
        let grad = gradient(len, state, 0, answer)?;
        let [steps, stage, done, now] = [0, 1, 2, 3].map(|k| state.counters[k]);
        let term = (now - phase::LOW) as usize;
        let eta = self.lr.at(steps) / stage.saturating_add(1) as f64;
        let (decay, pull) = if now == phase::HIGH { (self.decay, self.pull) } else { (0.0, 0.0) };
        // (w/μ + v/η + δ·to − G)/(1/μ + 1/η + δ), as a step from v; G holds the pull.
        let rate = T::of(eta / (1.0 + eta * (1.0 / self.mu + decay + pull)));
        let [near, decay] = [1.0 / self.mu, decay].map(T::of);
        let moved = |v: T, w: T, g: T| v + rate * ((w - v) * near - g - decay * v).settled();
        let (answer, rest) = state.points.split_at_mut(len);
        let (w, rest) = rest.split_at_mut(len);
        let (v, means) = rest.split_at_mut(2 * len);
        let v = &mut v[term * len..][..len];
        let mean = &mut means[term * len..][..len];
        if v.iter().zip(&*w).zip(grad).any(|((&v, &w), &g)| !moved(v, w, g).is_finite()) {
            return Err(Error::Overflow { what: "params" });
        }
        let share = T::of(1.0 / done.saturating_add(1) as f64);
        for (((mean, v), &w), &g) in mean.iter_mut().zip(v).zip(&*w).zip(grad) {
            *mean = (T::ONE - share) * *mean + share * *v;
            *v = moved(*v, w, g);
        }
        if now == phase::LOW {
            state.counters[3] = phase::HIGH;
            return Ok(());
        }
        if stage == 0 || done.saturating_add(1) > self.steps(stage - 1) {
            answer.copy_from_slice(mean);
        }
        state.counters[0] = state.counters[0].saturating_add(1);
        state.counters[2] = state.counters[2].saturating_add(1);
        let over = done.saturating_add(1) >= self.steps(stage);
        state.counters[3] = match over {
            true if self.low => phase::TURN,
            true => phase::TURN_HIGH,
            false => self.begin(),
        };
        Ok(())
    }

    /// Ends a stage: w moves, and the next inner problems begin there.
    fn turn<T: Real>(&self, state: &mut State<'_, T>) -> Result<()> {
        let len = state.points.len() / POINTS;
        let [steps, stage, done] = [0, 1, 2].map(|k| state.counters[k]);
        let relax = T::of(self.share(stage, steps.saturating_sub(done)));
        let (w, rest) = state.points[len..].split_at_mut(len);
        let (v, means) = rest.split_at_mut(2 * len);
        let (low, high) = means.split_at(len);
        let moved = |w: T, low: T, high: T| w - relax * ((if self.low { low } else { w }) - high);
        if w.iter().zip(low).zip(high).any(|((&w, &low), &high)| !moved(w, low, high).is_finite()) {
            return Err(Error::Overflow { what: "params" });
        }
        for ((w, &low), &high) in w.iter_mut().zip(low).zip(high) {
            *w = moved(*w, low, high);
        }
        for v in v.chunks_exact_mut(len.max(1)) {
            v.copy_from_slice(w);
        }
        state.counters[1] = state.counters[1].saturating_add(1);
        state.counters[2] = 0;
        state.counters[3] = self.begin();
        Ok(())
    }
}

impl<T: Real> Algorithm<T> for AgdSbcd {
    fn points(&self) -> usize {
        POINTS
    }
    fn draws_all(&self) -> bool {
        true
    }
    fn sound(&self, counters: &[u64], steps: u64) -> bool {
        matches!(*counters, [done, stage, inner, phase]
            if done <= steps && stage <= done && inner <= done && phase <= phase::TURN_HIGH)
    }
    fn slots_len(&self, _: usize) -> usize {
        0
    }
    fn next(&self, state: &State<'_, T>) -> Ask {
        let (stage, now) = (state.counters[1], state.counters[3]);
        let term = u8::from(matches!(now, phase::START_HIGH | phase::HIGH | phase::TURN_HIGH) || !self.low);
        let all = now <= phase::START_HIGH;
        match now {
            phase::TURN | phase::TURN_HIGH => Ask::Turn { term },
            _ => Ask::Evaluate {
                term,
                at: Point(if all { 1 } else { 2 + term }),
                previous: None,
                draw: match now {
                    _ if all => Draw::All,
                    phase::HIGH if self.low => Draw::Again,
                    _ => Draw::Fresh { sampler: 0 },
                },
                rate: Some(self.theta / stage.saturating_add(1) as f64),
                want: if all { Want::Track } else { Want::Both },
            },
        }
    }
    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        exact_len("counters", COUNTERS, state.counters.len())?;
        let now = state.counters[3];
        match (now, answer) {
            (phase::LOW | phase::HIGH, answer) => return self.step(state, answer),
            (phase::TURN_HIGH, Answer::Continue) => return self.turn(state),
            (phase::START, Answer::Continue) if self.low => state.counters[3] = phase::START_HIGH,
            (phase::START | phase::START_HIGH, Answer::Continue) => state.counters[3] = self.begin(),
            (phase::TURN, Answer::Continue) => state.counters[3] = phase::TURN_HIGH,
            _ => return Err(Error::Param { what: "answer" }),
        }
        Ok(())
    }
}

impl AgdSbcd {
    /// From checked settings.
    pub(super) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        let low = settings.ranks().0 > 0.0;
        let of = |name| settings.value(name);
        // A step of both terms is two of the run.
        let terms = if low { 2u32 } else { 1 };
        let first = libm::ceil(of("stage") / f64::from(terms)) as u64;
        // (Of a method that also runs DCA the schedule is DCA's.)
        let lr = match settings.text("from") {
            Some(_) => Schedule::constant(of("lr")),
            None => Schedule::over(settings, settings.scope().steps / u64::from(terms))?,
        };
        Self::new(first, lr, of("theta"), of("mu"), of("relax"), settings.decay(), low)?.with_pull(settings.pull())
    }
}
