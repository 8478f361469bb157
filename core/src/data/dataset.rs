//! Rows and labels that own their memory, ready for a model.

mod targets;

pub use super::error::MAX_CLASSES;
pub use targets::Targets;
pub(super) use targets::{Units, parts};

use super::error::{DataError, DataErrorKind};
use super::queries::Queries;
use super::rows::Rows;
use super::split::Split;
use crate::batch::WEIGHTS;
use crate::error::{Error, Result, count_labels, exact_len};
use crate::example_loss::Response;
use crate::features::{COMPACT, STREAM};
use crate::metric::check_weights;
use crate::metric::{MAX_GROUPS, Truth};
use crate::real::Real;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Storage<T> {
    Dense(Vec<T>),
    Csr { ptr: Vec<usize>, col: Vec<u32>, val: Vec<T> },
}

/// What a data set is made of, for a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Number of rows.
    pub rows: usize,
    /// Columns after encoding.
    pub columns: usize,
    /// Positive rows (0 without labels).
    pub positives: usize,
    /// Columns with missing values that were filled in, and how many each.
    pub missing: Vec<(String, usize)>,
    /// Categorical columns with values that training did not have (all their one-hot columns are zero), and how many.
    pub unseen: Vec<(String, usize)>,
    /// Stored values in sparse columns beyond those of training, left out.
    pub beyond: usize,
}

/// Feature rows with a target each.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset<T> {
    pub(super) storage: Storage<T>,
    pub(super) cols: usize,
    pub(super) targets: Targets<T>,
    /// One for each column, or none at all: then they are called by their number.
    pub(super) names: Vec<String>,
    /// The group of each row; empty without groups.
    group_of: Vec<u32>,
    group_names: Vec<String>,
    /// What each row counts; empty without weights.
    weights: Vec<f64>,
    pub(super) units: Option<Units>,
    /// Where rows belong to queries.
    queries: Option<Queries>,
    /// So many negatives and positives, of which these rows are some.
    stands_for: Option<[u32; 2]>,
    /// Of a part whose targets are numbers: where each row was in the whole.
    places: Vec<u32>,
    pub(super) summary: Summary,
}

impl<T: Real> Dataset<T> {
    /// Dense rows from arrays: `x` row-major, rows × `cols`; `y` 1 for positive, 0 for negative, or empty.
    ///
    /// # Errors
    /// `Param` (no columns), `Length`, `NonFinite`, `Label`.
    pub fn dense(x: Vec<T>, y: Vec<u8>, cols: usize) -> Result<Self> {
        let rows = Rows::dense(&x, cols)?.len();
        Self::labelled(Storage::Dense(x), y, cols, rows)
    }

    /// Sparse rows from arrays: row k has the values `val[ptr[k]..ptr[k + 1]]` in the columns `col[…]`, ascending; `y` as in
    /// [`dense`](Self::dense).
    ///
    /// # Errors
    /// `Param` (no columns), `Empty`, `Length`, `Index` (row starts or columns out of order or range), `NonFinite`, `Label`.
    pub fn csr(ptr: Vec<usize>, col: Vec<u32>, val: Vec<T>, y: Vec<u8>, cols: usize) -> Result<Self> {
        if cols == 0 {
            return Err(Error::Param { what: "cols" });
        }
        let rows = Rows::csr(&ptr, &col, &val, cols)?.len();
        Self::labelled(Storage::Csr { ptr, col, val }, y, cols, rows)
    }

    fn labelled(storage: Storage<T>, y: Vec<u8>, cols: usize, rows: usize) -> Result<Self> {
        if !y.is_empty() {
            exact_len("y", rows, y.len())?;
        }
        count_labels(&y)?;
        let targets = if y.is_empty() { Targets::None } else { Targets::Binary(y) };
        Ok(Self::new(storage, cols, targets, Vec::new(), Summary::default(), rows))
    }

    /// With a class number for each row in place of what was known of it, and the classes' names.
    ///
    /// # Errors
    /// `Param` (fewer than two classes or more than [`MAX_CLASSES`]), `Length`, `Label`.
    pub fn with_classes(mut self, labels: Vec<u32>, names: Vec<String>) -> Result<Self> {
        if !(2..=MAX_CLASSES).contains(&names.len()) {
            return Err(Error::Param { what: "classes" });
        }
        exact_len("labels", self.len(), labels.len())?;
        match labels.iter().position(|&label| label as usize >= names.len()) {
            Some(at) => Err(Error::Label { at }),
            None => {
                (self.targets, self.summary.positives) = (Targets::Classes { labels, names }, 0);
                Ok(self)
            }
        }
    }

