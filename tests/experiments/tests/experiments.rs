//! What the experiments print, write and refuse.

mod common;

use common::{Folder, PROGRAM, csv, run, stdout};
use serde_json::Value;
use std::fs;
use std::process::{Command, Output};
use undercurve_tests::vulkan::FaultLayer;

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn experiments_are_listed() {
    let folder = Folder::new("experiments");
    let text = stdout(&run(&folder.0, &[]));
    assert!(text.lines().any(|line| line.starts_with("pairs ")), "{text}");
    let all = objects(&stdout(&run(&folder.0, &["--json"])));
    assert_eq!(all.len(), text.lines().count());
    assert!(all.iter().all(|bench| !bench["about"].as_str().unwrap().is_empty()), "{all:?}");
    for bench in &all {
        let name = bench["bench"].as_str().unwrap();
        let help = stdout(&run(&folder.0, &[name, "--help"]));
        // Data lies in the same place for all that read any.
        assert!(!help.contains("--data") || help.contains("[default: ../shared/data]"), "{name}: {help}");
    }
    // Found wanting only when it looks for the data.
    let none = run(&folder.0, &["ai-sarah", "--skip-speed"]);
    assert!(!none.status.success() && String::from_utf8_lossy(&none.stderr).contains("../shared/data"), "{none:?}");
}

/// The one experiment that needs no data: kept runs are enough to print its table again, and nothing is judged on a split
/// that it was tuned on.
#[test]
fn an_experiment_is_shown_again_from_its_runs() {
    let folder = Folder::new("experiment");
    let bench = ["auroc", "--strongly-convex", "--quick", "--only", "PGA,PPD-SG", "--out", "runs"];
    let again = |more: &str| run(&folder.0, &[&bench[..], &["--show", more]].concat());
    let first = run(&folder.0, &bench);
    let table = stdout(&first);
    assert!(table.contains("| PPD-SG | ") && table.contains(" is the end of its grid"), "{table}");
    assert!(String::from_utf8_lossy(&first.stderr).contains("PGA on gaussian: "), "{first:?}");
    assert_eq!(stdout(&again("--jobs=1")), table);
    let rows = objects(&stdout(&again("--json")));
    assert_eq!(rows.iter().map(|row| row["method"].as_str().unwrap()).collect::<Vec<_>>(), ["PGA", "PPD-SG"]);
    for row in &rows {
        assert_eq!((row["points"].as_u64(), row["test"].as_array().unwrap().len()), (Some(3), 2), "{row}");
        assert!(!row["edges"].as_array().unwrap().is_empty() && row["difference"]["mean"].is_f64(), "{row}");
    }
    let runs = std::fs::read_to_string(folder.0.join("runs/runs.jsonl")).unwrap();
    let count = |text: &str| runs.lines().filter(|line| line.contains(text)).count();
    assert_eq!((count("split 1;"), count("split 2;"), count("split 3;"), runs.lines().count()), (6, 2, 2, 10));
    assert_eq!((count(" valid\""), count(" test\"")), (6, 4));
}

/// Every method of partial AUC on drawn rows in the place of a set: all end nearer to the least objective than
/// cross-entropy, and the figures are there.
#[test]
fn methods_of_partial_auc_are_compared() {
    let folder = Folder::new("pauc");
    folder.write("annthyroid.csv.gz", csv(1500));
    let bench = ["pauc", "--quick", "--data", ".", "--jobs", "1", "--fpr", "0.05:0.5", "--figures", "figures"];
    let table = stdout(&run(&folder.0, &bench));
    let of = |name: &str| {
        let row = table.lines().rev().find(|line| line.starts_with(&format!("| {name} | +")));
        let over = row.and_then(|row| row.split(" | ").nth(2)).and_then(|cell| cell.strip_suffix(" %"));
        over.and_then(|over| over.parse::<f64>().ok()).unwrap_or_else(|| panic!("{name}: {table}"))
    };
    for name in ["exact", "threshold", "AGD-SBCD", "DCA", "proximal DCA", "MB"] {
        assert!(of(name) < of("CE"), "{name}: {table}");
    }
    for figure in ["F-passes", "F-seconds", "test-passes", "test-seconds"] {
        assert!(
            folder.path(&format!("figures/pauc-annthyroid-linear-pAUC-0-05-0-5-{figure}.svg")).is_file(),
            "{figure}"
        );
    }
    // By the objective: nobody's settings leave it above cross-entropy's.
    let by = stdout(&run(&folder.0, &[&bench[..8], &["--by-objective", "--surrogate", "hinge"]].concat()));
    assert!(by.contains("tuned on 1 others by F on the training rows") && by.contains("check 30 of 30, F 0."), "{by}");
    // The ablation: a row for each variant, each with a gain and F of the last iterate and of the mean.
    let quick = ["--quick", "--data", ".", "--jobs", "1"];
    let ablation = stdout(&run(&folder.0, &[&["pauc-ablation"], &quick[..]].concat()));
    for name in ["exact", "threshold, SGD, constant", "AGD-SBCD, falling"] {
        let row = ablation.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap_or_default();
        assert_eq!(row.matches(" ± ").count(), 2, "{ablation}");
    }
    let cost = stdout(&run(&folder.0, &["pauc-cost", "--quick", "--json"]));
    let last: serde_json::Value = serde_json::from_str(cost.lines().last().unwrap()).unwrap();
    assert!(
        last["method"] == "pauc-threshold" && last["last"].as_f64() < Some(1.2 * last["least"].as_f64().unwrap()),
        "{cost}"
    );
    // Where all weights are 0, each loss is ln 2, and so is their mean.
    let ranked = stdout(&run(&folder.0, &["sorr", "--quick", "--data", ".", "--jobs", "1", "--figures", "figures"]));
    for name in ["AGD", "DCA, changing steps", "DCA, constant steps"] {
        let row = ranked.lines().find_map(|line| line.strip_prefix(&format!("| {name} | "))).expect(name);
        let mean: f64 = row.split(" ± ").next().unwrap().parse().unwrap();
        assert!(mean < 0.9 * std::f64::consts::LN_2, "{name}: {ranked}");
    }
    assert!(folder.path("figures/sorr-annthyroid-passes.svg").is_file());
    let wrong = run(&folder.0, &["pauc", "--fpr", "0.5:0.1"]);
    assert!(!wrong.status.success() && String::from_utf8_lossy(&wrong.stderr).contains("LOW:HIGH"), "{wrong:?}");
}

