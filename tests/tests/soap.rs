//! SOAP's estimator against its naive twin, a peer's figures, finite differences and its own promise of unbiasedness.

use proptest::prelude::*;
use undercurve::batch::{Batch, Drawn};
use undercurve::estimator::{Estimator, First, Grad, Link, Soap, SoapSettings, Weights};
use undercurve::rng::Rng;
use undercurve::surrogate::{AnySurrogate, SURROGATES};
use undercurve::{Error, Real, Scratch};
use undercurve_tests::soap as twin;

#[derive(Debug, PartialEq)]
struct Out<T> {
    value: f64,
    grad: Vec<T>,
}

/// One update on a batch given as negatives then positives.
fn update<T: Real>(
    soap: &Soap,
    scores: &[T],
    negatives: usize,
    slots: &[u32],
    population: [u32; 2],
    drawn: Drawn,
    u: &mut [T],
) -> Result<Out<T>, Error> {
    let starts = [0, negatives as u32, scores.len() as u32];
    let batch = Batch::new(scores, 1, &starts, &population, drawn)?.with_slots(slots);
    let mut memory = vec![T::ZERO; Estimator::<T>::need(soap, batch.shape()).real];
    let mut grad = vec![T::ZERO; scores.len()];
    let scratch = Scratch { real: &mut memory, f64: &mut [], u32: &mut [], u64: &mut [] };
    let value = soap.update(&batch, &[], u, scratch, Grad { scores: &mut grad, aux: &mut [] })?;
    Ok(Out { value, grad })
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

#[test]
fn equals_the_figures_of_a_peer() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/golden/soap.json")).unwrap();
    let golden: serde_json::Value = serde_json::from_str(&text).unwrap();
    let reals = |v: &serde_json::Value| v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect::<Vec<_>>();
    let mut checked = 0;
    for case in golden["cases"].as_array().unwrap() {
        let name = case["surrogate"].as_str().unwrap();
        let loss = AnySurrogate::by_name(name, case["parameter"].as_f64().unwrap()).unwrap();
        let gamma = case["gamma"].as_f64().unwrap();
        let soap = Soap::new(SoapSettings {
            surrogate: loss.to(),
            link: Link::Identity,
            gamma,
            floor: 0.0,
            weights: Weights::AsDrawn,
            first: First::Zero,
        })
        .unwrap();
        let mut u = vec![0.0; 2 * golden["data_len"].as_u64().unwrap() as usize];
        for (batch, step) in golden["batches"].as_array().unwrap().iter().zip(case["steps"].as_array().unwrap()) {
            let (scores, labels, index) = (reals(&batch["scores"]), reals(&batch["labels"]), reals(&batch["index"]));
            let mut order: Vec<usize> = (0..scores.len()).collect();
            order.sort_by_key(|&k| labels[k] as u8);
            let negatives = labels.iter().filter(|&&y| y == 0.0).count();
            let ordered: Vec<f64> = order.iter().map(|&k| scores[k]).collect();
            let slots: Vec<u32> = order[negatives..].iter().map(|&k| index[k] as u32).collect();
            let out = update(&soap, &ordered, negatives, &slots, [9, 3], Drawn::Stratified, &mut u).unwrap();
            let want = reals(&step["grad"]);
            for (&k, got) in order.iter().zip(&out.grad) {
                assert!(close(*got, want[k], 1e-14), "{name}: {got} is not {}", want[k]);
            }
            let (all, own) = (reals(&step["state_after"]["u_all"]), reals(&step["state_after"]["u_pos"]));
            for (k, u) in u.chunks(2).enumerate() {
                assert!(close(u[0], own[k], 1e-14) && close(u[1], all[k], 1e-14));
            }
            checked += 1;
        }
    }
    assert!(checked >= 6, "only {checked} golden steps were found");
}

fn scores_with_ties() -> impl Strategy<Value = f64> {
    prop_oneof![-3.0..3.0f64, (-4i8..4).prop_map(|k| f64::from(k) * 0.5), Just(0.0), Just(-0.0)]
}

