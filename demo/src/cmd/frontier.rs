//! `undercurve frontier`: what bounds on the gaps between groups cost in AUC.

use crate::args::decide::DecisionPlan;
use crate::args::method;
use crate::args::train::{self, Begin, New, RowsPlan};
use crate::error::{CliError, Result};
use crate::input::{self, Layout};
use crate::output;
use crate::run::rows::begin;
use crate::run::training::Training;
use crate::tell::certificate::{self, Candidate, Certified};
use crate::tell::figure::{Axes, Line, draw_on};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args as _};
use serde_json::json;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use undercurve::Real;
use undercurve::data::{Dataset, Preparation};
use undercurve::expression::Expression;
use undercurve::metric::{Gap, Metrics, Rate};
use undercurve::trainer::Trainer;

/// Options of `frontier`.
#[derive(clap::Args, Debug)]
#[group(skip)] // the name of the options that it takes over
#[command(after_help = "\
Trains the method for every bound on gap(fpr) and gap(tpr), the rival for the same bounds, and once without; AUC and the exact gaps
of the training and the test rows. \"recalibrated\" is the model without bounds, its scores replaced by their place among the
negatives of their group: it has to know the group at decision time.

--certify says of each bound which of the models keeps it with 95 % confidence on rows like those of FILE, which nothing else may have
chosen: gap <= 0.1 at 95 %, with its AUROC; or about how many more rows would tell. The models are tested from the one with the
smallest gaps on the training rows on, until one fails.

Examples:
  undercurve frontier people.csv --split 0.7 --group sex --method sonex --bounds 0.02,0.05,0.1 --svg frontier.svg
  undercurve frontier people.csv --group sex --bounds 0.05,0.1,0.15 --certify others.csv")]
