//! Which label is the positive one.

use super::super::contrary::first_is_positive;
use super::super::dataset::{MAX_CLASSES, Targets};
use super::super::error::{DataError, DataErrorKind};
use super::super::parse::{Content, LABEL_NAMES, MISSING, RawColumn, RawTable, limited, number_text, truth};
use super::super::scale::weight_of;
use super::table::{all_rows, find_column, refuse_doubt, refuse_unreadable};
use super::weights::weights;
use super::{Options, Target};
use crate::batch::WEIGHTS;
use crate::checkpoint::{Coded, Reader};
use crate::real::Real;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Label values listed at most, in errors.
const LISTED: usize = 16;

/// The label cells of a file.
#[derive(Clone, Copy)]
pub(super) enum LabelCells<'a> {
    /// NaN for a missing one.
    Numbers(&'a [f64]),
    /// As [`RawColumn::Text`](super::parse::RawColumn).
    Text { values: &'a [String], codes: &'a [u32] },
}

impl LabelCells<'_> {
    /// A label as it is written in the data.
    fn written(self, text: &str) -> Option<String> {
        match self {
            Self::Numbers(numbers) => text.parse::<f64>().ok().filter(|x| numbers.contains(x)).map(number_text),
            Self::Text { values, .. } => {
                let exact = values.iter().find(|label| *label == text);
                // (True and false have several spellings, of which no two are there.)
                let one = truth(text).or(match text {
                    "1" => Some(true),
                    "0" => Some(false),
                    _ => None,
                });
                let truths = values.iter().all(|label| truth(label).is_some());
                let alike = || values.iter().find(|label| one.is_some() && truths && truth(label) == one);
                exact.or_else(alike).cloned()
            }
        }
    }

    /// The label of this name, or several with commas between them; which is not there.
    fn named(self, text: &str) -> Result<Vec<String>, String> {
        if let Some(label) = self.written(text) {
            return Ok(alloc::vec![label]);
        }
        let each = text.split(',').map(|one| self.written(one.trim()).ok_or_else(|| one.trim().to_string()));
        let found: Result<Vec<String>, _> = each.collect();
        found.map_err(|one| if text.contains(',') { one } else { text.to_string() })
    }

    /// Whether of two words the first is the positive one; rows count what they weigh, or all alike.
    fn prefers_first(self, weights: impl FnOnce() -> Vec<f64>) -> bool {
        let Self::Text { values: [first, second], codes } = self else { return false };
        let weights = weights();
        let (weight, mut counts) = (weight_of(&weights), [0.0; 2]);
        for (row, &code) in codes.iter().enumerate().filter(|(_, code)| **code < 2) {
            counts[code as usize] += weight(row);
        }
        first_is_positive([first, second], counts)
    }

    /// The first row with a third value.
    pub fn third(self) -> Option<usize> {
        fn third<V: PartialEq>(values: impl Iterator<Item = Option<V>>) -> Option<usize> {
            let (mut one, mut two) = (None, None);
            for (row, value) in values.enumerate().filter(|(_, value)| value.is_some()) {
                if one.is_none() {
                    one = value;
                } else if value != one && two.is_none() {
                    two = value;
                } else if value != one && value != two {
                    return Some(row);
                }
            }
            None
        }
        match self {
            Self::Numbers(numbers) => third(numbers.iter().map(|x| x.is_finite().then_some(x))),
            Self::Text { codes, .. } => third(codes.iter().map(|code| (*code != MISSING).then_some(code))),
        }
    }
}

/// How cells become targets.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Rule {
    /// The labels 1 and 0.
    Binary(Positive),
    /// The number of one of these classes.
    Classes(Vec<String>),
    /// Numbers as they are.
    Values,
}

/// Where the targets of a table are, and how they become some.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LabelRule {
    /// The label column; none for LIBSVM and arrays.
    pub column: Option<String>,
    pub rule: Rule,
}

