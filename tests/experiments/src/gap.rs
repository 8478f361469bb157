//! P − P* of linear models without link: how far a run is from the least value that the AUC's square loss can have.
//!
//! The min-max objective is, maximised over its dual variable, the pairwise square loss P(w) = E[(1 − s⁺ + s⁻)²] over the
//! training rows, a quadratic in w; L-BFGS on exact gradients (`auc-exact` with the square surrogate) gives its minimum.

use super::experiment::{Budget, Measured, Source, Thin, run};
use super::tune::Settings;
use std::sync::Arc;
use undercurve::data::Dataset;
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Length, ModelSpec, Trainer};
use undercurve_demo::error::{CliError, Result};

/// Name of the drawn problem among the data sets.
pub const GAUSSIAN: &str = "gaussian";

/// What rounding leaves of a difference that is 0.
const FLOOR: f64 = 1e-15;

/// Training rows and P*.
pub struct Problem {
    train: Arc<Dataset<f64>>,
    least: f64,
}

impl Problem {
    /// The training part of a data set's split.
    ///
    /// # Errors
    /// `Input`; where L-BFGS finds no minimum.
    pub fn of(source: &Source, seed: u64, thin: Thin) -> Result<Self> {
        Self::new(source.parts::<f64>(seed, thin)?.train)
    }

    /// Two Gaussian classes: 100,000 rows, one in five positive, ten columns with deviation 1 and means half a deviation
    /// apart. The quadratic's curvatures lie within a factor of 3, so that no method is slow for want of scaling; the
    /// classes overlap, so that gradients of small batches stay noisy at the minimum; and a run sees the rows but a few
    /// times, so that drawing without replacement takes no noise away. Noise alone limits a run.
    ///
    /// # Errors
    /// Where L-BFGS finds no minimum.
    pub fn gaussian(seed: u64) -> Result<Self> {
        const ROWS: usize = 100_000;
        const COLS: usize = 10;
        let mut random = Rng::keyed(seed, 0x6761_7573, 0);
        let labels: Vec<u8> = (0..ROWS).map(|row| u8::from(row % 5 == 0)).collect();
        let mut x = Vec::with_capacity(ROWS * COLS);
        for &label in &labels {
            x.extend((0..COLS).map(|_| random.normal() + 0.5 * f64::from(label)));
        }
        Self::new(Arc::new(Dataset::dense(x, labels, COLS)?))
    }

    fn new(train: Arc<Dataset<f64>>) -> Result<Self> {
        let settings = [
            ("surrogate", "square"),
            ("link", "identity"),
            ("margin", "1"),
            ("decay", "0"),
            ("pretrain", "0"),
            ("tolerance", "1e-9"),
            ("memory", "30"),
        ];
        let config = Config {
            method: "auc-exact".into(),
            settings: settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            model: ModelSpec::Linear,
            length: Length::Steps(20_000),
            ..Config::default()
        };
        let mut trainer = Trainer::<f64>::new(&config, Arc::clone(&train), None)?;
        while trainer.step()?.is_some() {
            if trainer.steps_done() == trainer.total_steps() {
                return Err(CliError::input("no minimum of the square loss in 20,000 steps of L-BFGS"));
            }
        }
        let least = loss(&mut trainer, &train).ok_or_else(|| CliError::input("no minimum of the square loss"))?;
        Ok(Self { train, least })
    }

    /// Trains one point; its checks hold −log₁₀(P − P*).
    ///
    /// # Errors
    /// `Config`.
    pub fn run(&self, method: &str, settings: &Settings, seed: u64, budget: &Budget) -> Result<Measured> {
        run(&self.train, method, settings, seed, budget, |trainer, _| {
            loss(trainer, &self.train).map(|p| -(p - self.least).max(FLOOR).log10())
        })
    }
}

/// P, from the classes' means and variances of the scores.
fn loss(trainer: &mut Trainer<f64>, data: &Dataset<f64>) -> Option<f64> {
    let mut scores = vec![0.0; data.len()];
    trainer.score(data.rows(), &mut scores).ok()?;
    let [(low, below), (high, above)] = [0, 1].map(|class| {
        let own = || scores.iter().zip(data.labels()).filter(|(_, y)| **y == class).map(|(s, _)| *s);
        let count = own().count() as f64;
        let mean = own().sum::<f64>() / count;
        (mean, own().map(|s| (s - mean) * (s - mean)).sum::<f64>() / count)
    });
    let apart = 1.0 - high + low;
    Some(apart * apart + below + above).filter(|p| p.is_finite())
}

#[cfg(test)]
mod tests {
    use super::{Problem, loss};
    use crate::experiment::Budget;
    use std::sync::Arc;
    use undercurve::data::Dataset;
    use undercurve::trainer::{Config, ModelSpec, Trainer};

    /// One column, by hand: P(w) = (1 − dw)² + vw² is least at w = d/(d² + v), where it is v/(d² + v).
    #[test]
    fn the_least_loss_of_one_column() {
        let x = vec![0.0, 1.0, 2.0, 2.0, 4.0];
        let data = Arc::new(Dataset::dense(x, vec![0, 0, 0, 1, 1], 1).unwrap());
        // Means 1 and 3, variances 2/3 and 1.
        let (d, v) = (2.0, 5.0 / 3.0);
        let problem = Problem::new(Arc::clone(&data)).unwrap();
        assert!((problem.least - v / (d * d + v)).abs() < 1e-12, "{}", problem.least);
        let mut still = Trainer::<f64>::new(&Config::default(), Arc::clone(&data), None).unwrap();
        assert_eq!(loss(&mut still, &data), Some(1.0), "all weights 0");
    }

    #[test]
    fn a_run_comes_nearer_to_the_least_loss_of_the_drawn_problem() {
        let problem = Problem::gaussian(1).unwrap();
        assert!(problem.least > 0.1 && problem.least < 0.9, "{}", problem.least);
        let settings = [("link", "identity"), ("sampling", "uniform"), ("pretrain", "0"), ("decay", "0")];
        let settings: Vec<_> = settings
            .into_iter()
            .chain([("units", "balanced"), ("lr", "0.016"), ("stage", "200")])
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let budget = Budget { steps: 1000, model: ModelSpec::Linear, checks: 4, fpr: (0.0, 0.05) };
        let checks = problem.run("ppd-sg", &settings, 1, &budget).unwrap().checks;
        assert_eq!(checks.len(), 4);
        assert!(checks[3].2 > 1.0 && checks[3].2 < 14.0, "{checks:?}");
    }
}
