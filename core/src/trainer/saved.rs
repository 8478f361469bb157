//! Runs and models as bytes: what they consist of.

use super::config::{Config, Init, TrainerError};
use crate::checkpoint::{CheckpointError, Coded, Kind, Reader, open, reals, seal, section, sections, write_reals};
use crate::data::{Dataset, Rows, Targets};
use crate::model::AnyModel;
use crate::real::Real;
use alloc::string::String;
use alloc::vec::Vec;

/// The sections of a saved run.
mod tag {
    /// The configuration, and where a network began (not in files of earlier builds, whose networks began at random).
    pub const CONFIG: u8 = b'c';
    /// Columns, bytes of a number, a number that tells data sets apart, names of the classes.
    pub const ORIGIN: u8 = b'o';
    /// The model's parameters.
    pub const PARAMETERS: u8 = b'p';
    /// Everything of the run that changes.
    pub const RUN: u8 = b'r';
    /// Instead of it, of a model alone.
    pub const ALONE: u8 = b'a';
    /// What must hold of the model, where anything is asked.
    pub const CONSTRAINTS: u8 = b'k';
    /// What a row of each class counts, where they differ.
    pub const CLASSES: u8 = b'w';
    /// Where a run began at a model or is held to rows of files: that model alone, and numbers that tell the rows apart.
    pub const BESIDE: u8 = b's';
}

/// What is saved of every run beside what changes.
pub(super) struct Saved<'a> {
    pub config: Config,
    pub inputs: usize,
    pub real_bytes: usize,
    pub data: u64,
    pub classes: Vec<String>,
    /// The model's parameters.
    pub params: &'a [u8],
    /// `None` of a model alone.
    run: Option<&'a [u8]>,
    /// The model that it began at, and numbers of the rows of files.
    pub beside: Option<&'a [u8]>,
}

impl<'a> Saved<'a> {
    pub fn read(bytes: &'a [u8]) -> Result<Self, CheckpointError> {
        let payload = open(Kind::Trainer, bytes)?;
        let find = |tag| section(payload, tag).ok_or(CheckpointError::Damaged);
        let mut origin = Reader(find(tag::ORIGIN)?);
        let mut read = || Some((origin.value()?, origin.byte()?.into(), origin.value()?, origin.value()?));
        let (inputs, real_bytes, data, classes) = read().ok_or(CheckpointError::Damaged)?;
        let mut of_config = Reader(find(tag::CONFIG)?);
        let mut config: Config = of_config.value().ok_or(CheckpointError::Damaged)?;
        config.init = match of_config.0 {
            [] => Init::Random,
            _ => of_config.value().ok_or(CheckpointError::Damaged)?,
        };
        if let Some(constraints) = section(payload, tag::CONSTRAINTS) {
            config.constraints = Reader(constraints).value().ok_or(CheckpointError::Damaged)?;
        }
        if let Some(weights) = section(payload, tag::CLASSES) {
            config.class_weights = Reader(weights).value().ok_or(CheckpointError::Damaged)?;
        }
        let params = Reader(find(tag::PARAMETERS)?).bytes().ok_or(CheckpointError::Damaged)?;
        let run = section(payload, tag::RUN);
        if run.is_none() {
            find(tag::ALONE)?;
        }
        let beside = section(payload, tag::BESIDE);
        Ok(Self { config, inputs, real_bytes, data, classes, params, run, beside })
    }

    /// Whether a run of this number type on this data can go on from it.
    pub fn fits<T: Real>(&self, data: &Dataset<T>) -> Result<(), CheckpointError> {
        if self.real_bytes != T::BYTES {
            return Err(CheckpointError::Mismatch("precision"));
        }
        if self.data != data.fingerprint() || self.classes != data.classes() {
            return Err(CheckpointError::Mismatch("training data set"));
        }
        Ok(())
    }

    /// Everything of the run that changes.
    pub fn run(&self) -> Result<&'a [u8], CheckpointError> {
        self.run.ok_or(CheckpointError::ModelOnly)
    }

    pub fn model(&self) -> Result<AnyModel, TrainerError> {
        Ok(self.config.model.build_with(self.inputs, self.classes.len().max(1))?)
    }
}

/// FNV-1a over words.
struct Fingerprint(u64);

impl Fingerprint {
    // (Once, and not at each of its places.)
    #[inline(never)]
    fn eat(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    }
}

