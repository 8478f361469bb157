//! What there is to say of a table.

use crate::error::{self, CliError, Result};
use crate::input;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use undercurve::data::{
    ColumnValues, DataErrorKind, DateOrder, Decimal, Doubt, Missing, Notation, Options, Preparation, RawTable, Reading,
    Values, identifiers, label_column_of, label_values,
};
use undercurve_search::{AWAY, column_auroc};

/// Different days from which on rows may have an order in time.
const DAYS: usize = 20;

/// Rows of each class that each part of such a split has.
const EACH: usize = 3;

/// Words in names of columns that tell when a row was, and whose or what it is of.
const TIMES: [&str; 8] = ["day", "date", "time", "timestamp", "week", "month", "year", "period"];
const UNITS: [&str; 16] = [
    "id",
    "customer",
    "client",
    "user",
    "patient",
    "person",
    "subject",
    "member",
    "account",
    "employee",
    "student",
    "household",
    "device",
    "machine",
    "vehicle",
    "supplier",
];

/// Whether a name has one of these words.
fn is_called(name: &str, words: &[&str]) -> bool {
    let lower = name.to_lowercase();
    lower.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word))
}

/// How a column is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum As {
    Numbers,
    Dates,
    Categories,
    /// Nothing is in it.
    Empty,
}

/// A column.
pub struct Column {
    pub name: String,
    pub read: As,
    pub readings: Vec<Reading>,
    pub notation: Notation,
    pub missing: usize,
    /// How many different values it has.
    pub distinct: usize,
    /// Some of its cells, as they are written.
    pub examples: Vec<String>,
    /// What cannot be told, with the way out.
    pub doubt: Option<String>,
    /// Whether that is of dates.
    pub is_of_dates: bool,
    /// Why training leaves it out.
    pub left_out: Option<String>,
    /// The AUROC of the column alone, by whichever way of it ranks the label best; `None` of the label and what is left out.
    pub auroc: Option<f64>,
}

/// The label.
pub struct Label {
    pub column: String,
    pub positive: String,
    pub positives: usize,
    pub rows: usize,
    /// Rows without one.
    pub without: usize,
}

/// All of it.
pub struct Found {
    pub rows: usize,
    pub columns: Vec<Column>,
    /// How many there are, those of LIBSVM too, which have no names.
    pub width: usize,
    pub label: Option<Label>,
    /// Why there is no label of two classes, with the way out; columns of two values, which may be it.
    pub no_label: Option<(String, Vec<String>)>,
    /// Whether that is for want of a positive one of several labels.
    pub is_of_many: bool,
    pub notes: Vec<String>,
    /// Rows that are equal to one before in all columns but the label, and those of them with another label.
    pub copies: usize,
    pub contradictions: usize,
    /// Columns that give the label away.
    pub away: Vec<String>,
    /// A column of dates to split by, and one whose values keep rows together.
    pub time: Option<String>,
    pub together: Option<String>,
}

/// The line that an error of the input prints.
fn told(error: &CliError) -> String {
    if let CliError::Input(text) = error { text.clone() } else { String::new() }
}

/// What cannot be told of a column, with the way out, and whether it is of dates.
fn doubt(table: &RawTable, at: usize, name: &str, is_label: bool) -> (Option<String>, bool) {
    if let Some(doubt) = table.doubt(at) {
        let is_of_dates = matches!(
            doubt.kind,
            DataErrorKind::Doubtful { doubt: Doubt::DateOrder | Doubt::ShortYear | Doubt::TwoOrders, .. }
        );
        return (Some(told(&doubt.into())), is_of_dates);
    }
    let stray = table.stray(at).filter(|_| !is_label).map(|(line, text)| {
        format!("{}:{line}: {text:?} in column \"{name}\" of numbers{}", table.name(), error::stray(text, name))
    });
    (stray, false)
}

