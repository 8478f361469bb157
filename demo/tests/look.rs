//! `look`, and the schema that it writes: what it says of a file is true, what it says to type next works, and what was answered
//! holds in `train` and `predict`.

mod common;

use common::{Folder, run, stdout};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Output;

/// Everything that is to be found, in one file: money in decimal commas, dates, codes, an identifier, a column that is known only
/// after the fact, copies, a row without a label.
fn claims(amount: impl Fn(usize) -> String) -> String {
    let mut text = String::from("claim;amount;day;zip;closed;region;fraud\n");
    for k in 0..300_usize {
        let fraud = k * k % 7 == 1;
        let closed = if fraud { format!("{:02}.03.2024", 1 + k % 28) } else { String::new() };
        let (day, region) = (format!("{:02}.{:02}.2024", 1 + k % 28, 1 + k / 28), ["north", "south", "west"][k % 3]);
        let amount = amount(k * 37 % 800 + usize::from(fraud) * 150);
        let label = if k == 13 { "" } else { ["no", "yes"][usize::from(fraud)] };
        let _ = writeln!(text, "C{k}x;{amount};{day};{:05};{closed};{region};{label}", k * 13 % 90);
    }
    // A copy, but for what tells it apart.
    let last = text.lines().last().unwrap().replacen("C299x", "C300x", 1);
    let _ = writeln!(text, "{last}");
    text
}

fn euros(x: usize) -> String {
    format!("{}.{:03},50 €", 1 + x % 3, x)
}

fn error(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8_lossy(&output.stderr).trim().to_string()
}

fn json(folder: &Path, args: &[&str]) -> Value {
    let output = run(folder, args);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_str(stdout(&output).trim()).unwrap()
}

fn column<'a>(object: &'a Value, name: &str) -> &'a Value {
    object["columns"].as_array().unwrap().iter().find(|column| column["name"] == name).unwrap()
}

#[test]
fn a_file_is_told() {
    let folder = Folder::new("look");
    folder.write("claims.csv", claims(euros).as_bytes());
    let told = json(&folder.0, &["look", "claims.csv", "--label", "fraud", "--json"]);
    let positives = (0..301).filter(|&k: &usize| k != 13 && k.min(299).pow(2) % 7 == 1).count();
    assert_eq!(told["rows"], 301);
    assert_eq!(
        [&told["label"]["positive"], &told["label"]["positives"], &told["label"]["rows"], &told["label"]["without"]],
        [&Value::from("yes"), &positives.into(), &300.into(), &1.into()]
    );
    let amount = column(&told, "amount");
    assert_eq!((&amount["as"], &amount["decimal"]), (&"number".into(), &"comma".into()));
    assert_eq!(amount["examples"][0], euros(0), "as it is written");
    assert!(amount["read"].as_str().unwrap().contains("currency"), "{amount}");
    assert_eq!((&column(&told, "day")["as"], &column(&told, "region")["as"]), (&"date".into(), &"category".into()));
    assert!(column(&told, "claim")["left_out"].as_str().unwrap().contains("tells rows apart"), "{told}");
    // What is there for every fraud and for nothing else.
    assert_eq!(told["gives_away"], serde_json::json!(["closed"]));
    assert!(column(&told, "amount")["auroc"].as_f64().unwrap() < 0.9);
    assert_eq!((&told["copies"], &told["contradictions"], &told["split_by"]), (&1.into(), &0.into(), &"day".into()));

    let output = run(&folder.0, &["look", "claims.csv", "--label", "fraud"]);
    let text = stdout(&output);
    let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(long.is_empty() && output.stderr.is_empty(), "{long:?}");
    for part in ["gives the label away?", "copies: 1 of", "days since", "zeros before them", "1 rows have none"] {
        assert!(text.replace("\n  ", " ").contains(part), "{part}: {text}");
    }
    // The last line is the next command.
    let next = told["next"].as_str().unwrap().to_string();
    assert!(text.replace("\n  ", " ").trim_end().ends_with(&format!("Next: {next}")), "{text}");
    assert!(next.contains("--ignore closed") && next.contains("--split-by day"), "{next}");
    let words: Vec<&str> = next.split(' ').skip(1).collect();
    let trained = run(&folder.0, &words);
    assert!(trained.status.success(), "{next}: {trained:?}");
    assert!(folder.path("claims.model").exists());
}

