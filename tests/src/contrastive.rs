//! The two-way global contrastive loss and SONEX on it, transcribed by plain loops for linear heads without a bias.

/// Rows of embeddings, or of features.
pub type Rows = Vec<Vec<f64>>;

pub fn unit(a: &[f64]) -> Vec<f64> {
    let length = (a.iter().map(|a| a * a).sum::<f64>() + 1e-12).sqrt();
    a.iter().map(|a| a / length).collect()
}

pub fn similarity(a: &[f64], b: &[f64]) -> f64 {
    unit(a).iter().zip(unit(b)).map(|(a, b)| a * b).sum()
}

/// The loss over all rows.
pub fn loss(a: &Rows, b: &Rows, tau: f64) -> f64 {
    let n = a.len();
    let mut sum = 0.0;
    for i in 0..n {
        let own = similarity(&a[i], &b[i]);
        let g: f64 = (0..n).map(|j| ((similarity(&a[i], &b[j]) - own) / tau).exp()).sum();
        let h: f64 = (0..n).map(|j| ((similarity(&a[j], &b[i]) - own) / tau).exp()).sum();
        sum += tau * g.ln() + tau * h.ln();
    }
    sum / n as f64
}

/// A batch's estimates of g and h of each of its rows, of n rows in all.
pub fn sums(a: &Rows, b: &Rows, all: usize, tau: f64) -> Vec<[f64; 2]> {
    let rows = a.len();
    let factor = (all - 1) as f64 / (rows - 1) as f64;
    let each = |i: usize| {
        let own = similarity(&a[i], &b[i]);
        let others = || (0..rows).filter(move |&j| j != i);
        let g: f64 = others().map(|j| ((similarity(&a[i], &b[j]) - own) / tau).exp()).sum();
        let h: f64 = others().map(|j| ((similarity(&a[j], &b[i]) - own) / tau).exp()).sum();
        [1.0 + factor * g, 1.0 + factor * h]
    };
    (0..rows).map(each).collect()
}

/// The gradient by both embeddings for weights from these u and v: every similarity's own derivatives, one after the other.
pub fn gradient(a: &Rows, b: &Rows, all: usize, tau: f64, u: &[[f64; 2]]) -> (Rows, Rows) {
    let (rows, width) = (a.len(), a[0].len());
    let factor = (all - 1) as f64 / (rows - 1) as f64;
    let (mut by_a, mut by_b) = (vec![vec![0.0; width]; rows], vec![vec![0.0; width]; rows]);
    // Adds weight · ∂s_ij.
    let mut add = |i: usize, j: usize, weight: f64| {
        let s = similarity(&a[i], &b[j]);
        let length = |x: &[f64]| (x.iter().map(|x| x * x).sum::<f64>() + 1e-12).sqrt();
        for k in 0..width {
            by_a[i][k] += weight * (unit(&b[j])[k] - s * unit(&a[i])[k]) / length(&a[i]);
            by_b[j][k] += weight * (unit(&a[i])[k] - s * unit(&b[j])[k]) / length(&b[j]);
        }
    };
    for i in 0..rows {
        let own = similarity(&a[i], &b[i]);
        for j in (0..rows).filter(|&j| j != i) {
            let g = factor * ((similarity(&a[i], &b[j]) - own) / tau).exp() / tau;
            let weight = tau / u[i][0] * g / rows as f64;
            add(i, j, weight);
            add(i, i, -weight);
            let h = factor * ((similarity(&a[j], &b[i]) - own) / tau).exp() / tau;
            let weight = tau / u[i][1] * h / rows as f64;
            add(j, i, weight);
            add(i, i, -weight);
        }
    }
    (by_a, by_b)
}

/// x·W, W input-major.
pub fn embed(w: &[f64], x: &Rows, width: usize) -> Rows {
    let each = |x: &Vec<f64>| (0..width).map(|k| (0..x.len()).map(|j| x[j] * w[j * width + k]).sum()).collect();
    x.iter().map(each).collect()
}

/// The gradient by W.
pub fn chain(x: &Rows, by: &Rows) -> Vec<f64> {
    let (inputs, width) = (x[0].len(), by[0].len());
    let each = |at: usize| x.iter().zip(by).map(|(x, by)| x[at / width] * by[at % width]).sum();
    (0..inputs * width).map(each).collect()
}

/// What a run is made of.
pub struct Problem<'a> {
    pub x: &'a Rows,
    pub y: &'a Rows,
    pub width: usize,
    pub tau: f64,
    pub gamma: f64,
    pub correction: f64,
    pub new: bool,
}

/// SONEX with steps w ← w − ηG. Returns w after every step.
pub fn sonex(p: &Problem, start: &[f64], draws: &[Vec<usize>], lr: f64) -> Vec<Vec<f64>> {
    let cut = p.x[0].len() * p.width;
    let (mut w, mut before) = (start.to_vec(), start.to_vec());
    let mut u: Vec<Option<[f64; 2]>> = vec![None; p.x.len()];
    let mut path = Vec::new();
    for draw in draws {
        let pick = |rows: &Rows| -> Rows { draw.iter().map(|&row| rows[row].clone()).collect() };
        let (x, y) = (pick(p.x), pick(p.y));
        let both = |w: &[f64]| (embed(&w[..cut], &x, p.width), embed(&w[cut..], &y, p.width));
        let ((a, b), (a_then, b_then)) = (both(&w), both(&before));
        let (now, then) = (sums(&a, &b, p.x.len(), p.tau), sums(&a_then, &b_then, p.x.len(), p.tau));
        let mut used = Vec::new();
        for (k, &row) in draw.iter().enumerate() {
            let old = u[row];
            let moved = match old {
                None => now[k],
                Some(old) => [0, 1].map(|way| {
                    let moved = (1.0 - p.gamma) * old[way] + p.gamma * now[k][way];
                    (moved + p.correction * (now[k][way] - then[k][way])).max(1.0)
                }),
            };
            used.push(if p.new { moved } else { old.unwrap_or(moved) });
            u[row] = Some(moved);
        }
        let (by_a, by_b) = gradient(&a, &b, p.x.len(), p.tau, &used);
        let grad = [chain(&x, &by_a), chain(&y, &by_b)].concat();
        before.clone_from(&w);
        w.iter_mut().zip(&grad).for_each(|(w, g)| *w -= lr * g);
        path.push(w.clone());
    }
    path
}
