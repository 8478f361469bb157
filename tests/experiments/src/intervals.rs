//! `cargo experiment intervals`: how often 95 % intervals hold the truth, and how wide they are, on draws whose truth is known.
//!
//! Scores are noise, those of positives higher by d, which is such that AUROC is what the setting says. Rows are drawn from a population with
//! ten negatives for each positive, so that their number of positives varies around the setting's; with `--fixed` it does not.
//! Noise is normal, Student's with two degrees of freedom, or normal and rounded to halves. With S the share of noise above a threshold t,
//! π the share of positives, the truths are sums over a fine grid of t:
//!
//! ```text
//! TPR(t) = S(t − d)    FPR(t) = S(t)    P(t) = π TPR/(π TPR + (1 − π) FPR)    AP = ∫ P dTPR    pAUC = 1/(β − α) ∫_{α ≤ FPR ≤ β} TPR dFPR
//! ```

use anyhow::Context as _;
use rayon::prelude::*;
use serde_json::json;
use undercurve::metric::{FprRange, Interval, Metrics, Top, student};
use undercurve::rng::Rng;
use undercurve_demo::error::Result;
use undercurve_demo::output;

/// Options of `experiment intervals`.
#[derive(clap::Args)]
pub struct Args {
    /// Draws of each setting
    #[arg(long, value_name = "N", default_value_t = 1000)]
    draws: u64,
    /// Positives, with commas between them
    #[arg(long, value_name = "N", default_values_t = [20, 50, 200], value_delimiter = ',')]
    positives: Vec<usize>,
    /// As many positives in each draw, as in a sample by class
    #[arg(long)]
    fixed: bool,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

/// Of a score.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Noise {
    Normal,
    /// Two degrees of freedom.
    Student,
    /// Normal, rounded to halves.
    Ties,
}

const NOISE: [(&str, Noise); 3] = [("normal", Noise::Normal), ("t2", Noise::Student), ("ties", Noise::Ties)];
const AUROC: [f64; 3] = [0.7, 0.9, 0.97];
/// Negatives for each positive.
const NEGATIVES: usize = 10;
const RANGE: (f64, f64) = (0.0, 0.1);
/// Of the rows in per cent, for precision and recall at the top.
const TOP: f64 = 5.0;

/// The share of standard normal noise above a threshold, from a table.
struct Normal(Vec<f64>);

impl Normal {
    const STEP: f64 = 1e-3;
    const END: f64 = 12.0;

    fn new() -> Self {
        let density = |t: f64| (-0.5 * t * t).exp() / (2.0 * std::f64::consts::PI).sqrt();
        // By Simpson's rule, from the highest down.
        let count = (2.0 * Self::END / Self::STEP) as usize;
        let at = |k: usize| Self::END - k as f64 * Self::STEP;
        let mut all = vec![0.0];
        for k in 0..count {
            let part = density(at(k)) + 4.0 * density(at(k) - 0.5 * Self::STEP) + density(at(k + 1));
            all.push(all[k] + part * Self::STEP / 6.0);
        }
        Self(all)
    }

    fn above(&self, t: f64) -> f64 {
        let place = ((Self::END - t) / Self::STEP).clamp(0.0, (self.0.len() - 1) as f64);
        let (at, part) = (place as usize, place.fract());
        let next = self.0.get(at + 1).copied().unwrap_or(self.0[at]);
        self.0[at] + part * (next - self.0[at])
    }
}

impl Noise {
    fn draw(self, random: &mut Rng, apart: f64) -> f64 {
        match self {
            Self::Normal => random.normal() + apart,
            Self::Ties => ((random.normal() + apart) * 2.0).round() / 2.0,
            Self::Student => {
                let u = random.uniform().clamp(1e-12, 1.0 - 1e-12);
                (2.0 * u - 1.0) / (2.0 * u * (1.0 - u)).sqrt() + apart
            }
        }
    }

    /// False- and true-positive rates along descending thresholds, from (0, 0) to (1, 1).
    fn curve(self, normal: &Normal, apart: f64) -> Vec<(f64, f64)> {
        const STEPS: usize = 40_000;
        let mut at: Vec<f64> = match self {
            Self::Normal => (0..=STEPS).map(|k| -9.0 + (18.0 + apart) * k as f64 / STEPS as f64).collect(),
            // Between the halves.
            Self::Ties => (-40..=40 + (2.0 * apart) as i32).map(|k| (f64::from(k) - 0.5) / 2.0).collect(),
            Self::Student => {
                let quantile = |k: usize| {
                    let u = (k as f64 + 0.5) / STEPS as f64;
                    (2.0 * u - 1.0) / (2.0 * u * (1.0 - u)).sqrt()
                };
                (0..STEPS).flat_map(|k| [quantile(k), quantile(k) + apart]).collect()
            }
        };
        at.sort_by(|a, b| b.total_cmp(a));
        let above = |t: f64| match self {
            Self::Student => 0.5 - 0.5 * t / (2.0 + t * t).sqrt(),
            _ => normal.above(t),
        };
        let inner = at.into_iter().map(|t| (above(t), above(t - apart)));
        std::iter::once((0.0, 0.0)).chain(inner).chain([(1.0, 1.0)]).collect()
    }

