//! `undercurve train` on several classes at once.

use crate::device::Choice;
use crate::error::{CliError, Result};
use crate::report::{Reporter, class_table};
use crate::train::{Args, check_memory, check_same, contradicted, differs};
use crate::walk::{Run, left_range, precision, walk};
use crate::{input, methods};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use undercurve::Real;
use undercurve::checkpoint::SavedClassModel;
use undercurve::data::{ClassDataset, ClassPreparation, Options, RawTable, Split, label_values, prepare_classes};
use undercurve::registry::{Method, class_method};
use undercurve::trainer::{ClassPredictor, ClassReport, ClassTrainer, Config, Warning};

/// Whether a new run is one of several classes: more than two labels, none of them named as the positive one, and a
/// method that takes them.
pub fn are_wanted(args: &Args, table: &RawTable, options: &Options) -> Result<bool> {
    let method = args.method.as_deref().and_then(class_method);
    Ok(method.is_some() && options.positive.is_none() && label_values(table, options)?.len() > 2)
}

/// Trains a new run.
pub fn start<T: Real>(args: &Args, config: Config, table: &RawTable, options: &Options) -> Result<()> {
    check_range(args)?;
    if let Some(method) = class_method(&config.method) {
        methods::check_settings(method, &config)?;
    }
    let (preparation, train, test) = match args.split {
        Some(share) => {
            let all = prepare_classes::<T>(table, options, Split::new(share, config.seed))?;
            (all.preparation, all.train, Some(all.test))
        }
        None => {
            let preparation = ClassPreparation::fit(table, options)?;
            let train = preparation.apply::<T>(table)?;
            let test = test_file(args, &preparation)?;
            (preparation, train, test)
        }
    };
    check_test(args, test.as_ref())?;
    check_memory::<T>(&config.model, train.features().cols(), train.classes().len())?;
    let trainer = ClassTrainer::new(&config, Arc::new(train), test.map(Arc::new))?;
    input::header_note(table, &args.data);
    run(args, SeveralClasses { trainer, preparation, split: args.split, last: None })
}

/// Continues a saved run. Options that say something else than the run are refused.
pub fn resume<T: Real>(args: &Args, saved: &SavedClassModel) -> Result<()> {
    check_range(args)?;
    let path = args.resume.as_deref().unwrap_or(Path::new(""));
    let of_file = |error: &dyn std::fmt::Display| CliError::input(format!("{}: {error}", path.display()));
    let model = ClassPredictor::<T>::load(&saved.trainer).map_err(|error| of_file(&error))?;
    let (config, preparation) = (model.config(), &saved.preparation);
    let features = preparation.features();
    check_same(args, config, saved.split, features)?;
    if args.reading.positive.is_some() {
        return Err(differs(args, "number of classes (--positive)"));
    }
    let table = input::table_again(&args.data, args.reading.layout, features.label_column())?;
    if let Some(option) = contradicted(&args.reading, features, &table.columns()) {
        return Err(differs(args, option));
    }
    let all = preparation.apply::<T>(&table)?;
    let (train, test) = match saved.split {
        Some(share) => {
            let [train, test] = preparation.split(&table, &all, Split::new(share, config.seed))?;
            (train, Some(test))
        }
        None => (all, test_file(args, preparation)?),
    };
    check_test(args, test.as_ref())?;
    let trainer =
        ClassTrainer::load(&saved.trainer, Arc::new(train), test.map(Arc::new)).map_err(|error| of_file(&error))?;
    run(args, SeveralClasses { trainer, preparation: preparation.clone(), split: saved.split, last: None })
}

fn test_file<T: Real>(args: &Args, preparation: &ClassPreparation) -> Result<Option<ClassDataset<T>>> {
    let Some(path) = &args.test else { return Ok(None) };
    let table = input::table_again(path, args.reading.layout, preparation.features().label_column())?;
    Ok(Some(preparation.apply::<T>(&table)?))
}

fn check_range(args: &Args) -> Result<()> {
    match args.fpr {
        None => Ok(()),
        Some(_) => {
            Err(CliError::input("--fpr: the partial AUC is one of two classes; --positive names one of several"))
        }
    }
}

