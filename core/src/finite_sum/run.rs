//! What a run carries besides its vectors.

use crate::error::{Result, exact_len};
use crate::rng::Rng;
use crate::{Need, Real};
use core::ops::Range;

/// What one step did.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A full gradient was taken: the anchor of an outer loop.
    FullGradient {
        /// ‖∇P‖² there.
        norm_sq: f64,
    },
    /// A minibatch was drawn and the iterate moved.
    Step {
        /// By this step size.
        alpha: f64,
    },
    /// A minibatch was drawn that says nothing about the step size; the iterate stayed.
    Skipped,
    /// The examples were put into a new order.
    Shuffled,
    /// A piece of a full gradient, or of another walk over all examples, was done; the iterate stayed.
    Part,
    /// The full gradient is exactly 0: further steps change nothing.
    Stationary,
}

/// Vectors of a run, lent by the caller; [`FiniteSum::need`](super::FiniteSum::need) says how long.
#[derive(Debug)]
pub struct Memory<'a, T> {
    /// Vectors; the layout is in the algorithm's documentation.
    pub real: &'a mut [T],
    /// The order of the examples, and what else is counted.
    pub u32: &'a mut [u32],
    /// Working memory of the sum, at least [`Gradients::scratch_len`](super::Gradients::scratch_len) long; none for linear
    /// models. No part of the state: its content between calls does not matter.
    pub scratch: &'a mut [T],
}

/// What of [`Memory`] is state, to read only.
#[derive(Clone, Copy, Debug)]
pub struct View<'a, T> {
    /// As [`Memory::real`].
    pub real: &'a [T],
    /// As [`Memory::u32`].
    pub u32: &'a [u32],
}

impl<T: Real> View<'_, T> {
    pub(crate) fn check(&self, need: Need) -> Result<()> {
        exact_len("memory.real", need.real, self.real.len())?;
        exact_len("memory.u32", need.u32, self.u32.len())
    }
}

impl<T: Real> Memory<'_, T> {
    /// The same memory, to read.
    #[must_use]
    pub fn view(&self) -> View<'_, T> {
        View { real: self.real, u32: self.u32 }
    }

    pub(crate) fn check(&self, need: Need) -> Result<()> {
        self.view().check(need)
    }
}

/// Counters, scalars and generator of a run. Copied together with [`Memory`] they are a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Generator of the draws.
    pub rng: Rng,
    /// Minibatches drawn.
    pub steps: u64,
    /// Full gradients taken by the algorithm.
    pub outer: u64,
    /// Examples selected, a full gradient counting n. Divided by n: the pass as the AI-SARAH paper counts it.
    pub samples: u64,
    /// Gradients of one example evaluated. Divided by n: the pass by gradient evaluations.
    pub gradients: u64,
    /// Minibatches since the last full gradient, or since the last shuffle.
    pub inner: u64,
    /// Minibatches in a row that were skipped.
    pub skipped: u64,
    /// A number the algorithm needs to keep (a drawn iterate, a flush).
    pub mark: u64,
    /// Stored values touched since the lazy vectors were last written out.
    pub(crate) touched: u64,
    /// 0: the next step opens an outer loop (or pass).
    pub phase: u64,
    /// Example at which an unfinished walk over all of them goes on; 0 when there is none.
    pub cursor: u64,
    /// The last step size.
    pub alpha: f64,
    /// The present upper bound of the step size; infinite where there is none.
    pub alpha_max: f64,
    /// ξ'(0) of the last minibatch, where the algorithm models its step.
    pub slope: f64,
    /// ξ''(0) of the last minibatch, where the algorithm models its step.
    pub curvature: f64,
    /// ‖v‖² of the present direction, where the algorithm keeps it.
    pub norm_sq: f64,
    /// ‖v₀‖² = ‖∇P‖² at the last full gradient.
    pub start_norm_sq: f64,
    /// δ, the smoothed 1/α̃; 0 before the first. Other algorithms keep their own scalar here.
    pub delta: f64,
    /// c of v = c·v̂.
    pub(crate) scale: f64,
    /// C of w = ŵ − C·v̂.
    pub(crate) shift: f64,
    /// ‖v‖² when the lazy vectors were last written out.
    pub(crate) synced_norm_sq: f64,
    /// An upper bound of ‖w‖.
    pub(crate) bound: f64,
    /// An upper bound of the norm of a second vector (momentum).
    pub(crate) other_bound: f64,
}

impl Run {
    /// Length of [`words`](Self::words).
    pub const WORDS: usize = 26;

    pub(crate) fn new(seed: u64) -> Self {
        Self {
            rng: Rng::new(seed),
            steps: 0,
            outer: 0,
            samples: 0,
            gradients: 0,
            inner: 0,
            skipped: 0,
            mark: 0,
            touched: 0,
            phase: 0,
            cursor: 0,
            alpha: 0.0,
            alpha_max: f64::INFINITY,
            slope: 0.0,
            curvature: 0.0,
            norm_sq: 0.0,
            start_norm_sq: 0.0,
            delta: 0.0,
            scale: 1.0,
            shift: 0.0,
            synced_norm_sq: 0.0,
            bound: 0.0,
            other_bound: 0.0,
        }
    }

