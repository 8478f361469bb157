//! Files: CSV and LIBSVM, plain or gzip, to arrays that are ready for training.

use crate::export::json;
use crate::failure::Failure;
use crate::plane;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use undercurve::checkpoint::SavedModel;
use undercurve::data::{self, ColumnValues, Dataset, Missing, RawTable, Rows, Split, Target};
use wasm_bindgen::prelude::wasm_bindgen;

/// A file that was read but not prepared.
#[wasm_bindgen]
pub struct Table {
    table: RawTable,
    ignore: Vec<String>,
    categorical: Vec<String>,
}

#[wasm_bindgen]
impl Table {
    /// Reads CSV or LIBSVM, plain or gzip, behind `skip` lines; columns of `texts` are text. `latin1`: what is no UTF-8 is Windows-1252. A first line
    /// with the label is a header. Errors name file, line and column.
    #[wasm_bindgen(constructor)]
    pub fn new(
        bytes: &[u8],
        name: &str,
        texts: Vec<String>,
        na: Vec<String>,
        skip: u32,
        latin1: bool,
        label: Option<String>,
    ) -> Result<Self, Failure> {
        let encoding = if latin1 { data::Encoding::Latin1 } else { data::Encoding::Utf8 };
        let options = data::ReadOptions { texts, na, skip, encoding, label, ..data::ReadOptions::default() };
        let table = RawTable::parse_with(bytes, &options, name)?;
        Ok(Self { table, ignore: Vec::new(), categorical: Vec::new() })
    }

    /// `{ name, format, rows, columns: [{ name, missing, values: [[value, count]] or null, kind, identifier, rounded, dates, doubt,
    /// stray: [line, text] or null }] }`, values where there are at most 100 different ones; LIBSVM has one column, its labels.
    pub fn describe(&self) -> String {
        let sparse = self.table.format() == data::Format::Libsvm;
        let names = if sparse { vec!["label".to_string()] } else { self.table.columns() };
        let readings = self.table.readings();
        let is_read = |name: &str, as_: data::Reading| readings.contains(&(name, as_)).to_string();
        let identifiers = data::identifiers(&self.table, &data::Options::default());
        let columns = names.iter().enumerate().map(|(k, name)| {
            let stray = self.table.stray(k).map(|(line, text)| format!("[{line},{}]", json::string(text)));
            let text = matches!(self.table.column(k), Some(ColumnValues::Texts { .. }));
            let values = self.table.values(k, 100).map_or("null".to_string(), |values| {
                json::array(values.iter().map(|(value, count)| format!("[{},{count}]", json::string(value))))
            });
            json::object([
                ("name", json::string(name)),
                ("missing", self.table.missing(k).to_string()),
                ("values", values),
                ("kind", json::string(if text { "text" } else { "number" })),
                ("identifier", identifiers.iter().any(|(found, _)| found == name).to_string()),
                ("rounded", is_read(name, data::Reading::Rounded)),
                ("dates", is_read(name, data::Reading::Dates)),
                ("doubt", self.table.doubt(k).map_or("null".to_string(), |doubt| json::string(&doubt.to_string()))),
                ("stray", stray.unwrap_or_else(|| "null".to_string())),
            ])
        });
        json::object([
            ("name", json::string(self.table.name())),
            ("format", json::string(if sparse { "LIBSVM" } else { "CSV" })),
            ("rows", self.table.rows().to_string()),
            ("columns", json::array(columns)),
        ])
    }

    /// The least and the largest number of each column; NaN of a column without numbers.
    pub fn ranges(&self) -> Vec<f64> {
        let ends = |k| match self.table.column(k) {
            Some(ColumnValues::Numbers(values)) => {
                values.iter().fold([f64::NAN; 2], |[low, high], &x| [low.min(x), high.max(x)])
            }
            _ => [f64::NAN; 2],
        };
        (0..self.table.columns().len()).flat_map(ends).collect()
    }

    /// The AUROC of each column alone against this label, by whichever way of it ranks better; NaN where there are too few rows to tell.
    pub fn alone(&self, label: String, positive: Option<String>) -> Result<Vec<f64>, Failure> {
        let options = data::Options { label: Some(label), positive, ..data::Options::default() };
        let labels = data::binary_labels(&self.table, &options)?;
        let of = |at| undercurve_search::column_auroc(&self.table, at, &labels).unwrap_or(f64::NAN);
        Ok((0..self.table.columns().len()).map(of).collect())
    }

    /// From now on columns of `ignore` are no features, and those of `categorical` are categories.
    pub fn choose(&mut self, ignore: Vec<String>, categorical: Vec<String>) {
        [self.ignore, self.categorical] = [ignore, categorical];
    }

