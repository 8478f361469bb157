//! Test AP of SOAP and its baselines under equal tuning: tables in the form of Qi et al. 2021 on imbalanced tables.
//!
//! Every method has the same number of grid points (learning rate × weight decay × one parameter of its own × from zero or
//! after a third of the budget of cross-entropy), the same steps, batches, rows and seeds. The point with the best
//! validation AP is run once and judged on the test part.

use super::experiment::{self, Budget, Candidate, DATASETS, Setting, curve, mean_sd, tune};
use super::figure::{self, Line};
use crate::error::Result;
use crate::output;
use serde_json::json;
use std::path::PathBuf;
use undercurve::trainer::ModelSpec;

/// Options of `bench auprc` and `bench auroc`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Folder of the data sets
    #[arg(long, value_name = "FOLDER", default_value = "../shared/data")]
    data: PathBuf,
    /// Data sets, with commas between them [default: all, or annthyroid with --quick]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    datasets: Vec<String>,
    /// Seeds 1 to N, each with its own split
    #[arg(long, value_name = "N", default_value_t = 3)]
    seeds: u64,
    /// Steps of every run
    #[arg(long, value_name = "N", default_value_t = 3000)]
    steps: u64,
    /// linear, or mlp:WIDTHS
    #[arg(long, default_value = "linear")]
    model: String,
    /// One seed, few steps, two points of every grid
    #[arg(long)]
    quick: bool,
    /// Write convergence figures (SVG) into this folder
    #[arg(long, value_name = "FOLDER")]
    figures: Option<PathBuf>,
}

const RATES: &[Setting] = &[("lr", "0.02"), ("lr", "0.005"), ("lr", "0.08")];
const DECAYS: &[Setting] = &[("decay", "0"), ("decay", "3e-4")];
const STARTS: &[Setting] = &[("pretrain", "0"), ("pretrain", "1000")];

/// Of cross-entropy itself, whose second start would be itself: twice the weight decays instead.
const CE_DECAYS: &[Setting] = &[("decay", "0"), ("decay", "3e-4"), ("decay", "3e-5"), ("decay", "3e-3")];
const CE_SCHEDULES: &[Setting] = &[("schedule", "linear"), ("schedule", "cosine")];

const CANDIDATES: &[Candidate] = &[
    Candidate { name: "CE", method: "ce", fixed: &[], axes: &[RATES, CE_SCHEDULES, CE_DECAYS] },
    Candidate {
        name: "CB-CE",
        method: "cb-ce",
        fixed: &[],
        axes: &[RATES, &[("beta", "0.99"), ("beta", "0.9999")], DECAYS, STARTS],
    },
    Candidate {
        name: "Focal",
        method: "focal",
        fixed: &[],
        axes: &[RATES, &[("focus", "1"), ("focus", "2")], DECAYS, STARTS],
    },
    Candidate {
        name: "LDAM",
        method: "ldam",
        fixed: &[("defer", "1600")],
        axes: &[RATES, &[("beta", "0"), ("beta", "0.9999")], DECAYS, STARTS],
    },
    Candidate {
        name: "AUC-M",
        method: "auc-margin",
        fixed: &[("optimizer", "adam")],
        axes: &[RATES, &[("margin", "1"), ("margin", "0.5")], DECAYS, STARTS],
    },
    Candidate {
        name: "SmoothAP",
        method: "smooth-ap",
        fixed: &[],
        axes: &[RATES, &[("temperature", "0.01"), ("temperature", "0.1")], DECAYS, STARTS],
    },
    Candidate {
        name: "FastAP",
        method: "fast-ap",
        fixed: &[],
        axes: &[RATES, &[("bins", "20"), ("bins", "10")], DECAYS, STARTS],
    },
    Candidate {
        name: "MinMax",
        method: "min-max-ap",
        fixed: &[],
        axes: &[RATES, &[("anchors", "10"), ("anchors", "5")], DECAYS, STARTS],
    },
    Candidate {
        name: "SOAP",
        method: "soap",
        fixed: &[],
        axes: &[RATES, &[("gamma", "0.1"), ("gamma", "0.9")], DECAYS, STARTS],
    },
];

