//! Finite sums against naive twins, the lazy path against the whole-vector path, and the published figures.

use undercurve::data::{Dataset, Format, Options, Preparation, RawTable, Rows, Scale};
use undercurve::finite_sum::{
    AdamSum, AiSarah, Anchored, BoundedAiSarah, Event, Examples, FiniteSum, Glm, GlmLoss, Gradients, HeavyBall, Memory,
    MomentumSum, Oracle, Recursion, Response, Run, Sampling, Sarah, Svrg, TheoreticalAiSarah, Updates, View,
    largest_eigenvalue, largest_eigenvalue_need,
};
use undercurve::rng::Rng;
use undercurve::{Error, Need, Real, Scratch};
use undercurve_tests::finite_sum::{Loss, Naive, Sum, dot};
use undercurve_tests::shared;

/// Rows with about one value in `1/density`, unit length, in both layouts.
struct Sample<T> {
    ptr: Vec<usize>,
    col: Vec<u32>,
    val: Vec<T>,
    dense: Vec<T>,
    labels: Vec<u8>,
    cols: usize,
}

impl<T: Real> Sample<T> {
    fn new(n: usize, cols: usize, density: f64, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let truth: Vec<f64> = (0..cols).map(|_| rng.normal()).collect();
        let mut s = Self { ptr: vec![0], col: vec![], val: vec![], dense: vec![], labels: vec![], cols };
        for _ in 0..n {
            let mut row: Vec<f64> =
                (0..cols).map(|_| if rng.uniform() < density { rng.normal() } else { 0.0 }).collect();
            let norm = dot(&row, &row).sqrt().max(1e-9);
            row.iter_mut().for_each(|x| *x /= norm);
            s.labels.push(u8::from(dot(&row, &truth) + 0.5 * rng.normal() > 0.3));
            for (j, &x) in row.iter().enumerate() {
                s.dense.push(T::of(x));
                if x != 0.0 {
                    s.col.push(j as u32);
                    s.val.push(T::of(x));
                }
            }
            s.ptr.push(s.col.len());
        }
        s
    }

    fn rows(&self, sparse: bool) -> Rows<'_, T> {
        if sparse {
            Rows::csr(&self.ptr, &self.col, &self.val, self.cols).unwrap()
        } else {
            Rows::dense(&self.dense, self.cols).unwrap()
        }
    }

    fn glm(&self, sparse: bool, loss: GlmLoss, lambda: f64) -> Glm<'_, T> {
        Glm::new(self.rows(sparse), Response::Labels(&self.labels), loss, lambda, true).unwrap()
    }

    fn twin(&self, loss: Loss, lambda: f64) -> Sum {
        let x = self.dense.chunks(self.cols).map(|row| row.iter().map(|x| x.f64()).chain([1.0]).collect()).collect();
        let y = self.labels.iter().map(|&y| if y == 1 { 1.0 } else { -1.0 }).collect();
        Sum { x, y, lambda, loss }
    }
}

const LOSSES: [(GlmLoss, Loss); 3] = [
    (GlmLoss::Logistic, Loss::Logistic),
    (GlmLoss::LeastSquares, Loss::LeastSquares),
    (GlmLoss::SquaredHinge, Loss::SquaredHinge),
];

/// A run with the memory it needs.
struct Machine<'a, T, A> {
    algorithm: A,
    glm: Glm<'a, T>,
    real: Vec<T>,
    u32: Vec<u32>,
    run: Run,
}

impl<'a, T: Real, A: FiniteSum<T>> Machine<'a, T, A> {
    fn new(algorithm: A, glm: Glm<'a, T>, w0: &[T], seed: u64) -> Self {
        let need = algorithm.need(&glm).unwrap();
        let (mut real, mut u32) = (vec![T::ZERO; need.real], vec![0; need.u32]);
        let run =
            algorithm.start(&glm, w0, seed, &mut Memory { real: &mut real, u32: &mut u32, scratch: &mut [] }).unwrap();
        Self { algorithm, glm, real, u32, run }
    }

    fn step(&mut self) -> Result<Event, Error> {
        self.algorithm.step(
            &self.glm,
            &mut self.run,
            &mut Memory { real: &mut self.real, u32: &mut self.u32, scratch: &mut [] },
        )
    }

    fn steps(&mut self, count: u64) {
        while self.run.steps < count {
            self.step().unwrap();
        }
    }

    fn params(&mut self) -> Vec<T> {
        let mut out = vec![T::ZERO; self.glm.dim()];
        let memory = Memory { real: &mut self.real, u32: &mut self.u32, scratch: &mut [] };
        self.algorithm.params(&self.glm, &self.run, memory.view(), &mut out).unwrap();
        out
    }

    fn norm_sq(&mut self) -> f64 {
        let w = self.params();
        let mut gradient = vec![T::ZERO; w.len()];
        self.glm.gradient(&w, &mut gradient).unwrap()
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

fn shuffles(seed: u64, n: usize, passes: usize) -> Vec<Vec<usize>> {
    let mut rng = Rng::new(seed);
    let mut order: Vec<usize> = (0..n).collect();
    (0..passes)
        .map(|_| {
            rng.shuffle(&mut order);
            order.clone()
        })
        .collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let size = b.iter().fold(1.0f64, |m, x| m.max(x.abs()));
    a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs())) / size
}

fn start(dim: usize) -> Vec<f64> {
    let mut rng = Rng::new(99);
    (0..dim).map(|_| 0.3 * rng.normal()).collect()
}

#[test]
fn derivatives_follow_the_textbook() {
    for (loss, twin) in LOSSES {
        let sum = Sum { x: vec![], y: vec![], lambda: 0.0, loss: twin };
        for y in [1.0, -1.0] {
            for k in -200..=200 {
                let z = f64::from(k) * 0.1 + 0.013;
                let (a, b, c) = loss.derivatives(y, z);
                let (p, q, r) = sum.derivatives(y, z);
                assert!((a - p).abs() < 1e-14 && (b - q).abs() < 1e-14 && (c - r).abs() < 1e-14, "{loss:?} {y} {z}");
                let h = 1e-5;
                let slope = (loss.value(y, z + h) - loss.value(y, z - h)) / (2.0 * h);
                assert!((slope - a).abs() < 1e-7 * (1.0 + a.abs()), "{loss:?} {y} {z}");
            }
        }
        for z in [-800.0, 800.0] {
            assert!(loss.value(1.0, z).is_finite() && loss.derivatives(1.0, z).0.is_finite());
            assert!(loss.value(1.0f32, z as f32).is_finite());
        }
    }
}

#[test]
fn step_model_matches_finite_differences() {
    let sample = Sample::<f64>::new(60, 9, 0.4, 1);
    for (loss, naive) in LOSSES {
        for lambda in [0.0, 0.02] {
            for batch in [1, 7] {
                for sparse in [true, false] {
                    let twin = sample.twin(naive, lambda);
                    let w = start(10);
                    let mut machine = Machine::new(
                        AiSarah::new(batch, 1.0 / 32.0, 0.999).unwrap(),
                        sample.glm(sparse, loss, lambda),
                        &w,
                        5,
                    );
                    machine.step().unwrap();
                    machine.step().unwrap();
                    let rows = subsets(5, 60, batch)();
                    let v = twin.gradient(&twin.all(), &w);
                    let at = |alpha| twin.xi(&rows, &w, &v, alpha);
                    let h = 1e-4;
                    let slope = (at(h) - at(-h)) / (2.0 * h);
                    let curvature = (at(h) - 2.0 * at(0.0) + at(-h)) / (h * h);
                    let run = &machine.run;
                    assert!((run.slope - slope).abs() < 1e-7 * slope.abs(), "{loss:?} {} {slope}", run.slope);
                    assert!(
                        (run.curvature - curvature).abs() < 1e-5 * curvature.abs(),
                        "{loss:?} {} {curvature}",
                        run.curvature
                    );
                    assert!((run.alpha + run.slope / run.curvature.abs()).abs() <= 1e-15 * run.alpha);
                }
            }
        }
    }
}

