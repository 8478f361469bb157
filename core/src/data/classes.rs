//! Data of several classes: every label value is a class of its own.

use super::dataset::Dataset;
use super::encode::{Options, Preparation, all_rows, check_rows, find_column, label_cells, refuse_missing};
use super::error::{DataError, DataErrorKind};
use super::labels::{LabelCells, same};
use super::parse::{MISSING, RawTable, number_text};
use super::split::Split;
use crate::checkpoint::{Coded, Reader};
use crate::error::{Error, Result as CoreResult, exact_len};
use crate::real::Real;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// Classes there may be. More label values than this are rather numbers to predict.
pub const MAX_CLASSES: usize = 1000;

/// Feature rows with a class number each.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassDataset<T> {
    features: Dataset<T>,
    labels: Vec<u32>,
    classes: Vec<String>,
}

impl<T: Real> ClassDataset<T> {
    /// From rows (whose own labels do not matter), class numbers and the classes' names.
    ///
    /// # Errors
    /// `Param` (fewer than two classes or more than [`MAX_CLASSES`]), `Length`, `Label`.
    pub fn new(features: Dataset<T>, labels: Vec<u32>, classes: Vec<String>) -> CoreResult<Self> {
        if !(2..=MAX_CLASSES).contains(&classes.len()) {
            return Err(Error::Param { what: "classes" });
        }
        exact_len("labels", features.len(), labels.len())?;
        match labels.iter().position(|&label| label as usize >= classes.len()) {
            Some(at) => Err(Error::Label { at }),
            None => Ok(Self { features, labels, classes }),
        }
    }

    /// The feature rows.
    #[must_use]
    pub fn features(&self) -> &Dataset<T> {
        &self.features
    }
    /// The class number of every row.
    #[must_use]
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }
    /// What the classes are called, in the order of their numbers.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        &self.classes
    }
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.labels.len()
    }
    /// No rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Rows of each class.
    #[must_use]
    pub fn sizes(&self) -> Vec<u32> {
        sizes(&self.labels, self.classes.len())
    }

    /// `Ok` when every class has a row; `file` is for the error.
    ///
    /// # Errors
    /// `AbsentClass`.
    pub fn require_every_class(&self, file: &str) -> Result<(), DataError> {
        match self.sizes().iter().position(|&size| size == 0) {
            None => Ok(()),
            Some(class) => {
                let kind = DataErrorKind::AbsentClass { label: self.classes[class].clone() };
                Err(DataError { file: file.to_string(), line: 0, column: 0, kind })
            }
        }
    }

    /// The rows `index` in that order, copied.
    ///
    /// # Errors
    /// `Index`.
    pub fn select(&self, index: &[u32]) -> CoreResult<Self> {
        let features = self.features.select(index)?;
        let labels = index.iter().map(|&row| self.labels[row as usize]).collect();
        Ok(Self { features, labels, classes: self.classes.clone() })
    }
}

fn sizes(labels: &[u32], classes: usize) -> Vec<u32> {
    let mut sizes = vec![0; classes];
    for &label in labels {
        sizes[label as usize] += 1;
    }
    sizes
}

/// A [`Preparation`] of the features, and the classes. Saved with a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassPreparation {
    features: Preparation,
    classes: Vec<String>,
}

impl Coded for ClassPreparation {
    fn write(&self, out: &mut Vec<u8>) {
        self.features.write(out);
        self.classes.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let (features, classes): (_, Vec<String>) = from.value()?;
        (2..=MAX_CLASSES).contains(&classes.len()).then_some(Self { features, classes })
    }
}

/// A fitted preparation with both parts of a split.
#[derive(Clone, Debug)]
pub struct ClassPrepared<T> {
    /// Fitted on the training part.
    pub preparation: ClassPreparation,
    /// The training part.
    pub train: ClassDataset<T>,
    /// The test part.
    pub test: ClassDataset<T>,
}

