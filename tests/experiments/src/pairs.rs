//! `cargo experiment pairs`: value and gradient over whole data against one sort of the scores, and against all pairs.

use super::{medians, minima, target_features};
use anyhow::{Context as _, anyhow};
use std::hint::black_box;
use std::time::Instant;
use undercurve::pairs::{self, Grade, Plan, Way, brute};
use undercurve::rng::Rng;
use undercurve::surrogate::AnySurrogate;
use undercurve::{Scratch, with_surrogate};
use undercurve_demo::error::Result;
use undercurve_demo::{output, threads};

const RUNS: usize = 15;
/// Runs of sizes where one of all kinds takes seconds: a million rows are done within a minute.
const FEWER_RUNS: usize = 9;
/// Runs of sizes where one takes seconds.
const FEW_RUNS: usize = 3;
/// The least such sizes.
const FEWER_FROM: usize = 1_000_000;
const FEW_FROM: usize = 10_000_000;
/// The first works of a round.
const SORT: usize = 0;
const COPY: usize = 1;
/// All pairs are timed up to so many rows, and sums with the tables of a plan.
const BRUTE_TO: usize = 10_000;

/// Scores of a million rows at most 5 % positive come in these kinds.
const KINDS: [&str; 6] = ["normal", "half", "ties", "outlier", "clusters", "powers"];

/// One line of the table.
#[derive(Clone, Copy)]
struct Line {
    title: &'static str,
    objective: Objective,
    surrogate: &'static str,
    grade: Grade,
    /// Goal and stretch goal at a million normal scores, 5 % positives, as multiples of S.
    goals: Option<(f64, f64)>,
}

const fn line(
    title: &'static str,
    objective: Objective,
    surrogate: &'static str,
    grade: Grade,
    goals: Option<(f64, f64)>,
) -> Line {
    Line { title, objective, surrogate, grade, goals }
}

const SUMS: [Line; 12] = [
    line("AUC sq. hinge", Objective::Auc, "squared-hinge", Grade::Full, Some((0.5, 0.3))),
    line("AP sq. hinge", Objective::Ap, "squared-hinge", Grade::Full, Some((0.65, 0.4))),
    line("pAUC sq. hinge", Objective::Pauc, "squared-hinge", Grade::Full, None),
    line("AUC smoothed hinge", Objective::Auc, "smoothed-hinge", Grade::Full, None),
    line("AUC ramp", Objective::Auc, "ramp", Grade::Full, None),
    line("AUC sigmoid 1e-6", Objective::Auc, "sigmoid", Grade::Fast, Some((0.2, 0.1))),
    line("AUC sigmoid 1e-12", Objective::Auc, "sigmoid", Grade::Full, Some((0.3, 0.2))),
    line("AUC logistic 1e-6", Objective::Auc, "logistic", Grade::Fast, Some((0.2, 0.1))),
    line("AUC logistic 1e-12", Objective::Auc, "logistic", Grade::Full, Some((0.3, 0.2))),
    line("AP sigmoid 1e-6", Objective::Ap, "sigmoid", Grade::Fast, Some((0.3, 0.15))),
    line("AP sigmoid 1e-12", Objective::Ap, "sigmoid", Grade::Full, Some((0.4, 0.25))),
    line("AP logistic 1e-12", Objective::Ap, "logistic", Grade::Full, Some((0.4, 0.25))),
];
/// Pairs a second, all of them in blocks, on the baseline of the architecture.
const PAIRS_GOAL: f64 = 6.5e9;

impl Line {
    /// Goal and stretch goal where the task states them: a million rows.
    fn goals(&self, kind: &str, rows: usize) -> Option<(f64, f64)> {
        match kind {
            _ if rows != 1_000_000 => None,
            "normal" => self.goals,
            "half" => (self.title == "AP sq. hinge").then_some((2.0, 1.0)),
            "outlier" => Some((1.2, 0.6)),
            "clusters" | "powers" => Some((1.2, f64::NAN)),
            _ => None,
        }
    }
}

fn runs(rows: usize) -> usize {
    match rows {
        FEW_FROM.. => FEW_RUNS,
        FEWER_FROM.. => FEWER_RUNS,
        _ => RUNS,
    }
}

