//! How often "met" is said of what does not hold, on draws from a population that is known.
//!
//! Two groups, of which one scores higher whatever its label; the population has 200,000 rows. Every draw trains the preset
//! roc-fairness on so many rows, and its constraints are judged on as many others. Each verdict is compared with the value on
//! the population: once for the bound that was asked for, and once, the hardest case, for a bound that the population passes by
//! a hair (less than 10⁻⁹), where every "met" is wrong.

use serde_json::json;
use std::sync::Arc;
use undercurve::data::Dataset;
use undercurve::expression::{Bound, Expression, Quantity};
use undercurve::judge::{Scored, Verdict};
use undercurve::metric::Metrics;
use undercurve::registry::preset;
use undercurve::trainer::{Config, Length, ModelSpec, Trainer};
use undercurve_demo::error::Result;
use undercurve_demo::output;

/// Options of `experiment verdicts`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Rows of a draw to train on, and as many to judge on
    #[arg(long, value_name = "ROWS", default_values_t = [500, 2000], value_delimiter = ',')]
    rows: Vec<usize>,
    /// Seeds 1 to N
    #[arg(long, value_name = "N", default_value_t = 20)]
    seeds: u64,
    /// linear or mlp:SIZES
    #[arg(long, value_name = "MODEL", default_value = "mlp:16", value_parser = ModelSpec::parse)]
    model: ModelSpec,
    /// Steps of every run
    #[arg(long, value_name = "N", default_value_t = 1000)]
    steps: u64,
    /// Two seeds, 500 rows, 50 steps, a population of 20,000
    #[arg(long)]
    quick: bool,
}

/// What is judged, and the bound that is asked for.
const ASKED: [&str; 5] =
    ["gap(fpr) <= 0.15", "gap(tpr) <= 0.15", "gap(fpr@0.1) <= 0.1", "recall >= 0.5", "fpr[b] <= 0.4"];

/// Rows of the population.
fn drawn(seed: u64, rows: usize) -> Result<Dataset<f32>> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut normal = || (-2.0 * (1.0 - next()).ln()).sqrt() * (std::f64::consts::TAU * next()).cos();
    let (mut x, mut labels, mut groups) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rows {
        let (group, label) = (u32::from(normal() < -0.4), u8::from(normal() < -0.5));
        let (g, y) = (f64::from(group), f64::from(label));
        let row = [normal() + y, normal() + 0.6 * y + 0.7 * g, normal() + g, normal(), normal()];
        x.extend(row.map(|x| x as f32));
        labels.push(label);
        groups.push(group);
    }
    Ok(Dataset::dense(x, labels, 5)?.with_groups(groups, vec!["a".into(), "b".into()])?)
}

/// Verdicts of one kind of bound: those of each kind, and how many of "met" and "not met" are wrong.
#[derive(Default)]
struct Count {
    met: [u64; 2],
    not: [u64; 2],
    open: u64,
}

impl Count {
    fn add(&mut self, verdict: Verdict, holds: bool) {
        match verdict {
            Verdict::Met => self.met = [self.met[0] + 1, self.met[1] + u64::from(!holds)],
            Verdict::NotMet => self.not = [self.not[0] + 1, self.not[1] + u64::from(holds)],
            Verdict::CannotTell => self.open += 1,
        }
    }
}

/// Runs the bench.
///
/// # Errors
/// Runs that break down.
pub fn run(args: &Args, as_json: bool) -> Result<()> {
    let (seeds, steps) = if args.quick { (2, 50) } else { (args.seeds.max(1), args.steps.max(1)) };
    let sizes = if args.quick { vec![500] } else { args.rows.clone() };
    let population = drawn(u64::MAX, if args.quick { 20_000 } else { 200_000 })?;
    let settings = preset("roc-fairness").map_or(&[][..], |preset| preset.settings);
    if !as_json {
        output::line(
            "| constraint | rows | met | wrong | not met | wrong | cannot tell | at its own value: met, all wrong |",
        )?;
        output::line("|---|---|---|---|---|---|---|---|")?;
    }
    for rows in sizes {
        let mut counts: Vec<[Count; 2]> = ASKED.iter().map(|_| Default::default()).collect();
        for seed in 1..=seeds {
            let config = Config {
                method: "lagrange".to_string(),
                settings: settings.iter().map(|&(name, value)| (name.to_string(), value.to_string())).collect(),
                model: args.model.clone(),
                seed,
                length: Length::Steps(steps),
                constraints: vec!["gap(fpr) <= 0.15".to_string(), "gap(tpr) <= 0.15".to_string()],
                ..Config::default()
            };
            let mut trainer = Trainer::<f32>::new(&config, Arc::new(drawn(2 * seed, rows)?), None)?;
            while trainer.step()?.is_some() {}
            let others = drawn(2 * seed + 1, rows)?;
            let scores = [&others, &population].map(|data| {
                let mut scores = vec![0.0f32; data.len()];
                trainer.score(data.rows(), &mut scores).map(|()| scores)
            });
            let [few, all] = scores;
            let (few, all) = (few?, all?);
            let judge = |constraint: &Expression, data: &Dataset<f32>, scores: &[f32]| {
                let (labels, group_of, group_names) = (data.labels(), data.group_of(), data.group_names());
                let on = Scored { scores, labels, group_of, group_names, old: &[] };
                constraint.judge(&on, 0.0, &mut Metrics::new()).map_err(|error| anyhow::anyhow!("{error}"))
            };
            for (text, counts) in ASKED.iter().zip(&mut counts) {
                let constraint = Expression::parse(text).map_err(|error| anyhow::anyhow!("{error}"))?;
                let truth = judge(&constraint, &population, &all)?;
                let holds = constraint.excess(&truth) <= 0.0;
                counts[0].add(judge(&constraint, &others, &few)?.verdict, holds);
                let Some(value) = truth.value else { continue };
                let low = !matches!(constraint.quantity, Quantity::Rate { .. }) || text.contains("<=");
                let edge = if low { value - 1e-10 } else { value + 1e-10 };
                let at = Expression { bound: Bound::Value(edge.clamp(0.0, 1.0)), ..constraint };
                counts[1].add(judge(&at, &others, &few)?.verdict, false);
            }
        }
        for (text, [asked, edge]) in ASKED.iter().zip(&counts) {
            let all = edge.met[0] + edge.not[0] + edge.open;
            if as_json {
                output::line(json!({
                    "constraint": text, "rows": rows, "seeds": seeds, "met": asked.met[0], "met_wrong": asked.met[1],
                    "not_met": asked.not[0], "not_met_wrong": asked.not[1], "cannot_tell": asked.open,
                    "edge_met": edge.met[0], "edge_of": all,
                }))?;
                continue;
            }
            let ([met, wrong], [not, not_wrong], open) = (asked.met, asked.not, asked.open);
            output::line(format!(
                "| {text} | {rows} | {met} | {wrong} | {not} | {not_wrong} | {open} | {} of {all} |",
                edge.met[0]
            ))?;
        }
    }
    Ok(())
}
