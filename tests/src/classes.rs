//! Training of a linear model on several classes, line by line. Parameters: weights `[input][class]`, then biases; then
//! a, b and α of every ordered pair of classes in the order (0, 1), (0, 2) … (1, 0) …

use crate::estimators::softmax;

/// Data: rows, class numbers, how many of each class there are.
pub struct Data<'a> {
    pub x: &'a [Vec<f64>],
    pub y: &'a [usize],
    pub population: &'a [f64],
}

impl Data<'_> {
    fn classes(&self) -> usize {
        self.population.len()
    }

    fn params(&self) -> usize {
        (self.x[0].len() + 1) * self.classes()
    }

    /// The softmax of a row's scores.
    pub fn h(&self, u: &[f64], row: usize) -> Vec<f64> {
        let (x, classes) = (&self.x[row], self.classes());
        let score = |k: usize| {
            u[x.len() * classes + k] + x.iter().enumerate().map(|(i, x)| x * u[i * classes + k]).sum::<f64>()
        };
        softmax(&(0..classes).map(score).collect::<Vec<_>>())
    }

    /// Weight of every row of a batch in a mean over all rows: so that classes weigh as in the whole data, or alike.
    fn weights(&self, batch: &[usize], unbiased: bool) -> Vec<f64> {
        let all: f64 = self.population.iter().sum();
        let of_class = |class: usize| batch.iter().filter(|&&row| self.y[row] == class).count() as f64;
        let weight = |&row: &usize| match unbiased {
            true => self.population[self.y[row]] / (all * of_class(self.y[row])),
            false => 1.0 / batch.len() as f64,
        };
        batch.iter().map(weight).collect()
    }

    /// Adds `by_s`, a row's gradient by its scores, to the gradient by the parameters.
    fn back(&self, row: usize, by_s: &[f64], grad: &mut [f64]) {
        let (x, classes) = (&self.x[row], self.classes());
        for k in 0..classes {
            for i in 0..x.len() {
                grad[i * classes + k] += x[i] * by_s[k];
            }
            grad[x.len() * classes + k] += by_s[k];
        }
    }

    /// Gradient of the mean cross-entropy of a batch.
    pub fn cross_entropy(&self, u: &[f64], batch: &[usize], unbiased: bool) -> Vec<f64> {
        let mut grad = vec![0.0; u.len()];
        for (&row, w) in batch.iter().zip(self.weights(batch, unbiased)) {
            let mut by_s = self.h(u, row);
            by_s[self.y[row]] -= 1.0;
            by_s.iter_mut().for_each(|c| *c *= w);
            self.back(row, &by_s, &mut grad);
        }
        grad
    }

    /// Gradient of equation (5) of Liu et al. 2020, every pair alike, over a batch; α's sign not flipped.
    pub fn min_max(&self, u: &[f64], batch: &[usize], unbiased: bool) -> Vec<f64> {
        let (classes, params) = (self.classes(), self.params());
        let pairs = classes * (classes - 1);
        let all: f64 = self.population.iter().sum();
        let mut grad = vec![0.0; u.len()];
        let weights = self.weights(batch, unbiased);
        let mut by_h = vec![vec![0.0; classes]; batch.len()];
        let mut place = 0;
        for i in 0..classes {
            for j in (0..classes).filter(|&j| j != i) {
                let (pi, pj) = (self.population[i] / all, self.population[j] / all);
                let scale = 1.0 / (pairs as f64 * pi * pj);
                let (at_a, at_b, at_alpha) = (params + place, params + pairs + place, params + 2 * pairs + place);
                let (a, b, alpha) = (u[at_a], u[at_b], u[at_alpha]);
                grad[at_alpha] -= scale * 2.0 * pi * pj * alpha;
                for (r, &row) in batch.iter().enumerate() {
                    let (h, w) = (self.h(u, row)[i], scale * weights[r]);
                    if self.y[row] == i {
                        grad[at_a] -= w * 2.0 * pj * (h - a);
                        grad[at_alpha] -= w * 2.0 * pj * h;
                        by_h[r][i] += w * 2.0 * pj * (h - a - (1.0 + alpha));
                    } else if self.y[row] == j {
                        grad[at_b] -= w * 2.0 * pi * (h - b);
                        grad[at_alpha] += w * 2.0 * pi * h;
                        by_h[r][i] += w * 2.0 * pi * (h - b + 1.0 + alpha);
                    }
                }
                place += 1;
            }
        }
        for (r, &row) in batch.iter().enumerate() {
            let h = self.h(u, row);
            // The Jacobian of the softmax, written out.
            let by_s: Vec<f64> = (0..classes)
                .map(|k| (0..classes).map(|l| by_h[r][l] * h[l] * (f64::from(u8::from(k == l)) - h[k])).sum())
                .collect();
            self.back(row, &by_s, &mut grad);
        }
        grad
    }

    /// Algorithm 2 of Liu et al. 2020 with equation (5): `stages` are (η_k, T_k, batches of the reset). `draw` gives the
    /// next batch. Returns the parameters after every step.
    pub fn ppd_sg(
        &self,
        stages: &[(f64, usize, usize)],
        prox: f64,
        draw: &mut dyn FnMut() -> Vec<usize>,
    ) -> Vec<Vec<f64>> {
        let (classes, params) = (self.classes(), self.params());
        let pairs = classes * (classes - 1);
        let mut bar = vec![0.0; params + 3 * pairs];
        let mut all = Vec::new();
        for &(eta, length, resets) in stages {
            let anchor = bar.clone();
            let mut u = bar.clone();
            let mut sum = u.clone();
            for _ in 1..length {
                let g = self.min_max(&u, &draw(), true);
                for k in 0..params + 2 * pairs {
                    u[k] -= eta * (g[k] + (u[k] - anchor[k]) / prox);
                }
                for k in params + 2 * pairs..u.len() {
                    u[k] += eta * g[k];
                }
                sum.iter_mut().zip(&u).for_each(|(sum, u)| *sum += u);
                all.push(u.clone());
            }
            bar = sum.iter().map(|sum| sum / length as f64).collect();
            let rows: Vec<usize> = (0..resets).flat_map(|_| draw()).collect();
            let mean = |score: usize, class: usize| {
                let h: Vec<f64> =
                    rows.iter().filter(|&&row| self.y[row] == class).map(|&row| self.h(&bar, row)[score]).collect();
                h.iter().sum::<f64>() / h.len() as f64
            };
            let duals: Vec<f64> = (0..classes)
                .flat_map(|i| (0..classes).filter(move |&j| j != i).map(move |j| (i, j)))
                .map(|(i, j)| mean(i, j) - mean(i, i))
                .collect();
            if resets > 0 {
                bar[params + 2 * pairs..].copy_from_slice(&duals);
            }
        }
        all
    }
}
