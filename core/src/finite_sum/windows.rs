//! ‖Σ c_k x_k‖² of sparse rows x_k, one window of columns after another.
//!
//! A vector of all sums is larger than the caches where the columns are very many, and rows with many values then miss
//! them twice a value. Here the rows, whose columns ascend, are read side by side as far as a window reaches, so that the
//! sums of all windows, in turn, lie in the same half megabyte. O(values). What is worth a window was measured on a
//! processor with 1 MiB of level 2 cache.

use super::glm::{Glm, Row};
use super::oracle::Gradients;
use crate::Real;

/// Columns of a window. Its places are the values of `u16`, which need no check of bounds.
pub(super) const WINDOW: usize = 1 << 16;
/// Places of one window that are noted; of more, the rows are asked again.
const PLACES: usize = 4096;

/// Vectors of fewer windows stay near by themselves.
const FEWEST_WINDOWS: usize = 4;
/// So do the sums of fewer values: these have fewer cache lines than a window.
const FEWEST_VALUES: usize = WINDOW / 8;
/// Values of a row and a window that are worth a visit.
const VISIT: usize = 2;

/// Whether windows are faster than the whole vector for these rows. O(rows); at once for one row and for few columns.
pub(super) fn pay<T: Real>(glm: &Glm<'_, T>, which: &[u32]) -> bool {
    let windows = glm.dim() / WINDOW;
    if which.len() < 2 || windows < FEWEST_WINDOWS || !glm.is_sparse() {
        return false;
    }
    let values: usize = which.iter().map(|&i| glm.row_len(i as usize)).sum();
    (FEWEST_VALUES..glm.dim()).contains(&values) && values / VISIT >= which.len().saturating_mul(windows)
}

/// ‖Σ c_k x_k‖² of the rows `which`; `read` counts what was read of each. Takes and leaves zeros in `window`.
#[inline(never)]
pub(super) fn norm_sq<T: Real>(
    glm: &Glm<'_, T>,
    which: &[u32],
    coef: &[T],
    read: &mut [u32],
    window: &mut [T; WINDOW],
) -> f64 {
    let mut places = [0u16; PLACES];
    let mut lane = [0.0; 2];
    read.fill(0);
    for at in 0..glm.rows().cols().div_ceil(WINDOW) as u32 {
        let mut met = 0;
        for ((read, &i), &c) in read.iter_mut().zip(which).zip(coef) {
            let Row::Sparse(col, x) = glm.row(i as usize) else { continue };
            let from = *read as usize;
            for (&j, &x) in col[from..].iter().zip(&x[from..]) {
                if j >> WINDOW.ilog2() != at {
                    break;
                }
                window[usize::from(j as u16)] += c * x;
                places[met % PLACES] = j as u16;
                met += 1;
                *read += 1;
            }
        }
        if met <= PLACES {
            for &place in &places[..met] {
                lane = [lane[1], lane[0] + taken(&mut window[usize::from(place)])];
            }
        } else {
            for (&read, &i) in read.iter().zip(which) {
                let Row::Sparse(col, _) = glm.row(i as usize) else { continue };
                for &j in col[..read as usize].iter().rev() {
                    if j >> WINDOW.ilog2() != at {
                        break;
                    }
                    lane = [lane[1], lane[0] + taken(&mut window[usize::from(j as u16)])];
                }
            }
        }
    }
    let mut squared = lane[0] + lane[1];
    if glm.bias().is_some() {
        let mut sum = T::ZERO;
        coef.iter().for_each(|&c| sum += c);
        squared += taken(&mut sum);
    }
    squared
}

/// The square of a sum, which becomes 0.
#[inline]
fn taken<T: Real>(sum: &mut T) -> f64 {
    let sum = core::mem::take(sum).f64();
    sum * sum
}
