//! Multilayer perceptron: dense layers with one activation between them, none after the last.
//!
//! Parameters, layer by layer: weights input-major (`in × out`), then biases (`out`). Start values: weights uniform in
//! ±√(6/in) for ReLU (He et al. 2015) and ±√(6/(in+out)) for tanh (Glorot and Bengio 2010), biases 0, but those of tanh units
//! drawn as their weights; a `Trainer` puts a linear score into those of ReLU ([`Mlp::start_linear`]). The cache holds
//! each hidden layer's activations, rows × width each. Sparse rows are read by the first layer as they are.
//! Cost: 2·params multiply-adds a row forward, twice that backward.

use super::dense::Inputs;
use super::linear::{layer_backward, layer_forward};
use super::{Model, dense};
use crate::data::Selection;
use crate::error::{Error, Result, exact_len};
use crate::real::Real;
use crate::rng::Rng;
use crate::simd::{Kernel, vectorised};
use core::ops::Range;

/// The most hidden layers.
pub const MAX_HIDDEN: usize = 8;

/// The function between layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activation {
    /// max(z, 0).
    Relu,
    /// tanh z.
    Tanh,
}

impl Activation {
    #[inline]
    pub(super) fn apply<T: Real>(self, z: &mut [T]) {
        match self {
            Self::Relu => vectorised(Relu(z)),
            Self::Tanh => z.iter_mut().for_each(|z| *z = z.tanh()),
        }
    }
    /// Multiplies `dz` by the derivative, given the activation's value.
    #[inline]
    fn chain<T: Real>(self, value: &[T], dz: &mut [T]) {
        match self {
            Self::Relu => vectorised(ReluChain { value, dz }),
            Self::Tanh => {
                for (dz, &a) in dz.iter_mut().zip(value) {
                    *dz = dz.settled() * (T::ONE - a * a);
                }
            }
        }
    }
}

/// max(z, 0).
struct Relu<'a, T>(&'a mut [T]);

impl<T: Real> Kernel for Relu<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self, _: bool) {
        for z in self.0 {
            *z = if *z > T::ZERO { *z } else { T::ZERO };
        }
    }
}

/// 0 where the activation is.
struct ReluChain<'a, T> {
    value: &'a [T],
    dz: &'a mut [T],
}

impl<T: Real> Kernel for ReluChain<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self, _: bool) {
        for (dz, &a) in self.dz.iter_mut().zip(self.value) {
            *dz = if a > T::ZERO { dz.settled() } else { T::ZERO };
        }
    }
}

/// Multilayer perceptron.
///
/// ```
/// use undercurve::data::{Rows, Selection};
/// use undercurve::model::{Activation, Mlp, Model};
/// use undercurve::rng::Rng;
///
/// let rows = Selection::all(Rows::dense(&[1.0, 2.0, -1.0, 0.5], 2)?); // two rows of two columns
/// let model = Mlp::new(2, &[4], 1, Activation::Tanh)?;
/// let mut params = vec![0.0f64; Model::<f64>::param_len(&model)];
/// model.init(&mut Rng::new(1), &mut params)?;
/// let mut cache = vec![0.0; Model::<f64>::cache_len(&model, 2)];
/// let mut scratch = vec![0.0; Model::<f64>::scratch_len(&model, 2)];
/// let (mut scores, mut moved, mut grad) = ([0.0; 2], [0.0; 2], vec![0.0; params.len()]);
/// model.forward(&params, rows, &mut cache, &mut scores)?;
/// model.backward(&params, rows, &cache, &[1.0, -1.0], &mut scratch, &mut grad)?; // of the first score less the second
/// params[0] += 1e-6;
/// model.forward(&params, rows, &mut cache, &mut moved)?;
/// let difference = (moved[0] - moved[1]) - (scores[0] - scores[1]);
/// assert!((difference / 1e-6 - grad[0]).abs() < 1e-5);
/// # Ok::<(), undercurve::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mlp {
    /// Widths from the inputs to the heads; the first `layers + 1` count.
    pub(super) sizes: [usize; MAX_HIDDEN + 2],
    pub(super) layers: usize,
    pub(super) activation: Activation,
}

impl Mlp {
    /// `inputs` feature columns, hidden layers of the given widths (1 to [`MAX_HIDDEN`] of them), `heads` scores.
    ///
    /// # Errors
    /// `Param` for a width of 0, no or too many hidden layers, or a parameter count that does not fit.
    pub fn new(inputs: usize, hidden: &[usize], heads: usize, activation: Activation) -> Result<Self> {
        if hidden.is_empty() || hidden.len() > MAX_HIDDEN || hidden.contains(&0) {
            return Err(Error::Param { what: "hidden" });
        }
        if inputs == 0 || heads == 0 {
            return Err(Error::Param { what: if inputs == 0 { "inputs" } else { "heads" } });
        }
        let mut sizes = [0; MAX_HIDDEN + 2];
        sizes[0] = inputs;
        sizes[1..=hidden.len()].copy_from_slice(hidden);
        sizes[hidden.len() + 1] = heads;
        let layers = hidden.len() + 1;
        let mut total = 0usize;
        for pair in sizes[..=layers].windows(2) {
            total = (pair[0].checked_add(1))
                .and_then(|rows| rows.checked_mul(pair[1]))
                .and_then(|part| part.checked_add(total))
                .ok_or(Error::Overflow { what: "params" })?;
        }
        Ok(Self { sizes, layers, activation })
    }

