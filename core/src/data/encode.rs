//! The fitted preparation: columns to numbers, missing values, scaling, labels.

use super::dataset::{Dataset, Storage, Summary, Targets};
use super::error::{DataError, DataErrorKind};
use super::labels::{self, LabelCells, LabelRule, Positive, Rule};
use super::parse::{Content, LABEL_NAMES, MISSING, RawColumn, RawTable, number_text};
use super::rows::Rows;
use super::scale::{Affine, Moments, Scale, one_hot, standard, unit};
use super::split::{Parts, Split};
use crate::checkpoint::{Coded, Reader};
use crate::error::Error;
use crate::real::Real;
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// Sparse rows are made dense for [`Scale::Standard`] up to this many values, and one-hot columns may grow a table up to
/// this many (or four times what the file has).
pub const MAX_DENSE: usize = 1 << 26;

/// What to do about missing values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// They are an error.
    #[default]
    Refuse,
    /// The training mean in a column of numbers; a category of its own in a categorical column (all zeros when training
    /// had none missing there).
    Impute,
}

impl Coded for Missing {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(*self as u8);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(if from.value()? { Self::Impute } else { Self::Refuse })
    }
}

/// What the label column tells of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// Whether it is positive.
    #[default]
    Binary,
    /// Its class: every value is one.
    Classes,
    /// A number.
    Values,
}

/// What to make of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The label column of a CSV file: its name, or its number from 1 (−1 is the last). `None` takes the first of
    /// [`LABEL_NAMES`] there is.
    pub label: Option<String>,
    /// What it tells.
    pub target: Target,
    /// Of [`Target::Binary`] the positive label. `None` takes the larger of two (numbers by value, text by its bytes); with a value given all
    /// others are negative.
    pub positive: Option<String>,
    /// `None` takes [`Scale::usual`]: [`Scale::Standard`] for CSV and [`Scale::Unit`] for LIBSVM.
    pub scale: Option<Scale>,
    /// What to do about missing values.
    pub missing: Missing,
    /// Columns of numbers to take as categories.
    pub categorical: Vec<String>,
    /// Columns to leave out.
    pub ignore: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
struct Column {
    name: String,
    role: Role,
}

#[derive(Clone, Debug, PartialEq)]
enum Role {
    Number {
        mean: f64,
        map: Affine,
    },
    /// Sorted categories with a map each; `missing` is the map of the category of missing values, if it exists.
    Category {
        values: Vec<String>,
        maps: Vec<Affine>,
        missing: Option<Affine>,
    },
}

impl Coded for Column {
    fn write(&self, out: &mut Vec<u8>) {
        self.name.write(out);
        match &self.role {
            Role::Number { mean, map } => {
                out.push(0);
                mean.write(out);
                map.write(out);
            }
            Role::Category { values, maps, missing } => {
                out.push(1);
                values.write(out);
                maps.write(out);
                missing.write(out);
            }
        }
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let name = from.value()?;
        let role = match from.byte()? {
            0 => Role::Number { mean: from.value()?, map: from.value()? },
            1 => Role::Category { values: from.value()?, maps: from.value()?, missing: from.value()? },
            _ => return None,
        };
        Some(Self { name, role })
    }
}

