//! Methods of the partial AUC against their naive twins.

use std::sync::Arc;
use undercurve::Scratch;
use undercurve::batch::{Batch, Drawn};
use undercurve::data::Dataset;
use undercurve::estimator::{
    AnyEstimator, DroForm, Estimator, Exact, Grad, Link, PaucDro, PaucMinibatch, PaucThreshold,
};
use undercurve::rng::Rng;
use undercurve::surrogate::AnySurrogate;
use undercurve::trainer::{Config, Length, ModelSpec, Trainer, TrainerError};
use undercurve::{Error, Real, Result};
use undercurve_tests::pauc::{self as twin, Dro, DroState, Threshold};

const LOSSES: [(&str, f64); 7] = [
    ("squared-hinge", 1.0),
    ("hinge", 0.7),
    ("smoothed-hinge", 0.5),
    ("logistic", 1.5),
    ("sigmoid", 3.0),
    ("exponential", 0.5),
    ("ramp", 2.0),
];
const RANGES: [(f64, f64); 6] = [(0.0, 0.1), (0.0, 1.0), (0.02, 0.2), (0.05, 0.5), (0.5, 1.0), (0.31, 0.32)];

fn surrogate((name, parameter): (&str, f64)) -> AnySurrogate<f64> {
    AnySurrogate::by_name(name, parameter).unwrap()
}

/// Scores of a batch, the negatives first.
fn scores(rng: &mut Rng, low: usize, high: usize, kind: usize) -> Vec<f64> {
    let draw = |k: usize, rng: &mut Rng| match kind {
        0 => rng.normal() + f64::from(u8::from(k >= low)),
        // Ties within and between the classes.
        1 => (2.0 * rng.normal()).round() / 2.0,
        // All tied.
        _ => 0.25,
    };
    (0..low + high).map(|k| draw(k, rng)).collect()
}

fn labels(low: usize, high: usize) -> Vec<u8> {
    (0..low + high).map(|k| u8::from(k >= low)).collect()
}

/// What an estimator says of a batch with state: value and gradient.
fn update<T: Real>(e: &impl Estimator<T>, s: &[T], low: usize, state: &mut [T]) -> Result<(f64, Vec<T>)> {
    let slots: Vec<u32> = (0..(s.len() - low) as u32).collect();
    update_of(e, s, low, &slots, Drawn::Stratified, state)
}

fn update_of<T: Real>(
    e: &impl Estimator<T>,
    s: &[T],
    low: usize,
    slots: &[u32],
    drawn: Drawn,
    state: &mut [T],
) -> Result<(f64, Vec<T>)> {
    let high = s.len() - low;
    let times = if drawn == Drawn::All { 1 } else { 10 };
    let starts = [0, low as u32, s.len() as u32];
    let population = [times * low as u32, times * high as u32];
    let batch = Batch::new(s, 1, &starts, &population, drawn)?.with_slots(slots);
    let need = e.need(batch.shape());
    let (mut real, mut wide) = (vec![T::of(f64::NAN); need.real], vec![f64::NAN; need.f64]);
    let (mut short, mut keys) = (vec![7; need.u32], vec![7; need.u64]);
    let scratch = Scratch { real: &mut real, f64: &mut wide, u32: &mut short, u64: &mut keys };
    let mut grad = vec![T::of(f64::NAN); s.len()];
    let value = e.update(&batch, &[], state, scratch, Grad { scores: &mut grad, aux: &mut [] })?;
    Ok((value, grad))
}

fn value(e: &impl Estimator<f64>, s: &[f64], low: usize, drawn: Drawn) -> f64 {
    let starts = [0, low as u32, s.len() as u32];
    let population = [low as u32, (s.len() - low) as u32];
    let batch = Batch::new(s, 1, &starts, &population, drawn).unwrap();
    let need = e.need(batch.shape());
    let (mut real, mut wide) = (vec![f64::NAN; need.real], vec![f64::NAN; need.f64]);
    let (mut short, mut keys) = (vec![7; need.u32], vec![7; need.u64]);
    let scratch = Scratch { real: &mut real, f64: &mut wide, u32: &mut short, u64: &mut keys };
    e.value(&batch, &[], scratch).unwrap()
}

#[track_caller]
fn close(got: f64, want: f64, tolerance: f64, what: &str) {
    assert!((got - want).abs() <= tolerance * want.abs().max(1.0), "{what}: {got} but the twin has {want}");
}

