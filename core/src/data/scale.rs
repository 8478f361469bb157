//! Scaling of features, fitted on the training part only.

use super::parse::Format;
use crate::checkpoint::{Coded, Reader};
use alloc::vec::Vec;

/// How features are scaled. The bias of a model is its own parameter (a 1 appended to every row) and is never scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// As they are.
    None,
    /// Every column to mean 0 and population deviation 1 over the training part, but for indicators: a column that holds 0 and
    /// 1 alone there, whatever it is made of (a category, where a value was missing, a column of the file, of sparse rows or
    /// arrays), stays as it is. A column that is constant becomes 0. Sparse rows become dense by it.
    #[default]
    Standard,
    /// Every row divided by its 2-norm; rows of zeros stay.
    Unit,
    /// As `Standard`, but with the median in place of the mean, and the distance of the quartiles over that of normal numbers in place of the
    /// deviation. A column whose quartiles are equal is standardised.
    Robust,
    /// Every column of a table by rank: the share of the training rows below a number ([`Knot`](crate::data::Knot)). A column of at most two
    /// different values is standardised, and so are pieces ([`Encode`](crate::data::Encode)).
    Rank,
}

impl Scale {
    /// The scaling where none is asked for: a matter of the format alone, the same for every method. Columns of tables have
    /// units of their own and are standardised; LIBSVM files are mostly sparse, and their rows are divided by their length,
    /// which keeps the zeros.
    #[must_use]
    pub fn usual(format: Format) -> Self {
        match format {
            Format::Libsvm => Self::Unit,
            Format::Auto | Format::Csv | Format::Whitespace => Self::Standard,
        }
    }

    /// Whether every column has a map of its own.
    pub(super) fn by_column(self) -> bool {
        matches!(self, Self::Standard | Self::Robust | Self::Rank)
    }

    /// Whether that goes by the order of the numbers.
    pub(super) fn by_order(self) -> bool {
        matches!(self, Self::Robust | Self::Rank)
    }

    /// Its name: `none`, `standard`, `unit`, `robust` or `rank`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Standard => "standard",
            Self::Unit => "unit",
            Self::Robust => "robust",
            Self::Rank => "rank",
        }
    }
}

impl Coded for Scale {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(*self as u8);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        match from.byte()? {
            0 => Some(Self::None),
            1 => Some(Self::Standard),
            2 => Some(Self::Unit),
            3 => Some(Self::Robust),
            4 => Some(Self::Rank),
            _ => None,
        }
    }
}

/// `x ↦ (x − shift)/divisor`, or 0 for divisor 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Affine {
    pub shift: f64,
    pub divisor: f64,
}

impl Coded for Affine {
    fn write(&self, out: &mut Vec<u8>) {
        self.shift.write(out);
        self.divisor.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self { shift: from.value()?, divisor: from.value()? })
    }
}

impl Affine {
    pub const IDENTITY: Self = Self { shift: 0.0, divisor: 1.0 };

    #[inline]
    pub fn apply(self, x: f64) -> f64 {
        if self.divisor == 0.0 { 0.0 } else { (x - self.shift) / self.divisor }
    }
}

/// Mean and deviation of one column in two passes: `first` for every value and what it counts, `centre`, `second` for every
/// value, `finish`. The second pass also corrects the mean's rounding. What counts 0 is not there.
///
/// Indicators are none of it: a rare one would stand √(1/p) deviations from the rest of its column, and a model with room for
/// it learns by heart the few rows that have it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    pub sum: f64,
    pub low: f64,
    pub high: f64,
    /// Whether all values are 0 or 1.
    pub indicator: bool,
    pub count: f64,
    pub mean: f64,
    pub rest: f64,
    pub square: f64,
}

impl Moments {
    pub const NEW: Self = Self {
        sum: 0.0,
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
        indicator: true,
        count: 0.0,
        mean: 0.0,
        rest: 0.0,
        square: 0.0,
    };

