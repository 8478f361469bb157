//! Sigmoid and logistic loss over all pairs of a positive i and another row j, by panels, which are ranges of the order:
//! AUC, partial AUC and AP as of [`hinge`](super::hinge), with ℓ = 1/(1 + e^(ct)) or ln(1 + e^(−ct)) of t = s_i − s_j.
//!
//! ```text
//! Σ_s w_s ℓ(d + y_t − y_s) = Σ_p y_t^p/p! · Σ_m ℓ^(p+m)(d) M_m,   M_m = Σ_s w_s (−y_s)^m/m!,   p + m < 8
//! ```
//!
//! sums the rows s of one panel at the scores t of another, with y the distances from the middles and d that of the middles, in
//! units of the width, which is the power of two that is .1/c to .2/c: y and d are exact, and what the series leaves out is below
//! 10⁻⁸. Panels with |ct| > 30 are not summed: there the loss is 0 or, to 10⁻¹³, 1 or −ct, which the running sums of
//! [`scan`](super::scan) give. The derivatives of ℓ are a table, made in f64.
//!
//! Cost: 8 powers a row, and 36 products for each panel and those within 30/c of it. Memory: 1.6 MB.

use super::{Job, ROUNDS, on_order};
use undercurve::Error;

/// Terms of a series.
pub const TERMS: usize = 8;
/// Panels, at most.
pub const MOST_PANELS: usize = 1 << 14;
/// Panels from 0 to the farthest, at most: their middles are exact in f32.
const FARTHEST: f64 = (1 << 22) as f64;
/// Widths in units of 1/c, at most.
const WIDEST: f64 = 0.2;
/// From where on the loss is taken for its limit.
const REACH: f64 = 30.0;
/// Panels up to there.
pub(crate) const MOST_BAND: usize = 300;

const WIDTH: usize = 256;
/// Rows that an invocation sums before it adds them.
pub const STRETCH: usize = 64;
// `moments` of all rows in one panel: two rows a round, and one round more for each stretch. `spread`: its band.
const _: () =
    assert!(super::MOST_ROWS / WIDTH / 2 + super::MOST_ROWS / WIDTH / STRETCH + 8 <= ROUNDS && 2 * MOST_BAND < ROUNDS);

pub(crate) fn text() -> String {
    wgsl!("panel.wgsl").to_string()
}

pub(crate) fn smooth_text() -> String {
    on_order(wgsl!("smooth.wgsl"))
}

/// Panels over a range of scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// How many.
    pub panels: usize,
    /// The number of the lowest: panel k is from (origin + k) · width on.
    pub origin: i32,
    /// A power of two.
    pub width: f32,
    /// The width times c.
    pub unit: f32,
    /// Panels farther apart are far.
    pub band: usize,
    /// The loss is logistic, or else sigmoid.
    pub linear: bool,
}

impl Grid {
    /// Of a scale, for scores from `low` to `high`.
    ///
    /// # Errors
    /// `Param` for a scale outside 10⁻²⁵ to 10²⁵; `Unsupported` for more than 2¹⁴ panels, or scores more than 2²² panels from 0.
    pub fn of(scale: f32, linear: bool, [low, high]: [f32; 2]) -> Result<Self, Error> {
        let scale = f64::from(scale);
        if !(1e-25..=1e25).contains(&scale) {
            return Err(Error::Param { what: "scale" });
        }
        let mut width = 1.0f64;
        while scale * width > WIDEST {
            width *= 0.5;
        }
        while scale * width <= 0.5 * WIDEST {
            width *= 2.0;
        }
        let ends = [low, high].map(|s| (f64::from(s) / width).floor());
        if ends[1] - ends[0] >= MOST_PANELS as f64 || ends.iter().any(|end| end.abs() > FARTHEST) {
            return Err(Error::Unsupported {
                what: "sigmoid and logistic on the GPU where scores times the scale spread over 1,600 or lie 400,000 from 0",
            });
        }
        let unit = scale * width;
        Ok(Self {
            panels: (ends[1] - ends[0]) as usize + 1,
            origin: ends[0] as i32,
            width: width as f32,
            unit: unit as f32,
            band: (REACH / unit).ceil() as usize,
            linear,
        })
    }

    /// The derivatives of ℓ by t/width at the distances of −band … band panels, eight each.
    pub fn derivatives(&self) -> Vec<f32> {
        let unit = f64::from(self.unit);
        let band = self.band as i32;
        (-band..=band).flat_map(|k| derivatives(unit * f64::from(k), unit, self.linear)).map(|x| x as f32).collect()
    }
}

