//! `--curves FILE.csv|.json|.svg`: the ROC curve, the precision-recall curve, gain and lift, and how reliable probabilities are.

use crate::error::{CliError, Result};
use crate::output;
use crate::tell::svg::{INK, SOFT, Svg};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use undercurve::Real;
use undercurve::metric::{Bin, FprRange, Interval, Metrics, PrPoint, RocPoint, TieRule, Truth};

/// Points of a curve that are written, and that are drawn: more are thinned out between them, ends and corners stay.
const MOST_WRITTEN: usize = 20_000;
const MOST_DRAWN: usize = 800;

/// Bins of the reliability table, and of the error that is told of it.
pub const BINS: usize = 10;

/// What the curves are of.
pub struct Of<'a, T> {
    /// Above the figure.
    pub title: String,
    pub scores: &'a [T],
    pub truth: Truth<'a>,
    /// A probability of each row, where there are some.
    pub probabilities: Option<&'a [f64]>,
    /// The range of the partial AUC.
    pub fpr: (f64, f64),
    /// Of the model, or chosen.
    pub threshold: Option<f64>,
}

/// `Ok` when the name says which layout, and a file can be written there.
pub fn check(path: &Path, inputs: &[&Path]) -> Result<()> {
    match extension(path).as_str() {
        "csv" | "json" | "svg" => output::check_output(path, inputs),
        _ => Err(CliError::input(format!("{}: expected a name with .csv, .json or .svg", path.display()))),
    }
}

fn extension(path: &Path) -> String {
    path.extension().and_then(|text| text.to_str()).unwrap_or_default().to_ascii_lowercase()
}

/// Writes the file.
pub fn write<T: Real>(path: &Path, of: &Of<'_, T>) -> Result<()> {
    let kind = extension(path);
    let curves = Curves::new(of, if kind == "svg" { MOST_DRAWN } else { MOST_WRITTEN })?;
    let text = match kind.as_str() {
        "csv" => curves.csv(),
        "json" => format!("{}\n", curves.json()),
        _ => curves.svg(of),
    };
    output::write_atomic(path, text.as_bytes())
}

/// Everything that is written.
struct Curves {
    auroc: (f64, Option<Interval>),
    ap: (f64, Option<Interval>),
    pauc: f64,
    /// Share of positives.
    share: f64,
    roc: Vec<RocPoint>,
    pr: Vec<PrPoint>,
    bins: Vec<Bin>,
    /// Whether rows are counted: what is weighed has no intervals.
    counted: bool,
    /// False- and true-positive rate and precision at the threshold.
    at: Option<(f64, [f64; 3])>,
}

impl Curves {
    fn new<T: Real>(of: &Of<'_, T>, most: usize) -> Result<Self> {
        let mut memory = Metrics::<T>::new();
        let (scores, truth) = (of.scores, &of.truth);
        let range = FprRange::new(of.fpr.0, of.fpr.1)?;
        let intervals = memory.intervals(scores, *truth, range)?;
        let weight = |label: u8| -> f64 {
            (0..scores.len()).filter(|&row| truth.labels()[row] == label).map(|row| truth.weight(row)).sum()
        };
        let share = weight(1) / (weight(0) + weight(1));
        let at = match of.threshold.filter(|at| at.is_finite()) {
            Some(at) => {
                let counts = undercurve::metric::Confusion::at(scores, truth, T::of(at))?;
                let rates = (counts.fpr(), counts.tpr(), counts.precision());
                if let (Some(fpr), Some(tpr), Some(precision)) = rates {
                    Some((at, [fpr, tpr, precision]))
                } else {
                    None
                }
            }
            None => None,
        };
        Ok(Self {
            auroc: (memory.auroc(scores, truth)?, intervals.auroc),
            ap: (memory.average_precision(scores, truth)?, intervals.ap),
            pauc: memory.partial_auc(scores, truth, range, TieRule::Trapezoid)?,
            share,
            roc: memory.roc_curve(scores, truth, Some(most))?,
            pr: memory.pr_curve(scores, truth, Some(most))?,
            bins: match of.probabilities {
                Some(sure) => Metrics::<f64>::new().reliability(sure, truth, BINS)?,
                None => Vec::new(),
            },
            counted: truth.weights().is_empty(),
            at,
        })
    }

