//! Codes, and the message of the last error of a thread.

use crate::system::{caught, with_message};
use alloc::string::{String, ToString};
use core::fmt;
use undercurve::registry::nearest;

/// A parameter is outside its range (of the core), or an unknown loss.
pub const PARAM: u16 = 9;
#[cfg(feature = "trainer")]
/// A wrong method, setting or model (of the core).
pub const CONFIG: u16 = 121;
/// A pointer is NULL where there must be something.
pub const NULL: u16 = 201;
/// A pointer is not aligned to its type.
pub const ALIGNMENT: u16 = 202;
/// What is written to overlaps another argument.
pub const OVERLAP: u16 = 203;
/// More bytes than can be addressed.
pub const LENGTH: u16 = 204;
/// A text that is not UTF-8, or does not end in 4096 bytes.
pub const TEXT: u16 = 205;
/// A number that is no choice.
pub const CHOICE: u16 = 206;
#[cfg(feature = "trainer")]
/// No run or model has this number, or it is of another kind.
pub const HANDLE: u16 = 207;
/// A copy of the rows does not fit the memory.
#[cfg(feature = "trainer")]
pub const MEMORY: u16 = 208;
/// A bug of this library.
pub const BUG: u16 = 299;

/// A code with a sentence.
pub struct Failure {
    code: u16,
    text: String,
}

impl Failure {
    pub fn new(code: u16, text: impl fmt::Display) -> Self {
        Self { code, text: text.to_string() }
    }
}

impl From<undercurve::Error> for Failure {
    fn from(error: undercurve::Error) -> Self {
        Self::new(error.code(), error)
    }
}

#[cfg(feature = "trainer")]
impl From<undercurve::measure::Refusal> for Failure {
    fn from(why: undercurve::measure::Refusal) -> Self {
        match why {
            undercurve::measure::Refusal::Rows(error) => error.into(),
            why => Self::new(CHOICE, format_args!("name: {why}")),
        }
    }
}

#[cfg(feature = "trainer")]
impl From<undercurve::trainer::TrainerError> for Failure {
    fn from(error: undercurve::trainer::TrainerError) -> Self {
        Self::new(error.code(), error)
    }
}

/// A name that there is not: with the one that may have been meant, else with all.
pub fn unknown<'a>(code: u16, what: &str, name: &str, names: impl Iterator<Item = &'a str> + Clone) -> Failure {
    let mut text = alloc::format!("no {what} \"{name}\"; ");
    match nearest(name, names.clone()) {
        Some(near) => text.extend(["did you mean ", near, "?"]),
        None => {
            text.push_str("there are ");
            names.enumerate().for_each(|(k, name)| text.extend([if k > 0 { ", " } else { "" }, name]));
        }
    }
    Failure::new(code, text)
}

pub type Result<T> = core::result::Result<T, Failure>;

/// Runs the body of a function: its code, with the message kept. Where panics unwind, none leaves.
pub fn guard(body: impl FnOnce() -> Result<()>) -> i32 {
    let failure = match caught(body) {
        Some(Ok(())) => return 0,
        Some(Err(failure)) => failure,
        None => Failure::new(BUG, "a bug of this library"),
    };
    // (A thread that is at its end keeps no message.)
    let _ = with_message(|last| *last = failure.text);
    i32::from(failure.code)
}
