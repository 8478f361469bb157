//! Options of `undercurve train`.

use crate::args::data::{DataArgs, DataPlan};
use crate::args::decide::{DecisionArgs, DecisionPlan};
use crate::args::device::{self, Choice};
use crate::args::many::{ManyArgs, ManyPlan};
use crate::args::{Word, method, words};
use crate::error::{CliError, Result};
use crate::tell::constraints;
use crate::threads;
use std::path::PathBuf;
use undercurve::constraint::Constraints;
use undercurve::data::{Format, Options, Target};
use undercurve::expression::Expression;
use undercurve::registry::{Method, PRESETS, Preset, preset};
use undercurve::trainer::{self, Config, Init, Length, ModelSpec};
use undercurve_search::{TOP, Want, want};

/// `--precision`, in bytes.
const PRECISIONS: &[Word<u8>] = &[("f32", "32-bit numbers", 4), ("f64", "64-bit numbers", 8)];

/// `--target`.
const TARGETS: &[Word<Target>] = &[
    ("binary", "Whether a row is positive", Target::Binary),
    ("classes", "Its class, one of several", Target::Classes),
    ("values", "A number", Target::Values),
];

/// `--init`.
const INITS: &[Word<Init>] = &[
    ("auto", "What a trial finds better", Init::Auto),
    ("linear", "At a linear model of the rows", Init::Linear),
    ("random", "At random start values", Init::Random),
];

/// Options of `train`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = format!("\
Examples:
  undercurve train data.csv --split 0.75 --method soap
  undercurve train data.csv --label default --positive yes --split 0.6 --method ce --model mlp:64,64 --json
  undercurve train a9a.svm.gz --test a9a.t.svm.gz --method soap --set lr=0.05 --set gamma=0.5 --save a9a.model
  undercurve train a9a.svm.gz --test a9a.t.svm.gz --resume a9a.model
  undercurve train a9a.svm.gz --test a9a.t.svm.gz --resume a9a.model --steps 9000 --set lr=0.01
  undercurve train digits.csv --label digit --split 0.75 --method ce
  undercurve train people.csv --split 0.7 --group sex --method sonex --constraint \"gap(fpr) <= 0.05\"
  undercurve train new.csv --split 0.7 --start old.model --preset non-forgetting --constraint \"loss(old.csv) <= old\"
  undercurve train data.csv --split 0.75 --method soap --seeds 64 --plot seeds.svg
  undercurve train data.csv --split 0.75 --valid 0.2 --method soap --grid lr=.01:.1:8,gamma=.3|.6|.9 --csv grid.csv --out best.model
  undercurve train prices.csv --label price --target values --split 0.75 --method ai-sarah --set loss=least-squares

Two labels make a positive and a negative class. Of more, --positive names the positive one; without it the methods ce,
ppd-sg and ppd-adagrad train all of them as classes and report the Hand-Till AUC. With --target values labels are numbers,
which the finite sums fit with loss=least-squares, and sorr without the rows that it takes as outliers.

{}

