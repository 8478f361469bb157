//! Estimators with batches and states that no run has: rows that are there twice, slots that are none, one class, weights and
//! states of NaN, infinite, huge and negative numbers, lengths that are wrong. An error is right, and leaves everything as it
//! was; so is a finite value with a finite gradient.

use crate::hostile::NUMBERS;
use std::sync::LazyLock;
use undercurve::batch::{Batch, Drawn};
use undercurve::constraint::{Constraint, Constraints, Measure};
use undercurve::estimator::{
    AnyEstimator, Contrastive, Estimator, Grad, Link, PairSums, PairWeights, Tracker, Uses, Views,
};
use undercurve::metric::Rate;
use undercurve::registry::{Domain, METHODS, Method, Scope, class_methods};
use undercurve::{Need, Real, Scratch};

/// Bytes, over and over.
struct Source<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        // (Each time round they are other bytes, so that short inputs are no loops.)
        let (round, at) = (self.at / self.bytes.len().max(1), self.at % self.bytes.len().max(1));
        self.at += 1;
        self.bytes.get(at).map_or(0, |&byte| byte.wrapping_add((round as u8).wrapping_mul(37)))
    }
    fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }
    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
    /// Once in so many times.
    fn seldom(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
    /// A length that is sometimes one too few or too many.
    fn length(&mut self, right: usize) -> usize {
        match self.below(40) {
            0 => right.saturating_sub(1),
            1 => right + 1,
            2 => 0,
            _ => right,
        }
    }
}

/// Finite numbers of every size.
const FINITE: [f64; 16] =
    [0.0, -0.0, 1.0, -1.0, 0.5, 0.25, 3.0, -2.0, 700.0, -700.0, 1e18, -1e18, 1e-30, 1e300, -1e300, 5e-324];
/// Numbers of every kind.
const ANY: [f64; 24] = [
    0.0,
    1.0,
    2.0,
    0.5,
    -1.0,
    -0.0,
    1e-30,
    -1e-30,
    7.0,
    1e6,
    1_048_575.0,
    16_777_216.0,
    1e18,
    -1e18,
    1e38,
    -1e38,
    1e300,
    -1e300,
    f64::MAX,
    5e-324,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    3.0,
];

/// A number as the type has it: with `finite`, the greatest for what it cannot hold.
fn real<T: Real>(x: f64, finite: bool) -> T {
    let y = T::of(x);
    if finite && !y.is_finite() { T::of(3e38f64.copysign(x)) } else { y }
}

/// Values: all ordinary, all one of `ANY`, or a mixture.
fn values<T: Real>(from: &mut Source<'_>, count: usize) -> Vec<T> {
    match from.below(5) {
        0 | 1 => vec![T::ZERO; count],
        2 => vec![real(from.one(&ANY), false); count],
        3 => (0..count).map(|_| real(from.one(&ANY), false)).collect(),
        _ => (0..count).map(|_| real(from.one(&FINITE), true)).collect(),
    }
}

fn bits<T: Real>(values: &[T]) -> Vec<u64> {
    values.iter().map(|x| x.f64().to_bits()).collect()
}

/// Working memory of a size, full of numbers that mean nothing.
struct Memory<T> {
    real: Vec<T>,
    f64: Vec<f64>,
    u32: Vec<u32>,
    u64: Vec<u64>,
}

impl<T: Real> Memory<T> {
    fn of(need: Need, from: &mut Source<'_>) -> Self {
        Self {
            real: vec![T::of(f64::NAN); from.length(need.real)],
            f64: vec![f64::NAN; from.length(need.f64)],
            u32: vec![u32::MAX; from.length(need.u32)],
            u64: vec![u64::MAX; from.length(need.u64)],
        }
    }
    fn scratch(&mut self) -> Scratch<'_, T> {
        Scratch { real: &mut self.real, f64: &mut self.f64, u32: &mut self.u32, u64: &mut self.u64 }
    }
}

/// The numbers of a batch.
struct Rows<T> {
    heads: usize,
    scores: Vec<T>,
    previous: Vec<T>,
    starts: Vec<u32>,
    population: Vec<u32>,
    masses: Vec<f64>,
    slots: Vec<u32>,
    weights: Vec<f64>,
    tables: Vec<f64>,
    drawn: Drawn,
    term: u8,
    rate: Option<f64>,
}

/// What a method's batches look like: segments and scores of a row.
#[derive(Clone, Copy)]
struct Kind {
    segments: usize,
    heads: usize,
}

