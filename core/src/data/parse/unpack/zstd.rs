//! Unpacks zstd.

use super::{DataErrorKind, damaged};
use alloc::boxed::Box;
use std::io::{self, BufRead, BufReader, Read};
use zstd_decoder::decoding::{FrameDecoder, StreamingDecoder};

/// The frames of a zstd file, one after the other.
struct Frames<R: Read> {
    source: Option<BufReader<R>>,
    frame: Option<Box<StreamingDecoder<BufReader<R>, FrameDecoder>>>,
}

impl<R: Read> Frames<R> {
    fn new(reader: R) -> Self {
        Self { source: Some(BufReader::with_capacity(1 << 16, reader)), frame: None }
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let failed = || damaged(DataErrorKind::ZstdDamaged);
        loop {
            if let Some(mut source) = self.source.take() {
                if source.fill_buf()?.is_empty() {
                    self.source = Some(source);
                    return Ok(0);
                }
                self.frame = Some(Box::new(StreamingDecoder::new(source).map_err(|_| failed())?));
            }
            let Some(frame) = &mut self.frame else { return Ok(0) };
            match frame.read(out).map_err(|_| failed())? {
                0 if !out.is_empty() => self.source = self.frame.take().map(|frame| frame.into_inner()),
                read => return Ok(read),
            }
        }
    }
}

pub(super) fn reader<'a>(reader: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    Ok(Box::new(Frames::new(reader)))
}