proptest! {
    #[test]
    fn equals_the_naive_twin(
        low in prop::collection::vec(scores_with_ties(), 1..20),
        high in prop::collection::vec(scores_with_ties(), 2..12),
        which in 0..SURROGATES.len(),
        parameter in 0.3..3.0f64,
        sigmoid: bool,
        gamma in 0.05..1.0f64,
        floor in prop_oneof![Just(0.0), 0.01..0.5f64],
        first: bool,
        drawn in 0..4u8,
        more in [0..50u32, 0..50u32],
    ) {
        let (name, _, _) = SURROGATES[which];
        let loss = AnySurrogate::by_name(name, parameter).unwrap();
        let (b_low, b_high) = (low.len() as f64, high.len() as f64);
        let population = [low.len() as u32 + more[0], high.len() as u32 + more[1]];
        let [n_low, n_high] = population.map(f64::from);
        let (n, b) = (n_low + n_high, b_low + b_high);
        let scores: Vec<f64> = low.iter().chain(&high).copied().collect();
        let labels: Vec<u8> = (0..scores.len()).map(|k| u8::from(k >= low.len())).collect();
        let (weights, drawn) = match drawn {
            0 => (Weights::AsDrawn, Drawn::Stratified),
            1 => (Weights::Unbiased, Drawn::Stratified),
            2 => (Weights::Unbiased, Drawn::Uniform),
            _ => (Weights::AsDrawn, Drawn::All),
        };
        let weight = |i: usize, j: usize| match (weights, drawn) {
            (Weights::Unbiased, Drawn::Stratified) if i == j => 1.0 / n,
            (Weights::Unbiased, Drawn::Stratified) if labels[j] == 1 => (n_high - 1.0) / (n * (b_high - 1.0)),
            (Weights::Unbiased, Drawn::Stratified) => n_low / (n * b_low),
            (Weights::Unbiased, Drawn::Uniform) if i == j => 1.0 / n,
            (Weights::Unbiased, Drawn::Uniform) => (n - 1.0) / (n * (b - 1.0)),
            _ => 1.0 / b,
        };
        let link = if sigmoid { Link::Sigmoid } else { Link::Identity };
        let first_visit = if first { First::Estimate } else { First::Zero };
        let soap = Soap::new(SoapSettings { surrogate: loss, link, gamma, floor, weights, first: first_visit }).unwrap();
        let naive =
            twin::Soap { surrogate: name, parameter, sigmoid, gamma, floor, first_estimate: first, weight: &weight };
        let slots: Vec<u32> = (0..high.len() as u32).rev().collect();
        let slot_of: Vec<usize> =
            (0..scores.len()).map(|k| if k < low.len() { 0 } else { slots[k - low.len()] as usize }).collect();
        let mut u = vec![0.0; 2 * high.len()];
        let mut u_twin = vec![[0.0; 2]; high.len()];
        // Three batches: the first visit, and two that mix with what is there.
        for shift in [0.0, 0.25, -0.75] {
            let moved: Vec<f64> = scores.iter().enumerate().map(|(k, s)| s + shift * ((k % 3) as f64)).collect();
            let out = update(&soap, &moved, low.len(), &slots, population, drawn, &mut u).unwrap();
            let (value, grad) = naive.step(&moved, &labels, &slot_of, &mut u_twin);
            prop_assert!(close(out.value, value, 1e-12), "value {} is not {value}", out.value);
            let scale = grad.iter().fold(0.0f64, |m, g| m.max(g.abs()));
            for (got, want) in out.grad.iter().zip(&grad) {
                prop_assert!((got - want).abs() <= 1e-12 * (1.0 + scale), "gradient {got} is not {want}");
            }
            for (got, want) in u.chunks(2).zip(&u_twin) {
                prop_assert!(close(got[0], want[0], 1e-13) && close(got[1], want[1], 1e-13));
            }
        }
    }
}

