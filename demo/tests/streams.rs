//! Stdout and stderr that are closed, full, or that nobody reads any more: no command panics, none loses a file over it.
#![cfg(target_os = "linux")] // for /dev/full

mod common;

use common::{Folder, csv, run, stdout};
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use undercurve_tests::streams::{
    State::{self, Closed, Full, Gone, Open},
    with_streams,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_undercurve");

const STATES: [(State, State); 7] =
    [(Open, Full), (Open, Gone), (Full, Open), (Gone, Open), (Closed, Closed), (Full, Full), (Gone, Gone)];

/// Every file in the folder.
fn files(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    folder.names().into_iter().map(|name| (name.clone(), fs::read(folder.path(&name)).unwrap())).collect()
}

/// With a group, for those that are of groups.
fn grouped() -> String {
    let rows = csv(160);
    let mut lines = rows.lines();
    let head = format!("sex,{}\n", lines.next().unwrap());
    head + &lines.enumerate().map(|(at, line)| format!("{},{line}\n", ["f", "m"][at % 2])).collect::<String>()
}

#[test]
fn no_command_minds_its_streams() {
    let folder = Folder::new("streams");
    folder.write("data.csv", csv(200));
    folder.write("p.csv", grouped());
    folder.write("s.csv", "label,score\n1,0.9\n0,0.4\n1,0.3\n0,0.1\n");
    stdout(&run(&folder.0, &["train", "data.csv", "--method", "ce", "--steps", "40", "--out", "m"]));
    let before = files(&folder);
    let cases: &[&[&str]] = &[
        &["train", "data.csv", "--split", "0.7", "--steps", "60", "--save", "run", "--out", "model"],
        &["train", "data.csv", "--steps", "60", "--json", "--out", "model"],
        &["train", "data.csv", "--method", "ce", "--steps", "60", "--every", "1"],
        &[
            "train", "data.csv", "--split", "0.7", "--steps", "30", "--seeds", "3", "--csv", "runs.csv", "--out",
            "model",
        ],
        &["train", "data.csv", "--steps", "30", "--grid", "lr=.01|.02", "--json", "--save", "run"],
        &["train", "p.csv", "--group", "sex", "--method", "sonex", "--steps", "30", "--require", "--out", "model"],
        &["train", "data.csv", "--label", "none", "--out", "model"],
        &["train", "data.csv", "--steps", "three"],
        &["compare", "data.csv", "--metric", "ap", "--methods", "ce", "--folds", "2", "--out", "model"],
        &["frontier", "p.csv", "--group", "sex", "--steps", "20", "--bounds", "0.1", "--svg", "f.svg"],
        &["eval", "m", "data.csv", "--scores", "scores.csv"],
        &["eval", "m", "data.csv", "--json"],
        &["decide", "s.csv", "--threshold", "fpr<=0.1", "--out", "decided"],
        &["predict", "m", "data.csv"],
        &["inspect", "m"],
        &["look", "data.csv"],
        &["look", "data.csv", "--json"],
        &["auto", "data.csv", "--methods", "ce", "--folds", "2", "--out", "."],
        &["predict", "m", "data.csv", "--explain"],
        &["man", "."],
        &["export", "m", "m.onnx"],
        &["export", "m", "m.json"],
        &["metrics", "s.csv"],
        &["methods"],
        &["methods", "soap", "--json"],
        &["prepare", "data.csv", "--split", "0.7", "--train", "a.csv", "--test", "b.csv"],
        &["completions", "bash"],
        &["completions", "zsh"],
        &["--help"],
        &["train", "--help"],
        &["--version"],
        &[],
        &["trian"],
    ];
    for args in cases {
        let plain = run(&folder.0, args);
        let code = plain.status.code();
        let left = files(&folder);
        let clean = || {
            folder.names().iter().filter(|name| !before.contains_key(*name)).for_each(|name| {
                fs::remove_file(folder.path(name)).unwrap();
            });
        };
        clean();
        for states in STATES {
            let output = with_streams(PROGRAM, &folder, args, states);
            let what = format!("{args:?} {states:?}: {output:?}");
            let full = states.0 == Full && code == Some(0);
            assert_eq!(output.status.code(), if full { Some(1) } else { code }, "{what}");
            assert_eq!(files(&folder).keys().collect::<Vec<_>>(), left.keys().collect::<Vec<_>>(), "{what}");
            assert!(files(&folder) == left, "{what}");
            if states.0 == Open {
                assert_eq!(lines(&output.stdout), lines(&plain.stdout), "{what}");
            }
            if states.1 == Open {
                let said = String::from_utf8(output.stderr.clone()).unwrap();
                let errors: Vec<&str> = said.lines().filter(|line| line.starts_with("error: ")).collect();
                match (full, code) {
                    (true, _) => assert_eq!(errors, ["error: stdout: No space left on device"], "{what}"),
                    (false, Some(0)) => assert!(errors.is_empty(), "{what}"),
                    _ => assert_eq!(said, String::from_utf8_lossy(&plain.stderr), "{what}"),
                }
            }
            clean();
        }
    }
}

fn lines(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte == b'\n').count()
}

/// A disk without room, for which a limit on the size of files stands: the file that was there is as it was, and none is half written.
#[test]
fn a_full_disk_leaves_the_old_file() {
    let folder = Folder::new("full-disk");
    folder.write("data.csv", csv(200));
    stdout(&run(&folder.0, &["train", "data.csv", "--method", "ce", "--steps", "40", "--out", "m"]));
    folder.write("s.csv", "label,score\n1,0.9\n0,0.4\n1,0.3\n0,0.1\n");
    for name in ["out", "out.json"] {
        folder.write(name, "what was there\n");
    }
    let before = files(&folder);
    let cases: &[&[&str]] = &[
        &["predict", "m", "data.csv", "--out", "out"],
        &["eval", "m", "data.csv", "--scores", "out"],
        &["train", "data.csv", "--method", "ce", "--steps", "20", "--out", "m"],
        &["prepare", "data.csv", "--train", "out"],
        &["decide", "s.csv", "--threshold", "fpr<=0.1", "--out", "out"],
        &["compare", "data.csv", "--metric", "ap", "--methods", "ce", "--folds", "2", "--out", "out"],
        &["export", "m", "out.json"],
    ];
    for args in cases {
        let done = Command::new("sh")
            .current_dir(&folder.0)
            .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh", PROGRAM])
            .args(*args)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.code() == Some(1) && said.starts_with("error: "), "{args:?}: {done:?}");
        assert_eq!(files(&folder), before, "{args:?}");
    }
}
