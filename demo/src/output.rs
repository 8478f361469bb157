//! Lines on stdout, and files that are there whole or not at all.

use crate::error::{CliError, Result};
use anyhow::{Context as _, anyhow};
use std::fs::{self, File, TryLockError};
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

/// The name under which a file is written before it takes its place. Always the same beside the target, so that what a
/// killed run left is written over by the next.
fn partial(path: &Path) -> PathBuf {
    beside(path, ".partial")
}

/// A hidden file beside another, called as it is with an ending.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(ending);
    folder(path).join(name)
}

/// `Ok` when a file can be written there and is none of `inputs`, which a command reads and must not replace.
///
/// # Errors
/// `Input`, naming the path.
pub fn check_output(path: &Path, inputs: &[&Path]) -> Result<()> {
    check_target(path)?;
    let same = |input: &&Path| matches!((path.canonicalize(), input.canonicalize()), (Ok(a), Ok(b)) if a == b);
    if inputs.iter().any(same) {
        return Err(CliError::input(format!("{}: is read by this command; not replaced", path.display())));
    }
    Ok(())
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
    // A rename puts an ordinary file there, also where a device or a link (/dev/stdout) was.
    if fs::symlink_metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return Err(CliError::input(format!("{}: is a link or a device, not an ordinary file", path.display())));
    }
    match fs::metadata(folder) {
        Ok(meta) if meta.is_dir() => {
            // Rights and full disks show when one tries.
            // (Under a name of its own: another run may be writing the file.)
            let probe = beside(path, &format!(".{}.probe", std::process::id()));
            File::create(&probe).map_err(|error| CliError::file(path, &error))?;
            let _ = fs::remove_file(&probe);
            Ok(())
        }
        Ok(_) => Err(CliError::input(format!("{}: is not a folder", folder.display()))),
        Err(error) => Err(CliError::file(folder, &error)),
    }
}

/// A file that one program at a time writes, until this is dropped. A killed one leaves no lock behind.
pub struct Lock {
    path: PathBuf,
    _file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Keeps other runs from writing a file.
///
/// # Errors
/// `Input` when another one does.
pub fn lock(path: &Path) -> Result<Lock> {
    let place = beside(path, ".lock");
    let file = File::create(&place).map_err(|error| CliError::file(path, &error))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(CliError::input(format!("{}: another run is writing it", path.display()))),
        // (Not every file system has locks.)
        _ => Ok(Lock { path: place, _file: file }),
    }
}

/// Replaces a file in one step: whenever the program dies, the old content or the new one is there.
///
/// # Errors
/// `Failed`.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<()> {
    let partial = partial(path);
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
