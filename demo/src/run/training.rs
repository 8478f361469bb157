//! A run in progress: its trainer, and what is known and said of it.

use crate::args::train::{New, RowsPlan};
use crate::error::{CliError, Result};
use crate::run::average::Others;
use crate::run::device::Engine;
use crate::tell::constraints::Named;
use crate::tell::report::{self, Reporter};
use crate::tell::{scores, threshold};
use crate::{input, output};
use anyhow::anyhow;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use undercurve::Real;
use undercurve::checkpoint::{SavedModel, Trained};
use undercurve::data::{Dataset, Preparation, Targets};
use undercurve::decision::{Calibrate, ThresholdRule};
use undercurve::metric::{Costs, FprRange, Metrics, brier, log_loss};
use undercurve::trainer::{Best, Config, Figures, Init, Predictor, Report, Trainer, Warning, Watch};

/// A run in progress.
pub struct Training<T: Real> {
    pub trainer: Trainer<T>,
    pub engine: Engine<T>,
    /// Of its data.
    pub preparation: Preparation,
    /// Share of the rows that it trains on, where one file was split.
    pub split: Option<f64>,
    /// Of a run with validation rows, and their share where they are of the same file.
    pub best: Option<Best<T>>,
    pub valid: Option<f64>,
    /// What errors cost.
    pub costs: Option<Costs>,
    /// How the threshold is chosen, where one was asked for, and what turns scores into probabilities.
    pub rule: Option<ThresholdRule>,
    pub calibrate: Option<Calibrate>,
    /// Networks from other seeds, where the model is the mean of them and this one.
    pub average: Option<Others<T>>,
    /// The last.
    pub report: Option<Report>,
    /// What it trains under.
    pub watch: Watch,
    /// Of the files whose loss is bounded, the rows that are not trained on.
    pub held_out: Named<T>,
}

impl<T: Real> Training<T> {
    /// Tells what its rows are like, and of a new run which label counts as positive.
    pub fn notes(&self, rows: &RowsPlan, new: Option<&New>) {
        let known = self.preparation.group_names().len();
        input::notes(self.trainer.train_data(), &rows.file.display().to_string(), known, true);
        if let Some(test) = self.trainer.test_data() {
            input::notes(test, &rows.test.as_ref().unwrap_or(&rows.file).display().to_string(), known, false);
        }
        let Config { model, init, .. } = self.trainer.config();
        let tried = new.is_some_and(|new| new.tries_init);
        let found = match init {
            Init::Linear => Some(("at a linear model of its rows, and stays near it", "random")),
            Init::Random => Some(("at random start values", "linear")),
            Init::Auto => None,
        };
        if let (Some((at, other)), true) = (found, tried) {
            output::note(format_args!(
                "{model} begins {at}, which a trial found better (--init {other} for the other)"
            ));
        }
        let chosen = new.is_some_and(|new| new.start.is_none()) && rows.data.options.positive.is_none();
        let positive = self.preparation.positive().filter(|_| chosen);
        if let Some(label) = positive.filter(|label| label.parse::<f64>().is_err()) {
            output::note(format_args!("label {label:?} counts as positive; --positive names another"));
        }
    }

    /// What is trained, in one line.
    pub fn opening(&self, file: &str) -> String {
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
        let part = |data: Option<&Arc<Dataset<T>>>, what: &str| {
            data.map_or_else(String::new, |data| format!(", {}", rows(data, what)))
        };
        let valid = part(self.best.as_ref().map(Best::valid_data), "validation rows");
        let test = part(trainer.test_data(), "test rows");
        let protected: usize = trainer.files().iter().map(|(_, data)| data.len()).sum();
        let protected = if protected > 0 { format!(", {protected} protected rows") } else { String::new() };
        let first = match trainer.pretraining_steps() {
            0 => String::new(),
            steps => format!(" (the first {steps} of cross-entropy)"),
        };
        let length = match trainer.progress() {
            (_, end) if end == trainer.total_steps() => format!("{end} steps{first}"),
            (_, rows) => format!("{:.1} passes", rows as f64 / data.len() as f64),
        };
        let start = if trainer.start().is_some() { " from an earlier model" } else { "" };
        format!(
            "{file}: {}{classes}, {} columns (scale: {}){valid}{test}{protected}; {}, {}{start}, seed {}, {length} on {}",
            rows(data, "rows"),
            data.cols(),
            self.preparation.scale().name(),
            config.method,
            config.model,
            config.seed,
            self.backend()
        )
    }

