//! Bytes become files and settings that nobody would write. An error is right, a panic or an overflow is not.
//!
//! A fuzzer feeds these from `tests/fuzz`; the tests `fuzz` feed them with random bytes.

use std::sync::{Arc, LazyLock};
use undercurve::checkpoint::{Kind, open, seal};
use undercurve::data::{Dataset, Format, Missing, Options, Preparation, RawTable};
use undercurve::registry::METHODS;
use undercurve::trainer::{Config, Length, ModelSpec, Predictor, Trainer};

/// Bytes of a seed (SplitMix64).
#[must_use]
pub fn bytes(seed: u64) -> Vec<u8> {
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

/// A target: its name, and what it does with bytes.
pub type Target = (&'static str, fn(&[u8]));

/// Every target of `tests/fuzz`, each with a file there.
pub const TARGETS: [Target; 6] = [
    ("pairs", crate::fuzz::check),
    ("expressions", crate::fuzz::check_expression),
    ("tables", check_table),
    ("settings", check_settings),
    ("saved", check_saved),
    ("estimators", crate::hostile_estimators::check_estimators),
];

/// What tables are made of.
const CELLS: [&str; 40] = [
    ",",
    ",",
    ",",
    "\n",
    "\n",
    "\r\n",
    "\n\n",
    ";",
    "\t",
    " ",
    "\"",
    "\"\"",
    "'",
    "0",
    "1",
    "-1",
    "1",
    "0",
    "x",
    "label",
    "y",
    "a",
    "3.5",
    "1e308",
    "-1e999",
    "nan",
    "NA",
    "?",
    "1:0.5",
    "2:1e30",
    "0:3",
    "4294967296:1",
    "#",
    "2022-02-30",
    "03/04/2022",
    "12:60",
    "1,5",
    "é",
    "\u{feff}",
    "\0",
];

/// A text of the bytes: read, prepared and trained on for a few steps.
pub fn check_table(bytes: &[u8]) {
    let [kind, rest @ ..] = bytes else { return };
    let mut text: Vec<u8> = if kind & 4 == 0 { b"a,b,label\n".to_vec() } else { Vec::new() };
    for &byte in rest {
        match byte {
            240.. if kind & 8 != 0 => text.push(byte),
            _ => text.extend(CELLS[byte as usize % CELLS.len()].bytes()),
        }
    }
    let format = [Format::Auto, Format::Csv, Format::Libsvm, Format::Auto][usize::from(kind & 3)];
    let Ok(table) = RawTable::parse(&text, format, "hostile") else { return };
    let options = Options { missing: Missing::Impute, ..Options::default() };
    let Ok(preparation) = Preparation::fit(&table, &options) else { return };
    let Ok(data) = preparation.apply::<f32>(&table) else { return };
    let config = Config { method: "soap".into(), length: Length::Steps(2), ..Config::default() };
    if let Ok(mut trainer) = Trainer::new(&config, Arc::new(data), None) {
        while let Ok(Some(_)) = trainer.step() {}
    }
}

/// Thirty rows of three columns, eight of them positive.
static ROWS: LazyLock<Arc<Dataset<f32>>> = LazyLock::new(|| {
    let mut text = "a,b,c,label\n".to_string();
    for k in 0..30 {
        text += &format!("{},{},{},{}\n", (k * 7) % 11, (k * k) % 13, k % 3, u8::from(k % 4 == 0));
    }
    let table = RawTable::parse(text.as_bytes(), Format::Csv, "rows").expect("a table");
    let preparation = Preparation::fit(&table, &Options::default()).expect("a preparation");
    Arc::new(preparation.apply(&table).expect("rows"))
});

/// Numbers that settings are given.
pub(crate) const NUMBERS: [&str; 20] = [
    "0",
    "1",
    "-1",
    "0.5",
    "2",
    "1e-300",
    "1e300",
    "-0",
    "nan",
    "inf",
    "18446744073709551615",
    "4294967296",
    "1e18",
    "auto",
    "",
    "x",
    "0.999999999999",
    "7",
    "64",
    "1000000",
];

/// A method with settings, and three steps of it.
pub fn check_settings(bytes: &[u8]) {
    let [method, model, seed, rest @ ..] = bytes else { return };
    let entry = &METHODS[usize::from(*method) % METHODS.len()];
    let names: Vec<&str> = entry.params.iter().map(|parameter| parameter.name).collect();
    let mut settings: Vec<(String, String)> = Vec::new();
    for pair in rest.chunks_exact(2).take(4) {
        let name = if names.is_empty() { "lr" } else { names[usize::from(pair[0]) % names.len()] };
        settings.push((name.into(), NUMBERS[usize::from(pair[1]) % NUMBERS.len()].into()));
    }
    let Ok(model) = ModelSpec::parse(["linear", "linear", "mlp:2", "mlp-tanh:3,2"][usize::from(model % 4)]) else {
        return;
    };
    let length = if seed & 1 == 0 { Length::Steps(3) } else { Length::Method };
    let config =
        Config { method: entry.name.into(), settings, model, seed: u64::from(*seed), length, ..Config::default() };
    let Ok(mut trainer) = Trainer::new(&config, ROWS.clone(), None) else { return };
    for _ in 0..3 {
        let Ok(Some(_)) = trainer.step() else { break };
    }
    let saved = trainer.save();
    if let Ok(mut again) = Trainer::load(&saved, ROWS.clone(), None) {
        let _ = again.step();
    }
}

/// A saved run with some bytes changed, put in or taken out, and the right checksum.
pub fn check_saved(bytes: &[u8]) {
    let [method, steps, rest @ ..] = bytes else { return };
    let entry = &METHODS[usize::from(*method) % METHODS.len()];
    let config = Config { method: entry.name.into(), length: Length::Steps(8), ..Config::default() };
    let Ok(mut trainer) = Trainer::new(&config, ROWS.clone(), None) else { return };
    for _ in 0..steps % 8 {
        let Ok(Some(_)) = trainer.step() else { break };
    }
    let saved = trainer.save();
    let mut payload = open(Kind::Trainer, &saved).expect("our own file").to_vec();
    for change in rest.chunks_exact(4).take(8) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % payload.len().max(1);
        match change[2] % 4 {
            0 => payload.insert(at, change[3]),
            1 if payload.len() > 1 => drop(payload.remove(at)),
            2 => payload[at] ^= 1 << (change[3] % 8),
            _ => payload[at] = change[3],
        }
    }
    let bad = seal(Kind::Trainer, &payload);
    if let Ok(mut other) = Trainer::load(&bad, ROWS.clone(), None) {
        let _ = other.step();
        let _ = other.save();
    }
    let _ = Predictor::<f64>::load(&bad);
}
