//! A model of one's own in a [`Trainer`]: rows to scores, and a score gradient to a parameter gradient.
//!
//! Here h(x) = w₀ + w₁·x + w₂·x² on one feature, where positives lie in the middle: no line ranks them.

use std::ops::Range;
use std::sync::Arc;
use undercurve::algorithm::{Adam, AdamSettings, Schedule};
use undercurve::data::{Dataset, Rows, Selection};
use undercurve::estimator::Soap;
use undercurve::host::Host;
use undercurve::model::Model;
use undercurve::rng::Rng;
use undercurve::sampler::Stratified;
use undercurve::trainer::{BatchRun, Config, Trainer};
use undercurve::{Error, Result};

/// w₀ + w₁·x + w₂·x².
#[derive(Clone, Debug)]
struct Parabola;

/// The feature of each selected row.
fn features<'a>(x: Selection<'a, f64>) -> Result<impl Iterator<Item = f64> + 'a> {
    let Rows::Dense { data, .. } = x.rows() else { return Err(Error::Unsupported { what: "sparse rows" }) };
    Ok((0..x.len()).map(move |k| data[x.row(k)]))
}

impl Model<f64> for Parabola {
    fn param_len(&self) -> usize {
        3
    }
    fn inputs(&self) -> usize {
        1
    }
    fn heads(&self) -> usize {
        1
    }
    fn part(&self, name: &str) -> Option<Range<usize>> {
        (name == "bias").then_some(0..1)
    }
    fn init(&self, _: &mut Rng, params: &mut [f64]) -> Result<()> {
        params.fill(0.0);
        Ok(())
    }
    fn cache_len(&self, _: usize) -> usize {
        0
    }
    fn scratch_len(&self, _: usize) -> usize {
        0
    }
    fn forward(&self, w: &[f64], x: Selection<'_, f64>, _: &mut [f64], scores: &mut [f64]) -> Result<()> {
        for (score, x) in scores.iter_mut().zip(features(x)?) {
            *score = w[0] + w[1] * x + w[2] * x * x;
        }
        Ok(())
    }
    fn backward(
        &self,
        _: &[f64],
        x: Selection<'_, f64>,
        _: &[f64],
        slopes: &[f64],
        _: &mut [f64],
        grad: &mut [f64],
    ) -> Result<()> {
        for (c, x) in slopes.iter().zip(features(x)?) {
            grad[0] += c;
            grad[1] += c * x;
            grad[2] += c * x * x;
        }
        Ok(())
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    // 380 negatives over [−3, 3], then 20 positives near 0.
    let mut rng = Rng::new(7);
    let x: Vec<f64> = (0..400).map(|k| if k < 380 { 6.0 * rng.uniform() - 3.0 } else { 0.4 * rng.normal() }).collect();
    let labels: Vec<u8> = (0..400).map(|k| u8::from(k >= 380)).collect();
    let data = Arc::new(Dataset::dense(x, labels, 1)?);

    let adam = Adam::new(AdamSettings { lr: Schedule::constant(0.05), ..AdamSettings::default() })?;
    let host = Host { steps: 300, ..Host::new(Parabola, Soap::default(), adam, Stratified::new(1, 10, 50)?) };
    let config = Config { method: "soap on a parabola".into(), ..Config::default() };
    let run = BatchRun::new(host.clone(), &data)?;
    let mut trainer = Trainer::with_run(&config, run, Arc::clone(&data), None)?;
    let ap = trainer.run()?.train.get("ap").ok_or("two classes have an average precision")?;
    println!("average precision {ap:.3}, from {:.3} by chance", 20.0 / 400.0);
    assert!(ap > 0.2 && trainer.params()[2] < 0.0);

    // Saved, it goes on from a run of the same make.
    let saved = trainer.save();
    let mut resumed = Trainer::resume_run(&saved, BatchRun::new(host, &data)?, data, None)?;
    assert!(resumed.is_done() && resumed.params() == trainer.params());
    Ok(())
}
