//! The same step on the CPU, in the same order of summation.

use super::Wide;
use crate::GpuError;
use crate::kernel::lane::Lane;
use crate::kernel::lane::mirror::{Order, step_in};

const WIDE: Order = Order { score: 16, columns: 16, biases: 1, pairs: 64, moments: 128, values: 256 };

/// One step of a run, as the lanes' [`step`](crate::kernel::lane::mirror::step).
///
/// # Errors
/// As there.
pub fn step(lane: &Lane, rows: &[f32], state: &mut [f32], list: &[u32], pace: [f32; 2]) -> Result<f32, GpuError> {
    let wide = Wide::of(&lane.shape)?;
    step_in(WIDE, (&wide.layout, &wide.chunks), lane, rows, state, list, pace)
}
