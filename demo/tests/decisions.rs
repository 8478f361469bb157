//! From a file to decisions: costs, validation rows, models alone, new rows.

mod common;

use common::{Folder, Numbers, csv, run, stdout, undercurve};
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::process::Stdio;
use undercurve::metric::{OfQuery, query_mean};

fn last(text: &str) -> Value {
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

/// The sentence of a command that is refused; nothing is written.
fn refused(folder: &Folder, args: &[&str]) -> String {
    let before = folder.names();
    let output = run(&folder.0, args);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), text.matches('\n').count()), (Some(2), 1), "{args:?}: {text}");
    assert_eq!(folder.names(), before, "{args:?}");
    text.strip_prefix("error: ").unwrap().trim_end().to_string()
}

#[test]
fn costs_stand_for_a_range_and_a_threshold() {
    let folder = Folder::new("costs");
    folder.write("data.csv", csv(600));
    let args = ["train", "data.csv", "--split", "0.6", "--method", "ce", "--cost-fp", "1", "--cost-fn", "9"];
    let text = stdout(&run(&folder.0, &args));
    let said = text.lines().nth(1).unwrap();
    assert!(
        said.starts_with("A false positive costs 1, a false negative 9, a share of 0.2000 is positive: lines of equal cost have slope 0.4444."),
        "{said}"
    );
    let range = said.rsplit(' ').next().unwrap();
    assert!(said.ends_with(&format!("--fpr {range}")), "{said}");
    // The range is what a run with it by hand has, and the threshold is the cheapest.
    let json = |more: &[&str]| last(&stdout(&run(&folder.0, &[&args[..6], more, &["--json"]].concat())));
    let (by_costs, by_hand) = (json(&args[6..]), json(&["--fpr", range, "--threshold", "fpr<=0.05"]));
    assert_eq!(by_costs["fpr"], by_hand["fpr"]);
    assert_eq!(by_costs["test"], by_hand["test"]);
    assert!((by_costs["slope"].as_f64().unwrap() - 4.0 / 9.0).abs() < 1e-12);
    let cost = |at: &Value| 0.2 * 9.0 * (1.0 - at["tpr"].as_f64().unwrap()) + 0.8 * at["fpr"].as_f64().unwrap();
    let at = &by_costs["threshold"];
    assert!((at["cost"].as_f64().unwrap() - cost(at)).abs() < 1e-9);
    assert!(cost(at) <= cost(&by_hand["threshold"]) && at["chosen_on"] == "training", "{at} {by_hand}");
    let other = json(&["--cost-fp", "1", "--cost-fn", "9", "--prevalence", "0.01"]);
    assert!(other["fpr"][1].as_f64() < by_costs["fpr"][1].as_f64(), "{other}");

    let wrong = |more: &[&str]| refused(&folder, &[&["train", "data.csv", "--method", "ce"], more].concat());
    let text = "--cost-fp, --cost-fn: expected more than 0; --prevalence: a share above 0 and below 1";
    assert_eq!(wrong(&["--cost-fp", "0", "--cost-fn", "1"]), text);
    assert_eq!(wrong(&["--cost-fp", "1", "--cost-fn", "1", "--prevalence", "1"]), text);
    assert!(wrong(&["--cost-fp", "1"]).contains("--cost-fn"));
    assert!(wrong(&["--cost-fp", "1", "--cost-fn", "1", "--fpr", "0:0.1"]).contains("--fpr"));
}

