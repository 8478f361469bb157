//! Every message of the source that begins with `error:` or `note:`, in a table with its way out, `tests/results/messages.md`.
//! A message that the table lacks fails the test, and so does one that the source has no longer.
//!
//! A case below gets the message from the program, and then does what its way out says: that has to succeed. The table says
//! which messages have a case. UNDERCURVE_BLESS=messages writes it; UNDERCURVE_LONG=1 runs all cases, and not a fifth of them.

#[path = "messages/cases.rs"]
mod cases;
mod common;

use cases::{CASES, Case, MODELS, UNTRIED, files};
use common::{Folder, run};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What text begins a message in the source.
const BEGINNINGS: [&str; 13] = [
    "CliError::input(",
    "CliError::Input(",
    "CliError::Unmet(",
    "CliError::Untold(",
    "Error::Input(",
    "output::note(",
    "watch.note(",
    "notes.push(",
    "refused(",
    "wrong(",
    "none(",
    "write!(",
    "f.write_str(",
];

fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|end| end == "rs") {
            all.push(path);
        }
    }
}

/// The text of a string literal that begins here, with `…` for what is filled in.
fn literal(text: &str) -> Option<String> {
    let mut out = String::new();
    let (mut chars, mut depth) = (text.strip_prefix('"')?.chars().peekable(), 0);
    while let Some(c) = chars.next() {
        match c {
            '"' => return Some(out),
            '\\' => match chars.next()? {
                '\n' => while chars.next_if(|c| c.is_whitespace()).is_some() {},
                'n' => out.push(' '),
                c => out.push(c),
            },
            '{' if chars.next_if_eq(&'{').is_some() => out.push('{'),
            '{' => {
                depth += 1;
                out.push('…');
            }
            '}' if depth > 0 => depth -= 1,
            '}' => {
                chars.next();
                out.push('}');
            }
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    None
}

/// The same of a list of literals and other texts.
fn joined(list: &str) -> String {
    let (mut out, mut rest) = (String::new(), list.trim_start());
    while !rest.is_empty() {
        let text = literal(rest);
        out += text.as_deref().unwrap_or("…");
        rest = &rest[text.map_or(0, |text| text.len() + 2)..];
        rest = rest.split_once(',').map_or("", |(_, rest)| rest.trim_start());
    }
    out
}

/// The messages of a source, by the text behind each beginning: of a `format!` or `match` the literals before the statement ends.
fn messages(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]").next().unwrap();
    let mut found = Vec::new();
    for beginning in BEGINNINGS {
        for (at, _) in source.match_indices(beginning) {
            let rest = &source[at + beginning.len()..];
            let rest = rest.trim_start();
            let rest = rest.strip_prefix("f,").unwrap_or(rest).trim_start();
            let rest =
                rest.strip_prefix("format_args!(").or(rest.strip_prefix("format!(")).unwrap_or(rest).trim_start();
            found.extend(literal(rest));
        }
    }
    let lists = source.match_indices("[metric, ").filter_map(|(at, _)| source[at + 1..].split_once("].concat()"));
    found.extend(lists.map(|(list, _)| joined(list)));
    // (One word is a name or a part of a message.)
    found.retain(|text| text.chars().filter(|c| c.is_alphabetic()).count() > 8 && text.contains(' '));
    found
}

/// Whether a line says this, whatever is filled in.
fn says(line: &str, message: &str) -> bool {
    let mut rest = line;
    message.split('…').filter(|part| !part.is_empty()).all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

fn args(text: &str) -> Vec<String> {
    let (mut all, mut quoted) = (vec![String::new()], false);
    for c in text.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => all.push(String::new()),
            c => all.last_mut().unwrap().push(c),
        }
    }
    all
}

