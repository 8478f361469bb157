//! What this program prints. It is there for the page: where nobody reads, or there is no room for a line, it goes on.

use std::fmt::Display;
use std::io::{self, Write as _};

/// Prints a line on stdout.
pub fn line(text: impl Display) {
    part(format_args!("{text}\n"));
}

/// Prints what is no line yet.
pub fn part(text: impl Display) {
    let mut stdout = io::stdout().lock();
    let _ = write!(stdout, "{text}").and_then(|()| stdout.flush());
}

/// Writes what another program said to stderr.
pub fn tell(bytes: &[u8]) {
    let _ = io::stderr().lock().write_all(bytes);
}

/// Prints what is wrong, as one line.
pub fn error(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "error: {text}");
}
