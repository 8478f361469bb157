//! The rows of a training run and the trainer on them, made of its options, anew or from a saved run.

use crate::args::data::DataArgs;
use crate::args::decide;
use crate::args::method;
use crate::args::train::{Args, InitArg, TargetArg, differs};
use crate::error::{CliError, Result};
use crate::input;
use crate::output;
use crate::run::device::Engine;
use crate::run::walk::Training;
use crate::tell::constraints::Named;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use undercurve::Real;
use undercurve::checkpoint::{CheckpointError, SavedModel};
use undercurve::constraint::Constraints;
use undercurve::data::{
    DataError, DataErrorKind, Dataset, Options, Preparation, RawTable, Source, Split, Target, label_values, prepare,
};
use undercurve::decision::{Calibrate, ThresholdRule};
use undercurve::expression::{Expression, Quantity};
use undercurve::metric::Costs;
use undercurve::model::Model;
use undercurve::registry::{Method, class_methods, preset};
use undercurve::trainer::{
    self, Best, Config, Given, Init, Length, ModelSpec, Predictor, Trainer, TrainerError, Watch,
};

/// Some settings and those that are set, which come before.
fn below(settings: &[(&str, &str)], set: &[(String, String)]) -> Vec<(String, String)> {
    let kept = settings.iter().filter(|(name, _)| set.iter().all(|(other, _)| other != name));
    kept.map(|&(name, value)| (name.into(), value.into())).chain(set.iter().cloned()).collect()
}

/// What a new run is made from, that of an earlier model if it begins at one.
pub fn read<T: Real>(args: &Args, first: Option<&Predictor<T>>) -> Result<(Config, Options, RawTable)> {
    // What can be told without reading the data comes first.
    let preset = preset(&args.preset);
    let name = match (args.method.as_deref(), preset) {
        (Some(name), Some(preset)) if name != preset.method => {
            return Err(CliError::input(format!("--preset {}: is of the method {}", preset.name, preset.method)));
        }
        (name, preset) => name.or(preset.map(|preset| preset.method)),
    };
    let unnamed = name.is_none();
    if unnamed && args.preset != "defaults" {
        return Err(CliError::input(format!("--preset {}: needs --method NAME", args.preset)));
    }
    let name = name.unwrap_or(match args.target {
        Some(TargetArg::Values) => "ai-sarah",
        Some(TargetArg::Classes) => "ce",
        Some(TargetArg::Binary) | None => "soap",
    });
    let method = method::find(name)?;
    let model = match (args.model.as_deref(), first) {
        (None, Some(first)) => first.config().model.clone(),
        (text, _) => ModelSpec::parse(text.unwrap_or("linear")).map_err(CliError::Input)?,
    };
    if let (Some(wants), true) = (preset.and_then(|preset| preset.wants), args.constraint.is_empty()) {
        let text = format!("--preset {}: needs what it is for, as in --constraint \"{wants}\"", args.preset);
        return Err(CliError::input(text));
    }
    if args.split.is_some_and(|share| !(share > 0.0 && share < 1.0)) {
        return Err(CliError::input("--split: expected a share above 0 and below 1"));
    }
    if args.reading.split_by().is_some() && args.split.is_none() && args.decision.valid_share().is_none() {
        return Err(CliError::input("--split-by, --split-group: nothing is split without --split or --valid SHARE"));
    }
    let mut settings = [objective(args, method)?, args.set.clone()].concat();
    if unnamed && args.target == Some(TargetArg::Values) && settings.iter().all(|(name, _)| name != "loss") {
        settings.push(("loss".to_string(), "least-squares".to_string()));
    }
    let preset_settings = if args.preset == "paper" { method.paper } else { preset.map_or(&[][..], |p| p.settings) };
    let asked = preset.filter(|_| args.constraint.is_empty()).map_or(Constraints::NONE, |preset| preset.constraints);
    let asked = asked.as_slice().iter().map(|constraint| Expression::of(constraint, &[]));
    let config = Config {
        init: match args.init {
            Some(init) => init.init(),
            // (Those of papers begin at random.)
            None if args.preset == "paper" => Init::Random,
            None => Init::Auto,
        },
        method: name.to_string(),
        settings: below(preset_settings, &settings),
        model,
        seed: args.seed.unwrap_or(1),
        length: length(args).unwrap_or(Length::Method),
        fpr: args.fpr.unwrap_or(Config::default().fpr),
        constraints: args.constraint.iter().cloned().chain(asked).map(|asked| asked.to_string()).collect(),
        class_weights: Vec::new(),
    };
    method::check_once(&settings)?;
    let mut options = args.reading.options();
    let before = first.and_then(Predictor::preparation);
    if before.is_none_or(|before| before.group_columns().is_empty()) {
        check_groups(args, &config)?;
    }
    let several = method.of_classes().filter(|_| options.positive.is_none());
    if let Some(before) = before {
        options.target = before.target();
        let form = several.filter(|_| options.target == Target::Classes);
        method::check_settings(form.unwrap_or(method), &config)?;
        check_target(args, options.target)?;
        return Ok((config, options, input::table_again(&args.data, args.reading.layout, before)?));
    }
    // Where the method may be one of several classes only the data tell which parameters it has.
    if several.is_none() || args.target.is_some_and(|target| target != TargetArg::Classes) {
        method::check_settings(method, &config)?;
    }
    let table = input::table_of(&args.data, &args.reading)?;
    input::check_columns(&options, &table)?;
    options.target = match args.target {
        Some(target) => target.target(),
        None if several.is_some() && label_values(&table, &options)?.len() > 2 => Target::Classes,
        None => Target::Binary,
    };
    check_target(args, options.target)?;
    let form = several.filter(|_| options.target == Target::Classes);
    method::check_settings(form.unwrap_or(method), &config)?;
    Ok((config, options, table))
}

