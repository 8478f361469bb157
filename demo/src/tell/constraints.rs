//! Constraints of a run or a model: what is said of each, as text and as JSON, and the exit code.

use crate::error::{CliError, Result};
use crate::output;
use crate::tell::by_group::{self, Grouping, Table};
use crate::tell::scores;
use serde_json::{Value, json};
use std::sync::Arc;
use undercurve::Real;
use undercurve::data::Dataset;
use undercurve::expression::{Expression, Quantity};
use undercurve::judge::{Judged, Scored, Verdict};
use undercurve::measure::{self, Groups, Metric, Needs};
use undercurve::metric::Metrics;
use undercurve::trainer::{Predictor, Tracked, Trainer, Watch};

/// Rows of files, by the names that constraints call them.
pub type Named<T> = Vec<(String, Arc<Dataset<T>>)>;

/// `--constraint`, for clap.
pub fn parse(text: &str) -> std::result::Result<Expression, String> {
    Expression::parse(text).map_err(|error| error.to_string())
}

/// What `--constraint` understands, for help texts.
pub const HELP: &str = "\
Constraints: gap(fpr) <= 0.05, gap(tpr) <= 0.05, gap(fpr@0.1) <= 0.02 (at one false-positive rate over all groups),
recall >= 0.85, fpr <= 0.2, precision >= 0.9, loss <= 0.3, each of all rows or of a group, recall[Female] >= 0.8, from
score 0 up; loss(FILE) <= 0.3 on the rows of a file, loss(FILE) <= old or old + 0.01 against the model of --start. Each is met, not met, or (too few rows for the noise) cannot be told.";

/// One constraint on one part of the data.
pub struct Line<'a> {
    pub part: &'a str,
    pub judged: Judged,
    /// Of that part.
    pub groups: &'a [String],
}

/// Rows with the scores of a model, and those of the model before it, if there is one.
pub struct Rows<'a, T: Real> {
    pub data: &'a Dataset<T>,
    pub scores: Vec<T>,
    pub old: Vec<T>,
}

impl<'a, T: Real> Rows<'a, T> {
    pub fn new(data: &'a Dataset<T>, model: &mut Predictor<T>, old: Option<&mut Predictor<T>>) -> Result<Self> {
        let old = old.map_or(Ok(Vec::new()), |old| scores(old, data))?;
        Ok(Self { data, scores: scores(model, data)?, old })
    }

