//! The mean loss of the worst groups (CVaR) by every method that minimises it, with Adam and with momentum; cross-entropy over all
//! rows beside them.
//!
//! Adult by race and sex, mlp:64,64: blocks are the ten groups, or the twenty of group and label. Every method has the same
//! tries, three rates by three weights of decay; each is judged on a fifth of the training rows by the CVaR of the blocks there. The
//! chosen pair then trains on all training rows with seeds 1 to N; all figures are means ± standard deviations over them, at the
//! end of a run. A pass is rows drawn / n.
//!
//! λ_min is the smallest eigenvalue of the Gram matrix of the gradients of the blocks' losses by the parameters at the end of
//! training, over all training rows: the convergence theorems of SONEX and ALEXR2 assume that it is bounded from below
//! (assumption 4.3).

use super::fairness::{self, Parts};
use nalgebra::{DMatrix, SymmetricEigen};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use undercurve::Scratch;
use undercurve::data::{Dataset, Selection};
use undercurve::finite_sum::GlmLoss;
use undercurve::metric::Metrics;
use undercurve::metric::group::{cvar, cvar_need, least};
use undercurve::model::Model as _;
use undercurve::trainer::{Config, Length, ModelSpec, Trainer};
use undercurve_demo::error::{CliError, Result};
use undercurve_demo::output;
use undercurve_demo::paired::mean_sd;

/// Options of `experiment gdro`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Folder of adult.train.csv.gz and adult.test.csv.gz
    #[arg(long, value_name = "FOLDER", default_value = "../shared/data")]
    data: PathBuf,
    /// What losses are of: groups, or cells (the rows of each label in each group)
    #[arg(long, value_name = "WHAT", default_value = "groups", value_parser = ["groups", "cells"])]
    blocks: String,
    /// Share of the blocks that are the worst
    #[arg(long, value_name = "SHARE", default_value_t = 0.15)]
    share: f64,
    /// Weights of decay that are tried, with commas between them
    #[arg(long, value_name = "WEIGHTS", value_delimiter = ',', default_values_t = [0.0001, 0.003, 0.03])]
    decay: Vec<f64>,
    /// Rows of each label in each group a batch; cross-entropy draws as many rows a batch from all
    #[arg(long, value_name = "ROWS", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    per_cell: u32,
    /// Only these methods, with commas between them
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// Only these steps: adam, momentum
    #[arg(long, value_name = "STEPS", value_delimiter = ',')]
    step: Vec<String>,
    /// Passes of every run
    #[arg(long, value_name = "N", default_value_t = 10.0)]
    passes: f64,
    /// Seeds 1 to N
    #[arg(long, value_name = "N", default_value_t = 3)]
    seeds: u64,
    /// Generated rows, two methods, one pass, two seeds
    #[arg(long)]
    quick: bool,
}

/// Name, method, settings of its own.
type Row = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// The rows of the table.
const METHODS: [Row; 8] = [
    ("cross-entropy", "ce", &[]),
    ("sonex", "sonex", &[]),
    ("sonex, u after the batch", "sonex", &[("u", "new")]),
    ("alexr2", "alexr2", &[]),
    ("sox", "sox", &[]),
    ("msvr", "msvr", &[]),
    ("sonx", "sonx", &[]),
    ("ooa", "ooa", &[]),
];

/// The steps with the rates that are tried.
const STEPS: [(&str, [f64; 3]); 2] = [("adam", [1e-3, 3e-3, 1e-2]), ("momentum", [0.03, 0.1, 0.3])];

/// What a model comes to.
#[derive(Clone, Copy)]
struct Outcome {
    /// CVaR on the training and the other rows.
    risk: [f64; 2],
    /// On the other rows, the least accuracy (scores from 0 up are positive) and AUROC of a block; blocks of one label have none.
    accuracy: f64,
    auroc: Option<f64>,
    /// The smallest eigenvalue.
    least: f64,
}

/// A block for each row, and how many there are.
fn blocks(data: &Dataset<f32>, args: &Args) -> (Vec<usize>, usize) {
    let groups = data.groups();
    let of = |(&group, &label): (&u32, &u8)| match args.blocks.as_str() {
        "cells" => usize::from(label) * groups + group as usize,
        _ => group as usize,
    };
    let count = if args.blocks == "cells" { 2 * groups } else { groups };
    (data.group_of().iter().zip(data.labels()).map(of).collect(), count)
}

