//! What an algorithm on a finite sum is, those of other crates included.

use super::draw;
use super::heavy_ball::HeavyBall;
use super::oracle::check_scratch;
use super::recursive::Recursion;
use super::run::{Event, Memory, Run, View};
use super::vectors::{limit, norm_sq};
use crate::error::{Error, Result, all_finite, exact_len};
use crate::{Need, Real};

/// A finite sum that every algorithm runs on: its gradients, and its forms of the vectors. (The forms are a chain of
/// traits, so that a trait object has one table of functions.)
pub trait Oracle<T: Real>: HeavyBall<T> {}

impl<T: Real, O: HeavyBall<T>> Oracle<T> for O {}

/// One algorithm of the family. Holds configuration only. What has a default is that of an algorithm with the vectors of
/// [`Recursion`], on minibatches that are drawn by [`Run::on_subset`].
pub trait FiniteSum<T: Real> {
    /// Examples of a minibatch.
    fn batch(&self) -> usize;

    /// Memory of a run on this sum, without [`Gradients::scratch_len`](super::Gradients::scratch_len).
    ///
    /// # Errors
    /// `Param` when the minibatch is larger than the sum.
    fn need(&self, oracle: &dyn Oracle<T>) -> Result<Need> {
        check_batch(oracle, self.batch())?;
        Ok(Recursion::need(oracle, self.batch()))
    }

    /// Starts at `w0`, `oracle.dim()` long. [`Run::begin`] does what is common to all algorithms.
    ///
    /// # Errors
    /// `Length`, `NonFinite`, `Param`, `Overflow` for a start or a step size that does not fit the number type,
    /// `Unsupported` where the sum does not know what the algorithm asks for.
    fn start(&self, oracle: &dyn Oracle<T>, w0: &[T], seed: u64, memory: &mut Memory<'_, T>) -> Result<Run> {
        let mut run = Run::begin(oracle, self.need(oracle)?, w0, seed, memory)?;
        oracle.place(&mut run, memory, w0);
        Ok(run)
    }

    /// One unit of work. `oracle` and `memory` must be those of the run.
    ///
    /// # Errors
    /// `Length` for memory of another size, `Overflow` when the iterate or its direction would not fit the number type, and
    /// those of the sum; the iterate has then not moved.
    fn step(&self, oracle: &dyn Oracle<T>, run: &mut Run, memory: &mut Memory<'_, T>) -> Result<Event>;

    /// The examples of the last minibatch; empty before the first and, for some algorithms, right after a full gradient or
    /// a shuffle.
    fn minibatch<'m>(&self, _oracle: &dyn Oracle<T>, run: &Run, memory: View<'m, T>) -> &'m [u32] {
        draw::drawn(memory.u32, run.steps, self.batch())
    }

    /// The present iterate into `out`, `oracle.dim()` long. O(dim).
    ///
    /// # Errors
    /// `Length`.
    fn params(&self, oracle: &dyn Oracle<T>, run: &Run, memory: View<'_, T>, out: &mut [T]) -> Result<()> {
        check_out(oracle, self.need(oracle), memory, out)?;
        Recursion::params(oracle, run, memory, out);
        Ok(())
    }

    /// Whether the counts of restored memory can be of a run on this sum. O(n), and O(dim) for some.
    ///
    /// # Errors
    /// `Length`, `Index`.
    fn check(&self, oracle: &dyn Oracle<T>, _run: &Run, memory: View<'_, T>) -> Result<()> {
        check_order(oracle.len(), self.need(oracle), memory)
    }
}

impl Run {
    /// A run at `w0` in memory of this size: zeros, but w0 in front and, of the counts, the order of the examples.
    ///
    /// # Errors
    /// `Length`, `NonFinite`, `Overflow`; nothing is then written.
    #[inline(never)]
    pub fn begin<T: Real>(
        oracle: &dyn Oracle<T>,
        need: Need,
        w0: &[T],
        seed: u64,
        memory: &mut Memory<'_, T>,
    ) -> Result<Self> {
        exact_len("w0", oracle.dim(), w0.len())?;
        all_finite("w0", w0)?;
        memory.check(need)?;
        if norm_sq(w0) >= limit::<T>() {
            return Err(Error::Overflow { what: "w0" });
        }
        memory.real.fill(T::ZERO);
        memory.real[..w0.len()].copy_from_slice(w0);
        memory.u32.fill(0);
        draw::identity(&mut memory.u32[..oracle.len()]);
        Ok(Self::new(seed))
    }
}

// One copy of each check for all algorithms: they take the need as it was answered.

/// Whether the memory is that of a step.
#[inline(never)]
pub(super) fn check_step<T: Real>(oracle: &dyn Oracle<T>, need: Result<Need>, memory: &Memory<'_, T>) -> Result<()> {
    memory.check(need?)?;
    check_scratch(oracle, memory.scratch)
}

/// Whether the memory is that of a run, and `out` as long as its iterate.
#[inline(never)]
pub(super) fn check_out<T: Real>(
    oracle: &dyn Oracle<T>,
    need: Result<Need>,
    memory: View<'_, T>,
    out: &[T],
) -> Result<()> {
    memory.check(need?)?;
    exact_len("out", oracle.dim(), out.len())
}

/// Whether a minibatch so large can be drawn.
pub(super) fn check_batch<T: Real>(oracle: &dyn Oracle<T>, batch: usize) -> Result<()> {
    if batch == 0 || batch > oracle.len() { Err(Error::Param { what: "batch" }) } else { Ok(()) }
}

/// Whether restored numbers are of examples: below their count.
#[inline(never)]
pub(super) fn check_order<T: Real>(n: usize, need: Result<Need>, memory: View<'_, T>) -> Result<()> {
    memory.check(need?)?;
    match memory.u32[..n].iter().position(|&i| i as usize >= n) {
        Some(at) => Err(Error::Index { what: "memory.u32", at, len: n }),
        None => Ok(()),
    }
}
