//! Saved bytes are the postcard format of the structures below: written by postcard they are the same bytes, and the other
//! way round.

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use undercurve::checkpoint::{CheckpointError, Kind, SavedModel, VERSION, open, seal};
use undercurve::data::{Dataset, Format, Missing, Options, Preparation, RawTable};
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
}

#[derive(Debug, Serialize, Deserialize)]
struct Cursor {
    epoch: [u64; 2],
    position: [u32; 2],
}

#[derive(Debug, Serialize, Deserialize)]
enum Run {
    Scored { steps: u64, drawn: u64, slots: Vec<u8>, counters: [u64; 4], state: Vec<u8>, cursor: Cursor },
    Summed { words: Vec<u64>, real: Vec<u8>, u32: Vec<u32> },
}

#[derive(Debug, Serialize, Deserialize)]
struct Saved {
    config: Setup,
    inputs: u64,
    real_bytes: u8,
    data: u64,
    points: Vec<u8>,
    run: Run,
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
struct Label {
    column: Option<String>,
    positive: String,
    negative: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ModelFile {
    layout: Layout,
    scale: Scale,
    missing: MissingRule,
    label: Label,
    split: Option<f64>,
    real_bytes: u8,
    trainer: Vec<u8>,
}

fn rows() -> Arc<Dataset<f32>> {
    let x = (0..300 * 3u32).map(|k| ((k * k) as f32).sin() + if k % 15 < 3 { 0.5 } else { 0.0 }).collect();
    let y = (0..300).map(|row| u8::from(row % 5 == 0)).collect();
    Arc::new(Dataset::dense(x, y, 3).unwrap())
}

/// Every method, both models, every kind of length.
#[test]
fn runs_are_what_postcard_writes() {
    let data = rows();
    for (at, method) in METHODS.iter().enumerate() {
        let hidden = vec![200, 3];
        let config = Config {
            method: method.name.into(),
            settings: method.params.iter().take(2).map(|p| (p.name.into(), p.default.into())).collect(),
            model: if at % 2 == 0 || method.is_finite_sum() {
                ModelSpec::Linear
            } else {
                ModelSpec::Mlp { hidden, tanh: at % 3 == 0 }
            },
            seed: 1 << (at * 2),
            length: [Length::Method, Length::Steps(1000), Length::Passes(2.5)][at % 3],
            fpr: (0.125, 0.75),
        };
        let mut trainer = Trainer::new(&config, data.clone(), None).unwrap();
        for _ in 0..20 {
            trainer.step().unwrap();
        }
        let bytes = trainer.save();
        let payload = open(Kind::Trainer, &bytes).unwrap();
        let saved: Saved = postcard::from_bytes(payload).unwrap();
        assert_eq!(saved.config.method, method.name);
        assert_eq!((saved.inputs, saved.real_bytes, saved.config.seed), (3, 4, config.seed));
        match &saved.run {
            Run::Scored { steps, .. } => assert_eq!(*steps, trainer.steps_done()),
            Run::Summed { words, .. } => assert_eq!(words.len(), 26),
        }
        let twin = postcard::to_allocvec(&saved).unwrap();
        assert!(twin == payload, "{}", method.name);
        let again = Trainer::load(&seal(Kind::Trainer, &twin), data.clone(), None).unwrap();
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
    ] {
        for split in [None, Some(0.7)] {
            let model = SavedModel { preparation: preparation.clone(), split, real_bytes: 8, trainer: vec![7; 300] };
            let bytes = model.to_bytes();
            let payload = open(Kind::Model, &bytes).unwrap();
            let twin: ModelFile = postcard::from_bytes(payload).unwrap();
            assert_eq!((twin.split, twin.trainer.len()), (split, 300));
            assert!(postcard::to_allocvec(&twin).unwrap() == payload, "{twin:?}");
            assert_eq!(SavedModel::from_bytes(&bytes), Ok(model));
        }
    }
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
    let saved = |method: &str, model: &str| -> Saved {
        let model = ModelSpec::parse(model).unwrap();
        let config = Config { method: method.into(), model, length: Length::Steps(30), ..Config::default() };
        let mut trainer = Trainer::new(&config, data.clone(), None).unwrap();
        (0..3).for_each(|_| assert!(trainer.step().unwrap().is_some()));
        postcard::from_bytes(open(Kind::Trainer, &trainer.save()).unwrap()).unwrap()
    };
    let load = |saved: &Saved| {
        let bytes = seal(Kind::Trainer, &postcard::to_allocvec(saved).unwrap());
        Trainer::load(&bytes, data.clone(), None).err()
    };
    let damaged = Some(TrainerError::Checkpoint(CheckpointError::Damaged));
    for model in ["linear", "mlp-tanh:3"] {
        for (bad, error) in [(f32::NAN, damaged.clone()), (f32::INFINITY, damaged.clone()), (0.5, None)] {
            let mut saved = saved("ai-sarah", model);
            let Run::Summed { real, .. } = &mut saved.run else { panic!("{model}") };
            real[4..8].copy_from_slice(&bad.to_le_bytes());
            assert_eq!(load(&saved), error, "{model} {bad}");
        }
        let mut saved = saved("ai-sarah", model);
        let Run::Summed { real, .. } = &mut saved.run else { panic!("{model}") };
        real.push(0);
        assert_eq!(load(&saved), Some(TrainerError::Checkpoint(CheckpointError::Mismatch("model"))), "{model}");
    }
    let mut saved = saved("soap", "linear");
    let Run::Scored { cursor, .. } = &mut saved.run else { panic!() };
    cursor.position[0] = 301;
    assert_eq!(load(&saved), damaged);
}
