//! Sums and training over whole data on several threads: the bits of one.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;
use undercurve::data::{Dataset, Format, RawTable};
use undercurve::pairs::{self, Grade};
use undercurve::rng::Rng;
use undercurve::surrogate::{AnySurrogate, SURROGATES};
use undercurve::trainer::{Config, Length, ModelSpec, Trainer};
use undercurve::{Real, Scratch};
use undercurve_tests::pairs as twin;

fn pools() -> Vec<ThreadPool> {
    [1, 2, 3, 8].map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().unwrap()).into()
}

#[derive(Clone, Copy, Debug)]
enum Sum {
    Auc,
    Ap,
    Pauc,
}

/// Value and gradient, in memory that holds what must not matter.
fn whole<S: Real>(sum: Sum, scores: &[S], labels: &[u8], loss: AnySurrogate<f64>, grade: Grade) -> (f64, Vec<S>) {
    let need = pairs::need(scores.len(), labels.iter().filter(|&&y| y == 1).count());
    let (mut f, mut i, mut k) = (vec![f64::NAN; need.f64], vec![u32::MAX; need.u32], vec![u64::MAX; need.u64]);
    let scratch = Scratch { real: &mut [], f64: &mut f, u32: &mut i, u64: &mut k };
    let mut grad = vec![S::ZERO; scores.len()];
    let value = match sum {
        Sum::Auc => pairs::auc(scores, labels, loss, grade, scratch, &mut grad),
        Sum::Ap => pairs::ap(scores, labels, loss, grade, scratch, &mut grad),
        Sum::Pauc => pairs::pauc(scores, labels, loss, (0.0301, 0.6), grade, scratch, &mut grad),
    };
    (value.unwrap(), grad)
}

const KINDS: [&str; 8] = ["plain", "half", "ties", "one value", "outlier", "clusters", "powers", "steps"];

fn data(kind: &str, rows: usize) -> (Vec<f64>, Vec<u8>) {
    let mut rng = Rng::new(rows as u64);
    let share = if kind == "half" { 0.5 } else { 0.04 };
    let mut labels: Vec<u8> = (0..rows).map(|_| u8::from(rng.uniform() < share)).collect();
    (labels[0], labels[rows - 1]) = (1, 0);
    let mut scores: Vec<f64> = labels.iter().map(|&y| rng.normal() + f64::from(y)).collect();
    match kind {
        "ties" => scores.iter_mut().for_each(|s| *s = (*s * 8.0).round() / 8.0),
        "one value" => scores.fill(0.5),
        "outlier" => scores[rows / 2] = 1e6,
        "clusters" => scores.iter_mut().enumerate().for_each(|(j, s)| *s += if j % 2 == 0 { 1e3 } else { -1e3 }),
        // Sixteen parts of one size, and nothing behind the last.
        "steps" => {
            let step = (rows / 16).max(2);
            for (j, (score, label)) in scores.iter_mut().zip(&mut labels).enumerate() {
                *label = u8::from(j % step >= step / 2);
                *score = (j / step) as f64 + f64::from(*label);
            }
        }
        "powers" => scores.iter_mut().for_each(|s| *s = (4.0 * *s).exp()),
        _ => {}
    }
    (scores, labels)
}

fn same_bits<S: Real>(pools: &[ThreadPool], kind: &str, rows: usize) {
    let (scores, labels) = data(kind, rows);
    let scores: Vec<S> = scores.into_iter().map(S::of).collect();
    for &(name, _, c) in SURROGATES {
        let far = matches!(kind, "outlier" | "clusters" | "powers");
        if name == "exponential" && far {
            continue;
        }
        let loss = AnySurrogate::by_name(name, c).unwrap();
        for sum in [Sum::Auc, Sum::Ap, Sum::Pauc] {
            if matches!((sum, name), (Sum::Pauc, "square")) {
                continue;
            }
            let grade = if rows.is_multiple_of(2) { Grade::Full } else { Grade::Fast };
            let bits = |pool: &ThreadPool| {
                let (value, grad) = pool.install(|| whole(sum, &scores, &labels, loss, grade));
                (value.to_bits(), grad.into_iter().map(Real::to_le).collect::<Vec<_>>())
            };
            let one = bits(&pools[0]);
            for pool in &pools[1..] {
                assert!(bits(pool) == one, "{kind} {sum:?} {name} n={rows} on {} threads", pool.current_num_threads());
            }
        }
    }
}

