//! Scores as steps down their order, and areas under the curves of those.

/// Weights of the positives and negatives at each step down the scores.
pub(super) type Steps = Vec<[f64; 2]>;

/// Scores with their labels and weights, the highest first; of equal ones the earlier row first.
pub(super) struct Ranked(pub(super) Vec<(f64, usize, f64)>);

impl Ranked {
    pub(super) fn new(scores: &[f64], labels: &[u8], weights: &[f64]) -> Self {
        let weight = |row: usize| weights.get(row).copied().unwrap_or(1.0);
        let rows = scores.iter().zip(labels).enumerate();
        let mut rows: Vec<_> =
            rows.map(|(row, (&score, &label))| (score, usize::from(label == 1), weight(row))).collect();
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        Self(rows)
    }

    /// A step for each run of rows that `same` puts together.
    pub(super) fn steps(&self, same: impl Fn(f64, f64) -> bool) -> Steps {
        let mut steps = Steps::new();
        for run in self.0.chunk_by(|a, b| same(a.0, b.0)) {
            let mut step = [0.0; 2];
            run.iter().for_each(|&(_, class, weight)| step[class] += weight);
            steps.push(step);
        }
        steps
    }

    /// A step for each different score.
    pub(super) fn exact(&self) -> Steps {
        self.steps(|a, b| a == b)
    }

    /// Scores by how many of ascending thresholds they reach, or pass.
    pub(super) fn at(&self, thresholds: &[f64], reach: bool) -> Steps {
        let of = |score: f64| thresholds.partition_point(|&at| if reach { at <= score } else { at < score });
        self.steps(|a, b| of(a) == of(b))
    }

    /// Every row by itself; of equal scores the later one first where `reverse`.
    pub(super) fn each(&self, reverse: bool) -> Steps {
        let mut rows = self.0.clone();
        if reverse {
            rows.chunk_by_mut(|a, b| a.0 == b.0).for_each(<[_]>::reverse);
        }
        rows.iter().map(|&(_, class, weight)| if class == 1 { [0.0, weight] } else { [weight, 0.0] }).collect()
    }

    /// Other scores in their place.
    pub(super) fn map(&self, to: impl Fn(f64) -> f64) -> Self {
        let mut rows: Vec<_> = self.0.iter().map(|&(score, class, weight)| (to(score), class, weight)).collect();
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        Self(rows)
    }

    /// Classes in place of scores.
    pub(super) fn classes(&self) -> Steps {
        self.map(|score| f64::from(u8::from(score >= 0.5))).exact()
    }

    /// The other class as the positive one, with the scores turned.
    pub(super) fn turned(&self) -> Self {
        Self(self.0.iter().rev().map(|&(score, class, weight)| (-score, 1 - class, weight)).collect())
    }
}

pub(super) fn totals(steps: &[[f64; 2]]) -> [f64; 2] {
    steps.iter().fold([0.0; 2], |sum, step| [sum[0] + step[0], sum[1] + step[1]])
}

/// The share of pairs in order, of which a tie counts half.
pub(super) fn auroc(steps: &[[f64; 2]]) -> f64 {
    let ([negatives, positives], mut above, mut sum) = (totals(steps), 0.0, 0.0);
    for [no, yes] in steps {
        sum += no * (above + 0.5 * yes);
        above += yes;
    }
    sum / (negatives * positives)
}

/// The area under the ROC curve, joined by straight lines, to a false-positive rate.
pub(super) fn area(steps: &[[f64; 2]], end: f64) -> f64 {
    let ([negatives, positives], [mut x, mut y], mut sum) = (totals(steps), [0.0; 2], 0.0);
    for [no, yes] in steps {
        let (dx, dy) = (no / negatives, yes / positives);
        let inside = if dx > 0.0 { ((end - x) / dx).clamp(0.0, 1.0) } else { 0.0 };
        sum += inside * dx * (y + inside * dy / 2.0);
        (x, y) = (x + dx, y + dy);
    }
    sum
}

/// How points of a precision-recall curve are joined.
#[derive(Clone, Copy)]
pub(super) enum Join {
    /// The precision at each step's end.
    Steps,
    /// Straight lines, at recall 0 from this precision or from that of the first point.
    LinesFrom(Option<f64>),
    /// Straight lines between points alone.
    LinesWithoutFirst,
    /// As true and false positives grow in proportion (Davis and Goadrich 2006).
    Proportion,
}

pub(super) fn pr(steps: &[[f64; 2]], join: Join) -> f64 {
    let [_, positives] = totals(steps);
    let ([mut no, mut yes], mut before, mut sum) = ([0.0; 2], None::<f64>, 0.0);
    for step in steps {
        let rows = no + yes;
        (no, yes) = (no + step[0], yes + step[1]);
        let precision = yes / (no + yes);
        let recall = step[1] / positives;
        sum += match join {
            Join::Steps => recall * precision,
            Join::LinesWithoutFirst if before.is_none() => 0.0,
            Join::LinesFrom(start) => recall * (precision + before.or(start).unwrap_or(precision)) / 2.0,
            Join::LinesWithoutFirst => recall * (precision + before.unwrap_or(precision)) / 2.0,
            Join::Proportion => {
                let slope = step[1] / (step[0] + step[1]);
                let log = if rows > 0.0 { ((no + yes) / rows).ln() } else { 0.0 };
                slope * (step[1] + (yes - slope * (no + yes)) * log) / positives
            }
        };
        before = Some(precision);
    }
    sum
}

/// So many thresholds from 0 to 1 in 32 bits, as `torch.linspace` has them: the upper half counts down from 1.
pub(super) fn even(thresholds: u16) -> Vec<f64> {
    let step = 1.0 / f32::from(thresholds - 1);
    let at = |k: u16| {
        if k < thresholds / 2 { f32::from(k) * step } else { 1.0 - f32::from(thresholds - 1 - k) * step }
    };
    (0..thresholds).map(|k| f64::from(at(k))).collect()
}

/// The same with ends a little outside.
pub(super) fn outside(thresholds: u16) -> Vec<f64> {
    let last = thresholds - 1;
    let at = |k: u16| f64::from(k) / f64::from(last);
    let end = |k: u16| {
        if k == 0 {
            -1e-7
        } else if k == last {
            1e-7
        } else {
            0.0
        }
    };
    (0..thresholds).map(|k| at(k) + end(k)).collect()
}

/// Where positives score lower than negatives in the median, the scores are turned round.
pub(super) fn toward(ranked: &Ranked, auroc: f64) -> f64 {
    let median = |class: usize| {
        let of: Vec<f64> = ranked.0.iter().filter(|row| row.1 == class).map(|row| row.0).collect();
        (of[(of.len() - 1) / 2] + of[of.len() / 2]) / 2.0
    };
    if median(1) < median(0) { 1.0 - auroc } else { auroc }
}
