//! Metrics of merged states against those of all rows together.

use crate::metric::Numbers;
use undercurve::checkpoint::{Kind, seal};
use undercurve::metric::{Bounded, Bounds, FprRange, Metrics, State, StateError, Summary, TieRule, Truth};
use undercurve::{Error, Real};

/// Random places, shares and orders.
struct Draws(Numbers);

impl Draws {
    fn new(seed: u64) -> Self {
        Self(Numbers(seed))
    }
    fn next(&mut self) -> u64 {
        self.0.next()
    }
    fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64) as usize
    }
    fn unit(&mut self) -> f64 {
        self.0.unit()
    }
    fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

/// Cases of `long` in the long tier, else of `short`.
fn cases(short: usize, long: usize) -> usize {
    if std::env::var_os("UNDERCURVE_LONG").is_some() { long } else { short }
}

struct Rows<T> {
    scores: Vec<T>,
    labels: Vec<u8>,
    weights: Vec<f64>,
}

fn rows<T: Real>(random: &mut Draws) -> Rows<T> {
    let n = [1, 3, 20, 200, 700, 1500][random.below(6)];
    let share = [0.02, 0.1, 0.5, 0.9, 0.0, 1.0][random.below(6)];
    let kind = random.below(5);
    let score = |random: &mut Draws| {
        let x = random.unit() - 0.5;
        T::of(match kind {
            0 => 0.25,
            1 => (x * 8.0).round() / 4.0,                       // many ties, and both zeros
            2 => x * 10_f64.powi(random.below(70) as i32 - 35), // from 1e-35 to 1e35
            3 => {
                if random.below(3) == 0 {
                    -0.0
                } else {
                    x.signum() * 0.0 + f64::from(random.below(2) as u32)
                }
            }
            _ => x,
        })
    };
    let scores = (0..n).map(|_| score(random)).collect();
    let labels = (0..n).map(|_| u8::from(random.unit() < share)).collect();
    let weights = match random.below(5) {
        0 => (0..n).map(|_| random.unit()).collect(),
        1 => (0..n).map(|_| [0.0, -0.0, 0.1, 0.3, 7.0][random.below(5)]).collect(),
        2 => (0..n).map(|_| 10_f64.powi(random.below(60) as i32 - 30)).collect(),
        _ => Vec::new(),
    };
    Rows { scores, labels, weights }
}

/// A state of the rows in that order, as 1 to 16 parts that were sent and merged in any order; some parts are empty.
fn split<T: Real>(rows: &Rows<T>, order: &[usize], random: &mut Draws) -> State {
    let count = 1 + random.below(16);
    let mut cuts: Vec<usize> = (1..count).map(|_| random.below(order.len() + 1)).collect();
    cuts.extend([0, order.len()]);
    cuts.sort_unstable();
    let mut parts: Vec<State> = cuts
        .windows(2)
        .map(|ends| {
            let mut state = State::new();
            for piece in order[ends[0]..ends[1]].chunks(1 + random.below(300)) {
                let pick = |values: &[f64]| piece.iter().filter_map(|&at| values.get(at).copied()).collect::<Vec<_>>();
                let scores: Vec<T> = piece.iter().map(|&at| rows.scores[at]).collect();
                let labels: Vec<u8> = piece.iter().map(|&at| rows.labels[at]).collect();
                state.update(&scores, &labels, &pick(&rows.weights)).unwrap();
            }
            state
        })
        .collect();
    random.shuffle(&mut parts);
    let mut all = State::new();
    for part in &parts {
        all.merge(&State::from_bytes(&part.to_bytes()).unwrap()).unwrap();
    }
    all
}

fn bits(of: &Summary) -> [u64; 7] {
    let [auroc, ap, pauc, accuracy, tied] = [of.auroc, of.ap, of.pauc, of.accuracy, of.tied].map(f64::to_bits);
    [auroc, ap, pauc, accuracy, tied, of.positives, of.negatives]
}

