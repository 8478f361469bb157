//! Constraints on groups, CVaR of groups, and the algorithms of the paper of SONEX and ALEXR2 with those that it compares
//! with, transcribed by plain loops for linear models: s = w·x + w_d.
//!
//! A batch is a list of row numbers for each cell, cells label by label: cell = label·G + group.

/// Rows of every cell of a batch.
pub type Draw = Vec<Vec<usize>>;

pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

pub fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

pub fn score(w: &[f64], x: &[f64]) -> f64 {
    x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>() + w[x.len()]
}

fn add(grad: &mut [f64], by: f64, x: &[f64]) {
    grad.iter_mut().zip(x).for_each(|(g, x)| *g += by * x);
    grad[x.len()] += by;
}

/// The least score with a share p of the weight at or below it.
pub fn quantile(scores: &[(f64, f64)], p: f64) -> f64 {
    let mut sorted = scores.to_vec();
    sorted.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap());
    let all: f64 = sorted.iter().map(|s| s.1).sum();
    let mut sum = 0.0;
    for (score, weight) in &sorted {
        sum += weight / all;
        if sum >= p - 1e-12 {
            return *score;
        }
    }
    sorted.last().unwrap().0
}

/// τ with Σ w σ((s − τ)/h) / Σ w = α, by bisection.
pub fn threshold(scores: &[(f64, f64)], h: f64, level: f64) -> f64 {
    let all: f64 = scores.iter().map(|s| s.1).sum();
    let (mut low, mut high) = (-1e4, 1e4);
    for _ in 0..200 {
        let tau = 0.5 * (low + high);
        let share: f64 = scores.iter().map(|(s, w)| w * sigmoid((s - tau) / h)).sum::<f64>() / all;
        if share > level { low = tau } else { high = tau }
    }
    0.5 * (low + high)
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub enum Asked {
    /// |rate_a − rate_b| ≤ bound for a label, at a level (or raw threshold), of two groups.
    Gap { label: usize, level: f64, pair: [usize; 2] },
    /// The rate of a label's rows at the score 0; `most` or at least the bound.
    Rate { label: usize, group: Option<usize>, most: bool },
    /// precision ≥ bound.
    Precision { group: Option<usize> },
    /// Mean cross-entropy ≤ bound.
    Loss { group: Option<usize> },
}

/// A function of a constraint, with its bound and its share in the penalty.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    pub asked: Asked,
    pub bound: f64,
    pub share: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cost {
    /// Smoothed with λ.
    Smoothed(f64),
    Hinge,
    Squared,
    /// Two multipliers for a gap, one for others.
    Multipliers,
}

/// Everything that does not move.
pub struct Problem<'a> {
    pub x: &'a [Vec<f64>],
    pub groups: usize,
    /// Rows of each cell of the data.
    pub population: &'a [usize],
    pub functions: &'a [Function],
    pub cost: Cost,
    pub rho: f64,
    pub gamma: f64,
    pub correction: f64,
    /// Weights from u after the batch.
    pub new: bool,
    /// Gaps at scores instead of pooled levels.
    pub raw: bool,
    /// F₀ is the cross-entropy instead of the pairwise sigmoid.
    pub ce: bool,
    /// So many of the last groups are protected: seen by constraints alone that name them.
    pub protected: usize,
}

/// What moves: running means of every cell at every threshold, of σ(s/h) and of the loss.
#[derive(Clone, Debug, Default)]
pub struct Running {
    /// By cell: levels in order of first appearance, then the score 0, then the loss.
    pub u: Vec<Option<Vec<f64>>>,
    pub negatives: Vec<(f64, f64)>,
    pub batches: usize,
    pub taus: Vec<f64>,
    pub h: f64,
}