Exit codes: 0 for success. With --require, 3 if a constraint is not met, and 4 if the rows are too few to tell of one; without it
both are 0, and the last line says so. 2 for bad input or options: one line says what and where, and nothing is written (a run
that ends at a batch of one class keeps its last save). 130 after Ctrl-C, 143 after SIGTERM; both save the run. 1 for anything else.", constraints::HELP))]
pub struct Args {
    /// Training data: CSV or LIBSVM, plain or gzip; - is stdin
    #[arg(value_name = "DATA")]
    pub data: PathBuf,
    /// Test data, measured in every report and never trained on
    #[arg(long, value_name = "FILE", conflicts_with = "split")]
    test: Option<PathBuf>,
    /// Train on this share of the rows of DATA, drawn by class, and test on the others
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    split: Option<f64>,
    /// What labels are: binary, classes or values [default: classes where there are more than two labels, none of them
    /// named by --positive, and a method that trains classes; else binary]
    #[arg(long, value_name = "WHAT", hide_possible_values = true, value_parser = words(TARGETS))]
    target: Option<Target>,
    #[command(flatten)]
    pub reading: DataArgs,
    /// Train by passes over a DATA that does not fit in memory: rows that come replace random ones of their class in memory, and as many
    /// as a batch has make a step. Read once for the columns, once for the first rows in memory, then for each pass; a pipe is copied
    /// to a temporary file (TMPDIR). For two classes and methods without a state for each row [default: ce, for one pass, or 6,000
    /// steps where that is more]. Reports measure the rows in memory, and --test a file by parts at the end
    #[arg(long)]
    stream: bool,
    /// Rows in memory with --stream, half of them positives where there are so many; the result depends on it [default: what 64 MB hold,
    /// at most 262,144]
    #[arg(long, value_name = "ROWS", requires = "stream", value_parser = clap::value_parser!(u32).range(64..=16_777_216))]
    buffer: Option<u32>,
    /// Method; `undercurve methods` lists them; or top: cross-entropy, pauc-threshold or pauc-exact, whichever has the best partial AUC on
    /// folds [default: cross-entropy, of linear models ce-exact, else ce; with --target values ai-sarah with loss=least-squares]
    #[arg(long, value_name = "NAME")]
    pub method: Option<String>,
    /// A setting of the method (repeatable); `undercurve methods NAME` lists them
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// Settings to begin with, which --set changes: defaults, or paper for those of the method's paper; or a method with
    /// settings and constraints: roc-fairness, roc-fairness-paper, gdro-cvar, non-forgetting
    #[arg(long, value_name = "NAME", default_value = "defaults", value_parser = preset_name)]
    #[arg(conflicts_with = "resume")]
    pub preset: String,
    /// A constraint (repeatable), for methods that train under constraints, such as sonex, alexr2 and lagrange
    /// [default: gap(fpr) <= 0.05 and gap(tpr) <= 0.05]; --group names the groups. The rows of FILE in loss(FILE) serve only
    /// this constraint; --split holds out the same share of them
    #[arg(long, value_name = "EXPR", value_parser = constraints::parse)]
    pub constraint: Vec<Expression>,
    /// What a method with constraints minimises: auc, ce, or cvar:SHARE, the mean loss of the worst share of the groups
    #[arg(long, value_name = "WHAT", conflicts_with = "resume")]
    objective: Option<String>,
    /// Exit code 3 if a constraint is not met, else 4 if the rows are too few to tell of one
    #[arg(long)]
    require: bool,
    /// Begin at the parameters of a saved model. Its preparation of the data is used, and the data must have its columns and
    /// classes. In constraints it is `old`. Steps of cross-entropy before the method are left out, unless --set
    /// pretrain=STEPS
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    start: Option<PathBuf>,
    /// linear, mlp:WIDTHS or mlp-tanh:WIDTHS [default: linear; with --start that model]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Train a network from each of K seeds, --seed and those after it, on the same rows, and keep one model whose score is the
    /// mean of theirs: a network of K times the width, which all that reads models reads. Reports on the way are of the first
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(2..=32))]
    average: Option<u64>,
    /// Start values of a network mlp:WIDTHS of two classes: random; linear, a linear model of the rows (weight decay is then toward
    /// it); or auto, the better of both in a short trial on part of the training rows, which the first lines name [default: auto;
    /// with --preset paper random]
    #[arg(long, value_name = "HOW", conflicts_with = "start", hide_possible_values = true, value_parser = words(INITS))]
    init: Option<Init>,
    /// False-positive range of the partial AUC [default: 0:0.05]
    #[arg(long, value_name = "LO:HI", value_parser = range)]
    fpr: Option<(f64, f64)>,
    /// What is wanted: ap, auroc or pauc, which choose the ridge; or of the top of the list "100 alerts" (of as many rows), recall@100 or
    /// "fpr<=0.001", which set --fpr, take --method top, and report precision and recall there beside cross-entropy
    #[arg(long, value_name = "WHAT", value_parser = want, conflicts_with_all = ["fpr", "resume", "stream"])]
    want: Option<Want>,
    #[command(flatten)]
    decision: DecisionArgs,
    /// Number of passes over the training rows; a full gradient is one pass
    #[arg(long, value_name = "N", conflicts_with = "steps", allow_negative_numbers = true)]
    passes: Option<f64>,
    /// Number of steps [default: the method's]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    steps: Option<u64>,
    /// Stop after this many seconds, even if steps are left
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    seconds: Option<f64>,
    /// Seed of the split, the start values and the batches [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<u64>,
    /// cpu, gpu, auto, or gpu:NAME with part of an adapter's name, the only way to choose a software adapter (slower than the
    /// CPU). auto times both for .1 s, for many runs (--seeds, --grid) and for one run of a large model, and uses the CPU for the rest.
    /// Without a GPU kernel, gpu is refused and auto trains on the CPU. If a GPU is lost, the CPU continues. A saved run does not
    /// keep its device. Results on a GPU differ in the last bits
    #[arg(long, value_name = "DEVICE", default_value = "cpu", value_parser = device::parse)]
    device: Choice,
    /// Threads of reading CSV, exact methods, reports and scoring; the result does not depend on their number [default: all cores]
    #[arg(long, value_name = "N", value_parser = threads::parse)]
    threads: Option<usize>,
    /// f32 or f64 [default: f32]
    #[arg(long, value_name = "REAL", hide_possible_values = true, value_parser = words(PRECISIONS))]
    precision: Option<u8>,
    /// Report every K steps [default: twenty times in the run]
    #[arg(long, value_name = "K")]
    every: Option<u64>,
    /// Save the run to FILE, with every report and at the end
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Save every K steps instead of with every report
    #[arg(long, value_name = "K")]
    save_every: Option<u64>,
    /// Write the model to FILE at the end, without the run; `predict`, `eval` and `inspect` read it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Continue a saved run on the same data, and save to the same FILE unless --save names another. --steps, --passes and --set
    /// of numbers, such as lr, change the remaining steps; schedules are then those of the new length. For another method or
    /// other data, use --start
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Print one JSON object for each report (of many runs for each run), and one with the totals
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    many: ManyArgs,
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.trim().to_string(), value.trim().to_string())),
        _ => Err("expected KEY=VALUE".to_string()),
    }
}

