//! Options of a preparation.

use super::super::scale::Scale;
use super::encode::Encode;
use crate::checkpoint::{Coded, Reader};
use alloc::string::String;
use alloc::vec::Vec;

/// What to do about missing values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// They are an error.
    #[default]
    Refuse,
    /// The training mean in a column of numbers; a category of its own in a categorical column. Where training had some
    /// missing, a column of numbers has one more behind it, `NAME=(missing)`, 1 where the number was missing; where it had none,
    /// a number is filled in without a trace, and a category is all zeros.
    Impute,
}

impl Coded for Missing {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(*self as u8);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(if from.value()? { Self::Impute } else { Self::Refuse })
    }
}

/// What the label column tells of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// Whether it is positive.
    #[default]
    Binary,
    /// Its class: every value is one.
    Classes,
    /// A number for each row (regression).
    Values,
}

/// How a table is split, where labels alone do not say it. The column is no feature.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SplitBy {
    /// The rows that come last by this column of numbers or dates are held out; those of one value stay together.
    Order(String),
    /// The rows of one value of this column stay together.
    Group(String),
}

impl SplitBy {
    /// The column.
    #[must_use]
    pub fn column(&self) -> &String {
        match self {
            Self::Order(column) | Self::Group(column) => column,
        }
    }
}

/// What to make of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The label column of a CSV file: its name, or its number from 1 (−1 is the last). `None` takes the first of
    /// [`LABEL_NAMES`](crate::data::LABEL_NAMES) there is.
    pub label: Option<String>,
    /// What it tells.
    pub target: Target,
    /// Of [`Target::Binary`] the positive label. `None` takes the larger of two numbers; of two words yes, true, positive, y or
    /// t beside its contrary, else the rarer. With a value given all others are negative.
    pub positive: Option<String>,
    /// `None` takes [`Scale::usual`]: [`Scale::Standard`] for CSV and [`Scale::Unit`] for LIBSVM.
    pub scale: Option<Scale>,
    /// What columns of numbers become; of tables with named columns alone.
    pub encode: Encode,
    /// Pairs of features whose encoded columns are multiplied, each of the one with each of the other, as they are scaled; the
    /// products are columns behind all others, by column standardised where these are scaled by column. Of tables with named columns.
    pub cross: Vec<(String, String)>,
    /// What to do about missing values.
    pub missing: Missing,
    /// Columns of numbers to take as categories, and of text whatever [`identifiers`](crate::data::identifiers) says.
    pub categorical: Vec<String>,
    /// Columns that are features as they were read, whatever [`identifiers`](crate::data::identifiers) says.
    pub features: Vec<String>,
    /// Columns whose values, together, make the groups of a table with named columns. They stay features, unless they are
    /// among `ignore`.
    pub group: Vec<String>,
    /// What splits order rows by or keep together, if not rows are drawn by label alone.
    pub split_by: Option<SplitBy>,
    /// The column of numbers that says what each row counts, here as in training; no feature. Data without it has no weights.
    pub weight: Option<String>,
    /// Columns that are no features.
    pub ignore: Vec<String>,
    /// Whether [`identifiers`](crate::data::identifiers) are features, too.
    pub keep_identifiers: bool,
}
