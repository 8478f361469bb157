//! Models and step rules by plain loops.

/// A perceptron (or, without hidden layers, a linear model), one head: score of a row. `sizes` from inputs to heads; parameters layer by layer,
/// weights `[input][output]`, then biases.
pub fn score(sizes: &[usize], tanh: bool, params: &[f64], row: &[f64]) -> f64 {
    let mut x = row.to_vec();
    let mut at = 0;
    for layer in 0..sizes.len() - 1 {
        let (inputs, out) = (sizes[layer], sizes[layer + 1]);
        let mut y = vec![0.0; out];
        for o in 0..out {
            y[o] = params[at + inputs * out + o];
            for i in 0..inputs {
                y[o] += params[at + i * out + o] * x[i];
            }
            if layer + 2 < sizes.len() {
                y[o] = if tanh { y[o].tanh() } else { y[o].max(0.0) };
            }
        }
        at += (inputs + 1) * out;
        x = y;
    }
    x[0]
}

/// Adam as Kingma and Ba print it (algorithm 1), or as Qi et al. do (algorithm 3), with weight decay in the gradient.
pub struct Adam {
    pub beta1: f64,
    pub beta2: f64,
    pub eps: f64,
    pub decay: f64,
    pub plain: bool,
    pub m: Vec<f64>,
    pub v: Vec<f64>,
    pub t: i32,
}

impl Adam {
    pub fn step(&mut self, lr: f64, w: &mut [f64], g: &[f64]) {
        self.t += 1;
        for k in 0..w.len() {
            let g = g[k] + self.decay * w[k];
            self.m[k] = self.beta1 * self.m[k] + (1.0 - self.beta1) * g;
            self.v[k] = self.beta2 * self.v[k] + (1.0 - self.beta2) * g * g;
            w[k] -= if self.plain {
                lr * self.m[k] / (self.eps + self.v[k]).sqrt()
            } else {
                let m = self.m[k] / (1.0 - self.beta1.powi(self.t));
                let v = self.v[k] / (1.0 - self.beta2.powi(self.t));
                lr * m / (v.sqrt() + self.eps)
            };
        }
    }
}
