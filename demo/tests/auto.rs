//! `auto`: its figures are those of the files that it writes, its claim is that of the folds, and its card is whole by itself.

mod common;

use common::{Folder, Numbers, run, stdout};
use serde_json::Value;
use std::fmt::Write as _;

/// The AUROC of (label, score), by all pairs.
fn auroc(rows: &[(u8, f64)]) -> f64 {
    let of = |label: u8| rows.iter().filter(move |row| row.0 == label).map(|row| row.1);
    let (mut won, mut all) = (0.0, 0.0);
    for positive in of(1) {
        for negative in of(0) {
            won += if positive > negative { 1.0 } else { f64::from(u8::from(positive == negative)) / 2.0 };
            all += 1.0;
        }
    }
    won / all
}

fn rows() -> String {
    let mut numbers = Numbers(7);
    let mut text = String::from("signal,noise,weak,<b>kind</b>,y\n");
    for _ in 0..700 {
        let (signal, noise, weak) = (numbers.next(), numbers.next(), numbers.next());
        let y = signal + 0.3 * weak + 0.5 * numbers.next() > 1.25;
        let kind = ["red", "blue & \"green\""][usize::from(numbers.next() > 0.5)];
        let kind = kind.replace('"', "\"\"");
        let _ = writeln!(text, "{signal},{noise},{weak},\"{kind}\",{}", usize::from(y));
    }
    text
}

#[test]
fn figures_are_of_the_rows_set_aside() {
    let folder = Folder::new("auto");
    let at = folder.0.as_path();
    folder.write("d.csv", rows());
    let auto = [
        "auto",
        "d.csv",
        "--label",
        "y",
        "--folds",
        "3",
        "--methods",
        "ap-exact",
        "--threshold",
        "fpr<=0.05",
        "--threads",
        "1",
    ];
    let told: Value = serde_json::from_str(&stdout(&run(at, &[&auto[..], &["--json"]].concat()))).unwrap();
    let text = std::fs::read_to_string(at.join("d.auto/scores.csv")).unwrap();
    let scored: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert_eq!(scored.len(), 700);
    let part = |name: &str| -> Vec<(u8, f64)> {
        let some = scored.iter().filter(|row| row[1] == name);
        some.map(|row| (row[2].parse().unwrap(), row[3].parse().unwrap())).collect()
    };
    let aside = part("aside");
    assert!((170..=180).contains(&aside.len()), "a quarter: {}", aside.len());
    let figure = |name: &str| told["figures"][name]["value"].as_f64().unwrap();
    assert!((auroc(&aside) - figure("auroc")).abs() < 1e-12, "{told}");
    // Parts have each class in its share.
    let positives = |rows: &[(u8, f64)]| rows.iter().filter(|row| row.0 == 1).count() as f64 / rows.len() as f64;
    assert!((positives(&aside) - positives(&part("fold 2"))).abs() < 0.02);

    // The model is the one that the figures are of: it gives the rows set aside the same scores, and reaches the same recall.
    let threshold = told["threshold"].as_f64().unwrap();
    let own = stdout(&run(at, &["predict", "d.auto/model.uc", "d.csv"]));
    assert!(own.starts_with("score,"), "{own}");
    let same = scored.iter().zip(own.lines().skip(1)).filter(|(row, _)| row[1] == "aside");
    assert_eq!(same.filter(|(row, own)| row[3] == own.split(',').next().unwrap()).count(), aside.len());
    let above = aside.iter().filter(|row| row.0 == 1 && row.1 >= threshold).count() as f64;
    assert!((above / aside.iter().filter(|row| row.0 == 1).count() as f64 - figure("recall")).abs() < 1e-12);
    // The threshold keeps its rule on the folds, and none that does finds more.
    let folds: Vec<(u8, f64)> = (1..=3).flat_map(|k| part(&format!("fold {k}"))).collect();
    let fpr = |at: f64| {
        let negatives: Vec<f64> = folds.iter().filter(|row| row.0 == 0).map(|row| row.1).collect();
        negatives.iter().filter(|&&score| score >= at).count() as f64 / negatives.len() as f64
    };
    let lower = folds.iter().filter(|row| row.0 == 1 && row.1 < threshold).map(|row| row.1).fold(f64::MIN, f64::max);
    assert!(fpr(threshold) <= 0.05 && fpr(lower) > 0.05, "{threshold}");
    let ends = &told["threshold_interval"];
    assert!(ends[0].as_f64() <= Some(threshold) && Some(threshold) <= ends[1].as_f64(), "{told}");

    // What the label is made of comes first, what is noise loses nothing.
    let importance = |name: &str| {
        let all = told["importances"].as_array().unwrap();
        all.iter().find(|one| one["column"] == name).unwrap()["loss"].as_f64().unwrap()
    };
    assert_eq!(told["importances"][0]["column"], "signal");
    assert!(importance("signal") > 0.2 && importance("noise").abs() < 0.03, "{told}");

    // Cross-entropy unless the interval is above 0.
    let ahead = told["compared"].as_array().unwrap().iter().any(|row| row["interval"][0].as_f64() > Some(0.0));
    assert_eq!(told["beyond_noise"], ahead);
    assert_eq!(told["shipped"] != "ce", ahead);
    let verdict = told["verdict"].as_str().unwrap();
    assert!(ahead || verdict.starts_with("ce is taken: "), "{verdict}");

    let card = std::fs::read_to_string(at.join("d.auto/card.html")).unwrap();
    for foreign in ["<script", "http:", "https:", "src=", "href=", "@import", "url("] {
        assert!(!card.contains(foreign), "{foreign}");
    }
    assert!(!card.contains("<b>kind</b>") && card.contains("&lt;b&gt;kind&lt;/b&gt;"), "names are text");
    assert!(card.contains(verdict) && card.contains("What it does not know"), "{card}");
    assert!(card.contains(&format!("{:.4}", figure("auroc"))), "{card}");

    // The same again, to the bit, whatever the threads.
    let before: Vec<Vec<u8>> =
        ["model.uc", "scores.csv", "card.html"].map(|name| std::fs::read(at.join("d.auto").join(name)).unwrap()).into();
    let again = [&auto[..auto.len() - 1], &["2", "--out", "other"]].concat();
    assert!(run(at, &again).status.success());
    let after: Vec<Vec<u8>> =
        ["model.uc", "scores.csv", "card.html"].map(|name| std::fs::read(at.join("other").join(name)).unwrap()).into();
    assert!(before == after, "threads change nothing");
}

