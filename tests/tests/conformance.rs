//! One table over everything in the registry, and nothing outside it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use undercurve::algorithm::{Adam, Algorithm, Answer, AnyAlgorithm, COUNTERS, Pesg, Stages, State};
use undercurve::batch::{Batch, Drawn};
use undercurve::data::Rows;
use undercurve::estimator::{Estimator, Grad};
use undercurve::finite_sum::{
    AiSarah, AnySum, BoundedAiSarah, FiniteSum, Glm, GlmLoss, Memory, Response, Sarah, Svrg, loss_of,
};
use undercurve::registry::{
    self, Domain, METHODS, Method, OPTIMIZERS, PRESETS, Scope, SettingError, class_methods, method,
};
use undercurve::sampler::AnySampler;
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

/// Files that are shared by several entries and are none themselves.
const SHARED: &[&str] = &[
    "core/src/algorithm/schedule.rs",
    "core/src/algorithm/stages.rs",
    "core/src/algorithm/step_rule.rs",
    "core/src/estimator/contrastive.rs",
    "core/src/estimator/count.rs",
    "core/src/estimator/fcco.rs",
    "core/src/estimator/levels.rs",
    "core/src/estimator/pair.rs",
    "core/src/finite_sum/algorithm.rs",
    "core/src/finite_sum/any_sum.rs",
    "core/src/finite_sum/draw.rs",
    "core/src/finite_sum/glm.rs",
    "core/src/finite_sum/largest_eigenvalue.rs",
    "core/src/finite_sum/interleaved.rs",
    "core/src/finite_sum/lent.rs",
    "core/src/finite_sum/network.rs",
    "core/src/finite_sum/oracle.rs",
    "core/src/finite_sum/plain.rs",
    "core/src/finite_sum/run.rs",
    "core/src/finite_sum/settings.rs",
    "core/src/finite_sum/vectors.rs",
    "core/src/finite_sum/windows.rs",
];

