//! Which category of training a text or a number is.
//!
//! A text is the category with the same bytes. Three things are said in one way by some rows and in another by others, and are the same all the
//! same: blanks around a text, which a text file loses and a frame keeps; a number, which a frame has and a file spells; `True` and `true`. Where
//! two categories come into question, which is meant cannot be told, and the column is refused.

use super::super::Kind;
use super::super::error::{DataError, DataErrorKind, Doubt};
use super::super::parse::{Content, RawColumn, RawTable, bucket, number_text, truth};
use super::columns::as_categories;
use alloc::string::String;
use alloc::vec::Vec;

/// Categories of training, sorted.
pub(super) struct Categories<'a> {
    pub values: &'a [String],
    pub kind: Kind,
    /// Whether they lost the blanks around them.
    pub trims: bool,
}

/// One that a text may be, or two.
type Found = Result<Option<usize>, [usize; 2]>;

impl Categories<'_> {
    /// Which of them each text of a column is, and behind these what an empty cell is, if it is one.
    pub fn seen(&self, table: &RawTable, at: usize, buckets: u8) -> Result<Vec<Option<usize>>, DataError> {
        let Content::Csv { names, columns, .. } = &table.content else { return Ok(Vec::new()) };
        let (there, _) = as_categories(&columns[at]);
        if buckets > 0 {
            let of = |text: &String| self.values.binary_search(&bucket(text, buckets)).ok();
            return Ok(there.iter().map(of).collect());
        }
        let spelled = matches!(columns[at], RawColumn::Numbers(..)) && matches!(self.kind, Kind::Text | Kind::Code);
        let by_value = if spelled { self.by_value() } else { Vec::new() };
        // Of a frame, those that a file writes without the blanks around them.
        let loses = table.is_text && !self.trims;
        let blank: Vec<usize> = (0..if loses { self.values.len() } else { 0 })
            .filter(|&at| self.values[at].trim_ascii() != self.values[at])
            .collect();
        let of = |text: &String| -> Found {
            if let (true, Ok(x)) = (spelled, text.parse::<f64>()) {
                let first = by_value.partition_point(|value| value.0 < x);
                return only(by_value[first..].iter().take_while(|value| value.0 == x).map(|value| value.1));
            }
            let exact = self.exact(if self.trims { text.trim_ascii() } else { text });
            let other = blank.iter().copied().filter(|&at| self.values[at].trim_ascii() == text);
            only(exact.into_iter().chain(other)).and_then(|found| self.or_truth(text, found))
        };
        let error = |[one, other]: [usize; 2]| {
            let (column, text, other) = (names[at].clone(), self.values[one].clone(), self.values[other].clone());
            table.error_at(0, at, DataErrorKind::Doubtful { doubt: Doubt::Category, column, text, other })
        };
        there.iter().map(|text| of(text).map_err(error)).collect()
    }

    /// The one with these bytes, or, of numbers, with this value.
    fn exact(&self, text: &str) -> Option<usize> {
        let search = |text: &str| self.values.binary_search_by(|value| value.as_str().cmp(text)).ok();
        match (self.kind, text.parse::<f64>()) {
            (Kind::Level, Ok(x)) => search(&number_text(x)),
            // (Of files from before kinds were kept, in which equal numbers were one category.)
            (Kind::Unknown, Ok(x)) => search(text).or_else(|| search(&number_text(x))),
            _ => search(text),
        }
    }

    fn or_truth(&self, text: &str, found: Option<usize>) -> Found {
        match (found, truth(text)) {
            (None, Some(one)) => only((0..self.values.len()).filter(|&at| truth(&self.values[at]) == Some(one))),
            _ => Ok(found),
        }
    }

    /// Those that are numbers, by these.
    fn by_value(&self) -> Vec<(f64, usize)> {
        let number = |(at, value): (usize, &String)| Some((value.parse::<f64>().ok()? + 0.0, at));
        let mut all: Vec<(f64, usize)> = self.values.iter().enumerate().filter_map(number).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    }
}

/// The only one there is.
fn only(mut found: impl Iterator<Item = usize>) -> Found {
    match (found.next(), found.next()) {
        (Some(one), Some(other)) => Err([one, other]),
        (one, _) => Ok(one),
    }
}