impl<T: Real> Rows<T> {
    fn of(estimator: &AnyEstimator, kind: Kind, owned: usize, from: &mut Source<'_>) -> Self {
        let other = from.seldom(12);
        let segments = if other { from.below(6) } else { kind.segments };
        let heads = if other { 1 + from.below(3) } else { kind.heads };
        let counts: Vec<u32> = (0..segments).map(|_| from.one(&[0, 1, 1, 2, 3, 3, 6])).collect();
        let drawn = from.one(&[Drawn::Uniform, Drawn::Stratified, Drawn::All]);
        let mut starts = vec![0];
        for count in &counts {
            starts.push(starts[starts.len() - 1] + count);
        }
        let rows = starts[segments] as usize;
        let mut population: Vec<u32> = counts
            .iter()
            .map(|&count| match drawn {
                Drawn::All => count,
                Drawn::Uniform | Drawn::Stratified => count + from.one(&[0, 0, 1, 9, 40]),
            })
            .collect();
        if segments > 0 && from.seldom(12) {
            let at = from.below(segments);
            population[at] = from.one(&[0, 1, u32::MAX, 1 << 31]);
        }
        if from.seldom(40) {
            let at = from.below(starts.len());
            starts[at] = from.one(&[0, 1, 7, u32::MAX]);
        }
        let masses = if from.seldom(4) { (0..segments).map(|_| from.one(&ANY)).collect() } else { Vec::new() };
        let owners = Estimator::<T>::owners(estimator, segments);
        let slots = counts.iter().enumerate().filter(|(at, _)| owners.contains(at)).map(|(_, &count)| count as usize);
        let slots = slots.sum::<usize>();
        let slots = match from.below(10) {
            0 => (0..from.length(slots)).map(|_| from.one(&[0, 1, 5, 300, u32::MAX, 1 << 31])).collect(),
            1 => vec![0; slots],
            2 => (0..slots).map(|_| from.below(owned.max(1)) as u32).collect(),
            _ => (0..slots as u32).collect(),
        };
        let scores = |from: &mut Source<'_>| -> Vec<T> {
            let kind = from.below(4);
            let mut scores: Vec<T> = (0..rows * heads)
                .map(|_| match kind {
                    0 => real(from.one(&FINITE), true),
                    1 => real(from.one(&FINITE[..8]), true),
                    _ => real((f64::from(from.byte()) - 128.0) / 32.0, true),
                })
                .collect();
            if from.seldom(30) && !scores.is_empty() {
                let at = from.below(scores.len());
                scores[at] = T::of(from.one(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]));
            }
            scores
        };
        let (scores, previous) = (scores(from), scores(from));
        let weights = if from.seldom(4) { (0..rows).map(|_| from.one(&ANY)).collect() } else { Vec::new() };
        let mut tables = Vec::new();
        if from.seldom(2) {
            tables = vec![f64::NAN; from.length(Estimator::<T>::tables_len(estimator))];
            if from.seldom(3) {
                tables.fill_with(|| from.one(&ANY));
            } else {
                let filled = Estimator::<T>::prepare(estimator, &mut tables).len();
                tables.truncate(filled);
            }
        }
        let rate = if from.seldom(3) { Some(from.one(&ANY)) } else { None };
        let term = if from.seldom(3) { from.byte() % 5 } else { 0 };
        Self { heads, scores, previous, starts, population, masses, slots, weights, tables, drawn, term, rate }
    }

    fn batch(&self, from: &mut Source<'_>) -> Option<Batch<'_, T>> {
        let Self { heads, scores, starts, population, masses, drawn, .. } = self;
        let mut batch = Batch::weighted(scores, *heads, starts, population, masses, *drawn).ok()?;
        if from.seldom(2) {
            batch = batch.with_previous(&self.previous).ok()?;
        }
        batch = batch.with_weights(&self.weights).ok()?;
        Some(batch.with_slots(&self.slots).with_tables(&self.tables).of_term(self.term).at_rate(self.rate))
    }
}

