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

/// Rows of which a line finds nothing.
fn rows(count: usize) -> String {
    let mut numbers = Numbers(7);
    let mut text = String::from("signal,weak,<b>kind</b>,y\n");
    for _ in 0..count {
        let (signal, weak) = (numbers.next(), numbers.next());
        let y = ((signal - 0.5).powi(2) + (weak - 0.5).powi(2) > 0.22) != (numbers.next() < 0.06);
        let kind = ["red", "blue & \"green\""][usize::from(numbers.next() > 0.5)];
        let kind = kind.replace('"', "\"\"");
        let _ = writeln!(text, "{signal},{weak},\"{kind}\",{}", usize::from(y));
    }
    text
}

#[test]
fn figures_are_of_held_out_rows() {
    let folder = Folder::new("auto");
    let at = folder.0.as_path();
    folder.write("d.csv", rows(130));
    let auto = ["auto", "d.csv", "--label", "y", "--folds", "2", "--threshold", "fpr<=0.05"];
    let told: Value = serde_json::from_str(&stdout(&run(at, &[&auto[..], &["--json"]].concat()))).unwrap();
    let text = std::fs::read_to_string(at.join("d.auto/scores.csv")).unwrap();
    let scored: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert_eq!(scored.len(), 130, "every row is held out once");
    let held: Vec<(u8, f64)> = scored.iter().map(|row| (row[2].parse().unwrap(), row[3].parse().unwrap())).collect();
    let figure = |name: &str| told["figures"][name]["value"].as_f64().unwrap();
    assert!((auroc(&held) - figure("auroc")).abs() < 1e-12, "{told}");
    // The threshold keeps its rule on them, and none that does finds more; recall is counted there.
    let threshold = told["threshold"].as_f64().unwrap();
    let rate = |label: u8, at: f64| {
        let own: Vec<f64> = held.iter().filter(|row| row.0 == label).map(|row| row.1).collect();
        own.iter().filter(|&&score| score >= at).count() as f64 / own.len() as f64
    };
    let lower = held.iter().filter(|row| row.0 == 1 && row.1 < threshold).map(|row| row.1).fold(f64::MIN, f64::max);
    assert!(rate(0, threshold) <= 0.05 && rate(0, lower) > 0.05, "{threshold}");
    assert!((rate(1, threshold) - figure("recall")).abs() < 1e-12);
    let ends = &told["threshold_interval"];
    assert!(ends[0].as_f64() <= Some(threshold) && Some(threshold) <= ends[1].as_f64(), "{told}");

    // The model is of all rows: that which `train` makes by the options that are told.
    let tried = told["compared"].as_array().unwrap();
    let taken = tried.iter().find(|one| one["name"] == told["shipped"]).unwrap();
    let options: Vec<&str> = taken["options"].as_str().unwrap().split(' ').collect();
    stdout(&run(at, &[&["train", "d.csv", "--label", "y", "--out", "own"], &options[..]].concat()));
    let scores = |file: &str| -> Vec<String> {
        let text = stdout(&run(at, &["predict", file, "d.csv"]));
        text.lines().map(|line| line.split(',').next().unwrap().to_string()).collect()
    };
    assert_eq!(scores("d.auto/model.uc"), scores("own"));

    // What the label is made of comes first, what is noise loses nothing.
    let importance = |name: &str| {
        let all = told["importances"].as_array().unwrap();
        all.iter().find(|one| one["column"] == name).unwrap()["loss"].as_f64().unwrap()
    };
    assert!(importance("signal") > 0.2 && importance("weak") > 0.2 && importance("<b>kind</b>").abs() < 0.05, "{told}");

    // Models first, the simpler before the others; then a loss. (How a search goes on: src/run/search.rs.)
    let names: Vec<&str> = tried.iter().map(|one| one["name"].as_str().unwrap()).collect();
    let models = ["ridge", "ridge, ranks", "ridge, splines:6", "mlp:32", "mlp:32, ranks", "mlp:32, splines:6"];
    assert_eq!(names[..6], models);
    assert_eq!(names[6..], ["ridge, splines:6, then ap-exact"], "{told}");
    assert_eq!(told["shipped"], "ridge, splines:6", "{told}");
    let mean = |name: &str| tried.iter().find(|one| one["name"] == name).unwrap()["mean"].as_f64().unwrap();
    assert!(mean("ridge, splines:6") > mean("ridge") + 0.2, "{told}");

    let card = std::fs::read_to_string(at.join("d.auto/card.html")).unwrap();
    for foreign in ["<script", "http:", "https:", "src=", "href=", "@import", "url("] {
        assert!(!card.contains(foreign), "{foreign}");
    }
    assert!(!card.contains("<b>kind</b>") && card.contains("&lt;b&gt;kind&lt;/b&gt;"), "names are text");
    let verdict = told["verdict"].as_str().unwrap();
    assert!(card.contains(verdict) && card.contains("What it does not know"), "{card}");
    assert!(names.iter().all(|name| card.contains(name)) && card.contains("LightGBM"), "{card}");
    assert!(card.contains(&format!("{:.4}", figure("auroc"))), "{card}");

    // The same again, to the bit, whatever the threads.
    let files = |out: &str, threads: &str| -> Vec<Vec<u8>> {
        let args = ["auto", "d.csv", "--label", "y", "--methods", "ap-exact", "--out", out, "--threads", threads];
        stdout(&run(at, &args));
        ["model.uc", "scores.csv", "card.html"].map(|name| std::fs::read(at.join(out).join(name)).unwrap()).into()
    };
    assert!(files("one", "1") == files("two", "2"), "threads change nothing");
}

