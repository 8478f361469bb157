//! Sigmoid and logistic losses over scores that spread over more panels than the scratch holds.
//!
//! The rows of each class are sorted. A window then takes as many consecutive panels that hold rows as there is memory for,
//! with the panels within reach of the tables on either side of them, and goes through them as `panel.rs` does. What lies
//! further away on one side is carried from panel to panel as sums of e^(−kd): from the left as the windows go by, from the
//! right as one walk over all rows before has left it at the end of every window.
//!
//! Source and notation: `panel.rs`. Cost: O(n log n + K·(P² + the panels within reach)) for K panels that hold rows. Memory:
//! 36 bytes a row and 16 a positive, beside the panels of one window, and 200 bytes for every window.

use super::panel::{Kernel, fading_powers, horner, powers, rounded};
use super::tables::{FAST_TERMS, FULL_TERMS, Shape, TERMS, Tables, furthest, tables_len, width};
use super::weight::Class;
use super::weighted::{Side, sides};
use crate::real::Real;
use crate::scratch::{Need, Scratch};

/// Panels of a window, with those on either side.
pub(super) const PANELS: usize = 1 << 12;
/// Arrays of polynomials that a window keeps: moments of two sources, rows of two classes, four results.
const ARRAYS: usize = 8;
/// Sums from centre to centre below 2^−500 count as 0, and −ln of that: what they are of is further below `FAINT`.
const FAINTEST: (f64, f64) = (3.054_936_363_499_605e-151, 500.0 * core::f64::consts::LN_2);
/// Numbers of panels are below this.
const MOST: f64 = 1e200;
/// Panels that are left for a window's own rows.
pub(super) const OWN: usize = PANELS - 2 * (furthest(FAST_TERMS) + 1);
/// Terms this much smaller than the first of a sum are beyond its digits.
const FADED: f64 = 1e-20;
const _: () = assert!(furthest(FAST_TERMS) >= furthest(FULL_TERMS) && PANELS > 4 * furthest(FAST_TERMS));

/// What [`sum`] borrows for windows of so many panels.
pub(super) const fn need(rows: usize, positives: usize, ap: bool, own: usize) -> Need {
    let carries = windows(rows, own) * 2 * Carry::LEN;
    let sums = if ap { 2 * positives } else { 0 };
    let panels = PANELS + ARRAYS * PANELS * FULL_TERMS;
    Need { real: 0, f64: 3 * rows + sums + tables_len(FULL_TERMS) + panels + carries, u32: rows, u64: rows }
}

/// Windows at most.
const fn windows(rows: usize, own: usize) -> usize {
    rows / own + 1
}

/// A smooth surrogate, with its tables if they were made.
#[derive(Clone, Copy)]
pub(super) struct Smooth<'a> {
    pub shape: Shape,
    pub scale: f64,
    pub made: Option<&'a [f64]>,
    /// Of [`FAST_TERMS`].
    pub fast: bool,
    pub is_ap: bool,
}

/// Σ e^(−kd), the number, and Σ d of the sources on one side, d their distance in units of 1/c from the centre of a panel.
#[derive(Clone, Copy)]
struct Carry {
    number: f64,
    sums: [f64; TERMS],
    mass: f64,
    length: f64,
}

impl Carry {
    const LEN: usize = TERMS + 3;
    const NONE: Self = Self { number: f64::NAN, sums: [0.0; TERMS], mass: 0.0, length: 0.0 };

    fn store(&self, to: &mut [f64]) {
        to[..TERMS].copy_from_slice(&self.sums);
        to[TERMS..Self::LEN].copy_from_slice(&[self.number, self.mass, self.length]);
    }

    fn load(from: &[f64]) -> Self {
        let sums = core::array::from_fn(|q| from[q]);
        Self { number: from[TERMS], sums, mass: from[TERMS + 1], length: from[TERMS + 2] }
    }

