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
use undercurve::data::{self, ColumnValues, Dataset, Missing, Preparation, RawTable, Rows, Split, Target};
use wasm_bindgen::prelude::wasm_bindgen;

/// A file that was read but not prepared.
#[wasm_bindgen]
pub struct Table {
    table: RawTable,
    ignore: Vec<String>,
    categorical: Vec<String>,
    groups: Vec<String>,
    /// That of other rows, which these are to be encoded as.
    like: Option<Preparation>,
}

impl Table {
    fn read(bytes: &[u8], options: &data::ReadOptions, name: &str, like: Option<Preparation>) -> Result<Self, Failure> {
        let table = RawTable::parse_with(bytes, options, name)?;
        let none = Vec::new;
        Ok(Self { table, ignore: none(), categorical: none(), groups: none(), like })
    }
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
        Self::read(bytes, &options, name, None)
    }

    /// The same of rows that are read and encoded as those of `like` were: the bytes of a model file or of a preparation.
    pub fn again(bytes: &[u8], name: &str, like: &[u8], skip: u32, latin1: bool) -> Result<Self, Failure> {
        let like = SavedModel::from_bytes(like)?.preparation;
        let options = data::ReadOptions {
            texts: like.texts(),
            columns: like.known(),
            na: like.na().to_vec(),
            label: like.label_column().map(ToString::to_string),
            skip,
            encoding: if latin1 { data::Encoding::Latin1 } else { like.encoding() },
            ..data::ReadOptions::default()
        };
        Self::read(bytes, &options, name, Some(like))
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

    /// From now on columns of `ignore` are no features, those of `categorical` are categories, and those of `groups` make groups.
    pub fn choose(&mut self, ignore: Vec<String>, categorical: Vec<String>, groups: Vec<String>) {
        [self.ignore, self.categorical, self.groups] = [ignore, categorical, groups];
    }

    /// Encoding and scaling, fitted on the training rows: `share` of all, a stratified split, or all. One label value is positive, by the rule of
    /// the core if none is named, and all others are negative; with `classes` each is a class. All that is known already of rows that are like others.
    pub fn prepare(
        &self,
        label: Option<String>,
        positive: Option<String>,
        classes: bool,
        impute: bool,
        share: Option<f64>,
        seed: f64,
    ) -> Result<Prepared, Failure> {
        let (name, split) = (self.table.name(), share.map(|share| Split::new(share, seed as u64)));
        if let Some(like) = &self.like {
            let mut preparation = like.clone();
            if !self.groups.is_empty() {
                preparation = preparation.with_groups(&self.table, &self.groups)?;
            }
            let all = preparation.apply::<f32>(&self.table)?;
            let split = split.filter(|_| all.len() > 1);
            let (train, test) = match split.map(|split| all.split(split, name)).transpose()? {
                Some([train, test]) => (train, Some(test).filter(|test| !test.is_empty())),
                None => (all, None),
            };
            return Ok(Prepared { preparation, train, test });
        }
        let csv = self.table.format() == data::Format::Csv;
        let options = data::Options {
            label: label.filter(|_| csv),
            positive,
            target: if classes { Target::Classes } else { Target::Binary },
            missing: if impute { Missing::Impute } else { Missing::Refuse },
            ignore: self.ignore.clone(),
            categorical: self.categorical.clone(),
            group: self.groups.clone(),
            ..data::Options::default()
        };
        let (preparation, train, test) = match split {
            Some(split) => {
                let ready = data::prepare::<f32>(&self.table, &options, split)?;
                (ready.preparation, ready.train, Some(ready.test))
            }
            None => {
                let preparation = Preparation::fit(&self.table, &options)?;
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
        Ok(Prepared { preparation, train, test })
    }
}

/// The most classes: JavaScript holds class numbers in bytes.
const MOST_CLASSES: usize = 256;

/// A file's rows, encoded and split.
#[wasm_bindgen]
pub struct Prepared {
    preparation: Preparation,
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
    /// The preparation fitted to the training rows, for `Model::of`: a model file without a model.
    pub fn preparation(&self) -> Vec<u8> {
        SavedModel::new(self.preparation.clone(), 4, Vec::new()).to_bytes()
    }
    /// The columns that are read as features, by name; none of LIBSVM.
    pub fn sources(&self) -> Vec<String> {
        self.preparation.sources().into_iter().map(|(name, _)| name.to_string()).collect()
    }
    /// The group of each row; empty without groups.
    pub fn groups(&self, held: bool) -> Vec<u32> {
        self.part(held).group_of().to_vec()
    }
    /// What groups are called, those of held-out rows alone last.
    #[wasm_bindgen(js_name = groupNames)]
    pub fn group_names(&self) -> Vec<String> {
        self.part(true).group_names().to_vec()
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