/// One first visit as drawn, in the accuracy that the pair sums promise: relative to the absolute terms, a few roundings and
/// those of the exponents. `Err` when it overflowed.
fn first_visit<T: Real>(name: &str, parameter: f64, scores: &[f64], negatives: usize) -> Result<Out<T>, Error> {
    let loss = AnySurrogate::by_name(name, T::of(parameter)).unwrap();
    let soap = Soap::new(SoapSettings {
        surrogate: loss.to(),
        link: Link::Identity,
        gamma: 1.0,
        floor: 0.0,
        weights: Weights::AsDrawn,
        first: First::Estimate,
    })
    .unwrap();
    let scores: Vec<T> = scores.iter().map(|&s| T::of(s)).collect();
    let positives = scores.len() - negatives;
    let slots: Vec<u32> = (0..positives as u32).collect();
    let population = [negatives as u32, positives as u32];
    let mut u = vec![T::ZERO; 2 * positives];
    let out = update(&soap, &scores, negatives, &slots, population, Drawn::Stratified, &mut u)?;

    let wide: Vec<f64> = scores.iter().map(|s| s.f64()).collect();
    let labels: Vec<u8> = (0..wide.len()).map(|k| u8::from(k >= negatives)).collect();
    let slot_of: Vec<usize> = (0..wide.len()).map(|k| k.saturating_sub(negatives)).collect();
    let weight = |_: usize, _: usize| 1.0 / wide.len() as f64;
    let naive = twin::Soap {
        surrogate: name,
        parameter: T::of(parameter).f64(),
        sigmoid: false,
        gamma: 1.0,
        floor: 0.0,
        first_estimate: true,
        weight: &weight,
    };
    let mut u_twin = vec![[0.0; 2]; positives];
    let (value, grad, size) = naive.sized_step(&wide, &labels, &slot_of, &mut u_twin);
    let span = wide.iter().fold(f64::MIN, |m, &s| m.max(s)) - wide.iter().fold(f64::MAX, |m, &s| m.min(s));
    let (ulps, least) = (if T::BYTES == 4 { 4e-6 } else { 1e-14 }, T::FAINT.f64());
    // One rounding of the exponent's argument costs its size in ulps, up to where the exponential is 0.
    let allowed = ulps * (1.0 + (parameter * span).min(750.0));
    let what = |at| format!("{name} {} bytes, span {span}, {negatives} + {positives}, {at}", T::BYTES);
    assert!((out.value - value).abs() <= allowed, "{}: {} for {value}", what("value"), out.value);
    let starts = [0, negatives as u32, scores.len() as u32];
    let batch = Batch::new(&scores, 1, &starts, &population, Drawn::Stratified).unwrap().with_slots(&slots);
    let mut memory = vec![T::ZERO; Estimator::<T>::need(&soap, batch.shape()).real];
    let scratch = Scratch { real: &mut memory, f64: &mut [], u32: &mut [], u64: &mut [] };
    let alone = soap.value(&batch, &[], scratch)?;
    assert!((alone - value).abs() <= allowed, "{}: {alone} for {value}", what("value alone"));
    for (k, (got, &want)) in u.iter().zip(u_twin.iter().flatten()).enumerate() {
        assert!((got.f64() - want).abs() <= allowed * want + least, "{}: {got} for {want}", what(&format!("u {k}")));
    }
    // What is smaller than `FAINT` counts as 0: slopes, times κ, which is at most a few thousand here, and κ times slopes.
    let lost = least * 1e4;
    for k in 0..wide.len() {
        let (got, want) = (out.grad[k].f64(), grad[k]);
        let error = (got - want).abs();
        assert!(error <= allowed * size[k] + lost, "{}: {got} for {want}", what(&format!("gradient {k}")));
    }
    Ok(out)
}

/// Scores over exactly `span`, both of whose ends are there.
fn spread(random: &mut Rng, count: usize, span: f64, offset: f64) -> Vec<f64> {
    let mut scores: Vec<f64> = (0..count).map(|_| offset + span * (random.uniform() - 0.5)).collect();
    scores[0] = offset + 0.5 * span;
    scores[count - 1] = offset - 0.5 * span;
    scores
}

const SMOOTH: [&str; 3] = ["sigmoid", "logistic", "exponential"];

/// Blocks of positives, lanes of rows and what is left over, one positive, ties, offsets, wide and very wide scores.
#[test]
fn every_shape_and_spread_is_the_twin() {
    let mut random = Rng::new(11);
    for &(name, _, parameter) in SURROGATES {
        for (negatives, positives) in [(1, 1), (3, 2), (8, 1), (56, 8), (57, 9), (100, 17), (7, 30)] {
            for (span, offset) in [(0.0, 0.0), (0.5, 0.0), (4.0, -1000.0), (9.0, 1000.0), (70.0, 0.0), (75.0, 1000.0)] {
                let plain = spread(&mut random, negatives + positives, span, offset);
                let ties: Vec<f64> = plain.iter().map(|s| s.round()).collect();
                for scores in [plain, ties] {
                    first_visit::<f64>(name, parameter, &scores, negatives).unwrap();
                    first_visit::<f32>(name, parameter, &scores, negatives).unwrap();
                }
            }
            for span in [1e4, 1e6] {
                let scores = spread(&mut random, negatives + positives, span, 0.0);
                let [single, double] = [
                    first_visit::<f32>(name, parameter, &scores, negatives).map(|_| ()),
                    first_visit::<f64>(name, parameter, &scores, negatives).map(|_| ()),
                ];
                let overflow = Err(Error::Overflow { what: "pairwise loss" });
                // The only loss that grows so fast; its last row, a positive, is the lowest.
                let want = if name == "exponential" { overflow } else { Ok(()) };
                assert_eq!((single, double), (want, want), "{name} {span}");
            }
        }
    }
}

