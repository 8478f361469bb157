//! Many generated rows in a fixed amount of memory: bounds of the metrics by one pass and by two, beside the exact answer.
//!
//!     cargo run --release -p undercurve --example bounded -- 1e9 500
//!
//! Rows, and megabytes for counts; `print` in their place writes the rows as text, for the command line:
//!
//!     cargo run --release -p undercurve --example bounded -- 1e9 print | undercurve metrics - --memory 450M
//!
//! 0.1 % positives, scores of full precision, made again for each pass. The exact answer is that of a
//! [`State`] of two passes: the positives, and then the gaps between them; it takes memory of its own. Prints seconds and, on Linux,
//! the largest resident size up to then.

use std::io::{BufWriter, Write, stdout};
use std::time::Instant;
use undercurve::metric::{Bounded, Bounds, FprRange, State};
use undercurve::rng::Rng;

/// Rows at once.
const PIECE: usize = 1 << 16;

/// Calls `take` with pieces of the same rows, each time.
fn rows(n: usize, mut take: impl FnMut(&[f64], &[u8]) -> undercurve::Result<()>) -> undercurve::Result<()> {
    let (mut scores, mut labels) = (vec![0.0; PIECE], vec![0; PIECE]);
    let mut random = Rng::new(7);
    let mut unit = || random.uniform();
    for at in (0..n).step_by(PIECE) {
        let size = PIECE.min(n - at);
        for (score, label) in scores.iter_mut().zip(&mut labels).take(size) {
            *label = u8::from(unit() < 0.001);
            *score = unit() + unit() + unit() + 0.8 * f64::from(*label);
        }
        take(&scores[..size], &labels[..size])?;
    }
    Ok(())
}

fn told(way: &str, start: Instant, bounds: Bounds) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("-").trim();
    println!("{way}: {:.0} s, {peak}", start.elapsed().as_secs_f64());
    for (name, (low, high)) in [("AUROC", bounds.auroc), ("AP", bounds.ap), ("partial AUC to .05", bounds.pauc)] {
        println!("  {name} {low:.9} to {high:.9}, {:.1e} wide", high - low);
    }
}

/// The rows as text, until the reader closes the pipe.
fn print(n: usize) -> undercurve::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, stdout().lock());
    let mut open = writeln!(out, "score,label").is_ok();
    rows(n, |scores, labels| {
        open = open && scores.iter().zip(labels).all(|(score, label)| writeln!(out, "{score},{label}").is_ok());
        Ok(())
    })
}

fn main() -> undercurve::Result<()> {
    let mut words = std::env::args().skip(1).map(|word| word.parse::<f64>());
    let mut number = |usual: f64| words.next().and_then(Result::ok).unwrap_or(usual) as usize;
    let (n, bytes) = (number(1e6), number(500.0) * 1_000_000);
    if std::env::args().nth(2).as_deref() == Some("print") {
        return print(n);
    }
    let range = FprRange::new(0.0, 0.05)?;

    let (start, mut first) = (Instant::now(), Bounded::of_memory(bytes));
    rows(n, |scores, labels| first.update(scores, labels))?;
    let once = first.bounds(range)?;
    told("one pass", start, once);

    let (start, mut second) = (Instant::now(), first.narrow(bytes)?);
    rows(n, |scores, labels| second.update(scores, labels))?;
    let twice = second.bounds(range)?;
    told("two passes", start, twice);
    drop(second);

    let (start, mut all) = (Instant::now(), State::new());
    rows(n, |scores, labels| {
        let positives: Vec<f64> = scores.iter().zip(labels).filter(|row| *row.1 == 1).map(|row| *row.0).collect();
        all.update(&positives, &vec![1; positives.len()], &[])
    })?;
    let mut gaps = State::between(&all)?;
    rows(n, |scores, labels| gaps.update(scores, labels, &[]))?;
    all.merge(&gaps)?;
    let exact = all.summary(range)?;
    println!(
        "exact: {:.0} s\n  AUROC {}, AP {}, partial AUC {}",
        start.elapsed().as_secs_f64(),
        exact.auroc,
        exact.ap,
        exact.pauc
    );
    for (way, bounds) in [("one pass", once), ("two passes", twice)] {
        let inside = |(low, high): (f64, f64), value: f64| low <= value && value <= high;
        let all = inside(bounds.auroc, exact.auroc) && inside(bounds.ap, exact.ap) && inside(bounds.pauc, exact.pauc);
        println!("{way}: {}", if all { "the bounds contain them" } else { "NOT within the bounds" });
    }
    Ok(())
}
