//! From a run to decisions: the best of its models, a model alone, rows of files that come in pieces.

#[path = "decisions/rules.rs"]
mod rules;

use proptest::prelude::*;
use std::sync::Arc;
use undercurve::checkpoint::{CheckpointError, Kind, SavedModel, open, seal};
use undercurve::data::{
    Block, Blocks, DataError, Dataset, Format, Missing, Options, Preparation, RawTable, ReadOptions, Reading, Rows,
    Scale, Target, identifiers,
};
use undercurve::decision::{Calibrate, Calibration};
use undercurve::metric::{Metrics, Rate};
use undercurve::registry::METHODS;
use undercurve::rng::Rng;
use undercurve::trainer::{Best, Config, LOOKS, Length, Predictor, Trainer, TrainerError, own_metric};
use undercurve_tests::nonsense;

/// Few rows in many columns, of which one tells a little: a run that goes on fits the rest.
fn data(seed: u64, rows: usize) -> Arc<Dataset<f64>> {
    let mut rng = Rng::new(seed);
    let labels: Vec<u8> = (0..rows).map(|row| u8::from(row % 4 == 0)).collect();
    let x = labels.iter().flat_map(|&y| {
        let first = rng.normal() + 1.2 * f64::from(y);
        let rest: Vec<f64> = (0..15).map(|_| rng.normal()).collect();
        std::iter::once(first).chain(rest)
    });
    Arc::new(Dataset::dense(x.collect(), labels, 16).unwrap())
}

fn config(method: &str, settings: &[(&str, &str)], length: Length) -> Config {
    let settings = settings.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    Config { method: method.into(), settings, length, fpr: (0.0, 0.3), ..Config::default() }
}

type Maker = fn() -> Config;

/// Runs by batches, over everything, and on a finite sum, which counts rows.
const RUNS: [(Maker, &str); 4] = [
    (|| config("ce", &[("decay", "0"), ("lr", "0.05")], Length::Steps(300)), "auroc"),
    (|| config("soap", &[("decay", "0")], Length::Steps(210)), "ap"),
    (|| config("pauc-exact", &[], Length::Steps(60)), "pauc"),
    (|| config("ai-sarah", &[], Length::Passes(30.0)), "ap"),
];

/// A run to its end, with what was looked at done by hand: (step, metric, parameters) of the best.
fn by_hand(config: &Config, metric: &str, valid: &Arc<Dataset<f64>>) -> (u64, f64, Vec<f64>) {
    let mut trainer = Trainer::new(config, data(1, 80), None).unwrap();
    let (mut best, mut parts) = ((0, f64::NEG_INFINITY, Vec::new()), 0);
    while trainer.step().unwrap().is_some() {
        // Where cross-entropy ends, and after every twentieth of what follows.
        let ((at, end), begin) = (trainer.progress(), trainer.pretraining_steps());
        let now = if at < begin { 0 } else { u64::from(begin > 0) + (at - begin) / (end - begin).div_ceil(LOOKS) };
        if now > parts || trainer.is_done() {
            parts = now;
            let value = trainer.evaluate(valid).unwrap().get(metric).unwrap();
            if value > best.1 {
                best = (trainer.steps_done(), value, trainer.params().to_vec());
            }
        }
    }
    best
}

#[test]
fn the_best_model_is_kept_and_a_resumed_run_keeps_the_same() {
    let valid = data(2, 200);
    for (make, metric) in RUNS {
        let config = make();
        let mut trainer = Trainer::new(&config, data(1, 80), None).unwrap();
        let mut best = Best::new(&trainer, valid.clone(), metric, None).unwrap();
        assert_eq!((best.step(), best.params().len(), best.value().is_nan()), (0, 0, true));
        let mut halfway = Vec::new();
        while trainer.step().unwrap().is_some() {
            assert!(best.look(&mut trainer).unwrap());
            // Looking again changes nothing.
            let before = best.save();
            assert!(best.look(&mut trainer).unwrap());
            assert_eq!(best.save(), before, "{}", config.method);
            if trainer.steps_done() % 37 == 0 {
                halfway.push((trainer.save(), best.save()));
            }
        }
        let expected = by_hand(&config, metric, &valid);
        assert_eq!((best.step(), best.value(), best.params()), (expected.0, expected.1, &expected.2[..]));
        if config.method == "ce" {
            assert!(best.step() < trainer.steps_done(), "a run that fits noise was best before its end");
        }
        assert!(!halfway.is_empty(), "{}", config.method);
        for (run, looks) in halfway {
            let mut trainer = Trainer::load(&run, data(1, 80), None).unwrap();
            let mut again = Best::load(&looks, &trainer, valid.clone()).unwrap();
            while trainer.step().unwrap().is_some() {
                again.look(&mut trainer).unwrap();
            }
            assert_eq!(again.save(), best.save(), "{}", config.method);
        }
    }
}

/// Rows of two groups, of which the second has higher scores whatever its labels.
fn grouped(seed: u64, rows: usize) -> Arc<Dataset<f64>> {
    let plain = data(seed, rows);
    let Rows::Dense { data: x, .. } = plain.rows() else { unreachable!("rows of a dense set") };
    let group = |row: usize| (row / 4 % 2) as u32;
    let moved =
        x.iter().enumerate().map(|(at, x)| x + 0.8 * f64::from(group(at / 16)) * f64::from(u8::from(at % 16 == 0)));
    let moved = Dataset::dense(moved.collect(), plain.labels().to_vec(), 16).unwrap();
    Arc::new(moved.with_groups((0..rows).map(group).collect(), vec!["a".into(), "b".into()]).unwrap())
}

