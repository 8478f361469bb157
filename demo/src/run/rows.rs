//! The rows of a training run and the trainer on them.

use crate::args::data::DataPlan;
use crate::args::decide::DecisionPlan;
use crate::args::layout::Layout;
use crate::args::method;
use crate::args::train::{New, RowsPlan};
use crate::error::{CliError, Result, alike};
use crate::input;
use crate::output;
use crate::run::decisions;
use crate::run::device::Engine;
use crate::run::training::Training;
use crate::tell::constraints::Named;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use undercurve::Real;
use undercurve::data::{
    DataError, DataErrorKind, Dataset, Encode, Options, Preparation, RawTable, Source, Split, Target, label_values,
    prepare,
};
use undercurve::expression::{Expression, Quantity};
use undercurve::metric::Costs;
use undercurve::model::Model;
use undercurve::registry::class_methods;
use undercurve::trainer::{Config, Given, ModelSpec, Predictor, TopPoint, Trainer, Watch, check_splines, top};
use undercurve_search::TOP;

/// The model that a run begins at.
#[derive(Clone)]
pub struct Start<T: Real> {
    pub model: Predictor<T>,
    file: PathBuf,
}

impl<T: Real> Start<T> {
    /// That of a new run, if it has one.
    pub fn of(new: &New, data: &DataPlan) -> Result<Option<Self>> {
        let Some(file) = &new.start else { return Ok(None) };
        let saved = input::saved(file)?;
        let preparation = &saved.preparation;
        let other = contradicted_kind(new.target, data, preparation, "positive label (--positive)");
        let scale = data.options.scale.is_some_and(|scale| scale != preparation.scale());
        if let Some(what) = other.or(scale.then_some("scaling (--scale)")) {
            return Err(made_with_another(file, what));
        }
        Ok(Some(Self { model: input::model(file, &saved)?, file: file.clone() }))
    }
}

/// An option that contradicts the model that a run begins at.
fn made_with_another(file: &Path, what: &str) -> CliError {
    let file = file.display();
    CliError::input(format!("{file}: was made with another {what}; leave the option out to start from it"))
}

/// A table, and what a new run makes of it.
pub struct Read {
    pub config: Config,
    pub options: Options,
    pub table: RawTable,
}

impl Read {
    /// Reads the table of a new run.
    pub fn new<T: Real>(rows: &RowsPlan, new: &New, start: Option<&Start<T>>) -> Result<Self> {
        let (method, mut config, mut options) = (new.method, new.config.clone(), rows.data.options.clone());
        if let (Some(start), false) = (start, new.names_model) {
            config.model = start.model.config().model.clone();
        }
        let before = start.and_then(|start| start.model.preparation());
        if before.is_none_or(|before| before.group_columns().is_empty()) {
            rows.check_groups(&config)?;
        }
        let several = method.of_classes().filter(|_| options.positive.is_none());
        let table = if let Some(before) = before {
            options.target = before.target();
            input::table_again(&rows.file, rows.data.layout, before)?
        } else {
            // Where the method may be one of several classes only the data tell which parameters it has.
            if several.is_none() || new.target.is_some_and(|target| target != Target::Classes) {
                method::check_settings(method, &config)?;
            }
            let table = input::table_of(&rows.file, &rows.data)?;
            input::check_columns(&options, &table)?;
            options.target = match new.target {
                Some(target) => target,
                None if several.is_some() && label_values(&table, &options)?.len() > 2 => Target::Classes,
                None => Target::Binary,
            };
            table
        };
        rows.check_target(options.target)?;
        let form = several.filter(|_| options.target == Target::Classes);
        method::check_settings(form.unwrap_or(method), &config)?;
        Ok(Self { config, options, table })
    }

    /// What is to be said of how the table was read.
    pub fn notes(&self, rows: &RowsPlan, new: &New) -> Vec<String> {
        input::reading_notes(&self.table, new.start.is_none().then_some(&self.options), &rows.file)
    }
}

/// The rows of a new run, and what follows from them and the seed: the same for runs of other settings.
pub struct Prepared<T: Real> {
    config: Config,
    preparation: Preparation,
    /// The share of the rows that it trains on.
    split: Option<f64>,
    train: Arc<Dataset<T>>,
    valid: Option<Arc<Dataset<T>>>,
    test: Option<Arc<Dataset<T>>>,
    costs: Option<Costs>,
    /// Of the files whose loss is bounded, the rows that are trained on and the others.
    files: [Named<T>; 2],
}

