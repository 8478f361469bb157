//! Which label is the positive one.

use super::super::dataset::{MAX_CLASSES, Targets};
use super::super::error::{DataError, DataErrorKind};
use super::super::parse::{Content, LABEL_NAMES, MISSING, RawColumn, RawTable, limited, number_text};
use super::columns::weight_of;
use super::table::{all_rows, find_column, refuse_doubt};
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

/// Words for the positive class, each beside its contrary.
const CONTRARIES: [[&str; 2]; 5] = [["yes", "no"], ["true", "false"], ["positive", "negative"], ["y", "n"], ["t", "f"]];

impl LabelCells<'_> {
    /// Whether of two words the first is the positive one; rows count what they weigh, or all alike.
    fn prefers_first(self, weights: impl FnOnce() -> Vec<f64>) -> bool {
        let Self::Text { values: [first, second], codes } = self else { return false };
        let is = |a: &str, b: &str| first.eq_ignore_ascii_case(a) && second.eq_ignore_ascii_case(b);
        for [positive, negative] in CONTRARIES {
            if is(positive, negative) || is(negative, positive) {
                return is(positive, negative);
            }
        }
        let weights = weights();
        let (weight, mut counts) = (weight_of(&weights), [0.0; 2]);
        for (row, &code) in codes.iter().enumerate().filter(|(_, code)| **code < 2) {
            counts[code as usize] += weight(row);
        }
        counts[0] < counts[1]
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
            Rule::Binary(Positive { positive, negative }) => {
                out.push(0);
                positive.write(out);
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
            0 => Rule::Binary(Positive { positive: from.value()?, negative: from.value()? }),
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
    pub positive: String,
    /// The one negative value, or none when every value but the positive one is negative.
    pub negative: Option<String>,
}

/// Are these two the same label? Numbers are compared by value.
pub(super) fn same(a: &str, b: &str) -> bool {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

impl Positive {
    /// The rule for these cells. Unless one is named, of two numbers the larger is positive, of two words yes, true or positive
    /// beside its contrary, else the rarer (of equally many the later by its bytes).
    pub fn find(
        cells: LabelCells<'_>,
        column: Option<&str>,
        positive: Option<&str>,
        weights: impl FnOnce() -> Vec<f64>,
    ) -> Result<Self, DataErrorKind> {
        let (labels, more, named) = match cells {
            LabelCells::Numbers(numbers) => {
                let mut distinct: Vec<f64> = Vec::new();
                let mut more = false;
                let wanted = positive.and_then(|text| text.parse::<f64>().ok());
                let mut named = false;
                for &x in numbers.iter().filter(|x| x.is_finite()) {
                    named |= Some(x) == wanted;
                    if !distinct.contains(&x) {
                        if distinct.len() < LISTED { distinct.push(x) } else { more = true }
                    }
                    if more && (named || wanted.is_none()) {
                        break;
                    }
                }
                crate::sort::numbers(&mut distinct);
                (distinct.into_iter().map(number_text).collect::<Vec<_>>(), more, named)
            }
            LabelCells::Text { values, .. } => {
                let named = positive.is_some_and(|text| values.iter().any(|value| same(value, text)));
                (values.iter().take(LISTED).cloned().collect(), values.len() > LISTED, named)
            }
        };
        if let Some(text) = positive
            && !named
        {
            return Err(DataErrorKind::PositiveAbsent { positive: text.to_string(), labels });
        }
        match (labels.as_slice(), positive) {
            ([], _) => Err(DataErrorKind::MissingLabel),
            ([label], _) => {
                Err(DataErrorKind::OneClass { label: label.clone(), column: column.map(ToString::to_string) })
            }
            ([low, high], None) => {
                let (positive, negative) = if cells.prefers_first(weights) { (low, high) } else { (high, low) };
                Ok(Self { positive: positive.clone(), negative: Some(negative.clone()) })
            }
            ([low, high], Some(text)) => {
                let (positive, negative) = if same(text, high) { (high, low) } else { (low, high) };
                Ok(Self { positive: positive.clone(), negative: Some(negative.clone()) })
            }
            (_, Some(text)) => Ok(Self { positive: text.to_string(), negative: None }),
            (_, None) => Err(DataErrorKind::ManyLabels { labels, more }),
        }
    }

    fn of(&self, text: &str) -> Result<u8, DataErrorKind> {
        if same(text, &self.positive) {
            return Ok(1);
        }
        match &self.negative {
            Some(negative) if !same(text, negative) => Err(DataErrorKind::UnknownLabel {
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
                let number = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
                let positive = number(&self.positive);
                let negative = self.negative.as_deref().map(number);
                for &row in rows {
                    let x = numbers.get(row as usize).copied().unwrap_or(f64::NAN);
                    labels.push(if x.is_nan() {
                        return Err((row as usize, DataErrorKind::MissingLabel));
                    } else if x == positive {
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
            let mut distinct: Vec<f64> = numbers.iter().filter(|x| x.is_finite()).map(|x| x + 0.0).collect();
            crate::sort::numbers(&mut distinct);
            distinct.dedup();
            distinct.truncate(MAX_CLASSES + 1);
            distinct.into_iter().map(number_text).collect()
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
            let class_of = |text: &String| classes.iter().position(|class| same(class, text));
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

pub(super) fn find_label(table: &RawTable, options: &Options) -> Result<LabelRule, DataError> {
    let (column, cells) = label_cells(table, options)?;
    let name = column.as_deref();
    let at = name.and_then(|name| table.columns().iter().position(|other| other == name)).unwrap_or(0);
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
