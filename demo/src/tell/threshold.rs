//! What every command tells of a threshold and of probabilities.

use crate::error::{CliError, Result};
use crate::tell::text::shell;
use serde_json::{Value, json};
use std::path::Path;
use undercurve::Real;
use undercurve::checkpoint::{Calibrated, Decided};
use undercurve::decision::{Calibration, ThresholdRule, rate_interval, rate_intervals_in};
use undercurve::metric::{Confusion, Costs, Interval, Metrics, Top, Truth};

/// Chooses a threshold on labelled scores, of the rows that `on` names; with clusters of rows as one that holds for whole clusters.
///
/// # Errors
/// `Input` where no threshold keeps the rule, with how many more rows would tell, or where it asks for more rows than there are.
pub fn choose<T: Real>(
    rule: ThresholdRule,
    scores: &[T],
    truth: Truth<'_>,
    clusters: Option<&[u32]>,
    on: &str,
) -> Result<Threshold> {
    let found = Metrics::new().decide_in(scores, truth, clusters, rule);
    let found = found.map_err(|error| match error {
        undercurve::Error::Unpromised { .. } | undercurve::Error::Unreachable { .. } => {
            CliError::input(format!("--threshold {rule}: {error} ({})", rows(on)))
        }
        undercurve::Error::Param { .. } => {
            CliError::input(format!("--threshold {rule}: there are {} rows", scores.len()))
        }
        error => error.into(),
    })?;
    let costs = rule.costs(found.counts.positives() / found.counts.total())?;
    let at = found.threshold;
    let plain = clusters.is_none() && truth.weights().is_empty();
    let ends = if plain { ends(found.counts) } else { rate_intervals_in(at, scores, truth, clusters)? };
    Ok(Threshold { decided: Decided::new(rule, on, Some(found)), at, costs, ends: Some(ends), test: None })
}

/// 95 % intervals of false-positive rate, recall and precision, as of a threshold that was fixed before.
fn ends(counts: Confusion<f64>) -> [Interval; 3] {
    let alerts = counts.true_positives + counts.false_positives;
    let of = |hits: f64, rows: f64| rate_interval(hits as u64, rows as u64);
    [
        of(counts.false_positives, counts.negatives()),
        of(counts.true_positives, counts.positives()),
        of(counts.true_positives, alerts),
    ]
}

/// What is told of a threshold.
pub struct Threshold {
    decided: Decided,
    at: f64,
    costs: Option<Costs>,
    /// Of rows without weights.
    ends: Option<[Interval; 3]>,
    /// On the test rows.
    test: Option<Confusion<f64>>,
}