#[test]
fn least_squares_step_is_the_inverse_smoothness() {
    let sample = Sample::<f64>::new(50, 6, 0.5, 2);
    let targets: Vec<f64> = sample.dense.chunks(6).map(|row| 3.0 * row[0] - row[4] + 0.5).collect();
    let glm = Glm::new(sample.rows(true), Response::Values(&targets), GlmLoss::LeastSquares, 0.0, true).unwrap();
    // β = 0 makes α_max the present α̃, so that every α is its own α̃.
    let mut machine = Machine::new(AiSarah::new(1, 1e-6, 0.0).unwrap(), glm, &start(7), 3);
    let twin = sample.twin(Loss::LeastSquares, 0.0);
    let mut draw = subsets(3, 50, 1);
    let mut seen = 0;
    for _ in 0..300 {
        match machine.step().unwrap() {
            Event::Step { alpha } => {
                let i = draw()[0];
                let smooth = dot(&twin.x[i], &twin.x[i]);
                assert!((alpha * smooth - 1.0).abs() < 1e-14, "{alpha} {smooth}");
                seen += 1;
            }
            Event::Skipped => drop(draw()),
            _ => {}
        }
    }
    assert!(seen > 200);
}

#[test]
fn a_direction_the_minibatch_cannot_see_is_skipped() {
    // Example 1 is an empty row: a = 0, so ξ'(0) = ξ''(0) = 0 without λ and without an intercept.
    let (ptr, col, val) = ([0, 1, 1], [0u32], [1.0f64]);
    let rows = Rows::csr(&ptr, &col, &val, 1).unwrap();
    let glm = Glm::new(rows, Response::Labels(&[1, 0]), GlmLoss::Logistic, 0.0, false).unwrap();
    let mut machine = Machine::new(AiSarah::new(1, 0.5, 0.9).unwrap(), glm, &[0.0], 1);
    let (mut skipped, mut moved) = (0, 0);
    for _ in 0..60 {
        let (before, cap) = (machine.params(), machine.run.alpha_max);
        match machine.step().unwrap() {
            Event::Skipped => {
                assert_eq!((machine.params(), machine.run.alpha_max), (before, cap));
                skipped += 1;
            }
            Event::Step { alpha } => {
                assert!(alpha.is_finite() && alpha > 0.0);
                moved += 1;
            }
            _ => {}
        }
    }
    assert!(skipped > 5 && moved > 5, "{skipped} {moved}");
}

/// Minibatches that see nothing of v end the loop when there were as many in a row as make a pass, saved in between or not.
#[test]
fn a_pass_of_skips_in_a_row_ends_the_loop() {
    // Rows 1 to 6 are empty: only a minibatch with row 0 moves.
    let (ptr, col, val) = ([0, 1, 1, 1, 1, 1, 1, 1], [0u32], [1.0f64]);
    let rows = Rows::csr(&ptr, &col, &val, 1).unwrap();
    let glm = Glm::new(rows, Response::Labels(&[1, 0, 0, 0, 0, 0, 0]), GlmLoss::Logistic, 0.0, false).unwrap();
    for (batch, patience) in [(1, 7), (2, 4)] {
        let mut machine = Machine::new(AiSarah::new(batch, 1e-9, 0.9).unwrap(), glm, &[0.0], 3);
        let (mut row, mut opens, mut ended, mut spared) = (0, true, 0, 0);
        for _ in 0..600 {
            machine.run = Run::from_words(machine.run.words());
            let event = machine.step().unwrap();
            assert_eq!(matches!(event, Event::FullGradient { .. }), opens, "{row} skips of {patience}: {event:?}");
            opens = false;
            match event {
                Event::Skipped => {
                    row += 1;
                    opens = row == patience;
                    ended += u32::from(opens);
                }
                Event::Step { .. } => {
                    spared += u32::from(row > 0);
                    opens = machine.run.norm_sq < 1e-9 * machine.run.start_norm_sq;
                    row = 0;
                }
                _ => row = 0,
            }
        }
        assert!(ended > 5 && spared > 5, "{ended} {spared}");
    }
}

#[test]
fn ai_sarah_follows_its_twin() {
    let sample = Sample::<f64>::new(150, 30, 0.15, 4);
    for (loss, naive) in LOSSES {
        for lambda in [0.0, 1.0 / 150.0] {
            // Least squares with one example: a repeated draw meets a direction that the last step has made orthogonal to
            // it, and α̃ is a quotient of rounding errors.
            for batch in [if loss == GlmLoss::Logistic { 1 } else { 3 }, 6] {
                for (sparse, updates) in [(false, Updates::Auto), (true, Updates::Lazy), (true, Updates::Eager)] {
                    let w0 = start(31);
                    let algorithm = AiSarah::new(batch, 1.0 / 32.0, 0.999).unwrap().with_updates(updates);
                    let mut machine = Machine::new(algorithm, sample.glm(sparse, loss, lambda), &w0, 8);
                    let (w, trace) = sample.twin(naive, lambda).ai_sarah(&w0, 120, subsets(8, 150, batch));
                    let mut steps = 0;
                    while steps < 120 {
                        if let Event::Step { alpha } = machine.step().unwrap() {
                            let [expected, cap] = trace[steps];
                            assert!(
                                (alpha / expected - 1.0).abs() < 1e-7,
                                "{loss:?} {batch} {sparse} {steps} {alpha} {expected}"
                            );
                            assert!((machine.run.alpha_max / cap - 1.0).abs() < 1e-7);
                            steps += 1;
                        }
                    }
                    assert!(distance(&machine.params(), &w) < 1e-9, "{loss:?} {lambda} {batch} {sparse}");
                }
            }
        }
    }
}

