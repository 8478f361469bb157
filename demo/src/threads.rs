//! The threads of this program: those of one rayon pool, which the core works on where the data are large.

use crate::error::{CliError, Result};

/// `--threads`, for clap.
pub fn parse(text: &str) -> std::result::Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=1024) => Ok(count),
        _ => Err("expected a number from 1 to 1024".to_string()),
    }
}

/// Makes the pool of so many threads the program's. Called once, before anything is computed; without it the pool has
/// as many threads as the system lends cores.
pub fn limit(threads: usize) -> Result<()> {
    let built = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    built.map_err(|error| CliError::Failed(anyhow::anyhow!("--threads {threads}: {error}")))
}