/// Under constraints what passes their bounds least comes first, in sum over them; of the worst groups their own loss counts.
#[test]
fn what_groups_are_held_to_comes_before_the_metric() {
    let valid = grouped(2, 240);
    let under = |method: &str, bounds: &[&str]| Config {
        constraints: bounds.iter().map(ToString::to_string).collect(),
        ..config(method, &[("lr", "0.05")], Length::Steps(200))
    };
    let looks = |config: &Config, of: &dyn Fn(&[f64]) -> [f64; 2]| {
        let mut trainer = Trainer::<f64>::new(config, grouped(1, 160), None).unwrap();
        let (mut best, mut seen) = (([f64::INFINITY; 2], 0), Vec::new());
        while trainer.step().unwrap().is_some() {
            if trainer.steps_done().is_multiple_of(10) {
                let train = trainer.train_data().clone();
                let mut scores = vec![0.0; train.len() + valid.len()];
                let (first, second) = scores.split_at_mut(train.len());
                trainer.score(train.rows(), first).unwrap();
                trainer.score(valid.rows(), second).unwrap();
                let now = of(&scores);
                seen.push(now);
                if now < best.0 {
                    best = (now, trainer.steps_done());
                }
            }
        }
        (best, seen)
    };
    let kept = |config: &Config, metric: Option<&str>| {
        let mut trainer = Trainer::<f64>::new(config, grouped(1, 160), None).unwrap();
        let metric = metric.unwrap_or(trainer.own_metric()).to_string();
        let mut best = Best::new(&trainer, valid.clone(), &metric, None).unwrap();
        while trainer.step().unwrap().is_some() {
            best.look(&mut trainer).unwrap();
        }
        assert_eq!(Best::load(&best.save(), &trainer, valid.clone()).unwrap().save(), best.save());
        (metric, best.excess(), best.value(), best.step())
    };
    // Excess on the validation rows alone, in units of its noise: the latest model within half of one of the least.
    let train = grouped(1, 160);
    let of = |scores: &[f64]| {
        let (scores, mut metrics) = (&scores[train.len()..], Metrics::new());
        let mut over = |rate, bound: f64| {
            let gap = metrics.gaps(scores, valid.labels(), valid.group_of(), 2, rate, None).unwrap()[0];
            [gap.value - bound, (gap.value - bound) / gap.noise].map(|over| over.max(0.0))
        };
        let (fpr, tpr) = (over(Rate::Fpr, 0.25), over(Rate::Tpr, 0.02));
        [fpr[0] + tpr[0], fpr[1] + tpr[1], metrics.auroc(scores, valid.labels()).unwrap()]
    };
    let bounds = ["gap(fpr) <= 0.25", "gap(tpr) <= 0.02"];
    for (method, steps) in [("lagrange", 200), ("sonex", 200), ("sonex", 400)] {
        let config = Config { length: Length::Steps(steps), ..under(method, &bounds) };
        let mut trainer = Trainer::<f64>::new(&config, grouped(1, 160), None).unwrap();
        let (mut least, mut seen, mut expected) = (f64::INFINITY, Vec::new(), None);
        while trainer.step().unwrap().is_some() {
            if trainer.steps_done().is_multiple_of(steps / 20) {
                let mut scores = vec![0.0; train.len() + valid.len()];
                trainer.score(valid.rows(), &mut scores[train.len()..]).unwrap();
                let now = of(&scores);
                seen.push(now);
                least = now[1].min(least);
                if now[1] <= least + 0.5 {
                    expected = Some((now, trainer.steps_done()));
                }
            }
        }
        let ([excess, _, auroc], step) = expected.unwrap();
        let got = kept(&config, None);
        assert!((got.1 - excess).abs() < 1e-12, "{method} {got:?} {seen:?}");
        assert_eq!((got.0.as_str(), got.2, got.3), ("auroc", auroc, step), "{method} {seen:?}");
        assert!(excess > 0.0 && seen.iter().any(|now| now[2] > auroc), "the best by the metric is another: {seen:?}");
    }
    // A bound that every model keeps: the metric alone.
    let held = under("lagrange", &["gap(fpr) <= 1"]);
    let ((expected, step), _) = looks(&held, &|scores| [0.0, -of(scores)[2]]);
    assert_eq!(kept(&held, None), ("auroc".into(), 0.0, -expected[1], step));
    // The loss of the worse half of two groups.
    let of = |scores: &[f64]| {
        let mut sums = [[0.0; 2]; 2];
        for ((&score, &label), &group) in scores[train.len()..].iter().zip(valid.labels()).zip(valid.group_of()) {
            let loss = (1.0 + (if label == 1 { -score } else { score }).exp()).ln();
            sums[group as usize] = [sums[group as usize][0] + loss, sums[group as usize][1] + 1.0];
        }
        [0.0, sums.iter().map(|[sum, rows]| sum / rows).fold(0.0, f64::max)]
    };
    for method in ["sonex", "ooa"] {
        let mut config = config(method, &[("lr", "0.05"), ("share", "0.5"), ("decay", "0")], Length::Steps(200));
        if method == "sonex" {
            config.settings.push(("objective".into(), "cvar".into()));
        }
        let ((expected, step), seen) = looks(&config, &of);
        let (metric, excess, value, at) = kept(&config, None);
        assert_eq!((metric.as_str(), excess, at), ("cvar", 0.0, step), "{method}: {seen:?}");
        assert!((value - expected[1]).abs() < 1e-12 && step < 200, "{method}: {value}, {expected:?}");
        assert_eq!(kept(&config, Some("auroc")).0, "auroc");
    }
    let trainer = Trainer::<f64>::new(&under("lagrange", &bounds), grouped(1, 160), None).unwrap();
    let refused = Best::new(&trainer, valid.clone(), "cvar", None).map(|_| ()).unwrap_err().to_string();
    assert_eq!(refused, "\"cvar\" is no metric to keep a model by; there are auroc, ap, pauc");
}

