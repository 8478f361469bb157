//! A perceptron's finite sum by plain loops: exact gradients by hand, derivatives of ξ by differences.

use crate::finite_sum::{Loss, Naive, Sum};

/// P(w) = (1/n) Σ φ(y_i, h(x_i; w)) + (λ/2)‖w‖², with h as in `model::score`.
#[derive(Clone, Debug)]
pub struct Net {
    /// Widths from inputs to the one score.
    pub sizes: Vec<usize>,
    pub tanh: bool,
    /// Rows, labels, λ and loss. Its own algorithms are those of a linear model; here it only holds them.
    pub sum: Sum,
}

impl Net {
    /// Where the parameters of each layer start.
    fn starts(&self) -> Vec<usize> {
        let mut starts = vec![0];
        for pair in self.sizes.windows(2) {
            starts.push(starts[starts.len() - 1] + (pair[0] + 1) * pair[1]);
        }
        starts
    }

    /// Inputs, activations of each hidden layer, and the score.
    fn values(&self, i: usize, w: &[f64]) -> Vec<Vec<f64>> {
        let starts = self.starts();
        let layers = self.sizes.len() - 1;
        let mut values = vec![self.sum.x[i].clone()];
        for l in 0..layers {
            let (inputs, out, at) = (self.sizes[l], self.sizes[l + 1], starts[l]);
            let mut y = vec![0.0; out];
            for o in 0..out {
                y[o] = w[at + inputs * out + o];
                for j in 0..inputs {
                    y[o] += w[at + j * out + o] * values[l][j];
                }
                if l + 1 < layers {
                    y[o] = if self.tanh { y[o].tanh() } else { y[o].max(0.0) };
                }
            }
            values.push(y);
        }
        values
    }

    /// Probes of ξ for its differences.
    fn reach(v: &[f64]) -> f64 {
        5e-4 / v.iter().map(|v| v * v).sum::<f64>().sqrt()
    }

    /// Whether a hidden unit of an example turns on or off between the outermost probes.
    pub fn bends(&self, batch: &[usize], w: &[f64], v: &[f64]) -> bool {
        let h = Self::reach(v);
        let on = |i: usize, k: f64| -> Vec<bool> {
            let at: Vec<f64> = w.iter().zip(v).map(|(w, v)| w - k * h * v).collect();
            self.values(i, &at).concat().iter().map(|a| *a > 0.0).collect()
        };
        !self.tanh && batch.iter().any(|&i| on(i, -2.0) != on(i, 2.0))
    }

    /// Adds ∇φ of one example.
    fn add(&self, i: usize, w: &[f64], scale: f64, g: &mut [f64]) {
        let (starts, layers) = (self.starts(), self.sizes.len() - 1);
        let values = self.values(i, w);
        let mut d = vec![self.sum.derivatives(self.sum.y[i], values[layers][0]).0 * scale];
        for l in (0..layers).rev() {
            let (inputs, out, at) = (self.sizes[l], self.sizes[l + 1], starts[l]);
            let mut below = vec![0.0; inputs];
            for o in 0..out {
                g[at + inputs * out + o] += d[o];
                for j in 0..inputs {
                    g[at + j * out + o] += d[o] * values[l][j];
                    below[j] += d[o] * w[at + j * out + o];
                }
            }
            if l > 0 {
                for (below, a) in below.iter_mut().zip(&values[l]) {
                    *below *= if self.tanh { 1.0 - a * a } else { f64::from(*a > 0.0) };
                }
            }
            d = below;
        }
    }

    /// P.
    pub fn objective(&self, w: &[f64]) -> f64 {
        let value = |i: usize| {
            let s = crate::model::score(&self.sizes, self.tanh, w, &self.sum.x[i]);
            let margin = self.sum.y[i] * s;
            match self.sum.loss {
                Loss::Logistic => (-margin).exp().ln_1p(),
                Loss::LeastSquares => 0.5 * (s - self.sum.y[i]).powi(2),
                Loss::SquaredHinge => (1.0 - margin).max(0.0).powi(2),
            }
        };
        let n = self.sum.x.len();
        (0..n).map(value).sum::<f64>() / n as f64 + 0.5 * self.sum.lambda * w.iter().map(|w| w * w).sum::<f64>()
    }
}

impl Naive for Net {
    fn all(&self) -> Vec<usize> {
        self.sum.all()
    }

    fn gradient(&self, batch: &[usize], w: &[f64]) -> Vec<f64> {
        let mut g: Vec<f64> = w.iter().map(|w| self.sum.lambda * w).collect();
        for &i in batch {
            self.add(i, w, 1.0 / batch.len() as f64, &mut g);
        }
        g
    }

    /// Differences of ξ, with their error of order h² taken out.
    fn step_model(&self, batch: &[usize], w: &[f64], v: &[f64]) -> (f64, f64) {
        let h = Self::reach(v);
        let at = |k: f64| self.xi(batch, w, v, k * h);
        let (one, two) = ((at(1.0) - at(-1.0)) / (2.0 * h), (at(2.0) - at(-2.0)) / (4.0 * h));
        let bend = |k: f64| (at(k) - 2.0 * at(0.0) + at(-k)) / (k * k * h * h);
        ((4.0 * one - two) / 3.0, (4.0 * bend(1.0) - bend(2.0)) / 3.0)
    }
}
