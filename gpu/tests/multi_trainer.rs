//! Trainers side by side on every Vulkan driver of this machine, against the same trainers on the CPU.

mod common;

use common::contexts;
use std::sync::Arc;
use undercurve::Error;
use undercurve::data::{Dataset, Rows};
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Init, Length, ModelSpec, Trainer};
use undercurve_gpu::{Context, GpuError, MultiTrainer};

const COLUMNS: usize = 6;

/// Two normal clouds, one row in eight positive.
fn data(rows: usize) -> Arc<Dataset<f32>> {
    data_of(rows, 11)
}

fn data_of(rows: usize, seed: u64) -> Arc<Dataset<f32>> {
    let mut rng = Rng::new(seed);
    let labels: Vec<u8> = (0..rows).map(|row| u8::from(row % 8 == 3)).collect();
    let mut x = Vec::new();
    for &label in &labels {
        x.extend((0..COLUMNS).map(|k| (rng.normal() + if k < 3 { 0.5 * f64::from(label) } else { 0.0 }) as f32));
    }
    Arc::new(Dataset::dense(x, labels, COLUMNS).unwrap())
}

fn config(method: &str, model: &str, settings: &[(&str, &str)], steps: u64, seed: u64) -> Config {
    let mut config = Config { method: method.into(), length: Length::Steps(steps), seed, ..Config::default() };
    config.model = ModelSpec::parse(model).unwrap();
    // (Runs that begin otherwise are of other shapes, and seeds may choose otherwise; cross-entropy stands for the pull.)
    config.init = if method == "ce" && model.starts_with("mlp:") { Init::Linear } else { Init::Random };
    config.settings = settings.iter().map(|&(name, value)| (name.into(), value.into())).collect();
    config
}

/// Largest |a − b| over the largest |b|.
fn apart(a: &[f32], b: &[f32]) -> f64 {
    let scale = b.iter().fold(1e-30f64, |m, &x| m.max(f64::from(x).abs()));
    a.iter().zip(b).fold(0.0, |m, (&a, &b)| m.max(f64::from(a - b).abs() / scale))
}

/// The parameters of a run whose points are moved by one unit in the last place before every step. In networks a ReLU that turns
/// over in one run and not in the other makes more of that than the sums of f32 against those of f64 do: Adam 5e-3 of 6e-8.
fn nudged(mut trainer: Trainer<f32>) -> Vec<f32> {
    let mut step = 0;
    while !trainer.is_done() {
        let shape = trainer.step_spec().unwrap().shape;
        let mut state = trainer.state().unwrap().to_vec();
        for (at, w) in state[..shape.slots as usize].iter_mut().enumerate() {
            *w *= if (7 * at + step).is_multiple_of(3) { 1.0 + f32::EPSILON } else { 1.0 - f32::EPSILON / 2.0 };
        }
        let value = trainer.value().unwrap();
        trainer.set_state(&state, value).unwrap();
        trainer.step().unwrap();
        step += 1;
    }
    trainer.params().to_vec()
}

/// What 1000 steps make of roundings of 6e-8 differs from method to method. DeviceRuns may be as far from the core's f32 as that
/// is from its f64, or of networks from a [nudged] run, times this, over all seeds; and this far in any case.
const TIMES: f64 = 4.0;
const LEAST: f64 = 2e-5;

