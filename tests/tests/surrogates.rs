//! Surrogates: value and slope against the definitions, curvature by differences, finite everywhere, the table complete.

use proptest::prelude::*;
use undercurve::surrogate::{AnySurrogate, Family, SURROGATES, Surrogate};
use undercurve::{Error, Real};
use undercurve_tests::soap::surrogate as twin;

fn all<T: Real>(parameter: f64) -> impl Iterator<Item = (&'static str, AnySurrogate<T>)> {
    SURROGATES.iter().map(move |&(name, _, _)| (name, AnySurrogate::by_name(name, T::of(parameter)).unwrap()))
}

proptest! {
    #[test]
    fn values_and_slopes_are_the_definitions(t in -30.0..30.0f64, parameter in 0.1..5.0f64) {
        for (name, loss) in all::<f64>(parameter) {
            let (value, slope) = twin(name, parameter, t);
            prop_assert!((loss.value(t) - value).abs() <= 1e-14 * (1.0 + value.abs()), "{name}({t})");
            prop_assert!((loss.slope(t) - slope).abs() <= 1e-14 * (1.0 + slope.abs()), "{name}'({t})");
        }
    }

    #[test]
    fn slopes_and_curvatures_are_derivatives(t in -6.0..6.0f64, parameter in 0.2..3.0f64) {
        for (name, loss) in all::<f64>(parameter) {
            let h = 1e-5;
            let kinks = [0.0, parameter, 1.0, 1.0 - parameter];
            let kink = kinks.iter().any(|k| (t - k).abs() < 2.0 * h);
            let slope = (loss.value(t + h) - loss.value(t - h)) / (2.0 * h);
            let curvature = (loss.slope(t + h) - loss.slope(t - h)) / (2.0 * h);
            let scale = 1.0 + loss.value(t).abs() + loss.curvature(t).abs();
            prop_assert!(kink || (slope - loss.slope(t)).abs() < 1e-7 * scale, "{name}'({t})");
            prop_assert!(kink || (curvature - loss.curvature(t)).abs() < 1e-5 * scale, "{name}''({t})");
        }
    }

    #[test]
    fn they_fall(a in -50.0..50.0f64, b in -50.0..50.0f64, parameter in 0.2..3.0f64) {
        for (name, loss) in all::<f64>(parameter).filter(|(_, loss)| Surrogate::<f64>::is_monotone(*loss)) {
            prop_assert!(loss.value(a.min(b)) >= loss.value(a.max(b)), "{name}");
            prop_assert!(loss.slope(a) <= 0.0, "{name}");
        }
    }
}

/// Every finite margin, up to the largest, gives finite numbers.
#[test]
fn finite_everywhere() {
    fn check<T: Real>() {
        for (name, loss) in all::<T>(1.0).chain(all::<T>(7.5)) {
            for m in [T::MAX, T::of(1e30), T::of(1e5), T::of(100.0), T::of(1.0), T::of(1e-30), T::ZERO] {
                for t in [m, -m] {
                    let all = [loss.value(t), loss.slope(t), loss.curvature(t)];
                    assert!(all.iter().all(|x| x.is_finite()), "{name}({t}): {all:?}");
                }
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn parameters_are_checked() {
    for (name, _) in all::<f64>(1.0) {
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(AnySurrogate::by_name(name, bad), Err(Error::Param { .. })), "{name} {bad}");
        }
    }
    assert_eq!(AnySurrogate::by_name("hinged", 1.0f64), Err(Error::Param { what: "surrogate" }));
}

/// A loss is summed as its family: it is the function that the family says.
#[test]
fn families_say_the_truth() {
    for param in [0.5, 1.0, 2.0] {
        for (name, loss) in all::<f64>(param) {
            let family = |t: f64| match loss.family() {
                Family::Square { margin } => (margin - t).powi(2),
                Family::Exponential { rate } => (-rate * t).exp(),
                Family::Hinge { margin, square } => (margin - t).max(0.0).powi(if square { 2 } else { 1 }),
                Family::Window { margin, width, round } => match (margin - t).max(0.0) {
                    d if d <= width && round => d * d / (2.0 * width),
                    d if round => d - width / 2.0,
                    d => d.min(width) / width,
                },
                Family::Sigmoid { scale } => 1.0 / (1.0 + (scale * t).exp()),
                Family::Softplus { scale } => (-scale * t).exp().ln_1p(),
                Family::Pairs => loss.value(t),
            };
            for t in (-40..=40).map(|k| f64::from(k) / 8.0) {
                let (got, want) = (loss.value(t), family(t));
                assert!((got - want).abs() <= 1e-14 * want.abs().max(1.0), "{name} {param} at {t}: {got} {want}");
            }
            assert_eq!(loss.param(), param, "{name}");
        }
    }
}

/// Softsign, (1 − t/(1 + |t|))/2, which is smooth and no function of e^(−ct).
#[derive(Clone, Copy)]
struct Softsign;

impl Surrogate<f64> for Softsign {
    fn value(self, t: f64) -> f64 {
        0.5 * (1.0 - t / (1.0 + t.abs()))
    }
    fn slope(self, t: f64) -> f64 {
        -0.5 / (1.0 + t.abs()).powi(2)
    }
    fn curvature(self, t: f64) -> f64 {
        t.signum() / (1.0 + t.abs()).powi(3)
    }
}

/// By hand: the mean over six pairs.
#[test]
fn a_loss_of_ones_own_is_summed_pair_by_pair() {
    let (high, low) = ([0.9, 0.2], [0.1, 0.4, -0.3]);
    let (mut by_high, mut by_low) = ([0.0; 2], [0.0; 3]);
    let loss = undercurve::pairs::brute::auc(Softsign, &high, &low, &mut by_high, &mut by_low).unwrap();
    let mean = |of: fn(Softsign, f64) -> f64, high: &[f64]| {
        high.iter().flat_map(|a| low.iter().map(move |b| of(Softsign, a - b))).sum::<f64>() / 6.0
    };
    assert!((loss - mean(Softsign::value, &high)).abs() < 1e-15 && (loss - 0.3683).abs() < 5e-5, "{loss}");
    for (got, score) in by_high.iter().zip(&high) {
        assert!((got - mean(Softsign::slope, &[*score])).abs() < 1e-15 && *got < 0.0, "{got}");
    }
}
