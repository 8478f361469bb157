//! Whether scores satisfy a [constraint](crate::expression): its exact value, and whether there are enough rows to tell.
//!
//! In 95 of 100 samples of such rows a value moves by less than its noise (of a gap within its bound, what its upper end at 95 % adds:
//! [`Gap::upper`]):
//!
//! | quantity | value | noise |
//! |---|---|---|
//! | `gap(tpr)`, `gap(fpr)` | the largest gap of two groups ([`Cells::gaps`](crate::metric::Cells::gaps)) | 1.36 √(1/n_a + 1/n_b) |
//! | `gap(…@α)` | the same at one threshold ([`Cells::gaps_at`](crate::metric::Cells::gaps_at)) | 1.96 √(p (1 − p) (1/n_a + 1/n_b)) |
//! | `recall`, `fpr`, `precision` | k of n rows | 1.96 √(p (1 − p)/(n + 4)), p = (k + 2)/(n + 4) (Agresti, Coull 1998) |
//! | `loss` | mean of ln(1 + e^(∓s)) | 1.96 s/√n, s the deviation of the rows' losses |
//! | `loss … <= old` | mean of ln(1 + e^(∓s)), its bound that of the scores before | 1.96 s/√n, s the deviation of the rows' changes |
//!
//! A constraint is met, or not met, if the value is on that side of the bound by its noise or more; otherwise the rows cannot tell. A
//! gap is met if all pairs of groups meet it, and not met if one pair does not.

use crate::constraint::{Measure, label};
use crate::error::{Error, Escaped};
use crate::example_loss::GlmLoss;
use crate::expression::{Bound, Expression, Quantity, Sense};
use crate::metric::check_groups;
use crate::metric::{Gap, Metrics, NORMAL, Rate};
use crate::real::Real;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// How many more rows would tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct More {
    /// So many more of each of the two groups of a gap, or of the rows that the value is of.
    pub rows: [u64; 2],
}

/// Whether a constraint holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does, by more than the noise.
    Met,
    /// It does not, by more than the noise.
    NotMet,
    /// The value is within its noise of the bound, or there are no rows to tell it from.
    CannotTell,
}

impl Judged {
    /// Of what cannot be told, how many more rows would tell, if the value stayed what it is: with so many its noise is about
    /// its distance to the bound. Of a gap they are the smaller group's, as far as these help. `None` of what is told,
    /// where there are no rows, and where so many would have to come that there is no saying (10⁹ and more).
    #[must_use]
    pub fn more(&self) -> Option<More> {
        let distance = (self.value? - self.bound).abs();
        if self.verdict != Verdict::CannotTell || !self.noise.is_finite() {
            return None;
        }
        let [m, n] = self.rows.map(|rows| rows as f64);
        let squared = (distance / self.noise) * (distance / self.noise);
        let more = if self.groups.is_some() {
            // (noise² is in proportion to 1/m + 1/n: what it may come to.)
            let room = squared * (1.0 / m + 1.0 / n);
            let (less, most) = (m.or_smaller(n), m.or_larger(n));
            let alone = 1.0 / (room - 1.0 / most);
            let (less, most) =
                if alone > 0.0 && alone <= most { (alone.or_larger(less), most) } else { (2.0 / room, 2.0 / room) };
            if m <= n { [less - m, most - n] } else { [most - m, less - n] }
        } else {
            [(m + 4.0) * (1.0 / squared - 1.0), 0.0]
        };
        (more[0] + more[1] < 1e9).then(|| More { rows: more.map(|rows| libm::ceil(rows.or_larger(0.0)) as u64) })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Met => "met",
            Self::NotMet => "not met",
            Self::CannotTell => "cannot tell",
        })
    }
}

