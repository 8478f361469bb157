//! What comes back when a driver fails: errors, and no panic.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use undercurve::data::Dataset;
use undercurve::device::Shape;
use undercurve::surrogate::AnySurrogate;
use undercurve::trainer::{Config, Length, Trainer};
use undercurve_gpu::kernel::narrow;
use undercurve_gpu::{Context, DeviceRuns, GpuError, GpuExact, GpuObjective, MultiTrainer, wgpu};
use undercurve_tests::vulkan::FaultLayer;

/// A shape that has a kernel.
fn shape(widths: &[u32], objective: &str, rule: &str) -> Shape {
    narrow::shape(widths, objective, rule).unwrap()
}

/// The first adapter that opens: the layer knows one device at a time.
fn first() -> Option<Context> {
    let adapters = pollster::block_on(wgpu::Instance::default().enumerate_adapters(wgpu::Backends::VULKAN));
    adapters.iter().find_map(|adapter| pollster::block_on(Context::open(adapter)).ok())
}

/// Runs one of the ignored tests below in a process of its own, whose driver has this fault; returns what it printed.
fn child(test: &str, fault: &str, after: u32, layer: &FaultLayer) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    let output = layer.give(&mut command, fault, after).output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{fault} after {after}: {text}");
    text
}

/// The layer, built in a folder of the test's own; `None` where that cannot be or there is no driver.
fn layer(test: &str) -> Option<FaultLayer> {
    if first().is_none() {
        undercurve_tests::skipped("no GPU driver found (on Debian: apt install mesa-vulkan-drivers)");
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&folder).unwrap();
    FaultLayer::build(&folder)
}

#[test]
fn a_lost_device_is_an_error_wherever_it_is_lost() {
    let Some(layer) = layer("lost") else { return };
    for after in waits(&[0, 1, 2, 3, 8]) {
        for (test, fault) in [("sums_until_lost", "lose"), ("sums_until_lost", "stall"), ("wide_until_lost", "lose")] {
            let text = child(test, fault, after, &layer);
            assert!(!text.contains("panicked"), "{fault} after {after}: {text}");
        }
    }
}

/// The waits before a loss: these, or in the long tier every one up to the sixtieth.
fn waits(few: &[u32]) -> Vec<u32> {
    if std::env::var_os("UNDERCURVE_LONG").is_some() { (0..=60).collect() } else { few.to_vec() }
}

/// Trainers whose device is lost are, to the bit, those that went on alone from where they were last brought up to date.
#[test]
fn a_multi_trainer_without_its_device_goes_on() {
    let Some(layer) = layer("multi") else { return };
    for after in waits(&[0, 2, 5, 11]) {
        let text = child("multi_until_lost", "lose", after, &layer);
        assert!(!text.contains("panicked"), "after {after}: {text}");
    }
}

/// A trainer whose objective was evaluated on a device that is lost is where it was, and goes on by itself.
#[test]
fn an_exact_run_without_its_device_goes_on() {
    let Some(layer) = layer("objective") else { return };
    for (fault, after) in [("stall", 3)].into_iter().chain(waits(&[0, 1, 6]).into_iter().map(|after| ("lose", after))) {
        let text = child("objective_until_lost", fault, after, &layer);
        assert!(!text.contains("panicked"), "{fault} after {after}: {text}");
    }
}

