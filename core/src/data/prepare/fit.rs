//! Fitting a preparation.

use super::super::error::{DataError, DataErrorKind, Doubt};
use super::super::parse::{Content, Encoding, RawColumn, RawTable, limited};
use super::super::rows::Rows;
use super::super::scale::{Affine, Scale, standard, weight_of};
use super::columns::{fit_categories, fit_numbers, keep_frequent};
use super::encode::{Encode, fit_pieces};
use super::groups::GroupRule;
use super::identifiers::{left_out, refuse_missing};
use super::labels::{LabelRule, Positive, Rule, find_label, targets};
use super::order::{counted, robust};
use super::role::{Column, Layout};
use super::table::{
    all_rows, check_dense, check_rows, no_column, not_a_number, numbers_of, places, refuse_doubt, refuse_unreadable,
};
use super::weights::weights;
use super::wide::most_columns;
use super::{Kinds, Missing, Options, Preparation, SplitBy, cross};
use crate::batch::WEIGHTS;
use crate::error::Error;
use crate::features::{COMPACT, EVERY};
use crate::metric::check_weights;
use crate::real::Real;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// Ranks are of columns with names.
const RANKS: Error = Error::Unsupported { what: "scale rank of LIBSVM rows and arrays (robust is there)" };

/// Why columns without names have no maps.
enum Unfit {
    /// Numbers of this column that do not fit.
    Spread(usize),
    Ranks,
}

/// The maps of columns without names, of so many rows and columns given as `(row values)`; none where the scaling is not by column.
fn maps<'a, I>(
    scale: Scale,
    weight: impl Fn(usize) -> f64,
    [rows, cols]: [usize; 2],
    values: impl Fn(usize) -> I,
) -> Result<Vec<Affine>, Unfit>
where
    I: Iterator<Item = (usize, f64)> + 'a,
{
    match scale {
        Scale::None | Scale::Unit => return Ok(Vec::new()),
        Scale::Rank => return Err(Unfit::Ranks),
        Scale::Standard | Scale::Robust => {}
    }
    let maps = standard(&weight, rows, cols, &values).map_err(Unfit::Spread)?;
    if scale == Scale::Standard {
        return Ok(maps);
    }
    let (mut columns, mut all) = (vec![Vec::new(); cols], 0.0);
    for row in 0..rows {
        all += weight(row);
        values(row).for_each(|(column, x)| columns[column].push((x, weight(row))));
    }
    let robust = |(mut column, map): (Vec<(f64, f64)>, Affine)| {
        // (Of sparse rows the rest is 0.)
        let there: f64 = column.iter().map(|value| value.1).sum();
        column.push((0.0, all - there));
        robust(&counted(column), map)
    };
    Ok(columns.into_iter().zip(maps).map(robust).collect())
}

impl Preparation {
    /// Fits on a whole table.
    ///
    /// # Errors
    /// No or an unknown label column, other columns that do not exist, missing values that are refused, one class, more
    /// label values than the target has (two, or [`MAX_CLASSES`](crate::data::MAX_CLASSES)), text among numbers, sizes beyond the
    /// limits; `OneGroup`, `ManyGroups`, `NoGroupColumns`.
    pub fn fit(table: &RawTable, options: &Options) -> Result<Self, DataError> {
        Self::fit_rows(table, options, &all_rows(table))
    }

