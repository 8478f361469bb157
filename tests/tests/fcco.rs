//! Outer functions, constraints on groups and CVaR, and the algorithms that follow them, against plain transcriptions,
//! numeric minimisation and differences.

#[path = "fcco/contrastive.rs"]
mod contrastive;

use std::sync::Arc;
use undercurve::algorithm::{
    Adam, AdamForm, AdamSettings, Alexr2, Algorithm, AnyAlgorithm, Icppac, Lagrange, Momentum, Msvr, Ooa, Schedule,
    ScheduleShape, Sgd, Sonex, StepRule,
};
use undercurve::batch::{Batch, Drawn};
use undercurve::constraint::{Constraint, Constraints, LEVELS, MOST, Measure, Sense};
use undercurve::data::{Dataset, Rows, Segments};
use undercurve::estimator::{
    AnyEstimator, Blocks, Constrained, ConstrainedSettings, Estimator, Form, Gdro, GdroSettings, Grad, Minimised, Risk,
    Thresholds, Tracker, Uses,
};
use undercurve::expression::Expression;
use undercurve::host::{Buffers, Chunks, Data, Host, RunState};
use undercurve::judge::{Judged, Scored, Verdict};
use undercurve::metric::{Metrics, Rate};
use undercurve::model::Linear;
use undercurve::outer::{Band, CvarHinge, Hinge, Log, Outer, Ratio, SquaredHinge};
use undercurve::registry::{Kind, METHODS, Scope, Settings};
use undercurve::rng::Rng;
use undercurve::sampler::{Place, Sampler, Stratified};
use undercurve::trainer::{Best, Config, Given, Length, ModelSpec, Predictor, Trainer, Watch};
use undercurve::{Error, Scratch};
use undercurve_tests::fcco::{self as twin, Asked, Cost, Draw, Function, Problem, Running, Step};

// ---- Outer functions.

/// The least value of a unimodal function on an interval, and where.
fn least(f: &dyn Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..200 {
        let [a, b] = [low + (high - low) / 3.0, high - (high - low) / 3.0];
        if f(a) < f(b) { high = b } else { low = a }
    }
    0.5 * (low + high)
}

fn smoothed<O: Outer>(outer: O, lambda: f64, points: &[f64], floor: f64) {
    for &u in points {
        let cost = |x: f64| outer.value(x) + (x - u) * (x - u) / (2.0 * lambda);
        let best = least(&cost, floor.max(u - 50.0), u + 50.0);
        assert!((outer.prox(u, lambda) - best).abs() < 1e-6, "prox at {u}: {} and {best}", outer.prox(u, lambda));
        assert!((outer.envelope(u, lambda) - cost(best)).abs() < 1e-12, "envelope at {u}");
        let slope = (outer.envelope(u + 1e-6, lambda) - outer.envelope(u - 1e-6, lambda)) / 2e-6;
        assert!((outer.envelope_slope(u, lambda) - slope).abs() < 1e-6, "slope of the envelope at {u}");
        let slope = (outer.value(u + 1e-6) - outer.value(u - 1e-6)) / 2e-6;
        assert!((outer.slope(u) - slope).abs() < 1e-5 * (1.0 + slope.abs()), "slope at {u}");
    }
}

#[test]
fn envelopes_are_proximal_minima() {
    // (None of them where an envelope has a kink in its slope.)
    let points = [-2.3, -0.31, -0.013, 0.0021, 0.0317, 0.113, 0.2713, 1.91];
    for lambda in [0.002, 0.1, 1.3] {
        for weight in [0.3, 4.0] {
            smoothed(Hinge { weight }, lambda, &points, f64::MIN);
            smoothed(SquaredHinge { weight }, lambda, &points, f64::MIN);
            smoothed(Band { weight, width: 0.05 }, lambda, &points, f64::MIN);
            smoothed(CvarHinge { share: 0.15, s: 0.07 }, lambda, &points, f64::MIN);
        }
    }
    smoothed(Log { temperature: 0.05 }, 0.01, &[0.1, 0.4, 3.0], 0.05);
}

/// Of two inner values: the gap's envelope by (g₁, g₂) is that of the difference with twice the smoothing; and −g₁/g₂.
#[test]
fn envelopes_of_two_values_are_proximal_minima() {
    let minimum = |f: &dyn Fn([f64; 2]) -> f64, u: [f64; 2]| {
        // Alternating one-dimensional searches along turned axes, enough for functions of two values that are convex here.
        let mut x = u;
        for _ in 0..400 {
            for d in [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]] {
                let t = least(&|t| f([x[0] + t * d[0], x[1] + t * d[1]]), -0.3, 0.3);
                x = [x[0] + t * d[0], x[1] + t * d[1]];
            }
        }
        x
    };
    for (u, lambda) in [([0.4, 0.31], 0.002), ([0.3, 0.5], 0.01), ([0.5, 0.45], 0.02)] {
        let band = Band { weight: 4.0, width: 0.05 };
        let far = |x: [f64; 2]| ((x[0] - u[0]).powi(2) + (x[1] - u[1]).powi(2)) / (2.0 * lambda);
        let x = minimum(&|x| band.value(x[0] - x[1]) + far(x), u);
        let y = band.envelope_slope(u[0] - u[1], 2.0 * lambda);
        assert!(((u[0] - x[0]) / lambda - y).abs() < 1e-4 / lambda * 1e-2, "{u:?}");
        assert!(((u[1] - x[1]) / lambda + y).abs() < 1e-4 / lambda * 1e-2, "{u:?}");
        let x = minimum(&|x| Ratio.value(x) + far(x), u);
        let y = Ratio.envelope_slope(u, lambda);
        for k in 0..2 {
            assert!(((u[k] - x[k]) / lambda - y[k]).abs() < 1e-6 / lambda, "{u:?} {lambda}: {x:?} {y:?}");
        }
    }
    let g = [0.3, 0.7];
    let by = |k: usize, h: f64| {
        let mut g = g;
        g[k] += h;
        Ratio.value(g)
    };
    for k in 0..2 {
        assert!((Ratio.slope(g)[k] - (by(k, 1e-6) - by(k, -1e-6)) / 2e-6).abs() < 1e-8);
    }
}

/// Step 8 of ALEXR2, argmax_y y g̃ − f̄*(y) − U(y, y_k)/γ with f̄* = λy²/2 on [0, ρ] and the subgradient u_k in the Bregman
/// divergence U, is y = ∇f_λ(u) with u = (1 − γ̂)u_k + γ̂g̃, γ̂ = γ/(1 + γ).
#[test]
fn the_dual_step_of_alexr2_is_the_slope_of_the_envelope() {
    let (rho, lambda) = (4.0, 0.05);
    let hinge = Hinge { weight: rho };
    let conjugate = |y: f64| 0.5 * lambda * y * y;
    let mut rng = Rng::new(5);
    let mut inside = 0;
    for _ in 0..300 {
        let (gamma, mut u) = ([0.25, 1.0, 4.0][rng.below(3) as usize], 0.2 * rng.normal());
        for _ in 0..4 {
            let old = hinge.envelope_slope(u, lambda);
            let estimate = 0.2 * rng.normal();
            let bregman = |y: f64| conjugate(y) - conjugate(old) - u * (y - old);
            let best = least(&|y| -(y * estimate - conjugate(y) - bregman(y) / gamma), 0.0, rho);
            u = Tracker::new(gamma / (1.0 + gamma), 0.0).unwrap().next(Some(u), estimate, None);
            let y = hinge.envelope_slope(u, lambda);
            assert!((y - best).abs() < 1e-6, "{y} {best}");
            inside += usize::from(y > 0.0 && y < rho);
        }
    }
    assert!(inside > 300);
}

/// γ' corrects by the change on the same rows; θ of ALEXR2 is γ'/γ̂.
#[test]
fn running_values_follow_their_formula() {
    let tracker = Tracker::new(0.2, 0.1).unwrap();
    assert_eq!(tracker.next(None, 3.0, Some(2.0)), 3.0);
    assert!((tracker.next(Some(1.0), 3.0, Some(2.0)) - (0.8 + 0.6 + 0.1)).abs() < 1e-15);
    assert!((tracker.next(Some(1.0), 3.0, None) - 1.4).abs() < 1e-15);
    let at = tracker.at_rate(Some(0.5)).unwrap();
    assert!((at.next(Some(1.0), 3.0, Some(2.0)) - 2.1).abs() < 1e-15);
    for (gamma, correction) in [(0.0, 0.1), (1.1, 0.1), (f64::NAN, 0.1), (0.5, -0.1), (0.5, f64::NAN)] {
        assert!(matches!(Tracker::new(gamma, correction), Err(Error::Param { .. })));
    }
    assert!(matches!(tracker.at_rate(Some(0.0)), Err(Error::Param { .. })));
}

// ---- Data: two or three groups that differ, of unequal sizes.

struct World {
    x: Vec<Vec<f64>>,
    dense: Vec<f64>,
    groups: usize,
    order: Vec<u32>,
    starts: Vec<u32>,
}

impl World {
    fn new(groups: usize, sizes: &[usize], seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let (mut x, mut cells) = (Vec::new(), Vec::new());
        for (cell, &size) in sizes.iter().enumerate() {
            for _ in 0..size {
                let (label, group) = ((cell / groups) as f64, (cell % groups) as f64);
                x.push(vec![rng.normal() + 1.3 * label + 0.6 * group, rng.normal() - 0.8 * group, rng.normal()]);
                cells.push(cell as u32);
            }
        }
        // The rows of a cell need not lie together.
        let mut shuffled: Vec<u32> = (0..x.len() as u32).collect();
        rng.shuffle(&mut shuffled);
        let x: Vec<Vec<f64>> = shuffled.iter().map(|&k| x[k as usize].clone()).collect();
        let cells: Vec<u32> = shuffled.iter().map(|&k| cells[k as usize]).collect();
        let (mut order, mut starts) = (vec![0; x.len()], vec![0; 2 * groups + 1]);
        Segments::new(&cells, &mut order, &mut starts).unwrap();
        Self { dense: x.concat(), x, groups, order, starts }
    }

    fn two() -> Self {
        Self::new(2, &[60, 25, 20, 13], 1)
    }

