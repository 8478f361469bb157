//! Which of two words is the positive label.

/// Words for the positive class, each beside its contrary.
const CONTRARIES: [[&str; 2]; 5] = [["yes", "no"], ["true", "false"], ["positive", "negative"], ["y", "n"], ["t", "f"]];

/// Whether of two words the first is the positive label: yes, true or positive beside its contrary, else the rarer, of so many rows each.
///
/// ```
/// use undercurve::data::first_is_positive;
/// assert!(first_is_positive(["yes", "no"], [9.0, 1.0]) && first_is_positive(["fraud", "fine"], [1.0, 9.0]));
/// ```
#[must_use]
pub fn first_is_positive([first, second]: [&str; 2], [rows, others]: [f64; 2]) -> bool {
    let is = |a: &str, b: &str| first.eq_ignore_ascii_case(a) && second.eq_ignore_ascii_case(b);
    let one = CONTRARIES.iter().find(|[positive, negative]| is(positive, negative) || is(negative, positive));
    one.map_or(rows < others, |[positive, negative]| is(positive, negative))
}
