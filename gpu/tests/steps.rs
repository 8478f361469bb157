//! Steps on every Vulkan driver of this machine, against their mirror.

mod common;
#[path = "mirror/step/mod.rs"]
mod mirror;
#[path = "common/runs.rs"]
mod runs;

use common::contexts;
use runs::{DATA, POSITIVES, data, lists, numbers, pace, spec, start};
use std::collections::BTreeSet;
use std::sync::Arc;
use undercurve::Error;
use undercurve::data::Dataset;
use undercurve::device::{Shape, StepSpec};
use undercurve::registry::{METHODS, OPTIMIZERS};
use undercurve::rng::Rng;
use undercurve::surrogate::{AnySurrogate, SURROGATES};
use undercurve::trainer::{Config, Length, ModelSpec, Trainer};
use undercurve_gpu::kernel::names;
use undercurve_gpu::{Context, DeviceRuns, GpuError};

/// A step of a run on the CPU.
type Mirror = fn(&StepSpec, &[f32], &mut [f32], &[u32], [f32; 2]) -> Result<f32, GpuError>;

/// What makes steps, and its mirror.
struct Engine {
    make: fn(&Context, &Shape, &[f32], usize) -> Result<DeviceRuns, GpuError>,
    mirror: Mirror,
}

const NARROW: Engine = Engine { make: DeviceRuns::new, mirror: mirror::step };
const WIDE: Engine = Engine { make: DeviceRuns::wide, mirror: mirror::wide_step };

/// Runs of a kind on a device: their states, their values, and how far both are from the mirror's: the largest difference
/// over the largest number of its kind, and how many bits differ.
fn compare(context: &Context, engine: &Engine, spec: &StepSpec, runs: usize, steps: usize) -> (f64, usize) {
    let columns = spec.shape.widths[0] as usize;
    let rows = data(columns);
    let mut on_device = (engine.make)(context, &spec.shape, &rows, runs).unwrap();
    let len = spec.shape.list_len();
    // Two seeds, which the runs share in turn.
    let seeds = [lists(spec, len, steps, 0), lists(spec, len, steps, 1)];
    let table: Vec<u32> = (0..runs as u32).map(|run| run % 2.min(runs as u32)).collect();
    let of = |run: usize| {
        let mut numbers = spec.numbers;
        numbers[20] *= 1.0 + run as f32 / 64.0;
        StepSpec { numbers, ..spec.clone() }
    };
    for run in 0..runs {
        on_device.load(run, &start(spec, run), &of(run).numbers).unwrap();
    }
    let paces: Vec<f32> =
        (0..runs).flat_map(|run| (0..steps).flat_map(move |step| pace(spec.shape.rule, run, step))).collect();
    let all = seeds[..runs.min(2)].concat();
    on_device.advance(steps, &all, &table, &paces).unwrap();
    let mut states = vec![0.0; runs * spec.shape.state as usize];
    on_device.states(&mut states).unwrap();
    let values = on_device.values().unwrap();
    let (mut worst, mut bits) = (0.0f64, 0);
    for run in 0..runs {
        let (own, mut state, mut value) = (of(run), start(spec, run), 0.0);
        for (step, list) in seeds[table[run] as usize].chunks_exact(len).enumerate() {
            value = (engine.mirror)(&own, &rows, &mut state, list, pace(spec.shape.rule, run, step)).unwrap();
        }
        let got = &states[run * state.len()..][..state.len()];
        let before = start(spec, run);
        assert!(state.iter().zip(&before).take(spec.shape.params as usize).any(|(a, b)| (a - b).abs() > 1e-3));
        let scale = state[..spec.shape.bank as usize].iter().fold(value.abs(), |m, x| m.max(x.abs()));
        for (a, b) in got.iter().chain([&values[run]]).zip(state.iter().chain([&value])) {
            worst = worst.max(f64::from((a - b).abs() / scale));
            assert!(a.is_finite() && b.is_finite());
            bits += usize::from(a.to_bits() != b.to_bits());
        }
    }
    (worst, bits)
}

