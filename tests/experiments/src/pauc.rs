//! Test pAUC in a range of false-positive rates by the algorithms of Yao, Lin and Yang 2022, "Large-scale Optimization of
//! Partial AUC in a Range of False Positive Rates", and their baselines, under equal tuning; and how near they come to the
//! least value of the exact objective on the training rows.
//!
//! Every search begins with 12 points: of AGD-SBCD and DCA rates by stages by what is their own (`relax`; the schedule), and
//! the climb goes on from there and looks at `theta`, too. All minimise the same objective, the logistic
//! loss at a scale of 4 without decay unless another is asked for, after the same steps of cross-entropy; cross-entropy alone
//! chooses its decay. Batches are 16 positives and 112 negatives for all. Settings are chosen by the metric on validation
//! rows, or, to see how fast each minimises, by the objective on the training rows.

use super::compare::{self, Goal, Table};
use super::experiment::{Candidate, Thin};
use undercurve::estimator::{Exact, Link};
use undercurve::surrogate::AnySurrogate;
use undercurve_demo::error::{CliError, Result};

/// Options of `experiment pauc`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    compare: compare::Args,
    /// The range of false-positive rates
    #[arg(long, value_name = "LOW:HIGH", default_value = "0.05:0.5", value_parser = undercurve_demo::range)]
    fpr: (f64, f64),
    /// The loss of the margin that all minimise: logistic (at a scale of 4) or hinge
    #[arg(long, default_value = "logistic", value_parser = ["logistic", "hinge"])]
    surrogate: String,
    /// Choose settings by the exact objective on the training rows after the last step
    #[arg(long, conflicts_with = "sweep")]
    by_objective: bool,
    /// AGD-SBCD for many mu, at a fixed relax and at a fixed gamma
    #[arg(long)]
    sweep: bool,
}

/// The settings of a surrogate, and the number among them.
pub fn objective(surrogate: &str) -> (&'static str, f64) {
    match surrogate {
        "hinge" => ("surrogate=hinge margin=1 link=identity decay=0", 1.0),
        _ => ("surrogate=logistic scale=4 link=identity decay=0", 4.0),
    }
}
/// Steps of cross-entropy before a method's own.
pub const START: &str = "pretrain=33% pretrain-lr=0.05";
/// What a batch is of.
pub const BATCH: &str = "positives=16 negatives=112";
/// Of the dual variables, for the climb.
const THETAS: &str = "~ theta=0.1";
const STAGES: &str = "stage=40 | stage=200";

/// Every method that knows the range; the exact one first.
fn candidates(objective: &str, fpr: (f64, f64)) -> Vec<Candidate> {
    let new = |name, method, own: &[&str]| {
        let axes: Vec<&str> = [objective, START].iter().chain(own).copied().collect();
        Candidate::new(name, method, &axes)
    };
    let dca = |name, method, own: &str| new(name, method, &[BATCH, "lr=0.1 | lr=0.3 | lr=1", own, STAGES, THETAS]);
    let adam =
        |name, method, own: &[&str]| new(name, method, &[&[BATCH, "optimizer=adam schedule=linear"], own].concat());
    let rates = "lr=0.003 | lr=0.01 | lr=0.03 | lr=0.1";
    // Those that know ranges from 0 alone.
    let from_zero = match fpr.0 > 0.0 {
        true => vec![],
        false => vec![
            adam("SOPA", "sopa", &[rates, "eta=0.003 | eta=0.03 | eta=0.3"]),
            adam("SOPA-s", "sopa-s", &[rates, "lambda=0.1 | lambda=0.3 | lambda=1"]),
            adam("SOTA-s", "sota-s", &["lr=0.01 | lr=0.03", "lambda=0.1 | lambda=0.3 | lambda=1", "tau=0.3 | tau=3"]),
        ],
    };
    let mut all = vec![
        new(
            "exact",
            "pauc-exact",
            &["tolerance=1e-4 | tolerance=1e-3 | tolerance=1e-5", "memory=5 | memory=10 | memory=20 | memory=40"],
        ),
        Candidate::new(
            "CE",
            "ce",
            &[BATCH, "lr=0.01 | lr=0.05 | lr=0.2", "decay=0 | decay=1e-5 | decay=1e-4 | decay=1e-3"],
        ),
        new(
            "threshold",
            "pauc-threshold",
            &[
                BATCH,
                "optimizer=adam schedule=linear",
                "lr=0.003 | lr=0.01 | lr=0.03 | lr=0.1",
                "gamma=0.005 | gamma=0.02 | gamma=0.1",
            ],
        ),
        new("AGD-SBCD", "agd-sbcd", &[BATCH, "mu=1e3", "lr=0.3 | lr=1 | lr=3", "relax=2 | relax=10", STAGES, THETAS]),
        dca("DCA", "dca", "schedule=changing | schedule=constant"),
        dca("proximal DCA", "proximal-dca", "schedule=changing prox=0.01 | schedule=constant prox=0.1"),
        new(
            "MB",
            "pauc-minibatch",
            &[BATCH, "optimizer=adam", rates, "schedule=linear | schedule=cosine | schedule=constant"],
        ),
        Candidate::new(
            "SVMpAUC-tight",
            "svm-pauc-tight",
            &["c=1 | c=3 | c=10 | c=30 | c=100 | c=300 | c=1e3 | c=3e3 | c=1e4 | c=3e4 | c=1e5 | c=3e5"],
        ),
    ];
    all.extend(from_zero);
    all
}

