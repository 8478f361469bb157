//! Finished runs, one JSON object a line, so that an experiment that was stopped continues where it was.
//!
//! Lines are appended whole; several programs may write to one file. A line that was cut off is run again, and said.

use crate::error::{CliError, Result};
use crate::output;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
pub use undercurve_search::cores;

/// The finished runs: a record by the run's name.
pub struct Store<R> {
    kept: Mutex<Kept<R>>,
}

struct Kept<R> {
    runs: HashMap<String, R>,
    file: Option<(PathBuf, File)>,
}

impl<R: Clone + Serialize + DeserializeOwned> Store<R> {
    /// Runs in memory only, or also in a file that is read first.
    ///
    /// # Errors
    /// `Input` when the file cannot be read or written, and for a line of it that is no record.
    pub fn open(file: Option<&Path>) -> Result<Self> {
        let mut runs = HashMap::new();
        let Some(path) = file else { return Ok(Self { kept: Mutex::new(Kept { runs, file: None }) }) };
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(CliError::file(path, &error)),
        };
        for (at, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
            let place = format!("{}, line {}", path.display(), at + 1);
            match parse(line) {
                Ok(Line::Blank) => {}
                Ok(Line::Cut) => output::note(format_args!("{place}: cut off, that run is made again")),
                Ok(Line::Run(key, record)) => drop(runs.insert(key, record)),
                Err(error) => {
                    return Err(CliError::input(format!("{place}: not a finished run of this bench: {error}")));
                }
            }
        }
        let open = || -> std::io::Result<File> {
            let mut file = OpenOptions::new().create(true).append(true).open(path)?;
            if bytes.last().is_some_and(|&byte| byte != b'\n') {
                writeln!(file)?;
            }
            Ok(file)
        };
        let file = open().map_err(|error| CliError::file(path, &error))?;
        Ok(Self { kept: Mutex::new(Kept { runs, file: Some((path.to_owned(), file)) }) })
    }

    /// The record of a run, if it is finished.
    pub fn get(&self, key: &str) -> Option<R> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).runs.get(key).cloned()
    }

    /// Keeps a finished run.
    pub fn put(&self, key: String, record: R) -> Result<()> {
        let mut value = serde_json::to_value(&record).map_err(anyhow::Error::from)?;
        value["run"] = json!(key);
        let line = format!("{value}\n");
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((path, file)) = &mut kept.file {
            file.write_all(line.as_bytes()).map_err(|error| CliError::file(path, &error))?;
        }
        kept.runs.insert(key, record);
        Ok(())
    }
}

enum Line<R> {
    Blank,
    /// The beginning of a line: what is left when a program is killed while it writes.
    Cut,
    Run(String, R),
}

fn parse<R: DeserializeOwned>(line: &[u8]) -> serde_json::Result<Line<R>> {
    if line.trim_ascii().is_empty() {
        return Ok(Line::Blank);
    }
    let mut value: Value = match serde_json::from_slice(line) {
        Err(error) if error.is_eof() => return Ok(Line::Cut),
        value => value?,
    };
    let key = serde_json::from_value(value.get_mut("run").map_or(Value::Null, Value::take))?;
    Ok(Line::Run(key, serde_json::from_value(value)?))
}

/// [`undercurve_search::in_parallel`] with the errors of commands.
///
/// # Errors
/// As a job.
pub fn in_parallel<J: Sync>(jobs: &[J], workers: usize, work: impl Fn(&J) -> Result<()> + Sync) -> Result<()> {
    undercurve_search::in_parallel(jobs, workers, work)
}

#[cfg(test)]
mod tests {
    use super::Store;
    use crate::error::CliError;
    use serde::{Deserialize, Serialize};
    use std::path::PathBuf;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Measured {
        checks: Vec<(usize, f64, f64)>,
        seconds: f64,
    }

    fn file(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("undercurve-{name}-{}.jsonl", std::process::id()))
    }

    #[test]
    fn runs_come_back_and_a_cut_line_is_left_out() {
        let file = file("store");
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
        // What was cut off stays in the file, on a line of its own.
        let store = Store::open(Some(&file)).unwrap();
        assert_eq!((store.get("one"), store.get("two")), (Some(one), Some(two)));
        std::fs::remove_file(file).unwrap();
    }

    #[test]
    fn a_damaged_or_unreadable_file_is_an_error() {
        let file = file("damaged");
        let good = "{\"checks\":[],\"run\":\"a\",\"seconds\":1}\n";
        for bad in [
            "hello",
            "{\"run\":\"a\"}",
            "{\"checks\":[],\"seconds\":1}",
            "{\"run\":1,\"checks\":[],\"seconds\":1}",
            "[1]",
            "7",
        ] {
            std::fs::write(&file, format!("{good}{bad}\n{good}")).unwrap();
            match Store::<Measured>::open(Some(&file)).map(|_| ()) {
                Err(CliError::Input(text)) => assert!(text.contains(", line 2: not a finished run"), "{bad}: {text}"),
                other => panic!("{bad}: {other:?}"),
            }
        }
        std::fs::remove_file(file).unwrap();
        let folder = std::env::temp_dir();
        assert!(matches!(Store::<Measured>::open(Some(&folder)), Err(CliError::Input(_))), "a folder is no file");
    }
}
