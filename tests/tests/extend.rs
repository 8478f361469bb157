//! What another crate adds: a surrogate, an estimator with a state and two terms, an algorithm with two points and an inner
//! problem, a sampler, a model, a finite sum and an algorithm on it. Each trains through the `Trainer` and on lent memory
//! without an allocator, with the same bits, and is saved and resumed at every step.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;
use undercurve::algorithm::{
    Adam, Algorithm, Answer, AnyAlgorithm, Ask, Draw, Lbfgs, Point, PpdSg, Schedule, Sgd, Stages, State, Want,
};
use undercurve::batch::{Batch, Drawn, Shape};
use undercurve::data::{Dataset, Rows, Segments, Selection};
use undercurve::estimator::{
    AnyEstimator, AucMinMax, AucPairwise, CrossEntropy, Estimator, Grad, Link, PairSums, PairWeights, Prior, Soap,
    Weights,
};
use undercurve::finite_sum::{
    Anchored, AsOracle, Event, Examples, FiniteSum, Gradients, HeavyBall, Lent, Memory, Oracle, Recursion, Response,
    Run as SumState, View,
};
use undercurve::host::{BeforeIn, Buffers, Chunks, Data, Footprint, Host, Pretraining, RunState};
use undercurve::model::{Linear, Model};
use undercurve::pairs::brute;
use undercurve::rng::Rng;
use undercurve::sampler::{AnySampler, Place, Sampler, Shuffle, Stratified, Whole};
use undercurve::surrogate::Surrogate;
use undercurve::trainer::{BatchRun, Config, End, Predictor, Report, SumRun, Trainer};
use undercurve::{Error, Need, Result, Scratch, with_surrogate};

const ROWS: usize = 240;

// ---- A surrogate: max(1 − t, 0)³.

#[derive(Clone, Copy, Debug)]
struct CubedHinge;

impl Surrogate<f64> for CubedHinge {
    fn value(self, t: f64) -> f64 {
        (1.0 - t).max(0.0).powi(3)
    }
    fn slope(self, t: f64) -> f64 {
        -3.0 * (1.0 - t).max(0.0).powi(2)
    }
    fn curvature(self, t: f64) -> f64 {
        6.0 * (1.0 - t).max(0.0)
    }
}

// ---- An estimator: term 0 is the mean over positives of √(1 + g_i), g_i the mean surrogate against all negatives, tracked
// as u_i for each positive; term 1 is half the mean square of the negatives' scores.

#[derive(Clone, Debug)]
struct RootLoss {
    rate: f64,
}

impl RootLoss {
    fn classes<'a>(batch: &Batch<'a, f64>) -> Result<(&'a [f64], &'a [f64])> {
        let (low, high) = batch.binary()?;
        if low.is_empty() || high.is_empty() { Err(Error::OneClass) } else { Ok((low, high)) }
    }

    fn inner(low: &[f64], high: f64) -> f64 {
        low.iter().map(|low| CubedHinge.value(high - low)).sum::<f64>() / low.len() as f64
    }
}

impl Estimator<f64> for RootLoss {
    fn state_len(&self, slots: usize) -> usize {
        slots
    }
    fn terms(&self) -> u8 {
        2
    }
    fn need(&self, _: Shape) -> Need {
        Need::NONE
    }
    fn value(&self, batch: &Batch<'_, f64>, _: &[f64], _: Scratch<'_, f64>) -> Result<f64> {
        let (low, high) = Self::classes(batch)?;
        let roots: f64 = high.iter().map(|&high| (1.0 + Self::inner(low, high)).sqrt()).sum();
        Ok(roots / high.len() as f64 + 0.5 * low.iter().map(|s| s * s).sum::<f64>() / low.len() as f64)
    }
    fn gradient(
        &self,
        batch: &Batch<'_, f64>,
        _: &[f64],
        state: &[f64],
        _: Scratch<'_, f64>,
        grad: Grad<'_, f64>,
    ) -> Result<f64> {
        let (low, high) = Self::classes(batch)?;
        grad.scores.fill(0.0);
        let (by_low, by_high) = grad.scores.split_at_mut(low.len());
        if batch.term() == 1 {
            let share = 1.0 / low.len() as f64;
            by_low.iter_mut().zip(low).for_each(|(by, s)| *by = share * s);
            return Ok(0.5 * share * low.iter().map(|s| s * s).sum::<f64>());
        }
        let mut value = 0.0;
        for (k, &slot) in batch.slots().iter().enumerate() {
            let root = (1.0 + state[slot as usize]).sqrt();
            let weight = 0.5 / (root * high.len() as f64 * low.len() as f64);
            for (by, s) in by_low.iter_mut().zip(low) {
                let slope = weight * CubedHinge.slope(high[k] - s);
                by_high[k] += slope;
                *by -= slope;
            }
            value += root / high.len() as f64;
        }
        Ok(value)
    }
    fn track(&self, batch: &Batch<'_, f64>, state: &mut [f64], _: Scratch<'_, f64>) -> Result<()> {
        let (low, high) = Self::classes(batch)?;
        let rate = batch.rate().unwrap_or(self.rate);
        for (&slot, &high) in batch.slots().iter().zip(high) {
            let u = &mut state[slot as usize];
            *u += rate * (Self::inner(low, high) - *u);
        }
        Ok(())
    }
    fn turn(&self, term: u8, state: &mut [f64]) -> Result<()> {
        match term {
            0 => state.iter_mut().for_each(|u| *u *= 0.5),
            _ => return Err(Error::Unsupported { what: "a turn of the second term" }),
        }
        Ok(())
    }
}

