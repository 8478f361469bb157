//! Outer functions f of compositional objectives (1/n) Σ_i f_i(g_i(w)), and their Moreau envelopes.
//!
//! Source: Stochastic Momentum Methods for Non-smooth Non-Convex Finite-Sum Coupled Compositional Optimization, section 4
//! (outer smoothing). With the smoothing λ > 0
//!
//! ```text
//! f_λ(u) = min_x f(x) + ‖x − u‖²/(2λ),   ∇f_λ(u) = (u − prox(u))/λ,   prox(u) = u − λ∇f_λ(u)
//! ```
//!
//! The input is the inner values that an estimator tracks, the output the weights y of the inner gradients. Inner values are few, so
//! everything is `f64`. Each call is O(1) and needs no memory.

use crate::real::Real;

/// An outer function of one inner value.
pub trait Outer: Copy {
    /// f(u).
    fn value(self, u: f64) -> f64;
    /// A subgradient of f at u; 0 at a kink where it can be.
    fn slope(self, u: f64) -> f64;
    /// ∇f_λ(u), λ > 0.
    fn envelope_slope(self, u: f64, lambda: f64) -> f64;
    /// The point where f_λ(u) is attained.
    fn prox(self, u: f64, lambda: f64) -> f64 {
        u - lambda * self.envelope_slope(u, lambda)
    }
    /// f_λ(u).
    fn envelope(self, u: f64, lambda: f64) -> f64 {
        let slope = self.envelope_slope(u, lambda);
        self.value(u - lambda * slope) + 0.5 * lambda * slope * slope
    }
}

/// x between two bounds.
pub(crate) fn clip(x: f64, low: f64, high: f64) -> f64 {
    x.or_larger(low).or_smaller(high)
}

/// `ρ[u]₊`: what a constraint u ≤ 0 costs. ∇f_λ = clip(u/λ, 0, ρ); once λρ exceeds what u can reach, ρ has no effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hinge {
    /// ρ ≥ 0.
    pub weight: f64,
}

impl Outer for Hinge {
    fn value(self, u: f64) -> f64 {
        self.weight * u.or_larger(0.0)
    }
    fn slope(self, u: f64) -> f64 {
        if u > 0.0 { self.weight } else { 0.0 }
    }
    fn envelope_slope(self, u: f64, lambda: f64) -> f64 {
        clip(u / lambda, 0.0, self.weight)
    }
}

/// ρ[|d| − κ]₊ of a difference: what |d| ≤ κ costs. Of d = g₁ − g₂ the envelope by (g₁, g₂) with λ is that of this
/// function with 2λ, and its gradient by g₁ is minus that by g₂.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// ρ ≥ 0.
    pub weight: f64,
    /// κ ≥ 0.
    pub width: f64,
}

impl Outer for Band {
    fn value(self, d: f64) -> f64 {
        self.weight * (d.abs() - self.width).or_larger(0.0)
    }
    fn slope(self, d: f64) -> f64 {
        if d > self.width {
            self.weight
        } else if -d > self.width {
            -self.weight
        } else {
            0.0
        }
    }
    fn envelope_slope(self, d: f64, lambda: f64) -> f64 {
        let size = clip((d.abs() - self.width) / lambda, 0.0, self.weight);
        if d < 0.0 { -size } else { size }
    }
}

/// `ρ[u]₊²`: the smooth penalty of SOX. It needs no envelope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SquaredHinge {
    /// ρ ≥ 0.
    pub weight: f64,
}

impl Outer for SquaredHinge {
    fn value(self, u: f64) -> f64 {
        let u = u.or_larger(0.0);
        self.weight * u * u
    }
    fn slope(self, u: f64) -> f64 {
        2.0 * self.weight * u.or_larger(0.0)
    }
    fn envelope_slope(self, u: f64, lambda: f64) -> f64 {
        self.slope(u) / (1.0 + 2.0 * lambda * self.weight)
    }
}

/// (1/r)[u − s]₊, the term of a block in the conditional value at risk s + mean_i (1/r)[u_i − s]₊, with s a variable beside
/// the parameters: the derivative of the whole by s is 1 − mean_i y_i over *all* blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CvarHinge {
    /// r in (0, 1]: the share of blocks that count.
    pub share: f64,
    /// s.
    pub s: f64,
}

impl CvarHinge {
    fn hinge(self) -> Hinge {
        Hinge { weight: 1.0 / self.share }
    }
}

impl Outer for CvarHinge {
    fn value(self, u: f64) -> f64 {
        self.hinge().value(u - self.s)
    }
    fn slope(self, u: f64) -> f64 {
        self.hinge().slope(u - self.s)
    }
    fn envelope_slope(self, u: f64, lambda: f64) -> f64 {
        self.hinge().envelope_slope(u - self.s, lambda)
    }
}

/// τ ln u for u > 0, of contrastive losses. Concave: the envelope exists for u ≥ 2√(λτ), and its slope is the smaller one
/// below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Log {
    /// τ > 0.
    pub temperature: f64,
}

impl Outer for Log {
    fn value(self, u: f64) -> f64 {
        self.temperature * Real::ln(u)
    }
    fn slope(self, u: f64) -> f64 {
        self.temperature / u
    }
    fn envelope_slope(self, u: f64, lambda: f64) -> f64 {
        // The larger root of x² − ux + λτ, and τ over it.
        let root = (u * u - 4.0 * lambda * self.temperature).or_larger(0.0).sqrt();
        2.0 * self.temperature / (u + root)
    }
}

/// −g₁/g₂ for g₂ > 0, of two inner values: SOAP's outer function. It is smooth where g₂ is bounded below, and SOAP takes it
/// as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio;

impl Ratio {
    /// f(g₁, g₂).
    #[must_use]
    pub fn value(self, g: [f64; 2]) -> f64 {
        -g[0] / g[1]
    }
    /// ∇f(g₁, g₂).
    #[must_use]
    pub fn slope(self, g: [f64; 2]) -> [f64; 2] {
        [-1.0 / g[1], g[0] / (g[1] * g[1])]
    }
    /// ∇f_λ(u) by Newton's method for the root x₂ of x₂³(x₂ − u₂) + λ(u₁x₂ + λ) next to u₂. The envelope exists while λ is
    /// small beside u₂³/u₁; past that the slope is no derivative.
    #[must_use]
    pub fn envelope_slope(self, u: [f64; 2], lambda: f64) -> [f64; 2] {
        let mut x = u[1];
        for _ in 0..50 {
            let cube = x * x * x;
            let value = cube * (x - u[1]) + lambda * (u[0] * x + lambda);
            let slope = cube + 3.0 * x * x * (x - u[1]) + lambda * u[0];
            let step = value / slope;
            if !step.is_finite() {
                break;
            }
            x -= step;
            if step.abs() <= f64::EPSILON * x.abs() {
                break;
            }
        }
        [-1.0 / x, (u[0] + lambda / x) / (x * x)]
    }
}