#[derive(Clone, Copy, Debug)]
enum Objective {
    Auc,
    Ap,
    Pauc,
}

/// Scores N(0, 1) for negatives and N(1, 1) for positives: 5 % positives (`half`: 50 %), rounded to 1/16 (`ties`), one
/// score at 10⁶ (`outlier`), in two groups 2000 apart (`clusters`), or e to ten times those (`powers`).
pub fn example(kind: &str, rows: usize) -> (Vec<f32>, Vec<u8>) {
    let mut random = Rng::new(1);
    let share = if kind == "half" { 0.5 } else { 0.05 };
    let mut labels: Vec<u8> = (0..rows).map(|_| u8::from(random.uniform() < share)).collect();
    (labels[0], labels[1]) = (0, 1);
    let mut scores: Vec<f32> = labels
        .iter()
        .enumerate()
        .map(|(row, &label)| {
            let score = random.normal() + f64::from(label);
            match kind {
                "ties" => ((score * 16.0).round() / 16.0) as f32,
                "powers" => (10.0 * score).exp() as f32,
                "clusters" => (score + if row % 2 == 0 { 1000.0 } else { -1000.0 }) as f32,
                _ => score as f32,
            }
        })
        .collect();
    if kind == "outlier" {
        scores[rows / 2] = 1e6;
    }
    (scores, labels)
}

/// Options of `experiment pairs`.
#[derive(clap::Args)]
pub struct Args {
    /// Numbers of rows, with commas between them; ten million take 0.7 GB and some minutes
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [1_000, 10_000, 100_000, 1_000_000, 10_000_000])]
    rows: Vec<usize>,
    /// Compare all pairs with the near-linear sums at small sizes instead
    #[arg(long)]
    crossovers: bool,
    /// Compare N threads with one instead
    #[arg(long, value_name = "N", value_parser = threads::parse, conflicts_with = "crossovers")]
    threads: Option<usize>,
}

/// Prints one table a kind of data: each sum in ns a row and as a multiple of S, one `sort_unstable_by(f32::total_cmp)`
/// of as many normal scores, whose copy is not counted; and pairs a second in blocks where the data are small.
pub fn run(args: &Args, json: bool) -> Result<()> {
    if let Some(threads) = args.threads {
        return args.rows.iter().try_for_each(|&rows| by_threads(threads, rows.max(3), json));
    }
    if !json {
        output::line(format!(
            "f32 scores and gradients, one thread, least of {RUNS} interleaved runs ({FEWER_RUNS} from \
             n = {FEWER_FROM} on, {FEW_RUNS} from {FEW_FROM} on), {}",
            target_features()
        ))?;
    }
    if args.crossovers {
        return crossovers(json);
    }
    for &rows in &args.rows {
        for kind in KINDS {
            table(kind, rows.max(3), json)?;
        }
    }
    Ok(())
}

/// Scores and labels with the memory for a sum over them.
struct Bed {
    scores: Vec<f32>,
    labels: Vec<u8>,
    f64: Vec<f64>,
    u32: Vec<u32>,
    u64: Vec<u64>,
    grad: Vec<f32>,
}

impl Bed {
    fn new(scores: Vec<f32>, labels: Vec<u8>) -> Self {
        let positives = labels.iter().filter(|&&y| y == 1).count();
        let need = pairs::need_by(Way::NearLinear, scores.len(), positives);
        let grad = vec![1.0; scores.len()];
        // Not of zeros, so that the pages are there before the first run.
        Self { scores, labels, f64: vec![1.0; need.f64], u32: vec![1; need.u32], u64: vec![1; need.u64], grad }
    }

    /// The same with the tables of a plan.
    fn sum_with(&mut self, plan: Plan<'_>, way: Way, objective: Objective) -> Result<f64> {
        let Self { scores, labels, f64, u32, u64, grad } = self;
        let scratch = Scratch { real: &mut [], f64, u32, u64 };
        Ok(match objective {
            Objective::Auc => plan.auc_by(way, scores, labels, scratch, grad),
            Objective::Ap => plan.ap_by(way, scores, labels, scratch, grad),
            Objective::Pauc => plan.pauc(scores, labels, (0.05, 0.5), scratch, grad),
        }?)
    }

