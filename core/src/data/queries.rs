//! Which query each row belongs to, for rankings that are measured query by query.

use crate::error::{Error, Result, exact_len};
use alloc::vec::Vec;

/// The query of each row, by number, and how relevant the row is where labels are graded.
#[derive(Clone, Debug, PartialEq)]
pub struct Queries {
    of: Vec<u32>,
    gains: Vec<f64>,
}

impl Queries {
    /// `gains` is empty where labels are not graded, else a number of 0 or more for each row.
    ///
    /// # Errors
    /// `Length`; `Param` for a gain that is negative or not finite.
    ///
    /// ```
    /// use undercurve::data::Queries;
    /// let queries = Queries::new(vec![0, 0, 1], vec![2.0, 0.0, 1.0])?;
    /// assert_eq!(queries.count(), 2);
    /// # Ok::<(), undercurve::Error>(())
    /// ```
    pub fn new(of: Vec<u32>, gains: Vec<f64>) -> Result<Self> {
        if !gains.is_empty() {
            exact_len("gains", of.len(), gains.len())?;
        }
        if !gains.iter().all(|gain| *gain >= 0.0 && gain.is_finite()) {
            return Err(Error::Param { what: "gains" });
        }
        Ok(Self { of, gains })
    }

    /// The query of every row.
    #[must_use]
    pub fn of(&self) -> &[u32] {
        &self.of
    }

    /// How relevant every row is; empty where labels are not graded.
    #[must_use]
    pub fn gains(&self) -> &[f64] {
        &self.gains
    }

    /// Queries that have rows.
    #[must_use]
    pub fn count(&self) -> usize {
        let mut all = self.of.clone();
        all.sort_unstable();
        all.dedup();
        all.len()
    }

    /// Of the rows `index`, all of which are there.
    pub(super) fn select(&self, index: &[u32]) -> Self {
        let of = index.iter().map(|&row| self.of[row as usize]).collect();
        let gains = if self.gains.is_empty() { &[][..] } else { index };
        Self { of, gains: gains.iter().map(|&row| self.gains[row as usize]).collect() }
    }
}
