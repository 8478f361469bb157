//! What the steps of a run are computed on.

use crate::args::device::Choice;
use crate::error::{CliError, Result};
use std::time::{Duration, Instant};
use undercurve::Real;
use undercurve::trainer::Trainer;
#[cfg(feature = "gpu")]
use undercurve_gpu::GpuError;

#[cfg(feature = "gpu")]
pub mod able;
#[cfg(feature = "gpu")]
mod alone;
#[cfg(feature = "gpu")]
mod whole;

/// What makes the steps of a run in the core's place.
pub trait Elsewhere<T: Real> {
    /// What it is, for display.
    fn name(&self) -> String;

    /// Makes some steps, at most so many; as [`Trainer::step`].
    fn advance(&mut self, trainer: &mut Trainer<T>, most: u64) -> undercurve::Result<Option<f64>>;

    /// Steps that it made itself; the others were the core's.
    fn made(&self) -> u64;

    /// What became of it, said once, and whether it goes on.
    fn trouble(&mut self) -> Option<(String, bool)>;
}

/// What came of opening a graphics adapter for a run.
#[cfg_attr(not(feature = "gpu"), expect(dead_code, reason = "no driver is asked"))]
pub enum Opened<T> {
    /// What makes the steps, and what to tell of it.
    Here(Box<dyn Elsewhere<T> + Send>, Option<String>),
    /// There is none for this run, and what would help: known without a driver's doing.
    Refused(String),
    /// A driver failed.
    Failed(String),
}

/// Opens the adapter of this name, or the fastest in hardware, for a run.
pub type Open<T> = fn(Option<&str>, &Trainer<T>) -> Opened<T>;

/// The adapter of this name, or the fastest in hardware.
#[cfg(feature = "gpu")]
pub fn adapter(name: Option<&str>) -> std::result::Result<undercurve_gpu::Context, GpuError> {
    name.map_or_else(undercurve_gpu::Context::new, undercurve_gpu::Context::named)
}

/// Whether a driver failed, so that nobody could know before.
#[cfg(feature = "gpu")]
pub fn is_failure(error: &GpuError) -> bool {
    matches!(error, GpuError::NoDevice { .. } | GpuError::Device { .. } | GpuError::Lost { .. })
}

/// Why there is no adapter, in a line, and how to get one.
#[cfg(feature = "gpu")]
pub fn why_none(error: &GpuError) -> String {
    match error {
        GpuError::OnlySoftware { names } => {
            // The first word of a name is enough to ask for it.
            let word = names.first().and_then(|name| name.split_whitespace().next()).unwrap_or("NAME").to_lowercase();
            format!("{error}; --device gpu:{word} takes one all the same")
        }
        error => one_line(&error.to_string()),
    }
}

/// What is asked for and cannot be had: the same whether there is a driver or not.
pub fn refusal(choice: &Choice, why: &str) -> CliError {
    CliError::input(format!(
        "--device {choice}: {why}; use --device cpu, or --device auto for whichever can and is faster"
    ))
}

/// What to tell of an adapter that is no graphics card.
#[cfg(feature = "gpu")]
pub fn software(context: &undercurve_gpu::Context) -> Option<String> {
    context.is_software().then(|| format!("{} is a software adapter, slower than the CPU", context.name()))
}

/// A driver's answer, which may have several lines, in one.
#[cfg(feature = "gpu")]
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The adapter for a run in f32.
#[cfg(feature = "gpu")]
pub fn open_f32(name: Option<&str>, trainer: &Trainer<f32>) -> Opened<f32> {
    if let Err(why) = able::able(trainer, able::Runs::One) {
        return Opened::Refused(why);
    }
    let context = match adapter(name) {
        Ok(context) => context,
        Err(error) if is_failure(&error) => return Opened::Failed(why_none(&error)),
        Err(error) => return Opened::Refused(why_none(&error)),
    };
    let note = software(&context);
    type Made = Box<dyn Elsewhere<f32> + Send>;
    let made = match is_whole(trainer) {
        true => whole::Whole::new(&context, name, trainer).map(|whole| Box::new(whole) as Made),
        false => alone::Alone::new(&context, name, trainer).map(|alone| Box::new(alone) as Made),
    };
    match made {
        Ok(elsewhere) => Opened::Here(elsewhere, note),
        Err(error) if is_failure(&error) => Opened::Failed(one_line(&error.to_string())),
        Err(error) => Opened::Refused(one_line(&error.to_string())),
    }
}

/// The adapter for a run in f32.
#[cfg(not(feature = "gpu"))]
pub fn open_f32(_: Option<&str>, _: &Trainer<f32>) -> Opened<f32> {
    Opened::Refused(NOT_BUILT.to_string())
}

/// Why there is no adapter.
#[cfg(not(feature = "gpu"))]
pub const NOT_BUILT: &str = "this program was built without the feature gpu";
/// Why there is none for f64.
pub const F32_ONLY: &str = "a GPU computes in f32 only, so leave out --precision f64";

