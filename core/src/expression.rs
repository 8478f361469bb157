//! Constraints as a person writes them: `gap(fpr) <= 0.05`, `recall[Female] >= 0.8`, `loss(old.csv) <= old + 0.01`.
//!
//! ```text
//! constraint = quantity ("<=" | "≤" | ">=" | "≥") bound
//! quantity   = "gap" "(" ("tpr" | "fpr") ["@" level] ")"              level: one pooled false-positive rate, in (0, 1)
//!            | ("recall" | "tpr" | "fpr" | "precision" | "loss") ["[" group "]"]
//!            | "loss" "(" file ")"
//! bound      = number | "old" ["+" number]                            old: of a loss alone
//! ```
//!
//! Bounds of rates, precision and gaps are in [0, 1], those of losses are 0 or more. Gaps and losses have upper bounds alone. Spaces
//! between parts are ignored. A group or a file with `]` or `)` in its name is written in double quotes, with each double
//! quote inside doubled. `parse` reads what `Display` writes.

pub use crate::constraint::Sense;
use crate::constraint::{Constraint, Measure};
use crate::decimal;
use crate::error::Escaped;
use crate::metric::Rate;
use alloc::string::{String, ToString};
use core::fmt;

/// What is measured.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Quantity {
    /// The largest difference of a rate between two groups.
    Gap {
        /// Which rate.
        rate: Rate,
        /// At the threshold of this false-positive rate over all groups, in (0, 1); else over all thresholds.
        fpr: Option<f64>,
    },
    /// A rate at the decision threshold; `recall` is the true-positive rate.
    Rate {
        /// Which rate.
        rate: Rate,
        /// Of this group, else of all rows.
        group: Option<String>,
    },
    /// Positives among the rows that are predicted positive.
    Precision {
        /// Of this group, else of all rows.
        group: Option<String>,
    },
    /// Mean logistic loss.
    Loss {
        /// Of this group, else of all rows.
        group: Option<String>,
    },
    /// Mean logistic loss on the rows of a file.
    LossOn {
        /// The file.
        file: String,
    },
}

/// What bounds a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// This number.
    Value(f64),
    /// What the quantity was before training, and so much more, 0 or above.
    Old(f64),
}

/// A constraint.
///
/// ```
/// use undercurve::expression::{Bound, Expression};
/// let constraint = Expression::parse("gap(fpr@0.1) <= .05")?;
/// assert_eq!(constraint.bound, Bound::Value(0.05));
/// assert_eq!(constraint.to_string(), "gap(fpr@0.1) <= 0.05");
/// let error = Expression::parse("gap(fpr) < 0.05").unwrap_err();
/// assert_eq!(error.to_string(), "character 10: expected <= or >=");
/// # Ok::<(), undercurve::expression::ExpressionError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// What is measured.
    pub quantity: Quantity,
    /// On which side of the bound it is to be.
    pub sense: Sense,
    /// By what it is bounded.
    pub bound: Bound,
}

/// Why a text is no constraint, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// The character, from 1; one past the last when something is missing at the end.
    pub at: usize,
    /// What is wrong there.
    pub kind: ExpressionErrorKind,
}

/// The kinds of [`ExpressionError`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExpressionErrorKind {
    /// Something else has to stand there.
    Expected {
        /// The text that was expected.
        what: &'static str,
    },
    /// No quantity has this name.
    Unknown {
        /// The name.
        name: String,
    },
    /// More than a constraint.
    Trailing,
    /// A number that is outside its range.
    Range {
        /// The range.
        what: &'static str,
    },
    /// A lower bound of what can only be bounded from above.
    UpperOnly,
    /// `old` of what is no loss.
    OldOnlyLoss,
}