#[test]
fn the_best_step_on_validation_rows_is_kept() {
    let folder = Folder::new("valid");
    folder.write("data.csv", csv(500));
    folder.write("more.csv", csv(300));
    let args = [
        "train",
        "data.csv",
        "--split",
        "0.7",
        "--valid",
        "0.3",
        "--method",
        "soap",
        "--set",
        "decay=0",
        "--threshold",
        "fpr<=0.05",
        "--json",
    ];
    let first = [&args[..], &["--save", "whole.run", "--out", "whole.model"]].concat();
    let text = stdout(&run(&folder.0, &first));
    let totals = last(&text);
    let kept = &totals["kept"];
    assert_eq!((kept["metric"].as_str(), totals["threshold"]["chosen_on"].as_str()), (Some("ap"), Some("validation")));
    assert_eq!(kept["step"], kept["best_step"]);
    assert!(totals["rows"].as_u64() == Some(245), "{totals}");
    assert!(totals["test_intervals"]["ap"][0].as_f64() < totals["test"]["ap"].as_f64());
    // Both files are of that model, and eval knows the rows that were held out.
    for file in ["whole.run", "whole.model"] {
        let measured = stdout(&run(&folder.0, &["eval", file, "data.csv", "--held-out", "--json"]));
        let measured: Value = serde_json::from_str(&measured).unwrap();
        assert_eq!(
            (&measured["ap"], &measured["tpr"]),
            (&totals["test"]["ap"], &totals["threshold"]["test_tpr"]),
            "{file}"
        );
        assert_eq!(measured["intervals"]["ap"], totals["test_intervals"]["ap"], "{file}");
    }
    let people = stdout(&run(&folder.0, &args[..args.len() - 1]));
    let step = kept["step"].as_u64().unwrap();
    assert!(people.lines().next().unwrap().contains("105 validation rows (21 positive), 150 test rows"), "{people}");
    assert!(people.contains(&format!("Kept: step {step} with ap ")), "{people}");
    assert!(
        people.contains("Test, with 95 % intervals: AUROC ") && people.contains("on the validation rows"),
        "{people}"
    );

    // A run that is stopped and resumed keeps the same model, to the bit.
    let steps = totals["steps"].as_u64().unwrap();
    let half = [&args[..], &["--save", "half.run", "--every", "7", "--seconds", "1e-9"]].concat();
    stdout(&run(&folder.0, &half));
    for _ in 0..3 {
        let seconds = ["train", "data.csv", "--resume", "half.run", "--json", "--every", "7", "--seconds", "0.02"];
        stdout(&run(&folder.0, &seconds));
    }
    stdout(&run(&folder.0, &["train", "data.csv", "--resume", "half.run", "--json", "--out", "half.model"]));
    assert_eq!(fs::read(folder.path("half.model")).unwrap(), fs::read(folder.path("whole.model")).unwrap());

    // The last on request; an early end; validation rows of a file.
    let run_last = last(&stdout(&run(&folder.0, &[&args[..], &["--keep", "last", "--metric", "auroc"]].concat())));
    assert_eq!((run_last["kept"]["step"].as_u64(), run_last["kept"]["metric"].as_str()), (Some(steps), Some("auroc")));
    let early = last(&stdout(&run(&folder.0, &[&args[..], &["--patience", "1", "--metric", "pauc"]].concat())));
    assert!(early["steps"].as_u64() < Some(steps), "{early}");
    let file = ["train", "data.csv", "--valid", "more.csv", "--method", "ce", "--save", "file.run", "--json"];
    assert_eq!(last(&stdout(&run(&folder.0, &file)))["kept"]["metric"], "auroc");
    let again = |more: &[&'static str]| [&["train", "data.csv", "--resume", "file.run"], more].concat();
    let text = refused(&folder, &again(&[]));
    assert_eq!(text, "file.run: saved with validation rows of another file; name it (--valid)");
    stdout(&run(&folder.0, &again(&["--valid", "more.csv"])));
    assert_eq!(refused(&folder, &again(&["--valid", "data.csv"])), "file.run: saved with another validation data set");
    let text = refused(&folder, &again(&["--valid", "more.csv", "--metric", "ap"]));
    assert_eq!(
        text,
        "file.run: saved with another metric to keep a model by (--metric); leave the option out to continue that run"
    );
    for (more, part) in [
        (&["--keep", "last"][..], "--valid"),
        (&["--valid", "1.5"], "expected a share above 0 and below 1, or a file"),
        (&["--valid", "none.csv"], "none.csv: "),
        (&["--valid", "0.2", "--metric", "f1"], "\"f1\" is no metric to keep a model by; there are auroc, ap, pauc"),
        (&["--valid", "0.2", "--patience", "0"], "patience: expected at least 1"),
        (&["--out", "data.csv"], "data.csv: is there and not a saved model; not replaced"),
        (&["--out", "x.model", "--save", "x.model"], "--out x.model: is the file of the run"),
    ] {
        let text = refused(&folder, &[&["train", "data.csv", "--method", "soap"], more].concat());
        assert!(text.contains(part), "{more:?}: {text}");
    }
    let text = refused(&folder, &["train", "data.csv", "--resume", "whole.model"]);
    assert_eq!(text, "whole.model: a model without its run, which training cannot go on from");
}

/// The columns label and score of a file that `eval --scores` wrote.
fn scored(folder: &Folder, file: &str) -> (Vec<f64>, Vec<u8>) {
    let text = fs::read_to_string(folder.path(file)).unwrap();
    let rows = text.lines().skip(1).map(|line| line.split_once(',').unwrap());
    rows.map(|(label, score)| (f64::from(score.parse::<f32>().unwrap()), label.parse::<u8>().unwrap())).unzip()
}

#[test]
fn thresholds_follow_rules_and_scores_become_probabilities() {
    let folder = Folder::new("rules");
    folder.write("data.csv", csv(600));
    folder.write(
        "more.csv",
        csv(900).lines().take(1).chain(csv(900).lines().skip(601)).map(|l| format!("{l}\n")).collect::<String>(),
    );
    let train = ["train", "data.csv", "--method", "soap", "--valid", "more.csv", "--out", "m", "--json"];
    let with = |more: &[&str]| last(&stdout(&run(&folder.0, &[&train[..], more].concat())));
    let eval = |more: &[&str]| last(&stdout(&run(&folder.0, &[&["eval", "m", "more.csv", "--json"], more].concat())));
    for rule in ["fpr<=0.1", "recall>=0.7", "precision>=0.4", "alerts<=30", "alerts<=5%", "youden", "costs:1:9", "0.25"]
    {
        let totals = with(&["--threshold", rule]);
        let told = &totals["threshold"];
        assert_eq!((told["rule"].as_str(), told["chosen_on"].as_str()), (Some(rule), Some("validation")));
        let at = told["at"].as_f64().unwrap();
        // The same score by a scan of all thresholds, from the scores that eval writes.
        stdout(&run(&folder.0, &["eval", "m", "more.csv", "--scores", "s.csv"]));
        let (scores, labels) = scored(&folder, "s.csv");
        let all = undercurve_tests::decisions::cuts(&scores, &labels, f64::from(f32::EPSILON));
        let alerts = |tpr: f64, fpr: f64| (60.0 * tpr + 240.0 * fpr).round();
        let worth: undercurve_tests::decisions::Worth<'_> = match rule {
            "fpr<=0.1" => &|tpr, fpr, _| (fpr <= 0.1).then_some([tpr, -fpr]),
            "recall>=0.7" => &|tpr, fpr, _| (tpr >= 0.7).then_some([-fpr, tpr]),
            "precision>=0.4" => &|tpr, fpr, p| (p >= 0.4).then_some([tpr, -fpr]),
            "alerts<=30" => &|tpr, fpr, _| (alerts(tpr, fpr) <= 30.0).then_some([tpr, -fpr]),
            "alerts<=5%" => &|tpr, fpr, _| (alerts(tpr, fpr) <= 15.0).then_some([tpr, -fpr]),
            "youden" => &|tpr, fpr, _| Some([tpr - fpr, -fpr]),
            "costs:1:9" => &|tpr, fpr, _| Some([60.0 * 9.0 * tpr - 240.0 * fpr, -fpr]),
            _ => &|_, _, _| None,
        };
        let best = undercurve_tests::decisions::best(&all, &labels, worth);
        let reached = |label: u8| scores.iter().zip(&labels).filter(|&(&s, &y)| y == label && s >= at).count();
        let (tp, fp) = (reached(1), reached(0));
        if let Some(best) = best {
            assert_eq!((tp, fp, best.below < at && at < best.above), (best.tp, best.fp, true), "{rule}");
        }
        let alerts = tp + fp;
        let [recall, fpr, precision] = [(tp, 60), (fp, 240), (tp, alerts)].map(|(k, n)| k as f64 / n as f64);
        let close = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 1e-12;
        assert!(
            close(&told["fpr"], fpr) && close(&told["tpr"], recall) && close(&told["precision"], precision),
            "{told}"
        );
        assert_eq!(told["alerts"].as_u64(), Some(alerts as u64));
        // eval and predict use it, and inspect tells it.
        let measured = eval(&[]);
        assert!(close(&measured["precision"], precision) && close(&measured["threshold"], at), "{measured}");
        let classes = stdout(&run(&folder.0, &["predict", "m", "more.csv"]));
        assert_eq!(classes.lines().skip(1).filter(|line| line.ends_with(",1")).count(), alerts);
        let inspected = last(&stdout(&run(&folder.0, &["inspect", "m", "--json"])));
        assert_eq!(
            (inspected["decided"]["rule"].as_str(), inspected["decided"]["on"].as_str()),
            (Some(rule), Some("validation"))
        );
        // Another rule on a labelled file, without writing anything: as a model with it says.
        let other = eval(&["--threshold", "recall>=0.7"]);
        assert_eq!(other["chosen"]["rule"].as_str(), Some("recall>=0.7"));
        if rule == "recall>=0.7" {
            assert_eq!(other["threshold"], measured["threshold"]);
        }
    }
    // SOAP fits no probabilities, so with validation rows it gets Platt's; the same as decide fits on these rows.
    let by_default = with(&[]);
    assert_eq!(by_default["calibration"]["how"].as_str(), Some("platt"));
    // And no threshold, which nobody asked for: the next command is named, and no class is predicted.
    assert_eq!((by_default["calibration"]["rows"].as_u64(), &by_default["threshold"]), (Some(300), &Value::Null));
    let people = stdout(&run(&folder.0, &train[..train.len() - 1]));
    let next = "\nNo threshold: undercurve decide m ROWS --threshold \"precision>=0.8\" --out FILE chooses one on labelled rows\n";
    assert!(people.contains(next), "{people}");
    assert!(stdout(&run(&folder.0, &["predict", "m", "more.csv"])).starts_with("score,probability\n"));
    let probabilities = |model: &str| -> Vec<f64> {
        let text = stdout(&run(&folder.0, &["predict", model, "more.csv"]));
        assert!(text.starts_with("score,probability"), "{text}");
        text.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect()
    };
    let platt = probabilities("m");
    assert_eq!(with(&["--calibrate", "none"])["calibration"], Value::Null);
    assert!(stdout(&run(&folder.0, &["predict", "m", "more.csv"])).starts_with("score\n"));
    assert!(
        refused(&folder, &["eval", "m", "more.csv", "--metric", "brier"])
            .starts_with("--metric brier: there are no probabilities")
    );
    fn decide<'a>(more: &[&'a str]) -> Vec<&'a str> {
        [&["decide", "m", "more.csv", "--out", "n"], more].concat()
    }
    stdout(&run(&folder.0, &decide(&["--calibrate", "platt"])));
    assert_eq!(probabilities("n"), platt);
    let told =
        last(&stdout(&run(&folder.0, &decide(&["--calibrate", "isotonic", "--threshold", "alerts<=10%", "--json"]))));
    assert_eq!(
        (told["calibration"]["how"].as_str(), told["threshold"]["chosen_on"].as_str()),
        (Some("isotonic"), Some("more.csv"))
    );
    let (isotonic, (scores, labels)) = (probabilities("n"), scored(&folder, "s.csv"));
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    assert!(order.windows(2).all(|pair| isotonic[pair[0]] <= isotonic[pair[1]] && platt[pair[0]] <= platt[pair[1]]));
    assert!(told["threshold"]["alerts"].as_u64() <= Some(30));
    // How good they are: from the rows as from the numbers.
    let reliable = last(&stdout(&run(&folder.0, &["eval", "n", "more.csv", "--json", "--reliability"])));
    let loss: f64 = isotonic.iter().zip(&labels).map(|(&p, &y)| -(if y == 1 { p } else { 1.0 - p }).ln()).sum();
    assert!((reliable["log-loss"].as_f64().unwrap() - loss / 300.0).abs() < 1e-6, "{reliable}");
    let bins = reliable["reliability"].as_array().unwrap();
    assert_eq!(bins.iter().map(|bin| bin["rows"].as_u64().unwrap()).sum::<u64>(), 300);
    let people = stdout(&run(&folder.0, &["eval", "n", "more.csv", "--reliability"]));
    assert!(
        people.contains("\nThreshold ") && people.contains("\nProbabilities, by tenths of the rows:\n"),
        "{people}"
    );

    // What no threshold keeps: one line, and the model has none. (All rows of one score: no precision of .9.)
    folder.write("flat.csv", "a,label\n".to_string() + &"1,0\n1,1\n2,0\n".repeat(30));
    let output = run(
        &folder.0,
        &[
            "train",
            "flat.csv",
            "--method",
            "ce",
            "--steps",
            "5",
            "--threshold",
            "precision>=0.9",
            "--out",
            "f",
            "--json",
        ],
    );
    let warning = String::from_utf8(output.stderr.clone()).unwrap();
    let said = "warning: --threshold precision>=0.9: no threshold has that precision (the training rows); the model has no threshold\n";
    assert!(warning.contains(said), "{warning}");
    assert_eq!(last(&stdout(&output))["threshold"]["at"], Value::Null);
    assert!(stdout(&run(&folder.0, &["predict", "f", "flat.csv"])).starts_with("score,probability\n"));
    let text = refused(&folder, &["decide", "f", "flat.csv", "--threshold", "alerts<=1", "--out", "g"]);
    assert_eq!(text, "--threshold alerts<=1: more rows than that tie for the highest score (flat.csv)");
    for (more, part) in [
        (&["--threshold", "precision>0.9"][..], "expected fpr<=A, precision>=P or recall>=R"),
        (&["--threshold", "alerts<=9999"], "--threshold alerts<=9999: there are 90 training rows"),
        (&["--threshold", "alerts<=5", "--cost-fp", "1", "--cost-fn", "2"], "cannot be used with"),
    ] {
        let text = refused(&folder, &[&["train", "flat.csv", "--method", "ce"], more].concat());
        assert!(text.contains(part), "{more:?}: {text}");
    }
    assert!(refused(&folder, &["decide", "f", "flat.csv", "--out", "g"]).contains("--threshold"));
    assert!(
        refused(&folder, &["decide", "f", "flat.csv", "--calibrate", "platt", "--out", "f"]).contains("not replaced")
    );
}

