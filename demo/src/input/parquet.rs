//! Parquet as the text of a CSV file, made while it is read: row groups one after another, so many rows of every column at once.
//!
//! So a Parquet file gets the preparation, the notes and the errors of a CSV file with the same rows. Names make the first line.
//! Nulls are empty cells, and so, as in CSV, is an empty text; floats are the shortest decimals that read as the same bits of
//! their own width; dates and timestamps (of any unit, in UTC) are ISO 8601. Columns have to be flat.
//!
//! Memory: `BATCH` cells of each column, and a page of each, unpacked.

use crate::tell::table;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Rows that are made text at once.
const BATCH: usize = 1024;

const NANOS_OF_DAY: i64 = 86_400 * 1_000_000_000;

/// Days from the beginning of the Julian calendar's count to 1970, which INT96 counts from.
const JULIAN_1970: i64 = 2_440_588;

/// What the values of a column are.
#[derive(Clone, Copy)]
enum Kind {
    /// As they are stored.
    Plain,
    Unsigned,
    Date,
    /// Since the beginning of 1970 (a timestamp) or of the day (a time), in units of so many nanoseconds.
    Timestamp(i64),
    Time(i64),
    /// So many digits after the point.
    Decimal(usize),
}

/// A column, flat.
struct Column {
    name: String,
    kind: Kind,
    /// Nulls may be among its values.
    optional: bool,
}

/// The text of a Parquet file.
pub struct Text {
    file: SerializedFileReader<File>,
    columns: Vec<Column>,
    /// The row group after the one that is read.
    next: usize,
    /// Of the row group that is read: its columns, and rows that are left.
    readers: Vec<ColumnReader>,
    left: usize,
    /// What is made, and how much of it was taken.
    text: Vec<u8>,
    taken: usize,
}

/// Cells of one column.
struct Cells {
    text: String,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Text {
    /// The text of a file.
    ///
    /// # Errors
    /// What is the matter with it: damaged, or columns that no cell can hold.
    pub fn new(file: File) -> Result<Self, String> {
        let file = SerializedFileReader::new(file).map_err(|error| unreadable(&error))?;
        let columns: Vec<Column> = file
            .metadata()
            .file_metadata()
            .schema_descr()
            .columns()
            .iter()
            .map(|it| column(it))
            .collect::<Result<_, _>>()?;
        if columns.is_empty() {
            return Err("a Parquet file without columns".to_string());
        }
        let names: Vec<String> = columns.iter().map(|column| table::cell(&column.name)).collect();
        let text = (names.join(",") + "\n").into_bytes();
        Ok(Self { file, columns, next: 0, readers: Vec::new(), left: 0, text, taken: 0 })
    }

    /// Makes the next rows text; none at the end.
    fn fill(&mut self) -> Result<(), String> {
        (self.taken, self.text) = (0, Vec::new());
        while self.left == 0 {
            if self.next == self.file.num_row_groups() {
                return Ok(());
            }
            let group = self.file.get_row_group(self.next).map_err(|error| unreadable(&error))?;
            let rows = group.metadata().num_rows();
            self.left = usize::try_from(rows).map_err(|_| format!("row group {} has {rows} rows", self.next + 1))?;
            self.readers = (0..self.columns.len())
                .map(|at| group.get_column_reader(at).map_err(|error| unreadable(&error)))
                .collect::<Result<_, _>>()?;
            self.next += 1;
        }
        let rows = self.left.min(BATCH);
        let cells: Vec<Cells> = self
            .readers
            .iter_mut()
            .zip(&self.columns)
            .map(|(from, column)| column.cells(from, rows))
            .collect::<Result<_, _>>()?;
        for row in 0..rows {
            for (at, cells) in cells.iter().enumerate() {
                let cell = &cells.text[row.checked_sub(1).map_or(0, |before| cells.ends[before])..cells.ends[row]];
                // (A line without anything on it would be no row.)
                let nothing = self.columns.len() == 1 && cell.trim_matches(['"', ' ', '\t', '\r', '\n']).is_empty();
                self.text.extend_from_slice(if nothing { b"NA" } else { cell.as_bytes() });
                self.text.push(if at + 1 == self.columns.len() { b'\n' } else { b',' });
            }
        }
        self.left -= rows;
        Ok(())
    }
}

impl Read for Text {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.text.len() {
            self.fill().map_err(io::Error::other)?;
        }
        let count = into.len().min(self.text.len() - self.taken);
        into[..count].copy_from_slice(&self.text[self.taken..][..count]);
        self.taken += count;
        Ok(count)
    }
}

