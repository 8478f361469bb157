//! Why a sum over the rows of several workers ended.

use crate::error::Error;
use core::fmt;

/// What ended a sum over the rows of several workers: the same at each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DistributedError {
    /// Of all rows together.
    Core(Error),
    /// The rows of one worker are refused.
    Worker {
        /// Its rank.
        worker: u32,
        /// What it refuses.
        error: Error,
    },
    /// A worker computes something else than worker 0.
    Differs {
        /// Its rank.
        worker: u32,
        /// What differs.
        what: &'static str,
    },
    /// The bytes of a worker are not what it said before.
    Damaged {
        /// Its rank.
        worker: u32,
    },
}

impl DistributedError {
    /// Its number in [`CODES`](crate::CODES).
    #[must_use]
    pub const fn code(&self) -> u16 {
        match self {
            Self::Core(error) => error.code(),
            Self::Worker { .. } => 171,
            Self::Differs { .. } => 172,
            Self::Damaged { .. } => 173,
        }
    }
}

impl From<Error> for DistributedError {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

impl fmt::Display for DistributedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Core(error) => error.fmt(f),
            Self::Worker { worker, error } => write!(f, "worker {worker}: {error}"),
            Self::Differs { worker, what } => write!(f, "worker {worker} differs from worker 0: {what}"),
            Self::Damaged { worker } => write!(f, "worker {worker} sent other bytes than it said"),
        }
    }
}

impl core::error::Error for DistributedError {}