impl Coded for LabelRule {
    fn write(&self, out: &mut Vec<u8>) {
        self.column.write(out);
        match &self.rule {
            Rule::Binary(Positive { positive, among, negative }) => {
                out.push(if among.is_empty() { 0 } else { 3 });
                if among.is_empty() {
                    positive.write(out)
                } else {
                    among.write(out)
                }
                negative.write(out);
            }
            Rule::Classes(names) => {
                out.push(1);
                names.write(out);
            }
            Rule::Values => out.push(2),
        }
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let column = from.value()?;
        let rule = match from.byte()? {
            0 => Rule::Binary(Positive::one(from.value()?, from.value()?)),
            3 => Rule::Binary(Positive::several(from.value()?, from.value()?)),
            1 => {
                let names: Vec<String> = from.value()?;
                (2..=MAX_CLASSES).contains(&names.len()).then_some(Rule::Classes(names))?
            }
            2 => Rule::Values,
            _ => return None,
        };
        Some(Self { column, rule })
    }
}

/// How a label becomes 1 (positive) or 0.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Positive {
    /// The positive value, or several with commas between them.
    pub positive: String,
    /// The positive values, where there are several.
    among: Vec<String>,
    /// The one negative value, or none when every value but the positive ones is negative.
    pub negative: Option<String>,
}

/// A text without what case and blanks tell. (The case of Latin, Greek and Cyrillic letters: a table of all is large.)
fn folded(text: &str) -> String {
    let lower = |c: char| match c {
        'À'..='Þ' | 'Α'..='Ω' | 'А'..='Я' => char::from_u32(u32::from(c) + 32).unwrap_or(c),
        'Ā'..='ķ' | 'Ŋ'..='ŷ' => char::from_u32(u32::from(c) | 1).unwrap_or(c),
        _ => c.to_ascii_lowercase(),
    };
    text.split_whitespace().flat_map(|word| [" ", word]).flat_map(str::chars).map(lower).collect()
}

/// Those of some texts that differ from one by case or blanks alone.
pub(super) fn like<'a>(text: &str, texts: &'a [String]) -> impl Iterator<Item = &'a String> {
    let (own, text) = (folded(text), text.to_string());
    texts.iter().filter(move |other| **other != text && folded(other) == own)
}

impl Positive {
    pub fn one(positive: String, negative: Option<String>) -> Self {
        Self { positive, among: Vec::new(), negative }
    }

    fn several(among: Vec<String>, negative: Option<String>) -> Self {
        match among.as_slice() {
            [one] => Self::one(one.clone(), negative),
            _ => Self { positive: among.join(","), among, negative },
        }
    }

    fn values(&self) -> &[String] {
        if self.among.is_empty() { core::slice::from_ref(&self.positive) } else { &self.among }
    }