#[test]
fn curves_are_written_as_tables_and_pictures() {
    let folder = Folder::new("curves");
    let mut numbers = Numbers(3);
    let rows = (0..400).map(|row| {
        let label = u8::from(row % 6 == 0);
        format!("{label},{:.2}\n", (0.5 * numbers.next() + 0.3 * f64::from(label)).min(1.0))
    });
    folder.write("s.csv", format!("label,score\n{}", rows.collect::<String>()));
    let with = |file: &str| {
        let args = ["metrics", "s.csv", "--json", "--reliability", "--threshold", "fpr<=0.2", "--curves", file];
        let told = last(&stdout(&run(&folder.0, &args)));
        (told, fs::read_to_string(folder.path(file)).unwrap())
    };
    let (told, table) = with("c.csv");
    assert!(table.starts_with("curve,x,y,threshold,rows\n"), "{table}");
    let points = |curve: &str| -> Vec<[f64; 2]> {
        let lines = table.lines().filter_map(|line| line.strip_prefix(curve)?.strip_prefix(','));
        lines
            .map(|line| {
                line.split(',').take(2).map(|x| x.parse().unwrap()).collect::<Vec<f64>>()[..].try_into().unwrap()
            })
            .collect()
    };
    // The area under each curve is its metric.
    let close = |name: &str, area: f64| assert!((told[name].as_f64().unwrap() - area).abs() < 1e-9, "{name}: {area}");
    close("auroc", points("roc").windows(2).map(|p| (p[1][0] - p[0][0]) * (p[0][1] + p[1][1]) / 2.0).sum());
    let mut before = 0.0;
    close("ap", points("precision-recall").iter().map(|p| (p[0] - std::mem::replace(&mut before, p[0])) * p[1]).sum());
    let (gain, lift) = (points("gain"), points("lift"));
    assert_eq!((gain[0], gain[gain.len() - 1], lift[lift.len() - 1]), ([0.0, 0.0], [1.0, 1.0], [1.0, 1.0]));
    assert!(lift.iter().zip(&gain[1..]).all(|(l, g)| l[0] == g[0] && (l[1] * l[0] - g[1]).abs() < 1e-12));
    let bins = told["reliability"].as_array().unwrap();
    let pairs: Vec<[f64; 2]> =
        bins.iter().map(|bin| [bin["mean"].as_f64().unwrap(), bin["share"].as_f64().unwrap()]).collect();
    let drawn = points("reliability");
    let near = |a: &[f64; 2], b: &[f64; 2]| (a[0] - b[0]).abs() + (a[1] - b[1]).abs() < 1e-12;
    assert!(drawn.len() == pairs.len() && drawn.iter().zip(&pairs).all(|(a, b)| near(a, b)), "{drawn:?} {pairs:?}");
    let (_, text) = with("c.json");
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&json["auroc"], &json["ap"], json["roc"].as_array().unwrap().len()),
        (&told["auroc"], &told["ap"], points("roc").len())
    );
    assert_eq!(json["roc"][0]["threshold"], Value::Null);
    let (_, picture) = with("c.svg");
    let texts: Vec<&str> = picture.split("</text>").filter_map(|part| part.rsplit('>').next()).collect();
    for part in ["ROC: AUROC ", "Precision-recall: AP ", "Gain: ", "Reliability of the probabilities"] {
        assert!(texts.iter().any(|text| text.starts_with(part)), "{part}: {texts:?}");
    }
    for axis in
        ["false-positive rate", "true-positive rate", "recall", "precision", "mean probability", "share of positives"]
    {
        assert!(texts.contains(&axis), "{axis}: {texts:?}");
    }
    assert!(texts.iter().any(|text| text.starts_with(&format!("ROC: AUROC {:.4} [", told["auroc"].as_f64().unwrap()))));
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n") && !picture.contains("NaN"), "{picture}");
    assert_eq!(picture.matches("<text").count(), picture.matches("</text>").count());
    for (file, part) in [("c.png", "expected a name with .csv, .json or .svg"), ("s.csv", "is read by this command")] {
        let text = refused(&folder, &["metrics", "s.csv", "--curves", file]);
        assert!(text.contains(part), "{text}");
    }
    // Of a model, with its threshold.
    folder.write("data.csv", csv(300));
    stdout(&run(
        &folder.0,
        &["train", "data.csv", "--method", "soap", "--steps", "50", "--threshold", "f1", "--out", "m"],
    ));
    stdout(&run(&folder.0, &["eval", "m", "data.csv", "--curves", "m.svg"]));
    let picture = fs::read_to_string(folder.path("m.svg")).unwrap();
    assert!(picture.contains("dot: threshold") && picture.contains("Lift: "), "{picture}");
}

#[test]
fn rankings_are_measured_query_by_query() {
    let folder = Folder::new("queries");
    let mut numbers = Numbers(5);
    let (mut text, mut svm, mut rows) = (String::from("q,label,score,a\n"), String::new(), Vec::new());
    for row in 0..120 {
        let query = ["north", "south", "east", "nothing here"][row % 4];
        let gain = if row % 4 == 3 { 0 } else { (4.0 * numbers.next()).floor() as u32 };
        let score = (6.0 * numbers.next()).floor() + f64::from(gain);
        text += &format!("{query},{gain},{score},{score}\n");
        svm += &format!("{gain} qid:{} 1:{score}\n", row % 4);
        rows.push((row as u32 % 4, score, f64::from(gain)));
    }
    folder.write("graded.csv", &text);
    let args = ["metrics", "graded.csv", "--query", "q", "--json"];
    let told = last(&stdout(&run(&folder.0, &args)));
    assert_eq!((told["queries"].as_u64(), told["queries_without_positives"].as_u64()), (Some(4), Some(1)));
    let (query, scores): (Vec<u32>, Vec<f64>) = rows.iter().map(|row| (row.0, row.1)).unzip();
    let (labels, gains): (Vec<u8>, Vec<f64>) = rows.iter().map(|row| (u8::from(row.2 > 0.0), row.2)).unzip();
    let mut order = vec![0; rows.len()];
    for (name, what) in
        [("map", OfQuery::AveragePrecision), ("ndcg:10", OfQuery::Ndcg(Some(10))), ("mrr", OfQuery::ReciprocalRank)]
    {
        let expected = query_mean(what, &scores, &labels, &gains, &query, &mut order).unwrap();
        assert_eq!(told[name].as_f64(), Some(expected.value), "{name}");
        assert_eq!(told["intervals"][name][0].as_f64(), expected.interval.map(|ends| ends.low), "{name}");
    }
    let people = stdout(&run(&folder.0, &args[..4]));
    assert!(
        people.contains(
            "4 queries, 1 of them without a positive, which are left out of their means; labels are graded\n"
        ),
        "{people}"
    );
    // Of a model, whose score is what the one column says; the column of queries is none of its.
    let train = [
        "train",
        "graded.csv",
        "--label",
        "label",
        "--positive",
        "3",
        "--ignore",
        "q,score",
        "--method",
        "ce",
        "--steps",
        "99",
        "--out",
        "m",
    ];
    stdout(&run(&folder.0, &train));
    let eval = last(&stdout(&run(
        &folder.0,
        &["eval", "m", "graded.csv", "--query", "q", "--metric", "ndcg:10,map", "--json"],
    )));
    assert!((eval["ndcg:10"].as_f64().unwrap() - told["ndcg:10"].as_f64().unwrap()).abs() < 1e-12, "{eval}");
    for (args, part) in [
        (
            &["metrics", "graded.csv", "--positive", "3", "--metric", "map"][..],
            "--metric map: is of queries; --query names their column",
        ),
        (&["metrics", "graded.csv", "--query", "town"], "there is no column \"town\""),
        (
            &["metrics", "graded.csv", "--query", "q", "--metric", "ndcg:0"],
            "expected ndcg[:K] with a whole number of rows",
        ),
    ] {
        assert!(refused(&folder, args).contains(part), "{args:?}: {}", refused(&folder, args));
    }
    // LIBSVM rows say it themselves. (One column that rises with the gain: the order of the scores above.)
    folder.write("graded.svm", &svm);
    let train = [
        "train",
        "graded.svm",
        "--positive",
        "3",
        "--method",
        "ce",
        "--steps",
        "99",
        "--scale",
        "standard",
        "--out",
        "s",
    ];
    stdout(&run(&folder.0, &train));
    let eval = |file: &str| run(&folder.0, &["eval", "s", file, "--query", "qid", "--metric", "ndcg:10,map", "--json"]);
    let own = last(&stdout(&eval("graded.svm")));
    assert!((own["ndcg:10"].as_f64().unwrap() - told["ndcg:10"].as_f64().unwrap()).abs() < 1e-12, "{own}");
    for (rows, text) in [
        ("1 qid:1 1:2\n0 1:1\n", "bad.svm:2: no qid:NUMBER behind the label, as in the rows before"),
        ("1 1:2\n0 qid:1 1:1\n", "bad.svm:2:2: \"qid:1\" is not"),
        ("1 qid:x 1:2\n0 qid:1 1:1\n", "bad.svm:1:2: \"qid:x\" is not"),
        ("1 1:2\n0 1:1\n", "queries of a named column, and LIBSVM has none"),
    ] {
        folder.write("bad.svm", rows);
        let said = refused(&folder, &["eval", "s", "bad.svm", "--query", "qid"]);
        assert!(said.contains(text), "{said}");
    }
}

