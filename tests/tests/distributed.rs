//! Sums over the rows of several workers: the twins, one set of bits for any split, the sums in memory, and errors.

use undercurve::pairs::distributed::{Ask, DistributedError, Worker};
use undercurve::pairs::{Sum, Sums};
use undercurve::rng::Rng;
use undercurve::surrogate::AnySurrogate;
use undercurve::{Error, Real};
use undercurve_tests::distributed::{Group, spread, twin};

const LOSSES: [&str; 2] = ["hinge", "squared-hinge"];

fn sums() -> [Sum; 5] {
    let pauc = |low, high| Sum::Pauc { fpr: (low, high), tpr: 0.0 };
    [Sum::Ap, Sum::Auc, pauc(0.0, 0.05), pauc(0.1, 0.437), pauc(0.3, 1.0)]
}

/// Rows of one of several kinds: normal, rounded, tied, of a huge range, near zero with both its signs.
fn rows(kind: usize, n: usize, share: f64, rng: &mut Rng) -> (Vec<f64>, Vec<u8>) {
    let labels: Vec<u8> = (0..n).map(|k| u8::from(k == 0 || (k > 1 && rng.uniform() < share))).collect();
    let score = |y: u8, rng: &mut Rng| {
        let x = rng.normal() + f64::from(y);
        match kind % 6 {
            0 => x,
            1 => (2.0 * x).round() / 2.0,
            2 => 0.25,
            3 => x * 10f64.powf(12.0 * rng.uniform() - 6.0),
            4 => x + 1e6,
            _ => [0.0, -0.0, 1e-3, -1e-3][(4.0 * rng.uniform()) as usize % 4],
        }
    };
    let scores = labels.iter().map(|&y| score(y, rng)).collect();
    (scores, labels)
}

fn shuffled(n: usize, rng: &mut Rng) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..n).collect();
    (1..n).for_each(|k| rows.swap(k, (rng.uniform() * (k + 1) as f64) as usize % (k + 1)));
    rows
}

fn bits(found: &(f64, Vec<f64>)) -> Vec<u64> {
    found.1.iter().chain([&found.0]).map(|x| x.to_bits()).collect()
}

/// The sum in memory.
fn in_memory<T: Real>(sum: Sum, loss: AnySurrogate<f64>, scores: &[T], labels: &[u8]) -> (f64, Vec<T>) {
    let mut grad = vec![T::ZERO; scores.len()];
    let truth = undercurve::metric::Truth::new(labels, &[]).unwrap();
    let value = Sums::new().sum(sum, scores, truth, loss, &mut grad).unwrap();
    (value, grad)
}

#[test]
fn workers_together_are_the_twin() {
    let mut rng = Rng::new(3);
    for case in 0..60 {
        let n = 2 + (rng.uniform() * 120.0) as usize;
        let (scores, labels) = rows(case, n, [0.05, 0.4, 0.9][case % 3], &mut rng);
        let (name, margin) = (LOSSES[case / 6 % 2], [1.0, 0.3][case % 2]);
        let loss = AnySurrogate::by_name(name, margin).unwrap();
        for sum in sums() {
            let want = twin(sum, (name, margin), &scores, &labels);
            let workers = 1 + case % 5;
            let owner = |row: usize| row * 7 % workers;
            let rows: Vec<usize> = (0..n).collect();
            let (value, grad) = spread(sum, loss, &scores, &labels, workers, &rows, owner).unwrap();
            let near = |a: f64, b: f64, size: f64| (a - b).abs() <= 1e-13 * size + 1e-300;
            assert!(near(value, want.value, want.value.abs()), "{case} {sum:?}: {value} {}", want.value);
            for (k, (&a, &b)) in grad.iter().zip(&want.grad).enumerate() {
                assert!(near(a, b, want.size[k]), "{case} {sum:?} {name} row {k}: {a} {b} of {}", want.size[k]);
            }
        }
    }
}

#[test]
fn any_split_has_the_bits_of_one_worker() {
    let mut rng = Rng::new(5);
    for case in 0..100 {
        let n = 2 + (rng.uniform() * 700.0) as usize;
        let (scores, labels) = rows(case, n, [0.03, 0.3, 0.8][case % 3], &mut rng);
        let loss = AnySurrogate::by_name(LOSSES[case % 2], 1.0).unwrap();
        let sum = sums()[case % 5];
        let one = spread(sum, loss, &scores, &labels, 1, &(0..n).collect::<Vec<_>>(), |_| 0).unwrap();
        let workers = 2 + (rng.uniform() * 15.0) as usize;
        let order = shuffled(n, &mut rng);
        let random: Vec<usize> = (0..n).map(|_| (rng.uniform() * workers as f64) as usize % workers).collect();
        let split: [&dyn Fn(usize) -> usize; 4] = [
            &|row| random[row],
            &|_| workers - 1,
            &|row| if labels[row] == 1 { 0 } else { 1 + row % (workers - 1) },
            &|row| row * workers / n,
        ];
        let many = spread(sum, loss, &scores, &labels, workers, &order, split[case % 4]).unwrap();
        assert!(bits(&one) == bits(&many), "case {case}, {workers} workers, {sum:?}");
    }
}

