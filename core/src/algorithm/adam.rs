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
//! G' below [`Real::FAINT`], a first moment below [`Real::TINY`] and a second below the least normal number become 0: they,
//! and the square of G', would fade into subnormal numbers, with which many processors compute a hundred times slower.
//! Cost O(d) a step. Memory: 2d values, m then v, from 0. Counter 0 is the number of steps.

use super::schedule::Shape;
use super::{Algorithm, Answer, Ask, FRESH_GRADIENT, Schedule, State, gradient, in_range, power};
use crate::device::Recipe;
use crate::error::{Error, Result};
use crate::features::SMALL;
use crate::real::Real;
use crate::registry::entry::{Optimizer, Source};
use crate::registry::settings::Settings;
use crate::simd::{Kernel, vectorised};
use crate::slices::Part;

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

/// What Adam is made of. The default has the paper's rates and no decay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamSettings {
    /// Rate, ≥ 0.
    pub lr: Schedule,
    /// Weight of the old first moment, in [0, 1).
    pub beta1: f64,
    /// Weight of the old second moment, in [0, 1).
    pub beta2: f64,
    /// ε > 0.
    pub eps: f64,
    /// Weight decay, ≥ 0.
    pub decay: f64,
    /// Which form.
    pub form: AdamForm,
}

impl Default for AdamSettings {
    fn default() -> Self {
        let (lr, form) = (Schedule::constant(0.001), AdamForm::Corrected);
        Self { lr, beta1: 0.9, beta2: 0.999, eps: 1e-8, decay: 0.0, form }
    }
}

/// Adam.
///
/// ```
/// use undercurve::algorithm::{Adam, AdamSettings, Algorithm, Answer, COUNTERS, Schedule, State};
///
/// let rule = Adam::new(AdamSettings { lr: Schedule::constant(0.1), ..AdamSettings::default() })?;
/// let (mut w, mut moments) = ([0.0f64; 2], [0.0; 4]); // of d parameters 2d moments
/// let mut state = State { points: &mut w, slots: &mut moments, counters: &mut [0; COUNTERS] };
/// rule.tell(&mut state, Answer::Gradient { value: 0.0, grad: &[1e-3, -50.0] })?;
/// // Corrected for its start, the first step is lr long in every entry, whatever the size of the gradient.
/// assert!((w[0] + 0.1).abs() < 1e-5 && (w[1] - 0.1).abs() < 1e-5);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Adam(AdamSettings);

impl Adam {
    /// With these settings; its [`Default`] needs no check.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(settings: AdamSettings) -> Result<Self> {
        let AdamSettings { lr, beta1, beta2, eps, decay, .. } = settings;
        lr.check()?;
        in_range("beta1", beta1, 0.0, 1.0)?;
        in_range("beta2", beta2, 0.0, 1.0)?;
        in_range("eps", eps, f64::MIN_POSITIVE, f64::INFINITY)?;
        in_range("decay", decay, 0.0, f64::INFINITY)?;
        Ok(Self(settings))
    }
}

