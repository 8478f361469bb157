//! Samplers: which rows a batch has, from which segments.
//!
//! A sampler's cursor is an epoch and a position in each of its cycles. The order of an epoch is a function of the seed
//! and the epoch's number alone, so a saved cursor finds it again without replaying earlier epochs.
//!
//! Rows with weights ([`Segments::with_weights`]) are drawn in proportion to them. An epoch has N items, as many as the rows that the
//! weights stand for ([`Segments::items_of`]). Let W be the sum of the weights. Where all N·w_i/W are whole, row i appears that often,
//! in the order that consecutive copies of it would have, so batches are those of the repeated rows. Otherwise the items are a
//! systematic resample, in which row i appears N·w_i/W times, rounded down or up,
//!
//! ```text
//! copies of the k-th row visited = ⌊c_k + u⌋ − ⌊c_{k−1} + u⌋,    c_k = N/W Σ_{l≤k} w_l,    u uniform in [0, 1)
//! ```
//!
//! so its expectation is N·w_i/W exactly. (The n rows are visited in the order k ↦ (b + a·k) mod n with random a and b, so that no two
//! rows always appear together.) Estimators need no change: means over a segment and pairs across segments are unbiased for the
//! weighted objective; pairs within one segment are so up to 1/n, because of pairs of copies of a row. The weight of a segment
//! against others is [`Batch::mass`](crate::batch::Batch::mass). A row may be in a batch more than once. Weights of 1 give the
//! bits of no weights.

mod shuffle;
mod stratified;
mod whole;

pub use shuffle::Shuffle;
pub use stratified::Stratified;
pub use whole::Whole;

use crate::batch::{Drawn, WEIGHTS};
use crate::data::Segments;
use crate::error::{Error, Result, exact_len};
use crate::features::MINIMAL;
use crate::registry::settings::Settings;
use crate::rng::Rng;

/// What a draw fills.
#[derive(Debug)]
pub struct Place<'a> {
    /// Row numbers, segment by segment; [`Sampler::rows`] long.
    pub index: &'a mut [u32],
    /// For each of them its place in [`Segments::order`]; as long as `index`. What owns state finds its slot by it.
    pub items: &'a mut [u32],
    /// Where each segment begins in `index`, and where the last one ends; one more than there are segments.
    pub starts: &'a mut [u32],
}

