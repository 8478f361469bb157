//! Whether a ranking method is behind plain cross-entropy in its own metric, on the validation rows.
//!
//! The rule: a linear model is trained by `ce` at its defaults on the same training rows, and draws no more rows than the run did, so
//! that it costs less than the run. The difference of the metric on the validation rows, the kept model's less the linear one's, has a 95 % interval by
//! the bootstrap with continuous weights (as those of core's `metric/interval.rs`), where a row, or a cluster of rows that splits keep together, weighs the same
//! for both models. The run is behind where the whole interval lies below 0. Test rows have no part in it.

use crate::error::Result;
use crate::tell::scores;
use serde_json::{Value, json};
use undercurve::Real;
use undercurve::data::{Dataset, Targets};
use undercurve::metric::student;
use undercurve::rng::Rng;
use undercurve::trainer::{Best, Config, Length, ModelSpec, Predictor, Trainer};

/// Methods that are cross-entropy themselves.
pub(super) const SAME: [&str; 2] = ["ce", "ce-exact"];

/// Replicates of an interval.
const REPLICATES: u64 = 400;

/// Validation rows beyond which there is no interval, as of core's intervals.
const MOST_ROWS: usize = 1 << 20;

/// The generator's purpose.
const PURPOSE: u64 = 0x6265_6869;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    Ap,
    /// Partial AUC over false-positive rates; AUROC over all of them.
    Area(f64, f64),
}

/// A run that is behind.
#[derive(Debug)]
pub struct Behind {
    metric: String,
    /// Whether the run's own model is linear, too.
    linear: bool,
    difference: f64,
    ends: [f64; 2],
}

impl Behind {
    /// Of the model that a run keeps; `None` where it is not behind, or nobody can tell: without validation rows of two classes, with weights,
    /// under constraints, and for cross-entropy itself.
    pub fn of<T: Real>(trainer: &Trainer<T>, best: Option<&Best<T>>, model: &mut Predictor<T>) -> Result<Option<Self>> {
        let (Some(best), config) = (best, trainer.config()) else { return Ok(None) };
        let valid = best.valid_data();
        let two = matches!(valid.targets(), Targets::Binary(_)) && valid.weights().is_empty();
        let asked = SAME.contains(&config.method.as_str()) || !config.constraints.is_empty();
        let figure = match best.metric() {
            "ap" => Figure::Ap,
            "auroc" => Figure::Area(0.0, 1.0),
            "pauc" => Figure::Area(config.fpr.0, config.fpr.1),
            _ => return Ok(None),
        };
        if !two || asked || valid.len() > MOST_ROWS || trainer.steps_done() == 0 {
            return Ok(None);
        }
        let ours = scores(model, valid)?;
        // (Numbers that leave their range tell nothing here; the run's own did not.)
        let Ok(theirs) = of_cross_entropy(trainer, valid) else { return Ok(None) };
        let found = difference(figure, [&ours, &theirs], valid.labels(), valid.split_groups());
        let Some((difference, ends)) = found.filter(|(_, ends)| ends[1] < 0.0) else { return Ok(None) };
        let metric = match (best.metric(), config.fpr) {
            ("pauc", (low, high)) => format!("pauc {low}:{high}"),
            (metric, _) => metric.to_string(),
        };
        Ok(Some(Self { metric, linear: config.model == ModelSpec::Linear, difference, ends }))
    }

    /// For people.
    pub fn sentence(&self) -> String {
        let Self { metric, linear, difference, ends: [low, high] } = self;
        let (than, with) = if *linear { ("", "") } else { (" with a linear model", " with this model, or linear") };
        format!(
            "on the validation rows the model is behind cross-entropy{than} by {:.4} in {metric}, 95 % interval [{:.4}, {:.4}]; \
             try --method ce{with}, or `undercurve compare` on all rows",
            -difference, -high, -low
        )
    }

    /// For programs.
    pub fn object(&self) -> Value {
        json!({"metric": self.metric, "part": "validation", "difference": self.difference, "interval": self.ends})
    }
}