// ---- An algorithm: an inexact proximal point. Point 0 is the centre w, point 1 the inner iterate z. An inner step tracks
// term 0 at z on a fresh batch at a rate of its own, takes its gradient on the same batch, then that of term 1 at w, on the
// same batch again; after `inner` of them w moves towards z and a new inner problem begins.
// Counters: gradients, outer steps, inner steps, phase (0 track, 1 term 0, 2 term 1, 3 turn).

#[derive(Clone, Debug)]
struct ProximalPoint {
    lr: f64,
    pull: f64,
    inner: u64,
}

impl Algorithm<f64> for ProximalPoint {
    fn points(&self) -> usize {
        2
    }
    /// The sum of the two gradients of an inner step.
    fn slots_len(&self, params: usize) -> usize {
        params
    }
    fn next(&self, state: &State<'_, f64>) -> Ask {
        let evaluate = |term, at, draw, rate, want| Ask::Evaluate { term, at, previous: None, draw, rate, want };
        match state.counters[3] {
            0 => evaluate(0, Point(1), Draw::Fresh { sampler: 0 }, Some(0.7), Want::Track),
            1 => evaluate(0, Point(1), Draw::Again, None, Want::Gradient),
            2 => evaluate(1, Point(0), Draw::Again, None, Want::Gradient),
            _ => Ask::Turn { term: 0 },
        }
    }
    fn tell(&self, state: &mut State<'_, f64>, answer: Answer<'_, f64>) -> Result<()> {
        let (w, z) = state.points.split_at_mut(state.points.len() / 2);
        match (state.counters[3], answer) {
            (0, Answer::Continue) => state.counters[3] = 1,
            (1, Answer::Gradient { grad, .. }) => {
                state.slots.copy_from_slice(grad);
                state.counters[0] += 1;
                state.counters[3] = 2;
            }
            (2, Answer::Gradient { grad, .. }) => {
                for (((z, w), first), second) in z.iter_mut().zip(&*w).zip(&*state.slots).zip(grad) {
                    *z -= self.lr * (first + 0.1 * second + self.pull * (*z - w));
                }
                state.counters[0] += 1;
                state.counters[2] += 1;
                state.counters[3] = if state.counters[2] == self.inner { 3 } else { 0 };
            }
            (3, Answer::Continue) => {
                w.iter_mut().zip(&*z).for_each(|(w, z)| *w += 0.5 * (z - *w));
                z.copy_from_slice(w);
                state.counters[1] += 1;
                state.counters[2] = 0;
                state.counters[3] = 0;
            }
            _ => return Err(Error::Param { what: "answer" }),
        }
        Ok(())
    }
    fn sound(&self, counters: &[u64], steps: u64) -> bool {
        counters[0] <= steps && counters[2] <= self.inner && counters[3] <= 3
    }
}

// ---- A sampler: the next rows of each class in the order of the data, again from the front where they end.

#[derive(Clone, Debug)]
struct InTurn([u32; 2]);

impl Sampler for InTurn {
    fn rows(&self, _: &Segments<'_>) -> usize {
        (self.0[0] + self.0[1]) as usize
    }
    fn prepare(&self, segments: &Segments<'_>, cursor: &[u64], _: &mut [u32]) -> Result<()> {
        let fits = segments.len() == 2 && (0..2).all(|k| cursor[k] < u64::from(segments.size(k)));
        if fits { Ok(()) } else { Err(Error::Param { what: "cursor" }) }
    }
    fn draw(&self, segments: &Segments<'_>, cursor: &mut [u64], _: &mut [u32], to: Place<'_>) -> Result<Drawn> {
        let mut at = 0;
        for segment in 0..2 {
            to.starts[segment] = at as u32;
            for _ in 0..self.0[segment] {
                let item = segments.range(segment).start + cursor[segment] as usize;
                to.index[at] = segments.order()[item];
                to.items[at] = item as u32;
                cursor[segment] = (cursor[segment] + 1) % u64::from(segments.size(segment));
                at += 1;
            }
        }
        to.starts[2] = at as u32;
        Ok(Drawn::Stratified)
    }
}

// ---- A model: w₀ + w₁·x + w₂·x² of the one feature.