/// Rows without labels, with an id that is no number to keep and a column that the model does not read.
fn fresh(rows: usize) -> String {
    let mut numbers = Numbers(11);
    let mut text = String::from("customer;b;note;colour;a\n");
    for row in 0..rows {
        let colour = ["red", "green", "violet"][(numbers.next() * 3.0) as usize];
        text += &format!("00{row};{};\"x; \"\"y\"\"\nz\";{colour};{}\n", numbers.next(), numbers.next());
    }
    text
}

#[test]
fn new_rows_are_scored_as_they_come() {
    let folder = Folder::new("predict");
    folder.write("data.csv", csv(400));
    folder.write("fresh.csv", fresh(5000));
    for (method, precision, head) in
        [("soap", "f32", "customer,score,class"), ("ce", "f64", "customer,score,probability,class")]
    {
        let train = [
            "train",
            "data.csv",
            "--method",
            method,
            "--precision",
            precision,
            "--threshold",
            "fpr<=0.1",
            "--out",
            "m",
        ];
        stdout(&run(&folder.0, &train));
        let args = ["predict", "m", "fresh.csv", "--id", "customer"];
        let output = run(&folder.0, &args);
        let text = stdout(&output);
        let note = String::from_utf8(output.stderr).unwrap();
        assert!(note.contains("note: fresh.csv: the model does not read the columns \"note\"\n"), "{note}");
        assert!(note.contains("values of column \"colour\" did not occur in training and count as none"), "{note}");
        assert_eq!(text.lines().next(), Some(head));
        assert_eq!(text.lines().count(), 5001);
        // From stdin, packed, the same; and the scores of eval, which reads the whole at once.
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(fresh(5000).as_bytes()).unwrap();
        let mut child = undercurve()
            .current_dir(&folder.0)
            .args(["predict", "m", "--id", "customer"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let bytes = packed.finish().unwrap();
        let feed = std::thread::spawn(move || stdin.write_all(&bytes).unwrap());
        let output = child.wait_with_output().unwrap();
        feed.join().unwrap();
        assert_eq!(stdout(&output), text);
        let labelled: String = csv(400);
        folder.write("labelled.csv", &labelled);
        stdout(&run(&folder.0, &["eval", "m", "labelled.csv", "--scores", "scores.csv"]));
        let of_eval: Vec<String> = (fs::read_to_string(folder.path("scores.csv")).unwrap().lines().skip(1))
            .map(|line| line.split(',').nth(1).unwrap().to_string())
            .collect();
        let of_predict: Vec<String> = (stdout(&run(&folder.0, &["predict", "m", "labelled.csv"])).lines().skip(1))
            .map(|line| line.split(',').next().unwrap().to_string())
            .collect();
        assert_eq!(of_eval, of_predict);
        // Class and probability follow from the score.
        let inspected = stdout(&run(&folder.0, &["inspect", "m", "--json"]));
        let threshold = serde_json::from_str::<Value>(&inspected).unwrap()["threshold"].as_f64().unwrap();
        for line in text.lines().skip(1).take(500) {
            let cells: Vec<&str> = line.split(',').collect();
            let score: f64 = cells[1].parse().unwrap();
            assert!(cells[0].starts_with("00"), "{line}");
            assert_eq!(*cells.last().unwrap(), if score >= threshold { "1" } else { "0" }, "{line}");
            if method == "ce" {
                let p: f64 = cells[2].parse().unwrap();
                assert!((p - 1.0 / (1.0 + (-score).exp())).abs() < 1e-9, "{line}");
            }
        }
    }
    let wrong = |more: &[&str]| refused(&folder, &[&["predict", "m"], more].concat());
    assert_eq!(wrong(&["none.csv"]), "none.csv: No such file or directory");
    assert_eq!(
        wrong(&["fresh.csv", "--id", "client"]),
        "fresh.csv:1: there is no column \"client\"; the columns are \"customer\", \"b\", \"note\", \"colour\", \"a\""
    );
    folder.write("gap.csv", "a,b,colour\n1,2,red\n1,,red\n");
    let gap = wrong(&["gap.csv", "--missing", "refuse"]);
    assert!(gap.starts_with("gap.csv:3:2: missing value in column \"b\""), "{gap}");
    let filled = stdout(&run(&folder.0, &["predict", "m", "gap.csv"]));
    assert_eq!(filled.lines().count(), 3, "{filled}");
    folder.write("short.csv", "a,colour\n1,red\n");
    assert_eq!(wrong(&["short.csv"]), "short.csv:1: there is no column \"b\"; the columns are \"a\", \"colour\"");
    assert_eq!(refused(&folder, &["predict", "data.csv", "fresh.csv"]), "data.csv: not a saved undercurve model");
}

#[test]
fn scores_go_to_a_file_to_json_and_by_a_threshold() {
    let folder = Folder::new("predict-out");
    folder.write("data.csv", csv(400));
    folder.write("new.csv", fresh(300));
    stdout(&run(&folder.0, &["train", "data.csv", "--method", "ce", "--threshold", "youden", "--out", "m"]));
    fn predict<'a>(more: &[&'a str]) -> Vec<&'a str> {
        [&["predict", "m", "new.csv", "--id", "customer"], more].concat()
    }
    let text = stdout(&run(&folder.0, &predict(&[])));
    assert_eq!(stdout(&run(&folder.0, &predict(&["--out", "scores.csv"]))), "");
    assert_eq!(fs::read_to_string(folder.path("scores.csv")).unwrap(), text);
    // A line of JSON for each row: the same cells under the same names.
    let told = stdout(&run(&folder.0, &predict(&["--json"])));
    for (line, row) in told.lines().zip(text.lines().skip(1)) {
        let object: Value = serde_json::from_str(line).unwrap();
        let cells: Vec<&str> = row.split(',').collect();
        assert_eq!(object["customer"], cells[0]);
        assert_eq!(object["score"].as_f64(), cells[1].parse().ok());
        assert_eq!(object["probability"].as_f64(), cells[2].parse().ok());
        assert_eq!(object["class"], cells[3]);
    }
    assert_eq!(told.lines().count(), 300);
    let split = stdout(&run(&folder.0, &predict(&["--threshold", "-2.5"])));
    for line in split.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[3], if cells[1].parse::<f64>().unwrap() >= -2.5 { "1" } else { "0" }, "{line}");
    }
    assert_ne!(split, text);
    // A batch without rows has scores without rows.
    folder.write("none.csv", "a,b,colour\n");
    let output = run(&folder.0, &["predict", "m", "none.csv"]);
    assert_eq!(stdout(&output), "score,probability,class\n");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "note: none.csv: no rows below the header\n");
    assert_eq!(stdout(&run(&folder.0, &["predict", "m", "none.csv", "--json"])), "");
    // What cannot be done leaves the file that was there, and nothing beside it.
    folder.write("broken.csv", "a,b,colour\n1,2,red\nx,2,red\n");
    refused(&folder, &["predict", "m", "broken.csv", "--out", "scores.csv"]);
    assert_eq!(fs::read_to_string(folder.path("scores.csv")).unwrap(), text);
    assert!(refused(&folder, &predict(&["--out", "new.csv"])).starts_with("new.csv: is read by this command"));
    assert_eq!(refused(&folder, &predict(&["--threshold", "nan"])), "--threshold NaN: is no number");
    assert_eq!(folder.names(), ["broken.csv", "data.csv", "m", "new.csv", "none.csv", "scores.csv"]);
}

#[test]
fn classes_and_numbers_are_predicted() {
    let folder = Folder::new("predict-classes");
    let rows = |names: [&str; 3]| -> String {
        let text = (0..90).map(|row| format!("{},{},{}\n", row % 3 + row % 7, row % 5, names[row % 3]));
        format!("a,b,label\n{}", text.collect::<String>())
    };
    folder.write("classes.csv", rows(["sun", "\"moon, new\"", "star"]));
    folder.write("values.csv", rows(["1.5", "2", "7"]));
    stdout(&run(&folder.0, &["train", "classes.csv", "--method", "ce", "--out", "classes.model"]));
    let text = stdout(&run(&folder.0, &["predict", "classes.model", "classes.csv"]));
    assert!(text.starts_with("\"score:moon, new\",score:star,score:sun,\"probability:moon, new\",probability:star,probability:sun,class\n"), "{text}");
    let values = ["train", "values.csv", "--target", "values", "--method", "ai-sarah", "--set", "loss=least-squares"];
    stdout(&run(&folder.0, &[&values[..], &["--out", "values.model"]].concat()));
    let text = stdout(&run(&folder.0, &["predict", "values.model", "values.csv"]));
    assert_eq!((text.lines().next(), text.lines().count()), (Some("score"), 91));
    let refusal = refused(&folder, &["predict", "classes.model", "classes.csv", "--threshold", "0"]);
    assert_eq!(refusal, "--threshold 0: is for models of two classes");
}

