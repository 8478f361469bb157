//! Models and step rules by plain loops.

/// A perceptron (or, without hidden layers, a linear model), one head: score of a row. `sizes` from inputs to heads; parameters layer by layer,
/// weights `[input][output]`, then biases.
pub fn score(sizes: &[usize], tanh: bool, params: &[f64], row: &[f64]) -> f64 {
    scores(sizes, tanh, params, row)[0]
}

/// The same with all heads.
pub fn scores(sizes: &[usize], tanh: bool, params: &[f64], row: &[f64]) -> Vec<f64> {
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
    x
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

/// L-BFGS by its textbook form: lists of pairs, and a line search that calls the function as often as it likes.
pub struct Lbfgs<F: Fn(&[f64]) -> (f64, Vec<f64>)> {
    pub f: F,
    pub memory: usize,
    pub x: Vec<f64>,
    pub pairs: Vec<(Vec<f64>, Vec<f64>)>,
    /// A curvature in the place of the identity.
    pub metric: Option<Vec<Vec<f64>>>,
}

/// x of a·x = b, by elimination.
pub fn solve(a: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let mut rows: Vec<Vec<f64>> = a.iter().zip(b).map(|(a, &b)| [&a[..], &[b]].concat()).collect();
    for k in 0..b.len() {
        let from = (k..b.len()).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs())).unwrap();
        rows.swap(k, from);
        let pivot = rows[k].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let share = row[k] / pivot[k];
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= share * p);
        }
    }
    rows.iter().enumerate().map(|(k, row)| row[b.len()] / row[k]).collect()
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl<F: Fn(&[f64]) -> (f64, Vec<f64>)> Lbfgs<F> {
    /// One accepted step. Returns the number of evaluations the search took.
    pub fn step(&mut self) -> usize {
        let (value, g) = (self.f)(&self.x);
        let mut r = g.clone();
        if let Some((s, y)) = self.pairs.last() {
            let mut a = vec![];
            for (s, y) in self.pairs.iter().rev() {
                let k = inner(s, &r) / inner(s, y);
                r.iter_mut().zip(y).for_each(|(r, y)| *r -= k * y);
                a.push(k);
            }
            let (of_r, of_y) = match &self.metric {
                Some(metric) => (solve(metric, &r), solve(metric, y)),
                None => (r.clone(), y.clone()),
            };
            let scale = inner(s, y) / inner(y, &of_y);
            r = of_r.iter().map(|r| r * scale).collect();
            for (s, y) in &self.pairs {
                let k = a.pop().unwrap() - inner(y, &r) / inner(s, y);
                r.iter_mut().zip(s).for_each(|(r, s)| *r += k * s);
            }
        } else if let Some(metric) = &self.metric {
            r = solve(metric, &g);
        } else {
            let norm = inner(&g, &g).sqrt();
            r.iter_mut().for_each(|r| *r /= norm);
        }
        let slope = -inner(&r, &g);
        let (mut alpha, mut lo, mut hi) = (1.0, 0.0, f64::INFINITY);
        for tries in 1.. {
            let x: Vec<f64> = self.x.iter().zip(&r).map(|(x, r)| x - alpha * r).collect();
            let (new, grad) = (self.f)(&x);
            if new >= value + 1e-4 * alpha * slope {
                hi = alpha;
            } else if -inner(&r, &grad) <= 0.9 * slope {
                lo = alpha;
            } else {
                let s: Vec<f64> = x.iter().zip(&self.x).map(|(a, b)| a - b).collect();
                let y: Vec<f64> = grad.iter().zip(&g).map(|(a, b)| a - b).collect();
                self.pairs.push((s, y));
                if self.pairs.len() > self.memory {
                    self.pairs.remove(0);
                }
                self.x = x;
                return tries;
            }
            assert!(tries < 60, "the twin's line search fails");
            alpha = if hi.is_finite() { (lo + hi) / 2.0 } else { 2.0 * lo };
        }
        unreachable!()
    }
}
