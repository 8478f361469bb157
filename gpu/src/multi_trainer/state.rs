//! Shapes and states of data with more or fewer positives than others.

use crate::kernel::objective;
use undercurve::device::Shape;

/// What of a shape does not depend on the number of positives in the data: all but the length of its state.
pub(super) fn kind(shape: &Shape) -> Shape {
    with_state(shape, 0)
}

/// The shape with another length of its state.
pub(super) fn with_state(shape: &Shape, state: u32) -> Shape {
    let bank = if shape.bank == shape.state { state } else { shape.bank };
    Shape { bank, state, ..shape.clone() }
}

/// A state of this shape as one of another length, of data with more or fewer positives: what has no place is left out, what is not
/// there 0.
pub(super) fn moved(state: &[f32], shape: &Shape, len: usize) -> Vec<f32> {
    let of = objective::by_name(shape.objective);
    let [each, beside] = of.map_or([0; 2], |of| [of.each as usize, of.beside as usize]);
    let mut out = state.to_vec();
    let (bank, end) = (shape.bank as usize, len.saturating_sub(beside));
    if each == 0 || shape.bank == shape.state || state.len() < bank + beside || end < bank {
        out.resize(len, 0.0);
        return out;
    }
    // (Those of the dual come for f^m, then for f^n.)
    let sections = of.map_or(1, |of| of.sections);
    let [own, other] = [state.len() - beside, end].map(|end| (end - bank) / sections);
    out.truncate(bank);
    for section in 0..sections {
        let from = bank + section * own;
        out.extend(&state[from..from + own.min(other)]);
        out.resize(bank + (section + 1) * other, 0.0);
    }
    out.extend(&state[state.len() - beside..]);
    out
}