/// Every row is measured, cut to two seconds in all, and kept. What it measures here says nothing about a GPU.
#[test]
fn bench_gpu_measures_every_row() {
    let folder = Folder::new("bench-gpu");
    let bench = |more: &[&str], drivers: Option<&str>| {
        let mut command = Command::new(PROGRAM);
        command.current_dir(&folder.0).args(["gpu", "--seconds", "2"]).args(more);
        // (Mesa says so when this is not set.)
        command.env("XDG_RUNTIME_DIR", &folder.0);
        if let Some(file) = drivers {
            command.env("VK_DRIVER_FILES", file).env("VK_ICD_FILENAMES", file);
        }
        command.output().unwrap()
    };
    let refused = |output: &Output, why: &str| {
        let said = String::from_utf8_lossy(&output.stderr);
        let ours: Vec<&str> = said.lines().filter(|line| line.starts_with("error: experiment gpu: ")).collect();
        assert!(output.status.code() == Some(2) && ours.len() == 1 && ours[0].contains(why), "{said}");
        assert!(output.stdout.is_empty() && !folder.path("gpu.json").exists());
    };
    if cfg!(target_os = "linux") {
        for more in [&["--out", "gpu.json"][..], &["--software"], &["--adapter", "llvmpipe"]] {
            refused(&bench(more, Some("/nonexistent.json")), "no GPU adapter that can compute was found");
        }
    }
    let output = bench(&["--software", "--out", "gpu.json"], None);
    if String::from_utf8_lossy(&output.stderr).contains("no GPU adapter") {
        undercurve_tests::skipped("no GPU driver found (on Debian: apt install mesa-vulkan-drivers)");
        return;
    }
    let text = stdout(&output);
    let report: Value = serde_json::from_slice(&fs::read(folder.path("gpu.json")).unwrap()).unwrap();
    fs::remove_file(folder.path("gpu.json")).unwrap();
    assert_eq!(
        (&report["complete"], &report["software"], &report["error"]),
        (&true.into(), &true.into(), &Value::Null)
    );
    for key in ["adapter", "driver", "backend", "commit"] {
        assert!(report[key].as_str().is_some_and(|text| !text.is_empty()), "{key}: {}", report[key]);
    }
    assert!(
        report["limits"].as_object().unwrap().values().all(|limit| limit.as_u64() > Some(0)),
        "{}",
        report["limits"]
    );
    let positive = |row: &Value, keys: &[&str]| {
        for key in keys {
            assert!(row[key].as_f64().is_some_and(|x| x > 0.0), "{key} of {row}");
        }
        assert!(row["least"].as_f64() <= row["median"].as_f64() && row["count"].as_u64() > Some(0), "{row}");
    };
    let measured = ["rate", "median", "least"];
    let (ceilings, rows) = (report["ceilings"].as_array().unwrap(), report["rows"].as_array().unwrap());
    ceilings.iter().for_each(|row| positive(row, &measured));
    for row in rows {
        positive(row, &measured);
        positive(row, &["ceiling", "share", "times_one_thread", "times_all_threads"]);
        positive(&row["one_thread"], &measured);
        positive(&row["all_threads"], &measured);
    }
    let of = |engine: &str| rows.iter().filter(|row| row["engine"] == engine).count();
    assert_eq!((ceilings.len(), rows.len()), (7, 62));
    assert_eq!(["sort", "exact", "auc", "whole", "lanes", "wide"].map(of), [5, 9 * 3, 4, 2 * 3, 2 * 6, 8]);
    // The adapter, what it is, a line a row, and the end.
    assert_eq!(text.lines().count(), 2 + 7 + 62 + 1, "{text}");
    // Without a layer that drops dispatches there is no bound by the host.
    refused(
        &bench(&["--software", "--null", "--out", "gpu.json"], None),
        "gpu/bench/null.sh has a layer that drops them",
    );
    // Nobody gets a software adapter unasked.
    let output = bench(&["--out", "gpu.json"], None);
    if output.status.code() != Some(0) {
        refused(&output, "; --software takes one all the same");
    }
}

