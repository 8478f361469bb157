//! Compressed files: recognised by their first bytes and decompressed as they are read.

#[cfg_attr(not(feature = "zstd"), path = "unpack/zstd_none.rs")]
mod zstd;

mod arff;

use crate::data::error::DataErrorKind;
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;
use flate2::read::MultiGzDecoder;
use std::io::{self, BufReader, Cursor, ErrorKind, Read};

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The bytes of a file or a pipe, unpacked where their first ones say gzip or (with the feature `zstd`) zstd, each also of
/// several members one after the other.
///
/// # Errors
/// Those of the reader, and what is wrong with packed data: then the error has a [`DataErrorKind`] inside.
pub fn unpacked<'a>(reader: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let mut reader = BufReader::with_capacity(1 << 16, reader);
    // (A pipe may give the bytes one by one.)
    let mut start = Vec::new();
    reader.by_ref().take(4).read_to_end(&mut start)?;
    let (gzip, zstd) = (start.starts_with(&GZIP), start == ZSTD);
    let whole = Cursor::new(start).chain(reader);
    let mut plain: Box<dyn Read + 'a> = match (gzip, zstd) {
        (true, _) => Box::new(Gzip(MultiGzDecoder::new(whole))),
        (_, true) => zstd::reader(whole)?,
        _ => Box::new(whole),
    };
    let mut mark = Vec::new();
    plain.by_ref().take(2).read_to_end(&mut mark)?;
    let unit: Option<fn([u8; 2]) -> u16> = match mark[..] {
        [0xff, 0xfe] => Some(u16::from_le_bytes),
        [0xfe, 0xff] => Some(u16::from_be_bytes),
        _ => None,
    };
    if matches!(mark[..], [b'%' | b'@', ..]) {
        plain.read_to_end(&mut mark)?;
        let text = core::str::from_utf8(&mark).ok().and_then(arff::csv).map_or(mark, alloc::string::String::into_bytes);
        return Ok(Box::new(Cursor::new(text)));
    }
    Ok(match unit {
        Some(unit) => Box::new(Utf16 { reader: plain, unit, bytes: Vec::new(), high: None, text: Cursor::default() }),
        None => Box::new(Cursor::new(mark).chain(plain)),
    })
}

/// UTF-16 as UTF-8. What is half a character becomes U+FFFD.
struct Utf16<'a> {
    reader: Box<dyn Read + 'a>,
    unit: fn([u8; 2]) -> u16,
    /// Half a unit.
    bytes: Vec<u8>,
    /// The first of two units.
    high: Option<u16>,
    text: Cursor<Vec<u8>>,
}

impl Read for Utf16<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.text.read(out)?;
            if read > 0 || out.is_empty() {
                return Ok(read);
            }
            let before = self.bytes.len();
            self.reader.by_ref().take(1 << 16).read_to_end(&mut self.bytes)?;
            let end = self.bytes.len() == before;
            let whole = self.bytes.len() / 2 * 2;
            let units = self.bytes[..whole].chunks_exact(2).map(|pair| (self.unit)([pair[0], pair[1]]));
            let mut units: Vec<u16> = self.high.take().into_iter().chain(units).collect();
            self.high = units.pop_if(|unit| !end && matches!(unit, 0xd800..0xdc00));
            self.bytes.drain(..whole);
            if end && units.is_empty() {
                return Ok(0);
            }
            let text = char::decode_utf16(units).map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER));
            self.text = Cursor::new(text.collect::<alloc::string::String>().into_bytes());
        }
    }
}

/// What an error of [`unpacked`], or of what it reads from, says of the file.
pub(super) fn kind(error: &io::Error) -> DataErrorKind {
    let inside = error.get_ref().and_then(|inside| inside.downcast_ref::<Damaged>());
    inside.map_or_else(|| DataErrorKind::Unreadable { text: plain(error) }, |Damaged(kind)| kind.clone())
}

/// An operating system error without its number.
fn plain(error: &io::Error) -> alloc::string::String {
    let mut text = error.to_string();
    if let Some(at) = text.bytes().position(|b| b == b'(') {
        text.truncate(at);
    }
    text.truncate(text.trim_end().len());
    text
}

/// Packed data that cannot be unpacked.
#[derive(Debug)]
struct Damaged(DataErrorKind);

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl core::error::Error for Damaged {}

fn damaged(kind: DataErrorKind) -> io::Error {
    io::Error::other(Damaged(kind))
}

struct Gzip<R: Read>(MultiGzDecoder<R>);

impl<R: Read> Read for Gzip<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => damaged(DataErrorKind::GzipTruncated),
            ErrorKind::InvalidInput | ErrorKind::InvalidData => damaged(DataErrorKind::GzipCorrupt),
            _ => error,
        })
    }
}
