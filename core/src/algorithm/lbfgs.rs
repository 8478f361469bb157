//! L-BFGS for whole-data objectives, with the weak Wolfe line search that also holds for kinks.
//!
//! Direction: Liu and Nocedal 1989, "On the Limited Memory BFGS Method for Large Scale Optimization", algorithm 2.1
//! (two-loop recursion): with s_i = x_{i+1} − x_i, y_i = g_{i+1} − g_i, ρ_i = 1/(y_i·s_i), the last `memory` of them,
//!
//! ```text
//! q ← g;  for i from newest to oldest: a_i = ρ_i s_i·q, q ← q − a_i y_i
//! r ← (s·y/y·y of the newest) q;  for i from oldest to newest: r ← r + s_i (a_i − ρ_i y_i·r);  direction p = −r
//! ```
//!
//! Step: Lewis and Overton 2013, "Nonsmooth optimization via quasi-Newton methods", algorithm 2.6: α = 1 at first, an
//! interval [lo, hi] that starts as [0, ∞); F(x + αp) ≥ F(x) + c₁α g·p sets hi = α, else g(x + αp)·p ≤ c₂ g·p sets
//! lo = α, else the step is taken; the next α is the middle of the interval, or 2·lo while hi is infinite.
//! c₁ = 10⁻⁴, c₂ = 0.9. The first direction is −g/‖g‖.
//!
//! Weight decay δ is part of the objective: F + δ/2 ‖x‖², of all coordinates or of all but the last few ([`Lbfgs::sparing`]). Of a smooth
//! objective −g·p is about twice what is left to gain: [`Lbfgs::ending_at`] ends there, before the search fails in rounding.
//!
//! Metric: where the curvature of the objective is known beforehand, about ([`Lbfgs::with_metric`]), H = that + δ takes the place of the identity:
//! r ← γH⁻¹q with γ = s·y/y·H⁻¹y of the newest, and the first direction is −H⁻¹g. H is factored by Cholesky; a coordinate that those before it
//! explain but for 10⁻⁵ of its curvature stands alone.
//!
//! Deviations: a pair with y·s ≤ 10⁻¹⁰ ‖s‖‖y‖ is left out, so that the metric stays positive definite on non-convex
//! objectives. When a search fails (40 trials) the memory is dropped and the search starts again along −g/‖g‖; when
//! that fails too, nothing better can be found in this number type and the algorithm is done.
//!
//! Every step asks for one gradient over all data. Cost O(memory·d) a step, and O(d²) with a metric. Memory: points 0 (where the gradient is
//! asked) and 1 (the iterate); slots: 2d (gradient and direction), 2·memory·d (s, y), memory (ρ), d(d + 1) with a metric, 6 (the search).
//! Counters: 0 gradients, 1 state of the search, 2 the value at the iterate, 3 stored pairs and the place of the next.

use super::{Algorithm, Answer, Ask, COUNTERS, Draw, Point, State, gradient};
use crate::error::{Error, Result};
use crate::real::Real;
use crate::registry::entry::{Optimizer, Source};
use crate::registry::settings::Settings;

const SUFFICIENT: f64 = 1e-4;
const CURVATURE: f64 = 0.9;
const TRIALS: u64 = 40;
/// Parameters of the largest metric.
const MOST: usize = 129;
/// What is left of a coordinate's curvature, as a share, where it stands alone.
const ALONE: f64 = 1e-5;

/// L-BFGS.
///
/// ```
/// use undercurve::algorithm::{Algorithm, Answer, Ask, COUNTERS, Lbfgs, State};
///
/// let rule = Lbfgs::new(5, 1e-8, 0.0)?;
/// let (mut points, mut slots) = (vec![0.0; 2 * 2], vec![0.0; Algorithm::<f64>::slots_len(&rule, 2)]);
/// let mut state = State { points: &mut points, slots: &mut slots, counters: &mut [0; COUNTERS] };
/// // The minimum of ½(x − 3)² + 50(y + 1)².
/// while let Ask::Evaluate { at, .. } = rule.next(&state) {
///     let w = &state.points[2 * usize::from(at.0)..];
///     let (x, y) = (w[0] - 3.0, w[1] + 1.0);
///     rule.tell(&mut state, Answer::Gradient { value: 0.5 * x * x + 50.0 * y * y, grad: &[x, 100.0 * y] })?;
/// }
/// let best = 2 * usize::from(Algorithm::<f64>::iterate(&rule).0);
/// assert!((points[best] - 3.0).abs() < 1e-5 && (points[best + 1] + 1.0).abs() < 1e-5);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lbfgs {
    memory: usize,
    /// ‖g‖ at or below this share of the first ‖g‖ ends it, as bits of an f64.
    tolerance: u64,
    /// As bits of an f64.
    decay: u64,
    /// So many coordinates, the last ones, have no decay.
    spared: usize,
    /// −g·p at or below this share of the value ends it, as bits of an f64.
    gain: u64,
    /// Whether there is room for a metric.
    metric: bool,
}

