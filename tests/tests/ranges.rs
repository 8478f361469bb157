//! The twins of AGD-SBCD, SoRR, DCA and the cutting plane, tested by what they must satisfy; and the core's sums against
//! them.

use undercurve::algorithm::agd::{self, AgdAsk, AgdSbcd};
use undercurve::algorithm::cutting_plane::{Cuts, CuttingPlane};
use undercurve::algorithm::dca::{self, Dca, DcaAsk};
use undercurve::algorithm::{COUNTERS, State};
use undercurve::batch::{Batch, Drawn};
use undercurve::estimator::pauc_dual::{DUAL, PaucDual, Track, turn_bank};
use undercurve::estimator::pauc_tight::{PaucTight, Violation};
use undercurve::estimator::sorr::{ExampleLoss, Sorr};
use undercurve::estimator::{Estimator, Exact, Grad, Link};
use undercurve::rng::Rng;
use undercurve::surrogate::AnySurrogate;
use undercurve::{Error, Scratch};
use undercurve_tests::ranges::{
    Draw, Example, Examples, Inner, Pairs, Problem, Range, agd, dca, draw_sums, dual, duals, mini_batch, most_violated,
    objective, sbcd, top,
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
                (answer, lambda) = sbcd(p, range, share, &w, &lambda, mu, inner, &mut everything);
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
            fell(&agd(p, range, &start, 10.0, 0.5, &stages, &mut draws).answer, "AGD-SBCD");
            fell(&dca(p, range, &start, 0.0, &stages, &mut draws), "DCA with changing steps");
            fell(&dca(p, range, &start, 1e-2, &stages, &mut draws), "proximal DCA");
            let constant = [Inner { steps: 400, eta: 0.05, theta: 0.05 }; 12];
            fell(&dca(p, range, &start, 0.0, &constant, &mut draws), "DCA with constant steps");
        }
    }
    for range in [Range { low: 0.0, high: 0.4 }, Range { low: 0.1, high: 0.5 }] {
        let mut draws = || (distinct(&mut rng, 12, 6), distinct(&mut rng, 80, 30));
        let w = mini_batch(&pairs, range, &start, 600, &|t| 1.0 / (1.0 + t as f64 / 60.0), &mut draws);
        assert!(objective(&pairs, range, &w) < 0.85 * objective(&pairs, range, &start), "MB");
    }
}

/// A linear model on rows of both classes, driven by the core's estimator and algorithms.
struct Core<'a> {
    pos: &'a [Vec<f64>],
    neg: &'a [Vec<f64>],
    dual: PaucDual,
    exact: Exact,
}

