//! LIBSVM text: `label index:value index:value …`, one row a line; behind the label, in every row or in none, `qid:number`.

use super::super::error::{DataErrorKind, Placed, whole};
use super::Content;
use crate::data::MAX_COLUMNS;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

/// Rows in the making.
#[derive(Clone, Debug)]
pub(super) struct Making {
    labels: Vec<f64>,
    ptr: Vec<usize>,
    col: Vec<u32>,
    val: Vec<f64>,
    cols: usize,
    queries: Vec<u64>,
    lines: Vec<u32>,
}

impl Making {
    pub fn new() -> Self {
        Self {
            labels: Vec::new(),
            ptr: vec![0],
            col: Vec::new(),
            val: Vec::new(),
            cols: 0,
            queries: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// Takes the rows of some lines with `before` lines before them. Unless they are `labelled` they may come without a label:
    /// their first token is a pair. The line of an error is counted from there.
    pub fn push(&mut self, text: &str, labelled: bool, before: u32) -> Result<(), Placed> {
        rows(text, labelled, before, self)
    }

    pub fn finish(self) -> Result<(Content, Vec<u32>), Placed> {
        let Self { labels, ptr, col, val, cols, queries, lines } = self;
        match labels.is_empty() {
            true => Err(whole(DataErrorKind::Empty)),
            false => Ok((Content::Libsvm { labels, ptr, col, val, cols, queries }, lines)),
        }
    }
}

fn rows(text: &str, labelled: bool, before: u32, into: &mut Making) -> Result<(), Placed> {
    let Making { labels, ptr, col, val, cols, queries, lines } = into;
    for (number, line) in text.lines().enumerate() {
        let number = number as u32 + 1;
        let data = line.split_once('#').map_or(line, |(data, _)| data);
        let mut tokens = data.split_ascii_whitespace().zip(1..).peekable();
        let Some(&(first, _)) = tokens.peek() else { continue };
        if labelled || !first.contains(':') {
            labels.push(label(first).map_err(|kind| (number, 1, kind))?);
            tokens.next();
        } else {
            labels.push(f64::NAN);
        }
        let known = queries.len() == labels.len() - 1;
        match tokens.peek().and_then(|&(token, at)| Some((token, token.strip_prefix("qid:")?, at))) {
            Some((token, digits, at)) => {
                let bad = || DataErrorKind::BadToken { text: token.to_string() };
                let query = digits.parse().ok().filter(|_| known);
                queries.push(query.ok_or_else(|| (number, at, bad()))?);
                tokens.next();
            }
            None if queries.is_empty() => {}
            None => return Err((number, 0, DataErrorKind::NoQuery)),
        }
        let mut previous = 0;
        while let Some((token, at)) = tokens.next() {
            // (A number may be set apart: `63: .50`.)
            let apart = token.ends_with(':').then(|| tokens.next_if(|next| !next.0.contains(':'))).flatten();
            let joined = apart.map(|(value, _)| [token, value].concat());
            let (index, value) =
                pair(joined.as_deref().unwrap_or(token), previous).map_err(|kind| (number, at, kind))?;
            col.push(index - 1);
            val.push(value);
            previous = index;
        }
        *cols = (*cols).max(previous as usize);
        ptr.push(col.len());
        lines.push(before.saturating_add(number));
    }
    Ok(())
}

fn label(token: &str) -> Result<f64, DataErrorKind> {
    match token.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        Ok(_) => Err(DataErrorKind::NonFinite { text: token.to_string() }),
        Err(_) => Err(DataErrorKind::BadLabel { text: token.to_string() }),
    }
}

fn pair(token: &str, previous: u32) -> Result<(u32, f64), DataErrorKind> {
    let bad = || DataErrorKind::BadToken { text: token.to_string() };
    let (digits, value) = token.split_once(':').ok_or_else(bad)?;
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(bad());
    }
    let index = match digits.parse::<u32>() {
        Ok(index) if index <= MAX_COLUMNS => index,
        _ => return Err(DataErrorKind::IndexLarge { text: digits.to_string() }),
    };
    if index == 0 {
        return Err(DataErrorKind::IndexZero);
    }
    if index == previous {
        return Err(DataErrorKind::IndexRepeated { index });
    }
    if index < previous {
        return Err(DataErrorKind::IndexDescends { index, previous });
    }
    match value.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok((index, x)),
        Ok(_) => Err(DataErrorKind::NonFinite { text: value.to_string() }),
        Err(_) => Err(bad()),
    }
}
