//! What the commands print, write and refuse.

mod common;

use common::{Folder, Numbers, csv, run, stdout, undercurve};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use undercurve_tests::vulkan::FaultLayer;

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn bad_input_is_one_line_and_writes_nothing() {
    let folder = Folder::new("bad-input");
    let whole = gzip(&csv(200));
    let cases: &[(&str, &[u8], &str)] = &[
        ("ragged.csv", b"a,b,label\n1,2,0\n1,2\n3,4,1\n", "ragged.csv:3"),
        ("nan.csv", b"a,b,label\n1,2,0\n1,nan,1\n3,4,1\n", "nan.csv:3:2: "),
        ("infinite.csv", b"a,b,label\n1,2,0\ninf,2,1\n3,4,1\n", "infinite.csv:3:1: "),
        ("one-class.csv", b"a,label\n1,0\n2,0\n3,0\n", "one-class.csv: every label in column \"label\" is \"0\""),
        ("empty.csv", b"", "empty.csv: "),
        ("header.csv", b"a,label\n", "header.csv"),
        ("binary.csv", b"\x7fELF\x00\x01\x02\x03", "binary.csv: "),
        ("cut.csv.gz", &whole[..whole.len() / 2], "cut.csv.gz: "),
        ("zero.svm", b"-1 1:1\n+1 0:1 2:1\n", "zero.svm:2:2: "),
        ("repeated.svm", b"-1 1:1\n+1 2:1 2:3\n", "repeated.svm:2:3: "),
        ("token.svm", b"-1 1:1\n+1 2;1\n", "token.svm:2:2: "),
        ("no-label.csv", b"a,b\n1,2\n3,4\n", "no-label.csv:1: "),
        (
            "missing.csv",
            b"a,label\n1,0\n,1\n2,1\n",
            "missing.csv:3:1: missing value in column \"a\" (without --missing refuse it is filled in)",
        ),
    ];
    for (name, content, start) in cases {
        let file = folder.write(name, content);
        for rest in [&["--split", "0.5"][..], &[]] {
            let mut args = vec!["train", name, "--method", "soap", "--missing", "refuse", "--save", "out.model"];
            args.extend(rest);
            refused(&folder, &args, start);
        }
        fs::remove_file(file).unwrap();
    }
    folder.write("good.csv", csv(100));
    let train = |extra: &[&'static str]| {
        let mut args = vec!["train", "good.csv", "--method", "soap", "--save", "out.model"];
        args.extend(extra);
        args
    };
    refused(&folder, &["train", "absent.csv", "--method", "soap", "--save", "out.model"], "absent.csv: ");
    refused(&folder, &train(&["--label", "weight"]), "good.csv:1: there is no column \"weight\"");
    refused(&folder, &train(&["--positive", "7"]), "good.csv: ");
    refused(&folder, &train(&["--test", "absent.csv"]), "absent.csv: ");
    refused(&folder, &train(&["--set", "gamma=2"]), "gamma");
    refused(&folder, &train(&["--set", "gama=1"]), "method soap has no parameter \"gama\"; did you mean gamma? It has");
    refused(&folder, &train(&["--set", "zzz=1"]), "method soap has no parameter \"zzz\"; it has steps, ");
    refused(&folder, &train(&["--set", "lr=1", "--set", "gamma=1", "--set", "lr=2"]), "--set lr: given twice");
    // What the data do not decide is said before they are read.
    let early = |setting: &'static str| ["train", "none.csv", "--method", "soap", "--set", setting];
    refused(&folder, &early("gama=1"), "did you mean gamma?");
    refused(&folder, &early("lr=x"), "lr = \"x\": expected auto or a number");
    refused(&folder, &train(&["--ignore", "a,label"]), "--ignore label: is the label column of good.csv");
    refused(
        &folder,
        &train(&["--na", "lable=9"]),
        "--na lable=9: good.csv has no column \"lable\"; did you mean \"label\"?",
    );
    let prepare = ["prepare", "good.csv", "--train", "part.csv", "--ignore", "label"];
    refused(&folder, &prepare, "--ignore label: is the label column of good.csv");
    refused(&folder, &train(&["--model", "mlp:2,2,2,2,2,2,2,2,2"]), "9 hidden layers are more than there may be, 8");
    refused(&folder, &train(&["--model", "tree"]), "model \"tree\"");
    refused(&folder, &train(&["--split", "1.5"]), "--split");
    refused(&folder, &["train", "good.csv", "--method", "soup", "--save", "out.model"], "did you mean soap?");
    refused(&folder, &["metrics", "good.csv", "--metric", "aurock"], "did you mean auroc?");
    refused(&folder, &["train", "good.csv", "--method", "soap", "--save", "absent/out.model"], "absent: ");
    refused(&folder, &["train", "good.csv", "--resume", "good.csv"], "good.csv: not a saved undercurve model");
    refused(&folder, &["train", "good.csv", "--method", "soap", "--save", "good.csv"], "good.csv: ");
    refused(&folder, &["eval", "good.csv", "good.csv"], "good.csv: ");
    refused(&folder, &["metrics", "good.csv"], "good.csv:1: there is no column \"score\"");
    // What is wrong with the options themselves is one line as well.
    refused(&folder, &["train", "good.csv", "--method", "soap", "--stepz", "3"], "--steps");
    refused(&folder, &["train", "good.csv", "--method", "soap", "--steps", "three"], "three");
    refused(&folder, &["train", "good.csv", "--method", "soap", "--steps", "3", "--passes", "2"], "--passes");
    refused(&folder, &["trian"], "train");
    assert_eq!(fs::read_to_string(folder.path("good.csv")).unwrap(), csv(100));
}

/// Exit code 2, one line with `part` in it, nothing on stdout, no new file.
fn refused(folder: &Folder, args: &[&str], part: &str) {
    let before = folder.names();
    let output = run(&folder.0, args);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
    assert_eq!(text.matches('\n').count(), 1, "{args:?}: {text}");
    assert!(text.starts_with("error: ") && text.contains(part), "{args:?}: {text}");
    assert!(output.stdout.is_empty(), "{args:?}");
    assert_eq!(folder.names(), before, "{args:?}");
}

#[test]
fn reports_are_json_and_a_saved_model_measures_the_same() {
    let folder = Folder::new("json");
    let (train, test) = (csv(300), csv(200));
    folder.write("train.csv", &train);
    folder.write("test.csv", test.replace("0.9", "0.8"));
    for (precision, model) in [("f32", "linear"), ("f64", "mlp:5")] {
        let args = [
            "train",
            "train.csv",
            "--test",
            "test.csv",
            "--method",
            "soap",
            "--model",
            model,
            "--precision",
            precision,
            "--steps",
            "100",
            "--every",
            "25",
            "--fpr",
            "0.1:0.6",
            "--threshold",
            "fpr<=0.6",
            "--save",
            "run.model",
            "--json",
        ];
        let reports = objects(&stdout(&run(&folder.0, &args)));
        assert_eq!(reports.iter().filter_map(|r| r["step"].as_u64()).collect::<Vec<_>>(), [0, 25, 50, 75, 100]);
        for report in &reports[..5] {
            for key in ["pass", "seconds", "objective"] {
                assert!(report[key].is_number(), "{report}");
            }
            for part in ["train", "test"] {
                for key in ["auroc", "ap", "pauc", "accuracy:0"] {
                    assert!((0.0..=1.0).contains(&report[part][key].as_f64().unwrap()), "{report}");
                }
            }
        }
        let last = &reports[5];
        assert_eq!((last["done"].as_bool(), last["steps"].as_u64()), (Some(true), Some(100)));
        assert_eq!((last["rows"].as_u64(), last["columns"].as_u64()), (Some(300), Some(5)));
        assert_eq!((last["positives"].as_u64(), last["method"].as_str()), (Some(60), Some("soap")));
        assert_eq!((last["backend"].as_str(), last["precision"].as_str()), (Some("cpu"), Some(precision)));

        let metrics = "auroc,ap,pauc,accuracy:0,tpr,fpr";
        let eval = ["eval", "run.model", "test.csv", "--json", "--scores", "scores.csv", "--metric", metrics];
        let measured = objects(&stdout(&run(&folder.0, &eval)));
        let again = objects(&stdout(&run(
            &folder.0,
            &["metrics", "scores.csv", "--json", "--metric", "auroc,ap,pauc:0.1:0.6,accuracy:0"],
        )));
        for key in ["auroc", "ap", "pauc", "accuracy:0"] {
            assert_eq!(measured[0][key], reports[4]["test"][key], "{key}");
            let named = if key == "pauc" { "pauc:0.1:0.6" } else { key };
            assert_eq!(again[0][named], measured[0][key], "{key}");
        }
        // The model's threshold keeps its rule in training, and eval takes it.
        let rates = &last["threshold"];
        let at = rates["at"].as_f64().unwrap();
        assert!(rates["fpr"].as_f64().unwrap() <= 0.6 && rates["tpr"].as_f64().unwrap() > 0.0, "{rates}");
        assert_eq!((&measured[0]["fpr"], &measured[0]["tpr"]), (&rates["test_fpr"], &rates["test_tpr"]));
        let named = format!("fpr:{at},tpr:{at}");
        let again = objects(&stdout(&run(&folder.0, &["metrics", "scores.csv", "--json", "--metric", &named])));
        assert_eq!(again[0][format!("fpr:{at}")], rates["test_fpr"]);
        assert_eq!(again[0][format!("tpr:{at}")], rates["test_tpr"]);
        let wrong = run(&folder.0, &["metrics", "scores.csv", "--metric", "tpr"]);
        assert_eq!(wrong.status.code(), Some(2));
    }
}

#[test]
fn a_resumed_run_ends_with_the_bytes_of_an_uninterrupted_one() {
    let folder = Folder::new("resume");
    folder.write("data.csv", csv(300));
    folder.write("other.csv", csv(310));
    for method in ["soap", "ce"] {
        let start =
            ["train", "data.csv", "--split", "0.7", "--method", method, "--steps", "6000", "--save-every", "50"];
        stdout(&run(&folder.0, &[&start[..], &["--save", "whole.model"]].concat()));
        // Out of time after a few steps, and again, and to the end.
        stdout(&run(&folder.0, &[&start[..], &["--save", "parts.model", "--seconds", "0.003"]].concat()));
        assert_ne!(fs::read(folder.path("parts.model")).unwrap(), fs::read(folder.path("whole.model")).unwrap());
        refused(&folder, &["train", "other.csv", "--resume", "parts.model"], "another training data set");
        refused(&folder, &["train", "data.csv", "--resume", "parts.model", "--seed", "2"], "another seed");
        let precision = ["train", "data.csv", "--resume", "parts.model", "--precision", "f64"];
        refused(&folder, &precision, "another precision");
        for (option, value) in [
            ("--missing", "refuse"),
            ("--label", "a"),
            ("--label", "1"),
            ("--categorical", "a"),
            ("--ignore", "b"),
            ("--ignore", "nothing"),
        ] {
            refused(&folder, &["train", "data.csv", "--resume", "parts.model", option, value], option);
        }
        stdout(&run(&folder.0, &["train", "data.csv", "--resume", "parts.model", "--seconds", "0.003"]));
        stdout(&run(&folder.0, &["train", "data.csv", "--resume", "parts.model"]));
        assert_eq!(fs::read(folder.path("parts.model")).unwrap(), fs::read(folder.path("whole.model")).unwrap());
    }
}

/// Without a method cross-entropy: of linear models with its penalty by folds; of numbers least squares.
#[test]
fn a_run_without_a_method_has_one() {
    let folder = Folder::new("unnamed");
    folder.write("data.csv", csv(200));
    folder.write(
        "more.csv",
        csv(200)
            .lines()
            .enumerate()
            .map(
                |(k, line)| {
                    if k == 0 { format!("{line}\n") } else { format!("{}{}\n", &line[..line.len() - 1], k % 3) }
                },
            )
            .collect::<String>(),
    );
    let model = |file: &str, args: &[&str]| {
        stdout(&run(&folder.0, &[&["train", file, "--steps", "40", "--out", "m"], args].concat()));
        fs::read(folder.path("m")).unwrap()
    };
    assert_eq!(model("data.csv", &[]), model("data.csv", &["--method", "ce-exact"]));
    let network = ["--model", "mlp:3"];
    assert_eq!(model("data.csv", &network), model("data.csv", &[&network[..], &["--method", "ce"]].concat()));
    let classes = ["--target", "classes"];
    assert_eq!(model("more.csv", &classes), model("more.csv", &[&classes[..], &["--method", "ce"]].concat()));
    let values = ["--target", "values"];
    let sums = [&values[..], &["--method", "ai-sarah", "--set", "loss=least-squares"]].concat();
    assert_eq!(model("more.csv", &values), model("more.csv", &sums));
}

