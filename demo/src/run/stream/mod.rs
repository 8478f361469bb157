//! Training on a file that does not fit in memory, by passes over it.
//!
//! Three kinds of passes. The first one counts the columns ([`ColumnStats`]), which makes the preparation. The second one draws the rows
//! that begin in memory, of each class a uniform sample, and counts the classes. Then come those of training: rows that come take the
//! place of random ones of their class in memory, and whenever as many came as a batch has, a batch of those in memory is drawn, so many
//! of each class, and a step made ([`Trainer::of_stream`]). So neither the order of the file nor a class that comes late or rarely
//! matters much. Where all rows fit, none is replaced and the file is not read again.
//!
//! The memory does not grow with the rows. A pipe is copied to a temporary file, so that it gives the bits of a file ([`source`]).

mod held;
mod source;

use crate::args::train::{Begin, Manner, New, Plan, RowsPlan};
use crate::error::{CliError, Result};
use crate::run::stop::{listen, stopped};
use crate::{input, output};
use anyhow::anyhow;
use held::{Places, Sample};
use serde_json::json;
use source::{Source, reads_again};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use undercurve::Real;
use undercurve::checkpoint::{SavedModel, Trained};
use undercurve::data::{
    ColumnStats, DataError, DataErrorKind, Dataset, Options, Preparation, RawTable, check_label, label_column_of,
};
use undercurve::metric::{Bounded, Bounds, FprRange, State};
use undercurve::trainer::{Length, Predictor, Trainer, Warning};

/// Bytes of the rows in memory, and the most of them, where nothing else was said.
const BYTES: usize = 1 << 26;
const MOST: usize = 1 << 18;
const LEAST: usize = 1 << 10;
/// Bytes of the counts of scores of test rows.
const COUNTS: usize = 1 << 24;
/// Steps of a short pass, and rows of a step, where nothing was said.
const STEPS: f64 = 6000.0;
const BATCH: f64 = 64.0;

/// What goes on until the run is over.
struct Run<'a, T: Real> {
    trainer: Trainer<T>,
    places: Places,
    /// Rows that came and are not yet steps.
    due: usize,
    manner: &'a Manner,
    clock: Instant,
    every: u64,
    /// Estimates since the last report.
    values: (f64, u64),
    /// What a row of each class in memory counts.
    weights: Vec<f64>,
    measures: [f64; 2],
}

/// Trains.
pub fn run<T: Real>(plan: &Plan, room: Option<usize>) -> Result<()> {
    listen();
    let Plan { rows, manner, .. } = plan;
    let Begin::New(new) = &plan.begin else { return Err(CliError::input("--stream: begins a run of its own")) };
    let _lock = manner.out.as_deref().map(output::lock).transpose()?;
    let clock = Instant::now();
    let source = Source::new(&rows.file)?;
    let Some(preparation) = prepared(&source, rows)? else { return ended() };
    let reads = reads_again(&rows.data, &preparation);
    let cols = preparation.cols();
    let room = room.unwrap_or_else(|| (BYTES / (cols * size_of::<T>()).max(1)).clamp(LEAST, MOST));
    let seed = new.config.seed;
    let (mut sample, mut row) = (Sample::<T>::new(seed, room, cols), vec![T::ZERO; cols]);
    let mut told = Summary::default();
    let whole = source.each(&reads, |part| {
        let data = applied::<T>(&preparation, part)?;
        told.add(&data);
        for (at, &label) in data.labels().iter().enumerate() {
            data.rows().copy_row(at, &mut row)?;
            sample.add(label, &row);
        }
        Ok(true)
    })?;
    if !whole {
        return ended();
    }
    input::counts(&source.name(), &told.missing, &[], 0);
    let all = sample.seen();
    let counts = all.map(u32::try_from);
    let [Ok(negatives), Ok(positives)] = counts else {
        return Err(CliError::input(format!("{}: more than 2^32 rows of a class", source.name())));
    };
    let held = sample.into_rows()?;
    held.require_every_class(&source.name())?;
    let trainer = trainer(new, held, [negatives, positives])?;
    train(&source, plan, new, preparation, trainer, clock)
}

/// After a signal before there was a model.
fn ended() -> Result<()> {
    Err(CliError::Interrupted(stopped().unwrap_or(1)))
}