#[test]
fn baselines_follow_their_twins() {
    let sample = Sample::<f64>::new(130, 40, 0.1, 6);
    let w0 = start(41);
    for lambda in [0.0, 0.01] {
        let twin = sample.twin(Loss::Logistic, lambda);
        for sparse in [false, true] {
            let glm = sample.glm(sparse, GlmLoss::Logistic, lambda);
            let case = format!("λ {lambda} sparse {sparse}");
            for batch in [1, 8] {
                let mut sarah = Machine::new(Sarah::new(batch, 0.9, 25).unwrap(), glm, &w0, 11);
                sarah.steps(110);
                let expected = twin.sarah(&w0, 0.9, 25, 0.0, 110, subsets(11, 130, batch));
                assert!(distance(&sarah.params(), &expected) < 1e-11, "sarah {case}");

                let mut plus = Machine::new(Sarah::plus(batch, 0.9, 0.25).unwrap(), glm, &w0, 12);
                plus.steps(110);
                let expected = twin.sarah(&w0, 0.9, usize::MAX, 0.25, 110, subsets(12, 130, batch));
                assert!(distance(&plus.params(), &expected) < 1e-11, "sarah+ {case}");

                let mut svrg = Machine::new(Svrg::new(batch, 0.9, 25).unwrap(), glm, &w0, 13);
                svrg.steps(110);
                let expected = twin.svrg(&w0, 0.9, 25, 110, subsets(13, 130, batch));
                assert!(distance(&svrg.params(), &expected) < 1e-11, "svrg {case}");
            }
            // 130 examples leave a last minibatch of 2; 700 steps pass the table of powers.
            for (size, passes, alpha) in [(8, 5, 0.5), (1, 6, 0.05)] {
                let orders = shuffles(14, 130, passes);
                let steps = (passes * 130usize.div_ceil(size)) as u64;
                let mut momentum = Machine::new(MomentumSum::new(size, alpha, 0.9, 0.1).unwrap(), glm, &w0, 14);
                momentum.steps(steps);
                let expected = twin.momentum(&w0, alpha, 0.9, 0.1, size, &orders);
                assert!(distance(&momentum.params(), &expected) < 1e-11, "momentum {case}");
                assert_eq!(momentum.run.samples, 130 * passes as u64);

                let mut adam = Machine::new(AdamSum::new(size, alpha, 0.1).unwrap(), glm, &w0, 14);
                adam.steps(steps);
                let expected = twin.adam(&w0, alpha, 0.1, size, &orders);
                assert!(distance(&adam.params(), &expected) < 1e-9, "adam {case}");
            }
        }
    }
}

#[test]
fn powers_survive_a_pass_longer_than_their_table() {
    let sample = Sample::<f64>::new(1200, 300, 0.01, 7);
    let w0 = start(301);
    for lambda in [0.0, 1e-3] {
        let orders = shuffles(3, 1200, 2);
        let glm = sample.glm(true, GlmLoss::Logistic, lambda);
        let mut machine = Machine::new(MomentumSum::new(1, 0.2, 0.9, 0.0).unwrap(), glm, &w0, 3);
        machine.steps(2400);
        let expected = sample.twin(Loss::Logistic, lambda).momentum(&w0, 0.2, 0.9, 0.0, 1, &orders);
        assert!(distance(&machine.params(), &expected) < 1e-10);
    }
}

#[test]
fn lazy_steps_equal_whole_vector_steps_over_long_runs() {
    let sample = Sample::<f64>::new(2000, 400, 0.02, 9);
    for (lambda, steps) in [(0.0, 100_000), (1e-6, 20_000), (1.0 / 2000.0, 100_000), (0.05, 20_000)] {
        let glm = sample.glm(true, GlmLoss::Logistic, lambda);
        let algorithm = AiSarah::new(4, 1.0 / 32.0, 0.999).unwrap();
        let w0 = start(401);
        let mut eager = Machine::new(algorithm.with_updates(Updates::Eager), glm, &w0, 21);
        let mut lazy = Machine::new(algorithm.with_updates(Updates::Lazy), glm, &w0, 21);
        let (mut last, mut worst, mut loops) = (false, 0.0f64, 0);
        while eager.run.steps < steps {
            // The whole-vector run's latest α̃, but not above 1/L: with longer given steps a change of w₀ by 1e-15 grows
            // without bound in either form, because nothing shortens the steps when v grows.
            let newton = -eager.run.slope / eager.run.curvature.abs();
            let alpha = if newton.is_finite() { newton.min(1.0 / (0.5 + lambda)) } else { 1.0 };
            let memory = &mut Memory { real: &mut eager.real, u32: &mut eager.u32, scratch: &mut [] };
            let event = eager.algorithm.replay(&glm, &mut eager.run, memory, Some(alpha), last).unwrap();
            let memory = &mut Memory { real: &mut lazy.real, u32: &mut lazy.u32, scratch: &mut [] };
            let other = lazy.algorithm.replay(&glm, &mut lazy.run, memory, Some(alpha), last).unwrap();
            assert_eq!(std::mem::discriminant(&event), std::mem::discriminant(&other));
            if let Event::FullGradient { .. } = event {
                loops += 1;
                worst = worst.max(distance(&lazy.params(), &eager.params()));
            }
            last = eager.run.norm_sq < eager.run.start_norm_sq / 32.0;
            if last || eager.run.steps.is_multiple_of(1000) {
                worst = worst.max(distance(&lazy.params(), &eager.params()));
                let lengths = (lazy.run.norm_sq.sqrt() - eager.run.norm_sq.sqrt()).abs();
                assert!(lengths < 1e-12, "λ {lambda}: {lengths:e}");
            }
        }
        assert!(loops > 1, "{lambda} {loops}");
        println!("λ {lambda}: {loops} loops, {worst:e}");
        assert!(worst < 1e-12, "λ {lambda}: {worst:e}");
    }
}

/// Rows over so many columns that a minibatch of them is summed in windows: some columns that most rows share, others that
/// hardly two rows do, and both sides of a border between windows.
fn wide_rows<T: Real>(n: usize, cols: u32, per_row: u32, seed: u64) -> (Vec<usize>, Vec<u32>, Vec<T>, Vec<u8>) {
    let mut rng = Rng::new(seed);
    let (mut ptr, mut col, mut val, mut labels) = (vec![0], vec![], vec![], vec![]);
    for _ in 0..n {
        let mut row: Vec<u32> = (0..per_row).map(|k| rng.below(if k % 2 == 0 { 2000 } else { cols })).collect();
        row.extend([65_535, 65_536, cols - 1]);
        row.sort_unstable();
        row.dedup();
        val.extend(row.iter().map(|_| T::of(rng.normal() / f64::from(per_row).sqrt())));
        col.extend(row);
        ptr.push(col.len());
        labels.push(rng.below(2) as u8);
    }
    (ptr, col, val, labels)
}

#[test]
fn steps_over_many_columns_are_those_of_whole_vectors() {
    let (n, cols, batch) = (30, 300_000, 20);
    let (ptr, col, val, labels) = wide_rows::<f64>(n, cols, 900, 31);
    let rows = Rows::csr(&ptr, &col, &val, cols as usize).unwrap();
    let glm = Glm::new(rows, Response::Labels(&labels), GlmLoss::Logistic, 0.01, true).unwrap();
    let algorithm = AiSarah::new(batch, 1.0 / 32.0, 0.999).unwrap();
    let w0 = start(cols as usize + 1);
    let mut eager = Machine::new(algorithm.with_updates(Updates::Eager), glm, &w0, 21);
    let mut lazy = Machine::new(algorithm, glm, &w0, 21);
    let mut v = vec![0.0; w0.len()];
    glm.gradient(&w0, &mut v).unwrap();
    let mut worst = 0.0f64;
    for last in [false; 40] {
        let newton = -eager.run.slope / eager.run.curvature.abs();
        let alpha = if newton.is_finite() { newton.clamp(0.01, 1.0) } else { 1.0 };
        let memory = &mut Memory { real: &mut eager.real, u32: &mut eager.u32, scratch: &mut [] };
        eager.algorithm.replay(&glm, &mut eager.run, memory, Some(alpha), last).unwrap();
        let memory = &mut Memory { real: &mut lazy.real, u32: &mut lazy.u32, scratch: &mut [] };
        lazy.algorithm.replay(&glm, &mut lazy.run, memory, Some(alpha), last).unwrap();
        for (a, b) in [(lazy.run.slope, eager.run.slope), (lazy.run.curvature, eager.run.curvature)] {
            worst = worst.max(if a == b { 0.0 } else { (a / b - 1.0).abs() });
        }
        if lazy.run.steps == 0 {
            continue;
        }
        let drawn: Vec<usize> = lazy.u32[..batch].iter().map(|&i| i as usize).collect();
        // Windows leave behind the order how much of every row they have read.
        let read: Vec<u32> = drawn.iter().map(|&i| (ptr[i + 1] - ptr[i]) as u32).collect();
        assert_eq!(lazy.u32[n..], read);
        if lazy.run.steps == 1 {
            // The textbook's figures, with v = ∇P(w₀).
            let mut hv: Vec<f64> = v.iter().map(|v| 0.01 * v).collect();
            let mut third = 0.0;
            for &i in &drawn {
                let row = || (ptr[i]..ptr[i + 1]).map(|at| (col[at] as usize, val[at])).chain([(cols as usize, 1.0)]);
                let (z, a) = row().fold((0.0, 0.0), |(z, a), (j, x)| (z + x * w0[j], a + x * v[j]));
                let p = 1.0 / (1.0 + (-z).exp());
                row().for_each(|(j, x)| hv[j] += p * (1.0 - p) * a * x / batch as f64);
                third += p * (1.0 - p) * (1.0 - 2.0 * p) * a * a * a / batch as f64;
            }
            assert!((lazy.run.slope / (-2.0 * dot(&v, &hv)) - 1.0).abs() < 1e-12);
            assert!((lazy.run.curvature / (2.0 * (dot(&hv, &hv) + third)) - 1.0).abs() < 1e-12);
        }
    }
    let apart = distance(&lazy.params(), &eager.params());
    println!("step models {worst:e}, iterates {apart:e}");
    assert!(lazy.run.steps > 30 && worst < 1e-11 && apart < 1e-13, "{worst:e} {apart:e}");
}

