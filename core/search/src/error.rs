//! What ends a search early.

use core::fmt;
use undercurve::data::DataError;
use undercurve::trainer::TrainerError;

/// Why a search ends early.
#[derive(Debug)]
pub enum Error {
    /// So many folds cannot be cut.
    Folds {
        /// How many.
        count: usize,
        /// Why.
        why: String,
    },
    /// The table.
    Data(DataError),
    /// A sum or a metric.
    Core(undercurve::Error),
    /// What a training is made of.
    Trainer(TrainerError),
    /// A candidate whose training broke down, or what the caller gave: in words.
    Input(String),
    /// The [`Watch`](crate::Watch) did not go on.
    Stopped,
    /// A thread panicked.
    Panicked,
}

/// `Result` of searches.
pub type Result<T, E = Error> = core::result::Result<T, E>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folds { count, why } => write!(f, "{count} folds: {why}"),
            Self::Data(error) => error.fmt(f),
            Self::Core(error) => error.fmt(f),
            Self::Trainer(error) => error.fmt(f),
            Self::Input(text) => f.write_str(text),
            Self::Stopped => f.write_str("stopped"),
            Self::Panicked => f.write_str("a worker failed"),
        }
    }
}

impl core::error::Error for Error {}

impl From<DataError> for Error {
    fn from(error: DataError) -> Self {
        Self::Data(error)
    }
}

impl From<undercurve::Error> for Error {
    fn from(error: undercurve::Error) -> Self {
        Self::Core(error)
    }
}

impl From<TrainerError> for Error {
    fn from(error: TrainerError) -> Self {
        Self::Trainer(error)
    }
}

impl From<crate::Panicked> for Error {
    fn from(_: crate::Panicked) -> Self {
        Self::Panicked
    }
}