    pub fn first(&mut self, x: f64, weight: f64) {
        if weight == 0.0 {
            return;
        }
        self.sum += weight * x;
        self.count += weight;
        self.indicator &= x == 0.0 || x == 1.0;
        if x < self.low {
            self.low = x;
        }
        if x > self.high {
            self.high = x;
        }
    }

    pub fn count(&self) -> f64 {
        self.count
    }

    /// Ends the first pass. Further values that count so much are 0.
    pub fn centre(&mut self, zeros: f64) {
        if zeros > 0.0 {
            self.first(0.0, zeros);
        }
        if self.count > 0.0 {
            self.mean = if self.low == self.high { self.low } else { self.sum / self.count };
        }
        let zeros = if zeros > 0.0 { zeros } else { 0.0 };
        self.rest = -self.mean * zeros;
        self.square = self.mean * self.mean * zeros;
    }

    pub fn second(&mut self, x: f64, weight: f64) {
        if weight == 0.0 {
            return;
        }
        let d = x - self.mean;
        self.rest += weight * d;
        self.square += weight * (d * d);
    }

    /// The mean and the map to mean 0 and deviation 1 when further values that count `imputed` are the mean, or the map of an
    /// indicator.
    /// `None` when they do not fit an `f64`.
    pub fn finish(&self, imputed: f64) -> Option<(f64, Affine)> {
        if self.count == 0.0 || self.low == self.high {
            return Some((self.mean, Affine { shift: self.mean, divisor: 0.0 }));
        }
        let off = self.rest / self.count;
        let mean = self.mean + off;
        if self.indicator {
            return Some((mean, Affine::IDENTITY));
        }
        let variance = (self.square - off * self.rest) / (self.count + imputed);
        let divisor = crate::Real::sqrt(if variance > 0.0 { variance } else { 0.0 });
        (mean.is_finite() && divisor.is_finite()).then_some((mean, Affine { shift: mean, divisor }))
    }
}

/// What a row counts, by its place among some; without weights 1.
pub(super) fn weight_of(weights: &[f64]) -> impl Fn(usize) -> f64 + '_ {
    |at| weights.get(at).copied().unwrap_or(1.0)
}

/// The map for a column of zeros and ones, which count so much in the whole: as it is, unless it is constant.
pub(super) fn indicator(zeros: f64, ones: f64) -> Affine {
    if zeros > 0.0 && ones > 0.0 {
        return Affine::IDENTITY;
    }
    Affine { shift: if ones > 0.0 { 1.0 } else { 0.0 }, divisor: 0.0 }
}

/// The maps of all columns of dense rows or of sparse rows given as `(row values)`, each row with what it counts; the index of a
/// column that does not fit.
pub(super) fn standard<'a, I>(
    weight: impl Fn(usize) -> f64,
    rows: usize,
    cols: usize,
    values: impl Fn(usize) -> I,
) -> Result<Vec<Affine>, usize>
where
    I: Iterator<Item = (usize, f64)> + 'a,
{
    let (mut moments, mut all) = (alloc::vec![Moments::NEW; cols], 0.0);
    for row in 0..rows {
        all += weight(row);
        for (column, x) in values(row) {
            moments[column].first(x, weight(row));
        }
    }
    for column in &mut moments {
        let zeros = all - column.count();
        column.centre(zeros);
    }
    for row in 0..rows {
        for (column, x) in values(row) {
            moments[column].second(x, weight(row));
        }
    }
    moments.iter().enumerate().map(|(column, m)| m.finish(0.0).map(|(_, map)| map).ok_or(column)).collect()
}

/// Divides a row by its 2-norm. The largest absolute value is taken out first, so that nothing overflows.
pub(super) fn unit(row: &mut [f64]) {
    let mut largest = 0.0;
    for &x in row.iter() {
        if x.abs() > largest {
            largest = x.abs();
        }
    }
    if largest == 0.0 {
        return;
    }
    let mut square = 0.0;
    for x in row.iter_mut() {
        *x /= largest;
        square += *x * *x;
    }
    let norm = crate::Real::sqrt(square);
    for x in row.iter_mut() {
        *x /= norm;
    }
}