#[test]
fn a_refused_step_over_many_columns_takes_its_draw_back() {
    let (n, cols, batch) = (30, 300_000, 20);
    let (ptr, col, val, labels) = wide_rows::<f32>(n, cols, 900, 32);
    let rows = Rows::csr(&ptr, &col, &val, cols as usize).unwrap();
    let glm = Glm::new(rows, Response::Labels(&labels), GlmLoss::LeastSquares, 0.1, true).unwrap();
    let algorithm = BoundedAiSarah::new(batch, 100, 1e9, 1e9).unwrap();
    let mut machine = Machine::new(algorithm, glm, &vec![0.1; cols as usize + 1], 5);
    for _ in 0..100 {
        let (order, run) = (machine.u32[..n].to_vec(), machine.run.clone());
        if machine.step().is_err() {
            assert!(run.steps > 0);
            assert_eq!((&machine.u32[..n], &machine.run), (&order[..], &run));
            return;
        }
    }
    panic!("a step size of 1e9 must overflow at last");
}

#[test]
fn single_precision_follows_double() {
    let (wide, narrow) = (Sample::<f64>::new(300, 50, 0.1, 12), Sample::<f32>::new(300, 50, 0.1, 12));
    let algorithm = AiSarah::new(8, 1.0 / 32.0, 0.999).unwrap();
    for sparse in [true, false] {
        let mut a = Machine::new(algorithm, wide.glm(sparse, GlmLoss::Logistic, 0.003), &[0.0; 51], 2);
        let mut b = Machine::new(algorithm, narrow.glm(sparse, GlmLoss::Logistic, 0.003), &[0.0; 51], 2);
        a.steps(3000);
        b.steps(3000);
        let w: Vec<f64> = b.params().iter().map(|w| f64::from(*w)).collect();
        assert!(distance(&w, &a.params()) < 1e-4);
        assert!(a.norm_sq() < 1e-16 && b.norm_sq() < 1e-11, "{:e} {:e}", a.norm_sq(), b.norm_sq());
    }
}

#[test]
fn theoretical_steps_follow_the_smoothness_of_the_segment() {
    let sample = Sample::<f64>::new(40, 8, 0.5, 15);
    let w0 = start(9);
    for lambda in [0.0, 0.05] {
        let twin = sample.twin(Loss::Logistic, lambda);
        let v = twin.gradient(&twin.all(), &w0);
        let each: Vec<f64> = (0..40).map(|i| twin.smoothness(i, &w0, &v)).collect();
        let (largest, mean) = (each.iter().copied().fold(0.0, f64::max), each.iter().sum::<f64>() / 40.0);
        for (sampling, expected) in [(Sampling::Uniform, largest), (Sampling::Importance, mean)] {
            let glm = sample.glm(true, GlmLoss::Logistic, lambda);
            let mut machine = Machine::new(TheoreticalAiSarah::new(80, sampling).unwrap(), glm, &w0, 4);
            let Event::FullGradient { norm_sq } = machine.step().unwrap() else { panic!("no full gradient") };
            // The grid of the twin is 2.5·‖x‖²/20000 wide.
            assert!((machine.run.alpha_max * expected - 1.0).abs() < 2e-3, "{sampling:?}");
            machine.steps(4000);
            assert!(machine.norm_sq() < 1e-2 * norm_sq, "{sampling:?} {lambda} {:e} {norm_sq:e}", machine.norm_sq());
        }
    }
}

/// The next loop begins at one of this loop's iterates, the first of them included and the last not left out, drawn with
/// the step sizes for weights.
#[test]
fn theoretical_loops_go_on_from_an_iterate_drawn_by_its_step() {
    let sample = Sample::<f64>::new(40, 8, 0.5, 15);
    let (glm, w0, inner) = (sample.glm(true, GlmLoss::Logistic, 0.05), start(9), 5);
    let mut machine = Machine::new(TheoreticalAiSarah::new(inner, Sampling::Uniform).unwrap(), glm, &w0, 4);
    let mut rng = Rng::new(4);
    let (mut earlier, mut latest) = (0, 0);
    for _ in 0..40 {
        assert!(matches!(machine.step().unwrap(), Event::FullGradient { .. }));
        let (mut chosen, mut at, mut total) = (machine.params(), 0, machine.run.alpha_max);
        for k in 1..=inner {
            rng.below(40);
            let last = k == inner;
            // Where the loop ends the parameters are already the chosen ones.
            let before = machine.params();
            assert!(matches!(machine.step().unwrap(), Event::Step { .. }));
            total += machine.run.alpha_max;
            let takes = rng.uniform() * total < machine.run.alpha_max;
            at = if takes { k } else { at };
            if last {
                let now = machine.params();
                assert_eq!(now == chosen, !takes, "loop at {at}");
                assert!(!takes || now != before);
            } else if takes {
                chosen = machine.params();
            }
        }
        earlier += u32::from(at < inner);
        latest += u32::from(at == inner);
    }
    assert!(earlier > 10 && latest > 2, "{earlier} {latest}");
}

/// The loop is as long as a draw from 0 to `inner`, both included.
#[test]
fn bounded_loops_have_every_length() {
    let sample = Sample::<f64>::new(60, 6, 0.5, 16);
    let glm = sample.glm(true, GlmLoss::Logistic, 0.05);
    let mut machine = Machine::new(BoundedAiSarah::new(4, 3, 0.1, 0.5).unwrap(), glm, &start(7), 4);
    let mut lengths = [0; 4];
    assert!(matches!(machine.step().unwrap(), Event::FullGradient { .. }));
    for _ in 0..400 {
        let mut length = 0;
        while let Event::Step { .. } = machine.step().unwrap() {
            length += 1;
        }
        lengths[length] += 1;
    }
    // 100 of each, with five deviations of 8.7.
    assert!(lengths.iter().all(|count| (57..=143).contains(count)), "{lengths:?}");
}

