//! Test AP of SOAP and its baselines under equal tuning: tables in the form of Qi et al. 2021, "Stochastic Optimization of
//! Areas Under Precision-Recall Curves with Provable Convergence", on imbalanced tables of numbers.
//!
//! Every method has 48 grid points: three learning rates (by decades, as in the paper; higher than there, because the
//! models are small and the runs short), two weight decays, from the start or after a third of the steps of
//! cross-entropy (the paper's two stages), and four settings of its own, from the papers. Sampler, steps, checks, rows
//! and seeds are the same for all.

use super::compare::{self, Table};
use super::experiment::{Candidate, Thin};
use crate::error::Result;
use clap::ValueEnum;

/// Options of `bench auprc`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    compare: compare::Args,
    /// Instead of the table of methods: what changes with the imbalance, the batch size or the surrogate
    #[arg(long, value_enum, hide_possible_values = true, value_name = "imbalance|batch|surrogate")]
    ablation: Option<Ablation>,
}

/// What an ablation varies.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Ablation {
    /// The share of positives in the training and validation parts.
    Imbalance,
    /// The batch size.
    Batch,
    /// SOAP's surrogate loss.
    Surrogate,
}

const RATES: &str = "lr=0.01 | lr=0.001 | lr=0.1";
const DECAYS: &str = "decay=1e-5 | decay=3e-4";
const STARTS: &str = "pretrain=0 | pretrain=33%";

fn candidates() -> Vec<Candidate> {
    vec![
        // Its second start would be itself: twice the weight decays instead.
        Candidate::new(
            "CE",
            "ce",
            &[
                RATES,
                "schedule=linear | schedule=cosine | schedule=steps | schedule=constant",
                "decay=1e-5 | decay=1e-4 | decay=3e-4 | decay=3e-3",
            ],
        ),
        Candidate::new("CB-CE", "cb-ce", &[RATES, "beta=0.9 | beta=0.99 | beta=0.999 | beta=0.9999", DECAYS, STARTS]),
        Candidate::new("Focal", "focal", &[RATES, "focus=1 | focus=2 | focus=5 | focus=0.5", DECAYS, STARTS]),
        Candidate::new(
            "LDAM",
            "ldam",
            &[
                RATES,
                "margin=0.5 beta=0 | margin=0.5 beta=0.9999 defer=53% | margin=1 beta=0 | margin=1 beta=0.9999 defer=53%",
                DECAYS,
                STARTS,
            ],
        ),
        Candidate::new(
            "AUC-M",
            "auc-margin",
            &["optimizer=adam", RATES, "margin=1 | margin=0.5 | margin=0.3 | margin=0.1", DECAYS, STARTS],
        ),
        Candidate::new(
            "SmoothAP",
            "smooth-ap",
            &[RATES, "temperature=0.01 | temperature=0.03 | temperature=0.1 | temperature=0.3", DECAYS, STARTS],
        ),
        Candidate::new("FastAP", "fast-ap", &[RATES, "bins=10 | bins=20 | bins=40 | bins=5", DECAYS, STARTS]),
        Candidate::new(
            "MinMax",
            "min-max-ap",
            &[RATES, "anchors=10 | anchors=5 | anchors=20 | anchors=10 margin=0.5", DECAYS, STARTS],
        ),
        Candidate::new("SOAP", "soap", &[RATES, SOAP_OWN, DECAYS, STARTS]),
    ]
}
const SOAP_OWN: &str = "gamma=0.1 margin=1 | gamma=0.9 margin=1 | gamma=0.1 margin=0.5 | gamma=0.9 margin=0.5";

/// Methods whose batches make the average precision, with 16 to 256 rows a batch, one in eight of them positive.
fn batches() -> Vec<Candidate> {
    vec![
        Candidate::new("SOAP, batch 16", "soap", &["positives=2 negatives=14", RATES, DECAYS]),
        Candidate::new("SOAP, batch 32", "soap", &["positives=4 negatives=28", RATES, DECAYS]),
        Candidate::new("SOAP, batch 64", "soap", &["positives=8 negatives=56", RATES, DECAYS]),
        Candidate::new("SOAP, batch 128", "soap", &["positives=16 negatives=112", RATES, DECAYS]),
        Candidate::new("SOAP, batch 256", "soap", &["positives=32 negatives=224", RATES, DECAYS]),
        Candidate::new("SmoothAP, batch 16", "smooth-ap", &["positives=2 negatives=14", RATES, DECAYS]),
        Candidate::new("SmoothAP, batch 64", "smooth-ap", &["positives=8 negatives=56", RATES, DECAYS]),
        Candidate::new("SmoothAP, batch 256", "smooth-ap", &["positives=32 negatives=224", RATES, DECAYS]),
        Candidate::new("FastAP, batch 16", "fast-ap", &["positives=2 negatives=14", RATES, DECAYS]),
        Candidate::new("FastAP, batch 64", "fast-ap", &["positives=8 negatives=56", RATES, DECAYS]),
        Candidate::new("FastAP, batch 256", "fast-ap", &["positives=32 negatives=224", RATES, DECAYS]),
    ]
}

/// SOAP with the paper's three surrogates (scale 1 and 2 of its table 4; 10, near the indicator, besides).
fn surrogates() -> Vec<Candidate> {
    vec![
        Candidate::new(
            "squared hinge",
            "soap",
            &["surrogate=squared-hinge", RATES, "margin=0.5 | margin=1 | margin=2", DECAYS],
        ),
        Candidate::new("logistic", "soap", &["surrogate=logistic", RATES, "scale=1 | scale=2 | scale=10", DECAYS]),
        Candidate::new("sigmoid", "soap", &["surrogate=sigmoid", RATES, "scale=1 | scale=2 | scale=10", DECAYS]),
    ]
}

/// Runs the bench.
///
/// # Errors
/// As [`compare::run`].
pub fn run(args: &Args, as_json: bool) -> Result<()> {
    let whole = vec![(String::new(), Thin::No)];
    let (bench, candidates, variants) = match args.ablation {
        None => ("auprc", candidates(), whole),
        Some(Ablation::Batch) => ("auprc-batch", batches(), whole),
        Some(Ablation::Surrogate) => ("auprc-surrogate", surrogates(), whole),
        Some(Ablation::Imbalance) => {
            let part =
                |percent: u32| (format!("{percent} % of positives"), Thin::Positives(f64::from(percent) / 100.0));
            ("auprc-imbalance", candidates(), [100, 50, 25, 10].map(part).to_vec())
        }
    };
    let table =
        Table { bench, label: "AP", metric: |summary| summary.ap, candidates, variants, checks: 12, passes: false };
    compare::run(table, &args.compare, as_json)
}

#[cfg(test)]
mod tests {
    use super::{batches, candidates, surrogates};

    #[test]
    fn every_method_has_as_many_grid_points_as_the_others() {
        for (table, points) in [(candidates(), 48), (batches(), 6), (surrogates(), 18)] {
            for candidate in table {
                assert_eq!(candidate.grid(3000).len(), points, "{}", candidate.name);
            }
        }
    }
}
