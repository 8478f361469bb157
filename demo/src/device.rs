//! What the steps of a run are computed on.

use clap::ValueEnum;
use undercurve::Real;
use undercurve::trainer::Trainer;

/// `--device`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Device {
    /// This processor
    #[default]
    Cpu,
    /// A graphics adapter; the processor, with a note, where there is none
    Gpu,
}

/// Runs the steps.
#[derive(Debug)]
pub enum Engine {
    /// The core's own.
    Cpu,
}

impl Engine {
    /// The engine for a device and what to tell the user about the choice.
    pub fn new<T: Real>(device: Device, _trainer: &Trainer<T>) -> (Self, Option<String>) {
        match device {
            Device::Cpu => (Self::Cpu, None),
            Device::Gpu => (Self::Cpu, Some("no graphics adapter can be used; training on the CPU".to_string())),
        }
    }

    /// What reports call it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
        }
    }

    /// [`Trainer::step`].
    pub fn step<T: Real>(&mut self, trainer: &mut Trainer<T>) -> undercurve::Result<Option<f64>> {
        match self {
            Self::Cpu => trainer.step(),
        }
    }
}
