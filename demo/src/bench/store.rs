//! Finished runs of an experiment, one JSON object a line, so that a bench that was stopped continues where it was.
//!
//! Lines are appended whole; several benches may write to one file. A line that was cut off is run again.

use crate::error::{CliError, Result};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// What a run measured: `(step, pass, metric)` at each check, and its seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The checks, in the order of steps.
    pub checks: Vec<(u64, f64, f64)>,
    /// Seconds of training and checks.
    pub seconds: f64,
}

/// The finished runs.
pub struct Store {
    done: Mutex<(HashMap<String, Measured>, Option<File>)>,
}

impl Store {
    /// Runs in memory only, or also in a file that is read first.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn open(file: Option<&Path>) -> Result<Self> {
        let Some(path) = file else { return Ok(Self { done: Mutex::new((HashMap::new(), None)) }) };
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(CliError::file(path, &error)),
        };
        let done = text.lines().filter_map(parse).collect();
        let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(|e| CliError::file(path, &e))?;
        if !text.is_empty() && !text.ends_with('\n') {
            writeln!(file).map_err(|error| CliError::file(path, &error))?;
        }
        Ok(Self { done: Mutex::new((done, Some(file))) })
    }

    /// The run of a key, if it is finished.
    pub fn get(&self, key: &str) -> Option<Measured> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).0.get(key).cloned()
    }

    /// Keeps a finished run.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&self, key: String, measured: Measured) -> Result<()> {
        let line = format!("{}\n", json!({"run": key, "seconds": measured.seconds, "checks": measured.checks}));
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &mut done.1 {
            file.write_all(line.as_bytes()).map_err(anyhow::Error::from)?;
        }
        done.0.insert(key, measured);
        Ok(())
    }
}

fn parse(line: &str) -> Option<(String, Measured)> {
    let value: Value = serde_json::from_str(line).ok()?;
    let check = |check: &Value| Some((check.get(0)?.as_u64()?, check.get(1)?.as_f64()?, check.get(2)?.as_f64()?));
    let checks = value.get("checks")?.as_array()?.iter().map(check).collect::<Option<Vec<_>>>()?;
    Some((value.get("run")?.as_str()?.to_owned(), Measured { checks, seconds: value.get("seconds")?.as_f64()? }))
}

#[cfg(test)]
mod tests {
    use super::{Measured, Store};

    #[test]
    fn runs_come_back_and_a_cut_line_is_left_out() {
        let file = std::env::temp_dir().join(format!("undercurve-store-{}.jsonl", std::process::id()));
        let one = Measured { checks: vec![(10, 0.5, 0.25), (20, 1.0, 0.125)], seconds: 0.5 };
        let two = Measured { checks: vec![], seconds: 1.0 };
        let store = Store::open(Some(&file)).unwrap();
        store.put("one".into(), one.clone()).unwrap();
        store.put("two".into(), two.clone()).unwrap();
        drop(store);
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, &text[..text.len() - 5]).unwrap();
        let store = Store::open(Some(&file)).unwrap();
        assert_eq!((store.get("one"), store.get("two")), (Some(one.clone()), None));
        store.put("two".into(), two.clone()).unwrap();
        drop(store);
        let store = Store::open(Some(&file)).unwrap();
        assert_eq!((store.get("one"), store.get("two")), (Some(one), Some(two)));
        std::fs::remove_file(file).unwrap();
    }
}