    /// Fits on some rows of a table; which label is positive, or which classes there are, is decided on the whole table. Of a
    /// column of weights ([`Options::weight`]) each row counts its own in means, deviations and what there is of categories.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and `Core(Index)` for a row that does not exist.
    pub fn fit_rows(table: &RawTable, options: &Options, rows: &[u32]) -> Result<Self, DataError> {
        check_rows(table, rows)?;
        let label = find_label(table, options)?;
        targets::<f64>(table, &label, rows)?;
        let scale = options.scale.unwrap_or_else(|| Scale::usual(table.format()));
        let (layout, weights) = match &table.content {
            Content::Libsvm { ptr, col, val, cols, .. } => {
                if options.encode != Encode::Linear {
                    return Err(table.error(Error::Unsupported { what: "splines and bins of LIBSVM rows" }.into()));
                }
                if *cols == 0 {
                    return Err(table.error(DataErrorKind::NoFeatures));
                }
                if options.weight.is_some() {
                    return Err(table.error(DataErrorKind::NoWeightColumn));
                }
                if scale.by_column() {
                    check_dense(table, rows.len(), *cols)?;
                }
                let values = |k: usize| {
                    let row = rows[k] as usize;
                    (ptr[row]..ptr[row + 1]).map(|at| (col[at] as usize, val[at]))
                };
                let maps = maps(scale, weight_of(&[]), [rows.len(), *cols], values).map_err(|error| match error {
                    Unfit::Spread(column) => table.error(DataErrorKind::Spread { column: format!("{}", column + 1) }),
                    Unfit::Ranks => table.error(RANKS.into()),
                })?;
                (Layout::Numbered { cols: *cols, maps }, Vec::new())
            }
            Content::Csv { names, columns, .. } => {
                let places = places(names);
                let split_by = options.split_by.as_ref().map(SplitBy::column);
                let named = options.categorical.iter().chain(&options.ignore).chain(&options.weight).chain(split_by);
                if let Some(name) = named.into_iter().find(|name| !places.contains_key(name.as_str())) {
                    return Err(no_column(table, names, name));
                }
                refuse_missing(table, options, label.column.as_deref(), rows)?;
                let column = options.weight.as_ref().filter(|_| WEIGHTS);
                let weights = column.map(|column| weights(table, column, rows)).transpose()?.unwrap_or_default();
                let left_out = left_out(table, options);
                let as_categories: BTreeSet<&str> = options.categorical.iter().map(String::as_str).collect();
                let (mut fitted, mut counts) = (Vec::new(), Vec::new());
                for (at, name) in names.iter().enumerate() {
                    // (What says which numbers of a column are limits goes with it.)
                    let of = limited(name).filter(|of| places.contains_key(of));
                    let is_none = |name: &str| Some(name) == label.column.as_deref() || left_out.contains(name);
                    if is_none(name) || of.is_some_and(|of| is_none(of) || as_categories.contains(of)) {
                        continue;
                    }
                    let categorical = as_categories.contains(name.as_str());
                    refuse_unreadable(table, at)?;
                    if !categorical {
                        refuse_doubt(table, at)?;
                    } else if let Some((text, other)) = table.two_spellings(at, false).filter(|_| table.is_text) {
                        let (doubt, column) = (Doubt::Spelling, name.clone());
                        return Err(table.error(DataErrorKind::Doubtful { doubt, column, text, other }));
                    }
                    let (role, count) = match (numbers_of(table, at, categorical), &columns[at]) {
                        (Some(values), _) => {
                            let role = fit_numbers(&values, rows, &weights, scale, options.missing)
                                .and_then(|role| fit_pieces(options.encode, role, &values, rows, &weights, scale))
                                .ok_or_else(|| table.error(DataErrorKind::Spread { column: name.clone() }))?;
                            (role, Vec::new())
                        }
                        (None, RawColumn::Text { values, codes, stray: Some(row) }) if !categorical => {
                            let row = *row as usize;
                            return Err(not_a_number(table, row, at, name, &values[codes[row] as usize]));
                        }
                        (None, column) => fit_categories(column, rows, &weights, scale),
                    };
                    fitted.push(Column { name: name.clone(), role });
                    counts.push(count);
                }
                if EVERY {
                    let most = most_columns(&fitted, [table.rows(), names.len()], rows.len());
                    keep_frequent(&mut fitted, &counts, most);
                }
                let width: usize = fitted.iter().map(|column| column.role.width()).sum();
                if width == 0 {
                    return Err(table.error(DataErrorKind::NoFeatures));
                }
                (Layout::Named(fitted), weights)
            }
        };
        let groups = GroupRule::fit(table, options, rows)?;
        let kinds = match &layout {
            Layout::Named(fitted) => {
                let names = fitted.iter().map(|column| &column.name).chain(&label.column);
                Kinds::new(table, names, &options.categorical.iter().map(String::as_str).collect())
            }
            Layout::Numbered { .. } => Kinds::default(),
        };
        let made = Self {
            layout,
            scale,
            missing: options.missing,
            na: table.na.clone(),
            label,
            groups,
            weight: options.weight.clone(),
            split_by: options.split_by.clone(),
            notations: table.notations(),
            kinds,
            encoding: table.encoding,
            crosses: Vec::new(),
        };
        if options.cross.is_empty() {
            return Ok(made);
        }
        if COMPACT {
            return Err(table.error(Error::Unsupported { what: "products of columns in small builds" }.into()));
        }
        let crosses = cross::fit(&made, table, options, rows, &weights)?;
        Ok(Self { crosses, ..made })
    }

    /// Fits on arrays: `x` row-major, rows × `cols`, `y` 1 for positive and 0 for negative.
    ///
    /// # Errors
    /// `Param`, `Length`, `NonFinite`, `Label`, `OneClass`, `Overflow`.
    pub fn fit_arrays<T: Real>(x: &[T], y: &[u8], cols: usize, scale: Scale) -> Result<Self, Error> {
        Self::fit_weighted_arrays(x, y, &[], cols, scale)
    }

    /// The same of rows with a weight each, or none at all.
    ///
    /// # Errors
    /// As [`fit_arrays`](Self::fit_arrays), and `Weight`.
    pub fn fit_weighted_arrays<T: Real>(
        x: &[T],
        y: &[u8],
        weights: &[f64],
        cols: usize,
        scale: Scale,
    ) -> Result<Self, Error> {
        let rows = Rows::dense(x, cols)?.len();
        crate::error::exact_len("y", rows, y.len())?;
        let (positives, negatives) = crate::error::count_labels(y)?;
        if positives == 0 || negatives == 0 {
            return Err(Error::OneClass);
        }
        if !weights.is_empty() {
            crate::error::exact_len("weights", rows, weights.len())?;
            check_weights(weights)?;
        }
        let values = |row: usize| x[row * cols..][..cols].iter().map(|x| x.f64()).enumerate();
        let maps = maps(scale, weight_of(weights), [rows, cols], values).map_err(|error| match error {
            Unfit::Spread(_) => Error::Overflow { what: "the deviation of a column" },
            Unfit::Ranks => RANKS,
        })?;
        let rule = Rule::Binary(Positive::one("1".to_string(), Some("0".to_string())));
        let label = LabelRule { column: None, rule };
        let (layout, missing, na) = (Layout::Numbered { cols, maps }, Missing::Refuse, Vec::new());
        Ok(Self {
            layout,
            scale,
            missing,
            na,
            label,
            groups: None,
            weight: None,
            split_by: None,
            notations: Vec::new(),
            kinds: Kinds::default(),
            encoding: Encoding::Utf8,
            crosses: Vec::new(),
        })
    }
}
