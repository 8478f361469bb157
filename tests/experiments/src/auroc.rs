//! Test AUROC of PPD-SG, PPD-AdaGrad and their baselines under equal tuning, and the passes they take: after Liu et al.
//! 2020, "Stochastic AUC Maximization with Deep Neural Networks", on imbalanced tables of numbers; and how near they come
//! to the least value of their objective where that is known.
//!
//! Every search begins with 24 points. Cross-entropy, plain and balanced, has its step rule, rate, decay and schedule;
//! the staged methods have rate, first stage and γ of the proximal term (`prox`), which caps the way of a stage; OAUC rate
//! and radius; rates and γ are in units of 1/(p(1 - p)), p the share of positives. Every run begins at 0, without steps of
//! cross-entropy before it. Batches are uniform rows for all, as in the paper.

use super::compare::{self, Goal, Table};
use super::experiment::{Candidate, Thin};
use super::gap::GAUSSIAN;
use undercurve_demo::error::Result;

/// Options of `experiment auroc`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    compare: compare::Args,
    /// Tables for several shares of positives (9, 17, 29 and 50 %), made by removing training negatives
    #[arg(long)]
    imbalance: bool,
    /// P - P* on the training rows instead of the test AUROC: linear models without link
    #[arg(long, conflicts_with = "imbalance")]
    gap: bool,
    /// P - P* of a drawn strongly convex problem with noisy gradients (two Gaussian classes, small batches) after 30,000
    /// steps: with settings tuned for that length, and with settings tuned for a tenth of it
    #[arg(long, conflicts_with_all = ["imbalance", "gap", "datasets", "model"])]
    strongly_convex: bool,
}

/// The methods of the min-max objective, with what is the same in every point, and more axes.
fn min_max(batch: &str, more: &[&str]) -> Vec<Candidate> {
    let new = |name, method, own: &[&str]| {
        let axes: Vec<&str> = [batch, FROM_ZERO].iter().chain(own).chain(more).copied().collect();
        Candidate::new(name, method, &axes)
    };
    vec![
        new("OAUC", "oauc", &[OAUC_RATES, "radius=1 | radius=30 | radius=1000"]),
        new("PGA", "pga", &[RATES, PROX, STAGES]),
        new("PPD-SG", "ppd-sg", &["decay=0", RATES, PROX, STAGES]),
        new("PPD-AdaGrad", "ppd-adagrad", &[RATES, PROX, STAGES]),
    ]
}

/// Every method of the tables of the AUROC.
fn candidates() -> Vec<Candidate> {
    let batch = "sampling=uniform batch=128";
    let ce = |name, method| {
        let rules = "optimizer=sgd | optimizer=adagrad | optimizer=adam";
        Candidate::new(name, method, &[batch, rules, CE_RATES, "decay=0 | decay=1e-4", SCHEDULES])
    };
    let mut all = vec![ce("CE", "ce"), ce("CE balanced", "ce-balanced")];
    all.extend(min_max(batch, &["~ link=sigmoid | link=identity"]));
    all
}

const CE_RATES: &str = "lr=0.01 | lr=0.1 | lr=1 | lr=10";
const FROM_ZERO: &str = "units=balanced pretrain=0";
const RATES: &str = "lr=0.003 | lr=0.03 | lr=0.3 | lr=3";
const OAUC_RATES: &str = "lr=0.003 | lr=0.01 | lr=0.03 | lr=0.1 | lr=0.3 | lr=1 | lr=3 | lr=10";
const PROX: &str = "prox=10 | prox=1000 | prox=1e5";
const STAGES: &str = "stage=100 | stage=600";
const SCHEDULES: &str = "~ schedule=linear | schedule=constant | schedule=steps";

/// Runs the bench.
///
/// # Errors
/// As [`compare::run`].
pub fn run(args: &Args, as_json: bool) -> Result<()> {
    let auroc = Table {
        bench: "auroc",
        label: "AUROC",
        goal: Goal::Metric(|summary| summary.auroc),
        candidates: candidates(),
        reference: "CE",
        datasets: &[],
        variants: vec![(String::new(), Thin::No)],
        steps: vec![(1500, 1500)],
        checks: 40,
        passes: true,
        range: None,
        by_objective: false,
    };
    let gap = |bench, batch| Table {
        bench,
        label: "P - P*",
        goal: Goal::Gap,
        candidates: min_max(batch, &["link=identity"]),
        reference: "PGA",
        datasets: &["annthyroid", "mammography", "ijcnn1", "w8a"],
        passes: false,
        ..auroc_with(&auroc)
    };
    let table = if args.strongly_convex {
        let table = gap("auroc-strongly-convex", "sampling=uniform batch=8");
        Table { datasets: &[GAUSSIAN], steps: vec![(30_000, 30_000), (30_000, 3000)], ..table }
    } else if args.gap {
        gap("auroc-gap", "sampling=uniform batch=128")
    } else if args.imbalance {
        let part = |percent: u32| (format!("{percent} % positive"), Thin::Negatives(f64::from(percent) / 100.0));
        Table { bench: "auroc-imbalance", variants: [9, 17, 29, 50].map(part).to_vec(), ..auroc }
    } else {
        auroc
    };
    compare::run(table, &args.compare, as_json)
}

/// What tables share.
fn auroc_with(table: &Table) -> Table {
    Table { candidates: Vec::new(), variants: table.variants.clone(), steps: table.steps.clone(), ..*table }
}

#[cfg(test)]
mod tests {
    use super::{candidates, min_max};

    #[test]
    fn every_search_begins_with_as_many_points_and_names_what_defaults_might_change() {
        for candidate in candidates().into_iter().chain(min_max("batch=8", &["link=identity"])) {
            assert_eq!(candidate.grid(1500).len(), 24, "{}", candidate.name);
            assert_eq!(candidate.unnamed(1500), [""; 0], "{}", candidate.name);
        }
    }
}