impl Problem<'_> {
    fn open(&self, cell: usize) -> bool {
        cell % self.groups < self.groups - self.protected
    }

    pub fn levels(&self) -> Vec<f64> {
        let mut levels = Vec::new();
        for function in self.functions {
            if let Asked::Gap { level, .. } = function.asked
                && !levels.contains(&level)
            {
                levels.push(level);
            }
        }
        levels
    }

    fn column(&self, level: f64) -> usize {
        self.levels().iter().position(|l| *l == level).unwrap()
    }

    /// A function's value at means of cells, and its derivatives by them, as (cell, column, factor).
    fn linear(&self, function: &Function, u: &[Vec<f64>]) -> (f64, Vec<(usize, usize, f64)>) {
        let (zero, loss) = (self.levels().len(), self.levels().len() + 1);
        let mut terms = Vec::new();
        let mut constant = 0.0;
        let inside = |group: Option<usize>, cell: usize| group.map_or(self.open(cell), |g| cell % self.groups == g);
        let all = |pick: &dyn Fn(usize) -> bool| -> f64 {
            (0..2 * self.groups).filter(|&c| pick(c)).map(|c| self.population[c] as f64).sum()
        };
        match function.asked {
            Asked::Gap { label, level, pair: [a, b] } => {
                terms.push((label * self.groups + a, self.column(level), 1.0));
                terms.push((label * self.groups + b, self.column(level), -1.0));
            }
            Asked::Rate { label, group, most } => {
                let pick = |cell: usize| cell / self.groups == label && inside(group, cell);
                let sign = if most { 1.0 } else { -1.0 };
                for cell in (0..2 * self.groups).filter(|&c| pick(c)) {
                    terms.push((cell, zero, sign * self.population[cell] as f64 / all(&pick)));
                }
                constant = -sign * function.bound;
            }
            Asked::Precision { group } => {
                let pick = |cell: usize| inside(group, cell);
                for cell in (0..2 * self.groups).filter(|&c| pick(c)) {
                    let by = if cell < self.groups { function.bound } else { function.bound - 1.0 };
                    terms.push((cell, zero, by * self.population[cell] as f64 / all(&pick)));
                }
            }
            Asked::Loss { group } => {
                let pick = |cell: usize| inside(group, cell);
                for cell in (0..2 * self.groups).filter(|&c| pick(c)) {
                    terms.push((cell, loss, self.population[cell] as f64 / all(&pick)));
                }
                constant = -function.bound;
            }
        }
        (constant + terms.iter().map(|(cell, k, by)| by * u[*cell][*k]).sum::<f64>(), terms)
    }

    /// Cost of a function and its weight, signed for a gap; `y` are its multipliers.
    fn outer(&self, function: &Function, g: f64, y: &[f64]) -> (f64, f64) {
        let gap = matches!(function.asked, Asked::Gap { .. });
        let (sign, excess) = if gap { (g.signum(), g.abs() - function.bound) } else { (1.0, g) };
        match self.cost {
            Cost::Smoothed(lambda) => {
                let lambda = if gap { 2.0 * lambda } else { lambda };
                let slope = (excess / lambda).clamp(0.0, self.rho);
                // max_y y·excess − λy²/2 over [0, ρ].
                (slope * excess - 0.5 * lambda * slope * slope, sign * slope)
            }
            Cost::Hinge => (self.rho * excess.max(0.0), if excess > 0.0 { sign * self.rho } else { 0.0 }),
            Cost::Squared => (self.rho * excess.max(0.0).powi(2), sign * 2.0 * self.rho * excess.max(0.0)),
            Cost::Multipliers if gap => (y[0] * (g - function.bound) + y[1] * (-g - function.bound), y[0] - y[1]),
            Cost::Multipliers => (y[0] * g, y[0]),
        }
    }

    /// How many multipliers a function has.
    pub fn multipliers(&self, function: &Function) -> usize {
        if matches!(function.asked, Asked::Gap { .. }) { 2 } else { 1 }
    }

    /// Means of every cell at parameters, for the thresholds.
    pub fn means(&self, w: &[f64], draw: &Draw, taus: &[f64], h: f64) -> Vec<Vec<f64>> {
        draw.iter()
            .enumerate()
            .map(|(cell, rows)| {
                let mean = |of: &dyn Fn(f64) -> f64| {
                    rows.iter().map(|&row| of(score(w, &self.x[row]))).sum::<f64>() / rows.len().max(1) as f64
                };
                let mut means: Vec<f64> = taus.iter().map(|tau| mean(&|s| sigmoid((s - tau) / h))).collect();
                means.push(mean(&|s| sigmoid(s / h)));
                means.push(mean(&|s| softplus(if cell < self.groups { s } else { -s })));
                means
            })
            .collect()
    }

    fn share(&self, cell: usize) -> f64 {
        let label = cell / self.groups * self.groups;
        let open = label..label + self.groups - self.protected;
        let own = if self.open(cell) { self.population[cell] } else { 0 };
        own as f64 / self.population[open].iter().sum::<usize>() as f64
    }

    /// F₀ and its gradient: pairs of cells weigh as in the population.
    pub fn objective(&self, w: &[f64], draw: &Draw, grad: &mut [f64]) -> f64 {
        let mut value = 0.0;
        let all: usize = (0..draw.len()).filter(|&cell| self.open(cell)).map(|cell| self.population[cell]).sum();
        if self.ce {
            for (cell, rows) in draw.iter().enumerate().filter(|(cell, _)| self.open(*cell)) {
                let weight = self.population[cell] as f64 / (all * rows.len()) as f64;
                let sign = if cell < self.groups { 1.0 } else { -1.0 };
                for &row in rows {
                    let s = sign * score(w, &self.x[row]);
                    value += weight * softplus(s);
                    add(grad, weight * sign * sigmoid(s), &self.x[row]);
                }
            }
            return value;
        }
        for low in (0..self.groups).filter(|&cell| self.open(cell)) {
            for high in (self.groups..2 * self.groups).filter(|&cell| self.open(cell)) {
                let pairs = (draw[low].len() * draw[high].len()) as f64;
                let weight = self.share(low) * self.share(high) / pairs;
                for &i in &draw[high] {
                    for &j in &draw[low] {
                        let t = score(w, &self.x[i]) - score(w, &self.x[j]);
                        value += weight * sigmoid(-t);
                        let slope = -weight * sigmoid(t) * sigmoid(-t);
                        add(grad, slope, &self.x[i]);
                        add(grad, -slope, &self.x[j]);
                    }
                }
            }
        }
        value
    }

    /// The gradient of Σ y_ck r_ck by the parameters; pooled thresholds move with the negatives.
    fn inner(&self, w: &[f64], draw: &Draw, taus: &[f64], h: f64, y: &[Vec<f64>], grad: &mut [f64]) {
        let slope = |row: usize, tau: f64| {
            let z = (score(w, &self.x[row]) - tau) / h;
            sigmoid(z) * sigmoid(-z) / h
        };
        for (k, &tau) in taus.iter().chain([&0.0]).enumerate() {
            // By τ of this column, and dτ by the parameters.
            let mut by_tau = 0.0;
            for (cell, rows) in draw.iter().enumerate() {
                for &row in rows {
                    let by = y[cell][k] * slope(row, tau) / rows.len() as f64;
                    add(grad, by, &self.x[row]);
                    by_tau -= by;
                }
            }
            if self.raw || k == taus.len() {
                continue;
            }
            let weight = |cell: usize| self.share(cell) / draw[cell].len() as f64;
            let each = || (0..self.groups).flat_map(|cell| draw[cell].iter().map(move |&row| (cell, row)));
            let all: f64 = each().map(|(cell, row)| weight(cell) * slope(row, tau)).sum();
            for (cell, row) in each() {
                add(grad, by_tau * weight(cell) * slope(row, tau) / all, &self.x[row]);
            }
        }
        for (cell, rows) in draw.iter().enumerate() {
            let sign = if cell < self.groups { 1.0 } else { -1.0 };
            for &row in rows {
                let by = y[cell][taus.len() + 1] * sign * sigmoid(sign * score(w, &self.x[row])) / rows.len() as f64;
                add(grad, by, &self.x[row]);
            }
        }
    }

    /// Thresholds for a batch at w, made anew after 1, 2, 4, 8, 16, 24, 48, … batches of the last 1536 negatives.
    fn thresholds(&self, w: &[f64], draw: &Draw, running: &mut Running) {
        if self.raw {
            (running.taus, running.h) = (self.levels(), 1.0);
            return;
        }
        for cell in (0..self.groups).filter(|&cell| self.open(cell)) {
            for &row in &draw[cell] {
                let weight = self.share(cell) / draw[cell].len() as f64;
                running.negatives.push((score(w, &self.x[row]), weight));
            }
        }
        let from = running.negatives.len().saturating_sub(1536);
        running.negatives.drain(..from);
        running.batches += 1;
        let n = running.batches;
        if n.is_multiple_of(24) || n < 24 && n.is_power_of_two() {
            let held = &running.negatives;
            running.h = 0.15 * (quantile(held, 0.75) - quantile(held, 0.25));
            if running.h == 0.0 {
                running.h = 1.0; // all scores tie, as they do at first
            }
            running.taus = self.levels().iter().map(|level| threshold(held, running.h, *level)).collect();
        }
    }

    /// Moves u to a batch at w, whose rows are also looked at where they were before.
    pub fn track(&self, w: &[f64], before: Option<&[f64]>, draw: &Draw, running: &mut Running) {
        self.thresholds(w, draw, running);
        let now = self.means(w, draw, &running.taus, running.h);
        let old = before.map(|before| self.means(before, draw, &running.taus, running.h));
        running.u.resize(draw.len(), None);
        for cell in 0..draw.len() {
            running.u[cell] = Some(match &running.u[cell] {
                None => now[cell].clone(),
                Some(u) => (0..u.len())
                    .map(|k| {
                        let moved = old.as_ref().map_or(0.0, |old| now[cell][k] - old[cell][k]);
                        (1.0 - self.gamma) * u[k] + self.gamma * now[cell][k] + self.correction * moved
                    })
                    .collect(),
            });
        }
    }

    /// The gradient on a batch with weights from these running values.
    pub fn gradient(&self, w: &[f64], draw: &Draw, u: &Running, taus: (&[f64], f64), y: &[f64]) -> (f64, Vec<f64>) {
        let mut grad = vec![0.0; w.len()];
        let mut value = self.objective(w, draw, &mut grad);
        let means: Vec<Vec<f64>> = u.u.iter().map(|u| u.clone().unwrap()).collect();
        let mut weights = vec![vec![0.0; means[0].len()]; means.len()];
        let mut at = 0;
        for function in self.functions {
            let (g, terms) = self.linear(function, &means);
            let count = self.multipliers(function);
            let own: &[f64] = if y.is_empty() { &[] } else { &y[at..at + count] };
            at += count;
            let (cost, weight) = self.outer(function, g, own);
            value += function.share * cost;
            for (cell, k, factor) in terms {
                weights[cell][k] += function.share * weight * factor;
            }
        }
        self.inner(w, draw, taus.0, taus.1, &weights, &mut grad);
        (value, grad)
    }

    /// What multipliers rise by: the values of the constraint functions.
    pub fn ascent(&self, running: &Running) -> Vec<f64> {
        let means: Vec<Vec<f64>> = running.u.iter().map(|u| u.clone().unwrap()).collect();
        let mut out = Vec::new();
        for function in self.functions {
            let (g, _) = self.linear(function, &means);
            if self.multipliers(function) == 2 {
                out.extend([g - function.bound, -g - function.bound]);
            } else {
                out.push(g);
            }
        }
        out
    }

    /// A batch's gradient, with u moved: the weights from u before it, where there is one, or after it.
    pub fn update(
        &self,
        w: &[f64],
        before: Option<&[f64]>,
        draw: &Draw,
        running: &mut Running,
        y: &[f64],
    ) -> (f64, Vec<f64>) {
        let old = running.clone();
        self.track(w, before, draw, running);
        let used = if self.new || old.u.is_empty() { running.clone() } else { old };
        self.gradient(w, draw, &used, (&running.taus, running.h), y)
    }
}