#[test]
fn rows_that_belong_together_are_kept_so() {
    let folder = Folder::new("look-split");
    let mut text = String::from("day,customer,town,x,y\n");
    for k in 0..400_usize {
        let _ = writeln!(text, "{},c{},{},{},{}", k / 8, k * k % 97, k % 3, k * 7 % 11, usize::from(k * k % 5 == 1));
    }
    folder.write("d.csv", &text);
    let told = |file: &str| json(&folder.0, &["look", file, "--label", "y", "--json"]);
    let [sorted, units] = [&told("d.csv")["split_by"], &told("d.csv")["split_group"]].map(Clone::clone);
    assert_eq!((sorted, units), ("day".into(), "customer".into()));
    // Rows in no order have none to test the last of; nor where the last have one class.
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1..].reverse();
    folder.write("reversed.csv", lines.join("\n"));
    assert_eq!(told("reversed.csv")["split_by"], Value::Null);
    folder.write("one.csv", text.lines().take(320).chain(["50,c1,0,1,0"; 120]).collect::<Vec<_>>().join("\n"));
    assert_eq!(told("one.csv")["split_by"], Value::Null);
}

#[test]
fn without_a_label_it_asks() {
    let folder = Folder::new("look-label");
    folder.write("people.csv", b"age,member,score\n31,yes,4.5\n47,no,3.5\n28,yes,1.5\n52,no,2.5\n");
    let told = json(&folder.0, &["look", "people.csv", "--json"]);
    assert_eq!(told["no_label"]["two_values"], serde_json::json!(["member"]));
    assert_eq!(told["next"], "undercurve look people.csv --label member");
}

/// Amounts that can be read in two ways: no cell tells.
fn points(x: usize) -> String {
    if x < 1000 { x.to_string() } else { format!("{}.{:03}", x / 1000, x % 1000) }
}

fn doubtful(write: impl Fn(usize) -> String) -> String {
    let mut text = String::from("amount;age;y\n");
    for k in 0..400_usize {
        let y = k * 7919 % 100 < 40;
        let x = 400 + k * 6151 % 1300 + usize::from(y) * 400;
        let _ = writeln!(text, "{};{};{}", write(x), 20 + k % 50, usize::from(y));
    }
    text
}

#[test]
fn an_answer_holds() {
    let folder = Folder::new("look-answer");
    folder.write("raw.csv", doubtful(points).as_bytes());
    folder.write("mended.csv", doubtful(|x| x.to_string()).as_bytes());
    // (Of new rows, some that by themselves would be read otherwise.)
    folder.write("new.csv", b"amount;age\n1.243;30\n960;40\n2.500;50\n");
    folder.write("new-mended.csv", b"amount;age\n1243;30\n960;40\n2500;50\n");
    let at = folder.0.as_path();
    let train = ["train", "raw.csv", "--label", "y", "--steps", "200", "--method", "ce"];
    assert!(error(&run(at, &train)).contains("No cell tells"));
    let told = json(at, &["look", "raw.csv", "--label", "y", "--json"]);
    assert_eq!(column(&told, "amount")["read"], "in doubt");
    let next = told["next"].as_str().unwrap().to_string();
    assert_eq!(next, "undercurve look raw.csv --label y --schema raw.schema");

    // The next command writes the questions; the answer is written into them.
    assert!(run(at, &next.split(' ').skip(1).collect::<Vec<_>>()).status.success());
    let schema = std::fs::read_to_string(at.join("raw.schema")).unwrap();
    let line = schema.lines().find(|line| line.starts_with("\"amount\"")).unwrap();
    assert!(line.starts_with("\"amount\" = { as = \"number\" }  # ANSWER: ") && line.contains("1."), "{schema}");
    let with = |schema: &'static str| [&["train", "raw.csv", "--schema", schema][..], &train[4..]].concat();
    assert!(error(&run(at, &with("raw.schema"))).contains("No cell tells"), "not answered yet");
    folder.write(
        "raw.schema",
        schema.replace("as = \"number\" }  # ANSWER", "as = \"number\", decimal = \"comma\" }  #").as_bytes(),
    );
    let told = json(at, &["look", "raw.csv", "--schema", "raw.schema", "--json"]);
    assert!(column(&told, "amount")["read"].as_str().unwrap().starts_with("numbers"), "{told}");
    assert!(std::fs::read_to_string(at.join("raw.schema")).unwrap().contains("comma"), "what is there is not replaced");

    // To the bit what the mended file gives; and predict holds it without being told.
    let out = |args: &[&str], file: &str| assert!(run(at, &[args, &["--out", file]].concat()).status.success());
    out(&with("raw.schema"), "raw.model");
    out(&["train", "mended.csv", "--label", "y", "--steps", "200", "--method", "ce"], "mended.model");
    let scores = |model: &str, file: &str| stdout(&run(at, &["predict", model, file]));
    assert_eq!(scores("raw.model", "new.csv"), scores("mended.model", "new-mended.csv"));
    assert_eq!(scores("raw.model", "new.csv").lines().count(), 4);
    // (One that was trained on plain numbers asks.)
    assert!(error(&run(at, &["predict", "mended.model", "new.csv"])).contains("No cell tells"));
}

