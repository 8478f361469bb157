//! The name that may have been meant.

/// Letters of a name at most.
const LONGEST: usize = 64;

/// Of these names the one that takes the fewest changes (a letter left out, put in, replaced, or swapped with the next), if they are fewer than half of the letters of
/// the longer of the two; none for names of more than 64 letters.
///
/// ```
/// use undercurve::registry::nearest;
/// assert_eq!(nearest("saop", ["ce", "soap"]), Some("soap"));
/// assert_eq!(nearest("best", ["ce", "soap"]), None);
/// ```
#[must_use]
pub fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = name.chars().count();
    // Changes, of so many letters, of what is found.
    let mut best = (1, 2, None);
    for known in names {
        let most = letters.max(known.chars().count());
        if most <= LONGEST {
            let changes = changes(name, known);
            if changes * best.1 < best.0 * most {
                best = (changes, most, Some(known));
            }
        }
    }
    best.2
}

/// How many changes lead from one to the other, each of at most [`LONGEST`] letters (optimal string alignment).
fn changes(from: &str, to: &str) -> usize {
    let (mut before, mut last, mut row) = ([0; LONGEST + 1], core::array::from_fn(|k| k), [0; LONGEST + 1]);
    let mut above = None;
    for (k, a) in from.chars().enumerate() {
        row[0] = k + 1;
        let mut left = None;
        for (at, b) in to.chars().enumerate() {
            row[at + 1] = (last[at] + usize::from(a != b)).min(last[at + 1] + 1).min(row[at] + 1);
            if at > 0 && above == Some(b) && left == Some(a) {
                row[at + 1] = row[at + 1].min(before[at - 1] + 1);
            }
            left = Some(b);
        }
        above = Some(a);
        [before, last, row] = [last, row, before];
    }
    last[to.chars().count()]
}