#[test]
fn every_file_has_its_entry_and_every_entry_its_file() {
    let mut named: BTreeSet<String> =
        METHODS.iter().chain(class_methods()).flat_map(|m| m.files).map(|f| (*f).to_string()).collect();
    named.extend(OPTIMIZERS.iter().map(|o| o.file.to_string()));
    for file in &named {
        assert!(root().join(file).is_file(), "the registry names {file}, which does not exist");
    }
    for folder in ["core/src/estimator", "core/src/algorithm", "core/src/finite_sum"] {
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
    let several: BTreeSet<&str> = class_methods().map(|m| m.name).collect();
    assert_eq!(several.len(), class_methods().count());
    for m in METHODS.iter().chain(class_methods()) {
        let own = [method(m.name), method(m.name).and_then(Method::of_classes)]
            .into_iter()
            .flatten()
            .any(|found| found.title == m.title);
        assert!(own, "{} is not found by its name", m.name);
        let params: BTreeSet<&str> = m.params.iter().map(|p| p.name).collect();
        assert_eq!(params.len(), m.params.len(), "{}: a parameter twice", m.name);
        for p in m.params {
            let pair = [(p.name, p.default)];
            assert!(m.settings(&pair).is_ok(), "{} {}: default {} outside its domain", m.name, p.name, p.default);
            assert!(!p.about.is_empty());
            for bad in outside(p.domain) {
                let pair = [(p.name, bad.as_str())];
                let error = m.settings(&pair).err();
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

/// The texts of a folder's files and of those in the folders inside it.
fn sources(folder: &Path, out: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else {
            out.push(std::fs::read_to_string(path).unwrap());
        }
    }
}

/// Estimators and algorithms: a test makes each, by its type or by the method whose file it is in.
#[test]
fn every_part_is_in_a_test() {
    let mut tests = Vec::new();
    for folder in ["tests/tests", "tests/src"] {
        sources(&root().join(folder), &mut tests);
    }
    let words: BTreeSet<&str> =
        tests.iter().flat_map(|text| text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))).collect();
    let (mut parts, mut lacking) = (0, Vec::new());
    for folder in ["estimator", "algorithm"] {
        let mut texts = Vec::new();
        sources(&root().join("core/src").join(folder), &mut texts);
        for text in &texts {
            let methods = text.lines().filter_map(|line| line.trim().strip_prefix("name: \"")?.strip_suffix("\","));
            let by_method = methods.into_iter().any(|name| words.contains(name));
            for line in text.lines().filter_map(|line| line.strip_prefix("impl")) {
                let Some((of, whom)) = line.split_once(" for ") else { continue };
                let of = of.trim_end_matches("<T>").rsplit(' ').next().unwrap_or_default();
                if of == "Estimator" || of == "Algorithm" {
                    let whom = whom.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                    parts += 1;
                    if !by_method && !words.contains(whom) {
                        lacking.push(whom.to_string());
                    }
                }
            }
        }
    }
    assert!(lacking.is_empty(), "no test of {lacking:?}");
    assert!(parts > 35, "{parts}");
}

/// Estimators, algorithms, samplers, models, finite sums and what minimises them: the documentation of each has an example.
#[test]
fn every_part_has_an_example() {
    const TRAITS: [&str; 6] = ["Estimator", "Algorithm", "Sampler", "Model", "FiniteSum", "Gradients"];
    let mut texts = Vec::new();
    for folder in ["estimator", "algorithm", "sampler", "model", "finite_sum"] {
        sources(&root().join("core/src").join(folder), &mut texts);
    }
    let name = |text: &str| text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_string();
    let (mut parts, mut shown, mut without) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for text in &texts {
        let mut example = false;
        for line in text.lines() {
            if let Some((of, whom)) = line.strip_prefix("impl").and_then(|line| line.split_once(" for ")) {
                let of = of.trim_end_matches("<T>");
                if TRAITS.iter().any(|known| of.rsplit(' ').next() == Some(known)) {
                    parts.insert(name(whom));
                }
            }
            if let Some(whom) = line.strip_prefix("pub struct ") {
                if example { &mut shown } else { &mut without }.insert(name(whom));
            }
            let goes_on = line.starts_with("///") || line.starts_with("#[") || line.starts_with("// ");
            example = goes_on && (example || line.starts_with("/// ```"));
        }
    }
    let lacking: Vec<_> = parts.intersection(&without).collect();
    assert!(lacking.is_empty(), "no example in the documentation of {lacking:?}");
    assert!(parts.intersection(&shown).count() > 50, "{parts:?}");
}

fn score_methods() -> impl Iterator<Item = &'static Method> {
    METHODS.iter().filter(|m| m.settings(&[]).is_ok_and(|s| m.estimator(&s).is_ok()))
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
        let estimator = m.estimator(&m.settings(&[]).unwrap()).unwrap();
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

/// An algorithm may ask for another weight of new values: whose rows own a part of the state, moves it at the batch's rate.
#[test]
fn states_of_rows_move_at_the_rate_of_the_batch() {
    let scores = [[-1.5, 0.25, 0.5, -0.5, 0.0, 3.0, 0.75, -2.0], [0.5, -0.25, 1.5, 0.0, 1.0, -1.0, 2.0, 0.25]];
    let mut names = Vec::new();
    for m in score_methods() {
        let estimator = m.estimator(&m.settings(&[]).unwrap()).unwrap();
        if estimator.state_len(30) == estimator.state_len(60) {
            continue;
        }
        let state_at = |rate| {
            let mut state = vec![0.0f64; estimator.state_len(30)];
            let terms = 0..Estimator::<f64>::terms(&estimator);
            for (term, scores, rate) in
                terms.flat_map(|term| [(term, &scores[0], None), (term, &scores[1], Some(rate))])
            {
                let batch = Batch::new(scores, 1, &[0, 5, 8], &[50, 30], Drawn::Stratified).unwrap();
                let batch = batch.with_slots(&[0, 1, 2]).of_term(term).at_rate(rate);
                let need = Estimator::<f64>::need(&estimator, batch.shape());
                let (mut real, mut f64s) = (vec![0.0; need.real], vec![0.0; need.f64]);
                let (mut u32s, mut u64s) = (vec![0; need.u32], vec![0; need.u64]);
                let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
                Estimator::<f64>::track(&estimator, &batch, &mut state, scratch).unwrap();
            }
            state
        };
        assert_ne!(state_at(0.25), state_at(0.75), "{}: its state moves at a rate of its own", m.name);
        names.push(m.name);
    }
    assert!(names.len() >= 5, "{names:?}");
}

/// Every step rule on ordinary and on huge gradients: everything is finite, or a typed error that changes nothing.
#[test]
fn every_step_rule_keeps_the_contract() {
    let ce = method("ce").unwrap();
    let mut names = Vec::new();
    for rule in OPTIMIZERS {
        let pairs = [("optimizer", rule.name)];
        let Ok(settings) = ce.settings(&pairs) else { continue };
        let (_, algorithm) = ce.parts(&settings.with_scope(Scope { steps: 100, ..Scope::default() })).unwrap();
        for grad in [[1.0, -1.0, 0.5], [1e200, 1.0, 0.0], [1.7e308, -1.7e308, 1.7e308]] {
            let mut points = vec![0.5f64; 3 * Algorithm::<f64>::points(&algorithm)];
            let mut slots = vec![0.0f64; Algorithm::<f64>::slots_len(&algorithm, 3)];
            let mut counters = [0; COUNTERS];
            for _ in 0..3 {
                let before = (points.clone(), slots.clone(), counters);
                let mut state = State { points: &mut points, slots: &mut slots, counters: &mut counters };
                let told = algorithm.tell(&mut state, Answer::Gradient { value: 1.0, grad: &grad });
                let finite = points.iter().chain(&slots).all(|x| x.is_finite());
                assert!(finite, "{} {grad:?}: {points:?} {slots:?}", rule.name);
                assert!(told.is_ok() || (points.clone(), slots.clone(), counters) == before, "{} {grad:?}", rule.name);
                assert!(told.is_ok() || grad[0] > 1.0, "{} {grad:?}: {told:?}", rule.name);
            }
        }
        names.push(rule.name);
    }
    assert!(names.len() >= 6, "{names:?}");
}

fn sum_methods() -> impl Iterator<Item = &'static Method> {
    METHODS.iter().filter(|m| m.is_finite_sum())
}

/// Twelve rows of three columns, each scaled by `size`, sparse or dense.
struct SmallSum {
    ptr: Vec<usize>,
    col: Vec<u32>,
    val: Vec<f64>,
    dense: Vec<f64>,
}

const SMALL_LABELS: [u8; 12] = [1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0];

impl SmallSum {
    fn new(size: f64) -> Self {
        let mut sum = Self { ptr: vec![0], col: vec![], val: vec![], dense: vec![] };
        for i in 0..12u32 {
            for j in 0..3u32 {
                let x = if (i + j) % 3 == 0 { 0.0 } else { size * (f64::from((7 * i + 5 * j) % 11) / 5.0 - 1.0) };
                sum.dense.push(x);
                if x != 0.0 {
                    sum.col.push(j);
                    sum.val.push(x);
                }
            }
            sum.ptr.push(sum.col.len());
        }
        sum
    }

    fn rows(&self, sparse: bool) -> Rows<'_, f64> {
        if sparse { Rows::csr(&self.ptr, &self.col, &self.val, 3) } else { Rows::dense(&self.dense, 3) }.unwrap()
    }
}