/// A method's estimator with settings out of their whole domains, and what its batches look like.
fn estimator(from: &mut Source<'_>) -> Option<(&'static Method, AnyEstimator, Kind)> {
    static LIST: LazyLock<Vec<(&Method, bool)>> = LazyLock::new(|| {
        let scored = METHODS.iter().filter(|method| !method.is_finite_sum()).map(|method| (method, false));
        scored.chain(class_methods().map(|method| (method, true))).collect()
    });
    let (method, classes) = LIST[from.below(LIST.len())];
    let cells = matches!(method.kind, undercurve::registry::Kind::Cells);
    let groups = 1 + from.below(3) as u32;
    let mut pairs: Vec<(&str, String)> = Vec::new();
    for _ in 0..from.below(5) {
        let param = &method.params[from.below(method.params.len())];
        let value = match param.domain {
            Domain::Choice(words) => from.one(words).to_string(),
            Domain::Number { low, high } => from.one(&[low, high, low / 2.0 + high / 2.0]).to_string(),
            // (A step over a million pairs of classes is right, and slow.)
            Domain::Count { .. } if param.name == "pairs" => from.one(&["1", "3", "4000000000"]).to_string(),
            Domain::Count { low, high } => from.one(&[low, high, high.min(3).max(low)]).to_string(),
            Domain::CountOr { .. } | Domain::NumberOr { .. } => from.one(&NUMBERS).to_string(),
        };
        pairs.push((param.name, value));
    }
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let group = if from.seldom(2) { None } else { Some(from.below(groups as usize) as u16) };
    let measures = [
        Measure::Gap { rate: Rate::Fpr, at: None },
        Measure::Gap { rate: Rate::Tpr, at: Some(0.3) },
        Measure::Rate { rate: Rate::Tpr, group },
        Measure::Precision { group },
        Measure::Loss { group },
    ];
    let asked: Vec<Constraint> =
        (0..from.below(4)).map(|_| Constraint::at_most(from.one(&measures), from.one(&[0.0, 0.05, 1.0]))).collect();
    let constraints = Constraints::new(&asked).ok()?;
    let scope = Scope {
        population: [from.one(&[900, 1, 0, u32::MAX]), from.one(&[100, 1, 0, u32::MAX])],
        network: from.seldom(3),
        classes: if classes { 3 } else { 2 },
        groups,
        protected: if from.seldom(4) { groups - 1 } else { 0 },
        ..Scope::default()
    };
    let settings = method.settings(&pairs).ok()?.with_scope(scope);
    let settings = settings.with_fpr(from.one(&[(0.0, 0.05), (0.1, 0.3), (0.0, 1.0), (0.5, 0.5), (f64::NAN, 2.0)]));
    let settings = if cells && from.seldom(2) { settings.with_constraints(&constraints) } else { settings };
    let kind = match (classes, cells) {
        (true, _) => Kind { segments: 3, heads: 3 },
        (_, true) => Kind { segments: 2 * groups as usize, heads: 1 },
        _ => Kind { segments: 2, heads: 1 },
    };
    Some((method, method.estimator(&settings).ok()?, kind))
}

/// After an error nothing has changed; otherwise all is finite that can be.
#[derive(Clone)]
struct Before<T> {
    name: String,
    state: Vec<T>,
    grad: Vec<T>,
    aux: Vec<T>,
}

impl<T: Real> Before<T> {
    fn check(&self, result: undercurve::Result<f64>, state: &[T], grad: &[T], aux: &[T]) {
        let name = &self.name;
        match result {
            Ok(value) => {
                assert!(value.is_finite(), "{name}: a value of {value}");
                assert!(grad.iter().all(|g| g.is_finite()), "{name}: a gradient of {grad:?}");
                assert!(aux.iter().all(|g| g.is_finite()), "{name}: a gradient of {aux:?} by the auxiliaries");
                // (What is not finite may spread over a state, to be told by the next gradient.)
                let spoilt = state.iter().position(|now| !now.is_finite());
                let were = self.state.iter().all(|old| old.is_finite());
                assert!(spoilt.is_none() || !were, "{name}: the state at {spoilt:?} is finite no longer");
            }
            Err(error) => {
                assert_eq!(bits(state), bits(&self.state), "{name}: the state after {error}");
                assert_eq!(bits(grad), bits(&self.grad), "{name}: the gradient after {error}");
                assert_eq!(bits(aux), bits(&self.aux), "{name}: the gradient by auxiliaries after {error}");
            }
        }
    }
}

/// A few calls on one state.
fn calls<T: Real>(method: &Method, estimator: &AnyEstimator, kind: Kind, from: &mut Source<'_>) {
    let owned = 1 + from.below(20);
    let length = Estimator::<T>::state_len(estimator, owned);
    let mut state: Vec<T> = {
        let length = from.length(length);
        values(from, length)
    };
    let (low, high) = Estimator::<T>::aux(estimator);
    for _ in 0..4 {
        let rows = Rows::<T>::of(estimator, kind, owned, from);
        let Some(batch) = rows.batch(from) else { continue };
        let aux: Vec<T> = {
            let length = from.length(low + high);
            values(from, length)
        };
        let mut memory = Memory::of(Estimator::<T>::need(estimator, batch.shape()), from);
        let mut grad = vec![T::of(7.0); from.length(rows.scores.len())];
        let mut by_aux = vec![T::of(7.0); from.length(low + high)];
        let what = from.below(8);
        let before = Before {
            name: format!("{} ({what})", method.name),
            state: state.clone(),
            grad: grad.clone(),
            aux: by_aux.clone(),
        };
        let result = match what {
            0 => estimator.track(&batch, &mut state, memory.scratch()).map(|()| 0.0),
            1 => {
                let out = Grad { scores: &mut grad, aux: &mut by_aux };
                estimator.gradient(&batch, &aux, &state, memory.scratch(), out)
            }
            2 => estimator.value(&batch, &aux, memory.scratch()),
            3 => estimator.turn(batch.term(), &mut state).map(|()| 0.0),
            4 => {
                weigh(estimator, &batch, &state, from);
                let _ = estimator.recipe(&batch);
                let _ = Estimator::<T>::whole(estimator);
                Ok(0.0)
            }
            _ => {
                let out = Grad { scores: &mut grad, aux: &mut by_aux };
                estimator.update(&batch, &aux, &mut state, memory.scratch(), out)
            }
        };
        before.check(result, &state, &grad, &by_aux);
        let link: Link = Estimator::<T>::link(estimator);
        link.apply(&rows.scores, &mut vec![T::ZERO; rows.scores.len()]);
    }
}