#[test]
fn thresholds_follow_the_twin_step_by_step() {
    let mut rng = Rng::new(1);
    let mut met = 0;
    for loss in LOSSES {
        for fpr in RANGES {
            for (sigmoid, kind, low, high) in [
                (false, 0, 30, 5),
                (true, 0, 30, 5),
                (false, 1, 17, 3),
                (true, 1, 40, 8),
                (false, 2, 9, 2),
                (false, 0, 1, 1),
            ] {
                let link = if sigmoid { Link::Sigmoid } else { Link::Identity };
                let gamma = 0.2;
                let estimator = PaucThreshold::new(surrogate(loss), link, fpr, gamma).unwrap();
                let naive = Threshold { loss, sigmoid, fpr, gamma };
                let (mut state, mut want) = ([0.0; 4], [0.0; 4]);
                let mut single = [0.0f32; 4];
                for step in 0..12 {
                    let mut s = scores(&mut rng, low, high, if step == 5 { 2 } else { kind });
                    // Once far from both thresholds, each way.
                    if let (3 | 8, 0, false) = (step, kind, sigmoid) {
                        s.iter_mut().for_each(|s| *s += if step == 3 { -40.0 } else { 40.0 });
                    }
                    let what = format!("{loss:?} {fpr:?} kind {kind} sigmoid {sigmoid} step {step}");
                    let (value, grad) = update(&estimator, &s, low, &mut state).unwrap();
                    let (expected, gradient) = naive.step(&s, &labels(low, high), &mut want);
                    close(value, expected, 1e-12, &what);
                    grad.iter().zip(&gradient).for_each(|(&a, &b)| close(a, b, 1e-12, &what));
                    state.iter().zip(&want).for_each(|(&a, &b)| close(a, b, 1e-12, &what));
                    met += usize::from(gradient.iter().any(|&g| g != 0.0));
                    // From the twin's own state, so that no score changes sides by rounding.
                    let near = |q: f64| s.iter().any(|&s| (s - q).abs() < 1e-4);
                    let short: Vec<f32> = s.iter().map(|&s| s as f32).collect();
                    let before = single;
                    let (value, _) = update(&estimator, &short, low, &mut single).unwrap();
                    if kind == 0
                        && !sigmoid
                        && before.iter().any(|&q| q != 0.0)
                        && !before.iter().any(|&q| near(f64::from(q)))
                    {
                        let mut wide = before.map(f64::from);
                        let (expected, _) = naive.step(&s, &labels(low, high), &mut wide);
                        close(value, expected, 2e-5, &what);
                        single.iter().zip(&wide).for_each(|(&a, &b)| close(f64::from(a), b, 2e-5, &what));
                    }
                }
            }
        }
    }
    assert!(met > 1000, "{met} batches with pairs in range");
}

/// With the gates as they are the estimate is a smooth function of the scores, and its gradient is that function's own.
#[test]
fn gradients_are_those_of_the_estimate() {
    let mut rng = Rng::new(2);
    for loss in [("logistic", 1.5), ("sigmoid", 3.0), ("squared-hinge", 1.0), ("exponential", 0.5)] {
        for fpr in [(0.0, 0.3), (0.1, 0.6), (0.2, 1.0)] {
            for link in [Link::Identity, Link::Sigmoid] {
                let estimator = PaucThreshold::new(surrogate(loss), link, fpr, 0.1).unwrap();
                let mut state = [0.0; 4];
                for _ in 0..20 {
                    update(&estimator, &scores(&mut rng, 30, 5, 0), 30, &mut state).unwrap();
                }
                let s = scores(&mut rng, 30, 5, 0);
                let at = |s: &[f64]| update(&estimator, s, 30, &mut state.clone()).unwrap();
                let (_, grad) = at(&s);
                assert!(grad.iter().filter(|&&g| g != 0.0).count() > 5);
                for k in 0..s.len() {
                    let moved = |by: f64| {
                        let mut s = s.clone();
                        s[k] += by;
                        at(&s).0
                    };
                    let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                    assert!((grad[k] - slope).abs() < 1e-8, "{loss:?} {fpr:?} {k}: {} and {slope}", grad[k]);
                }
            }
        }
    }
}

