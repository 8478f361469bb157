//! Columns of a CSV file, as they were read.

use super::reads::is_word;
use super::spellings::Spellings;
use super::{Notation, Reading};
use crate::data::error::Doubt;
use alloc::string::String;
use alloc::vec::Vec;

/// The code of a missing cell.
pub(in crate::data) const MISSING: u32 = u32::MAX;

/// One column of a CSV file.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::data) enum RawColumn {
    /// Every cell that is there is a finite number; NaN stands for a missing one.
    Numbers(Vec<f64>, Written),
    /// Some cell is no number.
    Text {
        /// The different cells, sorted.
        values: Vec<String>,
        /// Which of them each row has; [`MISSING`] for none.
        codes: Vec<u32>,
        /// The first row that is no number, in a column where most cells are.
        stray: Option<u32>,
    },
}

impl RawColumn {
    /// Keeps the rows of which it is so.
    pub(super) fn retain(&mut self, keep: &[bool]) {
        fn some<T>(values: &mut Vec<T>, keep: &[bool]) {
            let mut keep = keep.iter();
            values.retain(|_| keep.next().copied().unwrap_or(false));
        }
        match self {
            Self::Numbers(values, written) => {
                some(values, keep);
                written.retain(keep);
            }
            Self::Text { values, codes, stray } => {
                some(codes, keep);
                let mut used = alloc::vec![false; values.len()];
                codes.iter().filter(|&&code| code != MISSING).for_each(|&code| used[code as usize] = true);
                let mut next = 0..;
                let new: Vec<u32> =
                    used.iter().map(|used| used.then(|| next.next()).flatten().unwrap_or(MISSING)).collect();
                codes.iter_mut().filter(|code| **code != MISSING).for_each(|code| *code = new[*code as usize]);
                some(values, &used);
                let Some(row) = *stray else { return };
                // Without the cell that made it text it may be numbers.
                let of = |text: &String| if is_word(text) { Some(f64::NAN) } else { text.parse().ok() };
                let number = |code: u32| values.get(code as usize).map_or(Some(f64::NAN), of);
                let numbers: Vec<f64> = codes.iter().map_while(|&code| number(code)).collect();
                *stray = row_after(row, keep).or(Some(numbers.len() as u32));
                if numbers.len() == codes.len() {
                    *self = Self::Numbers(numbers, Written::default());
                }
            }
        }
    }

    /// Keeps the first rows, and gives the memory of the others back.
    pub(in crate::data) fn truncate(&mut self, rows: usize) {
        match self {
            Self::Numbers(values, written) => {
                values.truncate(rows);
                values.shrink_to_fit();
                written.truncate(rows);
            }
            Self::Text { codes, .. } => {
                codes.truncate(rows);
                codes.shrink_to_fit();
            }
        }
    }
}

/// Cells as they are written, by ascending rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::data) struct Written {
    text: String,
    /// The row, and where in the text its cell ends.
    ends: Vec<(u32, usize)>,
}

impl Written {
    pub(super) fn push(&mut self, row: u32, cell: &str) {
        self.text.push_str(cell);
        self.ends.push((row, self.text.len()));
    }

    /// Those of another table, before whose rows there are so many.
    pub(super) fn append(&mut self, next: &Self, rows: u32) {
        let before = self.text.len();
        self.text.push_str(&next.text);
        self.ends.extend(next.ends.iter().map(|&(row, end)| (row + rows, before + end)));
    }

    /// Without the cell of this row.
    pub(super) fn remove(&mut self, row: u32) {
        let all = core::mem::take(self);
        all.iter().filter(|&(at, _)| at != row).for_each(|(at, cell)| self.push(at, cell));
    }

    fn truncate(&mut self, rows: usize) {
        self.ends.truncate(self.ends.partition_point(|&(row, _)| (row as usize) < rows));
    }

    pub(super) fn retain(&mut self, keep: &[bool]) {
        let all = core::mem::take(self);
        let (mut at, mut kept) = (0, 0);
        for (row, cell) in all.iter() {
            while at < row {
                kept += u32::from(keep[at as usize]);
                at += 1;
            }
            if keep[row as usize] {
                self.push(kept, cell);
            }
        }
    }

    pub(in crate::data) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Rows and cells.
    pub(in crate::data) fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        let starts = core::iter::once(0).chain(self.ends.iter().map(|end| end.1));
        self.ends.iter().zip(starts).map(|(&(row, end), start)| (row, self.text.get(start..end).unwrap_or("")))
    }
}

/// Where a row is once only some are kept; `None` if it is not.
pub(super) fn row_after(row: u32, keep: &[bool]) -> Option<u32> {
    let row = row as usize;
    keep.get(row)?.then(|| keep[..row].iter().filter(|kept| **kept).count() as u32)
}

/// How a column was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::data) struct Told {
    pub readings: Vec<Reading>,
    pub notation: Notation,
    /// What cannot be told, and the numbers are not to be trusted for it.
    pub doubt: Option<Doubted>,
    /// The usual words that stood for missing values, with how many.
    pub words: Vec<(String, usize)>,
    /// Numbers that were not written as they are called.
    pub spellings: Spellings,
}

/// What is open about a column, with cells that show it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::data) struct Doubted {
    pub doubt: Doubt,
    pub row: u32,
    pub text: String,
    pub other: String,
}

/// What a file has: columns with names, or sparse rows.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::data) enum Content {
    /// `header`: the line that names the columns, if one does; `clear`: no other reading of it comes into question.
    Csv { names: Vec<String>, header: Option<u32>, clear: bool, columns: Vec<RawColumn>, told: Vec<Told> },
    Libsvm {
        labels: Vec<f64>,
        ptr: Vec<usize>,
        col: Vec<u32>,
        val: Vec<f64>,
        cols: usize,
        /// Of each row; empty without.
        queries: Vec<u64>,
    },
}
