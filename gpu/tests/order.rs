//! Every shader text in three orders of its invocations, with equal bits, on every Vulkan driver of this machine. Software runs them one
//! after the other, so that what lacks a barrier is right in one order and wrong in another.

mod common;
#[path = "common/runs.rs"]
mod runs;

use common::contexts;
use runs::{data, lists, numbers, pace, spec, start};
use std::sync::Arc;
use undercurve::data::Dataset;
use undercurve::device::{Shape, StepSpec};
use undercurve::rng::Rng;
use undercurve::surrogate::{AnySurrogate, SURROGATES};
use undercurve::trainer::{Config, Length, Trainer};
use undercurve_gpu::kernel::wide::Wide;
use undercurve_gpu::kernel::{Order, names};
use undercurve_gpu::{Context, DeviceRuns, GpuError, GpuExact, GpuObjective};

thread_local! {
    /// Every adapter there is, opened once a test (and never closed: wgpu has numbers of the thread, too, that may be gone by then).
    static OPENED: &'static [Context] = contexts().leak();
}

/// Numbers of some work in each order: their bits are equal, and they are numbers. What is wrong about it.
fn apart(what: &str, work: impl Fn(&Context) -> Vec<f32>) -> Vec<String> {
    let mut wrong = Vec::new();
    for context in OPENED.with(|&opened| opened) {
        let own = work(context);
        assert!(own.iter().all(|x| x.is_finite()) && own.iter().any(|&x| x != 0.0), "{what}: nothing to compare");
        for order in [Order::Reversed, Order::Mixed] {
            let other = work(&context.in_order(order));
            let differ = own.iter().zip(&other).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
            if differ > 0 {
                wrong.push(format!("{}: {what}: {order:?}: {differ} of {} numbers", context.name(), own.len()));
            }
        }
    }
    wrong
}

fn same(what: &str, work: impl Fn(&Context) -> Vec<f32>) {
    let wrong = apart(what, work);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

type Make = fn(&Context, &Shape, &[f32], usize) -> Result<DeviceRuns, GpuError>;

/// States and values of two runs after so many steps.
fn steps(context: &Context, make: Make, spec: &StepSpec, steps: usize) -> Vec<f32> {
    let mut on_device = make(context, &spec.shape, &data(spec.shape.widths[0] as usize), 2).unwrap();
    let len = spec.shape.list_len();
    (0..2).for_each(|run| on_device.load(run, &start(spec, run), &spec.numbers).unwrap());
    let both = [lists(spec, len, steps, 0), lists(spec, len, steps, 1)].concat();
    let at = |run| (0..steps).flat_map(move |step| pace(spec.shape.rule, run, step));
    on_device.advance(steps, &both, &[0, 1], &[0, 1].into_iter().flat_map(at).collect::<Vec<_>>()).unwrap();
    let mut all = vec![0.0; 2 * spec.shape.state as usize];
    on_device.states(&mut all).unwrap();
    all.extend(on_device.values().unwrap());
    all
}

fn steps_apart(make: Make, count: usize, spec: &StepSpec) -> Vec<String> {
    apart(&spec.shape.to_string(), |context| steps(context, make, spec, count))
}

/// An objective's rule, of those that it is trained with.
fn rule_of(objective: &str) -> &'static str {
    match objective {
        "pauc-dual" | "sorr" => "dca",
        "auc-margin" => "pesg",
        "auc-min-max" => "ppd-sg",
        _ => "momentum",
    }
}