impl<T: Real> Prepared<T> {
    /// Reads the table as a run of this configuration does, which begins at `start` if that is given.
    pub fn new<'a>(
        rows: &RowsPlan,
        decision: &DecisionPlan,
        mut config: Config,
        options: &Options,
        table: impl Into<Cow<'a, RawTable>>,
        start: Option<&Start<T>>,
    ) -> Result<Self> {
        let table = table.into();
        let guessed = input::guessed(&table);
        let several = |error| with_class_methods(error, guessed);
        let before = start.and_then(|start| Some((start, start.model.preparation()?)));
        let (preparation, mut train, test) = match (rows.split, before) {
            (_, Some((start, before))) => {
                let preparation = grouped_before(rows, start, before, &table)?;
                let (train, test) = apply_and_split(rows, rows.split, &preparation, &table, config.seed)?;
                (preparation, train, test)
            }
            (Some(share), None) => {
                let all = prepare::<T>(table, options, Split::new(share, config.seed)).map_err(several)?;
                (all.preparation, all.train, Some(all.test))
            }
            (None, None) => {
                let preparation = Preparation::fit(&table, options).map_err(several)?;
                let train = preparation.apply::<T>(table)?;
                let test = test_file(rows, &preparation)?;
                (preparation, train, test)
            }
        };
        let valid = decision.valid.as_ref();
        let layout = rows.data.layout;
        let valid = decisions::validation(valid, &rows.file, layout, config.seed, &preparation, &mut train)?;
        rows_of_every_class(rows, &train, test.as_ref())?;
        check_memory::<T>(&config.model, train.cols(), train.classes().len().max(1))?;
        config.class_weights = rows.data.class_weights(&preparation, &train)?;
        check_splines(&config, options.encode != Encode::Linear, train.positives())?;
        if let Some(want) = rows.want.filter(|_| !train.labels().is_empty()) {
            config.fpr = want.of(train.len(), train.positives(), config.fpr).map_err(input::want_refused)?.1;
        }
        let (train, valid) = (Arc::new(train), valid.map(Arc::new));
        let costs = decisions::costs(decision, &train)?;
        if let Some(costs) = costs {
            config.fpr = decisions::range_of(costs, &config, &train, valid.as_ref())?;
        }
        let files = bounded_files(rows.data.layout, &config, &preparation, rows.split)?;
        Ok(Self { config, preparation, split: rows.split, train, valid, test: test.map(Arc::new), costs, files })
    }

    /// The configuration, with what followed from the rows.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// A run on these rows, of this configuration, that differs from its own in settings and seed at most.
    pub fn training(
        &self,
        decision: &DecisionPlan,
        config: &Config,
        start: Option<Predictor<T>>,
    ) -> Result<Training<T>> {
        let [files, held_out] = self.files.clone();
        let (train, test) = (self.train.clone(), self.test.clone());
        let chosen = if config.method == TOP { Some(best_at_top(config, &train)?) } else { None };
        let config = chosen.as_ref().unwrap_or(config);
        let trainer = Trainer::of(config, Given { train, test, start, files })?;
        let best = self.valid.clone().map(|valid| decisions::best(decision, &trainer, valid)).transpose()?;
        let (rule, calibrate) = decisions::rule(decision, &trainer, best.is_some(), self.costs, None);
        let (preparation, valid) = (self.preparation.clone(), decision.valid_share());
        let (watch, split, costs) = (Watch::new(&trainer), self.split, self.costs);
        let (engine, report) = (Engine::cpu(), None);
        Ok(Training {
            trainer,
            engine,
            preparation,
            split,
            best,
            valid,
            costs,
            rule,
            calibrate,
            average: None,
            report,
            watch,
            held_out,
        })
    }
}

/// What folds choose for the top of the list, which is said.
fn best_at_top<T: Real>(config: &Config, train: &Arc<Dataset<T>>) -> Result<Config> {
    let (chosen, tried) = top(config, train)?;
    let mean = |point: &TopPoint| point.pauc.iter().sum::<f64>() / point.pauc.len() as f64;
    let each: Vec<String> = tried.iter().map(|point| format!("{} {:.4}", point.method, mean(point))).collect();
    let (low, high) = config.fpr;
    if tried.iter().all(|point| point.pauc.is_empty()) {
        let why = if config.model == ModelSpec::Linear {
            "rows are too few for folds"
        } else {
            "of networks other methods gain nothing there"
        };
        output::note(format_args!("top: {}: {why}", chosen.method));
        return Ok(chosen);
    }
    output::note(format_args!("top: {} by pAUC {low:.4}:{high:.4} on folds: {}", chosen.method, each.join(", ")));
    Ok(chosen)
}

/// The data and the trainer of a new run.
pub fn begin<T: Real>(rows: &RowsPlan, decision: &DecisionPlan, new: &New) -> Result<Training<T>> {
    let start = Start::of(new, &rows.data)?;
    let read = Read::new(rows, new, start.as_ref())?;
    let read_as = read.notes(rows, new);
    let prepared = Prepared::new(rows, decision, read.config, &read.options, read.table, start.as_ref())?;
    let training = prepared.training(decision, prepared.config(), start.map(|start| start.model))?;
    input::say(&read_as);
    Ok(training)
}

/// Of more labels than two also the methods that train all of them.
fn with_class_methods(error: DataError, guessed: Option<&str>) -> CliError {
    let error = match error.kind {
        DataErrorKind::ManyLabels { ref labels, .. } if alike(labels).is_none() => CliError::input(format!(
            "{error} (--positive), or train all of them by {}",
            class_methods().map(|method| method.name).collect::<Vec<_>>().join(", ")
        )),
        _ => error.into(),
    };
    input::or_header(error, guessed)
}

