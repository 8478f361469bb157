//! Tails of the binomial, normal and Student's distribution, of rows that need not be whole numbers.
//!
//! ```text
//! P(B(n, p) ≥ x) = I_p(x, n − x + 1)      P(T_ν > t) = ½ I_{ν/(ν + t²)}(ν/2, ½)
//! ```
//!
//! The incomplete beta function I by its continued fraction, after Lentz (Press et al. 2007, "Numerical Recipes", 6.4).

use crate::real::Real;

/// The chance that x or more of n rows are hits where a share p is. O(√n).
pub(super) fn binomial_from(n: f64, p: f64, x: f64) -> f64 {
    if x <= 0.0 { 1.0 } else { beta(p, x, n - x + 1.0) }
}

/// (z/t)²: what rows of so many degrees of freedom are worth of rows whose deviation is known, in a test at this level.
pub(super) fn worth(level: f64, freedom: f64) -> f64 {
    if level >= 0.5 {
        return 1.0;
    }
    let normal = normal_quantile(level);
    let student = quantile(|t| 0.5 * beta(freedom / (freedom + t * t), 0.5 * freedom, 0.5), level);
    (normal / student) * (normal / student)
}

/// The normal number that is passed with a probability below ½.
pub(super) fn normal_quantile(level: f64) -> f64 {
    quantile(|z| 0.5 * libm::erfc(z / core::f64::consts::SQRT_2), level)
}

/// Where a tail that falls comes to a level.
fn quantile(tail: impl Fn(f64) -> f64, level: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while tail(high) > level && high < 1e12 {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        *(if tail(middle) > level { &mut low } else { &mut high }) = middle;
    }
    0.5 * (low + high)
}

/// I_x(a, b).
fn beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.or_larger(0.0).or_smaller(1.0);
    }
    let gamma = |of: f64| libm::lgamma(of);
    let front = libm::exp(gamma(a + b) - gamma(a) - gamma(b) + a * Real::ln(x) + b * Real::ln_1p(-x));
    // (The fraction converges fast up to about the mean.)
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    }
}

fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let least = |of: f64| if of.abs() < 1e-300 { 1e-300 } else { of };
    let (mut c, mut d) = (1.0, 1.0 / least(1.0 - (a + b) * x / (a + 1.0)));
    let mut product = d;
    for step in 1..1_000_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut last = 1.0;
        for term in [even, odd] {
            d = 1.0 / least(1.0 + term * d);
            c = least(1.0 + term / c);
            last = c * d;
            product *= last;
        }
        if (last - 1.0).abs() < 1e-15 {
            break;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::{binomial_from, worth};

    /// Of whole numbers as the sum of their probabilities; Student's quantiles from tables: 1.8946 and 1.6449 at 5 %.
    #[test]
    fn tails_are_those_of_sums_and_tables() {
        for (n, p, x) in [(10, 0.3, 4), (40, 0.9, 39), (2000, 0.8, 1630), (5, 0.5, 5), (100_000, 0.01, 1100)] {
            let sum = crate::decision::promise::binomial(n, p, x).1;
            let tail = binomial_from(n as f64, p, x as f64);
            assert!((tail / sum - 1.0).abs() < 1e-7, "{n} {p} {x}: {tail} and {sum}");
        }
        let ratio = 1.644_853_6_f64 / 1.894_578_6;
        assert!((worth(0.05, 7.0) - ratio * ratio).abs() < 1e-7);
        assert!((worth(0.01, 1e6) - 1.0).abs() < 1e-4);
    }
}