#[test]
fn runs_of_a_lost_device_end_with_an_error() {
    let Some(layer) = layer("runs") else { return };
    let ends: Vec<usize> = (0..12)
        .map(|after| {
            let text = child("runs_until_lost", if after % 3 == 2 { "stall" } else { "lose" }, after, &layer);
            assert!(!text.contains("panicked"), "after {after}: {text}");
            text.split("steps: ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap().parse().unwrap()
        })
        .collect();
    // Later faults let more steps through.
    assert!(ends[0] < ends[11], "{ends:?}");
}

#[test]
fn a_shader_that_does_not_build_is_an_error() {
    let Some(layer) = layer("refused") else { return };
    let end = |test, after| {
        let text = child(test, "refuse", after, &layer);
        assert!(!text.contains("panicked"), "after {after}: {text}");
        ["no context", "no kernel", "a kernel"].into_iter().find(|end| text.contains(end)).unwrap()
    };
    // wgpu builds some of its own before ours; when all is built, nothing is refused any more.
    let ends: Vec<_> = (0..10).map(|after| end("until_refused", after)).collect();
    assert!(ends.contains(&"no kernel") && ends.last() == Some(&"a kernel"), "{ends:?}");
    let ends = [12, 19, 40].map(|after| end("sums_until_refused", after));
    assert_eq!(ends, ["no kernel", "no kernel", "a kernel"]);
}

#[test]
#[ignore = "runs with a driver that fails, as a child of the tests above"]
fn multi_until_lost() {
    let labels: Vec<u8> = (0..60).map(|row| u8::from(row % 4 == 0)).collect();
    let x = (0..120).map(|k| (k * 7 % 31) as f32 / 31.0 + f32::from(labels[k / 2])).collect();
    let data = Arc::new(Dataset::dense(x, labels, 2).unwrap());
    let of = |seed| {
        let config = Config { seed, length: Length::Steps(200), ..Config::default() };
        Trainer::<f32>::new(&config, Arc::clone(&data), None).unwrap()
    };
    let trainers: Vec<_> = (1..4).map(of).collect();
    let mut known = trainers.clone();
    let mut multi = match MultiTrainer::new(&first().unwrap(), trainers) {
        Ok(multi) => multi,
        Err(error) => return assert!(matches!(error, GpuError::Lost { .. }), "{error:?}"),
    };
    while !multi.is_done() {
        multi.advance(10);
        let now: Vec<_> = multi.sync().into_iter().map(|trainer| trainer.clone()).collect();
        if let Some(failure) = multi.failure() {
            // (What they were before this is what they went back to.)
            assert!(matches!(failure, GpuError::Lost { .. }), "{failure:?}");
            break;
        }
        known = now;
    }
    let steps = known[0].steps_done();
    multi.advance(200);
    for (mut trainer, mut known) in multi.into_trainers().into_iter().zip(known) {
        known.run().unwrap();
        assert!((trainer.steps_done(), trainer.save()) == (200, known.save()), "from {steps}");
        trainer.report().unwrap();
    }
}

#[test]
#[ignore = "runs with a driver that fails, as a child of the tests above"]
fn objective_until_lost() {
    let labels: Vec<u8> = (0..60).map(|row| u8::from(row % 4 == 0)).collect();
    let x = (0..120).map(|k| (k * 7 % 31) as f32 / 31.0 + f32::from(labels[k / 2])).collect();
    let settings = [("optimizer", "sgd"), ("pretrain", "0")].map(|(name, value)| (name.into(), value.into())).to_vec();
    let config = Config { method: "auc-exact".into(), length: Length::Steps(100), settings, ..Config::default() };
    let mut trainer = Trainer::<f32>::new(&config, Arc::new(Dataset::dense(x, labels, 2).unwrap()), None).unwrap();
    let mut objective = match GpuObjective::of(&first().unwrap(), &trainer) {
        Ok(objective) => objective,
        Err(error) => return assert!(matches!(error, GpuError::Lost { .. }), "{error:?}"),
    };
    let mut known = trainer.clone();
    let failure = loop {
        match objective.step(&mut trainer) {
            Ok(made) => assert!(made, "the device was not lost"),
            Err(failure) => break failure,
        }
        known = trainer.clone();
    };
    assert!(matches!(failure, GpuError::Lost { .. }), "{failure:?}");
    assert!(trainer.save() == known.save());
    // It stays lost.
    assert_eq!(objective.step(&mut trainer), Err(failure));
    trainer.run().unwrap();
    known.run().unwrap();
    assert!((trainer.steps_done(), trainer.save()) == (100, known.save()));
}

#[test]
#[ignore = "runs with a driver that fails, as a child of the tests above"]
fn wide_until_lost() {
    let context = first().unwrap();
    let shape = shape(&[2, 3, 1], "auc-pairwise", "sgd");
    let error = match DeviceRuns::wide(&context, &shape, &[0.25; 6], 1) {
        Err(error) => error,
        Ok(mut on_device) => {
            let mut list = vec![0; shape.list_len()];
            list[0] = 40;
            let mut piece = || {
                on_device.advance(5, &list.repeat(5), &[0], &[0.1; 10])?;
                on_device.values()?;
                on_device.state(0)
            };
            let error = (0..100).find_map(|_| piece().err()).expect("the device was not lost");
            assert_eq!(piece(), Err(error.clone()));
            error
        }
    };
    assert!(matches!(error, GpuError::Lost { .. }), "{error:?}");
}

#[test]
#[ignore = "runs with a driver that fails, as a child of the tests above"]
fn runs_until_lost() {
    let context = first().unwrap();
    let shape = shape(&[2, 1], "auc-pairwise", "sgd");
    let mut on_device = DeviceRuns::new(&context, &shape, &[0.25; 6], 2).unwrap();
    let mut list = vec![0; shape.list_len()];
    list[0] = 40;
    let mut taken = 0;
    let mut piece = |on_device: &mut DeviceRuns| {
        on_device.advance(5, &list.repeat(5), &[0; 2], &[0.1; 20])?;
        on_device.begin_report()?;
        on_device.values()?;
        // One more is left behind from time to time.
        if taken % 2 == 0 {
            on_device.report()?;
        }
        on_device.state(1)?;
        taken += 1;
        Ok::<_, GpuError>(())
    };
    let error = on_device.test(&[0.5; 8]).err();
    let error = error.or_else(|| (0..100).find_map(|_| piece(&mut on_device).err())).expect("the device was not lost");
    assert!(matches!(error, GpuError::Lost { .. }), "{error:?}");
    assert!(matches!(piece(&mut on_device), Err(GpuError::Lost { .. })));
    assert!(on_device.states(&mut [0.0; 6]).is_err() && on_device.wait_for_report().is_err());
    assert!(on_device.load(0, &[0.0; 3], &[0.0; 24]).is_err() && on_device.test(&[0.5; 8]).is_err());
    println!("steps: {taken} ");
}

#[test]
#[ignore = "runs with a driver that fails, as a child of the tests above"]
fn sums_until_lost() {
    let context = first().unwrap();
    let loss = AnySurrogate::by_name("sigmoid", 1.0).unwrap();
    let mut exact = GpuExact::new(&context, 4).unwrap();
    let (scores, labels, mut grad) = ([0.1, -0.3, 0.2, 0.4], [0, 1, 0, 1], [9.0; 4]);
    let mut step = || {
        exact.metrics(&scores, &labels)?;
        let before = grad;
        let result = exact.ap(loss, &scores, &labels, &mut grad);
        assert!(result.is_ok() || grad == before);
        result
    };
    let error = (0..100).find_map(|_| step().err()).expect("the device was not lost");
    assert!(matches!(error, GpuError::Lost { .. }), "{error:?}");
    // It stays lost, for everything that uses it.
    assert_eq!(step(), Err(error.clone()));
    assert_eq!(GpuExact::new(&context, 4).unwrap_err(), error);
}

#[test]
#[ignore = "runs with a driver that fails, as a child of the tests above"]
fn sums_until_refused() {
    let Some(context) = first() else { return println!("no context") };
    let loss = AnySurrogate::by_name("sigmoid", 1.0).unwrap();
    let mut grad = [9.0; 2];
    let sum = |mut exact: GpuExact, grad: &mut [f32]| exact.auc(loss, &[0.5, 0.5], &[0, 1], grad);
    match GpuExact::new(&context, 2).and_then(|exact| sum(exact, &mut grad)) {
        Ok(value) => {
            assert!((value - 0.5).abs() < 1e-6);
            println!("a kernel");
        }
        Err(GpuError::Device { .. } | GpuError::Lost { .. }) => {
            assert_eq!(grad, [9.0; 2]);
            println!("no kernel");
        }
        Err(error) => panic!("{error:?}"),
    }
}

#[test]
#[ignore = "runs with a driver that fails, as a child of the tests above"]
fn until_refused() {
    let Some(context) = first() else { return println!("no context") };
    match DeviceRuns::new(&context, &shape(&[2, 1], "auc-pairwise", "sgd"), &[0.25; 6], 1) {
        Ok(_) => println!("a kernel"),
        Err(GpuError::Device { .. } | GpuError::Lost { .. }) => println!("no kernel"),
        Err(error) => panic!("{error:?}"),
    }
}