    fn segments(&self) -> Segments<'_> {
        Segments::again(&self.order, &self.starts).unwrap()
    }

    fn data(&self) -> Data<'_, f64> {
        Data { rows: Rows::dense(&self.dense, 3).unwrap(), segments: self.segments() }
    }

    fn population(&self) -> Vec<usize> {
        (0..2 * self.groups).map(|cell| self.segments().size(cell) as usize).collect()
    }

    /// The batches that a run draws.
    fn draws(&self, sampler: Stratified, count: usize) -> Vec<Draw> {
        let segments = self.segments();
        let rows = sampler.rows(&segments);
        let (mut cursor, mut order) = (vec![0; segments.cursor_len()], vec![0; self.x.len()]);
        let (mut index, mut items, mut starts) = (vec![0; rows], vec![0; rows], vec![0; segments.len() + 1]);
        sampler.prepare(&segments, &cursor, &mut order).unwrap();
        (0..count)
            .map(|_| {
                let to = Place { index: &mut index, items: &mut items, starts: &mut starts };
                sampler.draw(&segments, &mut cursor, &mut order, to).unwrap();
                let cells = starts.windows(2).map(|w| index[w[0] as usize..w[1] as usize].to_vec());
                cells.map(|cell| cell.iter().map(|&row| row as usize).collect()).collect()
            })
            .collect()
    }

    /// Points (parameters and auxiliaries of the first) after every step of a run.
    fn run(&self, estimator: AnyEstimator, algorithm: AnyAlgorithm, sampler: Stratified, steps: u64) -> Vec<Vec<f64>> {
        let host = Host { steps, seed: 3, ..Host::new(Linear::new(3, 1).unwrap(), estimator, algorithm, sampler) };
        let data = self.data();
        let (need, work) = (host.state(&data).unwrap(), host.buffers(&data).unwrap());
        let (mut real, mut f64s, mut u64s) = (vec![0.0; need.real], vec![0.0; need.f64], vec![0; need.u64]);
        let mut state = RunState { real: &mut real, f64: &mut f64s, u64: &mut u64s };
        let (mut w, mut f) = (vec![0.0; work.real], vec![0.0; work.f64]);
        let (mut u, mut k) = (vec![0; work.u32], vec![0; work.u64]);
        let mut buffers = Buffers::new(&mut w, &mut f, &mut u, &mut k);
        let mut memory = vec![0.0; host.passes(&data).unwrap()];
        let mut passes = Chunks::new(&mut memory);
        host.start(&data, &mut state, &mut buffers).unwrap();
        let (low, high) = host.estimator.aux();
        let mut path = vec![state.real[..4 + low + high].to_vec()];
        while host.step(&data, &mut state, &mut buffers, &mut passes).unwrap().is_some() {
            path.push(state.real[..4 + low + high].to_vec());
        }
        path
    }
}

#[track_caller]
fn same(got: &[Vec<f64>], want: &[Vec<f64>], tolerance: f64, what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (step, (got, want)) in got.iter().zip(want).enumerate() {
        assert_eq!(got.len(), want.len(), "{what}");
        for (a, b) in got.iter().zip(want) {
            assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{what}, step {step}: {got:?} and {want:?}");
        }
    }
}

// (Gradients by the intercept are rounding alone; a large ε keeps Adam from making much of them.)
/// Both gaps at most so large, at every level and for every pair of groups.
fn roc(kappa: f64, groups: usize, levels: &[f64]) -> Vec<Function> {
    let pairs: Vec<[usize; 2]> = (0..groups).flat_map(|a| (a + 1..groups).map(move |b| [a, b])).collect();
    let share = 0.5 / (levels.len() * pairs.len()) as f64;
    [0, 1]
        .into_iter()
        .flat_map(|label| levels.iter().map(move |&level| (label, level)))
        .flat_map(|(label, level)| pairs.iter().map(move |&pair| Asked::Gap { label, level, pair }))
        .map(|asked| Function { asked, bound: kappa, share })
        .collect()
}

const SGD: f64 = 0.1;

fn rules(lr: f64) -> [(StepRule, Step); 3] {
    let rate = Schedule::constant(lr);
    let adam = AdamSettings { lr: rate, beta1: 0.9, beta2: 0.99, eps: 1e-3, decay: 0.0, form: AdamForm::Corrected };
    let far = Schedule::constant(SGD);
    [
        (StepRule::Sgd(Sgd::new(far, 0.0).unwrap()), Step::Sgd { lr: SGD }),
        (StepRule::Momentum(Momentum::new(far, 0.8, 0.0).unwrap()), Step::Momentum { lr: SGD, beta: 0.8, v: vec![] }),
        (
            StepRule::Adam(Adam::new(adam).unwrap()),
            Step::Adam { lr, beta1: 0.9, beta2: 0.99, eps: 1e-3, m: vec![], v: vec![], t: 0 },
        ),
    ]
}

fn settings(kappa: f64, groups: u32) -> ConstrainedSettings {
    ConstrainedSettings {
        constraints: Constraints::roc(kappa),
        groups,
        form: Form::Smoothed(0.1),
        penalty: 3.0,
        tracker: Tracker::new(0.3, 0.2).unwrap(),
        ..ConstrainedSettings::default()
    }
}

fn problem<'a>(world: &'a World, population: &'a [usize], functions: &'a [Function]) -> Problem<'a> {
    Problem {
        x: &world.x,
        groups: world.groups,
        population,
        functions,
        cost: Cost::Smoothed(0.1),
        rho: 3.0,
        gamma: 0.3,
        correction: 0.2,
        new: false,
        raw: false,
        ce: false,
        protected: 0,
    }
}

fn constrained(settings: ConstrainedSettings) -> AnyEstimator {
    AnyEstimator::Constrained(Constrained::new(settings).unwrap())
}

// ---- Algorithms, step by step.

/// With each step rule, both thresholds, old and new u, two and three groups, over more batches than one refresh.
#[test]
fn sonex_is_its_transcription() {
    let three = World::new(3, &[40, 22, 15, 14, 12, 9], 2);
    let raw = [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0];
    for (world, steps) in [(&World::two(), 50), (&three, 26)] {
        let population = world.population();
        let sampler = Stratified::per_cell(7, 6).unwrap();
        let draws = world.draws(sampler, steps);
        for (which, (rule, step)) in rules(0.02).into_iter().enumerate() {
            let (new, raws) = (which == 1, which == 0);
            let functions = roc(0.03, world.groups, if raws { &raw } else { &LEVELS });
            let p = Problem { new, raw: raws, ..problem(world, &population, &functions) };
            let of = ConstrainedSettings {
                uses: if new { Uses::New } else { Uses::Old },
                thresholds: if raws { Thresholds::Raw } else { Thresholds::Pooled },
                ..settings(0.03, world.groups as u32)
            };
            let got = world.run(constrained(of), AnyAlgorithm::Sonex(Sonex::new(rule)), sampler, steps as u64);
            let want = twin::sonex(&p, &got[0], &draws, step);
            same(&got[1..], &want, 1e-9, &format!("{rule:?}"));
            // The correction by the point before matters.
            let plain = Problem { correction: 0.0, ..p };
            let other = twin::sonex(&plain, &got[0], &draws, rules(0.02)[which].1.clone());
            assert!(other.last().unwrap().iter().zip(got.last().unwrap()).any(|(a, b)| (a - b).abs() > 1e-6));
        }
    }
}

#[test]
fn sonx_sox_and_multipliers_are_their_transcriptions() {
    let world = World::two();
    let population = world.population();
    let sampler = Stratified::per_cell(7, 6).unwrap();
    let draws = world.draws(sampler, 30);
    let functions = roc(0.03, 2, &LEVELS);
    let of = settings(0.03, 2);
    for (which, (rule, step)) in rules(0.02).into_iter().enumerate() {
        let got = world.run(
            constrained(ConstrainedSettings { form: Form::Hinge, uses: Uses::New, ..of }),
            AnyAlgorithm::Sonex(Sonex::new(rule)),
            sampler,
            30,
        );
        let p = Problem { cost: Cost::Hinge, new: true, ..problem(&world, &population, &functions) };
        same(&got[1..], &twin::sonex(&p, &got[0], &draws, step.clone()), 1e-9, "SONX");

        let plain = match rule {
            StepRule::Sgd(rule) => AnyAlgorithm::Sgd(rule),
            StepRule::Momentum(rule) => AnyAlgorithm::Momentum(rule),
            StepRule::Adam(rule) => AnyAlgorithm::Adam(rule),
            _ => unreachable!(),
        };
        let got = world.run(constrained(ConstrainedSettings { form: Form::Squared, ..of }), plain, sampler, 30);
        let p = Problem { cost: Cost::Squared, ..problem(&world, &population, &functions) };
        same(&got[1..], &twin::sox(&p, &got[0], &draws, step.clone()), 1e-9, "SOX");

        let estimator = constrained(ConstrainedSettings { form: Form::Multipliers, ..of });
        assert_eq!(estimator.aux(), (0, 28));
        let lagrange = AnyAlgorithm::Lagrange(Lagrange::new(rule, 28, 0.4, 3.0).unwrap());
        let got = world.run(estimator, lagrange, sampler, 30);
        let p = Problem { cost: Cost::Multipliers, ..problem(&world, &population, &functions) };
        same(&got[1..], &twin::lagrange(&p, &got[0][..4], &draws, step, 0.4), 1e-9, "multipliers");
        assert!(got.last().unwrap()[4..].iter().any(|&y| y > 0.0), "{which}: no multiplier rose");
    }
}

