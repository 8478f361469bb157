//! Runs that are killed at a random moment and resumed end with the bytes of a run that was not.
//!
//! A few kills; a hundred with UNDERCURVE_LONG=1.

#![allow(clippy::disallowed_macros)] // what a test prints is its own

mod common;

use common::{Folder, Numbers, csv, run, stdout, undercurve};
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn killed_runs_resume_to_the_same_bytes() {
    let method = ["--method", "soap", "--steps", "6000", "--save-every", "250"];
    kill_and_resume("kills", &method, csv(300));
}

#[test]
fn killed_finite_sums_resume_to_the_same_bytes() {
    let method = ["--method", "ai-sarah", "--passes", "120", "--save-every", "100"];
    kill_and_resume("kills-sum", &method, csv(3000));
}

/// Runs the method once, then kills it at random moments and resumes it.
fn kill_and_resume(name: &str, method: &[&str], data: String) {
    let wanted = if std::env::var_os("UNDERCURVE_LONG").is_some_and(|value| value == "1") { 100 } else { 4 };
    let folder = Folder::new(name);
    folder.write("data.csv", data);
    let args = [&["train", "data.csv", "--split", "0.7"], method].concat();
    let clock = Instant::now();
    stdout(&run(&folder.0, &[&args[..], &["--save", "whole.model"]].concat()));
    // How long to wait at most; less where runs turn out to be faster than this one was.
    let mut span = clock.elapsed().as_secs_f64();
    let whole = fs::read(folder.path("whole.model")).unwrap();

    let seed = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    println!("moments from seed {seed}");
    let mut numbers = Numbers(seed);
    let (mut killed, mut resumed) = (0, 0);
    for attempt in 0..50 * wanted {
        if killed == wanted {
            break;
        }
        let file = folder.path("run.model");
        let _ = fs::remove_file(&file);
        let save = [&args[..], &["--save", "run.model"]].concat();
        let mut child = undercurve()
            .current_dir(&folder.0)
            .args(&save)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Every other one is let live until it has saved.
        let since = Instant::now();
        while attempt % 2 == 1 && !file.exists() && since.elapsed() < Duration::from_secs(120) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_secs_f64(span * numbers.next()));
        child.kill().unwrap();
        if child.wait().unwrap().success() {
            span *= 0.8;
            continue;
        }
        killed += 1;
        if file.exists() {
            resumed += 1;
            stdout(&run(&folder.0, &["train", "data.csv", "--resume", "run.model"]));
        } else {
            stdout(&run(&folder.0, &save));
        }
        assert!(fs::read(&file).unwrap() == whole, "kill {killed}, seed {seed}");
    }
    println!("{killed} kills, {resumed} of them resumed from a save");
    assert_eq!(killed, wanted);
    assert!(resumed > 0, "no kill hit a run that had saved");
}

/// Ctrl-C and SIGTERM: the run says so by its exit code, saves where it stands, and goes on from there to the same bytes. A
/// second one ends it at once, and what was saved before is whole.
#[cfg(unix)]
#[test]
fn interrupted_runs_save_and_resume_to_the_same_bytes() {
    let folder = Folder::new("interrupts");
    folder.write("data.csv", csv(300));
    let args = ["train", "data.csv", "--split", "0.7", "--method", "soap", "--steps", "6000", "--save-every", "250"];
    stdout(&run(&folder.0, &[&args[..], &["--save", "whole.model"]].concat()));
    let whole = fs::read(folder.path("whole.model")).unwrap();
    let mut interrupted = 0;
    for (signals, signal, stopped) in [(1, "-INT", 130), (2, "-INT", 130), (1, "-TERM", 143)].repeat(15) {
        if interrupted == 5 {
            break;
        }
        let file = folder.path("run.model");
        let _ = fs::remove_file(&file);
        let save = [&args[..], &["--save", "run.model"]].concat();
        let child = undercurve().current_dir(&folder.0).args(&save).stdout(Stdio::piped()).spawn().unwrap();
        let since = Instant::now();
        while !file.exists() && since.elapsed() < Duration::from_secs(120) {
            std::thread::sleep(Duration::from_millis(1));
        }
        for _ in 0..signals {
            let sent = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
            // It may have come to its end in the meantime.
            let _ = sent.success();
        }
        let output = child.wait_with_output().unwrap();
        match output.status.code() {
            Some(0) => assert!(fs::read(&file).unwrap() == whole, "a run that was not interrupted"),
            Some(code) if code == stopped => {
                interrupted += 1;
                let before = fs::read(&file).unwrap();
                assert!(before.starts_with(b"undercurve"));
                stdout(&run(&folder.0, &["train", "data.csv", "--resume", "run.model"]));
                assert!(fs::read(&file).unwrap() == whole, "resumed after {signals} signals");
            }
            code => panic!("exit code {code:?} after {signals} signals"),
        }
    }
    assert!(interrupted > 0, "every run was faster than the signal");
}

/// Two runs do not write one file: the second says so, and the first goes on to what it would have written alone.
#[test]
fn one_run_at_a_time_writes_a_file() {
    let folder = Folder::new("locks");
    folder.write("data.csv", csv(300));
    let args = ["train", "data.csv", "--method", "soap", "--steps", "1000000", "--save-every", "50", "--save", "m"];
    let mut child = undercurve().current_dir(&folder.0).args(args).stdout(Stdio::null()).spawn().unwrap();
    let since = Instant::now();
    while !folder.path("m").exists() && since.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let second = run(&folder.0, &["train", "data.csv", "--method", "ce", "--steps", "9", "--save", "m"]);
    let other = run(&folder.0, &["train", "data.csv", "--method", "ce", "--steps", "9", "--save", "n"]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(second.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&second.stderr), "error: m: another run is writing it\n");
    assert_eq!(other.status.code(), Some(0));
    // A killed run keeps nobody out.
    stdout(&run(&folder.0, &["train", "data.csv", "--resume", "m", "--seconds", "0.01"]));
    assert!(!folder.names().contains(&".m.lock".to_string()), "{:?}", folder.names());
}