/// `--objective` as settings.
fn objective(args: &Args, method: &Method) -> Result<Vec<(String, String)>> {
    let Some(text) = &args.objective else { return Ok(Vec::new()) };
    trainer::objective(method, text).map_err(|error| CliError::input(format!("--{error}")))
}

/// Refuses a method of groups without any, unless all that is asked of it is asked of everybody.
fn check_groups(args: &Args, config: &Config) -> Result<()> {
    if args.reading.group.is_empty() && config.needs_groups() {
        return Err(CliError::input(format!("--method {}: is of groups; --group names their columns", config.method)));
    }
    Ok(())
}

/// A trainer with what belongs to its data.
pub struct Made<T: Real> {
    pub trainer: Trainer<T>,
    preparation: Preparation,
    /// The share of its rows that it trains on.
    split: Option<f64>,
    /// Of a run with validation rows, and their share where they are of the same file.
    best: Option<Best<T>>,
    valid: Option<f64>,
    costs: Option<Costs>,
    rule: ThresholdRule,
    calibrate: Option<Calibrate>,
    /// Of the files whose loss is bounded, the rows that are not trained on.
    held_out: Named<T>,
}

impl<T: Real> Made<T> {
    /// Tells what its rows are like, and of a new run which label counts as positive.
    pub fn notes(&self, args: &Args, new: bool) {
        let known = self.preparation.group_names().len();
        input::notes(self.trainer.train_data(), &args.data.display().to_string(), known);
        if let Some(test) = self.trainer.test_data() {
            input::notes(test, &args.test.as_ref().unwrap_or(&args.data).display().to_string(), known);
        }
        let Config { model, init, .. } = self.trainer.config();
        let tried = new && args.init.is_none_or(|asked| asked == InitArg::Auto) && args.preset != "paper";
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
        let chosen = new && args.start.is_none() && args.reading.positive.is_none();
        let positive = self.preparation.positive().filter(|_| chosen);
        if let Some(label) = positive.filter(|label| label.parse::<f64>().is_err()) {
            output::note(format_args!("label {label:?} counts as positive; --positive names another"));
        }
    }

    /// What is stepped, on this engine.
    pub fn training(self, engine: Engine<T>, require: bool) -> Training<T> {
        let Self { trainer, preparation, split, best, valid, costs, rule, calibrate, held_out } = self;
        let watch = Watch::new(&trainer);
        let report = None;
        Training {
            trainer,
            engine,
            preparation,
            split,
            best,
            valid,
            costs,
            rule,
            calibrate,
            report,
            watch,
            held_out,
            require,
        }
    }
}