/// Thresholds at the quantiles of the whole data: the mean over all batches is the exact objective and its subgradient.
#[test]
fn the_mean_over_all_draws_is_the_exact_subgradient() {
    let (low, high, fpr) = (10, 4, (0.2, 0.6));
    let (loss, s) = (("logistic", 1.0), scores(&mut Rng::new(3), low, high, 0));
    let estimator = PaucThreshold::new(surrogate(loss), Link::Identity, fpr, 0.1).unwrap();
    // αn₋ and βn₋ are whole, and the first batch of everything sets the thresholds between two scores.
    let mut state = [0.0; 4];
    let (whole, gradient) = update(&estimator, &s, low, &mut state).unwrap();
    let (want, exact) = twin::objective(loss, fpr, &s, &labels(low, high));
    close(whole, want, 1e-13, "everything at once");
    let (mut mean, mut sum, mut draws) = (0.0, vec![0.0; s.len()], 0.0);
    for a in 0..low {
        for b in 0..a {
            for i in low..low + high {
                for k in low..i {
                    let rows = [a, b, i, k];
                    let part = rows.map(|row| s[row]);
                    let (value, grad) = update(&estimator, &part, 2, &mut state.clone()).unwrap();
                    mean += value;
                    rows.iter().zip(grad).for_each(|(&row, g)| sum[row] += g);
                    draws += 1.0;
                }
            }
        }
    }
    close(mean / draws, want, 1e-13, "mean value");
    for k in 0..s.len() {
        close(sum[k] / draws, exact[k], 1e-13, "mean gradient");
        close(gradient[k], exact[k], 1e-13, "gradient");
    }
}

/// On fixed scores the thresholds come to the quantiles and stay there.
#[test]
fn thresholds_find_the_quantiles() {
    let mut rng = Rng::new(4);
    let all: Vec<f64> = (0..20_000).map(|_| rng.normal().exp()).collect();
    let mut sorted = all.clone();
    sorted.sort_by(f64::total_cmp);
    for fpr in [(0.02, 0.2), (0.05, 0.5), (0.3, 0.9)] {
        let estimator = PaucThreshold::new(surrogate(("logistic", 1.0)), Link::Identity, fpr, 0.02).unwrap();
        let mut state = [0.0; 4];
        let (mut sums, mut count) = ([0.0; 2], 0.0);
        for step in 0..4000 {
            let mut s: Vec<f64> = (0..56).map(|_| all[(rng.uniform() * 20_000.0) as usize]).collect();
            s.push(1.0);
            update(&estimator, &s, 56, &mut state).unwrap();
            if step >= 1000 {
                let above = |q: f64| sorted.iter().filter(|&&s| s > q).count() as f64 / 20_000.0;
                sums[0] += above(state[0]);
                sums[1] += above(state[2]);
                count += 1.0;
            }
        }
        for (sum, p) in sums.iter().zip([fpr.1, fpr.0]) {
            let rate = sum / count;
            assert!((rate - p).abs() < 0.1 * p, "{fpr:?}: {rate} above the threshold for {p}");
        }
    }
}

/// Scores that move away from under the thresholds, by much more than the tail is wide, are found again: none beyond a
/// threshold must not be read as a tail without width.
#[test]
fn thresholds_come_back_when_all_scores_move() {
    let mut rng = Rng::new(9);
    for fpr in [(0.02, 0.2), (0.0, 0.05), (0.3, 0.9)] {
        for shift in [-60.0, 60.0] {
            let estimator = PaucThreshold::new(surrogate(("logistic", 1.0)), Link::Identity, fpr, 0.02).unwrap();
            let mut state = [0.0; 4];
            let mut batch = |shift: f64, state: &mut [f64; 4]| {
                let mut s: Vec<f64> = (0..112).map(|_| rng.normal() + shift).collect();
                s.push(1.0);
                update(&estimator, &s, 112, state).unwrap();
            };
            for _ in 0..500 {
                batch(0.0, &mut state);
            }
            let before = state;
            for _ in 0..400 {
                batch(shift, &mut state);
            }
            for which in [0, 2].into_iter().filter(|&which| before[which + 1] != 0.0) {
                let apart = (state[which] - shift - before[which]).abs();
                assert!(apart < 0.4, "{fpr:?}, {shift}: {apart} from where it was among the scores; {state:?}");
            }
        }
    }
}