#[test]
fn a_schema_refuses_other_data() {
    let folder = Folder::new("look-refuses");
    let at = folder.0.as_path();
    let write = |text: &str| folder.write("s.schema", text.as_bytes());
    folder.write("d.csv", b"a,day,b,y\n1,2024-01-05,u,0\n2,2024-02-05,v,1\nsoon,2024-03-05,u,0\n3,2024-04-05,v,1\n");
    let refused = |options: &[&str]| error(&run(at, &[&["train", "d.csv", "--steps", "5"], options].concat()));
    let schema = ["--schema", "s.schema"];
    let absent = refused(&schema);
    assert!(absent.contains("`undercurve look d.csv --schema s.schema` writes it"), "{absent}");
    for (text, part) in [
        (
            "label = \"y\"\n[columns]\na = { as = \"number\" }\n",
            "d.csv:4: \"soon\" in column \"a\", which s.schema has as numbers",
        ),
        (
            "label = \"y\"\nna = [\"soon\"]\n[columns]\nday = { as = \"number\" }\n",
            "dates in column \"day\", which s.schema has as numbers",
        ),
        ("label = \"y\"\n[columns]\nb = { as = \"date\" }\n", "\"u\" in column \"b\", which s.schema has as dates"),
        (
            "label = \"y\"\n[columns]\ndays = { as = \"date\" }\n",
            "has no column \"days\", which s.schema names; is it \"day\" now?",
        ),
        (
            "label = \"y\"\n[columns]\na = { as = \"numbers\" }\n",
            "column \"a\": as = \"numbers\": expected number, date, category, ignore; did you mean number?",
        ),
        ("label = \"y\"\nlable = 1\n", "line 2: unknown field `lable`"),
        ("label = \"y\n", "line 1: "),
    ] {
        write(text);
        let said = refused(&schema);
        assert!(said.contains(part) && said.lines().count() == 1, "{part}: {said}");
    }
    // With the answers that these messages name it trains; options come before what the file says.
    write(
        "label = \"a\"\nna = [\"soon\"]\npositive = 1\n[columns]\na = { as = \"number\" }\nday = { as = \"ignore\" }\nb = { as = \"category\" }\n",
    );
    let prepared = run(at, &["prepare", "d.csv", "--schema", "s.schema", "--label", "y", "--train", "t.csv"]);
    assert!(prepared.status.success(), "{prepared:?}");
    let head = std::fs::read_to_string(at.join("t.csv")).unwrap();
    assert_eq!(head.lines().next(), Some("label,\"a\",\"a=(missing)\",\"b=u\",\"b=v\""));
}

#[test]
fn a_column_that_counts_rows_can_be_wanted() {
    let folder = Folder::new("look-counter");
    let text: String = (0..80).map(|k| format!("{k},{},{}\n", k * 7 % 11, k % 2)).collect();
    folder.write("d.csv", format!("row,v,label\n{text}").as_bytes());
    folder.write("s.schema", b"[columns]\nrow = { as = \"number\" }\n");
    let head = |options: &[&str]| {
        let all = [&["prepare", "d.csv", "--train", "t.csv"], options].concat();
        assert!(run(&folder.0, &all).status.success());
        std::fs::read_to_string(folder.path("t.csv")).unwrap().lines().next().unwrap().to_string()
    };
    assert_eq!(head(&[]), "label,\"v\"");
    assert_eq!(head(&["--schema", "s.schema"]), "label,\"row\",\"v\"");
}

/// What cells alone show, and the option that answers.
#[test]
fn what_cells_show_is_asked() {
    let folder = Folder::new("look-cells");
    let mut text = String::from("amount,version,y\n");
    for k in 0..60_usize {
        let _ = writeln!(text, "{}.{:03},{}.{},{}", k % 40 + 1, k * 37 % 1000, k % 3, k % 12 + 1, k * k % 2);
    }
    folder.write("d.csv", &text);
    let notes = |more: &[&str]| {
        let told = json(&folder.0, &[&["look", "d.csv", "--label", "y", "--json"], more].concat());
        told["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap().to_string()).collect::<Vec<_>>()
    };
    let found = notes(&[]).concat();
    for part in [
        "points before three digits, as 1.000, in column \"amount\"",
        "numbers, as 0.10 and 0.1, in column \"version\"",
    ] {
        assert!(found.contains(part), "{found}");
    }
    assert_eq!(notes(&["--decimal", "point", "--categorical", "version"]), Vec::<String>::new());
    assert!(notes(&["--decimal", "comma", "--categorical", "version"]).concat().contains("marks between thousands"));
}