impl Role {
    fn width(&self) -> usize {
        match self {
            Self::Number { .. } => 1,
            Self::Category { values, missing, .. } => values.len() + usize::from(missing.is_some()),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Layout {
    /// A table with named columns.
    Named(Vec<Column>),
    /// LIBSVM rows or arrays; `maps` has one entry a column under `Scale::Standard` and is empty otherwise.
    Numbered { cols: usize, maps: Vec<Affine> },
}

/// What was learnt from the training part and turns any later data into the same features. Saved with a model.
///
/// * A column of numbers stays one column. A categorical one becomes one column for each category of the training part,
///   in sorted order, called `name=category`. A category unseen in training is all zeros, and counted.
/// * Scaling comes after that and treats one-hot columns as all others.
/// * LIBSVM columns beyond those of training are left out, and counted; fewer are fine.
///
/// ```
/// use undercurve::data::{Format, Options, Preparation, RawTable};
/// let train = RawTable::parse(b"size,colour,label\n1,red,0\n3,blue,1\n", Format::Auto, "train.csv")?;
/// let preparation = Preparation::fit(&train, &Options::default())?;
/// let rows = preparation.apply::<f32>(&train)?;
/// assert_eq!((rows.cols(), rows.labels()), (3, &[0u8, 1][..]));
/// assert_eq!(rows.column_name(1), "colour=blue");
/// # Ok::<(), undercurve::data::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Preparation {
    layout: Layout,
    scale: Scale,
    missing: Missing,
    label: LabelRule,
}

impl Coded for Preparation {
    fn write(&self, out: &mut Vec<u8>) {
        match &self.layout {
            Layout::Named(columns) => {
                out.push(0);
                columns.write(out);
            }
            Layout::Numbered { cols, maps } => {
                out.push(1);
                cols.write(out);
                maps.write(out);
            }
        }
        self.scale.write(out);
        self.missing.write(out);
        self.label.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let layout = match from.byte()? {
            0 => Layout::Named(from.value()?),
            1 => Layout::Numbered { cols: from.value()?, maps: from.value()? },
            _ => return None,
        };
        Some(Self { layout, scale: from.value()?, missing: from.value()?, label: from.value()? })
    }
}

/// A fitted preparation with both parts of a split.
#[derive(Clone, Debug)]
pub struct Prepared<T> {
    /// Fitted on the training part.
    pub preparation: Preparation,
    /// The training part.
    pub train: Dataset<T>,
    /// The test part.
    pub test: Dataset<T>,
}

/// Splits a table (by class, where there are some), fits the preparation on the training part and applies it to both. Which
/// label is positive, or which classes there are, is decided on the whole table.
///
/// # Errors
/// As [`Preparation::fit`] and [`Preparation::apply`]; `LoneRow` for one of several classes that cannot be in both parts;
/// `Core(Param)` for a share outside (0, 1).
pub fn prepare<T: Real>(table: &RawTable, options: &Options, split: Split) -> Result<Prepared<T>, DataError> {
    let all = all_rows(table);
    let label = find_label(table, options)?;
    let targets = targets::<T>(table, &label, &all)?;
    refuse_missing(table, options, label.column.as_deref(), &all)?;
    let parts = parts(table, split, &targets, table.rows())?;
    let preparation = Preparation::fit_rows(table, options, &parts.train)?;
    let train = preparation.apply_rows(table, &parts.train)?;
    let test = preparation.apply_rows(table, &parts.test)?;
    Ok(Prepared { preparation, train, test })
}

/// The parts of a split of rows with these targets.
fn parts<T>(table: &RawTable, split: Split, targets: &Targets<T>, rows: usize) -> Result<Parts, DataError> {
    let parts = match targets {
        Targets::Binary(labels) => split.parts(labels),
        Targets::Classes { labels, names } => {
            let mut sizes = vec![0; names.len()];
            labels.iter().for_each(|&label| sizes[label as usize] += 1);
            if let Some(class) = sizes.iter().position(|&size| size == 1) {
                return Err(table.error(DataErrorKind::LoneRow { label: names[class].clone() }));
            }
            split.class_parts(labels)
        }
        Targets::Values(_) | Targets::None => Split { stratify: false, ..split }.class_parts(&vec![0; rows]),
    };
    parts.map_err(|error| table.error(error.into()))
}

/// The label values of a table in order, numbers by value and text by its bytes; at most one more than
/// [`MAX_CLASSES`](super::MAX_CLASSES).
///
/// # Errors
/// No or an unknown label column.
pub fn label_values(table: &RawTable, options: &Options) -> Result<Vec<String>, DataError> {
    Ok(labels::distinct(label_cells(table, options)?.1))
}

/// The name of the label column; `None` where columns have no names.
///
/// # Errors
/// No or an unknown label column.
pub fn label_column_of(table: &RawTable, options: &Options) -> Result<Option<String>, DataError> {
    Ok(label_cells(table, options)?.0)
}

impl Preparation {
    /// Fits on a whole table.
    ///
    /// # Errors
    /// No or an unknown label column, other columns that do not exist, missing values that are refused, one class, more
    /// label values than the target has (two, or [`MAX_CLASSES`](super::MAX_CLASSES)), text among numbers, sizes beyond the
    /// limits.
    pub fn fit(table: &RawTable, options: &Options) -> Result<Self, DataError> {
        Self::fit_rows(table, options, &all_rows(table))
    }

    /// Fits on some rows of a table; which label is positive, or which classes there are, is decided on the whole table.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and `Core(Index)` for a row that does not exist.
    pub fn fit_rows(table: &RawTable, options: &Options, rows: &[u32]) -> Result<Self, DataError> {
        check_rows(table, rows)?;
        let label = find_label(table, options)?;
        targets::<f64>(table, &label, rows)?;
        let scale = options.scale.unwrap_or_else(|| Scale::usual(table.format()));
        let layout = match &table.content {
            Content::Libsvm { ptr, col, val, cols, .. } => {
                if *cols == 0 {
                    return Err(table.error(DataErrorKind::NoFeatures));
                }
                let maps = match scale {
                    Scale::Standard => {
                        check_dense(table, rows.len(), *cols)?;
                        standard(rows.len(), *cols, |k| {
                            let row = rows[k] as usize;
                            (ptr[row]..ptr[row + 1]).map(|at| (col[at] as usize, val[at]))
                        })
                        .map_err(|column| table.error(DataErrorKind::Spread { column: format!("{}", column + 1) }))?
                    }
                    _ => Vec::new(),
                };
                Layout::Numbered { cols: *cols, maps }
            }
            Content::Csv { names, columns, .. } => {
                for name in options.categorical.iter().chain(&options.ignore) {
                    find_column(table, names, name)?;
                }
                refuse_missing(table, options, label.column.as_deref(), rows)?;
                let mut fitted = Vec::new();
                for (at, name) in names.iter().enumerate() {
                    if Some(name) == label.column.as_ref() || options.ignore.contains(name) {
                        continue;
                    }
                    let categorical = options.categorical.contains(name);
                    let role = match &columns[at] {
                        RawColumn::Numbers(values) if !categorical => fit_numbers(values, rows, scale)
                            .ok_or_else(|| table.error(DataErrorKind::Spread { column: name.clone() }))?,
                        RawColumn::Text { values, codes, stray: Some(row) } if !categorical => {
                            let row = *row as usize;
                            return Err(not_a_number(table, row, at, name, &values[codes[row] as usize]));
                        }
                        column => fit_categories(column, rows, scale),
                    };
                    fitted.push(Column { name: name.clone(), role });
                }
                let width: usize = fitted.iter().map(|column| column.role.width()).sum();
                if width == 0 {
                    return Err(table.error(DataErrorKind::NoFeatures));
                }
                Layout::Named(fitted)
            }
        };
        Ok(Self { layout, scale, missing: options.missing, label })
    }

    /// The features and targets of a whole table.
    ///
    /// # Errors
    /// Columns of training that are not there, text in a column of numbers, missing values that are refused, labels
    /// that training did not have (`UnknownLabel`, `UnknownClass`), values that do not fit `T`.
    pub fn apply<T: Real>(&self, table: &RawTable) -> Result<Dataset<T>, DataError> {
        self.apply_rows(table, &all_rows(table))
    }

    /// The features and targets of some rows of a table, in that order.
    ///
    /// # Errors
    /// As [`apply`](Self::apply), and `Core(Index)` for a row that does not exist.
    pub fn apply_rows<T: Real>(&self, table: &RawTable, rows: &[u32]) -> Result<Dataset<T>, DataError> {
        check_rows(table, rows)?;
        let targets = targets(table, &self.label, rows)?;
        self.features(table, rows, targets)
    }

    /// Both parts of a split of data that this was applied to whole.
    ///
    /// # Errors
    /// `LoneRow`, `Core(Param)`.
    pub fn split<T: Real>(
        &self,
        table: &RawTable,
        all: &Dataset<T>,
        split: Split,
    ) -> Result<[Dataset<T>; 2], DataError> {
        let parts = parts(table, split, all.targets(), all.len())?;
        let select = |rows: &[u32]| all.select(rows).map_err(|error| table.error(error.into()));
        Ok([select(&parts.train)?, select(&parts.test)?])
    }

    /// The features of a table whose labels do not matter or do not exist (a LIBSVM row always has one).
    ///
    /// # Errors
    /// As [`apply`](Self::apply), apart from the labels.
    pub fn apply_unlabelled<T: Real>(&self, table: &RawTable) -> Result<Dataset<T>, DataError> {
        self.features(table, &all_rows(table), Targets::None)
    }

    /// Fits on arrays: `x` row-major, rows × `cols`, `y` 1 for positive and 0 for negative.
    ///
    /// # Errors
    /// `Param`, `Length`, `NonFinite`, `Label`, `OneClass`, `Overflow`.
    pub fn fit_arrays<T: Real>(x: &[T], y: &[u8], cols: usize, scale: Scale) -> Result<Self, Error> {
        let rows = Rows::dense(x, cols)?.len();
        crate::error::exact_len("y", rows, y.len())?;
        let (positives, negatives) = crate::error::count_labels(y)?;
        if positives == 0 || negatives == 0 {
            return Err(Error::OneClass);
        }
        let maps = match scale {
            Scale::Standard => standard(rows, cols, |row| x[row * cols..][..cols].iter().map(|x| x.f64()).enumerate())
                .map_err(|_| Error::Overflow { what: "the deviation of a column" })?,
            _ => Vec::new(),
        };
        let rule = Rule::Binary(Positive { positive: "1".to_string(), negative: Some("0".to_string()) });
        let label = LabelRule { column: None, rule };
        Ok(Self { layout: Layout::Numbered { cols, maps }, scale, missing: Missing::Refuse, label })
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

    /// Columns after encoding.
    #[must_use]
    pub fn cols(&self) -> usize {
        match &self.layout {
            Layout::Named(columns) => columns.iter().map(|column| column.role.width()).sum(),
            Layout::Numbered { cols, .. } => *cols,
        }
    }

    /// What the columns after encoding are called; empty for LIBSVM and arrays, where they have only numbers.
    #[must_use]
    pub fn column_names(&self) -> Vec<String> {
        let Layout::Named(columns) = &self.layout else { return Vec::new() };
        let mut names = Vec::new();
        for Column { name, role } in columns {
            match role {
                Role::Number { .. } => names.push(name.clone()),
                Role::Category { values, missing, .. } => {
                    names.extend(values.iter().map(|value| format!("{name}={value}")));
                    names.extend(missing.map(|_| format!("{name}=(missing)")));
                }
            }
        }
        names
    }

    /// How features are scaled.
    #[must_use]
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// What is done about missing values.
    #[must_use]
    pub fn missing(&self) -> Missing {
        self.missing
    }

    /// The columns read from a table, in order, and whether each is taken as categories; empty without named columns.
    #[must_use]
    pub fn sources(&self) -> Vec<(&str, bool)> {
        let Layout::Named(columns) = &self.layout else { return Vec::new() };
        columns.iter().map(|c| (c.name.as_str(), matches!(c.role, Role::Category { .. }))).collect()
    }

    /// The label column, for tables with named columns.
    #[must_use]
    pub fn label_column(&self) -> Option<&str> {
        self.label.column.as_deref()
    }

    /// The label value that counts as positive; `None` where the target is another.
    #[must_use]
    pub fn positive(&self) -> Option<&str> {
        match &self.label.rule {
            Rule::Binary(rule) => Some(&rule.positive),
            Rule::Classes(_) | Rule::Values => None,
        }
    }

    /// What the classes are called, in the order of their numbers; empty unless the target is one of several.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        match &self.label.rule {
            Rule::Classes(names) => names,
            Rule::Binary(_) | Rule::Values => &[],
        }
    }

    /// What the label column tells.
    #[must_use]
    pub fn target(&self) -> Target {
        match &self.label.rule {
            Rule::Binary(_) => Target::Binary,
            Rule::Classes(_) => Target::Classes,
            Rule::Values => Target::Values,
        }
    }

    fn features<T: Real>(&self, table: &RawTable, rows: &[u32], targets: Targets<T>) -> Result<Dataset<T>, DataError> {
        if self.cols() == 0 {
            return Err(table.error(DataErrorKind::NoFeatures)); // only a damaged preparation is like that
        }
        match (&self.layout, &table.content) {
            (Layout::Named(columns), Content::Csv { .. }) => self.named(table, columns, rows, targets),
            (Layout::Numbered { cols, maps }, Content::Libsvm { .. }) => {
                self.numbered(table, *cols, maps, rows, targets)
            }
            _ => Err(table.error(DataErrorKind::OtherFormat)),
        }
    }

    fn numbered<T: Real>(
        &self,
        table: &RawTable,
        cols: usize,
        maps: &[Affine],
        rows: &[u32],
        targets: Targets<T>,
    ) -> Result<Dataset<T>, DataError> {
        let Content::Libsvm { ptr, col, val, .. } = &table.content else {
            return Err(table.error(DataErrorKind::OtherFormat));
        };
        let mut summary = Summary::default();
        let kept = |row: u32| {
            let span = ptr[row as usize]..ptr[row as usize + 1];
            // Columns ascend, so that those beyond training are at the end.
            (span.start, span.start + col[span.clone()].partition_point(|&c| (c as usize) < cols), span.end)
        };
        let round = |x: f64, row: u32, token: usize| {
            let rounded = T::of(x);
            let error = || DataErrorKind::NonFinite { text: number_text(x) };
            if rounded.is_finite() { Ok(rounded) } else { Err(table.error_at(row as usize, token, error())) }
        };
        let storage = if self.scale == Scale::Standard {
            check_dense(table, rows.len(), cols)?;
            let mut data = reserve(table, rows.len(), cols)?;
            let mut buffer = vec![0.0; cols];
            for &row in rows {
                let (start, end, all) = kept(row);
                summary.beyond += all - end;
                buffer.fill(0.0);
                for at in start..end {
                    buffer[col[at] as usize] = val[at];
                }
                scale_row(&mut buffer, self.scale, maps);
                for (column, &x) in buffer.iter().enumerate() {
                    let token = col[start..end].binary_search(&(column as u32)).map_or(0, |at| at + 1);
                    data.push(if x.is_finite() && T::of(x).is_finite() { T::of(x) } else { round(x, row, token)? });
                }
            }
            Storage::Dense(data)
        } else {
            let (mut new_ptr, mut new_col, mut new_val) = (vec![0], Vec::new(), Vec::new());
            let mut buffer = Vec::new();
            for &row in rows {
                let (start, end, all) = kept(row);
                summary.beyond += all - end;
                buffer.clear();
                buffer.extend_from_slice(&val[start..end]);
                scale_row(&mut buffer, self.scale, &[]);
                for (at, &x) in buffer.iter().enumerate() {
                    new_val.push(round(x, row, at + 1)?);
                }
                new_col.extend_from_slice(&col[start..end]);
                new_ptr.push(new_col.len());
            }
            Storage::Csr { ptr: new_ptr, col: new_col, val: new_val }
        };
        Ok(Dataset::new(storage, cols, targets, Vec::new(), summary, rows.len()))
    }

    fn named<T: Real>(
        &self,
        table: &RawTable,
        columns: &[Column],
        rows: &[u32],
        targets: Targets<T>,
    ) -> Result<Dataset<T>, DataError> {
        let Content::Csv { names, columns: raw, .. } = &table.content else {
            return Err(table.error(DataErrorKind::OtherFormat));
        };
        let found = columns.iter().map(|column| find_column(table, names, &column.name));
        let found = found.collect::<Result<Vec<usize>, _>>()?;
        if self.missing == Missing::Refuse {
            first_missing(table, &found, rows)?;
        }
        let cols = self.cols();
        let given = table.rows().saturating_mul(names.len());
        if rows.len().checked_mul(cols).is_none_or(|values| values > MAX_DENSE.max(given.saturating_mul(4))) {
            let widest = columns.iter().max_by_key(|column| column.role.width());
            let widest = widest.map(|column| column.name.clone()).unwrap_or_default();
            return Err(table.error(DataErrorKind::TooWide { rows: rows.len(), columns: cols, widest }));
        }
        let mut summary = Summary::default();
        let mut fillers = Vec::with_capacity(columns.len());
        let mut start = 0;
        for (column, &at) in columns.iter().zip(&found) {
            let filler = Filler::new(table, column, &raw[at], at, start, rows)?;
            let missing = rows.iter().filter(|&&row| is_missing(&raw[at], row)).count();
            if missing > 0 {
                summary.missing.push((column.name.clone(), missing));
            }
            fillers.push(filler);
            start += column.role.width();
        }
        let mut absent = vec![0.0; cols];
        fillers.iter().for_each(|filler| filler.absent(&mut absent));
        let mut unseen = vec![0; fillers.len()];
        let mut data = reserve(table, rows.len(), cols)?;
        let mut buffer = vec![0.0; cols];
        for &row in rows {
            buffer.copy_from_slice(&absent);
            for (filler, unseen) in fillers.iter().zip(&mut unseen) {
                *unseen += usize::from(!filler.fill(row as usize, &mut buffer));
            }
            if self.scale == Scale::Unit {
                unit(&mut buffer);
            }
            for (at, &x) in buffer.iter().enumerate() {
                let rounded = T::of(x);
                if !rounded.is_finite() {
                    let cell = fillers.iter().rposition(|filler| filler.start() <= at).map_or(0, |at| found[at]);
                    return Err(table.error_at(row as usize, cell, DataErrorKind::NonFinite { text: number_text(x) }));
                }
                data.push(rounded);
            }
        }
        let counted = columns.iter().zip(unseen).filter(|&(_, count)| count > 0);
        summary.unseen = counted.map(|(column, count)| (column.name.clone(), count)).collect();
        Ok(Dataset::new(Storage::Dense(data), cols, targets, self.column_names(), summary, rows.len()))
    }
}

/// One raw column on its way into the encoded row.
enum Filler<'a> {
    Number {
        values: &'a [f64],
        start: usize,
        mean: f64,
        map: Affine,
    },
    Category {
        codes: Cow<'a, [u32]>,
        /// Category number for each code; `None` for one that training did not have.
        seen: Vec<Option<usize>>,
        start: usize,
        maps: Vec<Affine>,
        /// The number of the category of missing values.
        missing: Option<usize>,
    },
}