/// Bits are equal where neither rounds otherwise: no exp, and nothing contracted to a fused multiply-add, which WGSL allows.
/// The software drivers contract nothing.
fn same_bits(context: &Context, engine: &Engine, spec: &StepSpec, runs: usize, steps: usize) {
    let (worst, bits) = compare(context, engine, spec, runs, steps);
    let Shape { widths, objective, rule, .. } = &spec.shape;
    let name = context.name();
    println!("{name}: {widths:?} {objective} {rule}: {bits} numbers differ, by {worst:.1e}");
    assert!(
        bits == 0 || !context.is_software() && worst < 1e-4,
        "{name}: {widths:?} {objective} {rule}: {bits}, {worst:e}"
    );
}

#[test]
fn hinge_steps_have_the_bits_of_their_mirror() {
    for context in contexts() {
        same_bits(&context, &NARROW, &spec(&[9, 1], 37, None, "soap", "adam"), 3, 25);
        let network = spec(&[33, 20, 70, 1], 63, Some(56), "soap", "adam");
        same_bits(&context, &NARROW, &network, 3, 25);
        // The start lies behind the slots, and before what another objective of the run has there.
        let mut pulled = spec(&[5, 1], 512, Some(450), "auc-pairwise", "momentum");
        let Shape { params, bank, state, .. } = pulled.shape;
        let end = state + params + 70;
        pulled.shape = Shape { pull: Some(bank), bank: end, state: end, ..pulled.shape };
        pulled.numbers[7] = 0.5;
        same_bits(&context, &NARROW, &pulled, 2, 9);
    }
}

#[test]
fn every_rule_has_the_bits_of_its_mirror() {
    for context in contexts() {
        for rule in ["sgd", "amsgrad", "adagrad"] {
            same_bits(&context, &NARROW, &spec(&[13, 1], 40, Some(31), "auc-pairwise", rule), 2, 20);
        }
        for rule in ["ppd-sg", "ppd-adagrad", "pesg"] {
            let objective = if rule == "pesg" { "auc-margin" } else { "auc-min-max" };
            same_bits(&context, &NARROW, &spec(&[13, 1], 40, Some(31), objective, rule), 2, 20);
        }
    }
}

/// Beside 64 rows and columns, 1024 rows, 16 strands and 64 pairs, and beyond them.
#[test]
fn wide_steps_have_the_bits_of_their_mirror() {
    for context in contexts() {
        let same = |spec: &StepSpec, runs, steps| same_bits(&context, &WIDE, spec, runs, steps);
        same(&spec(&[9, 1], 37, None, "soap", "adam"), 2, 9);
        same(&spec(&[33, 65, 128, 1], 1024, Some(960), "soap", "adam"), 1, 2);
        same(&spec(&[70, 64, 1], 1300, Some(1250), "auc-pairwise", "amsgrad"), 2, 2);
        same(&spec(&[20, 17, 1], 2100, None, "auc-min-max", "ppd-sg"), 1, 2);
    }
}

#[test]
fn partial_auc_and_anchors_have_the_bits_of_their_mirror() {
    for context in contexts() {
        for objective in ["pauc-minibatch", "pauc-threshold", "sopa"] {
            let spec = spec(&[5, 1], 40, Some(31), objective, "sgd");
            let shape = Shape { surrogate: "hinge", ..spec.shape.clone() };
            same_bits(&context, &NARROW, &StepSpec { shape, ..spec }, 2, 25);
        }
        let dual = spec(&[5, 1], 40, Some(31), "pauc-dual", "dca");
        let shape = Shape { surrogate: "hinge", ..dual.shape.clone() };
        same_bits(&context, &NARROW, &StepSpec { shape, ..dual }, 2, 25);
        same_bits(&context, &NARROW, &spec(&[5, 1], 41, Some(30), "min-max-ap", "momentum"), 2, 25);
    }
}

/// exp of a driver is off by some units in the last place (WGSL allows 3 + 2|x|), as much in each step.
const EXP: f64 = 1e-5;