#[test]
fn rows_set_aside_teach_nothing() {
    // Noise that a model can learn by heart: 240 rows, 120 columns, labels by chance.
    let folder = Folder::new("auto-noise");
    let mut numbers = Numbers(11);
    let names: Vec<String> = (0..120).map(|k| format!("c{k}")).collect();
    let mut text = format!("{},y\n", names.join(","));
    for _ in 0..240 {
        let cells: Vec<String> = (0..120).map(|_| numbers.next().to_string()).collect();
        let _ = writeln!(text, "{},{}", cells.join(","), u8::from(numbers.next() > 0.5));
    }
    folder.write("d.csv", text);
    let auto = ["auto", "d.csv", "--label", "y", "--metric", "auroc", "--methods", "ce", "--json"];
    let told: Value = serde_json::from_str(&stdout(&run(&folder.0, &auto))).unwrap();
    let figure = told["figures"]["auroc"]["value"].as_f64().unwrap();
    let folds = told["compared"][0]["mean"].as_f64().unwrap();
    assert!((figure - 0.5).abs() < 0.25 && (folds - 0.5).abs() < 0.15, "{figure} {folds}");
    // No threshold that nobody asked for.
    assert_eq!((&told["threshold"], &told["figures"]["recall"]), (&Value::Null, &Value::Null));
    // What it has seen it knows.
    let eval = stdout(&run(&folder.0, &["eval", "d.auto/model.uc", "d.csv", "--metric", "auroc", "--json"]));
    let all: Value = serde_json::from_str(&eval).unwrap();
    assert!(all["auroc"].as_f64().unwrap() > 0.8, "{all}");
}

#[test]
fn the_last_rows_are_set_aside() {
    let folder = Folder::new("auto-time");
    let mut numbers = Numbers(3);
    let mut text = String::from("day,x,y\n");
    for k in 0..300 {
        let x = numbers.next();
        let _ = writeln!(text, "2024-{:02}-{:02},{x},{}", 1 + k / 28, 1 + k % 28, u8::from(x + numbers.next() > 1.2));
    }
    folder.write("d.csv", text);
    let auto = [
        "auto",
        "d.csv",
        "--label",
        "y",
        "--split-by",
        "day",
        "--folds",
        "2",
        "--methods",
        "ce",
        "--threshold",
        "recall>=0.9",
    ];
    stdout(&run(&folder.0, &auto));
    let text = std::fs::read_to_string(folder.path("d.auto/scores.csv")).unwrap();
    let aside: Vec<usize> =
        text.lines().skip(1).enumerate().filter(|row| row.1.contains("aside")).map(|row| row.0).collect();
    assert_eq!(aside, (225..300).collect::<Vec<_>>());
}

#[test]
fn what_it_does_not_do_it_says() {
    let folder = Folder::new("auto-refuses");
    folder.write("d.csv", "a,w,y\n1,1,0\n2,1,1\n3,2,0\n4,1,1\n");
    folder.write("three.csv", "a,y\n1,r\n2,s\n3,t\n4,r\n");
    for (args, part) in [
        (&["auto", "d.csv"][..], "too few rows of a class for 5 folds"),
        (&["auto", "d.csv", "--weight", "w"], "`compare` and `train` take weights"),
        (&["auto", "d.csv", "--folds", "1"], "--folds 1: expected at least 2"),
        (&["auto", "d.csv", "--threshold", "fpr<=0.1@90%"], "a promise is made by `undercurve decide`"),
        (&["auto", "three.csv"], "(--positive)"),
    ] {
        let out = run(&folder.0, args);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.code() == Some(2) && said.contains(part), "{args:?}: {said}");
    }
    assert_eq!(folder.names(), ["d.csv", "three.csv"], "nothing is written");
}