    fn sum(&mut self, way: Way, objective: Objective, loss: AnySurrogate<f64>, grade: Grade) -> Result<f64> {
        let Self { scores, labels, f64, u32, u64, grad } = self;
        let scratch = Scratch { real: &mut [], f64, u32, u64 };
        Ok(match objective {
            Objective::Auc => pairs::auc_by(way, scores, labels, loss, grade, scratch, grad),
            Objective::Ap => pairs::ap_by(way, scores, labels, loss, grade, scratch, grad),
            Objective::Pauc => pairs::pauc(scores, labels, loss, (0.05, 0.5), grade, scratch, grad),
        }?)
    }
}

fn table(kind: &str, rows: usize, json: bool) -> Result<()> {
    let (scores, labels) = example(kind, rows);
    let positives = labels.iter().filter(|&&y| y == 1).count();
    let repeats = (100_000 / rows).clamp(1, 100);
    let per_row = 1e9 / (rows * repeats) as f64;
    let keys = example("normal", rows).0;
    let mut buffer = keys.clone();
    let mut bed = Bed::new(scores, labels);
    let mut memories = vec![vec![0.0; Plan::need(Grade::Fast).max(Plan::need(Grade::Full))]; SUMS.len()];
    let mut plans = vec![];
    for (line, memory) in SUMS.iter().zip(&mut memories) {
        let loss = AnySurrogate::by_name(line.surrogate, 1.0)?;
        plans.push((loss, Plan::new(loss, line.grade, memory).ok().filter(|_| rows <= BRUTE_TO)));
    }
    let mut failure = None;
    // One round has a sort, a copy, each sum and each sum with a plan, so that what disturbs the clock disturbs all.
    let mut work = |k: usize| {
        for _ in 0..repeats {
            let outcome = match k {
                SORT | COPY => {
                    buffer.copy_from_slice(black_box(&keys));
                    if k == SORT {
                        buffer.sort_unstable_by(f32::total_cmp);
                    }
                    black_box(&buffer);
                    continue;
                }
                _ => {
                    let at = (k - COPY - 1) % SUMS.len();
                    let (line, (loss, plan)) = (&SUMS[at], plans[at]);
                    match (k - COPY > SUMS.len(), plan) {
                        (false, _) => bed.sum(Way::Chosen, line.objective, loss, line.grade),
                        (true, Some(plan)) => bed.sum_with(plan, Way::Chosen, line.objective),
                        (true, None) => return,
                    }
                }
            };
            failure = black_box(outcome).err().or(failure.take());
        }
    };
    let with_plans = if rows <= BRUTE_TO { SUMS.len() } else { 0 };
    let times = rounds(runs(rows), COPY + 1 + SUMS.len() + with_plans, &mut work);
    if let Some(error) = failure {
        return Err(error);
    }
    let mut seconds = vec![];
    for (at, (_, plan)) in plans.iter().enumerate() {
        let of = |k: usize| &times[k];
        let sum = COPY + 1 + at;
        let sort = least(of(SORT)) - least(of(COPY));
        let planned = plan.map(|_| least(of(sum + SUMS.len())));
        seconds.push((sort, least(of(sum)), least(of(sum)) / sort, planned));
    }
    if !json {
        let sort = seconds.iter().map(|s| s.0).sum::<f64>() / seconds.len() as f64 * per_row;
        output::line(format!("\nn = {rows}, {positives} positives, {kind}: S = {sort:.2} ns a row"))?;
    }
    for (line, &(sort, time, ratio, planned)) in SUMS.iter().zip(&seconds) {
        let goals = line.goals(kind, rows);
        if json {
            let goal = goals.map_or(String::new(), |(goal, _)| format!(",\"goal\":{goal}"));
            let planned = planned.map_or(String::new(), |time| format!(",\"ns_with_plan\":{:.3}", time * per_row));
            output::line(format!(
                "{{\"bench\":\"pairs\",\"n\":{rows},\"positives\":{positives},\"data\":\"{kind}\",\"sum\":\"{}\",\
                 \"ns\":{:.3}{planned},\"sort_ns\":{:.3}{goal},\"runs\":{},\"features\":\"{}\"}}",
                line.title,
                time * per_row,
                sort * per_row,
                runs(rows),
                target_features()
            ))?;
        } else {
            let beside = goals.map_or(String::new(), |goals| verdict(ratio, goals));
            let planned = planned.map_or(String::new(), |time| format!("   with a plan {:>8.2}", time * per_row));
            output::line(format!(
                "  {:<20} {:>8.2} ns a row = {ratio:>6.2} S{planned}{beside}",
                line.title,
                time * per_row
            ))?;
        }
    }
    if rows <= BRUTE_TO && kind == "normal" {
        in_blocks(&bed, repeats, json)?;
    }
    Ok(())
}