/// How many factors of a product fit, and whether exponentials of scores do, depends on the span of the scores: at any span
/// the sums are the twin's, and on both sides of the last the same.
#[test]
fn the_path_does_not_show_in_the_sums() {
    fn both_sides<T: Real>(name: &str) {
        let limit = T::EXP_SPAN.f64();
        let mut random = Rng::new(5);
        for step in 0..=161 {
            let scores = spread(&mut random, 66, limit * f64::from(step) / 160.0, 0.0);
            first_visit::<T>(name, 1.0, &scores, 57).unwrap();
        }
        let mut scores = spread(&mut random, 66, limit, 0.0);
        let inside = first_visit::<T>(name, 1.0, &scores, 57).unwrap();
        scores[0] *= 1.0 + 4.0 * T::EPSILON.f64();
        let outside = first_visit::<T>(name, 1.0, &scores, 57).unwrap();
        assert!(T::of(scores[0]) - T::of(scores[65]) > T::EXP_SPAN && inside != outside);
        assert!((inside.value - outside.value).abs() <= 4.0 * limit * T::EPSILON.f64());
    }
    for name in SMOOTH {
        both_sides::<f32>(name);
        both_sides::<f64>(name);
    }
}

/// With γ = 1 on all data the estimator is the objective itself, so its gradient must be the objective's derivative.
#[test]
fn gradient_is_the_derivative_of_the_objective() {
    let scores = [-1.3, 0.2, 0.9, -0.4, 1.7, 0.31, -0.8, 0.55, 2.1, -0.15];
    for &(name, _, _) in SURROGATES {
        for link in [Link::Identity, Link::Sigmoid] {
            let loss = AnySurrogate::by_name(name, 0.83).unwrap();
            let soap = Soap::new(SoapSettings {
                surrogate: loss.to(),
                link,
                gamma: 1.0,
                floor: 0.0,
                weights: Weights::Unbiased,
                first: First::Estimate,
            })
            .unwrap();
            let run = |s: &[f64]| update(&soap, s, 6, &[0, 1, 2, 3], [6, 4], Drawn::All, &mut [0.0; 8]).unwrap();
            let out = run(&scores);
            for k in 0..scores.len() {
                let h = 1e-6;
                let (mut up, mut down) = (scores, scores);
                up[k] += h;
                down[k] -= h;
                let slope = (run(&up).value - run(&down).value) / (2.0 * h);
                assert!((slope - out.grad[k]).abs() < 2e-8, "{name}, score {k}: {slope} is not {}", out.grad[k]);
            }
        }
    }
}

/// The mean over all stratified batches of the unbiased estimator, with u at its exact value, is the exact gradient.
#[test]
fn unbiased_over_all_batches() {
    let low = [-0.9, 0.4, 0.1, 1.2, -0.2];
    let high = [0.7, -0.3, 1.1, 0.25];
    let all: Vec<f64> = low.iter().chain(&high).copied().collect();
    let labels: Vec<u8> = (0..9).map(|k| u8::from(k >= 5)).collect();
    let loss = AnySurrogate::by_name("squared-hinge", 1.0).unwrap();
    let (_, exact) = twin::exact("squared-hinge", 1.0, true, &all, &labels);

    // u at its exact value, kept there by a γ too small to move it.
    let once = Soap::new(SoapSettings {
        surrogate: loss.to(),
        link: Link::Sigmoid,
        gamma: 1.0,
        floor: 0.0,
        weights: Weights::Unbiased,
        first: First::Estimate,
    })
    .unwrap();
    let mut u = [0.0; 8];
    update(&once, &all, 5, &[0, 1, 2, 3], [5, 4], Drawn::All, &mut u).unwrap();
    let still = |weights| {
        Soap::new(SoapSettings {
            surrogate: loss.to(),
            link: Link::Sigmoid,
            gamma: 1e-17,
            floor: 0.0,
            weights,
            first: First::Estimate,
        })
        .unwrap()
    };

    let mut batches = Vec::new();
    for (a, b) in (0..4).flat_map(|a| (a + 1..4).map(move |b| (a, b))) {
        for (c, d, e) in (0..5).flat_map(|c| (c + 1..5).flat_map(move |d| (d + 1..5).map(move |e| (c, d, e)))) {
            batches.push([c, d, e, 5 + a, 5 + b]);
        }
    }
    let mean = |soap: &Soap| {
        let mut sum = [0.0; 9];
        for rows in &batches {
            let (scores, slots) = (rows.map(|row| all[row]), [rows[3] as u32 - 5, rows[4] as u32 - 5]);
            let out = update(soap, &scores, 3, &slots, [5, 4], Drawn::Stratified, &mut u.clone()).unwrap();
            rows.iter().zip(&out.grad).for_each(|(&row, g)| sum[row] += g);
        }
        sum.map(|s| s / batches.len() as f64)
    };
    for (k, got) in mean(&still(Weights::Unbiased)).iter().enumerate() {
        assert!((got - exact[k]).abs() < 1e-14, "score {k}: {got} is not {}", exact[k]);
    }
    let as_drawn = mean(&still(Weights::AsDrawn));
    let bias = (0..9).map(|k| (as_drawn[k] - exact[k]).abs()).fold(0.0, f64::max);
    assert!(bias > 1e-3, "as-drawn weights should show their bias here, but it is {bias}");
}

