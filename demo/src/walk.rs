//! What every training run does on the way: steps, reports, saves, Ctrl-C.

use crate::device::Engine;
use crate::error::{CliError, Result};
use crate::output;
use crate::report::{self, Reporter};
use anyhow::anyhow;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use undercurve::Real;
use undercurve::checkpoint::SavedModel;
use undercurve::data::{Dataset, Preparation, Targets};
use undercurve::metric::{Confusion, Metrics, RocPoint};
use undercurve::trainer::{Report, Trainer, Warning};

/// Set by Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);

/// How a run is told, and when it is saved and stopped.
pub struct Manner<'a> {
    /// The training data's file.
    pub file: &'a Path,
    /// Where to save.
    pub place: Option<&'a Path>,
    /// Steps between reports, and between saves; a twentieth of the run without.
    pub every: Option<u64>,
    pub save_every: Option<u64>,
    /// When to stop.
    pub seconds: Option<f64>,
    /// JSON instead of a table.
    pub json: bool,
}

/// A run in progress.
pub struct Training<T: Real> {
    pub trainer: Trainer<T>,
    pub engine: Engine<T>,
    /// Of its data.
    pub preparation: Preparation,
    /// Share of the rows that it trains on, where one file was split.
    pub split: Option<f64>,
    /// The last.
    pub report: Option<Report>,
}

impl<T: Real> Training<T> {
    /// What is trained, in one line.
    fn opening(&self, file: &str) -> String {
        let trainer = &self.trainer;
        let (data, config) = (trainer.train_data(), trainer.config());
        let rows = |data: &Dataset<T>, what: &str| match data.targets() {
            Targets::Binary(_) => format!("{} {what} ({} positive)", data.len(), data.positives()),
            _ => format!("{} {what}", data.len()),
        };
        let classes = match data.classes().len() {
            0 => String::new(),
            classes => format!(", {classes} classes"),
        };
        let test = trainer.test_data().map_or_else(String::new, |test| format!(", {}", rows(test, "test rows")));
        let first = match trainer.pretraining_steps() {
            0 => String::new(),
            steps => format!(" (the first {steps} of cross-entropy)"),
        };
        let length = match trainer.progress() {
            (_, end) if end == trainer.total_steps() => format!("{end} steps{first}"),
            (_, rows) => format!("{:.1} passes", rows as f64 / data.len() as f64),
        };
        format!(
            "{file}: {}{classes}, {} columns (scale: {}){test}; {}, {}, seed {}, {length} on {}",
            rows(data, "rows"),
            data.cols(),
            self.preparation.scale().name(),
            config.method,
            config.model,
            config.seed,
            self.backend()
        )
    }

