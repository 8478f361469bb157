//! The targets of `tests/fuzz` on random bytes, without a nightly toolchain:
//!
//!     cargo run -p undercurve-tests --example fuzz -- TARGET [SECONDS [SEED]]
//!
//! Input k has the bytes of the seed SEED + k, so that a finding can be made again: SEED is then its number, and SECONDS 0.

use std::time::{Duration, Instant};
use undercurve_tests::hostile::{TARGETS, bytes};

/// Time that this thread has computed, where Linux says it; another program's does not count.
fn computed(since: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| since.elapsed(), Duration::from_nanos)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, or: u64| arguments.get(at).map_or(Some(or), |word| word.parse().ok());
    let target = TARGETS.iter().find(|target| arguments.first().is_some_and(|name| name == target.0));
    let (Some(&(name, check)), Some(seconds), Some(first)) = (target, number(1, 60), number(2, 0)) else {
        eprintln!("usage: fuzz TARGET [SECONDS [SEED]]; targets: {}", TARGETS.map(|target| target.0).join(", "));
        std::process::exit(2);
    };
    let (start, mut slowest) = (Instant::now(), (Duration::ZERO, first));
    let (mut seed, mut found) = (first, 0);
    loop {
        let (input, begin) = (bytes(seed), computed(start));
        if std::panic::catch_unwind(|| check(&input)).is_err() {
            eprintln!("{name}, seed {seed}");
            found += 1;
        }
        slowest = slowest.max((computed(start).saturating_sub(begin), seed));
        seed += 1;
        if start.elapsed() >= Duration::from_secs(seconds) || found == 200 {
            break;
        }
    }
    let (inputs, slow) = (seed - first, slowest.0.as_secs_f64());
    println!(
        "{name}: {inputs} inputs from seed {first}, {found} findings, the slowest {slow:.2} s (seed {})",
        slowest.1
    );
    std::process::exit(i32::from(found > 0));
}