/// AGD-SBCD at fixed shares of the way, and at a fixed γ, for which `relax` falls as μ rises.
fn sweep(objective: &str) -> Vec<Candidate> {
    let mut all = vec![Candidate::new("exact", "pauc-exact", &[objective, START, "tolerance=1e-4 memory=10"])];
    for (name, fixed) in [("relax", true), ("gamma", false)] {
        for power in 3..=10 {
            let relax = if fixed { "0.5".to_owned() } else { format!("{:e}", 0.5 * 10f64.powi(3 - power)) };
            let own = format!("mu=1e{power} relax={relax} lr=0.3 theta=0.3 stage=10");
            let name = format!("mu 1e{power}, fixed {name}");
            all.push(Candidate::new(&name, "agd-sbcd", &[objective, START, BATCH, &own]));
        }
    }
    all
}

/// Runs the bench.
///
/// # Errors
/// As [`compare::run`].
pub fn run(args: &Args, as_json: bool) -> Result<()> {
    let wrong = |error: undercurve::Error| CliError::input(error.to_string());
    let (settings, number) = objective(&args.surrogate);
    let surrogate = AnySurrogate::by_name(&args.surrogate, number).map_err(wrong)?;
    let exact = Exact::pauc(surrogate, Link::Identity, args.fpr).map_err(wrong)?;
    let (low, high) = args.fpr;
    // (A bench is one call of a process that then ends.)
    let label: &'static str = Box::leak(format!("pAUC {low}:{high}").into_boxed_str());
    let table = Table {
        bench: match args {
            Args { sweep: true, .. } => "pauc-mu",
            Args { by_objective: true, .. } => "pauc-by-objective",
            _ => "pauc",
        },
        label,
        goal: Goal::Metric(|summary| summary.pauc),
        candidates: if args.sweep { sweep(settings) } else { candidates(settings, args.fpr) },
        reference: if args.sweep { "exact" } else { "CE" },
        datasets: if args.compare.is_quick() { &[] } else { &["ijcnn1", "mammography"] },
        variants: vec![(String::new(), Thin::No)],
        steps: vec![(6000, 6000)],
        checks: 30,
        passes: false,
        range: Some((args.fpr, exact)),
        by_objective: args.by_objective,
    };
    compare::run(table, &args.compare, as_json)
}

#[cfg(test)]
mod tests {
    use super::{candidates, objective, sweep};

    #[test]
    fn every_search_has_as_many_points_and_names_what_defaults_might_change() {
        for surrogate in ["logistic", "hinge"] {
            let (settings, number) = objective(surrogate);
            assert!(settings.contains(&format!("surrogate={surrogate} ")) && settings.contains(&format!("={number} ")));
            for candidate in candidates(settings, (0.0, 0.1)) {
                assert_eq!(candidate.grid(6000).len(), 12, "{}", candidate.name);
            }
        }
        assert_eq!(candidates("", (0.0, 0.1)).len(), candidates("", (0.05, 0.5)).len() + 3);
        assert_eq!(sweep("").len(), 17);
    }
}
