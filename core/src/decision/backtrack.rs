//! The line search of both calibration curves: Armijo's rule with halved steps.

/// The least step.
const LEAST: f64 = 1e-10;

/// Moves along a direction to where the loss has fallen enough, `falls` being its slope at the start; `false`, and nothing has
/// moved, where it nowhere does.
pub(super) fn backtrack<const N: usize>(
    at: &mut [f64; N],
    value: &mut f64,
    along: [f64; N],
    falls: f64,
    loss: impl Fn(&[f64; N]) -> f64,
) -> bool {
    let mut step = 1.0;
    while step >= LEAST {
        let there = core::array::from_fn(|i| at[i] + step * along[i]);
        let new = loss(&there);
        if new < *value + 1e-4 * step * falls {
            (*at, *value) = (there, new);
            return true;
        }
        step *= 0.5;
    }
    false
}
