//! The sum of ranked range by AGD and by DCA with constant and with changing steps, as Yao, Lin and Yang 2022, "Large-scale
//! Optimization of Partial AUC in a Range of False Positive Rates", appendix E.1: F on the rows that are trained on.
//!
//! Linear models from 0 without decay on whole files, the losses ranked m + 1 to n of N. Every search is a grid of 12 points,
//! then a climb from the best to at most 60 (see `tune`), by the last F, the mean over some seeds; its best point is judged
//! on other seeds, which all methods share, so differences are in pairs. Rows are drawn for all alike, and a pass is a row looked at for every row there is: a step of AGD looks at
//! its rows once for each term, and everything is looked at for first dual variables and linear parts.

use super::experiment::{self, Budget, Candidate, Measured};
use super::tune::{self, EDGE, Settings};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use undercurve::Scratch;
use undercurve::batch::{Batch, Drawn};
use undercurve::data::{Dataset, Options, Preparation};
use undercurve::estimator::sorr::ExampleLoss;
use undercurve::estimator::{Estimator, Sorr};
use undercurve::trainer::{ModelSpec, Trainer};
use undercurve_demo::error::{CliError, Result};
use undercurve_demo::figure::{self, Axes, Line};
use undercurve_demo::input::{self, Layout};
use undercurve_demo::output;
use undercurve_demo::paired::{Difference, mean_sd};
use undercurve_demo::store::{self, Store};

/// Options of `experiment sorr`.
#[derive(clap::Args, Debug)]
#[group(skip)]
pub struct Args {
    /// Folder of the data sets
    #[arg(long, value_name = "FOLDER", default_value = "../shared/data")]
    data: PathBuf,
    /// Data sets, with commas between them: NAME.svm.gz, or NAME.csv.gz with a column `label`
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "a9a,w8a,ijcnn1")]
    datasets: Vec<String>,
    /// The range of ranks, M:N; of fewer than 30,000 rows the same shares as of 49,990
    #[arg(long, value_name = "M:N", default_value = "1000:20000", value_parser = parse)]
    ranks: (f64, f64),
    /// Seeds that tuning sees: 1 to N
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..))]
    tuning: u64,
    /// Seeds that methods are judged on: the N after those
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// Steps of every run
    #[arg(long, value_name = "N", default_value_t = 12_000, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// Runs at a time [default: the number of cores]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Keep every finished run in FOLDER/runs.jsonl; a bench that is started again continues there
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// annthyroid only, one seed to tune on and two to judge on, few steps, two points
    #[arg(long)]
    quick: bool,
    /// Write figures of F by pass and by second (SVG) into this folder
    #[arg(long, value_name = "FOLDER")]
    figures: Option<PathBuf>,
}

fn parse(text: &str) -> std::result::Result<(f64, f64), String> {
    let pair = text.split_once(':').and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    pair.filter(|&(low, high): &(f64, f64)| 0.0 <= low && low < high && high < 4e9)
        .ok_or_else(|| "expected M:N, e.g. 1000:20000".to_owned())
}

const CHECKS: u64 = 40;
/// Points of a search.
const POINTS: usize = 60;
/// What a point has to be better by, as a share of F.
const SLACK: f64 = 1e-4;
/// Rows that the ranks of the paper are ranks of, and fewer than which take their shares.
const ROWS: f64 = 49_990.0;
const FEW: usize = 30_000;

/// Every method; differences are taken from the first.
fn candidates() -> Vec<Candidate> {
    const SHARED: &str = "pretrain=0 decay=0 sampling=uniform batch=100";
    const RATES: &str = "lr=3 | lr=10 | lr=30 | lr=100";
    let new = |name, own: &[&str]| {
        let axes: Vec<&str> = [SHARED].iter().chain(own).copied().collect();
        Candidate::new(name, "sorr", &axes)
    };
    vec![
        new(
            "AGD",
            &[
                "optimizer=agd-sbcd",
                "lr=10 | lr=30 | lr=100",
                "stage=30 | stage=100",
                "relax=2 | relax=10",
                "~ mu=1e3",
                "~ theta=0.3",
            ],
        ),
        new(
            "DCA, changing steps",
            &["optimizer=dca schedule=changing", RATES, "stage=30 | stage=100 | stage=300", "~ theta=0.3"],
        ),
        new(
            "DCA, constant steps",
            &[
                "optimizer=dca schedule=constant",
                "lr=0.3 | lr=1 | lr=3 | lr=10",
                "stage=100 | stage=300 | stage=1000",
                "~ theta=0.3",
            ],
        ),
    ]
}