/// Every finite-sum method with its defaults: short memory is a length error, sparse and dense rows give the same run,
/// the gradient shrinks, and hostile rows end in an error that leaves the iterate where it was.
#[test]
fn every_finite_sum_keeps_the_contract() {
    for m in sum_methods() {
        let settings = m.settings(&[]).unwrap();
        assert!(m.estimator(&settings).is_err(), "{} is a finite sum and has no estimator", m.name);
        let (loss, lambda) = loss_of(&settings, 12).unwrap();
        assert_eq!(lambda, 1.0 / 12.0);
        for size in [1.0, 1e-150, 1e20, 1e150] {
            let data = SmallSum::new(size);
            let mut ends: Vec<Vec<f64>> = Vec::new();
            for sparse in [false, true] {
                let glm = Glm::new(data.rows(sparse), Response::Labels(&SMALL_LABELS), loss, lambda, true);
                let Ok(glm) = glm else {
                    assert!(size > 1e100, "{} {size}", m.name);
                    continue;
                };
                let smooth = glm.max_row_norm().powi(2) * loss.curvature_bound() + lambda;
                let algorithm = m.finite_sum(&settings, 12, smooth).unwrap();
                let need = algorithm.need(&glm).unwrap();
                let (mut real, mut counts) = (vec![7.0; need.real], vec![7; need.u32]);
                let mut memory = Memory { real: &mut real[1..], u32: &mut counts, scratch: &mut [] };
                let short = algorithm.start(&glm, &[0.0; 4], 1, &mut memory);
                assert!(matches!(short, Err(Error::Length { .. })), "{}: short memory", m.name);
                let mut memory = Memory { real: &mut real, u32: &mut counts, scratch: &mut [] };
                assert!(matches!(algorithm.start(&glm, &[0.0; 3], 1, &mut memory), Err(Error::Length { .. })));
                let mut run = algorithm.start(&glm, &[0.0; 4], 1, &mut memory).unwrap();
                assert!(algorithm.minibatch(&glm, &run, memory.view()).is_empty(), "{}", m.name);
                let (mut w, mut before, mut grad) = ([0.0; 4], [0.0; 4], [0.0; 4]);
                let first = glm.gradient(&w, &mut grad).unwrap();
                let mut failed = false;
                for _ in 0..600 {
                    before = w;
                    failed = algorithm.step(&glm, &mut run, &mut memory).is_err();
                    algorithm.params(&glm, &run, memory.view(), &mut w).unwrap();
                    assert!(w.iter().all(|w| w.is_finite()), "{} {size}", m.name);
                    if failed {
                        break;
                    }
                }
                if failed {
                    assert_eq!(w, before, "{} {size}: an error moved the iterate", m.name);
                }
                assert!(!failed || size > 1.0, "{} {size}", m.name);
                if size == 1.0 {
                    let last = glm.gradient(&w, &mut grad).unwrap();
                    assert!(last < 0.1 * first, "{}: {first:e} to {last:e}", m.name);
                    assert!(algorithm.minibatch(&glm, &run, memory.view()).iter().all(|&i| i < 12));
                    ends.push(w.to_vec());
                }
            }
            if let [dense, sparse] = &ends[..] {
                let apart = dense.iter().zip(sparse).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
                assert!(apart < 1e-6, "{}: {apart:e} between dense and sparse rows", m.name);
            }
        }
    }
}