/// Gets the message and takes its way out.
fn check(at: &Path, case: &Case) -> Result<(), String> {
    let go = |text: &str| {
        let words = args(text);
        let output = run(at, &words.iter().map(String::as_str).collect::<Vec<_>>());
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = go(case.bad);
    let is_note = case.bad == case.good || code == Some(0);
    let line = said.lines().find(|line| says(line, case.message));
    if line.is_none() || (!is_note && !matches!(code, Some(2..=4))) {
        return Err(format!("`{}` does not say \"{}\" ({code:?}): {said}", case.bad, case.message));
    }
    let (code, said) = go(case.good);
    let still = said.lines().any(|line| says(line, case.message));
    if code != Some(0) || still {
        return Err(format!("`{}` is no way out of \"{}\" ({code:?}): {said}", case.good, case.message));
    }
    Ok(())
}

#[test]
#[cfg_attr(feature = "parquet", ignore = "the table is that of a build without Parquet")]
fn every_message_is_in_the_table_and_ways_out_lead_out() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    sources(&root.join("src"), &mut paths);
    sources(&root.join("../core/search/src"), &mut paths);
    paths.push(root.join("../core/src/data/error.rs"));
    paths.push(root.join("../core/src/measure/rows.rs"));
    sources(&root.join("../core/src/data/error"), &mut paths);
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for path in &paths {
        let name = path.strip_prefix(root).unwrap().display().to_string().replace("../", "");
        for message in messages(&std::fs::read_to_string(path).unwrap()) {
            all.entry(message).or_insert(name.clone());
        }
    }
    let folder = Folder::new("messages");
    for (name, bytes) in files() {
        folder.write(name, bytes);
    }
    for model in MODELS {
        let made = run(&folder.0, &model.split(' ').collect::<Vec<_>>());
        assert!(made.status.success(), "{model}: {made:?}");
    }
    let long = std::env::var_os("UNDERCURVE_LONG").is_some_and(|value| value == "1");
    let bless = std::env::var("UNDERCURVE_BLESS").is_ok_and(|what| what == "messages");
    let mut wrong = Vec::new();
    for (at, case) in CASES.iter().enumerate() {
        if !all.contains_key(case.message) {
            wrong.push(format!("no message of the source: {:?}", case.message));
        }
        if long || bless || at.is_multiple_of(5) {
            wrong.extend(check(&folder.0, case).err());
        }
    }
    let known: Vec<&str> = UNTRIED.iter().map(|(message, _)| *message).collect();
    wrong.extend(
        known
            .iter()
            .filter(|&&message| !all.contains_key(message))
            .map(|message| format!("no message of the source: {message:?}")),
    );
    let run = all.keys().filter(|message| CASES.iter().any(|case| case.message == *message)).count();
    let mut table = format!(
        "# Messages and their ways out\n\n    cargo test -p undercurve-demo --test messages\n\nEvery message that the source of the command line has, and of the \
         files that it reads: {}, of which {run} are got from the program by the test,\nwhich then takes the way out. `…` is filled in. UNDERCURVE_LONG=1 \
         runs all, else a fifth.\n\n| message | in | way out, as the test takes it |\n|---|---|---|\n",
        all.len()
    );
    let cell = |text: &str| text.replace('|', "\\|");
    for (message, place) in &all {
        let case = CASES.iter().find(|case| case.message == *message);
        let why = || UNTRIED.iter().find(|(untried, _)| untried == message).map(|(_, why)| format!("not tried: {why}"));
        let Some(out) = case.map(|case| format!("`{}` → `{}`", case.bad, case.good)).or_else(why) else {
            wrong.push(format!("neither tried nor is there a reason: {message:?}"));
            continue;
        };
        let _ = writeln!(table, "| {} | {place} | {} |", cell(message), cell(&out));
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), CASES.len(), wrong.join("\n"));
    let place = root.join("../tests/results/messages.md");
    if bless {
        std::fs::write(&place, &table).unwrap();
        return;
    }
    let there = std::fs::read_to_string(&place).unwrap_or_default();
    let differs = table.lines().find(|line| !there.lines().any(|other| other == *line));
    assert!(there == table, "tests/results/messages.md (UNDERCURVE_BLESS=messages writes it): {differs:?}");
}
