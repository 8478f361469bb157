//! Rows grouped by what they are drawn and weighted by: negatives and positives, or one class after the other.

use crate::batch::WEIGHTS;
use crate::error::{Error, Result, exact_len};
use core::ops::Range;

/// Items that an epoch has at most for each row of the data, where weights say how often a row is drawn.
const MOST_COPIES: f64 = 100.0;

/// Row numbers, segment by segment, each in ascending order. Of two classes segment 0 holds the negatives.
#[derive(Clone, Copy, Debug)]
pub struct Segments<'a> {
    order: &'a [u32],
    starts: &'a [u32],
    weights: &'a [f64],
    masses: &'a [f64],
}

impl<'a> Segments<'a> {
    /// Groups labels (segment numbers) into `order`, one entry per row; `starts`, one more than there are segments, becomes
    /// where each segment begins in it and where the last one ends. A segment may be empty.
    ///
    /// # Errors
    /// `Param` (no segment), `Length`, `Overflow` (more than 2³² − 1 rows), `Label`. `order` and `starts` are
    /// then as before.
    pub fn new<L: Copy + Into<u32>>(labels: &[L], order: &'a mut [u32], starts: &'a mut [u32]) -> Result<Self> {
        if starts.len() < 2 {
            return Err(Error::Param { what: "classes" });
        }
        exact_len("order", labels.len(), order.len())?;
        if u32::try_from(labels.len()).is_err() {
            return Err(Error::Overflow { what: "rows" });
        }
        let count = starts.len().saturating_sub(1);
        let segment = |&label: &L| label.into() as usize;
        if let Some(at) = labels.iter().position(|label| segment(label) >= count) {
            return Err(Error::Label { at });
        }
        starts.fill(0);
        // The rows of each segment, counted one place further; their running sum is where segments begin.
        for label in labels {
            if let Some(count) = starts.get_mut(segment(label) + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut *starts {
            sum += *start;
            *start = sum;
        }
        // Filling moves every start to the next one; afterwards they move back.
        for (row, label) in labels.iter().enumerate() {
            if let Some(place) = starts.get_mut(segment(label)) {
                if let Some(item) = order.get_mut(*place as usize) {
                    *item = row as u32;
                }
                *place += 1;
            }
        }
        let mut before = 0;
        for start in &mut *starts {
            core::mem::swap(start, &mut before);
        }
        Ok(Self { order, starts, weights: &[], masses: &[] })
    }

    /// What [`Segments::new`] made before.
    ///
    /// # Errors
    /// `Param` when the two do not fit each other.
    pub fn again(order: &'a [u32], starts: &'a [u32]) -> Result<Self> {
        let whole = starts.first() == Some(&0) && starts.last().is_some_and(|&end| end as usize == order.len());
        if whole && starts.len() >= 2 && starts.is_sorted() {
            Ok(Self { order, starts, weights: &[], masses: &[] })
        } else {
            Err(Error::Param { what: "starts" })
        }
    }

    /// With a weight above 0 for each row, in the order of the segments, by which samplers draw them. `masses`, one for each
    /// segment, become the sums of its weights, times `unit`: so many rows a segment stands for. Estimators that count rows
    /// (class-balanced losses) count these, and epochs have as many [items](Self::items).
    ///
    /// # Errors
    /// `Length`; `Weight` for one that is not above 0 and finite.
    pub fn with_weights(self, weights: &'a [f64], unit: f64, masses: &'a mut [f64]) -> Result<Self> {
        exact_len("weights", self.order.len(), weights.len())?;
        exact_len("masses", self.len(), masses.len())?;
        if let Some(at) = weights.iter().position(|&w| !(w > 0.0 && w.is_finite())) {
            return Err(Error::Weight { at });
        }
        for (segment, mass) in masses.iter_mut().enumerate() {
            *mass = unit * weights[self.range(segment)].iter().sum::<f64>();
        }
        Ok(Self { weights, masses, ..self })
    }

    /// What [`with_weights`](Self::with_weights) made before; empty ones are none.
    ///
    /// # Errors
    /// `Length`.
    pub fn weighted_again(self, weights: &'a [f64], masses: &'a [f64]) -> Result<Self> {
        if !WEIGHTS {
            return Ok(self);
        }
        if !weights.is_empty() || !masses.is_empty() {
            // (Rows that stand for more have masses alone.)
            if !(cfg!(feature = "stream") && weights.is_empty()) {
                exact_len("weights", self.order.len(), weights.len())?;
            }
            exact_len("masses", self.len(), masses.len())?;
        }
        Ok(Self { weights, masses, ..self })
    }

    /// The weight of each row, in the order of the segments; empty without.
    #[must_use]
    pub fn weights(&self) -> &'a [f64] {
        if WEIGHTS { self.weights } else { &[] }
    }
    /// What the weights of each segment come to; empty without.
    #[must_use]
    pub fn masses(&self) -> &'a [f64] {
        if WEIGHTS { self.masses } else { &[] }
    }
    /// Row numbers, segment by segment.
    #[must_use]
    pub fn order(&self) -> &'a [u32] {
        self.order
    }
    /// Where each segment begins in them, and where the last one ends.
    #[must_use]
    pub fn starts(&self) -> &'a [u32] {
        self.starts
    }
    /// Number of segments, at least two.
    // There is no `is_empty`: they are never none.
    #[allow(clippy::len_without_is_empty)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }
    /// Rows of a segment; 0 of one that there is not.
    #[must_use]
    pub fn size(&self, segment: usize) -> u32 {
        let range = self.range(segment);
        (range.end - range.start) as u32
    }
    /// Where a segment's rows are in [`order`](Self::order).
    #[must_use]
    pub fn range(&self, segment: usize) -> Range<usize> {
        match self.starts.get(segment..).unwrap_or_default() {
            [start, end, ..] => *start as usize..(*end).max(*start) as usize,
            _ => 0..0,
        }
    }
    /// The segment of the row at a place of [`order`](Self::order).
    #[must_use]
    pub fn of(&self, item: u32) -> usize {
        self.starts.partition_point(|&start| start <= item) - 1
    }
    /// Items in an epoch of a segment: its rows; of rows with weights as many as they stand for, unless these are fewer, or more
    /// than a hundred times all rows there are.
    #[must_use]
    pub fn items_of(&self, segment: usize) -> u32 {
        let rows = self.size(segment);
        if cfg!(feature = "stream") && self.weights.is_empty() {
            return rows;
        }
        let mass = self.masses().get(segment).map_or(0.0, |&mass| libm::rint(mass));
        let most = (MOST_COPIES * self.order.len() as f64).min(f64::from(u32::MAX));
        if rows > 0 && mass > f64::from(rows) && mass <= most { mass as u32 } else { rows }
    }
    /// Items in an epoch of all segments.
    #[must_use]
    pub fn items(&self) -> usize {
        (0..self.len()).map(|segment| self.items_of(segment) as usize).sum()
    }
    /// Numbers of a sampler's cursor.
    #[must_use]
    pub fn cursor_len(&self) -> usize {
        2 * self.len()
    }
}