/// `LO:HI`, as two numbers.
pub fn range(text: &str) -> Result<(f64, f64), String> {
    let pair = text.split_once(':').and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    match pair {
        Some((low, high)) if 0.0 <= low && low < high && high <= 1.0 => Ok((low, high)),
        _ => Err("expected LO:HI with 0 <= LO < HI <= 1".to_string()),
    }
}
/// `--preset`: that there is one.
fn preset_name(text: &str) -> std::result::Result<String, String> {
    let names = ["defaults", "paper"].into_iter().chain(PRESETS.iter().map(|preset| preset.name));
    match names.clone().any(|name| name == text) {
        true => Ok(text.to_string()),
        false => Err(format!("expected {}", names.collect::<Vec<_>>().join(", "))),
    }
}

/// What `train` was asked, checked as far as it can be without reading data.
#[derive(Clone, Debug)]
pub struct Plan {
    pub rows: RowsPlan,
    pub begin: Begin,
    pub decision: DecisionPlan,
    pub manner: Manner,
    pub many: Option<ManyPlan>,
    pub device: Choice,
    pub threads: Option<usize>,
    /// Bytes of a number.
    pub precision: Option<u8>,
    pub stream: Option<Stream>,
    /// Networks whose mean is the model.
    pub average: Option<u64>,
}

/// Training by passes over a file.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// Rows in memory, where that was said.
    pub rows: Option<usize>,
}

