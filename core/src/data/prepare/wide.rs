//! How the rows of named columns are stored: sparse where most columns are categories that a row does not have.
//!
//! Rows are sparse where they have more than [`WIDE`] columns, of which at most one in [`SHARE`] can be other than 0. That goes by the
//! preparation alone, so that rows of the same preparation are always stored alike. Then a row takes 8 bytes (with f32) for each value that is
//! not 0, and up to [`MOST_COLUMNS`] columns may be categories; dense rows take 4 bytes for each column. Small builds store all rows dense.

use super::super::dataset::Storage;
use super::super::scale::{Scale, unit};
use super::Preparation;
use super::role::{Column, Layout, MOST_COLUMNS, Role};
use super::table::most_dense;
use crate::features::COMPACT;
use crate::real::Real;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// Rows of at most so many columns are dense.
const WIDE: usize = 1024;

/// Of the columns of a sparse row at least so many times as many are 0.
const SHARE: usize = 16;

/// The columns that a row can have, and how many of them can be other than 0.
fn widths(columns: &[Column]) -> [usize; 2] {
    let stored = |role: &Role| if let Role::Category { .. } = role { 1 } else { role.width() };
    let sum = |of: &dyn Fn(&Role) -> usize| columns.iter().map(|column| of(&column.role)).sum();
    [sum(&Role::width), sum(&stored)]
}

/// Whether a row without a category of a column has zeros there. (Columns of old models are scaled.)
fn is_zero(role: &Role) -> bool {
    let Role::Category { maps, missing, .. } = role else { return true };
    maps.iter().chain(missing).all(|map| map.apply(0.0) == 0.0)
}

fn is_wide([all, stored]: [usize; 2]) -> bool {
    all > WIDE && stored * SHARE <= all
}

/// The most columns that fitted columns may become, those of pieces aside, in a table of so many rows and columns, of which so many are
/// fitted on.
pub(super) fn most_columns(columns: &[Column], [rows, cols]: [usize; 2], fitted: usize) -> usize {
    let dense = most_dense(rows, cols) / fitted;
    if !COMPACT && is_wide(widths(columns)) { dense.max(MOST_COLUMNS) } else { dense }
}

impl Preparation {
    /// The most values of a row that are stored, where rows are sparse.
    pub(super) fn stored(&self) -> Option<usize> {
        if COMPACT {
            return None;
        }
        let Layout::Named(columns) = &self.layout else { return None };
        let [all, stored] = widths(columns);
        if !columns.iter().all(|column| is_zero(&column.role)) {
            return None;
        }
        let mut is_category = Vec::with_capacity(if self.crosses.is_empty() { 0 } else { all });
        if !self.crosses.is_empty() {
            for Column { role, .. } in columns {
                is_category.resize(is_category.len() + role.width(), matches!(role, Role::Category { .. }));
            }
        }
        // (A product is 0 where a category is, unless its mean is subtracted.)
        let of = |at: u32| is_category.get(at as usize).is_some_and(|&is| is);
        let sparse = |cross: &&super::Cross| cross.map.apply(0.0) == 0.0 && (of(cross.left) || of(cross.right));
        let crossed = self.crosses.iter().filter(sparse).count();
        let stored = stored + self.crosses.len() - crossed;
        is_wide([all + self.crosses.len(), stored]).then_some(stored)
    }
}

/// Rows on their way into memory, taken from the last to the first.
pub(super) enum Making<T> {
    Dense {
        data: Vec<T>,
        cols: usize,
    },
    /// The last value of all is the first; `ends` says how many were there before each row.
    Sparse {
        ends: Vec<usize>,
        col: Vec<u32>,
        val: Vec<T>,
    },
}

impl<T: Real> Making<T> {
    /// Takes row `at`, which has its values in these columns and is as a row without any elsewhere, and leaves it empty where rows are
    /// sparse. The first value that does not fit, and its column.
    #[inline(always)]
    pub fn take(&mut self, at: usize, row: &mut [f64], columns: &[Range<usize>], scale: Scale) -> Option<(usize, f64)> {
        match self {
            Self::Dense { data, cols } => {
                if scale == Scale::Unit {
                    unit(row);
                }
                let to = &mut data[at * *cols..][..*cols];
                to.iter_mut().zip(&*row).for_each(|(to, &x)| *to = T::of(x));
                to.iter().position(|x| !x.is_finite()).map(|at| (at, row[at]))
            }
            Self::Sparse { .. } if COMPACT => None,
            Self::Sparse { ends, col, val } => {
                let mut bad = None;
                ends.push(val.len());
                let all = || columns.iter().cloned().flatten();
                let mut there: Vec<f64> = all().map(|at| row[at]).collect();
                all().for_each(|at| row[at] = 0.0);
                if scale == Scale::Unit {
                    unit(&mut there);
                }
                for (at, x) in columns.iter().rev().flat_map(|span| span.clone().rev()).zip(there.into_iter().rev()) {
                    if x != 0.0 {
                        col.push(at as u32);
                        val.push(T::of(x));
                        bad = if T::of(x).is_finite() { bad } else { Some((at, x)) };
                    }
                }
                bad
            }
        }
    }

    pub fn done(self) -> Storage<T> {
        match self {
            Self::Dense { data, .. } => Storage::Dense(data),
            Self::Sparse { ends, mut col, mut val } => {
                col.reverse();
                val.reverse();
                let all = val.len();
                let mut ptr = vec![0];
                ptr.extend(ends.iter().rev().map(|end| all - end));
                Storage::Csr { ptr, col, val }
            }
        }
    }
}