fn compare<T: Real>(random: &mut Draws) {
    let rows = rows::<T>(random);
    let mut order: Vec<usize> = (0..rows.scores.len()).collect();
    random.shuffle(&mut order);
    let state = split(&rows, &order, random);
    random.shuffle(&mut order);
    assert_eq!(split(&rows, &order, random).to_bytes(), state.to_bytes(), "the bytes depend on the split");
    assert_eq!(state.rows(), rows.scores.len() as u64);

    let low = random.unit() * 0.6;
    let range = FprRange::new(low, low + 0.01 + random.unit() * 0.39).unwrap();
    let truth = Truth::new(&rows.labels, &rows.weights).unwrap();
    let mut memory = Metrics::<T>::new();
    let want = match rows.weights[..] {
        [] => memory.summary(&rows.scores, &rows.labels, range),
        _ => memory.summary(&rows.scores, &truth, range),
    };
    assert_eq!(state.summary(range).as_ref().map(bits), want.as_ref().map(bits), "{low}");
    let roc = |most| memory.clone().roc_curve(&rows.scores, &truth, most);
    let pr = |most| memory.clone().pr_curve(&rows.scores, &truth, most);
    if want.is_err() {
        assert_eq!((state.roc_curve(Some(9)), state.pr_curve(None)), (roc(Some(9)), pr(None)));
        return;
    }
    for most in [None, Some(4), Some(50)] {
        assert_eq!((state.roc_curve(most), state.pr_curve(most)), (roc(most), pr(most)));
    }
    for rule in [TieRule::Half, TieRule::Strict, TieRule::Trapezoid] {
        let (got, want) = (state.partial_auc(range, rule), memory.partial_auc(&rows.scores, &truth, range, rule));
        assert_eq!(got.map(f64::to_bits), want.map(f64::to_bits));
    }
    let recall = random.unit();
    assert_eq!(state.precision_at_recall(recall), memory.precision_at_recall(&rows.scores, &truth, recall));
    assert_eq!(state.recall_at_precision(recall), memory.recall_at_precision(&rows.scores, &truth, recall));
    if rows.weights.is_empty() && rows.scores.len() <= 200 {
        assert_eq!(state.intervals(range), memory.intervals(&rows.scores, rows.labels[..].into(), range));
        let at = rows.scores[0];
        assert_eq!(state.confusion(at.f64()), undercurve::metric::Confusion::at(&rows.scores, &truth, at));
    }
}

#[test]
fn any_split_has_the_bits_of_all_rows_together() {
    let mut random = Draws::new(1);
    for _ in 0..cases(250, 2500) {
        compare::<f32>(&mut random);
        compare::<f64>(&mut random);
    }
}

#[test]
fn two_passes_have_the_bits_of_one() {
    let mut random = Draws::new(6);
    for _ in 0..cases(300, 3000) {
        let Rows { scores, labels, .. } = rows::<f64>(&mut random);
        let (mut whole, mut positives, mut gaps) = (State::new(), State::new(), Vec::new());
        whole.update(&scores, &labels, &[]).unwrap();
        let pieces = || scores.chunks(100).zip(labels.chunks(100));
        for (scores, labels) in pieces() {
            let of: Vec<f64> = scores.iter().zip(labels).filter(|row| *row.1 == 1).map(|row| *row.0).collect();
            positives.update(&of, &vec![1; of.len()], &[]).unwrap();
        }
        let most = 4 * positives.to_bytes().len() + 80;
        for (scores, labels) in pieces() {
            let mut part = State::between(&State::from_bytes(&positives.to_bytes()).unwrap()).unwrap();
            part.update(scores, labels, &[]).unwrap();
            gaps.push(part.to_bytes());
        }
        let mut both = positives.clone();
        gaps.iter().for_each(|part| both.merge(&State::from_bytes(part).unwrap()).unwrap());
        assert!(both.to_bytes().len() <= most);
        let low = random.unit() * 0.6;
        let range = FprRange::new(low, low + 0.01 + random.unit() * 0.39).unwrap();
        let (got, want) = (both.summary(range), whole.summary(range));
        assert_eq!(got.as_ref().map(bits), want.as_ref().map(bits));
        if want.is_ok() && scores.len() <= 200 {
            assert_eq!(both.intervals(range), whole.intervals(range));
        }
    }
    let mut weighed = State::new();
    weighed.update(&[0.5], &[1], &[2.0]).unwrap();
    assert!(matches!(State::between(&weighed), Err(Error::Unsupported { .. })));
    assert!(matches!(
        State::between(&State::new()).unwrap().update(&[0.5], &[0], &[1.0]),
        Err(Error::Unsupported { .. })
    ));
}

