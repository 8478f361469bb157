//! Sums with the tables of a plan against those that make their own.

use std::sync::Arc;
use undercurve::batch::{Batch, Drawn};
use undercurve::data::Dataset;
use undercurve::estimator::{Estimator, Exact, Grad, Link};
use undercurve::pairs::{self, Grade, Plan, Way};
use undercurve::rng::Rng;
use undercurve::surrogate::{AnySurrogate, SURROGATES};
use undercurve::trainer::{Config, Length, Trainer};
use undercurve::{Error, Need, Real, Result, Scratch};

const GRADES: [Grade; 2] = [Grade::Fast, Grade::Full];

/// Scores and labels of a named kind, 30 % positive.
fn data(kind: &str, n: usize, seed: u64) -> (Vec<f64>, Vec<u8>) {
    let mut random = Rng::new(seed);
    let labels: Vec<u8> = (0..n).map(|row| u8::from(row == 0 || row > 1 && random.uniform() < 0.3)).collect();
    let mut scores: Vec<f64> = labels.iter().map(|&y| random.normal() + f64::from(y)).collect();
    match kind {
        "plain" => {}
        "ties" => scores.iter_mut().for_each(|s| *s = (*s * 4.0).round() / 4.0),
        "outliers" => (scores[n / 2], scores[n / 3]) = (1e9, -3e5),
        "clusters" => scores.iter_mut().enumerate().for_each(|(row, s)| *s += if row % 3 == 0 { 2e3 } else { -1e3 }),
        "powers" => scores.iter_mut().for_each(|s| *s = (5.0 * *s).exp()),
        _ => panic!("no data {kind}"),
    }
    (scores, labels)
}

struct Memory {
    f64: Vec<f64>,
    u32: Vec<u32>,
    u64: Vec<u64>,
}

impl Memory {
    fn new(need: Need) -> Self {
        Self { f64: vec![f64::NAN; need.f64], u32: vec![7; need.u32], u64: vec![7; need.u64] }
    }
    fn lend(&mut self) -> Scratch<'_, f64> {
        Scratch { real: &mut [], f64: &mut self.f64, u32: &mut self.u32, u64: &mut self.u64 }
    }
}

#[derive(Clone, Copy, Debug)]
enum Sum {
    Auc,
    Ap,
    Pauc,
}

/// Bits of the value and of the gradient, by panels; with tables of its own or those of a plan.
fn bits<S: Real>(
    sum: Sum,
    scores: &[S],
    labels: &[u8],
    loss: AnySurrogate<f64>,
    grade: Grade,
    plan: Option<Plan<'_>>,
) -> Result<(u64, Vec<u64>)> {
    let mut memory =
        Memory::new(pairs::need_by(Way::NearLinear, scores.len(), labels.iter().filter(|&&y| y == 1).count()));
    let mut grad = vec![0.0f64; scores.len()];
    let (scratch, way, fpr) = (memory.lend(), Way::NearLinear, (0.033, 0.61));
    let value = match (plan, sum) {
        (None, Sum::Auc) => pairs::auc_by(way, scores, labels, loss, grade, scratch, &mut grad),
        (None, Sum::Ap) => pairs::ap_by(way, scores, labels, loss, grade, scratch, &mut grad),
        (None, Sum::Pauc) => pairs::pauc(scores, labels, loss, fpr, grade, scratch, &mut grad),
        (Some(plan), Sum::Auc) => plan.auc_by(way, scores, labels, scratch, &mut grad),
        (Some(plan), Sum::Ap) => plan.ap_by(way, scores, labels, scratch, &mut grad),
        (Some(plan), Sum::Pauc) => plan.pauc(scores, labels, fpr, scratch, &mut grad),
    };
    Ok((value?.to_bits(), grad.iter().map(|g| g.to_bits()).collect()))
}

#[test]
fn a_plan_gives_the_bits_of_tables_made_in_the_call() {
    for (seed, kind) in (1..).zip(["plain", "ties", "outliers", "clusters", "powers"]) {
        for n in [2, 37, 900] {
            let (scores, labels) = data(kind, n, seed);
            let narrow: Vec<f32> = scores.iter().map(|&s| s as f32).collect();
            for (name, scale) in [("sigmoid", 1.0), ("logistic", 1.0), ("sigmoid", 0.013), ("logistic", 1.99)] {
                let loss = AnySurrogate::by_name(name, scale).unwrap();
                for grade in GRADES {
                    let mut tables = vec![f64::NAN; Plan::need(grade)];
                    let plan = Plan::new(loss, grade, &mut tables).unwrap();
                    // Partial AUC chooses its way by the size.
                    let sums = if n == 900 { &[Sum::Auc, Sum::Ap, Sum::Pauc][..] } else { &[Sum::Auc, Sum::Ap] };
                    for &sum in sums {
                        let what = format!("{kind} {sum:?} {name} {scale} {grade:?} n={n}");
                        let own = bits(sum, &scores, &labels, loss, grade, None);
                        assert_eq!(bits(sum, &scores, &labels, loss, grade, Some(plan)), own, "{what}");
                        let own = bits(sum, &narrow, &labels, loss, grade, None);
                        assert_eq!(bits(sum, &narrow, &labels, loss, grade, Some(plan)), own, "{what} f32");
                    }
                }
            }
        }
    }
}