/// What every column is, and what speaks for it or against it.
fn columns(
    table: &RawTable,
    written: &[Vec<String>],
    options: &Options,
    labels: &[u8],
    is_label: &dyn Fn(&str) -> bool,
) -> Vec<Column> {
    let left_out = left_out(table, options);
    let notations: BTreeMap<String, Notation> = table.notations().into_iter().collect();
    let mut columns = Vec::new();
    for (at, name) in table.columns().into_iter().enumerate() {
        let readings: Vec<Reading> = table.readings().iter().filter(|of| of.0 == name).map(|of| of.1).collect();
        let as_text = options.categorical.contains(&name);
        let read = match table.column(at) {
            _ if table.missing(at) == table.rows() => As::Empty,
            Some(ColumnValues::Numbers(_)) if readings.contains(&Reading::Dates) => As::Dates,
            Some(ColumnValues::Numbers(_)) if !as_text => As::Numbers,
            _ => As::Categories,
        };
        let (doubt, is_of_dates) = if as_text { (None, false) } else { doubt(table, at, &name, is_label(&name)) };
        let left_out = left_out.get(&name).cloned();
        let used = !is_label(&name) && left_out.is_none() && doubt.is_none();
        columns.push(Column {
            missing: table.missing(at),
            distinct: distinct(table, at),
            examples: examples(table, at, written),
            auroc: if used { column_auroc(table, at, labels) } else { None },
            notation: notations.get(&name).copied().unwrap_or_default(),
            name,
            read,
            readings,
            doubt,
            is_of_dates,
            left_out,
        });
    }
    columns
}

/// Looks at a table whose first rows are written so; `decimal`: whether the decimal mark was said.
pub fn look(
    mut table: RawTable,
    written: &[Vec<String>],
    decimal: bool,
    options: &Options,
    file: &Path,
) -> Result<Found> {
    let all = table.rows();
    let label =
        label_column_of(&table, options).map_err(|error| input::or_header(error.into(), input::guessed(&table)));
    let without = label.as_ref().ok().and_then(Option::as_ref).map_or(0, |label| table.leave_out_missing(label));
    let truth = label.and_then(|label| match label {
        Some(label) => truth(&table, label, options, without),
        None => Err(CliError::input(format!("{}: LIBSVM, whose columns have no names", file.display()))),
    });
    let (label, labels, no_label) = match truth {
        Ok((label, labels)) => (Some(label), labels, None),
        Err(error) => (None, Vec::new(), Some((told(&error), two_valued(&table)))),
    };
    let named = label.as_ref().map(|label| label.column.clone()).or(label_column_of(&table, options).ok().flatten());
    let is_label = |name: &str| named.as_deref() == Some(name);
    let columns = columns(&table, written, options, &labels, &is_label);
    let used: Vec<usize> =
        (0..columns.len()).filter(|&at| !is_label(&columns[at].name) && columns[at].left_out.is_none()).collect();
    let (copies, contradictions) = copies(&table, &used, &labels);
    let away = columns.iter().filter(|column| column.auroc.is_some_and(|auroc| auroc >= AWAY));
    let away = away.map(|column| column.name.clone()).collect();
    Ok(Found {
        rows: all,
        label,
        is_of_many: no_label.is_some() && label_values(&table, options).is_ok_and(|values| values.len() > 2),
        no_label,
        notes: [
            input::reading_notes(&table, Some(options), file),
            input::written_notes(&table, written, decimal, options, file),
        ]
        .concat(),
        copies,
        contradictions,
        away,
        time: time(&table, &columns, &labels).filter(|_| options.split_by.is_none()),
        together: together(&table, &columns, &is_label).filter(|_| options.split_by.is_none()),
        width: if columns.is_empty() { table.width() } else { columns.len() },
        columns,
    })
}