#[test]
fn steps_with_exp_are_near_their_mirror() {
    for context in contexts() {
        let of = |objective, surrogate, sigmoid, widths: &[u32]| {
            // (Larger steps than these would make rounding errors larger in each.)
            let rule = match objective {
                "fast-ap" => "momentum",
                "sorr" => "dca",
                _ => "sgd",
            };
            let spec = spec(widths, 40, Some(30), objective, rule);
            StepSpec { shape: Shape { surrogate, sigmoid, tanh: true, ..spec.shape }, ..spec }
        };
        for spec in [
            of("soap", "sigmoid", true, &[6, 5, 1]),
            of("smooth-ap", "sigmoid", true, &[6, 5, 1]),
            of("cross-entropy", "", false, &[6, 1]),
            of("focal", "", false, &[6, 1]),
            of("sopa-s", "sigmoid", false, &[6, 1]),
            of("sota-s", "sigmoid", false, &[6, 1]),
            of("ldam", "", false, &[6, 1]),
            of("fast-ap", "", true, &[6, 1]),
            of("sorr", "", false, &[6, 1]),
        ] {
            let (worst, _) = compare(&context, &NARROW, &spec, 2, 15);
            println!("{}: {}: {worst:.1e}", context.name(), spec.shape.objective);
            assert!(worst < EXP, "{}: {:?}: {worst:e}", context.name(), spec.shape);
        }
    }
}

/// ℓ and ℓ' at margin 1, or scale 1.
fn twin(name: &str, t: f64) -> (f64, f64) {
    let d = (1.0 - t).max(0.0);
    let s = 1.0 / (1.0 + t.exp());
    match name {
        "square" => ((1.0 - t).powi(2), -2.0 * (1.0 - t)),
        "squared-hinge" => (d * d, -2.0 * d),
        "hinge" => (d, if t < 1.0 { -1.0 } else { 0.0 }),
        "logistic" => ((-t).exp().ln_1p(), -s),
        "sigmoid" => (s, -s * (1.0 - s)),
        "exponential" => ((-t).exp(), -(-t).exp()),
        "smoothed-hinge" if d < 1.0 => (d * d / 2.0, -d),
        "smoothed-hinge" => (d - 0.5, -1.0),
        "ramp" => (d.min(1.0), if t > 0.0 && t < 1.0 { -1.0 } else { 0.0 }),
        other => panic!("no twin of {other}"),
    }
}

/// Of a model with one weight, which is 1, and no bias the scores are the rows; a step of gradient descent tells the mean of the losses and of their
/// slopes.
#[test]
fn every_surrogate_is_its_formula_and_near_its_mirror() {
    const RATE: f32 = 64.0;
    let rows = data(1);
    for context in contexts() {
        for (engine, (&(name, _, param), large)) in [NARROW, WIDE]
            .iter()
            .flat_map(|engine| SURROGATES.iter().flat_map(move |of| [(engine, (of, false)), (engine, (of, true))]))
        {
            let (count, negatives) = if large { (500, 460) } else { (40, 31) };
            let mut spec = spec(&[1, 1], count, Some(negatives), "auc-pairwise", "sgd");
            spec.shape.surrogate = name;
            spec.numbers[0] = 0.0;
            spec.numbers[20..22].copy_from_slice(&AnySurrogate::by_name(name, param as f32).unwrap().numbers());
            let list = lists(&spec, spec.shape.list_len(), 1, 0);
            let mut on_device = (engine.make)(&context, &spec.shape, &rows, 1).unwrap();
            on_device.load(0, &[1.0, 0.0], &spec.numbers).unwrap();
            on_device.advance(1, &list, &[0], &[RATE, 0.0]).unwrap();
            let (low, high) = list[1..=count as usize].split_at(negatives as usize);
            let (mut value, mut slope, mut terms) = (0.0, 0.0, 0.0);
            for (&i, &j) in high.iter().flat_map(|i| low.iter().map(move |j| (i, j))) {
                // The margin is the f32 difference: at a kink its side is what counts.
                let margin = f64::from(rows[i as usize] - rows[j as usize]);
                let (own, by) = twin(name, margin);
                (value, slope, terms) = (value + own, slope + by * margin, terms + (by * margin).abs());
            }
            let pairs = (low.len() * high.len()) as f64;
            let got = [on_device.values().unwrap()[0], (1.0 - on_device.state(0).unwrap()[0]) / RATE].map(f64::from);
            for (got, [want, scale]) in
                got.into_iter().zip([[value, value], [slope, terms]].map(|of| of.map(|x| x / pairs)))
            {
                assert!((got - want).abs() < 3e-6 * scale, "{}: {name}: {got} is not {want}", context.name());
            }
            let (worst, _) = compare(&context, engine, &spec, 1, 3);
            assert!(worst < 2e-6, "{}: {name} is {worst:e} from its mirror", context.name());
        }
    }
}

