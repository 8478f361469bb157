//! `train --seeds` and `--grid`: every run is the one that `train` makes, and what they come to is told.

mod common;

use common::{Folder, csv, run, stdout, undercurve};
use serde_json::Value;
use std::fs;
use std::process::Output;

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Rows, the totals and the best run's file against `train` alone, for rows split by seed, rows of a file, and validation rows.
#[test]
fn every_run_is_that_of_train() {
    let folder = Folder::new("runs-train");
    folder.write("data.csv", csv(400));
    folder.write("test.csv", csv(150));
    for (rows, varied) in [
        (&["--split", "0.7"][..], &["--seeds", "2", "--seed", "5"][..]),
        (&["--test", "test.csv"], &["--seeds", "2", "--grid", "lr=.01|.2"]),
        (&["--split", "0.7", "--valid", "0.3"], &["--grid", "gamma=.5:.9:2,lr=.01:1:3"]),
    ] {
        let common = [&["train", "data.csv", "--method", "soap", "--steps", "60", "--json"], rows].concat();
        let many = [&common[..], varied, &["--save", "best.uc", "--out", "model.uc", "--threads", "2"]].concat();
        let all = objects(&stdout(&run(&folder.0, &many)));
        let (totals, all) = all.split_last().unwrap();
        assert_eq!((totals["runs"].as_u64(), totals["failed"].as_u64()), (Some(all.len() as u64), Some(0)));
        for (at, row) in all.iter().enumerate() {
            let seed = row["seed"].to_string();
            let mut alone = [&common[..], &["--seed", &seed, "--save", "one.uc", "--out", "one.model"]].concat();
            let settings = row["settings"].as_object().unwrap().iter();
            let settings: Vec<String> = settings.map(|(k, v)| format!("{k}={}", v.as_str().unwrap())).collect();
            settings.iter().for_each(|text| alone.extend(["--set", text]));
            let one = objects(&stdout(&run(&folder.0, &alone)));
            let (end, reports) = one.split_last().unwrap();
            assert_eq!(row["test"], end["test"], "{row}");
            if end["kept"].is_null() {
                assert_eq!(row["train"], reports.last().unwrap()["train"], "{row}");
            } else {
                assert_eq!((&row["step"], &row["valid"]["ap"]), (&end["kept"]["step"], &end["kept"]["valid"]), "{row}");
            }
            if totals["best"]["run"] == at + 1 {
                for (ours, theirs) in [("best.uc", "one.uc"), ("model.uc", "one.model")] {
                    assert!(fs::read(folder.path(ours)).unwrap() == fs::read(folder.path(theirs)).unwrap(), "{row}");
                }
            }
            for name in ["one.uc", "one.model"] {
                fs::remove_file(folder.path(name)).unwrap();
            }
        }
        let part = totals["by"]["part"].as_str().unwrap();
        let value = |row: &Value| row[part]["ap"].as_f64().unwrap();
        let most = all.iter().map(value).fold(f64::MIN, f64::max);
        assert_eq!(totals["best"]["value"].as_f64(), Some(most));
        assert_eq!(part, if rows.contains(&"--valid") { "valid" } else { "test" });
        let mean = all.iter().map(value).sum::<f64>() / all.len() as f64;
        assert!((totals["mean"][part]["ap"].as_f64().unwrap() - mean).abs() < 1e-12);
        // The same with one thread.
        let again = objects(&stdout(&run(&folder.0, &[&common[..], varied, &["--threads", "1"]].concat())));
        assert_eq!(&again[..all.len()], all);
    }
}

