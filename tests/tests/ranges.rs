//! The twins of AGD-SBCD, SoRR, DCA and the cutting plane, tested by what they must satisfy; and the core's sums against
//! them.

use std::sync::Arc;
use undercurve::algorithm::{
    AgdSbcd, Algorithm, Answer, AnyAlgorithm, Ask, COUNTERS, CuttingPlane, Dca, Point, Schedule, State, Want,
};
use undercurve::batch::{Batch, Drawn};
use undercurve::data::{Dataset, Rows, Segments};
use undercurve::estimator::sorr::{DUAL, Dual, ExampleLoss, Track, turn};
use undercurve::estimator::{AnyEstimator, Estimator, Grad, Link, PaucDual, PaucTight, Sorr};
use undercurve::host::{Buffers, Chunks, Data, Host, Residuals, RunState};
use undercurve::model::Linear;
use undercurve::rng::Rng;
use undercurve::sampler::{Place, Sampler};
use undercurve::surrogate::AnySurrogate;
use undercurve::trainer::{Config, ModelSpec, Trainer};
use undercurve::{Error, Scratch};
use undercurve_tests::ranges::{
    Decay, Draw, Example, Examples, Inner, NO_DECAY, Pairs, Problem, Range, agd, dca, draw_sums, dual, duals,
    mini_batch, most_violated, objective, sbcd, top,
};

/// Rows of two columns and a constant that differ between the classes, with a few far negatives.
fn rows(rng: &mut Rng, count: usize, shift: f64) -> Vec<Vec<f64>> {
    (0..count)
        .map(|k| vec![rng.normal() + shift, rng.normal() - 0.5 * shift + if k % 9 == 0 { 2.0 } else { 0.0 }, 1.0])
        .collect()
}

fn distinct(rng: &mut Rng, below: usize, count: usize) -> Vec<usize> {
    let mut all: Vec<u32> = (0..below as u32).collect();
    rng.shuffle(&mut all);
    all.into_iter().take(count).map(|k| k as usize).collect()
}

/// Derivatives of `f` by differences.
fn differences(w: &[f64], f: &dyn Fn(&[f64]) -> f64) -> Vec<f64> {
    let at = |k: usize, by: f64| {
        let mut w = w.to_vec();
        w[k] += by;
        f(&w)
    };
    (0..w.len()).map(|k| (at(k, 1e-6) - at(k, -1e-6)) / 2e-6).collect()
}

#[track_caller]
fn close(got: &[f64], want: &[f64], tolerance: f64, what: &str) {
    for (a, b) in got.iter().zip(want) {
        assert!((a - b).abs() <= tolerance, "{what}: {got:?} and {want:?}");
    }
}

const RANGES: [Range; 3] =
    [Range { low: 0.0, high: 0.3 }, Range { low: 0.1, high: 0.55 }, Range { low: 0.25, high: 1.0 }];

