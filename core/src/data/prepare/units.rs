//! The column that a split orders rows by, or whose values it keeps together.

use super::super::dataset::Units;
use super::super::error::{DataError, DataErrorKind};
use super::super::parse::{Content, MISSING, RawColumn, RawTable};
use super::columns::as_categories;
use super::options::SplitBy;
use super::table::{find_column, first_missing, refuse_doubt};
use crate::checkpoint::{Coded, Reader};
use crate::error::Error;
use crate::features::COMPACT;
use alloc::string::String;
use alloc::vec::Vec;

impl Coded for SplitBy {
    fn write(&self, out: &mut Vec<u8>) {
        matches!(self, Self::Group(_)).write(out);
        self.column().write(out);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let group: bool = from.value()?;
        let column: String = from.value()?;
        Some(if group { Self::Group(column) } else { Self::Order(column) })
    }
}

impl SplitBy {
    /// The unit of each of some rows: ranks of the values in order, or their numbers. `None` for a table without the column.
    pub(super) fn units(&self, table: &RawTable, rows: &[u32]) -> Result<Option<Units>, DataError> {
        if COMPACT {
            return Err(table.error(Error::Unsupported { what: "splits by a column, in a small build" }.into()));
        }
        let Content::Csv { names, columns, .. } = &table.content else {
            return Err(table.error(DataErrorKind::NoSplitColumn));
        };
        if !names.contains(self.column()) {
            return Ok(None);
        }
        let at = find_column(table, names, self.column())?;
        first_missing(table, &[at], rows)?;
        if matches!(self, Self::Order(_)) {
            refuse_doubt(table, at)?;
        }
        let of = match (self, &columns[at]) {
            (Self::Order(_), RawColumn::Numbers(values, _)) => {
                let value = |&row: &u32| values[row as usize] + 0.0;
                // (Ranks among all rows, whichever are asked for.)
                let mut sorted: Vec<f64> = values.iter().filter(|x| !x.is_nan()).map(|x| x + 0.0).collect();
                crate::sort::numbers(&mut sorted);
                sorted.dedup();
                let rank = |x: f64| sorted.partition_point(|y| y.total_cmp(&x).is_lt()) as u32;
                rows.iter().map(|row| rank(value(row))).collect()
            }
            (Self::Order(column), RawColumn::Text { values, codes, .. }) => {
                let is_text = |row: &&u32| values[codes[**row as usize] as usize].parse::<f64>().is_err();
                let row = rows.iter().find(is_text).or(rows.first()).copied().unwrap_or(0) as usize;
                let text = codes.get(row).and_then(|&code| values.get(code as usize));
                let kind = DataErrorKind::NoOrder { text: text.cloned().unwrap_or_default(), column: column.clone() };
                return Err(table.error_at(row, at, kind));
            }
            (Self::Group(_), column) => {
                // Numbers from 0 in the order in which they occur.
                let (values, codes) = as_categories(column);
                let (mut numbers, mut next) = (alloc::vec![MISSING; values.len()], 0);
                let mut number = |&row: &u32| {
                    let number = &mut numbers[codes[row as usize] as usize];
                    if *number == MISSING {
                        (*number, next) = (next, next + 1);
                    }
                    *number
                };
                rows.iter().map(&mut number).collect()
            }
        };
        Ok(Some(Units { ordered: matches!(self, Self::Order(_)), of }))
    }
}
