//! Options of `train` about many runs.

use crate::args::grid::Grid;
use crate::error::{CliError, Result};
use std::path::PathBuf;

/// The options.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Many runs")]
pub struct RunsArgs {
    /// Train N runs, with the seeds from --seed on: a row for each, mean, standard deviation and the best. The seed decides the
    /// start values, the batches and, with --split or a share as --valid, the rows; with --test FILE all have the same
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seeds: Option<u64>,
    /// Train a run for every point: parameters with commas between them, each as LO:HI:COUNT or A|B|…, as in
    /// lr=.01:.1:8,margin=.3|.5. Values from LO to HI are spaced by ratio where HI is 5 times LO or more, else evenly, and
    /// rounded to four digits. With --seeds every point has every seed; 1024 runs at most
    #[arg(long, value_name = "NAME=VALUES,…", value_parser = Grid::parse)]
    pub grid: Option<Grid>,
    /// Write the rows to FILE
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Draw the runs: of seeds their median and the band from 10 to 90 % over steps, of a grid of one or two parameters a map of
    /// what it is chosen by, mean over seeds
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
}

impl RunsArgs {
    /// Whether there are to be many.
    pub fn is_asked(&self) -> bool {
        self.seeds.is_some() || self.grid.is_some()
    }

    /// `Ok` when nothing is asked of many runs.
    ///
    /// # Errors
    /// `Input`.
    pub fn check_alone(&self) -> Result<()> {
        match (&self.csv, &self.plot) {
            (None, None) => Ok(()),
            (csv, _) => {
                let name = if csv.is_some() { "csv" } else { "plot" };
                Err(CliError::input(format!("--{name}: is of many runs, which --seeds or --grid asks for")))
            }
        }
    }
}