/// The row, from 1, that is on a line of the text of the file at `path`; `None` of the line of names.
pub fn row_on_line(path: &Path, line: u32) -> Option<usize> {
    let mut text = BufReader::new(Text::new(File::open(path).ok()?).ok()?);
    let (mut at, mut row, mut quoted, mut before) = (1, 0, false, 0);
    while at < line {
        let bytes = text.fill_buf().ok().filter(|bytes| !bytes.is_empty())?;
        let count = bytes.len();
        for &byte in bytes {
            if at == line {
                break;
            }
            quoted ^= byte == b'"';
            // Line breaks are as CSV has them: \n, \r, and \r\n once. Only in quotes are there others than our own.
            at += u32::from(byte == b'\n' || before == b'\r');
            row += usize::from(byte == b'\n' && !quoted);
            before = if byte == b'\r' { byte } else { 0 };
        }
        text.consume(count);
    }
    (row > 0).then_some(row)
}

/// What a column is.
fn column(of: &ColumnDescriptor) -> Result<Column, String> {
    let name = of.path().parts().first().cloned().unwrap_or_default();
    if of.path().parts().len() > 1 || of.max_rep_level() > 0 {
        return Err(format!(
            "column \"{name}\" is nested (a list, a map or a structure), and cells hold one value each"
        ));
    }
    let kind = match (of.converted_type(), of.logical_type_ref()) {
        (_, Some(LogicalType::Timestamp(of))) => Kind::Timestamp(nanoseconds(&of.unit)),
        (_, Some(LogicalType::Time(of))) => Kind::Time(nanoseconds(&of.unit)),
        (ConvertedType::TIMESTAMP_MILLIS, _) => Kind::Timestamp(1_000_000),
        (ConvertedType::TIMESTAMP_MICROS, _) => Kind::Timestamp(1000),
        (ConvertedType::TIME_MILLIS, _) => Kind::Time(1_000_000),
        (ConvertedType::TIME_MICROS, _) => Kind::Time(1000),
        (ConvertedType::DATE, _) => Kind::Date,
        (ConvertedType::DECIMAL, _) => Kind::Decimal(usize::try_from(of.type_scale()).unwrap_or(0)),
        (ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64, _) => {
            Kind::Unsigned
        }
        _ if of.physical_type() == Type::FIXED_LEN_BYTE_ARRAY => {
            return Err(format!("column \"{name}\" is of bytes, neither numbers nor text"));
        }
        _ => Kind::Plain,
    };
    Ok(Column { name, kind, optional: of.max_def_level() > 0 })
}

fn nanoseconds(unit: &TimeUnit) -> i64 {
    match unit {
        TimeUnit::MILLIS => 1_000_000,
        TimeUnit::MICROS => 1000,
        TimeUnit::NANOS => 1,
    }
}

impl Column {
    /// The next cells.
    fn cells(&self, from: &mut ColumnReader, rows: usize) -> Result<Cells, String> {
        let kind = self.kind;
        match from {
            ColumnReader::BoolColumnReader(from) => self.take(from, rows, |out, value| put(out, value)),
            ColumnReader::Int32ColumnReader(from) => self.take(from, rows, |out, &value| match kind {
                Kind::Unsigned => put(out, value as u32),
                _ => whole(out, kind, value.into()),
            }),
            ColumnReader::Int64ColumnReader(from) => self.take(from, rows, |out, &value| match kind {
                Kind::Unsigned => put(out, value as u64),
                _ => whole(out, kind, value),
            }),
            ColumnReader::Int96ColumnReader(from) => self.take(from, rows, |out, value| {
                let &[low, high, day] = value.data() else { return None };
                let nanos = i64::from(low) | i64::from(high) << 32;
                moment(
                    out,
                    i64::from(day) - JULIAN_1970,
                    Some(nanos).filter(|nanos| (0..NANOS_OF_DAY).contains(nanos))?,
                )
            }),
            ColumnReader::FloatColumnReader(from) => self.take(from, rows, |out, &value| {
                if plain(value.into()) { put(out, value) } else { put(out, format_args!("{value:e}")) }
            }),
            ColumnReader::DoubleColumnReader(from) => {
                self.take(
                    from,
                    rows,
                    |out, &value| {
                        if plain(value) { put(out, value) } else { put(out, format_args!("{value:e}")) }
                    },
                )
            }
            ColumnReader::ByteArrayColumnReader(from) => self.take(from, rows, |out, value| match kind {
                Kind::Decimal(scale) => decimal(out, integer(value.data())?, scale),
                _ => put(out, table::cell(std::str::from_utf8(value.data()).ok()?)),
            }),
            ColumnReader::FixedLenByteArrayColumnReader(from) => self.take(from, rows, |out, value| match kind {
                Kind::Decimal(scale) => decimal(out, integer(value.data())?, scale),
                _ => None,
            }),
        }
    }