    fn method(&self) -> &'static undercurve::registry::Method {
        self.trainer.method().expect("a trainer of a method")
    }

    /// Measures and prints.
    fn report(&mut self, reporter: &mut Reporter, seconds: f64) -> Result<()> {
        let report = self.trainer.report().map_err(|error| self.left_range(error))?;
        reporter.report(&report, self.method(), self.preparation.classes(), seconds)?;
        self.report = Some(report);
        Ok(())
    }

    /// Of two classes, the point of the ROC curve of the training rows that the upper end of the range allows.
    fn rates(&mut self) -> Result<Option<RocPoint>> {
        let train = self.trainer.train_data().clone();
        let Targets::Binary(labels) = train.targets() else { return Ok(None) };
        let mut scores = vec![T::ZERO; train.len()];
        self.trainer.score(train.rows(), &mut scores)?;
        Ok(Some(Metrics::new().point_at_fpr(&scores, labels, self.trainer.config().fpr.1)?))
    }

    /// False- and true-positive rate of the test rows at a threshold.
    fn test_rates(&mut self, threshold: f64) -> Result<Option<(f64, f64)>> {
        let Some(test) = self.trainer.test_data().cloned() else { return Ok(None) };
        let mut scores = vec![T::ZERO; test.len()];
        self.trainer.score(test.rows(), &mut scores)?;
        let counts = Confusion::at(&scores, test.labels(), T::of(threshold))?;
        Ok(counts.fpr().zip(counts.tpr()))
    }

    /// What the bar says besides how far it is, given the objective on the last batch.
    fn message(&self, value: Option<f64>) -> String {
        match self.trainer.step_size() {
            Some((alpha, _)) => format!("step size {alpha:.4}"),
            None => format!("loss {:.4}", value.unwrap_or(f64::NAN)),
        }
    }

    /// What is to be said against the model of the last report.
    fn warning(&self) -> Option<Warning> {
        self.report.as_ref()?.warning
    }

    /// What people read of the last report besides its line.
    fn details(&self) -> Option<String> {
        let report = self.report.as_ref()?;
        let (part, figures) = report.test.as_ref().map_or(("train", &report.train), |test| ("test", test));
        let table = report::class_table(figures.classes()?, self.preparation.classes());
        Some(format!("Each class against all others ({part}):\n{table}"))
    }

    /// What the last line says of the run.
    fn totals(&self, seconds: f64) -> Value {
        let (data, config) = (self.trainer.train_data(), self.trainer.config());
        let mut totals = json!({
            "done": true, "method": config.method, "model": config.model.to_string(), "seed": config.seed,
            "rows": data.len(), "columns": data.cols(), "scale": self.preparation.scale().name(),
            "backend": self.engine.name(), "precision": precision::<T>(),
            "steps": self.trainer.steps_done(), "pass": self.trainer.pass(), "seconds": seconds,
        });
        match data.targets() {
            Targets::Binary(_) => totals["fpr"] = json!([config.fpr.0, config.fpr.1]),
            Targets::Classes { names, .. } => totals["classes"] = json!(names),
            _ => {}
        }
        for (part, data) in [("", Some(data)), ("test_", self.trainer.test_data())] {
            let Some(data) = data else { continue };
            totals[format!("{part}rows")] = data.len().into();
            match data.targets() {
                Targets::Binary(_) => totals[format!("{part}positives")] = data.positives().into(),
                Targets::Classes { .. } => totals[format!("{part}class_rows")] = json!(data.class_sizes()),
                _ => {}
            }
        }
        report::warn(&mut totals, self.warning(), self.method());
        totals
    }

    /// What it ran on, for people.
    fn backend(&self) -> String {
        format!("{} {}", self.engine.name(), precision::<T>())
    }

    /// The file's bytes.
    fn save(&mut self) -> Result<Vec<u8>> {
        let saved = SavedModel {
            preparation: self.preparation.clone(),
            split: self.split,
            threshold: self.rates()?.map(|rates| rates.threshold),
            real_bytes: T::BYTES as u8,
            trainer: self.trainer.save(),
        };
        Ok(saved.to_bytes())
    }

    /// Why a step failed: a batch had nothing to compare, or numbers grew beyond the type.
    fn failed(&self, error: undercurve::Error) -> CliError {
        if error != undercurve::Error::OneClass {
            return self.left_range(error);
        }
        let step = self.trainer.steps_done() + 1;
        let (batch, labels) = (self.trainer.batch_index(), self.trainer.train_data().labels());
        let none_of = |label| !labels.is_empty() && batch.iter().all(|&row| labels[row as usize] != label);
        let absent = [(1, "positive"), (0, "negative")].into_iter().find(|(label, _)| none_of(*label));
        let had = absent.map_or_else(|| "rows of one class alone".to_string(), |(_, class)| format!("no {class} row"));
        CliError::input(format!(
            "step {step}: the batch of {} rows had {had}, and this method compares classes; \
             use --set sampling=stratified, or a larger batch (--set batch=…)",
            batch.len()
        ))
    }

    /// Numbers grew beyond the type: the options are not at fault for certain, but nearly always.
    fn left_range(&self, error: undercurve::Error) -> CliError {
        let step = self.trainer.steps_done();
        let rate = match self.trainer.estimator() {
            Some(_) => "learning rate (--set lr=…)",
            None => "step size (--set alpha=…)",
        };
        anyhow!("training broke down after {step} steps ({error}); a smaller {rate} may help").into()
    }
}

