//! Whole objectives on every Vulkan driver of this machine: against the mirror of the model, the core in f64, and as runs beside the core's.

mod common;
#[path = "mirror/linear.rs"]
mod mirror;
#[path = "mirror/tree.rs"]
mod tree;

use common::contexts;
use std::sync::Arc;
use undercurve::batch::{Batch, Drawn};
use undercurve::data::Dataset;
use undercurve::estimator::{Estimator, Grad, Link};
use undercurve::host::WholeObjective;
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Length, ModelSpec, Trainer};
use undercurve::{Error, Scratch};
use undercurve_gpu::kernel::exact::linear::MOST_COLUMNS;
use undercurve_gpu::{Context, GpuError, GpuObjective};

/// Named tolerance, of a value, and of an entry of the gradient beside the sum of the sizes of its terms; and what the rounding of linked
/// scores adds for a surrogate of the scale c: c · 2⁻²³.
const SUM: f64 = 1e-6;
const LINKED: f64 = 1.0 / (1 << 23) as f64;

/// Rows of some columns around 0, every so many a positive, higher in the first columns.
fn data(rows: usize, cols: usize, every: usize) -> Arc<Dataset<f32>> {
    let mut rng = Rng::keyed(3, rows as u64, cols as u64);
    let labels: Vec<u8> = (0..rows).map(|k| u8::from(k % every == every - 1)).collect();
    let entry = |y: u8, column: usize| rng.normal() as f32 * 0.5 + f32::from(y) / (1 + column) as f32;
    let mut entry = entry;
    let x = labels.iter().flat_map(|&y| (0..cols).map(|column| entry(y, column)).collect::<Vec<_>>()).collect();
    Arc::new(Dataset::dense(x, labels, cols).unwrap())
}

fn trainer(method: &str, data: &Arc<Dataset<f32>>, settings: &[(&str, &str)]) -> Trainer<f32> {
    let settings = settings.iter().map(|&(name, value)| (name.into(), value.into())).collect();
    let fpr = if method == "pauc-exact" { (0.0503, 0.4001) } else { (0.0, 1.0) };
    let config = Config { method: method.into(), length: Length::Steps(30), settings, fpr, ..Config::default() };
    Trainer::new(&config, Arc::clone(data), None).unwrap()
}

/// Value and gradient in f64 from the rows on, and the sizes of the gradient's terms.
fn of_core(whole: &WholeObjective<'_>, data: &Dataset<f32>, params: &[f32]) -> (f64, Vec<f64>, Vec<f64>) {
    let undercurve::data::Rows::Dense { data, cols, .. } = data.rows() else { panic!("sparse") };
    let row = |k: u32| &data[k as usize * cols..][..cols];
    let dot = |row: &[f32]| row.iter().zip(params).map(|(&x, &w)| f64::from(x) * f64::from(w)).sum::<f64>();
    let scores: Vec<f64> = whole.rows.iter().map(|&k| dot(row(k)) + f64::from(params[cols])).collect();
    let (n, low) = (scores.len() as u32, whole.negatives as u32);
    let (starts, population) = ([0, low, n], [low, n - low]);
    let batch = Batch::new(&scores, 1, &starts, &population, Drawn::All).unwrap();
    let need = Estimator::<f64>::need(&whole.objective, batch.shape());
    let (mut real, mut f64s) = (vec![0.0; need.real], vec![0.0; need.f64]);
    let (mut u32s, mut u64s) = (vec![0; need.u32], vec![0; need.u64]);
    let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
    let mut slopes = vec![0.0; scores.len()];
    let value =
        whole.objective.gradient(&batch, &[], &[], scratch, Grad { scores: &mut slopes, aux: &mut [] }).unwrap();
    let (mut grad, mut sizes) = (vec![0.0; cols + 1], vec![0.0; cols + 1]);
    for (&k, slope) in whole.rows.iter().zip(slopes) {
        for (column, x) in row(k).iter().chain([&1.0]).enumerate() {
            grad[column] += slope * f64::from(*x);
            sizes[column] += (slope * f64::from(*x)).abs();
        }
    }
    (value, grad, sizes)
}

