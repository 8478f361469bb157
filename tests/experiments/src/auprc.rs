//! Test AP of SOAP and its baselines under equal tuning: tables in the form of Qi et al. 2021, "Stochastic Optimization of
//! Areas Under Precision-Recall Curves with Provable Convergence", on imbalanced tables of numbers.
//!
//! Every search begins with 24 points: three learning rates, two weight decays and four settings of the method's own
//! (SOAP: four γ and two margins, and the decay in the climb). The climb also looks at pre-training by cross-entropy for a
//! third of the steps (the paper's two stages: the last layer of a network starts again) and at batches as drawn. Every
//! search names what defaults might change. Cross-entropy is there with its decay tuned and
//! with none; SOAP and cross-entropy also as shipped. Steps, checks, rows and seeds are the same for all.

use super::compare::{self, Goal, Table};
use super::experiment::{Candidate, Thin};
use clap::ValueEnum;
use undercurve_demo::error::Result;

/// Options of `experiment auprc`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    compare: compare::Args,
    /// Instead of the table of methods: what changes with the imbalance, the batch size or the surrogate
    #[arg(long, value_enum, hide_possible_values = true, value_name = "imbalance|batch|surrogate")]
    ablation: Option<Ablation>,
    /// Runs of 1,000, 3,000, 10,000 and 30,000 steps, each tuned by itself: cross-entropy and SOAP with smaller grids
    #[arg(long, conflicts_with_all = ["ablation", "steps"])]
    ladder: bool,
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

/// Of all but cross-entropy, which chooses its schedule.
const BATCH: &str = "positives=8 negatives=56 schedule=linear";
const RATES: &str = "lr=0.01 | lr=0.1 | lr=1";
const NETWORK_RATES: &str = "lr=0.001 | lr=0.01 | lr=0.1";
const MORE_RATES: &str = "lr=0.003 | lr=0.01 | lr=0.03 | lr=0.1 | lr=0.3 | lr=1";
const MORE_NETWORK_RATES: &str = "lr=0.0003 | lr=0.001 | lr=0.003 | lr=0.01 | lr=0.03 | lr=0.1";
const DECAYS: &str = "decay=1e-5 | decay=1e-3";
const LATE_DECAY: &str = "~ decay=1e-4";
const STARTS: &str = "~ pretrain=0 | pretrain=33% pretrain-lr=0.05 restart=auto";
const WEIGHTS: &str = "~ weights=unbiased | weights=as-drawn";
const SCHEDULES: &str = "schedule=linear | schedule=cosine | schedule=steps | schedule=constant";
const GAMMAS: &str = "gamma=0.001 | gamma=0.01 | gamma=0.1 | gamma=0.9";
const MARGINS: &str = "margin=0.1 | margin=0.3 | margin=1 | margin=3";
const LOGISTIC: &str = "surrogate=logistic";
const NO_START: &str = "pretrain=0";

/// The learning rates that a search begins with.
fn rates(linear: bool) -> &'static str {
    if linear { RATES } else { NETWORK_RATES }
}

/// Every method.
fn candidates(linear: bool) -> Vec<Candidate> {
    let rates = rates(linear);
    let new = |name, method, own: &[&str]| Candidate::new(name, method, own);
    let usual = |name, method, own| new(name, method, &[BATCH, rates, own, DECAYS, STARTS, WEIGHTS]);
    let links = "~ link=sigmoid | link=identity";
    vec![
        new("CE", "ce", &["positives=8 negatives=56", rates, SCHEDULES, DECAYS]),
        new(
            "CE no decay",
            "ce",
            &["positives=8 negatives=56 decay=0", if linear { MORE_RATES } else { MORE_NETWORK_RATES }, SCHEDULES],
        ),
        new("CE balanced", "ce-balanced", &["positives=8 negatives=56", rates, SCHEDULES, DECAYS]),
        new("CE defaults", "ce", &[]),
        usual("CB-CE", "cb-ce", "beta=0.9 | beta=0.99 | beta=0.999 | beta=0.9999"),
        usual("Focal", "focal", "focus=0.5 | focus=1 | focus=2 | focus=5"),
        usual("LDAM", "ldam", "margin=0.3 | margin=0.5 | margin=1 | margin=2")
            .and("~ beta=0 defer=0 | beta=0.9999 defer=53%"),
        new("AUC-M", "auc-margin", &[BATCH, "optimizer=adam", rates, MARGINS, DECAYS, STARTS, WEIGHTS, links]),
        usual("SmoothAP", "smooth-ap", "temperature=0.003 | temperature=0.01 | temperature=0.03 | temperature=0.3")
            .and(links),
        usual("FastAP", "fast-ap", "bins=5 | bins=10 | bins=20 | bins=40"),
        usual("MinMax", "min-max-ap", "anchors=3 | anchors=5 | anchors=10 | anchors=30")
            .and("surrogate=squared-hinge margin=1")
            .and(links),
        new(
            "SOAP",
            "soap",
            &[BATCH, SQUARED_HINGE, rates, GAMMAS, "margin=0.5 | margin=2", LATE_DECAY, STARTS, WEIGHTS],
        ),
        new(
            "SOAP logistic",
            "soap",
            &[BATCH, LOGISTIC, rates, GAMMAS, "link=sigmoid | link=identity", "~ scale=2", LATE_DECAY, STARTS, WEIGHTS],
        ),
        new("SOAP defaults", "soap", &[]),
    ]
}

