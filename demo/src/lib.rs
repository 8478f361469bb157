//! The command line of undercurve as a library, for the program `undercurve`, and for those of the page and of the
//! experiments, which take what is public here. It promises nothing to others.
//!
//! `args`: options as they are typed, and the checked plans that they come to, where subcommands share them. `cmd`: a file for
//! each subcommand, by its name, with its `Args` and its `run`. `run`: training runs, one or many. `tell`: what is printed and
//! drawn.

pub mod cli;
pub mod error;
pub mod input;
pub mod output;
pub mod threads;

mod args;
mod cmd;
mod export;
mod run;
mod tell;

pub use args::train::range;
pub use cmd::frontier::figures;
pub use run::store;
pub use tell::{certificate, figure, paired};

/// The methods by name.
pub mod methods {
    pub use crate::args::method::find;
}
