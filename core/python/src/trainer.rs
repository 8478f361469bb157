//! Training runs on tables.

use crate::error::{core, data, trainer as failed, value};
use crate::metrics::threshold_rule;
use crate::model::Model;
use crate::table::Table;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::sync::Arc;
use undercurve::Real;
use undercurve::checkpoint::{CheckpointError, SavedModel, Trained};
use undercurve::data::{Dataset, Encode, Missing, Options, Preparation, Scale, Split, SplitBy, Target, Targets};
use undercurve::decision::{Calibrate, ThresholdRule};
use undercurve::expression::Expression;
use undercurve::judge;
use undercurve::metric::{Costs, Metrics};
use undercurve::registry::{self, Domain, Method};
use undercurve::trainer::{
    Best, Config, Figures, Given, Init, Length, ModelSpec, Predictor, Report, Trainer as Run, Watch, check_splines,
    objective, top,
};

/// What a run is made of besides its rows, as `undercurve.Trainer` gives it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Asked {
    method: Option<String>,
    preset: Option<String>,
    objective: Option<String>,
    settings: Vec<(String, String)>,
    constraints: Vec<String>,
    model: String,
    init: String,
    seed: u64,
    steps: Option<u64>,
    passes: Option<f64>,
    fpr: (f64, f64),
    /// With the labels that they are of, or in the order of the classes.
    class_weights: Option<Vec<(Option<String>, f64)>>,
    balanced: bool,
    target: Option<String>,
    reading: Reading,
    valid: Option<f64>,
    metric: Option<String>,
    patience: Option<u64>,
    threshold: Option<String>,
    calibrate: Option<String>,
}

/// What is made of the columns of a table.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Reading {
    label: Option<String>,
    positive: Option<String>,
    scale: Option<String>,
    encode: Option<String>,
    missing: String,
    categorical: Vec<String>,
    group: Vec<String>,
    weight: Option<String>,
    ignore: Vec<String>,
    keep_identifiers: bool,
    /// A column that orders rows, and one that keeps them together.
    order: Option<String>,
    cluster: Option<String>,
}

impl Reading {
    /// Of two classes.
    pub fn options(&self, table: &Table) -> PyResult<Options> {
        let options = Options {
            label: self.label.clone(),
            positive: self.positive.clone(),
            scale: self.scale.as_deref().map(scale).transpose()?,
            encode: self.encode.as_deref().map_or(Ok(Encode::Linear), encode)?,
            missing: missing(&self.missing)?,
            categorical: self.categorical.clone(),
            group: self.group.clone(),
            weight: self.weight.clone(),
            ignore: self.ignore.clone(),
            keep_identifiers: self.keep_identifiers,
            split_by: self.order.clone().map(SplitBy::Order).or(self.cluster.clone().map(SplitBy::Group)),
            ..Options::default()
        };
        let columns = table.table.columns();
        for (name, named) in
            [("group", &options.group), ("ignore", &options.ignore), ("categorical", &options.categorical)]
        {
            if let Some(unknown) = named.iter().find(|name| !columns.contains(name)) {
                return Err(value(format!(
                    "{name}: there is no column {unknown:?}; the columns are {}",
                    columns.join(", ")
                )));
            }
        }
        Ok(options)
    }
}

fn word<T: Copy>(name: &str, text: &str, words: &[(&str, T)]) -> PyResult<T> {
    let found = words.iter().find(|word| word.0 == text).map(|word| word.1);
    let names = || words.iter().map(|word| format!("{:?}", word.0)).collect::<Vec<_>>().join(", ");
    found.ok_or_else(|| value(format!("{name}: expected one of {}, got {text:?}", names())))
}

pub fn scale(text: &str) -> PyResult<Scale> {
    let all =
        [Scale::None, Scale::Standard, Scale::Unit, Scale::Robust, Scale::Rank].map(|scale| (scale.name(), scale));
    word("scale", text, &all)
}

