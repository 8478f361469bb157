//! Numbers of a column that are not written as they are called: 1.10, 01 and 1E5, which as labels are others than 1.1, 1 and 100000.

use super::number_text;
use super::reads::is_code;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// So many different ones are told apart; a column of more is none of labels.
const MOST: usize = 256;

/// Such texts, with how often there is each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::data) struct Spellings {
    /// In order.
    counts: Vec<(String, usize)>,
    /// There were too many, and none is kept.
    more: bool,
}

impl Spellings {
    pub fn add(&mut self, text: &str) {
        self.add_times(text, 1);
    }

    #[inline(never)]
    fn add_times(&mut self, text: &str, times: usize) {
        if self.more {
            return;
        }
        match self.counts.binary_search_by(|(known, _)| known.as_str().cmp(text)) {
            Ok(at) => self.counts[at].1 += times,
            Err(at) => self.counts.insert(at, (text.to_string(), times)),
        }
        if self.counts.len() > MOST {
            *self = Self { counts: Vec::new(), more: true };
        }
    }

    pub fn append(&mut self, next: Self) {
        if next.more {
            *self = next;
        } else {
            next.counts.iter().for_each(|(text, times)| self.add_times(text, *times));
        }
    }

    /// Whether some are whole numbers with an exponent, as codes can be.
    pub fn has_codes(&self) -> bool {
        self.counts.iter().any(|(text, _)| text.contains(['e', 'E']) && !text.contains('.'))
    }

    /// Two texts of these numbers that are the same number; `codes`: also of those that are told apart as categories.
    pub fn two(&self, values: &[f64], codes: bool) -> Option<(String, String)> {
        let mut known: Vec<(f64, &str, usize)> = Vec::new();
        for (text, count) in &self.counts {
            let Some(x) = text.parse().ok().filter(|&x| codes || !is_code(text, x)) else { continue };
            if let Some((_, other, _)) = known.iter().find(|one| one.0 == x) {
                return Some(((*other).to_string(), text.clone()));
            }
            known.push((x, text, *count));
        }
        for x in values {
            if let Some((_, text, count)) = known.iter_mut().find(|one| one.0 == *x) {
                match count.checked_sub(1) {
                    Some(left) => *count = left,
                    None => return Some((number_text(*x), (*text).to_string())),
                }
            }
        }
        None
    }
}
