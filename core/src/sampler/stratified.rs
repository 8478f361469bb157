//! Stratified batches: a fixed number of rows of each segment, each segment in its own epochs.

use super::{Place, Sampler, advance, check, cut, fill};
use crate::batch::Drawn;
use crate::data::Segments;
use crate::error::{Error, Result};

/// So many rows of each segment a batch, or all of a segment that has fewer.
///
/// ```
/// use undercurve::data::Segments;
/// use undercurve::sampler::{Place, Sampler, Stratified};
///
/// let labels = [0u8, 1, 0, 0, 1, 0];
/// let (mut order, mut starts) = ([0; 6], [0; 3]);
/// let segments = Segments::new(&labels, &mut order, &mut starts)?;
/// let sampler = Stratified::new(1, 1, 2)?; // a positive and two negatives
/// let (mut cursor, mut memory) = (vec![0; segments.cursor_len()], [0; 6]);
/// sampler.prepare(&segments, &cursor, &mut memory)?;
/// let mut seen = [0; 6];
/// for _ in 0..2 {
///     let (mut index, mut items, mut starts) = ([0; 3], [0; 3], [0; 3]);
///     let to = Place { index: &mut index, items: &mut items, starts: &mut starts };
///     sampler.draw(&segments, &mut cursor, &mut memory, to)?;
///     assert_eq!(index.map(|row| labels[row as usize]), [0, 0, 1]);
///     index.iter().for_each(|&row| seen[row as usize] += 1);
/// }
/// assert_eq!(seen, [1; 6]); // each class in epochs of its own, here of two batches
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stratified {
    seed: u64,
    /// Of the first segment, and of each further one.
    rows: [u32; 2],
    /// Whether a segment may have no row.
    lacks: bool,
}

impl Stratified {
    /// `positives` and `negatives` a batch, each at least 1: rows of the second segment and of the first.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(seed: u64, positives: u32, negatives: u32) -> Result<Self> {
        match (positives, negatives, positives.checked_add(negatives)) {
            (0, _, _) => Err(Error::Param { what: "positives" }),
            (_, 0, _) | (_, _, None) => Err(Error::Param { what: "negatives" }),
            _ => Ok(Self { seed, rows: [negatives, positives], lacks: false }),
        }
    }

    /// `rows` of every segment, at least 1.
    ///
    /// # Errors
    /// `Param`.
    pub fn per_segment(seed: u64, rows: u32) -> Result<Self> {
        if rows == 0 {
            Err(Error::Param { what: "per-class" })
        } else {
            Ok(Self { seed, rows: [rows; 2], lacks: false })
        }
    }

    /// The same of segments of which some may be empty.
    ///
    /// # Errors
    /// `Param`.
    pub fn per_cell(seed: u64, rows: u32) -> Result<Self> {
        if rows == 0 { Err(Error::Param { what: "per-cell" }) } else { Ok(Self { seed, rows: [rows; 2], lacks: true }) }
    }

    /// Rows of a segment in a batch.
    fn take(&self, segments: &Segments<'_>, segment: usize) -> usize {
        let [first, other] = self.rows;
        (if segment == 0 { first } else { other }).min(segments.items_of(segment)) as usize
    }

    fn fits(&self, segments: &Segments<'_>, cursor: &[u64]) -> Result<()> {
        for segment in 0..segments.len() {
            if segments.size(segment) == 0 && !self.lacks {
                return Err(Error::OneClass);
            }
            let drawn = cursor.get(segments.len() + segment).copied().unwrap_or(0);
            if drawn > u64::from(segments.items_of(segment)) {
                return Err(Error::Param { what: "cursor" });
            }
        }
        Ok(())
    }
}

impl Sampler for Stratified {
    fn rows(&self, segments: &Segments<'_>) -> usize {
        (0..segments.len()).map(|segment| self.take(segments, segment)).sum()
    }

    fn rows_of(&self, segments: &Segments<'_>, segment: usize) -> Option<usize> {
        Some(self.take(segments, segment))
    }

    fn prepare(&self, segments: &Segments<'_>, cursor: &[u64], order: &mut [u32]) -> Result<()> {
        check(self.rows(segments), segments, cursor, order, None)?;
        self.fits(segments, cursor)?;
        let mut rest = order;
        for segment in 0..segments.len() {
            let weights = segments.weights().get(segments.range(segment)).unwrap_or(&[]);
            let (own, others) = cut(rest, segments.items_of(segment) as usize);
            fill(self.seed, segment, cursor.get(segment).copied().unwrap_or(0), weights, own);
            rest = others;
        }
        Ok(())
    }

    fn draw(&self, segments: &Segments<'_>, cursor: &mut [u64], order: &mut [u32], to: Place<'_>) -> Result<Drawn> {
        check(self.rows(segments), segments, cursor, order, Some(&to))?;
        self.fits(segments, cursor)?;
        let Place { index, items: places, starts } = to;
        let (mut at, mut rest, mut rows) = (0, order, (index, places));
        for (segment, start) in (0..segments.len()).zip(&mut *starts) {
            let (own, take) = (segments.range(segment), self.take(segments, segment));
            let (members, first) = (segments.order().get(own.clone()).unwrap_or_default(), own.start as u32);
            let weights = segments.weights().get(own).unwrap_or(&[]);
            let (order, others) = cut(rest, segments.items_of(segment) as usize);
            let items = advance(self.seed, segment, take, cursor, weights, order);
            *start = at as u32;
            let ((index, more), (places, further)) = (cut(rows.0, take), cut(rows.1, take));
            for ((index, place), &item) in index.iter_mut().zip(places).zip(items) {
                let row = members.get(item as usize).ok_or(Error::Param { what: "cursor" })?;
                (*index, *place) = (*row, first.wrapping_add(item));
            }
            at += take;
            (rest, rows) = (others, (more, further));
        }
        if let Some(end) = starts.last_mut() {
            *end = at as u32;
        }
        Ok(Drawn::Stratified)
    }
}
