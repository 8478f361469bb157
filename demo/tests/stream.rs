//! `train --stream`: a file by passes, a pipe by its copy, hashed categories, and what is refused.

mod common;

use common::{Folder, Numbers, run, stdout, undercurve};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Two columns of numbers, one of them with gaps, and one of categories.
fn table(rows: usize, share: f64, seed: u64) -> Vec<String> {
    let mut numbers = Numbers(seed);
    let mut row = || {
        let label = numbers.next() < share;
        let x = numbers.next() + numbers.next() + if label { 0.8 } else { 0.0 };
        let y = numbers.next() - if label { 0.3 } else { 0.0 };
        let city = ["Bern", "Oslo", "Rome", "Riga"][((numbers.next() * 3.0) as usize + usize::from(label)).min(3)];
        let y = if numbers.next() < 0.05 { String::new() } else { format!("{y:.4}") };
        format!("{x:.4},{y},{city},{}", u8::from(label))
    };
    (0..rows).map(|_| row()).collect()
}

fn csv(rows: &[String]) -> String {
    format!("x,y,city,label\n{}\n", rows.join("\n"))
}

fn error(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    said.lines().filter(|line| line.starts_with("error: ")).collect::<Vec<_>>().join("\n")
}

/// AUROC and AP of a model on a file.
fn measured(folder: &Path, model: &str, file: &str, label: &[&str]) -> [f64; 2] {
    let args = [&["eval", model, file, "--metric", "auroc,ap", "--json", "--quiet"], label].concat();
    let text = stdout(&run(folder, &args));
    let found: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    ["auroc", "ap"].map(|name| found[name].as_f64().unwrap())
}

const STREAM: [&str; 7] = ["--stream", "--buffer", "256", "--steps", "400", "--seed", "3"];

#[test]
fn a_file_and_a_pipe_give_one_model() {
    let folder = Folder::new("stream-same");
    let rows = table(3000, 0.1, 7);
    folder.write("data.csv", csv(&rows));
    let train = |args: &[&str]| {
        let all = [&["train"], args, &["--method", "auc-margin"]].concat();
        run(&folder.0, &all)
    };
    let told = stdout(&train(&[&["data.csv", "--out", "a", "--test", "data.csv"], &STREAM[..]].concat()));
    assert!(told.contains("3000 rows") && told.contains("256 of them in memory"), "{told}");
    assert!(told.contains("3000 test rows"), "{told}");
    stdout(&train(&[&["data.csv", "--out", "b", "--threads", "3"], &STREAM[..]].concat()));

    let mut piped = undercurve();
    piped.current_dir(&folder.0).args(["train", "-", "--out", "c", "--method", "auc-margin"]).args(STREAM);
    let temporary = folder.path("temporary");
    fs::create_dir(&temporary).unwrap();
    let mut child = piped
        .env("TMPDIR", &temporary)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(csv(&rows).as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success() && String::from_utf8_lossy(&output.stderr).contains("were copied to"),
        "{output:?}"
    );
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);

    // (The figures of test rows are in the first one alone, its parameters in all.)
    let scores = |model: &str| stdout(&run(&folder.0, &["predict", model, "data.csv", "--quiet"]));
    assert_eq!(fs::read(folder.path("b")).unwrap(), fs::read(folder.path("c")).unwrap());
    assert_eq!(scores("a"), scores("b"));
    stdout(&train(&["data.csv", "--out", "d", "--stream", "--buffer", "256", "--steps", "400", "--seed", "4"]));
    assert_ne!(scores("a"), scores("d"));
    let [auroc, ap] = measured(&folder.0, "a", "data.csv", &[]);
    assert!(auroc > 0.88 && ap > 0.45, "{auroc} {ap}");
    stdout(&run(&folder.0, &["inspect", "a"]));
    stdout(&run(&folder.0, &["export", "a", "a.onnx"]));
}

#[test]
fn rows_that_fit_are_trained_as_in_memory() {
    let folder = Folder::new("stream-whole");
    folder.write("data.csv", csv(&table(800, 0.2, 5)));
    let scores = |how: &[&str], method: &str, model: &str| -> Vec<f64> {
        let args = [
            &[
                "train", "data.csv", "--steps", "300", "--method", method, "--model", model, "--init", "random",
                "--out", "m",
            ],
            how,
        ];
        stdout(&run(&folder.0, &args.concat()));
        let text = stdout(&run(&folder.0, &["predict", "m", "data.csv", "--quiet"]));
        text.lines().skip(1).map(|line| line.split(',').next().unwrap().parse().unwrap()).collect()
    };
    for (method, model) in [("ce", "linear"), ("smooth-ap", "linear"), ("ppd-sg", "mlp:4")] {
        let (memory, stream) = (scores(&[], method, model), scores(&["--stream"], method, model));
        let away = memory.iter().zip(&stream).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // (Means and deviations are those of merged counts, which differ in the last bits.)
        assert!(away < 1e-4, "{method} {model}: {away}");
    }
}