/// The table, the files, and what a run that fails is.
#[test]
fn a_failed_run_is_a_row_and_an_exit_code() {
    let folder = Folder::new("runs-fail");
    folder.write("data.csv", csv(200));
    let args =
        ["train", "data.csv", "--method", "soap", "--split", "0.7", "--steps", "40", "--set", "sampling=uniform"];
    let more = ["--seeds", "3", "--grid", "batch=1|64", "--csv", "runs.csv", "--plot", "map.svg"];
    let output = run(&folder.0, &[&args[..], &more].concat());
    assert_eq!((output.status.code(), error(&output).as_str()), (Some(1), "error: 3 of 6 runs failed\n"), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.matches("failed: step ").count(), 3, "{text}");
    assert!(text.contains("batch=64  ") && text.contains("(3 runs)") && text.contains("(0 runs)"), "{text}");
    assert!(text.contains("Best point: batch=64, test AP") && text.contains("Best run: seed "), "{text}");
    let rows = fs::read_to_string(folder.path("runs.csv")).unwrap();
    let lines: Vec<&str> = rows.lines().collect();
    assert!(lines[0].starts_with("run,seed,batch,step,objective,train_auroc,"), "{}", lines[0]);
    assert_eq!((lines.len(), rows.matches("use --set sampling=stratified").count()), (7, 3));
    let map = fs::read_to_string(folder.path("map.svg")).unwrap();
    assert!(map.contains(">64<") && map.contains(">–<") && map.ends_with("</svg>\n"), "{map}");

    let output =
        run(&folder.0, &["train", "data.csv", "--split", "0.7", "--steps", "40", "--seeds", "5", "--plot", "band.svg"]);
    let text = stdout(&output);
    assert!(text.contains("\ntest   AP ") && text.contains("every seed has rows of its own"), "{text}");
    let band = fs::read_to_string(folder.path("band.svg")).unwrap();
    assert!(band.contains("<polygon") && band.contains("test: median"), "{band}");
}

/// What `train` warns of stands beside the run; one that collapsed is no result.
#[test]
fn a_collapsed_run_is_neither_counted_nor_chosen() {
    let folder = Folder::new("runs-collapsed");
    folder.write("data.csv", csv(200));
    let args = ["train", "data.csv", "--split", "0.7", "--steps", "40", "--set", "pretrain=0"];
    let many = |method: &str, rates: &str, more: &[&str]| {
        let all = [&args[..], &["--method", method, "--grid", rates], more].concat();
        stdout(&run(&folder.0, &all))
    };
    let all = objects(&many("auc-margin", "lr=30|.1", &["--json", "--csv", "rows.csv"]));
    let (totals, rows) = all.split_last().unwrap();
    assert_eq!((&rows[0]["collapsed"], &totals["collapsed"], &totals["failed"]), (&true.into(), &1.into(), &0.into()));
    assert!(rows[0]["warning"].as_str().unwrap().contains("sigmoid link is flat") && rows[1]["warning"].is_null());
    assert_eq!((&totals["best"]["run"], &totals["mean"]["test"]["auroc"]), (&2.into(), &rows[1]["test"]["auroc"]));
    let text = fs::read_to_string(folder.path("rows.csv")).unwrap();
    let cells = |line: usize| text.lines().nth(line).unwrap().matches("sigmoid link is flat").count();
    assert!(text.lines().next().unwrap().ends_with(",warning,error") && (cells(1), cells(2)) == (1, 0), "{text}");
    // Another warning is said, and the run counts.
    let text = many("soap", "lr=.1|1e4", &[]);
    assert!(text.contains(" ! warning\n") && text.contains("1 run with a warning; seed 1, lr=1e4: "), "{text}");
}