#[test]
fn a_saved_file_says_what_is_in_it() {
    let folder = Folder::new("inspect");
    folder.write("data.csv", csv(300));
    let args = ["train", "data.csv", "--split", "0.6", "--method", "soap", "--set", "gamma=0.5", "--steps", "40"];
    stdout(&run(&folder.0, &[&args[..], &["--save", "r", "--out", "m", "--seconds", "1e-9"]].concat()));
    let text = stdout(&run(&folder.0, &["inspect", "r"]));
    assert!(text.starts_with("r: a run, which goes on with train --resume; step 0 of 40, not finished\n"), "{text}");
    stdout(&run(&folder.0, &["train", "data.csv", "--resume", "r", "--out", "m"]));
    let text = stdout(&run(&folder.0, &["inspect", "m", "--top", "2"]));
    assert!(text.starts_with("m: a model alone; step 40 of 40, finished\n"), "{text}");
    for part in [
        "settings       gamma 0.5",
        "positive       1",
        "negative       0",
        "split          0.6",
        "test ap ",
        "Columns (2 of 6, largest coefficient first):",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let object: Value = serde_json::from_str(&stdout(&run(&folder.0, &["inspect", "m", "--json"]))).unwrap();
    let columns = object["columns"].as_array().unwrap();
    let names: Vec<&str> = columns.iter().map(|c| c["column"].as_str().unwrap()).collect();
    assert_eq!((names.len(), names[5]), (6, "(constant)"));
    assert!(["a", "b", "colour=blue", "colour=green", "colour=red"].iter().all(|name| names.contains(name)));
    let sizes: Vec<f64> = columns[..5].iter().map(|c| c["coefficients"][0].as_f64().unwrap().abs()).collect();
    assert!(sizes.windows(2).all(|pair| pair[0] >= pair[1]), "{sizes:?}");
    // The model is in it: its score by hand is the one that predict prints.
    folder.write("one.csv", "a,b,colour\n0.25,0.5,red\n");
    let score: f64 = stdout(&run(&folder.0, &["predict", "m", "one.csv"]))
        .lines()
        .nth(1)
        .unwrap()
        .split(',')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let by_hand: f64 = columns
        .iter()
        .map(|c| {
            let raw = match c["column"].as_str().unwrap() {
                "a" => 0.25,
                "b" => 0.5,
                "colour=red" | "(constant)" => 1.0,
                _ => 0.0,
            };
            let number = |key: &str| c[key].as_f64().unwrap();
            c["coefficients"][0].as_f64().unwrap() * (raw - number("shift")) / number("divisor")
        })
        .sum();
    assert!((score - by_hand).abs() < 1e-5, "{score} {by_hand}");
    assert_eq!(refused(&folder, &["inspect", "data.csv"]), "data.csv: not a saved undercurve model");
}

/// Rows as people have them: an identifier, a date, decimal commas, gaps.
fn awkward(rows: usize) -> String {
    let mut numbers = Numbers(3);
    let mut text = String::from("client;since;price;gap;label\n");
    for row in 0..rows {
        let positive = row % 6 == 0;
        let price = 10.0 * numbers.next() + if positive { 4.0 } else { 0.0 };
        let gap =
            if numbers.next() < 0.2 { "#N/A".to_string() } else { format!("{:.2}", numbers.next()).replace('.', ",") };
        let label = if positive { "fraud" } else { "legal" };
        text += &format!(
            "c-{:04x};2024-{:02}-{:02};{};{gap};{label}\n",
            row * 7919 % 65536,
            row % 12 + 1,
            row % 28 + 1,
            format!("{price:.2}").replace('.', ",")
        );
    }
    text
}

#[test]
fn what_is_done_with_a_column_is_said_before_training() {
    let folder = Folder::new("awkward");
    folder.write("data.csv", awkward(600));
    let args = ["train", "data.csv", "--split", "0.7", "--method", "ce", "--missing", "impute", "--json", "--out", "m"];
    let output = run(&folder.0, &args);
    let totals = last(&stdout(&output));
    let notes = String::from_utf8(output.stderr).unwrap();
    for note in [
        "note: data.csv: column \"client\" has 600 different texts in 600 rows and is left out as an identifier; --categorical client takes it\n",
        "note: data.csv: dates in column \"since\" were read as days since 1970-01-01; --ignore since leaves it out\n",
        "note: data.csv: commas in the numbers of columns \"price\", \"gap\" were read as points\n",
        "note: label \"fraud\" counts as positive; --positive names another\n",
    ] {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    assert_eq!((totals["columns"].as_u64(), totals["positives"].as_u64()), (Some(4), Some(70)), "{totals}"); // (One says where a gap is.)
    let text = stdout(&run(&folder.0, &["predict", "m", "data.csv", "--id", "client"]));
    assert!(text.starts_with("client,score,probability\nc-0000,"), "{text}");
    // With names of missing values, and what is said of them otherwise.
    folder.write("na.csv", awkward(300).replace("#N/A", "unknown"));
    let wrong = refused(&folder, &["train", "na.csv", "--method", "ce", "--missing", "impute"]);
    assert!(wrong.contains("value \"unknown\" in column \"gap\" of numbers"), "{wrong}");
    let args = ["train", "na.csv", "--method", "ce", "--missing", "impute", "--na", "unknown,x", "--save", "r"];
    stdout(&run(&folder.0, &args));
    stdout(&run(&folder.0, &["predict", "r", "na.csv"]));
    stdout(&run(&folder.0, &["eval", "r", "na.csv"]));
    let wrong = refused(&folder, &["train", "na.csv", "--resume", "r", "--na", "none"]);
    assert!(wrong.starts_with("r: saved with another list of spellings of missing values (--na)"), "{wrong}");
}

#[test]
fn methods_are_compared_on_the_same_folds() {
    let folder = Folder::new("compare");
    folder.write("data.csv", csv(300));
    let args =
        ["compare", "data.csv", "--metric", "ap", "--methods", "soap,auc-exact", "--folds", "3", "--out", "best"];
    let text = stdout(&run(&folder.0, &args));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let text = text.replace("\n  ", " ");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "data.csv: 300 rows (60 positive), 5 columns; ap, 3 folds, seed 1; scores at random have 0.2338"
    );
    assert!(
        lines[2].starts_with("ridge ") && lines[3].starts_with("soap ") && lines[4].starts_with("auc-exact "),
        "{text}"
    );
    assert!(lines[5].starts_with("9 trainings of "), "{text}");
    assert!(lines[6].contains("beats cross-entropy"), "{text}");
    assert!(lines[7].ends_with(" on all rows is in best"), "{text}");
    let json = stdout(&run(&folder.0, &[&args[..8], &["--json"]].concat()));
    let rows: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (ridge, verdict) = (&rows[0], rows.last().unwrap());
    let value = |row: &Value, fold: usize| row["folds"][fold].as_f64().unwrap();
    assert!(ridge["ahead"].is_null() && rows.len() == 4, "{json}");
    for row in &rows[1..3] {
        // By hand: t = 4.3027 with two degrees of freedom, and 1/3 + 1/2 of the variance of a fold.
        let apart: Vec<f64> = (0..3).map(|fold| value(row, fold) - value(ridge, fold)).collect();
        let mean = apart.iter().sum::<f64>() / 3.0;
        let variance = apart.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 2.0;
        let half = 4.302_653 * (variance * (1.0 / 3.0 + 0.5)).sqrt();
        assert!((row["ahead"].as_f64().unwrap() - mean).abs() < 1e-12);
        assert!((row["interval"][1].as_f64().unwrap() - (mean + half)).abs() < 1e-6, "{row}");
    }
    let greatest = |a: &&Value, b: &&Value| a["mean"].as_f64().unwrap().total_cmp(&b["mean"].as_f64().unwrap());
    let best = rows[..3].iter().max_by(greatest).unwrap();
    assert_eq!(verdict["best"], best["method"]);
    let beyond = best["interval"][0].as_f64().is_some_and(|low| low > 0.0);
    assert_eq!(verdict["beyond_noise"], beyond);
    // What was written is that method's model of all rows.
    let inspected: Value = serde_json::from_str(&stdout(&run(&folder.0, &["inspect", "best", "--json"]))).unwrap();
    assert_eq!((&inspected["method"], &inspected["finished"]), (&verdict["best"], &Value::Bool(true)));
    let options: Vec<&str> = best["options"].as_str().unwrap().split(' ').collect();
    stdout(&run(&folder.0, &[&["train", "data.csv"], &options[..], &["--out", "own"]].concat()));
    let scores = |file: &str| stdout(&run(&folder.0, &["predict", file, "data.csv"]));
    assert_eq!(scores("best"), scores("own"));

    let wrong = |more: &[&str]| refused(&folder, &[&["compare", "data.csv", "--metric", "ap"], more].concat());
    assert_eq!(wrong(&["--folds", "1"]), "--folds 1: expected at least 2");
    assert_eq!(wrong(&["--folds", "61"]), "--folds 61: there are 60 positive rows");
    assert!(wrong(&["--methods", "soup"]).contains("did you mean soap?"));
    assert!(wrong(&["--model", "tree"]).contains("model \"tree\""));
    assert_eq!(wrong(&["--out", "data.csv"]), "data.csv: is read by this command; not replaced");
}

/// By the command line what pROC says (tests/golden/make_delong.R).
#[test]
fn two_scores_of_the_same_rows_are_compared() {
    let folder = Folder::new("two-scores");
    let golden: Value = serde_json::from_str(include_str!("../../tests/golden/delong.json")).unwrap();
    let case = &golden["cases"][0];
    let rows = |from: &str, case: &Value| {
        let cell = |key: &str, row: usize| case[key][row].as_f64().unwrap();
        let count = case["labels"].as_array().unwrap().len();
        let lines = (0..count)
            .map(|row| format!("{},{},{},p{}\n", cell("a", row), cell("labels", row), cell("b", row), row / 2));
        folder.write(from, format!("old,label,\"b,new\",patient\n{}", lines.collect::<String>()));
    };
    rows("s.csv", case);
    let json = |more: &[&str]| last(&stdout(&run(&folder.0, &[&["metrics", "s.csv", "--json"], more].concat())));
    let found = json(&["--score", "old,3", "--metric", "auroc,mcclish:0.3"]);
    let (auroc, near) = (&found["differences"]["auroc"], |a: &Value, b: &Value| {
        (a.as_f64().unwrap() / b.as_f64().unwrap() - 1.0).abs() < 1e-8
    });
    assert!(
        near(&auroc["p"], &case["p"]) && near(&auroc["z"], &case["z"]) && near(&auroc["values"][1], &case["aurocs"][1]),
        "{found}"
    );
    assert_eq!(found["scores"], serde_json::json!(["old", "b,new"]));
    // A column whose name has a comma is one score; whole patients say less.
    assert!(json(&["--score", "b,new"])["auroc"].is_number());
    let clustered = json(&["--score", "old,3", "--cluster", "patient"]);
    assert!(!near(&clustered["differences"]["auroc"]["p"], &auroc["p"]), "{clustered}");
    let text = stdout(&run(&folder.0, &["metrics", "s.csv", "--score", "old,3"]));
    assert!(text.contains("difference") && text.lines().count() == 5, "{text}");
}

#[test]
fn weights_of_rows_are_those_of_repeated_rows() {
    let folder = Folder::new("weights");
    // Scores with ties, labels and whole weights, once with a column and once row by row.
    let rows: Vec<(u32, u32, u32)> = (0..60).map(|k| (k * 7 % 13, u32::from(k * k % 5 == 1), k % 4)).collect();
    let line = |(score, label, weight): &(u32, u32, u32)| format!("{score},{label},{weight}\n");
    let repeated = rows.iter().flat_map(|row| std::iter::repeat_n(line(row), row.2 as usize));
    folder.write("w.csv", format!("score,label,w\n{}", rows.iter().map(line).collect::<String>()));
    folder.write("r.csv", format!("score,label,w\n{}", repeated.collect::<String>()));
    let metric = "auroc,ap,pauc:0.1:0.5,pauc2:0.3:0.8,accuracy:4,tpr:6,precision-at-recall:0.5";
    let json = |args: &[&str]| last(&stdout(&run(&folder.0, &[args, &["--metric", metric, "--json"]].concat())));
    let (a, b) = (json(&["metrics", "w.csv", "--weight", "w"]), json(&["metrics", "r.csv"]));
    for name in metric.split(',') {
        let (a, b) = (a[name].as_f64().unwrap(), b[name].as_f64().unwrap());
        assert!((a - b).abs() < 1e-12, "{name}: {a} and {b}");
    }
    // A row is one observation, whatever it weighs: more is told by rows that are there twice.
    let wide =
        |of: &Value| of["intervals"]["auroc"][1].as_f64().unwrap() - of["intervals"]["auroc"][0].as_f64().unwrap();
    assert!(wide(&a) > 1.2 * wide(&b), "{a} {b}");
    let text = stdout(&run(&folder.0, &["metrics", "w.csv", "--weight", "w"]));
    assert_eq!(text.lines().next(), Some("weights from column w, sum 90, effective rows 38.6 of 45"));

    folder.write("bad.csv", "score,label,w\n1,0,1\n2,1,-1\n3,1,\n4,0,x\n");
    let wrong = |more: &[&str]| refused(&folder, &[&["metrics"], more].concat());
    let text = "bad.csv:3:3: weight \"-1\" in column \"w\" is not a number of 0 or more";
    folder.write("bad.csv", "score,label,w\n1,0,1\n2,1,-1\n");
    assert_eq!(wrong(&["bad.csv", "--weight", "w"]), text);
    folder.write("bad.csv", "score,label,w\n1,0,1\n2,1,\n");
    assert_eq!(
        wrong(&["bad.csv", "--weight", "w"]),
        "bad.csv:3:3: weight \"\" in column \"w\" is not a number of 0 or more"
    );
    folder.write("bad.csv", "score,label,w\n1,0,x\n2,1,1\n");
    assert!(wrong(&["bad.csv", "--weight", "w"]).starts_with("bad.csv:2:3: value \"x\" in column \"w\""));
    folder.write("bad.csv", "score,label,w\n1,0,0\n2,1,0\n");
    assert_eq!(wrong(&["bad.csv", "--weight", "w"]), "bad.csv: data in which every weight is 0 is empty");
    assert!(wrong(&["w.csv", "--weight", "no"]).contains("there is no column \"no\""));
    assert_eq!(wrong(&["w.csv", "--weight", "label"]), "--weight label: is the label column of w.csv");
}

#[test]
fn comparisons_are_repeated_and_taken_up_again() {
    let folder = Folder::new("compare-more");
    folder.write("data.csv", csv(200));
    let base = ["compare", "data.csv", "--metric", "auroc", "--methods", "auc-exact,soap", "--folds", "2"];
    let rows = |more: &[&str]| -> Vec<Value> {
        let text = stdout(&run(&folder.0, &[&base[..], more, &["--json"]].concat()));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let of = |rows: &[Value], key: &str| rows.iter().map(|row| row[key].clone()).collect::<Vec<Value>>();
    let (once, twice) = (rows(&["--threads", "1"]), rows(&["--repeats", "2", "--threads", "2", "--resume", "runs"]));
    // The first draw of the folds is that of one draw alone, on any number of threads; the second is another.
    for (one, two) in once.iter().zip(&twice).take(3) {
        let values = |row: &Value| -> Vec<f64> { serde_json::from_value(row["folds"].clone()).unwrap() };
        let (one, two) = (values(one), values(two));
        assert_eq!((two.len(), &two[..2]), (4, &one[..]));
        assert_ne!(&two[2..], &one[..]);
    }
    // By hand: t = 3.1824 with three degrees of freedom, and 1/4 + 1 of the variance of a fold.
    let value = |row: usize, fold: usize| twice[row]["folds"][fold].as_f64().unwrap();
    let apart: Vec<f64> = (0..4).map(|fold| value(1, fold) - value(0, fold)).collect();
    let mean = apart.iter().sum::<f64>() / 4.0;
    let half = 3.182_446 * (apart.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 3.0 * 1.25).sqrt();
    assert!((twice[1]["interval"][0].as_f64().unwrap() - (mean - half)).abs() < 1e-6, "{}", twice[1]);

    // What is there is not trained again, what is missing is, also after a cut-off line; other settings are other trainings.
    let kept = std::fs::read_to_string(folder.path("runs")).unwrap();
    assert_eq!(kept.lines().count(), 12);
    let cut = kept.lines().take(5).map(|line| format!("{line}\n")).collect::<String>() + "{\"run\": \"";
    folder.write("runs", cut);
    assert_eq!(of(&rows(&["--repeats", "2", "--resume", "runs"]), "folds"), of(&twice, "folds"));
    let again = std::fs::read_to_string(folder.path("runs")).unwrap();
    assert_eq!(again.lines().filter(|line| line.ends_with('}')).count(), 12);
    assert!(kept.lines().take(5).all(|line| again.contains(line)));
    rows(&["--resume", "runs", "--seed", "2"]);
    assert_eq!(std::fs::read_to_string(folder.path("runs")).unwrap().lines().count(), again.lines().count() + 6);

    // Of several models each is held against cross-entropy with its own.
    let models = rows(&["--model", "linear", "--model", "mlp:4"]);
    assert_eq!(of(&models, "model")[..6], ["linear", "linear", "linear", "mlp:4", "mlp:4", "mlp:4"]);
    assert_eq!(of(&models, "folds")[..3], of(&once, "folds")[..3]);
    assert!(models[0]["ahead"].is_null() && models[3]["ahead"].is_null(), "{:?}", models[3]);
    let mean = |row: usize| models[row]["mean"].as_f64().unwrap();
    assert!((models[5]["ahead"].as_f64().unwrap() - (mean(5) - mean(3))).abs() < 1e-12, "{:?}", models[5]);

    // Labels that nothing tells are said to be that; a column that tells all of them is named.
    let mut random = Numbers(9);
    let row = |_| format!("{},{},{}\n", random.next(), random.next(), u8::from(random.next() < 0.3));
    folder.write("noise.csv", format!("a,b,label\n{}", (0..300).map(row).collect::<String>()));
    let noise =
        stdout(&run(&folder.0, &["compare", "noise.csv", "--metric", "ap", "--methods", "soap", "--folds", "3"]));
    assert!(noise.replace("\n  ", " ").lines().last().unwrap().starts_with("No signal found: "), "{noise}");
    let row = |row: usize| format!("{},{},{}\n", row * 7919 % 1009, row % 3 % 2 * 4, row % 3 % 2);
    folder.write("leak.csv", format!("a,code,label\n{}", (0..200).map(row).collect::<String>()));
    let leak = run(&folder.0, &["compare", "leak.csv", "--metric", "ap", "--methods", "soap", "--folds", "2"]);
    let said = String::from_utf8_lossy(&leak.stderr);
    assert!(said.contains("leak.csv: column \"code\" alone tells the classes apart"), "{said}");

    let wrong = |more: &[&str]| refused(&folder, &[&base[..], more].concat());
    assert_eq!(wrong(&["--repeats", "0"]), "--repeats 0: expected at least 1");
    assert!(wrong(&["--resume", "data.csv"]).contains("data.csv, line 1: not a finished run"));
}

#[test]
fn runs_say_what_they_weigh_by_and_are_judged_by_it() {
    let folder = Folder::new("weighed");
    let data = csv(400);
    let mut lines = data.lines();
    let head = format!("{},w\n", lines.next().unwrap());
    let rows: String = lines.enumerate().map(|(k, line)| format!("{line},{}\n", k % 4)).collect();
    folder.write("data.csv", head + &rows);
    let args = ["train", "data.csv", "--split", "0.6", "--method", "ce", "--weight", "w", "--out", "m.uc"];
    let text = stdout(&run(&folder.0, &[&args[..], &["--class-weight", "3:1"]].concat()));
    assert!(text.lines().any(|line| line.starts_with("weights from column w, sum ")), "{text}");
    assert!(text.lines().any(|line| line.starts_with("class weights ") && line.contains(" 3.000000")), "{text}");
    let shown = stdout(&run(&folder.0, &["inspect", "m.uc", "--json"]));
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&shown["weight"], &shown["class_weights"]), (&"w".into(), &serde_json::json!([1.0, 3.0])));
    // The column of training is read again where it is there; another can be named.
    let text = stdout(&run(&folder.0, &["eval", "m.uc", "data.csv", "--held-out"]));
    assert!(text.starts_with("weights from column w, sum "), "{text}");
    assert!(text.contains('['), "{text}");

    let wrong = |more: &[&str]| refused(&folder, &[&["train", "data.csv"], more].concat());
    let text = "method sorr takes no weights of rows or classes";
    assert_eq!(wrong(&["--method", "sorr", "--weight", "w"]), text);
    assert_eq!(wrong(&["--method", "dca", "--class-weight", "balanced"]), text.replace("sorr", "dca"));
    assert!(wrong(&["--method", "ce", "--class-weight", "many"]).contains("expected balanced, POS:NEG or LABEL=W,"));
    assert!(wrong(&["--method", "ce", "--class-weight", "many=2"]).contains("there is no class many; there are "));
}

