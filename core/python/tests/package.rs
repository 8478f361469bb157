//! The tests of the Python package, by pytest, on the module that was built with this program.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};
use undercurve_tests::skipped;

/// The package as an interpreter finds it: its files, and the module beside them.
fn package() -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
    let _ = fs::remove_dir_all(&place);
    let to = place.join("undercurve");
    fs::create_dir_all(&to).unwrap();
    for file in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/undercurve")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|end| ["py", "pyi", "typed"].iter().any(|known| end == *known)) {
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
    let built = env::current_exe().unwrap();
    let (from, name) = match env::consts::OS {
        "windows" => ("undercurve_python.dll", "_core.pyd"),
        "macos" => ("libundercurve_python.dylib", "_core.abi3.so"),
        _ => ("libundercurve_python.so", "_core.abi3.so"),
    };
    fs::copy(built.with_file_name(from), to.join(name)).unwrap();
    place
}

#[test]
fn python_tests() {
    let Some(python) = env::var_os("UNDERCURVE_PYTHON") else {
        return skipped("UNDERCURVE_PYTHON names no Python with scikit-learn and pytest");
    };
    let place = package();
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