/// Under a constant rate a run that goes on for longer is the long run.
#[test]
fn a_resumed_run_goes_on_for_longer_and_at_another_rate() {
    let folder = Folder::new("longer");
    folder.write("data.csv", csv(300));
    for more in [
        &["--method", "soap", "--set", "schedule=constant", "--set", "pretrain=40"][..],
        &["--method", "sarah", "--model", "mlp-tanh:4", "--set", "alpha=0.1"],
    ] {
        let start = [&["train", "data.csv", "--split", "0.7"], more].concat();
        let until = |file, steps, model| {
            let length = ["--steps", steps, "--save", file, "--out", model];
            stdout(&run(&folder.0, &[&start[..], &length].concat()));
        };
        until("long.run", "400", "long.model");
        until("short.run", "250", "short.model");
        let resume = ["train", "data.csv", "--resume", "short.run"];
        stdout(&run(&folder.0, &[&resume[..], &["--steps", "400", "--out", "longer.model"]].concat()));
        let scores = |model| stdout(&run(&folder.0, &["predict", model, "data.csv"]));
        assert_eq!(scores("longer.model"), scores("long.model"));
        assert_ne!(scores("longer.model"), scores("short.model"));
        refused(
            &folder,
            &[&resume[..], &["--steps", "300"]].concat(),
            "a length of 300 steps: the run has done 400 already",
        );
    }
    let start = ["train", "data.csv", "--method", "soap", "--steps", "50", "--save", "run"];
    stdout(&run(&folder.0, &start));
    let resume = ["train", "data.csv", "--resume", "run", "--steps", "80"];
    for (set, text) in [
        ("schedule=constant", "saved with another schedule"),
        ("positives=3", "saved with another positives"),
        ("lr=-1", "lr = \"-1\": expected auto or a number"),
        ("speed=1", "method soap has no parameter \"speed\""),
    ] {
        refused(&folder, &[&resume[..], &["--set", set]].concat(), text);
    }
    let before = fs::read(folder.path("run")).unwrap();
    refused(&folder, &["train", "data.csv", "--resume", "run", "--method", "ce"], "another method");
    assert_eq!(fs::read(folder.path("run")).unwrap(), before);
    for (rate, file) in [("0.1", "fast.model"), ("0.0001", "slow.model")] {
        folder.write("copy", &before);
        let again = ["train", "data.csv", "--resume", "copy", "--steps", "80", "--set"];
        stdout(&run(&folder.0, &[&again[..], &[&format!("lr={rate}"), "--out", file]].concat()));
    }
    let scores = |model| stdout(&run(&folder.0, &["predict", model, "data.csv"]));
    assert_ne!(scores("fast.model"), scores("slow.model"));
    // With validation rows the best step of both parts is kept.
    let valid = ["--valid", "0.2", "--save", "valid.run"];
    stdout(&run(&folder.0, &[&start[..6], &valid].concat()));
    let longer = ["train", "data.csv", "--resume", "valid.run", "--steps", "90", "--json"];
    let totals = objects(&stdout(&run(&folder.0, &longer))).pop().unwrap();
    assert_eq!((totals["steps"].as_u64(), totals["kept"]["metric"].as_str()), (Some(90), Some("ap")), "{totals}");
    let inspected = stdout(&run(&folder.0, &["inspect", "copy"]));
    assert!(inspected.contains("lr 0.0001") && inspected.contains("step 80 of 80, finished"), "{inspected}");
}

/// A method that finds nothing more to do before its steps are over reports and saves where it ended.
#[test]
fn a_converged_run_reports_and_saves_its_end() {
    let folder = Folder::new("converged");
    folder.write("data.csv", csv(300));
    let train = [
        "train",
        "data.csv",
        "--method",
        "auc-exact",
        "--set",
        "pretrain=0",
        "--set",
        "tolerance=0.1",
        "--save",
        "end.model",
        "--json",
    ];
    let lines = objects(&stdout(&run(&folder.0, &train)));
    let (last, totals) = (&lines[lines.len() - 2], &lines[lines.len() - 1]);
    assert!(totals["steps"].as_u64().unwrap() < 200, "{totals}");
    assert_eq!(last["step"], totals["steps"]);
    assert!(last["train"]["auroc"].as_f64() > lines[0]["train"]["auroc"].as_f64());
    let eval = objects(&stdout(&run(&folder.0, &["eval", "end.model", "data.csv", "--metric", "auroc", "--json"])));
    assert_eq!(eval[0]["auroc"], last["train"]["auroc"]);
}

