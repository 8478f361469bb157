//! The envelope of everything that is saved: magic, kind, version, length and checksum around a payload.
//!
//! Layout, little-endian: 10 bytes `undercurve`, 1 byte kind, 1 byte 0, `u16` version, `u64` payload length, `u32`
//! CRC-32 of the payload, payload. A payload is a list of sections.

mod codec;
mod decided;
mod reals;

pub(crate) use codec::{Coded, Reader, write_bytes};
pub use decided::{Calibrated, Decided};
pub(crate) use reals::{reals, write_reals};

use crate::data::Encoding;
use crate::metric::Costs;
use alloc::string::String;
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
    /// Sound, but of other data, another model or another number type than it is used with.
    Mismatch(&'static str),
}

impl CheckpointError {
    /// Its number in [`CODES`](crate::CODES).
    #[must_use]
    pub const fn code(&self) -> u16 {
        match self {
            Self::NotOurs => 111,
            Self::Version(_) => 112,
            Self::Damaged => 113,
            Self::ModelOnly => 114,
            Self::Mismatch(_) => 115,
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

/// A model file: a run, or the model alone, with what turns data into its features and its scores into decisions.
///
/// The command line writes these, and everything that scores or continues a run reads them.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedModel {
    /// Fitted on the training part.
    pub preparation: crate::data::Preparation,
    /// Share of the rows that went to training, if one file was split; the seed is the run's.
    pub split: Option<f64>,
    /// Share of these that was held out for validation, if one file was split again.
    pub valid: Option<f64>,
    /// Scores from here up predict the positive class, of two.
    pub threshold: Option<f64>,
    /// How that was chosen.
    pub decided: Option<Decided>,
    /// What turns scores into probabilities, of two classes.
    pub calibrated: Option<Calibrated>,
    /// What wrong decisions cost, where that was said.
    pub costs: Option<Costs>,
    /// Whether scores are log-odds of fitted probabilities.
    pub probabilities: bool,
    /// Bytes of a number: 4 or 8.
    pub real_bytes: u8,
    /// [`Trainer::save`](crate::trainer::Trainer::save), or [`Predictor::save`](crate::trainer::Predictor::save) of the model
    /// alone.
    pub trainer: Vec<u8>,
    /// [`Best::save`](crate::trainer::Best::save) of a run with validation rows.
    pub best: Option<Vec<u8>>,
    /// How far the run was, and its figures.
    pub trained: Trained,
}

/// How far a run was when its model was saved, and what was measured then.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trained {
    /// Steps of the model.
    pub step: u64,
    /// Steps that the run had done.
    pub done: u64,
    /// Steps that it takes at most.
    pub of: u64,
    /// Whether it was over.
    pub over: bool,
    /// Figures by name, with the part of the data before it: `test ap`.
    pub figures: Vec<(String, f64)>,
}

impl Coded for Trained {
    fn write(&self, out: &mut Vec<u8>) {
        [self.step, self.done, self.of].write(out);
        self.over.write(out);
        self.figures.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let [step, done, of] = from.value()?;
        Some(Self { step, done, of, over: from.value()?, figures: from.value()? })
    }
}

/// The sections of a model file.
mod tag {
    pub const PREPARATION: u8 = b'f';
    pub const SPLIT: u8 = b's';
    /// Bytes of a number.
    pub const REAL: u8 = b'b';
    pub const TRAINER: u8 = b't';
    pub const THRESHOLD: u8 = b'h';
    /// Share of validation, costs, probabilities, best model, how far it was trained.
    pub const STORY: u8 = b'y';
    /// Only there where rows have groups.
    pub const GROUPS: u8 = b'g';
    /// Only there where rows have weights: the name of their column.
    pub const WEIGHT: u8 = b'w';
    /// Only there where a threshold was chosen, or scores are calibrated.
    pub const DECIDED: u8 = b'd';
    pub const CALIBRATED: u8 = b'c';
    /// Only there where splits go by a column.
    pub const SPLIT_BY: u8 = b'o';
    /// Only there where columns are not written as usual.
    pub const NOTATIONS: u8 = b'n';
    /// How the training file was encoded, where that was not UTF-8.
    pub const ENCODING: u8 = b'e';
}

impl SavedModel {
    /// Of a preparation and a saved run, or a model alone, of numbers of so many bytes; without anything else.
    /// [`Predictor::file`](crate::trainer::Predictor::file) knows more.
    #[must_use]
    pub fn new(preparation: crate::data::Preparation, real_bytes: u8, trainer: Vec<u8>) -> Self {
        Self {
            preparation,
            split: None,
            valid: None,
            threshold: None,
            decided: None,
            calibrated: None,
            costs: None,
            probabilities: false,
            real_bytes,
            trainer,
            best: None,
            trained: Trained::default(),
        }
    }