/// The preparation of all rows; none where a signal came.
fn prepared(source: &Source, rows: &RowsPlan) -> Result<Option<Preparation>> {
    let (plan, file) = (&rows.data, source.name());
    let (mut options, mut stats, mut gone) = (plan.options.clone(), ColumnStats::default(), 0);
    let mut first: Option<Vec<String>> = None;
    let whole = source.each(&input::reads_of(plan), |mut part| {
        if first.is_none() {
            plan.schema.as_ref().map_or(Ok(()), |schema| schema.check(&part)).map_err(CliError::Input)?;
            input::check_na(&plan.na, &part)?;
            input::check_columns(&options, &part)?;
            // (By its name, which later parts have, too.)
            options.label = label_column_of(&part, &options)?.or(options.label.take());
            first = Some(reading_notes(&part, &options, rows));
        }
        let label = options.label.clone().unwrap_or_default();
        check_label(&part, &label)?;
        gone += part.leave_out_missing(&label);
        let of = ColumnStats::of(&part, &options)?;
        stats.merge(&of).map_err(|error| placed(error, &part))?;
        // (A copy has none of the room that merging leaves.)
        stats = stats.clone();
        Ok(true)
    })?;
    if !whole {
        return Ok(None);
    }
    let preparation = stats.finish(&options).map_err(|error| DataError { file: file.clone(), ..error })?;
    input::say(&first.unwrap_or_default());
    let label = options.label.unwrap_or_default();
    if gone > 0 {
        input::unlabelled(&file, gone, "", &label);
    }
    Ok(Some(preparation))
}

/// What is to be said of how the first part was read. (Which columns tell rows apart, and which have no values, all parts say.)
fn reading_notes(part: &RawTable, options: &Options, rows: &RowsPlan) -> Vec<String> {
    let options = Options { keep_identifiers: true, ..options.clone() };
    let mut notes = input::reading_notes(part, Some(&options), &rows.file);
    notes.retain(|note| !note.contains(" no values and "));
    notes
}

/// An error of parts that do not go together, with the cell of this one that shows it.
fn placed(error: DataError, part: &RawTable) -> CliError {
    let file = part.name().to_string();
    match error.kind {
        DataErrorKind::NotANumber { text, column } => {
            let at = part.columns().iter().position(|name| *name == column).unwrap_or(0);
            let (line, text) = part.first_text(at).map_or((0, text), |(line, text)| (line, text.to_string()));
            let kind = DataErrorKind::NotANumber { text, column };
            DataError { file, line, column: if line > 0 { at as u32 + 1 } else { 0 }, kind }.into()
        }
        DataErrorKind::OtherFormat | DataErrorKind::MissingColumn { .. } => CliError::input(format!(
            "{file}: its first rows write numbers in another way than later ones, which is not read in parts (write them alike; --decimal and --dates say how)"
        )),
        kind => DataError { file, kind, ..error }.into(),
    }
}

/// What was filled in.
#[derive(Default)]
struct Summary {
    missing: Vec<(String, usize)>,
}

impl Summary {
    fn add<T: Real>(&mut self, data: &Dataset<T>) {
        for (name, count) in &data.summary().missing {
            match self.missing.iter_mut().find(|other| other.0 == *name) {
                Some(other) => other.1 += count,
                None => self.missing.push((name.clone(), *count)),
            }
        }
    }
}

/// The features and labels of a part.
fn applied<T: Real>(preparation: &Preparation, mut part: RawTable) -> Result<Dataset<T>> {
    part.leave_out_missing(preparation.label_column().unwrap_or_default());
    Ok(preparation.apply::<T>(part)?)
}

fn trainer<T: Real>(new: &New, held: Dataset<T>, all: [u32; 2]) -> Result<Trainer<T>> {
    let mut config = new.config.clone();
    if config.length == Length::Method && config.settings.iter().all(|(name, _)| name != "steps") {
        let rows = all.map(f64::from).iter().sum::<f64>();
        config.length = Length::Passes((STEPS * BATCH / rows).max(1.0));
    }
    Ok(Trainer::of_stream(&config, Arc::new(held), all)?)
}

/// What is trained on what.
fn opening<T: Real>(file: &str, trainer: &Trainer<T>, preparation: &Preparation) -> String {
    let first = match trainer.pretraining_steps() {
        0 => String::new(),
        steps => format!(" (the first {steps} of cross-entropy)"),
    };
    let (held, all, config) = (trainer.train_data(), trainer.population(), trainer.config());
    format!(
        "{file}: {} rows ({} positive), {} of them in memory, {} columns (scale: {}); {}, {}, seed {}, {} steps{first}",
        all.iter().map(|&rows| u64::from(rows)).sum::<u64>(),
        all[1],
        held.len(),
        held.cols(),
        preparation.scale().name(),
        config.method,
        config.model,
        config.seed,
        trainer.total_steps(),
    )
}

