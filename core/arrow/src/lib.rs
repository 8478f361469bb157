//! Columns of Arrow, and Parquet files, as tables of `undercurve`: one reader for the command line and the Python package.
//!
//! What a column is follows from its logical type alone, and no text is read again: a text is a category, whatever it says, and what is
//! missing are nulls. Numbers are numbers, decimals the nearest ones, floats of 32 bits the shortest decimals that are the same float, as
//! files of text have them, and those of 16 bits what they are: their writers do not agree on decimals. Dates and timestamps are days since the beginning of 1970 (UTC), times of the day and durations
//! days. A dictionary of numbers is a column of categories, one of anything else what its values are. Bytes are text, if they are
//! UTF-8, and the 16 bytes of a UUID its digits. Everything else is unreadable: a column that is in doubt, which is refused when it is used.

mod column;
#[cfg(feature = "parquet")]
pub mod parquet;
mod text;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema};
use column::Taken;
use undercurve::data::{Batches, DataError, ReadOptions, Values};

pub use text::cell;

/// The number that a file has for a float of 32 bits: the shortest decimal that is the same float.
#[must_use]
pub fn single(x: f32) -> f64 {
    // (Whole numbers are themselves.)
    if x.trunc() == x { f64::from(x) } else { x.to_string().parse().unwrap_or_else(|_| f64::from(x)) }
}

/// Record batches that become a table.
pub struct Rows {
    fields: Vec<Field>,
    batches: Batches,
}

impl Rows {
    /// Of this schema, with further columns behind its own. Of the options it reads what stands for missing values, and which columns are hashed.
    ///
    /// # Errors
    /// Two columns of one name.
    pub fn new(schema: &Schema, more: &[String], options: &ReadOptions, name: &str) -> Result<Self, DataError> {
        let fields: Vec<Field> = schema.fields().iter().map(|field| field.as_ref().clone()).collect();
        let names = fields.iter().map(|field| field.name().clone()).chain(more.iter().cloned()).collect();
        Ok(Self { fields, batches: Batches::new(name, names, options)? })
    }

    /// Adds rows, with as many of the further columns.
    ///
    /// # Errors
    /// Columns of other lengths.
    pub fn push(&mut self, batch: &RecordBatch, more: &[Values<'_>]) -> Result<(), DataError> {
        let taken: Vec<Taken<'_>> =
            batch.columns().iter().zip(&self.fields).map(|(array, field)| Taken::of(array.as_ref(), field)).collect();
        let values: Vec<Values<'_>> = taken.iter().map(Taken::values).chain(more.iter().copied()).collect();
        self.batches.push(&values)
    }

    /// The table.
    ///
    /// # Errors
    /// No rows, infinite numbers.
    pub fn finish(self) -> Result<undercurve::data::RawTable, DataError> {
        self.batches.finish()
    }
}
