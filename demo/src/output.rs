//! Lines on stdout and stderr, and files that are there whole or not at all. Nothing else in this program prints: a macro like
//! `println!` ends it where nobody reads.

use crate::error::{CliError, Result, plain};
use anyhow::{Context as _, anyhow};
use std::fmt::Display;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// What became of stdout, for a command that goes on without it.
enum Stdout {
    /// The first error ends the command.
    Needed,
    /// It goes on at an error.
    Spare,
    /// There was one, told at the end.
    Lost(io::Error),
}

static STDOUT: Mutex<Stdout> = Mutex::new(Stdout::Needed);

/// Lets the command go on where stdout is closed or full: it leaves files, and they are worth more than what it prints. What
/// went wrong is what [`end`] returns.
pub fn go_on() {
    let mut stdout = STDOUT.lock().unwrap_or_else(PoisonError::into_inner);
    if matches!(*stdout, Stdout::Needed) {
        *stdout = Stdout::Spare;
    }
}

/// What is left to say of stdout at the end of a command.
///
/// # Errors
/// Those that [`go_on`] kept back.
pub fn end() -> Result<()> {
    match &*STDOUT.lock().unwrap_or_else(PoisonError::into_inner) {
        Stdout::Lost(error) => Err(gone(error)),
        _ => Ok(()),
    }
}

/// Nobody reads any more, or there is no room.
fn gone(error: &io::Error) -> CliError {
    match error.kind() {
        ErrorKind::BrokenPipe => CliError::Closed,
        _ => anyhow!("stdout: {}", plain(error)).into(),
    }
}

/// Writes to stdout.
///
/// # Errors
/// `Closed` when nobody reads any more; `Failed` when it is full. None after [`go_on`].
#[allow(clippy::disallowed_methods)] // the one place
fn write(work: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut state = STDOUT.lock().unwrap_or_else(PoisonError::into_inner);
    if matches!(*state, Stdout::Lost(_)) {
        return Ok(());
    }
    let mut stdout = io::stdout().lock();
    match (work(&mut stdout).and_then(|()| stdout.flush()), &*state) {
        (Ok(()), _) => Ok(()),
        (Err(error), Stdout::Spare) => {
            *state = Stdout::Lost(error);
            Ok(())
        }
        (Err(error), _) => Err(gone(&error)),
    }
}

/// Prints a line on stdout.
///
/// # Errors
/// `Closed` when nobody reads any more; `Failed` when it is full.
pub fn line(text: impl Display) -> Result<()> {
    part(format_args!("{text}\n"))
}

/// Prints what is no line yet.
pub fn part(text: impl Display) -> Result<()> {
    let text = text.to_string();
    write(|stdout| stdout.write_all(text.as_bytes()))
}

/// Many lines, in blocks: on stdout, or in a file that is there when all of them are.
#[derive(Default)]
pub struct Lines {
    pending: Vec<u8>,
    file: Option<Replacement>,
}

impl Lines {
    /// None yet.
    pub fn new(file: Option<&Path>) -> Result<Self> {
        Ok(Self { pending: Vec::new(), file: file.map(Replacement::of).transpose()? })
    }

    /// Adds a line.
    pub fn add(&mut self, text: impl Display) -> Result<()> {
        // (Memory takes everything.)
        let _ = writeln!(self.pending, "{text}");
        if self.pending.len() < 1 << 16 { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<()> {
        let bytes = std::mem::take(&mut self.pending);
        match &mut self.file {
            Some(file) => file.write(&bytes),
            None => write(|stdout| stdout.write_all(&bytes)),
        }
    }

    /// Writes what is left.
    pub fn end(mut self) -> Result<()> {
        self.flush()?;
        self.file.map_or(Ok(()), Replacement::end)
    }
}

/// Whether people look at stdout.
#[allow(clippy::disallowed_methods)] // the one place
pub fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Prints a line on stderr. Where nobody reads it, or there is no room for it, the command goes on all the same.
pub fn say(text: impl Display) {
    tell(format!("{text}\n").as_bytes());
}

/// Writes what another program said to stderr, as [`say`].
#[allow(clippy::disallowed_methods)] // the one place
pub fn tell(bytes: &[u8]) {
    let _ = io::stderr().lock().write_all(bytes);
}

/// Whether notes and progress are left out.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Leaves out notes and progress from now on.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether [`be_quiet`] was called.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints what is worth knowing on stderr, as [`say`], unless told to be quiet.
pub fn note(text: impl Display) {
    if is_quiet() {
        return;
    }
    say(format_args!("note: {text}"));
}

/// Prints what speaks against a result on stderr, as [`say`].
pub fn warn(text: impl Display) {
    say(format_args!("warning: {text}"));
}

/// Prints help or the version as clap writes it, with colours where they show.
///
/// # Errors
/// As [`line`]; none where it goes to stderr.
pub fn help(text: &clap::Error) -> Result<()> {
    let printed = write(|_| text.print());
    if text.use_stderr() { Ok(()) } else { printed }
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
pub fn check_output(path: &Path, inputs: &[&Path]) -> Result<()> {
    check_target(path)?;
    let same = |input: &&Path| matches!((path.canonicalize(), input.canonicalize()), (Ok(a), Ok(b)) if a == b);
    if inputs.iter().any(same) {
        return Err(CliError::input(format!("{}: is read by this command; not replaced", path.display())));
    }
    Ok(())
}

/// `Ok` when a file can be written there. The command then leaves it whatever becomes of stdout ([`go_on`]).
pub fn check_target(path: &Path) -> Result<()> {
    go_on();
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

/// A file that takes the place of another in one step: whenever the program dies, the old content or the new one is there.
struct Replacement {
    path: PathBuf,
    partial: PathBuf,
    file: Option<File>,
}

impl Replacement {
    fn of(path: &Path) -> Result<Self> {
        let partial = partial(path);
        let file = File::create(&partial).map_err(|error| CliError::file(path, &error))?;
        Ok(Self { path: path.to_owned(), partial, file: Some(file) })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.file.as_mut().map_or(Ok(()), |file| file.write_all(bytes));
        written.with_context(|| self.path.display().to_string()).map_err(Into::into)
    }

    fn end(mut self) -> Result<()> {
        let renamed =
            self.file.as_ref().map_or(Ok(()), File::sync_all).and_then(|()| fs::rename(&self.partial, &self.path));
        renamed.with_context(|| self.path.display().to_string())?;
        self.file = None;
        // The new name has to reach the disk as well; not every system lets a folder be opened.
        if let Ok(folder) = File::open(folder(&self.path)) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = fs::remove_file(&self.partial);
        }
    }
}

/// Replaces a file in one step.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = Replacement::of(path)?;
    file.write(bytes)?;
    file.end()
}

/// Says what happened on stderr and gives the exit code.
pub fn finish(error: CliError) -> ExitCode {
    match error {
        CliError::Input(text) => {
            say(format_args!("error: {}", text.replace(['\n', '\r'], " ")));
            ExitCode::from(2)
        }
        CliError::Failed(error) => {
            say(format_args!("error: {error:#}"));
            ExitCode::FAILURE
        }
        CliError::Unmet(text) => {
            say(format_args!("error: {text}"));
            ExitCode::from(3)
        }
        CliError::Untold(text) => {
            say(format_args!("error: {text}"));
            ExitCode::from(4)
        }
        CliError::Closed => ExitCode::SUCCESS,
        CliError::Interrupted(code) => ExitCode::from(code),
    }
}