/// f^l is the least value of its dual form, and its subgradient its derivative off ties; also for fractions of a loss.
#[test]
fn sums_of_the_largest_are_their_dual_form() {
    let mut rng = Rng::new(1);
    let (pos, neg) = (rows(&mut rng, 6, 1.0), rows(&mut rng, 20, 0.0));
    let y: Vec<f64> = (0..20).map(|k| if k % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let pairs = Pairs { positives: &pos, negatives: &neg, loss: ("logistic", 1.0) };
    let hinge = Pairs { positives: &pos, negatives: &neg, loss: ("hinge", 1.0) };
    let [logistic, squares, absolute] =
        [Example::Logistic, Example::Squares, Example::Absolute].map(|loss| Examples { x: &neg, y: &y, loss });
    for p in [&pairs as &dyn Problem, &hinge, &logistic, &squares, &absolute] {
        for range in RANGES {
            for share in [range.low, range.high, 0.333, 1.0] {
                let w = [0.4, -0.3, 0.2];
                let (value, grad) = top(p, range, share, &w);
                close(&grad, &differences(&w, &|w| top(p, range, share, w).0), 1e-6, "subgradient of f^l");
                if share == 0.0 {
                    continue;
                }
                let best = duals(p, share, &w);
                close(&[dual(p, range, share, &w, &best)], &[value], 1e-12, "least value of the dual form");
                for by in [-0.1, 0.1] {
                    let other: Vec<f64> = best.iter().map(|l| l + by).collect();
                    assert!(dual(p, range, share, &w, &other) > value - 1e-12);
                }
                // The draw of everything is the derivative of the dual form, by λ too.
                let (groups, size) = p.shape();
                let lambda: Vec<f64> = best.iter().map(|l| 0.9 * l + 0.013).collect();
                let all = ((0..groups).collect(), (0..size).collect());
                let (slope, above) = draw_sums(p, range, &w, &lambda, &all);
                close(&slope, &differences(&w, &|w| dual(p, range, share, w, &lambda)), 1e-6, "by v");
                let unit = groups as f64 * (range.high - range.low);
                let by_lambda = differences(&lambda, &|lambda| dual(p, range, share, &w, lambda));
                let want: Vec<f64> = above.iter().map(|above| (share - above) / unit).collect();
                close(&by_lambda, &want, 1e-6, "by λ");
            }
        }
    }
}

/// The mean of the sums over all draws of I × J is the sum over everything.
#[test]
fn draws_are_unbiased() {
    let mut rng = Rng::new(2);
    let (pos, neg) = (rows(&mut rng, 4, 1.0), rows(&mut rng, 7, 0.0));
    let p = Pairs { positives: &pos, negatives: &neg, loss: ("logistic", 1.0) };
    let (range, w) = (RANGES[1], [0.4, -0.3, 0.2]);
    let lambda = duals(&p, 0.5, &w).iter().map(|l| l - 0.01).collect::<Vec<_>>();
    let (want, above) = draw_sums(&p, range, &w, &lambda, &((0..4).collect(), (0..7).collect()));
    let (mut grad, mut gates, mut draws) = ([0.0; 3], [0.0; 4], 0.0);
    for a in 0..4 {
        for b in 0..a {
            for c in 0..7 {
                for d in 0..c {
                    let (g, gate) = draw_sums(&p, range, &w, &lambda, &(vec![a, b], vec![c, d]));
                    (0..3).for_each(|k| grad[k] += g[k]);
                    (gates[a], gates[b]) = (gates[a] + gate[0], gates[b] + gate[1]);
                    draws += 1.0;
                }
            }
        }
    }
    close(&grad.map(|g| g / draws), &want, 1e-13, "subgradient");
    // Each positive is in half of the draws.
    close(&gates.map(|g| 2.0 * g / draws), &above, 1e-13, "gates");
}

/// The proximal point of algorithm 1, and with it the gradient of the Moreau envelope: (w − v)/μ.
#[test]
fn the_inner_problem_finds_the_proximal_point() {
    let mut rng = Rng::new(3);
    let (pos, neg) = (rows(&mut rng, 5, 1.0), rows(&mut rng, 16, 0.0));
    let p = Pairs { positives: &pos, negatives: &neg, loss: ("logistic", 1.0) };
    let y: Vec<f64> = neg.iter().map(|x| x[0] - 0.4 * x[1] + 0.2).collect();
    let squares = Examples { x: &neg, y: &y, loss: Example::Squares };
    for p in [&p as &dyn Problem, &squares] {
        let (groups, size) = p.shape();
        let (range, mu, w) = (Range { low: 0.25, high: 0.5 }, 0.8, [0.5, -0.2, 0.1]);
        for share in [range.low, range.high] {
            // The exact proximal point by descent on f^l + ‖v − w‖²/2μ with falling steps.
            let prox = |w: &[f64]| {
                let mut v = w.to_vec();
                for t in 0..20_000 {
                    let (_, grad) = top(p, range, share, &v);
                    let step = 0.8 / (t as f64 + 10.0);
                    (0..3).for_each(|k| v[k] -= step * (grad[k] + (v[k] - w[k]) / mu));
                }
                v
            };
            let v = prox(&w);
            let mut lambda = duals(p, share, &w);
            let mut everything = || -> Draw { ((0..groups).collect(), (0..size).collect()) };
            let mut answer = w.to_vec();
            for (eta, steps) in [(0.1, 300), (0.01, 3000), (0.002, 40_000)] {
                let inner = Inner { steps, eta, theta: eta };
                (answer, lambda) = sbcd(p, range, share, &w, &lambda, mu, inner, NO_DECAY, &mut everything);
            }
            // (The mean of the iterates still holds the way from w.)
            close(&answer, &v, 6e-3, "proximal point");
            // It is no worse than any point near by.
            let value = |v: &[f64]| {
                top(p, range, share, v).0 + v.iter().zip(&w).map(|(v, w)| (v - w) * (v - w)).sum::<f64>() / (2.0 * mu)
            };
            let least = value(&v);
            for k in 0..3 {
                for by in [-0.02, 0.02] {
                    let mut other = v.clone();
                    other[k] += by;
                    assert!(value(&other) > least - 1e-7);
                }
            }
            // Its envelope's derivative, here along one coordinate.
            let at = |by: f64| {
                let w = [w[0], w[1] + by, w[2]];
                let v = prox(&w);
                let far: f64 = v.iter().zip(&w).map(|(v, w)| (v - w) * (v - w)).sum();
                top(p, range, share, &v).0 + far / (2.0 * mu)
            };
            let slope = (at(0.02) - at(-0.02)) / 0.04;
            let want = (w[1] - v[1]) / mu;
            assert!((slope - want).abs() < 4e-3, "{share}: {slope} and {want}");
        }
    }
}

/// F falls by most of what descent on all losses finds, by every algorithm, for both kinds of ranges.
#[test]
fn every_algorithm_descends() {
    let mut rng = Rng::new(4);
    let (pos, neg) = (rows(&mut rng, 12, 2.0), rows(&mut rng, 80, 0.0));
    let y: Vec<f64> = neg.iter().map(|x| x[0] - 0.4 * x[1] + 0.2 + 0.3 * rng.normal()).collect();
    let signs: Vec<f64> = neg.iter().map(|x| if x[0] + 0.7 * rng.normal() > 0.5 { 1.0 } else { -1.0 }).collect();
    let pairs = Pairs { positives: &pos, negatives: &neg, loss: ("logistic", 1.0) };
    let logistic = Examples { x: &neg, y: &signs, loss: Example::Logistic };
    let squares = Examples { x: &neg, y: &y, loss: Example::Squares };
    let absolute = Examples { x: &neg, y: &y, loss: Example::Absolute };
    let start = [0.05, 0.0, 0.0];
    for (at, p) in [&pairs as &dyn Problem, &logistic, &squares, &absolute].into_iter().enumerate() {
        for range in [Range { low: 0.0, high: 0.4 }, Range { low: 0.1, high: 0.5 }] {
            let f = |w: &[f64]| objective(p, range, w);
            // Descent with everything, the best it meets.
            let (mut w, mut best) = (start.to_vec(), f(&start));
            for t in 0..1500 {
                let [(_, low), (_, high)] = [range.low, range.high].map(|share| top(p, range, share, &w));
                (0..3).for_each(|k| w[k] -= 1.0 / (t as f64 / 20.0 + 2.0) * (high[k] - low[k]));
                best = best.min(f(&w));
            }
            let (groups, size) = p.shape();
            let mut source = Rng::new(5);
            let mut draws = || (distinct(&mut source, groups, groups.min(6)), distinct(&mut source, size, 30));
            // Stages of T_k = 20(k + 1)² steps of c/(k + 1).
            let stages: Vec<Inner> = (0..9)
                .map(|k| Inner {
                    steps: 20 * (k + 1) * (k + 1),
                    eta: 0.5 / (k + 1) as f64,
                    theta: 0.5 / (k + 1) as f64,
                })
                .collect();
            let fell = |w: &[f64], name: &str| {
                let share = (f(&start) - f(w)) / (f(&start) - best);
                assert!(share > 0.7, "problem {at} from {}, {name}: {share:.3} of the way", range.low);
            };
            fell(&agd(p, range, &start, 10.0, 0.5, &stages, NO_DECAY, &mut draws).answer, "AGD-SBCD");
            fell(&dca(p, range, &start, 0.0, &stages, NO_DECAY, &mut draws), "DCA with changing steps");
            fell(&dca(p, range, &start, 1e-2, &stages, NO_DECAY, &mut draws), "proximal DCA");
            let constant = [Inner { steps: 400, eta: 0.05, theta: 0.05 }; 12];
            fell(&dca(p, range, &start, 0.0, &constant, NO_DECAY, &mut draws), "DCA with constant steps");
        }
    }
    for range in [Range { low: 0.0, high: 0.4 }, Range { low: 0.1, high: 0.5 }] {
        let mut draws = || (distinct(&mut rng, 12, 6), distinct(&mut rng, 80, 30));
        let w = mini_batch(&pairs, range, &start, 600, &|t| 1.0 / (1.0 + t as f64 / 60.0), &mut draws);
        assert!(objective(&pairs, range, &w) < 0.85 * objective(&pairs, range, &start), "MB");
    }
}

/// The draws of a list, each once.
#[derive(Clone, Debug)]
struct Listed(Vec<Draw>, Drawn);

impl Sampler for Listed {
    fn rows(&self, _: &Segments<'_>) -> usize {
        self.0[0].0.len() + self.0[0].1.len()
    }
    fn prepare(&self, _: &Segments<'_>, _: &[u64], _: &mut [u32]) -> Result<(), Error> {
        Ok(())
    }
    fn draw(&self, segments: &Segments<'_>, cursor: &mut [u64], _: &mut [u32], to: Place<'_>) -> Result<Drawn, Error> {
        let (high, low) = self.0.get(cursor[0] as usize).ok_or(Error::Unsupported { what: "no draws" })?;
        cursor[0] += 1;
        let first = if segments.len() > 1 { segments.range(1).start } else { 0 };
        let items = low.iter().copied().chain(high.iter().map(|i| first + i));
        for ((index, place), item) in to.index.iter_mut().zip(to.items).zip(items) {
            (*index, *place) = (segments.order()[item], item as u32);
        }
        let ends = [low.len(), low.len() + high.len()].map(|end| end as u32);
        to.starts[1..].copy_from_slice(&ends[..segments.len()]);
        to.starts[0] = 0;
        Ok(self.1)
    }
}

fn pauc_dual(loss: (&str, f64), range: Range) -> PaucDual {
    let surrogate = AnySurrogate::by_name(loss.0, loss.1).unwrap();
    PaucDual::new(surrogate, Link::Identity, (range.low, range.high), 0.1).unwrap()
}

/// What a host makes of so many steps of a linear model from a start, until its draws end: the algorithm's points, and the
/// estimator's state.
fn hosted<A: Algorithm<f64> + Clone>(
    rows: (&[Vec<f64>], &[Vec<f64>]),
    estimator: PaucDual,
    algorithm: A,
    draws: Vec<Draw>,
    start: [f64; 3],
    pull: f64,
) -> (Vec<[f64; 3]>, Vec<f64>) {
    host_of(rows, estimator, algorithm, Listed(draws, Drawn::Stratified), start, pull)
}

fn host_of<E: Estimator<f64>, A: Algorithm<f64> + Clone>(
    rows: (&[Vec<f64>], &[Vec<f64>]),
    estimator: E,
    algorithm: A,
    sampler: Listed,
    start: [f64; 3],
    pull: f64,
) -> (Vec<[f64; 3]>, Vec<f64>) {
    host_on(rows, &[], estimator, algorithm, sampler, start, pull)
}

/// The same, or of rows in one segment against these numbers.
fn host_on<E: Estimator<f64>, A: Algorithm<f64> + Clone>(
    (pos, neg): (&[Vec<f64>], &[Vec<f64>]),
    targets: &[f64],
    estimator: E,
    algorithm: A,
    sampler: Listed,
    start: [f64; 3],
    pull: f64,
) -> (Vec<[f64; 3]>, Vec<f64>) {
    // (The constant is the model's bias, its last parameter.)
    let x: Vec<f64> = neg.iter().chain(pos).flat_map(|x| [x[0], x[1]]).collect();
    let labels: Vec<u8> = neg.iter().map(|_| 0).chain(pos.iter().map(|_| 1)).collect();
    let count = if targets.is_empty() { 2 } else { 1 };
    let (mut order, mut starts) = (vec![0; labels.len()], vec![0; count + 1]);
    let segments = Segments::new(&labels, &mut order, &mut starts).unwrap();
    let data = Data { rows: Rows::dense(&x, 2).unwrap(), segments };
    let points = algorithm.points();
    let model = Linear::new(2, 1).unwrap();
    let owned = data.segments.starts();
    let owners = estimator.owners(count);
    let bank = estimator.state_len((owned[owners.end] - owned[owners.start]) as usize);
    let host = Host { pull, ..Host::new(model, estimator, algorithm, sampler) };
    let (need, work) = (host.state(&data).unwrap(), host.buffers(&data).unwrap());
    let (mut real, mut f64s, mut u64s) = (vec![0.0; need.real], vec![0.0; need.f64], vec![0; need.u64]);
    let mut state = RunState { real: &mut real, f64: &mut f64s, u64: &mut u64s };
    let (mut w, mut f) = (vec![f64::NAN; work.real], vec![f64::NAN; work.f64]);
    let (mut u, mut k) = (vec![7; work.u32], vec![7; work.u64]);
    let mut buffers = Buffers::new(&mut w, &mut f, &mut u, &mut k);
    let mut memory = vec![0.0; host.passes(&data).unwrap()];
    let mut passes = Chunks::new(&mut memory);
    host.start(&data, &mut state, &mut buffers).unwrap();
    state.real[..3 * points].chunks_exact_mut(3).for_each(|w| w.copy_from_slice(&start));
    if pull > 0.0 {
        let end = state.real.len() - bank;
        state.real[end - 3..end].copy_from_slice(&start);
    }
    let mut values = 0;
    let end = loop {
        let mut passes = Residuals { targets, passes: &mut passes };
        match host.step(&data, &mut state, &mut buffers, &mut passes) {
            Ok(Some(value)) => assert!(value.is_finite()),
            Ok(None) => panic!("an end"),
            Err(error) => break error,
        }
        values += 1;
    };
    assert_eq!(end, Error::Unsupported { what: "no draws" });
    assert!(values > 0);
    let points = real[..3 * points].chunks(3).map(|w| [w[0], w[1], w[2]]).collect();
    (points, real[real.len() - bank..].to_vec())
}

/// λ of a term in the state of so many positives.
fn lambda(state: &[f64], term: usize) -> Vec<f64> {
    let owners = (state.len() - 2) / 6;
    state[3 * term * owners..][..3 * owners].chunks(3).map(|dual| dual[0]).collect()
}

fn stream(seed: u64, groups: usize, size: usize, count: usize) -> Vec<Draw> {
    let mut rng = Rng::new(seed);
    (0..count).map(|_| (distinct(&mut rng, groups, 4), distinct(&mut rng, size, 15))).collect()
}

#[test]
fn agd_in_the_core_follows_the_twin() {
    let mut rng = Rng::new(6);
    let (pos, neg) = (rows(&mut rng, 9, 1.0), rows(&mut rng, 40, 0.0));
    for loss in [("logistic", 1.0), ("sigmoid", 2.0), ("hinge", 1.0)] {
        let pairs = Pairs { positives: &pos, negatives: &neg, loss };
        let ranges = [RANGES[0], RANGES[1], RANGES[2], Range { low: 0.07, high: 0.33 }];
        let settings = [(0.5, 0.0, 0.0), (50.0, 30.0, 0.0), (8.0, 0.2, 0.0), (8.0, 0.0, 1.7), (8.0, 0.0, 0.0)];
        for (range, (relax, pull, decay)) in ranges.into_iter().flat_map(|r| settings.map(|s| (r, s))) {
            let (start, mu, stages) = ([0.3, -0.1, 0.2], 3.0, 3u64);
            let terms = if range.low > 0.0 { 2 } else { 1 };
            let machine = AgdSbcd::new(7, Schedule::constant(0.4), 0.3, mu, relax, decay, terms == 2).unwrap();
            let machine = machine.with_pull(pull).unwrap();
            let away = match pull > 0.0 {
                true => Decay { weight: pull, to: &start },
                false => Decay { weight: decay, to: &[0.0; 3] },
            };
            let inner: Vec<Inner> = (0..stages)
                .map(|k| {
                    let by = (k + 1) as f64;
                    Inner { steps: machine.steps(k) as usize, eta: 0.4 / by, theta: 0.3 / by }
                })
                .collect();
            let draws = stream(7, 9, 40, inner.iter().map(|i| i.steps).sum());
            // The twin draws for one term after the other: the same draws again in every stage.
            let mut rest = &draws[..];
            let mut twice = Vec::new();
            for i in &inner {
                let (stage, after) = rest.split_at(i.steps);
                (0..terms).for_each(|_| twice.extend_from_slice(stage));
                rest = after;
            }
            let mut twice = twice.into_iter();
            let want = agd(&pairs, range, &start, mu, relax, &inner, away, &mut || twice.next().unwrap());
            assert!(twice.next().is_none());

            let (points, state) = hosted((&pos, &neg), pauc_dual(loss, range), machine, draws.clone(), start, pull);
            let what = format!("{loss:?} {} to {}, {relax} {pull} {decay}", range.low, range.high);
            close(&points[0], &want.answer, 1e-11, &what);
            close(&points[1], &want.w, 1e-11, &what);
            for term in (2 - terms)..2 {
                if term == 1 && range.high == 1.0 {
                    continue; // no duals
                }
                close(&lambda(&state, term), &want.banks[term], 1e-11, &what);
            }
            // In the last stage the answer is its mean so far, from the step on with which it is longer than the one before.
            for (short, same) in [(40, false), (20, true)] {
                let some = draws[..draws.len() - short].to_vec();
                let (points, _) = hosted((&pos, &neg), pauc_dual(loss, range), machine, some, start, pull);
                let before = hosted((&pos, &neg), pauc_dual(loss, range), machine, draws[..35].to_vec(), start, pull);
                assert_eq!(points[0] == points[5], same, "{what}");
                assert_eq!(points[0] == before.0[0], !same, "{what}");
            }
        }
    }
}

#[test]
fn dca_in_the_core_follows_the_twin() {
    let mut rng = Rng::new(8);
    let (pos, neg) = (rows(&mut rng, 9, 1.0), rows(&mut rng, 40, 0.0));
    let loss = ("logistic", 1.0);
    let pairs = Pairs { positives: &pos, negatives: &neg, loss };
    for range in [RANGES[0], RANGES[1], RANGES[2], Range { low: 0.07, high: 0.33 }] {
        let settings = [(0.0, false), (0.0, true), (0.2, true), (40.0, false)];
        let decays = [(0.0, 0.0), (30.0, 0.0), (0.0, 1.7)];
        for ((prox, changing), (pull, decay)) in settings.into_iter().flat_map(|s| decays.map(|d| (s, d))) {
            let machine = Dca::new(11, 0.3, 0.2, prox, decay, changing, range.low > 0.0).unwrap();
            let (machine, start) = (machine.with_pull(pull).unwrap(), [0.3, -0.1, 0.2]);
            let away = match pull > 0.0 {
                true => Decay { weight: pull, to: &start },
                false => Decay { weight: decay, to: &[0.0; 3] },
            };
            let stage = |k: u64| {
                let by = if changing { (k + 1) as f64 } else { 1.0 };
                Inner { steps: machine.steps(k) as usize, eta: 0.3 / by, theta: 0.2 / by }
            };
            let stages = [0, 1, 2].map(stage);
            let draws = stream(9, 9, 40, stages.iter().map(|i| i.steps).sum());
            let mut order = draws.iter().cloned();
            // All losses are among the n₋ largest, whatever λ is: the twin's has no gate then.
            if range.high == 1.0 {
                continue;
            }
            let want = dca(&pairs, range, &start, prox, &stages, away, &mut || order.next().unwrap());
            let (points, _) = hosted((&pos, &neg), pauc_dual(loss, range), machine, draws, start, pull);
            close(&points[0], &want, 1e-11, &format!("{} {prox} {changing} {pull} {decay}", range.low));
        }
    }
}

/// A pull and a decay are parts of the objective once, whatever its terms.
#[test]
fn a_pull_is_a_part_of_f_n_alone() {
    let mut rng = Rng::new(16);
    let (pos, neg) = (rows(&mut rng, 9, 1.0), rows(&mut rng, 40, 0.0));
    let (loss, range, start) = (("logistic", 1.0), RANGES[1], [0.3, -0.1, 0.2]);
    let pairs = Pairs { positives: &pos, negatives: &neg, loss };
    let everything: Vec<Draw> = vec![((0..9).collect(), (0..40).collect()); 9000];
    for (pull, decay, to) in [(0.8, 0.0, start), (0.0, 0.8, [0.0; 3])] {
        let machines = [
            AnyAlgorithm::AgdSbcd(AgdSbcd::new(5, Schedule::constant(0.3), 0.3, 0.4, 1.0, decay, true).unwrap()),
            AnyAlgorithm::Dca(Dca::new(25, 0.3, 0.3, 0.0, decay, true, true).unwrap()),
        ];
        let f = |w: &[f64]| {
            objective(&pairs, range, w) + 0.4 * w.iter().zip(to).map(|(w, to)| (w - to) * (w - to)).sum::<f64>()
        };
        // Descent with everything, the best it meets.
        let (mut w, mut best) = (start.to_vec(), f(&start));
        for t in 0..3000 {
            let [(_, low), (_, high)] = [range.low, range.high].map(|share| top(&pairs, range, share, &w));
            (0..3).for_each(|k| w[k] -= 1.0 / (t as f64 / 20.0 + 2.0) * (high[k] - low[k] + 0.8 * (w[k] - to[k])));
            best = best.min(f(&w));
        }
        for machine in machines {
            let machine = |pull: f64| match machine {
                AnyAlgorithm::AgdSbcd(own) => AnyAlgorithm::AgdSbcd(own.with_pull(pull).unwrap()),
                AnyAlgorithm::Dca(own) => AnyAlgorithm::Dca(own.with_pull(pull).unwrap()),
                _ => unreachable!(),
            };
            let run = |pull| {
                hosted((&pos, &neg), pauc_dual(loss, range), machine(pull), everything.clone(), start, pull).0[0]
            };
            let share = |w: [f64; 3]| (f(&start) - f(&w)) / (f(&start) - best);
            assert!(share(run(pull)) > 0.98, "{:?}: {}", machine(pull), share(run(pull)));
            if pull > 0.0 {
                // Without it, or with one in both terms, the end is elsewhere.
                assert!(share(run(0.0)) < 0.8, "{:?}: {}", machine(0.0), share(run(0.0)));
            }
        }
    }
}

/// No product of a step and a decay is too large, and no share of the way up to the paper's 100, with decay or without: w
/// comes to where decay pulls, as far from there as the slopes of the loss can hold it.
#[test]
fn no_decay_is_too_strong() {
    let mut rng = Rng::new(21);
    let (pos, neg) = (rows(&mut rng, 9, 1.0), rows(&mut rng, 40, 0.0));
    let (loss, range, start) = (("logistic", 1.0), RANGES[1], [30.0, -10.0, 20.0]);
    // (Or still on its way from 37.)
    let steepest = pos.iter().chain(&neg).flatten().fold(0.0f64, |most, x| most.max(2.0 * x.abs()));
    let draws = stream(22, 9, 40, 3000);
    for (eta, mu, weight) in [(0.3, 1e3, 10.0), (30.0, 3.0, 10.0), (0.3, 1e3, 1e6), (1e6, 1e6, 1e6), (2.0, 1e3, 0.5)] {
        for (prox, relax) in [(0.0, 0.5), (1e4, 2.0), (0.0, 10.0), (0.0, 100.0)] {
            let schedule = Schedule::constant(eta);
            let machines = [
                AnyAlgorithm::AgdSbcd(AgdSbcd::new(5, schedule, 0.3, mu, relax, weight, true).unwrap()),
                AnyAlgorithm::Dca(Dca::new(25, eta, 0.3, prox, weight, true, true).unwrap()),
            ];
            for machine in machines {
                let (points, _) = hosted((&pos, &neg), pauc_dual(loss, range), machine, draws.clone(), start, 0.0);
                // A stage is a step of relax·R at most, and f^m has no decay; 12 stages are 5·12 steps of η long.
                let reach = if matches!(machine, AnyAlgorithm::Dca(_)) { 0.0 } else { relax * mu.min(30.0 * eta) };
                let most = 20.0 * steepest / (range.high - range.low) * (1.0 / weight + reach) + 1e-9;
                let slow = prox > 0.0 && matches!(machine, AnyAlgorithm::Dca(_));
                for w in &points[..2] {
                    let far = w.iter().fold(0.0f64, |most, w| most.max(w.abs()));
                    assert!(far <= if slow { 31.0 } else { most.max(3.0) }, "{machine:?}: {w:?}, {most}");
                }
            }
        }
    }
}

/// The estimate is the dual form, its gradient the dual form's; of everything, that of the best duals; and errors change
/// nothing.
#[test]
fn terms_are_the_dual_form() {
    let mut rng = Rng::new(10);
    let (pos, neg) = (rows(&mut rng, 9, 1.0), rows(&mut rng, 40, 0.0));
    let rows: Vec<&Vec<f64>> = neg.iter().chain(&pos).collect();
    let slots: Vec<u32> = (0..9).collect();
    for range in RANGES {
        let pauc = pauc_dual(("logistic", 1.0), range);
        let pairs = Pairs { positives: &pos, negatives: &neg, loss: ("logistic", 1.0) };
        let w = [0.3, -0.1, 0.2];
        let evaluate = |w: &[f64], term: u8, drawn: Drawn, state: &mut [f64], want: Want| {
            let scores: Vec<f64> = rows.iter().map(|x| x.iter().zip(w).map(|(x, w)| x * w).sum()).collect();
            let batch = Batch::new(&scores, 1, &[0, 40, 49], &[40, 9], drawn).unwrap().with_slots(&slots);
            let batch = batch.of_term(term).at_rate(Some(0.3));
            let need = Estimator::<f64>::need(&pauc, batch.shape());
            let (mut real, mut wide) = (vec![f64::NAN; need.real], vec![f64::NAN; need.f64]);
            let (mut short, mut keys) = (vec![7; need.u32], vec![7; need.u64]);
            let scratch = Scratch { real: &mut real, f64: &mut wide, u32: &mut short, u64: &mut keys };
            let mut slopes = vec![f64::NAN; 49];
            let out = Grad { scores: &mut slopes, aux: &mut [] };
            let value = match want {
                Want::Track => pauc.track(&batch, state, scratch).map(|()| 0.0),
                Want::Gradient => pauc.gradient(&batch, &[], state, scratch, out),
                _ => pauc.update(&batch, &[], state, scratch, out),
            };
            let mut grad = vec![0.0; 3];
            for (x, c) in rows.iter().zip(slopes) {
                grad.iter_mut().zip(x.iter()).for_each(|(g, x)| *g += c * x);
            }
            (value.unwrap(), grad)
        };
        for (term, share) in [(0u8, range.low), (1, range.high)] {
            let mut state = vec![0.5; 56];
            evaluate(&w, term, Drawn::All, &mut state, Want::Track);
            let (want, slope) = top(&pairs, range, share, &w);
            let (value, grad) = evaluate(&w, term, Drawn::All, &mut state.clone(), Want::Gradient);
            close(&[value], &[want], 1e-12, "exactly");
            close(&grad, &slope, 1e-12, "its subgradient");
            let mut again = state.clone();
            assert_eq!(evaluate(&w, term, Drawn::All, &mut again, Want::Both), (value, grad));
            assert_eq!(again, state);
            let (value, _) = evaluate(&w, term, Drawn::Stratified, &mut state.clone(), Want::Gradient);
            close(&[value], &[want], 1e-12, "at the best duals");
            // Off them, where nothing is on the edge.
            let other = 1 - usize::from(term);
            assert_eq!(lambda(&state, other), [0.5; 9]);
            let best = lambda(&state, term.into());
            if !(share > 0.0 && share < 1.0) {
                assert_eq!(best, [0.5; 9]);
                continue;
            }
            close(&best, &duals(&pairs, share, &w), 1e-12, "best duals");
            state.iter_mut().for_each(|x| *x *= 0.97);
            let at = |w: &[f64]| evaluate(w, term, Drawn::Stratified, &mut state.clone(), Want::Gradient).0;
            let off: Vec<f64> = best.iter().map(|l| l * 0.97).collect();
            close(&[at(&w)], &[dual(&pairs, range, share, &w, &off)], 1e-12, "dual form");
            let (_, slope) = evaluate(&w, term, Drawn::Stratified, &mut state.clone(), Want::Gradient);
            close(&slope, &differences(&w, &at), 1e-7, "by w");
            // Tracking by itself and with the gradient: the same state, the same gradient.
            let (mut one, mut two) = (state.clone(), state.clone());
            evaluate(&w, term, Drawn::Stratified, &mut one, Want::Track);
            let (_, both) = evaluate(&w, term, Drawn::Stratified, &mut two, Want::Both);
            assert_eq!((one.clone(), both), (two, slope));
            let (_, above) = draw_sums(&pairs, range, &w, &off, &((0..9).collect(), (0..40).collect()));
            let moved: Vec<f64> = off.iter().zip(above).map(|(l, above)| l - 0.3 * (share - above)).collect();
            close(&lambda(&one, term.into()), &moved, 1e-12, "moved");
        }
    }
    let new = |name, fpr, theta| PaucDual::new(AnySurrogate::by_name(name, 1.0).unwrap(), Link::Identity, fpr, theta);
    assert_eq!(new("logistic", (0.5, 0.5), 0.1), Err(Error::Param { what: "fpr" }));
    assert_eq!(new("logistic", (0.0, 0.5), -0.1), Err(Error::Param { what: "theta" }));
    for unbounded in ["square", "squared-hinge", "exponential"] {
        assert!(matches!(new(unbounded, (0.0, 0.5), 0.1), Err(Error::Unsupported { .. })), "{unbounded}");
    }
    for (relax, mu, first) in [(0.0, 1.0, 5), (100.1, 1.0, 5), (f64::NAN, 1.0, 5), (0.5, 0.0, 5), (0.5, 1.0, 0)] {
        assert!(matches!(
            AgdSbcd::new(first, Schedule::constant(1.0), 1.0, mu, relax, 0.0, true),
            Err(Error::Param { .. })
        ));
    }
    assert!(matches!(Dca::new(5, 1.0, 1.0, -1.0, 0.0, true, true), Err(Error::Param { what: "prox" })));
}

/// A sum of ranked range of linear scores.
struct Ranked<'a> {
    x: &'a [Vec<f64>],
    y: &'a [f64],
    sorr: Sorr,
}

