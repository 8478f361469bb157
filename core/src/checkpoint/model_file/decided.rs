//! Decisions in a model file: the rule behind its threshold, and the calibration of its scores.

use super::{Coded, Reader, SavedModel};
use crate::data::Target;
use crate::decision::{Beta, Calibrate, Calibration, Decision, MOST_POOLS, Platt, Pool, ThresholdRule};
use crate::error::{Error, Result};
use crate::metric::{Confusion, Metrics, Truth};
use crate::real::Real;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// How a threshold was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// By this rule.
    pub rule: ThresholdRule,
    /// On these rows: `validation`, `training`, or those of a file.
    pub on: String,
    /// Right and wrong predictions on them (with weights what they weigh); `None` where no threshold keeps the rule, and the file has none.
    pub counts: Option<Confusion<f64>>,
    /// The nearest scores on them, from the threshold up and below it; `None` in files of before.
    pub nearest: Option<[f64; 2]>,
}

impl Decided {
    /// By this rule, on these rows; `found` is none where no threshold keeps it.
    #[must_use]
    pub fn new(rule: ThresholdRule, on: &str, found: Option<Decision<f64>>) -> Self {
        Self { rule, on: on.into(), counts: found.map(|found| found.counts), nearest: found.map(|found| found.nearest) }
    }

    /// How far the nearest scores are from a threshold, in units of the last place of numbers of so many bytes; `None` where
    /// that is not known, or no score is on that side.
    #[must_use]
    pub fn units(&self, threshold: f64, real_bytes: u8) -> [Option<f64>; 2] {
        let epsilon = if real_bytes == 4 { f32::EPSILON.f64() } else { f64::EPSILON };
        let units = |score: f64| {
            let size = score.abs().or_larger(threshold.abs()).or_larger(f64::MIN_POSITIVE);
            // (The place of the last bit goes by the power of two below.)
            let unit = f64::from_bits(size.to_bits() >> 52 << 52) * epsilon;
            (score.is_finite() && threshold.is_finite()).then(|| libm::round((score - threshold).abs() / unit))
        };
        self.nearest.map_or([None; 2], |nearest| nearest.map(units))
    }
}

/// What turns scores into probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrated {
    /// The function.
    pub calibration: Calibration,
    /// The rows that it was fitted on: `validation`, `training`, or those of a file.
    pub on: String,
    /// How many; with weights what they weigh.
    pub rows: f64,
    /// Positives among them.
    pub positives: f64,
}

impl SavedModel {
    /// Chooses the threshold on labelled scores of this model, which `on` names. Where no threshold keeps the rule, the file has
    /// none, and says why. `clusters` as in [`Metrics::decide_in`]. O(n).
    ///
    /// # Errors
    /// Those of [`Metrics::decide_in`], `Unreachable` and `Unpromised` among them; `Unsupported` for a model of other than two classes.
    pub fn decide<T: Real>(
        &mut self,
        rule: ThresholdRule,
        scores: &[T],
        truth: Truth<'_>,
        clusters: Option<&[u32]>,
        on: &str,
    ) -> Result<Decision<f64>> {
        self.require_two_classes()?;
        let found = Metrics::new().decide_in(scores, truth, clusters, rule);
        if matches!(found, Ok(_) | Err(Error::Unreachable { .. } | Error::Unpromised { .. })) {
            self.threshold = found.ok().map(|decision| decision.threshold);
            self.decided = Some(Decided::new(rule, on, found.ok()));
        }
        found
    }

    /// Fits what turns scores into probabilities to labelled scores of this model, which `on` names: rows that it was not trained
    /// on. O(n log n) at most.
    ///
    /// # Errors
    /// Those of [`Calibration::fit`]; `Unsupported` for a model of other than two classes.
    pub fn calibrate<T: Real>(&mut self, how: Calibrate, scores: &[T], truth: Truth<'_>, on: &str) -> Result<()> {
        self.require_two_classes()?;
        let calibration = Calibration::fit(how, scores, truth)?;
        let of = |label: u8| {
            (0..scores.len()).filter(|&row| truth.labels()[row] == label).map(|row| truth.weight(row)).sum::<f64>()
        };
        let (positives, negatives) = (of(1), of(0));
        self.calibrated = Some(Calibrated { calibration, on: on.into(), rows: positives + negatives, positives });
        Ok(())
    }

