//! Batches of several classes: so many rows of each class in epochs of its own, or uniform over all rows.

use super::fill;
use crate::batch::Drawn;
use crate::error::{Error, Result, exact_len};
use crate::registry::settings::Settings;

/// Rows grouped by class: those of class 0 in ascending row order, then those of class 1, and so on.
#[derive(Clone, Copy, Debug)]
pub struct ByClass<'a> {
    order: &'a [u32],
    starts: &'a [u32],
}

impl<'a> ByClass<'a> {
    /// Groups labels (class numbers) into `order`, one entry per row; `starts`, classes + 1 long, becomes where each class
    /// begins in it and where the last one ends.
    ///
    /// # Errors
    /// `Param` (fewer than two classes), `Length`, `Overflow` (more than 2³² − 1 rows), `Label`, `OneClass` (a class
    /// without a row). `order` and `starts` are then as before, but for `OneClass`.
    pub fn new(labels: &[u32], order: &'a mut [u32], starts: &'a mut [u32]) -> Result<Self> {
        if starts.len() < 3 {
            return Err(Error::Param { what: "classes" });
        }
        exact_len("order", labels.len(), order.len())?;
        if u32::try_from(labels.len()).is_err() {
            return Err(Error::Overflow { what: "rows" });
        }
        let classes = starts.len() - 1;
        if let Some(at) = labels.iter().position(|&label| label as usize >= classes) {
            return Err(Error::Label { at });
        }
        starts.fill(0);
        for &label in labels {
            starts[label as usize + 1] += 1;
        }
        if starts[1..].contains(&0) {
            return Err(Error::OneClass);
        }
        for class in 0..classes {
            starts[class + 1] += starts[class];
        }
        // Filling moves every start to the next one; afterwards they move back.
        for (row, &label) in labels.iter().enumerate() {
            let place = &mut starts[label as usize];
            order[*place as usize] = row as u32;
            *place += 1;
        }
        starts.copy_within(..classes, 1);
        starts[0] = 0;
        Ok(Self { order, starts })
    }

    /// What [`ByClass::new`] made before.
    ///
    /// # Errors
    /// `Param` when the two do not fit each other.
    pub fn from_order(order: &'a [u32], starts: &'a [u32]) -> Result<Self> {
        let whole = starts.first() == Some(&0) && starts.last().is_some_and(|&end| end as usize == order.len());
        if whole && starts.len() >= 3 && starts.is_sorted() {
            Ok(Self { order, starts })
        } else {
            Err(Error::Param { what: "starts" })
        }
    }

    /// Row numbers, class by class.
    #[must_use]
    pub fn order(&self) -> &'a [u32] {
        self.order
    }
    /// Where each class begins in them, and where the last one ends.
    #[must_use]
    pub fn starts(&self) -> &'a [u32] {
        self.starts
    }
    /// Number of classes.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.starts.len() - 1
    }

    fn size(&self, class: usize) -> u32 {
        self.starts[class + 1] - self.starts[class]
    }
}

/// Chooses the rows of batches of several classes. A cursor is [`cursor_len`](Self::cursor_len) numbers, 0 at the start:
/// the epoch of every cycle, then the items drawn in it. The order of an epoch is a function of the seed and the epoch's
/// number alone. `order` is one entry per row, filled by [`prepare`](Self::prepare), also after a resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClassSampler {
    /// So many rows of every class, or all of a class that has fewer.
    PerClass {
        /// Of the orders.
        seed: u64,
        /// Rows of each class, at least 1.
        rows: u32,
    },
    /// Uniformly over all rows, each once an epoch.
    Uniform {
        /// Of the orders.
        seed: u64,
        /// Rows a batch, at least 1 and at most all.
        batch: u32,
    },
}

impl ClassSampler {
    /// Of settings, for so many rows; batches shrink to what there is.
    ///
    /// # Errors
    /// `Param`, `Empty`, `Overflow`.
    pub fn from_settings(settings: &Settings<'_>, rows: usize) -> Result<Self> {
        let most = u32::try_from(rows).map_err(|_| Error::Overflow { what: "rows" })?;
        if most == 0 {
            return Err(Error::Empty { what: "rows" });
        }
        let (seed, at_most) =
            (settings.seed(), |name| Ok::<_, Error>(settings.count(name)?.min(u64::from(most)) as u32));
        Ok(match settings.word("sampling")? == "uniform" {
            true => Self::Uniform { seed, batch: at_most("batch")? },
            false => Self::PerClass { seed, rows: at_most("per-class")? },
        })
    }

    /// Numbers of a cursor.
    #[must_use]
    pub fn cursor_len(classes: usize) -> usize {
        2 * classes
    }

