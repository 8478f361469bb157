//! Metrics of scores, printed.

use crate::error::{CliError, Result};
use crate::output;
use crate::tell::by_group::{self, Grouping, Table};
use crate::tell::conventions;
use crate::tell::curves::{self, BINS, Of};
use crate::tell::report::{self, class_table};
use crate::tell::threshold::{Threshold, choose, count};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use undercurve::Real;
use undercurve::data::Queries;
use undercurve::decision::ThresholdRule;
use undercurve::measure::{Found, Groups, Metric, Needs, Ranked, Refusal, Rows};
use undercurve::metric::{Bin, ClassSummary, FprRange, Metrics, OfQuery, Truth, ValueSummary};
use undercurve::trainer::Figures;

/// What is asked of scores.
pub struct Asked {
    /// None for the usual ones.
    pub metrics: Vec<Metric>,
    pub threshold: Option<ThresholdRule>,
    /// Whether the reliability table is told, too.
    pub reliability: bool,
    /// The columns of queries, of groups, of weights and of clusters.
    pub query: Option<String>,
    pub group: Vec<String>,
    pub weight: Option<String>,
    pub cluster: Option<String>,
    pub curves: Option<PathBuf>,
    /// Other programs' numbers.
    pub elsewhere: Option<conventions::Asked>,
    pub json: bool,
}

/// Scores of two classes, and what is known of their rows.
#[derive(Clone, Copy)]
pub struct Scored<'a, T> {
    /// What they are of, for people, and the file of the rows.
    pub name: &'a str,
    pub file: &'a str,
    pub scores: &'a [T],
    pub truth: Truth<'a>,
    /// Whether a model gave them.
    pub of_model: bool,
    /// The range of `pauc`.
    pub fpr: (f64, f64),
    /// The threshold of `fpr` and its like, where there is one.
    pub threshold: Option<f64>,
    /// A probability of each row, where there are some.
    pub probabilities: Option<&'a [f64]>,
    pub queries: Option<&'a Queries>,
    pub groups: Option<Grouping<'a>>,
}

impl Asked {
    /// The first option that says something of two classes alone.
    pub fn of_two_classes(&self) -> Option<&'static str> {
        self.of_one_score().or(self.cluster.as_ref().map(|_| "--cluster"))
    }

    /// The first option that says something of one score alone.
    pub fn of_one_score(&self) -> Option<&'static str> {
        let all = [
            ("--group", !self.group.is_empty()),
            ("--threshold", self.threshold.is_some()),
            ("--reliability", self.reliability),
            ("--curves", self.curves.is_some()),
            ("--query", self.query.is_some()),
            ("--reported or --like", self.elsewhere.is_some()),
        ];
        all.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// Measures, prints and draws.
    pub fn tell<T: Real>(&self, of: Scored<'_, T>) -> Result<()> {
        let clusters = Some(of.truth.clusters()).filter(|of| !of.is_empty());
        let chosen = self.threshold.map(|rule| choose(rule, of.scores, of.truth, clusters, of.file)).transpose()?;
        let of = Scored { threshold: chosen.as_ref().map(Threshold::at).or(of.threshold), ..of };
        let probabilities = of.of_model && of.probabilities.is_some();
        let metrics = match self.metrics.as_slice() {
            [] => Metric::usual(of.threshold.is_some(), probabilities, of.queries.is_some(), of.groups.is_some()),
            asked => asked.to_vec(),
        };
        if let Some(path) = &self.curves {
            let positives = of.truth.labels().iter().filter(|&&label| label == 1).count();
            let title = format!("{}, {} rows, {positives} positive", of.name, of.scores.len());
            let Scored { scores, truth, probabilities, fpr, threshold, .. } = of;
            curves::write(path, &Of { title, scores, truth, probabilities, fpr, threshold })?;
        }
        let wide: Vec<f64> = of.scores.iter().map(|score| score.f64()).collect();
        let groups = of.groups.map(|groups| Groups { of: groups.of, count: groups.names.len() });
        let rows = Rows {
            single: size_of::<T>() == 4,
            fpr: FprRange::new(of.fpr.0, of.fpr.1)?,
            threshold: of.threshold,
            probabilities: of.probabilities,
            queries: of.queries.map(|queries| Ranked { of: queries.of(), gains: queries.gains() }),
            groups,
            ..Rows::new(&wide, of.truth)
        };
        if self.reliability && rows.probabilities.is_none() {
            return Err(no_probabilities("--reliability"));
        }
        let told = Told::new(&metrics, rows, of.groups, chosen.as_ref(), self.reliability)?;
        if self.json { output::line(told.json()) } else { told.print() }
    }
}

