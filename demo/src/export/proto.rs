//! Messages of protocol buffers, written in the order of their fields. The numbers of fields are those of onnx.proto (IR version 8).

use std::vec::Vec;

/// Element types of `TensorProto.DataType`.
pub mod element {
    pub const FLOAT: i64 = 1;
    pub const INT64: i64 = 7;
    pub const STRING: i64 = 8;
    pub const BOOL: i64 = 9;
    pub const DOUBLE: i64 = 11;
}

/// A message.
#[derive(Default)]
pub struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut x: u64) {
        while x >= 0x80 {
            self.0.push(x as u8 | 0x80);
            x >>= 7;
        }
        self.0.push(x as u8);
    }

    /// With a number.
    pub fn number(mut self, field: u64, x: i64) -> Self {
        self.varint(field << 3);
        self.varint(x as u64);
        self
    }

    /// With bytes.
    pub fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// With text; an empty one is left out, as readers take what is not there.
    pub fn text(self, field: u64, text: &str) -> Self {
        if text.is_empty() { self } else { self.bytes(field, text.as_bytes()) }
    }

    /// With a message.
    pub fn message(self, field: u64, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }

    /// With the bytes of each.
    pub fn each(self, field: u64, all: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        all.into_iter().fold(self, |message, bytes| message.bytes(field, bytes.as_ref()))
    }

    /// With a list of numbers, one by one: onnx.proto is of proto2, whose lists are not packed, and some readers know no other.
    pub fn numbers(self, field: u64, all: &[usize]) -> Self {
        all.iter().fold(self, |message, &x| message.number(field, x as i64))
    }

    /// The bytes.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}

impl AsRef<[u8]> for Message {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
