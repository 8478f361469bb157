//! Bytes become an input of the pair sums or of the metrics, which are then compared with their twins.
//!
//! [`check`] panics where an answer is wrong, an error is not the right one, or something was written before an error. A
//! fuzzer feeds it from `tests/fuzz`; the test `fuzz` feeds it with random bytes.

use crate::{bounds, metric, pairs as twin};
use std::fmt::Debug;
use undercurve::metric::{FprRange, Metrics, TieRule};
use undercurve::pairs::{self, Grade};
use undercurve::surrogate::{AnySurrogate, SURROGATES, Surrogate as _};
use undercurve::{Error, Real, Scratch};

/// Rows at most; the twins are quadratic.
const MOST: usize = 1400;
/// Scores and parameters of which every surrogate but the exponential must take every mixture.
const TAME: f64 = 1e30;

/// Bytes, then zeros without end.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        let count = N.min(self.0.len());
        out[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        out
    }
    fn u8(&mut self) -> u8 {
        self.take::<1>()[0]
    }
    fn i8(&mut self) -> f64 {
        f64::from(self.u8() as i8)
    }
    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }
    /// Any number of the type; one that is not finite only if another byte agrees.
    fn bits<T: Real>(&mut self) -> f64 {
        let mut bytes = self.take::<8>();
        if T::BYTES == 4 {
            bytes[4..].fill(0);
        }
        let x = T::from_le(bytes).f64();
        if x.is_finite() || self.u8() == 77 { x } else { f64::from(bytes[0]) }
    }
}

/// What is summed, or that metrics are measured.
#[derive(Clone, Copy, Debug)]
enum What {
    Auc,
    Ap,
    Pauc(f64, f64),
    Metrics(f64, f64),
}

#[derive(Debug)]
struct Case<T> {
    what: What,
    surrogate: &'static str,
    parameter: f64,
    grade: Grade,
    scores: Vec<T>,
    labels: Vec<u8>,
}

impl<T: Real> Case<T> {
    fn new(kind: u8, bytes: &mut Bytes<'_>) -> Self {
        let grade = if kind & 1 == 0 { Grade::Full } else { Grade::Fast };
        let surrogate = SURROGATES[usize::from(bytes.u8()) % SURROGATES.len()].0;
        let parameter = match bytes.u8() {
            choice @ 0..=127 => [1.0, 0.7, 2.0, 0.1, 10.0, 0.001, 1000.0, 3.0][usize::from(choice % 8)],
            choice @ 128..=199 => 2f64.powi(i32::from(choice) - 164),
            200..=229 => bytes.i8().abs() / 16.0,
            _ => bytes.bits::<f64>().abs(),
        };
        let mut ends = [f64::from(bytes.u16()) / 65535.0, f64::from(bytes.u16()) / 65535.0];
        ends.sort_by(f64::total_cmp);
        let what = match (kind >> 1) % 4 {
            0 => What::Auc,
            1 => What::Ap,
            2 => What::Pauc(ends[0], ends[1]),
            _ => What::Metrics(ends[0], ends[1]),
        };
        let mut case = Self { what, surrogate, parameter, grade, scores: vec![], labels: vec![] };
        case.rows(bytes);
        case
    }

    fn push(&mut self, score: f64, label: u8) {
        if self.scores.len() < MOST {
            self.scores.push(T::of(score));
            self.labels.push(label);
        }
    }

    /// Rows that hide what goes wrong: ties, both zeros, neighbours, pairs on a bend, far outliers, and crowds.
    fn rows(&mut self, bytes: &mut Bytes<'_>) {
        let mut last = 0.0;
        while !bytes.0.is_empty() && self.scores.len() < MOST {
            let tag = bytes.u8();
            let label = if tag == 255 { bytes.u8() } else { tag & 1 };
            let key = T::of(last).key();
            let score = match (tag >> 1) % 13 {
                0 => bytes.bits::<T>(),
                1 => bytes.i8() / 8.0,
                2 => f64::from(bytes.u16() as i16) / 256.0,
                3 => last,
                4 => -last,
                5 => T::of_key(key.wrapping_add(1)).f64(),
                6 => T::of_key(key.wrapping_sub(1)).f64(),
                7 => last + self.parameter,
                8 => last - self.parameter,
                9 => last + bytes.i8() * 2f64.powi(i32::from(bytes.u8() % 64) - 32),
                10 => last * 2f64.powi(i32::from(bytes.u8() % 32)),
                11 => {
                    let tiny = f64::from(bytes.u16()) * if T::BYTES == 4 { 1e-45 } else { 5e-324 };
                    if bytes.u8().is_multiple_of(2) { tiny } else { -tiny }
                }
                _ => {
                    self.crowd(last, bytes);
                    continue;
                }
            };
            if score.is_finite() {
                last = T::of(score).f64();
            }
            self.push(score, label);
        }
    }