#[test]
fn the_tables_of_a_plan_are_those_that_are_used() {
    let (scores, labels) = data("plain", 200, 3);
    let loss = AnySurrogate::by_name("logistic", 1.0).unwrap();
    for grade in GRADES {
        let mut tables = vec![0.0; Plan::need(grade)];
        Plan::new(loss, grade, &mut tables).unwrap();
        let own = bits(Sum::Auc, &scores, &labels, loss, grade, None).unwrap();
        let plan = Plan::again(loss, grade, &tables).unwrap();
        assert_eq!((plan.surrogate(), plan.grade()), (loss, grade));
        assert_eq!(bits(Sum::Auc, &scores, &labels, loss, grade, Some(plan)).unwrap(), own);
        // The first table is that of a panel with itself.
        tables[2] += 0.5;
        let plan = Plan::again(loss, grade, &tables).unwrap();
        assert_ne!(bits(Sum::Auc, &scores, &labels, loss, grade, Some(plan)).unwrap(), own);
    }
}

#[test]
fn a_plan_that_cannot_be_made_writes_nothing() {
    for grade in GRADES {
        let mut memory = vec![-7.0; Plan::need(grade)];
        for &(name, _, parameter) in SURROGATES {
            let loss = AnySurrogate::by_name(name, parameter).unwrap();
            if matches!(name, "sigmoid" | "logistic") {
                let need = memory.len();
                let short = Plan::new(loss, grade, &mut memory[..need - 1]).map(|_| ());
                assert_eq!(short, Err(Error::Length { what: "plan", need, got: need - 1 }));
                for scale in [1e-320, f64::MAX] {
                    let loss = AnySurrogate::by_name(name, scale).unwrap();
                    let result = Plan::new(loss, grade, &mut memory).map(|_| ());
                    assert_eq!(result, Err(Error::Param { what: "scale" }), "{name} {scale}");
                }
            } else {
                let result = Plan::new(loss, grade, &mut memory).map(|_| ());
                assert!(matches!(result, Err(Error::Unsupported { .. })), "{name}");
            }
        }
        assert!(memory.iter().all(|&x| x == -7.0));
    }
}

#[test]
fn memory_with_another_plan_or_none_is_told_from_the_right_one() {
    let sigmoid = AnySurrogate::by_name("sigmoid", 1.0).unwrap();
    let mut memory = vec![0.0; Plan::need(Grade::Full)];
    let other = |result: Result<Plan<'_>>| matches!(result, Err(Error::Unsupported { .. }));
    assert!(other(Plan::again(sigmoid, Grade::Full, &memory)), "zeros");
    Plan::new(sigmoid, Grade::Full, &mut memory).unwrap();
    assert!(Plan::again(sigmoid, Grade::Full, &memory).is_ok());
    assert!(other(Plan::again(sigmoid, Grade::Fast, &memory)), "grade");
    for (name, parameter) in [("sigmoid", 1.0 + f64::EPSILON), ("logistic", 1.0), ("hinge", 1.0)] {
        let loss = AnySurrogate::by_name(name, parameter).unwrap();
        assert!(other(Plan::again(loss, Grade::Full, &memory)), "{name} {parameter}");
    }
    let short = Plan::again(sigmoid, Grade::Full, &memory[1..]).map(|_| ());
    assert!(matches!(short, Err(Error::Length { what: "plan", .. })));
}

/// Scores in class order with the starts of the classes.
fn by_class(scores: &[f64], labels: &[u8]) -> (Vec<f64>, [u32; 3]) {
    let of = |class| scores.iter().zip(labels).filter(move |x| *x.1 == class).map(|x| *x.0);
    let ordered: Vec<f64> = of(0).chain(of(1)).collect();
    let starts = [0, of(0).count() as u32, scores.len() as u32];
    (ordered, starts)
}

