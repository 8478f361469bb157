//! The two-way global contrastive loss of pairs of embeddings: each row's own pair against all rows of the data, not those of
//! its batch alone.
//!
//! Source: Yuan, Wu, Qiu, Du, Zhang, Zhou and Yang 2022, "Provable Stochastic Optimization for Global Contrastive Learning: Small
//! Batch Does Not Harm Performance" (SogCLR), with two views as in the paper of SONEX, appendix F.3:
//!
//! ```text
//! s_ij = ⟨a_i/‖a_i‖, b_j/‖b_j‖⟩,   L = 1/n Σ_i τ ln g_i + τ ln h_i
//! g_i = Σ_j e^{(s_ij − s_ii)/τ},   h_i = Σ_j e^{(s_ji − s_ii)/τ}     over all n rows
//! of a batch of B rows   ĝ_i = 1 + (n − 1)/(B − 1) Σ_{j ≠ i} e^{(s_ij − s_ii)/τ},   u_i tracks ĝ_i, v_i tracks ĥ_i (`Tracker`)
//! G = 1/B Σ_i (τ/u_i) ∇ĝ_i + (τ/v_i) ∇ĥ_i
//! ```
//!
//! With γ = 1 nothing runs: each batch's other rows stand for all. The mini-batch's own loss (InfoNCE) is that with n = B, where
//! a row's own 1 weighs as much as any of B rows and a pair that is found among them adds nothing more. Deviations: ‖a‖ is
//! √(a·a + 10⁻¹²), so that embeddings may be 0; u and v are at least 1, which g and h are.
//!
//! State: 1 + ln u and 1 + ln v of each of the n rows, 0 where there is none yet. Cost O(B²e) for embeddings of e numbers,
//! O(n²e) for the value over everything. Everything but embeddings, state and gradients is `f64`. Scratch: 2Be values,
//! B² + 2Be + 6B + e `f64`; of the value over everything 4n `f64`.

use super::constrained::Uses;
use super::tracker::Tracker;
use super::{commit, finite};
use crate::error::{Error, Result, all_finite, exact_len};
use crate::real::Real;
use crate::scratch::{Need, Scratch};

/// Embeddings of the rows of a batch by two models.
#[derive(Clone, Copy, Debug)]
pub struct Views<'a, T> {
    /// a, rows × `width`, row-major.
    pub first: &'a [T],
    /// b, as long.
    pub second: &'a [T],
    /// Numbers of an embedding, at least 1.
    pub width: usize,
    /// Where each row is among all, below `all`, each there once.
    pub owners: &'a [u32],
    /// n, at least the rows of the batch.
    pub all: usize,
    /// Embeddings of the same rows at the point before, for the tracker's correction.
    pub previous: Option<[&'a [T]; 2]>,
}

impl<T> Views<'_, T> {
    fn rows(&self) -> usize {
        self.owners.len()
    }
}

/// The loss.
///
/// ```
/// use undercurve::Scratch;
/// use undercurve::estimator::{Contrastive, Tracker, Uses, Views};
///
/// let (a, b) = ([1.0, 0.0, 0.0, 1.0], [2.0, 0.0, 0.0, 2.0]); // two rows of two numbers: length does not matter
/// let views = Views { first: &a, second: &b, width: 2, owners: &[0, 1], all: 2, previous: None };
/// let loss = Contrastive::new(0.5, Tracker::new(1.0, 0.0)?, Uses::New)?;
/// let mut state = vec![0.0; Contrastive::state_len(2)];
/// let need = Contrastive::need(2, 2);
/// let (mut real, mut f64s) = (vec![0.0; need.real], vec![0.0; need.f64]);
/// let scratch = Scratch { real: &mut real, f64: &mut f64s, ..Scratch::default() };
/// let (mut by_a, mut by_b) = ([0.0f64; 4], [0.0; 4]);
/// let value = loss.update(&views, &mut state, scratch, [&mut by_a, &mut by_b])?;
/// // Either way g = 1 + e^((0 − 1)/τ), and L = τ ln g + τ ln g.
/// assert!((value - (-2.0f64).exp().ln_1p()).abs() < 1e-9);
/// assert!(by_a[0].abs() < 1e-9 && by_a[1] > 0.0); // only a turn away from the other row's embedding lowers it
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contrastive {
    tau: f64,
    tracker: Tracker,
    uses: Uses,
}

/// What is added to the squared length of an embedding.
const ROUND: f64 = 1e-12;

impl Contrastive {
    /// - `temperature`: τ in [0.005, 1000].
    /// - `tracker`: how u and v move.
    /// - `uses`: whether a batch is weighed by u and v from before it or after it.
    ///
    /// # Errors
    /// `Param`.
    pub fn new(temperature: f64, tracker: Tracker, uses: Uses) -> Result<Self> {
        // (e^(2/τ) times the number of rows has to fit.)
        if (0.005..=1000.0).contains(&temperature) {
            Ok(Self { tau: temperature, tracker, uses })
        } else {
            Err(Error::Param { what: "temperature" })
        }
    }

