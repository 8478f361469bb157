//! Reading data files and saved models, and what is to be said of how they were read.

mod doubts;
pub(crate) mod labelled;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub(crate) mod scores;

use crate::args::data::DataPlan;
use crate::error::{CliError, Result, for_scores};
use crate::output;
use crate::tell::text::{likely, shell};
use crate::tell::{self, by_group::Grouping};
use indicatif::{ProgressDrawTarget, ProgressFinish};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use undercurve::Real;
use undercurve::checkpoint::SavedModel;
use undercurve::data::{
    ColumnValues, DataError, DataErrorKind, Dataset, Encoding, Format, Missing, Notation, Options, Preparation,
    RawTable, ReadOptions, Reading, check_label, first_rows, identifiers, label_column_of, unpacked,
};
use undercurve::trainer::{Config, Predictor};

pub use crate::args::layout::Layout;

/// Reads a file of scores; `-` is what comes in on stdin.
pub fn table(path: &Path, layout: Layout, label: Option<&str>) -> Result<RawTable> {
    parse_as(path, &mut read_options(layout, label), for_scores)
}

/// Reads a data file as these options say.
pub fn table_of(path: &Path, plan: &DataPlan) -> Result<RawTable> {
    let table = parse(path, &mut reads_of(plan))?;
    check_na(&plan.na, &table)?;
    plan.schema.as_ref().map_or(Ok(()), |schema| schema.check(&table)).map_err(CliError::Input)?;
    // (What is wrong with the label is told where it is needed.)
    let label = label_column_of(&table, &plan.options).ok().flatten();
    label.as_ref().map_or(Ok(()), |label| check_label(&table, label))?;
    Ok(labelled(table, label.as_deref()))
}

/// The table of a file, and the cells of its first rows as they are written.
pub fn table_and_cells(path: &Path, options: &mut ReadOptions, rows: usize) -> Result<(RawTable, Vec<Vec<String>>)> {
    #[cfg(feature = "parquet")]
    if parquet::is_parquet(path) {
        let file = File::open(path).map_err(|error| CliError::file(path, &error))?;
        return Ok((parquet::read(path, options)?, parquet::first_rows(file, rows)));
    }
    let name = path.display().to_string();
    let mut begun = Begun { reader: open(path, options)?, first: Vec::new() };
    let table = RawTable::read(&mut begun, options, &name)?;
    Ok((table, first_rows(&begun.first, options, &name, rows)))
}

/// A reader whose first bytes are kept.
struct Begun<R> {
    reader: R,
    first: Vec<u8>,
}

impl<R: Read> Read for Begun<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        const KEPT: usize = 1 << 20;
        let read = self.reader.read(out)?;
        self.first.extend_from_slice(&out[..read.min(KEPT - self.first.len())]);
        Ok(read)
    }
}

/// Refuses what stands for missing values in a column that is not there.
pub fn check_na(na: &[String], table: &RawTable) -> Result<()> {
    let names = table.columns();
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    let of = |text: &&String| all.iter().any(|name| text.strip_prefix(name).is_some_and(|rest| rest.starts_with('=')));
    let Some(text) = na.iter().find(|text| text.contains('=') && *text != "=" && !of(text)) else { return Ok(()) };
    let name = text.split('=').next().unwrap_or_default();
    let meant = likely(name, &all).map_or_else(String::new, |name| format!("; did you mean \"{name}\"?"));
    Err(CliError::input(format!(
        "--na {text}: {} has no column \"{name}\"{meant} (a text with = in it stands behind its column, as COLUMN={text})",
        table.name()
    )))
}

/// How these options say that a data file is read.
pub fn reads_of(plan: &DataPlan) -> ReadOptions {
    let (na, texts) = (plan.na.clone(), plan.options.categorical.clone());
    let mut reads = ReadOptions { na, texts, ..read_options(plan.layout, plan.options.label.as_deref()) };
    plan.schema.iter().for_each(|schema| schema.notations(&mut reads));
    reads.columns.retain(|(name, _)| plan.hash.iter().all(|of| of.0 != *name));
    reads.columns.extend(plan.hash.iter().map(|(name, buckets)| (name.clone(), Notation::hashed(*buckets))));
    reads
}