/// Chooses the rows of batches.
///
/// `cursor` is [`Segments::cursor_len`] numbers, 0 at the start: the epoch of every cycle, then the items drawn in it.
/// `order` is working memory of [`Segments::items`] entries, lent at every call and filled by `prepare`; after a
/// resume `prepare` fills it again from the cursor.
pub trait Sampler {
    /// Rows of one batch.
    fn rows(&self, segments: &Segments<'_>) -> usize;
    /// Of them, those of a segment, where they are as many in every batch.
    fn rows_of(&self, _segments: &Segments<'_>, _segment: usize) -> Option<usize> {
        None
    }
    /// Fills `order` for the cursor.
    ///
    /// # Errors
    /// `Length`, `Param` (a batch larger than the data it is drawn from, a cursor of other data), `OneClass` (a segment
    /// without a row, where so many of each are drawn).
    fn prepare(&self, segments: &Segments<'_>, cursor: &[u64], order: &mut [u32]) -> Result<()>;
    /// Draws the next batch.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare). Nothing has changed then.
    fn draw(&self, segments: &Segments<'_>, cursor: &mut [u64], order: &mut [u32], to: Place<'_>) -> Result<Drawn>;
}

/// Every sampler by value.
///
/// ```
/// use undercurve::data::Segments;
/// use undercurve::sampler::{AnySampler, Sampler, Shuffle, Whole};
///
/// let (mut order, mut starts) = ([0; 4], [0; 3]);
/// let segments = Segments::new(&[0u8, 1, 0, 1], &mut order, &mut starts)?;
/// let choice = |exact| if exact { Ok(AnySampler::Whole(Whole)) } else { Shuffle::new(1, 2).map(AnySampler::Shuffle) };
/// assert_eq!((choice(true)?.rows(&segments), choice(false)?.rows(&segments)), (4, 2));
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnySampler {
    /// Uniform over all rows.
    Shuffle(Shuffle),
    /// So many of each segment.
    Stratified(Stratified),
    /// Everything at once.
    Whole(Whole),
}

impl AnySampler {
    /// Of settings, for so many items in all; batches shrink to what there is.
    ///
    /// # Errors
    /// `Param`, `Empty`.
    pub fn from_settings(settings: &Settings<'_>, rows: usize) -> Result<Self> {
        let (seed, most) = (settings.seed(), u32::try_from(rows).map_err(|_| Error::Overflow { what: "rows" })?);
        if most == 0 {
            return Err(Error::Empty { what: "rows" });
        }
        // (Nothing, where there is no such parameter, is refused below.)
        let at_most = |name| (settings.value(name) as u32).min(most);
        if !MINIMAL && settings.text("per-cell").is_some() {
            return Ok(Self::Stratified(Stratified::per_cell(seed, at_most("per-cell"))?));
        }
        if settings.text("sampling") == Some("uniform") {
            return Ok(Self::Shuffle(Shuffle::new(seed, at_most("batch"))?));
        }
        Ok(Self::Stratified(match settings.text("per-class") {
            None => Stratified::new(seed, at_most("positives"), at_most("negatives"))?,
            Some(_) => Stratified::per_segment(seed, at_most("per-class"))?,
        }))
    }
}

impl Sampler for AnySampler {
    fn rows(&self, segments: &Segments<'_>) -> usize {
        match self {
            Self::Shuffle(s) => s.rows(segments),
            Self::Stratified(s) => s.rows(segments),
            Self::Whole(s) => s.rows(segments),
        }
    }
    fn rows_of(&self, segments: &Segments<'_>, segment: usize) -> Option<usize> {
        match self {
            Self::Shuffle(s) => s.rows_of(segments, segment),
            Self::Stratified(s) => s.rows_of(segments, segment),
            Self::Whole(s) => s.rows_of(segments, segment),
        }
    }
    fn prepare(&self, segments: &Segments<'_>, cursor: &[u64], order: &mut [u32]) -> Result<()> {
        match self {
            Self::Shuffle(s) => s.prepare(segments, cursor, order),
            Self::Stratified(s) => s.prepare(segments, cursor, order),
            Self::Whole(s) => s.prepare(segments, cursor, order),
        }
    }
    fn draw(&self, segments: &Segments<'_>, cursor: &mut [u64], order: &mut [u32], to: Place<'_>) -> Result<Drawn> {
        match self {
            Self::Shuffle(s) => s.draw(segments, cursor, order, to),
            Self::Stratified(s) => s.draw(segments, cursor, order, to),
            Self::Whole(s) => s.draw(segments, cursor, order, to),
        }
    }
}

/// Splits a slice, at its end where it is shorter.
fn cut<E>(slice: &mut [E], at: usize) -> (&mut [E], &mut [E]) {
    let at = at.min(slice.len());
    slice.split_at_mut_checked(at).unwrap_or_default()
}

/// `Ok` when all that a sampler is lent fits the data.
fn check(rows: usize, segments: &Segments<'_>, cursor: &[u64], order: &[u32], to: Option<&Place<'_>>) -> Result<()> {
    exact_len("cursor", segments.cursor_len(), cursor.len())?;
    exact_len("order", segments.items(), order.len())?;
    if let Some(to) = to {
        exact_len("index", rows, to.index.len())?;
        exact_len("items", rows, to.items.len())?;
        exact_len("starts", segments.starts().len(), to.starts.len())?;
    }
    Ok(())
}

/// The random order of one cycle in one epoch, over the numbers `0..order.len()`, each once; or over those of the weights, each by
/// its weight.
fn fill(seed: u64, cycle: usize, epoch: u64, weights: &[f64], order: &mut [u32]) {
    let mut rng = Rng::keyed(seed, 0x5a3b_0000 + cycle as u64, epoch);
    if !WEIGHTS || weights.is_empty() {
        for (k, item) in order.iter_mut().enumerate() {
            *item = k as u32;
        }
    } else if !repeat(weights, order) {
        resample(&mut rng, weights, order);
    }
    rng.shuffle(order);
}

/// Every number as often as its weight says, where that is a whole number of times for each; false where it is not.
fn repeat(weights: &[f64], order: &mut [u32]) -> bool {
    let scale = order.len() as f64 / weights.iter().sum::<f64>();
    let mut from = 0;
    for (row, &weight) in (0..).zip(weights) {
        let copies = libm::rint(scale * weight);
        let to = from + copies as usize;
        if (scale * weight - copies).abs() > 1e-9 * copies || to > order.len() {
            return false;
        }
        order.get_mut(from..to).unwrap_or_default().fill(row);
        from = to;
    }
    from == order.len()
}

/// A systematic resample: each number by its weight.
fn resample(rng: &mut Rng, weights: &[f64], order: &mut [u32]) {
    let (n, items) = (weights.len() as u32, order.len() as u32);
    let first = rng.below(n);
    let stride = loop {
        let stride = 1 + rng.below(n);
        if coprime(stride, n) {
            break stride;
        }
    };
    let (u, scale) = (rng.uniform(), f64::from(items) / weights.iter().sum::<f64>());
    let (mut sum, mut from) = (0.0, 0);
    for k in 0..n {
        let row = (u64::from(first) + u64::from(stride) * u64::from(k)) % u64::from(n);
        sum += weights.get(row as usize).copied().unwrap_or(0.0);
        // (The last one ends where the order does, whatever the sum was rounded to.)
        let end = if k + 1 == n { items } else { (libm::floor(scale * sum + u) as u32).min(items) };
        order.get_mut(from as usize..end.max(from) as usize).unwrap_or_default().fill(row as u32);
        from = end.max(from);
    }
}

fn coprime(mut a: u32, mut b: u32) -> bool {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}

/// The next `take` items of a cycle. A rest smaller than that is left out and a new epoch begins, so that a batch never
/// holds an item twice that is in the epoch once.
fn advance<'o>(
    seed: u64,
    cycle: usize,
    take: usize,
    cursor: &mut [u64],
    weights: &[f64],
    order: &'o mut [u32],
) -> &'o [u32] {
    let half = cursor.len() / 2;
    let (epochs, drawn) = cut(cursor, half);
    let (Some(epoch), Some(drawn)) = (epochs.get_mut(cycle), drawn.get_mut(cycle)) else { return &[] };
    let mut start = *drawn as usize;
    if start.saturating_add(take) > order.len() {
        *epoch = epoch.wrapping_add(1);
        fill(seed, cycle, *epoch, weights, order);
        start = 0;
    }
    *drawn = (start + take) as u64;
    order.get(start..start + take).unwrap_or_default()
}
