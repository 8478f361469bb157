//! The decision file: a threshold on scores of any program, as JSON, with the rule behind it and what it was chosen on.

use crate::error::{CliError, Result};
use crate::input::labelled::Columns;
use crate::tell::threshold::finite;
use serde::{Deserialize, Serialize};
use std::path::Path;
use undercurve::decision::ThresholdRule;
use undercurve::metric::Confusion;

/// What it says. Scores from `threshold` up are decided positive; without one, none is.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecisionFile {
    /// The version of the format.
    pub undercurve_decision: u32,
    /// As `--threshold` reads it.
    rule: String,
    pub threshold: Option<f64>,
    /// The file of the rows that it was chosen on.
    pub chosen_on: String,
    /// By weight, as the next four.
    #[serde(serialize_with = "whole")]
    pub rows: f64,
    #[serde(serialize_with = "whole")]
    pub true_positives: f64,
    #[serde(serialize_with = "whole")]
    pub false_positives: f64,
    #[serde(serialize_with = "whole")]
    pub true_negatives: f64,
    #[serde(serialize_with = "whole")]
    pub false_negatives: f64,
    /// The columns of that file.
    pub label: String,
    pub score: String,
    pub positive: Option<String>,
    pub cluster: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
}

/// A whole number as one.
fn whole<S: serde::Serializer>(count: &f64, to: S) -> std::result::Result<S::Ok, S::Error> {
    if count.fract() == 0.0 { to.serialize_u64(*count as u64) } else { to.serialize_f64(*count) }
}

const VERSION: u32 = 1;

impl DecisionFile {
    /// Of a threshold and its counts.
    pub fn new(
        rule: ThresholdRule,
        at: f64,
        on: &str,
        counts: Confusion<f64>,
        columns: Columns,
        [cluster, weight]: [Option<String>; 2],
    ) -> Self {
        let Columns { label, score, positive } = columns;
        Self {
            undercurve_decision: VERSION,
            rule: rule.to_string(),
            threshold: finite(at),
            chosen_on: on.to_string(),
            rows: counts.total(),
            true_positives: counts.true_positives,
            false_positives: counts.false_positives,
            true_negatives: counts.true_negatives,
            false_negatives: counts.false_negatives,
            label,
            score,
            positive,
            cluster,
            weight,
        }
    }

    /// Whether a file begins as one.
    pub fn is_one(path: &Path) -> bool {
        use std::io::Read as _;
        let mut first = [0; 64];
        let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut first)).unwrap_or(0);
        first[..read].trim_ascii_start().starts_with(b"{")
    }

    /// Reads one.
    ///
    /// # Errors
    /// `Input` for anything else.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| CliError::file(path, &error))?;
        let none = |why: String| CliError::input(format!("{}: is no decision file: {why}", path.display()));
        let file: Self = serde_json::from_str(&text).map_err(|error| none(error.to_string()))?;
        if file.undercurve_decision != VERSION {
            return Err(none(format!(
                "version {} of the format, and this program reads {VERSION}",
                file.undercurve_decision
            )));
        }
        file.rule()?;
        Ok(file)
    }

    /// # Errors
    /// `Input` where it is none.
    pub fn rule(&self) -> Result<ThresholdRule> {
        self.rule
            .parse()
            .map_err(|_| CliError::input(format!("rule {:?}: expected {}", self.rule, ThresholdRule::FORMS)))
    }

    /// Scores from here up are decided positive.
    pub fn at(&self) -> f64 {
        self.threshold.unwrap_or(f64::INFINITY)
    }

    pub fn columns(&self) -> Columns {
        Columns { label: self.label.clone(), score: self.score.clone(), positive: self.positive.clone() }
    }

    pub fn text(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self).map_err(|error| anyhow::anyhow!("{error}"))?;
        Ok(format!("{text}\n"))
    }
}
