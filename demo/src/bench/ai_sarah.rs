//! `undercurve bench ai-sarah`: the logistic-regression experiment of Shi et al. 2021, "AI-SARAH", and the speed of its
//! sparse steps.
//!
//! The baselines are tuned over the grids of the paper's table 3 with one seed: of the settings whose P never rises above
//! its start, the one with the smallest P at the end of the budget. AI-SARAH is not tuned. Then every method runs with
//! ten other seeds. Each finished run is one line of `runs.jsonl`; a bench that is started again continues there.

use anyhow::{Context, Result};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use undercurve::data::{Dataset, Format, Options, Preparation, RawTable, Rows, Scale};
use undercurve::finite_sum::{
    AdamSum, AiSarah, Event, FiniteSum, Glm, GlmLoss, Memory, MomentumSum, Sarah, Svrg, Targets, Updates,
    largest_eigenvalue, largest_eigenvalue_need,
};
use undercurve::rng::Rng;

const BATCH: usize = 64;
const METHODS: [&str; 6] = ["ai-sarah", "sarah", "sarah+", "svrg", "adam", "momentum"];
/// Training file, test file, budget with λ = 1/n, budget with λ = 0 (table 4; a9a, not in the paper, as a1a's 20).
const SETS: [(&str, &str, f64, f64); 4] =
    [("a1a", "a1a.t", 30.0, 40.0), ("w8a", "", 30.0, 40.0), ("ijcnn1", "", 20.0, 20.0), ("a9a", "a9a.t", 20.0, 20.0)];
const TUNING_SEED: u64 = 1000;

/// What to run and where.
#[derive(clap::Args)]
pub struct Args {
    /// Folder with a1a.svm.gz, w8a.svm.gz, ijcnn1.svm.gz, a9a.svm.gz, hiv.train.svm.gz and the test files
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Folder of the results; a run that is started again continues there
    #[arg(long, value_name = "DIR", default_value = "ai-sarah")]
    out: PathBuf,
    /// a1a only, with every twelfth setting and three seeds
    #[arg(long)]
    quick: bool,
    /// Data sets to run
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "a1a,w8a,ijcnn1,a9a")]
    sets: Vec<String>,
    /// Try every K-th setting of each grid only
    #[arg(long, value_name = "K", default_value_t = 1)]
    thin: usize,
    /// Seeds of the reported runs
    #[arg(long, value_name = "N", default_value_t = 10)]
    seeds: u64,
}

/// One setting of one method.
#[derive(Clone, Copy)]
struct Setting {
    method: &'static str,
    alpha: f64,
    /// Inner steps, stop γ, or decay per pass.
    other: f64,
}

/// What a run measured at one point: passes as the paper counts them, passes by gradient evaluations, seconds, P,
/// ‖∇P‖², test accuracy, α, α_max.
type Point = [f64; 8];

struct Problem {
    name: &'static str,
    train: Dataset<f64>,
    test: Option<Dataset<f64>>,
    /// λ_max(XᵀX/n)/4.
    smooth: f64,
}

fn load(folder: &Path, name: &str, like: Option<&Preparation>) -> Result<(Dataset<f64>, Preparation)> {
    let file = folder.join(format!("{name}.svm.gz"));
    let bytes = std::fs::read(&file).with_context(|| file.display().to_string())?;
    let table = RawTable::parse(&bytes, Format::Libsvm, name)?;
    let preparation = match like {
        Some(preparation) => preparation.clone(),
        None => Preparation::fit(&table, &Options { scale: Some(Scale::Unit), ..Options::default() })?,
    };
    Ok((preparation.apply(&table)?, preparation))
}

fn glm(data: &Dataset<f64>, lambda: f64) -> Result<Glm<'_, f64>> {
    Ok(Glm::new(data.rows(), Targets::Labels(data.labels()), GlmLoss::Logistic, lambda, true)?)
}