/// The label, and whether each row is positive, by the rules of training.
fn truth(table: &RawTable, column: String, options: &Options, without: usize) -> Result<(Label, Vec<u8>)> {
    let at = table.columns().iter().position(|name| *name == column).unwrap_or(0);
    let zeros = vec![0.0; table.rows()];
    let texts: Vec<Option<&str>>;
    let values = match table.column(at) {
        Some(ColumnValues::Numbers(values)) => Values::Numbers(values),
        Some(ColumnValues::Texts { values, codes }) => {
            texts = codes.iter().map(|&code| values.get(code as usize).map(String::as_str)).collect();
            Values::Texts(&texts)
        }
        _ => Values::Numbers(&zeros),
    };
    // (A feature beside it: there is no preparation without one.)
    let other = if column == "x" { "z" } else { "x" };
    let alone = RawTable::of_columns(table.name(), &[(other, Values::Numbers(&zeros)), (&column, values)])?;
    let wants = Options { label: Some(column.clone()), positive: options.positive.clone(), ..Options::default() };
    let of = Preparation::fit(&alone, &wants)?;
    let labels = of.apply::<f64>(&alone)?.labels().to_vec();
    let positives = labels.iter().map(|&label| usize::from(label)).sum();
    let positive = of.positive().unwrap_or_default().to_string();
    Ok((Label { column, positive, positives, rows: labels.len(), without }, labels))
}

/// Columns of two values.
fn two_valued(table: &RawTable) -> Vec<String> {
    let two = |at: usize| table.values(at, 2).is_some_and(|values| values.len() == 2);
    table.columns().into_iter().enumerate().filter(|(at, _)| two(*at)).map(|(_, name)| name).collect()
}

/// The columns that training leaves out, and why.
fn left_out(table: &RawTable, options: &Options) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (name, count) in identifiers(table, options) {
        all.insert(name, format!("tells rows apart: {count} different values"));
    }
    for name in table.empty().into_iter().filter(|_| options.missing == Missing::Impute) {
        all.insert(name, "has no values".to_string());
    }
    for name in &options.ignore {
        all.insert(name.clone(), "was named".to_string());
    }
    all.extend(options.weight.iter().map(|name| (name.clone(), "says what rows count".to_string())));
    all.extend(options.split_by.iter().map(|by| (by.column().clone(), "splits the rows".to_string())));
    all
}

fn distinct(table: &RawTable, at: usize) -> usize {
    match table.column(at) {
        Some(ColumnValues::Numbers(values)) => {
            let mut bits: Vec<u64> = values.iter().filter(|x| !x.is_nan()).map(|x| (x + 0.0).to_bits()).collect();
            bits.sort_unstable();
            bits.dedup();
            bits.len()
        }
        Some(ColumnValues::Texts { values, .. }) => values.len(),
        _ => 0,
    }
}

/// Three different cells as they are written, or else as they were read.
fn examples(table: &RawTable, at: usize, written: &[Vec<String>]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let cells = written.iter().filter_map(|row| row.get(at)).filter(|cell| !cell.is_empty());
    let few: Vec<String> = cells.filter(|cell| seen.insert(*cell)).take(3).cloned().collect();
    if !few.is_empty() {
        return few;
    }
    let few = table.values(at, 1000).unwrap_or_default();
    few.into_iter().take(3).map(|value| value.0).collect()
}

/// Rows that are equal to one before in these columns, and those of them with another label than that.
fn copies(table: &RawTable, columns: &[usize], labels: &[u8]) -> (usize, usize) {
    let mut hashes = vec![0_u64; table.rows()];
    for &at in columns {
        let mut mix = |row: usize, value: u64| {
            let mut hasher = DefaultHasher::new();
            (hashes[row], value).hash(&mut hasher);
            hashes[row] = hasher.finish();
        };
        match table.column(at) {
            Some(ColumnValues::Numbers(values)) => {
                values.iter().enumerate().for_each(|(row, x)| mix(row, (x + 0.0).to_bits()));
            }
            Some(ColumnValues::Texts { codes, .. }) => {
                codes.iter().enumerate().for_each(|(row, &code)| mix(row, code.into()));
            }
            _ => {}
        }
    }
    for (row, hash) in hashes.iter_mut().enumerate() {
        let Some((columns, values)) = table.sparse_row(row) else { break };
        let mut hasher = DefaultHasher::new();
        columns.iter().zip(values).for_each(|(column, x)| (column, (x + 0.0).to_bits()).hash(&mut hasher));
        *hash = hasher.finish();
    }
    let mut first: HashMap<u64, usize> = HashMap::new();
    let (mut copies, mut contradictions) = (0, 0);
    for (row, &hash) in hashes.iter().enumerate() {
        let before = *first.entry(hash).or_insert(row);
        copies += usize::from(before != row);
        contradictions += usize::from(before != row && labels.get(before) != labels.get(row));
    }
    (copies, contradictions)
}

