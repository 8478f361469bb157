//! Sources beyond the reach of the tables, as sums of exponentials that are carried from panel to panel.

use super::panel::{Kernel, fading_powers};
use super::tables::{TERMS, Tables};
use crate::real::Real;

/// Sums from centre to centre below 2^−500 count as 0, and −ln of that: what they are of is further below `FAINT`.
const FAINTEST: (f64, f64) = (3.054_936_363_499_605e-151, 500.0 * core::f64::consts::LN_2);
/// Terms this much smaller than the first of a sum are beyond its digits.
const FADED: f64 = 1e-20;

/// Σ e^(−kd), the number, and Σ d of the sources on one side, d their distance in units of 1/c from the centre of a panel.
#[derive(Clone, Copy)]
pub(super) struct Carry {
    number: f64,
    sums: [f64; TERMS],
    pub mass: f64,
    length: f64,
}

impl Carry {
    pub(super) const LEN: usize = TERMS + 3;
    pub(super) const NONE: Self = Self { number: f64::NAN, sums: [0.0; TERMS], mass: 0.0, length: 0.0 };

    pub(super) fn store(&self, to: &mut [f64]) {
        to[..TERMS].copy_from_slice(&self.sums);
        to[TERMS..Self::LEN].copy_from_slice(&[self.number, self.mass, self.length]);
    }

    pub(super) fn load(from: &[f64]) -> Self {
        let sums = core::array::from_fn(|q| from[q]);
        Self { number: from[TERMS], sums, mass: from[TERMS + 1], length: from[TERMS + 2] }
    }

    /// Moves on to a panel, whose sources then belong to the sums. They come from the left (`mirror` 1) or the right (−1).
    pub(super) fn absorb<const P: usize>(&mut self, tables: &Tables<'_, P>, mirror: f64, number: f64, m: &[f64; P]) {
        if m[0] == 0.0 {
            return;
        }
        if self.mass != 0.0 {
            let distance = 2.0 * tables.half * ((number - self.number) * mirror);
            let factor = fading_powers(distance, FAINTEST.1);
            self.sums.iter_mut().zip(factor).for_each(|(sum, factor)| *sum = (*sum * factor).settled_below(FAINTEST.0));
            self.length += self.mass * distance;
        }
        self.number = number;
        for (sum, growth) in self.sums.iter_mut().zip(tables.growth) {
            let (mut added, mut sign) = (0.0, 1.0);
            for p in 0..P {
                added += sign * growth[p] * m[p];
                sign *= mirror;
            }
            *sum += added;
        }
        self.mass += m[0];
        self.length -= mirror * tables.half * m[1];
    }

    /// The same sources seen from a panel beyond the last of theirs.
    pub(super) fn seen<const P: usize>(&self, tables: &Tables<'_, P>, mirror: f64, number: f64) -> Self {
        let distance = 2.0 * tables.half * ((number - self.number) * mirror);
        let factor = fading_powers(distance, FAINTEST.1);
        let sums = core::array::from_fn(|q| (self.sums[q] * factor[q]).settled_below(FAINTEST.0));
        Self { number, sums, mass: self.mass, length: self.length + self.mass * distance }
    }

    /// Adds the sources of one side to the local polynomial of the panel that they are [seen](Self::seen) from.
    pub(super) fn spread<const P: usize>(
        &self,
        tables: &Tables<'_, P>,
        side: usize,
        kernel: Kernel,
        out: &mut [f64; P],
    ) {
        let mirror = if side == 0 { 1.0 } else { -1.0 };
        for (q, (&sum, growth)) in self.sums.iter().zip(tables.growth).enumerate() {
            // (All terms have one sign, and fall.)
            if sum.abs() <= FADED * self.sums[0].abs() {
                break;
            }
            let scaled = kernel.far(side, q + 1) * sum;
            let mut sign = 1.0;
            for p in 0..P {
                out[p] += scaled * sign * growth[p];
                sign *= -mirror;
            }
        }
        out[0] += kernel.constant(side) * self.mass;
        // Distances may not fit where only the softplus asks for them.
        if kernel.linear(side) != 0.0 {
            out[0] += kernel.linear(side) * self.length;
            out[1] += kernel.linear(side) * mirror * tables.half * self.mass;
        }
    }
}
