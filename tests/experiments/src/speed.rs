//! `cargo experiment speed`: what exact sums, metrics, the ridge, a step of a network and the reading of tables take beside other
//! programs, which are asked in turns with ours over pipes, so that what else the machine does hits all.
//!
//! `tests/peers/speed.py` and `speed.mjs` (the npm package) do the same works on the same numbers, which lie in files; works of
//! libraries that are not there are left out. Each answers with the seconds of one call, and the least of all rounds counts.

use super::{pairs::example, target_features};
use anyhow::Context as _;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Instant;
use undercurve::Scratch;
use undercurve::data::{Dataset, Format, RawTable};
use undercurve::metric::{FprRange, Metrics};
use undercurve::pairs::{self, Grade, Plan};
use undercurve::rng::Rng;
use undercurve::surrogate::AnySurrogate;
use undercurve::trainer::{Config, Init, Length, ModelSpec, Trainer};
use undercurve_demo::error::{CliError, Result};
use undercurve_demo::{output, threads};

/// Options of `experiment speed`.
#[derive(clap::Args)]
pub struct Args {
    /// Numbers of rows, with commas between them
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [1_000, 10_000, 100_000, 1_000_000])]
    rows: Vec<usize>,
    /// A Python with other libraries: of numpy, scikit-learn, numba, polars, pandas, pyarrow, duckdb and torch what is there
    #[arg(long, value_name = "PYTHON")]
    python: Option<PathBuf>,
    /// A Node, for the npm package that `cargo demo --build-only` built
    #[arg(long, value_name = "NODE")]
    node: Option<PathBuf>,
    /// Rounds, of which the least time counts
    #[arg(long, value_name = "N", default_value_t = 7)]
    rounds: usize,
    /// Threads of ours in the sums, beside those on one
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = threads::parse)]
    threads: usize,
}

/// At least so long a call is repeated.
const LEAST_SECONDS: f64 = 2e-3;
const SUMS: &str = "sums";
const RIDGE: &str = "ridge, 45,850 x 22";
const STEP: &str = "step, 32-64-64-1";
const READING: &str = "reading, 143,024 x 11";
const DECAY: f64 = 1e-5;

/// Seconds of a call.
type Work<'a> = (String, Box<dyn FnMut() -> Result<f64> + 'a>);

/// A program that does works on request: a line in, a line out.
struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    works: BTreeMap<String, Vec<String>>,
}