/// CVaR of the blocks that have rows, and their least accuracy.
fn risk(data: &Dataset<f32>, scores: &[f32], args: &Args) -> Result<(f64, f64)> {
    let (of, count) = blocks(data, args);
    let mut sums = vec![[0.0; 3]; count];
    for ((&score, &label), &block) in scores.iter().zip(data.labels()).zip(&of) {
        let loss = GlmLoss::Logistic.value(if label == 1 { 1.0 } else { -1.0 }, f64::from(score));
        let hit = f64::from(u8::from((score >= 0.0) == (label == 1)));
        sums[block] = [sums[block][0] + loss, sums[block][1] + hit, sums[block][2] + 1.0];
    }
    sums.retain(|sum| sum[2] > 0.0);
    let losses: Vec<f64> = sums.iter().map(|sum| sum[0] / sum[2]).collect();
    let mut room = vec![0.0; cvar_need(losses.len()).f64];
    let risk = cvar(&losses, args.share, Scratch::<f32> { f64: &mut room, ..Scratch::default() })?;
    Ok((risk, sums.iter().map(|sum| sum[1] / sum[2]).fold(1.0, f64::min)))
}

/// The smallest eigenvalue of the Gram matrix of the blocks' gradients.
fn smallest(trainer: &mut Trainer<f32>, args: &Args) -> Result<f64> {
    const CHUNK: usize = 1024;
    let (data, model) = (trainer.train_data().clone(), *trainer.model());
    let params = trainer.params().to_vec();
    let (of, count) = blocks(&data, args);
    let mut gradients = Vec::new();
    for block in 0..count {
        let rows: Vec<u32> = (0..data.len()).filter(|&row| of[row] == block).map(|row| row as u32).collect();
        let mut gradient = vec![0.0f32; params.len()];
        for chunk in rows.chunks(CHUNK) {
            let x = Selection::of(data.rows(), chunk)?;
            let mut scores = vec![0.0; chunk.len()];
            let mut cache = vec![0.0; undercurve::model::Model::<f32>::cache_len(&model, chunk.len())];
            let mut scratch = vec![0.0; undercurve::model::Model::<f32>::scratch_len(&model, chunk.len())];
            model.forward(&params, x, &mut cache, &mut scores)?;
            for (score, &row) in scores.iter_mut().zip(chunk) {
                let sign = if data.labels()[row as usize] == 1 { 1.0 } else { -1.0 };
                *score = GlmLoss::Logistic.slope(sign, *score) / rows.len() as f32;
            }
            model.backward(&params, x, &cache, &scores, &mut scratch, &mut gradient)?;
        }
        if !rows.is_empty() {
            gradients.push(gradient);
        }
    }
    let dot = |a: usize, b: usize| -> f64 {
        gradients[a].iter().zip(&gradients[b]).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
    };
    let gram = DMatrix::from_fn(gradients.len(), gradients.len(), dot);
    Ok(SymmetricEigen::new(gram).eigenvalues.min())
}

/// Trains and measures.
fn train(args: &Args, parts: &Parts, of: usize, step: (&str, f64), decay: f64, seed: u64) -> Result<Outcome> {
    let (_, method, own) = METHODS[of];
    let entry = undercurve::registry::method(method);
    let has = |name: &str| entry.is_some_and(|entry| entry.params.iter().any(|param| param.name == name));
    let name_of_step = if has("step") { "step" } else { "optimizer" };
    let mut settings =
        vec![(name_of_step, step.0.to_string()), ("lr", step.1.to_string()), ("decay", decay.to_string())];
    if has("objective") {
        settings.push(("objective", "cvar".to_string()));
    }
    if has("share") {
        settings.push(("share", args.share.to_string()));
        settings.push(("blocks", args.blocks.clone()));
        settings.push(("per-cell", args.per_cell.to_string()));
    } else {
        let rows = parts.train.cells().iter().fold(vec![0u32; 2 * parts.train.groups()], |mut sizes, &cell| {
            sizes[cell as usize] += 1;
            sizes
        });
        settings.push(("sampling", "uniform".to_string()));
        settings.push(("batch", rows.iter().map(|&rows| rows.min(args.per_cell)).sum::<u32>().to_string()));
    }
    settings.extend(own.iter().map(|&(name, value)| (name, value.to_string())));
    let config = Config {
        method: method.to_string(),
        settings: settings.into_iter().map(|(name, value)| (name.to_string(), value)).collect(),
        model: if args.quick { ModelSpec::Linear } else { ModelSpec::Mlp { hidden: vec![64, 64], tanh: false } },
        seed,
        length: Length::Passes(if args.quick { 1.0 } else { args.passes }),
        ..Config::default()
    };
    let mut trainer = Trainer::<f32>::new(&config, Arc::clone(&parts.train), None)?;
    while trainer.step()?.is_some() {}
    let mut scores = [&parts.train, &parts.test].map(|data| vec![0.0f32; data.len()]);
    trainer.score(parts.train.rows(), &mut scores[0])?;
    trainer.score(parts.test.rows(), &mut scores[1])?;
    let (on_train, _) = risk(&parts.train, &scores[0], args)?;
    let (on_test, accuracy) = risk(&parts.test, &scores[1], args)?;
    let test = &parts.test;
    let groups = Metrics::new().groups(&scores[1], test.labels(), test.group_of(), test.groups(), 0.0)?;
    let auroc = least(groups.iter().map(|group| group.auroc)).map(|(_, value)| value);
    Ok(Outcome { risk: [on_train, on_test], accuracy, auroc, least: smallest(&mut trainer, args)? })
}