/// The rows of a new run, and what follows from them and the seed: the same for runs of other settings.
pub struct Parts<T: Real> {
    config: Config,
    preparation: Preparation,
    train: Arc<Dataset<T>>,
    valid: Option<Arc<Dataset<T>>>,
    test: Option<Arc<Dataset<T>>>,
    costs: Option<Costs>,
    /// Of the files whose loss is bounded, the rows that are trained on and the others.
    files: [Named<T>; 2],
}

impl<T: Real> Parts<T> {
    /// Reads the table as a run of this configuration does, which begins at `first` if that is given.
    pub fn new<'a>(
        args: &Args,
        mut config: Config,
        options: &Options,
        table: impl Into<Cow<'a, RawTable>>,
        first: Option<&Predictor<T>>,
    ) -> Result<Self> {
        let table = table.into();
        let guessed = input::guessed(&table);
        let several = |error: DataError| {
            let error = match error.kind {
                DataErrorKind::ManyLabels { .. } => CliError::input(format!(
                    "{error} (--positive), or train all of them by {}",
                    class_methods().map(|method| method.name).collect::<Vec<_>>().join(", ")
                )),
                _ => error.into(),
            };
            input::or_header(error, guessed)
        };
        let before = first.and_then(Predictor::preparation);
        let (preparation, mut train, test) = match (args.split, before) {
            (_, Some(before)) => prepared_before(args, before, &table, config.seed)?,
            (Some(share), None) => {
                let all = prepare::<T>(table, options, Split::new(share, config.seed)).map_err(several)?;
                (all.preparation, all.train, Some(all.test))
            }
            (None, None) => {
                let preparation = Preparation::fit(&table, options).map_err(several)?;
                let train = preparation.apply::<T>(table)?;
                let test = test_file(args, &preparation)?;
                (preparation, train, test)
            }
        };
        let valid = {
            let layout = args.reading.layout;
            let share = args.decision.valid_share();
            args.decision.validation(&args.data, layout, share, config.seed, &preparation, &mut train)?
        };
        check_classes(args, &train, test.as_ref())?;
        check_memory::<T>(&config.model, train.cols(), train.classes().len().max(1))?;
        config.class_weights = args.reading.class_weights(&preparation, &train)?;
        let (train, valid) = (Arc::new(train), valid.map(Arc::new));
        let costs = args.decision.costs(&train)?;
        if let Some(costs) = costs {
            config.fpr = decide::range_of(costs, &config, &train, valid.as_ref())?;
        }
        let files = bounded_files(args, &config, &preparation, args.split)?;
        Ok(Self { config, preparation, train, valid, test: test.map(Arc::new), costs, files })
    }

    /// The configuration, with what followed from the rows.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// A run on these rows, of this configuration, that differs from its own in settings and seed at most.
    pub fn made(&self, args: &Args, config: &Config, start: Option<Predictor<T>>) -> Result<Made<T>> {
        let [files, held_out] = self.files.clone();
        let (train, test) = (self.train.clone(), self.test.clone());
        let trainer = Trainer::of(config, Given { train, test, start, files })?;
        let best = self.valid.clone().map(|valid| args.decision.best(&trainer, valid)).transpose()?;
        let (rule, calibrate) = args.decision.decisions(&trainer, best.is_some(), self.costs, None);
        let (preparation, valid) = (self.preparation.clone(), args.decision.valid_share());
        Ok(Made { trainer, preparation, split: args.split, best, valid, costs: self.costs, rule, calibrate, held_out })
    }
}

/// The data and the trainer of a new run.
pub fn start<T: Real>(args: &Args) -> Result<Made<T>> {
    let first = args.start.as_deref().map(|path| first::<T>(args, path)).transpose()?;
    let (config, options, table) = read(args, first.as_ref())?;
    let read_as = input::reading_notes(&table, args.start.is_none().then_some(&options), &args.data);
    let parts = Parts::new(args, config, &options, table, first.as_ref())?;
    let made = parts.made(args, parts.config(), first)?;
    input::say(&read_as);
    Ok(made)
}