pub fn encode(text: &str) -> PyResult<Encode> {
    let wrong = || format!("encode: expected \"linear\", \"splines:K\" or \"bins:K\", got {text:?}");
    Encode::parse(text).map_err(|_| value(wrong()))
}

pub fn missing(text: &str) -> PyResult<Missing> {
    word("missing", text, &[("error", Missing::Refuse), ("impute", Missing::Impute)])
}

pub fn target(text: &str) -> PyResult<Target> {
    word("target", text, &[("binary", Target::Binary), ("classes", Target::Classes), ("values", Target::Values)])
}

/// The method that folds choose.
const TOP: &str = "top";

impl Asked {
    fn method(&self) -> PyResult<&'static Method> {
        let preset = self.preset.as_deref().and_then(registry::preset);
        let name = match (self.method.as_deref(), preset) {
            (Some(name), Some(preset)) if name != preset.method => {
                return Err(value(format!("preset: {} is of the method {}", preset.name, preset.method)));
            }
            (name, preset) => name.or(preset.map(|preset| preset.method)).unwrap_or(match self.target.as_deref() {
                Some("values") => "ai-sarah",
                None | Some("binary") if self.model == "linear" => "ce-exact",
                _ => "ce",
            }),
        };
        // (Folds choose; this is for what is known before.)
        registry::method(if name == TOP { "pauc-threshold" } else { name })
            .ok_or_else(|| value(format!("method: there is no {name:?}; undercurve.methods() lists them")))
    }

    fn config(&self, method: &'static Method) -> PyResult<Config> {
        let preset =
            match self.preset.as_deref() {
                None | Some("defaults" | "paper") => None,
                Some(name) => {
                    let names =
                        || registry::PRESETS.iter().map(|one| format!("{:?}", one.name)).collect::<Vec<_>>().join(", ");
                    Some(registry::preset(name).ok_or_else(|| {
                        value(format!("preset: expected \"paper\" or one of {}, got {name:?}", names()))
                    })?)
                }
            };
        let paper = self.preset.as_deref() == Some("paper");
        let mut set =
            self.objective.as_deref().map_or(Ok(Vec::new()), |text| objective(method, text)).map_err(failed)?;
        set.extend(self.settings.iter().cloned());
        let below = if paper { method.paper } else { preset.map_or(&[][..], |preset| preset.settings) };
        let below = below.iter().filter(|(name, _)| set.iter().all(|(other, _)| other != name));
        let settings = below.map(|&(name, value)| (name.into(), value.into())).chain(set.iter().cloned()).collect();
        let mut constraints = self.constraints.clone();
        if let Some(preset) = preset {
            if let (Some(wants), true) = (preset.wants, constraints.is_empty()) {
                return Err(value(format!("preset: {} needs constraints, as [{wants:?}]", preset.name)));
            }
            if constraints.is_empty() {
                constraints =
                    preset.constraints.as_slice().iter().map(|one| Expression::of(one, &[]).to_string()).collect();
            }
        }
        let init = match (&self.init[..], paper) {
            ("auto", true) => Init::Random,
            (init, _) => {
                word("init", init, &[("auto", Init::Auto), ("linear", Init::Linear), ("random", Init::Random)])?
            }
        };
        let length = length(self.steps, self.passes)?.unwrap_or(Length::Method);
        Ok(Config {
            method: if self.method.as_deref() == Some(TOP) { TOP } else { method.name }.into(),
            settings,
            model: ModelSpec::parse(&self.model).map_err(value)?,
            init,
            seed: self.seed,
            length,
            fpr: self.fpr,
            constraints,
            class_weights: Vec::new(),
        })
    }

    fn options(&self, method: &Method, table: &Table) -> PyResult<Options> {
        let mut options = self.reading.options(table)?;
        let several = method.of_classes().is_some() && options.positive.is_none();
        options.target = match self.target.as_deref() {
            Some(text) => target(text)?,
            None if several && classes(table, &options)? > 2 => Target::Classes,
            None => Target::Binary,
        };
        Ok(options)
    }
}

