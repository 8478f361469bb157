//! Applying a fitted preparation.

use super::super::Kind;
use super::super::dataset::{Dataset, Storage, Summary, Targets};
use super::super::error::{DataError, DataErrorKind, Doubt};
use super::super::parse::{Content, MISSING, Notation, RawColumn, RawTable, is_word, truth};
use super::super::scale::Affine;
use super::categories::Categories;
use super::columns::as_categories;
use super::groups::Groups;
use super::knots::{Knot, rank};
use super::labels::{cells_again, targets};
use super::numbered::{scale_row, unfit};
use super::piece::Piece;
use super::queries::queries;
use super::role::{Column, Layout, Role};
use super::table::{
    GIVEN_BACK, all_rows, check_rows, first_missing, is_missing, most_dense, no_column, not_a_number, places,
    refuse_doubt, refuse_unreadable, reserve, zeros,
};
use super::weights::weights;
use super::wide::Making;
use super::{Missing, Preparation};
use crate::batch::WEIGHTS;
use crate::error::Error;
use crate::features::COMPACT;
use crate::real::Real;
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

impl Preparation {
    /// The features and targets of a whole table. A table that is given away, and not lent, gives its memory back on the way.
    ///
    /// # Errors
    /// Columns of training that are not there, text in a column of numbers, missing values that are refused, labels
    /// that training did not have (`UnknownLabel`, `UnknownClass`), values that do not fit `T`.
    pub fn apply<'a, T: Real>(&self, table: impl Into<Cow<'a, RawTable>>) -> Result<Dataset<T>, DataError> {
        let table = table.into();
        let rows = all_rows(&table);
        Ok(self.apply_parts(table, &[&rows])?.swap_remove(0))
    }

    /// The features and targets of parts of a table; the rows of each ascend where it is given away.
    pub(super) fn apply_parts<T: Real>(
        &self,
        table: Cow<'_, RawTable>,
        parts: &[&[u32]],
    ) -> Result<Vec<Dataset<T>>, DataError> {
        let targets = parts.iter().map(|rows| targets(&table, &self.label, rows)).collect::<Result<_, _>>()?;
        let mut made = self.features(table, parts, targets)?;
        made.iter_mut().zip(parts).for_each(|(part, rows)| part.set_places(rows.to_vec()));
        Ok(made)
    }

    /// The features and targets of some rows of a table, in that order.
    ///
    /// # Errors
    /// As [`apply`](Self::apply), and `Core(Index)` for a row that does not exist.
    pub fn apply_rows<T: Real>(&self, table: &RawTable, rows: &[u32]) -> Result<Dataset<T>, DataError> {
        check_rows(table, rows)?;
        Ok(self.apply_parts(Cow::Borrowed(table), &[rows])?.swap_remove(0))
    }

    /// The features of a table whose labels do not matter or do not exist (a LIBSVM row always has one).
    ///
    /// # Errors
    /// As [`apply`](Self::apply), apart from the labels.
    pub fn apply_unlabelled<T: Real>(&self, table: &RawTable) -> Result<Dataset<T>, DataError> {
        Ok(self.features(Cow::Borrowed(table), &[&all_rows(table)], vec![Targets::None])?.swap_remove(0))
    }

    /// The features of arrays of the width fitted on; `y` may be empty.
    ///
    /// # Errors
    /// `Unsupported` when fitted on a table with named columns; `Length`, `NonFinite`, `Label`, `Overflow`.
    pub fn apply_arrays<T: Real>(&self, x: &[T], y: &[u8]) -> Result<Dataset<T>, Error> {
        let Layout::Numbered { cols, maps } = &self.layout else {
            return Err(Error::Unsupported { what: "arrays for a preparation of named columns" });
        };
        let mut data = Dataset::dense(x.to_vec(), y.to_vec(), *cols)?;
        let Storage::Dense(values) = &mut data.storage else { return Ok(data) };
        let mut buffer = vec![0.0; if values.is_empty() { 0 } else { *cols }];
        for row in values.chunks_mut(*cols) {
            for (to, from) in buffer.iter_mut().zip(row.iter()) {
                *to = from.f64();
            }
            scale_row(&mut buffer, self.scale, maps);
            for (to, &x) in row.iter_mut().zip(&buffer) {
                *to = T::of(x);
                if !to.is_finite() {
                    return Err(Error::Overflow { what: "a scaled value" });
                }
            }
        }
        Ok(data)
    }

    /// Data that this was applied to whole, with the groups that these columns make of the table; every group is then as if
    /// training had had it.
    ///
    /// # Errors
    /// Columns that do not exist, missing values that are refused, `OneGroup`, `ManyGroups`, `NoGroupColumns`.
    pub fn grouped<T: Real>(
        &self,
        table: &RawTable,
        data: Dataset<T>,
        columns: &[String],
    ) -> Result<Dataset<T>, DataError> {
        let rule = self.clone().with_groups(table, columns)?.groups;
        match rule.map(|rule| rule.apply(table, self.missing, &all_rows(table))).transpose()?.flatten() {
            Some(Groups { of, names }) => data.with_groups(of, names).map_err(|error| table.error(error.into())),
            None => Ok(data),
        }
    }

    /// Data that this was applied to whole, with the weights of a column of the table.
    ///
    /// # Errors
    /// A column that does not exist; with their place missing values, text, and numbers below 0; `NoWeightColumn`,
    /// `Core(Empty)` when all are 0.
    pub fn weighted<T: Real>(&self, table: &RawTable, data: Dataset<T>, column: &str) -> Result<Dataset<T>, DataError> {
        let weights = weights(table, column, &all_rows(table))?;
        data.with_weights(weights).map_err(|error| table.error(error.into()))
    }

    /// Data that this was applied to whole, with the queries of a column of the table, and the labels as gains where they are
    /// graded: more than two different numbers from 0 to 100.
    ///
    /// # Errors
    /// A column that does not exist; missing values, with their place; `NoQueryColumn`.
    pub fn queried<T: Real>(&self, table: &RawTable, data: Dataset<T>, column: &str) -> Result<Dataset<T>, DataError> {
        let labels = cells_again(table, &self.label)?.0;
        let queries = queries(table, column, Some(&labels))?;
        data.with_queries(queries).map_err(|error| table.error(error.into()))
    }

    /// The features of parts of a table, with their targets.
    fn features<T: Real>(
        &self,
        mut table: Cow<'_, RawTable>,
        parts: &[&[u32]],
        targets: Vec<Targets<T>>,
    ) -> Result<Vec<Dataset<T>>, DataError> {
        if !table.is_text && !self.na.is_empty() {
            table.to_mut().forget(&self.na);
        }
        if self.cols() == 0 {
            return Err(table.error(DataErrorKind::NoFeatures)); // only a damaged preparation is like that
        }
        let mut beside = Vec::with_capacity(parts.len());
        for (rows, targets) in parts.iter().zip(&targets) {
            let groups = self.groups.as_ref().map(|rule| rule.apply(&table, self.missing, rows)).transpose()?.flatten();
            // (Rows without labels are to be scored, and count nothing.)
            let weight = self.weight.as_ref().filter(|_| WEIGHTS && *targets != Targets::None);
            let weight = weight.filter(|column| table.columns().contains(column));
            let weights = weight.map(|column| weights(&table, column, rows)).transpose()?;
            // (Only what can be told from the table alone.)
            let by = self.split_by.as_ref().filter(|_| *targets != Targets::None);
            beside.push((groups, weights, by.map(|by| by.units(&table, rows)).transpose()?.flatten()));
        }
        let made: Vec<Dataset<T>> = match (&self.layout, &table.content) {
            (Layout::Named(columns), Content::Csv { .. }) => {
                let features = self.named(&mut table, columns, parts, self.stored())?.into_iter();
                let made = features.zip(targets).zip(parts).map(|(((storage, summary), targets), rows)| {
                    Dataset::new(storage, self.cols(), targets, self.column_names(), summary, rows.len())
                });
                made.collect()
            }
            (Layout::Numbered { cols, maps }, Content::Libsvm { .. }) => {
                let made = if self.scale.by_column() {
                    parts.iter().map(|rows| self.dense(&table, *cols, maps, rows)).collect::<Result<Vec<_>, _>>()?
                } else {
                    self.sparse(&mut table, *cols, parts)?
                };
                let made = made.into_iter().zip(targets).zip(parts);
                let of = |(((storage, summary), targets), rows): (_, &&[u32])| {
                    Dataset::new(storage, *cols, targets, Vec::new(), summary, rows.len())
                };
                made.map(of).collect()
            }
            _ => return Err(table.error(DataErrorKind::OtherFormat)),
        };
        let with = |(mut data, (groups, weights, units)): (Dataset<T>, _)| {
            data.units = units;
            if let Some(Groups { of, names }) = groups {
                data = data.with_groups(of, names)?;
            }
            if let Some(weights) = weights { data.with_weights(weights) } else { Ok(data) }
        };
        let made = made.into_iter().zip(beside).map(with);
        made.map(|data| data.map_err(|error| table.error(error.into()))).collect()
    }

    /// Encoded columns of some rows of a table with named columns, dense.
    pub(super) fn encoded_rows(&self, table: &RawTable, rows: &[u32]) -> Result<Vec<f64>, DataError> {
        let Layout::Named(columns) = &self.layout else { return Err(table.error(DataErrorKind::OtherFormat)) };
        match self.named(&mut Cow::Borrowed(table), columns, &[rows], None)?.swap_remove(0).0 {
            Storage::Dense(data) => Ok(data),
            Storage::Csr { .. } => Err(table.error(DataErrorKind::OtherFormat)),
        }
    }

    /// The values of parts of a table row by row, and what was filled in: sparse where a row stores so many at most, else dense. It goes
    /// from the last row to the first, so that of a table that was given away what is read can be given back.
    fn named<T: Real>(
        &self,
        table: &mut Cow<'_, RawTable>,
        columns: &[Column],
        parts: &[&[u32]],
        stored: Option<usize>,
    ) -> Result<Vec<(Storage<T>, Summary)>, DataError> {
        let Content::Csv { names, columns: raw, .. } = &table.content else {
            return Err(table.error(DataErrorKind::OtherFormat));
        };
        let places = places(names);
        let place = |column: &Column| places.get(column.name.as_str()).copied();
        let found = columns.iter().map(|column| place(column).ok_or_else(|| no_column(table, names, &column.name)));
        let found = found.collect::<Result<Vec<usize>, _>>()?;
        // (Known to be none in small builds, which leave its code out.)
        let (cols, stored) = (self.cols(), stored.filter(|_| !COMPACT));
        let most = most_dense(table.rows(), names.len());
        let mut made = Vec::with_capacity(parts.len());
        for rows in parts {
            if self.missing == Missing::Refuse {
                first_missing(table, &found, rows)?;
            }
            // (Pieces of numbers, and products, were asked for.)
            let pieces = |column: &Column| if let Role::Pieces { .. } = column.role { column.role.width() } else { 0 };
            let wide = cols - self.crosses.len() - columns.iter().map(pieces).sum::<usize>();
            if stored.is_none() && rows.len().checked_mul(wide).is_none_or(|values| values > most) {
                let widest = columns.iter().max_by_key(|column| column.role.width());
                let widest = widest.map(|column| column.name.clone()).unwrap_or_default();
                return Err(table.error(DataErrorKind::TooWide { rows: rows.len(), columns: cols, widest }));
            }
            let mut summary = Summary::default();
            for ((column, &at), kind) in columns.iter().zip(&found).zip(self.kinds_of()) {
                self.check_kind(table, column, at, kind)?;
                self.check_written(table, column, at)?;
                check_numbers(table, column, at, rows)?;
                let missing = rows.iter().filter(|&&row| is_missing(&raw[at], row)).count();
                if missing > 0 {
                    summary.missing.push((column.name.clone(), missing));
                }
            }
            let making = match stored {
                Some(stored) => Making::Sparse {
                    ends: reserve(table, rows.len(), 1)?,
                    col: reserve(table, rows.len(), stored)?,
                    val: reserve(table, rows.len(), stored)?,
                },
                None => Making::Dense { data: zeros::<T>(table, rows.len(), cols)?, cols },
            };
            made.push((making, summary));
        }
        let mut fillers = Vec::with_capacity(columns.len());
        let mut start = 0;
        for ((column, &at), kind) in columns.iter().zip(&found).zip(self.kinds_of()) {
            // (Cells that were not hashed when they were read.)
            let buckets = if table.buckets(at) == 0 { self.notation(column).buckets } else { 0 };
            let seen = match &column.role {
                Role::Category { values, .. } => {
                    Categories { values, kind, trims: self.kinds.trims }.seen(table, at, buckets)?
                }
                _ => Vec::new(),
            };
            // (Where a frame has an empty text, a file has an empty cell.)
            let empty = table.is_text && !self.kinds.trims;
            if let (true, Role::Category { values, missing: Some(_), .. }) = (empty, &column.role)
                && values.first().is_some_and(String::is_empty)
                && table.missing(at) > 0
            {
                let (text, other, doubt) = (String::new(), "(missing)".to_string(), Doubt::Category);
                let kind = DataErrorKind::Doubtful { doubt, column: column.name.clone(), text, other };
                return Err(table.error_at(0, at, kind));
            }
            fillers.push(Filler::new(column, &raw[at], at, start, seen, empty));
            start += column.role.width();
        }
        let mut absent = vec![0.0; cols];
        fillers.iter().for_each(|filler| filler.absent(&mut absent));
        let mut unseen = vec![vec![0; fillers.len()]; parts.len()];
        let (mut buffer, mut spans) = (vec![0.0; cols], Vec::new());
        let mut left: Vec<usize> = parts.iter().map(|rows| rows.len()).collect();
        // The first value that does not fit, with its row and column.
        let mut error: Option<(u32, usize, f64)> = None;
        let mut end = table.rows();
        while end > 0 {
            let lent = matches!(table, Cow::Borrowed(_));
            end = if lent { 0 } else { (end - 1) / GIVEN_BACK * GIVEN_BACK };
            let Content::Csv { columns: raw, .. } = &table.content else { break };
            for (part, rows) in parts.iter().enumerate() {
                while let Some(&row) = rows[..left[part]].last().filter(|&&row| lent || row as usize >= end) {
                    left[part] -= 1;
                    if stored.is_none() {
                        buffer.copy_from_slice(&absent);
                    }
                    for (filler, unseen) in fillers.iter().zip(&mut unseen[part]) {
                        *unseen += usize::from(!filler.fill(raw, row as usize, &mut buffer));
                    }
                    let base = cols - self.crosses.len();
                    for (at, cross) in self.crosses.iter().enumerate() {
                        buffer[base + at] = cross.of(&buffer);
                    }
                    if stored.is_some() {
                        spans.clear();
                        spans.extend(fillers.iter().map(|filler| filler.span(raw, row as usize)));
                        spans.push(base..cols);
                    }
                    if let Some((at, x)) = made[part].0.take(left[part], &mut buffer, &spans, self.scale) {
                        let cell = fillers.iter().rposition(|filler| filler.start() <= at).map_or(0, |at| found[at]);
                        error = error.filter(|first| first.0 < row).or(Some((row, cell, x)));
                    }
                }
            }
            if let Cow::Owned(RawTable { content: Content::Csv { columns, .. }, .. }) = table {
                columns.iter_mut().for_each(|column| column.truncate(end));
            }
        }
        if let Some((row, cell, x)) = error {
            return Err(unfit(table, row, cell, x));
        }
        for ((_, summary), unseen) in made.iter_mut().zip(unseen) {
            let counted = columns.iter().zip(unseen).filter(|&(_, count)| count > 0);
            summary.unseen = counted.map(|(column, count)| (column.name.clone(), count)).collect();
        }
        Ok(made.into_iter().map(|(making, summary)| (making.done(), summary)).collect())
    }
}

