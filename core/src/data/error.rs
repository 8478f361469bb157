//! The error of reading and preparing data: one line that names file, line and cell.

mod doubt;
mod kind;

pub use doubt::Doubt;
pub use kind::Kind;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Classes there may be. More label values than this are rather numbers to predict.
pub const MAX_CLASSES: usize = 1000;

/// The most columns that LIBSVM input may have. A model is as wide as the largest index, so one stray index must not
/// ask for gigabytes.
pub const MAX_COLUMNS: u32 = 1 << 26;

/// What is wrong with the input, and where.
///
/// `Display` gives exactly one line, `file:line:column: what`, without the parts that are not known:
///
/// ```
/// use undercurve::data::{Format, RawTable};
/// let error = RawTable::parse(b"-1 2:1\n+1 0:1\n", Format::Libsvm, "bad.svm").unwrap_err();
/// assert_eq!(error.to_string(), "bad.svm:2:2: index 0, but LIBSVM counts columns from 1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataError {
    /// The name the caller gave the input.
    pub file: String,
    /// Line in the unpacked text, from 1; 0 when the whole file is meant.
    pub line: u32,
    /// Cell of the line, from 1: the CSV field, or the LIBSVM token (the label is token 1). 0 when the line is meant.
    pub column: u32,
    /// What is wrong.
    pub kind: DataErrorKind,
}

impl DataError {
    /// Its number in [`CODES`](crate::CODES): that of the core's error where it is one.
    #[must_use]
    pub const fn code(&self) -> u16 {
        match &self.kind {
            DataErrorKind::Core(error) => error.code(),
            _ => 151,
        }
    }

    /// That there is no such column among these.
    #[must_use]
    pub fn no_column(file: &str, name: &str, columns: &[String]) -> Self {
        let kind = DataErrorKind::MissingColumn { name: name.into(), columns: columns.to_vec() };
        Self { file: file.into(), line: 0, column: 0, kind }
    }

    /// In a file of this name, with so many lines before those that the place counts.
    pub(super) fn placed(file: &str, (line, column, kind): Placed, before: u32) -> Self {
        let line = if line > 0 { line.saturating_add(before) } else { 0 };
        Self { file: String::from(file), line, column, kind }
    }
}