    /// Numbers of the state of so many rows.
    #[must_use]
    pub const fn state_len(all: usize) -> usize {
        2 * all
    }

    /// Scratch of [`value`](Self::value) over so many rows.
    #[must_use]
    pub const fn value_need(rows: usize) -> Need {
        Need { f64: 4 * rows, ..Need::NONE }
    }

    /// Scratch of [`update`](Self::update) for batches of so many rows of so wide embeddings.
    #[must_use]
    pub const fn need(rows: usize, width: usize) -> Need {
        Need { real: 2 * rows * width, f64: 2 * rows * width + rows * rows + 6 * rows + width, ..Need::NONE }
    }

    /// L over all rows, of their embeddings, each rows × `width`. O(n²e).
    ///
    /// # Errors
    /// `Length`, `Param` (width), `NonFinite`, `Empty`, scratch.
    pub fn value<T: Real>(&self, first: &[T], second: &[T], width: usize, scratch: Scratch<'_, T>) -> Result<f64> {
        let rows = checked(first, second, width)?;
        if rows == 0 {
            return Err(Error::Empty { what: "rows" });
        }
        scratch.check(Self::value_need(rows))?;
        let (by_first, rest) = scratch.f64.split_at_mut(rows);
        let (by_second, rest) = rest.split_at_mut(rows);
        let (own, rest) = rest.split_at_mut(rows);
        let sums = &mut rest[..rows];
        for (inverse, x) in [(&mut *by_first, first), (&mut *by_second, second)] {
            inverse.iter_mut().zip(x.chunks_exact(width)).for_each(|(to, x)| *to = 1.0 / length(x));
        }
        let row = |at: usize| at * width..(at + 1) * width;
        let power = |i: usize, j: usize, by: f64| {
            let mut sum = 0.0;
            let pairs = first[row(i)].iter().zip(&second[row(j)]);
            pairs.for_each(|(a, b)| sum += a.f64() * b.f64());
            Real::exp(sum * by / self.tau)
        };
        for i in 0..rows {
            own[i] = power(i, i, by_first[i] * by_second[i]);
        }
        sums.fill(0.0);
        let mut value = 0.0;
        for i in 0..rows {
            let mut sum = 0.0;
            for j in 0..rows {
                let e = power(i, j, by_first[i] * by_second[j]);
                sum += e;
                sums[j] += e;
            }
            value += Real::ln(sum / own[i]);
        }
        sums.iter().zip(&*own).for_each(|(sum, own)| value += Real::ln(sum / own));
        finite("contrastive loss", self.tau * value / rows as f64)
    }

    /// The estimate of L on a batch of two rows or more (one, where there is no other), with its gradient by the embeddings, each
    /// rows × width, and u and v moved. A batch of everything with a tracker of γ = 1 gives L and its own gradient.
    ///
    /// # Errors
    /// `Length`, `Param` (width, rows), `Index` (owners), `NonFinite` (embeddings), `Overflow`, scratch. Nothing has changed then.
    pub fn update<T: Real>(
        &self,
        views: &Views<'_, T>,
        state: &mut [T],
        scratch: Scratch<'_, T>,
        grad: [&mut [T]; 2],
    ) -> Result<f64> {
        let (rows, width) = (views.rows(), views.width);
        for x in [Some([views.first, views.second]), views.previous].into_iter().flatten() {
            exact_len("embeddings", rows, checked(x[0], x[1], width)?)?;
        }
        if rows == 0 || rows > views.all || rows == 1 && views.all > 1 {
            return Err(Error::Param { what: "rows" });
        }
        if let Some(at) = views.owners.iter().position(|&owner| owner as usize >= views.all) {
            return Err(Error::Index { what: "owners", at, len: views.all });
        }
        exact_len("state", Self::state_len(views.all), state.len())?;
        for grad in &grad {
            exact_len("grad", rows * width, grad.len())?;
        }
        scratch.check(Self::need(rows, width))?;
        let factor = if rows == 1 { 1.0 } else { (views.all - 1) as f64 / (rows - 1) as f64 };
        let (a, rest) = scratch.f64.split_at_mut(rows * width);
        let (b, rest) = rest.split_at_mut(rows * width);
        let (powers, rest) = rest.split_at_mut(rows * rows);
        let (before, rest) = rest.split_at_mut(2 * rows);
        let (now, rest) = rest.split_at_mut(2 * rows);
        let (used, rest) = rest.split_at_mut(2 * rows);
        let slope = &mut rest[..width];
        if let Some([first, second]) = views.previous {
            self.sums([first, second], [&mut *a, &mut *b], factor, powers, before);
        }
        self.sums([views.first, views.second], [&mut *a, &mut *b], factor, powers, now);
        let mut value = 0.0;
        // What u and v are used, and become, in place of the batch's own sums; those are kept in `before`.
        for (at, &owner) in views.owners.iter().enumerate() {
            for way in 0..2 {
                let (at, held) = (2 * at + way, state[2 * owner as usize + way]);
                let old = (held != T::ZERO).then(|| Real::exp(held.f64() - 1.0));
                let moved = self.tracker.next(old, now[at], views.previous.map(|_| before[at])).or_larger(1.0);
                used[at] = if self.uses == Uses::Old { old.unwrap_or(moved) } else { moved };
                before[at] = now[at];
                now[at] = Real::ln(moved);
                value += now[at];
            }
        }
        let value = finite("contrastive loss", self.tau * value / rows as f64)?;
        all_finite("u", now).map_err(|_| Error::Overflow { what: "contrastive loss" })?;
        // From e^(s/τ) to the slopes by s.
        let each = 1.0 / rows as f64;
        for i in 0..rows {
            let own = powers[i * rows + i];
            // (The diagonal is needed until both ways have been divided by it.)
            used[2 * i] = each * factor / (own * used[2 * i]);
            used[2 * i + 1] = each * factor / (own * used[2 * i + 1]);
        }
        for i in 0..rows {
            let own = powers[i * rows + i];
            let sum = |way: usize| (before[2 * i + way] - 1.0) / factor * own * used[2 * i + way];
            let diagonal = -(sum(0) + sum(1));
            for j in 0..rows {
                let e = &mut powers[i * rows + j];
                *e = if i == j { diagonal } else { *e * (used[2 * i] + used[2 * j + 1]) };
            }
        }
        let (by_first, by_second) = scratch.real[..2 * rows * width].split_at_mut(rows * width);
        for i in 0..rows {
            slope.fill(0.0);
            for j in 0..rows {
                axpy(slope, powers[i * rows + j], &b[j * width..][..width]);
            }
            through(slope, &a[i * width..][..width], views.first, i, by_first);
            slope.fill(0.0);
            for j in 0..rows {
                axpy(slope, powers[j * rows + i], &a[j * width..][..width]);
            }
            through(slope, &b[i * width..][..width], views.second, i, by_second);
        }
        all_finite("grad", by_second).map_err(|_| Error::Overflow { what: "score gradient" })?;
        let [first, second] = grad;
        commit(by_first, first)?;
        commit(by_second, second)?;
        for (at, &owner) in views.owners.iter().enumerate() {
            for way in 0..2 {
                state[2 * owner as usize + way] = T::of(1.0 + now[2 * at + way]);
            }
        }
        Ok(value)
    }

