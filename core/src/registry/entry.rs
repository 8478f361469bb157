//! The entry of a method or a step rule: names, texts, parameters and sources. Each is at the end of its method's file.

use super::params::Param;

/// Where a method was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Authors, year and title.
    pub paper: &'static str,
    /// Equations and algorithm numbers.
    pub part: &'static str,
}

/// What a method looks at in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The scores of a batch.
    Batches,
    /// The scores of a batch with so many rows of each label in each group.
    Cells,
    /// The scores of all rows.
    Whole,
    /// A finite sum of losses of one linear score each, by algorithms of its own.
    FiniteSum,
}

/// The metric of two classes that a method trains for: likelihoods and losses of single rows, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metric {
    Auroc,
    Ap,
    /// Over the run's range.
    Pauc,
}

impl Metric {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Auroc => "auroc",
            Self::Ap => "ap",
            Self::Pauc => "pauc",
        }
    }
}

/// A method as it stands in its file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub name: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    pub kind: Kind,
    pub metric: Metric,
    pub params: &'static [Param],
    pub paper: &'static [(&'static str, &'static str)],
    pub source: Source,
    pub files: &'static [&'static str],
}

/// A step rule that score-space methods may run on.
#[derive(Clone, Copy, Debug)]
pub struct Optimizer {
    /// Its name in `--set optimizer=`.
    pub name: &'static str,
    /// A sentence on what it is.
    pub about: &'static str,
    /// Where it comes from.
    pub source: Source,
    /// Its file, from the repository's root.
    pub file: &'static str,
}