#[test]
fn errors_leave_state_and_gradient_alone() {
    let loss = AnySurrogate::by_name("squared-hinge", 1.0f32).unwrap();
    let soap = Soap::new(SoapSettings {
        surrogate: loss.to(),
        link: Link::Identity,
        gamma: 0.5,
        floor: 0.0,
        weights: Weights::Unbiased,
        first: First::Estimate,
    })
    .unwrap();
    let run = |scores: &[f32], negatives: usize, slots: &[u32]| {
        let mut u = [0.25f32; 8];
        let result = update(&soap, scores, negatives, slots, [100, 4], Drawn::Stratified, &mut u);
        assert!(result.is_ok() || u == [0.25; 8], "the state changed although there was an error");
        result.map(|out| out.grad.len())
    };
    assert_eq!(run(&[0.0, 1.0], 2, &[]), Err(Error::OneClass));
    assert_eq!(run(&[0.0, 1.0], 0, &[0, 1]), Err(Error::OneClass));
    assert_eq!(run(&[0.0, f32::NAN, 1.0], 1, &[0, 1]), Err(Error::NonFinite { what: "scores", at: 1 }));
    assert_eq!(run(&[0.0, 1.0, f32::INFINITY], 1, &[0, 1]), Err(Error::NonFinite { what: "scores", at: 2 }));
    assert_eq!(run(&[0.0, 1.0, 2.0], 1, &[0, 4]), Err(Error::Index { what: "slots", at: 1, len: 4 }));
    assert_eq!(run(&[0.0, 1.0, 2.0], 1, &[0]), Err(Error::Length { what: "slots", need: 2, got: 1 }));
    assert_eq!(run(&[0.0, 1.0], 1, &[0]), Err(Error::Param { what: "positives" }));
    assert!(matches!(run(&[3e38, 3e38, -3e38, 1.0], 2, &[0, 1]), Err(Error::Overflow { .. })));
    assert_eq!(run(&[0.0, 1.0, 2.0], 1, &[0, 1]), Ok(3));

    let loss = |name, parameter| AnySurrogate::by_name(name, parameter).unwrap();
    let new = |loss: AnySurrogate<f64>, gamma| {
        Soap::new(SoapSettings {
            surrogate: loss.to(),
            link: Link::Identity,
            gamma,
            floor: 0.0,
            weights: Weights::AsDrawn,
            first: First::Zero,
        })
    };
    assert_eq!(new(loss("square", 0.0), 0.5), Err(Error::Param { what: "margin" }));
    for gamma in [0.0, -1.0, 1.5, f64::NAN] {
        assert_eq!(new(loss("hinge", 1.0), gamma), Err(Error::Param { what: "gamma" }));
    }
}

/// Reading the objective leaves no trace, and on all data it is the twin's exact value.
#[test]
fn value_is_exact_on_all_data() {
    let scores = [-1.3, 0.2, 0.9, -0.4, 1.7, 0.31, -0.8, 0.55];
    let labels = [0, 0, 0, 0, 0, 1, 1, 1];
    for &(name, _, parameter) in SURROGATES {
        let loss = AnySurrogate::by_name(name, parameter).unwrap();
        let soap = Soap::new(SoapSettings {
            surrogate: loss.to(),
            link: Link::Sigmoid,
            gamma: 0.1,
            floor: 0.0,
            weights: Weights::Unbiased,
            first: First::Estimate,
        })
        .unwrap();
        let starts = [0, 5, 8];
        let batch = Batch::new(&scores, 1, &starts, &[5, 3], Drawn::All).unwrap();
        let mut memory = vec![0.0; Estimator::<f64>::need(&soap, batch.shape()).real];
        let scratch = Scratch { real: &mut memory, f64: &mut [], u32: &mut [], u64: &mut [] };
        let (want, _) = twin::exact(name, parameter, true, &scores, &labels);
        assert!(close(soap.value(&batch, &[], scratch).unwrap(), want, 1e-14));
    }
}