impl Peer {
    fn start(program: &Path, script: &str) -> Result<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../peers").join(script);
        let mut command = Command::new(program);
        let mut child = command
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| program.display().to_string())?;
        let (Some(input), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(CliError::input(format!("{}: no pipes", program.display())));
        };
        let mut peer = Self { child, input, output: BufReader::new(stdout), works: BTreeMap::new() };
        peer.works = serde_json::from_value(peer.answer()?).context("the works of a peer")?;
        Ok(peer)
    }

    fn answer(&mut self) -> Result<Value> {
        let mut line = String::new();
        self.output.read_line(&mut line).context("a peer")?;
        Ok(serde_json::from_str(&line).context("a peer")?)
    }

    fn ask(&mut self, work: &str, rows: usize, folder: &Path) -> Result<f64> {
        writeln!(self.input, "{}", json!({"work": work, "rows": rows, "folder": folder})).context("a peer")?;
        let answer = self.answer()?;
        Ok(answer.as_f64().unwrap_or(f64::INFINITY))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Seconds of one call, of enough calls.
fn timed(mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut calls = 1u32;
    loop {
        let start = Instant::now();
        for _ in 0..calls {
            call()?;
        }
        let seconds = start.elapsed().as_secs_f64();
        if seconds >= LEAST_SECONDS {
            return Ok(seconds / f64::from(calls));
        }
        calls *= 4;
    }
}

/// The least seconds of each of our works and of the peers', in turns.
fn rounds(
    group: &str,
    ours: &mut [Work<'_>],
    peers: &mut [Peer],
    (rows, folder): (usize, &Path),
    rounds: usize,
) -> Result<Vec<(String, f64)>> {
    let mut least: Vec<(String, f64)> = ours.iter().map(|(name, _)| (name.clone(), f64::INFINITY)).collect();
    let asked: Vec<(usize, String)> = (0..)
        .zip(&*peers)
        .flat_map(|(at, peer)| peer.works.get(group).into_iter().flatten().map(move |work| (at, work.clone())))
        .collect();
    least.extend(asked.iter().map(|(_, work)| (work.clone(), f64::INFINITY)));
    for _ in 0..rounds {
        let mut places = least.iter_mut();
        for ((_, work), (_, least)) in ours.iter_mut().zip(&mut places) {
            *least = least.min(work()?);
        }
        for ((at, work), (_, least)) in asked.iter().zip(places) {
            *least = least.min(peers[*at].ask(work, rows, folder)?);
        }
    }
    // (What would take too long answers with none.)
    least.retain(|(_, seconds)| seconds.is_finite());
    Ok(least)
}

/// Numbers as they lie in memory.
fn write<const N: usize, T: Copy>(path: &Path, numbers: &[T], bytes: impl Fn(T) -> [u8; N]) -> Result<()> {
    let all: Vec<u8> = numbers.iter().flat_map(|&number| bytes(number)).collect();
    std::fs::write(path, all).map_err(|error| CliError::file(path, &error))
}

/// The sums and metrics of so many rows.
fn sums(args: &Args, rows: usize, folder: &Path, peers: &mut [Peer]) -> Result<Vec<(String, f64)>> {
    let (scores, labels) = example("normal", rows);
    write(&folder.join(format!("{rows}.f32")), &scores, f32::to_le_bytes)?;
    write(&folder.join(format!("{rows}.u8")), &labels, |label: u8| [label])?;
    let need = pairs::need(rows, labels.iter().filter(|&&y| y == 1).count());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build().context("threads")?;
    let mut ours: Vec<Work<'_>> = Vec::new();
    for (name, loss, ap, planned, many) in [
        ("exact AP, sigmoid, with a plan", "sigmoid", true, true, false),
        ("exact AP, sigmoid", "sigmoid", true, false, false),
        ("exact AUC, squared hinge", "squared-hinge", false, false, false),
        ("exact AP, squared hinge", "squared-hinge", true, false, false),
        ("exact AP, sigmoid, threads", "sigmoid", true, false, true),
        ("exact AUC, squared hinge, threads", "squared-hinge", false, false, true),
    ] {
        let loss = AnySurrogate::by_name(loss, 1.0)?;
        let (scores, labels, pool) = (&scores, &labels, &pool);
        let (mut f, mut i, mut k) = (vec![1.0; need.f64], vec![1; need.u32], vec![1; need.u64]);
        let (mut grad, mut tables) = (vec![1.0f32; rows], vec![0.0; Plan::need(Grade::Full)]);
        if planned {
            Plan::new(loss, Grade::Full, &mut tables)?;
        }
        let name = if many { format!("{name}: {}", args.threads) } else { name.to_owned() };
        ours.push((
            name,
            Box::new(move || {
                timed(|| {
                    let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
                    let (scores, grad) = (black_box(scores), &mut grad);
                    let sum = if ap { pairs::ap } else { pairs::auc };
                    let value = if planned {
                        Plan::again(loss, Grade::Full, &tables)?.ap(scores, labels, scratch, grad)
                    } else if many {
                        pool.install(|| sum(scores, labels, loss, Grade::Full, scratch, grad))
                    } else {
                        sum(scores, labels, loss, Grade::Full, scratch, grad)
                    };
                    black_box(value?);
                    Ok(())
                })
            }),
        ));
    }
    let mut metrics = Metrics::new();
    let (scores, labels) = (&scores, &labels);
    ours.push((
        "AUROC, AP, partial AUC".to_owned(),
        Box::new(move || {
            timed(|| {
                let scores = black_box(scores);
                black_box(metrics.summary(scores, labels, FprRange::new(0.0, 0.3)?)?);
                Ok(())
            })
        }),
    ));
    rounds(SUMS, &mut ours, peers, (rows, folder), args.rounds)
}

/// A ridge with a penalty that is given, on columns that go together.
fn ridge(args: &Args, folder: &Path, peers: &mut [Peer]) -> Result<Vec<(String, f64)>> {
    let (rows, cols) = (45_850, 22);
    let mut random = Rng::new(1);
    let mix: Vec<f64> = (0..cols * cols).map(|_| random.normal() / (cols as f64).sqrt()).collect();
    let slope: Vec<f64> = (0..cols).map(|_| 2.0 * random.normal() / (cols as f64).sqrt()).collect();
    let (mut x, mut y) = (Vec::with_capacity(rows * cols), Vec::with_capacity(rows));
    for _ in 0..rows {
        let own: Vec<f64> = (0..cols).map(|_| random.normal()).collect();
        let row: Vec<f64> = (0..cols)
            .map(|c| 0.3 * own[c] + own.iter().zip(mix[c..].iter().step_by(cols)).map(|(a, b)| a * b).sum::<f64>())
            .collect();
        let score = row.iter().zip(&slope).map(|(a, b)| a * b).sum::<f64>() - 4.0;
        y.push(u8::from(random.uniform() < 1.0 / (1.0 + (-score).exp())));
        x.extend(row.iter().map(|&value| value as f32));
    }
    write(&folder.join("ridge.f32"), &x, f32::to_le_bytes)?;
    write(&folder.join("ridge.u8"), &y, |label: u8| [label])?;
    let data = Arc::new(Dataset::dense(x, y, cols)?);
    let config =
        Config { method: "ce-exact".into(), settings: vec![("decay".into(), DECAY.to_string())], ..Config::default() };
    let fit = move || {
        timed(|| {
            let mut trainer = Trainer::<f32>::new(&config, Arc::clone(&data), None)?;
            while trainer.step()?.is_some() {}
            black_box(trainer.params());
            Ok(())
        })
    };
    rounds(RIDGE, &mut [("ce-exact".to_owned(), Box::new(fit))], peers, (rows, folder), args.rounds)
}

/// A training step of 64 rows: draw, forward, loss, backward, Adam.
fn step(args: &Args, folder: &Path, peers: &mut [Peer]) -> Result<Vec<(String, f64)>> {
    let (rows, cols) = (4096, 32);
    let mut random = Rng::new(1);
    let labels: Vec<u8> = (0..rows).map(|k| u8::from(k % 8 == 0)).collect();
    let x = (0..rows * cols).map(|k| (random.normal() + 0.3 * f64::from(labels[k / cols])) as f32).collect();
    let data = Arc::new(Dataset::dense(x, labels, cols)?);
    let mut ours: Vec<Work<'_>> = Vec::new();
    for method in ["soap", "ce"] {
        let config = Config {
            method: method.into(),
            settings: if method == "soap" { vec![("pretrain".into(), "0".into())] } else { Vec::new() },
            model: ModelSpec::Mlp { hidden: vec![64, 64], tanh: false },
            length: Length::Steps(1_000_000_000),
            init: Init::Random,
            ..Config::default()
        };
        let mut trainer = Trainer::<f32>::new(&config, Arc::clone(&data), None)?;
        ours.push((
            method.to_owned(),
            Box::new(move || {
                timed(|| {
                    black_box(trainer.step()?);
                    Ok(())
                })
            }),
        ));
    }
    rounds(STEP, &mut ours, peers, (rows, folder), args.rounds)
}

/// A table of short decimals.
fn reading(args: &Args, folder: &Path, peers: &mut [Peer]) -> Result<Vec<(String, f64)>> {
    let (rows, cols) = (143_024, 10);
    let mut random = Rng::new(1);
    let mut text = (0..cols).map(|c| format!("x{c},")).collect::<String>() + "label\n";
    for _ in 0..rows {
        for _ in 0..cols {
            text += &format!("{:.1},", 10.0 * random.normal());
        }
        text += if random.uniform() < 0.1 { "1\n" } else { "0\n" };
    }
    let path = folder.join("reading.csv");
    std::fs::write(&path, &text).map_err(|error| CliError::file(&path, &error))?;
    let read = move || {
        timed(|| {
            black_box(RawTable::parse(text.as_bytes(), Format::Csv, "reading")?);
            Ok(())
        })
    };
    rounds(READING, &mut [("undercurve".to_owned(), Box::new(read))], peers, (rows, folder), args.rounds)
}

/// Microseconds or milliseconds.
fn shown(seconds: f64) -> String {
    if seconds < 1e-3 { format!("{:.1} µs", 1e6 * seconds) } else { format!("{:.2} ms", 1e3 * seconds) }
}

/// Prints the tables.
///
/// # Errors
/// Those of the peers, of files and of stdout.
pub fn run(args: &Args, as_json: bool) -> Result<()> {
    let folder = std::env::temp_dir().join(format!("undercurve-speed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| CliError::file(&folder, &error))?;
    let outcome = tables(args, &folder, as_json);
    drop(std::fs::remove_dir_all(&folder));
    outcome
}

fn tables(args: &Args, folder: &Path, as_json: bool) -> Result<()> {
    let mut peers = Vec::new();
    for (program, script) in [(&args.python, "speed.py"), (&args.node, "speed.mjs")] {
        if let Some(program) = program {
            peers.push(Peer::start(program, script)?);
        }
    }
    let mut by_rows = Vec::new();
    for &rows in &args.rows {
        by_rows.push((rows, sums(args, rows.max(3), folder, &mut peers)?));
    }
    let others = [
        (RIDGE, ridge(args, folder, &mut peers)?),
        (STEP, step(args, folder, &mut peers)?),
        (READING, reading(args, folder, &mut peers)?),
    ];
    if as_json {
        for (rows, found) in &by_rows {
            for (work, seconds) in found {
                output::line(json!({"bench": "speed", "group": SUMS, "rows": rows, "work": work, "seconds": seconds}))?;
            }
        }
        for (group, found) in &others {
            for (work, seconds) in found {
                output::line(json!({"bench": "speed", "group": group, "work": work, "seconds": seconds}))?;
            }
        }
        return Ok(());
    }
    output::line(format!("least of {} rounds, one thread but where it says so, {}\n", args.rounds, target_features()))?;
    let heads: Vec<String> = args.rows.iter().map(ToString::to_string).collect();
    output::line(format!("| rows | {} | exponent |\n|---{}|", heads.join(" | "), "|---".repeat(heads.len() + 1)))?;
    let Some((_, works)) = by_rows.first() else { return Ok(()) };
    for (work, _) in works {
        let cells: Vec<(usize, Option<f64>)> = by_rows
            .iter()
            .map(|(rows, found)| (*rows, found.iter().find(|(name, _)| name == work).map(|(_, seconds)| *seconds)))
            .collect();
        let there: Vec<(f64, f64)> = cells.iter().filter_map(|&(rows, cell)| Some((rows as f64, cell?))).collect();
        let exponent = match (there.first(), there.last()) {
            (Some(a), Some(b)) if b.0 > a.0 => format!("{:.2}", (b.1 / a.1).ln() / (b.0 / a.0).ln()),
            _ => String::new(),
        };
        let cells: Vec<String> = cells.iter().map(|(_, cell)| cell.map_or("-".into(), shown)).collect();
        output::line(format!("| {work} | {} | {exponent} |", cells.join(" | ")))?;
    }
    for (group, found) in &others {
        output::line(format!("\n| {group} | |\n|---|---|"))?;
        for (work, seconds) in found {
            output::line(format!("| {work} | {} |", shown(*seconds)))?;
        }
    }
    Ok(())
}