    /// The file's bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let (mut preparation, mut split, mut threshold, mut story) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        self.preparation.write(&mut preparation);
        self.split.write(&mut split);
        self.threshold.write(&mut threshold);
        self.valid.write(&mut story);
        self.costs.map(|c| (c.false_positive(), (c.false_negative(), c.prevalence()))).write(&mut story);
        self.probabilities.write(&mut story);
        self.best.is_some().write(&mut story);
        if let Some(best) = &self.best {
            write_bytes(best, &mut story);
        }
        self.trained.write(&mut story);
        let real = [self.real_bytes];
        fn bytes<C: Coded>(value: Option<&C>) -> Vec<u8> {
            let mut out = Vec::new();
            value.iter().for_each(|value| value.write(&mut out));
            out
        }
        let groups = bytes(self.preparation.groups.as_ref());
        let (decided, calibrated) = (bytes(self.decided.as_ref()), bytes(self.calibrated.as_ref()));
        let mut there = alloc::vec![
            (tag::PREPARATION, &preparation[..]),
            (tag::SPLIT, &split),
            (tag::REAL, &real),
            (tag::TRAINER, &self.trainer),
            (tag::THRESHOLD, &threshold),
            (tag::STORY, &story),
        ];
        let weight = bytes(self.preparation.weight.as_ref());
        let split_by = bytes(self.preparation.split_by.as_ref());
        let notations = &self.preparation.notations;
        let notations = bytes(Some(notations).filter(|known| !known.is_empty()));
        let latin1 = bytes(Some(&true).filter(|_| self.preparation.encoding == Encoding::Latin1));
        let more = [
            (tag::GROUPS, &groups[..]),
            (tag::WEIGHT, &weight),
            (tag::DECIDED, &decided),
            (tag::CALIBRATED, &calibrated),
            (tag::SPLIT_BY, &split_by),
            (tag::NOTATIONS, &notations),
            (tag::ENCODING, &latin1),
        ];
        // (What there is none of is no section.)
        there.extend(more.into_iter().filter(|(_, bytes)| !bytes.is_empty()));
        seal(Kind::Model, &sections(&there))
    }

    /// What a file's bytes hold.
    ///
    /// # Errors
    /// [`CheckpointError`]; never a panic, whatever the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        fn there<C: Coded>(payload: &[u8], tag: u8) -> Result<Option<C>, CheckpointError> {
            section(payload, tag).map(|bytes| Reader(bytes).value().ok_or(CheckpointError::Damaged)).transpose()
        }
        let payload = open(Kind::Model, bytes)?;
        let find = |tag| section(payload, tag).ok_or(CheckpointError::Damaged);
        let (preparation, split) = (find(tag::PREPARATION)?, find(tag::SPLIT)?);
        let mut preparation: crate::data::Preparation = Reader(preparation).value().ok_or(CheckpointError::Damaged)?;
        preparation.groups = there(payload, tag::GROUPS)?;
        preparation.weight = there(payload, tag::WEIGHT)?;
        preparation.split_by = there(payload, tag::SPLIT_BY)?;
        preparation.notations = there(payload, tag::NOTATIONS)?.unwrap_or_default();
        if there(payload, tag::ENCODING)? == Some(true) {
            preparation.encoding = Encoding::Latin1;
        }
        let split = Reader(split).value().ok_or(CheckpointError::Damaged)?;
        let threshold = Reader(find(tag::THRESHOLD)?).value().ok_or(CheckpointError::Damaged)?;
        let &[real_bytes] = find(tag::REAL)? else { return Err(CheckpointError::Damaged) };
        let mut story = Reader(find(tag::STORY)?);
        let mut read = || {
            let (valid, costs): (_, Option<(f64, (f64, f64))>) = (story.value()?, story.value()?);
            let costs = match costs {
                Some((positive, (negative, prevalence))) => Some(Costs::new(positive, negative, prevalence).ok()?),
                None => None,
            };
            let probabilities = story.value()?;
            let best = if story.value()? { Some(story.bytes()?.to_vec()) } else { None };
            Some((valid, costs, probabilities, best, story.value()?))
        };
        let (valid, costs, probabilities, best, trained) = read().ok_or(CheckpointError::Damaged)?;
        let trainer = find(tag::TRAINER)?.to_vec();
        let (decided, calibrated) = (there(payload, tag::DECIDED)?, there(payload, tag::CALIBRATED)?);
        Ok(Self {
            preparation,
            split,
            valid,
            threshold,
            decided,
            calibrated,
            costs,
            probabilities,
            real_bytes,
            trainer,
            best,
            trained,
        })
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
