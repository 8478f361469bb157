//! Sums of a workgroup.

/// Invocations.
pub const WIDTH: usize = 256;

/// Sums a workgroup's values as the shader does.
pub fn fold(mut values: [f32; WIDTH]) -> f32 {
    let mut step = WIDTH / 2;
    while step > 0 {
        for k in 0..step {
            values[k] += values[k + step];
        }
        step /= 2;
    }
    values[0]
}
