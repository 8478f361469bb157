//! L-BFGS against its textbook form, on valleys, kinks and awkward inputs.

use undercurve::algorithm::{Algorithm, Answer, Ask, COUNTERS, Lbfgs, State};
use undercurve_tests::model as twin;

struct Run {
    algorithm: Lbfgs,
    points: Vec<f64>,
    slots: Vec<f64>,
    counters: [u64; COUNTERS],
}

impl Run {
    fn new(memory: usize, tolerance: f64, start: &[f64]) -> Self {
        Self::of(Lbfgs::new(memory, tolerance, 0.0).unwrap(), start)
    }
    fn of(algorithm: Lbfgs, start: &[f64]) -> Self {
        let slots = vec![0.0; Algorithm::<f64>::slots_len(&algorithm, start.len())];
        Self { algorithm, points: [start, start].concat(), slots, counters: [0; COUNTERS] }
    }
    fn iterate(&self) -> &[f64] {
        &self.points[self.points.len() / 2..]
    }
    /// One evaluation; false when there is nothing more to do.
    fn tell(&mut self, f: &impl Fn(&[f64]) -> (f64, Vec<f64>)) -> bool {
        let (value, grad) = f(&self.points[..self.points.len() / 2]);
        let mut state = State { points: &mut self.points, slots: &mut self.slots, counters: &mut self.counters };
        if self.algorithm.next(&state) == Ask::Done {
            return false;
        }
        self.algorithm.tell(&mut state, Answer::Gradient { value, grad: &grad }).unwrap();
        true
    }
}

fn rosenbrock(x: &[f64]) -> (f64, Vec<f64>) {
    let mut g = vec![0.0; x.len()];
    let mut value = 0.0;
    for k in 0..x.len() - 1 {
        let (a, b) = (1.0 - x[k], x[k + 1] - x[k] * x[k]);
        value += a * a + 100.0 * b * b;
        g[k] += -2.0 * a - 400.0 * b * x[k];
        g[k + 1] += 200.0 * b;
    }
    (value, g)
}

#[test]
fn equals_the_textbook_step_by_step() {
    let start = [-1.2, 1.0, 0.7, -0.3, 1.4];
    for memory in [1, 3, 10] {
        let mut run = Run::new(memory, 0.0, &start);
        let twin = twin::Lbfgs { f: rosenbrock, memory, x: start.to_vec(), pairs: vec![], metric: None };
        same(&mut run, twin, &format!("memory {memory}"));
        // A metric, whose last coordinate has no decay.
        let curvature =
            |i: usize, j: usize| 60.0 / (1.0 + i.abs_diff(j) as f64) + if i == j { (i * i) as f64 } else { 0.0 };
        let decayed = |x: &[f64]| {
            let (value, mut grad) = rosenbrock(x);
            grad[..4].iter_mut().zip(x).for_each(|(g, x)| *g += 0.3 * x);
            (value + 0.15 * x[..4].iter().map(|x| x * x).sum::<f64>(), grad)
        };
        let matrix = |i: usize| (0..5).map(|j| curvature(i, j) + if i == j && i < 4 { 0.3 } else { 0.0 }).collect();
        let metric = Some((0..5).map(matrix).collect());
        let mut run = Run::of(Lbfgs::new(memory, 0.0, 0.3).unwrap().sparing(1).with_metric(), &start);
        let lower = (0..5).flat_map(|i| (0..=i).map(move |j| curvature(i, j))).collect::<Vec<f64>>();
        run.algorithm.take_curvature(&mut run.slots, 5, |to| to.copy_from_slice(&lower));
        same(&mut run, twin::Lbfgs { f: decayed, memory, x: start.to_vec(), pairs: vec![], metric }, "metric");
    }
}

fn same<F: Fn(&[f64]) -> (f64, Vec<f64>)>(run: &mut Run, mut twin: twin::Lbfgs<F>, what: &str) {
    assert!(run.tell(&rosenbrock));
    for step in 0..25 {
        for _ in 0..twin.step() {
            assert!(run.tell(&rosenbrock));
        }
        for (a, b) in run.iterate().iter().zip(&twin.x) {
            assert!((a - b).abs() < 1e-7 * (1.0 + b.abs()), "{what}, step {step}: {a} is not {b}");
        }
    }
}

