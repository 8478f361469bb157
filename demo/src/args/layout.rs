//! How data files are laid out and written, in words.

use crate::args::{Word, words};
use undercurve::data::{DateOrder, Decimal, Encoding, Format, Missing};

/// `--format`.
pub const FORMATS: &[Word<Format>] = &[
    ("auto", "By the file's name, else by its content", Format::Auto),
    ("csv", "Cells with commas, semicolons, tabs or bars between them", Format::Csv),
    ("libsvm", "label index:value …", Format::Libsvm),
    ("whitespace", "Cells with blanks or tabs between them, any number", Format::Whitespace),
];

/// `--header`: whether the first line names the columns; `None` to find out.
pub type Header = Option<bool>;
/// Its words.
pub const HEADERS: &[Word<Header>] = &[
    ("auto", "Looks at the first hundred rows", None),
    ("yes", "The first line names the columns", Some(true)),
    ("no", "The first line is a row", Some(false)),
];

/// `--decimal`.
pub const DECIMALS: &[Word<Decimal>] = &[("point", "1,234.5", Decimal::Point), ("comma", "1.234,5", Decimal::Comma)];

/// `--dates`.
pub const DATES: &[Word<DateOrder>] = &[
    ("day", "31/12/2024", DateOrder::Day),
    ("month", "12/31/2024", DateOrder::Month),
    ("year", "24-12-31", DateOrder::Year),
];

/// `--encoding`.
pub const ENCODINGS: &[Word<Encoding>] = &[
    ("utf8", "UTF-8, or UTF-16 with its byte order mark", Encoding::Utf8),
    ("latin1", "Latin-1 as Windows has it (Windows-1252)", Encoding::Latin1),
];

/// How a data file is laid out and written.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub struct Layout {
    /// Layout of the file: auto, csv (commas, semicolons, tabs or bars), whitespace or libsvm, each plain, gzip or zstd; in a
    /// build with the feature `parquet` also Parquet, which counts as csv
    #[arg(long, value_name = "FORMAT", default_value = "auto", hide_possible_values = true, value_parser = words(FORMATS))]
    pub format: Format,
    /// Whether the first line of a CSV file names the columns: yes, no, or auto, which looks for numbers below names and
    /// for the usual names of the label
    #[arg(long, value_name = "WHETHER", default_value = "auto", hide_possible_values = true, value_parser = words(HEADERS))]
    pub header: Header,
    /// Encoding of the text: utf8 (also UTF-16 with its byte order mark) or latin1 (Windows-1252)
    #[arg(long, value_name = "NAME", default_value = "utf8", hide_possible_values = true, value_parser = words(ENCODINGS))]
    pub encoding: Encoding,
    /// Decimal mark of the numbers: point or comma [default: what the cells of a column show, else those of other columns; for a
    /// model what it was trained on]
    #[arg(long, value_name = "MARK", hide_possible_values = true, value_parser = words(DECIMALS))]
    pub decimal: Option<Decimal>,
    /// What comes first in dates like 03/04/2024 and 03/04/24: day, month or (of two digits) year [default: what the cells of a column show]
    #[arg(long, value_name = "WHICH", hide_possible_values = true, value_parser = words(DATES))]
    pub dates: Option<DateOrder>,
    /// Lines to leave out before the first that counts
    #[arg(long, value_name = "LINES", default_value_t = 0, hide_default_value = true)]
    pub skip: u32,
    /// Lines to leave out behind the last that counts, as footers
    #[arg(long, value_name = "LINES", default_value_t = 0, hide_default_value = true)]
    pub skip_end: u32,
}

/// `--missing`.
pub const MISSING: &[Word<Missing>] = &[
    ("refuse", "A missing value is an error", Missing::Refuse),
    (
        "impute",
        "The training mean, with a column NAME=(missing) that says where, if training had some; a category of its own in a \
         categorical column (default)",
        Missing::Impute,
    ),
];