#[test]
fn held_out_rows_teach_nothing() {
    // Noise that a model can learn by heart: 120 rows, 60 columns, labels by chance.
    let folder = Folder::new("auto-noise");
    let mut numbers = Numbers(11);
    let names: Vec<String> = (0..60).map(|k| format!("c{k}")).collect();
    let mut text = format!("{},y\n", names.join(","));
    for _ in 0..120 {
        let cells: Vec<String> = (0..60).map(|_| numbers.next().to_string()).collect();
        let _ = writeln!(text, "{},{}", cells.join(","), u8::from(numbers.next() > 0.5));
    }
    folder.write("d.csv", text);
    let auto = ["auto", "d.csv", "--label", "y", "--want", "auroc", "--model", "linear", "--json"];
    let told: Value = serde_json::from_str(&stdout(&run(&folder.0, &auto))).unwrap();
    let figure = told["figures"]["auroc"]["value"].as_f64().unwrap();
    assert!((figure - 0.5).abs() < 0.2, "{figure}");
    // No threshold that nobody asked for.
    assert_eq!((&told["threshold"], &told["figures"]["recall"]), (&Value::Null, &Value::Null));
    assert_eq!((&told["no_signal"], &told["shipped"]), (&true.into(), &"ridge".into()), "{told}");
    assert!(told["verdict"].as_str().unwrap().contains("No signal was found"), "{told}");
}

/// A threshold lies on the scale of the model, not on that of models of folds, each with a penalty and class weight of its own.
#[test]
fn a_threshold_is_of_the_model_that_it_comes_with() {
    let folder = Folder::new("auto-scale");
    let mut numbers = Numbers(5);
    let mut table = |rows: usize| {
        let mut text = String::from("a,b,y\n");
        for _ in 0..rows {
            let (a, b) = (numbers.next(), numbers.next());
            let _ = writeln!(text, "{a},{b},{}", u8::from(2.0 * a + b + 2.0 * numbers.next() > 3.0));
        }
        text
    };
    for (name, rows) in [("few.csv", 200), ("some.csv", 1000)] {
        folder.write(name, table(rows));
        folder.write("new.csv", table(2000));
        let asked =
            ["--label", "y", "--want", "auroc", "--model", "linear", "--threshold", "alerts<=10%", "--out", "a"];
        stdout(&run(&folder.0, &[&["auto", name][..], &asked].concat()));
        let predicted = stdout(&run(&folder.0, &["predict", "a/model.uc", "new.csv"]));
        let at = predicted.lines().next().unwrap().split(',').position(|column| column == "class").unwrap();
        let alerts = predicted.lines().skip(1).filter(|line| line.split(',').nth(at) == Some("1")).count();
        assert!((100..400).contains(&alerts), "{name}: {alerts} of 2000, asked for 200");
    }
}

