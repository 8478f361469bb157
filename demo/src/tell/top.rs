//! What was wanted at the top of the list (`--want`), beside cross-entropy of the same model.

use crate::error::Result;
use crate::tell::behind::SAME;
use crate::tell::scores;
use serde_json::{Value, json};
use undercurve::Real;
use undercurve::data::Dataset;
use undercurve::metric::{Estimate, FprRange, Interval, Metrics, TieRule, Top, Truth};
use undercurve::trainer::{Config, ModelSpec, Predictor, Trainer};
use undercurve_search::Want;

/// A value with its interval, where it has one.
type Measured = (f64, Option<Interval>);

/// A figure of the model and of cross-entropy.
struct Figure {
    name: String,
    ours: Measured,
    theirs: Measured,
}

/// All of them, on rows of this part.
pub struct Told {
    part: &'static str,
    method: String,
    figures: Vec<Figure>,
}

impl Told {
    /// Of a run whose test rows, or else validation or training rows, are of two classes.
    pub fn of<T: Real>(
        want: Want,
        run: &Trainer<T>,
        model: &mut Predictor<T>,
        (part, rows): (&'static str, &Dataset<T>),
    ) -> Result<Option<Self>> {
        let config = run.config();
        if rows.labels().is_empty() || !rows.weights().is_empty() || matches!(want, Want::Metric(_)) {
            return Ok(None);
        }
        let ours = scores(model, rows)?;
        let theirs = if SAME.contains(&config.method.as_str()) {
            ours.clone()
        } else {
            let method = if config.model == ModelSpec::Linear { "ce-exact" } else { "ce" }.to_string();
            let (seed, class_weights, model) = (config.seed, config.class_weights.clone(), config.model.clone());
            let config = Config { method, seed, class_weights, model, init: config.init, ..Config::default() };
            let mut base = Trainer::new(&config, run.train_data().clone(), None)?;
            while base.step()?.is_some() {}
            scores(&mut base.predictor(), rows)?
        };
        let of = |scores: &[T]| figures(want, scores, rows.truth(), config.fpr);
        let (ours, theirs) = (of(&ours)?, of(&theirs)?);
        let both = ours.into_iter().zip(theirs);
        let figures = both.map(|((name, ours), (_, theirs))| Figure { name, ours, theirs }).collect();
        Ok(Some(Self { part, method: config.method.clone(), figures }))
    }

    /// For people.
    pub fn sentence(&self) -> String {
        let value = |(value, interval): &Measured| {
            let ends = interval.map_or(String::new(), |ends| format!(" [{:.4}, {:.4}]", ends.low, ends.high));
            format!("{value:.4}{ends}")
        };
        let same = SAME.contains(&self.method.as_str());
        let one = |figure: &Figure| {
            let beside = if same { String::new() } else { format!(", by cross-entropy {}", value(&figure.theirs)) };
            format!("{} {}{beside}", figure.name, value(&figure.ours))
        };
        let by = if same { ", by cross-entropy" } else { "" };
        format!(
            "Wanted, on the {} rows{by}: {}",
            self.part,
            self.figures.iter().map(one).collect::<Vec<_>>().join("; ")
        )
    }

    /// That the model finds less at the top than cross-entropy does.
    pub fn warning(&self) -> Option<String> {
        let worse = self.figures.iter().find(|figure| figure.ours.0 < figure.theirs.0)?;
        Some(format!(
            "{} lowers {} on the {} rows from {:.4} by cross-entropy to {:.4}; try --method top, which takes cross-entropy where it is better on folds",
            self.method, worse.name, self.part, worse.theirs.0, worse.ours.0
        ))
    }

    /// For programs.
    pub fn object(&self) -> Value {
        let value = |(value, interval): &Measured| json!({"value": value, "interval": interval.map(|ends| [ends.low, ends.high])});
        let all = self.figures.iter().map(|figure| {
            (figure.name.clone(), json!({"model": value(&figure.ours), "cross_entropy": value(&figure.theirs)}))
        });
        let mut told = Value::Object(all.collect());
        told["part"] = self.part.into();
        told
    }
}

/// Names and values, with intervals.
fn figures<T: Real>(
    want: Want,
    scores: &[T],
    truth: Truth<'_>,
    (low, high): (f64, f64),
) -> Result<Vec<(String, Measured)>> {
    let (mut memory, mut all) = (Metrics::<T>::new(), Vec::new());
    let mut add = |name: String, of: Estimate, value: f64| -> Result<()> {
        all.push((name, (value, memory.interval(scores, truth, of)?)));
        Ok(())
    };
    if let Want::Alerts(top) = want {
        // (Of fewer rows than alerts all are the first.)
        let rows = scores.len();
        let top = if top.of(rows as f64).is_ok() { top } else { Top::Rows(rows as u64) };
        let first = Metrics::new().top(scores, &truth, top)?;
        add(format!("precision of the first {top}"), Estimate::PrecisionAt(top), first.precision())?;
        add(format!("recall of the first {top}"), Estimate::RecallAt(top), first.recall())?;
    }
    let range = FprRange::new(low, high)?;
    let value = Metrics::new().partial_auc(scores, &truth, range, TieRule::Trapezoid)?;
    add(format!("pAUC {low:.4}:{high:.4}"), Estimate::Roc(range), value)?;
    Ok(all)
}
