//! `undercurve bench pairs`: value and gradient over whole data against one sort of the scores, and against all pairs.

use super::{medians, target_features};
use anyhow::Result;
use std::hint::black_box;
use undercurve::Scratch;
use undercurve::pairs::{self, Grade, brute};
use undercurve::rng::Rng;
use undercurve::surrogate::{AnySurrogate, SquaredHinge};

const RUNS: usize = 15;
/// All pairs are timed up to so many rows.
const BRUTE_TO: usize = 10_000;

/// Scores of a million rows at most 5 % positive come in these kinds.
const KINDS: [&str; 5] = ["normal", "half", "ties", "outlier", "clusters"];

/// The whole-data sums of the table: heading, objective, surrogate and grade.
const SUMS: [(&str, Objective, &str, Grade); 9] = [
    ("AUC sq. hinge", Objective::Auc, "squared-hinge", Grade::Full),
    ("AP sq. hinge", Objective::Ap, "squared-hinge", Grade::Full),
    ("pAUC sq. hinge", Objective::Pauc, "squared-hinge", Grade::Full),
    ("AUC sigmoid 1e-6", Objective::Auc, "sigmoid", Grade::Fast),
    ("AUC sigmoid 1e-12", Objective::Auc, "sigmoid", Grade::Full),
    ("AUC logistic 1e-6", Objective::Auc, "logistic", Grade::Fast),
    ("AUC logistic 1e-12", Objective::Auc, "logistic", Grade::Full),
    ("AP sigmoid 1e-6", Objective::Ap, "sigmoid", Grade::Fast),
    ("AP sigmoid 1e-12", Objective::Ap, "sigmoid", Grade::Full),
];

#[derive(Clone, Copy)]
enum Objective {
    Auc,
    Ap,
    Pauc,
}

/// Scores N(0, 1) for negatives and N(1, 1) for positives: 5 % positives (`half`: 50 %), rounded to 1/16 (`ties`), one
/// score at 10⁶ (`outlier`), or in two groups 2000 apart (`clusters`).
fn example(kind: &str, rows: usize) -> (Vec<f32>, Vec<u8>) {
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

/// Options of `bench pairs`.
#[derive(clap::Args)]
pub struct Args {
    /// Numbers of rows, with commas between them
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [1_000, 10_000, 100_000, 1_000_000])]
    rows: Vec<usize>,
}

/// Prints one table: each sum in ns a row and as a multiple of S, one `sort_unstable_by(f32::total_cmp)` of the scores,
/// whose copy is not counted; and the blocked pair loop where the data are small.
pub fn run(args: &Args, json: bool) -> Result<()> {
    if !json {
        println!("f32 scores and gradients, one thread, median of {RUNS} interleaved runs, {}", target_features());
    }
    for &rows in &args.rows {
        for kind in KINDS {
            table(kind, rows.max(3), json)?;
        }
    }
    Ok(())
}

fn table(kind: &str, rows: usize, json: bool) -> Result<()> {
    let (scores, labels) = example(kind, rows);
    let positives = labels.iter().filter(|&&y| y == 1).count();
    let need = pairs::need(rows, positives);
    let (mut f, mut i, mut k) = (vec![0.0; need.f64], vec![0; need.u32], vec![0; need.u64]);
    let mut grad = vec![0.0f32; rows];
    let repeats = (100_000 / rows).clamp(1, 100);
    let mut seconds = vec![];
    let mut unsorted = scores.clone();
    let mut sort = || {
        for _ in 0..repeats {
            unsorted.copy_from_slice(&scores);
            unsorted.sort_unstable_by(f32::total_cmp);
            black_box(&unsorted);
        }
    };
    let mut copied = scores.clone();
    let mut copy = || {
        for _ in 0..repeats {
            copied.copy_from_slice(black_box(&scores));
            black_box(&copied);
        }
    };
    for (_, objective, name, grade) in SUMS {
        let loss = AnySurrogate::by_name(name, 1.0)?;
        let mut failure = None;
        let mut sum = || {
            for _ in 0..repeats {
                let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
                let value = match objective {
                    Objective::Auc => pairs::auc(&scores, &labels, loss, grade, scratch, &mut grad),
                    Objective::Ap => pairs::ap(&scores, &labels, loss, grade, scratch, &mut grad),
                    Objective::Pauc => pairs::pauc(&scores, &labels, loss, (0.05, 0.5), grade, scratch, &mut grad),
                };
                failure = black_box(value).err().or(failure);
            }
        };
        // Each sum beside its own sorts, so that slow drifts of the clock cancel from the ratio.
        let [sort, copy, sum] = medians(RUNS, [&mut sort, &mut copy, &mut sum]);
        if let Some(error) = failure {
            return Err(error.into());
        }
        seconds.push((sort - copy, sum));
    }
    let per_row = 1e9 / (rows * repeats) as f64;
    if !json {
        let sort = seconds.iter().map(|s| s.0).sum::<f64>() / seconds.len() as f64 * per_row;
        println!("\nn = {rows}, {positives} positives, {kind}: S = {sort:.2} ns a row");
    }
    let line = |title: &str, sort: f64, time: f64| {
        if json {
            println!(
                "{{\"bench\":\"pairs\",\"n\":{rows},\"positives\":{positives},\"data\":\"{kind}\",\"sum\":\"{title}\",\
                 \"ns\":{:.3},\"sort_ns\":{:.3},\"features\":\"{}\"}}",
                time * per_row,
                sort * per_row,
                target_features()
            );
        } else {
            println!("  {title:<22} {:>9.2} ns a row = {:>6.2} S", time * per_row, time / sort);
        }
    };
    for ((title, ..), &(sort, time)) in SUMS.iter().zip(&seconds) {
        line(title, sort, time);
    }
    if rows <= BRUTE_TO {
        let loss = SquaredHinge::new(1.0f32)?;
        let of = |label| -> Vec<f32> { scores.iter().zip(&labels).filter(|x| *x.1 == label).map(|x| *x.0).collect() };
        let (high, low) = (of(1), of(0));
        let (mut grad_high, mut grad_low) = (vec![0.0; high.len()], vec![0.0; low.len()]);
        let mut all = || {
            for _ in 0..repeats {
                _ = black_box(brute::auc(loss, &high, &low, &mut grad_high, &mut grad_low));
            }
        };
        let [sort, copy, all] = medians(RUNS, [&mut sort, &mut copy, &mut all]);
        line("AUC sq. hinge, pairs", sort - copy, all);
    }
    Ok(())
}
