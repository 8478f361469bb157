//! Seconds: of a sparse step beside steps that write whole vectors, and to a small gradient beside other solvers.

use super::{glm, load};
use anyhow::Context as _;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use undercurve::data::{Dataset, Rows};
use undercurve::finite_sum::{AiSarah, Event, FiniteSum, Glm, GlmLoss, Gradients, Memory, Response, Updates};
use undercurve::rng::Rng;
use undercurve_demo::error::{CliError, Result};

/// Seconds for one effective pass of AI-SARAH (a full gradient, then minibatches for one pass), and for one inner step.
fn pass(sum: &Glm<'_, f64>, batch: usize, updates: Updates, most: usize) -> Result<(f64, f64)> {
    let algorithm = AiSarah::new(batch, 1.0 / 32.0, 0.999)?.with_updates(updates);
    let need = FiniteSum::<f64>::need(&algorithm, sum)?;
    let (mut real, mut counts) = (vec![0.0; need.real], vec![0; need.u32]);
    let mut memory = Memory { real: &mut real, u32: &mut counts, scratch: &mut [] };
    let mut run = algorithm.start(sum, &vec![0.0; sum.dim()], 1, &mut memory)?;
    let clock = Instant::now();
    while algorithm.step(sum, &mut run, &mut memory)? == Event::Part {}
    let opening = clock.elapsed().as_secs_f64();
    let whole = sum.len() / batch;
    let steps = whole.min(most) as u64;
    let mut seconds = 0.0;
    while run.steps < steps {
        let clock = Instant::now();
        // Later full gradients are no part of a step.
        if !matches!(algorithm.step(sum, &mut run, &mut memory)?, Event::FullGradient { .. } | Event::Part) {
            seconds += clock.elapsed().as_secs_f64();
        }
    }
    let each = seconds / steps as f64;
    Ok((each, opening + each * whole as f64))
}

/// Rounds of which the fastest counts, of the lazy and of the whole steps in turn; one is quick.
const ROUNDS: usize = 3;