/// Where a search stands; kept in counter 1.
const BEGIN: u64 = 0;
const DONE: u64 = u64::MAX;
/// Ended where no step along the negative gradient was a decrease.
const FAILED: u64 = DONE - 1;
/// Added to the number of trials when the search goes along the negative gradient.
const STEEPEST: u64 = 1 << 32;

struct Search<'a, T> {
    grad: &'a mut [T],
    direction: &'a mut [T],
    s: &'a mut [T],
    y: &'a mut [T],
    rho: &'a mut [T],
    metric: Metric<'a, T>,
    /// α, lo, hi (0 for infinite), g·p, ‖g‖ at the start, the number of parameters where there is room for a metric.
    line: &'a mut [T],
}

impl Lbfgs {
    /// Keeps `memory` pairs (1 to 100) and ends when the gradient's norm has fallen to `tolerance` (in [0, 1)) of its
    /// first value. `decay` ≥ 0 times half the squared norm of the parameters is added to the objective.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(memory: usize, tolerance: f64, decay: f64) -> Result<Self> {
        if memory == 0 || memory > 100 {
            return Err(Error::Param { what: "memory" });
        }
        if !(decay >= 0.0 && decay.is_finite()) {
            return Err(Error::Param { what: "decay" });
        }
        let tolerance = super::in_range("tolerance", tolerance, 0.0, 1.0)?;
        Ok(Self { memory, tolerance: tolerance.to_bits(), decay: decay.to_bits(), spared: 0, gain: 0, metric: false })
    }

    /// Without decay of the last coordinates, so many.
    #[must_use]
    pub fn sparing(self, last: usize) -> Self {
        Self { spared: last, ..self }
    }

    /// Ends also where a step promises to lower the objective by no more than this share of it, 0 or more.
    #[must_use]
    pub fn ending_at(self, gain: f64) -> Self {
        Self { gain: gain.to_bits(), ..self }
    }

    /// With room for a metric, of up to 129 parameters; without one it goes on as it would without room.
    #[must_use]
    pub fn with_metric(self) -> Self {
        Self { metric: true, ..self }
    }

    /// Elements of the metric's room.
    fn metric_len(&self, params: usize) -> usize {
        if self.metric && params <= MOST { params * (params + 1) } else { 0 }
    }

    /// Takes the curvature of a run that has not begun, without the decay, if there is room for it: what `curvature` writes, row by row up to the
    /// diagonal.
    ///
    /// ```
    /// use undercurve::algorithm::{Algorithm, Answer, Ask, COUNTERS, Lbfgs, State};
    ///
    /// let rule = Lbfgs::new(5, 1e-8, 0.0)?.with_metric();
    /// let (mut points, mut slots) = (vec![0.0; 2 * 2], vec![0.0; Algorithm::<f64>::slots_len(&rule, 2)]);
    /// rule.take_curvature(&mut slots, 2, |to| to.copy_from_slice(&[1.0, 0.0, 100.0]));
    /// let mut state = State { points: &mut points, slots: &mut slots, counters: &mut [0; COUNTERS] };
    /// // The minimum of ½(x − 3)² + 50(y + 1)², by one step.
    /// while let Ask::Evaluate { at, .. } = rule.next(&state) {
    ///     let w = &state.points[2 * usize::from(at.0)..];
    ///     let (x, y) = (w[0] - 3.0, w[1] + 1.0);
    ///     rule.tell(&mut state, Answer::Gradient { value: 0.5 * x * x + 50.0 * y * y, grad: &[x, 100.0 * y] })?;
    /// }
    /// assert_eq!((state.counters[0], state.points[2], state.points[3]), (2, 3.0, -1.0));
    /// # Ok::<(), undercurve::Error>(())
    /// ```
    pub fn take_curvature<T: Real>(&self, slots: &mut [T], params: usize, curvature: impl FnOnce(&mut [T])) {
        let mut metric = self.cut(slots, params).metric;
        if !metric.factor.is_empty() {
            curvature(metric.curvature);
            // (One that leaves the number type is as none.)
            if metric.curvature.iter().all(|x| x.is_finite()) {
                self.factor(&mut metric, params);
            }
        }
    }

    /// The metric's factor, of the curvature and the decay.
    fn factor<T: Real>(&self, metric: &mut Metric<'_, T>, params: usize) {
        for row in 0..params {
            let start = row * (row + 1) / 2;
            let (before, own) = metric.factor.split_at_mut(start);
            let given = &metric.curvature[start..=start + row];
            let decay = if row + self.spared < params { f64::from_bits(self.decay) } else { 0.0 };
            let whole = given[row].f64() + decay;
            let mut left = whole;
            for k in 0..row {
                let above = &before[k * (k + 1) / 2..][..=k];
                let x = given[k].f64() - dot(&own[..k], &above[..k]);
                // (The sign of a diagonal says that its coordinate stands alone; it meets itself in every product.)
                own[k] = if above[k] > T::ZERO { T::of(x / above[k].f64()) } else { T::ZERO };
                left -= own[k].f64() * own[k].f64();
            }
            own[row] = T::of(crate::Real::sqrt(left));
            if !(left > ALONE * whole && own[row] > T::ZERO) {
                own[..row].fill(T::ZERO);
                own[row] = T::of(if whole > 0.0 { -crate::Real::sqrt(whole) } else { -1.0 });
            }
        }
    }

    fn cut<'a, T: Real>(&self, slots: &'a mut [T], d: usize) -> Search<'a, T> {
        let (grad, rest) = slots.split_at_mut(d);
        let (direction, rest) = rest.split_at_mut(d);
        let (s, rest) = rest.split_at_mut(self.memory * d);
        let (y, rest) = rest.split_at_mut(self.memory * d);
        let (rho, rest) = rest.split_at_mut(self.memory);
        let (metric, line) = rest.split_at_mut(self.metric_len(d));
        let (curvature, factor) = metric.split_at_mut(metric.len() / 2);
        Search { grad, direction, s, y, rho, metric: Metric { curvature, factor }, line }
    }

    /// The next search from the iterate, whose gradient `search` has, with so many pairs and the place of the next; or the end.
    fn search_on<T: Real>(
        &self,
        search: &mut Search<'_, T>,
        base: &[T],
        trial: &mut [T],
        counters: &mut [u64],
        (pairs, place): (usize, usize),
        steepest: bool,
    ) {
        counters[3] = ((pairs as u64) << 32) | place as u64;
        let norm = crate::Real::sqrt(dot(search.grad, search.grad));
        if norm <= f64::from_bits(self.tolerance) * search.line[4].f64() {
            counters[1] = DONE;
            return;
        }
        self.direct(search, pairs, place, steepest);
        let mut slope = dot(search.grad, search.direction);
        if slope >= 0.0 || !slope.is_finite() {
            counters[3] = 0;
            self.direct(search, 0, 0, true);
            slope = dot(search.grad, search.direction);
        } else if pairs > 0 && -slope <= f64::from_bits(self.gain) * f64::from_bits(counters[2]).abs() {
            // (Of a first step, which is no Newton step, nothing is known.)
            counters[1] = DONE;
            return;
        }
        search.line[..4].copy_from_slice(&[T::ONE, T::ZERO, T::ZERO, T::settled_of(slope)]);
        counters[1] = if steepest { STEEPEST + 1 } else { 1 };
        walk(base, 1.0, search.direction, trial);
    }

    /// The same with another decay, in place in the state of a run that has ended (or not begun): it goes on from its iterate, with its pairs, to whose
    /// differences of gradients the other decay adds its part.
    pub(crate) fn with_decay<T: Real>(self, decay: f64, state: &mut State<'_, T>) -> Self {
        let other = Self { decay: decay.to_bits(), ..self };
        let d = state.points.len() / 2;
        let mut metric = self.cut(state.slots, d).metric;
        if metric.is_given() {
            other.factor(&mut metric, d);
        }
        if state.counters[1] == BEGIN {
            return other;
        }
        let decayed = d.saturating_sub(self.spared);
        let more = decay - f64::from_bits(self.decay);
        let (trial, base) = state.points.split_at_mut(d);
        let mut search = self.cut(state.slots, d);
        let (mut pairs, place) = ((state.counters[3] >> 32) as usize, (state.counters[3] & 0xffff_ffff) as usize);
        add(more, &base[..decayed], &mut search.grad[..decayed]);
        for back in 0..pairs {
            let k = (place + self.memory - 1 - back) % self.memory;
            let (s, y) = (&search.s[k * d..][..d], &mut search.y[k * d..][..d]);
            add(more, &s[..decayed], &mut y[..decayed]);
            let ys = dot(s, y);
            // (Rounding may have left nothing of a pair, and of those before it.)
            if !(ys > 1e-10 * crate::Real::sqrt(dot(s, s) * dot(y, y)) && T::of(1.0 / ys).is_finite()) {
                pairs = back;
                break;
            }
            search.rho[k] = T::of(1.0 / ys);
        }
        let value = f64::from_bits(state.counters[2]) + 0.5 * more * dot(&base[..decayed], &base[..decayed]);
        state.counters[2] = value.to_bits();
        other.search_on(&mut search, base, trial, state.counters, (pairs, place), false);
        other
    }

    /// The two-loop recursion: the direction into `direction`. `pairs` pairs are stored, the next goes to `place`. Without any it is that of
    /// the metric, unless the steepest is asked for.
    fn direct<T: Real>(&self, search: &mut Search<'_, T>, pairs: usize, place: usize, steepest: bool) {
        let d = search.grad.len();
        let r = &mut *search.direction;
        for (r, &g) in r.iter_mut().zip(&*search.grad) {
            *r = -g;
        }
        if pairs == 0 {
            if search.metric.is_given() && !steepest {
                search.metric.solve(1.0, r);
                return;
            }
            let norm = T::of(crate::Real::sqrt(dot(search.grad, search.grad)));
            if norm > T::ZERO {
                r.iter_mut().for_each(|r| *r /= norm);
            }
            return;
        }
        let slot = |back: usize| (place + self.memory - 1 - back) % self.memory;
        let mut a = [0.0; 100];
        for back in 0..pairs {
            let k = slot(back);
            a[back] = search.rho[k].f64() * dot(&search.s[k * d..][..d], r);
            add(-a[back], &search.y[k * d..][..d], r);
        }
        let k = slot(0);
        let newest = &search.y[k * d..][..d];
        if search.metric.is_given() {
            search.metric.solve(1.0 / (search.rho[k].f64() * search.metric.square(newest)), r);
        } else {
            let scale = T::of(1.0 / (search.rho[k].f64() * dot(newest, newest)));
            r.iter_mut().for_each(|r| *r *= scale);
        }
        for back in (0..pairs).rev() {
            let k = slot(back);
            let b = search.rho[k].f64() * dot(&search.y[k * d..][..d], r);
            add(a[back] - b, &search.s[k * d..][..d], r);
        }
    }
}