/// Constraints of every kind together, in every form, with both objectives.
#[test]
fn every_constraint_is_its_transcription() {
    let world = World::two();
    let population = world.population();
    let sampler = Stratified::per_cell(9, 5).unwrap();
    let draws = world.draws(sampler, 30);
    let [tpr, fpr] = [Rate::Tpr, Rate::Fpr];
    let list = [
        Constraint::at_most(Measure::Gap { rate: fpr, at: Some(0.15) }, 0.02),
        Constraint::at_least(Measure::Rate { rate: tpr, group: None }, 0.9),
        Constraint::at_least(Measure::Rate { rate: tpr, group: Some(1) }, 0.8),
        Constraint::at_most(Measure::Rate { rate: fpr, group: Some(0) }, 0.1),
        Constraint::at_least(Measure::Precision { group: None }, 0.7),
        Constraint::at_least(Measure::Precision { group: Some(1) }, 0.75),
        Constraint::at_most(Measure::Loss { group: Some(0) }, 0.4),
        Constraint::at_most(Measure::Loss { group: None }, 0.3),
    ];
    let share = 1.0 / list.len() as f64;
    let asked = [
        Asked::Gap { label: 0, level: 0.15, pair: [0, 1] },
        Asked::Rate { label: 1, group: None, most: false },
        Asked::Rate { label: 1, group: Some(1), most: false },
        Asked::Rate { label: 0, group: Some(0), most: true },
        Asked::Precision { group: None },
        Asked::Precision { group: Some(1) },
        Asked::Loss { group: Some(0) },
        Asked::Loss { group: None },
    ];
    let functions: Vec<Function> =
        asked.iter().zip(&list).map(|(&asked, of)| Function { asked, bound: of.bound, share }).collect();
    let forms = [
        (Form::Smoothed(0.1), Cost::Smoothed(0.1)),
        (Form::Hinge, Cost::Hinge),
        (Form::Squared, Cost::Squared),
        (Form::Multipliers, Cost::Multipliers),
    ];
    for (form, cost) in forms {
        for ce in [false, true] {
            let objective = if ce { Minimised::CrossEntropy } else { ConstrainedSettings::default().objective };
            let constraints = Constraints::new(&list).unwrap();
            let of = ConstrainedSettings { objective, constraints, form, ..settings(0.0, 2) };
            let p = Problem { cost, ce, ..problem(&world, &population, &functions) };
            let (rule, step) = rules(0.05)[2].clone();
            if form == Form::Multipliers {
                let lagrange = AnyAlgorithm::Lagrange(Lagrange::new(rule, 9, 0.5, 3.0).unwrap());
                let got = world.run(constrained(of), lagrange, sampler, 30);
                same(&got[1..], &twin::lagrange(&p, &got[0][..4], &draws, step, 0.5), 1e-9, "multipliers");
            } else {
                let got = world.run(constrained(of), AnyAlgorithm::Sonex(Sonex::new(rule)), sampler, 30);
                same(&got[1..], &twin::sonex(&p, &got[0], &draws, step), 1e-9, &format!("{form:?} {ce}"));
            }
        }
    }
}

/// Losses of protected rows, of one of which all are of one label, beside a gap and a loss of the others: in every form, with
/// both objectives, by every algorithm.
#[test]
fn losses_of_protected_rows_are_their_transcriptions() {
    let world = World::new(4, &[40, 22, 15, 14, 20, 12, 9, 0], 8);
    let population = world.population();
    let sampler = Stratified::per_cell(9, 5).unwrap();
    let draws = world.draws(sampler, 60);
    let list = [
        Constraint::at_most(Measure::Loss { group: Some(2) }, 0.3),
        Constraint::at_most(Measure::Loss { group: Some(3) }, 0.25),
        Constraint::at_most(Measure::Loss { group: None }, 0.4),
        Constraint::at_most(Measure::Gap { rate: Rate::Fpr, at: Some(0.15) }, 0.02),
    ];
    let losses = [Some(2), Some(3), None].map(|group| Asked::Loss { group });
    let asked = losses.into_iter().chain([Asked::Gap { label: 0, level: 0.15, pair: [0, 1] }]);
    let functions: Vec<Function> =
        asked.zip(&list).map(|(asked, of)| Function { asked, bound: of.bound, share: 0.25 }).collect();
    for (form, cost) in [
        (Form::Smoothed(0.1), Cost::Smoothed(0.1)),
        (Form::Hinge, Cost::Hinge),
        (Form::Squared, Cost::Squared),
        (Form::Multipliers, Cost::Multipliers),
    ] {
        for ce in [true, false] {
            let objective = if ce { Minimised::CrossEntropy } else { ConstrainedSettings::default().objective };
            let constraints = Constraints::new(&list).unwrap();
            let of = ConstrainedSettings { objective, constraints, form, protected: 2, ..settings(0.0, 4) };
            let p = Problem { cost, ce, protected: 2, ..problem(&world, &population, &functions) };
            let (rule, step) = rules(0.05)[2].clone();
            if form == Form::Multipliers {
                let lagrange = AnyAlgorithm::Lagrange(Lagrange::new(rule, 5, 0.5, 3.0).unwrap());
                let got = world.run(constrained(of), lagrange, sampler, 30);
                same(&got[1..], &twin::lagrange(&p, &got[0][..4], &draws[..30], step, 0.5), 1e-9, "multipliers");
                continue;
            }
            let got = world.run(constrained(of), AnyAlgorithm::Sonex(Sonex::new(rule)), sampler, 30);
            same(&got[1..], &twin::sonex(&p, &got[0], &draws[..30], step.clone()), 1e-9, &format!("{form:?} {ce}"));
            if matches!(form, Form::Smoothed(_)) {
                let alexr2 = Alexr2::new(rule, 3, Schedule::constant(0.3), 0.5).unwrap();
                let got = world.run(constrained(of), AnyAlgorithm::Alexr2(alexr2), sampler, 30);
                same(&got[1..], &twin::alexr2(&p, &got[0], &draws, step, (3, 0.3, 0.5)), 1e-9, "ALEXR2");
            }
        }
    }
}

/// The penalty of protected losses alone, in f64: value and gradient of the scores against differences, with each cell weighted
/// as its file has rows of it.
#[test]
fn gradients_of_protected_losses_are_differences() {
    let s = scores(12);
    for form in [Form::Smoothed(0.1), Form::Hinge, Form::Squared] {
        let loss = Constraint::at_most(Measure::Loss { group: Some(1) }, 0.31);
        let constraints = Constraints::new(&[loss]).unwrap();
        let objective = Minimised::CrossEntropy;
        let of = ConstrainedSettings { objective, constraints, form, protected: 1, ..settings(0.0, 2) };
        let estimator = constrained(of);
        let state = vec![0.0; estimator.state_len(0)];
        let evaluate = |s: &[f64]| {
            let batch = Batch::new(s, 1, &STARTS, &POPULATION, Drawn::Stratified).unwrap();
            evaluate(&estimator, &batch, &[], &state).unwrap()
        };
        let value = |s: &[f64]| {
            let mean = |rows: core::ops::Range<usize>, sign: f64| {
                let n = rows.len() as f64;
                rows.map(|k| twin::softplus(sign * s[k])).sum::<f64>() / n
            };
            let own = (60.0 * mean(0..9, 1.0) + 20.0 * mean(16..24, -1.0)) / 80.0;
            let excess = (25.0 * mean(9..16, 1.0) + 13.0 * mean(24..30, -1.0)) / 38.0 - 0.31;
            assert!(excess > 0.1);
            own + match form {
                Form::Smoothed(lambda) => {
                    let y = (excess / lambda).clamp(0.0, 3.0);
                    y * excess - 0.5 * lambda * y * y
                }
                Form::Hinge => 3.0 * excess,
                _ => 3.0 * excess * excess,
            }
        };
        let got = evaluate(&s);
        assert!((got.value - value(&s)).abs() < 1e-13, "{} {}", got.value, value(&s));
        for k in 0..30 {
            let slope = difference(value, &s, k);
            assert!((got.grad[k] - slope).abs() < 1e-10, "{form:?} {k}: {} {slope}", got.grad[k]);
        }
    }
}

// ---- Warm starts, and files whose loss is bounded.

/// Rows of two features, a label that depends on them by these weights; sparse where that is said.
fn task(seed: u64, rows: usize, weights: [f64; 2], shift: f64) -> Dataset<f64> {
    let mut rng = Rng::new(seed);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let row = [rng.normal() + shift, rng.normal()];
        let margin = row[0] * weights[0] + row[1] * weights[1] + 0.5 * rng.normal();
        x.extend(row);
        y.push(u8::from(margin > 0.0));
    }
    Dataset::dense(x, y, 2).unwrap()
}

fn cross_entropy(model: &mut Predictor<f64>, data: &Dataset<f64>) -> f64 {
    let mut scores = vec![0.0; data.len()];
    model.score(data.rows(), &mut scores).unwrap();
    let of = |(&s, &y): (&f64, &u8)| twin::softplus(if y == 1 { -s } else { s });
    scores.iter().zip(data.labels()).map(of).sum::<f64>() / data.len() as f64
}

/// An old model, its rows, and rows of a task that pulls elsewhere.
fn tasks() -> (Predictor<f64>, Arc<Dataset<f64>>, Arc<Dataset<f64>>) {
    let (first, second) = (task(1, 300, [1.0, -1.0], -1.0), task(2, 200, [1.0, 0.2], 1.0));
    let first = Arc::new(first);
    let config = Config { method: "ce".into(), length: Length::Steps(300), ..Config::default() };
    let mut old = Trainer::new(&config, first.clone(), None).unwrap();
    old.run().unwrap();
    (old.predictor(), first, Arc::new(second))
}

fn going_on(method: &str, more: &[(&str, &str)], constraints: &[&str], steps: u64) -> Config {
    let pair = |&(name, value): &(&str, &str)| (name.to_string(), value.to_string());
    Config {
        method: method.into(),
        settings: more.iter().map(pair).collect(),
        constraints: constraints.iter().map(ToString::to_string).collect(),
        length: Length::Steps(steps),
        ..Config::default()
    }
}

