//! What several jobs at a time share.

use std::sync::{Arc, Mutex, PoisonError};

/// Things by number, each made by the first job that needs it and dropped after the last.
pub struct Shared<V>(Vec<Mutex<Slot<V>>>);

struct Slot<V> {
    made: Option<Arc<V>>,
    /// Jobs that have not yet done with it.
    left: usize,
}

impl<V> Shared<V> {
    /// Nothing made; `jobs` are how many need each thing.
    pub fn new(jobs: impl Iterator<Item = usize>) -> Self {
        Self(jobs.map(|left| Mutex::new(Slot { made: None, left })).collect())
    }

    /// The thing of this number. Others that need it wait while it is made.
    ///
    /// # Errors
    /// As it is made.
    pub fn get<E>(&self, at: usize, make: impl FnOnce() -> Result<V, E>) -> Result<Arc<V>, E> {
        let mut slot = self.0[at].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &slot.made {
            return Ok(made.clone());
        }
        let made = Arc::new(make()?);
        slot.made = Some(made.clone());
        Ok(made)
    }

    /// Says that a job has done with it.
    pub fn done(&self, at: usize) {
        let mut slot = self.0[at].lock().unwrap_or_else(PoisonError::into_inner);
        slot.left -= 1;
        if slot.left == 0 {
            slot.made = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Shared;
    use std::sync::Arc;

    #[test]
    fn a_thing_is_made_once_and_dropped_after_its_last_job() {
        let shared = Shared::new([2, 1].into_iter());
        assert!(shared.get(0, || Err("not yet")).is_err());
        let thing = shared.get(0, || Ok::<_, ()>(7)).unwrap();
        assert!(Arc::ptr_eq(&thing, &shared.get(0, || Ok::<_, ()>(8)).unwrap()));
        shared.done(0);
        assert_eq!(Arc::strong_count(&thing), 2);
        shared.done(0);
        assert_eq!((*thing, Arc::strong_count(&thing)), (7, 1));
        assert_eq!(*shared.get(1, || Ok::<_, ()>(9)).unwrap(), 9);
    }
}
