//! Hinge and squared hinge over the rows of several workers: a machine without input and output.
//!
//! Each [`Worker`] holds some of the rows. It asks for collective operations, which an engine (threads, MPI,
//! `torch.distributed`) carries out, and ends with the value over all rows and the derivatives by its own:
//!
//! 1. all-gather of 88 bytes: a checksum of options and release, the numbers of rows and the range of the scores. Workers that
//!    differ, or one whose rows are refused, end all workers with one error.
//! 2. all-gather of the positives' scores. So every worker knows all thresholds t_i = s_i − m.
//! 3. partial AUC alone: six all-reduced histograms, which find the negatives at both ends of the range.
//! 4. all-reduce (largest) of the exponent of the largest distance in each cell between neighbouring thresholds.
//! 5. all-reduce (sum) of count, Σd and Σd² of the negatives in each cell, in whole numbers: d in steps of 2^−B of that
//!    power of two, B = ⌊(127 − ⌈log₂ n⌉)/2⌋ but at most 60, with n the number of all rows. Sums of n squares fit 128 bits.
//!
//! Every worker then makes the same sweeps as the sums in memory (see the module `sorted`). Whole numbers add to the same sum in any
//! order, so value and gradient have the same bits for any number of workers, any split and any order of the rows. A step
//! is relative to its own cell, so far scores cost the others no digits.
//!
//! Partial AUC: negatives that tie at an end of the range share its weight equally. That is a subgradient, as is that of the sums
//! in memory, which take the later row first; without ties both are the same.
//!
//! Cost: O(n log n₊ + n₊) time and some 13 bytes a row and 126 a positive of all workers; sent are 8 bytes a positive, then
//! 8 and 24 (hinge) or 48 (squared hinge) bytes for each positive of all workers, and 192 KB for partial AUC.

mod error;
mod hello;
mod select;
mod sums;

pub use error::DistributedError;

use super::Sum;
use crate::error::{Error, count_labels, exact_len};
use crate::real::Real;
use crate::surrogate::AnySurrogate;
use alloc::vec::Vec;
use hello::{Hello, Options};
use select::Select;
use sums::Cells;

/// Workers at most: limbs of 48 bits of so many add to less than 2⁶³.
pub const MOST_WORKERS: u32 = (1 << 15) - 1;

/// How numbers of all workers become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Their sum.
    Sum,
    /// The largest.
    Max,
}

/// What a worker wants next.
#[derive(Debug, PartialEq)]
pub enum Ask<'a> {
    /// The bytes of every worker, by rank: [`Worker::gathered`]. Their lengths may differ.
    AllGather(&'a [u8]),
    /// Each number replaced by that of all workers, and then [`Worker::reduced`].
    AllReduce(Op, &'a mut [i64]),
    /// Nothing: [`Worker::result`].
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Hello,
    Positives,
    Select,
    Reach,
    Cells,
    Done,
    Failed(DistributedError),
}

/// One worker's part of a sum over pairs of all rows: see the [module](self).
///
/// ```
/// use undercurve::pairs::Sum;
/// use undercurve::pairs::distributed::{Ask, Worker};
/// use undercurve::surrogate::AnySurrogate;
///
/// let hinge = AnySurrogate::by_name("hinge", 1.0)?;
/// let mut worker = Worker::new(Sum::Auc, hinge, (0, 1), &[0.3, 1.2, -0.4], &[1, 0, 0]);
/// loop {
///     match worker.ask() {
///         Ask::AllGather(own) => {
///             let all = [own.to_vec()]; // with more workers: the bytes of all
///             worker.gathered(&all)?;
///         }
///         Ask::AllReduce(_op, _numbers) => worker.reduced()?, // with more workers: after they have been reduced
///         Ask::Done => break,
///     }
/// }
/// let mut grad = [0.0; 3];
/// let value = worker.result(&mut grad)?;
/// assert!((value - 1.1f64).abs() < 1e-12);
/// assert_eq!(grad, [-1.0, 0.5, 0.5]);
/// # Ok::<(), undercurve::pairs::distributed::DistributedError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Worker {
    options: Options,
    hello: Hello,
    stage: Stage,
    scores: Vec<f64>,
    labels: Vec<u8>,
    bytes: Vec<u8>,
    numbers: Vec<i64>,
    /// Of each worker, from its first message.
    positives_of: Vec<u64>,
    select: Select,
    cells: Cells,
    value: f64,
}