impl Problem {
    fn load(folder: &Path, name: &'static str, test: &str) -> Result<Self> {
        let (train, preparation) = load(folder, name, None)?;
        let test = if test.is_empty() { None } else { Some(load(folder, test, Some(&preparation))?.0) };
        let sum = glm(&train, 0.0)?;
        let need = largest_eigenvalue_need(sum.dim(), 80);
        let (mut real, mut wide) = (vec![0.0; need.real], vec![0.0; need.f64]);
        let scratch = undercurve::Scratch { real: &mut real, f64: &mut wide, ..Default::default() };
        let smooth = largest_eigenvalue(&sum, None, 80, 1e-10, 1, scratch)?.value;
        Ok(Self { name, train, test, smooth })
    }

    fn lambda(&self, regularised: bool) -> f64 {
        if regularised { 1.0 / self.train.len() as f64 } else { 0.0 }
    }
}

/// The settings of table 3, or every `thin`-th of them and the last.
fn grid(method: &'static str, smooth: f64, n: usize, thin: usize) -> Vec<Setting> {
    let tenths: Vec<f64> = (1..=10).map(|k| f64::from(k) / 10.0 / smooth).collect();
    // 60 step sizes in [10⁻³, 10]; the paper does not give their spacing, geometric is assumed.
    let decades: Vec<f64> = (0..60).map(|k| 1e-3 * 1e4f64.powf(f64::from(k) / 59.0)).collect();
    let cross = |alphas: &[f64], others: &[f64]| -> Vec<Setting> {
        others.iter().flat_map(|&other| alphas.iter().map(move |&alpha| Setting { method, alpha, other })).collect()
    };
    let all = match method {
        "ai-sarah" => vec![Setting { method, alpha: 0.0, other: 0.0 }],
        "sarah" | "svrg" => {
            let inner = (5..=20).map(|k| (f64::from(k) / 10.0 * n as f64 / BATCH as f64).round());
            cross(&tenths, &inner.collect::<Vec<_>>())
        }
        "sarah+" => cross(&tenths, &[0.5, 0.25, 0.125, 0.0625, 0.03125]),
        _ => cross(&decades, &[0.0, 0.01, 0.05, 0.1, 0.15]),
    };
    let last = all.len() - 1;
    all.into_iter()
        .enumerate()
        .filter(|(k, _)| k % thin == thin - 1 || *k == last)
        .map(|(_, setting)| setting)
        .collect()
}

fn build(setting: Setting) -> Result<Box<dyn FiniteSum<f64>>> {
    let Setting { method, alpha, other } = setting;
    Ok(match method {
        "sarah" => Box::new(Sarah::new(BATCH, alpha, other as u64)?),
        "sarah+" => Box::new(Sarah::plus(BATCH, alpha, other)?),
        "svrg" => Box::new(Svrg::new(BATCH, alpha, other as u64)?),
        "adam" => Box::new(AdamSum::new(BATCH, alpha, other)?),
        "momentum" => Box::new(MomentumSum::new(BATCH, alpha, 0.9, other)?),
        _ => Box::new(AiSarah::default()),
    })
}

/// One run from w₀ uniform in ±1/√d. Looks at the iterate whenever either count of passes goes over a whole number; that
/// work is not in the seconds. A run that overflows ends there.
fn measure(
    problem: &Problem,
    lambda: f64,
    setting: Setting,
    seed: u64,
    budget: f64,
    every: bool,
) -> Result<Vec<Point>> {
    let sum = glm(&problem.train, lambda)?;
    let test = problem.test.as_ref().map(|test| glm(test, 0.0)).transpose()?;
    let algorithm = build(setting)?;
    let (n, dim) = (sum.len() as f64, sum.dim());
    let mut rng = Rng::keyed(seed, 1, 0);
    let reach = 1.0 / (dim as f64).sqrt();
    let w0: Vec<f64> = (0..dim).map(|_| reach * (2.0 * rng.uniform() - 1.0)).collect();
    let need = algorithm.need(&sum)?;
    let (mut real, mut counts) = (vec![0.0; need.real], vec![0; need.u32]);
    let mut memory = Memory { real: &mut real, u32: &mut counts };
    let mut run = algorithm.start(&sum, &w0, seed, &mut memory)?;
    let (mut w, mut gradient) = (w0, vec![0.0; dim]);
    let mut points = Vec::new();
    let mut seconds = 0.0;
    let (mut passes, mut evaluations) = (0, 0);
    loop {
        algorithm.params(&sum, &run, memory.view(), &mut w)?;
        let accuracy = test.as_ref().map_or(Ok(f64::NAN), |test| test.accuracy(&w))?;
        let (Ok(norm), Ok(value)) = (sum.gradient(&w, &mut gradient), sum.objective(&w)) else { break };
        points.push([
            run.samples as f64 / n,
            run.gradients as f64 / n,
            seconds,
            value,
            norm,
            accuracy,
            run.alpha,
            run.alpha_max,
        ]);
        if run.samples as f64 >= budget * n {
            break;
        }
        let clock = Instant::now();
        let mut failed = false;
        while run.samples / n as u64 == passes && (!every || run.gradients / n as u64 == evaluations) {
            if algorithm.step(&sum, &mut run, &mut memory).is_err() {
                failed = true;
                break;
            }
        }
        seconds += clock.elapsed().as_secs_f64();
        passes = run.samples / n as u64;
        evaluations = run.gradients / n as u64;
        if failed {
            break;
        }
    }
    Ok(points)
}