impl Preparation {
    /// How the cells of a column were written in training.
    fn notation(&self, column: &Column) -> Notation {
        self.notations.iter().find(|(name, _)| *name == column.name).map_or(Notation::default(), |known| known.1)
    }

    /// What the columns were in training.
    fn kinds_of(&self) -> impl Iterator<Item = Kind> {
        self.named_kinds().map(|of| of.1)
    }

    /// Refuses a column of another kind than in training.
    fn check_kind(&self, table: &RawTable, column: &Column, at: usize, had: Kind) -> Result<(), DataError> {
        let got = table.kind(at);
        let category = matches!(column.role, Role::Category { .. });
        let of_time = |kind: Kind| matches!(kind, Kind::Date | Kind::Time | Kind::Duration);
        let truths = || {
            let Content::Csv { columns, .. } = &table.content else { return true };
            let RawColumn::Numbers(values, _) = &columns[at] else { return true };
            values.iter().all(|x| x.is_nan() || *x == 0.0 || *x == 1.0)
        };
        let fits = match (had, got) {
            (Kind::Unknown, _) | (_, Kind::Unknown) => true,
            _ if had == got => true,
            _ if category => !of_time(had) && !of_time(got),
            // (Text among numbers is told with its cell.)
            (_, Kind::Text | Kind::Code) => true,
            (Kind::Truth, Kind::Number | Kind::Level) => truths(),
            _ => !of_time(had) && !of_time(got),
        };
        let (column, kind) = (column.name.clone(), |column| DataErrorKind::OtherKind { column, had, got });
        if fits { Ok(()) } else { Err(table.error_at(0, at, kind(column))) }
    }

