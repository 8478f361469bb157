//! The command lines of the README run as they are printed.

mod common;

use common::{Folder, run, stdout};
use std::fs;
use std::path::Path;

#[test]
fn the_commands_of_the_readme_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let folder = Folder::new("readme");
    fs::create_dir_all(folder.path("demo/web/samples")).unwrap();
    let sample = "demo/web/samples/page-blocks.csv";
    fs::copy(root.join(sample), folder.path(sample)).unwrap();
    let commands: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix("undercurve ")).collect();
    assert_eq!(commands.len(), 5, "{commands:?}");
    for command in commands {
        let args: Vec<&str> = command.split_whitespace().collect();
        let text = stdout(&run(&folder.0, &args));
        assert!(!text.trim().is_empty(), "{command} prints nothing");
    }
    assert!(folder.path("model.uc").is_file());
}