fn classes(table: &Table, options: &Options) -> PyResult<usize> {
    let values = undercurve::data::label_values(&table.table, options);
    Ok(values.map_err(|error| of(&error, table))?.len())
}

/// An error of a table's rows.
pub fn of(error: &undercurve::data::DataError, table: &Table) -> PyErr {
    data(error, &table.table.columns())
}

/// The rows of a table, prepared.
fn rows<T: Real>(preparation: &Preparation, table: &Table) -> PyResult<Dataset<T>> {
    let rows = preparation.apply::<T>(&table.table).map_err(|error| of(&error, table))?;
    if table.weights.is_empty() { Ok(rows) } else { rows.with_weights(table.weights.clone()).map_err(core) }
}

/// Test rows and validation rows.
type Held<'py> = (Option<PyRef<'py, Table>>, Option<PyRef<'py, Table>>);

/// Training rows, with validation rows where a share of them is to be held out.
type Parts<T> = (Dataset<T>, Option<Arc<Dataset<T>>>);

/// The training rows without the share that is held out for validation, and that share.
fn held_out<T: Real>(train: Dataset<T>, share: Option<f64>, seed: u64, table: &Table) -> PyResult<Parts<T>> {
    let Some(share) = share else { return Ok((train, None)) };
    if !(share > 0.0 && share < 1.0) {
        return Err(value(format!("valid: expected a share above 0 and below 1, got {share}")));
    }
    let [rest, held] = train.split(Split::new(1.0 - share, !seed), "").map_err(|error| of(&error, table))?;
    held.require_every_class("").map_err(|error| value(format!("valid: {}", error.kind)))?;
    Ok((rest, Some(Arc::new(held))))
}

/// The rule of a threshold.
fn rule(text: Option<&str>) -> PyResult<Option<ThresholdRule>> {
    text.map(|text| threshold_rule("threshold", text)).transpose()
}

/// How scores become probabilities, where that was said.
fn calibration(text: Option<&str>) -> PyResult<Option<Option<Calibrate>>> {
    let words = [
        ("none", None),
        ("platt", Some(Calibrate::Platt)),
        ("isotonic", Some(Calibrate::Isotonic)),
        ("beta", Some(Calibrate::Beta)),
        ("auto", Some(Calibrate::Auto)),
    ];
    text.map(|text| word("calibrate", text, &words)).transpose()
}

/// What is to be different in the rest of a saved run.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Changed {
    settings: Vec<(String, String)>,
    steps: Option<u64>,
    passes: Option<f64>,
    threshold: Option<String>,
    calibrate: Option<String>,
}

impl Changed {
    /// The configuration with the length and the settings of what is left.
    fn of(&self, config: &Config) -> PyResult<Config> {
        let mut changed =
            Config { length: length(self.steps, self.passes)?.unwrap_or(config.length), ..config.clone() };
        for (name, text) in &self.settings {
            match changed.settings.iter_mut().rev().find(|(set, _)| set == name) {
                Some((_, before)) => before.clone_from(text),
                None => changed.settings.push((name.clone(), text.clone())),
            }
        }
        Ok(changed)
    }
}

/// A length in steps or in passes, where one was asked for.
fn length(steps: Option<u64>, passes: Option<f64>) -> PyResult<Option<Length>> {
    match (steps, passes) {
        (Some(_), Some(_)) => Err(value("steps, passes: one of the two, not both")),
        (Some(0), None) => Err(value("steps: expected at least 1")),
        (Some(steps), None) => Ok(Some(Length::Steps(steps))),
        (None, Some(passes)) => Ok(Some(Length::Passes(passes))),
        (None, None) => Ok(None),
    }
}

