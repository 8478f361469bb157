//! The command lines of the README and of the guide run as they are printed.

#![allow(clippy::disallowed_macros)] // the example of the guide prints

mod common;

use common::{Folder, run, stdout};

const EXAMPLE: &str = include_str!("../../core/src/guide/from_a_file.rs");

mod example {
    include!("../../core/src/guide/from_a_file.rs");

    pub fn run() -> Result<(), Box<dyn std::error::Error>> {
        main()
    }
}
use std::fs;
use std::path::Path;

/// A folder with the samples where the checkout has them.
fn checkout(name: &str) -> Folder {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (folder, samples) = (Folder::new(name), "demo/web/samples");
    fs::create_dir_all(folder.path(samples)).unwrap();
    for entry in fs::read_dir(root.join(samples)).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.path(samples).join(entry.file_name())).unwrap();
    }
    folder
}

/// Runs the lines of a text that begin with the program's name, in their order; how many there are.
fn run_lines(folder: &Folder, text: &str) -> usize {
    // (A search takes a minute as tests are compiled; auto.rs has a smaller one.)
    let short = std::env::var_os("UNDERCURVE_LONG").is_none();
    let commands: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("undercurve ")).collect();
    for command in commands.iter().filter(|command| !(short && command.starts_with("auto "))) {
        // (Quotes are for the shell; none of them holds a blank.)
        let args: Vec<&str> = command.split_whitespace().map(|word| word.trim_matches('"')).collect();
        let text = stdout(&run(&folder.0, &args));
        assert!(!text.trim().is_empty(), "{command} prints nothing");
    }
    commands.len()
}

#[test]
fn the_commands_of_the_readme_run() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md")).unwrap();
    // The Rust example is core/src/guide/from_a_file.rs.
    assert!(readme.contains(&format!("```rust,no_run\n{EXAMPLE}```")));
    let folder = checkout("readme");
    assert_eq!(run_lines(&folder, &readme), 6);
    assert!(folder.path("model.uc").is_file());
}

#[test]
fn the_commands_of_the_guide_run() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src/guide");
    let mut run = 0;
    for entry in fs::read_dir(guide).unwrap() {
        let page = entry.unwrap().path();
        if page.extension().is_some_and(|end| end == "md") {
            let name = page.file_stem().unwrap().to_str().unwrap();
            run += run_lines(&checkout(&format!("guide-{name}")), &fs::read_to_string(&page).unwrap());
        }
    }
    assert!(run > 6, "{run} commands");
}

/// The first rows' scores by the README's ways, which wasm/test/readme.test.mjs compares, too. `UNDERCURVE_BLESS=new` writes the file
/// where there is none.
#[test]
fn the_ways_of_the_readme_give_the_same_bits() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let lines: Vec<Vec<&str>> = readme
        .lines()
        .filter_map(|line| line.strip_prefix("undercurve "))
        .map(|line| line.split_whitespace().collect())
        .collect();
    let [train, predict] = ["train", "predict"].map(|name| lines.iter().find(|line| line[0] == name).unwrap());
    let folder = checkout("ways");
    stdout(&run(&folder.0, train));
    let scores = stdout(&run(&folder.0, predict));
    let kinds = scores.lines().map(|line| line.split(',').take(2).collect::<Vec<_>>().join(","));
    let first: String = kinds.take(201).map(|line| line + "\n").collect();
    let golden = root.join("tests/golden/readme.scores.csv");
    if !golden.exists() && std::env::var("UNDERCURVE_BLESS").is_ok_and(|word| word == "new") {
        fs::write(&golden, &first).unwrap();
    }
    assert_eq!(fs::read_to_string(golden).unwrap(), first);
    // (The other tests of this file name their folders in full.)
    fs::remove_file(folder.path("model.uc")).unwrap();
    std::env::set_current_dir(&folder.0).unwrap();
    example::run().unwrap();
    let by_library = stdout(&run(&folder.0, predict));
    assert_eq!(by_library, scores);
}
