//! Runs for tests: shapes with numbers, rows, starts, lists and rates, always the same.

use undercurve::device::{Shape, StepSpec};
use undercurve::rng::Rng;

/// Positives of the data, which are its first rows.
pub const POSITIVES: u32 = 70;
pub const DATA: u32 = 400;

/// ε of rules that divide a gradient by its size. Pairs leave of a bias's gradient rounding errors alone, which differ from
/// device to device and are not to be made large.
pub const EPS: f32 = 1e-3;

/// A run, whatever its objective and rule, with 21 of its 24 numbers that mean something.
pub fn spec(
    widths: &[u32],
    rows: u32,
    negatives: Option<u32>,
    objective: &'static str,
    rule: &'static str,
) -> StepSpec {
    let params: u32 = widths.windows(2).map(|pair| (pair[0] + 1) * pair[1]).sum();
    let saddle = objective.starts_with("auc-m");
    let anchors = if objective == "min-max-ap" { 6 } else { 0 };
    let length = params + if saddle { 3 } else { 2 * anchors };
    let (points, slots) = match rule {
        "sgd" => (1, 0),
        "momentum" | "adagrad" => (1, 1),
        "adam" | "amsgrad" => (1, 2),
        "ppd-adagrad" => (2, 3),
        _ => (2, 1),
    };
    let bank = length * (points + slots);
    let mut numbers = [0.0; 24];
    let of_rule: &[f32] = match rule {
        "sgd" => &[1e-3],
        "momentum" => &[1e-3, 0.9, 0.1],
        "adam" => &[1e-3, 0.9, 0.1, 0.999, 0.001, 0.0],
        "amsgrad" => &[1e-3, 0.9, 0.1, 0.999, 0.001, EPS * EPS],
        "adagrad" => &[1e-3, EPS],
        "ppd-sg" | "pesg" => &[1e-3, 0.5],
        "ppd-adagrad" => &[0.0, 0.5, 1.0],
        "dca" => &[1e-3, 0.5],
        _ => panic!("no numbers of {rule}"),
    };
    let all = [330.0, 70.0];
    let of_objective: &[f32] = match objective {
        "soap" => &[1.0 / 400.0, 69.0 / (400.0 * 7.0), 330.0 / (400.0 * 56.0), 0.6, 1e-3, 1.0],
        "auc-pairwise" => &[],
        "smooth-ap" => &[1.0, all[0], all[1]],
        "auc-margin" => &[1.0, 0.25],
        "auc-min-max" => &[0.175, 0.175 * 0.825, 1.0, all[0], all[1]],
        "cross-entropy" => &[0.01, 0.02, 0.0],
        "focal" => &[0.01, 0.02, 0.0, 2.0],
        // Ranges that end within a negative; of 31 of them.
        "pauc-minibatch" => &[1.3, 9.6],
        "pauc-threshold" => &[1.3, 9.6, 0.02, 0.0, 9.6 / 31.0, 9.0, 0.1, 0.0, 1.3 / 31.0, 0.0, 0.8],
        "sopa" => &[10.0, 31.0 / 9.6, 1.0 / 9.6, 0.1],
        "sopa-s" => &[2.0, 0.9, 0.5],
        "sota-s" => &[2.0, 0.9, 0.5, 0.5, 0.9, 1.0],
        "ldam" => &[0.01, 0.02, 0.1, 0.5, 0.0, 12.0, 1.5, 0.0, 0.03, 0.01],
        "fast-ap" => &[1.0, all[0], all[1], 20.0],
        "min-max-ap" => &[1.0, all[0], all[1], 1.0 / 6.0],
        "pauc-dual" => &[0.3, 0.25],
        "sorr" => &[0.02, 0.03, 1.0 / 0.45, 0.5],
        _ => panic!("no numbers of {objective}"),
    };
    numbers[..of_rule.len()].copy_from_slice(of_rule);
    numbers[8..8 + of_objective.len()].copy_from_slice(of_objective);
    numbers[20..22].copy_from_slice(&[0.5, 0.25]);
    let pairs = !saddle && !matches!(objective, "cross-entropy" | "focal" | "ldam" | "fast-ap" | "sorr");
    let shape = Shape {
        widths: widths.to_vec(),
        tanh: false,
        rows,
        negatives,
        objective,
        surrogate: if pairs { "squared-hinge" } else { "" },
        sigmoid: false,
        rule,
        ascent: if saddle { 1 } else { anchors },
        pull: None,
        params,
        length,
        points,
        slots: length * points,
        bank,
        state: bank
            + match objective {
                "soap" => 2 * POSITIVES,
                "sopa" | "sopa-s" => POSITIVES,
                "sota-s" => POSITIVES + 1,
                "pauc-threshold" => 4,
                "ldam" => 2,
                "pauc-dual" => 6 * POSITIVES + 2,
                "sorr" => 8,
                _ => 0,
            },
    };
    StepSpec { shape, numbers }
}

