//! Files: CSV and LIBSVM, plain or gzip, to arrays that are ready for training.

use crate::{json, plane};
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use undercurve::data::{self, Dataset, Missing, RawTable, Rows, Split};
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

/// A file that was read and not yet prepared.
#[wasm_bindgen]
pub struct Table {
    table: RawTable,
}

#[wasm_bindgen]
impl Table {
    /// Reads CSV or LIBSVM, plain or gzip. Errors name file, line and column.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: &[u8], name: &str) -> Result<Self, JsError> {
        Ok(Self { table: RawTable::parse(bytes, data::Format::Auto, name)? })
    }

    /// `{ name, format, rows, columns: [{ name, missing, values: [[value, count]] or null }] }`, values where there are at
    /// most 20 different ones; LIBSVM has one column, its labels.
    pub fn describe(&self) -> String {
        let sparse = self.table.format() == data::Format::Libsvm;
        let names = if sparse { vec!["label".to_string()] } else { self.table.columns() };
        let columns = names.iter().enumerate().map(|(k, name)| {
            let values = self.table.values(k, 20).map_or("null".to_string(), |values| {
                json::array(values.iter().map(|(value, count)| format!("[{},{count}]", json::string(value))))
            });
            json::object([
                ("name", json::string(name)),
                ("missing", self.table.missing(k).to_string()),
                ("values", values),
            ])
        });
        json::object([
            ("name", json::string(self.table.name())),
            ("format", json::string(if sparse { "LIBSVM" } else { "CSV" })),
            ("rows", self.table.rows().to_string()),
            ("columns", json::array(columns)),
        ])
    }

    /// Stratified split (`share` of the rows train), encoding and scaling fitted on the training part.
    pub fn prepare(
        &self,
        label: &str,
        positive: &str,
        impute: bool,
        share: f64,
        seed: f64,
    ) -> Result<Prepared, JsError> {
        let csv = self.table.format() == data::Format::Csv;
        let options = data::Options {
            label: csv.then(|| label.to_string()),
            positive: Some(positive.to_string()),
            missing: if impute { Missing::Impute } else { Missing::Refuse },
            ..data::Options::default()
        };
        let ready = data::prepare::<f32>(&self.table, &options, Split::new(share, seed as u64))?;
        ready.train.require_both_classes(self.table.name())?;
        ready.test.require_both_classes(self.table.name())?;
        Ok(Prepared { train: ready.train, test: ready.test })
    }
}

/// A file's rows, encoded and split.
#[wasm_bindgen]
pub struct Prepared {
    train: Dataset<f32>,
    test: Dataset<f32>,
}

#[wasm_bindgen]
impl Prepared {
    /// Features per row.
    #[wasm_bindgen(getter)]
    pub fn dims(&self) -> usize {
        self.train.cols()
    }
    /// Training features, row-major.
    #[wasm_bindgen(js_name = trainX)]
    pub fn train_x(&self) -> Vec<f32> {
        dense(&self.train)
    }
    /// Training labels.
    #[wasm_bindgen(js_name = trainY)]
    pub fn train_y(&self) -> Vec<u8> {
        self.train.labels().to_vec()
    }
    /// Held-out features, row-major.
    #[wasm_bindgen(js_name = testX)]
    pub fn test_x(&self) -> Vec<f32> {
        dense(&self.test)
    }
    /// Held-out labels.
    #[wasm_bindgen(js_name = testY)]
    pub fn test_y(&self) -> Vec<u8> {
        self.test.labels().to_vec()
    }
    /// The first `most` held-out rows on a plane, (x, y) each: the features if there are two, else principal components.
    pub fn plane(&self, most: usize) -> Vec<f32> {
        plane::plane(&dense(&self.test), self.dims(), most)
    }
}

/// Row-major values of any rows.
fn dense(data: &Dataset<f32>) -> Vec<f32> {
    match data.rows() {
        Rows::Dense { data, .. } => data.to_vec(),
        Rows::Csr { ptr, col, val, cols } => {
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