    /// Encoding and scaling, fitted on the training rows: `share` of all, a stratified split, or all. One label value is positive, by the rule of
    /// the core if none is named, and all others are negative; with `classes` each is a class.
    pub fn prepare(
        &self,
        label: Option<String>,
        positive: Option<String>,
        classes: bool,
        impute: bool,
        share: Option<f64>,
        seed: f64,
    ) -> Result<Prepared, Failure> {
        let csv = self.table.format() == data::Format::Csv;
        let options = data::Options {
            label: label.filter(|_| csv),
            positive,
            target: if classes { Target::Classes } else { Target::Binary },
            missing: if impute { Missing::Impute } else { Missing::Refuse },
            ignore: self.ignore.clone(),
            categorical: self.categorical.clone(),
            ..data::Options::default()
        };
        let name = self.table.name();
        let (preparation, train, test) = match share {
            Some(share) => {
                let ready = data::prepare::<f32>(&self.table, &options, Split::new(share, seed as u64))?;
                (ready.preparation, ready.train, Some(ready.test))
            }
            None => {
                let preparation = data::Preparation::fit(&self.table, &options)?;
                let train = preparation.apply::<f32>(&self.table)?;
                (preparation, train, None)
            }
        };
        if train.classes().len() > MOST_CLASSES {
            return Err(Failure::new(151, "label", &format!("{name}: more than {MOST_CLASSES} classes")));
        }
        for rows in [Some(&train), test.as_ref()].into_iter().flatten() {
            rows.require_every_class(name)?;
        }
        let file = SavedModel::new(preparation, 4, Vec::new()).to_bytes();
        Ok(Prepared { preparation: file, train, test })
    }
}

/// The most classes: JavaScript holds class numbers in bytes.
const MOST_CLASSES: usize = 256;

/// A file's rows, encoded and split.
#[wasm_bindgen]
pub struct Prepared {
    /// A model file without a model.
    preparation: Vec<u8>,
    train: Dataset<f32>,
    /// None where all rows train.
    test: Option<Dataset<f32>>,
}

#[wasm_bindgen]
impl Prepared {
    /// Each positive training row is there `times` times.
    pub fn weigh(&mut self, times: u32) -> Result<(), Failure> {
        let of = |label| if label == 1 { times } else { 1 };
        let rows = self.train.labels().iter().zip(0..);
        let again: Vec<u32> = rows.flat_map(|(&label, row)| (0..of(label)).map(move |_| row)).collect();
        self.train = self.train.select(&again)?;
        Ok(())
    }
    /// The preparation fitted to the training rows, for `Model::of`.
    pub fn preparation(&self) -> Vec<u8> {
        self.preparation.clone()
    }
    /// Features per row.
    #[wasm_bindgen(getter)]
    pub fn dims(&self) -> usize {
        self.train.cols()
    }
    /// Whether rows are sparse (`starts`, `columns` and stored values): if less than half of all values is stored.
    #[wasm_bindgen(getter)]
    pub fn sparse(&self) -> bool {
        let rows = self.train.rows();
        matches!(rows, Rows::Csr { .. }) && rows.nnz() < rows.len() * rows.cols() / 2
    }
    fn part(&self, held: bool) -> &Dataset<f32> {
        self.test.as_ref().filter(|_| held).unwrap_or(&self.train)
    }
    /// Features of the training rows (or the held-out ones): row-major, or the stored ones of sparse rows.
    pub fn values(&self, held: bool) -> Vec<f32> {
        match self.part(held).rows() {
            Rows::Dense { data, .. } => data.to_vec(),
            Rows::Csr { val, .. } if self.sparse() => val.to_vec(),
            Rows::Csr { ptr, col, val, cols, .. } => {
                let mut out = vec![0.0; cols * (ptr.len() - 1)];
                for row in 0..ptr.len() - 1 {
                    for at in ptr[row]..ptr[row + 1] {
                        out[row * cols + col[at] as usize] = val[at];
                    }
                }
                out
            }
        }
    }
    /// Where sparse rows start among their values, and where the last one ends.
    pub fn starts(&self, held: bool) -> Vec<u32> {
        match self.part(held).rows() {
            Rows::Csr { ptr, .. } => ptr.iter().map(|&at| at as u32).collect(),
            Rows::Dense { .. } => Vec::new(),
        }
    }
    /// Columns of the values of sparse rows.
    pub fn columns(&self, held: bool) -> Vec<u32> {
        match self.part(held).rows() {
            Rows::Csr { col, .. } => col.to_vec(),
            Rows::Dense { .. } => Vec::new(),
        }
    }
    /// Labels: 1 for positives, or the number of the class.
    pub fn labels(&self, held: bool) -> Vec<u8> {
        let rows = self.part(held);
        match rows.class_labels() {
            [] => rows.labels().to_vec(),
            classes => classes.iter().map(|&class| class as u8).collect(),
        }
    }
    /// Names of several classes, a JSON array in the order of their numbers.
    pub fn names(&self) -> String {
        json::array(self.train.classes().iter().map(|name| json::string(name)))
    }
    /// Whether rows are held out.
    #[wasm_bindgen(getter, js_name = holdsOut)]
    pub fn holds_out(&self) -> bool {
        self.test.is_some()
    }
    /// The first `most` held-out rows on a plane, (x, y) each: the features if there are two, else principal components.
    pub fn plane(&self, most: usize) -> Vec<f32> {
        plane::plane(self.part(true).rows(), most)
    }
}
