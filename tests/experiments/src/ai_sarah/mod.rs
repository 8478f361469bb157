//! `cargo experiment ai-sarah`: the logistic-regression experiment of Shi et al. 2021, "AI-SARAH", and the speed of its
//! sparse steps.
//!
//! The baselines are tuned over the grids of the paper's table 3, or wider ones, with one seed: of the settings whose P never rises above
//! its start, the one with the smallest P at the end of the budget. AI-SARAH is not tuned. Then every method runs with
//! ten other seeds. Each finished run is one line of `runs.jsonl`; a bench that is started again continues there.

mod report;
mod runs;
mod speed;

use report::Report;
pub use runs::Curve;
use runs::{Job, METHODS, Setting, TUNING_SEED, Width};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use undercurve::data::{Dataset, Format, Options, Preparation, RawTable, Scale};
use undercurve::finite_sum::{Glm, GlmLoss, Gradients, Response, largest_eigenvalue, largest_eigenvalue_need};
use undercurve_demo::error::{CliError, Result};
use undercurve_demo::output;
use undercurve_demo::store::Store;

/// Training file, test file, budget with λ = 1/n, budget with λ = 0 (table 4; a9a, not in the paper, as a1a's 20).
const SETS: [(&str, &str, f64, f64); 4] =
    [("a1a", "a1a.t", 30.0, 40.0), ("w8a", "", 30.0, 40.0), ("ijcnn1", "", 20.0, 20.0), ("a9a", "a9a.t", 20.0, 20.0)];

/// What to run and where.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  cargo experiment ai-sarah --data DIR
  cargo experiment ai-sarah --data DIR --skip-experiment --peers 'python3 tests/peers/sklearn_logistic.py'")]
pub struct Args {
    /// Folder with a1a.svm.gz, w8a.svm.gz, ijcnn1.svm.gz, a9a.svm.gz, hiv.train.svm.gz and the test files
    #[arg(long, value_name = "DIR", default_value = "../shared/data")]
    data: PathBuf,
    /// Folder of the results: runs.jsonl, tables.md and figures (SVG); a bench that is started again continues there
    #[arg(long, value_name = "DIR", default_value = "target/ai-sarah")]
    out: PathBuf,
    /// a1a only, with every twelfth setting and three seeds
    #[arg(long)]
    quick: bool,
    /// Data sets to run
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "a1a,w8a,ijcnn1,a9a")]
    sets: Vec<String>,
    /// Tune the baselines over grids that go far beyond the ends of the paper's
    #[arg(long)]
    wide: bool,
    /// Try every K-th setting of each grid only
    #[arg(long, value_name = "K", default_value_t = 1)]
    thin: usize,
    /// Seeds of the reported runs
    #[arg(long, value_name = "N", default_value_t = 10)]
    seeds: u64,
    /// Only the speed of steps and passes, and the seconds to a small gradient
    #[arg(long)]
    skip_experiment: bool,
    /// Only the experiment
    #[arg(long)]
    skip_speed: bool,
    /// A command that times other solvers in the same run: it gets DIR and names, and prints JSON lines with `data`,
    /// `solver`, `seconds` and `reached`
    #[arg(long, value_name = "COMMAND")]
    peers: Option<String>,
}

struct Problem {
    name: &'static str,
    train: Dataset<f64>,
    test: Option<Dataset<f64>>,
    /// λ_max(XᵀX/n)/4.
    smooth: f64,
}

fn load(folder: &Path, name: &str, like: Option<&Preparation>) -> Result<(Dataset<f64>, Preparation)> {
    let file = folder.join(format!("{name}.svm.gz"));
    let bytes = std::fs::read(&file).map_err(|error| CliError::file(&file, &error))?;
    let table = RawTable::parse(&bytes, Format::Libsvm, name)?;
    let preparation = match like {
        Some(preparation) => preparation.clone(),
        None => Preparation::fit(&table, &Options { scale: Some(Scale::Unit), ..Options::default() })?,
    };
    Ok((preparation.apply(&table)?, preparation))
}

fn glm(data: &Dataset<f64>, lambda: f64) -> Result<Glm<'_, f64>> {
    Ok(Glm::new(data.rows(), Response::Labels(data.labels()), GlmLoss::Logistic, lambda, true)?)
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

/// Runs the experiment and writes `runs.jsonl`, `tables.md` and the figures.
pub fn run(args: &Args) -> Result<()> {
    std::fs::create_dir_all(&args.out).map_err(|error| CliError::file(&args.out, &error))?;
    let mut text = String::from("# AI-SARAH against tuned baselines\n");
    if !args.skip_experiment {
        experiment(args, &mut text)?;
    }
    if !args.skip_speed {
        text.push_str(&speed::steps(&args.data, args.quick)?);
        text.push_str(&speed::seconds(&args.data, args.peers.as_deref())?);
    }
    let tables = args.out.join("tables.md");
    std::fs::write(&tables, &text).map_err(|error| CliError::file(&tables, &error))?;
    output::line(text)
}

fn experiment(args: &Args, text: &mut String) -> Result<()> {
    let thin = if args.quick { 12 } else { args.thin.max(1) };
    let width = if args.wide { Width::Wide } else { Width::Paper };
    let store = Store::<Curve>::open(Some(&args.out.join("runs.jsonl")))?;
    if thin > 1 {
        writeln!(text, "\nOne in {thin} settings of each grid was tried.")?;
    }
    let seeds: Vec<u64> = (1..=if args.quick { 3 } else { args.seeds.max(1) }).collect();
    let mut report = Report::new(&args.out);
    let wanted = |name: &str| if args.quick { name == "a1a" } else { args.sets.iter().any(|set| set == name) };
    for &(name, test, with, without) in SETS.iter().filter(|set| wanted(set.0)) {
        let problem = Problem::load(&args.data, name, test)?;
        for (regularised, budget) in [(true, with), (false, without)] {
            let lambda = problem.lambda(regularised);
            let smooth = problem.smooth + lambda;
            let job = |setting, seed| Job { problem: &problem, regularised, setting, seed, budget };
            let candidates: Vec<Vec<Setting>> =
                METHODS.iter().map(|method| runs::grid(method, smooth, problem.train.len(), thin, width)).collect();
            let tuning: Vec<Job<'_>> =
                candidates.iter().skip(1).flatten().map(|&setting| job(setting, TUNING_SEED)).collect();
            let title = format!("{name}, λ = {}", if regularised { "1/n" } else { "0" });
            runs::work(&format!("{title}, tuning"), &tuning, &store, false)?;
            let chosen: Vec<Setting> = candidates
                .iter()
                .map(|candidates| {
                    let end = |setting: &Setting| {
                        let points = store.get(&job(*setting, TUNING_SEED).key()).unwrap_or_default().points;
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
            runs::work(&format!("{title}, ten seeds"), &finals, &store, true)?;
            let results: Vec<Vec<Vec<runs::Point>>> = chosen
                .iter()
                .map(|&s| seeds.iter().map(|&k| store.get(&job(s, k).key()).unwrap_or_default().points).collect())
                .collect();
            let edges: Vec<Vec<String>> =
                chosen.iter().zip(&candidates).map(|(&setting, grid)| runs::edges(setting, grid)).collect();
            let results = report::Results { chosen: &chosen, edges: &edges, runs: &results };
            report.section(text, &problem, regularised, smooth, budget, results)?;
        }
    }
    Ok(report.score(text)?)
}
