//! Fitting columns: numbers, or categories.

use super::super::parse::{MISSING, RawColumn, as_text, number_text};
use super::super::scale::{Affine, Moments, Scale, indicator, weight_of};
use super::Missing;
use super::role::{Column, Role};
use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// Sorted categories and the code of each row, also for a column of numbers.
pub(super) fn as_categories(column: &RawColumn) -> (Cow<'_, [String]>, Cow<'_, [u32]>) {
    match column {
        RawColumn::Text { values, codes, .. } => (Cow::Borrowed(values), Cow::Borrowed(codes)),
        RawColumn::Numbers(numbers, written) if !written.is_empty() => {
            let (values, codes) = as_text(numbers, written);
            (Cow::Owned(values), Cow::Owned(codes))
        }
        RawColumn::Numbers(numbers, _) => {
            let mut names = BTreeMap::new();
            for x in numbers.iter().filter(|x| !x.is_nan()) {
                names.entry((x + 0.0).to_bits()).or_insert_with(|| number_text(*x));
            }
            let mut values: Vec<String> = names.values().cloned().collect();
            values.sort_unstable();
            let code = |name: &String| values.binary_search(name).map_or(MISSING, |at| at as u32);
            let codes_of: BTreeMap<u64, u32> = names.iter().map(|(&bits, name)| (bits, code(name))).collect();
            let codes = numbers.iter().map(|x| codes_of.get(&(x + 0.0).to_bits()).copied().unwrap_or(MISSING));
            let codes = codes.collect();
            (Cow::Owned(values), Cow::Owned(codes))
        }
    }
}

pub(super) fn fit_numbers(
    values: &[f64],
    rows: &[u32],
    weights: &[f64],
    scale: Scale,
    missing: Missing,
) -> Option<Role> {
    let weight = weight_of(weights);
    let all = || rows.iter().enumerate().map(|(at, &row)| (values[row as usize], weight(at)));
    let there = || all().filter(|(x, _)| !x.is_nan());
    let mut moments = Moments::NEW;
    there().for_each(|(x, weight)| moments.first(x, weight));
    moments.centre(0.0);
    there().for_each(|(x, weight)| moments.second(x, weight));
    let imputed = all().filter(|(x, _)| x.is_nan()).fold(0.0, |sum, (_, weight)| sum + weight);
    number(&moments, imputed, scale, missing)
}

/// A column of numbers with these moments, and what counts so much missing.
pub(super) fn number(moments: &Moments, imputed: f64, scale: Scale, missing: Missing) -> Option<Role> {
    let gone = if scale.by_column() { indicator(moments.count(), imputed) } else { Affine::IDENTITY };
    let missing = (missing == Missing::Impute && imputed > 0.0).then_some(gone);
    match (moments.finish(imputed), scale) {
        (Some((mean, map)), scale) if scale.by_column() => Some(Role::Number { mean, map, missing }),
        (Some((mean, _)), _) => Some(Role::Number { mean, map: Affine::IDENTITY, missing }),
        // Without standardising only the mean matters, and that only where something is missing.
        (None, scale) if scale.by_column() => None,
        (None, _) => (imputed == 0.0).then_some(Role::Number { mean: 0.0, map: Affine::IDENTITY, missing }),
    }
}

/// The column, and what each category counts.
pub(super) fn fit_categories(column: &RawColumn, rows: &[u32], weights: &[f64], scale: Scale) -> (Role, Vec<f64>) {
    let (there, codes) = as_categories(column);
    let weight = weight_of(weights);
    let mut counts = vec![0.0; there.len()];
    let (mut none, mut all) = (0.0, 0.0);
    for (at, &row) in rows.iter().enumerate() {
        match counts.get_mut(codes[row as usize] as usize) {
            Some(count) => *count += weight(at),
            None => none += weight(at),
        }
        all += weight(at);
    }
    let seen = there.iter().zip(&counts).filter(|&(_, &count)| count > 0.0);
    let role = category(seen.map(|(text, &count)| (text.clone(), count)).collect(), none, all, scale);
    counts.retain(|&count| count > 0.0);
    (role, counts)
}

/// Leaves the rarest categories without a feature until the columns, those of pieces aside, have at most so many, or none has one
/// left. `counts` has what the categories of each column count, in their order; of equals the last goes first.
pub(super) fn keep_frequent(columns: &mut [Column], counts: &[Vec<f64>], most: usize) {
    let asked = |column: &&Column| matches!(column.role, Role::Pieces { .. });
    let width: usize = columns.iter().filter(|column| !asked(column)).map(|column| column.role.width()).sum();
    let Some(excess) = width.checked_sub(most).filter(|&excess| excess > 0) else { return };
    let mut rarest: Vec<(f64, Reverse<(usize, usize)>)> = Vec::new();
    for (at, counts) in counts.iter().enumerate() {
        rarest.extend(counts.iter().enumerate().map(|(value, &count)| (count, Reverse((at, value)))));
    }
    rarest.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    rarest.truncate(excess);
    let gone: BTreeSet<(usize, usize)> = rarest.into_iter().map(|(_, Reverse(place))| place).collect();
    for (at, column) in columns.iter_mut().enumerate() {
        if let Role::Category { values, maps, .. } = &mut column.role {
            let stays = |value: usize| !gone.contains(&(at, value));
            let mut value = 0..;
            values.retain(|_| value.next().is_some_and(stays));
            let mut value = 0..;
            maps.retain(|_| value.next().is_some_and(stays));
        }
    }
}

/// A column of these categories with what each counts, what is missing, and all.
pub(super) fn category(seen: Vec<(String, f64)>, none: f64, all: f64, scale: Scale) -> Role {
    let map = |ones: f64| if scale.by_column() { indicator(all - ones, ones) } else { Affine::IDENTITY };
    let maps = seen.iter().map(|&(_, count)| map(count)).collect();
    let missing = (none > 0.0).then(|| map(none));
    Role::Category { values: seen.into_iter().map(|(text, _)| text).collect(), maps, missing }
}
