//! No training step computes with a subnormal number, on data where the loss vanishes: many processors take a hundred
//! times longer for each. The processor keeps count: MXCSR has one bit for a subnormal operand, and one for a result that
//! was rounded because it was smaller than the least normal number.
#![cfg(target_arch = "x86_64")]

use std::arch::asm;
use std::hint::black_box;
use std::sync::Arc;
use undercurve::data::Dataset;
use undercurve::estimator::Link;
use undercurve::pairs::{self, Grade, Way};
use undercurve::registry::{Domain, METHODS, Method, class_methods};
use undercurve::rng::Rng;
use undercurve::surrogate::{AnySurrogate, SURROGATES, Surrogate};
use undercurve::trainer::{Config, Init, Length, ModelSpec, Trainer};
use undercurve::{Real, Scratch};

/// Subnormal operand, underflow.
const FLAGS: u32 = 0b1_0010;

fn flags() -> u32 {
    let mut csr = 0u32;
    // Writes the four bytes of `csr`.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut csr, options(nostack)) };
    csr
}

/// What `work` returns, and whether it met subnormal numbers.
fn meets_subnormals<T>(work: impl FnOnce() -> T) -> (T, bool) {
    let clear = flags() & !0b11_1111;
    // The same modes, with no exception noted.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const clear, options(nostack, readonly)) };
    let out = black_box(work());
    (out, flags() & FLAGS != 0)
}

#[test]
fn the_processor_tells() {
    let least = black_box(f32::MIN_POSITIVE);
    assert!(meets_subnormals(|| black_box(least) * black_box(0.3)).1);
    assert!(meets_subnormals(|| black_box(f32::from_bits(1)) + black_box(1.0)).1);
    assert!(!meets_subnormals(|| black_box(least) * black_box(2.0)).1);
}

/// Two clusters far apart, 1 row in 8 positive; one column is 0 in nearly every row.
fn clusters(apart: f64, is_sparse: bool) -> Arc<Dataset<f32>> {
    let (rows, cols) = (96, 4);
    let mut rng = Rng::new(7);
    let y: Vec<u8> = (0..rows).map(|k| u8::from(k % 8 == 0)).collect();
    let mut x = vec![0.0f32; rows * cols];
    for (k, x) in x.chunks_exact_mut(cols).enumerate() {
        let side = if y[k] == 1 { apart } else { -apart };
        x.iter_mut().take(3).for_each(|x| *x = (side + 0.3 * rng.normal()) as f32);
        x[3] = if k % 40 == 0 { 1.0 } else { 0.0 };
    }
    if !is_sparse {
        return Arc::new(Dataset::dense(x, y, cols).unwrap());
    }
    let (mut ptr, mut col, mut val) = (vec![0], vec![], vec![]);
    for x in x.chunks_exact(cols) {
        for (j, &x) in x.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            col.push(j as u32);
            val.push(x);
        }
        ptr.push(val.len());
    }
    Arc::new(Dataset::csr(ptr, col, val, y, cols).unwrap())
}

const STEPS: u64 = 1200;

/// The settings to try: those of the method, each other step rule, and each surrogate and link in turn; rates as they are
/// and high, in turn, too.
fn variants(method: &Method) -> Vec<Vec<(String, String)>> {
    let words = |name: &str| {
        let param = method.params.iter().find(|param| param.name == name);
        param.map_or(vec![None], |param| match param.domain {
            Domain::Choice(words) => words.iter().map(|&word| Some((name.to_string(), word.to_string()))).collect(),
            _ => vec![None],
        })
    };
    let has_rate = method.params.iter().any(|param| param.name == "lr");
    let (rules, links, losses) = (words("optimizer"), words("link"), words("surrogate"));
    let most = rules.len().max(links.len() * losses.len()).max(1 + usize::from(has_rate));
    (0..most)
        .map(|k| {
            let loss = losses[k % losses.len()].clone();
            let link = links[(k + k / losses.len()) % links.len()].clone();
            let rule = rules[(k + k / rules.len()) % rules.len()].clone();
            let rate = (has_rate && k % 2 == 1).then(|| ("lr".to_string(), "3".to_string()));
            [loss, link, rule, rate].into_iter().flatten().collect()
        })
        .collect()
}

