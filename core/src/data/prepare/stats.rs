//! What a preparation needs to know of each column, as a state that merges.

mod saved;

use super::super::Kind;
use super::super::error::{DataError, DataErrorKind};
use super::super::parse::{Content, Encoding, MISSING, Notation, RawColumn, RawTable};
use super::super::scale::{Moments, Scale};
use super::columns::{as_categories, category, number};
use super::encode::{maps, pieces};
use super::exact::Exact;
use super::identifiers::{MANY, is_called_identifier};
use super::labels::{LabelCells, LabelRule, Positive, Rule, classes, label_cells};
use super::order::ordered;
use super::role::{Column, Layout, Role};
use super::table::{kind_of, no_column, not_a_number, not_features, numbers_of, places, refuse_doubt};
use super::{Kinds, Missing, Options, Preparation, Target};
use crate::checkpoint::{self, Coded, MOST, Reader, open, seal};
use crate::error::Error;
use crate::metric::StateError;
use crate::real::Real;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

/// So many different values of a column are told apart.
const DIFFERENT: usize = 1 << 16;

/// Counts of a table's columns, or of a part of one: a [`Preparation`] of all rows is made of those of all parts, none of which need be
/// in one place.
///
/// Statistics of parts merge to the same statistics, and bytes, however the rows are split and in whatever order they are merged; so
/// every machine that finishes them encodes rows alike, to the last bit. What [`Preparation::fit`] finds in all rows is found:
///
/// * Categories, and missing values, by their counts. Of more than 65,536 different texts a column is no category; it
///   is refused, unless it is an identifier or ignored.
/// * Means and deviations by sums that are not rounded: those of `fit` to about 1e-15 of the largest value.
/// * Quantiles ([`Options::encode`]) by the counts of the different numbers. Of more than 65,536, neighbours that agree in the top bits
///   count as the largest of them, as few bits as it takes: a quantile is a number of the column whose share of the rows is too large by
///   that of its neighbours at most. Means and deviations of splines are of these numbers.
/// * Identifiers ([`identifiers`](super::identifiers)), in whatever order the rows come. Of more than 65,536 different numbers those of
///   a column that is called `id` are taken to be all different, where they can be.
/// * Labels: which one is positive, or which classes there are.
///
/// Weights, groups and splits by a column are refused, and LIBSVM rows. Memory: 2 KB a column, 16 bytes for each different number, a text and 8 bytes
/// for each category; while a part is counted 8 bytes for each of its rows. Cost: O(n log n) a column and part.
///
/// ```
/// use undercurve::data::{ColumnStats, Format, Options, Preparation, RawTable};
///
/// let options = Options::default();
/// let part = |text: &[u8]| RawTable::parse(text, Format::Auto, "part");
/// let mut stats = ColumnStats::of(&part(b"size,colour,label\n1,red,0\n")?, &options)?;
/// stats.merge(&ColumnStats::of(&part(b"size,colour,label\n3,blue,1\n")?, &options)?)?;
/// let whole = part(b"size,colour,label\n1,red,0\n3,blue,1\n")?;
/// assert_eq!(stats.finish(&options)?, Preparation::fit(&whole, &options)?);
/// # Ok::<(), undercurve::data::DataError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnStats {
    label: String,
    rows: u64,
    na: Vec<String>,
    notations: Vec<(String, Notation)>,
    /// Whether a part was read as Latin-1, and whether texts lost the blanks around them.
    latin1: bool,
    trims: bool,
    columns: Vec<Stat>,
}

#[derive(Clone, Debug, PartialEq)]
struct Stat {
    name: String,
    /// Whether it is a feature, whatever it looks like.
    told: bool,
    kind: Kind,
    missing: u64,
    seen: Seen,
}

#[derive(Clone, Debug, PartialEq)]
enum Seen {
    /// No value yet.
    Nothing,
    Numbers(Numbers),
    Texts(Texts),
}

#[derive(Clone, Debug, PartialEq)]
struct Numbers {
    sum: Exact,
    squares: Exact,
    whole: bool,
    low: u64,
    counts: Counts,
}

