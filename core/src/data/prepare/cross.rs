//! Products of encoded columns: what two columns have together and neither has alone.

use super::super::error::{DataError, DataErrorKind};
use super::super::parse::RawTable;
use super::super::scale::{Affine, Moments, weight_of};
use super::role::{Layout, MOST_COLUMNS};
use super::{Options, Preparation};
use crate::checkpoint::{Coded, Reader};
use crate::error::Error;
use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// Encoded values, and rows, that are multiplied at a time while a preparation is fitted.
const VALUES: usize = 1 << 22;
const ROWS: usize = 1 << 14;

/// The product of two encoded columns as they are scaled, with the scaling of the product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cross {
    pub left: u32,
    pub right: u32,
    pub(super) map: Affine,
}

impl Coded for Cross {
    fn write(&self, out: &mut Vec<u8>) {
        self.left.write(out);
        self.right.write(out);
        self.map.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self { left: from.value()?, right: from.value()?, map: from.value()? })
    }
}

impl Cross {
    /// Of a row of encoded columns.
    pub(super) fn of(&self, row: &[f64]) -> f64 {
        self.map.apply(row[self.left as usize] * row[self.right as usize])
    }
}

/// The encoded columns of a feature.
fn place(layout: &Layout, table: &RawTable, name: &str) -> Result<Range<u32>, DataError> {
    let Layout::Named(columns) = layout else {
        return Err(table.error(Error::Unsupported { what: "products of columns of LIBSVM rows" }.into()));
    };
    let mut start = 0;
    for column in columns {
        let end = start + column.role.width() as u32;
        if column.name == name {
            return Ok(start..end);
        }
        start = end;
    }
    let columns = columns.iter().map(|column| column.name.clone()).collect();
    Err(table.error_in_header(DataErrorKind::MissingColumn { name: name.to_string(), columns }))
}

/// The products that [`Options::cross`] asks for, fitted on some rows of a table with what each counts.
pub(super) fn fit(
    of: &Preparation,
    table: &RawTable,
    options: &Options,
    rows: &[u32],
    weights: &[f64],
) -> Result<Vec<Cross>, DataError> {
    let mut made = Vec::new();
    for (left, right) in &options.cross {
        let [a, b] = [left, right].map(|name| place(&of.layout, table, name));
        let (a, b) = (a?, b?);
        let columns = made.len() + a.len() * b.len();
        if columns > MOST_COLUMNS {
            let kind = DataErrorKind::TooWide { rows: rows.len(), columns, widest: format!("{left}*{right}") };
            return Err(table.error(kind));
        }
        for left in a {
            // (Of a column with itself each pair once.)
            let b = if b.contains(&left) { left..b.end } else { b.clone() };
            made.extend(b.map(|right| Cross { left, right, map: Affine::IDENTITY }));
        }
    }
    if !of.scale.by_column() || made.is_empty() {
        return Ok(made);
    }
    let weight = weight_of(weights);
    let cols = of.cols();
    let most = (VALUES / cols).clamp(1, ROWS);
    let mut moments = vec![Moments::NEW; made.len()];
    for pass in 0..2 {
        for (at, rows) in (0..).step_by(most).zip(rows.chunks(most)) {
            let data = of.encoded_rows(table, rows)?;
            for (k, row) in data.chunks_exact(cols).enumerate() {
                for (cross, moments) in made.iter().zip(&mut moments) {
                    let x = cross.of(row);
                    if pass == 0 { moments.first(x, weight(at + k)) } else { moments.second(x, weight(at + k)) }
                }
            }
        }
        if pass == 0 {
            moments.iter_mut().for_each(|moments| moments.centre(0.0));
        }
    }
    let names = of.column_names();
    for (cross, moments) in made.iter_mut().zip(&moments) {
        let name = || format!("{}*{}", names[cross.left as usize], names[cross.right as usize]);
        cross.map = moments.finish(0.0).ok_or_else(|| table.error(DataErrorKind::Spread { column: name() }))?.1;
    }
    Ok(made)
}

impl Preparation {
    /// The encoded columns whose products are the last of all encoded columns, in that order ([`Options::cross`]).
    #[must_use]
    pub fn crosses(&self) -> Vec<[usize; 2]> {
        self.crosses.iter().map(|cross| [cross.left as usize, cross.right as usize]).collect()
    }

    /// With these products; `None` if they are not of its columns.
    pub(crate) fn with_crosses(self, crosses: Vec<Cross>) -> Option<Self> {
        let cols = Self { crosses: Vec::new(), ..self };
        let base = cols.cols() as u64;
        let sound = crosses.iter().all(|cross| u64::from(cross.left.max(cross.right)) < base);
        (sound && (crosses.is_empty() || !cols.is_sparse())).then_some(Self { crosses, ..cols })
    }

    /// How products are scaled.
    pub(super) fn cross_maps(&self) -> impl Iterator<Item = &Affine> {
        self.crosses.iter().map(|cross| &cross.map)
    }
}