impl ExpressionError {
    /// Its number in [`CODES`](crate::CODES).
    #[must_use]
    pub const fn code(&self) -> u16 {
        141
    }
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "character {}: ", self.at)?;
        match &self.kind {
            ExpressionErrorKind::Expected { what } => write!(f, "expected {what}"),
            ExpressionErrorKind::Unknown { name } => {
                write!(f, "no quantity \"{}\"; there are {NAMES}", Escaped(name))
            }
            ExpressionErrorKind::Trailing => f.write_str("expected nothing more"),
            ExpressionErrorKind::Range { what } => write!(f, "expected {what}"),
            ExpressionErrorKind::UpperOnly => f.write_str("gaps and losses are bounded by <= alone"),
            ExpressionErrorKind::OldOnlyLoss => f.write_str("only a loss is compared with its old value"),
        }
    }
}

impl core::error::Error for ExpressionError {}

/// The list of quantities: how each is shown where a name is unknown, its names, and the method that reads it. What is not shown
/// cannot be read, so a test that counts each quantity shown misses none.
macro_rules! quantities {
    ($first:literal: $($first_name:literal)|+ => $read_first:ident, $($shown:literal: $($name:literal)|+ => $read:ident,)*) => {
        const NAMES: &str = concat!($first, $(", ", $shown),*);

        impl Cursor<'_> {
            fn quantity(&mut self) -> Result<Quantity, ExpressionError> {
                self.space();
                let place = self.at;
                match self.span(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')) {
                    $($first_name)|+ => self.$read_first(),
                    $($($name)|+ => self.$read(),)*
                    "" => Err(self.error(place, ExpressionErrorKind::Expected { what: NAMES })),
                    name => Err(self.error(place, ExpressionErrorKind::Unknown { name: name.to_string() })),
                }
            }
        }
    };
}

quantities! {
    "gap(fpr), gap(tpr)": "gap" => gap,
    "recall": "recall" | "tpr" => recall,
    "fpr": "fpr" => fpr,
    "precision": "precision" => precision,
    "loss": "loss" => loss,
}

impl Expression {
    /// A constraint with names for the numbers of groups; a group without a name is called by its number.
    #[must_use]
    pub fn of(constraint: &Constraint, groups: &[String]) -> Self {
        let name =
            |group: Option<u16>| group.map(|at| groups.get(usize::from(at)).cloned().unwrap_or_else(|| at.to_string()));
        let quantity = match constraint.measure {
            Measure::Gap { rate, at } => Quantity::Gap { rate, fpr: at },
            Measure::Rate { rate, group } => Quantity::Rate { rate, group: name(group) },
            Measure::Precision { group } => Quantity::Precision { group: name(group) },
            Measure::Loss { group } => Quantity::Loss { group: name(group) },
        };
        Self { quantity, sense: constraint.sense, bound: Bound::Value(constraint.bound) }
    }

    /// Reads a constraint.
    ///
    /// # Errors
    /// [`ExpressionError`].
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let mut cursor = Cursor { text, at: 0 };
        let quantity = cursor.quantity()?;
        cursor.space();
        let place = cursor.at;
        let sense = if cursor.take("<=") || cursor.take("≤") {
            Sense::AtMost
        } else if cursor.take(">=") || cursor.take("≥") {
            Sense::AtLeast
        } else {
            return Err(cursor.expected("<= or >="));
        };
        let (loss, upper_only) = match quantity {
            Quantity::Loss { .. } | Quantity::LossOn { .. } => (true, true),
            Quantity::Gap { .. } => (false, true),
            Quantity::Rate { .. } | Quantity::Precision { .. } => (false, false),
        };
        if sense == Sense::AtLeast && upper_only {
            return Err(cursor.error(place, ExpressionErrorKind::UpperOnly));
        }
        cursor.space();
        let place = cursor.at;
        let bound = if cursor.take("old") {
            if !loss {
                return Err(cursor.error(place, ExpressionErrorKind::OldOnlyLoss));
            }
            cursor.space();
            Bound::Old(if cursor.take("+") { cursor.number_in(f64::MAX, "0 or more")? } else { 0.0 })
        } else {
            let (most, what) = if loss { (f64::MAX, "0 or more") } else { (1.0, "0 to 1") };
            Bound::Value(cursor.number_in(most, what)?)
        };
        cursor.end()?;
        Ok(Self { quantity, sense, bound })
    }
}

