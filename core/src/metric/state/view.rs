//! Cells in the place of labels, so that the metrics of rows are those of states: scores and scratch are not looked at.

use super::Cell;
use crate::error::{Error, Result};
use crate::metric::Confusion;
use crate::metric::labels::Labels;
use crate::metric::rank::{Classes, Group, Run};
use crate::real::Real;
use crate::scratch::Scratch;

/// Without weights.
pub(super) struct Counted<'a> {
    cells: &'a [Cell],
    classes: Classes<u128>,
}

impl<'a> Counted<'a> {
    pub(super) fn new(cells: &'a [Cell]) -> Result<Self> {
        if cells.is_empty() {
            return Err(Error::Empty { what: "scores" });
        }
        let mut classes = Classes::<u128>::default();
        for cell in cells {
            classes.positives += u128::from(cell.positives);
            classes.negatives += u128::from(cell.negatives);
        }
        if classes.positives == 0 || classes.negatives == 0 {
            Err(Error::OneClass)
        } else {
            Ok(Self { cells, classes })
        }
    }
    /// Different scores.
    pub(super) fn points(&self) -> usize {
        self.cells.len()
    }
}

fn run(cell: &Cell) -> Run<u128> {
    Run { positives: cell.positives.into(), negatives: cell.negatives.into() }
}

impl Labels for Counted<'_> {
    type Amount = u128;
    fn groups<T: Real>(
        &self,
        _: &[T],
        _: Scratch<'_, T>,
        mut visit: impl FnMut(Classes<u128>, Group<T, u128>),
    ) -> Result<Classes<u128>> {
        for cell in self.cells.iter().rev() {
            visit(self.classes, Group { score: T::of(f64::of_key(cell.key)), run: run(cell) });
        }
        Ok(self.classes)
    }
    fn runs<T: Real>(
        &self,
        _: &[T],
        _: Scratch<'_, T>,
        mut visit: impl FnMut(Classes<u128>, Run<u128>),
    ) -> Result<Classes<u128>> {
        self.cells.iter().rev().for_each(|cell| visit(self.classes, run(cell)));
        Ok(self.classes)
    }
    fn confusion<T: Real>(&self, _: &[T], threshold: T) -> Result<Confusion<u128>> {
        let mut sums = Confusion::default();
        for cell in self.cells {
            let hit = f64::of_key(cell.key) >= threshold.f64();
            sums.add(true, hit, cell.positives.into());
            sums.add(false, hit, cell.negatives.into());
        }
        Ok(sums)
    }
    fn rows(&self) -> [u64; 2] {
        [self.classes.positives as u64, self.classes.negatives as u64]
    }
}

/// With weights; rows of weight 0 are not there.
pub(super) struct Weighed<'a> {
    cells: &'a [Cell],
    classes: Classes<f64>,
}

impl<'a> Weighed<'a> {
    pub(super) fn new(cells: &'a [Cell]) -> Result<Self> {
        if cells.is_empty() {
            return Err(Error::Empty { what: "scores" });
        }
        let mut sums = Self { cells, classes: Classes::default() };
        let mut classes = Classes::<f64>::default();
        sums.each(|_, run| {
            classes.positives += run.positives;
            classes.negatives += run.negatives;
        });
        sums.classes = classes;
        if classes.positives == 0.0 || classes.negatives == 0.0 {
            return Err(Error::OneClass);
        }
        if !(classes.positives + classes.negatives).is_finite() {
            return Err(Error::Overflow { what: "the sum of the weights" });
        }
        Ok(sums)
    }
    /// Different scores, at most.
    pub(super) fn points(&self) -> usize {
        self.cells.len()
    }
    /// Groups of equal scores, descending. Rows of one score are added as those of [`Truth`](crate::metric::Truth) are: by
    /// ascending weight, equal weights at once.
    fn each(&self, mut visit: impl FnMut(f64, Run<f64>)) {
        for cells in self.cells.chunk_by(|a, b| a.key == b.key).rev() {
            let mut run = Run::<f64>::default();
            for cell in cells {
                let weight = f64::from_bits(cell.weight);
                run.positives += cell.positives as f64 * weight;
                run.negatives += cell.negatives as f64 * weight;
            }
            if run.positives > 0.0 || run.negatives > 0.0 {
                visit(f64::of_key(cells[0].key), run);
            }
        }
    }
}

impl Labels for Weighed<'_> {
    type Amount = f64;
    fn groups<T: Real>(
        &self,
        _: &[T],
        _: Scratch<'_, T>,
        mut visit: impl FnMut(Classes<f64>, Group<T, f64>),
    ) -> Result<Classes<f64>> {
        self.each(|score, run| visit(self.classes, Group { score: T::of(score), run }));
        Ok(self.classes)
    }
    fn runs<T: Real>(
        &self,
        _: &[T],
        _: Scratch<'_, T>,
        mut visit: impl FnMut(Classes<f64>, Run<f64>),
    ) -> Result<Classes<f64>> {
        self.each(|_, run| visit(self.classes, run));
        Ok(self.classes)
    }
    fn confusion<T: Real>(&self, _: &[T], threshold: T) -> Result<Confusion<f64>> {
        let mut sums = Confusion::default();
        self.each(|score, run| {
            let hit = score >= threshold.f64();
            sums.add(true, hit, run.positives);
            sums.add(false, hit, run.negatives);
        });
        Ok(sums)
    }
    fn rows(&self) -> [u64; 2] {
        self.cells
            .iter()
            .filter(|cell| f64::from_bits(cell.weight) > 0.0)
            .fold([0, 0], |[positives, negatives], cell| [positives + cell.positives, negatives + cell.negatives])
    }
    fn are_weighed(&self) -> bool {
        true
    }
}
