//! The seeded split into a training and a test part, and folds.

use crate::error::{Error, Result};
use crate::rng::Rng;
use alloc::vec::Vec;

/// The generator's purpose for splits; part of what a seed means.
const PURPOSE: u64 = 0x7370_6c69_7400;
/// The same of groups that are dealt out.
const GROUPS: u64 = 0x6465_616c_0000;

/// A random split. Both parts keep the order of the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// Share of the rows that go to training, above 0 and below 1.
    pub share: f64,
    /// The seed.
    pub seed: u64,
    /// Splits each class by itself, so that rare positives appear in both parts.
    pub stratify: bool,
}

/// Row numbers of the two parts, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The training rows.
    pub train: Vec<u32>,
    /// The test rows.
    pub test: Vec<u32>,
}

impl Split {
    /// Stratified, with this training share.
    #[must_use]
    pub fn new(share: f64, seed: u64) -> Self {
        Self { share, seed, stratify: true }
    }

    /// The parts for these labels. Of a group of k rows (a class, or everything) `round(share·k)` go to training, at
    /// least one, and not all where there are two.
    ///
    /// # Errors
    /// `Param` for a share outside (0, 1), `Empty` for no labels, `Length` for more than 2³² rows, `Label`.
    ///
    /// ```
    /// let parts = undercurve::data::Split::new(0.5, 7).parts(&[0, 0, 1, 0, 1, 0])?;
    /// assert_eq!((parts.train.len(), parts.test.len()), (3, 3));
    /// # Ok::<(), undercurve::Error>(())
    /// ```
    pub fn parts(&self, labels: &[u8]) -> Result<Parts> {
        if !(self.share > 0.0 && self.share < 1.0) {
            return Err(Error::Param { what: "split" });
        }
        if labels.is_empty() {
            return Err(Error::Empty { what: "labels" });
        }
        if labels.len() > u32::MAX as usize {
            return Err(Error::Length { what: "labels", need: u32::MAX as usize, got: labels.len() });
        }
        crate::error::count_labels(labels)?;
        let all = 0..labels.len() as u32;
        let groups: Vec<Vec<u32>> = if self.stratify {
            (0..2).map(|class| all.clone().filter(|&row| labels[row as usize] == class).collect()).collect()
        } else {
            alloc::vec![all.collect()]
        };
        Ok(self.parts_of(groups, labels.len()))
    }

    /// The parts for class numbers, as [`parts`](Self::parts); with the labels 0 and 1 the same.
    ///
    /// # Errors
    /// `Param`, `Empty`, `Length`; `Label` for a class number above the number of rows.
    pub fn class_parts(&self, labels: &[u32]) -> Result<Parts> {
        if !(self.share > 0.0 && self.share < 1.0) {
            return Err(Error::Param { what: "split" });
        }
        if labels.is_empty() {
            return Err(Error::Empty { what: "labels" });
        }
        if labels.len() > u32::MAX as usize {
            return Err(Error::Length { what: "labels", need: u32::MAX as usize, got: labels.len() });
        }
        if let Some(at) = labels.iter().position(|&label| label as usize > labels.len()) {
            return Err(Error::Label { at });
        }
        let classes = labels.iter().copied().max().map_or(0, |most| most as usize + 1);
        let mut groups = alloc::vec![Vec::new(); if self.stratify { classes } else { 1 }];
        for (row, &label) in labels.iter().enumerate() {
            groups[if self.stratify { label as usize } else { 0 }].push(row as u32);
        }
        Ok(self.parts_of(groups, labels.len()))
    }

    /// The parts that keep the rows of one group together: `groups` has the number of each row's group, `labels` its class or
    /// nothing. Classes are about as frequent in both parts as groups allow ([`group_folds`]).
    ///
    /// # Errors
    /// `Param` for a share outside (0, 1) and for fewer than two groups, `Empty`, `Length`, `Label`.
    pub fn group_parts(&self, labels: &[u32], groups: &[u32]) -> Result<Parts> {
        if !(self.share > 0.0 && self.share < 1.0) {
            return Err(Error::Param { what: "split" });
        }
        let labels = if self.stratify { labels } else { &[] };
        let part = deal(labels, groups, &[self.share, 1.0 - self.share], self.seed)?;
        let (train, test) = (0..part.len() as u32).partition(|&row| part[row as usize] == 0);
        Ok(Parts { train, test })
    }

    /// The parts of rows in time: those of the last ranks are for testing, as near to the share as ranks allow, and rows of one
    /// rank stay together. (The seed and the labels have no say.)
    ///
    /// # Errors
    /// `Param` for a share outside (0, 1) and where all ranks are equal, `Empty`.
    pub fn last_parts(&self, ranks: &[u32]) -> Result<Parts> {
        if !(self.share > 0.0 && self.share < 1.0) {
            return Err(Error::Param { what: "split" });
        }
        let mut sorted = ranks.to_vec();
        sorted.sort_unstable();
        let Some(&first) = sorted.first() else { return Err(Error::Empty { what: "ranks" }) };
        let wanted = (self.share * ranks.len() as f64 + 0.5) as usize;
        // The first rank of the test part: of the two next to the share the nearer one, of equally near ones the earlier.
        let at = sorted[wanted.min(ranks.len() - 1)];
        let (before, after) = (sorted.partition_point(|&rank| rank < at), sorted.partition_point(|&rank| rank <= at));
        let later = after < ranks.len() && after.abs_diff(wanted) < before.abs_diff(wanted);
        let start = if before == 0 || later { sorted.get(after).copied() } else { Some(at) };
        let Some(start) = start.filter(|&start| start > first) else { return Err(Error::Param { what: "split" }) };
        let (train, test) = (0..ranks.len() as u32).partition(|&row| ranks[row as usize] < start);
        Ok(Parts { train, test })
    }