#[test]
fn weights_in_any_order_have_the_same_bits() {
    let mut random = Draws::new(2);
    for _ in 0..50 {
        let mut rows = rows::<f64>(&mut random);
        rows.weights = (0..rows.scores.len()).map(|_| random.unit() * [1.0, 1e-9][random.below(2)]).collect();
        let mut order: Vec<usize> = (0..rows.scores.len()).collect();
        random.shuffle(&mut order);
        let scores: Vec<f64> = order.iter().map(|&at| rows.scores[at]).collect();
        let labels: Vec<u8> = order.iter().map(|&at| rows.labels[at]).collect();
        let weights: Vec<f64> = order.iter().map(|&at| rows.weights[at]).collect();
        let range = FprRange::new(0.1, 0.7).unwrap();
        let of = |s: &[f64], y: &[u8], w: &[f64]| {
            Metrics::new().summary(s, &Truth::new(y, w).unwrap(), range).as_ref().map(bits).map_err(|error| *error)
        };
        assert_eq!(of(&scores, &labels, &weights), of(&rows.scores, &rows.labels, &rows.weights));
    }
}

#[test]
fn more_pairs_than_64_bits_count() {
    let mut state = State::new();
    state.update(&[0.1, 0.4, 0.35, 0.8, 0.4], &[0, 0, 1, 1, 1], &[]).unwrap();
    let want = state.summary(FprRange::new(0.2, 0.9).unwrap()).unwrap();
    for _ in 0..59 {
        state.merge(&state.clone()).unwrap();
    }
    let got = state.summary(FprRange::new(0.2, 0.9).unwrap()).unwrap();
    assert_eq!((got.auroc, got.tied, got.accuracy), (want.auroc, want.tied, want.accuracy));
    assert!((got.pauc - want.pauc).abs() < 1e-15 && (got.ap - want.ap).abs() < 1e-15);
    assert_eq!((got.positives, got.negatives), (3 << 59, 2 << 59));
    assert_eq!(State::from_bytes(&state.to_bytes()), Ok(state.clone()));
    let before = state.clone();
    assert_eq!(state.merge(&before), Err(Error::Overflow { what: "rows" }));
    assert_eq!(state, before);
}

#[test]
fn wrong_rows_are_refused_and_change_nothing() {
    let mut state = State::new();
    assert_eq!(state.summary(FprRange::FULL), Err(Error::Empty { what: "scores" }));
    state.update(&[0.5, 0.25], &[1, 0], &[1.0, 2.0]).unwrap();
    let before = state.to_bytes();
    for (scores, labels, weights) in [
        (&[0.1, f64::NAN][..], &[0, 1][..], &[1.0, 1.0][..]),
        (&[0.1, f64::INFINITY], &[0, 1], &[1.0, 1.0]),
        (&[0.1, 0.2], &[0, 2], &[1.0, 1.0]),
        (&[0.1, 0.2], &[0], &[1.0, 1.0]),
        (&[0.1, 0.2], &[0, 1], &[1.0]),
        (&[0.1, 0.2], &[0, 1], &[1.0, -1.0]),
        (&[0.1, 0.2], &[0, 1], &[f64::MAX, f64::MAX]),
        (&[0.1, 0.2], &[0, 1], &[]),
    ] {
        assert!(state.update(scores, labels, weights).is_err(), "{scores:?} {labels:?} {weights:?}");
        assert_eq!(state.to_bytes(), before);
    }
    assert_eq!(state.confusion(f64::NAN), Err(Error::Param { what: "threshold" }));
}

#[test]
fn damaged_bytes_are_refused() {
    let mut random = Draws::new(3);
    let mut refused = 0;
    for _ in 0..cases(40, 1000) {
        let rows = rows::<f64>(&mut random);
        let mut state = State::new();
        state.update(&rows.scores, &rows.labels, &rows.weights).unwrap();
        let (sound, mut bytes) = (state.to_bytes(), Vec::new());
        assert!(State::is_state(&sound));
        for _ in 0..100 {
            bytes.clone_from(&sound);
            match random.below(5) {
                0 => bytes.truncate(random.below(sound.len())),
                1 => bytes.push(random.next() as u8),
                2 => bytes[random.below(sound.len())] ^= 1 << random.below(8),
                3 => {
                    let at = random.below(sound.len());
                    bytes[at..].iter_mut().take(1 + at % 9).for_each(|byte| *byte = random.next() as u8);
                }
                _ => {
                    let (a, b) = (random.below(sound.len()), random.below(sound.len()));
                    bytes.swap(a, b);
                }
            }
            if bytes != sound {
                assert!(State::from_bytes(&bytes).is_err());
                refused += 1;
            }
        }
    }
    assert!(refused > cases(3_000, 80_000));
}

