//! Finite sums of networks against a naive twin, step by step, and what the sum itself promises.

use undercurve::Error;
use undercurve::data::Rows;
use undercurve::finite_sum::{
    AdamSum, AiSarah, AnySum, BoundedAiSarah, Event, FiniteSum, GlmLoss, Gradients, Memory, MomentumSum, NetworkSum,
    Run, Sampling, Sarah, Svrg, TheoreticalAiSarah, gradient,
};
use undercurve::model::{Activation, Mlp, Model};
use undercurve::rng::Rng;
use undercurve_tests::finite_sum::{Loss, Naive, Sum, dot};
use undercurve_tests::network::Net;

const COLS: usize = 5;

/// Rows with about half their values, in both layouts.
struct Sample {
    ptr: Vec<usize>,
    col: Vec<u32>,
    val: Vec<f64>,
    dense: Vec<f64>,
    labels: Vec<u8>,
}

impl Sample {
    fn new(n: usize, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut sample = Self { ptr: vec![0], col: vec![], val: vec![], dense: vec![], labels: vec![] };
        for _ in 0..n {
            let mut sum = 0.0;
            for j in 0..COLS as u32 {
                let x = if rng.uniform() < 0.6 { rng.normal() } else { 0.0 };
                sum += x * (f64::from(j) - 1.5);
                sample.dense.push(x);
                if x != 0.0 {
                    sample.col.push(j);
                    sample.val.push(x);
                }
            }
            sample.ptr.push(sample.col.len());
            sample.labels.push(u8::from(sum.sin() + 0.3 * rng.normal() > 0.2));
        }
        sample
    }

    fn rows(&self, sparse: bool) -> Rows<'_, f64> {
        if sparse { Rows::csr(&self.ptr, &self.col, &self.val, COLS) } else { Rows::dense(&self.dense, COLS) }.unwrap()
    }

    fn sum(&self, mlp: Mlp, sparse: bool, loss: GlmLoss, lambda: f64) -> NetworkSum<'_, f64> {
        NetworkSum::new(mlp, self.rows(sparse), &self.labels, loss, lambda).unwrap()
    }

    fn twin(&self, hidden: &[usize], tanh: bool, loss: Loss, lambda: f64) -> Net {
        let sizes = [&[COLS], hidden, &[1]].concat();
        let x = self.dense.chunks(COLS).map(<[f64]>::to_vec).collect();
        let y = self.labels.iter().map(|&y| if y == 1 { 1.0 } else { -1.0 }).collect();
        Net { sizes, tanh, sum: Sum { x, y, lambda, loss } }
    }
}

fn mlp(hidden: &[usize], tanh: bool) -> Mlp {
    Mlp::new(COLS, hidden, 1, if tanh { Activation::Tanh } else { Activation::Relu }).unwrap()
}

fn start(mlp: &Mlp, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    (0..Model::<f64>::param_len(mlp)).map(|_| 0.6 * rng.normal()).collect()
}

/// A run with the memory it needs.
struct Machine<'a> {
    algorithm: AnySum,
    net: NetworkSum<'a, f64>,
    real: Vec<f64>,
    u32: Vec<u32>,
    scratch: Vec<f64>,
    run: Run,
}

impl<'a> Machine<'a> {
    fn new(algorithm: AnySum, net: NetworkSum<'a, f64>, w0: &[f64], seed: u64) -> Self {
        let need = algorithm.need(&net).unwrap();
        let (mut real, mut u32) = (vec![f64::NAN; need.real], vec![7; need.u32]);
        let mut scratch = vec![f64::NAN; net.scratch_len()];
        let memory = &mut Memory { real: &mut real, u32: &mut u32, scratch: &mut scratch };
        let run = algorithm.start(&net, w0, seed, memory).unwrap();
        Self { algorithm, net, real, u32, scratch, run }
    }