/// `variant` is its place among those of the method: the first one's network begins as a trial finds, which costs more than the run.
fn config(method: &Method, model: &str, variant: usize, settings: Vec<(String, String)>) -> Config {
    let mut settings = settings;
    // The whole of a run by the method's own steps, at rates as they are. (Decay at a rate of 3 makes the weights of a dead
    // network fade through the subnormal numbers, a step each.)
    for (name, value) in [("pretrain", "0"), ("units", "raw"), ("decay", "0")] {
        if method.params.iter().any(|p| p.name == name) && !method.is_finite_sum() {
            settings.push((name.into(), value.into()));
        }
    }
    if model != "linear" {
        for (name, value) in [("alpha", "0.05"), ("alpha-max", "0.05")] {
            if method.params.iter().any(|p| p.name == name) {
                settings.push((name.into(), value.into()));
            }
        }
    }
    Config {
        method: method.name.into(),
        settings,
        length: Length::Steps(STEPS),
        model: ModelSpec::parse(model).unwrap(),
        init: if variant < 2 { Init::Auto } else { Init::Random },
        ..Config::default()
    }
}

/// Whether a run is left to the long tier (UNDERCURVE_LONG=1): of the variants each network trains one in four.
fn is_left_out(model: &str, variant: usize) -> bool {
    let mine = match model {
        "mlp:8,8" => variant.is_multiple_of(4),
        "mlp-tanh:8,8" => variant % 4 == 1,
        _ => true,
    };
    !mine && std::env::var_os("UNDERCURVE_LONG").is_none()
}

/// The first step of a run that met a subnormal number.
fn first_subnormal(config: &Config, data: &Arc<Dataset<f32>>) -> Option<u64> {
    let mut trainer = Trainer::new(config, Arc::clone(data), None).ok()?;
    for k in 0..STEPS {
        let (outcome, met) = meets_subnormals(|| trainer.step());
        if met {
            return Some(k);
        }
        if !matches!(outcome, Ok(Some(_))) {
            break;
        }
    }
    None
}

#[test]
fn no_step_of_a_linear_model_meets_subnormal_numbers() {
    no_step_of_two_classes_meets_subnormal_numbers("linear");
}

#[test]
fn no_step_of_a_relu_network_meets_subnormal_numbers() {
    no_step_of_two_classes_meets_subnormal_numbers("mlp:8,8");
}

#[test]
fn no_step_of_a_tanh_network_meets_subnormal_numbers() {
    if std::env::var_os("UNDERCURVE_LONG").is_none() {
        return undercurve_tests::skipped("the long tier (UNDERCURVE_LONG=1)");
    }
    no_step_of_two_classes_meets_subnormal_numbers("mlp-tanh:8,8");
}

fn no_step_of_two_classes_meets_subnormal_numbers(model: &str) {
    let mut met = vec![];
    for (apart, is_sparse) in [(1.0, false), (8.0, false), (4.0, true)] {
        let data = clusters(apart, is_sparse);
        for method in METHODS {
            if model != "linear" && is_sparse {
                continue;
            }
            for (k, settings) in variants(method).into_iter().enumerate() {
                if is_left_out(model, k) {
                    continue;
                }
                // These losses explode, to e^60 and more, instead of vanishing; SOAP's weights are their inverses.
                let has = |word: &str| settings.iter().any(|(_, value)| value == word);
                if method.name == "soap" && has("exponential") && has("identity") && has("3") {
                    continue;
                }
                let config = config(method, model, k, settings);
                if let Some(step) = first_subnormal(&config, &data) {
                    met.push(format!("{} {model} apart {apart} {:?}: step {step}", method.name, config.settings));
                }
            }
        }
    }
    assert!(met.is_empty(), "{} runs:\n{}", met.len(), met.join("\n"));
}

#[test]
fn no_step_of_several_classes_meets_subnormal_numbers() {
    let mut met = vec![];
    for apart in [2.0, 20.0] {
        let mut rng = Rng::new(3);
        let y: Vec<u32> = (0..120).map(|k| [0, 0, 1, 2][k % 4]).collect();
        let x = y.iter().flat_map(|&y| (0..3).map(move |j| if y == j { apart } else { 0.0 })).collect::<Vec<_>>();
        let x: Vec<f32> = x.iter().map(|x| (x + 0.3 * rng.normal()) as f32).collect();
        let features = Dataset::dense(x, Vec::new(), 3).unwrap();
        let names = ["red", "green", "blue"].map(String::from).to_vec();
        let data = Arc::new(features.with_classes(y, names).unwrap());
        for method in class_methods() {
            for model in ["linear", "mlp:8,8", "mlp-tanh:8,8"] {
                for (k, settings) in variants(method).into_iter().enumerate() {
                    if is_left_out(model, k) {
                        continue;
                    }
                    let config = config(method, model, k, settings);
                    if let Some(step) = first_subnormal(&config, &data) {
                        met.push(format!("{} {model} apart {apart} {:?}: step {step}", method.name, config.settings));
                    }
                }
            }
        }
    }
    assert!(met.is_empty(), "{} runs:\n{}", met.len(), met.join("\n"));
}