/// Keys of numbers, ascending, with how often there are such; those that agree but for the lowest bits are together, as the largest.
#[derive(Clone, Debug, Default, PartialEq)]
struct Counts {
    bits: u32,
    cells: Vec<(u64, u64)>,
}

/// Texts with their counts; the first of them, where there are more than are told apart.
#[derive(Clone, Debug, Default, PartialEq)]
struct Texts {
    counts: BTreeMap<String, u64>,
    more: bool,
}

impl Counts {
    /// Of keys, ascending.
    fn of(keys: &[u64]) -> Self {
        let mut counts =
            Self { bits: 0, cells: keys.chunk_by(|a, b| a == b).map(|of| (of[0], of.len() as u64)).collect() };
        counts.shrink();
        counts
    }

    /// Makes one of neighbours that agree but for so many bits.
    fn fold(&mut self, bits: u32) {
        self.bits = bits;
        self.cells.dedup_by(|next, before| {
            let same = next.0 >> bits == before.0 >> bits;
            if same {
                *before = (next.0, before.1 + next.1);
            }
            same
        });
    }

    fn shrink(&mut self) {
        if self.cells.len() <= DIFFERENT {
            return;
        }
        // Neighbours become one with as many bits as they differ in.
        let (mut ones, mut left, mut bits) = ([0; 65], self.cells.len(), 0);
        for pair in self.cells.windows(2) {
            ones[64 - (pair[0].0 ^ pair[1].0).leading_zeros() as usize] += 1;
        }
        while left > DIFFERENT && bits < 64 {
            bits += 1;
            left -= ones[bits];
        }
        self.fold((bits as u32).min(63).max(self.bits));
    }

    fn merge(&mut self, other: &Self) {
        self.cells.extend_from_slice(&other.cells);
        // (Two runs, which a stable sort takes as such.)
        self.cells.sort();
        self.fold(self.bits.max(other.bits));
        self.shrink();
    }

    fn all(&self) -> u64 {
        self.cells.iter().map(|cell| cell.1).sum()
    }
}

impl Texts {
    fn add(&mut self, text: &str, count: u64) {
        match self.counts.get_mut(text) {
            Some(to) => *to += count,
            None => _ = self.counts.insert(text.into(), count),
        }
    }

    fn shrink(&mut self) {
        while self.counts.len() > DIFFERENT {
            self.counts.pop_last();
            self.more = true;
        }
    }
}

impl Numbers {
    fn of(numbers: &[f64]) -> Option<Self> {
        let mut keys: Vec<u64> = numbers.iter().filter(|x| !x.is_nan()).map(|x| x.key()).collect();
        keys.sort_unstable();
        let (mut sum, mut squares, mut whole) = (Exact::new(), Exact::new(), true);
        for &x in numbers.iter().filter(|x| !x.is_nan()) {
            sum.add(x);
            squares.add_square(x);
            whole &= libm::floor(x) == x;
        }
        sum.settle();
        squares.settle();
        Some(Self { sum, squares, whole, low: *keys.first()?, counts: Counts::of(&keys) })
    }

    fn merge(&mut self, other: &Self) {
        self.sum.merge(&other.sum);
        self.squares.merge(&other.squares);
        self.whole &= other.whole;
        self.low = self.low.min(other.low);
        self.counts.merge(&other.counts);
    }

    fn ends(&self) -> [f64; 2] {
        [self.low, self.counts.cells.last().map_or(self.low, |cell| cell.0)].map(f64::of_key)
    }

    /// Numbers, ascending, with how often there are such.
    fn each(&self) -> impl Iterator<Item = (f64, f64)> + Clone {
        self.counts.cells.iter().map(|&(key, count)| (f64::of_key(key), count as f64))
    }

    fn moments(&self) -> Moments {
        let ([low, high], count) = (self.ends(), self.counts.all());
        let sum = self.sum.value();
        let mean = if low == high { low } else { sum / count as f64 };
        let (rest, square) = match mean.is_finite() {
            true => Exact::around(&self.sum, &self.squares, count, mean),
            false => (f64::NAN, f64::NAN),
        };
        let indicator = self.counts.cells.iter().all(|&(key, _)| key == 0.0.key() || key == 1.0.key());
        Moments { sum, low, high, indicator, count: count as f64, mean, rest, square }
    }