/// Numbers in [−1, 1) + shift.
pub fn numbers(rng: &mut Rng, count: usize, shift: f32) -> Vec<f32> {
    (0..count).map(|_| rng.below(1 << 20) as f32 / (1 << 19) as f32 - 1.0 + shift).collect()
}

/// Rows of data, the positives first and higher in their first column.
pub fn data(columns: usize) -> Vec<f32> {
    let mut rows = numbers(&mut Rng::keyed(1, 0, 0), DATA as usize * columns, 0.0);
    for row in 0..POSITIVES as usize {
        rows[row * columns] += 0.4;
    }
    rows
}

/// The state a run begins with.
pub fn start(spec: &StepSpec, run: usize) -> Vec<f32> {
    let shape = &spec.shape;
    let mut state = vec![0.0; shape.state as usize];
    let scale = (shape.widths[0] as f32).sqrt().recip();
    let params = numbers(&mut Rng::keyed(2, run as u64, 0), shape.length as usize, 0.0);
    for point in state[..shape.slots as usize].chunks_exact_mut(shape.length as usize) {
        point.iter_mut().zip(&params).for_each(|(w, x)| *w = scale * x);
    }
    if shape.points == 2 {
        // The anchor, or the reference.
        let at = shape.slots as usize;
        let (points, slots) = state.split_at_mut(at);
        slots[..shape.length as usize].copy_from_slice(&points[..shape.length as usize]);
    }
    state
}

/// Lists of so many steps.
pub fn lists(spec: &StepSpec, len: usize, steps: usize, seed: u64) -> Vec<u32> {
    let mut rng = Rng::keyed(3, seed, 0);
    let mut lists = Vec::new();
    for step in 0..steps {
        let rows = spec.shape.rows;
        let negatives = spec.shape.negatives.unwrap_or(rows - 1 - step as u32 % 5);
        let mut positives: Vec<u32> = (0..POSITIVES).collect();
        for k in 0..(rows - negatives) as usize {
            let other = k + rng.below(POSITIVES - k as u32) as usize;
            positives.swap(k, other);
        }
        positives.truncate((rows - negatives) as usize);
        let mut list = vec![negatives];
        list.extend((0..negatives).map(|_| POSITIVES + rng.below(DATA - POSITIVES)));
        list.extend(&positives);
        list.extend(&positives);
        list.resize(len, 0);
        lists.extend(list);
    }
    lists
}

/// The pace of a run and step.
pub fn pace(rule: &str, run: usize, step: usize) -> [f32; 2] {
    let lr = 0.02 + 0.01 * run as f32;
    match rule {
        "adam" => [lr / (1.0 + step as f32).sqrt(), EPS],
        "amsgrad" => [0.1 * lr, 0.0],
        "sgd" => [20.0 * lr, 0.0],
        "momentum" | "adagrad" => [lr, 0.0],
        "dca" => [4.0 * lr, 0.1],
        "pesg" => [lr, 1.0 / (step + 1) as f32],
        _ => [lr, 1.0 / (step + 2) as f32],
    }
}