impl Core<'_> {
    fn new<'a>(pos: &'a [Vec<f64>], neg: &'a [Vec<f64>], loss: (&str, f64), range: Range) -> Core<'a> {
        let surrogate = AnySurrogate::by_name(loss.0, loss.1).unwrap();
        let upper = (0.0, range.low.max(1e-9));
        Core {
            pos,
            neg,
            dual: PaucDual::new(surrogate, Link::Identity, (range.low, range.high)).unwrap(),
            exact: Exact::pauc(surrogate, Link::Identity, upper).unwrap(),
        }
    }

    /// Scores of some rows, the negatives first, and the gradient by parameters of slopes by score.
    fn scores(&self, w: &[f64], draw: &Draw) -> Vec<f64> {
        let dot = |x: &[f64]| x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>();
        let low = draw.1.iter().map(|&j| dot(&self.neg[j]));
        low.chain(draw.0.iter().map(|&i| dot(&self.pos[i]))).collect()
    }

    fn back(&self, draw: &Draw, slopes: &[f64]) -> Vec<f64> {
        let mut grad = vec![0.0; self.pos[0].len()];
        let rows = draw.1.iter().map(|&j| &self.neg[j]).chain(draw.0.iter().map(|&i| &self.pos[i]));
        for (x, c) in rows.zip(slopes) {
            grad.iter_mut().zip(x).for_each(|(g, x)| *g += c * x);
        }
        grad
    }

    fn everything(&self) -> Draw {
        ((0..self.pos.len()).collect(), (0..self.neg.len()).collect())
    }

    fn term(&self, term: usize, w: &[f64], draw: &Draw, bank: &mut [f64], track: Option<Track>) -> (f64, Vec<f64>) {
        let scores = self.scores(w, draw);
        let starts = [0, draw.1.len() as u32, scores.len() as u32];
        let population = [self.neg.len() as u32, self.pos.len() as u32];
        let slots: Vec<u32> = draw.0.iter().map(|&i| i as u32).collect();
        let batch = Batch::new(&scores, 1, &starts, &population, Drawn::Stratified).unwrap().with_slots(&slots);
        let need = self.dual.need(batch.shape());
        let (mut real, mut keys) = (vec![f64::NAN; need.real], vec![7; need.u64]);
        let scratch = Scratch { real: &mut real, f64: &mut [], u32: &mut [], u64: &mut keys };
        let mut slopes = vec![f64::NAN; scores.len()];
        let value = self.dual.term(term, &batch, bank, track, scratch, &mut slopes).unwrap();
        (value, self.back(draw, &slopes))
    }

    fn start(&self, term: usize, w: &[f64], bank: &mut [f64]) {
        let scores = self.scores(w, &self.everything());
        let population = [self.neg.len() as u32, self.pos.len() as u32];
        let starts = [0, population[0], scores.len() as u32];
        let batch = Batch::new(&scores, 1, &starts, &population, Drawn::All).unwrap();
        let need = self.dual.need(batch.shape());
        let (mut real, mut keys) = (vec![f64::NAN; need.real], vec![7; need.u64]);
        let scratch = Scratch { real: &mut real, f64: &mut [], u32: &mut [], u64: &mut keys };
        self.dual.start(term, &batch, bank, scratch).unwrap();
    }

    /// ∂f^m over all rows: the exact partial AUC of [0, α] in the units of [α, β].
    fn linear(&self, w: &[f64], range: Range) -> Vec<f64> {
        let draw = self.everything();
        let scores = self.scores(w, &draw);
        let population = [self.neg.len() as u32, self.pos.len() as u32];
        let starts = [0, population[0], scores.len() as u32];
        let batch = Batch::new(&scores, 1, &starts, &population, Drawn::All).unwrap();
        let need = Estimator::<f64>::need(&self.exact, batch.shape());
        let (mut real, mut wide) = (vec![0.0; need.real], vec![0.0; need.f64]);
        let (mut short, mut keys) = (vec![0; need.u32], vec![0; need.u64]);
        let scratch = Scratch { real: &mut real, f64: &mut wide, u32: &mut short, u64: &mut keys };
        let mut slopes = vec![0.0; scores.len()];
        self.exact.update(&batch, &[], &mut [], scratch, Grad { scores: &mut slopes, aux: &mut [] }).unwrap();
        self.back(&draw, &slopes).iter().map(|g| g * range.low / (range.high - range.low)).collect()
    }
}

/// Two streams of the same draws, for a twin that draws for each term and for a core that draws once for both.
fn stream(seed: u64, groups: usize, size: usize) -> impl FnMut() -> Draw {
    let mut rng = Rng::new(seed);
    move || (distinct(&mut rng, groups, 4), distinct(&mut rng, size, 15))
}

