//! From a table to the model that pays: what `undercurve auto`, `undercurve compare` and `undercurve.auto` in Python do.
//!
//! A [`Job`] trains [`Candidate`]s on [`Folds`] of a table; [`search`] chooses which; [`HeldOut`] has the scores of rows that were held out, and
//! the model of all rows. Nothing is printed and nothing written: a [`Watch`] is told.

mod away;
mod candidate;
mod error;
mod folds;
mod held_out;
mod importance;
mod job;
mod ladder;
mod shared;
mod want;
mod workers;

pub use away::{AWAY, column_auroc};
pub use candidate::{Candidate, Encoding, TOP};
pub use error::{Error, Result};
pub use folds::Folds;
pub use held_out::{HeldOut, Refit, Scored};
pub use importance::{Importance, importances, measure, places};
pub use job::{Ahead, Job, Part, Row, Trained, Watch, mean_sd};
pub use ladder::{MOST_ROWS, Search, Tried, among, folds, no_signal, search, verdict};
pub use shared::Shared;
pub use want::{RANGE, Want, want};
pub use workers::{Panicked, cores, in_parallel};
