//! The stagewise algorithms step by step against their boxes, over several stages; what they ask for; what errors leave.

use undercurve::algorithm::{
    Adagrad, Adam, AdamForm, AdamSettings, Algorithm, Answer, AnyAlgorithm, Ask, COUNTERS, Oauc, Pesg, Pga, Point,
    PpdAdagrad, PpdSg, Schedule, Sgd, StageLength, Stages, State,
};
use undercurve::{Error, Real};
use undercurve_tests::algorithms as naive;

const START: [f64; 4] = [0.3, -0.2, 0.05, 0.1];

/// A gradient that depends on the place and the step, and is nobody's in particular.
fn grad(u: &[f64], t: usize) -> Vec<f64> {
    let noise = |i: usize| ((t * 37 + i * 11) % 17) as f64 / 17.0 - 0.5;
    let sum: f64 = u.iter().sum();
    (0..u.len()).map(|i| 0.8 * u[i] - 0.3 * sum + (u[i] * 2.0).sin() + noise(i)).collect()
}

fn dual(stage: usize) -> f64 {
    -0.4 + 0.1 * stage as f64
}

/// Points, slots and counters of an algorithm.
struct Memory<T> {
    points: Vec<T>,
    slots: Vec<T>,
    counters: [u64; COUNTERS],
    len: usize,
}

impl<T: Real> Memory<T> {
    fn new(algorithm: &AnyAlgorithm, start: &[T]) -> Self {
        let points = Algorithm::<T>::points(algorithm);
        let slots = vec![T::ZERO; Algorithm::<T>::slots_len(algorithm, start.len())];
        Self { points: start.repeat(points), slots, counters: [0; COUNTERS], len: start.len() }
    }
    fn state(&mut self) -> State<'_, T> {
        State { points: &mut self.points, slots: &mut self.slots, counters: &mut self.counters }
    }
    fn point(&self, Point(k): Point) -> &[T] {
        &self.points[usize::from(k) * self.len..][..self.len]
    }
}

/// Runs `steps` gradient steps; returns every iterate, and what was at the asked point at every report.
fn run(
    algorithm: &AnyAlgorithm,
    steps: usize,
    ascent: usize,
    memory: &mut Memory<f64>,
) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let (mut iterates, mut reports, mut resets) = (Vec::new(), Vec::new(), Vec::new());
    while iterates.len() < steps {
        match algorithm.next(&memory.state()) {
            Ask::Evaluate { at, .. } => {
                assert_eq!(at, Point(0));
                let mut g = grad(memory.point(at), iterates.len());
                let len = g.len();
                g[len - ascent..].iter_mut().for_each(|g| *g = -*g);
                algorithm.tell(&mut memory.state(), Answer::Gradient { value: 0.0, grad: &g }).unwrap();
                iterates.push(memory.point(Point(0)).to_vec());
            }
            Ask::ClassMeans { at, batches, .. } => {
                assert_eq!(at, Point(1));
                let value = dual(resets.len());
                resets.push(batches);
                let answer = Answer::ClassMeans { positive: Some(0.5), negative: Some(0.5 + value) };
                algorithm.tell(&mut memory.state(), answer).unwrap();
            }
            Ask::Report { at } => {
                reports.push(memory.point(at).to_vec());
                algorithm.tell(&mut memory.state(), Answer::Continue).unwrap();
            }
            other => panic!("asked for {other:?}"),
        }
    }
    (iterates, reports)
}

fn same(what: &str, got: &[Vec<f64>], want: &[Vec<f64>], least: usize) {
    assert!(got.len() >= least && want.len() >= least, "{what}: {} and {}", got.len(), want.len());
    for (t, (got, want)) in got.iter().zip(want).enumerate() {
        for (k, (a, b)) in got.iter().zip(want).enumerate() {
            assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{what}, step {t}, entry {k}: {a} is not {b}");
        }
    }
}