/// The first `count` of saved numbers of `width` bytes, as `T`.
pub(super) fn params<T: Real>(saved: &[u8], width: usize, count: usize) -> Result<Vec<T>, CheckpointError> {
    let bytes = count.checked_mul(width).and_then(|length| saved.get(..length)).ok_or(CheckpointError::Damaged)?;
    if width != 4 && width != 8 {
        return Err(CheckpointError::Damaged);
    }
    let mut params = alloc::vec![T::ZERO; count];
    if width == T::BYTES {
        reals(bytes, &mut params)?;
    } else if width == 4 {
        let mut other = alloc::vec![0.0f32; count];
        reals(bytes, &mut other)?;
        params.iter_mut().zip(other).for_each(|(p, x)| *p = T::of(x.f64()));
    } else {
        let mut other = alloc::vec![0.0f64; count];
        reals(bytes, &mut other)?;
        params.iter_mut().zip(other).for_each(|(p, x)| *p = T::of(x));
    }
    Ok(params)
}

/// The bytes of a run, or of a model alone, on training data with so many columns, this number and these classes.
pub(super) fn write<T: Real>(
    config: &Config,
    (cols, data, classes): (usize, u64, &[String]),
    params: &[T],
    run: Option<&[u8]>,
    beside: Option<&[u8]>,
) -> Vec<u8> {
    let (mut origin, mut settings, mut values) = (Vec::new(), Vec::new(), Vec::new());
    cols.write(&mut origin);
    origin.push(T::BYTES as u8);
    data.write(&mut origin);
    classes.to_vec().write(&mut origin);
    config.write(&mut settings);
    config.init.write(&mut settings);
    write_reals(params, &mut values);
    let mut constraints = Vec::new();
    config.constraints.write(&mut constraints);
    let parts: [(u8, &[u8]); 5] = [
        (tag::CONFIG, &settings),
        (tag::ORIGIN, &origin),
        (tag::PARAMETERS, &values),
        run.map_or((tag::ALONE, &[]), |run| (tag::RUN, run)),
        (tag::CONSTRAINTS, &constraints),
    ];
    let count = if config.constraints.is_empty() { 4 } else { 5 };
    let mut payload = sections(&parts[..count]);
    if !config.class_weights.is_empty() {
        let mut weights = Vec::new();
        config.class_weights.write(&mut weights);
        payload.extend_from_slice(&sections(&[(tag::CLASSES, &weights)]));
    }
    if let Some(bytes) = beside {
        payload.extend_from_slice(&sections(&[(tag::BESIDE, bytes)]));
    }
    seal(Kind::Trainer, &payload)
}

impl<T: Real> Dataset<T> {
    /// A number that tells data sets apart: of shape, targets and stored values. O(stored values).
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Fingerprint(0xcbf2_9ce4_8422_2325);
        let reals = |hash: &mut Fingerprint, values: &[T]| {
            for x in values {
                hash.eat(u64::from_le_bytes(x.to_le()));
            }
        };
        let rows = self.rows();
        hash.eat(rows.len() as u64);
        hash.eat(rows.cols() as u64);
        match self.targets() {
            Targets::Binary(labels) => labels.iter().for_each(|&y| hash.eat(u64::from(y))),
            Targets::Classes { labels, .. } => labels.iter().for_each(|&y| hash.eat(u64::from(y))),
            Targets::Values(values) => reals(&mut hash, values),
            Targets::None => {}
        }
        // (Runs of data without groups keep their number.)
        self.group_of().iter().for_each(|&group| hash.eat(u64::from(group)));
        self.weights().iter().for_each(|&weight| hash.eat(weight.to_bits()));
        match rows {
            Rows::Dense { data, .. } => reals(&mut hash, data),
            Rows::Csr { ptr, col, val, .. } => {
                ptr.iter().for_each(|&p| hash.eat(p as u64));
                col.iter().for_each(|&c| hash.eat(u64::from(c)));
                reals(&mut hash, val);
            }
        }
        hash.0
    }
}

impl Config {
    /// The configuration of a saved run.
    ///
    /// # Errors
    /// `Checkpoint`.
    pub fn of_saved(bytes: &[u8]) -> Result<Self, TrainerError> {
        Ok(Saved::read(bytes)?.config)
    }

    /// What the classes of a saved run are called; empty unless there are several.
    ///
    /// # Errors
    /// `Checkpoint`.
    pub fn classes_of_saved(bytes: &[u8]) -> Result<Vec<String>, TrainerError> {
        Ok(Saved::read(bytes)?.classes)
    }
}
