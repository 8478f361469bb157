//! A guide: [`start`], [what a cell says](cells), [which method](which_method), [your own model](own_model), [imbalanced data](imbalanced_data), [groups and
//! constraints](groups), [`deploying`], [the same bits](same_bits), [results and limits](limits), [other programs' numbers](other_numbers), [`javascript`], [`python`], [the page](page), [many machines](many_machines) and a [`glossary`].
//!
//! It is part of the documentation alone. Tests run every command and every example.

// A page ends with its links as files, for readers of the repository. In rustdoc the first definition of a link counts: links.txt.
#[doc = include_str!("links.txt")]
#[doc = include_str!("start.md")]
pub mod start {}
#[doc = include_str!("links.txt")]
#[doc = include_str!("cells.md")]
pub mod cells {}
#[doc = include_str!("links.txt")]
#[doc = include_str!("which_method.md")]
pub mod which_method {}
#[doc = include_str!("links.txt")]
#[doc = include_str!("own_model.md")]
pub mod own_model {}
#[doc = include_str!("links.txt")]
#[doc = include_str!("imbalanced_data.md")]
pub mod imbalanced_data {}
#[doc = include_str!("links.txt")]
#[doc = include_str!("groups.md")]
pub mod groups {}
#[doc = include_str!("links.txt")]
#[doc = include_str!("deploying.md")]
pub mod deploying {}
#[doc = include_str!("links.txt")]
#[doc = include_str!("same_bits.md")]
pub mod same_bits {}
#[doc = include_str!("links.txt")]
#[doc = include_str!("limits.md")]
pub mod limits {}
#[doc = include_str!("links.txt")]
#[doc = include_str!("other_numbers.md")]
pub mod other_numbers {}
#[doc = include_str!("links.txt")]
#[doc = include_str!("javascript.md")]
pub mod javascript {}
#[doc = include_str!("links.txt")]
#[doc = include_str!("python.md")]
pub mod python {}
#[doc = include_str!("links.txt")]
#[doc = include_str!("page.md")]
pub mod page {}
#[doc = include_str!("links.txt")]
#[doc = include_str!("many_machines.md")]
pub mod many_machines {}
#[doc = include_str!("links.txt")]
#[doc = include_str!("glossary.md")]
pub mod glossary {}
