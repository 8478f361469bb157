//! `cargo experiment paired`: how often the test of two scores finds a difference where there is none, and its interval leaves 0 out, on draws of scores that are
//! equally good (populations and designs: population.rs).

use crate::intervals::estimates;
use crate::population::{DESIGNS, Design, Drawn, Noise, Normal, Population};
use anyhow::Context as _;
use rayon::prelude::*;
use serde_json::json;
use undercurve::metric::Metrics;
use undercurve::rng::Rng;
use undercurve_demo::error::Result;
use undercurve_demo::output;

/// Options of `experiment paired`.
#[derive(clap::Args)]
pub struct Args {
    /// Draws of each setting
    #[arg(long, value_name = "N", default_value_t = 2000)]
    draws: u64,
    /// Positives in the mean, with commas between them
    #[arg(long, value_name = "N", default_values_t = [20, 50, 200], value_delimiter = ',')]
    positives: Vec<usize>,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

const AUROC: [f64; 3] = [0.7, 0.9, 0.97];
const METRICS: [&str; 3] = ["AUROC", "AP", "pAUC"];

/// Of each metric how often p is at most .05, and the interval leaves 0 out.
fn found(
    draws: u64,
    normal: &Normal,
    of: Population,
    design: Design,
    rows: usize,
) -> undercurve::Result<[[f64; 2]; 3]> {
    let each = (0..draws).into_par_iter().map(|draw| -> undercurve::Result<[[f64; 2]; 3]> {
        let mut random = Rng::keyed(
            of.share.to_bits() ^ u64::from(design.clusters) ^ (u64::from(design.weights) << 1),
            rows as u64,
            draw,
        );
        let drawn = Drawn::new(of, design, normal, [rows, 2], &mut random);
        let (truth, mut all) = (drawn.truth()?, [[0.0; 2]; 3]);
        for (out, estimate) in all.iter_mut().zip(estimates()?) {
            let found = Metrics::compare([&drawn.scores[0], &drawn.scores[1]], truth, estimate)?;
            let count = |is: bool| f64::from(u8::from(is));
            let outside = found.interval.is_some_and(|ends| ends.low > 0.0 || ends.high < 0.0);
            *out = [count(found.p.is_some_and(|p| p <= 0.05)), count(outside)];
        }
        Ok(all)
    });
    let add = |a: [[f64; 2]; 3], b: [[f64; 2]; 3]| Ok(std::array::from_fn(|k| [a[k][0] + b[k][0], a[k][1] + b[k][1]]));
    Ok(each.try_reduce(|| [[0.0; 2]; 3], add)?.map(|sums| sums.map(|sum| sum / draws as f64)))
}

/// Prints a table.
///
/// # Errors
/// Those of stdout, and when a pool of threads cannot be made.
pub fn run(args: &Args, json: bool) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build().context("threads")?;
    let (normal, share) = (Normal::new(), 1.0 / 11.0);
    if !json {
        output::line(format!(
            "Of {} draws of two scores that are equally good: p ≤ .05, and in brackets intervals without 0\n| noise | rows | positives | AUROC | {} |\n|---|---|---|---|---|---|---|",
            args.draws,
            METRICS.join(" | ")
        ))?;
    }
    for (noise_name, noise) in [("normal", Noise::Normal), ("rounded", Noise::Ties)] {
        for (name, design) in DESIGNS {
            for &positives in &args.positives {
                for auroc in AUROC {
                    let of = Population::new(&normal, noise, auroc, share);
                    let rows = (positives as f64 / share).round() as usize;
                    let held = pool.install(|| found(args.draws, &normal, of, design, rows))?;
                    if json {
                        output::line(json!({
                            "bench": "paired", "draws": args.draws, "noise": noise_name, "design": name, "positives": positives,
                            "auroc": auroc, "metrics": METRICS, "found_outside": held,
                        }))?;
                    } else {
                        let cells = held.map(|[p, outside]| format!("{p:.3} ({outside:.3})")).join(" | ");
                        output::line(format!("| {noise_name} | {name} | {positives} | {auroc} | {cells} |"))?;
                    }
                }
            }
        }
    }
    Ok(())
}