struct Job<'a> {
    problem: &'a Problem,
    regularised: bool,
    setting: Setting,
    seed: u64,
    budget: f64,
}

impl Job<'_> {
    fn key(&self) -> String {
        let Setting { method, alpha, other } = self.setting;
        format!("{} {} {method} {alpha:.9e} {other:.9e} {}", self.problem.name, self.regularised, self.seed)
    }
}

/// Finished runs: key → points, in memory and as lines `key<TAB>numbers` in JSON strings on disk.
struct Store {
    done: Mutex<(HashMap<String, Vec<Point>>, std::fs::File)>,
}

impl Store {
    fn open(file: &Path) -> Result<Self> {
        let mut done = HashMap::new();
        if let Ok(text) = std::fs::read_to_string(file) {
            for line in text.lines() {
                // A line cut off by an interruption is run again.
                if let Some((key, points)) = parse(line) {
                    done.insert(key, points);
                }
            }
        }
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file)?;
        writeln!(file)?;
        Ok(Self { done: Mutex::new((done, file)) })
    }

    fn get(&self, key: &str) -> Option<Vec<Point>> {
        self.done.lock().ok()?.0.get(key).cloned()
    }

    fn put(&self, key: String, points: Vec<Point>) -> Result<()> {
        let mut line = format!("{{\"run\":\"{key}\",\"points\":[");
        for (k, point) in points.iter().enumerate() {
            let numbers: Vec<String> =
                point.iter().map(|x| if x.is_finite() { format!("{x:e}") } else { "null".into() }).collect();
            write!(line, "{}[{}]", if k > 0 { "," } else { "" }, numbers.join(","))?;
        }
        line.push_str("]}\n");
        let mut done = self.done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        done.1.write_all(line.as_bytes())?;
        done.0.insert(key, points);
        Ok(())
    }
}

fn parse(line: &str) -> Option<(String, Vec<Point>)> {
    let rest = line.strip_prefix("{\"run\":\"")?;
    let (key, rest) = rest.split_once('"')?;
    let body = rest.strip_prefix(",\"points\":[")?.strip_suffix("]}")?;
    let mut points = Vec::new();
    for part in body.split("],") {
        let mut point = [f64::NAN; 8];
        let part = part.trim_matches(['[', ']']);
        if part.is_empty() {
            continue;
        }
        for (slot, text) in point.iter_mut().zip(part.split(',')) {
            *slot = if text == "null" { f64::NAN } else { text.parse().ok()? };
        }
        points.push(point);
    }
    Some((key.to_owned(), points))
}

/// Runs what is not in the store yet, on every core, with a line of progress and an estimate.
fn work(jobs: &[Job<'_>], store: &Store, every: bool) -> Result<()> {
    let open: Vec<&Job<'_>> = jobs.iter().filter(|job| store.get(&job.key()).is_none()).collect();
    let next = AtomicUsize::new(0);
    let begun = Instant::now();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    loop {
                        let k = next.fetch_add(1, Ordering::Relaxed);
                        let Some(job) = open.get(k) else { return Ok(()) };
                        let lambda = job.problem.lambda(job.regularised);
                        let points = measure(job.problem, lambda, job.setting, job.seed, job.budget, every)?;
                        store.put(job.key(), points)?;
                        if k % 25 == 24 || k + 1 == open.len() {
                            let left = begun.elapsed().as_secs_f64() * (open.len() - k - 1) as f64 / (k + 1) as f64;
                            eprint!("\r{} of {} runs, about {left:.0} s left   ", k + 1, open.len());
                        }
                    }
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|_| anyhow::bail!("a worker failed")))
    })?;
    if !open.is_empty() {
        eprintln!();
    }
    Ok(())
}

