//! Sigmoid and logistic losses over scores that spread over more panels than the scratch holds.
//!
//! The rows of each class are sorted. A window then takes as many consecutive panels that hold rows as there is memory for,
//! with the panels within reach of the tables on either side of them, and goes through them as `panel` does. What lies
//! further away on one side is carried from panel to panel as sums of e^(−kd): from the left as the windows go by, from the
//! right as one walk over all rows before has left it at the end of every window.
//!
//! Source and notation: `panel`. Cost: O(n log n + K·(P² + the panels within reach)) for K panels that hold rows. Memory:
//! 36 bytes a row and 16 a positive, beside the panels of one window, and 200 bytes for every window.

use super::carry::Carry;
use super::panel::{Kernel, Smooth, horner, powers, rounded};
use super::tables::{FAST_TERMS, FULL_TERMS, Tables, furthest, tables_len, width};
use super::weight::{Class, Range, Rows};
use super::weighted::{Side, sides};
use crate::real::Real;
use crate::scratch::{Need, Scratch};

/// Panels of a window, with those on either side.
pub(super) const PANELS: usize = 1 << 12;
/// Arrays of polynomials that a window keeps: moments of two sources, rows of two classes, four results.
const ARRAYS: usize = 8;
/// Numbers of panels are below this.
const MOST: f64 = 1e200;
/// Panels that are left for a window's own rows.
pub(super) const OWN: usize = PANELS - 2 * (furthest(FAST_TERMS) + 1);
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

/// Where windows begin: for each the first row of both classes, in one number.
struct Windows<'a> {
    starts: &'a [u64],
    /// Rows of each class.
    ends: [usize; 2],
}

impl Windows<'_> {
    fn start(&self, k: usize) -> [usize; 2] {
        [(self.starts[k] >> 32) as usize, (self.starts[k] & u64::from(u32::MAX)) as usize]
    }

    fn end(&self, k: usize) -> [usize; 2] {
        if k + 1 < self.starts.len() { self.start(k + 1) } else { self.ends }
    }
}