/// Trains seeds side by side and one by one, and compares; then each goes on from what the other saved.
fn compare(context: &Context, steps: u64, (method, model, settings, seeds): (&str, &str, &[(&str, &str)], u64)) -> f64 {
    let data = data(600);
    let Rows::Dense { data: x, .. } = data.rows() else { unreachable!() };
    let exact: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
    let exact = Arc::new(Dataset::dense(exact, data.labels().to_vec(), COLUMNS).unwrap());
    let what = format!("{method} {model} {settings:?}");
    let of =
        |seed| Trainer::<f32>::new(&config(method, model, settings, steps, seed), Arc::clone(&data), None).unwrap();
    let mut multi = MultiTrainer::new(context, (1..=seeds).map(of).collect()).unwrap();
    let (mut worst, mut rounding) = (0.0f64, 0.0f64);
    for _ in 0..4 {
        multi.advance(steps / 4);
        assert!(multi.failure().is_none(), "{what}: {:?}", multi.failure());
        multi.sync();
    }
    assert!(multi.is_done(), "{what}");
    for (trainer, seed) in multi.into_trainers().iter_mut().zip(1..) {
        let mut core = of(seed);
        core.run().unwrap();
        assert_eq!((trainer.steps_done(), trainer.batch_index()), (core.steps_done(), core.batch_index()), "{what}");
        let mut exact =
            Trainer::<f64>::new(&config(method, model, settings, steps, seed), Arc::clone(&exact), None).unwrap();
        exact.run().unwrap();
        let exact: Vec<f32> = exact.params().iter().map(|&w| w as f32).collect();
        rounding = rounding.max(apart(core.params(), &exact));
        if model != "linear" {
            rounding = rounding.max(apart(core.params(), &nudged(of(seed))));
        }
        let off = apart(trainer.params(), core.params());
        assert!(core.params().iter().any(|&w| w.abs() > 1e-3), "{what}: nothing was learned");
        worst = worst.max(off);
        let own = Trainer::<f32>::load(&trainer.save(), Arc::clone(&data), None).unwrap();
        assert!(own.save() == trainer.save(), "{what}");
    }
    println!("{what}: {worst:.1e}, rounding {rounding:.1e}");
    assert!(worst < LEAST.max(TIMES * rounding), "{what}: {worst:.1e}, rounding {rounding:.1e}");
    worst
}

#[test]
fn runs_side_by_side_are_those_of_the_cpu() {
    for context in contexts() {
        let mut worst = Vec::new();
        for case in [
            ("soap", "linear", &[("surrogate", "squared-hinge")][..], 64),
            ("soap", "mlp:8,5", &[("surrogate", "squared-hinge")], 3),
            ("auc-pairwise", "linear", &[("optimizer", "momentum")], 3),
            ("auc-margin", "linear", &[("stage", "90")], 3),
            ("ppd-sg", "linear", &[("stage", "50")], 3),
            ("ce", "linear", &[("optimizer", "adagrad"), ("sampling", "uniform"), ("batch", "40")], 3),
        ] {
            let off = compare(&context, 200, case);
            worst.push(format!("{} {off:.0e}", case.0));
        }
        println!("{}: {}", context.name(), worst.join(", "));
    }
}