    /// The next cells, as `write` writes each; it gives `None` for what no cell can hold.
    fn take<T: DataType>(
        &self,
        from: &mut ColumnReaderImpl<T>,
        rows: usize,
        write: impl Fn(&mut String, &T::T) -> Option<()>,
    ) -> Result<Cells, String> {
        let damaged = || format!("this Parquet file is damaged: column \"{}\" has too few values", self.name);
        let (mut levels, mut values, mut read) = (Vec::new(), Vec::new(), 0);
        while read < rows {
            let into = self.optional.then_some(&mut levels);
            let (more, ..) =
                from.read_records(rows - read, into, None, &mut values).map_err(|error| unreadable(&error))?;
            if more == 0 {
                return Err(damaged());
            }
            read += more;
        }
        let mut cells = Cells { text: String::new(), ends: Vec::with_capacity(rows) };
        let mut values = values.iter();
        for row in 0..rows {
            if !self.optional || *levels.get(row).ok_or_else(damaged)? > 0 {
                let value = values.next().ok_or_else(damaged)?;
                write(&mut cells.text, value).ok_or_else(|| {
                    format!(
                        "column \"{}\" has a value that is no text, date or number that CSV could hold: {value:.99?}",
                        self.name
                    )
                })?;
            }
            cells.ends.push(cells.text.len());
        }
        Ok(cells)
    }
}

fn put(out: &mut String, value: impl std::fmt::Display) -> Option<()> {
    write!(out, "{value}").ok()
}

/// Is a number readable without an exponent?
fn plain(x: f64) -> bool {
    x == 0.0 || !x.is_finite() || (1e-5..1e16).contains(&x.abs())
}

fn whole(out: &mut String, kind: Kind, value: i64) -> Option<()> {
    match kind {
        Kind::Date => date(out, value),
        Kind::Timestamp(unit) => {
            let units = NANOS_OF_DAY / unit;
            moment(out, value.div_euclid(units), value.rem_euclid(units) * unit)
        }
        Kind::Time(unit) => time(out, value.checked_mul(unit).filter(|nanos| (0..NANOS_OF_DAY).contains(nanos))?),
        Kind::Decimal(scale) => decimal(out, value.into(), scale),
        Kind::Plain | Kind::Unsigned => put(out, value),
    }
}

/// A day, counted from the beginning of 1970, of the years that are written with four digits.
fn date(out: &mut String, days: i64) -> Option<()> {
    // Days from 1 March of the year 0; years begin in March, so that the leap day is the last, and 400 of them are 146,097 days.
    let days = days.checked_add(719_468)?;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (400 * era + year + i64::from(month > 9), if month > 9 { month - 9 } else { month + 3 });
    (1..=9999).contains(&year).then(|| put(out, format_args!("{year:04}-{month:02}-{day:02}")))?
}

/// A time of the day, with as many digits after the second as it has.
fn time(out: &mut String, nanos: i64) -> Option<()> {
    let (seconds, nanos) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    put(out, format_args!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60))?;
    if nanos > 0 {
        put(out, format!(".{nanos:09}").trim_end_matches('0'))?;
    }
    Some(())
}

fn moment(out: &mut String, days: i64, nanos: i64) -> Option<()> {
    date(out, days)?;
    out.push('T');
    time(out, nanos)
}

/// An integer with the highest byte first, of at most 128 bits.
fn integer(bytes: &[u8]) -> Option<i128> {
    let sign = if bytes.first()? & 0x80 == 0 { 0 } else { -1 };
    (bytes.len() <= 16).then(|| bytes.iter().fold(sign, |value, &byte| value << 8 | i128::from(byte)))
}

fn decimal(out: &mut String, value: i128, scale: usize) -> Option<()> {
    let digits = format!("{:0>1$}", value.unsigned_abs(), scale + 1);
    let (before, after) = digits.split_at(digits.len() - scale);
    let after = after.trim_end_matches('0');
    put(out, if value < 0 { "-" } else { "" })?;
    put(out, before)?;
    if after.is_empty() { Some(()) } else { put(out, format_args!(".{after}")) }
}

fn unreadable(error: &ParquetError) -> String {
    format!("this Parquet file cannot be read, it is damaged, cut off or of a kind not known here ({error})")
}