/// What is said otherwise of the labels than a preparation has them; `positive` is what to call another positive label.
pub fn contradicted_kind(
    target: Option<Target>,
    given: &DataPlan,
    preparation: &Preparation,
    positive: &'static str,
) -> Option<&'static str> {
    if target.is_some_and(|target| target != preparation.target()) {
        return Some("kind of labels (--target)");
    }
    match (&given.options.positive, preparation.positive()) {
        (Some(label), Some(known)) if !same_label(label, known) => Some(positive),
        (Some(_), None) => Some("number of classes (--positive)"),
        _ => None,
    }
}

/// Whether two labels are the same text, or the same number.
fn same_label(a: &str, b: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    a == b || (number(a).is_some() && number(a) == number(b))
}

/// The preparation of a model that a run begins at, with the groups that are named now.
fn grouped_before<T: Real>(
    rows: &RowsPlan,
    start: &Start<T>,
    before: &Preparation,
    table: &RawTable,
) -> Result<Preparation> {
    let preparation = match rows.data.options.group.as_slice() {
        [] => before.clone(),
        columns => input::with_groups(before, table, columns)?,
    };
    if let Some(option) = contradicted(&rows.data, &preparation, &table.columns()) {
        return Err(made_with_another(&start.file, option));
    }
    Ok(preparation)
}

/// The training rows of a table, prepared as others were, and the test rows, if there are some.
pub fn apply_and_split<T: Real>(
    rows: &RowsPlan,
    split: Option<f64>,
    preparation: &Preparation,
    table: &RawTable,
    seed: u64,
) -> Result<(Dataset<T>, Option<Dataset<T>>)> {
    let all = preparation.apply::<T>(table)?;
    match split {
        Some(share) => {
            let [train, test] = all.split(Split::new(share, seed), table.name())?;
            Ok((train, Some(test)))
        }
        None => Ok((all, test_file(rows, preparation)?)),
    }
}

/// The rows of the files whose loss is bounded, and those of them that are held out: of each file the share that is held out
/// of the training data, drawn by label.
pub fn bounded_files<T: Real>(
    layout: Layout,
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
        let table = input::table_again(Path::new(&file), layout, preparation)?;
        let all = preparation.apply::<T>(table)?;
        input::notes(&all, &file, preparation.group_names().len(), true);
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

/// The first option about columns that says something else than what a run was prepared with.
pub fn contradicted(given: &DataPlan, preparation: &Preparation, columns: &[String]) -> Option<&'static str> {
    if given.missing.is_some_and(|missing| missing != preparation.missing()) {
        return Some("treatment of missing values (--missing)");
    }
    let options = &given.options;
    if options.weight.is_some() && options.weight.as_deref() != preparation.weight_column() {
        return Some("column of weights (--weight)");
    }
    if !given.na.is_empty() && given.na != preparation.na() {
        return Some("list of spellings of missing values (--na)");
    }
    if options.split_by.is_some() && options.split_by.as_ref() != preparation.split_by() {
        return Some("column that splits go by (--split-by, --split-group)");
    }
    // Without names of columns the options about them say nothing.
    let label = preparation.label_column()?;
    let is_label = |text: &String| input::named(columns, text).is_some_and(|name| name == label);
    if options.label.as_ref().is_some_and(|text| !is_label(text)) {
        return Some("label column (--label)");
    }
    let sources: BTreeMap<&str, Source<'_>> = preparation.sources().into_iter().collect();
    let is_category = |name: &String| sources.get(name.as_str()).is_some_and(Source::is_category);
    if !options.categorical.iter().all(is_category) {
        return Some("list of categorical columns (--categorical)");
    }
    let used = |name: &String| name == label || sources.contains_key(name.as_str());
    if !options.group.is_empty() && options.group != preparation.group_columns() {
        return Some("list of columns that make groups (--group)");
    }
    if given.group_hidden && options.group.iter().any(used) {
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

fn test_file<T: Real>(rows: &RowsPlan, preparation: &Preparation) -> Result<Option<Dataset<T>>> {
    let Some(path) = &rows.test else { return Ok(None) };
    let table = input::table_again(path, rows.data.layout, preparation)?;
    Ok(Some(preparation.apply::<T>(table)?))
}

/// Refuses training or test rows that lack a class.
pub fn rows_of_every_class<T: Real>(rows: &RowsPlan, train: &Dataset<T>, test: Option<&Dataset<T>>) -> Result<()> {
    train.require_every_class(&rows.file.display().to_string())?;
    let path = rows.test.as_ref().unwrap_or(&rows.file);
    test.map_or(Ok(()), |test| Ok(test.require_every_class(&path.display().to_string())?))
}

/// `Ok` when the system gives the memory for a model, its gradient and two moments: past that the program would die.
fn check_memory<T: Real>(model: &ModelSpec, columns: usize, heads: usize) -> Result<()> {
    let params = Model::<T>::param_len(&model.build_with(columns, heads)?);
    let mut probe = Vec::<T>::new();
    probe
        .try_reserve_exact(params.saturating_mul(4))
        .map_err(|_| CliError::input(format!("--model {model}: {params} parameters are more than there is memory for")))
}
