//! The fitted preparation: columns to numbers, missing values, scaling, labels.

mod apply;
mod categories;
mod columns;
mod cross;
mod encode;
mod exact;
mod fit;
mod groups;
mod identifiers;
mod kinds;
mod knots;
mod labels;
mod numbered;
mod options;
mod order;
mod piece;
mod queries;
mod role;
mod scaled;
mod stats;
mod table;
mod units;
mod weights;
mod wide;

pub(crate) use cross::Cross;
pub use encode::{Encode, MAX_PIECES};
pub use identifiers::identifiers;
pub use knots::{Knot, rank};
pub use labels::{binary_labels, check_label, label_column_of, label_values};
pub use options::{Missing, Options, SplitBy, Target};
pub use piece::Piece;
pub use stats::ColumnStats;

use super::Kind;
use super::dataset::{Dataset, parts};
use super::error::DataError;
use super::parse::{Encoding, Notation, RawTable, truth, words_as_written};
use super::scale::{Affine, Scale};
use super::split::{Parts, Split};
use crate::checkpoint::{self, Coded, Reader, open, seal};
use crate::metric::StateError;
use crate::real::Real;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
pub(crate) use groups::GroupRule;
use identifiers::refuse_missing;
pub(crate) use kinds::Kinds;
use labels::{LabelRule, Rule, find_label, targets};
use role::{Column, Layout, Role};
use table::all_rows;

/// Sparse rows are made dense for [`Scale::Standard`] up to this many values, and one-hot columns may grow a table of dense rows up to
/// this many (or four times what the file has).
pub const MAX_DENSE: usize = 1 << 26;

/// What was learnt from the training part and turns any later data into the same features. Saved with a model.
///
/// * A column of numbers stays one column, or becomes several ([`Options::encode`]). A categorical one becomes one column for each category of the training part,
///   in sorted order, called `name=category`. A category unseen in training is all zeros, and counted. Rows of more than 1,024 columns, of
///   which at most one in 16 can be other than 0, are stored sparse (not in small builds). Where columns would be too many ([`MAX_DENSE`]; 65,536 of sparse rows),
///   the rarest categories have none, either (not in small builds, which refuse the table).
/// * Scaling comes after that; columns of 0 and 1 alone stay so when the others are scaled by column ([`Scale::Standard`] and its like).
/// * Where rows have weights ([`Options::weight`]), a row of weight 2 is two rows in all this, and one of weight 0 none.
/// * Groups are the values of the columns that make them, with commas between those of several. A group unseen in training
///   comes after those of training; a missing value is refused, or (with [`Missing::Impute`]) a value of its own. A table
///   without the columns has no groups.
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
    /// Spellings of missing values that were named.
    na: Vec<String>,
    label: LabelRule,
    /// Saved by itself, so that what has none is saved as ever.
    pub(crate) groups: Option<GroupRule>,
    /// The column of the weights, if there is one; saved by itself, likewise.
    pub(crate) weight: Option<String>,
    /// What splits go by besides labels; saved by itself, likewise.
    pub(crate) split_by: Option<SplitBy>,
    /// How columns are written; saved by itself, likewise.
    pub(crate) notations: Vec<(String, Notation)>,
    /// What the columns of a table are, and the label's behind them; saved by itself, likewise.
    pub(crate) kinds: Kinds,
    /// How the bytes became text; saved by itself, likewise.
    pub(crate) encoding: Encoding,
    /// Products of encoded columns; saved by itself, likewise.
    pub(crate) crosses: Vec<Cross>,
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
        self.na.write(out);
        self.label.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let layout = match from.byte()? {
            0 => Layout::Named(from.value()?),
            1 => Layout::Numbered { cols: from.value()?, maps: from.value()? },
            _ => return None,
        };
        let (scale, missing, na) = (from.value()?, from.value()?, from.value()?);
        Some(Self {
            layout,
            scale,
            missing,
            na,
            label: from.value()?,
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

/// A column after encoding: a model sees (value − shift)/divisor, or 0 where the divisor is 0; of rows of unit length that
/// before their length is taken.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedColumn {
    /// What it is called; by its number from 1 without names.
    pub name: String,
    /// What is subtracted.
    pub shift: f64,
    /// What that is divided by.
    pub divisor: f64,
}

/// What a column that is read from a table becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Source<'a> {
    /// One encoded column: the number; a date is days since the beginning of 1970.
    Number {
        /// What is filled in for a missing one ([`Missing::Impute`]).
        mean: f64,
        /// Whether one more comes behind it, 1 where the number was missing.
        missing: bool,
    },
    /// One encoded column for each piece of a number ([`Options::encode`]), in this order.
    Pieces {
        /// What is filled in for a missing one ([`Missing::Impute`]).
        mean: f64,
        /// The functions of the number that the columns are.
        pieces: &'a [Piece],
        /// Whether one more comes behind them, 1 where the number was missing.
        missing: bool,
    },
    /// One encoded column: the rank of a number ([`Scale::Rank`]).
    Ranked {
        /// What is filled in for a missing one ([`Missing::Impute`]).
        mean: f64,
        /// Between which ranks are on straight lines ([`rank`]).
        knots: &'a [Knot],
        /// Whether one more comes behind it, 1 where the number was missing.
        missing: bool,
    },
    /// One encoded column for each category, 1 where the row has it, in this order.
    Category {
        /// The categories of training, sorted.
        values: &'a [String],
        /// Whether one more comes behind them, for missing values.
        missing: bool,
    },
}

