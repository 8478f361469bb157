//! Pair sums and metrics of inputs made of random bytes, against their twins: the body of the fuzz target, on any
//! toolchain.

use undercurve::batch::{Batch, Drawn};
use undercurve::estimator::{
    AucMulticlass, Constrained, ConstrainedSettings, Estimator, Form, PairWeighting, Thresholds, Weights,
};
use undercurve::expression::Expression;
use undercurve::registry::method;
use undercurve::{Error, Need, Scratch};
use undercurve_tests::fuzz::{PARTS, check, check_expression};
use undercurve_tests::hostile::{TARGETS, bytes};

/// Seeds that found something once: windows of widely spread scores summed otherwise for f32 gradients than for f64;
/// panels of scores as far apart as f64 goes; slopes of a ramp whose sum does not fit; a ramp's edge that was rounded onto
/// another row's; slopes that count as 0 before the scale of two million.
const FOUND: [u64; 5] = [25_104, 30_884, 49_040, 794, 20_000_271];

/// `UNDERCURVE_LONG=1` runs for about five minutes. A failing seed is named by the message before the panic's.
#[test]
fn random_bytes_give_the_twins_answers() {
    let rounds = if std::env::var_os("UNDERCURVE_LONG").is_some() { 50_000 } else { 500 };
    for seed in (0..rounds).chain(FOUND) {
        let input = bytes(seed);
        if let Err(panic) = std::panic::catch_unwind(|| check(&input)) {
            eprintln!("seed {seed}: {input:?}");
            std::panic::resume_unwind(panic);
        }
    }
}

/// Tables, settings, saved runs, batches and states that nobody would write. `UNDERCURVE_LONG=1` runs for about five minutes.
#[test]
fn hostile_files_settings_and_states_end_no_program() {
    let long = std::env::var_os("UNDERCURVE_LONG").is_some();
    for (name, check) in TARGETS {
        let (short, far) = match name {
            "tables" | "settings" | "saved" => (300, 100_000),
            "estimators" => (10_000, 1_000_000),
            _ => continue, // with tests of their own
        };
        for seed in 0..if long { far } else { short } {
            let input = bytes(seed);
            if let Err(panic) = std::panic::catch_unwind(|| check(&input)) {
                eprintln!("{name}, seed {seed}: {input:?}");
                std::panic::resume_unwind(panic);
            }
        }
    }
}

/// What hostile batches and states found: an order that was never filled, bounds of segments that were not there, a state that
/// moved with an error, and states that no longer were numbers.
#[test]
fn hostile_batches_and_states_are_refused_or_kept() {
    let (scores, starts, all) = ([0.5, -0.5, 1.0, 2.0], [0, 2, 4], [2, 2]);
    let batch = || Batch::new(&scores, 1, &starts, &all, Drawn::All).unwrap();
    let memory =
        |need: Need| (vec![0.0; need.real + 99], vec![0.0; need.f64 + 99], vec![0; need.u32], vec![0; need.u64]);

    let exact = method("auc-exact").unwrap();
    let exact = exact.estimator(&exact.settings(&[]).unwrap()).unwrap();
    for wrong in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
        let weights = [1.0, 1.0, wrong, 2.0];
        let batch = batch().with_weights(&weights).unwrap();
        let (mut real, mut f64s, mut u32s, mut u64s) = memory(Estimator::<f64>::need(&exact, batch.shape()));
        let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
        assert_eq!(exact.value(&batch, &[], scratch), Err(Error::Weight { at: 2 }), "{wrong}");
    }

    let one = Batch::new(&scores, 1, &[0, 4], &[4], Drawn::All).unwrap();
    for name in ["ce", "focal"] {
        let found = method(name).unwrap();
        let found = found.estimator(&found.settings(&[]).unwrap()).unwrap();
        assert!(found.recipe(&batch()).is_some() && found.recipe(&one).is_none(), "{name}");
    }

    let of = ConstrainedSettings { form: Form::Squared, groups: 2, thresholds: Thresholds::Raw, ..Default::default() };
    let constrained = Constrained::new(of).unwrap();
    let cells = Batch::new(&scores, 1, &[0, 1, 2, 3, 4], &[1; 4], Drawn::All).unwrap();
    let mut state: Vec<f64> = (0..Estimator::<f64>::state_len(&constrained, 0)).map(|k| 1e200 * k as f64).collect();
    let before = state.clone();
    let (mut real, mut f64s, mut u32s, mut u64s) = memory(Estimator::<f64>::need(&constrained, cells.shape()));
    let scratch = Scratch { real: &mut real, f64: &mut f64s, u32: &mut u32s, u64: &mut u64s };
    assert!(matches!(constrained.track(&cells, &mut state, scratch), Err(Error::Overflow { .. })));
    assert_eq!(state, before);

    for (name, setting) in [("sorr", None), ("agd-sbcd", None), ("ppd-sg", Some(("prior", "online")))] {
        let found = method(name).unwrap();
        let found = found.estimator(&found.settings(setting.as_slice()).unwrap()).unwrap();
        let mut state = vec![1e300; Estimator::<f64>::state_len(&found, 4)];
        if setting.is_none() {
            found.turn(0, &mut state).unwrap();
        } else {
            found.track(&batch(), &mut state, Scratch::default()).unwrap();
        }
        assert!(state.iter().all(|x| x.is_finite()), "{name}: {state:?}");
    }

    let many = AucMulticlass::new(3, PairWeighting::Shares, u32::MAX, 1, Weights::Unbiased);
    assert_eq!(many, Err(Error::Param { what: "pairs" }));
}

