//! What the steps of a run are computed on.

use crate::error::{CliError, Result};
use std::time::{Duration, Instant};
use undercurve::Real;
use undercurve::trainer::Trainer;

#[cfg(feature = "gpu")]
mod alone;
#[cfg(feature = "gpu")]
mod whole;

/// `--device`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// `cpu`: this processor.
    Cpu,
    /// `auto`: of many runs, and of one of a large model, whichever is faster, tried on both. Never a software adapter.
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

/// What makes the steps of a run in the core's place.
pub trait Elsewhere<T: Real> {
    /// What it is, for display.
    fn name(&self) -> String;

    /// Makes some steps, at most so many; as [`Trainer::step`].
    ///
    /// # Errors
    /// Those of the trainer's steps.
    fn advance(&mut self, trainer: &mut Trainer<T>, most: u64) -> undercurve::Result<Option<f64>>;

    /// What became of it, said once, and whether it goes on.
    fn trouble(&mut self) -> Option<(String, bool)>;
}

/// What came of opening a graphics adapter for a run.
pub struct Opened<T> {
    /// `None` where the processor is to train instead.
    elsewhere: Option<Box<dyn Elsewhere<T> + Send>>,
    /// What to tell the user: of the adapter, or why there is none.
    note: Option<String>,
}

impl<T> Opened<T> {
    fn none(why: impl Into<String>) -> Self {
        Self { elsewhere: None, note: Some(why.into()) }
    }
}

/// Opens the adapter of this name, or the fastest in hardware, for a run.
pub type Open<T> = fn(Option<&str>, &Trainer<T>) -> Result<Opened<T>>;

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

/// The adapter for a run in f32.
///
/// # Errors
/// As [`refused`].
#[cfg(feature = "gpu")]
pub fn open_f32(name: Option<&str>, trainer: &Trainer<f32>) -> Result<Opened<f32>> {
    let context = match adapter(name) {
        Ok(context) => context,
        Err(error) => return Ok(Opened::none(refused(&error)?)),
    };
    let note = software(&context);
    type Made = Box<dyn Elsewhere<f32> + Send>;
    let made = match is_whole(trainer) {
        true => whole::Whole::new(&context, name, trainer).map(|whole| Box::new(whole) as Made),
        false => alone::Alone::new(&context, name, trainer).map(|alone| Box::new(alone) as Made),
    };
    Ok(match made {
        Ok(elsewhere) => Opened { elsewhere: Some(elsewhere), note },
        Err(undercurve_gpu::GpuError::Core(error)) => {
            Opened::none(format!("method {} has no graphics kernel ({error})", trainer.config().method))
        }
        Err(error) => Opened::none(one_line(&error.to_string())),
    })
}

/// The adapter for a run in f32.
///
/// # Errors
/// None.
#[cfg(not(feature = "gpu"))]
pub fn open_f32(_: Option<&str>, _: &Trainer<f32>) -> Result<Opened<f32>> {
    Ok(Opened::none("no graphics adapter can be used (this program was built without the feature gpu)"))
}

/// There is no kernel for f64.
///
/// # Errors
/// None.
pub fn open_f64(_: Option<&str>, _: &Trainer<f64>) -> Result<Opened<f64>> {
    Ok(Opened::none("a graphics adapter computes in f32 only"))
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
    return trainer.lane().is_ok_and(|lane| undercurve_gpu::Lanes::is_large(&lane.shape));
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
    if !is_whole(trainer) || trainer.steps_done() >= trainer.pretraining_steps() {
        return Some(trainer.clone());
    }
    let mut config = trainer.config().clone();
    config.settings.retain(|(name, _)| !name.starts_with("pretrain"));
    config.settings.push(("pretrain".to_string(), "0".to_string()));
    Trainer::new(&config, trainer.train_data().clone(), None).ok()
}

/// Keeps the adapter where it is faster.
fn tried<T: Real>(opened: Opened<T>, trainer: &Trainer<T>) -> Opened<T> {
    let Some(mut elsewhere) = opened.elsewhere else { return opened };
    let name = elsewhere.name();
    let Some(start) = at_own_steps(trainer) else {
        return Opened::none("CPU: with these settings it cannot be tried on both before its own steps");
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
        return Opened::none(format!("CPU: {name} failed in a trial ({why})"));
    }
    if let Some(error) = error {
        return Opened::none(format!("CPU: a trial on {name} ended early ({error})"));
    }
    let mut one = start;
    let cpu = rate(|| u64::from(matches!(one.step(), Ok(Some(_)))));
    if gpu == 0.0 || cpu == 0.0 || !gpu.is_finite() {
        return Opened::none("CPU: this run is over before a trial is");
    }
    if gpu > cpu {
        let note = format!("GPU: {:.1} times faster on {name} than on this CPU, tried for .1 s", gpu / cpu);
        return Opened { elsewhere: Some(elsewhere), note: Some(note) };
    }
    Opened::none(format!("CPU: {:.1} times faster here than on {name}, tried for .1 s", cpu / gpu))
}

/// Runs the steps.
pub struct Engine<T> {
    /// `None` for the core's own.
    elsewhere: Option<Box<dyn Elsewhere<T> + Send>>,
    name: String,
}

impl<T: Real> Engine<T> {
    /// The core's own.
    pub fn cpu() -> Self {
        Self { elsewhere: None, name: "cpu".to_string() }
    }

    /// The engine for a choice and what to tell the user about it, such as that it cannot be met.
    ///
    /// # Errors
    /// [`CliError::Input`](crate::error::CliError::Input) when the user has to choose another adapter.
    pub fn new(choice: &Choice, trainer: &Trainer<T>, open: Open<T>) -> Result<(Self, Option<String>)> {
        let cpu = Self::cpu();
        let Opened { elsewhere, note } = match choice {
            Choice::Cpu => return Ok((cpu, None)),
            _ if !trainer.train_data().classes().is_empty() => Opened::none("several classes have no graphics kernel"),
            Choice::Auto if !is_large(trainer) => {
                let why = "one run is faster on the CPU than on a GPU; many (--seeds, --grid), large models and exact methods over many rows are tried on both";
                return Ok((cpu, Some(why.to_string())));
            }
            Choice::Auto => match open(None, trainer) {
                Ok(opened) => tried(opened, trainer),
                // Software is not taken unasked.
                Err(CliError::Input(why)) => Opened::none(why.trim_start_matches("--device gpu: ")),
                Err(other) => return Err(other),
            },
            Choice::Gpu => open(None, trainer)?,
            Choice::Named(name) => open(Some(name), trainer)?,
        };
        Ok(match elsewhere {
            Some(elsewhere) => {
                let name = format!("gpu: {}", elsewhere.name());
                (Self { elsewhere: Some(elsewhere), name }, note)
            }
            None => (cpu, Some(format!("{}; training on the CPU", note.unwrap_or_default()))),
        })
    }

    /// What reports call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A step of the core's, or some elsewhere, at most so many; as [`Trainer::step`].
    pub fn advance(&mut self, trainer: &mut Trainer<T>, most: u64) -> undercurve::Result<Option<f64>> {
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
        let tried = tried(Opened { elsewhere: Some(Box::new(Slow(Duration::from_millis(60)))), note: None }, &trainer);
        let note = tried.note.unwrap();
        assert!(tried.elsewhere.is_none() && note.starts_with("CPU: ") && note.contains(" than on slow"), "{note}");
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