    fn step(&mut self) -> Result<Event, Error> {
        let memory = &mut Memory { real: &mut self.real, u32: &mut self.u32, scratch: &mut self.scratch };
        self.algorithm.step(&self.net, &mut self.run, memory)
    }

    fn steps(&mut self, count: u64) -> Vec<f64> {
        while self.run.steps < count {
            self.step().unwrap();
        }
        self.params()
    }

    fn params(&mut self) -> Vec<f64> {
        let mut out = vec![0.0; self.net.dim()];
        let memory = Memory { real: &mut self.real, u32: &mut self.u32, scratch: &mut self.scratch };
        self.algorithm.params(&self.net, &self.run, memory.view(), &mut out).unwrap();
        out
    }
}

/// The documented draw: the first steps of a Fisher–Yates shuffle of an order that is kept.
fn subsets(seed: u64, n: usize, batch: usize) -> impl FnMut() -> Vec<usize> {
    let mut rng = Rng::new(seed);
    let mut order: Vec<usize> = (0..n).collect();
    move || {
        for k in 0..batch {
            order.swap(k, k + rng.below((n - k) as u32) as usize);
        }
        order[..batch].to_vec()
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let size = b.iter().fold(1.0f64, |m, x| m.max(x.abs()));
    a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs())) / size
}

const LOSSES: [(GlmLoss, Loss); 3] = [
    (GlmLoss::Logistic, Loss::Logistic),
    (GlmLoss::LeastSquares, Loss::LeastSquares),
    (GlmLoss::SquaredHinge, Loss::SquaredHinge),
];

#[test]
fn value_and_gradient_are_the_twins_over_many_chunks() {
    let sample = Sample::new(700, 1);
    for (hidden, tanh) in [(&[4][..], true), (&[6, 3], false)] {
        let model = mlp(hidden, tanh);
        let w = start(&model, 2);
        for (loss, naive) in LOSSES {
            let twin = sample.twin(hidden, tanh, naive, 0.01);
            let expected = twin.gradient(&twin.all(), &w);
            for sparse in [false, true] {
                let net = sample.sum(model, sparse, loss, 0.01);
                let (mut grad, mut scratch) = (vec![9.0; w.len()], vec![f64::NAN; net.scratch_len()]);
                let norm = gradient(&net, &w, &mut grad, &mut scratch).unwrap();
                assert!(distance(&grad, &expected) < 1e-13, "{hidden:?} {loss:?} {sparse}");
                assert!((norm / dot(&expected, &expected) - 1.0).abs() < 1e-12);
                let value = net.objective(&w, &mut scratch).unwrap();
                assert!((value / twin.objective(&w) - 1.0).abs() < 1e-13, "{hidden:?} {loss:?} {sparse}");
            }
        }
    }
}