    /// The rule for these cells. Unless some are named, of two numbers the larger is positive, of two words yes, true or positive
    /// beside its contrary, else the rarer (of equally many the later by its bytes).
    pub fn find(
        cells: LabelCells<'_>,
        column: Option<&str>,
        positive: Option<&str>,
        weights: impl FnOnce() -> Vec<f64>,
    ) -> Result<Self, DataErrorKind> {
        let all = distinct(cells);
        let labels = || all.iter().take(LISTED).cloned().collect::<Vec<_>>();
        let named = match positive {
            None => Vec::new(),
            Some(text) => {
                cells.named(text).map_err(|one| DataErrorKind::PositiveAbsent { positive: one, labels: labels() })?
            }
        };
        match (all.as_slice(), named.as_slice()) {
            ([], _) => return Err(DataErrorKind::MissingLabel),
            ([label], _) => {
                return Err(DataErrorKind::OneClass { label: label.clone(), column: column.map(ToString::to_string) });
            }
            ([low, high], []) => {
                if like(low, &all).next().is_some() {
                    return Err(DataErrorKind::LabelSpellings { labels: all.clone() });
                }
                let (positive, negative) = if cells.prefers_first(weights) { (low, high) } else { (high, low) };
                return Ok(Self::one(positive.clone(), Some(negative.clone())));
            }
            (_, []) => return Err(DataErrorKind::ManyLabels { labels: labels(), more: all.len() > LISTED }),
            _ => {}
        }
        let mut rest = all.iter().filter(|label| !named.contains(label));
        let negative = match (rest.next(), rest.next()) {
            (None, _) => {
                let label = named.join(",");
                return Err(DataErrorKind::OneClass { label, column: column.map(ToString::to_string) });
            }
            (Some(one), None) => Some(one.clone()),
            _ => None,
        };
        // (Of two that are told apart by name, that was meant.)
        if negative.is_none() {
            let mut labels = named.clone();
            labels.extend(
                named.iter().flat_map(|label| like(label, &all)).filter(|label| !named.contains(label)).cloned(),
            );
            labels.dedup();
            if labels.len() > named.len() {
                return Err(DataErrorKind::LabelSpellings { labels });
            }
        }
        Ok(Self::several(named, negative))
    }

    /// What a text of a label is.
    fn of(&self, text: &str) -> Result<u8, DataErrorKind> {
        // (Frames and files write true in their own ways.)
        let is = |label: &String| label == text || truth(label).is_some_and(|one| truth(text) == Some(one));
        if self.values().iter().any(is) {
            return Ok(1);
        }
        match &self.negative {
            Some(negative) if !is(negative) => Err(DataErrorKind::UnknownLabel {
                text: text.to_string(),
                known: [negative.clone(), self.positive.clone()],
            }),
            _ => Ok(0),
        }
    }

    /// 0 or 1 for each of `rows`; an error comes with its row.
    pub fn apply(&self, cells: LabelCells<'_>, rows: &[u32]) -> Result<Vec<u8>, (usize, DataErrorKind)> {
        let mut labels = Vec::with_capacity(rows.len());
        match cells {
            LabelCells::Numbers(numbers) => {
                let number = |text: &String| text.parse::<f64>().unwrap_or(f64::NAN);
                let positives: Vec<f64> = self.values().iter().map(number).collect();
                let negative = self.negative.as_ref().map(number);
                for &row in rows {
                    let x = numbers.get(row as usize).copied().unwrap_or(f64::NAN);
                    labels.push(if x.is_nan() {
                        return Err((row as usize, DataErrorKind::MissingLabel));
                    } else if positives.contains(&x) {
                        1
                    } else if negative.is_none_or(|negative| x == negative) {
                        0
                    } else {
                        self.of(&number_text(x)).map_err(|kind| (row as usize, kind))?
                    });
                }
            }
            LabelCells::Text { values, codes } => {
                let known: Vec<_> = values.iter().map(|text| self.of(text)).collect();
                for &row in rows {
                    let code = codes.get(row as usize).copied().unwrap_or(MISSING);
                    match known.get(code as usize) {
                        Some(Ok(label)) => labels.push(*label),
                        Some(Err(kind)) => return Err((row as usize, kind.clone())),
                        None => return Err((row as usize, DataErrorKind::MissingLabel)),
                    }
                }
            }
        }
        Ok(labels)
    }
}

/// The values of these cells in order, numbers by value and text by its bytes; at most one more than [`MAX_CLASSES`].
pub(super) fn distinct(cells: LabelCells<'_>) -> Vec<String> {
    match cells {
        LabelCells::Numbers(numbers) => {
            let (mut all, mut last) = (Vec::new(), f64::NAN);
            for &x in numbers.iter().filter(|x| x.is_finite()) {
                if x != last
                    && all.len() <= MAX_CLASSES
                    && let Err(at) = all.binary_search_by(|y: &f64| y.total_cmp(&(x + 0.0)))
                {
                    all.insert(at, x + 0.0);
                }
                last = x;
            }
            all.into_iter().map(number_text).collect()
        }
        LabelCells::Text { values, .. } => values.iter().take(MAX_CLASSES + 1).cloned().collect(),
    }
}

