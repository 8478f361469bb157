//! What panels sum: functions of the distance from source to target, as local polynomials at the targets.

use crate::pairs::tables::{Shape, TERMS, Tables};
use crate::parts::{PARTS, each, parts_of_mut};
use crate::real::Real;
use crate::slices::Place as _;

/// Panels whose tables are worth sharing between threads.
const MANY: usize = 1024;

impl Shape {
    /// The kernels of the value, of the slope in units of −c, and of the slope from the other side.
    pub(in crate::pairs) fn kernels(self) -> [Kernel; 3] {
        match self {
            Self::Sigmoid => [Kernel::Step, Kernel::Bump, Kernel::Bump],
            Self::Logistic => [Kernel::Softplus, Kernel::Step, Kernel::Reverse],
        }
    }
}

/// A function of u = (target − source) that is summed over panels. For u < 0 it follows from u > 0: σ(u) = 1 − σ(−u), and
/// ln(1 + e^u) = ln(1 + e^(−u)) + u.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::pairs) enum Kernel {
    /// ln(1 + e^(−u))
    Softplus,
    /// σ(−u)
    Step,
    /// σ(u)
    Reverse,
    /// σ(u)σ(−u)
    Bump,
}

impl Kernel {
    /// Coefficient of e^(−k|u|), by side (0: u > 0, 1: u < 0), the constant, and the factor of |u|.
    pub(in crate::pairs) fn far(self, side: usize, k: usize) -> f64 {
        let sign = if k % 2 == 1 { 1.0 } else { -1.0 };
        match self {
            Self::Softplus => sign / k as f64,
            Self::Step | Self::Reverse => sign * self.sign(side),
            Self::Bump => sign * k as f64,
        }
    }
    pub(in crate::pairs) fn constant(self, side: usize) -> f64 {
        if matches!((self, side), (Self::Step, 1) | (Self::Reverse, 0)) { 1.0 } else { 0.0 }
    }
    pub(in crate::pairs) fn linear(self, side: usize) -> f64 {
        if matches!((self, side), (Self::Softplus, 1)) { 1.0 } else { 0.0 }
    }
    /// Factor of what the table holds, to which the constant and |u| are added.
    fn sign(self, side: usize) -> f64 {
        1.0 - 2.0 * self.constant(side)
    }
}

/// 1, x, x², …
#[inline(always)]
pub(in crate::pairs) fn powers<const P: usize>(x: f64) -> [f64; P] {
    let mut p = [1.0; P];
    for k in 1..P {
        p[k] = if k % 2 == 0 { p[k / 2] * p[k / 2] } else { p[k - 1] * x };
    }
    p
}

#[inline(always)]
pub(in crate::pairs) fn horner<const P: usize>(c: &[f64; P], x: f64) -> f64 {
    let mut sum = c[P - 1];
    for k in (0..P - 1).rev() {
        sum = sum * x + c[k];
    }
    sum
}

