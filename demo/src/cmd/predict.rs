//! `undercurve predict`: scores, probabilities and classes of rows without labels, as they come.

use crate::args::layout::{Layout, MISSING};
use crate::args::words;
use crate::error::{CliError, Result, for_model};
use crate::export;
use crate::input;
use crate::output;
use crate::tell::explain::Explainer;
use crate::tell::{scores, table};
use anyhow::anyhow;
use serde_json::Value;
use std::io::ErrorKind;
use std::path::PathBuf;
use undercurve::Real;
use undercurve::data::{Block, Blocks, DataError, DataErrorKind, Missing, Preparation, Target};
use undercurve::trainer::Predictor;

/// Bytes that are read at once.
const PIECE: usize = 1 << 20;

/// Options of `predict`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Writes CSV: the columns of --id as they are, then score; probability, where the method fits one (ce, and finite sums of the
logistic loss); class, by the model's threshold. Of several classes a score (log-odds) and a probability for each, and the
class of the highest score; of numbers the score alone.

With --explain also part:(start), the score of a row of means, and part:NAME for each column; they come to the score, of networks with
part:(rest), what 32 steps leave.

With --json a line of JSON for each row, under the same names. With --out a file, which is there when every row is.

Rows are scored as they come, in memory that does not grow with them. A label column may be there or not. Categories that
did not occur in training count as none, and are counted at the end.

Examples:
  undercurve predict data.model new.csv --id customer --out scores.csv
  undercurve predict data.model new.csv --threshold 0.7 --json
  zcat new.csv.gz | undercurve predict data.model > scores.csv

Exit code: 0, or 2 for bad input (one line says what and where; on stdout rows before it have been written, of --out none).")]
pub struct Args {
    /// A file that `train --out` or `--save` wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Rows with the columns of training, plain, gzip or zstd; - is stdin
    #[arg(value_name = "DATA", default_value = "-")]
    data: PathBuf,
    /// Columns to carry through, with commas between them
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    id: Vec<String>,
    /// Missing values: refuse, or impute what training found [default: as in training]
    #[arg(long, value_name = "WHAT", hide_possible_values = true, value_parser = words(MISSING))]
    missing: Option<Missing>,
    /// Write to FILE instead of stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write a line of JSON for each row
    #[arg(long)]
    json: bool,
    /// The class by this threshold of the score, not by the model's
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true)]
    threshold: Option<f64>,
    /// Tell what each column adds to the score, against a row of training means without categories: exactly of linear models, of
    /// networks in 32 steps from there to the row
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    layout: Layout,
}

pub fn run(args: Args) -> Result<()> {
    let saved = input::saved(&args.model)?;
    match saved.real_bytes {
        4 => run_in(input::model::<f32>(&args.model, &saved)?, args),
        _ => run_in(input::model::<f64>(&args.model, &saved)?, args),
    }
}

fn run_in<T: Real>(mut model: Predictor<T>, args: Args) -> Result<()> {
    let Args { model: path, data, id, missing, out, json, threshold, explain, layout } = args;
    if let Some(missing) = missing {
        model = model.with_missing(missing);
    }
    let Some(preparation) = model.preparation().cloned() else {
        return Err(CliError::input(format!("{}: a model without its preparation", path.display())));
    };
    if let Some(threshold) = threshold
        && (preparation.target() != Target::Binary || threshold.is_nan())
    {
        let what = if threshold.is_nan() { "is no number" } else { "is for models of two classes" };
        return Err(CliError::input(format!("--threshold {threshold}: {what}")));
    }
    let explainer = explain.then(|| Explainer::new(&model, &preparation)).transpose()?;
    out.as_ref().map_or(Ok(()), |out| output::check_output(out, &[&path, &data]))?;
    let file = data.display().to_string();
    let mut options = input::read_options(layout, None);
    let mut blocks = Blocks::new(&preparation, &options, &id, &file);
    let mut work = Work {
        labels: export::names_of_labels(&preparation),
        model,
        preparation,
        ids: &id,
        out: output::Lines::new(out.as_deref())?,
        json,
        threshold,
        explainer,
        begun: false,
        counts: Counts::default(),
    };
    #[cfg(feature = "parquet")]
    if input::parquet::is_parquet(&data) {
        options.na = work.preparation.na().to_vec();
        let of = work.preparation.clone();
        let names = input::parquet::rows(&data, &options, &of, &id, |block| work.take(block))?;
        work.begin()?;
        return work.end(&file, &names);
    }
    let mut reader = input::open(&data, &mut options)?;
    let mut piece = vec![0; PIECE];
    loop {
        match reader.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => blocks.push(&piece[..read]).map_err(for_model)?.map_or(Ok(()), |block| work.take(&block))?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(CliError::file(&data, &error)),
        }
    }
    match blocks.finish() {
        // A batch without rows has scores without rows.
        Err(DataError { kind: DataErrorKind::HeaderOnly, .. }) => {
            work.begin()?;
            output::note(format_args!("{file}: no rows below the header"));
        }
        rest => rest.map_err(for_model)?.map_or(Ok(()), |block| work.take(&block))?,
    }
    work.end(&file, blocks.columns())
}

/// What blocks go through.
struct Work<'a, T: Real> {
    model: Predictor<T>,
    preparation: Preparation,
    /// What the two classes are called, the negative one first.
    labels: [String; 2],
    ids: &'a [String],
    out: output::Lines,
    json: bool,
    /// In place of the model's.
    threshold: Option<f64>,
    explainer: Option<Explainer>,
    begun: bool,
    counts: Counts,
}

