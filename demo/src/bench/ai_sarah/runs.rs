//! The runs: settings, measurement, the store that a stopped bench continues from.

use super::{Problem, glm};
use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use undercurve::finite_sum::{AdamSum, AiSarah, FiniteSum, Memory, MomentumSum, Sarah, Svrg};
use undercurve::rng::Rng;

const BATCH: usize = 64;
/// The methods, the untuned one first.
pub const METHODS: [&str; 6] = ["ai-sarah", "sarah", "sarah+", "svrg", "adam", "momentum"];
/// The seed that settings are chosen with.
pub const TUNING_SEED: u64 = 1000;

/// One setting of one method.
#[derive(Clone, Copy)]
pub struct Setting {
    pub method: &'static str,
    pub alpha: f64,
    /// Inner steps, stop γ, or decay per pass.
    pub other: f64,
}

/// What a run measured at one point: passes as the paper counts them, passes by gradient evaluations, seconds, P,
/// ‖∇P‖², test accuracy, α, α_max.
pub type Point = [f64; 8];

/// The settings of table 3, or every `thin`-th of them and the last.
pub fn grid(method: &'static str, smooth: f64, n: usize, thin: usize) -> Vec<Setting> {
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

/// One run.
pub struct Job<'a> {
    pub problem: &'a Problem,
    pub regularised: bool,
    pub setting: Setting,
    pub seed: u64,
    pub budget: f64,
}

impl Job<'_> {
    /// Its name in the store.
    pub fn key(&self) -> String {
        let Setting { method, alpha, other } = self.setting;
        format!("{} {} {method} {alpha:.9e} {other:.9e} {}", self.problem.name, self.regularised, self.seed)
    }
}

/// Finished runs: key → points, in memory and as lines `key<TAB>numbers` in JSON strings on disk.
pub struct Store {
    done: Mutex<(HashMap<String, Vec<Point>>, std::fs::File)>,
}

impl Store {
    pub fn open(file: &Path) -> Result<Self> {
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

    pub fn get(&self, key: &str) -> Option<Vec<Point>> {
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

/// Runs what is not in the store yet, on every core, with a bar and an estimate on a terminal.
pub fn work(title: &str, jobs: &[Job<'_>], store: &Store, every: bool) -> Result<()> {
    let open: Vec<&Job<'_>> = jobs.iter().filter(|job| store.get(&job.key()).is_none()).collect();
    if open.is_empty() {
        return Ok(());
    }
    let bar = ProgressBar::new(open.len() as u64).with_message(title.to_owned());
    let style = "{msg}  {bar:30} {pos}/{len} runs  {elapsed}, {eta} left";
    bar.set_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()));
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    while let Some(job) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let lambda = job.problem.lambda(job.regularised);
                        let points = measure(job.problem, lambda, job.setting, job.seed, job.budget, every)?;
                        store.put(job.key(), points)?;
                        bar.inc(1);
                    }
                    Ok(())
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|_| anyhow::bail!("a worker failed")))
    })?;
    bar.finish_and_clear();
    Ok(())
}