pub struct Args {
    #[command(flatten)]
    train: Fitting,
    /// Method; `undercurve methods` lists those of groups
    #[arg(long, value_name = "NAME", default_value = "sonex")]
    method: String,
    /// Settings to begin with, which --set changes: defaults, or paper for those of the method's paper
    #[arg(long, value_name = "NAME", default_value = "defaults", value_parser = ["defaults", "paper"])]
    #[arg(hide_possible_values = true)]
    preset: String,
    /// Bounds on both gaps, with commas between them
    #[arg(long, value_name = "BOUNDS", value_delimiter = ',', default_values_t = [0.02, 0.05, 0.1, 0.2])]
    bounds: Vec<f64>,
    /// A second method under the same bounds
    #[arg(long, value_name = "NAME", default_value = "lagrange")]
    rival: String,
    /// Labelled rows with the columns of DATA, to certify bounds on
    #[arg(long, value_name = "FILE")]
    certify: Option<PathBuf>,
    /// Draw AUC against the larger gap, a line for each method and part
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// The options of `train` that say which rows, which model and how long. It has others that are none here.
#[rustfmt::skip]
const FITTING: [&str; 22] = [
    "data", "test", "split", "set", "model", "passes", "steps", "seed", "json", "format", "header", "label", "positive", "missing",
    "scale", "categorical", "ignore", "group", "group_hidden", "split_by", "split_group", "na",
];

/// Those, with the words they have there.
#[derive(Debug)]
struct Fitting(train::Args);

impl Fitting {
    /// Their definitions.
    fn all() -> Vec<Arg> {
        let train = train::Args::augment_args(clap::Command::new("train"));
        train.get_arguments().filter(|arg| FITTING.contains(&arg.get_id().as_str())).cloned().collect()
    }
}

impl clap::Args for Fitting {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.args(Self::all())
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for Fitting {
    /// What `train` reads of them.
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (mut words, mut data) = (vec![OsString::from("train")], vec![OsString::from("--")]);
        for arg in Self::all() {
            let id = arg.get_id().as_str();
            let given = matches.value_source(id) == Some(ValueSource::CommandLine);
            let values = matches.get_raw(id).into_iter().flatten().filter(|_| given);
            match arg.get_long() {
                None => data.extend(values.map(OsString::from)),
                Some(long) if !arg.get_action().takes_values() => {
                    words.extend(given.then(|| format!("--{long}").into()))
                }
                Some(long) => words.extend(values.map(|value| {
                    let mut word = OsString::from(format!("--{long}="));
                    word.push(value);
                    word
                })),
            }
        }
        let command = train::Args::augment_args(clap::Command::new("train"));
        let train = command.try_get_matches_from(words.into_iter().chain(data))?;
        Ok(Self(train::Args::from_arg_matches(&train)?))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// AUC and gaps of false- and true-positive rates.
type Figures = [f64; 3];

/// Those of scores, over all thresholds; a gap is 0 where no two groups have rows.
pub fn figures<T: Real>(scores: &[T], data: &Dataset<T>) -> Result<Figures> {
    let mut memory = Metrics::new();
    let mut gap = |rate: Rate| {
        let gaps = memory.gaps(scores, data.labels(), data.group_of(), data.groups(), rate, None)?;
        Ok::<f64, undercurve::Error>(Gap::worst(&gaps).map_or(0.0, |gap| gap.value))
    };
    let gaps = [gap(Rate::Fpr)?, gap(Rate::Tpr)?];
    Ok([memory.auroc(scores, data.labels())?, gaps[0], gaps[1]])
}

/// The place of every score among the negatives of its group in training; beyond them it goes on rising.
fn recalibrate(scores: &[f32], groups: &[u32], known: &[Vec<f32>]) -> Vec<f32> {
    let place = |(&score, &group): (&f32, &u32)| {
        let Some(negatives) = known.get(group as usize).filter(|negatives| !negatives.is_empty()) else { return score };
        let n = negatives.len() as f32;
        let beyond = |by: f32| by / (1.0 + by) / n;
        match negatives.partition_point(|&other| other <= score) {
            0 => -beyond(negatives[0] - score),
            at if at == negatives.len() => 1.0 + beyond(score - negatives[at - 1]),
            at => {
                let (low, high) = (negatives[at - 1], negatives[at]);
                (at as f32 + (score - low) / (high - low)) / n
            }
        }
    };
    scores.iter().zip(groups).map(place).collect()
}

/// A trained model's scores of both parts.
struct Trained {
    trainer: Trainer<f32>,
    preparation: Preparation,
    scores: Vec<Vec<f32>>,
}

impl Trained {
    fn new(fit: &Fit) -> Result<Self> {
        let Training { mut trainer, preparation, .. } = begin::<f32>(&fit.rows, &fit.decision, &fit.new)?;
        while trainer.step()?.is_some() {}
        let parts = [Some(trainer.train_data().clone()), trainer.test_data().cloned()];
        let mut scores = Vec::new();
        for data in parts.into_iter().flatten() {
            let mut part = vec![0.0; data.len()];
            trainer.score(data.rows(), &mut part)?;
            scores.push(part);
        }
        Ok(Self { trainer, preparation, scores })
    }

    fn parts(&self) -> impl Iterator<Item = (&Dataset<f32>, &Vec<f32>)> {
        let parts = [Some(self.trainer.train_data()), self.trainer.test_data()];
        parts.into_iter().flatten().map(|data| &**data).zip(&self.scores)
    }

    fn figures(&self) -> Result<Vec<Figures>> {
        self.parts().map(|(data, scores)| figures(scores, data)).collect()
    }

    /// The model on the rows of a certificate.
    fn candidate(
        &mut self,
        name: &str,
        bound: Option<f64>,
        train: &Figures,
        file: &Path,
        layout: Layout,
    ) -> Result<Candidate> {
        let table = input::table_again(file, layout, &self.preparation)?;
        let data = self.preparation.apply::<f32>(&table)?;
        let shown = file.display().to_string();
        data.require_every_class(&shown)?;
        let mut scores = vec![0.0; data.len()];
        self.trainer.score(data.rows(), &mut scores)?;
        let one = Candidate::new(name, bound, train[1].max(train[2]), &scores, &data)?;
        one.ok_or_else(|| CliError::input(format!("--certify {shown}: has no rows of both labels in two groups")))
    }

    fn recalibrated(&self) -> Result<Vec<Figures>> {
        let (train, scores) = (self.trainer.train_data(), &self.scores[0]);
        let mut known = vec![Vec::new(); train.groups()];
        for ((&score, &label), &group) in scores.iter().zip(train.labels()).zip(train.group_of()) {
            if label == 0 {
                known[group as usize].push(score);
            }
        }
        known.iter_mut().for_each(|negatives| negatives.sort_by(f32::total_cmp));
        let of =
            |(data, scores): (&Dataset<f32>, &Vec<f32>)| figures(&recalibrate(scores, data.group_of(), &known), data);
        self.parts().map(of).collect()
    }
}

/// A training of one method, for one bound or without.
struct Fit {
    rows: RowsPlan,
    decision: DecisionPlan,
    new: New,
}

impl Fit {
    fn new(args: train::Args) -> Result<Self> {
        let train::Plan { rows, decision, begin, .. } = args.check()?;
        match begin {
            Begin::New(new) => Ok(Self { rows, decision, new }),
            Begin::Resume(run) => Err(CliError::input(format!("{}: frontier trains new runs", run.file.display()))),
        }
    }
}

/// Every training.
struct Plan {
    /// Of each method those for the bounds.
    methods: Vec<(String, Vec<(f64, Fit)>)>,
    /// Without a bound.
    free: Fit,
    bounds: Vec<f64>,
    certify: Option<(PathBuf, Layout)>,
    svg: Option<PathBuf>,
    json: bool,
}

impl Args {
    fn check(self) -> Result<Plan> {
        let Self { train: Fitting(mut train), method, preset, bounds, rival, certify, svg } = self;
        train.preset = preset;
        if train.reading.group.is_empty() {
            return Err(CliError::input("frontier: bounds the gaps between groups; --group names their columns"));
        }
        if let Some(path) = &svg {
            output::check_output(path, &[&train.data])?;
        }
        for name in [&method, &rival] {
            let of = method::find(name)?;
            if let Some((set, _)) = train.set.iter().find(|(set, _)| of.params.iter().all(|param| param.name != set)) {
                return Err(CliError::input(format!(
                    "--set {set}: method {name} has no such parameter, and both are to have it"
                )));
            }
        }
        let under = |name: &str, bound: f64| {
            let gap = |rate: &str| Expression::parse(&format!("gap({rate}) <= {bound}"));
            let constraint = [gap("fpr"), gap("tpr")].into_iter().collect::<std::result::Result<_, _>>();
            let constraint = constraint.map_err(|error| CliError::input(format!("--bounds {bound}: {error}")))?;
            let mut train = train.clone();
            (train.method, train.constraint) = (Some(name.to_string()), constraint);
            Fit::new(train)
        };
        let fits = |name: &String| {
            let all = bounds.iter().map(|&bound| Ok((bound, under(name, bound)?)));
            Ok((name.clone(), all.collect::<Result<Vec<_>>>()?))
        };
        let names = if method == rival { vec![&method] } else { vec![&method, &rival] };
        let methods = names.into_iter().map(fits).collect::<Result<Vec<_>>>()?;
        let json = train.json;
        train.method = Some(method);
        train.set.retain(|(name, _)| name != "penalty");
        train.set.push(("penalty".to_string(), "0".to_string()));
        let free = Fit::new(train)?;
        let certify = certify.map(|file| (file, free.rows.data.layout));
        Ok(Plan { methods, free, bounds, certify, svg, json })
    }
}

/// A line of the figure: its name, its points (the larger gap and AUC), and whether it is the rival's.
type Drawn = (String, Vec<(f64, f64)>, bool);

const PARTS: [&str; 2] = ["train", "test"];

/// Trains for every bound.
pub fn run(args: Args) -> Result<()> {
    let Plan { methods, free, bounds, certify, svg, json } = args.check()?;
    let mut candidates = Vec::new();
    if !json {
        let head = format!("{:>8} {:>8} {:>8}", "AUROC", "gap FPR", "gap TPR");
        output::line(format!("{:<14} {:>6} | {:<26} | test", "", "", "train"))?;
        output::line(format!("{:<14} {:>6} | {head} | {head}", "method", "bound"))?;
    }
    let mut lines: Vec<Drawn> = Vec::new();
    for (at, (name, fits)) in methods.iter().enumerate() {
        let mut points = vec![Vec::new(), Vec::new()];
        for (bound, fit) in fits {
            let mut trained = Trained::new(fit)?;
            let all = trained.figures()?;
            say(json, name, Some(*bound), &all)?;
            if let Some((file, layout)) = &certify {
                candidates.push(trained.candidate(name, Some(*bound), &all[0], file, *layout)?);
            }
            for (points, [auroc, fpr, tpr]) in points.iter_mut().zip(&all) {
                points.push((fpr.max(*tpr), *auroc));
            }
        }
        for (part, mut points) in PARTS.iter().zip(points) {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            lines.push((format!("{name}, {part}"), points, at == 1));
        }
    }
    let mut free = Trained::new(&free)?;
    let figures = free.figures()?;
    if let Some((file, layout)) = &certify {
        candidates.push(free.candidate("no bound", None, &figures[0], file, *layout)?);
    }
    for (name, all) in [("no bound", figures), ("recalibrated", free.recalibrated()?)] {
        say(json, name, None, &all)?;
        for (part, [auroc, fpr, tpr]) in PARTS.iter().zip(&all) {
            lines.push((format!("{name}, {part}"), vec![(fpr.max(*tpr), *auroc)], false));
        }
    }
    if let Some((file, _)) = &certify {
        certificates(&mut candidates, &bounds, file, json)?;
    }
    let Some(file) = &svg else { return Ok(()) };
    let lines = lines.iter().map(|(name, points, rival)| {
        let line = Line::new(name, points);
        if *rival { line.dashed() } else { line }
    });
    let axes = Axes { title: "AUROC under bounds on the gaps", across: "larger exact gap", up: "AUROC", log: false };
    Ok(draw_on(file, &axes, &lines.collect::<Vec<_>>())?)
}

/// Prints of each bound which model keeps it.
fn certificates(all: &mut [Candidate], bounds: &[f64], file: &Path, json: bool) -> Result<()> {
    certificate::order(all);
    if !json {
        output::line(format!(
            "\nBounds on both gaps that hold at 95 % on rows like those of {}, each by itself:",
            file.display()
        ))?;
    }
    for &bound in bounds {
        let found = certificate::certify(all, bound);
        if json {
            let (by, more) = match found {
                Certified::By(one) => (Some(one), None),
                Certified::None { times } => (None, times),
            };
            output::line(json!({
                "certify": bound, "method": by.map(|one| &one.name), "bound": by.and_then(|one| one.bound), "gap": by.map(|one| one.gap),
                "upper": by.map(|one| one.upper), "auroc": by.map(|one| one.auroc),
                "interval": by.and_then(|one| one.interval).map(|ends| [ends.low, ends.high]), "times_the_rows": more,
            }))?;
            continue;
        }
        output::line(match found {
            Certified::By(one) => {
                let under = one.bound.map_or_else(String::new, |bound| format!(" under {bound}"));
                let ends =
                    one.interval.map_or_else(String::new, |ends| format!(" [{:.4}, {:.4}]", ends.low, ends.high));
                format!(
                    "gap <= {bound} at 95 %: {}{under}, gap {:.4} (at most {:.4}), AUROC {:.4}{ends}",
                    one.name, one.gap, one.upper, one.auroc
                )
            }
            Certified::None { times: Some(times) } => {
                format!(
                    "gap <= {bound}: of no model; {:.1} times these rows would tell of the fairest, at its gap of {:.4}",
                    times, all[0].gap
                )
            }
            Certified::None { times: None } => {
                let least = all.first().map_or(1.0, |one| one.gap);
                format!(
                    "gap <= {bound}: of no model; the fairest has a gap of {least:.4} there, and more rows would not help"
                )
            }
        })?;
    }
    Ok(())
}

/// Prints the figures of a model.
fn say(json: bool, name: &str, bound: Option<f64>, all: &[Figures]) -> Result<()> {
    if json {
        let of = |figures: Option<&Figures>| {
            figures.map(|[auroc, fpr, tpr]| json!({"auroc": auroc, "gap(fpr)": fpr, "gap(tpr)": tpr}))
        };
        return output::line(json!({"method": name, "bound": bound, "train": of(all.first()), "test": of(all.get(1))}));
    }
    let bound = bound.map_or("–".to_string(), |bound| bound.to_string());
    let cells: Vec<String> = all.iter().map(|[a, b, c]| format!("{a:>8.4} {b:>8.4} {c:>8.4}")).collect();
    output::line(format!("{name:<14} {bound:>6} | {}", cells.join(" | ")))
}