    /// A full gradient over `n` examples, ‖∇P‖² long, anchors a new inner loop.
    pub fn anchor(&mut self, n: usize, norm_sq: f64) {
        self.norm_sq = norm_sq;
        self.start_norm_sq = norm_sq;
        self.outer += 1;
        self.inner = 0;
        self.samples += n as u64;
        self.gradients += n as u64;
    }

    /// What a step that walks towards its full gradient has come to; opens the inner loop when the walk is `done`.
    pub fn opened(&mut self, done: bool) -> Event {
        if !done {
            return Event::Part;
        }
        self.skipped = 0;
        if self.norm_sq == 0.0 {
            return Event::Stationary;
        }
        self.phase = 1;
        Event::FullGradient { norm_sq: self.norm_sq }
    }

    /// Counts a minibatch of so many examples and so many gradients of each.
    pub fn count(&mut self, batch: usize, each: u64) {
        self.steps += 1;
        self.inner += 1;
        self.samples += batch as u64;
        self.gradients += each * batch as u64;
    }

    /// A step of an inner loop was done, which may end there.
    pub fn end_inner(&mut self, alpha: f64, ends: impl FnOnce(&Self) -> bool) -> Event {
        self.alpha = alpha;
        if ends(self) {
            self.phase = 0;
        }
        Event::Step { alpha }
    }

    /// A pass over a fresh order of the examples begins: `inner` counts its minibatches, `outer` the passes, `delta` is
    /// the decay so far.
    pub fn begin_pass(&mut self, alpha: f64, decay: f64, order: &mut [u32]) -> Event {
        self.delta = if self.outer == 0 { 1.0 } else { self.delta * (1.0 - decay) };
        self.alpha = alpha * self.delta;
        self.rng.shuffle(order);
        self.outer += 1;
        self.inner = 0;
        self.phase = 1;
        Event::Shuffled
    }

    /// Where the next minibatch of the pass lies in the order; the last one may be shorter.
    pub fn turn(&self, n: usize, batch: usize) -> Range<usize> {
        let from = (self.inner as usize).saturating_mul(batch).min(n - 1);
        from..from + batch.min(n - from)
    }

    /// Counts the minibatch of a [`turn`](Self::turn), and ends the pass with the last one.
    pub fn end_turn(&mut self, turn: Range<usize>, n: usize) -> Event {
        self.count(turn.len(), 1);
        if turn.end >= n {
            self.phase = 0;
        }
        Event::Step { alpha: self.alpha }
    }

    /// Everything as words, to save.
    #[must_use]
    pub fn words(&self) -> [u64; Self::WORDS] {
        let [r0, r1, r2, r3] = self.rng.state();
        [
            r0,
            r1,
            r2,
            r3,
            self.steps,
            self.outer,
            self.samples,
            self.gradients,
            self.inner,
            self.skipped,
            self.mark,
            self.touched,
            self.phase,
            self.alpha.to_bits(),
            self.alpha_max.to_bits(),
            self.norm_sq.to_bits(),
            self.start_norm_sq.to_bits(),
            self.delta.to_bits(),
            self.scale.to_bits(),
            self.shift.to_bits(),
            self.synced_norm_sq.to_bits(),
            self.bound.to_bits(),
            self.other_bound.to_bits(),
            self.slope.to_bits(),
            self.curvature.to_bits(),
            self.cursor,
        ]
    }

    /// Whether all counts can be of a run: so low that more of it does not reach their end.
    #[cfg(feature = "alloc")]
    pub(crate) fn sound(&self) -> bool {
        use crate::checkpoint::MOST;
        let Self { steps, outer, samples, gradients, inner, skipped, mark, touched, phase, cursor, .. } = *self;
        [steps, outer, samples, gradients, inner, skipped, mark, touched, phase, cursor].iter().all(|&x| x <= MOST)
    }

    /// From saved words.
    #[must_use]
    pub fn from_words(w: [u64; Self::WORDS]) -> Self {
        let real = f64::from_bits;
        Self {
            rng: Rng::from_state([w[0], w[1], w[2], w[3]]),
            steps: w[4],
            outer: w[5],
            samples: w[6],
            gradients: w[7],
            inner: w[8],
            skipped: w[9],
            mark: w[10],
            touched: w[11],
            phase: w[12],
            alpha: real(w[13]),
            alpha_max: real(w[14]),
            norm_sq: real(w[15]),
            start_norm_sq: real(w[16]),
            delta: real(w[17]),
            scale: real(w[18]),
            shift: real(w[19]),
            synced_norm_sq: real(w[20]),
            bound: real(w[21]),
            other_bound: real(w[22]),
            slope: real(w[23]),
            curvature: real(w[24]),
            cursor: w[25],
        }
    }
}
