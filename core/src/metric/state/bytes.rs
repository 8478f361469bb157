//! The bytes of a state.
//!
//! The envelope of saved files ([`checkpoint`](crate::checkpoint)) around: a byte, 1 with weights and else 0; the number of
//! cells; and for each cell, ascending, its key (all but the first as the difference to the one before), with weights the
//! bytes of the weight in reverse order, twice the negatives, plus 1 where positives follow, and the positives. Numbers have
//! seven bits a byte, the lowest first, and the top bit where more follow. One state has one form: what could be shorter, or
//! in another order, is refused.

use super::{Cell, MOST, ONE, State};
use crate::checkpoint::{CheckpointError, Kind, open, seal};
use crate::real::Real;
use alloc::vec::Vec;
use core::fmt;

/// Why bytes are no [`State`], or no [`ColumnStats`](crate::data::ColumnStats).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateError {
    /// Something else.
    NotOurs,
    /// Written by a release with another format.
    Version(u16),
    /// Cut short, or bytes changed.
    Damaged,
}

impl StateError {
    /// Its number in [`CODES`](crate::CODES).
    #[must_use]
    pub const fn code(&self) -> u16 {
        match self {
            Self::NotOurs => 161,
            Self::Version(_) => 162,
            Self::Damaged => 163,
        }
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOurs => f.write_str("not a state of this kind"),
            Self::Version(v) => write!(f, "a state in format {v}, which this release does not read"),
            Self::Damaged => f.write_str("the state is cut short or damaged"),
        }
    }
}

impl core::error::Error for StateError {}

impl From<CheckpointError> for StateError {
    fn from(error: CheckpointError) -> Self {
        match error {
            CheckpointError::NotOurs => Self::NotOurs,
            CheckpointError::Version(version) => Self::Version(version),
            _ => Self::Damaged,
        }
    }
}

impl State {
    /// Its bytes: the same for the same rows, however they were split, and on every machine. From 2 to 12 bytes for each
    /// different score, and up to 10 for a weight.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let cells = self.settled();
        let weighed = self.are_weighed();
        let mut out = Vec::with_capacity(16 + 9 * cells.len());
        out.push(u8::from(weighed));
        put(&mut out, cells.len() as u64);
        let mut last = 0;
        for cell in &*cells {
            put(&mut out, cell.key - last);
            last = cell.key;
            if weighed {
                put(&mut out, cell.weight.swap_bytes());
            }
            put(&mut out, (cell.negatives << 1) | u64::from(cell.positives > 0));
            if cell.positives > 0 {
                put(&mut out, cell.positives);
            }
        }
        seal(Kind::State, &out)
    }

    /// The state of such bytes. Takes at most 16 times the memory of the bytes.
    ///
    /// ```
    /// use undercurve::metric::{State, StateError};
    ///
    /// let mut bytes = State::new().to_bytes();
    /// assert_eq!(State::from_bytes(&bytes), Ok(State::new()));
    /// *bytes.last_mut().unwrap() ^= 1;
    /// assert_eq!(State::from_bytes(&bytes), Err(StateError::Damaged));
    /// ```
    ///
    /// # Errors
    /// [`StateError`]; never a panic, whatever the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateError> {
        read(open(Kind::State, bytes)?).ok_or(StateError::Damaged)
    }

    /// Whether bytes begin as those of a state do.
    #[must_use]
    pub fn is_state(bytes: &[u8]) -> bool {
        bytes.starts_with(b"undercurves\0")
    }
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number > 127 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}

/// A number in its only form.
fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u64::from(byte & 127);
        if (part << shift) >> shift != part || (byte == 0 && shift > 0) {
            return None;
        }
        number |= part << shift;
        if byte < 128 {
            return Some(number);
        }
    }
    None
}

fn read(mut bytes: &[u8]) -> Option<State> {
    let (&flag, rest) = bytes.split_first()?;
    bytes = rest;
    let weighed = match flag {
        0 => false,
        1 => true,
        _ => return None,
    };
    let cells = take(&mut bytes)?;
    // (A cell has two bytes or more.)
    let count = usize::try_from(cells).ok().filter(|&count| count <= bytes.len() / 2)?;
    let mut state = State { cells: Vec::with_capacity(count), weights: (count > 0).then_some(weighed), ..State::new() };
    let (mut key, mut before) = (0_u64, None);
    for _ in 0..count {
        key = key.checked_add(take(&mut bytes)?)?;
        let weight = if weighed { take(&mut bytes)?.swap_bytes() } else { ONE };
        let negatives = take(&mut bytes)?;
        let positives = if negatives & 1 == 1 { Some(take(&mut bytes)?).filter(|&count| count > 0)? } else { 0 };
        let cell = Cell { key, weight, positives, negatives: negatives >> 1 };
        let (score, number) = (f64::of_key(key), f64::from_bits(weight));
        let sound = score.is_finite() && score.key() == key && number.is_finite() && number.is_sign_positive();
        if !sound || before >= Some(cell.place()) || (positives == 0 && cell.negatives == 0) {
            return None;
        }
        state.rows = state.rows.checked_add(positives)?.checked_add(cell.negatives).filter(|&rows| rows <= MOST)?;
        before = Some(cell.place());
        state.cells.push(cell);
    }
    // (Nothing comes behind, and no rows have no weights.)
    (bytes.is_empty() && !(count == 0 && weighed)).then_some(state)
}
