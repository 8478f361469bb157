//! Uniform batches: epochs of random order over all rows.

use super::{Classes, Cursor, DrawnRows, Sampler, advance, fill};
use crate::batch::Drawn;
use crate::error::{Error, Result, exact_len};

/// Batches of a fixed size, each row once an epoch (a last, smaller rest of the epoch is left out).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shuffle {
    seed: u64,
    batch: u32,
}

impl Shuffle {
    /// `batch` rows at a time, at least 1.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(seed: u64, batch: u32) -> Result<Self> {
        if batch == 0 { Err(Error::Param { what: "batch" }) } else { Ok(Self { seed, batch }) }
    }
}

impl Sampler for Shuffle {
    fn rows(&self) -> usize {
        self.batch as usize
    }

    fn prepare(&self, classes: &Classes<'_>, cursor: &Cursor, order: &mut [u32]) -> Result<()> {
        exact_len("order", classes.order().len(), order.len())?;
        if self.rows() > order.len() || cursor.position[0] as usize > order.len() {
            return Err(Error::Param { what: "batch" });
        }
        fill(self.seed, 0, cursor.epoch[0], order);
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
        let negatives = classes.population()[0];
        let items = advance(self.seed, 0, self.rows(), cursor, order);
        // The items number the rows in class order, so an item tells its class and its slot.
        let mut low = 0;
        for &item in items.iter().filter(|&&item| item < negatives) {
            index[low] = classes.order()[item as usize];
            low += 1;
        }
        let positives = items.iter().filter(|&&item| item >= negatives);
        for ((&item, index), slot) in positives.zip(&mut index[low..]).zip(slots) {
            *index = classes.order()[item as usize];
            *slot = item - negatives;
        }
        Ok(DrawnRows { starts: [0, low as u32, self.batch], drawn: Drawn::Uniform })
    }
}