/// What a developer's program has now is refused by its name, whatever follows.
#[test]
fn what_moved_is_named() {
    let folder = Folder::new("moved");
    for (args, command) in [
        (&["serve"][..], "`cargo demo`"),
        (&["serve", "--build-only"], "`cargo demo`"),
        (&["bench"], "`cargo experiment`"),
        (&["bench", "pauc", "--quick"], "`cargo experiment`"),
    ] {
        let output = run(&folder.0, args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{args:?}: {said}");
        assert!(said.lines().count() == 1 && said.contains(command), "{args:?}: {said}");
    }
    let said = String::from_utf8(run(&folder.0, &["serves"]).stderr).unwrap();
    assert!(said.contains("unrecognized subcommand 'serves'"), "{said}");
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let folder = Folder::new("pipe");
    folder.write("data.csv", csv(300));
    let mut child = undercurve()
        .current_dir(&folder.0)
        .args(["train", "data.csv", "--method", "ce", "--every", "1", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(0), String::new()));
}

/// What the errors of a run on its way name as remedies, each on the run that got the error.
#[test]
fn what_errors_of_a_run_name_helps() {
    let folder = Folder::new("remedies");
    folder.write("data.csv", csv(300));
    let start = ["train", "data.csv", "--steps", "60"];
    for (failing, said, remedies) in [
        (
            &["--method", "soap", "--set", "sampling=uniform", "--set", "batch=3"][..],
            "use --set sampling=stratified, or a larger batch (--set batch=…)",
            &[
                &["--method", "soap", "--set", "sampling=stratified"][..],
                &["--method", "soap", "--set", "sampling=uniform", "--set", "batch=100"],
            ][..],
        ),
        (
            &["--method", "ppd-sg", "--set", "pretrain=0", "--set", "lr=1e30"],
            "a smaller learning rate (--set lr=…) may help",
            &[&["--method", "ppd-sg", "--set", "pretrain=0", "--set", "lr=1"]],
        ),
        (
            &["--method", "sarah", "--set", "alpha=1e30"],
            "a smaller step size (--set alpha=…) may help",
            &[&["--method", "sarah", "--set", "alpha=0.5"]],
        ),
    ] {
        let output = run(&folder.0, &[&start[..], failing].concat());
        assert!(!output.status.success(), "{failing:?}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(said), "{failing:?}: {output:?}");
        for remedy in remedies {
            let text = stdout(&run(&folder.0, &[&start[..], remedy, &["--json"]].concat()));
            assert!(objects(&text).pop().unwrap()["warning"].is_null(), "{remedy:?}: {text}");
        }
    }
}

/// Where the interval of AUROC holds 1/2 the run says so, of the rows that it has seen least of; where it does not, nothing is said.
#[test]
fn a_run_that_found_nothing_says_so() {
    let folder = Folder::new("signal");
    let mut numbers = Numbers(11);
    let mut noise = String::from("a,b,label\n");
    for row in 0..600 {
        noise += &format!("{},{},{}\n", numbers.next(), numbers.next(), usize::from(row % 5 == 0));
    }
    folder.write("noise.csv", noise);
    folder.write("data.csv", csv(600));
    let totals = |args: &[&str]| {
        let output = run(&folder.0, &[&["train"], args, &["--method", "ce", "--steps", "150", "--json"]].concat());
        objects(&stdout(&output)).pop().unwrap()
    };
    for (parts, part) in [
        (&["--split", "0.6"][..], "test"),
        (&["--split", "0.6", "--valid", "0.3"], "test"),
        (&["--valid", "0.4"], "validation"),
        (&[], "training"),
    ] {
        let told = totals(&[&["noise.csv"], parts].concat());
        let ends = told["no_signal"]["interval"].as_array().unwrap();
        assert_eq!(told["no_signal"]["part"], part);
        assert!(ends[0].as_f64() <= Some(0.5) && ends[1].as_f64() > Some(0.5), "{told}");
        assert!(totals(&[&["data.csv"], parts].concat())["no_signal"].is_null());
        let text = |data: &str| stdout(&run(&folder.0, &[&["train", data, "--steps", "150"], parts].concat()));
        let line = format!("No signal found: the 95 % interval of AUROC on the {part} rows, [0.");
        assert!(text("noise.csv").contains(&line) && !text("data.csv").contains("signal"), "{part}");
    }
    let many =
        ["train", "noise.csv", "--split", "0.6", "--method", "ce", "--steps", "50", "--seeds", "3", "--csv", "r.csv"];
    let shown = stdout(&run(&folder.0, &many));
    assert!(shown.contains("3 of 3 runs found no signal"), "{shown}");
    let all = objects(&stdout(&run(&folder.0, &[&many[..], &["--json"]].concat())));
    assert!(all[..3].iter().all(|row| row["no_signal"]["part"] == "test") && all[3]["no_signal"] == 3, "{all:?}");
}

/// A ranking method that does not get as far as cross-entropy says so, by the validation rows; never cross-entropy, or a method that does.
#[test]
fn a_run_behind_cross_entropy_says_so() {
    let folder = Folder::new("behind");
    let mut numbers = Numbers(5);
    let mut text = String::from("a,b,label\n");
    for row in 0..1200 {
        // (Only the small difference of two columns says anything.)
        let (large, small) = (numbers.next(), 0.2 * numbers.next());
        let positive = row % 5 == 0;
        text += &format!("{},{large},{}\n", large + small + if positive { 0.1 } else { 0.0 }, u8::from(positive));
    }
    folder.write("two.csv", &text);
    let train = |args: &[&str]| run(&folder.0, &[&["train", "two.csv", "--steps", "1500"], args].concat());
    let slow = ["--method", "soap", "--set", "lr=1e-5", "--set", "pretrain=0"];
    let told = |args: &[&str]| objects(&stdout(&train(&[args, &["--json"]].concat()))).pop().unwrap()["behind"].clone();
    let behind = told(&[&slow[..], &["--valid", "0.4"]].concat());
    let [low, high] = [0, 1].map(|end| behind["interval"][end].as_f64().unwrap());
    let difference = behind["difference"].as_f64().unwrap();
    assert!(low < difference && difference < high && high < 0.0 && difference < -0.2, "{behind}");
    assert_eq!((&behind["metric"], &behind["part"]), (&"ap".into(), &"validation".into()));
    // Whatever the test rows are: half of these are another sample, and they are not asked.
    let parts = ["--valid", "0.4", "--split", "0.5"];
    assert!(!told(&[&slow[..], &parts].concat()).is_null());
    for args in [
        &[&slow[..], &["--split", "0.5"]].concat()[..],
        &["--valid", "0.4", "--method", "soap"],
        &["--valid", "0.4", "--method", "ce", "--set", "lr=1e-5"],
    ] {
        assert!(told(args).is_null(), "{args:?}");
    }
    let output = train(&[&slow[..], &["--valid", "0.4", "--model", "mlp:4", "--init", "random"]].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    let line = "warning: on the validation rows the model is behind cross-entropy with a linear model by 0.";
    assert!(said.contains(line) && said.contains("; try --method ce with this model, or linear, or"), "{said}");
}

/// Exact methods end by themselves before a fifth look; others that end before patience does say nothing.
#[test]
fn patience_without_a_part_is_told() {
    let folder = Folder::new("patience");
    folder.write("few.csv", csv(900));
    let told = |args: &[&str]| {
        let output = run(
            &folder.0,
            &[&["train", "few.csv", "--valid", "0.3", "--steps", "600", "--patience", "5"], args].concat(),
        );
        String::from_utf8(output.stderr).unwrap()
    };
    let line = "note: patience 5 had no part: the run ended by itself before so many looks at the validation rows";
    assert!(told(&["--method", "ce-exact"]).contains(line));
    assert!(!told(&["--method", "ce"]).contains("patience"));
}

/// A run on few rows that is compared with nothing says so, and what would tell.
#[test]
fn a_run_on_few_rows_says_that_nothing_tells_whether_it_is_ahead() {
    let folder = Folder::new("unvalidated");
    folder.write("few.csv", csv(900));
    let told = |args: &[&str]| {
        let output = run(&folder.0, &[&["train", "few.csv", "--steps", "300", "--json"], args].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (objects(&stdout(&output)).pop().unwrap()["unvalidated"].clone(), said)
    };
    let (few, said) = told(&["--method", "pauc-exact", "--fpr", "0:0.1"]);
    let line = format!(
        "note: {} positives and {} negatives in the range are few, and no validation rows tell whether pauc-exact is ahead of \
         cross-entropy here; try `undercurve compare FILE --metric pauc`, or --valid 0.3",
        few["positives"], few["negatives"]
    );
    assert!(said.contains(&line) && few["negatives"].as_u64().unwrap() < 90, "{said}");
    // Either remedy works, and cross-entropy is ahead of itself by nothing.
    assert!(told(&["--method", "pauc-exact", "--fpr", "0:0.1", "--valid", "0.3"]).0.is_null());
    assert!(told(&["--method", "ce"]).0.is_null());
    let compare = ["compare", "few.csv", "--metric", "pauc", "--methods", "pauc-exact", "--fpr", "0:0.1"];
    assert!(stdout(&run(&folder.0, &compare)).contains("pauc-exact"));
    // Enough rows of both classes tell enough.
    folder.write("few.csv", csv(3000));
    assert!(told(&["--method", "soap"]).0.is_null());
}

#[test]
fn methods_are_listed_with_their_parameters() {
    let folder = Folder::new("methods");
    let all = objects(&stdout(&run(&folder.0, &["methods", "--json"])));
    let (two, several) = all.split_at(undercurve::registry::METHODS.len());
    assert!(two.iter().all(|method| method["classes"].is_null()));
    // Few come with when to take them, and none is left out.
    let listed = stdout(&run(&folder.0, &["methods"]));
    let words: Vec<&str> = listed.split([' ', '\n', ',', '.']).collect();
    assert!(undercurve::registry::METHODS.iter().all(|method| words.contains(&method.name)), "{listed}");
    let (first, _) = listed.split_once("Variants, and what the papers compare with").unwrap();
    let first: Vec<&str> = first.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    assert!(first.iter().filter(|name| !name.is_empty()).count() <= 24, "{first:?}");
    assert!(stdout(&run(&folder.0, &["methods", "top"])).starts_with("top: cross-entropy"));
    assert_eq!(several.len(), undercurve::registry::class_methods().count());
    for (method, known) in several.iter().zip(undercurve::registry::class_methods()) {
        assert_eq!((&method["name"], &method["classes"]), (&known.name.into(), &"several".into()));
        let text = stdout(&run(&folder.0, &["methods", known.name]));
        let (_, text) = text.split_once("On more than two classes:").unwrap();
        assert!(known.params.iter().all(|param| text.contains(param.name)), "{text}");
    }
    for (method, known) in all.iter().zip(undercurve::registry::METHODS) {
        assert_eq!(method["name"], known.name);
        assert_eq!(method["params"].as_array().unwrap().len(), known.params.len());
        let text = stdout(&run(&folder.0, &["methods", known.name]));
        assert!(known.params.iter().all(|param| text.contains(param.name)), "{text}");
    }
}

/// The `--device` that takes this machine's first adapter: hardware when there is any, software by its name. `None`
/// where there is no driver, and the test counts as skipped.
fn graphics(folder: &Folder) -> Option<&'static str> {
    let mut command = undercurve();
    command.args(["train", "a.csv", "--method", "soap", "--steps", "1", "--device", "gpu"]);
    // (Mesa says so when this is not set.)
    let output = command.current_dir(&folder.0).env("XDG_RUNTIME_DIR", &folder.0).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("no GPU adapter that can compute") {
        undercurve_tests::skipped("no GPU driver found (on Debian: apt install mesa-vulkan-drivers)");
        return None;
    }
    if output.status.success() {
        return Some("gpu");
    }
    // One line that says what there is and how to ask for it.
    assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
    assert!(said.starts_with("error: --device gpu: the only GPU adapters found are in software"), "{said}");
    let device = ["gpu:llvmpipe", "gpu:swiftshader"].into_iter().find(|device| said.contains(device));
    assert!(device.is_some(), "{said}");
    device
}

/// Trains for sixty steps, saves the run, and gives the JSON lines and what was said.
fn train_on(folder: &Folder, method: &str, device: &str, with: impl FnOnce(&mut Command)) -> (Vec<Value>, String) {
    let mut command = undercurve();
    command.current_dir(&folder.0);
    command.args(["train", "a.csv", "--method", method, "--steps", "60", "--json", "--device", device]);
    // (Steps of cross-entropy, with which SOAP begins, are the CPU's.)
    command.args(["--save", "run.model", "--set", "pretrain=0"]);
    with(&mut command);
    let output = command.output().unwrap();
    (objects(&stdout(&output)), String::from_utf8(output.stderr).unwrap())
}

fn last_ap(lines: &[Value]) -> f64 {
    lines[lines.len() - 2]["train"]["ap"].as_f64().unwrap()
}

fn backend(lines: &[Value]) -> &str {
    lines[lines.len() - 1]["backend"].as_str().unwrap()
}

/// What the program said, without what drivers say.
fn notes(said: &str) -> Vec<&str> {
    said.lines().filter(|line| line.starts_with("note: ") || line.contains("panicked")).collect()
}

/// With a driver the GPU's run ends where the processor's does; without one it is refused, and `auto` trains on the processor.
#[test]
fn device_gpu_trains_like_the_cpu() {
    let folder = Folder::new("device");
    folder.write("a.csv", csv(400));
    let device = graphics(&folder);
    for method in ["soap", "auc-pairwise", "ap-exact"] {
        let (cpu, _) = train_on(&folder, method, "cpu", |_| ());
        assert_eq!(backend(&cpu), "cpu");
        if let Some(device) = device {
            let (gpu, said) = train_on(&folder, method, device, |_| ());
            assert!(backend(&gpu).starts_with("gpu: "), "{}", backend(&gpu));
            let software = notes(&said).iter().filter(|note| note.ends_with("slower than the CPU")).count();
            assert_eq!(software, usize::from(device != "gpu"), "{said}");
            // The same batches; 60 steps of f32 sums in another order.
            assert!((last_ap(&gpu) - last_ap(&cpu)).abs() < 1e-3, "{} and {}", last_ap(&gpu), last_ap(&cpu));
            assert!(last_ap(&gpu) > 0.4);
        }
    }
    let train = |method: &str, device: &str, precision: &str| {
        let args = ["train", "a.csv", "--method", method, "--steps", "2", "--device", device, "--precision", precision];
        run(&folder.0, &args)
    };
    for (wrong, why) in [
        ("gpu:", "expected cpu, auto, gpu or gpu:NAME"),
        ("tpu", "expected cpu, auto, gpu or gpu:NAME"),
        ("gpu:none", "none"),
    ] {
        let output = train("soap", wrong, "f32");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if device.is_some() || wrong != "gpu:none" {
            assert!(output.status.code() == Some(2) && said.contains(why), "{said}");
        }
    }
}

/// What no GPU trains is refused in one sentence, the same with any driver and with none; `auto` trains it on the processor and says so.
#[test]
fn what_no_gpu_trains_is_refused_with_and_without_a_driver() {
    let folder = Folder::new("no-kernel");
    folder.write("a.csv", csv(400));
    let device = graphics(&folder).unwrap_or("gpu");
    let train = |device: &str, more: &[&str], drivers: bool| {
        let mut command = undercurve();
        command.current_dir(&folder.0).env("XDG_RUNTIME_DIR", &folder.0);
        command.args(["train", "a.csv", "--steps", "60", "--json", "--device", device]).args(more);
        if !drivers {
            command.env("VK_DRIVER_FILES", "/nonexistent.json").env("VK_ICD_FILENAMES", "/nonexistent.json");
        }
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr.clone()).unwrap();
        let ours: Vec<String> =
            said.lines().filter(|line| line.contains(": ") && !line.contains("XDG")).map(str::to_string).collect();
        (output.status.code(), ours, objects(&String::from_utf8(output.stdout).unwrap()))
    };
    let cases: [(&[&str], &str); 8] = [
        (&["--method", "agd-sbcd"], "method agd-sbcd has no GPU kernel for this step rule; methods that have: "),
        (&["--method", "agd-sbcd", "--seeds", "2"], "this step rule; methods that, of many runs, have: "),
        (&["--method", "ai-sarah"], "no GPU kernel for a finite sum; methods that have: "),
        (&["--method", "oauc", "--seeds", "2"], "no GPU kernel for this step rule; "),
        (&["--method", "ap-exact", "--seeds", "2"], "method ap-exact has no GPU kernel for this objective; "),
        (&["--method", "ap-exact", "--model", "mlp:3"], "exact objectives of networks; with --model linear it has"),
        (&["--method", "soap", "--precision", "f64"], "a GPU computes in f32 only, so leave out --precision f64"),
        (&["--method", "soap", "--seeds", "2", "--precision", "f64"], "a GPU computes in f32 only"),
    ];
    for (more, why) in cases {
        let known: Vec<_> = [true, false].map(|drivers| train(device, more, drivers)).into();
        for (code, said, lines) in &known {
            assert!(*code == Some(2) && lines.is_empty() && said.len() == 1, "{more:?}: {code:?} {said:?}");
            assert!(said[0].starts_with(&format!("error: --device {device}: ")) && said[0].contains(why), "{said:?}");
            assert!(said[0].contains("; use --device cpu, or --device auto"), "{said:?}");
        }
        assert_eq!(known[0].1, known[1].1);
        let (code, said, lines) = train("auto", more, true);
        assert!(
            code == Some(0) && said.iter().any(|line| line.starts_with("note: ") && line.contains("CPU")),
            "{said:?}"
        );
        assert!(backend(&lines).starts_with("cpu"), "{}", backend(&lines));
    }
    // No adapter is an error, too, where one is asked for.
    if cfg!(target_os = "linux") {
        for device in ["gpu", "gpu:llvmpipe"] {
            for more in [&["--method", "soap"][..], &["--method", "auc-exact"], &["--seeds", "2"]] {
                let (code, said, _) = train(device, more, false);
                let why =
                    format!("error: --device {device}: no GPU adapter that can compute was found; use --device cpu");
                assert!(code == Some(2) && said.len() == 1 && said[0].starts_with(&why), "{said:?}");
            }
        }
        let (code, said, lines) = train("auto", &["--seeds", "2"], false);
        assert!(code == Some(0) && said[0].starts_with("note: CPU: no GPU adapter"), "{said:?}");
        assert!(backend(&lines).starts_with("cpu, "), "{}", backend(&lines));
    }
}

/// Seeds and points of a grid, JSON lines and what was said.
fn many_on(folder: &Folder, device: &str, more: &[&str], with: impl FnOnce(&mut Command)) -> (Vec<Value>, String) {
    let mut command = undercurve();
    command.args(["train", "a.csv", "--steps", "60", "--json", "--device", device]).args(more);
    with(command.current_dir(&folder.0));
    let output = command.output().unwrap();
    (objects(&stdout(&output)), String::from_utf8(output.stderr).unwrap())
}

/// The rows of runs side by side are those of the processor up to rounding, also where the device is lost on the way; what has
/// no kernel is told and trained on the processor.
#[test]
fn many_runs_go_side_by_side_on_the_gpu() {
    let folder = Folder::new("side-by-side");
    folder.write("a.csv", csv(400));
    folder.write("valid.csv", csv(150));
    let valid = ["--valid", "valid.csv", "--seeds", "2", "--grid", "lr=.01|.1"];
    let (cpu, _) = many_on(&folder, "cpu", &valid, |_| ());
    // No hardware adapter is no reason not to train; a software one is never chosen.
    let (auto, said) = many_on(&folder, "auto", &valid, |command| {
        command.env("VK_DRIVER_FILES", "/nonexistent.json").env("VK_ICD_FILENAMES", "/nonexistent.json");
    });
    if cfg!(target_os = "linux") {
        assert!(notes(&said)[0].starts_with("note: CPU: no GPU adapter"), "{said}");
        assert_eq!(auto[..4], cpu[..4]);
    }
    let Some(device) = graphics(&folder) else { return };
    if device != "gpu" {
        let (auto, said) = many_on(&folder, "auto", &valid, |_| ());
        assert!(notes(&said)[0].starts_with("note: CPU: the only GPU adapters found are in software"), "{said}");
        assert_eq!(auto[..4], cpu[..4]);
    }
    let near = |gpu: &[Value]| {
        assert_eq!(gpu.len(), cpu.len());
        for (gpu, cpu) in gpu[..4].iter().zip(&cpu) {
            assert_eq!((&gpu["seed"], &gpu["settings"], &gpu["step"]), (&cpu["seed"], &cpu["settings"], &cpu["step"]));
            let ap = |row: &Value| row["valid"]["ap"].as_f64().unwrap();
            assert!((ap(gpu) - ap(cpu)).abs() < 1e-3, "{gpu} {cpu}");
        }
    };
    let (gpu, _) = many_on(&folder, device, &valid, |_| ());
    near(&gpu);
    assert!(backend(&gpu).starts_with("gpu: "));
    // Each seed has rows of its own, and all go side by side: the pipelines of one, and about as many dispatches.
    let split = |device: &str, seeds: &str| many_on(&folder, device, &["--split", "0.7", "--seeds", seeds], |_| ()).0;
    let (one, all, cpu_split) = (split(device, "1"), split(device, "16"), split("cpu", "16"));
    let given = |rows: &[Value], what: &str| rows[rows.len() - 1][what].as_u64().unwrap();
    assert_eq!(given(&all, "pipelines"), given(&one, "pipelines"));
    assert!(given(&all, "dispatches") < 4 * given(&one, "dispatches"), "{}", all[all.len() - 1]);
    assert!(cpu_split[16]["dispatches"].is_null() && backend(&all).starts_with("gpu: "));
    for (gpu, cpu) in all[..16].iter().zip(&cpu_split) {
        assert_eq!((&gpu["seed"], &gpu["step"]), (&cpu["seed"], &cpu["step"]));
        for part in ["train", "test"] {
            let ap = |row: &Value| row[part]["ap"].as_f64().unwrap();
            assert!((ap(gpu) - ap(cpu)).abs() < 1e-3, "{gpu} {cpu}");
        }
    }
    let Some(layer) = FaultLayer::build(&folder.0) else { return };
    for after in [0, 1, 4, 9, 14] {
        let (gpu, said) = many_on(&folder, device, &valid, |command| {
            layer.give(command, "lose", after);
        });
        assert!(!said.contains("panicked") && notes(&said).iter().any(|note| note.contains("lost")), "{after}: {said}");
        near(&gpu);
    }
}

/// A device that is lost at any of its waits, or that stops answering, costs the run nothing but a line.
#[test]
fn a_lost_gpu_leaves_the_run_to_the_cpu() {
    let folder = Folder::new("lost-device");
    folder.write("a.csv", csv(400));
    let Some(device) = graphics(&folder) else { return };
    let Some(layer) = FaultLayer::build(&folder.0) else { return };
    for method in ["soap", "auc-pairwise", "auc-exact"] {
        // (L-BFGS would be at its end before.)
        let rule: &[&str] = if method == "auc-exact" { &["--set", "optimizer=sgd"] } else { &[] };
        let (cpu, _) = train_on(&folder, method, "cpu", |command| _ = command.args(rule));
        let alone = fs::read(folder.path("run.model")).unwrap();
        // At the first wait of each device that is opened, later ones, never.
        for (fault, after) in [("lose", 0), ("lose", 1), ("lose", 4), ("lose", 13), ("lose", 1000), ("stall", 9)] {
            let (lines, said) = train_on(&folder, method, device, |command| {
                layer.give(command, fault, after).args(rule);
            });
            let of_device =
                |note: &&str| !note.ends_with("slower than the CPU") && !note.contains("no validation rows");
            let lost: Vec<_> = notes(&said).into_iter().filter(of_device).collect();
            // Another device is taken once, and loses itself after as many waits.
            assert!(lost.len() <= 2 && lost.is_empty() == (after == 1000), "{fault} after {after}: {said}");
            for (at, note) in lost.iter().enumerate() {
                assert!(note.starts_with("note: the GPU was lost: "), "{said}");
                assert_eq!(note.ends_with("; training goes on on the CPU"), at == 1, "{said}");
            }
            let lost_notes = lost.len();
            // (Rows of an exact method go up when the device is opened; lost then, it never begins.)
            let begins = method != "auc-exact" || after > 0;
            assert_eq!(backend(&lines).matches(", then ").count(), if begins { lost_notes } else { 0 });
            assert_eq!(lines[lines.len() - 1]["steps"], 60);
            let (lost, whole) = (last_ap(&lines), last_ap(&cpu));
            assert!((lost - whole).abs() < 1e-3, "{fault} after {after}: {lost} and {whole}");
            // Lost before any state came back, the run is the CPU's to the last bit.
            if after == 0 {
                assert_eq!(lost_notes, if begins { 2 } else { 1 });
                assert_eq!(fs::read(folder.path("run.model")).unwrap(), alone, "{fault} after {after}");
            }
            stdout(&run(&folder.0, &["eval", "run.model", "a.csv"]));
        }
    }
}

#[test]
fn finite_sums_need_no_setting_and_report_their_gradient() {
    let folder = Folder::new("finite-sum");
    let mut numbers = Numbers(3);
    let mut text = String::new();
    for row in 0..400 {
        let label = row % 4 == 0;
        let shift = if label { 0.5 } else { 0.0 };
        // Columns far apart, which only sparse rows can hold.
        let columns = [3, 700 + row % 7, 90_000 + row % 3, 2_000_000];
        let values = columns.map(|column| format!("{column}:{:.3}", numbers.next() + shift));
        text += &format!("{} {}\n", if label { 1 } else { -1 }, values.join(" "));
    }
    folder.write("data.svm", text);
    let train = |extra: &[&str]| -> Vec<Value> {
        let out = stdout(&run(&folder.0, &[&["train", "data.svm", "--json"], extra].concat()));
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let lines = train(&["--method", "ai-sarah", "--passes", "12"]);
    // The first full gradient is no step: one report before the first step, and every later one has a step size.
    let (reports, _) = lines.split_at(lines.len() - 1);
    assert!(reports.windows(2).all(|pair| pair[0]["step"].as_u64() < pair[1]["step"].as_u64()), "{reports:?}");
    assert!(reports[1..].iter().all(|report| report["alpha"].as_f64() > Some(0.0)), "{reports:?}");
    let (first, last) = (&lines[0], &lines[lines.len() - 2]);
    let norm = |report: &Value| report["grad_norm_sq"].as_f64().unwrap();
    assert!(norm(last) < 1e-2 * norm(first), "{first} {last}");
    assert!(last["pass"].as_f64().unwrap() >= 12.0 && last["alpha"].as_f64().unwrap() > 0.0);
    assert!(first["alpha_max"].is_null() && last["alpha_max"].as_f64().unwrap() >= last["alpha"].as_f64().unwrap());
    let other = train(&["--method", "ai-sarah", "--passes", "12", "--set", "lambda=0"]);
    assert_ne!(last["objective"], other[other.len() - 2]["objective"]);
    assert!(train(&["--method", "ce", "--steps", "3"])[0]["grad_norm_sq"].is_null());
}

/// What a command reads it never replaces, and what it cannot write it says before it begins.
#[test]
fn inputs_are_not_replaced() {
    let folder = Folder::new("replaced");
    folder.write("data.csv", csv(100));
    stdout(&run(&folder.0, &["train", "data.csv", "--method", "ce", "--steps", "5", "--save", "run.model"]));
    let model = fs::read(folder.path("run.model")).unwrap();
    refused(&folder, &["eval", "run.model", "data.csv", "--scores", "run.model"], "not replaced");
    refused(&folder, &["eval", "run.model", "data.csv", "--scores", "./data.csv"], "not replaced");
    refused(&folder, &["prepare", "data.csv", "--train", "data.csv"], "not replaced");
    let both = ["prepare", "data.csv", "--split", "0.5", "--train", "part.csv", "--test", "part.csv"];
    refused(&folder, &both, "--train and --test");
    refused(&folder, &["eval", "run.model", "data.csv", "--held-out"], "without --split");
    assert_eq!(fs::read(folder.path("run.model")).unwrap(), model);
    assert_eq!(fs::read_to_string(folder.path("data.csv")).unwrap(), csv(100));
    for (option, value, part) in [
        ("--model", "mlp:99999999999,999", "memory"),
        ("--passes", "-1", "--passes"),
        ("--passes", "nan", "--passes"),
        ("--seconds", "-1", "--seconds"),
        ("--save-every", "5", "--save"),
        ("--set", "lr=x", "0 to 1e30"),
    ] {
        refused(&folder, &["train", "data.csv", "--method", "soap", option, value], part);
    }
    #[cfg(unix)]
    {
        refused(&folder, &["eval", "run.model", "data.csv", "--scores", "/dev/null"], "not an ordinary file");
        std::os::unix::fs::symlink("elsewhere.csv", folder.path("link.csv")).unwrap();
        refused(&folder, &["eval", "run.model", "data.csv", "--scores", "link.csv"], "not an ordinary file");
    }
}

#[test]
fn held_out_rows_are_measured_alone() {
    let folder = Folder::new("held-out");
    folder.write("data.csv", csv(300));
    folder.write("other.csv", csv(290));
    let train = [
        &["train", "data.csv", "--split", "0.6", "--method", "soap", "--steps", "50", "--save", "run.model"][..],
        &["--threshold", "fpr<=0.05"],
    ]
    .concat();
    let reports = objects(&stdout(&run(&folder.0, &[&train[..], &["--json"]].concat())));
    let (last, totals) = (&reports[reports.len() - 2], &reports[reports.len() - 1]);
    let measured = objects(&stdout(&run(&folder.0, &["eval", "run.model", "data.csv", "--held-out", "--json"])));
    assert_eq!(measured[0]["rows"], totals["test_rows"]);
    for key in ["auroc", "ap", "pauc"] {
        assert_eq!(measured[0][key], last["test"][key], "{key}");
    }
    // Accuracy is at a named threshold: here the model's.
    let threshold = &totals["threshold"];
    let (fpr, tpr) = (threshold["test_fpr"].as_f64().unwrap(), threshold["test_tpr"].as_f64().unwrap());
    assert_eq!(measured[0]["threshold"], threshold["at"]);
    assert!((measured[0]["accuracy"].as_f64().unwrap() - (0.2 * tpr + 0.8 * (1.0 - fpr))).abs() < 1e-9);
    refused(&folder, &["eval", "run.model", "other.csv", "--held-out"], "other.csv: ");
}

#[test]
fn scores_come_by_number_and_through_stdin() {
    let folder = Folder::new("stdin");
    folder.write("scores.csv", "0,0.1\n1,0.7\n0,0.9\n1,0.8\n");
    let args = ["metrics", "scores.csv", "--label", "1", "--score", "-1", "--metric", "auroc", "--json"];
    assert_eq!(objects(&stdout(&run(&folder.0, &args)))[0]["auroc"], 0.5);
    refused(&folder, &["metrics", "scores.csv", "--label", "1", "--score", "3"], "no column \"3\"");
    refused(&folder, &["metrics", "scores.csv", "--label", "1", "--score", "1"], "is the label column");
    let file = fs::File::open(folder.path("scores.csv")).unwrap();
    let mut piped = undercurve();
    let output = piped.args(["metrics", "-"]).args(&args[2..]).stdin(Stdio::from(file)).output().unwrap();
    assert_eq!(objects(&stdout(&output))[0]["auroc"], 0.5);
}

/// Four classes of three shifted columns, the last one rare.
fn classes_csv(rows: usize) -> String {
    let mut numbers = Numbers(5);
    let mut text = String::from("a,b,c,kind\n");
    for row in 0..rows {
        let class = [0, 1, 0, 2, 1, 0, 3, 0][row % 8];
        let x = [0, 1, 2].map(|k| numbers.next() + if k == class { 0.6 } else { 0.0 });
        text +=
            &format!("{},{},{},{}\n", x[0], x[1], x[2], quoted(["oak", "elm", "ash", "sour, wild \"cherry\""][class]));
    }
    text
}

fn quoted(cell: &str) -> String {
    format!("\"{}\"", cell.replace('"', "\"\""))
}

#[test]
fn several_classes_are_trained_measured_and_resumed() {
    let folder = Folder::new("classes");
    folder.write("data.csv", classes_csv(400));
    folder.write("test.csv", classes_csv(160));
    let names = ["ash", "elm", "oak", "sour, wild \"cherry\""];
    for (method, model) in [("ce", "linear"), ("ppd-sg", "mlp:6"), ("ppd-adagrad", "linear")] {
        let start = ["train", "data.csv", "--label", "kind", "--method", method, "--model", model, "--steps", "300"];
        let rest = ["--split", "0.7", "--save", "whole.model", "--json", "--every", "100"];
        let lines = objects(&stdout(&run(&folder.0, &[&start[..], &rest].concat())));
        let (first, last, totals) = (&lines[0], &lines[lines.len() - 2], &lines[lines.len() - 1]);
        assert_eq!(totals["classes"], serde_json::json!(names));
        // Of 200, 100, 50 and 50 rows 0.7, in the order of the names.
        assert_eq!(totals["class_rows"], serde_json::json!([35, 70, 140, 35]));
        assert_eq!(totals["test_class_rows"], serde_json::json!([15, 30, 60, 15]));
        for part in ["train", "test"] {
            let (before, after) = (&first[part]["hand_till"], &last[part]["hand_till"]);
            assert!(after.as_f64().unwrap() > before.as_f64().unwrap() + 0.1, "{method} {part}: {before} {after}");
            assert_eq!(last[part]["classes"].as_array().unwrap().len(), 4);
        }
        // The same from the file: the held-out rows, and their scores as a file of their own.
        let eval = ["eval", "whole.model", "data.csv", "--held-out", "--json", "--scores", "scores.csv"];
        let measured = objects(&stdout(&run(&folder.0, &eval)));
        let metrics = ["metrics", "scores.csv", "--json"];
        let again = objects(&stdout(&run(&folder.0, &metrics)));
        for key in ["hand_till", "auroc", "ap", "accuracy", "classes"] {
            assert_eq!(measured[0][key], last["test"][key], "{key}");
            assert_eq!(again[0][key], measured[0][key], "{key}");
        }
        // Stopped early, continued, and as long as the other: the same bytes.
        let early = ["--split", "0.7", "--save", "parts.model", "--seconds", "0.000001"];
        stdout(&run(&folder.0, &[&start[..], &early].concat()));
        assert_ne!(fs::read(folder.path("parts.model")).unwrap(), fs::read(folder.path("whole.model")).unwrap());
        refused(&folder, &["train", "data.csv", "--resume", "parts.model", "--positive", "elm"], "--positive");
        refused(&folder, &["train", "data.csv", "--resume", "parts.model", "--label", "a"], "--label");
        refused(&folder, &["train", "data.csv", "--resume", "parts.model", "--seed", "9"], "another seed");
        refused(&folder, &["train", "test.csv", "--resume", "parts.model"], "another training data set");
        stdout(&run(&folder.0, &["train", "data.csv", "--resume", "parts.model"]));
        assert_eq!(fs::read(folder.path("parts.model")).unwrap(), fs::read(folder.path("whole.model")).unwrap());
        refused(&folder, &["eval", "whole.model", "data.csv", "--metric", "ap"], "several classes");
    }
    let people = ["train", "data.csv", "--label", "kind", "--test", "test.csv", "--method", "ce", "--steps", "40"];
    let text = stdout(&run(&folder.0, &people));
    assert!(text.contains("4 classes") && text.contains("HT-AUC") && text.contains("cherry"), "{text}");
    // One of them against the others is the binary run that it was.
    let binary =
        ["train", "data.csv", "--label", "kind", "--positive", "elm", "--method", "ce", "--steps", "5", "--json"];
    assert_eq!(objects(&stdout(&run(&folder.0, &binary)))[0]["train"]["hand_till"], Value::Null);
}

#[test]
fn classes_that_cannot_be_trained_are_one_line() {
    let folder = Folder::new("bad-classes");
    folder.write("data.csv", classes_csv(80));
    let rows: String = (0..1200).map(|k| format!("{},{k}\n", k % 7)).collect();
    folder.write("numbers.csv", format!("a,label\n{rows}"));
    folder.write("lone.csv", "a,label\n1,x\n2,y\n3,z\n4,x\n5,y\n");
    folder.write("unseen.csv", "a,b,c,kind\n1,2,3,oak\n1,2,3,elm\n1,2,3,palm\n");
    folder.write("fewer.csv", "a,b,c,kind\n1,2,3,oak\n1,2,3,elm\n");
    let train = |file: &'static str, more: &[&'static str]| {
        [&["train", file, "--steps", "5", "--save", "out.model"], more].concat()
    };
    let kind = |more: &[&'static str]| train("data.csv", &[&["--label", "kind"], more].concat());
    let advice = "name the positive one (--positive), or train all of them by ce, ppd-sg, ppd-adagrad";
    refused(&folder, &kind(&["--method", "soap"]), advice);
    refused(&folder, &kind(&["--method", "ai-sarah", "--split", "0.5"]), advice);
    refused(
        &folder,
        &kind(&["--method", "ce", "--set", "positives=8"]),
        "method ce of several classes has no parameter",
    );
    refused(&folder, &kind(&["--method", "ppd-sg", "--set", "wieghting=shares"]), "did you mean weighting?");
    refused(&folder, &kind(&["--method", "ppd-sg", "--set", "weighting=some"]), "one of hand-till, shares");
    refused(&folder, &kind(&["--method", "ce", "--fpr", "0:0.1"]), "--fpr: ");
    refused(&folder, &kind(&["--method", "ce", "--model", "mlp:99999999999,999"]), "memory");
    refused(
        &folder,
        &kind(&["--method", "ce", "--test", "unseen.csv"]),
        "unseen.csv:4:4: label \"palm\", but training knew",
    );
    refused(&folder, &kind(&["--method", "ce", "--test", "fewer.csv"]), "fewer.csv: no row of class \"ash\"");
    refused(&folder, &train("numbers.csv", &["--method", "ce"]), "numbers.csv: more than 1000 label values");
    refused(&folder, &train("lone.csv", &["--method", "ce", "--split", "0.5"]), "class \"z\" has one row");
    refused(&folder, &["prepare", "data.csv", "--label", "kind", "--train", "part.csv"], "(--positive)");
    stdout(&run(&folder.0, &kind(&["--method", "ce"])));
    refused(&folder, &["eval", "out.model", "unseen.csv"], "label \"palm\"");
    refused(&folder, &["eval", "out.model", "fewer.csv"], "no row of class \"ash\"");
    refused(&folder, &["eval", "out.model", "data.csv", "--held-out"], "without --split");
    refused(&folder, &["eval", "out.model", "lone.csv"], "lone.csv:1: there is no column");
    // Scores of several classes: a column for each.
    folder.write("scores.csv", "label,score:x,score:y\nx,1,0\ny,0,1\nz,1,1\n");
    refused(&folder, &["metrics", "scores.csv"], "no column \"score:z\"");
    folder.write("more.csv", "label,score:x,score:y,score:z,score:w\nx,1,0,0,1\ny,0,1,0,1\nz,0,0,1,1\n");
    refused(&folder, &["metrics", "more.csv"], "column \"score:w\", but no row of that class");
    folder.write("text.csv", "label,score:x,score:y,score:z\nx,1,0,0\ny,0,one,0\nz,0,0,1\n");
    refused(&folder, &["metrics", "text.csv"], "text.csv:3:3: value \"one\" in column \"score:y\"");
    folder.write("good.csv", "label,score:z,score:y,score:x\nx,0,0,1\ny,0,1,0\nz,1,0,0\n");
    let good = objects(&stdout(&run(&folder.0, &["metrics", "good.csv", "--json"])));
    assert_eq!((&good[0]["hand_till"], &good[0]["accuracy"]), (&1.0.into(), &1.0.into()));
    refused(&folder, &["metrics", "good.csv", "--metric", "auroc"], "--metric auroc: is for two classes");
}

/// Numbers that follow from three columns but for a little noise.
fn values_csv(rows: usize) -> String {
    let mut numbers = Numbers(9);
    let mut text = String::from("a,b,c,price\n");
    for _ in 0..rows {
        let x = [0, 1, 2].map(|_| numbers.next());
        let y = 40.0 + 3.0 * x[0] - 2.0 * x[1] + 0.1 * numbers.next();
        text += &format!("{},{},{},{y}\n", x[0], x[1], x[2]);
    }
    text
}

#[test]
fn numbers_are_fitted_measured_and_resumed() {
    let folder = Folder::new("values");
    folder.write("data.csv", values_csv(300));
    folder.write("words.csv", "a,b,c,price\n1,2,3,high\n1,2,3,low\n");
    for (method, model, passes) in [("ai-sarah", "linear", "40"), ("adam-sum", "mlp:6", "200")] {
        let start = ["train", "data.csv", "--label", "price", "--target", "values", "--method", method];
        let rest = ["--set", "loss=least-squares", "--set", "lambda=0", "--model", model, "--passes", passes];
        let rate: &[&str] = if model == "linear" { &[] } else { &["--set", "alpha=0.1"] };
        let start = [&start[..], &rest, rate, &["--split", "0.7"]].concat();
        let lines = objects(&stdout(&run(&folder.0, &[&start[..], &["--save", "whole.model", "--json"]].concat())));
        let (first, last, totals) = (&lines[0], &lines[lines.len() - 2], &lines[lines.len() - 1]);
        assert_eq!((&totals["rows"], &totals["test_rows"]), (&210.into(), &90.into()));
        assert_eq!(
            (&totals["positives"], &totals["classes"], &totals["fpr"]),
            (&Value::Null, &Value::Null, &Value::Null)
        );
        for part in ["train", "test"] {
            let [before, after] = [first, last].map(|line| line[part]["rmse"].as_f64().unwrap());
            // The model of start values says about 0 of numbers about 40.
            assert!(before > 30.0 && after < before / 20.0, "{method} {part}: {before} {after}");
            assert!(last[part]["mae"].as_f64().unwrap() <= after && last[part]["auroc"].is_null());
        }
        if model == "linear" {
            assert!(last["test"]["r2"].as_f64().unwrap() > 0.9, "{last}");
        }
        // The same from the file: the held-out rows, and their scores beside what they were to be.
        let eval = ["eval", "whole.model", "data.csv", "--held-out", "--json", "--scores", "scores.csv"];
        let measured = objects(&stdout(&run(&folder.0, &eval)));
        for key in ["rmse", "mae", "r2"] {
            assert_eq!(measured[0][key], last["test"][key], "{key}");
        }
        let scores = fs::read_to_string(folder.path("scores.csv")).unwrap();
        let away = scores.lines().skip(1).map(|line| {
            let (y, score) = line.split_once(',').unwrap();
            (y.parse::<f64>().unwrap() - score.parse::<f64>().unwrap()).abs()
        });
        let mae = away.sum::<f64>() / 90.0;
        assert!((mae - measured[0]["mae"].as_f64().unwrap()).abs() < 1e-4 * mae, "{mae} {measured:?}");
        let text = stdout(&run(&folder.0, &["eval", "whole.model", "data.csv"]));
        assert!(text.starts_with("300 rows\n") && text.contains("rmse") && text.contains("r2"), "{text}");
        // Stopped early and continued: the same bytes.
        let early = ["--save", "parts.model", "--seconds", "0.000001"];
        stdout(&run(&folder.0, &[&start[..], &early].concat()));
        assert_ne!(fs::read(folder.path("parts.model")).unwrap(), fs::read(folder.path("whole.model")).unwrap());
        refused(&folder, &["train", "data.csv", "--resume", "parts.model", "--target", "binary"], "(--target)");
        refused(&folder, &["train", "data.csv", "--resume", "parts.model", "--fpr", "0:0.1"], "false-positive range");
        stdout(&run(&folder.0, &["train", "data.csv", "--resume", "parts.model", "--target", "values"]));
        assert_eq!(fs::read(folder.path("parts.model")).unwrap(), fs::read(folder.path("whole.model")).unwrap());
        refused(&folder, &["eval", "whole.model", "data.csv", "--metric", "ap"], "a model of numbers");
    }
    let text = stdout(&run(
        &folder.0,
        &[
            "train",
            "data.csv",
            "--label",
            "price",
            "--target",
            "values",
            "--method",
            "svrg",
            "--set",
            "loss=least-squares",
        ],
    ));
    assert!(text.contains("300 rows, 3 columns") && text.contains("RMSE") && !text.contains("AUROC"), "{text}");
    let train = |file: &'static str, more: &[&'static str]| {
        [&["train", file, "--label", "price", "--target", "values", "--save", "out.model"], more].concat()
    };
    refused(&folder, &train("data.csv", &["--method", "soap"]), "method soap ");
    refused(&folder, &train("data.csv", &["--method", "ce"]), "finite sums");
    refused(&folder, &train("data.csv", &["--method", "ai-sarah"]), "loss=least-squares");
    refused(&folder, &train("data.csv", &["--method", "ai-sarah", "--positive", "1"]), "--positive: ");
    refused(&folder, &train("data.csv", &["--method", "ai-sarah", "--fpr", "0:0.1"]), "--fpr: ");
    let least_squares = ["--method", "ai-sarah", "--set", "loss=least-squares"];
    refused(&folder, &train("words.csv", &least_squares), "words.csv:2:4: ");
    // What labels are may be said of classes as well.
    folder.write("classes.csv", classes_csv(80));
    let kind = ["train", "classes.csv", "--label", "kind", "--save", "out.model", "--method"];
    refused(&folder, &[&kind[..], &["ce", "--target", "binary"]].concat(), "(--positive)");
    refused(&folder, &[&kind[..], &["soap", "--target", "classes"]].concat(), "of several classes are ce, ppd-sg");
    refused(&folder, &[&kind[..], &["ce", "--target", "classes", "--positive", "elm"]].concat(), "--positive: ");
}

/// Rows of numbers with the labels y and n, and no line of names.
fn nameless(rows: usize) -> String {
    let mut numbers = Numbers(11);
    let row = |row: usize| {
        let (label, shift) = if row.is_multiple_of(3) { ("y", 0.5) } else { ("n", 0.0) };
        format!("{},{},{label}\n", numbers.next() + shift, numbers.next())
    };
    (0..rows).map(row).collect()
}

#[test]
fn a_first_line_is_names_or_a_row() {
    let folder = Folder::new("header");
    folder.write("rows.csv", nameless(90));
    let text: String = (0..60).map(|k| format!("{},{}\n", ["red", "blue"][k / 2 % 2], ["p", "q"][k % 2])).collect();
    folder.write("text.csv", format!("cap,kind\n{text}"));
    folder.write("data.svm", "1 1:1\n0 1:2\n1 2:1\n0 2:2\n");
    let train = |file: &'static str, more: &[&'static str]| {
        let args = [&["train", file, "--method", "ce", "--steps", "5", "--json"], more].concat();
        let output = run(&folder.0, &args);
        let said = String::from_utf8(output.stderr.clone()).unwrap();
        (objects(&stdout(&output)).pop().unwrap(), said)
    };
    // No row is lost, and the guess is told.
    for label in ["3", "-1", "x3"] {
        let (totals, said) = train("rows.csv", &["--label", label]);
        assert_eq!((&totals["rows"], &totals["positives"]), (&90.into(), &30.into()), "{label}");
        assert!(said.starts_with("note: rows.csv: the first line was taken for a row; if it names"), "{said}");
    }
    let (totals, said) = train("text.csv", &["--label", "-1", "--positive", "q"]);
    assert_eq!((&totals["rows"], &totals["positives"]), (&61.into(), &30.into()));
    assert!(
        said.contains("text.csv: the first line was taken for a row; if it names the columns, say --header yes"),
        "{said}"
    );
    let args = ["train", "text.csv", "--method", "soap", "--label", "-1"];
    refused(&folder, &args, "ce, ppd-sg, ppd-adagrad; the first line was taken for a row");
    refused(&folder, &["train", "rows.csv", "--method", "soap"], "(--label); the first line was taken for a row");
    // What is said is not guessed.
    let (totals, said) = train("text.csv", &["--label", "-1", "--header", "yes", "--save", "text.model"]);
    assert_eq!((&totals["rows"], &totals["columns"]), (&60.into(), &2.into()));
    assert!(!said.contains("first line"), "{said}");
    let (_, said) = train("rows.csv", &["--label", "3", "--header", "no", "--split", "0.5", "--save", "rows.model"]);
    assert!(!said.contains("first line"), "{said}");
    // A model remembers how its columns were called.
    for (model, data, rows) in [("text.model", "text.csv", 60), ("rows.model", "rows.csv", 90)] {
        let measured = objects(&stdout(&run(&folder.0, &["eval", model, data, "--json"])));
        assert_eq!(measured[0]["rows"], rows, "{model}");
    }
    // Names that look like nothing else, in a run without them.
    let titled = format!("a,b,kind\n{}", nameless(90));
    folder.write("titled.csv", &titled);
    refused(&folder, &["eval", "rows.model", "titled.csv", "--header", "no"], "titled.csv:1:");
    refused(&folder, &["eval", "rows.model", "titled.csv"], "titled.csv:1: there is no column \"x3\"");
    folder.write("numbered.csv", format!("7,8,9\n{}", nameless(90).replace('y', "1").replace('n', "0")));
    let numbered = ["--label", "9", "--header", "yes", "--save", "numbered.model"];
    assert_eq!(train("numbered.csv", &numbered).0["rows"], 90);
    let measured = objects(&stdout(&run(&folder.0, &["eval", "numbered.model", "numbered.csv", "--json"])));
    assert_eq!(measured[0]["rows"], 90);
    refused(&folder, &["train", "titled.csv", "--method", "ce", "--header", "no", "--label", "kind"], "--header no: ");
    refused(&folder, &["train", "data.svm", "--method", "ce", "--header", "yes"], "--header yes: data.svm is LIBSVM");
    refused(&folder, &["train", "rows.csv", "--method", "ce", "--header", "perhaps"], "perhaps");
    let prepare = ["prepare", "rows.csv", "--label", "3", "--header", "no", "--train", "out.csv"];
    assert_eq!(stdout(&run(&folder.0, &prepare)), "out.csv: 90 rows, 30 positive\n");
    // Scores likewise.
    let metrics = |more: &[&'static str]| {
        let args = [&["metrics", "rows.csv", "--label", "3", "--score", "2", "--json"], more].concat();
        objects(&stdout(&run(&folder.0, &args)))[0]["rows"].clone()
    };
    assert_eq!((metrics(&[]), metrics(&["--header", "yes"])), (90.into(), 89.into()));
    refused(&folder, &["metrics", "rows.csv", "--header", "no"], "--header no: ");
}

#[test]
fn a_batch_of_one_class_is_said_as_what_it_is() {
    let folder = Folder::new("one-class-batch");
    folder.write("data.csv", csv(300));
    for method in ["soap", "auc-margin", "smooth-ap", "fast-ap", "min-max-ap"] {
        let train = ["train", "data.csv", "--method", method, "--set", "sampling=uniform", "--set", "batch=4"];
        let output = run(&folder.0, &[&train[..], &["--json"]].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{method}: {said}");
        assert!(said.starts_with("error: step ") && said.lines().count() == 1, "{method}: {said}");
        assert!(said.contains("the batch of 4 rows had no positive row"), "{method}: {said}");
        assert!(said.contains("--set sampling=stratified, or a larger batch"), "{method}: {said}");
    }
}

#[test]
fn the_cell_that_is_no_score_is_named() {
    let folder = Folder::new("no-score");
    for (name, text, want) in [
        ("word.csv", "label,score\nyes,0.5\nno,0\nyes,a\n", "word.csv:4:2: value \"a\""),
        ("first.csv", "label,score\nyes,a\nno,0\nyes,b\n", "first.csv:2:2: value \"a\""),
        ("hex.csv", "label,score\n1,0\n\n0,0x10\n1,1_000\n", "hex.csv:4:2: value \"0x10\""),
        ("comma.csv", "label;score\n1;0,9\n0;1.5\n1;0,1\n", "comma.csv:2:2: value \"0,9\""),
        ("wide.csv", "label,score:x,score:y,score:z\nx,1,0,0\ny,0,1,b\nz,0,a,1\n", "wide.csv:3:4: value \"b\""),
    ] {
        folder.write(name, text);
        refused(&folder, &["metrics", name], want);
    }
    folder.write("plain.csv", "yes,a\nno,0\n");
    let plain = ["metrics", "plain.csv", "--label", "1", "--score", "2", "--header", "no"];
    refused(&folder, &plain, "plain.csv:1:2: value \"a\"");
}

#[test]
fn a_third_label_is_found() {
    let folder = Folder::new("third-label");
    folder.write("typo.svm", "+1 1:1\n-1 2:1\n+1 1:2\n-11 2:3\n-1 1:1\n");
    folder.write("typo.csv", "a,label\n1,yes\n2,no\n3,yse\n4,yes\n");
    let advice = "correct a wrong one, or name the positive one (--positive), or train all of them by ce";
    for (file, place) in [("typo.svm", "typo.svm:4:1: the third of"), ("typo.csv", "typo.csv:4:2: the third of")] {
        for rest in [&[][..], &["--split", "0.5"]] {
            let args = [&["train", file, "--method", "soap"], rest].concat();
            refused(&folder, &args, place);
            refused(&folder, &args, advice);
        }
    }
}

#[test]
fn methods_and_metrics_have_other_names() {
    let folder = Folder::new("aliases");
    folder.write("data.csv", csv(200));
    folder.write("scores.csv", "label,score\n0,0.1\n1,0.7\n0,0.9\n1,0.8\n");
    let train =
        |method: &str| stdout(&run(&folder.0, &["train", "data.csv", "--method", method, "--steps", "20", "--json"]));
    let untimed = |text: String| {
        let mut done = objects(&text).pop().unwrap();
        done.as_object_mut().unwrap().retain(|name, _| !name.contains("seconds"));
        done
    };
    for name in ["logistic_regression", "BCE", "CE"] {
        assert_eq!(untimed(train(name)), untimed(train("ce")), "{name}");
    }
    let metrics = |names: &str| stdout(&run(&folder.0, &["metrics", "scores.csv", "--json", "--metric", names]));
    assert_eq!(
        metrics("ROC_AUC,average_precision,partial-auc:0:0.5,recall:0.5"),
        metrics("auroc,ap,pauc:0:0.5,tpr:0.5")
    );
}

#[test]
fn a_model_that_ranks_nothing_is_refused() {
    let folder = Folder::new("constant");
    // Numbers so small that every score is 0 in single precision.
    let tiny = |text: String| {
        let (names, rows) = text.split_once('\n').unwrap();
        format!("{names}\n{}", rows.replace(',', "e-20,"))
    };
    let train = |more: &[&str]| {
        let output = run(&folder.0, &[&["train", "data.csv", "--json", "--save", "model.uc"], more].concat());
        let done = objects(std::str::from_utf8(&output.stdout).unwrap()).pop().unwrap();
        (output.status.code(), done, String::from_utf8(output.stderr).unwrap())
    };
    let model = folder.0.join("model.uc");
    let constant = [
        "--method",
        "soap",
        "--scale",
        "none",
        "--ignore",
        "colour",
        "--set",
        "lr=1e-30",
        "--set",
        "pretrain=0",
        "--steps",
        "5",
    ];
    folder.write("data.csv", tiny(csv(100)));
    let (code, done, said) = train(&constant);
    assert_eq!((code, &done["collapsed"]), (Some(1), &Value::Bool(true)));
    assert!(done["warning"].as_str().unwrap().starts_with("all training rows have the same score, so this model"));
    assert!(said.contains("ranks nothing; try ") && said.contains("nothing was saved"), "{said}");
    assert!(said.contains(" or another method; ") && said.lines().count() == 1, "{said}");
    assert!(!model.exists(), "a model of nothing was left");
    folder.write("data.csv", csv(100));
    let (code, done, said) = train(&["--method", "soap", "--steps", "50"]);
    assert_eq!((code, done.get("warning")), (Some(0), None));
    assert!(said.contains("no validation rows tell whether soap is ahead") && said.lines().count() == 1, "{said}");
    // What was there before stays.
    folder.write("data.csv", tiny(csv(100)));
    let before = std::fs::read(&model).unwrap();
    assert_eq!(train(&constant).0, Some(1));
    assert_eq!(std::fs::read(&model).unwrap(), before);
    std::fs::remove_file(&model).unwrap();
    folder.write("data.csv", tiny(classes_csv(80)));
    let classes = ["--label", "kind", "--method", "ppd-sg", "--scale", "none", "--set", "lr=1e-30", "--steps", "5"];
    let (code, done, said) = train(&classes);
    assert_eq!((code, &done["collapsed"], model.exists()), (Some(1), &Value::Bool(true), false));
    assert!(said.contains("this model ranks nothing; try "), "{said}");
    folder.write("data.csv", classes_csv(80));
    let (code, _, said) = train(&["--label", "kind", "--method", "ppd-sg", "--steps", "5"]);
    assert_eq!((code, &*said), (Some(0), ""));
}

#[test]
fn the_file_alone_decides_the_scale() {
    let folder = Folder::new("scale");
    folder.write("table.csv", csv(120));
    let sparse: String = (0..120).map(|row| format!("{} 1:{} 3:{}\n", row % 3 / 2, row % 7, row % 3 + 1)).collect();
    folder.write("rows.svm", sparse);
    for (file, scale) in [("table.csv", "standard"), ("rows.svm", "unit")] {
        for method in ["ce", "auc-exact", "ai-sarah", "momentum-sum"] {
            let train = |out: &str, extra: &[&str]| {
                let call = ["train", file, "--method", method, "--steps", "5", "--save", out];
                stdout(&run(&folder.0, &[&call[..], extra].concat()))
            };
            let said = train("usual.uc", &[]);
            assert!(said.lines().next().unwrap().contains(&format!("(scale: {scale})")), "{method}: {said}");
            train("asked.uc", &["--scale", scale]);
            let model = |name: &str| fs::read(folder.path(name)).unwrap();
            assert!(model("usual.uc") == model("asked.uc"), "{method} scales {file} by itself");
            let last = |extra: &[&str]| objects(&train("other.uc", extra)).pop().unwrap()["scale"].clone();
            assert_eq!((last(&["--json"]), last(&["--json", "--scale", "none"])), (scale.into(), "none".into()));
            assert!(model("usual.uc") != model("other.uc"), "{method} does not scale {file} as it says");
        }
    }
}

/// Rows with a group that shifts the second number, so that the groups' rates differ; `extra` rows of another group follow.
fn people(rows: usize, extra: usize) -> String {
    let mut numbers = Numbers(11);
    let mut text = String::from("a,b,sex,age,label\n");
    for row in 0..rows + extra {
        let label = usize::from(numbers.next() < 0.3);
        let sex = if row >= rows {
            "x"
        } else if numbers.next() < 0.4 {
            "f"
        } else {
            "m"
        };
        let shift = if sex == "m" { 0.4 } else { 0.0 };
        let (a, b) = (numbers.next() + 0.5 * label as f64, numbers.next() + 0.3 * label as f64 + shift);
        text += &format!("{a},{b},{sex},{},{label}\n", 20 + row % 3);
    }
    text
}

#[test]
fn groups_are_measured_and_kept_with_the_model() {
    let folder = Folder::new("groups");
    let text = people(600, 0);
    folder.write("p.csv", &text);
    folder.write("new.csv", people(90, 3));
    folder.write(
        "without.csv",
        text.lines()
            .map(|line| {
                let mut cells: Vec<&str> = line.split(',').collect();
                cells.remove(2);
                cells.join(",") + "\n"
            })
            .collect::<String>(),
    );
    let train = [
        "train",
        "p.csv",
        "--method",
        "ce",
        "--steps",
        "300",
        "--group",
        "sex",
        "--group-hidden",
        "--missing",
        "refuse",
        "--save",
        "p.model",
    ];
    stdout(&run(&folder.0, &train));
    let eval = |args: &[&str]| run(&folder.0, &[&["eval", "p.model"], args].concat());
    let json: Value = serde_json::from_str(&stdout(&eval(&["p.csv", "--scores", "s.csv", "--json"]))).unwrap();
    // What is told is what brute force finds in the scores.
    let scored = fs::read_to_string(folder.path("s.csv")).unwrap();
    let pairs = scored.lines().skip(1).map(|line| line.split_once(',').unwrap());
    let (labels, scores): (Vec<u8>, Vec<f64>) =
        pairs.map(|(y, s)| (y.parse::<u8>().unwrap(), s.parse::<f64>().unwrap())).unzip();
    let sexes = text.lines().skip(1).map(|line| u32::from(line.split(',').nth(2) == Some("m")));
    let sexes: Vec<u32> = sexes.collect();
    for (name, class) in [("gap(fpr)", 0), ("gap(tpr)", 1)] {
        let want = undercurve_tests::metric::gap(&scores, &labels, &sexes, class, [0, 1]);
        let rows = [0, 1].map(|sex| (0..600).filter(|&i| labels[i] == class && sexes[i] == sex).count());
        assert!((json[name].as_f64().unwrap() - want).abs() < 1e-12 && want > 0.1, "{json}");
        let told = &json["of_groups"][name];
        assert_eq!((&told["rows"], &told["groups"]), (&serde_json::json!(rows), &serde_json::json!(["f", "m"])));
        let noise = 1.36 * (1.0 / rows[0] as f64 + 1.0 / rows[1] as f64).sqrt();
        assert!((told["noise"].as_f64().unwrap() - noise).abs() < 1e-12);
    }
    assert_eq!((&json["groups"][1]["group"], &json["groups"][1]["in_training"]), (&"m".into(), &true.into()));
    // The scores alone say the same.
    let joined: String =
        scored.lines().zip(text.lines()).map(|(s, t)| format!("{s},{}\n", t.split(',').nth(2).unwrap())).collect();
    folder.write("joined.csv", joined);
    let metrics = [
        "metrics",
        "joined.csv",
        "--group",
        "sex",
        "--metric",
        "gap(fpr),gap( tpr@.1 ),worst-auroc,worst-loss,worst-accuracy:0.5,cvar:0.5",
        "--json",
    ];
    let alone: Value = serde_json::from_str(&stdout(&run(&folder.0, &metrics))).unwrap();
    for what in ["value", "noise", "groups", "rows"] {
        assert_eq!(alone["of_groups"]["gap(fpr)"][what], json["of_groups"]["gap(fpr)"][what]);
    }
    let want = undercurve_tests::metric::gap_at(&scores, &labels, &sexes, 1, [0, 1], 0.1);
    assert!((alone["gap(tpr@0.1)"].as_f64().unwrap() - want).abs() < 1e-12);
    assert_eq!(alone["worst-loss"], alone["cvar:0.5"]);
    for group in json["groups"].as_array().unwrap() {
        assert!(group["auroc"].as_f64() >= alone["worst-auroc"].as_f64());
    }
    // A group that training did not have is measured and said; without the column there are none; other columns make others.
    let output = eval(&["new.csv"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("note: new.csv: 3 rows are of a group that training did not have, \"x\""), "{said}");
    let shown = stdout(&output);
    assert!(shown.contains(" ± ") && shown.contains("(not in training)"), "{shown}");
    assert!(!stdout(&eval(&["without.csv"])).contains("gap"));
    assert!(stdout(&eval(&["p.csv", "--group", "age"])).contains("22 "));
    // Constraints: a line each, one that says how many hold, and exit code 3 where they have to.
    let hold =
        ["--constraint", "gap(fpr) <= 0.9", "--constraint", "recall[f] >= 0.01", "--constraint", "loss(new.csv) <= 9"];
    let shown = stdout(&eval(&[&["p.csv", "--require"][..], &hold].concat()));
    assert!(
        shown.contains("\ngap(fpr) <= 0.9: met: exactly 0.") && shown.ends_with("3 of 3 constraints met.\n"),
        "{shown}"
    );
    let fail = ["p.csv", "--constraint", "gap( fpr )<=.001", "--constraint", "recall >= 1", "--json"];
    let lines = objects(&stdout(&eval(&fail)));
    assert_eq!(lines[1]["constraints"][0]["target"], "gap(fpr) <= 0.001");
    assert_eq!(lines[1]["constraints"][0]["verdict"], "not met");
    assert_eq!(lines[1]["constraints"][0]["value"], lines[0]["gap(fpr)"]);
    assert!(stdout(&eval(&fail[..5])).ends_with("\nNo constraint is met, 2 not met.\n"));
    let output = eval(&[&fail[..5], &["--require"]].concat());
    assert_eq!((output.status.code(), &*output.stderr), (Some(3), &b"error: no constraint is met, 2 not met\n"[..]));
    // What so few rows cannot tell has an exit code of its own, and is told from some more rows like these, as is said.
    let gap = json["gap(fpr)"].as_f64().unwrap();
    let above = format!("gap(fpr) <= {:.4}", gap + 1e-3);
    let told = objects(&stdout(&eval(&["p.csv", "--constraint", &above, "--json"]))).pop().unwrap();
    let noise = told["constraints"][0]["noise"].as_f64().unwrap();
    let near = format!("gap(fpr) <= {:.4}", gap + 0.75 * noise);
    let near = ["p.csv", "--constraint", &near, "--require"];
    let output = eval(&near);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(
        (output.status.code(), &*output.stderr),
        (Some(4), &b"error: no constraint is met, 1 cannot be told from so few rows\n"[..])
    );
    let told = objects(&stdout(&eval(&[&near[..3], &["--json"]].concat()))).pop().unwrap()["constraints"][0].clone();
    let more: Vec<u64> = told["more_rows"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    let rows: Vec<u64> = told["rows"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    assert!(more.iter().any(|&n| n > 0) && shown.contains(" more negative rows of "), "{told}\n{shown}");
    let scale = |rows: [u64; 2]| (1.0 / rows[0] as f64 + 1.0 / rows[1] as f64).sqrt();
    let noise_of = |of: [u64; 2]| noise * scale(of) / scale([rows[0], rows[1]]);
    assert_eq!(told["noise"].as_f64(), Some(noise));
    let distance = told["bound"].as_f64().unwrap() - gap;
    assert!(noise_of([rows[0] + more[0], rows[1] + more[1]]) <= distance);
    let less = [0, 1].map(|at| rows[at] + more[at].saturating_sub(2 * u64::from(more[at] > 0)));
    assert!(noise_of(less) > distance, "{told}");
    let (head, body) = text.split_once('\n').unwrap();
    folder.write("thrice.csv", format!("{head}\n{body}{body}{body}"));
    let shown = stdout(&eval(&[&["thrice.csv"][..], &near[1..]].concat()));
    assert!(shown.ends_with("\n1 of 1 constraints met.\n"), "{shown}");
    let refuse = |args: &[&str], part: &str| refused(&folder, args, part);
    refuse(&["eval", "p.model", "p.csv", "--constraint", "gap(fpr) < 1"], "character 10: expected <= or >=");
    refuse(&["eval", "p.model", "p.csv", "--require"], "--constraint");
    refuse(
        &["eval", "p.model", "without.csv", "--metric", "gap(fpr)"],
        "--metric gap(fpr): is of groups; --group names",
    );
    refuse(&["eval", "p.model", "without.csv", "--group", "sex"], "there is no column \"sex\"");
    refuse(&["eval", "p.model", "p.csv", "--group", "label"], "--group label: is the label column");
    refuse(&["eval", "p.model", "p.csv", "--metric", "gap(fpr@1)"], "expected gap(fpr) or gap(fpr@A) with 0 < A < 1");
    refuse(&["train", "p.csv", "--method", "ce", "--group", "label"], "--group label: is the label column");
    refuse(&["train", "p.csv", "--method", "ce", "--group-hidden"], "--group");
    refuse(&["train", "p.csv", "--resume", "p.model", "--group", "age"], "another list of columns that make groups");
    refuse(&["metrics", "joined.csv", "--metric", "worst-auroc"], "--metric worst-auroc: is of groups");
    let bad = text.replacen(",f,", ",,", 1);
    folder.write("bad.csv", &bad);
    let line = 1 + bad.lines().position(|line| line.contains(",,")).unwrap();
    refuse(&["eval", "p.model", "bad.csv"], &format!("bad.csv:{line}:3: missing value in column \"sex\""));
    stdout(&run(&folder.0, &["train", "p.csv", "--resume", "p.model"]));
}

#[test]
fn constraints_are_trained_judged_and_required() {
    let folder = Folder::new("constraints");
    folder.write("p.csv", people(1500, 0));
    let base = ["train", "p.csv", "--split", "0.6", "--group", "sex", "--method", "sonex", "--steps", "1500"];
    let train = |more: &[&str]| run(&folder.0, &[&base, more].concat());
    // Bounds that leave room are met, by the text, the JSON and the exit code.
    let loose = ["--constraint", "gap(fpr)<=0.6", "--constraint", "recall[ f ] >= 0.2", "--require"];
    let shown = stdout(&train(&loose));
    let last = shown.lines().last().unwrap();
    assert!(last.starts_with("1500 steps") && last.ends_with("; 2 of 2 constraints met"), "{shown}");
    assert!(shown.contains("\ngap(fpr) <= 0.6: met: train 0.") && shown.contains("\ntest: By group"), "{shown}");
    // A group that training did not have is named where its gap decides.
    let far = |line: &str| if line.contains(",x,") { format!("9{line}\n") } else { format!("{line}\n") };
    folder.write("strange.csv", people(300, 60).lines().map(far).collect::<String>());
    let other = ["train", "p.csv", "--test", "strange.csv", "--group", "sex", "--method", "sonex", "--steps", "100"];
    let shown = stdout(&run(&folder.0, &[&other[..], &["--constraint", "gap(tpr) <= 0.01", "--json"]].concat()));
    let told = &objects(&shown).pop().unwrap()["constraints"][0];
    assert!(told["test"]["groups"].as_array().unwrap().contains(&"x".into()), "{told}");
    // What cannot be met together ends well, and says so; unless it is required.
    let hard = ["--constraint", "recall >= 0.99", "--constraint", "fpr <= 0.01", "--save", "hard.model"];
    let output = train(&[&hard[..], &["--json"]].concat());
    let totals = objects(&stdout(&output)).pop().unwrap();
    for (at, target) in ["recall >= 0.99", "fpr <= 0.01"].iter().enumerate() {
        let told = &totals["constraints"][at];
        assert_eq!(
            (&told["target"], &told["verdict"], &told["conflict"]),
            (&(*target).into(), &"not met".into(), &true.into()),
            "{totals}"
        );
        assert!(
            told["dual"].as_f64() >= Some(0.99 * told["dual_bound"].as_f64().unwrap())
                && told["surrogate"].as_f64() > Some(0.0)
        );
        assert!(
            told["train"]["value"].is_number()
                && told["test"]["noise"].is_number()
                && told["at_bound"].as_f64() > Some(0.5)
        );
    }
    assert!(totals["test_groups"]["gap(fpr)"]["value"].is_number() && totals["train_groups"]["groups"].is_array());
    let output = train(&[&hard[..4], &["--require"]].concat());
    assert_eq!((output.status.code(), &*output.stderr), (Some(3), &b"error: no constraint is met, 2 not met\n"[..]));
    assert!(String::from_utf8(output.stdout).unwrap().ends_with("; no constraint is met, 2 not met\n"));
    // The model says the same of the rows that were held out.
    let eval = ["eval", "hard.model", "p.csv", "--held-out", "--json", "--constraint", "fpr <= 0.01"];
    let told = objects(&stdout(&run(&folder.0, &eval))).pop().unwrap();
    assert_eq!(told["constraints"][0]["value"], totals["constraints"][1]["test"]["value"]);
    // By name alone: method, settings and what must hold.
    let quick = ["train", "p.csv", "--split", "0.6", "--group", "sex", "--steps", "20", "--preset"];
    let preset = |name: &str| stdout(&run(&folder.0, &[&quick[..], &[name]].concat()));
    let shown = preset("roc-fairness-paper");
    assert!(shown.contains("alexr2") && shown.contains("\ngap(fpr) <= 0.005: "), "{shown}");
    assert!(preset("roc-fairness").contains("\ngap(tpr) <= 0.05: "));
    let shown = preset("gdro-cvar");
    assert!(shown.contains("By group") && shown.contains("\ntest: CVaR 0.") && shown.contains("; by cross-entropy 0."));
    // CVaR, every cell and the worst, beside cross-entropy's.
    let totals = objects(&stdout(&run(&folder.0, &[&quick[..], &["gdro-cvar", "--json"]].concat()))).pop().unwrap();
    let loss = |block: &Value| block["loss"].as_f64().unwrap();
    for (part, rows) in [("train", 900), ("test", 600)] {
        for of in [&totals["risks"][part], &totals["risks"][part]["cross_entropy"]] {
            let blocks = of["blocks"].as_array().unwrap();
            let (all, worst) =
                (blocks.iter().map(|block| block["rows"].as_u64().unwrap()).sum::<u64>(), loss(&of["worst"]));
            assert_eq!((blocks.len(), all), (4, rows), "{of}");
            // (15 percent of four cells are less than one.)
            assert!((of["cvar"].as_f64().unwrap() - worst).abs() < 1e-12, "{of}");
            assert!(blocks.iter().all(|block| loss(block) <= worst), "{of}");
        }
        assert_ne!(totals["risks"][part]["cvar"], totals["risks"][part]["cross_entropy"]["cvar"]);
    }
    // The worst share of groups.
    let worst = stdout(&train(&["--objective", "cvar:0.5"]));
    assert!(worst.contains("By group") && !worst.contains("constraint"), "{worst}");
    let refuse = |args: &[&str], part: &str| refused(&folder, args, part);
    let with = |more: &[&'static str]| [&base[..], more].concat();
    refuse(&with(&["--constraint", "gap(fpr) >= 1"]), "character 10: gaps and losses are bounded by <= alone");
    refuse(
        &with(&["--constraint", "fpr[q] <= 0.1"]),
        "constraint \"fpr[q] <= 0.1\": there is no group \"q\"; the groups are \"f\", \"m\"",
    );
    refuse(&with(&["--preset", "gdro"]), "expected defaults, paper, roc-fairness, roc-fairness-paper, gdro-cvar");
    refuse(&with(&["--preset", "roc-fairness"]), "--preset roc-fairness: is of the method lagrange");
    refuse(&["train", "p.csv", "--preset", "paper"], "--preset paper: needs --method NAME");
    refuse(&["train", "p.csv", "--preset", "roc-fairness"], "is of groups; --group names");
    refuse(&with(&["--objective", "cvar:2"]), "--objective cvar:2: expected auc, ce or cvar:SHARE");
    refuse(&with(&["--objective", "cvar:0.5", "--require"]), "--require: nothing is asked of this run");
    refuse(&["train", "p.csv", "--method", "sonex"], "--method sonex: is of groups; --group names their columns");
    refuse(
        &["train", "p.csv", "--method", "ce", "--constraint", "fpr <= 0.1"],
        "method ce trains under no constraints; there are sonex",
    );
    refuse(&["train", "p.csv", "--method", "ce", "--objective", "auc"], "--objective auc: method ce has its own");
    refuse(
        &with(&["--objective", "cvar:0.5", "--constraint", "fpr <= 0.1"]),
        "worst groups (cvar), and that under no constraints",
    );
    refuse(&["train", "p.csv", "--resume", "hard.model", "--constraint", "fpr <= 0.1"], "another list of constraints");
    // What bounds cost: a line for each, one without, one recalibrated by group, and a figure.
    let frontier =
        ["frontier", "p.csv", "--split", "0.6", "--group", "sex", "--method", "sonex", "--steps", "300", "--json"];
    let told = run(&folder.0, &[&frontier[..], &["--bounds", "0.05,0.6", "--svg", "f.svg"]].concat());
    let told = objects(&stdout(&told));
    let named: Vec<&str> = told.iter().map(|line| line["method"].as_str().unwrap()).collect();
    assert_eq!(named, ["sonex", "sonex", "lagrange", "lagrange", "no bound", "recalibrated"]);
    let gap = |at: usize| told[at]["train"]["gap(fpr)"].as_f64().unwrap();
    // On the rows that it is made from recalibration leaves the negatives no gap but that of finite steps.
    assert!(gap(5) < 0.02 && gap(5) < gap(4), "{told:?}");
    assert!(fs::read_to_string(folder.path("f.svg")).unwrap().contains("larger exact gap"));
    // A bound that anything keeps is certified, by the model with the greatest AUROC of those from the fairest on; one that the
    // fairest passes is not.
    let certified = run(&folder.0, &[&frontier[..], &["--bounds", "0.001,1", "--certify", "p.csv"]].concat());
    let certified = objects(&stdout(&certified));
    let [none, by] = &certified[certified.len() - 2..] else { unreachable!() };
    assert!(none["method"].is_null() && none["upper"].is_null() && none["certify"] == 0.001, "{none}");
    assert!(by["upper"].as_f64() <= Some(1.0) && by["gap"].as_f64() < by["upper"].as_f64(), "{by}");
    assert!(by["interval"][0].as_f64() < by["auroc"].as_f64() && by["certify"] == 1.0, "{by}");
    refuse(&[&frontier[..], &["--require"]].concat(), "unexpected argument '--require' found");
    refuse(&[&frontier[..], &["--preset", "roc-fairness"]].concat(), "[possible values: defaults, paper]");
    refuse(&[&frontier[..], &["--set", "smoothing=0.1"]].concat(), "method lagrange has no such parameter");
    let weak = [&frontier[..], &["--bounds", "0.05", "--set", "penalty=3", "--rival", "sox"]].concat();
    assert_eq!(objects(&stdout(&run(&folder.0, &weak))).len(), 4);
    assert!(std::fs::read_to_string(folder.path("f.svg")).unwrap().contains("<circle"), "points are dots");
    refuse(&["frontier", "p.csv", "--method", "sonex"], "--group names their columns");
    refuse(&["frontier", "p.csv", "--group", "sex", "--method", "soup"], "did you mean soap?");
}

/// Every option that its help shows is one, with a value as it says, and none has to be given but the file and the groups.
#[test]
fn a_frontier_takes_what_its_help_shows() {
    let folder = Folder::new("frontier-options");
    let mut numbers = Numbers(5);
    let mut text = String::from("a,b,sex,month,place,label\n");
    for row in 0..160 {
        let label = usize::from(row % 4 == 0);
        let a = numbers.next() + 0.4 * label as f64;
        text += &format!("{a},{},{},{},{},{label}\n", numbers.next(), ["f", "m"][row % 2], row / 9, row % 11);
    }
    // (All positives there are of one group, and a certificate takes two.)
    let certify: String =
        (0..160).map(|row| format!("{0},{0},{1},1,2,{2}\n", row % 7, ["f", "m"][row / 2 % 2], row % 3 / 2)).collect();
    folder.write("c.csv", format!("a,b,sex,month,place,label\n{certify}"));
    folder.write("p.csv", text);
    folder.write("c.toml", "seed = 3\n");
    folder.write("s.schema", "[columns]\nplace = { as = \"category\" }\n");
    let base = ["frontier", "p.csv", "--group", "sex"];
    let short = ["--steps", "8", "--bounds", "0.1"];
    let help = stdout(&run(&folder.0, &["frontier", "--help"]));
    let shown = help.lines().filter_map(|line| line.trim_start().strip_prefix("--"));
    let shown: Vec<&str> =
        shown.map(|line| line.split([' ', '=']).next().unwrap()).filter(|name| *name != "help").collect();
    assert!(shown.len() > 20 && shown.contains(&"group") && !shown.contains(&"seeds"), "{help}");
    for name in shown {
        let value = match name {
            "bounds" => Some("0.05,0.1"),
            "categorical" => Some("place"),
            "certify" => Some("c.csv"),
            "format" => Some("csv"),
            "group" => Some("sex"),
            "config" => Some("c.toml"),
            "group-hidden" | "json" | "quiet" => None,
            "schema" => Some("s.schema"),
            "header" => Some("yes"),
            "ignore" => Some("b,place"),
            "label" => Some("label"),
            "method" => Some("lagrange"),
            "missing" => Some("impute"),
            "model" => Some("mlp:3"),
            "na" => Some("none,absent"),
            "passes" => Some("1"),
            "positive" => Some("1"),
            "preset" => Some("paper"),
            "rival" => Some("sox"),
            "scale" => Some("none"),
            "seed" => Some("7"),
            "set" => Some("penalty=2"),
            "split" => Some("0.7"),
            "split-by" => Some("month"),
            "split-group" => Some("place"),
            "steps" => Some("9"),
            "svg" => Some("f.svg"),
            "test" => Some("p.csv"),
            other => panic!("--{other}: no value for it here"),
        };
        let option = format!("--{name}");
        let length = match name {
            "steps" | "passes" => &short[2..],
            "bounds" => &short[..2],
            _ => &short[..],
        };
        let mut args = [&base[..if name == "group" { 2 } else { 4 }], length, &[&option]].concat();
        args.extend(value);
        args.extend(name.starts_with("split-").then_some(["--split", "0.6"]).into_iter().flatten());
        let output = run(&folder.0, &args);
        assert!(output.status.success() && !output.stdout.is_empty(), "{args:?}: {output:?}");
    }
    // Twice and with commas as in `train`.
    let twice = ["--ignore", "b", "--ignore", "place", "--set", "penalty=2", "--set", "lr=0.01"];
    stdout(&run(&folder.0, &[&base[..], &short, &twice].concat()));
}

/// Rows whose label depends on two columns by these weights.
fn task(rows: usize, seed: u64, [by_a, by_b]: [f64; 2]) -> String {
    let mut numbers = Numbers(seed);
    let mut text = String::from("a,b,colour,label\n");
    for _ in 0..rows {
        let [a, b, noise] = [numbers.next(), numbers.next(), numbers.next()].map(|x| x - 0.5);
        let colour = ["red", "green", "blue"][(numbers.next() * 3.0) as usize];
        text += &format!("{a},{b},{colour},{}\n", if by_a * a + by_b * b + 0.5 * noise > 0.0 { "yes" } else { "no" });
    }
    text
}

#[test]
fn training_goes_on_from_a_model_without_forgetting() {
    let folder = Folder::new("forgetting");
    folder.write("first.csv", task(600, 3, [1.0, -0.6]));
    folder.write("second.csv", task(500, 4, [1.0, 0.6]));
    stdout(&run(&folder.0, &["train", "first.csv", "--method", "ce", "--steps", "1500", "--out", "old.model"]));
    let base = ["train", "second.csv", "--split", "0.7", "--start", "old.model", "--steps", "1500"];
    let with = |more: &[&'static str]| [&base[..], more].concat();
    let keep = ["--preset", "non-forgetting", "--constraint", "loss(first.csv) <= old + 0.02"];
    let more = [&keep[..], &["--set", "penalty=20", "--out", "new.model", "--save", "run.model"]].concat();
    let shown = stdout(&run(&folder.0, &with(&more)));
    assert!(shown.contains(", 420 protected rows; sonex, linear from an earlier model, seed 1"), "{shown}");
    assert!(shown.contains("\nloss(first.csv) <= old + 0.02: ") && shown.contains("; test "), "{shown}");
    // What is said of the rows that were trained on and of those held out is what the model's loss is, against the old model's.
    let resume = ["train", "second.csv", "--resume", "run.model", "--json"];
    let totals = objects(&stdout(&run(&folder.0, &resume))).pop().unwrap();
    let told = &totals["constraints"][0];
    let eval = |model: &str, more: &[&str]| {
        let all = ["eval", model, "second.csv", "--start", "old.model", "--json"];
        objects(&stdout(&run(&folder.0, &[&all[..], more].concat()))).pop().unwrap()["constraints"].clone()
    };
    let whole = &eval("new.model", &keep[2..])[0];
    for what in ["value", "bound"] {
        let number = |of: &Value| of[what].as_f64().unwrap();
        let mean = 0.7 * number(&told["train"]) + 0.3 * number(&told["test"]);
        assert!((mean - number(whole)).abs() < 1e-6, "{what}: {told} {whole}");
    }
    assert_eq!((&told["train"]["rows"], &told["test"]["rows"]), (&420.into(), &180.into()));
    let change = |of: &Value| of["value"].as_f64().unwrap() - of["bound"].as_f64().unwrap();
    assert!(change(whole) < 0.02, "{whole}");
    // Without, it is forgotten; and the old model against itself has changed by nothing.
    stdout(&run(&folder.0, &with(&["--method", "ce", "--out", "free.model"])));
    let both = ["--constraint", "loss(first.csv) <= old", "--constraint", "loss <= old"];
    let free = eval("free.model", &both);
    assert!(change(&free[0]) > 0.1 && free[0]["verdict"] == "not met" && free[1]["verdict"] == "met", "{free}");
    let same = eval("old.model", &both);
    assert!(change(&same[0]) == 0.0 && change(&same[1]) == 0.0 && same[0]["verdict"] == "met");
    // Any method begins there; those that begin with cross-entropy do not.
    let soap = stdout(&run(&folder.0, &with(&["--method", "soap"])));
    assert!(soap.contains("soap, linear from an earlier model, seed 1, 1500 steps on"), "{soap}");
    let refuse = |args: &[&str], part: &str| refused(&folder, args, part);
    folder.write("bare.csv", "a,b,colour\n1,2,red\n");
    folder.write("none.csv", "a,b,colour,label\n");
    folder.write("other.csv", task(30, 5, [1.0, 1.0]).replace("colour", "paint"));
    folder.write("odd.csv", task(30, 5, [1.0, 1.0]).replace("yes", "maybe"));
    let old = |file: &str| format!("loss({file}) <= old");
    let sonex = |constraint: &str| {
        let all = [&base[..], &["--preset", "non-forgetting", "--constraint", constraint]].concat();
        all.into_iter().map(String::from).collect::<Vec<_>>()
    };
    for (file, part) in [
        ("absent.csv", "absent.csv: "),
        ("bare.csv", "there is no column \"label\""),
        ("none.csv", "none.csv"),
        ("other.csv", "there is no column \"colour\""),
        ("odd.csv", "\"maybe\""),
    ] {
        let args = sonex(&old(file));
        refuse(&args.iter().map(String::as_str).collect::<Vec<_>>(), part);
    }
    refuse(
        &with(&["--preset", "non-forgetting"]),
        "--preset non-forgetting: needs what it is for, as in --constraint \"loss(FILE) <= old\"",
    );
    let alone = ["train", "second.csv", "--method", "sonex", "--constraint", "loss(first.csv) <= old"];
    refuse(&alone, "there is no model to start from, which old is of");
    refuse(&with(&["--method", "ce", "--resume", "run.model"]), "--resume");
    refuse(
        &with(&["--method", "ce", "--model", "mlp:3"]),
        "the model to start from is linear, and that of the run mlp:3",
    );
    refuse(&with(&["--method", "ce", "--positive", "no"]), "old.model: was made with another positive label");
    refuse(&with(&["--method", "ce", "--ignore", "a"]), "old.model: was made with another list of ignored columns");
    refuse(&["train", "other.csv", "--start", "old.model", "--method", "ce"], "there is no column \"colour\"");
    refuse(
        &["train", "second.csv", "--start", "first.csv", "--method", "ce"],
        "first.csv: not a saved undercurve model",
    );
    refuse(
        &["eval", "new.model", "second.csv", "--constraint", "loss <= old"],
        "there is no earlier model to compare with (--start)",
    );
    refuse(&["eval", "new.model", "second.csv", "--start", "old.model"], "--constraint");
    folder.write("first.csv", task(600, 6, [1.0, -0.6]));
    refuse(&resume[..4], "run.model: saved with another set of rows whose loss is bounded");
}

#[test]
fn files_of_any_length_are_measured_in_a_fixed_amount_of_memory() {
    let folder = Folder::new("memory");
    let mut numbers = Numbers(5);
    let mut file = |name: &str, rows: usize| {
        let mut text = "score,label\n".to_string();
        for row in 0..rows {
            let label = u8::from(row % 20 == 0);
            writeln!(text, "{:.9},{label}", numbers.next() + 0.2 * f64::from(label)).unwrap();
        }
        folder.write(name, &text);
        text
    };
    let all = file("a.csv", 500_000) + &file("b.csv", 400_000)["score,label\n".len()..];
    folder.write("all.csv", all);
    let asked = "auroc,ap,pauc,pauc:0.1:0.4,mcclish:0.2";
    let told = |args: &[&str]| -> serde_json::Value {
        let args = [&["metrics", "--json", "--metric", asked], args].concat();
        serde_json::from_str(&stdout(&run(&folder.0, &args))).unwrap()
    };
    let exact = told(&["all.csv"]);
    let ends = |told: &serde_json::Value| -> Vec<(f64, f64)> {
        assert_eq!((&told["rows"], &told["positives"]), (&900_000.into(), &45_000.into()));
        let of = |name| {
            let (low, high) = (&told["bounds"][name][0], &told["bounds"][name][1]);
            let (low, high, value) = (low.as_f64().unwrap(), high.as_f64().unwrap(), exact[name].as_f64().unwrap());
            assert!(low <= value && value <= high && high - low < 1e-4, "{name}: {low} {value} {high}");
            (low, high)
        };
        asked.split(',').map(of).collect()
    };
    // More different scores than fit 100 MB; less than fit 500.
    let once = told(&["a.csv", "b.csv", "--memory", "100M"]);
    let (wide, stdin) = (ends(&once), Stdio::from(fs::File::open(folder.path("all.csv")).unwrap()));
    let args = ["metrics", "-", "--memory", "100M", "--metric", "auroc"];
    let piped = stdout(&undercurve().args(args).stdin(stdin).output().unwrap());
    let (low, high) = ((wide[0].0 * 1e9).floor() / 1e9, (wide[0].1 * 1e9).ceil() / 1e9);
    let want = format!("900000 rows, 45000 positive; the metrics lie between\nauroc  {low:.9} and {high:.9}\n");
    assert_eq!(piped, want);
    assert!(low < high);
    let twice = told(&["a.csv", "b.csv", "--memory", "100M", "--passes", "2"]);
    for (once, twice) in wide.into_iter().zip(ends(&twice)) {
        let narrower = twice.1 - twice.0 <= 0.5 * (once.1 - once.0);
        assert!(once.0 <= twice.0 && twice.1 <= once.1 && narrower, "{once:?} {twice:?}");
    }
    assert_eq!(told(&["a.csv", "b.csv", "--memory", "0.5gb"]), exact);

    // Words, quotes, and other columns, whatever is in them.
    folder.write("plain.csv", "score,label\n0.5,1\n0.25,0\n0.75,1\n0.6,0\n");
    folder.write("words.csv", "id;what;points\n\"a;1\";\"yes\";0.5\n\n;no; 0.25\r\ninf;yes;\"0.75\"\nx;maybe;0.6");
    let want = stdout(&run(&folder.0, &["metrics", "plain.csv"]));
    let words = ["metrics", "words.csv", "--label", "what", "--score", "3", "--positive", "yes", "--memory", "100M"];
    assert_eq!(stdout(&run(&folder.0, &words)), want);

    let refused =
        |args: &[&str], told: &str| refused(&folder, &[&["metrics", "--memory", "100M"], args].concat(), told);
    let row = ": no row with a score and a label of 0 or 1";
    for (text, line) in
        [("score,label\n1,0\n\n0.5,2\n", 4), ("score,label\n1,0\n,1\n", 3), ("score,label\n1,0\nnan,1\n", 3)]
    {
        folder.write("wrong.csv", text);
        refused(&["wrong.csv"], &format!("wrong.csv:{line}{row}"));
    }
    folder.write("wrong.csv", "score,label\n1,0\n\"1,1\n");
    refused(&["wrong.csv"], "wrong.csv:3:1: a quoted cell never ends");
    folder.write("wrong.csv", "score,label\n".to_string() + &"\"1\",0\n".repeat(200) + "\"1,1\n");
    refused(&["wrong.csv"], &format!("wrong.csv:202{row}"));
    folder.write("wrong.csv", "score,label\n1,0\n2,0\n");
    refused(&["wrong.csv"], "both positives and negatives are needed");
    refused(&["plain.csv", "--score", "points"], "plain.csv");
    refused(&["missing.csv"], "missing.csv");
    refused(&["-", "--passes", "2"], "--passes 2: - cannot be read twice");
    refused(&["plain.csv", "--metric", "f1:0.5"], "--metric f1:0.5: is not told with --memory");
    stdout(&run(&folder.0, &["metrics", "plain.csv", "--state", "plain.state"]));
    refused(&["plain.state"], "plain.state: is a state, which is not read with --memory");
    for args in [
        &["metrics", "plain.csv", "--memory", "5M"][..],
        &["metrics", "plain.csv", "--passes", "2"],
        &["metrics", "plain.csv", "--memory", "100M", "--group", "score"],
    ] {
        assert_eq!(run(&folder.0, args).status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn merged_files_have_the_metrics_of_all_rows() {
    let folder = Folder::new("merged");
    let mut numbers = Numbers(3);
    let rows: Vec<[String; 4]> = (0..900)
        .map(|row| {
            let label = u8::from(row % 7 == 0);
            let score = ((numbers.next() + 0.3 * f64::from(label)) * 200.0).round() / 200.0 - 0.6;
            [
                score.to_string(),
                label.to_string(),
                (numbers.next() * 3.0).to_string(),
                ["no", "yes"][usize::from(label)].into(),
            ]
        })
        .collect();
    let file = |name: &str, rows: &[&[String; 4]]| {
        let lines: String = rows.iter().map(|row| row.join(",") + "\n").collect();
        folder.write(name, format!("score,label,weight,word\n{lines}"));
    };
    file("all.csv", &rows.iter().collect::<Vec<_>>());
    // The second part is of one class alone, and the third is read from stdin.
    let (positives, negatives): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row[1] == "1");
    file("a.csv", &[&positives[50..], &negatives[..300]].concat());
    file("b.csv", &positives[..50]);
    file("c.csv", &negatives[300..]);
    let usual =
        "auroc,ap,pauc,pauc:0.1:0.37,mcclish:0.2,accuracy:0,f1:0.1,precision-at-recall:0.4,recall-at-precision:0.2";
    for more in [&[][..], &["--metric", usual], &["--json", "--metric", usual], &["--json", "--weight", "weight"]] {
        let metrics = |files: &[&'static str]| stdout(&run(&folder.0, &[&["metrics"], files, more].concat()));
        let count = |from: &'static str, to: &'static str, file: Stdio| {
            let weight = if more.contains(&"--weight") { &["--weight", "weight"][..] } else { &[] };
            let args = [&["metrics", from, "--state", to], weight].concat();
            stdout(&undercurve().current_dir(&folder.0).args(args).stdin(file).output().unwrap())
        };
        assert!(count("a.csv", "a.state", Stdio::null()).contains("379 rows, 79 positive"));
        count("b.csv", "b.state", Stdio::null());
        count("-", "c.state", Stdio::from(fs::File::open(folder.path("c.csv")).unwrap()));
        let want = metrics(&["all.csv"]);
        assert_eq!(metrics(&["c.state", "a.state", "b.state"]), want);
        assert_eq!(metrics(&["b.csv", "c.state", "a.csv"]), want);
    }
    // A state of all is one file, whichever way it came about.
    stdout(&run(&folder.0, &["metrics", "a.csv", "b.csv", "c.csv", "--state", "parts.state"]));
    stdout(&run(&folder.0, &["metrics", "all.csv", "--state", "all.state", "--label", "word", "--positive", "yes"]));
    assert_eq!(fs::read(folder.path("parts.state")).unwrap(), fs::read(folder.path("all.state")).unwrap());

    refused(&folder, &["metrics", "all.csv", "--state", "all.csv"], "all.csv");
    refused(&folder, &["metrics", "b.csv", "--state", "x.state", "--label", "weight"], "a label other than 0 and 1");
    refused(&folder, &["metrics", "all.state", "--metric", "brier"], "--metric brier: is not of files that are merged");
    refused(&folder, &["metrics", "all.state", "--metric", "tpr"], "--metric tpr: tpr:THRESHOLD");
    refused(&folder, &["metrics", "all.state", "--curves", "x.csv"], "--curves: is not of files that are merged");
    refused(
        &folder,
        &["metrics", "all.state", "a.state"],
        "a.state: not supported: rows with weights beside rows without",
    );
    let mut bytes = fs::read(folder.path("all.state")).unwrap();
    bytes.pop();
    folder.write("cut.state", bytes);
    refused(&folder, &["metrics", "cut.state"], "cut.state: the state is cut short or damaged");
    refused(&folder, &["metrics", "b.csv", "b.csv"], "both positives and negatives are needed");
}
