//! `cargo experiment counts`: instructions of the kernels, which do not depend on what else the machine does.
//!
//! The program runs itself under valgrind's callgrind for each piece of work, and callgrind collects only inside
//! [`counted`]. The work has run once before, so that memory is there and tables are filled.

use super::{medians, target_features};
use anyhow::{Context as _, anyhow};
use serde_json::json;
use std::hint::black_box;
use std::io::ErrorKind;
use std::process::{Command, Stdio};
use std::sync::Arc;
use undercurve::Scratch;
use undercurve::batch::{Batch, Drawn, Shape};
use undercurve::data::{Dataset, Rows};
use undercurve::estimator::{Estimator, First, Grad, Link, Soap, SoapSettings, Weights};
use undercurve::finite_sum::{AiSarah, Event, FiniteSum, Glm, GlmLoss, Gradients, Memory, Response};
use undercurve::pairs::{self, Grade};
use undercurve::rng::Rng;
use undercurve::surrogate::{AnySurrogate, SURROGATES};
use undercurve::trainer::{Config, Length, ModelSpec, Trainer};
use undercurve_demo::error::{CliError, Result};
use undercurve_demo::output;

/// What a widely used Python library took for the loss of a batch of 64, forward and backward (LibAUC 2.0.1 on torch
/// 2.15, one thread of a server CPU). Quoted, not measured in this run.
const PEER_NS: f64 = 484_000.0;
const GOAL_NS: f64 = 350.0;
/// Runs of which the median counts, and how long one of them is at least.
const RUNS: usize = 15;
const LEAST_SECONDS: f64 = 2e-4;

/// Options of `experiment counts`.
#[derive(clap::Args)]
pub struct Args {
    /// Do this piece of work, for the program's own call under valgrind
    #[arg(long, value_name = "N", hide = true)]
    inside: Option<usize>,
}

type Call = Box<dyn FnMut()>;

/// Something to count.
struct Work {
    name: String,
    make: Box<dyn Fn() -> Result<Call>>,
    /// Whether the table compares its time with the peer's.
    step: bool,
}

/// What valgrind counts. Never inlined, so that it has a name there.
#[inline(never)]
fn counted(call: &mut dyn FnMut()) {
    black_box(call)();
}

/// Counts and times every piece of work.
///
/// # Errors
/// `Failed` when valgrind is there and does not work.
pub fn run(args: &Args, as_json: bool) -> Result<()> {
    let works = works();
    if let Some(at) = args.inside {
        let work = works.get(at).ok_or_else(|| CliError::input(format!("--inside {at}: there are {}", works.len())))?;
        let mut call = (work.make)()?;
        call();
        counted(&mut *call);
        return Ok(());
    }
    let mut counting = true;
    if !as_json {
        output::line(format!("one thread, {}; the quoted peer takes {PEER_NS} ns for a SOAP step", target_features()))?;
        output::line(format!("{:<34}{:>14}{:>14}", "", "instructions", "ns"))?;
    }
    for (at, work) in works.iter().enumerate() {
        let count = match counting.then(|| instructions(at)) {
            Some(Ok(count)) => Some(count),
            Some(Err(CliError::Input(reason))) => {
                output::note(format_args!("{reason}"));
                counting = false;
                None
            }
            Some(Err(error)) => return Err(error),
            None => None,
        };
        let nanoseconds = time(&mut *(work.make)()?);
        let ratio = work.step.then_some(PEER_NS / nanoseconds);
        if as_json {
            output::line(json!({
                "bench": "counts", "what": work.name, "instructions": count, "ns": nanoseconds, "ratio": ratio,
                "target": target_features(),
            }))?;
            continue;
        }
        let count = count.map_or("-".to_string(), |count: u64| count.to_string());
        let ratio = ratio.map_or(String::new(), |ratio| {
            format!(
                "  {ratio:5.0} times the peer{}",
                if nanoseconds <= GOAL_NS { String::new() } else { format!(", more than {GOAL_NS} ns") }
            )
        });
        output::line(format!("{:<34}{count:>14}{nanoseconds:>14.0}{ratio}", work.name))?;
    }
    Ok(())
}