/// Every method for constraints keeps what it is told to where plain training does not; the run that was saved and goes on has
/// the bits of the one that never stopped; the objective of reports is of the training rows alone.
#[test]
fn old_rows_are_not_forgotten() {
    let (mut old, first, second) = tasks();
    let (kept, new) = (cross_entropy(&mut old, &first), cross_entropy(&mut old, &second));
    let given = |files: &[&str]| Given {
        start: Some(old.clone()),
        files: files.iter().map(|name| (name.to_string(), first.clone())).collect(),
        ..Given::rows(second.clone())
    };
    let ce = ("objective", "ce");
    let mut free =
        Trainer::of(&going_on("sonex", &[ce, ("penalty", "0")], &["loss(a) <= old"], 600), given(&["a"])).unwrap();
    free.run().unwrap();
    let worse = cross_entropy(&mut free.predictor(), &first) - kept;
    assert!(worse > 0.2, "{worse}");
    for (method, more) in [
        ("sonex", ("penalty", "20")),
        ("alexr2", ("penalty", "20")),
        ("sonx", ("penalty", "20")),
        ("sox", ("penalty", "400")),
        ("msvr", ("penalty", "400")),
        ("lagrange", ("dual-lr", "0.3")),
        ("icppac", ("dual-lr", "1")),
    ] {
        let config = going_on(method, &[ce, more], &["loss(a) <= old + 0.02", "loss(\"b c\") <= 9"], 600);
        let mut trainer = Trainer::of(&config, given(&["a", "b c"])).unwrap();
        assert_eq!(trainer.params(), old.params());
        assert_eq!(trainer.constraints()[0].to_string(), "loss(a) <= old + 0.02");
        for _ in 0..200 {
            trainer.step().unwrap();
        }
        let bytes = trainer.save();
        let mut again = Trainer::load_with(&bytes, Given { start: None, ..given(&["a", "b c"]) }).unwrap();
        assert_eq!(again.start().unwrap().params(), old.params());
        let report = trainer.run().unwrap();
        again.run().unwrap();
        assert_eq!(trainer.params(), again.params(), "{method}");
        assert_eq!(trainer.save(), again.save());
        let model = &mut trainer.predictor();
        let (rise, gain) = (cross_entropy(model, &first) - kept, new - cross_entropy(model, &second));
        assert!(rise < 0.06 && gain > 0.15, "{method}: {rise} {gain}");
        // What is tracked is what the rows say, and the other constraint asks nothing.
        let functions = trainer.constraint_functions();
        assert!((functions[0].value - (rise - 0.02)).abs() < 0.05, "{method}: {:?} {rise}", functions[0]);
        assert!(functions[1].value < -8.0 && functions[1].dual == 0.0);
        if method != "lagrange" {
            let own = cross_entropy(model, &second);
            let over = report.objective - own;
            assert!(over > -1e-12 && (rise > 0.02) == (over > 1e-12), "{method}: {over} {rise}");
        }
        let summary = report.train.binary().unwrap();
        assert_eq!(summary.positives + summary.negatives, 200);
    }
    // A model is kept by what it does to the file's rows, too, also against the model before.
    let config = going_on("sonex", &[ce, ("penalty", "0")], &["loss(a) <= 0.1", "loss(a) <= old"], 200);
    let mut trainer = Trainer::of(&config, given(&["a"])).unwrap();
    let mut best = Best::new(&trainer, second.clone(), "auroc", None).unwrap();
    let mut least = f64::INFINITY;
    while trainer.step().unwrap().is_some() && best.look(&mut trainer).unwrap() {
        if trainer.steps_done().is_multiple_of(10) {
            let loss = cross_entropy(&mut trainer.predictor(), &first);
            least = least.min((loss - 0.1).max(0.0) + (loss - kept).max(0.0));
        }
    }
    // (Of models so near to the least that noise is larger, the latest is kept.)
    assert!(least > 0.0 && best.excess() >= least && best.excess() < least + 0.2, "{} {least}", best.excess());
    // The pairwise objective of a report: as that of the training rows alone, where the constraint asks nothing.
    let (auc, plain) = (going_on("sonex", &[], &["loss(a) <= 9"], 5), going_on("sonex", &[], &["loss <= 9"], 5));
    let mut trainer = Trainer::of(&auc, given(&["a"])).unwrap();
    let mut other = Trainer::of(&plain, given(&[])).unwrap();
    assert_eq!(trainer.report().unwrap().objective, other.report().unwrap().objective);
    assert_eq!(trainer.report().unwrap().train, other.report().unwrap().train);
    // Sparse rows, rows of one label alone, and a group of the training rows beside the file.
    let sparse = |from: u64, label: Option<u8>| {
        let mut rng = Rng::new(from);
        let y: Vec<u8> = (0..40).map(|k| label.unwrap_or((k % 2) as u8)).collect();
        let val = (0..40).map(|k| rng.normal() + f64::from(y[k])).collect();
        Dataset::csr((0..=40).collect(), (0..40).map(|k| k % 3).collect(), val, y, 3).unwrap()
    };
    let train = sparse(5, None).with_groups((0..40).map(|k| k / 20).collect(), vec!["f".into(), "m".into()]).unwrap();
    let config = going_on("sonex", &[ce], &["loss(s) <= 0.6", "gap(fpr) <= 0.3", "loss[m] <= 9"], 50);
    let files = vec![("s".to_string(), Arc::new(sparse(6, Some(1))))];
    let mut trainer = Trainer::of(&config, Given { files, ..Given::rows(Arc::new(train)) }).unwrap();
    trainer.run().unwrap();
    assert!(trainer.constraint_functions().iter().all(|function| function.value.is_finite()));
    assert!(trainer.batch_index().iter().any(|&row| row >= 40));
}

