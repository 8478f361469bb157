//! What `instructions.py` counts: a case, so many times over. Its arguments are the name of the case and the number.

use std::hint::black_box;
use std::sync::Arc;
use undercurve::data::Dataset;
use undercurve::pairs::{Grade, Sum, Sums};
use undercurve::surrogate::AnySurrogate;
use undercurve::trainer::{Config, Length, Trainer};

const ROWS: usize = 20_000;
const COLUMNS: usize = 20;

/// Numbers from 0 to 1 of a linear congruential generator.
fn numbers(count: usize) -> Vec<f64> {
    let mut state = 1u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / 16_777_216.0
    };
    (0..count).map(next).collect()
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (case, times) = (arguments[1].as_str(), arguments[2].parse::<u64>().expect("a number"));
    let labels: Vec<u8> = (0..ROWS).map(|row| u8::from(row % 10 == 0)).collect();
    if case == "soap" {
        let x = numbers(ROWS * COLUMNS).iter().map(|&x| x as f32).collect();
        let data = Arc::new(Dataset::dense(x, labels, COLUMNS).expect("finite rows"));
        let settings = [("pretrain", "0")].map(|(name, value)| (name.into(), value.into())).into();
        let config = Config { method: "soap".into(), length: Length::Steps(1000), settings, ..Config::default() };
        let mut trainer = Trainer::new(&config, data, None).expect("a run");
        for _ in 0..10 + times {
            black_box(trainer.step().expect("a step"));
        }
        return;
    }
    let (sum, loss) = case.split_once(' ').expect("a sum and a loss");
    let sum = match sum {
        "auc" => Sum::Auc,
        "ap" => Sum::Ap,
        _ => Sum::Pauc { fpr: (0.0, 0.1), tpr: 0.0 },
    };
    let scores: Vec<f64> =
        numbers(ROWS).iter().zip(&labels).map(|(x, &y)| 4.0 * x + 0.7 * f64::from(y)).collect();
    let loss = AnySurrogate::by_name(loss, 1.0).expect("a loss");
    let mut grad = vec![0.0; ROWS];
    let mut sums = Sums::new().with_grade(Grade::Full);
    let truth = undercurve::metric::Truth::new(&labels, &[]).expect("labels");
    for _ in 0..times {
        black_box(sums.sum(sum, &scores, truth, loss, &mut grad).expect("a sum"));
    }
}