/// Which rows a run is of.
#[derive(Clone, Debug)]
pub struct RowsPlan {
    pub file: PathBuf,
    pub test: Option<PathBuf>,
    /// The share of the rows of `file` to train on.
    pub split: Option<f64>,
    pub data: DataPlan,
    /// What is wanted of the ranking.
    pub want: Option<Want>,
    /// What was asked that is for two classes alone, and whether naming the positive one would help.
    for_two: Option<(String, bool)>,
}

/// How a run is told, and when it is saved and stopped.
#[derive(Clone, Debug)]
pub struct Manner {
    /// Where to save the run.
    pub place: Option<PathBuf>,
    /// Where to write the model alone, at the end.
    pub out: Option<PathBuf>,
    /// Steps between reports, and between saves; a twentieth of the run without.
    pub every: Option<u64>,
    pub save_every: Option<u64>,
    /// When to stop.
    pub seconds: Option<f64>,
    /// JSON instead of a table.
    pub json: bool,
    /// Whether constraints have to hold.
    pub require: bool,
    /// What is wanted of the ranking, and told.
    pub want: Option<Want>,
}

/// Where a run begins.
#[derive(Clone, Debug)]
pub enum Begin {
    New(New),
    Resume(Resume),
}

/// A new run.
#[derive(Clone, Debug)]
pub struct New {
    /// The model to begin at.
    pub start: Option<PathBuf>,
    pub target: Option<Target>,
    pub method: &'static Method,
    /// With the model of `start` where none was named.
    pub config: Config,
    pub names_model: bool,
    /// Whether a trial says where a network begins.
    pub tries_init: bool,
}

/// A saved run that goes on, and what was said of it, which has to be what it is.
#[derive(Clone, Debug)]
pub struct Resume {
    pub file: PathBuf,
    pub target: Option<Target>,
    pub method: Option<String>,
    pub model: Option<ModelSpec>,
    pub constraints: Vec<String>,
    pub init: Option<Init>,
    pub seed: Option<u64>,
    pub fpr: Option<(f64, f64)>,
    /// What may change.
    pub length: Option<Length>,
    pub set: Vec<(String, String)>,
}