#[derive(Clone, Debug)]
struct Parabola;

fn feature(x: &Selection<'_, f64>, k: usize) -> f64 {
    let Rows::Dense { data, .. } = x.rows() else { panic!("dense rows") };
    data[x.row(k)]
}

impl Model<f64> for Parabola {
    fn param_len(&self) -> usize {
        3
    }
    fn inputs(&self) -> usize {
        1
    }
    fn heads(&self) -> usize {
        1
    }
    fn part(&self, name: &str) -> Option<Range<usize>> {
        (name == "bias").then_some(0..1)
    }
    fn init(&self, rng: &mut Rng, params: &mut [f64]) -> Result<()> {
        params.iter_mut().for_each(|w| *w = 0.01 * rng.normal());
        Ok(())
    }
    fn cache_len(&self, _: usize) -> usize {
        0
    }
    fn scratch_len(&self, _: usize) -> usize {
        0
    }
    fn forward(&self, w: &[f64], x: Selection<'_, f64>, _: &mut [f64], scores: &mut [f64]) -> Result<()> {
        for (k, score) in scores.iter_mut().enumerate() {
            let x = feature(&x, k);
            *score = w[0] + w[1] * x + w[2] * x * x;
        }
        Ok(())
    }
    fn backward(
        &self,
        _: &[f64],
        x: Selection<'_, f64>,
        _: &[f64],
        slopes: &[f64],
        _: &mut [f64],
        grad: &mut [f64],
    ) -> Result<()> {
        for (k, c) in slopes.iter().enumerate() {
            let x = feature(&x, k);
            grad[0] += c;
            grad[1] += c * x;
            grad[2] += c * x * x;
        }
        Ok(())
    }
}

// ---- A finite sum, ½(h(x_i) − y_i)² of the parabola, and an algorithm on it: w ← w − α∇f_S(w).

#[derive(Debug)]
struct LeastSquares;

struct Fit<'a> {
    x: &'a [f64],
    y: &'a [u8],
}

impl Gradients<f64> for Fit<'_> {
    fn len(&self) -> usize {
        self.y.len()
    }
    fn dim(&self) -> usize {
        3
    }
    fn add_slopes(&self, w: &[f64], which: Examples<'_>, scale: f64, out: &mut [f64], _: &mut [f64]) -> Result<()> {
        which.each(|i| {
            let x = self.x[i];
            let away = w[0] + w[1] * x + w[2] * x * x - f64::from(self.y[i]);
            out[0] += scale * away;
            out[1] += scale * away * x;
            out[2] += scale * away * x * x;
        });
        Ok(())
    }
    fn objective(&self, w: &[f64], _: &mut [f64]) -> Result<f64> {
        let square = |(x, y): (&f64, &u8)| (w[0] + w[1] * x + w[2] * x * x - f64::from(*y)).powi(2);
        Ok(0.5 * self.x.iter().zip(self.y).map(square).sum::<f64>() / self.y.len() as f64)
    }
}
impl Recursion<f64> for Fit<'_> {}
impl Anchored<f64> for Fit<'_> {}
impl HeavyBall<f64> for Fit<'_> {}
impl AsOracle<f64> for Fit<'_> {
    fn oracle(&self) -> &dyn Oracle<f64> {
        self
    }
}

impl Lent<f64> for LeastSquares {
    type Sum<'a> = Fit<'a>;
    fn over<'a>(&'a self, rows: Rows<'a, f64>, response: Response<'a, f64>) -> Fit<'a> {
        let (Rows::Dense { data, .. }, Response::Labels(labels)) = (rows, response) else { panic!("dense rows") };
        Fit { x: data, y: labels }
    }
}

#[derive(Debug)]
struct Descent {
    batch: usize,
    alpha: f64,
}

impl FiniteSum<f64> for Descent {
    fn batch(&self) -> usize {
        self.batch
    }
    fn need(&self, oracle: &dyn Oracle<f64>) -> Result<Need> {
        Ok(Need { real: 2 * oracle.dim(), u32: oracle.len() + self.batch, ..Need::NONE })
    }
    fn start(&self, oracle: &dyn Oracle<f64>, w0: &[f64], seed: u64, memory: &mut Memory<'_, f64>) -> Result<SumState> {
        SumState::begin(oracle, self.need(oracle)?, w0, seed, memory)
    }
    fn step(&self, oracle: &dyn Oracle<f64>, run: &mut SumState, memory: &mut Memory<'_, f64>) -> Result<Event> {
        let (dim, batch) = (oracle.dim(), self.batch);
        run.on_subset(oracle.len(), memory, |run, memory| {
            let (w, grad) = memory.real.split_at_mut(dim);
            grad.fill(0.0);
            let which = Examples::Picked(&memory.u32[..batch]);
            oracle.add_slopes(w, which, 1.0 / batch as f64, grad, memory.scratch)?;
            w.iter_mut().zip(grad).for_each(|(w, g)| *w -= self.alpha * *g);
            run.count(batch, 1);
            Ok(Event::Step { alpha: self.alpha })
        })
    }
    fn minibatch<'m>(&self, _: &dyn Oracle<f64>, _: &SumState, memory: View<'m, f64>) -> &'m [u32] {
        &memory.u32[..self.batch]
    }
    fn params(&self, oracle: &dyn Oracle<f64>, _: &SumState, memory: View<'_, f64>, out: &mut [f64]) -> Result<()> {
        out.copy_from_slice(&memory.real[..oracle.dim()]);
        Ok(())
    }
}

