//! Stratified batches: so many positives and so many negatives, each class in its own epochs.

use super::{Classes, Cursor, DrawnRows, Sampler, advance, fill};
use crate::batch::Drawn;
use crate::error::{Error, Result, exact_len};

/// A fixed number of positives and of negatives a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stratified {
    seed: u64,
    positives: u32,
    negatives: u32,
}

impl Stratified {
    /// `positives` and `negatives` a batch, each at least 1.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(seed: u64, positives: u32, negatives: u32) -> Result<Self> {
        match (positives, negatives, positives.checked_add(negatives)) {
            (0, _, _) => Err(Error::Param { what: "positives" }),
            (_, 0, _) | (_, _, None) => Err(Error::Param { what: "negatives" }),
            _ => Ok(Self { seed, positives, negatives }),
        }
    }
}

impl Sampler for Stratified {
    fn rows(&self) -> usize {
        (self.positives + self.negatives) as usize
    }

    fn prepare(&self, classes: &Classes<'_>, cursor: &Cursor, order: &mut [u32]) -> Result<()> {
        exact_len("order", classes.order().len(), order.len())?;
        let [negatives, positives] = classes.population();
        if negatives == 0 || positives == 0 {
            return Err(Error::OneClass);
        }
        if self.positives > positives || cursor.position[1] > positives {
            return Err(Error::Param { what: "positives" });
        }
        if self.negatives > negatives || cursor.position[0] > negatives {
            return Err(Error::Param { what: "negatives" });
        }
        let (low, high) = order.split_at_mut(negatives as usize);
        fill(self.seed, 0, cursor.epoch[0], low);
        fill(self.seed, 1, cursor.epoch[1], high);
        Ok(())
    }

    fn draw(
        &self,
        classes: &Classes<'_>,
        cursor: &mut Cursor,
        order: &mut [u32],
        index: &mut [u32],
        slots: &mut [u32],
    ) -> Result<DrawnRows> {
        exact_len("order", classes.order().len(), order.len())?;
        exact_len("index", self.rows(), index.len())?;
        exact_len("slots", self.rows(), slots.len())?;
        let [negatives, _] = classes.population();
        let (low, high) = order.split_at_mut(negatives as usize);
        let (index_low, index_high) = index.split_at_mut(self.negatives as usize);
        let (rows_low, rows_high) = classes.order().split_at(negatives as usize);
        for (index, &item) in index_low.iter_mut().zip(advance(self.seed, 0, self.negatives as usize, cursor, low)) {
            *index = rows_low[item as usize];
        }
        let items = advance(self.seed, 1, self.positives as usize, cursor, high);
        for ((index, slot), &item) in index_high.iter_mut().zip(slots).zip(items) {
            *index = rows_high[item as usize];
            *slot = item;
        }
        Ok(DrawnRows { starts: [0, self.negatives, self.negatives + self.positives], drawn: Drawn::Stratified })
    }
}
