//! A multilayer perceptron's loss along a direction, exactly: three derivatives and the Hessian–vector product.
//!
//! With w + αv for the parameters (W, b of each layer, V, c in v) every activation is a function of α. Its derivatives at
//! 0 go forward together with its value,
//!
//! - z = Wh + b, z' = Wh' + Vh + c, z'' = Wh'' + 2Vh', z''' = Wh''' + 3Vh'';
//! - h⁺ = σ(z), h⁺' = σ'z', h⁺'' = σ''z'² + σ'z'', h⁺''' = σ'''z'³ + 3σ''z'z'' + σ'z''';
//!
//! and end in the first three derivatives of the loss: gᵀv, vᵀHv and vᵀ∇³f[v, v]. The Hessian–vector product is the
//! backward pass with its own derivative by α (Pearlmutter 1994, "Fast Exact Multiplication by the Hessian"): with d for
//! derivatives of the loss and ' again by α,
//!
//! - (dW)' = (dz)'hᵀ + dz h'ᵀ, (db)' = (dz)', (dh)' = Wᵀ(dz)' + Vᵀdz, (dz)' = σ'(dh)' + σ''z' dh one layer down.
//!
//! At the bend of a ReLU its second and third derivatives are 0, as its first one is.
//!
//! Cost: about 12·params multiply-adds a row. Memory: 5 numbers per hidden unit and 4 per unit of the widest layer.

use super::mlp::{Activation, Mlp};
use crate::data::{Rows, Selection};
use crate::error::{Error, Result, count_labels, exact_len};
use crate::example_loss::GlmLoss;
use crate::real::Real;

/// Means over the rows of the loss and its derivatives at w along v.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Along {
    /// f.
    pub value: f64,
    /// gᵀv.
    pub first: f64,
    /// vᵀHv.
    pub second: f64,
    /// vᵀ∇³f[v, v].
    pub third: f64,
}

/// The line w + αv through the parameters, one number of each a parameter.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a, T> {
    /// w.
    pub params: &'a [T],
    /// v.
    pub direction: &'a [T],
}

/// What the pass down needs of a row's pass up.
struct Cache<'a, T> {
    /// Jets of the hidden activations, and room for the score's.
    jets: &'a mut [Jet<T>],
    /// z' of the hidden units.
    slopes: &'a mut [T],
    /// dz, (dz)', and room for those of the layer below: four times the widest layer.
    adjoint: &'a mut [T],
}

/// Value and three derivatives by α.
type Jet<T> = [T; 4];

/// σ', σ'' and σ''' from σ.
#[inline]
fn derivatives<T: Real>(activation: Activation, a: T) -> [T; 3] {
    match activation {
        Activation::Relu => [if a > T::ZERO { T::ONE } else { T::ZERO }, T::ZERO, T::ZERO],
        Activation::Tanh => {
            let slope = T::ONE - a * a;
            [slope, T::of(-2.0) * a * slope, slope * (T::of(6.0) * a * a - T::of(2.0))]
        }
    }
}

/// The jet of σ(z) from that of z.
#[inline]
fn through<T: Real>(activation: Activation, z: Jet<T>) -> Jet<T> {
    let mut a = [z[0]];
    activation.apply(&mut a);
    let [d1, d2, d3] = derivatives(activation, a[0]);
    let square = (z[1] * z[1]).settled();
    let third = (d3 * square).settled() * z[1] + (T::of(3.0) * d2 * z[1]).settled() * z[2] + d1 * z[3];
    [a[0], d1 * z[1], d2 * square + d1 * z[2], third]
}

/// Calls `visit` with every stored column and value of a row.
fn each_value<T: Real>(x: &Selection<'_, T>, k: usize, mut visit: impl FnMut(usize, T)) {
    let row = x.row(k);
    match x.rows() {
        Rows::Dense { data, cols } => {
            data[row * cols..(row + 1) * cols].iter().enumerate().for_each(|(j, &x)| visit(j, x));
        }
        Rows::Csr { ptr, col, val, .. } => {
            let (col, val) = Rows::sparse_row(ptr, col, val, row);
            col.iter().zip(val).for_each(|(&j, &x)| visit(j as usize, x));
        }
    }
}

