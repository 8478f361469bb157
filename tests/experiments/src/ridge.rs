//! `cargo experiment ridge`: what the choice of a weight decay by cross-validation costs, and what comes of it, on drawn rows that are hard
//! in one way each, and on files.
//!
//! "Ratio" is the cost of choosing and fitting over that of the fit alone at the chosen decay, both in gradients over all rows; the same in
//! seconds beside it. AP and AUROC are of other rows of the same draw (of a file, of two fifths of its rows), beside those of `ce`.

use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use undercurve::data::{Dataset, Missing, Options, Split};
use undercurve::metric::Metrics;
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Trainer};
use undercurve_demo::error::{CliError, Result};
use undercurve_demo::input::{self, Layout};
use undercurve_demo::output;

/// Options of `experiment ridge`.
#[derive(clap::Args)]
pub struct Args {
    /// Files, FILE,LABEL each, beside the drawn rows
    #[arg(value_name = "FILE,LABEL")]
    files: Vec<String>,
    /// Only the drawn rows of these names
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// Other decays than the least: `one-se`
    #[arg(long, value_name = "RULE", default_value = "least")]
    choose: String,
}

/// Training rows and others.
type Parts = [Arc<Dataset<f32>>; 2];

/// Dense rows: `n` of `d` columns, of which each is a fifth of a common one; `signal` of a few columns, `share` positives.
fn dense(seed: u64, n: usize, d: usize, positives: usize, signal: f64) -> Result<Dataset<f32>> {
    let mut random = Rng::keyed(seed, n as u64, d as u64);
    let (mut x, mut y) = (Vec::with_capacity(n * d), Vec::with_capacity(n));
    for row in 0..n {
        let label = row * positives / n != (row + 1) * positives / n;
        let common = random.normal();
        for column in 0..d {
            let part = if column < 5 && label { signal } else { 0.0 };
            x.push((random.normal() + 0.2 * common + part) as f32);
        }
        y.push(u8::from(label));
    }
    Ok(Dataset::dense(x, y, d)?)
}

/// Sparse rows of 0 and 1: 50 of `d` columns a row, half of them more often among positives.
fn sparse(seed: u64, n: usize, d: usize) -> Result<Dataset<f32>> {
    let mut random = Rng::keyed(seed, n as u64, d as u64);
    let (mut ptr, mut col, mut y) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..n {
        let label = random.uniform() < 0.1;
        let mut columns: Vec<u32> = (0..50)
            .map(|_| {
                // Frequent columns first; positives take even ones a little more often.
                let place = (random.uniform() * random.uniform() * d as f64) as u32;
                if label && random.uniform() < 0.2 { place & !1 } else { place }
            })
            .collect();
        columns.sort_unstable();
        columns.dedup();
        col.extend(&columns);
        ptr.push(col.len());
        y.push(u8::from(label));
    }
    let val = vec![1.0; col.len()];
    Ok(Dataset::csr(ptr, col, val, y, d)?)
}

/// The drawn rows of a name, from a seed.
type Draw = fn(u64) -> Result<Dataset<f32>>;

const DRAWN: [(&str, Draw); 7] = [
    ("10,000 x 30", |seed| dense(seed, 10_000, 30, 1000, 0.3)),
    ("wide: 10,657 x 976", |seed| dense(seed, 10_657, 976, 1000, 0.5)),
    ("sparse: 100,000 x 10,000", |seed| sparse(seed, 100_000, 10_000)),
    ("20 positives of 2,000", |seed| dense(seed, 2000, 20, 20, 0.8)),
    ("half positives", |seed| dense(seed, 5000, 20, 2500, 0.3)),
    ("separable", |seed| dense(seed, 2000, 10, 400, 20.0)),
    ("random labels", |seed| dense(seed, 2000, 50, 300, 0.0)),
];

/// AP and AUROC of a run on other rows, and its seconds.
fn figures(config: &Config, [train, test]: &Parts) -> Result<(Trainer<f32>, [f64; 2], f64)> {
    let clock = Instant::now();
    let mut trainer = Trainer::new(config, Arc::clone(train), None)?;
    while trainer.step()?.is_some() {}
    let seconds = clock.elapsed().as_secs_f64();
    let mut scores = vec![0.0; test.len()];
    trainer.score(test.rows(), &mut scores)?;
    let mut metrics = Metrics::new();
    let found = [metrics.average_precision(&scores, test.labels())?, metrics.auroc(&scores, test.labels())?];
    Ok((trainer, found, seconds))
}

fn tell(name: &str, parts: &Parts, choose: &str, json: bool) -> Result<()> {
    let config = |method: &str, settings: &[(&str, &str)]| Config {
        method: method.into(),
        settings: settings.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect(),
        ..Config::default()
    };
    let (run, [ap, auroc], seconds) = figures(&config("ce-exact", &[("choose", choose)]), parts)?;
    let path = run.path().ok_or_else(|| CliError::input(format!("{name}: no two folds")))?;
    let (alone, _, alone_seconds) = figures(&config("ce-exact", &[("decay", path.decay())]), parts)?;
    let (_, [ce_ap, ce_auroc], ce_seconds) = figures(&config("ce", &[]), parts)?;
    let ratio = (path.passes + run.pass()) / alone.pass();
    let (decays, decay, passes) = (path.points.len(), path.decay(), path.passes);
    output::line(if json {
        json!({"bench": "ridge", "set": name, "rows": parts[0].len(), "cols": parts[0].cols(), "decay": decay, "decays": decays,
               "choosing": passes, "fit": alone.pass(), "ratio": ratio, "seconds": seconds, "fit_seconds": alone_seconds,
               "ap": ap, "auroc": auroc, "ce_ap": ce_ap, "ce_auroc": ce_auroc, "ce_seconds": ce_seconds})
        .to_string()
    } else {
        format!(
            "| {name} | {decay} of {decays} | {passes:.0} | {:.0} | {ratio:.1} | {seconds:.2}, {alone_seconds:.2} | {ap:.3}, {auroc:.3} | {ce_ap:.3}, {ce_auroc:.3} | {ce_seconds:.2} |",
            alone.pass()
        )
    })
}

/// Two parts of a file.
fn of_file(text: &str) -> Result<Parts> {
    let (file, label) = text.rsplit_once(',').map_or((text, None), |(file, label)| (file, Some(label)));
    let options = Options { label: label.map(Into::into), missing: Missing::Impute, ..Options::default() };
    let path = PathBuf::from(file);
    let table = input::table(&path, Layout::default(), label)?;
    let parts = undercurve::data::prepare::<f32>(&table, &options, Split::new(0.6, 1))?;
    Ok([Arc::new(parts.train), Arc::new(parts.test)])
}

/// Prints a table.
///
/// # Errors
/// Those of files and stdout.
pub fn run(args: &Args, json: bool) -> Result<()> {
    if !json {
        output::line(
            "| rows | decay, of how many | choosing, passes | fit, passes | ratio | seconds: both, fit | AP, AUROC | of ce | its seconds |",
        )?;
        output::line("|---|---|---|---|---|---|---|---|---|")?;
    }
    for (name, draw) in DRAWN {
        if args.only.is_empty() || args.only.iter().any(|only| name.contains(only.as_str())) {
            tell(name, &[Arc::new(draw(1)?), Arc::new(draw(2)?)], &args.choose, json)?;
        }
    }
    for file in &args.files {
        let name = Path::new(file).file_name().map_or(file.clone(), |name| name.to_string_lossy().into_owned());
        tell(&name, &of_file(file)?, &args.choose, json)?;
    }
    Ok(())
}
