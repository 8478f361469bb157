//! Models for other programs: JSON read by a scorer written from its description, ONNX by onnxruntime.

mod common;

use common::{Folder, Numbers, run, stdout};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use undercurve::metric::Metrics;
use undercurve_tests::{shared, skipped};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/peers/onnx_scores.py");

/// A Python that has onnxruntime: the one that `UNDERCURVE_PYTHON` names, or else `python3`.
fn python() -> Option<String> {
    let python = std::env::var("UNDERCURVE_PYTHON").unwrap_or_else(|_| "python3".into());
    let found = Command::new(&python).args(["-c", "import onnxruntime"]).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    skipped("no onnxruntime in python3, nor in the one that UNDERCURVE_PYTHON names");
    None
}

/// Rows with everything at once: missing numbers, a column far from 0, quotes, categories, numbers as categories, dates.
fn awkward(rows: usize, labels: [&str; 3]) -> String {
    let mut numbers = Numbers(11);
    let mut text = String::from("a,b,colour,size,when,class,label\n");
    for row in 0..rows {
        let label = [0, 2, 0, 1, 0, 0][row % 6];
        let mut draw = || numbers.next();
        let a = if draw() < 0.1 { String::new() } else { format!("{:.6}", draw() + 0.4 * label as f64) };
        let b = 1e6 + 3.0 * draw() - label as f64;
        let colour = ["red", "green", "", "dark blue", "\"é\"\"x\""][(5.0 * draw()) as usize];
        let size = if draw() < 0.05 { "NA".into() } else { format!("{}", (9.0 * draw()) as u32) };
        let when =
            if row % 11 == 3 { String::new() } else { format!("20{:02}-0{}-1{}", 20 + row % 5, 1 + row % 8, row % 9) };
        text += &format!("{a},{b},{colour},{size},{when},{:.3},{}\n", draw(), labels[label]);
    }
    text
}

/// Cells of a line of CSV.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut quoted, mut chars) = (vec![String::new()], false, line.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => cells.last_mut().unwrap().push(chars.next().unwrap()),
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cells.last_mut().unwrap().push(c),
        }
    }
    cells
}

fn table(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let mut lines = text.lines().map(cells);
    (lines.next().unwrap(), lines.collect())
}

fn number(text: &str) -> f64 {
    match text.split('-').collect::<Vec<_>>()[..] {
        // Days since 1970-01-01, by counting them.
        [year, month, day] if year.len() == 4 => {
            let (year, month, day): (u64, usize, u64) =
                (year.parse().unwrap(), month.parse().unwrap(), day.parse().unwrap());
            let leap = |year: u64| {
                u64::from(year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)))
            };
            let months = [31, 28 + leap(year), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            ((1970..year).map(|year| 365 + leap(year)).sum::<u64>() + months[..month - 1].iter().sum::<u64>() + day - 1)
                as f64
        }
        _ => text.parse().unwrap(),
    }
}

/// Scores of a row by an exported JSON model, in f64, and how far rounding to its precision may take each.
fn scores(model: &Value, head: &[String], row: &[String]) -> Vec<(f64, f64)> {
    let mut x = Vec::new();
    for column in model["columns"].as_array().unwrap() {
        let text = row[head.iter().position(|name| name == column["name"].as_str().unwrap()).unwrap()].trim();
        let missing = ["", "?", "NA", "N/A"].contains(&text);
        if column["kind"] == "number" {
            x.push(if missing { column["mean"].as_f64().unwrap() } else { number(text) });
            x.extend(column["missing"].as_bool().unwrap().then_some(f64::from(missing)));
        } else if column["kind"] == "rank" {
            let cell = if missing { column["mean"].as_f64().unwrap() } else { number(text) };
            let knots: Vec<[f64; 2]> = serde_json::from_value(column["knots"].clone()).unwrap();
            let line = |pair: &[[f64; 2]]| {
                let part = (cell - pair[0][0]) / (pair[1][0] - pair[0][0]);
                (0.0..=1.0).contains(&part).then(|| pair[0][1] + part * (pair[1][1] - pair[0][1]))
            };
            let end = if cell < knots[0][0] { knots[0] } else { knots[knots.len() - 1] };
            x.push(knots.windows(2).find_map(line).unwrap_or(end[1]));
            x.extend(column["missing"].as_bool().unwrap().then_some(f64::from(missing)));
        } else if column["kind"] == "pieces" {
            let cell = if missing { column["mean"].as_f64().unwrap() } else { number(text) };
            for piece in column["pieces"].as_array().unwrap() {
                let (low, high) = (piece["low"].as_f64(), piece["high"].as_f64());
                let inside = low.is_none_or(|low| cell >= low) && high.is_none_or(|high| cell < high);
                let between = cell.max(low.unwrap_or(cell)).min(high.unwrap_or(cell.max(low.unwrap_or(cell))));
                x.push(if piece["step"] == true { f64::from(inside) } else { between });
            }
            x.extend(column["missing"].as_bool().unwrap().then_some(f64::from(missing)));
        } else {
            // (A word that stands for a missing value elsewhere may be a category here.)
            let values = column["categories"].as_array().unwrap();
            let missing = missing && !values.iter().any(|value| value == text);
            x.extend(values.iter().map(|value| f64::from(value == text)));
            x.extend(column["missing"].as_bool().unwrap().then_some(f64::from(missing)));
        }
    }
    let features = model["features"].as_array().unwrap();
    let scaled = |x: f64, feature: &Value| {
        let (shift, divisor) = (feature["shift"].as_f64().unwrap(), feature["divisor"].as_f64().unwrap());
        if divisor == 0.0 { 0.0 } else { (x - shift) / divisor }
    };
    for (x, feature) in x.iter_mut().zip(features) {
        *x = scaled(*x, feature);
    }
    let products: Vec<[usize; 2]> =
        model.get("products").map_or_else(Vec::new, |of| serde_json::from_value(of.clone()).unwrap());
    for [left, right] in products {
        x.push(scaled(x[left] * x[right], &features[x.len()]));
    }
    assert_eq!(features.len(), x.len());
    if model["scale"] == "unit" {
        let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        x.iter_mut().for_each(|x| *x /= if length == 0.0 { 1.0 } else { length });
    }
    let unit = if model["precision"] == "f32" { f64::from(f32::EPSILON) } else { f64::EPSILON };
    let mut x: Vec<(f64, f64)> = x.into_iter().map(|x| (x, unit * x.abs())).collect();
    let layers = model["layers"].as_array().unwrap();
    for (at, layer) in layers.iter().enumerate() {
        let weights: Vec<Vec<f64>> = serde_json::from_value(layer["weights"].clone()).unwrap();
        let bias: Vec<f64> = serde_json::from_value(layer["bias"].clone()).unwrap();
        let slack = unit * (x.len() + 2) as f64;
        x = (0..bias.len())
            .map(|to| {
                let (mut sum, mut size, mut carried) = (bias[to], bias[to].abs(), 0.0);
                for (row, (x, error)) in weights.iter().zip(&x) {
                    sum += row[to] * x;
                    size += (row[to] * x).abs();
                    carried += row[to].abs() * error;
                }
                let error = slack * size + carried;
                match (at + 1 < layers.len(), model["activation"].as_str()) {
                    (true, Some("tanh")) => (sum.tanh(), error + 4.0 * unit),
                    (true, _) => (sum.max(0.0), error),
                    _ => (sum, error),
                }
            })
            .collect();
    }
    x
}