/// The rows that have a label; all of a table without the column.
fn labelled(mut table: RawTable, label: Option<&str>) -> RawTable {
    let gone = label.map_or(0, |label| table.leave_out_missing(label));
    if let (1.., Some(label)) = (gone, label) {
        let name = table.name();
        let at = table.columns().iter().position(|column| column == label).unwrap_or(0);
        let words: Vec<String> = table.words(at).iter().map(|(word, rows)| format!("{word:?} in {rows}")).collect();
        let words = if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) };
        unlabelled(name, gone, &words, label);
    }
    table
}

/// Says how many rows are left out for want of a label.
pub fn unlabelled(file: &str, gone: usize, words: &str, label: &str) {
    output::note(format_args!("{file}: {gone} rows have no value{words} in column \"{label}\" and are left out"));
}

/// Reads a data file for a model with this preparation: a first line, and missing values, are taken as in training.
pub fn table_again(path: &Path, layout: Layout, preparation: &Preparation) -> Result<RawTable> {
    let label = preparation.label_column();
    let mut options = read_options(layout, None);
    options.na = preparation.na().to_vec();
    if options.encoding == Encoding::Utf8 {
        options.encoding = preparation.encoding();
    }
    (options.texts, options.columns) = (preparation.texts(), preparation.known());
    options.label = label.map(str::to_string);
    // (A pipe cannot be read twice.)
    let piped = if path == Path::new("-") { Some(bytes(path)?) } else { None };
    let read = |options: &mut ReadOptions| match &piped {
        Some(bytes) => parse_from(&bytes[..], path, options, CliError::from),
        None => parse(path, options),
    };
    let table = read(&mut options)?;
    let known = |table: &RawTable| label.is_none_or(|label| table.columns().iter().any(|column| column == label));
    let either = !table.has_header() || table.header_is_guessed();
    if options.header.is_none() && either && !known(&table) && table.format() == Format::Csv {
        options.header = Some(!table.has_header());
        if let Ok(other) = read(&mut options)
            && known(&other)
        {
            return Ok(labelled(other, label));
        }
    }
    Ok(labelled(table, label))
}

/// The bytes of a file or of stdin, unpacked, and of a Parquet file its text; `options` then say what that is.
pub fn open(path: &Path, options: &mut ReadOptions) -> Result<Box<dyn Read>> {
    unpacked(source(path, options, true)?).map_err(|error| CliError::file(path, &error))
}

/// The same of a file that is open.
pub fn open_file(file: File, path: &Path, options: &mut ReadOptions) -> Result<Box<dyn Read>> {
    let again = file.try_clone().map_err(|error| CliError::file(path, &error))?;
    unpacked(begun(file, Some(again), path, options)?).map_err(|error| CliError::file(path, &error))
}

