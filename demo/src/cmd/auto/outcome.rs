//! What `auto` makes of what the search took: the model of all rows, and what the held-out scores say of it.

use super::Plan;
use crate::error::{CliError, Result};
use crate::output;
use crate::tell::behind::SAME;
use crate::tell::threshold::choose;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use undercurve::checkpoint::SavedModel;
use undercurve::decision::{ThresholdRule, rate_interval, rate_intervals_in};
use undercurve::metric::{Bin, Confusion, Estimate, FprRange, Interval, Metrics, PrPoint, RocPoint, Truth, brier};
use undercurve::rng::Rng;
use undercurve::trainer::Predictor;
use undercurve_search::{
    Ahead, Candidate, HeldOut, Importance, Job, Refit, Row, Scored, Search, Tried, importances, measure,
};

/// Draws of rows for the interval of a threshold.
const DRAWS: u64 = 200;
/// The generator's purpose.
const DRAW: u64 = 0x6472_6177;
/// Points of a curve in the card, and bins of its reliability.
const POINTS: usize = 200;
const BINS: usize = 10;

/// A value with its 95 % interval.
#[derive(Clone, Copy)]
pub struct Measured {
    pub value: f64,
    pub interval: Option<[f64; 2]>,
}

impl Measured {
    pub fn text(self) -> String {
        let interval = self.interval.map_or(String::new(), |[low, high]| format!(" [{low:.4}, {high:.4}]"));
        format!("{:.4}{interval}", self.value)
    }
}

/// A figure of held-out scores; of what is wanted at the top of the list also that of cross-entropy.
pub struct Figure {
    pub key: &'static str,
    pub name: &'static str,
    pub ours: Measured,
    pub theirs: Option<Measured>,
}

/// All that came of it.
pub struct Outcome {
    pub tried: Vec<Tried>,
    pub taken: usize,
    /// Whether what is taken is ahead of the simplest beyond noise, and whether anything is found at all.
    pub beyond: bool,
    pub signal: bool,
    pub verdict: String,
    pub file: SavedModel,
    pub rows: usize,
    pub positives: usize,
    pub figures: Vec<Figure>,
    /// The cross-entropy that stands beside figures, by its place among what was tried.
    pub beside: Option<usize>,
    pub threshold: Option<f64>,
    pub threshold_interval: Option<[f64; 2]>,
    pub rule: Option<ThresholdRule>,
    pub importances: Vec<Importance>,
    pub roc: Vec<RocPoint>,
    pub pr: Vec<PrPoint>,
    pub bins: Vec<Bin>,
    held_out: HeldOut,
    model: Predictor<f32>,
}

/// Makes the model of all rows.
///
/// # Errors
/// As trainings.
pub fn outcome(plan: &Plan, job: &Job<'_>, searched: &Search, labels: &[u8], chance: f64) -> Result<Outcome> {
    let Search { rows, taken } = searched;
    let (row, count) = (&rows[*taken], job.folds.count);
    let beside = plan.at_top.then(|| cross_entropy(rows, *taken)).flatten();
    let theirs = beside.map(|at| HeldOut::of(job, &rows[at], None, labels)).transpose()?.map(|of| of.scores().0);
    let (refit, scored) = Refit::with_held_out(job, row, labels)?;
    let (held_out, truth) = scored.scores();
    let on = Truth::new(&truth, &[])?;
    let clusters = refit.clusters(&scored);
    let mut file = refit.file;
    if let Some(rule) = plan.rule {
        match choose(rule, &held_out, on, None, "held-out folds") {
            Ok(chosen) => (file.threshold, file.decided) = (Some(chosen.at()), Some(chosen.decided().clone())),
            Err(CliError::Input(why)) => output::warn(format!("{why}; the model has no threshold")),
            Err(error) => return Err(error),
        }
    }
    let model = Predictor::<f32>::of(&file)?;
    let probabilities: Vec<f64> =
        held_out.iter().filter_map(|&score| model.probability(score)).map(f64::from).collect();
    let mut memory = Metrics::<f32>::new();
    let bins = Metrics::<f64>::new().reliability(&probabilities, &on, BINS)?;
    let (verdict, signal) = searched.verdict(job, chance);
    Ok(Outcome {
        tried: searched.tried(job),
        taken: *taken,
        beyond: *taken > 0 && Ahead::new(&row.values(), &rows[0].values(), count).ends()[0] > 0.0,
        signal,
        verdict,
        rows: labels.len(),
        positives: labels.iter().map(|&label| usize::from(label)).sum(),
        figures: figures(&held_out, theirs.as_deref(), on.clustered(&clusters)?, &probabilities, file.threshold, plan)?,
        beside,
        threshold: file.threshold,
        threshold_interval: plan
            .rule
            .filter(|_| file.threshold.is_some())
            .map_or(Ok(None), |rule| interval(plan, rule, &held_out, &truth, &clusters))?,
        rule: plan.rule,
        importances: importances(job, row)?,
        roc: memory.roc_curve(&held_out, &on, Some(POINTS))?,
        pr: memory.pr_curve(&held_out, &on, Some(POINTS))?,
        bins,
        held_out: scored,
        model,
        file,
    })
}

