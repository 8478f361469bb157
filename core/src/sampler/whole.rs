//! All rows as one batch, for methods with exact gradients over the whole data.

use super::{Place, Sampler, check};
use crate::batch::Drawn;
use crate::data::Segments;
use crate::error::Result;

/// All rows in the order of the segments, every time.
///
/// ```
/// use undercurve::batch::Drawn;
/// use undercurve::data::Segments;
/// use undercurve::sampler::{Place, Sampler, Whole};
///
/// let (mut order, mut starts) = ([0; 4], [0; 3]);
/// let segments = Segments::new(&[0u8, 1, 0, 1], &mut order, &mut starts)?;
/// let (mut cursor, mut memory) = (vec![0; segments.cursor_len()], [0; 4]);
/// Whole.prepare(&segments, &cursor, &mut memory)?;
/// let (mut index, mut items, mut starts) = ([0; 4], [0; 4], [0; 3]);
/// let to = Place { index: &mut index, items: &mut items, starts: &mut starts };
/// assert_eq!(Whole.draw(&segments, &mut cursor, &mut memory, to)?, Drawn::All);
/// assert_eq!((index, starts), ([0, 2, 1, 3], [0, 2, 4])); // the negatives, then the positives
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole;

impl Sampler for Whole {
    fn rows(&self, segments: &Segments<'_>) -> usize {
        segments.order().len()
    }

    fn prepare(&self, segments: &Segments<'_>, cursor: &[u64], order: &mut [u32]) -> Result<()> {
        check(self.rows(segments), segments, cursor, order, None)
    }

    fn draw(&self, segments: &Segments<'_>, cursor: &mut [u64], order: &mut [u32], to: Place<'_>) -> Result<Drawn> {
        check(self.rows(segments), segments, cursor, order, Some(&to))?;
        cursor[0] = cursor[0].wrapping_add(1);
        Ok(Self.fill(segments, to))
    }
}

impl Whole {
    /// All rows, where no cursor counts them.
    pub(crate) fn fill(self, segments: &Segments<'_>, to: Place<'_>) -> Drawn {
        let Place { index, items, starts } = to;
        index.iter_mut().zip(segments.order()).for_each(|(index, &row)| *index = row);
        items.iter_mut().zip(0..).for_each(|(item, k)| *item = k);
        starts.iter_mut().zip(segments.starts()).for_each(|(to, &start)| *to = start);
        Drawn::All
    }
}