/// A run with what belongs to it.
struct Training<T: Real> {
    run: Run<T>,
    preparation: Preparation,
    /// Share of the rows that it trains on, and what errors cost, of a run that the command line began.
    split: Option<f64>,
    costs: Option<Costs>,
    best: Option<Best<T>>,
    valid: Option<f64>,
    watch: Watch,
    rule: Option<ThresholdRule>,
    calibrate: Option<Calibrate>,
}

impl<T: Real> Training<T> {
    fn new(
        asked: &Asked,
        table: &Table,
        (test, valid): (Option<&Table>, Option<&Table>),
        start: Option<&Model>,
    ) -> PyResult<Self> {
        let method = asked.method()?;
        let mut config = asked.config(method)?;
        let start = start.map(Model::predictor::<T>).transpose()?;
        let preparation = match &start {
            Some(start) => start.preparation().cloned().ok_or_else(|| value("start: has no preparation"))?,
            None => {
                Preparation::fit(&table.table, &asked.options(method, table)?).map_err(|error| of(&error, table))?
            }
        };
        let train = rows::<T>(&preparation, table)?;
        train.require_every_class("").map_err(|error| of(&error, table))?;
        let test = test.map(|test| rows(&preparation, test).map(Arc::new)).transpose()?;
        let (train, valid) = match valid {
            Some(valid) => (train, Some(Arc::new(rows(&preparation, valid)?))),
            None => held_out(train, asked.valid, config.seed, table)?,
        };
        config.class_weights = class_weights(asked, &preparation, &train)?;
        let encoded = asked.reading.encode.as_deref().is_some_and(|encode| encode != "linear");
        check_splines(&config, encoded, train.positives()).map_err(failed)?;
        let given = Given { train: Arc::new(train), test, start, files: Vec::new() };
        let config = if config.method == TOP { top(&config, &given.train).map_err(failed)?.0 } else { config };
        let run = Run::<T>::of(&config, given).map_err(failed)?;
        let metric = asked.metric.as_deref().unwrap_or(run.own_metric());
        let rule = rule(asked.threshold.as_deref())?;
        let mut best = valid.map(|valid| Best::new(&run, valid, metric, asked.patience)).transpose().map_err(failed)?;
        if let Some(rule @ ThresholdRule::Promised(_)) = rule {
            // What the rows have chosen before, they cannot promise.
            let given = best.filter(|_| asked.patience.is_none()).ok_or_else(|| {
                value(format!(
                    "threshold: {rule}: a promise needs rows that chose nothing else: valid=0.2 without patience, or Model.with_threshold \
                     on other rows"
                ))
            })?;
            best = Some(given.keeping_the_last());
        }
        if best.is_none() && asked.patience.is_some() {
            return Err(value("patience: needs validation rows (valid=0.2)"));
        }
        let two = matches!(run.train_data().targets(), Targets::Binary(_));
        let usual = || (two && best.is_some() && !run.predictor().fits_probabilities()).then_some(Calibrate::Platt);
        let calibrate = calibration(asked.calibrate.as_deref())?.unwrap_or_else(usual);
        let watch = Watch::new(&run);
        Ok(Self { run, preparation, split: None, costs: None, best, valid: asked.valid, watch, rule, calibrate })
    }

