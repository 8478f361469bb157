//! The functions of the constraints: each linear in the means of cells, with the cost and the weight y of its value.

use super::{Constrained, Form, Function, RAW, Thresholds};
use crate::constraint::{Constraint, LEVELS, Measure, Sense, label};
use crate::error::{Result, exact_len};
use crate::estimator::Estimator;
use crate::outer::{Band, Hinge, Outer, SquaredHinge};
use crate::real::Real;

impl Constrained {
    /// Every function of every constraint, without its value; returns how many multipliers they have together.
    pub(super) fn functions(&self, mut each: impl FnMut(Function)) -> usize {
        let list = self.of.constraints.as_slice();
        let (groups, share, mut at) = (self.open() as u32, 1.0 / list.len().max(1) as f64, 0);
        let bound = if matches!(self.of.form, Form::Squared) { f64::INFINITY } else { self.of.penalty };
        let plain = Function {
            constraint: 0,
            level: None,
            pair: None,
            value: f64::NAN,
            dual: 0.0,
            bound,
            excess: f64::NAN,
            column: 0,
            weight: share,
            at: 0,
        };
        for (constraint, of) in list.iter().enumerate() {
            let Measure::Gap { at: level, .. } = of.measure else {
                let column = if matches!(of.measure, Measure::Loss { .. }) { self.soft() } else { self.count };
                each(Function { constraint, column, at, ..plain });
                at += 1;
                continue;
            };
            let looked = match (level, self.of.thresholds) {
                (Some(_), _) => 1,
                (None, Thresholds::Pooled) => LEVELS.len(),
                (None, Thresholds::Raw) => RAW.len(),
            };
            let pairs = groups as usize * (groups as usize - 1) / 2;
            let weight = share / (looked * pairs).max(1) as f64;
            for (column, &own) in self.levels[..self.count].iter().enumerate() {
                let among = match level {
                    Some(level) => own == level,
                    None => self.of.thresholds == Thresholds::Raw || LEVELS.contains(&own),
                };
                if !among {
                    continue;
                }
                for a in 0..groups {
                    for b in a + 1..groups {
                        let (level, pair) = (Some(own), Some([a, b]));
                        each(Function { constraint, level, pair, column, weight, at, ..plain });
                        at += 2;
                    }
                }
            }
        }
        at
    }

    /// The parts of a constraint's linear function: calls `each` with a cell and its factor, and returns the constant.
    pub(super) fn linear(&self, of: &Constraint, population: &[u32], mut each: impl FnMut(usize, f64)) -> f64 {
        let groups = self.of.groups as usize;
        let sign = if of.sense == Sense::AtMost { 1.0 } else { -1.0 };
        let (rate, group) = match of.measure {
            Measure::Gap { .. } => return 0.0,
            Measure::Rate { rate, group } => (Some(rate), group),
            Measure::Precision { group } | Measure::Loss { group } => (None, group),
        };
        let among = |cell: usize| {
            rate.is_none_or(|rate| cell / groups == label(rate))
                && group.map_or(cell % groups < self.open(), |group| cell % groups == usize::from(group))
        };
        let size = |cell: usize| if among(cell) { f64::from(population[cell]) } else { 0.0 };
        let all = (0..2 * groups).map(size).sum::<f64>().or_larger(1.0);
        for cell in (0..2 * groups).filter(|&cell| among(cell)) {
            let share = size(cell) / all;
            // precision ≥ P: P·FP − (1 − P)·TP ≤ 0.
            let factor = match of.measure {
                Measure::Precision { .. } if cell < groups => -of.bound,
                Measure::Precision { .. } => 1.0 - of.bound,
                Measure::Gap { .. } | Measure::Rate { .. } | Measure::Loss { .. } => 1.0,
            };
            each(cell, sign * factor * share);
        }
        if matches!(of.measure, Measure::Precision { .. }) { 0.0 } else { -sign * of.bound }
    }

    /// The value of a function at means of cells, by cell and column; signed for a gap: d, without κ.
    pub(super) fn value_at(&self, function: &Function, population: &[u32], mean: impl Fn(usize, usize) -> f64) -> f64 {
        let of = &self.of.constraints.as_slice()[function.constraint];
        match (of.measure, function.pair) {
            (Measure::Gap { rate, .. }, Some([a, b])) => {
                let of = |group: u32| mean(label(rate) * self.of.groups as usize + group as usize, function.column);
                of(a) - of(b)
            }
            (Measure::Gap { .. } | Measure::Rate { .. } | Measure::Precision { .. } | Measure::Loss { .. }, _) => {
                let mut sum = 0.0;
                let constant = self.linear(of, population, |cell, factor| {
                    // (A cell without a row has no mean.)
                    if factor != 0.0 {
                        sum += factor * mean(cell, function.column);
                    }
                });
                sum + constant
            }
        }
    }