    /// Of the points of the ROC curve: threshold, share of the rows that reach it, recall.
    fn gain(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        self.roc.iter().map(|point| {
            let rows = self.share * point.tpr + (1.0 - self.share) * point.fpr;
            (point.threshold, rows, point.tpr)
        })
    }

    fn csv(&self) -> String {
        let mut text = String::from("curve,x,y,threshold,rows\n");
        // (Writing to a string cannot fail; a threshold above all scores is an empty cell.)
        let mut line = |curve: &str, x: f64, y: f64, at: f64| {
            let at = if at.is_finite() { at.to_string() } else { String::new() };
            let _ = writeln!(text, "{curve},{x},{y},{at},");
        };
        self.roc.iter().for_each(|point| line("roc", point.fpr, point.tpr, point.threshold));
        self.pr.iter().for_each(|point| line("precision-recall", point.recall, point.precision, point.threshold));
        self.gain().for_each(|(at, rows, recall)| line("gain", rows, recall, at));
        self.gain().filter(|gain| gain.1 > 0.0).for_each(|(at, rows, recall)| line("lift", rows, recall / rows, at));
        for bin in &self.bins {
            let _ = writeln!(text, "reliability,{},{},,{}", bin.mean, bin.share(), bin.rows);
        }
        text
    }

    fn json(&self) -> Value {
        let at = |at: f64| at.is_finite().then_some(at);
        let ends = |interval: Option<Interval>| interval.map(|ends| [ends.low, ends.high]);
        let roc = self.roc.iter().map(|p| json!({"threshold": at(p.threshold), "fpr": p.fpr, "tpr": p.tpr}));
        let pr =
            self.pr.iter().map(|p| json!({"threshold": at(p.threshold), "recall": p.recall, "precision": p.precision}));
        let gain = self.gain().map(|(threshold, rows, recall)| {
            json!({"threshold": at(threshold), "rows": rows, "recall": recall, "lift": (rows > 0.0).then(|| recall / rows)})
        });
        let bins = self.bins.iter().map(|bin| {
            let ends = self.counted.then(|| bin.interval());
            json!({"mean": bin.mean, "share": bin.share(), "rows": bin.rows, "interval": ends})
        });
        json!({
            "auroc": self.auroc.0, "ap": self.ap.0, "pauc": self.pauc, "share_of_positives": self.share,
            "intervals": {"auroc": ends(self.auroc.1), "ap": ends(self.ap.1)},
            "roc": roc.collect::<Value>(), "precision_recall": pr.collect::<Value>(), "gain": gain.collect::<Value>(),
            "reliability": bins.collect::<Value>(),
        })
    }

    fn svg<T: Real>(&self, of: &Of<'_, T>) -> String {
        let mut figure = Figure::new(&of.title);
        let of_interval = |(value, ends): (f64, Option<Interval>)| match ends {
            Some(ends) => format!("{value:.4} [{:.4}, {:.4}]", ends.low, ends.high),
            None => format!("{value:.4}"),
        };
        let told = |text: &dyn Fn([f64; 3]) -> String| {
            self.at.map(|(at, rates)| format!("dot: threshold {at:.4}, {}", text(rates)))
        };
        let (low, high) = of.fpr;
        let mut roc = Panel::new(
            0,
            format!("ROC: AUROC {}", of_interval(self.auroc)),
            "false-positive rate",
            "true-positive rate",
        );
        roc.under = vec![format!("shaded: pAUC {low} to {high}: {:.4}; dashed: in random order", self.pauc)];
        roc.under.extend(told(&|[fpr, tpr, _]| format!("rates {fpr:.4} and {tpr:.4}")));
        roc.band = Some((low, high));
        roc.dashed = vec![(0.0, 0.0), (1.0, 1.0)];
        roc.line = self.roc.iter().map(|point| (point.fpr, point.tpr)).collect();
        roc.dot = self.at.map(|(_, [fpr, tpr, _])| (fpr, tpr));
        figure.panel(&roc);

        let mut pr = Panel::new(1, format!("Precision-recall: AP {}", of_interval(self.ap)), "recall", "precision");
        pr.under = vec![format!("dashed: in random order, {:.4}", self.share)];
        pr.under.extend(told(&|[_, tpr, precision]| format!("recall {tpr:.4}, precision {precision:.4}")));
        pr.dashed = vec![(0.0, self.share), (1.0, self.share)];
        // As average precision adds it up: each point holds back to the recall before.
        let mut before = 0.0;
        for point in &self.pr {
            pr.line.extend([(before, point.precision), (point.recall, point.precision)]);
            before = point.recall;
        }
        pr.dot = self.at.map(|(_, [_, tpr, precision])| (tpr, precision));
        figure.panel(&pr);

        figure.panel(&self.gain_panel());
        figure.panel(&if self.bins.is_empty() { self.lift_panel() } else { self.reliability_panel() });
        figure.finish()
    }

