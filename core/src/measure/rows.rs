//! What a metric says of rows.

use super::{Metric, Result};
use crate::error::Error;
use crate::metric::{FprRange, Gap, Interval, Labels as _, Metrics, OfQuery, QueryMean, Truth, query_mean};
use crate::real::Real as _;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// What a metric needs beside scores and labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing else.
    Nothing,
    /// A threshold.
    Threshold,
    /// Probabilities in place of scores.
    Probabilities,
    /// The query of each row, in which it is ranked.
    Queries,
    /// The group of each row.
    Groups,
}

/// The query of each row.
#[derive(Clone, Copy, Debug)]
pub struct Ranked<'a> {
    /// By number.
    pub of: &'a [u32],
    /// How relevant each row is, 0 to 100; empty where its label says that.
    pub gains: &'a [f64],
}

/// The group of each row.
#[derive(Clone, Copy, Debug)]
pub struct Groups<'a> {
    /// By number.
    pub of: &'a [u32],
    /// How many there are.
    pub count: usize,
}

/// Scores of two classes, and what is known of their rows.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// Higher means rather positive.
    pub scores: &'a [f64],
    /// Whether the scores were of type `f32`: a threshold then is, too.
    pub single: bool,
    /// Labels, weights and clusters.
    pub truth: Truth<'a>,
    /// The range of `pauc`; usually 0:0.05.
    pub fpr: FprRange,
    /// The threshold of `fpr` and its like, where there is one.
    pub threshold: Option<f64>,
    /// A probability of each row, where there are some.
    pub probabilities: Option<&'a [f64]>,
    /// Where rows are ranked by query.
    pub queries: Option<Ranked<'a>>,
    /// Where rows are in groups.
    pub groups: Option<Groups<'a>>,
}

/// What a metric says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// None where there are no rows to tell it from.
    pub value: Option<f64>,
    /// The 95 % interval of a metric that has one.
    pub interval: Option<Interval>,
    /// What stands behind the value.
    pub detail: Detail,
}

/// What stands behind a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Detail {
    /// All rows.
    Rows,
    /// The two groups, and how much of their gap may be noise.
    Gap(Gap),
    /// This group.
    Group(usize),
}

/// Why a metric is not told.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// It needs what is not given.
    Needs {
        /// The metric.
        metric: String,
        /// What.
        what: Needs,
    },
    /// It takes no weights.
    Weights {
        /// The metric.
        metric: String,
    },
    /// There are only so many rows.
    Few {
        /// The metric.
        metric: String,
        /// Whole rows, by weight.
        rows: u64,
    },
    /// It needs the rows, of which only counts are there.
    Counted {
        /// The metric.
        metric: String,
    },
    /// Differences of it are not tested.
    Alone {
        /// The metric.
        metric: String,
    },
    /// What is wrong with the rows.
    Rows(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Rows(error)
    }
}

/// A whole number in decimal digits, without what formats.
fn digits(mut number: u64) -> String {
    let mut digits = Vec::new();
    while digits.is_empty() || number > 0 {
        digits.push(char::from(b'0' + (number % 10) as u8));
        number /= 10;
    }
    digits.iter().rev().collect()
}

impl Refusal {
    /// In words.
    ///
    /// # Errors
    /// What is wrong with the rows.
    pub fn text(&self) -> crate::error::Result<String> {
        Ok(match self {
            Self::Needs { metric, what: Needs::Threshold } => {
                [metric, ": is at a threshold, as ", metric, ":0.5"].concat()
            }
            Self::Needs { metric, what } => {
                let what = match what {
                    Needs::Probabilities => "probabilities, and the scores are not all from 0 to 1",
                    Needs::Queries => "queries",
                    Needs::Groups => "groups",
                    _ => "rows",
                };
                [metric, ": is of ", what].concat()
            }
            Self::Weights { metric } => [metric, ": takes no weights"].concat(),
            Self::Few { metric, rows } => [metric, ": there are ", &digits(*rows), " rows"].concat(),
            Self::Counted { metric } => [metric, ": needs the rows, and only counts are there"].concat(),
            Self::Alone { metric } => [metric, ": differences of it are not tested"].concat(),
            Self::Rows(error) => return Err(*error),
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text() {
            Ok(text) => f.write_str(&text),
            Err(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Refusal {}

impl<'a> Rows<'a> {
    /// Scores, and labels with weights and clusters. Scores from 0 to 1 are probabilities, too.
    #[must_use]
    pub fn new(scores: &'a [f64], truth: Truth<'a>) -> Self {
        let fpr = FprRange::new(0.0, 0.05).unwrap_or(FprRange::FULL);
        let probabilities = scores.iter().all(|score| (0.0..=1.0).contains(score)).then_some(scores);
        Self { scores, single: false, truth, fpr, threshold: None, probabilities, queries: None, groups: None }
    }

    /// A threshold in the type of the scores.
    #[must_use]
    pub fn at(&self, threshold: f64) -> f64 {
        if self.single { f64::from(f32::of(threshold)) } else { threshold }
    }

    /// Refuses a metric of what is not there.
    ///
    /// # Errors
    /// `Needs`, `Weights`.
    pub fn check(&self, metric: &Metric) -> Result<()> {
        if self.truth.are_weighed() && !metric.entry().weights {
            return Err(metric.refused(|metric| Refusal::Weights { metric }));
        }
        let there = match metric.entry().needs {
            Needs::Nothing => true,
            Needs::Threshold => !metric.lacks_threshold() || self.threshold.is_some(),
            Needs::Probabilities => self.probabilities.is_some(),
            Needs::Queries => self.queries.is_some(),
            Needs::Groups => self.groups.is_some(),
        };
        if there {
            Ok(())
        } else {
            Err(metric.refused(|name| Refusal::Needs { metric: name, what: metric.entry().needs }))
        }
    }

    /// What a metric says. O(n log n).
    ///
    /// # Errors
    /// Where it needs what is not there, and for bad rows.
    pub fn find(&self, metric: &Metric, memory: &mut Metrics<f64>) -> Result<Found> {
        self.check(metric)?;
        let found =
            (metric.entry().value)(metric, self, memory).map_err(|error| match (error, metric.arguments.top) {
                (Error::Param { .. }, Some(_)) => {
                    let rows = (0..self.scores.len()).map(|row| self.truth.weight(row)).sum::<f64>() as u64;
                    metric.refused(|metric| Refusal::Few { metric, rows })
                }
                (error, _) => error.into(),
            })?;
        let Some(estimate) = metric.estimate(self.fpr)? else { return Ok(found) };
        let interval = memory.interval(self.scores, self.truth, estimate)?;
        let value = found.value.map(|value| metric.scaled(value, self.fpr));
        Ok(Found { value, interval: metric.ends(interval, self.fpr), ..found })
    }

    /// The mean of a figure over queries; `None` where there are none.
    ///
    /// # Errors
    /// As [`query_mean`].
    pub fn of_queries(&self, mean: OfQuery) -> crate::error::Result<Option<QueryMean>> {
        let Some(Ranked { of, gains }) = self.queries else { return Ok(None) };
        query_mean(mean, self.scores, self.truth.labels(), gains, of, &mut vec![0; self.scores.len()]).map(Some)
    }
}
