//! Sequences of wrong calls of the C interface, by number:
//!
//!     cargo run -p undercurve-c --example hostile -- [SEQUENCES [FIRST]]
//!
//! A finding ends it; the number of its sequence makes it again, as FIRST with one sequence.

use std::time::Instant;
use undercurve_c as _;

#[path = "../tests/hostile/mod.rs"]
mod hostile;

fn main() {
    let number = |at: usize, or: u64| std::env::args().nth(at).map_or(Some(or), |word| word.parse().ok());
    let (Some(sequences), Some(first)) = (number(1, 100_000), number(2, 0)) else {
        eprintln!("usage: hostile [SEQUENCES [FIRST]]");
        std::process::exit(2);
    };
    let (start, mut hostile) = (Instant::now(), hostile::Hostile::new());
    for number in first..first.saturating_add(sequences) {
        let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| hostile.sequence(number)));
        if run.is_err() {
            eprintln!("sequence {number}");
            std::process::exit(1);
        }
        if hostile.counts.sequences % 1_000_000 == 0 {
            eprintln!("{} sequences, {:.0} s", hostile.counts.sequences, start.elapsed().as_secs_f64());
        }
    }
    let of = &hostile.counts;
    println!(
        "{} sequences from {first}: {} calls fine, {} refused with {} codes, 0 findings",
        of.sequences,
        of.fine,
        of.refused,
        of.codes.len()
    );
}
