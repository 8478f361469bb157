//! Sums and metrics of whole data: the rows are sorted once, then scanned and looked up.
//!
//! | text | what |
//! |---|---|
//! | `sort` | keys of the scores, a radix sort of them, the classes apart |
//! | `rank` | wins and ties, average precision, points of the curves |
//! | `scan` | running sums of distances along a class |
//! | `hinge` | values and gradients of hinge and squared hinge from those |
//! | `panel`, `smooth` | those of sigmoid and logistic loss, from series |
//! | `linear` | scores of a linear model, and the gradient by its parameters |

pub mod hinge;
pub mod linear;
pub mod panel;
pub mod rank;
pub mod scan;
pub mod sort;

use undercurve::surrogate::{AnySurrogate, Family, Surrogate as _};

/// Rows, at most: a count of them is exact in f32, and a pair of floats for each fits a binding of 128 MiB.
pub const MOST_ROWS: usize = 1 << 24;

/// Rounds of an invocation, at most, of all its loops together: Mesa's llvmpipe silently stops it after 65,535.
const ROUNDS: usize = 60_000;
/// Rounds of a search by halving.
const HALVINGS: usize = 25;

/// The shader of a text that reads the order.
fn on_order(text: &str) -> String {
    format!("{}\n{text}", wgsl!("order.wgsl"))
}

/// The shaders of this engine.
pub(super) fn texts() -> Vec<(String, String)> {
    let panel = [("panel", panel::text()), ("smooth", panel::smooth_text())];
    [("sort", sort::text()), ("rank", rank::text()), ("scan", scan::text()), ("hinge", hinge::text())]
        .into_iter()
        .chain(panel)
        .chain([("linear", linear::text())])
        .map(|(name, text)| (format!("exact, {name}"), text))
        .collect()
}

/// A loss that there are kernels for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// [m − t]₊, or its square.
    Hinge { margin: f32, square: bool },
    /// 1/(1 + e^(ct)), or ln(1 + e^(−ct)), which is linear far below 0.
    Smooth { scale: f32, linear: bool },
}

impl Loss {
    /// That of a surrogate, if there is one.
    #[must_use]
    pub fn of(surrogate: AnySurrogate<f32>) -> Option<Self> {
        match surrogate.family() {
            Family::Hinge { margin, square } => Some(Self::Hinge { margin: margin as f32, square }),
            Family::Sigmoid { scale } => Some(Self::Smooth { scale: scale as f32, linear: false }),
            Family::Softplus { scale } => Some(Self::Smooth { scale: scale as f32, linear: true }),
            Family::Pairs | Family::Square { .. } | Family::Exponential { .. } | Family::Window { .. } => None,
        }
    }
}

/// What order.wgsl has as its uniform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    /// Rows of label 0.
    pub negatives: usize,
    /// Rows of label 1.
    pub positives: usize,
    /// The lowest negative that counts and the highest, by place in the order.
    pub range: [usize; 2],
    /// The weights of those two; the first alone where they are one.
    pub ends: [f32; 2],
    /// m.
    pub margin: f32,
    /// What the gradient is multiplied by.
    pub scale: f32,
    /// The squared hinge.
    pub square: bool,
    /// The panels of a smooth loss.
    pub grid: Option<panel::Grid>,
}

impl Job {
    /// As the shader has it.
    pub(crate) fn words(&self) -> [u32; 12] {
        let [first, last] = self.range.map(|x| x as u32);
        let margin = self.grid.map_or(self.margin, |grid| grid.width);
        let [low, high, margin, scale] = [self.ends[0], self.ends[1], margin, self.scale].map(f32::to_bits);
        let (negatives, positives) = (self.negatives as u32, self.positives as u32);
        let (count, origin) =
            self.grid.map_or((self.square.into(), 0), |grid| (grid.panels as u32, grid.origin as u32));
        [negatives, positives, first, last, low, high, margin, scale, count, origin, 0, 0]
    }
}
