//! Options that several subcommands share: as they are typed, and, checked, what is made of them.

pub mod candidates;
pub mod data;
pub mod decide;
pub mod device;
pub mod grid;
pub mod layout;
pub mod many;
pub mod method;
pub mod schema;
pub mod train;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A word of an option, what it says, and what it stands for.
pub type Word<T> = (&'static str, &'static str, T);

/// One of these words, for clap.
pub fn words<T: Clone + Send + Sync>(words: &'static [Word<T>]) -> impl TypedValueParser<Value = T> {
    let shown = words.iter().map(|(word, about, _)| PossibleValue::new(*word).help(*about));
    PossibleValuesParser::new(shown).try_map(|text| {
        let found = words.iter().find(|(word, ..)| *word == text);
        found.map(|(.., value)| value.clone()).ok_or("no such word")
    })
}
