//! What a model reads: what its metric loses when a column is shuffled.

use crate::error::Result;
use crate::job::{Job, Row, mean_sd};
use undercurve::data::{Preparation, Rows};
use undercurve::metric::{FprRange, Metrics, TieRule};
use undercurve::rng::Rng;

/// Shuffles of a column.
const SHUFFLES: u64 = 5;
/// Numbers that shuffled rows of all columns have together, at most, and rows that are shuffled and scored together.
const MOST_SHUFFLED: usize = 20_000_000;
const MOST_ROWS: usize = 2000;
const SCORED: usize = 256;
/// The generator's purpose.
const SHUFFLE: u64 = 0x7368_7566;

/// What the metric loses on held-out rows when a column is shuffled.
#[derive(Clone, Debug)]
pub struct Importance {
    /// The column.
    pub column: String,
    /// The mean over shuffles.
    pub loss: f64,
    /// Its standard deviation.
    pub sd: f64,
}

/// The columns of a file, and the encoded columns that each became; then each two columns that are multiplied.
#[must_use]
pub fn places(of: &Preparation) -> Vec<(String, Vec<usize>)> {
    let mut encoded = 0..of.cols();
    let each = of.sources().into_iter();
    let mut all: Vec<(String, Vec<usize>)> =
        each.map(|(name, source)| (name.to_string(), encoded.by_ref().take(source.width()).collect())).collect();
    let of_column: Vec<usize> = all.iter().enumerate().flat_map(|(at, column)| vec![at; column.1.len()]).collect();
    for ([left, right], at) in of.crosses().into_iter().zip(encoded) {
        let name = format!("{}*{}", all[of_column[left]].0, all[of_column[right]].0);
        match all.last_mut().filter(|last| last.0 == name) {
            Some(last) => last.1.push(at),
            None => all.push((name, vec![at])),
        }
    }
    all
}

/// What the metric loses on rows that the last split holds out, by its model, when all that was made of a column is shuffled; the most first.
///
/// # Errors
/// As a training.
pub fn importances(job: &Job<'_>, row: &Row) -> Result<Vec<Importance>> {
    let part = job.part(row.candidate.encoding, job.folds.count - 1)?;
    let Some(mut model) = row.trained.last().map_or(Ok(None), |trained| trained.model())? else {
        return Ok(Vec::new());
    };
    let (data, all, metric) = (&part.held, part.held.rows(), job.metric);
    let (cols, places) = (data.cols(), places(&part.preparation));
    // (Rows of each class in their share: folds are drawn so.)
    let shuffles = if places.len() > 50 { 1 } else { SHUFFLES };
    let most = (MOST_SHUFFLED / (places.len() * cols * shuffles as usize).max(1)).clamp(SCORED, MOST_ROWS);
    let every = data.len().div_ceil(most);
    let some: Vec<usize> = (0..data.len()).step_by(every).collect();
    let labels: Vec<u8> = some.iter().map(|&row| data.labels()[row]).collect();
    if !labels.contains(&1) || !labels.contains(&0) {
        return Ok(Vec::new());
    }
    let mut scores = vec![0.0; data.len()];
    model.score(all, &mut scores)?;
    let own: Vec<f32> = some.iter().map(|&row| scores[row]).collect();
    let before = measure(metric, job.fpr, &own, &labels)?;
    let (mut found, mut shuffled) = (Vec::new(), Vec::with_capacity(SCORED * cols));
    let [mut own, mut drawn] = [(); 2].map(|()| vec![0.0; cols]);
    for (number, (column, at)) in places.into_iter().enumerate() {
        let mut losses = Vec::new();
        for shuffle in 0..shuffles {
            let mut order = some.clone();
            Rng::keyed(job.seed, SHUFFLE, number as u64 * SHUFFLES + shuffle).shuffle(&mut order);
            let mut after = vec![0.0; some.len()];
            for (from, after) in (0..).step_by(SCORED).zip(after.chunks_mut(SCORED)) {
                shuffled.clear();
                for k in from..from + after.len() {
                    all.copy_row(some[k], &mut own)?;
                    all.copy_row(order[k], &mut drawn)?;
                    at.iter().for_each(|&k| own[k] = drawn[k]);
                    shuffled.extend_from_slice(&own);
                }
                model.score(Rows::dense(&shuffled, cols)?, after)?;
            }
            losses.push(before - measure(metric, job.fpr, &after, &labels)?);
        }
        let (loss, sd) = mean_sd(&losses);
        found.push(Importance { column, loss, sd });
    }
    found.sort_by(|a, b| b.loss.total_cmp(&a.loss));
    Ok(found)
}

/// A metric of scores, by the core's name; of a partial AUC over these false-positive rates.
///
/// # Errors
/// As the metric.
pub fn measure(metric: &str, (low, high): (f64, f64), scores: &[f32], labels: &[u8]) -> Result<f64> {
    let mut memory = Metrics::<f32>::new();
    Ok(match metric {
        "auroc" => memory.auroc(scores, labels)?,
        "ap" => memory.average_precision(scores, labels)?,
        _ => memory.partial_auc(scores, labels, FprRange::new(low, high)?, TieRule::Trapezoid)?,
    })
}