#[test]
fn short_memory_is_a_length_error() {
    let scores = [0.0, 1.0, 2.0, 3.0];
    let batch = Batch::new(&scores, 1, &[0, 2, 4], &[20, 20], Drawn::All).unwrap().with_slots(&[0, 1]);
    for m in score_methods() {
        let estimator = m.estimator(&m.settings(&[]).unwrap()).unwrap();
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

/// core/METHODS.md is the table made from the registry, core/METRICS.md that of the metrics. `UNDERCURVE_BLESS=1` writes them anew.
#[test]
fn the_tables_in_the_documentation_are_those_of_the_code() {
    use undercurve_tests::docs::{methods_table, metrics_table};
    for (file, mark, want) in [("METHODS.md", "methods", methods_table()), ("METRICS.md", "metrics", metrics_table())] {
        let path = root().join("core").join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        let (begin, end) = (format!("<!-- {mark}: begin -->\n"), format!("<!-- {mark}: end -->"));
        let (head, rest) = text.split_once(&begin).expect("the begin mark");
        let (table, tail) = rest.split_once(&end).expect("the end mark");
        if std::env::var("UNDERCURVE_BLESS").is_ok_and(|word| word == "1") {
            std::fs::write(&path, format!("{head}{begin}{want}{end}{tail}")).unwrap();
        } else {
            assert!(table == want, "core/{file} is behind the code: run this test with UNDERCURVE_BLESS=1");
        }
    }
}

/// Everything that a run of a method is made of.
fn parts(method: &'static Method, pairs: &[(&str, &str)]) -> String {
    let settings = method.settings(pairs).unwrap();
    let several = class_methods().any(|other| std::ptr::eq(other, method));
    let lengths = (settings.count("steps"), settings.number("passes"), settings.pretrain_steps());
    let restarts = (settings.restarts(false), settings.restarts(true));
    let path = (settings.count("folds"), settings.text("choose"));
    let mut parts = format!("{lengths:?} {restarts:?} {path:?} {:?}", settings.pull());
    if method.is_finite_sum() {
        return parts + &format!("{:?} {:?}", loss_of(&settings, 1000), method.finite_sum(&settings, 1000, 2.0));
    }
    let settings = settings.with_scope(Scope { classes: if several { 3 } else { 2 }, steps: 100, ..Scope::default() });
    parts += &format!("{:?} {:?}", method.parts(&settings), Adam::of_pretraining(&settings, 10));
    if !method.is_exact() {
        parts += &format!("{:?}", AnySampler::from_settings(&settings, 1000));
    }
    parts
}

/// Each parameter changes something of what a run is made of, by itself or beside another that brings it into play.
#[test]
fn no_setting_is_ignored() {
    let beside: Vec<Vec<(&str, &str)>> = [
        &[][..],
        &[("sampling", "uniform")],
        &[("sampling", "stratified")],
        &[("schedule", "theory")],
        &[("stages", "data")],
        &[("surrogate", "sigmoid")],
        &[("surrogate", "squared-hinge")],
        &[("surrogate", "smoothed-hinge")],
        &[("surrogate", "hinge")],
        &[("optimizer", "adam")],
        &[("optimizer", "momentum")],
        &[("optimizer", "sgd")],
        &[("step", "adam")],
        &[("step", "momentum")],
        &[("objective", "cvar")],
        &[("optimizer", "agd-sbcd")],
    ]
    .map(<[_]>::to_vec)
    .to_vec();
    for method in METHODS.iter().chain(class_methods()) {
        for param in method.params {
            let default = param.default;
            let others: Vec<String> = match param.domain {
                Domain::Choice(words) => {
                    words.iter().filter(|&&word| word != default).map(ToString::to_string).collect()
                }
                Domain::Count { low, .. } => vec![(default.parse::<u64>().unwrap() + 3).max(low).to_string()],
                Domain::Number { low, high } => {
                    let x: f64 = default.parse().unwrap();
                    vec![if x == 0.0 { (0.25 * high).min(0.5) } else { (0.75 * x).max(low) }.to_string()]
                }
                Domain::CountOr { .. } | Domain::NumberOr { .. } => vec!["3".to_string()],
            };
            for other in &others {
                let matters = |beside: &Vec<(&str, &str)>| {
                    let known = beside.iter().all(|&(name, word)| {
                        name != param.name
                            && method.params.iter().any(|p| {
                                p.name == name && matches!(p.domain, Domain::Choice(words) if words.contains(&word))
                            })
                    });
                    let with = |value: &str| {
                        let pairs: Vec<(&str, &str)> = beside.iter().copied().chain([(param.name, value)]).collect();
                        parts(method, &pairs)
                    };
                    known && with(default) != with(other)
                };
                assert!(beside.iter().any(matters), "{}: {} = {other} changes nothing", method.name, param.name);
            }
        }
    }
}

/// Step sizes by default are those of the smoothness constant L = 2, and loops as long as a pass.
#[test]
fn defaults_of_finite_sums_follow_the_data() {
    let made = |name| {
        let method = method(name).unwrap();
        method.finite_sum(&method.settings(&[]).unwrap(), 1000, 2.0).unwrap()
    };
    assert_eq!(made("bounded-ai-sarah"), AnySum::Bounded(BoundedAiSarah::new(64, 16, 0.5, 2.0).unwrap()));
    assert_eq!(made("sarah"), AnySum::Sarah(Sarah::new(64, 0.5, 16).unwrap()));
    assert_eq!(made("svrg"), AnySum::Svrg(Svrg::new(64, 0.5, 16).unwrap()));
    assert_eq!(made("ai-sarah"), AnySum::AiSarah(AiSarah::new(64, 1.0 / 32.0, 0.999).unwrap()));
    assert_eq!(loss_of(&method("svrg").unwrap().settings(&[]).unwrap(), 1000), Ok((GlmLoss::Logistic, 1e-3)));
    // Of the stagewise rules, PESG alone divides its rate by ten; its stages are thirds of the run.
    let stages = Stages::new(0.3, 0.1, 34.0, 1.0, 0.0).unwrap();
    let pesg = AnyAlgorithm::Pesg(Pesg::new(stages, 0.002, 1e-4, 1).unwrap());
    let margin = method("auc-margin").unwrap();
    let settings = margin.settings(&[]).unwrap().with_steps(100);
    assert_eq!(margin.parts(&settings).unwrap().1, pesg);
}

/// Defaults that are not one number: by the model, the rows and the run's length, and never where something is set.
#[test]
fn defaults_follow_what_is_trained() {
    let ce = method("ce").unwrap();
    let scope = |rows: u32, network| Scope {
        population: [rows / 10 * 9, rows / 10],
        network,
        params: 10,
        classes: 2,
        batch: 64,
        steps: 600,
        ..Scope::default()
    };
    let of = |pairs, rows, network| ce.settings(pairs).unwrap().with_scope(scope(rows, network));
    for (rows, network, steps, lr) in [
        (1000, false, 6000, 0.05),
        // (Networks in a shorter run have a higher rate: √(20,000/600).)
        (1000, true, 6000, 0.003 * (20_000.0f64 / 600.0).sqrt()),
        (1_000_000, false, 312_500, 0.05),
        (1_000_000, true, 312_500, 0.003 * (20_000.0f64 / 600.0).sqrt()),
    ] {
        let settings = of(&[], rows, network);
        assert_eq!(settings.count("steps"), Ok(steps), "{rows} {network}");
        assert_eq!(settings.number("lr"), Ok(lr), "{rows} {network}");
        let decay = if network { 3.0 } else { 0.1 } / f64::from(rows);
        assert_eq!(settings.number("decay"), Ok(decay), "{rows} {network}");
    }
    // Rates of networks follow the run's length, between one and ten times that of a usual run.
    for (steps, lr) in [(1, 0.03), (100, 0.03), (5000, 0.006), (20_000, 0.003), (1_000_000, 0.003)] {
        let settings = ce.settings(&[]).unwrap().with_scope(scope(1000, true)).with_steps(steps);
        assert!((settings.number("lr").unwrap() / lr - 1.0).abs() < 1e-12, "{steps}");
    }
    // One that begins at a linear model is pulled back to it: the root of its parameters over the rows.
    let anchored = Scope { from_linear: true, params: 400, ..scope(1000, true) };
    let anchored = ce.settings(&[]).unwrap().with_scope(anchored);
    assert_eq!((anchored.decay(), anchored.pull()), (0.0, 0.02));
    let set = of(&[("steps", "7"), ("lr", "2"), ("decay", "0")], 1000, true);
    assert_eq!((set.count("steps"), set.number("lr"), set.number("decay")), (Ok(7), Ok(2.0), Ok(0.0)));
    // Shares of the run, and runs of a given length shared with what comes before.
    let auc = method("ppd-sg").unwrap().settings(&[]).unwrap().with_scope(scope(1000, false));
    assert_eq!((auc.number("stage"), auc.pretrain_steps(), auc.pretrain_steps_of(900)), (Ok(50.0), 600, 450));
    let ap = method("ap-exact").unwrap().settings(&[]).unwrap().with_scope(scope(1000, false));
    assert_eq!((ap.count("steps"), ap.pretrain_steps(), ap.pretrain_steps_of(900)), (Ok(200), 6000, 450));
    // Rates of min-max methods in units of 1/(p(1-p)): p = 1/2 makes four of a quarter.
    let half = Scope { population: [500, 500], ..scope(1000, false) };
    let algorithm = |pairs| {
        let method = method("oauc").unwrap();
        method.parts(&method.settings(pairs).unwrap().with_scope(half)).unwrap().1
    };
    assert_eq!(algorithm(&[("lr", "0.25")]), algorithm(&[("lr", "1"), ("units", "raw")]));
}

/// The settings of a paper are settings of its method.
#[test]
fn presets_fit_their_methods() {
    for method in METHODS.iter().chain(class_methods()) {
        assert!(method.settings(method.paper).is_ok(), "{}", method.name);
        for (name, value) in method.paper {
            let param = method.params.iter().find(|param| param.name == *name).unwrap();
            assert_ne!(param.default, *value, "{}: {name} is the default", method.name);
        }
    }
    for preset in PRESETS {
        let method = method(preset.method).unwrap();
        let settings = method.settings(preset.settings).unwrap().with_constraints(&preset.constraints);
        assert!(method.parts(&settings.with_scope(Scope { groups: 2, ..Scope::default() })).is_ok(), "{}", preset.name);
        for (name, value) in preset.settings {
            let param = method.params.iter().find(|param| param.name == *name).unwrap();
            assert_ne!(param.default, *value, "{}: {name} is the default", preset.name);
        }
        assert_eq!(registry::preset(preset.name).unwrap().method, preset.method);
    }
}

/// Numbers of errors are for other languages, and for good.
#[test]
fn every_error_has_a_number_of_its_own() {
    use undercurve::checkpoint::CheckpointError;
    use undercurve::registry::SettingError;
    use undercurve::trainer::TrainerError;
    use undercurve::{CODES, Error};
    assert!(CODES.windows(2).all(|pair| pair[0].0 < pair[1].0));
    let name = |code: u16| CODES.iter().find(|entry| entry.0 == code).unwrap().1;
    let what = "what";
    let errors = [
        Error::Length { what, need: 1, got: 0 },
        Error::NonFinite { what, at: 0 },
        Error::Label { at: 0 },
        Error::Weight { at: 0 },
        Error::Index { what, at: 0, len: 0 },
        Error::OneClass,
        Error::Empty { what },
        Error::Overflow { what },
        Error::Param { what },
        Error::Unreachable { what },
        Error::Unsupported { what },
    ];
    for (error, code) in errors.iter().zip(1..) {
        assert_eq!(error.code(), code);
        assert!(format!("{error:?}").starts_with(name(code)), "{error:?}");
        assert_eq!(TrainerError::Core(*error).code(), code);
    }
    let saved = CheckpointError::each(9, what);
    for error in saved {
        let (_, short) = name(error.code()).split_once("::").unwrap();
        assert!(format!("{error:?}").starts_with(short));
    }
    let listed = |entry: &&(u16, &str, &str)| entry.1.starts_with("CheckpointError::");
    assert!(CODES.iter().filter(listed).all(|entry| saved.iter().any(|error| error.code() == entry.0)));
    use undercurve::metric::StateError;
    for error in [StateError::NotOurs, StateError::Version(9), StateError::Damaged] {
        let (_, short) = name(error.code()).split_once("::").unwrap();
        assert!(format!("{error:?}").starts_with(short) && !error.to_string().is_empty());
    }
    let unknown: &dyn std::error::Error = &SettingError::Unknown { at: 3 };
    assert!(unknown.to_string().contains('3'));
    assert_eq!(name(SettingError::Unknown { at: 3 }.code()), "SettingError::Unknown");
}