/// The smallest ‖∇P‖² up to a number of passes, by column 0 (the paper's count) or 1 (gradient evaluations).
fn least(points: &[Point], column: usize, passes: f64) -> f64 {
    // One minibatch may reach over the whole number.
    points.iter().filter(|p| p[column] <= passes + 0.05).map(|p| p[4]).fold(f64::INFINITY, f64::min)
}

fn mean_log(values: &[f64]) -> f64 {
    (values.iter().map(|x| x.max(1e-300).ln()).sum::<f64>() / values.len() as f64).exp()
}

/// Runs the experiment and writes `runs.jsonl` and `tables.md`.
pub fn run(settings: &Args) -> Result<()> {
    let thin = if settings.quick { 12 } else { settings.thin.max(1) };
    std::fs::create_dir_all(&settings.out)?;
    let store = Store::open(&settings.out.join("runs.jsonl"))?;
    let mut text = String::from("# AI-SARAH against tuned baselines\n");
    if thin > 1 {
        writeln!(text, "\nOne in {thin} settings of each grid was tried.")?;
    }
    let seeds: Vec<u64> = (1..=if settings.quick { 3 } else { settings.seeds.max(1) }).collect();
    let mut score = [0usize; 4];
    let wanted = |name: &str| if settings.quick { name == "a1a" } else { settings.sets.iter().any(|set| set == name) };
    for &(name, test, with, without) in SETS.iter().filter(|set| wanted(set.0)) {
        let problem = Problem::load(&settings.data, name, test)?;
        for (regularised, budget) in [(true, with), (false, without)] {
            let lambda = problem.lambda(regularised);
            let smooth = problem.smooth + lambda;
            eprintln!("{name}, lambda {lambda:e}, L {smooth:.6}");
            let job = |setting, seed| Job { problem: &problem, regularised, setting, seed, budget };
            let candidates: Vec<Vec<Setting>> =
                METHODS.iter().map(|method| grid(method, smooth, problem.train.len(), thin)).collect();
            let tuning: Vec<Job<'_>> =
                candidates.iter().skip(1).flatten().map(|&setting| job(setting, TUNING_SEED)).collect();
            work(&tuning, &store, false)?;
            let chosen: Vec<Setting> = candidates
                .iter()
                .map(|candidates| {
                    let end = |setting: &Setting| {
                        let points = store.get(&job(*setting, TUNING_SEED).key()).unwrap_or_default();
                        let start = points.first().map_or(f64::INFINITY, |p| p[3]);
                        let whole = points.last().is_some_and(|p| p[0] >= budget);
                        let spike = points.iter().any(|p| p[3].is_nan() || p[3] > start);
                        if whole && !spike { points.last().map_or(f64::INFINITY, |p| p[3]) } else { f64::INFINITY }
                    };
                    *candidates.iter().min_by(|a, b| end(a).total_cmp(&end(b))).unwrap_or(&candidates[0])
                })
                .collect();
            let finals: Vec<Job<'_>> = chosen
                .iter()
                .flat_map(|&setting| seeds.iter().map(move |&seed| (setting, seed)))
                .map(|(s, k)| job(s, k))
                .collect();
            work(&finals, &store, true)?;
            report(&mut text, &mut score, &store, &chosen, &seeds, budget, &job, name, lambda)?;
        }
    }
    writeln!(
        text,
        "\nAI-SARAH has the smallest geometric mean in {} of {} cells by the paper's pass and in {} of {} by gradient evaluations.",
        score[0], score[1], score[2], score[3]
    )?;
    text.push_str(&speed(settings)?);
    text.push_str("\n## Seconds to ‖∇P‖² ≤ 1e-10, λ = 1/n, w₀ = 0 (median of five)\n\n");
    for name in ["w8a", "ijcnn1"] {
        let mut times = (0..5).map(|_| seconds_to(&settings.data, name, 1e-10)).collect::<Result<Vec<_>>>()?;
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        writeln!(text, "{name}: {:.4} s, {:.1} passes", times[2].0, times[2].1)?;
    }
    std::fs::write(settings.out.join("tables.md"), &text)?;
    println!("{text}");
    Ok(())
}

