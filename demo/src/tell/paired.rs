//! Two methods on the same splits: mean difference, 95 % interval, and how often which was ahead.

use undercurve::metric::student;
pub use undercurve_search::mean_sd;

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
        let half = if n < 2 { f64::NAN } else { student(n as u64 - 1) * sd / (n as f64).sqrt() };
        let count = |test: fn(&f64) -> bool| apart.iter().filter(|x| test(x)).count();
        Self { mean, half, counts: [count(|&x| x > 0.0), count(|&x| x == 0.0), count(|&x| x < 0.0)] }
    }
}

#[cfg(test)]
mod tests {
    use super::Difference;

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
