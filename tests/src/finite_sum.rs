//! AI-SARAH and its baselines straight from the algorithm boxes: dense plain f64, nothing shared with the core.
//! The algorithms are written once, for whatever has gradients: linear models here, networks in `network`.

/// Which φ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    Logistic,
    LeastSquares,
    SquaredHinge,
}

/// P(w) = (1/n) Σ φ(y_i, x_iᵀw) + (λ/2)‖w‖² over plain rows.
#[derive(Clone, Debug)]
pub struct Sum {
    pub x: Vec<Vec<f64>>,
    pub y: Vec<f64>,
    pub lambda: f64,
    pub loss: Loss,
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn along(w: &[f64], alpha: f64, v: &[f64]) -> Vec<f64> {
    w.iter().zip(v).map(|(w, v)| w - alpha * v).collect()
}

/// A finite sum with gradients, and the algorithms on it.
pub trait Naive {
    /// Every example.
    fn all(&self) -> Vec<usize>;

    /// ∇f of the mean over some examples, with λ.
    fn gradient(&self, batch: &[usize], w: &[f64]) -> Vec<f64>;

    /// ξ'(0) and ξ''(0).
    fn step_model(&self, batch: &[usize], w: &[f64], v: &[f64]) -> (f64, f64);

    /// ξ(α) by its definition.
    fn xi(&self, batch: &[usize], w: &[f64], v: &[f64], alpha: f64) -> f64 {
        let new = self.gradient(batch, &along(w, alpha, v));
        let old = self.gradient(batch, w);
        (0..v.len()).map(|j| (new[j] - old[j] + v[j]).powi(2)).sum()
    }

    fn recurse(&self, batch: &[usize], w: &mut Vec<f64>, v: &mut [f64], alpha: f64) {
        let old = self.gradient(batch, w);
        *w = along(w, alpha, v);
        let new = self.gradient(batch, w);
        for j in 0..v.len() {
            v[j] += new[j] - old[j];
        }
    }

    /// Algorithm 2: `steps` minibatches; returns w and every (α, α_max).
    fn ai_sarah(&self, w0: &[f64], steps: usize, mut draw: impl FnMut() -> Vec<usize>) -> (Vec<f64>, Vec<[f64; 2]>) {
        let (stop, beta) = (1.0 / 32.0, 0.999);
        let mut w = w0.to_vec();
        let mut trace = Vec::new();
        let mut delta = None;
        loop {
            let mut v = self.gradient(&self.all(), &w);
            let start = dot(&v, &v);
            while dot(&v, &v) >= stop * start {
                if trace.len() == steps {
                    return (w, trace);
                }
                let batch = draw();
                let (slope, curvature) = self.step_model(&batch, &w, &v);
                let newton = -slope / curvature.abs();
                if !newton.is_finite() || newton <= 0.0 {
                    continue; // the guard: 0/0 and negative curvature
                }
                let smoothed = delta.map_or(1.0 / newton, |delta: f64| beta * delta + (1.0 - beta) / newton);
                delta = Some(smoothed);
                let alpha = newton.min(1.0 / smoothed);
                trace.push([alpha, 1.0 / smoothed]);
                self.recurse(&batch, &mut w, &mut v, alpha);
            }
        }
    }

    /// SARAH (`stop` 0) and SARAH+ (`inner` large).
    fn sarah(
        &self,
        w0: &[f64],
        alpha: f64,
        inner: usize,
        stop: f64,
        steps: usize,
        mut draw: impl FnMut() -> Vec<usize>,
    ) -> Vec<f64> {
        let mut w = w0.to_vec();
        let mut done = 0;
        loop {
            let mut v = self.gradient(&self.all(), &w);
            let start = dot(&v, &v);
            for _ in 0..inner {
                if done == steps {
                    return w;
                }
                done += 1;
                self.recurse(&draw(), &mut w, &mut v, alpha);
                if dot(&v, &v) < stop * start {
                    break;
                }
            }
        }
    }

    fn svrg(
        &self,
        w0: &[f64],
        alpha: f64,
        inner: usize,
        steps: usize,
        mut draw: impl FnMut() -> Vec<usize>,
    ) -> Vec<f64> {
        let mut w = w0.to_vec();
        let mut done = 0;
        loop {
            let anchor = w.clone();
            let mean = self.gradient(&self.all(), &anchor);
            for _ in 0..inner {
                if done == steps {
                    return w;
                }
                done += 1;
                let batch = draw();
                let (here, there) = (self.gradient(&batch, &w), self.gradient(&batch, &anchor));
                for j in 0..w.len() {
                    w[j] -= alpha * (here[j] - there[j] + mean[j]);
                }
            }
        }
    }