/// The largest difference of the gradients, relative to the largest derivative, and that of the values.
fn apart<T: Real>(a: &(f64, Vec<T>), b: &(f64, Vec<T>)) -> (f64, f64) {
    let most = b.1.iter().fold(0.0, |most: f64, x| most.max(x.f64().abs()));
    let apart = a.1.iter().zip(&b.1).fold(0.0, |most: f64, (x, y)| most.max((x.f64() - y.f64()).abs()));
    (apart / most, (a.0 - b.0).abs() / b.0.abs())
}

#[test]
fn many_rows_are_the_sum_in_memory_for_up_to_sixteen_threads() {
    let mut rng = Rng::new(7);
    let n = 200_000;
    let labels: Vec<u8> = (0..n).map(|_| u8::from(rng.uniform() < 0.03)).collect();
    let scores: Vec<f64> = labels.iter().map(|&y| rng.normal() + f64::from(y)).collect();
    let order = shuffled(n, &mut rng);
    for name in LOSSES {
        let loss = AnySurrogate::by_name(name, 1.0).unwrap();
        for sum in [Sum::Ap, Sum::Auc, sums()[2]] {
            let want = in_memory(sum, loss, &scores, &labels);
            let mut found: Option<(f64, Vec<f64>)> = None;
            for workers in [1, 3, 16] {
                let many = spread(sum, loss, &scores, &labels, workers, &order, |row| row % workers).unwrap();
                let (grad, value) = apart(&many, &want);
                println!("{name} {sum:?}, {workers} workers: gradient {grad:.1e}, value {value:.1e}");
                assert!(grad <= 1e-14 && value <= 1e-14);
                let first = found.get_or_insert_with(|| many.clone());
                assert!(bits(first) == bits(&many), "{name} {sum:?} {workers}");
            }
        }
    }
}

#[test]
fn far_scores_cost_the_others_no_digits() {
    let mut rng = Rng::new(9);
    let n = 3000;
    let (mut scores, mut labels) = rows(0, n, 0.1, &mut rng);
    scores.extend([1e12, 1e12, -1e12]);
    labels.extend([1, 0, 0]);
    for name in LOSSES {
        let loss = AnySurrogate::by_name(name, 1.0).unwrap();
        for sum in [Sum::Ap, Sum::Auc] {
            let want = twin(sum, (name, 1.0), &scores, &labels);
            let order: Vec<usize> = (0..n + 3).collect();
            let many = spread(sum, loss, &scores, &labels, 3, &order, |row| row % 3).unwrap();
            for (k, (a, b)) in many.1.iter().zip(&want.grad).enumerate() {
                assert!((a - b).abs() <= 1e-13 * want.size[k], "{name} {sum:?} row {k}: {a:e} {b:e}");
            }
        }
    }
}

#[test]
fn floats_of_four_bytes_have_their_own_gradient() {
    let mut rng = Rng::new(2);
    let (scores, labels) = rows(0, 5000, 0.1, &mut rng);
    let scores: Vec<f32> = scores.iter().map(|&x| x as f32).collect();
    let loss = AnySurrogate::by_name("squared-hinge", 1.0).unwrap();
    let want = in_memory(Sum::Ap, loss, &scores, &labels);
    let order: Vec<usize> = (0..5000).collect();
    let many = spread(Sum::Ap, loss, &scores, &labels, 4, &order, |row| row % 4).unwrap();
    assert!(apart(&many, &want).0 <= 1e-7);
}

/// A worker's sum, surrogate, margin, scores and labels.
type Made<'a> = (Sum, &'a str, f64, &'a [f64], &'a [u8]);