    /// Whether it can compute any linear score ([`start_linear`](Self::start_linear)): one score, two units of max(z, 0) or more
    /// in every hidden layer.
    #[must_use]
    pub fn holds_linear(&self) -> bool {
        let hidden = &self.sizes[1..self.layers];
        self.activation == Activation::Relu && self.sizes[self.layers] == 1 && hidden.iter().all(|&width| width >= 2)
    }

    /// Turns start values into those of a network that computes a linear score (`linear`: a weight for each column, then the
    /// bias) and whose other units are as they were, but add nothing to the score yet: z = max(z, 0) − max(−z, 0) goes through
    /// the first two units of every hidden layer. Scores equal those of the linear model but for rounding.
    ///
    /// # Errors
    /// `Unsupported` where it [holds no linear score](Self::holds_linear); `Length`.
    ///
    /// ```
    /// use undercurve::data::{Rows, Selection};
    /// use undercurve::model::{Activation, Mlp, Model};
    /// use undercurve::rng::Rng;
    ///
    /// let model = Mlp::new(2, &[4, 3], 1, Activation::Relu)?;
    /// let mut params = vec![0.0f64; Model::<f64>::param_len(&model)];
    /// model.init(&mut Rng::new(1), &mut params)?;
    /// model.start_linear(&[2.0, -1.0, 0.5], &mut params)?;
    /// let rows = Selection::all(Rows::dense(&[1.0, 2.0, -1.0, 0.5], 2)?); // two rows of two columns
    /// let (mut cache, mut scores) = (vec![0.0; Model::<f64>::cache_len(&model, 2)], [0.0; 2]);
    /// model.forward(&params, rows, &mut cache, &mut scores)?;
    /// assert_eq!(scores, [0.5, -2.0]); // 2·1 − 1·2 + ½, −2·1 − 1·½ + ½
    /// # Ok::<(), undercurve::Error>(())
    /// ```
    pub fn start_linear<T: Real>(&self, linear: &[T], params: &mut [T]) -> Result<()> {
        if !self.holds_linear() {
            return Err(Error::Unsupported { what: "a linear score in this network" });
        }
        exact_len("linear", self.sizes[0] + 1, linear.len())?;
        exact_len("params", self.total(), params.len())?;
        for layer in 0..self.layers {
            let (inputs, out, start) = self.layer(layer);
            let (weights, biases) = params[start..].split_at_mut(inputs * out);
            if layer == 0 {
                let units = weights.chunks_exact_mut(out).chain([&mut biases[..out]]);
                for (unit, &w) in units.zip(linear) {
                    (unit[0], unit[1]) = (w, -w);
                }
                continue;
            }
            for (input, to) in weights.chunks_exact_mut(out).enumerate() {
                if layer + 1 == self.layers {
                    to[0] = [T::ONE, -T::ONE].get(input).copied().unwrap_or(T::ZERO);
                } else if input < 2 {
                    to.fill(T::ZERO);
                    to[input] = T::ONE;
                } else {
                    to[..2].fill(T::ZERO);
                }
            }
        }
        Ok(())
    }

    /// Columns, widths of the hidden layers, heads.
    pub(crate) fn widths(&self) -> &[usize] {
        &self.sizes[..=self.layers]
    }

    /// Whether there is a tanh between layers.
    pub(crate) fn is_tanh(&self) -> bool {
        self.activation == Activation::Tanh
    }

    pub(super) fn width_sum(&self) -> usize {
        self.sizes[1..self.layers].iter().sum()
    }

    pub(super) fn widest(&self) -> usize {
        self.sizes[1..=self.layers].iter().copied().max().unwrap_or(0)
    }

    /// Weights of the largest layer that is turned to go back through it.
    fn turned(&self) -> usize {
        self.sizes[1..=self.layers].windows(2).map(|pair| pair[0] * pair[1]).max().unwrap_or(0)
    }

    /// Widths of the input and output of a layer, and where its parameters start.
    pub(super) fn layer(&self, layer: usize) -> (usize, usize, usize) {
        let start = self.sizes[..=layer].windows(2).map(|pair| (pair[0] + 1) * pair[1]).sum();
        (self.sizes[layer], self.sizes[layer + 1], start)
    }

    pub(super) fn total(&self) -> usize {
        let (inputs, out, start) = self.layer(self.layers - 1);
        start + (inputs + 1) * out
    }

