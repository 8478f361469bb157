//! How a sum is chosen: by the surrogate, and by what all pairs, streams and panels cost.

use super::panel;
use super::tables::{Grade, Shape};
use crate::surrogate::AnySurrogate;

// Where all pairs are faster, as measured by `cargo experiment pairs --crossovers` on x86-64 with SSE2. Dealing costs
// about 150 ns and 7 ns a row, all pairs 5 ns a row and 0.55 ns a pair.
/// With at most this many positives, or pairs, all pairs are faster than sorting the positives.
pub(super) const FEW_SORTED: usize = 4;
pub(super) const FEW_SORTED_PAIRS: usize = 512;
// Panels cost a row 4 to 10 ns, and some 0.4 µs each (AP 0.8), the more the wider the scores spread in units of 1/c; the
// tables that a call makes for itself take 3 (`Fast`) to 18 µs (`Full`, logistic). Pairs of the sigmoid take 1.5 ns, those
// of the logistic loss two to three times as much.
/// So many pairs take as long as a panel, and as making the tables; a row counts as so many pairs.
const PANEL_IN_PAIRS: u64 = 384;
const TABLES_IN_PAIRS: u64 = 1 << 13;
const ROW_IN_PAIRS: u64 = 6;
/// With fewer rows than this a panel, but for the first few, panels are broad, and with scores of at most so many widths of a panel.
const BROAD_ROWS: usize = 200;
const BROAD_PANELS: usize = 6;
const BROAD_WIDTHS: f64 = (1u64 << 32) as f64;
/// The most panels that are counted: the scores tell how far they reach, but not how many panels they leave empty.
pub(super) const MOST_PANELS: usize = 256;

/// Whether so many panels hold few rows, so that it pays to have fewer and broader ones. In which of those a row lies is found by a
/// rounded product, which is wrong where scores are `furthest` from 0 by very many widths.
pub(super) fn is_broad(rows: usize, panels: usize, furthest: f64) -> bool {
    rows < BROAD_ROWS * panels.saturating_sub(BROAD_PANELS) && furthest < BROAD_WIDTHS
}

/// How to sum. The public functions choose by size; the others are there to measure where that should change.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// By the numbers of rows and positives.
    Chosen,
    /// All pairs.
    AllPairs,
    /// Streams or panels.
    NearLinear,
}

impl Way {
    /// Whether to deal the rows to streams, for the hinge family.
    pub(super) const fn sorts(self, rows: usize, positives: usize) -> bool {
        match self {
            Self::Chosen => positives > FEW_SORTED && positives as u64 * rows as u64 > FEW_SORTED_PAIRS as u64,
            Self::AllPairs => false,
            Self::NearLinear => true,
        }
    }

    /// Whether to take panels, of which there are at most so many that hold rows: they pay from a number of pairs on.
    pub(super) const fn has_panels(self, of: Smooth, rows: usize, positives: usize, panels: usize) -> bool {
        match self {
            Self::Chosen => {
                (positives as u64 + ROW_IN_PAIRS).saturating_mul(rows as u64) > of.worth(panels) / of.speed()
            }
            Self::AllPairs => false,
            Self::NearLinear => true,
        }
    }

    /// The most panels of [`FULL_TERMS`] that a sum takes; 0 where it takes none.
    pub(super) const fn most_panels(self, of: Smooth, rows: usize, positives: usize) -> usize {
        let all = panel::panels(rows);
        match self {
            Self::AllPairs => 0,
            Self::NearLinear => all,
            Self::Chosen if !self.has_panels(of, rows, positives, 1) => 0,
            Self::Chosen => {
                // Scores that reach over more than pay are summed by all pairs, but not all panels are counted.
                let pairs = (positives as u64 + ROW_IN_PAIRS).saturating_mul(rows as u64);
                let pay = pairs.saturating_mul(of.speed()).saturating_sub(of.worth(0)) / PANEL_IN_PAIRS + 1;
                let counted = pay <= (rows / 4) as u64 && pay <= MOST_PANELS as u64;
                // (The ends are rounded to whole panels.)
                if counted && (pay as usize) + 3 < all { pay as usize + 3 } else { all }
            }
        }
    }
}

/// A smooth surrogate, and whether there is a plan for it.
#[derive(Clone, Copy)]
pub(super) struct Smooth {
    pub shape: Shape,
    pub planned: bool,
}

impl Smooth {
    /// So many pairs of the sigmoid take as long as a number of panels, with the tables.
    const fn worth(self, panels: usize) -> u64 {
        PANEL_IN_PAIRS * panels as u64 + if self.planned { 0 } else { TABLES_IN_PAIRS }
    }

    /// How many of those pairs take as long as one.
    const fn speed(self) -> u64 {
        match self.shape {
            Shape::Sigmoid => 1,
            Shape::Logistic => 2,
        }
    }
}

/// What to sum, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How<'a> {
    pub(super) way: Way,
    pub(super) loss: AnySurrogate<f64>,
    pub(super) grade: Grade,
    /// The tables of a [`Plan`](super::Plan) for this loss and grade.
    pub(super) tables: Option<&'a [f64]>,
    /// Whether positives have weights, too.
    pub(super) weighted: bool,
}

impl<'a> How<'a> {
    /// Without a plan.
    pub(super) const fn new(way: Way, loss: AnySurrogate<f64>, grade: Grade) -> Self {
        Self { way, loss, grade, tables: None, weighted: false }
    }
}