    /// With a number for each row in place of what was known of it.
    ///
    /// # Errors
    /// `Length`, `NonFinite`.
    pub fn with_values(mut self, values: Vec<T>) -> Result<Self> {
        exact_len("values", self.len(), values.len())?;
        crate::error::all_finite("values", &values)?;
        (self.targets, self.summary.positives) = (Targets::Values(values), 0);
        Ok(self)
    }

    /// With a group for each row, by number, and the groups' names.
    ///
    /// # Errors
    /// `Param` (fewer than two groups or more than [`MAX_GROUPS`]), `Length`, `Index`.
    pub fn with_groups(mut self, of: Vec<u32>, names: Vec<String>) -> Result<Self> {
        if !(2..=MAX_GROUPS).contains(&names.len()) {
            return Err(Error::Param { what: "groups" });
        }
        exact_len("groups", self.len(), of.len())?;
        if let Some(at) = of.iter().position(|&group| group as usize >= names.len()) {
            return Err(Error::Index { what: "groups", at, len: names.len() });
        }
        (self.group_of, self.group_names) = (of, names);
        Ok(self)
    }

    /// With a weight for each row, 0 or more: what it counts in objectives and metrics, where a row without weights counts 1. A
    /// row of weight 0 is as one that is not there. In training only their ratios count, w as 1000 w. Where all are whole multiples of
    /// the least, they are numbers of rows: a row of twice that weight is two rows to what is minimised, to defaults and lengths that depend on the
    /// number of rows and to the batches. Others, and those of more than 100 rows in the mean, are shares, whose mean counts as 1.
    /// See [`Truth`] for metrics.
    ///
    /// # Errors
    /// `Length`; `Weight` for one that is negative, NaN or infinite; `Empty` when all are 0, `Overflow` when their sum does not
    /// fit; `Unsupported` in builds with `compact`. (A class whose weights are all 0 is one without a row: a run of such data is refused with `OneClass`.)
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self> {
        if !WEIGHTS {
            return Err(Error::Unsupported { what: "weights in this build" });
        }
        exact_len("weights", self.len(), weights.len())?;
        check_weights(&weights)?;
        if weights.iter().all(|&w| w == 0.0) {
            return Err(Error::Empty { what: "data in which every weight is 0" });
        }
        self.weights = weights;
        Ok(self)
    }

    /// These rows and, after them, those of other data, each in a group of its own behind these rows' groups: what a run draws
    /// from that has to keep its loss on other rows. All of two classes, of one width and kind of storage; of the others' groups
    /// nothing is kept. Copies all rows.
    ///
    /// # Errors
    /// `Empty` (data without a row), `Length` (columns), `Unsupported` (other targets, dense rows beside sparse ones),
    /// `Param` (more groups than [`MAX_GROUPS`]).
    pub(crate) fn beside(&self, others: &[&Self]) -> Result<Self> {
        let own = self.groups() as u32;
        let mut group_of = self.group_of.clone();
        group_of.resize(self.len(), 0);
        let mut all = Self { names: self.names.clone(), ..self.select(&[])? };
        for (at, other) in core::iter::once(self).chain(others.iter().copied()).enumerate() {
            if other.is_empty() {
                return Err(Error::Empty { what: "protected rows" });
            }
            exact_len("columns", self.cols, other.cols)?;
            if at > 0 {
                group_of.resize(group_of.len() + other.len(), own + at as u32 - 1);
            }
            match (&mut all.storage, &other.storage) {
                (Storage::Dense(all), Storage::Dense(more)) => all.extend_from_slice(more),
                (Storage::Csr { ptr, col, val }, Storage::Csr { ptr: starts, col: columns, val: values }) => {
                    let before = col.len();
                    ptr.extend(starts[1..].iter().map(|start| before + start));
                    col.extend_from_slice(columns);
                    val.extend_from_slice(values);
                }
                _ => return Err(Error::Unsupported { what: "dense rows beside sparse ones" }),
            }
            match (&mut all.targets, &other.targets) {
                (Targets::Binary(all), Targets::Binary(more)) => all.extend_from_slice(more),
                _ => return Err(Error::Unsupported { what: "protected rows of other than two classes" }),
            }
        }
        let mut names = self.group_names.clone();
        names.resize(own as usize + others.len(), String::new());
        let rows = group_of.len();
        Self::new(all.storage, self.cols, all.targets, all.names, Summary::default(), rows).with_groups(group_of, names)
    }