#[test]
fn a_run_ends_when_no_better_model_comes() {
    let (config, metric) = (RUNS[0].0(), RUNS[0].1);
    let valid = data(2, 200);
    let mut trainer = Trainer::new(&config, data(1, 80), None).unwrap();
    let mut best = Best::new(&trainer, valid.clone(), metric, Some(3)).unwrap().keeping_the_last();
    while trainer.step().unwrap().is_some() && best.look(&mut trainer).unwrap() {}
    assert!(best.is_out_of_patience() && !best.keeps_the_best());
    // Three looks, each after 15 of 300 steps, past the best.
    assert_eq!(trainer.steps_done(), best.step() + 3 * 15);
    let again = Best::load(&best.save(), &trainer, valid.clone()).unwrap();
    assert!(again.is_out_of_patience() && !again.keeps_the_best());
    assert_eq!((again.metric(), again.patience()), (metric, Some(3)));

    let refused = |data: Arc<Dataset<f64>>, metric: &str, patience| {
        Best::new(&trainer, data, metric, patience).map(|_| ()).unwrap_err().to_string()
    };
    let text = refused(valid.clone(), "accuracy", None);
    assert_eq!(text, "\"accuracy\" is no metric to keep a model by; there are auroc, ap, pauc");
    assert_eq!(refused(valid.clone(), "ap", Some(0)), "patience: expected at least 1");
    let narrow = Arc::new(Dataset::dense(vec![1.0, 2.0], vec![0, 1], 1).unwrap());
    assert_eq!(refused(narrow, "ap", None), "the validation data has 1 columns, the training data 16");
    let other = Best::load(&best.save(), &trainer, data(3, 200)).err();
    assert_eq!(other, Some(TrainerError::Checkpoint(CheckpointError::Mismatch("validation data set"))));
    for at in 0..best.save().len() {
        for bad in nonsense(&best.save(), at) {
            let _ = Best::load(&bad, &trainer, valid.clone());
        }
        assert!(Best::load(&best.save()[..at], &trainer, valid.clone()).is_err());
    }
}

/// Every method says what it trains for.
#[test]
fn every_method_has_its_metric() {
    let binary = data(1, 20);
    for method in METHODS {
        let expected = match method.name {
            "soap" | "ap-exact" | "smooth-ap" | "fast-ap" | "min-max-ap" => "ap",
            "pauc-exact" | "pauc-threshold" | "agd-sbcd" | "dca" | "proximal-dca" => "pauc",
            "pauc-minibatch" | "sopa" | "sopa-s" | "sota-s" | "svm-pauc-tight" => "pauc",
            "auc-pairwise" | "auc-exact" | "ppd-sg" | "ppd-adagrad" | "pga" | "oauc" | "auc-margin" => "auroc",
            "ce" | "ce-balanced" | "ce-exact" | "focal" | "cb-ce" | "ldam" | "sorr" => "auroc",
            // (Likelihoods under constraints and of the worst groups.)
            "sonex" | "alexr2" | "sox" | "msvr" | "sonx" | "lagrange" | "icppac" | "ooa" => "auroc",
            _ if method.is_finite_sum() => "auroc",
            other => panic!("what does {other} train for? (Method::metric)"),
        };
        assert_eq!(own_metric(Some(method), &*binary), expected, "{}", method.name);
    }
    let values = Dataset::dense(vec![1.0, 2.0], vec![], 1).unwrap().with_values(vec![1.0, 2.0]).unwrap();
    assert_eq!(own_metric(None, &values), "rmse");
    let names = vec!["a".into(), "b".into()];
    let classes = Dataset::dense(vec![1.0, 2.0], vec![], 1).unwrap().with_classes(vec![0, 1], names).unwrap();
    assert_eq!(own_metric(None, &classes), "hand-till");
}

/// A table of numbers, categories, missing values and things to quote.
fn rows(count: usize, label: bool) -> String {
    let mut rng = Rng::new(9);
    let mut text =
        String::from(if label { "id,size,\"the, colour\",code,label\r\n" } else { "id,size,\"the, colour\",code\r\n" });
    for row in 0..count {
        let positive = row % 3 == 0;
        let colour = ["red", "\"light, blue\"", "\"a \"\"b\"\"\nc\"", "grün", ""][rng.below(5) as usize];
        let size = if rng.below(20) == 0 {
            "NA".to_string()
        } else {
            format!("{}", rng.normal() + f64::from(u8::from(positive)))
        };
        let code = ["1", "1.0", "2", "x"][rng.below(4) as usize];
        text += &format!("0{row},{size},{colour},{code}");
        text += &if label { format!(",{}\r\n", if positive { "yes" } else { "no" }) } else { "\r\n".to_string() };
        if row % 50 == 17 {
            text += "\r\n";
        }
    }
    text
}

fn table(text: &str) -> RawTable {
    RawTable::parse(text.as_bytes(), Format::Csv, "f.csv").unwrap()
}

fn impute() -> Options {
    let (ignore, categorical) = (vec!["id".into()], vec!["code".into()]);
    Options { missing: Missing::Impute, ignore, categorical, ..Options::default() }
}

/// A trained model file, and its training table.
fn model(method: &str, options: &Options) -> (SavedModel, RawTable) {
    let table = table(&rows(240, true));
    let preparation = Preparation::fit(&table, options).unwrap();
    let data = Arc::new(preparation.apply::<f32>(&table).unwrap());
    let config = Config { length: Length::Steps(40), ..config(method, &[], Length::Method) };
    let mut trainer = Trainer::<f32>::new(&config, data, None).unwrap();
    trainer.run().unwrap();
    let file = trainer.predictor().file(preparation);
    (SavedModel { threshold: Some(0.25), trainer: trainer.save(), ..file }, table)
}

fn in_pieces(text: &[u8], piece: usize, preparation: &Preparation) -> Result<(Vec<f64>, Vec<String>), DataError> {
    let mut blocks = Blocks::new(preparation, &ReadOptions::default(), &["id".to_string()], "f.csv");
    let (mut values, mut kept) = (Vec::new(), Vec::new());
    let mut take = |block: Block| -> Result<(), DataError> {
        let data = preparation.apply_unlabelled::<f64>(&block.table)?;
        let Rows::Dense { data, .. } = data.rows() else { unreachable!("CSV rows are dense") };
        values.extend_from_slice(data);
        kept.extend(block.kept);
        Ok(())
    };
    for piece in text.chunks(piece) {
        blocks.push(piece)?.map_or(Ok(()), &mut take)?;
    }
    blocks.finish()?.map_or(Ok(()), &mut take)?;
    Ok((values, kept))
}