impl Ranked<'_> {
    /// Value and gradient by parameters of a term on some rows: exactly, or with its dual.
    fn term(
        &self,
        term: usize,
        w: &[f64],
        rows: &[usize],
        dual: &mut [f64; DUAL],
        track: Option<Option<Track>>,
    ) -> (f64, Vec<f64>) {
        let scores: Vec<f64> = rows.iter().map(|&j| self.x[j].iter().zip(w).map(|(x, w)| x * w).sum()).collect();
        let targets: Vec<f64> = rows.iter().map(|&j| self.y[j]).collect();
        let need = self.sorr.need(rows.len());
        let (mut real, mut order) = (vec![f64::NAN; need.real], vec![7; need.u32]);
        let scratch = Scratch { real: &mut real, f64: &mut [], u32: &mut order, u64: &mut [] };
        let mut slopes = vec![f64::NAN; rows.len()];
        let value = match track {
            None => self.sorr.largest(term, &scores, &targets, dual, scratch, &mut slopes),
            Some(track) => {
                let dual = Dual { values: dual, track };
                self.sorr.term(term, &scores, &targets, dual, scratch, &mut slopes)
            }
        };
        let mut grad = vec![0.0; w.len()];
        for (&j, c) in rows.iter().zip(slopes) {
            grad.iter_mut().zip(&self.x[j]).for_each(|(g, x)| *g += c * x);
        }
        (value.unwrap(), grad)
    }
}

