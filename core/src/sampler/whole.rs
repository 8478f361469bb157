//! Everything at once, for methods that take exact gradients over the whole data.

use super::{Classes, Cursor, DrawnRows, Sampler};
use crate::batch::Drawn;
use crate::error::{Error, Result, exact_len};

/// All rows in class order, every time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    rows: u32,
}

impl Whole {
    /// For data of `rows` rows, at least 1.
    ///
    /// # Errors
    /// `Empty`.
    pub fn new(rows: u32) -> Result<Self> {
        if rows == 0 { Err(Error::Empty { what: "rows" }) } else { Ok(Self { rows }) }
    }
}

impl Sampler for Whole {
    fn rows(&self) -> usize {
        self.rows as usize
    }

    fn prepare(&self, classes: &Classes<'_>, _: &Cursor, order: &mut [u32]) -> Result<()> {
        exact_len("order", classes.order().len(), order.len())?;
        exact_len("rows", self.rows(), order.len())
    }

    fn draw(
        &self,
        classes: &Classes<'_>,
        cursor: &mut Cursor,
        _: &mut [u32],
        index: &mut [u32],
        slots: &mut [u32],
    ) -> Result<DrawnRows> {
        exact_len("index", classes.order().len(), index.len())?;
        exact_len("slots", index.len(), slots.len())?;
        index.copy_from_slice(classes.order());
        let [negatives, positives] = classes.population();
        slots.iter_mut().take(positives as usize).zip(0..).for_each(|(slot, k)| *slot = k);
        cursor.epoch[0] += 1;
        Ok(DrawnRows { starts: [0, negatives, self.rows], drawn: Drawn::All })
    }
}
