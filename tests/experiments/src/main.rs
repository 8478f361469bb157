//! `cargo experiment`: the published experiments, and times as ratios measured in one run.
//!
//! Each has its own file and is one variant of [`Bench`].

mod ai_sarah;
mod annthyroid;
mod auprc;
mod auroc;
mod certificates;
mod compare;
mod constrained_cost;
mod contrastive;
mod counts;
mod defaults;
mod exact;
mod experiment;
mod fairness;
mod forgetting;
mod gap;
mod gdro;
mod gpu;
mod intervals;
mod paired;
mod pairs;
mod pauc;
mod pauc_ablation;
mod pauc_cost;
mod population;
mod reading;
mod ridge;
mod sorr;
mod speed;
mod step;
mod tune;
mod verdicts;

use clap::{Parser, Subcommand};
use serde_json::json;
use std::process::ExitCode;
use std::time::Instant;
use undercurve_demo::error::Result;
use undercurve_demo::{cli, output, threads};

/// Published experiments, and times as ratios measured in one run
#[derive(Parser)]
#[command(name = "cargo experiment", version)]
struct Args {
    /// Which; without one they are listed
    #[command(subcommand)]
    bench: Option<Bench>,
    /// Print JSON, one object a line
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Bench {
    /// Exact sums, metrics, the ridge, a step and reading beside other programs, in turns
    Speed(speed::Args),
    /// Megabytes of CSV text that are read a second
    Reading(reading::Args),
    /// How often 95 % intervals hold the truth, on draws whose truth is known
    Intervals(intervals::Args),
    /// How often the test of two scores of the same rows misleads, likewise
    Paired(paired::Args),
    /// How often certified bounds on the gaps between groups are wrong, and given, on draws whose gaps are known
    Certificates(certificates::Args),
    /// What the ridge's choice of its decay by cross-validation costs, and what comes of it
    Ridge(ridge::Args),
    /// Time the exact sums over pairs
    Pairs(pairs::Args),
    /// AI-SARAH against its tuned baselines, and the speed of its sparse steps
    AiSarah(ai_sarah::Args),
    /// SOAP against cross-entropy by test AP, on the annthyroid data
    Annthyroid(annthyroid::Args),
    /// SOAP and its baselines by test AP under equal tuning
    Auprc(auprc::Args),
    /// Every method at its defaults against cross-entropy, on many splits of many sets
    Defaults(defaults::Args),
    /// PPD-SG, PPD-AdaGrad and their baselines by test AUROC under equal tuning
    Auroc(auroc::Args),
    /// AGD-SBCD, DCA and their baselines by test pAUC in a range, and by the exact objective, under equal tuning
    Pauc(pauc::Args),
    /// What falling steps, Adam and averages give partial AUC by thresholds and AGD-SBCD
    PaucAblation(pauc_ablation::Args),
    /// Time steps of partial AUC, and the way to its least value on a million rows
    PaucCost(pauc_cost::Args),
    /// The sum of ranked range by AGD and DCA: F by pass and by second, under equal tuning
    Sorr(sorr::Args),
    /// AUC under bounds on the gaps between groups, by every method with every step; and the published bounds
    Fairness(fairness::Args),
    /// The mean loss of the worst groups, by every method that minimises it
    Gdro(gdro::Args),
    /// How often "met" is said of what does not hold, on draws from a known population
    Verdicts(verdicts::Args),
    /// Two heads by the global contrastive loss with SONEX against InfoNCE, by recall of the other view of a row
    Contrastive(contrastive::Args),
    /// Time the estimator of constraints and whole steps under them, beside steps without
    ConstrainedCost,
    /// New rows without forgetting old ones: gains and the worst protected change, by every method and plain fine-tuning
    Forgetting(forgetting::Args),
    /// Time one whole training step of a small network
    Step,
    /// Count the instructions of the kernels (needs valgrind), and time them
    Counts(counts::Args),
    /// What a graphics adapter can do, and the kernels' shares of it, beside this CPU (at most 8 minutes)
    Gpu(gpu::Args),
    /// Exact AP training against SOAP and cross-entropy by test AP and time, and on a million rows
    Exact(exact::Args),
}

fn main() -> ExitCode {
    cli::program(|args: Args| run(&args))
}

fn run(args: &Args) -> Result<()> {
    // Times are those of one thread; a bench that compares makes pools of its own.
    threads::limit(match &args.bench {
        Some(Bench::Exact(own)) => own.threads,
        Some(Bench::Reading(own)) => own.threads,
        _ => 1,
    })?;
    match &args.bench {
        None => list(args.json),
        Some(Bench::Speed(own)) => speed::run(own, args.json),
        Some(Bench::Reading(own)) => reading::run(own, args.json),
        Some(Bench::Intervals(own)) => intervals::run(own, args.json),
        Some(Bench::Paired(own)) => paired::run(own, args.json),
        Some(Bench::Certificates(own)) => certificates::run(own, args.json),
        Some(Bench::Ridge(own)) => ridge::run(own, args.json),
        Some(Bench::Pairs(own)) => pairs::run(own, args.json),
        Some(Bench::AiSarah(own)) => ai_sarah::run(own),
        Some(Bench::Annthyroid(own)) => annthyroid::run(own, args.json),
        Some(Bench::Defaults(own)) => defaults::run(own, args.json),
        Some(Bench::Auprc(own)) => auprc::run(own, args.json),
        Some(Bench::Auroc(own)) => auroc::run(own, args.json),
        Some(Bench::Pauc(own)) => pauc::run(own, args.json),
        Some(Bench::PaucAblation(own)) => pauc_ablation::run(own, args.json),
        Some(Bench::PaucCost(own)) => pauc_cost::run(own, args.json),
        Some(Bench::Sorr(own)) => sorr::run(own, args.json),
        Some(Bench::Fairness(own)) => fairness::run(own, args.json),
        Some(Bench::Gdro(own)) => gdro::run(own, args.json),
        Some(Bench::Verdicts(own)) => verdicts::run(own, args.json),
        Some(Bench::Contrastive(own)) => contrastive::run(own, args.json),
        Some(Bench::ConstrainedCost) => constrained_cost::run(args.json),
        Some(Bench::Forgetting(own)) => forgetting::run(own, args.json),
        Some(Bench::Step) => step::run(args.json),
        Some(Bench::Counts(own)) => counts::run(own, args.json),
        Some(Bench::Gpu(own)) => gpu::run(own, args.json),
        Some(Bench::Exact(own)) => exact::run(own, args.json),
    }
}

/// The benches, a line each.
fn list(as_json: bool) -> Result<()> {
    for bench in Bench::augment_subcommands(clap::Command::new("bench")).get_subcommands() {
        let about = bench.get_about().map_or(String::new(), ToString::to_string);
        if as_json {
            output::line(json!({"bench": bench.get_name(), "about": about}))?;
        } else {
            output::line(format!("{:<18}{about}", bench.get_name()))?;
        }
    }
    Ok(())
}

/// Seconds of each of `work`, the median of `runs` interleaved runs after one to warm up.
pub fn medians<const K: usize>(runs: usize, work: [&mut dyn FnMut(); K]) -> [f64; K] {
    times(runs, work).map(|times| times[times.len() / 2])
}

/// As [`medians`], the least.
pub fn minima<const K: usize>(runs: usize, work: [&mut dyn FnMut(); K]) -> [f64; K] {
    times(runs, work).map(|times| times[0])
}

/// Seconds of each of `work` in ascending order.
fn times<const K: usize>(runs: usize, mut work: [&mut dyn FnMut(); K]) -> [Vec<f64>; K] {
    let mut times: [Vec<f64>; K] = std::array::from_fn(|_| Vec::with_capacity(runs));
    for round in 0..=runs {
        for (call, times) in work.iter_mut().zip(&mut times) {
            let start = Instant::now();
            call();
            if round > 0 {
                times.push(start.elapsed().as_secs_f64());
            }
        }
    }
    times.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
    times
}

/// The instruction sets this program was compiled for, and whether it has found AVX2.
pub fn target_features() -> String {
    let known = [
        ("sse2", cfg!(target_feature = "sse2")),
        ("avx2", cfg!(target_feature = "avx2")),
        ("fma", cfg!(target_feature = "fma")),
        ("avx512f", cfg!(target_feature = "avx512f")),
        ("neon", cfg!(target_feature = "neon")),
    ];
    let on: Vec<&str> = known.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
    let found = if undercurve::uses_avx2() && !cfg!(target_feature = "avx2") { " avx2-found" } else { "" };
    format!("{} {}{found}", std::env::consts::ARCH, on.join(" ")).trim_end().to_owned()
}
