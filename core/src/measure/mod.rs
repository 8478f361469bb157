//! Metrics by name: one [`TABLE`], from which the command line, Python, JavaScript and C have them.
//!
//! ```
//! use undercurve::measure::{Metric, Rows};
//! use undercurve::metric::Metrics;
//!
//! let rows = Rows::new(&[0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1][..].into());
//! let mut memory = Metrics::new();
//! let mut value = |name: &str| rows.find(&name.parse().unwrap(), &mut memory).unwrap().value;
//! assert_eq!((value("auroc"), value("precision-at:1"), value("f1:0.3")), (Some(0.75), Some(1.0), Some(0.8)));
//! ```

mod rows;
mod table;

pub use rows::{Detail, Found, Groups, Needs, Ranked, Refusal, Rows};
pub use table::{Entry, TABLE};

use crate::decimal::number;
use crate::metric::{Bounds, Comparison, Estimate, FprRange, Interval, Pair, State, Top, mcclish};
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

type Result<T> = core::result::Result<T, Refusal>;

/// One metric with its arguments, read by [`FromStr`].
#[derive(Clone, Debug)]
pub struct Metric {
    name: String,
    entry: &'static Entry,
    arguments: Arguments,
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// What follows a name.
#[derive(Clone, Debug, Default)]
struct Arguments {
    numbers: Vec<f64>,
    /// The same as rows at the top, where it is one number or a share.
    top: Option<Top>,
}

impl Arguments {
    fn numbers(&self) -> Option<&[f64]> {
        // (`2%` is a share alone.)
        (!self.numbers.is_empty() || self.top.is_none()).then_some(&self.numbers)
    }
}

/// Why a text is no metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// There is no such name.
    Unknown(String),
    /// What was expected.
    Form(String),
}