    /// Embeddings of length one, e^(s_ij/τ), and ĝ and ĥ of each row.
    fn sums<T: Real>(&self, x: [&[T]; 2], unit: [&mut [f64]; 2], factor: f64, powers: &mut [f64], sums: &mut [f64]) {
        let rows = sums.len() / 2;
        let width = x[0].len() / rows;
        let [a, b] = unit;
        for (to, x) in [(&mut *a, x[0]), (&mut *b, x[1])] {
            for (to, x) in to.chunks_exact_mut(width).zip(x.chunks_exact(width)) {
                let by = 1.0 / length(x);
                to.iter_mut().zip(x).for_each(|(to, x)| *to = x.f64() * by);
            }
        }
        for (a, powers) in a.chunks_exact(width).zip(powers.chunks_exact_mut(rows)) {
            for (b, power) in b.chunks_exact(width).zip(powers) {
                let mut sum = 0.0;
                a.iter().zip(b).for_each(|(a, b)| sum += a * b);
                *power = Real::exp(sum / self.tau);
            }
        }
        sums.fill(0.0);
        for i in 0..rows {
            for j in (0..rows).filter(|&j| j != i) {
                sums[2 * i] += powers[i * rows + j];
                sums[2 * j + 1] += powers[i * rows + j];
            }
        }
        for i in 0..rows {
            let by = factor / powers[i * rows + i];
            sums[2 * i..2 * i + 2].iter_mut().for_each(|sum| *sum = 1.0 + by * *sum);
        }
    }
}

/// Rows of two views of this width.
fn checked<T: Real>(first: &[T], second: &[T], width: usize) -> Result<usize> {
    if width == 0 || !first.len().is_multiple_of(width) {
        return Err(Error::Param { what: "width" });
    }
    exact_len("second", first.len(), second.len())?;
    all_finite("first", first)?;
    all_finite("second", second)?;
    Ok(first.len() / width)
}

fn length<T: Real>(x: &[T]) -> f64 {
    let mut sum = ROUND;
    x.iter().for_each(|x| sum += x.f64() * x.f64());
    crate::Real::sqrt(sum)
}

fn axpy(to: &mut [f64], by: f64, x: &[f64]) {
    to.iter_mut().zip(x).for_each(|(to, x)| *to += by * x);
}

/// From the slope by an embedding of length one to that by the embedding itself.
fn through<T: Real>(slope: &[f64], unit: &[f64], x: &[T], row: usize, out: &mut [T]) {
    let at = row * unit.len()..(row + 1) * unit.len();
    let by = 1.0 / length(&x[at.clone()]);
    let mut along = 0.0;
    slope.iter().zip(unit).for_each(|(slope, unit)| along += slope * unit);
    for ((out, slope), unit) in out[at].iter_mut().zip(slope).zip(unit) {
        *out = T::settled_of(by * (slope - along * unit));
    }
}