#[test]
fn reports_are_those_of_the_runs_as_they_were() {
    let each = |context| [[9, 1].as_slice(), &[9, 20, 1]].map(|widths| (context, widths));
    for (context, widths) in contexts().iter().flat_map(each) {
        let spec = spec(widths, 37, None, "auc-pairwise", "sgd");
        let rows = data(9);
        let mut on_device = DeviceRuns::new(context, &spec.shape, &rows, 2).unwrap();
        assert!(on_device.begin_report().is_err(), "there are no rows to score");
        // More than a block, and no whole number of them.
        let test = numbers(&mut Rng::keyed(9, 0, 0), 100 * 9, 0.0);
        on_device.test(&test).unwrap();
        assert_eq!(on_device.wait_for_report().unwrap(), None);
        let mut states: Vec<_> = (0..2).map(|run| start(&spec, run)).collect();
        for (run, state) in states.iter().enumerate() {
            on_device.load(run, state, &spec.numbers).unwrap();
        }
        assert!(on_device.begin_report().unwrap());
        let before: Vec<f32> =
            states.iter_mut().flat_map(|state| mirror::scores(&spec, &test, state).unwrap()).collect();
        let list = lists(&spec, spec.shape.list_len(), 30, 0);
        on_device.advance(30, &list, &[0; 2], &[0.1; 120]).unwrap();
        assert!(on_device.begin_report().unwrap());
        assert!(!on_device.begin_report().unwrap(), "two are on their way");
        let got = on_device.wait_for_report().unwrap().unwrap();
        assert!(got.iter().zip(&before).all(|(a, b)| (a - b).abs() < 1e-5));
        for (run, state) in states.iter_mut().enumerate() {
            *state = on_device.state(run).unwrap();
        }
        let after: Vec<f32> =
            states.iter_mut().flat_map(|state| mirror::scores(&spec, &test, state).unwrap()).collect();
        // By now it has arrived.
        let got = on_device.report().unwrap().unwrap();
        assert!(got.iter().zip(&after).all(|(a, b)| (a - b).abs() < 1e-5));
        assert!(before.iter().zip(&after).any(|(a, b)| (a - b).abs() > 1e-2));
        assert_eq!(on_device.report().unwrap(), None);
    }
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    for context in contexts() {
        let good = spec(&[9, 1], 37, Some(30), "soap", "adam");
        let rows = data(9);
        let refused = |shape: Shape, rows: &[f32], runs| DeviceRuns::new(&context, &shape, rows, runs).unwrap_err();
        let limit = |what, need, got| GpuError::Limits { what, need, got };
        let shape = &good.shape;
        assert_eq!(refused(shape.clone(), &rows, 1025), limit("runs", 1025, 1024));
        let large = spec(&[9, 1], 513, None, "soap", "adam").shape;
        assert_eq!(refused(large, &rows, 1), limit("rows of a batch", 513, 512));
        let gates = spec(&[9, 3000, 1], 37, Some(30), "sopa", "adam").shape;
        let what = "the objective \"sopa\" over many workgroups".to_string();
        assert_eq!(DeviceRuns::wide(&context, &gates, &rows, 1).unwrap_err(), GpuError::NoKernel { what });
        // What does not spread is one workgroup's, however large.
        assert!(DeviceRuns::suited(&context, &gates, &rows, 1).is_ok());
        for (what, shape) in [
            ("the objective \"ap\"", Shape { objective: "ap", ..shape.clone() }),
            ("the surrogate \"\"", Shape { surrogate: "", ..shape.clone() }),
            ("the rule \"lbfgs\"", Shape { rule: "lbfgs", ..shape.clone() }),
        ] {
            assert_eq!(refused(shape, &rows, 1), GpuError::NoKernel { what: what.to_string() });
        }
        assert!(matches!(refused(Shape { params: 9, ..shape.clone() }, &rows, 1), GpuError::NoKernel { .. }));
        let wide = spec(&[9, 900, 1], 512, Some(400), "soap", "adam").shape;
        assert!(matches!(refused(wide, &rows, 1024), GpuError::TooLarge { what: "activations", .. }));
        let deep = spec(&[9, 3000, 3000, 1], 512, Some(400), "soap", "adam").shape;
        assert!(matches!(refused(deep, &rows, 1), GpuError::Limits { what: "loop rounds of a step", .. }));
        assert!(matches!(refused(shape.clone(), &rows[1..], 1), GpuError::Core(Error::Length { what: "rows", .. })));
        let mut odd = rows.clone();
        odd[7] = f32::NAN;
        assert_eq!(refused(shape.clone(), &odd, 1), Error::NonFinite { what: "rows", at: 7 }.into());

        let mut on_device = DeviceRuns::new(&context, shape, &rows, 2).unwrap();
        let (state, len) = (start(&good, 0), shape.list_len());
        assert_eq!(on_device.load(2, &state, &good.numbers), Err(Error::Index { what: "run", at: 2, len: 2 }.into()));
        assert!(matches!(on_device.load(0, &state[1..], &good.numbers), Err(GpuError::Core(Error::Length { .. }))));
        on_device.load(0, &state, &good.numbers).unwrap();
        let list = lists(&good, len, 1, 0);
        for (at, value, what) in [(0, 31, "negatives"), (1, DATA, "rows"), (len - 1, POSITIVES, "slots")] {
            let mut list = list.clone();
            list[at] = value;
            let error = on_device.advance(1, &list, &[0; 2], &[0.1; 4]).unwrap_err();
            assert!(
                matches!(error, GpuError::Core(Error::Index { what: of, at: place, .. }) if of == what && place == at)
            );
        }
        assert!(matches!(
            on_device.advance(1, &list, &[0, 1], &[0.1; 4]),
            Err(GpuError::Core(Error::Length { what: "lists", .. }))
        ));
        assert!(on_device.advance(1, &list, &[0; 2], &[f32::NAN; 4]).is_err());
        // Nothing of that was done.
        assert_eq!(on_device.state(0).unwrap(), state);
    }
}