/// Every value of these cells as a class: two at least, and no more than there may be.
pub(super) fn classes(cells: LabelCells<'_>, column: Option<&str>) -> Result<Vec<String>, DataErrorKind> {
    let classes = distinct(cells);
    match classes.as_slice() {
        [] => Err(DataErrorKind::MissingLabel),
        [label] => Err(DataErrorKind::OneClass { label: label.clone(), column: column.map(ToString::to_string) }),
        more if more.len() > MAX_CLASSES => Err(DataErrorKind::ManyClasses),
        _ => Ok(classes),
    }
}

/// The class number of each of `rows`; an error comes with its row.
pub(super) fn class_numbers(
    cells: LabelCells<'_>,
    classes: &[String],
    rows: &[u32],
) -> Result<Vec<u32>, (usize, DataErrorKind)> {
    let unknown = |text: &str| DataErrorKind::UnknownClass { text: text.to_string(), classes: classes.to_vec() };
    let mut labels = Vec::with_capacity(rows.len());
    match cells {
        LabelCells::Numbers(numbers) => {
            let mut known: Vec<(f64, u32)> =
                classes.iter().zip(0..).filter_map(|(text, class)| Some((text.parse::<f64>().ok()?, class))).collect();
            known.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            for &row in rows {
                let x = numbers.get(row as usize).copied().unwrap_or(f64::NAN);
                if x.is_nan() {
                    return Err((row as usize, DataErrorKind::MissingLabel));
                }
                match known.binary_search_by(|(value, _)| value.total_cmp(&(x + 0.0))) {
                    Ok(found) => labels.push(known[found].1),
                    Err(_) => return Err((row as usize, unknown(&number_text(x)))),
                }
            }
        }
        LabelCells::Text { values, codes } => {
            let class_of = |text: &String| classes.iter().position(|class| class == text);
            let known: Vec<Option<usize>> = values.iter().map(class_of).collect();
            for &row in rows {
                let code = codes.get(row as usize).copied().unwrap_or(MISSING);
                match known.get(code as usize) {
                    Some(Some(class)) => labels.push(*class as u32),
                    Some(None) => return Err((row as usize, unknown(&values[code as usize]))),
                    None => return Err((row as usize, DataErrorKind::MissingLabel)),
                }
            }
        }
    }
    Ok(labels)
}

/// The number of each of `rows`; an error comes with its row.
fn numbers(cells: LabelCells<'_>, column: Option<&str>, rows: &[u32]) -> Result<Vec<f64>, (usize, DataErrorKind)> {
    match cells {
        LabelCells::Numbers(numbers) => {
            let number = |&row: &u32| match numbers.get(row as usize) {
                Some(x) if x.is_finite() => Ok(*x),
                _ => Err((row as usize, DataErrorKind::MissingLabel)),
            };
            rows.iter().map(number).collect()
        }
        LabelCells::Text { values, codes } => {
            // One of them is no number: the first.
            let text = |row: u32| values.get(codes.get(row as usize).copied().unwrap_or(MISSING) as usize);
            let row = rows.iter().copied().find(|&row| text(row).is_none_or(|text| text.parse::<f64>().is_err()));
            let row = row.unwrap_or(rows.first().copied().unwrap_or(0));
            let kind = text(row).map_or(DataErrorKind::MissingLabel, |text| DataErrorKind::NotANumber {
                text: text.clone(),
                column: column.unwrap_or("label").to_string(),
            });
            Err((row as usize, kind))
        }
    }
}

