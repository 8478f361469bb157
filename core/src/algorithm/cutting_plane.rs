//! The cutting-plane method for ½‖w‖² + C·H(w) with a convex H ≥ 0 that is the largest of many linear functions.
//!
//! Source: Joachims 2006, "Training Linear SVMs in Linear Time", algorithm 1 with one slack variable; used by SVMpAUC-tight
//! (Narasimhan and Agarwal 2013).
//!
//! ```text
//! at w: H(w) = Δ + gᵀw, the most violated of all;   ξ = max(0, max_k Δ_k + g_kᵀw) over the planes kept
//! done when H(w) − ξ ≤ tolerance;   otherwise keep (Δ, g) and solve
//! max_α Σ_k α_k Δ_k − ½‖Σ_k α_k g_k‖²,   α ≥ 0, Σ α ≤ C;        w = −Σ_k α_k g_k
//! ```
//!
//! The small problem is solved by pairwise steps along the most violating pair (with a plane of zeros for what of C is left),
//! from the α of before. When there is no room for another plane, the one with the least α goes. Where it is done, the
//! objective is within C·tolerance of the least.
//!
//! Memory: d values a plane, and p² + 4p f64 for p planes. Cost of a plane O(pd), and O(p) for each pairwise step.

use super::in_range;
use crate::error::{Error, Result, all_finite, exact_len};
use crate::real::Real;

/// The cutting-plane method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CuttingPlane {
    c: f64,
    tolerance: f64,
    planes: usize,
}

/// Its memory, all of it the caller's.
#[derive(Debug)]
pub struct Cuts<'a, T> {
    /// w, d long. It starts at 0.
    pub w: &'a mut [T],
    /// The planes' g, [`CuttingPlane::planes`] times d.
    pub planes: &'a mut [T],
    /// [`CuttingPlane::f64_len`] long.
    pub f64: &'a mut [f64],
    /// Planes kept.
    pub kept: &'a mut u64,
}

/// Pairwise steps of one small problem at most, for each plane.
const STEPS: usize = 2000;

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

    /// Planes that it keeps at most.
    #[must_use]
    pub fn planes(&self) -> usize {
        self.planes
    }

    /// Length of the `f64` part of its memory.
    #[must_use]
    pub fn f64_len(&self) -> usize {
        self.planes * (self.planes + 4)
    }

    /// Takes H(w), its own Δ and its gradient at w. Returns whether w is the answer; otherwise it has moved.
    ///
    /// # Errors
    /// `Length`, `NonFinite`, `Overflow` (a product of two planes). Nothing has changed then.
    pub fn tell<T: Real>(&self, cuts: &mut Cuts<'_, T>, value: f64, loss: f64, grad: &[T]) -> Result<bool> {
        let (len, most) = (cuts.w.len(), self.planes);
        exact_len("grad", len, grad.len())?;
        exact_len("planes", most * len, cuts.planes.len())?;
        exact_len("f64", self.f64_len(), cuts.f64.len())?;
        all_finite("grad", grad)?;
        if !(value.is_finite() && loss.is_finite()) {
            return Err(Error::NonFinite { what: "value", at: 0 });
        }
        let mut kept = (*cuts.kept as usize).min(most);
        let (gram, rest) = cuts.f64.split_at_mut(most * most);
        let (losses, rest) = rest.split_at_mut(most);
        let (alpha, rest) = rest.split_at_mut(most);
        let (slopes, fresh) = rest.split_at_mut(most);
        let mut slack: f64 = 0.0;
        for (plane, loss) in cuts.planes.chunks_exact(len.max(1)).zip(&*losses).take(kept) {
            slack = slack.or_larger(loss + dot(plane, cuts.w));
        }
        if value - slack <= self.tolerance {
            return Ok(true);
        }
        // The new plane's products with those kept and with itself.
        let own = dot(grad, grad);
        for (product, plane) in fresh.iter_mut().zip(cuts.planes.chunks_exact(len.max(1))).take(kept) {
            *product = dot(plane, grad);
        }
        all_finite("planes", &fresh[..kept]).map_err(|_| Error::Overflow { what: "planes" })?;
        if !own.is_finite() {
            return Err(Error::Overflow { what: "planes" });
        }
        let at = if kept < most {
            kept += 1;
            kept - 1
        } else {
            (1..kept).fold(0, |least, k| if alpha[k] < alpha[least] { k } else { least })
        };
        for k in 0..kept {
            (gram[at * most + k], gram[k * most + at]) = (fresh[k], fresh[k]);
        }
        (gram[at * most + at], losses[at], alpha[at]) = (own, loss, 0.0);
        cuts.planes[at * len..][..len].copy_from_slice(grad);
        *cuts.kept = kept as u64;
        self.solve(gram, losses, alpha, slopes, kept);
        for (k, w) in cuts.w.iter_mut().enumerate() {
            let sum: f64 = (0..kept).map(|plane| alpha[plane] * cuts.planes[plane * len + k].f64()).sum();
            *w = T::of(-sum);
        }
        Ok(false)
    }

    /// Solves the small problem from the α there is.
    fn solve(&self, gram: &[f64], losses: &[f64], alpha: &mut [f64], slopes: &mut [f64], kept: usize) {
        let most = self.planes;
        for k in 0..kept {
            slopes[k] = losses[k] - (0..kept).map(|other| gram[k * most + other] * alpha[other]).sum::<f64>();
        }
        let mut left = self.c - alpha[..kept].iter().sum::<f64>();
        for _ in 0..STEPS * kept {
            // The plane of zeros has no slope.
            let (mut up, mut down) = (None, None);
            let (mut highest, mut lowest) = (0.0, if left > 0.0 { 0.0 } else { f64::INFINITY });
            for k in 0..kept {
                if slopes[k] > highest {
                    (highest, up) = (slopes[k], Some(k));
                }
                if alpha[k] > 0.0 && slopes[k] < lowest {
                    (lowest, down) = (slopes[k], Some(k));
                }
            }
            if highest - lowest <= 0.01 * self.tolerance {
                break;
            }
            let product = |a: Option<usize>, b: Option<usize>| match (a, b) {
                (Some(a), Some(b)) => gram[a * most + b],
                _ => 0.0,
            };
            let curve = product(up, up) + product(down, down) - 2.0 * product(up, down);
            let room = down.map_or(left, |k| alpha[k]);
            let step = if curve > 0.0 { ((highest - lowest) / curve).or_smaller(room) } else { room };
            let full = step >= room;
            match up {
                Some(k) => alpha[k] += step,
                None => left += step,
            }
            match down {
                Some(k) => alpha[k] = if full { 0.0 } else { alpha[k] - step },
                None => left = if full { 0.0 } else { left - step },
            }
            for k in 0..kept {
                slopes[k] -= step * (product(Some(k), up) - product(Some(k), down));
            }
        }
    }
}

fn dot<T: Real>(a: &[T], b: &[T]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.f64() * b.f64()).sum()
}