/// Of several raw scores the log-odds of each: no further from the exact ones than twice the furthest of them is.
fn log_odds(raw: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if raw.len() == 1 {
        return raw;
    }
    let within = 2.0 * raw.iter().fold(0.0f64, |most, s| most.max(s.1)) + 1e-6;
    let of = |k: usize| {
        let others = || raw.iter().enumerate().filter(move |(at, _)| *at != k).map(|(_, s)| s.0);
        let most = others().fold(f64::MIN, f64::max);
        (raw[k].0 - most - others().map(|s| (s - most).exp()).sum::<f64>().ln(), within)
    };
    (0..raw.len()).map(of).collect()
}

/// The probability of a score as the description of JSON has it.
fn probability(link: &Value, score: f64) -> f64 {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let Some(steps) = link["steps"].as_array() else {
        let Some(slope) = link["slope"].as_f64() else { return sigmoid(score) };
        let [offset, least, most] = ["offset", "least", "most"].map(|name| link[name].as_f64().unwrap());
        if let Some(beta) = link["beta"].as_array() {
            let [low, high, shift] = [0, 1, 2].map(|at| beta[at].as_f64().unwrap());
            let p = sigmoid(slope * score + offset);
            return sigmoid(low * p.ln() - high * (1.0 - p).ln() + shift).clamp(least, most);
        }
        return sigmoid(slope * score + offset).clamp(least, most);
    };
    let steps: Vec<[f64; 3]> = steps.iter().map(|step| serde_json::from_value(step.clone()).unwrap()).collect();
    let above = steps.iter().position(|step| score <= step[1]).unwrap_or(steps.len());
    match (above.checked_sub(1).map(|at| steps[at]), steps.get(above)) {
        (Some(a), Some(b)) if score < b[0] => a[2] + (b[2] - a[2]) * (score - a[1]) / (b[0] - a[1]),
        (_, Some(b)) => b[2],
        (a, None) => a.unwrap()[2],
    }
}

