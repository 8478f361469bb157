//! Constraints of a run or a model: what is said of each, as text and as JSON, and the exit code.

use crate::error::{CliError, Result};
use crate::output;
use serde_json::{Value, json};
use undercurve::Real;
use undercurve::expression::Expression;
use undercurve::judge::{Judged, Scored, Verdict};
use undercurve::metric::Metrics;

/// `--constraint`, for clap.
pub fn parse(text: &str) -> std::result::Result<Expression, String> {
    Expression::parse(text).map_err(|error| error.to_string())
}

/// What `--constraint` understands, for help texts.
pub const HELP: &str = "\
Constraints: gap(fpr) <= 0.05, gap(tpr) <= 0.05, gap(fpr@0.1) <= 0.02 (at one false-positive rate over all groups),
recall >= 0.85, fpr <= 0.2, precision >= 0.9, loss <= 0.3, each of all rows or of a group, recall[Female] >= 0.8, from
score 0 up; loss(FILE) <= 0.3 on the rows of a file. Each is met, not met, or, within the noise of so few rows, cannot be told.";

/// One constraint on one part of the data.
pub struct Told<'a> {
    pub part: &'a str,
    pub judged: Judged,
    /// Of that part.
    pub groups: &'a [String],
}

/// Judges a constraint on some rows.
pub fn judge<T: Real>(constraint: &Expression, on: &Scored<'_, T>, memory: &mut Metrics<T>) -> Result<Judged> {
    let judged = constraint.judge(on, T::ZERO, memory);
    judged.map_err(|error| CliError::input(format!("--constraint {constraint}: {error}")))
}

impl Told<'_> {
    pub fn text(&self) -> String {
        let Judged { value, noise, groups, rows, .. } = self.judged;
        let value = value.map_or("–".to_string(), |value| format!("{value:.4}"));
        let noise = if noise.is_finite() { format!(" ± {noise:.4}") } else { String::new() };
        let of = match groups {
            Some([a, b]) => {
                let name = |group: u32| &self.groups[group as usize];
                format!("{} ({} rows) and {} ({})", name(a), rows[0], name(b), rows[1])
            }
            None => format!("{} rows", rows[0]),
        };
        format!("{} {value}{noise} of {of}", self.part)
    }

    pub fn json(&self) -> Value {
        let Judged { value, bound, noise, groups, rows, verdict } = self.judged;
        let mut object = json!({
            "value": value, "bound": bound, "noise": noise.is_finite().then_some(noise), "verdict": verdict.to_string(),
        });
        match groups {
            Some(groups) => {
                object["groups"] = json!(groups.map(|group| &self.groups[group as usize]));
                object["rows"] = json!(rows);
            }
            None => object["rows"] = rows[0].into(),
        }
        object
    }
}

/// How many hold, in one line.
pub fn sentence(verdicts: &[Verdict]) -> String {
    let count = |wanted: Verdict| verdicts.iter().filter(|&&verdict| verdict == wanted).count();
    let (met, not, all) = (count(Verdict::Met), count(Verdict::NotMet), verdicts.len());
    let some = |count: usize, what: &str| if count > 0 { format!(", {count} {what}") } else { String::new() };
    let first = if met == 0 { "no constraint is met".to_string() } else { format!("{met} of {all} constraints met") };
    format!("{first}{}{}", some(not, "not met"), some(all - met - not, "cannot be told from so few rows"))
}

/// Prints what is said of every constraint of a model on one part, after its metrics.
///
/// # Errors
/// `Unmet` where one is not met and all have to be.
pub fn print(constraints: &[Expression], told: &[Told<'_>], require: bool, json: bool) -> Result<()> {
    let verdicts: Vec<Verdict> = told.iter().map(|told| told.judged.verdict).collect();
    let sentence = sentence(&verdicts);
    if json {
        let of = |(constraint, told): (&Expression, &Told<'_>)| {
            let mut object = told.json();
            object["target"] = constraint.to_string().into();
            object
        };
        output::line(json!({"constraints": Value::from_iter(constraints.iter().zip(told).map(of))}))?;
    } else {
        output::line("")?;
        for (constraint, told) in constraints.iter().zip(told) {
            output::line(format!("{constraint}: {}: {}", told.judged.verdict, told.text()))?;
        }
        let mut sentence = sentence.clone();
        sentence[..1].make_ascii_uppercase();
        output::line(format!("{sentence}."))?;
    }
    if require && verdicts.contains(&Verdict::NotMet) { Err(CliError::Unmet(sentence)) } else { Ok(()) }
}