/// There is no kernel for f64.
pub fn open_f64(_: Option<&str>, _: &Trainer<f64>) -> Opened<f64> {
    Opened::Refused(F32_ONLY.to_string())
}

/// Rows from which on one evaluation of an exact objective may be: below, its forty dispatches and two answers alone take longer.
const MANY: usize = 1 << 13;

/// Whether a run's steps are evaluations of an objective over all rows.
fn is_whole<T: Real>(trainer: &Trainer<T>) -> bool {
    matches!(trainer.whole(), Ok(Some(_)))
}

/// Whether one run may be faster on a GPU.
fn is_large<T: Real>(trainer: &Trainer<T>) -> bool {
    if is_whole(trainer) {
        return trainer.train_data().len() >= MANY;
    }
    #[cfg(feature = "gpu")]
    return trainer.step_spec().is_ok_and(|spec| undercurve_gpu::DeviceRuns::is_large(&spec.shape));
    #[cfg(not(feature = "gpu"))]
    {
        let _ = trainer;
        false
    }
}

/// How long each of two sides is tried by `auto`.
const TRIAL: Duration = Duration::from_millis(50);

/// Steps a second of `advance`, which says how many it made. (The first call, which builds what is built once, is not counted.)
pub fn rate(mut advance: impl FnMut() -> u64) -> f64 {
    advance();
    let (clock, mut steps) = (Instant::now(), 0);
    loop {
        let made = advance();
        steps += made;
        if made == 0 || clock.elapsed() > TRIAL {
            return steps as f64 / clock.elapsed().as_secs_f64();
        }
    }
}

/// The run, or of an exact method one that leaves out the steps of cross-entropy before its own, which are the core's.
fn at_own_steps<T: Real>(trainer: &Trainer<T>) -> Option<Trainer<T>> {
    if is_whole(trainer) { without_pretraining(trainer) } else { Some(trainer.clone()) }
}

/// The run, or one that leaves out the steps of cross-entropy before the method's own.
fn without_pretraining<T: Real>(trainer: &Trainer<T>) -> Option<Trainer<T>> {
    if trainer.steps_done() >= trainer.pretraining_steps() {
        return Some(trainer.clone());
    }
    let mut config = trainer.config().clone();
    config.settings.retain(|(name, _)| !name.starts_with("pretrain"));
    config.settings.push(("pretrain".to_string(), "0".to_string()));
    Trainer::new(&config, trainer.train_data().clone(), None).ok()
}

/// Keeps the adapter where it is faster; or why it is the processor.
fn tried<T: Real>(
    mut elsewhere: Box<dyn Elsewhere<T> + Send>,
    trainer: &Trainer<T>,
) -> std::result::Result<(Box<dyn Elsewhere<T> + Send>, String), String> {
    let name = elsewhere.name();
    let Some(start) = at_own_steps(trainer) else {
        return Err("with these settings it cannot be tried on both before its own steps".to_string());
    };
    let mut one = start.clone();
    let (mut most, mut error) = (4, None);
    let gpu = rate(|| {
        let before = one.steps_done();
        most *= 2;
        error = elsewhere.advance(&mut one, most).err();
        one.steps_done() - before
    });
    if let Some((why, _)) = elsewhere.trouble() {
        return Err(format!("{name} failed in a trial ({why})"));
    }
    if let Some(error) = error {
        return Err(format!("a trial on {name} ended early ({error})"));
    }
    let mut one = start;
    let cpu = rate(|| u64::from(matches!(one.step(), Ok(Some(_)))));
    if gpu == 0.0 || cpu == 0.0 || !gpu.is_finite() {
        return Err("this run is over before a trial is".to_string());
    }
    if gpu > cpu {
        let note = format!("GPU: {:.1} times faster on {name} than on this CPU, tried for .1 s", gpu / cpu);
        return Ok((elsewhere, note));
    }
    Err(format!("{:.1} times faster here than on {name}, tried for .1 s", cpu / gpu))
}

/// Runs the steps.
pub struct Engine<T> {
    /// `None` for the core's own.
    elsewhere: Option<Box<dyn Elsewhere<T> + Send>>,
    name: String,
    /// Whether it has run any.
    ran: bool,
}

impl<T: Real> Engine<T> {
    /// The core's own.
    pub fn cpu() -> Self {
        Self { elsewhere: None, name: "cpu".to_string(), ran: false }
    }