/// The rate and the decay that do best on a fifth of the training rows.
fn choose(args: &Args, parts: &Parts, of: usize, step: (&str, [f64; 3])) -> Result<(f64, f64)> {
    let parts = fairness::held_out(&parts.train)?;
    let mut best = (f64::INFINITY, (step.1[0], args.decay[0]));
    for rate in step.1 {
        for &decay in &args.decay {
            let outcome = train(args, &parts, of, (step.0, rate), decay, 1)?;
            if outcome.risk[1] < best.0 {
                best = (outcome.risk[1], (rate, decay));
            }
        }
    }
    Ok(best.1)
}

/// Runs the bench.
///
/// # Errors
/// Data that are not there, runs that break down.
pub fn run(args: &Args, as_json: bool) -> Result<()> {
    if !(args.share > 0.0 && args.share <= 1.0) {
        return Err(CliError::input("--share: expected a share above 0 and at most 1"));
    }
    if args.decay.is_empty() || args.decay.iter().any(|decay| !(0.0..=1e6).contains(decay)) {
        return Err(CliError::input("--decay: expected numbers from 0 to 1e6"));
    }
    let parts = if args.quick { fairness::generated_parts()? } else { fairness::adult(&args.data, &["race", "sex"])? };
    let seeds = if args.quick { 2 } else { args.seeds.max(1) };
    let wanted = |list: &[String], name: &str| list.is_empty() || list.iter().any(|other| other == name);
    if !as_json {
        let head =
            "| method | step | rate | decay | train CVaR | test CVaR | least accuracy | least AUC of a group | λ_min |";
        output::line(head)?;
        output::line(format!("|{}", "---|".repeat(head.matches('|').count() - 1)))?;
    }
    for (of, &(name, method, _)) in METHODS.iter().enumerate() {
        if !(wanted(&args.only, name) || args.only.iter().any(|other| other == method)) {
            continue;
        }
        for step in STEPS.into_iter().filter(|step| wanted(&args.step, step.0)) {
            if args.quick && (step.0 != "adam" || !matches!(name, "cross-entropy" | "sonex")) {
                continue;
            }
            let (rate, decay) = choose(args, &parts, of, step)?;
            let runs = (1..=seeds).map(|seed| train(args, &parts, of, (step.0, rate), decay, seed));
            let runs = runs.collect::<Result<Vec<Outcome>>>()?;
            let figure = |get: &dyn Fn(&Outcome) -> f64| mean_sd(&runs.iter().map(get).collect::<Vec<_>>());
            let all = [
                ("train_cvar", figure(&|o| o.risk[0])),
                ("test_cvar", figure(&|o| o.risk[1])),
                ("test_least_accuracy", figure(&|o| o.accuracy)),
                ("test_least_auroc", figure(&|o| o.auroc.unwrap_or(f64::NAN))),
                ("smallest_eigenvalue", figure(&|o| o.least)),
            ];
            if as_json {
                let mut object = json!({
                    "blocks": args.blocks, "share": args.share, "method": name, "step": step.0, "rate": rate,
                    "decay": decay, "seeds": seeds,
                });
                for (name, (mean, sd)) in all {
                    object[name] = json!({"mean": mean, "sd": sd});
                }
                output::line(object)?;
                continue;
            }
            let cells: Vec<String> = all[..4].iter().map(|(_, (mean, sd))| format!("{mean:.4} ± {sd:.4}")).collect();
            let (mean, _) = all[4].1;
            output::line(format!("| {name} | {} | {rate} | {decay} | {} | {mean:.1e} |", step.0, cells.join(" | ")))?;
        }
    }
    Ok(())
}