/// What is known of a constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The exact value, of `<= old` that of the model; none without rows. Of many pairs of groups that of `groups`.
    pub value: Option<f64>,
    /// The largest gap of any pair of groups with rows; of other quantities the value.
    pub largest: Option<f64>,
    /// What bounds it: the number, or the value of the model before training.
    pub bound: f64,
    /// Its noise.
    pub noise: f64,
    /// Of a gap the two groups that decide.
    pub groups: Option<[u32; 2]>,
    /// Rows that the value is of; of a gap those of each group.
    pub rows: [u64; 2],
    /// Whether it holds.
    pub verdict: Verdict,
}

/// Rows with their scores.
#[derive(Clone, Copy, Debug)]
pub struct Scored<'a, T> {
    /// A score each.
    pub scores: &'a [T],
    /// A label each, 1 or 0.
    pub labels: &'a [u8],
    /// A group each, or none at all.
    pub group_of: &'a [u32],
    /// What the groups are called.
    pub group_names: &'a [String],
    /// The scores of the model before training; empty without.
    pub old: &'a [T],
}

/// Why a constraint cannot be judged.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum JudgeError {
    /// A constraint of groups, and the rows have none.
    NoGroups,
    /// There is no such group.
    UnknownGroup {
        /// The group asked for.
        name: String,
        /// The groups there are.
        groups: alloc::vec::Vec<String>,
    },
    /// `old`, and there is no earlier model.
    NoOld,
    /// From the metrics.
    Core(Error),
}

impl JudgeError {
    /// Its number in [`CODES`](crate::CODES).
    #[must_use]
    pub const fn code(&self) -> u16 {
        match self {
            Self::NoGroups => 131,
            Self::UnknownGroup { .. } => 132,
            Self::NoOld => 133,
            Self::Core(error) => error.code(),
        }
    }
}