// ---- The tests.

/// Negatives over [−3, 3], positives near 0.
fn data() -> Arc<Dataset<f64>> {
    let mut rng = Rng::new(7);
    let positive = |k: usize| k.is_multiple_of(8);
    let x = (0..ROWS).map(|k| if positive(k) { 0.4 * rng.normal() } else { 6.0 * rng.uniform() - 3.0 }).collect();
    Arc::new(Dataset::dense(x, (0..ROWS).map(|k| u8::from(positive(k))).collect(), 1).unwrap())
}

fn config(name: &str) -> Config {
    Config { method: name.into(), ..Config::default() }
}

/// Trains through the `Trainer`, saving and resuming at every step, and on lent memory, whose state is moved to other memory
/// at every step; the parameters of all are the same. Returns them with the reports before and after.
fn through_both<M, E, A, S, P>(host: &Host<M, E, A, S, P>) -> (Vec<f64>, Report, Report)
where
    M: Model<f64> + Clone + Sync,
    E: Estimator<f64> + Clone,
    A: Algorithm<f64> + Clone,
    S: Sampler + Clone,
    P: BeforeIn<f64> + Clone,
{
    let train = data();
    let fresh = || BatchRun::new(host.clone(), &train).unwrap();
    let trainer = || Trainer::with_run(&config("mine"), fresh(), Arc::clone(&train), None).unwrap();
    let mut whole = trainer();
    let before = whole.report().unwrap();
    let mut resumed = trainer();
    while let Some(value) = whole.step().unwrap() {
        assert_eq!(resumed.step().unwrap().map(f64::to_bits), Some(value.to_bits()));
        let saved = resumed.save();
        resumed = Trainer::resume_run(&saved, fresh(), Arc::clone(&train), None).unwrap();
        assert!(resumed.save() == saved && resumed.save() == whole.save(), "step {}", whole.steps_done());
    }
    assert!(resumed.is_done() && resumed.steps_done() == host.steps);
    let damaged = [&whole.save()[..30], &[0xff; 9]].concat();
    assert!(Trainer::resume_run(&damaged, fresh(), Arc::clone(&train), None).is_err());

    let (mut order, mut starts) = (vec![0; ROWS], vec![0; 3]);
    let segments = Segments::new(train.labels(), &mut order, &mut starts).unwrap();
    let lent = Data { rows: train.rows(), segments };
    let (need, work) = (host.state(&lent).unwrap(), host.buffers(&lent).unwrap());
    let (mut real, mut f64s, mut u64s) = (vec![0.0; need.real], vec![0.0; need.f64], vec![0; need.u64]);
    let mut started = false;
    loop {
        // Other working memory at every step, with anything in it.
        let (mut w, mut f) = (vec![f64::NAN; work.real], vec![f64::NAN; work.f64]);
        let (mut u, mut k) = (vec![u32::MAX; work.u32], vec![u64::MAX; work.u64]);
        let mut buffers = Buffers::new(&mut w, &mut f, &mut u, &mut k);
        let mut memory = vec![f64::NAN; host.passes(&lent).unwrap()];
        let mut passes = Chunks::new(&mut memory);
        let mut state = RunState { real: &mut real, f64: &mut f64s, u64: &mut u64s };
        match started {
            false => host.start(&lent, &mut state, &mut buffers).unwrap(),
            true => host.resume(&lent, &mut state, &mut buffers).unwrap(),
        }
        started = true;
        if host.step(&lent, &mut state, &mut buffers, &mut passes).unwrap().is_none() {
            break;
        }
    }
    let state = RunState { real: &mut real, f64: &mut f64s, u64: &mut u64s };
    assert_eq!(host.params(&lent, &state).unwrap(), whole.params());
    let after = whole.report().unwrap();
    (whole.params().to_vec(), before, after)
}

#[test]
fn parts_of_another_crate_train_and_resume() {
    let rule = ProximalPoint { lr: 0.2, pull: 0.5, inner: 3 };
    let host = Host { steps: 240, ..Host::new(Parabola, RootLoss { rate: 0.5 }, rule, InTurn([20, 6])) };
    let (params, before, after) = through_both(&host);
    assert!(params[2] < -0.05 && after.objective < before.objective, "{params:?}");
    assert!(after.train.get("ap").unwrap() > before.train.get("ap").unwrap().max(0.3), "{before:?} {after:?}");
}