/// Promised thresholds: given where the rows suffice, with what is missing where they do not; `train` wants rows of their own.
#[test]
fn a_promise_is_given_or_says_what_it_lacks() {
    let folder = Folder::new("promises");
    let scores = |rows: usize| {
        let row = |row: usize| format!("{},{}\n", row * 7919 % rows, u8::from(row * 7919 % rows >= rows - rows / 10));
        format!("score,label\n{}", (0..rows).map(row).collect::<String>())
    };
    folder.write("many.csv", scores(2000));
    folder.write("few.csv", scores(100));
    let precision = |json: &str| last(json)["precision"].as_f64().unwrap();
    let told = stdout(&run(&folder.0, &["metrics", "many.csv", "--threshold", "precision>=0.9@90%", "--json"]));
    assert!(precision(&told) >= 0.9, "{told}");
    let wrong = refused(&folder, &["metrics", "few.csv", "--threshold", "precision>=0.9@90%"]);
    assert!(wrong.contains("no threshold can be promised: about") && wrong.contains("more"), "{wrong}");
    let wrong = refused(&folder, &["metrics", "many.csv", "--threshold", "precision>=0.9@100%"]);
    assert!(wrong.contains("with @90% behind it"), "{wrong}");
    folder.write("data.csv", csv(400));
    for more in [&[][..], &["--valid", "0.4", "--keep", "best"], &["--valid", "0.4", "--patience", "3"]] {
        let args = [&["train", "data.csv", "--method", "ce", "--threshold", "recall>=0.5@90%"], more].concat();
        let wrong = refused(&folder, &args);
        assert!(wrong.contains("a promise needs rows that chose nothing else"), "{more:?}: {wrong}");
    }
    let kept = ["--valid", "0.5", "--save", "m", "--steps", "100"];
    let said = stdout(&run(
        &folder.0,
        &[&["train", "data.csv", "--method", "ce", "--threshold", "recall>=0.5@90%"], &kept[..]].concat(),
    ));
    // (The rows choose the threshold alone.)
    assert!(said.contains("Kept: the last, step 100"), "{said}");
    let about = stdout(&run(&folder.0, &["inspect", "m"]));
    assert!(about.contains("recall>=0.5@90%"), "{about}");
    // What cannot be promised is said in the words of decide.
    let args =
        ["train", "data.csv", "--method", "ce", "--steps", "9", "--threshold", "precision>=0.95@99%", "--valid", "0.2"];
    let output = run(&folder.0, &args);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.contains("no threshold can be promised"), "{said}");
}