/// Every event of a run: full gradients, ξ'(0) and ξ''(0) of each minibatch, δ, α, the iterate and where loops end.
#[test]
fn ai_sarah_follows_its_twin_over_several_loops() {
    let sample = Sample::new(60, 3);
    let near = |a: f64, b: f64, by: f64| (a - b).abs() <= by * b.abs();
    let (mut loops, mut skips, mut checked) = (0, 0, 0);
    for (hidden, tanh, loss, naive) in [
        (&[4][..], true, GlmLoss::Logistic, Loss::Logistic),
        (&[4, 3], true, GlmLoss::Logistic, Loss::Logistic),
        (&[4], true, GlmLoss::LeastSquares, Loss::LeastSquares),
        (&[5], false, GlmLoss::Logistic, Loss::Logistic),
    ] {
        for (lambda, batch, sparse) in [(0.0, 12, false), (1.0 / 60.0, 20, true)] {
            let model = mlp(hidden, tanh);
            let mut w = start(&model, 4);
            let case = format!("{hidden:?} tanh {tanh} {loss:?} λ {lambda}");
            let algorithm = AnySum::AiSarah(AiSarah::new(batch, 1.0 / 32.0, 0.999).unwrap());
            let mut machine = Machine::new(algorithm, sample.sum(model, sparse, loss, lambda), &w, 8);
            let twin = sample.twin(hidden, tanh, naive, lambda);
            let mut draw = subsets(8, 60, batch);
            let (mut v, mut first, mut delta, mut skipped) = (vec![0.0; w.len()], 0.0, None, 0);
            while machine.run.steps < 120 {
                let ended = dot(&v, &v) < first / 32.0 || first == 0.0 || skipped == 60usize.div_ceil(batch);
                let event = machine.step().unwrap();
                let at = format!("{case}, minibatch {}", machine.run.steps);
                assert_eq!(matches!(event, Event::FullGradient { .. }), ended, "{at}");
                let Event::FullGradient { norm_sq } = event else {
                    let drawn = draw();
                    let (slope, curvature) = twin.step_model(&drawn, &w, &v);
                    let run = &machine.run;
                    // Differences say nothing across the bend of a ReLU.
                    if !twin.bends(&drawn, &w, &v) {
                        assert!(near(run.slope, slope, 1e-6), "{at}: {} {slope}", run.slope);
                        let error = (run.curvature - curvature).abs();
                        assert!(error < 1e-5 * curvature.abs().max(1e-3), "{at}: {} {curvature}", run.curvature);
                        checked += 1;
                    }
                    let newton = -run.slope / run.curvature.abs();
                    if let Event::Step { alpha } = event {
                        let old = delta.unwrap_or(1.0 / newton);
                        let smoothed = if delta.is_some() { 0.999 * old + 0.001 / newton } else { old };
                        delta = Some(smoothed);
                        assert!(near(run.alpha_max, 1.0 / smoothed, 1e-12), "{at}");
                        assert!(near(alpha, newton.min(1.0 / smoothed), 1e-12), "{at}");
                        twin.recurse(&drawn, &mut w, &mut v, alpha);
                        skipped = 0;
                    } else {
                        assert!(newton <= 0.0, "{at}: skipped at {newton}");
                        (skipped, skips) = (skipped + 1, skips + 1);
                    }
                    assert!(distance(&machine.params(), &w) < 1e-11, "{at}: {:e}", distance(&machine.params(), &w));
                    continue;
                };
                v = twin.gradient(&twin.all(), &w);
                (first, skipped) = (dot(&v, &v), 0);
                assert!(near(norm_sq, first, 1e-9), "{at}");
                loops += 1;
            }
        }
    }
    println!("{loops} loops, {skips} skipped minibatches");
    assert!(loops >= 24 && checked > 900, "{loops} full gradients, {checked} of 960 minibatches");
}

#[test]
fn baselines_follow_their_twins() {
    let sample = Sample::new(70, 6);
    let (hidden, model) = ([4, 3], mlp(&[4, 3], true));
    let w0 = start(&model, 5);
    for lambda in [0.0, 0.01] {
        let twin = sample.twin(&hidden, true, Loss::Logistic, lambda);
        for sparse in [false, true] {
            let net = sample.sum(model, sparse, GlmLoss::Logistic, lambda);
            let case = format!("λ {lambda} sparse {sparse}");
            let end = |algorithm: AnySum, steps: u64| Machine::new(algorithm, net, &w0, 11).steps(steps);
            let draw = || subsets(11, 70, 8);
            let sarah = end(AnySum::Sarah(Sarah::new(8, 0.2, 15).unwrap()), 70);
            assert!(distance(&sarah, &twin.sarah(&w0, 0.2, 15, 0.0, 70, draw())) < 1e-11, "sarah {case}");
            let plus = end(AnySum::Sarah(Sarah::plus(8, 0.2, 0.5).unwrap()), 70);
            assert!(distance(&plus, &twin.sarah(&w0, 0.2, usize::MAX, 0.5, 70, draw())) < 1e-11, "sarah+ {case}");
            let svrg = end(AnySum::Svrg(Svrg::new(8, 0.2, 15).unwrap()), 70);
            assert!(distance(&svrg, &twin.svrg(&w0, 0.2, 15, 70, draw())) < 1e-11, "svrg {case}");
            // 70 examples leave a last minibatch of 6.
            let mut rng = Rng::new(11);
            let mut order: Vec<usize> = (0..70).collect();
            let orders: Vec<Vec<usize>> = (0..5)
                .map(|_| {
                    rng.shuffle(&mut order);
                    order.clone()
                })
                .collect();
            let momentum = end(AnySum::Momentum(MomentumSum::new(8, 0.1, 0.9, 0.1).unwrap()), 45);
            assert!(distance(&momentum, &twin.momentum(&w0, 0.1, 0.9, 0.1, 8, &orders)) < 1e-11, "momentum {case}");
            let adam = end(AnySum::Adam(AdamSum::new(8, 0.02, 0.1).unwrap()), 45);
            assert!(distance(&adam, &twin.adam(&w0, 0.02, 0.1, 8, &orders)) < 1e-9, "adam {case}");
        }
    }
}

