//! Steps of one run of a network, over many workgroups and over one.

use super::ceilings::Ceilings;
use super::{Measured, Run, Side, Times, Title, spans};
use std::hint::black_box;
use std::sync::Arc;
use undercurve::data::{Dataset, Rows};
use undercurve::rng::Rng;
use undercurve::trainer::{Config, Init, Length, ModelSpec, Trainer};
use undercurve_demo::error::Result;
use undercurve_gpu::DeviceRuns;

/// Columns, width of both hidden layers, rows of a batch, and whether one workgroup makes the step. The smallest come first, so
/// that the larger ones are cut by their rates; both engines beside each other say where one takes the other's place.
const SHAPES: [(usize, usize, usize, bool); 8] = [
    (32, 64, 64, true),
    (32, 64, 64, false),
    (128, 128, 256, true),
    (128, 128, 256, false),
    (784, 512, 64, false),
    (784, 512, 1024, false),
    (784, 512, 4096, false),
    (784, 1024, 1024, false),
];
/// Rows of the data.
const ROWS: usize = 8192;
/// Steps whose batches are drawn, and used again and again.
const STEPS: usize = 16;

/// Rows of the table.
pub const COUNT: usize = SHAPES.len();

/// Steps of cross-entropy by gradient descent with uniform batches, in multiply-adds of the layers.
pub fn wide(run: &mut Run, ceilings: &Ceilings) -> Result<()> {
    let mut data: Option<(usize, Arc<Dataset<f32>>)> = None;
    let mut costs = [None; 3];
    for (columns, width, batch, narrow) in SHAPES {
        if data.as_ref().is_none_or(|(of, _)| *of != columns) {
            data = Some((columns, Arc::new(example(columns)?)));
        }
        let Some((_, rows)) = &data else { continue };
        // Forward and by weight; from the second layer on also by input.
        let each = (2 * columns * width + 3 * width * width + 3 * width) as f64;
        let what = format!("{columns}-{width}-{width}-1{}", if narrow { ", one workgroup" } else { "" });
        let (size, ceiling) = (size_of(batch), (ceilings.fma, "the FMA rate"));
        let title = Title { engine: "wide", what: &what, size, unit: "FMA/s", ceiling };
        run.row(&title, each * batch as f64, &mut costs, |run, side, units, seconds| {
            let batch = ((units / each) as usize).clamp(8, batch);
            let mut trainer = trainer(rows, width, batch)?;
            let times = match side {
                Side::Adapter => on_adapter(run, &mut trainer, narrow, seconds),
                Side::OneThread => on_cpu(&mut trainer, seconds),
                Side::AllThreads => run.pool.install(|| on_cpu(&mut trainer, seconds)),
            }?;
            Ok(Measured { units: each * batch as f64, size: size_of(batch), times })
        })?;
    }
    Ok(())
}

fn size_of(batch: usize) -> String {
    format!("batch {batch}")
}

/// N(0, 1), and .1 more where the label is 1.
fn example(columns: usize) -> Result<Dataset<f32>> {
    let mut random = Rng::new(1);
    let labels: Vec<u8> = (0..ROWS).map(|row| u8::from(row % 8 == 0)).collect();
    let x = (0..ROWS * columns).map(|k| (random.normal() + 0.1 * f64::from(labels[k / columns])) as f32).collect();
    Ok(Dataset::dense(x, labels, columns)?)
}

fn trainer(data: &Arc<Dataset<f32>>, width: usize, batch: usize) -> Result<Trainer<f32>> {
    let settings = [("optimizer", "sgd"), ("lr", "0.01"), ("sampling", "uniform"), ("batch", &*batch.to_string())];
    let config = Config {
        method: "ce".into(),
        settings: settings.iter().map(|&(key, value)| (key.into(), value.into())).collect(),
        model: ModelSpec::Mlp { hidden: vec![width; 2], tanh: false },
        length: Length::Steps(1 << 40),
        init: Init::Random,
        ..Config::default()
    };
    Ok(Trainer::new(&config, Arc::clone(data), None)?)
}

fn on_adapter(run: &Run, trainer: &mut Trainer<f32>, narrow: bool, seconds: f64) -> Result<Times> {
    let spec = trainer.step_spec()?;
    let data = Arc::clone(trainer.train_data());
    let Rows::Dense { data: rows, .. } = data.rows() else { unreachable!("the rows are dense") };
    let make = if narrow { DeviceRuns::new } else { DeviceRuns::wide };
    let mut lanes = make(&run.context, &spec.shape, rows, 1)?;
    lanes.load(0, trainer.state()?, &spec.numbers)?;
    let len = spec.shape.list_len();
    let (mut lists, mut pace) = (vec![0; STEPS * len], [[0.0; 2]; STEPS]);
    trainer.draw(&mut lists, &mut pace)?;
    spans(seconds, |calls| {
        for from in (0..calls).step_by(STEPS) {
            let count = STEPS.min(calls - from);
            lanes.advance(count, &lists[..count * len], &[0], pace[..count].as_flattened())?;
        }
        Ok(black_box(lanes.values()).map(|_| ())?)
    })
}

fn on_cpu(trainer: &mut Trainer<f32>, seconds: f64) -> Result<Times> {
    spans(seconds, |calls| Ok((0..calls).try_for_each(|_| trainer.step().map(|value| _ = black_box(value)))?))
}