#[test]
fn each_part_goes_with_those_of_the_core() {
    let falls = |(_, before, after): (_, Report, Report)| assert!(after.objective < before.objective);
    let sampler = Stratified::new(1, 6, 20).unwrap();
    let own_model = Host { steps: 150, ..Host::new(Parabola, Soap::default(), Adam::default(), sampler) };
    falls(through_both(&own_model));
    let linear = Linear::new(1, 1).unwrap();
    let own_estimator =
        Host { steps: 60, pull: 0.01, ..Host::new(linear, RootLoss { rate: 0.5 }, Adam::default(), sampler) };
    falls(through_both(&own_estimator));
    let rule = PpdSg::new(Stages::practice(0.3, 20.0, 5.0).unwrap(), 1000.0, 0.0, 1).unwrap();
    let min_max = AucMinMax::new(Link::Sigmoid, Weights::Unbiased, Prior::Known);
    let own_sampler = Host { steps: 90, ..Host::new(Parabola, min_max, rule, InTurn([20, 6])) };
    falls(through_both(&own_sampler));
}

/// The pair kernels take a surrogate of another crate as well as their own.
#[test]
fn pair_kernels_take_any_surrogate() {
    let (low, high) = ([0.3, -0.2, 0.9, 0.1, -1.4], [0.8, 0.2, 1.5]);
    let (mut by_high, mut by_low) = ([0.0; 3], [0.0; 5]);
    brute::check(CubedHinge, &high, &low).unwrap();
    let value: f64 = brute::auc(CubedHinge, &high, &low, &mut by_high, &mut by_low).unwrap();
    let mut naive = (0.0, [0.0; 3]);
    for (k, high) in high.iter().enumerate() {
        for low in low {
            naive.0 += CubedHinge.value(high - low) / 15.0;
            naive.1[k] += CubedHinge.slope(high - low) / 15.0;
        }
    }
    assert!((value - naive.0).abs() < 1e-14);
    assert!(by_high.iter().zip(naive.1).all(|(a, b)| (a - b).abs() < 1e-14));
}

/// Two machines with half of the negatives each: their sums are added, the weights made once, and each computes the slopes
/// of its own half. The step is that of one machine.
#[test]
fn sums_of_shards_meet_at_the_weights() {
    let mut rng = Rng::new(3);
    let scores: Vec<f64> = (0..26).map(|_| rng.normal()).collect();
    let (low, high) = scores.split_at(20);
    let slots = [5, 0, 7, 2, 1, 9];
    let batch = Batch::new(&scores, 1, &[0, 20, 26], &[200, 40], Drawn::Stratified).unwrap().with_slots(&slots);
    let estimators: [&dyn Estimator<f64>; 2] = [&Soap::default(), &AucPairwise::default()];
    for estimator in estimators {
        let pairs = estimator.pairs().unwrap();
        let seen: Vec<f64> = (0..estimator.state_len(40)).map(|_| 0.1 + rng.uniform()).collect();
        let (mut state, mut whole) = (seen.clone(), vec![0.0; 26]);
        let mut real = vec![0.0; estimator.need(batch.shape()).real];
        let scratch = Scratch { real: &mut real, ..Scratch::default() };
        let out = Grad { scores: &mut whole, aux: &mut [] };
        let value = estimator.update(&batch, &[], &mut state, scratch, out).unwrap();

        let sums = |others: &[f64]| {
            let (mut values, mut slopes) = ([0.0; 6], [0.0; 6]);
            with_surrogate!(pairs.loss(), loss => brute::row_sums(loss, high, others, &mut values, &mut slopes))
                .unwrap();
            (values, slopes)
        };
        let shards = [sums(&low[..11]), sums(&low[11..])];
        let (of_low, slopes_low) = shards.iter().fold(([0.0; 6], [0.0; 6]), |(mut values, mut slopes), shard| {
            (0..6).for_each(|i| (values[i], slopes[i]) = (values[i] + shard.0[i], slopes[i] + shard.1[i]));
            (values, slopes)
        });
        let (of_high, slopes_high) = sums(high);
        let (mut new, mut kappa) = (vec![0.0; 6 * pairs.width()], [[0.0; 6]; 2]);
        let [kappa_low, kappa_high] = &mut kappa;
        let weights = PairWeights { state: &mut new, low: kappa_low, high: kappa_high };
        let weighed = pairs.weigh(&batch, PairSums { low: &of_low, high: &of_high }, &seen, weights).unwrap();
        assert!((weighed - value).abs() < 1e-12 * value.abs());
        let mut grad = vec![0.0; 26];
        for i in 0..6 {
            // (The pair (i, i) is in both sums of a positive, and cancels.)
            grad[20 + i] = kappa[0][i] * slopes_low[i] + kappa[1][i] * slopes_high[i];
        }
        for others in [0..11, 11..20, 20..26] {
            let kappa = if others.start < 20 { &kappa[0] } else { &kappa[1] };
            let (scores, grad) = (&scores[others.clone()], &mut grad[others]);
            with_surrogate!(pairs.loss(), loss => brute::add_slopes(loss, high, kappa, scores, grad)).unwrap();
        }
        assert!(grad.iter().zip(&whole).all(|(a, b)| (a - b).abs() < 1e-12), "{grad:?} {whole:?}");
        for (&slot, new) in slots.iter().zip(new.chunks(pairs.width().max(1))) {
            let of_slot = &state[pairs.width() * slot as usize..][..new.len()];
            assert!(new.iter().zip(of_slot).all(|(a, b)| (a - b).abs() < 1e-12), "{new:?} {of_slot:?}");
        }
    }
}