#[test]
fn rows_in_pieces_are_the_rows_of_the_whole() {
    let all = table(&rows(400, true));
    let preparation = Preparation::fit(&all, &impute()).unwrap();
    for label in [true, false] {
        let text = rows(400, label);
        let data = preparation.apply::<f64>(&all).unwrap();
        let Rows::Dense { data: expected, .. } = data.rows() else { unreachable!("CSV rows are dense") };
        let ids: Vec<String> = (0..400).map(|row| format!("0{row}")).collect();
        for piece in [1, 7, 100, 1000, 1 << 20] {
            let (values, kept) = in_pieces(text.as_bytes(), piece, &preparation).unwrap();
            assert_eq!((values.as_slice(), &kept), (expected, &ids), "pieces of {piece}");
        }
    }
}

#[test]
fn errors_in_pieces_name_the_place_in_the_whole() {
    let all = table(&rows(400, true));
    let preparation = Preparation::fit(&all, &impute()).unwrap();
    let text = rows(300, false);
    let refused = |text: &str, piece| in_pieces(text.as_bytes(), piece, &preparation).unwrap_err().to_string();
    for piece in [3, 500, 1 << 20] {
        // (Rows hold line breaks, and there are blank lines.)
        let lines = text.matches('\n').count();
        assert_eq!(
            refused(&format!("{text}1,big,red,1\n"), piece),
            format!(
                "f.csv:{}:2: value \"big\" in column \"size\" of numbers (a categorical column has to be named as one)",
                lines + 1
            )
        );
        assert_eq!(
            refused(&format!("{text}1,2,red\n"), piece),
            format!("f.csv:{}:4: 3 cells, but the first line has 4", lines + 1)
        );
        assert_eq!(
            refused(&format!("{text}1,inf,red,1\n"), piece),
            format!("f.csv:{}:2: value \"inf\" is not finite", lines + 1)
        );
        assert_eq!(
            refused(&format!("{text}1,2,\"red,1\n"), piece),
            format!("f.csv:{}:3: a quoted cell never ends", lines + 1)
        );
        let without = text.replace("code", "kode");
        assert_eq!(
            refused(&without, piece),
            "f.csv:1: there is no column \"code\"; the columns are \"id\", \"size\", \"the, colour\", \"kode\""
        );
        assert_eq!(refused("", piece), "f.csv: the file is empty");
        assert_eq!(refused("\n \n", piece), "f.csv: the file is empty");
        assert_eq!(refused("id,size,\"the, colour\",code\n", piece), "f.csv:1: a header and no rows");
        assert_eq!(
            refused("1 1:2\n2 2:3\n", piece),
            "f.csv:1: there is no column \"size\"; the columns are \"1\", \"1:2\""
        );
        assert_eq!(refused(&format!("{text}a\u{1}b\n"), piece), "f.csv: not a text file (it looks like binary data)");
    }
    // Refused missing values are named with their line, too.
    let strict = preparation.clone().with_missing(Missing::Refuse);
    let error = in_pieces(b"id,size,\"the, colour\",code\n1,2,red,1\n2,,red,1\n", 9, &strict).unwrap_err().to_string();
    assert_eq!(error, "f.csv:3:2: missing value in column \"size\"");
}

#[test]
fn rows_without_names_or_labels_are_read() {
    let text = "1,a,0\n2,b,1\n3,a,0\n";
    for (at, text) in [(3, text.to_string()), (1, text.lines().map(|l| format!("{},{}\n", &l[4..], &l[..3])).collect())]
    {
        let options = Options { label: Some(format!("x{at}")), ..Options::default() };
        let train = table(&text);
        let preparation = Preparation::fit(&train, &options).unwrap();
        let of = |text: &str| {
            let mut blocks = Blocks::new(&preparation, &ReadOptions::default(), &[], "f.csv");
            assert!(blocks.push(text.as_bytes()).unwrap().is_none());
            let block = blocks.finish().unwrap().unwrap();
            (preparation.apply_unlabelled::<f64>(&block.table).unwrap(), blocks.extra().len())
        };
        let expected = preparation.apply_unlabelled::<f64>(&train).unwrap();
        assert_eq!(of(&text).0, expected);
        let (bare, extra) = of("1,a\n2,b\n3,a\n");
        assert_eq!((&bare, extra), (&expected, 0), "label in column {at}");
    }
    let sparse = RawTable::parse(b"1 1:3 2:4\n0 2:2\n", Format::Libsvm, "f.svm").unwrap();
    let preparation = Preparation::fit(&sparse, &Options::default()).unwrap();
    let mut blocks =
        Blocks::new(&preparation, &ReadOptions { format: Format::Libsvm, ..ReadOptions::default() }, &[], "f.svm");
    assert!(blocks.push("# nothing\n".repeat(150).as_bytes()).unwrap().is_none());
    let first = blocks.push(b"1:3 2:4\n").unwrap().unwrap();
    assert!(blocks.push(b"2:").unwrap().is_none());
    blocks.push(b"2").unwrap();
    let rows = [first, blocks.finish().unwrap().unwrap()];
    let expected = preparation.apply_unlabelled::<f64>(&sparse).unwrap();
    for (row, block) in rows.iter().enumerate() {
        let own = preparation.apply_unlabelled::<f64>(&block.table).unwrap();
        assert_eq!(own, expected.select(&[row as u32]).unwrap());
    }
    assert!(blocks.columns().is_empty());
    let mut blocks = Blocks::new(&preparation, &ReadOptions::default(), &["id".into()], "f.svm");
    blocks.push(b"1 1:3\n").unwrap();
    assert_eq!(blocks.finish().unwrap_err().to_string(), "f.svm: there is no column \"id\"; the columns are ");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// Whatever comes after a hundred lines: pieces give what the whole gives, or the same error.
    #[test]
    fn any_text_in_any_pieces(text in "[a1,;\"\n\r x-]{0,60}", piece in 1usize..20) {
        let preparation = Preparation::fit(&table("a,x,label\n1,q,0\n2,r,1\n"), &Options::default()).unwrap();
        let text = format!("{}{text}", "q,x\n".repeat(110));
        let options = ReadOptions { header: Some(true), format: Format::Csv, ..ReadOptions::default() };
        let text = format!("a,x\n{text}");
        let whole = RawTable::parse_with(text.as_bytes(), &options, "f.csv").map(|table| table.rows());
        let mut blocks = Blocks::new(&preparation, &options, &[], "f.csv");
        let mut read = || {
            let mut count = 0;
            for piece in text.as_bytes().chunks(piece) {
                count += blocks.push(piece)?.map_or(0, |block| block.table.rows());
            }
            Ok(count + blocks.finish()?.map_or(0, |block| block.table.rows()))
        };
        prop_assert_eq!(read(), whole);
    }
}