    pub(super) fn new(
        storage: Storage<T>,
        cols: usize,
        targets: Targets<T>,
        names: Vec<String>,
        summary: Summary,
        rows: usize,
    ) -> Self {
        let positives = match &targets {
            Targets::Binary(labels) => labels.iter().filter(|&&y| y == 1).count(),
            Targets::None | Targets::Classes { .. } | Targets::Values(_) => 0,
        };
        let summary = Summary { rows, columns: cols, positives, ..summary };
        Self {
            storage,
            cols,
            targets,
            names,
            group_of: Vec::new(),
            group_names: Vec::new(),
            weights: Vec::new(),
            units: None,
            queries: None,
            stands_for: None,
            places: Vec::new(),
            summary,
        }
    }

    /// Of how many negatives and positives these rows are some.
    pub(crate) fn stands_for(&self) -> Option<[u32; 2]> {
        if STREAM { self.stands_for } else { None }
    }

    /// Of how many rows these are some.
    pub(crate) fn stands_for_rows(&self) -> Option<usize> {
        Some(self.stands_for()?.iter().map(|&rows| rows as usize).sum())
    }

    /// The feature rows.
    #[must_use]
    pub fn rows(&self) -> Rows<'_, T> {
        match &self.storage {
            Storage::Dense(data) => Rows::Dense { data, cols: self.cols },
            Storage::Csr { ptr, col, val } => Rows::Csr { ptr, col, val, cols: self.cols },
        }
    }

    /// What is known of each row.
    #[must_use]
    pub fn targets(&self) -> &Targets<T> {
        &self.targets
    }

    /// The labels, 1 for positive; empty when the data came without, or with other targets.
    #[must_use]
    pub fn labels(&self) -> &[u8] {
        match &self.targets {
            Targets::Binary(labels) => labels,
            Targets::None | Targets::Classes { .. } | Targets::Values(_) => &[],
        }
    }

    /// With the query of each row, for rankings that are measured query by query.
    ///
    /// # Errors
    /// `Length`.
    pub fn with_queries(mut self, queries: Queries) -> Result<Self> {
        exact_len("queries", self.len(), queries.of().len())?;
        self.queries = Some(queries);
        Ok(self)
    }

    /// The query of each row, where there are some.
    #[must_use]
    pub fn queries(&self) -> Option<&Queries> {
        self.queries.as_ref()
    }

    /// What each row counts; empty without weights.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        if WEIGHTS { &self.weights } else { &[] }
    }

    /// The labels with the weights, for metrics, and the groups that a split keeps together as clusters; without labels when the data came
    /// without, or with other targets.
    #[must_use]
    pub fn truth(&self) -> Truth<'_> {
        match self.labels() {
            [] => Truth::of_checked(&[], &[], &[]),
            labels => Truth::of_checked(labels, self.weights(), self.split_groups()),
        }
    }

    /// What a finite sum fits: numbers, or labels.
    #[must_use]
    pub fn response(&self) -> Response<'_, T> {
        match &self.targets {
            Targets::Values(values) => Response::Values(values),
            Targets::None | Targets::Binary(_) | Targets::Classes { .. } => Response::Labels(self.labels()),
        }
    }

    /// The class number of every row; empty unless there are several classes.
    #[must_use]
    pub fn class_labels(&self) -> &[u32] {
        match &self.targets {
            Targets::Classes { labels, .. } => labels,
            Targets::None | Targets::Binary(_) | Targets::Values(_) => &[],
        }
    }

    /// What the classes are called, in the order of their numbers; empty unless there are several.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        match &self.targets {
            Targets::Classes { names, .. } => names,
            Targets::None | Targets::Binary(_) | Targets::Values(_) => &[],
        }
    }

    /// Number of groups; 1 without any. Of test data it counts those that training did not have, too; they come last.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.group_names.len().max(1)
    }

    /// The group of every row, by number; empty without groups.
    #[must_use]
    pub fn group_of(&self) -> &[u32] {
        &self.group_of
    }

    /// What the groups are called, in the order of their numbers; empty without groups.
    #[must_use]
    pub fn group_names(&self) -> &[String] {
        &self.group_names
    }

    /// The cell of every row of two classes, label × group: its label times [`groups`](Self::groups) plus its group. These are
    /// what [`Segments`](super::Segments) of cells are made from.
    #[must_use]
    pub fn cells(&self) -> Vec<u32> {
        let group = |row: usize| self.group_of.get(row).copied().unwrap_or(0);
        let cell = |(row, &label): (usize, &u8)| u32::from(label) * self.groups() as u32 + group(row);
        self.labels().iter().enumerate().map(cell).collect()
    }

    /// Rows of each class: negatives and positives, or those of several classes.
    #[must_use]
    pub fn class_sizes(&self) -> Vec<u32> {
        let mut sizes = alloc::vec![0; self.classes().len()];
        match &self.targets {
            Targets::Binary(labels) => {
                let positives = self.positives() as u32;
                sizes = alloc::vec![labels.len() as u32 - positives, positives];
            }
            Targets::None | Targets::Classes { .. } | Targets::Values(_) => {
                self.class_labels().iter().for_each(|&label| sizes[label as usize] += 1)
            }
        }
        sizes
    }

    /// What the rows of each class come to: their weights, or their number. Empty without classes.
    #[must_use]
    pub fn class_weight_sums(&self) -> Vec<f64> {
        let mut sums = alloc::vec![0.0; self.class_sizes().len()];
        let weight = |row: usize| self.weights.get(row).copied().unwrap_or(1.0);
        match &self.targets {
            Targets::Binary(labels) => {
                labels.iter().enumerate().for_each(|(row, &y)| sums[usize::from(y)] += weight(row))
            }
            Targets::Classes { labels, .. } => {
                labels.iter().enumerate().for_each(|(row, &y)| sums[y as usize] += weight(row));
            }
            Targets::Values(_) | Targets::None => {}
        }
        sums
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.summary.rows
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of columns after encoding.
    #[must_use]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of positive rows.
    #[must_use]
    pub fn positives(&self) -> usize {
        self.summary.positives
    }

    /// What a column is called: `age`, `sex=Male`, or its number from 1.
    #[must_use]
    pub fn column_name(&self, column: usize) -> String {
        self.names.get(column).cloned().unwrap_or_else(|| format!("{}", column + 1))
    }

    /// What it is made of.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// `Ok` when every class has a row with a weight: positives and negatives, or each of several; `file` is for the error.
    ///
    /// # Errors
    /// `OneClass`, `AbsentClass`.
    pub fn require_every_class(&self, file: &str) -> core::result::Result<(), DataError> {
        let kind = match &self.targets {
            Targets::Values(_) => return Ok(()),
            Targets::Classes { names, labels } => match (0..names.len()).find(|&class| !self.has(labels, class as u32))
            {
                None => return Ok(()),
                Some(class) => DataErrorKind::AbsentClass { label: names[class].clone() },
            },
            Targets::None | Targets::Binary(_) => {
                let has_positives = self.has(self.labels(), 1);
                if has_positives && self.has(self.labels(), 0) {
                    return Ok(());
                }
                let label = if has_positives { "positive" } else { "negative" }.to_string();
                DataErrorKind::OneClass { label, column: None }
            }
        };
        Err(DataError { file: file.to_string(), line: 0, column: 0, kind })
    }

    /// Whether a row with this label counts.
    fn has<L: Copy + PartialEq>(&self, labels: &[L], class: L) -> bool {
        (0..).zip(labels).any(|(row, &label)| label == class && self.weights.get(row).is_none_or(|&w| w > 0.0))
    }

    /// Both parts of a split: drawn by class, where there are some, or as [`Options::split_by`](super::Options::split_by) says of
    /// the table that the rows come from. `file` is for the error.
    ///
    /// # Errors
    /// `LoneRow`, and `Core(Param)` for a share outside (0, 1) and for rows of one value to order them by or of one group.
    pub fn split(&self, split: Split, file: &str) -> core::result::Result<[Self; 2], DataError> {
        let error = |kind| DataError { file: file.to_string(), line: 0, column: 0, kind };
        let parts = parts(split, &self.targets, self.units.as_ref(), self.len()).map_err(error)?;
        let select = |rows: &[u32]| self.select(rows).map_err(|wrong| error(wrong.into()));
        Ok([select(&parts.train)?, select(&parts.test)?])
    }

    /// Whether splits go by a column of the table that the rows come from.
    #[must_use]
    pub fn is_split_by_column(&self) -> bool {
        self.units.is_some()
    }

    /// The group of each row that a split keeps together ([`SplitBy::Group`](super::SplitBy)), by number; empty without.
    #[must_use]
    pub fn split_groups(&self) -> &[u32] {
        self.units.as_ref().filter(|units| !COMPACT && !units.ordered).map_or(&[], |units| &units.of)
    }

    /// The rank of each row where splits hold out the last ([`SplitBy::Order`](super::SplitBy)); empty without.
    #[must_use]
    pub fn split_ranks(&self) -> &[u32] {
        self.units.as_ref().filter(|units| !COMPACT && units.ordered).map_or(&[], |units| &units.of)
    }

    /// The rows `index` in that order, copied.
    ///
    /// # Errors
    /// `Index`.
    pub fn select(&self, index: &[u32]) -> Result<Self> {
        let len = self.len();
        if let Some(at) = index.iter().position(|&row| row as usize >= len) {
            return Err(Error::Index { what: "index", at, len });
        }
        let storage = match &self.storage {
            Storage::Dense(data) => {
                let mut out = Vec::with_capacity(index.len() * self.cols);
                for &row in index {
                    out.extend_from_slice(&data[row as usize * self.cols..][..self.cols]);
                }
                Storage::Dense(out)
            }
            Storage::Csr { ptr, col, val } => {
                let (mut new_ptr, mut new_col, mut new_val) = (alloc::vec![0], Vec::new(), Vec::new());
                for &row in index {
                    let (columns, values) = Rows::sparse_row(ptr, col, val, row as usize);
                    new_col.extend_from_slice(columns);
                    new_val.extend_from_slice(values);
                    new_ptr.push(new_col.len());
                }
                Storage::Csr { ptr: new_ptr, col: new_col, val: new_val }
            }
        };
        fn of<V: Copy>(all: &[V], index: &[u32]) -> Vec<V> {
            index.iter().map(|&row| all[row as usize]).collect()
        }
        let targets = match &self.targets {
            Targets::None => Targets::None,
            Targets::Binary(labels) => Targets::Binary(of(labels, index)),
            Targets::Classes { labels, names } => Targets::Classes { labels: of(labels, index), names: names.clone() },
            Targets::Values(values) => Targets::Values(of(values, index)),
        };
        let mut part = Self::new(storage, self.cols, targets, self.names.clone(), Summary::default(), index.len());
        if !self.group_of.is_empty() {
            (part.group_of, part.group_names) = (of(&self.group_of, index), self.group_names.clone());
        }
        let units = self.units.as_ref().filter(|_| !COMPACT);
        part.units = units.map(|units| Units { of: of(&units.of, index), ..*units });
        part.queries = self.queries.as_ref().map(|queries| queries.select(index));
        if !self.weights.is_empty() {
            part.weights = of(&self.weights, index);
        }
        part.set_places(index.iter().map(|&row| self.place(row)).collect());
        Ok(part)
    }

    /// Where each row was, if targets are numbers.
    pub(super) fn set_places(&mut self, places: Vec<u32>) {
        if !COMPACT && matches!(self.targets, Targets::Values(_)) && places.iter().zip(0..).any(|(&row, at)| row != at)
        {
            self.places = places;
        }
    }

    /// Where a row was in the data that these were selected from, if their targets are numbers; else, and of data that were not, the
    /// row itself.
    #[must_use]
    pub fn place(&self, row: u32) -> u32 {
        self.places.get(row as usize).copied().unwrap_or(row)
    }
}

/// Rows that come and go.
#[cfg(feature = "stream")]
impl<T: Real> Dataset<T> {
    /// As some of so many negatives and positives: see [`Trainer::of_stream`](crate::trainer::Trainer::of_stream).
    pub(crate) fn standing_for(mut self, population: [u32; 2]) -> Self {
        self.stands_for = Some(population);
        self
    }

    /// Puts other features in the place of a dense row's.
    pub(crate) fn replace(&mut self, row: usize, features: &[T]) -> Result<()> {
        exact_len("features", self.cols, features.len())?;
        crate::error::all_finite("features", features)?;
        let (len, cols) = (self.len(), self.cols);
        let Storage::Dense(data) = &mut self.storage else {
            return Err(Error::Unsupported { what: "other features of sparse rows" });
        };
        let to = data.get_mut(row.saturating_mul(cols)..).and_then(|rest| rest.get_mut(..cols));
        to.ok_or(Error::Index { what: "row", at: row, len })?.copy_from_slice(features);
        Ok(())
    }
}