impl RowsPlan {
    /// Refuses what is said of two classes where there are others.
    pub fn check_target(&self, target: Target) -> Result<()> {
        match &self.for_two {
            Some((text, names)) if target != Target::Binary => {
                let several = *names && target == Target::Classes;
                Err(CliError::input(format!(
                    "{text}{}",
                    if several { "; --positive names one of several" } else { "" }
                )))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a method of groups without any, unless all that is asked of it is asked of everybody.
    pub fn check_groups(&self, config: &Config) -> Result<()> {
        if self.data.options.group.is_empty() && config.needs_groups() {
            return Err(CliError::input(format!(
                "--method {}: is of groups; --group names their columns",
                config.method
            )));
        }
        Ok(())
    }
}

impl Args {
    pub fn check(self) -> Result<Plan> {
        self.check_lengths()?;
        if self.stream {
            self.check_stream()?;
        }
        self.check_average()?;
        let stream = self.stream.then(|| Stream { rows: self.buffer.map(|rows| rows as usize) });
        let place = self.save.clone().or(self.resume.clone());
        let many = self.many.clone().check()?;
        if let Some(many) = &many {
            self.check_many(many)?;
        }
        let length = self.steps.map(Length::Steps).or(self.passes.map(Length::Passes));
        let model = self.model.as_deref().map(ModelSpec::parse).transpose().map_err(CliError::Input)?;
        let begin = match &self.resume {
            Some(file) => Begin::Resume(Resume {
                file: file.clone(),
                target: self.target,
                method: self.method.clone(),
                model,
                constraints: self.constraint.iter().map(ToString::to_string).collect(),
                init: self.init,
                seed: self.seed,
                fpr: self.fpr,
                length,
                set: self.set.clone(),
            }),
            None => Begin::New(self.new_run(model, length)?),
        };
        let Self { out, every, save_every, seconds, json, require, device, threads, precision, average, .. } = self;
        let (data, decision) = (self.reading.check(), self.decision.check()?);
        let for_two = for_two(&data.options, &decision, self.fpr.is_some() || self.want.is_some());
        let want = self.want;
        let rows = RowsPlan { file: self.data, test: self.test, split: self.split, data, want, for_two };
        let manner = Manner { place, out, every, save_every, seconds, json, require, want };
        Ok(Plan { rows, begin, decision, manner, many, device, threads, precision, stream, average })
    }

    fn check_lengths(&self) -> Result<()> {
        for (name, value) in [("every", self.every), ("save-every", self.save_every), ("steps", self.steps)] {
            if value == Some(0) {
                return Err(CliError::input(format!("--{name} 0: expected at least 1")));
            }
        }
        if self.seconds.is_some_and(|seconds| seconds.is_nan() || seconds <= 0.0) {
            return Err(CliError::input("--seconds: expected more than 0"));
        }
        if self.passes.is_some_and(|passes| !(passes > 0.0 && passes < 1e12)) {
            return Err(CliError::input("--passes: expected more than 0 and less than 1e12"));
        }
        if self.save_every.is_some() && self.save.is_none() && self.resume.is_none() {
            return Err(CliError::input("--save-every: nothing is saved without --save"));
        }
        Ok(())
    }

    /// Refuses what many runs do not have.
    fn check_many(&self, many: &ManyPlan) -> Result<()> {
        let option = if self.many.seeds.is_some() { "--seeds" } else { "--grid" };
        for (name, given, why) in [
            ("resume", self.resume.is_some(), "a saved run is one"),
            ("save-every", self.save_every.is_some(), "the best run is saved at the end"),
            ("seconds", self.seconds.is_some(), "runs of the same length are compared; --steps and --passes say it"),
            ("require", self.require, "runs under constraints are made one at a time"),
            ("constraint", !self.constraint.is_empty(), "runs under constraints are made one at a time"),
            ("group", !self.reading.group.is_empty(), "runs of groups are made one at a time"),
            (
                "every",
                self.every.is_some() && !many.looks(),
                "runs are measured at their end, and on the way for --plot of seeds",
            ),
        ] {
            if given {
                return Err(CliError::input(format!("--{name}: cannot be used with {option}: {why}")));
            }
        }
        let inputs = [Some(&self.data), self.test.as_ref()].into_iter().flatten().map(|path| &**path);
        many.check_with(option, self.seed.unwrap_or(1), &self.set)?;
        many.check_files([&self.save, &self.out], &inputs.collect::<Vec<_>>())
    }

    /// Refuses what the mean of networks does not have.
    fn check_average(&self) -> Result<()> {
        let Some(count) = self.average else { return Ok(()) };
        for (name, given, why) in [
            ("stream", self.stream, "rows that pass are trained on once"),
            ("resume", self.resume.is_some(), "a saved run is one; --out writes the mean"),
            ("save", self.save.is_some(), "a saved run is one; --out writes the mean"),
            ("start", self.start.is_some(), "networks begin at start values of their own"),
            ("seeds", self.many.seeds.is_some(), "runs are compared there"),
            ("grid", self.many.grid.is_some(), "runs are compared there"),
            ("seconds", self.seconds.is_some(), "networks are trained alike; --steps and --passes say how long"),
            ("constraint", !self.constraint.is_empty(), "the mean of models that keep a bound may pass it"),
            ("preset", preset(&self.preset).is_some(), "the mean of models that keep a bound may pass it"),
            ("group", !self.reading.group.is_empty(), "the mean of models that keep a bound may pass it"),
            ("device", self.device != Choice::Cpu, "goes on the CPU"),
        ] {
            if given {
                return Err(CliError::input(format!("--{name}: cannot be used with --average: {why}")));
            }
        }
        if self.model.as_deref().is_none_or(|model| model == "linear") {
            return Err(CliError::input(format!(
                "--average {count}: is of networks (--model mlp:32); the mean of linear models is one linear model"
            )));
        }
        Ok(())
    }

    /// Refuses what needs all rows at once, or is not done with parts of them.
    fn check_stream(&self) -> Result<()> {
        let (data, decision) = (self.reading.clone().check(), self.decision.clone().check()?);
        let options = &data.options;
        let [whole, later] = ["needs all rows in memory", "`undercurve decide` does it on other rows, with the model"];
        let valid = "no rows are held out; --test FILE measures others";
        for (name, given, why) in [
            ("split", self.split.is_some(), valid),
            ("split-by, --split-group", options.split_by.is_some(), valid),
            ("valid", decision.valid.is_some(), valid),
            ("resume", self.resume.is_some(), "such a run is not saved; --out writes its model"),
            ("save", self.save.is_some(), "such a run is not saved; --out writes its model"),
            ("start", self.start.is_some(), "such a run begins at start values"),
            ("seeds", self.many.seeds.is_some(), "runs are made one at a time"),
            ("grid", self.many.grid.is_some(), "runs are made one at a time"),
            ("constraint", !self.constraint.is_empty(), "groups are not counted in parts"),
            ("group", !options.group.is_empty(), "groups are not counted in parts"),
            ("require", self.require, "nothing is asked of such a run"),
            ("objective", self.objective.is_some(), "is of methods with constraints"),
            ("weight", options.weight.is_some(), "rows of a weight are not counted in parts"),
            ("class-weight", data.class_weight.is_some(), "--method ce-balanced weighs classes"),
            (
                "target",
                self.target.is_some_and(|of| of != Target::Binary),
                "is for two classes; --positive names one of several",
            ),
            ("threshold", decision.threshold.is_some(), later),
            ("calibrate", decision.calibrate.is_some(), later),
            ("cost-fp, --cost-fn", decision.costs.is_some(), later),
            ("device", self.device != Choice::Cpu, "goes on the CPU"),
            ("format libsvm", data.layout.format == Format::Libsvm, whole),
        ] {
            if given {
                return Err(CliError::input(format!("--{name}: cannot be used with --stream: {why}")));
            }
        }
        Ok(())
    }

    /// The plan of a new run.
    fn new_run(&self, model: Option<ModelSpec>, length: Option<Length>) -> Result<New> {
        let preset = preset(&self.preset);
        let unnamed = self.method.is_none() && preset.is_none();
        let method = self.named_method(preset)?;
        if let (Some(wants), true) = (preset.and_then(|preset| preset.wants), self.constraint.is_empty()) {
            let text = format!("--preset {}: needs what it is for, as in --constraint \"{wants}\"", self.preset);
            return Err(CliError::input(text));
        }
        if self.split.is_some_and(|share| !(share > 0.0 && share < 1.0)) {
            return Err(CliError::input("--split: expected a share above 0 and below 1"));
        }
        if self.reading.splits_by() && self.split.is_none() && self.decision.valid_share().is_none() {
            return Err(CliError::input(
                "--split-by, --split-group: nothing is split without --split or --valid SHARE",
            ));
        }
        let objective = self.objective.as_deref().map(|text| trainer::objective(method, text)).transpose();
        let objective = objective.map_err(|error| CliError::input(format!("--{error}")))?.unwrap_or_default();
        let mut settings = [objective, self.set.clone()].concat();
        if unnamed && self.target == Some(Target::Values) && settings.iter().all(|(name, _)| name != "loss") {
            settings.push(("loss".to_string(), "least-squares".to_string()));
        }
        method::check_once(&settings)?;
        let paper = self.preset == "paper";
        let of_preset = if paper { method.paper } else { preset.map_or(&[][..], |preset| preset.settings) };
        let asked =
            preset.filter(|_| self.constraint.is_empty()).map_or(Constraints::NONE, |preset| preset.constraints);
        let asked = asked.as_slice().iter().map(|constraint| Expression::of(constraint, &[]));
        let names_model = model.is_some();
        let at_the_top = matches!(self.want, Some(Want::Fpr(_) | Want::Alerts(_))) && unnamed;
        let top = at_the_top || self.method.as_deref().is_some_and(|name| method::plain(name) == TOP);
        if top && !settings.is_empty() {
            return Err(CliError::input("--set: cannot be used with --method top: folds choose the method"));
        }
        if let (Some(Want::Metric(metric)), true, "ce-exact") = (self.want, unnamed, method.name) {
            settings.push(("choose".to_string(), metric.to_string()));
        }
        let config = Config {
            // (Those of papers begin at random.)
            init: self.init.unwrap_or(if paper { Init::Random } else { Init::Auto }),
            method: if top { TOP } else { method.name }.to_string(),
            settings: below(of_preset, &settings),
            model: model.unwrap_or(ModelSpec::Linear),
            seed: self.seed.unwrap_or(1),
            length: length.unwrap_or(Length::Method),
            fpr: self.fpr.unwrap_or(Config::default().fpr),
            constraints: self.constraint.iter().cloned().chain(asked).map(|asked| asked.to_string()).collect(),
            class_weights: Vec::new(),
        };
        let tries_init = self.init.is_none_or(|asked| asked == Init::Auto) && !paper;
        Ok(New { start: self.start.clone(), target: self.target, method, config, names_model, tries_init })
    }

    /// The method that is named, or that of the preset, or the usual one of what labels are.
    fn named_method(&self, preset: Option<&Preset>) -> Result<&'static Method> {
        // (Folds choose; this is for what is known before.)
        let named = self.method.as_deref().map(|name| if method::plain(name) == TOP { "pauc-threshold" } else { name });
        let name = match (named, preset) {
            (Some(name), Some(preset)) if method::find(name)?.name != preset.method => {
                return Err(CliError::input(format!("--preset {}: is of the method {}", preset.name, preset.method)));
            }
            (name, preset) => name.or(preset.map(|preset| preset.method)),
        };
        if name.is_none() && self.preset != "defaults" {
            return Err(CliError::input(format!("--preset {}: needs --method NAME", self.preset)));
        }
        // (In batches: networks, the model of --start, which may be one, many runs, and runs on a GPU.)
        let many = self.many.seeds.is_some() || self.many.grid.is_some();
        let linear = self.model.as_deref().is_none_or(|model| model == "linear") && self.start.is_none();
        method::find(name.unwrap_or(match self.target {
            Some(Target::Values) => "ai-sarah",
            Some(Target::Classes) => "ce",
            _ if self.stream || !linear || self.device != Choice::Cpu || many => "ce",
            _ => "ce-exact",
        }))
    }
}

/// Some settings and those that are set, which come before.
fn below(settings: &[(&str, &str)], set: &[(String, String)]) -> Vec<(String, String)> {
    let kept = settings.iter().filter(|(name, _)| set.iter().all(|(other, _)| other != name));
    kept.map(|&(name, value)| (name.into(), value.into())).chain(set.iter().cloned()).collect()
}

/// The first option that is for two classes alone.
fn for_two(options: &Options, decision: &DecisionPlan, fpr: bool) -> Option<(String, bool)> {
    let of_decision = decision.of_two_classes();
    if decision.costs.is_some() {
        Some(("--cost-fp, --cost-fn: are of the errors of two classes".to_string(), true))
    } else if let Some(option) = of_decision {
        Some((format!("{option}: is for two classes"), true))
    } else if fpr {
        Some(("--fpr: the partial AUC is one of two classes".to_string(), true))
    } else if !options.group.is_empty() {
        Some(("--group: is for two classes".to_string(), true))
    } else if options.positive.is_some() {
        Some(("--positive: names the positive one of two classes, which --target binary trains".to_string(), false))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn ranges_are_read() {
        assert_eq!(range("0.02:0.2"), Ok((0.02, 0.2)));
        assert!(["0.2", "0.2:0.1", "a:1", "0:1.5"].iter().all(|text| range(text).is_err()));
    }
}