impl Worker {
    /// With its rank among so many workers, and its rows: scores, and labels of 1 or 0. There may be none, or of one class. What is
    /// wrong with them is told by [`Worker::gathered`], to all workers.
    #[must_use]
    pub fn new<T: Real>(
        sum: Sum,
        loss: AnySurrogate<f64>,
        (rank, workers): (u32, u32),
        scores: &[T],
        labels: &[u8],
    ) -> Self {
        let (options, refused) = Options::of::<T>(sum, loss);
        let refused = refused.or_else(|| check(scores, labels).err());
        Self::made(options, (rank, workers), scores, labels, refused)
    }

    /// One without rows, which ends all workers with an error: where the caller finds its rows wrong, so that the others need not
    /// wait for their time-out.
    #[must_use]
    pub fn refusing<T: Real>(sum: Sum, loss: AnySurrogate<f64>, (rank, workers): (u32, u32)) -> Self {
        Self::made::<T>(Options::of::<T>(sum, loss).0, (rank, workers), &[], &[], Some(hello::NO_ROWS))
    }

    fn made<T: Real>(
        options: Options,
        (rank, workers): (u32, u32),
        scores: &[T],
        labels: &[u8],
        refused: Option<Error>,
    ) -> Self {
        let (mut held, mut y) = (Vec::new(), Vec::new());
        if refused.is_none() {
            held.extend(scores.iter().map(|s| s.f64()));
            y.extend_from_slice(labels);
        }
        let hello = Hello::new(&options, (rank, workers), &held, &y, refused);
        let bytes = hello.to_bytes();
        Self {
            options,
            hello,
            stage: Stage::Hello,
            scores: held,
            labels: y,
            bytes,
            numbers: Vec::new(),
            positives_of: Vec::new(),
            select: Select::default(),
            cells: Cells::default(),
            value: 0.0,
        }
    }

