//! Columns that are in memory.

use super::super::column::{MISSING, Written};
use super::super::notation::{Notation, bucket};
use super::super::reads::Absent;
use super::super::seen::Seen;
use super::super::{Kind, Values, number_text};
use super::{Column, Found, Making, code};
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

impl Making {
    /// Of columns that are in memory, so many rows behind the first; those with buckets are hashed.
    pub fn of_columns<'a>(columns: impl Iterator<Item = Values<'a>>, buckets: &[u8], before: usize) -> Self {
        let mut made = Self { columns: Vec::new(), rows: 0, non_finite: BTreeMap::new() };
        for (at, of) in columns.enumerate() {
            made.rows = of.len();
            let (kind, values, written) = taken(of);
            let buckets = buckets.get(at).copied().unwrap_or(0);
            let (seen, cells) = match values {
                Ok(values) if buckets > 0 => {
                    let mut numbers = BTreeMap::new();
                    let mut hashed = |x: &f64| code(&mut numbers, &bucket(&number_text(*x), buckets));
                    let codes = values.iter().map(|x| if x.is_nan() { MISSING } else { hashed(x) }).collect();
                    (None, Found::text(numbers, codes))
                }
                Ok(values) => {
                    let infinite = (before as u32 + 1..).zip(values).find(|(_, x)| x.is_infinite());
                    made.non_finite.extend(infinite.map(|(line, x)| (at, (line, format!("{x}")))));
                    let count = values.iter().filter(|x| !x.is_nan()).count();
                    let seen = Seen { large: written.len(), ..Seen::of(kind, count) };
                    (Some(seen), Found::Numbers { values: values.to_vec(), written })
                }
                Err(texts) => {
                    let mut numbers = BTreeMap::new();
                    let mut one = |text: &str| match buckets {
                        0 => code(&mut numbers, text),
                        _ => code(&mut numbers, &bucket(text, buckets)),
                    };
                    let codes = texts.iter().map(|text| text.map_or(MISSING, &mut one)).collect();
                    (None, Found::text(numbers, codes))
                }
            };
            let known = if buckets > 0 {
                Notation { kind: Kind::Text, ..Notation::hashed(buckets) }
            } else {
                Notation::of(kind)
            };
            let mut column = Column::new(seen, cells, known, Absent::all(&[]));
            if let Values::Whole(_, exact) = of {
                exact.iter().for_each(|(_, text)| column.spellings.add(text));
            }
            if let Values::Unreadable(_, what) = of {
                column.unreadable = Some(what.to_string());
            }
            made.columns.push(column);
        }
        made
    }
}

/// The numbers of a column, or its texts.
type NumbersOr<'a> = Result<&'a [f64], Cow<'a, [Option<&'a str>]>>;

/// The kind of a column, what it has, and the digits of numbers that a float has not.
fn taken(of: Values<'_>) -> (Kind, NumbersOr<'_>, Written) {
    match of {
        Values::Numbers(values) => (Kind::Number, Ok(values), Written::default()),
        Values::Whole(values, exact) => {
            let mut written = Written::default();
            exact.iter().for_each(|(row, text)| written.push(*row, text));
            (Kind::Number, Ok(values), written)
        }
        Values::Of(Kind::Truth, values) => (Kind::Truth, Err(truths(values)), Written::default()),
        Values::Of(kind, values) => (kind, Ok(values), Written::default()),
        Values::Texts(texts) => (Kind::Text, Err(Cow::Borrowed(texts)), Written::default()),
        Values::Owned(texts) => (Kind::Text, Err(texts.iter().map(Option::as_deref).collect()), Written::default()),
        Values::Nothing(rows) | Values::Unreadable(rows, _) => {
            (Kind::Unknown, Err(vec![None; rows].into()), Written::default())
        }
    }
}

/// Truths as texts.
fn truths<'a>(values: &[f64]) -> Cow<'a, [Option<&'a str>]> {
    values.iter().map(|x| (!x.is_nan()).then_some(if *x == 0.0 { "false" } else { "true" })).collect()
}
