//! What the program of the page refuses.

use std::process::Command;
use undercurve_tests::folder::Folder;

/// One line each, and nothing is built.
#[test]
fn refusals_are_one_line() {
    let folder = Folder::new("site");
    for (args, code, why) in [
        (
            &["--build-only", "--dev"][..],
            2,
            "error: the argument '--build-only [<FOLDER>]' cannot be used with '--dev'",
        ),
        (&["--port", "many"], 2, "error: invalid value 'many' for '--port <N>'"),
        (&["--build-only"], 1, "error: the page is built from the sources: run this inside a checkout of undercurve"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_site"));
        // (Cargo tells programs that it runs where their sources are.)
        let output = command.args(args).current_dir(&folder.0).env_remove("CARGO_MANIFEST_DIR").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.lines().count() == 1 && said.starts_with(why), "{args:?}: {said}");
    }
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}