#[test]
fn a_model_alone_scores_what_its_run_scores_and_does_not_go_on() {
    for (method, probable) in [("soap", false), ("ce", true), ("ai-sarah", true), ("pauc-exact", false)] {
        let (run, table) = model(method, &impute());
        let data = run.preparation.apply::<f32>(&table).unwrap();
        let mut of_run = Predictor::<f32>::of(&run).unwrap();
        let alone = SavedModel { trainer: of_run.save(), ..run.clone() }.to_bytes();
        assert!(alone.len() < run.to_bytes().len(), "{method}");
        let mut model = Predictor::<f32>::load(&alone).unwrap();
        assert!(model.was_trained_on(&data));
        assert_eq!((model.threshold(), model.has_probabilities()), (Some(0.25), probable), "{method}");
        let scores = model.predict(&table).unwrap();
        assert_eq!(scores, of_run.predict(&table).unwrap());
        let mut expected = vec![0.0; data.len()];
        Predictor::<f32>::load(&run.trainer).unwrap().score(data.rows(), &mut expected).unwrap();
        assert_eq!(scores, expected, "{method}");
        let error = Trainer::<f32>::load(&SavedModel::from_bytes(&alone).unwrap().trainer, Arc::new(data), None).err();
        assert_eq!(error, Some(TrainerError::Checkpoint(CheckpointError::ModelOnly)));
        assert_eq!(model.probability(0.0), probable.then_some(0.5));
        assert_eq!((model.class(&[0.25]), model.class(&[0.2])), (Some(1), Some(0)));
        // Row by row, in any order, with more than is needed.
        for (row, &score) in scores.iter().enumerate().take(40) {
            let text = rows(240, true);
            let mut reader = RowReader(text.as_str());
            let cells = reader.nth(row + 1).unwrap();
            let pairs = [("code", &*cells[3]), ("the, colour", &*cells[2]), ("note", "inf"), ("size", &*cells[1])];
            assert_eq!(model.predict_one(&pairs).unwrap(), [score], "{method}, row {row}");
        }
        assert_eq!(
            model.predict_one(&[("size", "1"), ("code", "1")]).unwrap_err().to_string(),
            "row: there is no column \"the, colour\"; the columns are \"size\", \"code\""
        );
        let text =
            model.predict_one(&[("size", "wide"), ("code", "1"), ("the, colour", "red")]).unwrap_err().to_string();
        assert!(text.starts_with("row:1:1: value \"wide\" in column \"size\" of numbers"), "{text}");
        let mut bare = Predictor::<f32>::load(&run.trainer).unwrap();
        let text = bare.predict(&table).unwrap_err().to_string();
        assert!(text.contains("a model without its preparation"), "{text}");
    }
}

/// Cells of the rows that [`rows`] makes, unquoted.
struct RowReader<'a>(&'a str);

impl Iterator for RowReader<'_> {
    type Item = Vec<String>;
    fn next(&mut self) -> Option<Vec<String>> {
        let mut cells = vec![String::new()];
        let (mut quoted, mut chars) = (false, self.0.char_indices().peekable());
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|next| next.1);
            match c {
                '"' if quoted && next == Some('"') => {
                    chars.next();
                    cells.last_mut().unwrap().push('"');
                }
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                '\r' if !quoted => {}
                '\n' if !quoted => {
                    self.0 = &self.0[at + 1..];
                    if cells.len() > 1 {
                        return Some(cells);
                    }
                    return self.next();
                }
                c => cells.last_mut().unwrap().push(c),
            }
        }
        None
    }
}

#[test]
fn methods_that_fit_probabilities_say_so() {
    for (method, settings, expected) in [
        ("ce", &[][..], true),
        ("ce", &[("sampling", "stratified"), ("weights", "as-drawn")], false),
        ("ce", &[("sampling", "stratified")], true),
        ("ce-balanced", &[], false),
        ("focal", &[], false),
        ("auc-pairwise", &[], false),
        ("ai-sarah", &[], true),
        ("ai-sarah", &[("loss", "least-squares")], false),
    ] {
        let trainer = Trainer::new(&config(method, settings, Length::Steps(1)), data(1, 40), None).unwrap();
        assert_eq!(trainer.predictor().has_probabilities(), expected, "{method} {settings:?}");
    }
}

#[test]
fn a_file_with_the_best_model_scores_with_it() {
    let valid = data(2, 200);
    let mut trainer = Trainer::new(&RUNS[0].0(), data(1, 80), None).unwrap();
    let mut best = Best::new(&trainer, valid.clone(), "ap", None).unwrap();
    let arrays = |data: &Dataset<f64>| match data.rows() {
        Rows::Dense { data, .. } => data.to_vec(),
        Rows::Csr { .. } => unreachable!("dense rows were made"),
    };
    let preparation = Preparation::fit_arrays(&arrays(&data(1, 80)), data(1, 80).labels(), 16, Scale::None).unwrap();
    let file = |trainer: &Trainer<f64>, best: &Best<f64>| {
        let new = SavedModel::new(preparation.clone(), 8, trainer.save());
        Predictor::<f64>::of(&SavedModel { best: Some(best.save()), ..new }).unwrap()
    };
    // Before the first look the model is the run's.
    assert_eq!(file(&trainer, &best).params(), trainer.params());
    while trainer.step().unwrap().is_some() {
        best.look(&mut trainer).unwrap();
    }
    assert_ne!(best.params(), trainer.params());
    assert_eq!(file(&trainer, &best).params(), best.params());
    assert_eq!(file(&trainer, &best.clone().keeping_the_last()).params(), trainer.params());
    let kept = trainer.predictor().with_params(best.params().to_vec()).unwrap().evaluate(&valid).unwrap();
    assert_eq!(kept.get("ap"), Some(best.value()));
    assert!(trainer.predictor().with_params(vec![1.0]).is_err());
}