/// The model to begin at.
pub fn first<T: Real>(args: &Args, path: &Path) -> Result<Predictor<T>> {
    let of_file = |error: &dyn std::fmt::Display| CliError::input(format!("{}: {error}", path.display()));
    let saved = input::saved(path)?;
    let preparation = &saved.preparation;
    let refuse =
        |what: &str| Err(of_file(&format!("was made with another {what}; leave the option out to start from it")));
    if args.target.is_some_and(|target| target.target() != preparation.target()) {
        return refuse("kind of labels (--target)");
    }
    match (&args.reading.positive, preparation.positive()) {
        (Some(label), Some(positive)) if !same_label(label, positive) => return refuse("positive label (--positive)"),
        (Some(_), None) => return refuse("number of classes (--positive)"),
        _ => {}
    }
    if args.reading.scale.is_some_and(|scale| scale.scale() != preparation.scale()) {
        return refuse("scaling (--scale)");
    }
    Predictor::of(&saved).map_err(|error| of_file(&error))
}

/// Whether two labels are the same text, or the same number.
fn same_label(a: &str, b: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    a == b || (number(a).is_some() && number(a) == number(b))
}

/// The data of a run that begins at a model with this preparation.
#[allow(clippy::type_complexity)]
fn prepared_before<T: Real>(
    args: &Args,
    before: &Preparation,
    table: &RawTable,
    seed: u64,
) -> Result<(Preparation, Dataset<T>, Option<Dataset<T>>)> {
    let preparation = match args.reading.group.as_slice() {
        [] => before.clone(),
        columns => input::with_groups(before, table, columns)?,
    };
    if let Some(option) = contradicted(&args.reading, &preparation, &table.columns()) {
        let path = args.start.as_deref().unwrap_or(Path::new("")).display();
        let text = format!("{path}: was made with another {option}; leave the option out to start from it");
        return Err(CliError::input(text));
    }
    let all = preparation.apply::<T>(table)?;
    let (train, test) = match args.split {
        Some(share) => {
            let [train, test] = all.split(Split::new(share, seed), table.name())?;
            (train, Some(test))
        }
        None => (all, test_file(args, &preparation)?),
    };
    Ok((preparation, train, test))
}

/// The rows of the files whose loss is bounded, and those of them that are held out: of each file the share that is held out
/// of the training data, drawn by label.
fn bounded_files<T: Real>(
    args: &Args,
    config: &Config,
    preparation: &Preparation,
    split: Option<f64>,
) -> Result<[Named<T>; 2]> {
    let (mut files, mut held_out) = (Named::new(), Named::new());
    for text in &config.constraints {
        let Ok(Expression { quantity: Quantity::LossOn { file }, .. }) = Expression::parse(text) else { continue };
        if files.iter().any(|(name, _)| *name == file) {
            continue;
        }
        let table = input::table_again(Path::new(&file), args.reading.layout, preparation)?;
        let all = preparation.apply::<T>(table)?;
        input::notes(&all, &file, preparation.group_names().len());
        match split {
            Some(share) if all.len() > 1 && preparation.target() == Target::Binary => {
                let [train, test] = all.split(Split::new(share, config.seed), &file)?;
                files.push((file.clone(), Arc::new(train)));
                if !test.is_empty() {
                    held_out.push((file, Arc::new(test)));
                }
            }
            _ => files.push((file, Arc::new(all))),
        }
    }
    Ok([files, held_out])
}

