//! Uniform batches: epochs in random order over all rows.

use super::{Place, Sampler, advance, check, fill};
use crate::batch::Drawn;
use crate::data::Segments;
use crate::error::{Error, Result};

/// Batches of a fixed size, each row once an epoch (a last, smaller rest of the epoch is left out).
///
/// ```
/// use undercurve::data::Segments;
/// use undercurve::sampler::{Place, Sampler, Shuffle};
///
/// let labels = [0u8, 1, 0, 0, 1, 0];
/// let (mut order, mut starts) = ([0; 6], [0; 3]);
/// let segments = Segments::new(&labels, &mut order, &mut starts)?;
/// let sampler = Shuffle::new(1, 2)?;
/// let (mut cursor, mut memory) = (vec![0; segments.cursor_len()], [0; 6]);
/// sampler.prepare(&segments, &cursor, &mut memory)?;
/// let mut seen = [0; 6];
/// for _ in 0..3 {
///     let (mut index, mut items, mut starts) = ([0; 2], [0; 2], [0; 3]);
///     let to = Place { index: &mut index, items: &mut items, starts: &mut starts };
///     sampler.draw(&segments, &mut cursor, &mut memory, to)?;
///     index.iter().for_each(|&row| seen[row as usize] += 1);
///     // Negatives first: rows from starts[1] on are positives.
///     assert!((0..2).all(|k| labels[index[k] as usize] == u8::from(k >= starts[1] as usize)));
/// }
/// assert_eq!(seen, [1; 6]); // an epoch has every row once
/// # Ok::<(), undercurve::Error>(())
/// ```
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

    fn fits(&self, cursor: &[u64], rows: usize) -> Result<()> {
        if self.batch as usize > rows || cursor[cursor.len() / 2] > rows as u64 {
            return Err(Error::Param { what: "batch" });
        }
        Ok(())
    }
}

impl Sampler for Shuffle {
    fn rows(&self, _: &Segments<'_>) -> usize {
        self.batch as usize
    }

    fn prepare(&self, segments: &Segments<'_>, cursor: &[u64], order: &mut [u32]) -> Result<()> {
        check(self.rows(segments), segments, cursor, order, None)?;
        self.fits(cursor, order.len())?;
        fill(self.seed, 0, cursor[0], segments.weights(), order);
        Ok(())
    }

    fn draw(&self, segments: &Segments<'_>, cursor: &mut [u64], order: &mut [u32], to: Place<'_>) -> Result<Drawn> {
        check(self.rows(segments), segments, cursor, order, Some(&to))?;
        self.fits(cursor, order.len())?;
        let items = advance(self.seed, 0, self.batch as usize, cursor, segments.weights(), order);
        // The items number the rows in the order of the segments, so an item tells its segment.
        let Place { index, items: places, starts } = to;
        starts.fill(0);
        for &item in items {
            starts[segments.of(item) + 1] += 1;
        }
        for segment in 0..segments.len() {
            starts[segment + 1] += starts[segment];
        }
        for &item in items {
            let place = &mut starts[segments.of(item)];
            index[*place as usize] = segments.order()[item as usize];
            places[*place as usize] = item;
            *place += 1;
        }
        starts.copy_within(..segments.len(), 1);
        starts[0] = 0;
        Ok(Drawn::Uniform)
    }
}