/// Steps, reports and saves until the run is over.
pub fn walk<T: Real>(manner: &Manner<'_>, run: &mut Training<T>) -> Result<()> {
    // A second Ctrl-C ends the program where it stands. Without a handler the first one does.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
    let place = manner.place;
    // What a run that comes to nothing puts back.
    let before_run = place.and_then(|path| std::fs::read(path).ok());
    let clock = Instant::now();
    let seconds = || clock.elapsed().as_secs_f64();
    let (mut at, end) = run.trainer.progress();
    let part = end.div_ceil(20).max(1);
    let mut reporter = Reporter::new(manner.json, at, end);
    reporter.say(run.opening(&manner.file.display().to_string()))?;

    let mut closed = false;
    // At the start, and whenever so many steps, or a twentieth of the run, are done.
    let (mut report_due, mut save_due) = (true, true);
    let mut reported = None;
    loop {
        let done = run.trainer.steps_done();
        let out_of_time = manner.seconds.is_some_and(|limit| seconds() >= limit);
        let mut over = run.trainer.is_done() || out_of_time || STOP.load(Ordering::SeqCst) || closed;
        // (A full gradient moves the run along without a step: nothing new to report.)
        if (over || report_due && reported != Some(done)) && !closed {
            (report_due, reported) = (false, Some(done));
            match run.report(&mut reporter, seconds()) {
                Err(CliError::Closed) => (closed, over) = (true, true),
                other => other?,
            }
        }
        if let Some(path) = place
            && (over || save_due)
        {
            output::write_atomic(path, &run.save()?)?;
        }
        if over {
            break;
        }
        let stepped = run.engine.step(&mut run.trainer).map_err(|error| run.failed(error))?;
        if let Some(note) = run.engine.gave_up() {
            eprintln!("note: {note}");
        }
        let before = std::mem::replace(&mut at, run.trainer.progress().0);
        let moved = run.trainer.steps_done() > done;
        let due = |every: Option<u64>| match every {
            Some(every) => moved && run.trainer.steps_done().is_multiple_of(every),
            None => before / part != at / part,
        };
        report_due |= due(manner.every);
        save_due = due(manner.save_every.or(manner.every));
        reporter.step(at, run.trainer.steps_done(), || run.message(stepped));
    }
    if closed {
        return Err(CliError::Closed);
    }
    if let Some(details) = run.details() {
        reporter.say(details)?;
    }
    let mut totals = run.totals(seconds());
    if let Some(rates) = run.rates()? {
        let (at, most) = (rates.threshold, run.trainer.config().fpr.1);
        totals["threshold"] = json!({"at": at.is_finite().then_some(at), "fpr": rates.fpr, "tpr": rates.tpr});
        let mut text =
            format!("Scores from {at:.4}: false-positive rate {:.4} of {most} on the training rows, ", rates.fpr);
        text += &format!("true-positive rate {:.4}", rates.tpr);
        if let Some((fpr, tpr)) = run.test_rates(at)? {
            totals["threshold"]["test_fpr"] = fpr.into();
            totals["threshold"]["test_tpr"] = tpr.into();
            text += &format!("; test {fpr:.4} and {tpr:.4}");
        }
        reporter.say(text)?;
    }
    let interrupted = STOP.load(Ordering::SeqCst) && !run.trainer.is_done();
    let ranks_nothing = run.trainer.is_done() && run.warning() == Some(Warning::Constant);
    if let (true, Some(path)) = (ranks_nothing, place) {
        match &before_run {
            Some(bytes) => output::write_atomic(path, bytes)?,
            None => std::fs::remove_file(path).map_err(|error| CliError::file(path, &error))?,
        }
    }
    let place = place.filter(|_| !ranks_nothing);
    let saved = place.map_or_else(String::new, |path| format!(", saved to {}", path.display()));
    let sentence = format!(
        "{} steps ({:.1} passes) in {:.2} s on {}{saved}",
        run.trainer.steps_done(),
        run.trainer.pass(),
        seconds(),
        run.backend()
    );
    if interrupted {
        totals["interrupted"] = true.into();
    }
    reporter.finish(&totals, sentence)?;
    if let Some(warning) = run.warning() {
        let sentence = warning.sentence(run.method());
        if ranks_nothing {
            return Err(anyhow!("{sentence}; nothing was saved").into());
        }
        eprintln!("warning: {sentence}");
    }
    if interrupted { Err(CliError::Interrupted) } else { Ok(()) }
}

/// The number type.
fn precision<T: Real>() -> &'static str {
    if T::BYTES == 8 { "f64" } else { "f32" }
}
