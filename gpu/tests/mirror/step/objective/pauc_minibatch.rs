//! Partial AUC of the ranks in a batch.

use crate::mirror::family::gates::{Classes, in_range};
use crate::mirror::{Estimated, Run};

pub fn estimate(run: &mut Run<'_>, h: &[f32]) -> Estimated {
    let (n, of) = (run.numbers(), Classes::of(run, h));
    let gate = |j| {
        let rank = of.ahead(j) as f32;
        ((rank + 1.0).min(n[1]) - rank.max(n[0])).max(0.0)
    };
    let gates: Vec<f32> = (0..of.low.len()).map(gate).collect();
    in_range(run, of, &gates)
}