/// Seconds of each of so many works in every round, after one to warm up where a round is short.
fn rounds(runs: usize, count: usize, work: &mut dyn FnMut(usize)) -> Vec<Vec<f64>> {
    let mut times = vec![Vec::with_capacity(runs); count];
    for round in usize::from(runs < RUNS)..=runs {
        for (k, times) in times.iter_mut().enumerate() {
            let start = Instant::now();
            work(k);
            if round > 0 {
                times.push(start.elapsed().as_secs_f64());
            }
        }
    }
    times
}

/// (What else is on a machine makes every time longer, never shorter.)
fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Each sum on one thread and on several, which give the same bits.
fn by_threads(threads: usize, rows: usize, json: bool) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().context("threads")?;
    for kind in ["normal", "half"] {
        let (scores, labels) = example(kind, rows);
        if !json {
            let positives = labels.iter().filter(|&&y| y == 1).count();
            output::line(format!(
                "n = {rows}, {positives} positives, {kind}: least of {} interleaved runs, in ns a row",
                runs(rows)
            ))?;
        }
        let mut beds = [Bed::new(scores.clone(), labels.clone()), Bed::new(scores, labels)];
        for line in &SUMS {
            let loss = AnySurrogate::by_name(line.surrogate, 1.0)?;
            let [one_bed, many_bed] = &mut beds;
            let (mut one_value, mut many_value) = (Ok(0.0), Ok(0.0));
            let mut one = || one_value = one_bed.sum(Way::Chosen, line.objective, loss, line.grade);
            let mut many = || many_value = pool.install(|| many_bed.sum(Way::Chosen, line.objective, loss, line.grade));
            let [one, many] = minima(runs(rows), [&mut one, &mut many]).map(|seconds| seconds * 1e9 / rows as f64);
            let same = one_value?.to_bits() == many_value?.to_bits() && one_bed.grad == many_bed.grad;
            if !same {
                return Err(anyhow!("{}: not the bits of one thread", line.title).into());
            }
            if json {
                output::line(format!(
                    "{{\"bench\":\"pairs\",\"n\":{rows},\"data\":\"{kind}\",\"sum\":\"{}\",\"threads\":{threads},\
                     \"ns\":{many:.3},\"ns_one\":{one:.3}}}",
                    line.title
                ))?;
            } else {
                let times = one / many;
                output::line(format!(
                    "  {:<20} one thread {one:>7.2}, {threads} threads {many:>7.2}: {times:.2} times",
                    line.title
                ))?;
            }
        }
    }
    Ok(())
}

/// Whether a ratio meets its goal and its stretch goal (NaN: none).
fn verdict(ratio: f64, (goal, stretch): (f64, f64)) -> String {
    let word = |limit: f64| if ratio <= limit { "met" } else { "missed" };
    let stretch = if stretch > 0.0 { format!(", stretch {stretch:.2} {}", word(stretch)) } else { String::new() };
    format!("   goal {goal:.2} {}{stretch}", word(goal))
}