impl<T: Real> Algorithm<T> for Adam {
    /// The decay, β₁, 1 − β₁, β₂, 1 − β₂, what is added to v inside the root; of a step the factor of m/(√v …) and what is added
    /// to the root.
    fn recipe(&self) -> Option<Recipe> {
        let AdamSettings { beta1, beta2, eps, decay, form, .. } = self.0;
        let inside = if form == AdamForm::Corrected { 0.0 } else { eps };
        let name = if form == AdamForm::AmsGrad { "amsgrad" } else { "adam" };
        Some(Recipe::new(name, &[decay, beta1, 1.0 - beta1, beta2, 1.0 - beta2, inside]))
    }
    fn pace(&self, counters: &mut [u64], out: &mut [[f64; 2]]) -> usize {
        let outside = if self.0.form == AdamForm::Corrected { self.0.eps } else { 0.0 };
        super::even_pace(counters, out, |step| {
            let (lr, root2) = self.corrected(step);
            [lr * root2, outside * root2]
        })
    }
    fn slots_len(&self, params: usize) -> usize {
        2 * params
    }
    fn sound(&self, counters: &[u64], steps: u64) -> bool {
        super::counted(counters, steps)
    }
    fn next(&self, _: &State<'_, T>) -> Ask {
        FRESH_GRADIENT
    }
    fn tell(&self, state: &mut State<'_, T>, answer: Answer<'_, T>) -> Result<()> {
        let len = state.points.len();
        let grad = gradient(state.points.len(), state, 2 * len, answer)?;
        let step = state.counters.first().copied().unwrap_or(0);
        let (beta1, fresh1) = (T::of(self.0.beta1), T::of(1.0 - self.0.beta1));
        let (beta2, fresh2) = (T::of(self.0.beta2), T::of(1.0 - self.0.beta2));
        let (lr, root2) = self.corrected(step);
        let (lr, root2) = (T::of(lr), T::of(root2));
        let (eps, decay) = (T::of(self.0.eps), T::of(self.0.decay));
        // lr·(m/c₁)/(√(v/c₂) + ε) = (lr/c₁)·m·√c₂/(√v + ε√c₂): one division, one root.
        let (outside, inside) = match self.0.form {
            AdamForm::Corrected => (eps * root2, T::ZERO),
            AdamForm::Plain | AdamForm::AmsGrad => (T::ZERO, eps),
        };
        let factor = lr * root2;
        let rising = self.0.form == AdamForm::AmsGrad;
        let rule = Rule { beta1, fresh1, beta2, fresh2, decay, factor, outside, inside, rising };
        let (first, second) = state.slots.halves_mut(len)?;
        // Nothing may be written before it is known that all of it is finite. The cheap pass bounds every step by the
        // largest moment over the least divisor; only where that bound does not fit are the steps computed to be looked at.
        let (odd, largest) = vectorised(Look { rule, points: state.points, first, second, grad });
        let least = inside.sqrt() + outside;
        let bound = largest.f64() + (factor * largest).f64() / least.f64();
        let safe = odd == T::ZERO && bound < T::MAX.f64();
        if !safe {
            let each = state.points.iter().zip(&*first).zip(&*second).zip(grad);
            let fits = each.into_iter().all(|(((&w, &m), &v), &g)| {
                let (w, _, v) = rule.moved(w, m, v, g);
                w.is_finite() && v.is_finite()
            });
            if !fits {
                return Err(Error::Overflow { what: "params" });
            }
        }
        vectorised(Move { rule, points: state.points, first, second, grad });
        if let Some(steps) = state.counters.first_mut() {
            *steps = steps.saturating_add(1);
        }
        Ok(())
    }
}

/// The numbers of one step.
#[derive(Clone, Copy)]
struct Rule<T> {
    beta1: T,
    fresh1: T,
    beta2: T,
    fresh2: T,
    decay: T,
    factor: T,
    /// What is added to the root and inside it.
    outside: T,
    inside: T,
    /// Whether v never falls.
    rising: bool,
}

impl<T: Real> Rule<T> {
    /// The new w, m and v.
    #[inline(always)]
    fn moved(&self, w: T, m: T, v: T, g: T) -> (T, T, T) {
        let g = (g + self.decay * w).settled();
        let m = (self.beta1 * m + self.fresh1 * g).settled_below(T::TINY);
        let new = (self.beta2 * v + self.fresh2 * g * g).settled_below(T::TINY * T::EPSILON);
        let v = if self.rising { new.or_larger(v) } else { new };
        (w - self.factor * m / ((v + self.inside).sqrt() + self.outside), m, v)
    }

    /// Adds 0 to `odd` if the new v is finite, and keeps the largest |w| and |m|.
    #[inline(always)]
    fn look(&self, (odd, largest): (&mut T, &mut T), w: T, m: T, v: T, g: T) {
        let g = (g + self.decay * w).settled();
        let v = self.beta2 * v + self.fresh2 * g * g;
        let m = (self.beta1 * m + self.fresh1 * g).abs();
        *odd += T::ZERO * v;
        *largest = largest.or_larger(w.abs()).or_larger(m);
    }
}

/// Looks at all entries.
struct Look<'a, T> {
    rule: Rule<T>,
    points: &'a [T],
    first: &'a [T],
    second: &'a [T],
    grad: &'a [T],
}