    /// The role of a column, of which so many are missing. `None` when it does not fit an `f64`.
    fn role(&self, missing: u64, options: &Options, scale: Scale) -> Option<Role> {
        let role = number(&self.moments(), missing as f64, scale, options.missing)?;
        let Role::Number { mean, missing: gone, .. } = role else { return Some(role) };
        let mut all = 0.0;
        let up_to = |(x, count)| {
            all += count;
            (x, all)
        };
        let up_to: Vec<(f64, f64)> = self.each().map(up_to).collect();
        let pieces = pieces(options.encode, &up_to);
        if pieces.is_empty() {
            return Some(ordered(role, scale, &up_to));
        }
        let filled = (missing > 0).then_some((mean, missing as f64));
        let maps = maps(&pieces, scale, || self.each().chain(filled))?;
        Some(Role::Pieces { mean, pieces, maps, missing: gone })
    }

    /// As [`identifiers`](super::identifiers) says of a column without missing values.
    fn is_identifier(&self, name: &str) -> bool {
        let (count, [low, high]) = (self.counts.all(), self.ends());
        let Counts { bits, cells } = &self.counts;
        let span = high - low + 1.0;
        let differ = if *bits == 0 { cells.len() as u64 == count } else { span >= count as f64 };
        self.whole && differ && (span == count as f64 || is_called_identifier(name))
    }
}

impl Seen {
    fn first_text(&self) -> Option<String> {
        let Self::Texts(texts) = self else { return None };
        texts.counts.keys().next().cloned()
    }
}

impl Stat {
    fn of(table: &RawTable, at: usize, options: &Options, is_label: bool) -> Result<Self, DataError> {
        let Content::Csv { names, columns, .. } = &table.content else { return Err(sparse(table)) };
        let (name, column) = (&names[at], &columns[at]);
        let categorical = options.categorical.contains(name);
        if if is_label { options.target == Target::Values } else { !categorical } {
            refuse_doubt(table, at)?;
        }
        let missing = table.missing(at) as u64;
        if is_label && missing > 0 {
            let row = (0..table.rows()).find(|&row| super::table::is_missing(column, row as u32)).unwrap_or(0);
            return Err(table.error_at(row, at, DataErrorKind::MissingLabel));
        }
        // (Labels that are true and false are called so.)
        let is_word = is_label && table.kind(at) == Kind::Truth;
        let seen = match (numbers_of(table, at, (categorical && !is_label) || is_word), column) {
            (Some(numbers), _) => Numbers::of(&numbers).map_or(Seen::Nothing, Seen::Numbers),
            (None, RawColumn::Text { values, codes, stray: Some(row) }) if !is_label && !categorical => {
                let row = *row as usize;
                return Err(not_a_number(table, row, at, name, &values[codes[row] as usize]));
            }
            (None, column) => {
                let (values, codes) = as_categories(column);
                let mut counts = alloc::vec![0; values.len()];
                for &code in codes.iter().filter(|&&code| code != MISSING) {
                    counts[code as usize] += 1;
                }
                let mut texts = Texts::default();
                values.iter().zip(counts).filter(|of| of.1 > 0).for_each(|(text, count)| texts.add(text, count));
                texts.shrink();
                if texts.counts.is_empty() { Seen::Nothing } else { Seen::Texts(texts) }
            }
        };
        let told = categorical || options.features.contains(name);
        let kind = kind_of(table, at, categorical);
        Ok(Self { name: name.clone(), told, kind, missing, seen })
    }

