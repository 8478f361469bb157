//! Step rules against plain transcriptions, and their promise that an error changes nothing.

use proptest::prelude::*;
use undercurve::Error;
use undercurve::algorithm::{
    Adam, AdamForm, AdamSettings, Algorithm, Answer, AnyAlgorithm, Ask, COUNTERS, Draw, Momentum, Point, Schedule,
    ScheduleShape, Sgd, State,
};
use undercurve_tests::model as twin;

struct Memory {
    points: Vec<f64>,
    slots: Vec<f64>,
    counters: [u64; COUNTERS],
}

impl Memory {
    fn new(algorithm: &AnyAlgorithm, start: &[f64]) -> Self {
        let slots = vec![0.0; Algorithm::<f64>::slots_len(algorithm, start.len())];
        Self { points: start.to_vec(), slots, counters: [0; COUNTERS] }
    }
    fn tell(&mut self, algorithm: &AnyAlgorithm, grad: &[f64]) -> Result<(), Error> {
        let mut state = State { points: &mut self.points, slots: &mut self.slots, counters: &mut self.counters };
        assert_eq!(algorithm.next(&state), Ask::gradient(Point(0), Draw::Fresh { sampler: 0 }));
        algorithm.tell(&mut state, Answer::Gradient { value: 0.0, grad })
    }
}

/// The rate of each shape at step t of total, written from its definition.
fn rate(lr: f64, shape: ScheduleShape, t: u64, total: u64) -> f64 {
    let done = t.min(total - 1) as f64 / total as f64;
    match shape {
        ScheduleShape::Linear => lr * (1.0 - done),
        ScheduleShape::Cosine => lr * 0.5 * (1.0 + (std::f64::consts::PI * done).cos()),
        ScheduleShape::Steps if done < 0.5 => lr,
        ScheduleShape::Steps if done < 0.75 => lr / 10.0,
        ScheduleShape::Steps => lr / 100.0,
        _ => lr,
    }
}

proptest! {
    #[test]
    fn rules_equal_their_transcriptions(
        start in prop::collection::vec(-2.0..2.0f64, 1..9),
        lr in 0.001..0.5f64,
        beta1 in 0.0..0.99f64,
        beta2 in 0.5..0.9999f64,
        eps in prop_oneof![Just(1e-8), 1e-6..0.1f64],
        decay in prop_oneof![Just(0.0), 0.0..0.1f64],
        shape in prop_oneof![
            Just(ScheduleShape::Constant), Just(ScheduleShape::Linear), Just(ScheduleShape::Cosine), Just(ScheduleShape::Steps)
        ],
        noise in prop::collection::vec(-1.0..1.0f64, 30 * 9),
    ) {
        let schedule = Schedule::new(lr, shape, 24); // the rates change at half and at three quarters of it, whole steps
        let adam = |form| AnyAlgorithm::Adam(Adam::new(AdamSettings { lr: schedule, beta1, beta2, eps, decay, form }).unwrap());
        let momentum = AnyAlgorithm::Momentum(Momentum::new(schedule, beta1, decay).unwrap());
        let all = [AnyAlgorithm::Sgd(Sgd::new(schedule, decay).unwrap()), momentum, adam(AdamForm::Corrected), adam(AdamForm::Plain)];
        for (which, algorithm) in all.iter().enumerate() {
            let mut memory = Memory::new(algorithm, &start);
            let (mut w, mut v) = (start.clone(), vec![0.0; start.len()]);
            let zero = vec![0.0; start.len()];
            let mut adam = twin::Adam { beta1, beta2, eps, decay, plain: which == 3, m: zero.clone(), v: zero, t: 0 };
            for t in 0..30u64 {
                // A gradient that depends on where we are, so that an error would grow.
                let g: Vec<f64> = (0..w.len()).map(|k| w[k].sin() + noise[t as usize * 9 + k]).collect();
                let got: Vec<f64> = (0..w.len()).map(|k| memory.points[k].sin() + noise[t as usize * 9 + k]).collect();
                memory.tell(algorithm, &got).unwrap();
                let lr = rate(lr, shape, t, 24);
                match which {
                    0 => (0..w.len()).for_each(|k| w[k] -= lr * (g[k] + decay * w[k])),
                    1 => (0..w.len()).for_each(|k| {
                        v[k] = beta1 * v[k] + (1.0 - beta1) * (g[k] + decay * w[k]);
                        w[k] -= lr * v[k];
                    }),
                    _ => adam.step(lr, &mut w, &g),
                }
                for (a, b) in memory.points.iter().zip(&w) {
                    prop_assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "rule {which}, step {t}: {a} is not {b}");
                }
            }
        }
    }
}

#[test]
fn an_error_changes_nothing() {
    let schedule = Schedule::constant(1e308);
    for algorithm in [
        AnyAlgorithm::Sgd(Sgd::new(schedule, 0.0).unwrap()),
        AnyAlgorithm::Momentum(Momentum::new(schedule, 0.5, 0.0).unwrap()),
        AnyAlgorithm::Adam(Adam::new(AdamSettings { lr: schedule, ..AdamSettings::default() }).unwrap()),
    ] {
        let mut memory = Memory::new(&algorithm, &[1.0, 2.0]);
        assert_eq!(memory.tell(&algorithm, &[1.0, f64::NAN]), Err(Error::NonFinite { what: "grad", at: 1 }));
        assert_eq!(memory.tell(&algorithm, &[1.0]), Err(Error::Length { what: "grad", need: 2, got: 1 }));
        assert_eq!(memory.tell(&algorithm, &[0.0, 1e200]), Err(Error::Overflow { what: "params" }));
        assert_eq!(memory.points, [1.0, 2.0]);
        assert!(memory.slots.iter().all(|&m| m == 0.0) && memory.counters == [0; COUNTERS]);
    }
    assert!(Sgd::new(Schedule::constant(-1.0), 0.0).is_err());
    assert!(Momentum::new(Schedule::constant(1.0), 1.0, 0.0).is_err());
    assert!(Adam::new(AdamSettings { eps: 0.0, ..AdamSettings::default() }).is_err());
}
