//! Feature rows, and (with `tables`) their preparation from files.
//!
//! A file becomes a [`RawTable`], a [`Preparation`] is fitted to its training part, and applying it gives a [`Dataset`]. The command
//! line, the page and the packages all use this path.

mod rows;
mod segments;

mod contrary;
#[cfg(feature = "alloc")]
mod dataset;
#[cfg(feature = "alloc")]
mod error;
#[cfg(feature = "tables")]
mod parse;
#[cfg(feature = "tables")]
mod prepare;
#[cfg(feature = "alloc")]
mod queries;
#[cfg(feature = "tables")]
mod scale;
#[cfg(feature = "alloc")]
mod split;

pub use rows::{Rows, Selection};
pub use segments::Segments;

pub use contrary::first_is_positive;
#[cfg(feature = "alloc")]
pub use {
    dataset::{Dataset, MAX_CLASSES, Summary, Targets},
    error::{DataError, DataErrorKind, Doubt, Kind, MAX_COLUMNS},
    queries::Queries,
    split::{Parts, Split, group_folds},
};
#[cfg(feature = "tables")]
pub use {
    parse::{
        Batches, Block, Blocks, ColumnValues, DateOrder, Decimal, Encoding, Format, LABEL_NAMES, MAX_BUCKETS, MAX_TEXT,
        Notation, RawTable, ReadOptions, Reading, Values, days_of_nanos, first_rows,
    },
    prepare::{
        ColumnStats, Encode, EncodedColumn, Knot, MAX_DENSE, MAX_PIECES, Missing, Options, Piece, Preparation,
        Prepared, Source, SplitBy, Target, binary_labels, check_label, identifiers, label_column_of, label_values,
        prepare, rank,
    },
    scale::Scale,
};

#[cfg(feature = "stream")]
pub use parse::parts::TableParts;
#[cfg(feature = "std")]
pub use parse::unpack::unpacked;
