//! Options that several subcommands share.

pub mod data;
pub mod decide;
pub mod grid;
pub mod many;
pub mod method;
pub mod train;
