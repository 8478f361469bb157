//! Labels and scores from a file of plain numbers, read as it comes: memory for the numbers alone.
//!
//! What is not so plain (quotes, text, missing or infinite values, rows of other lengths, one class, …) is left to the
//! reader of whole files, which says what is wrong and where. So both give the same numbers, and there is one wording of
//! every error. [`stream`] alone, for files that do not fit memory, has no other to leave it to.

use crate::error::CliError;
use crate::input;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use undercurve::data::{DataError, RawTable, ReadOptions};
use undercurve::metric::State;

/// Rows that are counted at once.
const PIECE: usize = 1 << 14;
/// Lines that the delimiter and the header are found from; the reader of whole files looks at 100 that are not blank.
const HEAD: usize = 128;

/// A score and a label, 1 or 0, for each row.
pub struct Scores {
    pub scores: Vec<f64>,
    pub labels: Vec<u8>,
    /// What was read to find the columns.
    pub first_lines: RawTable,
}

/// Counts such a file without keeping its rows. Labels are 1 and 0, or `positive` and any others; one class will do.
pub fn count(
    path: &Path,
    options: &ReadOptions,
    columns: impl Fn(&[String]) -> Option<(usize, usize)>,
    positive: Option<&str>,
) -> Option<(State, RawTable)> {
    let positive = positive.map(str::parse::<f64>).transpose().ok()?;
    let (mut state, mut scores, mut labels) = (State::new(), Vec::with_capacity(PIECE), Vec::with_capacity(PIECE));
    let first_lines = read_from(path, options, columns, |label, score| {
        labels.push(class(number(label)?, positive)?);
        scores.push(score);
        if scores.len() == PIECE {
            state.update(&scores, &labels, &[]).ok()?;
            scores.clear();
            labels.clear();
        }
        Some(())
    })?;
    state.update(&scores, &labels, &[]).ok()?;
    Some((state, first_lines))
}

/// Why no more rows come.
pub enum Stop {
    /// This file is not for reading line by line.
    Other,
    Open(CliError),
    Read(io::Error),
    Head(DataError),
    /// No label or no score among these columns.
    Columns(Box<RawTable>),
    /// Not a row, by the number of its line.
    Line(u64),
}

