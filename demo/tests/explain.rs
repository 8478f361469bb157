//! `predict --explain` and `inspect A B`.

mod common;

use common::{Folder, csv, run, stdout};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

fn train(at: &Path, options: &[&str], out: &str) {
    let all = [&["train", "d.csv", "--steps", "300", "--precision", "f64", "--out", out][..], options].concat();
    assert!(run(at, &all).status.success());
}

/// The rows of `predict --json`, by name.
fn rows(at: &Path, model: &str) -> Vec<BTreeMap<String, f64>> {
    let text = stdout(&run(at, &["predict", model, "d.csv", "--explain", "--json"]));
    let row = |line: &str| -> BTreeMap<String, f64> {
        let all: BTreeMap<String, Value> = serde_json::from_str(line).unwrap();
        all.into_iter().filter_map(|(name, value)| Some((name, value.as_f64()?))).collect()
    };
    text.lines().map(row).collect()
}

fn sum(row: &BTreeMap<String, f64>) -> f64 {
    row.iter().filter(|(name, _)| name.starts_with("part:")).map(|(_, part)| part).sum()
}

#[test]
fn parts_of_a_linear_score_are_exact() {
    let folder = Folder::new("explain-linear");
    folder.write("d.csv", csv(200));
    train(&folder.0, &["--method", "soap"], "m");
    let inspected: Value = serde_json::from_str(&stdout(&run(&folder.0, &["inspect", "m", "--json"]))).unwrap();
    let column =
        |name: &str| inspected["columns"].as_array().unwrap().iter().find(|c| c["column"] == name).unwrap().clone();
    let number = |column: &Value, name: &str| match name {
        "coefficients" => column[name][0].as_f64().unwrap(),
        _ => column[name].as_f64().unwrap(),
    };
    let cells: Vec<Vec<String>> =
        csv(200).lines().skip(1).map(|line| line.split(',').map(str::to_string).collect()).collect();
    let rows = rows(&folder.0, "m");
    assert_eq!(rows.len(), 200);
    for (row, cells) in rows.iter().zip(&cells) {
        assert!((sum(row) - row["score"]).abs() < 1e-9, "{row:?}");
        let a = column("a");
        let part = number(&a, "coefficients") * (cells[0].parse::<f64>().unwrap() - number(&a, "shift"))
            / number(&a, "divisor");
        assert!((row["part:a"] - part).abs() < 1e-9, "{row:?}");
        let colour = number(&column(&format!("colour={}", cells[2])), "coefficients");
        assert!((row["part:colour"] - colour).abs() < 1e-9, "{row:?}");
        assert!((row["part:(start)"] - number(&column("(constant)"), "coefficients")).abs() < 1e-9);
    }
    // The same in CSV, behind what is there without.
    let [plain, told] = [&["predict", "m", "d.csv"][..], &["predict", "m", "d.csv", "--explain"]]
        .map(|args| stdout(&run(&folder.0, args)));
    assert!(plain.lines().zip(told.lines()).all(|(plain, told)| told.starts_with(&format!("{plain},"))));
    assert!(told.lines().next().unwrap().ends_with("part:(start),part:a,part:b,part:colour"), "{told}");
}

#[test]
fn parts_of_a_network_come_to_its_score() {
    let folder = Folder::new("explain-network");
    folder.write("d.csv", csv(200));
    train(&folder.0, &["--method", "ce", "--model", "mlp:8", "--init", "random", "--set", "lr=0.05"], "m");
    let rows = rows(&folder.0, "m");
    let (mut rest, mut all) = (0.0_f64, 0.0_f64);
    for row in &rows {
        assert!((sum(row) - row["score"]).abs() < 1e-9, "{row:?}");
        rest += row["part:(rest)"].abs();
        all += (row["score"] - row["part:(start)"]).abs();
    }
    assert!(all > 10.0 && rest < 0.01 * all, "{rest} of {all}");
    // The label rises with a and falls with b.
    let mean = |name: &str, of: fn(f64) -> bool| {
        let some: Vec<f64> = rows.iter().map(|row| row[name]).filter(|&x| of(x)).collect();
        some.len()
    };
    assert!(mean("part:a", |x| x != 0.0) == 200 && mean("part:b", |x| x != 0.0) == 200);
}

