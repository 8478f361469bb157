//! Rows and labels that own their memory, ready for a model.

use super::error::{DataError, DataErrorKind};
use super::rows::Rows;
use crate::error::{Error, Result, count_labels, exact_len};
use crate::real::Real;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Storage<T> {
    Dense(Vec<T>),
    Csr { ptr: Vec<usize>, col: Vec<u32>, val: Vec<T> },
}

/// What a data set is made of, for a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Rows.
    pub rows: usize,
    /// Columns after encoding.
    pub columns: usize,
    /// Positive rows (0 without labels).
    pub positives: usize,
    /// Columns with missing values that were filled in, and how many each.
    pub missing: Vec<(String, usize)>,
    /// Categorical columns with values that training did not have (all their one-hot columns are zero), and how many.
    pub unseen: Vec<(String, usize)>,
    /// Stored values in sparse columns beyond those of training, left out.
    pub beyond: usize,
}

/// Feature rows with a label each.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset<T> {
    pub(super) storage: Storage<T>,
    pub(super) cols: usize,
    pub(super) labels: Vec<u8>,
    /// One for each column, or none at all: then they are called by their number.
    pub(super) names: Vec<String>,
    pub(super) summary: Summary,
}

impl<T: Real> Dataset<T> {
    /// Dense rows from arrays: `x` row-major, rows × `cols`; `y` 1 for positive, 0 for negative, or empty.
    ///
    /// # Errors
    /// `Param` (no columns), `Length`, `NonFinite`, `Label`.
    pub fn dense(x: Vec<T>, y: Vec<u8>, cols: usize) -> Result<Self> {
        let rows = Rows::dense(&x, cols)?.len();
        Self::labelled(Storage::Dense(x), y, cols, rows)
    }

    /// Sparse rows from arrays: row k has the values `val[ptr[k]..ptr[k + 1]]` in the columns `col[…]`, ascending; `y` as in
    /// [`dense`](Self::dense).
    ///
    /// # Errors
    /// `Param` (no columns), `Empty`, `Length`, `Index` (row starts or columns out of order or range), `NonFinite`, `Label`.
    pub fn csr(ptr: Vec<usize>, col: Vec<u32>, val: Vec<T>, y: Vec<u8>, cols: usize) -> Result<Self> {
        if cols == 0 {
            return Err(Error::Param { what: "cols" });
        }
        let rows = Rows::csr(&ptr, &col, &val, cols)?.len();
        Self::labelled(Storage::Csr { ptr, col, val }, y, cols, rows)
    }

    fn labelled(storage: Storage<T>, y: Vec<u8>, cols: usize, rows: usize) -> Result<Self> {
        if !y.is_empty() {
            exact_len("y", rows, y.len())?;
        }
        count_labels(&y)?;
        Ok(Self::new(storage, cols, y, Vec::new(), Summary::default(), rows))
    }

    pub(super) fn new(
        storage: Storage<T>,
        cols: usize,
        labels: Vec<u8>,
        names: Vec<String>,
        summary: Summary,
        rows: usize,
    ) -> Self {
        let positives = labels.iter().filter(|&&y| y == 1).count();
        Self { storage, cols, labels, names, summary: Summary { rows, columns: cols, positives, ..summary } }
    }

    /// The feature rows.
    #[must_use]
    pub fn rows(&self) -> Rows<'_, T> {
        match &self.storage {
            Storage::Dense(data) => Rows::Dense { data, cols: self.cols },
            Storage::Csr { ptr, col, val } => Rows::Csr { ptr, col, val, cols: self.cols },
        }
    }

    /// The labels, 1 for positive; empty when the data came without.
    #[must_use]
    pub fn labels(&self) -> &[u8] {
        &self.labels
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.summary.rows
    }

    /// No rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of columns after encoding.
    #[must_use]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of positive rows.
    #[must_use]
    pub fn positives(&self) -> usize {
        self.summary.positives
    }

    /// What a column is called: `age`, `sex=Male`, or its number from 1.
    #[must_use]
    pub fn column_name(&self, column: usize) -> String {
        self.names.get(column).cloned().unwrap_or_else(|| format!("{}", column + 1))
    }

    /// What it is made of.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// `Ok` when there are positives and negatives; `file` is for the error.
    ///
    /// # Errors
    /// `OneClass`.
    pub fn require_both_classes(&self, file: &str) -> Result<(), DataError> {
        if self.positives() > 0 && self.positives() < self.labels.len() {
            return Ok(());
        }
        let label = if self.positives() > 0 { "positive" } else { "negative" }.to_string();
        Err(DataError {
            file: file.to_string(),
            line: 0,
            column: 0,
            kind: DataErrorKind::OneClass { label, column: None },
        })
    }

    /// The rows `index` in that order, copied.
    ///
    /// # Errors
    /// `Index`.
    pub fn select(&self, index: &[u32]) -> Result<Self> {
        let len = self.len();
        if let Some(at) = index.iter().position(|&row| row as usize >= len) {
            return Err(Error::Index { what: "index", at, len });
        }
        let storage = match &self.storage {
            Storage::Dense(data) => {
                let mut out = Vec::with_capacity(index.len() * self.cols);
                for &row in index {
                    out.extend_from_slice(&data[row as usize * self.cols..][..self.cols]);
                }
                Storage::Dense(out)
            }
            Storage::Csr { ptr, col, val } => {
                let (mut new_ptr, mut new_col, mut new_val) = (alloc::vec![0], Vec::new(), Vec::new());
                for &row in index {
                    let (columns, values) = Rows::sparse_row(ptr, col, val, row as usize);
                    new_col.extend_from_slice(columns);
                    new_val.extend_from_slice(values);
                    new_ptr.push(new_col.len());
                }
                Storage::Csr { ptr: new_ptr, col: new_col, val: new_val }
            }
        };
        let labels = match self.labels.is_empty() {
            true => Vec::new(),
            false => index.iter().map(|&row| self.labels[row as usize]).collect(),
        };
        Ok(Self::new(storage, self.cols, labels, self.names.clone(), Summary::default(), index.len()))
    }
}