    fn merge(&mut self, other: &Self) -> Result<(), DataErrorKind> {
        match (&mut self.seen, &other.seen) {
            (_, Seen::Nothing) => {}
            (Seen::Nothing, of) => self.seen = of.clone(),
            (Seen::Numbers(one), Seen::Numbers(two)) => one.merge(two),
            (Seen::Texts(one), Seen::Texts(two)) => {
                two.counts.iter().for_each(|(text, &count)| one.add(text, count));
                one.more |= two.more;
                one.shrink();
            }
            (Seen::Texts(_), Seen::Numbers(_)) | (Seen::Numbers(_), Seen::Texts(_)) => {
                let text = [&self.seen, &other.seen].into_iter().find_map(Seen::first_text).unwrap_or_default();
                return Err(DataErrorKind::NotANumber { text, column: self.name.clone() });
            }
        }
        self.kind = match (self.kind, other.kind) {
            (one, Kind::Unknown) => one,
            (Kind::Unknown, other) => other,
            (one, other) if one == other => one,
            // (Texts of numbers beside texts.)
            (Kind::Text | Kind::Code, Kind::Text | Kind::Code) => Kind::Text,
            (had, got) => return Err(DataErrorKind::OtherKind { column: self.name.clone(), had, got }),
        };
        self.missing += other.missing;
        self.told |= other.told;
        Ok(())
    }

    /// Whether it tells rows apart and nothing else.
    fn is_identifier(&self, rows: u64) -> bool {
        let many = rows > MANY as u64;
        match &self.seen {
            Seen::Nothing => false,
            Seen::Numbers(numbers) => many && self.missing == 0 && numbers.is_identifier(&self.name),
            Seen::Texts(Texts { counts, .. }) => {
                counts.len() > MANY && 2 * counts.len() as u64 > rows.saturating_sub(self.missing)
            }
        }
    }
}

impl ColumnStats {
    /// Of a part of the rows. Of the options it reads the label, the target, and which columns are ignored, categorical or features;
    /// the rest is for [`finish`](Self::finish).
    ///
    /// # Errors
    /// Those of [`Preparation::fit`] that show in a part: columns that do not exist, rows without a label, text among numbers, numbers
    /// that can be read in two ways; `Core(Unsupported)` for weights, groups, splits by a column and LIBSVM rows.
    pub fn of(table: &RawTable, options: &Options) -> Result<Self, DataError> {
        supported(options).map_err(|kind| table.error(kind))?;
        let Content::Csv { names, .. } = &table.content else { return Err(sparse(table)) };
        let places = places(names);
        let named = options.categorical.iter().chain(&options.ignore);
        if let Some(name) = named.into_iter().find(|name| !places.contains_key(name.as_str())) {
            return Err(no_column(table, names, name));
        }
        let label = label_cells(table, options)?.0.unwrap_or_default();
        let ignored: BTreeSet<&String> = not_features(options).filter(|name| **name != label).collect();
        let kept = names.iter().enumerate().filter(|(_, name)| !ignored.contains(name));
        let columns = kept.map(|(at, name)| Stat::of(table, at, options, *name == label)).collect::<Result<_, _>>()?;
        let latin1 = table.encoding == Encoding::Latin1;
        Ok(Self {
            label,
            rows: table.rows() as u64,
            na: table.na.clone(),
            notations: table.notations(),
            latin1,
            trims: table.is_text,
            columns,
        })
    }

    /// Adds other rows of the same columns, in any order. An error changes nothing.
    ///
    /// # Errors
    /// `MissingColumn` where the columns differ, `NotANumber` where one has numbers in some parts and text in others, `OtherFormat` for
    /// another label column, or numbers that are written in another way; `Core(Overflow)` above 2⁶² rows.
    pub fn merge(&mut self, other: &Self) -> Result<(), DataError> {
        if other.columns.is_empty() {
            return Ok(());
        }
        if self.columns.is_empty() {
            *self = other.clone();
            return Ok(());
        }
        let mut all = self.clone();
        all.add(other).map_err(whole)?;
        *self = all;
        Ok(())
    }