/// "w ← w − ηv, or an Adam-type update".
#[derive(Clone, Debug)]
pub enum Step {
    Sgd { lr: f64 },
    Momentum { lr: f64, beta: f64, v: Vec<f64> },
    Adam { lr: f64, beta1: f64, beta2: f64, eps: f64, m: Vec<f64>, v: Vec<f64>, t: i32 },
}

impl Step {
    pub fn go(&mut self, w: &mut [f64], grad: &[f64]) {
        match self {
            Self::Sgd { lr } => w.iter_mut().zip(grad).for_each(|(w, g)| *w -= *lr * g),
            Self::Momentum { lr, beta, v } => {
                v.resize(w.len(), 0.0);
                for k in 0..w.len() {
                    v[k] = *beta * v[k] + (1.0 - *beta) * grad[k];
                    w[k] -= *lr * v[k];
                }
            }
            Self::Adam { lr, beta1, beta2, eps, m, v, t } => {
                m.resize(w.len(), 0.0);
                v.resize(w.len(), 0.0);
                *t += 1;
                for k in 0..w.len() {
                    m[k] = *beta1 * m[k] + (1.0 - *beta1) * grad[k];
                    v[k] = *beta2 * v[k] + (1.0 - *beta2) * grad[k] * grad[k];
                    let (m, v) = (m[k] / (1.0 - beta1.powi(*t)), v[k] / (1.0 - beta2.powi(*t)));
                    w[k] -= *lr * m / (v.sqrt() + *eps);
                }
            }
        }
    }
}