#[test]
fn sums_have_the_bits_of_one_thread() {
    let pools = pools();
    for kind in KINDS {
        for rows in [2, 3, 65, 1000] {
            same_bits::<f32>(&pools, kind, rows);
            same_bits::<f64>(&pools, kind, rows);
        }
    }
    // From 2^15 rows on the work is in parts.
    for (kind, rows) in KINDS.into_iter().zip(1 << 15..) {
        same_bits::<f32>(&pools, kind, rows);
    }
    same_bits::<f32>(&pools, "steps", 1 << 15);
    for (kind, rows) in [("steps", 1 << 15), ("plain", (1 << 15) - 1), ("half", 40_000), ("ties", 49_153)] {
        same_bits::<f64>(&pools, kind, rows);
    }
}

#[test]
fn sums_in_parts_are_the_double_loop() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let (scores, mut labels) = data("plain", 33_000);
    // Few positives keep the double loop short.
    labels.iter_mut().enumerate().for_each(|(j, y)| *y &= u8::from(j % 8 == 0));
    for (name, c) in [("hinge", 1.0), ("squared-hinge", 0.7), ("smoothed-hinge", 0.5), ("ramp", 1.0), ("sigmoid", 1.0)]
    {
        let loss = AnySurrogate::by_name(name, c).unwrap();
        for sum in [Sum::Auc, Sum::Ap] {
            let want = match sum {
                Sum::Auc => twin::auc(name, c, &scores, &labels),
                _ => twin::ap(name, c, &scores, &labels),
            };
            let (value, grad) = pool.install(|| whole(sum, &scores, &labels, loss, Grade::Full));
            assert!((value - want.value).abs() <= 1e-12 * want.value.abs(), "{name} {sum:?}");
            for j in 0..scores.len() {
                assert!((grad[j] - want.grad[j]).abs() <= 1e-12 * want.size[j], "{name} {sum:?} {j}");
            }
        }
    }
}

/// A file of several pieces is the same table, and has the same error, on any number of threads.
#[test]
fn files_are_read_as_by_one_thread() {
    let mut rng = Rng::new(5);
    let mut text = String::from("number,price,day,town,id,label\n");
    for row in 0..20_000 {
        let price = [format!("{:.3}", rng.normal().abs()), String::new(), "12".into()][row % 3].clone();
        let town = ["Bern", "\"Thun, old\"", "\"two\nlines\""][rng.below(3) as usize];
        // (A column that becomes text late, in a piece that is read beside others.)
        let id = if row < 15_000 { format!("0{row}.50") } else { format!("r{row}") };
        text += &format!("{},{price},2024-{:02}-11,{town},{id},{}\n", rng.normal(), 1 + row % 12, row % 2);
    }
    let read = |text: &str, pool: &ThreadPool| {
        pool.install(|| format!("{:?}", RawTable::parse(text.as_bytes(), Format::Csv, "f.csv")))
    };
    let pools = pools();
    let ragged = [&text, "1,2\n", &text, "\"open"].concat();
    for text in [&text, &ragged] {
        let expected = read(text, &pools[0]);
        assert!(pools[1..].iter().all(|pool| read(text, pool) == expected), "{}", &expected[..200]);
        assert_eq!(expected.contains("Ragged"), *text == ragged);
    }
}

#[test]
fn training_has_the_bits_of_one_thread() {
    let (rows, cols) = (40_001, 5);
    let mut rng = Rng::new(5);
    let labels: Vec<u8> = (0..rows).map(|_| u8::from(rng.uniform() < 0.1)).collect();
    let x: Vec<f32> = (0..rows * cols).map(|k| (rng.normal() + 0.4 * f64::from(labels[k / cols])) as f32).collect();
    let data = Arc::new(Dataset::dense(x, labels, cols).unwrap());
    for (method, model) in [
        ("ap-exact", ModelSpec::Linear),
        ("auc-exact", ModelSpec::Mlp { hidden: vec![6], tanh: false }),
        ("pauc-exact", ModelSpec::Mlp { hidden: vec![4, 3], tanh: true }),
    ] {
        let config = Config { method: method.into(), model, length: Length::Steps(6), ..Config::default() };
        let run = |pool: &ThreadPool| {
            pool.install(|| {
                let mut trainer = Trainer::<f32>::new(&config, Arc::clone(&data), None).unwrap();
                let mut values = vec![];
                while let Some(value) = trainer.step().unwrap() {
                    values.push(value.to_bits());
                    if values.len() == 6 {
                        break;
                    }
                }
                values.push(trainer.report().unwrap().objective.to_bits());
                let params: Vec<u32> = trainer.params().iter().map(|p| p.to_bits()).collect();
                (values, params)
            })
        };
        let pools = pools();
        let one = run(&pools[0]);
        assert!(one.0[0] != one.0[5], "{method} has not moved");
        for pool in &pools[1..] {
            assert_eq!(run(pool), one, "{method} on {} threads", pool.current_num_threads());
        }
    }
}
