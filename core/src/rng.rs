//! The pinned random generator.
//!
//! xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021), seeded through
//! SplitMix64. The stream is part of the interface: a seed means the same numbers in every version and on every target.

use core::convert::Infallible;
use rand_core::{Rng as _, SeedableRng, TryRng};

/// xoshiro256++ with its four words in the open, so that a checkpoint can hold them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: [u64; 4],
}

fn split_mix(x: &mut u64) -> u64 {
    *x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *x;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Rng {
    /// The stream of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut x = seed;
        Self { state: core::array::from_fn(|_| split_mix(&mut x)) }
    }

    /// An independent stream for each `(seed, purpose, number)`, e.g. a sampler's epoch. Used where a stream must be
    /// found again without replaying what came before it.
    #[must_use]
    pub fn keyed(seed: u64, purpose: u64, number: u64) -> Self {
        let mut x = seed;
        let mut y = split_mix(&mut x) ^ purpose.wrapping_mul(0xa076_1d64_78bd_642f);
        let mut z = split_mix(&mut y) ^ number.wrapping_mul(0xe703_7ed1_a0b4_28db);
        Self { state: core::array::from_fn(|_| split_mix(&mut z)) }
    }

    /// The four words, to save.
    #[must_use]
    pub fn state(&self) -> [u64; 4] {
        self.state
    }

    /// Continues from saved words. All zero is not a state of this generator and becomes the stream of seed 0.
    #[must_use]
    pub fn from_state(state: [u64; 4]) -> Self {
        if state == [0; 4] { Self::new(0) } else { Self { state } }
    }

    fn step(&mut self) -> u64 {
        let s = &mut self.state;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// Uniform in `0..bound`, without bias (Lemire 2019). `bound` 0 gives 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        if bound == 0 {
            return 0;
        }
        let threshold = bound.wrapping_neg() % bound;
        loop {
            let wide = u64::from(self.next_u32()) * u64::from(bound);
            if wide as u32 >= threshold {
                return (wide >> 32) as u32;
            }
        }
    }

    /// Uniform in [0, 1), a multiple of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        (self.step() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Standard normal (Box–Muller, one value of each pair, so that a draw is always two steps).
    pub fn normal(&mut self) -> f64 {
        let radius = crate::Real::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        radius * libm::cos(core::f64::consts::TAU * self.uniform())
    }

    /// Puts the slice into a uniformly random order (Fisher–Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u32 + 1) as usize;
            if let Some((item, before)) = items.get_mut(..=last).and_then(<[T]>::split_last_mut)
                && let Some(other) = before.get_mut(other)
            {
                core::mem::swap(item, other);
            }
        }
    }
}

impl TryRng for Rng {
    type Error = Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.step() >> 32) as u32)
    }
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.step())
    }
    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        for chunk in out.chunks_mut(8) {
            let word = self.step().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

impl SeedableRng for Rng {
    type Seed = [u8; 32];
    fn from_seed(seed: [u8; 32]) -> Self {
        let mut state = [0; 4];
        for (word, bytes) in state.iter_mut().zip(seed.chunks_exact(8)) {
            let mut little = [0; 8];
            little.copy_from_slice(bytes);
            *word = u64::from_le_bytes(little);
        }
        Self::from_state(state)
    }
    fn seed_from_u64(seed: u64) -> Self {
        Self::new(seed)
    }
}