/// SONEX (algorithm 1); SONX with the unsmoothed hinge and plain steps. Returns w after every step.
pub fn sonex(p: &Problem, start: &[f64], draws: &[Draw], mut step: Step) -> Vec<Vec<f64>> {
    let (mut w, mut before, mut running) = (start.to_vec(), start.to_vec(), Running::default());
    let mut path = Vec::new();
    for draw in draws {
        let (_, grad) = p.update(&w, Some(&before), draw, &mut running, &[]);
        before.clone_from(&w);
        step.go(&mut w, &grad);
        path.push(w.clone());
    }
    path
}

/// SOX: a moving average instead, with momentum.
pub fn sox(p: &Problem, start: &[f64], draws: &[Draw], mut step: Step) -> Vec<Vec<f64>> {
    let (mut w, mut running) = (start.to_vec(), Running::default());
    let mut path = Vec::new();
    for draw in draws {
        let (_, grad) = p.update(&w, None, draw, &mut running, &[]);
        step.go(&mut w, &grad);
        path.push(w.clone());
    }
    path
}

/// MSVR with STORM's running gradient z: both gradients of a step on its draw, each with the u of its time. Returns w after
/// every gradient.
pub fn msvr(p: &Problem, start: &[f64], draws: &[Draw], mut step: Step, beta: f64) -> Vec<Vec<f64>> {
    let (mut w, mut before, mut running) = (start.to_vec(), start.to_vec(), Running::default());
    let (mut z, mut path) = (Vec::new(), Vec::new());
    for draw in draws {
        let old = running.clone();
        p.track(&w, Some(&before), draw, &mut running);
        let (_, new) = p.gradient(&w, draw, &running, (&running.taus, running.h), &[]);
        if z.is_empty() {
            z = new;
        } else {
            let (_, then) = p.gradient(&before, draw, &old, (&old.taus, old.h), &[]);
            for k in 0..z.len() {
                z[k] = new[k] + (1.0 - beta) * (z[k] - then[k]);
            }
            path.push(w.clone());
        }
        before.clone_from(&w);
        step.go(&mut w, &z);
        path.push(w.clone());
    }
    path
}

