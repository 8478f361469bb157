//! The bits of every run: what each method makes of dense and of sparse rows, in both precisions, by a linear model and by
//! a network, of two classes and of several. `tests/golden/bits.txt` holds a line a run with hashes of its parameters, its
//! estimator's state and its reports; a run that is saved half way and resumed must come to the same. The runs are those of
//! `tests/embedding/golden`, which `tests/embedding/bits.py` makes on other processors.
//!
//! `UNDERCURVE_BLESS=new cargo test -p undercurve-tests bits::` adds the lines of runs that the file does not have yet, of
//! a new method, say, and leaves the others; `UNDERCURVE_BLESS=1`, after a change that is meant to change bits, writes all.

#[allow(dead_code, reason = "the program for other processors has more to do with them")]
#[path = "../embedding/golden/src/runs.rs"]
mod runs;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/bits.txt");

#[test]
fn every_run_keeps_its_bits() {
    let mut out = String::new();
    runs::every(&mut runs::Task::Whole(&|_| true, &mut |run| {
        assert!(run.saved().1, "{} does not come to the same bytes when it is saved half way", run.name);
        for (field, numbers) in run.fields.iter().flatten().filter(|(field, _)| ["params", "state"].contains(field)) {
            assert!(numbers.iter().all(|&bits| f64::from_bits(bits).is_finite()), "{}: {field}", run.name);
        }
        writeln!(out, "{}", run.line()).unwrap();
    }));
    let split = |line: &str| line.split_once(": ").map(|(name, bits)| (name.to_owned(), bits.to_owned())).unwrap();
    let mut golden: Vec<(String, String)> = std::fs::read_to_string(GOLDEN).unwrap().lines().map(split).collect();
    let runs: Vec<(String, String)> = out.lines().map(split).collect();
    let known: BTreeMap<String, String> = golden.iter().cloned().collect();
    let (old, new): (Vec<_>, Vec<_>) = runs.iter().cloned().partition(|(name, _)| known.contains_key(name));
    let blessing = std::env::var("UNDERCURVE_BLESS").unwrap_or_default();
    if blessing == "1" || blessing == "new" {
        if blessing == "1" {
            golden = old.clone();
        }
        golden.extend(new.iter().cloned());
        let lines: String = golden.iter().map(|(name, bits)| format!("{name}: {bits}\n")).collect();
        return std::fs::write(GOLDEN, lines).unwrap();
    }
    let other = old.iter().filter(|(name, bits)| known[name] != *bits);
    let other: Vec<String> = other.map(|(name, bits)| format!("{name}\n was {}\n is  {bits}", known[name])).collect();
    assert!(other.is_empty(), "{} runs have other bits:\n{}", other.len(), other.join("\n"));
    let names: BTreeSet<&str> = runs.iter().map(|(name, _)| name.as_str()).collect();
    let gone: Vec<&str> = known.keys().map(String::as_str).filter(|name| !names.contains(name)).collect();
    assert!(gone.is_empty(), "runs that are no more: {}", gone.join(", "));
    let new: Vec<&str> = new.iter().map(|(name, _)| name.as_str()).collect();
    assert!(new.is_empty(), "runs without a line yet, which UNDERCURVE_BLESS=new adds:\n{}", new.join("\n"));
}
