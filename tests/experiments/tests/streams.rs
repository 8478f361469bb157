//! Stdout and stderr that are closed, full, or that nobody reads any more: no experiment panics.
#![cfg(target_os = "linux")] // for /dev/full

mod common;

use common::{Folder, PROGRAM, run, stdout};
use undercurve_tests::streams::State::{Full, Gone, Open};
use undercurve_tests::streams::with_streams;

/// The experiments that print before they measure, and those that lack their data. (The others take too long.)
#[test]
fn no_experiment_minds_its_streams() {
    let folder = Folder::new("streams-bench");
    let list = stdout(&run(&folder.0, &[]));
    for states in [(Gone, Gone), (Full, Full), (Gone, Open), (Open, Gone)] {
        let output = with_streams(PROGRAM, &folder, &[], states);
        assert_eq!(output.status.code(), Some(i32::from(states.0 == Full)), "{states:?}: {output:?}");
    }
    let mut tried = 0;
    for name in list.lines().filter_map(|line| line.split_whitespace().next()) {
        let help = stdout(&run(&folder.0, &[name, "--help"]));
        let args: &[&str] = match name {
            "metrics" | "intervals" | "pairs" | "counts" => &[name],
            _ if help.contains("--data") => &[name, "--data", "none"],
            _ => continue,
        };
        for states in [(Gone, Gone), (Full, Full), (Gone, Open)] {
            let output = with_streams(PROGRAM, &folder, args, states);
            // Gone is no error, full is one, and data that are not there are the user's.
            let code = match (args.len(), states.0) {
                (1, Gone) => 0,
                (1, _) => 1,
                _ => 2,
            };
            assert_eq!(output.status.code(), Some(code), "{args:?} {states:?}: {output:?}");
        }
        tried += 1;
    }
    assert!(tried > 12, "{list}");
}
