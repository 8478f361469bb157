//! One table over everything in the registry, and nothing outside it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use undercurve::batch::{Batch, Drawn};
use undercurve::estimator::{Estimator, Grad};
use undercurve::registry::{Domain, METHODS, Method, OPTIMIZERS, SettingError, Settings, method};
use undercurve::surrogate::SURROGATES;
use undercurve::{Error, Scratch};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn files_in(folder: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".rs") && name != "mod.rs").map(|name| format!("{folder}/{name}")).collect()
}

/// Files that are shared by several entries and are none themselves, and objectives of several classes, which have no
/// trainer.
const SHARED: &[&str] = &[
    "core/src/algorithm/schedule.rs",
    "core/src/algorithm/stages.rs",
    "core/src/estimator/count.rs",
    "core/src/estimator/auc_multiclass.rs",
    "core/src/estimator/softmax.rs",
];

#[test]
fn every_file_has_its_entry_and_every_entry_its_file() {
    let mut named: BTreeSet<String> = METHODS.iter().flat_map(|m| m.files).map(|f| (*f).to_string()).collect();
    named.extend(OPTIMIZERS.iter().map(|o| o.file.to_string()));
    for file in &named {
        assert!(root().join(file).is_file(), "the registry names {file}, which does not exist");
    }
    for folder in ["core/src/estimator", "core/src/algorithm"] {
        for file in files_in(folder) {
            assert!(named.contains(&file) || SHARED.contains(&file.as_str()), "{file} has no entry in the registry");
        }
    }
    let surrogates = files_in("core/src/surrogate");
    for (name, _, _) in SURROGATES {
        let file = format!("core/src/surrogate/{}.rs", name.replace('-', "_"));
        assert!(surrogates.contains(&file), "surrogate {name} has no file {file}");
    }
    assert_eq!(surrogates.len(), SURROGATES.len(), "a file without an entry in SURROGATES: {surrogates:?}");
}

#[test]
fn names_are_unique_and_defaults_are_inside_their_domains() {
    let names: BTreeSet<&str> = METHODS.iter().map(|m| m.name).collect();
    assert_eq!(names.len(), METHODS.len());
    for m in METHODS {
        assert_eq!(method(m.name).map(|m| m.title), Some(m.title));
        let params: BTreeSet<&str> = m.params.iter().map(|p| p.name).collect();
        assert_eq!(params.len(), m.params.len(), "{}: a parameter twice", m.name);
        for p in m.params {
            let pair = [(p.name, p.default)];
            assert!(Settings::new(m, &pair).is_ok(), "{} {}: default {} outside its domain", m.name, p.name, p.default);
            assert!(!p.about.is_empty());
            for bad in outside(p.domain) {
                let pair = [(p.name, bad.as_str())];
                let error = Settings::new(m, &pair).err();
                assert!(matches!(error, Some(SettingError::Value { at: 0, .. })), "{} {} = {bad}", m.name, p.name);
            }
        }
    }
    assert!(method("soup").is_none());
}

fn outside(domain: Domain) -> Vec<String> {
    let mut bad: Vec<String> = ["", "nan", "x", "-1e40", "1e40"].map(String::from).to_vec();
    if let Domain::Count { low, .. } = domain {
        bad.extend(["1.5".to_string(), "-1".to_string()]);
        if low > 0 {
            bad.push((low - 1).to_string());
        }
    }
    bad
}

fn score_methods() -> impl Iterator<Item = &'static Method> {
    METHODS.iter().filter(|m| Settings::new(m, &[]).is_ok_and(|s| s.estimator::<f64>().is_ok()))
}