    /// The engine for a choice and what to tell the user about it. What is asked for by name is that or an error; `auto` always trains.
    pub fn new(choice: &Choice, trainer: &Trainer<T>, open: Open<T>) -> Result<(Self, Option<String>)> {
        let on = |elsewhere: Box<dyn Elsewhere<T> + Send>| {
            let name = format!("gpu: {}", elsewhere.name());
            Self { elsewhere: Some(elsewhere), name, ran: false }
        };
        let name = match choice {
            Choice::Cpu => return Ok((Self::cpu(), None)),
            Choice::Auto if !is_large(trainer) => {
                let why = "one run is faster on the CPU than on a GPU; many (--seeds, --grid), large models and exact methods over many rows are tried on both";
                return Ok((Self::cpu(), Some(why.to_string())));
            }
            Choice::Auto | Choice::Gpu => None,
            Choice::Named(name) => Some(&**name),
        };
        let why = match (open(name, trainer), choice) {
            (Opened::Here(elsewhere, _), Choice::Auto) => match tried(elsewhere, trainer) {
                Ok((elsewhere, note)) => return Ok((on(elsewhere), Some(note))),
                Err(why) => format!("CPU: {why}"),
            },
            (Opened::Here(elsewhere, note), _) => return Ok((on(elsewhere), note)),
            // (Software is not taken unasked.)
            (Opened::Refused(why) | Opened::Failed(why), Choice::Auto) => format!("CPU: {why}"),
            (Opened::Refused(why), _) => return Err(refusal(choice, &why)),
            (Opened::Failed(why), _) => format!("{why}; training on the CPU"),
        };
        Ok((Self::cpu(), Some(why)))
    }

    /// What reports call it: what the steps were really made by.
    pub fn name(&self) -> &str {
        let idle = self.elsewhere.as_ref().is_some_and(|elsewhere| elsewhere.made() == 0);
        if idle && self.ran && !self.name.contains(", then ") { "cpu" } else { &self.name }
    }

    /// A step of the core's, or some elsewhere, at most so many; as [`Trainer::step`].
    pub fn advance(&mut self, trainer: &mut Trainer<T>, most: u64) -> undercurve::Result<Option<f64>> {
        self.ran = true;
        match &mut self.elsewhere {
            None => trainer.step(),
            Some(elsewhere) => elsewhere.advance(trainer, most),
        }
    }

    /// Says once that the device failed, and where the steps are made from then on.
    pub fn gave_up(&mut self) -> Option<String> {
        let (reason, goes_on) = self.elsewhere.as_mut()?.trouble()?;
        let next = match (goes_on, &self.elsewhere) {
            (true, Some(elsewhere)) => elsewhere.name(),
            _ => {
                self.elsewhere = None;
                "the CPU".to_string()
            }
        };
        self.name += &format!(", then {}", if goes_on { &next } else { "cpu" });
        Some(format!("{reason}; training goes on on {next}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use undercurve::data::Dataset;
    use undercurve::trainer::Config;

    /// Steps of the core's that take their time.
    struct Slow(Duration);

    impl Elsewhere<f32> for Slow {
        fn name(&self) -> String {
            "slow".to_string()
        }
        fn advance(&mut self, trainer: &mut Trainer<f32>, most: u64) -> undercurve::Result<Option<f64>> {
            std::thread::sleep(self.0);
            (0..most.max(1)).try_fold(None, |_, _| trainer.step())
        }
        fn made(&self) -> u64 {
            1
        }
        fn trouble(&mut self) -> Option<(String, bool)> {
            None
        }
    }

    #[test]
    fn the_faster_side_is_taken() {
        let x: Vec<f32> = (0..4000).map(|k| (k * 7 % 101) as f32 / 101.0).collect();
        let labels = (0..400).map(|row| u8::from(row % 5 == 0)).collect();
        let data = Arc::new(Dataset::dense(x, labels, 10).unwrap());
        let config = Config { length: undercurve::trainer::Length::Steps(1 << 40), ..Config::default() };
        let trainer = Trainer::<f32>::new(&config, data, None).unwrap();
        let note = tried(Box::new(Slow(Duration::from_millis(60))), &trainer).err().unwrap();
        assert!(note.contains("times faster here than on slow"), "{note}");
        assert!(!is_large(&trainer));
    }

    /// Steps of cross-entropy, which are the core's either way, say nothing of an exact method's.
    #[test]
    fn exact_methods_are_tried_at_their_own_steps() {
        let of = |rows: usize| {
            let x = (0..rows).map(|k| (k * 7 % 101) as f32 / 101.0).collect();
            let data = Arc::new(Dataset::dense(x, (0..rows).map(|row| u8::from(row % 5 == 0)).collect(), 1).unwrap());
            let settings = vec![("pretrain".to_string(), "5".to_string())];
            let config = Config { method: "ap-exact".to_string(), settings, ..Config::default() };
            Trainer::<f32>::new(&config, data, None).unwrap()
        };
        let trainer = of(100);
        assert!(
            matches!(trainer.wanted(), Ok(None)) && matches!(at_own_steps(&trainer).unwrap().wanted(), Ok(Some(_)))
        );
        assert!(!is_large(&trainer) && is_large(&of(MANY)));
    }
}