#[test]
fn a_lost_device_is_an_error() {
    for context in contexts() {
        let spec = spec(&[9, 1], 37, Some(30), "auc-pairwise", "sgd");
        let mut on_device = DeviceRuns::new(&context, &spec.shape, &data(9), 1).unwrap();
        on_device.test(&data(9)).unwrap();
        let list = lists(&spec, spec.shape.list_len(), 1, 0);
        context.device().destroy();
        let _ = on_device.advance(1, &list, &[0], &[0.1, 0.0]);
        assert!(matches!(on_device.values(), Err(GpuError::Lost { .. })));
        assert!(on_device.advance(1, &list, &[0], &[0.1, 0.0]).is_err());
        assert!(on_device.begin_report().is_err());
        assert!(on_device.report().is_err());
    }
}

/// A recipe of the core without a kernel, or a kernel that no method asks for, is a name that one side has forgotten.
#[test]
fn every_recipe_has_a_kernel_and_every_kernel_a_recipe() {
    let labels: Vec<u8> = (0..60).map(|row| u8::from(row % 4 == 0)).collect();
    let data = Arc::new(Dataset::dense(data(1)[..60].to_vec(), labels, 1).unwrap());
    let mut asked = [BTreeSet::new(), BTreeSet::new()];
    let rules = OPTIMIZERS.iter().map(|of| Some(("optimizer", of.name))).chain([None]);
    for (method, rule) in METHODS.iter().flat_map(|method| rules.clone().map(move |rule| (method, rule))) {
        // (Of pre-training, and of its own steps.)
        for pretrain in [None, Some(("pretrain", "0"))] {
            let settings = rule.into_iter().chain(pretrain);
            let settings = settings.map(|(name, value)| (name.into(), value.into())).collect();
            let config =
                Config { method: method.name.into(), length: Length::Steps(60), settings, ..Config::default() };
            // (Not every method has these settings, or a rule of its choice.)
            let Ok(trainer) = Trainer::<f32>::new(&config, Arc::clone(&data), None) else { continue };
            if let Ok(StepSpec { shape, .. }) = trainer.step_spec() {
                assert_eq!(DeviceRuns::read(&shape.to_string()), Ok(shape.clone()), "{}", method.name);
                asked[0].insert(shape.objective);
                asked[1].insert(shape.rule);
            }
        }
    }
    assert_eq!(asked, names().map(BTreeSet::from_iter));
    let text = Shape { objective: "ap", ..spec(&[9, 1], 37, None, "soap", "adam").shape }.to_string();
    assert_eq!(DeviceRuns::read(&text), Err(Error::Param { what: "shape" }.into()));
}

/// Sums in another order, and in f32 where the core has some in f64.
const CORE: f64 = 1e-5;