#[test]
fn several_classes_and_numbers_are_predicted() {
    let text = "a,b,label\n1,2,sun\n2,1,moon\n3,5,star\n4,1,moon\n1,1,sun\n3,6,star\n";
    for (target, method) in [(Target::Classes, "ce"), (Target::Values, "ai-sarah")] {
        let text = if target == Target::Values {
            text.replace("sun", "1").replace("moon", "2").replace("star", "3")
        } else {
            text.into()
        };
        let table = table(&text);
        let preparation = Preparation::fit(&table, &Options { target, ..Options::default() }).unwrap();
        let settings: &[_] = if target == Target::Values { &[("loss", "least-squares")] } else { &[] };
        let data = Arc::new(preparation.apply::<f64>(&table).unwrap());
        let mut trainer = Trainer::new(&config(method, settings, Length::Steps(50)), data, None).unwrap();
        trainer.run().unwrap();
        let bytes = trainer.predictor().file(preparation).to_bytes();
        let mut model = Predictor::<f64>::load(&bytes).unwrap();
        let scores = model.predict(&table).unwrap();
        let heads = model.classes().len().max(1);
        assert_eq!(scores.len(), 6 * heads);
        let classes: Vec<Option<usize>> = scores.chunks(heads).map(|row| model.class(row)).collect();
        if target == Target::Classes {
            let largest = |row: &[f64]| (0..3).max_by(|&a, &b| row[a].total_cmp(&row[b]));
            assert_eq!(classes, scores.chunks(3).map(largest).collect::<Vec<_>>());
            let sum: f64 = scores[..3].iter().filter_map(|&s| model.probability(s)).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{sum}");
        } else {
            assert!(classes.iter().all(Option::is_none) && !model.has_probabilities());
        }
    }
}

/// What was decided goes with the model: its threshold, rule and probabilities come back from the bytes, and predict by them.
#[test]
fn decisions_go_with_the_model() {
    let (run, table) = model("soap", &impute());
    let mut model = Predictor::<f32>::of(&run).unwrap();
    let data = run.preparation.apply::<f32>(&table).unwrap();
    let (scores, truth) = (model.predict(&table).unwrap(), data.truth());
    let plain = SavedModel { trainer: model.save(), ..run };
    assert!(!model.has_probabilities() && plain.to_bytes().len() < 1000);
    for how in [Calibrate::Platt, Calibrate::Isotonic, Calibrate::Beta] {
        let mut file = plain.clone();
        file.calibrate(how, &scores, truth, "more.csv").unwrap();
        let found = file.decide("recall>=0.8".parse().unwrap(), &scores, truth, None, "validation").unwrap();
        assert_eq!(
            (file.threshold, file.decided.as_ref().unwrap().counts),
            (Some(found.threshold), Some(found.counts))
        );
        let bytes = file.to_bytes();
        assert_eq!(SavedModel::from_bytes(&bytes).unwrap(), file);
        let mut again = Predictor::<f32>::load(&bytes).unwrap();
        assert_eq!(again.predict(&table).unwrap(), scores);
        let calibration = Calibration::fit(how, &scores, truth).unwrap();
        assert_eq!(again.calibration(), Some(&calibration));
        let mut ordered = scores.clone();
        ordered.sort_by(f32::total_cmp);
        let sure: Vec<f32> = ordered.iter().map(|&s| again.probability(s).unwrap()).collect();
        assert!(sure.windows(2).all(|pair| pair[0] <= pair[1]) && sure[0] > 0.0 && sure[sure.len() - 1] < 1.0);
        assert_eq!(sure[3], calibration.probability(ordered[3]));
        assert!(again.has_probabilities() && !again.fits_probabilities());
        let hits = scores.iter().filter(|&&s| again.class(&[s]) == Some(1)).count() as f64;
        assert_eq!(hits, found.counts.true_positives + found.counts.false_positives);
    }
    // A rule that nothing keeps leaves a file without a threshold, which says why.
    let mut file = plain.clone();
    file.threshold = Some(1.0);
    let same = vec![0.5f32; scores.len()];
    let result = file.decide("precision>=0.99".parse().unwrap(), &same, truth, None, "training");
    assert_eq!(result, Err(undercurve::Error::Unreachable { what: "precision" }));
    assert_eq!((file.threshold, file.decided.as_ref().unwrap().counts), (None, None));
    assert_eq!(SavedModel::from_bytes(&file.to_bytes()).unwrap(), file);
}

/// Whatever a sealed file holds: an error, or a model that scores.
#[test]
fn sealed_nonsense_is_refused_or_scores() {
    let (run, table) = model("ce", &impute());
    let mut model = Predictor::<f32>::of(&run).unwrap();
    let (scores, data) = (model.predict(&table).unwrap(), run.preparation.apply::<f32>(&table).unwrap());
    let mut file = SavedModel { trainer: model.save(), ..run };
    file.decide("alerts<=9".parse().unwrap(), &scores, data.truth(), None, "training").unwrap();
    file.calibrate(Calibrate::Isotonic, &scores, data.truth(), "training").unwrap();
    let bytes = file.to_bytes();
    let payload = open(Kind::Model, &bytes).unwrap();
    let mut whole = false;
    for at in 0..payload.len() {
        // (Cut behind what has to be there it is a file without the rest.)
        match SavedModel::from_bytes(&seal(Kind::Model, &payload[..at])) {
            Err(_) => assert!(!whole, "{at}"),
            Ok(part) => {
                assert!(part.calibrated.is_none(), "{at}");
                whole = true;
            }
        }
        for bad in nonsense(payload, at) {
            if let Ok(mut model) = Predictor::<f32>::load(&seal(Kind::Model, &bad)) {
                let _ = model.predict(&table);
            }
        }
    }
}

/// The rows of a file as a model would see them, its notes, or its error: what is done with awkward files.
fn read(text: &str, options: &Options, na: &[&str]) -> Result<(Vec<String>, Vec<Vec<f64>>), String> {
    let na = na.iter().map(|na| na.to_string()).collect();
    let reads = ReadOptions { format: Format::Csv, na, ..ReadOptions::default() };
    let options = Options { scale: Some(Scale::None), ..options.clone() };
    let table = RawTable::parse_with(text.as_bytes(), &reads, "f.csv").map_err(|error| error.to_string())?;
    let preparation = Preparation::fit(&table, &options).map_err(|error| error.to_string())?;
    let data = preparation.apply::<f64>(&table).map_err(|error| error.to_string())?;
    let Rows::Dense { data: values, cols, .. } = data.rows() else { unreachable!("CSV rows are dense") };
    Ok((preparation.column_names(), values.chunks(cols).map(<[f64]>::to_vec).collect()))
}