    /// A saved run that goes on, on the rows it was saved with.
    fn resume(changed: &Changed, saved: &SavedModel, table: &Table, test: Option<&Table>) -> PyResult<Self> {
        let SavedModel { preparation, split, valid: share, costs, decided, calibrated, best, trainer: bytes, .. } =
            saved;
        let model = Predictor::<T>::load(bytes).map_err(failed)?;
        if !model.has_run() {
            return Err(failed(CheckpointError::ModelOnly.into()));
        }
        let config = model.config().clone();
        let mut train = rows::<T>(preparation, table)?;
        let mut test = test.map(|test| rows(preparation, test).map(Arc::new)).transpose()?;
        if let Some(share) = *split {
            if test.is_some() {
                return Err(value("test: the run was saved with a share of its own rows as test rows"));
            }
            let [rest, held] = train.split(Split::new(share, config.seed), "").map_err(|error| of(&error, table))?;
            (train, test) = (rest, Some(Arc::new(held)));
        }
        let (train, valid) = held_out(train, share.filter(|_| best.is_some()), config.seed, table)?;
        let given = Given { test, ..Given::rows(Arc::new(train)) };
        let run = Run::<T>::load_as(bytes, &changed.of(&config)?, given).map_err(failed)?;
        let best = match (best, valid) {
            (None, _) => None,
            (Some(best), Some(valid)) => Some(Best::load(best, &run, valid).map_err(failed)?),
            (Some(_), None) => {
                return Err(value(
                    "the run was saved with validation rows of another file; the command line resumes it",
                ));
            }
        };
        let before = decided.as_ref().map(|decided| decided.rule).or(costs.map(ThresholdRule::of_costs));
        let rule = rule(changed.threshold.as_deref())?.or(before);
        let before = calibrated.as_ref().map(|it| it.calibration.how());
        let calibrate = calibration(changed.calibrate.as_deref())?.unwrap_or(before);
        let watch = Watch::new(&run);
        Ok(Self {
            run,
            preparation: preparation.clone(),
            split: *split,
            costs: *costs,
            best,
            valid: *share,
            watch,
            rule,
            calibrate,
        })
    }

    /// So many steps at most; the objective on the last batch, or none where nothing was left to do.
    fn advance(&mut self, most: u64) -> undercurve::Result<Option<f64>> {
        let mut last = None;
        for _ in 0..most {
            if self.is_over() {
                break;
            }
            match self.run.step()? {
                Some(value) => last = Some(value),
                None => break,
            }
            if let Some(best) = &mut self.best {
                best.look(&mut self.run)?;
            }
            self.watch.look(&self.run);
        }
        Ok(last)
    }

    fn is_over(&self) -> bool {
        self.run.is_done() || self.best.as_ref().is_some_and(Best::is_out_of_patience)
    }

    /// What keeps the model, if it is not the last.
    fn kept(&self) -> Option<&Best<T>> {
        self.best.as_ref().filter(|best| best.keeps_a_step())
    }

    /// The model to keep: the best on the validation rows, or the last.
    fn predictor(&self) -> Predictor<T> {
        let last = self.run.predictor();
        match self.kept() {
            Some(best) => last.clone().with_params(best.params().to_vec()).unwrap_or(last),
            None => last,
        }
    }

    /// The model to keep, and why it has no threshold, where none keeps the rule.
    fn model(&self) -> undercurve::Result<(SavedModel, Option<String>)> {
        let mut predictor = self.predictor();
        let mut figures = Vec::new();
        let valid = self.best.as_ref().map(Best::valid_data);
        for (part, rows) in [("train", Some(self.run.train_data())), ("valid", valid), ("test", self.run.test_data())] {
            if let Some(rows) = rows {
                figures.extend(named(part, &predictor.evaluate(rows)?));
            }
        }
        let trained = self.trained(figures);
        let (file, missed) = self.file(&mut predictor)?;
        Ok((SavedModel { trained, ..file }, missed))
    }

    /// The run so far, to go on from.
    fn saved(&mut self) -> undercurve::Result<SavedModel> {
        let figures = match self.kept() {
            Some(best) => vec![(format!("valid {}", best.metric()), best.value())],
            None => {
                let Report { train, test, .. } = self.run.report()?;
                let test = test.iter().flat_map(|test| named("test", test));
                named("train", &train).chain(test).collect()
            }
        };
        let (best, trained) = (self.best.as_ref().map(Best::save), self.trained(figures));
        let (file, _) = self.file(&mut self.predictor())?;
        Ok(SavedModel { best, trained, trainer: self.run.save(), ..file })
    }