/// Rows and the objective over them.
struct Problem {
    name: String,
    rows: Arc<Dataset<f32>>,
    /// Of ranks, as shares.
    range: (f64, f64),
    sorr: Sorr,
}

impl Problem {
    fn open(folder: &Path, name: &str, ranks: (f64, f64)) -> Result<Self> {
        let table = folder.join(format!("{name}.csv.gz"));
        let (table, options) = if table.exists() {
            let options = Options { label: Some("label".into()), positive: Some("1".into()), ..Options::default() };
            (input::table(&table, Layout::default(), Some("label"))?, options)
        } else {
            (input::table(&folder.join(format!("{name}.svm.gz")), Layout::default(), None)?, Options::default())
        };
        let rows = Preparation::fit(&table, &options)?.apply::<f32>(&table)?;
        let all = if rows.len() < FEW { ROWS } else { rows.len() as f64 };
        let range = (ranks.0 / all, ranks.1 / all);
        let sorr = Sorr::new(ExampleLoss::Logistic, range, 0.1)
            .map_err(|_| CliError::input(format!("{name}: {} rows have no such ranks", rows.len())))?;
        Ok(Self { name: name.to_owned(), rows: Arc::new(rows), range, sorr })
    }

    /// F with the model as it is.
    fn value(&self, trainer: &mut Trainer<f32>) -> Option<f64> {
        let mut scores = vec![0.0f32; self.rows.len()];
        trainer.score(self.rows.rows(), &mut scores).ok()?;
        let of = |class: u8| scores.iter().zip(self.rows.labels()).filter(move |row| *row.1 == class).map(|row| *row.0);
        let low = of(0).count() as u32;
        let ordered: Vec<f64> = of(0).chain(of(1)).map(f64::from).collect();
        let all = ordered.len() as u32;
        let (starts, population) = ([0, low, all], [low, all - low]);
        let batch = Batch::new(&ordered, 1, &starts, &population, Drawn::All).ok()?;
        let need = Estimator::<f64>::need(&self.sorr, batch.shape());
        let (mut real, mut order) = (vec![0.0; need.real], vec![0; need.u32]);
        let scratch = Scratch { real: &mut real, f64: &mut [], u32: &mut order, u64: &mut [] };
        self.sorr.value(&batch, &[], scratch).ok()
    }

    /// F at each check, with the seconds of training until then.
    fn run(&self, settings: &Settings, seed: u64, steps: u64) -> Result<Measured> {
        let budget = Budget { steps, model: ModelSpec::Linear, checks: CHECKS, fpr: (0.0, 0.05) };
        let ranked = [("from", self.range.0), ("to", self.range.1)].map(|(name, at)| (name.to_owned(), at.to_string()));
        let settings = settings.iter().cloned().chain(ranked).collect();
        let mut along = Vec::new();
        let run = experiment::run(&self.rows, "sorr", &settings, seed, &budget, |trainer, seconds| {
            let value = self.value(trainer)?;
            along.push([seconds, value, 0.0]);
            Some(value)
        })?;
        Ok(Measured { on_train: along, ..run })
    }
}

/// The last F of a run; infinite where it left its type's range before.
fn last(run: &Measured) -> f64 {
    if run.checks.len() as u64 == CHECKS { run.checks[run.checks.len() - 1].2 } else { f64::INFINITY }
}

/// What a method came to on one set.
struct Outcome {
    settings: Settings,
    points: usize,
    edges: Vec<String>,
    /// By seed.
    runs: Vec<Measured>,
}

impl Outcome {
    fn ends(&self) -> Vec<f64> {
        self.runs.iter().map(last).collect()
    }

    /// Passes, seconds and F at each check, the means over the seeds.
    fn along(&self) -> Vec<[f64; 3]> {
        let length = self.runs.iter().map(|run| run.checks.len()).min().unwrap_or(0);
        let mean = |of: &dyn Fn(&Measured) -> f64| self.runs.iter().map(of).sum::<f64>() / self.runs.len() as f64;
        let at =
            |k: usize| [mean(&|run| run.checks[k].1), mean(&|run| run.on_train[k][0]), mean(&|run| run.checks[k].2)];
        (0..length).map(at).collect()
    }
}