#[test]
fn awkward_files_are_read_right_or_refused() {
    let usual = Options::default();
    let filled = Options { missing: Missing::Impute, ..usual.clone() };
    let column = |text: &str, options: &Options, na: &[&str]| {
        read(text, options, na).map(|(_, rows)| rows.into_iter().map(|row| row[0]).collect::<Vec<_>>())
    };
    // Decimal commas, where commas part no cells; not beside points.
    assert_eq!(column("p;label\n13,44;0\n-2,5;1\n7;1\n", &usual, &[]), Ok(vec![13.44, -2.5, 7.0]));
    assert_eq!(column("p\tlabel\n1,5e3\t0\n2\t1\n", &usual, &[]), Ok(vec![1500.0, 2.0]));
    let mixed = column("p;label\n13,44;0\n2.5;1\n7.0;1\n", &usual, &[]);
    let both = "f.csv:3:1: column \"p\" has decimal points and decimal commas: \"2.5\" and \"13,44\"";
    assert_eq!(mixed, Err(both.to_string()));
    assert_eq!(column("p;label\n1.234,5;0\n2,5;1\n3,5;1\n", &usual, &[]), Ok(vec![1234.5, 2.5, 3.5]));
    assert_eq!(column("p,label\n\"13,44\",0\n\"2,5\",1\n", &usual, &[]), Ok(vec![13.44, 2.5]));
    let beside = column("p,q,label\n\"13,44\",1.5,0\n\"2,5\",2.5,1\n", &usual, &[]);
    assert!(
        beside.clone().unwrap_err().contains("a decimal comma, where other columns have decimal points"),
        "{beside:?}"
    );
    // Dates, and what is none.
    let days = "d,label\n1970-01-01,0\n2000-03-01T12:00,1\n2024-02-29 06:00:00,1\n1969-12-31T00:00:00Z,0\n";
    assert_eq!(column(days, &usual, &[]), Ok(vec![0.0, 11_017.5, 19_782.25, -1.0]));
    assert_eq!(column("d,label\n1.1.1970,0\n31.12.1999,1\n", &usual, &[]), Ok(vec![0.0, 10_956.0]));
    for no in ["2023-02-29", "2023-13-01", "2023-1-1-1", "3/4/1", "2023-01-01T25:00", "23-1", "1.1.7"] {
        let (names, _) = read(&format!("d,label\n{no},0\n2024-01-01,1\n"), &usual, &[]).unwrap();
        assert!(names.contains(&format!("d={no}")), "{no}: {names:?}");
    }
    let beside = column("d,label\n1,0\n2,1\n2024-01-01,1\n", &usual, &[]);
    assert!(
        beside.clone().unwrap_err().starts_with("f.csv:4:1: value \"2024-01-01\" in column \"d\" of numbers"),
        "{beside:?}"
    );
    // Missing values in all their spellings.
    for na in ["NaN", "nan", "None", "#N/A", "-", "?", "n/a", "NULL", "", "NA"] {
        let text = format!("a,label\n1,0\n{na},1\n3,1\n");
        assert_eq!(column(&text, &filled, &[]), Ok(vec![1.0, 2.0, 3.0]), "{na}");
        assert_eq!(column(&text, &usual, &[]), Err("f.csv:3:1: missing value in column \"a\"".into()), "{na}");
    }
    let chosen = "a,label\n1,0\n-999,1\n3,1\nunknown,0\n";
    assert_eq!(column(chosen, &filled, &["-999", "unknown"]), Ok(vec![1.0, 2.0, 3.0, 2.0]));
    assert!(column(chosen, &filled, &["-999"]).unwrap_err().contains("value \"unknown\" in column \"a\" of numbers"));
    assert_eq!(column("a,label\n1,0\n-inf,1\n", &filled, &[]), Err("f.csv:3:1: value \"-inf\" is not finite".into()));
    // Identifiers: texts that are mostly different.
    let ids = |rows: usize, kinds: usize| -> String {
        let row = |row: usize| format!("u{:03},{},{}\n", row % kinds, row % 7, row % 2);
        format!("id,a,label\n{}", (0..rows).map(row).collect::<String>())
    };
    assert_eq!(read(&ids(200, 200), &usual, &[]).unwrap().0, ["a"]);
    assert_eq!(read(&ids(200, 101), &usual, &[]).unwrap().0, ["a"]);
    assert_eq!(read(&ids(200, 100), &usual, &[]).unwrap().0.len(), 101);
    assert_eq!(read(&ids(50, 50), &usual, &[]).unwrap().0.len(), 51);
    let named = Options { categorical: vec!["id".into()], ..usual.clone() };
    assert_eq!(read(&ids(200, 200), &named, &[]).unwrap().0.len(), 201);
    // Numbers that count the rows, from wherever, and different whole numbers of a column that is called so.
    let numbers = |name: &str, rows: usize, value: &dyn Fn(usize) -> String| {
        let row = |row: usize| format!("{},{},{}\n", value(row), row % 7, row % 2);
        read(&format!("{name},a,label\n{}", (0..rows).map(row).collect::<String>()), &usual, &[]).unwrap().0
    };
    let count = |row: usize| (row + 17).to_string();
    let mixed = |row: usize| (row * 37 % 211).to_string();
    assert_eq!(numbers("n", 200, &count), ["a"]);
    assert_eq!(numbers("n", 50, &count), ["n", "a"]);
    assert_eq!(numbers("n", 200, &|row| (2 * row).to_string()), ["n", "a"]);
    assert_eq!(numbers("n", 200, &mixed), ["n", "a"]);
    for name in ["id", "ID", "customer_id", "customerId", "customerID", "RowNames"] {
        assert_eq!(numbers(name, 200, &mixed), ["a"], "{name}");
        assert_eq!(numbers(name, 200, &|row| (row % 199).to_string()), [name, "a"]);
        assert_eq!(numbers(name, 200, &|row| format!("{}.5", row * 37 % 211)), [name, "a"]);
    }
    assert_eq!(numbers("humid", 200, &mixed), ["humid", "a"]);
    // One that has gaps is no reason to refuse the file.
    assert_eq!(read(&ids(200, 200).replace("u017", ""), &usual, &[]).unwrap().0, ["a"]);
    let table = table(&ids(200, 200));
    assert_eq!(identifiers(&table, &usual), [("id".to_string(), 200)]);
    assert_eq!(identifiers(&table, &named), []);
    let alone: String = (0..60).map(|row| format!("u{row},{}\n", row % 2)).collect();
    assert_eq!(
        read(&format!("id,label\n{alone}"), &usual, &[]).unwrap_err(),
        "f.csv: there is no column besides the label"
    );
    // How columns were read is told.
    let told = RawTable::parse(b"p;d;q;label\n1,5;2024-01-01;1;0\n2,5;2024-01-02;2;1\n", Format::Csv, "f.csv").unwrap();
    assert_eq!(told.readings(), [("p", Reading::Commas), ("d", Reading::Dates)]);
}