/// What a model was trained on says how later files are read, and what is said of a file comes first.
#[test]
fn a_model_reads_numbers_as_its_training_rows() {
    let folder = Folder::new("notation");
    let rows: String = (0..200)
        .map(|k| {
            format!(
                "{}.{:03};{},5;{}\n",
                1 + k % 7,
                k * 37 % 1000,
                k % 10,
                if k * 37 % 200 > 99 { "ja" } else { "nein" }
            )
        })
        .collect();
    folder.write("office.csv", format!("betrag;alter;ziel\n{rows}"));
    let plain: String = rows.lines().map(|line| line.replace('.', "").replace(',', ".") + "\n").collect();
    folder.write("plain.csv", format!("betrag;alter;ziel\n{plain}"));
    for name in ["office", "plain"] {
        let file = format!("{name}.csv");
        let args = ["train", &file, "--label", "ziel", "--method", "ce", "--steps", "60", "--out", name];
        stdout(&run(&folder.0, &args));
    }
    let predict = |model: &str, file: &str| stdout(&run(&folder.0, &["predict", model, file]));
    let scores = predict("office", "office.csv");
    assert_eq!(scores, predict("plain", "plain.csv"), "the same numbers train the same model");
    // A row by itself shows no decimal mark.
    folder.write("alone.csv", "betrag;alter\n1.243;40\n");
    folder.write("alone-plain.csv", "betrag;alter\n1243;40\n");
    assert_eq!(predict("office", "alone.csv"), predict("plain", "alone-plain.csv"));
    let wrong = refused(&folder, &["predict", "office", "plain.csv"]);
    assert!(
        wrong.contains("has another decimal mark than is expected there (--decimal point, or --decimal comma)"),
        "{wrong}"
    );
    let said = stdout(&run(&folder.0, &["predict", "office", "plain.csv", "--decimal", "point"]));
    assert_eq!(said, scores, "the way out helps");
    let eval = |file: &str, more: &[&str]| run(&folder.0, &[&["eval", "office", file, "--json"], more].concat());
    let figures = |output| last(&stdout(&output))["auroc"].as_f64();
    assert_eq!(figures(eval("office.csv", &[])), figures(eval("plain.csv", &["--decimal", "point"])));
}

/// Scores, labels, patients of four rows and ids, of a model that anyone made; `shift`: what negatives have gained since.
fn anyones(seed: u64, rows: usize, shift: f64) -> String {
    let mut random = Numbers(seed);
    let mut normal = || (0..12).map(|_| random.next()).sum::<f64>() - 6.0;
    let row = |row: usize| {
        let positive = row.is_multiple_of(10);
        let score = normal() + if positive { 3.0 } else { shift };
        format!("r{row},{},{},{score:.6}\n", row / 40, if positive { "bad" } else { "good" })
    };
    format!("id,patient,outcome,points\n{}", (0..rows).map(row).collect::<String>())
}

