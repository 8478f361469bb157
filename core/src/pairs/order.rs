//! The thresholds of one stream in order, and the rank of any score among them.

use super::streams::index;
use crate::real::Real;

/// Steps of a ladder at most.
const STEPS: usize = 1 << 15;
/// A step with more thresholds is sorted, and searched, by comparisons.
const CROWD: usize = 8;

/// Steps for a number of thresholds.
const fn steps(count: usize) -> usize {
    if 4 * count + 8 > STEPS { STEPS } else { 4 * count + 8 }
}

/// Equal steps over sorted thresholds: the number of thresholds below x in constant expected time, in logarithmic time
/// where they crowd.
#[derive(Clone, Copy)]
pub(super) struct Ladder<'a> {
    low: f64,
    scale: f64,
    last: f64,
    /// Thresholds on lower steps, by step, and their number at the end.
    starts: &'a [u32],
}

impl<'a> Ladder<'a> {
    /// `u32` elements for `count` thresholds.
    pub(super) const fn need(count: usize) -> usize {
        steps(count) + 2
    }

    /// Over the thresholds `x[k] − margin` of one stream. Writes the k in ascending order of x to `order`, equal ones by
    /// k. The memory is that of [`need`](Self::need).
    pub(super) fn new(x: &[f64], margin: f64, order: &mut [u32], memory: &'a mut [u32]) -> Self {
        let first = x.first().copied().unwrap_or(0.0);
        let (mut low, mut high) = (first, first);
        for &x in x {
            low = low.or_smaller(x);
            high = high.or_larger(x);
        }
        let (low, high) = (low - margin, high - margin);
        let steps = steps(x.len());
        let last = (steps - 1) as f64;
        let scale = if high > low { (last / (high - low)).or_smaller(f64::MAX) } else { 0.0 };
        // Counting by steps puts nearly all in order. While it goes on, entry b + 1 is where the next one of step b
        // belongs; in the end that is the start of step b + 1.
        let starts = &mut memory[..steps + 2];
        starts.fill(0);
        let step = |x: f64| index(x - margin, low, scale, last) as usize;
        for &x in x {
            starts[step(x) + 2] += 1;
        }
        let (mut sum, mut most) = (0, 0);
        for start in starts.iter_mut() {
            most = most.max(*start);
            sum += *start;
            *start = sum;
        }
        for (k, &x) in (0..).zip(x) {
            let next = &mut starts[step(x) + 1];
            order[*next as usize] = k;
            *next += 1;
        }
        if most as usize > CROWD {
            let key = |&k: &u32| (x.get(k as usize).map_or(0, |x| x.key()), k);
            for ends in starts.windows(2) {
                if (ends[1] - ends[0]) as usize > CROWD {
                    order[ends[0] as usize..ends[1] as usize].sort_unstable_by_key(key);
                }
            }
        }
        for k in 1..order.len() {
            let mut at = k;
            while at > 0 && x[order[at] as usize] < x[order[at - 1] as usize] {
                order.swap(at, at - 1);
                at -= 1;
            }
        }
        Self { low, scale, last, starts }
    }

    /// The step of x, which never falls as x rises.
    #[inline(always)]
    pub(super) fn step(&self, x: f64) -> u32 {
        index(x, self.low, self.scale, self.last)
    }

    /// How many thresholds are below x, whose step is known. `cells[k + 1][0]` − `margin` is threshold k, after the last
    /// of which comes one of +∞.
    #[inline(always)]
    pub(super) fn below(&self, step: u32, x: f64, margin: f64, cells: &[[f64; 4]]) -> u32 {
        let is_below = |k: u32| (x - cells[k as usize + 1][0]) + margin > 0.0;
        let start = self.starts[step as usize];
        // One step without a branch reaches the place nearly always.
        let k = start + u32::from(is_below(start));
        if is_below(k) { self.search(step, k, x, margin, cells) } else { k }
    }

    #[inline(never)]
    fn search(&self, step: u32, from: u32, x: f64, margin: f64, cells: &[[f64; 4]]) -> u32 {
        let end = self.starts[step as usize + 1].max(from);
        let run = &cells[from as usize + 1..end as usize + 1];
        let is_below = |cell: &[f64; 4]| (x - cell[0]) + margin > 0.0;
        // Above all of a crowd is common: a crowd of ties is a single point.
        if run.last().is_none_or(is_below) { end } else { from + run.partition_point(is_below) as u32 }
    }
}