/// The data and the trainer of a saved run. Options that say something else than the run are refused.
pub fn resume<T: Real>(args: &Args, saved: SavedModel) -> Result<Made<T>> {
    let path = args.resume.as_deref().unwrap_or(Path::new(""));
    let of_file = |error: &dyn std::fmt::Display| CliError::input(format!("{}: {error}", path.display()));
    let SavedModel { preparation, split, valid: share, costs, decided, calibrated, best, trainer: bytes, .. } = saved;
    if args.target.is_some_and(|target| target.target() != preparation.target()) {
        return Err(differs(args, "kind of labels (--target)"));
    }
    let run = Predictor::<T>::load(&bytes).map_err(|error| of_file(&error))?;
    if !run.has_run() {
        return Err(of_file(&CheckpointError::ModelOnly));
    }
    let config = run.config();
    check_same(args, config, split, &preparation)?;
    if let Some(what) = args.decision.differs(share, costs) {
        return Err(differs(args, what));
    }
    match (&args.reading.positive, preparation.positive()) {
        (Some(label), Some(positive)) if !same_label(label, positive) => return Err(differs(args, "positive label")),
        (Some(_), None) => return Err(differs(args, "number of classes (--positive)")),
        _ => {}
    }
    check_target(args, preparation.target())?;
    let table = input::table_again(&args.data, args.reading.layout, &preparation)?;
    if let Some(option) = contradicted(&args.reading, &preparation, &table.columns()) {
        return Err(differs(args, option));
    }
    let all = preparation.apply::<T>(table)?;
    let (mut train, test) = match split {
        Some(share) => {
            let [train, test] = all.split(Split::new(share, config.seed), &args.data.display().to_string())?;
            (train, Some(test))
        }
        None => (all, test_file(args, &preparation)?),
    };
    let rows = match best {
        Some(_) => {
            let layout = args.reading.layout;
            args.decision.validation(&args.data, layout, share, config.seed, &preparation, &mut train)?
        }
        None => None,
    };
    check_classes(args, &train, test.as_ref())?;
    if args.reading.class_weight.is_some() && args.reading.class_weights(&preparation, &train)? != config.class_weights
    {
        return Err(differs(args, "list of class weights (--class-weight)"));
    }
    let [files, held_out] = bounded_files(args, config, &preparation, split)?;
    let given = Given { test: test.map(Arc::new), files, ..Given::rows(Arc::new(train)) };
    method::check_once(&args.set)?;
    let mut changed = config.clone();
    changed.length = length(args).unwrap_or(config.length);
    for (name, value) in &args.set {
        match changed.settings.iter_mut().rev().find(|(set, _)| set == name) {
            Some((_, before)) => before.clone_from(value),
            None => changed.settings.push((name.clone(), value.clone())),
        }
    }
    let trainer = Trainer::load_as(&bytes, &changed, given).map_err(|error| match error {
        TrainerError::Config(text) => CliError::Input(text),
        error => of_file(&error),
    })?;
    let best = match (best, rows) {
        (None, _) if args.decision.has_validation() => return Err(differs(args, "set of validation rows (--valid)")),
        (None, _) => None,
        (Some(_), None) => {
            return Err(of_file(&"saved with validation rows of another file; name it (--valid)"));
        }
        (Some(best), Some(rows)) => {
            let best = Best::load(&best, &trainer, Arc::new(rows)).map_err(|error| of_file(&error))?;
            if let Some(what) = args.decision.differs_of(&best) {
                return Err(differs(args, what));
            }
            Some(best)
        }
    };
    let before = Some((decided.map(|decided| decided.rule), calibrated.map(|it| it.calibration.how())));
    let (rule, calibrate) = args.decision.decisions(&trainer, best.is_some(), costs, before);
    Ok(Made { trainer, preparation, split, best, valid: share, costs, rule, calibrate, held_out })
}

/// Refuses what is said of two classes where there are others.
fn check_target(args: &Args, target: Target) -> Result<()> {
    let name = if target == Target::Classes { "; --positive names one of several" } else { "" };
    match target {
        Target::Binary => Ok(()),
        _ if args.decision.has_costs() => {
            Err(CliError::input(format!("--cost-fp, --cost-fn: are of the errors of two classes{name}")))
        }
        _ if args.decision.of_two_classes().is_some() => {
            let option = args.decision.of_two_classes().unwrap_or_default();
            Err(CliError::input(format!("{option}: is for two classes{name}")))
        }
        _ if args.fpr.is_some() => Err(CliError::input(format!("--fpr: the partial AUC is one of two classes{name}"))),
        _ if !args.reading.group.is_empty() => Err(CliError::input(format!("--group: is for two classes{name}"))),
        _ if args.reading.positive.is_some() => {
            Err(CliError::input("--positive: names the positive one of two classes, which --target binary trains"))
        }
        _ => Ok(()),
    }
}

