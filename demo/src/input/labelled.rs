//! Files of scores and labels, whoever made the scores: where the columns are, and what is in them.

use crate::error::{CliError, Result, for_scores};
use crate::input::scores::{self, Scores, Stop};
use crate::input::{self, Layout};
use std::path::{Path, PathBuf};
use undercurve::Real;
use undercurve::data::{
    DataError, DataErrorKind, Dataset, Options, Preparation, RawTable, Rows, Scale, Target, label_values,
};
use undercurve::metric::State;

/// Label, score and the positive label, as they were named.
#[derive(Clone, Debug)]
pub struct Columns {
    pub label: String,
    pub score: String,
    pub positive: Option<String>,
}

/// Scores of two classes, with weights and clusters where columns of them were named.
pub struct Labelled {
    pub scores: Vec<f64>,
    pub labels: Vec<u8>,
    pub weights: Vec<f64>,
    pub clusters: Option<Vec<u32>>,
}

impl Columns {
    /// The column of that name or number.
    pub fn column(&self, table: &RawTable, name: &str) -> Result<String> {
        let columns = table.columns();
        input::named(&columns, name).ok_or_else(|| {
            let kind = DataErrorKind::MissingColumn { name: name.to_string(), columns };
            let (file, line) = (table.name().to_string(), u32::from(table.has_header()));
            DataError { file, line, column: 0, kind }.into()
        })
    }

    /// Label and score.
    ///
    /// # Errors
    /// `Input` where there is none, or both are one.
    pub fn two(&self, table: &RawTable) -> Result<(String, String)> {
        let (label, score) = (self.column(table, &self.label)?, self.column(table, &self.score)?);
        if label == score {
            return Err(CliError::input(format!("--score {}: is the label column", self.score)));
        }
        Ok((label, score))
    }

    /// Finds label and score among the columns of a file of plain numbers.
    fn places(&self) -> impl Fn(&[String]) -> Option<(usize, usize)> {
        |names| {
            let place =
                |name: &String| names.iter().position(|other| Some(other) == input::named(names, name).as_ref());
            let (label, score) = (place(&self.label)?, place(&self.score)?);
            (label != score).then_some((label, score))
        }
    }

    /// Labels and scores of such a file; `None` where it is not so plain.
    pub fn plain(&self, path: &Path, layout: Layout) -> Option<Scores> {
        let options = input::read_options(layout, Some(&self.label));
        scores::read(path, &options, self.places(), self.positive.as_deref())
    }

    /// Its rows counted.
    pub fn plain_counts(&self, path: &Path, layout: Layout) -> Option<(State, RawTable)> {
        let options = input::read_options(layout, Some(&self.label));
        scores::count(path, &options, self.places(), self.positive.as_deref())
    }

    /// Calls `take` with pieces of the scores and labels of a file of any length; what was read to find the columns.
    ///
    /// # Errors
    /// `Input`: what is wrong in the file, and where.
    pub fn pieces(
        &self,
        path: &Path,
        layout: Layout,
        take: impl FnMut(&[f64], &[u8]) -> undercurve::Result<()>,
    ) -> Result<RawTable> {
        let options = input::read_options(layout, Some(&self.label));
        let shown = path.display();
        scores::stream(path, &options, self.places(), self.positive.as_deref(), take).map_err(|stop| match stop {
            Stop::Open(error) => error,
            Stop::Read(error) => CliError::file(path, &error),
            Stop::Head(error) => error.into(),
            Stop::Columns(table) => {
                self.two(&table).err().unwrap_or_else(|| CliError::input(format!("{shown}: no such columns")))
            }
            Stop::Line(line) => CliError::input(format!(
                "{shown}:{line}: no row with a score and a label of 0 or 1 (--positive says which label counts as positive)"
            )),
            Stop::Other => CliError::input(format!(
                "{shown}: is not a table of columns with tabs, semicolons or commas between them, which --memory reads alone"
            )),
        })
    }