/// The kinds of [`DataError`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataErrorKind {
    /// No line with content.
    Empty,
    /// One line of column names and no row.
    HeaderOnly,
    /// Not text.
    Binary {
        /// What it looks like.
        looks_like: &'static str,
    },
    /// Text that is not UTF-8.
    Encoding,
    /// gzip data that stops in the middle.
    GzipTruncated,
    /// gzip data that does not unpack to what its checksum says.
    GzipCorrupt,
    /// zstd data that stops in the middle, or does not unpack.
    ZstdDamaged,
    /// zstd data in a build without the feature `zstd`.
    ZstdUnsupported,
    /// The system does not give the bytes.
    Unreadable {
        /// What it says.
        text: String,
    },
    /// gzip data in a build without the feature `std`.
    GzipUnsupported,
    /// More than this build can hold.
    TooLarge {
        /// What is too large.
        what: &'static str,
    },
    /// A row with another number of cells than the first line.
    Ragged {
        /// Cells of the first line.
        need: usize,
        /// Cells of this one.
        got: usize,
    },
    /// A quoted cell that is still open at the end of the file.
    OpenQuote,
    /// Two columns of one name.
    DuplicateColumn {
        /// The name.
        name: String,
    },
    /// There is no such column.
    MissingColumn {
        /// The column asked for.
        name: String,
        /// The columns there are.
        columns: Vec<String>,
    },
    /// No label column was named and none has one of the usual names.
    NoLabelColumn {
        /// The columns there are.
        columns: Vec<String>,
    },
    /// Nothing is left to learn from besides the label.
    NoFeatures,
    /// A value is missing and missing values are refused.
    Missing {
        /// The column.
        column: String,
    },
    /// A row without a label.
    MissingLabel,
    /// NaN or infinite, as written or in the number type used.
    NonFinite {
        /// The cell as written, or the number.
        text: String,
    },
    /// Text in a column of numbers.
    NotANumber {
        /// The cell.
        text: String,
        /// The column.
        column: String,
    },
    /// A column whose numbers or dates can be read in two ways.
    Doubtful {
        /// What is open.
        doubt: Doubt,
        /// The column.
        column: String,
        /// A cell that shows it.
        text: String,
        /// Another one, where two contradict each other.
        other: String,
    },
    /// The mean or the deviation of a column does not fit an `f64`.
    Spread {
        /// The column.
        column: String,
    },
    /// All labels are the same.
    OneClass {
        /// The one value.
        label: String,
        /// The label column, where columns have names.
        column: Option<String>,
    },
    /// More than two label values, and no positive one named; the place is the first row with a third value.
    ManyLabels {
        /// The first values in order.
        labels: Vec<String>,
        /// There are more than listed.
        more: bool,
    },
    /// No row has the positive value asked for.
    PositiveAbsent {
        /// The value asked for.
        positive: String,
        /// The first values there are, in order.
        labels: Vec<String>,
    },
    /// A label that training did not know.
    UnknownLabel {
        /// The label.
        text: String,
        /// The negative and the positive value of training.
        known: [String; 2],
    },
    /// A word that can stand for a missing label, or be a class, in a twentieth of the rows or more.
    LabelWord {
        /// The word.
        word: String,
        /// Rows that have it.
        rows: usize,
        /// The label column.
        column: String,
    },
    /// Two labels that are one number.
    LabelTwice {
        /// One of them, as it is written.
        text: String,
        /// The other.
        other: String,
        /// The label column.
        column: String,
    },
    /// Labels that differ from the positive one, or from each other, by case or blanks alone.
    LabelSpellings {
        /// All of them, the positive one first.
        labels: Vec<String>,
    },
    /// A column of another kind than training had.
    OtherKind {
        /// The column.
        column: String,
        /// What training had.
        had: Kind,
        /// What it has now.
        got: Kind,
    },
    /// More label values than there may be classes.
    ManyClasses,
    /// A class with one row, which cannot be in both parts of a split.
    LoneRow {
        /// The class.
        label: String,
    },
    /// A class of training without a row.
    AbsentClass {
        /// The class.
        label: String,
    },
    /// A label that is none of training's classes.
    UnknownClass {
        /// The label.
        text: String,
        /// The classes.
        classes: Vec<String>,
    },
    /// All rows are in one group.
    OneGroup {
        /// The columns that make groups.
        columns: Vec<String>,
        /// The group.
        name: String,
    },
    /// More groups than [`MAX_GROUPS`](crate::metric::MAX_GROUPS).
    ManyGroups {
        /// The columns that make groups.
        columns: Vec<String>,
    },
    /// Groups of sparse rows, whose columns have no names.
    NoGroupColumns,
    /// A weight below 0, or infinite.
    Weight {
        /// As written.
        text: String,
        /// The column.
        column: String,
    },
    /// Weights of sparse rows, whose columns have no names.
    NoWeightColumn,
    /// Text in a column that splits order rows by.
    NoOrder {
        /// The cell.
        text: String,
        /// The column.
        column: String,
    },
    /// A split by a column of sparse rows, whose columns have no names.
    NoSplitColumn,
    /// LIBSVM rows and a column of queries by name: theirs are `qid:` numbers.
    NoQueryColumn,
    /// A LIBSVM row without `qid:` after rows with it.
    NoQuery,
    /// A LIBSVM label that is no number.
    BadLabel {
        /// The text that was found.
        text: String,
    },
    /// A LIBSVM token that is not `index:value`.
    BadToken {
        /// The text that was found.
        text: String,
    },
    /// LIBSVM index 0.
    IndexZero,
    /// A LIBSVM index that repeats the one before.
    IndexRepeated {
        /// The index.
        index: u32,
    },
    /// A LIBSVM index smaller than the one before.
    IndexDescends {
        /// The index.
        index: u32,
        /// The one before.
        previous: u32,
    },
    /// A LIBSVM index above [`MAX_COLUMNS`](crate::data::MAX_COLUMNS).
    IndexLarge {
        /// The index as written.
        text: String,
    },
    /// Encoded or centred rows would take too much memory.
    TooWide {
        /// Number of rows.
        rows: usize,
        /// Columns after encoding.
        columns: usize,
        /// The column with the most categories, empty for sparse input.
        widest: String,
    },
    /// The data is of another kind (table or sparse) than what the preparation was fitted on.
    OtherFormat,
    /// A parameter or an array is wrong.
    Core(crate::Error),
}

