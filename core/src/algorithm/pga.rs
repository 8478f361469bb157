//! PGA: the proximally guided algorithm.
//!
//! Source: Rafique, Liu, Lin and Yang 2018, "Weakly-Convex Concave Min-Max Optimization", algorithm 2, as given by Liu,
//! Yuan, Ying and Yang 2020, "Stochastic AUC Maximization with Deep Neural Networks", algorithm 1.
//!
//! v = parameters and descent auxiliaries, α = the ascent ones, last. Stages k = 1, 2, … with η_k = lr/k and
//! T_k = ⌈length·k²⌉, from v₀ = v̄_{k−1} and α₀ = ᾱ_{k−1}:
//!
//! ```text
//! v ← Π[v − η_k(ĝ_v + (v − v₀)/prox)] onto ‖v‖ ≤ R₁        α ← Π[α + η_k ĝ_α] onto ‖α‖ ≤ R₂        T_k times
//! v̄_k, ᾱ_k = means of the iterates t = 1 … T_k
//! ```
//!
//! The paper returns v̄_τ of a random stage; point 2 holds it, τ uniform over the stages finished so far (kept by
//! replacing it at stage k with probability 1/k). Points: 0 the iterate, 1 the mean of the stage's iterates so far, 2 the
//! random stage. Slots: v₀, α₀ (d values). Counters: steps, stage (from 0), steps in the stage, phase. Cost O(d) a step.

use super::stages::phase;
use super::{Algorithm, Answer, Ask, COUNTERS, FRESH_GRADIENT, Point, State, answer, gradient, in_range, shrink};
use crate::error::{Error, Result, exact_len};
use crate::real::Real;
use crate::registry::settings::Settings;
use crate::rng::Rng;

/// The proximally guided algorithm.
///
/// ```
/// use undercurve::algorithm::{Algorithm, Answer, Ask, COUNTERS, Pga, State};
///
/// // v in the ball ‖v‖ ≤ ¼, and the last entry maximised over.
/// let rule = Pga::new(0.5, 10.0, f64::INFINITY, 0.25, f64::INFINITY, 1, 1)?;
/// let (mut points, mut slots) = (vec![0.0; 3 * 2], vec![0.0; Algorithm::<f64>::slots_len(&rule, 2)]);
/// let mut state = State { points: &mut points, slots: &mut slots, counters: &mut [0; COUNTERS] };
/// // min over v, max over α of ½v² + α(1 − v) − ½α²: at the edge v = ¼, where α = ¾.
/// for _ in 0..1000 {
///     let (v, alpha) = (state.points[0], state.points[1]);
///     match rule.next(&state) {
///         // (The derivative by α comes with its sign flipped.)
///         Ask::Evaluate { .. } => {
///             rule.tell(&mut state, Answer::Gradient { value: 0.0, grad: &[v - alpha, alpha - (1.0 - v)] })?;
///         }
///         _ => rule.tell(&mut state, Answer::Continue)?, // the end of a stage
///     }
/// }
/// assert!((points[0] - 0.25f64).abs() < 1e-3 && (points[1] - 0.75f64).abs() < 1e-3);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pga {
    lr: f64,
    length: f64,
    prox: f64,
    radius: f64,
    dual_radius: f64,
    ascent: usize,
    seed: u64,
    answer: Point,
}

impl Pga {
    /// - `lr` ≥ 0, `length` ≥ 1, `prox` > 0 (infinite: no proximal term).
    /// - `radius`, `dual_radius` > 0: R₁ and R₂ (infinite: no projection).
    /// - `ascent`: how many of the last entries are maximised over; `seed` of the random stage.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(
        lr: f64,
        length: f64,
        prox: f64,
        radius: f64,
        dual_radius: f64,
        ascent: usize,
        seed: u64,
    ) -> Result<Self> {
        for (what, x) in [("prox", prox), ("radius", radius), ("dual-radius", dual_radius)] {
            if x.is_nan() || x <= 0.0 {
                return Err(Error::Param { what });
            }
        }
        let lr = in_range("lr", lr, 0.0, f64::INFINITY)?;
        Ok(Self {
            lr,
            length: in_range("stage", length, 1.0, 1e15)?,
            prox,
            radius,
            dual_radius,
            ascent,
            seed,
            answer: Point(0),
        })
    }

    /// With the point that is looked at between steps: 0, the last iterate, unless told otherwise, or
    /// 1, the mean of the stage, or 2, the random stage.
    #[must_use]
    pub fn with_answer(self, answer: Point) -> Self {
        Self { answer: Point(answer.0.min(2)), ..self }
    }

    fn steps(&self, stage: u64) -> u64 {
        let k = (stage + 1) as f64;
        libm::ceil(self.length * k * k) as u64
    }
}