/// Refuses options that say something else than a saved run.
fn check_same(args: &Args, config: &Config, split: Option<f64>, preparation: &Preparation) -> Result<()> {
    let given_model = args.model.as_deref().map(ModelSpec::parse).transpose().map_err(CliError::Input)?;
    for (what, other) in [
        ("method", args.method.as_ref().is_some_and(|method| *method != config.method)),
        ("model", given_model.is_some_and(|model| model != config.model)),
        ("list of constraints", {
            let asked: Vec<String> = args.constraint.iter().map(ToString::to_string).collect();
            !asked.is_empty() && asked != config.constraints
        }),
        (
            "start of the network (--init)",
            args.init.is_some_and(|init| !matches!(init.init(), Init::Auto) && init.init() != config.init),
        ),
        ("seed", args.seed.is_some_and(|seed| seed != config.seed)),
        ("false-positive range", args.fpr.is_some_and(|fpr| fpr != config.fpr)),
        ("split", args.split.is_some() && args.split != split),
        ("split (--test is given)", args.test.is_some() && split.is_some()),
        ("scaling", args.reading.scale.is_some_and(|scale| scale.scale() != preparation.scale())),
    ] {
        if other {
            return Err(differs(args, what));
        }
    }
    Ok(())
}

/// The first option about columns that says something else than what a run was prepared with.
fn contradicted(given: &DataArgs, preparation: &Preparation, columns: &[String]) -> Option<&'static str> {
    if given.missing.is_some_and(|missing| missing.missing() != preparation.missing()) {
        return Some("treatment of missing values (--missing)");
    }
    if given.weight.is_some() && given.weight.as_deref() != preparation.weight_column() {
        return Some("column of weights (--weight)");
    }
    if !given.na.is_empty() && given.na != preparation.na() {
        return Some("list of spellings of missing values (--na)");
    }
    if given.split_by().is_some_and(|by| Some(&by) != preparation.split_by()) {
        return Some("column that splits go by (--split-by, --split-group)");
    }
    // Without names of columns the options about them say nothing.
    let label = preparation.label_column()?;
    let is_label = |text: &String| input::named(columns, text).is_some_and(|name| name == label);
    if given.label.as_ref().is_some_and(|text| !is_label(text)) {
        return Some("label column (--label)");
    }
    let sources: BTreeMap<&str, Source<'_>> = preparation.sources().into_iter().collect();
    let is_category = |name: &String| sources.get(name.as_str()).is_some_and(Source::is_category);
    if !given.categorical.iter().all(is_category) {
        return Some("list of categorical columns (--categorical)");
    }
    let used = |name: &String| name == label || sources.contains_key(name.as_str());
    if !given.group.is_empty() && given.group != preparation.group_columns() {
        return Some("list of columns that make groups (--group)");
    }
    if given.group_hidden && given.group.iter().any(used) {
        return Some("list of features (--group-hidden)");
    }
    let by = preparation.split_by().map(|by| by.column().as_str());
    let hidden = |name: &String| {
        preparation.group_columns().contains(name) || [by, preparation.weight_column()].contains(&Some(name.as_str()))
    };
    let [ignored, there] = [&*given.ignore, columns].map(|names| names.iter().collect::<BTreeSet<_>>());
    let same = ignored.iter().all(|name| there.contains(name) && !used(name))
        && columns.iter().all(|name| used(name) || hidden(name) || ignored.contains(name));
    (!given.ignore.is_empty() && !same).then_some("list of ignored columns (--ignore)")
}

fn length(args: &Args) -> Option<Length> {
    args.steps.map(Length::Steps).or(args.passes.map(Length::Passes))
}

fn test_file<T: Real>(args: &Args, preparation: &Preparation) -> Result<Option<Dataset<T>>> {
    let Some(path) = &args.test else { return Ok(None) };
    let table = input::table_again(path, args.reading.layout, preparation)?;
    Ok(Some(preparation.apply::<T>(table)?))
}

fn check_classes<T: Real>(args: &Args, train: &Dataset<T>, test: Option<&Dataset<T>>) -> Result<()> {
    train.require_every_class(&args.data.display().to_string())?;
    if let Some(test) = test {
        let path = args.test.as_ref().unwrap_or(&args.data);
        test.require_every_class(&path.display().to_string())?;
    }
    Ok(())
}

/// `Ok` when the system gives the memory for a model, its gradient and two moments: past that the program would die.
fn check_memory<T: Real>(model: &ModelSpec, columns: usize, heads: usize) -> Result<()> {
    let params = Model::<T>::param_len(&model.build_with(columns, heads)?);
    let mut probe = Vec::<T>::new();
    probe
        .try_reserve_exact(params.saturating_mul(4))
        .map_err(|_| CliError::input(format!("--model {model}: {params} parameters are more than there is memory for")))
}