/// Curvature without decay, and Cholesky's factor of it with decay, each row by row up to the diagonal; zeros where none was given.
struct Metric<'a, T> {
    curvature: &'a mut [T],
    factor: &'a mut [T],
}

impl<T: Real> Metric<'_, T> {
    fn is_given(&self) -> bool {
        self.factor.first().is_some_and(|&first| first != T::ZERO)
    }

    /// L⁻¹x.
    fn forward(&self, x: &mut [f64]) {
        for row in 0..x.len() {
            let factor = &self.factor[row * (row + 1) / 2..][..=row];
            let known: f64 = factor.iter().zip(&x[..row]).map(|(l, x)| l.f64() * x).sum();
            x[row] = (x[row] - known) / factor[row].f64();
        }
    }

    /// x·H⁻¹x.
    fn square(&self, x: &[T]) -> f64 {
        let mut room = [0.0; MOST];
        let z = &mut room[..x.len()];
        z.iter_mut().zip(x).for_each(|(z, x)| *z = x.f64());
        self.forward(z);
        z.iter().map(|z| z * z).sum()
    }

    /// x ← times·H⁻¹x.
    fn solve(&self, times: f64, x: &mut [T]) {
        let mut room = [0.0; MOST];
        let z = &mut room[..x.len()];
        z.iter_mut().zip(&*x).for_each(|(z, x)| *z = times * x.f64());
        self.forward(z);
        for row in (0..x.len()).rev() {
            let factor = &self.factor[row * (row + 1) / 2..][..=row];
            let (before, own) = z.split_at_mut(row);
            own[0] /= factor[row].f64();
            before.iter_mut().zip(factor).for_each(|(z, l)| *z -= l.f64() * own[0]);
        }
        x.iter_mut().zip(&*z).for_each(|(x, &z)| *x = T::of(z));
    }
}