/// Text from the input, quoted, on one line and not too long.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 40;
        f.write_str("\"")?;
        for c in self.0.chars().take(SHOWN) {
            match c {
                '\'' => f.write_str("'")?,
                _ => write!(f, "{}", c.escape_debug())?,
            }
        }
        f.write_str(if self.0.chars().nth(SHOWN).is_some() { "…\"" } else { "\"" })
    }
}

/// Names with commas, the first twenty.
struct Listed<'a>(&'a [String]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 20;
        for (i, name) in self.0.iter().take(SHOWN).enumerate() {
            write!(f, "{}{}", if i == 0 { "" } else { ", " }, Quoted(name))?;
        }
        if self.0.len() > SHOWN { write!(f, ", … ({} in all)", self.0.len()) } else { Ok(()) }
    }
}

impl fmt::Display for DataErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the file is empty"),
            Self::HeaderOnly => f.write_str("a header and no rows"),
            Self::Binary { looks_like } => write!(f, "not a text file (it looks like {looks_like})"),
            Self::Encoding => f.write_str("the text is not UTF-8"),
            Self::GzipTruncated => f.write_str("the gzip data is cut off"),
            Self::GzipCorrupt => f.write_str("the gzip data is damaged"),
            Self::ZstdDamaged => f.write_str("the zstd data is cut off or damaged"),
            Self::ZstdUnsupported => f.write_str("zstd data, and this build does not read it"),
            Self::Unreadable { text } => f.write_str(text),
            Self::GzipUnsupported => f.write_str("gzip data, and this build reads plain text only"),
            Self::TooLarge { what } => write!(f, "{what} is too large"),
            Self::Ragged { need, got } => {
                write!(f, "{got} cell{}, but the first line has {need}", if *got == 1 { "" } else { "s" })
            }
            Self::OpenQuote => f.write_str("a quoted cell never ends"),
            Self::DuplicateColumn { name } => write!(f, "two columns are called {}", Quoted(name)),
            Self::MissingColumn { name, columns } => {
                write!(f, "there is no column {}; the columns are {}", Quoted(name), Listed(columns))
            }
            Self::NoLabelColumn { columns } => {
                write!(f, "which column is the label? Name it; the columns are {}", Listed(columns))
            }
            Self::NoFeatures => f.write_str("there is no column besides the label"),
            Self::Missing { column } => {
                write!(f, "missing value in column {}", Quoted(column))
            }
            Self::MissingLabel => f.write_str("the label is missing"),
            Self::NonFinite { text } => write!(f, "value {} is not finite", Quoted(text)),
            Self::NotANumber { text, column } => write!(
                f,
                "value {} in column {} of numbers (a categorical column has to be named as one)",
                Quoted(text),
                Quoted(column)
            ),
            Self::Doubtful { doubt, column, text, other } => doubt.tell(f, column, text, other),
            Self::Spread { column } => write!(f, "the values of column {} are too large to scale", Quoted(column)),
            Self::OneClass { label, column: Some(column) } => {
                write!(f, "every label in column {} is {}, and two classes are needed", Quoted(column), Quoted(label))
            }
            Self::OneClass { label, column: None } => {
                write!(f, "every label is {}, and two classes are needed", Quoted(label))
            }
            Self::ManyLabels { labels, more } => write!(
                f,
                "the third of more than two label values ({}{}); correct a wrong one, or name the positive one",
                Listed(labels),
                if *more { ", …" } else { "" }
            ),
            Self::PositiveAbsent { positive, labels } => {
                write!(f, "no label is {}; the labels are {}", Quoted(positive), Listed(labels))
            }
            Self::UnknownLabel { text, known } => {
                write!(f, "label {}, but training knew {} and {}", Quoted(text), Quoted(&known[0]), Quoted(&known[1]))
            }
            Self::LabelWord { word, rows, column } => write!(
                f,
                "label {} of column {} in {rows} rows: a class of its own, or no label?",
                Quoted(word),
                Quoted(column)
            ),
            Self::LabelTwice { text, other, column } => {
                write!(
                    f,
                    "labels {} and {} of column {} are the same number",
                    Quoted(text),
                    Quoted(other),
                    Quoted(column)
                )
            }
            Self::LabelSpellings { labels } => write!(
                f,
                "labels {} differ by case or blanks alone: name all that are positive, or write them alike",
                Listed(labels)
            ),
            Self::OtherKind { column, had, got } => {
                write!(f, "column {} has {}, where training had {}", Quoted(column), got.name(), had.name())
            }
            Self::ManyClasses => write!(
                f,
                "more than {} label values, which are too many classes (is the label a number to predict?)",
                MAX_CLASSES
            ),
            Self::LoneRow { label } => write!(f, "class {} has one row, and a split needs two", Quoted(label)),
            Self::AbsentClass { label } => {
                write!(f, "no row of class {}, and every class of training is needed", Quoted(label))
            }
            Self::UnknownClass { text, classes } => {
                write!(f, "label {}, but training knew the classes {}", Quoted(text), Listed(classes))
            }
            Self::OneGroup { columns, name } => {
                write!(f, "all rows are in one group, {}, of {}; two are needed", Quoted(name), Listed(columns))
            }
            Self::ManyGroups { columns } => {
                write!(f, "{} make more than {} groups", Listed(columns), crate::metric::MAX_GROUPS)
            }
            Self::NoOrder { text, column } => write!(
                f,
                "{} in column {} is neither a number nor a date, and the rows are to be ordered by it",
                Quoted(text),
                Quoted(column)
            ),
            Self::NoSplitColumn => f.write_str("sparse rows have no names of columns, so none that a split goes by"),
            Self::NoGroupColumns => f.write_str("groups are made of named columns, and LIBSVM has none"),
            Self::Weight { text, column } => {
                write!(f, "weight {} in column {} is not a number of 0 or more", Quoted(text), Quoted(column))
            }
            Self::NoWeightColumn => f.write_str("weights are those of a named column, and LIBSVM has none"),
            Self::NoQueryColumn => f.write_str(
                "queries of a named column, and LIBSVM has none; those of its rows, qid:NUMBER, are called qid",
            ),
            Self::NoQuery => f.write_str("no qid:NUMBER behind the label, as in the rows before"),
            Self::BadLabel { text } => write!(f, "label {} is not a number", Quoted(text)),
            Self::BadToken { text } => write!(f, "{} is not index:value", Quoted(text)),
            Self::IndexZero => f.write_str("index 0, but LIBSVM counts columns from 1"),
            Self::IndexRepeated { index } => write!(f, "index {index} a second time"),
            Self::IndexDescends { index, previous } => write!(f, "index {index} after {previous}; indices must ascend"),
            Self::IndexLarge { text } => {
                write!(f, "index {} is above the limit of {}", Quoted(text), crate::data::MAX_COLUMNS)
            }
            Self::TooWide { rows, columns, widest } if widest.is_empty() => {
                write!(
                    f,
                    "{rows} rows × {columns} columns are too many to centre; scale = unit or none keeps them sparse"
                )
            }
            Self::TooWide { rows, columns, widest } => write!(
                f,
                "{rows} rows × {columns} columns after encoding are too many; column {} has the most categories",
                Quoted(widest)
            ),
            Self::OtherFormat => {
                f.write_str("a table with named columns where sparse rows were trained on, or the reverse")
            }
            Self::Core(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.file.chars() {
            // A name with a line break in it must not break the promise of one line.
            if c.is_control() { write!(f, "{}", c.escape_debug())? } else { write!(f, "{c}")? }
        }
        match (self.line, self.column) {
            (0, _) => {}
            (line, 0) => write!(f, ":{line}")?,
            (line, column) => write!(f, ":{line}:{column}")?,
        }
        if !self.file.is_empty() || self.line > 0 {
            f.write_str(": ")?;
        }
        self.kind.fmt(f)
    }
}

impl core::error::Error for DataError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match &self.kind {
            DataErrorKind::Core(error) => Some(error),
            _ => None,
        }
    }
}

impl From<crate::Error> for DataErrorKind {
    fn from(error: crate::Error) -> Self {
        Self::Core(error)
    }
}

/// A kind with its place, before the file's name is known.
pub(super) type Placed = (u32, u32, DataErrorKind);

/// A kind that concerns the whole file.
pub(super) fn whole(kind: DataErrorKind) -> Placed {
    (0, 0, kind)
}