    /// Both parts of every group of rows.
    fn parts_of(&self, groups: Vec<Vec<u32>>, rows: usize) -> Parts {
        let mut rng = Rng::keyed(self.seed, PURPOSE, 0);
        let mut in_train = alloc::vec![false; rows];
        for mut group in groups {
            let len = group.len();
            if len == 0 {
                continue;
            }
            let wanted = (self.share * len as f64 + 0.5) as usize;
            let most = if len > 1 { len - 1 } else { 1 };
            rng.shuffle(&mut group);
            for &row in &group[..wanted.clamp(1, most)] {
                in_train[row as usize] = true;
            }
        }
        let (train, test) = (0..rows as u32).partition(|&row| in_train[row as usize]);
        Parts { train, test }
    }
}

/// The fold of each row, below `folds`, for cross-validation that keeps the rows of one group together: `groups` has the number
/// of each row's group, `labels` its class or nothing.
///
/// Greedy: groups in a seeded order, those of more binary digits of rows first, each to the fold f where it adds least to
/// Σ_f Σ_c n_fc²/N_c², with n_fc rows of class c in fold f and N_c in all; of equal ones that with the fewest rows. So every
/// class is about as frequent in each fold as groups allow, the rare one no less than the others. Cost: groups · folds · classes.
///
/// # Errors
/// `Param` for fewer than two folds and for fewer groups than folds, `Empty`, `Length`, `Label` for a class number above the
/// number of rows.
///
/// ```
/// use undercurve::data::group_folds;
/// let fold = group_folds(&[0, 1, 0, 1, 0, 1], &[0, 0, 1, 1, 2, 2], 3, 7)?;
/// assert!(fold.chunks(2).all(|rows| rows[0] == rows[1]));
/// # Ok::<(), undercurve::Error>(())
/// ```
pub fn group_folds(labels: &[u32], groups: &[u32], folds: usize, seed: u64) -> Result<Vec<u32>> {
    if folds < 2 || folds > groups.len().max(2) {
        return Err(Error::Param { what: "folds" });
    }
    deal(labels, groups, &alloc::vec![1.0 / folds as f64; folds], seed)
}

/// The part of each row, where parts are to have these shares of every class and groups stay together.
fn deal(labels: &[u32], groups: &[u32], shares: &[f64], seed: u64) -> Result<Vec<u32>> {
    let rows = groups.len();
    if rows == 0 {
        return Err(Error::Empty { what: "groups" });
    }
    if rows > u32::MAX as usize {
        return Err(Error::Length { what: "groups", need: u32::MAX as usize, got: rows });
    }
    if !labels.is_empty() {
        crate::error::exact_len("labels", rows, labels.len())?;
    }
    if let Some(at) = labels.iter().position(|&label| label as usize > rows) {
        return Err(Error::Label { at });
    }
    let class = |row: usize| labels.get(row).copied().unwrap_or(0) as usize;
    let classes = (0..rows).map(class).max().unwrap_or(0) + 1;
    let mut sizes = alloc::vec![0.0; classes];
    (0..rows).for_each(|row| sizes[class(row)] += 1.0);
    // The rows of each group together.
    let mut order: Vec<u32> = (0..rows as u32).collect();
    crate::sort::rows_by(&mut order, &|a, b| (groups[a as usize], a).cmp(&(groups[b as usize], b)));
    let mut spans: Vec<&[u32]> = order.chunk_by(|&a, &b| groups[a as usize] == groups[b as usize]).collect();
    if spans.len() < shares.len() {
        return Err(Error::Param { what: "folds" });
    }
    Rng::keyed(seed, GROUPS, 0).shuffle(&mut spans);
    spans.sort_by_key(|rows| core::cmp::Reverse(rows.len().ilog2()));
    let mut part = alloc::vec![0; rows];
    let mut filled = alloc::vec![alloc::vec![0.0; classes]; shares.len()];
    let mut counts = alloc::vec![0.0; shares.len()];
    for (at, span) in spans.iter().enumerate() {
        let mut own: Vec<(usize, f64)> = Vec::new();
        for &row in *span {
            let class = class(row as usize);
            match own.iter_mut().find(|(other, _)| *other == class) {
                Some((_, count)) => *count += 1.0,
                None => own.push((class, 1.0)),
            }
        }
        let grows = |part: usize| -> (f64, f64) {
            let of = |&(class, count): &(usize, f64)| {
                (2.0 * filled[part][class] + count) * count / (sizes[class] * sizes[class])
            };
            (own.iter().map(of).sum::<f64>() / shares[part], counts[part] / shares[part])
        };
        // No part stays empty.
        let empty = counts.iter().filter(|&&count| count == 0.0).count();
        let open = |part: &usize| spans.len() - at > empty || counts[*part] == 0.0;
        let best = (0..shares.len()).filter(open).min_by(|&a, &b| {
            let (a, b) = (grows(a), grows(b));
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        let best = best.unwrap_or(0);
        own.iter().for_each(|&(class, count)| filled[best][class] += count);
        counts[best] += span.len() as f64;
        span.iter().for_each(|&row| part[row as usize] = best as u32);
    }
    Ok(part)
}
