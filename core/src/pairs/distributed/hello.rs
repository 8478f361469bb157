//! The first message: whether all workers compute the same, and what they know of all rows together.

use super::{DistributedError, MOST_WORKERS};
use crate::error::Error;
use crate::pairs::Sum;
use crate::pairs::chosen::{fits, fits_ratios};
use crate::real::Real;
use crate::surrogate::{AnySurrogate, Family};
use alloc::vec::Vec;

const WORDS: usize = 11;

/// What is summed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    pub(super) sum: Sum,
    pub(super) square: bool,
    pub(super) margin: f64,
    /// Whether scores are `f64`.
    wide: bool,
}

impl Options {
    /// With what is wrong with them.
    pub(super) fn of<T: Real>(sum: Sum, loss: AnySurrogate<f64>) -> (Self, Option<Error>) {
        let (square, margin, mut refused) = match loss.family() {
            Family::Hinge { margin, square } => (square, margin, None),
            Family::Pairs
            | Family::Square { .. }
            | Family::Exponential { .. }
            | Family::Window { .. }
            | Family::Sigmoid { .. }
            | Family::Softplus { .. } => {
                (false, 1.0, Some(Error::Unsupported { what: "a surrogate other than hinge and squared hinge" }))
            }
        };
        if let Sum::Pauc { fpr: (low, high), tpr } = sum {
            if !(0.0 <= low && low < high && high <= 1.0) {
                refused = Some(Error::Param { what: "fpr" });
            } else if tpr != 0.0 {
                refused = Some(Error::Unsupported { what: "a least true-positive rate over several workers" });
            }
        }
        (Self { sum, square, margin, wide: T::BYTES == 8 }, refused)
    }

    fn checksum(&self) -> u64 {
        let (kind, numbers) = match self.sum {
            Sum::Auc => (0, [0.0; 2]),
            Sum::Ap => (1, [0.0; 2]),
            Sum::Pauc { fpr, .. } => (2, [fpr.0, fpr.1]),
        };
        let flags = [kind, u8::from(self.square), u8::from(self.wide)];
        let numbers = [numbers[0], numbers[1], self.margin].into_iter().flat_map(f64::to_le_bytes);
        hash(flags.into_iter().chain(numbers))
    }
}

/// FNV-1a.
fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A worker's first message; later that of all together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hello {
    release: u64,
    options: u64,
    rank: u32,
    workers: u32,
    labels: [u64; 2],
    range: (f64, f64),
    refused: Option<Error>,
}