/// Inner product in f64.
fn dot<T: Real>(a: &[T], b: &[T]) -> f64 {
    let mut lanes = [0.0; 4];
    for (a, b) in a.chunks(4).zip(b.chunks(4)) {
        for ((lane, &a), &b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a.f64() * b.f64();
        }
    }
    (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])
}

/// y ← y + factor·x.
fn add<T: Real>(factor: f64, x: &[T], y: &mut [T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = T::of(y.f64() + factor * x.f64());
    }
}

impl<T: Real> Algorithm<T> for Lbfgs {
    fn points(&self) -> usize {
        2
    }
    fn iterate(&self) -> Point {
        Point(1)
    }
    fn slots_len(&self, params: usize) -> usize {
        params.saturating_mul(2 * (self.memory + 1)).saturating_add(self.metric_len(params) + self.memory + 6)
    }
    fn draws_all(&self) -> bool {
        true
    }
    fn sound(&self, counters: &[u64], steps: u64) -> bool {
        let (pairs, place) = (counters[3] >> 32, counters[3] & 0xffff_ffff);
        counters[0] <= steps && pairs <= self.memory as u64 && place < self.memory as u64
    }
    fn is_stuck(&self, counters: &[u64]) -> bool {
        counters[1] == FAILED && counters[0] <= 1 + 2 * (TRIALS + 1)
    }
    fn remaining(&self, slots: &[T]) -> Option<f64> {
        let &[.., first, params] = slots else { return None };
        let params = match params.f64() as usize {
            0 => slots.len().checked_sub(self.memory + 6)? / (2 * (self.memory + 1)),
            params => params,
        };
        let (grad, first) = (slots.get(..params)?, first.f64());
        (first > 0.0).then(|| crate::Real::sqrt(dot(grad, grad)) / first)
    }
    fn next(&self, state: &State<'_, T>) -> Ask {
        match state.counters.get(1) {
            Some(&(DONE | FAILED)) => Ask::Done,
            _ => Ask::gradient(Point(0), Draw::All),
        }
    }

    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        let d = state.points.len() / 2;
        let grad = gradient(state.points.len() / 2, state, Algorithm::<T>::slots_len(self, d), answer)?;
        let Answer::Gradient { value, .. } = answer else { return Err(Error::Param { what: "answer" }) };
        let (trial, base) = state.points.split_at_mut(d);
        let decay = f64::from_bits(self.decay);
        let decayed = d.saturating_sub(self.spared);
        let value = value + 0.5 * decay * dot(&trial[..decayed], &trial[..decayed]);
        let slope_at = |grad: &[T], x: &[T], k: usize| {
            let own = if k < decayed { T::of(decay) * x[k] } else { T::ZERO };
            (grad[k] + own).settled()
        };
        let mut search = self.cut(state.slots, d);
        let phase = state.counters[1];
        let (mut pairs, mut place) = ((state.counters[3] >> 32) as usize, (state.counters[3] & 0xffff_ffff) as usize);
        state.counters[0] = state.counters[0].saturating_add(1);