/// Trains with these options, exports both ways, and compares scores, probabilities and classes of all rows of `data`.
fn compare(folder: &Folder, python: Option<&str>, train: &[&str], data: &str) {
    stdout(&run(&folder.0, &[&["train"], train, &["--steps", "60", "--out", "m.uc"]].concat()));
    for more in [&["m.onnx"][..], &["n.onnx", "--numeric"], &["m.json"]] {
        stdout(&run(&folder.0, &[&["export", "m.uc"], more].concat()));
    }
    let model: Value = serde_json::from_slice(&fs::read(folder.path("m.json")).unwrap()).unwrap();
    let (head, rows) = table(&fs::read_to_string(folder.path(data)).unwrap());
    let (columns, ours) = table(&stdout(&run(&folder.0, &["predict", "m.uc", data])));
    assert_eq!(ours.len(), rows.len());
    let heads = columns.iter().filter(|name| name.starts_with("score")).count();
    let exact: Vec<Vec<(f64, f64)>> = rows.iter().map(|row| log_odds(scores(&model, &head, row))).collect();
    assert_eq!(model["outputs"], if heads > 1 { "logits" } else { "score" });
    let close = |a: f64, b: f64, within: f64, what: &str| {
        assert!((a - b).abs() <= within, "{train:?}, {what}: {a} and {b} differ by more than {within}");
    };
    // (No row that a threshold was chosen on comes near it.)
    let own = train[0] == data && !train.contains(&"--valid");
    let label = |scores: &[(f64, f64)]| {
        let threshold = model["threshold"].as_f64();
        match (heads, threshold) {
            (1, Some(at)) => {
                let sure = own || (scores[0].0 - at).abs() > scores[0].1;
                sure.then(|| model["labels"][usize::from(scores[0].0 >= at)].as_str().unwrap())
            }
            (1, None) => None,
            _ => {
                let best = (0..heads).max_by(|&a, &b| scores[a].0.total_cmp(&scores[b].0)).unwrap();
                let sure = (0..heads).all(|k| k == best || scores[best].0 - scores[k].0 > scores[best].1 + scores[k].1);
                sure.then(|| model["labels"][best].as_str().unwrap())
            }
        }
    };
    let mut sure = 0;
    for (ours, exact) in ours.iter().zip(&exact) {
        for (cell, exact) in ours.iter().zip(exact) {
            close(cell.parse().unwrap(), exact.0, exact.1, "predict and JSON");
        }
        if columns[1] == "probability" {
            let score = ours[0].parse().unwrap();
            close(ours[1].parse().unwrap(), probability(&model["link"], score), 1e-5, "probabilities and JSON");
        }
        if let Some(label) = label(exact) {
            assert_eq!(ours.last().unwrap(), label);
            sure += 1;
        }
    }
    assert!(sure > rows.len() * 9 / 10, "{train:?}: {sure} of {} rows are away from the threshold", rows.len());
    let Some(python) = python else { return };
    let columns_of = || model["columns"].as_array().into_iter().flatten();
    let category =
        |word: &&str| columns_of().flat_map(|of| of["categories"].as_array()).flatten().any(|value| value == *word);
    let missing = ["?", "NA"].into_iter().filter(|word| !category(word));
    let mut script = Command::new(python);
    let output = script.arg(SCRIPT).args(["m.onnx,n.onnx", data]).args(missing).current_dir(&folder.0).output();
    let (names, theirs) = table(&stdout(&output.unwrap()));
    assert_eq!(names.len(), 2 * columns.len(), "{names:?}, {columns:?}");
    assert_eq!(theirs.len(), rows.len());
    if heads > 1 {
        let at = head.iter().position(|name| name == "label").unwrap();
        for (k, column) in columns[..heads].iter().enumerate() {
            let class = column.strip_prefix("score:").unwrap();
            let is: Vec<u8> = rows.iter().map(|row| u8::from(row[at].trim() == class)).collect();
            let auroc = |of: &[Vec<String>], k: usize| {
                let scores: Vec<f64> = of.iter().map(|row| row[k].parse().unwrap()).collect();
                Metrics::new().auroc(&scores, &is[..]).unwrap()
            };
            for theirs in [auroc(&theirs, k), auroc(&theirs, columns.len() + k)] {
                close(theirs, auroc(&ours, k), 1e-6, "AUROC of a class");
            }
        }
    }
    for ((theirs, ours), exact) in theirs.iter().zip(&ours).zip(&exact) {
        for (k, &(score, within)) in exact.iter().enumerate() {
            close(theirs[k].parse().unwrap(), score, within, "onnxruntime and JSON");
        }
        let (_, numeric) = theirs.split_at(columns.len());
        for (k, &(score, within)) in exact.iter().enumerate() {
            close(numeric[k].parse().unwrap(), score, within + 1e-5 * score.abs().max(1.0), "numeric and JSON");
        }
        for k in heads..columns.len() {
            if columns[k].starts_with("probability") {
                // (Of a score that is known to f32; steps may be steep.)
                let score: f64 = numeric[0].parse().unwrap();
                let [low, high] = [-4.0, 4.0].map(|ulps| score + ulps * f64::from(f32::EPSILON) * score.abs().max(1.0));
                let ends = match heads {
                    1 => [low, high].map(|score| probability(&model["link"], score)),
                    _ => [ours[k].parse().unwrap(); 2],
                };
                let p: f64 = numeric[k].parse().unwrap();
                close(p, p.clamp(ends[0], ends[1]), 1e-5, "probabilities of numbers");
            } else {
                assert_eq!(numeric[k], theirs[k], "{train:?}: {} and {}", numeric[0], theirs[0]);
            }
            if columns[k].starts_with("probability") {
                // (Steps may be steep: so of one score by both.)
                let expected = match heads {
                    1 => probability(&model["link"], theirs[0].parse().unwrap()),
                    _ => ours[k].parse().unwrap(),
                };
                close(theirs[k].parse().unwrap(), expected, 1e-5, "probabilities");
            } else if let Some(label) = label(exact) {
                assert_eq!(theirs[k], label);
            }
        }
    }
}