impl<'a> Filler<'a> {
    fn new(
        table: &RawTable,
        column: &'a Column,
        raw: &'a RawColumn,
        at: usize,
        start: usize,
        rows: &[u32],
    ) -> Result<Self, DataError> {
        match (&column.role, raw) {
            (Role::Number { mean, map }, RawColumn::Numbers(values)) => {
                Ok(Self::Number { values, start, mean: *mean, map: *map })
            }
            (Role::Number { .. }, RawColumn::Text { values, codes, .. }) => {
                let text = |row: u32| values.get(codes[row as usize] as usize);
                let bad = rows.iter().find(|&&row| text(row).is_some_and(|text| text.parse::<f64>().is_err()));
                let row = bad.or(rows.first()).copied().unwrap_or(0);
                let text = text(row).map_or("", String::as_str);
                Err(not_a_number(table, row as usize, at, &column.name, text))
            }
            (Role::Category { values, maps, missing }, raw) => {
                let (there, codes) = as_categories(raw);
                let seen = there.iter().map(|text| values.binary_search(text).ok()).collect();
                let mut maps = maps.clone();
                maps.resize(values.len(), Affine::IDENTITY);
                maps.extend(*missing);
                Ok(Self::Category { codes, seen, start, maps, missing: missing.map(|_| values.len()) })
            }
        }
    }

