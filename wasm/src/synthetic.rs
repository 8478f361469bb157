//! Data sets drawn from a seed: two features, rare positives; one of several classes, and one of two groups.

use alloc::vec::Vec;
use undercurve::rng::Rng;

/// A Gaussian blob: share of its class, mean, standard deviation.
type Blob = (f64, [f64; 2], [f64; 2]);

enum Shape {
    Blobs {
        positive: &'static [Blob],
        negative: &'static [Blob],
    },
    /// Positives inside a ring of negatives.
    Ring,
    /// Positives in two opposite quadrants.
    Checker,
    /// Two interleaved half circles.
    Moons,
}

/// A kind of data with its name in links; titles are in `wasm/js/synthetics.js`.
pub struct Synthetic {
    pub name: &'static str,
    shape: Shape,
}

/// Every kind. In the first, a linear model that fits the average row and one that ranks the best rows first point in
/// different directions; it was found by searching for a large gap between the two.
pub const SYNTHETICS: &[Synthetic] = &[
    Synthetic {
        name: "split",
        shape: Shape::Blobs {
            positive: &[(0.63, [0.52, 3.07], [0.57, 0.29]), (0.37, [2.16, -3.22], [0.46, 0.68])],
            negative: &[(0.92, [0.0, 0.0], [1.0, 1.0]), (0.08, [-2.19, -1.38], [0.57, 0.61])],
        },
    },
    Synthetic {
        name: "overlap",
        shape: Shape::Blobs {
            positive: &[(1.0, [1.5, 1.0], [1.0, 1.0])],
            negative: &[(1.0, [-0.5, -0.3], [1.0, 1.0])],
        },
    },
    Synthetic {
        name: "decoy",
        shape: Shape::Blobs {
            positive: &[(1.0, [1.6, 0.9], [0.5, 0.5])],
            negative: &[(0.9, [-0.6, 0.0], [0.9, 0.9]), (0.1, [3.2, -2.0], [0.5, 0.4])],
        },
    },
    Synthetic { name: "ring", shape: Shape::Ring },
    Synthetic { name: "checker", shape: Shape::Checker },
    Synthetic { name: "moons", shape: Shape::Moons },
];

impl Synthetic {
    /// One row of a class, without noise.
    fn point(&self, rng: &mut Rng, positive: bool) -> [f64; 2] {
        let angle = core::f64::consts::PI * rng.uniform();
        let sign = if positive { 1.0 } else { -1.0 };
        match self.shape {
            Shape::Blobs { positive: ours, negative: theirs } => {
                let blobs = if positive { ours } else { theirs };
                let mut left = rng.uniform();
                let mut chosen = &blobs[0];
                for blob in blobs {
                    chosen = blob;
                    left -= blob.0;
                    if left < 0.0 {
                        break;
                    }
                }
                let (_, mean, sd) = chosen;
                [mean[0] + sd[0] * rng.normal(), mean[1] + sd[1] * rng.normal()]
            }
            Shape::Ring => {
                let radius = if positive { 0.45 * rng.normal() } else { 2.3 + 0.45 * rng.normal() };
                [radius * libm::cos(2.0 * angle), radius * sin(2.0 * angle)]
            }
            Shape::Checker => {
                let (x, y) = (0.15 + 2.4 * rng.uniform(), 0.15 + 2.4 * rng.uniform());
                let side = if rng.uniform() < 0.5 { 1.0 } else { -1.0 };
                [side * x, side * sign * y]
            }
            Shape::Moons => {
                let (x, y) = (libm::cos(angle), sin(angle));
                [2.0 * (sign * x) - sign, 2.0 * (sign * y) - 0.6 * sign]
            }
        }
    }