        let judged = match phase {
            BEGIN => Trial::Taken,
            _ => Trial::of(search.line, phase, [f64::from_bits(state.counters[2]), value], || {
                dot(grad, search.direction) + decay * dot(&trial[..decayed], &search.direction[..decayed])
            }),
        };
        match judged {
            Trial::Next(line) => {
                search.line[..3].copy_from_slice(&line.map(T::of));
                state.counters[1] = state.counters[1].saturating_add(1);
                walk(base, line[0], search.direction, trial);
                return Ok(());
            }
            Trial::Failed => {
                state.counters[1] = FAILED;
                trial.copy_from_slice(base);
                return Ok(());
            }
            // Begin again along the negative gradient of the iterate, which `search.grad` still holds.
            Trial::Steepest => (pairs, place) = (0, 0),
            Trial::Taken => {
                if phase != BEGIN {
                    let (s, y) = (&mut search.s[place * d..][..d], &mut search.y[place * d..][..d]);
                    for k in 0..d {
                        s[k] = trial[k] - base[k];
                        y[k] = slope_at(grad, trial, k) - search.grad[k];
                    }
                    let (ys, ss, yy) = (dot(s, y), dot(s, s), dot(y, y));
                    if ys > 1e-10 * crate::Real::sqrt(ss * yy) && T::of(1.0 / ys).is_finite() {
                        search.rho[place] = T::of(1.0 / ys);
                        place = (place + 1) % self.memory;
                        pairs = (pairs + 1).min(self.memory);
                    }
                }
                base.copy_from_slice(trial);
                for k in 0..d {
                    search.grad[k] = slope_at(grad, trial, k);
                }
                if phase == BEGIN {
                    search.line[4] = T::of(crate::Real::sqrt(dot(search.grad, search.grad)));
                    search.line[5] = T::of(if search.metric.factor.is_empty() { 0.0 } else { d as f64 });
                }
                state.counters[2] = value.to_bits();
            }
        }
        self.search_on(&mut search, base, trial, state.counters, (pairs, place), judged == Trial::Steepest);
        Ok(())
    }
}