/// The cross-entropy that a model is held against: of a ranking loss that of the same model, of other models the simplest.
fn cross_entropy(rows: &[Row], taken: usize) -> Option<usize> {
    let own = &rows[taken].candidate;
    if SAME.contains(&own.method) {
        return (taken > 0).then_some(0);
    }
    let alike = |other: &Candidate| {
        SAME.contains(&other.method)
            && (&other.model, other.encoding, other.average) == (&own.model, own.encoding, own.average)
    };
    rows.iter().position(|row| alike(&row.candidate))
}

/// Where the threshold lies in 95 of 100 draws of the rows that it was chosen on, or of their clusters, where there are some.
fn interval(
    plan: &Plan,
    rule: ThresholdRule,
    scores: &[f32],
    labels: &[u8],
    clusters: &[u32],
) -> Result<Option<[f64; 2]>> {
    let mut units: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    (0..scores.len()).for_each(|at| units.entry(clusters.get(at).map_or(at as u32, |&of| of)).or_default().push(at));
    let units: Vec<Vec<usize>> = units.into_values().collect();
    let (mut memory, mut found) = (Metrics::<f32>::new(), Vec::new());
    for draw in 0..DRAWS {
        let mut rng = Rng::keyed(plan.seed, DRAW, draw);
        let pick = (0..units.len()).flat_map(|_| &units[(rng.uniform() * units.len() as f64) as usize]);
        let (some, own): (Vec<f32>, Vec<u8>) = pick.map(|&at| (scores[at], labels[at])).unzip();
        match memory.decide(&some, &own[..], rule) {
            Ok(decision) if decision.threshold.is_finite() => found.push(decision.threshold),
            _ => {}
        }
    }
    found.sort_by(f64::total_cmp);
    // (Of a rule that few draws can keep there is none.)
    let enough = found.len() as u64 * 10 >= DRAWS * 9;
    Ok(enough.then(|| [found[found.len() / 40], found[found.len() - 1 - found.len() / 40]]))
}

/// The figures of held-out scores, and, of what is wanted at the top, those of cross-entropy.
fn figures(
    scores: &[f32],
    theirs: Option<&[f32]>,
    truth: Truth<'_>,
    probabilities: &[f64],
    threshold: Option<f64>,
    plan: &Plan,
) -> Result<Vec<Figure>> {
    let labels = truth.labels();
    let range = FprRange::new(plan.fpr.0, plan.fpr.1)?;
    let ends = |interval: Option<Interval>| interval.map(|ends| [ends.low, ends.high]);
    let measured = |scores: &[f32], of: Estimate| -> Result<Measured> {
        let value = match of {
            Estimate::PrecisionAt(top) => Metrics::new().top(scores, &truth, top)?.precision(),
            Estimate::RecallAt(top) => Metrics::new().top(scores, &truth, top)?.recall(),
            Estimate::Ap => measure("ap", plan.fpr, scores, labels)?,
            Estimate::AUROC => measure("auroc", plan.fpr, scores, labels)?,
            _ => measure("pauc", plan.fpr, scores, labels)?,
        };
        Ok(Measured { value, interval: ends(Metrics::<f32>::new().interval(scores, truth, of)?) })
    };
    let mut wanted = vec![
        ("auroc", "AUROC", Estimate::AUROC),
        ("ap", "Average precision", Estimate::Ap),
        ("pauc", "Partial AUC", Estimate::Roc(range)),
    ];
    if let Some(top) = plan.alerts {
        wanted.push(("alerts_precision", "Precision of the alerts wanted", Estimate::PrecisionAt(top)));
        wanted.push(("alerts_recall", "Recall of the alerts wanted", Estimate::RecallAt(top)));
    }
    let mut all = Vec::new();
    for (place, (key, name, of)) in wanted.into_iter().enumerate() {
        // (Not of all rows: those are no top.)
        let theirs = theirs.filter(|_| place > 1).map(|scores| measured(scores, of)).transpose()?;
        all.push(Figure { key, name, ours: measured(scores, of)?, theirs });
    }
    if let Some(at) = threshold {
        let counts = Confusion::<u64>::at(scores, labels, at as f32)?;
        let alerts = counts.true_positives + counts.false_positives;
        let clusters = Some(truth.clusters()).filter(|of| !of.is_empty());
        let of_clusters = clusters.map(|of| rate_intervals_in(at, scores, truth, Some(of))).transpose()?;
        let mut rate = |key, name, hits: u64, rows: u64, place: usize| {
            if rows > 0 {
                let found = of_clusters.map_or_else(|| rate_interval(hits, rows), |found| found[place]);
                let ours = Measured { value: hits as f64 / rows as f64, interval: ends(Some(found)) };
                all.push(Figure { key, name, ours, theirs: None });
            }
        };
        rate("recall", "Recall at the threshold", counts.true_positives, counts.positives(), 1);
        rate("precision", "Precision at the threshold", counts.true_positives, alerts, 2);
        rate("fpr", "False-positive rate at the threshold", counts.false_positives, counts.negatives(), 0);
    }
    if probabilities.len() == labels.len() {
        let ours = Measured { value: brier(probabilities, truth)?, interval: None };
        all.push(Figure { key: "brier", name: "Brier score of the probabilities", ours, theirs: None });
    }
    Ok(all)
}

