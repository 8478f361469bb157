//! What an algorithm may ask of a finite sum P(w) = (1/n) Σ f_i(w) + (λ/2)‖w‖².
//!
//! [`Gradients`] is what every sum answers, a host's own one included: three required methods, the others have defaults.
//! [`Recursion`](super::Recursion), [`Anchored`](super::Anchored) and [`HeavyBall`](super::HeavyBall) keep the vectors of an algorithm in the form that suits the sum: by
//! default in plain vectors, lazily where a step then costs less. A host's own sum takes the defaults by three empty
//! `impl`s, and is then an [`Oracle`](super::Oracle) for every algorithm:
//!
//! ```
//! use undercurve::finite_sum::{AiSarah, Anchored, Examples, FiniteSum, Gradients, HeavyBall, Memory, Recursion};
//!
//! /// f_i(w) = ½(w − i)² for i = 0, 1, …, 9.
//! struct Mine;
//!
//! impl Gradients<f64> for Mine {
//!     fn len(&self) -> usize {
//!         10
//!     }
//!     fn dim(&self) -> usize {
//!         1
//!     }
//!     fn add_slopes(
//!         &self,
//!         w: &[f64],
//!         which: Examples<'_>,
//!         scale: f64,
//!         out: &mut [f64],
//!         _: &mut [f64],
//!     ) -> undercurve::Result<()> {
//!         which.each(|i| out[0] += scale * (w[0] - i as f64));
//!         Ok(())
//!     }
//! }
//! impl Recursion<f64> for Mine {}
//! impl Anchored<f64> for Mine {}
//! impl HeavyBall<f64> for Mine {}
//!
//! let algorithm = AiSarah::new(2, 1.0 / 32.0, 0.999)?;
//! let need = algorithm.need(&Mine)?;
//! let (mut real, mut u32) = (vec![0.0; need.real], vec![0; need.u32]);
//! let mut scratch = vec![0.0; Mine.scratch_len()];
//! let memory = &mut Memory { real: &mut real, u32: &mut u32, scratch: &mut scratch };
//! let mut run = algorithm.start(&Mine, &[0.0], 1, memory)?;
//! for _ in 0..100 {
//!     algorithm.step(&Mine, &mut run, memory)?;
//! }
//! let mut w = [0.0];
//! algorithm.params(&Mine, &run, memory.view(), &mut w)?;
//! assert!((w[0] - 4.5).abs() < 1e-3);
//! # Ok::<(), undercurve::Error>(())
//! ```

use super::vectors::{dot, finish_gradient, norm_sq};
use crate::Real;
use crate::error::{Error, Result, all_finite, exact_len};
use core::ops::Range;

/// Some of the examples 0, 1, …, n − 1.
#[derive(Clone, Copy, Debug)]
pub enum Examples<'i> {
    /// From the first number up to before the second.
    Span(usize, usize),
    /// These examples.
    Picked(&'i [u32]),
}

impl Examples<'_> {
    /// Number of examples.
    #[must_use]
    pub fn len(self) -> usize {
        match self {
            Self::Span(from, to) => to - from,
            Self::Picked(index) => index.len(),
        }
    }

    /// Whether there are no examples.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// These, so many after so many.
    pub(super) fn parts(self, size: usize) -> impl Iterator<Item = Self> {
        let len = self.len();
        (0..len).step_by(size).map(move |from| {
            let to = len.min(from + size);
            match self {
                Self::Span(start, _) => Self::Span(start + from, start + to),
                Self::Picked(index) => Self::Picked(&index[from..to]),
            }
        })
    }

    /// Calls `visit` with each.
    #[inline]
    pub fn each(self, mut visit: impl FnMut(usize)) {
        // (One loop, so that `visit` is there once.)
        for k in 0..self.len() {
            visit(match self {
                Self::Span(from, _) => from + k,
                Self::Picked(index) => index[k] as usize,
            });
        }
    }
}

/// Derivatives of a minibatch's mean along v.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bend {
    /// vᵀHv.
    pub second: f64,
    /// vᵀ∇³f_S[v, v].
    pub third: f64,
}

/// What a sum answers that does not know.
const UNKNOWN: Error = Error::Unsupported { what: "what this sum is asked for" };

/// Gradients of a finite sum of n functions of `dim` parameters, and what else it knows.
pub trait Gradients<T: Real> {
    /// n, at least 1 and below 2³².
    fn len(&self) -> usize;

    /// Number of parameters, at least 1.
    fn dim(&self) -> usize;