#[test]
fn exported_models_score_as_they_do_here() {
    let python = python();
    let folder = Folder::new("export");
    folder.write("two.csv", awkward(700, ["no", "yes", "no"]));
    folder.write("three.csv", awkward(700, ["no", "yes", "perhaps"]));
    let base = ["--missing", "impute", "--categorical", "size", "--label", "label"];
    for more in [
        &["two.csv", "--method", "ce", "--model", "mlp:8,4", "--valid", "0.2"][..],
        &["two.csv", "--method", "soap", "--precision", "f64"],
        &["two.csv", "--method", "soap", "--valid", "0.3"],
        &["two.csv", "--method", "soap", "--valid", "0.3", "--calibrate", "isotonic", "--precision", "f64"],
        &["two.csv", "--method", "ce", "--calibrate", "isotonic"],
        &["two.csv", "--method", "soap", "--valid", "0.3", "--calibrate", "beta"],
        &["two.csv", "--method", "ce", "--model", "mlp-tanh:6", "--scale", "unit", "--set", "decay=0.001"],
        &["two.csv", "--method", "ai-sarah", "--scale", "none", "--ignore", "b,when"],
        &["three.csv", "--method", "ce", "--model", "mlp:5"],
        &["two.csv", "--method", "ce", "--encode", "splines:5"],
        &["two.csv", "--method", "soap", "--cross", "a*b,a*colour,colour*size", "--categorical", "size"],
        &["two.csv", "--method", "ce", "--model", "mlp:4", "--scale", "unit", "--cross", "a*when,class*class"],
        &["two.csv", "--method", "soap", "--encode", "bins:4", "--precision", "f64"],
        &["two.csv", "--method", "ce", "--scale", "robust"],
        &["two.csv", "--method", "ce", "--model", "mlp:6", "--scale", "rank"],
        &["two.csv", "--method", "ce", "--scale", "rank", "--encode", "splines:3"],
        &[
            "two.csv",
            "--method",
            "ce",
            "--model",
            "mlp:6",
            "--encode",
            "splines:12",
            "--scale",
            "none",
            "--ignore",
            "b,when",
        ],
        // (Dates are far from 0, and stay as they are.)
        &["two.csv", "--method", "ce", "--encode", "splines:4", "--scale", "none", "--ignore", "b"],
    ] {
        let rule: &[&str] = if more[0] == "two.csv" { &["--threshold", "youden"] } else { &[] };
        compare(&folder, python.as_deref(), &[more, &base, rule].concat(), more[0]);
    }
}

/// A row that `predict` refuses has no class.
#[test]
fn a_row_without_a_score_has_no_class() {
    let Some(python) = python() else { return };
    let folder = Folder::new("export-missing");
    for (labels, classes) in [(["no", "yes", "no"], 2), (["no", "yes", "perhaps"], 3)] {
        let text = awkward(300, labels);
        let whole: Vec<&str> =
            text.lines().filter(|line| line.split(',').all(|cell| !cell.is_empty() && cell != "NA")).collect();
        folder.write("rows.csv", whole.join("\n") + "\n");
        folder.write("new.csv", format!("{}\n{}\n,1000001,red,3,2021-02-11,0.5,no\n", whole[0], whole[1]));
        let rule: &[&str] = if classes == 2 { &["--threshold", "youden"] } else { &[] };
        let train = [
            "train",
            "rows.csv",
            "--label",
            "label",
            "--missing",
            "refuse",
            "--method",
            "ce",
            "--steps",
            "20",
            "--out",
            "m.uc",
        ];
        stdout(&run(&folder.0, &[&train[..], rule].concat()));
        stdout(&run(&folder.0, &["export", "m.uc", "m.onnx"]));
        stdout(&run(&folder.0, &["export", "m.uc", "n.onnx", "--numeric"]));
        assert!(!run(&folder.0, &["predict", "m.uc", "new.csv"]).status.success());
        let theirs =
            Command::new(&python).arg(SCRIPT).args(["m.onnx,n.onnx", "new.csv"]).current_dir(&folder.0).output();
        let (_, theirs) = table(&stdout(&theirs.unwrap()));
        assert!(["no", "yes", "perhaps"].contains(&theirs[0].last().unwrap().as_str()), "{theirs:?}");
        for graph in theirs[1].chunks(theirs[1].len() / 2) {
            assert_eq!((graph[0].as_str(), graph.last().unwrap().as_str()), ("nan", ""));
        }
    }
}

#[test]
fn exported_models_score_real_rows_as_they_do_here() {
    let Some(shared) = shared() else { return };
    let python = python();
    let folder = Folder::new("export-real");
    let unpack = |name: &str, rows: usize| {
        let file = fs::File::open(shared.join("data").join(name)).unwrap();
        let text = std::io::read_to_string(flate2::read::GzDecoder::new(file)).unwrap();
        text.lines().take(rows + 1).map(|line| format!("{line}\n")).collect::<String>()
    };
    folder.write("adult.csv", unpack("adult.train.csv.gz", 4000));
    folder.write("new-adult.csv", unpack("adult.test.csv.gz", 1000));
    folder.write("compas.csv", unpack("compas.csv.gz", 4000));
    folder.write("new-compas.csv", unpack("compas.csv.gz", 1000));
    let adult = [
        "adult.csv",
        "--label",
        "income",
        "--method",
        "ce",
        "--model",
        "mlp:16",
        "--missing",
        "impute",
        "--threshold",
        "f1",
    ];
    compare(&folder, python.as_deref(), &adult, "new-adult.csv");
    let compas =
        ["compas.csv", "--label", "two_year_recid", "--method", "soap", "--missing", "impute", "--threshold", "f1"];
    compare(&folder, python.as_deref(), &compas, "new-compas.csv");
}

/// Lines that a program prints in a folder; nothing where there is no such program.
fn lines_in(folder: &Folder, program: &str, args: &[&str]) -> Option<Vec<String>> {
    let output = Command::new(program).args(args).current_dir(&folder.0).output().ok()?;
    Some(stdout(&output).lines().map(String::from).collect())
}