#[test]
fn sorr_in_the_core_follows_the_twin() {
    let mut rng = Rng::new(11);
    let x = rows(&mut rng, 40, 0.0);
    let real: Vec<f64> = x.iter().map(|x| x[0] - 0.4 * x[1] + 0.3 * rng.normal()).collect();
    let signs: Vec<f64> = real.iter().map(|y| y.signum()).collect();
    for (naive, loss, y) in [
        (Example::Logistic, ExampleLoss::Logistic, &signs),
        (Example::Squares, ExampleLoss::Squares, &real),
        (Example::Absolute, ExampleLoss::Absolute, &real),
    ] {
        for range in [RANGES[0], RANGES[1], RANGES[2], Range { low: 0.07, high: 0.33 }] {
            let p = Examples { x: &x, y, loss: naive };
            let ranked = Ranked { x: &x, y, sorr: Sorr::new(loss, (range.low, range.high), 0.1).unwrap() };
            let (start, all): (_, Vec<usize>) = ([0.3, -0.1, 0.2], (0..40).collect());
            let mut best = [[f64::NAN; DUAL]; 2];
            for (term, share) in [(0, range.low), (1, range.high)] {
                let (value, grad) = ranked.term(term, &start, &all, &mut best[term], None);
                let (want, slope) = top(&p, range, share, &start);
                close(&[value], &[want], 1e-13, "the largest losses");
                close(&grad, &slope, 1e-13, "their subgradient");
                if share > 0.0 {
                    close(&[best[term][0]], &duals(&p, share, &start), 1e-14, "the best dual");
                    // The dual form at its best is the same value, and its gradient is its own off that.
                    let (again, _) = ranked.term(term, &start, &all, &mut best[term].clone(), Some(None));
                    close(&[again], &[want], 1e-13, "dual form");
                    let mut off = best[term].map(|lambda| 0.93 * lambda);
                    let at = |w: &[f64]| ranked.term(term, w, &all, &mut off.clone(), Some(None)).0;
                    let want = differences(&start, &at);
                    close(&ranked.term(term, &start, &all, &mut off, Some(None)).1, &want, 1e-7, "by w");
                }
            }
            // Three stages of AGD, and the same with DCA.
            let terms = if range.low > 0.0 { 2 } else { 1 };
            let machine = AgdSbcd::new(6, Schedule::constant(0.3), 0.2, 2.0, 0.5, 0.0, terms == 2).unwrap();
            let inner: Vec<Inner> = (0..3)
                .map(|k| {
                    let by = (k + 1) as f64;
                    Inner { steps: machine.steps(k) as usize, eta: 0.3 / by, theta: 0.2 / by }
                })
                .collect();
            let mut source = Rng::new(12);
            let draws: Vec<Vec<Draw>> = inner
                .iter()
                .map(|i| (0..i.steps).map(|_| (vec![0], distinct(&mut source, 40, 12))).collect())
                .collect();
            let mut twice = draws.iter().flat_map(|stage| std::iter::repeat_n(stage, terms).flatten().cloned());
            let want = agd(&p, range, &start, 2.0, 0.5, &inner, NO_DECAY, &mut || twice.next().unwrap());
            let (mut points, mut counters, mut duals) = (start.repeat(6), [0; COUNTERS], best);
            let (mut fresh, mut rows) = (draws.iter().flatten(), &draws[0][0].1);
            while counters[1] < 3 {
                let mut state = State { points: &mut points, slots: &mut [], counters: &mut counters };
                let done = state.counters[2];
                match machine.next(&state) {
                    Ask::Evaluate { want: Want::Track, .. } => machine.tell(&mut state, Answer::Continue).unwrap(),
                    Ask::Evaluate { term, at: Point(at), draw, rate, .. } => {
                        if draw != undercurve::algorithm::Draw::Again {
                            rows = &fresh.next().unwrap().1;
                        }
                        let w = state.points[3 * usize::from(at)..][..3].to_vec();
                        let track = Track { rate: rate.unwrap(), done };
                        let (term, dual) = (usize::from(term), &mut duals[usize::from(term)]);
                        let (value, grad) = ranked.term(term, &w, rows, dual, Some(Some(track)));
                        machine.tell(&mut state, Answer::Gradient { value, grad: &grad }).unwrap();
                    }
                    Ask::Turn { term } => {
                        turn(&mut duals[usize::from(term)], done);
                        machine.tell(&mut state, Answer::Continue).unwrap();
                    }
                    other => panic!("{other:?}"),
                }
            }
            let what = format!("{loss:?} {} to {}", range.low, range.high);
            close(&points[..3], &want.answer, 1e-11, &what);
            close(&points[3..6], &want.w, 1e-11, &what);
            if range.high < 1.0 {
                close(&duals[1][..1], &want.banks[1], 1e-11, &what);
            }
        }
    }
    for (range, what) in [((0.5, 0.5), "from"), ((-0.1, 0.5), "from"), ((0.0, 1.1), "to"), ((f64::NAN, 1.0), "from")] {
        assert_eq!(Sorr::new(ExampleLoss::Squares, range, 0.1), Err(Error::Param { what }));
    }
    assert_eq!(Sorr::new(ExampleLoss::Squares, (0.0, 0.5), -0.1), Err(Error::Param { what: "theta" }));
    let sorr = Sorr::new(ExampleLoss::Squares, (0.0, 0.5), 0.1).unwrap();
    let (mut real, mut order, mut dual, mut grad) = ([0.0; 4], [0; 2], [1.0; DUAL], [5.0; 2]);
    let scratch = Scratch { real: &mut real, f64: &mut [], u32: &mut order, u64: &mut [] };
    let far = sorr.largest(1, &[1e200, 0.0], &[-1e200, 0.0], &mut dual, scratch, &mut grad);
    assert_eq!((far, dual, grad), (Err(Error::Overflow { what: "loss" }), [1.0; DUAL], [5.0; 2]));
}