impl Threshold {
    /// With what it comes to on test rows, if there are some; `weighed`: whether the rows that it was chosen on have weights.
    pub fn of<T: Real>(
        decided: &Decided,
        at: f64,
        costs: Option<Costs>,
        weighed: bool,
        test: Option<(&[T], Truth<'_>)>,
    ) -> Result<Self> {
        let test = test.map(|(scores, truth)| Confusion::at(scores, &truth, T::of(at))).transpose()?;
        let ends = decided.counts.filter(|_| !weighed).map(ends);
        Ok(Self { decided: decided.clone(), at, costs, ends, test })
    }

    /// The score.
    pub fn at(&self) -> f64 {
        self.at
    }

    /// The rule, and what the threshold came to where it was chosen.
    pub fn decided(&self) -> &Decided {
        &self.decided
    }

    /// The rows that it was chosen on, in words.
    fn on(&self) -> String {
        rows(&self.decided.on)
    }

    /// For people.
    pub fn text(&self) -> String {
        let rates = |counts: Confusion<f64>| {
            let rate = |rate: Option<f64>| rate.map_or("-".to_string(), |rate| format!("{rate:.4}"));
            let alerts = counts.true_positives + counts.false_positives;
            let cost = self.costs.zip(counts.fpr().zip(counts.tpr()));
            let cost =
                cost.map_or_else(String::new, |(costs, (fpr, tpr))| format!(", cost {:.4} a row", costs.of(fpr, tpr)));
            format!(
                "false-positive rate {}, recall {}, precision {}, {alerts} of {} rows{cost}",
                rate(counts.fpr()),
                rate(counts.tpr()),
                rate(counts.precision()),
                counts.total()
            )
        };
        let (at, rule) = (self.at, self.decided.rule);
        let on = self.decided.counts.map_or_else(String::new, rates);
        let test = self.test.map_or_else(String::new, |counts| format!("; on the test rows: {}", rates(counts)));
        format!("Threshold {at:.4} by {rule} on {}: {on}{test}{}", self.on(), self.rests())
    }

    /// What a rule without a confidence rests on.
    fn rests(&self) -> String {
        let plain = !matches!(self.decided.rule, ThresholdRule::Promised(_) | ThresholdRule::Score(_));
        let (true, Some(counts), Some(ends)) = (plain, self.decided.counts, self.ends) else { return String::new() };
        let alerts = counts.true_positives + counts.false_positives;
        let [fpr, recall, precision] = ends.map(|ends| format!("[{:.4}, {:.4}]", ends.low, ends.high));
        let others = match self.decided.rule {
            ThresholdRule::Alerts(Top::Rows(_)) => {
                format!("; in files of other sizes {:.3} % of the rows are alerts", 100.0 * alerts / counts.total())
            }
            rule if rule.promise().is_some() => format!("; {rule}@90% promises it for other rows"),
            _ => String::new(),
        };
        format!(
            "\nIt rests on {alerts} alerts: 95 % intervals false-positive rate {fpr}, recall {recall}, precision {precision}{others}"
        )
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let mut object = json!({
            "at": finite(self.at), "rule": self.decided.rule.to_string(), "chosen_on": self.decided.on,
        });
        for (prefix, counts) in [("", self.decided.counts), ("test_", self.test)] {
            let Some(counts) = counts else { continue };
            for (name, value) in [
                ("fpr", counts.fpr()),
                ("tpr", counts.tpr()),
                ("precision", counts.precision()),
                ("cost", self.costs.and_then(|costs| Some(costs.of(counts.fpr()?, counts.tpr()?)))),
            ] {
                if value.is_some() || name == "precision" {
                    object[format!("{prefix}{name}")] = value.into();
                }
            }
            object[format!("{prefix}alerts")] = count(counts.true_positives + counts.false_positives);
        }
        if let Some(ends) = self.ends {
            let [fpr, tpr, precision] = ends.map(|ends| json!([ends.low, ends.high]));
            object["intervals"] = json!({ "fpr": fpr, "tpr": tpr, "precision": precision });
        }
        object
    }
}

/// A threshold as JSON has it: none above all scores, the least number below them.
pub fn finite(at: f64) -> Option<f64> {
    (at < f64::INFINITY).then(|| at.max(f64::MIN))
}

/// What is said of a model without a threshold.
pub fn next(model: &Path) -> String {
    let model = shell(&model.display().to_string());
    format!(
        "No threshold: undercurve decide {model} ROWS --threshold \"precision>=0.8\" --out FILE chooses one on labelled rows"
    )
}

/// A count, which with weights is no whole number.
pub fn count(rows: f64) -> Value {
    if rows.fract() == 0.0 { (rows as u64).into() } else { rows.into() }
}

/// Rows that something was chosen on, in words.
pub fn rows(on: &str) -> String {
    match on {
        "training" | "validation" => format!("the {on} rows"),
        file => file.to_string(),
    }
}

/// What turns scores into probabilities, for programs.
pub fn calibration_json(calibrated: &Calibrated) -> Value {
    let mut object = json!({
        "how": calibrated.calibration.how().to_string(), "chosen_on": calibrated.on,
        "rows": count(calibrated.rows), "positives": count(calibrated.positives),
    });
    match &calibrated.calibration {
        Calibration::Platt(curve) => {
            object["slope"] = curve.slope.into();
            object["offset"] = curve.offset.into();
        }
        Calibration::Isotonic(pools) => object["pools"] = pools.len().into(),
        Calibration::Beta(beta) => {
            (object["slope"], object["offset"]) = (beta.curve.slope.into(), beta.curve.offset.into());
            object["beta"] = json!([beta.low, beta.high, beta.offset]);
        }
    }
    object
}

/// For people.
pub fn calibration_text(calibrated: &Calibrated) -> String {
    let how = match &calibrated.calibration {
        Calibration::Platt(_) | Calibration::Beta(_) => calibrated.calibration.how().to_string(),
        Calibration::Isotonic(pools) => format!("isotonic ({} steps)", pools.len()),
    };
    let Calibrated { rows: all, positives, on, .. } = calibrated;
    format!("Probabilities by {how}, fitted on {} ({all}, {positives} positive)", rows(on))
}