    /// d for an AUROC.
    fn apart(self, normal: &Normal, auroc: f64) -> f64 {
        let (mut low, mut high) = (0.0, 30.0);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            let [here, ..] = self.truth(normal, middle, 0.5);
            *(if here < auroc { &mut low } else { &mut high }) = middle;
        }
        0.5 * (low + high)
    }

    /// AUROC, AP, partial AUC, and precision and recall of the highest scores, of all rows that there could be.
    fn truth(self, normal: &Normal, apart: f64, share: f64) -> [f64; 5] {
        let (mut auroc, mut ap, mut pauc, mut top) = (0.0, 0.0, 0.0, None);
        let (low, high) = RANGE;
        let rows = |(x, y): (f64, f64)| share * y + (1.0 - share) * x;
        for pair in self.curve(normal, apart).windows(2) {
            let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
            auroc += 0.5 * (y0 + y1) * (x1 - x0);
            // What is tied has the precision of all of it.
            let at = if self == Self::Ties { (x1, y1) } else { (0.5 * (x0 + x1), 0.5 * (y0 + y1)) };
            ap += if y1 > y0 { share * at.1 / rows(at) * (y1 - y0) } else { 0.0 };
            let (from, to) = (x0.max(low), x1.min(high));
            if to > from {
                let on = |x: f64| y0 + (y1 - y0) * (x - x0) / (x1 - x0);
                pauc += 0.5 * (on(from) + on(to)) * (to - from);
            }
            let (before, after) = (rows(pair[0]), rows(pair[1]));
            if top.is_none() && after >= TOP / 100.0 {
                let part = (TOP / 100.0 - before) / (after - before);
                let y = y0 + part * (y1 - y0);
                top = Some((share * y / (TOP / 100.0), y));
            }
        }
        let (precision, recall) = top.unwrap_or((share, 1.0));
        [auroc, ap, pauc / (high - low), precision, recall]
    }
}

/// DeLong's interval of the rows alone, on the scale of the log-odds, with Student's quantile.
fn plain(positives: &mut [f64], negatives: &mut [f64]) -> Option<Interval> {
    positives.sort_by(f64::total_cmp);
    negatives.sort_by(f64::total_cmp);
    // Of each score the share of the others below, ties half.
    let places = |own: &[f64], others: &[f64]| -> Vec<f64> {
        let below = |score: f64| {
            let (less, at_most) =
                (others.partition_point(|&other| other < score), others.partition_point(|&other| other <= score));
            0.5 * (less + at_most) as f64 / others.len() as f64
        };
        own.iter().map(|&score| below(score)).collect()
    };
    let part = |places: &[f64]| {
        let (n, mean) = (places.len() as f64, places.iter().sum::<f64>() / places.len() as f64);
        (mean, places.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0) / n)
    };
    let ((auroc, one), (_, two)) = (part(&places(positives, negatives)), part(&places(negatives, positives)));
    let wide = (one + two).sqrt() / (auroc * (1.0 - auroc));
    let (at, t) = ((auroc / (1.0 - auroc)).ln(), student(positives.len().min(negatives.len()) as u64 - 1));
    let end = |at: f64| 1.0 / (1.0 + (-at).exp());
    (wide > 0.0 && wide.is_finite()).then(|| Interval { low: end(at - t * wide), high: end(at + t * wide) })
}

/// How often each interval holds its truth, and its mean width: DeLong's of the rows alone, AUROC, AP, pAUC, precision and recall at the
/// top. An interval that there is not holds nothing, and is 1 wide.
fn coverage(
    draws: u64,
    noise: Noise,
    apart: f64,
    truth: [f64; 5],
    positives: usize,
    fixed: bool,
) -> undercurve::Result<[[f64; 2]; 6]> {
    let range = FprRange::new(RANGE.0, RANGE.1)?;
    let each = (0..draws).into_par_iter().map(|draw| -> undercurve::Result<[[f64; 2]; 6]> {
        let mut random = Rng::keyed(apart.to_bits() ^ noise as u64, positives as u64, draw);
        let of = |random: &mut Rng, count: usize, apart: f64| -> Vec<f64> {
            (0..count).map(|_| noise.draw(random, apart)).collect()
        };
        let (rows, share) = ((1 + NEGATIVES) * positives, 1.0 / (1 + NEGATIVES) as f64);
        let positives = match fixed {
            true => positives,
            false => (0..rows).filter(|_| random.uniform() < share).count().clamp(2, rows - 2),
        };
        let (mut above, mut below) = (of(&mut random, positives, apart), of(&mut random, rows - positives, 0.0));
        let scores: Vec<f64> = above.iter().chain(&below).copied().collect();
        let labels: Vec<u8> = (0..scores.len()).map(|row| u8::from(row < positives)).collect();
        let mut memory = Metrics::new();
        let all = memory.intervals(&scores, &labels, range)?;
        let top = Top::Percent(TOP);
        let precision = memory.top(&scores, &labels, top)?.precision_interval();
        let recall = memory.top_recall_interval(&scores, &labels, top)?;
        let alone = plain(&mut above, &mut below);
        let ends = [alone, all.auroc, all.ap, all.pauc, Some(precision), recall];
        Ok(std::array::from_fn(|k| {
            let truth = truth[k.saturating_sub(1)];
            ends[k].map_or([0.0, 1.0], |ends| {
                [f64::from(u8::from(ends.low <= truth && truth <= ends.high)), ends.high - ends.low]
            })
        }))
    });
    let add = |a: [[f64; 2]; 6], b: [[f64; 2]; 6]| Ok(std::array::from_fn(|k| [a[k][0] + b[k][0], a[k][1] + b[k][1]]));
    let sum = each.try_reduce(|| [[0.0; 2]; 6], add)?;
    Ok(sum.map(|sums| sums.map(|sum| sum / draws as f64)))
}

