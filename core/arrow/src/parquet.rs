//! Parquet files, read by row groups.

use crate::{Rows, cell};
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, DataType, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use undercurve::data::{Block, DataError, RawTable, ReadOptions};

/// Rows of a batch.
const ROWS: usize = 8192;

/// Whether a file is one.
#[must_use]
pub fn is_parquet(path: &Path) -> bool {
    let mut first = Vec::new();
    let read = File::open(path).and_then(|file| file.take(4).read_to_end(&mut first));
    path.is_file() && read.is_ok() && first == b"PAR1"
}

/// Why a file cannot be read, in a line.
#[derive(Debug)]
pub enum Error {
    /// It is damaged, cut off, or of a kind that is not known here.
    File(String),
    /// Its rows make no table.
    Data(DataError),
}

impl From<DataError> for Error {
    fn from(error: DataError) -> Self {
        Self::Data(error)
    }
}

fn unreadable(error: impl std::fmt::Display) -> Error {
    let text = error.to_string().replace(['\n', '\r'], " ");
    Error::File(format!(
        "this Parquet file cannot be read, it is damaged, cut off or of a kind not known here ({text})"
    ))
}

/// Batches of a file, of all its columns or of some; a column that is not read is one of nothing.
struct Batches {
    schema: SchemaRef,
    reader: ParquetRecordBatchReader,
    /// Where each column of the file is in what is read.
    places: Vec<Option<usize>>,
}

/// Whether values of this type are read: those of others are not even unpacked.
fn is_flat(of: &DataType) -> bool {
    !of.is_nested() || matches!(of, DataType::RunEndEncoded(..))
}

impl Batches {
    fn open(file: File, wanted: impl Fn(&str) -> bool) -> Result<Self, Error> {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(unreadable)?;
        let schema = builder.schema().clone();
        if schema.fields().is_empty() {
            return Err(Error::File("a Parquet file without columns".to_string()));
        }
        let read = |at: &usize| is_flat(schema.field(*at).data_type()) && wanted(schema.field(*at).name());
        let roots: Vec<usize> = (0..schema.fields().len()).filter(read).collect();
        let places = (0..schema.fields().len()).map(|at| roots.iter().position(|&root| root == at)).collect();
        let mask = ProjectionMask::roots(builder.parquet_schema(), roots);
        let reader = builder.with_projection(mask).with_batch_size(ROWS).build().map_err(unreadable)?;
        Ok(Self { schema, reader, places })
    }

    /// The next rows, all columns of the file.
    fn next(&mut self) -> Option<Result<RecordBatch, Error>> {
        let whole = |batch: RecordBatch| {
            let column = |(at, place): (usize, &Option<usize>)| match place {
                Some(place) => batch.column(*place).clone(),
                None => arrow_array::new_null_array(self.schema.field(at).data_type(), batch.num_rows()),
            };
            let columns = self.places.iter().enumerate().map(column).collect();
            RecordBatch::try_new(nullable(&self.schema), columns)
        };
        let next = self.reader.next()?;
        Some(next.and_then(whole).map_err(|error: ArrowError| unreadable(error)))
    }
}

/// The schema where every column may have nulls.
fn nullable(schema: &SchemaRef) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
    std::sync::Arc::new(arrow_schema::Schema::new(fields.collect::<Vec<_>>()))
}

/// The table of a file. Of the options it reads what stands for missing values, and which columns are hashed.
///
/// # Errors
/// What is the matter with the file.
pub fn table(file: File, options: &ReadOptions, name: &str) -> Result<RawTable, Error> {
    let mut batches = Batches::open(file, |_| true)?;
    let mut rows = Rows::new(&batches.schema, &[], options, name)?;
    while let Some(batch) = batches.next() {
        rows.push(&batch?, &[])?;
    }
    Ok(rows.finish()?)
}

/// Calls `take` with one part of the rows after the other, each of at least so many but the last, until it says false.
///
/// # Errors
/// As [`table`], and those of `take`.
pub fn parts<E: From<Error>>(
    file: File,
    options: &ReadOptions,
    least: usize,
    name: &str,
    mut take: impl FnMut(RawTable) -> Result<bool, E>,
) -> Result<(), E> {
    let mut batches = Batches::open(file, |_| true)?;
    let (mut before, mut rows) = (0, 0);
    let fresh = |schema: &SchemaRef| Rows::new(schema, &[], options, name).map_err(Error::Data);
    let mut part = fresh(&batches.schema)?;
    while let Some(batch) = batches.next() {
        let batch = batch?;
        part.push(&batch, &[]).map_err(Error::Data)?;
        rows += batch.num_rows();
        if rows >= least {
            let done = std::mem::replace(&mut part, fresh(&batches.schema)?).finish().map_err(Error::Data)?;
            if !take(done.behind(before))? {
                return Ok(());
            }
            (before, rows) = (before + rows, 0);
        }
    }
    if rows > 0 {
        take(part.finish().map_err(Error::Data)?.behind(before))?;
    }
    Ok(())
}

