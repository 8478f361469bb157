//! `undercurve bench`: times as ratios measured in one run.

pub mod metrics;

use anyhow::{Result, bail};
use std::time::Instant;

/// Options of `bench`.
#[derive(clap::Args)]
pub struct Args {
    /// What to time: metrics [default: everything]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

/// Runs the named benches.
pub fn run(args: &Args) -> Result<()> {
    if let Some(name) = args.names.iter().find(|name| *name != "metrics") {
        bail!("there is no bench '{name}'; there is: metrics");
    }
    metrics::run(args.json)
}

/// Seconds of each of `work`, the median of `runs` interleaved runs after one to warm up.
pub fn medians<const K: usize>(runs: usize, mut work: [&mut dyn FnMut(); K]) -> [f64; K] {
    let mut times: [Vec<f64>; K] = std::array::from_fn(|_| Vec::with_capacity(runs));
    for round in 0..=runs {
        for (call, times) in work.iter_mut().zip(&mut times) {
            let start = Instant::now();
            call();
            if round > 0 {
                times.push(start.elapsed().as_secs_f64());
            }
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}

/// The instruction sets this program was compiled for.
pub fn target_features() -> String {
    let known = [
        ("sse2", cfg!(target_feature = "sse2")),
        ("avx2", cfg!(target_feature = "avx2")),
        ("fma", cfg!(target_feature = "fma")),
        ("avx512f", cfg!(target_feature = "avx512f")),
        ("neon", cfg!(target_feature = "neon")),
    ];
    let on: Vec<&str> = known.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
    format!("{} {}", std::env::consts::ARCH, on.join(" ")).trim_end().to_owned()
}
