//! The command lines of the README and of the guide run as they are printed.

mod common;

use common::{Folder, run, stdout};
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

/// Runs the lines of a text that begin with the program's name, in their order; how many.
fn run_lines(folder: &Folder, text: &str) -> usize {
    let commands: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("undercurve ")).collect();
    for command in &commands {
        let args: Vec<&str> = command.split_whitespace().collect();
        let text = stdout(&run(&folder.0, &args));
        assert!(!text.trim().is_empty(), "{command} prints nothing");
    }
    commands.len()
}

#[test]
fn the_commands_of_the_readme_run() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md")).unwrap();
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