/// The bytes of a file or of stdin; `rows_follow`: whether rows are printed while it is read.
fn source(path: &Path, options: &mut ReadOptions, rows_follow: bool) -> Result<Box<dyn Read>> {
    if path == Path::new("-") {
        return begun(io::stdin(), None, path, options);
    }
    let in_file = |error| CliError::file(path, &error);
    let file = File::open(path).map_err(in_file)?;
    let about = file.metadata().map_err(in_file)?;
    let again = if about.is_file() { Some(file.try_clone().map_err(in_file)?) } else { None };
    if about.len() < LONG {
        return begun(file, again, path, options);
    }
    let form = "reading {wide_msg} {bytes}/{total_bytes} {bar:30} {eta} left";
    let bar = tell::bar(about.len(), form).with_finish(ProgressFinish::AndClear);
    bar.set_message(path.display().to_string());
    // (Nothing but the rows where they are written to the same terminal.)
    if output::is_terminal() && rows_follow {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    begun(bar.wrap_read(file), again, path, options)
}

/// Bytes of a file from which on its reading is shown.
const LONG: u64 = 1 << 25;

/// What comes from `reader`, or, where it begins as Parquet does, the text of the file.
fn begun(
    mut reader: impl Read + 'static,
    file: Option<File>,
    path: &Path,
    options: &mut ReadOptions,
) -> Result<Box<dyn Read>> {
    let mut first = Vec::new();
    reader.by_ref().take(4).read_to_end(&mut first).map_err(|error| CliError::file(path, &error))?;
    if first == b"PAR1" { parquet(file, path, options) } else { Ok(Box::new(io::Cursor::new(first).chain(reader))) }
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: Option<File>, path: &Path, _: &mut ReadOptions) -> Result<Box<dyn Read>> {
    Err(CliError::input(format!(
        "{}: a Parquet file, which this build does not read; one that does: cargo install --path demo --features parquet",
        path.display()
    )))
}

/// The text of a Parquet file, for what is read as text alone.
#[cfg(feature = "parquet")]
fn parquet(file: Option<File>, path: &Path, options: &mut ReadOptions) -> Result<Box<dyn Read>> {
    let shown = path.display();
    let file = file.ok_or_else(|| {
        CliError::input(format!("{shown}: Parquet is read from files alone, since its end has to be read first"))
    })?;
    parquet::check(path, options)?;
    (options.format, options.header) = (Format::Csv, Some(true));
    parquet::Text::new(file).map(|text| Box::new(text) as _).map_err(|error| parquet::told(path, error))
}

/// The table of a Parquet file; `None` of other files.
fn typed(path: &Path, options: &ReadOptions) -> Option<Result<RawTable>> {
    #[cfg(feature = "parquet")]
    if parquet::is_parquet(path) {
        return Some(parquet::read(path, options));
    }
    let _ = (path, options);
    None
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut reader = open(path, &mut ReadOptions::default())?;
    reader.read_to_end(&mut bytes).map_err(|error| CliError::file(path, &error))?;
    Ok(bytes)
}

fn parse(path: &Path, options: &mut ReadOptions) -> Result<RawTable> {
    parse_as(path, options, CliError::from)
}

/// The same with other words for what is wrong.
fn parse_as(path: &Path, options: &mut ReadOptions, told: fn(DataError) -> CliError) -> Result<RawTable> {
    if let Some(table) = typed(path, options) {
        return table;
    }
    parse_from(source(path, options, false)?, path, options, told)
}

fn parse_from(
    reader: impl Read,
    path: &Path,
    options: &ReadOptions,
    told: fn(DataError) -> CliError,
) -> Result<RawTable> {
    let table = RawTable::read(reader, options, &path.display().to_string()).map_err(told)?;
    if options.header == Some(true) && table.format() == Format::Libsvm {
        return Err(CliError::input(format!("--header yes: {} is LIBSVM, which names no columns", table.name())));
    }
    let nameless = options.header == Some(false) && table.format() == Format::Csv;
    if let Some(label) = options.label.as_ref().filter(|label| nameless && !table.columns().contains(label)) {
        let columns = table.columns().len();
        return Err(CliError::input(format!(
            "--header no: without names the columns are x1 to x{columns}, or 1 to {columns}, and there is no {label} among them"
        )));
    }
    Ok(table)
}

/// What a first line was taken for that could be names or a row.
pub fn guessed(table: &RawTable) -> Option<&'static str> {
    let taken = if table.has_header() {
        "the first line was taken for names of columns; if it is a row, say --header no"
    } else {
        "the first line was taken for a row; if it names the columns, say --header yes"
    };
    table.header_is_guessed().then_some(taken)
}

/// Names of columns in a sentence, the first ten.
pub fn listed(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(10).map(|name| format!("\"{name}\"")).collect();
    let more = if names.len() > 10 { format!(" and {} more", names.len() - 10) } else { String::new() };
    let columns = if names.len() == 1 { "column" } else { "columns" };
    format!("{columns} {}{more}", shown.join(", "))
}

/// The same as the value of an option, all of them.
pub fn as_value(names: &[&str]) -> String {
    shell(&names.join(","))
}

