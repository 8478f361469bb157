//! Evaluates every objective of scores, with every loss that it takes, on three batches and prints one JSON line each: the
//! estimates and a hash of the gradients' bits. Then the exact sums of every loss over all rows.
//! `wasm/test/objective.test.mjs` does the same in WebAssembly and compares.

use serde_json::json;
use undercurve::batch::{Batch, Drawn};
use undercurve::estimator::{Estimator, Grad};
use undercurve::metric::Truth;
use undercurve::pairs::{self, Grade, Sum};
use undercurve::registry::{Domain, Kind, METHODS, Method, Scope, class_methods};
use undercurve::surrogate::{AnySurrogate, SURROGATES};
use undercurve::{Error, Need, Scratch};

const ROWS: u32 = 60;
const CLASSES: usize = 3;
const BATCH: u32 = 24;

/// Numbers of a linear congruential generator in −1 … 1, as the test of the package makes them.
fn numbers(count: usize) -> Vec<f64> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / 8_388_608.0 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// FNV-1a over 32-bit words of the numbers, low ones first.
fn hash(numbers: &[f64], from: u32) -> u32 {
    let words = numbers.iter().flat_map(|x| [x.to_bits() as u32, (x.to_bits() >> 32) as u32]);
    words.fold(from, |hash, word| (hash ^ word).wrapping_mul(0x0100_0193))
}

#[derive(Default)]
struct Memory(Vec<f64>, Vec<f64>, Vec<u32>, Vec<u64>);

impl Memory {
    fn lend(&mut self, need: Need) -> Scratch<'_, f64> {
        *self = Self(vec![0.0; need.real], vec![0.0; need.f64], vec![0; need.u32], vec![0; need.u64]);
        Scratch { real: &mut self.0, f64: &mut self.1, u32: &mut self.2, u64: &mut self.3 }
    }
}

/// Three batches of an objective with the state between them; nothing of what is no objective of scores.
fn run(method: &Method, setting: Option<(&str, &str)>, several: bool) -> Option<serde_json::Value> {
    let classes = if several { CLASSES } else { 2 };
    let segment = |row: u32| if several { row as usize % 5 % CLASSES } else { usize::from(row.is_multiple_of(5)) };
    let population: Vec<u32> =
        (0..classes).map(|of| (0..ROWS).filter(|&row| segment(row) == of).count() as u32).collect();
    let positives = if several { 0 } else { population[1] };
    let pairs: Vec<(&str, &str)> = setting.into_iter().collect();
    let scope =
        Scope { population: [ROWS - positives, positives], network: true, classes: classes as u32, ..Scope::default() };
    let settings = method.settings(&pairs).ok()?.with_fpr((0.0, 0.5)).with_scope(scope);
    let estimator = match method.estimator(&settings) {
        Ok(estimator) => estimator,
        Err(error) => return Some(json!({ "error": error.code() })),
    };
    if Estimator::<f64>::terms(&estimator) > 1 {
        return None;
    }
    let drawn = if estimator.needs_all() { Drawn::All } else { Drawn::Uniform };
    let mut tables = vec![0.0; Estimator::<f64>::tables_len(&estimator)];
    let tables = Estimator::<f64>::prepare(&estimator, &mut tables).to_vec();
    let owners: Vec<u32> = (0..ROWS).filter(|&row| segment(row) > 0).collect();
    let owns = estimator.state_len(2) > estimator.state_len(1);
    let mut state = vec![0.0; estimator.state_len(if owns { owners.len() } else { 1 })];
    let (low, high) = estimator.aux();
    let aux: Vec<f64> = (0..low + high).map(|at| (at + 1) as f64 / 16.0).collect();
    let heads = if several { CLASSES } else { 1 };
    let all = numbers(3 * BATCH as usize * heads);
    let (mut memory, mut values, mut sum) = (Memory::default(), Vec::new(), 0x811c_9dc5);
    for step in 0..3u32 {
        let rows: Vec<u32> = (0..BATCH).map(|at| (at * 7 + step * 11) % ROWS).collect();
        let scores = &all[(step * BATCH) as usize * heads..][..BATCH as usize * heads];
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&at| segment(rows[at]));
        let sorted: Vec<f64> = order.iter().flat_map(|&at| scores[at * heads..][..heads].to_vec()).collect();
        let mut starts = vec![0u32];
        for of in 0..classes {
            let own = rows.iter().filter(|&&row| segment(row) == of).count() as u32;
            starts.push(starts[of] + own);
        }
        let own: Vec<u32> = starts.windows(2).map(|ends| ends[1] - ends[0]).collect();
        let population = if drawn == Drawn::All { &own } else { &population };
        let masses: Vec<f64> = population.iter().map(|&rows| rows.into()).collect();
        let place = |at: &usize| owners.iter().position(|&row| row == rows[*at]).unwrap_or(0) as u32;
        let slots: Vec<u32> = if owns { order[starts[1] as usize..].iter().map(place).collect() } else { Vec::new() };
        let batch = Batch::weighted(&sorted, heads, &starts, population, &masses, drawn).expect("a sound batch");
        let batch = batch.with_slots(&slots).with_tables(&tables);
        let scratch = memory.lend(Estimator::<f64>::need(&estimator, batch.shape()));
        let (mut by_score, mut by_aux) = (vec![0.0; sorted.len()], vec![0.0; aux.len()]);
        let grad = Grad { scores: &mut by_score, aux: &mut by_aux };
        let value = match estimator.update(&batch, &aux, &mut state, scratch, grad) {
            Err(Error::OneClass) => 0.0,
            Err(error) => return Some(json!({ "error": error.code() })),
            Ok(value) => value,
        };
        let mut by_row = vec![0.0; sorted.len()];
        for (at, &row) in order.iter().enumerate() {
            by_row[row * heads..][..heads].copy_from_slice(&by_score[at * heads..][..heads]);
        }
        values.push(value);
        sum = hash(&by_aux, hash(&by_row, sum));
    }
    Some(json!({ "values": values, "hash": sum }))
}