    /// Up to a thousand rows around a place.
    fn crowd(&mut self, place: f64, bytes: &mut Bytes<'_>) {
        let count = 4 * usize::from(bytes.u8());
        let (spread, share, shift) = (2f64.powf(bytes.i8() / 8.0), u64::from(bytes.u8()), bytes.i8() / 32.0);
        let levels = if bytes.u8().is_multiple_of(4) { 4.0 } else { 0.0 };
        let mut dice = u64::from(bytes.u16());
        let mut draw = || {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            dice >> 40
        };
        for _ in 0..count {
            let label = u8::from(draw() % 256 < share);
            let about: f64 = (0..4).map(|_| draw() as f64 / (1u64 << 24) as f64 - 0.5).sum::<f64>();
            let about = if levels > 0.0 { (about * levels).round() / levels } else { about };
            self.push(place + spread * (about + shift * f64::from(label)), label);
        }
    }

    /// The error that the input calls for, whatever is done with it.
    fn bad_input(&self) -> Option<Error> {
        let label = self.labels.iter().position(|&y| y > 1).map(|at| Error::Label { at });
        let score = self.scores.iter().position(|x| !x.is_finite());
        let score = score.map(|at| Error::NonFinite { what: "scores", at });
        let classes = [0, 1].map(|class| self.labels.contains(&class));
        let one = (classes != [true; 2]).then_some(Error::OneClass);
        match self.what {
            What::Metrics(..) if self.scores.is_empty() => Some(Error::Empty { what: "scores" }),
            What::Metrics(..) => score.or(label).or(one),
            _ => label.or(score).or(one),
        }
    }

    /// Whether the sum must have an answer in f64.
    fn is_tame(&self, spread: f64) -> bool {
        let c = self.parameter;
        let sizes = spread <= TAME && (1.0 / TAME..=TAME).contains(&c);
        let fpr = !matches!(self.what, What::Pauc(low, high) if high - low < 1e-4);
        let fits = match (self.surrogate, self.what) {
            ("exponential", What::Ap) => true,
            ("exponential", _) => c * spread <= 600.0,
            ("square", What::Pauc(..)) => false,
            _ => true,
        };
        sizes && fpr && fits
    }
}

/// Value and gradient of a case, in memory full of rubbish.
fn sum<T: Real, G: Real>(case: &Case<T>, loss: AnySurrogate<f64>) -> Result<(f64, Vec<G>), Error> {
    let positives = case.labels.iter().filter(|&&y| y == 1).count();
    let need = pairs::need(case.scores.len(), positives);
    let (mut f, mut i, mut k) = (vec![f64::NAN; need.f64], vec![7; need.u32], vec![7; need.u64]);
    let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
    let untouched = G::of(-77.0);
    let mut grad = vec![untouched; case.scores.len()];
    let (scores, labels) = (&case.scores, &case.labels);
    let value = match case.what {
        What::Auc | What::Metrics(..) => pairs::auc(scores, labels, loss, case.grade, scratch, &mut grad),
        What::Ap => pairs::ap(scores, labels, loss, case.grade, scratch, &mut grad),
        What::Pauc(low, high) => pairs::pauc(scores, labels, loss, (low, high), case.grade, scratch, &mut grad),
    };
    if value.is_err() {
        assert!(grad.iter().all(|g| *g == untouched), "written before {value:?}");
    }
    Ok((value?, grad))
}

