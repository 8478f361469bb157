//! What a GPU has kernels for, known before any adapter is opened.

use super::{is_whole, without_pretraining};
use std::sync::Arc;
use undercurve::Error;
use undercurve::data::Dataset;
use undercurve::registry::METHODS;
use undercurve::trainer::{Config, Length, ModelSpec, Trainer};
use undercurve_gpu::{GpuError, GpuObjective, MultiTrainer};

/// How many runs are asked for: exact methods have kernels for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    One,
    Many,
}

/// Whether there are kernels for all steps of a run.
///
/// # Errors
/// Why there are none, and for what there are.
pub fn able(trainer: &Trainer<f32>, runs: Runs) -> Result<(), String> {
    let Err(error) = kernels(trainer, runs) else { return Ok(()) };
    let method = &trainer.config().method;
    let lacks = match &error {
        GpuError::Core(Error::Unsupported { what }) => what.trim_end_matches("elsewhere").trim_end_matches([' ', ',']),
        GpuError::NoKernel { what } => what,
        error => return Err(format!("method {method} cannot train on a GPU: {error}")),
    };
    Err(format!("method {method} has no GPU kernel for {lacks}; {}", what_can(trainer.config(), runs)))
}

fn kernels(trainer: &Trainer<f32>, runs: Runs) -> Result<(), GpuError> {
    if !trainer.train_data().classes().is_empty() {
        return Err(Error::Unsupported { what: "more than two classes" }.into());
    }
    if runs == Runs::One && is_whole(trainer) {
        return GpuObjective::able(trainer);
    }
    MultiTrainer::able(trainer)?;
    // (The steps before the method's own are cross-entropy's.)
    without_pretraining(trainer).map_or(Ok(()), |own| MultiTrainer::able(&own))
}

/// What of a run would have to be another for it to have kernels: its rows, its settings, its model or its method.
fn what_can(config: &Config, runs: Runs) -> String {
    let x = (0..80).map(|k| (k * 7 % 31) as f32 / 31.0).collect();
    let Ok(data) = Dataset::dense(x, (0..40).map(|row| u8::from(row % 4 == 0)).collect(), 2) else {
        return String::new();
    };
    let data = Arc::new(data);
    let can = |method: &str, model: &ModelSpec, settings: &[(String, String)]| {
        let length = Length::Steps(10);
        let (method, model, settings) = (method.to_string(), model.clone(), settings.to_vec());
        let other = Config { method, model, settings, length, ..Config::default() };
        Trainer::new(&other, Arc::clone(&data), None).is_ok_and(|trainer| kernels(&trainer, runs).is_ok())
    };
    let Config { method, model, settings, .. } = config;
    if can(method, model, settings) {
        "it has them for dense rows of two classes without weights".to_string()
    } else if can(method, model, &[]) {
        "with its default settings it has".to_string()
    } else if can(method, &ModelSpec::Linear, settings) {
        "with --model linear it has".to_string()
    } else {
        let able = METHODS.iter().map(|method| method.name).filter(|name| can(name, &ModelSpec::Linear, &[]));
        let runs = if runs == Runs::Many { ", of many runs," } else { "" };
        format!("methods that{runs} have: {}", able.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trainer(method: &str, model: &str, weights: bool) -> Trainer<f32> {
        let x = (0..80).map(|k| (k * 7 % 31) as f32 / 31.0).collect();
        let mut data = Dataset::dense(x, (0..40).map(|row| u8::from(row % 4 == 0)).collect(), 2).unwrap();
        if weights {
            data = data.with_weights((1..=40).map(f64::from).collect()).unwrap();
        }
        let model = ModelSpec::parse(model).unwrap();
        Trainer::new(&Config { method: method.into(), model, ..Config::default() }, Arc::new(data), None).unwrap()
    }

    /// No driver is asked, so it is the same on every machine.
    #[test]
    fn what_has_no_kernel_is_told_with_what_has() {
        for (method, model, runs) in
            [("soap", "mlp:3", Runs::Many), ("ap-exact", "linear", Runs::One), ("dca", "linear", Runs::One)]
        {
            assert_eq!(able(&trainer(method, model, false), runs), Ok(()), "{method}");
        }
        for (method, model, weights, runs, why) in [
            ("agd-sbcd", "linear", false, Runs::One, "for this step rule; methods that have: "),
            ("ai-sarah", "linear", false, Runs::Many, "for a finite sum; methods that, of many runs, have: "),
            ("ap-exact", "mlp:3", false, Runs::One, "for exact objectives of networks; with --model linear it has"),
            ("ap-exact", "linear", false, Runs::Many, "for this objective; methods that, of many runs, have: "),
            ("soap", "linear", true, Runs::One, "; it has them for dense rows of two classes without weights"),
        ] {
            let said = able(&trainer(method, model, weights), runs).unwrap_err();
            assert!(said.starts_with(&format!("method {method} has no GPU kernel ")) && said.contains(why), "{said}");
            let list = said.split_once("have: ").map(|(_, list)| list.split(", ").collect::<Vec<_>>());
            let named = |name| list.as_ref().is_none_or(|list| list.contains(&name));
            assert!(
                named("soap") && named("dca") && named("ce") && list.is_none_or(|list| !list.contains(&method)),
                "{said}"
            );
        }
    }
}