/// 1 for each positive label of a table's label column and 0 for the others, as training has them: of two labels the larger number, or of two words
/// yes, true or positive, else the rarer, is positive, unless `options.positive` names one.
///
/// # Errors
/// As of training: a missing label by its row; one label, or more than two of which none is named.
pub fn binary_labels(table: &RawTable, options: &Options) -> Result<Vec<u8>, DataError> {
    let (column, cells) = label_cells(table, options)?;
    let at = column.as_ref().and_then(|name| table.columns().iter().position(|other| other == name)).unwrap_or(0);
    let wrong = |(row, kind)| table.error_at(row, at, kind);
    let missing = match cells {
        LabelCells::Numbers(numbers) => numbers.iter().position(|x| x.is_nan()),
        LabelCells::Text { codes, .. } => codes.iter().position(|&code| code == MISSING),
    };
    if let Some(row) = missing {
        return Err(wrong((row, DataErrorKind::MissingLabel)));
    }
    let rows: Vec<u32> = (0..table.rows() as u32).collect();
    let rule = Positive::find(cells, None, options.positive.as_deref(), Vec::new);
    let rule = rule.map_err(|kind| match (&kind, cells.third()) {
        (DataErrorKind::ManyLabels { .. }, Some(row)) => wrong((row, kind)),
        _ => table.error_in_header(kind),
    })?;
    rule.apply(cells, &rows).map_err(wrong)
}

/// The label values of a table in order, numbers by value and text by its bytes; at most one more than
/// [`MAX_CLASSES`](crate::data::MAX_CLASSES).
///
/// # Errors
/// No or an unknown label column.
pub fn label_values(table: &RawTable, options: &Options) -> Result<Vec<String>, DataError> {
    Ok(distinct(label_cells(table, options)?.1))
}

/// The name of the label column; `None` where columns have no names.
///
/// # Errors
/// No or an unknown label column.
pub fn label_column_of(table: &RawTable, options: &Options) -> Result<Option<String>, DataError> {
    Ok(label_cells(table, options)?.0)
}

/// The column the options mean: by name, else by number.
fn label_column(table: &RawTable, names: &[String], options: &Options) -> Result<usize, DataError> {
    let Some(label) = &options.label else {
        let usual = LABEL_NAMES.iter().find_map(|usual| names.iter().position(|name| name.eq_ignore_ascii_case(usual)));
        return usual.ok_or_else(|| table.error_in_header(DataErrorKind::NoLabelColumn { columns: names.to_vec() }));
    };
    let by_number = || match label.parse::<i64>() {
        Ok(number) if number >= 1 && number as u64 <= names.len() as u64 => Some(number as usize - 1),
        // (Columns that say which numbers are limits come behind those of the file.)
        Ok(-1) => names.iter().rposition(|name| limited(name).is_none()),
        _ => None,
    };
    let by_name = names.iter().position(|name| name == label);
    match by_name.or_else(by_number) {
        Some(at) => Ok(at),
        None => find_column(table, names, label),
    }
}

fn cells(column: &RawColumn) -> LabelCells<'_> {
    match column {
        RawColumn::Numbers(values, _) => LabelCells::Numbers(values),
        RawColumn::Text { values, codes, .. } => LabelCells::Text { values, codes },
    }
}

/// The label column's name, where columns have names, and its cells.
pub(super) fn label_cells<'a>(
    table: &'a RawTable,
    options: &Options,
) -> Result<(Option<String>, LabelCells<'a>), DataError> {
    Ok(match &table.content {
        Content::Libsvm { labels, .. } => (None, LabelCells::Numbers(labels)),
        Content::Csv { names, columns, .. } => {
            let at = label_column(table, names, options)?;
            (Some(names[at].clone()), cells(&columns[at]))
        }
    })
}

/// A word that stood for missing labels in so many rows that it may be a class: a twentieth of them.
fn lost_label(table: &RawTable, at: usize, column: &str) -> Option<DataErrorKind> {
    let words = table.words(at);
    let all: usize = table.rows() - table.missing(at) + words.iter().map(|word| word.1).sum::<usize>();
    let (word, rows) = words.iter().filter(|word| word.1 > 0 && 20 * word.1 >= all).max_by_key(|word| word.1)?;
    Some(DataErrorKind::LabelWord { word: word.clone(), rows: *rows, column: column.to_string() })
}