/// Any segments' rows own state: here of label × group, some of them or all.
#[test]
fn state_belongs_to_the_segments_that_own_it() {
    /// Remembers each owner's score; its gradient is 0.
    struct Scores(Range<usize>, RefCell<Vec<f64>>);
    impl Estimator<f64> for Scores {
        fn owners(&self, _: usize) -> Range<usize> {
            self.0.clone()
        }
        fn state_len(&self, slots: usize) -> usize {
            slots
        }
        fn need(&self, _: Shape) -> Need {
            Need::NONE
        }
        fn value(&self, _: &Batch<'_, f64>, _: &[f64], _: Scratch<'_, f64>) -> Result<f64> {
            Ok(0.0)
        }
        fn gradient(
            &self,
            _: &Batch<'_, f64>,
            _: &[f64],
            state: &[f64],
            _: Scratch<'_, f64>,
            grad: Grad<'_, f64>,
        ) -> Result<f64> {
            grad.scores.fill(0.0);
            *self.1.borrow_mut() = state.to_vec();
            Ok(0.0)
        }
        fn track(&self, batch: &Batch<'_, f64>, state: &mut [f64], _: Scratch<'_, f64>) -> Result<()> {
            let owners = batch.starts()[self.0.start] as usize..batch.starts()[self.0.end] as usize;
            assert_eq!(batch.slots().len(), owners.len());
            for (&slot, &score) in batch.slots().iter().zip(&batch.scores()[owners]) {
                state[slot as usize] = score;
            }
            Ok(())
        }
    }

    let mut rng = Rng::new(5);
    let x: Vec<f64> = (0..60).map(|_| rng.normal()).collect();
    let groups: Vec<u8> = (0..60).map(|k| 2 * u8::from(k % 5 == 0) + u8::from(k % 3 == 0)).collect();
    let (mut order, mut starts) = (vec![0; 60], vec![0; 5]);
    let data =
        Data { rows: Rows::dense(&x, 1).unwrap(), segments: Segments::new(&groups, &mut order, &mut starts).unwrap() };
    let samplers = [
        AnySampler::Stratified(Stratified::per_segment(1, 2).unwrap()),
        AnySampler::Shuffle(Shuffle::new(1, 10).unwrap()),
        AnySampler::Whole(Whole),
    ];
    for (sampler, owners) in
        samplers.into_iter().flat_map(|sampler| [0..4, 1..4, 2..3, 3..4, 2..2].map(|o| (sampler, o)))
    {
        let estimator = Scores(owners.clone(), RefCell::default());
        let host = Host { steps: 30, ..Host::new(Parabola, estimator, Adam::default(), sampler) };
        let (need, work) = (host.state(&data).unwrap(), host.buffers(&data).unwrap());
        let (mut real, mut f64s, mut u64s) = (vec![0.0; need.real], vec![0.0; need.f64], vec![0; need.u64]);
        let mut state = RunState { real: &mut real, f64: &mut f64s, u64: &mut u64s };
        let (mut w, mut f) = (vec![0.0; work.real], vec![0.0; work.f64]);
        let (mut u, mut k) = (vec![0; work.u32], vec![0; work.u64]);
        let mut buffers = Buffers::new(&mut w, &mut f, &mut u, &mut k);
        let mut memory = vec![0.0; host.passes(&data).unwrap()];
        let mut passes = Chunks::new(&mut memory);
        host.start(&data, &mut state, &mut buffers).unwrap();
        while host.step(&data, &mut state, &mut buffers, &mut passes).unwrap().is_some() {}
        let w = host.params(&data, &state).unwrap();
        let rows = data.segments.starts()[owners.start] as usize..data.segments.starts()[owners.end] as usize;
        let scores = data.segments.order()[rows].iter().map(|&row| {
            let x = x[row as usize];
            w[0] + w[1] * x + w[2] * x * x
        });
        assert_eq!(*host.estimator.1.borrow(), scores.collect::<Vec<_>>(), "{sampler:?} {owners:?}");
    }
    let host = Host::new(Parabola, Scores(2..5, RefCell::default()), Adam::default(), Whole);
    assert!(matches!(host.state(&data), Err(Error::Unsupported { .. })));
}

