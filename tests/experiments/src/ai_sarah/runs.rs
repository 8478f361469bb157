//! The runs: settings and measurement.

use super::{Problem, glm};
use crate::tune::at_end;
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Deserializer, Serialize};
use std::time::Instant;
use undercurve::finite_sum::{AdamSum, AiSarah, FiniteSum, Gradients, Memory, MomentumSum, Sarah, Svrg};
use undercurve::rng::Rng;
use undercurve_demo::error::Result;
use undercurve_demo::store::{self, Store};

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

/// The grids that baselines are tuned over.
#[derive(Clone, Copy, PartialEq)]
pub enum Width {
    /// Those of the paper's table 3.
    Paper,
    /// Coarser ones that go far beyond their ends.
    Wide,
}

/// A method's settings, or every `thin`-th of them and the last.
pub fn grid(method: &'static str, smooth: f64, n: usize, thin: usize, width: Width) -> Vec<Setting> {
    let wide = width == Width::Wide;
    let steps: &[f64] = &match wide {
        false => [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
        true => [0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0],
    };
    let tenths: Vec<f64> = steps.iter().map(|x| x / smooth).collect();
    // 60 step sizes in [10⁻³, 10]; the paper does not give their spacing, geometric is assumed. Wide: 31 to 1000.
    let decades: Vec<f64> = match wide {
        false => (0..60).map(|k| 1e-3 * 1e4f64.powf(f64::from(k) / 59.0)).collect(),
        true => (0..31).map(|k| 1e-3 * 1e6f64.powf(f64::from(k) / 30.0)).collect(),
    };
    let cross = |alphas: &[f64], others: &[f64]| -> Vec<Setting> {
        others.iter().flat_map(|&other| alphas.iter().map(move |&alpha| Setting { method, alpha, other })).collect()
    };
    let all = match method {
        "ai-sarah" => vec![Setting { method, alpha: 0.0, other: 0.0 }],
        "sarah" | "svrg" => {
            let passes: Vec<f64> = match wide {
                false => (5..=20).map(|k| f64::from(k) / 10.0).collect(),
                true => vec![0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0],
            };
            let inner: Vec<f64> = passes.iter().map(|share| (share * n as f64 / BATCH as f64).round()).collect();
            cross(&tenths, &inner)
        }
        "sarah+" if wide => cross(&tenths, &[0.25, 0.0625, 0.015_625, 3.906_25e-3, 9.765_625e-4, 2.441_406_25e-4]),
        "sarah+" => cross(&tenths, &[0.5, 0.25, 0.125, 0.0625, 0.03125]),
        _ if wide => cross(&decades, &[0.0, 0.05, 0.1, 0.15, 0.25, 0.4, 0.6, 0.8]),
        _ => cross(&decades, &[0.0, 0.01, 0.05, 0.1, 0.15]),
    };
    let last = all.len() - 1;
    all.into_iter()
        .enumerate()
        .filter(|(k, _)| k % thin == thin - 1 || *k == last)
        .map(|(_, setting)| setting)
        .collect()
}

/// The ends of a method's grid that a setting lies on. A decay of 0 is the end of its range, and no end of the grid.
pub fn edges(setting: Setting, grid: &[Setting]) -> Vec<String> {
    let other = match setting.method {
        "sarah" | "svrg" => ("inner", (1.0, f64::INFINITY)),
        "sarah+" => ("stop", (0.0, 1.0)),
        _ => ("decay", (0.0, 1.0)),
    };
    let alpha = ("α", (0.0, f64::INFINITY));
    let ends = [
        (alpha, setting.alpha, grid.iter().map(|one| one.alpha).collect::<Vec<_>>()),
        (other, setting.other, grid.iter().map(|one| one.other).collect()),
    ];
    let edge = |((name, range), value, values): ((&str, (f64, f64)), f64, Vec<f64>)| {
        at_end(value, values.into_iter(), range).then(|| format!("{name}={value:.4}"))
    };
    ends.into_iter().filter_map(edge).collect()
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
    let mut memory = Memory { real: &mut real, u32: &mut counts, scratch: &mut [] };
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

/// What a run measured, point by point.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Curve {
    /// In the order of passes.
    #[serde(deserialize_with = "points")]
    pub points: Vec<Point>,
}

/// Numbers of which those that are not finite were written as null.
fn points<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Point>, D::Error> {
    let points = Vec::<[Option<f64>; 8]>::deserialize(from)?;
    Ok(points.into_iter().map(|point| point.map(|x| x.unwrap_or(f64::NAN))).collect())
}

/// Runs what is not in the store yet, on every core, with a bar and an estimate on a terminal.
pub fn work(title: &str, jobs: &[Job<'_>], store: &Store<Curve>, every: bool) -> Result<()> {
    let open: Vec<&Job<'_>> = jobs.iter().filter(|job| store.get(&job.key()).is_none()).collect();
    if open.is_empty() {
        return Ok(());
    }
    let bar = ProgressBar::new(open.len() as u64).with_message(title.to_owned());
    let style = "{msg}  {bar:30} {pos}/{len} runs  {elapsed}, {eta} left";
    bar.set_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()));
    store::in_parallel(&open, store::cores(), |job| {
        let lambda = job.problem.lambda(job.regularised);
        let points = measure(job.problem, lambda, job.setting, job.seed, job.budget, every)?;
        store.put(job.key(), Curve { points })?;
        bar.inc(1);
        Ok(())
    })?;
    bar.finish_and_clear();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Setting, Width, edges, grid};

    #[test]
    fn winners_on_an_end_of_the_grid_are_named() {
        let own = grid("adam", 1.0, 1000, 1, Width::Paper);
        let of = |alpha, other| edges(Setting { method: "adam", alpha, other }, &own);
        assert_eq!(of(10.0, 0.0), ["α=10.0000"]);
        assert_eq!(of(own[0].alpha, 0.15), ["α=0.0010", "decay=0.1500"]);
        assert_eq!(of(own[7].alpha, 0.05), [""; 0]);
        let sarah = grid("ai-sarah", 1.0, 1000, 1, Width::Paper);
        assert_eq!(edges(sarah[0], &sarah), [""; 0], "nothing is chosen");
        // What lies on the upper ends of the paper's grid lies inside the wide one.
        for method in ["sarah", "sarah+", "svrg", "adam", "momentum"] {
            let [paper, wide] = [Width::Paper, Width::Wide].map(|width| grid(method, 2.0, 64_000, 1, width));
            assert_eq!(edges(paper[paper.len() - 1], &wide), [""; 0], "{method}");
        }
    }
}
