//! `train --average`: one network whose scores are the mean of several.

mod common;

use common::{Folder, csv, run, stdout};
use serde_json::Value;

/// The scores of a model file.
fn scores(folder: &Folder, model: &str) -> Vec<f64> {
    let text = stdout(&run(&folder.0, &["predict", model, "test.csv"]));
    let mut lines = text.lines();
    let at = lines.next().unwrap().split(',').position(|name| name == "score").unwrap();
    lines.map(|line| line.split(',').nth(at).unwrap().parse().unwrap()).collect()
}

#[test]
fn scores_are_the_mean_of_those_of_the_runs() {
    let folder = Folder::new("average");
    folder.write("data.csv", csv(400));
    folder.write("test.csv", csv(100));
    folder.write("valid.csv", csv(150));
    for model in ["mlp:6", "mlp-tanh:5,3"] {
        let common =
            ["train", "data.csv", "--valid", "valid.csv", "--model", model, "--init", "random", "--steps", "60"];
        let with = |more: &[&str]| stdout(&run(&folder.0, &[&common[..], &["--json"], more].concat()));
        let text = with(&["--average", "3", "--seed", "4", "--out", "mean.uc"]);
        let totals: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!((&totals["average"], totals["runs"].as_array().map(Vec::len)), (&3.into(), Some(3)));
        let mut apart = Vec::new();
        for (at, seed) in ["4", "5", "6"].into_iter().enumerate() {
            let text = with(&["--seed", seed, "--out", "one.uc"]);
            let one: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
            assert_eq!(totals["runs"][at]["valid"], one["kept"]["valid"], "{model} {seed}");
            apart.push(scores(&folder, "one.uc"));
        }
        for (at, mean) in scores(&folder, "mean.uc").into_iter().enumerate() {
            let sum: f64 = apart.iter().map(|own| own[at]).sum();
            assert!((mean - sum / 3.0).abs() <= 1e-5 * (1.0 + mean.abs()), "{model} {at}: {mean} {}", sum / 3.0);
        }
    }
}
