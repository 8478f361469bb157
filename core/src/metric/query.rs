//! Rankings within queries: each is measured by itself, and the mean is told.
//!
//! ```text
//! AP     average precision of the query's rows                       MRR   1/rank of the first positive
//! NDCG@k = DCG@k/max DCG@k,   DCG@k = Σ_{rank r ≤ k} (2^(gain of r) − 1)/log₂(1 + r)
//! ```
//!
//! Järvelin and Kekäläinen 2002, "Cumulated Gain-based Evaluation of IR Techniques", with the gains of Burges et al. 2005,
//! "Learning to Rank Using Gradient Descent". Tied scores: NDCG and MRR are means over all orders of what is tied (McSherry and
//! Najork 2008, "Computing Information Retrieval Performance Measures Efficiently in the Presence of Tied Scores"); average
//! precision shares that at the end of the tie, as [`average_precision`](super::average_precision) does.
//!
//! Queries without anything to find (no positive; of NDCG no gain above 0) say nothing of a ranking: they are left out, and
//! counted.

use super::interval::Interval;
use crate::error::{Error, Result, all_finite, count_labels, exact_len};
use crate::real::Real;
use crate::sort::rows_by;

/// What is measured of each query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfQuery {
    /// Average precision.
    AveragePrecision,
    /// The reciprocal rank of the first positive.
    ReciprocalRank,
    /// Normalised discounted cumulative gain of the first so many rows, or of all.
    Ndcg(Option<u64>),
}

/// The mean over queries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryMean {
    /// The mean.
    pub value: f64,
    /// Where the mean of more such queries lies with 95 % confidence, by the deviation between queries on the scale of the
    /// log-odds; `None` where they tell none.
    pub interval: Option<Interval>,
    /// Queries that it is of.
    pub queries: u64,
    /// Queries without anything to find.
    pub left_out: u64,
}

/// The greatest gain: 2^100 is enough.
const MOST: f64 = 100.0;

/// The mean of a metric over queries. Of each row: its score, label, gain (0 to 100; `gains` may be empty, then they are the
/// labels) and the number of its query. `order` has an entry for each row. O(n log n).
///
/// # Errors
/// `Empty`, `Length`, `NonFinite` (scores), `Label`; `Param` for a gain out of range or a k of 0; `OneClass` where no query has
/// anything to find.
///
/// ```
/// use undercurve::metric::{OfQuery, query_mean};
/// let (scores, labels, query) = ([3.0, 2.0, 1.0, 9.0, 8.0, 7.0], [1, 0, 1, 0, 0, 1], [4, 4, 4, 7, 7, 7]);
/// let mean = query_mean(OfQuery::ReciprocalRank, &scores, &labels, &[], &query, &mut [0; 6])?;
/// assert!((mean.value - (1.0 + 1.0 / 3.0) / 2.0).abs() < 1e-15 && mean.queries == 2);
/// # Ok::<(), undercurve::Error>(())
/// ```
pub fn query_mean<T: Real>(
    what: OfQuery,
    scores: &[T],
    labels: &[u8],
    gains: &[f64],
    query: &[u32],
    order: &mut [u32],
) -> Result<QueryMean> {
    let n = scores.len();
    if n == 0 {
        return Err(Error::Empty { what: "scores" });
    }
    if u32::try_from(n).is_err() {
        return Err(Error::Overflow { what: "scores" });
    }
    exact_len("labels", n, labels.len())?;
    exact_len("query", n, query.len())?;
    exact_len("order", n, order.len())?;
    if !gains.is_empty() {
        exact_len("gains", n, gains.len())?;
    }
    all_finite("scores", scores)?;
    count_labels(labels)?;
    if !gains.iter().all(|gain| (0.0..=MOST).contains(gain)) || what == OfQuery::Ndcg(Some(0)) {
        return Err(Error::Param { what: "gains" });
    }
    order.iter_mut().zip(0..).for_each(|(at, row)| *at = row);
    let key = |row: u32| (query[row as usize], !scores[row as usize].key(), row);
    rows_by(order, &|a, b| key(a).cmp(&key(b)));
    let gain = |row: u32| gains.get(row as usize).map_or_else(|| f64::from(labels[row as usize]), |&gain| gain);
    let (mut queries, mut left_out, mut mean, mut square) = (0u64, 0u64, 0.0, 0.0);
    for rows in order.chunk_by_mut(|&a, &b| query[a as usize] == query[b as usize]) {
        let value = match what {
            OfQuery::AveragePrecision => average_precision(rows, scores, labels),
            OfQuery::ReciprocalRank => reciprocal_rank(rows, scores, labels),
            OfQuery::Ndcg(most) => ndcg(rows, scores, gain, most.unwrap_or(u64::MAX)),
        };
        match value {
            None => left_out += 1,
            Some(value) => {
                // Welford's recursion.
                queries += 1;
                let apart = value - mean;
                mean += apart / queries as f64;
                square += apart * (value - mean);
            }
        }
    }
    if queries == 0 {
        return Err(Error::OneClass);
    }
    let deviation = crate::Real::sqrt(square / (queries as f64 - 1.0) / queries as f64);
    Ok(QueryMean { value: mean, interval: Interval::around(mean, deviation, queries), queries, left_out })
}

