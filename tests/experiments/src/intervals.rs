//! `cargo experiment intervals`: how often 95 % intervals hold the truth, on draws whose truth is known.
//!
//! Scores are normal with deviation 1 (the binormal model), those of positives higher by d, and each row is positive with a
//! share π. Then AUROC = Φ(d/√2), and the other truths are integrals over the threshold t,
//!
//! ```text
//! TPR(t) = Φ(d − t)    FPR(t) = Φ(−t)    P(t) = π TPR/(π TPR + (1 − π) FPR)    AP = ∫ P dTPR    pAUC = 1/(β − α) ∫_{α ≤ FPR ≤ β} TPR dFPR
//! ```

use anyhow::Context as _;
use rayon::prelude::*;
use serde_json::json;
use undercurve::metric::{FprRange, Metrics, Top};
use undercurve::rng::Rng;
use undercurve_demo::error::Result;
use undercurve_demo::output;

/// Options of `experiment intervals`.
#[derive(clap::Args)]
pub struct Args {
    /// Draws of each setting
    #[arg(long, value_name = "N", default_value_t = 1000)]
    draws: u64,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

/// Positives (on average), their share, d, and the range of the partial AUC.
const SETTINGS: [(u32, f64, f64, (f64, f64)); 10] = [
    (25, 0.05, 1.5, (0.0, 0.1)),
    (50, 0.05, 1.5, (0.0, 0.1)),
    (50, 0.2, 1.0, (0.0, 0.1)),
    (50, 0.02, 2.5, (0.0, 0.05)),
    (100, 0.05, 1.5, (0.02, 0.2)),
    (100, 0.1, 0.5, (0.05, 0.5)),
    (200, 0.05, 2.0, (0.0, 0.1)),
    (200, 0.5, 1.0, (0.0, 0.1)),
    (500, 0.05, 1.5, (0.0, 0.1)),
    (500, 0.2, 2.5, (0.02, 0.2)),
];

/// Of the rows in per cent, for precision and recall at the top.
const TOP: f64 = 5.0;

/// AUROC, AP, partial AUC, and precision and recall of the highest scores, of all rows that there could be.
fn truth(share: f64, apart: f64, (low, high): (f64, f64)) -> [f64; 5] {
    const STEPS: u32 = 400_000;
    let (top, step) = (14.0, 24.0 / f64::from(STEPS));
    let density = |t: f64| (-0.5 * t * t).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let (mut tpr, mut fpr, mut auroc, mut ap, mut pauc, mut at) = (0.0, 0.0, 0.0, 0.0, 0.0, None);
    for k in 0..STEPS {
        // From the highest threshold down, by midpoints.
        let t = top - (f64::from(k) + 0.5) * step;
        let (up, right) = (density(t - apart) * step, density(t) * step);
        let (y, x) = (tpr + 0.5 * up, fpr + 0.5 * right);
        let rows = share * y + (1.0 - share) * x;
        auroc += y * right;
        ap += share * y / rows * up;
        let inside = ((fpr + right).min(high) - f64::max(fpr, low)).max(0.0);
        pauc += y * inside;
        (tpr, fpr) = (tpr + up, fpr + right);
        if at.is_none() && rows >= TOP / 100.0 {
            at = Some((share * y / rows, y));
        }
    }
    let (precision, recall) = at.unwrap_or((share, 1.0));
    [auroc, ap, pauc / (high - low), precision, recall]
}

/// How often each interval holds its truth.
fn coverage(draws: u64, setting: usize) -> undercurve::Result<[f64; 5]> {
    let (positives, share, apart, (low, high)) = SETTINGS[setting];
    let (n, range) = ((f64::from(positives) / share).round() as usize, FprRange::new(low, high)?);
    let truth = truth(share, apart, (low, high));
    let held = (0..draws).into_par_iter().map(|draw| -> undercurve::Result<[u64; 5]> {
        let mut random = Rng::keyed(1, setting as u64, draw);
        let (scores, labels): (Vec<f64>, Vec<u8>) = (0..n)
            .map(|_| {
                let positive = random.uniform() < share;
                (random.normal() + if positive { apart } else { 0.0 }, u8::from(positive))
            })
            .unzip();
        let mut memory = Metrics::new();
        let all = memory.intervals(&scores, &labels, range)?;
        let top = Top::Percent(TOP);
        let precision = memory.top(&scores, &labels, top)?.precision_interval();
        let recall = memory.top_recall_interval(&scores, &labels, top)?;
        let ends = [all.auroc, all.ap, all.pauc, Some(precision), recall];
        Ok(std::array::from_fn(|k| {
            u64::from(ends[k].is_some_and(|ends| ends.low <= truth[k] && truth[k] <= ends.high))
        }))
    });
    let sum = held.try_reduce(|| [0; 5], |a, b| Ok(std::array::from_fn(|k| a[k] + b[k])))?;
    Ok(sum.map(|count| count as f64 / draws as f64))
}

/// Prints a table.
///
/// # Errors
/// Those of stdout, and when a pool of threads cannot be made.
pub fn run(args: &Args, json: bool) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build().context("threads")?;
    if !json {
        output::line(format!(
            "How often 95 % intervals hold the truth, of {} draws each (binormal scores, d apart)",
            args.draws
        ))?;
        output::line(format!(
            "positives  share     d  range          AUROC      AP    pAUC  precision-at:{TOP}%  recall-at:{TOP}%"
        ))?;
    }
    for (at, (positives, share, apart, (low, high))) in SETTINGS.into_iter().enumerate() {
        let held = pool.install(|| coverage(args.draws, at))?;
        let range = format!("{low}:{high}");
        let told = if json {
            json!({"bench": "intervals", "draws": args.draws, "positives": positives, "share": share, "apart": apart,
                   "range": [low, high], "auroc": held[0], "ap": held[1], "pauc": held[2], "precision_at": held[3], "recall_at": held[4]})
            .to_string()
        } else {
            let [auroc, ap, pauc, precision, recall] = held;
            format!(
                "{positives:>9}  {share:>5.2} {apart:>5.1}  {range:<10} {auroc:>9.3} {ap:>7.3} {pauc:>7.3}  {precision:>15.3}  {recall:>12.3}"
            )
        };
        output::line(told)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::truth;

    #[test]
    fn truths_are_those_of_the_binormal_model() {
        // Φ(1/√2) and Φ(1.5/√2), by tables; at chance AP is the share, pAUC the middle of its range.
        for (apart, expected) in [(1.0, 0.760_250), (1.5, 0.855_578), (0.0, 0.5)] {
            let [auroc, ..] = truth(0.3, apart, (0.0, 1.0));
            assert!((auroc - expected).abs() < 2e-6, "{auroc} {expected}");
        }
        let [_, ap, pauc, precision, recall] = truth(0.3, 0.0, (0.2, 0.4));
        assert!((ap - 0.3).abs() < 1e-6 && (pauc - 0.3).abs() < 1e-6 && (precision - 0.3).abs() < 1e-6);
        assert!((recall - 0.05).abs() < 1e-4);
        let [auroc, _, pauc, ..] = truth(0.1, 2.0, (0.0, 1.0));
        assert!((auroc - pauc).abs() < 1e-9);
    }
}
