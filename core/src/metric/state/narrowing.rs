//! The second of two passes over rows that a fixed number of ranges cannot tell apart.

use super::bounded::{self, Bounded, Bounds, Node};
use crate::error::{Error, Result, all_finite, count_labels, exact_len};
use crate::metric::FprRange;
use crate::real::Real;
use alloc::vec;
use alloc::vec::Vec;

/// A range of the first pass, cut into neighbours of 2^`shift` keys each.
#[derive(Clone, Copy, Debug)]
struct Cut {
    low: u64,
    shift: u32,
    /// The first of its cells.
    at: u32,
}

/// The second pass over the rows of a [`Bounded`](super::Bounded): narrower bounds of the same metrics, by ranges that no longer change.
///
/// Memory: what [`Bounded::narrow`](super::Bounded::narrow) was given, and at least 32 bytes for each range of the first pass. Cost: O(log ranges)
/// a row, the less the more rows are added at once.
///
/// ```
/// use undercurve::metric::{Bounded, FprRange};
///
/// let row = |k: u32| (f64::from(k.wrapping_mul(2_654_435_769)) / 4294967296.0, u8::from(k % 9 == 0));
/// let mut first = Bounded::new(300);
/// (0..20_000).try_for_each(|k| first.update(&[row(k).0], &[row(k).1]))?;
/// let wide = first.bounds(FprRange::FULL)?.auroc;
/// let mut second = first.narrow(100_000)?;
/// (0..20_000).try_for_each(|k| second.update(&[row(k).0], &[row(k).1]))?;
/// let narrow = second.bounds(FprRange::FULL)?.auroc;
/// assert!(wide.0 <= narrow.0 && narrow.1 <= wide.1 && narrow.1 - narrow.0 < 0.2 * (wide.1 - wide.0));
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Narrowing {
    cuts: Vec<Cut>,
    /// Negatives and positives.
    cells: Vec<[u64; 2]>,
    /// Rows of the first pass, likewise.
    first: [u64; 2],
    /// Rows that it cannot have had.
    others: u64,
}

impl Bounded {
    /// For a second pass over the same rows, which narrows the bounds: ranges of both classes are cut into as many as fit so many
    /// bytes, those that widen the bounds most into the most.
    ///
    /// # Errors
    /// `Empty` without rows, `OneClass`.
    pub fn narrow(mut self, bytes: usize) -> Result<Narrowing> {
        self.settle();
        let [positives, negatives] = self.labels();
        match (positives, negatives) {
            (0, 0) => Err(Error::Empty { what: "scores" }),
            (0, _) | (_, 0) => Err(Error::OneClass),
            _ => Ok(Narrowing::new(self.nodes, bytes)),
        }
    }
}

impl Narrowing {
    /// Of ranges that lie apart, ascending, with rows of both classes.
    pub(super) fn new(nodes: Vec<Node>, bytes: usize) -> Self {
        let first = nodes.iter().fold([0, 0], |[n, p], node| [n + node.negatives, p + node.positives]);
        let room = (bytes / size_of::<[u64; 2]>()).saturating_sub(2 * nodes.len()).min(u32::MAX as usize / 2);
        // The sum of widths / 2^cuts is least, for a number of cells, where cells are as the roots of the widths.
        let roots = widths(&nodes, first);
        let cells =
            |step: f64| -> usize { roots.iter().zip(&nodes).map(|(&root, node)| 1 << cuts(root, step, node)).sum() };
        let mut step = 1.0;
        for _ in 0..64 {
            if cells(0.5 * step) > room {
                break;
            }
            step *= 0.5;
        }
        let mut at = 0;
        let cut = |(&root, node): (&f64, &Node)| {
            let deep = cuts(root, step, node);
            let cut = Cut { low: node.low, shift: bits(node) - deep, at };
            at += 1 << deep;
            cut
        };
        let cuts = roots.iter().zip(&nodes).map(cut).collect();
        drop(nodes);
        Self { cuts, cells: vec![[0; 2]; at as usize], first, others: 0 }
    }

