//! `undercurve metrics`: exact metrics of scores that are already there.

use crate::args::layout::{HEADERS, Header, Layout};
use crate::args::{decide, words};
use crate::error::{CliError, Result};
use crate::input::labelled::{self, Columns};
use crate::input::scores::{self, Scores};
use crate::tell::by_group::Grouping;
use crate::tell::conventions;
use crate::tell::curves;
use crate::tell::measure::{self, Asked, Scored};
use crate::tell::merged;
use crate::tell::metric;
use crate::tell::two_scores::TwoScores;
use crate::{input, output};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use undercurve::data::{
    DataError, DataErrorKind, Dataset, Format, Options, Preparation, Queries, RawTable, Rows, Target, Targets,
    label_values,
};
use undercurve::decision::ThresholdRule;
use undercurve::measure::Metric;
use undercurve::metric::{Bounded, State, Truth, class_summary};
use undercurve::trainer::Config;

/// Options of `metrics`.
#[derive(clap::Args, Debug)]
#[command(after_help = format!("\
{}

Examples:
  undercurve metrics scores.csv
  undercurve metrics scores.csv --score old,new --cluster patient
  undercurve metrics scores.csv --metric auroc,mcclish:0.1,precision-at-recall:0.5 --json
  undercurve metrics monday.csv --state monday.state; undercurve metrics monday.state tuesday.state
  undercurve metrics year/*.csv --memory 500M --passes 2
  undercurve metrics scores.csv --metric precision-at:100,recall-at:2%,precision,f1 --threshold \"fpr<=0.01\"

With more than two labels and a column score:CLASS for each: the Hand-Till AUC, the accuracy of the highest score, and AUROC
and AP of each class against all others. `eval --scores` writes such files.", metric::help()))]
pub struct Args {
    /// CSV with a label and a score column, plain or gzip; - is stdin. Several, or states that --state wrote, are measured as one
    /// file of all their rows
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Metrics, with commas between them [default: auroc,ap,pauc over 0:0.05; with --threshold accuracy,fpr,tpr,precision]
    #[arg(long, value_name = "METRICS", value_delimiter = ',', value_parser = metric::parse)]
    metric: Vec<Metric>,
    /// The label column, by name or by number from 1 (-1 is the last)
    #[arg(long, value_name = "COL", default_value = "label", allow_hyphen_values = true)]
    label: String,
    /// The score column, likewise; a higher score means rather positive. Two with a comma between them are compared on the same rows: their
    /// metrics, the difference with its 95 % interval, and a p-value
    #[arg(long, value_name = "COL", default_value = "score", allow_hyphen_values = true)]
    score: String,
    /// Label value that counts as positive [default: the larger of two numbers; of two words yes, true or positive, else the
    /// rarer]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    positive: Option<String>,
    /// A threshold chosen on these rows, for fpr, tpr, precision, accuracy, f1 and mcc: fpr<=A, precision>=P, recall>=R,
    /// alerts<=K, alerts<=S%, youden, f1, mcc, costs:FP:FN[:SHARE], or a score
    #[arg(long, value_name = "RULE", value_parser = decide::rule, allow_negative_numbers = true)]
    threshold: Option<ThresholdRule>,
    /// The column whose values are clusters (patients, sites) of which only whole ones are independent: intervals, and what --threshold
    /// promises with a confidence, then are for those
    #[arg(long, value_name = "COL")]
    cluster: Option<String>,
    /// Take scores for probabilities, and tell what they say and what comes true, by tenths of the rows
    #[arg(long)]
    reliability: bool,
    /// The column whose values are queries, each ranked by itself: adds their means of
    /// average precision, NDCG and reciprocal rank
    #[arg(long, value_name = "COL")]
    query: Option<String>,
    /// Write the ROC and precision-recall curves, gain and lift, and how reliable probabilities are, to FILE: .csv or .json, or .svg
    /// as a picture
    #[arg(long, value_name = "FILE")]
    curves: Option<PathBuf>,
    /// The columns whose values, together, make groups, with commas between them: adds their gaps and a table
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    group: Vec<String>,
    /// Column that says what each row counts
    #[arg(long, value_name = "COL", conflicts_with = "group")]
    weight: Option<String>,
    /// Count the rows of each score, and write that to FILE instead of metrics: states merge, and any split of the rows has the
    /// metrics of all together. Labels are 0 and 1, or --positive and others; one class will do
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Read files of any length in about so many bytes of memory, as 500M or 2G: AUROC, AP and partial AUC as two numbers that they lie
    /// between, or exactly while the different scores fit. Labels are 0 and 1, or --positive and others
    #[arg(long, value_name = "SIZE", value_parser = size,
        conflicts_with_all = ["state", "threshold", "cluster", "reliability", "query", "curves", "group", "weight"])]
    memory: Option<usize>,
    /// Read the files so often, 1 or 2: the second time narrows the bounds
    #[arg(long, value_name = "TIMES", requires = "memory", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    passes: u8,
    /// Whether the first line names the columns: yes, no, or auto, which looks for the name of the label column, and for
    /// numbers below names
    #[arg(long, value_name = "WHETHER", default_value = "auto", hide_possible_values = true, value_parser = words(HEADERS))]
    header: Header,
    /// The number that somebody else reports of these scores, with its digits, as 0.8312: which programs give it
    #[arg(long, value_name = "NUMBER", value_parser = conventions::reported, allow_negative_numbers = true,
        conflicts_with_all = ["metric", "state", "memory", "threshold", "cluster", "reliability", "query", "curves", "group"])]
    reported: Option<conventions::Asked>,
    /// These scores as another program measures them, or as all do
    #[arg(long, value_name = "PROGRAM", value_parser = conventions::program,
        conflicts_with_all = ["reported", "metric", "state", "memory", "threshold", "cluster", "reliability", "query", "curves", "group"])]
    like: Option<conventions::Asked>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Which scores are measured, and what is asked of them.
struct Plan {
    file: PathBuf,
    /// With the first.
    files: Vec<PathBuf>,
    state: Option<PathBuf>,
    memory: Option<usize>,
    passes: u8,
    layout: Layout,
    columns: Columns,
    asked: Asked,
}

impl Args {
    fn check(self) -> Result<Plan> {
        let Self { files, label, score, positive, header, state, memory, passes, .. } = self;
        let inputs: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        self.curves.as_ref().map_or(Ok(()), |path| curves::check(path, &inputs))?;
        state.as_ref().map_or(Ok(()), |path| output::check_output(path, &inputs))?;
        let asked = Asked {
            metrics: self.metric,
            threshold: self.threshold,
            reliability: self.reliability,
            query: self.query,
            group: self.group,
            weight: self.weight,
            cluster: self.cluster,
            curves: self.curves,
            elsewhere: self.reported.or(self.like),
            json: self.json,
        };
        Ok(Plan {
            file: files.first().cloned().unwrap_or_default(),
            files,
            state,
            memory,
            passes,
            layout: Layout { format: Format::Csv, header, ..Layout::default() },
            columns: Columns { label, score, positive },
            asked,
        })
    }
}

/// Reads scores and measures.
pub fn run(args: Args) -> Result<()> {
    let plan = args.check()?;
    let asked = &plan.asked;
    if let Some(bytes) = plan.memory {
        return plan.bounded(bytes);
    }
    if plan.state.is_some() || plan.files.len() > 1 || state_in(&plan.file)?.is_some() {
        return plan.merged();
    }
    let columns = !asked.group.is_empty() || asked.weight.is_some() || asked.query.is_some() || asked.cluster.is_some();
    if plan.file != Path::new("-")
        && !columns
        && let Some(Scores { scores, labels, first_lines }) = plan.columns.plain(&plan.file, plan.layout)
    {
        input::say(&input::reading_notes(&first_lines, None, &plan.file));
        return plan.tell(&scores, labels.as_slice().into(), None, None);
    }
    let table = input::table(&plan.file, plan.layout, Some(&plan.columns.label))?;
    if let Some(two) = plan.two_scores(&table) {
        return plan.compare(&table, two);
    }
    let label = plan.columns.column(&table, &plan.columns.label)?;
    let values = label_values(&table, &Options { label: Some(label.clone()), ..Options::default() })?;
    let of_class = |class: &String| format!("{}:{class}", plan.columns.score);
    let columns = table.columns();
    if plan.columns.positive.is_none()
        && values.len() > 2
        && values.iter().any(|class| columns.contains(&of_class(class)))
    {
        return plan.several(&table, label, &values.iter().map(of_class).collect::<Vec<_>>());
    }
    plan.two(&table, values.len())
}

impl Plan {
    /// Counts all files into one state, and writes or measures it.
    fn merged(mut self) -> Result<()> {
        if let Some(option) = self.asked.of_two_classes() {
            return Err(CliError::input(format!("{option}: is not of files that are merged")));
        }
        merged::check(&self.asked.metrics)?;
        let mut all = State::new();
        for file in std::mem::take(&mut self.files) {
            self.file = file;
            let part = match state_in(&self.file)? {
                Some(state) => state,
                None => self.counted()?,
            };
            all.merge(&part).map_err(|error| CliError::input(format!("{}: {error}", self.file.display())))?;
        }
        match &self.state {
            None => merged::tell(&all, &self.asked.metrics, self.asked.json),
            Some(path) => {
                output::write_atomic(path, &all.to_bytes())?;
                merged::written(&all, path, self.asked.json)
            }
        }
    }

    /// Bounds of the metrics of all files, whatever their length.
    fn bounded(&self, bytes: usize) -> Result<()> {
        merged::check_bounds(&self.asked.metrics)?;
        for file in &self.files {
            let twice = *file != Path::new("-") && file.metadata().map_or(true, |about| about.is_file());
            if self.passes == 2 && !twice {
                return Err(CliError::input(format!("--passes 2: {} cannot be read twice", file.display())));
            }
            if state_begins(file)? {
                return Err(CliError::input(format!(
                    "{}: is a state, which is not read with --memory",
                    file.display()
                )));
            }
        }
        // (The rest is for the program, and what memory loses between its pieces.)
        let bytes = (bytes - PROGRAM) / 10 * 9;
        let mut first = Bounded::of_memory(bytes);
        for file in &self.files {
            let first_lines = self.columns.pieces(file, self.layout, |scores, labels| first.update(scores, labels))?;
            input::say(&input::reading_notes(&first_lines, None, file));
        }
        let (metrics, json, rows) = (&*self.asked.metrics, self.asked.json, [first.rows(), first.labels()[0]]);
        if let Some(state) = first.state() {
            return merged::tell(&state, metrics, json);
        }
        if self.passes == 1 {
            return merged::tell_bounds(rows, |range| first.bounds(range), metrics, json);
        }
        let mut second = first.narrow(bytes)?;
        for file in &self.files {
            self.columns.pieces(file, self.layout, |scores, labels| second.update(scores, labels))?;
        }
        merged::tell_bounds(rows, |range| second.bounds(range), metrics, json)
    }

    /// The state of one file.
    fn counted(&self) -> Result<State> {
        if self.file != Path::new("-")
            && self.asked.weight.is_none()
            && let Some((state, first_lines)) = self.columns.plain_counts(&self.file, self.layout)
        {
            input::say(&input::reading_notes(&first_lines, None, &self.file));
            return Ok(state);
        }
        let table = input::table(&self.file, self.layout, Some(&self.columns.label))?;
        let (label, score) = self.columns.two(&table)?;
        let positive = self.columns.positive.as_deref().map(str::parse::<f64>).transpose();
        // Words are known from a file that has both.
        let target = if positive.is_ok() { Target::Values } else { Target::Binary };
        let wrong = || {
            CliError::input(format!(
                "{}: a label other than 0 and 1 (--positive says which counts as positive in every file)",
                table.name()
            ))
        };
        let of_label = table.columns().iter().position(|name| *name == label);
        if positive == Ok(None) && of_label.is_some_and(|at| table.first_text(at).is_some()) {
            return Err(wrong());
        }
        let (_, data) = self.prepared(&table, label, &[score], target)?;
        let (Rows::Dense { data: scores, .. }, positive) = (data.rows(), positive.ok().flatten()) else {
            return Err(CliError::input(format!("{}: a score is not a number", table.name())));
        };
        let labels: Option<Vec<u8>> = match data.targets() {
            Targets::Values(values) => values.iter().map(|&value| scores::class(value, positive)).collect(),
            _ => Some(data.labels().to_vec()),
        };
        let labels = labels.ok_or_else(wrong)?;
        self.notes(&table, data.weights())?;
        let mut state = State::new();
        state.update(scores, &labels, data.weights())?;
        Ok(state)
    }

    /// The columns of scores, with groups and weights.
    fn prepared(
        &self,
        table: &RawTable,
        label: String,
        scores: &[String],
        target: Target,
    ) -> Result<(Preparation, Dataset<f64>)> {
        let (preparation, data) = self.columns.prepared(table, label, scores, target)?;
        let data = input::group(&preparation, table, data, &self.asked.group)?;
        let data = input::weigh(&preparation, table, data, self.asked.weight.as_ref())?;
        Ok((preparation, data))
    }

    /// Says how the table was read, and what its weights come to.
    fn notes(&self, table: &RawTable, weights: &[f64]) -> Result<()> {
        input::say(&input::reading_notes(table, None, &self.file));
        let told = input::weights_told(weights, self.asked.weight.as_deref().unwrap_or_default());
        told.filter(|_| !self.asked.json).map_or(Ok(()), output::line)
    }

    /// The names in --score, where it has two.
    fn two_scores(&self, table: &RawTable) -> Option<[&str; 2]> {
        let score = &self.columns.score;
        let (a, b) = score.split_once(',').filter(|_| input::named(&table.columns(), score).is_none())?;
        Some([a.trim(), b.trim()])
    }

    /// Compares two scores of the same rows.
    fn compare(&self, table: &RawTable, two: [&str; 2]) -> Result<()> {
        if let Some(option) = self.asked.of_one_score() {
            return Err(CliError::input(format!("{option}: is of one score, and --score names two")));
        }
        let label = self.columns.column(table, &self.columns.label)?;
        let names = two.map(|name| Columns { score: name.to_string(), ..self.columns.clone() }.two(table));
        let [a, b] = names;
        let names = [a?.1, b?.1];
        let (preparation, data) = self.prepared(table, label, &names, Target::Binary)?;
        let (values, columns) = (labelled::scores_of(table, &data)?, preparation.column_names());
        let score = |name: &String| -> Vec<f64> {
            let at = columns.iter().position(|column| column == name).unwrap_or(0);
            values.chunks_exact(columns.len()).map(|row| row[at]).collect()
        };
        let [a, b] = [0, 1].map(|k| score(&names[k]));
        self.notes(table, data.weights())?;
        let clusters = self.clusters(&preparation, table, &data)?;
        let truth = Truth::new(data.labels(), data.weights())?.clustered(&clusters)?;
        let names = [&*names[0], &*names[1]];
        TwoScores { names, scores: [&a, &b], truth, fpr: Config::default().fpr }
            .tell(&self.asked.metrics, self.asked.json)
    }

    /// The cluster of each row; empty where none are named.
    fn clusters(&self, preparation: &Preparation, table: &RawTable, data: &Dataset<f64>) -> Result<Vec<u32>> {
        let column = self.asked.cluster.as_ref();
        column.map_or(Ok(Vec::new()), |column| labelled::clusters(preparation, table, data.clone(), column))
    }

    /// The metrics of two classes.
    fn two(&self, table: &RawTable, values: usize) -> Result<()> {
        let (label, score) = self.columns.two(table)?;
        // Graded labels are numbers, and all above 0 are positive.
        let graded = self.asked.query.is_some() && self.columns.positive.is_none() && values > 2;
        let target = if graded { Target::Values } else { Target::Binary };
        let (preparation, data) = self.prepared(table, label, &[score], target)?;
        let data = match &self.asked.query {
            Some(column) => preparation.queried(table, data, column)?,
            None => data,
        };
        let labels = match data.targets() {
            Targets::Values(values) => values.iter().map(|&value| u8::from(value > 0.0)).collect(),
            _ => data.labels().to_vec(),
        };
        let scores = labelled::scores_of(table, &data)?;
        self.notes(table, data.weights())?;
        let truth = Truth::new(&labels, data.weights())?;
        let clusters = self.clusters(&preparation, table, &data)?;
        let truth = truth.clustered(&clusters)?;
        self.tell(scores, truth, input::grouping(&data, data.groups()), data.queries())
    }

    /// Tells metrics; scores from 0 to 1 are probabilities, too.
    fn tell(
        &self,
        scores: &[f64],
        truth: Truth<'_>,
        groups: Option<Grouping<'_>>,
        queries: Option<&Queries>,
    ) -> Result<()> {
        let file = &*self.file.display().to_string();
        if let Some(elsewhere) = &self.asked.elsewhere {
            return elsewhere.tell(file, scores, truth, self.asked.json);
        }
        let probabilities = scores.iter().all(|score| (0.0..=1.0).contains(score)).then_some(scores);
        let (of_model, fpr, threshold) = (false, Config::default().fpr, None);
        self.asked.tell(Scored {
            name: file,
            file,
            scores,
            truth,
            of_model,
            fpr,
            threshold,
            probabilities,
            queries,
            groups,
        })
    }

    /// The metrics of several classes, with the names of their score columns.
    fn several(&self, table: &RawTable, label: String, scores: &[String]) -> Result<()> {
        let metric = self.asked.metrics.first().map(|metric| format!("--metric {metric}"));
        if let Some(option) = self.asked.of_two_classes().map(str::to_string).or(metric) {
            return Err(CliError::input(format!("{option}: is for two classes; --positive names one of several")));
        }
        let columns = table.columns();
        if let Some(name) = scores.iter().find(|name| !columns.contains(name)) {
            let kind = DataErrorKind::MissingColumn { name: name.clone(), columns };
            return Err(DataError { file: table.name().to_string(), line: 1, column: 0, kind }.into());
        }
        let prefix = format!("{}:", self.columns.score);
        if let Some(more) = columns.iter().find(|name| name.starts_with(&prefix) && !scores.contains(name)) {
            return Err(CliError::input(format!("{}: column \"{more}\", but no row of that class", table.name())));
        }
        let (preparation, data) = self.prepared(table, label, scores, Target::Classes)?;
        let (names, classes) = (preparation.column_names(), preparation.classes());
        let at: Option<Vec<usize>> = scores.iter().map(|score| names.iter().position(|name| name == score)).collect();
        let (Some(at), Rows::Dense { data: values, cols, .. }) = (at, data.rows()) else {
            return Err(CliError::input(format!("{}: a score is not a number", table.name())));
        };
        self.notes(table, data.weights())?;
        let ordered: Vec<f64> = values.chunks_exact(cols).flat_map(|row| at.iter().map(|&at| row[at])).collect();
        let summary = class_summary(&ordered, classes.len(), data.class_labels(), data.weights())?;
        measure::print_classes(summary, classes, self.asked.json)
    }
}

/// Bytes that are not for counts.
const PROGRAM: usize = 36_000_000;

/// Bytes, as 500M.
fn size(text: &str) -> std::result::Result<usize, String> {
    let (number, unit) = match text.to_ascii_uppercase().trim_end_matches('B') {
        text if text.ends_with('K') => (text.trim_end_matches('K').to_string(), 1e3),
        text if text.ends_with('M') => (text.trim_end_matches('M').to_string(), 1e6),
        text if text.ends_with('G') => (text.trim_end_matches('G').to_string(), 1e9),
        text => (text.to_string(), 1.0),
    };
    match number.trim().parse::<f64>().map(|number| number * unit) {
        Ok(bytes) if (1e8..=1e15).contains(&bytes) => Ok(bytes as usize),
        _ => Err("bytes from 100M on, as 500M or 2G".to_string()),
    }
}

/// Whether a file begins as a state does.
fn state_begins(path: &Path) -> Result<bool> {
    if !path.metadata().is_ok_and(|about| about.is_file()) {
        return Ok(false);
    }
    let in_file = |error| CliError::file(path, &error);
    let mut bytes = Vec::new();
    File::open(path).map_err(in_file)?.take(16).read_to_end(&mut bytes).map_err(in_file)?;
    Ok(State::is_state(&bytes))
}

/// The state in a file that begins as one.
fn state_in(path: &Path) -> Result<Option<State>> {
    if !state_begins(path)? {
        return Ok(None);
    }
    let bytes = std::fs::read(path).map_err(|error| CliError::file(path, &error))?;
    let state = State::from_bytes(&bytes);
    state.map(Some).map_err(|error| CliError::input(format!("{}: {error}", path.display())))
}