impl Wrong {
    /// In words. (As all here without what formats, which would be a tenth of a download.)
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Unknown(name) => {
                let names: Vec<&str> = TABLE.iter().map(|entry| entry.name).collect();
                ["no metric \"", name, "\"; there are ", &names.join(", ")].concat()
            }
            Self::Form(expected) => ["expected ", expected].concat(),
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl core::error::Error for Wrong {}

impl FromStr for Metric {
    type Err = Wrong;
    fn from_str(text: &str) -> core::result::Result<Self, Wrong> {
        // gap(tpr@0.1) is gap(tpr) with a number.
        let gap = text.contains('(');
        let dash = |c: char| if matches!(c, '_' | ' ') { '-' } else { c.to_ascii_lowercase() };
        let plain: String = match gap {
            true => text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_ascii_lowercase()).collect(),
            false => text.trim().chars().map(dash).collect(),
        };
        let (name, numbers) = match plain.split_once(if gap { '@' } else { ':' }) {
            Some((rate, at)) if gap => ([rate, ")"].concat(), [":", at.trim_end_matches(')')].concat()),
            Some((name, numbers)) => (name.to_string(), [":", numbers].concat()),
            None => (plain, String::new()),
        };
        let unknown = || Wrong::Unknown(text.trim().split(':').next().unwrap_or_default().into());
        let known = |entry: &&Entry| entry.name == name || entry.aliases.contains(&&*name);
        let entry = TABLE.iter().find(known).ok_or_else(unknown)?;
        let wrong = || {
            let with = if entry.limits.is_empty() { "" } else { " with " };
            Wrong::Form([entry.name, entry.form, with, entry.limits].concat())
        };
        let top = numbers.strip_prefix(':').and_then(|rows| rows.parse().ok());
        let parsed: Option<Vec<f64>> = numbers.split(':').skip(1).map(number).collect();
        if parsed.is_none() && top.is_none() {
            return Err(wrong());
        }
        let arguments = Arguments { numbers: parsed.unwrap_or_default(), top };
        if !(entry.fits)(&arguments) {
            return Err(wrong());
        }
        let name = match numbers.strip_prefix(':') {
            // (As numbers are written: .1 is 0.1.)
            Some(at) if gap => {
                let zero = if at.starts_with('.') { "0" } else { "" };
                [entry.name.trim_end_matches(')'), "@", zero, at, ")"].concat()
            }
            _ => [entry.name, &numbers].concat(),
        };
        Ok(Self { name, entry, arguments })
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Metric {
    /// As it is written, with the name of the table.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its line of the table.
    #[must_use]
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// Those of a report: with a threshold its rates, with probabilities how good they are, with queries their means, with groups their gaps.
    #[must_use]
    pub fn usual(threshold: bool, probabilities: bool, queries: bool, groups: bool) -> Vec<Self> {
        let told = |needs: Needs| match needs {
            Needs::Nothing => true,
            Needs::Threshold => threshold,
            Needs::Probabilities => probabilities,
            Needs::Queries => queries,
            Needs::Groups => groups,
        };
        let names = TABLE.iter().filter(|entry| told(entry.needs)).filter_map(|entry| entry.usual);
        names.filter_map(|name| name.parse().ok()).collect()
    }

    /// Whether it needs a threshold that it does not bring.
    #[must_use]
    pub fn lacks_threshold(&self) -> bool {
        self.entry.needs == Needs::Threshold && self.arguments.numbers.is_empty()
    }

    fn refused(&self, why: impl FnOnce(String) -> Refusal) -> Refusal {
        why(self.name.to_string())
    }

    /// The numbers behind its name, of which there are as many as its entry takes.
    fn numbers(&self) -> &[f64] {
        &self.arguments.numbers
    }

    /// The first of them.
    fn number(&self) -> f64 {
        self.numbers().first().copied().unwrap_or(0.0)
    }

    /// The range of false-positive rates, or the usual one.
    fn range(&self, usual: FprRange) -> crate::error::Result<FprRange> {
        match *self.numbers() {
            [.., low, high] => FprRange::new(low, high),
            [high] => FprRange::new(0.0, high),
            [] => Ok(usual),
        }
    }

    /// What its interval and its differences are those of, with this range of `pauc`; `None` where it has none.
    fn estimate(&self, usual: FprRange) -> Result<Option<Estimate>> {
        Ok(self.entry.estimate.map(|of| of(self, usual)).transpose()?)
    }

    /// A value (or the end of an interval) of that estimate as one of this metric.
    fn scaled(&self, value: f64, usual: FprRange) -> f64 {
        match self.range(usual) {
            Ok(range) if self.entry.standardised => mcclish(value, range),
            _ => value,
        }
    }

    fn ends(&self, interval: Option<Interval>, usual: FprRange) -> Option<Interval> {
        let of = |end: f64| self.scaled(end, usual);
        interval.map(|ends| Interval { low: of(ends.low), high: of(ends.high) })
    }

    /// What it says of two scores of the same rows, their difference with its interval, and a p-value; with this range of `pauc`.
    ///
    /// # Errors
    /// Where differences of it are not tested, and for bad rows.
    pub fn compare(&self, pair: &Pair<'_>, fpr: FprRange) -> Result<Comparison> {
        let estimate = self.estimate(fpr)?.ok_or_else(|| self.refused(|metric| Refusal::Alone { metric }))?;
        let found = pair.compare(estimate)?;
        let apart = |x: f64| self.scaled(x, fpr) - self.scaled(0.0, fpr);
        Ok(Comparison {
            values: found.values.map(|value| self.scaled(value, fpr)),
            intervals: found.intervals.map(|ends| self.ends(ends, fpr)),
            difference: apart(found.difference),
            interval: found.interval.map(|ends| Interval { low: apart(ends.low), high: apart(ends.high) }),
            ..found
        })
    }

    /// What it says of counted scores that merge, with this range of `pauc`.
    ///
    /// # Errors
    /// Where it needs the rows themselves, and as [`State::summary`].
    pub fn of_state(&self, state: &State, fpr: FprRange) -> Result<Found> {
        self.check_state()?;
        let of = self.entry.state.ok_or_else(|| self.refused(|metric| Refusal::Counted { metric }))?;
        let value = of(self, state, fpr)?.map(|value| self.scaled(value, fpr));
        let interval = self.estimate(fpr)?.map(|of| state.interval(of)).transpose()?.flatten();
        Ok(Found { value, interval: self.ends(interval, fpr), detail: Detail::Rows })
    }

    /// Refuses what needs the rows themselves, or a threshold.
    ///
    /// # Errors
    /// `Counted`, `Needs`.
    pub fn check_state(&self) -> Result<()> {
        if self.entry.state.is_none() {
            return Err(self.refused(|metric| Refusal::Counted { metric }));
        }
        if self.lacks_threshold() {
            return Err(self.refused(|metric| Refusal::Needs { metric, what: Needs::Threshold }));
        }
        Ok(())
    }

    /// Between which numbers it lies, by bounds of the rows over its range of false-positive rates; `None` of a metric without bounds.
    ///
    /// # Errors
    /// As `bounds`.
    pub fn bounds(
        &self,
        bounds: impl FnOnce(FprRange) -> crate::error::Result<Bounds>,
        fpr: FprRange,
    ) -> Result<Option<(f64, f64)>> {
        let Some(of) = self.entry.bounds else { return Ok(None) };
        let (low, high) = of(&bounds(self.range(fpr)?)?);
        Ok(Some((self.scaled(low, fpr), self.scaled(high, fpr))))
    }
}