    /// Adds `scale` · Σ ∇f_i(w) over `which`, without λ, to `out`. `w` and `out` are `dim` long. What is not finite is left
    /// for the caller.
    ///
    /// # Errors
    /// Those of the sum; `out` is then unspecified.
    fn add_slopes(&self, w: &[T], which: Examples<'_>, scale: f64, out: &mut [T], scratch: &mut [T]) -> Result<()>;

    /// No examples; never true of a sum.
    fn is_empty(&self) -> bool
    where
        Self: Sized,
    {
        self.len() == 0
    }

    /// λ of (λ/2)‖w‖², which the sum itself leaves out of its gradients.
    fn lambda(&self) -> f64 {
        0.0
    }

    /// Numbers of working memory of any call; their content does not matter. The default is that of [`along`](Self::along).
    fn scratch_len(&self) -> usize {
        self.dim()
    }

    /// Where a walk over all examples that stands at `from` < n rests: behind `from`, at most n.
    fn piece_end(&self, from: usize) -> usize {
        from.saturating_add(256).min(self.len())
    }

    /// Means over `index` at w, without λ: the derivatives along v; the gradient and Hv into `out`. All `dim` long. The default takes central differences of the gradient g, with h = [`reach`](Self::reach)/‖v‖:
    /// Hv ≈ (g(w + hv) − g(w − hv))/(2h), ∇³f_S[v, v] ≈ (g(w + hv) − 2g(w) + g(w − hv))/h².
    ///
    /// # Errors
    /// Those of the sum; the outputs are then unspecified.
    fn along(&self, w: &[T], v: &[T], index: &[u32], out: [&mut [T]; 2], scratch: &mut [T]) -> Result<Bend> {
        let [grad, product] = out;
        let length = Real::sqrt(norm_sq(v));
        let h = if length > 0.0 { self.reach() / length } else { 0.0 };
        let share = 1.0 / index.len() as f64;
        let (point, rest) = scratch.split_at_mut(w.len());
        let mut add = |h: f64, scale: f64, out: &mut [T]| {
            let h = T::of(h);
            for ((point, &w), &v) in point.iter_mut().zip(w).zip(v) {
                *point = w + h * v;
            }
            self.add_slopes(point, Examples::Picked(index), scale, out, rest)
        };
        grad.fill(T::ZERO);
        add(0.0, share, grad)?;
        product.fill(T::ZERO);
        add(h, share, product)?;
        let ahead = dot(v, product).f64();
        add(-h, -share, product)?;
        let apart = dot(v, product).f64();
        let inverse = T::of(1.0 / (2.0 * h));
        product.iter_mut().for_each(|product| *product *= inverse);
        // The gradient behind is the one ahead, less what lies between them.
        let third = (2.0 * (ahead - dot(v, grad).f64()) - apart) / (h * h);
        Ok(Bend { second: apart / (2.0 * h), third })
    }

    /// Length in parameter space of a step that differences are taken over. The default, 10⁻³ in double precision and 0.02
    /// in single, leaves more digits than a step size needs where w is about as long as 1.
    fn reach(&self) -> f64 {
        Real::sqrt(Real::sqrt(T::EPSILON.f64())).or_larger(1e-3)
    }

    /// L_i = max ‖∇²f_i(w − ηv)‖ over η in [0, 1/L_i], with λ, of the examples `which` into `out`. Only known where
    /// ∇²f_i has a closed form.
    ///
    /// # Errors
    /// `Unsupported`, by default.
    fn smoothness(&self, _w: &[T], _v: &[T], _which: Range<usize>, _out: &mut [T]) -> Result<()> {
        Err(UNKNOWN)
    }

    /// ∇²P(w)·q into `out`, or the product with a bound of ∇²P that holds everywhere. All `dim` long.
    ///
    /// # Errors
    /// `Unsupported`, by default.
    fn hessian(&self, _w: Option<&[T]>, _q: &[T], _out: &mut [T]) -> Result<()> {
        Err(UNKNOWN)
    }

    /// P(w), for reports.
    ///
    /// # Errors
    /// `Unsupported`, by default; `Length`, `NonFinite`, `Overflow`.
    fn objective(&self, _w: &[T], _scratch: &mut [T]) -> Result<f64> {
        Err(UNKNOWN)
    }
}

/// ∇P(w) into `grad`, and ‖∇P(w)‖². Both vectors are `dim` long. After an error `grad` is unspecified.
///
/// ```
/// use undercurve::data::Rows;
/// use undercurve::finite_sum::{Glm, GlmLoss, Response, gradient};
///
/// let (x, y) = ([1.0, 2.0], [1.0, 0.0]);
/// let sum = Glm::new(Rows::dense(&x, 1)?, Response::Values(&y), GlmLoss::LeastSquares, 0.0, false)?;
/// let mut grad = [0.0];
/// assert_eq!(gradient(&sum, &[1.0], &mut grad, &mut [])?, 4.0);
/// assert_eq!(grad, [2.0]); // ((1 − 1)·1 + (2 − 0)·2)/2
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// `Length`, `NonFinite`, `Overflow`, and those of the sum.
pub fn gradient<T: Real>(sum: &dyn Gradients<T>, w: &[T], grad: &mut [T], scratch: &mut [T]) -> Result<f64> {
    exact_len("w", sum.dim(), w.len())?;
    exact_len("grad", sum.dim(), grad.len())?;
    all_finite("w", w)?;
    check_scratch(sum, scratch)?;
    grad.fill(T::ZERO);
    sum.add_slopes(w, Examples::Span(0, sum.len()), 1.0 / sum.len() as f64, grad, scratch)?;
    finish_gradient(sum.lambda(), w, grad)
}

/// Whether the working memory of a call is long enough.
pub(super) fn check_scratch<T: Real, O: Gradients<T> + ?Sized>(sum: &O, scratch: &[T]) -> Result<()> {
    let (need, got) = (sum.scratch_len(), scratch.len());
    if got < need { Err(Error::Length { what: "scratch", need, got }) } else { Ok(()) }
}
