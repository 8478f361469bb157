//! The rows of the programs.

pub const ROWS: usize = 200;
pub const COLS: usize = 3;
pub const POSITIVES: usize = 20;

pub fn rows_and_labels() -> ([f32; ROWS * COLS], [u8; ROWS]) {
    let mut rng = undercurve::rng::Rng::new(3);
    let mut x = [0.0; ROWS * COLS];
    let mut labels = [0; ROWS];
    for (k, (x, label)) in x.chunks_exact_mut(COLS).zip(&mut labels).enumerate() {
        *label = u8::from(k % (ROWS / POSITIVES) == 0);
        for (x, mean) in x.iter_mut().zip([1.5, -0.5, 0.0]) {
            *x = (rng.normal() + mean * f64::from(*label)) as f32;
        }
    }
    (x, labels)
}
