//! `--schema`: what is known of the columns of a file, as `look --schema` writes it and people edit it.

use super::Word;
use super::layout::{DATES, DECIMALS, ENCODINGS, FORMATS, HEADERS, Header, Layout, MISSING};
use crate::tell::text::likely;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use undercurve::data::{
    DateOrder, Decimal, Encoding, Format, Missing, Notation, Options, RawTable, ReadOptions, Reading, SplitBy,
};

/// What a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Number,
    Date,
    Category,
    Ignore,
}

/// Its words.
pub const KINDS: &[Word<Kind>] = &[
    ("number", "Numbers", Kind::Number),
    ("date", "Dates", Kind::Date),
    ("category", "Categories, whatever the cells hold", Kind::Category),
    ("ignore", "No feature", Kind::Ignore),
];

/// What is known of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// As it is read, where nothing is said.
    pub kind: Option<Kind>,
    pub decimal: Option<Decimal>,
    pub order: Option<DateOrder>,
}

/// A schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    pub file: PathBuf,
    /// Whether there is such a file.
    pub is_there: bool,
    label: Option<String>,
    positive: Option<String>,
    format: Format,
    header: Header,
    skip: u32,
    skip_end: u32,
    encoding: Encoding,
    missing: Option<Missing>,
    na: Vec<String>,
    split_by: Option<SplitBy>,
    weight: Option<String>,
    columns: BTreeMap<String, Column>,
}

/// A text, or what TOML has for it without quotes.
#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Whole(i64),
    Number(f64),
    Bool(bool),
}

impl From<Scalar> for String {
    fn from(of: Scalar) -> Self {
        match of {
            Scalar::Text(text) => text,
            Scalar::Whole(x) => x.to_string(),
            Scalar::Number(x) => x.to_string(),
            Scalar::Bool(x) => x.to_string(),
        }
    }
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Written {
    label: Option<Scalar>,
    positive: Option<Scalar>,
    format: Option<String>,
    header: Option<String>,
    encoding: Option<String>,
    #[serde(default)]
    skip: u32,
    #[serde(default)]
    skip_end: u32,
    missing: Option<String>,
    #[serde(default)]
    na: Vec<Scalar>,
    split_by: Option<String>,
    split_group: Option<String>,
    weight: Option<String>,
    #[serde(default)]
    columns: BTreeMap<String, WrittenColumn>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenColumn {
    #[serde(rename = "as")]
    kind: Option<String>,
    decimal: Option<String>,
    order: Option<String>,
    #[serde(default)]
    na: Vec<Scalar>,
}

/// The value of one of these words.
fn word<T: Clone>(key: &str, text: Option<&String>, words: &[Word<T>]) -> Result<Option<T>, String> {
    let Some(text) = text else { return Ok(None) };
    let found = words.iter().find(|(word, ..)| word == text);
    let names: Vec<&str> = words.iter().map(|word| word.0).collect();
    let meant = likely(text, &names).map_or_else(String::new, |name| format!("; did you mean {name}?"));
    let found = found.ok_or_else(|| format!("{key} = \"{text}\": expected {}{meant}", names.join(", ")))?;
    Ok(Some(found.2.clone()))
}

/// Reads `--schema`, for clap. (A file that is not there `look` writes, and others refuse.)
pub fn read(file: &str) -> Result<Schema, String> {
    let text = match std::fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Schema { file: file.into(), ..Schema::default() });
        }
        text => text.map_err(|error| crate::error::plain(&error))?,
    };
    let written: Written = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(0, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
        format!("line {line}: {}", error.message().replace('\n', " "))
    })?;
    written.check(file)
}

impl Written {
    fn check(self, file: &str) -> Result<Schema, String> {
        let mut columns = BTreeMap::new();
        let mut na: Vec<String> = self.na.into_iter().map(Into::into).collect();
        for (name, column) in self.columns {
            na.extend(column.na.into_iter().map(|text| format!("{name}={}", String::from(text))));
            let at = |key: &str| format!("column \"{name}\": {key}");
            let kind = word(&at("as"), column.kind.as_ref(), KINDS)?;
            let decimal = word(&at("decimal"), column.decimal.as_ref(), DECIMALS)?;
            let order = word(&at("order"), column.order.as_ref(), DATES)?;
            columns.insert(name, Column { kind, decimal, order });
        }
        let split_by = match (self.split_by, self.split_group) {
            (Some(_), Some(_)) => return Err("split-by and split-group: one of them".to_string()),
            (by, group) => by.map(SplitBy::Order).or(group.map(SplitBy::Group)),
        };
        Ok(Schema {
            file: file.into(),
            is_there: true,
            label: self.label.map(Into::into),
            positive: self.positive.map(Into::into),
            format: word("format", self.format.as_ref(), FORMATS)?.unwrap_or_default(),
            header: word("header", self.header.as_ref(), HEADERS)?.flatten(),
            skip: self.skip,
            skip_end: self.skip_end,
            encoding: word("encoding", self.encoding.as_ref(), ENCODINGS)?.unwrap_or_default(),
            missing: word("missing", self.missing.as_ref(), MISSING)?,
            na,
            split_by,
            weight: self.weight,
            columns,
        })
    }
}