fn main() {
    let methods = METHODS.iter().map(|method| (method, false)).chain(class_methods().map(|method| (method, true)));
    for (method, several) in methods.filter(|(method, _)| matches!(method.kind, Kind::Batches | Kind::Whole)) {
        let losses = method.params.iter().find(|param| param.name == "surrogate").map(|param| param.domain);
        let words: Vec<Option<(&str, &str)>> = match losses {
            Some(Domain::Choice(words)) => words.iter().map(|word| Some(("surrogate", *word))).collect(),
            _ => vec![None],
        };
        for setting in words {
            if let Some(outcome) = run(method, setting, several) {
                let settings: serde_json::Map<_, _> =
                    setting.map(|(name, word)| (name.into(), word.into())).into_iter().collect();
                println!(
                    "{}",
                    json!({ "name": method.name, "settings": settings, "several": several, "outcome": outcome })
                );
            }
        }
    }
    // As `Exact` computes them, also where most ways of the sums are taken.
    for rows in [ROWS, 40 * ROWS] {
        let labels: Vec<u8> = (0..rows).map(|row| u8::from(row.is_multiple_of(5))).collect();
        let scores = numbers(rows as usize);
        for (name, _, param) in SURROGATES {
            for (called, sum) in [("auc", Sum::Auc), ("pauc", Sum::Pauc { fpr: (0.1, 0.4), tpr: 0.0 }), ("ap", Sum::Ap)]
            {
                let loss = AnySurrogate::by_name(name, *param).expect("a default");
                let mut memory = Memory::default();
                let scratch = memory.lend(pairs::sum_need(rows as usize));
                let mut grad = vec![0.0; rows as usize];
                let truth = Truth::from(&labels[..]);
                let told = pairs::sum(sum, &scores, truth, loss, Grade::Full, scratch, &mut grad);
                let outcome = match told {
                    Ok(value) => json!({ "values": [value], "hash": hash(&grad, 0x811c_9dc5) }),
                    Err(error) => json!({ "error": error.code() }),
                };
                println!("{}", json!({ "sum": called, "loss": name, "rows": rows, "outcome": outcome }));
            }
        }
    }
}
