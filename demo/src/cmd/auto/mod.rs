//! `undercurve auto`: from a file to a model, with a threshold where one is asked for, and a card that says what is known of it.

mod card;
mod draw;
mod outcome;

use crate::args::candidates::CandidateArgs;
use crate::args::data::{DataArgs, DataPlan};
use crate::args::decide;
use crate::cmd::look::find;
use crate::error::{CliError, Result};
use crate::run::searching::{Desk, class_weights};
use crate::tell::table;
use crate::tell::text::{shell, stem, wrap};
use crate::{input, output, threads};
use outcome::{Measured, Outcome};
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use undercurve::data::Preparation;
use undercurve::decision::ThresholdRule;
use undercurve::metric::Top;
use undercurve_search::{Candidate, Folds, Job, MOST_ROWS, RANGE, Want, among, search, want};

/// Options of `auto`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
It looks at the columns, searches models on folds as `compare` does, and trains what it takes on all rows. Of --split-by each fold is of later
rows, of --split-group of whole groups. Figures, probabilities, and the threshold of --threshold, are those of the scores of rows that were
held out of each fold, by models with the penalty and class weight that all rows chose.

DIR then has model.uc, scores.csv (held-out scores), importances.csv (what the metric loses on a fold when a column is
shuffled) and card.html, one file that any browser shows.

Examples:
  undercurve auto claims.csv --label fraud
  undercurve auto claims.csv --schema claims.schema --want \"100 alerts\" --out claims
  undercurve auto claims.csv --label fraud --threshold \"precision>=0.8\" --model linear --model mlp:32

Exit code: 0, also where nothing was found; 2 for bad input.")]
pub struct Args {
    /// CSV of two classes, plain, gzip or zstd; - is stdin
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// What is wanted: ap, auroc, pauc (false-positive rates up to 0.05), "fpr<=0.001", "100 alerts" (of as many rows) or recall@100
    #[arg(long, alias = "metric", value_name = "WHAT", default_value = "ap", value_parser = want)]
    want: Want,
    #[command(flatten)]
    candidates: CandidateArgs,
    /// Folds [default: 5; from 20,000 rows on 3]
    #[arg(long, value_name = "K")]
    folds: Option<usize>,
    /// The rule of the threshold: fpr<=A, precision>=P, recall>=R, alerts<=S%, youden, f1, mcc, costs:FP:FN[:SHARE] or a score
    /// [default: none]
    #[arg(long, value_name = "RULE", value_parser = decide::rule, allow_negative_numbers = true)]
    threshold: Option<ThresholdRule>,
    /// Columns that are known when the model has to decide, though each alone ranks the label almost perfectly
    #[arg(long, value_name = "COL,…", value_delimiter = ',')]
    known: Vec<String>,
    /// Decides the folds, the start values and the batches
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Threads, each with a training of its own; the same bits with any number [default: all cores]
    #[arg(long, value_name = "N", value_parser = threads::parse)]
    threads: Option<usize>,
    #[command(flatten)]
    reading: DataArgs,
    /// The folder to write to, which is made [default: the name of DATA, with .auto]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print JSON: one object
    #[arg(long)]
    json: bool,
}

/// What was asked.
pub struct Plan {
    file: PathBuf,
    data: DataPlan,
    /// What was named; none where models are searched.
    candidates: Option<Vec<Candidate>>,
    metric: &'static str,
    fpr: (f64, f64),
    alerts: Option<Top>,
    /// Whether the top of the list is what is wanted.
    at_top: bool,
    rule: Option<ThresholdRule>,
    seed: u64,
    out: PathBuf,
    json: bool,
}

/// Makes the folder, unless it is there.
fn make(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| CliError::file(folder, &error))
}