/// What comes before the method's own steps may have another sampler, more points and a state of its own.
#[test]
fn any_objective_and_sampler_may_come_first() {
    let data = data();
    let first = |sampler, estimator, algorithm| Pretraining {
        steps: 37,
        estimator,
        algorithm,
        sampler,
        restart: false,
        pull: 0.0,
    };
    let adam = AnyAlgorithm::Adam(Adam::default());
    let lbfgs = AnyAlgorithm::Lbfgs(Lbfgs::new(5, 1e-12, 0.0).unwrap());
    let soap = AnyEstimator::Soap(Soap::default());
    let shuffle = AnySampler::Shuffle(Shuffle::new(3, 100).unwrap());
    let stratified = AnySampler::Stratified(Stratified::new(1, 6, 20).unwrap());
    for pretraining in [
        first(shuffle, soap, adam),
        first(AnySampler::Whole(Whole), AnyEstimator::CrossEntropy(CrossEntropy::default()), adam),
        Pretraining { steps: 8, ..first(stratified, AnyEstimator::CrossEntropy(CrossEntropy::default()), lbfgs) },
    ] {
        for sampler in [shuffle, stratified] {
            let rule = ProximalPoint { lr: 0.2, pull: 0.5, inner: 3 };
            let host = Host::new(Parabola, RootLoss { rate: 0.5 }, rule, sampler);
            let own = through_both(&Host { steps: 277, ..host.clone() }.after(Some(pretraining)));
            // One that is always there, and one that is not.
            assert_eq!(through_both(&Host { steps: 277, ..host.clone() }.after(pretraining)).0, own.0);
            let none = through_both(&Host { steps: 20, ..host.clone() }.after(None::<Pretraining>));
            assert_eq!(through_both(&Host { steps: 20, ..host }).0, none.0);
        }
    }
    let min_max = AucMinMax::new(Link::Sigmoid, Weights::Unbiased, Prior::Known);
    let wrong = first(stratified, AnyEstimator::AucMinMax(min_max), adam);
    let host = Host::new(Parabola, RootLoss { rate: 0.5 }, Adam::default(), stratified);
    let refused = BatchRun::new(host.after(wrong), &data);
    assert!(matches!(refused, Err(Error::Unsupported { .. })));
}

/// A model of one's own is not taken for one of the library's that its configuration happens to name.
#[test]
fn a_saved_model_of_ones_own_is_no_other() {
    let train = data();
    let sampler = Stratified::new(1, 6, 20).unwrap();
    let run = BatchRun::new(Host::new(Parabola, Soap::default(), Adam::default(), sampler), &train).unwrap();
    let saved = Trainer::with_run(&config("soap"), run, train, None).unwrap().save();
    assert!(Predictor::<f64>::load(&saved).is_err());
}

/// What a host cannot answer it refuses.
#[test]
fn what_cannot_be_answered_is_refused() {
    #[derive(Clone, Debug)]
    struct Asks(Ask);
    impl Algorithm<f64> for Asks {
        fn slots_len(&self, _: usize) -> usize {
            0
        }
        fn next(&self, _: &State<'_, f64>) -> Ask {
            self.0
        }
        fn tell(&self, _: &mut State<'_, f64>, _: Answer<'_, f64>) -> Result<()> {
            Ok(())
        }
    }
    let evaluate =
        |term, draw| Ask::Evaluate { term, at: Point(0), previous: Some(Point(0)), draw, rate: None, want: Want::Both };
    let (fresh, train) = (Draw::Fresh { sampler: 0 }, data());
    let step = |ask| {
        let host = Host::new(Parabola, RootLoss { rate: 0.5 }, Asks(ask), Stratified::new(1, 6, 20).unwrap());
        let run = BatchRun::new(host, &train).unwrap();
        Trainer::with_run(&config("asks"), run, Arc::clone(&train), None).unwrap().step()
    };
    for ask in
        [evaluate(2, fresh), evaluate(0, Draw::Fresh { sampler: 1 }), evaluate(0, Draw::Again), Ask::Turn { term: 1 }]
    {
        assert!(matches!(step(ask), Err(Error::Unsupported { .. })), "{ask:?}");
    }
    assert!(step(evaluate(1, fresh)).unwrap().is_some());
    // A point that it does not have, to look at or to compare with.
    let at = |at, previous| Ask::Evaluate { term: 0, at, previous, draw: fresh, rate: None, want: Want::Both };
    for ask in
        [at(Point(1), None), at(Point(0), Some(Point(9))), Ask::ClassMeans { at: Point(1), draw: fresh, batches: 1 }]
    {
        assert!(matches!(step(ask), Err(Error::Unsupported { .. })), "{ask:?}");
    }
    // All rows are more than there is memory for, unless the algorithm says that it draws them.
    assert!(matches!(step(evaluate(0, Draw::All)), Err(Error::Length { .. })));
}