/// Bytes whose checksum holds are a state in its only form, or refused.
#[test]
fn forged_bytes_are_refused_or_canonical() {
    let mut random = Draws::new(4);
    let mut taken = 0;
    for _ in 0..cases(3_000, 100_000) {
        let mut state = State::new();
        let weights = [&[][..], &[1.0, 0.5, 2.0]][random.below(2)];
        state.update(&[0.5, 0.5, random.unit()], &[0, 1, 1], weights).unwrap();
        let mut payload = state.to_bytes().split_off(26);
        for _ in 0..random.below(3) {
            match random.below(4) {
                0 => payload.truncate(random.below(payload.len()).max(1)),
                1 => payload.push(random.next() as u8),
                2 => payload.insert(random.below(payload.len()), 128),
                _ => {
                    let at = random.below(payload.len());
                    payload[at] = random.next() as u8;
                }
            }
        }
        let bytes = seal(Kind::State, &payload);
        match State::from_bytes(&bytes) {
            Ok(state) => {
                assert_eq!(state.to_bytes(), bytes);
                let _ = state.summary(FprRange::FULL);
                taken += 1;
            }
            Err(error) => assert_eq!(error, StateError::Damaged),
        }
    }
    assert!(taken > 500);
    // A count of cells that the bytes cannot hold asks for no memory.
    let huge = seal(Kind::State, &[0, 255, 255, 255, 255, 255, 255, 255, 127, 1, 2]);
    assert_eq!(State::from_bytes(&huge), Err(StateError::Damaged));
    assert_eq!(State::from_bytes(&seal(Kind::Model, &[])), Err(StateError::NotOurs));
    let mut other = State::new().to_bytes();
    other[12] = 9;
    assert_eq!(State::from_bytes(&other), Err(StateError::Version(9)));
}

/// A boundary of the range cuts the negatives between two positives, however they are counted: one by one or together.
#[test]
fn partial_auc_does_not_depend_on_how_negatives_are_split() {
    let mut random = Draws::new(5);
    let scores: Vec<f64> = (0..600).map(|_| random.unit()).collect();
    let labels: Vec<u8> = (0..600).map(|row| u8::from(row % 13 == 0)).collect();
    let mut state = State::new();
    state.update(&scores, &labels, &[]).unwrap();
    let mut memory = Metrics::new();
    for _ in 0..3000 {
        let low = random.unit();
        let range = FprRange::new(low * 0.7, low * 0.7 + 0.01 + random.unit() * 0.2).unwrap();
        let (got, want) = (state.summary(range), memory.summary(&scores, &labels, range));
        assert_eq!(got.as_ref().map(bits), want.as_ref().map(bits));
    }
}

/// Whether bounds contain the metrics, to rounding.
fn contain(bounds: undercurve::metric::Bounds, exact: &Summary, case: &str) {
    for (name, (low, high), value) in
        [("auroc", bounds.auroc, exact.auroc), ("ap", bounds.ap, exact.ap), ("pauc", bounds.pauc, exact.pauc)]
    {
        let room = 1e-14 * value;
        assert!(low <= value + room && value - room <= high, "{case}: {name} {low} {value} {high}");
    }
}