    fn require_two_classes(&self) -> Result<()> {
        match self.preparation.target() {
            Target::Binary => Ok(()),
            Target::Classes | Target::Values => Err(Error::Unsupported { what: "decisions of other than two classes" }),
        }
    }
}

impl Coded for Decided {
    fn write(&self, out: &mut Vec<u8>) {
        self.rule.to_string().write(out);
        self.on.write(out);
        self.counts.map(pairs).write(out);
        // (Files of before end here, and are written as they were.)
        self.nearest.iter().for_each(|&[above, below]| (above, below).write(out));
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let (rule, on): (String, String) = (from.value()?, from.value()?);
        let counts: Option<((f64, f64), (f64, f64))> = from.value()?;
        let counts = match counts {
            None => None,
            Some(((true_positives, false_positives), (true_negatives, false_negatives))) => {
                let counts = Confusion { true_positives, false_positives, true_negatives, false_negatives };
                let all = [true_positives, false_positives, true_negatives, false_negatives];
                (all.iter().all(|&count| count >= 0.0) && counts.total().is_finite()).then_some(Some(counts))?
            }
        };
        let nearest = if from.0.is_empty() {
            None
        } else {
            let (above, below): (f64, f64) = from.value()?;
            (above > below).then_some(Some([above, below]))?
        };
        Some(Self { rule: rule.parse().ok()?, on, counts, nearest })
    }
}

fn pairs(counts: Confusion<f64>) -> ((f64, f64), (f64, f64)) {
    ((counts.true_positives, counts.false_positives), (counts.true_negatives, counts.false_negatives))
}

fn curve(from: &mut Reader<'_>) -> Option<Platt> {
    let ((slope, offset), (least, most)): ((f64, f64), (f64, f64)) = from.value()?;
    let sound = slope.is_finite() && offset.is_finite() && 0.0 <= least && least <= most && most <= 1.0;
    sound.then_some(Platt { slope, offset, least, most })
}

impl Coded for Calibrated {
    fn write(&self, out: &mut Vec<u8>) {
        match &self.calibration {
            Calibration::Platt(curve) => {
                out.push(b'p');
                ((curve.slope, curve.offset), (curve.least, curve.most)).write(out);
            }
            Calibration::Beta(beta) => {
                out.push(b'b');
                let curve = beta.curve;
                ((curve.slope, curve.offset), (curve.least, curve.most)).write(out);
                (beta.low, (beta.high, beta.offset)).write(out);
            }
            Calibration::Isotonic(pools) => {
                out.push(b'i');
                pools.len().write(out);
                for pool in pools {
                    (pool.low, (pool.high, pool.value)).write(out);
                    (pool.rows, pool.positives).write(out);
                }
            }
        }
        self.on.write(out);
        (self.rows, self.positives).write(out);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let calibration = match from.byte()? {
            b'p' => Calibration::Platt(curve(from)?),
            b'b' => {
                let curve = curve(from)?;
                let (low, (high, offset)): (f64, (f64, f64)) = from.value()?;
                let sound = low.is_finite() && low >= 0.0 && high.is_finite() && high >= 0.0 && offset.is_finite();
                sound.then_some(Calibration::Beta(Beta { curve, low, high, offset }))?
            }
            b'i' => {
                let count: usize = from.value()?;
                if !(1..=MOST_POOLS).contains(&count) {
                    return None;
                }
                let mut pools = Vec::<Pool>::with_capacity(count);
                for _ in 0..count {
                    let (low, (high, value)): (f64, (f64, f64)) = from.value()?;
                    let (rows, positives) = from.value()?;
                    // Scores ascend, and probabilities with them.
                    let after = pools.last().is_none_or(|last| last.high < low && last.value <= value);
                    if !(after && low <= high && low.is_finite() && high.is_finite() && (0.0..=1.0).contains(&value)) {
                        return None;
                    }
                    pools.push(Pool { low, high, rows, positives, value });
                }
                Calibration::Isotonic(pools)
            }
            _ => return None,
        };
        let on = from.value()?;
        let (rows, positives) = from.value()?;
        Some(Self { calibration, on, rows, positives })
    }
}
