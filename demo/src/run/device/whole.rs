//! One run of an exact method on a graphics adapter: its objective is evaluated there, and the step rule is the core's.

use super::{Elsewhere, adapter, one_line};
use undercurve::trainer::Trainer;
use undercurve_gpu::{Context, GpuError, GpuObjective};

/// The rows of one run on a device.
pub struct Whole {
    /// (`None` after a failure.)
    objective: Option<GpuObjective>,
    name: String,
    /// The adapter that was asked for.
    asked: Option<String>,
    failure: Option<GpuError>,
    /// One to take over, once.
    another: Option<Context>,
    renewed: bool,
    /// Evaluations in a row that were left to the core.
    left: u32,
    /// Steps by evaluations of the device.
    made: u64,
}

/// So many of them, and the device only costs time.
const LEFT: u32 = 8;

impl Whole {
    pub fn new(context: &Context, asked: Option<&str>, trainer: &Trainer<f32>) -> Result<Self, GpuError> {
        let objective = Some(GpuObjective::of(context, trainer)?);
        let (name, asked) = (context.name().to_string(), asked.map(str::to_string));
        Ok(Self { objective, name, asked, failure: None, another: None, renewed: false, left: 0, made: 0 })
    }

    /// The next step, where the device can make it.
    fn step(&mut self, trainer: &mut Trainer<f32>) -> Result<bool, GpuError> {
        if let Some(context) = self.another.take() {
            self.objective = Some(GpuObjective::of(&context, trainer)?);
        }
        self.objective.as_mut().map_or(Ok(false), |objective| objective.step(trainer))
    }
}

impl Elsewhere<f32> for Whole {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn advance(&mut self, trainer: &mut Trainer<f32>, _: u64) -> undercurve::Result<Option<f64>> {
        let wanted = self.objective.is_some() && trainer.wanted()?.is_some();
        match self.step(trainer) {
            Ok(true) => {
                self.left = 0;
                self.made += 1;
                return trainer.value().map(Some);
            }
            Ok(false) if wanted => {
                self.left += 1;
                if self.left >= LEFT {
                    let what = "what the scores of this run have come to".to_string();
                    (self.failure, self.objective) = (Some(GpuError::NoKernel { what }), None);
                }
            }
            Ok(false) => {}
            Err(GpuError::Core(error)) => return Err(error),
            Err(failure) => (self.failure, self.objective) = (Some(failure), None),
        }
        // (From where it is: the run's state never left the processor.)
        trainer.step()
    }

    fn made(&self) -> u64 {
        self.made
    }

    fn trouble(&mut self) -> Option<(String, bool)> {
        let failure = self.failure.take()?;
        let lost = matches!(failure, GpuError::Lost { .. } | GpuError::Device { .. });
        self.another = (lost && !self.renewed).then(|| adapter(self.asked.as_deref()).ok()).flatten();
        self.renewed = true;
        if let Some(context) = &self.another {
            self.name = context.name().to_string();
        }
        Some((one_line(&failure.to_string()), self.another.is_some()))
    }
}