/// A value without state is the partial AUC of the batch itself, exact for everything; and the near-linear form is the same.
#[test]
fn values_are_the_batch_own_range() {
    let mut rng = Rng::new(5);
    for loss in LOSSES {
        for fpr in RANGES {
            for kind in 0..3 {
                let (low, high) = (23, 6);
                let s = scores(&mut rng, low, high, kind);
                let estimator = PaucThreshold::new(surrogate(loss), Link::Identity, fpr, 0.1).unwrap();
                let (want, _) = twin::objective(loss, fpr, &s, &labels(low, high));
                for drawn in [Drawn::All, Drawn::Stratified, Drawn::Uniform] {
                    close(value(&estimator, &s, low, drawn), want, 1e-12, "value");
                }
            }
        }
    }
    // Where all scores tie, the gradient is that of the plain AUC: of all pairs alike.
    let estimator = PaucThreshold::new(surrogate(("sigmoid", 4.0)), Link::Identity, (0.02, 0.2), 0.1).unwrap();
    let (_, grad) = update(&estimator, &[0.5; 12], 8, &mut [0.0; 4]).unwrap();
    for (k, g) in grad.into_iter().enumerate() {
        close(g, if k < 8 { 1.0 / 8.0 } else { -1.0 / 4.0 }, 1e-12, "all tied");
    }
}

#[test]
fn bad_settings_and_batches_are_errors() {
    let make = |fpr, gamma| PaucThreshold::new(surrogate(("sigmoid", 1.0)), Link::Identity, fpr, gamma);
    for fpr in [(0.1, 0.1), (0.2, 0.1), (-0.1, 0.5), (0.0, 1.1), (f64::NAN, 0.5), (0.0, f64::NAN)] {
        assert_eq!(make(fpr, 0.1), Err(Error::Param { what: "fpr" }));
    }
    for gamma in [0.0, -1.0, 1.5, f64::NAN] {
        assert_eq!(make((0.0, 0.1), gamma), Err(Error::Param { what: "gamma" }));
    }
    let square = PaucThreshold::new(surrogate(("square", 1.0)), Link::Identity, (0.0, 0.1), 0.1);
    assert!(matches!(square, Err(Error::Unsupported { .. })));
    let estimator = make((0.0, 0.1), 0.1).unwrap();
    let mut state = [3.0, 4.0, 5.0, 6.0];
    assert_eq!(update(&estimator, &[1.0, 2.0], 2, &mut state), Err(Error::OneClass));
    assert_eq!(update(&estimator, &[1.0, 2.0], 0, &mut state), Err(Error::OneClass));
    let wrong = update(&estimator, &[1.0, 2.0], 1, &mut [0.0; 2]);
    assert_eq!(wrong, Err(Error::Length { what: "state", need: 4, got: 2 }));
    let far = update(&estimator, &[1e308, -1e308, 1e308, -1e308], 2, &mut state);
    assert!(matches!(far, Err(Error::Overflow { .. })), "{far:?}");
    assert_eq!(state, [3.0, 4.0, 5.0, 6.0]);
    assert_eq!(AnyEstimator::PaucThreshold(estimator).state_len(100), 4);
    // Two negatives: a third of one is no quantile of batches, and a share of one a fine end for the exact method.
    let data = Arc::new(Dataset::dense(vec![0.0f32, 1.0, 2.0], vec![0, 0, 1], 1).unwrap());
    let train = |method: &str| {
        let config = Config { method: method.into(), fpr: (0.0, 0.15), length: Length::Steps(9), ..Config::default() };
        Trainer::new(&config, Arc::clone(&data), None).map(|_| ()).map_err(|error| error.to_string())
    };
    assert!(train("pauc-threshold").is_err_and(|error| error.contains("less than one negative")));
    assert_eq!(train("pauc-exact"), Ok(()));
}

/// From 0, where all scores tie, to the partial AUC of the exact method's own sums, in both types and for a narrow range that
/// does not begin at 0.
fn trained<T: Real>(method: &str, fpr: (f64, f64), pretrain: &str) -> f64 {
    let mut rng = Rng::new(7);
    let y: Vec<u8> = (0..3000).map(|k| u8::from(k < 300)).collect();
    // Where the class is told by one column among most negatives, and by another among the highest of them.
    let x = y.iter().flat_map(|&y| {
        let hard = y == 0 && rng.uniform() < 0.1;
        let first = rng.normal() + if y == 1 || hard { 2.0 } else { 0.0 };
        let second = rng.normal()
            + if y == 1 {
                1.5
            } else if hard {
                0.0
            } else {
                1.0
            };
        [first, second].map(T::of)
    });
    let data = Arc::new(Dataset::dense(x.collect(), y.clone(), 2).unwrap());
    let settings = vec![("pretrain".to_string(), pretrain.to_string()), ("decay".to_string(), "0".to_string())];
    let model = ModelSpec::Linear;
    let config = Config { method: method.into(), settings, fpr, model, length: Length::Method, ..Config::default() };
    let mut trainer = Trainer::<T>::new(&config, data, None).unwrap();
    while trainer.step().unwrap().is_some() {}
    trainer.report().unwrap().train.get("pauc").unwrap()
}