/// The panels of a window and those within reach.
struct Panels<'a, const P: usize> {
    numbers: &'a [f64],
    /// Of each source.
    moments: [&'a [[f64; P]]; 2],
    /// How many rows of each class, the first number of each.
    present: [&'a [[f64; P]]; 2],
    /// The window's own.
    own: core::ops::Range<usize>,
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

    /// Where the windows begin, written to `starts`.
    fn windows<'w>(&self, starts: &'w mut [u64]) -> Windows<'w> {
        let (mut from, mut count, mut held) = ([0; 2], 0, 0);
        while let Some(number) = self.next(from) {
            if held == 0 {
                starts[count] = (from[0] as u64) << 32 | from[1] as u64;
                count += 1;
            }
            from = core::array::from_fn(|class| self.end(class, from[class], number));
            held = (held + 1) % self.own;
        }
        Windows { starts: &starts[..count], ends: self.rows.map(|rows| rows.scores.len()) }
    }

    /// The last panel before some rows.
    fn last(&self, to: [usize; 2]) -> f64 {
        let of = |class: usize| if to[class] > 0 { self.number(class, to[class] - 1) } else { f64::NEG_INFINITY };
        of(0).or_larger(of(1))
    }

    /// The distance up to which tables serve, in panels.
    fn reach(&self) -> f64 {
        (self.tables.value.len() - 1) as f64
    }

    /// Goes over all rows from the right, and keeps for each window what the sources beyond its reach amount to.
    fn carry(&self, sources: [Source<'_>; 2], windows: &Windows<'_>, carries: &mut [f64]) {
        let mut right = [Carry::NONE; 2];
        let mut left_to = windows.ends;
        for k in (0..windows.starts.len()).rev() {
            let top = self.last(windows.end(k)) + self.reach();
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
    }

    /// The panels of the window between two numbers, with those within reach of it.
    fn panels<'w>(
        &self,
        sources: [Source<'_>; 2],
        (bottom, top): (f64, f64),
        numbers: &'w mut [f64],
        [first, second, of_low, of_high]: [&'w mut [[f64; P]]; 4],
    ) -> Panels<'w, P> {
        let reach = self.reach();
        let (mut rows, high) =
            (self.before(|number| number < bottom - reach), self.before(|number| number <= top + reach));
        let (mut held, mut own) = (0, None::<core::ops::Range<usize>>);
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
                own = Some(own.map_or(held, |own| own.start)..held + 1);
            }
            (rows, held) = (ends, held + 1);
        }
        Panels {
            numbers: &numbers[..held],
            moments: [&first[..held], &second[..held]],
            present: [&of_low[..held], &of_high[..held]],
            own: own.unwrap_or_default(),
        }
    }

    /// Adds what lies further away on one side to a panel.
    fn add_far(
        &self,
        sums: &[Sum],
        panels: &Panels<'_, P>,
        carries: &[Carry; 2],
        side: usize,
        target: usize,
        locals: &mut [&mut [[f64; P]]],
    ) {
        let mirror = if side == 0 { 1.0 } else { -1.0 };
        for (source, carry) in carries.iter().enumerate().filter(|(_, carry)| carry.mass != 0.0) {
            let is_asked = |sum: &Sum| sum.source == source && panels.present[sum.at][target][0] > 0.0;
            if sums.iter().any(is_asked) {
                let seen = carry.seen(&self.tables, mirror, panels.numbers[target]);
                for (sum, local) in sums.iter().zip(&mut *locals).filter(|(sum, _)| is_asked(sum)) {
                    seen.spread(&self.tables, side, sum.kernel, &mut local[target]);
                }
            }
        }
    }

    /// Moves on to a panel: see [`Carry::absorb`].
    fn absorb(&self, carries: &mut [Carry; 2], mirror: f64, panels: &Panels<'_, P>, at: usize) {
        for (carry, moments) in carries.iter_mut().zip(panels.moments) {
            carry.absorb(&self.tables, mirror, panels.numbers[at], &moments[at]);
        }
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
        let reach = self.reach();
        let windows = self.windows(starts);
        self.carry(sources, &windows, carries);
        let mut left = [Carry::NONE; 2];
        for k in 0..windows.starts.len() {
            let (from, to) = (windows.start(k), windows.end(k));
            let Some(bottom) = self.next(from) else { break };
            let panels = self.panels(sources, (bottom, self.last(to)), numbers, [first, second, of_low, of_high]);
            let Panels { numbers, moments, present, own } = &panels;
            for (sum, local) in sums.iter().zip(&mut *locals) {
                let Sum { kernel, source, at } = *sum;
                self.tables.near(kernel, numbers, moments[source], present[at], own.start, &mut local[own.clone()]);
            }
            let mut next = 0;
            for target in own.clone() {
                while numbers[target] - numbers[next] > reach {
                    self.absorb(&mut left, 1.0, &panels, next);
                    next += 1;
                }
                self.add_far(sums, &panels, &left, 0, target, locals);
            }
            let mut right: [Carry; 2] =
                core::array::from_fn(|source| Carry::load(&carries[Carry::LEN * (2 * k + source)..]));
            let mut above = numbers.len();
            for target in own.clone().rev() {
                while numbers[above - 1] - numbers[target] > reach {
                    above -= 1;
                    self.absorb(&mut right, -1.0, &panels, above);
                }
                self.add_far(sums, &panels, &right, 1, target, locals);
            }
            // What is out of reach of the next window.
            let beyond = self.next(to).map_or(f64::INFINITY, |number| number - reach);
            while next < own.end && numbers[next] < beyond {
                self.absorb(&mut left, 1.0, &panels, next);
                next += 1;
            }
            self.put(sums, from, &panels, locals, put);
        }
    }

    /// The sums at every row of a window, whose rows begin at `from`.
    fn put(
        &self,
        sums: &[Sum],
        from: [usize; 2],
        panels: &Panels<'_, P>,
        locals: &[&mut [[f64; P]]],
        put: &mut dyn FnMut(usize, usize, &[f64; 4]),
    ) {
        let mut rows = from;
        for target in panels.own.clone() {
            for class in 0..2 {
                let end = rows[class] + panels.present[class][target][0] as usize;
                for row in rows[class]..end {
                    let x = 2.0 * (self.rows[class].scores[row] * self.inverse - panels.numbers[target]);
                    let (mut out, mut filled) = ([0.0; 4], 0);
                    for (_, local) in sums.iter().zip(locals).filter(|(sum, _)| sum.at == class) {
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

    /// The place of a row's slope: positives first.
    fn place(&self, class: usize, row: usize) -> usize {
        if class == 1 { row } else { self.rows[1].scores.len() + row }
    }

    /// The mean over pairs, with the slopes of its rows.
    fn auc(&self, of: Smooth<'_>, memory: &mut Memory<'_, P>, slopes: &mut [f64]) -> Option<f64> {
        let [of_value, of_slope, back] = of.shape.kernels();
        let sources = [0, 1].map(|class| Source { class, weights: self.rows[class].masses });
        let sums = [(of_value, 0, 1), (of_slope, 0, 1), (back, 1, 0)];
        let sums = sums.map(|(kernel, source, at)| Sum { kernel, source, at });
        let step = of.scale * of.unit;
        let mut value = 0.0;
        self.run(sources, &sums, memory, &mut |class, row, out| {
            let mass = self.rows[class].masses[row];
            slopes[self.place(class, row)] = if class == 1 {
                value += mass * out[0];
                -(step * (mass * out[1]))
            } else {
                step * (mass * out[0])
            };
        });
        Some(value * of.unit).filter(|value| value.is_finite())
    }

    /// The AP objective, with the slopes of its rows; `rest` keeps two weights of every positive.
    fn ap(&self, of: Smooth<'_>, memory: &mut Memory<'_, P>, rest: &mut [f64], slopes: &mut [f64]) -> Option<f64> {
        let [of_value, of_slope, back] = of.shape.kernels();
        let sources = [0, 1].map(|class| Source { class, weights: self.rows[class].masses });
        let positives = self.rows[1].scores.len();
        let (beta, rest) = rest.split_at_mut(positives);
        let (both, _) = rest.split_at_mut(positives);
        let sums = [(of_value, 0), (of_value, 1), (of_slope, 0), (of_slope, 1)];
        let sums = sums.map(|(kernel, source)| Sum { kernel, source, at: 1 });
        let mut value = 0.0;
        self.run(sources, &sums, memory, &mut |class, row, out| {
            let share = of.unit * self.rows[class].masses[row];
            let [g_n, g_p, slope_n, slope_p] = *out;
            let inverse = 1.0 / (g_n + g_p);
            value -= share * (g_p * inverse);
            (beta[row], both[row]) = (share * g_p * inverse * inverse, -(share * g_n * inverse * inverse));
            slopes[row] = -of.scale * (both[row] * slope_p + beta[row] * slope_n);
        });
        if !(value.is_finite() && beta.iter().chain(&*both).all(|weight| weight.is_finite())) {
            return None;
        }
        slopes[positives..].fill(0.0);
        let sources = [&*beta, &*both].map(|weights| Source { class: 1, weights });
        let sums = [0, 1].map(|class| Sum { kernel: back, source: class, at: class });
        self.run(sources, &sums, memory, &mut |class, row, out| {
            slopes[self.place(class, row)] += of.scale * (self.rows[class].masses[row] * out[0]);
        });
        Some(value)
    }
}

/// The mean of ℓ over pairs, or the `AP` objective, and its derivative by every score: see `panel`. Windows have `own`
/// panels. `None` when panels cannot be numbered, or the sum leaves the range.
pub(super) fn sum<S: Real, Y: Class, G: Real, const AP: bool, const P: usize>(
    rows: Rows<'_, S, Y>,
    of: Smooth<'_>,
    own: usize,
    scratch: Scratch<'_, f64>,
    grad: &mut [G],
) -> Option<f64> {
    let ([high, low], memory) = sides(rows, scratch.u32, scratch.u64, scratch.f64);
    let (slopes, memory) = memory.split_at_mut(rows.len());
    let value = of_sorted::<AP, P>([low, high], rows.range, of, own, memory, scratch.u64, slopes)?;
    for (&row, &slope) in high.order.iter().chain(low.order).zip(&*slopes) {
        grad[row as usize] = G::settled_of(slope);
    }
    Some(value)
}

/// The same for sorted rows; derivatives in their order, positives first.
fn of_sorted<const AP: bool, const P: usize>(
    rows: [Side<'_>; 2],
    (low, high): Range,
    of: Smooth<'_>,
    own: usize,
    memory: &mut [f64],
    starts: &mut [u64],
    slopes: &mut [f64],
) -> Option<f64> {
    let (half, inverse) = width::<P>(of.scale)?;
    // Sums of distances fit, too.
    if !((low * inverse).abs() < MOST && (high * inverse).abs() < MOST) {
        return None;
    }
    let (tables, memory) = memory.split_at_mut(tables_len(P));
    let tables = Tables::<P>::given_or_made(of.made, of.shape, half, tables)?;
    let (numbers, memory) = memory.split_at_mut(PANELS);
    let count = rows[0].scores.len() + rows[1].scores.len();
    let (carries, memory) = memory.split_at_mut(windows(count, own) * 2 * Carry::LEN);
    let (arrays, rest) = memory.split_at_mut(ARRAYS * PANELS * P);
    let mut arrays = arrays.as_chunks_mut::<P>().0.chunks_exact_mut(PANELS);
    let arrays = core::array::from_fn(|_| arrays.next().unwrap_or_default());
    let mut memory = Memory { numbers, arrays, carries, starts };
    let sweep = Sweep { tables, inverse, rows, own };
    match AP {
        true => sweep.ap(of, &mut memory, rest, slopes),
        false => sweep.auc(of, &mut memory, slopes),
    }
}

#[cfg(all(test, feature = "alloc", not(feature = "compact")))]
mod tests {
    use super::*;
    use crate::pairs::all_pairs;
    use crate::pairs::tables::Shape;
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
        let pairs = if is_ap { 1 } else { scores.len() - positives };
        let unit = 1.0 / (positives * pairs) as f64;
        let (rows, of) =
            (Rows { scores, labels, positives, range }, Smooth { shape, scale: 1.0, unit, made: None, most: 0 });
        let value = match (is_ap, fast) {
            (false, true) => sum::<_, _, _, false, FAST_TERMS>(rows, of, own, scratch, &mut grad),
            (false, false) => sum::<_, _, _, false, FULL_TERMS>(rows, of, own, scratch, &mut grad),
            (true, true) => sum::<_, _, _, true, FAST_TERMS>(rows, of, own, scratch, &mut grad),
            (true, false) => sum::<_, _, _, true, FULL_TERMS>(rows, of, own, scratch, &mut grad),
        };
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
