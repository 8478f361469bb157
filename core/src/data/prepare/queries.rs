//! Which query each row of a table belongs to: a column of any values, or the `qid` of LIBSVM rows.

use super::super::error::{DataError, DataErrorKind};
use super::super::parse::{Content, MISSING, RawColumn, RawTable};
use super::super::queries::Queries;
use super::labels::LabelCells;
use super::table::find_column;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// What the queries of LIBSVM rows are called.
const QID: &str = "qid";

/// The greatest graded label: 2^100 is enough.
const MOST_GAIN: f64 = 100.0;

/// The queries of all rows. Labels are graded where they are more than two different numbers from 0 to 100.
pub(super) fn queries(table: &RawTable, column: &str, labels: Option<&LabelCells<'_>>) -> Result<Queries, DataError> {
    let (names, columns) = match &table.content {
        Content::Csv { names, columns, .. } => (names, columns),
        Content::Libsvm { queries, .. } if column == QID && !queries.is_empty() => {
            let of = numbered(queries.iter().copied());
            return Queries::new(of, graded(labels)).map_err(|error| table.error(error.into()));
        }
        Content::Libsvm { .. } => return Err(table.error(DataErrorKind::NoQueryColumn)),
    };
    let at = find_column(table, names, column)?;
    let missing = |row: usize| Err(table.error_at(row, at, DataErrorKind::Missing { column: column.into() }));
    let of: Vec<u32> = match &columns[at] {
        RawColumn::Text { codes, .. } => match codes.iter().position(|&code| code == MISSING) {
            Some(row) => return missing(row),
            None => codes.clone(),
        },
        RawColumn::Numbers(values, _) => match values.iter().position(|x| x.is_nan()) {
            Some(row) => return missing(row),
            None => numbered(values.iter().map(|&x| if x == 0.0 { 0 } else { x.to_bits() })),
        },
    };
    Queries::new(of, graded(labels)).map_err(|error| table.error(error.into()))
}

/// Numbers of values, by their first occurrence.
pub(super) fn numbered(values: impl Iterator<Item = u64>) -> Vec<u32> {
    let mut known = BTreeMap::new();
    values
        .map(|value| {
            let next = known.len() as u32;
            *known.entry(value).or_insert(next)
        })
        .collect()
}

/// Labels as gains, where they are graded.
pub(super) fn graded(labels: Option<&LabelCells<'_>>) -> Vec<f64> {
    let Some(LabelCells::Numbers(values)) = labels else { return Vec::new() };
    let first = values.first().copied().unwrap_or(0.0);
    let second = values.iter().copied().find(|&x| x != first).unwrap_or(first);
    let more = values.iter().any(|&x| x != first && x != second);
    let sound = values.iter().all(|x| (0.0..=MOST_GAIN).contains(x));
    if more && sound { values.to_vec() } else { Vec::new() }
}