/// Prints a table.
///
/// # Errors
/// Those of stdout, and when a pool of threads cannot be made.
pub fn run(args: &Args, json: bool) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build().context("threads")?;
    let normal = Normal::new();
    if !json {
        let (low, high) = RANGE;
        output::line(format!(
            "How often 95 % intervals hold the truth, and in brackets their mean width, of {} draws each, {NEGATIVES} negatives for each positive{}; pAUC {low}:{high}",
            args.draws,
            if args.fixed { "" } else { " in the mean" }
        ))?;
        output::line(
            "| noise | AUROC | positives | DeLong alone | AUROC | AP | pAUC | precision-at:5% | recall-at:5% |",
        )?;
        output::line("|---|---|---|---|---|---|---|---|---|")?;
    }
    let mut all = [[1.0_f64, 0.0_f64]; 6];
    for (name, noise) in NOISE {
        for auroc in AUROC {
            let apart = noise.apart(&normal, auroc);
            let truth = noise.truth(&normal, apart, 1.0 / (1 + NEGATIVES) as f64);
            for &positives in &args.positives {
                let held = pool.install(|| coverage(args.draws, noise, apart, truth, positives, args.fixed))?;
                all.iter_mut().zip(&held).for_each(|(all, held)| *all = [all[0].min(held[0]), all[1].max(held[0])]);
                if json {
                    output::line(json!({
                        "bench": "intervals", "draws": args.draws, "fixed": args.fixed, "noise": name, "auroc": auroc, "positives": positives,
                        "delong_alone": held[0], "auroc_held": held[1], "ap_held": held[2], "pauc_held": held[3],
                        "precision_at": held[4], "recall_at": held[5],
                    }))?;
                    continue;
                }
                let cells: Vec<String> = held.iter().map(|[held, width]| format!("{held:.3} ({width:.3})")).collect();
                output::line(format!("| {name} | {auroc} | {positives} | {} |", cells.join(" | ")))?;
            }
        }
    }
    if json {
        return Ok(());
    }
    let ends: Vec<String> = all.iter().map(|[least, most]| format!("{least:.3}–{most:.3}")).collect();
    output::line(format!("| all | | | {} |", ends.join(" | ")))
}

#[cfg(test)]
mod tests {
    use super::{Noise, Normal};

    #[test]
    fn truths_are_those_of_the_models() {
        let normal = Normal::new();
        // Φ(1/√2) and Φ(1.5/√2), by tables; at chance AP is the share, pAUC the middle of its range.
        for (apart, expected) in [(1.0, 0.760_250), (1.5, 0.855_578), (0.0, 0.5)] {
            let [auroc, ..] = Noise::Normal.truth(&normal, apart, 0.3);
            assert!((auroc - expected).abs() < 2e-6, "{auroc} {expected}");
        }
        for noise in [Noise::Normal, Noise::Student, Noise::Ties] {
            let [auroc, ap, pauc, precision, recall] = noise.truth(&normal, 0.0, 0.3);
            assert!((auroc - 0.5).abs() < 1e-6 && (ap - 0.3).abs() < 1e-6 && (pauc - 0.05).abs() < 1e-6);
            assert!((precision - 0.3).abs() < 1e-4 && (recall - 0.05).abs() < 1e-4, "{precision} {recall}");
            let apart = noise.apart(&normal, 0.9);
            assert!((noise.truth(&normal, apart, 0.1)[0] - 0.9).abs() < 1e-6);
        }
        // Rounding loses little of the order.
        let apart = [Noise::Normal, Noise::Ties].map(|noise| noise.apart(&normal, 0.9));
        assert!(apart[0] < apart[1] && apart[1] < apart[0] + 0.05, "{apart:?}");
    }
}