#[test]
fn ppd_sg_takes_the_steps_of_its_box() {
    for (resets, prox, decay) in [(2.0, 5.0, 0.0), (0.0, f64::INFINITY, 0.01)] {
        let stages = Stages::practice(0.09, 5.0, resets).unwrap();
        let algorithm = AnyAlgorithm::PpdSg(PpdSg::new(stages, prox, decay, 1).unwrap());
        let steps = 4 + 14 + 44 + 1;
        let (iterates, reports) = run(&algorithm, steps, 1, &mut Memory::new(&algorithm, &START));
        let reset = |k| (resets > 0.0).then(|| dual(k));
        let plan = [(0.09, 5), (0.03, 15), (0.01, 45), (0.01 / 3.0, 135)];
        let (want, means) = naive::ppd_sg(&START, &plan, prox, decay, &reset, &grad);
        same("iterates", &iterates, &want, steps);
        same("stages", &reports, &means, 3);
    }
}

#[test]
fn ppd_adagrad_takes_the_steps_of_its_box() {
    let stages = Stages::practice(0.3, 6.0, 1.0).unwrap();
    let algorithm = AnyAlgorithm::PpdAdagrad(PpdAdagrad::new(stages, 8.0, 0.1, StageLength::Fixed, 1).unwrap());
    let steps = 5 + 17 + 53 + 1;
    let (iterates, reports) = run(&algorithm, steps, 1, &mut Memory::new(&algorithm, &START));
    let plan = [(0.3, 6), (0.1, 18), (0.1 / 3.0, 54), (0.1 / 9.0, 162)];
    let (want, means) = naive::ppd_adagrad(&START, &plan, 8.0, 0.1, &|k| Some(dual(k)), &grad);
    same("iterates", &iterates, &want, steps);
    same("stages", &reports, &means, 3);
}

#[test]
fn ppd_adagrad_ends_stages_where_lemma_3_says() {
    // The same stages both ways: theorem 3's M_k is c times the length.
    ends_stages_where_lemma_3_says(1.5, StageLength::Data { l_tilde: 0.6 });
    ends_stages_where_lemma_3_says(3.0, StageLength::Theory { l_tilde: 0.6 });
}

fn ends_stages_where_lemma_3_says(first_length: f64, length: StageLength) {
    let (delta, l_tilde): (f64, f64) = (0.05, 0.6);
    let stages = Stages::new(0.3, 0.5, first_length, 1.3, 0.0).unwrap();
    let algorithm = AnyAlgorithm::PpdAdagrad(PpdAdagrad::new(stages, 8.0, delta, length, 1).unwrap());
    let mut memory = Memory::new(&algorithm, &START);
    let (mut seen, mut ends): (Vec<Vec<f64>>, _) = (Vec::new(), 0);
    let mut anchor = START.to_vec();
    let mut step = 0;
    while ends < 3 {
        match algorithm.next(&memory.state()) {
            Ask::Evaluate { at, .. } => {
                let mut g = grad(memory.point(at), step);
                g[3] = -g[3];
                let mut pulled = g.clone();
                for i in 0..3 {
                    pulled[i] += (memory.point(at)[i] - anchor[i]) / 8.0;
                }
                seen.push(pulled);
                algorithm.tell(&mut memory.state(), Answer::Gradient { value: 0.0, grad: &g }).unwrap();
                step += 1;
                let s: Vec<f64> = (0..4).map(|i| seen.iter().map(|g| g[i] * g[i]).sum::<f64>().sqrt()).collect();
                let (largest, sum) = (s.iter().fold(0.0f64, |a, &b| a.max(b)), s.iter().sum::<f64>());
                let c = 0.5; // 1/√4
                let first = (delta + largest) * (8.0 * l_tilde * l_tilde).max(1.0) / c;
                let second = 2.0 * c * (sum + 4.0 * (delta + largest));
                let bound = 1.5 * 1.3f64.powi(ends) * first.max(second);
                let over = (seen.len() + 1) as f64 >= bound;
                let ended = matches!(algorithm.next(&memory.state()), Ask::Report { .. });
                assert_eq!(ended, over, "stage {ends} after {} steps, bound {bound}", seen.len());
            }
            Ask::Report { at } => {
                anchor = memory.point(at).to_vec();
                algorithm.tell(&mut memory.state(), Answer::Continue).unwrap();
                assert!(seen.len() > 2);
                seen.clear();
                ends += 1;
            }
            other => panic!("asked for {other:?}"),
        }
    }
}

