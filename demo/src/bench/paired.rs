//! Two methods on the same splits: mean difference, 95 % interval, and how often which was ahead.

use std::f64::consts::PI;

/// A difference over splits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The mean.
    pub mean: f64,
    /// Half the length of the 95 % interval of Student's paired t; NaN for fewer than two splits.
    pub half: f64,
    /// Splits on which the first was ahead, neither was, and the second was.
    pub counts: [usize; 3],
}

impl Difference {
    /// Of `ours` from `theirs`, split by split.
    pub fn new(ours: &[f64], theirs: &[f64]) -> Self {
        let apart: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| a - b).collect();
        let (mean, sd) = mean_sd(&apart);
        let n = apart.len();
        let half = if n < 2 { f64::NAN } else { quantile(n - 1) * sd / (n as f64).sqrt() };
        let count = |test: fn(&f64) -> bool| apart.iter().filter(|x| test(x)).count();
        Self { mean, half, counts: [count(|&x| x > 0.0), count(|&x| x == 0.0), count(|&x| x < 0.0)] }
    }
}

/// The 97.5 % quantile of Student's t with so many degrees of freedom, at least one.
fn quantile(freedom: usize) -> f64 {
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if inside(middle, freedom) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// P(|t| ≤ x): Abramowitz and Stegun 1964, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
fn inside(x: f64, freedom: usize) -> f64 {
    let angle = (x / (freedom as f64).sqrt()).atan();
    let (sin, cos) = angle.sin_cos();
    let odd = freedom % 2 == 1;
    // Powers of the cosine with the products of odd over even numbers, or of even over odd ones.
    let (mut term, mut sum) = (if odd { cos } else { 1.0 }, 0.0);
    let mut power = if odd { 1 } else { 0 };
    while power + 2 <= freedom {
        sum += term;
        power += 2;
        term *= cos * cos * (power - 1) as f64 / power as f64;
    }
    if odd { 2.0 / PI * (angle + sin * sum) } else { sin * sum }
}

/// Mean and standard deviation (n − 1).
pub fn mean_sd(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let spread = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0).max(1.0);
    (mean, spread.sqrt())
}

#[cfg(test)]
mod tests {
    use super::{Difference, quantile};

    /// Abramowitz and Stegun, table 26.10.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, expected) in [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (5, 2.571),
            (8, 2.306),
            (9, 2.262),
            (10, 2.228),
            (30, 2.042),
        ] {
            assert!((quantile(freedom) - expected).abs() < 5.1e-4, "{freedom}: {}", quantile(freedom));
        }
    }

    #[test]
    fn differences_are_of_the_same_split() {
        let theirs = [0.5, 0.75, 0.25, 1.0];
        let ours = [0.75, 0.75, 0.5, 0.75];
        let apart = Difference::new(&ours, &theirs);
        assert_eq!((apart.mean, apart.counts), (0.0625, [2, 1, 1]));
        // Deviation .2394 of .25, 0, .25, −.25, and t = 3.182.
        assert!((apart.half - 3.1824 * 0.239_357 / 2.0).abs() < 1e-4, "{apart:?}");
        // Splits that differ far more from each other than the methods do: a test without pairs would see nothing.
        let (ours, theirs): (Vec<f64>, Vec<f64>) = (0..10).map(|k| (f64::from(k) + 0.125, f64::from(k))).unzip();
        assert_eq!(Difference::new(&ours, &theirs), Difference { mean: 0.125, half: 0.0, counts: [10, 0, 0] });
        assert!(Difference::new(&[1.0], &[0.5]).half.is_nan());
    }
}