/// What is to be said of how a table was read that one may take for something else, a line a kind: of its first line, and with the
/// options of a preparation of its columns.
pub fn reading_notes(table: &RawTable, options: Option<&Options>, file: &Path) -> Vec<String> {
    let file = file.display();
    let mut notes: Vec<String> = guessed(table).map(|taken| format!("{file}: {taken}")).into_iter().collect();
    let Some(options) = options else { return notes };
    let names = table.columns();
    let places: BTreeMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
    let left_out: BTreeMap<String, usize> = identifiers(table, options).into_iter().collect();
    notes.extend(identifier_notes(table, &left_out).into_iter().map(|text| format!("{file}: {text}")));
    let empty = table.empty();
    let empty: Vec<&str> = empty.iter().filter(|name| !options.ignore.contains(name)).map(String::as_str).collect();
    if options.missing == Missing::Impute && !empty.is_empty() {
        notes.push(format!(
            "{file}: {} {}",
            listed(&empty),
            if empty.len() == 1 { "has no values and is left out" } else { "have no values and are left out" }
        ));
    }
    let label = label_column_of(table, options).ok().flatten();
    let unread = |name: &str| options.ignore.iter().chain(&label).any(|other| other == name);
    let told = |name: &str| options.categorical.iter().any(|other| other == name);
    let mut kinds: Vec<(Reading, Vec<&str>)> = Vec::new();
    for (name, reading) in table.readings().into_iter().filter(|(name, _)| !unread(name)) {
        let at = places.get(name).copied();
        let known = match reading {
            // (Of text among numbers, of months, and of what is in doubt, there is more to say.)
            Reading::Signs => {
                let more = |at| match table.column(at) {
                    Some(ColumnValues::Texts { values, .. }) => doubts::with_numbers(values, false).is_some(),
                    _ => false,
                };
                told(name) || at.is_some_and(|at| table.stray(at).is_some() || table.doubt(at).is_some() || more(at))
            }
            // (Of a counter that is left out, that was said above.)
            Reading::Counter => left_out.contains_key(name),
            Reading::Rounded | Reading::Padded | Reading::Exponents => told(name),
            _ => false,
        };
        if !known {
            match kinds.iter_mut().find(|kind| kind.0 == reading) {
                Some((_, names)) => names.push(name),
                None => kinds.push((reading, vec![name])),
            }
        }
    }
    let is_asked = |at: usize, name: &str| !unread(name) && !told(name) && table.doubt(at).is_none();
    let is_left_out = |name: &str| left_out.contains_key(name);
    notes.extend(doubts::notes(table, is_asked, is_left_out).into_iter().map(|text| format!("{file}: {text}")));
    let example = |name: &str| places.get(name).and_then(|&at| table.first_text(at)).map_or("", |(_, text)| text);
    let each = kinds.iter().filter_map(|(reading, names)| reading_note(*reading, names, example(names[0])));
    notes.extend(each.map(|text| format!("{file}: {text}")));
    notes
}

/// What is to be said of cells as they are written, of the first rows; `decimal`: whether the decimal mark was said.
pub fn written_notes(
    table: &RawTable,
    written: &[Vec<String>],
    decimal: bool,
    options: &Options,
    file: &Path,
) -> Vec<String> {
    let label = label_column_of(table, options).ok().flatten();
    let said = |name: &str| options.ignore.iter().chain(&options.categorical).chain(&label).any(|other| other == name);
    let notes = doubts::written(table, written, decimal, |at, name| !said(name) && table.doubt(at).is_none());
    notes.into_iter().map(|text| format!("{}: {text}", file.display())).collect()
}

/// That columns were left out because they tell rows apart, with how many different values each has.
fn identifier_notes(table: &RawTable, left_out: &BTreeMap<String, usize>) -> Vec<String> {
    let mut notes = Vec::new();
    let places: BTreeMap<String, usize> = table.columns().into_iter().zip(0..).collect();
    for (what, texts) in [("texts", true), ("numbers", false)] {
        let is_text = |name: &str| places.get(name).is_some_and(|&at| table.first_text(at).is_some());
        let of: Vec<(&str, usize)> =
            left_out.iter().map(|(name, count)| (name.as_str(), *count)).filter(|of| is_text(of.0) == texts).collect();
        let columns: Vec<&str> = of.iter().map(|of| of.0).collect();
        let takes = |it: &str| match texts {
            true => format!("; --categorical {} takes {it}", as_value(&columns)),
            false => format!("; --ignore {} says so", as_value(&columns)),
        };
        let rows = table.rows();
        match of.as_slice() {
            [] => {}
            [(name, count)] => notes.push(format!(
                "column \"{name}\" has {count} different {what} in {rows} rows and is left out as an identifier{}",
                takes("it")
            )),
            all => {
                let each: Vec<String> = all.iter().map(|(name, count)| format!("\"{name}\" ({count})")).collect();
                notes.push(format!(
                    "columns {} have mostly different {what} in {rows} rows and are left out as identifiers{}",
                    each.join(", "),
                    takes("them")
                ));
            }
        }
    }
    notes
}

