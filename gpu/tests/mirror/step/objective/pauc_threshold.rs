//! Partial AUC above thresholds that follow quantiles.

use crate::mirror::family::gates::{Classes, in_range};
use crate::mirror::{Estimated, Run, four};
use undercurve::Real;

pub fn estimate(run: &mut Run<'_>, h: &[f32]) -> Estimated {
    let (n, of) = (run.numbers(), Classes::of(run, h));
    let gates = thresholds(run, of, &n);
    in_range(run, of, &gates)
}

/// What each negative counts beside both thresholds, and both moved.
fn thresholds(run: &mut Run<'_>, of: Classes<'_>, n: &[f32; 12]) -> Vec<f32> {
    let (low, bank, count) = (of.low, run.bank(), of.negatives());
    let mut gates = [None; 2];
    for (which, gate) in gates.iter_mut().enumerate() {
        let [level, above, part] = [0, 1, 2].map(|k| n[4 + 4 * which + k]);
        if level == 0.0 {
            continue;
        }
        let at = bank + 2 * which;
        let (q, width) = match run.state[at + 1] {
            0.0 => {
                let ranked =
                    |rank: f32| (0..low.len()).find(|&j| of.ahead(j) as f32 == rank).map_or(0.0, |j| low[j]);
                let (left, right) = (ranked(above), ranked((above + 1.0).min(count - 1.0)));
                let mean = four(0, low.len(), |j| low[j]) / count;
                (left + part * (right - left), four(0, low.len(), |j| (low[j] - mean).abs()) / count)
            }
            width => (run.state[at], width),
        };
        let (side, tail) = if level > 0.5 { (-1.0, 1.0 - level) } else { (1.0, level) };
        let over = |j: usize| side * (low[j] - q);
        let count_of = |f: &dyn Fn(f32) -> bool| low.iter().filter(|&&h| f(h)).count() as f32;
        let (higher, tied) = (count_of(&|h| h > q), count_of(&|h| h == q));
        let number = count_of(&|h| side * (h - q) > 0.0);
        let beyond = four(0, low.len(), |j| over(j).max(0.0));
        let nearest = (0..low.len()).map(over).fold(f32::MIN, f32::max);
        let wanted = level * count;
        let reached = wanted.max(higher).min(higher + tied);
        *gate = Some((q, if tied > 0.0 { (reached - higher) / tied } else { 0.0 }));
        let moved = if -nearest > width * (12.0 / (tail * count)).max(1.0) {
            [q + side * nearest, width]
        } else {
            let seen = if number > 0.0 { beyond / number } else { -nearest };
            let step = (n[2] * width * ((reached - wanted) / count)).settled();
            [q + step / tail, ((1.0 - n[2]) * width + n[2] * seen).settled()]
        };
        run.state[at..at + 2].copy_from_slice(&moved);
    }
    let of = |gate: Option<(f32, f32)>, absent: f32, h: f32| {
        gate.map_or(absent, |(q, tie)| {
            if h > q {
                1.0
            } else if h == q {
                tie
            } else {
                0.0
            }
        })
    };
    low.iter().map(|&h| (of(gates[0], 1.0, h) - of(gates[1], 0.0, h)).max(0.0)).collect()
}