/// ALEXR2 (algorithm 2) in its u form, two draws an inner step. Returns w after every inner step.
pub fn alexr2(
    p: &Problem,
    start: &[f64],
    draws: &[Draw],
    mut step: Step,
    (inner, eta, nu): (usize, f64, f64),
) -> Vec<Vec<f64>> {
    let (mut w, mut running) = (start.to_vec(), Running::default());
    let (mut path, mut pairs) = (Vec::new(), draws.chunks_exact(2));
    loop {
        let (mut z, mut before) = (w.clone(), w.clone());
        for k in 0..inner {
            let Some([first, second]) = pairs.next() else { return path };
            p.track(&z, Some(&before), first, &mut running);
            let (_, grad) = p.gradient(&z, second, &running, (&running.taus, running.h), &[]);
            before.clone_from(&z);
            for j in 0..w.len() {
                z[j] = (w[j] / nu + z[j] / eta - grad[j]) / (1.0 / nu + 1.0 / eta);
            }
            if k + 1 == inner {
                let outer: Vec<f64> = w.iter().zip(&z).map(|(w, z)| (w - z) / nu).collect();
                step.go(&mut w, &outer);
            }
            path.push(w.clone());
        }
    }
}

/// Descent on w and projected ascent on multipliers. Returns w and the multipliers after every step.
pub fn lagrange(p: &Problem, start: &[f64], draws: &[Draw], mut step: Step, rate: f64) -> Vec<Vec<f64>> {
    let count = p.functions.iter().map(|f| p.multipliers(f)).sum();
    let (mut w, mut y, mut running) = (start.to_vec(), vec![0.0; count], Running::default());
    let mut path = Vec::new();
    for draw in draws {
        let (_, grad) = p.update(&w, None, draw, &mut running, &y);
        step.go(&mut w, &grad);
        for (y, g) in y.iter_mut().zip(p.ascent(&running)) {
            *y = (*y + rate * g).clamp(0.0, p.rho);
        }
        path.push([w.clone(), y.clone()].concat());
    }
    path
}

