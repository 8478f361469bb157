//! The tables of the panel sums: what a kernel is between two panels at each distance that exponentials do not serve, as
//! polynomials of the places in both, and e^(kwx) as polynomials in one; see `panel` for the notation.
//!
//! ```text
//! C[a][b] = Σ_ij M[i][a] M[j][b] ℓ(2wD + w(x_i − x_j)),   x_i = cos(π(i + ½)/P),   M from values at x_i to coefficients
//! ```
//!
//! M[i][a] is even or odd in x_i as a is, so that opposite nodes are taken together. Both kernels of a surrogate come from
//! one e^(−t).
//!
//! Memory: 2·(T/w + 2)·P² + 8P `f64`. Cost: P²·T/w exponentials (and logarithms) in vector registers and P³·T/w
//! multiplications.

use crate::real::Real;
use crate::slices::Place as _;
use crate::surrogate::{AnySurrogate, Family};

/// Distance, in units of 1/c, beyond which exponentials replace tables.
const NEAR: f64 = 4.0;
/// Exponentials kept.
pub(super) const TERMS: usize = 8;
/// Accuracy of the panel sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grade {
    /// Relative error below 1e-6 of the sum of the absolute terms of each entry: training.
    Fast,
    /// Relative error below 1e-12: oracles and reports.
    #[default]
    Full,
}

/// Terms P of a grade.
pub(super) const FAST_TERMS: usize = 4;
pub(super) const FULL_TERMS: usize = 8;
/// Terms of the panels of few rows, to the accuracy of [`FULL_TERMS`]: a row costs half as much again, but panels are three and a
/// half times as wide, and a sixth of the multiplications leads from panel to panel.
pub(super) const BROAD_TERMS: usize = 12;
/// The largest panel half-width for a number of terms, in units of 1/c.
const fn widest(terms: usize) -> f64 {
    match terms {
        FAST_TERMS => 1.0 / 12.0,
        FULL_TERMS => 0.125,
        _ => 0.5 * NARROWED,
    }
}
/// What broad panels are as wide as, in powers of two: those themselves would be a little too wide.
const NARROWED: f64 = 0.875;
/// The largest number of panels that tables reach over: the half-width is more than half of the widest.
pub(super) const fn furthest(terms: usize) -> usize {
    (NEAR / widest(terms)) as usize + 1
}

/// ℓ as a function of ct.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Shape {
    Sigmoid,
    Logistic,
}

impl Shape {
    /// Shape and scale of the surrogates that panels sum.
    pub const fn of(loss: AnySurrogate<f64>) -> Option<(Self, f64)> {
        match loss.family() {
            Family::Sigmoid { scale } => Some((Self::Sigmoid, scale)),
            Family::Softplus { scale } => Some((Self::Logistic, scale)),
            Family::Pairs
            | Family::Square { .. }
            | Family::Exponential { .. }
            | Family::Hinge { .. }
            | Family::Window { .. } => None,
        }
    }
}

/// `f64` elements of the tables for a number of terms. [`FULL_TERMS`] takes the most.
pub(super) const fn tables_len(terms: usize) -> usize {
    2 * (furthest(terms) + 1) * terms * terms + TERMS * terms
}
const _: () =
    assert!(tables_len(FAST_TERMS) < tables_len(FULL_TERMS) && tables_len(BROAD_TERMS) < tables_len(FULL_TERMS));

/// Tables of a surrogate's two kernels for the distances D ≥ 0, which those below 0 mirror, and the polynomials of e^(kwx).
#[derive(Clone, Copy)]
pub(super) struct Tables<'a, const P: usize> {
    pub value: &'a [[[f64; P]; P]],
    pub slope: &'a [[[f64; P]; P]],
    pub growth: &'a [[f64; P]],
    pub shape: Shape,
    /// Half the width of a panel in units of 1/c.
    pub half: f64,
}