#[test]
fn runs_come_near_the_exact_method_from_where_all_scores_tie() {
    for fpr in [(0.0, 0.05), (0.02, 0.1)] {
        let exact = trained::<f64>("pauc-exact", fpr, "auto");
        for (name, pauc) in
            [("f64", trained::<f64>("pauc-threshold", fpr, "0")), ("f32", trained::<f32>("pauc-threshold", fpr, "0"))]
        {
            assert!(pauc > exact - 0.02, "{name} {fpr:?}: {pauc} where exact sums reach {exact}");
        }
    }
}

/// The gradient of a mini-batch is that of its own range; and of everything, that of the exact method.
#[test]
fn a_mini_batch_is_its_own_data() {
    let mut rng = Rng::new(8);
    for loss in LOSSES {
        for fpr in RANGES {
            for kind in 0..3 {
                let (low, high) = (23, 6);
                let s = scores(&mut rng, low, high, kind);
                let estimator = PaucMinibatch::new(surrogate(loss), Link::Identity, fpr).unwrap();
                let (want, slopes) = twin::objective(loss, fpr, &s, &labels(low, high));
                for drawn in [Drawn::All, Drawn::Stratified, Drawn::Uniform] {
                    let (got, grad) = update_of(&estimator, &s, low, &[], drawn, &mut []).unwrap();
                    close(got, want, 1e-12, "value");
                    close(value(&estimator, &s, low, drawn), want, 1e-12, "value alone");
                    grad.iter().zip(&slopes).for_each(|(&a, &b)| close(a, b, 1e-12, "gradient"));
                }
            }
        }
    }
    let estimator = PaucMinibatch::new(surrogate(("logistic", 1.0)), Link::Identity, (0.0, 0.3)).unwrap();
    assert_eq!(update(&estimator, &[1.0, 2.0], 2, &mut []), Err(Error::OneClass));
}

const DRO: [(Dro, DroForm); 3] = [
    (Dro::Sopa(0.3, 0.05), DroForm::Cvar { beta: 0.3, eta: 0.05 }),
    (Dro::SopaS(0.4, 0.3), DroForm::Kl { lambda: 0.4, gamma: 0.3 }),
    (Dro::SotaS(0.4, 0.9, 0.3, 0.2), DroForm::TwoWay { lambda: 0.4, tau: 0.9, gamma: (0.3, 0.2) }),
];

#[test]
fn robust_losses_follow_their_twins_step_by_step() {
    let mut rng = Rng::new(9);
    let (low, high, owners) = (14, 4, 9);
    for (naive, form) in DRO {
        // (Where losses are 0, a threshold near 0 is above them or not by rounding.)
        for loss in [("logistic", 1.5), ("sigmoid", 3.0), ("exponential", 0.5)] {
            let estimator = PaucDro::new(surrogate(loss), Link::Identity, form).unwrap();
            let mut state = vec![0.0; Estimator::<f64>::state_len(&estimator, owners)];
            let mut single = vec![0.0f32; state.len()];
            let mut want = DroState { each: vec![None; owners], all: None };
            for step in 0..25 {
                let s = scores(&mut rng, low, high, 0);
                let mut slots: Vec<u32> = (0..owners as u32).collect();
                rng.shuffle(&mut slots);
                slots.truncate(high);
                let what = format!("{form:?} {loss:?} step {step}");
                let places: Vec<usize> = slots.iter().map(|&slot| slot as usize).collect();
                let slopes = naive.step(loss, &s, low, &places, &mut want);
                let (_, grad) = update_of(&estimator, &s, low, &slots, Drawn::Stratified, &mut state).unwrap();
                grad.iter().zip(&slopes).for_each(|(&a, &b)| close(a, b, 1e-11, &what));
                // The soft ones keep logarithms.
                let plain = |x: f64| if let DroForm::Cvar { .. } = form { x } else { x.exp() };
                for (&kept, want) in state.iter().zip(want.each.iter().chain([&want.all])) {
                    if let Some(want) = want {
                        close(plain(kept), *want, 1e-11, &what);
                    }
                }
                let short: Vec<f32> = s.iter().map(|&s| s as f32).collect();
                update_of(&estimator, &short, low, &slots, Drawn::Stratified, &mut single).unwrap();
                if !matches!(form, DroForm::Cvar { .. }) {
                    single.iter().zip(&state).for_each(|(&a, &b)| close(f64::from(a), b, 1e-4, &what));
                }
            }
        }
    }
}