    /// How far the run is, with figures.
    fn trained(&self, figures: Vec<(String, f64)>) -> Trained {
        let (done, of, over) = (self.run.steps_done(), self.run.total_steps(), self.is_over());
        let step = self.kept().map_or(done, Best::step);
        Trained { step, done, of, over, figures }
    }

    /// What every file says: of two classes its threshold and its probabilities, too.
    fn file(&self, predictor: &mut Predictor<T>) -> undercurve::Result<(SavedModel, Option<String>)> {
        let mut missed = None;
        let alone = predictor.file(self.preparation.clone());
        let mut file = SavedModel { split: self.split, valid: self.valid, costs: self.costs, ..alone };
        let valid = self.best.as_ref().map(Best::valid_data);
        let (rows, part) = match valid {
            Some(valid) => (valid, "validation"),
            None => (self.run.train_data(), "training"),
        };
        if matches!(rows.targets(), Targets::Binary(_)) {
            let mut scores = vec![T::ZERO; rows.len()];
            predictor.score(rows.rows(), &mut scores)?;
            match self.rule.map(|rule| (rule, file.decide(rule, &scores, rows.truth(), None, part))) {
                None | Some((_, Ok(_))) => {}
                Some((
                    rule,
                    Err(why @ (undercurve::Error::Unreachable { .. } | undercurve::Error::Unpromised { .. })),
                )) => missed = Some(format!("threshold {rule}: {why} (the {part} rows); the model has no threshold")),
                Some((_, Err(error))) => return Err(error),
            }
            if let Some(how) = self.calibrate {
                file.calibrate(how, &scores, rows.truth(), part)?;
            }
        }
        Ok((file, missed))
    }

    /// Each constraint on some rows.
    fn judged(&self, rows: &Dataset<T>, threshold: f64) -> PyResult<Vec<(String, judge::Judged)>> {
        let mut predictor = self.predictor();
        let mut scores = vec![T::ZERO; rows.len()];
        predictor.score(rows.rows(), &mut scores).map_err(core)?;
        let mut old = Vec::new();
        if let Some(start) = self.run.start() {
            old.resize(rows.len(), T::ZERO);
            start.clone().score(rows.rows(), &mut old).map_err(core)?;
        }
        let on = judge::Scored {
            scores: &scores,
            labels: rows.labels(),
            group_of: rows.group_of(),
            group_names: rows.group_names(),
            old: &old,
        };
        let mut memory = Metrics::new();
        let judge = |expression: &Expression| {
            let judged = expression.judge(&on, T::of(threshold), &mut memory);
            Ok((expression.to_string(), judged.map_err(|error| value(format!("{expression}: {error}")))?))
        };
        self.watch.constraints().iter().map(judge).collect()
    }
}

/// Figures by name, with the part of the data before it.
fn named(part: &str, figures: &Figures) -> impl Iterator<Item = (String, f64)> {
    figures.named().into_iter().map(move |(name, value)| (format!("{part} {name}"), value))
}

fn class_weights<T: Real>(asked: &Asked, of: &Preparation, train: &Dataset<T>) -> PyResult<Vec<f64>> {
    let sums = train.class_weight_sums();
    if asked.balanced {
        let all: f64 = sums.iter().sum();
        return Ok(sums.iter().map(|sum| all / (sums.len() as f64 * sum)).collect());
    }
    let Some(given) = &asked.class_weights else { return Ok(Vec::new()) };
    if given.iter().any(|(_, w)| !(*w > 0.0 && w.is_finite())) {
        return Err(value("class_weight: expected numbers above 0"));
    }
    if given.iter().all(|(label, _)| label.is_none()) && given.len() != sums.len() {
        return Err(value(format!("class_weight: {} weights for {} classes", given.len(), sums.len())));
    }
    let mut weights = vec![1.0; sums.len()];
    for (at, (label, weight)) in given.iter().enumerate() {
        let at = match label {
            None => Ok(at),
            Some(label) => of.class_of(label).ok_or_else(|| {
                let names = of.class_names().iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
                value(format!("class_weight: there is no label {label:?}; the labels are {names}"))
            }),
        }?;
        weights[at] = *weight;
    }
    Ok(weights)
}