/// A program in C that scores the rows of files, and prints the bits: of what type, in which integer, and how.
fn all_in_c([real, integer, form]: [&str; 3], calls: &str) -> String {
    format!(
        "#include <stdio.h>\n#include <string.h>\nstatic void one({real} (*score)(const {real} *), const char *name, int n) {{
        FILE *file = fopen(name, \"rb\"); {real} row[64]; {integer} bits;
        while (fread(row, sizeof *row, n, file) == (size_t)n) {{ {real} s = score(row); memcpy(&bits, &s, sizeof s); printf(\"{form}\\n\", bits); }}
        fclose(file); }}\nint main(void) {{\n{calls}}}\n"
    )
}

/// The same in Rust, of so many models.
fn all_in_rust(real: &str, models: usize, calls: &str) -> String {
    let modules: String = (0..models).map(|k| format!("mod m{k};\n")).collect();
    format!(
        "{modules}const BYTES: usize = size_of::<{real}>();\nfn one<const N: usize>(name: &str, score: fn(&[{real}; N]) -> {real}) {{
        for row in std::fs::read(name).unwrap().chunks_exact(BYTES * N) {{
        let row = std::array::from_fn(|k| {real}::from_le_bytes(row[BYTES * k..][..BYTES].try_into().unwrap()));
        println!(\"{{:0w$x}}\", score(&row).to_bits(), w = 2 * BYTES); }} }}\nfn main() {{\n{calls}}}\n"
    )
}

/// Models as source: the bits of `predict`, by C compilers, Node and Rust.
#[test]
fn source_has_the_bits_of_predict() {
    let folder = Folder::new("source");
    folder.write("two.csv", awkward(300, ["no", "yes", "no"]));
    let whole = awkward(300, ["no", "yes", "no"]);
    let whole: Vec<&str> =
        whole.lines().filter(|line| line.split(',').all(|cell| !cell.is_empty() && cell != "NA")).collect();
    folder.write("whole.csv", whole.join("\n") + "\n");
    let models: [&[&str]; 7] = [
        &["two.csv", "--missing", "impute"],
        &["two.csv", "--missing", "impute", "--precision", "f64", "--encode", "splines:4", "--cross", "b*colour"],
        &["two.csv", "--missing", "impute", "--model", "mlp:9,1", "--encode", "bins:3", "--seed", "6"],
        &["two.csv", "--missing", "impute", "--model", "mlp:3", "--scale", "unit", "--precision", "f64"],
        &["two.csv", "--missing", "impute", "--scale", "rank"],
        &["whole.csv", "--missing", "refuse", "--model", "mlp:6"],
        &["two.csv", "--missing", "impute", "--model", "mlp:4", "--average", "2", "--ignore", "b,when"],
    ];
    let (mut c, mut rust, mut js) = (String::new(), String::new(), String::new());
    let mut want = Vec::new();
    for (k, train) in models.iter().enumerate() {
        let more = ["--label", "label", "--method", "ce", "--steps", "40", "--threshold", "youden", "--out", "m.uc"];
        stdout(&run(&folder.0, &[&["train"], *train, &more].concat()));
        for end in ["json", "c", "rs", "mjs"] {
            stdout(&run(&folder.0, &["export", "m.uc", &format!("m{k}.{end}")]));
        }
        let (_, scores) = table(&stdout(&run(&folder.0, &["predict", "m.uc", train[0]])));
        let f64s = train.contains(&"f64");
        want.extend(scores.iter().map(|row| {
            let score: f64 = if f64s { row[0].parse().unwrap() } else { f64::from(row[0].parse::<f32>().unwrap()) };
            format!("{:016x}", score.to_bits())
        }));
        // The rows as the file says: numbers, and places of categories.
        let model: Value = serde_json::from_slice(&fs::read(folder.path(&format!("m{k}.json"))).unwrap()).unwrap();
        let columns = model["columns"].as_array().unwrap();
        let (head, rows) = table(&fs::read_to_string(folder.path(train[0])).unwrap());
        let mut bytes = Vec::new();
        for row in &rows {
            for column in columns {
                let text = row[head.iter().position(|name| name == column["name"].as_str().unwrap()).unwrap()].trim();
                let place = column["categories"].as_array().map(|all| all.iter().position(|value| value == text));
                bytes.extend(
                    match (place, ["", "NA"].contains(&text)) {
                        (Some(Some(place)), _) => place as f64,
                        (_, true) => f64::NAN,
                        (Some(None), _) => -1.0,
                        (None, _) => number(text),
                    }
                    .to_le_bytes(),
                );
            }
        }
        fs::write(folder.path(&format!("x{k}")), &bytes).unwrap();
        let n = columns.len();
        c += &format!("double score{k}(const double *); one(score{k}, \"x{k}\", {n});\n");
        rust += &format!("one::<{n}>(\"x{k}\", m{k}::score);\n");
        js += &format!("one(\"x{k}\", {n}, (await import(\"./m{k}.mjs\")).score);\n");
    }
    let said = |program: &str, args: &[&str]| lines_in(&folder, program, args);
    folder.write("all.c", all_in_c(["double", "unsigned long long", "%016llx"], &c));
    let mut objects = vec!["all.c".to_string()];
    // (With fused multiply-adds where the processor has them, which the source is to forbid.)
    let flags = ["-O2", "-march=native", "-Wall", "-Wextra", "-Werror"];
    for k in 0..models.len() {
        let (name, from, to) = (format!("-Dscore=score{k}"), format!("m{k}.c"), format!("m{k}.o"));
        if said("cc", &[&flags[..], &["-c", &name, &from, "-o", &to]].concat()).is_none() {
            return skipped("no C compiler");
        }
        objects.push(to);
    }
    let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
    said("cc", &[&objects[..], &["-lm", "-o", "all"]].concat());
    assert_eq!(said("./all", &[]).unwrap_or_else(|| said(folder.path("all").to_str().unwrap(), &[]).unwrap()), want);
    folder.write("all.rs", all_in_rust("f64", models.len(), &rust));
    said("rustc", &["-O", "--edition", "2024", "-o", "rust", "all.rs"]);
    assert_eq!(said(folder.path("rust").to_str().unwrap(), &[]).unwrap(), want);
    folder.write(
        "all.mjs",
        format!(
            "import {{ readFileSync }} from \"node:fs\";\nfunction one(name, n, score) {{
            const bytes = readFileSync(name), x = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
            for (let at = 0; at < x.length; at += n) {{ const view = new DataView(new ArrayBuffer(8)); view.setFloat64(0, score(Array.from(x.subarray(at, at + n))));
            console.log(view.getBigUint64(0).toString(16).padStart(16, \"0\")); }} }}\n{js}"
        ),
    );
    match said("node", &["all.mjs"]) {
        Some(found) => assert_eq!(found, want),
        None => skipped("no node"),
    }
}

/// Source in floats: no double in it, the same bits in C and Rust, and near what `predict` says; where what the numbers are less is told, they are that less.
#[test]
fn source_in_floats_is_near_predict() {
    let folder = Folder::new("floats");
    folder.write("two.csv", awkward(300, ["no", "yes", "no"]));
    let (mut c, mut rust, mut want) = (String::new(), String::new(), Vec::new());
    let models: [&[&str]; 3] = [
        &["--precision", "f64"],
        &["--model", "mlp:5", "--encode", "splines:4"],
        &["--scale", "rank", "--cross", "b*colour"],
    ];
    for (k, train) in models.iter().enumerate() {
        let base = [
            "--missing",
            "impute",
            "--label",
            "label",
            "--method",
            "ce",
            "--steps",
            "40",
            "--threshold",
            "youden",
            "--out",
            "m.uc",
        ];
        stdout(&run(&folder.0, &[&["train", "two.csv"], *train, &base].concat()));
        for (file, more) in
            [(format!("m{k}.c"), &["--numeric"][..]), (format!("m{k}.rs"), &["--numeric"]), ("m.json".into(), &[])]
        {
            stdout(&run(&folder.0, &[&["export", "m.uc", &file], more].concat()));
        }
        let source = fs::read_to_string(folder.path(&format!("m{k}.c"))).unwrap();
        let code = |text: &str| {
            text.lines()
                .filter(|line| !line.starts_with("//"))
                .any(|line| line.contains("double") || line.contains("f64"))
        };
        assert!(!code(&source) && !code(&fs::read_to_string(folder.path(&format!("m{k}.rs"))).unwrap()));
        let model: Value = serde_json::from_slice(&fs::read(folder.path("m.json")).unwrap()).unwrap();
        let (head, rows) = table(&fs::read_to_string(folder.path("two.csv")).unwrap());
        let (_, scores) = table(&stdout(&run(&folder.0, &["predict", "m.uc", "two.csv"])));
        want.extend(scores.iter().map(|row| number(&row[0])));
        let (mut bytes, columns) = (Vec::new(), model["columns"].as_array().unwrap());
        // What the file says that a number is less, if it does: "// 3 "when": a number (…) less 19000, before …".
        let less = |k: usize| {
            let line = source.lines().find(|line| line.starts_with(&format!("// {k} "))).unwrap();
            line.split_once(") less ").map_or(0.0, |(_, rest)| rest.split(',').next().unwrap().parse().unwrap())
        };
        for row in &rows {
            for (k, column) in columns.iter().enumerate() {
                let text = row[head.iter().position(|name| name == column["name"].as_str().unwrap()).unwrap()].trim();
                let place = column["categories"].as_array().map(|all| all.iter().position(|value| value == text));
                let x = match (place, ["", "NA"].contains(&text)) {
                    (Some(Some(place)), _) => place as f64,
                    (_, true) => f64::NAN,
                    (Some(None), _) => -1.0,
                    (None, _) => number(text) - less(k),
                };
                bytes.extend((x as f32).to_le_bytes());
            }
        }
        fs::write(folder.path(&format!("x{k}")), &bytes).unwrap();
        let n = columns.len();
        c += &format!("float score{k}(const float *); one(score{k}, \"x{k}\", {n});\n");
        rust += &format!("one::<{n}>(\"x{k}\", m{k}::score);\n");
    }
    let said = |program: &str, args: &[&str]| lines_in(&folder, program, args);
    folder.write("all.c", all_in_c(["float", "unsigned", "%08x"], &c));
    let mut objects = vec!["all.c".to_string()];
    for k in 0..models.len() {
        let flags = ["-O2", "-march=native", "-Wall", "-Wextra", "-Werror", "-Wdouble-promotion", "-c"];
        let (name, from, to) = (format!("-Dscore=score{k}"), format!("m{k}.c"), format!("m{k}.o"));
        if said("cc", &[&flags[..], &[&name, &from, "-o", &to]].concat()).is_none() {
            return skipped("no C compiler");
        }
        objects.push(to);
    }
    said("cc", &[&objects.iter().map(String::as_str).collect::<Vec<_>>()[..], &["-lm", "-o", "all"]].concat());
    let bits = said(folder.path("all").to_str().unwrap(), &[]).unwrap();
    assert_eq!(bits.len(), want.len());
    for (bits, want) in bits.iter().zip(&want) {
        let found = f64::from(f32::from_bits(u32::from_str_radix(bits, 16).unwrap()));
        assert!((found - want).abs() <= 1e-5 * want.abs().max(1.0), "{found} and {want}");
    }
    folder.write("all.rs", all_in_rust("f32", models.len(), &rust));
    said("rustc", &["-O", "--edition", "2024", "-o", "rust", "all.rs"]);
    assert_eq!(said(folder.path("rust").to_str().unwrap(), &[]).unwrap(), bits);
}

/// Weights as bytes: what the file says of its loss is what plain loops say, and C gives their scores.
#[test]
fn bytes_as_weights_tell_what_they_cost() {
    let folder = Folder::new("bytes");
    let mut numbers = Numbers(11);
    let rows: Vec<([f64; 3], bool)> = (0..400)
        .map(|_| {
            let x = [0; 3].map(|_| f64::from(numbers.next() as f32));
            (x, x[0] - 0.5 * x[1] * x[1] + x[2] + 0.6 * numbers.next() > 0.2)
        })
        .collect();
    let line =
        |(x, yes): &([f64; 3], bool)| format!("{},{},{},{}\n", x[0], x[1], x[2], if *yes { "yes" } else { "no" });
    let text = |rows: &[_]| format!("a,b,c,label\n{}", rows.iter().map(line).collect::<String>());
    folder.write("train.csv", text(&rows[..250]));
    folder.write("held.csv", text(&rows[250..]));
    for (model, threshold) in [("linear", "youden"), ("mlp:5", "f1")] {
        let train = ["train", "train.csv", "--label", "label", "--method", "ce", "--scale", "none", "--model", model];
        stdout(&run(&folder.0, &[&train[..], &["--steps", "200", "--threshold", threshold, "--out", "m.uc"]].concat()));
        stdout(&run(&folder.0, &["export", "m.uc", "m.json"]));
        for file in ["m.c", "m.rs"] {
            stdout(&run(&folder.0, &["export", "m.uc", file, "--int8", "held.csv"]));
        }
        let json: Value = serde_json::from_slice(&fs::read(folder.path("m.json")).unwrap()).unwrap();
        let list = |of: &Value| of.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect::<Vec<_>>();
        let scored = |x: &[f64; 3], bytes: bool| {
            let mut h = x.to_vec();
            let layers = json["layers"].as_array().unwrap();
            for (k, layer) in layers.iter().enumerate() {
                let weights: Vec<Vec<f64>> = layer["weights"].as_array().unwrap().iter().map(list).collect();
                let unit = |(o, bias): (usize, &f64)| {
                    let scale = weights.iter().map(|of| of[o].abs()).fold(0.0, f64::max) / 127.0;
                    let weight = |w: f64| if bytes { (w / scale).round() * scale } else { w };
                    bias + h.iter().zip(&weights).map(|(x, of)| x * weight(of[o])).sum::<f64>()
                };
                let next: Vec<f64> = list(&layer["bias"]).iter().enumerate().map(unit).collect();
                h = next.into_iter().map(|x| if k + 1 < layers.len() { x.max(0.0) } else { x }).collect();
            }
            h[0]
        };
        let figures = |bytes: bool| {
            let of = |yes: bool| rows[250..].iter().filter(move |row| row.1 == yes).map(|row| scored(&row.0, bytes));
            let (mut above, mut ap) = (0.0, 0.0);
            for one in of(true) {
                above += of(false).filter(|&other| other < one).count() as f64;
                let hits = of(true).filter(|&other| other >= one).count() as f64;
                ap += hits / (hits + of(false).filter(|&other| other >= one).count() as f64);
            }
            [ap / of(true).count() as f64, above / (of(true).count() * of(false).count()) as f64]
        };
        let ([ap, auroc], [full, wide]) = (figures(true), figures(false));
        let at = json["threshold"].as_f64().unwrap();
        let other =
            rows[250..].iter().filter(|row| (scored(&row.0, true) >= at) != (scored(&row.0, false) >= at)).count();
        let says = format!(
            "// Weights are bytes: AP {ap:.4} ({full:.4} before), AUROC {auroc:.4} ({wide:.4}) on 150 rows of \"held.csv\", {other} of another class.\n"
        );
        for file in ["m.c", "m.rs"] {
            let source = fs::read_to_string(folder.path(file)).unwrap();
            assert!(source.contains(&says), "{model}: {says}{source}");
            assert!(!source.contains("bits of"), "{model}");
        }
        folder.write("one.c", "#include <stdio.h>\n#include \"m.c\"\nint main(void) { double r[3]; while (scanf(\"%lf,%lf,%lf,%*s\", r, r + 1, r + 2) == 3) printf(\"%.9g\\n\", score(r)); }\n");
        let Ok(made) = Command::new("cc").args(["-o", "one", "one.c", "-lm"]).current_dir(&folder.0).output() else {
            return skipped("no C compiler");
        };
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        folder.write("rows", rows.iter().map(line).collect::<String>());
        let input = fs::File::open(folder.path("rows")).unwrap();
        let found = stdout(&Command::new(folder.path("one")).stdin(input).output().unwrap());
        let found: Vec<f64> = found.lines().map(number).collect();
        assert_eq!(found.len(), rows.len());
        for (found, (x, _)) in found.iter().zip(&rows) {
            let want = scored(x, true);
            assert!((found - want).abs() < 1e-5, "{model}: {found} and {want}");
        }
    }
    // Of rows with weights the figures are by weight, as those of `eval`.
    let weighed = |rows: &[([f64; 3], bool)]| {
        let line = |(k, row): (usize, &([f64; 3], bool))| format!("{},{}", 1 + k % 7, line(row));
        format!("w,a,b,c,label\n{}", rows.iter().enumerate().map(line).collect::<String>())
    };
    folder.write("weighed.csv", weighed(&rows[..250]));
    folder.write("weighed-held.csv", weighed(&rows[250..]));
    stdout(&run(
        &folder.0,
        &[
            "train",
            "weighed.csv",
            "--label",
            "label",
            "--weight",
            "w",
            "--method",
            "ce",
            "--steps",
            "50",
            "--out",
            "w.uc",
        ],
    ));
    stdout(&run(&folder.0, &["export", "w.uc", "w.c", "--int8", "weighed-held.csv"]));
    let told: Value = serde_json::from_str(&stdout(&run(
        &folder.0,
        &["eval", "w.uc", "weighed-held.csv", "--metric", "ap", "--json"],
    )))
    .unwrap();
    let source = fs::read_to_string(folder.path("w.c")).unwrap();
    let says = source.lines().find(|line| line.starts_with("// Weights are bytes")).unwrap();
    let before = format!(
        "({:.4} before)",
        told["ap"].as_f64().or_else(|| told["ap"]["value"].as_f64()).unwrap_or_else(|| panic!("{told}"))
    );
    assert!(says.contains(&before) && says.contains(" by weight on 150 rows"), "{says}: {told}");
    for (args, expected) in [
        (["m.uc", "m.mjs", "--int8", "held.csv"], "--int8 is of C and Rust: expected a name with .c or .rs"),
        (["m.uc", "m.c", "--int8", "m.c"], "m.c: is read by this command; not replaced"),
    ] {
        let output = run(&folder.0, &[&["export"], &args[..]].concat());
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), text.trim_end()), (Some(2), format!("error: {expected}").as_str()));
    }
}

/// Rows without names of columns: one input of all of them.
#[test]
fn exported_models_score_sparse_rows_as_they_do_here() {
    let Some(python) = python() else { return };
    let folder = Folder::new("export-sparse");
    let mut numbers = Numbers(5);
    let row = |row: usize, numbers: &mut Numbers| {
        let cell = |column: usize, numbers: &mut Numbers| format!(" {column}:{:.4}", numbers.next() + (row % 3) as f64);
        let rest = if row == 7 { String::new() } else { cell(1 + row % 4, numbers) + &cell(6, numbers) };
        format!("{}{rest}\n", if row.is_multiple_of(3) { "+1" } else { "-1" })
    };
    folder.write("rows.svm", (0..300).map(|k| row(k, &mut numbers)).collect::<String>());
    for scale in ["unit", "standard", "none", "robust"] {
        let rule = ["--threshold", "mcc", "--out", "m.uc"];
        let train = [&["train", "rows.svm", "--method", "ce", "--steps", "50", "--scale", scale][..], &rule].concat();
        stdout(&run(&folder.0, &train));
        stdout(&run(&folder.0, &["export", "m.uc", "m.onnx"]));
        let (_, ours) = table(&stdout(&run(&folder.0, &["predict", "m.uc", "rows.svm"])));
        let theirs = Command::new(&python).arg(SCRIPT).args(["m.onnx", "rows.svm"]).current_dir(&folder.0).output();
        let (_, theirs) = table(&stdout(&theirs.unwrap()));
        assert_eq!(ours.len(), theirs.len());
        for (ours, theirs) in ours.iter().zip(&theirs) {
            let [a, b]: [f64; 2] = [&ours[0], &theirs[0]].map(|cell| cell.parse().unwrap());
            let rounding = 1e-6 * (1.0 + a.abs());
            assert!((a - b).abs() <= rounding, "{scale}: {a} and {b}");
            assert_eq!(ours[2], theirs[2], "{scale}: {a} and {b}");
        }
    }
}

#[test]
fn what_cannot_be_exported_is_said() {
    let folder = Folder::new("export-bad");
    folder.write("two.csv", awkward(100, ["no", "yes", "no"]));
    let train = ["train", "two.csv", "--label", "label", "--missing", "impute", "--method", "ce", "--steps", "5"];
    stdout(&run(&folder.0, &[&train[..], &["--out", "m.uc"]].concat()));
    stdout(&run(&folder.0, &[&train[..], &["--model", "mlp-tanh:2", "--out", "tanh.uc"]].concat()));
    let before = folder.names();
    for (args, expected) in [
        (["m.uc", "m.txt"], "m.txt: expected a name with .onnx, .json, .c, .js, .mjs or .rs"),
        (["two.csv", "m.json"], "two.csv: not a saved undercurve model"),
        (
            ["tanh.uc", "m.c"],
            "tanh.uc: a model with tanh, which has other bits in every library has no source; .onnx and .json are for all",
        ),
        (["none.uc", "m.json"], "none.uc: No such file or directory"),
        (["m.uc", "nowhere/m.onnx"], "nowhere: No such file or directory"),
    ] {
        let output = run(&folder.0, &[&["export"], &args[..]].concat());
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), text.trim_end()), (Some(2), format!("error: {expected}").as_str()));
        assert_eq!(folder.names(), before);
    }
    assert!(Path::new(SCRIPT).is_file());
}
