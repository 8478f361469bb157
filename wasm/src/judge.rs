//! Judging scores from elsewhere: metrics by name, and differences of two scores. Answers are arrays, which `wasm/js/judge.js` reads.

use crate::decide::ends;
use crate::failure::Failure;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use undercurve::measure::{Detail, Groups, Metric, Needs, Ranked, Refusal, Rows, TABLE, Wrong};
use undercurve::metric::{FprRange, Metrics, Pair, Truth};
use wasm_bindgen::prelude::wasm_bindgen;

/// Labels, 1 or 0, with weights and clusters, or none of these.
#[wasm_bindgen]
pub struct Judge {
    labels: Vec<u8>,
    weights: Vec<f64>,
    clusters: Vec<u32>,
    names: Vec<String>,
}

/// What some metrics need.
#[wasm_bindgen]
pub struct Beside {
    fpr: FprRange,
    single: bool,
    threshold: Option<f64>,
    queries: Vec<u32>,
    gains: Vec<f64>,
    groups: Vec<u32>,
    count: usize,
}

#[wasm_bindgen]
impl Beside {
    /// A range of false-positive rates; whether scores were single; a threshold, queries, gains and groups, or none of these.
    #[wasm_bindgen(constructor)]
    pub fn new(
        fpr: &[f64],
        single: bool,
        threshold: Option<f64>,
        queries: Vec<u32>,
        gains: Vec<f64>,
        groups: Vec<u32>,
        count: usize,
    ) -> Result<Self, Failure> {
        let fpr = match *fpr {
            [low, high] => FprRange::new(low, high)?,
            _ => FprRange::FULL,
        };
        Ok(Self { fpr, single, threshold, queries, gains, groups, count })
    }
}

/// Why a metric is not told, in JavaScript's words.
fn refused(why: Refusal) -> Failure {
    let text = match why.text() {
        Ok(text) => text,
        Err(error) => return error.into(),
    };
    let way = match &why {
        Refusal::Needs { what: Needs::Threshold, .. } => " has, or pass threshold",
        Refusal::Needs { what: Needs::Queries, .. } => "; pass queries",
        Refusal::Needs { what: Needs::Groups, .. } => "; pass groups",
        _ => "",
    };
    Failure::new(201, "metrics", &["metrics: ", &text, way].concat())
}

fn named(names: &[String]) -> Result<Vec<Metric>, Failure> {
    let wrong = |why: Wrong| Failure::new(201, "metrics", &["metrics: ", &why.text()].concat());
    names.iter().map(|name| name.parse::<Metric>().map_err(wrong)).collect()
}

#[wasm_bindgen]
impl Judge {
    /// For rows with these labels, 0 or 1, weights, 0 or more, and clusters.
    #[wasm_bindgen(constructor)]
    pub fn new(labels: Vec<u8>, weights: Vec<f64>, clusters: Vec<u32>) -> Result<Self, Failure> {
        Truth::new(&labels, &weights)?.clustered(&clusters)?;
        Ok(Self { labels, weights, clusters, names: Vec::new() })
    }

    fn truth(&self) -> Result<Truth<'_>, Failure> {
        Ok(Truth::new(&self.labels, &self.weights)?.clustered(&self.clusters)?)
    }

    /// The metrics of the last call, as the table calls them.
    pub fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Of each metric: its value, its interval, the noise of a gap, and the groups that it is of; NaN where there are none.
    pub fn measure(&mut self, scores: &[f64], beside: &Beside, names: Vec<String>) -> Result<Vec<f64>, Failure> {
        let metrics = named(&names)?;
        let rows = Rows {
            fpr: beside.fpr,
            single: beside.single,
            threshold: beside.threshold,
            queries: (!beside.queries.is_empty()).then_some(Ranked { of: &beside.queries, gains: &beside.gains }),
            groups: (beside.count > 0).then_some(Groups { of: &beside.groups, count: beside.count }),
            ..Rows::new(scores, self.truth()?)
        };
        let (mut memory, mut out) = (Metrics::new(), Vec::new());
        for metric in &metrics {
            let found = rows.find(metric, &mut memory).map_err(refused)?;
            let [low, high] = ends(found.interval);
            let [noise, first, second] = match found.detail {
                Detail::Gap(gap) => [gap.noise, gap.groups[0].into(), gap.groups[1].into()],
                Detail::Group(group) => [f64::NAN, group as f64, f64::NAN],
                Detail::Rows => [f64::NAN; 3],
            };
            out.extend([found.value.unwrap_or(f64::NAN), low, high, noise, first, second]);
        }
        self.names = metrics.iter().map(|metric| metric.name().to_string()).collect();
        Ok(out)
    }

    /// Of each metric: the values of both scores, their intervals, the difference, its interval, z and p; NaN where there are none.
    pub fn compare(&mut self, a: &[f64], b: &[f64], beside: &Beside, names: Vec<String>) -> Result<Vec<f64>, Failure> {
        let metrics = named(&names)?;
        let (pair, mut out) = (Pair::new([a, b], self.truth()?)?, Vec::new());
        for metric in &metrics {
            let found = metric.compare(&pair, beside.fpr).map_err(refused)?;
            out.extend(found.values);
            out.extend(found.intervals.into_iter().chain([found.interval]).flat_map(ends));
            out.extend([found.difference, found.z.unwrap_or(f64::NAN), found.p.unwrap_or(f64::NAN)]);
        }
        self.names = metrics.iter().map(|metric| metric.name().to_string()).collect();
        Ok(out)
    }
}

/// The names of all metrics.
#[wasm_bindgen(js_name = metricNames)]
pub fn metric_names() -> Vec<String> {
    TABLE.iter().map(|entry| entry.name.to_string()).collect()
}