impl<T: Real> Algorithm<T> for Pga {
    fn points(&self) -> usize {
        3
    }
    fn iterate(&self) -> Point {
        self.answer
    }
    fn slots_len(&self, params: usize) -> usize {
        params
    }
    fn sound(&self, counters: &[u64], steps: u64) -> bool {
        super::counted(counters, steps)
    }
    fn ball(&self) -> Option<(f64, usize)> {
        Some((self.radius, self.ascent))
    }
    fn next(&self, state: &State<'_, T>) -> Ask {
        if state.counters[3] == phase::REPORT { Ask::Report { at: Point(1) } } else { FRESH_GRADIENT }
    }
    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        exact_len("counters", COUNTERS, state.counters.len())?;
        let len = state.points.len() / 3;
        let (stage, done) = (state.counters[1], state.counters[2]);
        if state.counters[3] == phase::REPORT {
            let Answer::Continue = answer else {
                return Err(Error::Param { what: "answer" });
            };
            let (iterate, rest) = state.points.split_at_mut(len);
            let (mean, pick) = rest.split_at_mut(len);
            if Rng::keyed(self.seed, 0x96a, stage).uniform() * ((stage + 1) as f64) < 1.0 {
                pick.copy_from_slice(mean);
            }
            iterate.copy_from_slice(mean);
            state.slots.copy_from_slice(mean);
            state.counters[1] = state.counters[1].saturating_add(1);
            state.counters[2] = 0;
            state.counters[3] = phase::STEPS;
            return Ok(());
        }
        let grad = gradient(len, state, len, answer)?;
        let split = len.checked_sub(self.ascent).ok_or(Error::Param { what: "ascent" })?;
        let lr = T::of(self.lr / (stage + 1) as f64);
        let pull = T::of(1.0 / self.prox);
        let start = state.counters[3] == phase::START;
        let (iterate, rest) = state.points.split_at_mut(len);
        let mean = &mut rest[..len];
        let anchor = &mut state.slots[..];
        let moved = |k: usize, u: T, anchor: T| {
            let anchor = if start { u } else { anchor };
            let g = if k < split { grad[k] + pull * (u - anchor) } else { grad[k] };
            u - lr * g.settled()
        };
        let at = |k: usize| moved(k, iterate[k], anchor[k]);
        let mut odd = T::ZERO;
        for k in 0..len {
            let u = at(k);
            odd += T::ZERO * u;
        }
        if odd != T::ZERO {
            return Err(Error::Overflow { what: "params" });
        }
        let own = shrink(self.radius, (0..split).map(at));
        let dual = shrink(self.dual_radius, (split..len).map(at));
        let share = T::of(1.0 / done.saturating_add(1) as f64);
        for k in 0..len {
            let u = iterate[k];
            iterate[k] = moved(k, u, anchor[k]) * if k < split { own } else { dual };
            if start {
                anchor[k] = u;
            }
            mean[k] = if done == 0 { iterate[k] } else { mean[k] + (iterate[k] - mean[k]) * share };
        }
        state.counters[0] = state.counters[0].saturating_add(1);
        state.counters[2] = done.saturating_add(1);
        state.counters[3] = if done.saturating_add(1) >= self.steps(stage) { phase::REPORT } else { phase::STEPS };
        Ok(())
    }
}

impl Pga {
    /// Of settings; the last `ascent` entries are maximised over.
    pub(super) fn from_settings(settings: &Settings<'_>, ascent: usize) -> Result<Self> {
        let unit = settings.unit();
        let (lr, stage, prox) = (unit * settings.value("lr"), settings.value("stage"), unit * settings.value("prox"));
        let (radius, dual) = (settings.value("radius"), settings.value("dual-radius"));
        let algorithm = Self::new(lr, stage, prox, radius, dual, ascent, settings.seed())?;
        Ok(algorithm.with_answer(answer(settings)))
    }
}