    /// Refuses numbers that may mean something else than in training.
    fn check_written(&self, table: &RawTable, column: &Column, at: usize) -> Result<(), DataError> {
        refuse_unreadable(table, at)?;
        let known = self.notation(column);
        if table.buckets(at) > 0 && known.buckets != table.buckets(at) {
            return Err(table.error(DataErrorKind::OtherFormat));
        }
        if matches!(column.role, Role::Category { .. }) {
            return Ok(());
        }
        refuse_doubt(table, at)?;
        let limits = table.limits(at);
        let (doubt, text) = match table.percent(at) {
            Some(percent) if percent != known.percent => (Doubt::Percent, if percent { "%" } else { "a number" }),
            _ if limits[0] && !known.limits[0] => (Doubt::Limits, "<"),
            _ if limits[1] && !known.limits[1] => (Doubt::Limits, ">"),
            _ => return Ok(()),
        };
        let (column, text) = (column.name.clone(), text.to_string());
        let kind = DataErrorKind::Doubtful { doubt, column, text, other: String::new() };
        Err(table.error_at(0, at, kind))
    }
}

/// Refuses text where training had numbers.
fn check_numbers(table: &RawTable, column: &Column, at: usize, rows: &[u32]) -> Result<(), DataError> {
    let Content::Csv { columns: raw, .. } = &table.content else { return Ok(()) };
    let RawColumn::Text { values, codes, .. } = &raw[at] else { return Ok(()) };
    if matches!(column.role, Role::Category { .. }) {
        return Ok(());
    }
    if numbers_in(table, values).is_some() && matches!(column.role, Role::Number { .. }) {
        return Ok(());
    }
    let text = |row: u32| values.get(codes[row as usize] as usize);
    // (A word for a missing value is a text because of another.)
    let bad = |also: bool| {
        rows.iter().find(|&&row| text(row).is_some_and(|text| text.parse::<f64>().is_err() && (also || !is_word(text))))
    };
    let row = bad(false).or_else(|| bad(true)).or(rows.first()).copied().unwrap_or(0);
    let text = text(row).map_or("", String::as_str);
    Err(not_a_number(table, row as usize, at, &column.name, text))
}

