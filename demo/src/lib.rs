//! The command line of undercurve as a library, for the program `undercurve`, and for those of the page and of the
//! experiments, which take what is public here. It promises nothing to others.

pub mod cli;
pub mod error;
pub mod figure;
pub mod input;
pub mod methods;
pub mod output;
pub mod paired;
pub mod store;
pub mod threads;

mod by_group;
mod compare;
mod constraints;
mod curves;
mod decide;
mod decision;
mod device;
mod eval;
mod export;
mod frontier;
mod grid;
mod inspect;
mod measure;
mod metrics;
#[cfg(feature = "parquet")]
mod parquet;
mod predict;
mod prepare;
mod report;
mod risks;
mod runs;
mod scores;
mod shared;
mod signal;
mod table;
mod threshold;
mod train;
mod walk;

pub use frontier::figures;
pub use train::args::range;