    /// Moves on to a panel, whose sources then belong to the sums. They come from the left (`mirror` 1) or the right (−1).
    fn absorb<const P: usize>(&mut self, tables: &Tables<'_, P>, mirror: f64, number: f64, m: &[f64; P]) {
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
    fn seen<const P: usize>(&self, tables: &Tables<'_, P>, mirror: f64, number: f64) -> Self {
        let distance = 2.0 * tables.half * ((number - self.number) * mirror);
        let factor = fading_powers(distance, FAINTEST.1);
        let sums = core::array::from_fn(|q| (self.sums[q] * factor[q]).settled_below(FAINTEST.0));
        Self { number, sums, mass: self.mass, length: self.length + self.mass * distance }
    }

    /// Adds the sources of one side to the local polynomial of the panel that they are [seen](Self::seen) from.
    fn spread<const P: usize>(&self, tables: &Tables<'_, P>, side: usize, kernel: Kernel, out: &mut [f64; P]) {
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

/// What is summed: for the rows of class `at` (1: positives) the kernel over a source's rows.
#[derive(Clone, Copy)]
struct Sum {
    kernel: Kernel,
    source: usize,
    at: usize,
}

/// Rows of a class with a weight each.
#[derive(Clone, Copy)]
struct Source<'a> {
    class: usize,
    weights: &'a [f64],
}

/// The panels of all windows.
struct Sweep<'a, const P: usize> {
    tables: Tables<'a, P>,
    /// 1 / the width of a panel, a power of two.
    inverse: f64,
    rows: [Side<'a>; 2],
    /// Panels of a window.
    own: usize,
}

/// The memory of a window.
struct Memory<'a, const P: usize> {
    numbers: &'a mut [f64],
    arrays: [&'a mut [[f64; P]]; ARRAYS],
    carries: &'a mut [f64],
    /// The first row of each class of every window.
    starts: &'a mut [u64],
}

impl<const P: usize> Sweep<'_, P> {
    /// The panel of a row.
    fn number(&self, class: usize, row: usize) -> f64 {
        rounded(self.rows[class].scores[row] * self.inverse)
    }

    /// The next panel at or after these rows.
    fn next(&self, from: [usize; 2]) -> Option<f64> {
        let of = |class: usize| (from[class] < self.rows[class].scores.len()).then(|| self.number(class, from[class]));
        match (of(0), of(1)) {
            (Some(a), Some(b)) => Some(a.or_smaller(b)),
            (a, b) => a.or(b),
        }
    }

    /// The rows of each class before the first panel that `is_low` does not hold for.
    fn before(&self, is_low: impl Fn(f64) -> bool) -> [usize; 2] {
        self.rows.map(|rows| rows.scores.partition_point(|&s| is_low(rounded(s * self.inverse))))
    }

    /// The end of a panel's rows from `from` on.
    fn end(&self, class: usize, from: usize, number: f64) -> usize {
        let rows = self.rows[class].scores[from..].iter();
        from + rows.take_while(|&&s| rounded(s * self.inverse) == number).count()
    }

    /// The moments of some rows of a panel.
    fn moments(&self, source: Source<'_>, from: usize, to: usize, number: f64) -> [f64; P] {
        let mut moments = [0.0; P];
        let scores = &self.rows[source.class].scores[from..to];
        for (&s, &weight) in scores.iter().zip(&source.weights[from..to]) {
            let powers = powers::<P>(2.0 * (s * self.inverse - number));
            moments.iter_mut().zip(powers).for_each(|(m, power)| *m += weight * power);
        }
        moments
    }

    /// Calls `put` with every row of the classes that sums are at: its class, its number among them, and the sums there, as
    /// many as there are of its class, in their order.
    fn run(
        &self,
        sources: [Source<'_>; 2],
        sums: &[Sum],
        memory: &mut Memory<'_, P>,
        put: &mut dyn FnMut(usize, usize, &[f64; 4]),
    ) {
        let Memory { numbers, arrays, carries, starts } = memory;
        let [first, second, of_low, of_high, locals @ ..] = arrays;
        let reach = (self.tables.value.len() - 1) as f64;
        // Where the windows begin.
        let (mut from, mut count, mut held) = ([0; 2], 0, 0);
        while let Some(number) = self.next(from) {
            if held == 0 {
                starts[count] = (from[0] as u64) << 32 | from[1] as u64;
                count += 1;
            }
            from = core::array::from_fn(|class| self.end(class, from[class], number));
            held = (held + 1) % self.own;
        }
        let start = |k: usize| [(starts[k] >> 32) as usize, (starts[k] & u64::from(u32::MAX)) as usize];
        let ends = self.rows.map(|rows| rows.scores.len());
        let end = |k: usize| if k + 1 < count { start(k + 1) } else { ends };
        // The last panel before some rows.
        let last = |to: [usize; 2]| {
            let of = |class: usize| if to[class] > 0 { self.number(class, to[class] - 1) } else { f64::NEG_INFINITY };
            of(0).or_larger(of(1))
        };
        // From the right.
        let mut right = [Carry::NONE; 2];
        let mut left_to = ends;
        for k in (0..count).rev() {
            let top = last(end(k)) + reach;
            let stop = self.before(|number| number <= top);
            for ((source, carry), kept) in
                sources.iter().zip(&mut right).zip(carries[2 * Carry::LEN * k..].chunks_mut(Carry::LEN))
            {
                let (mut to, stop) = (left_to[source.class], stop[source.class]);
                while to > stop {
                    let number = self.number(source.class, to - 1);
                    let mut from = to - 1;
                    while from > stop && self.number(source.class, from - 1) == number {
                        from -= 1;
                    }
                    carry.absorb(&self.tables, -1.0, number, &self.moments(*source, from, to, number));
                    to = from;
                }
                carry.store(kept);
            }
            left_to = stop;
        }
        let mut left = [Carry::NONE; 2];
        for k in 0..count {
            let (from, to) = (start(k), end(k));
            let Some(bottom) = self.next(from) else { break };
            let top = last(to);
            let (low, high) =
                (self.before(|number| number < bottom - reach), self.before(|number| number <= top + reach));
            // Its panels, and those of them that are its own.
            let (mut rows, mut held) = (low, 0);
            let mut own = (usize::MAX, 0);
            while let Some(number) = self.next(rows).filter(|_| rows[0] < high[0] || rows[1] < high[1]) {
                let ends: [usize; 2] = core::array::from_fn(|class| self.end(class, rows[class], number));
                numbers[held] = number;
                for (moments, source) in [&mut *first, &mut *second].into_iter().zip(sources) {
                    moments[held] = self.moments(source, rows[source.class], ends[source.class], number);
                }
                for (class, present) in [&mut *of_low, &mut *of_high].into_iter().enumerate() {
                    present[held] = [0.0; P];
                    present[held][0] = (ends[class] - rows[class]) as f64;
                }
                if number >= bottom && number <= top {
                    own = (own.0.min(held), held + 1);
                }
                (rows, held) = (ends, held + 1);
            }
            let numbers = &numbers[..held];
            let moments = [&first[..held], &second[..held]];
            let present = [&of_low[..held], &of_high[..held]];
            for (sum, local) in sums.iter().zip(&mut *locals) {
                let Sum { kernel, source, at } = *sum;
                self.tables.near(kernel, numbers, moments[source], present[at], own.0, &mut local[own.0..own.1]);
            }
            // Adds what lies further away to a panel.
            let mut far = |carries: &[Carry; 2], side: usize, target: usize| {
                let mirror = if side == 0 { 1.0 } else { -1.0 };
                for (source, carry) in carries.iter().enumerate().filter(|(_, carry)| carry.mass != 0.0) {
                    let is_asked = |sum: &Sum| sum.source == source && present[sum.at][target][0] > 0.0;
                    if sums.iter().any(is_asked) {
                        let seen = carry.seen(&self.tables, mirror, numbers[target]);
                        for (sum, local) in sums.iter().zip(&mut *locals).filter(|(sum, _)| is_asked(sum)) {
                            seen.spread(&self.tables, side, sum.kernel, &mut local[target]);
                        }
                    }
                }
            };
            let mut next = 0;
            for target in own.0..own.1 {
                while numbers[target] - numbers[next] > reach {
                    for (carry, moments) in left.iter_mut().zip(moments) {
                        carry.absorb(&self.tables, 1.0, numbers[next], &moments[next]);
                    }
                    next += 1;
                }
                far(&left, 0, target);
            }
            let mut right: [Carry; 2] =
                core::array::from_fn(|source| Carry::load(&carries[Carry::LEN * (2 * k + source)..]));
            let mut above = held;
            for target in (own.0..own.1).rev() {
                while numbers[above - 1] - numbers[target] > reach {
                    above -= 1;
                    for (carry, moments) in right.iter_mut().zip(moments) {
                        carry.absorb(&self.tables, -1.0, numbers[above], &moments[above]);
                    }
                }
                far(&right, 1, target);
            }
            // What is out of reach of the next window.
            let beyond = self.next(to).map_or(f64::INFINITY, |number| number - reach);
            while next < held && numbers[next] < beyond && next < own.1 {
                for (carry, moments) in left.iter_mut().zip(moments) {
                    carry.absorb(&self.tables, 1.0, numbers[next], &moments[next]);
                }
                next += 1;
            }
            let mut rows = from;
            for target in own.0..own.1 {
                for class in 0..2 {
                    let end = rows[class] + present[class][target][0] as usize;
                    for row in rows[class]..end {
                        let x = 2.0 * (self.rows[class].scores[row] * self.inverse - numbers[target]);
                        let (mut out, mut filled) = ([0.0; 4], 0);
                        for (_, local) in sums.iter().zip(&*locals).filter(|(sum, _)| sum.at == class) {
                            out[filled] = horner(&local[target], x);
                            filled += 1;
                        }
                        if filled > 0 {
                            put(class, row, &out);
                        }
                    }
                    rows[class] = end;
                }
            }
        }
    }
}

/// The mean of ℓ over pairs, or the AP objective, and its derivative by every score: see `panel.rs`. `unit` is what a pair, or
/// a positive, counts. `None` when panels cannot be numbered, or the sum leaves the range.
pub(super) fn sum<S: Real, Y: Class, G: Real>(
    scores: &[S],
    labels: &[Y],
    positives: usize,
    range: (f64, f64),
    smooth: Smooth<'_>,
    unit: f64,
    own: usize,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Option<f64> {
    let ([high, low], memory) = sides(scores, labels, positives, scratch.u32, scratch.u64, scratch.f64);
    let (slopes, memory) = memory.split_at_mut(scores.len());
    let value = if smooth.fast {
        of_sorted::<FAST_TERMS>([low, high], range, smooth, unit, own, memory, scratch.u64, slopes)
    } else {
        of_sorted::<FULL_TERMS>([low, high], range, smooth, unit, own, memory, scratch.u64, slopes)
    }?;
    for (&row, &slope) in high.order.iter().chain(low.order).zip(&*slopes) {
        grad[row as usize] = G::settled_of(slope);
    }
    Some(value)
}

/// The same for sorted rows; derivatives in their order, positives first.
fn of_sorted<const P: usize>(
    rows: [Side<'_>; 2],
    (low, high): (f64, f64),
    Smooth { shape, scale, made, is_ap, .. }: Smooth<'_>,
    unit: f64,
    own: usize,
    memory: &mut [f64],
    starts: &mut [u64],
    slopes: &mut [f64],
) -> Option<f64> {
    let (half, inverse) = width::<P>(scale)?;
    // Sums of distances fit, too.
    if !((low * inverse).abs() < MOST && (high * inverse).abs() < MOST) {
        return None;
    }
    let positives = rows[1].scores.len();
    let (tables, memory) = memory.split_at_mut(tables_len(P));
    let tables = Tables::<P>::given_or_made(made, shape, half, tables)?;
    let (numbers, memory) = memory.split_at_mut(PANELS);
    let (carries, memory) = memory.split_at_mut(windows(positives + rows[0].scores.len(), own) * 2 * Carry::LEN);
    let (arrays, rest) = memory.split_at_mut(ARRAYS * PANELS * P);
    let mut arrays = arrays.as_chunks_mut::<P>().0.chunks_exact_mut(PANELS);
    let arrays = core::array::from_fn(|_| arrays.next().unwrap_or_default());
    let mut memory = Memory { numbers, arrays, carries, starts };
    let sweep = Sweep { tables, inverse, rows, own };
    let [of_value, of_slope, back] = shape.kernels();
    let sources = [0, 1].map(|class| Source { class, weights: rows[class].masses });
    let place = |class: usize, row: usize| if class == 1 { row } else { positives + row };
    let mut value = 0.0;
    if !is_ap {
        let sums = [(of_value, 0, 1), (of_slope, 0, 1), (back, 1, 0)];
        let sums = sums.map(|(kernel, source, at)| Sum { kernel, source, at });
        let step = scale * unit;
        sweep.run(sources, &sums, &mut memory, &mut |class, row, out| {
            let mass = rows[class].masses[row];
            slopes[place(class, row)] = if class == 1 {
                value += mass * out[0];
                -(step * (mass * out[1]))
            } else {
                step * (mass * out[0])
            };
        });
        return Some(value * unit).filter(|value| value.is_finite());
    }
    let (beta, rest) = rest.split_at_mut(positives);
    let (both, _) = rest.split_at_mut(positives);
    let sums = [(of_value, 0), (of_value, 1), (of_slope, 0), (of_slope, 1)];
    let sums = sums.map(|(kernel, source)| Sum { kernel, source, at: 1 });
    sweep.run(sources, &sums, &mut memory, &mut |class, row, out| {
        let share = unit * rows[class].masses[row];
        let [g_n, g_p, slope_n, slope_p] = *out;
        let inverse = 1.0 / (g_n + g_p);
        value -= share * (g_p * inverse);
        (beta[row], both[row]) = (share * g_p * inverse * inverse, -(share * g_n * inverse * inverse));
        slopes[row] = -scale * (both[row] * slope_p + beta[row] * slope_n);
    });
    if !(value.is_finite() && beta.iter().chain(&*both).all(|weight| weight.is_finite())) {
        return None;
    }
    slopes[positives..].fill(0.0);
    let sources = [&*beta, &*both].map(|weights| Source { class: 1, weights });
    let sums = [0, 1].map(|class| Sum { kernel: back, source: class, at: class });
    sweep.run(sources, &sums, &mut memory, &mut |class, row, out| {
        slopes[place(class, row)] += scale * (rows[class].masses[row] * out[0]);
    });
    Some(value)
}

#[cfg(all(test, feature = "alloc", not(feature = "compact")))]
mod tests {
    use super::*;
    use crate::pairs::all_pairs;
    use crate::rng::Rng;
    use crate::surrogate::{Logistic, Sigmoid};
    use alloc::vec;
    use alloc::vec::Vec;

    fn normal(rng: &mut Rng, count: usize) -> Vec<f64> {
        (0..count).map(|_| rng.normal()).collect()
    }

    /// Value and gradient of both sums by windows of so many panels.
    fn by_windows(scores: &[f64], labels: &[u8], shape: Shape, fast: bool, own: usize, is_ap: bool) -> (f64, Vec<f64>) {
        let positives = labels.iter().filter(|&&y| y == 1).count();
        let need = need(scores.len(), positives, is_ap, own);
        let (mut f, mut i, mut k) = (vec![f64::NAN; need.f64], vec![9; need.u32], vec![9; need.u64.max(2)]);
        let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
        let range = scores.iter().fold((f64::MAX, f64::MIN), |(a, b), &s| (a.or_smaller(s), b.or_larger(s)));
        let mut grad = vec![f64::NAN; scores.len()];
        let smooth = Smooth { shape, scale: 1.0, made: None, fast, is_ap };
        let pairs = if is_ap { 1 } else { scores.len() - positives };
        let unit = 1.0 / (positives * pairs) as f64;
        let value = sum(scores, labels, positives, range, smooth, unit, own, scratch, &mut grad);
        (value.unwrap(), grad)
    }

    fn by_pairs(scores: &[f64], labels: &[u8], shape: Shape, is_ap: bool) -> (f64, Vec<f64>) {
        let positives = labels.iter().filter(|&&y| y == 1).count();
        let mut memory = vec![0.0; all_pairs::need(scores.len(), positives, true)];
        let mut grad = vec![0.0; scores.len()];
        let mean = 1.0 / (positives as f64 * (scores.len() - positives) as f64);
        let (sigmoid, logistic) = (Sigmoid::new(1.0).unwrap(), Logistic::new(1.0).unwrap());
        let value = match (shape, is_ap) {
            (Shape::Sigmoid, false) => all_pairs::auc(scores, labels, sigmoid, mean, &mut memory, &mut grad),
            (Shape::Logistic, false) => all_pairs::auc(scores, labels, logistic, mean, &mut memory, &mut grad),
            (Shape::Sigmoid, true) => all_pairs::ap(scores, labels, sigmoid, positives, &mut memory, &mut grad),
            (Shape::Logistic, true) => all_pairs::ap(scores, labels, logistic, positives, &mut memory, &mut grad),
        };
        (value.unwrap(), grad)
    }

    #[test]
    fn windows_of_any_size_are_all_pairs() {
        let mut rng = Rng::new(5);
        for round in 0..96 {
            let n = 40 + 37 * (round % 5);
            let stretch = [1.0, 10.0, 300.0, 1e5, 1e30, 1e17][round % 6];
            let scores: Vec<f64> = match round % 4 {
                0 => normal(&mut rng, n).iter().map(|s| stretch * s).collect(),
                1 => normal(&mut rng, n).iter().map(|s| Real::exp(12.0 * s)).collect(),
                2 => normal(&mut rng, n).iter().map(|s| libm::rint(8.0 * s) * stretch).collect(),
                _ => normal(&mut rng, n).iter().map(|s| s + stretch * libm::rint(3.0 * s)).collect(),
            };
            let mut labels: Vec<u8> = (0..n).map(|_| u8::from(rng.uniform() < 0.4)).collect();
            (labels[0], labels[1]) = (0, 1);
            for shape in [Shape::Sigmoid, Shape::Logistic] {
                for is_ap in [false, true] {
                    let (value, grad) = by_pairs(&scores, &labels, shape, is_ap);
                    // (Terms of both signs: twice the largest of a row is a fair size of its terms.)
                    for own in [1, 2, 7, 1000] {
                        let full = by_windows(&scores, &labels, shape, false, own, is_ap);
                        let fast = by_windows(&scores, &labels, shape, true, own, is_ap);
                        for (got, allowed) in [(full, 1e-12), (fast, 1e-6)] {
                            let near = |a: f64, b: f64, size: f64| (a - b).abs() <= allowed * size + f64::FAINT;
                            assert!(near(got.0, value, value.abs()), "{round} {own} {is_ap}: {} for {value}", got.0);
                            let largest = grad.iter().fold(0.0, |most: f64, g| most.or_larger(g.abs()));
                            for (row, (&got, &want)) in got.1.iter().zip(&grad).enumerate() {
                                let size = if is_ap { largest } else { want.abs() };
                                assert!(near(got, want, size), "{round} {own} {is_ap} row {row}: {got} for {want}");
                            }
                        }
                    }
                }
            }
        }
    }
}