/// From every start, before, over and after the end of pre-training, side by side on data sets of two sizes: after three steps a run is
/// where it is on the CPU. Of the methods those whose own state differs in kind; in the long tier all that a device can train.
#[test]
fn every_start_of_every_method_is_that_of_the_cpu() {
    let sets = [data_of(300, 11), data_of(240, 5)];
    let metrics = |mut trainer: Trainer<f32>| trainer.report().unwrap().train.get("ap").unwrap();
    const FEW: [&str; 6] = ["ce", "soap", "sota-s", "pauc-threshold", "ppd-sg", "sorr"];
    let all = std::env::var_os("UNDERCURVE_LONG").is_some();
    let inits = [("linear random", &["0", "2"][..]), ("mlp:3 random", &["0", "2"]), ("mlp:3 linear", &["0", "2", "9"])];
    let starts =
        || inits.into_iter().flat_map(|(init, pretrain)| pretrain.iter().map(move |&pretrain| (init, pretrain)));
    for context in contexts() {
        let (mut cells, mut worst, mut refused) = (0, 0.0f64, Vec::new());
        for method in
            undercurve::registry::METHODS.iter().map(|method| method.name).filter(|name| all || FEW.contains(name))
        {
            for (init, pretrain) in starts() {
                let what = format!("{method} {init} pretrain={pretrain}");
                let (model, start) = init.split_once(' ').unwrap();
                // (Of rounding alone, as of a bias where pairs count, Adam makes whole steps. Some have a rule of their own, or no pre-training.)
                let settings = [("pretrain", pretrain), ("optimizer", "sgd")];
                let of = |set: usize| {
                    let given = [&settings[..], &settings[..1], &settings[1..], &[]].into_iter();
                    let given = given.filter(|given| pretrain == "0" || given.contains(&settings[0]));
                    given
                        .map(|given| {
                            let mut config = config(method, model, given, 12, 7);
                            config.init = if start == "linear" { Init::Linear } else { Init::Random };
                            Trainer::<f32>::new(&config, Arc::clone(&sets[set]), None)
                        })
                        .find_map(Result::ok)
                        .ok_or(())
                };
                let (Ok(one), Ok(two)) = (of(0), of(1)) else { continue };
                if let Err(error) = MultiTrainer::able(&one) {
                    refused.push(format!("{what}: {error}"));
                    continue;
                }
                let mut multi = MultiTrainer::new(&context, vec![one, two]).unwrap();
                // (Of ranked ranges the first steps are the core's.)
                let mut steps = 0;
                while steps < 3 || multi.made() == 0 {
                    multi.advance(3);
                    steps += 3;
                    assert!(multi.failure().is_none() && steps <= 12, "{what}: {:?}", multi.failure());
                }
                for (set, mut trainer) in multi.into_trainers().into_iter().enumerate() {
                    let mut core = of(set).unwrap();
                    (0..steps).for_each(|_| {
                        core.step().unwrap();
                    });
                    let from = core.step_spec().unwrap().shape.slots as usize;
                    let off = apart(&trainer.state().unwrap()[from..], &core.state().unwrap()[from..]);
                    assert!(off < 0.05, "{what}, set {set}: states {off:.1e}"); // (tails of scores that nearly tie)
                    // (Where pairs alone count the bias has no gradient but rounding, of which Adam makes whole steps.)
                    let [device, cpu] = [&mut trainer, &mut core].map(|trainer| {
                        let mut scores = vec![0.0; sets[set].len()];
                        trainer.score(sets[set].rows(), &mut scores).unwrap();
                        let mean = scores.iter().sum::<f32>() / scores.len() as f32;
                        scores.iter().map(|score| score - mean).collect::<Vec<_>>()
                    });
                    let off = apart(&device, &cpu);
                    worst = worst.max(off);
                    assert!(off < 1e-3, "{what}, set {set}: {off:.1e}");
                    let (device, cpu) = (metrics(trainer), metrics(core));
                    assert!((device - cpu).abs() < 1e-6, "{what}, set {set}: AP {device} against {cpu}");
                }
                cells += 1;
            }
        }
        println!("{}: {cells} runs alike, {worst:.1e} apart at most; refused: {refused:#?}", context.name());
        assert!(cells >= if all { 130 } else { 30 }, "{cells}");
    }
}

/// Batches that no workgroup holds, and few runs of a large model, take all of the device for each step.
#[test]
fn large_steps_are_those_of_the_cpu() {
    for context in contexts() {
        let wide: [(&str, &str); 2] = [("negatives", "450"), ("positives", "75")];
        compare(&context, 8, ("soap", "mlp-tanh:20", &wide, 2));
        compare(&context, 8, ("ppd-sg", "mlp:64,70", &[("sampling", "uniform"), ("batch", "200"), ("stage", "5")], 1));
    }
}

/// Every method that a device can train, with every rule, 64 seeds of a linear model and four of a network: many minutes.
#[test]
fn so_it_is_with_every_method_and_rule_for_a_thousand_steps() {
    if std::env::var_os("UNDERCURVE_LONG").is_none() {
        return undercurve_tests::skipped("the long tier (UNDERCURVE_LONG=1)");
    }
    for context in contexts() {
        for method in ["dca", "proximal-dca", "sorr"] {
            compare(&context, 1000, (method, "linear", &[], 8));
        }
        for method in ["ldam", "fast-ap", "min-max-ap", "pauc-minibatch", "pauc-threshold", "sopa", "sopa-s", "sota-s"]
        {
            for optimizer in ["momentum", "adam"] {
                compare(&context, 1000, (method, "linear", &[("optimizer", optimizer)], 8));
            }
        }
        for method in ["soap", "auc-pairwise", "smooth-ap", "auc-margin", "ce", "ce-balanced", "cb-ce", "focal"] {
            for optimizer in ["sgd", "momentum", "adam", "adam-plain", "amsgrad", "adagrad"] {
                compare(&context, 1000, (method, "linear", &[("optimizer", optimizer), ("lr", "0.003")], 64));
                compare(&context, 1000, (method, "mlp:8,5", &[("optimizer", optimizer), ("lr", "0.003")], 4));
            }
        }
        for method in ["auc-margin", "ppd-sg", "ppd-adagrad"] {
            compare(&context, 1000, (method, "linear", &[("stage", "70")], 64));
        }
    }
}

