//! What the steps of a run are computed on.

#[cfg(feature = "gpu")]
use crate::error::CliError;
use crate::error::Result;
use undercurve::Real;
use undercurve::estimator::Estimator;
use undercurve::trainer::{Device, Trainer};

/// `--device`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// `cpu`: this processor.
    Cpu,
    /// `auto`: of many runs whichever is faster, tried on both; one run is faster on the processor. Never a software adapter.
    Auto,
    /// `gpu`: a hardware graphics adapter; the processor, with a note, where there is none.
    Gpu,
    /// `gpu:NAME`: the adapter whose name contains this, in hardware or in software.
    Named(String),
}

/// Reads `--device`.
pub fn parse(text: &str) -> Result<Choice, String> {
    match text.split_once(':') {
        None if text == "cpu" => Ok(Choice::Cpu),
        None if text == "gpu" => Ok(Choice::Gpu),
        None if text == "auto" => Ok(Choice::Auto),
        Some(("gpu", name)) if !name.trim().is_empty() => Ok(Choice::Named(name.trim().to_string())),
        _ => Err("expected cpu, auto, gpu or gpu:NAME, with a part of the adapter's name".to_string()),
    }
}

/// What came of opening a graphics adapter.
pub struct Opened<T> {
    /// `None` where the processor is to train instead.
    device: Option<Box<dyn Device<T> + Send>>,
    /// What to tell the user: of the adapter, or why there is none.
    note: Option<String>,
}

impl<T> Opened<T> {
    fn none(why: impl Into<String>) -> Self {
        Self { device: None, note: Some(why.into()) }
    }
}

/// Opens the adapter of this name, or the fastest in hardware.
pub type Open<T> = fn(Option<&str>) -> Result<Opened<T>>;

/// The adapter of this name, or the fastest in hardware.
///
/// # Errors
/// Why there is none.
#[cfg(feature = "gpu")]
pub fn adapter(name: Option<&str>) -> std::result::Result<undercurve_gpu::Context, undercurve_gpu::GpuError> {
    name.map_or_else(undercurve_gpu::Context::new, undercurve_gpu::Context::named)
}

/// What to tell of an adapter that cannot be used, where the processor is to train instead.
///
/// # Errors
/// [`CliError::Input`] when there is no adapter of the name, or none but software adapters and no name was given.
#[cfg(feature = "gpu")]
pub fn refused(error: &undercurve_gpu::GpuError) -> Result<String> {
    use undercurve_gpu::GpuError;
    match error {
        GpuError::OnlySoftware { names } => {
            // The first word of a name is enough to ask for it.
            let word = names.first().and_then(|name| name.split_whitespace().next()).unwrap_or("NAME").to_lowercase();
            Err(CliError::input(format!("--device gpu: {error}; --device gpu:{word} takes one all the same")))
        }
        GpuError::NotFound { .. } => Err(CliError::input(format!("--device: {error}"))),
        error => Ok(format!("no graphics adapter can be used ({error})")),
    }
}

/// What to tell of an adapter that is no graphics card.
#[cfg(feature = "gpu")]
pub fn software(context: &undercurve_gpu::Context) -> Option<String> {
    context.is_software().then(|| format!("{} is a software adapter, slower than the CPU", context.name()))
}

/// A driver's answer, which may have several lines, in one.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The adapter for f32.
///
/// # Errors
/// As [`refused`].
#[cfg(feature = "gpu")]
pub fn open_f32(name: Option<&str>) -> Result<Opened<f32>> {
    let context = match adapter(name) {
        Ok(context) => context,
        Err(error) => return Ok(Opened::none(refused(&error)?)),
    };
    let note = software(&context);
    Ok(Opened { device: Some(Box::new(undercurve_gpu::GpuDevice::new(context))), note })
}

/// The adapter for f32.
///
/// # Errors
/// None.
#[cfg(not(feature = "gpu"))]
pub fn open_f32(_: Option<&str>) -> Result<Opened<f32>> {
    Ok(Opened::none("no graphics adapter can be used (this program was built without the feature gpu)"))
}

/// There is no kernel for f64.
///
/// # Errors
/// None.
pub fn open_f64(_: Option<&str>) -> Result<Opened<f64>> {
    Ok(Opened::none("a graphics adapter computes in f32 only"))
}

/// Runs the steps.
#[derive(Debug)]
pub struct Engine<T> {
    /// `None` for the core's own.
    device: Option<Box<dyn Device<T> + Send>>,
    name: String,
}

impl<T: Real> Engine<T> {
    /// The core's own.
    pub fn cpu() -> Self {
        Self { device: None, name: "cpu".to_string() }
    }

    /// The engine for a choice and what to tell the user about it, such as that it cannot be met.
    ///
    /// # Errors
    /// [`CliError::Input`](crate::error::CliError::Input) when the user has to choose another adapter.
    pub fn new(choice: &Choice, trainer: &Trainer<T>, open: Open<T>) -> Result<(Self, Option<String>)> {
        let cpu = Self::cpu();
        if *choice != Choice::Cpu && !trainer.train_data().classes().is_empty() {
            return Ok((cpu, Some("several classes have no graphics kernel; training on the CPU".to_string())));
        }
        let opened = match choice {
            Choice::Cpu => return Ok((cpu, None)),
            Choice::Auto => {
                let why = "one run is faster on the CPU than on a GPU; many (--seeds, --grid) are tried on both";
                return Ok((cpu, Some(why.to_string())));
            }
            Choice::Gpu => open(None)?,
            Choice::Named(name) => open(Some(name))?,
        };
        let why = match opened.device {
            Some(device) if trainer.estimator().is_some_and(|estimator| Estimator::<T>::pairs(estimator).is_some()) => {
                let name = format!("gpu: {}", device.name());
                return Ok((Self { device: Some(device), name }, opened.note));
            }
            Some(_) => format!("method {} has no graphics kernel", trainer.config().method),
            None => opened.note.unwrap_or_default(),
        };
        Ok((cpu, Some(format!("{why}; training on the CPU"))))
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
        let reason = one_line(&self.device.as_ref()?.failure()?.to_string());
        self.device = None;
        self.name += ", then cpu";
        Some(format!("{reason}; training goes on on the CPU"))
    }
}