/// Calls `take` with the rows of a file, batch after batch: the columns that are wanted, and the cells of the columns `keep` as a text file
/// has them. What the columns of the file are called.
///
/// # Errors
/// As [`table`], columns of `keep` that are not there, and those of `take`.
pub fn blocks<E: From<Error>>(
    file: File,
    options: &ReadOptions,
    wanted: impl Fn(&str) -> bool,
    keep: &[String],
    name: &str,
    mut take: impl FnMut(&Block) -> Result<(), E>,
) -> Result<Vec<String>, E> {
    let mut batches = Batches::open(file, |name| wanted(name) || keep.iter().any(|kept| kept == name))?;
    let names: Vec<String> = batches.schema.fields().iter().map(|field| field.name().clone()).collect();
    let place = |kept: &String| {
        names.iter().position(|name| name == kept).ok_or_else(|| Error::Data(DataError::no_column(name, kept, &names)))
    };
    let kept = keep.iter().map(place).collect::<Result<Vec<usize>, Error>>()?;
    let mut before = 0;
    while let Some(batch) = batches.next() {
        let batch = batch?;
        let mut rows = Rows::new(&batches.schema, &[], options, name).map_err(Error::Data)?;
        rows.push(&batch, &[]).map_err(Error::Data)?;
        let cells = (0..batch.num_rows()).flat_map(|row| kept.iter().map(move |&at| (row, at)));
        let cells = cells.map(|(row, at)| cell(batch.column(at).as_ref(), batches.schema.field(at), row)).collect();
        let table = rows.finish().map_err(Error::Data)?.behind(before);
        before += batch.num_rows();
        take(&Block { table, kept: cells })?;
    }
    Ok(names)
}

/// The first rows of a file as a text file has them.
#[must_use]
pub fn first_rows(file: File, most: usize) -> Vec<Vec<String>> {
    let Ok(mut batches) = Batches::open(file, |_| true) else { return Vec::new() };
    let Some(Ok(batch)) = batches.next() else { return Vec::new() };
    let fields = batches.schema.fields();
    let row = |row| batch.columns().iter().zip(fields).map(|(array, field)| cell(array.as_ref(), field, row)).collect();
    (0..batch.num_rows().min(most)).map(row).collect()
}

/// The text of a CSV file with the rows of a file, for what is read as text and kept nowhere: scores and labels of any number of rows.
pub struct Text {
    batches: Batches,
    text: Vec<u8>,
    taken: usize,
}

impl Text {
    /// Of a file.
    ///
    /// # Errors
    /// As [`table`].
    pub fn new(file: File) -> Result<Self, Error> {
        let batches = Batches::open(file, |_| true)?;
        let names: Vec<String> = batches.schema.fields().iter().map(|field| quoted(field.name())).collect();
        Ok(Self { batches, text: (names.join(",") + "\n").into_bytes(), taken: 0 })
    }

    /// Makes the next rows text; none at the end.
    fn fill(&mut self) -> Result<(), Error> {
        (self.taken, self.text) = (0, Vec::new());
        let Some(batch) = self.batches.next() else { return Ok(()) };
        let (batch, fields) = (batch?, self.batches.schema.fields());
        let mut text = String::new();
        for row in 0..batch.num_rows() {
            for (at, (array, field)) in batch.columns().iter().zip(fields).enumerate() {
                let before = if at == 0 { "" } else { "," };
                // (Writing to a string cannot fail.)
                let _ = write!(text, "{before}{}", quoted(&cell(array.as_ref(), field, row)));
            }
            text.push('\n');
        }
        self.text = text.into_bytes();
        Ok(())
    }
}

fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

impl Read for Text {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.text.len() {
            self.fill().map_err(|error| match error {
                Error::File(text) => io::Error::other(text),
                Error::Data(error) => io::Error::other(error),
            })?;
        }
        let count = into.len().min(self.text.len() - self.taken);
        into[..count].copy_from_slice(&self.text[self.taken..][..count]);
        self.taken += count;
        Ok(count)
    }
}
