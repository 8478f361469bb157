//! Stdout and stderr that are closed, full, or that nobody reads any more.

use crate::folder::Folder;
use std::fs::File;
use std::process::{Command, Output, Stdio};

/// What a stream is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// Read.
    Open,
    /// `>&-`.
    Closed,
    /// `>/dev/full`.
    Full,
    /// `| true`.
    Gone,
}

use State::{Closed, Full, Gone, Open};

impl State {
    fn stream(self) -> Stdio {
        match self {
            Open | Closed => Stdio::piped(),
            Full => File::options().write(true).open("/dev/full").unwrap().into(),
            // (The reader is dropped here.)
            Gone => std::io::pipe().unwrap().1.into(),
        }
    }
}

/// Runs a program with stdout and stderr like that.
pub fn with_streams(program: &str, folder: &Folder, args: &[&str], (out, err): (State, State)) -> Output {
    let closing = [(out, " >&-"), (err, " 2>&-")].map(|(state, text)| if state == Closed { text } else { "" });
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec \"$@\"{}", closing.concat()), "sh", program]);
    shell.args(args).current_dir(&folder.0).stdin(Stdio::null()).stdout(out.stream()).stderr(err.stream());
    shell.output().unwrap()
}
