//! Exact metrics of a model: for two classes, several, or regression.

use crate::data::{Dataset, Targets};
use crate::error::{Error, Result};
use crate::features::MINIMAL;
use crate::metric::{self, ClassSummary, FprRange, Summary, ValueSummary};
use crate::real::Real;
use crate::scratch::Scratch;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Exact metrics on some rows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Figures {
    /// Of positives and negatives.
    Binary(Summary),
    /// Of several classes, by the log-odds of each.
    #[cfg(feature = "multiclass")]
    Classes(ClassSummary),
    /// Of numbers.
    Values(ValueSummary),
}

impl Figures {
    /// Those of positives and negatives.
    #[must_use]
    pub fn binary(&self) -> Option<&Summary> {
        if let Self::Binary(summary) = self { Some(summary) } else { None }
    }

    /// Those of several classes.
    #[cfg(feature = "multiclass")]
    #[must_use]
    pub fn classes(&self) -> Option<&ClassSummary> {
        if let Self::Classes(summary) = self { Some(summary) } else { None }
    }

    /// A figure by its name: `auroc`, `ap`, `pauc` and `accuracy:0` (from score 0) of two classes; `auroc` and `ap` (means over the classes),
    /// `hand-till` and `accuracy` of several; `rmse`, `mae` and `r2` of numbers.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        self.named().iter().find(|figure| figure.0 == name).map(|figure| figure.1)
    }

    /// Every figure with its name, those of single classes as `auroc[2]`, by number.
    #[must_use]
    pub fn named(&self) -> Vec<(String, f64)> {
        let figures: Vec<(&str, f64)> = match self {
            Self::Binary(s) => [("auroc", s.auroc), ("ap", s.ap), ("pauc", s.pauc), ("accuracy:0", s.accuracy)].into(),
            #[cfg(feature = "multiclass")]
            Self::Classes(s) => {
                [("hand-till", s.hand_till), ("auroc", s.auroc), ("ap", s.ap), ("accuracy", s.accuracy)].into()
            }
            Self::Values(s) => [("rmse", s.rmse), ("mae", s.mae), ("r2", s.r2)].into(),
        };
        #[allow(unused_mut)]
        let mut named: Vec<(String, f64)> = figures.into_iter().map(|(name, value)| (name.into(), value)).collect();
        #[cfg(feature = "multiclass")]
        if let Self::Classes(summary) = self {
            for (k, class) in summary.classes.iter().enumerate() {
                named.push((format!("auroc[{k}]"), class.auroc));
                named.push((format!("ap[{k}]"), class.ap));
            }
        }
        named
    }

    /// Of scores against what a data set knows of its rows; of several classes they are log-odds.
    pub(super) fn of<T: Real>(
        scores: &[T],
        data: &Dataset<T>,
        range: FprRange,
        scratch: Scratch<'_, T>,
    ) -> Result<Self> {
        match data.targets() {
            Targets::Binary(labels) => match data.weights() {
                [] => metric::summary(scores, labels, range, scratch),
                _ => metric::summary(scores, &data.truth(), range, scratch),
            }
            .map(Self::Binary),
            #[cfg(feature = "multiclass")]
            Targets::Classes { labels, names } => {
                metric::class_summary(scores, names.len(), labels, data.weights()).map(Self::Classes)
            }
            #[cfg(not(feature = "multiclass"))]
            Targets::Classes { .. } => Err(Error::Unsupported { what: "several classes in this build" }),
            // (Numbers are for finite sums.)
            Targets::Values(_) if MINIMAL => Err(Error::Unsupported { what: "numbers in this build" }),
            Targets::Values(values) => metric::value_summary(scores, values, data.weights()).map(Self::Values),
            Targets::None => Err(Error::Empty { what: "labels" }),
        }
    }
}