/// Runs workers of these options, each with its own rows; all end alike.
fn ends(made: &[Made<'_>], places: impl Fn(u32) -> (u32, u32) + Sync) -> DistributedError {
    let group = Group::new(made.len());
    let found: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..made.len())
            .map(|rank| {
                let (group, places) = (&group, &places);
                scope.spawn(move || {
                    let (sum, name, margin, scores, labels) = made[rank];
                    let loss = AnySurrogate::by_name(name, margin).unwrap();
                    let mut worker = Worker::new(sum, loss, places(rank as u32), scores, labels);
                    let error = group.run(rank, &mut worker).unwrap_err();
                    assert_eq!(worker.ask(), Ask::Done);
                    assert_eq!(worker.result(&mut vec![0.0; scores.len()]), Err(error));
                    error
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(found.iter().all(|error| *error == found[0] && !error.to_string().is_empty()), "{found:?}");
    found[0]
}

#[test]
fn one_error_ends_all_workers() {
    let rows: (&[f64], &[u8]) = (&[0.5, -0.25, 1.0], &[1, 0, 1]);
    let good = (Sum::Ap, "hinge", 1.0, rows.0, rows.1);
    let place = |rank| (rank, 3);
    let differs = |worker, what| DistributedError::Differs { worker, what };
    assert_eq!(ends(&[good, good, (Sum::Auc, "hinge", 1.0, rows.0, rows.1)], place), differs(2, "options"));
    assert_eq!(ends(&[good, (Sum::Ap, "squared-hinge", 1.0, rows.0, rows.1), good], place), differs(1, "options"));
    assert_eq!(ends(&[good, good, (Sum::Ap, "hinge", 1.5, rows.0, rows.1)], place), differs(2, "options"));
    assert_eq!(ends(&[good, good, good], |rank| (rank, 4)), differs(0, "number of workers"));
    assert_eq!(ends(&[good, good, good], |rank| (rank / 2, 3)), differs(1, "rank"));
    let refused = |worker, error| DistributedError::Worker { worker, error };
    let nan = (Sum::Ap, "hinge", 1.0, &[0.0, f64::NAN][..], &[0, 1][..]);
    let at = Error::NonFinite { what: "scores", at: 1 };
    assert_eq!(ends(&[good, nan, good], place), refused(1, at));
    let label = (Sum::Ap, "hinge", 1.0, &[0.0, 1.0][..], &[0, 2][..]);
    assert_eq!(ends(&[good, label, nan], place), refused(1, Error::Label { at: 1 }));
    let short = (Sum::Ap, "hinge", 1.0, &[0.0, 1.0][..], &[0][..]);
    assert_eq!(ends(&[short, good, good], place), refused(0, Error::Length { what: "labels", need: 2, got: 1 }));
    let smooth = (Sum::Ap, "sigmoid", 1.0, rows.0, rows.1);
    let what = "a surrogate other than hinge and squared hinge";
    assert_eq!(ends(&[smooth, smooth, smooth], place), refused(0, Error::Unsupported { what }));
    let none: (&[f64], &[u8]) = (&[], &[]);
    let empty = (Sum::Ap, "hinge", 1.0, none.0, none.1);
    assert_eq!(ends(&[empty, empty, empty], place), DistributedError::Core(Error::OneClass));
    let negative = (Sum::Ap, "hinge", 1.0, &[0.0, 1.0][..], &[0, 0][..]);
    assert_eq!(ends(&[negative, negative, empty], place), DistributedError::Core(Error::OneClass));
    let far = (Sum::Ap, "hinge", 1.0, &[1e300, 1.0][..], &[0, 1][..]);
    assert_eq!(ends(&[far, good, good], place), DistributedError::Core(Error::Overflow { what: "margin" }));
}

#[test]
fn other_bytes_than_were_told_are_refused() {
    let loss = AnySurrogate::by_name("hinge", 1.0).unwrap();
    let made = || Worker::new(Sum::Ap, loss, (0, 1), &[0.5, -0.25, 1.0], &[1, 0, 1]);
    let bytes = |worker: &mut Worker| match worker.ask() {
        Ask::AllGather(own) => own.to_vec(),
        ask => panic!("{ask:?}"),
    };
    let damaged = Err(DistributedError::Damaged { worker: 0 });
    let mut worker = made();
    let own = bytes(&mut worker);
    assert!(worker.reduced().is_err()); // out of turn
    assert_eq!(made().gathered(&[&own[1..]]), damaged);
    assert_eq!(
        made().gathered(&[b"something else that is as long as the first message of a worker would be, 88 of them..."]),
        damaged
    );
    assert_eq!(made().gathered(&[&[]]), damaged);
    assert!(made().gathered::<&[u8]>(&[]).is_err());
    // The second message: fewer positives, others, no numbers.
    let after = |change: &dyn Fn(Vec<u8>) -> Vec<u8>| {
        let mut worker = made();
        let own = bytes(&mut worker);
        worker.gathered(&[own]).unwrap();
        let own = bytes(&mut worker);
        worker.gathered(&[change(own)])
    };
    assert_eq!(after(&|own| own), Ok(()));
    assert_eq!(after(&|own| own[8..].to_vec()), damaged);
    assert_eq!(after(&|own| own[1..].to_vec()), damaged);
    assert_eq!(after(&|_| [2.0, 0.5f64].into_iter().flat_map(f64::to_le_bytes).collect()), damaged);
    assert_eq!(after(&|_| [f64::NAN, 0.5].into_iter().flat_map(f64::to_le_bytes).collect()), damaged);
}

#[test]
fn a_worker_that_refuses_its_rows_ends_all() {
    let loss = AnySurrogate::by_name("hinge", 1.0).unwrap();
    let mut worker = Worker::refusing::<f64>(Sum::Ap, loss, (0, 1));
    let error = Group::new(1).run(0, &mut worker).unwrap_err();
    assert!(matches!(error, DistributedError::Worker { worker: 0, .. }) && error.to_string().contains("no scores"));
}