impl fmt::Display for JudgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoGroups => f.write_str("the rows have no groups"),
            Self::UnknownGroup { name, groups } => {
                write!(f, "there is no group \"{}\"; the groups are ", Escaped(name))?;
                groups.iter().take(20).enumerate().try_for_each(|(at, group)| {
                    write!(f, "{}\"{}\"", if at == 0 { "" } else { ", " }, Escaped(group))
                })?;
                f.write_str(if groups.len() > 20 { ", …" } else { "" })
            }
            Self::NoOld => f.write_str("there is no earlier model to compare with"),
            Self::Core(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for JudgeError {}

impl From<Error> for JudgeError {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

/// The number of a group.
///
/// # Errors
/// `NoGroups`, `UnknownGroup`.
pub fn group_number(name: &str, groups: &[String]) -> Result<u32, JudgeError> {
    if groups.is_empty() {
        return Err(JudgeError::NoGroups);
    }
    let at = groups.iter().position(|group| group == name);
    at.map(|at| at as u32).ok_or_else(|| JudgeError::UnknownGroup { name: name.to_string(), groups: groups.to_vec() })
}

impl Expression {
    /// What it measures, with the numbers of the groups it names.
    ///
    /// # Errors
    /// `NoGroups`, `UnknownGroup`; `Core(Unsupported)` for the loss on the rows of a file, which are no group.
    pub fn measure(&self, groups: &[String]) -> Result<Measure, JudgeError> {
        let number = |name: &Option<String>| -> Result<Option<u16>, JudgeError> {
            name.as_ref().map(|name| group_number(name, groups).map(|group| group as u16)).transpose()
        };
        Ok(match &self.quantity {
            Quantity::Gap { .. } if groups.len() < 2 => return Err(JudgeError::NoGroups),
            Quantity::Gap { rate, fpr } => Measure::Gap { rate: *rate, at: *fpr },
            Quantity::Rate { rate, group } => Measure::Rate { rate: *rate, group: number(group)? },
            Quantity::Precision { group } => Measure::Precision { group: number(group)? },
            Quantity::Loss { group } => Measure::Loss { group: number(group)? },
            Quantity::LossOn { .. } => return Err(Error::Unsupported { what: "the loss on rows of a file" }.into()),
        })
    }

    /// The exact value on these rows, its noise, and whether it holds. Scores from `threshold` up predict the positive class.
    /// `loss(FILE)` is judged on the rows of that file. O(n), and O(n G) for gaps of G groups.
    ///
    /// # Errors
    /// [`JudgeError`]; those of [`Cells`](crate::metric::Cells) among them.
    pub fn judge<T: Real>(
        &self,
        on: &Scored<'_, T>,
        threshold: T,
        memory: &mut Metrics<T>,
    ) -> Result<Judged, JudgeError> {
        // (Without a last arm for the rest: a new quantity does not compile before it is said here what it is.)
        let (group, of) = match &self.quantity {
            &Quantity::Gap { rate, fpr } => {
                if on.group_names.is_empty() {
                    return Err(JudgeError::NoGroups);
                }
                let gaps = memory.gaps(on.scores, on.labels, on.group_of, on.group_names.len(), rate, fpr)?;
                let Bound::Value(bound) = self.bound else { return Err(JudgeError::NoOld) };
                return Ok(of_gaps(&gaps, bound));
            }
            Quantity::Rate { rate, group } => (group.as_deref(), Of::Share { of: Some(*rate) }),
            Quantity::Precision { group } => (group.as_deref(), Of::Share { of: None }),
            Quantity::Loss { group } => (group.as_deref(), Of::Loss),
            Quantity::LossOn { .. } => (None, Of::Loss),
        };
        crate::metric::Confusion::at(on.scores, on.labels, threshold)?;
        let group = group.map(|name| group_number(name, on.group_names)).transpose()?;
        if group.is_some() {
            check_groups(on.group_of, on.scores.len(), on.group_names.len())?;
        }
        let rows = (0..on.scores.len()).filter(|&row| group.is_none_or(|group| on.group_of[row] == group));
        let hit = |row: usize| on.scores[row] >= threshold;
        let share = |of: &dyn Fn(usize) -> Option<bool>| {
            let (mut n, mut k) = (0u64, 0u64);
            for counted in rows.clone().filter_map(of) {
                n += 1;
                k += u64::from(counted);
            }
            let p = (k as f64 + 2.0) / (n as f64 + 4.0);
            (k as f64 / n as f64, NORMAL * crate::Real::sqrt(p * (1.0 - p) / (n as f64 + 4.0)), n)
        };
        let is = |row: usize, label: u8| on.labels[row] == label;
        let (value, noise, n) = match of {
            Of::Share { of: Some(rate) } => share(&|row| is(row, label(rate) as u8).then(|| hit(row))),
            Of::Share { of: None } => share(&|row| hit(row).then(|| is(row, 1))),
            Of::Loss => return self.judge_loss(on, rows),
        };
        let Bound::Value(bound) = self.bound else { return Err(JudgeError::NoOld) };
        Ok(self.of_value(value, bound, value - bound, noise, n))
    }

    /// By how much a judged value is on the wrong side of its bound, noise or not; below 0 on the right one, 0 without a value.
    #[must_use]
    pub fn excess(&self, judged: &Judged) -> f64 {
        let above = judged.largest.map_or(0.0, |value| value - judged.bound);
        if self.sense == Sense::AtMost { above } else { -above }
    }

    fn judge_loss<T: Real>(
        &self,
        on: &Scored<'_, T>,
        rows: impl Iterator<Item = usize> + Clone,
    ) -> Result<Judged, JudgeError> {
        let old = matches!(self.bound, Bound::Old(_));
        if old && on.old.len() != on.scores.len() {
            return Err(JudgeError::NoOld);
        }
        let loss = |scores: &[T], row: usize| {
            GlmLoss::Logistic.value(if on.labels[row] == 1 { 1.0 } else { -1.0 }, scores[row].f64())
        };
        let before = |row: usize| if old { loss(on.old, row) } else { 0.0 };
        let n = rows.clone().count() as f64;
        let value = rows.clone().map(|row| loss(on.scores, row)).sum::<f64>() / n;
        let moved = |row: usize| loss(on.scores, row) - before(row);
        let mean = rows.clone().map(moved).sum::<f64>() / n;
        let squares: f64 = rows.clone().map(|row| (moved(row) - mean) * (moved(row) - mean)).sum();
        // One row says nothing of the deviation.
        let noise = if n > 1.0 { NORMAL * crate::Real::sqrt(squares / (n - 1.0) / n) } else { f64::INFINITY };
        let bound = match self.bound {
            Bound::Value(bound) => bound,
            Bound::Old(more) => rows.map(before).sum::<f64>() / n + more,
        };
        if n > 0.0 && !(value.is_finite() && squares.is_finite() && bound.is_finite()) {
            return Err(Error::Overflow { what: "losses" }.into());
        }
        let excess = if let Bound::Old(more) = self.bound { mean - more } else { value - bound };
        Ok(self.of_value(value, bound, excess, noise, n as u64))
    }

    fn of_value(&self, value: f64, bound: f64, above: f64, noise: f64, rows: u64) -> Judged {
        let excess = if self.sense == Sense::AtMost { above } else { -above };
        let (value, verdict) =
            if rows == 0 { (None, Verdict::CannotTell) } else { (Some(value), verdict(excess, noise)) };
        let noise = if rows == 0 { f64::INFINITY } else { noise };
        Judged { value, largest: value, bound, noise, groups: None, rows: [rows, 0], verdict }
    }
}

/// What a value of one group, or of everybody, is.
enum Of {
    /// Of the rows that a rate is of those that are predicted positive; without a rate, of these the positives.
    Share { of: Option<Rate> },
    /// A mean loss.
    Loss,
}

/// By how much the bound is passed, against the noise.
fn verdict(excess: f64, noise: f64) -> Verdict {
    if excess.abs() < noise {
        Verdict::CannotTell
    } else if excess > 0.0 {
        Verdict::NotMet
    } else {
        Verdict::Met
    }
}

/// All pairs of groups together: where one is too far apart the clearest such, else, where one cannot be told, the one with rows
/// that could be the farthest apart, else the farthest. A pair without rows cannot be told, and is named where no other is left.
fn of_gaps(gaps: &[Gap], bound: f64) -> Judged {
    // (Below the bound the noise is what the upper end at 95 % adds; without rows there is no end to it.)
    let noise = |gap: &Gap| if gap.value <= bound && gap.noise.is_finite() { gap.upper - gap.value } else { gap.noise };
    let gaps: Vec<Gap> = gaps.iter().map(|gap| Gap { noise: noise(gap), ..*gap }).collect();
    let of = |wanted: Verdict| move |gap: &&Gap| verdict(gap.value - bound, gap.noise) == wanted;
    let most = |wanted: Verdict, size: fn(&Gap) -> f64| {
        let first = |best: Option<&Gap>, gap: &Gap| best.is_none_or(|best| size(gap) > size(best));
        gaps.iter().filter(of(wanted)).fold(None, |best, gap| if first(best, gap) { Some(gap) } else { best })
    };
    let with_rows = |gap: &&Gap| !gap.rows.contains(&0);
    let (verdict, gap) = if let Some(gap) = most(Verdict::NotMet, |gap| gap.value - gap.noise) {
        (Verdict::NotMet, Some(gap))
    } else {
        let met = most(Verdict::Met, |gap| gap.value);
        let open = most(Verdict::CannotTell, |gap| if gap.noise.is_finite() { gap.value + gap.noise } else { -1.0 });
        let verdict = if open.is_some() { Verdict::CannotTell } else { Verdict::Met };
        (verdict, open.filter(with_rows).or(met).or(open))
    };
    let there = gap.filter(with_rows);
    Judged {
        value: there.map(|gap| gap.value),
        largest: Gap::worst(&gaps).map(|gap| gap.value),
        bound,
        noise: gap.map_or(f64::INFINITY, |gap| gap.noise),
        groups: gap.map(|gap| gap.groups),
        rows: gap.map_or([0; 2], |gap| gap.rows),
        verdict: if gap.is_some() { verdict } else { Verdict::CannotTell },
    }
}