/// From sums over pairs to weights, where an objective is cut there.
fn weigh<T: Real>(estimator: &AnyEstimator, batch: &Batch<'_, T>, state: &[T], from: &mut Source<'_>) {
    let Some(pairs) = Estimator::<T>::pairs(estimator) else { return };
    let positives = batch.binary().map_or(0, |(_, high)| high.len());
    let lengths = [0; 5].map(|_| from.length(positives));
    let [low, high] = [lengths[0], lengths[1]].map(|length| values::<T>(from, length));
    let (mut new, mut a, mut b) =
        (vec![T::ZERO; lengths[2] * pairs.width()], vec![T::ZERO; lengths[3]], vec![T::ZERO; lengths[4]]);
    let out = PairWeights { state: &mut new, low: &mut a, high: &mut b };
    if let Ok(value) = pairs.weigh(batch, PairSums { low: &low, high: &high }, state, out) {
        assert!(value.is_finite(), "weights of pairs with a value of {value}");
    }
}

/// Embeddings by two models.
fn contrastive<T: Real>(from: &mut Source<'_>) {
    let tracker = Tracker::new(from.one(&[1.0, 0.5, 1e-300, 0.0, f64::NAN]), from.one(&[0.0, 1.0, 10.0, -1.0]));
    let tau = from.one(&[0.5, 0.005, 1000.0, 0.07, f64::NAN]);
    let Ok(loss) = tracker.and_then(|tracker| Contrastive::new(tau, tracker, from.one(&[Uses::Old, Uses::New]))) else {
        return;
    };
    let (width, rows) = (from.below(4), from.below(5));
    let all = from.one(&[rows, rows + 1, 9, 0]);
    let mut state: Vec<T> = {
        let length = from.length(Contrastive::state_len(all));
        values(from, length)
    };
    for _ in 0..3 {
        let mut embeddings = || {
            let length = from.length(rows * width);
            let mut x = values::<T>(from, length);
            if !from.seldom(6) {
                x.iter_mut().for_each(|x| *x = if x.is_finite() { *x } else { T::of(0.25) });
            }
            x
        };
        let x = [embeddings(), embeddings(), embeddings(), embeddings()];
        let owners: Vec<u32> = match from.below(4) {
            0 => (0..rows).map(|_| from.one(&[0, 1, 8, u32::MAX])).collect(),
            _ => (0..rows as u32).collect(),
        };
        let previous = if from.seldom(2) { Some([x[2].as_slice(), x[3].as_slice()]) } else { None };
        let views = Views { first: &x[0], second: &x[1], width, owners: &owners, all, previous };
        let mut memory = Memory::of(Contrastive::need(rows, width), from);
        let (mut a, mut b) = (vec![T::of(7.0); from.length(x[0].len())], vec![T::of(7.0); from.length(x[1].len())]);
        let before = Before { name: "contrastive".into(), state: state.clone(), grad: a.clone(), aux: b.clone() };
        let result = loss.update(&views, &mut state, memory.scratch(), [&mut a, &mut b]);
        before.check(result, &state, &a, &b);
        let mut memory = Memory::of(Contrastive::value_need(rows), from);
        if let Ok(value) = loss.value(&x[0], &x[1], width, memory.scratch()) {
            assert!(value.is_finite(), "contrastive: a value of {value}");
        }
    }
}

/// An estimator of the registry, or the contrastive one, and a few calls of it.
pub fn check_estimators(bytes: &[u8]) {
    let [kind, rest @ ..] = bytes else { return };
    let mut from = Source { bytes: rest, at: 0 };
    match kind % 32 {
        0 => contrastive::<f32>(&mut from),
        1 => contrastive::<f64>(&mut from),
        kind => {
            let Some((method, estimator, of)) = estimator(&mut from) else { return };
            match kind % 2 {
                0 => calls::<f32>(method, &estimator, of, &mut from),
                _ => calls::<f64>(method, &estimator, of, &mut from),
            }
        }
    }
}
