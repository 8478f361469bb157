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
    let families: Vec<Family> = all::<f64>(2.0).map(|(_, loss)| loss.family()).collect();
    assert!(families.contains(&Family::Smooth { scale: 2.0 }) && families.contains(&Family::Square));
}