/// Proximal points w̄ by constraint extrapolation with θ, an ascent on one draw and a descent on another an inner step. Returns w̄
/// and the multipliers after each of them.
pub fn icppac(
    p: &Problem,
    start: &[f64],
    draws: &[Draw],
    mut step: Step,
    (inner, nu, rate, theta): (usize, f64, f64, f64),
) -> Vec<Vec<f64>> {
    let count = p.functions.iter().map(|f| p.multipliers(f)).sum();
    let (mut centre, mut y, mut running) = (start.to_vec(), vec![0.0; count], Running::default());
    let (mut path, mut pairs) = (Vec::new(), draws.chunks_exact(2));
    loop {
        let (mut x, mut before) = (centre.clone(), centre.clone());
        let (mut sum, mut all) = (vec![0.0; x.len()], 0.0);
        for k in 1..=inner {
            let Some([first, second]) = pairs.next() else { return path };
            p.track(&x, None, first, &mut running);
            let [now, then] = [&x, &before].map(|x| p.means(x, first, &running.taus, running.h));
            for cell in 0..now.len() {
                let ahead = now[cell].iter().zip(&then[cell]).map(|(now, then)| (1.0 + theta) * now - theta * then);
                running.u[cell] = Some(ahead.collect());
            }
            for (y, s) in y.iter_mut().zip(p.ascent(&running)) {
                *y = (*y + rate * s).clamp(0.0, p.rho);
            }
            path.push([centre.clone(), y.clone()].concat());
            let (_, mut grad) = p.gradient(&x, second, &running, (&running.taus, running.h), &y);
            for j in 0..x.len() {
                grad[j] += (x[j] - centre[j]) / nu;
            }
            before.clone_from(&x);
            step.go(&mut x, &grad);
            all += k as f64;
            sum.iter_mut().zip(&x).for_each(|(sum, x)| *sum += k as f64 * x);
            if k == inner {
                centre = sum.iter().map(|sum| sum / all).collect();
            }
            path.push([centre.clone(), y.clone()].concat());
        }
    }
}

/// CVaR of the losses of groups or of cells.
pub struct Risk<'a> {
    pub x: &'a [Vec<f64>],
    pub groups: usize,
    pub population: &'a [usize],
    pub cells: bool,
    pub share: f64,
    /// Smoothed, if not 0.
    pub lambda: f64,
    pub gamma: f64,
    pub correction: f64,
}

