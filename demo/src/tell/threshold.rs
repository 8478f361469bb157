//! What every command tells of a threshold and of probabilities.

use crate::error::{CliError, Result};
use serde_json::{Value, json};
use undercurve::Real;
use undercurve::checkpoint::{Calibrated, Decided};
use undercurve::decision::{Calibration, Decision, ThresholdRule, rate_interval, rate_intervals_clustered};
use undercurve::metric::{Confusion, Costs, Interval, Metrics, Truth};

/// Chooses a threshold on labelled scores, of the rows that `on` names; with clusters of rows as one that holds for whole clusters.
///
/// # Errors
/// `Input` where no threshold keeps the rule, or it asks for more rows than there are.
pub fn choose<T: Real>(
    rule: ThresholdRule,
    scores: &[T],
    truth: Truth<'_>,
    clusters: Option<&[u32]>,
    on: &str,
) -> Result<Threshold> {
    let found = match (rule, clusters) {
        (ThresholdRule::Promised(promise), Some(clusters)) => promise
            .decide_clustered(scores, truth.labels(), clusters)
            .map(|found| Decision { threshold: found.threshold, counts: in_numbers(&found.counts) }),
        _ => Metrics::new().decide(scores, &truth, rule),
    };
    let found = match found {
        Ok(found) => Some(found),
        Err(undercurve::Error::Unreachable { .. }) => None,
        Err(error @ undercurve::Error::Unpromised { .. }) => {
            return Err(CliError::input(format!("--threshold {rule}: {error} (of rows like those of {on})")));
        }
        Err(undercurve::Error::Param { .. }) => {
            return Err(CliError::input(format!("--threshold {rule}: there are {} rows", scores.len())));
        }
        Err(error) => return Err(error.into()),
    };
    let share = found.map_or(0.5, |found| found.counts.positives() / found.counts.total());
    let costs = rule.costs(share)?;
    let decided = Decided { rule, on: on.to_string(), counts: found.map(|found| found.counts) };
    let at = found.map(|found| found.threshold);
    let ends = match (at, clusters) {
        (Some(at), Some(clusters)) => Some(rate_intervals_clustered(at, scores, truth.labels(), clusters)?),
        _ => decided.counts.filter(|_| truth.weights().is_empty()).map(ends),
    };
    let threshold = Threshold { decided, at, costs, ends, test: None };
    match threshold.missed() {
        Some(text) => Err(CliError::input(format!("--threshold {text}"))),
        None => Ok(threshold),
    }
}

/// Counts as numbers that weights could have made.
fn in_numbers(counts: &Confusion) -> Confusion<f64> {
    Confusion {
        true_positives: counts.true_positives as f64,
        false_positives: counts.false_positives as f64,
        true_negatives: counts.true_negatives as f64,
        false_negatives: counts.false_negatives as f64,
    }
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
    at: Option<f64>,
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
        at: Option<f64>,
        costs: Option<Costs>,
        weighed: bool,
        test: Option<(&[T], Truth<'_>)>,
    ) -> Result<Self> {
        let test = match (test, at) {
            (Some((scores, truth)), Some(at)) => Some(Confusion::at(scores, &truth, T::of(at))?),
            _ => None,
        };
        let ends = decided.counts.filter(|_| !weighed).map(ends);
        Ok(Self { decided: decided.clone(), at, costs, ends, test })
    }

    /// The score, unless nothing keeps the rule.
    pub fn at(&self) -> Option<f64> {
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

    /// Where no threshold keeps the rule: that, after the option.
    pub fn missed(&self) -> Option<String> {
        let what = match self.decided.rule {
            ThresholdRule::Precision(_) => "no threshold has that precision",
            ThresholdRule::Promised(_) => "no threshold can be promised",
            _ => "more rows than that tie for the highest score",
        };
        self.decided.counts.is_none().then(|| format!("{}: {what} on {}", self.decided.rule, self.on()))
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
        let at = self.at.unwrap_or(f64::INFINITY);
        let on = self.decided.counts.map_or_else(String::new, rates);
        let test = self.test.map_or_else(String::new, |counts| format!("; on the test rows: {}", rates(counts)));
        format!("Threshold {at:.4} by {} on {}: {on}{test}{}", self.decided.rule, self.on(), self.rests())
    }

    /// What a rule without a confidence rests on.
    fn rests(&self) -> String {
        let plain = !matches!(self.decided.rule, ThresholdRule::Promised(_) | ThresholdRule::Score(_));
        let (true, Some(counts), Some(ends)) = (plain, self.decided.counts, self.ends) else { return String::new() };
        let alerts = counts.true_positives + counts.false_positives;
        let [fpr, recall, precision] = ends.map(|ends| format!("[{:.4}, {:.4}]", ends.low, ends.high));
        let promised = match self.decided.rule.promise() {
            Some(_) => format!(
                "; on other rows the bound holds about every second time, {}@90% is kept in 90 of 100",
                self.decided.rule
            ),
            None => String::new(),
        };
        format!(
            "\nIt rests on {alerts} alerts: 95 % intervals false-positive rate {fpr}, recall {recall}, precision {precision}{promised}"
        )
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let mut object = json!({
            "at": self.at.filter(|at| at.is_finite()), "rule": self.decided.rule.to_string(), "chosen_on": self.decided.on,
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

/// A count, which with weights is no whole number.
pub fn count(rows: f64) -> Value {
    if rows.fract() == 0.0 { (rows as u64).into() } else { rows.into() }
}

/// Rows that something was chosen on, in words.
fn rows(on: &str) -> String {
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
