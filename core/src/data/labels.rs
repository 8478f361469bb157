//! Which label is the positive one.

use super::dataset::MAX_CLASSES;
use super::error::DataErrorKind;
use super::parse::{MISSING, number_text};
use crate::checkpoint::{Coded, Reader};
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
    /// The rule for these cells: the larger of two values is positive, unless one is named.
    pub fn find(cells: LabelCells<'_>, column: Option<&str>, positive: Option<&str>) -> Result<Self, DataErrorKind> {
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
                distinct.sort_by(f64::total_cmp);
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
            ([low, high], None) => Ok(Self { positive: high.clone(), negative: Some(low.clone()) }),
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
            distinct.sort_unstable_by(f64::total_cmp);
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
pub(super) fn numbers(cells: LabelCells<'_>, rows: &[u32]) -> Result<Vec<f64>, (usize, DataErrorKind)> {
    match cells {
        LabelCells::Numbers(numbers) => {
            let number = |&row: &u32| match numbers.get(row as usize) {
                Some(x) if x.is_finite() => Ok(*x),
                _ => Err((row as usize, DataErrorKind::MissingLabel)),
            };
            rows.iter().map(number).collect()
        }
        LabelCells::Text { values, codes } => {
            let row = rows.first().map_or(0, |&row| row as usize);
            let code = codes.get(row).copied().unwrap_or(MISSING);
            Err((
                row,
                match values.get(code as usize) {
                    Some(text) => DataErrorKind::NotANumber { text: text.clone(), column: String::new() },
                    None => DataErrorKind::MissingLabel,
                },
            ))
        }
    }
}
