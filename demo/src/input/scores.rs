//! Labels and scores from a file of plain numbers, read as it comes: memory for the numbers alone.
//!
//! What is not so plain (quotes, text, missing or infinite values, rows of other lengths, one class, …) is left to the
//! reader of whole files, which says what is wrong and where. So both give the same numbers, and there is one wording of
//! every error.

use crate::input;
use std::io::{BufRead, BufReader};
use std::path::Path;
use undercurve::data::{RawTable, ReadOptions};
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
        labels.push(class(label, positive)?);
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
    let first_lines = read_from(path, options, columns, |label, score| found.add(label, score))?;
    found.finish(first_lines)
}

fn read_from(
    path: &Path,
    options: &ReadOptions,
    columns: impl Fn(&[String]) -> Option<(usize, usize)>,
    add: impl FnMut(f64, f64) -> Option<()>,
) -> Option<RawTable> {
    // What cannot be read twice is left to the other reader at once.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut options = options.clone();
    let reader = input::open(path, &mut options).ok()?;
    read_lines(BufReader::with_capacity(1 << 16, reader), &options, columns, add)
}

/// Calls `add` with each label and score; what was read to find the columns.
fn read_lines(
    mut input: impl BufRead,
    options: &ReadOptions,
    columns: impl Fn(&[String]) -> Option<(usize, usize)>,
    mut add: impl FnMut(f64, f64) -> Option<()>,
) -> Option<RawTable> {
    let (mut head, mut lines) = (Vec::new(), 0);
    while lines < HEAD {
        let start = head.len();
        if input.read_until(b'\n', &mut head).ok()? == 0 {
            break;
        }
        lines += usize::from(!head[start..].trim_ascii().is_empty());
    }
    let table = RawTable::parse_with(&head, options, "").ok()?;
    let names = table.columns();
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head);
    let first = head.split(|&b| b == b'\n').find(|line| !line.trim_ascii().is_empty())?;
    // The delimiter that makes as many columns as were found, if there is only one such.
    let count = |delimiter: u8| first.iter().filter(|&&b| b == delimiter).count() + 1;
    let mut fitting = b"\t;,".iter().copied().filter(|&delimiter| count(delimiter) == names.len());
    let (delimiter, None) = (fitting.next()?, fitting.next()) else { return None };
    let (label, score) = columns(&names)?;
    let row = Row { delimiter, width: names.len(), label, score };

    let mut header = table.has_header();
    let mut take = |line: &[u8]| -> Option<()> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.iter().any(|&b| b == b'"' || (b < 32 && b != b'\t')) {
            return None;
        }
        if line.trim_ascii().is_empty() {
            return (!line.contains(&delimiter)).then_some(());
        }
        if std::mem::take(&mut header) {
            return Some(());
        }
        let (label, score) = row.numbers(std::str::from_utf8(line).ok()?)?;
        add(label, score)
    };
    head.split_inclusive(|&b| b == b'\n').try_for_each(&mut take)?;
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line).ok()? == 0 {
            break;
        }
        take(&line)?;
    }
    Some(table)
}

/// How a line is made.
struct Row {
    delimiter: u8,
    width: usize,
    label: usize,
    score: usize,
}

impl Row {
    /// Label and score, finite; `None` for anything else.
    fn numbers(&self, line: &str) -> Option<(f64, f64)> {
        let (mut label, mut score, mut cells) = (f64::NAN, f64::NAN, 0);
        for (at, cell) in line.split(char::from(self.delimiter)).enumerate() {
            cells += 1;
            let number = cell.trim_ascii().parse::<f64>();
            if at == self.label {
                label = number.ok()?;
            } else if at == self.score {
                score = number.ok()?;
            } else if number.is_ok_and(|x| !x.is_finite()) {
                return None; // an error if the rest of the column is numbers
            }
        }
        (cells == self.width && label.is_finite() && score.is_finite()).then_some((label, score))
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
    use super::{Found, Scores, read_lines};
    use undercurve::data::ReadOptions;

    fn scores(text: &str, positive: Option<&str>) -> Option<(Vec<f64>, Vec<u8>)> {
        let options = ReadOptions { label: Some("label".to_string()), ..ReadOptions::default() };
        let find = |names: &[String], name: &str| names.iter().position(|other| other == name);
        let columns = |names: &[String]| Some((find(names, "label")?, find(names, "score")?));
        let positive = positive.map(str::parse::<f64>).transpose().ok()?;
        let mut found = Found { positive, ..Found::default() };
        let table = read_lines(text.as_bytes(), &options, columns, |label, score| found.add(label, score))?;
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
