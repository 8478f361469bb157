//! `cargo experiment intervals`: how often 95 % intervals hold the truth, and how wide they are beside others, on draws whose truth is known
//! (populations and designs: population.rs).
//!
//! Beside: Newcombe's method 5 (of AUROC, without weights and clusters); the influences' variance on the scale of the log-odds with the normal
//! quantile (of AUROC DeLong's); and the bootstrap of rows, or clusters, bias-corrected and accelerated (Efron 1987, "Better Bootstrap
//! Confidence Intervals"), with the acceleration from the influences. The best of these is the narrowest that holds in .93 of draws or more.

use crate::population::{DESIGNS, Design, Drawn, Noise, Normal, Population, RANGE, TOP};
use anyhow::Context as _;
use rayon::prelude::*;
use serde_json::json;
use undercurve::metric::{Estimate, FprRange, Interval, Metrics, Top, Truth, influence, rank::Run};
use undercurve::rng::Rng;
use undercurve_demo::error::Result;
use undercurve_demo::output;

/// Options of `experiment intervals`.
#[derive(clap::Args)]
pub struct Args {
    /// Draws of each setting
    #[arg(long, value_name = "N", default_value_t = 400)]
    draws: u64,
    /// Positives in the mean, with commas between them
    #[arg(long, value_name = "N", default_values_t = [10, 20, 50, 200, 500], value_delimiter = ',')]
    positives: Vec<usize>,
    /// Bootstrap replicates of the interval beside; 0 leaves it out
    #[arg(long, value_name = "N", default_value_t = 400)]
    replicates: usize,
    /// Other populations in place of normal and rounded noise: heavy tails, positives that vary twice or half as much, and as many negatives as
    /// positives
    #[arg(long)]
    other: bool,
    /// A line for each setting, too
    #[arg(long)]
    all: bool,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

const AUROC: [f64; 7] = [0.6, 0.8, 0.9, 0.97, 0.99, 0.999, 0.9999];
const METRICS: [&str; 5] = ["AUROC", "AP", "pAUC", "precision-at:5%", "recall-at:5%"];
const BESIDE: [&str; 3] = ["Newcombe 5", "log-odds", "BCa"];

pub fn estimates() -> undercurve::Result<[Estimate; 5]> {
    let (range, top) = (FprRange::new(RANGE.0, RANGE.1)?, Top::Percent(TOP));
    Ok([Estimate::AUROC, Estimate::Ap, Estimate::Roc(range), Estimate::PrecisionAt(top), Estimate::RecallAt(top)])
}

/// Rows of a draw in descending order, tied ones together, and the groups.
struct Sorted {
    order: Vec<u32>,
    /// Where each group ends.
    ends: Vec<usize>,
}

impl Sorted {
    fn new(scores: &[f64]) -> Self {
        let mut order: Vec<u32> = (0..scores.len() as u32).collect();
        order.sort_by(|&a, &b| scores[b as usize].total_cmp(&scores[a as usize]));
        let score = |at: usize| scores[order[at] as usize];
        let mut ends: Vec<usize> = (1..order.len()).filter(|&at| score(at) < score(at - 1)).collect();
        ends.push(order.len());
        Self { order, ends }
    }