/// A saved run may say anything of the steps it made: a count that nothing can follow is refused, and changes nothing.
#[test]
fn a_count_without_a_next_is_refused() {
    let sorr = Sorr::new(ExampleLoss::Logistic, (0.25, 0.5), 0.1).unwrap();
    let scores = [0.5, -0.2, 0.1];
    let batch = Batch::new(&scores, 1, &[0, 2, 3], &[30, 12], Drawn::Stratified).unwrap().of_term(1);
    for (clock, ends) in [(1e300, true), (f64::INFINITY, true), (u64::MAX as f64, true), (1e15, false), (-5.0, false)] {
        let mut state = [0.1, 0.0, 0.0, 0.2, 0.0, 0.0, 0.0, clock];
        let (before, mut slopes, mut order) = (state, [7.0; 3], [0; 3]);
        let scratch = Scratch { real: &mut [0.0; 6], f64: &mut [], u32: &mut order, u64: &mut [] };
        let out = Grad { scores: &mut slopes, aux: &mut [] };
        let got = Estimator::<f64>::update(&sorr, &batch, &[], &mut state, scratch, out);
        assert_eq!(got == Err(Error::Overflow { what: "steps" }), ends, "{clock}: {got:?}");
        assert_eq!((state == before, slopes == [7.0; 3]), (ends, ends), "{clock}");
    }
    let track = Some(Track { rate: 0.1, done: u64::MAX });
    let (mut dual, mut slopes, mut order) = ([0.2, 0.0, 0.0], [7.0; 3], [0; 3]);
    let scratch = Scratch { real: &mut [0.0; 6], f64: &mut [], u32: &mut order, u64: &mut [] };
    let moved = Dual { values: &mut dual, track };
    let got = sorr.term(1, &scores, &[-1.0, -1.0, 1.0], moved, scratch, &mut slopes);
    assert_eq!((got, dual, slopes), (Err(Error::Overflow { what: "steps" }), [0.2, 0.0, 0.0], [7.0; 3]));
}