/// Nanoseconds of one call.
fn time(call: &mut dyn FnMut()) -> f64 {
    let start = std::time::Instant::now();
    call();
    let once = start.elapsed().as_secs_f64().max(1e-9);
    let repeats = (LEAST_SECONDS / once).clamp(1.0, 1e4) as u32;
    let [seconds] = medians(RUNS, [&mut || (0..repeats).for_each(|_| call())]);
    seconds * 1e9 / f64::from(repeats)
}

/// Instructions of a piece of work.
///
/// # Errors
/// `Input` when there is no valgrind.
fn instructions(at: usize) -> Result<u64> {
    let program = std::env::current_exe().context("the path of this program")?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--toggle-collect=*counts*counted*", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["counts", "--inside", &at.to_string()])
        .stdin(Stdio::null())
        .output();
    let output = match output {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(CliError::input("valgrind is not installed, so nothing is counted (apt-get install valgrind)"));
        }
        other => other.context("valgrind")?,
    };
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    match collected.filter(|&count| output.status.success() && count > 0) {
        Some(count) => Ok(count),
        None => Err(anyhow!("valgrind: {}", text.lines().last().unwrap_or_default()).into()),
    }
}

/// Everything that is counted.
fn works() -> Vec<Work> {
    let mut works = Vec::new();
    for &(name, _, parameter) in SURROGATES {
        works.push(Work {
            name: format!("SOAP 64/8 {name}"),
            make: Box::new(move || soap(AnySurrogate::by_name(name, parameter as f32)?)),
            step: true,
        });
    }
    for (rows, share) in [(1_000, 0.05), (100_000, 0.05), (100_000, 0.5)] {
        for (sum, name, grade) in [
            ("AUC", "squared-hinge", Grade::Full),
            ("AP", "squared-hinge", Grade::Full),
            ("AUC", "sigmoid", Grade::Fast),
            ("AUC", "sigmoid", Grade::Full),
            ("AP", "logistic", Grade::Full),
        ] {
            let grade_name = match (name, grade) {
                ("squared-hinge", _) => "",
                (_, Grade::Fast) => " 1e-6",
                (_, Grade::Full) => " 1e-12",
            };
            works.push(Work {
                name: format!("{sum} {name}{grade_name} {rows}, {} %", share * 100.0),
                make: Box::new(move || Ok(whole(sum, AnySurrogate::by_name(name, 1.0)?, grade, rows, share))),
                step: false,
            });
        }
    }
    for method in ["soap", "ce"] {
        let name = format!("step of 32-64-64-1, 64, {method}");
        works.push(Work { name, make: Box::new(move || network(method)), step: false });
    }
    works.push(Work { name: "AI-SARAH step, 64 sparse rows".to_string(), make: Box::new(ai_sarah), step: false });
    works
}

/// SOAP's value, score gradient and u for 56 negatives and 8 positives.
fn soap(surrogate: AnySurrogate<f32>) -> Result<Call> {
    let mut random = Rng::new(2);
    let scores: Vec<f32> = (0..64).map(|k| (random.normal() + f64::from(u8::from(k >= 56))) as f32).collect();
    let slots: Vec<u32> = (0..8).collect();
    let estimator = Soap::new(SoapSettings {
        surrogate: surrogate.to(),
        link: Link::Identity,
        gamma: 0.1,
        floor: 0.0,
        weights: Weights::Unbiased,
        first: First::Estimate,
    })?;
    let need = Estimator::<f32>::need(&estimator, Shape { rows: 64, heads: 1, segments: 2, slots: 8 });
    let (mut real, mut state, mut grad) = (vec![0.0; need.real], vec![0.0; 16], vec![0.0; 64]);
    Ok(Box::new(move || {
        let starts = [0, 56, 64];
        let batch = Batch::new(black_box(&scores), 1, &starts, &[56_000, 8_000], Drawn::Stratified);
        let batch = batch.expect("a fitting batch").with_slots(&slots);
        let scratch = Scratch { real: &mut real, ..Scratch::default() };
        let out = Grad { scores: &mut grad, aux: &mut [] };
        black_box(estimator.update(&batch, &[], &mut state, scratch, out)).expect("an ordinary step");
    }))
}