/// Within a full gradient, which takes several calls, the parameters are those it is taken at.
#[test]
fn parameters_stand_still_within_a_full_gradient() {
    let sample = Sample::<f64>::new(5000, 20, 0.9, 22);
    let w0 = start(21);
    for sparse in [false, true] {
        let glm = sample.glm(sparse, GlmLoss::Logistic, 0.01);
        let mut machine = Machine::new(Sarah::new(8, 0.1, 3).unwrap(), glm, &w0, 4);
        let (mut before, mut parts) = (machine.params(), 0);
        assert_eq!(before, w0);
        while parts < 3 {
            let event = machine.step().unwrap();
            let now = machine.params();
            match event {
                Event::Step { .. } => assert_ne!(now, before),
                _ => assert_eq!(now, before, "{event:?}, sparse {sparse}"),
            }
            parts += u32::from(event == Event::Part);
            before = now;
        }
    }
}

/// A window takes down the places of 4096 values; one more and it is walked again instead.
#[test]
fn a_window_holds_as_many_places_as_it_says() {
    let cols = 300_000u32;
    let windows = [4096u32, 4097, 3, 4095];
    let (mut ptr, mut col, mut val) = (vec![0], Vec::new(), Vec::new());
    let mut rng = Rng::new(5);
    for row in 0..2 {
        for (at, count) in windows.iter().enumerate() {
            let own = if row == 0 { count / 2 } else { count - count / 2 };
            // (Every other column is one of both rows.)
            col.extend((0..own).map(|k| (at as u32) * 65_536 + 14 * k + if k % 2 == 0 { 0 } else { row }));
        }
        val.extend((val.len()..col.len()).map(|_| rng.normal() / 64.0).collect::<Vec<f64>>());
        ptr.push(col.len());
    }
    let rows = Rows::csr(&ptr, &col, &val, cols as usize).unwrap();
    let glm = Glm::new(rows, Response::Labels(&[1, 0]), GlmLoss::Logistic, 0.01, true).unwrap();
    let algorithm = AiSarah::new(2, 1.0 / 32.0, 0.999).unwrap();
    let w0 = start(cols as usize + 1);
    let mut models = [Updates::Auto, Updates::Eager].map(|updates| {
        let mut machine = Machine::new(algorithm.with_updates(updates), glm, &w0, 21);
        machine.step().unwrap();
        machine.step().unwrap();
        if updates == Updates::Auto {
            // What windows leave behind the order: how much of either row they have read.
            let mut read = machine.u32[2..].to_vec();
            read.sort_unstable();
            assert_eq!(read, [(ptr[1]) as u32, (ptr[2] - ptr[1]) as u32]);
        }
        (machine.run.slope, machine.run.curvature)
    });
    let [(slope, curvature), (of_all, curvature_of_all)] = models;
    models[0] = (slope / of_all - 1.0, curvature / curvature_of_all - 1.0);
    assert!(models[0].0.abs() < 1e-13 && models[0].1.abs() < 1e-13, "{models:?}");
}

/// In single precision, too, ‖v‖² of the lazy form is that of v, however far it has fallen within one loop.
#[test]
fn the_length_of_a_lazy_direction_is_taken_anew_as_it_falls() {
    let sample = Sample::<f32>::new(300, 30, 0.1, 23);
    let glm = sample.glm(true, GlmLoss::LeastSquares, 0.0);
    let w0: Vec<f32> = start(31).iter().map(|&w| 10.0 * w as f32).collect();
    let [mut lazy, mut eager] = [Updates::Lazy, Updates::Eager]
        .map(|updates| Machine::new(Sarah::new(2, 0.5, 1 << 30).unwrap().with_updates(updates), glm, &w0, 3));
    let mut worst = 0.0f64;
    lazy.step().unwrap();
    eager.step().unwrap();
    let first = eager.run.norm_sq;
    let mut least = first;
    while least > 1e-7 * first && eager.run.steps < 5000 {
        lazy.step().unwrap();
        eager.step().unwrap();
        worst = worst.max((lazy.run.norm_sq / eager.run.norm_sq - 1.0).abs());
        least = least.min(eager.run.norm_sq);
    }
    println!("{:e} of the first after {} steps, apart by {worst:e}", least / first, eager.run.steps);
    assert!(least <= 1e-7 * first && worst < 1e-2, "{:e} {worst:e}", least / first);
}

#[test]
fn bounded_steps_stay_in_their_bounds() {
    let sample = Sample::<f64>::new(200, 12, 0.4, 16);
    let glm = sample.glm(true, GlmLoss::Logistic, 0.005);
    let mut machine = Machine::new(BoundedAiSarah::new(8, 60, 1.0, 6.0).unwrap(), glm, &start(13), 4);
    let first = machine.norm_sq();
    let mut sizes = Vec::new();
    while machine.run.steps < 1500 {
        if let Event::Step { alpha } = machine.step().unwrap() {
            assert!((1.0..=6.0).contains(&alpha));
            sizes.push(alpha);
        }
    }
    assert!(sizes.iter().any(|a| *a > 1.0 && *a < 6.0), "the Newton step must show");
    assert!(machine.norm_sq() < 1e-6 * first);
}

/// A host's own sum: gradients alone, λ within them.
struct Own(Sum);

impl Gradients<f64> for Own {
    fn len(&self) -> usize {
        self.0.x.len()
    }

    fn dim(&self) -> usize {
        self.0.x[0].len()
    }

    fn add_slopes(
        &self,
        w: &[f64],
        which: Examples<'_>,
        scale: f64,
        out: &mut [f64],
        _: &mut [f64],
    ) -> Result<(), Error> {
        let mut rows = Vec::new();
        which.each(|i| rows.push(i));
        let mean = self.0.gradient(&rows, w);
        out.iter_mut().zip(mean).for_each(|(out, g)| *out += scale * rows.len() as f64 * g);
        Ok(())
    }
}

impl Recursion<f64> for Own {}
impl Anchored<f64> for Own {}
impl HeavyBall<f64> for Own {}

/// So many minibatches of an algorithm on a sum: the last iterate and every step size.
fn run_on(
    algorithm: &dyn FiniteSum<f64>,
    oracle: &dyn Oracle<f64>,
    w0: &[f64],
    steps: u64,
) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let need = algorithm.need(oracle)?;
    let (mut real, mut u32) = (vec![f64::NAN; need.real], vec![7; need.u32]);
    let mut scratch = vec![f64::NAN; oracle.scratch_len()];
    let memory = &mut Memory { real: &mut real, u32: &mut u32, scratch: &mut scratch };
    let mut run = algorithm.start(oracle, w0, 6, memory)?;
    let mut sizes = Vec::new();
    while run.steps < steps {
        if let Event::Step { alpha } = algorithm.step(oracle, &mut run, memory)? {
            sizes.push(alpha);
        }
    }
    let mut w = vec![0.0; w0.len()];
    algorithm.params(oracle, &run, memory.view(), &mut w)?;
    algorithm.check(oracle, &run, memory.view())?;
    Ok((w, sizes))
}