#[track_caller]
fn within(what: &str, got: f64, want: f64, slack: f64) {
    // An infinite bound is the twin's own overflow and says nothing.
    let right = got.is_finite() && ((got - want).abs() <= slack || !want.is_finite() || slack.is_nan());
    assert!(right, "{what}: {got:e} for {want:e}, off by {:e}, allowed {slack:e}", (got - want).abs());
}

fn check_sum<T: Real>(case: &Case<T>) {
    let (name, c) = (case.surrogate, case.parameter);
    let Ok(loss) = AnySurrogate::by_name(name, c) else {
        let takes = c.is_finite() && (c > 0.0 || (name == "square" && c == 0.0));
        assert!(!takes, "{name} refuses {c}");
        return;
    };
    let result = sum::<T, f64>(case, loss);
    if let Some(error) = case.bad_input() {
        assert_eq!(result.err(), Some(error));
        return;
    }
    let wide: Vec<f64> = case.scores.iter().map(|s| s.f64()).collect();
    let ends = wide.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &s| (a.min(s), b.max(s)));
    let spread = ends.1 - ends.0;
    let (value, grad) = match result {
        Ok(result) => result,
        Err(error) => {
            let fits = match error {
                Error::Overflow { .. } => !case.is_tame(spread),
                Error::Param { what: "margin" } => c < 1e-60 || (name == "smoothed-hinge" && c > 1e60),
                Error::Param { what: "fpr" } => matches!(case.what, What::Pauc(low, high) if high - low < 1e-4),
                Error::Unsupported { .. } => matches!(case.what, What::Pauc(..)) && !loss.is_monotone(),
                _ => false,
            };
            assert!(fits, "refused: {error:?}");
            return;
        }
    };
    if let Ok((other, single)) = sum::<T, f32>(case, loss) {
        assert_eq!(other.to_bits(), value.to_bits());
        assert!(
            single.iter().zip(&grad).all(|(s, &g)| s.to_bits() == f32::settled_of(g).to_bits()),
            "f32 differs from f64"
        );
    }
    assert!(value.is_finite() && grad.iter().all(|g| g.is_finite()), "not finite");
    let far = spread > 1e66 || !(1e-66..1e66).contains(&c);
    if far || (name == "exponential" && c * spread > 600.0) {
        return; // the twin itself leaves the range
    }
    let grade = match (name, case.grade) {
        ("sigmoid" | "logistic", Grade::Fast) => 1e-6,
        _ => 1e-12,
    };
    let want = match case.what {
        What::Ap => bounds::ap(name, c, grade, &wide, &case.labels),
        What::Pauc(low, high) => {
            let weights = twin::pauc_weights(&wide, &case.labels, low, high);
            bounds::auc(name, c, grade, &wide, &case.labels, &weights)
        }
        _ => bounds::auc(name, c, grade, &wide, &case.labels, &vec![1.0; wide.len()]),
    };
    // What is smaller than `FAINT` counts as 0: of losses with a scale the slope by the margin times the scale, before the scale.
    let faint = if matches!(name, "sigmoid" | "logistic") { f64::FAINT * c.max(1.0) } else { f64::FAINT };
    within("value", value, want.value, want.value_slack + f64::FAINT);
    for (at, &got) in grad.iter().enumerate() {
        within(&format!("gradient {at}"), got, want.grad[at], want.slack[at] + faint);
    }
}