impl Source<'_> {
    /// Whether it is taken as categories.
    #[must_use]
    pub fn is_category(&self) -> bool {
        matches!(self, Self::Category { .. })
    }

    /// How many encoded columns it becomes.
    #[must_use]
    pub fn width(&self) -> usize {
        let (columns, missing) = match *self {
            Self::Number { missing, .. } | Self::Ranked { missing, .. } => (1, missing),
            Self::Pieces { pieces, missing, .. } => (pieces.len(), missing),
            Self::Category { values, missing } => (values.len(), missing),
        };
        columns + usize::from(missing)
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
/// label is positive, or which classes there are, is decided on the whole table. A table that is given away, and not lent, gives
/// its memory back on the way.
///
/// # Errors
/// As [`Preparation::fit`] and [`Preparation::apply`]; `LoneRow` for one of several classes that cannot be in both parts;
/// `Core(Param)` for a share outside (0, 1).
pub fn prepare<'a, T: Real>(
    table: impl Into<Cow<'a, RawTable>>,
    options: &Options,
    split: Split,
) -> Result<Prepared<T>, DataError> {
    let table = table.into();
    let Parts { train, test } = prepared_parts::<T>(&table, options, split)?;
    let preparation = Preparation::fit_rows(&table, options, &train)?;
    let mut made = preparation.apply_parts(table, &[&train, &test])?;
    let (train, test) = (made.swap_remove(0), made.swap_remove(0));
    Ok(Prepared { preparation, train, test })
}

/// The parts of a table that is not prepared yet.
fn prepared_parts<T: Real>(table: &RawTable, options: &Options, split: Split) -> Result<Parts, DataError> {
    let all = all_rows(table);
    let label = find_label(table, options)?;
    let targets = targets::<T>(table, &label, &all)?;
    refuse_missing(table, options, label.column.as_deref(), &all)?;
    let units = options.split_by.as_ref().map(|by| by.units(table, &all)).transpose()?.flatten();
    parts(split, &targets, units.as_ref(), table.rows()).map_err(|kind| table.error(kind))
}