/// Numbers around every threshold of the type's exponentials.
fn ladder<T: Real>() -> impl Iterator<Item = T> {
    (-1600..=1600).map(|k| T::of(0.5 * f64::from(k) + 0.013))
}

fn primitives<T: Real>(wrong: &mut Vec<String>) {
    let mut see = |what: String, value: T, met: bool| {
        let least = T::TINY * T::EPSILON;
        if met || (value != T::ZERO && value.abs() < least) {
            wrong.push(what);
        }
    };
    for s in ladder::<T>() {
        let (value, met) = meets_subnormals(|| black_box(s).sigmoid());
        see(format!("sigmoid({s})"), value, met);
        let (value, met) = meets_subnormals(|| black_box(s).softplus());
        see(format!("softplus({s})"), value, met);
        let (h, g) = ([s.sigmoid()], T::of(1e-3));
        for g in [g, T::TINY, T::TINY * T::EPSILON] {
            let mut grad = [g];
            let ((), met) = meets_subnormals(|| Link::Sigmoid.chain(black_box(&h), &mut grad));
            see(format!("chain of {g} at {s}"), grad[0], met);
        }
        for &(name, _, param) in SURROGATES {
            let loss = AnySurrogate::by_name(name, T::of(param)).unwrap();
            for (part, of) in [("value", AnySurrogate::value as fn(_, _) -> _), ("slope", AnySurrogate::slope)] {
                let (value, met) = meets_subnormals(|| of(black_box(loss), black_box(s)));
                see(format!("{name} {part} at {s}"), value, met);
            }
            let ((a, b), met) = meets_subnormals(|| black_box(loss).parts(black_box(s)));
            see(format!("{name} parts at {s}"), a, met);
            see(format!("{name} parts at {s}"), b, met);
        }
    }
}

#[test]
fn primitives_fade_to_nothing_at_once() {
    let mut wrong = vec![];
    primitives::<f32>(&mut wrong);
    primitives::<f64>(&mut wrong);
    wrong.truncate(40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

struct Bed<'a> {
    scores: &'a [f32],
    labels: &'a [u8],
    grad: Vec<f32>,
}

impl Bed<'_> {
    fn sum(&mut self, is_ap: bool, loss: AnySurrogate<f64>, grade: Grade) -> undercurve::Result<f64> {
        let need = pairs::need(self.scores.len(), self.labels.len());
        let (mut f, mut i, mut k) = (vec![0.0; need.f64], vec![0; need.u32], vec![0; need.u64]);
        let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
        let sum = if is_ap { pairs::ap_by } else { pairs::auc_by };
        sum(Way::Chosen, self.scores, self.labels, loss, grade, scratch, &mut self.grad)
    }
}

/// Sums over whole data whose scores lie far apart.
#[test]
fn sums_over_distant_clusters_meet_no_subnormal_numbers() {
    let mut rng = Rng::new(5);
    let rows = 4000;
    let labels: Vec<u8> = (0..rows).map(|k| u8::from(k % 20 == 0)).collect();
    let mut met = vec![];
    for apart in [20.0, 60.0, 300.0, 2000.0, 1e5] {
        let scores: Vec<f32> =
            (0..rows).map(|k| (rng.normal() + if k % 2 == 0 { apart } else { -apart }) as f32).collect();
        for &(name, _, param) in SURROGATES {
            let loss = AnySurrogate::by_name(name, param).unwrap();
            for grade in [Grade::Fast, Grade::Full] {
                let mut bed = Bed { scores: &scores, labels: &labels, grad: vec![0.0; rows] };
                for is_ap in [false, true] {
                    if meets_subnormals(|| bed.sum(is_ap, loss, grade)).1 {
                        met.push(format!("{name} {grade:?} apart {apart}, of the AP: {is_ap}"));
                    }
                }
            }
        }
    }
    assert!(met.is_empty(), "{}", met.join("\n"));
}