#[test]
fn pga_takes_the_steps_of_its_box() {
    for radii in [[1e9, 1e9], [0.3, 0.12]] {
        let algorithm = AnyAlgorithm::Pga(Pga::new(0.2, 4.0, 3.0, radii[0], radii[1], 1, 7).unwrap());
        let steps = 4 + 16 + 36 + 1;
        let mut memory = Memory::new(&algorithm, &START);
        let (iterates, reports) = run(&algorithm, steps, 1, &mut memory);
        let (want, means) = naive::pga(&START, 0.2, 4, 4, 3.0, radii, &grad);
        same("iterates", &iterates, &want, steps);
        same("stages", &reports, &means, 3);
        assert!(reports.iter().any(|mean| mean == memory.point(Point(2))), "the returned stage is none of those done");
    }
    // Over seeds each of three stages is returned about equally often: 300 ± 5 deviations of 14.
    let mut picked = [0; 3];
    for seed in 0..900 {
        let algorithm = AnyAlgorithm::Pga(Pga::new(0.2, 1.0, 3.0, 1e9, 1e9, 1, seed).unwrap());
        let mut memory = Memory::new(&algorithm, &START);
        let (_, reports) = run(&algorithm, 15, 1, &mut memory);
        picked[reports.iter().position(|mean| mean == memory.point(Point(2))).unwrap()] += 1;
    }
    assert!(picked.iter().all(|&n| (230..=370).contains(&n)), "{picked:?}");
}

#[test]
fn oauc_takes_the_steps_of_its_box() {
    for radius in [1e9, 0.25] {
        let algorithm = AnyAlgorithm::Oauc(Oauc::new(0.2, radius, 1).unwrap());
        let mut memory = Memory::new(&algorithm, &START);
        let (want, means) = naive::oauc(&START, 0.2, 60, radius, &grad);
        let (iterates, _) = run(&algorithm, 60, 1, &mut memory);
        same("iterates", &iterates, &want, 60);
        same("mean", &[memory.point(Point(1)).to_vec()], &means[59..], 1);
    }
}

#[test]
fn pesg_takes_the_steps_of_its_box() {
    let start = [0.3, 0.6, 0.5, 0.0];
    let stages = Stages::new(0.2, 0.1, 12.0, 1.0, 0.0).unwrap();
    let algorithm = AnyAlgorithm::Pesg(Pesg::new(stages, 0.4, 0.02, 1).unwrap());
    let (iterates, _) = run(&algorithm, 40, 1, &mut Memory::new(&algorithm, &start));
    let want = naive::pesg(&start, &[(0.2, 12), (0.02, 12), (0.002, 12), (0.0002, 12)], 0.4, 0.02, &grad);
    same("iterates", &iterates, &want, 40);
    assert!(iterates.iter().any(|u| u[3] == 0.0), "the projection was never at work");
}

