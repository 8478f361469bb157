//! The negatives of a range of false-positive rates among those of all workers, by histograms of the bits of their scores.

use crate::real::Real;
use alloc::vec::Vec;

/// Bits of a histogram.
const DIGIT: u32 = 11;
const BUCKETS: usize = 1 << DIGIT;

/// The negatives at one end: those that tie with the one of a rank.
#[derive(Clone, Copy, Debug)]
struct End {
    /// From 0, by descending score.
    rank: u64,
    /// The known top bits of its key.
    prefix: u64,
    above: u64,
    tied: u64,
}

/// Which negatives count; by default all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Select {
    /// Ranks of the range, where there is one.
    range: Option<(f64, f64)>,
    /// The higher end and the lower one; those that all scores are inside of are not looked for.
    ends: [Option<End>; 2],
    /// Bits of the keys that are known.
    known: u32,
}

impl Select {
    pub(super) fn new((low, high): (f64, f64), negatives: u64) -> Self {
        let count = negatives as f64;
        let (from, to) = (low * count, high * count);
        let end = |rank: u64| Some(End { rank: rank.min(negatives - 1), prefix: 0, above: 0, tied: 0 });
        let higher = if from > 0.0 { end(from as u64) } else { None };
        let lower = if to < count { end((libm::ceil(to) as u64).max(1) - 1) } else { None };
        Self { range: Some((from, to)), ends: [higher, lower], known: 0 }
    }

    pub(super) fn is_done(&self) -> bool {
        self.known == u64::BITS || self.ends.iter().all(Option::is_none)
    }

    /// The next bits, and those behind them.
    fn digit(&self) -> (u32, u32) {
        let bits = DIGIT.min(u64::BITS - self.known);
        (bits, u64::BITS - self.known - bits)
    }

    /// Writes a histogram for each end: of the next bits of the keys that begin as it does.
    pub(super) fn count(&self, scores: &[f64], labels: &[u8], numbers: &mut Vec<i64>) {
        numbers.clear();
        numbers.resize(2 * BUCKETS, 0);
        let (bits, behind) = self.digit();
        for (score, _) in scores.iter().zip(labels).filter(|row| *row.1 == 0) {
            let key = score.key() >> behind;
            for (end, counts) in self.ends.iter().zip(numbers.chunks_mut(BUCKETS)) {
                if end.is_some_and(|end| key >> bits == end.prefix) {
                    counts[key as usize & ((1 << bits) - 1)] += 1;
                }
            }
        }
    }

    /// Takes the histograms of all workers; true when both ends are found.
    pub(super) fn counted(&mut self, numbers: &[i64]) -> bool {
        let (bits, _) = self.digit();
        for (end, counts) in self.ends.iter_mut().zip(numbers.chunks(BUCKETS)) {
            let Some(end) = end else { continue };
            let mut digit = (1_usize << bits) - 1;
            while digit > 0 && end.above + counts[digit] as u64 <= end.rank {
                end.above += counts[digit] as u64;
                digit -= 1;
            }
            end.prefix = end.prefix << bits | digit as u64;
            end.tied = counts[digit] as u64;
        }
        self.known += bits;
        self.is_done()
    }

    /// The rank span of the range.
    pub(super) fn width(&self) -> Option<f64> {
        self.range.map(|(from, to)| to - from)
    }

    /// What a negative of this score counts: 1 inside the range, 0 outside, at an end the part of the tied ones that is inside.
    #[inline(always)]
    pub(super) fn share(&self, score: f64) -> f64 {
        let Some((from, to)) = self.range else { return 1.0 };
        let key = score.key();
        let [higher, lower] = &self.ends;
        for end in [higher, lower].into_iter().flatten() {
            if end.prefix == key {
                let (first, tied) = (end.above as f64, end.tied as f64);
                return (to.or_smaller(first + tied) - from.or_larger(first)).or_larger(0.0) / tied;
            }
        }
        let inside = higher.is_none_or(|end| key < end.prefix) && lower.is_none_or(|end| key > end.prefix);
        if inside { 1.0 } else { 0.0 }
    }

    /// The scores at the ends, once each, and how many negatives of all workers have them.
    pub(super) fn tied(&self) -> impl Iterator<Item = (f64, f64)> {
        let [higher, lower] = self.ends;
        let lower = lower.filter(|lower| higher.is_none_or(|higher| higher.prefix != lower.prefix));
        [higher, lower].into_iter().flatten().map(|end| (f64::of_key(end.prefix), end.tied as f64))
    }

    /// Whether negatives of this score are among [`Select::tied`].
    #[inline(always)]
    pub(super) fn is_tied(&self, score: f64) -> bool {
        self.ends.iter().flatten().any(|end| end.prefix == score.key())
    }
}
