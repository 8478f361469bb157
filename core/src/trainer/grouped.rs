//! Rows grouped by what they are drawn and weighed by.

use crate::batch::WEIGHTS;
use crate::data::{Dataset, Rows, Segments, Targets};
use crate::error::{Error, Result};
use crate::features::{MINIMAL, MULTICLASS};
use crate::host::Data;
use crate::real::Real;
use alloc::vec;
use alloc::vec::Vec;

/// Copies of rows that a report makes at most, for each row, where the weights are not whole multiples of the least.
const COPIES: usize = 8;

/// Rows grouped by what they are drawn and weighed by.
#[derive(Clone, Debug)]
pub(super) struct Grouped {
    pub order: Vec<u32>,
    pub starts: Vec<u32>,
    /// The weight of each row in that order, 1 in the mean, and what each segment comes to; empty without weights.
    pub weights: Vec<f64>,
    pub masses: Vec<f64>,
    /// Whether the segments are cells, of which some may be empty.
    pub cells: bool,
}

impl Grouped {
    /// By class; of two classes by the cells of class and group, where they are wanted.
    pub(super) fn of<T: Real>(data: &Dataset<T>, cells: bool) -> Result<Self> {
        fn group<L: Copy + Into<u32>>(labels: &[L], segments: usize) -> Result<Grouped> {
            let (mut order, mut starts) = (vec![0; labels.len()], vec![0; segments + 1]);
            Segments::new(labels, &mut order, &mut starts)?;
            Ok(Grouped { order, starts, weights: Vec::new(), masses: Vec::new(), cells: false })
        }
        let cells = cells && !MINIMAL;
        match data.targets() {
            Targets::Classes { labels, names } if MULTICLASS => group(labels, names.len()),
            Targets::Classes { .. } => Err(Error::Unsupported { what: "several classes in this build" }),
            Targets::Binary(_) if cells => Ok(Grouped { cells, ..group(&data.cells(), 2 * data.groups())? }),
            Targets::Binary(labels) => group(labels, 2),
            Targets::Values(_) | Targets::None => group(&vec![0u8; data.len()], 1),
        }
    }

    /// The rows with weights by these, numbers of rows, without those of weight 0. Weights of 1 are none.
    pub(super) fn weighted(mut self, weights: &[f64]) -> Result<Self> {
        if weights.is_empty() {
            return Ok(self);
        }
        if !WEIGHTS {
            return Err(Error::Unsupported { what: "weights in this build" });
        }
        let weight = |row: u32| weights[row as usize];
        let mut starts = vec![0];
        for segment in self.starts.windows(2) {
            let there = self.order[segment[0] as usize..segment[1] as usize].iter().filter(|&&row| weight(row) > 0.0);
            starts.push(starts[starts.len() - 1] + there.count() as u32);
        }
        self.starts = starts;
        self.order.retain(|&row| weight(row) > 0.0);
        if self.order.iter().all(|&row| weight(row) == 1.0) {
            return Ok(self);
        }
        let mean = self.order.iter().map(|&row| weight(row)).sum::<f64>() / self.order.len() as f64;
        self.weights = self.order.iter().map(|&row| weight(row) / mean).collect();
        self.masses = vec![0.0; self.starts.len() - 1];
        Segments::again(&self.order, &self.starts)?.with_weights(&self.weights, mean, &mut self.masses)?;
        Ok(self)
    }

    /// Those of rows that stand for more of each class: so many.
    pub(super) fn standing_for<T: Real>(self, data: &Dataset<T>) -> Self {
        let masses = data.stands_for().map(|population| population.map(f64::from).to_vec());
        Self { masses: masses.unwrap_or(self.masses), ..self }
    }

    /// Scores of rows repeated by their weights, and how many that are of each segment: as often as the weights say, if these are
    /// whole multiples of the least, or so that a row is there [`COPIES`] times in the mean, rounded along the order; each row of a segment
    /// that has none so once.
    pub(super) fn repeated<T: Real>(&self, scores: &[T], heads: usize) -> (Vec<T>, Vec<u32>) {
        let n = self.weights.len();
        let least = self.weights.iter().copied().fold(f64::INFINITY, Real::or_smaller);
        let times = |w: f64| libm::rint(w / least);
        let whole = self.weights.iter().all(|&w| (w / least - times(w)).abs() < 1e-9 * times(w));
        let total: f64 = self.weights.iter().map(|&w| times(w)).sum();
        let whole = whole && total <= (COPIES * n) as f64;
        let (mut repeated, mut counts) = (Vec::new(), vec![0; self.starts.len() - 1]);
        let (mut sum, mut before) = (0.5, 0.0);
        for (segment, bounds) in self.starts.windows(2).enumerate() {
            for row in bounds[0] as usize..bounds[1] as usize {
                // (The mean weight is 1.)
                sum += if whole { times(self.weights[row]) } else { COPIES as f64 * self.weights[row] };
                let copies = libm::floor(sum) - before;
                before += copies;
                counts[segment] += copies as u32;
                for _ in 0..copies as usize {
                    repeated.extend_from_slice(&scores[row * heads..][..heads]);
                }
            }
            if counts[segment] == 0 {
                counts[segment] = bounds[1] - bounds[0];
                repeated.extend_from_slice(&scores[bounds[0] as usize * heads..bounds[1] as usize * heads]);
            }
        }
        (repeated, counts)
    }

    pub(super) fn data<'a, T: Real>(&'a self, rows: Rows<'a, T>) -> Result<Data<'a, T>> {
        let segments = Segments::again(&self.order, &self.starts)?;
        Ok(Data { rows, segments: segments.weighted_again(&self.weights, &self.masses)? })
    }
}