/// Runs the bench.
///
/// # Errors
/// `Input`; when results cannot be written.
pub fn run(args: &Args, as_json: bool) -> Result<()> {
    for folder in [&args.figures, &args.out].into_iter().flatten() {
        std::fs::create_dir_all(folder).map_err(anyhow::Error::from)?;
    }
    let store = Store::<Measured>::open(args.out.as_ref().map(|folder| folder.join("runs.jsonl")).as_deref())?;
    let jobs = args.jobs.unwrap_or_else(store::cores).max(1);
    let quick = ["annthyroid".to_owned()];
    let names = if args.quick { &quick[..] } else { &args.datasets[..] };
    for name in names {
        let problem = Problem::open(&args.data, name, args.ranks)?;
        let outcomes = outcomes(&problem, args, &store, jobs)?;
        print(&problem, args, &outcomes, as_json)?;
        if let Some(folder) = &args.figures {
            figures(&problem, &outcomes, folder)?;
        }
    }
    Ok(())
}

/// Tunes and judges every method.
fn outcomes(problem: &Problem, args: &Args, store: &Store<Measured>, jobs: usize) -> Result<Vec<Outcome>> {
    let (steps, tuning, seeds) = if args.quick { (600, 1, 2) } else { (args.steps, args.tuning, args.seeds) };
    let key = |settings: &Settings, seed: u64| {
        let (low, high) = problem.range;
        format!("sorr; {}; {low}:{high}; {steps} steps; seed {seed}; {}", problem.name, experiment::text(settings))
    };
    let make = |wanted: &[(Settings, u64)]| {
        let open: Vec<_> =
            wanted.iter().filter(|(settings, seed)| store.get(&key(settings, *seed)).is_none()).collect();
        store::in_parallel(&open, jobs, |(settings, seed)| {
            store.put(key(settings, *seed), problem.run(settings, *seed, steps)?)
        })
    };
    let runs = |settings: &Settings, seeds: std::ops::RangeInclusive<u64>| -> Vec<Measured> {
        seeds.filter_map(|seed| store.get(&key(settings, seed))).collect()
    };
    let mut outcomes = Vec::new();
    for candidate in candidates() {
        let axes = candidate.parsed(steps);
        let most = if args.quick { 2 } else { POINTS };
        let value = |settings: &Settings| -mean_sd(&runs(settings, 1..=tuning).iter().map(last).collect::<Vec<_>>()).0;
        let (mut tried, mut slack) = (tune::Tried::new(), 0.0);
        loop {
            let points = tune::next(&axes, &tried, most, slack);
            if points.is_empty() {
                break;
            }
            let wanted: Vec<_> =
                points.iter().flat_map(|point| (1..=tuning).map(|seed| (tune::settings(point), seed))).collect();
            make(&wanted)?;
            tried.extend(points.into_iter().map(|point| (point.clone(), value(&tune::settings(&point)))));
            slack = tune::best(&tried, 0.0).map_or(0.0, |best| SLACK * best.1.abs());
        }
        let Some((winner, _)) = tune::best(&tried, slack).filter(|best| best.1.is_finite()) else {
            return Err(CliError::input(format!("{}: no run of {} came to its end", problem.name, candidate.name)));
        };
        let settings = tune::settings(winner);
        let judged: Vec<_> = (tuning + 1..=tuning + seeds).map(|seed| (settings.clone(), seed)).collect();
        make(&judged)?;
        let runs = runs(&settings, tuning + 1..=tuning + seeds);
        outcomes.push(Outcome { edges: tune::edges(&axes, &tried, winner), points: tried.len(), settings, runs });
    }
    Ok(outcomes)
}

/// Below this F is 0 but for rounding: nothing is compared with it, or drawn below it.
const NOTHING: f64 = 1e-6;

