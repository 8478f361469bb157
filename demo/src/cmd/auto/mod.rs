//! `undercurve auto`: from a file to a model, with a threshold where one is asked for, and a card that says what is known of it.

mod card;
mod draw;
mod fit;

use crate::args::candidates::{Candidate, CandidateArgs, METRICS};
use crate::args::data::{DataArgs, DataPlan};
use crate::args::{decide, words};
use crate::cmd::look::find;
use crate::error::{CliError, Result};
use crate::tell::table;
use crate::tell::text::{shell, stem, wrap};
use crate::{input, output, threads};
use fit::{Job, Outcome};
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use undercurve::decision::ThresholdRule;

/// Options of `auto`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
It looks at the columns, sets a quarter of the rows aside (of --split-by the last, of --split-group whole groups), and compares
methods on folds of the others. A method is taken for cross-entropy only where the 95 % interval of its lead over the folds is
above 0; else cross-entropy is taken, and that is said. It is trained on all but the rows set aside. Probabilities, and the threshold of
--threshold, are fitted to the scores of rows that were held out of each fold; the figures are of the rows set aside, which decided nothing.

DIR then has model.uc, scores.csv (held-out scores of every row), importances.csv (what a metric loses when a column is
shuffled, on the rows set aside) and card.html, one file that any browser shows.

Examples:
  undercurve auto claims.csv --label fraud
  undercurve auto claims.csv --schema claims.schema --metric auroc --out claims
  undercurve auto claims.csv --label fraud --threshold \"precision>=0.8\" --model linear --model mlp:32

Exit code: 0, also where cross-entropy was taken; 2 for bad input.")]
pub struct Args {
    /// CSV of two classes, plain, gzip or zstd; - is stdin
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// What methods are compared by: auroc, ap or pauc (false-positive rates up to 0.05)
    #[arg(long, value_name = "NAME", default_value = "ap", hide_possible_values = true, value_parser = words(METRICS))]
    metric: &'static str,
    #[command(flatten)]
    candidates: CandidateArgs,
    /// Folds of the rows that are not set aside
    #[arg(long, value_name = "K", default_value_t = 5)]
    folds: usize,
    /// The rule of the threshold: fpr<=A, precision>=P, recall>=R, alerts<=S%, youden, f1, mcc, costs:FP:FN[:SHARE] or a score
    /// [default: none]
    #[arg(long, value_name = "RULE", value_parser = decide::rule, allow_negative_numbers = true)]
    threshold: Option<ThresholdRule>,
    /// Decides the rows set aside, the folds, the start values and the batches
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
    candidates: Vec<Candidate>,
    metric: &'static str,
    folds: usize,
    rule: Option<ThresholdRule>,
    seed: u64,
    threads: Option<usize>,
    out: PathBuf,
    json: bool,
}

impl Args {
    fn check(self) -> Result<Plan> {
        let Self { data: file, metric, folds, threshold: rule, seed, threads, json, .. } = self;
        if folds < 2 {
            return Err(CliError::input(format!("--folds {folds}: expected at least 2")));
        }
        if let Some(rule @ ThresholdRule::Promised(_)) = rule {
            let text =
                format!("--threshold {rule}: a promise is made by `undercurve decide`, on rows that decided nothing");
            return Err(CliError::input(text));
        }
        let candidates = self.candidates.check(metric)?;
        let out = self.out.unwrap_or_else(|| format!("{}.auto", stem(&file)).into());
        let data = self.reading.check();
        if data.options.weight.is_some() {
            return Err(CliError::input("--weight: auto counts every row alike; `compare` and `train` take weights"));
        }
        Ok(Plan { file, data, candidates, metric, folds, rule, seed, threads, out, json })
    }
}

/// Makes the folder, unless it is there.
fn make(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| CliError::file(folder, &error))
}

pub fn run(args: Args) -> Result<()> {
    let plan = args.check()?;
    if let Some(count) = plan.threads {
        threads::limit(count)?;
    }
    let options = &plan.data.options;
    let table = input::table_of(&plan.file, &plan.data)?;
    input::check_columns(options, &table)?;
    let found = find::look(table.clone(), &[], options, &plan.file)?;
    let job = Job::new(&plan, &table)?;
    input::say(&found.notes);
    let outcome = job.run()?;
    make(&plan.out)?;
    let place = |name: &str| plan.out.join(name);
    let card = card::html(&plan, &found, &outcome);
    for (name, bytes) in [
        ("model.uc", outcome.file.to_bytes()),
        ("scores.csv", outcome.scores_csv().into_bytes()),
        ("importances.csv", importances_csv(&outcome).into_bytes()),
        ("card.html", card.into_bytes()),
    ] {
        output::check_output(&place(name), &[&plan.file])?;
        output::write_atomic(&place(name), &bytes)?;
    }
    if plan.json { output::line(object(&plan, &found, &outcome)) } else { lines(&plan, &found, &outcome) }
}

fn importances_csv(outcome: &Outcome) -> String {
    let mut text = String::from("column,loss,sd\n");
    for one in &outcome.importances {
        let _ = writeln!(text, "{},{},{}", table::cell(&one.column), one.loss, one.sd);
    }
    text
}

/// For people.
fn lines(plan: &Plan, found: &find::Found, outcome: &Outcome) -> Result<()> {
    let say = |text: String| output::line(wrap(&text, 2));
    let width = plan.candidates.iter().map(|candidate| candidate.name.len()).max().unwrap_or(0).max(6);
    let parts = &outcome.parts;
    say(format!(
        "{}: {} rows ({} positive) to train on, {} ({} positive) set aside",
        plan.file.display(),
        parts.train_rows,
        parts.train_positives,
        parts.test_rows,
        parts.test_positives
    ))?;
    for name in &found.away {
        say(format!(
            "\"{name}\" alone ranks the label almost perfectly: if it is not known in time, --ignore {}",
            shell(name)
        ))?;
    }
    output::line(format!(
        "\n{:width$}  {} ± sd over {} folds   ahead of ce [95 %]",
        "method", plan.metric, plan.folds
    ))?;
    for row in &outcome.rows {
        let ahead =
            row.ahead.map_or(String::new(), |[mean, low, high]| format!("   {mean:+.4} [{low:+.4}, {high:+.4}]"));
        output::line(format!("{:width$}  {:.4} ± {:.4}{ahead}", row.name, row.mean, row.sd))?;
    }
    say(format!("\n{}", outcome.verdict))?;
    output::line("")?;
    for figure in &outcome.figures {
        say(format!("{}: {}", figure.name, figure.text()))?;
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
    let rows = outcome.rows.iter().map(|row| {
        json!({"name": row.name, "mean": row.mean, "sd": row.sd, "folds": row.values,
            "ahead": row.ahead.map(|ahead| ahead[0]), "interval": row.ahead.map(|ahead| [ahead[1], ahead[2]])})
    });
    let figures = outcome
        .figures
        .iter()
        .map(|figure| (figure.key.to_string(), json!({"value": figure.value, "interval": figure.interval})));
    json!({
        "metric": plan.metric, "shipped": outcome.shipped, "beyond_noise": outcome.beyond, "verdict": outcome.verdict,
        "compared": rows.collect::<Vec<_>>(),
        "figures": figures.collect::<serde_json::Map<_, _>>(),
        "threshold": outcome.threshold, "threshold_interval": outcome.threshold_interval,
        "importances": outcome.importances.iter()
            .map(|one| json!({"column": one.column, "loss": one.loss, "sd": one.sd})).collect::<Vec<_>>(),
        "gives_away": found.away, "folder": plan.out.display().to_string(),
    })
}
