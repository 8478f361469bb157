//! Options of `train` about many runs.

use crate::args::grid::{Grid, MOST};
use crate::error::{CliError, Result};
use crate::output;
use std::path::{Path, PathBuf};

/// The options.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct ManyArgs {
    /// Train N runs, with the seeds from --seed on: a row for each, mean, standard deviation and the best. The seed decides the
    /// start values, the batches and, with --split or a share as --valid, the rows; with --test FILE all have the same
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seeds: Option<u64>,
    /// Train a run for every point of a grid: settings separated by commas, each as LO:HI:COUNT or A|B|…, for example
    /// lr=.01:.1:8,margin=.3|.5. Values from LO to HI are spaced by ratio where HI is 5 times LO or more, else evenly, and
    /// rounded to four digits. With --seeds every point has every seed; 1024 runs at most
    #[arg(long, value_name = "NAME=VALUES,…", value_parser = Grid::parse)]
    pub grid: Option<Grid>,
    /// Write the rows to FILE
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Draw the runs: of seeds their median and the band from 10 to 90 % over steps, of a grid of one or two parameters a map of
    /// what it is chosen by, mean over seeds
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

/// Many runs.
#[derive(Clone, Debug)]
pub struct ManyPlan {
    pub seeds: u64,
    /// Without an axis where only seeds differ.
    pub grid: Grid,
    pub csv: Option<PathBuf>,
    pub plot: Option<PathBuf>,
}

impl ManyArgs {
    /// The plan; `None` for one run.
    pub fn check(self) -> Result<Option<ManyPlan>> {
        let Self { seeds, grid, csv, plot } = self;
        if seeds.is_some() || grid.is_some() {
            let (seeds, grid) = (seeds.unwrap_or(1), grid.unwrap_or_default());
            return Ok(Some(ManyPlan { seeds, grid, csv, plot }));
        }
        match csv.map(|_| "csv").or(plot.map(|_| "plot")) {
            None => Ok(None),
            Some(name) => Err(CliError::input(format!("--{name}: is of many runs, which --seeds or --grid asks for"))),
        }
    }
}

impl ManyPlan {
    /// How many there are.
    pub fn runs(&self) -> usize {
        self.grid.points().saturating_mul(usize::try_from(self.seeds).unwrap_or(usize::MAX))
    }

    /// Whether runs are measured on the way, which a picture of them needs: measuring takes longer than many steps.
    pub fn looks(&self) -> bool {
        self.plot.is_some() && self.grid.0.is_empty()
    }

    /// Refuses too many or none, and values that `set` has, too; `option` asked for them.
    pub fn check_with(&self, option: &str, seed: u64, set: &[(String, String)]) -> Result<()> {
        if self.seeds == 0 {
            return Err(CliError::input("--seeds 0: expected at least 1"));
        }
        if self.runs() > MOST {
            return Err(CliError::input(format!("{option}: more than {MOST} runs")));
        }
        if seed.checked_add(self.seeds).is_none() {
            return Err(CliError::input("--seeds: the last seed would be above the greatest number there is"));
        }
        if let Some((set, _)) = set.iter().find(|(set, _)| self.grid.0.iter().any(|axis| axis.name == *set)) {
            return Err(CliError::input(format!("--set {set}: is varied by --grid")));
        }
        Ok(())
    }

    /// Refuses files that cannot be written, or are read or written besides.
    pub fn check_files(&self, others: [&Option<PathBuf>; 2], inputs: &[&Path]) -> Result<()> {
        if let Some(path) = &self.plot {
            if path.extension().is_none_or(|text| !text.eq_ignore_ascii_case("svg")) {
                return Err(CliError::input(format!("{}: expected a name with .svg", path.display())));
            }
            if self.grid.0.len() > 2 {
                return Err(CliError::input("--plot: draws a grid of one or two parameters"));
            }
        }
        let own = [&self.csv, &self.plot];
        let written: Vec<&PathBuf> = own.into_iter().chain(others).flatten().collect();
        if let Some((_, twice)) = written.iter().enumerate().find(|(at, path)| written[..*at].contains(path)) {
            return Err(CliError::input(format!("{}: is written twice", twice.display())));
        }
        own.into_iter().flatten().try_for_each(|path| output::check_output(path, inputs))
    }
}