/// All passes of training, and what they come to.
fn train<T: Real>(
    source: &Source,
    plan: &Plan,
    new: &New,
    preparation: Preparation,
    trainer: Trainer<T>,
    clock: Instant,
) -> Result<()> {
    let Plan { rows, manner, .. } = plan;
    let held = trainer.train_data();
    let of = held.class_sizes();
    let all = trainer.population();
    let places = Places::new(new.config.seed, [of[0], of[1]], all.map(u64::from));
    let weight = |at: usize| f64::from(all[at]) / f64::from(of[at]);
    let weights = held.labels().iter().map(|&label| weight(usize::from(label))).collect();
    let opening = opening(&source.name(), &trainer, &preparation);
    let every = manner.every.unwrap_or_else(|| trainer.total_steps().div_ceil(20).max(1));
    let (due, values, measures) = (0, (0.0, 0), [f64::NAN; 2]);
    let mut run = Run { trainer, places, due, manner, clock, every, values, weights, measures };
    if !manner.json {
        output::line(opening)?;
        output::line(format!(
            "{:>10} {:>8} {:>8} {:>10} | {:>7} {:>7}",
            "step", "pass", "seconds", "objective", "AUROC", "AP"
        ))?;
    }
    run.report()?;
    let reads = reads_again(&rows.data, &preparation);
    let mut row = vec![T::ZERO; preparation.cols()];
    while !run.over() {
        if run.places.all() {
            run.step()?;
            continue;
        }
        let mut seen = [0_u64; 2];
        source.each(&reads, |part| {
            let data = applied::<T>(&preparation, part)?;
            for (at, &label) in data.labels().iter().enumerate() {
                data.rows().copy_row(at, &mut row)?;
                seen[usize::from(label)] += 1;
                run.take(label, &row)?;
            }
            Ok(!run.over())
        })?;
        if !run.over() && seen != all.map(u64::from) {
            return Err(source.changed());
        }
    }
    run.end(plan, preparation)
}