    /// The columns of scores of a table, as they are.
    pub fn prepared(
        &self,
        table: &RawTable,
        label: String,
        scores: &[String],
        target: Target,
    ) -> Result<(Preparation, Dataset<f64>)> {
        let columns = table.columns();
        are_numbers(table, &columns, scores)?;
        let options = Options {
            ignore: columns.into_iter().filter(|name| *name != label && !scores.contains(name)).collect(),
            label: Some(label),
            positive: self.positive.clone().filter(|_| target != Target::Values),
            target,
            scale: Some(Scale::None),
            ..Options::default()
        };
        let preparation = Preparation::fit(table, &options).map_err(for_scores)?;
        let data = preparation.apply::<f64>(table).map_err(for_scores)?;
        Ok((preparation, data))
    }

    /// Scores and labels of a file of two classes, and the clusters and weights of columns.
    ///
    /// # Errors
    /// `Input`: what is wrong in the file, and where.
    pub fn read(&self, path: &Path, layout: Layout, [cluster, weight]: [Option<&str>; 2]) -> Result<Labelled> {
        let file = PathBuf::from(path);
        if path != Path::new("-")
            && cluster.or(weight).is_none()
            && let Some(Scores { scores, labels, first_lines }) = self.plain(path, layout)
        {
            input::say(&input::reading_notes(&first_lines, None, &file));
            return Ok(Labelled { scores, labels, weights: Vec::new(), clusters: None });
        }
        let table = input::table(path, layout, Some(&self.label))?;
        let (label, score) = self.two(&table)?;
        let values = label_values(&table, &Options { label: Some(label.clone()), ..Options::default() })?;
        if self.positive.is_none() && values.len() > 2 {
            let text =
                format!("{}: column \"{label}\" has {} values; --positive names one", path.display(), values.len());
            return Err(CliError::input(text));
        }
        let (preparation, data) = self.prepared(&table, label, &[score], Target::Binary)?;
        let data = input::weigh(&preparation, &table, data, weight.map(str::to_string).as_ref())?;
        data.require_every_class(&path.display().to_string())?;
        input::say(&input::reading_notes(&table, None, &file));
        let scores = scores_of(&table, &data)?.to_vec();
        let (labels, weights) = (data.labels().to_vec(), data.weights().to_vec());
        let clusters = cluster.map(|column| clusters(&preparation, &table, data, column)).transpose()?;
        Ok(Labelled { scores, labels, weights, clusters })
    }
}

/// The one column of numbers of scores.
pub fn scores_of<'a>(table: &RawTable, data: &'a Dataset<f64>) -> Result<&'a [f64]> {
    match data.rows() {
        Rows::Dense { data: scores, .. } => Ok(scores),
        _ => {
            let (file, kind) = (table.name().to_string(), DataErrorKind::OtherFormat);
            Err(DataError { file, line: 0, column: 0, kind }.into())
        }
    }
}

/// Data with the cluster of each row as its query: rows with the same value in a column are in one.
///
/// # Errors
/// `Input` where there is no such column, it is the label's, or a value is missing.
pub fn clustered<T: Real>(of: &Preparation, table: &RawTable, data: Dataset<T>, column: &str) -> Result<Dataset<T>> {
    let name = input::named(&table.columns(), column).unwrap_or_else(|| column.to_string());
    if of.label_column() == Some(&*name) {
        return Err(CliError::input(format!("--cluster {column}: is the label column")));
    }
    Ok(of.queried(table, data, &name)?)
}

/// The cluster of each row, by number.
///
/// # Errors
/// As [`clustered`].
pub fn clusters<T: Real>(of: &Preparation, table: &RawTable, data: Dataset<T>, column: &str) -> Result<Vec<u32>> {
    let data = clustered(of, table, data, column)?;
    Ok(data.queries().map_or_else(Vec::new, |queries| queries.of().to_vec()))
}

/// Names the first cell, in reading order, that is no number in these columns.
pub fn are_numbers(table: &RawTable, columns: &[String], scores: &[String]) -> Result<()> {
    let texts = columns.iter().enumerate().filter(|(_, name)| scores.contains(name));
    let first = texts.filter_map(|(at, name)| table.first_text(at).map(|(line, text)| (line, at, name, text))).min();
    let Some((line, at, name, text)) = first else { return Ok(()) };
    let shown: String = text.chars().take(40).collect();
    let column = at + 1;
    Err(CliError::input(format!(
        "{}:{line}:{column}: value {shown:?} in column {name:?} is not a number",
        table.name()
    )))
}