    fn add(&mut self, other: &Self) -> Result<(), DataErrorKind> {
        let rows = self.rows.checked_add(other.rows).filter(|&rows| rows <= MOST);
        self.rows = rows.ok_or(DataErrorKind::Core(Error::Overflow { what: "rows" }))?;
        let names = |of: &Self| of.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
        let (ours, theirs) = (names(self), names(other));
        for (some, others) in [(&ours, &theirs), (&theirs, &ours)] {
            if let Some(name) = some.iter().find(|name| !others.contains(name)) {
                return Err(DataErrorKind::MissingColumn { name: name.clone(), columns: others.clone() });
            }
        }
        if self.label != other.label {
            return Err(DataErrorKind::OtherFormat);
        }
        for (name, notation) in &other.notations {
            match self.notations.iter().find(|of| of.0 == *name) {
                Some((_, known)) if known != notation => return Err(DataErrorKind::OtherFormat),
                Some(_) => {}
                None => self.notations.push((name.clone(), *notation)),
            }
        }
        let place = |name: &String| ours.iter().position(|other| other == name);
        self.notations.sort_by_key(|of| place(&of.0));
        self.latin1 |= other.latin1;
        self.trims |= other.trims;
        self.na.extend(other.na.iter().cloned());
        self.na.sort_unstable();
        self.na.dedup();
        for column in &mut self.columns {
            if let Some(of) = other.columns.iter().find(|of| of.name == column.name) {
                column.merge(of)?;
            }
        }
        Ok(())
    }

    /// Rows so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The preparation of all rows.
    ///
    /// # Errors
    /// As [`Preparation::fit`], without the place of what is wrong; `TooWide` for a column of too many categories.
    pub fn finish(&self, options: &Options) -> Result<Preparation, DataError> {
        self.prepared(options).map_err(whole)
    }

    fn prepared(&self, options: &Options) -> Result<Preparation, DataErrorKind> {
        supported(options)?;
        let scale = options.scale.unwrap_or(Scale::Standard);
        let column = self.columns.iter().find(|column| column.name == self.label).ok_or(DataErrorKind::Empty)?;
        let rule = rule(column, options)?;
        let mut fitted = Vec::new();
        for column in &self.columns {
            let Stat { name, told, missing, seen, .. } = column;
            let is_identifier = || !options.keep_identifiers && !told && column.is_identifier(self.rows);
            if *name == self.label || options.ignore.contains(name) || is_identifier() {
                continue;
            }
            if *missing > 0 && options.missing == Missing::Refuse {
                return Err(DataErrorKind::Missing { column: name.clone() });
            }
            let role = match seen {
                Seen::Nothing => continue,
                Seen::Numbers(numbers) => numbers.role(*missing, options, scale),
                Seen::Texts(Texts { counts, more: true }) => {
                    let (rows, columns) = (usize::try_from(self.rows).unwrap_or(usize::MAX), counts.len() + 1);
                    return Err(DataErrorKind::TooWide { rows, columns, widest: name.clone() });
                }
                Seen::Texts(Texts { counts, .. }) => {
                    let seen = counts.iter().map(|(text, &count)| (text.clone(), count as f64)).collect();
                    Some(category(seen, *missing as f64, self.rows as f64, scale))
                }
            };
            let role = role.ok_or_else(|| DataErrorKind::Spread { column: name.clone() })?;
            fitted.push(Column { name: name.clone(), role });
        }
        if fitted.iter().all(|column| column.role.width() == 0) {
            return Err(DataErrorKind::NoFeatures);
        }
        let kind =
            |name: &String| self.columns.iter().find(|column| column.name == *name).map_or(Kind::Unknown, |of| of.kind);
        let of = fitted.iter().map(|column| kind(&column.name)).chain([kind(&self.label)]).collect();
        Ok(Preparation {
            layout: Layout::Named(fitted),
            scale,
            missing: options.missing,
            na: self.na.clone(),
            label: LabelRule { column: Some(self.label.clone()), rule },
            groups: None,
            weight: None,
            split_by: None,
            notations: self.notations.clone(),
            kinds: Kinds { of, trims: self.trims },
            encoding: if self.latin1 { Encoding::Latin1 } else { Encoding::Utf8 },
            crosses: Vec::new(),
        })
    }

