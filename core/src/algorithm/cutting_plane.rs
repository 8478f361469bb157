//! The cutting-plane method for ½‖w‖² + C·H(w) with a convex H ≥ 0, of which each gradient gives a plane below it.
//!
//! Source: Joachims 2006, "Training Linear SVMs in Linear Time", algorithm 1 with one slack variable; used by SVMpAUC-tight
//! (Narasimhan and Agarwal 2013).
//!
//! ```text
//! at w: keep (Δ, g), g = ∂H(w), Δ = H(w) − gᵀw, and solve
//! D = max_α Σ_k α_k Δ_k − ½‖Σ_k α_k g_k‖²,   α ≥ 0, Σ α ≤ C;        w ← −Σ_k α_k g_k
//! done when the least ½‖w‖² + C·H(w) met is within C·tolerance of D
//! ```
//!
//! The small problem is solved by pairwise steps along the most violating pair (with a plane of zeros for what of C is left),
//! from the α of before, to a hundredth of the tolerance or rounding, and by no more than 20 for each plane. When there is no room for another plane, the one with the least α goes. D is a lower bound whatever α
//! is, so the answer is within C·tolerance of the least objective, up to the rounding of the gradients. Deviation: the answer
//! is the best w met, and the gap is its, instead of those of the last w.
//!
//! H has to be convex in the parameters, so the model linear. Points: 0 the best so far, 1 the next to look at. Counters:
//! evaluations, planes kept, whether it is done. Slots: the planes' g, d values each, then p² + 3p + 1 numbers for p planes,
//! in two values each so that `f32` keeps the small problem's digits. Cost of a plane O(pd), and O(p) for each pairwise step.

use super::{Algorithm, Answer, Ask, Draw, Point, State, gradient, in_range};
use crate::error::{Error, Result, exact_len};
use crate::real::Real;
use crate::registry::settings::Settings;

/// The cutting-plane method.
///
/// ```
/// use undercurve::algorithm::{Algorithm, Answer, Ask, COUNTERS, CuttingPlane, State};
///
/// let rule = CuttingPlane::new(1.0, 1e-6, 20)?;
/// let (mut points, mut slots) = (vec![0.0f64; 2], vec![0.0; Algorithm::<f64>::slots_len(&rule, 1)]);
/// let mut state = State { points: &mut points, slots: &mut slots, counters: &mut [0; COUNTERS] };
/// // ½w² + H(w) with H(w) = |w − 2|, least at w = 1.
/// while let Ask::Evaluate { at, .. } = rule.next(&state) {
///     let w = state.points[usize::from(at.0)];
///     let grad = [if w < 2.0 { -1.0 } else { 1.0 }];
///     rule.tell(&mut state, Answer::Gradient { value: (w - 2.0).abs(), grad: &grad })?;
/// }
/// assert!((points[0] - 1.0f64).abs() < 1e-3);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CuttingPlane {
    c: f64,
    tolerance: f64,
    planes: usize,
}

const POINTS: usize = 2;

/// Pairwise steps of one small problem at most, for each plane.
const STEPS: usize = 20;