pub fn run(args: Args) -> Result<()> {
    let Args { data: file, want, folds, threshold: rule, known, seed, threads, json, .. } = args;
    if let Some(folds) = folds.filter(|&folds| folds < 2) {
        return Err(CliError::input(format!("--folds {folds}: expected at least 2")));
    }
    if let Some(rule @ ThresholdRule::Promised(_)) = rule {
        let text =
            format!("--threshold {rule}: a promise is made by `undercurve decide`, on rows that decided nothing");
        return Err(CliError::input(text));
    }
    let data = args.reading.check();
    if data.options.weight.is_some() {
        return Err(CliError::input("--weight: auto counts every row alike; `compare` and `train` take weights"));
    }
    if let Some(count) = threads {
        threads::limit(count)?;
    }
    let table = input::table_of(&file, &data)?;
    input::check_columns(&data.options, &table)?;
    let found = find::look(table.clone(), &[], false, &data.options, &file)?;
    ask_of_away(&found, &known, &file)?;
    let whole = Preparation::fit(&table, &data.options)?;
    let all = whole.apply::<f32>(&table)?;
    if all.labels().is_empty() {
        return Err(CliError::input(format!("{}: auto is for two classes", file.display())));
    }
    let (metric, fpr) = want.of(all.len(), all.positives(), RANGE).map_err(input::want_refused)?;
    let candidates = args.candidates.check(metric)?;
    let out = args.out.unwrap_or_else(|| format!("{}.auto", stem(&file)).into());
    let folds = Folds::new(&all, folds.unwrap_or_else(|| undercurve_search::folds(all.len())), 1, seed, MOST_ROWS)?;
    // (Of the held-out rows as large a share.)
    let held_out = (0..folds.count).map(|split| folds.split(split)[1].len()).sum::<usize>();
    let share = |count: u64| (count as f64 * held_out as f64 / all.len() as f64).round().max(1.0) as u64;
    let alerts = match want {
        Want::Alerts(Top::Rows(count)) => Some(Top::Rows(share(count))),
        Want::Alerts(top) => Some(top),
        _ => None,
    };
    let at_top = !matches!(want, Want::Metric(_));
    let plan = Plan { file, data, candidates, metric, fpr, alerts, at_top, rule, seed, out, json };
    input::say(&found.notes);
    let (desk, weights) = (Desk::new(None)?, class_weights(&plan.data));
    let class_weights = plan.data.class_weight.clone().map(|text| (text, &weights as _));
    let mut job = Job::new(&table, &plan.data.options, folds, (&whole, &all), &desk);
    (job.class_weights, job.metric, job.fpr, job.seed, job.threads) = (class_weights, metric, fpr, seed, threads);
    let searched = match &plan.candidates {
        Some(candidates) => among(&job, candidates)?,
        None => search(&job, &all)?,
    };
    let outcome = outcome::outcome(&plan, &job, &searched, all.labels(), job.chance(&all))?;
    if let Some(warning) = outcome.warning() {
        output::warn(warning);
    }
    write(&plan, &found, &outcome)?;
    if plan.json { output::line(object(&plan, &found, &outcome)) } else { lines(&plan, &outcome) }
}

/// Writes the folder.
fn write(plan: &Plan, found: &find::Found, outcome: &Outcome) -> Result<()> {
    make(&plan.out)?;
    let place = |name: &str| plan.out.join(name);
    let card = card::html(plan, found, outcome);
    for (name, bytes) in [
        ("model.uc", outcome.file.to_bytes()),
        ("scores.csv", outcome.scores_csv().into_bytes()),
        ("importances.csv", importances_csv(outcome).into_bytes()),
        ("card.html", card.into_bytes()),
    ] {
        output::check_output(&place(name), &[&plan.file])?;
        output::write_atomic(&place(name), &bytes)?;
    }
    Ok(())
}

/// Stops where a column gives the label away, unless it is said to be known in time: a model of it is worth nothing if it is not.
fn ask_of_away(found: &find::Found, known: &[String], file: &Path) -> Result<()> {
    if let Some(name) = known.iter().find(|name| found.columns.iter().all(|column| column.name != **name)) {
        return Err(CliError::input(format!("--known {name}: {} has no such column", file.display())));
    }
    let open: Vec<&str> = found.away.iter().filter(|name| !known.contains(name)).map(String::as_str).collect();
    if open.is_empty() {
        return Ok(());
    }
    let (each, are, value) =
        (input::listed(&open), if open.len() > 1 { "each" } else { "alone" }, input::as_value(&open));
    let auroc = found.columns.iter().filter(|column| open.contains(&column.name.as_str())).filter_map(|of| of.auroc);
    let least = auroc.fold(1.0, f64::min);
    Err(CliError::input(format!(
        "{}: {each} {are} ranks the label almost perfectly (AUROC {least:.4}): if that is known when the model has to decide, say --known {value}, else --ignore {value}",
        file.display()
    )))
}