/// Runs of several data sets, of which one has more positives: each has the bits that it has alone, all are made by the pipelines of one,
/// and so are the dispatches.
#[test]
fn rows_of_their_own_go_side_by_side() {
    let splits: Vec<_> = [300, 300, 420, 260].into_iter().zip(1..).map(|(rows, seed)| data_of(rows, seed)).collect();
    for context in contexts() {
        for (method, settings) in [
            ("soap", &[("surrogate", "squared-hinge"), ("pretrain", "20")][..]),
            ("sota-s", &[("pretrain", "20")]),
            ("dca", &[("pretrain", "0"), ("stage", "30")]),
            ("pauc-threshold", &[("pretrain", "20")]),
            ("ce", &[("sampling", "uniform"), ("batch", "40")]),
        ] {
            let of = |at: usize| {
                let config = config(method, "linear", settings, 90, at as u64);
                Trainer::<f32>::new(&config, Arc::clone(&splits[at / 2]), None).unwrap()
            };
            // (Pieces of the same steps; how many a dispatch makes is a matter of time, so that they are few.)
            let run = |ats: &[usize]| {
                let before = context.given();
                let mut multi = MultiTrainer::new(&context, ats.iter().map(|&at| of(at)).collect()).unwrap();
                (0..9).for_each(|_| multi.advance(10));
                let saved: Vec<_> = multi.sync().into_iter().map(|trainer| trainer.save()).collect();
                assert!(multi.failure().is_none() && multi.is_done(), "{method}: {:?}", multi.failure());
                (saved, context.given().pipelines - before.pipelines)
            };
            let (all, pipelines) = run(&[0, 1, 2, 3, 4, 5, 6, 7]);
            for (at, own) in all.iter().enumerate() {
                let (alone, of_one) = run(&[at]);
                assert!(alone[0] == *own, "{}: {method}: run {at}", context.name());
                assert_eq!(pipelines, of_one, "{method}");
            }
            assert!(MultiTrainer::together(&of(0), &of(4)).unwrap());
        }
    }
}

#[test]
fn what_the_cpu_saved_goes_on_side_by_side_and_back() {
    let Some(context) = contexts().into_iter().next() else { return };
    let data = data(300);
    let of = |seed| Trainer::<f32>::new(&config("soap", "linear", &[], 300, seed), Arc::clone(&data), None).unwrap();
    let half = |seed| {
        let mut trainer = of(seed);
        (0..150).for_each(|_| assert!(trainer.step().unwrap().is_some()));
        Trainer::<f32>::load(&trainer.save(), Arc::clone(&data), None).unwrap()
    };
    let mut multi = MultiTrainer::new(&context, (1..=3).map(half).collect()).unwrap();
    multi.advance(100);
    for (trainer, seed) in multi.into_trainers().into_iter().zip(1..) {
        assert_eq!(trainer.steps_done(), 250);
        let mut back = Trainer::<f32>::load(&trainer.save(), Arc::clone(&data), None).unwrap();
        let mut core = of(seed);
        back.run().unwrap();
        core.run().unwrap();
        assert!(apart(back.params(), core.params()) < 1e-3);
    }
}

#[test]
fn a_lost_device_loses_nothing() {
    for context in contexts() {
        let data = data(300);
        // (Plain steps alone from the last look to the loss: what a trainer makes between them brings the states back.)
        let config = |seed| config("soap", "mlp:4", &[("pretrain", "308")], 400, seed);
        let of = |seed| Trainer::<f32>::new(&config(seed), Arc::clone(&data), None).unwrap();
        let mut multi = MultiTrainer::new(&context, (1..=3).map(of).collect()).unwrap();
        multi.advance(150);
        let mut known: Vec<Trainer<f32>> = multi.sync().into_iter().map(|trainer| trainer.clone()).collect();
        multi.advance(50);
        context.device().destroy();
        multi.advance(100);
        let now: Vec<Vec<u8>> = multi.sync().into_iter().map(|trainer| trainer.save()).collect();
        assert!(matches!(multi.failure(), Some(GpuError::Lost { .. })), "{:?}", multi.failure());
        // The steps since are those that the CPU makes, to the bit.
        for (known, now) in known.iter_mut().zip(&now) {
            (0..150).for_each(|_| assert!(known.step().unwrap().is_some()));
            assert!(known.save() == *now);
        }
        // Another device takes over once.
        let Some(other) = contexts().into_iter().next() else { return };
        multi.renew(&other);
        assert!(multi.failure().is_none());
        multi.advance(1000);
        multi.sync();
        assert!(multi.failure().is_none() && multi.is_done());
    }
}