/// Calls `take` with pieces of the scores and labels of a file or of stdin, of any length. Labels are 1 and 0, or `positive`, which may
/// be a word, and any others. Cells may have quotes around them.
pub fn stream(
    path: &Path,
    options: &ReadOptions,
    columns: impl Fn(&[String]) -> Option<(usize, usize)>,
    positive: Option<&str>,
    mut take: impl FnMut(&[f64], &[u8]) -> undercurve::Result<()>,
) -> Result<RawTable, Stop> {
    let (mut scores, mut labels) = (Vec::with_capacity(PIECE), Vec::with_capacity(PIECE));
    let as_number = positive.and_then(number);
    let class_of = |label: &str| match positive {
        Some(_) if label.is_empty() => None,
        Some(positive) => Some(u8::from(label == positive || (as_number.is_some() && number(label) == as_number))),
        None => class(number(label)?, None),
    };
    let mut options = options.clone();
    let reader = input::open(path, &mut options).map_err(Stop::Open)?;
    let add = |label: &str, score: f64| {
        labels.push(class_of(label)?);
        scores.push(score);
        if scores.len() == PIECE {
            take(&scores, &labels).ok()?;
            scores.clear();
            labels.clear();
        }
        Some(())
    };
    let first_lines = read_lines(
        BufReader::with_capacity(1 << 16, reader),
        &options,
        columns,
        Some(&path.display().to_string()),
        add,
    )?;
    take(&scores, &labels).map_err(|_| Stop::Other)?;
    Ok(first_lines)
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// The label of a number: 1 for the positive one, else 0; without one named, 1 and 0 themselves and no others.
pub fn class(label: f64, positive: Option<f64>) -> Option<u8> {
    match positive {
        Some(positive) => Some(u8::from(label == positive)),
        None if label == 0.0 || label == 1.0 => Some(label as u8),
        None => None,
    }
}

/// Reads `path`; `columns` finds the places of label and score among the names, `positive` is the label that counts as
/// positive if it is not the larger of two. `None` when the file is not plain enough.
pub fn read(
    path: &Path,
    options: &ReadOptions,
    columns: impl Fn(&[String]) -> Option<(usize, usize)>,
    positive: Option<&str>,
) -> Option<Scores> {
    let positive = positive.map(str::parse::<f64>).transpose().ok()?;
    let mut found = Found { positive, ..Found::default() };
    let first_lines = read_from(path, options, columns, |label, score| found.add(number(label)?, score))?;
    found.finish(first_lines)
}

fn read_from(
    path: &Path,
    options: &ReadOptions,
    columns: impl Fn(&[String]) -> Option<(usize, usize)>,
    add: impl FnMut(&str, f64) -> Option<()>,
) -> Option<RawTable> {
    // What cannot be read twice is left to the other reader at once.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut options = options.clone();
    let reader = input::open(path, &mut options).ok()?;
    read_lines(BufReader::with_capacity(1 << 16, reader), &options, columns, None, add).ok()
}

/// Calls `add` with each label and score; what was read to find the columns. `alone`: the file's name, where what is not so plain is
/// left to no other reader.
fn read_lines(
    mut input: impl BufRead,
    options: &ReadOptions,
    columns: impl Fn(&[String]) -> Option<(usize, usize)>,
    alone: Option<&str>,
    mut add: impl FnMut(&str, f64) -> Option<()>,
) -> Result<RawTable, Stop> {
    let (mut head, mut lines) = (Vec::new(), 0);
    while lines < HEAD {
        let start = head.len();
        if input.read_until(b'\n', &mut head).map_err(Stop::Read)? == 0 {
            break;
        }
        lines += usize::from(!head[start..].trim_ascii().is_empty());
    }
    let table = RawTable::parse_with(&head, options, alone.unwrap_or_default()).map_err(Stop::Head)?;
    let alone = alone.is_some();
    let names = table.columns();
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head);
    let first = head.split(|&b| b == b'\n').find(|line| !line.trim_ascii().is_empty()).ok_or(Stop::Other)?;
    // The delimiter that makes as many columns as were found, if there is only one such.
    let count = |delimiter: u8| first.iter().filter(|&&b| b == delimiter).count() + 1;
    let mut fitting = b"\t;,".iter().copied().filter(|&delimiter| count(delimiter) == names.len());
    let (Some(delimiter), None) = (fitting.next(), fitting.next()) else { return Err(Stop::Other) };
    let Some((label, score)) = columns(&names) else { return Err(Stop::Columns(Box::new(table))) };
    let row = Row { delimiter, width: names.len(), label, score, alone };

    let (mut header, mut at) = (table.has_header(), 0);
    let mut take = |line: &[u8]| -> Result<(), Stop> {
        at += 1;
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mut taken = || {
            if line.iter().any(|&b| (b == b'"' && !alone) || (b < 32 && b != b'\t')) {
                return None;
            }
            if line.trim_ascii().is_empty() {
                return (!line.contains(&delimiter)).then_some(());
            }
            if std::mem::take(&mut header) {
                return Some(());
            }
            row.read(std::str::from_utf8(line).ok()?, &mut add)
        };
        taken().ok_or(Stop::Line(at))
    };
    head.split_inclusive(|&b| b == b'\n').try_for_each(&mut take)?;
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line).map_err(Stop::Read)? == 0 {
            break;
        }
        take(&line)?;
    }
    Ok(table)
}

/// How a line is made.
struct Row {
    delimiter: u8,
    width: usize,
    label: usize,
    score: usize,
    /// Whether quotes are taken away, and other columns are not looked at.
    alone: bool,
}

impl Row {
    /// Calls `add` with the label and the score, which is finite; `None` for anything else.
    fn read(&self, line: &str, add: &mut impl FnMut(&str, f64) -> Option<()>) -> Option<()> {
        if self.alone && line.contains('"') {
            return self.quoted(line, add);
        }
        let (mut label, mut score, mut cells) = (None, None, 0);
        for (at, cell) in line.split(char::from(self.delimiter)).enumerate() {
            cells += 1;
            let cell = cell.trim_ascii();
            if at == self.label {
                label = Some(cell);
            } else if at == self.score {
                score = Some(number(cell)?);
            } else if !self.alone && cell.parse::<f64>().is_ok_and(|x| !x.is_finite()) {
                return None; // an error if the rest of the column is numbers
            }
        }
        if cells == self.width { add(label?, score?) } else { None }
    }