/// Scores by a linear model that cross-entropy has fitted to a run's training rows, of which it has drawn no more than the run.
fn of_cross_entropy<T: Real>(run: &Trainer<T>, rows: &Dataset<T>) -> Result<Vec<T>> {
    let of = run.config();
    let (seed, class_weights) = (of.seed, of.class_weights.clone());
    let config = Config { method: SAME[0].to_string(), seed, class_weights, ..Config::default() };
    let mut linear = Trainer::new(&config, run.train_data().clone(), None)?;
    linear.step()?;
    if linear.pass() * linear.total_steps() as f64 > run.pass() {
        let length = Length::Passes(run.pass());
        linear = Trainer::new(&Config { length, ..config }, run.train_data().clone(), None)?;
    }
    while linear.step()?.is_some() {}
    scores(&mut linear.predictor(), rows)
}

/// Rows by descending score, those of one score together.
struct Ranked {
    order: Vec<u32>,
    /// Where the rows of each score end.
    ends: Vec<usize>,
}

impl Ranked {
    fn new<T: Real>(scores: &[T]) -> Self {
        let mut order: Vec<u32> = (0..scores.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| scores[b as usize].f64().total_cmp(&scores[a as usize].f64()));
        let at = |place: usize| scores[order[place] as usize];
        let mut ends: Vec<usize> = (1..order.len()).filter(|&place| at(place - 1) != at(place)).collect();
        ends.push(order.len());
        Self { order, ends }
    }

    /// The figure, where rows weigh this much.
    fn figure(&self, figure: Figure, labels: &[u8], weights: &[f64]) -> f64 {
        let mut all = [0.0; 2];
        labels.iter().zip(weights).for_each(|(&label, weight)| all[usize::from(label)] += weight);
        let (low, high) = if let Figure::Area(low, high) = figure { (low * all[0], high * all[0]) } else { (0.0, 0.0) };
        let (mut sum, mut above, mut from) = (0.0, [0.0; 2], 0);
        for &end in &self.ends {
            let mut own = [0.0; 2];
            for &row in &self.order[from..end] {
                own[usize::from(labels[row as usize])] += weights[row as usize];
            }
            from = end;
            match figure {
                Figure::Ap if own[1] > 0.0 => {
                    let found = above[1] + own[1];
                    sum += own[1] * found / (found + above[0] + own[0]);
                }
                Figure::Ap => {}
                Figure::Area(..) => {
                    // (The curve is a straight line through rows of one score.)
                    let (start, stop) = (above[0].max(low), (above[0] + own[0]).min(high));
                    if stop > start {
                        sum += (stop - start) * (above[1] + (0.5 * (start + stop) - above[0]) / own[0] * own[1]);
                    }
                }
            }
            (above[0], above[1]) = (above[0] + own[0], above[1] + own[1]);
        }
        match figure {
            Figure::Ap => sum / all[1],
            Figure::Area(..) => sum / (all[1] * (high - low)),
        }
    }
}

/// How far the first scores are ahead of the second, and the ends of the 95 % interval; `None` where a class has one row, or one cluster has all.
/// `clusters`: of each row; empty where rows are independent.
fn difference<T: Real>(figure: Figure, scores: [&[T]; 2], labels: &[u8], clusters: &[u32]) -> Option<(f64, [f64; 2])> {
    let ranked = scores.map(Ranked::new);
    let apart = |weights: &[f64]| {
        let [ours, theirs] = [0, 1].map(|model: usize| ranked[model].figure(figure, labels, weights));
        ours - theirs
    };
    let positives = labels.iter().filter(|&&label| label == 1).count();
    let mut independent = positives.min(labels.len() - positives);
    let mut clustered = vec![0.0; clusters.iter().max().map_or(0, |&last| last as usize + 1)];
    if !clusters.is_empty() {
        clusters.iter().for_each(|&cluster| clustered[cluster as usize] = 1.0);
        independent = independent.min(clustered.iter().filter(|&&there| there > 0.0).count());
    }
    if independent < 2 {
        return None;
    }
    let mut weights = vec![1.0; labels.len()];
    let value = apart(&weights);
    let mut drawn = Vec::new();
    for replicate in 0..REPLICATES {
        let mut rng = Rng::keyed(1, PURPOSE, replicate);
        let mut draw = || -Real::ln(1.0 - rng.uniform());
        if clusters.is_empty() {
            weights.iter_mut().for_each(|weight| *weight = draw());
        } else {
            clustered.iter_mut().for_each(|weight| *weight = draw());
            weights.iter_mut().zip(clusters).for_each(|(weight, &cluster)| *weight = clustered[cluster as usize]);
        }
        drawn.push(apart(&weights));
    }
    let half = student(independent as u64 - 1) * super::paired::mean_sd(&drawn).1;
    Some((value, [value - half, value + half]))
}