/// What the values of some columns were taken for; `example`: a text of the first.
fn reading_note(reading: Reading, names: &[&str], example: &str) -> Option<String> {
    let (columns, value) = (listed(names), as_value(names));
    let (it, leaves) = if names.len() == 1 { ("it", "leaves it out") } else { ("them", "leaves them out") };
    let either = || format!("--categorical {value} takes {it} as categories, --ignore {value} {leaves}");
    Some(match reading {
        Reading::Commas => format!("commas in the numbers of {columns} were read as points"),
        Reading::Thousands => format!("marks between thousands in {columns} were left out"),
        Reading::Percent => format!("percent signs in {columns} were left out, so that 5.7% is 5.7"),
        Reading::Currency => format!("a currency in {columns} was left out"),
        Reading::Dates => format!("dates in {columns} were read as days since 1970-01-01; --ignore {value} {leaves}"),
        Reading::Times => {
            format!("times of the day in {columns} were read as days, so that 18:00 is 0.75; {}", either())
        }
        Reading::Durations => format!("durations in {columns} were read as days; {}", either()),
        Reading::ShortYears => format!("years of two digits in {columns} were read as 1940 to 2039"),
        Reading::Limits => format!(
            "limits, as <0.5, in {columns} were read as numbers, and \"{name}=(below)\" or \"{name}=(above)\" says which; \
             --categorical {value} takes all as text",
            name = names[0]
        ),
        Reading::Rounded => format!("whole numbers beyond 2^53 in {columns} were rounded; {}", either()),
        Reading::Padded => format!("numbers with zeros before them in {columns} were read as numbers; {}", either()),
        Reading::Exponents => {
            format!("whole numbers with exponents, as 1E5, in {columns} were read as numbers; {}", either())
        }
        Reading::Twice => {
            format!("{columns} had a name that an earlier column has; --ignore {value} {leaves}")
        }
        Reading::Counter if names.len() == 1 => format!("{columns} counts the rows; --ignore {value} {leaves}"),
        Reading::Counter => format!("{columns} count the rows; --ignore {value} {leaves}"),
        Reading::Signs => format!("{example:?} in {columns} is text: numbers have digits and one point alone"),
        _ => return None,
    })
}

/// More alerts than rows.
pub fn want_refused(error: undercurve_search::Error) -> CliError {
    CliError::input(format!("--want: {error}"))
}

/// Says notes on stderr.
pub fn say(notes: &[String]) {
    notes.iter().for_each(output::note);
}

/// Says it with an error about the columns, which may come from there.
pub fn or_header(error: CliError, guessed: Option<&str>) -> CliError {
    match (error, guessed) {
        (CliError::Input(text), Some(taken)) => CliError::Input(format!("{text}; {taken}")),
        (error, _) => error,
    }
}

/// How to read a file whose label column may be named.
pub fn read_options(layout: Layout, label: Option<&str>) -> ReadOptions {
    // A number is a position, not a name to look for in the first line.
    let label = label.filter(|label| label.parse::<i64>().is_err()).map(str::to_string);
    let Layout { format, header, encoding, decimal, dates, skip, skip_end } = layout;
    ReadOptions { format, label, header, encoding, decimal, dates, skip, skip_end, ..ReadOptions::default() }
}

/// The column of that name, or else of that number: from 1, or -1 for the last.
pub fn named(columns: &[String], name: &str) -> Option<String> {
    let by_number = || match name.parse::<i64>() {
        Ok(-1) => columns.last(),
        Ok(number) => usize::try_from(number).ok()?.checked_sub(1).and_then(|at| columns.get(at)),
        Err(_) => None,
    };
    columns.iter().find(|column| *column == name).or_else(by_number).cloned()
}

/// Refuses the label column among those that are something else.
pub fn check_columns(options: &Options, table: &RawTable) -> Result<()> {
    let label = label_column_of(table, options).map_err(|error| or_header(error.into(), guessed(table)))?;
    for (option, columns) in [
        ("group", &options.group[..]),
        ("ignore", &options.ignore),
        ("weight", options.weight.as_slice()),
        ("split-by or --split-group", options.split_by.as_ref().map_or(&[], |by| std::slice::from_ref(by.column()))),
    ] {
        if let Some(column) = columns.iter().find(|column| label.as_ref() == Some(column)) {
            return Err(CliError::input(format!("--{option} {column}: is the label column of {}", table.name())));
        }
    }
    Ok(())
}

/// Reads a saved model.
pub fn saved(path: &Path) -> Result<SavedModel> {
    let bytes = std::fs::read(path).map_err(|error| CliError::file(path, &error))?;
    SavedModel::from_bytes(&bytes).map_err(|error| CliError::input(format!("{}: {error}", path.display())))
}

/// The model of a file.
pub fn model<T: Real>(path: &Path, saved: &SavedModel) -> Result<Predictor<T>> {
    Predictor::of(saved).map_err(|error| CliError::input(format!("{}: {error}", path.display())))
}