/// Methods of the AUROC paper. Rates are in the units of each objective: the min-max one is p(1−p) times the pairwise one.
const AUROC_CANDIDATES: &[Candidate] = &[
    Candidate {
        name: "SGD (CE)",
        method: "ce",
        fixed: &[("optimizer", "sgd"), ("schedule", "steps"), ("sampling", "uniform"), ("batch", "128")],
        axes: &[&[("decay", "0"), ("decay", "1e-4")], CE_RATES],
    },
    Candidate {
        name: "AdaGrad (CE)",
        method: "ce",
        fixed: &[("optimizer", "adagrad"), ("schedule", "constant"), ("sampling", "uniform"), ("batch", "128")],
        axes: &[&[("decay", "0"), ("decay", "1e-4")], ADAGRAD_RATES],
    },
    Candidate {
        name: "OAUC",
        method: "oauc",
        fixed: &[("sampling", "uniform"), ("batch", "128")],
        axes: &[&[("radius", "1e6"), ("radius", "10")], MIN_MAX_RATES],
    },
    Candidate {
        name: "PGA",
        method: "pga",
        fixed: &[("sampling", "uniform"), ("batch", "128")],
        axes: &[SHORT, MIN_MAX_RATES],
    },
    Candidate {
        name: "PPD-SG",
        method: "ppd-sg",
        fixed: &[("sampling", "uniform"), ("batch", "128")],
        axes: &[STAGES, MIN_MAX_RATES],
    },
    Candidate {
        name: "PPD-AdaGrad",
        method: "ppd-adagrad",
        fixed: &[("sampling", "uniform"), ("batch", "128")],
        axes: &[STAGES, ADAGRAD_RATES],
    },
];
const CE_RATES: &[Setting] = &[("lr", "1"), ("lr", "0.03"), ("lr", "0.1"), ("lr", "0.3"), ("lr", "3")];
const MIN_MAX_RATES: &[Setting] = &[("lr", "10"), ("lr", "0.3"), ("lr", "1"), ("lr", "3"), ("lr", "30")];
const ADAGRAD_RATES: &[Setting] = &[("lr", "0.1"), ("lr", "0.01"), ("lr", "0.03"), ("lr", "0.3"), ("lr", "1")];
const STAGES: &[Setting] = &[("stage", "200"), ("stage", "600")];
const SHORT: &[Setting] = &[("stage", "200"), ("stage", "600")];

/// Which table.
#[derive(Clone, Copy)]
pub enum Table {
    /// AP of SOAP and its baselines.
    Auprc,
    /// AUROC of PPD-SG and its baselines.
    Auroc,
}