/// As in the paper, behind a sigmoid.
const SQUARED_HINGE: &str = "surrogate=squared-hinge link=sigmoid";

/// Of a table of lengths: searches that begin with six points.
fn ladder(linear: bool) -> Vec<Candidate> {
    let rates = rates(linear);
    let soap = &[BATCH, NO_START, LOGISTIC, "link=identity scale=2", rates, "gamma=0.1 | gamma=0.9", LATE_DECAY];
    vec![
        Candidate::new("CE", "ce", &[BATCH, rates, DECAYS]),
        Candidate::new("CE balanced", "ce-balanced", &[BATCH, rates, DECAYS]),
        Candidate::new("SOAP logistic", "soap", soap),
        Candidate::new("SOAP defaults", "soap", &[]),
    ]
}

/// Methods whose batches make the average precision, with 16 to 256 rows a batch, one in eight of them positive.
fn batches() -> Vec<Candidate> {
    let of = |name: &str, method, rows: u32| {
        let own = format!("positives={} negatives={} schedule=linear", rows / 8, rows - rows / 8);
        let own = [&*own, NO_START, RATES, DECAYS];
        let candidate = Candidate::new(&format!("{name} batch {rows}"), method, &own);
        match method {
            "soap" => candidate.and(SQUARED_HINGE).and("margin=0.5 gamma=0.9"),
            "smooth-ap" => candidate.and("link=sigmoid temperature=0.01"),
            _ => candidate.and("bins=20"),
        }
    };
    let soap = [16, 32, 64, 128, 256].map(|rows| of("SOAP", "soap", rows));
    let others = [("SmoothAP", "smooth-ap"), ("FastAP", "fast-ap")];
    let others = others.into_iter().flat_map(|(name, method)| [16, 64, 256].map(|rows| of(name, method, rows)));
    soap.into_iter().chain(others).collect()
}

/// SOAP with the paper's three surrogates (scale 1 and 2 of its table 4; 10, near the indicator, besides).
fn surrogates() -> Vec<Candidate> {
    let of = |name: &str, surrogate, shapes| {
        Candidate::new(name, "soap", &[BATCH, NO_START, "link=sigmoid gamma=0.9", surrogate, RATES, shapes, DECAYS])
    };
    let scales = "scale=1 | scale=2 | scale=10";
    vec![
        of("squared hinge", "surrogate=squared-hinge", "margin=0.5 | margin=1 | margin=2"),
        of("logistic", LOGISTIC, scales),
        of("sigmoid", "surrogate=sigmoid", scales),
    ]
}

/// Runs the bench.
///
/// # Errors
/// As [`compare::run`].
pub fn run(args: &Args, as_json: bool) -> Result<()> {
    let whole = vec![(String::new(), Thin::No)];
    let linear = args.compare.is_linear();
    let (bench, candidates, reference, variants) = match args.ablation {
        None if args.ladder => ("auprc-ladder", ladder(linear), "CE", whole),
        None => ("auprc", candidates(linear), "CE", whole),
        Some(Ablation::Batch) => ("auprc-batch", batches(), "SOAP batch 64", whole),
        Some(Ablation::Surrogate) => ("auprc-surrogate", surrogates(), "squared hinge", whole),
        Some(Ablation::Imbalance) => {
            let part =
                |percent: u32| (format!("{percent} % of positives"), Thin::Positives(f64::from(percent) / 100.0));
            ("auprc-imbalance", candidates(linear), "CE", [100, 50, 25, 10].map(part).to_vec())
        }
    };
    let table = Table {
        bench,
        label: "AP",
        goal: Goal::Metric(|summary| summary.ap),
        candidates,
        reference,
        datasets: &[],
        variants,
        steps: if args.ladder {
            [1000, 3000, 10_000, 30_000].map(|steps| (steps, steps)).to_vec()
        } else {
            vec![(3000, 3000)]
        },
        checks: 12,
        passes: false,
        range: None,
        by_objective: false,
    };
    compare::run(table, &args.compare, as_json)
}

#[cfg(test)]
mod tests {
    use super::{batches, candidates, ladder, surrogates};

    #[test]
    fn every_search_begins_with_as_many_points_as_the_others() {
        let tables = [candidates(true), candidates(false), ladder(false), batches(), surrogates()];
        for (table, points) in tables.into_iter().zip([24, 24, 6, 6, 18]) {
            for candidate in table.iter().filter(|candidate| !candidate.is_fixed()) {
                assert_eq!(candidate.grid(3000).len(), points, "{}", candidate.name);
            }
        }
    }

    #[test]
    fn every_search_names_what_defaults_might_change() {
        for table in [candidates(true), candidates(false), ladder(true), ladder(false), batches(), surrogates()] {
            for candidate in table.iter().filter(|candidate| !candidate.is_fixed()) {
                assert_eq!(candidate.unnamed(3000), [""; 0], "{}", candidate.name);
            }
        }
    }
}