fn check_metrics<T: Real>(case: &Case<T>, low: f64, high: f64) {
    let (scores, labels) = (&case.scores, &case.labels);
    let mut metrics = Metrics::new();
    let counts = metrics.pair_counts(scores, labels);
    if let Some(error) = case.bad_input() {
        assert_eq!(counts, Err(error));
        assert_eq!(metrics.average_precision(scores, labels), Err(error));
        assert_eq!(metrics.summary(scores, labels, FprRange::FULL), Err(error));
        return;
    }
    let counts = counts.expect("good input");
    let wide: Vec<f64> = scores.iter().map(|s| s.f64()).collect();
    let near = |what: &str, got: Result<f64, Error>, want: f64, slack: f64| match got {
        Ok(got) => within(what, got, want, slack),
        Err(error) => panic!("{what}: {error:?}"),
    };
    near("auroc", Ok(counts.auroc()), metric::auroc(&wide, labels, 0.5), 1e-12);
    near("strict auroc", Ok(counts.strict()), metric::auroc(&wide, labels, 0.0), 1e-12);
    near("lenient auroc", Ok(counts.lenient()), metric::auroc(&wide, labels, 1.0), 1e-12);
    let ap = metrics.average_precision(scores, labels);
    near("ap", ap, metric::average_precision(&wide, labels), 1e-12);
    let best = metrics.precision_at_recall(scores, labels, low);
    assert_eq!(best, Ok(metric::precision_at_recall(&wide, labels, low)));
    let best = metrics.recall_at_precision(scores, labels, high);
    assert_eq!(best, Ok(metric::recall_at_precision(&wide, labels, high)));
    let Ok(range) = FprRange::new(low, high) else {
        assert!(low >= high);
        return;
    };
    // The ends are rounded, and their share of the range grows as it narrows.
    let slack = 1e-12 + 1e-15 / (high - low);
    let report = metrics.summary(scores, labels, range).expect("good input");
    assert_eq!((report.auroc, Ok(report.ap)), (counts.auroc(), ap));
    near("pauc", Ok(report.pauc), metric::curve_area(&wide, labels, 0.0, low, high), slack);
    for (rule, tied) in [(TieRule::Half, 0.5), (TieRule::Strict, 0.0)] {
        let pauc = metrics.partial_auc(scores, labels, range, rule);
        near("pauc of pairs", pauc, metric::pair_area(&wide, labels, 0.0, low, high, tied), slack);
        if low < 1.0 {
            let two = metrics.partial_auc_two_way(scores, labels, low, range, rule);
            let slack = 1e-12 + 1e-15 / (1.0 - low) / (high - low);
            near("two-way pauc", two, metric::pair_area(&wide, labels, low, low, high, tied), slack);
        }
    }
}

fn check_case<T: Real + Debug>(kind: u8, bytes: &mut Bytes<'_>) {
    let case = Case::<T>::new(kind, bytes);
    if std::env::var_os("UNDERCURVE_SHOW").is_some() {
        println!("{case:?}");
    }
    match case.what {
        What::Metrics(low, high) => check_metrics(&case, low, high),
        _ => check_sum(&case),
    }
}

/// Makes an input of the bytes and compares every answer with its twin.
///
/// # Panics
/// Where one is wrong. `UNDERCURVE_SHOW=1` prints the input first.
pub fn check(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let kind = bytes.u8();
    if kind & 128 == 0 { check_case::<f32>(kind, &mut bytes) } else { check_case::<f64>(kind, &mut bytes) }
}

/// Parts that constraints are made of, and some that they are not.
pub const PARTS: [&str; 33] = [
    "gap",
    "(",
    ")",
    "tpr",
    "fpr",
    "@",
    "0.1",
    "recall",
    "[",
    "]",
    "precision",
    "loss",
    "old",
    "<=",
    ">=",
    "≤",
    "≥",
    " ",
    "\"",
    "\"\"",
    "Female",
    "m,w",
    "é",
    "-",
    "1e-3",
    ".5",
    "nan",
    "inf",
    "2",
    "=",
    "\u{0}",
    "fpr <= 0.05",
    "+",
];

/// Makes a text of the bytes: a constraint is displayed as one that is read as the same, an error is within the text.
///
/// # Panics
/// Where that does not hold.
pub fn check_expression(bytes: &[u8]) {
    use undercurve::expression::{Expression, Quantity};
    let text: String = bytes.iter().map(|&byte| PARTS[byte as usize % PARTS.len()]).collect();
    match Expression::parse(&text) {
        Ok(read) => {
            let shown = read.to_string();
            assert_eq!(Expression::parse(&shown), Ok(read.clone()), "{text:?} is shown as {shown:?}");
            let quantity = read.quantity.to_string();
            assert_eq!(Quantity::parse(&quantity), Ok(read.quantity), "{quantity:?}");
        }
        Err(error) => assert!((1..=text.chars().count() + 1).contains(&error.at), "{text:?}: {error}"),
    }
}