/// Of either number type.
enum Either {
    F32(Box<Training<f32>>),
    F64(Box<Training<f64>>),
}

macro_rules! each {
    ($any:expr, $run:ident => $body:expr) => {
        match $any {
            Either::F32($run) => $body,
            Either::F64($run) => $body,
        }
    };
}

/// A training run.
#[pyclass(module = "undercurve._core")]
pub struct Trainer {
    run: Either,
}

#[pymethods]
impl Trainer {
    #[new]
    #[pyo3(signature = (asked, table, held=(None, None), start=None, wide=false))]
    fn new(
        py: Python<'_>,
        asked: &Bound<'_, PyDict>,
        table: &Table,
        held: Held<'_>,
        start: Option<&Model>,
        wide: bool,
    ) -> PyResult<Self> {
        let asked: Asked = asked.extract()?;
        let held = (held.0.as_deref(), held.1.as_deref());
        let run = py.detach(|| match wide {
            false => Ok::<_, PyErr>(Either::F32(Box::new(Training::new(&asked, table, held, start)?))),
            true => Ok(Either::F64(Box::new(Training::new(&asked, table, held, start)?))),
        })?;
        Ok(Self { run })
    }

    /// A saved run that goes on.
    #[staticmethod]
    #[pyo3(signature = (changed, saved, table, test=None))]
    fn resume(
        py: Python<'_>,
        changed: &Bound<'_, PyDict>,
        saved: &Model,
        table: &Table,
        test: Option<&Table>,
    ) -> PyResult<Self> {
        let (changed, saved): (Changed, _) = (changed.extract()?, &saved.saved);
        let run = py.detach(|| match saved.real_bytes {
            4 => Ok::<_, PyErr>(Either::F32(Box::new(Training::resume(&changed, saved, table, test)?))),
            _ => Ok(Either::F64(Box::new(Training::resume(&changed, saved, table, test)?))),
        })?;
        Ok(Self { run })
    }