fn importances_csv(outcome: &Outcome) -> String {
    let mut text = String::from("column,loss,sd\n");
    for one in &outcome.importances {
        let _ = writeln!(text, "{},{},{}", table::name(&one.column), one.loss, one.sd);
    }
    text
}

/// For people.
fn lines(plan: &Plan, outcome: &Outcome) -> Result<()> {
    let say = |text: String| output::line(wrap(&text, 2));
    let width = outcome.tried.iter().map(|tried| tried.name.len()).max().unwrap_or(0).max(6);
    say(format!("{}: {} rows ({} positive)", plan.file.display(), outcome.rows, outcome.positives))?;
    output::line(format!("\n{:width$}  {} ± sd over the folds   ahead of the first [95 %]", "tried", plan.metric))?;
    for row in &outcome.tried {
        let ahead = match row.ahead {
            Some([mean, low, high]) => format!("   {mean:+.4} [{low:+.4}, {high:+.4}]"),
            None if row.dropped => format!("   dropped after {} folds", row.values.len()),
            None => String::new(),
        };
        output::line(format!("{:width$}  {:.4} ± {:.4}{ahead}", row.name, row.mean, row.sd))?;
    }
    say(format!("\n{}", outcome.verdict))?;
    output::line("\nOf held-out rows:")?;
    for figure in &outcome.figures {
        let beside = outcome.beside_text(figure).map_or(String::new(), |text| format!("; {text}"));
        say(format!("{}: {}{beside}", figure.name, figure.ours.text()))?;
    }
    say(outcome.threshold_text())?;
    let top: Vec<String> =
        outcome.importances.iter().take(5).map(|one| format!("{} {:.4}", one.column, one.loss)).collect();
    if !top.is_empty() {
        say(format!("What {} loses without a column: {}", plan.metric, top.join(", ")))?;
    }
    let folder = plan.out.display();
    say(format!("\n{folder}: model.uc, scores.csv, importances.csv, card.html"))?;
    say(format!("Next: undercurve predict {} NEW.csv", shell(&format!("{folder}/model.uc"))))
}

/// For programs.
fn object(plan: &Plan, found: &find::Found, outcome: &Outcome) -> serde_json::Value {
    let rows = outcome.tried.iter().map(|row| {
        json!({"name": row.name, "options": row.options, "mean": row.mean, "sd": row.sd, "folds": row.values, "dropped": row.dropped,
            "ahead": row.ahead.map(|ahead| ahead[0]), "interval": row.ahead.map(|ahead| [ahead[1], ahead[2]])})
    });
    let measured = |Measured { value, interval }: Measured| json!({"value": value, "interval": interval});
    let figures = outcome.figures.iter().map(|figure| {
        let mut told = measured(figure.ours);
        if let Some(theirs) = figure.theirs {
            told["cross_entropy"] = measured(theirs);
        }
        (figure.key.to_string(), told)
    });
    json!({
        "metric": plan.metric, "fpr": plan.fpr, "shipped": outcome.tried[outcome.taken].name, "beyond_noise": outcome.beyond,
        "no_signal": !outcome.signal, "verdict": outcome.verdict, "warning": outcome.warning(),
        "cross_entropy": outcome.beside.map(|at| &outcome.tried[at].name),
        "compared": rows.collect::<Vec<_>>(),
        "figures": figures.collect::<serde_json::Map<_, _>>(),
        "threshold": outcome.threshold, "threshold_interval": outcome.threshold_interval,
        "importances": outcome.importances.iter()
            .map(|one| json!({"column": one.column, "loss": one.loss, "sd": one.sd})).collect::<Vec<_>>(),
        "gives_away": found.away, "folder": plan.out.display().to_string(),
    })
}
