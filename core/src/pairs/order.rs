//! The thresholds of one stream in order, and the rank of any score among them.

use super::streams::index;
use crate::real::Real;
use crate::slices::Place;
use core::cmp::Ordering;

/// Steps of a ladder at most.
const STEPS: usize = 1 << 15;
/// A step with more thresholds is sorted, and searched, by comparisons.
const CROWD: usize = 8;

/// Steps for a number of thresholds.
const fn steps(count: usize) -> usize {
    if 4 * count + 8 > STEPS { STEPS } else { 4 * count + 8 }
}

/// The edges of one stream, numbered through: near edges `near[k]` − `margin`, then far edges `far[k]` − `far_margin`.
pub(super) struct Edges<'a> {
    pub(super) near: &'a [f64],
    pub(super) margin: f64,
    pub(super) far: &'a [f64],
    pub(super) far_margin: f64,
}

impl Edges<'_> {
    /// Ascending; edges of one kind by score, then by number. Where they coincide near edges come first: a near edge may
    /// have been rounded up onto a far edge, and a row that lies there is above the former alone.
    fn compare(&self, a: u32, b: u32) -> Ordering {
        let count = self.near.len();
        let score =
            |k: u32| if (k as usize) < count { self.near.at(k as usize) } else { self.far.at(k as usize - count) };
        let threshold = |k: u32| score(k) - if (k as usize) < count { self.margin } else { self.far_margin };
        let far = |k: u32| (k as usize) >= count;
        let order = |x: f64, y: f64| x.partial_cmp(&y).unwrap_or(Ordering::Equal);
        if far(a) == far(b) {
            order(score(a), score(b)).then(a.cmp(&b))
        } else {
            order(threshold(a), threshold(b)).then(far(a).cmp(&far(b)))
        }
    }
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

    /// Over the edges of one stream. Writes their numbers in ascending order to `order`. The memory is that of
    /// [`need`](Self::need).
    pub(super) fn new(edges: &Edges<'_>, order: &mut [u32], memory: &'a mut [u32]) -> Self {
        let steps = steps(order.len());
        Self::with_steps(steps, edges, order, memory)
    }

    /// The same of so many steps, with memory for two more.
    #[inline(always)] // (`new` is as small as it would be alone.)
    pub(super) fn with_steps(steps: usize, edges: &Edges<'_>, order: &mut [u32], memory: &'a mut [u32]) -> Self {
        let mut range: Option<(f64, f64)> = None;
        for (x, margin) in [(edges.near, edges.margin), (edges.far, edges.far_margin)] {
            for &x in x {
                let t = x - margin;
                let (low, high) = range.unwrap_or((t, t));
                range = Some((low.or_smaller(t), high.or_larger(t)));
            }
        }
        let (low, high) = range.unwrap_or((0.0, 0.0));
        let last = (steps - 1) as f64;
        let scale = if high > low { (last / (high - low)).or_smaller(f64::MAX) } else { 0.0 };
        let step = |t: f64| index(t, low, scale, last) as usize;
        // Counting by steps puts nearly all in order. While it goes on, entry b + 1 is where the next one of step b
        // belongs; in the end that is the start of step b + 1.
        let starts = memory.span_mut(0..steps + 2);
        starts.fill(0);
        let mut count = |t: f64| {
            if let Some(count) = starts.get_mut(step(t) + 2) {
                *count += 1;
            }
        };
        edges.near.iter().for_each(|&x| count(x - edges.margin));
        edges.far.iter().for_each(|&x| count(x - edges.far_margin));
        let (mut sum, mut most) = (0, 0);
        for start in starts.iter_mut() {
            most = most.max(*start);
            sum += *start;
            *start = sum;
        }
        let mut put = |t: f64, k: u32| {
            if let Some(next) = starts.get_mut(step(t) + 1) {
                order.put(*next as usize, k);
                *next += 1;
            }
        };
        for (&x, k) in edges.near.iter().zip(0..) {
            put(x - edges.margin, k);
        }
        for (&x, k) in edges.far.iter().zip(edges.near.len() as u32..) {
            put(x - edges.far_margin, k);
        }
        if most as usize > CROWD {
            for (&start, &end) in starts.iter().zip(starts.iter().skip(1)) {
                if (end - start) as usize > CROWD {
                    let crowd = order.span_mut(start as usize..end as usize);
                    crate::sort::ascending_by(crowd, |a, b| edges.compare(a, b));
                }
            }
        }
        for k in 1..order.len() {
            let mut at = k;
            while at > 0
                && let Some([low, high]) = order.get_mut(at - 1..=at)
                && edges.compare(*high, *low).is_lt()
            {
                core::mem::swap(low, high);
                at -= 1;
            }
        }
        Self { low, scale, last, starts }
    }

    /// Writes how many edges are below each x: `is_below(k, x)` tells it of the k-th in order, and never of the one
    /// after the last.
    #[inline(always)]
    pub(super) fn ranks(&self, x: &[f64], ranks: &mut [u32], is_below: impl Fn(u32, f64) -> bool) {
        for (rank, &x) in ranks.iter_mut().zip(x) {
            *rank = index(x, self.low, self.scale, self.last);
        }
        for (rank, &x) in ranks.iter_mut().zip(x) {
            let step = *rank as usize;
            let Some(&start) = self.starts.get(step) else { break };
            // One step without a branch reaches the place nearly always.
            let k = start + u32::from(is_below(start, x));
            *rank = if is_below(k, x) { search(k, self.starts.at(step + 1).max(k), |k| is_below(k, x)) } else { k };
        }
    }
}

/// The first of `from..to` that is not below. Above all of them is common: a crowd of ties is a single point.
#[cold]
fn search(from: u32, to: u32, is_below: impl Fn(u32) -> bool) -> u32 {
    if to == from || is_below(to - 1) {
        return to;
    }
    let (mut low, mut high) = (from, to - 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_below(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