/// The label values of a table in order, numbers by value and text by its bytes; at most one more than [`MAX_CLASSES`].
///
/// # Errors
/// No or an unknown label column.
pub fn label_values(table: &RawTable, options: &Options) -> Result<Vec<String>, DataError> {
    Ok(match label_cells(table, options)?.1 {
        LabelCells::Numbers(numbers) => {
            let mut distinct: Vec<f64> = numbers.iter().filter(|x| x.is_finite()).map(|x| x + 0.0).collect();
            distinct.sort_unstable_by(f64::total_cmp);
            distinct.dedup();
            distinct.truncate(MAX_CLASSES + 1);
            distinct.into_iter().map(number_text).collect()
        }
        LabelCells::Text { values, .. } => values.iter().take(MAX_CLASSES + 1).cloned().collect(),
    })
}

/// The name of the label column; `None` where columns have no names.
///
/// # Errors
/// No or an unknown label column.
pub fn label_column(table: &RawTable, options: &Options) -> Result<Option<String>, DataError> {
    Ok(label_cells(table, options)?.0)
}

/// Splits a table by class, fits the preparation on the training part and applies it to both.
///
/// # Errors
/// As [`ClassPreparation::fit`] and [`ClassPreparation::apply`]; `LoneRow` for a class that cannot be in both parts,
/// `Core(Param)` for a share outside (0, 1).
pub fn prepare_classes<T: Real>(
    table: &RawTable,
    options: &Options,
    split: Split,
) -> Result<ClassPrepared<T>, DataError> {
    let classes = classes(table, options)?;
    let (column, _) = label_cells(table, options)?;
    refuse_missing(table, options, column.as_deref())?;
    let labels = labels(table, column.as_deref(), &classes, &all_rows(table))?;
    let parts = parts(table, split, &labels, &classes)?;
    let preparation = ClassPreparation::fit_rows(table, options, &parts.train)?;
    let train = preparation.apply_rows(table, &parts.train)?;
    let test = preparation.apply_rows(table, &parts.test)?;
    Ok(ClassPrepared { preparation, train, test })
}

fn parts(table: &RawTable, split: Split, labels: &[u32], classes: &[String]) -> Result<super::split::Parts, DataError> {
    if let Some(class) = sizes(labels, classes.len()).iter().position(|&size| size == 1) {
        return Err(table.error(DataErrorKind::LoneRow { label: classes[class].clone() }));
    }
    split.class_parts(labels).map_err(|error| table.error(error.into()))
}

/// The classes of a table: two at least, and no more than there may be.
fn classes(table: &RawTable, options: &Options) -> Result<Vec<String>, DataError> {
    let classes = label_values(table, options)?;
    match classes.as_slice() {
        [] => Err(table.error(DataErrorKind::MissingLabel)),
        [label] => {
            let column = label_cells(table, options)?.0;
            Err(table.error(DataErrorKind::OneClass { label: label.clone(), column }))
        }
        more if more.len() > MAX_CLASSES => Err(table.error(DataErrorKind::ManyClasses)),
        _ => Ok(classes),
    }
}

impl ClassPreparation {
    /// Fits on a whole table.
    ///
    /// # Errors
    /// As [`Preparation::fit`] but for the number of label values, which is 2 to [`MAX_CLASSES`] here.
    pub fn fit(table: &RawTable, options: &Options) -> Result<Self, DataError> {
        Self::fit_rows(table, options, &all_rows(table))
    }

    /// Fits on some rows of a table; the classes are those of the whole table.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and `Core(Index)` for a row that does not exist.
    pub fn fit_rows(table: &RawTable, options: &Options, rows: &[u32]) -> Result<Self, DataError> {
        let classes = classes(table, options)?;
        // The features do not depend on what is positive; with one named, any number of values will do.
        let options = Options { positive: classes.first().cloned(), ..options.clone() };
        Ok(Self { features: Preparation::fit_rows(table, &options, rows)?, classes })
    }

