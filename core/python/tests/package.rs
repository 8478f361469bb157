//! The tests of the Python package, by pytest, on the module that was built with this program.

use std::env;
use std::process::Command;
use undercurve_tests::{python_package, skipped};

#[test]
fn python_tests() {
    let Some(python) = env::var_os("UNDERCURVE_PYTHON") else {
        return skipped("UNDERCURVE_PYTHON names no Python with scikit-learn and pytest");
    };
    let place = python_package(env!("CARGO_TARGET_TMPDIR")).expect("the module beside this program");
    // (Python looks for modules where it is started, too.)
    let mut command = Command::new(python);
    // The command line is there where the whole workspace was built.
    let ours = env::current_exe()
        .unwrap()
        .ancestors()
        .nth(2)
        .unwrap()
        .join("undercurve")
        .with_extension(env::consts::EXE_EXTENSION);
    if ours.is_file() {
        command.env("UNDERCURVE_COMMAND", ours);
    }
    let done = command
        .current_dir(&place)
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", concat!(env!("CARGO_MANIFEST_DIR"), "/tests")])
        .env("PYTHONPATH", &place)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{told}{}", String::from_utf8_lossy(&done.stderr));
    println!("{told}");
    for line in told.lines().filter_map(|line| line.strip_prefix("SKIPPED ")) {
        skipped(line.rsplit_once(": ").map_or(line, |(_, why)| why));
    }
}