/// Pairs a second of the blocked loop over the two classes.
fn in_blocks(bed: &Bed, repeats: usize, json: bool) -> Result<()> {
    let of =
        |label| -> Vec<f32> { bed.scores.iter().zip(&bed.labels).filter(|x| *x.1 == label).map(|x| *x.0).collect() };
    let (high, low) = (of(1), of(0));
    let (mut grad_high, mut grad_low) = (vec![0.0; high.len()], vec![0.0; low.len()]);
    let pairs = (repeats * high.len() * low.len()) as f64;
    for (title, loss) in [("squared-hinge", 1.0), ("sigmoid", 1.0), ("logistic", 1.0)] {
        let loss = AnySurrogate::by_name(title, loss)?;
        let mut all = || {
            for _ in 0..repeats {
                _ = black_box(with_surrogate!(loss, l => brute::auc(l, &high, &low, &mut grad_high, &mut grad_low)));
            }
        };
        let [time] = medians(RUNS, [&mut all]);
        let rate = pairs / time;
        if json {
            let n = high.len() + low.len();
            output::line(format!(
                "{{\"bench\":\"pairs\",\"n\":{n},\"sum\":\"{title} in blocks\",\"pairs_per_s\":{rate:.4e}}}"
            ))?;
        } else {
            let goal = match title {
                "squared-hinge" if rate >= PAIRS_GOAL => "   goal 6.50 met",
                "squared-hinge" => "   goal 6.50 missed",
                _ => "",
            };
            output::line(format!("  {title:<20} {:>8.2} 10^9 pairs a second in blocks{goal}", rate * 1e-9))?;
        }
    }
    Ok(())
}

/// Times of both ways at small sizes, in ns a row.
fn crossovers(json: bool) -> Result<()> {
    let sums = [
        ("squared-hinge", Grade::Full),
        ("ramp", Grade::Full),
        ("sigmoid", Grade::Fast),
        ("sigmoid", Grade::Full),
        ("logistic", Grade::Full),
    ];
    for objective in [Objective::Auc, Objective::Ap] {
        for (surrogate, grade) in sums {
            let loss = AnySurrogate::by_name(surrogate, 1.0)?;
            if !json {
                output::line(format!(
                    "\n{objective:?} {surrogate} {grade:?}: ns a row by all pairs / near-linear (/ with a plan), by positives"
                ))?;
            }
            for rows in (4..=14).map(|power| 1 << power) {
                let mut line = format!("  n = {rows:<6}");
                let mut counts = [2, 4, 8, 16, 32, 64, rows / 4, rows / 2];
                counts.sort_unstable();
                let fitting = counts.chunk_by(|a, b| a == b).map(|same| same[0]).filter(|&count| count <= rows / 2);
                for positives in fitting {
                    let [all, near, planned] = each_way(rows, positives, objective, loss, grade)?;
                    let has_plan = planned.is_finite();
                    if json {
                        let planned = if has_plan { format!(",\"with_plan_ns\":{planned:.3}") } else { String::new() };
                        output::line(format!(
                            "{{\"bench\":\"crossovers\",\"sum\":\"{objective:?} {surrogate} {grade:?}\",\"n\":{rows},\
                             \"positives\":{positives},\"all_pairs_ns\":{all:.3},\"near_linear_ns\":{near:.3}{planned}}}"
                        ))?;
                    }
                    let planned = if has_plan { format!("/{planned:.1}") } else { String::new() };
                    line += &format!("  {positives}: {all:.1}/{near:.1}{planned}");
                }
                if !json {
                    output::line(line)?;
                }
            }
        }
    }
    Ok(())
}

/// ns a row by all pairs, near-linear, and so with a plan (infinite for surrogates without one).
fn each_way(
    rows: usize,
    positives: usize,
    objective: Objective,
    loss: AnySurrogate<f64>,
    grade: Grade,
) -> Result<[f64; 3]> {
    let mut random = Rng::new(5);
    let labels: Vec<u8> = (0..rows).map(|row| u8::from(row < positives)).collect();
    let scores = labels.iter().map(|&y| (random.normal() + f64::from(y)) as f32).collect();
    let mut bed = Bed::new(scores, labels);
    let mut memory = vec![0.0; Plan::need(grade)];
    let plan = Plan::new(loss, grade, &mut memory).ok();
    let repeats = (20_000 / rows).max(1);
    let mut times = [f64::INFINITY; 3];
    for _ in 0..RUNS {
        for (at, time) in times.iter_mut().enumerate() {
            let way = if at == 0 { Way::AllPairs } else { Way::NearLinear };
            let plan = if at == 2 { plan } else { None };
            if at == 2 && plan.is_none() {
                continue;
            }
            let start = Instant::now();
            for _ in 0..repeats {
                black_box(match plan {
                    Some(plan) => bed.sum_with(plan, way, objective),
                    None => bed.sum(way, objective, loss, grade),
                })?;
            }
            *time = time.min(start.elapsed().as_secs_f64() * 1e9 / (rows * repeats) as f64);
        }
    }
    Ok(times)
}