/// Rows of one query in descending order, tied ones together.
fn ties<'a, T: Real>(rows: &'a [u32], scores: &'a [T]) -> impl Iterator<Item = &'a [u32]> {
    rows.chunk_by(|&a, &b| scores[a as usize].key() == scores[b as usize].key())
}

fn positives(rows: &[u32], labels: &[u8]) -> u64 {
    rows.iter().map(|&row| u64::from(labels[row as usize])).sum()
}

fn average_precision<T: Real>(rows: &[u32], scores: &[T], labels: &[u8]) -> Option<f64> {
    let (mut found, mut seen, mut sum) = (0, 0, 0.0);
    for tied in ties(rows, scores) {
        let here = positives(tied, labels);
        found += here;
        seen += tied.len() as u64;
        sum += here as f64 * (found as f64 / seen as f64);
    }
    (found > 0).then(|| sum / found as f64)
}

fn reciprocal_rank<T: Real>(rows: &[u32], scores: &[T], labels: &[u8]) -> Option<f64> {
    let mut above = 0.0;
    for tied in ties(rows, scores) {
        let (n, found) = (tied.len() as f64, positives(tied, labels) as f64);
        if found > 0.0 {
            // The first positive is the j-th of the tie with probability p_1 = r/n, p_{j+1} = p_j (n − j − r + 1)/(n − j).
            let (mut chance, mut sum, mut j) = (found / n, 0.0, 1.0);
            while chance > 0.0 {
                sum += chance / (above + j);
                chance *= (n - j - found + 1.0) / (n - j).or_larger(1.0);
                j += 1.0;
            }
            return Some(sum);
        }
        above += n;
    }
    None
}

/// What a row of a rank counts.
fn discount(rank: u64) -> f64 {
    core::f64::consts::LN_2 / Real::ln_1p(rank as f64)
}

fn ndcg<T: Real>(rows: &mut [u32], scores: &[T], gain: impl Fn(u32) -> f64, most: u64) -> Option<f64> {
    let worth = |row: u32| libm::exp2(gain(row)) - 1.0;
    let (mut rank, mut sum) = (0u64, 0.0);
    for tied in ties(rows, scores) {
        if rank >= most {
            break;
        }
        let discounts: f64 = (rank + 1..=(rank + tied.len() as u64).min(most)).map(discount).sum();
        sum += tied.iter().map(|&row| worth(row)).sum::<f64>() / tied.len() as f64 * discounts;
        rank += tied.len() as u64;
    }
    rows_by(rows, &|a, b| gain(b).total_cmp(&gain(a)).then(a.cmp(&b)));
    let best: f64 =
        (1..=most.min(rows.len() as u64)).zip(rows.iter()).map(|(rank, &row)| worth(row) * discount(rank)).sum();
    (best > 0.0).then(|| sum / best)
}
