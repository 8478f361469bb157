//! Sixty files of offices in twelve countries, and what comes of each: it is read as it is meant, or training stops with a
//! question (or says with a note what it took), and the option that is named there reads it as it is meant. A file that is read
//! otherwise, and nothing is said, fails the test.
//!
//! The table is the last part of `tests/results/files.md`, and has to be as it comes out; UNDERCURVE_BLESS=office writes it.
//! UNDERCURVE_LONG=1 takes every file, and trains on each; else a quarter is read, and a twelfth trained on.

mod common;
#[path = "office/files.rs"]
mod files;

use common::{Folder, run};
use files::{File, countries};
use std::fmt::Write as _;
use std::path::Path;

/// What came of a file.
struct Done {
    options: Vec<String>,
    /// What was asked, and what was told in a note that names a remedy.
    asked: Vec<String>,
    told: Vec<String>,
}

fn prepare(at: &Path, name: &str, options: &[String]) -> (bool, String, Vec<u8>) {
    let mut args = vec!["prepare", name, "--train", "out", "--label", "outcome", "--scale", "none"];
    args.extend(options.iter().map(String::as_str));
    let output = run(at, &args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let made = std::fs::read(at.join("out")).unwrap_or_default();
    let _ = std::fs::remove_file(at.join("out"));
    (output.status.success(), said, made)
}

/// Reads a file as its owner would: answers what is asked, and what is told.
fn go(at: &Path, file: &File) -> Result<Done, String> {
    let intent: Vec<String> = file.intent.iter().map(ToString::to_string).collect();
    let (fine, said, meant) = prepare(at, "plain.csv", &intent);
    assert!(fine, "{}: {said}", file.name);
    let mut done = Done { options: Vec::new(), asked: Vec::new(), told: Vec::new() };
    for _ in 0..8 {
        let (fine, said, made) = prepare(at, &file.name, &done.options);
        if fine && made == meant {
            return Ok(done);
        }
        // The first line that names an option whose value the owner knows.
        let new = |knows: &&[&str; 2]| !done.options.chunks(2).any(|pair| pair == *knows);
        let answer = said.lines().filter(|line| fine || line.starts_with("error: ")).find_map(|line| {
            let names = |[option, value]: &&[&str; 2]| {
                let column = *option == "--categorical";
                line.contains(option) && (!column || line.contains(&format!("{option} {value}")))
            };
            file.knows.iter().filter(new).find(names).map(|knows| (line.to_string(), *knows))
        });
        let Some((line, knows)) = answer else {
            let misread = made.split(|&b| b == b'\n').zip(meant.split(|&b| b == b'\n')).find(|(a, b)| a != b);
            let shown = misread.map(|(a, b)| [a, b].map(|text| String::from_utf8_lossy(text).into_owned()));
            let what = if fine { "READ OTHERWISE" } else { "no way out" };
            return Err(format!("{} {:?}: {what}: {} {shown:?}", file.name, done.options, said.replace('\n', " // ")));
        };
        let line = line.replace(&format!("{}:", file.name), "").replace('|', "\\|");
        let line = line.split_once(": ").map_or(line.as_str(), |(_, text)| text).trim().to_string();
        if fine { &mut done.told } else { &mut done.asked }.push(line);
        done.options.extend(knows.map(String::from));
    }
    Err(format!("{}: no end of questions: {:?}", file.name, done.asked))
}

/// Scores of a model that was trained on a file, as they are printed.
fn scores(at: &Path, name: &str, options: &[String]) -> Result<Vec<u8>, String> {
    let fit = "--label outcome --method ce --steps 60 --out m".split(' ');
    let args: Vec<&str> = ["train", name].into_iter().chain(fit).chain(options.iter().map(String::as_str)).collect();
    // (The model knows how the file was read.)
    for args in [&args[..], &["predict", "m", name]] {
        let output = run(at, args);
        if !output.status.success() {
            return Err(format!("{name}: {}: {}", args[0], String::from_utf8_lossy(&output.stderr)));
        }
        if args[0] == "predict" {
            return Ok(output.stdout);
        }
    }
    Ok(Vec::new())
}

#[test]
fn sixty_files_of_offices_are_read_as_they_are_meant() {
    let folder = Folder::new("office");
    let all: Vec<File> = countries().iter().enumerate().flat_map(|(at, country)| country.files(at)).collect();
    assert_eq!(all.len(), 60);
    let long = std::env::var_os("UNDERCURVE_LONG").is_some_and(|value| value == "1");
    let [mut wrong, mut rows] = [Vec::new(), Vec::new()];
    let mut counts = [0; 3];
    let bless = std::env::var("UNDERCURVE_BLESS").is_ok_and(|what| what == "office");
    let taken = |at: usize| long || bless || at.is_multiple_of(4);
    for (at, file) in all.iter().enumerate().filter(|(at, _)| taken(*at)) {
        folder.write(&file.name, &file.bytes);
        folder.write("plain.csv", &file.plain);
        let done = match go(&folder.0, file) {
            Ok(done) => done,
            Err(text) => {
                wrong.push(text);
                continue;
            }
        };
        if long || at.is_multiple_of(12) {
            let intent: Vec<String> = file.intent.iter().map(ToString::to_string).collect();
            let [own, plain] = [scores(&folder.0, &file.name, &done.options), scores(&folder.0, "plain.csv", &intent)];
            if own.is_err() || own != plain {
                wrong.push(own.err().unwrap_or(format!("{}: other scores than of the plain spelling", file.name)));
            }
        }
        let (how, words) = match (done.asked.is_empty(), done.told.is_empty()) {
            (true, true) => (0, &done.told),
            (true, false) => (1, &done.told),
            (false, _) => (2, &done.asked),
        };
        counts[how] += 1;
        let words = words.iter().chain(done.told.iter().filter(|_| how == 2)).cloned().collect::<Vec<_>>().join("<br>");
        let how = ["read", "read, and told", "asked"][how];
        rows.push(format!("| {} | {} | {how} | `{}` | {words} |", file.country, file.what, done.options.join(" ")));
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n"));
    let mut table = format!(
        "{HEAD}\n\n    cargo test -p undercurve-demo --test office\n\nEach file has {} rows, and beside it are the same rows in plain spelling: \
         points, days since 1970, empty cells. A file is right when `prepare`\nmakes the same features of both, byte for byte. \
         \"Read\": without a word from its owner. \"Read, and told\": a note says what was taken, and the option that it names\nreads the file \
         as its owner means it. \"Asked\": training stops, and the option that is named there does. Then `train` and `predict` give both\nthe same \
         scores, to the last digit.\n\nRead {}, told {}, asked {}, misread in silence 0, of {}.\n\n| country | file | what is done | options | in which words |\n|---|---|---|---|---|\n",
        files::ROWS,
        counts[0],
        counts[1],
        counts[2],
        all.len()
    );
    rows.iter().for_each(|row| _ = writeln!(table, "{}", row.replace("``", "")));
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/results/files.md");
    let whole = std::fs::read_to_string(&place).unwrap_or_default();
    let (before, there) = whole.find(HEAD).map_or((whole.as_str(), ""), |at| whole.split_at(at));
    if bless {
        std::fs::write(&place, format!("{}\n\n{table}", before.trim_end())).unwrap();
        return;
    }
    let differs = table.lines().zip(there.lines()).find(|(a, b)| a != b);
    let same = if long { there == table } else { rows.iter().all(|row| there.contains(&row.replace("``", ""))) };
    assert!(same, "tests/results/files.md (UNDERCURVE_BLESS=office writes it): {differs:?}");
}

/// Where the table begins.
const HEAD: &str = "# Sixty files of offices";
