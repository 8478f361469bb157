//! What is known of each row, and how rows are split by it.

use super::super::error::DataErrorKind;
use super::super::split::{Parts, Split};
use crate::features::COMPACT;
use alloc::string::String;
use alloc::vec::Vec;

/// What a split orders rows by, or keeps together.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::data) struct Units {
    pub ordered: bool,
    /// The unit of each row: its rank in order, or the number of its group.
    pub of: Vec<u32>,
}

/// What is known of each row, and a model is to tell.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Targets<T> {
    /// No labels.
    None,
    /// 1 for positive, 0 for negative.
    Binary(Vec<u8>),
    /// One of several classes.
    Classes {
        /// Its number.
        labels: Vec<u32>,
        /// What the classes are called, in the order of their numbers.
        names: Vec<String>,
    },
    /// A number for each row.
    Values(Vec<T>),
}

/// The parts of a split of rows with these targets.
pub(in crate::data) fn parts<T>(
    split: Split,
    targets: &Targets<T>,
    units: Option<&Units>,
    rows: usize,
) -> core::result::Result<Parts, DataErrorKind> {
    if let Targets::Classes { labels, names } = targets {
        let mut sizes = alloc::vec![0; names.len()];
        labels.iter().for_each(|&label| sizes[label as usize] += 1);
        if let Some(class) = sizes.iter().position(|&size| size == 1) {
            return Err(DataErrorKind::LoneRow { label: names[class].clone() });
        }
    }
    // (Small builds make no units.)
    let parts = match (units.filter(|_| !COMPACT), targets) {
        (Some(Units { ordered: true, of }), _) => split.last_parts(of),
        (Some(units), Targets::Binary(labels)) => {
            split.group_parts(&labels.iter().map(|&label| label.into()).collect::<Vec<_>>(), &units.of)
        }
        (Some(units), Targets::Classes { labels, .. }) => split.group_parts(labels, &units.of),
        (Some(units), _) => split.group_parts(&[], &units.of),
        (None, Targets::Binary(labels)) => split.parts(labels),
        (None, Targets::Classes { labels, .. }) => split.class_parts(labels),
        (None, _) => Split { stratify: false, ..split }.class_parts(&alloc::vec![0; rows]),
    };
    parts.map_err(DataErrorKind::from)
}