    /// Positives found by rows looked at.
    fn gain_panel(&self) -> Panel {
        let mut gain = Panel::new(
            2,
            "Gain: positives found by rows looked at".into(),
            "share of rows, highest scores first",
            "recall",
        );
        gain.under = vec![format!("{:.2} % of the rows are positive; dashed: in random order", 100.0 * self.share)];
        gain.dashed = vec![(0.0, 0.0), (1.0, 1.0)];
        gain.line = self.gain().map(|(_, rows, recall)| (rows, recall)).collect();
        gain
    }

    /// Precision over that of chance.
    fn lift_panel(&self) -> Panel {
        let mut lift =
            Panel::new(3, "Lift: precision over that of chance".into(), "share of rows, highest scores first", "lift");
        lift.line = self.gain().filter(|gain| gain.1 > 0.0).map(|(_, rows, recall)| (rows, recall / rows)).collect();
        lift.top = nice(lift.line.iter().fold(1.0, |most, point| f64::max(most, point.1)));
        lift.dashed = vec![(0.0, 1.0), (1.0, 1.0)];
        lift.under = vec!["dashed: in random order".into()];
        lift
    }

    /// What probabilities say, and what comes true.
    fn reliability_panel(&self) -> Panel {
        let mut sure =
            Panel::new(3, "Reliability of the probabilities".into(), "mean probability", "share of positives");
        let error = undercurve::metric::calibration_error(&self.bins);
        let intervals = if self.counted { ", 95 % intervals" } else { "" };
        sure.under = vec![format!("tenths of the rows{intervals}; calibration error {error:.4}")];
        sure.dashed = vec![(0.0, 0.0), (1.0, 1.0)];
        let ends = |bin: &Bin| if self.counted { bin.interval() } else { (bin.share(), bin.share()) };
        sure.bars = self.bins.iter().map(|bin| (bin.mean, bin.share(), ends(bin))).collect();
        sure
    }
}

/// The next of 1, 2 and 5 times a power of ten.
fn nice(x: f64) -> f64 {
    let power = 10f64.powf(x.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power).find(|&end| end >= x * (1.0 - 1e-9)).unwrap_or(x)
}

const GRID: &str = "#e3e3de";
const CURVE: &str = "#2260b5";
const MARK: &str = "#c03d0a";
/// Sides of a panel's square, and where the first begins.
const SIDE: f64 = 340.0;
const ORIGIN: (f64, f64) = (78.0, 118.0);
/// From one panel to the next.
const APART: (f64, f64) = (456.0, 466.0);

/// One of the four pictures.
struct Panel {
    place: usize,
    title: String,
    /// Lines below the title, two at most.
    under: Vec<String>,
    across: &'static str,
    up: &'static str,
    /// The upper end of the axis that goes up.
    top: f64,
    line: Vec<(f64, f64)>,
    dashed: Vec<(f64, f64)>,
    dot: Option<(f64, f64)>,
    /// A range that is shaded.
    band: Option<(f64, f64)>,
    /// Points with intervals.
    bars: Vec<(f64, f64, (f64, f64))>,
}

impl Panel {
    fn new(place: usize, title: String, across: &'static str, up: &'static str) -> Self {
        let (under, line, dashed) = (Vec::new(), Vec::new(), Vec::new());
        Self { place, title, under, across, up, top: 1.0, line, dashed, dot: None, band: None, bars: Vec::new() }
    }
}

/// The four panels.
struct Figure(Svg);