/// cos(π(i + ½)/P), the first half of the Chebyshev nodes.
fn node<const P: usize>(i: usize) -> f64 {
    // (As they are: the function is as long as all of this file.)
    const OF_FAST: [f64; FAST_TERMS / 2] = [0.923_879_532_511_286_7, 0.382_683_432_365_089_84];
    const OF_FULL: [f64; FULL_TERMS / 2] =
        [0.980_785_280_403_230_4, 0.831_469_612_302_545_2, 0.555_570_233_019_602_3, 0.195_090_322_016_128_33];
    const OF_BROAD: [f64; BROAD_TERMS / 2] = [
        0.991_444_861_373_810_4,
        0.923_879_532_511_286_7,
        0.793_353_340_291_235_2,
        0.608_761_429_008_720_7,
        0.382_683_432_365_089_84,
        0.130_526_192_220_051_7,
    ];
    let nodes: &[f64] = match P {
        FAST_TERMS => &OF_FAST,
        FULL_TERMS => &OF_FULL,
        _ => &OF_BROAD,
    };
    nodes.at(i)
}

/// Chebyshev nodes, and the matrix from values there to monomial coefficients, by node. The nodes of the second half are
/// those of the first with the other sign, so coefficients of even and odd powers are sums and differences of the two.
fn interpolation<const P: usize>() -> ([f64; P], [[f64; P]; P]) {
    let mut nodes = [0.0; P];
    for i in 0..P / 2 {
        nodes[i] = node::<P>(i);
        nodes[P - 1 - i] = -nodes[i];
    }
    // Coefficients of T_k, and its values at the nodes.
    let (mut last, mut chebyshev) = ([0.0; P], [0.0; P]);
    let (mut last_at, mut at) = (nodes, [1.0; P]);
    chebyshev[0] = 1.0;
    let mut matrix = [[0.0; P]; P];
    for k in 0..P {
        let (weight, twice) = if k == 0 { (1.0 / P as f64, 1.0) } else { (2.0 / P as f64, 2.0) };
        for i in 0..P {
            for a in 0..P {
                matrix[i][a] += chebyshev[a] * weight * at[i];
            }
        }
        let mut next = [0.0; P];
        for a in 0..P {
            next[a] = if a > 0 { twice * chebyshev[a - 1] } else { 0.0 } - last[a];
        }
        (last, chebyshev) = (chebyshev, next);
        // T_1 = x·T_0, and from there on T_(k+1) = 2x·T_k − T_(k−1).
        let next = core::array::from_fn(|i| if k == 0 { nodes[i] } else { 2.0 * nodes[i] * at[i] - last_at[i] });
        (last_at, at) = (at, next);
    }
    (nodes, matrix)
}

/// Coefficients of the polynomial in two variables with these values at the nodes.
fn coefficients<const P: usize>(values: &[[f64; P]; P], matrix: &[[f64; P]; P]) -> [[f64; P]; P] {
    let mut half = [[0.0; P]; P];
    for i in 0..P / 2 {
        let (one, other) = (&values[i], &values[P - 1 - i]);
        let sums: [f64; P] = core::array::from_fn(|j| one[j] + other[j]);
        let differences: [f64; P] = core::array::from_fn(|j| one[j] - other[j]);
        for a in 0..P {
            let folded = if a % 2 == 0 { &sums } else { &differences };
            for j in 0..P {
                half[a][j] += matrix[i][a] * folded[j];
            }
        }
    }
    let mut c = [[0.0; P]; P];
    for (c, half) in c.iter_mut().zip(&half) {
        for j in 0..P / 2 {
            let folded = [half[j] + half[P - 1 - j], half[j] - half[P - 1 - j]];
            for b in 0..P {
                c[b] += matrix[j][b] * folded[b % 2];
            }
        }
    }
    c
}

/// The width of a panel in units of the scores: the widest that the grade allows of the powers of two, or with [`BROAD_TERMS`] of
/// 7/8 of those.
pub(super) fn whole<const P: usize>(scale: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff << 52;
    let unit = if P == BROAD_TERMS { NARROWED } else { 1.0 };
    unit * f64::from_bits((2.0 * (widest(P) / unit) / scale).to_bits() & EXPONENT)
}