    /// The bytes of the run so far, to go on from.
    fn save<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let saved = py.detach(|| each!(&mut self.run, run => run.saved())).map_err(core)?;
        Ok(PyBytes::new(py, &saved.to_bytes()))
    }

    /// At most so many steps.
    fn step(&mut self, py: Python<'_>, most: u64) -> PyResult<Option<f64>> {
        let last = py.detach(|| each!(&mut self.run, run => run.advance(most))).map_err(core)?;
        py.check_signals()?;
        Ok(last)
    }

    #[getter]
    fn is_done(&self) -> bool {
        each!(&self.run, run => run.is_over())
    }

    /// What to say where the run ended before patience could have had a part.
    #[getter]
    fn idle_patience(&self) -> Option<String> {
        each!(&self.run, run => run.best.as_ref().filter(|_| run.is_over()).and_then(Best::idle_patience))
    }

    #[getter]
    fn steps_done(&self) -> u64 {
        each!(&self.run, run => run.run.steps_done())
    }

    #[getter]
    fn total_steps(&self) -> u64 {
        each!(&self.run, run => run.run.total_steps())
    }

    /// The columns that the model reads, and the label's.
    #[getter]
    fn columns(&self) -> (Vec<String>, Option<String>) {
        let preparation = each!(&self.run, run => &run.preparation);
        let names = preparation.sources().into_iter().map(|(name, _)| name.to_string()).collect();
        (names, preparation.label_column().map(str::to_string))
    }

    #[getter]
    fn method(&self) -> &'static str {
        each!(&self.run, run => run.run.method()).map_or("", |method| method.name)
    }

    /// Objective and exact metrics, now.
    fn report<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let method = each!(&self.run, run => run.run.method());
        let report = py.detach(|| each!(&mut self.run, run => run.run.report())).map_err(core)?;
        let Report { step, pass, objective, train, test, warning, .. } = report;
        let figures = |figures: &Figures| {
            let out = PyDict::new(py);
            figures.named().into_iter().try_for_each(|(name, value)| out.set_item(name, value))?;
            Ok::<_, PyErr>(out)
        };
        let out = PyDict::new(py);
        out.set_item("step", step)?;
        out.set_item("pass", pass)?;
        out.set_item("objective", objective)?;
        out.set_item("train", figures(&train)?)?;
        out.set_item("test", test.as_ref().map(figures).transpose()?)?;
        let text = warning.zip(method).map(|(warning, method)| warning.sentence(method));
        out.set_item("warning", text)?;
        Ok(out)
    }

    /// The model to keep, now, and why it has no threshold, where none keeps the rule.
    fn model(&self, py: Python<'_>) -> PyResult<(Model, Option<String>)> {
        let (file, missed) = py.detach(|| each!(&self.run, run => run.model())).map_err(core)?;
        Ok((Model::of(file)?, missed))
    }

    /// Whether each constraint holds, on the validation rows, else the training rows, and on the test rows.
    fn judge<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let out = PyList::empty(py);
        let threshold = each!(&self.run, run => run.model()).map_err(core)?.0.threshold.unwrap_or(0.0);
        each!(&self.run, run => {
            let (chosen, part) = match &run.best {
                Some(best) => (best.valid_data(), "valid"),
                None => (run.run.train_data(), "train"),
            };
            for (part, rows) in [(part, Some(chosen)), ("test", run.run.test_data())] {
                let Some(rows) = rows else { continue };
                for (text, judged) in run.judged(rows, threshold)? {
                    let one = PyDict::new(py);
                    one.set_item("constraint", text)?;
                    one.set_item("rows", part)?;
                    one.set_item("value", judged.value)?;
                    one.set_item("bound", judged.bound)?;
                    one.set_item("noise", judged.noise)?;
                    one.set_item("verdict", judged.verdict.to_string())?;
                    one.set_item("more_rows", judged.more().map(|more| more.rows))?;
                    out.append(one)?;
                }
            }
        });
        Ok(out)
    }
}

/// Every method: name, title, what it optimises, kind, metric, parameters (name, default, help), paper.
#[pyfunction]
pub fn methods(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let out = PyList::empty(py);
    for method in registry::METHODS {
        let one = PyDict::new(py);
        one.set_item("name", method.name)?;
        one.set_item("title", method.title)?;
        one.set_item("about", method.about)?;
        one.set_item(
            "kind",
            match method.kind {
                registry::Kind::Batches => "batches",
                registry::Kind::Cells => "groups",
                registry::Kind::Whole => "whole",
                registry::Kind::FiniteSum => "finite sum",
                _ => "",
            },
        )?;
        one.set_item("metric", method.metric())?;
        let params: Vec<(&str, &str, &str)> =
            method.params.iter().map(|param| (param.name, param.default, param.about)).collect();
        one.set_item("params", params)?;
        let domains = PyDict::new(py);
        for param in method.params {
            let number = |kind: &'static str, word: Option<&'static str>| (kind, word);
            match param.domain {
                Domain::Choice(values) => domains.set_item(param.name, values)?,
                Domain::Number { .. } => domains.set_item(param.name, number("float", None))?,
                Domain::NumberOr { word, .. } => domains.set_item(param.name, number("float", Some(word)))?,
                Domain::Count { .. } => domains.set_item(param.name, number("int", None))?,
                Domain::CountOr { word, .. } => domains.set_item(param.name, number("int", Some(word)))?,
            }
        }
        one.set_item("domains", domains)?;
        one.set_item("paper", method.source.paper)?;
        out.append(one)?;
    }
    Ok(out)
}
