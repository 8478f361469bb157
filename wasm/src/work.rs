//! Memory of calls.

use alloc::vec::Vec;
use undercurve::{Need, Scratch};

/// Memory of calls.
#[derive(Default)]
pub struct Work {
    real: Vec<f64>,
    f64: Vec<f64>,
    u32: Vec<u32>,
    u64: Vec<u64>,
}

impl Work {
    /// So much of it.
    pub fn lend(&mut self, need: Need) -> Scratch<'_, f64> {
        fn grow<T: Clone + Default>(memory: &mut Vec<T>, need: usize) -> &mut [T] {
            if memory.len() < need {
                memory.resize(need, T::default());
            }
            memory
        }
        Scratch {
            real: grow(&mut self.real, need.real),
            f64: grow(&mut self.f64, need.f64),
            u32: grow(&mut self.u32, need.u32),
            u64: grow(&mut self.u64, need.u64),
        }
    }
}