impl Hello {
    pub(super) fn new(
        options: &Options,
        (rank, workers): (u32, u32),
        scores: &[f64],
        labels: &[u8],
        refused: Option<Error>,
    ) -> Self {
        let positives = labels.iter().filter(|&&y| y == 1).count() as u64;
        let range = scores.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &s| {
            (low.or_smaller(s + 0.0), high.or_larger(s + 0.0))
        });
        Self {
            release: hash(concat!("1 ", env!("CARGO_PKG_VERSION")).bytes()),
            options: options.checksum(),
            rank,
            workers,
            labels: [positives, labels.len() as u64 - positives],
            range,
            refused,
        }
    }

    pub(super) fn to_bytes(self) -> Vec<u8> {
        let (code, a, b) = match self.refused {
            None => (0, 0, 0),
            Some(error) => match error {
                Error::Length { need, got, .. } => (1, need, got),
                Error::NonFinite { at, .. } => (2, at, 0),
                Error::Label { at } => (3, at, 0),
                Error::Param { .. } => (9, 0, 0),
                Error::Unsupported { what } => (11, UNSUPPORTED.iter().position(|one| *one == what).unwrap_or(0), 0),
                error => (u64::from(error.code()), 0, 0),
            },
        };
        let place = u64::from(self.rank) << 32 | u64::from(self.workers);
        let (low, high) = self.range;
        let [positives, negatives] = self.labels;
        let words: [u64; WORDS] = [
            MAGIC,
            self.release,
            self.options,
            place,
            positives,
            negatives,
            low.to_bits(),
            high.to_bits(),
            code,
            a as u64,
            b as u64,
        ];
        words.into_iter().flat_map(u64::to_le_bytes).collect()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (chunks, rest) = bytes.as_chunks::<8>();
        let words: &[[u8; 8]; WORDS] = chunks.try_into().ok().filter(|_| rest.is_empty())?;
        let [magic, release, options, place, positives, negatives, low, high, code, a, b] =
            words.map(u64::from_le_bytes);
        let (at, got) = (a as usize, b as usize);
        let refused = match code {
            0 => None,
            1 => Some(Error::Length { what: "labels", need: at, got }),
            2 => Some(Error::NonFinite { what: "scores", at }),
            3 => Some(Error::Label { at }),
            9 => Some(Error::Param { what: "fpr" }),
            _ => Some(Error::Unsupported { what: UNSUPPORTED.get(at).copied().unwrap_or(UNSUPPORTED[0]) }),
        };
        (magic == MAGIC).then_some(Self {
            release,
            options,
            rank: (place >> 32) as u32,
            workers: place as u32,
            labels: [positives, negatives],
            range: (f64::from_bits(low), f64::from_bits(high)),
            refused,
        })
    }

    /// Becomes that of all workers; returns how many positives each has.
    pub(super) fn meet<B: AsRef<[u8]>>(&mut self, all: &[B]) -> Result<Vec<u64>, DistributedError> {
        let mut positives = Vec::with_capacity(all.len());
        let mut met: Option<Self> = None;
        for (worker, bytes) in (0..).zip(all) {
            let one = Self::from_bytes(bytes.as_ref()).ok_or(DistributedError::Damaged { worker })?;
            let first = met.get_or_insert(Self { labels: [0; 2], ..one });
            let same = [
                ("release", one.release == first.release),
                ("options", one.options == first.options),
                ("number of workers", one.workers == first.workers && one.workers as usize == all.len()),
                ("rank", one.rank == worker),
            ];
            if let Some(&(what, _)) = same.iter().find(|same| !same.1) {
                return Err(DistributedError::Differs { worker, what });
            }
            if let Some(error) = one.refused {
                return Err(DistributedError::Worker { worker, error });
            }
            for (sum, count) in first.labels.iter_mut().zip(one.labels) {
                *sum = sum.checked_add(count).ok_or(Error::Overflow { what: "rows" })?;
            }
            first.range = (first.range.0.or_smaller(one.range.0), first.range.1.or_larger(one.range.1));
            positives.push(one.labels[0]);
        }
        let met = met.ok_or(DistributedError::Differs { worker: 0, what: "number of workers" })?;
        if met.workers > MOST_WORKERS {
            return Err(Error::Unsupported { what: UNSUPPORTED[2] }.into());
        }
        *self = met;
        Ok(positives)
    }

    /// Whether all rows together have a sum.
    pub(super) fn check(&self, options: &Options) -> Result<(), Error> {
        let [positives, negatives] = self.labels;
        if positives == 0 || negatives == 0 {
            return Err(Error::OneClass);
        }
        if positives > u64::from(u32::MAX) || positives.checked_add(negatives).is_none_or(|rows| rows > 1 << 53) {
            return Err(Error::Overflow { what: "rows" });
        }
        let ratios = |fits: fn(f64, usize) -> Result<(), Error>| {
            let rows = usize::try_from(self.rows()).unwrap_or(usize::MAX);
            if options.sum == Sum::Ap { fits(2.0 / options.margin, rows) } else { Ok(()) }
        };
        if options.wide {
            fits::<f64>(self.range, options.margin)?;
            ratios(fits_ratios::<f64>)
        } else {
            fits::<f32>(self.range, options.margin)?;
            ratios(fits_ratios::<f32>)
        }
    }

    /// Rows of all workers.
    pub(super) fn rows(&self) -> u64 {
        self.labels[0] + self.labels[1]
    }

    /// Their positives and negatives.
    pub(super) fn labels(&self) -> [u64; 2] {
        self.labels
    }

    /// Whether a score is in the range that all workers told.
    pub(super) fn holds(&self, score: f64) -> bool {
        self.range.0 <= score && score <= self.range.1
    }
}

const MAGIC: u64 = u64::from_le_bytes(*b"undercrv");
/// Rows that were refused before the worker saw them.
pub(super) const NO_ROWS: Error = Error::Unsupported { what: UNSUPPORTED[4] };
const UNSUPPORTED: [&str; 5] = [
    "a surrogate other than hinge and squared hinge",
    "a least true-positive rate over several workers",
    "more than 32767 workers",
    "more than 2^32 rows",
    "rows that are no scores and labels",
];