fn no_probabilities(asked: &str) -> CliError {
    CliError::input(format!(
        "{asked}: there are no probabilities; `undercurve decide --calibrate` makes some for a model, and scores from 0 to 1 \
         of a file are some"
    ))
}

/// Why a metric is not told, with the option that helps.
impl From<Refusal> for CliError {
    fn from(why: Refusal) -> Self {
        match why {
            Refusal::Rows(error) => error.into(),
            Refusal::Needs { metric, what: Needs::Threshold } => CliError::input(format!(
                "--metric {metric}: {metric}:THRESHOLD, or --threshold RULE; only a model has one of its own"
            )),
            Refusal::Needs { metric, what: Needs::Probabilities } => no_probabilities(&format!("--metric {metric}")),
            Refusal::Needs { metric, what: Needs::Queries } => {
                CliError::input(format!("--metric {metric}: is of queries; --query names their column"))
            }
            Refusal::Needs { metric, what: Needs::Groups } => {
                CliError::input(format!("--metric {metric}: is of groups; --group names their column"))
            }
            why => CliError::input(format!("--metric {why}")),
        }
    }
}

/// Everything that is told of scores.
struct Told<'a> {
    rows: Rows<'a>,
    groups: Option<Grouping<'a>>,
    chosen: Option<&'a Threshold>,
    metrics: &'a [Metric],
    found: Vec<Found>,
    table: Option<Table<'a>>,
    bins: Option<Vec<Bin>>,
    positives: usize,
    /// Queries, and those without a positive.
    queries: Option<[u64; 2]>,
}

impl<'a> Told<'a> {
    fn new(
        metrics: &'a [Metric],
        rows: Rows<'a>,
        groups: Option<Grouping<'a>>,
        chosen: Option<&'a Threshold>,
        reliability: bool,
    ) -> Result<Self> {
        let labels = rows.truth.labels();
        let mut memory = Metrics::new();
        metrics.iter().try_for_each(|metric| rows.check(metric))?;
        let found = metrics.iter().map(|metric| Ok(rows.find(metric, &mut memory)?)).collect::<Result<_>>()?;
        let threshold = rows.at(rows.threshold.unwrap_or(0.0));
        let table = groups.map(|groups| Table::new(&mut memory, rows.scores, labels, groups, threshold)).transpose()?;
        let bins = match rows.probabilities.filter(|_| reliability) {
            Some(sure) => Some(memory.reliability(sure, labels, BINS)?),
            None => None,
        };
        let positives = labels.iter().filter(|&&label| label == 1).count();
        let mean = rows.of_queries(OfQuery::AveragePrecision)?;
        let queries = mean.map(|mean| [mean.queries + mean.left_out, mean.left_out]);
        Ok(Self { rows, groups, chosen, metrics, found, table, bins, positives, queries })
    }

    fn names(&self) -> &[String] {
        self.groups.map_or(&[][..], |groups| groups.names)
    }

    /// For programs.
    fn json(&self) -> Value {
        let (mut object, of) = (Map::new(), &self.rows);
        object.insert("rows".to_string(), of.scores.len().into());
        object.insert("positives".to_string(), self.positives.into());
        if let Some(at) = of.threshold.filter(|at| at.is_finite()) {
            object.insert("threshold".to_string(), at.into());
        }
        if let Some(chosen) = self.chosen {
            object.insert("chosen".to_string(), chosen.json());
        }
        if let Some([queries, left_out]) = self.queries {
            object.insert("queries".to_string(), queries.into());
            object.insert("queries_without_positives".to_string(), left_out.into());
        }
        if let Some(bins) = &self.bins {
            let bins = bins.iter().map(|bin| {
                let ends = of.truth.weights().is_empty().then(|| bin.interval());
                json!({"low": bin.low, "high": bin.high, "mean": bin.mean, "rows": count(bin.rows), "positives": count(bin.positives),
                       "share": bin.share(), "interval": ends})
            });
            object.insert("reliability".to_string(), bins.collect());
        }
        let all = || self.metrics.iter().zip(&self.found);
        object.extend(all().map(|(metric, found)| (metric.name().to_string(), found.value.into())));
        if let Some(table) = &self.table {
            let told =
                all().filter_map(|(m, found)| Some((m.name().to_string(), by_group::detail(found, self.names())?)));
            object.insert("of_groups".to_string(), Value::Object(told.collect()));
            object.insert("groups".to_string(), table.json());
        }
        object.insert("intervals".to_string(), ends(self.metrics, &self.found));
        Value::Object(object)
    }