impl Mlp {
    /// Elements of working memory of [`along`](Self::along).
    #[must_use]
    pub fn along_len(&self) -> usize {
        5 * self.width_sum() + 4 + 4 * self.widest()
    }

    /// The mean loss over the selected rows along a line. `labels` has one label per selected row, 1 for y = +1 and 0 for
    /// y = −1. `out` gets the mean gradient and the mean Hessian–vector product Hv; `scratch` is at least [`along_len`](Self::along_len) long.
    ///
    /// # Errors
    /// `Length`, `Empty` without rows, `Label`, `Unsupported` with more than one head, `Overflow` when a result is not
    /// finite; outputs are then unspecified.
    pub fn along<T: Real>(
        &self,
        path: Path<'_, T>,
        x: Selection<'_, T>,
        labels: &[u8],
        loss: GlmLoss,
        scratch: &mut [T],
        out: [&mut [T]; 2],
    ) -> Result<Along> {
        let total = self.total();
        exact_len("params", total, path.params.len())?;
        exact_len("direction", total, path.direction.len())?;
        exact_len("grad", total, out[0].len())?;
        exact_len("product", total, out[1].len())?;
        exact_len("columns", self.sizes[0], x.rows().cols())?;
        exact_len("labels", x.len(), labels.len())?;
        count_labels(labels)?;
        if self.sizes[self.layers] != 1 {
            return Err(Error::Unsupported { what: "several heads" });
        }
        if x.is_empty() {
            return Err(Error::Empty { what: "rows" });
        }
        let need = self.along_len();
        if scratch.len() < need {
            return Err(Error::Length { what: "scratch", need, got: scratch.len() });
        }
        let y = |k: usize| if labels[k] == 1 { T::ONE } else { -T::ONE };
        self.along_rows(path, x, y, loss, &mut scratch[..need], out)
    }

    /// [`along`](Self::along) without its checks of lengths; the target of the k-th selected row is asked for.
    pub(crate) fn along_rows<T: Real>(
        &self,
        path: Path<'_, T>,
        x: Selection<'_, T>,
        y: impl Fn(usize) -> T,
        loss: GlmLoss,
        scratch: &mut [T],
        [grad, product]: [&mut [T]; 2],
    ) -> Result<Along> {
        grad.fill(T::ZERO);
        product.fill(T::ZERO);
        let width = self.width_sum();
        let (jets, rest) = scratch[..self.along_len()].split_at_mut(4 * (width + 1));
        let (slopes, adjoint) = rest.split_at_mut(width);
        let mut cache = Cache { jets: jets.as_chunks_mut::<4>().0, slopes, adjoint };
        let share = T::of(1.0 / x.len() as f64);
        let mut mean = Along::default();
        for k in 0..x.len() {
            let s = self.forward_jets(path, &x, k, &mut cache);
            let y = y(k);
            let (d1, d2, d3) = loss.derivatives(y, s[0]);
            let f = |x: T| x.f64();
            mean.value += f(loss.value(y, s[0]));
            mean.first += f(d1) * f(s[1]);
            mean.second += f(d2) * f(s[1]) * f(s[1]) + f(d1) * f(s[2]);
            mean.third += f(d3) * f(s[1]) * f(s[1]) * f(s[1]) + 3.0 * f(d2) * f(s[1]) * f(s[2]) + f(d1) * f(s[3]);
            cache.adjoint[0] = (d1 * share).settled();
            cache.adjoint[self.widest()] = (d2 * s[1] * share).settled();
            self.backward_jets(path, &x, k, &mut cache, [&mut *grad, &mut *product]);
        }
        let count = x.len() as f64;
        for part in [&mut mean.value, &mut mean.first, &mut mean.second, &mut mean.third] {
            *part /= count;
        }
        let sums = [mean.value, mean.first, mean.second, mean.third];
        if sums.iter().all(|x| x.is_finite()) && grad.iter().chain(product.iter()).all(|x| x.is_finite()) {
            Ok(mean)
        } else {
            Err(Error::Overflow { what: "derivatives" })
        }
    }