#[test]
fn bounded_steps_stay_in_their_bounds_and_equal_bounds_are_sarah() {
    let sample = Sample::new(80, 7);
    let model = mlp(&[4], false);
    let w0 = start(&model, 3);
    let net = sample.sum(model, false, GlmLoss::Logistic, 0.01);
    let mut machine = Machine::new(AnySum::Bounded(BoundedAiSarah::new(8, 10, 0.05, 0.4).unwrap()), net, &w0, 5);
    let mut seen = [0; 3];
    while machine.run.steps < 300 {
        if let Event::Step { alpha } = machine.step().unwrap() {
            assert!((0.05..=0.4).contains(&alpha));
            seen[if alpha == 0.05 {
                0
            } else if alpha == 0.4 {
                2
            } else {
                1
            }] += 1;
        }
    }
    assert!(seen[1] > 0 && seen[2] > 0, "{seen:?}");
    // Inside its first loop.
    let one = BoundedAiSarah::new(8, 1000, 0.1, 0.1).unwrap();
    let mut bounded = Machine::new(AnySum::Bounded(one), net, &w0, 5);
    bounded.step().unwrap();
    let mut sarah = Machine::new(AnySum::Sarah(Sarah::new(8, 0.1, 1000).unwrap()), net, &w0, 5);
    sarah.step().unwrap();
    // The bounded form drew its end first.
    let mut words = sarah.run.words();
    words[..4].copy_from_slice(&bounded.run.words()[..4]);
    sarah.run = Run::from_words(words);
    let (a, b) = (bounded.steps(5), sarah.steps(5));
    assert!(distance(&a, &b) < 1e-13);
}

/// A walk over many rows is cut; the gradient that it comes to is that of one call.
#[test]
fn a_full_gradient_comes_in_pieces_and_needs_no_memory_for_its_rows() {
    let small = Sample::new(300, 8);
    let large = Sample::new(3000, 8);
    let model = mlp(&[32], true);
    let w0 = start(&model, 1);
    let net = large.sum(model, true, GlmLoss::Logistic, 0.0);
    assert_eq!(net.scratch_len(), small.sum(model, true, GlmLoss::Logistic, 0.0).scratch_len());
    let mut machine = Machine::new(AnySum::AiSarah(AiSarah::default()), net, &w0, 2);
    let mut pieces = 1;
    let norm = loop {
        match machine.step().unwrap() {
            Event::Part => pieces += 1,
            Event::FullGradient { norm_sq } => break norm_sq,
            event => panic!("{event:?}"),
        }
        assert_eq!(machine.run.samples, 0);
    };
    assert!(pieces > 10, "{pieces}");
    assert_eq!(machine.run.samples, 3000);
    let (mut grad, mut scratch) = (vec![0.0; w0.len()], vec![0.0; net.scratch_len()]);
    assert_eq!(gradient(&net, &w0, &mut grad, &mut scratch).unwrap(), norm);
    let need = AnySum::AiSarah(AiSarah::default()).need(&net).unwrap();
    assert_eq!((need.real, need.u32), (4 * w0.len(), 3000 + 64));
}