/// Inputs with which a fuzzer begins, and that reached what others did not (`tests/fuzz/seeds.py`).
#[test]
fn seeds_of_the_fuzzer_end_no_program() {
    for (name, check) in TARGETS {
        let file = format!("{}/fuzz/seeds/{name}.txt", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        let inputs: Vec<Vec<u8>> = text
            .lines()
            .map(|line| {
                (0..line.len()).step_by(2).map(|at| u8::from_str_radix(&line[at..at + 2], 16).unwrap()).collect()
            })
            .collect();
        assert!(inputs.len() >= 20 && text.len() <= 5_000, "{name}: {} seeds, {} bytes", inputs.len(), text.len());
        for input in inputs {
            if let Err(panic) = std::panic::catch_unwind(|| check(&input)) {
                eprintln!("{name}: {input:?}");
                std::panic::resume_unwind(panic);
            }
        }
    }
}

/// The fuzzer's folder has a file and an entry for each target.
#[test]
fn every_target_has_its_file() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz");
    let manifest = std::fs::read_to_string(format!("{folder}/Cargo.toml")).unwrap();
    let files = std::fs::read_dir(format!("{folder}/fuzz_targets")).unwrap().count();
    assert_eq!(files, TARGETS.len());
    for (name, _) in TARGETS {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name}");
        assert!(std::fs::exists(format!("{folder}/fuzz_targets/{name}.rs")).unwrap(), "{name}");
    }
}

/// Mostly parts that fit each other, so that many are read.
#[test]
fn constraints_are_shown_as_they_are_read() {
    let forms: [&[u8]; 7] = [
        &[0, 1, 4, 2, 13, 25],
        &[7, 8, 20, 9, 17, 14, 25],
        &[0, 1, 3, 5, 6, 2, 15, 6],
        &[11, 1, 20, 2, 13, 12],
        &[10, 8, 18, 21, 19, 9, 18, 9, 16, 25],
        &[11, 8, 22, 9, 13, 28],
        &[11, 1, 20, 2, 13, 12, 32, 6],
    ];
    let mut read = 0;
    for seed in 0..20_000 {
        let mut input = bytes(seed);
        check_expression(&input);
        let form = forms[input[0] as usize % forms.len()];
        let (at, part) = (input[1] as usize % (form.len() + 1), input[2]);
        input = form.to_vec();
        match seed % 3 {
            0 => input.insert(at, part),
            1 if at < form.len() => input[at] = part,
            _ => {}
        }
        check_expression(&input);
        let text: String = input.iter().map(|&byte| PARTS[byte as usize % PARTS.len()]).collect();
        read += usize::from(Expression::parse(&text).is_ok());
    }
    assert!(read > 5_000, "only {read} were constraints");
}

#[test]
fn constraints_are_read_and_refused_in_place() {
    for (text, shown) in [
        ("gap(fpr)<=.05", "gap(fpr) <= 0.05"),
        (" gap ( tpr @ 1e-1 ) ≤ 0 ", "gap(tpr@0.1) <= 0"),
        ("tpr>=0.85", "recall >= 0.85"),
        ("recall [ Female ] >= 1", "recall[Female] >= 1"),
        ("precision[\"a]\"\"b\"] >= 0.9", "precision[\"a]\"\"b\"] >= 0.9"),
        ("fpr[m,w] <= -0", "fpr[m,w] <= 0"),
        ("loss <= 3.5", "loss <= 3.5"),
        ("loss[f] <= old", "loss[f] <= old"),
        ("loss(a)<=old+.01", "loss(a) <= old + 0.01"),
        ("loss <= old + 0", "loss <= old"),
        ("loss(my old data.csv) <= old", "loss(my old data.csv) <= old"),
    ] {
        assert_eq!(Expression::parse(text).unwrap().to_string(), shown);
    }
    let long = "gap(fpr) <= 0.05 and";
    for (text, at, says) in [
        ("", 1, "expected gap(fpr), gap(tpr), recall, fpr, precision, loss"),
        ("gap", 4, "expected (tpr) or (fpr)"),
        ("gap(auc) <= 1", 5, "expected tpr or fpr"),
        ("gap(fpr@2) <= 1", 9, "expected a false-positive rate above 0 and below 1"),
        ("gap(fpr@x) <= 1", 9, "expected a false-positive rate"),
        ("gap(fpr <= 1", 9, "expected @ or )"),
        ("gap(fpr) = 0.05", 10, "expected <= or >="),
        ("gap(fpr) <= ", 13, "expected a number"),
        ("gap(fpr) <= 5", 13, "expected 0 to 1"),
        ("gap(fpr) >= 0.5", 10, "gaps and losses are bounded by <= alone"),
        ("loss >= 0.5", 6, "gaps and losses are bounded by <= alone"),
        ("loss <= -1", 9, "expected 0 or more"),
        ("recall <= old", 11, "only a loss is compared with its old value"),
        ("loss <= old + -1", 15, "expected 0 or more"),
        ("loss <= old +", 14, "expected a number"),
        ("recall[] >= 0.5", 8, "expected a group"),
        ("recall[a >= 0.5", 16, "expected ]"),
        ("recall[\"a] >= 0.5", 18, "expected a closing \""),
        ("loss() <= old", 6, "expected a file"),
        ("recal >= 0.5", 1, "no quantity \"recal\"; there are gap(fpr), gap(tpr), recall, fpr, precision, loss"),
        ("é", 1, "expected gap(fpr), gap(tpr), recall, fpr, precision, loss"),
        ("recall >= 1e999", 11, "expected a number"),
        (long, 18, "expected nothing more"),
    ] {
        let error = Expression::parse(text).unwrap_err();
        assert_eq!(error.to_string(), format!("character {at}: {says}"), "{text:?}");
    }
}
