//! What the steps of a run are computed on.

use clap::ValueEnum;
use undercurve::Real;
use undercurve::trainer::{Device, Trainer};

/// `--device`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Choice {
    /// This processor
    #[default]
    Cpu,
    /// A graphics adapter; the processor, with a note, where there is none
    Gpu,
}

/// Opens the graphics adapter, or says why not.
pub type Open<T> = fn() -> Result<Box<dyn Device<T>>, String>;

/// The adapter for f32.
#[cfg(feature = "gpu")]
pub fn open_f32() -> Result<Box<dyn Device<f32>>, String> {
    match undercurve_gpu::Context::new() {
        Ok(context) => Ok(Box::new(undercurve_gpu::GpuDevice::new(context))),
        Err(error) => Err(format!("no graphics adapter can be used ({error})")),
    }
}

/// The adapter for f32.
#[cfg(not(feature = "gpu"))]
pub fn open_f32() -> Result<Box<dyn Device<f32>>, String> {
    Err("no graphics adapter can be used (this program was built without the feature gpu)".to_string())
}

/// There is no kernel for f64.
pub fn open_f64() -> Result<Box<dyn Device<f64>>, String> {
    Err("a graphics adapter computes in f32 only".to_string())
}

/// Runs the steps.
#[derive(Debug)]
pub struct Engine<T> {
    /// `None` for the core's own.
    device: Option<Box<dyn Device<T>>>,
    name: String,
}

impl<T: Real> Engine<T> {
    /// The engine for a choice and what to tell the user when the choice cannot be met.
    pub fn new(choice: Choice, trainer: &Trainer<T>, open: Open<T>) -> (Self, Option<String>) {
        let cpu = Self { device: None, name: "cpu".to_string() };
        if choice == Choice::Cpu {
            return (cpu, None);
        }
        match open() {
            Ok(device) if trainer.estimator().is_some_and(|estimator| device.takes(estimator)) => {
                let name = format!("gpu: {}", device.name());
                (Self { device: Some(device), name }, None)
            }
            Ok(_) => {
                let method = &trainer.config().method;
                (cpu, Some(format!("method {method} has no graphics kernel; training on the CPU")))
            }
            Err(reason) => (cpu, Some(format!("{reason}; training on the CPU"))),
        }
    }

    /// What reports call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// [`Trainer::step`].
    pub fn step(&mut self, trainer: &mut Trainer<T>) -> undercurve::Result<Option<f64>> {
        match &mut self.device {
            None => trainer.step(),
            Some(device) => trainer.step_with(device.as_mut()),
        }
    }

    /// Says once that the device failed; the steps from then on are the CPU's.
    pub fn gave_up(&mut self) -> Option<String> {
        let reason = self.device.as_ref()?.failure()?.to_string();
        self.device = None;
        self.name += ", then cpu";
        Some(format!("{reason}; training goes on on the CPU"))
    }
}
