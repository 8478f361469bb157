//! Columns without names, as LIBSVM files have them.

use super::super::dataset::{Storage, Summary};
use super::super::error::{DataError, DataErrorKind};
use super::super::parse::{Content, RawTable, number_text};
use super::super::scale::{Affine, Scale, unit};
use super::Preparation;
use super::table::{GIVEN_BACK, check_dense, reserve};
use super::wide::Making;
use crate::real::Real;
use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

impl Preparation {
    /// Columns without names, scaled one by one.
    pub(super) fn dense<T: Real>(
        &self,
        table: &RawTable,
        cols: usize,
        maps: &[Affine],
        rows: &[u32],
    ) -> Result<(Storage<T>, Summary), DataError> {
        let Content::Libsvm { ptr, col, val, .. } = &table.content else {
            return Err(table.error(DataErrorKind::OtherFormat));
        };
        check_dense(table, rows.len(), cols)?;
        let (mut summary, mut data) = (Summary::default(), reserve(table, rows.len(), cols)?);
        let mut buffer = vec![0.0; cols];
        for &row in rows {
            let (there, beyond) = kept(ptr, col, row, cols);
            summary.beyond += beyond;
            buffer.fill(0.0);
            for at in there.clone() {
                buffer[col[at] as usize] = val[at];
            }
            scale_row(&mut buffer, self.scale, maps);
            for (column, &x) in buffer.iter().enumerate() {
                if !T::of(x).is_finite() {
                    let token = col[there].binary_search(&(column as u32)).map_or(0, |at| at + 1);
                    return Err(unfit(table, row, token, x));
                }
                data.push(T::of(x));
            }
        }
        Ok((Storage::Dense(data), summary))
    }

    /// Columns without names, of parts of a table, from the last row to the first: what is read of a table that was given away is given back.
    pub(super) fn sparse<T: Real>(
        &self,
        table: &mut Cow<'_, RawTable>,
        cols: usize,
        parts: &[&[u32]],
    ) -> Result<Vec<(Storage<T>, Summary)>, DataError> {
        let Content::Libsvm { ptr, col, .. } = &table.content else {
            return Err(table.error(DataErrorKind::OtherFormat));
        };
        let mut made = Vec::with_capacity(parts.len());
        for rows in parts {
            let (mut stored, mut summary) = (0, Summary::default());
            for &row in *rows {
                let (there, beyond) = kept(ptr, col, row, cols);
                stored += there.len();
                summary.beyond += beyond;
            }
            let (ends, col, val) =
                (Vec::with_capacity(rows.len()), Vec::with_capacity(stored), Vec::with_capacity(stored));
            made.push((Making::Sparse { ends, col, val }, summary));
        }
        let mut left: Vec<usize> = parts.iter().map(|rows| rows.len()).collect();
        let (mut buffer, mut bad) = (Vec::new(), None);
        let mut end = table.rows();
        while end > 0 {
            let lent = matches!(table, Cow::Borrowed(_));
            end = if lent { 0 } else { (end - 1) / GIVEN_BACK * GIVEN_BACK };
            let Content::Libsvm { ptr, col, val, .. } = &table.content else { break };
            for ((rows, left), (making, _)) in parts.iter().zip(&mut left).zip(&mut made) {
                let Making::Sparse { ends, col: cols_of, val: values } = making else { continue };
                while let Some(&row) = rows[..*left].last().filter(|&&row| lent || row as usize >= end) {
                    *left -= 1;
                    let there = kept(ptr, col, row, cols).0;
                    buffer.clear();
                    buffer.extend_from_slice(&val[there.clone()]);
                    scale_row(&mut buffer, self.scale, &[]);
                    ends.push(values.len());
                    for (at, &x) in buffer.iter().enumerate().rev() {
                        if !T::of(x).is_finite() {
                            // (The first one of all: within a row the last that is seen.)
                            bad = bad.filter(|bad: &(u32, usize, f64)| bad.0 < row).or(Some((row, at + 1, x)));
                        }
                        values.push(T::of(x));
                        cols_of.push(col[there.start + at]);
                    }
                }
            }
            if let Cow::Owned(RawTable { content: Content::Libsvm { ptr, col, val, .. }, .. }) = table {
                col.truncate(ptr[end]);
                col.shrink_to_fit();
                val.truncate(ptr[end]);
                val.shrink_to_fit();
            }
        }
        match bad {
            Some((row, token, x)) => Err(unfit(table, row, token, x)),
            None => Ok(made.into_iter().map(|(making, summary)| (making.done(), summary)).collect()),
        }
    }
}

/// Where the values of a sparse row are, in the columns of training, and how many are beyond these. (Columns ascend.)
fn kept(ptr: &[usize], col: &[u32], row: u32, cols: usize) -> (Range<usize>, usize) {
    let span = ptr[row as usize]..ptr[row as usize + 1];
    let end = span.start + col[span.clone()].partition_point(|&c| (c as usize) < cols);
    (span.start..end, span.end - end)
}

pub(super) fn unfit(table: &RawTable, row: u32, token: usize, x: f64) -> DataError {
    table.error_at(row as usize, token, DataErrorKind::NonFinite { text: number_text(x) })
}

pub(super) fn scale_row(row: &mut [f64], scale: Scale, maps: &[Affine]) {
    match scale {
        Scale::None => {}
        Scale::Standard | Scale::Robust | Scale::Rank => {
            for (x, map) in row.iter_mut().zip(maps) {
                *x = map.apply(*x);
            }
        }
        Scale::Unit => unit(row),
    }
}
