//! A model file: a preparation, a saved run or model, and what was decided with it.

mod decided;

pub use decided::{Calibrated, Decided};

use super::{CheckpointError, Coded, Kind, Reader, open, seal, section, sections, write_bytes};
use crate::data::{Encoding, Preparation};
use crate::metric::Costs;
use alloc::string::String;
use alloc::vec::Vec;

/// A model file: a run, or the model alone, with what turns data into its features and its scores into decisions.
///
/// The command line writes these, and everything that scores or continues a run reads them.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedModel {
    /// Fitted on the training part.
    pub preparation: Preparation,
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
    /// What the columns of a table were.
    pub const KINDS: u8 = b'k';
    /// How the training file was encoded, where that was not UTF-8.
    pub const ENCODING: u8 = b'e';
    /// Only there where columns are multiplied.
    pub const CROSSES: u8 = b'x';
}

impl SavedModel {
    /// Of a preparation and a saved run, or a model alone, of numbers of so many bytes; without anything else.
    /// [`Predictor::file`](crate::trainer::Predictor::file) knows more.
    #[must_use]
    pub fn new(preparation: Preparation, real_bytes: u8, trainer: Vec<u8>) -> Self {
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
        let weight = bytes(self.preparation.weight.as_ref());
        let split_by = bytes(self.preparation.split_by.as_ref());
        let notations = &self.preparation.notations;
        let notations = bytes(Some(notations).filter(|known| !known.is_empty()));
        let kinds = bytes(Some(&self.preparation.kinds).filter(|kinds| !kinds.is_empty()));
        let latin1 = bytes(Some(&true).filter(|_| self.preparation.encoding == Encoding::Latin1));
        let crosses = bytes(Some(&self.preparation.crosses).filter(|crosses| !crosses.is_empty()));
        let more = [
            (tag::GROUPS, &groups[..]),
            (tag::WEIGHT, &weight),
            (tag::DECIDED, &decided),
            (tag::CALIBRATED, &calibrated),
            (tag::SPLIT_BY, &split_by),
            (tag::NOTATIONS, &notations),
            (tag::KINDS, &kinds),
            (tag::ENCODING, &latin1),
            (tag::CROSSES, &crosses),
        ];
        let always = [
            (tag::PREPARATION, &preparation[..]),
            (tag::SPLIT, &split),
            (tag::REAL, &real),
            (tag::TRAINER, &self.trainer),
            (tag::THRESHOLD, &threshold),
            (tag::STORY, &story),
        ];
        // (What there is none of is no section; and what is always there is last, so that no part of a file is one.)
        let there: Vec<_> = more.into_iter().filter(|(_, bytes)| !bytes.is_empty()).chain(always).collect();
        seal(Kind::Model, &sections(&there))
    }

    /// What the bytes of a model file hold.
    pub(crate) fn of_file(bytes: &[u8]) -> Result<Self, CheckpointError> {
        fn there<C: Coded>(payload: &[u8], tag: u8) -> Result<Option<C>, CheckpointError> {
            section(payload, tag).map(|bytes| Reader(bytes).value().ok_or(CheckpointError::Damaged)).transpose()
        }
        let payload = open(Kind::Model, bytes)?;
        let find = |tag| section(payload, tag).ok_or(CheckpointError::Damaged);
        let (preparation, split) = (find(tag::PREPARATION)?, find(tag::SPLIT)?);
        let mut preparation: Preparation = Reader(preparation).value().ok_or(CheckpointError::Damaged)?;
        preparation.groups = there(payload, tag::GROUPS)?;
        preparation.weight = there(payload, tag::WEIGHT)?;
        preparation.split_by = there(payload, tag::SPLIT_BY)?;
        preparation.notations = there(payload, tag::NOTATIONS)?.unwrap_or_default();
        if there(payload, tag::ENCODING)? == Some(true) {
            preparation.encoding = Encoding::Latin1;
        }
        if let Some(crosses) = there(payload, tag::CROSSES)? {
            preparation = preparation.with_crosses(crosses).ok_or(CheckpointError::Damaged)?;
        }
        preparation = preparation.with_kinds(there(payload, tag::KINDS)?).ok_or(CheckpointError::Damaged)?;
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
