//! Samplers of batches: which rows, in which segments, drawn how.
//!
//! A sampler's state is an epoch and a position in each of its cycles. The order of an epoch is a function of the seed
//! and the epoch's number alone, so a saved cursor finds it again without replaying what came before.

mod several;
mod shuffle;
mod stratified;
mod whole;

pub use several::{ByClass, ClassSampler};
pub use shuffle::Shuffle;
pub use stratified::Stratified;
pub use whole::Whole;

use crate::batch::Drawn;
#[cfg(feature = "alloc")]
use crate::checkpoint::{Coded, Reader};
use crate::error::{Error, Result, exact_len};
use crate::registry::settings::Settings;
use crate::rng::Rng;
#[cfg(feature = "alloc")]
use alloc::vec::Vec;

/// Rows grouped by class: the negatives in ascending row order, then the positives in ascending row order. The ordinal
/// of a positive among the positives is its state slot.
#[derive(Clone, Copy, Debug)]
pub struct Classes<'a> {
    order: &'a [u32],
    negatives: u32,
}

impl<'a> Classes<'a> {
    /// Groups labels (1 positive, 0 negative) into `order`, one entry per row.
    ///
    /// # Errors
    /// `Length`, `Label`, `Overflow` (more than 2³² − 1 rows).
    pub fn new(labels: &[u8], order: &'a mut [u32]) -> Result<Self> {
        exact_len("order", labels.len(), order.len())?;
        let (_, negatives) = crate::error::count_labels(labels)?;
        let (Ok(_), Ok(negatives)) = (u32::try_from(labels.len()), u32::try_from(negatives)) else {
            return Err(Error::Overflow { what: "rows" });
        };
        let mut next = [0, negatives as usize];
        for (row, &label) in labels.iter().enumerate() {
            let place = &mut next[usize::from(label)];
            order[*place] = row as u32;
            *place += 1;
        }
        Ok(Self { order, negatives })
    }

    /// An order made by [`Classes::new`] before, with its number of negatives.
    ///
    /// # Errors
    /// `Param` when there are fewer rows than negatives.
    pub fn from_order(order: &'a [u32], negatives: u32) -> Result<Self> {
        if negatives as usize > order.len() {
            return Err(Error::Param { what: "negatives" });
        }
        Ok(Self { order, negatives })
    }

    /// Row numbers, negatives first.
    #[must_use]
    pub fn order(&self) -> &'a [u32] {
        self.order
    }
    /// Number of negatives and of positives.
    #[must_use]
    pub fn population(&self) -> [u32; 2] {
        [self.negatives, self.order.len() as u32 - self.negatives]
    }
}

/// Where a sampler stands. Two cycles at most: what is drawn from all rows or from the negatives, and the positives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// Number of the epoch of each cycle.
    pub epoch: [u64; 2],
    /// Items already drawn in it.
    pub position: [u32; 2],
}

#[cfg(feature = "alloc")]
impl Coded for Cursor {
    fn write(&self, out: &mut Vec<u8>) {
        self.epoch.write(out);
        self.position.map(u64::from).write(out);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self { epoch: from.value()?, position: [from.value()?, from.value()?] })
    }
}

/// What a draw wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnRows {
    /// Segment boundaries in the batch: 0, the number of negatives, the number of rows.
    pub starts: [u32; 3],
    /// How they were drawn.
    pub drawn: Drawn,
}

/// Chooses the rows of batches.
///
/// `order` is working memory of one entry per row of the data, lent at every call and filled by `prepare`; after a
/// resume `prepare` fills it again from the cursor.
pub trait Sampler {
    /// Rows of one batch.
    fn rows(&self) -> usize;
    /// Fills `order` for the cursor.
    ///
    /// # Errors
    /// `Length`, `Param` (a batch larger than the data it is drawn from).
    fn prepare(&self, classes: &Classes<'_>, cursor: &Cursor, order: &mut [u32]) -> Result<()>;
    /// Draws the next batch: row numbers into `index` (negatives, then positives), slots of its positives into the
    /// front of `slots`. Both are [`rows`](Self::rows) long.
    ///
    /// # Errors
    /// `Length`.
    fn draw(
        &self,
        classes: &Classes<'_>,
        cursor: &mut Cursor,
        order: &mut [u32],
        index: &mut [u32],
        slots: &mut [u32],
    ) -> Result<DrawnRows>;
}

/// Every sampler by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnySampler {
    /// Uniform over all rows.
    Shuffle(Shuffle),
    /// So many positives and so many negatives.
    Stratified(Stratified),
    /// Everything at once.
    Whole(Whole),
}

impl AnySampler {
    /// Of settings, for data with so many negatives and positives; batches shrink to what there is.
    ///
    /// # Errors
    /// `Param`, `OneClass` (stratified).
    pub fn from_settings(settings: &Settings<'_>, population: [u32; 2]) -> Result<Self> {
        let (seed, [negatives, positives]) = (settings.seed(), population);
        // (Nothing, where there is no such parameter, is refused below.)
        let at_most = |name, there: u32| (settings.value(name) as u32).min(there);
        if settings.text("sampling") == Some("uniform") {
            return Ok(Self::Shuffle(Shuffle::new(seed, at_most("batch", negatives + positives))?));
        }
        if negatives == 0 || positives == 0 {
            return Err(Error::OneClass);
        }
        let (high, low) = (at_most("positives", positives), at_most("negatives", negatives));
        Ok(Self::Stratified(Stratified::new(seed, high, low)?))
    }
}

impl Sampler for AnySampler {
    fn rows(&self) -> usize {
        match self {
            Self::Shuffle(s) => s.rows(),
            Self::Stratified(s) => s.rows(),
            Self::Whole(s) => s.rows(),
        }
    }
    fn prepare(&self, classes: &Classes<'_>, cursor: &Cursor, order: &mut [u32]) -> Result<()> {
        match self {
            Self::Shuffle(s) => s.prepare(classes, cursor, order),
            Self::Stratified(s) => s.prepare(classes, cursor, order),
            Self::Whole(s) => s.prepare(classes, cursor, order),
        }
    }
    fn draw(
        &self,
        classes: &Classes<'_>,
        cursor: &mut Cursor,
        order: &mut [u32],
        index: &mut [u32],
        slots: &mut [u32],
    ) -> Result<DrawnRows> {
        match self {
            Self::Shuffle(s) => s.draw(classes, cursor, order, index, slots),
            Self::Stratified(s) => s.draw(classes, cursor, order, index, slots),
            Self::Whole(s) => s.draw(classes, cursor, order, index, slots),
        }
    }
}

/// The random order of one cycle in one epoch, over the numbers `0..order.len()`.
fn fill(seed: u64, cycle: usize, epoch: u64, order: &mut [u32]) {
    for (k, item) in order.iter_mut().enumerate() {
        *item = k as u32;
    }
    Rng::keyed(seed, 0x5a3b_0000 + cycle as u64, epoch).shuffle(order);
}

/// The next `take` items of a cycle. A rest smaller than that is left out and a new epoch begins, so that a batch never
/// holds an item twice.
fn advance<'o>(seed: u64, cycle: usize, take: usize, cursor: &mut Cursor, order: &'o mut [u32]) -> &'o [u32] {
    let mut start = cursor.position[cycle] as usize;
    if start + take > order.len() {
        cursor.epoch[cycle] = cursor.epoch[cycle].wrapping_add(1);
        fill(seed, cycle, cursor.epoch[cycle], order);
        start = 0;
    }
    cursor.position[cycle] = (start + take) as u32;
    &order[start..start + take]
}