impl<const P: usize> Tables<'_, P> {
    /// Local polynomials of Σ_sources kernel(target − source) at the panels where rows are `wanted`: those whose moments
    /// there are not 0. The others get anything. `held` are the panels that hold rows.
    pub(super) fn sum(
        &self,
        kernel: Kernel,
        numbers: &[f64],
        held: &[u64],
        moments: &[[f64; P]],
        wanted: &[[f64; P]],
        local: &mut [[f64; P]],
    ) {
        let len = if local.len() < MANY { local.len().max(1) } else { local.len().div_ceil(PARTS) };
        let parts = parts_of_mut(local, len).enumerate();
        each(parts, |(part, local)| self.near(kernel, numbers, moments, wanted, part * len, local));
        self.far(kernel, numbers, held, moments, wanted, local);
    }

    /// Writes what comes from the panels that the tables reach to those from `first` on.
    pub(in crate::pairs) fn near(
        &self,
        kernel: Kernel,
        numbers: &[f64],
        moments: &[[f64; P]],
        wanted: &[[f64; P]],
        first: usize,
        local: &mut [[f64; P]],
    ) {
        const NOTHING: f64 = f64::INFINITY;
        let of_value = self.shape.kernels()[0] == kernel;
        let table = if of_value { self.value } else { self.slope };
        let reach = (table.len() - 1) as f64;
        let width = 2.0 * self.half;
        for (target, out) in (first..).zip(local) {
            *out = [0.0; P];
            let (Some(wanted), Some(&here)) = (wanted.get(target), numbers.get(target)) else { continue };
            if wanted[0] == 0.0 {
                continue;
            }
            let (mut below, mut above) = (target + 1, target + 1);
            // Σ of the sources and, above, of their distances.
            let (mut masses, mut length) = ([0.0; 2], 0.0);
            loop {
                // The panels next in distance, one on either side where both are as far.
                let left = numbers.get(below.wrapping_sub(1)).map_or(NOTHING, |there| here - there);
                let right = numbers.get(above).map_or(NOTHING, |there| there - here);
                let distance = left.or_smaller(right);
                if distance > reach {
                    break;
                }
                let mut sources = [&[0.0; P]; 2];
                if left == distance {
                    below -= 1;
                    sources[0] = moments.get(below).unwrap_or(sources[0]);
                }
                if right == distance {
                    sources[1] = moments.get(above).unwrap_or(sources[1]);
                    above += 1;
                }
                let [left, right] = sources;
                if left[0] == 0.0 && right[0] == 0.0 {
                    continue; // weights of one sign: empty panels
                }
                for side in 0..2 {
                    masses[side] += sources[side][0];
                }
                length += width * distance * right[0] + self.half * right[1];
                // C[a][b] = (−1)^(a+b) C[b][a], and so it is for −D: even and odd coefficients take sums and differences.
                let Some(c) = table.get(distance as usize) else { break };
                let (of_left, of_right) = (kernel.sign(0), kernel.sign(1));
                for (b, row) in c.iter().enumerate() {
                    let (left, right) = (of_left * left[b], of_right * right[b]);
                    let (sum, difference) = (right + left, right - left);
                    let by = if b % 2 == 0 { [sum, difference] } else { [difference, sum] };
                    for a in 0..P {
                        out[a] += by[a % 2] * row[a];
                    }
                }
            }
            out[0] += kernel.constant(0) * masses[0] + kernel.constant(1) * masses[1];
            out[0] += kernel.linear(1) * length;
            out[1] -= kernel.linear(1) * self.half * masses[1];
        }
    }

    /// Adds the panels more than `near` away: from the left (side 0) and from the right (side 1).
    fn far(
        &self,
        kernel: Kernel,
        numbers: &[f64],
        held: &[u64],
        moments: &[[f64; P]],
        wanted: &[[f64; P]],
        local: &mut [[f64; P]],
    ) {
        let (count, width, reach) = (held.len(), 2.0 * self.half, (self.value.len() - 1) as f64);
        let decay = |distance: f64| fading_powers(width * distance, REACH);
        let (one, entry) = (decay(1.0), decay(reach + 1.0));
        for side in 0..2 {
            let mirror = if side == 0 { 1.0 } else { -1.0 };
            let at = |k: usize| held.at(if side == 0 { k } else { count - 1 - k }) as usize;
            // Σ e^(−k·distance), the number of sources, and Σ of their distances.
            let (mut sums, mut mass, mut length) = ([0.0; TERMS], 0.0, 0.0);
            let mut next = 0;
            for k in 0..count {
                let target = at(k);
                if k > 0 {
                    let step = (numbers.at(target) - numbers.at(at(k - 1))) * mirror;
                    let factor = if step == 1.0 { one } else { decay(step) };
                    for q in 0..TERMS {
                        sums[q] = (sums[q] * factor[q]).settled();
                    }
                    length += mass * (width * step);
                }
                while next < k {
                    let source = at(next);
                    let distance = (numbers.at(target) - numbers.at(source)) * mirror;
                    if distance <= reach {
                        break;
                    }
                    next += 1;
                    let Some(m) = moments.get(source).filter(|m| m[0] != 0.0) else { continue };
                    let factor = if distance == reach + 1.0 { entry } else { decay(distance) };
                    for ((total, factor), growth) in sums.iter_mut().zip(&factor).zip(self.growth) {
                        let mut sum = 0.0;
                        let mut sign = 1.0;
                        for p in 0..P {
                            sum += sign * growth[p] * m[p];
                            sign *= mirror;
                        }
                        *total += (factor * sum).settled();
                    }
                    mass += m[0];
                    length += width * distance * m[0] - mirror * self.half * m[1];
                }
                if next == 0 || wanted.get(target).is_none_or(|wanted| wanted[0] == 0.0) {
                    continue;
                }
                let Some(out) = local.get_mut(target) else { break };
                for ((term, sum), growth) in (1..).zip(&sums).zip(self.growth) {
                    let scaled = kernel.far(side, term) * sum;
                    let mut sign = 1.0;
                    for p in 0..P {
                        out[p] += scaled * sign * growth[p];
                        sign *= -mirror;
                    }
                }
                out[0] += kernel.constant(side) * mass;
                // Distances may not fit where only the softplus asks for them.
                if kernel.linear(side) != 0.0 {
                    out[0] += kernel.linear(side) * length;
                    out[1] += kernel.linear(side) * mirror * self.half * mass;
                }
            }
        }
    }
}

/// −ln of `FAINT`.
const REACH: f64 = 485.0 * core::f64::consts::LN_2;

/// e^(−d), e^(−2d), … for d > 0, and 0 for those beyond e^(−`reach`).
pub(in crate::pairs) fn fading_powers(d: f64, reach: f64) -> [f64; TERMS] {
    let mut out = [0.0; TERMS];
    let once = if d < reach { Real::exp(-d) } else { 0.0 };
    let mut power = once;
    for out in out.iter_mut().take((reach / d) as usize) {
        *out = power;
        power *= once;
    }
    out
}