    fn check<T: Real>(&self, params: usize, x: &Selection<'_, T>, scores: usize, cache: usize) -> Result<()> {
        exact_len("params", self.total(), params)?;
        exact_len("columns", self.sizes[0], x.rows().cols())?;
        exact_len("scores", x.len() * self.sizes[self.layers], scores)?;
        let need = Model::<T>::cache_len(self, x.len());
        if cache < need { Err(Error::Length { what: "cache", need, got: cache }) } else { Ok(()) }
    }
}

impl<T: Real> Model<T> for Mlp {
    fn param_len(&self) -> usize {
        self.total()
    }
    fn inputs(&self) -> usize {
        self.sizes[0]
    }
    fn heads(&self) -> usize {
        self.sizes[self.layers]
    }
    fn part(&self, name: &str) -> Option<Range<usize>> {
        let (inputs, out, start) = self.layer(self.layers - 1);
        match name {
            "bias" => Some(start + inputs * out..self.total()),
            "last" => Some(start..self.total()),
            _ => None,
        }
    }
    fn init(&self, rng: &mut Rng, params: &mut [T]) -> Result<()> {
        exact_len("params", self.total(), params.len())?;
        for layer in 0..self.layers {
            let (inputs, out, start) = self.layer(layer);
            let fan = match self.activation {
                Activation::Relu => inputs,
                Activation::Tanh => inputs + out,
            };
            let limit = crate::Real::sqrt(6.0 / fan as f64);
            let (weights, rest) = params[start..].split_at_mut(inputs * out);
            let mut draw = |at: &mut T| *at = T::of(limit * (2.0 * rng.uniform() - 1.0));
            weights.iter_mut().for_each(&mut draw);
            rest[..out].fill(T::ZERO);
            // Without biases a network of tanh is odd: it says nothing where rows x and −x are alike, and its gradients keep it so.
            if self.activation == Activation::Tanh && layer + 1 < self.layers {
                rest[..out].iter_mut().for_each(&mut draw);
            }
        }
        Ok(())
    }
    fn cache_len(&self, rows: usize) -> usize {
        rows.saturating_mul(self.width_sum())
    }
    fn scratch_len(&self, rows: usize) -> usize {
        rows.saturating_mul(2).saturating_mul(self.widest()).saturating_add(self.turned())
    }

    fn forward(&self, params: &[T], x: Selection<'_, T>, cache: &mut [T], scores: &mut [T]) -> Result<()> {
        self.check(params.len(), &x, scores.len(), cache.len())?;
        let rows = x.len();
        let (inputs, out, _) = self.layer(0);
        let (mut previous, mut rest) = cache.split_at_mut(rows * out);
        layer_forward(x, &params[..inputs * out], &params[inputs * out..][..out], previous);
        self.activation.apply(previous);
        for layer in 1..self.layers {
            let (inputs, out, start) = self.layer(layer);
            let (weights, bias) = params[start..].split_at(inputs * out);
            if layer + 1 == self.layers {
                dense::forward(Inputs::all(previous, inputs), weights, &bias[..out], scores);
            } else {
                let (next, after) = rest.split_at_mut(rows * out);
                dense::forward(Inputs::all(previous, inputs), weights, &bias[..out], next);
                self.activation.apply(next);
                previous = next;
                rest = after;
            }
        }
        Ok(())
    }

    fn backward(
        &self,
        params: &[T],
        x: Selection<'_, T>,
        cache: &[T],
        score_grad: &[T],
        scratch: &mut [T],
        grad: &mut [T],
    ) -> Result<()> {
        self.check(params.len(), &x, score_grad.len(), cache.len())?;
        exact_len("grad", params.len(), grad.len())?;
        let rows = x.len();
        let need = Model::<T>::scratch_len(self, rows);
        if scratch.len() < need {
            return Err(Error::Length { what: "scratch", need, got: scratch.len() });
        }
        let (turned, scratch) = scratch[..need].split_at_mut(self.turned());
        let (mut dy, mut dx) = scratch.split_at_mut(rows * self.widest());
        dy[..score_grad.len()].copy_from_slice(score_grad);
        let mut end = rows * self.width_sum();
        for layer in (1..self.layers).rev() {
            let (inputs, out, start) = self.layer(layer);
            let input = &cache[end - rows * inputs..end];
            end -= rows * inputs;
            let (dw, dbias) = grad[start..].split_at_mut(inputs * out);
            dense::backward_weights(Inputs::all(input, inputs), &dy[..rows * out], dw, &mut dbias[..out]);
            let dx_here = &mut dx[..rows * inputs];
            let (weights, turned) = (&params[start..start + inputs * out], &mut turned[..inputs * out]);
            dense::backward_inputs(&dy[..rows * out], weights, out, inputs, turned, dx_here);
            self.activation.chain(input, dx_here);
            (dy, dx) = (dx, dy);
        }
        let (inputs, out, _) = self.layer(0);
        let (dw, dbias) = grad.split_at_mut(inputs * out);
        layer_backward(x, &dy[..rows * out], dw, &mut dbias[..out]);
        Ok(())
    }
}