    pub fn method(&self) -> &'static undercurve::registry::Method {
        self.trainer.method().expect("a trainer of a method")
    }

    /// Measures.
    pub fn measure(&mut self) -> Result<&Report> {
        let report = self.trainer.report().map_err(|error| self.left_range(error))?;
        Ok(self.report.insert(report))
    }

    /// Measures and prints.
    pub fn report(&mut self, reporter: &mut Reporter, seconds: f64) -> Result<()> {
        let (method, classes) = (self.method(), self.preparation.classes().to_vec());
        reporter.report(self.measure()?, method, &classes, seconds)
    }

    /// Makes a step, or elsewhere some, at most so many, and looks at what came of it; gives the objective on the last batch.
    pub fn advance(&mut self, most: u64) -> Result<Option<f64>> {
        let stepped = self.engine.advance(&mut self.trainer, most).map_err(|error| self.failed(error))?;
        if let Some(note) = self.engine.gave_up() {
            output::note(note);
        }
        self.look()?;
        Ok(stepped)
    }

    /// Looks at what steps have come to, for the best model and for constraints.
    pub fn look(&mut self) -> Result<()> {
        if let Some(best) = &mut self.best
            && let Err(error) = best.look(&mut self.trainer)
        {
            return Err(self.left_range(error));
        }
        self.watch.look(&self.trainer);
        Ok(())
    }

    /// The model to keep: the best on the validation rows, or the last; or the mean of several such.
    pub fn model(&self) -> Result<Predictor<T>> {
        let last = self.trainer.predictor();
        let own = match self.kept() {
            Some(best) => last.with_params(best.params().to_vec())?,
            None => last,
        };
        match &self.average {
            Some(others) => others.with(own),
            None => Ok(own),
        }
    }

    /// What keeps the model, if it is not the last.
    pub fn kept(&self) -> Option<&Best<T>> {
        self.best.as_ref().filter(|best| best.keeps_a_step())
    }

    /// The rows that the threshold is chosen on, and what they are called.
    fn chosen_on(&self) -> (Arc<Dataset<T>>, &'static str) {
        match &self.best {
            Some(best) => (best.valid_data().clone(), "validation"),
            None => (self.trainer.train_data().clone(), "training"),
        }
    }

    /// How far the run is, and the figures of a model; of the run itself those of the report of this step.
    fn trained(&self, model: Option<&mut Predictor<T>>) -> Result<Trained> {
        let step = self.trainer.steps_done();
        let mut figures = Vec::new();
        let mut add = |part: &str, all: &Figures| {
            figures.extend(all.named().into_iter().map(|(name, value)| (format!("{part} {name}"), value)));
        };
        match (model, &self.report) {
            (Some(model), _) => {
                let valid = self.best.as_ref().map(Best::valid_data);
                for (part, data) in
                    [("train", Some(self.trainer.train_data())), ("valid", valid), ("test", self.trainer.test_data())]
                {
                    if let Some(data) = data {
                        add(part, &model.evaluate(data)?);
                    }
                }
            }
            (None, Some(report)) if report.step == step && self.kept().is_none() => {
                add("train", &report.train);
                if let Some(test) = &report.test {
                    add("test", test);
                }
            }
            _ => {}
        }
        if let Some(best) = self.kept().filter(|_| figures.is_empty()) {
            figures.push((format!("valid {}", best.metric()), best.value()));
        }
        let (of, over) = (self.trainer.total_steps(), self.is_over());
        Ok(Trained { step: self.kept().map_or(step, Best::step), done: step, of, over, figures })
    }

    /// Whether nothing is left to do.
    pub fn is_over(&self) -> bool {
        self.trainer.is_done() || self.best.as_ref().is_some_and(Best::is_out_of_patience)
    }

    /// The file of the model alone.
    pub fn alone(&self) -> Result<Vec<u8>> {
        let mut model = self.model()?;
        let trained = self.trained(Some(&mut model))?;
        Ok(SavedModel { trained, ..self.file(&mut model)? }.to_bytes())
    }

    /// What every file says: of two classes its threshold and its probabilities, too.
    fn file(&self, model: &mut Predictor<T>) -> Result<SavedModel> {
        Ok(self.decided(model)?.0)
    }

    /// That, and why it has no threshold, where none keeps the rule.
    fn decided(&self, model: &mut Predictor<T>) -> Result<(SavedModel, Option<undercurve::Error>)> {
        let alone = model.file(self.preparation.clone());
        let mut file = SavedModel { split: self.split, valid: self.valid, costs: self.costs, ..alone };
        let (rows, part) = self.chosen_on();
        if !matches!(rows.targets(), Targets::Binary(_)) {
            return Ok((file, None));
        }
        let scores = scores(model, &rows)?;
        let missed = match self.rule.map(|rule| (rule, file.decide(rule, &scores, rows.truth(), None, part))) {
            None | Some((_, Ok(_))) => None,
            // (It is said at the end, and the model is kept.)
            Some((_, Err(why @ (undercurve::Error::Unreachable { .. } | undercurve::Error::Unpromised { .. })))) => {
                Some(why)
            }
            Some((rule, Err(error))) => return Err(self.not_decided(rule, error)),
        };
        if let Some(how) = self.calibrate {
            file.calibrate(how, &scores, rows.truth(), part)?;
        }
        Ok((file, missed))
    }

    /// A rule that asks for more rows than there are, or another error.
    fn not_decided(&self, rule: ThresholdRule, error: undercurve::Error) -> CliError {
        let (rows, part) = self.chosen_on();
        match error {
            undercurve::Error::Param { .. } => {
                CliError::input(format!("--threshold {rule}: there are {} {part} rows", rows.len()))
            }
            error => error.into(),
        }
    }

    /// The last line but one: figures of the kept model on the test rows, with 95 % intervals.
    pub fn test_figures(&self, model: &mut Predictor<T>, totals: &mut Value) -> Result<Option<String>> {
        let Some(test) = self.trainer.test_data() else { return Ok(None) };
        let figures = model.evaluate(test)?;
        totals["test"] = report::metrics(&figures, self.preparation.classes());
        let Figures::Binary(summary) = &figures else { return Ok(None) };
        let scores = scores(model, test)?;
        let (low, high) = self.trainer.config().fpr;
        let ends = Metrics::new().intervals(&scores, test.truth(), FprRange::new(low, high)?)?;
        let mut intervals = json!({});
        let mut parts = Vec::new();
        for (key, name, value, interval) in [
            ("auroc", "AUROC".to_string(), summary.auroc, ends.auroc),
            ("ap", "AP".to_string(), summary.ap, ends.ap),
            ("pauc", format!("pAUC {low}:{high}"), summary.pauc, ends.pauc),
        ] {
            let mut text = format!("{name} {value:.4}");
            if let Some(interval) = interval {
                intervals[key] = json!([interval.low, interval.high]);
                text += &format!(" [{:.4}, {:.4}]", interval.low, interval.high);
            }
            parts.push(text);
        }
        totals["test_intervals"] = intervals;
        let by = if test.weights().is_empty() { "" } else { " by weight," };
        Ok(Some(format!("Test,{by} with 95 % intervals: {}", parts.join(", "))))
    }

    /// What the last lines say of decisions.
    pub fn decisions(
        &self,
        model: &mut Predictor<T>,
        saved: Option<&Path>,
        reporter: &Reporter,
        totals: &mut Value,
    ) -> Result<()> {
        let (file, missed) = self.decided(model)?;
        let test = self.trainer.test_data().map(|test| Ok::<_, CliError>((scores(model, test)?, test.truth())));
        let test = test.transpose()?;
        let test = test.as_ref().map(|(scores, truth)| (&scores[..], *truth));
        if let Some(costs) = self.costs {
            totals["slope"] = costs.slope().into();
        }
        match (&file.decided, file.threshold, saved) {
            (Some(decided), Some(at), _) => {
                let weighed = !self.trainer.train_data().weights().is_empty();
                let told = threshold::Threshold::of(decided, at, self.costs, weighed, test)?;
                totals["threshold"] = told.json();
                reporter.say(told.text())?;
            }
            (Some(decided), None, _) => {
                totals["threshold"] = json!({ "at": null, "rule": decided.rule.to_string(), "chosen_on": decided.on });
                if let Some(why) = missed {
                    let (rule, on) = (decided.rule, threshold::rows(&decided.on));
                    output::warn(format_args!("--threshold {rule}: {why} ({on}); the model has no threshold"));
                }
            }
            (None, _, Some(saved)) if matches!(self.trainer.train_data().targets(), Targets::Binary(_)) => {
                reporter.say(threshold::next(saved))?;
            }
            _ => {}
        }
        if let Some(calibrated) = &file.calibrated {
            totals["calibration"] = threshold::calibration_json(calibrated);
            let mut text = threshold::calibration_text(calibrated);
            if let Some((scores, truth)) = test {
                let sure: Vec<T> = scores.iter().map(|&s| calibrated.calibration.probability(s)).collect();
                let (loss, brier) = (log_loss(&sure, truth)?, brier(&sure, truth)?);
                totals["calibration"]["test_log_loss"] = loss.into();
                totals["calibration"]["test_brier"] = brier.into();
                text += &format!("; test log loss {loss:.4}, Brier score {brier:.4}");
            }
            reporter.say(text)?;
        }
        Ok(())
    }

    /// What the bar says besides how far it is, given the objective on the last batch.
    pub fn message(&self, value: Option<f64>) -> String {
        match self.trainer.step_size() {
            Some((alpha, _)) => format!("step size {alpha:.4}"),
            None => format!("loss {:.4}", value.unwrap_or(f64::NAN)),
        }
    }

    /// What is to be said against the model of the last report.
    pub fn warning(&self) -> Option<Warning> {
        self.report.as_ref()?.warning
    }

    /// What people read of the last report besides its line.
    pub fn details(&self) -> Option<String> {
        let report = self.report.as_ref()?;
        let (part, figures) = report.test.as_ref().map_or(("train", &report.train), |test| ("test", test));
        let table = report::class_table(figures.classes()?, self.preparation.classes());
        Some(format!("Each class against all others ({part}):\n{table}"))
    }

    /// What the last line says of the run.
    pub fn totals(&self, seconds: f64) -> Value {
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
    pub fn backend(&self) -> String {
        format!("{} {}", self.engine.name(), precision::<T>())
    }

    /// The file's bytes.
    pub fn save(&mut self) -> Result<Vec<u8>> {
        let (best, trained) = (self.best.as_ref().map(Best::save), self.trained(None)?);
        let file = self.file(&mut self.model()?)?;
        Ok(SavedModel { best, trained, trainer: self.trainer.save(), ..file }.to_bytes())
    }

    /// Why a step failed: a batch had nothing to compare, or numbers grew beyond the type.
    pub fn failed(&self, error: undercurve::Error) -> CliError {
        if error != undercurve::Error::OneClass {
            return self.left_range(error);
        }
        let step = self.trainer.steps_done() + 1;
        let (batch, labels) = (self.trainer.batch_index(), self.trainer.train_data().labels());
        let none_of = |label| !labels.is_empty() && batch.iter().all(|&row| labels.get(row as usize) != Some(&label));
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

    /// Tells a budget of more rows than there are before the run, not after it.
    pub fn check_rule(&self) -> Result<()> {
        let Some(rule @ ThresholdRule::Alerts(most)) = self.rule else { return Ok(()) };
        most.of(weight_of(&self.chosen_on().0)).map(|_| ()).map_err(|error| self.not_decided(rule, error))
    }
}

/// What rows come to: their number, or the sum of their weights.
fn weight_of<T: Real>(data: &Dataset<T>) -> f64 {
    if data.weights().is_empty() { data.len() as f64 } else { data.weights().iter().sum() }
}

/// The number type.
fn precision<T: Real>() -> &'static str {
    if T::BYTES == 8 { "f64" } else { "f32" }
}