#[test]
fn the_order_of_the_file_and_rare_positives_do_not_matter_much() {
    let folder = Folder::new("stream-order");
    let mut rows = table(6000, 0.02, 11);
    folder.write("test.csv", csv(&table(4000, 0.1, 12)));
    folder.write("mixed.csv", csv(&rows));
    rows.sort_by_key(|row| row.ends_with('1'));
    let share = rows.iter().filter(|row| row.ends_with('1')).count() as f64 / rows.len() as f64;
    folder.write("sorted.csv", csv(&rows));
    stdout(&run(&folder.0, &["train", "mixed.csv", "--method", "ce", "--out", "memory"]));
    let [best, _] = measured(&folder.0, "memory", "test.csv", &[]);
    for file in ["mixed.csv", "sorted.csv"] {
        stdout(&run(&folder.0, &["train", file, "--stream", "--buffer", "512", "--steps", "3000", "--out", "m"]));
        let [auroc, _] = measured(&folder.0, "m", "test.csv", &[]);
        assert!(auroc > best - 0.01, "{file}: {auroc}, in memory {best}");
        // The intercept knows how many positives there are, however many of them are in memory.
        let text = stdout(&run(&folder.0, &["predict", "m", "mixed.csv", "--quiet"]));
        let odds: Vec<f64> =
            text.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect();
        let mean = odds.iter().sum::<f64>() / odds.len() as f64;
        assert!((mean / share - 1.0).abs() < 0.15, "{file}: {mean}, of {share}");
    }
}

#[test]
fn a_real_table_loses_little() {
    let folder = Folder::new("stream-real");
    let blocks = concat!(env!("CARGO_MANIFEST_DIR"), "/web/samples/page-blocks.csv");
    let label = ["--label", "kind", "--positive", "other"];
    let train = |more: &[&str]| {
        stdout(&run(
            &folder.0,
            &[&["train", blocks, "--method", "ce", "--steps", "4000", "--out", "m"], &label[..], more].concat(),
        ));
        measured(&folder.0, "m", blocks, &[])
    };
    let (memory, stream) = (train(&[]), train(&["--stream", "--buffer", "1000"]));
    for (memory, stream) in memory.iter().zip(stream) {
        assert!((memory - stream).abs() < 0.02, "{memory}, by a stream {stream}");
    }
}

#[test]
fn categories_are_hashed() {
    let folder = Folder::new("stream-hash");
    let mut text = "id,x,label\n".to_string();
    let mut numbers = Numbers(3);
    for row in 0..2000 {
        let label = u8::from(numbers.next() < 0.3);
        writeln!(text, "k{row},{:.3},{label}", numbers.next() + 0.4 * f64::from(label)).unwrap();
    }
    folder.write("data.csv", &text);
    folder.write("new.csv", "id,x\nother,0.5\nk1,0.5\n");
    for how in [&["--stream", "--buffer", "500"][..], &["--method", "ce"]] {
        let args = [&["train", "data.csv", "--hash", "id:16", "--steps", "200", "--out", "m"], how].concat();
        stdout(&run(&folder.0, &args));
        let seen = stdout(&run(&folder.0, &["inspect", "m"]));
        assert!(seen.contains("18") && seen.contains("id=#00003"), "{seen}");
        let output = run(&folder.0, &["predict", "m", "new.csv"]);
        assert!(!String::from_utf8_lossy(&output.stderr).contains("did not occur"), "{output:?}");
        // (Two texts of other buckets have other scores.)
        let scores: Vec<String> = stdout(&output).lines().skip(1).map(str::to_string).collect();
        assert_ne!(scores[0], scores[1]);
        assert!(error(&run(&folder.0, &["export", "m", "m.json"])).contains("hashes column \"id\""));
    }
    for wrong in ["id:3", "id:1", "id:131072"] {
        assert!(!run(&folder.0, &["train", "data.csv", "--hash", wrong, "--out", "n"]).status.success());
    }
    assert!(!folder.path("n").exists());
}