/// The numbers of texts that are true and false, which are 1 and 0 in memory, and, of a file, words for a missing value; `None` of other
/// texts.
fn numbers_in(table: &RawTable, values: &[String]) -> Option<Vec<f64>> {
    let gone = |text: &str| (table.is_text && is_word(text)).then_some(f64::NAN);
    values.iter().map(|text| truth(text).map(|one| f64::from(u8::from(one))).or_else(|| gone(text))).collect()
}

/// One raw column on its way into the encoded row.
enum Filler {
    Number {
        /// Which it is.
        at: usize,
        start: usize,
        /// The numbers of a column of texts, by their codes.
        texts: Vec<f64>,
        mean: f64,
        map: Affine,
        /// Of the column behind it that says where a number was missing.
        missing: Option<Affine>,
    },
    Pieces {
        at: usize,
        start: usize,
        mean: f64,
        pieces: Vec<(Piece, Affine)>,
        missing: Option<Affine>,
    },
    Ranked {
        at: usize,
        start: usize,
        fill: f64,
        knots: Vec<Knot>,
        missing: Option<Affine>,
    },
    Category {
        at: usize,
        /// The codes of a column of numbers.
        codes: Option<Vec<u32>>,
        /// Category number for each code; `None` for one that training did not have.
        seen: Vec<Option<usize>>,
        start: usize,
        maps: Vec<Affine>,
        /// The number of the category of missing values.
        missing: Option<usize>,
    },
}