#[test]
fn adagrad_and_amsgrad_follow_their_equations() {
    let rate = Schedule::constant(0.3);
    let adagrad = AnyAlgorithm::Adagrad(Adagrad::new(rate, 1e-3, 0.1).unwrap());
    let amsgrad = AnyAlgorithm::Adam(
        Adam::new(AdamSettings { lr: rate, beta1: 0.8, beta2: 0.9, eps: 1e-3, decay: 0.1, form: AdamForm::AmsGrad })
            .unwrap(),
    );
    let (got, _) = run(&adagrad, 50, 0, &mut Memory::new(&adagrad, &START));
    let (got_ams, _) = run(&amsgrad, 50, 0, &mut Memory::new(&amsgrad, &START));
    let (mut w, mut v) = (START.to_vec(), [0.0; 4]);
    let (mut x, mut h, mut top) = (START.to_vec(), [0.0; 4], [0.0f64; 4]);
    let (mut want, mut want_ams) = (Vec::new(), Vec::new());
    let mut fell = false;
    for t in 0..50 {
        let (g, g_ams) = (grad(&w, t), grad(&x, t));
        for i in 0..4 {
            let g = g[i] + 0.1 * w[i];
            v[i] += g * g;
            w[i] -= 0.3 * g / (v[i].sqrt() + 1e-3);
            let g = g_ams[i] + 0.1 * x[i];
            h[i] = 0.8 * h[i] + 0.2 * g;
            let new = 0.9 * top[i] + 0.1 * g * g;
            fell |= new < top[i];
            top[i] = top[i].max(new);
            x[i] -= 0.3 * h[i] / (1e-3 + top[i]).sqrt();
        }
        want.push(w.clone());
        want_ams.push(x.clone());
    }
    assert!(fell, "the maximum was never at work");
    same("adagrad", &got, &want, 50);
    same("amsgrad", &got_ams, &want_ams, 50);
}

#[test]
fn schedules_follow_the_theorems() {
    let (mu, l, l_tilde, eta): (f64, f64, f64, f64) = (0.5, 2.0, 1.5, 0.01);
    let q = ((mu / l) / (5.0 + mu / l)).exp();
    let stages = Stages::theory(eta, mu, l, l_tilde, 3.0).unwrap();
    for k in 0..60 {
        let power = q.powi(k as i32);
        assert!((stages.lr(k) - eta / power).abs() < 1e-14);
        let length = (16.0 * l_tilde * l_tilde).max(2.0) / (l * eta) * power;
        assert!((stages.length(k) - length).abs() < 1e-9 * length && stages.steps(k) == length.ceil() as u64);
        assert_eq!(stages.reset(k), (3.0 * power).ceil() as u64);
    }
    let stages = Stages::theory_adagrad(eta, mu, l, 1.0).unwrap();
    let root = q.sqrt();
    assert!((stages.lr(7) - eta / root.powi(7)).abs() < 1e-14);
    assert!((stages.length(7) - 4.0 / (l * eta) * root.powi(7)).abs() < 1e-9);
    let practice = Stages::practice(0.1, 200.0, 1.0).unwrap();
    assert_eq!([0, 1, 2, 9].map(|k| practice.steps(k)), [200, 600, 1800, 200 * 19683]);
    assert_eq!([0, 1, 2, 9].map(|k| practice.reset(k)), [1, 3, 9, 19683]);
    // 1000·1.1² in floating point is a little above the 1210 it stands for.
    let tenth = Stages::new(0.1, 0.5, 1000.0, 1.1, 10.0).unwrap();
    assert_eq!(([0, 1, 2].map(|k| tenth.steps(k)), tenth.reset(2)), ([1000, 1100, 1210], 13));
    assert_eq!(Stages::new(0.1, 1.5, 2.0, 3.0, 0.0), Err(Error::Param { what: "lr-factor" }));
    assert_eq!(Stages::new(0.1, 0.5, 0.0, 3.0, 0.0), Err(Error::Param { what: "stage" }));
}

fn every_algorithm() -> Vec<AnyAlgorithm> {
    let stages = Stages::practice(1e200, 2.0, 1.0).unwrap();
    vec![
        AnyAlgorithm::PpdSg(PpdSg::new(stages, 10.0, 0.0, 1).unwrap()),
        AnyAlgorithm::PpdAdagrad(PpdAdagrad::new(stages, 10.0, 1e-300, StageLength::Fixed, 1).unwrap()),
        AnyAlgorithm::Pga(Pga::new(1e200, 2.0, 10.0, f64::INFINITY, f64::INFINITY, 1, 0).unwrap()),
        AnyAlgorithm::Oauc(Oauc::new(1e200, f64::INFINITY, 1).unwrap()),
        AnyAlgorithm::Pesg(Pesg::new(stages, 0.1, 0.0, 1).unwrap()),
        AnyAlgorithm::Adagrad(Adagrad::new(Schedule::constant(1e200), 1e-300, 0.0).unwrap()),
    ]
}