#[test]
fn what_no_run_can_begin_at_or_be_held_to_is_refused() {
    let (old, first, second) = tasks();
    let rows = |data: &Dataset<f64>| Arc::new(data.clone());
    let given = |files: &[(&str, Arc<Dataset<f64>>)]| Given {
        start: Some(old.clone()),
        files: files.iter().map(|(name, data)| (name.to_string(), data.clone())).collect(),
        ..Given::rows(second.clone())
    };
    let ask = |constraints: &[&str]| going_on("sonex", &[("objective", "ce")], constraints, 20);
    #[track_caller]
    fn refused(config: &Config, given: Given<f64>, text: &str) {
        let error = Trainer::of(config, given).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
    let empty = first.select(&[]).unwrap();
    let wide = Dataset::dense(vec![0.0; 6], vec![0, 1], 3).unwrap();
    let bare = Dataset::dense(vec![0.0; 6], vec![], 2).unwrap();
    let few = Dataset::csr((0..=2).collect(), vec![0, 1], vec![1.0; 2], vec![0, 1], 2).unwrap();
    let a = |data: &Dataset<f64>| given(&[("a", rows(data))]);
    let asked = ask(&["loss(a) <= old"]);
    refused(&asked, given(&[]), "constraint \"loss(a) <= old\": the rows of this file are not given");
    refused(&asked, Given { start: None, ..a(&first) }, "there is no model to start from, which old is of");
    refused(&ask(&["loss <= old"]), Given::rows(second.clone()), "there is no model to start from, which old is of");
    refused(&asked, a(&empty), "loss(a): there are no rows");
    refused(&asked, a(&wide), "loss(a): 3 columns, the training data 2");
    refused(&asked, a(&bare), "loss(a): the rows have no labels of two classes");
    refused(&asked, a(&few), "dense rows beside sparse ones");
    refused(&ask(&["loss <= 1"]), a(&first), "loss(a): no constraint names these rows");
    refused(&going_on("ce", &[], &[], 20), a(&first), "loss(a): no constraint names these rows");
    refused(&going_on("ce", &[], &["loss(a) <= 1"], 20), a(&first), "method ce trains under no constraints");
    let network = Config { model: ModelSpec::parse("mlp:4").unwrap(), ..asked.clone() };
    refused(&network, a(&first), "the model to start from is linear, and that of the run mlp:4");
    let three = Given { start: Some(old.clone()), ..Given::rows(rows(&wide)) };
    refused(&going_on("ce", &[], &[], 20), three, "the model to start from has 2 columns, and the training data 3");
    let classes = Dataset::dense(vec![0.5; 6], vec![], 2).unwrap();
    let classes = classes.with_classes(vec![0, 1, 2], ["a", "b", "c"].map(String::from).to_vec()).unwrap();
    let classes = Given { start: Some(old.clone()), ..Given::rows(rows(&classes)) };
    refused(&going_on("ce", &[], &[], 20), classes, "the model to start from has other classes than the training data");
    // A saved run goes on with the same rows alone.
    let mut trainer = Trainer::of(&asked, a(&first)).unwrap();
    trainer.step().unwrap();
    let bytes = trainer.save();
    let other = task(9, 300, [1.0, -1.0], -1.0);
    let error = |given| Trainer::<f64>::load_with(&bytes, given).unwrap_err().to_string();
    assert_eq!(error(a(&other)), "saved with another set of rows whose loss is bounded");
    assert!(error(given(&[])).contains("the rows of this file are not given"));
    assert!(Trainer::<f64>::load(&bytes, second.clone(), None).is_err());
}

/// Every method of two classes begins at the model that it is given, without the steps of cross-entropy before its own, and goes
/// on with the same bits where it was saved.
#[test]
fn every_method_begins_at_a_model() {
    let (old, first, second) = tasks();
    for method in METHODS {
        let constraints: &[&str] =
            if method.kind == Kind::Cells && method.name != "ooa" { &["loss <= old"] } else { &[] };
        let config = going_on(method.name, &[], constraints, 12);
        let given = || Given { start: Some(old.clone()), ..Given::rows(second.clone()) };
        let mut trainer = Trainer::of(&config, given()).unwrap_or_else(|error| panic!("{}: {error}", method.name));
        assert_eq!(trainer.pretraining_steps(), 0, "{}", method.name);
        assert_eq!(trainer.params(), old.params(), "{}", method.name);
        for _ in 0..6 {
            trainer.step().unwrap();
        }
        let mut again = Trainer::load(&trainer.save(), second.clone(), None).unwrap();
        let report = trainer.run().unwrap();
        assert_eq!(again.run().unwrap(), report, "{}", method.name);
        assert_eq!(trainer.params(), again.params(), "{}", method.name);
    }
    // Unless they are asked for.
    let config = going_on("soap", &[("pretrain", "5")], &[], 12);
    let start = Some(old.clone());
    assert_eq!(Trainer::of(&config, Given { start, ..Given::rows(second) }).unwrap().pretraining_steps(), 5);
    // A finite sum that rises says so against where it began, not against its start values.
    let long = going_on("ai-sarah", &[], &[], 200);
    let mut trainer = Trainer::of(&long, Given { start: Some(old), ..Given::rows(first) }).unwrap();
    assert_eq!(trainer.run().unwrap().warning, None);
}

/// Two batches an inner step, z_0 = z_{−1} = w_t, u kept from one outer step to the next.
#[test]
fn alexr2_is_its_transcription() {
    let world = World::two();
    let population = world.population();
    let sampler = Stratified::per_cell(7, 6).unwrap();
    let functions = roc(0.03, 2, &LEVELS);
    let p = problem(&world, &population, &functions);
    for (inner, eta, nu) in [(5u64, 0.5, 0.4), (1, 0.2, 1.0)] {
        let draws = world.draws(sampler, 80);
        for (rule, step) in rules(0.05) {
            let alexr2 = Alexr2::new(rule, inner, Schedule::constant(eta), nu).unwrap();
            let got = world.run(constrained(settings(0.03, 2)), AnyAlgorithm::Alexr2(alexr2), sampler, 40);
            let want = twin::alexr2(&p, &got[0], &draws, step, (inner as usize, eta, nu));
            same(&got[1..], &want, 1e-9, "ALEXR2");
        }
    }
    // The answer moves with the outer steps only.
    let alexr2 = Alexr2::new(rules(0.05)[0].0, 4, Schedule::constant(0.5), 0.4).unwrap();
    let got = world.run(constrained(settings(0.03, 2)), AnyAlgorithm::Alexr2(alexr2), sampler, 12);
    for step in 1..=12 {
        assert_eq!(got[step] != got[step - 1], step % 4 == 0, "step {step}");
    }
    assert_eq!(Algorithm::<f64>::batches(&AnyAlgorithm::Alexr2(alexr2)), 2);
    for (inner, eta, nu) in [(0, 0.5, 0.4), (5, f64::NAN, 0.4), (5, 0.5, 0.0)] {
        let rule = rules(0.05)[0].0;
        assert!(matches!(Alexr2::new(rule, inner, Schedule::constant(eta), nu), Err(Error::Param { .. })));
    }
}

/// Functions of both gaps at pooled thresholds for plain steps, and at raw ones for others, whose first scores are so close
/// together that pooled ones would magnify rounding.
fn either(which: usize) -> (Thresholds, Vec<Function>) {
    match which {
        0 => (Thresholds::Pooled, roc(0.03, 2, &LEVELS)),
        _ => (Thresholds::Raw, roc(0.03, 2, &[-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0])),
    }
}

/// Two gradients a step on one batch, each with the u of its time, over more batches than one refresh of the thresholds.
#[test]
fn msvr_is_its_transcription() {
    let world = World::two();
    let population = world.population();
    let sampler = Stratified::per_cell(7, 6).unwrap();
    let draws = world.draws(sampler, 30);
    for beta in [0.1, 1.0] {
        for (which, (rule, step)) in rules(0.02).into_iter().enumerate() {
            let (thresholds, functions) = either(which);
            let raw = which > 0;
            let p = Problem { cost: Cost::Squared, new: true, raw, ..problem(&world, &population, &functions) };
            let of = ConstrainedSettings { form: Form::Squared, uses: Uses::New, thresholds, ..settings(0.03, 2) };
            let msvr = AnyAlgorithm::Msvr(Msvr::new(rule, beta).unwrap());
            let got = world.run(constrained(of), msvr, sampler, 59);
            same(&got[1..], &twin::msvr(&p, &got[0], &draws, step.clone(), beta), 1e-9, "MSVR");
            // With nothing corrected it is SONX's step on the same penalty.
            let plain = twin::sonex(&p, &got[0], &draws, step);
            let last = |path: &[Vec<f64>]| path.last().unwrap().clone();
            let far = last(&plain).iter().zip(last(&got)).any(|(a, b)| (a - b).abs() > 1e-6);
            assert_eq!(far, beta < 1.0);
        }
    }
    // The running gradient of the worst groups moves s, too.
    let tracker = Tracker::new(0.3, 0.2).unwrap();
    let (blocks, risk) = (Blocks::Groups, Risk::Smoothed(0.05));
    let gdro = Gdro::new(GdroSettings { share: 0.6, groups: 2, blocks, risk, tracker, uses: Uses::New }).unwrap();
    let path =
        world.run(AnyEstimator::Gdro(gdro), AnyAlgorithm::Msvr(Msvr::new(rules(0.02)[0].0, 0.2).unwrap()), sampler, 59);
    assert!(path.last().unwrap()[4] > 0.1, "{:?}", path.last());
    for beta in [0.0, 1.1, f64::NAN] {
        assert!(matches!(Msvr::new(rules(0.02)[0].0, beta), Err(Error::Param { what: "beta" })));
    }
}

/// The centre is the mean of an inner loop, y goes on; θ looks ahead.
#[test]
fn icppac_is_its_transcription() {
    let world = World::two();
    let population = world.population();
    let sampler = Stratified::per_cell(7, 6).unwrap();
    let draws = world.draws(sampler, 60);
    for (inner, nu, theta) in [(5, 0.4, 1.0), (1, 1.0, 0.0)] {
        let tracker = Tracker::new(1.0, theta).unwrap();
        for (which, (rule, step)) in rules(0.02).into_iter().enumerate() {
            let (thresholds, functions) = either(which);
            let raw = which > 0;
            let p = Problem { cost: Cost::Multipliers, raw, ..problem(&world, &population, &functions) };
            let of = ConstrainedSettings { form: Form::Multipliers, tracker, thresholds, ..settings(0.03, 2) };
            let icppac = AnyAlgorithm::Icppac(Icppac::new(rule, inner, nu, 28, 0.4, 3.0).unwrap());
            let got = world.run(constrained(of), icppac, sampler, 60);
            let want = |theta| twin::icppac(&p, &got[0][..4], &draws, step.clone(), (inner as usize, nu, 0.4, theta));
            same(&got[1..], &want(theta), 1e-9, "ICPPAC");
            assert!(got.last().unwrap()[4..].iter().any(|&y| y > 0.0), "no multiplier rose");
            let other = want(theta + 1.0);
            let far = |a: &Vec<f64>, b: &Vec<f64>| a.iter().zip(b).any(|(a, b)| (a - b).abs() > 1e-6);
            assert_eq!(far(other.last().unwrap(), got.last().unwrap()), inner > 1);
        }
    }
    let rule = rules(0.02)[0].0;
    for (inner, nu, rate, bound) in
        [(0, 1.0, 1.0, 1.0), (5, 0.0, 1.0, 1.0), (5, 1.0, -1.0, 1.0), (5, 1.0, 1.0, f64::NAN)]
    {
        assert!(matches!(Icppac::new(rule, inner, nu, 28, rate, bound), Err(Error::Param { .. })));
    }
}

#[test]
fn risks_of_groups_are_their_transcriptions() {
    let world = World::new(3, &[40, 22, 15, 14, 12, 9], 2);
    let population = world.population();
    let sampler = Stratified::per_cell(7, 6).unwrap();
    let draws = world.draws(sampler, 60);
    for cells in [false, true] {
        for (rule, step) in rules(0.02) {
            let blocks = if cells { Blocks::Cells } else { Blocks::Groups };
            for lambda in [0.05, 0.0] {
                let p = twin::Risk {
                    x: &world.x,
                    groups: 3,
                    population: &population,
                    cells,
                    share: 0.6,
                    lambda,
                    gamma: 0.3,
                    correction: 0.2,
                };
                let risk = if lambda > 0.0 { Risk::Smoothed(lambda) } else { Risk::Hinge };
                let tracker = Tracker::new(0.3, 0.2).unwrap();
                let of = GdroSettings { share: 0.6, groups: 3, blocks, risk, tracker, uses: Uses::Old };
                let estimator = AnyEstimator::Gdro(Gdro::new(of).unwrap());
                let got = world.run(estimator, AnyAlgorithm::Sonex(Sonex::new(rule)), sampler, 60);
                same(&got[1..], &twin::sonex_cvar(&p, &got[0][..4], &draws, step.clone()), 1e-9, "CVaR");

                let of = GdroSettings { risk: Risk::Weights, tracker: Tracker::new(1.0, 0.0).unwrap(), ..of };
                let gdro = Gdro::new(of).unwrap();
                let n = gdro.blocks();
                let ooa = AnyAlgorithm::Ooa(Ooa::new(rule, n, 3.0, 0.6).unwrap());
                let got = world.run(AnyEstimator::Gdro(gdro), ooa, sampler, 60);
                let mut want = twin::ooa(&p, &got[0][..4], &draws, step.clone(), 3.0);
                let cap = gdro.cap();
                let capped = |point: &Vec<f64>| point[4..].iter().any(|p| (p - cap).abs() < 1e-12);
                assert!(want.iter().any(capped), "no weight was ever at the cap");
                want.iter_mut().for_each(|point| point[4..].iter_mut().for_each(|p| *p -= 1.0 / n as f64));
                same(&got[1..], &want, 1e-9, "OOA");
            }
        }
    }
}

// ---- Gradients by differences.

/// The derivative of a value by the k-th score, from five points.
fn difference(value: impl Fn(&[f64]) -> f64, s: &[f64], k: usize) -> f64 {
    let at = |by: f64| {
        let mut s = s.to_vec();
        s[k] += by;
        value(&s)
    };
    (8.0 * (at(1e-4) - at(-1e-4)) - (at(2e-4) - at(-2e-4))) / 12e-4
}

struct Evaluated {
    value: f64,
    grad: Vec<f64>,
    aux: Vec<f64>,
    state: Vec<f64>,
}

fn evaluate(estimator: &AnyEstimator, batch: &Batch<'_, f64>, aux: &[f64], state: &[f64]) -> Result<Evaluated, Error> {
    let need = estimator.need(batch.shape());
    let (mut real, mut f64s) = (vec![f64::NAN; need.real], vec![f64::NAN; need.f64]);
    let (mut u32s, mut u64s) = (vec![7; need.u32], vec![7; need.u64]);
    let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
    let (mut grad, mut by_aux) = (vec![0.0; batch.scores().len()], vec![0.0; aux.len()]);
    let mut state = state.to_vec();
    let out = Grad { scores: &mut grad, aux: &mut by_aux };
    let value = estimator.update(batch, aux, &mut state, scratch, out)?;
    Ok(Evaluated { value, grad, aux: by_aux, state })
}

const STARTS: [u32; 5] = [0, 9, 16, 24, 30];
const POPULATION: [u32; 4] = [60, 25, 20, 13];

fn scores(seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    (0..30).map(|k| rng.normal() + if k >= 16 { 1.0 } else { 0.0 } + if k % 2 == 0 { 0.4 } else { 0.0 }).collect()
}

/// The first batch's smoothed penalty (u is its own) as a function of the scores, with h as it is and thresholds that follow.
#[test]
fn score_gradients_are_differences() {
    for raw in [false, true] {
        for kappa in [0.0, 0.05] {
            let s = scores(11);
            let thresholds = if raw { Thresholds::Raw } else { Thresholds::Pooled };
            let estimator = constrained(ConstrainedSettings { thresholds, ..settings(kappa, 2) });
            let batch = Batch::new(&s, 1, &STARTS, &POPULATION, Drawn::Stratified).unwrap();
            let got = evaluate(&estimator, &batch, &[], &vec![0.0; estimator.state_len(0)]).unwrap();
            // Each row is its own example of a linear model with the score itself as its one feature.
            let levels = if raw { vec![-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0] } else { LEVELS.to_vec() };
            let functions = roc(kappa, 2, &levels);
            let population = POPULATION.map(|n| n as usize);
            let weighted = |s: &[f64]| -> Vec<(f64, f64)> {
                let of = |k: usize| if k < 9 { 60.0 / 85.0 / 9.0 } else { 25.0 / 85.0 / 7.0 };
                (0..16).map(|k| (s[k], of(k))).collect()
            };
            let low = weighted(&s);
            let h = if raw { 1.0 } else { 0.15 * (twin::quantile(&low, 0.75) - twin::quantile(&low, 0.25)) };
            let world = World::two();
            let value = |s: &[f64]| {
                let x: Vec<Vec<f64>> = s.iter().map(|&s| vec![s]).collect();
                let p = Problem { x: &x, raw, ..problem(&world, &population, &functions) };
                let draw: Draw = STARTS.windows(2).map(|w| (w[0] as usize..w[1] as usize).collect()).collect();
                let low = weighted(s);
                let taus: Vec<f64> =
                    levels.iter().map(|l| if raw { *l } else { twin::threshold(&low, h, *l) }).collect();
                let u = p.means(&[1.0, 0.0], &draw, &taus, h).into_iter().map(Some).collect();
                p.gradient(&[1.0, 0.0], &draw, &Running { u, ..Running::default() }, (&taus, h), &[]).0
            };
            assert!((value(&s) - got.value).abs() < 1e-11, "{} {}", value(&s), got.value);
            for k in 0..30 {
                let slope = difference(value, &s, k);
                assert!((got.grad[k] - slope).abs() < 1e-8, "{raw} {k}: {} {slope}", got.grad[k]);
            }
            // Pooled thresholds reward no shift; raw ones do.
            let sum: f64 = got.grad.iter().sum();
            assert_eq!(sum.abs() < 1e-14, !raw, "{sum}");
        }
    }
}

/// Scores that are shifted or stretched meet pooled constraints as before, and raw ones better.
#[test]
fn pooled_constraints_do_not_reward_a_shift() {
    let value = |thresholds, by: &dyn Fn(f64) -> f64| {
        let s: Vec<f64> = scores(12).into_iter().map(by).collect();
        let of = ConstrainedSettings { thresholds, form: Form::Hinge, penalty: 100.0, ..settings(0.005, 2) };
        let batch = Batch::new(&s, 1, &STARTS, &POPULATION, Drawn::Stratified).unwrap();
        let estimator = constrained(of);
        let got = evaluate(&estimator, &batch, &[], &vec![0.0; estimator.state_len(0)]).unwrap();
        assert_eq!(estimator.state_len(0), got.state.len());
        got.value
    };
    let pooled = |by: &dyn Fn(f64) -> f64| value(Thresholds::Pooled, by);
    let raw = |by: &dyn Fn(f64) -> f64| value(Thresholds::Raw, by);
    let as_they_are = pooled(&|s| s);
    assert!((pooled(&|s| s + 37.0) - as_they_are).abs() < 1e-9 * as_they_are);
    // (F₀ sees the stretch, and is at most 1.)
    assert!((pooled(&|s| 0.01 * s) - as_they_are).abs() < 1.0 && as_they_are > 5.0, "{as_they_are}");
    assert!(raw(&|s| s) > 5.0 && raw(&|s| s + 37.0) < 1.0 && raw(&|s| 0.01 * s) < 1.0);
}

#[test]
fn gradients_of_multipliers_and_risks_are_differences() {
    let s = scores(13);
    let batch = Batch::new(&s, 1, &STARTS, &POPULATION, Drawn::Stratified).unwrap();
    // By a multiplier: minus the value of its function, which F has with its share.
    let of = ConstrainedSettings { form: Form::Multipliers, ..settings(0.05, 2) };
    let estimator = constrained(of);
    let (aux, state) = (vec![0.4; 28], vec![0.0; estimator.state_len(0)]);
    let got = evaluate(&estimator, &batch, &aux, &state).unwrap();
    for k in 0..28 {
        let mut aux = aux.clone();
        aux[k] += 1.0;
        let more = evaluate(&estimator, &batch, &aux, &state).unwrap().value - got.value;
        assert!((more + got.aux[k] / 14.0).abs() < 1e-12, "{k}: {more} {}", got.aux[k]);
    }
    for blocks in [Blocks::Groups, Blocks::Cells] {
        for risk in [Risk::Smoothed(0.3), Risk::Weights] {
            let tracker = Tracker::new(0.5, 0.0).unwrap();
            let of = GdroSettings { share: 0.4, groups: 2, blocks, risk, tracker, uses: Uses::Old };
            let estimator = AnyEstimator::Gdro(Gdro::new(of).unwrap());
            let (low, high) = estimator.aux();
            let aux = vec![if risk == Risk::Weights { 0.05 } else { 0.6 }; low + high];
            let state = vec![0.0; estimator.state_len(0)];
            let got = evaluate(&estimator, &batch, &aux, &state).unwrap();
            let value = |s: &[f64], aux: &[f64]| {
                let batch = Batch::new(s, 1, &STARTS, &POPULATION, Drawn::Stratified).unwrap();
                evaluate(&estimator, &batch, aux, &state).unwrap().value
            };
            for k in 0..30 {
                let at = |by: f64| {
                    let mut s = s.clone();
                    s[k] += by;
                    value(&s, &aux)
                };
                assert!((got.grad[k] - (at(1e-5) - at(-1e-5)) / 2e-5).abs() < 1e-9, "{risk:?} {k}");
            }
            for k in 0..aux.len() {
                let at = |by: f64| {
                    let mut aux = aux.clone();
                    aux[k] += by;
                    value(&s, &aux)
                };
                // Ascent variables come with the sign flipped.
                let sign = if risk == Risk::Weights { -1.0 } else { 1.0 };
                assert!((sign * got.aux[k] - (at(1e-5) - at(-1e-5)) / 2e-5).abs() < 1e-9, "{risk:?} aux {k}");
            }
        }
    }
}

// ---- Hard cases.

/// Cells that a batch, or the data, lack: their constraints wait, and the rest goes on.
#[test]
fn empty_cells_wait() {
    let s = scores(14);
    let of = settings(0.0, 2);
    let estimator = constrained(of);
    let state = vec![0.0; estimator.state_len(0)];
    // The second group has no positive row in the batch: gaps of the positives say nothing, gaps of the negatives do.
    let batch = Batch::new(&s[..24], 1, &[0, 9, 16, 24, 24], &POPULATION, Drawn::Stratified).unwrap();
    let got = evaluate(&estimator, &batch, &[], &state).unwrap();
    let only = Constraints::new(&[
        Constraint::at_most(Measure::Gap { rate: Rate::Fpr, at: None }, 0.0),
        Constraint::at_most(Measure::Gap { rate: Rate::Tpr, at: None }, 1.0),
    ]);
    let other = constrained(ConstrainedSettings { constraints: only.unwrap(), ..of });
    let want = evaluate(&other, &batch, &[], &state).unwrap();
    assert_eq!((got.value, &got.grad), (want.value, &want.grad));
    // With the cell seen before, its constraint is there again.
    let whole = Batch::new(&s, 1, &STARTS, &POPULATION, Drawn::Stratified).unwrap();
    let seen = evaluate(&estimator, &whole, &[], &state).unwrap();
    let again = evaluate(&estimator, &batch, &[], &seen.state).unwrap();
    assert_ne!(again.value, evaluate(&other, &batch, &[], &seen.state).unwrap().value);
    // No negative at all, or no positive: pairs and pooled thresholds need both.
    for starts in [[0, 0, 0, 24, 30], [0, 9, 30, 30, 30]] {
        let batch = Batch::new(&s, 1, &starts, &[60; 4], Drawn::Stratified).unwrap();
        assert_eq!(evaluate(&estimator, &batch, &[], &state).err(), Some(Error::OneClass));
    }
    // A group with one row of each label, and one with none in the data.
    let world = World::new(3, &[30, 1, 12, 20, 1, 0], 4);
    let sampler = Stratified::per_cell(5, 4).unwrap();
    for (rule, _) in rules(0.02) {
        let path = world.run(constrained(settings(0.02, 3)), AnyAlgorithm::Sonex(Sonex::new(rule)), sampler, 40);
        assert_eq!(path.len(), 41);
        assert!(path.iter().flatten().all(|w| w.is_finite()));
        let risk = Risk::Smoothed(0.05);
        let tracker = Tracker::USUAL;
        let of = GdroSettings { share: 0.3, groups: 3, blocks: Blocks::Cells, risk, tracker, uses: Uses::Old };
        let path =
            world.run(AnyEstimator::Gdro(Gdro::new(of).unwrap()), AnyAlgorithm::Sonex(Sonex::new(rule)), sampler, 40);
        assert!(path.iter().flatten().all(|w| w.is_finite()));
    }
    // More groups than a batch would have rows, drawn one by one: every group is in every batch.
    let many = World::new(40, &[3; 80], 6);
    let sampler = Stratified::per_cell(5, 1).unwrap();
    assert_eq!(sampler.rows(&many.segments()), 80);
    let path = many.run(constrained(settings(0.02, 40)), AnyAlgorithm::Sonex(Sonex::new(rules(0.02)[2].0)), sampler, 5);
    assert!(path.iter().flatten().all(|w| w.is_finite()));
}

/// Protected groups: their rows are in their own constraints and nowhere else.
#[test]
fn protected_groups_are_outside_the_objective() {
    let s = scores(15);
    let loss = Constraint::at_most(Measure::Loss { group: Some(1) }, 0.0);
    let gap = Constraint::at_most(Measure::Gap { rate: Rate::Fpr, at: None }, 0.0);
    let recall = Constraint::at_least(Measure::Rate { rate: Rate::Tpr, group: None }, 0.999);
    let of = |list: &[Constraint], protected| {
        constrained(ConstrainedSettings { constraints: Constraints::new(list).unwrap(), protected, ..settings(0.0, 2) })
    };
    let batch = Batch::new(&s, 1, &STARTS, &POPULATION, Drawn::Stratified).unwrap();
    let run = |estimator: &AnyEstimator| evaluate(estimator, &batch, &[], &vec![0.0; estimator.state_len(0)]).unwrap();
    for list in [&[gap][..], &[recall]] {
        let got = run(&of(list, 1));
        assert!((9..16).chain(24..30).all(|k| got.grad[k] == 0.0), "{:?}", got.grad);
        assert!(got.grad[..9].iter().any(|&g| g != 0.0));
    }
    let got = run(&of(&[loss], 1));
    assert!((9..16).chain(24..30).all(|k| got.grad[k] != 0.0));
    let all = ConstrainedSettings { protected: 2, ..settings(0.0, 2) };
    assert!(matches!(Constrained::new(all), Err(Error::Param { what: "groups" })));
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let of = settings(0.05, 2);
    let with =
        |constraint: Constraint| ConstrainedSettings { constraints: Constraints::new(&[constraint]).unwrap(), ..of };
    let gap = |at| Measure::Gap { rate: Rate::Fpr, at };
    let refused = [
        (with(Constraint::at_most(gap(None), -0.1)), "bound"),
        (with(Constraint::at_most(gap(None), f64::NAN)), "bound"),
        (with(Constraint::at_most(gap(None), 1.5)), "bound"),
        (with(Constraint::at_most(gap(Some(0.0)), 0.1)), "level"),
        (with(Constraint::at_most(gap(Some(1.0)), 0.1)), "level"),
        (with(Constraint::at_least(gap(None), 0.1)), "sense"),
        (with(Constraint::at_least(Measure::Loss { group: None }, 0.1)), "sense"),
        (with(Constraint::at_most(Measure::Loss { group: Some(2) }, 0.1)), "group"),
        (
            ConstrainedSettings { thresholds: Thresholds::Raw, ..with(Constraint::at_most(gap(Some(0.1)), 0.1)) },
            "level",
        ),
        (ConstrainedSettings { groups: 0, ..of }, "groups"),
        (ConstrainedSettings { penalty: f64::NAN, ..of }, "penalty"),
        (ConstrainedSettings { form: Form::Smoothed(0.0), ..of }, "smoothing"),
    ];
    for (of, what) in refused {
        assert_eq!(Constrained::new(of).err(), Some(Error::Param { what }), "{of:?}");
    }
    let one = Constraint { measure: gap(Some(0.5)), sense: Sense::AtMost, bound: 0.0 };
    assert!(Constraints::new(&[one; MOST]).is_ok());
    assert_eq!(Constraints::new(&[one; MOST + 1]).err(), Some(Error::Param { what: "constraints" }));
    // Every level of its own.
    let list: Vec<Constraint> =
        (0..MOST).map(|k| Constraint::at_most(gap(if k == 0 { None } else { Some(0.011 * k as f64) }), 0.0)).collect();
    let many = ConstrainedSettings { constraints: Constraints::new(&list).unwrap(), ..of };
    let estimator = constrained(many);
    let s = scores(16);
    let batch = Batch::new(&s, 1, &STARTS, &POPULATION, Drawn::Stratified).unwrap();
    assert!(evaluate(&estimator, &batch, &[], &vec![0.0; estimator.state_len(0)]).is_ok());
    // Other segments than cells, another state.
    let two = Batch::new(&s, 1, &[0, 16, 30], &[85, 33], Drawn::Stratified).unwrap();
    assert!(matches!(
        evaluate(&estimator, &two, &[], &vec![0.0; estimator.state_len(0)]),
        Err(Error::Unsupported { .. })
    ));
    assert!(matches!(evaluate(&estimator, &batch, &[], &[0.0; 3]), Err(Error::Length { what: "state", .. })));
    assert!(matches!(
        evaluate(&estimator, &batch.at_rate(Some(2.0)), &[], &vec![0.0; estimator.state_len(0)]),
        Err(Error::Param { what: "rate" })
    ));
    for share in [0.0, 1.5, f64::NAN] {
        let tracker = Tracker::USUAL;
        let risk = Risk::Hinge;
        let of = GdroSettings { share, groups: 2, blocks: Blocks::Groups, risk, tracker, uses: Uses::Old };
        assert_eq!(Gdro::new(of).err(), Some(Error::Param { what: "share" }));
        let ooa = Ooa::new(rules(0.1)[0].0, 2, 0.1, share);
        assert_eq!(ooa.err(), Some(Error::Param { what: "share" }));
    }
    let schedule = Schedule::new(0.1, ScheduleShape::Linear, 10);
    assert!(Sgd::new(schedule, 0.0).is_ok());
}

/// With one group gaps ask nothing: the run is that of the objective alone.
#[test]
fn one_group_has_no_gap() {
    let world = World::new(1, &[60, 30], 8);
    let sampler = Stratified::per_cell(3, 8).unwrap();
    let sonex = AnyAlgorithm::Sonex(Sonex::new(rules(0.02)[2].0));
    let with = world.run(constrained(settings(0.0, 1)), sonex, sampler, 20);
    let none = ConstrainedSettings { constraints: Constraints::NONE, ..settings(0.0, 1) };
    assert_eq!(with, world.run(constrained(none), sonex, sampler, 20));
}

/// A report's functions: values from the running means, y at its bound where the bound is passed by far.
#[test]
fn reports_tell_values_and_weights() {
    let s = scores(17);
    let batch = Batch::new(&s, 1, &STARTS, &POPULATION, Drawn::Stratified).unwrap();
    let of = ConstrainedSettings { form: Form::Smoothed(1e-6), ..settings(0.15, 2) };
    let estimator = Constrained::new(of).unwrap();
    let any = AnyEstimator::Constrained(estimator);
    let mut state = vec![0.0; any.state_len(0)];
    let mut early = Vec::new();
    estimator.report::<f64>(&[], &state, &POPULATION, |f| early.push((f.value.is_nan(), f.dual))).unwrap();
    assert_eq!(early, vec![(true, 0.0); 14]);
    state = evaluate(&any, &batch, &[], &state).unwrap().state;
    let mut seen = Vec::new();
    estimator.report::<f64>(&[], &state, &POPULATION, |f| seen.push(f)).unwrap();
    let levels: Vec<Option<f64>> = [LEVELS, LEVELS].concat().into_iter().map(Some).collect();
    assert_eq!(seen.iter().map(|f| f.level).collect::<Vec<_>>(), levels);
    assert!(seen.iter().all(|f| f.pair == Some([0, 1]) && f.bound == 3.0));
    assert_eq!(seen.iter().map(|f| f.constraint).collect::<Vec<_>>(), [[0; 7], [1; 7]].concat());
    for f in &seen {
        assert_eq!(f.dual, if f.value > 1e-5 { 3.0 } else { f.dual }, "{f:?}");
        assert!(f.value > 0.0 || f.dual == 0.0, "{f:?}");
    }
    assert!(seen.iter().any(|f| f.dual == 3.0) && seen.iter().any(|f| f.dual == 0.0));
}

/// A penalty that a constraint cannot reach changes nothing, and that is said; one that it can is not spoken of.
#[test]
fn penalties_that_do_nothing_are_named() {
    let mut rng = Rng::new(5);
    let y: Vec<u8> = (0..200).map(|row| u8::from(row % 3 == 0)).collect();
    let group: Vec<u32> = (0..200).map(|row| (row / 3 % 2) as u32).collect();
    let x = (0..200).map(|row| rng.normal() + f64::from(y[row]) + 0.7 * f64::from(group[row]));
    let data = Dataset::dense(x.collect(), y.clone(), 1).unwrap();
    let data = Arc::new(data.with_groups(group.clone(), vec!["a".into(), "b".into()]).unwrap());
    let run = |constraint: &str, smoothing: &str, penalty: &str| {
        let set = |name: &str, value: &str| (name.to_string(), value.to_string());
        let settings =
            vec![set("smoothing", smoothing), set("penalty", penalty), set("aim", "0.5"), set("objective", "ce")];
        let config = Config {
            method: "sonex".into(),
            settings,
            constraints: vec![constraint.into()],
            length: Length::Steps(60),
            ..Config::default()
        };
        let mut trainer = Trainer::<f64>::new(&config, data.clone(), None).unwrap();
        let notes = trainer.notes();
        trainer.run().unwrap();
        (notes, trainer.params().to_vec())
    };
    // 2λρ against 1 − κ, λρ against 1 − bound and, of recall, the bound.
    for (constraint, least) in [("gap(fpr) <= 0.1", 0.475), ("fpr <= 0.2", 0.8), ("recall >= 0.6", 0.6)] {
        let (notes, weak) = run(constraint, "0.5", &(2.0 * least * 1.01).to_string());
        assert_eq!(notes.len(), 1, "{constraint}");
        assert!(notes[0].contains(constraint) && notes[0].contains("changes nothing"), "{}", notes[0]);
        // As the note says.
        assert_eq!(weak, run(constraint, "0.5", "900").1, "{constraint}");
        assert_eq!(run(constraint, "0.5", &(2.0 * least * 0.99).to_string()).0, Vec::<String>::new(), "{constraint}");
        assert_ne!(run(constraint, "0.5", "0.01").1, weak, "{constraint}");
    }
    assert_eq!(run("loss <= 0.1", "100", "100").0, Vec::<String>::new());
}

/// Three groups, of which the last has positives alone.
fn with_an_empty_cell(seed: u64) -> Arc<Dataset<f64>> {
    let mut rng = Rng::new(seed);
    let group: Vec<u32> = (0..240).map(|row| if row >= 228 { 2 } else { (row / 3 % 2) as u32 }).collect();
    let y: Vec<u8> = (0..240).map(|row| u8::from(row % 3 == 0 || row >= 228)).collect();
    let x = (0..240).map(|row| rng.normal() + f64::from(y[row]) + 1.5 * f64::from(group[row]));
    let names = ["a", "b", "z"].map(String::from).to_vec();
    Arc::new(Dataset::dense(x.collect(), y, 1).unwrap().with_groups(group, names).unwrap())
}

/// Each quantity that can be written is judged by its own count: six rows, counted by hand.
#[test]
fn every_quantity_is_judged_by_its_own_count() {
    let scores = [2.0, -1.0, 1.0, -1.0, 3.0, 0.5];
    let (labels, group_of, group_names) = ([1, 1, 0, 0, 1, 0], [0, 0, 0, 1, 1, 1], ["a".into(), "b".into()]);
    let on = Scored { scores: &scores, labels: &labels, group_of: &group_of, group_names: &group_names, old: &[] };
    let loss = |rows: std::ops::Range<usize>| {
        let signed = rows.clone().map(|row| if labels[row] == 1 { scores[row] } else { -scores[row] });
        signed.map(|score: f64| (-score).exp().ln_1p()).sum::<f64>() / rows.len() as f64
    };
    let counted = [
        ("gap(tpr)", 1.0), // from 2 on: none of a, all of b
        ("gap(fpr)", 1.0), // from 0.5 to 1: all of a, none of b
        ("recall", 2.0 / 3.0),
        ("recall[a]", 0.5),
        ("tpr[b]", 1.0),
        ("fpr", 2.0 / 3.0),
        ("fpr[a]", 1.0),
        ("fpr[b]", 0.5),
        ("precision", 0.5),
        ("precision[b]", 0.5),
        ("loss", loss(0..6)),
        ("loss[b]", loss(3..6)),
        ("loss(file)", loss(0..6)),
    ];
    for (text, value) in counted {
        let constraint = Expression::parse(&format!("{text} <= 0.9")).unwrap();
        let judged = constraint.judge(&on, 0.0, &mut Metrics::new()).unwrap();
        assert!((judged.value.unwrap() - value).abs() < 1e-12, "{text}: {judged:?}");
    }
    let known = Expression::parse("nothing <= 1").unwrap_err().to_string();
    for name in known.split_once("there are ").unwrap().1.split(", ") {
        assert!(counted.iter().any(|(text, _)| *text == name), "what is {name} of these rows?");
    }
}

/// A pair of groups without rows leaves a verdict open, and hides nothing of the others.
#[test]
fn an_empty_cell_hides_no_gap() {
    let data = with_an_empty_cell(3);
    let Rows::Dense { data: scores, .. } = data.rows() else { unreachable!("rows of a dense set") };
    let on =
        Scored { scores, labels: data.labels(), group_of: data.group_of(), group_names: data.group_names(), old: &[] };
    let judge = |bound: f64| {
        let constraint = Expression::parse(&format!("gap(fpr) <= {bound}")).unwrap();
        let judged = constraint.judge(&on, 0.0, &mut Metrics::new()).unwrap();
        (judged, constraint.excess(&judged))
    };
    let gaps = Metrics::new().gaps(scores, data.labels(), data.group_of(), 3, Rate::Fpr, None).unwrap();
    let (gap, noise) = (gaps[0].value, gaps[0].noise);
    assert!(gap > 2.0 * noise && gaps[1].noise.is_infinite(), "{gaps:?}");
    for (bound, verdict) in [(0.05, Verdict::NotMet), (gap, Verdict::CannotTell), (0.99, Verdict::CannotTell)] {
        let (judged, excess) = judge(bound);
        assert_eq!((judged.verdict, judged.value, judged.groups), (verdict, Some(gap), Some([0, 1])), "{bound}");
        assert_eq!((judged.largest, excess), (Some(gap), gap - bound), "{bound}");
    }
    // The run knows the tracked values of the others, and a penalty of nothing is in conflict with nothing.
    for (penalty, conflict) in [("0", false), ("0.01", true)] {
        let config = Config {
            method: "sonex".into(),
            settings: [("penalty", penalty), ("aim", "1"), ("objective", "ce")]
                .map(|(a, b)| (a.into(), b.into()))
                .to_vec(),
            constraints: vec!["gap(fpr) <= 0.05".into()],
            length: Length::Steps(80),
            ..Config::default()
        };
        let mut trainer = Trainer::<f64>::new(&config, data.clone(), None).unwrap();
        let mut watch = Watch::new(&trainer);
        while trainer.step().unwrap().is_some() {
            watch.look(&trainer);
        }
        assert!(watch.tracked(&trainer)[0].is_some_and(|tracked| tracked.value.is_finite()), "{penalty}");
        assert_eq!(watch.conflict(0, &judge(0.05).0), conflict, "{penalty}");
        // What the training rows do not tell is no conflict, on whichever side of the bound its value lies.
        let near = judge(gap - 0.01);
        assert!(near.1 > 0.0 && near.0.verdict == Verdict::CannotTell && !watch.conflict(0, &near.0), "{near:?}");
    }
    // Nor is a bound that is kept, by a gap that is larger than what training aims at.
    let config = Config {
        method: "sonex".into(),
        settings: [("penalty", "0.01"), ("aim", "0.01"), ("objective", "ce")]
            .map(|(a, b)| (a.into(), b.into()))
            .to_vec(),
        constraints: vec!["gap(fpr) <= 0.99".into()],
        length: Length::Steps(80),
        ..Config::default()
    };
    let mut trainer = Trainer::<f64>::new(&config, data, None).unwrap();
    let mut watch = Watch::new(&trainer);
    while trainer.step().unwrap().is_some() {
        watch.look(&trainer);
    }
    let tracked = watch.tracked(&trainer)[0].unwrap();
    assert!(tracked.value > 0.0 && tracked.dual >= 0.999 * tracked.bound, "{tracked:?}");
    assert_eq!(watch.at_bound(0), Some(0.0));
}

/// How many more rows would tell, from the noise and the distance to the bound.
#[test]
fn more_rows_would_tell() {
    let judged = |value: f64, noise: f64, rows: [u64; 2], groups| Judged {
        value: Some(value),
        largest: Some(value),
        bound: 0.1,
        noise,
        groups,
        rows,
        verdict: if (value - 0.1).abs() < noise { Verdict::CannotTell } else { Verdict::Met },
    };
    let noise = |rows: [u64; 2]| 1.36 * (1.0 / rows[0] as f64 + 1.0 / rows[1] as f64).sqrt();
    for rows in [[100, 900], [900, 100], [400, 400], [2000, 90], [50, 1_000_000]] {
        for value in [0.0, 0.05, 0.09, 0.12] {
            let of = judged(value, noise(rows), rows, Some([0, 1]));
            let distance = (value - 0.1).abs();
            let Some(more) = of.more() else {
                assert!(distance >= noise(rows), "{of:?}");
                continue;
            };
            let then = [rows[0] + more.rows[0], rows[1] + more.rows[1]];
            assert!(noise(then) <= distance, "{of:?} {more:?}");
            // Not many too many; and the larger group's alone only where the smaller has caught up.
            let fewer = [0, 1].map(|at| rows[at] + more.rows[at] * 98 / 100);
            assert!(noise(fewer) > distance, "{of:?} {more:?}");
            let (small, large) = if rows[0] <= rows[1] { (0, 1) } else { (1, 0) };
            assert!(more.rows[large] == 0 || then[small] >= then[large], "{of:?} {more:?}");
        }
    }
    // A share: the noise falls with the root of the rows.
    assert_eq!(judged(0.05, 0.1, [96, 0], None).more().unwrap().rows, [300, 0]);
    // Nothing of what is told, at the bound, and without rows.
    assert_eq!(judged(0.0, 0.05, [96, 0], None).more(), None);
    assert_eq!(judged(0.1, 0.05, [96, 0], None).more(), None);
    assert_eq!(judged(0.05, f64::INFINITY, [0, 9], Some([0, 1])).more(), None);
}

/// The rate of SOX falls as its penalty rises above the usual: a step is the rate times the penalty, and grows no further.
#[test]
fn sox_steps_less_the_larger_its_penalty() {
    let method = undercurve::registry::method("sox").unwrap();
    let lr = method.params.iter().find(|param| param.name == "lr").unwrap();
    for (penalty, times) in [("1", 1.0), ("40", 1.0), ("160", 0.25), ("4000", 0.01)] {
        for (network, rate) in [(false, 0.1), (true, 0.03)] {
            let scope = Scope { network, ..Scope::default() };
            let pairs = [("penalty", penalty)];
            let settings = Settings::of(method.params, &pairs).unwrap().with_scope(scope);
            assert!((settings.auto(lr).unwrap() - rate * times).abs() < 1e-15, "{penalty} {network}");
        }
    }
}

/// Rows of a group that training does not have say nothing of its worst groups.
#[test]
fn the_risk_is_of_known_groups() {
    let rows = |strange: bool| {
        let known = with_an_empty_cell(4);
        let Rows::Dense { data, .. } = known.rows() else { unreachable!("rows of a dense set") };
        let (mut x, mut y, mut group) = (data.to_vec(), known.labels().to_vec(), known.group_of().to_vec());
        let mut names = known.group_names().to_vec();
        if strange {
            x.extend([-9.0, 9.0]);
            y.extend([1, 0]);
            group.extend([3, 3]);
            names.push("new".into());
        }
        Arc::new(Dataset::dense(x, y, 1).unwrap().with_groups(group, names).unwrap())
    };
    for blocks in ["groups", "cells"] {
        let config = Config {
            method: "sonex".into(),
            settings: [("objective", "cvar"), ("blocks", blocks)].map(|(a, b)| (a.into(), b.into())).to_vec(),
            length: Length::Steps(20),
            ..Config::default()
        };
        let best = |strange: bool| {
            let mut trainer = Trainer::<f64>::new(&config, with_an_empty_cell(3), None).unwrap();
            let mut best = Best::new(&trainer, rows(strange), "cvar", None).unwrap();
            while trainer.step().unwrap().is_some() {
                best.look(&mut trainer).unwrap();
            }
            best.value()
        };
        assert_eq!(best(true), best(false), "{blocks}");
    }
}