#[test]
fn sums_of_another_crate_train_and_resume() {
    let train = data();
    let fresh = || {
        let algorithm = Descent { batch: 8, alpha: 0.02 };
        SumRun::new(Parabola, algorithm, LeastSquares, End::Steps(400), 5, &train).unwrap()
    };
    let trainer = || Trainer::with_run(&config("descent"), fresh(), Arc::clone(&train), None).unwrap();
    let (mut whole, mut resumed) = (trainer(), trainer());
    let before = whole.report().unwrap();
    while whole.step().unwrap().is_some() {
        resumed.step().unwrap();
        let saved = resumed.save();
        resumed = Trainer::resume_run(&saved, fresh(), Arc::clone(&train), None).unwrap();
        assert!(resumed.save() == whole.save());
    }
    let after = whole.report().unwrap();
    assert!(after.objective < 0.9 * before.objective && whole.params()[2] < 0.0, "{after:?}");
    assert!(after.train.get("auroc").unwrap() > 0.7, "{after:?}");

    // The same on lent memory.
    let Rows::Dense { data: x, .. } = train.rows() else { panic!("dense rows") };
    let (sum, algorithm) = (Fit { x, y: train.labels() }, Descent { batch: 8, alpha: 0.02 });
    let need = algorithm.need(&sum).unwrap();
    let (mut real, mut u32s, mut scratch) = (vec![0.0; need.real], vec![0; need.u32], vec![0.0; sum.scratch_len()]);
    let memory = &mut Memory { real: &mut real, u32: &mut u32s, scratch: &mut scratch };
    let start = trainer().params().to_vec();
    let mut run = algorithm.start(&sum, &start, 5, memory).unwrap();
    (0..400).for_each(|_| assert!(algorithm.step(&sum, &mut run, memory).is_ok()));
    let mut w = [0.0; 3];
    algorithm.params(&sum, &run, memory.view(), &mut w).unwrap();
    assert_eq!(w, whole.params());
}

/// The lengths that are known when a program is compiled are those that its host asks for.
#[test]
fn footprints_are_what_the_host_says() {
    fn same<E: Estimator<f32>, A: Algorithm<f32>>(
        said: Footprint,
        estimator: E,
        rule: A,
        rows: usize,
        batch: [u32; 2],
        pull: f64,
    ) {
        let labels: Vec<u8> = (0..rows).map(|k| u8::from(k % 5 == 0)).collect();
        let x: Vec<f32> = (0..3 * rows).map(|k| (k % 7) as f32).collect();
        let (mut order, mut starts) = (vec![0; rows], [0; 3]);
        let segments = Segments::new(&labels, &mut order, &mut starts).unwrap();
        let data = Data { rows: Rows::dense(&x, 3).unwrap(), segments };
        let sampler = Stratified::new(1, batch[0], batch[1]).unwrap();
        let host = Host { pull, ..Host::new(Linear::new(3, 1).unwrap(), estimator, rule, sampler) };
        let said = said.lengths();
        assert_eq!(said.state, host.state(&data).unwrap());
        assert_eq!(said.buffers, host.buffers(&data).unwrap());
        assert_eq!(said.passes, host.passes(&data).unwrap());
    }
    for (rows, batch) in [(10, [4, 12]), (200, [4, 12]), (2000, [100, 900])] {
        let run = Footprint::linear(rows, rows / 5, 3).batches(batch[0] as usize, batch[1] as usize);
        let ppd_sg = PpdSg::new(Stages::practice(0.3, 20.0, 5.0).unwrap(), 1000.0, 0.0, 1).unwrap();
        let known = AucMinMax::new(Link::Sigmoid, Weights::Unbiased, Prior::Known);
        same(run.soap().adam(), Soap::default(), Adam::default(), rows, batch, 0.0);
        same(run.soap().adam().with_start(), Soap::default(), Adam::default(), rows, batch, 0.1);
        same(
            run.cross_entropy().sgd(),
            CrossEntropy::default(),
            Sgd::new(Schedule::constant(0.1), 0.0).unwrap(),
            rows,
            batch,
            0.0,
        );
        same(run.auc_pairwise().adam(), AucPairwise::default(), Adam::default(), rows, batch, 0.0);
        same(run.cross_entropy().adam(), CrossEntropy::default(), Adam::default(), rows, batch, 0.0);
        // (With a known prior there is no state.)
        same(run.objective(3, 0, 0, 2).ppd_sg(), known, ppd_sg, rows, batch, 0.0);
        let online = AucMinMax::new(Link::Sigmoid, Weights::Unbiased, Prior::Online);
        same(run.auc_min_max().ppd_sg(), online, ppd_sg, rows, batch, 0.0);
    }
    let sparse = Footprint::linear(10, 2, 3).sparse().lengths();
    assert_eq!(sparse.passes, 10);
}