    /// What to do next.
    pub fn ask(&mut self) -> Ask<'_> {
        match self.stage {
            Stage::Hello | Stage::Positives => Ask::AllGather(&self.bytes),
            Stage::Select | Stage::Cells => Ask::AllReduce(Op::Sum, &mut self.numbers),
            Stage::Reach => Ask::AllReduce(Op::Max, &mut self.numbers),
            Stage::Done | Stage::Failed(_) => Ask::Done,
        }
    }

    /// Takes the bytes of all workers, by rank.
    ///
    /// # Errors
    /// [`DistributedError`], the same at every worker; after one the worker asks for nothing more.
    pub fn gathered<B: AsRef<[u8]>>(&mut self, all: &[B]) -> Result<(), DistributedError> {
        let done = match self.stage {
            Stage::Hello => self.met(all),
            Stage::Positives => self.joined(all),
            _ => Err(OUT_OF_TURN),
        };
        self.noted(done)
    }

    /// Goes on after the numbers have been reduced.
    ///
    /// # Errors
    /// As [`Worker::gathered`].
    pub fn reduced(&mut self) -> Result<(), DistributedError> {
        match self.stage {
            Stage::Select => {
                if self.select.counted(&self.numbers) {
                    self.reach();
                } else {
                    self.select.count(&self.scores, &self.labels, &mut self.numbers);
                }
                Ok(())
            }
            Stage::Reach => {
                self.cells.steps(&self.numbers, self.hello.rows());
                self.cells.count(&self.options, &self.scores, &self.labels, &self.select, &mut self.numbers);
                self.stage = Stage::Cells;
                Ok(())
            }
            Stage::Cells => {
                self.value = self.cells.sweep(&self.options, &self.select, self.hello.labels(), &self.numbers);
                self.numbers = Vec::new();
                self.stage = Stage::Done;
                Ok(())
            }
            _ => self.noted(Err(OUT_OF_TURN)),
        }
    }

    /// The value over all rows; writes its derivative by each own score to `grad`.
    ///
    /// # Errors
    /// What ended the sum; `Length`; `Unsupported` before the sum is done.
    pub fn result<G: Real>(&self, grad: &mut [G]) -> Result<f64, DistributedError> {
        match self.stage {
            Stage::Done => {
                exact_len("grad", self.scores.len(), grad.len())?;
                self.cells.slopes(&self.options, &self.scores, &self.labels, &self.select, grad);
                Ok(self.value)
            }
            Stage::Failed(error) => Err(error),
            _ => Err(OUT_OF_TURN),
        }
    }

    fn noted(&mut self, done: Result<(), DistributedError>) -> Result<(), DistributedError> {
        if let Err(error) = done {
            self.stage = Stage::Failed(error);
        }
        done
    }

    /// The first message of all.
    fn met<B: AsRef<[u8]>>(&mut self, all: &[B]) -> Result<(), DistributedError> {
        self.positives_of = self.hello.meet(all)?;
        self.hello.check(&self.options)?;
        let positives = self.scores.iter().zip(&self.labels).filter(|row| *row.1 == 1).map(|row| *row.0);
        self.bytes = sums::ascending(positives.map(Real::key).collect()).flat_map(f64::to_le_bytes).collect();
        self.stage = Stage::Positives;
        Ok(())
    }

    /// The positives of all.
    fn joined<B: AsRef<[u8]>>(&mut self, all: &[B]) -> Result<(), DistributedError> {
        let mut keys = Vec::with_capacity(self.hello.labels()[0] as usize);
        for (worker, (bytes, &count)) in (0..).zip(all.iter().zip(&self.positives_of)) {
            let (scores, rest) = bytes.as_ref().as_chunks::<8>();
            let scores = scores.iter().map(|&bytes| f64::from_le_bytes(bytes));
            if scores.len() as u64 != count || !rest.is_empty() || scores.clone().any(|s| !self.hello.holds(s)) {
                return Err(DistributedError::Damaged { worker });
            }
            keys.extend(scores.map(Real::key));
        }
        if all.len() != self.positives_of.len() {
            return Err(DistributedError::Differs { worker: 0, what: "number of workers" });
        }
        self.bytes = Vec::new();
        self.cells = Cells::new(sums::ascending(keys).collect(), self.scores.len());
        if let Sum::Pauc { fpr, .. } = self.options.sum {
            self.select = Select::new(fpr, self.hello.labels()[1]);
        }
        if self.select.is_done() {
            self.reach();
        } else {
            self.select.count(&self.scores, &self.labels, &mut self.numbers);
            self.stage = Stage::Select;
        }
        Ok(())
    }

    fn reach(&mut self) {
        self.cells.reach(&self.options, &self.scores, &self.labels, &self.select, &mut self.numbers);
        self.stage = Stage::Reach;
    }
}

const OUT_OF_TURN: DistributedError =
    DistributedError::Core(Error::Unsupported { what: "an answer to what was not asked for" });

/// As the sums in memory check.
fn check<T: Real>(scores: &[T], labels: &[u8]) -> Result<(), Error> {
    exact_len("labels", scores.len(), labels.len())?;
    if scores.len() > u32::MAX as usize {
        return Err(Error::Unsupported { what: "more than 2^32 rows" });
    }
    count_labels(labels)?;
    crate::error::all_finite("scores", scores)
}