#[test]
fn bounds_of_a_fixed_size_contain_the_metrics_however_rows_are_split() {
    let mut random = Draws::new(11);
    let range = FprRange::new(0.0, 0.1).unwrap();
    for case in 0..cases(60, 600) {
        // Distributions of several kinds, positives among the first or the last, and rows that drift.
        let n = [500, 5000, 20_000][random.below(3)];
        let kind = random.below(4);
        let share = [0.01, 0.2, 0.7][random.below(3)];
        let (mut scores, mut labels) = (Vec::new(), Vec::new());
        for k in 0..n {
            let y = u8::from(k == 0 || (k > 1 && random.unit() < share));
            let x = random.unit() + random.unit() + 0.4 * f64::from(y);
            scores.push(match kind {
                0 => x,
                1 => (x * 300.0).round() / 300.0,
                2 => x * 10_f64.powi(random.below(30) as i32 - 15) - 1.0,
                _ => x + k as f64 / n as f64,
            });
            labels.push(y);
        }
        let mut exact = State::new();
        exact.update(&scores, &labels, &[]).unwrap();
        let exact = exact.summary(range).unwrap();
        let parts = 1 + random.below(5);
        let mut states: Vec<Bounded> = (0..parts).map(|_| Bounded::new([256, 300, 1000][random.below(3)])).collect();
        for (s, y) in scores.chunks(97).zip(labels.chunks(97)) {
            states[random.below(parts)].update(s, y).unwrap();
        }
        let mut all = states.pop().unwrap();
        states.iter().for_each(|state| all.merge(state).unwrap());
        assert_eq!(all.rows(), n as u64);
        assert_eq!(all.labels(), [1, 0].map(|y| labels.iter().filter(|&&label| label == y).count() as u64));
        let bounds = all.bounds(range).unwrap();
        contain(bounds, &exact, &format!("case {case}"));
        // A second pass, in another order, lies inside.
        let mut second = all.narrow([0, 20_000, 200_000][random.below(3)]).unwrap();
        assert!(matches!(second.bounds(range), Err(Error::Unsupported { .. })), "case {case}: no rows yet");
        scores.chunks(89).zip(labels.chunks(89)).rev().for_each(|(s, y)| second.update(s, y).unwrap());
        let narrow = second.bounds(range).unwrap();
        contain(narrow, &exact, &format!("case {case}, second pass"));
        let pairs = |bounds: Bounds| [bounds.auroc, bounds.ap, bounds.pauc];
        for ((low, high), (less, more)) in pairs(narrow).into_iter().zip(pairs(bounds)) {
            assert!(less <= low + 1e-11 && high <= more + 1e-12, "case {case}: {narrow:?} {bounds:?}");
        }
        // Other rows are noticed.
        second.update(&[scores[0]], &[labels[0]]).unwrap();
        assert!(matches!(second.bounds(range), Err(Error::Unsupported { .. })), "case {case}: a row more");
        // With room for all scores they are the metrics.
        let mut wide = Bounded::new(50_000);
        wide.update(&scores, &labels).unwrap();
        let bounds = wide.bounds(range).unwrap();
        assert_eq!(pairs(bounds), [exact.auroc, exact.ap, exact.pauc].map(|x| (x, x)));
        assert_eq!(wide.state().unwrap().summary(range).unwrap(), exact);
    }
    assert_eq!(Bounded::new(1).bounds(range), Err(Error::Empty { what: "scores" }));
    assert_eq!(Bounded::new(1).narrow(1000).err(), Some(Error::Empty { what: "scores" }));
}

#[test]
fn bounds_of_many_rows_are_narrow() {
    let mut random = Draws::new(3);
    let (mut kept, mut kept_labels) = (Vec::new(), Vec::new());
    let (n, range) = (cases(400_000, 20_000_000), FprRange::new(0.0, 0.05).unwrap());
    let (mut exact, mut bounded) = (State::new(), Bounded::new(1 << cases(14, 18)));
    for _ in 0..n / 1000 {
        let labels: Vec<u8> = (0..1000).map(|_| u8::from(random.unit() < 0.02)).collect();
        let score = |random: &mut Draws, y: u8| (0..4).map(|_| random.unit()).sum::<f64>() + 0.9 * f64::from(y);
        let scores: Vec<f64> = labels.iter().map(|&y| score(&mut random, y)).collect();
        exact.update(&scores, &labels, &[]).unwrap();
        bounded.update(&scores, &labels).unwrap();
        kept.extend(scores);
        kept_labels.extend(labels);
    }
    let (bounds, exact) = (bounded.bounds(range).unwrap(), exact.summary(range).unwrap());
    let wide = [bounds.auroc, bounds.ap, bounds.pauc].map(|(low, high)| high - low);
    println!(
        "{n} rows: auroc {} ± {:.1e}, ap {} ± {:.1e}, pauc {:.1e}",
        exact.auroc, wide[0], exact.ap, wide[1], wide[2]
    );
    contain(bounds, &exact, "many rows");
    let most = if n > 1_000_000 { 1e-4 } else { 2e-3 };
    assert!(wide.iter().all(|&wide| wide <= most), "{wide:?}");
    // A second pass in the memory that the first had.
    let mut second = bounded.narrow(100 << cases(14, 18)).unwrap();
    second.update(&kept, &kept_labels).unwrap();
    let bounds = second.bounds(range).unwrap();
    contain(bounds, &exact, "many rows, second pass");
    let narrow = [bounds.auroc, bounds.ap, bounds.pauc].map(|(low, high)| high - low);
    println!("second pass: auroc ± {:.1e}, ap ± {:.1e}, pauc {:.1e}", narrow[0], narrow[1], narrow[2]);
    assert!(narrow.iter().zip(wide).all(|(&narrow, wide)| narrow <= 0.4 * wide), "{narrow:?} {wide:?}");
}