impl Figure {
    fn new(title: &str) -> Self {
        let mut svg = Svg::new(ORIGIN.0 + APART.0 + SIDE + 46.0, ORIGIN.1 + APART.1 + SIDE + 62.0);
        let most = 110;
        let shown: String = title.chars().take(most).collect();
        let shown = if title.chars().count() > most { format!("{shown}…") } else { shown };
        svg.text((ORIGIN.0, 36.0), &shown, &format!("font-size=\"17\" font-weight=\"600\" fill=\"{INK}\""));
        Self(svg)
    }

    fn path(&mut self, points: impl Iterator<Item = (f64, f64)>, style: &str) {
        let mut path = String::new();
        for (at, (x, y)) in points.enumerate() {
            let _ = write!(path, "{}{x:.2} {y:.2}", if at == 0 { 'M' } else { 'L' });
        }
        self.0.line(format_args!("<path d=\"{path}\" fill=\"none\" {style}/>"));
    }

    fn panel(&mut self, panel: &Panel) {
        let left = ORIGIN.0 + APART.0 * (panel.place % 2) as f64;
        let above = ORIGIN.1 + APART.1 * (panel.place / 2) as f64;
        let below = above + SIDE;
        let place = |(x, y): (f64, f64)| (left + SIDE * x, below - SIDE * y / panel.top);
        if let Some((low, high)) = panel.band {
            let (x, width) = (left + SIDE * low, SIDE * (high - low));
            self.0.line(format_args!("<rect x=\"{x:.2}\" y=\"{above}\" width=\"{width:.2}\" height=\"{SIDE}\" fill=\"{CURVE}\" fill-opacity=\"0.10\"/>"));
        }
        for step in 0..=5 {
            let share = f64::from(step) / 5.0;
            let (x, y) = (left + SIDE * share, below - SIDE * share);
            let line = format!("stroke=\"{}\" stroke-width=\"1\"", if step == 0 { SOFT } else { GRID });
            self.path([(x, above), (x, below)].into_iter(), &line);
            self.path([(left, y), (left + SIDE, y)].into_iter(), &line);
            let tick = format!("font-size=\"12\" fill=\"{SOFT}\"");
            self.0.text((x, below + 18.0), &short(share), &format!("{tick} text-anchor=\"middle\""));
            self.0.text((left - 8.0, y + 4.0), &short(share * panel.top), &format!("{tick} text-anchor=\"end\""));
        }
        let label = format!("font-size=\"13\" fill=\"{INK}\" text-anchor=\"middle\"");
        self.0.text((left + SIDE / 2.0, below + 40.0), panel.across, &label);
        let (x, y) = (left - 48.0, above + SIDE / 2.0);
        self.0.text((x, y), panel.up, &format!("{label} transform=\"rotate(-90 {x:.1} {y:.1})\""));
        let title = format!("font-size=\"13.5\" font-weight=\"600\" fill=\"{INK}\"");
        self.0.text((left, above - 44.0), &panel.title, &title);
        for (at, line) in panel.under.iter().enumerate() {
            self.0.text((left, above - 27.0 + 15.0 * at as f64), line, &format!("font-size=\"11.5\" fill=\"{SOFT}\""));
        }
        self.path(panel.dashed.iter().map(|&p| place(p)), &format!("stroke=\"{SOFT}\" stroke-dasharray=\"5 4\""));
        if !panel.line.is_empty() {
            let style = format!("stroke=\"{CURVE}\" stroke-width=\"2\" stroke-linejoin=\"round\"");
            self.path(panel.line.iter().map(|&p| place(p)), &style);
        }
        for &(x, y, (low, high)) in &panel.bars {
            self.path(
                [place((x, low)), place((x, high))].into_iter(),
                &format!("stroke=\"{CURVE}\" stroke-width=\"1.5\""),
            );
            let (x, y) = place((x, y));
            self.0.line(format_args!("<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"4\" fill=\"{CURVE}\"/>"));
        }
        if let Some(dot) = panel.dot {
            let (x, y) = place(dot);
            self.0
                .line(format_args!("<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"5\" fill=\"{MARK}\" stroke=\"#ffffff\"/>"));
        }
    }

    fn finish(self) -> String {
        self.0.finish()
    }
}

/// A number on an axis.
fn short(x: f64) -> String {
    ((x * 1e6).round() / 1e6).to_string()
}