/// A row of the table: lazy steps on one sum beside whole ones on another, which holds the same rows.
fn row(name: &str, [lazy, whole]: [&Glm<'_, f64>; 2], batch: usize, most: usize, rounds: usize) -> Result<String> {
    let mut best = [(f64::INFINITY, f64::INFINITY); 2];
    for _ in 0..rounds {
        for (best, (sum, updates)) in best.iter_mut().zip([(lazy, Updates::Auto), (whole, Updates::Eager)]) {
            let (step, pass) = pass(sum, batch, updates, most)?;
            *best = (best.0.min(step), best.1.min(pass));
        }
    }
    let [lazy, whole] = best;
    Ok(format!(
        "| {name} | {batch} | {:.2} | {:.2} | {:.1} | {:.2} | {:.2} | {:.1} |\n",
        1e6 * lazy.0,
        1e6 * whole.0,
        whole.0 / lazy.0,
        1e3 * lazy.1,
        1e3 * whole.1,
        whole.1 / lazy.1
    ))
}

/// Lazy steps beside steps that write whole vectors in one fused loop: on the same sparse rows, and on dense rows where
/// these fit into memory.
pub fn steps(folder: &Path, quick: bool) -> Result<String> {
    let most = |steps: usize| if quick { steps / 10 } else { steps };
    let rounds = if quick { 1 } else { ROUNDS };
    let mut text = format!(
        "\n## Lazy sparse steps against fused whole-vector steps\n\nLazy and whole steps in turn, {rounds}×; the least counts.\n\n| data | batch | lazy step, µs | whole step, µs | ratio | lazy pass, ms | whole pass, ms | ratio |\n|---|---|---|---|---|---|---|---|\n",
    );
    let (hiv, _) = load(folder, "hiv.train", None)?;
    let sum = glm(&hiv, 1.0 / hiv.len() as f64)?;
    for batch in [1, 64] {
        text.push_str(&row("hiv.train, 2048 columns, whole vectors", [&sum, &sum], batch, most(4000), rounds)?);
    }
    let rows: usize = if quick { 1500 } else { 15_000 };
    let cols = 1_355_191u32;
    // 0.03 % of the columns: the sparsity that the paper's table 1 gives for news20; columns drawn uniformly.
    let per_row = 407;
    let mut rng = Rng::new(3);
    let (mut ptr, mut col, mut labels) = (vec![0usize], Vec::new(), Vec::new());
    for _ in 0..rows {
        let mut row: Vec<u32> = (0..per_row).map(|_| rng.below(cols)).collect();
        row.sort_unstable();
        row.dedup();
        col.extend(row);
        ptr.push(col.len());
        labels.push(rng.below(2) as u8);
    }
    let val = vec![1.0 / f64::from(per_row).sqrt(); col.len()];
    let made = Rows::csr(&ptr, &col, &val, cols as usize)?;
    let sum = Glm::new(made, Response::Labels(&labels), GlmLoss::Logistic, 1.0 / rows as f64, true)?;
    for batch in [1, 64] {
        text.push_str(&row(&format!("synthetic {rows} × 1,355,191"), [&sum, &sum], batch, most(150), rounds)?);
    }
    // And hiv with dense rows.
    let mut dense = vec![0.0; hiv.len() * hiv.cols()];
    if let Rows::Csr { ptr, col, val, cols, .. } = hiv.rows() {
        for i in 0..hiv.len() {
            for at in ptr[i]..ptr[i + 1] {
                dense[i * cols + col[at] as usize] = val[at];
            }
        }
    }
    let rows = Rows::dense(&dense, hiv.cols())?;
    let full = Glm::new(rows, Response::Labels(hiv.labels()), GlmLoss::Logistic, 1.0 / hiv.len() as f64, true)?;
    let sparse = glm(&hiv, 1.0 / hiv.len() as f64)?;
    for batch in [1, 64] {
        text.push_str(&row("hiv.train, 2048 columns, dense rows", [&sparse, &full], batch, most(4000), rounds)?);
    }
    Ok(text)
}

/// Runs of which the median is reported.
const RUNS: usize = 5;
const GOAL: f64 = 1e-10;
const NAMES: [&str; 2] = ["w8a", "ijcnn1"];

/// Seconds to ‖∇P‖² ≤ 1e-10 with λ = 1/n from w₀ = 0, reading left out; beside them those of other solvers, timed by a
/// command in the same run.
pub fn seconds(folder: &Path, peers: Option<&str>) -> Result<String> {
    let mut text = format!(
        "\n## Seconds to ‖∇P‖² ≤ 1e-10, λ = 1/n, w₀ = 0 (median of {RUNS})\n\n| data | solver | seconds | passes |\n|---|---|---|---|\n"
    );
    for name in NAMES {
        let data = load(folder, name, None)?.0;
        let mut runs = (0..RUNS).map(|_| seconds_to(&data, GOAL)).collect::<Result<Vec<_>>>()?;
        runs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (seconds, passes) = runs[RUNS / 2];
        writeln!(text, "| {name} | AI-SARAH | {seconds:.4} | {passes:.1} |")?;
    }
    let mut words = peers.unwrap_or_default().split_whitespace();
    let Some(program) = words.next() else { return Ok(text) };
    let output = Command::new(program).args(words).arg(folder).args(NAMES).output().context(program.to_owned())?;
    if !output.status.success() {
        return Err(CliError::input(format!("{program}: {}", String::from_utf8_lossy(&output.stderr))));
    }
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let peer: Value = serde_json::from_str(line).context("a line of the peers' command")?;
        let word = |key: &str| peer[key].as_str().unwrap_or("?").to_owned();
        let seconds = match (peer["seconds"].as_f64(), peer["reached"].as_bool()) {
            (Some(seconds), Some(true)) => format!("{seconds:.4}"),
            _ => "not reached".to_owned(),
        };
        writeln!(text, "| {} | {} {} | {seconds} | |", word("data"), word("solver"), word("version"))?;
    }
    Ok(text)
}

/// Checked at every full gradient of the algorithm; and the passes it took.
fn seconds_to(data: &Dataset<f64>, goal: f64) -> Result<(f64, f64)> {
    let clock = Instant::now();
    let sum = glm(data, 1.0 / data.len() as f64)?;
    let algorithm = AiSarah::default();
    let need = FiniteSum::<f64>::need(&algorithm, &sum)?;
    let (mut real, mut counts) = (vec![0.0; need.real], vec![0; need.u32]);
    let mut memory = Memory { real: &mut real, u32: &mut counts, scratch: &mut [] };
    let mut run = algorithm.start(&sum, &vec![0.0; sum.dim()], 1, &mut memory)?;
    loop {
        if let Event::FullGradient { norm_sq } = algorithm.step(&sum, &mut run, &mut memory)?
            && norm_sq <= goal
        {
            return Ok((clock.elapsed().as_secs_f64(), run.samples as f64 / sum.len() as f64));
        }
    }
}