/// Over everything values are the objective, and gradients before the first draw its derivative; also where e^(L/λ) would not
/// fit any number.
#[test]
fn robust_losses_over_everything_are_their_objectives() {
    let mut rng = Rng::new(10);
    let (low, high) = (20, 5);
    let slots: Vec<u32> = (0..5).collect();
    for (naive, form) in DRO {
        for loss in [("logistic", 1.5), ("sigmoid", 3.0)] {
            let estimator = PaucDro::new(surrogate(loss), Link::Identity, form).unwrap();
            let s = scores(&mut rng, low, high, 0);
            close(value(&estimator, &s, low, Drawn::All), naive.objective(loss, &s, low), 1e-12, "value");
            if let Some(whole) = Estimator::<f64>::whole(&estimator) {
                close(value(&whole, &s, low, Drawn::All), naive.objective(loss, &s, low), 1e-11, "near-linear");
            }
            let mut fresh = vec![0.0; Estimator::<f64>::state_len(&estimator, high)];
            let zeros = fresh.clone();
            let (first, grad) = update_of(&estimator, &s, low, &slots, Drawn::All, &mut fresh).unwrap();
            close(first, naive.objective(loss, &s, low), 1e-12, "estimate");
            if !matches!(form, DroForm::Cvar { .. }) {
                grad.iter().zip(pure(&estimator, &s, low, &zeros).1).for_each(|(&a, b)| close(a, b, 0.0, "state"));
            }
            // With thresholds on no pair; where u and v are the batch's own.
            let state = match form {
                DroForm::Cvar { .. } => fresh.iter().map(|s| 0.93 * s + 0.011).collect(),
                _ => zeros.clone(),
            };
            let (_, grad) = pure(&estimator, &s, low, &state);
            for k in 0..s.len() {
                let at = |by: f64| {
                    let mut s = s.clone();
                    s[k] += by;
                    pure(&estimator, &s, low, &state).0
                };
                close(grad[k], (at(1e-6) - at(-1e-6)) / 2e-6, 1e-7, "by differences");
            }
        }
    }
    // L/λ up to 10⁶.
    let sharp = PaucDro::new(surrogate(("logistic", 1.0)), Link::Identity, DroForm::Kl { lambda: 1e-5, gamma: 0.5 });
    let sharp = sharp.unwrap();
    let s = [0.0, 3.0, -2.0, 1.0, 0.5];
    let (got, grad) = update_of(&sharp, &s, 3, &[0, 1], Drawn::All, &mut [0.0; 2]).unwrap();
    let worst = [1.0, 0.5].map(|s: f64| (3.0 - s).exp().ln_1p());
    close(got, 0.5 * (worst[0] + worst[1]), 1e-4, "the worst negative alone");
    assert!(grad[1] > 0.9 && grad[0] == 0.0 && grad[2] == 0.0);
}

/// Value and gradient of everything with a state that stays.
fn pure(e: &impl Estimator<f64>, s: &[f64], low: usize, state: &[f64]) -> (f64, Vec<f64>) {
    let slots: Vec<u32> = (0..(s.len() - low) as u32).collect();
    let (starts, population) = ([0, low as u32, s.len() as u32], [low as u32, (s.len() - low) as u32]);
    let batch = Batch::new(s, 1, &starts, &population, Drawn::All).unwrap().with_slots(&slots);
    let need = e.need(batch.shape());
    let (mut real, mut keys) = (vec![f64::NAN; need.real], vec![7; need.u64]);
    let (mut wide, mut short) = (vec![f64::NAN; need.f64], vec![7; need.u32]);
    let scratch = Scratch { real: &mut real, f64: &mut wide, u32: &mut short, u64: &mut keys };
    let mut grad = vec![f64::NAN; s.len()];
    let value = e.gradient(&batch, &[], state, scratch, Grad { scores: &mut grad, aux: &mut [] }).unwrap();
    (value, grad)
}

