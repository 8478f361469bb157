//! Which rows are trained on and which held out.

use crate::error::{Error, Result};
use undercurve::data::{Dataset, group_folds};
use undercurve::rng::Rng;

/// The generator's purpose for folds.
const PURPOSE: u64 = 0x666f_6c64;

/// Which rows are trained on and which held out.
pub struct Folds {
    /// The rows of the table that take part, ascending.
    rows: Vec<u32>,
    /// Of every repeat the fold of each of them; where rows are in order, the folds are in order, too, and the first is never held out.
    pub(crate) of: Vec<Vec<usize>>,
    /// Folds a repeat.
    pub count: usize,
    ordered: bool,
    /// Whether scores at random rank all held-out rows without an error less often than 1 time in 40.
    pub(crate) tells: bool,
}

impl Folds {
    /// As many rows of every class in each fold, or one more; rows of a group together; of rows that a column orders, the later held out. At
    /// most so many rows take part, drawn by class.
    ///
    /// # Errors
    /// [`Error::Folds`] where a fold, or what is trained on, would be without a class.
    pub fn new(data: &Dataset<f32>, count: usize, repeats: usize, seed: u64, most: usize) -> Result<Self> {
        let labels = data.labels();
        let all: Vec<u32> = (0..labels.len() as u32).collect();
        let rows = match labels.len() > most {
            true => {
                let share = most as f64 / labels.len() as f64;
                let of = |class: u8| {
                    let mut rows: Vec<u32> = all.iter().copied().filter(|&row| labels[row as usize] == class).collect();
                    Rng::keyed(seed, PURPOSE, 1 << 32 | u64::from(class)).shuffle(&mut rows);
                    let keep = (share * rows.len() as f64).ceil() as usize;
                    rows.truncate(keep);
                    rows
                };
                let mut rows = [of(0), of(1)].concat();
                rows.sort_unstable();
                rows
            }
            false => all,
        };
        let own: Vec<u8> = rows.iter().map(|&row| labels[row as usize]).collect();
        let ordered = !data.split_ranks().is_empty();
        let of = if ordered {
            let ranks: Vec<u32> = rows.iter().map(|&row| data.split_ranks()[row as usize]).collect();
            vec![in_order(&ranks, count)]
        } else if data.split_groups().is_empty() {
            (0..repeats).map(|repeat| by_class(&own, count, seed, repeat)).collect::<Result<_>>()?
        } else {
            let classes: Vec<u32> = own.iter().map(|&label| label.into()).collect();
            let groups: Vec<u32> = rows.iter().map(|&row| data.split_groups()[row as usize]).collect();
            let dealt = |repeat: usize| {
                group_folds(&classes, &groups, count, seed.wrapping_add(repeat as u64))
                    .map(|folds| folds.into_iter().map(|fold| fold as usize).collect())
                    .map_err(|_| refused("there are fewer groups", count))
            };
            (0..repeats).map(dealt).collect::<Result<_>>()?
        };
        let mut folds = Self { rows, of, count, ordered, tells: false };
        let mut orders = 1.0;
        for split in 0..folds.splits() {
            for (held_out, part) in [false, true].into_iter().zip(folds.split(split)) {
                let positives = part.iter().filter(|&&row| labels[row as usize] == 1).count();
                if held_out && split < count {
                    orders *= choices(part.len(), positives);
                }
                if positives == 0 || positives == part.len() {
                    return Err(match count {
                        2 => refused("too few rows: one of the two folds would have no row of one class", count),
                        _ => {
                            refused("a fold, or the rows outside it, would have no row of one class; take fewer", count)
                        }
                    });
                }
            }
        }
        folds.tells = orders > 40.0;
        Ok(folds)
    }

    /// Folds of all repeats.
    #[must_use]
    pub fn splits(&self) -> usize {
        self.count * self.of.len()
    }

    /// The rows that take part, ascending.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The rows to train on, and those held out.
    #[must_use]
    pub fn split(&self, split: usize) -> [Vec<u32>; 2] {
        let (folds, fold) = (&self.of[split / self.count], split % self.count + usize::from(self.ordered));
        let with = |takes: &dyn Fn(usize) -> bool| -> Vec<u32> {
            self.rows.iter().zip(folds).filter(|(_, of)| takes(**of)).map(|(&row, _)| row).collect()
        };
        [with(&|of| if self.ordered { of < fold } else { of != fold }), with(&|of| of == fold)]
    }

    /// What is said of them.
    #[must_use]
    pub fn told(&self) -> String {
        match (self.ordered, self.of.len()) {
            (true, _) => format!("{} folds, each of later rows", self.count),
            (_, 1) => format!("{} folds", self.count),
            (_, repeats) => format!("{repeats} times {} folds", self.count),
        }
    }
}

fn refused(why: impl Into<String>, count: usize) -> Error {
    Error::Folds { count, why: why.into() }
}

/// Folds of equal sizes in the order of the ranks, rows of one rank together, one more than are held out.
fn in_order(ranks: &[u32], count: usize) -> Vec<usize> {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    let parts = count + 1;
    let starts: Vec<u32> = (1..parts).map(|part| sorted[sorted.len() * part / parts]).collect();
    ranks.iter().map(|&rank| starts.partition_point(|&start| start <= rank)).collect()
}

/// n over k, or so many that it does not matter.
fn choices(n: usize, k: usize) -> f64 {
    (1..=k.min(n - k).min(40)).fold(1.0, |all, at| all * (n + 1 - at) as f64 / at as f64)
}

fn by_class(labels: &[u8], count: usize, seed: u64, repeat: usize) -> Result<Vec<usize>> {
    let mut fold = vec![0; labels.len()];
    let mut rng = Rng::keyed(seed, PURPOSE, repeat as u64);
    for class in [0, 1] {
        let mut rows: Vec<usize> = (0..labels.len()).filter(|&row| labels[row] == class).collect();
        if rows.len() < count {
            let word = if class == 1 { "positive" } else { "negative" };
            return Err(refused(format!("there are {} {word} rows", rows.len()), count));
        }
        rng.shuffle(&mut rows);
        rows.iter().enumerate().for_each(|(at, &row)| fold[row] = at % count);
    }
    Ok(fold)
}
