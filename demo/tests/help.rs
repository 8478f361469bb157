//! Help by task, options from a file, silence, man pages and completions.

mod common;

use common::{Folder, run, stdout};
use std::fmt::Write as _;

fn help(args: &[&str]) -> String {
    stdout(&run(std::path::Path::new("."), args))
}

const COMMANDS: [&str; 13] = [
    "look", "auto", "train", "compare", "frontier", "eval", "decide", "predict", "inspect", "export", "metrics",
    "methods", "prepare",
];

#[test]
fn short_help_is_one_screen() {
    for command in COMMANDS {
        let text = help(&[command, "-h"]);
        let lines = text.lines().count();
        assert!(lines <= 50, "{command}: {lines} lines");
        let long: Vec<&str> =
            text.lines().filter(|line| !line.starts_with("  undercurve ") && line.chars().count() > 104).collect();
        assert!(long.is_empty(), "{command}: {long:?}");
    }
}

#[test]
fn long_help_is_by_task() {
    let text = help(&["train", "--help"]);
    let tasks = ["Data:", "Method:", "Length:", "Decisions:", "Output:", "Many runs:", "Device:"];
    let places: Vec<usize> =
        text.lines().enumerate().filter(|(_, line)| tasks.contains(line)).map(|(at, _)| at).collect();
    assert_eq!(places.len(), tasks.len(), "each task once: {text}");
    let under = |option: &str| {
        let at =
            text.lines().position(|line| line.trim_start().starts_with(option)).unwrap_or_else(|| panic!("{option}"));
        text.lines().take(at).filter(|line| tasks.contains(line)).last().unwrap()
    };
    for (option, task) in [
        ("--method", "Method:"),
        ("--model", "Method:"),
        ("--steps", "Length:"),
        ("--seed <", "Length:"),
        ("--label", "Data:"),
        ("--threshold", "Decisions:"),
        ("--device", "Device:"),
        ("--grid", "Many runs:"),
        ("--out", "Output:"),
    ] {
        assert_eq!(under(option), task, "{option}");
    }
    // No option of any command is under nothing but "Options", -h and -V aside.
    for command in COMMANDS {
        let text = help(&[command, "--help"]);
        let rest = text.split_once("\nOptions:\n").map_or("", |(_, rest)| rest);
        let block = rest.lines().take_while(|line| line.is_empty() || line.starts_with(' '));
        let stray: Vec<&str> = block.filter(|line| line.trim_start().starts_with("--")).collect();
        assert!(stray.is_empty(), "{command}: {stray:?}");
    }
}

#[test]
fn methods_say_when_to_take_them() {
    let text = help(&["methods"]);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("\n  soap "), "{text}");
    let one = help(&["methods", "soap"]);
    assert!(one.contains("Take it when: ") && one.lines().all(|line| line.chars().count() <= 80), "{one}");
}

fn rows() -> String {
    let mut text = String::from("a,b,name,y\n");
    for k in 0..120_usize {
        let _ = writeln!(text, "{},{},n{k},{}", k * k % 23, k % 7, usize::from(k * k % 23 > 12));
    }
    text
}

#[test]
fn options_come_from_a_file() {
    let folder = Folder::new("help-config");
    let at = folder.0.as_path();
    folder.write("d.csv", rows());
    folder.write(
        "c.toml",
        "label = \"y\"\nignore = [\"name\", \"b\"]\n[train]\nmethod = \"ce\"\nsteps = 50\nset = { lr = 0.25 }\njson = true\n[predict]\nthreshold = 1\n",
    );
    let told = |args: &[&str]| {
        let out = run(at, args);
        assert!(out.status.success(), "{out:?}");
        String::from_utf8(out.stdout).unwrap()
    };
    let typed =
        ["train", "d.csv", "--label", "y", "--ignore", "name,b", "--method", "ce", "--set", "lr=0.25", "--json"];
    let time = |text: String| {
        text.lines().map(|line| line.split("\"seconds\"").next().unwrap().to_string()).collect::<Vec<_>>()
    };
    let by_file = time(told(&["train", "d.csv", "--config", "c.toml"]));
    assert_eq!(by_file, time(told(&[&typed[..], &["--steps", "50"]].concat())));
    // What is typed comes before.
    let other = time(told(&["train", "--config=c.toml", "d.csv", "--steps", "20"]));
    assert_eq!(other, time(told(&[&typed[..], &["--steps", "20"]].concat())));
    assert_ne!(by_file, other);
    for (text, part) in [
        ("lable = \"y\"", "c.toml: lable: `undercurve train` has no option --lable; did you mean label?"),
        ("json = \"yes\"", "c.toml: json: expected true or false"),
        ("steps = [", "c.toml:1: "),
        ("steps = 0", "--steps 0: expected at least 1"),
    ] {
        folder.write("c.toml", text);
        let out = run(at, &["train", "d.csv", "--config", "c.toml"]);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.code() == Some(2) && said.contains(part) && said.lines().count() == 1, "{part}: {said}");
    }
    let out = run(at, &["train", "d.csv", "--config", "none.toml"]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("--config none.toml: "), "{out:?}");
}

#[test]
fn quiet_leaves_notes_out_and_nothing_else() {
    let folder = Folder::new("help-quiet");
    folder.write("d.csv", rows());
    let train = ["train", "d.csv", "--label", "y", "--steps", "20", "--method", "ce"];
    let loud = run(&folder.0, &train);
    assert!(String::from_utf8_lossy(&loud.stderr).contains("note: "), "{loud:?}");
    let quiet = run(&folder.0, &[&train[..], &["--quiet"]].concat());
    let said = String::from_utf8_lossy(&quiet.stderr).into_owned();
    assert!(!said.contains("note: ") && quiet.status.success(), "{said}");
    assert_eq!(stdout(&quiet).lines().count(), stdout(&loud).lines().count());
    let wrong = run(&folder.0, &["--quiet", "train", "d.csv", "--label", "z"]);
    assert!(String::from_utf8_lossy(&wrong.stderr).starts_with("error: "), "{wrong:?}");
}

#[test]
fn pages_and_completions_know_every_command() {
    let folder = Folder::new("help-man");
    let told = stdout(&run(&folder.0, &["man", "."]));
    for command in COMMANDS {
        let page = std::fs::read_to_string(folder.path(&format!("undercurve-{command}.1"))).unwrap();
        assert!(page.contains(".TH") && page.contains(".SH DESCRIPTION") && page.contains(command), "{command}");
        let (first, rest) = page.split_once(".SH SYNOPSIS").unwrap();
        assert!(first.contains("undercurve") && rest.len() > 200, "{command}");
    }
    assert!(told.starts_with(".: ") && folder.path("undercurve.1").exists(), "{told}");
    let train = std::fs::read_to_string(folder.path("undercurve-train.1")).unwrap();
    assert!(train.contains("split\\-by"), "options are in the page");
    let away = run(&folder.0, &["man", "nowhere"]);
    assert!(String::from_utf8_lossy(&away.stderr).contains("`mkdir -p nowhere` makes it"), "{away:?}");
    let shell = stdout(&run(&folder.0, &["completions", "bash"]));
    assert!(COMMANDS.iter().all(|command| shell.contains(&format!("undercurve,{command}"))), "{shell}");
}