    /// The features and classes of a whole table.
    ///
    /// # Errors
    /// As [`Preparation::apply`]; `UnknownClass` for a label that training did not have.
    pub fn apply<T: Real>(&self, table: &RawTable) -> Result<ClassDataset<T>, DataError> {
        self.apply_rows(table, &all_rows(table))
    }

    /// The features and classes of some rows of a table, in that order.
    ///
    /// # Errors
    /// As [`apply`](Self::apply), and `Core(Index)` for a row that does not exist.
    pub fn apply_rows<T: Real>(&self, table: &RawTable, rows: &[u32]) -> Result<ClassDataset<T>, DataError> {
        check_rows(table, rows)?;
        let labels = labels(table, self.features.label_column(), &self.classes, rows)?;
        let features = self.features.unlabelled_rows(table, rows)?;
        ClassDataset::new(features, labels, self.classes.clone()).map_err(|error| table.error(error.into()))
    }

    /// Both parts of a split of data that this was applied to whole.
    ///
    /// # Errors
    /// `LoneRow`, `Core(Param)`.
    pub fn split<T: Real>(
        &self,
        table: &RawTable,
        all: &ClassDataset<T>,
        split: Split,
    ) -> Result<[ClassDataset<T>; 2], DataError> {
        let parts = parts(table, split, all.labels(), &self.classes)?;
        let select = |rows: &[u32]| all.select(rows).map_err(|error| table.error(error.into()));
        Ok([select(&parts.train)?, select(&parts.test)?])
    }

    /// What the classes are called, in the order of their numbers.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The preparation of the features. What it says of labels means nothing here.
    #[must_use]
    pub fn features(&self) -> &Preparation {
        &self.features
    }
}

/// The class numbers of some rows.
fn labels(table: &RawTable, column: Option<&str>, classes: &[String], rows: &[u32]) -> Result<Vec<u32>, DataError> {
    let options = Options { label: column.map(ToString::to_string), ..Options::default() };
    let (name, cells) = label_cells(table, &options)?;
    if name.as_deref() != column {
        return Err(table.error(DataErrorKind::OtherFormat));
    }
    let at = match &name {
        Some(name) => find_column(table, &table.columns(), name)?,
        None => 0,
    };
    let error = |row: u32, kind| table.error_at(row as usize, at, kind);
    let class_of = |text: &str| classes.iter().position(|class| same(class, text)).map(|class| class as u32);
    let unknown = |text: &str| DataErrorKind::UnknownClass { text: text.to_string(), classes: classes.to_vec() };
    let mut labels = Vec::with_capacity(rows.len());
    match cells {
        LabelCells::Numbers(numbers) => {
            let mut known: Vec<(f64, u32)> =
                classes.iter().zip(0..).filter_map(|(text, class)| Some((text.parse::<f64>().ok()?, class))).collect();
            known.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            for &row in rows {
                let x = numbers.get(row as usize).copied().unwrap_or(f64::NAN);
                if x.is_nan() {
                    return Err(error(row, DataErrorKind::MissingLabel));
                }
                match known.binary_search_by(|(value, _)| value.total_cmp(&(x + 0.0))) {
                    Ok(found) => labels.push(known[found].1),
                    Err(_) => return Err(error(row, unknown(&number_text(x)))),
                }
            }
        }
        LabelCells::Text { values, codes } => {
            let known: Vec<Option<u32>> = values.iter().map(|text| class_of(text)).collect();
            for &row in rows {
                let code = codes.get(row as usize).copied().unwrap_or(MISSING);
                match known.get(code as usize) {
                    Some(Some(class)) => labels.push(*class),
                    Some(None) => return Err(error(row, unknown(&values[code as usize]))),
                    None => return Err(error(row, DataErrorKind::MissingLabel)),
                }
            }
        }
    }
    Ok(labels)
}
