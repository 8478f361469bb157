//! SOAP's estimator transcribed from Qi et al. 2021: algorithm 2 (UG) and equation (9), by plain loops.

/// Value and slope of a surrogate by its registry name.
pub fn surrogate(name: &str, parameter: f64, t: f64) -> (f64, f64) {
    let d = parameter - t;
    match name {
        "square" => (d * d, -2.0 * d),
        "squared-hinge" => (d.max(0.0).powi(2), -2.0 * d.max(0.0)),
        "hinge" => (d.max(0.0), if d > 0.0 { -1.0 } else { 0.0 }),
        "logistic" => {
            let z = parameter * t;
            let value = if z > 0.0 { (-z).exp().ln_1p() } else { -z + z.exp().ln_1p() };
            (value, -parameter / (1.0 + z.exp()))
        }
        "sigmoid" => {
            let s = 1.0 / (1.0 + (parameter * t).exp());
            let r = 1.0 / (1.0 + (-parameter * t).exp());
            (s, -parameter * s * r)
        }
        "smoothed-hinge" => {
            let (d, smoothing) = (1.0 - t, parameter);
            if d <= 0.0 {
                (0.0, 0.0)
            } else if d <= smoothing {
                (d * d / (2.0 * smoothing), -d / smoothing)
            } else {
                (d - smoothing / 2.0, -1.0)
            }
        }
        "ramp" if t < 0.0 => (1.0, 0.0),
        "ramp" => (d.max(0.0) / parameter, if d > 0.0 { -1.0 / parameter } else { 0.0 }),
        "exponential" => ((-parameter * t).exp(), -parameter * (-parameter * t).exp()),
        _ => panic!("no surrogate {name}"),
    }
}

/// ω_ij: `weight(i, j)` for two members of the batch.
pub struct Soap<'a> {
    pub surrogate: &'a str,
    pub parameter: f64,
    pub sigmoid: bool,
    pub gamma: f64,
    pub floor: f64,
    pub first_estimate: bool,
    pub weight: &'a dyn Fn(usize, usize) -> f64,
}

impl Soap<'_> {
    fn link(&self, s: f64) -> (f64, f64) {
        if self.sigmoid {
            let h = 1.0 / (1.0 + (-s).exp());
            (h, h * (1.0 - h))
        } else {
            (s, 1.0)
        }
    }

    /// One batch: updates `u` (`[u1, u2]` by slot) and returns −mean u1/u2 and the gradient by raw score.
    /// `slot[i]` belongs to batch member i and is read for positives only.
    pub fn step(&self, s: &[f64], y: &[u8], slot: &[usize], u: &mut [[f64; 2]]) -> (f64, Vec<f64>) {
        let (value, grad, _) = self.sized_step(s, y, slot, u);
        (value, grad)
    }

    /// [`step`](Self::step) with the sum of the absolute terms of every entry of the gradient, the two of u1 − u2 apart.
    pub fn sized_step(&self, s: &[f64], y: &[u8], slot: &[usize], u: &mut [[f64; 2]]) -> (f64, Vec<f64>, Vec<f64>) {
        let positives: Vec<usize> = (0..s.len()).filter(|&i| y[i] == 1).collect();
        let (mut grad, mut size) = (vec![0.0; s.len()], vec![0.0; s.len()]);
        let mut value = 0.0;
        for &i in &positives {
            let (mut g1, mut g2) = (0.0, 0.0);
            for j in 0..s.len() {
                let l = surrogate(self.surrogate, self.parameter, self.link(s[i]).0 - self.link(s[j]).0).0;
                g2 += (self.weight)(i, j) * l;
                if y[j] == 1 {
                    g1 += (self.weight)(i, j) * l;
                }
            }
            let old = u[slot[i]];
            let gamma = if old[1] == 0.0 && self.first_estimate { 1.0 } else { self.gamma };
            let u1 = (1.0 - gamma) * old[0] + gamma * g1;
            let u2 = ((1.0 - gamma) * old[1] + gamma * g2).max(self.floor);
            u[slot[i]] = [u1, u2];
            value -= u1 / u2 / positives.len() as f64;
            for j in 0..s.len() {
                let is = f64::from(y[j]);
                let over = (self.weight)(i, j) / (positives.len() as f64 * u2);
                let kappa = over * (u1 - u2 * is) / u2;
                let (hi, di) = self.link(s[i]);
                let (hj, dj) = self.link(s[j]);
                let slope = surrogate(self.surrogate, self.parameter, hi - hj).1;
                grad[i] += kappa * slope * di;
                grad[j] -= kappa * slope * dj;
                let both = over * (u1 + u2 * is) / u2 * slope.abs();
                size[i] += both * di;
                size[j] += both * dj;
            }
        }
        (value, grad, size)
    }
}

/// P = 1/n₊ Σ −g1/g2 over all data and its gradient by raw score, equations (2)–(4).
pub fn exact(name: &str, parameter: f64, sigmoid: bool, s: &[f64], y: &[u8]) -> (f64, Vec<f64>) {
    let n = s.len() as f64;
    let mut u = vec![[0.0; 2]; s.len()];
    let slot: Vec<usize> = (0..s.len()).collect();
    let weight = move |_: usize, _: usize| 1.0 / n;
    let soap =
        Soap { surrogate: name, parameter, sigmoid, gamma: 1.0, floor: 0.0, first_estimate: true, weight: &weight };
    soap.step(s, y, &slot, &mut u)
}
