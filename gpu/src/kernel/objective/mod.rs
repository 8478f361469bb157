//! Objectives on the device: one file each beside its text, listed once. One without a kernel is not in the list.

use super::{GROUP, times};
use undercurve::device::Shape;

macro_rules! objectives {
    ($($file:ident,)*) => {
        $(mod $file;)*

        /// All of them, in the order of the tests.
        pub(crate) static OBJECTIVES: &[Objective] = &[$($file::OBJECTIVE),*];
    };
}

objectives! {
    soap,
    auc_pairwise,
    smooth_ap,
    cross_entropy,
    focal,
    auc_margin,
    auc_min_max,
    pauc_minibatch,
    pauc_threshold,
    sopa,
    sopa_s,
    sota_s,
    ldam,
    fast_ap,
    min_max_ap,
    pauc_dual,
    sorr,
}

/// Edges of histograms, at most.
pub(crate) const BINS: u32 = GROUP;

/// How an engine computes an estimator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Sums over the pairs of every positive, of which `weigh` makes weights.
    Pairs,
    /// Losses of single rows: `point`.
    Points,
    /// Moments of both classes: `by_score`, `saddle`.
    Moments,
    /// Pairs of a positive with the negatives, each with a weight of its own: `prepare`, `begin`, `between`, `weight`. Of a batch
    /// whose scores are all at hand.
    Gates,
    /// None of these: the text is `estimate` itself, of a batch whose scores are all at hand.
    Own,
}

/// What an engine has to know of an objective.
pub(crate) struct Objective {
    pub name: &'static str,
    pub family: Family,
    /// Text that it shares with others, before its own.
    pub shared: &'static str,
    pub text: &'static str,
    /// The surrogate of tests, "" where it has none.
    pub surrogate: &'static str,
    /// Auxiliary variables, in tests.
    pub aux: u32,
    /// Numbers of its state for each positive, and those beside them.
    pub each: u32,
    pub beside: u32,
    /// Sections that the numbers of the positives lie in, one behind the other.
    #[cfg_attr(target_arch = "wasm32", allow(dead_code))]
    pub sections: usize,
    /// Entries that it stages, if these are more than rows of a batch.
    pub staged: fn(&Shape) -> u32,
    /// Rounds of its loops in a step, and in a dispatch's last step besides.
    pub rounds: fn(&Batch) -> (u64, u32),
}

/// The objective of this name.
pub(crate) fn by_name(name: &str) -> Option<&'static Objective> {
    OBJECTIVES.iter().find(|of| of.name == name)
}

/// Fours in a count.
pub(crate) fn quads(count: u32) -> u64 {
    u64::from(count.div_ceil(4))
}

/// The most rows of each kind in a batch, of which rounds are counted.
pub(crate) struct Batch {
    pub rows: u32,
    pub negatives: u32,
    pub positives: u32,
    pub ascent: u32,
}

impl Batch {
    fn sweep(&self, of: u32, each: u64) -> u64 {
        times(of.div_ceil(GROUP), 1 + each)
    }

    fn over_rows(&self) -> u64 {
        u64::from(self.rows.div_ceil(GROUP))
    }

    fn over_negatives(&self, each: u64) -> u64 {
        self.sweep(self.negatives, each)
    }

    fn over_positives(&self, each: u64) -> u64 {
        self.sweep(self.positives, each)
    }

    fn low(&self) -> u64 {
        quads(self.negatives)
    }

    fn high(&self) -> u64 {
        quads(self.positives)
    }

    /// Of pairs of each positive with so many fours.
    fn pairs(&self, each: u64) -> (u64, u32) {
        (self.over_positives(each) + self.over_rows() * (1 + self.high()), self.positives)
    }

    /// Of gates, which take so many themselves.
    fn gates(&self, own: u64) -> (u64, u32) {
        (own + self.over_positives(self.low()) + self.over_negatives(self.high()), self.positives)
    }
}