/// The first column of dates, or of numbers that the rows are sorted by, that is there in all rows and of many days, where its last rows, and those before them, have both
/// classes: some to test on and some to choose on.
fn time(table: &RawTable, columns: &[Column], labels: &[u8]) -> Option<String> {
    let rows = table.rows();
    let parts = [0..rows * 55 / 100, rows * 55 / 100..rows * 75 / 100, rows * 75 / 100..rows];
    let fits = |at: usize| {
        let column = &columns[at];
        if column.distinct < DAYS || column.missing > 0 || column.left_out.is_some() {
            return false;
        }
        let Some(ColumnValues::Numbers(days)) = table.column(at) else { return false };
        // (Of numbers, those that are called so and that the rows are sorted by.)
        let rises = || days.windows(2).all(|pair| pair[0] <= pair[1]);
        if column.read != As::Dates && !(is_called(&column.name, &TIMES) && rises()) {
            return false;
        }
        let mut order: Vec<usize> = (0..rows).collect();
        order.sort_by(|&a, &b| days[a].total_cmp(&days[b]));
        let both = |part: &std::ops::Range<usize>| {
            let positives = order[part.clone()].iter().filter(|&&row| labels.get(row) == Some(&1)).count();
            positives >= EACH && part.len() - positives >= EACH
        };
        parts.iter().all(both)
    };
    (0..columns.len()).find(|&at| fits(at)).map(|at| columns[at].name.clone())
}

/// The first column that is called as what rows are of, and whose values recur.
fn together(table: &RawTable, columns: &[Column], is_label: &impl Fn(&str) -> bool) -> Option<String> {
    let recurs = |column: &&Column| {
        let there = table.rows() - column.missing;
        column.distinct > DAYS && 10 * column.distinct < 9 * there && column.distinct * 50 > there
    };
    let called = |name: &str| is_called(name, &UNITS) || name.ends_with("Id") || name.ends_with("ID");
    let fits = |column: &&Column| called(&column.name) && !is_label(&column.name) && recurs(column);
    columns.iter().find(fits).map(|column| column.name.clone())
}

impl Column {
    /// How it is read, in words.
    pub fn read_as(&self) -> String {
        let has = |reading: Reading| self.readings.contains(&reading);
        let mut text = match self.read {
            _ if self.doubt.is_some() => return "in doubt".to_string(),
            As::Empty => return "nothing".to_string(),
            As::Categories => return format!("{} categories", self.distinct),
            As::Dates => String::from("dates"),
            As::Numbers => String::from("numbers"),
        };
        let mut add = |there: bool, what: &str| {
            if there {
                text.push_str(", ");
                text.push_str(what);
            }
        };
        add(self.notation.decimal == Some(Decimal::Comma) && has(Reading::Commas), "decimal comma");
        add(has(Reading::Thousands), "thousands");
        add(has(Reading::Percent), "percent");
        add(has(Reading::Currency), "currency");
        add(has(Reading::Limits), "limits");
        add(has(Reading::ShortYears), "1940 to 2039");
        add(has(Reading::Padded), "zeros before");
        add(has(Reading::Rounded), "rounded");
        add(self.notation.dates == Some(DateOrder::Day), "day first");
        add(self.notation.dates == Some(DateOrder::Month), "month first");
        add(self.notation.dates == Some(DateOrder::Year), "year first");
        text
    }
}