/// Nothing is computed, all rows are bounds, and what is no bound refuses the layer.
#[test]
fn bench_gpu_measures_what_the_host_allows() {
    let folder = Folder::new("bench-null");
    let Some(layer) = FaultLayer::build(&folder.0) else { return };
    let bench = |more: &[&str]| {
        let mut command = Command::new(PROGRAM);
        command.current_dir(&folder.0).args(["gpu", "--software", "--seconds", "2"]).args(more);
        layer.give(command.env("XDG_RUNTIME_DIR", &folder.0), "drop", 0).output().unwrap()
    };
    let output = bench(&[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.contains("no GPU adapter") {
        undercurve_tests::skipped("no GPU driver found (on Debian: apt install mesa-vulkan-drivers)");
        return;
    }
    assert!(output.status.code() == Some(2) && said.contains("a layer drops dispatches here"), "{said}");
    let text = stdout(&bench(&["--null", "--out", "null.json"]));
    assert!(text.contains("no dispatch is made") && text.contains(" at most; "), "{text}");
    let report: Value = serde_json::from_slice(&fs::read(folder.path("null.json")).unwrap()).unwrap();
    let (ceilings, rows) = (report["ceilings"].as_array().unwrap(), report["rows"].as_array().unwrap());
    assert_eq!((&report["null"], ceilings.len(), rows.len()), (&true.into(), 4, 62));
    assert!(rows.iter().all(|row| row["rate"].as_f64() > Some(0.0) && row["share"].is_null()));
}

/// The script names the program, the file and the options as they are, and says where there is no program.
#[cfg(unix)]
#[test]
fn the_script_of_bench_gpu_runs_the_program() {
    let folder = Folder::new("bench-gpu-script");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../gpu/bench/run.sh");
    let sh = |args: &[&str]| Command::new("sh").args(args).current_dir(&folder.0).output().unwrap();
    stdout(&sh(&["-n", script]));
    let none = sh(&[script]);
    let said = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(none.status.code() == Some(2) && said.starts_with("run.sh: ./experiments: no such program"), "{said}");
    let program = folder.write("a program", "#!/bin/sh\necho \"$#: $*\"\n");
    stdout(&sh(&["-c", "chmod +x 'a program'"]));
    let said = stdout(&sh(&[script, "a program", "a file.json", "--seconds", "2"]));
    assert_eq!(said, "5: gpu --out a file.json --seconds 2\na file.json\n");
    let said = stdout(&sh(&[script, program.to_str().unwrap()]));
    assert_eq!(said, "3: gpu --out gpu.json\ngpu.json\n");
}

/// Those of constraints and groups, on a few rows that they draw.
#[test]
fn experiments_of_constraints_run() {
    let folder = Folder::new("constraints");
    stdout(&run(&folder.0, &["fairness", "--quick"]));
    // Verdicts against a known population.
    let told = objects(&stdout(&run(&folder.0, &["verdicts", "--quick", "--json"])));
    let count = |row: &Value, name: &str| row[name].as_u64().unwrap();
    assert_eq!(told.len(), 5);
    for row in &told {
        assert_eq!(count(row, "met") + count(row, "not_met") + count(row, "cannot_tell"), 2, "{row}");
        assert!(count(row, "met_wrong") <= count(row, "met") && count(row, "edge_of") == 2, "{row}");
    }
    // Two groups, each with gradients of its own.
    let worst = objects(&stdout(&run(&folder.0, &["gdro", "--quick", "--json", "--share", "0.5"])));
    let names: Vec<&str> = worst.iter().map(|row| row["method"].as_str().unwrap()).collect();
    assert_eq!(names, ["cross-entropy", "sonex"]);
    for row in &worst {
        let mean = |name: &str| row[name]["mean"].as_f64().unwrap();
        assert!(
            mean("smallest_eigenvalue") > 0.0 && mean("test_cvar") < 0.72 && mean("test_least_auroc") > 0.5,
            "{row}"
        );
    }
    let wrong = run(&folder.0, &["gdro", "--quick", "--share", "0"]);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("--share: expected a share above 0"), "{wrong:?}");
    let told = objects(&stdout(&run(&folder.0, &["contrastive", "--quick", "--json"])));
    assert_eq!(told.len(), 3);
    // (Of 150 pairs one in 15 is among ten drawn blindly.)
    assert!(told.iter().all(|line| line["recall_10"]["mean"].as_f64().unwrap() > 0.2), "{told:?}");
    stdout(&run(&folder.0, &["forgetting", "--quick"]));
}
