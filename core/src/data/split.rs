//! The seeded split into a training and a test part.

use crate::error::{Error, Result};
use crate::rng::Rng;
use alloc::vec::Vec;

/// The generator's purpose for splits; part of what a seed means.
const PURPOSE: u64 = 0x7370_6c69_7400;

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