/// Of alerts that are wanted, what the held-out scores have first, beside what those of cross-entropy have.
#[test]
fn alerts_stand_beside_cross_entropy() {
    let folder = Folder::new("auto-alerts");
    let mut numbers = Numbers(11);
    let mut text = String::from("a,b,y\n");
    for _ in 0..500 {
        let (a, b) = (numbers.next(), numbers.next());
        // (Few are found by one line, others by another.)
        let y = (a > 0.93 && b < 0.6) || (b > 0.7 && numbers.next() < 0.3);
        let _ = writeln!(text, "{a},{b},{}", u8::from(y));
    }
    folder.write("d.csv", text);
    let auto = |more: &[&str]| -> (Value, Vec<[f64; 2]>) {
        let wanted = ["auto", "d.csv", "--label", "y", "--want", "15 alerts", "--folds", "3", "--json"];
        let told = serde_json::from_str(&stdout(&run(&folder.0, &[&wanted[..], more].concat()))).unwrap();
        let text = std::fs::read_to_string(folder.path("d.auto/scores.csv")).unwrap();
        let cells = |line: &str| {
            let cells: Vec<f64> = line.split(',').skip(2).map(|cell| cell.parse().unwrap()).collect();
            [cells[0], cells[1]]
        };
        let mut scored: Vec<[f64; 2]> = text.lines().skip(1).map(cells).collect();
        scored.sort_by(|a, b| b[1].total_cmp(&a[1]));
        (told, scored)
    };
    let (ce, of_ce) = auto(&["--model", "linear"]);
    let (told, scored) = auto(&["--methods", "pauc-threshold"]);
    assert_eq!((&ce["shipped"], &ce["cross_entropy"]), (&"ridge".into(), &Value::Null));
    assert_eq!((&told["shipped"], &told["cross_entropy"]), (&"pauc-threshold".into(), &"ridge".into()), "{told}");
    let counted = |scored: &[[f64; 2]]| {
        let first = |count: usize| scored[..count].iter().map(|row| row[0]).sum::<f64>();
        [first(15) / 15.0, first(15) / first(scored.len())]
    };
    let (own, theirs) = (counted(&scored), counted(&of_ce));
    assert!(own[0] > theirs[0], "{told}");
    for (at, name) in ["alerts_precision", "alerts_recall"].into_iter().enumerate() {
        let figure = &told["figures"][name];
        assert!((figure["value"].as_f64().unwrap() - own[at]).abs() < 1e-12 && figure["interval"][0].is_number());
        let beside = &figure["cross_entropy"];
        assert!((beside["value"].as_f64().unwrap() - theirs[at]).abs() < 1e-12, "{told}");
        assert_eq!((beside, &Value::Null), (&ce["figures"][name], &ce["figures"][name]["cross_entropy"]));
    }
    assert_eq!(told["figures"]["pauc"]["cross_entropy"], ce["figures"]["pauc"]);
    let card = std::fs::read_to_string(folder.path("d.auto/card.html")).unwrap();
    assert!(card.contains(&format!("{:.4} [", theirs[0])) && card.contains("by cross-entropy (ridge)"), "{card}");
}

#[test]
fn folds_hold_out_later_rows() {
    let folder = Folder::new("auto-time");
    let mut numbers = Numbers(3);
    let mut text = String::from("day,x,y\n");
    for k in 0..300 {
        let x = numbers.next();
        let _ = writeln!(text, "2024-{:02}-{:02},{x},{}", 1 + k / 28, 1 + k % 28, u8::from(x + numbers.next() > 1.2));
    }
    folder.write("d.csv", text);
    let auto = ["auto", "d.csv", "--label", "y", "--split-by", "day", "--folds", "2", "--model", "linear"];
    stdout(&run(&folder.0, &[&auto[..], &["--threshold", "recall>=0.9"]].concat()));
    let text = std::fs::read_to_string(folder.path("d.auto/scores.csv")).unwrap();
    let folds: Vec<(usize, String)> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>())
        .map(|row| (row[0].parse().unwrap(), row[1].to_string()))
        .collect();
    // The first third is never held out, the second by a model of the first, the last by one of both.
    let expected: Vec<(usize, String)> = (101..=300).map(|row| (row, (1 + (row - 101) / 100).to_string())).collect();
    assert_eq!(folds, expected);
}

