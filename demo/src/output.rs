//! Lines on stdout, and files that are there whole or not at all.

use crate::error::{CliError, Result};
use anyhow::{Context as _, anyhow};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// Prints a line on stdout.
///
/// # Errors
/// `Closed` when nobody reads any more.
pub fn line(text: impl std::fmt::Display) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(CliError::Closed),
        Err(error) => Err(anyhow!(error).context("stdout").into()),
    }
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// `Ok` when a file can be written there.
///
/// # Errors
/// `Input`, naming the path.
pub fn check_target(path: &Path) -> Result<()> {
    let folder = folder(path);
    if path.is_dir() || path.file_name().is_none() {
        return Err(CliError::input(format!("{}: is a folder", path.display())));
    }
    match fs::metadata(folder) {
        Ok(meta) if meta.is_dir() => Ok(()),
        Ok(_) => Err(CliError::input(format!("{}: is not a folder", folder.display()))),
        Err(error) => Err(CliError::file(folder, &error)),
    }
}

/// Replaces a file in one step: whenever the program dies, the old content or the new one is there.
///
/// # Errors
/// `Failed`.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<()> {
    // Always the same name beside the target, so that what a killed run left is written over by the next.
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".partial");
    let partial: PathBuf = folder(path).join(name);
    let write = || -> io::Result<()> {
        let mut file = File::create(&partial)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&partial, path)?;
        // The new name has to reach the disk as well; not every system lets a folder be opened.
        if let Ok(folder) = File::open(folder(path)) {
            let _ = folder.sync_all();
        }
        Ok(())
    };
    if let Err(error) = write() {
        let _ = fs::remove_file(&partial);
        return Err(Err::<(), _>(error).with_context(|| path.display().to_string()).unwrap_err().into());
    }
    Ok(())
}