    /// The runs where rows weigh so much.
    fn runs(&self, labels: &[u8], weight: impl Fn(usize) -> f64) -> Vec<Run<f64>> {
        let mut from = 0;
        let of = |&end: &usize| {
            let mut run = Run::<f64>::default();
            for &row in &self.order[from..end] {
                let row = row as usize;
                *(if labels[row] == 1 { &mut run.positives } else { &mut run.negatives }) += weight(row);
            }
            from = end;
            run
        };
        self.ends.iter().map(of).collect()
    }
}

/// AUROC, AP and partial AUC of runs; `None` where a class has no weight.
fn areas(runs: &[Run<f64>]) -> Option<[f64; 3]> {
    let all = runs.iter().fold([0.0; 2], |[p, n], run| [p + run.positives, n + run.negatives]);
    if all.contains(&0.0) {
        return None;
    }
    let (low, high) = (RANGE.0 * all[1], RANGE.1 * all[1]);
    let (mut tp, mut fp, mut sums) = (0.0, 0.0, [0.0; 3]);
    for run in runs {
        sums[0] += run.negatives * (tp + 0.5 * run.positives);
        let (start, end) = (low.max(fp), high.min(fp + run.negatives));
        if end > start {
            sums[2] += (end - start) * (tp + run.positives * ((0.5 * (start + end) - fp) / run.negatives));
        }
        (tp, fp) = (tp + run.positives, fp + run.negatives);
        if run.positives > 0.0 {
            sums[1] += run.positives * (tp / (tp + fp));
        }
    }
    Some([sums[0] / (all[0] * all[1]), sums[1] / all[0], sums[2] / (all[0] * (high - low))])
}

/// Newcombe's method 5 of plain rows.
fn newcombe(value: f64, labels: &[u8]) -> Interval {
    let m = labels.iter().filter(|&&y| y == 1).count() as f64;
    let n = labels.len() as f64 - m;
    let far = |t: f64| {
        let pairs = (1.0 - t) / (2.0 - t) + t / (1.0 + t);
        let variance = t * (1.0 - t) * (1.0 + (0.5 * (m + n) - 1.0) * pairs) / (m * n);
        (value - t).powi(2) > 1.96 * 1.96 * variance
    };
    let search = |mut out: f64| {
        let mut within = value;
        for _ in 0..50 {
            let middle = 0.5 * (out + within);
            *(if far(middle) { &mut out } else { &mut within }) = middle;
        }
        within
    };
    Interval { low: search(0.0), high: search(1.0) }
}

/// What each row moves a metric by, added within clusters, and the variance of that by classes.
fn units(drawn: &Drawn, sorted: &Sorted, truth: Truth<'_>, of: Estimate) -> undercurve::Result<(f64, Vec<f64>, f64)> {
    let runs = sorted.runs(&drawn.labels, |row| truth.weight(row));
    let mut each = vec![[0.0; 2]; runs.len()];
    let value = influence(of, &runs, &mut each)?;
    let count = drawn.clusters.last().map_or(drawn.labels.len(), |&last| last as usize + 1);
    let mut sums = vec![[0.0; 2]; count];
    let (mut from, mut group) = (0, 0);
    for &end in &sorted.ends {
        for &row in &sorted.order[from..end] {
            let row = row as usize;
            let class = usize::from(drawn.labels[row] == 0);
            let unit = drawn.clusters.get(row).map_or(row, |&cluster| cluster as usize);
            sums[unit][class] += truth.weight(row) * each[group][class];
        }
        (from, group) = (end, group + 1);
    }
    let totals: Vec<f64> = sums.iter().map(|[a, b]| a + b).collect();
    let variance = totals.iter().map(|x| x * x).sum::<f64>() * (count as f64 / (count as f64 - 1.0));
    Ok((value, totals, variance))
}

fn log_odds(value: f64, variance: f64) -> Option<Interval> {
    let wide = 1.96 * variance.sqrt() / (value * (1.0 - value));
    let end = |at: f64| 1.0 / (1.0 + (-at).exp());
    let at = (value / (1.0 - value)).ln();
    (wide > 0.0 && wide.is_finite()).then(|| Interval { low: end(at - wide), high: end(at + wide) })
}

/// Bias-corrected and accelerated, of sorted replicates.
fn bca(normal: &Normal, value: f64, replicates: &[f64], totals: &[f64]) -> Interval {
    let below = replicates
        .iter()
        .map(|&x| {
            if x < value {
                1.0
            } else if x == value {
                0.5
            } else {
                0.0
            }
        })
        .sum::<f64>();
    let count = replicates.len() as f64;
    let bias = normal.quantile((below / count).clamp(0.5 / count, 1.0 - 0.5 / count));
    let power = |k: i32| totals.iter().map(|x| x.powi(k)).sum::<f64>();
    let spread = power(2).powf(1.5);
    let bend = if spread > 0.0 { power(3) / (6.0 * spread) } else { 0.0 };
    let end = |z: f64| {
        let share = 1.0 - normal.above(bias + (bias + z) / (1.0 - bend * (bias + z)));
        replicates[((share * count) as usize).min(replicates.len() - 1)]
    };
    Interval { low: end(-1.96), high: end(1.96) }
}

/// Sorted replicates of AUROC, AP and partial AUC.
fn bootstrap(drawn: &Drawn, sorted: &Sorted, truth: Truth<'_>, count: usize, random: &mut Rng) -> [Vec<f64>; 3] {
    let clusters = drawn.clusters.last().map_or(0, |&last| last as usize + 1);
    let units = if clusters > 0 { clusters } else { drawn.labels.len() };
    let mut all = [const { Vec::new() }; 3];
    let mut times = vec![0.0; units];
    for _ in 0..count {
        times.fill(0.0);
        (0..units).for_each(|_| times[random.below(units as u32) as usize] += 1.0);
        let unit = |row: usize| drawn.clusters.get(row).map_or(row, |&cluster| cluster as usize);
        if let Some(found) = areas(&sorted.runs(&drawn.labels, |row| times[unit(row)] * truth.weight(row))) {
            all.iter_mut().zip(found).for_each(|(all, found)| all.push(found));
        }
    }
    all.iter_mut().for_each(|all| all.sort_by(f64::total_cmp));
    all
}

/// Of each metric the library's interval and those beside.
type Found = [[Option<Interval>; 4]; 5];

fn found(drawn: &Drawn, normal: &Normal, replicates: usize, random: &mut Rng) -> undercurve::Result<Found> {
    let (truth, scores) = (drawn.truth()?, &drawn.scores[0]);
    let sorted = Sorted::new(scores);
    let drawn_again = bootstrap(drawn, &sorted, truth, replicates, random);
    let mut all = [[None; 4]; 5];
    for (k, of) in estimates()?.into_iter().enumerate() {
        let (value, totals, variance) = units(drawn, &sorted, truth, of)?;
        // (Of rows that are independent and count alike.)
        let alike = drawn.weights.is_empty() && drawn.clusters.is_empty();
        let of_rows = if k == 0 && alike { Some(newcombe(value, &drawn.labels)) } else { None };
        let again = drawn_again.get(k).filter(|again| !again.is_empty());
        let again = again.map(|again| bca(normal, value, again, &totals));
        all[k] = [Metrics::new().interval(scores, truth, of)?, of_rows, log_odds(value, variance), again];
    }
    Ok(all)
}

/// How often an interval holds, and its median width. One that there is not holds nothing, and is 1 wide.
type Held = [[[f64; 2]; 4]; 5];

fn coverage(
    args: &Args,
    normal: &Normal,
    of: Population,
    design: Design,
    positives: usize,
) -> undercurve::Result<Held> {
    let (truth, rows) = (of.truth(normal), (positives as f64 / of.share).round() as usize);
    let key = of.truth(normal)[0].to_bits() ^ u64::from(design.clusters) ^ (u64::from(design.weights) << 1);
    let each = (0..args.draws).into_par_iter().map(|draw| {
        let mut random = Rng::keyed(key, rows as u64, draw);
        let drawn = Drawn::new(of, design, normal, [rows, 1], &mut random);
        found(&drawn, normal, args.replicates, &mut random)
    });
    let each = each.collect::<undercurve::Result<Vec<Found>>>()?;
    Ok(std::array::from_fn(|metric| {
        std::array::from_fn(|form| {
            let ends = || each.iter().map(|found| found[metric][form]);
            let holds = |ends: Interval| ends.low - 1e-12 <= truth[metric] && truth[metric] <= ends.high + 1e-12;
            let held = ends().filter(|ends| ends.is_some_and(holds)).count();
            let mut widths: Vec<f64> = ends().map(|ends| ends.map_or(1.0, |ends| ends.high - ends.low)).collect();
            widths.sort_by(f64::total_cmp);
            [held as f64 / args.draws as f64, widths[widths.len() / 2]]
        })
    }))
}

/// Settings of one design and metric.
#[derive(Default)]
struct Summary {
    held: Vec<f64>,
    /// Width by that of the best beside.
    ratios: Vec<f64>,
}

impl Summary {
    fn add(&mut self, forms: &[[f64; 2]; 4]) {
        self.held.push(forms[0][0]);
        let best = forms[1..].iter().filter(|form| form[0] >= 0.93).map(|form| form[1]).fold(f64::INFINITY, f64::min);
        if best.is_finite() && best > 0.0 {
            self.ratios.push(forms[0][1] / best);
        }
    }