impl Preparation {
    /// Its bytes alone, for where there are rows and no model. (A model's file has its preparation.)
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        self.groups.write(&mut out);
        self.weight.write(&mut out);
        self.split_by.write(&mut out);
        self.notations.write(&mut out);
        (self.encoding == Encoding::Latin1).write(&mut out);
        if !self.crosses.is_empty() || !self.kinds.is_empty() {
            self.crosses.write(&mut out);
        }
        if !self.kinds.is_empty() {
            self.kinds.write(&mut out);
        }
        seal(checkpoint::Kind::Preparation, &out)
    }

    /// The preparation of such bytes.
    ///
    /// # Errors
    /// [`StateError`]; never a panic, whatever the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateError> {
        let mut from = Reader(open(checkpoint::Kind::Preparation, bytes)?);
        let mut read = || {
            let mut all: Self = from.value()?;
            (all.groups, all.weight, all.split_by) = (from.value()?, from.value()?, from.value()?);
            all.notations = from.value()?;
            if from.value::<bool>()? {
                all.encoding = Encoding::Latin1;
            }
            if !from.0.is_empty() {
                let crosses: Vec<Cross> = from.value()?;
                all = if crosses.is_empty() { all } else { all.with_crosses(crosses)? };
            }
            let kinds = if from.0.is_empty() { None } else { Some(from.value()?) };
            from.0.is_empty().then_some(all)?.with_kinds(kinds)
        };
        read().ok_or(StateError::Damaged)
    }

    /// Columns after encoding.
    #[must_use]
    pub fn cols(&self) -> usize {
        match &self.layout {
            Layout::Named(columns) => {
                columns.iter().map(|column| column.role.width()).sum::<usize>() + self.crosses.len()
            }
            Layout::Numbered { cols, .. } => *cols,
        }
    }

    /// How columns of the training table were written, by their names, where that is not as usual.
    #[must_use]
    pub fn notations(&self) -> &[(String, Notation)] {
        &self.notations
    }

    /// The same with what each column was: a later file is read so.
    #[must_use]
    pub fn known(&self) -> Vec<(String, Notation)> {
        let mut all = self.notations.clone();
        for (name, kind) in self.named_kinds() {
            match self.notations.iter().position(|of| of.0 == name) {
                Some(at) => all[at].1.kind = kind,
                None => all.push((name.to_string(), Notation::of(kind))),
            }
        }
        all
    }

    /// The columns that are read from a table, the label last, with what they were.
    fn named_kinds(&self) -> impl Iterator<Item = (&str, Kind)> {
        let columns = if let Layout::Named(columns) = &self.layout { &columns[..] } else { &[] };
        let names = columns.iter().map(|column| column.name.as_str()).chain(self.label.column.as_deref());
        names.zip(self.kinds.of.iter().copied().chain(core::iter::repeat(Kind::Unknown)))
    }

    /// With what the columns of training were; without it, what files from before that was kept go by: the usual words were missing
    /// in every column, and texts had lost the blanks around them. `None` for kinds of other columns.
    pub(crate) fn with_kinds(mut self, kinds: Option<Kinds>) -> Option<Self> {
        let Layout::Named(columns) = &self.layout else { return kinds.is_none().then_some(self) };
        match kinds {
            Some(kinds) if kinds.of.len() == columns.len() + 1 => self.kinds = kinds,
            Some(_) => return None,
            None => {
                let words = words_as_written().into_iter().filter(|word| !self.na.contains(word)).collect::<Vec<_>>();
                self.na.extend(words);
                self.kinds.trims = true;
            }
        }
        Some(self)
    }

    /// How the bytes of the training file became text: a later file that is not UTF-8 is read so.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// What the columns after encoding are called; empty for LIBSVM and arrays, where they have only numbers.
    #[must_use]
    pub fn column_names(&self) -> Vec<String> {
        let Layout::Named(columns) = &self.layout else { return Vec::new() };
        let mut names = Vec::new();
        for Column { name, role } in columns {
            match role {
                Role::Number { missing, .. } | Role::Ranked { missing, .. } => {
                    names.push(name.clone());
                    names.extend(missing.map(|_| format!("{name}=(missing)")));
                }
                Role::Pieces { pieces, missing, .. } => {
                    names.extend(pieces.iter().map(|piece| piece.name(name)));
                    names.extend(missing.map(|_| format!("{name}=(missing)")));
                }
                Role::Category { values, missing, .. } => {
                    names.extend(values.iter().map(|value| format!("{name}={value}")));
                    names.extend(missing.map(|_| format!("{name}=(missing)")));
                }
            }
        }
        for cross in &self.crosses {
            names.push(format!("{}*{}", names[cross.left as usize], names[cross.right as usize]));
        }
        names
    }

    /// The columns after encoding, with their scaling.
    #[must_use]
    pub fn encoded(&self) -> Vec<EncodedColumn> {
        let of = |name: String, map: Option<&Affine>| {
            let Affine { shift, divisor } = map.copied().unwrap_or(Affine::IDENTITY);
            EncodedColumn { name, shift, divisor }
        };
        match &self.layout {
            Layout::Numbered { cols, maps } => (0..*cols).map(|k| of(format!("{}", k + 1), maps.get(k))).collect(),
            Layout::Named(columns) => {
                let maps = columns.iter().flat_map(|column| -> Vec<Option<&Affine>> {
                    match &column.role {
                        Role::Number { map, missing, .. } => {
                            [Some(map)].into_iter().chain(missing.iter().map(Some)).collect()
                        }
                        Role::Ranked { missing, .. } => [None].into_iter().chain(missing.iter().map(Some)).collect(),
                        Role::Pieces { maps, missing, .. } => {
                            maps.iter().map(Some).chain(missing.iter().map(Some)).collect()
                        }
                        Role::Category { values, maps, missing } => {
                            let seen = (0..values.len()).map(|k| maps.get(k));
                            seen.chain(missing.iter().map(Some)).collect()
                        }
                    }
                });
                self.column_names()
                    .into_iter()
                    .zip(maps.chain(self.cross_maps().map(Some)))
                    .map(|(name, map)| of(name, map))
                    .collect()
            }
        }
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

    /// The columns read from a table, in order, and what becomes of each; empty without named columns.
    #[must_use]
    pub fn sources(&self) -> Vec<(&str, Source<'_>)> {
        let Layout::Named(columns) = &self.layout else { return Vec::new() };
        let mut sources = Vec::with_capacity(columns.len());
        for Column { name, role } in columns {
            let source = match role {
                Role::Number { mean, missing, .. } => Source::Number { mean: *mean, missing: missing.is_some() },
                Role::Pieces { mean, pieces, missing, .. } => {
                    Source::Pieces { mean: *mean, pieces, missing: missing.is_some() }
                }
                Role::Ranked { fill, knots, missing } => {
                    Source::Ranked { mean: *fill, knots, missing: missing.is_some() }
                }
                Role::Category { values, missing, .. } => Source::Category { values, missing: missing.is_some() },
            };
            sources.push((name.as_str(), source));
        }
        sources
    }

    /// Those of them that are taken as categories.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        self.sources().into_iter().filter(|source| source.1.is_category()).map(|source| source.0.into()).collect()
    }

    /// Whether it was fitted on sparse rows or arrays, which have no names of columns.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        matches!(self.layout, Layout::Numbered { .. })
    }

    /// Spellings of a missing value besides the usual ones ([`ReadOptions::na`](crate::data::ReadOptions::na)).
    #[must_use]
    pub fn na(&self) -> &[String] {
        &self.na
    }

    /// The same with missing values treated in this way from now on. ([`Missing::Impute`] fills in what training found.)
    #[must_use]
    pub fn with_missing(self, missing: Missing) -> Self {
        Self { missing, ..self }
    }

    /// The same with the groups that these columns make of a table, in place of those that it knew.
    ///
    /// # Errors
    /// As [`grouped`](Self::grouped).
    pub fn with_groups(self, table: &RawTable, columns: &[String]) -> Result<Self, DataError> {
        let options = Options { group: columns.to_vec(), missing: self.missing, ..Options::default() };
        Ok(Self { groups: GroupRule::fit(table, &options, &all_rows(table))?, ..self })
    }

    /// The label column, for tables with named columns.
    #[must_use]
    pub fn label_column(&self) -> Option<&str> {
        self.label.column.as_deref()
    }

    /// What the classes are called, by their numbers: of two the negative one first, which is `(others)` where it has many names. Empty where
    /// the target is a number.
    #[must_use]
    pub fn class_names(&self) -> Vec<&str> {
        match (self.negative(), self.positive()) {
            (negative, Some(positive)) => [negative.unwrap_or("(others)"), positive].into(),
            _ => self.classes().iter().map(String::as_str).collect(),
        }
    }

    /// The number of the class that is called so, or has this number.
    #[must_use]
    pub fn class_of(&self, label: &str) -> Option<usize> {
        let names = self.class_names();
        let same = |name: &&str| match (name.parse::<f64>(), label.parse::<f64>()) {
            (Ok(a), Ok(b)) => a == b,
            _ => truth(name).is_some_and(|one| truth(label) == Some(one)),
        };
        names.iter().position(|name| *name == label).or_else(|| names.iter().position(same))
    }

    /// The label value that counts as positive, or several with commas between them; `None` where the target is another.
    #[must_use]
    pub fn positive(&self) -> Option<&str> {
        match &self.label.rule {
            Rule::Binary(rule) => Some(&rule.positive),
            Rule::Classes(_) | Rule::Values => None,
        }
    }

    /// The label value that counts as negative; `None` where all others do, or the target is another.
    #[must_use]
    pub fn negative(&self) -> Option<&str> {
        match &self.label.rule {
            Rule::Binary(rule) => rule.negative.as_deref(),
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

    /// The column that says what each row counts, if training had one.
    #[must_use]
    pub fn weight_column(&self) -> Option<&str> {
        self.weight.as_deref()
    }

    /// What splits go by besides labels, if anything.
    #[must_use]
    pub fn split_by(&self) -> Option<&SplitBy> {
        self.split_by.as_ref()
    }

    /// The same with another column of weights, or none.
    #[must_use]
    pub fn with_weight_column(self, weight: Option<String>) -> Self {
        Self { weight, ..self }
    }

    /// The columns that make groups; empty without groups.
    #[must_use]
    pub fn group_columns(&self) -> &[String] {
        self.groups.as_ref().map_or(&[], GroupRule::columns)
    }

    /// The groups that training had, in the order of their numbers; empty without groups.
    #[must_use]
    pub fn group_names(&self) -> &[String] {
        self.groups.as_ref().map_or(&[], GroupRule::names)
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
}