/// Columns that are one another's multiples, one without curvature, none that was given, and one beyond all numbers: the bottom all the same.
#[test]
fn a_metric_may_be_of_columns_that_say_the_same() {
    let f = |x: &[f64]| {
        let r = [x[0] + 2.0 * x[1] - 3.0, 100.0 * x[2] + 1.0];
        (0.5 * (r[0] * r[0] + r[1] * r[1]), vec![r[0], 2.0 * r[0], 100.0 * r[1], 0.0])
    };
    let given = [1.0, 2.0, 4.0, 0.0, 0.0, 1e4, 0.0, 0.0, 0.0, 0.0];
    for (curvature, most) in [(&given[..], 10), (&[0.0; 10], 40), (&[f64::INFINITY; 10], 40)] {
        let mut run = Run::of(Lbfgs::new(5, 1e-12, 0.0).unwrap().with_metric(), &[0.0; 4]);
        run.algorithm.take_curvature(&mut run.slots, 4, |to| to.copy_from_slice(curvature));
        let evaluations = (0..500).take_while(|_| run.tell(&f)).count();
        assert!(evaluations <= most && f(run.iterate()).0 < 1e-18, "{evaluations}, {:?}", run.iterate());
    }
}

#[test]
fn reaches_the_bottom_of_a_valley_and_says_so() {
    // (From −1.2 the six-dimensional valley ends in its other minimum.)
    let mut run = Run::new(10, 1e-10, &[0.3, 1.2, 0.7, -0.3, 1.4, 0.0]);
    let evaluations = (0..500).take_while(|_| run.tell(&rosenbrock)).count();
    assert!(evaluations < 150, "{evaluations} evaluations");
    assert!(run.iterate().iter().all(|x| (x - 1.0).abs() < 1e-7), "{:?}", run.iterate());
}

/// Weight decay is the same as the penalty inside the objective, point by point.
#[test]
fn decay_is_a_part_of_the_objective() {
    let (start, decay) = ([-1.2, 1.0, 0.7], 0.3);
    let penalised = |x: &[f64]| {
        let (value, mut grad) = rosenbrock(x);
        grad.iter_mut().zip(x).for_each(|(g, x)| *g += decay * x);
        (value + 0.5 * decay * x.iter().map(|x| x * x).sum::<f64>(), grad)
    };
    let (mut inside, mut outside) = (Run::new(5, 1e-9, &start), Run::new(5, 1e-9, &start));
    inside.algorithm = Lbfgs::new(5, 1e-9, decay).unwrap();
    for evaluation in 0..500 {
        let more = inside.tell(&rosenbrock);
        assert_eq!(more, outside.tell(&penalised), "evaluation {evaluation}");
        for (a, b) in inside.iterate().iter().zip(outside.iterate()) {
            assert!((a - b).abs() < 1e-9, "evaluation {evaluation}: {a} is not {b}");
        }
        if !more {
            return;
        }
    }
    panic!("no end");
}

/// |x| + 10|y|: no gradient at the bottom. It must end on its own, near the bottom.
#[test]
fn ends_on_kinks() {
    let f = |x: &[f64]| (x[0].abs() + 10.0 * x[1].abs(), vec![x[0].signum(), 10.0 * x[1].signum()]);
    let mut run = Run::new(10, 1e-9, &[3.7, -1.3]);
    let evaluations = (0..20_000).take_while(|_| run.tell(&f)).count();
    assert!(evaluations < 20_000);
    assert!(f(run.iterate()).0 < 1e-6, "{:?}", run.iterate());
}

/// A value that is infinite on trial points is stepped back from.
#[test]
fn survives_infinite_trials() {
    let f = |x: &[f64]| {
        if x[0] > 0.5 { (f64::INFINITY, vec![0.0]) } else { ((x[0] - 0.49).powi(2), vec![2.0 * (x[0] - 0.49)]) }
    };
    let mut run = Run::new(5, 1e-12, &[-40.0]);
    assert!((0..500).take_while(|_| run.tell(&f)).count() < 500);
    assert!((run.iterate()[0] - 0.49).abs() < 1e-6, "{:?}", run.iterate());
}

#[test]
fn already_at_the_bottom() {
    let mut run = Run::new(3, 1e-6, &[1.0, 1.0]);
    assert!(run.tell(&rosenbrock));
    assert!(!run.tell(&rosenbrock));
    assert_eq!(run.iterate(), [1.0, 1.0]);
    for (memory, tolerance, decay) in
        [(0, 0.1, 0.0), (101, 0.1, 0.0), (5, 1.0, 0.0), (5, 0.1, -1.0), (5, 0.1, f64::NAN)]
    {
        assert!(Lbfgs::new(memory, tolerance, decay).is_err(), "{memory} {tolerance} {decay}");
    }
}
