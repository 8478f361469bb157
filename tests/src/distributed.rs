//! Sums over rows that several workers hold: the twin, and workers as threads.

use crate::pairs::{Sums, ap, auc, weighted_auc};
use std::sync::{Barrier, Mutex};
use undercurve::Real;
use undercurve::pairs::Sum;
use undercurve::pairs::distributed::{Ask, DistributedError, Op, Worker};
use undercurve::surrogate::AnySurrogate;

/// The weight of every negative in a range of false-positive rates: those of one score share what of their ranks is inside.
pub fn shared_weights(scores: &[f64], labels: &[u8], (alpha, beta): (f64, f64)) -> Vec<f64> {
    let negatives: Vec<f64> = (0..scores.len()).filter(|&j| labels[j] == 0).map(|j| scores[j]).collect();
    let n = negatives.len() as f64;
    let weight = |&score: &f64| {
        let above = negatives.iter().filter(|&&x| x > score).count() as f64;
        let tied = negatives.iter().filter(|&&x| x == score).count() as f64;
        ((beta * n).min(above + tied) - (alpha * n).max(above)).max(0.0) / tied
    };
    scores.iter().zip(labels).map(|(score, &y)| if y == 1 { 0.0 } else { weight(score) }).collect()
}

/// Over all rows, by loops over pairs.
pub fn twin(sum: Sum, (name, margin): (&str, f64), scores: &[f64], labels: &[u8]) -> Sums {
    match sum {
        Sum::Auc => auc(name, margin, scores, labels),
        Sum::Ap => ap(name, margin, scores, labels),
        Sum::Pauc { fpr, .. } => weighted_auc(name, margin, scores, labels, &shared_weights(scores, labels, fpr)),
    }
}

/// The collective operations of threads that share this.
pub struct Group {
    barrier: Barrier,
    slots: Vec<Mutex<Vec<u8>>>,
    sums: Mutex<Vec<i64>>,
}

impl Group {
    pub fn new(workers: usize) -> Self {
        let slots = (0..workers).map(|_| Mutex::default()).collect();
        Self { barrier: Barrier::new(workers), slots, sums: Mutex::default() }
    }

    /// Takes one worker from beginning to end; returns the bytes it sent, too.
    pub fn run(&self, rank: usize, worker: &mut Worker) -> Result<usize, DistributedError> {
        let mut sent = 0;
        loop {
            match worker.ask() {
                Ask::AllGather(own) => {
                    sent += own.len();
                    let all = self.gather(rank, own);
                    worker.gathered(&all)?;
                }
                Ask::AllReduce(op, numbers) => {
                    sent += 8 * numbers.len();
                    self.reduce(op, numbers);
                    worker.reduced()?;
                }
                Ask::Done => return Ok(sent),
            }
        }
    }

    fn gather(&self, rank: usize, own: &[u8]) -> Vec<Vec<u8>> {
        *self.slots[rank].lock().unwrap() = own.to_vec();
        self.barrier.wait();
        let all = self.slots.iter().map(|slot| slot.lock().unwrap().clone()).collect();
        self.barrier.wait();
        all
    }

    fn reduce(&self, op: Op, numbers: &mut [i64]) {
        {
            let mut sums = self.sums.lock().unwrap();
            if sums.is_empty() {
                *sums = numbers.to_vec();
            } else {
                assert_eq!(sums.len(), numbers.len());
                sums.iter_mut().zip(&*numbers).for_each(|(sum, &number)| match op {
                    Op::Sum => *sum += number,
                    Op::Max => *sum = number.max(*sum),
                });
            }
        }
        self.barrier.wait();
        numbers.copy_from_slice(&self.sums.lock().unwrap());
        if self.barrier.wait().is_leader() {
            self.sums.lock().unwrap().clear();
        }
        self.barrier.wait();
    }
}

/// The sum with each row at the worker that `owner` names, in the order of `rows`; value of all and gradient by row.
pub fn spread<T: Real>(
    sum: Sum,
    loss: AnySurrogate<f64>,
    scores: &[T],
    labels: &[u8],
    workers: usize,
    rows: &[usize],
    owner: impl Fn(usize) -> usize,
) -> Result<(f64, Vec<T>), DistributedError> {
    let group = Group::new(workers);
    let mut grad = vec![T::of(f64::NAN); scores.len()];
    let mut parts: Vec<Vec<usize>> = vec![Vec::new(); workers];
    rows.iter().for_each(|&row| parts[owner(row)].push(row));
    let work = |rank: usize| {
        let own = &parts[rank];
        let s: Vec<T> = own.iter().map(|&row| scores[row]).collect();
        let y: Vec<u8> = own.iter().map(|&row| labels[row]).collect();
        let mut worker = Worker::new(sum, loss, (rank as u32, workers as u32), &s, &y);
        group.run(rank, &mut worker)?;
        let mut grad = vec![T::of(f64::NAN); s.len()];
        Ok((worker.result(&mut grad)?, grad))
    };
    let work = &work;
    let found: Vec<Result<(f64, Vec<T>), DistributedError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|rank| scope.spawn(move || work(rank))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut values = Vec::new();
    for (own, found) in parts.iter().zip(found) {
        let (value, part) = found?;
        values.push(value);
        own.iter().zip(part).for_each(|(&row, slope)| grad[row] = slope);
    }
    assert!(values.iter().all(|value| value.to_bits() == values[0].to_bits()));
    Ok((values[0], grad))
}