impl Quantity {
    /// Reads what stands left of a bound.
    ///
    /// # Errors
    /// [`ExpressionError`].
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let mut cursor = Cursor { text, at: 0 };
        let quantity = cursor.quantity()?;
        cursor.end()?;
        Ok(quantity)
    }

    /// The group that it names, if it names one.
    #[must_use]
    pub fn group(&self) -> Option<&str> {
        match self {
            Self::Rate { group, .. } | Self::Precision { group } | Self::Loss { group } => group.as_deref(),
            Self::Gap { .. } | Self::LossOn { .. } => None,
        }
    }

    /// What the rows are called that its value is a share or a mean of.
    #[must_use]
    pub fn rows(&self) -> &'static str {
        match self {
            Self::Gap { rate: Rate::Tpr, .. } | Self::Rate { rate: Rate::Tpr, .. } => "positive rows",
            Self::Gap { rate: Rate::Fpr, .. } | Self::Rate { rate: Rate::Fpr, .. } => "negative rows",
            Self::Precision { .. } => "rows that are predicted positive",
            Self::Loss { .. } | Self::LossOn { .. } => "rows",
        }
    }
}

/// Text, and how many of its bytes are read.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn error(&self, at: usize, kind: ExpressionErrorKind) -> ExpressionError {
        let before = self.text.get(..at).unwrap_or_default();
        ExpressionError { at: before.chars().count() + 1, kind }
    }

    fn expected(&self, what: &'static str) -> ExpressionError {
        self.error(self.at, ExpressionErrorKind::Expected { what })
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Whether this came next.
    fn take(&mut self, part: &str) -> bool {
        let there = self.rest().starts_with(part);
        self.at += if there { part.len() } else { 0 };
        there
    }

    /// Space, then this.
    fn need(&mut self, part: &str, what: &'static str) -> Result<(), ExpressionError> {
        self.space();
        if self.take(part) { Ok(()) } else { Err(self.expected(what)) }
    }

    /// The characters from here on that fit.
    fn span(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let span = rest.find(|c| !fits(c)).and_then(|end| rest.get(..end)).unwrap_or(rest);
        self.at += span.len();
        span
    }

    fn end(&mut self) -> Result<(), ExpressionError> {
        self.space();
        if self.rest().is_empty() { Ok(()) } else { Err(self.error(self.at, ExpressionErrorKind::Trailing)) }
    }

    fn number(&mut self, what: &'static str) -> Result<f64, ExpressionError> {
        self.space();
        let place = self.at;
        let text = self.span(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-'));
        // −0 is displayed as 0.
        decimal::number(text).map(|x| x + 0.0).ok_or_else(|| self.error(place, ExpressionErrorKind::Expected { what }))
    }

    /// A number from 0 to `most`.
    fn number_in(&mut self, most: f64, what: &'static str) -> Result<f64, ExpressionError> {
        self.space();
        let place = self.at;
        let value = self.number("a number")?;
        match (0.0..=most).contains(&value) {
            true => Ok(value),
            false => Err(self.error(place, ExpressionErrorKind::Range { what })),
        }
    }

    /// A name up to `close`, which is read, too.
    fn name(&mut self, close: char, what: &'static str) -> Result<String, ExpressionError> {
        self.space();
        let place = self.at;
        let mut name = String::new();
        if self.take("\"") {
            loop {
                name.push_str(self.span(|c| c != '"'));
                if !self.take("\"") {
                    return Err(self.expected("a closing \""));
                }
                if !self.take("\"") {
                    break;
                }
                name.push('"');
            }
        } else {
            name.push_str(self.span(|c| c != close).trim_end());
        }
        if name.is_empty() {
            return Err(self.error(place, ExpressionErrorKind::Expected { what }));
        }
        self.need(close.encode_utf8(&mut [0; 4]), if close == ']' { "]" } else { ")" })?;
        Ok(name)
    }

    fn group(&mut self) -> Result<Option<String>, ExpressionError> {
        let place = self.at;
        self.space();
        if self.take("[") {
            return self.name(']', "a group").map(Some);
        }
        self.at = place;
        Ok(None)
    }

    fn gap(&mut self) -> Result<Quantity, ExpressionError> {
        self.need("(", "(tpr) or (fpr)")?;
        self.space();
        let rate = if self.take("tpr") {
            Rate::Tpr
        } else if self.take("fpr") {
            Rate::Fpr
        } else {
            return Err(self.expected("tpr or fpr"));
        };
        self.space();
        let fpr = if self.take("@") {
            self.space();
            let place = self.at;
            let level = self.number("a false-positive rate")?;
            if !(level > 0.0 && level < 1.0) {
                let kind = ExpressionErrorKind::Range { what: "a false-positive rate above 0 and below 1" };
                return Err(self.error(place, kind));
            }
            Some(level)
        } else {
            None
        };
        self.need(")", "@ or )")?;
        Ok(Quantity::Gap { rate, fpr })
    }

    fn recall(&mut self) -> Result<Quantity, ExpressionError> {
        Ok(Quantity::Rate { rate: Rate::Tpr, group: self.group()? })
    }

    fn fpr(&mut self) -> Result<Quantity, ExpressionError> {
        Ok(Quantity::Rate { rate: Rate::Fpr, group: self.group()? })
    }

    fn precision(&mut self) -> Result<Quantity, ExpressionError> {
        Ok(Quantity::Precision { group: self.group()? })
    }

    fn loss(&mut self) -> Result<Quantity, ExpressionError> {
        let group = self.group()?;
        let here = self.at;
        self.space();
        if group.is_none() && self.take("(") {
            return Ok(Quantity::LossOn { file: self.name(')', "a file")? });
        }
        self.at = here;
        Ok(Quantity::Loss { group })
    }
}

/// A name between brackets, quoted where it has to be.
struct Bracketed<'a>(char, &'a str, char);