impl Schema {
    /// Columns of a kind.
    fn of(&self, kinds: &[Kind]) -> impl Iterator<Item = &String> {
        let kind = move |column: &Column| column.kind.is_some_and(|kind| kinds.contains(&kind));
        self.columns.iter().filter(move |(_, column)| kind(column)).map(|(name, _)| name)
    }

    /// What it says of a file's layout, where the command line does not.
    pub fn layout(&self, given: Layout) -> Layout {
        Layout {
            format: if given.format == Format::Auto { self.format } else { given.format },
            header: given.header.or(self.header),
            encoding: if given.encoding == Encoding::Utf8 { self.encoding } else { given.encoding },
            skip: if given.skip == 0 { self.skip } else { given.skip },
            skip_end: if given.skip_end == 0 { self.skip_end } else { given.skip_end },
            ..given
        }
    }

    /// What was said of missing values.
    pub fn missing(&self, given: Option<Missing>) -> Option<Missing> {
        given.or(self.missing)
    }

    /// Spellings of a missing value.
    pub fn na(&self, given: Vec<String>) -> Vec<String> {
        [given, self.na.clone()].concat()
    }

    /// What it says of the columns, where the command line does not.
    pub fn options(&self, given: Options) -> Options {
        let other = |of: &[String], kind: Kind| -> Vec<String> {
            let told = |name: &&String| !given.categorical.contains(name) && !given.ignore.contains(name);
            of.iter().chain(self.of(&[kind]).filter(told)).cloned().collect()
        };
        Options {
            label: given.label.clone().or(self.label.clone()),
            positive: given.positive.clone().or(self.positive.clone()),
            split_by: given.split_by.clone().or(self.split_by.clone()),
            weight: given.weight.clone().or(self.weight.clone()),
            categorical: other(&given.categorical, Kind::Category),
            ignore: other(&given.ignore, Kind::Ignore),
            features: self.of(&[Kind::Number, Kind::Date]).cloned().collect(),
            ..given
        }
    }

    /// How the columns are written.
    pub fn notations(&self, options: &mut ReadOptions) {
        let of = |column: &Column| Notation { decimal: column.decimal, dates: column.order, ..Notation::default() };
        let known = self.columns.iter().map(|(name, column)| (name.clone(), of(column)));
        options.columns = known.filter(|(_, notation)| *notation != Notation::default()).collect();
    }

    /// Refuses a table that is not what it says.
    pub fn check(&self, table: &RawTable) -> Result<(), String> {
        let (names, readings, file) = (table.columns(), table.readings(), self.file.display());
        if !self.is_there {
            return Err(format!(
                "{file}: there is no such file; `undercurve look {} --schema {file}` writes it",
                table.name()
            ));
        }
        for (name, column) in &self.columns {
            let Some(at) = names.iter().position(|other| other == name) else {
                let all: Vec<&str> = names.iter().map(String::as_str).collect();
                let meant = likely(name, &all).map_or_else(String::new, |name| format!("; is it \"{name}\" now?"));
                return Err(format!("{}: has no column \"{name}\", which {file} names{meant}", table.name()));
            };
            let wants = match column.kind {
                Some(Kind::Number) => "numbers",
                Some(Kind::Date) => "dates",
                Some(Kind::Category | Kind::Ignore) | None => continue,
            };
            // (What is open is told where the column is used.)
            if table.doubt(at).is_some() || table.missing(at) == table.rows() {
                continue;
            }
            let wrong = |place: &str, text: &str| {
                format!(
                    "{}{place}: {text} in column \"{name}\", which {file} has as {wants} (correct the cell, add it to na if it stands for a missing value, or say as = \"category\" there)",
                    table.name()
                )
            };
            if let Some((line, text)) = table.first_text(at) {
                return Err(wrong(&format!(":{line}"), &format!("{text:?}")));
            }
            let dates = readings.contains(&(name.as_str(), Reading::Dates));
            if dates != (column.kind == Some(Kind::Date)) {
                return Err(wrong("", if dates { "dates" } else { "numbers" }));
            }
        }
        Ok(())
    }
}
