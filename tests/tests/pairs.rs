//! Pair sums against the double loops.

use undercurve::pairs::brute;
use undercurve::surrogate::{AnySurrogate, SURROGATES, Surrogate};
use undercurve::{Error, Real, with_surrogate};
use undercurve_tests::pairs::{self as twin, Sums};

/// A small generator of test data, so that a failing case can be named by its seed.
struct Dice(u64);
impl Dice {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
    fn unit(&mut self) -> f64 {
        self.bits() as f64 / (1u64 << 31) as f64
    }
    /// Roughly normal.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

fn close(what: &str, got: f64, want: f64, size: f64, grade: f64) {
    let error = (got - want).abs();
    assert!(error <= grade * size, "{what}: {got} for {want}, error {error:e} at size {size:e}");
}

fn widen<T: Real>(xs: &[T]) -> Vec<f64> {
    xs.iter().map(|x| x.f64()).collect()
}

fn brute_auc<T: Real>(name: &str, c: f64, spread: f64, counts: (usize, usize), seed: u64, grade: f64) {
    let mut dice = Dice(seed);
    let p: Vec<T> = (0..counts.0).map(|_| T::of(0.5 + spread * dice.normal())).collect();
    let n: Vec<T> = (0..counts.1).map(|_| T::of(spread * dice.normal())).collect();
    let loss = AnySurrogate::by_name(name, T::of(c)).unwrap();
    let scores: Vec<f64> = widen(&n).into_iter().chain(widen(&p)).collect();
    let labels: Vec<u8> = (0..scores.len()).map(|j| u8::from(j >= n.len())).collect();
    let Sums { value, grad, size } = twin::auc(name, c, &scores, &labels);
    let (mut gp, mut gn) = (vec![T::ZERO; p.len()], vec![T::ZERO; n.len()]);
    let got = with_surrogate!(loss, l => brute::auc(l, &p, &n, &mut gp, &mut gn)).unwrap();
    let what = format!("{name} c={c} spread={spread} {counts:?} {}", T::BYTES);
    close(&what, got.f64(), value, value, grade);
    for (j, g) in widen(&gn).into_iter().chain(widen(&gp)).enumerate() {
        close(&what, g, grad[j], size[j], grade);
    }
}

#[test]
fn brute_auc_is_the_double_loop() {
    for (k, &(name, _, c)) in SURROGATES.iter().enumerate() {
        for counts in [(1, 1), (1, 7), (3, 8), (4, 16), (8, 56), (5, 65), (67, 131)] {
            for spread in [0.0, 0.3, 2.0, 40.0] {
                let exponential = name == "exponential" && spread > 2.0;
                let rate = if exponential { 0.1 } else { c };
                // One rounding of the exponent's argument costs its size in ulps.
                let stretch =
                    if matches!(name, "exponential" | "sigmoid" | "logistic") { 1.0 + 6.0 * spread } else { 1.0 };
                brute_auc::<f64>(name, rate, spread, counts, 7 + k as u64, 1e-14 * stretch);
                brute_auc::<f32>(name, rate, spread, counts, 7 + k as u64, 4e-6 * stretch);
            }
        }
    }
}

#[test]
fn row_sums_and_slopes_are_the_double_loop() {
    for &(name, _, c) in SURROGATES {
        for (anchors, others) in [(1, 1), (2, 9), (8, 64), (7, 70), (65, 66)] {
            let mut dice = Dice(3);
            let a: Vec<f64> = (0..anchors).map(|_| dice.normal()).collect();
            let o: Vec<f64> = (0..others).map(|_| dice.normal()).collect();
            let kappa: Vec<f64> = (0..anchors).map(|_| dice.normal()).collect();
            let loss = AnySurrogate::by_name(name, c).unwrap();
            let (mut v, mut s, mut g) = (vec![9.0; anchors], vec![9.0; anchors], vec![0.25; others]);
            with_surrogate!(loss, l => {
                brute::row_sums(l, &a, &o, &mut v, &mut s).unwrap();
                brute::add_slopes(l, &a, &kappa, &o, &mut g).unwrap();
            });
            for i in 0..anchors {
                let want_v: f64 = o.iter().map(|&o| twin::loss(name, c, a[i] - o).0).sum();
                let want_s: f64 = o.iter().map(|&o| twin::loss(name, c, a[i] - o).1).sum();
                close(name, v[i], want_v, want_v, 1e-13);
                close(name, s[i], want_s, o.iter().map(|&o| twin::loss(name, c, a[i] - o).1.abs()).sum(), 1e-13);
            }
            for j in 0..others {
                let terms: Vec<f64> = (0..anchors).map(|i| -kappa[i] * twin::loss(name, c, a[i] - o[j]).1).collect();
                let size = 0.25 + terms.iter().map(|x| x.abs()).sum::<f64>();
                close(name, g[j], 0.25 + terms.iter().sum::<f64>(), size, 1e-13);
            }
        }
    }
}

#[test]
fn factorised_losses_keep_their_accuracy_for_separated_scores() {
    // e^(−ct) spans thirty decades here; the smallest terms must not drown.
    let p: Vec<f64> = (0..9).map(|i| 30.0 + f64::from(i)).collect();
    let n: Vec<f64> = (0..20).map(|j| -f64::from(j)).collect();
    let (mut v, mut s) = (vec![0.0; 9], vec![0.0; 9]);
    for name in ["sigmoid", "logistic", "exponential"] {
        let loss = AnySurrogate::by_name(name, 1.0).unwrap();
        with_surrogate!(loss, l => brute::row_sums(l, &p, &n, &mut v, &mut s)).unwrap();
        for i in 0..9 {
            let want: f64 = n.iter().map(|&o| twin::loss(name, 1.0, p[i] - o).0).sum();
            let slope: f64 = n.iter().map(|&o| twin::loss(name, 1.0, p[i] - o).1).sum();
            close(name, v[i], want, want, 1e-13);
            close(name, s[i], slope, -slope, 1e-13);
        }
    }
}

#[test]
fn brute_rejects_what_it_cannot_do_and_writes_nothing() {
    let loss = undercurve::surrogate::SquaredHinge::new(1.0f32).unwrap();
    let (mut gp, mut gn) = ([5.0f32; 1], [5.0f32; 2]);
    assert_eq!(brute::auc(loss, &[], &[0.0, 1.0], &mut [], &mut gn), Err(Error::OneClass));
    assert_eq!(brute::auc(loss, &[-1e30], &[1e30, 0.0], &mut gp, &mut gn), Err(Error::Overflow { what: "pair sum" }));
    assert_eq!(brute::auc(loss, &[-3e38], &[3e38, 0.0], &mut gp, &mut gn), Err(Error::Overflow { what: "margin" }));
    assert!(matches!(brute::auc(loss, &[1.0], &[1.0], &mut gp, &mut gn), Err(Error::Length { .. })));
    assert_eq!((gp, gn), ([5.0], [5.0, 5.0]));
}

#[test]
fn exp_and_ln_1p_in_span_are_accurate() {
    for k in -3500..=3500 {
        let x = f64::from(k) * 0.1;
        let want = x.exp();
        close("exp", x.exp_in_span(), want, want, 1e-15);
        let x = f64::from(k) * 0.0114;
        let want = f64::from(x as f32).exp();
        close("expf", f64::from((x as f32).exp_in_span()), want, want, 3e-7);
    }
    for k in -3000..=600 {
        let x = (f64::from(k) * 0.1).exp();
        close("ln_1p", x.ln_1p_in_span(), x.ln_1p(), x.ln_1p(), 1e-15);
        let y = (f64::from(k) * 0.02).exp() as f32;
        let want = f64::from(y).ln_1p();
        close("ln_1pf", f64::from(y.ln_1p_in_span()), want, want, 3e-7);
    }
}

#[test]
fn parts_are_value_and_slope() {
    for &(name, _, c) in SURROGATES {
        let loss = AnySurrogate::by_name(name, c).unwrap();
        for k in -40..=40 {
            let t = f64::from(k) * 0.21;
            let (v, s) = loss.parts(t);
            let (want_v, want_s) = twin::loss(name, c, t);
            close(name, v, want_v, want_v, 1e-14);
            close(name, s * loss.slope_unit(), want_s, want_s.abs(), 1e-14);
            close(name, loss.value(t), want_v, want_v, 1e-14);
            close(name, loss.slope(t), want_s, want_s.abs(), 1e-14);
        }
    }
}