    fn text(&mut self) -> String {
        self.ratios.sort_by(f64::total_cmp);
        let count = |keep: &dyn Fn(f64) -> bool| self.held.iter().filter(|&&held| keep(held)).count();
        let ends = |of: &[f64]| of.iter().fold([1.0_f64, 0.0_f64], |[low, high], &x| [low.min(x), high.max(x)]);
        let [low, high] = ends(&self.held);
        let ratio = match self.ratios.as_slice() {
            [] => "–".to_string(),
            all => format!("{:.2}, {} of {}", all[all.len() / 2], all.iter().filter(|&&x| x <= 1.1).count(), all.len()),
        };
        let (below, above) = (count(&|held| held < 0.93), count(&|held| held > 0.98));
        format!(
            "{} of {} | {low:.3}–{high:.3} | {below} | {above} | {ratio}",
            self.held.len() - below - above,
            self.held.len()
        )
    }
}

/// Prints tables.
///
/// # Errors
/// Those of stdout, and when a pool of threads cannot be made.
pub fn run(args: &Args, json: bool) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build().context("threads")?;
    let (normal, tenth) = (Normal::new(), 1.0 / 11.0);
    let usual = [("normal", Noise::Normal, tenth), ("rounded", Noise::Ties, tenth)];
    let other = [
        ("Student's, 2", Noise::Student, tenth),
        ("positives × 2", Noise::Uneven(2.0), tenth),
        ("positives × ½", Noise::Uneven(0.5), tenth),
        ("normal, 1:1", Noise::Normal, 0.5),
    ];
    let (populations, designs) = if args.other { (&other[..], &DESIGNS[..1]) } else { (&usual[..], &DESIGNS[..]) };
    if args.all && !json {
        output::line(format!("| noise | design | AUROC | positives | {} |", METRICS.join(" | ")))?;
        output::line("|---|---|---|---|---|---|---|---|---|")?;
    }
    // By design (or noise) and metric, to an AUROC of .97 and above.
    let mut all: Vec<(&str, [[Summary; 5]; 2])> = Vec::new();
    for &(noise_name, noise, share) in populations {
        for &(design_name, design) in designs {
            let name = if args.other { noise_name } else { design_name };
            let at = all.iter().position(|one| one.0 == name).unwrap_or_else(|| {
                all.push((name, Default::default()));
                all.len() - 1
            });
            for auroc in AUROC {
                let of = Population::new(&normal, noise, auroc, share);
                for &positives in &args.positives {
                    let held = pool.install(|| coverage(args, &normal, of, design, positives))?;
                    let summaries = &mut all[at].1[usize::from(auroc > 0.97)];
                    summaries.iter_mut().zip(&held).for_each(|(summary, forms)| summary.add(forms));
                    if json {
                        output::line(json!({
                            "bench": "intervals", "draws": args.draws, "noise": noise_name, "design": design_name, "auroc": auroc,
                            "positives": positives, "metrics": METRICS, "forms": ["ours", BESIDE[0], BESIDE[1], BESIDE[2]], "held_width": held,
                        }))?;
                    } else if args.all {
                        let cells =
                            held.map(|forms| forms.map(|[held, width]| format!("{held:.3} ({width:.4})")).join(", "));
                        output::line(format!(
                            "| {noise_name} | {design_name} | {auroc} | {positives} | {} |",
                            cells.join(" | ")
                        ))?;
                    }
                }
            }
        }
    }
    if json { Ok(()) } else { summarise(args, all) }
}

/// The shares of all settings of a design (or noise) and metric.
fn summarise(args: &Args, all: Vec<(&str, [[Summary; 5]; 2])>) -> Result<()> {
    output::line(format!(
        "\n| of {} draws | true AUROC | metric | held in .93–.98 | range | below | above | median width by that of the best of {} |",
        args.draws,
        BESIDE.join(", ")
    ))?;
    output::line("|---|---|---|---|---|---|---|---|")?;
    for (name, mut parts) in all {
        for (part, summaries) in ["to .97", ".99 and more"].into_iter().zip(&mut parts) {
            for (metric, summary) in METRICS.into_iter().zip(summaries) {
                output::line(format!("| {name} | {part} | {metric} | {} |", summary.text()))?;
            }
        }
    }
    Ok(())
}