#[test]
fn hostile_input_is_a_typed_error_and_moves_nothing() {
    let sample = Sample::new(20, 9);
    let model = mlp(&[3], false);
    let w0 = start(&model, 1);
    let total = w0.len();
    let net = sample.sum(model, false, GlmLoss::LeastSquares, 0.0);
    let theory = TheoreticalAiSarah::new(3, Sampling::Uniform).unwrap();
    let need = theory.need(&net).unwrap();
    let (mut real, mut u32) = (vec![7.0; need.real], vec![7; need.u32]);
    let memory = &mut Memory { real: &mut real, u32: &mut u32, scratch: &mut [] };
    assert!(matches!(theory.start(&net, &w0, 1, memory), Err(Error::Unsupported { .. })));
    assert!(real.iter().all(|&x| x == 7.0) && u32.iter().all(|&x| x == 7));
    let rows = sample.rows(false);
    let new = |model, labels, lambda| NetworkSum::new(model, rows, labels, GlmLoss::Logistic, lambda).map(|_| ());
    assert_eq!(new(model, &sample.labels, -1.0), Err(Error::Param { what: "lambda" }));
    assert!(matches!(new(model, &sample.labels[1..], 0.0), Err(Error::Length { what: "labels", .. })));
    let other = Mlp::new(COLS + 1, &[3], 1, Activation::Tanh).unwrap();
    assert!(matches!(new(other, &sample.labels, 0.0), Err(Error::Length { what: "columns", .. })));
    let two = Mlp::new(COLS, &[3], 2, Activation::Tanh).unwrap();
    assert!(matches!(new(two, &sample.labels, 0.0), Err(Error::Unsupported { .. })));

    let wide = AiSarah::new(21, 0.5, 0.9).unwrap();
    assert_eq!(wide.need(&net), Err(Error::Param { what: "batch" }));
    let algorithm = AnySum::AiSarah(AiSarah::new(4, 0.5, 0.9).unwrap());
    let mut machine = Machine::new(algorithm, net, &w0, 1);
    machine.scratch.pop();
    assert!(matches!(machine.step(), Err(Error::Length { what: "scratch", .. })));
    let memory = &mut Memory { real: &mut [0.0; 3], u32: &mut [], scratch: &mut [] };
    assert!(matches!(machine.algorithm.start(&net, &w0, 1, memory), Err(Error::Length { what: "memory.real", .. })));
    assert!(matches!(machine.algorithm.start(&net, &w0[1..], 1, memory), Err(Error::Length { what: "w0", .. })));

    // Steps so long that the run leaves the number type: an error, again and again, and the iterate stays.
    for algorithm in [
        AnySum::Sarah(Sarah::new(4, 1e20, 50).unwrap()),
        AnySum::Svrg(Svrg::new(4, 1e20, 50).unwrap()),
        AnySum::Momentum(MomentumSum::new(4, 1e20, 0.9, 0.0).unwrap()),
        AnySum::Adam(AdamSum::new(4, 1e150, 0.0).unwrap()),
        AnySum::Bounded(BoundedAiSarah::new(4, 50, 1e20, 1e20).unwrap()),
    ] {
        let mut machine = Machine::new(algorithm, net, &w0, 1);
        let mut failed = 0;
        for _ in 0..100 {
            let (before, run) = (machine.params(), machine.run.clone());
            if machine.step().is_err() {
                assert_eq!(machine.params(), before, "{algorithm:?}");
                assert_eq!(machine.run.words(), run.words(), "{algorithm:?}");
                failed += 1;
            }
            assert!(machine.params().iter().all(|w| w.is_finite()), "{algorithm:?}");
        }
        assert!(failed > 1, "{algorithm:?}");
    }
    assert_eq!(total, Model::<f64>::param_len(&model));
}
