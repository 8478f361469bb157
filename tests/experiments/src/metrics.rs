//! `cargo experiment metrics`: the exact metrics of a million `f32` scores against one sort of them.

use super::{medians, target_features};
use std::hint::black_box;
use undercurve::metric::{FprRange, Metrics};
use undercurve::rng::Rng;
use undercurve_demo::error::Result;
use undercurve_demo::output;

const N: usize = 1_000_000;
const RUNS: usize = 15;

/// Scores N(0, 1) for negatives and N(1, 1) for positives, rounded to `levels` values per 8 units if given.
fn example(share: f64, levels: Option<f64>) -> (Vec<f32>, Vec<u8>) {
    let mut random = Rng::new(1);
    let labels: Vec<u8> = (0..N).map(|_| u8::from(random.uniform() < share)).collect();
    let score = |&label: &u8| {
        let score = random.normal() + f64::from(label);
        levels.map_or(score, |levels| (score * levels / 8.0).round() * 8.0 / levels) as f32
    };
    let scores = labels.iter().map(score).collect();
    (scores, labels)
}

/// Times AUROC, average precision, and both together with partial AUC, each with memory kept between calls; S is one
/// `sort_unstable_by(f32::total_cmp)` of the scores, whose copy is not counted.
pub fn run(json: bool) -> Result<()> {
    if !json {
        output::line(format!(
            "n = {N} f32 scores, one thread, median of {RUNS} interleaved runs, {}",
            target_features()
        ))?;
        output::line("positives  ties     sort S        AUROC              AP                 AUROC, AP, pAUC")?;
    }
    for (share, levels) in [(0.05, None), (0.05, Some(1000.0)), (0.5, None), (0.5, Some(1000.0))] {
        let (scores, labels) = example(share, levels);
        let range = FprRange::new(0.0, 0.3)?;
        let (mut first, mut second, mut third) = (Metrics::new(), Metrics::new(), Metrics::new());
        let mut unsorted: Vec<Vec<f32>> = vec![scores.clone(); RUNS + 1];
        let [sort, auroc, ap, all] = medians(
            RUNS,
            [
                &mut || {
                    if let Some(mut keys) = unsorted.pop() {
                        keys.sort_unstable_by(f32::total_cmp);
                        black_box(keys);
                    }
                },
                &mut || _ = black_box(first.auroc(&scores, &labels)),
                &mut || _ = black_box(second.average_precision(&scores, &labels)),
                &mut || _ = black_box(third.summary(&scores, &labels, range)),
            ],
        )
        .map(|seconds| seconds * 1e9 / N as f64);
        let ties = levels.is_some();
        if json {
            output::line(format!(
                "{{\"bench\":\"metrics\",\"n\":{N},\"positives\":{share},\"ties\":{ties},\"features\":\"{}\",\
                 \"sort_ns\":{sort:.3},\"auroc_ns\":{auroc:.3},\"ap_ns\":{ap:.3},\"all_ns\":{all:.3}}}",
                target_features()
            ))?;
        } else {
            let cell = |ns: f64| format!("{ns:5.2} ns = {:.2} S", ns / sort);
            output::line(format!(
                "{:>8}%  {:5}  {sort:5.2} ns  {:>17}  {:>17}  {:>17}",
                share * 100.0,
                if ties { "1000" } else { "none" },
                cell(auroc),
                cell(ap),
                cell(all)
            ))?;
        }
    }
    Ok(())
}