    fn start(&self) -> usize {
        match self {
            Self::Number { start, .. } | Self::Category { start, .. } => *start,
        }
    }

    /// Writes what a row has where nothing is set.
    fn absent(&self, row: &mut [f64]) {
        if let Self::Category { start, maps, .. } = self {
            for (to, map) in row[*start..].iter_mut().zip(maps) {
                *to = map.apply(0.0);
            }
        }
    }

    /// Writes the row's value; false when its category is unknown.
    #[inline]
    fn fill(&self, row: usize, to: &mut [f64]) -> bool {
        match self {
            Self::Number { values, start, mean, map } => {
                let x = values[row];
                to[*start] = map.apply(if x.is_nan() { *mean } else { x });
                true
            }
            Self::Category { codes, seen, start, maps, missing } => {
                let code = codes[row];
                let category = if code == MISSING { *missing } else { seen[code as usize] };
                if let Some(category) = category {
                    to[start + category] = maps[category].apply(1.0);
                }
                category.is_some()
            }
        }
    }
}

fn scale_row(row: &mut [f64], scale: Scale, maps: &[Affine]) {
    match scale {
        Scale::None => {}
        Scale::Standard => {
            for (x, map) in row.iter_mut().zip(maps) {
                *x = map.apply(*x);
            }
        }
        Scale::Unit => unit(row),
    }
}