#[cfg(test)]
mod tests {
    use super::{Figure, Ranked, Rng, difference};
    use undercurve::metric::{FprRange, Metrics, TieRule};

    /// Scores of so many rows, a tenth of them positive and higher by `apart`; rounded, so that some tie.
    fn rows(rng: &mut Rng, count: usize, apart: f64) -> (Vec<u8>, Vec<f64>) {
        let labels: Vec<u8> = (0..count).map(|row| u8::from(row % 10 == 0)).collect();
        let scores = labels.iter().map(|&label| (8.0 * (rng.normal() + apart * f64::from(label))).round()).collect();
        (labels, scores)
    }

    #[test]
    fn figures_are_those_of_the_core() {
        let mut rng = Rng::new(3);
        let (labels, scores) = rows(&mut rng, 300, 1.0);
        let (ranked, ones, mut core) = (Ranked::new(&scores), vec![1.0; 300], Metrics::new());
        let near = |figure, value: f64| {
            let found = ranked.figure(figure, &labels, &ones);
            assert!((found - value).abs() < 1e-12, "{figure:?}: {found} {value}");
        };
        near(Figure::Ap, core.average_precision(&scores, &labels[..]).unwrap());
        near(Figure::Area(0.0, 1.0), core.auroc(&scores, &labels[..]).unwrap());
        let range = FprRange::new(0.02, 0.2).unwrap();
        near(Figure::Area(0.02, 0.2), core.partial_auc(&scores, &labels[..], range, TieRule::Trapezoid).unwrap());
    }

    /// Of 60 pairs of scores that are equally good few intervals leave 0 out, of pairs that are not most.
    #[test]
    fn equal_scores_are_seldom_behind_and_worse_ones_are() {
        let mut rng = Rng::new(5);
        let mut behind = |apart: f64, figure: Figure, clusters: &[u32]| {
            let one = |rng: &mut Rng| {
                let (labels, base) = rows(rng, 400, 1.5);
                // (Two models of the same rows: their scores go together.)
                let mut other = |shift: f64| -> Vec<f64> {
                    let noise = |(&score, &label): (&f64, &u8)| score + 6.0 * rng.normal() + shift * f64::from(label);
                    base.iter().zip(&labels).map(noise).collect()
                };
                let (ours, theirs) = (other(-apart), other(0.0));
                let (_, ends) = difference(figure, [&ours, &theirs], &labels, clusters).unwrap();
                ends[1] < 0.0
            };
            (0..60).filter(|_| one(&mut rng)).count()
        };
        for figure in [Figure::Ap, Figure::Area(0.0, 1.0), Figure::Area(0.0, 0.1)] {
            let (equal, worse) = (behind(0.0, figure, &[]), behind(12.0, figure, &[]));
            assert!(equal <= 5 && worse >= 30, "{figure:?}: {equal} {worse}");
        }
        // Ten rows of each cluster are one: here the same interval, as its rows are independent, but of fewer.
        let clusters: Vec<u32> = (0..400).map(|row| row / 10).collect();
        assert!(behind(0.0, Figure::Ap, &clusters) <= 6);
        let (labels, scores) = rows(&mut Rng::new(1), 40, 1.0);
        assert!(difference(Figure::Ap, [&scores, &scores], &labels, &[7; 40]).is_none());
    }
}