/// Two-way sums against double loops: with ties, and with parts of a positive and of a negative, few rows and many.
#[test]
fn two_way_sums_are_those_of_the_lowest_positives() {
    let mut rng = Rng::new(11);
    for loss in LOSSES {
        for fpr in [(0.0, 0.1), (0.05, 0.5), (0.0, 1.0), (0.31, 0.32)] {
            for tpr in [0.0, 0.25, 0.5, 0.63, 0.99] {
                for (low, high, kind) in [(23, 8, 0), (23, 8, 1), (23, 8, 2), (5, 1, 0), (400, 130, 0), (400, 130, 1)] {
                    let s = scores(&mut rng, low, high, kind);
                    let exact = Exact::two_way_pauc(surrogate(loss), Link::Identity, fpr, tpr).unwrap();
                    let (want, slopes) = twin::two_way(loss, fpr, tpr, &s, &labels(low, high));
                    let (got, grad) = update_of(&exact, &s, low, &[], Drawn::All, &mut []).unwrap();
                    let what = format!("{loss:?} {fpr:?} {tpr} {low} {high} {kind}");
                    close(got, want, 1e-10, &what);
                    close(value(&exact, &s, low, Drawn::All), got, 0.0, &what);
                    if kind < 2 {
                        grad.iter().zip(&slopes).for_each(|(&a, &b)| close(a, b, 1e-10, &what));
                    }
                    close(grad.iter().sum(), 0.0, 1e-10, &what);
                }
            }
        }
    }
    // By differences, off ties.
    let s = scores(&mut rng, 23, 8, 0);
    let exact = Exact::two_way_pauc(surrogate(("sigmoid", 3.0)), Link::Sigmoid, (0.05, 0.5), 0.63).unwrap();
    let (_, grad) = update_of(&exact, &s, 23, &[], Drawn::All, &mut []).unwrap();
    for k in 0..s.len() {
        let at = |by: f64| {
            let mut s = s.clone();
            s[k] += by;
            value(&exact, &s, 23, Drawn::All)
        };
        close(grad[k], (at(1e-6) - at(-1e-6)) / 2e-6, 1e-7, "by differences");
    }
    for tpr in [-0.1, 1.0, f64::NAN] {
        let wrong = Exact::two_way_pauc(surrogate(("sigmoid", 3.0)), Link::Identity, (0.0, 0.1), tpr);
        assert_eq!(wrong, Err(Error::Param { what: "tpr" }));
    }
}

/// What a method cannot train is refused by name.
#[test]
fn ranges_and_models_that_do_not_fit_are_refused() {
    let mut rng = Rng::new(12);
    let y: Vec<u8> = (0..60).map(|k| u8::from(k % 4 == 0)).collect();
    let x: Vec<f64> = y.iter().map(|&y| rng.normal() + f64::from(y)).collect();
    let data = Arc::new(Dataset::dense(x, y, 1).unwrap());
    let new = |method: &str, model: &str, fpr, settings: &[(&str, &str)]| {
        let settings = settings.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect();
        let model = ModelSpec::parse(model).unwrap();
        let config =
            Config { method: method.into(), model, fpr, settings, length: Length::Steps(20), ..Config::default() };
        Trainer::<f64>::new(&config, Arc::clone(&data), None)
    };
    for method in ["sopa", "sopa-s", "sota-s"] {
        assert!(matches!(new(method, "linear", (0.1, 0.5), &[]), Err(TrainerError::Core(Error::Unsupported { .. }))));
        assert!(new(method, "mlp:3", (0.0, 0.5), &[]).unwrap().run().is_ok());
    }
    let network = new("svm-pauc-tight", "mlp:3", (0.0, 0.5), &[]);
    assert!(matches!(network, Err(TrainerError::Core(Error::Unsupported { .. }))));
    // Ranks as they are, or as shares; more than there are are refused.
    let ranks = |from, to, units| new("sorr", "linear", (0.0, 0.5), &[("from", from), ("to", to), ("units", units)]);
    let [by_rank, by_share] = [ranks("3", "30", "ranks"), ranks("0.05", "0.5", "shares")].map(|run| {
        let mut trainer = run.unwrap();
        trainer.run().unwrap();
        trainer.params().to_vec()
    });
    assert_eq!(by_rank, by_share);
    assert_eq!(ranks("3", "61", "ranks").unwrap_err(), TrainerError::Core(Error::Param { what: "to" }));
    assert_eq!(ranks("0.5", "0.5", "shares").unwrap_err(), TrainerError::Core(Error::Param { what: "from" }));
    // A range that holds no whole negative is that of one.
    let mut narrow = new("svm-pauc-tight", "linear", (0.0, 0.001), &[]).unwrap();
    assert!(narrow.run().unwrap().train.get("pauc").unwrap() > 0.0);
}

