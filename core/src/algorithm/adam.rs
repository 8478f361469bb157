//! Adam, and the Adam-style step of SOAP.
//!
//! G' = G + decay·w, m ← β₁m + (1 − β₁)G', v ← β₂v + (1 − β₂)G'².
//! - [`AdamForm::Corrected`] (Kingma and Ba 2015, algorithm 1): w ← w − lr_t · m̂/(√v̂ + ε) with m̂ = m/(1 − β₁ᵗ) and
//!   v̂ = v/(1 − β₂ᵗ).
//! - [`AdamForm::Plain`] (Qi et al. 2021, algorithm 3): w ← w − lr_t · m/√(ε + v), no correction, ε inside the root.
//! - [`AdamForm::AmsGrad`] (Qi et al. 2021, algorithm 3, after Reddi, Kale and Kumar 2018): as Plain with
//!   v ← max(v, β₂v + (1 − β₂)G'²), the averages going on from the maximum as that paper writes it.
//!
//! Deviations: the powers β₁ᵗ, β₂ᵗ are computed by squaring from the step number, so nothing has to be saved for them. A
//! first moment below [`Real::TINY`] becomes 0: without gradients (a rare column of sparse data) it would fade into
//! subnormal numbers, with which many processors compute a hundred times slower.
//! Cost O(d) a step. Memory: 2d values, m then v, from 0. Counter 0 is the number of steps.

use super::{Algorithm, Answer, Ask, FRESH_GRADIENT, Schedule, State, gradient, in_range};
use crate::error::{Error, Result};
use crate::real::Real;

/// Which of the published steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AdamForm {
    /// Bias-corrected, ε outside the root.
    Corrected,
    /// Not corrected, ε inside the root.
    Plain,
    /// As plain, with a second moment that never falls.
    AmsGrad,
}

/// Entries looked at side by side.
const LANES: usize = 8;

/// Adam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    lr: Schedule,
    beta1: f64,
    beta2: f64,
    eps: f64,
    decay: f64,
    form: AdamForm,
}

impl Adam {
    /// With a rate (≥ 0), the weights of the old moments (in [0, 1)), ε (> 0) and a weight decay (≥ 0).
    ///
    /// # Errors
    /// `Param`.
    pub fn new(lr: Schedule, beta1: f64, beta2: f64, eps: f64, decay: f64, form: AdamForm) -> Result<Self> {
        Ok(Self {
            lr: lr.check()?,
            beta1: in_range("beta1", beta1, 0.0, 1.0)?,
            beta2: in_range("beta2", beta2, 0.0, 1.0)?,
            eps: in_range("eps", eps, f64::MIN_POSITIVE, f64::INFINITY)?,
            decay: in_range("decay", decay, 0.0, f64::INFINITY)?,
            form,
        })
    }
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

impl<T: Real> Algorithm<T> for Adam {
    fn slots_len(&self, params: usize) -> usize {
        2 * params
    }
    fn next(&self, _: &State<'_, T>) -> Ask {
        FRESH_GRADIENT
    }
    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        let len = state.points.len();
        let grad = gradient(state.points.len(), state, 2 * len, answer)?;
        let step = state.counters[0];
        let (beta1, fresh1) = (T::of(self.beta1), T::of(1.0 - self.beta1));
        let (beta2, fresh2) = (T::of(self.beta2), T::of(1.0 - self.beta2));
        let (correct1, correct2) = match self.form {
            AdamForm::Corrected => (1.0 - power(self.beta1, step + 1), 1.0 - power(self.beta2, step + 1)),
            AdamForm::Plain | AdamForm::AmsGrad => (1.0, 1.0),
        };
        let (lr, root2) = (T::of(self.lr.at(step) / correct1), T::of(libm::sqrt(correct2)));
        let (eps, decay) = (T::of(self.eps), T::of(self.decay));
        // lr·(m/c₁)/(√(v/c₂) + ε) = (lr/c₁)·m·√c₂/(√v + ε√c₂): one division, one root.
        let (outside, inside) = match self.form {
            AdamForm::Corrected => (eps * root2, T::ZERO),
            AdamForm::Plain | AdamForm::AmsGrad => (T::ZERO, eps),
        };
        let factor = lr * root2;
        let rising = self.form == AdamForm::AmsGrad;
        let moved = |w: T, m: T, v: T, g: T| {
            let g = g + decay * w;
            let m = beta1 * m + fresh1 * g;
            let m = if m.abs() < T::TINY { T::ZERO } else { m };
            let new = beta2 * v + fresh2 * g * g;
            let v = if rising { new.or_larger(v) } else { new };
            (w - factor * m / ((v + inside).sqrt() + outside), m, v)
        };
        let (first, second) = state.slots.split_at_mut(len);
        // Nothing may be written before it is known that all of it is finite. The cheap pass bounds every step by the
        // largest moment over the least divisor; only where that bound does not fit are the steps computed to be looked at.
        let each = || state.points.iter().zip(&*first).zip(&*second).zip(grad);
        let mut seen = [(T::ZERO, T::ZERO); LANES];
        let look = |seen: &mut (T, T), w: T, m: T, v: T, g: T| {
            let g = g + decay * w;
            let v = beta2 * v + fresh2 * g * g;
            let m = (beta1 * m + fresh1 * g).abs();
            seen.0 += T::ZERO * v;
            seen.1 = seen.1.or_larger(w.abs()).or_larger(m);
        };
        let (w, m, v, g) = (
            state.points.as_chunks::<LANES>(),
            first.as_chunks::<LANES>(),
            second.as_chunks::<LANES>(),
            grad.as_chunks::<LANES>(),
        );
        for (((w, m), v), g) in w.0.iter().zip(m.0).zip(v.0).zip(g.0) {
            for l in 0..LANES {
                look(&mut seen[l], w[l], m[l], v[l], g[l]);
            }
        }
        for (((&w, &m), &v), &g) in w.1.iter().zip(m.1).zip(v.1).zip(g.1) {
            look(&mut seen[0], w, m, v, g);
        }
        let (mut odd, mut largest) = (T::ZERO, T::ZERO);
        for (lane_odd, lane_largest) in seen {
            odd += lane_odd;
            largest = largest.or_larger(lane_largest);
        }
        let least = inside.sqrt() + outside;
        let bound = largest.f64() + (factor * largest).f64() / least.f64();
        let safe = odd == T::ZERO && bound < T::MAX.f64();
        if !safe {
            let fits = each().all(|(((&w, &m), &v), &g)| {
                let (w, _, v) = moved(w, m, v, g);
                w.is_finite() && v.is_finite()
            });
            if !fits {
                return Err(Error::Overflow { what: "params" });
            }
        }
        for (((w, m), v), &g) in state.points.iter_mut().zip(first).zip(second).zip(grad) {
            (*w, *m, *v) = moved(*w, *m, *v, g);
        }
        state.counters[0] += 1;
        Ok(())
    }
}