#[test]
fn agd_in_the_core_follows_the_twin() {
    let mut rng = Rng::new(6);
    let (pos, neg) = (rows(&mut rng, 9, 1.0), rows(&mut rng, 40, 0.0));
    for loss in [("logistic", 1.0), ("sigmoid", 2.0), ("hinge", 1.0)] {
        let pairs = Pairs { positives: &pos, negatives: &neg, loss };
        for range in [RANGES[0], RANGES[1], RANGES[2], Range { low: 0.07, high: 0.33 }] {
            let core = Core::new(&pos, &neg, loss, range);
            let (start, mu, relax, stages) = ([0.3, -0.1, 0.2], 3.0, 0.5, 3u64);
            let machine = AgdSbcd::new(7, 0.4, 0.3, mu, relax, range.low > 0.0).unwrap();
            let mut points = start.repeat(agd::POINTS);
            points[3..].fill(f64::NAN);
            let mut counters = [9; COUNTERS];
            let mut banks = [vec![f64::NAN; 9 * DUAL], vec![f64::NAN; 9 * DUAL]];
            (0..2).for_each(|term| core.start(term, &start, &mut banks[term]));
            machine.start(&mut State { points: &mut points, slots: &mut [], counters: &mut counters }).unwrap();
            // The twin draws for one term after the other: the same draws again in every stage.
            let mut inner = Vec::new();
            let mut at: Draw = (Vec::new(), Vec::new());
            for k in 0..stages {
                inner.push(Inner {
                    steps: machine.steps(k) as usize,
                    eta: 0.4 / (k + 1) as f64,
                    theta: 0.3 / (k + 1) as f64,
                });
            }
            let mut fresh = stream(7, 9, 40);
            let all: Vec<Vec<Draw>> = inner.iter().map(|i| (0..i.steps).map(|_| fresh()).collect()).collect();
            let terms = if range.low > 0.0 { 2 } else { 1 };
            let twice: Vec<Draw> =
                all.iter().flat_map(|stage| std::iter::repeat_n(stage, terms).flatten().cloned()).collect();
            let mut order = twice.into_iter();
            let want = agd(&pairs, range, &start, mu, relax, &inner, &mut || order.next().unwrap());
            assert!(order.next().is_none());

            let mut fresh = stream(7, 9, 40);
            while counters[1] < stages {
                match machine.next(&counters) {
                    AgdAsk::Term { term, at: point, again, rate, done } => {
                        if !again {
                            at = fresh();
                        }
                        let w = points[3 * point..][..3].to_vec();
                        let (_, grad) = core.term(term, &w, &at, &mut banks[term], Some(Track { rate, done }));
                        let mut state = State { points: &mut points, slots: &mut [], counters: &mut counters };
                        machine.tell(&mut state, &grad).unwrap();
                    }
                    AgdAsk::Turn { steps } => {
                        banks.iter_mut().for_each(|bank| turn_bank(bank, steps));
                        let mut state = State { points: &mut points, slots: &mut [], counters: &mut counters };
                        machine.turn(&mut state).unwrap();
                    }
                    other => panic!("{other:?}"),
                }
            }
            let what = format!("{loss:?} {} to {}", range.low, range.high);
            close(&points[..3], &want.answer, 1e-11, &what);
            close(&points[3..6], &want.w, 1e-11, &what);
            for term in (2 - terms)..2 {
                if term == 1 && range.high == 1.0 {
                    continue; // no duals
                }
                let lambda: Vec<f64> = banks[term].chunks(DUAL).map(|dual| dual[0]).collect();
                close(&lambda, &want.banks[term], 1e-11, &what);
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
    for range in [RANGES[0], RANGES[1], Range { low: 0.07, high: 0.33 }] {
        let core = Core::new(&pos, &neg, loss, range);
        for (prox, changing) in [(0.0, false), (0.0, true), (0.2, true)] {
            let machine = Dca::new(11, 0.3, 0.2, prox, changing).unwrap();
            let start = [0.3, -0.1, 0.2];
            let stage = |k: u64| {
                let by = if changing { (k + 1) as f64 } else { 1.0 };
                Inner { steps: machine.steps(k) as usize, eta: 0.3 / by, theta: 0.2 / by }
            };
            let want = dca(&pairs, range, &start, prox, &[0, 1, 2].map(stage), &mut stream(9, 9, 40));

            let (mut points, mut slots, mut counters) = (start.repeat(dca::POINTS), vec![f64::NAN; 3], [0; COUNTERS]);
            let mut bank = vec![f64::NAN; 9 * DUAL];
            core.start(1, &start, &mut bank);
            let mut fresh = stream(9, 9, 40);
            while counters[1] < 3 {
                let w = points[..3].to_vec();
                let grad = match machine.next(&counters) {
                    DcaAsk::Linear if range.low == 0.0 => vec![0.0; 3],
                    DcaAsk::Linear => core.linear(&w, range),
                    DcaAsk::Term { rate } => core.term(1, &w, &fresh(), &mut bank, Some(Track { rate, done: 0 })).1,
                    other => panic!("{other:?}"),
                };
                machine
                    .tell(&mut State { points: &mut points, slots: &mut slots, counters: &mut counters }, &grad)
                    .unwrap();
            }
            close(&points[..3], &want, 1e-11, &format!("{} {prox} {changing}", range.low));
        }
    }
}

/// The estimate is the dual form, its gradient the dual form's, and errors change nothing.
#[test]
fn terms_are_the_dual_form() {
    let mut rng = Rng::new(10);
    let (pos, neg) = (rows(&mut rng, 9, 1.0), rows(&mut rng, 40, 0.0));
    for range in RANGES {
        let core = Core::new(&pos, &neg, ("logistic", 1.0), range);
        let pairs = Pairs { positives: &pos, negatives: &neg, loss: ("logistic", 1.0) };
        let w = [0.3, -0.1, 0.2];
        for (term, share) in [(0, range.low), (1, range.high)] {
            assert_eq!(core.dual.has(term), share > 0.0);
            let mut bank = vec![0.0; 9 * DUAL];
            core.start(term, &w, &mut bank);
            let (value, grad) = core.term(term, &w, &core.everything(), &mut bank.clone(), None);
            let (want, _) = top(&pairs, range, share, &w);
            close(&[value], &[want], 1e-12, "at the best duals");
            // Off them, where nothing is on the edge.
            bank.iter_mut().for_each(|x| *x *= 0.97);
            let before = bank.clone();
            let at = |w: &[f64]| core.term(term, w, &core.everything(), &mut bank.clone(), None).0;
            let (_, slope) = core.term(term, &w, &core.everything(), &mut bank.clone(), None);
            close(&slope, &differences(&w, &at), 1e-7, "by w");
            if share > 0.0 && share < 1.0 {
                let lambda: Vec<f64> = bank.chunks(DUAL).map(|dual| dual[0]).collect();
                close(&[at(&w)], &[dual(&pairs, range, share, &w, &lambda)], 1e-12, "dual form");
                assert!(slope.iter().zip(&grad).any(|(a, b)| a != b));
                let best: Vec<f64> = duals(&pairs, share, &w).iter().map(|l| l * 0.97).collect();
                close(&lambda, &best, 1e-12, "best duals");
            }
            assert_eq!(bank, before);
        }
    }
    let surrogate = AnySurrogate::by_name("logistic", 1.0).unwrap();
    assert_eq!(PaucDual::new(surrogate, Link::Identity, (0.5, 0.5)), Err(Error::Param { what: "fpr" }));
    let square = AnySurrogate::by_name("square", 1.0).unwrap();
    assert!(matches!(PaucDual::new(square, Link::Identity, (0.0, 0.5)), Err(Error::Unsupported { .. })));
    for (relax, mu, first) in [(0.0, 1.0, 5), (2.5, 1.0, 5), (f64::NAN, 1.0, 5), (0.5, 0.0, 5), (0.5, 1.0, 0)] {
        assert!(matches!(AgdSbcd::new(first, 1.0, 1.0, mu, relax, true), Err(Error::Param { .. })));
    }
    assert!(matches!(Dca::new(5, 1.0, 1.0, -1.0, true), Err(Error::Param { what: "prox" })));
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
            Some(track) => self.sorr.term(term, &scores, &targets, dual, track, scratch, &mut slopes),
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
            let ranked = Ranked { x: &x, y, sorr: Sorr::new(loss, (range.low, range.high)).unwrap() };
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
            let machine = AgdSbcd::new(6, 0.3, 0.2, 2.0, 0.5, terms == 2).unwrap();
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
            let want = agd(&p, range, &start, 2.0, 0.5, &inner, &mut || twice.next().unwrap());
            let (mut points, mut counters, mut duals) = (start.repeat(agd::POINTS), [0; COUNTERS], best);
            machine.start(&mut State { points: &mut points, slots: &mut [], counters: &mut counters }).unwrap();
            let (mut fresh, mut rows) = (draws.iter().flatten(), &draws[0][0].1);
            while counters[1] < 3 {
                match machine.next(&counters) {
                    AgdAsk::Term { term, at, again, rate, done } => {
                        if !again {
                            rows = &fresh.next().unwrap().1;
                        }
                        let w = points[3 * at..][..3].to_vec();
                        let (_, grad) = ranked.term(term, &w, rows, &mut duals[term], Some(Some(Track { rate, done })));
                        let mut state = State { points: &mut points, slots: &mut [], counters: &mut counters };
                        machine.tell(&mut state, &grad).unwrap();
                    }
                    AgdAsk::Turn { steps } => {
                        duals.iter_mut().for_each(|dual| turn_bank(dual, steps));
                        let mut state = State { points: &mut points, slots: &mut [], counters: &mut counters };
                        machine.turn(&mut state).unwrap();
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
    for range in [(0.5, 0.5), (-0.1, 0.5), (0.0, 1.1), (f64::NAN, 1.0)] {
        assert_eq!(Sorr::new(ExampleLoss::Squares, range), Err(Error::Param { what: "range" }));
    }
    let sorr = Sorr::new(ExampleLoss::Squares, (0.0, 0.5)).unwrap();
    let (mut real, mut order, mut dual, mut grad) = ([0.0; 4], [0; 2], [1.0; DUAL], [5.0; 2]);
    let scratch = Scratch { real: &mut real, f64: &mut [], u32: &mut order, u64: &mut [] };
    let far = sorr.largest(1, &[1e200, 0.0], &[-1e200, 0.0], &mut dual, scratch, &mut grad);
    assert_eq!((far, dual, grad), (Err(Error::Overflow { what: "loss" }), [1.0; DUAL], [5.0; 2]));
}

/// The most violated ordering and its gradient by score, negatives first.
fn violated(tight: &PaucTight, scores: &[f64], low: usize) -> Result<(Violation, Vec<f64>), Error> {
    let population = [low as u32, (scores.len() - low) as u32];
    let starts = [0, population[0], scores.len() as u32];
    let batch = Batch::new(scores, 1, &starts, &population, Drawn::All).unwrap();
    let need = tight.need(batch.shape());
    let (mut real, mut wide, mut order) = (vec![f64::NAN; need.real], vec![f64::NAN; need.f64], vec![7; need.u32]);
    let scratch = Scratch { real: &mut real, f64: &mut wide, u32: &mut order, u64: &mut [] };
    let mut grad = vec![f64::NAN; scores.len()];
    let found = tight.most_violated(&batch, scratch, &mut grad)?;
    Ok((found, grad))
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
                let (found, grad) = violated(&tight, &scores, low).unwrap();
                let want = most_violated(&scores[low..], &scores[..low], m, n);
                close(&[found.value], &[want], 1e-12, &format!("{scores:?} {low} {m} {n}"));
                let linear = found.loss + scores.iter().zip(&grad).map(|(s, c)| s * c).sum::<f64>();
                close(&[linear], &[want], 1e-12, "as a linear function");
                if m == 0 {
                    // The mean hinge loss with the n highest.
                    let mut top = scores[..low].to_vec();
                    top.sort_by(|a, b| b.total_cmp(a));
                    let hinge = |s: f64| top[..n].iter().map(|t| (1.0 - s + t).max(0.0)).sum::<f64>();
                    let mean = scores[low..].iter().map(|&s| hinge(s)).sum::<f64>() / (n * high) as f64;
                    close(&[found.value], &[mean], 1e-12, "hinge");
                }
                // Convex: no point lies below the plane.
                let other: Vec<f64> =
                    scores.iter().enumerate().map(|(k, s)| s + 0.3 * ((k * 7 % 5) as f64 - 2.0)).collect();
                let (there, _) = violated(&tight, &other, low).unwrap();
                let plane = found.loss + other.iter().zip(&grad).map(|(s, c)| s * c).sum::<f64>();
                assert!(there.value >= plane - 1e-12);
            }
        }
    }
    assert_eq!(PaucTight::new((0.2, 0.1)), Err(Error::Param { what: "fpr" }));
    let narrow = PaucTight::new((0.1, 0.2)).unwrap();
    assert_eq!(violated(&narrow, &[0.0, 1.0, 2.0], 2), Err(Error::Param { what: "fpr" }));
}

#[test]
fn cutting_planes_find_the_least_objective() {
    let mut rng = Rng::new(14);
    let (pos, neg) = (rows(&mut rng, 12, 1.0), rows(&mut rng, 60, 0.0));
    let x: Vec<&Vec<f64>> = neg.iter().chain(&pos).collect();
    for range in [(0.0, 0.3), (0.1, 0.5)] {
        let tight = PaucTight::new(range).unwrap();
        let evaluate = |w: &[f64]| {
            let scores: Vec<f64> = x.iter().map(|x| x.iter().zip(w).map(|(x, w)| x * w).sum()).collect();
            let (found, slopes) = violated(&tight, &scores, 60).unwrap();
            let mut grad = vec![0.0; 3];
            for (x, c) in x.iter().zip(slopes) {
                grad.iter_mut().zip(x.iter()).for_each(|(g, x)| *g += c * x);
            }
            (found, grad)
        };
        for (c, planes) in [(1.0, 100), (100.0, 100), (100.0, 12)] {
            let machine = CuttingPlane::new(c, 1e-5, planes).unwrap();
            let (mut w, mut kept) = (vec![0.0; 3], 0);
            let (mut memory, mut wide) = (vec![f64::NAN; 3 * planes], vec![0.0; machine.f64_len()]);
            let mut rounds = 0;
            loop {
                let (found, grad) = evaluate(&w);
                let mut cuts = Cuts { w: &mut w, planes: &mut memory, f64: &mut wide, kept: &mut kept };
                rounds += 1;
                if machine.tell(&mut cuts, found.value, found.loss, &grad).unwrap() {
                    break;
                }
                assert!(rounds < 2000, "{range:?} C = {c}, {planes} planes: no end");
            }
            let objective = |w: &[f64]| 0.5 * w.iter().map(|w| w * w).sum::<f64>() + c * evaluate(w).0.value;
            let least = objective(&w);
            // Descent from the answer and from 0 finds nothing less than its tolerance allows.
            for start in [w.clone(), vec![0.0; 3]] {
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
}