    /// Rows and labels: `round(rows · share)` positives, at least 2, in random order. `noise` is the standard deviation
    /// added to both features. `part` tells training (0) from held-out rows (1).
    pub fn draw(&self, rows: usize, share: f64, noise: f64, seed: u64, part: u64) -> (Vec<f32>, Vec<u8>) {
        let mut rng = Rng::keyed(seed, 0x7379_6e74, part);
        let rows = rows.max(4);
        let positives = (libm::round(rows as f64 * share) as usize).clamp(2, rows - 2);
        let mut y: Vec<u8> = (0..rows).map(|row| u8::from(row < positives)).collect();
        rng.shuffle(&mut y);
        let mut x = Vec::with_capacity(2 * rows);
        for &label in &y {
            let point = self.point(&mut rng, label == 1);
            x.extend(point.map(|value| (value + noise * rng.normal()) as f32));
        }
        (x, y)
    }
}

/// The sine of a few turns at most, by the cosine, which every draw needs anyway: a small module need not hold both.
fn sin(angle: f64) -> f64 {
    libm::cos(angle - core::f64::consts::FRAC_PI_2)
}

/// Shares of the pinwheel's classes.
#[cfg(feature = "groups")]
pub const ARMS: [f64; 5] = [0.4, 0.27, 0.17, 0.1, 0.06];

/// Rows and class numbers of a pinwheel: each class is a bent arm, in random order, the first with most rows. `noise` and
/// `part` as in [`Synthetic::draw`].
#[cfg(feature = "groups")]
pub fn pinwheel(rows: usize, noise: f64, seed: u64, part: u64) -> (Vec<f32>, Vec<u8>) {
    let mut rng = Rng::keyed(seed, 0x7768_6565, part);
    let rows = rows.max(4 * ARMS.len());
    // Two of each at least; the first takes what is left.
    let of_class = |class: usize| (libm::round(rows as f64 * ARMS[class]) as usize).max(2);
    let mut y: Vec<u8> = (1..ARMS.len()).flat_map(|class| core::iter::repeat_n(class as u8, of_class(class))).collect();
    y.resize(rows, 0);
    rng.shuffle(&mut y);
    let mut x = Vec::with_capacity(2 * rows);
    for &class in &y {
        let radius = 0.5 + 2.3 * rng.uniform();
        let turn = f64::from(class) / ARMS.len() as f64 * core::f64::consts::TAU;
        let angle = turn + 0.45 * radius + 0.22 * rng.normal();
        let point = [radius * libm::cos(angle), radius * sin(angle)];
        x.extend(point.map(|value| (value + noise * rng.normal()) as f32));
    }
    (x, y)
}

/// Share of the rows of [`towns`] in its second group.
#[cfg(feature = "groups")]
const SOUTH: f64 = 0.2;

/// Rows, labels and groups of two towns, the second with fewer rows. One feature tells the classes apart in both; the other does
/// so in the first and misleads in the second, where negatives have more of it: what is best on average ranks the second's rows
/// the wrong way round. The other arguments as in [`Synthetic::draw`]; `share` is that of each town.
#[cfg(feature = "groups")]
pub fn towns(rows: usize, share: f64, noise: f64, seed: u64, part: u64) -> (Vec<f32>, Vec<u8>, Vec<u32>) {
    let mut rng = Rng::keyed(seed, 0x746f_776e, part);
    let rows = rows.max(8);
    let second = (libm::round(rows as f64 * SOUTH) as usize).max(4);
    let mut cells: Vec<(u8, u32)> = Vec::with_capacity(rows);
    for (group, count) in [(0, rows - second), (1, second)] {
        let positives = (libm::round(count as f64 * share) as usize).clamp(2, count - 2);
        cells.extend((0..count).map(|row| (u8::from(row < positives), group)));
    }
    rng.shuffle(&mut cells);
    let mut x = Vec::with_capacity(2 * rows);
    for &(label, group) in &cells {
        let (across, deviation) = [([-1.0, 2.0], 1.0), ([1.0, -0.6], 0.6)][group as usize];
        for (means, deviation) in [(across, deviation), ([-0.5, 0.8], 1.0)] {
            x.push((means[usize::from(label)] + deviation * rng.normal() + noise * rng.normal()) as f32);
        }
    }
    let (y, groups) = cells.into_iter().unzip();
    (x, y, groups)
}