#[test]
fn what_it_cannot_do_is_one_line() {
    let folder = Folder::new("stream-refused");
    let rows = table(300, 0.2, 9);
    folder.write("data.csv", csv(&rows));
    folder.write("one.csv", csv(&rows.iter().filter(|row| row.ends_with('0')).cloned().collect::<Vec<_>>()));
    folder.write("header.csv", "x,label\n");
    folder.write("rows.svm", "1 1:0.5\n0 1:0.2\n");
    folder.write("three.csv", "x,label\n1,a\n2,b\n3,c\n");
    let mut zip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    zip.write_all(csv(&table(5000, 0.2, 2)).as_bytes()).unwrap();
    let zip = zip.finish().unwrap();
    folder.write("cut.csv.gz", &zip[..zip.len() / 2]);
    // Text where the first rows have numbers, and numbers of another kind.
    let late = |cell: &str| {
        let mut text = "x,label\n".to_string();
        (0..140_000).for_each(|row| writeln!(text, "{},{}", row % 977, u8::from(row % 7 == 0)).unwrap());
        text + cell + ",1\n"
    };
    folder.write("late.csv", late("oops"));
    folder.write("limit.csv", late("<5"));
    let before = folder.names();
    let refuse = |args: &[&str], part: &str| {
        let output = run(&folder.0, &[&["train"], args, &["--out", "m", "--stream"]].concat());
        let said = error(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
        assert!(said.lines().count() == 1 && said.contains(part), "{args:?}: {said}");
        assert_eq!(folder.names(), before, "{args:?}");
    };
    for option in [
        &["--split", "0.7"][..],
        &["--valid", "0.2"],
        &["--split-by", "x"],
        &["--save", "r"],
        &["--resume", "r"],
        &["--start", "r"],
        &["--seeds", "3"],
        &["--grid", "lr=.1|.2"],
        &["--constraint", "gap(fpr) <= 0.1"],
        &["--group", "city"],
        &["--weight", "x"],
        &["--class-weight", "balanced"],
        &["--target", "values"],
        &["--threshold", "0.5"],
        &["--calibrate", "platt"],
        &["--cost-fp", "1", "--cost-fn", "2"],
        &["--device", "auto"],
        &["--require"],
    ] {
        refuse(&[&["data.csv"], option].concat(), "cannot be used with --stream: ");
    }
    for method in ["soap", "auc-exact", "ai-sarah", "sonex", "sopa"] {
        refuse(&["data.csv", "--method", method], "rows that come and go are for");
    }
    refuse(&["data.csv", "--set", "sampling=uniform"], "sampling=stratified");
    refuse(&["one.csv"], "two classes");
    refuse(&["header.csv"], "a header and no rows");
    refuse(&["rows.svm"], "LIBSVM");
    refuse(&["three.csv"], "--positive");
    refuse(&["cut.csv.gz"], "cut off");
    refuse(&["nothing.csv"], "nothing.csv");
    refuse(&["late.csv"], "late.csv:140002:1: value \"oops\" in column \"x\" of numbers");
    refuse(&["limit.csv"], "in another way");
    refuse(&["data.csv", "--test", "one.csv", "--steps", "50"], "test rows of one class");
}

#[test]
fn a_file_that_changes_is_refused() {
    let folder = Folder::new("stream-changed");
    let file = folder.write("data.csv", csv(&table(20_000, 0.2, 4)));
    let over = AtomicBool::new(false);
    let output = thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let mut data = OpenOptions::new().append(true).open(&file).unwrap();
                data.write_all(b"0.1,0.2,Bern,0\n").unwrap();
                thread::sleep(Duration::from_millis(3));
            }
        });
        let output = run(&folder.0, &["train", "data.csv", "--stream", "--buffer", "512", "--out", "m"]);
        over.store(true, Ordering::Relaxed);
        output
    });
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(error(&output).contains("data.csv: changed while it was read"), "{output:?}");
    assert_eq!(folder.names(), ["data.csv"]);
}

#[test]
#[cfg(unix)]
fn ctrl_c_leaves_the_model_so_far() {
    let folder = Folder::new("stream-stopped");
    folder.write("data.csv", csv(&table(3000, 0.2, 4)));
    let told = File::create(folder.path("told")).unwrap();
    let args =
        ["train", "data.csv", "--stream", "--buffer", "512", "--steps", "100000000", "--every", "50", "--out", "m"];
    let mut child = undercurve().current_dir(&folder.0).args(args).stdout(told).stderr(Stdio::null()).spawn().unwrap();
    while fs::read_to_string(folder.path("told")).unwrap().lines().count() < 4 {
        thread::sleep(Duration::from_millis(5));
        assert!(child.try_wait().unwrap().is_none());
    }
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let scores = stdout(&run(&folder.0, &["predict", "m", "data.csv", "--quiet"]));
    assert_eq!(scores.lines().count(), 3001);
    assert_eq!(folder.names(), ["data.csv", "m", "told"]);
}