#[test]
fn every_algorithm_runs_on_a_hosts_own_sum() {
    let sample = Sample::<f64>::new(100, 10, 0.5, 17);
    let (own, glm) = (Own(sample.twin(Loss::Logistic, 0.01)), sample.glm(false, GlmLoss::Logistic, 0.01));
    let w0 = start(11);
    let follows = |name: &str, algorithm: &dyn FiniteSum<f64>, steps: u64, bound: f64| {
        let ((a, sizes), (b, exact)) =
            (run_on(algorithm, &own, &w0, steps).unwrap(), run_on(algorithm, &glm, &w0, steps).unwrap());
        assert_eq!(sizes.len(), exact.len(), "{name}");
        let worst = sizes.iter().zip(&exact).fold(0.0f64, |m, (a, b)| m.max((a / b - 1.0).abs()));
        assert!(worst < bound && distance(&a, &b) < bound, "{name}: {worst:e} {:e}", distance(&a, &b));
    };
    // Step sizes by differences of gradients.
    follows("AI-SARAH", &AiSarah::new(10, 1.0 / 32.0, 0.999).unwrap(), 60, 1e-4);
    follows("bounded", &BoundedAiSarah::new(10, 20, 1.0, 6.0).unwrap(), 60, 1e-4);
    follows("SARAH", &Sarah::new(10, 0.9, 20).unwrap(), 60, 1e-11);
    follows("SARAH+", &Sarah::plus(10, 0.9, 0.25).unwrap(), 60, 1e-11);
    follows("SVRG", &Svrg::new(10, 0.9, 20).unwrap(), 60, 1e-11);
    follows("momentum", &MomentumSum::new(8, 0.5, 0.9, 0.1).unwrap(), 60, 1e-11);
    follows("Adam", &AdamSum::new(8, 0.05, 0.1).unwrap(), 60, 1e-9);
    let theory = TheoreticalAiSarah::new(20, Sampling::Uniform).unwrap();
    assert!(matches!(run_on(&theory, &own, &w0, 5), Err(Error::Unsupported { .. })));
    assert!(matches!(own.objective(&w0, &mut []), Err(Error::Unsupported { .. })));
}

/// A form of its own is faster, not another sum: linear models give the same runs by plain vectors.
#[test]
fn plain_vectors_give_the_runs_of_lazy_ones() {
    /// The sum of a linear model without its forms.
    struct Bare<'a>(Glm<'a, f64>);
    impl Gradients<f64> for Bare<'_> {
        fn len(&self) -> usize {
            self.0.len()
        }
        fn dim(&self) -> usize {
            self.0.dim()
        }
        fn add_slopes(
            &self,
            w: &[f64],
            which: Examples<'_>,
            scale: f64,
            out: &mut [f64],
            scratch: &mut [f64],
        ) -> Result<(), Error> {
            self.0.add_slopes(w, which, scale, out, scratch)
        }
        fn lambda(&self) -> f64 {
            self.0.lambda()
        }
        fn along(
            &self,
            w: &[f64],
            v: &[f64],
            index: &[u32],
            out: [&mut [f64]; 2],
            scratch: &mut [f64],
        ) -> Result<undercurve::finite_sum::Bend, Error> {
            self.0.along(w, v, index, out, scratch)
        }
        fn smoothness(
            &self,
            w: &[f64],
            v: &[f64],
            which: std::ops::Range<usize>,
            out: &mut [f64],
        ) -> Result<(), Error> {
            self.0.smoothness(w, v, which, out)
        }
    }
    impl Recursion<f64> for Bare<'_> {}
    impl Anchored<f64> for Bare<'_> {}
    impl HeavyBall<f64> for Bare<'_> {}
    let sample = Sample::<f64>::new(120, 40, 0.1, 25);
    let w0 = start(41);
    for sparse in [false, true] {
        let glm = sample.glm(sparse, GlmLoss::Logistic, 0.01);
        let algorithms: [(&str, &dyn FiniteSum<f64>); 8] = [
            ("AI-SARAH", &AiSarah::new(6, 1.0 / 32.0, 0.999).unwrap()),
            ("bounded", &BoundedAiSarah::new(6, 20, 1.0, 6.0).unwrap()),
            ("SARAH", &Sarah::new(6, 0.9, 20).unwrap()),
            ("SVRG", &Svrg::new(6, 0.9, 20).unwrap()),
            ("momentum", &MomentumSum::new(8, 0.5, 0.9, 0.1).unwrap()),
            ("Adam", &AdamSum::new(8, 0.05, 0.1).unwrap()),
            ("uniform", &TheoreticalAiSarah::new(20, Sampling::Uniform).unwrap()),
            ("importance", &TheoreticalAiSarah::new(20, Sampling::Importance).unwrap()),
        ];
        for (name, algorithm) in algorithms {
            let (a, sizes) = run_on(algorithm, &Bare(glm), &w0, 100).unwrap();
            let (b, exact) = run_on(algorithm, &glm, &w0, 100).unwrap();
            assert_eq!(sizes.len(), exact.len(), "{name}");
            let worst = sizes.iter().zip(&exact).fold(0.0f64, |m, (a, b)| m.max((a / b - 1.0).abs()));
            assert!(worst < 1e-7 && distance(&a, &b) < 1e-9, "{name}: {worst:e} {:e}", distance(&a, &b));
        }
    }
}

/// Of a sum without curvature, too, skips in a row end the loop, and the next loop counts from none.
#[test]
fn a_sum_of_slopes_alone_is_skipped_and_opened_again() {
    /// f_i(w) = w_0 − w_1 for three examples.
    struct Slope;
    impl Gradients<f64> for Slope {
        fn len(&self) -> usize {
            3
        }
        fn dim(&self) -> usize {
            2
        }
        fn add_slopes(
            &self,
            _: &[f64],
            which: Examples<'_>,
            scale: f64,
            out: &mut [f64],
            _: &mut [f64],
        ) -> Result<(), Error> {
            which.each(|_| {
                out[0] += scale;
                out[1] -= scale;
            });
            Ok(())
        }
    }
    impl Recursion<f64> for Slope {}
    impl Anchored<f64> for Slope {}
    impl HeavyBall<f64> for Slope {}
    let algorithm = AiSarah::new(1, 1.0 / 32.0, 0.999).unwrap();
    let need = algorithm.need(&Slope).unwrap();
    let (mut real, mut u32, mut scratch) = (vec![0.0; need.real], vec![0; need.u32], [0.0; 2]);
    let memory = &mut Memory { real: &mut real, u32: &mut u32, scratch: &mut scratch };
    let mut run = algorithm.start(&Slope, &[0.5, 0.25], 1, memory).unwrap();
    for _ in 0..4 {
        assert!(matches!(algorithm.step(&Slope, &mut run, memory).unwrap(), Event::FullGradient { .. }));
        for _ in 0..3 {
            assert_eq!(algorithm.step(&Slope, &mut run, memory), Ok(Event::Skipped));
        }
    }
    let mut w = [0.0; 2];
    algorithm.params(&Slope, &run, memory.view(), &mut w).unwrap();
    assert_eq!((run.outer, run.steps, w), (4, 12, [0.5, 0.25]));
}