impl<T: Real> Run<'_, T> {
    /// Whether nothing more is to be done.
    fn over(&self) -> bool {
        let late = self.manner.seconds.is_some_and(|limit| self.clock.elapsed().as_secs_f64() >= limit);
        self.trainer.is_done() || late || stopped().is_some()
    }

    /// A row comes.
    fn take(&mut self, label: u8, features: &[T]) -> Result<()> {
        if let Some(row) = self.places.next(label) {
            self.trainer.replace(row, features)?;
        }
        self.due += 1;
        while !self.trainer.is_done() && self.due >= self.trainer.batch_index().len().max(1) {
            self.step()?;
            self.due = self.due.saturating_sub(self.trainer.batch_index().len().max(1));
        }
        Ok(())
    }

    fn step(&mut self) -> Result<()> {
        let before = self.trainer.steps_done();
        let value =
            self.trainer.step().map_err(|error| anyhow!("step {}: {error} (try a smaller --set lr)", before + 1))?;
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.values = (self.values.0 + value, self.values.1 + 1);
        }
        let now = self.trainer.steps_done();
        if now > before && (now.is_multiple_of(self.every) || self.trainer.is_done()) { self.report() } else { Ok(()) }
    }

    /// Tells how far it is, with metrics of the rows in memory, each class counted as in the file.
    fn report(&mut self) -> Result<()> {
        let data = self.trainer.train_data().clone();
        let mut scores = vec![T::ZERO; data.len()];
        self.trainer.score(data.rows(), &mut scores)?;
        let mut state = State::new();
        state.update(&scores, data.labels(), &self.weights)?;
        drop(data);
        let summary = state.summary(FprRange::FULL)?;
        self.measures = [summary.auroc, summary.ap];
        let (step, pass, seconds) =
            (self.trainer.steps_done(), self.trainer.pass(), self.clock.elapsed().as_secs_f64());
        let (sum, count) = std::mem::take(&mut self.values);
        let objective = (count > 0).then(|| sum / count as f64);
        if self.manner.json {
            return output::line(json!({
                "step": step, "pass": pass, "seconds": seconds, "objective": objective,
                "held": {"auroc": summary.auroc, "ap": summary.ap},
            }));
        }
        let objective = objective.map_or_else(String::new, |value| format!("{value:.6}"));
        output::line(format!(
            "{step:>10} {pass:>8.2} {seconds:>8.2} {objective:>10} | {:>7.4} {:>7.4}",
            summary.auroc, summary.ap
        ))
    }

    /// Measures test rows, writes the model, and tells what it came to.
    fn end(mut self, plan: &Plan, preparation: Preparation) -> Result<()> {
        let Plan { rows, manner, .. } = plan;
        let warning = self.trainer.report()?.warning;
        let method = self.trainer.method();
        let sentence = warning.and_then(|warning| method.map(|method| warning.sentence(method)));
        if let (Some(Warning::Constant), Some(sentence)) = (warning, &sentence) {
            return Err(anyhow!("{sentence}; nothing was saved").into());
        }
        let (step, pass) = (self.trainer.steps_done(), self.trainer.pass());
        let mut figures = vec![("held auroc".to_string(), self.measures[0]), ("held ap".to_string(), self.measures[1])];
        let mut totals = json!({
            "steps": step, "pass": pass, "held": {"auroc": self.measures[0], "ap": self.measures[1]},
        });
        let interrupted = stopped().filter(|_| !self.trainer.is_done());
        // (Whoever interrupts wants an end.)
        let mut told = None;
        if let (Some(test), None) = (&rows.test, interrupted)
            && let Some((count, positives, bounds)) = tested(&mut self.trainer.predictor(), &preparation, plan, test)?
        {
            let (low, high) = (bounds.auroc, bounds.ap);
            totals["test"] =
                json!({"rows": count, "positives": positives, "auroc": [low.0, low.1], "ap": [high.0, high.1]});
            figures.extend([("test auroc".to_string(), middle(low)), ("test ap".to_string(), middle(high))]);
            told = Some(format!("{count} test rows ({positives} positive): AUROC {}, AP {}", shown(low), shown(high)));
        }
        if let Some(out) = &manner.out {
            let model = self.trainer.predictor().file(preparation);
            let trained =
                Trained { step, done: step, of: self.trainer.total_steps(), over: self.trainer.is_done(), figures };
            output::write_atomic(out, &SavedModel { trained, ..model }.to_bytes())?;
        }
        let seconds = self.clock.elapsed().as_secs_f64();
        totals["seconds"] = seconds.into();
        if interrupted.is_some() {
            totals["interrupted"] = true.into();
        }
        if let (false, Some(told)) = (manner.json, told) {
            output::line(told)?;
        }
        let out = manner.out.as_ref().map_or_else(String::new, |out| format!(", the model is in {}", out.display()));
        let last = format!("{step} steps ({pass:.2} passes) in {seconds:.2} s{out}");
        output::line(if manner.json { totals.to_string() } else { last })?;
        sentence.iter().for_each(output::warn);
        interrupted.map_or(Ok(()), |code| Err(CliError::Interrupted(code)))
    }
}

/// Rows, positives and metrics of a test file; none where a signal came.
fn tested<T: Real>(
    model: &mut Predictor<T>,
    preparation: &Preparation,
    plan: &Plan,
    test: &Path,
) -> Result<Option<(u64, u64, Bounds)>> {
    let source = Source::new(test)?;
    let mut bounded = Bounded::of_memory(COUNTS);
    let whole = source.each(&reads_again(&plan.rows.data, preparation), |part| {
        let data = applied::<T>(preparation, part)?;
        let mut scores = vec![T::ZERO; data.len()];
        model.score(data.rows(), &mut scores)?;
        bounded.update(&scores, data.labels())?;
        Ok(true)
    })?;
    if !whole {
        return Ok(None);
    }
    let [positives, negatives] = bounded.labels();
    if positives == 0 || negatives == 0 {
        return Err(CliError::input(format!("{}: test rows of one class tell nothing", source.name())));
    }
    Ok(Some((positives + negatives, positives, bounded.bounds(FprRange::FULL)?)))
}

fn middle((low, high): (f64, f64)) -> f64 {
    0.5 * (low + high)
}

/// A metric that lies between two numbers.
fn shown((low, high): (f64, f64)) -> String {
    if high - low < 5e-5 { format!("{:.4}", middle((low, high))) } else { format!("{low:.4} to {high:.4}") }
}