#[test]
fn exact_objectives_take_their_plan_and_no_other() {
    let (scores, labels) = data("plain", 1500, 5);
    let (ordered, starts) = by_class(&scores, &labels);
    let counts = [starts[1], starts[2] - starts[1]];
    let batch = Batch::new(&ordered, 1, &starts, &counts, Drawn::All).unwrap();
    let (right, wrong) =
        (AnySurrogate::by_name("sigmoid", 2.0).unwrap(), AnySurrogate::by_name("sigmoid", 2.5).unwrap());
    let mut tables = [Exact::GRADE; 3].map(|grade| vec![0.0; Plan::need(grade)]);
    let [of_right, of_wrong, of_fast] = &mut tables;
    Plan::new(right, Exact::GRADE, of_right).unwrap();
    Plan::new(wrong, Exact::GRADE, of_wrong).unwrap();
    Plan::new(right, Grade::Fast, of_fast).unwrap();
    let link = Link::Identity;
    for exact in [Exact::auc(right, link), Exact::ap(right, link), Exact::pauc(right, link, (0.0, 0.3)).unwrap()] {
        let need = Estimator::<f64>::need(&exact, batch.shape());
        let (mut memory, mut real) = (Memory::new(need), vec![0.0; need.real]);
        let mut with = |tables: &[f64], grad: &mut [f64]| {
            let scratch = Scratch { real: &mut real, ..memory.lend() };
            exact.update(&batch.with_tables(tables), &[], &mut [], scratch, Grad { scores: grad, aux: &mut [] })
        };
        let mut prepared = vec![0.0; Estimator::<f64>::tables_len(&exact)];
        assert_eq!(Estimator::<f64>::prepare(&exact, &mut prepared), &of_right[..]);
        let (mut own, mut planned) = (vec![0.0; 1500], vec![0.0; 1500]);
        let value = with(&[], &mut own).unwrap();
        assert_eq!(with(of_right, &mut planned).unwrap().to_bits(), value.to_bits());
        assert_eq!(own, planned);
        for other in [&*of_wrong, &*of_fast, &vec![0.0; 3]] {
            planned.fill(-7.0);
            let refused = with(other, &mut planned);
            assert!(matches!(refused, Err(Error::Unsupported { .. } | Error::Length { .. })), "{refused:?}");
            assert!(planned.iter().all(|&g| g == -7.0));
        }
        let scratch = Scratch { real: &mut real, ..memory.lend() };
        let alone = exact.value(&batch.with_tables(of_right), &[], scratch).unwrap();
        assert_eq!(alone.to_bits(), value.to_bits());
    }
    // Where there are no tables, none are made.
    let hinge = Exact::auc(AnySurrogate::by_name("squared-hinge", 1.0).unwrap(), link);
    assert_eq!(Estimator::<f64>::tables_len(&hinge), 0);
    assert!(Estimator::<f64>::prepare(&hinge, of_right).is_empty());
}

#[test]
fn a_trainer_reports_and_takes_the_steps_of_an_objective_without_a_plan() {
    let (x, labels) = data("plain", 1500, 9);
    let train = Arc::new(Dataset::dense(x.clone(), labels.clone(), 1).unwrap());
    for (method, surrogate) in [("auc-exact", "sigmoid"), ("ap-exact", "logistic"), ("pauc-exact", "logistic")] {
        let mut settings = vec![("surrogate".to_string(), surrogate.to_string()), ("link".into(), "identity".into())];
        for (name, value) in [("optimizer", "sgd"), ("lr", "0.25"), ("pretrain", "0")] {
            settings.push((name.into(), value.into()));
        }
        let config = Config { method: method.into(), settings, length: Length::Steps(3), ..Config::default() };
        let mut trainer = Trainer::<f64>::new(&config, Arc::clone(&train), None).unwrap();
        let exact = match trainer.estimator().unwrap() {
            undercurve::estimator::AnyEstimator::Exact(exact) => *exact,
            other => panic!("{other:?}"),
        };
        for _ in 0..3 {
            let mut scores = vec![0.0; x.len()];
            trainer.score(train.rows(), &mut scores).unwrap();
            let (ordered, starts) = by_class(&scores, &labels);
            let counts = [starts[1], starts[2] - starts[1]];
            let batch = Batch::new(&ordered, 1, &starts, &counts, Drawn::All).unwrap();
            let need = Estimator::<f64>::need(&exact, batch.shape());
            let (mut memory, mut real) = (Memory::new(need), vec![0.0; need.real]);
            let scratch = Scratch { real: &mut real, ..memory.lend() };
            let value = exact.value(&batch, &[], scratch).unwrap();
            assert_eq!(trainer.report().unwrap().objective.to_bits(), value.to_bits(), "{method}");
            assert_eq!(trainer.step().unwrap().unwrap().to_bits(), value.to_bits(), "{method}");
        }
    }
}