/// More rows than invocations, so that these have a second one, and fewer, so that some have none.
#[test]
fn steps_have_the_same_bits_in_any_order() {
    let mut wrong = Vec::new();
    for &objective in &names()[0] {
        for (widths, rows, negatives) in [(&[5, 1][..], 320, 270), (&[6, 9, 1], 40, 31)] {
            let spec = spec(widths, rows, Some(negatives), objective, rule_of(objective));
            let shape = Shape { sigmoid: true, tanh: true, ..spec.shape };
            wrong.extend(steps_apart(DeviceRuns::new, 3, &StepSpec { shape, ..spec }));
        }
    }
    for rule in ["sgd", "adam", "amsgrad", "adagrad", "ppd-adagrad"] {
        let objective = if rule == "ppd-adagrad" { "auc-min-max" } else { "auc-pairwise" };
        wrong.extend(steps_apart(DeviceRuns::new, 3, &spec(&[13, 1], 40, Some(31), objective, rule)));
    }
    // Tiles at their edges and beyond, and several of them.
    wrong.extend(steps_apart(DeviceRuns::new, 3, &spec(&[70, 66, 20, 1], 70, None, "soap", "adam")));
    for &(surrogate, _, _) in SURROGATES {
        let spec = spec(&[5, 1], 40, Some(31), "soap", "sgd");
        wrong.extend(steps_apart(DeviceRuns::new, 3, &StepSpec { shape: Shape { surrogate, ..spec.shape }, ..spec }));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn reports_have_the_same_bits_in_any_order() {
    for widths in [&[9, 1][..], &[9, 20, 1]] {
        same("reports", |context| {
            let spec = spec(widths, 300, None, "auc-pairwise", "sgd");
            let mut on_device = DeviceRuns::new(context, &spec.shape, &data(9), 2).unwrap();
            on_device.test(&numbers(&mut Rng::keyed(9, 0, 0), 700 * 9, 0.0)).unwrap();
            (0..2).for_each(|run| on_device.load(run, &start(&spec, run), &spec.numbers).unwrap());
            assert!(on_device.begin_report().unwrap());
            on_device.wait_for_report().unwrap().unwrap()
        });
    }
}

#[test]
fn wide_steps_have_the_same_bits_in_any_order() {
    let (mut wrong, mut spread) = (Vec::new(), 0);
    for &objective in &names()[0] {
        let spec = spec(&[20, 17, 1], 300, Some(250), objective, rule_of(objective));
        let spec = StepSpec { shape: Shape { sigmoid: true, tanh: true, ..spec.shape }, ..spec };
        // (Some want all scores of a batch in one workgroup.)
        if Wide::of(&spec.shape).is_ok() {
            spread += 1;
            wrong.extend(steps_apart(DeviceRuns::wide, 2, &spec));
        }
    }
    assert!(spread >= 7, "{spread} objectives over many workgroups");
    wrong.extend(steps_apart(DeviceRuns::wide, 2, &spec(&[70, 1], 300, Some(250), "soap", "adam")));
    // Tiles beside each other, and gradients in parts.
    wrong.extend(steps_apart(DeviceRuns::wide, 2, &spec(&[70, 66, 20, 1], 70, None, "soap", "adam")));
    wrong.extend(steps_apart(DeviceRuns::wide, 1, &spec(&[20, 17, 1], 2100, Some(2040), "auc-pairwise", "amsgrad")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Sort, scans, hinges, panels and metrics, of several tiles each.
#[test]
fn exact_sums_have_the_same_bits_in_any_order() {
    let rows = 9_000;
    let labels: Vec<u8> = (0..rows).map(|k| u8::from(k % 5 == 4)).collect();
    let mut rng = Rng::new(7);
    let scores: Vec<f32> =
        labels.iter().map(|&y| (rng.below(1 << 12) as f32 / (1 << 10) as f32 - 2.0) + 0.25 * f32::from(y)).collect();
    same("exact sums", |context| {
        let mut exact = GpuExact::new(context, rows).unwrap();
        let metrics = exact.metrics(&scores, &labels).unwrap();
        let mut all = vec![metrics.counts.auroc() as f32, metrics.ap as f32, metrics.counts.ties as f32];
        all.extend(metrics.roc.iter().flat_map(|point| [point.fpr as f32, point.tpr as f32]));
        for loss in ["hinge", "squared-hinge", "sigmoid", "logistic"] {
            let loss = AnySurrogate::by_name(loss, 1.0).unwrap();
            for sum in 0..3 {
                let mut grad = vec![0.0; rows];
                let value = match sum {
                    0 => exact.auc(loss, &scores, &labels, &mut grad),
                    1 => exact.pauc(loss, (0.0503, 0.4001), &scores, &labels, &mut grad),
                    _ => exact.ap(loss, &scores, &labels, &mut grad),
                };
                all.push(value.unwrap() as f32);
                all.extend(grad);
            }
        }
        all
    });
}

#[test]
fn exact_objectives_have_the_same_bits_in_any_order() {
    let (rows, cols) = (5000, 11);
    let labels: Vec<u8> = (0..rows).map(|k| u8::from(k % 7 == 3)).collect();
    let mut x = numbers(&mut Rng::new(5), rows * cols, 0.0);
    (0..rows).filter(|&row| labels[row] == 1).for_each(|row| x[row * cols] += 0.5);
    let rows = Arc::new(Dataset::dense(x, labels, cols).unwrap());
    for (method, link) in [("auc-exact", "identity"), ("ap-exact", "sigmoid")] {
        let settings = [("link", link), ("pretrain", "0")].map(|(name, value)| (name.into(), value.into())).to_vec();
        let config = Config { method: method.into(), length: Length::Steps(9), settings, ..Config::default() };
        let trainer = Trainer::<f32>::new(&config, Arc::clone(&rows), None).unwrap();
        let params: Vec<f32> = (0..=cols).map(|k| 0.7 / (k + 1) as f32 - 0.2).collect();
        same(method, |context| {
            let mut objective = GpuObjective::of(context, &trainer).unwrap();
            let mut grad = vec![0.0; cols + 1];
            let value = objective.gradient(&params, &mut grad).unwrap();
            grad.push(value as f32);
            grad
        });
    }
}