impl Filler {
    /// `seen`: of a column of categories which each of its texts is; `empty`: whether an empty cell may be an empty text.
    fn new(column: &Column, raw: &RawColumn, at: usize, start: usize, seen: Vec<Option<usize>>, empty: bool) -> Self {
        match &column.role {
            Role::Number { mean, map, missing } => {
                let of = |text: &String| truth(text).map_or(f64::NAN, |one| f64::from(u8::from(one)));
                let texts =
                    if let RawColumn::Text { values, .. } = raw { values.iter().map(of).collect() } else { Vec::new() };
                Self::Number { at, start, texts, mean: *mean, map: *map, missing: *missing }
            }
            Role::Pieces { mean, pieces, maps, missing } => {
                let pieces = pieces.iter().copied().zip(maps.iter().copied()).collect();
                Self::Pieces { at, start, mean: *mean, pieces, missing: *missing }
            }
            Role::Ranked { fill, knots, missing } => {
                Self::Ranked { at, start, fill: *fill, knots: knots.clone(), missing: *missing }
            }
            Role::Category { values, maps, missing } => {
                let codes = if let Cow::Owned(codes) = as_categories(raw).1 { Some(codes) } else { None };
                let mut maps = maps.clone();
                maps.resize(values.len(), Affine::IDENTITY);
                maps.extend(*missing);
                let empty = if empty { values.binary_search(&String::new()).ok() } else { None };
                let missing = missing.map(|_| values.len()).or(empty);
                Self::Category { at, codes, seen, start, maps, missing }
            }
        }
    }

