//! The mean of several networks as one wider network.
//!
//! Hidden layers stand side by side: the first layer reads the same columns for all, later ones have zeros between networks, and the
//! last has each one's weights divided by their number. Scores are the mean but for rounding. Between hidden layers the wide
//! network makes as many times the multiplications as there are networks; with one hidden layer there are none to spare.

use super::Mlp;
use crate::error::{Error, Result, exact_len};
use crate::real::Real;

impl Mlp {
    /// The shape of the mean of so many networks of this one.
    ///
    /// # Errors
    /// `Empty` for none; `Overflow`.
    pub fn side_by_side(&self, count: usize) -> Result<Self> {
        if count == 0 {
            return Err(Error::Empty { what: "networks" });
        }
        let (mut sizes, layers) = (self.sizes, self.layers);
        for width in &mut sizes[1..layers] {
            *width = width.checked_mul(count).ok_or(Error::Overflow { what: "params" })?;
        }
        Self::new(sizes[0], &sizes[1..layers], sizes[layers], self.activation)
    }

    /// Writes the parameters of the mean of networks of this shape, which is [`side_by_side`](Self::side_by_side).
    ///
    /// # Errors
    /// `Empty`, `Overflow`, `Length`.
    ///
    /// ```
    /// use undercurve::model::{Activation, Mlp, Model};
    ///
    /// let one = Mlp::new(1, &[1], 1, Activation::Relu)?;
    /// let wide = one.side_by_side(2)?;
    /// let mut params = vec![0.0f64; Model::<f64>::param_len(&wide)];
    /// one.average(&[&[1.0, 2.0, 4.0, 8.0], &[3.0, 5.0, 6.0, 2.0]], &mut params)?;
    /// assert_eq!(params, [1.0, 3.0, 2.0, 5.0, 2.0, 3.0, 5.0]); // halves of 4 and 6, the mean of 8 and 2
    /// # Ok::<(), undercurve::Error>(())
    /// ```
    pub fn average<T: Real>(&self, networks: &[&[T]], params: &mut [T]) -> Result<()> {
        let wide = self.side_by_side(networks.len())?;
        networks.iter().try_for_each(|own| exact_len("network", self.total(), own.len()))?;
        exact_len("params", wide.total(), params.len())?;
        params.fill(T::ZERO);
        let count = T::of(networks.len() as f64);
        for (at, own) in networks.iter().enumerate() {
            for layer in 0..self.layers {
                let (inputs, out, start) = self.layer(layer);
                let (wide_inputs, wide_out, wide_start) = wide.layer(layer);
                let last = layer + 1 == self.layers;
                let first_row = if layer == 0 { 0 } else { at * inputs };
                let column = if last { 0 } else { at * out };
                // (The row after the weights is that of the biases.)
                for (row, from) in own[start..][..(inputs + 1) * out].chunks_exact(out).enumerate() {
                    let row = if row == inputs { wide_inputs } else { first_row + row };
                    let to = &mut params[wide_start + row * wide_out + column..][..out];
                    for (to, &from) in to.iter_mut().zip(from) {
                        *to = if last { *to + from / count } else { from };
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::data::{Rows, Selection};
    use crate::error::Error;
    use crate::model::{Activation, Mlp, Model};
    use crate::rng::Rng;
    use alloc::vec;
    use alloc::vec::Vec;

    fn scores(model: &Mlp, params: &[f64], x: &[f64]) -> Vec<f64> {
        let rows = Selection::all(Rows::dense(x, 3).unwrap());
        let mut cache = vec![0.0; Model::<f64>::cache_len(model, rows.len())];
        let mut scores = vec![0.0; rows.len() * Model::<f64>::heads(model)];
        model.forward(params, rows, &mut cache, &mut scores).unwrap();
        scores
    }

    #[test]
    fn scores_are_the_mean() {
        let mut rng = Rng::new(7);
        let x: Vec<f64> = (0..60).map(|_| rng.uniform() * 4.0 - 2.0).collect();
        for activation in [Activation::Relu, Activation::Tanh] {
            for (hidden, heads, count) in [(&[4][..], 1, 5), (&[3, 2], 2, 3), (&[5, 4, 3], 1, 2), (&[2], 3, 1)] {
                let one = Mlp::new(3, hidden, heads, activation).unwrap();
                let mut draw = || (0..one.total()).map(|_| rng.uniform() * 2.0 - 1.0).collect::<Vec<f64>>();
                let own: Vec<Vec<f64>> = (0..count).map(|_| draw()).collect();
                let wide = one.side_by_side(count).unwrap();
                let mut params = vec![1.0; wide.total()];
                one.average(&own.iter().map(|own| &own[..]).collect::<Vec<_>>(), &mut params).unwrap();
                let apart: Vec<Vec<f64>> = own.iter().map(|own| scores(&one, own, &x)).collect();
                for (at, together) in scores(&wide, &params, &x).into_iter().enumerate() {
                    let mean = apart.iter().map(|own| own[at]).sum::<f64>() / count as f64;
                    assert!((together - mean).abs() < 1e-12, "{hidden:?} {at}: {together} {mean}");
                }
            }
        }
    }

    #[test]
    fn other_shapes_are_refused() {
        let one = Mlp::new(3, &[4], 1, Activation::Relu).unwrap();
        let (own, mut wide) = (vec![0.0f64; one.total()], vec![0.0f64; one.side_by_side(2).unwrap().total()]);
        assert!(matches!(one.average::<f64>(&[], &mut wide), Err(Error::Empty { .. })));
        assert!(matches!(one.average(&[&own, &own[1..]], &mut wide), Err(Error::Length { what: "network", .. })));
        assert!(matches!(one.average(&[&own], &mut wide), Err(Error::Length { what: "params", .. })));
        assert!(matches!(one.side_by_side(usize::MAX), Err(Error::Overflow { .. })));
    }
}