/// The first figure that is lower than that of cross-entropy.
fn lowered(figures: &[Figure]) -> Option<String> {
    let lower =
        |of: &Figure| of.theirs.filter(|theirs| of.ours.value < theirs.value).map(|theirs| (of.name, of.ours, theirs));
    let (name, ours, theirs) = figures.iter().find_map(lower)?;
    Some(format!("{name}: {:.4} on held-out rows instead of {:.4}", ours.value, theirs.value))
}

impl Outcome {
    /// What cross-entropy has in place of a figure.
    pub fn beside_text(&self, figure: &Figure) -> Option<String> {
        Some(format!("{} by cross-entropy ({})", figure.theirs?.text(), self.tried[self.beside?].name))
    }

    /// That the top of the list is worse than by cross-entropy.
    pub fn warning(&self) -> Option<String> {
        let beside = &self.tried[self.beside?];
        let lower = lowered(&self.figures)?;
        Some(format!(
            "{} lowers the top of the list: {lower} by {}; {} is made by `undercurve train` with {}",
            self.tried[self.taken].name, beside.name, beside.name, beside.options
        ))
    }

    pub fn threshold_text(&self) -> String {
        let (Some(at), Some(rule)) = (self.threshold, self.rule) else {
            return "No threshold: --threshold \"precision>=0.8\" chooses one on the held-out folds".to_string();
        };
        let interval = self.threshold_interval.map_or(String::new(), |[low, high]| format!(" [{low:.4}, {high:.4}]"));
        format!("Threshold {at:.4}{interval} by {rule} on the held-out folds")
    }

    /// Held-out scores.
    pub fn scores_csv(&self) -> String {
        let sure = self.model.has_probabilities();
        let mut text = format!("row,fold,label,score{}\n", if sure { ",probability" } else { "" });
        for Scored { row, fold, label, score } in self.held_out.rows() {
            // (Writing to a string cannot fail.)
            let _ = write!(text, "{},{},{label},{score}", row + 1, fold + 1);
            if let Some(probability) = self.model.probability(*score).filter(|_| sure) {
                let _ = write!(text, ",{probability}");
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{Figure, Measured, lowered};

    #[test]
    fn what_lowers_the_top_is_named() {
        let of = |name, ours, theirs: Option<f64>| {
            let measured = |value| Measured { value, interval: None };
            Figure { key: "", name, ours: measured(ours), theirs: theirs.map(measured) }
        };
        let figures = [of("AUROC", 0.5, None), of("pAUC", 0.3, Some(0.3)), of("Precision", 0.15, Some(0.42))];
        assert_eq!(lowered(&figures).as_deref(), Some("Precision: 0.1500 on held-out rows instead of 0.4200"));
        assert_eq!(lowered(&figures[..2]), None);
    }
}