/// What becomes of a trial.
#[derive(Clone, Copy, PartialEq)]
enum Trial {
    Taken,
    /// Another, at α between lo and hi.
    Next([f64; 3]),
    /// Along the negative gradient.
    Steepest,
    /// Not even along the negative gradient.
    Failed,
}

impl Trial {
    /// From the values at the iterate and at the trial; `along` is the slope there.
    fn of<T: Real>(line: &[T], phase: u64, [old, value]: [f64; 2], along: impl FnOnce() -> f64) -> Self {
        let (alpha, slope) = (line[0].f64(), line[3].f64());
        let (mut lo, mut hi) = (line[1].f64(), line[2].f64());
        // A value that is not finite is no decrease.
        let decrease = value < old + SUFFICIENT * alpha * slope;
        if !decrease {
            hi = alpha;
        } else if along() <= CURVATURE * slope {
            lo = alpha;
        }
        if decrease && lo != alpha {
            Self::Taken
        } else if (phase & (STEEPEST - 1)) < TRIALS {
            Self::Next([if hi > 0.0 { 0.5 * (lo + hi) } else { 2.0 * lo }, lo, hi])
        } else if decrease {
            Self::Taken
        } else if phase >= STEEPEST {
            Self::Failed
        } else {
            Self::Steepest
        }
    }
}

/// to = from + α·direction.
fn walk<T: Real>(from: &[T], alpha: f64, direction: &[T], to: &mut [T]) {
    let alpha = T::of(alpha);
    for ((to, &x), &p) in to.iter_mut().zip(from).zip(direction) {
        *to = x + alpha * p;
    }
}

impl Lbfgs {
    /// From checked settings.
    pub(super) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        let tolerance = settings.value("tolerance");
        let rule = Self::new(settings.value("memory") as usize, tolerance, settings.decay())?;
        // (The bias of a linear model is its last parameter.)
        Ok(match settings.text("bias") {
            None => rule,
            Some(bias) => {
                let free = bias == "free" && !settings.scope().network;
                let rule = rule.sparing(usize::from(free)).ending_at(tolerance * tolerance);
                if settings.scope().network { rule } else { rule.with_metric() }
            }
        })
    }
}

/// Its entry in the table of step rules.
pub(crate) const ENTRY: Optimizer = Optimizer {
    name: "lbfgs",
    about: "L-BFGS with a weak Wolfe search (exact methods only).",
    source: Source {
        paper: "Liu, Nocedal 1989, On the Limited Memory BFGS Method for Large Scale Optimization",
        part: "algorithm 2.1; search: Lewis, Overton 2013, algorithm 2.6",
    },
    file: "core/src/algorithm/lbfgs.rs",
};

const _: () = assert!(COUNTERS >= 4);