/// Every estimator on ordinary and on hostile batches: the gradient is the value's own where there is no state to
/// average, everything is finite or a typed error, and an error leaves state and gradient alone.
#[test]
fn every_estimator_keeps_the_contract() {
    let ordinary = [-1.5, 0.25, 0.25, -0.0, 0.0, 3.0, 0.25, -2.0];
    let hostile: [[f64; 8]; 6] = [
        [0.0; 8],
        [1e308; 8],
        [-1e308, 1e308, -1e308, 1e308, 1e308, -1e308, 1e308, -1e308],
        [1e300, 0.0, 1.0, 2.0, -1e300, 0.0, 1.0, 2.0],
        [f64::MIN_POSITIVE, -f64::MIN_POSITIVE, 5e-324, -5e-324, 0.0, -0.0, 1.0, -1.0],
        [700.0, -700.0, 750.0, -750.0, 40.0, -40.0, 17.0, -17.0],
    ];
    for m in score_methods() {
        let estimator = Settings::new(m, &[]).unwrap().estimator::<f64>().unwrap();
        let (low, high) = estimator.aux();
        let aux = vec![0.0; low + high];
        for (scores, must) in [(ordinary, true)].into_iter().chain(hostile.map(|s| (s, false))) {
            for (negatives, drawn) in (0..=8u32).flat_map(|k| [(k, Drawn::Stratified), (k, Drawn::All)]) {
                let starts = [0, negatives, 8];
                let population = [negatives.max(1) * 10, (8 - negatives).max(1) * 10];
                let slots: Vec<u32> = (0..8 - negatives).collect();
                let batch = Batch::new(&scores, 1, &starts, &population, drawn).unwrap().with_slots(&slots);
                let need = estimator.need(batch.shape());
                let (mut real, mut f64s) = (vec![f64::NAN; need.real], vec![f64::NAN; need.f64]);
                let (mut u32s, mut u64s) = (vec![7; need.u32], vec![7; need.u64]);
                let mut state = vec![0.0; estimator.state_len(80)];
                let mut grad = vec![123.0; 8];
                let mut grad_aux = vec![123.0; aux.len()];
                let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
                let before = state.clone();
                let out = Grad { scores: &mut grad, aux: &mut grad_aux };
                match estimator.update(&batch, &aux, &mut state, scratch, out) {
                    Ok(value) => {
                        let all = grad.iter().chain(&grad_aux).chain(&state).chain([&value]);
                        assert!(all.clone().all(|x| x.is_finite()), "{} {scores:?} {negatives}: {all:?}", m.name);
                    }
                    Err(error) => {
                        assert_eq!(state, before, "{}: state changed by {error}", m.name);
                        assert!(grad.iter().all(|&g| g == 123.0), "{}: gradient changed by {error}", m.name);
                        let both = (2..=6).contains(&negatives);
                        // Objectives over the whole data take nothing less.
                        let part = matches!(error, Error::Unsupported { .. }) && drawn != Drawn::All;
                        assert!(!(must && both) || part, "{} {negatives}: {error}", m.name);
                    }
                }
            }
        }
    }
}

#[test]
fn short_memory_is_a_length_error() {
    let scores = [0.0, 1.0, 2.0, 3.0];
    let batch = Batch::new(&scores, 1, &[0, 2, 4], &[20, 20], Drawn::All).unwrap().with_slots(&[0, 1]);
    for m in score_methods() {
        let estimator = Settings::new(m, &[]).unwrap().estimator::<f64>().unwrap();
        let (low, high) = estimator.aux();
        let aux = vec![0.0; low + high];
        let need = estimator.need(batch.shape());
        let run = |real: usize, out: usize| {
            let (mut real, mut f64s) = (vec![0.0; real], vec![0.0; need.f64]);
            let (mut u32s, mut u64s) = (vec![0; need.u32], vec![0; need.u64]);
            let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
            let mut state = vec![0.0; estimator.state_len(20)];
            let (mut grad, mut grad_aux) = (vec![0.0; out], vec![0.0; aux.len()]);
            estimator.update(&batch, &aux, &mut state, scratch, Grad { scores: &mut grad, aux: &mut grad_aux })
        };
        assert!(run(need.real, 4).is_ok(), "{}", m.name);
        assert!(matches!(run(need.real, 3), Err(Error::Length { .. })), "{}: short gradient", m.name);
        if need.real > 0 {
            assert!(matches!(run(need.real - 1, 4), Err(Error::Length { .. })), "{}: short scratch", m.name);
        }
    }
}

/// ARCHITECTURE.md opens with the table made from the registry. `UNDERCURVE_BLESS=1` writes it anew.
#[test]
fn the_table_in_the_documentation_is_the_registry() {
    let path = root().join("ARCHITECTURE.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (begin, end) = ("<!-- methods: begin -->\n", "<!-- methods: end -->");
    let (head, rest) = text.split_once(begin).expect("the begin mark");
    let (table, tail) = rest.split_once(end).expect("the end mark");
    let want = undercurve_tests::docs::methods_table();
    if std::env::var_os("UNDERCURVE_BLESS").is_some() {
        std::fs::write(&path, format!("{head}{begin}{want}{end}{tail}")).unwrap();
    } else {
        assert!(table == want, "ARCHITECTURE.md is behind the registry: run this test with UNDERCURVE_BLESS=1");
    }
}
