//! The envelope of everything that is saved: magic, kind, version, length and checksum around a payload.
//!
//! Layout, little-endian: 10 bytes `undercurve`, 1 byte kind, 1 byte 0, `u16` version, `u64` payload length, `u32`
//! CRC-32 of the payload, payload. A payload is a list of sections.

mod codec;
#[cfg(feature = "tables")]
mod model_file;
mod reals;

pub(crate) use codec::{Coded, Reader, write_bytes};
#[cfg(feature = "tables")]
pub use model_file::{Calibrated, Decided, SavedModel, Trained};
pub(crate) use reals::{reals, write_reals};

use alloc::vec::Vec;
use core::fmt;

pub(crate) const MAGIC: &[u8; 10] = b"undercurve";
const HEADER: usize = 26;

/// What an envelope holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A trainer's whole state.
    Trainer,
    /// A trainer's state with the preparation of its data.
    Model,
    /// Counted scores, to be merged: a [`metric::State`](crate::metric::State).
    State,
    /// Counts of columns, to be merged: [`data::ColumnStats`](crate::data::ColumnStats).
    Columns,
    /// A [`data::Preparation`](crate::data::Preparation) alone.
    Preparation,
}

impl Kind {
    fn byte(self) -> u8 {
        match self {
            Self::Trainer => b't',
            Self::Model => b'm',
            Self::State => b's',
            Self::Columns => b'c',
            Self::Preparation => b'p',
        }
    }

    /// The version that this release writes of it, and the only one it reads.
    fn version(self) -> u16 {
        match self {
            Self::Trainer | Self::Model => VERSION,
            Self::State | Self::Columns | Self::Preparation => 1,
        }
    }
}

/// No run counts further than this: a count above it was not saved by one, and more of it could reach its end.
pub(crate) const MOST: u64 = 1 << 62;

/// The version of runs and models written by this release, and the only one it reads.
pub const VERSION: u16 = 4;

/// Why saved bytes cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckpointError {
    /// Not an undercurve file, or one of another kind.
    NotOurs,
    /// Written by a release with another format.
    Version(u16),
    /// Cut short, or bytes changed.
    Damaged,
    /// A model without the run that made it: it scores, and training cannot go on from it.
    ModelOnly,
    /// A run on arrays without what says how they were prepared: training can go on from it, and its model scores no other rows.
    RunOnly,
    /// Sound, but of other data, another model or another number type than it is used with.
    Mismatch(&'static str),
}

impl CheckpointError {
    /// One of each, of this format and of another `what`: for lists.
    #[doc(hidden)]
    #[must_use]
    pub const fn each(format: u16, what: &'static str) -> [Self; 6] {
        use CheckpointError::*;
        [NotOurs, Version(format), Damaged, ModelOnly, Mismatch(what), RunOnly]
    }

    /// Its number in [`CODES`](crate::CODES).
    #[must_use]
    pub const fn code(&self) -> u16 {
        match self {
            Self::NotOurs => 111,
            Self::Version(_) => 112,
            Self::Damaged => 113,
            Self::ModelOnly => 114,
            Self::Mismatch(_) => 115,
            Self::RunOnly => 116,
        }
    }
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOurs => f.write_str("not a saved undercurve model"),
            Self::Version(v) => write!(f, "saved in format {v}, but this release reads format {VERSION}"),
            Self::Damaged => f.write_str("the saved model is cut short or damaged"),
            Self::ModelOnly => f.write_str("a model without its run, which training cannot go on from"),
            Self::RunOnly => f.write_str(
                "a saved run without the preparation of its rows: save its model (uc_trainer_model, Model.of)",
            ),
            Self::Mismatch(what) => write!(f, "saved with another {what}"),
        }
    }
}

impl core::error::Error for CheckpointError {}

/// CRC-32 (IEEE 802.3), four bits at a time.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 16] = {
        let mut table = [0u32; 16];
        let mut k = 0;
        while k < 64 {
            // Bit k % 4 of entry k / 4.
            let entry = if k % 4 == 0 { k as u32 / 4 } else { table[k / 4] };
            table[k / 4] = (entry >> 1) ^ ((entry & 1) * 0xedb8_8320);
            k += 1;
        }
        table
    };
    !bytes.iter().fold(!0, |crc, &byte| {
        let crc = crc ^ u32::from(byte);
        let crc = (crc >> 4) ^ TABLE[crc as usize % 16];
        (crc >> 4) ^ TABLE[crc as usize % 16]
    })
}

/// Wraps a payload.
#[must_use]
pub fn seal(kind: Kind, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER + payload.len());
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&[kind.byte(), 0]);
    out.extend_from_slice(&kind.version().to_le_bytes());
    out.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    out.extend_from_slice(&crc32(payload).to_le_bytes());
    out.extend_from_slice(payload);
    out
}

/// The payload of an envelope.
///
/// # Errors
/// [`CheckpointError`]; never a panic, whatever the bytes.
pub fn open(kind: Kind, bytes: &[u8]) -> Result<&[u8], CheckpointError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(CheckpointError::NotOurs)?;
    let (header, payload) = rest.split_at_checked(HEADER - MAGIC.len()).ok_or(CheckpointError::Damaged)?;
    if header[0] != kind.byte() || header[1] != 0 {
        return Err(CheckpointError::NotOurs);
    }
    let version = u16::from_le_bytes([header[2], header[3]]);
    if version != kind.version() {
        return Err(CheckpointError::Version(version));
    }
    let mut length = [0; 8];
    length.copy_from_slice(&header[4..12]);
    let crc = u32::from_le_bytes([header[12], header[13], header[14], header[15]]);
    if u64::from_le_bytes(length) != payload.len() as u64 || crc32(payload) != crc {
        return Err(CheckpointError::Damaged);
    }
    Ok(payload)
}

/// A payload of sections: of each a tag, a length and so many bytes.
pub(crate) fn sections(parts: &[(u8, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (tag, bytes) in parts {
        out.push(*tag);
        write_bytes(bytes, &mut out);
    }
    out
}

/// The section of a tag; `None` where there is none, or the payload is no list of sections.
pub(crate) fn section(payload: &[u8], tag: u8) -> Option<&[u8]> {
    let mut from = Reader(payload);
    loop {
        let found = from.byte()?;
        let bytes = from.bytes()?;
        if found == tag {
            return Some(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn checksums_are_those_of_the_standard() {
        assert_eq!(super::crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(super::crc32(b""), 0);
    }
}