    /// Whether every cell that a function looks at passes.
    pub(super) fn all_cells(&self, function: &Function, population: &[u32], passes: impl Fn(usize) -> bool) -> bool {
        let of = &self.of.constraints.as_slice()[function.constraint];
        match (of.measure, function.pair) {
            (Measure::Gap { rate, .. }, Some(pair)) => {
                pair.iter().all(|&group| passes(label(rate) * self.of.groups as usize + group as usize))
            }
            (Measure::Gap { .. } | Measure::Rate { .. } | Measure::Precision { .. } | Measure::Loss { .. }, _) => {
                let mut all = true;
                self.linear(of, population, |cell, factor| all &= factor == 0.0 || passes(cell));
                all
            }
        }
    }

    /// What is asked of a gap, and κ, what is aimed at.
    fn bound(&self, function: &Function) -> f64 {
        self.of.constraints.as_slice()[function.constraint].bound
    }
    pub(super) fn width(&self, function: &Function) -> f64 {
        self.of.aim * self.bound(function)
    }

    /// Of the smoothed form, each constraint that weighs less than ρ whatever the model, with how far past its bound it would
    /// weigh so much (λρ, of a gap 2λρ) and how far its functions can come: there ρ changes nothing, only λ does. O(functions).
    pub fn out_of_reach(&self, population: &[u32], mut each: impl FnMut(usize, f64, f64)) {
        let mut last = None;
        self.functions(|function| {
            let of = &self.of.constraints.as_slice()[function.constraint];
            if !matches!(self.of.form, Form::Smoothed(_))
                || last.replace(function.constraint) == Some(function.constraint)
            {
                return;
            }
            let full = self.lambda * self.of.penalty;
            let (full, reach) = match (of.measure, function.pair) {
                (_, Some(_)) => (2.0 * full, 1.0 - self.width(&function)),
                (Measure::Loss { .. }, None) => (full, f64::INFINITY),
                (Measure::Gap { .. } | Measure::Rate { .. } | Measure::Precision { .. }, None) => {
                    let mut most = 0.0;
                    let constant = self.linear(of, population, |_, factor| most += factor.or_larger(0.0));
                    (full, most + constant)
                }
            };
            if full > reach {
                each(function.constraint, full, reach);
            }
        });
    }

    /// What a function costs, and y, signed for a gap, for its value (d of a gap).
    pub(super) fn outer<T: Real>(&self, function: &Function, value: f64, aux: &[T]) -> (f64, f64) {
        let (rho, lambda) = (self.of.penalty, self.lambda);
        let width = self.width(function);
        let gap = function.pair.is_some();
        match self.of.form {
            Form::Smoothed(_) if gap => {
                let band = Band { weight: rho, width };
                (band.envelope(value, 2.0 * lambda), band.envelope_slope(value, 2.0 * lambda))
            }
            Form::Smoothed(_) => {
                let hinge = Hinge { weight: rho };
                (hinge.envelope(value, lambda), hinge.envelope_slope(value, lambda))
            }
            Form::Hinge if gap => {
                let band = Band { weight: rho, width };
                (band.value(value), band.slope(value))
            }
            Form::Hinge => (Hinge { weight: rho }.value(value), Hinge { weight: rho }.slope(value)),
            Form::Squared => {
                let (sign, size) = if gap { (value.signum(), value.abs() - width) } else { (1.0, value) };
                let outer = SquaredHinge { weight: rho };
                (outer.value(size), sign * outer.slope(size))
            }
            Form::Multipliers => {
                let y = |k: usize| aux.get(function.at + k).map_or(0.0, |y| y.f64());
                if gap { (y(0) * (value - width) + y(1) * (-value - width), y(0) - y(1)) } else { (y(0) * value, y(0)) }
            }
        }
    }

    /// Calls `each` with every constraint function, its tracked value and weight, for a report. O(functions).
    ///
    /// # Errors
    /// `Length` (state, population, auxiliaries).
    pub fn report<T: Real>(
        &self,
        aux: &[T],
        state: &[T],
        population: &[u32],
        mut each: impl FnMut(Function),
    ) -> Result<()> {
        exact_len("state", self.len(), state.len())?;
        exact_len("population", self.cells(), population.len())?;
        exact_len("aux", Estimator::<T>::aux(self).1, aux.len())?;
        let k = self.columns();
        let mean = |cell: usize, column: usize| match state[cell * (k + 1)] == T::ZERO {
            true => f64::NAN,
            false => state[cell * (k + 1) + 1 + column].f64(),
        };
        self.functions(|mut function| {
            let value = self.value_at(&function, population, mean);
            function.dual = if value.is_nan() { 0.0 } else { self.outer(&function, value, aux).1.abs() };
            (function.value, function.excess) = match function.pair {
                Some(_) => (value.abs() - self.width(&function), value.abs() - self.bound(&function)),
                None => (value, value),
            };
            each(function);
        });
        Ok(())
    }
}
