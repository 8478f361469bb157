//! `undercurve decide`: another threshold, and probabilities, for a model that is there.

use crate::args::data::Layout;
use crate::args::decide::{self, CALIBRATE, How};
use crate::args::words;
use crate::cmd::eval;
use crate::error::{CliError, Result};
use crate::input;
use crate::output;
use crate::tell::scores;
use crate::tell::threshold::{calibration_json, calibration_text, choose};
use serde_json::json;
use std::path::PathBuf;
use undercurve::Real;
use undercurve::checkpoint::SavedModel;
use undercurve::data::Target;
use undercurve::decision::ThresholdRule;

/// Options of `decide`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Thresholds are scores. A rule finds one on DATA: fpr<=A, precision>=P and recall>=R keep a rate there and give the most of the
other; top:K and top:S% are a budget of alerts, at most so many of these rows (of others about that share); costs:FP:FN[:SHARE] is
the cheapest, where a share of rows is positive [default: that of DATA]. Where no threshold keeps a rule, nothing is written.

DATA should be rows that the model was not trained on, and not those that it is tested on.

Examples:
  undercurve decide data.model recent.csv --threshold \"precision>=0.9\" --out precise.model
  undercurve decide data.model recent.csv --threshold top:2% --calibrate isotonic --out alerts.model

Exit code: 0, or 2 for bad input and rules that no threshold keeps.")]
pub struct Args {
    /// A file that `train --out` or `--save` wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Labelled rows with the columns of training; - is stdin
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// Only the rows that `train --split` held out; DATA is the file of training
    #[arg(long)]
    held_out: bool,
    /// The rule of the threshold: fpr<=A, precision>=P, recall>=R, top:K, top:S%, costs:FP:FN[:SHARE], or a score
    #[arg(long, value_name = "RULE", value_parser = decide::rule, allow_negative_numbers = true)]
    #[arg(required_unless_present = "calibrate")]
    threshold: Option<ThresholdRule>,
    /// What turns scores into probabilities: none, platt (a logistic curve) or isotonic (any increasing function, for a thousand
    /// rows of each class and more)
    #[arg(long, value_name = "HOW", hide_possible_values = true, value_parser = words(CALIBRATE))]
    calibrate: Option<How>,
    /// Write the model with them to FILE
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    layout: Layout,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<()> {
    output::check_output(&args.out, &[&args.model, &args.data])?;
    let saved = input::saved(&args.model)?;
    match saved.real_bytes {
        4 => run_in::<f32>(args, saved),
        _ => run_in::<f64>(args, saved),
    }
}

fn run_in<T: Real>(args: Args, mut saved: SavedModel) -> Result<()> {
    let Args { model: path, data: file, held_out, threshold, calibrate, out, layout, json } = args;
    if saved.preparation.target() != Target::Binary {
        return Err(CliError::input(format!("{}: decisions are for a model of two classes", path.display())));
    }
    let mut model = input::model::<T>(&path, &saved)?;
    let table = input::table_again(&file, layout, &saved.preparation)?;
    let mut data = saved.preparation.apply::<T>(&table)?;
    let name = file.display().to_string();
    if held_out {
        data = eval::held_out(&path, &saved, &model, &data, &name)?;
    }
    data.require_every_class(&name)?;
    input::notes(&data, &name, saved.preparation.group_names().len());
    let scores = scores(&mut model, &data)?;
    let on = if held_out { format!("{name} (held out)") } else { name };
    let mut object = json!({ "rows": data.len(), "positives": data.positives() });
    let mut lines = Vec::new();
    if let Some(rule) = threshold {
        let threshold = choose(rule, &scores, data.truth(), &on)?;
        (saved.threshold, saved.decided) = (threshold.at(), Some(threshold.decided().clone()));
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
    if json {
        return output::line(object);
    }
    lines.push(format!("The model is in {}", out.display()));
    lines.into_iter().try_for_each(output::line)
}
