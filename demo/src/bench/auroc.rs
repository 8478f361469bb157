//! Test AUROC of PPD-SG, PPD-AdaGrad and their baselines under equal tuning, and the passes they take: after Liu et al.
//! 2020, "Stochastic AUC Maximization with Deep Neural Networks", on imbalanced tables of numbers.
//!
//! Rates are in the units of each objective: the min-max one is p(1−p) times the pairwise one. Batches are 128 uniform
//! rows for all, as in the paper.

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

fn candidates() -> Vec<Candidate> {
    vec![
        Candidate::new(
            "SGD (CE)",
            "ce",
            &[
                "optimizer=sgd schedule=steps sampling=uniform batch=128",
                "decay=0 | decay=1e-4",
                "lr=1 | lr=0.03 | lr=0.1 | lr=0.3 | lr=3",
            ],
        ),
        Candidate::new(
            "AdaGrad (CE)",
            "ce",
            &[
                "optimizer=adagrad schedule=constant sampling=uniform batch=128",
                "decay=0 | decay=1e-4",
                "lr=0.1 | lr=0.01 | lr=0.03 | lr=0.3 | lr=1",
            ],
        ),
        Candidate::new("OAUC", "oauc", &["sampling=uniform batch=128", "radius=1e6 | radius=10", MIN_MAX_RATES]),
        Candidate::new("PGA", "pga", &["sampling=uniform batch=128", STAGES, MIN_MAX_RATES]),
        Candidate::new("PPD-SG", "ppd-sg", &["sampling=uniform batch=128", STAGES, MIN_MAX_RATES]),
        Candidate::new(
            "PPD-AdaGrad",
            "ppd-adagrad",
            &["sampling=uniform batch=128", STAGES, "lr=0.1 | lr=0.01 | lr=0.03 | lr=0.3 | lr=1"],
        ),
    ]
}
const MIN_MAX_RATES: &str = "lr=10 | lr=0.3 | lr=1 | lr=3 | lr=30";
const STAGES: &str = "stage=200 | stage=600";

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
