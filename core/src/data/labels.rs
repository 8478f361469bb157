//! Which label is the positive one.

use super::error::DataErrorKind;
use super::parse::{MISSING, number_text};
use crate::checkpoint::{Coded, Reader};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The columns taken as the label when none is named, in this order, in any case.
pub const LABEL_NAMES: [&str; 4] = ["label", "target", "class", "y"];

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

/// How a label becomes 1 (positive) or 0.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LabelRule {
    /// The label column; none for LIBSVM and arrays.
    pub column: Option<String>,
    pub positive: String,
    /// The one negative value, or none when every value but the positive one is negative.
    pub negative: Option<String>,
}

impl Coded for LabelRule {
    fn write(&self, out: &mut Vec<u8>) {
        self.column.write(out);
        self.positive.write(out);
        self.negative.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self { column: from.value()?, positive: from.value()?, negative: from.value()? })
    }
}

/// Are these two the same label? Numbers are compared by value.
pub(super) fn same(a: &str, b: &str) -> bool {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

impl LabelRule {
    /// The rule for these cells: the larger of two values is positive, unless one is named.
    pub fn find(cells: LabelCells<'_>, column: Option<String>, positive: Option<&str>) -> Result<Self, DataErrorKind> {
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
            ([label], _) => Err(DataErrorKind::OneClass { label: label.clone(), column }),
            ([low, high], None) => Ok(Self { column, positive: high.clone(), negative: Some(low.clone()) }),
            ([low, high], Some(text)) => {
                let (positive, negative) = if same(text, high) { (high, low) } else { (low, high) };
                Ok(Self { column, positive: positive.clone(), negative: Some(negative.clone()) })
            }
            (_, Some(text)) => Ok(Self { column, positive: text.to_string(), negative: None }),
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