fn check_test<T: Real>(args: &Args, test: Option<&ClassDataset<T>>) -> Result<()> {
    let path = args.test.as_ref().unwrap_or(&args.data);
    Ok(test.map_or(Ok(()), |test| test.require_every_class(&path.display().to_string()))?)
}

fn run<T: Real>(args: &Args, mut run: SeveralClasses<T>) -> Result<()> {
    input::notes(run.trainer.train_data().features(), &args.data.display().to_string());
    if let Some(test) = run.trainer.test_data() {
        input::notes(test.features(), &args.test.as_ref().unwrap_or(&args.data).display().to_string());
    }
    if args.device != Choice::Cpu {
        eprintln!("note: several classes have no graphics kernel; training on the CPU");
    }
    walk(args, &mut run)
}

/// A run of several classes.
struct SeveralClasses<T: Real> {
    trainer: ClassTrainer<T>,
    preparation: ClassPreparation,
    split: Option<f64>,
    last: Option<ClassReport>,
}

impl<T: Real> Run for SeveralClasses<T> {
    fn step(&mut self) -> undercurve::Result<Option<f64>> {
        self.trainer.step()
    }
    fn steps_done(&self) -> u64 {
        self.trainer.steps_done()
    }
    fn is_done(&self) -> bool {
        self.trainer.is_done()
    }
    fn progress(&self) -> (u64, u64) {
        (self.trainer.steps_done(), self.trainer.total_steps())
    }
    fn pass(&self) -> f64 {
        self.trainer.pass()
    }
    fn opening(&self, file: &str) -> String {
        let (data, config) = (self.trainer.train_data(), self.trainer.config());
        let test = self.trainer.test_data().map_or_else(String::new, |test| format!(", {} test rows", test.len()));
        format!(
            "{file}: {} rows, {} classes, {} columns (scale: {}){test}; {}, {}, seed {}, {} steps on {}",
            data.len(),
            data.classes().len(),
            data.features().cols(),
            self.preparation.features().scale().name(),
            config.method,
            config.model,
            config.seed,
            self.trainer.total_steps(),
            self.backend()
        )
    }
    fn report(&mut self, reporter: &mut Reporter, seconds: f64) -> Result<()> {
        let report = self.trainer.report().map_err(|error| left_range(self, error))?;
        reporter.class_report(&report, self.trainer.method(), self.preparation.classes(), seconds)?;
        self.last = Some(report);
        Ok(())
    }
    fn message(&self, value: Option<f64>) -> String {
        format!("loss {:.4}", value.unwrap_or(f64::NAN))
    }
    fn batch(&self) -> (usize, Option<&'static str>) {
        (self.trainer.batch_index().len(), None)
    }
    fn warning(&self) -> Option<Warning> {
        self.last.as_ref()?.warning
    }
    fn method(&self) -> &'static Method {
        self.trainer.method()
    }
    fn details(&self) -> Option<String> {
        let report = self.last.as_ref()?;
        let part = if report.test.is_some() { "test" } else { "train" };
        let table = class_table(report.test.as_ref().unwrap_or(&report.train), self.preparation.classes());
        Some(format!("Each class against all others ({part}):\n{table}"))
    }
    fn totals(&self) -> Value {
        let (data, config) = (self.trainer.train_data(), self.trainer.config());
        let mut totals = json!({
            "done": true, "method": config.method, "model": config.model.to_string(), "seed": config.seed,
            "rows": data.len(), "columns": data.features().cols(), "classes": data.classes(),
            "scale": self.preparation.features().scale().name(),
            "class_rows": data.sizes(), "backend": "cpu", "precision": precision::<T>(),
        });
        if let Some(test) = self.trainer.test_data() {
            totals["test_rows"] = test.len().into();
            totals["test_class_rows"] = test.sizes().into();
        }
        totals
    }
    fn backend(&self) -> String {
        format!("cpu {}", precision::<T>())
    }
    fn save(&self) -> Vec<u8> {
        SavedClassModel {
            preparation: self.preparation.clone(),
            split: self.split,
            real_bytes: T::BYTES as u8,
            trainer: self.trainer.save(),
        }
        .to_bytes()
    }
}