fn report<'a>(
    text: &mut String,
    score: &mut [usize; 4],
    store: &Store,
    chosen: &[Setting],
    seeds: &[u64],
    budget: f64,
    job: &dyn Fn(Setting, u64) -> Job<'a>,
    name: &str,
    lambda: f64,
) -> Result<()> {
    writeln!(text, "\n## {name}, λ = {lambda:.3e}, budget {budget} passes, {} seeds\n", seeds.len())?;
    writeln!(text, "Running minimum of ‖∇P‖², geometric mean over seeds.\n")?;
    text.push_str("| method | α | other | 5 | 10 | 20 | 5 by gradients | 10 by gradients | 20 by gradients | s for the budget | P at the end | best test accuracy | α, α_max at the end |\n");
    text.push_str("|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    let mut cells = vec![[0.0; 6]; chosen.len()];
    for (row, setting) in chosen.iter().enumerate() {
        let runs: Vec<Vec<Point>> =
            seeds.iter().map(|&seed| store.get(&job(*setting, seed).key()).unwrap_or_default()).collect();
        for (k, (column, passes)) in
            [(0, 5.0), (0, 10.0), (0, 20.0), (1, 5.0), (1, 10.0), (1, 20.0)].into_iter().enumerate()
        {
            let values: Vec<f64> = runs.iter().map(|points| least(points, column, passes)).collect();
            cells[row][k] = mean_log(&values);
        }
        let ends: Vec<Point> = runs.iter().filter_map(|points| points.last().copied()).collect();
        let mean = |k: usize| ends.iter().map(|p| p[k]).sum::<f64>() / ends.len() as f64;
        let best: f64 = runs.iter().map(|points| points.iter().map(|p| p[5]).fold(f64::NAN, f64::max)).sum::<f64>()
            / runs.len() as f64;
        let shown: Vec<String> = cells[row].iter().map(|x| format!("{x:.2e}")).collect();
        writeln!(
            text,
            "| {} | {:.4} | {:.4} | {} | {:.3} | {:.6} | {best:.4} | {:.3}, {:.3} |",
            setting.method,
            setting.alpha,
            setting.other,
            shown.join(" | "),
            mean(2),
            mean(3),
            mean(6),
            mean(7)
        )?;
    }
    for k in 0..6 {
        let won = cells.iter().skip(1).all(|other| cells[0][k] < other[k]);
        score[2 * (k / 3)] += usize::from(won);
        score[2 * (k / 3) + 1] += 1;
    }
    Ok(())
}

/// Seconds for one effective pass of AI-SARAH (a full gradient, then minibatches for one pass), and for one inner step.
fn pass(sum: &Glm<'_, f64>, batch: usize, updates: Updates, most: usize) -> Result<(f64, f64)> {
    let algorithm = AiSarah::new(batch, 1.0 / 32.0, 0.999)?.with_updates(updates);
    let need = FiniteSum::<f64>::need(&algorithm, sum)?;
    let (mut real, mut counts) = (vec![0.0; need.real], vec![0; need.u32]);
    let mut memory = Memory { real: &mut real, u32: &mut counts };
    let mut run = algorithm.start(sum, &vec![0.0; sum.dim()], 1, &mut memory)?;
    let clock = Instant::now();
    algorithm.step(sum, &mut run, &mut memory)?;
    let opening = clock.elapsed().as_secs_f64();
    let whole = sum.len() / batch;
    let steps = whole.min(most) as u64;
    let mut seconds = 0.0;
    while run.steps < steps {
        let clock = Instant::now();
        // Later full gradients are no part of a step.
        if !matches!(algorithm.step(sum, &mut run, &mut memory)?, Event::FullGradient { .. }) {
            seconds += clock.elapsed().as_secs_f64();
        }
    }
    let each = seconds / steps as f64;
    Ok((each, opening + each * whole as f64))
}

/// Lazy steps beside steps that write whole vectors in one fused loop, on the same sparse rows.
fn speed(settings: &Args) -> Result<String> {
    let mut text = String::from(
        "\n## Lazy sparse steps against fused whole-vector steps\n\n| data | batch | lazy step, µs | whole step, µs | ratio | lazy pass, ms | whole pass, ms | ratio |\n|---|---|---|---|---|---|---|---|\n",
    );
    let mut line = |name: &str, sum: &Glm<'_, f64>, batch: usize, most: usize| -> Result<()> {
        let (lazy, lazy_pass) = pass(sum, batch, Updates::Auto, most)?;
        let (whole, whole_pass) = pass(sum, batch, Updates::Eager, most)?;
        writeln!(
            text,
            "| {name} | {batch} | {:.2} | {:.2} | {:.1} | {:.2} | {:.2} | {:.1} |",
            1e6 * lazy,
            1e6 * whole,
            whole / lazy,
            1e3 * lazy_pass,
            1e3 * whole_pass,
            whole_pass / lazy_pass
        )?;
        Ok(())
    };
    let (hiv, _) = load(&settings.data, "hiv.train", None)?;
    let sum = glm(&hiv, 1.0 / hiv.len() as f64)?;
    for batch in [1, 64] {
        line("hiv.train, 2048 columns, whole vectors", &sum, batch, 4000)?;
    }
    let rows: usize = if settings.quick { 1500 } else { 15_000 };
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
    let sum = Glm::new(made, Targets::Labels(&labels), GlmLoss::Logistic, 1.0 / rows as f64, true)?;
    for batch in [1, 64] {
        line("synthetic 15,000 × 1,355,191", &sum, batch, 150)?;
    }
    // And hiv with dense rows.
    let mut dense = vec![0.0; hiv.len() * hiv.cols()];
    if let Rows::Csr { ptr, col, val, cols } = hiv.rows() {
        for i in 0..hiv.len() {
            for at in ptr[i]..ptr[i + 1] {
                dense[i * cols + col[at] as usize] = val[at];
            }
        }
    }
    let rows = Rows::dense(&dense, hiv.cols())?;
    let full = Glm::new(rows, Targets::Labels(hiv.labels()), GlmLoss::Logistic, 1.0 / hiv.len() as f64, true)?;
    let sparse = glm(&hiv, 1.0 / hiv.len() as f64)?;
    for batch in [1, 64] {
        let (lazy, lazy_pass) = pass(&sparse, batch, Updates::Auto, 4000)?;
        let (whole, whole_pass) = pass(&full, batch, Updates::Eager, 4000)?;
        writeln!(
            text,
            "| hiv.train, 2048 columns, dense rows | {batch} | {:.2} | {:.2} | {:.1} | {:.2} | {:.2} | {:.1} |",
            1e6 * lazy,
            1e6 * whole,
            whole / lazy,
            1e3 * lazy_pass,
            1e3 * whole_pass,
            whole_pass / lazy_pass
        )?;
    }
    Ok(text)
}

/// Seconds until ‖∇P‖² ≤ 1e-10 from w₀ = 0 with λ = 1/n, checked at every full gradient
/// of the algorithm; and the passes it took.
fn seconds_to(folder: &Path, name: &str, goal: f64) -> Result<(f64, f64)> {
    let (data, _) = load(folder, name, None)?;
    let sum = glm(&data, 1.0 / data.len() as f64)?;
    let algorithm = AiSarah::default();
    let need = FiniteSum::<f64>::need(&algorithm, &sum)?;
    let (mut real, mut counts) = (vec![0.0; need.real], vec![0; need.u32]);
    let mut memory = Memory { real: &mut real, u32: &mut counts };
    let clock = Instant::now();
    let mut run = algorithm.start(&sum, &vec![0.0; sum.dim()], 1, &mut memory)?;
    loop {
        if let Event::FullGradient { norm_sq } = algorithm.step(&sum, &mut run, &mut memory)?
            && norm_sq <= goal
        {
            return Ok((clock.elapsed().as_secs_f64(), run.samples as f64 / sum.len() as f64));
        }
    }
}
