//! Feature rows, dense or sparse, borrowed from the caller.

use crate::error::{Error, Result, all_finite, exact_len};
use crate::real::Real;

/// A matrix of feature rows, made by [`dense`](Self::dense) and [`csr`](Self::csr), which check it.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a, T> {
    /// Row-major, rows × `cols`.
    #[non_exhaustive]
    Dense {
        /// The values.
        data: &'a [T],
        /// Columns, at least 1.
        cols: usize,
    },
    /// Compressed sparse rows.
    #[non_exhaustive]
    Csr {
        /// Where each row starts in `col` and `val`; rows + 1 long, ascending from 0.
        ptr: &'a [usize],
        /// Column of each stored value, strictly ascending within a row.
        col: &'a [u32],
        /// The stored values.
        val: &'a [T],
        /// Columns.
        cols: usize,
    },
}

impl<'a, T: Real> Rows<'a, T> {
    /// Dense rows.
    ///
    /// # Errors
    /// `Param` for 0 columns, `Length` when the data is no whole number of rows, `NonFinite`.
    pub fn dense(data: &'a [T], cols: usize) -> Result<Self> {
        if cols == 0 {
            return Err(Error::Param { what: "cols" });
        }
        if !data.len().is_multiple_of(cols) {
            return Err(Error::Length { what: "data", need: data.len().div_ceil(cols) * cols, got: data.len() });
        }
        all_finite("data", data)?;
        Ok(Self::Dense { data, cols })
    }

    /// Sparse rows.
    ///
    /// # Errors
    /// `Empty`, `Length`, `Index` (row starts or columns out of order or range), `NonFinite`.
    pub fn csr(ptr: &'a [usize], col: &'a [u32], val: &'a [T], cols: usize) -> Result<Self> {
        let (Some(&first), Some(&last)) = (ptr.first(), ptr.last()) else {
            return Err(Error::Empty { what: "ptr" });
        };
        exact_len("val", col.len(), val.len())?;
        if first != 0 {
            return Err(Error::Index { what: "ptr", at: 0, len: col.len() });
        }
        exact_len("col", last, col.len())?;
        for (row, pair) in ptr.windows(2).enumerate() {
            if pair[1] < pair[0] || pair[1] > col.len() {
                return Err(Error::Index { what: "ptr", at: row + 1, len: col.len() });
            }
            for at in pair[0]..pair[1] {
                if col[at] as usize >= cols || (at > pair[0] && col[at] <= col[at - 1]) {
                    return Err(Error::Index { what: "col", at, len: cols });
                }
            }
        }
        all_finite("val", val)?;
        Ok(Self::Csr { ptr, col, val, cols })
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match *self {
            Self::Dense { data, cols } => data.len().checked_div(cols).unwrap_or(0),
            Self::Csr { ptr, .. } => ptr.len().saturating_sub(1),
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of columns.
    #[must_use]
    pub fn cols(&self) -> usize {
        match *self {
            Self::Dense { cols, .. } | Self::Csr { cols, .. } => cols,
        }
    }

    /// Number of stored values.
    #[must_use]
    pub fn nnz(&self) -> usize {
        match *self {
            Self::Dense { data, .. } => data.len(),
            Self::Csr { val, .. } => val.len(),
        }
    }

    /// Writes a row to `to`, which has a place for each column.
    ///
    /// # Errors
    /// `Index` (no such row), `Length`.
    pub fn copy_row(&self, row: usize, to: &mut [T]) -> Result<()> {
        exact_len("row", self.cols(), to.len())?;
        if row >= self.len() {
            return Err(Error::Index { what: "row", at: row, len: self.len() });
        }
        match *self {
            Self::Dense { data, cols } => to.copy_from_slice(&data[row * cols..][..cols]),
            Self::Csr { ptr, col, val, .. } => {
                to.fill(T::ZERO);
                let (col, val) = Self::sparse_row(ptr, col, val, row);
                col.iter().zip(val).for_each(|(&at, &x)| to[at as usize] = x);
            }
        }
        Ok(())
    }

    /// Columns and values of one sparse row.
    #[inline]
    pub(crate) fn sparse_row(ptr: &[usize], col: &'a [u32], val: &'a [T], row: usize) -> (&'a [u32], &'a [T]) {
        let span = match ptr.get(row..).unwrap_or_default() {
            [start, end, ..] => *start..*end,
            _ => 0..0,
        };
        (col.get(span.clone()).unwrap_or_default(), val.get(span).unwrap_or_default())
    }
}

/// Some rows of a matrix, in a given order, without copying.
#[derive(Clone, Copy, Debug)]
pub struct Selection<'a, T> {
    rows: Rows<'a, T>,
    index: Option<&'a [u32]>,
}

impl<'a, T: Real> Selection<'a, T> {
    /// All rows in order.
    #[must_use]
    pub fn all(rows: Rows<'a, T>) -> Self {
        Self { rows, index: None }
    }

    /// The rows `index`, in that order, repeats allowed.
    ///
    /// # Errors
    /// `Index` when an entry is not a row number.
    pub fn of(rows: Rows<'a, T>, index: &'a [u32]) -> Result<Self> {
        let len = rows.len();
        match index.iter().position(|&row| row as usize >= len) {
            Some(at) => Err(Error::Index { what: "index", at, len }),
            None => Ok(Self { rows, index: Some(index) }),
        }
    }

    /// The matrix selected from.
    #[must_use]
    pub fn rows(&self) -> Rows<'a, T> {
        self.rows
    }

    /// The numbers of the selected rows; `None` for all in order.
    pub(crate) fn index(&self) -> Option<&'a [u32]> {
        self.index
    }

    /// All rows in order, nothing reordered.
    #[inline]
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.index.is_none()
    }

    /// Number of selected rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.index.map_or_else(|| self.rows.len(), <[u32]>::len)
    }

    /// Nothing selected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Row number in the matrix of the k-th selected row.
    #[inline]
    #[must_use]
    pub fn row(&self, k: usize) -> usize {
        // (Numbers of rows are checked where they come in; none is past the end.)
        self.index.map_or(k, |index| index.get(k).map_or(usize::MAX, |&row| row as usize))
    }
}