    /// For people.
    fn print(&self) -> Result<()> {
        let of = &self.rows;
        output::line(format!("{} rows, {} positive", of.scores.len(), self.positives))?;
        if let Some([queries, left_out]) = self.queries {
            let graded = of.queries.is_some_and(|queries| !queries.gains.is_empty());
            let graded = if graded { "; labels are graded" } else { "" };
            output::line(format!(
                "{queries} queries, {left_out} of them without a positive, which are left out of their means{graded}"
            ))?;
        }
        match (self.chosen, of.threshold) {
            (Some(chosen), _) => output::line(chosen.text())?,
            (None, Some(at)) if self.metrics.iter().any(Metric::lacks_threshold) => {
                output::line(format!("Threshold {at:.4}"))?
            }
            _ => {}
        }
        let width = self.metrics.iter().map(|metric| metric.name().len()).max().unwrap_or(0);
        for (metric, found) in self.metrics.iter().zip(&self.found) {
            output::line(line(width, metric, found, &by_group::note(found, self.names())))?;
        }
        if let Some(bins) = &self.bins {
            output::line(format!("\n{}", reliability_table(bins, of.truth.weights().is_empty())))?;
        }
        self.table.as_ref().map_or(Ok(()), |table| output::line(format!("\n{}", table.text())))
    }
}

/// A metric for people, its name as wide as all are.
pub fn line(width: usize, metric: &Metric, found: &Found, note: &str) -> String {
    let figure = found.value.map_or_else(String::new, |value| format!("{value:.6}"));
    let ends = found.interval.map_or_else(String::new, |ends| format!("  [{:.6}, {:.6}]", ends.low, ends.high));
    format!("{:width$}  {figure}{note}{ends}", metric.name())
}

/// Intervals for programs.
pub fn ends(metrics: &[Metric], found: &[Found]) -> Value {
    let ends = metrics.iter().zip(found).filter_map(|(metric, found)| {
        found.interval.map(|interval| (metric.name().to_string(), json!([interval.low, interval.high])))
    });
    Value::Object(ends.collect())
}

/// What probabilities say, and what comes true.
fn reliability_table(bins: &[Bin], intervals: bool) -> String {
    let mut lines = vec!["Probabilities, by tenths of the rows:".to_string()];
    let head = if intervals { "   95 % interval" } else { "" };
    lines.push(format!("{:>9} {:>9} {:>8} {:>8} {:>8}{head}", "from", "to", "rows", "mean", "positive"));
    for bin in bins {
        let ends = match bin.interval() {
            (low, high) if intervals => format!("   [{low:.4}, {high:.4}]"),
            _ => String::new(),
        };
        let (low, high, rows, mean, share) = (bin.low, bin.high, bin.rows, bin.mean, bin.share());
        lines.push(format!("{low:>9.4} {high:>9.4} {rows:>8} {mean:>8.4} {share:>8.4}{ends}"));
    }
    lines.join("\n")
}

/// Prints the metrics of scores of several classes.
pub fn print_classes(summary: ClassSummary, names: &[String], json: bool) -> Result<()> {
    let rows: u64 = summary.classes.iter().map(|class| class.rows).sum();
    let figures = Figures::Classes(summary);
    if json {
        let mut object = report::metrics(&figures, names);
        object["rows"] = rows.into();
        return output::line(object);
    }
    output::line(format!("{rows} rows, {} classes", names.len()))?;
    whole(&figures)?;
    let table = figures.classes().map_or_else(String::new, |summary| class_table(summary, names));
    output::line(format!("\nEach class against all others:\n{table}"))
}

/// Prints how far scores are from the numbers that they were to be.
pub fn print_values(summary: ValueSummary, rows: usize, json: bool) -> Result<()> {
    let figures = Figures::Values(summary);
    if json {
        let mut object = report::metrics(&figures, &[]);
        object["rows"] = rows.into();
        return output::line(object);
    }
    output::line(format!("{rows} rows"))?;
    whole(&figures)
}

/// A line for each figure but those of single classes.
fn whole(figures: &Figures) -> Result<()> {
    let named = figures.named();
    let whole: Vec<_> = named.iter().filter(|(name, _)| !name.contains('[')).collect();
    let width = whole.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    whole.iter().try_for_each(|(name, value)| output::line(format!("{name:<width$}  {value:.6}")))
}