impl<T: Real> Work<'_, T> {
    fn take(&mut self, block: &Block) -> Result<()> {
        let data = self.preparation.apply_unlabelled::<T>(&block.table).map_err(for_model)?;
        let heads = self.model.classes().len().max(1);
        let scores = scores(&mut self.model, &data)?;
        if let Some(at) = scores.iter().position(|score| !score.is_finite()) {
            return Err(anyhow!("{}: a score of row {} is not finite", block.table.name(), at / heads + 1).into());
        }
        self.counts.add(data.summary());
        self.begin()?;
        let parts = match &self.explainer {
            Some(explainer) => explainer.parts(&mut self.model, data.rows(), &scores)?,
            None => Vec::new(),
        };
        let wide = parts.len() / scores.len().max(1);
        let names: Vec<String> = self.head().iter().map(|name| Value::from(name.as_str()).to_string()).collect();
        for (row, scores) in scores.chunks_exact(heads).enumerate() {
            let parts = parts[row * wide..][..wide].iter().map(f64::to_string);
            let ids = &block.kept[row * self.ids.len()..][..self.ids.len()];
            let line = if self.json {
                let quoted = |text: String| Value::from(text).to_string();
                let cells = ids.iter().cloned().map(quoted).chain(self.row(scores, quoted)).chain(parts);
                let members: Vec<String> =
                    names.iter().zip(cells).map(|(name, cell)| format!("{name}:{cell}")).collect();
                format!("{{{}}}", members.join(","))
            } else {
                let quoted = |text: String| table::cell(&text);
                ids.iter()
                    .cloned()
                    .map(quoted)
                    .chain(self.row(scores, quoted))
                    .chain(parts)
                    .collect::<Vec<_>>()
                    .join(",")
            };
            self.out.add(line)?;
        }
        Ok(())
    }

    /// Writes what is left, and says what is to be said of a file of these columns.
    fn end(self, file: &str, names: &[String]) -> Result<()> {
        self.out.end()?;
        let known = self.preparation.known();
        let used = |name: &String| known.iter().any(|of| of.0 == *name) || self.ids.contains(name);
        let extra: Vec<&str> = names.iter().filter(|name| !used(name)).map(String::as_str).collect();
        self.counts.notes(file, &extra);
        Ok(())
    }

    /// The first line of a table.
    fn begin(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.begun, true) || self.json {
            return Ok(());
        }
        let head: Vec<String> = self.head().iter().map(|name| table::name(name)).collect();
        self.out.add(head.join(","))
    }

    /// Names of what is written of a row.
    fn head(&self) -> Vec<String> {
        let mut head = self.ids.to_vec();
        let classes = self.model.classes();
        let mut add = |what: &str| match classes {
            [] => head.push(what.to_string()),
            names => head.extend(names.iter().map(|name| format!("{what}:{name}"))),
        };
        add("score");
        if self.model.has_probabilities() {
            add("probability");
        }
        if self.has_class() {
            head.push("class".to_string());
        }
        if let Some(explainer) = &self.explainer {
            head.extend(explainer.names().map(|name| format!("part:{name}")));
        }
        head
    }

    fn has_class(&self) -> bool {
        match self.preparation.target() {
            Target::Binary => self.threshold.is_some() || self.model.threshold().is_some(),
            Target::Classes => true,
            _ => false,
        }
    }

    /// What is known of a row. (A number is written so that reading it gives the same bits.)
    fn row(&self, scores: &[T], quoted: impl Fn(String) -> String) -> impl Iterator<Item = String> {
        let shown = scores.iter().map(T::to_string);
        let odds = scores.iter().filter_map(|&score| self.model.probability(score)).map(|p| p.to_string());
        let class = match (self.threshold, scores) {
            (Some(threshold), [score]) => Some(usize::from(score.f64() >= threshold)),
            _ => self.model.class(scores),
        };
        shown.chain(odds).chain(class.map(|class| quoted(self.class_name(class))))
    }

    fn class_name(&self, class: usize) -> String {
        match self.model.classes() {
            [] => self.labels[class].clone(),
            names => names[class].clone(),
        }
    }
}

/// What is to be said of all rows together.
#[derive(Default)]
struct Counts {
    missing: Vec<(String, usize)>,
    unseen: Vec<(String, usize)>,
    beyond: usize,
}

impl Counts {
    fn add(&mut self, summary: &undercurve::data::Summary) {
        for (all, some) in [(&mut self.missing, &summary.missing), (&mut self.unseen, &summary.unseen)] {
            for (name, count) in some {
                match all.iter_mut().find(|other| other.0 == *name) {
                    Some(other) => other.1 += count,
                    None => all.push((name.clone(), *count)),
                }
            }
        }
        self.beyond += summary.beyond;
    }

    fn notes(&self, file: &str, extra: &[&str]) {
        if !extra.is_empty() {
            let shown: Vec<String> = extra.iter().take(10).map(|name| format!("\"{name}\"")).collect();
            let more = if extra.len() > 10 { format!(" and {} more", extra.len() - 10) } else { String::new() };
            output::note(format_args!("{file}: the model does not read the columns {}{more}", shown.join(", ")));
        }
        input::counts(file, &self.missing, &self.unseen, self.beyond);
    }
}