impl CuttingPlane {
    /// - `c` > 0.
    /// - `tolerance` > 0 of H.
    /// - `planes` ≥ 2: how many are kept at most.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(c: f64, tolerance: f64, planes: usize) -> Result<Self> {
        if planes < 2 {
            return Err(Error::Param { what: "planes" });
        }
        let above = |what, x: f64| in_range(what, x, f64::MIN_POSITIVE, f64::INFINITY);
        Ok(Self { c: above("c", c)?, tolerance: above("tolerance", tolerance)?, planes })
    }

    /// Numbers beside the planes.
    fn numbers(&self) -> usize {
        self.planes * (self.planes + 3) + 1
    }

    /// Solves the small problem from the α there is.
    fn solve<T: Real>(&self, small: &mut Small<'_, T>, kept: usize) {
        // What rounding leaves of a slope.
        let mut noise = 0.0f64;
        for k in 0..kept {
            let (mut pulled, mut size) = (0.0, small.losses.get(k).abs());
            for other in 0..kept {
                let term = small.gram.get(small.at(k, other)) * small.alpha.get(other);
                pulled += term;
                size += term.abs();
            }
            noise = noise.or_larger(64.0 * f64::EPSILON * size);
            small.slopes.set(k, small.losses.get(k) - pulled);
        }
        let mut left = self.c - (0..kept).map(|k| small.alpha.get(k)).sum::<f64>();
        for _ in 0..STEPS * kept {
            // The plane of zeros has no slope.
            let (mut up, mut down) = (None, None);
            let (mut highest, mut lowest) = (0.0, if left > 0.0 { 0.0 } else { f64::INFINITY });
            for k in 0..kept {
                let slope = small.slopes.get(k);
                if slope > highest {
                    (highest, up) = (slope, Some(k));
                }
                if small.alpha.get(k) > 0.0 && slope < lowest {
                    (lowest, down) = (slope, Some(k));
                }
            }
            if highest - lowest <= noise.or_larger(0.01 * self.tolerance) {
                break;
            }
            let product = |a: Option<usize>, b: Option<usize>| match (a, b) {
                (Some(a), Some(b)) => small.gram.get(small.at(a, b)),
                _ => 0.0,
            };
            let curve = product(up, up) + product(down, down) - 2.0 * product(up, down);
            let room = down.map_or(left, |k| small.alpha.get(k));
            let step = if curve > 0.0 { ((highest - lowest) / curve).or_smaller(room) } else { room };
            let full = step >= room;
            match up {
                Some(k) => small.alpha.set(k, small.alpha.get(k) + step),
                None => left += step,
            }
            match down {
                Some(k) => small.alpha.set(k, if full { 0.0 } else { small.alpha.get(k) - step }),
                None => left = if full { 0.0 } else { left - step },
            }
            for k in 0..kept {
                let product = |other: Option<usize>| other.map_or(0.0, |other| small.gram.get(small.at(k, other)));
                small.slopes.set(k, small.slopes.get(k) - step * (product(up) - product(down)));
            }
        }
    }
}

/// Numbers of which each is the sum of two values.
struct Wide<'a, T>(&'a mut [T]);

impl<T: Real> Wide<'_, T> {
    fn get(&self, k: usize) -> f64 {
        self.0[2 * k].f64() + self.0[2 * k + 1].f64()
    }
    fn set(&mut self, k: usize, x: f64) {
        let high = T::settled_of(x);
        (self.0[2 * k], self.0[2 * k + 1]) = (high, T::settled_of(x - high.f64()));
    }
}

/// The numbers of the small problem.
struct Small<'a, T> {
    /// Products of the planes, `most` squared.
    gram: Wide<'a, T>,
    losses: Wide<'a, T>,
    alpha: Wide<'a, T>,
    slopes: Wide<'a, T>,
    /// The least objective met.
    best: Wide<'a, T>,
    most: usize,
}

impl<'a, T> Small<'a, T> {
    fn cut(values: &'a mut [T], most: usize) -> Self {
        let (gram, rest) = values.split_at_mut(2 * most * most);
        let (losses, rest) = rest.split_at_mut(2 * most);
        let (alpha, rest) = rest.split_at_mut(2 * most);
        let (slopes, best) = rest.split_at_mut(2 * most);
        Self {
            gram: Wide(gram),
            losses: Wide(losses),
            alpha: Wide(alpha),
            slopes: Wide(slopes),
            best: Wide(best),
            most,
        }
    }

    fn at(&self, row: usize, column: usize) -> usize {
        row * self.most + column
    }
}

