//! `undercurve decide`: a threshold for a saved model or for anyone's scores, whether it still holds, and decisions by it.

mod apply;
mod file;
mod recheck;

use crate::args::decide::{self, CALIBRATE, How};
use crate::args::layout::Layout;
use crate::args::words;
use crate::cmd::eval;
use crate::error::{CliError, Result};
use crate::input::labelled::{self, Columns, Labelled};
use crate::output;
use crate::tell::scores;
use crate::tell::threshold::{calibration_json, calibration_text, choose};
use crate::{input, tell::threshold::Threshold};
use file::DecisionFile;
use recheck::Check;
use serde_json::json;
use std::path::{Path, PathBuf};
use undercurve::Real;
use undercurve::checkpoint::SavedModel;
use undercurve::data::Target;
use undercurve::decision::ThresholdRule;
use undercurve::metric::Truth;

/// Options of `decide`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
A rule finds the threshold: fpr<=A, precision>=P and recall>=R keep a rate on these rows and give the best of the other; with @90%
behind it the rate is kept on rows that nobody has seen, in 90 of 100 choices, or the message says about how many more
labelled rows that would take. alerts<=K and alerts<=S% are a budget (K alerts in files of this size, and that share of others); youden,
f1, mcc and costs:FP:FN[:SHARE] are best in these, the cheapest where a share of rows is positive [default: that of the rows]. A threshold
lies between two scores. Where none keeps a rule, nothing is written.

The rows should be some that the model was not trained on, and not those that it is tested on.

With one file: a CSV of labels and scores of any program, and --out writes a decision file (JSON: score >= threshold), which --apply
and --recheck read. --recheck tells by an exact test of each side whether the rule holds on new labelled rows: met, broken, or they
cannot tell.

Examples:
  undercurve decide data.model recent.csv --threshold \"precision>=0.9\" --out precise.model
  undercurve decide scores.csv --threshold \"precision>=0.9@90%\" --cluster patient --out alerts.json
  undercurve decide alerts.json --apply new.csv --id patient --out decided.csv
  undercurve decide alerts.json --recheck labelled.csv

