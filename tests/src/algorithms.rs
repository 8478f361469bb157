//! The algorithm boxes written down line by line, for vectors u = [v, α] with α the last entry. `grad(u, t)` is the
//! gradient of step t (from 0, over all stages) at u, the ascent entry's sign not flipped.

pub type Grad<'a> = &'a dyn Fn(&[f64], usize) -> Vec<f64>;

fn mean(iterates: &[Vec<f64>]) -> Vec<f64> {
    (0..iterates[0].len()).map(|k| iterates.iter().map(|u| u[k]).sum::<f64>() / iterates.len() as f64).collect()
}

/// Liu et al. 2020, algorithm 2, with (η_k, T_k) of each stage and the dual reset's value; returns every iterate in the
/// order of the steps, and ū_k of every stage.
pub fn ppd_sg(
    start: &[f64],
    stages: &[(f64, usize)],
    prox: f64,
    decay: f64,
    reset: &dyn Fn(usize) -> Option<f64>,
    grad: Grad<'_>,
) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let last = start.len() - 1;
    let (mut all, mut means) = (Vec::new(), Vec::new());
    let mut bar = start.to_vec();
    for (k, &(eta, length)) in stages.iter().enumerate() {
        let anchor = bar.clone();
        let mut u = bar.clone();
        let mut iterates = vec![u.clone()];
        for _ in 1..length {
            let g = grad(&u, all.len());
            let before = u.clone();
            for i in 0..last {
                u[i] = before[i] - eta * (g[i] + decay * before[i] + (before[i] - anchor[i]) / prox);
            }
            u[last] = before[last] + eta * g[last];
            iterates.push(u.clone());
            all.push(u.clone());
        }
        bar = mean(&iterates);
        if let Some(dual) = reset(k) {
            bar[last] = dual;
        }
        means.push(bar.clone());
    }
    (all, means)
}

/// Algorithm 3 inside algorithm 2: the argmin written as the minimiser of a separable quadratic.
pub fn ppd_adagrad(
    start: &[f64],
    stages: &[(f64, usize)],
    prox: f64,
    delta: f64,
    reset: &dyn Fn(usize) -> Option<f64>,
    grad: Grad<'_>,
) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let last = start.len() - 1;
    let (mut all, mut means) = (Vec::new(), Vec::new());
    let mut bar = start.to_vec();
    for (k, &(eta, length)) in stages.iter().enumerate() {
        let first = bar.clone();
        let mut u = bar.clone();
        let mut iterates = vec![u.clone()];
        let mut past: Vec<Vec<f64>> = Vec::new();
        for t in 1..length {
            let mut g = grad(&u, all.len());
            for i in 0..last {
                g[i] += (u[i] - first[i]) / prox;
            }
            g[last] = -g[last];
            past.push(g);
            for i in 0..=last {
                let s = past.iter().map(|g| g[i] * g[i]).sum::<f64>().sqrt();
                let slope = eta / t as f64 * past.iter().map(|g| g[i]).sum::<f64>();
                let curvature = (delta + s) / t as f64;
                u[i] = first[i] - slope / curvature;
            }
            iterates.push(u.clone());
            all.push(u.clone());
        }
        bar = mean(&iterates);
        if let Some(dual) = reset(k) {
            bar[last] = dual;
        }
        means.push(bar.clone());
    }
    (all, means)
}

fn project(x: &mut [f64], radius: f64) {
    let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    if norm > radius {
        x.iter_mut().for_each(|x| *x *= radius / norm);
    }
}

/// Liu et al. 2020, algorithm 1.
pub fn pga(
    start: &[f64],
    eta: f64,
    first_length: usize,
    stages: usize,
    prox: f64,
    radii: [f64; 2],
    grad: Grad<'_>,
) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let last = start.len() - 1;
    let (mut all, mut means) = (Vec::new(), Vec::new());
    let mut bar = start.to_vec();
    for k in 1..=stages {
        let anchor = bar.clone();
        let mut u = bar.clone();
        let mut iterates = Vec::new();
        let eta = eta / k as f64;
        for _ in 1..=first_length * k * k {
            let g = grad(&u, all.len());
            let before = u.clone();
            for i in 0..last {
                u[i] = before[i] - eta * (g[i] + (before[i] - anchor[i]) / prox);
            }
            u[last] = before[last] + eta * g[last];
            project(&mut u[..last], radii[0]);
            project(&mut u[last..], radii[1]);
            iterates.push(u.clone());
            all.push(u.clone());
        }
        bar = mean(&iterates);
        means.push(bar.clone());
    }
    (all, means)
}

/// Ying et al. 2016, algorithm 1 in this shape; returns the iterates and the weighted mean after each step.
pub fn oauc(start: &[f64], eta: f64, steps: usize, radius: f64, grad: Grad<'_>) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let last = start.len() - 1;
    let (mut all, mut means) = (Vec::new(), Vec::new());
    let mut u = start.to_vec();
    let (mut weighted, mut total) = (vec![0.0; start.len()], 0.0);
    for t in 1..=steps {
        let rate = eta / (t as f64).sqrt();
        total += rate;
        weighted.iter_mut().zip(&u).for_each(|(w, u)| *w += rate * u);
        means.push(weighted.iter().map(|w| w / total).collect());
        let g = grad(&u, all.len());
        for i in 0..=last {
            u[i] += if i < last { -rate * g[i] } else { rate * g[i] };
        }
        project(&mut u[..last], radius);
        project(&mut u[last..], 2.0 * radius);
        all.push(u.clone());
    }
    (all, means)
}

/// PESG: stages of (η_k, T_k), the iterate going on and the reference moving to the mean of the stage.
pub fn pesg(start: &[f64], stages: &[(f64, usize)], pull: f64, decay: f64, grad: Grad<'_>) -> Vec<Vec<f64>> {
    let last = start.len() - 1;
    let mut all = Vec::new();
    let (mut u, mut reference) = (start.to_vec(), start.to_vec());
    for &(eta, length) in stages {
        let mut iterates = Vec::new();
        for _ in 0..length {
            let g = grad(&u, all.len());
            let before = u.clone();
            for i in 0..last {
                u[i] = before[i] - eta * (g[i] + pull * (before[i] - reference[i]) + decay * before[i]);
            }
            u[last] = (before[last] + eta * g[last]).max(0.0);
            iterates.push(u.clone());
            all.push(u.clone());
        }
        reference = mean(&iterates);
    }
    all
}