/// Sorted categories and the code of each row, also for a column of numbers.
fn as_categories(column: &RawColumn) -> (Cow<'_, [String]>, Cow<'_, [u32]>) {
    match column {
        RawColumn::Text { values, codes, .. } => (Cow::Borrowed(values), Cow::Borrowed(codes)),
        RawColumn::Numbers(numbers) => {
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

fn fit_numbers(values: &[f64], rows: &[u32], scale: Scale) -> Option<Role> {
    let there = || rows.iter().map(|&row| values[row as usize]).filter(|x| !x.is_nan());
    let mut moments = Moments::NEW;
    there().for_each(|x| moments.first(x));
    moments.centre(0);
    there().for_each(|x| moments.second(x));
    let imputed = rows.len() - moments.count();
    match (moments.finish(imputed), scale) {
        (Some((mean, map)), Scale::Standard) => Some(Role::Number { mean, map }),
        (Some((mean, _)), _) => Some(Role::Number { mean, map: Affine::IDENTITY }),
        // Without standardising only the mean matters, and that only where something is missing.
        (None, Scale::Standard) => None,
        (None, _) => (imputed == 0).then_some(Role::Number { mean: 0.0, map: Affine::IDENTITY }),
    }
}

fn fit_categories(column: &RawColumn, rows: &[u32], scale: Scale) -> Role {
    let (there, codes) = as_categories(column);
    let mut counts = vec![0; there.len()];
    let mut none = 0;
    for &row in rows {
        match counts.get_mut(codes[row as usize] as usize) {
            Some(count) => *count += 1,
            None => none += 1,
        }
    }
    let map = |ones| if scale == Scale::Standard { one_hot(ones, rows.len()) } else { Affine::IDENTITY };
    let seen = || there.iter().zip(&counts).filter(|&(_, &count)| count > 0);
    Role::Category {
        values: seen().map(|(text, _)| text.clone()).collect(),
        maps: seen().map(|(_, &count)| map(count)).collect(),
        missing: (none > 0).then(|| map(none)),
    }
}

fn all_rows(table: &RawTable) -> Vec<u32> {
    (0..table.rows() as u32).collect()
}

fn check_rows(table: &RawTable, rows: &[u32]) -> Result<(), DataError> {
    let len = table.rows();
    if rows.is_empty() {
        return Err(table.error(Error::Empty { what: "rows" }.into()));
    }
    match rows.iter().position(|&row| row as usize >= len) {
        Some(at) => Err(table.error(Error::Index { what: "rows", at, len }.into())),
        None => Ok(()),
    }
}

fn check_dense(table: &RawTable, rows: usize, columns: usize) -> Result<(), DataError> {
    match rows.checked_mul(columns) {
        Some(values) if values <= MAX_DENSE => Ok(()),
        _ => Err(table.error(DataErrorKind::TooWide { rows, columns, widest: String::new() })),
    }
}

fn reserve<T>(table: &RawTable, rows: usize, cols: usize) -> Result<Vec<T>, DataError> {
    let mut data = Vec::new();
    let reserved = rows.checked_mul(cols).is_some_and(|len| data.try_reserve_exact(len).is_ok());
    if reserved { Ok(data) } else { Err(table.error(DataErrorKind::TooLarge { what: "the table of features" })) }
}

fn not_a_number(table: &RawTable, row: usize, at: usize, column: &str, text: &str) -> DataError {
    table.error_at(row, at, DataErrorKind::NotANumber { text: text.to_string(), column: column.to_string() })
}

fn find_column(table: &RawTable, names: &[String], name: &str) -> Result<usize, DataError> {
    names.iter().position(|there| there == name).ok_or_else(|| {
        table.error_in_header(DataErrorKind::MissingColumn { name: name.to_string(), columns: names.to_vec() })
    })
}

fn is_missing(column: &RawColumn, row: u32) -> bool {
    match column {
        RawColumn::Numbers(values) => values[row as usize].is_nan(),
        RawColumn::Text { codes, .. } => codes[row as usize] == MISSING,
    }
}

/// The error of the first missing value among some columns, in reading order.
fn first_missing(table: &RawTable, columns: &[usize], rows: &[u32]) -> Result<(), DataError> {
    let Content::Csv { names, columns: raw, .. } = &table.content else { return Ok(()) };
    let first = columns.iter().filter_map(|&at| Some((*rows.iter().find(|&&row| is_missing(&raw[at], row))?, at)));
    match first.min() {
        Some((row, at)) => Err(table.error_at(row as usize, at, DataErrorKind::Missing { column: names[at].clone() })),
        None => Ok(()),
    }
}

fn refuse_missing(table: &RawTable, options: &Options, label: Option<&str>, rows: &[u32]) -> Result<(), DataError> {
    let Content::Csv { names, .. } = &table.content else { return Ok(()) };
    if options.missing == Missing::Impute {
        return Ok(());
    }
    let used = |name: &String| Some(name.as_str()) != label && !options.ignore.contains(name);
    let columns: Vec<usize> = (0..names.len()).filter(|&at| used(&names[at])).collect();
    first_missing(table, &columns, rows)
}

/// The column the options mean: by name, else by number.
fn label_column(table: &RawTable, names: &[String], options: &Options) -> Result<usize, DataError> {
    let Some(label) = &options.label else {
        let usual = LABEL_NAMES.iter().find_map(|usual| names.iter().position(|name| name.eq_ignore_ascii_case(usual)));
        return usual.ok_or_else(|| table.error_in_header(DataErrorKind::NoLabelColumn { columns: names.to_vec() }));
    };
    let by_number = || match label.parse::<i64>() {
        Ok(number) if number >= 1 && number as u64 <= names.len() as u64 => Some(number as usize - 1),
        Ok(-1) => names.len().checked_sub(1),
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
        RawColumn::Numbers(values) => LabelCells::Numbers(values),
        RawColumn::Text { values, codes, .. } => LabelCells::Text { values, codes },
    }
}

/// The label column's name, where columns have names, and its cells.
fn label_cells<'a>(table: &'a RawTable, options: &Options) -> Result<(Option<String>, LabelCells<'a>), DataError> {
    Ok(match &table.content {
        Content::Libsvm { labels, .. } => (None, LabelCells::Numbers(labels)),
        Content::Csv { names, columns, .. } => {
            let at = label_column(table, names, options)?;
            (Some(names[at].clone()), cells(&columns[at]))
        }
    })
}

fn find_label(table: &RawTable, options: &Options) -> Result<LabelRule, DataError> {
    let (column, cells) = label_cells(table, options)?;
    let name = column.as_deref();
    let at = name.and_then(|name| table.columns().iter().position(|other| other == name)).unwrap_or(0);
    let rule = match options.target {
        Target::Binary => Positive::find(cells, name, options.positive.as_deref()).map(Rule::Binary),
        Target::Classes => labels::classes(cells, name).map(Rule::Classes),
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

/// The targets of some rows.
fn targets<T: Real>(table: &RawTable, label: &LabelRule, rows: &[u32]) -> Result<Targets<T>, DataError> {
    let (cells, at) = match (&table.content, &label.column) {
        (Content::Libsvm { labels, .. }, None) => (LabelCells::Numbers(labels), 0),
        (Content::Csv { names, columns, .. }, Some(column)) => {
            let at = find_column(table, names, column)?;
            (cells(&columns[at]), at)
        }
        _ => return Err(table.error(DataErrorKind::OtherFormat)),
    };
    let targets = match &label.rule {
        Rule::Binary(rule) => rule.apply(cells, rows).map(Targets::Binary),
        Rule::Classes(names) => {
            labels::class_numbers(cells, names, rows).map(|labels| Targets::Classes { labels, names: names.clone() })
        }
        Rule::Values => labels::numbers(cells, rows).and_then(|values| {
            let rounded: Vec<T> = values.iter().map(|&x| T::of(x)).collect();
            match rounded.iter().position(|x| !x.is_finite()) {
                Some(k) => Err((rows[k] as usize, DataErrorKind::NonFinite { text: number_text(values[k]) })),
                None => Ok(Targets::Values(rounded)),
            }
        }),
    };
    targets.map_err(|(row, kind)| table.error_at(row, at, kind))
}
