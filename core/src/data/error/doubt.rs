//! What is open about a column, and how that is told.

use super::Quoted;
use core::fmt;

/// What is open about how a column is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doubt {
    /// Whether the point or the comma in a number is its decimal mark: 1.243 may be 1243.
    Decimal,
    /// Some numbers have decimal points and some decimal commas.
    TwoMarks,
    /// A number has another decimal mark than the file, or training, was said to have.
    OtherMark,
    /// A column has decimal commas, and another one decimal points, in a file with commas between its cells.
    MarkOfFile,
    /// Whether the day or the month comes first.
    DateOrder,
    /// Which part of a date is its year, of two digits.
    ShortYear,
    /// In some dates the day comes first, in some the month.
    TwoOrders,
    /// Some numbers have percent signs and some none, or training had it otherwise.
    Percent,
    /// There is more than one currency.
    Currencies,
    /// A number is a limit of measuring, and training had none in the column.
    Limits,
    /// Clocks with two parts and with three: 59:30 may be minutes or hours.
    Clock,
    /// A number, or a text without its blanks, is two categories of training.
    Category,
    /// A column holds what nothing can be made of, as lists.
    Unreadable,
    /// Two categories are one number, and the column was read as numbers.
    Spelling,
}

impl Doubt {
    /// Says it of these cells of a column.
    pub(super) fn tell(self, f: &mut fmt::Formatter<'_>, column: &str, text: &str, other: &str) -> fmt::Result {
        let (text, other, column) = (Quoted(text), Quoted(other), Quoted(column));
        match self {
            Self::Decimal => write!(
                f,
                "{text} in column {column}: is that a decimal mark, or a mark between thousands? No cell tells"
            ),
            Self::TwoMarks => {
                write!(f, "column {column} has decimal points and decimal commas: {text} and {other}")
            }
            Self::OtherMark => {
                write!(f, "{text} in column {column} has another decimal mark than is expected there")
            }
            Self::MarkOfFile => {
                write!(f, "{text} in column {column}: a decimal comma, where other columns have decimal points?")
            }
            Self::DateOrder => {
                write!(f, "{text} in column {column}: does the day or the month come first? No cell tells")
            }
            Self::ShortYear => {
                write!(f, "{text} in column {column}: which part is the year? No cell tells")
            }
            Self::Limits => {
                write!(f, "a limit, as {text}, in column {column}, where training had none")
            }
            Self::TwoOrders => {
                write!(f, "dates of column {column} begin with the day and with the month: {text} and {other}")
            }
            Self::Percent if other.0.is_empty() => write!(
                f,
                "{text} in column {column}, where training had {} percent signs",
                if text.0.contains('%') { "no" } else { "only" }
            ),
            Self::Percent => {
                write!(f, "column {column} has numbers with a percent sign and without: {text} and {other}")
            }
            Self::Clock => write!(
                f,
                "column {column} has clocks with two parts and with three: {text} and {other}; are the two hours and minutes?"
            ),
            Self::Unreadable => {
                let text = text.0;
                write!(f, "column {column} holds {text}, which is neither numbers, text nor dates")
            }
            Self::Spelling => {
                write!(f, "categories {text} and {other} of column {column} are one number: it has to be read as text")
            }
            Self::Category => {
                write!(f, "a value of column {column} is two categories of training: {text} and {other}")
            }
            Self::Currencies => write!(f, "column {column} has two currencies: {text} and {other}"),
        }
    }
}