/// Numbers, as residuals of a host: AGD and DCA of both losses.
#[test]
fn sorr_of_numbers_follows_the_twin() {
    let mut rng = Rng::new(19);
    let x = rows(&mut rng, 40, 0.0);
    let y: Vec<f64> = x.iter().map(|x| x[0] - 0.4 * x[1] + 0.3 * rng.normal()).collect();
    let start = [0.3, -0.1, 0.2];
    let inner: Vec<Inner> = (0..3usize)
        .map(|k| Inner { steps: 6 * (k + 1) * (k + 1), eta: 0.1 / (k + 1) as f64, theta: 0.2 / (k + 1) as f64 })
        .collect();
    let mut source = Rng::new(20);
    let draws: Vec<Vec<usize>> =
        (0..inner.iter().map(|i| i.steps).sum()).map(|_| distinct(&mut source, 40, 12)).collect();
    let listed = || Listed(draws.iter().map(|rows| (Vec::new(), rows.clone())).collect(), Drawn::Uniform);
    for (naive, loss) in [(Example::Squares, ExampleLoss::Squares), (Example::Absolute, ExampleLoss::Absolute)] {
        let p = Examples { x: &x, y: &y, loss: naive };
        for range in [Range { low: 0.05, high: 1.0 }, Range { low: 0.07, high: 0.83 }] {
            let sorr = Sorr::new(loss, (range.low, range.high), 0.1).unwrap();
            // (The twin has a dual of all losses, which the core does without.)
            if range.high < 1.0 {
                let mut once = draws.iter().map(|rows| (vec![0], rows.clone()));
                let want = dca(&p, range, &start, 0.1, &inner, NO_DECAY, &mut || once.next().unwrap());
                let machine = Dca::new(6, 0.1, 0.2, 0.1, 0.0, true, true).unwrap();
                let (points, _) = host_on((&[], &x), &y, sorr, machine, listed(), start, 0.0);
                close(&points[0], &want, 1e-11, "DCA");
            }
            let stage = |(i, from): (&Inner, usize)| {
                let rows: Vec<_> = draws[from..from + i.steps].iter().map(|rows| (vec![0], rows.clone())).collect();
                [rows.clone(), rows].concat()
            };
            let froms = [0, inner[0].steps, inner[0].steps + inner[1].steps];
            let mut twice = inner.iter().zip(froms).flat_map(stage);
            let want = agd(&p, range, &start, 2.0, 0.5, &inner, NO_DECAY, &mut || twice.next().unwrap());
            let machine = AgdSbcd::new(6, Schedule::constant(0.1), 0.2, 2.0, 0.5, 0.0, true).unwrap();
            let (points, _) = host_on((&[], &x), &y, sorr, machine, listed(), start, 0.0);
            close(&points[0], &want.answer, 1e-11, "AGD");
        }
    }
}

/// A trainer fits numbers in their own units, and names what it leaves out.
#[test]
fn sorr_fits_numbers_without_the_outliers() {
    let mut rng = Rng::new(21);
    let x = rows(&mut rng, 200, 0.0);
    let clean: Vec<f64> = x.iter().map(|x| 500.0 + 80.0 * x[0] - 30.0 * x[1] + 5.0 * rng.normal()).collect();
    let y: Vec<f64> = clean.iter().enumerate().map(|(k, y)| if k % 20 == 7 { y + 900.0 } else { *y }).collect();
    let data = |y: &[f64]| {
        let x: Vec<f64> = x.iter().flat_map(|x| [x[0], x[1]]).collect();
        Arc::new(Dataset::dense(x, Vec::new(), 2).unwrap().with_values(y.to_vec()).unwrap())
    };
    let config = |method: &str, loss: &str, model: ModelSpec| Config {
        method: method.into(),
        settings: vec![("loss".into(), loss.into())],
        model,
        ..Config::default()
    };
    let trained = |config: &Config, y: &[f64]| {
        let mut trainer = Trainer::new(config, data(y), None).unwrap();
        trainer.run().unwrap();
        trainer
    };
    let rmse = |trainer: &mut Trainer<f64>| trainer.evaluate(&data(&clean)).unwrap().get("rmse").unwrap();
    let plain = rmse(&mut trained(&config("ai-sarah", "least-squares", ModelSpec::Linear), &y));
    for loss in ["absolute", "least-squares"] {
        let sorr = config("sorr", loss, ModelSpec::Linear);
        let mut trainer = trained(&sorr, &y);
        let found = rmse(&mut trainer);
        assert!(found < 6.0 && found < 0.2 * plain, "{loss}: {found}, least squares {plain}");
        let mut scores = vec![0.0; 200];
        trainer.score(data(&y).rows(), &mut scores).unwrap();
        let mut worst: Vec<u32> = (0..200).collect();
        let residual = |row: u32| (scores[row as usize] - y[row as usize]).abs();
        worst.sort_by(|&a, &b| residual(b).total_cmp(&residual(a)));
        let Some(AnyEstimator::Sorr(sum)) = trainer.estimator().cloned() else { panic!("no sum of ranked range") };
        let (mut real, mut order) = (vec![f64::NAN; 400], vec![7; 200]);
        let scratch = Scratch { real: &mut real, f64: &mut [], u32: &mut order, u64: &mut [] };
        assert_eq!(sum.left_out(&scores, &y, scratch).unwrap(), &worst[..10]);
        assert!(worst[..10].iter().all(|row| row % 20 == 7));
        // The objective is the mean loss of the others, in units of the numbers.
        let of = |r: f64| if loss == "absolute" { r } else { 0.5 * r * r };
        let want = worst[10..].iter().map(|&row| of(residual(row))).sum::<f64>() / 190.0;
        close(&[trainer.report().unwrap().objective], &[want], 1e-12, loss);
        // In other units it is the same run.
        let larger: Vec<f64> = y.iter().map(|y| 1024.0 * y).collect();
        let want: Vec<f64> = trainer.params().iter().map(|w| 1024.0 * w).collect();
        assert_eq!(trained(&sorr, &larger).params(), want);
        // A run goes on from its file, and another from its model.
        let mut half = Trainer::new(&sorr, data(&y), None).unwrap();
        for _ in 0..700 {
            half.step().unwrap();
        }
        let mut again = Trainer::load(&half.save(), data(&y), None).unwrap();
        again.run().unwrap();
        assert_eq!(again.params(), trainer.params());
        let params = trainer.params().to_vec();
        close(Trainer::new_at(&sorr, data(&y), None, &params).unwrap().params(), &params, 1e-12, "a start");
    }
    let refused = |config: &Config| Trainer::new(config, data(&y), None).unwrap_err().to_string();
    assert!(refused(&config("sorr", "logistic", ModelSpec::Linear)).contains("absolute and least-squares"));
    let network = ModelSpec::parse("mlp:4").unwrap();
    assert!(refused(&config("sorr", "absolute", network)).contains("linear models"));
    let mut drawn = config("sorr", "absolute", ModelSpec::Linear);
    drawn.settings.push(("sampling".into(), "stratified".into()));
    assert!(refused(&drawn).contains("no classes to draw by"));
}