#[test]
fn what_cannot_go_side_by_side_is_refused() {
    let Some(context) = contexts().into_iter().next() else { return };
    let (small, other) = (data(200), Arc::new(Dataset::dense(vec![0.5; 80], vec![0, 1, 0, 1], 20).unwrap()));
    let of = |method: &str, settings: &[(&str, &str)], data: &Arc<Dataset<f32>>| {
        Trainer::<f32>::new(&config(method, "linear", settings, 50, 1), Arc::clone(data), None).unwrap()
    };
    let refused = |trainers| MultiTrainer::new(&context, trainers).unwrap_err();
    assert_eq!(refused(vec![]), Error::Empty { what: "runs" }.into());
    assert_eq!(refused(vec![of("soap", &[], &small), of("soap", &[], &other)]), GpuError::Mixed);
    let mixed = vec![of("auc-pairwise", &[], &small), of("auc-pairwise", &[("optimizer", "sgd")], &small)];
    assert_eq!(refused(mixed), GpuError::Mixed);
    let sum = Error::Unsupported { what: "a finite sum elsewhere" };
    assert_eq!(refused(vec![of("ai-sarah", &[], &small)]), sum.into());
}

#[test]
fn a_run_that_fails_stops_alone() {
    let Some(context) = contexts().into_iter().next() else { return };
    let data = data(200);
    let of = |lr: &str| {
        let settings = [("optimizer", "sgd"), ("lr", lr), ("surrogate", "square")];
        Trainer::<f32>::new(&config("auc-pairwise", "linear", &settings, 200, 1), Arc::clone(&data), None).unwrap()
    };
    let mut multi = MultiTrainer::new(&context, vec![of("0.01"), of("1000"), of("0.02")]).unwrap();
    multi.advance(200);
    multi.sync();
    let errors: Vec<bool> = (0..3).map(|run| matches!(multi.error(run), Some(Error::Overflow { .. }))).collect();
    assert_eq!((errors, multi.is_done()), (vec![false, true, false], true));
    let mut trainers = multi.into_trainers();
    assert!(trainers[1].params().iter().all(|w| w.is_finite()));
    for (at, lr) in [(0, "0.01"), (2, "0.02")] {
        let mut core = of(lr);
        core.run().unwrap();
        assert!(apart(trainers[at].params(), core.params()) < 1e-4);
    }
}

/// Nothing that is made for a step stays behind. (Linux tells of memory; minutes.)
#[test]
fn twenty_thousand_steps_leave_nothing_behind() {
    let resident = || -> Option<u64> {
        let text = std::fs::read_to_string("/proc/self/statm").ok()?;
        text.split(' ').nth(1)?.parse().ok()
    };
    if std::env::var_os("UNDERCURVE_LONG").is_none() || resident().is_none() {
        return undercurve_tests::skipped("the long tier (UNDERCURVE_LONG=1)");
    }
    for context in contexts() {
        let data = data(200);
        let of =
            |seed| Trainer::<f32>::new(&config("soap", "linear", &[], 20_000, seed), Arc::clone(&data), None).unwrap();
        let mut multi = MultiTrainer::new(&context, (1..=4).map(of).collect()).unwrap();
        let mut pages = Vec::new();
        while !multi.is_done() {
            multi.advance(1000);
            multi.sync();
            pages.push(resident().unwrap());
        }
        println!("{}: pages {pages:?}", context.name());
        // (Pre-training and the method's own steps have kernels of their own, made by the eighth look.)
        assert!(pages[19] <= pages[9] + 64, "{pages:?}");
    }
}