#[test]
fn the_positive_of_two_words_is_the_rarer_or_says_so() {
    for (labels, positive) in [
        (&["ham", "spam", "spam"][..], "ham"),
        (&["spam", "ham", "ham"], "spam"),
        (&["text", "image"], "text"),
        (&["yes", "yes", "no"], "yes"),
        (&["No", "no ", "Yes"], "Yes"),
        (&["FALSE", "TRUE", "TRUE"], "TRUE"),
        (&["n", "y", "y"], "y"),
        (&["negative", "positive", "positive"], "positive"),
        (&["1", "1", "0"], "1"),
        (&["-1", "1", "1"], "1"),
        (&["2", "1", "2"], "2"),
    ] {
        let rows: String = labels.iter().map(|label| format!("1,{}\n", label.trim().replace("No", "no"))).collect();
        let table = table(&format!("a,label\n{rows}"));
        assert_eq!(Preparation::fit(&table, &Options::default()).unwrap().positive(), Some(positive), "{labels:?}");
    }
}

/// Spellings of missing values are the model's, whatever the reader of later rows says.
#[test]
fn spellings_of_missing_values_go_with_the_model() {
    let reads = ReadOptions { format: Format::Csv, na: vec!["-9".into()], ..ReadOptions::default() };
    let train = RawTable::parse_with(b"a,b,label\n1,x,0\n-9,y,1\n3,x,1\n", &reads, "f.csv").unwrap();
    let preparation = Preparation::fit(&train, &Options { missing: Missing::Impute, ..Options::default() }).unwrap();
    let mut blocks = Blocks::new(&preparation, &ReadOptions::default(), &[], "g.csv");
    blocks.push(b"a,b\n-9,x\n").unwrap();
    let data = preparation.apply_unlabelled::<f64>(&blocks.finish().unwrap().unwrap().table).unwrap();
    assert_eq!(data.summary().missing, [("a".to_string(), 1)]);
    assert_eq!(preparation.na(), ["-9"]);
}

fn golden(name: &str) -> Vec<u8> {
    std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name)).unwrap()
}

/// A run of that version, after a step of `undercurve train model.train.csv --method ce --missing impute --ignore id --set lr=0.05
/// --set decay=1e-4 --steps 2000 --save run.uc`, goes on with the features that it began with, to the same bits.
#[test]
fn a_golden_run_goes_on_as_it_began() {
    let saved = SavedModel::from_bytes(&golden("run.uc")).unwrap();
    let scaled = saved.preparation.encoded();
    assert!(scaled.iter().all(|column| column.shift > 0.0 && column.divisor != 1.0), "{scaled:?}");
    let table = |name: &str| RawTable::parse(&golden(name), Format::Auto, name).unwrap();
    let train = saved.preparation.apply::<f32>(table("model.train.csv")).unwrap();
    let mut trainer = Trainer::load(&saved.trainer, train.into(), None).unwrap();
    assert_eq!(trainer.steps_done(), 1);
    trainer.run().unwrap();
    let mut model = Predictor::<f32>::load(&trainer.predictor().file(saved.preparation).to_bytes()).unwrap();
    let scores = model.predict(&table("model.rows.csv")).unwrap();
    let said = String::from_utf8(golden("run.scores.csv")).unwrap();
    let said: Vec<f32> = said.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect();
    assert_eq!(scores, said);
}

/// The files that the package's test scores with, too, made by `undercurve train model.train.csv --method ce --missing impute
/// --ignore id --fpr 0:0.2 --out model.uc` and `undercurve decide model.uc model.train.csv --threshold "recall>=0.8" --calibrate
/// isotonic --out decided.uc`, and what `undercurve predict model.uc model.rows.csv --id id` said. They are of a version that
/// standardised the columns of categories, too: files keep what they say.
#[test]
fn golden_models_score_golden_rows() {
    let rows = RawTable::parse(&golden("model.rows.csv"), Format::Auto, "model.rows.csv").unwrap();
    for name in ["model", "decided"] {
        let file = golden(&format!("{name}.uc"));
        let colours = SavedModel::from_bytes(&file).unwrap().preparation.encoded().split_off(1);
        assert!(colours.iter().all(|column| column.shift > 0.3 && column.divisor < 0.5), "{colours:?}");
        let mut model = Predictor::<f32>::load(&file).unwrap();
        let scores = model.predict(&rows).unwrap();
        let expected = String::from_utf8(golden(&format!("{name}.scores.csv"))).unwrap();
        let lines: Vec<Vec<&str>> = expected.lines().skip(1).map(|line| line.split(',').collect()).collect();
        assert_eq!((scores.len(), lines.len()), (40, 40));
        for (score, line) in scores.iter().zip(lines) {
            let class = ["no", "yes"][model.class(&[*score]).unwrap()];
            assert_eq!([score.to_string(), model.probability(*score).unwrap().to_string(), class.into()], line[1..]);
        }
    }
}