    /// Rows of a batch.
    #[must_use]
    pub fn rows(&self, by_class: &ByClass<'_>) -> usize {
        match *self {
            Self::Uniform { batch, .. } => batch as usize,
            Self::PerClass { rows, .. } => {
                (0..by_class.classes()).map(|class| rows.min(by_class.size(class)) as usize).sum()
            }
        }
    }

    /// Fills `order` for the cursor.
    ///
    /// # Errors
    /// `Length`, `Param` (a batch without rows or larger than the data, a cursor of other data).
    pub fn prepare(&self, by_class: &ByClass<'_>, cursor: &[u64], order: &mut [u32]) -> Result<()> {
        self.check(by_class, cursor, order)?;
        let (epochs, _) = cursor.split_at(by_class.classes());
        match *self {
            Self::Uniform { seed, .. } => fill(seed, 0, epochs[0], order),
            Self::PerClass { seed, .. } => {
                for class in 0..by_class.classes() {
                    let own = by_class.starts[class] as usize..by_class.starts[class + 1] as usize;
                    fill(seed, class, epochs[class], &mut order[own]);
                }
            }
        }
        Ok(())
    }

    fn check(&self, by_class: &ByClass<'_>, cursor: &[u64], order: &[u32]) -> Result<()> {
        let classes = by_class.classes();
        exact_len("cursor", Self::cursor_len(classes), cursor.len())?;
        exact_len("order", by_class.order.len(), order.len())?;
        let drawn = &cursor[classes..];
        match *self {
            Self::Uniform { batch, .. } => {
                if batch == 0 || batch as usize > order.len() || drawn[0] > order.len() as u64 {
                    return Err(Error::Param { what: "batch" });
                }
            }
            Self::PerClass { rows, .. } => {
                if rows == 0 || (0..classes).any(|class| drawn[class] > u64::from(by_class.size(class))) {
                    return Err(Error::Param { what: "per-class" });
                }
            }
        }
        Ok(())
    }

    /// Draws the next batch: row numbers into `index`, [`rows`](Self::rows) long, class by class, and where each class
    /// begins in it into `starts`, classes + 1 long (a uniform batch may lack some).
    ///
    /// # Errors
    /// `Length`, and as [`prepare`](Self::prepare). Nothing has changed then.
    pub fn draw(
        &self,
        by_class: &ByClass<'_>,
        cursor: &mut [u64],
        order: &mut [u32],
        index: &mut [u32],
        starts: &mut [u32],
    ) -> Result<Drawn> {
        self.check(by_class, cursor, order)?;
        exact_len("index", self.rows(by_class), index.len())?;
        exact_len("starts", by_class.starts.len(), starts.len())?;
        let classes = by_class.classes();
        let (epochs, drawn) = cursor.split_at_mut(classes);
        match *self {
            Self::PerClass { seed, rows } => {
                let mut at = 0;
                for class in 0..classes {
                    let own = by_class.starts[class] as usize..by_class.starts[class + 1] as usize;
                    let take = rows.min(by_class.size(class)) as usize;
                    let members = &by_class.order[own.clone()];
                    let items = advance(seed, class, take, &mut epochs[class], &mut drawn[class], &mut order[own]);
                    starts[class] = at as u32;
                    for (index, &item) in index[at..at + take].iter_mut().zip(items) {
                        *index = members[item as usize];
                    }
                    at += take;
                }
                starts[classes] = at as u32;
                Ok(Drawn::Stratified)
            }
            Self::Uniform { seed, batch } => {
                let items = advance(seed, 0, batch as usize, &mut epochs[0], &mut drawn[0], order);
                // An item numbers a row in class order, so it tells its class.
                let class_of = |item: u32| by_class.starts.partition_point(|&start| start <= item) - 1;
                starts.fill(0);
                for &item in items {
                    starts[class_of(item) + 1] += 1;
                }
                for class in 0..classes {
                    starts[class + 1] += starts[class];
                }
                for &item in items {
                    let place = &mut starts[class_of(item)];
                    index[*place as usize] = by_class.order[item as usize];
                    *place += 1;
                }
                starts.copy_within(..classes, 1);
                starts[0] = 0;
                Ok(Drawn::Uniform)
            }
        }
    }
}

/// The next `take` items of a cycle. A rest smaller than that is left out and a new epoch begins, so that a batch never
/// holds an item twice.
fn advance<'o>(
    seed: u64,
    cycle: usize,
    take: usize,
    epoch: &mut u64,
    drawn: &mut u64,
    order: &'o mut [u32],
) -> &'o [u32] {
    let mut start = *drawn as usize;
    if start + take > order.len() {
        *epoch = epoch.wrapping_add(1);
        fill(seed, cycle, *epoch, order);
        start = 0;
    }
    *drawn = (start + take) as u64;
    &order[start..start + take]
}