/// Data with the groups that these columns make of the table, or, where none are named, as they are.
pub fn group<T: Real>(of: &Preparation, table: &RawTable, data: Dataset<T>, columns: &[String]) -> Result<Dataset<T>> {
    if columns.is_empty() {
        return Ok(data);
    }
    check_grouping(of, table, columns)?;
    of.grouped(table, data, columns).map_err(|error| match error.kind {
        DataErrorKind::Missing { .. } => {
            CliError::input(format!("{error}; each row needs its group: write one, as \"none\", or leave the row out"))
        }
        _ => error.into(),
    })
}

/// A preparation with the groups that these columns make of the table, in place of those that it knew.
pub fn with_groups(of: &Preparation, table: &RawTable, columns: &[String]) -> Result<Preparation> {
    check_grouping(of, table, columns)?;
    Ok(of.clone().with_groups(table, columns)?)
}

/// Refuses the label column among those that make groups.
fn check_grouping(of: &Preparation, table: &RawTable, columns: &[String]) -> Result<()> {
    if let Some(label) = of.label_column().filter(|label| columns.iter().any(|column| column == label)) {
        return Err(CliError::input(format!("--group {label}: is the label column of {}", table.name())));
    }
    Ok(())
}

/// Data with the weights of a column of the table, where one is named, or else as they are.
pub fn weigh<T: Real>(
    of: &Preparation,
    table: &RawTable,
    data: Dataset<T>,
    column: Option<&String>,
) -> Result<Dataset<T>> {
    let Some(column) = column else { return Ok(data) };
    if of.label_column() == Some(column) {
        return Err(CliError::input(format!("--weight {column}: is the label column of {}", table.name())));
    }
    Ok(of.weighted(table, data, column)?)
}

/// What the weights of some rows come to, in words; `None` without weights.
pub fn weights_told(weights: &[f64], column: &str) -> Option<String> {
    let sum: f64 = weights.iter().sum();
    let squares: f64 = weights.iter().map(|w| w * w).sum();
    let rows = weights.iter().filter(|&&w| w > 0.0).count();
    let told =
        || format!("weights from column {column}, sum {sum}, effective rows {:.1} of {rows}", sum * sum / squares);
    (!weights.is_empty()).then(told)
}

/// What a row of each class counts, in words; `None` where all count alike.
pub fn class_weights_told(config: &Config, of: &Preparation) -> Option<String> {
    let each =
        of.class_names().into_iter().zip(&config.class_weights).map(|(name, weight)| format!("{name} {weight:.6}"));
    (!config.class_weights.is_empty()).then(|| format!("class weights {}", each.collect::<Vec<_>>().join(", ")))
}

/// The groups of data that have some, of which training had the first `known`.
pub fn grouping<T: Real>(data: &Dataset<T>, known: usize) -> Option<Grouping<'_>> {
    let there = !data.group_of().is_empty();
    there.then(|| Grouping { of: data.group_of(), names: data.group_names(), known })
}

/// Says on stderr what the preparation did that one may not expect. `fitted`: on these rows.
pub fn notes<T: Real>(data: &Dataset<T>, file: &str, known_groups: usize, fitted: bool) {
    let summary = data.summary();
    counts(file, &summary.missing, if fitted { &[] } else { &summary.unseen }, summary.beyond);
    for (column, count) in summary.unseen.iter().filter(|_| fitted) {
        output::note(format_args!(
            "{file}: column \"{column}\" has more categories than features fit into memory; its rarest, of {count} rows, count as none"
        ));
    }
    for (at, name) in data.group_names().iter().enumerate().skip(known_groups) {
        let count = data.group_of().iter().filter(|&&group| group as usize == at).count();
        output::note(format_args!("{file}: {count} rows are of a group that training did not have, \"{name}\""));
    }
}

/// Says on stderr what was filled in, unknown or left out: columns and how many values.
pub fn counts(file: &str, missing: &[(String, usize)], unseen: &[(String, usize)], beyond: usize) {
    if !missing.is_empty() {
        let each: Vec<String> = missing.iter().map(|(column, count)| format!("{count} in \"{column}\"")).collect();
        output::note(format_args!("{file}: missing values were filled in, {}", each.join(", ")));
    }
    for (column, count) in unseen {
        output::note(format_args!(
            "{file}: {count} values of column \"{column}\" did not occur in training and count as none"
        ));
    }
    if beyond > 0 {
        output::note(format_args!("{file}: {beyond} values in columns beyond those of training were left out"));
    }
}
