//! Parts of the documentation that are made from the registry.

use std::fmt::Write as _;
use undercurve::registry::{METHODS, OPTIMIZERS, Source, class_methods};

/// The table paper → method → files → command-line name of ARCHITECTURE.md.
pub fn methods_table() -> String {
    let mut out = String::from("| paper | part | what | name | files |\n|---|---|---|---|---|\n");
    let link = |files: &[&str]| files.iter().map(|f| format!("[{f}]({f})")).collect::<Vec<_>>().join(", ");
    for m in METHODS {
        let (paper, part) = (m.source.paper, m.source.part);
        writeln!(out, "| {paper} | {part} | {} | `--method {}` | {} |", m.title, m.name, link(m.files)).unwrap();
    }
    for m in class_methods() {
        let Source { paper, part } = m.source;
        let files = link(m.files);
        writeln!(out, "| {paper} | {part} | {} | `--method {}`, several classes | {files} |", m.title, m.name).unwrap();
    }
    for o in OPTIMIZERS {
        let (paper, part) = (o.source.paper, o.source.part);
        writeln!(out, "| {paper} | {part} | {} | `--set optimizer={}` | {} |", o.about, o.name, link(&[o.file]))
            .unwrap();
    }
    out
}
