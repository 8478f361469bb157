//! What the columns of training were, which a model keeps.

use super::super::Kind;
use super::super::parse::RawTable;
use super::table;
use crate::checkpoint::{Coded, Reader};
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

/// What the columns of training were.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Kinds {
    /// In order, the label's last; none of rows without names, and of files from before they were kept.
    pub(super) of: Vec<Kind>,
    /// Whether texts had lost the blanks around them, as those of text files have.
    pub(super) trims: bool,
}

impl Kinds {
    /// Of these columns of a table, and its label.
    pub(super) fn new<'a>(
        table: &RawTable,
        names: impl Iterator<Item = &'a String>,
        categorical: &BTreeSet<&str>,
    ) -> Self {
        let places = table::places_of(table);
        let kind = |name: &str, at: usize| table::kind_of(table, at, categorical.contains(name));
        let of = names.map(|name| places.get(name.as_str()).map_or(Kind::Unknown, |&at| kind(name, at))).collect();
        Self { of, trims: table.is_text }
    }

    /// Whether nothing is known, as of files from before they were kept.
    pub(crate) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }
}

impl Coded for Kinds {
    fn write(&self, out: &mut Vec<u8>) {
        self.of.write(out);
        self.trims.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self { of: from.value()?, trims: from.value()? })
    }
}
