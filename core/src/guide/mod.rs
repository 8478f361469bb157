//! A guide in five pages: [which method](which_method), [your own model](own_model), [imbalanced data without fooling
//! yourself](imbalanced_data), [`deploying`] and [what the same bits mean](same_bits).
//!
//! It is part of the documentation alone. Every command and every example in it is run by the tests.

#[doc = include_str!("which_method.md")]
pub mod which_method {}
#[doc = include_str!("own_model.md")]
pub mod own_model {}
#[doc = include_str!("imbalanced_data.md")]
pub mod imbalanced_data {}
#[doc = include_str!("deploying.md")]
pub mod deploying {}
#[doc = include_str!("same_bits.md")]
pub mod same_bits {}