/// Random bits, a few of which are more frequent in the first `high` rows, the positives.
fn bits(rows: usize, high: usize, columns: usize) -> Arc<Dataset<f32>> {
    let mut rng = Rng::new(11);
    let mut x = vec![0.0; rows * columns];
    for (row, x) in x.chunks_exact_mut(columns).enumerate() {
        let often = if row < high { 0.3 } else { 0.05 };
        for (column, x) in x.iter_mut().enumerate() {
            *x = f32::from(u8::from(rng.uniform() < if column < 20 { often } else { 0.01 }));
        }
    }
    let y = (0..rows).map(|row| u8::from(row < high)).collect();
    Arc::new(Dataset::dense(x, y, columns).unwrap())
}

/// Of a method with `name=value` settings.
fn config_of(method: &str, fpr: (f64, f64), model: ModelSpec, steps: u64) -> Config {
    let mut words = method.split(' ');
    let method = words.next().unwrap().to_string();
    let settings = words.map(|word| word.split_once('=').unwrap()).map(|(a, b)| (a.into(), b.into())).collect();
    Config { method, settings, fpr, model, length: Length::Steps(steps), ..Config::default() }
}

/// The default decay grows with the columns over the positives: whatever it is, steps stay finite and training rows ranked.
#[test]
fn many_columns_and_few_positives_break_no_run_down() {
    let data = bits(400, 29, 2048);
    let network = ModelSpec::parse("mlp:4").unwrap();
    // (The second half, and more than one network: UNDERCURVE_LONG=1.)
    let long = std::env::var_os("UNDERCURVE_LONG").is_some();
    let methods = ["agd-sbcd", "dca", "sorr", "agd-sbcd relax=100", "proximal-dca", "sorr optimizer=agd-sbcd"];
    for (at, method) in methods.into_iter().take(if long { 6 } else { 3 }).enumerate() {
        let models = [(&ModelSpec::Linear, "start"), (&ModelSpec::Linear, "zero"), (&network, "start")];
        for (model, to) in models.into_iter().take(if at == 0 || long { 3 } else { 2 }) {
            let method = format!("{method} decay-to={to}");
            let mut trainer =
                Trainer::<f32>::new(&config_of(&method, (0.05, 0.5), model.clone(), 240), data.clone(), None).unwrap();
            while trainer.step().unwrap_or_else(|e| panic!("{method}, {model:?}: {e}")).is_some() {}
            let pauc = trainer.report().unwrap().train.get("pauc").unwrap();
            // (At 0 itself all scores tie.)
            assert!(to == "zero" || pauc > 0.9, "{method}, {model:?}: {pauc}");
        }
    }
}

/// The default batch holds five negatives of the range in the mean, up to 576 rows; what is set stays.
#[test]
fn batches_hold_negatives_of_the_range() {
    let data = bits(3000, 300, 3);
    let rows = |method: &str, fpr, data: &Arc<Dataset<f32>>| {
        let config = config_of(method, fpr, ModelSpec::Linear, 40);
        let mut trainer = Trainer::<f32>::new(&config, data.clone(), None).unwrap();
        trainer.step().unwrap();
        trainer.batch_index().len()
    };
    for (fpr, threshold, others) in [
        ((0.0, 0.5), 64, 128),
        ((0.1, 0.2), 64, 128),
        ((0.0, 0.05), 128, 128),
        ((0.05, 0.08), 192, 192),
        ((0.0, 0.01), 576, 576),
        ((0.0, 0.001), 576, 576),
    ] {
        assert_eq!(rows("pauc-threshold", fpr, &data), threshold, "{fpr:?}");
        for method in ["pauc-minibatch", "agd-sbcd", "dca", "proximal-dca"] {
            assert_eq!(rows(method, fpr, &data), others, "{method} {fpr:?}");
        }
    }
    assert_eq!(rows("sopa", (0.0, 0.01), &data), 576);
    assert_eq!(rows("sopa-s", (0.0, 0.01), &data), 128);
    assert_eq!(rows("pauc-threshold positives=8 negatives=56", (0.0, 0.01), &data), 64);
    assert_eq!(rows("pauc-threshold", (0.0, 0.05), &bits(70, 10, 3)), 10 + 60);
}

/// SVMpAUC-tight's default weight is the number of positives.
#[test]
fn the_weight_of_the_bound_follows_the_positives() {
    let data = bits(600, 50, 30);
    let params = |method: &str| {
        let mut trainer =
            Trainer::<f32>::new(&config_of(method, (0.0, 0.5), ModelSpec::Linear, 50), data.clone(), None).unwrap();
        trainer.run().unwrap();
        trainer.params().to_vec()
    };
    assert_eq!(params("svm-pauc-tight"), params("svm-pauc-tight c=50"));
    assert_ne!(params("svm-pauc-tight"), params("svm-pauc-tight c=40"));
}