    /// The same for a line with cells in quotes.
    fn quoted(&self, line: &str, add: &mut impl FnMut(&str, f64) -> Option<()>) -> Option<()> {
        let mut open = false;
        let cells: Vec<&str> = line
            .split(|c| {
                open ^= c == '"';
                !open && c == char::from(self.delimiter)
            })
            .map(|cell| {
                let cell = cell.trim_ascii();
                cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).unwrap_or(cell).trim_ascii()
            })
            .collect();
        if open || cells.len() != self.width {
            return None;
        }
        add(cells.get(self.label)?, number(cells.get(self.score)?)?)
    }
}

/// What has been read.
#[derive(Default)]
struct Found {
    scores: Vec<f64>,
    /// 1 for the named positive label, or for the second label that occurred.
    labels: Vec<u8>,
    positive: Option<f64>,
    /// The first two labels.
    kinds: [Option<f64>; 2],
}

impl Found {
    fn add(&mut self, label: f64, score: f64) -> Option<()> {
        let at = match self.kinds {
            [None, _] => 0,
            [Some(a), _] if a == label => 0,
            [_, None] => 1,
            [_, Some(b)] if b == label => 1,
            // A third label is a negative one, if the positive one is known.
            _ => 2,
        };
        match self.kinds.get_mut(at) {
            Some(kind) => *kind = Some(label),
            None => _ = self.positive?,
        }
        self.labels.push(self.positive.map_or(at as u8, |positive| u8::from(label == positive)));
        self.scores.push(score);
        Some(())
    }

    fn finish(mut self, first_lines: RawTable) -> Option<Scores> {
        let [Some(a), Some(b)] = self.kinds else { return None };
        if self.positive.is_none() && a > b {
            self.labels.iter_mut().for_each(|label| *label ^= 1);
        }
        let Self { scores, labels, .. } = self;
        labels.contains(&1).then_some(Scores { scores, labels, first_lines })
    }
}

#[cfg(test)]
mod tests {
    use super::{Found, Scores, number, read_lines};
    use undercurve::data::ReadOptions;

    fn scores(text: &str, positive: Option<&str>) -> Option<(Vec<f64>, Vec<u8>)> {
        let options = ReadOptions { label: Some("label".to_string()), ..ReadOptions::default() };
        let find = |names: &[String], name: &str| names.iter().position(|other| other == name);
        let columns = |names: &[String]| Some((find(names, "label")?, find(names, "score")?));
        let positive = positive.map(str::parse::<f64>).transpose().ok()?;
        let mut found = Found { positive, ..Found::default() };
        let table =
            read_lines(text.as_bytes(), &options, columns, None, |label, score| found.add(number(label)?, score))
                .ok()?;
        found.finish(table).map(|Scores { scores, labels, .. }| (scores, labels))
    }

    #[test]
    fn plain_numbers_are_read() {
        let want = Some((vec![0.5, -1.0, 2e3], vec![1, 0, 1]));
        assert_eq!(scores("label,score\n1,0.5\n0,-1\n1,2e3\n", None), want);
        assert_eq!(scores("\u{feff}id;score;label\r\na; 0.5;7\r\n\r\nb;-1;3\r\nc;2e3;7", None), want);
        assert_eq!(scores("label\tscore\n3\t0.5\n4\t-1\n3\t2000\n", Some("3")), want);
        assert_eq!(scores("label,score\n2,0.5\n0,-1\n2,2000\n1,4\n", Some("2.0")).unwrap().1, [1, 0, 1, 0]);
    }

    #[test]
    fn everything_else_is_left_to_the_other_reader() {
        for text in [
            "",
            "label,score\n",
            "label,score\n1,0.5\n1,0.6\n",
            "label,score\n1,0.5\n0,\n",
            "label,score\n1,0.5\n0,NaN\n",
            "label,score\n1,0.5\n0,1e999\n",
            "label,score\n1,0.5\n0,x\n",
            "label,score\n1,0.5\nno,1\n",
            "label,score\n1,0.5\n0,1,2\n",
            "label,score\n1,0.5\n0\n",
            "label,score\n1,0.5\n0,\"1\"\n",
            "label,score\n1,0.5\r0,1\n",
            "label,score\n1,0.5\n0,1\n2,1\n",
            "label,score,other\n1,0.5,3\n0,1,inf\n",
            "label,points\n1,0.5\n0,1\n",
            "label,score\n1,0.5\n0,1\u{1}\n",
            "a;b,label,score\n1;1,1,1\n",
        ] {
            assert_eq!(scores(text, None), None, "{text:?}");
        }
        assert_eq!(scores("label,score\n1,0.5\n0,1\n", Some("2")), None);
        assert_eq!(scores("label,score\n1,0.5\n0,1\n", Some("yes")), None);
    }
}
