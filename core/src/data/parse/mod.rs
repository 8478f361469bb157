//! From bytes to a table of columns: decompression, the format, and the table.

mod batches;
mod blocks;
mod cells;
mod clock;
mod column;
mod csv;
mod libsvm;
mod notation;
#[cfg(feature = "stream")]
pub mod parts;
mod pieces;
mod reads;
mod seen;
mod short;
mod spellings;
mod table;
#[cfg(feature = "std")]
pub(super) mod unpack;
mod whole;

pub use batches::Batches;
pub use blocks::{Block, Blocks};
pub(super) use cells::as_text;
pub(super) use column::{Content, MISSING, RawColumn};
pub use csv::LABEL_NAMES;
pub use notation::{DateOrder, Decimal, MAX_BUCKETS, Notation, days_of_nanos};
pub(super) use notation::{bucket, limited};
pub(super) use reads::{Absent, is_word, truth, words_as_written};
pub use table::RawTable;
pub use whole::first_rows;

pub(super) use super::Kind;
use super::error::{DataErrorKind, Placed, whole};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The most bytes of one line, of a text that is read in pieces.
const MAX_LINE: usize = 1 << 27;

/// The most bytes of a text in quotes, or of one without line feeds: 4 GiB, or 1 GiB where pointers have 32 bits.
pub const MAX_TEXT: usize = if usize::BITS > 32 { u32::MAX as usize } else { 1 << 30 };

/// The layout of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// By the name (`.csv`, `.tsv`, `.svm`, `.libsvm`, `.svmlight`, each with or without `.gz` or `.zst`), else by the content.
    #[default]
    Auto,
    /// Cells with commas, semicolons or tabs between them (found from the first lines), quoted with `"` where needed.
    Csv,
    /// `label index:value …`, indices ascending from 1, `#` starts a comment.
    Libsvm,
    /// A table whose cells have blanks or tabs between them, any number; `Auto` takes a text for one without commas, semicolons
    /// and tabs in its first line, with as many words, more than one, in each of the lines looked at.
    Whitespace,
}

/// How bytes become text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, or, where a byte order mark begins the text (and with the feature `std`), UTF-16.
    #[default]
    Utf8,
    /// Windows-1252, where the text is not UTF-8: Latin-1 with what Windows has in place of its control characters.
    Latin1,
}

/// How to read a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The layout.
    pub format: Format,
    /// The label column if known: a first line that contains this name is a header.
    pub label: Option<String>,
    /// Whether the first line of a CSV file names the columns; `None` looks at it and at the 99 rows below. It does when
    /// one of its cells is `label`; when none of them is a number, but most of some column below (or there is no row
    /// below); or when they are all different and one is of [`LABEL_NAMES`](super::LABEL_NAMES) in any case, does not
    /// recur in its column, and no cell is a number or the column below that one is numbers.
    pub header: Option<bool>,
    /// Spellings of a missing value in CSV files besides an empty cell and, among numbers and dates, the usual words: a text, or
    /// `COLUMN=TEXT` for one column. A number is one however it is written. `=` says that the usual words are none, and `COLUMN=` that of one
    /// column.
    pub na: Vec<String>,
    /// The decimal mark of the numbers. `None`: as the cells of a column show it, else as those of other columns do; in files
    /// with commas or blanks between their cells else a point.
    pub decimal: Option<Decimal>,
    /// What comes first in dates like `03/04/2022`; `None`: as the cells of a column show it.
    pub dates: Option<DateOrder>,
    /// Columns that are text whatever they hold, as categories are.
    pub texts: Vec<String>,
    /// How the bytes become text.
    pub encoding: Encoding,
    /// Lines before the first that counts.
    pub skip: u32,
    /// Lines behind the last that counts; blank ones at the end are none.
    pub skip_end: u32,
    /// How columns are written, by their names, where that is known already ([`Preparation::notations`]).
    ///
    /// [`Preparation::notations`]: crate::data::Preparation::notations
    pub columns: Vec<(String, Notation)>,
}

/// How a column was written, where that is worth telling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reading {
    /// As numbers, or as text.
    #[default]
    Plain,
    /// As numbers with decimal commas.
    Commas,
    /// As numbers with points or commas between groups of three digits, which alone might be decimal marks.
    Thousands,
    /// As numbers with percent signs; 5.7 % is 5.7.
    Percent,
    /// As numbers with the sign of a currency.
    Currency,
    /// As dates, which became days since the beginning of 1970 (UTC): `2024-02-29`, `2024/2/29`, `29.2.2024`, `29/02/2024`,
    /// `02/29/2024`, or `29 Feb 2024` in some languages, each with a time behind it or not.
    Dates,
    /// As dates whose years have two digits: 00 to 39 are 2000 to 2039, 40 to 99 are 1940 to 1999. (They are `Dates`, too.)
    ShortYears,
    /// As numbers, some of which are limits of measuring, as `<0.5` is: the number is the limit, and columns `x=(below)` and
    /// `x=(above)` at the end of the table say which are.
    Limits,
    /// As whole numbers, some beyond 2⁵³, which were rounded.
    Rounded,
    /// As numbers, some with zeros before them, as codes have.
    Padded,
    /// As whole numbers that rise by one from row to row, of at least twenty rows.
    Counter,
    /// As times of the day, which became days: 18:00 is 0.75.
    Times,
    /// As lengths of time, which became days.
    Durations,
    /// As whole numbers, some with an exponent, as codes may have: 1E5.
    Exponents,
    /// Under another name, with a number behind it, since an earlier column has its own.
    Twice,
    /// As text, most of whose values have digits and no letters, as numbers with signs for thousands, money or shares do.
    Signs,
}