/// Half the width of a panel in units of 1/c, and 1 / the width in units of the scores. `None` for a scale so large or small that
/// there is none.
pub(super) fn width<const P: usize>(scale: f64) -> Option<(f64, f64)> {
    let width = whole::<P>(scale);
    let inverse = 1.0 / width;
    (inverse.is_finite() && inverse > 0.0).then_some((0.5 * width * scale, inverse))
}

impl<'a, const P: usize> Tables<'a, P> {
    /// Panels that the tables of such panels reach over.
    fn reach(half: f64) -> usize {
        let panels = NEAR / (2.0 * half);
        (if P == BROAD_TERMS { libm::ceil(panels) } else { panels } as usize).min(furthest(P))
    }

    /// Those that [`make`] made of the same surrogate, or else new ones in `own`.
    /// `None` where the memory is too short.
    pub fn given_or_made(made: Option<&'a [f64]>, shape: Shape, half: f64, own: &'a mut [f64]) -> Option<Self> {
        let memory = match made {
            Some(memory) => memory,
            None => {
                fill::<P>(shape, half, own)?;
                own
            }
        };
        Self::again(shape, half, memory)
    }

    /// The tables that [`fill`] made in this memory.
    fn again(shape: Shape, half: f64, memory: &'a [f64]) -> Option<Self> {
        let size = (Self::reach(half) + 1) * P * P;
        let (value, rest) = memory.split_at_checked(size)?;
        let (slope, rest) = rest.split_at_checked(size)?;
        let value = value.as_chunks::<P>().0.as_chunks::<P>().0;
        let slope = slope.as_chunks::<P>().0.as_chunks::<P>().0;
        let growth = rest.get(..TERMS * P)?.as_chunks::<P>().0;
        Some(Self { value, slope, growth, shape, half })
    }
}

/// Makes the tables of panels of this half-width in a memory of at least [`tables_len`] elements.
fn fill<const P: usize>(shape: Shape, half: f64, memory: &mut [f64]) -> Option<()> {
    let size = (Tables::<P>::reach(half) + 1) * P * P;
    let (value, rest) = memory.split_at_mut_checked(size)?;
    let (slope, growth) = rest.split_at_mut_checked(size)?;
    let value = value.as_chunks_mut::<P>().0.as_chunks_mut::<P>().0;
    let slope = slope.as_chunks_mut::<P>().0.as_chunks_mut::<P>().0;
    let growth = growth.as_chunks_mut::<P>().0.get_mut(..TERMS)?;
    let (nodes, matrix) = interpolation::<P>();
    for (at, (value, slope)) in value.iter_mut().zip(slope).enumerate() {
        let centre = 2.0 * half * at as f64;
        let (mut of_value, mut of_slope) = ([[0.0; P]; P], [[0.0; P]; P]);
        for i in 0..P {
            for j in 0..P {
                let e = (-(centre + half * (nodes[i] - nodes[j]))).exp_in_span();
                let inverse = 1.0 / (1.0 + e);
                let step = e * inverse;
                (of_value[i][j], of_slope[i][j]) = match shape {
                    Shape::Sigmoid => (step, step * inverse),
                    Shape::Logistic => (e.ln_1p_in_span(), step),
                };
            }
        }
        *value = coefficients(&of_value, &matrix);
        *slope = coefficients(&of_slope, &matrix);
    }
    for (k, poly) in growth.iter_mut().enumerate() {
        *poly = [0.0; P];
        for i in 0..P {
            let value = ((k + 1) as f64 * half * nodes[i]).exp_in_span();
            for a in 0..P {
                poly[a] += matrix[i][a] * value;
            }
        }
    }
    Some(())
}

/// The tables of a plan: of few rows, and of its grade.
pub(super) fn parts(plan: &[f64]) -> Option<(&[f64], &[f64])> {
    plan.split_at_checked(tables_len(BROAD_TERMS))
}

/// Makes the tables of a surrogate in a memory of at least [`tables_len`] elements; `None`, and nothing written, when there
/// are no panels for its scale.
pub(super) fn make<const P: usize>(shape: Shape, scale: f64, memory: &mut [f64]) -> Option<()> {
    let (half, _) = width::<P>(scale)?;
    fill::<P>(shape, half, memory)
}
