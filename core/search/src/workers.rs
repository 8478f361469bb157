//! Jobs, several at a time.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A thread panicked.
#[derive(Clone, Copy, Debug)]
pub struct Panicked;

/// Does every job, several at a time. After the first failure no further one is begun.
///
/// # Errors
/// As a job; [`Panicked`] where one panics.
pub fn in_parallel<J: Sync, E: From<Panicked> + Send>(
    jobs: &[J],
    workers: usize,
    work: impl Fn(&J) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let worker = || -> Result<(), E> {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(job).inspect_err(|_| next.store(jobs.len(), Ordering::Relaxed))?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|_| Err(Panicked.into())))
    })
}

/// Cores of this machine.
#[must_use]
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::in_parallel;
    use crate::Error;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_job_is_done_once_and_a_failure_ends_the_work() {
        let jobs: Vec<usize> = (0..100).collect();
        let sum = AtomicUsize::new(0);
        in_parallel(&jobs, 3, |job| {
            sum.fetch_add(*job, Ordering::Relaxed);
            Ok::<(), Error>(())
        })
        .unwrap();
        assert_eq!(sum.into_inner(), 4950);
        let begun = AtomicUsize::new(0);
        let failed = in_parallel(&jobs, 1, |job| {
            begun.fetch_add(1, Ordering::Relaxed);
            if *job == 4 { Err(Error::Stopped) } else { Ok(()) }
        });
        assert!(matches!(failed, Err(Error::Stopped)));
        assert_eq!(begun.into_inner(), 5);
    }
}