impl fmt::Display for Bracketed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(open, name, close) = *self;
        if name.chars().any(|c| c == close) || name.starts_with('"') || name.trim() != name {
            write!(f, "{open}\"")?;
            for (at, part) in name.split('"').enumerate() {
                write!(f, "{}{part}", if at > 0 { "\"\"" } else { "" })?;
            }
            write!(f, "\"{close}")
        } else {
            write!(f, "{open}{name}{close}")
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |rate: &Rate| if *rate == Rate::Tpr { "tpr" } else { "fpr" };
        let (name, group) = match self {
            Self::Gap { rate, fpr: None } => return write!(f, "gap({})", name(rate)),
            Self::Gap { rate, fpr: Some(fpr) } => return write!(f, "gap({}@{fpr})", name(rate)),
            Self::LossOn { file } => return write!(f, "loss{}", Bracketed('(', file, ')')),
            Self::Rate { rate: Rate::Tpr, group } => ("recall", group),
            Self::Rate { rate: Rate::Fpr, group } => ("fpr", group),
            Self::Precision { group } => ("precision", group),
            Self::Loss { group } => ("loss", group),
        };
        match group {
            None => f.write_str(name),
            Some(group) => write!(f, "{name}{}", Bracketed('[', group, ']')),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sense = if self.sense == Sense::AtMost { "<=" } else { ">=" };
        write!(f, "{} {sense} ", self.quantity)?;
        match self.bound {
            Bound::Value(value) => write!(f, "{value}"),
            Bound::Old(0.0) => f.write_str("old"),
            Bound::Old(more) => write!(f, "old + {more}"),
        }
    }
}
