//! From a raw file to a model, as somebody new to it would go: `look FILE --label NAME`, then what the last line says, with the
//! answers that somebody who knows the file would give. What comes of twenty files is a row each of `tests/results/attempts.md`,
//! which has to be as it comes out; with UNDERCURVE_BLESS=attempts it is written.

mod common;

use common::{Folder, run};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Output;

struct Raw {
    what: &'static str,
    name: &'static str,
    bytes: Vec<u8>,
    /// What its owner knows: options that a message may ask for, and texts of the schema with what stands there after the answer.
    knows: &'static [&'static str],
    answers: &'static [(&'static str, &'static str)],
    /// The column of the label.
    label: &'static str,
}

/// 160 rows whose label depends on `x` from 0 to 2399; `cell` writes it, `label` the label.
fn table(
    d: &str,
    header: bool,
    cell: impl Fn(usize, usize) -> String,
    label: impl Fn(usize, bool) -> String,
) -> String {
    let mut text = if header { format!("x{d}v{d}outcome\n") } else { String::new() };
    for k in 0..160 {
        let x = k * 6151 % 2400;
        let positive = x + k * 37 % 900 > 1500;
        let _ = writeln!(text, "{}{d}{}{d}{}", cell(k, x), k * k % 17, label(k, positive));
    }
    text
}

fn grouped(x: usize, mark: char) -> String {
    if x < 1000 { x.to_string() } else { format!("{}{mark}{:03}", x / 1000, x % 1000) }
}

#[allow(clippy::too_many_lines)]
fn files() -> Vec<Raw> {
    let yes = |_: usize, positive: bool| ["no", "yes"][usize::from(positive)].to_string();
    let plain = |_: usize, x: usize| x.to_string();
    let of = |what, name, text: String| Raw {
        what,
        name,
        bytes: text.into_bytes(),
        knows: &[],
        answers: &[],
        label: "outcome",
    };
    let utf16 =
        |text: String| -> Vec<u8> { format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let day = |k: usize, x: usize| (1 + (k + x / 300) % 28, 1 + x / 300);
    let mut all =
        vec![
            of("plain numbers", "plain.csv", table(",", true, plain, yes)),
            of("decimal commas", "commas.csv", table(";", true, |_, x| format!("{},{}", x / 10, x % 10), yes)),
            of(
                "thousands and decimal commas",
                "office.csv",
                table(";", true, |_, x| format!("{},50", grouped(x, '.')), yes),
            ),
            of(
                "thousands with commas in quotes",
                "quoted.csv",
                table(",", true, |_, x| format!("\"{}\"", grouped(x, ',')), yes),
            ),
            Raw {
                answers: &[("\"x\" = { as = \"number\" }", "\"x\" = { as = \"number\", decimal = \"comma\" }")],
                ..of("points that may part thousands", "points.csv", table(";", true, |_, x| grouped(x, '.'), yes))
            },
            Raw {
                answers: &[("\"x\" = { as = \"date\" }", "\"x\" = { as = \"date\", order = \"month\" }")],
                ..of(
                    "dates that do not tell their order",
                    "dates.csv",
                    table(",", true, |k, x| format!("{:02}/{:02}/2024", 1 + x / 300, 1 + k % 12), yes),
                )
            },
            of(
                "dates with the day first",
                "days.csv",
                table(",", true, |k, x| format!("{:02}/{:02}/2024", day(k, x).0, day(k, x).1), yes),
            ),
            of(
                "times with zones",
                "times.csv",
                table(",", true, |k, x| format!("2024-{:02}-{:02}T08:00:00+02:00", day(k, x).1, day(k, x).0), yes),
            ),
            of("percent", "percent.csv", table(",", true, |_, x| format!("{}.{}%", x / 100, x % 100 / 10), yes)),
            of("currency", "money.csv", table(",", true, |_, x| format!("${x}.25"), yes)),
            of(
                "negatives in brackets",
                "brackets.csv",
                table(",", true, |k, x| if k % 9 == 0 { format!("({x}.0)") } else { format!("{x}.0") }, yes),
            ),
            Raw { bytes: utf16(table("\t", true, plain, yes)), ..of("UTF-16 with tabs", "export.txt", String::new()) },
            Raw {
                bytes: table(";", true, plain, |_, positive| ["non", "oui \u{e9}"][usize::from(positive)].to_string())
                    .chars()
                    .map(|c| c as u8)
                    .collect(),
                knows: &["--encoding", "latin1"],
                ..of("Latin-1", "latin.csv", String::new())
            },
            of("a line that names the delimiter", "sep.csv", format!("sep=;\n{}", table(";", true, plain, yes))),
            of("bars", "bars.txt", table("|", true, plain, yes)),
            of(
                "rows without a label",
                "open.csv",
                table(",", true, plain, |k, positive| if k % 10 == 3 { String::new() } else { yes(k, positive) }),
            ),
            of(
                "missing values",
                "gaps.csv",
                table(
                    ",",
                    true,
                    |k, x| if k % 8 == 0 { ["", "NA", "?", "null"][k / 8 % 4].to_string() } else { x.to_string() },
                    yes,
                ),
            ),
            Raw {
                knows: &["--na", "unknown"],
                ..of(
                    "a word for missing values",
                    "word.csv",
                    table(",", true, |k, x| if k % 20 == 5 { "unknown".into() } else { x.to_string() }, yes),
                )
            },
            Raw {
                label: "-1",
                ..of(
                    "no names of columns",
                    "nameless.csv",
                    table(",", false, plain, |_, positive| u8::from(positive).to_string()),
                )
            },
            Raw {
                knows: &["--positive", "late"],
                ..of(
                    "three labels",
                    "three.csv",
                    table(",", true, plain, |k, positive| {
                        if positive { "late".into() } else { ["early", "on time"][k % 2].to_string() }
                    }),
                )
            },
        ];
    all.sort_by_key(|raw| raw.name == "points.csv");
    all
}

/// The line that says what to type next.
fn next(output: &Output) -> Option<String> {
    let text = String::from_utf8_lossy(&output.stdout).replace("\n  ", " ");
    Some(text.split_once("Next: ")?.1.trim().to_string())
}

/// Words as a shell has them.
fn words(line: &str) -> Vec<String> {
    let (mut all, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => all.push(String::new()),
            c => all.last_mut().unwrap().push(c),
        }
    }
    all
}