#[test]
fn nonsense_is_one_line_and_writes_nothing() {
    let folder = Folder::new("runs-refused");
    folder.write("data.csv", csv(100));
    stdout(&run(&folder.0, &["train", "data.csv", "--steps", "5", "--save", "run.uc"]));
    let before = folder.names();
    for (args, part) in [
        (&["--seeds", "0"][..], "--seeds 0: expected at least 1"),
        (&["--seeds", "-3"], "--seeds"),
        (&["--seeds", "1025"], "--seeds: more than 1024 runs"),
        (&["--grid", "lr=.1:1:40", "--seeds", "40"], "more than 1024 runs"),
        (&["--seeds", "18446744073709551615"], "more than 1024 runs"),
        (&["--seeds", "2", "--seed", "18446744073709551615"], "--seeds: the last seed"),
        (&["--grid", "lrr=.1|.2"], "method soap has no parameter \"lrr\"; did you mean lr?"),
        (&["--grid", "margin=.3:1:4"], "margin has no effect with"),
        (&["--grid", "lr=-1|.2"], "lr"),
        (&["--grid", "lr=.1|.2", "--set", "lr=.3"], "--set lr: is varied by --grid"),
        (&["--grid", "lr=2:1:3"], "expected LO < HI"),
        (&["--grid", "batch=2:4:5"], "batch is a whole number"),
        (&["--seeds", "2", "--resume", "run.uc"], "--resume: cannot be used with --seeds: a saved run is one"),
        (&["--seeds", "2", "--seconds", "1"], "--seconds: cannot be used with --seeds"),
        (&["--seeds", "2", "--every", "5"], "--every: cannot be used with --seeds: runs are measured at their end"),
        (&["--seeds", "2", "--group", "colour"], "--group: cannot be used with --seeds"),
        (&["--csv", "rows.csv"], "--csv: is of many runs"),
        (&["--plot", "rows.svg"], "--plot: is of many runs"),
        (&["--seeds", "2", "--csv", "data.csv"], "data.csv: is read by this command"),
        (&["--seeds", "2", "--plot", "rows.png"], "expected a name with .svg"),
        (&["--seeds", "2", "--csv", "a.svg", "--plot", "a.svg"], "a.svg: is written twice"),
        (&["--grid", "lr=1|2,gamma=.5|.6,batch=8|16", "--plot", "a.svg"], "one or two parameters"),
    ] {
        let output = run(&folder.0, &[&["train", "data.csv", "--method", "soap"], args].concat());
        let said = error(&output);
        assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{args:?}: {said}");
        assert!(said.contains(part), "{args:?}: {said}");
        assert_eq!(folder.names(), before, "{args:?}");
    }
}

/// Ctrl-C leaves the rows of the runs that have ended, and says so.
#[cfg(unix)]
#[test]
fn ctrl_c_keeps_the_rows_there_are() {
    use std::io::{BufRead as _, BufReader, Read as _};
    use std::process::{Command, Stdio};
    let folder = Folder::new("runs-stop");
    folder.write("data.csv", csv(400));
    let args = ["train", "data.csv", "--split", "0.7", "--steps", "3000", "--seeds", "1000", "--threads", "2"];
    let more = ["--json", "--csv", "rows.csv", "--save", "best.uc"];
    let mut child = undercurve().current_dir(&folder.0).args(args).args(more).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    for _ in 0..3 {
        lines.read_line(&mut text).unwrap();
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    lines.read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{text}");
    let rows = objects(&text);
    let (totals, rows) = rows.split_last().unwrap();
    assert!(rows.len() >= 3 && rows.len() < 1000, "{totals}");
    assert_eq!((&totals["interrupted"], totals["ended"].as_u64()), (&true.into(), Some(rows.len() as u64)));
    assert_eq!(fs::read_to_string(folder.path("rows.csv")).unwrap().lines().count(), rows.len() + 1);
    assert_eq!(folder.names(), ["best.uc", "data.csv", "rows.csv"]);
}

/// What `sorr` leaves out of numbers is named by the rows of the file, also of a part of them.
#[test]
fn outliers_are_rows_of_the_file() {
    let folder = Folder::new("outliers");
    let wrong = |row: usize| row % 5 == 3;
    let y =
        |row: usize| 3.0 * (row as f64).sin() + if wrong(row) { 40.0 + row as f64 } else { 0.01 * (row % 3) as f64 };
    let lines: Vec<String> = (1..=60).map(|row| format!("{},{}", (row as f64).sin(), y(row))).collect();
    folder.write("d.csv", format!("x,y\n{}\n", lines.join("\n")));
    let args = ["train", "d.csv", "--label", "y", "--target", "values", "--method", "sorr"];
    let more = ["--set", "from=0.1", "--set", "loss=absolute", "--split", "0.9"];
    let text = stdout(&run(&folder.0, &[&args[..], &more, &["--json"]].concat()));
    let told: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let rows: Vec<usize> = serde_json::from_value(told["outliers"].clone()).unwrap();
    assert_eq!(rows.len(), 5, "a tenth of 54 rows, whole");
    assert!(rows.iter().all(|&row| wrong(row)) && rows.is_sorted_by(|a, b| y(*a) > y(*b)), "{rows:?}");
    let text = stdout(&run(&folder.0, &[&args[..], &more].concat()));
    let listed: Vec<String> = rows.iter().map(ToString::to_string).collect();
    let line = format!("Left out as outliers: 5 of 54 training rows, the worst first: {}\n", listed.join(", "));
    assert!(text.contains(&line), "{text}");
}