/// Tunes and judges every method on every data set and prints the table.
///
/// # Errors
/// `Input`.
pub fn run(table: Table, args: &Args, as_json: bool) -> Result<()> {
    let (bench, label, candidates) = match table {
        Table::Auprc => ("auprc", "AP", CANDIDATES),
        Table::Auroc => ("auroc", "AUROC", AUROC_CANDIDATES),
    };
    let metric = match table {
        Table::Auprc => |s: &undercurve::metric::Summary| s.ap,
        Table::Auroc => |s: &undercurve::metric::Summary| s.auroc,
    };
    let model = ModelSpec::parse(&args.model).map_err(|text| anyhow::anyhow!(text))?;
    let (steps, points, seeds) = if args.quick { (1200, 2, 1) } else { (args.steps, usize::MAX, args.seeds) };
    let budget = Budget { steps, model, points };
    let datasets: Vec<&str> = match args.datasets.as_slice() {
        [] if args.quick => vec!["annthyroid"],
        [] => DATASETS.to_vec(),
        names => names.iter().map(String::as_str).collect(),
    };
    if let Some(folder) = &args.figures {
        std::fs::create_dir_all(folder).map_err(anyhow::Error::from)?;
    }
    let mut best_of = vec![0; candidates.len()];
    for name in &datasets {
        if !as_json {
            output::line(format!("{name}: test {label}, {seeds} seeds, {steps} steps, model {}", args.model))?;
        }
        let mut rows = vec![Vec::new(); candidates.len()];
        let mut curves = vec![Vec::new(); candidates.len()];
        for seed in 1..=seeds {
            let parts = experiment::parts(&args.data, name, seed)?;
            for ((candidate, row), curves) in candidates.iter().zip(&mut rows).zip(&mut curves) {
                let tuned = tune(&parts, candidate, seed, &budget, metric)?;
                let line = curve(&parts, candidate, &tuned, seed, &budget, metric, (steps / 30).max(1))?;
                let test = line.last().map_or(0.0, |point| point.1);
                if as_json {
                    let settings: Vec<String> = tuned.settings.iter().map(|(k, v)| format!("{k}={v}")).collect();
                    output::line(json!({
                        "bench": bench, "dataset": name, "method": candidate.name, "seed": seed, "test": test,
                        "valid": tuned.valid, "settings": settings, "runs": tuned.runs, "seconds": tuned.seconds,
                    }))?;
                }
                row.push((test, tuned.runs, tuned.seconds));
                curves.push(line);
            }
        }
        let means: Vec<(f64, f64)> =
            rows.iter().map(|row| mean_sd(&row.iter().map(|cell| cell.0).collect::<Vec<_>>())).collect();
        let top = means.iter().fold(0.0f64, |top, mean| top.max(mean.0));
        for (count, mean) in best_of.iter_mut().zip(&means) {
            *count += usize::from(mean.0 >= top);
        }
        // The target of the passes' column: 99 % of the way from chance to the best final mean of this table.
        let target = 0.5 + 0.99 * (top - 0.5);
        for (((candidate, row), curves), (mean, sd)) in candidates.iter().zip(&rows).zip(&curves).zip(&means) {
            let (runs, seconds) = row.iter().fold((0, 0.0), |(n, s), cell| (n + cell.1, s + cell.2));
            let average = average(curves);
            let reached = average.iter().find(|point| point.1 >= target).map(|point| point.0);
            if as_json {
                output::line(json!({
                    "bench": bench, "dataset": name, "method": candidate.name, "mean": mean, "sd": sd, "runs": runs,
                    "seconds": seconds, "target": target, "passes_to_target": reached,
                }))?;
            } else {
                let mark = if *mean >= top { '*' } else { ' ' };
                let passes = match table {
                    Table::Auprc => String::new(),
                    Table::Auroc => {
                        let passes = reached.map_or("never".into(), |x| format!("{x:.2}"));
                        format!("  passes to {target:.4}: {passes}")
                    }
                };
                output::line(format!(
                    "  {:<13}{mean:.4} ±{sd:.4}{mark}  tuning: {runs} runs, {seconds:.1} s{passes}",
                    candidate.name
                ))?;
            }
        }
        if let Some(folder) = &args.figures {
            let averages: Vec<Vec<(f64, f64)>> = curves.iter().map(|curves| average(curves)).collect();
            let lines: Vec<Line<'_>> = candidates
                .iter()
                .zip(&averages)
                .map(|(candidate, points)| Line { name: candidate.name, points })
                .collect();
            let file = folder.join(format!("{bench}-{name}.svg"));
            figure::draw(&file, &format!("{name}: mean test {label} over {seeds} seeds"), label, &lines)?;
        }
    }
    if !as_json {
        let counts: Vec<String> =
            candidates.iter().zip(&best_of).map(|(candidate, n)| format!("{} {n}", candidate.name)).collect();
        output::line(format!("best of how many data sets: {}", counts.join(", ")))?;
    }
    Ok(())
}

/// The mean curve over seeds, as far as all of them go.
fn average(curves: &[Vec<(f64, f64)>]) -> Vec<(f64, f64)> {
    let length = curves.iter().map(Vec::len).min().unwrap_or(0);
    let count = curves.len() as f64;
    let mean = |k: usize| {
        let (x, y) = curves.iter().fold((0.0, 0.0), |(x, y), curve| (x + curve[k].0, y + curve[k].1));
        (x / count, y / count)
    };
    (0..length).map(mean).collect()
}
