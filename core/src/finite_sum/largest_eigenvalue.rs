//! The largest eigenvalue of a finite sum's Hessian, by Lanczos iteration.
//!
//! A = (1/n) Σ φ''_i x_i x_iᵀ + λ, with φ''_i at a point, or its bound everywhere (then the eigenvalue is the global
//! smoothness constant L, which is λ_max(XᵀX/n)/4 + λ for the logistic loss). Lanczos 1950: β q⁺ = Aq − αq − βq⁻ makes a
//! tridiagonal matrix whose largest eigenvalue, found by bisection with Sturm counts, grows towards that of A. Lost
//! orthogonality only repeats eigenvalues that are already found. Cost: one walk over the data per iteration; memory: 3
//! vectors of length dim and the tridiagonal matrix.

use super::oracle::Gradients;
use super::vectors::norm_sq;
use crate::error::{Error, Result, all_finite, exact_len};
use crate::rng::Rng;
use crate::{Need, Real};

/// An eigenvalue and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eigenvalue {
    /// The estimate, from below.
    pub value: f64,
    /// Iterations made.
    pub iterations: usize,
    /// Whether five more iterations changed it by less than the tolerance.
    pub converged: bool,
}

/// Memory of [`largest_eigenvalue`]: 3 vectors of length `dim`, and 2·`iterations` f64.
#[must_use]
pub const fn largest_eigenvalue_need(dim: usize, iterations: usize) -> Need {
    Need { real: 3 * dim, f64: 2 * iterations, ..Need::NONE }
}

/// λ_max of the Hessian at `at`, or of its bound where `at` is `None`. Stops when five iterations change the estimate by
/// less than `tolerance` (relative), or after `iterations` (≥ 1). The start vector is drawn from `seed`.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::data::Rows;
/// use undercurve::finite_sum::{Glm, GlmLoss, Response, largest_eigenvalue, largest_eigenvalue_need};
///
/// let x = [2.0, 0.0, 0.0, 1.0]; // two rows of two columns: XᵀX/n has the eigenvalues 2 and ½
/// let sum = Glm::new(Rows::dense(&x, 2)?, Response::Labels(&[1, 0]), GlmLoss::Logistic, 0.25, false)?;
/// let need = largest_eigenvalue_need(2, 20);
/// let (mut real, mut f64s) = (vec![0.0f64; need.real], vec![0.0; need.f64]);
/// let scratch = Scratch { real: &mut real, f64: &mut f64s, ..Scratch::default() };
/// let smooth = largest_eigenvalue(&sum, None, 20, 1e-6, 1, scratch)?;
/// assert!((smooth.value - (2.0 / 4.0 + 0.25)).abs() < 1e-6); // L = λ_max/4 + λ
/// # Ok::<(), undercurve::Error>(())
/// ```
///
/// # Errors
/// `Length`, `NonFinite`, `Param` for no iterations, `Overflow`, `Unsupported` where the sum has no Hessian.
pub fn largest_eigenvalue<T: Real>(
    sum: &dyn Gradients<T>,
    at: Option<&[T]>,
    iterations: usize,
    tolerance: f64,
    seed: u64,
    scratch: crate::Scratch<'_, T>,
) -> Result<Eigenvalue> {
    let dim = sum.dim();
    if iterations == 0 {
        return Err(Error::Param { what: "iterations" });
    }
    scratch.check(largest_eigenvalue_need(dim, iterations))?;
    if let Some(w) = at {
        exact_len("at", dim, w.len())?;
        all_finite("at", w)?;
    }
    let (mut q, rest) = scratch.real.split_at_mut(dim);
    let (mut before, rest) = rest.split_at_mut(dim);
    let product = &mut rest[..dim];
    let (diagonal, off) = scratch.f64.split_at_mut(iterations);
    let mut rng = Rng::new(seed);
    for q in q.iter_mut() {
        *q = T::of(rng.normal());
    }
    normalise(q);
    before.fill(T::ZERO);
    let mut link = 0.0;
    let mut estimate = 0.0;
    let mut previous = f64::NAN;
    for k in 0..iterations {
        sum.hessian(at, q, product)?;
        let mut along = 0.0;
        for (&p, &q) in product.iter().zip(q.iter()) {
            along += p.f64() * q.f64();
        }
        if !along.is_finite() {
            return Err(Error::Overflow { what: "Hessian" });
        }
        diagonal[k] = along;
        for ((p, &q), &before) in product.iter_mut().zip(q.iter()).zip(before.iter()) {
            *p -= T::of(along) * q + T::of(link) * before;
        }
        link = Real::sqrt(norm_sq(product));
        off[k] = link;
        let last = k + 1 == iterations || link <= f64::EPSILON * along.abs();
        if last || k % 5 == 4 {
            estimate = top(&diagonal[..=k], &off[..k]);
            let close = (estimate - previous).abs() <= tolerance * estimate.abs();
            if last || close {
                let converged = close || k + 1 < iterations || k + 1 >= dim;
                return Ok(Eigenvalue { value: estimate, iterations: k + 1, converged });
            }
            previous = estimate;
        }
        let inverse = T::of(1.0 / link);
        for (before, &p) in before.iter_mut().zip(product.iter()) {
            *before = p * inverse;
        }
        core::mem::swap(&mut q, &mut before);
    }
    Ok(Eigenvalue { value: estimate, iterations, converged: false })
}

fn normalise<T: Real>(q: &mut [T]) {
    let length = Real::sqrt(norm_sq(q));
    let inverse = T::of(if length > 0.0 { 1.0 / length } else { 0.0 });
    for q in q {
        *q *= inverse;
    }
}

/// The largest eigenvalue of a symmetric tridiagonal matrix, by bisection between Gershgorin bounds.
fn top(diagonal: &[f64], off: &[f64]) -> f64 {
    let (mut low, mut high) = (f64::MAX, -f64::MAX);
    for (k, &d) in diagonal.iter().enumerate() {
        let left = if k > 0 { off[k - 1] } else { 0.0 };
        let right = off.get(k).copied().unwrap_or(0.0);
        low = low.or_smaller(d - left - right);
        high = high.or_larger(d + left + right);
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        // Some eigenvalue lies above `middle` exactly when a pivot of T − middle is not negative.
        let mut pivot = -1.0;
        let mut above = false;
        for (k, &d) in diagonal.iter().enumerate() {
            let left = if k > 0 { off[k - 1] } else { 0.0 };
            pivot = d - middle - if k > 0 { left * left / pivot } else { 0.0 };
            if pivot >= 0.0 {
                above = true;
                break;
            }
        }
        if above {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}