#[test]
fn what_it_does_not_do_it_says() {
    let folder = Folder::new("auto-refuses");
    folder.write("d.csv", "a,w,y\n1,1,0\n2,1,1\n3,2,0\n4,1,1\n");
    folder.write("three.csv", "a,y\n1,r\n2,s\n3,t\n4,r\n");
    for (args, part) in [
        (&["auto", "d.csv"][..], "--folds 5: there are 2 negative rows"),
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

/// Of --split-group intervals are those of whole groups, as `metrics --cluster` and `decide --cluster` have them of the held-out scores.
#[test]
fn intervals_are_of_whole_groups() {
    let folder = Folder::new("auto-groups");
    let (mut numbers, mut text) = (Numbers(3), String::from("x,patient,y\n"));
    for patient in 0..60 {
        let own = numbers.next();
        for _ in 0..5 {
            let y = u8::from(numbers.next() < own);
            let _ = writeln!(text, "{},{patient},{y}", 3.0 * own + numbers.next() + 0.5 * f64::from(y));
        }
    }
    folder.write("d.csv", &text);
    let json = |args: &[&str]| -> Value {
        serde_json::from_str(stdout(&run(&folder.0, args)).lines().last().unwrap()).unwrap()
    };
    let told = json(&[
        "auto",
        "d.csv",
        "--label",
        "y",
        "--split-group",
        "patient",
        "--model",
        "linear",
        "--folds",
        "2",
        "--threshold",
        "youden",
        "--json",
    ]);
    // The held-out scores, with the patient of each row.
    let held = std::fs::read_to_string(folder.path("d.auto/scores.csv")).unwrap();
    let patients = text.lines().map(|line| line.split(',').nth(1).unwrap());
    let with: Vec<String> = held.lines().zip(patients).map(|(row, patient)| format!("{row},{patient}")).collect();
    folder.write("s.csv", with.join("\n"));
    let at = told["threshold"].to_string();
    let of = ["s.csv", "--label", "label", "--score", "score", "--cluster", "patient", "--json", "--threshold", &at];
    let found = json(&[&["metrics"], &of[..]].concat());
    let rates = json(&[&["decide"], &of[..]].concat());
    let near = |a: &Value, b: &Value| {
        let both = [0, 1].map(|end| [a[end].as_f64().unwrap(), b[end].as_f64().unwrap()]);
        assert!(both.iter().all(|[a, b]| (a - b).abs() < 1e-9), "{a} {b}");
    };
    for name in ["auroc", "ap", "pauc"] {
        near(&told["figures"][name]["interval"], &found["intervals"][name]);
    }
    for (name, rate) in [("recall", "tpr"), ("precision", "precision"), ("fpr", "fpr")] {
        near(&told["figures"][name]["interval"], &rates["threshold"]["intervals"][rate]);
    }
}

/// What is wanted at the top of the list is told as `eval` counts it, beside cross-entropy, and folds choose the method.
#[test]
fn what_is_wanted_is_told() {
    let folder = Folder::new("want");
    folder.write("d.csv", rows(400));
    let run = |args: &[&str]| run(&folder.0, &[&["train", "d.csv", "--label", "y", "--split", "0.6"], args].concat());
    let last = |text: String| -> Value { serde_json::from_str(text.lines().last().unwrap()).unwrap() };
    let eval = |model: &str, metric: &str| -> f64 {
        let args = ["eval", model, "d.csv", "--held-out", "--metric", metric, "--json"];
        last(stdout(&common::run(&folder.0, &args)))[metric].as_f64().unwrap()
    };
    let told = last(stdout(&run(&["--want", "20 alerts", "--out", "top.uc", "--json"])));
    stdout(&run(&["--method", "ce-exact", "--out", "ce.uc"]));
    let wanted = &told["wanted"];
    assert_eq!(wanted["part"], "test");
    for (name, metric) in [("precision of the first 20", "precision-at:20"), ("recall of the first 20", "recall-at:20")]
    {
        assert_eq!(wanted[name]["model"]["value"].as_f64(), Some(eval("top.uc", metric)), "{wanted}");
        assert_eq!(wanted[name]["cross_entropy"]["value"].as_f64(), Some(eval("ce.uc", metric)), "{wanted}");
        assert!(wanted[name]["model"]["interval"][0].is_number(), "{wanted}");
    }
    // The method that folds chose is that of the model, whatever it is asked by.
    let out = run(&["--method", "top", "--fpr", "0:0.1", "--out", "other.uc"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    let chosen = said.split("top: ").nth(1).unwrap().split(' ').next().unwrap();
    let other = run(&["--method", chosen, "--fpr", "0:0.1", "--out", "same.uc"]);
    assert!(out.status.success() && other.status.success(), "{said}");
    assert_eq!(
        std::fs::read(folder.path("other.uc")).unwrap(),
        std::fs::read(folder.path("same.uc")).unwrap(),
        "{said}"
    );
    assert!(["ce-exact", "pauc-threshold", "pauc-exact"].iter().all(|name| said.contains(name)), "{said}");
    // A network is trained by cross-entropy.
    let network = ["--model", "mlp:4", "--steps", "50", "--fpr", "0:0.1", "--out"];
    let out = run(&[&["--method", "top"], &network[..], &["net.uc"]].concat());
    stdout(&run(&[&["--method", "ce"], &network[..], &["ce-net.uc"]].concat()));
    assert_eq!(std::fs::read(folder.path("net.uc")).unwrap(), std::fs::read(folder.path("ce-net.uc")).unwrap());
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(said.contains("note: top: ce: of networks other methods gain nothing there"), "{said}");
    // A metric that is wanted chooses the ridge.
    let told = last(stdout(&run(&["--want", "ap", "--out", "ap.uc", "--json"])));
    assert!(told["wanted"].is_null());
    stdout(&run(&["--method", "ce-exact", "--set", "choose=ap", "--out", "choose.uc"]));
    assert_eq!(std::fs::read(folder.path("ap.uc")).unwrap(), std::fs::read(folder.path("choose.uc")).unwrap());
    let out = run(&["--method", "top", "--set", "lr=1"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.code() == Some(2) && said.contains("folds choose the method"), "{said}");
    let out = run(&["--method", "ap-exact", "--encode", "splines:6"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.code() == Some(2) && said.contains("positives by heart"), "{said}");
    stdout(&run(&["--method", "ce-exact", "--encode", "splines:6"]));
}