impl Risk<'_> {
    pub fn blocks(&self) -> usize {
        if self.cells { 2 * self.groups } else { self.groups }
    }

    /// Loss of a block and its gradient.
    pub fn loss(&self, w: &[f64], draw: &Draw, block: usize) -> (f64, Vec<f64>) {
        let own: Vec<usize> =
            (0..2 * self.groups).filter(|c| if self.cells { *c == block } else { c % self.groups == block }).collect();
        let all: usize = own.iter().map(|&c| self.population[c]).sum();
        let (mut value, mut grad) = (0.0, vec![0.0; w.len()]);
        for cell in own {
            let weight = self.population[cell] as f64 / (all * draw[cell].len()) as f64;
            let sign = if cell < self.groups { 1.0 } else { -1.0 };
            for &row in &draw[cell] {
                let s = sign * score(w, &self.x[row]);
                value += weight * softplus(s);
                add(&mut grad, weight * sign * sigmoid(s), &self.x[row]);
            }
        }
        (value, grad)
    }

    /// y of a block.
    pub fn weight(&self, u: f64, s: f64) -> f64 {
        if self.lambda == 0.0 {
            if u > s { 1.0 / self.share } else { 0.0 }
        } else {
            ((u - s) / self.lambda).clamp(0.0, 1.0 / self.share)
        }
    }

    /// s + mean of the (smoothed) excesses, and their gradient by w and s, all blocks as they are on the draw.
    pub fn value(&self, w: &[f64], s: f64, draw: &Draw) -> f64 {
        let excess = |block: usize| {
            let u = self.loss(w, draw, block).0;
            let y = self.weight(u, s);
            y * (u - s) - 0.5 * self.lambda * y * y
        };
        s + (0..self.blocks()).map(excess).sum::<f64>() / self.blocks() as f64
    }
}

/// SONEX on CVaR, with s behind the parameters: s moves by the same rule.
pub fn sonex_cvar(p: &Risk, start: &[f64], draws: &[Draw], mut step: Step) -> Vec<Vec<f64>> {
    let n = p.blocks();
    let (mut w, mut before) = ([start, &[0.0]].concat(), start.to_vec());
    let mut u: Option<Vec<f64>> = None;
    let mut path = Vec::new();
    for draw in draws {
        let d = start.len();
        let now: Vec<(f64, Vec<f64>)> = (0..n).map(|block| p.loss(&w[..d], draw, block)).collect();
        let old: Vec<f64> = (0..n).map(|block| p.loss(&before, draw, block).0).collect();
        let used = u.clone().unwrap_or_else(|| now.iter().map(|l| l.0).collect());
        let mut grad = vec![0.0; d + 1];
        for block in 0..n {
            let y = p.weight(used[block], w[d]) / n as f64;
            grad.iter_mut().zip(&now[block].1).for_each(|(g, by)| *g += y * by);
            grad[d] -= y;
        }
        grad[d] += 1.0;
        u = Some(match u {
            None => used,
            Some(u) => (0..n)
                .map(|b| (1.0 - p.gamma) * u[b] + p.gamma * now[b].0 + p.correction * (now[b].0 - old[b]))
                .collect(),
        });
        before = w[..d].to_vec();
        step.go(&mut w, &grad);
        path.push(w.clone());
    }
    path
}

/// OOA: weights of blocks on {Σp = 1, 0 ≤ p ≤ 1/(rn)}, by mirror ascent on the batch's losses. Returns w and p.
pub fn ooa(p: &Risk, start: &[f64], draws: &[Draw], mut step: Step, rate: f64) -> Vec<Vec<f64>> {
    let n = p.blocks();
    let cap = (1.0 / (p.share * n as f64)).min(1.0);
    let (mut w, mut weights) = (start.to_vec(), vec![1.0 / n as f64; n]);
    let mut path = Vec::new();
    for draw in draws {
        let now: Vec<(f64, Vec<f64>)> = (0..n).map(|block| p.loss(&w, draw, block)).collect();
        let mut grad = vec![0.0; w.len()];
        for block in 0..n {
            grad.iter_mut().zip(&now[block].1).for_each(|(g, by)| *g += weights[block] * by);
        }
        let raised: Vec<f64> = (0..n).map(|b| weights[b] * (rate * now[b].0).exp()).collect();
        // The KL projection min(κq, c), κ by bisection.
        let (mut low, mut high) = (0.0, 1e6);
        for _ in 0..200 {
            let k = 0.5 * (low + high);
            if raised.iter().map(|q| (k * q).min(cap)).sum::<f64>() < 1.0 { low = k } else { high = k }
        }
        weights = raised.iter().map(|q| (high * q).min(cap)).collect();
        step.go(&mut w, &grad);
        path.push([w.clone(), weights.clone()].concat());
    }
    path
}