    /// Whole passes over `orders`, in minibatches of `size`.
    fn momentum(&self, w0: &[f64], alpha: f64, beta: f64, decay: f64, size: usize, orders: &[Vec<usize>]) -> Vec<f64> {
        let mut w = w0.to_vec();
        let mut m = vec![0.0; w.len()];
        for (pass, order) in orders.iter().enumerate() {
            let alpha = alpha * (1.0 - decay).powi(pass as i32);
            for batch in order.chunks(size) {
                let g = self.gradient(batch, &w);
                for j in 0..w.len() {
                    m[j] = beta * m[j] + g[j];
                    w[j] -= alpha * m[j];
                }
            }
        }
        w
    }

    fn adam(&self, w0: &[f64], alpha: f64, decay: f64, size: usize, orders: &[Vec<usize>]) -> Vec<f64> {
        let mut w = w0.to_vec();
        let (mut m, mut s) = (vec![0.0; w.len()], vec![0.0; w.len()]);
        let mut t = 0;
        for (pass, order) in orders.iter().enumerate() {
            let alpha = alpha * (1.0 - decay).powi(pass as i32);
            for batch in order.chunks(size) {
                t += 1;
                let g = self.gradient(batch, &w);
                for j in 0..w.len() {
                    m[j] = 0.9 * m[j] + 0.1 * g[j];
                    s[j] = 0.999 * s[j] + 0.001 * g[j] * g[j];
                    let (m, s) = (m[j] / (1.0 - 0.9f64.powi(t)), s[j] / (1.0 - 0.999f64.powi(t)));
                    w[j] -= alpha * m / (s.sqrt() + 1e-8);
                }
            }
        }
        w
    }
}

impl Sum {
    /// φ', φ'', φ''' as the textbook writes them.
    pub fn derivatives(&self, y: f64, z: f64) -> (f64, f64, f64) {
        match self.loss {
            Loss::Logistic => {
                let s = 1.0 / (1.0 + (-z).exp());
                (-y / (1.0 + (y * z).exp()), s * (1.0 - s), s * (1.0 - s) * (1.0 - 2.0 * s))
            }
            Loss::LeastSquares => (z - y, 1.0, 0.0),
            Loss::SquaredHinge if y * z < 1.0 => (-2.0 * y * (1.0 - y * z), 2.0, 0.0),
            Loss::SquaredHinge => (0.0, 0.0, 0.0),
        }
    }

    /// L_i = max over η in [0, 1/L_i] of ‖x_i‖²φ''(z − ηa) + λ, on a grid of L and a grid of η.
    pub fn smoothness(&self, i: usize, w: &[f64], v: &[f64]) -> f64 {
        let (z, a) = (dot(&self.x[i], w), dot(&self.x[i], v));
        let s = dot(&self.x[i], &self.x[i]);
        let right = |l: f64| {
            (0..=1000)
                .map(|k| s * self.derivatives(self.y[i], z - f64::from(k) / 1000.0 / l * a).1 + self.lambda)
                .fold(0.0, f64::max)
        };
        // The smallest L on the grid that is not below its own right side.
        let top = 2.5 * s + self.lambda;
        (1..=20_000).map(|k| f64::from(k) / 20_000.0 * top).find(|&l| l >= right(l)).unwrap_or(top)
    }
}

impl Naive for Sum {
    fn all(&self) -> Vec<usize> {
        (0..self.x.len()).collect()
    }

    fn gradient(&self, batch: &[usize], w: &[f64]) -> Vec<f64> {
        let mut g: Vec<f64> = w.iter().map(|w| self.lambda * w).collect();
        for &i in batch {
            let slope = self.derivatives(self.y[i], dot(&self.x[i], w)).0 / batch.len() as f64;
            for (g, x) in g.iter_mut().zip(&self.x[i]) {
                *g += slope * x;
            }
        }
        g
    }

    /// ξ'(0) and ξ''(0) through the dense products Hv and ∇³f[v, v].
    fn step_model(&self, batch: &[usize], w: &[f64], v: &[f64]) -> (f64, f64) {
        let mut hv: Vec<f64> = v.iter().map(|v| self.lambda * v).collect();
        let mut third = vec![0.0; v.len()];
        for &i in batch {
            let (_, h, t) = self.derivatives(self.y[i], dot(&self.x[i], w));
            let a = dot(&self.x[i], v);
            for j in 0..v.len() {
                hv[j] += h * a * self.x[i][j] / batch.len() as f64;
                third[j] += t * a * a * self.x[i][j] / batch.len() as f64;
            }
        }
        (-2.0 * dot(v, &hv), 2.0 * dot(&hv, &hv) + 2.0 * dot(v, &third))
    }
}
