//! Pair sums against the double loops.

use undercurve::metric::Truth;
use undercurve::pairs::{self, Grade, Way, brute};
use undercurve::rng::Rng;
use undercurve::surrogate::{AnySurrogate, SURROGATES, Surrogate};
use undercurve::{Error, Need, Real, Result, Scratch, with_surrogate};
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
    close_in::<f64>(what, got, want, size, grade);
}

/// Of a result whose terms were computed in `T`.
fn close_in<T: Real>(what: &str, got: f64, want: f64, size: f64, grade: f64) {
    let error = (got - want).abs();
    // Terms smaller than `FAINT` count as 0, so below it there are no relative digits to keep.
    assert!(error <= grade * size + T::FAINT.f64(), "{what}: {got} for {want}, error {error:e} at size {size:e}");
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
    close_in::<T>(&what, got.f64(), value, value, grade);
    for (j, g) in widen(&gn).into_iter().chain(widen(&gp)).enumerate() {
        close_in::<T>(&what, g, grad[j], size[j], grade);
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

/// Which objective.
#[derive(Clone, Copy, Debug)]
enum Sum {
    Auc,
    Ap,
    Pauc(f64, f64),
}

fn whole<S: Real, G: Real>(
    sum: Sum,
    scores: &[S],
    labels: &[u8],
    loss: AnySurrogate<f64>,
    grade: Grade,
) -> Result<(f64, Vec<G>)> {
    let positives = labels.iter().filter(|&&y| y == 1).count();
    let need = pairs::need(scores.len(), positives);
    let (mut f, mut i, mut k) = (vec![f64::NAN; need.f64], vec![7; need.u32], vec![7; need.u64]);
    let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
    let mut grad = vec![G::of(-77.0); scores.len()];
    let value = match sum {
        Sum::Auc => pairs::auc(scores, labels, loss, grade, scratch, &mut grad),
        Sum::Ap => pairs::ap(scores, labels, loss, grade, scratch, &mut grad),
        Sum::Pauc(a, b) => pairs::pauc(scores, labels, loss, (a, b), grade, scratch, &mut grad),
    };
    if value.is_err() {
        assert!(grad.iter().all(|g| g.f64() == -77.0), "an error must write nothing");
    }
    Ok((value?, grad))
}

fn compare<S: Real>(sum: Sum, name: &str, c: f64, scores: &[S], labels: &[u8], grade: Grade, allowed: f64, what: &str) {
    let wide = widen(scores);
    let want = match sum {
        Sum::Auc => twin::auc(name, c, &wide, labels),
        Sum::Ap => twin::ap(name, c, &wide, labels),
        Sum::Pauc(a, b) => twin::weighted_auc(name, c, &wide, labels, &twin::pauc_weights(&wide, labels, a, b)),
    };
    let loss = AnySurrogate::by_name(name, c).unwrap();
    let (value, grad) = whole::<S, f64>(sum, scores, labels, loss, grade).unwrap();
    let what = format!("{what}: {sum:?} {name} c={c} {grade:?} n={} bytes={}", scores.len(), S::BYTES);
    close(&what, value, want.value, want.value.abs(), allowed);
    for j in 0..scores.len() {
        close(&what, grad[j], want.grad[j], want.size[j], allowed);
    }
}

/// Scores and labels of a named kind.
fn data(kind: &str, n: usize, share: f64, seed: u64) -> (Vec<f64>, Vec<u8>) {
    let mut dice = Dice(seed);
    let mut labels: Vec<u8> = (0..n).map(|_| u8::from(dice.unit() < share)).collect();
    (labels[0], labels[n - 1]) = (1, 0);
    let mut scores: Vec<f64> = labels.iter().map(|&y| f64::from(y) + dice.normal()).collect();
    match kind {
        "plain" => {}
        "ties" => scores.iter_mut().for_each(|s| *s = (*s * 2.0).round() / 2.0),
        "constant" => scores.fill(0.25),
        "zeros" => scores.iter_mut().for_each(|s| *s = if *s > 0.0 { 0.0 } else { -0.0 }),
        "outlier" => scores[n / 2] = 1e6,
        "outliers" => (scores[n / 2], scores[n / 3]) = (1e9, -3e7),
        "clusters" => scores.iter_mut().enumerate().for_each(|(j, s)| *s += if j % 3 == 0 { 2e3 } else { -1e3 }),
        "separated" => scores.iter_mut().zip(&labels).for_each(|(s, &y)| *s += f64::from(y) * 12.0),
        "offset" => scores.iter_mut().for_each(|s| *s += 1000.0),
        "wide" => scores.iter_mut().for_each(|s| *s *= 1e4),
        "powers" => scores.iter_mut().for_each(|s| *s = (6.0 * *s).exp()),
        "magnitudes" => scores.iter_mut().enumerate().for_each(|(j, s)| *s = (*s * 20.0).exp() * [1.0, -1.0][j % 2]),
        "sorted" => scores.sort_by(|a, b| a.partial_cmp(b).unwrap()),
        _ => panic!("no data {kind}"),
    }
    (scores, labels)
}

const KINDS: &[&str] = &[
    "plain",
    "ties",
    "constant",
    "zeros",
    "outlier",
    "outliers",
    "clusters",
    "separated",
    "offset",
    "wide",
    "powers",
    "magnitudes",
    "sorted",
];

fn compare_all(kind: &str, n: usize, share: f64, seed: u64, sums: &[Sum]) {
    let (scores, labels) = data(kind, n, share, seed);
    let narrow: Vec<f32> = scores.iter().map(|&s| s as f32).collect();
    for &(name, _, default) in SURROGATES {
        for &sum in sums {
            if matches!((sum, name), (Sum::Pauc(..), "square")) {
                continue;
            }
            // Overflow of e^(−t) is tested elsewhere.
            let far = matches!(kind, "outlier" | "outliers" | "clusters" | "wide" | "powers" | "magnitudes");
            if name == "exponential" && far {
                continue;
            }
            let c = if name == "squared-hinge" { 0.7 } else { default };
            for (grade, allowed) in [(Grade::Full, 1e-12), (Grade::Fast, 1e-6)] {
                compare(sum, name, c, &narrow, &labels, grade, allowed, kind);
                compare(sum, name, c, &scores, &labels, grade, allowed, kind);
            }
        }
    }
}

#[test]
fn whole_data_sums_are_the_double_loop() {
    for kind in KINDS {
        for (n, share) in [(900, 0.2), (450, 0.5), (2, 0.5), (3, 0.5), (70, 0.3)] {
            compare_all(kind, n, share, 11, &[Sum::Auc, Sum::Ap, Sum::Pauc(0.05, 0.5)]);
        }
    }
}

#[test]
fn narrow_and_wide_windows_are_the_double_loop() {
    for name in ["smoothed-hinge", "ramp"] {
        for c in [1e-7, 0.02, 0.3, 7.0, 300.0, 1e5] {
            for kind in KINDS {
                let (scores, labels) = data(kind, 330, 0.3, 17);
                let narrow: Vec<f32> = scores.iter().map(|&s| s as f32).collect();
                for sum in [Sum::Auc, Sum::Ap, Sum::Pauc(0.05, 0.51)] {
                    compare(sum, name, c, &scores, &labels, Grade::Full, 1e-12, kind);
                    compare(sum, name, c, &narrow, &labels, Grade::Full, 1e-12, kind);
                }
            }
        }
    }
}

#[test]
fn the_near_linear_sums_hold_at_any_size() {
    for n in 2..40 {
        for kind in KINDS {
            let (scores, labels) = data(kind, n, 0.4, n as u64);
            let losses = [
                ("hinge", 0.6),
                ("squared-hinge", 1.0),
                ("smoothed-hinge", 0.5),
                ("ramp", 1.5),
                ("sigmoid", 1.0),
                ("logistic", 0.7),
            ];
            for (name, c) in losses {
                let loss = AnySurrogate::by_name(name, c).unwrap();
                let need = pairs::need_by(Way::NearLinear, n, labels.iter().filter(|&&y| y == 1).count());
                let (mut f, mut i, mut k) = (vec![f64::NAN; need.f64], vec![7; need.u32], vec![7; need.u64]);
                for sum in [Sum::Auc, Sum::Ap] {
                    let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
                    let mut grad = vec![f64::NAN; n];
                    let by = if matches!(sum, Sum::Auc) { pairs::auc_by } else { pairs::ap_by };
                    let value = by(Way::NearLinear, &scores, &labels, loss, Grade::Full, scratch, &mut grad);
                    let twin = if matches!(sum, Sum::Auc) { twin::auc } else { twin::ap };
                    let want = twin(name, c, &scores, &labels);
                    let what = format!("{kind} {sum:?} {name} n={n}");
                    close(&what, value.unwrap(), want.value, want.value.abs(), 1e-12);
                    for j in 0..n {
                        close(&what, grad[j], want.grad[j], want.size[j], 1e-12);
                    }
                }
            }
        }
    }
}

#[test]
fn partial_auc_of_any_range_is_the_double_loop() {
    for (a, b) in [(0.0, 1.0), (0.0, 0.013), (0.333, 0.334), (0.9, 1.0), (0.25, 0.75)] {
        compare_all("plain", 500, 0.3, 5, &[Sum::Pauc(a, b)]);
        compare_all("ties", 120, 0.3, 6, &[Sum::Pauc(a, b)]);
    }
}

#[test]
fn many_random_inputs_are_the_double_loop() {
    // UNDERCURVE_LONG=1 runs for about six minutes.
    let rounds = if std::env::var_os("UNDERCURVE_LONG").is_some() { 600 } else { 6 };
    for seed in 0..rounds {
        let mut dice = Dice(seed + 1000);
        let kind = KINDS[dice.bits() as usize % KINDS.len()];
        let n = 2 + dice.bits() as usize % 1500;
        let (share, a) = (dice.unit(), 0.9 * dice.unit());
        compare_all(kind, n, share, seed, &[Sum::Auc, Sum::Ap, Sum::Pauc(a, a + 0.1)]);
    }
}

/// Scores of a random shape: groups of random width, place and magnitude, some of them ties, in random order.
fn any_shape(dice: &mut Dice) -> (Vec<f64>, Vec<u8>) {
    let mut rows = vec![];
    for _ in 0..1 + dice.bits() % 5 {
        let width = (40.0 * (dice.unit() - 0.6)).exp();
        let place = if dice.unit() < 0.4 { 0.0 } else { dice.normal() * (60.0 * (dice.unit() - 0.4)).exp() };
        let (ties, share) = (dice.unit() < 0.3, dice.unit());
        for _ in 0..1 + dice.bits() % 40 {
            let score = if ties { (2.0 * dice.normal()).round() * width } else { dice.normal() * width };
            rows.push((place + score, u8::from(dice.unit() < share)));
        }
    }
    rows.extend([(dice.normal(), 0), (dice.normal(), 1)]);
    for k in (1..rows.len()).rev() {
        rows.swap(k, dice.bits() as usize % (k + 1));
    }
    rows.into_iter().unzip()
}

#[test]
fn scores_of_any_shape_are_the_double_loop() {
    // UNDERCURVE_LONG=1 takes ten thousand sets.
    let rounds = if std::env::var_os("UNDERCURVE_LONG").is_some() { 10_000 } else { 200 };
    let losses = [
        ("hinge", 0.6),
        ("squared-hinge", 1.0),
        ("smoothed-hinge", 0.5),
        ("smoothed-hinge", 1e-3),
        ("ramp", 1.5),
        ("sigmoid", 1.0),
        ("logistic", 0.7),
    ];
    for seed in 0..rounds {
        let (scores, labels) = any_shape(&mut Dice(seed + 77));
        let n = scores.len();
        let need = pairs::need_by(Way::NearLinear, n, labels.iter().filter(|&&y| y == 1).count());
        let (mut f, mut i, mut k) = (vec![f64::NAN; need.f64], vec![7; need.u32], vec![7; need.u64]);
        for (name, c) in losses {
            let loss = AnySurrogate::by_name(name, c).unwrap();
            for is_ap in [false, true] {
                let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
                let mut grad = vec![f64::NAN; n];
                let by = if is_ap { pairs::ap_by } else { pairs::auc_by };
                let twin = if is_ap { twin::ap } else { twin::auc };
                let value = by(Way::NearLinear, &scores, &labels, loss, Grade::Full, scratch, &mut grad);
                let want = twin(name, c, &scores, &labels);
                let what = format!("{seed} {name} {c} n={n}");
                close(&what, value.unwrap(), want.value, want.value.abs(), 1e-12);
                for j in 0..n {
                    close(&what, grad[j], want.grad[j], want.size[j], 1e-12);
                }
            }
        }
    }
}

#[test]
fn more_panels_than_are_kept_are_the_double_loop() {
    let n = 70_000;
    let mut dice = Dice(5);
    let labels: Vec<u8> = (0..n).map(|k| u8::from(k % 700 == 0)).collect();
    for stretch in [1e5, 1e12] {
        // Half of them in a crowd.
        let scores: Vec<f64> = (0..n).map(|k| dice.normal() * if k % 2 == 0 { stretch } else { 30.0 }).collect();
        for (name, sum) in [("sigmoid", Sum::Ap), ("logistic", Sum::Auc), ("sigmoid", Sum::Pauc(0.0, 0.6))] {
            compare(sum, name, 1.0, &scores, &labels, Grade::Full, 1e-12, "panels");
        }
        compare(Sum::Auc, "sigmoid", 1.0, &scores, &labels, Grade::Fast, 1e-6, "panels");
    }
}

#[test]
fn gradients_are_finite_differences() {
    let (scores, labels) = data("plain", 700, 0.2, 4);
    for name in ["squared-hinge", "smoothed-hinge", "logistic", "sigmoid", "exponential"] {
        for sum in [Sum::Auc, Sum::Ap, Sum::Pauc(0.1, 0.6)] {
            let loss = AnySurrogate::by_name(name, 1.0).unwrap();
            let value = |scores: &[f64]| whole::<f64, f64>(sum, scores, &labels, loss, Grade::Full).unwrap();
            let (_, grad) = value(&scores);
            for j in [0, 17, 350, 699] {
                let h = 1e-4;
                let (mut up, mut down) = (scores.clone(), scores.clone());
                up[j] += h;
                down[j] -= h;
                let slope = (value(&up).0 - value(&down).0) / (2.0 * h);
                assert!((slope - grad[j]).abs() < 1e-7, "{name} {sum:?} {j}: {slope} {}", grad[j]);
            }
        }
    }
}

#[test]
fn order_of_rows_and_gradient_type_do_not_matter() {
    let (scores, labels) = data("plain", 800, 0.3, 9);
    let scores: Vec<f32> = scores.iter().map(|&s| s as f32).collect();
    let turned: Vec<f32> = scores.iter().rev().copied().collect();
    let turned_labels: Vec<u8> = labels.iter().rev().copied().collect();
    for &(name, _, c) in SURROGATES {
        let loss = AnySurrogate::by_name(name, c).unwrap();
        for sum in [Sum::Auc, Sum::Ap] {
            let (value, grad) = whole::<f32, f64>(sum, &scores, &labels, loss, Grade::Full).unwrap();
            let (single_value, single) = whole::<f32, f32>(sum, &scores, &labels, loss, Grade::Full).unwrap();
            let (_, mirrored) = whole::<f32, f64>(sum, &turned, &turned_labels, loss, Grade::Full).unwrap();
            assert_eq!(value.to_bits(), single_value.to_bits());
            for j in 0..800 {
                assert_eq!((grad[j] as f32).to_bits(), single[j].to_bits());
                assert!((grad[j] - mirrored[799 - j]).abs() < 1e-12, "{name} {sum:?}");
            }
        }
    }
}

#[test]
fn bad_input_is_named_and_nothing_is_written() {
    let hinge = AnySurrogate::by_name("squared-hinge", 1.0).unwrap();
    let scores = [0.0f32, 1.0, f32::NAN, 2.0];
    let run = |scores: &[f32], labels: &[u8], loss| whole::<f32, f32>(Sum::Ap, scores, labels, loss, Grade::Full).err();
    assert_eq!(run(&scores, &[0, 1, 0, 1], hinge), Some(Error::NonFinite { what: "scores", at: 2 }));
    assert_eq!(run(&scores[..2], &[0, 2], hinge), Some(Error::Label { at: 1 }));
    assert_eq!(run(&scores[..2], &[1, 1], hinge), Some(Error::OneClass));
    assert_eq!(run(&[], &[], hinge), Some(Error::OneClass));
    assert_eq!(run(&scores[..2], &[1, 0, 0], hinge), Some(Error::Length { what: "labels", need: 2, got: 3 }));
    let largest: Vec<f32> = (0..60).map(|j| if j % 2 == 0 { f32::MAX } else { f32::MIN }).collect();
    let labels: Vec<u8> = (0..60).map(|j| j % 2).collect();
    assert_eq!(run(&largest, &labels, hinge), Some(Error::Overflow { what: "margin" }));
    let square = AnySurrogate::by_name("square", 1.0).unwrap();
    let pauc = |loss, a, b| whole::<f32, f32>(Sum::Pauc(a, b), &[0.0, 1.0], &[0, 1], loss, Grade::Full).err();
    assert!(matches!(pauc(square, 0.0, 1.0), Some(Error::Unsupported { .. })));
    for (a, b) in [(0.5, 0.5), (0.6, 0.5), (-0.1, 0.5), (0.0, 1.1), (f64::NAN, 1.0), (0.0, f64::NAN)] {
        assert_eq!(pauc(hinge, a, b), Some(Error::Param { what: "fpr" }));
    }
    let exponential = AnySurrogate::by_name("exponential", 1.0).unwrap();
    let far = whole::<f32, f32>(Sum::Auc, &[1000.0, 0.0], &[0, 1], exponential, Grade::Full).err();
    assert_eq!(far, Some(Error::Overflow { what: "exponential" }));
}

#[test]
fn gradients_that_do_not_fit_are_errors() {
    let mut refused = 0;
    for n in [6, 900] {
        let (scores, labels) = data("plain", n, 0.3, 5);
        for (name, ..) in SURROGATES {
            for exponent in (-60..=45).step_by(5) {
                let c = 10f64.powi(exponent);
                let loss = AnySurrogate::by_name(name, c).unwrap();
                for sum in [Sum::Auc, Sum::Ap] {
                    for grade in [Grade::Fast, Grade::Full] {
                        match whole::<f64, f32>(sum, &scores, &labels, loss, grade) {
                            Ok((value, grad)) => {
                                assert!(value.is_finite(), "{name} {c:e} {n}: {value}");
                                assert!(grad.iter().all(|g| g.is_finite()), "{name} {c:e} {n}: {sum:?}");
                            }
                            Err(_) => refused += 1,
                        }
                    }
                }
            }
        }
    }
    assert!(refused > 0);
}

#[test]
fn memory_for_more_rows_than_there_can_be_is_never_met() {
    for rows in [1 << 32, usize::MAX / 2, usize::MAX] {
        assert_eq!(pairs::need(rows, 1).f64, usize::MAX);
        assert_eq!(pairs::need(1, rows).f64, usize::MAX);
        assert_eq!(undercurve::metric::need(rows).u64, usize::MAX);
    }
    assert!(pairs::need(u32::MAX as usize, u32::MAX as usize).f64 < usize::MAX);
}

#[test]
fn exact_gradients_sum_to_zero() {
    // Objectives of differences do not move when all scores do.
    let (scores, labels) = data("plain", 1000, 0.2, 21);
    for &(name, _, c) in SURROGATES {
        let loss = AnySurrogate::by_name(name, c).unwrap();
        for sum in [Sum::Auc, Sum::Ap] {
            let (_, grad) = whole::<f64, f64>(sum, &scores, &labels, loss, Grade::Full).unwrap();
            let size: f64 = grad.iter().map(|g| g.abs()).sum();
            assert!(size > 0.0 && grad.iter().sum::<f64>().abs() < 1e-12 * size, "{name} {sum:?}");
        }
    }
}

/// The memory that is said to be enough is, and one element less of any kind is refused.
#[test]
fn a_sum_takes_what_it_says_and_no_less() {
    use undercurve::pairs::Sum;
    let mut rng = Rng::new(7);
    for (n, share) in [(2, 0.5), (4, 0.25), (9, 0.5), (40, 0.1), (64, 0.4), (150, 0.9), (500, 0.1), (700, 0.4)] {
        // Together, and so far apart that every row has a panel of its own.
        for spread in [1.0, 40.0, 1e5] {
            let (mut scores, labels) = data("plain", n, share, n as u64);
            scores.iter_mut().for_each(|s| *s *= spread * (0.9 + 0.2 * rng.uniform()));
            let positives = labels.iter().filter(|&&y| y == 1).count();
            if positives == 0 || positives == n {
                continue;
            }
            for &(name, _, param) in SURROGATES {
                let loss = AnySurrogate::by_name(name, param).unwrap();
                for sum in [
                    Sum::Auc,
                    Sum::Ap,
                    Sum::Pauc { fpr: (0.1, 0.7), tpr: 0.0 },
                    Sum::Pauc { fpr: (0.0, 0.5), tpr: 0.4 },
                ] {
                    if matches!(sum, Sum::Pauc { .. }) && name == "square" {
                        continue;
                    }
                    let with = |need: Need, grade: Grade| {
                        let (mut f, mut i, mut k) = (vec![f64::NAN; need.f64], vec![7; need.u32], vec![7; need.u64]);
                        let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
                        let mut grad = vec![0.0; n];
                        let truth = Truth::new(&labels, &[]).unwrap();
                        let value = pairs::sum(sum, &scores, truth, loss, grade, scratch, &mut grad);
                        value.map(|value| (value, grad))
                    };
                    let need = pairs::need_for(sum, loss, n, positives);
                    let what = format!("{name} {sum:?} n={n} n+={positives} spread {spread}");
                    let most = pairs::need(n, positives);
                    assert_eq!(need.either(most), most, "{what}");
                    for grade in [Grade::Full, Grade::Fast] {
                        // (Squares of wide scores may not fit.)
                        let (least, usual) = (with(need, grade), with(most, grade));
                        assert_eq!(least, usual, "{what}");
                        assert!(!matches!(least, Err(Error::Length { .. })), "{what}: {least:?}");
                    }
                    let less = [
                        Need { f64: need.f64.wrapping_sub(1), ..need },
                        Need { u32: need.u32.wrapping_sub(1), ..need },
                        Need { u64: need.u64.wrapping_sub(1), ..need },
                    ];
                    for less in less.into_iter().filter(|less| less.either(need) == need) {
                        assert!(matches!(with(less, Grade::Full), Err(Error::Length { .. })), "{what}: {less:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn scratch_is_small_where_the_data_are() {
    use undercurve::pairs::Sum;
    let bytes = |need: Need| 8 * need.f64 + 4 * need.u32 + 8 * need.u64;
    let of =
        |name, sum, n, positives| bytes(pairs::need_for(sum, AnySurrogate::by_name(name, 1.0).unwrap(), n, positives));
    assert!(bytes(pairs::need(4, 1)) <= 1024);
    assert!(of("squared-hinge", Sum::Ap, 500, 50) <= 16 << 10);
    for (n, positives) in [(1000, 50), (20_000, 400), (100_000, 5000)] {
        // (Tests build the sums for several threads, whose parts are counted apart.)
        let parts = if n >= 1 << 15 { 33 * 8 * (3 * 4096 + 2) + 8 * n + 16 * (64 + 16 * (positives + 3)) } else { 0 };
        assert!(of("hinge", Sum::Auc, n, positives) <= 24 * n + 60 * positives + parts, "{n}");
        assert!(of("hinge", Sum::Ap, n, positives) <= 24 * n + 84 * positives + parts, "{n}");
    }
    assert_eq!(of("square", Sum::Ap, 1000, 50) + of("exponential", Sum::Auc, 1000, 50), 0);
}

#[test]
fn sums_with_their_own_memory_are_the_same() {
    let mut sums = pairs::Sums::new();
    for n in [700, 9, 64] {
        let (scores, labels) = data("plain", n, 0.3, 5);
        for &(name, _, param) in SURROGATES {
            let loss = AnySurrogate::by_name(name, param).unwrap();
            let mut grad = vec![0.0; n];
            let value = sums.ap(&scores, &labels, loss, &mut grad).unwrap();
            assert_eq!((value, grad), whole(Sum::Ap, &scores, &labels, loss, Grade::Full).unwrap());
        }
        let (weights, mut grad) = (vec![2.0; n], vec![0.0; n]);
        let hinge = AnySurrogate::by_name("hinge", 1.0).unwrap();
        let truth = Truth::new(&labels, &weights).unwrap();
        let weighted = sums.sum(pairs::Sum::Auc, &scores, truth, hinge, &mut grad).unwrap();
        let plain = sums.auc(&scores, &labels, hinge, &mut grad).unwrap();
        assert!((weighted - plain).abs() < 1e-12 * plain);
    }
    assert!(matches!(
        sums.auc(&[0.0, 1.0], &[1, 1], AnySurrogate::by_name("hinge", 1.0).unwrap(), &mut [0.0; 2]),
        Err(Error::OneClass)
    ));
}
