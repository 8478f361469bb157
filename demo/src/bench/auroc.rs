//! Test AUROC of PPD-SG, PPD-AdaGrad and their baselines under equal tuning, and the passes they take: after Liu et al.
//! 2020, "Stochastic AUC Maximization with Deep Neural Networks", on imbalanced tables of numbers.
//!
//! Rates are in the units of each objective: the min-max one is p(1−p) times the pairwise one. Batches are 128 uniform
//! rows for all, as in the paper. Its grids are five rates and first stages of 200 to 2000 steps for networks with 20
//! layers; here rates are higher and stages shorter, because the models are small and the runs short.

use super::compare::{self, Table};
use super::experiment::{Candidate, Thin};
use crate::error::Result;

/// Options of `bench auroc`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    compare: compare::Args,
    /// Tables for several shares of positives (9, 17, 29 and 50 %), made by removing training negatives
    #[arg(long)]
    imbalance: bool,
}

/// Every method with its grid of 15 points: five rates, and three settings of its own.
fn candidates() -> Vec<Candidate> {
    let batch = "sampling=uniform batch=128";
    let new = |name, method, rule, rates, own| Candidate::new(name, method, &[batch, rule, rates, own]);
    let (ce, adagrad) = ("lr=0.03 | lr=0.1 | lr=0.3 | lr=1 | lr=3", "lr=0.01 | lr=0.03 | lr=0.1 | lr=0.3 | lr=1");
    vec![
        new("SGD (CE)", "ce", "optimizer=sgd schedule=steps", ce, DECAYS),
        new("AdaGrad (CE)", "ce", "optimizer=adagrad schedule=constant", adagrad, DECAYS),
        new("OAUC", "oauc", "", RATES, "radius=1e6 | radius=100 | radius=10"),
        new("PGA", "pga", "", RATES, STAGES),
        new("PPD-SG", "ppd-sg", "", RATES, STAGES),
        new("PPD-AdaGrad", "ppd-adagrad", "", "lr=0.03 | lr=0.1 | lr=0.3 | lr=1 | lr=3", STAGES),
    ]
}
const RATES: &str = "lr=0.3 | lr=1 | lr=3 | lr=10 | lr=30";
const DECAYS: &str = "decay=0 | decay=1e-5 | decay=1e-4";
const STAGES: &str = "stage=50 | stage=200 | stage=600";

/// Runs the bench.
///
/// # Errors
/// As [`compare::run`].
pub fn run(args: &Args, as_json: bool) -> Result<()> {
    let part = |percent: u32| (format!("{percent} % positive"), Thin::Negatives(f64::from(percent) / 100.0));
    let table = Table {
        bench: if args.imbalance { "auroc-imbalance" } else { "auroc" },
        label: "AUROC",
        metric: |summary| summary.auroc,
        candidates: candidates(),
        variants: if args.imbalance { [9, 17, 29, 50].map(part).to_vec() } else { vec![(String::new(), Thin::No)] },
        checks: 40,
        passes: true,
    };
    compare::run(table, &args.compare, as_json)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_method_has_as_many_grid_points_as_the_others() {
        for candidate in super::candidates() {
            assert_eq!(candidate.grid(3000).len(), 15, "{}", candidate.name);
        }
    }
}