/// Rows of so many categories are stored sparse.
#[test]
fn parts_of_many_categories_come_to_the_score() {
    let folder = Folder::new("explain-wide");
    let row = |at: usize| format!("{},shop{},{}\n", at % 17, (at * 7919) % 1100, usize::from(at % 1100 % 17 > 11));
    folder.write("d.csv", "a,shop,label\n".to_string() + &(0..2400).map(row).collect::<String>());
    train(&folder.0, &["--method", "ce"], "m");
    let rows = rows(&folder.0, "m");
    assert!(rows.len() == 2400 && rows.iter().any(|row| row["part:shop"] != 0.0));
    rows.iter().for_each(|row| assert!((sum(row) - row["score"]).abs() < 1e-9, "{row:?}"));
    // Two columns that are multiplied have one part, however many categories they have.
    train(&folder.0, &["--method", "ce", "--cross", "a*shop"], "m");
    let crossed = self::rows(&folder.0, "m");
    assert_eq!(crossed[0].keys().filter(|name| name.starts_with("part:")).count(), 4, "{:?}", crossed[0]);
    crossed.iter().for_each(|row| assert!((sum(row) - row["score"]).abs() < 1e-9, "{row:?}"));
    // Importances of the card, of shuffled columns.
    let auto = "auto d.csv --label label --metric auroc --methods ce --model linear --out auto";
    let out = run(&folder.0, &auto.split(' ').collect::<Vec<_>>());
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let importances = std::fs::read_to_string(folder.0.join("auto/importances.csv")).unwrap();
    assert!(importances.lines().nth(1).is_some_and(|first| first.starts_with("shop,0.")), "{importances}");
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let folder = Folder::new("explain-refused");
    folder.write("d.csv", "a,b,label\n1,2,r\n2,3,s\n3,1,t\n4,2,r\n5,3,s\n6,1,t\n");
    folder.write("d.svm", "1 1:1 2:3\n0 1:2\n1 2:4\n0 1:3 2:1\n");
    train(&folder.0, &["--method", "ce"], "classes");
    assert!(run(&folder.0, &["train", "d.svm", "--method", "ce", "--steps", "5", "--out", "sparse"]).status.success());
    for (model, file, part) in [("classes", "d.csv", "one for each class"), ("sparse", "d.svm", "have no names")] {
        let out = run(&folder.0, &["predict", model, file, "--explain"]);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.code() == Some(2) && said.contains(part), "{said}");
    }
}

#[test]
fn two_models_are_told_apart() {
    let folder = Folder::new("inspect-two");
    let at = folder.0.as_path();
    folder.write("d.csv", csv(200));
    train(at, &["--method", "ce"], "a");
    train(at, &["--method", "ce"], "same");
    train(at, &["--method", "soap", "--ignore", "colour"], "b");
    assert!(stdout(&run(at, &["inspect", "a", "same"])).ends_with("nothing differs\n"));
    let told: Value = serde_json::from_str(&stdout(&run(at, &["inspect", "a", "b", "--json"]))).unwrap();
    assert_eq!(told["fields"]["method"], serde_json::json!(["ce", "soap"]));
    assert!(told["fields"].get("seed").is_none(), "{told}");
    let columns = told["columns"].as_array().unwrap();
    let mut gone: Vec<&str> =
        columns.iter().filter(|c| c["slopes"][1].is_null()).map(|c| c["column"].as_str().unwrap()).collect();
    assert_eq!(columns[..3].iter().filter(|c| c["slopes"][1].is_null()).count(), 3, "first: {columns:?}");
    gone.sort_unstable();
    assert_eq!(gone, ["colour=blue", "colour=green", "colour=red"]);
    // A slope is of the value as it is written.
    let slope = &columns.iter().find(|c| c["column"] == "a").unwrap()["slopes"][0][0];
    let own: Value = serde_json::from_str(&stdout(&run(at, &["inspect", "a", "--json"]))).unwrap();
    let column = own["columns"].as_array().unwrap().iter().find(|c| c["column"] == "a").unwrap();
    let expected = column["coefficients"][0].as_f64().unwrap() / column["divisor"].as_f64().unwrap();
    assert_eq!(slope.as_f64(), Some(expected));
    let text = stdout(&run(at, &["inspect", "a", "b"]));
    assert!(text.contains("method") && text.contains("ce -> soap") && text.contains("(none)"), "{text}");
}
