//! Scaling by the order of the training rows: quartiles instead of mean and deviation, or ranks instead of numbers.
//!
//! Both ask only how many rows a value exceeds, so that a few values far out change them little. A row of weight 2 is two rows.

use super::super::scale::{Affine, Scale, weight_of};
use super::knots::Knot;
use super::role::Role;
use alloc::vec::Vec;

/// How far the quartiles of normal numbers lie apart, in deviations.
const QUARTILES: f64 = 1.348_979_500_392_163_5;

/// A column of at most so many different values has a knot at each.
const KNOTS: usize = 100;

/// Otherwise knots are at the ends, at each hundredth of the rows, and at these shares of them from either end, where numbers lie far apart.
const TAILS: [f64; 3] = [0.001, 0.0025, 0.005];

/// Different values of a column, ascending, with the rows up to each: of these rows, of which what is missing counts for none.
pub(super) fn up_to(values: &[f64], rows: &[u32], weights: &[f64]) -> Vec<(f64, f64)> {
    let weight = weight_of(weights);
    counted(rows.iter().enumerate().map(|(at, &row)| (values[row as usize], weight(at))).collect())
}

/// The same of values with what each counts.
pub(super) fn counted(mut there: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    there.retain(|&(x, weight)| !x.is_nan() && weight > 0.0);
    there.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (mut up_to, mut all): (Vec<(f64, f64)>, f64) = (Vec::new(), 0.0);
    for (x, weight) in there {
        all += weight;
        match up_to.last_mut() {
            // (−0 is 0.)
            Some(last) if last.0 == x => last.1 = all,
            _ => up_to.push((x, all)),
        }
    }
    up_to
}

/// The least value that this share of the rows does not exceed.
fn quantile(up_to: &[(f64, f64)], share: f64) -> usize {
    let rows = share * up_to.last().map_or(0.0, |last| last.1);
    up_to.partition_point(|&(_, rows_up_to)| rows_up_to < rows).min(up_to.len().saturating_sub(1))
}

/// The map by median and quartiles. Where the quartiles are one number, and of indicators and constant columns, it is the one by mean and deviation.
pub(super) fn robust(up_to: &[(f64, f64)], standard: Affine) -> Affine {
    let at = |share| up_to.get(quantile(up_to, share)).map_or(0.0, |value| value.0);
    let divisor = (at(0.75) - at(0.25)) / QUARTILES;
    let plain = standard == Affine::IDENTITY || standard.divisor == 0.0;
    if plain || !(divisor > 0.0 && divisor.is_finite()) { standard } else { Affine { shift: at(0.5), divisor } }
}

/// The knots of a column of more than two different values.
fn knots(up_to: &[(f64, f64)]) -> Vec<Knot> {
    let all = up_to.last().map_or(0.0, |last| last.1);
    let mut places: Vec<usize> = (0..up_to.len()).collect();
    if up_to.len() > KNOTS {
        let tails = TAILS.iter().flat_map(|&share| [share, 1.0 - share]);
        places = (0..=100).map(|k| f64::from(k) / 100.0).chain(tails).map(|share| quantile(up_to, share)).collect();
        places.push(up_to.len() - 1);
        places.sort_unstable();
        places.dedup();
    }
    let below = |place: usize| if place > 0 { up_to[place - 1].1 } else { 0.0 };
    let knot = |&place: &usize| {
        let share = 0.5 * (below(place) + up_to[place].1) / all;
        Knot { at: up_to[place].0, rank: (share - 0.5) * crate::Real::sqrt(12.0) }
    };
    places.iter().map(knot).collect()
}

/// A column of numbers, fitted to be standardised, as this scaling has it. What is missing is then the median.
pub(super) fn ordered(role: Role, scale: Scale, up_to: &[(f64, f64)]) -> Role {
    let Role::Number { mean, map, missing } = role else { return role };
    let fill = up_to.get(quantile(up_to, 0.5)).map_or(mean, |value| value.0);
    match scale {
        Scale::Robust => Role::Number { mean: fill, map: robust(up_to, map), missing },
        Scale::Rank if up_to.len() > 2 => Role::Ranked { fill, knots: knots(up_to), missing },
        Scale::Rank => Role::Number { mean: fill, map, missing },
        Scale::None | Scale::Standard | Scale::Unit => Role::Number { mean, map, missing },
    }
}