/// What is open about the labels of a table: a word that may be a class or none, and two that are one number.
///
/// # Errors
/// `LabelWord`, `LabelTwice`.
pub fn check_label(table: &RawTable, column: &str) -> Result<(), DataError> {
    let Some(at) = table.columns().iter().position(|name| name == column) else { return Ok(()) };
    let twice = || {
        let (text, other) = table.two_spellings(at, true)?;
        Some(DataErrorKind::LabelTwice { text, other, column: column.to_string() })
    };
    lost_label(table, at, column).or_else(twice).map_or(Ok(()), |kind| Err(table.error(kind)))
}

pub(super) fn find_label(table: &RawTable, options: &Options) -> Result<LabelRule, DataError> {
    let (column, cells) = label_cells(table, options)?;
    let name = column.as_deref();
    let at = name.and_then(|name| table.columns().iter().position(|other| other == name)).unwrap_or(0);
    refuse_unreadable(table, at)?;
    if options.target != Target::Values {
        name.map_or(Ok(()), |name| check_label(table, name))?;
    }
    let rule = match options.target {
        Target::Binary => {
            // (What is wrong with a column of weights is told where it is read for more than this.)
            let read = |column: &String| weights(table, column, &all_rows(table)).unwrap_or_default();
            let weights = || options.weight.as_ref().filter(|_| WEIGHTS).map(read).unwrap_or_default();
            Positive::find(cells, name, options.positive.as_deref(), weights).map(Rule::Binary)
        }
        Target::Classes => classes(cells, name).map(Rule::Classes),
        Target::Values => Ok(Rule::Values),
    };
    match rule {
        Ok(rule) => Ok(LabelRule { column, rule }),
        Err(kind) => Err(match (&kind, cells.third()) {
            (DataErrorKind::ManyLabels { .. }, Some(row)) => table.error_at(row, at, kind),
            _ => table.error(kind),
        }),
    }
}

/// The label cells of a table that was not there when the rule was found, and the place of their column.
pub(super) fn cells_again<'a>(table: &'a RawTable, label: &LabelRule) -> Result<(LabelCells<'a>, usize), DataError> {
    match (&table.content, &label.column) {
        (Content::Libsvm { labels, .. }, None) => Ok((LabelCells::Numbers(labels), 0)),
        (Content::Csv { names, columns, .. }, Some(column)) => {
            let at = find_column(table, names, column)?;
            Ok((cells(&columns[at]), at))
        }
        _ => Err(table.error(DataErrorKind::OtherFormat)),
    }
}

/// The targets of some rows.
pub(super) fn targets<T: Real>(table: &RawTable, label: &LabelRule, rows: &[u32]) -> Result<Targets<T>, DataError> {
    let (cells, at) = cells_again(table, label)?;
    if label.rule == Rule::Values {
        refuse_doubt(table, at)?;
    }
    let targets = match &label.rule {
        Rule::Binary(rule) => rule.apply(cells, rows).map(Targets::Binary),
        Rule::Classes(names) => {
            class_numbers(cells, names, rows).map(|labels| Targets::Classes { labels, names: names.clone() })
        }
        Rule::Values => numbers(cells, label.column.as_deref(), rows).and_then(|values| {
            let rounded: Vec<T> = values.iter().map(|&x| T::of(x)).collect();
            match rounded.iter().position(|x| !x.is_finite()) {
                Some(k) => Err((rows[k] as usize, DataErrorKind::NonFinite { text: number_text(values[k]) })),
                None => Ok(Targets::Values(rounded)),
            }
        }),
    };
    targets.map_err(|(row, kind)| table.error_at(row, at, kind))
}
