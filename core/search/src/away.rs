//! Columns that give the label away.

use undercurve::data::{ColumnValues, RawTable};

/// An AUROC from which on a column alone gives the label away.
pub const AWAY: f64 = 0.99;
/// Rows, and rows of each class, below which that may be chance.
const LEAST: [usize; 2] = [50, 10];

/// The AUROC of a column alone: of numbers either way, of categories by the share of positives that the other half of the rows
/// has in each, and of what is missing.
#[must_use]
pub fn column_auroc(table: &RawTable, at: usize, labels: &[u8]) -> Option<f64> {
    let positives = labels.iter().filter(|&&label| label == 1).count();
    if labels.len() < LEAST[0] || positives.min(labels.len() - positives) < LEAST[1] {
        return None;
    }
    let (own, gone): (Vec<f64>, Vec<f64>) = match table.column(at)? {
        ColumnValues::Numbers(values) => {
            let there: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
            let mean = there.iter().sum::<f64>() / (there.len() as f64).max(1.0);
            let each = values.iter().map(|&x| if x.is_nan() { (mean, 1.0) } else { (x, 0.0) });
            each.unzip()
        }
        ColumnValues::Texts { values, codes } => {
            let none = values.len();
            let code = |code: u32| if code as usize >= none { none } else { code as usize };
            let mut sums = vec![[[0.0; 2]; 2]; none + 1];
            for (row, (&of, &label)) in codes.iter().zip(labels).enumerate() {
                sums[code(of)][row % 2][0] += f64::from(label);
                sums[code(of)][row % 2][1] += 1.0;
            }
            let base = positives as f64 / labels.len() as f64;
            let share = |row: usize, of: u32| {
                let [positive, all] = sums[code(of)][1 - row % 2];
                (positive + base) / (all + 1.0)
            };
            let each = codes.iter().enumerate().map(|(row, &of)| (share(row, of), f64::from(code(of) == none)));
            each.unzip()
        }
        _ => return None,
    };
    [own, gone].into_iter().map(|scores| auroc(&scores, labels)).map(|x| x.max(1.0 - x)).reduce(f64::max)
}

/// The AUROC of scores without NaN, of both classes. (That of `Metrics` would be 2 KB more of the module that a page reads files with.)
fn auroc(scores: &[f64], labels: &[u8]) -> f64 {
    let of = |one| scores.iter().zip(labels).filter(move |row| *row.1 == one).map(|row| *row.0);
    let mut positives: Vec<f64> = of(1).collect();
    positives.sort_unstable_by(f64::total_cmp);
    let behind = |x: f64| positives.partition_point(|&p| p < x) + positives.partition_point(|&p| p <= x);
    let (pairs, lost) = of(0).fold((0, 0), |(pairs, lost), x| (pairs + positives.len(), lost + behind(x)));
    1.0 - lost as f64 / (2.0 * pairs as f64)
}