impl<T: Real> Algorithm<T> for CuttingPlane {
    fn points(&self) -> usize {
        POINTS
    }
    fn draws_all(&self) -> bool {
        true
    }
    fn sound(&self, counters: &[u64], steps: u64) -> bool {
        matches!(*counters, [done, kept, over, _]
            if done <= steps && kept <= done && kept <= self.planes as u64 && over <= 1)
    }
    fn slots_len(&self, params: usize) -> usize {
        self.planes.saturating_mul(params).saturating_add(2 * self.numbers())
    }
    fn next(&self, state: &State<'_, T>) -> Ask {
        if state.counters[2] > 0 { Ask::Done } else { Ask::gradient(Point(1), Draw::All) }
    }
    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        let len = state.points.len() / POINTS;
        let slots = Algorithm::<T>::slots_len(self, len);
        let grad = gradient(len, state, slots, answer)?;
        let Answer::Gradient { value, .. } = answer else { return Err(Error::Param { what: "answer" }) };
        exact_len("points", POINTS * len, state.points.len())?;
        let most = self.planes;
        let (planes, numbers) = state.slots.split_at_mut(most * len);
        let mut small = Small::cut(numbers, most);
        let mut kept = (state.counters[1] as usize).min(most);
        let (answer, w) = state.points.split_at_mut(len);

        let half = 0.5 * dot(w, w);
        let objective = half + self.c * value;
        let bound = (0..kept).map(|k| small.alpha.get(k) * small.losses.get(k)).sum::<f64>() - half;
        // (Before the first plane w is the start, and the bound that of the plane of zeros.)
        let bound = if kept == 0 { 0.0 } else { bound };
        let (plane_loss, own) = (value - dot(grad, w), dot(grad, grad));
        let steepest = grad.iter().fold(0.0, |most: f64, g| most.or_larger(g.f64().abs()));
        let fits = |x: f64| T::of(x).is_finite();
        if !(fits(objective) && fits(plane_loss) && fits(own) && fits(self.c * steepest)) {
            return Err(Error::Overflow { what: "objective" });
        }
        // The new plane's products with those kept, where slopes are made anew below.
        for (k, plane) in planes.chunks_exact(len.max(1)).enumerate().take(kept) {
            let product = dot(plane, grad);
            if !fits(product) {
                return Err(Error::Overflow { what: "planes" });
            }
            small.slopes.set(k, product);
        }
        if state.counters[0] == 0 || objective < small.best.get(0) {
            small.best.set(0, objective);
            answer.copy_from_slice(w);
        }
        state.counters[0] = state.counters[0].saturating_add(1);
        if small.best.get(0) - bound <= self.c * self.tolerance {
            state.counters[2] = 1;
            return Ok(());
        }
        let at = if kept < most {
            kept += 1;
            kept - 1
        } else {
            (1..kept).fold(0, |least, k| if small.alpha.get(k) < small.alpha.get(least) { k } else { least })
        };
        for k in 0..kept {
            let product = if k == at { own } else { small.slopes.get(k) };
            for place in [small.at(at, k), small.at(k, at)] {
                small.gram.set(place, product);
            }
        }
        small.losses.set(at, plane_loss);
        small.alpha.set(at, 0.0);
        planes[at * len..][..len].copy_from_slice(grad);
        state.counters[1] = kept as u64;
        self.solve(&mut small, kept);
        w.fill(T::ZERO);
        for (k, w) in w.iter_mut().enumerate() {
            let sum: f64 = (0..kept).map(|plane| small.alpha.get(plane) * planes[plane * len + k].f64()).sum();
            *w = T::settled_of(-sum);
        }
        Ok(())
    }
}

impl CuttingPlane {
    /// From checked settings.
    pub(super) fn from_settings(settings: &Settings<'_>) -> Result<Self> {
        if settings.scope().network {
            return Err(Error::Unsupported { what: "cutting planes for a network: its objective is not convex" });
        }
        let of = |name| settings.value(name);
        Self::new(of("c"), of("tolerance"), of("planes") as usize)
    }
}

fn dot<T: Real>(a: &[T], b: &[T]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.f64() * b.f64()).sum()
}