/// ℓ(t) and its derivatives, by t in units of `unit`/c, at ct = x.
fn derivatives(x: f64, unit: f64, linear: bool) -> [f64; TERMS] {
    // g = 1/(1 + e^|x|), so that no difference of nearly equal numbers is taken: g(−x) = 1 − g(x).
    let g = 1.0 / (1.0 + x.abs().exp());
    // g' = −g(1 − g), so each derivative is a polynomial in g.
    let mut polynomial = vec![0.0, 1.0];
    let mut of_sigmoid = [0.0; TERMS];
    for (order, to) in of_sigmoid.iter_mut().enumerate() {
        let value = polynomial.iter().rev().fold(0.0, |sum, c| sum * g + c);
        let other_side = if order == 0 {
            1.0 - value
        } else if order % 2 == 0 {
            -value
        } else {
            value
        };
        *to = if x < 0.0 { other_side } else { value };
        let mut next = vec![0.0; polynomial.len() + 1];
        for (power, c) in polynomial.iter().enumerate().skip(1) {
            next[power] -= power as f64 * c;
            next[power + 1] += power as f64 * c;
        }
        polynomial = next;
    }
    let mut factor = 1.0;
    let value = if linear { (-x.abs()).exp().ln_1p() + (-x).max(0.0) } else { of_sigmoid[0] };
    std::array::from_fn(|order| {
        let derivative = match (order, linear) {
            (0, _) => value,
            (_, true) => -of_sigmoid[order - 1],
            (_, false) => of_sigmoid[order],
        };
        let scaled = factor * derivative;
        factor *= unit;
        scaled
    })
}

/// Sums over the rows of one class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Series {
    /// The panels.
    pub grid: Grid,
    /// Where the class begins and ends in the order.
    pub class: [usize; 2],
    /// The first row that counts and the last.
    pub range: [usize; 2],
    /// The weights of those two, and 1 between them; none: each row has its own.
    pub ends: Option<[f32; 2]>,
    /// The rows are positives, and the sums at others.
    pub down: bool,
}

impl Series {
    /// As the shader has it.
    pub(crate) fn words(&self) -> [u32; 12] {
        let Self { grid, class: [start, end], range: [first, last], .. } = *self;
        let flags = u32::from(self.down) | u32::from(self.ends.is_none()) << 1 | u32::from(grid.linear) << 2;
        let [low, high] = self.ends.unwrap_or_default().map(f32::to_bits);
        let [first, last, start, end, panels, band] =
            [first, last, start, end, grid.panels, grid.band].map(|x| x as u32);
        let [width, unit] = [grid.width, grid.unit].map(f32::to_bits);
        [first, last, start, end, low, high, panels, grid.origin as u32, width, unit, band, flags]
    }
}

/// Over the negatives that count, at the positives.
pub fn negatives(job: &Job, grid: Grid) -> Series {
    Series { grid, class: [0, job.negatives], range: job.range, ends: Some(job.ends), down: false }
}

/// Over the positives, each with the weight 1: at others (`down`), or at each other.
pub fn positives(job: &Job, grid: Grid, down: bool) -> Series {
    let rows = job.negatives + job.positives;
    let (class, range) = ([job.negatives, rows], [job.negatives, rows - 1]);
    Series { grid, class, range, ends: Some([1.0; 2]), down }
}

/// Over the positives by their weights, at others.
pub fn weighted(job: &Job, grid: Grid) -> Series {
    Series { ends: None, ..positives(job, grid, true) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undercurve::surrogate::{AnySurrogate, Surrogate};

    /// Each derivative is that of the one before.
    #[test]
    fn derivatives_are_those_of_the_loss() {
        for linear in [false, true] {
            for x in [-29.0, -3.0, -0.3, 0.0, 0.1, 2.0, 11.0, 29.0] {
                let of = |x| derivatives(x, 1.0, linear);
                let own = of(x);
                let loss = AnySurrogate::by_name(if linear { "logistic" } else { "sigmoid" }, 1.0).unwrap();
                assert!((own[0] - loss.value(x)).abs() <= 1e-15 * own[0]);
                assert!((own[1] - loss.slope(x)).abs() <= 1e-15 * own[1].abs());
                let step = 1e-4;
                let (after, before) = (of(x + step), of(x - step));
                for order in 1..TERMS {
                    let difference = (after[order - 1] - before[order - 1]) / (2.0 * step);
                    // Beside the derivative two orders up: the difference is of second order, and rounds.
                    let scale = own[1].abs() * 1e3;
                    assert!((own[order] - difference).abs() <= 1e-7 * scale + 1e-11, "{order} at {x}: {difference}");
                }
            }
        }
    }
}
