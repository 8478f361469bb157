//! A file for each subcommand, by its name.

pub mod auto;
pub mod compare;
pub mod decide;
pub mod eval;
pub mod export;
pub mod frontier;
pub mod inspect;
pub mod look;
pub mod methods;
pub mod metrics;
pub mod predict;
pub mod prepare;
pub mod train;
