//! A surrogate of one's own in the pair sums: a Huber-like loss of the margin.

use undercurve::pairs::brute;
use undercurve::surrogate::Surrogate;

/// max(1 − t, 0)^(3/2), between the hinge and its square.
#[derive(Clone, Copy)]
struct ThreeHalves;

impl Surrogate<f64> for ThreeHalves {
    fn value(self, t: f64) -> f64 {
        let d = if t < 1.0 { 1.0 - t } else { 0.0 };
        d * libm::sqrt(d)
    }
    fn slope(self, t: f64) -> f64 {
        let d = if t < 1.0 { 1.0 - t } else { 0.0 };
        -1.5 * libm::sqrt(d)
    }
    fn curvature(self, t: f64) -> f64 {
        if t < 1.0 { 0.75 / libm::sqrt(1.0 - t) } else { 0.0 }
    }
}

fn main() -> Result<(), undercurve::Error> {
    let (positives, negatives) = ([0.9, 0.2], [0.1, 0.4, -0.3]);
    let (mut gp, mut gn) = ([0.0; 2], [0.0; 3]);
    let value = brute::auc(ThreeHalves, &positives, &negatives, &mut gp, &mut gn)?;
    println!("loss {value:.6}, gradient {gp:.4?} {gn:.4?}");

    let nudged = [0.9 + 1e-6, 0.2];
    let moved = brute::auc(ThreeHalves, &nudged, &negatives, &mut [0.0; 2], &mut [0.0; 3])?;
    assert!(((moved - value) / 1e-6 - gp[0]).abs() < 1e-4, "the gradient is the derivative");
    Ok(())
}