/// The worst error of a value and of an entry, at some parameters.
fn errors(context: &Context, trainer: &Trainer<f32>, params: &[f32]) -> [f64; 2] {
    let mut objective = GpuObjective::of(context, trainer).unwrap();
    let mut grad = vec![0.0; params.len()];
    let value = objective.gradient(params, &mut grad).unwrap();
    let mut again = vec![0.0; params.len()];
    assert_eq!((objective.gradient(params, &mut again).unwrap(), &again), (value, &grad), "other bits");
    let (of, by, sizes) = of_core(&trainer.whole().unwrap().unwrap(), trainer.train_data(), params);
    let entries = grad.iter().zip(by).zip(sizes).map(|((&g, by), size)| (f64::from(g) - by).abs() / size.max(1e-30));
    [(value - of).abs() / of.abs(), entries.fold(0.0, f64::max)]
}

/// Parameters that order the rows well, but not all.
fn weights(cols: usize) -> Vec<f32> {
    (0..=cols).map(|k| if k == cols { 0.3 } else { 0.9 / (k + 1) as f32 - 0.2 }).collect()
}

fn cases(sizes: &[(usize, usize)]) {
    for context in contexts() {
        for method in ["auc-exact", "ap-exact", "pauc-exact"] {
            for &(rows, cols) in sizes {
                let data = data(rows, cols, if rows < 20 { 2 } else { 20 });
                for settings in [
                    [("surrogate", "squared-hinge"), ("link", "identity")],
                    [("surrogate", "sigmoid"), ("link", "sigmoid")],
                ] {
                    let trainer = trainer(method, &data, &settings);
                    let objective = trainer.whole().unwrap().unwrap().objective;
                    let linked = Estimator::<f32>::link(&objective) == Link::Sigmoid;
                    let most = SUM + if linked { objective.surrogate().numbers()[0] * LINKED } else { 0.0 };
                    let got = errors(&context, &trainer, &weights(cols));
                    let what = format!("{}: {method}, {settings:?}, {rows} rows of {cols}", context.name());
                    assert!(got[0] <= most && got[1] <= most, "{what}: {got:?}");
                    println!("{what}: value {:.1e}, gradient {:.1e}", got[0], got[1]);
                }
            }
        }
    }
}

/// Rows beside the tiles, columns beside the blocks.
#[test]
fn value_and_gradient_are_the_core_s() {
    cases(&[(2, 1), (1025, 9), (3000, 17)]);
    if std::env::var_os("UNDERCURVE_LONG").is_some() {
        cases(&[(3, 7), (1023, 8), (1024, 3), (2048, 4), (4097, 15), (20_000, 300), (1_000_000, 8)]);
    }
}

/// Without a link the device's scores, and from its slopes its gradient, have the bits of the mirror; the value of the hinge then those of the scores.
#[test]
fn the_model_has_the_bits_of_its_mirror() {
    for context in contexts() {
        let data = data(3001, 6, 5);
        let trainer = trainer("auc-exact", &data, &[("surrogate", "squared-hinge"), ("link", "identity")]);
        let whole = trainer.whole().unwrap().unwrap();
        let undercurve::data::Rows::Dense { data: x, cols, .. } = data.rows() else { panic!("sparse") };
        let by_column: Vec<f32> =
            (0..cols).flat_map(|c| whole.rows.iter().map(move |&row| x[row as usize * cols + c])).collect();
        let scores = mirror::forward(&by_column, &weights(cols));
        let labels: Vec<u8> = (0..scores.len()).map(|k| u8::from(k >= whole.negatives)).collect();
        let mut slopes = vec![0.0; scores.len()];
        let mut exact = undercurve_gpu::GpuExact::new(&context, scores.len()).unwrap();
        let value = exact.auc(whole.objective.surrogate().to(), &scores, &labels, &mut slopes).unwrap();
        let mut grad = vec![0.0; cols + 1];
        let mut objective = GpuObjective::of(&context, &trainer).unwrap();
        assert_eq!(objective.gradient(&weights(cols), &mut grad).unwrap(), value, "{}", context.name());
        assert_eq!(grad, mirror::backward(&by_column, &slopes), "{}", context.name());
    }
}