/// The commands to a model, and the first question that was asked.
fn go(at: &Path, raw: &Raw) -> (Vec<String>, String) {
    let mut typed = Vec::new();
    let mut asked = String::new();
    let mut command = format!("look {} --label {}", raw.name, raw.label);
    let mut told = false;
    while typed.len() < 6 {
        typed.push(command.clone());
        let all = words(&command);
        let output = run(at, &all.iter().map(String::as_str).collect::<Vec<_>>());
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let said = said.replace("\n  ", " ");
        let is_train = command.starts_with("train ");
        if is_train && output.status.success() {
            return (typed, asked);
        }
        // An option that the text names and whose value the owner knows.
        let option = raw.knows.first().filter(|option| !told && said.contains(**option));
        let question = |mark: &str| said.lines().find(|line| line.contains(mark)).map(|line| line.trim().to_string());
        if let Some(option) = option {
            asked = question(option).unwrap_or_default();
            command = format!("look {} --label {} {} {}", raw.name, raw.label, option, raw.knows[1]);
            told = true;
            continue;
        }
        assert!(output.status.success(), "{}: {said}", raw.what);
        let line = next(&output).unwrap_or_else(|| panic!("{}: {said}", raw.what));
        if let Some((_, rest)) = line.split_once(", then: undercurve ") {
            let file = at.join(format!("{}.schema", raw.name.split('.').next().unwrap()));
            let schema = std::fs::read_to_string(&file).unwrap();
            let answer = |schema: String, (from, to): &(&str, &str)| {
                assert!(schema.contains(from), "{}: {schema}", raw.what);
                schema.replace(from, to)
            };
            asked = question("doubtful: ").unwrap_or_default();
            std::fs::write(&file, raw.answers.iter().fold(schema, answer)).unwrap();
            command = rest.to_string();
        } else {
            command = line.strip_prefix("undercurve ").unwrap_or(&line).to_string();
        }
    }
    panic!("{}: no model after {typed:?}", raw.what)
}

#[test]
fn twenty_raw_files_become_models() {
    let folder = Folder::new("attempts");
    let mut table = String::from(
        "# From a raw file to a model\n\n    cargo test -p undercurve-demo --test attempts\n\n\
         Each file has 160 rows. Its owner types `undercurve look FILE --label NAME`, then what the last line says, and answers\n\
         what is asked. Trainings are `train` commands until there is a model; commands are all of them, looking included.\n\n\
         | file | trainings | commands | AUROC | what was asked |\n|---|---|---|---|---|\n",
    );
    let files = files();
    assert_eq!(files.len(), 20);
    for raw in &files {
        folder.write(raw.name, &raw.bytes);
        let (typed, asked) = go(&folder.0, raw);
        let trainings = typed.iter().filter(|command| command.starts_with("train ")).count();
        assert!(trainings <= 2 && typed.len() <= 5, "{}: {typed:?}", raw.what);
        // The column that the label depends on was read as what it is.
        let model = words(typed.last().unwrap()).last().unwrap().clone();
        let extra = if raw.knows.first() == Some(&"--encoding") { raw.knows } else { &[] };
        let eval = run(&folder.0, &[&["eval", &model, raw.name, "--metric", "auroc", "--json"][..], extra].concat());
        let figures: serde_json::Value =
            serde_json::from_slice(&eval.stdout).unwrap_or_else(|_| panic!("{}: {eval:?}", raw.what));
        let auroc = figures["auroc"].as_f64().unwrap();
        assert!(auroc > 0.85, "{}: AUROC {auroc}", raw.what);
        let asked = asked.replace('|', "\\|");
        let _ = writeln!(table, "| {} | {trainings} | {} | {auroc:.2} | {asked} |", raw.what, typed.len());
    }
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/results/attempts.md");
    if std::env::var("UNDERCURVE_BLESS").is_ok_and(|what| what == "attempts") {
        std::fs::write(&place, &table).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&place).unwrap_or_default(), table, "UNDERCURVE_BLESS=attempts writes it");
}