/// An algorithm of another crate: w ← w − α∇f_S(w), on any sum, by what is public.
#[test]
fn an_algorithm_of_another_crate_runs_on_every_sum() {
    struct Descent {
        batch: usize,
        alpha: f64,
    }
    impl FiniteSum<f64> for Descent {
        fn batch(&self) -> usize {
            self.batch
        }
        fn need(&self, oracle: &dyn Oracle<f64>) -> Result<Need, Error> {
            Ok(Need { real: 2 * oracle.dim(), u32: oracle.len() + self.batch, ..Need::NONE })
        }
        fn start(
            &self,
            oracle: &dyn Oracle<f64>,
            w0: &[f64],
            seed: u64,
            memory: &mut Memory<'_, f64>,
        ) -> Result<Run, Error> {
            Run::begin(oracle, self.need(oracle)?, w0, seed, memory)
        }
        fn step(&self, oracle: &dyn Oracle<f64>, run: &mut Run, memory: &mut Memory<'_, f64>) -> Result<Event, Error> {
            let (dim, batch) = (oracle.dim(), self.batch);
            run.on_subset(oracle.len(), memory, |run, memory| {
                let (w, grad) = memory.real.split_at_mut(dim);
                grad.fill(0.0);
                let which = Examples::Picked(&memory.u32[..batch]);
                oracle.add_slopes(w, which, 1.0 / batch as f64, grad, memory.scratch)?;
                for (w, g) in w.iter_mut().zip(grad) {
                    *w -= self.alpha * (*g + oracle.lambda() * *w);
                }
                run.count(batch, 1);
                Ok(Event::Step { alpha: self.alpha })
            })
        }
        fn params(&self, _: &dyn Oracle<f64>, _: &Run, memory: View<'_, f64>, out: &mut [f64]) -> Result<(), Error> {
            out.copy_from_slice(&memory.real[..out.len()]);
            Ok(())
        }
    }
    let sample = Sample::<f64>::new(80, 6, 0.5, 26);
    let twin = sample.twin(Loss::Logistic, 0.05);
    let (w0, algorithm) = (start(7), Descent { batch: 80, alpha: 1.0 });
    let mut expected = w0.clone();
    for _ in 0..50 {
        let g = twin.gradient(&twin.all(), &expected);
        expected.iter_mut().zip(g).for_each(|(w, g)| *w -= g);
    }
    for sparse in [false, true] {
        let (w, _) = run_on(&algorithm, &sample.glm(sparse, GlmLoss::Logistic, 0.05), &w0, 50).unwrap();
        assert!(distance(&w, &expected) < 1e-12);
    }
    assert!(distance(&run_on(&algorithm, &Own(twin), &w0, 50).unwrap().0, &expected) < 1e-12);
}

/// The gradient is the objective's, its last entry, the bias, with λ like the others; λ moves every eigenvalue by itself.
#[test]
fn the_bias_is_a_parameter_like_any_other() {
    let sample = Sample::<f64>::new(30, 4, 0.6, 24);
    let w = start(5);
    for (loss, naive) in LOSSES {
        for sparse in [false, true] {
            let glm = sample.glm(sparse, loss, 0.3);
            let mut gradient = vec![0.0; 5];
            glm.gradient(&w, &mut gradient).unwrap();
            let twin = sample.twin(naive, 0.3);
            assert!(distance(&gradient, &twin.gradient(&twin.all(), &w)) < 1e-14);
            for j in 0..5 {
                let at = |h: f64| {
                    let mut w = w.clone();
                    w[j] += h;
                    glm.objective(&w).unwrap()
                };
                let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((slope - gradient[j]).abs() < 1e-8, "{loss:?} {j}: {slope} {}", gradient[j]);
            }
            let eigenvalue = |lambda| {
                let glm = sample.glm(sparse, loss, lambda);
                let need = largest_eigenvalue_need(5, 30);
                let (mut real, mut wide) = (vec![0.0; need.real], vec![0.0; need.f64]);
                let scratch = Scratch { real: &mut real, f64: &mut wide, u32: &mut [], u64: &mut [] };
                largest_eigenvalue(&glm, Some(&w), 30, 1e-12, 1, scratch).unwrap().value
            };
            assert!((eigenvalue(0.7) - eigenvalue(0.0) - 0.7).abs() < 1e-10, "{loss:?} {sparse}");
        }
    }
}

/// A margin of 0 is no positive.
#[test]
fn accuracy_counts_margins_of_zero_as_negative() {
    let rows = Rows::dense(&[1.0, -1.0, 2.0, 0.0], 1).unwrap();
    let of = |labels: &[u8]| {
        Glm::new(rows, Response::Labels(labels), GlmLoss::Logistic, 0.0, false).unwrap().accuracy(&[2.0]).unwrap()
    };
    assert_eq!((of(&[1, 0, 1, 0]), of(&[1, 0, 1, 1]), of(&[0, 0, 0, 0])), (1.0, 0.75, 0.5));
}

/// A row longer than a call's share of the work is a call of its own.
#[test]
fn a_full_gradient_gets_past_rows_of_any_length() {
    let cols = 70_000;
    let x: Vec<f32> = (0..3 * cols).map(|k| ((k * 7919) % 101) as f32 / 1e4).collect();
    let (ptr, col) = ([0, cols, 2 * cols, 3 * cols], (0..3 * cols).map(|k| (k % cols) as u32).collect::<Vec<_>>());
    for rows in [Rows::dense(&x, cols).unwrap(), Rows::csr(&ptr, &col, &x, cols).unwrap()] {
        let glm = Glm::new(rows, Response::Labels(&[1, 0, 1]), GlmLoss::Logistic, 0.0, true).unwrap();
        let mut machine = Machine::new(Sarah::new(1, 0.1, 3).unwrap(), glm, &vec![0.0; cols + 1], 1);
        let events: Vec<bool> = (0..3).map(|_| machine.step().unwrap() == Event::Part).collect();
        assert_eq!(events, [true, true, false]);
        let (norm, mut gradient) = (machine.run.norm_sq, vec![0.0; cols + 1]);
        assert!((glm.gradient(&vec![0.0; cols + 1], &mut gradient).unwrap() / norm - 1.0).abs() < 1e-6);
    }
}

#[test]
fn saved_runs_continue_with_the_same_bits() {
    let sample = Sample::<f64>::new(90, 70, 0.05, 18);
    let glm = sample.glm(true, GlmLoss::Logistic, 0.01);
    fn check<A: FiniteSum<f64> + Copy>(algorithm: A, glm: Glm<'_, f64>) {
        let mut machine = Machine::new(algorithm, glm, &start(71), 5);
        for _ in 0..57 {
            machine.step().unwrap();
        }
        let mut copy = Machine {
            algorithm,
            glm,
            real: machine.real.clone(),
            u32: machine.u32.clone(),
            run: Run::from_words(machine.run.words()),
        };
        for _ in 0..90 {
            assert_eq!(machine.step().unwrap(), copy.step().unwrap());
        }
        assert_eq!((machine.params(), &machine.run), (copy.params(), &copy.run));
        assert_eq!(Run::from_words(machine.run.words()), machine.run);
    }
    check(AiSarah::new(2, 1.0 / 32.0, 0.999).unwrap(), glm);
    check(Sarah::new(2, 1.0, 20).unwrap(), glm);
    check(Svrg::new(2, 1.0, 20).unwrap(), glm);
    check(MomentumSum::new(2, 0.1, 0.9, 0.1).unwrap(), glm);
    check(AdamSum::new(2, 0.1, 0.1).unwrap(), glm);
    check(TheoreticalAiSarah::new(20, Sampling::Importance).unwrap(), glm);
    check(BoundedAiSarah::new(2, 20, 0.5, 2.0).unwrap(), glm);
}