/// The same by a host, with batches over all rows and by class: AGD and DCA.
#[test]
fn sorr_as_a_method_follows_the_twin() {
    let mut rng = Rng::new(17);
    let (pos, neg) = (rows(&mut rng, 12, 1.0), rows(&mut rng, 30, 0.0));
    let x: Vec<Vec<f64>> = neg.iter().chain(&pos).cloned().collect();
    let y: Vec<f64> = (0..42).map(|k| if k < 30 { -1.0 } else { 1.0 }).collect();
    let p = Examples { x: &x, y: &y, loss: Example::Logistic };
    let start = [0.3, -0.1, 0.2];
    for range in [RANGES[0], RANGES[1], RANGES[2], Range { low: 0.07, high: 0.33 }] {
        let sorr = Sorr::new(ExampleLoss::Logistic, (range.low, range.high), 0.1).unwrap();
        let terms = if range.low > 0.0 { 2 } else { 1 };
        let inner: Vec<Inner> = (0..3usize)
            .map(|k| Inner { steps: 6 * (k + 1) * (k + 1), eta: 0.3 / (k + 1) as f64, theta: 0.2 / (k + 1) as f64 })
            .collect();
        let mut source = Rng::new(18);
        // Rows by their place, the negatives first.
        let draws: Vec<Vec<usize>> =
            (0..inner.iter().map(|i| i.steps).sum()).map(|_| distinct(&mut source, 42, 14)).collect();
        let listed = || {
            let split = |rows: &Vec<usize>| {
                let (low, high): (Vec<usize>, Vec<usize>) = rows.iter().partition(|&&row| row < 30);
                (high.iter().map(|row| row - 30).collect(), low)
            };
            Listed(draws.iter().map(split).collect(), Drawn::Uniform)
        };
        let mut rest = &draws[..];
        let mut twice = Vec::new();
        for i in &inner {
            let (stage, after) = rest.split_at(i.steps);
            (0..terms).for_each(|_| twice.extend(stage.iter().map(|rows| (vec![0], rows.clone()))));
            rest = after;
        }
        let mut twice = twice.into_iter();
        let want = agd(&p, range, &start, 2.0, 0.5, &inner, NO_DECAY, &mut || twice.next().unwrap());
        let machine = AgdSbcd::new(6, Schedule::constant(0.3), 0.2, 2.0, 0.5, 0.0, terms == 2).unwrap();
        let (points, state) = host_of((&pos, &neg), sorr, machine, listed(), start, 0.0);
        let what = format!("{} to {}", range.low, range.high);
        close(&points[0], &want.answer, 1e-11, &what);
        close(&points[1], &want.w, 1e-11, &what);
        for term in (2 - terms)..2 {
            let share = [range.low, range.high][term];
            if share < 1.0 {
                close(&[state[3 * term]], &want.banks[term], 1e-11, &what);
            }
        }
        if range.high < 1.0 {
            let mut once = draws.iter().map(|rows| (vec![0], rows.clone()));
            let want = dca(&p, range, &start, 0.1, &inner, NO_DECAY, &mut || once.next().unwrap());
            let machine = Dca::new(6, 0.3, 0.2, 0.1, 0.0, true, terms == 2).unwrap();
            close(&host_of((&pos, &neg), sorr, machine, listed(), start, 0.0).0[0], &want, 1e-11, &what);
        }
        // The mean over all draws of one row of each class is the dual form's own gradient, and the value F.
        let evaluate = |rows: &[usize], starts: [u32; 3], drawn, term, state: &mut [f64], want: Want| {
            let scores: Vec<f64> = rows.iter().map(|&row| x[row].iter().zip(start).map(|(x, w)| x * w).sum()).collect();
            let batch = Batch::new(&scores, 1, &starts, &[30, 12], drawn).unwrap().of_term(term).at_rate(Some(0.3));
            let need = Estimator::<f64>::need(&sorr, batch.shape());
            let (mut real, mut order) = (vec![f64::NAN; need.real], vec![7; need.u32]);
            let scratch = Scratch { real: &mut real, f64: &mut [], u32: &mut order, u64: &mut [] };
            let mut slopes = vec![f64::NAN; rows.len()];
            let out = Grad { scores: &mut slopes, aux: &mut [] };
            let value = match want {
                Want::Track => sorr.track(&batch, state, scratch).map(|()| 0.0),
                Want::Gradient => sorr.gradient(&batch, &[], state, scratch, out),
                Want::Both => sorr.value(&batch, &[], scratch),
                _ => unreachable!(),
            };
            let mut grad = vec![0.0; 3];
            for (&row, c) in rows.iter().zip(slopes) {
                grad.iter_mut().zip(&x[row]).for_each(|(g, x)| *g += c * x);
            }
            (value.unwrap(), grad)
        };
        let all: Vec<usize> = (0..42).collect();
        let mut state = vec![0.0; 8];
        let (value, _) = evaluate(&all, [0, 30, 42], Drawn::All, 0, &mut state, Want::Both);
        close(&[value], &[objective(&p, range, &start)], 1e-13, "F");
        for (term, share) in [(0, range.low), (1, range.high)] {
            if share == 0.0 || share == 1.0 {
                continue;
            }
            evaluate(&all, [0, 30, 42], Drawn::All, term, &mut state, Want::Track);
            let at = 3 * usize::from(term);
            close(&[state[at]], &duals(&p, share, &start), 1e-14, "the best dual");
            state[at] *= 0.9;
            let (want, above) = draw_sums(&p, range, &start, &[state[at]], &(vec![0], all.clone()));
            let (mut mean, mut moved) = (vec![0.0; 3], 0.0);
            for i in 30..42 {
                for j in 0..30 {
                    let (_, grad) =
                        evaluate(&[j, i], [0, 1, 2], Drawn::Stratified, term, &mut state.clone(), Want::Gradient);
                    mean.iter_mut().zip(grad).for_each(|(m, g)| *m += g / 360.0);
                    let mut after = state.clone();
                    evaluate(&[j, i], [0, 1, 2], Drawn::Stratified, term, &mut after, Want::Track);
                    moved += after[at] / 360.0;
                }
            }
            close(&mean, &want, 1e-13, "by class");
            close(&[moved], &[state[at] - 0.3 * (share - above[0])], 1e-13, "λ by class");
        }
    }
}