#[test]
fn steps_are_those_of_the_core() {
    let rows = data(6);
    let labels: Vec<u8> = (0..DATA).map(|row| u8::from(row < POSITIVES)).collect();
    let data = Arc::new(Dataset::dense(rows.clone(), labels, 6).unwrap());
    for context in contexts() {
        for (method, model, settings) in [
            (
                "soap",
                "mlp:7",
                &[("optimizer", "adam"), ("eps", "0.001"), ("surrogate", "squared-hinge"), ("pretrain", "0")][..],
            ),
            (
                "auc-pairwise",
                "linear",
                &[("optimizer", "amsgrad"), ("eps", "0.001"), ("decay", "0.01"), ("pretrain", "0")],
            ),
            ("smooth-ap", "linear", &[("optimizer", "momentum"), ("pretrain", "0")]),
            ("ce-balanced", "linear", &[("optimizer", "adagrad"), ("sampling", "uniform")]),
            ("focal", "linear", &[("optimizer", "sgd"), ("pretrain", "0")]),
            ("auc-margin", "linear", &[("pretrain", "0")]),
            ("ldam", "linear", &[("optimizer", "momentum"), ("defer", "20"), ("pretrain", "0")]),
            ("fast-ap", "linear", &[("optimizer", "momentum"), ("pretrain", "0")]),
            ("min-max-ap", "linear", &[("optimizer", "momentum"), ("pretrain", "0")]),
            ("proximal-dca", "linear", &[("stage", "100"), ("lr", "0.1"), ("surrogate", "hinge"), ("pretrain", "0")]),
            ("sorr", "linear", &[("stage", "100"), ("pretrain", "0")]),
            // (Of a steep loss the last bit says whether a pair at the end of the range is in it.)
            ("pauc-minibatch", "linear", &[("optimizer", "momentum"), ("scale", "5"), ("pretrain", "0")]),
            ("pauc-threshold", "linear", &[("optimizer", "momentum"), ("scale", "5"), ("pretrain", "0")]),
            ("sopa", "linear", &[("optimizer", "momentum"), ("scale", "5"), ("pretrain", "0")]),
            ("sopa-s", "linear", &[("optimizer", "momentum"), ("pretrain", "0")]),
            ("sota-s", "mlp:7", &[("optimizer", "momentum"), ("pretrain", "0")]),
            ("ppd-sg", "linear", &[("pretrain", "0"), ("stage", "100")]),
            ("ppd-adagrad", "linear", &[("pretrain", "0"), ("stage", "100")]),
        ] {
            let settings = settings.iter().map(|&(name, value)| (name.to_string(), value.to_string())).collect();
            let model = ModelSpec::parse(model).unwrap();
            let config =
                Config { method: method.into(), model, length: Length::Steps(40), settings, ..Config::default() };
            let mut core = Trainer::<f32>::new(&config, data.clone(), None).unwrap();
            let mut own = core.clone();
            core.step().unwrap();
            own.step().unwrap();
            let spec = own.step_spec().unwrap();
            let mut on_device = DeviceRuns::new(&context, &spec.shape, &rows, 1).unwrap();
            on_device.load(0, own.state().unwrap(), &spec.numbers).unwrap();
            let len = spec.shape.list_len();
            let (mut list, mut pace) = (vec![0; 30 * len], [[0.0; 2]; 30]);
            let made = own.draw(&mut list, &mut pace).unwrap();
            assert!(made >= 10, "{method}: {made}");
            on_device.advance(made, &list[..made * len], &[0], pace[..made].as_flattened()).unwrap();
            let mut value = 0.0;
            (0..made).for_each(|_| value = core.step().unwrap().unwrap());
            let (got, want) = (on_device.state(0).unwrap(), core.state().unwrap());
            // (Counts of steps are in some states.)
            let scale = want[..spec.shape.bank as usize].iter().fold(0.0f32, |m, x| m.max(x.abs()));
            let off = got.iter().zip(want).fold(0.0, |m: f32, (a, b)| m.max((a - b).abs() / scale));
            let value_off = (f64::from(on_device.values().unwrap()[0]) - value).abs() / value.abs().max(1e-3);
            println!("{}: {method}: {off:.1e}, value {value_off:.1e}", context.name());
            assert!(f64::from(off) < CORE && value_off < CORE, "{}: {method}: {off:e}, {value_off:e}", context.name());
        }
    }
}