#[test]
fn a_refused_step_changes_nothing() {
    let sample = Sample::<f32>::new(60, 40, 0.1, 19);
    fn check<A: FiniteSum<f32>>(algorithm: A, glm: Glm<'_, f32>) {
        let mut machine = Machine::new(algorithm, glm, &[0.1; 41], 5);
        for _ in 0..4000 {
            let (real, u32, run) = (machine.params(), machine.u32.clone(), machine.run.clone());
            if let Err(error) = machine.step() {
                assert!(matches!(error, Error::Overflow { .. }), "{error:?}");
                // Behind the order of the 60 examples lies scratch.
                assert_eq!((machine.params(), &machine.u32[..60]), (real, &u32[..60]));
                assert_eq!(machine.run.steps, run.steps);
                return;
            }
        }
        panic!("such a step size must overflow at last");
    }
    for sparse in [true, false] {
        check(Sarah::new(4, 1e9, 100).unwrap(), sample.glm(sparse, GlmLoss::LeastSquares, 0.1));
        check(Svrg::new(4, 1e9, 100).unwrap(), sample.glm(sparse, GlmLoss::LeastSquares, 0.1));
        check(MomentumSum::new(4, 9.0, 0.9, 0.0).unwrap(), sample.glm(sparse, GlmLoss::LeastSquares, 0.1));
        check(AdamSum::new(4, 1e19, 0.0).unwrap(), sample.glm(sparse, GlmLoss::LeastSquares, 0.1));
    }
}

/// Momentum keeps powers of its step; those that do not fit are refused before anything is written, and never saved.
#[test]
fn a_step_size_whose_powers_overflow_is_refused_at_the_start() {
    let sample = Sample::<f32>::new(60, 40, 0.1, 19);
    let glm = sample.glm(true, GlmLoss::Logistic, 0.1);
    let start = |alpha| {
        let algorithm = MomentumSum::new(4, alpha, 0.9, 0.0).unwrap();
        let need = algorithm.need(&glm).unwrap();
        let (mut real, mut u32) = (vec![7.0; need.real], vec![7; need.u32]);
        let run =
            algorithm.start(&glm, &[0.1; 41], 5, &mut Memory { real: &mut real, u32: &mut u32, scratch: &mut [] });
        (run.map(|_| ()), real, u32)
    };
    let (run, real, u32) = start(1e25);
    assert_eq!(run, Err(Error::Overflow { what: "step size" }));
    assert!(real.iter().all(|&x| x == 7.0) && u32.iter().all(|&x| x == 7));
    // λα near the end of what is stable, 2(1 + β).
    let (run, real, _) = start(37.9);
    assert_eq!(run, Ok(()));
    assert!(real.iter().all(|x| x.is_finite()));
}

#[test]
fn bad_arguments_are_named() {
    let sample = Sample::<f64>::new(10, 4, 0.5, 20);
    let rows = sample.rows(true);
    let labels = Response::Labels(&sample.labels);
    assert_eq!(
        Glm::new(rows, Response::Labels(&[1]), GlmLoss::Logistic, 0.0, true).unwrap_err(),
        Error::Length { what: "labels", need: 10, got: 1 }
    );
    assert_eq!(Glm::new(rows, labels, GlmLoss::Logistic, -1.0, true).unwrap_err(), Error::Param { what: "lambda" });
    assert_eq!(Glm::new(rows, labels, GlmLoss::Logistic, f64::NAN, true).unwrap_err(), Error::Param { what: "lambda" });
    assert!(matches!(Rows::csr(&[0, 1], &[7], &[1.0], 4), Err(Error::Index { what: "col", .. })));
    let glm = sample.glm(true, GlmLoss::Logistic, 0.0);
    assert_eq!(FiniteSum::need(&AiSarah::default(), &glm), Err(Error::Param { what: "batch" }));
    assert_eq!(AiSarah::new(0, 0.5, 0.9).unwrap_err(), Error::Param { what: "batch" });
    assert_eq!(AiSarah::new(1, 1.0, 0.9).unwrap_err(), Error::Param { what: "stop" });
    assert_eq!(Svrg::new(1, f64::NAN, 1).unwrap_err(), Error::Param { what: "alpha" });
    assert_eq!(BoundedAiSarah::new(1, 1, 2.0, 1.0).unwrap_err(), Error::Param { what: "alpha_max" });
    let mut memory = Memory { real: &mut [0.0], u32: &mut [], scratch: &mut [] };
    let algorithm = AiSarah::new(2, 0.5, 0.9).unwrap();
    assert!(matches!(algorithm.start(&glm, &[0.0; 5], 1, &mut memory), Err(Error::Length { what: "memory.real", .. })));
    assert!(matches!(
        algorithm.start(&glm, &[f64::NAN; 5], 1, &mut memory),
        Err(Error::NonFinite { what: "w0", at: 0 })
    ));
}

#[test]
fn memory_is_a_few_vectors() {
    let sample = Sample::<f64>::new(500, 90, 0.05, 21);
    let glm = sample.glm(true, GlmLoss::Logistic, 0.0);
    let (d, n, b) = (91, 500, 64);
    let need = FiniteSum::need(&AiSarah::default(), &glm).unwrap();
    assert_eq!((need.real, need.u32), (3 * d + 3 * b, n + b));
    let need = FiniteSum::need(&Svrg::new(b, 1.0, 1).unwrap(), &glm).unwrap();
    assert_eq!((need.real, need.u32), (4 * d + b, n + b));
    let need = FiniteSum::need(&AdamSum::new(b, 1.0, 0.0).unwrap(), &glm).unwrap();
    assert_eq!((need.real, need.u32), (4 * d, n));
}

fn load(name: &str) -> Option<Dataset<f64>> {
    let path = shared()?.join("data").join(name);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let table = RawTable::parse(&bytes, Format::Libsvm, name).unwrap();
    let options = Options { scale: Some(Scale::Unit), ..Options::default() };
    Some(Preparation::fit(&table, &options).unwrap().apply(&table).unwrap())
}

#[test]
fn smoothness_constants_are_the_published_ones() {
    for (name, expected) in
        [("a1a.svm.gz", 0.361_833), ("a9a.svm.gz", 0.362_104), ("w8a.svm.gz", 0.274_281), ("ijcnn1.svm.gz", 0.285_389)]
    {
        let Some(data) = load(name) else { return };
        let glm = Glm::new(data.rows(), Response::Labels(data.labels()), GlmLoss::Logistic, 0.0, true).unwrap();
        let need = largest_eigenvalue_need(glm.dim(), 60);
        let (mut real, mut wide) = (vec![0.0; need.real], vec![0.0; need.f64]);
        let scratch = Scratch { real: &mut real, f64: &mut wide, ..Scratch::default() };
        let found = largest_eigenvalue(&glm, None, 60, 1e-10, 1, scratch).unwrap();
        // The references have six digits: half a unit of the last one is allowed beyond the 1e-6 of the method.
        assert!(found.converged && (found.value - expected).abs() < 1e-6, "{name}: {found:?}");
    }
}

#[test]
fn untuned_runs_reach_the_figures_of_a_plain_transcription() {
    for (name, bound) in [("a1a.svm.gz", 1e-5), ("ijcnn1.svm.gz", 1e-13)] {
        let Some(data) = load(name) else { return };
        let n = data.len();
        let glm =
            Glm::new(data.rows(), Response::Labels(data.labels()), GlmLoss::Logistic, 1.0 / n as f64, true).unwrap();
        let mut machine = Machine::new(AiSarah::default(), glm, &vec![0.0; glm.dim()], 0);
        let mut least = f64::INFINITY;
        for pass in 1..=20 {
            while machine.run.samples < pass * n as u64 {
                machine.step().unwrap();
            }
            least = least.min(machine.norm_sq());
        }
        assert!(least < bound, "{name}: {least:e}");
        println!("{name}: {least:e}");
    }
}