    /// The score's jet of one row; those of the hidden activations stay in the cache, with z'.
    fn forward_jets<T: Real>(
        &self,
        path: Path<'_, T>,
        x: &Selection<'_, T>,
        k: usize,
        cache: &mut Cache<'_, T>,
    ) -> Jet<T> {
        let Cache { jets, slopes, .. } = cache;
        let mut below = 0..0;
        let mut at = 0;
        for layer in 0..self.layers {
            let (inputs, out, start) = self.layer(layer);
            let (w, v) = (&path.params[start..], &path.direction[start..]);
            let (known, fresh) = jets.split_at_mut(at);
            let z = &mut fresh[..out];
            for (o, z) in z.iter_mut().enumerate() {
                *z = [w[inputs * out + o], v[inputs * out + o], T::ZERO, T::ZERO];
            }
            if layer == 0 {
                each_value(x, k, |i, x| {
                    for (o, z) in z.iter_mut().enumerate() {
                        z[0] += w[i * out + o] * x;
                        z[1] += v[i * out + o] * x;
                    }
                });
            } else {
                let (two, three) = (T::of(2.0), T::of(3.0));
                for (i, h) in known[below.clone()].iter().enumerate() {
                    for (o, z) in z.iter_mut().enumerate() {
                        let (w, v) = (w[i * out + o], v[i * out + o]);
                        z[0] += w * h[0];
                        z[1] += w * h[1] + v * h[0];
                        z[2] += w * h[2] + two * v * h[1];
                        z[3] += w * h[3] + three * v * h[2];
                    }
                }
            }
            if layer + 1 == self.layers {
                return z[0];
            }
            for (z, slope) in z.iter_mut().zip(&mut slopes[at..at + out]) {
                for derivative in &mut z[1..] {
                    *derivative = derivative.settled();
                }
                *slope = z[1];
                *z = through(self.activation, *z);
            }
            below = at..at + out;
            at += out;
        }
        [T::ZERO; 4]
    }

    /// Adds one row's gradient and its derivative along the direction. The last layer's dz and (dz)' are there on entry.
    fn backward_jets<T: Real>(
        &self,
        Path { params, direction }: Path<'_, T>,
        x: &Selection<'_, T>,
        k: usize,
        cache: &mut Cache<'_, T>,
        [grad, product]: [&mut [T]; 2],
    ) {
        let Cache { jets, slopes, adjoint } = cache;
        let widest = self.widest();
        let (mine, below) = adjoint.split_at_mut(2 * widest);
        let mut end = self.width_sum();
        for layer in (0..self.layers).rev() {
            let (inputs, out, start) = self.layer(layer);
            let (dz, rdz) = mine.split_at(widest);
            let (dz, rdz) = (&dz[..out], &rdz[..out]);
            let grad = &mut grad[start..start + (inputs + 1) * out];
            let product = &mut product[start..start + (inputs + 1) * out];
            for o in 0..out {
                grad[inputs * out + o] += dz[o];
                product[inputs * out + o] += rdz[o];
            }
            if layer == 0 {
                each_value(x, k, |i, x| {
                    for o in 0..out {
                        grad[i * out + o] += dz[o] * x;
                        product[i * out + o] += rdz[o] * x;
                    }
                });
                return;
            }
            let first = end - inputs;
            let (dh, rdh) = below.split_at_mut(widest);
            for i in 0..inputs {
                let h = jets[first + i];
                let (mut down, mut turned) = (T::ZERO, T::ZERO);
                for o in 0..out {
                    let at = i * out + o;
                    grad[at] += dz[o] * h[0];
                    product[at] += rdz[o] * h[0] + dz[o] * h[1];
                    down += params[start + at] * dz[o];
                    turned += params[start + at] * rdz[o] + direction[start + at] * dz[o];
                }
                let [d1, d2, _] = derivatives(self.activation, h[0]);
                let down = down.settled();
                dh[i] = d1 * down;
                rdh[i] = d1 * turned.settled() + (d2 * slopes[first + i]).settled() * down;
            }
            mine.copy_from_slice(below);
            end = first;
        }
    }
}
