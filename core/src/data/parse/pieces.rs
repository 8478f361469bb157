//! A text that arrives in pieces, cut at line ends.

use super::csv;
use super::{MAX_LINE, MAX_TEXT, ReadOptions, TOO_LARGE};
use crate::data::error::{DataErrorKind, Placed, whole};
use alloc::vec::Vec;
use memchr::{memchr, memrchr, memrchr2};

/// Where in a CSV text the scan for a line's end is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Place {
    /// A cell begins.
    #[default]
    Start,
    /// In one without quotes.
    Plain,
    Quoted,
    /// After a quote in a quoted cell: its end, or the first of two.
    Quote,
}

/// What has come and is not yet taken. A text without line feeds is one piece.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    pending: Vec<u8>,
    scanned: usize,
    place: Place,
    /// Bytes of `pending` up to the last end of a line.
    ready: usize,
    /// Lines before those of `pending`.
    pub lines: u32,
    /// There were enough lines to tell what the text is; until then, how many bytes there are when they are counted again.
    begun: bool,
    count_at: usize,
    /// Lines that are still to be left out.
    skip: u32,
    /// The last lines, which are left out.
    skip_end: u32,
    /// Bytes since the last end of a line.
    line: usize,
}

/// Some whole lines.
pub(super) struct Piece {
    pub bytes: Vec<u8>,
    /// Lines before them.
    pub before: u32,
}

impl Pieces {
    /// Without the first and the last lines.
    pub fn of(options: &ReadOptions) -> Self {
        Self { skip: options.skip, skip_end: options.skip_end, ..Self::default() }
    }

    /// Where the last lines of so many bytes begin.
    fn without_end(&self, bytes: usize) -> usize {
        let mut end = bytes;
        for _ in 0..self.skip_end {
            let there = self.pending[..end].trim_ascii_end();
            end = memrchr(b'\n', there).map_or(0, |at| at + 1);
        }
        end
    }

    /// Takes bytes. True once there are enough lines to tell what the text is: as many as are looked at.
    pub fn push(&mut self, bytes: &[u8]) -> Result<bool, Placed> {
        if bytes.len() > MAX_TEXT - self.pending.len().min(MAX_TEXT) {
            return Err(whole(TOO_LARGE));
        }
        self.line = match memrchr2(b'\n', b'\r', bytes) {
            Some(at) => bytes.len() - at - 1,
            None => self.line + bytes.len(),
        };
        if self.line > MAX_LINE {
            return Err(whole(DataErrorKind::TooLarge {
                what: "a line of more than 128 MiB (a table has a line for each row)",
            }));
        }
        self.pending.extend_from_slice(bytes);
        while self.skip > 0 {
            let Some(end) = memchr(b'\n', &self.pending) else { return Ok(false) };
            self.pending.drain(..=end);
            (self.skip, self.lines) = (self.skip - 1, self.lines + 1);
        }
        if !self.begun && self.pending.len() >= self.count_at {
            self.count_at = 2 * self.pending.len();
            self.begun = csv::has_lines(&self.pending);
        }
        Ok(self.begun)
    }

    /// What is there so far.
    pub fn pending(&self) -> &[u8] {
        &self.pending
    }

    /// The lines that are whole, by the rules of the tokeniser where there is a delimiter; `None` where there are none.
    pub fn lines(&mut self, delimiter: Option<u8>) -> Option<Piece> {
        while self.scanned < self.pending.len() {
            let from = self.scanned;
            let rest = &self.pending[from..];
            let quote = delimiter.and_then(|_| memchr(b'"', rest));
            let before = &rest[..quote.unwrap_or(rest.len())];
            self.scanned += before.len() + usize::from(quote.is_some());
            if self.place == Place::Quoted {
                if quote.is_some() {
                    self.place = Place::Quote;
                }
                continue;
            }
            if let Some(end) = memrchr(b'\n', before) {
                self.ready = from + end + 1;
            }
            self.place = match before.last() {
                None => self.place,
                Some(&b) if matches!(b, b'\n' | b'\r') || delimiter == Some(b) => Place::Start,
                Some(_) => Place::Plain,
            };
            if quote.is_some() && self.place != Place::Plain {
                self.place = Place::Quoted;
            }
        }
        let ready = self.without_end(self.ready);
        (ready > 0).then(|| self.cut(ready))
    }

    /// All that is left.
    pub fn rest(&mut self) -> Piece {
        if self.skip > 0 {
            self.pending.clear();
        }
        let end = self.without_end(self.pending.len());
        self.pending.truncate(end);
        self.cut(end)
    }

    fn cut(&mut self, count: usize) -> Piece {
        let rest = self.pending.split_off(count);
        let bytes = core::mem::replace(&mut self.pending, rest);
        (self.scanned, self.ready) = (self.scanned.saturating_sub(count), self.ready.saturating_sub(count));
        let before = self.lines;
        self.lines = before.saturating_add(csv::line_ends(&bytes, 0..bytes.len()) as u32);
        Piece { bytes, before }
    }
}