    /// Its bytes: the same for the same rows, however they were split, and on every machine.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.label.write(&mut out);
        self.rows.write(&mut out);
        self.na.write(&mut out);
        self.notations.write(&mut out);
        self.latin1.write(&mut out);
        self.trims.write(&mut out);
        self.columns.write(&mut out);
        seal(checkpoint::Kind::Columns, &out)
    }

    /// The statistics of such bytes.
    ///
    /// # Errors
    /// [`StateError`]; never a panic, whatever the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateError> {
        let mut from = Reader(open(checkpoint::Kind::Columns, bytes)?);
        let mut read = || {
            let (label, rows, na) = (from.value()?, from.value()?, from.value()?);
            let (notations, latin1, trims, columns) = (from.value()?, from.value()?, from.value()?, from.value()?);
            let stats = Self { label, rows, na, notations, latin1, trims, columns };
            (from.0.is_empty() && stats.is_sound()).then_some(stats)
        };
        read().ok_or(StateError::Damaged)
    }

    fn is_sound(&self) -> bool {
        let names: BTreeSet<&String> = self.columns.iter().map(|column| &column.name).collect();
        let counts = |column: &Stat| {
            let there = match &column.seen {
                Seen::Nothing => Some(0),
                Seen::Numbers(of) => sum(of.counts.cells.iter().map(|cell| cell.1)),
                Seen::Texts(of) if of.more => return of.counts.len() == DIFFERENT,
                Seen::Texts(of) => sum(of.counts.values().copied()),
            };
            there.and_then(|there| there.checked_add(column.missing)) == Some(self.rows)
        };
        let label = self.columns.iter().find(|column| column.name == self.label);
        let none = self.columns.is_empty() && *self == Self::default();
        let some = self.rows > 0 && self.rows <= MOST && label.is_some_and(|label| label.missing == 0);
        none || (some && names.len() == self.columns.len() && self.columns.iter().all(counts))
    }
}

fn sum(mut counts: impl Iterator<Item = u64>) -> Option<u64> {
    counts.try_fold(0_u64, |sum, count| sum.checked_add(count).filter(|_| count > 0))
}

fn whole(kind: DataErrorKind) -> DataError {
    DataError { file: String::new(), line: 0, column: 0, kind }
}

fn sparse(table: &RawTable) -> DataError {
    table.error(Error::Unsupported { what: "statistics of LIBSVM rows" }.into())
}

fn supported(options: &Options) -> Result<(), DataErrorKind> {
    let plain = options.weight.is_none() && options.group.is_empty() && options.split_by.is_none();
    let plain = plain && options.cross.is_empty();
    let what = "weights, groups, splits by a column and products of columns in statistics that merge";
    if plain { Ok(()) } else { Err(Error::Unsupported { what }.into()) }
}

/// How cells of the label column become targets.
fn rule(column: &Stat, options: &Options) -> Result<Rule, DataErrorKind> {
    let name = Some(column.name.as_str());
    let (mut numbers, mut values, mut counts, mut more) = (Vec::new(), Vec::new(), Vec::new(), false);
    match &column.seen {
        Seen::Nothing => return Err(DataErrorKind::MissingLabel),
        Seen::Numbers(of) => numbers.extend(of.each().map(|(x, _)| x)),
        Seen::Texts(of) => {
            more = of.more;
            values.extend(of.counts.keys().cloned());
            counts.extend(of.counts.values().map(|&count| count as f64));
        }
    }
    let codes: Vec<u32> = (0..values.len() as u32).collect();
    let cells = if values.is_empty() {
        LabelCells::Numbers(&numbers)
    } else {
        LabelCells::Text { values: &values, codes: &codes }
    };
    match (options.target, values.first()) {
        (Target::Values, Some(text)) => {
            Err(DataErrorKind::NotANumber { text: text.clone(), column: column.name.clone() })
        }
        (Target::Values, None) => Ok(Rule::Values),
        (Target::Classes, _) if more => Err(DataErrorKind::ManyClasses),
        (Target::Classes, _) => classes(cells, name).map(Rule::Classes),
        (Target::Binary, _) => Positive::find(cells, name, options.positive.as_deref(), || counts).map(Rule::Binary),
    }
}