fn print(problem: &Problem, args: &Args, outcomes: &[Outcome], as_json: bool) -> Result<()> {
    let candidates = candidates();
    let least = outcomes.iter().flat_map(Outcome::along).fold(f64::INFINITY, |least, at| least.min(at[2]));
    let (low, high) = problem.range;
    let (name, rows) = (&problem.name, problem.rows.len());
    if !as_json {
        let [m, n] = [low, high].map(|share| share * rows as f64);
        output::line(format!(
            "\n{name}: F of the losses ranked {m:.0} to {n:.0} of {rows} (shares {low:.4} to {high:.4}) after the last step, \
             mean ± deviation over {} seeds; over the least that a mean came to, {least:.5}; its difference from AGD's on the \
             same seeds with its 95 % interval (paired t) and how often it was lower/level/higher; the first check within \
             5 % and 1 % of that least, in passes and seconds:\n",
            outcomes[0].runs.len()
        ))?;
        output::line(
            "| method | F | above | against AGD | 5 % | 1 % | passes | seconds |\n|---|---|---|---|---|---|---|---|",
        )?;
    }
    for (candidate, outcome) in candidates.iter().zip(outcomes) {
        let (ends, along) = (outcome.ends(), outcome.along());
        let (mean, sd) = mean_sd(&ends);
        let apart = Difference::new(&ends, &outcomes[0].ends());
        if as_json {
            output::line(json!({
                "bench": "sorr", "dataset": name, "from": low, "to": high, "method": candidate.name,
                "settings": experiment::text(&outcome.settings), "f": ends, "mean": mean, "sd": sd, "least": least,
                "difference": {"mean": apart.mean, "half": apart.half}, "edges": outcome.edges,
                "along": along,
            }))?;
            continue;
        }
        let within = |share: f64| {
            if least < NOTHING {
                return "–".to_owned();
            }
            let first = along.iter().find(|at| at[2] <= (1.0 + share) * least);
            first.map_or("never".to_owned(), |at| format!("{:.1}, {:.2} s", at[0], at[1]))
        };
        let against = match std::ptr::eq(outcome, &outcomes[0]) {
            true => "–".to_owned(),
            false => {
                let [higher, level, lower] = apart.counts;
                let (from, to) = (apart.mean - apart.half, apart.mean + apart.half);
                format!("{:+.5} [{from:+.5}, {to:+.5}] {lower}/{level}/{higher}", apart.mean)
            }
        };
        let [passes, seconds, _] = along.last().copied().unwrap_or_default();
        let edge = if outcome.edges.is_empty() { "" } else { EDGE };
        let above = match least < NOTHING {
            true => "–".to_owned(),
            false => format!("{:+.2} %", 100.0 * (mean / least - 1.0)),
        };
        output::line(format!(
            "| {} | {mean:.5} ± {sd:.5}{edge} | {above} | {against} | {} | {} | {passes:.1} | {seconds:.2} |",
            candidate.name,
            within(0.05),
            within(0.01)
        ))?;
    }
    if as_json {
        return Ok(());
    }
    output::line(format!("\nChosen by the mean over {} other seeds:\n", args.tuning))?;
    for (candidate, outcome) in candidates.iter().zip(outcomes) {
        let settings = experiment::text(&outcome.settings);
        output::line(format!("- {name}, {}, {} points: {settings}", candidate.name, outcome.points))?;
        outcome.edges.iter().try_for_each(|edge| output::line(tune::edge_line(&candidate.name, name, edge)))?;
    }
    Ok(())
}

/// F by pass and by second.
fn figures(problem: &Problem, outcomes: &[Outcome], folder: &Path) -> Result<()> {
    let candidates = candidates();
    for (at, across) in [(0, "passes"), (1, "seconds")] {
        let curves: Vec<Vec<(f64, f64)>> = outcomes
            .iter()
            .map(|outcome| outcome.along().iter().map(|point| (point[at], point[2].max(NOTHING))).collect())
            .collect();
        let lines: Vec<Line<'_>> =
            (candidates.iter().zip(&curves)).map(|(candidate, points)| Line::new(&candidate.name, points)).collect();
        let title = format!("{}: mean F of the ranked range", problem.name);
        let axes = Axes { title: &title, across, up: "F", log: true };
        figure::draw_on(&folder.join(format!("sorr-{}-{across}.svg", problem.name)), &axes, &lines)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{candidates, parse};

    #[test]
    fn every_search_has_as_many_points() {
        for candidate in candidates() {
            assert_eq!(candidate.grid(12_000).len(), 12, "{}", candidate.name);
        }
    }

    #[test]
    fn ranks_are_read() {
        assert_eq!(parse("1000:20000"), Ok((1000.0, 20_000.0)));
        assert!(["20", "20:10", "a:1"].iter().all(|text| parse(text).is_err()));
    }
}