    fn start(&self) -> usize {
        match self {
            Self::Number { start, .. }
            | Self::Pieces { start, .. }
            | Self::Ranked { start, .. }
            | Self::Category { start, .. } => *start,
        }
    }

    /// Writes what a row has where nothing is set.
    fn absent(&self, row: &mut [f64]) {
        match self {
            Self::Number { start, missing, .. } | Self::Ranked { start, missing, .. } => {
                missing.iter().for_each(|map| row[start + 1] = map.apply(0.0))
            }
            Self::Pieces { start, pieces, missing, .. } => {
                missing.iter().for_each(|map| row[start + pieces.len()] = map.apply(0.0));
            }
            Self::Category { start, maps, .. } => {
                row[*start..].iter_mut().zip(maps).for_each(|(to, map)| *to = map.apply(0.0));
            }
        }
    }

    /// Writes the row's value; false when its category is unknown.
    #[inline]
    fn fill(&self, raw: &[RawColumn], row: usize, to: &mut [f64]) -> bool {
        match self {
            Self::Number { at, start, texts, mean, map, missing } => {
                let x = match &raw[*at] {
                    RawColumn::Numbers(values, _) => values[row],
                    RawColumn::Text { codes, .. } => texts.get(codes[row] as usize).copied().unwrap_or(f64::NAN),
                };
                to[*start] = map.apply(if x.is_nan() { *mean } else { x });
                if let (true, Some(map)) = (x.is_nan(), missing) {
                    to[start + 1] = map.apply(1.0);
                }
                true
            }
            Self::Pieces { at, start, mean, pieces, missing } => {
                let x = if let RawColumn::Numbers(values, _) = &raw[*at] { values[row] } else { f64::NAN };
                let there = if x.is_nan() { *mean } else { x };
                for (to, (piece, map)) in to[*start..].iter_mut().zip(pieces) {
                    *to = map.apply(piece.apply(there));
                }
                if let (true, Some(map)) = (x.is_nan(), missing) {
                    to[start + pieces.len()] = map.apply(1.0);
                }
                true
            }
            Self::Ranked { at, start, fill, knots, missing } => {
                let x = if let RawColumn::Numbers(values, _) = &raw[*at] { values[row] } else { f64::NAN };
                to[*start] = rank(knots, if x.is_nan() { *fill } else { x });
                if let (true, Some(map)) = (x.is_nan(), missing) {
                    to[start + 1] = map.apply(1.0);
                }
                true
            }
            Self::Category { start, maps, .. } => {
                let category = self.category(raw, row);
                if let Some(category) = category {
                    to[start + category] = maps[category].apply(1.0);
                }
                category.is_some()
            }
        }
    }

    /// The number of the row's category.
    #[inline]
    fn category(&self, raw: &[RawColumn], row: usize) -> Option<usize> {
        let Self::Category { at, codes, seen, missing, .. } = self else { return None };
        let code = match (codes, &raw[*at]) {
            (Some(codes), _) | (None, RawColumn::Text { codes, .. }) => codes[row],
            (None, RawColumn::Numbers(_, _)) => MISSING,
        };
        if code == MISSING { *missing } else { seen[code as usize] }
    }

    /// The columns in which the row can be other than 0.
    fn span(&self, raw: &[RawColumn], row: usize) -> Range<usize> {
        match self {
            Self::Number { start, missing, .. } | Self::Ranked { start, missing, .. } => {
                *start..start + 1 + usize::from(missing.is_some())
            }
            Self::Pieces { start, pieces, missing, .. } => {
                *start..start + pieces.len() + usize::from(missing.is_some())
            }
            Self::Category { start, .. } => {
                self.category(raw, row).map_or(*start..*start, |category| start + category..start + category + 1)
            }
        }
    }
}
