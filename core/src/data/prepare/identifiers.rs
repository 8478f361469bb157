//! Columns that tell rows apart, and what else is no feature.

use super::super::error::DataError;
use super::super::parse::{Content, MISSING, RawColumn, RawTable};
use super::labels::label_column_of;
use super::table::{first_missing, not_features};
use super::{Missing, Options};
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

/// More different values than this, in more than half of the rows, can be an identifier.
pub(super) const MANY: usize = 50;

/// Columns that tell rows apart and nothing else, with the number of their different values, more than fifty: texts, as names and
/// hashes, of which there are more than half as many as rows with one; and whole numbers that count the rows one by one, or are
/// different in every row of a column called `id`, `rownames`, or with `_id`, `Id` or `ID` at its end. They are left out, but for
/// texts in columns of [`Options::categorical`], those of [`Options::features`], and unless [`Options::keep_identifiers`]. (The label column and those that are ignored are none.)
#[must_use]
pub fn identifiers(table: &RawTable, options: &Options) -> Vec<(String, usize)> {
    let Content::Csv { names, columns, .. } = &table.content else { return Vec::new() };
    if options.keep_identifiers {
        return Vec::new();
    }
    let label = label_column_of(table, options).ok().flatten();
    let told = options.categorical.iter().chain(&options.features);
    let named: BTreeSet<&String> = told.chain(not_features(options)).chain(&label).collect();
    let mut found = Vec::new();
    let sure = |(at, (name, _)): &(usize, (&String, _))| !named.contains(name) && table.doubt(*at).is_none();
    for (_, (name, column)) in names.iter().zip(columns).enumerate().filter(sure) {
        let count = match column {
            RawColumn::Text { values, codes, stray: None } => {
                let there = codes.iter().filter(|&&code| code != MISSING).count();
                Some(values.len()).filter(|count| 2 * count > there)
            }
            RawColumn::Numbers(values, _) => {
                Some(values.len()).filter(|_| counts_rows(values) || is_number_of(name, values))
            }
            RawColumn::Text { .. } => None,
        };
        if let Some(count) = count.filter(|&count| count > MANY) {
            found.push((name.clone(), count));
        }
    }
    found
}

/// Whether every number is the one before and 1.
fn counts_rows(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[1] - pair[0] == 1.0)
}

pub(super) fn is_called_identifier(name: &str) -> bool {
    ["id", "rownames"].iter().any(|word| name.eq_ignore_ascii_case(word))
        || ["_id", "_ID", "Id", "ID"].iter().any(|end| name.ends_with(end))
}

/// Whether a column that is called like one of identifiers has another whole number in every row.
fn is_number_of(name: &str, values: &[f64]) -> bool {
    if !is_called_identifier(name) || values.iter().any(|&x| libm::floor(x) != x) {
        return false;
    }
    let mut sorted: Vec<u64> = values.iter().map(|x| (x + 0.0).to_bits()).collect();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}

/// The columns that are no features: those to ignore, those of the weights and of the split, the identifiers, and, where missing
/// values are filled in, those without any value.
pub(super) fn left_out(table: &RawTable, options: &Options) -> BTreeSet<String> {
    let identifiers = identifiers(table, options).into_iter().map(|(name, _)| name);
    let empty = table.empty().into_iter().filter(|_| options.missing == Missing::Impute);
    not_features(options).cloned().chain(identifiers).chain(empty).collect()
}

/// Refuses a missing value in a column of features, unless they are filled in.
pub(super) fn refuse_missing(
    table: &RawTable,
    options: &Options,
    label: Option<&str>,
    rows: &[u32],
) -> Result<(), DataError> {
    let Content::Csv { names, .. } = &table.content else { return Ok(()) };
    if options.missing == Missing::Impute {
        return Ok(());
    }
    let left_out = left_out(table, options);
    let used = |name: &String| Some(name.as_str()) != label && !left_out.contains(name);
    let columns: Vec<usize> = (0..names.len()).filter(|&at| used(&names[at])).collect();
    first_missing(table, &columns, rows)
}