Exit code: 0; 2 for bad input and rules that no threshold keeps; of --recheck 3 where the rule is broken, and 4 where the rows cannot
tell.")]
pub struct Args {
    /// A file that `train --out` or `--save` wrote; a CSV of labels and scores; or a decision file
    #[arg(value_name = "MODEL|SCORES|DECISION")]
    of: PathBuf,
    /// For a model: labelled rows with the columns of training; - is stdin
    #[arg(value_name = "DATA")]
    data: Option<PathBuf>,
    /// Only the rows that `train --split` held out; DATA is the file of training
    #[arg(long, requires = "data")]
    held_out: bool,
    /// The rule of the threshold: fpr<=A, precision>=P, recall>=R (with @90% behind it to hold on other rows with that confidence),
    /// alerts<=K, alerts<=S%, youden, f1, mcc, costs:FP:FN[:SHARE], or a score
    #[arg(long, value_name = "RULE", value_parser = decide::rule, allow_negative_numbers = true)]
    #[arg(required_unless_present_any = ["calibrate", "recheck", "apply"])]
    threshold: Option<ThresholdRule>,
    /// For a model: what turns scores into probabilities: none, platt (a logistic curve), isotonic (any increasing function, for a thousand
    /// rows of each class and more), beta (a curve with two slopes) or auto (the best of these by log loss on rows held out)
    #[arg(long, value_name = "HOW", hide_possible_values = true, value_parser = words(CALIBRATE))]
    calibrate: Option<How>,
    /// Whether the rule of a model or of a decision file still holds on these labelled rows
    #[arg(long, value_name = "FILE", conflicts_with_all = ["data", "threshold", "calibrate", "apply", "out"])]
    recheck: Option<PathBuf>,
    /// The decisions of a decision file on the scores of FILE, which needs no labels
    #[arg(long, value_name = "FILE", conflicts_with_all = ["data", "threshold", "calibrate", "cluster", "label", "positive", "json"])]
    apply: Option<PathBuf>,
    /// Columns to write beside the decisions, with commas between them
    #[arg(long, value_name = "COLS", value_delimiter = ',', requires = "apply")]
    id: Vec<String>,
    /// The column whose values are clusters (patients, sites) of which only whole ones are independent
    #[arg(long, value_name = "COL")]
    cluster: Option<String>,
    /// The label column of a file of scores, by name or by number from 1 (-1 is the last) [default: label]
    #[arg(long, value_name = "COL", allow_hyphen_values = true, conflicts_with = "data")]
    label: Option<String>,
    /// The score column, likewise; a higher score means rather positive [default: score]
    #[arg(long, value_name = "COL", allow_hyphen_values = true, conflicts_with = "data")]
    score: Option<String>,
    /// Label value that counts as positive [default: the larger of two numbers; of two words yes, true or positive, else the rarer]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true, conflicts_with = "data")]
    positive: Option<String>,
    /// The column that says what each row counts: a row is one draw that stands for so many
    #[arg(long, value_name = "COL", conflicts_with_all = ["data", "recheck", "apply"])]
    weight: Option<String>,
    /// Write the model with them, or the decision file, to FILE
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    layout: Layout,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What is to be done.
enum Plan {
    Model(OfModel),
    Scores(OfScores),
    Check(Check),
    Apply {
        file: DecisionFile,
        new: PathBuf,
        score: Option<String>,
        id: Vec<String>,
        layout: Layout,
        out: Option<PathBuf>,
    },
}

/// A threshold and probabilities for a model.
struct OfModel {
    model: PathBuf,
    data: PathBuf,
    held_out: bool,
    threshold: Option<ThresholdRule>,
    calibrate: Option<How>,
    cluster: Option<String>,
    out: PathBuf,
    layout: Layout,
    json: bool,
}

/// A threshold on anyone's scores.
struct OfScores {
    file: PathBuf,
    rule: ThresholdRule,
    columns: Columns,
    cluster: Option<String>,
    weight: Option<String>,
    out: Option<PathBuf>,
    layout: Layout,
    json: bool,
}

impl Args {
    fn check(self) -> Result<Plan> {
        let Self {
            of,
            data,
            held_out,
            threshold,
            calibrate,
            cluster,
            label,
            score,
            positive,
            weight,
            out,
            layout,
            json,
            ..
        } = self;
        if let Some(path) = &out {
            let inputs = [Some(&of), data.as_ref(), self.apply.as_ref()];
            output::check_output(path, &inputs.into_iter().flatten().map(PathBuf::as_path).collect::<Vec<_>>())?;
        }
        if let Some(new) = self.recheck {
            return Ok(Plan::Check(Check { of, new, layout, columns: [label, score, positive], cluster, json }));
        }
        if let Some(new) = self.apply {
            return Ok(Plan::Apply { file: DecisionFile::read(&of)?, new, score, id: self.id, layout, out });
        }
        match (data, threshold) {
            (Some(data), _) => {
                let out =
                    out.ok_or_else(|| CliError::input("--out FILE: is where the model with the decision goes"))?;
                Ok(Plan::Model(OfModel { model: of, data, held_out, threshold, calibrate, cluster, out, layout, json }))
            }
            (None, Some(rule)) if calibrate.is_none() => {
                let [label, score] =
                    [(label, "label"), (score, "score")].map(|(name, usual)| name.unwrap_or_else(|| usual.to_string()));
                Ok(Plan::Scores(OfScores {
                    file: of,
                    rule,
                    columns: Columns { label, score, positive },
                    cluster,
                    weight,
                    out,
                    layout,
                    json,
                }))
            }
            (None, _) => Err(CliError::input("--calibrate: is of a model and its DATA")),
        }
    }
}

pub fn run(args: Args) -> Result<()> {
    match args.check()? {
        Plan::Check(check) => check.run(),
        Plan::Apply { file, new, score, id, layout, out } => {
            let score = score.unwrap_or_else(|| file.score.clone());
            apply::run(&file, &new, &score, &id, layout, out.as_deref())
        }
        Plan::Scores(plan) => plan.run(),
        Plan::Model(plan) => {
            let saved = input::saved(&plan.model)?;
            match saved.real_bytes {
                4 => plan.run::<f32>(saved),
                _ => plan.run::<f64>(saved),
            }
        }
    }
}

/// A model in place of scores is an easy slip, and no CSV.
fn refuse_models(path: &Path) -> Result<()> {
    if path != Path::new("-") && input::saved(path).is_ok() {
        return Err(CliError::input(format!(
            "{}: is a model, whose threshold is chosen on the rows of DATA",
            path.display()
        )));
    }
    Ok(())
}

impl OfScores {
    fn run(self) -> Result<()> {
        let Self { file, rule, columns, cluster, weight, out, layout, json } = self;
        refuse_models(&file)?;
        let on = file.display().to_string();
        let named = [cluster.as_deref(), weight.as_deref()];
        let Labelled { scores, labels, weights, clusters } = columns.read(&file, layout, named)?;
        let threshold = choose(rule, &scores, Truth::new(&labels, &weights)?, clusters.as_deref(), &on)?;
        let positives = labels.iter().filter(|&&label| label == 1).count();
        let mut object = json!({ "rows": labels.len(), "positives": positives, "threshold": threshold.json() });
        let mut lines = vec![threshold.text()];
        if let Some(clusters) = &clusters {
            let mut all = clusters.clone();
            all.sort_unstable();
            all.dedup();
            object["clusters"] = all.len().into();
            lines.push(format!("For rows like these in clusters, of which there are {}", all.len()));
        }
        if let (Some(path), Some(counts)) = (&out, threshold.decided().counts) {
            let file = DecisionFile::new(rule, threshold.at(), &on, counts, columns, [cluster, weight]);
            output::write_atomic(path, file.text()?.as_bytes())?;
            lines.push(format!("The decision is in {}", path.display()));
        }
        tell(object, lines, json)
    }
}

fn tell(object: serde_json::Value, lines: Vec<String>, json: bool) -> Result<()> {
    if json { output::line(object) } else { lines.into_iter().try_for_each(output::line) }
}

impl OfModel {
    fn run<T: Real>(self, mut saved: SavedModel) -> Result<()> {
        let Self { model: path, data: file, held_out, threshold, calibrate, cluster, out, layout, json } = self;
        if saved.preparation.target() != Target::Binary {
            return Err(CliError::input(format!("{}: decisions are for a model of two classes", path.display())));
        }
        let mut model = input::model::<T>(&path, &saved)?;
        let table = input::table_again(&file, layout, &saved.preparation)?;
        let mut data = saved.preparation.apply::<T>(&table)?;
        let name = file.display().to_string();
        if let Some(column) = &cluster {
            data = labelled::clustered(&saved.preparation, &table, data, column)?;
        }
        if held_out {
            data = eval::held_out(&path, &saved, &model, &data, &name)?;
        }
        data.require_every_class(&name)?;
        input::notes(&data, &name, saved.preparation.group_names().len(), false);
        let scores = scores(&mut model, &data)?;
        let on = if held_out { format!("{name} (held out)") } else { name };
        let mut object = json!({ "rows": data.len(), "positives": data.positives() });
        let mut lines = Vec::new();
        if let Some(rule) = threshold {
            let clusters = data.queries().filter(|_| cluster.is_some()).map(|queries| queries.of());
            let threshold: Threshold = choose(rule, &scores, data.truth(), clusters, &on)?;
            (saved.threshold, saved.decided) = (Some(threshold.at()), Some(threshold.decided().clone()));
            object["threshold"] = threshold.json();
            lines.push(threshold.text());
        }
        if let Some(how) = calibrate {
            saved.calibrated = None;
            if let Some(how) = how {
                saved.calibrate(how, &scores, data.truth(), &on)?;
            }
            if let Some(calibrated) = &saved.calibrated {
                object["calibration"] = calibration_json(calibrated);
                lines.push(calibration_text(calibrated));
            }
        }
        output::write_atomic(&out, &saved.to_bytes())?;
        lines.push(format!("The model is in {}", out.display()));
        tell(object, lines, json)
    }
}