/// A run on the device is, up to rounding, the core's; a file saved on its way resumes on either.
#[test]
fn a_run_on_the_device_is_the_core_s() {
    let data = data(900, 5, 6);
    for context in contexts() {
        for (method, rule) in [("ap-exact", "lbfgs"), ("auc-exact", "adam"), ("pauc-exact", "momentum")] {
            let mut core = trainer(method, &data, &[("optimizer", rule), ("pretrain", "5")]);
            let mut other = core.clone();
            let mut objective = GpuObjective::of(&context, &other).unwrap();
            assert_eq!(objective.step(&mut other), Ok(false), "its first steps are others");
            let mut made = 0;
            while !other.is_done() {
                if objective.step(&mut other).unwrap() {
                    made += 1;
                } else {
                    other.step().unwrap();
                }
                core.step().unwrap();
                if other.steps_done() == 15 {
                    other = Trainer::load(&other.save(), Arc::clone(&data), None).unwrap();
                }
            }
            assert!(made > 10 && objective.step(&mut other) == Ok(false));
            let [a, b] = [&mut core, &mut other].map(|trainer| trainer.report().unwrap().objective);
            assert!((a - b).abs() <= 1e-4 * a.abs(), "{}: {method}: {b} is not {a}", context.name());
        }
    }
}

#[test]
fn what_has_no_kernel_is_refused() {
    let data = data(60, 3, 5);
    let of = |context: &Context, trainer: &Trainer<f32>| GpuObjective::of(context, trainer).map(drop).unwrap_err();
    for context in contexts().into_iter().take(1) {
        let refused = |trainer: &Trainer<f32>, why: &str| {
            let error = of(&context, trainer);
            let said = error.to_string();
            assert!(matches!(error, GpuError::NoKernel { .. }) && said.contains(why), "{said}");
        };
        refused(&trainer("soap", &data, &[]), "this method");
        refused(&trainer("ai-sarah", &data, &[]), "this method");
        refused(&trainer("auc-exact", &data, &[("surrogate", "square")]), "surrogate square");
        refused(&trainer("pauc-exact", &data, &[("tpr", "0.5")]), "two-way");
        let config =
            Config { method: "ap-exact".into(), model: ModelSpec::parse("mlp:3").unwrap(), ..Config::default() };
        refused(&Trainer::new(&config, Arc::clone(&data), None).unwrap(), "networks");
        let heavy = (*data).clone().with_weights((0..60).map(|k| 1.0 + (k % 3) as f64).collect()).unwrap();
        refused(&trainer("ap-exact", &Arc::new(heavy), &[]), "weights");
        let wide = Dataset::dense(vec![0.5; 2 * (MOST_COLUMNS + 1)], vec![0, 1], MOST_COLUMNS + 1).unwrap();
        refused(&trainer("ap-exact", &Arc::new(wide), &[]), "columns");
        // What does not fit is an error, after which it still works.
        let mut objective = GpuObjective::of(&context, &trainer("auc-exact", &data, &[])).unwrap();
        let mut grad = [9.0; 4];
        assert!(matches!(objective.gradient(&[0.0; 3], &mut grad), Err(GpuError::Core(Error::Length { .. }))));
        for huge in [3e38, f32::NAN, f32::INFINITY, 1e20] {
            let error = objective.gradient(&[huge, 0.0, 0.0, 0.0], &mut grad);
            assert!(matches!(error, Err(GpuError::Core(Error::Overflow { .. }))), "{huge}: {error:?}");
        }
        assert_eq!(grad, [9.0; 4]);
        objective.gradient(&[1.0, 0.0, 0.0, 0.0], &mut grad).unwrap();
        context.device().destroy();
        assert!(matches!(
            objective.gradient(&[0.0; 4], &mut grad),
            Err(GpuError::Lost { .. } | GpuError::Device { .. })
        ));
    }
}
