//! `cargo experiment certificates`: how often a certificate of a bound on the gaps between groups is wrong, and how often one is given,
//! on draws from populations whose gaps are known.
//!
//! Eight models along a frontier: those with larger gaps rank better. A score is noise, plus the label's part, plus in group b a shift, of
//! both labels (population 1: normal noise, 30 % in group b, 20 % positive) or of positives alone (population 2: Student's with two degrees of
//! freedom, 15 % in b, 40 % positive). So the gap between two groups is that of noise and shifted noise, 2 H(s/2) − 1 with the distribution
//! function H. "At the bound" has one model alone, whose gap passes the bound by a hair: every certificate is wrong.

use rayon::prelude::*;
use serde_json::json;
use undercurve::data::Dataset;
use undercurve::rng::Rng;
use undercurve_demo::certificate::{Candidate, Certified, certify, order};
use undercurve_demo::error::Result;
use undercurve_demo::output;

/// Options of `experiment certificates`.
#[derive(clap::Args)]
pub struct Args {
    /// Draws of each setting
    #[arg(long, value_name = "N", default_value_t = 400)]
    draws: u64,
    /// Rows of a draw
    #[arg(long, value_name = "N", default_values_t = [3000, 10_000], value_delimiter = ',')]
    rows: Vec<usize>,
}

const GAPS: [f64; 8] = [0.02, 0.05, 0.08, 0.11, 0.14, 0.17, 0.22, 0.3];
const BOUNDS: [f64; 3] = [0.05, 0.1, 0.15];

struct Population {
    name: &'static str,
    heavy: bool,
    in_b: f64,
    positive: f64,
    positives_alone: bool,
}

const POPULATIONS: [Population; 2] = [
    Population { name: "normal", heavy: false, in_b: 0.3, positive: 0.2, positives_alone: false },
    Population { name: "t2, positives alone", heavy: true, in_b: 0.15, positive: 0.4, positives_alone: true },
];

impl Population {
    fn noise(&self, random: &mut Rng) -> f64 {
        if !self.heavy {
            return random.normal();
        }
        let u = random.uniform().clamp(1e-12, 1.0 - 1e-12);
        (2.0 * u - 1.0) / (2.0 * u * (1.0 - u)).sqrt()
    }

    /// The shift that makes a gap.
    fn shift(&self, gap: f64) -> f64 {
        let u = 0.5 * (1.0 + gap);
        if self.heavy {
            return 2.0 * (2.0 * u - 1.0) / (2.0 * u * (1.0 - u)).sqrt();
        }
        // H is a sum of the density; halving finds its place.
        let below = |x: f64| {
            let step = x / 2000.0;
            let density = |t: f64| (-0.5 * t * t).exp() / (2.0 * std::f64::consts::PI).sqrt();
            0.5 + (0..2000).map(|k| density((f64::from(k) + 0.5) * step) * step).sum::<f64>()
        };
        let (mut low, mut high) = (0.0, 5.0);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            *(if below(middle) < u { &mut low } else { &mut high }) = middle;
        }
        low + high
    }

    /// The models on one draw of rows; their order is that of their gaps.
    fn draw(&self, seed: u64, rows: usize, gaps: &[f64]) -> Result<Vec<Candidate>> {
        let mut random = Rng::keyed(u64::from(self.heavy), rows as u64, seed);
        let (mut labels, mut groups, mut noise) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rows {
            labels.push(u8::from(random.uniform() < self.positive));
            groups.push(u32::from(random.uniform() < self.in_b));
            noise.push(self.noise(&mut random));
        }
        let data = Dataset::dense(vec![0.0_f64; rows], labels.clone(), 1)?
            .with_groups(groups.clone(), vec!["a".into(), "b".into()])?;
        let mut all = Vec::new();
        for (at, &gap) in gaps.iter().enumerate() {
            let (shift, part) = (self.shift(gap), 1.0 + 0.1 * at as f64);
            let score = |row: usize| {
                let shifted = groups[row] == 1 && (labels[row] == 1 || !self.positives_alone);
                noise[row] + part * f64::from(labels[row]) + if shifted { shift } else { 0.0 }
            };
            let scores: Vec<f64> = (0..rows).map(score).collect();
            all.extend(Candidate::without_interval(&at.to_string(), Some(gap), gap, &scores, &data)?);
        }
        order(&mut all);
        Ok(all)
    }
}

/// Prints a table.
///
/// # Errors
/// Those of stdout.
pub fn run(args: &Args, json: bool) -> Result<()> {
    if !json {
        output::line(format!("Of {} draws each:", args.draws))?;
        output::line("| population | rows | bound | given | wrong | best by value: wrong | at the bound: wrong |")?;
        output::line("|---|---|---|---|---|---|---|")?;
    }
    for population in &POPULATIONS {
        for &rows in &args.rows {
            let counts = (0..args.draws).into_par_iter().map(|seed| -> Result<[[u64; 4]; BOUNDS.len()]> {
                let all = population.draw(seed, rows, &GAPS)?;
                let mut counts = [[0; 4]; BOUNDS.len()];
                for (counts, bound) in counts.iter_mut().zip(BOUNDS) {
                    let broken = |one: &Candidate| u64::from(one.bound.is_some_and(|gap| gap > bound));
                    let (given, wrong) = match certify(&all, bound) {
                        Certified::By(one) => (1, broken(one)),
                        Certified::None { .. } => (0, 0),
                    };
                    let kept = all.iter().filter(|one| one.gap <= bound);
                    let by_value = kept.max_by(|a, b| a.auroc.total_cmp(&b.auroc)).map_or(0, broken);
                    let edge = population.draw(seed + (1 << 32), rows, &[bound + 1e-9])?;
                    let at_bound = u64::from(matches!(certify(&edge, bound), Certified::By(_)));
                    *counts = [given, wrong, by_value, at_bound];
                }
                Ok(counts)
            });
            let add = |mut a: [[u64; 4]; 3], b: [[u64; 4]; 3]| {
                a.iter_mut().flatten().zip(b.iter().flatten()).for_each(|(a, b)| *a += b);
                Ok(a)
            };
            let counts = counts.try_reduce(|| [[0; 4]; BOUNDS.len()], add)?;
            for ([given, wrong, by_value, at_bound], bound) in counts.into_iter().zip(BOUNDS) {
                let name = population.name;
                output::line(if json {
                    json!({"bench": "certificates", "population": name, "rows": rows, "bound": bound, "draws": args.draws, "given": given,
                           "wrong": wrong, "wrong_by_value": by_value, "wrong_at_bound": at_bound})
                    .to_string()
                } else {
                    format!("| {name} | {rows} | {bound} | {given} | {wrong} | {by_value} | {at_bound} |")
                })?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::POPULATIONS;

    /// A large draw has the gap that was asked for.
    #[test]
    fn shifts_make_the_gaps() {
        for population in &POPULATIONS {
            let all = population.draw(1, 100_000, &[0.1, 0.3]).unwrap();
            for one in &all {
                assert!((one.gap - one.bound.unwrap()).abs() < 0.02 && one.upper > one.gap, "{one:?}");
            }
        }
    }
}