/// A sum over whole data, value and gradient.
fn whole(sum: &'static str, loss: AnySurrogate<f64>, grade: Grade, rows: usize, share: f64) -> Call {
    let mut random = Rng::new(1);
    let mut labels: Vec<u8> = (0..rows).map(|_| u8::from(random.uniform() < share)).collect();
    (labels[0], labels[1]) = (0, 1);
    let scores: Vec<f32> = labels.iter().map(|&y| (random.normal() + f64::from(y)) as f32).collect();
    let need = pairs::need(rows, labels.iter().filter(|&&y| y == 1).count());
    let (mut f, mut i, mut k) = (vec![0.0; need.f64], vec![0; need.u32], vec![0; need.u64]);
    let mut grad = vec![0.0f32; rows];
    Box::new(move || {
        let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
        let scores = black_box(&scores);
        let value = match sum {
            "AUC" => pairs::auc(scores, &labels, loss, grade, scratch, &mut grad),
            _ => pairs::ap(scores, &labels, loss, grade, scratch, &mut grad),
        };
        black_box(value).expect("ordinary scores");
    })
}

/// SOAP's form behind a sigmoid, without steps of cross-entropy before its own.
const PAPER: [(&str, &str); 4] =
    [("surrogate", "squared-hinge"), ("margin", "0.5"), ("link", "sigmoid"), ("pretrain", "0")];

/// A whole training step: draw, forward, estimator, backward, Adam.
fn network(method: &str) -> Result<Call> {
    let (rows, cols) = (4096, 32);
    let mut random = Rng::new(1);
    let labels: Vec<u8> = (0..rows).map(|k| u8::from(k % 8 == 0)).collect();
    let x: Vec<f32> = (0..rows * cols).map(|k| (random.normal() + 0.3 * f64::from(labels[k / cols])) as f32).collect();
    let config = Config {
        method: method.into(),
        settings: if method == "soap" { PAPER.map(|(k, v)| (k.into(), v.into())).to_vec() } else { Vec::new() },
        model: ModelSpec::Mlp { hidden: vec![64, 64], tanh: false },
        length: Length::Steps(1_000_000_000),
        ..Config::default()
    };
    let mut trainer = Trainer::<f32>::new(&config, Arc::new(Dataset::dense(x, labels, cols)?), None)?;
    Ok(Box::new(move || _ = black_box(trainer.step()).expect("an ordinary step")))
}

/// An inner step of AI-SARAH: logistic regression, 4096 rows of 20 values in 1000 columns.
fn ai_sarah() -> Result<Call> {
    let (rows, cols, stored) = (4096, 1000, 20);
    let mut random = Rng::new(3);
    let labels: Vec<u8> = (0..rows).map(|_| u8::from(random.uniform() < 0.3)).collect();
    let ptr: Vec<usize> = (0..=rows).map(|row| row * stored).collect();
    // One column in each fiftieth of them, ascending.
    let place = |k: usize, u: f64| ((k % stored) * (cols / stored) + (u * (cols / stored) as f64) as usize) as u32;
    let col: Vec<u32> = (0..rows * stored).map(|k| place(k, random.uniform())).collect();
    let val = vec![(stored as f64).sqrt().recip(); rows * stored];
    // The problem is checked when it is made, which is no part of a step; what it borrows lives as long as the program.
    let data = Rows::csr(ptr.leak(), col.leak(), val.leak(), cols)?;
    let sum = Glm::<f64>::new(data, Response::Labels(labels.leak()), GlmLoss::Logistic, 1.0 / rows as f64, true)?;
    let algorithm = AiSarah::default();
    let need = FiniteSum::<f64>::need(&algorithm, &sum)?;
    let (mut real, mut counts) = (vec![0.0; need.real], vec![0; need.u32]);
    let mut run = algorithm.start(
        &sum,
        &vec![0.0; sum.dim()],
        1,
        &mut Memory { real: &mut real, u32: &mut counts, scratch: &mut [] },
    )?;
    let mut step = move || {
        let mut memory = Memory { real: &mut real, u32: &mut counts, scratch: &mut [] };
        // Full gradients are no part of a step either.
        while let Event::FullGradient { .. } = algorithm.step(&sum, &mut run, &mut memory).expect("a step") {}
        black_box(&run);
    };
    // The first steps after a full gradient draw an order and fit the step size.
    (0..100).for_each(|_| step());
    Ok(Box::new(step))
}