    /// Adds rows, all of which the first pass had: scores and labels, 1 for positive and 0 for negative.
    ///
    /// # Errors
    /// `Length`, `NonFinite`, `Label`.
    pub fn update<T: Real>(&mut self, scores: &[T], labels: &[u8]) -> Result<()> {
        exact_len("labels", scores.len(), labels.len())?;
        all_finite("scores", scores)?;
        count_labels(labels)?;
        // (Ascending, so that each is found near the one before.)
        let mut rows: Vec<(u64, u8)> =
            scores.iter().zip(labels).map(|(score, &label)| (score.f64().key(), label)).collect();
        rows.sort_unstable();
        let mut beyond = 0;
        for (key, label) in rows {
            beyond = self.beyond(beyond, key);
            match self.cell(beyond, key) {
                Some(cell) => self.cells[cell][usize::from(label)] += 1,
                None => self.others += 1,
            }
        }
        Ok(())
    }

    /// The first range that begins beyond a key, which is not before this one.
    fn beyond(&self, from: usize, key: u64) -> usize {
        let (mut start, mut stride) = (from, 1);
        while self.cuts.get(start + stride - 1).is_some_and(|cut| cut.low <= key) {
            (start, stride) = (start + stride, 2 * stride);
        }
        let end = (start + stride - 1).min(self.cuts.len());
        start + self.cuts[start..end].partition_point(|cut| cut.low <= key)
    }

    fn cell(&self, beyond: usize, key: u64) -> Option<usize> {
        let at = beyond.checked_sub(1)?;
        let cut = self.cuts.get(at)?;
        let inside = (key - cut.low).checked_shr(cut.shift).unwrap_or(0);
        let end = self.cuts.get(at + 1).map_or(self.cells.len() as u64, |next| next.at.into());
        let cell = u64::from(cut.at).checked_add(inside).filter(|&cell| cell < end)?;
        usize::try_from(cell).ok()
    }

    /// Between which numbers the metrics of all rows lie.
    ///
    /// # Errors
    /// `Unsupported` unless the rows are those of the first pass, as far as their number in each class and the ranges say.
    pub fn bounds(&self, range: FprRange) -> Result<Bounds> {
        let rows = self.cells.iter().fold([0, 0], |[n, p], cell| [n + cell[0], p + cell[1]]);
        if self.others > 0 || rows != self.first {
            return Err(Error::Unsupported { what: "other rows in the second pass than in the first" });
        }
        let ends = self.cuts.iter().skip(1).map(|next| next.at as usize).chain([self.cells.len()]);
        let nodes = self.cuts.iter().zip(ends.collect::<Vec<_>>()).rev().flat_map(|(cut, end)| {
            let start = cut.at as usize;
            (start..end).rev().filter_map(move |at| {
                let &[negatives, positives] = self.cells.get(at)?;
                let low = cut.low + ((at - start) as u64).checked_shl(cut.shift).unwrap_or(0);
                let high = low + 1_u64.checked_shl(cut.shift).unwrap_or(0).wrapping_sub(1);
                (negatives + positives > 0).then_some(Node { low, high, negatives, positives })
            })
        });
        bounded::bounds(nodes, range)
    }
}

/// Bits in which the keys of a range differ.
fn bits(node: &Node) -> u32 {
    64 - (node.low ^ node.high).leading_zeros()
}

/// How often a range is halved.
fn cuts(root: f64, step: f64, node: &Node) -> u32 {
    // (The exponent of the ratio: its logarithm, rounded down.)
    let ratio = (root / step).to_bits() >> 52;
    (ratio.saturating_sub(1023) as u32).min(bits(node)).min(24)
}

/// Roots of about what each range widens the bounds of AUROC and of average precision by.
fn widths(nodes: &[Node], [all_n, all_p]: [u64; 2]) -> Vec<f64> {
    let mut above = (all_n + all_p) as f64;
    let width = |node: &Node| {
        let (n, p) = (node.negatives as f64, node.positives as f64);
        above -= n + p;
        crate::Real::sqrt(p / all_p as f64 * (n / all_n as f64 + n / (above + n + p)))
    };
    nodes.iter().map(width).collect()
}
