//! Columns of numbers as several columns of a model: straight pieces and steps between quantiles of the training rows.

use super::super::scale::{Affine, Moments, Scale, weight_of};
use super::order::{ordered, up_to};
use super::piece::Piece;
use super::role::Role;
use crate::error::{Error, Result};
use alloc::vec::Vec;
use core::fmt;

/// The most quantiles and bins of a column.
pub const MAX_PIECES: u8 = 100;

/// What a column of numbers becomes, so that a linear model can bend along it. Columns of at most two different values stay as
/// they are, and so do categories.
///
/// Quantiles are those of the training rows, where a row of weight 2 is two rows: the least value that so large a share of the
/// rows does not exceed. Equal ones are taken once by bins. Splines take a value that has more than its share of the rows (often 0) as one
/// quantile, and the others of the rows that have other values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encode {
    /// Itself.
    #[default]
    Linear,
    /// So many quantiles, with equal shares of the rows between them, cut it into pieces: a column for each, which is straight
    /// within the piece and constant outside it. A linear model of them is a linear spline. A column of so many different values
    /// or one more becomes steps instead: one column between any two, 1 for the larger.
    Splines(u8),
    /// So many bins of equal shares of the rows, with a column of 0 and 1 for each.
    Bins(u8),
}

impl Encode {
    /// Reads `linear`, `splines:K` or `bins:K`.
    ///
    /// # Errors
    /// `Param` for another text, for no quantiles, less than two bins or more than [`MAX_PIECES`].
    ///
    /// ```
    /// use undercurve::data::Encode;
    /// assert_eq!(Encode::parse("splines:6"), Ok(Encode::Splines(6)));
    /// assert!(Encode::parse("bins:1").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = Error::Param { what: "encode" };
        let count = |text: &str, least: u8| match text.parse() {
            Ok(count) if (least..=MAX_PIECES).contains(&count) => Ok(count),
            _ => Err(wrong),
        };
        match text.split_once(':') {
            None if text == "linear" => Ok(Self::Linear),
            Some(("splines", text)) => count(text, 1).map(Self::Splines),
            Some(("bins", text)) => count(text, 2).map(Self::Bins),
            _ => Err(wrong),
        }
    }
}

impl fmt::Display for Encode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linear => f.write_str("linear"),
            Self::Splines(count) => write!(f, "splines:{count}"),
            Self::Bins(count) => write!(f, "bins:{count}"),
        }
    }
}

/// A column of numbers that has been fitted, as pieces; where it has none as it was, or by its order. `None` when a piece does not fit an `f64`.
pub(super) fn fit_pieces(
    encode: Encode,
    role: Role,
    values: &[f64],
    rows: &[u32],
    weights: &[f64],
    scale: Scale,
) -> Option<Role> {
    let Role::Number { mean, missing, .. } = role else { return Some(role) };
    if encode == Encode::Linear && !scale.by_order() {
        return Some(role);
    }
    let (weight, up_to) = (weight_of(weights), up_to(values, rows, weights));
    let each = || {
        rows.iter().enumerate().map(|(at, &row)| {
            let x = values[row as usize];
            (if x.is_nan() { mean } else { x }, weight(at))
        })
    };
    let pieces = pieces(encode, &up_to);
    if pieces.is_empty() {
        return Some(ordered(role, scale, &up_to));
    }
    let maps = maps(&pieces, scale, each)?;
    Some(Role::Pieces { mean, pieces, maps, missing })
}

/// The maps of pieces of these numbers, each with what it counts.
pub(super) fn maps<I>(pieces: &[Piece], scale: Scale, each: impl Fn() -> I) -> Option<Vec<Affine>>
where
    I: Iterator<Item = (f64, f64)>,
{
    let mut maps = Vec::with_capacity(pieces.len());
    for piece in pieces {
        if !scale.by_column() {
            maps.push(Affine::IDENTITY);
            continue;
        }
        let mut moments = Moments::NEW;
        each().for_each(|(x, weight)| moments.first(piece.apply(x), weight));
        moments.centre(0.0);
        each().for_each(|(x, weight)| moments.second(piece.apply(x), weight));
        maps.push(moments.finish(0.0)?.1);
    }
    Some(maps)
}

/// Pieces of a column of these different values, ascending, with the rows up to each.
pub(super) fn pieces(encode: Encode, up_to: &[(f64, f64)]) -> Vec<Piece> {
    let different = up_to.len();
    let (parts, step) = match encode {
        Encode::Linear => return Vec::new(),
        Encode::Splines(count) => (usize::from(count) + 1, false),
        Encode::Bins(count) => (usize::from(count), true),
    };
    if different <= 2 {
        return Vec::new();
    }
    let mut ends = alloc::vec![f64::NEG_INFINITY];
    if different <= parts {
        ends.extend(up_to.windows(2).map(|pair| between(pair[0].0, pair[1].0)));
    } else {
        let quantiles = if step { quantiles(up_to, parts) } else { knots(up_to, parts) };
        for quantile in quantiles {
            // (A piece below the least value, or above the largest, would be constant.)
            let inside = quantile > up_to[0].0 && (step || quantile < up_to[different - 1].0);
            if inside && quantile > ends[ends.len() - 1] {
                ends.push(quantile);
            }
        }
    }
    if different <= parts && !step {
        return ends[1..].iter().map(|&low| Piece { low, high: f64::INFINITY, step: true }).collect();
    }
    ends.push(f64::INFINITY);
    ends.windows(2).map(|pair| Piece { low: pair[0], high: pair[1], step }).collect()
}

/// What cuts these rows into so many parts of equal shares, ascending; equal ones as often as they come.
fn quantiles(up_to: &[(f64, f64)], parts: usize) -> Vec<f64> {
    let all = up_to.last().map_or(0.0, |last| last.1);
    let at = |part: usize| {
        let share = all * part as f64 / parts as f64;
        up_to.get(up_to.partition_point(|&(_, rows)| rows < share)).or(up_to.last())
    };
    (1..parts).filter_map(at).map(|found| found.0).collect()
}

/// The same, but a value with more rows than a quantile's share stands for one, and the other quantiles are of the rows without it.
fn knots(up_to: &[(f64, f64)], parts: usize) -> Vec<f64> {
    let before = core::iter::once(0.0).chain(up_to.iter().map(|&(_, rows)| rows));
    let mut rest: Vec<(f64, f64)> = up_to.iter().zip(before).map(|(&(x, to), from)| (x, to - from)).collect();
    let (mut found, mut left) = (Vec::new(), parts - 1);
    while left > 0 {
        let all: f64 = rest.iter().map(|value| value.1).sum();
        let before = found.len();
        rest.retain(|&(x, rows)| {
            let heavy = rows * left as f64 > all;
            if heavy {
                found.push(x);
            }
            !heavy
        });
        if found.len() == before {
            break;
        }
        left -= found.len() - before;
    }
    let mut sum = 0.0;
    for value in &mut rest {
        sum += value.1;
        value.1 = sum;
    }
    found.extend(quantiles(&rest, left + 1));
    found.sort_unstable_by(f64::total_cmp);
    found
}

/// A number above a and up to b: the middle, if there is one.
fn between(a: f64, b: f64) -> f64 {
    let middle = 0.5 * a + 0.5 * b;
    if middle > a && middle <= b { middle } else { b }
}