/// With clusters and weights `metrics --threshold` says of a threshold what `decide` does: rates are sums of weights, intervals those of clusters.
#[test]
fn thresholds_of_weighed_rows_in_clusters() {
    let folder = Folder::new("weighed-clusters");
    let text = anyones(45, 4000, 0.0);
    let mut rows = text.lines().enumerate();
    let head = rows.next().map(|(_, head)| format!("{head},w\n")).unwrap();
    let weight = |row: usize| [1, 1, 2, 5][row * 7 % 4];
    let body: String = rows.map(|(row, line)| format!("{line},{}\n", weight(row))).collect();
    folder.write("s.csv", head + &body);
    let told = |command: &str, rule: &str, beside: &[&str]| {
        let of = ["--label", "outcome", "--score", "points", "--positive", "bad", "--threshold", rule, "--json"];
        last(&stdout(&run(&folder.0, &[&[command, "s.csv"], &of[..], beside].concat())))
    };
    let both = ["--cluster", "patient", "--weight", "w"];
    for rule in ["recall>=0.7@90%", "fpr<=0.1"] {
        let (metrics, decided) = (told("metrics", rule, &both), told("decide", rule, &both));
        assert_eq!(metrics["chosen"], decided["threshold"], "{rule}");
        let at = decided["threshold"]["at"].as_f64().unwrap();
        let mut sums = [[0.0; 2]; 2];
        for line in body.lines() {
            let cells: Vec<&str> = line.split(',').collect();
            let alert = cells[3].parse::<f64>().unwrap() >= at;
            sums[usize::from(cells[2] == "bad")][usize::from(alert)] += cells[4].parse::<f64>().unwrap();
        }
        for (name, [missed, found]) in [("fpr", sums[0]), ("tpr", sums[1])] {
            let rate = decided["threshold"][name].as_f64().unwrap();
            assert!((rate - found / (missed + found)).abs() < 1e-12, "{rule} {name}: {rate} {sums:?}");
            let ends: [f64; 2] = serde_json::from_value(decided["threshold"]["intervals"][name].clone()).unwrap();
            assert!(ends[0] < rate && rate < ends[1], "{rule} {name}: {ends:?}");
        }
        // Each of both changes what can be said.
        let at = at.to_string();
        let of = |beside: &[&str]| told("decide", &at, beside)["threshold"]["intervals"]["tpr"].clone();
        let [neither, clusters, weights] = [of(&[]), of(&both[..2]), of(&both[2..])];
        let found = of(&both);
        assert!(found != neither && found != clusters && found != weights, "{rule}: {found} {clusters} {weights}");
    }
}

#[test]
fn anyones_scores_are_decided_applied_and_checked_again() {
    let folder = Folder::new("anyone");
    folder.write("scores.csv", anyones(41, 8000, 0.0));
    folder.write("later.csv", anyones(42, 8000, 0.0));
    folder.write("drift.csv", anyones(43, 8000, 1.0));
    folder.write("few.csv", anyones(44, 120, 0.0));
    let columns = ["--label", "outcome", "--score", "points", "--positive", "bad"];
    let decide = |file: &str, rule: &str, more: &[&str]| {
        let args = [&["decide", file, "--threshold", rule], &columns[..], more].concat();
        run(&folder.0, &args)
    };
    let plain = stdout(&decide("scores.csv", "precision>=0.9", &[]));
    let lines: Vec<&str> = plain.lines().collect();
    assert_eq!(lines.len(), 2, "{plain}");
    assert!(
        lines[1].starts_with("It rests on ") && lines[1].contains("precision>=0.9@90% promises it for other rows"),
        "{plain}"
    );
    let top = last(&stdout(&decide("scores.csv", "alerts<=1%", &["--json"])));
    let ends = &top["threshold"]["intervals"]["precision"];
    assert_eq!(top["threshold"]["alerts"], 80);
    assert!(ends[0].as_f64() < top["threshold"]["precision"].as_f64() && ends[1].as_f64() <= Some(1.0), "{top}");

    let promised = last(&stdout(&decide("scores.csv", "precision>=0.9@90%", &["--out", "alerts.json", "--json"])));
    let file: Value = serde_json::from_str(&fs::read_to_string(folder.0.join("alerts.json")).unwrap()).unwrap();
    assert_eq!(file["threshold"], promised["threshold"]["at"]);
    assert_eq!((&file["rows"], &file["score"], &file["positive"]), (&8000.into(), &"points".into(), &"bad".into()));
    // Of whole patients no more can be promised.
    let clustered = last(&stdout(&decide("scores.csv", "recall>=0.7@90%", &["--cluster", "patient", "--json"])));
    let alone = last(&stdout(&decide("scores.csv", "recall>=0.7@90%", &["--json"])));
    assert_eq!(clustered["clusters"], 200);
    assert!(clustered["threshold"]["at"].as_f64() <= alone["threshold"]["at"].as_f64(), "{clustered} {alone}");
    let args =
        [&["metrics", "scores.csv", "--threshold", "recall>=0.7@90%", "--cluster", "patient", "--json"], &columns[..]];
    assert_eq!(last(&stdout(&run(&folder.0, &args.concat())))["threshold"], clustered["threshold"]["at"]);

    // Equal weights change nothing but what rows come to; the file says which column they are.
    let text = fs::read_to_string(folder.path("scores.csv")).unwrap();
    let mut lines = text.lines();
    let head = format!("{},w\n", lines.next().unwrap());
    folder.write("weighted.csv", head + &lines.map(|line| format!("{line},2.5\n")).collect::<String>());
    let args = ["--weight", "w", "--out", "weighted.json", "--json"];
    let weighed = last(&stdout(&decide("weighted.csv", "recall>=0.7@90%", &args)));
    let kept = weighed["threshold"]["tpr"].as_f64().unwrap() - alone["threshold"]["tpr"].as_f64().unwrap();
    assert!(kept.abs() < 0.01 && weighed["threshold"]["intervals"]["tpr"][0].is_number(), "{weighed} {alone}");
    let own: Value = serde_json::from_str(&fs::read_to_string(folder.path("weighted.json")).unwrap()).unwrap();
    assert_eq!((own["rows"].as_f64(), &own["weight"]), (Some(20_000.0), &"w".into()));
    let checked = last(&stdout(&run(&folder.0, &["decide", "weighted.json", "--recheck", "weighted.csv", "--json"])));
    assert_eq!(checked["verdict"], "met", "{checked}");

    // Applied, without the labels.
    let args = ["decide", "alerts.json", "--apply", "later.csv", "--id", "id,patient", "--out", "decided.csv"];
    assert_eq!(stdout(&run(&folder.0, &args)), "");
    let decided = fs::read_to_string(folder.0.join("decided.csv")).unwrap();
    assert_eq!(decided.lines().next(), Some("id,patient,points,decision"));
    let at = file["threshold"].as_f64().unwrap();
    let (mut alerts, mut rows) = (0, 0);
    for line in decided.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[3] == "1", cells[2].parse::<f64>().unwrap() >= at, "{line}");
        (alerts, rows) = (alerts + i32::from(cells[3] == "1"), rows + 1);
    }
    assert!(alerts > 100 && rows == 8000, "{alerts}");

    // Checked again: on rows of the same kind, on others, and on few.
    for (new, code, verdict) in [("later.csv", 0, "met"), ("drift.csv", 3, "broken"), ("few.csv", 4, "cannot tell")] {
        let output = run(&folder.0, &["decide", "alerts.json", "--recheck", new, "--json"]);
        let told = last(std::str::from_utf8(&output.stdout).unwrap());
        assert_eq!((output.status.code(), told["verdict"].as_str()), (Some(code), Some(verdict)), "{new}: {told}");
        assert_eq!(told["more_rows"].is_null(), verdict != "cannot tell", "{told}");
    }
    let few = run(&folder.0, &["decide", "alerts.json", "--recheck", "few.csv"]);
    assert!(String::from_utf8_lossy(&few.stdout).contains("more alerts would tell, at this value"), "{few:?}");

    // A model with a rule is checked in the same way.
    folder.write("data.csv", csv(900));
    stdout(&run(&folder.0, &["train", "data.csv", "--method", "ce", "--threshold", "recall>=0.3", "--out", "m"]));
    let met = run(&folder.0, &["decide", "m", "--recheck", "data.csv", "--json"]);
    assert_eq!(last(std::str::from_utf8(&met.stdout).unwrap())["rule"], "recall>=0.3");

    let wrong = |more: &[&str]| refused(&folder, &[&["decide"], more].concat());
    let text = wrong(&[&["few.csv", "--threshold", "precision>=0.9@99%"], &columns[..]].concat());
    assert!(text.contains("no threshold can be promised: about") && text.contains("more positives"), "{text}");
    assert!(wrong(&["scores.csv", "--threshold", "alerts<=1%"]).contains("label"));
    assert!(
        wrong(&["m", "--threshold", "alerts<=1%"])
            .contains("is a model, whose threshold is chosen on the rows of DATA")
    );
    assert!(wrong(&["m", "data.csv", "--threshold", "alerts<=1%"]).contains("--out FILE"));
    assert!(wrong(&["scores.csv", "--recheck", "few.csv"]).starts_with("scores.csv: "));
    folder.write("bad.json", b"{\"undercurve_decision\": 1, \"rule\": \"top\"}");
    assert!(wrong(&["bad.json", "--recheck", "few.csv"]).contains("is no decision file"));
    let text =
        wrong(&[&["scores.csv", "--threshold", "recall>=0.7@90%", "--cluster", "outcome"], &columns[..]].concat());
    assert_eq!(text, "--cluster outcome: is the label column");
}
