//! Feature rows, and (with `alloc`) their preparation from files.
//!
//! A file becomes a [`RawTable`], a [`Preparation`] is fitted on its training part, and applying that gives a
//! [`Dataset`]. The command line, the page and the packages all go this way.

mod rows;

#[cfg(feature = "multiclass")]
mod classes;
#[cfg(feature = "alloc")]
mod dataset;
#[cfg(feature = "alloc")]
mod encode;
#[cfg(feature = "alloc")]
mod error;
#[cfg(feature = "alloc")]
mod labels;
#[cfg(feature = "alloc")]
mod parse;
#[cfg(feature = "alloc")]
mod scale;
#[cfg(feature = "alloc")]
mod split;

pub use rows::{Rows, Selection};

#[cfg(feature = "multiclass")]
pub use classes::{
    ClassDataset, ClassPreparation, ClassPrepared, MAX_CLASSES, label_column, label_values, prepare_classes,
};
#[cfg(feature = "alloc")]
pub use {
    dataset::{Dataset, Summary},
    encode::{MAX_DENSE, Missing, Options, Preparation, Prepared, prepare},
    error::{DataError, DataErrorKind},
    labels::LABEL_NAMES,
    parse::{Format, MAX_COLUMNS, MAX_TEXT, RawTable, ReadOptions},
    scale::Scale,
    split::{Parts, Split},
};