/// The most violated ordering and its gradient by score, negatives first.
fn violated(tight: &PaucTight, scores: &[f64], low: usize) -> (f64, Vec<f64>) {
    let population = [low as u32, (scores.len() - low) as u32];
    let starts = [0, population[0], scores.len() as u32];
    let batch = Batch::new(scores, 1, &starts, &population, Drawn::All).unwrap();
    let need = Estimator::<f64>::need(tight, batch.shape());
    let (mut real, mut wide, mut order) = (vec![f64::NAN; need.real], vec![f64::NAN; need.f64], vec![7; need.u32]);
    let mut scratch = Scratch { real: &mut real, f64: &mut wide, u32: &mut order, u64: &mut [] };
    let mut grad = vec![f64::NAN; scores.len()];
    let out = Grad { scores: &mut grad, aux: &mut [] };
    let value = tight.gradient(&batch, &[], &[], scratch.reborrow(), out).unwrap();
    assert_eq!(tight.value(&batch, &[], scratch), Ok(value));
    (value, grad)
}

#[test]
fn the_most_violated_ordering_is_the_best_of_all() {
    let mut rng = Rng::new(13);
    for round in 0..60 {
        let (low, high) = (3 + round % 4, 1 + round % 6);
        let spread = [0.3, 1.0, 3.0][round % 3];
        let mut draw = || {
            let x = spread * rng.normal();
            if round % 5 == 0 { (2.0 * x).round() / 2.0 } else { x }
        };
        let scores: Vec<f64> = (0..low + high).map(|_| draw()).collect();
        for m in 0..low {
            for n in m + 1..=low {
                let tight = PaucTight::new((m as f64 / low as f64, n as f64 / low as f64)).unwrap();
                let (found, grad) = violated(&tight, &scores, low);
                let want = most_violated(&scores[low..], &scores[..low], m, n);
                close(&[found], &[want], 1e-12, &format!("{scores:?} {low} {m} {n}"));
                // What does not depend on the scores is the ordering's own loss: so many pairs of n₊(n − m).
                let loss = found - scores.iter().zip(&grad).map(|(s, c)| s * c).sum::<f64>();
                let pairs = loss * (high * (n - m)) as f64;
                close(&[pairs], &[pairs.round()], 1e-11, "whole pairs");
                assert!(pairs > -1e-9 && pairs.round() as usize <= high * (n - m));
                if m == 0 {
                    // The mean hinge loss with the n highest.
                    let mut top = scores[..low].to_vec();
                    top.sort_by(|a, b| b.total_cmp(a));
                    let hinge = |s: f64| top[..n].iter().map(|t| (1.0 - s + t).max(0.0)).sum::<f64>();
                    let mean = scores[low..].iter().map(|&s| hinge(s)).sum::<f64>() / (n * high) as f64;
                    close(&[found], &[mean], 1e-12, "hinge");
                }
                // Convex: no point lies below the plane.
                let other: Vec<f64> =
                    scores.iter().enumerate().map(|(k, s)| s + 0.3 * ((k * 7 % 5) as f64 - 2.0)).collect();
                let plane = loss + other.iter().zip(&grad).map(|(s, c)| s * c).sum::<f64>();
                assert!(violated(&tight, &other, low).0 >= plane - 1e-12);
            }
        }
    }
    assert_eq!(PaucTight::new((0.2, 0.1)), Err(Error::Param { what: "fpr" }));
    // A range without a whole negative: the one in its middle.
    let narrow = PaucTight::new((0.6, 0.7)).unwrap();
    assert_eq!(
        violated(&narrow, &[0.0, 1.0, 2.0], 2).0,
        violated(&PaucTight::new((0.5, 1.0)).unwrap(), &[0.0, 1.0, 2.0], 2).0
    );
}

/// The cutting-plane method in both types, against descent; resumed from its state half way.
#[test]
fn cutting_planes_find_the_least_objective() {
    let mut rng = Rng::new(14);
    let (pos, neg) = (rows(&mut rng, 12, 1.0), rows(&mut rng, 60, 0.0));
    let x: Vec<&Vec<f64>> = neg.iter().chain(&pos).collect();
    for range in [(0.0, 0.3), (0.1, 0.5)] {
        let tight = PaucTight::new(range).unwrap();
        let evaluate = |w: &[f64]| {
            let scores: Vec<f64> = x.iter().map(|x| x.iter().zip(w).map(|(x, w)| x * w).sum()).collect();
            let (found, slopes) = violated(&tight, &scores, 60);
            let mut grad = vec![0.0; 3];
            for (x, c) in x.iter().zip(slopes) {
                grad.iter_mut().zip(x.iter()).for_each(|(g, x)| *g += c * x);
            }
            (found, grad)
        };
        for (c, planes) in [(1.0, 100), (100.0, 100), (100.0, 12)] {
            let objective = |w: &[f64]| 0.5 * w.iter().map(|w| w * w).sum::<f64>() + c * evaluate(w).0;
            let wide = cut(CuttingPlane::new(c, 1e-5, planes).unwrap(), |w: &[f64]| evaluate(w));
            let least = objective(&wide);
            let single = cut(CuttingPlane::new(c, 1e-4, planes).unwrap(), |w: &[f32]| {
                let (value, grad) = evaluate(&w.iter().map(|&w| f64::from(w)).collect::<Vec<_>>());
                (value, grad.iter().map(|&g| g as f32).collect())
            });
            let single: Vec<f64> = single.iter().map(|&w| f64::from(w)).collect();
            assert!(
                objective(&single) < least + 1.1e-4 * c,
                "{range:?} C = {c} in f32: {} {least}",
                objective(&single)
            );
            // Descent from the answer and from 0 finds nothing less than its tolerance allows.
            for start in [wide, vec![0.0; 3]] {
                let mut other = start;
                for t in 0..3000 {
                    let (_, grad) = evaluate(&other);
                    let step = 1.0 / (t as f64 + 2.0 + 4.0 * c);
                    (0..3).for_each(|k| other[k] -= step * (other[k] + c * grad[k]));
                    assert!(objective(&other) > least - 1e-5 * c - 1e-9, "{range:?} C = {c}");
                }
            }
            assert!(least < objective(&[0.0; 3]) - 1e-3);
        }
    }
    assert!(CuttingPlane::new(0.0, 1e-3, 10).is_err() && CuttingPlane::new(1.0, 0.0, 10).is_err());
    assert_eq!(CuttingPlane::new(1.0, 1e-3, 1), Err(Error::Param { what: "planes" }));
    // An infinite value changes nothing.
    let machine = CuttingPlane::new(1.0, 1e-3, 4).unwrap();
    let (mut points, mut slots) = (vec![0.0; 4], vec![0.0; Algorithm::<f64>::slots_len(&machine, 2)]);
    let mut counters = [0; COUNTERS];
    let mut state = State { points: &mut points, slots: &mut slots, counters: &mut counters };
    let answer = Answer::Gradient { value: f64::INFINITY, grad: &[1.0, 2.0] };
    assert!(matches!(machine.tell(&mut state, answer), Err(Error::Overflow { .. })));
    assert_eq!((points, counters), (vec![0.0; 4], [0; COUNTERS]));
}

/// Runs a machine from 0 to its end.
fn cut<T: undercurve::Real>(machine: CuttingPlane, evaluate: impl Fn(&[T]) -> (f64, Vec<T>)) -> Vec<T> {
    let mut slots = vec![T::ZERO; Algorithm::<T>::slots_len(&machine, 3)];
    let (mut points, mut counters) = (vec![T::ZERO; 6], [0; COUNTERS]);
    for rounds in 0.. {
        let mut state = State { points: &mut points, slots: &mut slots, counters: &mut counters };
        match machine.next(&state) {
            Ask::Done => break,
            ask => assert_eq!(ask, Ask::gradient(Point(1), undercurve::algorithm::Draw::All)),
        }
        let (value, grad) = evaluate(&state.points[3..]);
        machine.tell(&mut state, Answer::Gradient { value, grad: &grad }).unwrap();
        assert!(rounds < 2000, "{machine:?}: no end");
    }
    points[..3].to_vec()
}