#[test]
fn an_error_changes_nothing() {
    for algorithm in every_algorithm() {
        let mut memory = Memory::new(&algorithm, &START);
        let fresh = (memory.points.clone(), memory.slots.clone());
        let mut refuse = |answer: Answer<'_, f64>| {
            let error = algorithm.tell(&mut memory.state(), answer).unwrap_err();
            assert_eq!(
                (&memory.points, &memory.slots, memory.counters),
                (&fresh.0, &fresh.1, [0; COUNTERS]),
                "{algorithm:?}"
            );
            error
        };
        let nan = [0.0, 0.0, f64::NAN, 0.0];
        assert_eq!(refuse(Answer::Gradient { value: 0.0, grad: &nan }), Error::NonFinite { what: "grad", at: 2 });
        assert_eq!(
            refuse(Answer::Gradient { value: 0.0, grad: &[1.0] }),
            Error::Length { what: "grad", need: 4, got: 1 }
        );
        assert_eq!(refuse(Answer::Continue), Error::Param { what: "answer" });
        // Squares overflow in AdaGrad, steps in the others.
        assert_eq!(refuse(Answer::Gradient { value: 0.0, grad: &[1e300; 4] }), Error::Overflow { what: "params" });
    }
}

/// Where a reset's batches had one class only, the dual variable keeps the mean of its iterates.
#[test]
fn a_reset_without_one_class_keeps_the_mean() {
    let stages = Stages::practice(0.1, 4.0, 1.0).unwrap();
    let algorithm = AnyAlgorithm::PpdSg(PpdSg::new(stages, 10.0, 0.0, 1).unwrap());
    let mut memory = Memory::new(&algorithm, &START);
    for t in 0..3 {
        let g = grad(memory.point(Point(0)), t);
        algorithm.tell(&mut memory.state(), Answer::Gradient { value: 0.0, grad: &g }).unwrap();
    }
    assert!(matches!(algorithm.next(&memory.state()), Ask::ClassMeans { batches: 1, .. }));
    let before = memory.point(Point(1)).to_vec();
    algorithm.tell(&mut memory.state(), Answer::ClassMeans { positive: None, negative: Some(0.3) }).unwrap();
    assert_eq!(memory.point(Point(1)), before);
    let huge = Answer::ClassMeans { positive: Some(f64::MAX), negative: Some(-f64::MAX) };
    memory.counters[3] = 2;
    assert_eq!(algorithm.tell(&mut memory.state(), huge), Err(Error::Overflow { what: "class means" }));
    assert_eq!(memory.point(Point(1)), before);
}

/// Counters that no run comes to, as a forged state may hold them, end nothing.
#[test]
fn counters_stay_at_their_end() {
    let schedule = Schedule::constant(0.1);
    let stages = Stages::practice(1.0, 10.0, 2.0).unwrap();
    for algorithm in [
        AnyAlgorithm::Sgd(Sgd::new(schedule, 0.0).unwrap()),
        AnyAlgorithm::Adam(Adam::default()),
        AnyAlgorithm::PpdSg(PpdSg::new(stages, 1000.0, 0.0, 1).unwrap()),
    ] {
        let mut memory = Memory::<f64>::new(&algorithm, &[0.5, -0.5, 0.1]);
        memory.counters = [u64::MAX; COUNTERS];
        let _ = algorithm.next(&memory.state());
        let _ = algorithm.tell(&mut memory.state(), Answer::Gradient { value: 0.0, grad: &[0.1, 0.2, 0.3] });
        assert!(memory.points.iter().all(|x| x.is_finite()), "{algorithm:?}");
        assert_eq!(memory.counters[0], u64::MAX, "{algorithm:?}");
    }
}