/// A column that is in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Values<'a> {
    /// Numbers; NaN is a missing one.
    Numbers(&'a [f64]),
    /// Whole numbers; those that are not exact, with their rows, ascending, and digits.
    Whole(&'a [f64], &'a [(u32, String)]),
    /// Numbers of this kind; those of [`Kind::Level`] are categories.
    Of(Kind, &'a [f64]),
    /// Text, which is what it is to the last byte; `None` is a missing one.
    Texts(&'a [Option<&'a str>]),
    /// The same, owned.
    Owned(&'a [Option<String>]),
    /// A column of so many rows without a value.
    Nothing(usize),
    /// A column of so many rows of this, which nothing can be made of: it is in [doubt](RawTable::doubt), whatever is asked of it.
    Unreadable(usize, &'a str),
}

impl Values<'_> {
    fn len(self) -> usize {
        match self {
            Self::Numbers(values) | Self::Whole(values, _) | Self::Of(_, values) => values.len(),
            Self::Texts(values) => values.len(),
            Self::Owned(values) => values.len(),
            Self::Nothing(rows) | Self::Unreadable(rows, _) => rows,
        }
    }
}

/// The cells of a column, as they were read.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ColumnValues<'a> {
    /// Numbers, and dates as days since the beginning of 1970; NaN is a missing one.
    Numbers(&'a [f64]),
    /// Text, and what is doubtful.
    Texts {
        /// The different cells, sorted.
        values: &'a [String],
        /// Which of them each row has; `u32::MAX` is a missing one.
        codes: &'a [u32],
    },
}

/// A number as a category or label is called.
pub(super) fn number_text(x: f64) -> String {
    format!("{}", x + 0.0) // −0 is called 0
}

/// Bytes of a text that are taken at once.
const PIECE: usize = 1 << 17;

const TOO_LARGE: DataErrorKind = DataErrorKind::TooLarge { what: "a line of the text" };

/// What Windows-1252 has in place of the control characters from 128 to 159; five are left as they are.
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The bytes as text, without a byte order mark, and with a blank line for one that names the delimiter.
fn decode(piece: &pieces::Piece, encoding: Encoding) -> Result<Cow<'_, str>, Placed> {
    const KNOWN: [(&[u8], &str); 8] = [
        (b"PK\x03\x04", "a zip archive, as Excel's files are: save it as CSV"),
        (b"\xd0\xcf\x11\xe0", "an old file of Excel: save it as CSV"),
        (b"PAR1", "a Parquet file"),
        (b"\xfd7zXZ", "an xz archive"),
        (b"\x28\xb5\x2f\xfd", "zstd inside gzip or zstd"),
        (b"\xff\xfe", "UTF-16"),
        (b"\xfe\xff", "UTF-16"),
        (b"\x1f\x8b", "gzip inside gzip or zstd"),
    ];
    let (bytes, first) = (piece.bytes.as_slice(), piece.before == 0);
    if let Some(&(_, looks_like)) = KNOWN.iter().find(|(magic, _)| first && bytes.starts_with(magic)) {
        return Err(whole(DataErrorKind::Binary { looks_like }));
    }
    // Tab, line feed, form feed and carriage return are the control characters that text has.
    let control = |b: u8| b < 32 && !matches!(b, b'\t' | b'\n' | b'\r' | 12);
    if bytes.iter().fold(false, |any, &b| any | control(b)) {
        let saved = bytes.starts_with(crate::checkpoint::MAGIC);
        let looks_like = if saved { "a run that undercurve saved" } else { "binary data" };
        return Err(whole(DataErrorKind::Binary { looks_like }));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").filter(|_| first).unwrap_or(bytes);
    let bytes = if first && csv::separator(bytes).is_some() { &bytes[5..] } else { bytes };
    match core::str::from_utf8(bytes) {
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(_) if encoding == Encoding::Latin1 => {
            let char = |&b: &u8| if matches!(b, 128..160) { WINDOWS[usize::from(b - 128)] } else { char::from(b) };
            Ok(Cow::Owned(bytes.iter().map(char).collect()))
        }
        Err(error) => {
            let before = &bytes[..error.valid_up_to()];
            let line = 1 + before.iter().filter(|&&b| b == b'\n').count();
            Err((line as u32, 0, DataErrorKind::Encoding))
        }
    }
}

fn detect(text: &str, options: &ReadOptions, name: &str) -> Format {
    if options.format != Format::Auto {
        return options.format;
    }
    let lower = name.to_ascii_lowercase();
    let plain = [".gz", ".zst"].iter().find_map(|end| lower.strip_suffix(end)).unwrap_or(&lower);
    if [".csv", ".tsv"].iter().any(|end| plain.ends_with(end)) {
        return Format::Csv;
    }
    if [".svm", ".libsvm", ".svmlight"].iter().any(|end| plain.ends_with(end)) {
        return Format::Libsvm;
    }
    let (mut pairs, mut others) = (0, 0);
    for line in text.lines().take(20) {
        for token in line.split_once('#').map_or(line, |(data, _)| data).split_ascii_whitespace().skip(1) {
            let is_pair = token.split_once(':').is_some_and(|(index, value)| {
                !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()) && !value.contains([',', ';', ':'])
            });
            *(if is_pair { &mut pairs } else { &mut others }) += 1;
        }
    }
    if pairs > others { Format::Libsvm } else { Format::Csv }
}