impl<T: Real> Kernel for Look<'_, T> {
    type Output = (T, T);
    #[inline(always)]
    fn run(self, _: bool) -> (T, T) {
        let rule = self.rule;
        if SMALL {
            let (mut odd, mut largest) = (T::ZERO, T::ZERO);
            for (((&w, &m), &v), &g) in self.points.iter().zip(self.first).zip(self.second).zip(self.grad) {
                rule.look((&mut odd, &mut largest), w, m, v, g);
            }
            return (odd, largest);
        }
        let (mut odd, mut largest) = ([T::ZERO; LANES], [T::ZERO; LANES]);
        let (w, m) = (self.points.as_chunks::<LANES>(), self.first.as_chunks::<LANES>());
        let (v, g) = (self.second.as_chunks::<LANES>(), self.grad.as_chunks::<LANES>());
        for (((w, m), v), g) in w.0.iter().zip(m.0).zip(v.0).zip(g.0) {
            for l in 0..LANES {
                rule.look((&mut odd[l], &mut largest[l]), w[l], m[l], v[l], g[l]);
            }
        }
        for (((&w, &m), &v), &g) in w.1.iter().zip(m.1).zip(v.1).zip(g.1) {
            rule.look((&mut odd[0], &mut largest[0]), w, m, v, g);
        }
        let both = odd.into_iter().zip(largest);
        both.fold((T::ZERO, T::ZERO), |(odd, largest), (o, l)| (odd + o, largest.or_larger(l)))
    }
}

/// Moves all entries.
struct Move<'a, T> {
    rule: Rule<T>,
    points: &'a mut [T],
    first: &'a mut [T],
    second: &'a mut [T],
    grad: &'a [T],
}

impl<T: Real> Kernel for Move<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self, _: bool) {
        let rule = self.rule;
        for (((w, m), v), &g) in self.points.iter_mut().zip(self.first).zip(self.second).zip(self.grad) {
            (*w, *m, *v) = rule.moved(*w, *m, *v, g);
        }
    }
}

impl Adam {
    /// The rate of a step over the correction of m, and the root of that of v.
    fn corrected(&self, step: u64) -> (f64, f64) {
        let (correct1, correct2) = match self.0.form {
            AdamForm::Corrected => {
                (1.0 - power(self.0.beta1, step.saturating_add(1)), 1.0 - power(self.0.beta2, step.saturating_add(1)))
            }
            AdamForm::Plain | AdamForm::AmsGrad => (1.0, 1.0),
        };
        (self.0.lr.at(step) / correct1, crate::Real::sqrt(correct2))
    }

    /// From checked settings.
    pub(super) fn from_settings(settings: &Settings<'_>, form: AdamForm) -> Result<Self> {
        let (beta1, beta2) = (settings.value("beta1"), settings.value("beta2"));
        let (lr, eps, decay) = (Schedule::from_settings(settings)?, settings.value("eps"), settings.decay());
        Self::new(AdamSettings { lr, beta1, beta2, eps, decay, form })
    }

    /// Of settings, for so many steps of cross-entropy before a method's own.
    ///
    /// # Errors
    /// `Param` where the method has none.
    pub fn of_pretraining(settings: &Settings<'_>, steps: u64) -> Result<Self> {
        // (Its own length decides its rate.)
        let own = settings.clone().with_steps(steps);
        let lr = Schedule::new(own.value("pretrain-lr"), Shape::Linear, steps);
        settings.also_read(&own);
        let decay = if settings.scope().from_linear { 0.0 } else { settings.pretraining_decay() };
        Self::new(AdamSettings { lr, decay, ..AdamSettings::default() })
    }
}

/// Its entry in the table of step rules.
pub(crate) const ENTRY: Optimizer = Optimizer {
    name: "adam",
    about: "Adam with bias correction.",
    source: Source { paper: "Kingma, Ba 2015, Adam: A Method for Stochastic Optimization", part: "algorithm 1" },
    file: "core/src/algorithm/adam.rs",
};

/// Its entry in the table of step rules.
pub(crate) const PLAIN: Optimizer = Optimizer {
    name: "adam-plain",
    about: "Adam without bias correction, epsilon inside the root.",
    source: Source {
        paper: "Qi, Luo, Xu, Ji, Yang 2021, Stochastic Optimization of Areas Under Precision-Recall Curves with Provable Convergence",
        part: "algorithm 3",
    },
    file: "core/src/algorithm/adam.rs",
};

/// Its entry in the table of step rules.
pub(crate) const AMSGRAD: Optimizer = Optimizer {
    name: "amsgrad",
    about: "adam-plain with a second moment that never falls.",
    source: Source {
        paper: "Qi, Luo, Xu, Ji, Yang 2021, Stochastic Optimization of Areas Under Precision-Recall Curves with Provable Convergence",
        part: "algorithm 3, after Reddi, Kale, Kumar 2018",
    },
    file: "core/src/algorithm/adam.rs",
};