    /// What is said of a constraint on them.
    fn line(&self, part: &'a str, constraint: &Expression) -> Result<Line<'a>> {
        Ok(Line { part, judged: self.judge(constraint)?, groups: self.data.group_names() })
    }

    /// Judges a constraint on them.
    pub fn judge(&self, constraint: &Expression) -> Result<Judged> {
        let Self { data, scores, old } = self;
        let (labels, group_of, group_names) = (data.labels(), data.group_of(), data.group_names());
        let judged =
            constraint.judge(&Scored { scores, labels, group_of, group_names, old }, T::ZERO, &mut Metrics::new());
        judged.map_err(|error| CliError::input(format!("--constraint {constraint}: {error}")))
    }
}

impl Line<'_> {
    /// Of what cannot be told, what would tell.
    pub fn wants(&self, constraint: &Expression) -> Option<String> {
        if self.judged.verdict != Verdict::CannotTell {
            return None;
        }
        let (rows, names) =
            (constraint.quantity.rows(), self.judged.groups.map(|of| of.map(|of| &self.groups[of as usize])));
        let Some(more) = self.judged.more() else {
            return Some(match self.judged.value {
                Some(_) => "it lies at its bound: no number of rows would tell".to_string(),
                None => format!("there are no such {rows}"),
            });
        };
        Some(match (names, more.rows) {
            (Some([a, b]), [m, n]) if m > 0 && n > 0 => {
                format!("some {m} more {rows} of {a} and {n} of {b} would tell, at this value")
            }
            (Some([a, _]), [m, 0]) => format!("some {m} more {rows} of {a} would tell, at this value"),
            (Some([_, b]), [_, n]) => format!("some {n} more {rows} of {b} would tell, at this value"),
            (None, [n, _]) => match constraint.quantity.group() {
                Some(group) => format!("some {n} more {rows} of {group} would tell, at this value"),
                None => format!("some {n} more {rows} would tell, at this value"),
            },
        })
    }

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
        let Judged { value, bound, noise, groups, rows, verdict, .. } = self.judged;
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
        if let Some(more) = self.judged.more() {
            object["more_rows"] = if groups.is_some() { json!(more.rows) } else { more.rows[0].into() };
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

/// What is required of constraints: that all are met.
///
/// # Errors
/// `Unmet` where one is not, else `Untold` where one cannot be told.
pub fn required(verdicts: &[Verdict], sentence: String) -> Result<()> {
    if verdicts.contains(&Verdict::NotMet) {
        return Err(CliError::Unmet(sentence));
    }
    if verdicts.contains(&Verdict::CannotTell) { Err(CliError::Untold(sentence)) } else { Ok(()) }
}

/// Prints what is said of every constraint of a model on one part, after its metrics.
///
/// # Errors
/// Where all have to be met, as [`required`].
pub fn print(constraints: &[Expression], told: &[Line<'_>], require: bool, json: bool) -> Result<()> {
    let verdicts: Vec<Verdict> = told.iter().map(|told| told.judged.verdict).collect();
    let sentence = sentence(&verdicts);
    if json {
        let of = |(constraint, told): (&Expression, &Line<'_>)| {
            let mut object = told.json();
            object["target"] = constraint.to_string().into();
            object
        };
        output::line(json!({"constraints": Value::from_iter(constraints.iter().zip(told).map(of))}))?;
    } else {
        output::line("")?;
        for (constraint, told) in constraints.iter().zip(told) {
            let wants = told.wants(constraint).map_or_else(String::new, |wants| format!("; {wants}"));
            output::line(format!("{constraint}: {}: {}{wants}", told.judged.verdict, told.text()))?;
        }
        let mut sentence = sentence.clone();
        sentence[..1].make_ascii_uppercase();
        output::line(format!("{sentence}."))?;
    }
    if require { required(&verdicts, sentence) } else { Ok(()) }
}

/// What is said of constraints and groups at the end of a run.
pub struct Ended {
    lines: Vec<String>,
    constraints: Vec<Value>,
    verdicts: Vec<Verdict>,
    tables: Vec<(&'static str, String, Value)>,
}

/// The last line's part, and the verdicts that it is of.
pub struct Told {
    pub text: String,
    pub verdicts: Vec<Verdict>,
}

impl Ended {
    /// Measures a run's model on all its rows, each part by itself (what is said last is of the test rows, else of the validation
    /// rows), and on those of the files whose loss is bounded, some of which are held out;
    /// rates of groups from `threshold`.
    pub fn of<T: Real>(
        trainer: &Trainer<T>,
        model: &mut Predictor<T>,
        watch: &Watch,
        valid: Option<&Dataset<T>>,
        held_out: &Named<T>,
        threshold: Option<f64>,
    ) -> Result<Self> {
        let (train, test) = (trainer.train_data().clone(), trainer.test_data().cloned());
        let known = train.groups();
        let mut ended = Self { lines: Vec::new(), constraints: Vec::new(), verdicts: Vec::new(), tables: Vec::new() };
        let mut memory = Metrics::new();
        let mut old = trainer.start().cloned();
        let mut parts = Vec::new();
        for (part, data) in [("train", Some(&*train)), ("valid", valid), ("test", test.as_deref())] {
            if let Some(data) = data {
                parts.push((part, Rows::new(data, model, old.as_mut())?));
            }
        }
        let tracked = watch.tracked(trainer);
        let done = trainer.is_done();
        for (at, constraint) in watch.constraints().iter().enumerate() {
            let lines: Result<Vec<Line<'_>>> = match &constraint.quantity {
                Quantity::LossOn { file } => {
                    let files = [("train", trainer.files()), ("test", held_out)].into_iter();
                    let named = files.flat_map(|(part, files)| files.iter().map(move |of| (part, of)));
                    let named = named.filter(|(_, (name, _))| name == file);
                    named
                        .map(|(part, (_, data))| Rows::new(data, model, old.as_mut())?.line(part, constraint))
                        .collect()
                }
                _ => parts.iter().map(|(part, rows)| rows.line(part, constraint)).collect(),
            };
            ended.add_constraint(watch, (at, done), tracked[at], &lines?);
        }
        for (part, Rows { data, scores, .. }) in &parts {
            if data.group_of().is_empty() {
                continue;
            }
            let grouping = Grouping { of: data.group_of(), names: data.group_names(), known };
            let wide: Vec<f64> = scores.iter().map(|score| score.f64()).collect();
            let table = Table::new(&mut memory, &wide, data.labels(), grouping, threshold.unwrap_or(0.0))?;
            let (mut text, mut json) = (table.text(), json!({"groups": table.json()}));
            let groups = Some(Groups { of: grouping.of, count: grouping.names.len() });
            let rows = measure::Rows { groups, ..measure::Rows::new(&wide, data.labels().into()) };
            for gap in Metric::usual(false, false, false, true).iter().filter(|gap| gap.entry().needs == Needs::Groups)
            {
                let found = rows.find(gap, &mut memory)?;
                let figure = found.value.map_or_else(String::new, |value| format!("{value:.4}"));
                text += &format!("\n{gap} {figure}{}", by_group::note(&found, data.group_names()));
                json[gap.name()] = by_group::detail(&found, data.group_names()).into();
            }
            ended.tables.push((part, text, json));
        }
        Ok(ended)
    }

    fn add_constraint(
        &mut self,
        watch: &Watch,
        (at, done): (usize, bool),
        tracked: Option<Tracked>,
        lines: &[Line<'_>],
    ) {
        let constraint = &watch.constraints()[at];
        let conflict = lines.first().is_some_and(|train| watch.conflict(at, &train.judged));
        let verdict = lines.last().map_or(Verdict::CannotTell, |line| line.judged.verdict);
        let parts: Vec<String> = lines.iter().map(Line::text).collect();
        let (mut along, mut object) = (String::new(), json!({"target": constraint.to_string()}));
        if let Some(Tracked { value, dual, bound }) = tracked {
            let most = if bound.is_finite() { format!(" of {bound}") } else { String::new() };
            along = format!("; tracked {value:+.4}, dual {dual:.3}{most}");
            object["surrogate"] = value.is_finite().then_some(value).into();
            object["dual"] = dual.into();
            object["dual_bound"] = bound.is_finite().then_some(bound).into();
        }
        if let Some(share) = watch.at_bound(at) {
            if conflict {
                along += &format!(", at its bound and violated in {:.0} % of the last quarter", 100.0 * share);
            }
            object["at_bound"] = share.into();
        } else if done && tracked.is_some() {
            along += ", conflict not known: resumed at its end";
        }
        if let Some(wants) = lines.last().and_then(|line| line.wants(constraint)) {
            along += &format!("; {wants}");
        }
        let conflicts = if conflict { ", conflict" } else { "" };
        self.lines.push(format!("{constraint}: {verdict}{conflicts}: {}{along}", parts.join("; ")));
        object["verdict"] = verdict.to_string().into();
        object["conflict"] = conflict.into();
        for line in lines {
            object[line.part] = line.json();
        }
        self.constraints.push(object);
        self.verdicts.push(verdict);
    }

    /// For people: a line for each constraint, and the groups of the test rows, or else of the training rows.
    pub fn text(&self) -> String {
        let table = self.tables.last().map(|(part, text, _)| format!("\n{part}: {text}"));
        self.lines.iter().cloned().chain(table).collect::<Vec<_>>().join("\n")
    }

    /// For programs.
    pub fn add(&self, totals: &mut Value) {
        if !self.constraints.is_empty() {
            totals["constraints"] = Value::from_iter(self.constraints.iter().cloned());
        }
        for (part, _, json) in &self.tables {
            totals[format!("{part}_groups")] = json.clone();
        }
    }

    /// How many hold; `None` where nothing was asked.
    pub fn sentence(&self) -> Option<Told> {
        let verdicts = self.verdicts.clone();
        (!verdicts.is_empty()).then(|| Told { text: sentence(&verdicts), verdicts })
    }
}
