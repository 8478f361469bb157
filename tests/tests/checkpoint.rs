//! Saved bytes are the postcard format of the structures below: written by postcard they are the same bytes, and the other
//! way round.

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use undercurve::Error;
use undercurve::checkpoint::{CheckpointError, Kind, SavedModel, Trained, VERSION, open, seal};
use undercurve::data::{Dataset, Format, Missing, Options, Preparation, RawTable, Target};
use undercurve::metric::Costs;
use undercurve::registry::METHODS;
use undercurve::trainer::{Config, Length, ModelSpec, Predictor, Trainer, TrainerError};
use undercurve_tests::nonsense;

#[derive(Debug, Serialize, Deserialize)]
enum Model {
    Linear,
    Mlp { hidden: Vec<usize>, tanh: bool },
}

#[derive(Debug, Serialize, Deserialize)]
enum Duration {
    Method,
    Steps(u64),
    Passes(f64),
}

#[derive(Debug, Serialize, Deserialize)]
struct Setup {
    method: String,
    settings: Vec<(String, String)>,
    model: Model,
    seed: u64,
    length: Duration,
    fpr: (f64, f64),
    /// Where a network began.
    init: u8,
}

/// Everything of a run that changes.
#[derive(Debug, Serialize, Deserialize)]
struct Batches {
    real: Vec<u8>,
    f64: Vec<u8>,
    u64: Vec<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Sum {
    words: Vec<u64>,
    real: Vec<u8>,
    u32: Vec<u32>,
    stationary: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct Origin {
    inputs: u64,
    real_bytes: u8,
    data: u64,
    classes: Vec<String>,
}

/// The sections of a payload: a tag, a length and so many bytes each.
fn sections(mut payload: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut sections = Vec::new();
    while !payload.is_empty() {
        let (section, rest) = postcard::take_from_bytes(payload).unwrap();
        sections.push(section);
        payload = rest;
    }
    sections
}

fn joined(sections: &[(u8, Vec<u8>)]) -> Vec<u8> {
    sections.iter().flat_map(|section| postcard::to_allocvec(section).unwrap()).collect()
}

/// The section of a tag as a structure, which is what postcard writes of it.
fn section<S: Serialize + serde::de::DeserializeOwned>(sections: &[(u8, Vec<u8>)], tag: char) -> S {
    let (_, bytes) = sections.iter().find(|section| char::from(section.0) == tag).unwrap();
    let value: S = postcard::from_bytes(bytes).unwrap();
    assert!(postcard::to_allocvec(&value).unwrap() == *bytes, "section {tag}");
    value
}

/// The same sections with another structure in one.
fn with<S: Serialize>(sections: &[(u8, Vec<u8>)], tag: char, value: &S) -> Vec<u8> {
    let mut sections = sections.to_vec();
    for section in sections.iter_mut().filter(|section| char::from(section.0) == tag) {
        section.1 = postcard::to_allocvec(value).unwrap();
    }
    joined(&sections)
}

#[derive(Debug, Serialize, Deserialize)]
struct Story {
    valid: Option<f64>,
    costs: Option<(f64, f64, f64)>,
    probabilities: bool,
    best: Option<Vec<u8>>,
    step: u64,
    done: u64,
    of: u64,
    over: bool,
    figures: Vec<(String, f64)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Affine {
    shift: f64,
    divisor: f64,
}

#[derive(Debug, Serialize, Deserialize)]
enum Role {
    Number { mean: f64, map: Affine },
    Category { values: Vec<String>, maps: Vec<Affine>, missing: Option<Affine> },
    MissingNumber { mean: f64, map: Affine, missing: Affine },
}

#[derive(Debug, Serialize, Deserialize)]
struct Column {
    name: String,
    role: Role,
}

#[derive(Debug, Serialize, Deserialize)]
enum Layout {
    Named(Vec<Column>),
    Numbered { cols: usize, maps: Vec<Affine> },
}

#[derive(Debug, Serialize, Deserialize)]
enum Scale {
    None,
    Standard,
    Unit,
}

#[derive(Debug, Serialize, Deserialize)]
enum MissingRule {
    Refuse,
    Impute,
}

#[derive(Debug, Serialize, Deserialize)]
enum Rule {
    Binary { positive: String, negative: Option<String> },
    Classes(Vec<String>),
    Values,
}

#[derive(Debug, Serialize, Deserialize)]
struct Prepared {
    layout: Layout,
    scale: Scale,
    missing: MissingRule,
    na: Vec<String>,
    column: Option<String>,
    rule: Rule,
}

fn rows() -> Arc<Dataset<f32>> {
    let x = (0..300 * 3u32).map(|k| ((k * k) as f32).sin() + if k % 15 < 3 { 0.5 } else { 0.0 }).collect();
    let y = (0..300).map(|row| u8::from(row % 5 == 0)).collect();
    Arc::new(Dataset::dense(x, y, 3).unwrap())
}

/// What must hold of a model is kept with a run, which goes on from there to the same bytes.
#[test]
fn constraints_are_taken_and_resumed() {
    let grouped = |groups: u32| {
        let names = (0..groups).map(|group| format!("g{group}")).collect();
        Arc::new((*rows()).clone().with_groups((0..300).map(|row| row % groups).collect(), names).unwrap())
    };
    let data = grouped(2);
    let config = |method: &str, constraints: &[&str]| Config {
        method: method.into(),
        length: Length::Steps(40),
        constraints: constraints.iter().map(ToString::to_string).collect(),
        ..Config::default()
    };
    let asked = ["gap(fpr@0.1) <= 0.05", "recall[g1] >= 0.8", "precision >= 0.5", "loss[g0] <= 0.7", "fpr <= 0.25"];
    for method in ["sonex", "lagrange", "alexr2"] {
        let mut whole = Trainer::new(&config(method, &asked), data.clone(), None).unwrap();
        let told: Vec<String> = whole.constraints().iter().map(ToString::to_string).collect();
        assert_eq!(told, asked);
        assert!(whole.constraint_functions().is_empty());
        while whole.steps_done() < 20 {
            whole.step().unwrap();
        }
        let functions = whole.constraint_functions();
        assert_eq!(functions.iter().map(|f| f.constraint).collect::<Vec<_>>(), [0, 1, 2, 3, 4], "{method}");
        assert!(functions.iter().all(|f| f.value.is_finite() && f.dual >= 0.0 && f.dual <= f.bound), "{functions:?}");
        assert_eq!(functions[0].pair, Some([0, 1]));
        let mut again = Trainer::<f32>::load(&whole.save(), data.clone(), None).unwrap();
        assert_eq!(again.config(), whole.config());
        assert_eq!(again.constraint_functions(), functions);
        whole.run().unwrap();
        again.run().unwrap();
        assert!(again.save() == whole.save(), "{method}");
    }
    // Without any, what the method is for; the others train under none.
    let usual = Trainer::new(&config("sonex", &[]), grouped(3), None).unwrap().constraints();
    assert_eq!(usual.iter().map(ToString::to_string).collect::<Vec<_>>(), ["gap(fpr) <= 0.05", "gap(tpr) <= 0.05"]);
    assert!(Trainer::new(&config("soap", &[]), data.clone(), None).unwrap().constraints().is_empty());
    let refused = |method: &str, data: &Arc<Dataset<f32>>, constraint: &str| {
        Trainer::new(&config(method, &[constraint]), data.clone(), None).unwrap_err().to_string()
    };
    assert!(
        refused("soap", &data, "fpr <= 0.2").starts_with("method soap trains under no constraints; there are sonex")
    );
    assert!(refused("ooa", &data, "fpr <= 0.2").starts_with("method ooa minimises the loss of the worst groups"));
    assert_eq!(refused("sonex", &data, "fpr < 0.2"), "constraint \"fpr < 0.2\": character 5: expected <= or >=");
    let unknown = "constraint \"fpr[x] <= 0.2\": there is no group \"x\"; the groups are \"g0\", \"g1\"";
    assert_eq!(refused("sonex", &data, "fpr[x] <= 0.2"), unknown);
    assert!(refused("sonex", &rows(), "gap(fpr) <= 0.2").ends_with("the rows have no groups"));
    assert!(refused("sonex", &rows(), "fpr[x] <= 0.2").ends_with("the rows have no groups"));
    assert!(refused("sonex", &data, "loss <= old").ends_with("there is no model to start from, which old is of"));
    assert!(refused("sonex", &data, "loss(a.csv) <= 1").ends_with("the rows of this file are not given"));
    let many = Config { constraints: vec!["fpr <= 0.2".to_string(); 17], ..config("sonex", &[]) };
    let error = Trainer::new(&many, data, None).unwrap_err().to_string();
    assert_eq!(error, "17 constraints are more than there may be, 16");
    // Of groups is what is asked of some, and what nobody is asked of a method of groups.
    let needs = |method: &str, constraints: &[&str]| config(method, constraints).needs_groups();
    assert!(needs("sonex", &[]) && needs("ooa", &[]) && needs("sonex", &["fpr <= 0.2", "recall[a] >= 0.5"]));
    assert!(needs("lagrange", &["gap(tpr@0.1) <= 0.2"]) && !needs("lagrange", &["fpr <= 0.2", "loss <= 1"]));
    assert!(!needs("ce", &[]) && !needs("sonex", &["fpr < 0.2"]));
    let worst = Config { settings: vec![("objective".into(), "cvar".into())], ..config("sonex", &["fpr <= 0.2"]) };
    assert!(worst.needs_groups());
}

/// Counts of a run under constraints that no run comes to are an error, and never a panic or another run.
#[test]
fn counts_of_constrained_runs_are_refused() {
    let names = vec!["a".to_string(), "b".to_string()];
    let data = Arc::new((*rows()).clone().with_groups((0..300).map(|row| row % 2).collect(), names).unwrap());
    for method in ["sonex", "lagrange", "alexr2", "sox"] {
        let config = Config { method: method.into(), length: Length::Steps(40), ..Config::default() };
        let mut trainer = Trainer::new(&config, data.clone(), None).unwrap();
        (0..3).for_each(|_| assert!(trainer.step().unwrap().is_some()));
        let all = sections(open(Kind::Trainer, &trainer.save()).unwrap());
        let sound: Batches = section(&all, 'r');
        let mut refused = 0;
        // (Behind them are the scores, with their weights, that thresholds are solved from.)
        for at in (0..sound.real.len() - 2 * 1536 * 4).step_by(4) {
            let mut run: Batches = section(&all, 'r');
            run.real[at..at + 4].copy_from_slice(&f32::MAX.to_le_bytes());
            let payload = with(&all, 'r', &run);
            let Ok(mut other) = Trainer::<f32>::load(&seal(Kind::Trainer, &payload), data.clone(), None) else {
                continue;
            };
            let count = undercurve::Error::Overflow { what: "the number of batches" };
            refused += usize::from(other.step() == Err(count));
        }
        // Batches, and where and how many scores are kept.
        assert_eq!(refused, 3, "{method}");
    }
}

/// Every method, both models, every kind of length.
#[test]
fn runs_are_what_postcard_writes() {
    let data = rows();
    for (at, method) in METHODS.iter().enumerate() {
        // (A width of two bytes in one of eight.)
        let hidden = vec![if at % 8 == 1 { 200 } else { 7 }, 3];
        let config = Config {
            method: method.name.into(),
            settings: method.params.iter().take(2).map(|p| (p.name.into(), p.default.into())).collect(),
            model: if at % 2 == 0 || method.is_finite_sum() || !undercurve_tests::trains(method.name, "mlp:200,3") {
                ModelSpec::Linear
            } else {
                ModelSpec::Mlp { hidden, tanh: at % 3 == 0 }
            },
            seed: 1 << (at * 2 % 64),
            length: [Length::Method, Length::Steps(1000), Length::Passes(2.5)][at % 3],
            fpr: undercurve_tests::range_of(method.name, (0.125, 0.75)),
            ..Config::default()
        };
        let mut trainer = Trainer::new(&config, data.clone(), None).unwrap();
        for _ in 0..20 {
            trainer.step().unwrap();
        }
        let bytes = trainer.save();
        let payload = open(Kind::Trainer, &bytes).unwrap();
        let all = sections(payload);
        let (setup, origin): (Setup, Origin) = (section(&all, 'c'), section(&all, 'o'));
        assert_eq!((setup.method.as_str(), setup.seed), (method.name, config.seed));
        assert_eq!((origin.inputs, origin.real_bytes, origin.classes), (3, 4, Vec::new()));
        let params: Vec<u8> = section(&all, 'p');
        assert!(
            params == trainer.params().iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>(),
            "{}",
            method.name
        );
        if method.is_finite_sum() {
            assert_eq!(section::<Sum>(&all, 'r').words.len(), 26);
        } else {
            assert_eq!(section::<Batches>(&all, 'r').u64[0], trainer.steps_done());
        }
        assert!(joined(&all) == payload, "{}", method.name);
        let again = Trainer::load(&bytes, data.clone(), None).unwrap();
        assert!(again.save() == bytes, "{}", method.name);
        // Sections stand in any order, and others beside them do no harm.
        let mut other = all.clone();
        other.reverse();
        other.insert(1, (b'?', vec![1, 2, 3]));
        let again = Trainer::load(&seal(Kind::Trainer, &joined(&other)), data.clone(), None).unwrap();
        assert!(again.save() == bytes, "{}", method.name);
    }
}

/// A format this release does not write is named, an older one as well as a newer one.
#[test]
fn other_formats_are_refused_by_their_number() {
    let bytes = seal(Kind::Model, b"payload");
    assert_eq!(open(Kind::Model, &bytes), Ok(&b"payload"[..]));
    for version in [0u16, VERSION + 1, u16::MAX] {
        let mut other = bytes.clone();
        other[12..14].copy_from_slice(&version.to_le_bytes());
        assert_eq!(open(Kind::Model, &other), Err(CheckpointError::Version(version)));
    }
}

/// Named and numbered columns with everything they can hold.
#[test]
fn model_files_are_what_postcard_writes() {
    let table = RawTable::parse(b"size,colour,label\n1,red,a\n3,,b\n,blue,a\n", Format::Auto, "some.csv").unwrap();
    let impute = Options { missing: Missing::Impute, ..Options::default() };
    let sparse = RawTable::parse(b"1 1:3 2:4\n0 2:2\n", Format::Auto, "some.svm").unwrap();
    for preparation in [
        Preparation::fit(&table, &impute).unwrap(),
        Preparation::fit(&table, &Options { positive: Some("a".into()), ..impute }).unwrap(),
        Preparation::fit(&sparse, &Options::default()).unwrap(),
        Preparation::fit(&sparse, &Options { target: Target::Classes, ..Options::default() }).unwrap(),
        Preparation::fit(&sparse, &Options { target: Target::Values, ..Options::default() }).unwrap(),
    ] {
        for split in [None, Some(0.7)] {
            let trained = Trained { step: 7, done: 9, of: 300, over: true, figures: vec![("test ap".into(), 0.5)] };
            let model = SavedModel {
                split,
                valid: split.map(|s| s / 2.0),
                threshold: split.map(|s| -s),
                costs: split.map(|s| Costs::new(1.0, 20.0, s).unwrap()),
                probabilities: split.is_some(),
                best: split.map(|_| vec![3; 9]),
                trained: split.map_or_else(Trained::default, |_| trained),
                ..SavedModel::new(preparation.clone(), 8, vec![7; 300])
            };
            let bytes = model.to_bytes();
            let payload = open(Kind::Model, &bytes).unwrap();
            let all = sections(payload);
            let twin: Prepared = section(&all, 'f');
            let positive = matches!(&twin.rule, Rule::Binary { positive, .. } if Some(positive.as_str()) == preparation.positive());
            let classes = matches!(&twin.rule, Rule::Classes(names) if names == preparation.classes());
            assert!(positive || classes || matches!(twin.rule, Rule::Values), "{twin:?}");
            assert_eq!(section::<Option<f64>>(&all, 's'), split);
            let story: Story = section(&all, 'y');
            assert_eq!(
                (story.valid, story.best.as_ref(), story.over),
                (model.valid, model.best.as_ref(), split.is_some())
            );
            assert_eq!(story.probabilities, split.is_some());
            assert_eq!((story.step, story.done, story.of), (model.trained.step, model.trained.done, model.trained.of));
            assert_eq!((story.costs, &story.figures), (split.map(|s| (1.0, 20.0, s)), &model.trained.figures));
            let raw = |tag| &all.iter().find(|section| char::from(section.0) == tag).unwrap().1;
            assert_eq!((joined(&all), raw('b'), raw('t').len()), (payload.to_vec(), &vec![8], 300));
            assert_eq!(SavedModel::from_bytes(&bytes), Ok(model));
        }
    }
}

/// The model file of each language, cut anywhere or with any bit flipped: 8,829 copies, all refused with an error that says what is wrong.
#[test]
fn damaged_model_files_are_refused() {
    use CheckpointError::{Damaged, NotOurs, Version};
    let mut copies = 0;
    for name in ["c", "command-line", "npm", "python", "rust"] {
        let path = format!("{}/golden/doors/{name}.uc", env!("CARGO_MANIFEST_DIR"));
        let whole = std::fs::read(path).unwrap();
        assert!(SavedModel::from_bytes(&whole).is_ok() && Predictor::<f32>::load(&whole).is_ok(), "{name}");
        let cuts = (0..whole.len()).map(|end| whole[..end].to_vec());
        let flips = (0..8 * whole.len()).map(|bit| {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            bytes
        });
        for bytes in cuts.chain(flips) {
            let file = SavedModel::from_bytes(&bytes).err();
            assert!(matches!(file, Some(Damaged | NotOurs | Version(_))), "{name}: {file:?}");
            assert_eq!(Predictor::<f32>::load(&bytes).err(), file.map(TrainerError::Checkpoint), "{name}");
            copies += 1;
        }
    }
    assert_eq!(copies, 8829);
}

/// Payloads that are cut short, or changed anywhere, with a checksum that fits: an error or another run, never a panic.
#[test]
fn sealed_nonsense_is_refused() {
    let data = rows();
    for (method, model, steps) in [
        ("soap", "linear", 1),
        ("ai-sarah", "linear", 1),
        ("ai-sarah", "mlp-tanh:3", 1),
        ("ai-sarah", "mlp-tanh:3", 9),
        ("auc-exact", "linear", 4),
        ("ppd-sg", "linear", 3),
        ("ppd-sg", "mlp:3", 9),
    ] {
        let settings = match method {
            "ppd-sg" => [("stage", "4"), ("reset", "2")].map(|(k, v)| (k.to_string(), v.to_string())).to_vec(),
            _ => Vec::new(),
        };
        let model = ModelSpec::parse(model).unwrap();
        let config = Config { method: method.into(), settings, model, length: Length::Steps(30), ..Config::default() };
        let mut trainer = Trainer::new(&config, data.clone(), None).unwrap();
        for _ in 0..steps {
            trainer.step().unwrap();
        }
        let bytes = trainer.save();
        let payload = open(Kind::Trainer, &bytes).unwrap();
        for end in 0..payload.len() {
            let error = Trainer::load(&seal(Kind::Trainer, &payload[..end]), data.clone(), None).err();
            assert_eq!(error, Some(TrainerError::Checkpoint(CheckpointError::Damaged)), "{method} cut at {end}");
        }
        for at in 0..payload.len() {
            for bad in nonsense(payload, at) {
                let bad = seal(Kind::Trainer, &bad);
                if let Ok(mut other) = Trainer::load(&bad, data.clone(), None) {
                    let _ = other.step();
                }
                let _ = Predictor::<f64>::load(&bad);
            }
        }
    }
}

/// Numbers of a finite sum that are cut, or not finite, and a sampler's position that the data do not have.
#[test]
fn numbers_that_no_run_has_are_refused() {
    let data = rows();
    let saved = |method: &str, model: &str| {
        let model = ModelSpec::parse(model).unwrap();
        let config = Config { method: method.into(), model, length: Length::Steps(30), ..Config::default() };
        let mut trainer = Trainer::new(&config, data.clone(), None).unwrap();
        (0..3).for_each(|_| assert!(trainer.step().unwrap().is_some()));
        sections(open(Kind::Trainer, &trainer.save()).unwrap())
    };
    let load = |payload: &[u8]| Trainer::load(&seal(Kind::Trainer, payload), data.clone(), None).err();
    let damaged = Some(TrainerError::Checkpoint(CheckpointError::Damaged));
    for model in ["linear", "mlp-tanh:3"] {
        let all = saved("ai-sarah", model);
        for (bad, error) in [(f32::NAN, damaged.clone()), (f32::INFINITY, damaged.clone()), (0.5, None)] {
            let mut sum: Sum = section(&all, 'r');
            sum.real[4..8].copy_from_slice(&bad.to_le_bytes());
            assert_eq!(load(&with(&all, 'r', &sum)), error, "{model} {bad}");
        }
        let mut sum: Sum = section(&all, 'r');
        sum.real.push(0);
        let error = load(&with(&all, 'r', &sum));
        assert_eq!(error, Some(TrainerError::Checkpoint(CheckpointError::Mismatch("model"))), "{model}");
    }
    let all = saved("soap", "linear");
    assert_eq!(load(&joined(&all)), None);
    let sound: Batches = section(&all, 'r');
    // The last eight counts: epochs and positions of the cursor, and of the one before it.
    let from = sound.u64.len() - 8;
    for (at, bad) in [(from + 2, 301), (from + 3, 61), (0, u64::MAX), (1, 1 << 63), (2, u64::MAX), (3, 3)] {
        let mut run: Batches = section(&all, 'r');
        run.u64[at] = bad;
        assert_eq!(load(&with(&all, 'r', &run)), damaged, "{at}");
    }
    let mut short: Batches = section(&all, 'r');
    short.u64.pop();
    assert_eq!(load(&with(&all, 'r', &short)), damaged);
    for bad in [f32::NAN, f32::INFINITY] {
        let mut run: Batches = section(&all, 'r');
        run.real[..4].copy_from_slice(&bad.to_le_bytes());
        assert_eq!(load(&with(&all, 'r', &run)), damaged);
    }
    // What was saved of data of several classes is not of these.
    let mut origin: Origin = section(&all, 'o');
    origin.classes = vec!["a".into(), "b".into(), "c".into()];
    let mismatch = Some(TrainerError::Checkpoint(CheckpointError::Mismatch("training data set")));
    assert_eq!(load(&with(&all, 'o', &origin)), mismatch);
}

/// Counts beyond those of any run, in a file that is whole otherwise: an error or another run, never a panic.
#[test]
fn counts_that_no_run_reaches_are_refused() {
    let labels: Vec<u32> = (0..300).map(|row| row % 3).collect();
    let several = Dataset::clone(&rows()).with_classes(labels, ["a", "b", "c"].map(String::from).to_vec()).unwrap();
    let several = Arc::new(several);
    for (method, setting, data) in
        [("ldam", ("defer", "2"), rows()), ("ppd-sg", ("prior", "online"), rows()), ("ppd-sg", ("pairs", "2"), several)]
    {
        // (A running prior wants batches drawn from all rows.)
        let sampling = ("sampling", if setting.0 == "prior" { "uniform" } else { "stratified" });
        let settings = [setting, sampling, ("pretrain", "0")];
        let settings = settings.iter().filter(|(name, _)| *name != "sampling" || data.classes().is_empty());
        let config = Config {
            method: method.into(),
            settings: settings.map(|&(name, value)| (name.into(), value.into())).collect(),
            length: Length::Steps(30),
            ..Config::default()
        };
        let mut trainer = Trainer::new(&config, Arc::clone(&data), None).unwrap();
        (0..3).for_each(|_| assert!(trainer.step().unwrap().is_some()));
        let all = sections(open(Kind::Trainer, &trainer.save()).unwrap());
        let sound: Batches = section(&all, 'r');
        let mut refused = 0;
        for at in (0..sound.real.len()).step_by(4) {
            let mut run: Batches = section(&all, 'r');
            run.real[at..at + 4].copy_from_slice(&f32::MAX.to_le_bytes());
            let payload = with(&all, 'r', &run);
            let Ok(mut other) = Trainer::<f32>::load(&seal(Kind::Trainer, &payload), Arc::clone(&data), None) else {
                continue;
            };
            let count = Error::Overflow { what: "the number of updates" };
            refused += usize::from((0..3).any(|_| other.step() == Err(count)));
        }
        // The count of updates has two values.
        assert_eq!(refused, if setting.0 == "prior" { 0 } else { 2 }, "{method} {setting:?}");
    }
}
