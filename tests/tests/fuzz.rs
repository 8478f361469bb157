//! Pair sums and metrics of inputs made of random bytes, against their twins: the body of the fuzz target, on any
//! toolchain.

use undercurve::expression::Expression;
use undercurve_tests::fuzz::{PARTS, check, check_expression};
use undercurve_tests::hostile::{check_saved, check_settings, check_table};

/// Bytes of a seed (SplitMix64).
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    // Mostly short: many small inputs find more than few large ones.
    let count = 8 + next() % [16, 64, 256][(next() % 3) as usize];
    (0..count).map(|_| next() as u8).collect()
}

/// Seeds that found something once: windows of widely spread scores summed otherwise for f32 gradients than for f64;
/// panels of scores as far apart as f64 goes; slopes of a ramp whose sum does not fit; a ramp's edge that was rounded onto
/// another row's.
const FOUND: [u64; 4] = [25_104, 30_884, 49_040, 794];

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

/// Tables, settings and saved runs that nobody would write. `UNDERCURVE_LONG=1` runs for about five minutes.
#[test]
fn hostile_files_and_settings_end_no_program() {
    let rounds = if std::env::var_os("UNDERCURVE_LONG").is_some() { 100_000 } else { 300 };
    for seed in 0..rounds {
        let input = bytes(seed);
        for (name, check) in
            [("tables", check_table as fn(&[u8])), ("settings", check_settings), ("saved", check_saved)]
        {
            if let Err(panic) = std::panic::catch_unwind(|| check(&input)) {
                eprintln!("{name}, seed {seed}: {input:?}");
                std::panic::resume_unwind(panic);
            }
        }
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
