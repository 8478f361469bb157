//! The rows in memory: of each class some, which others replace as they come.

use undercurve::Real;
use undercurve::data::Dataset;
use undercurve::rng::Rng;

/// What random numbers are for.
const FILL: u64 = 0x57e4_0000;
const REPLACE: u64 = 0x57e4_0010;

/// Rows of one class: all of them, or as many as there is room for, each as likely as any other.
struct Class<T> {
    rows: Vec<T>,
    /// Rows that came.
    seen: u64,
    rng: Rng,
}

/// A sample of the rows of both classes.
pub struct Sample<T> {
    cols: usize,
    /// Rows that may be held: of a class half of them, or what the other one leaves.
    room: usize,
    classes: [Class<T>; 2],
}

/// Where a row of a class goes.
enum Place {
    /// To the end.
    New,
    At(usize),
    Nowhere,
}

impl<T: Real> Sample<T> {
    /// None yet.
    pub fn new(seed: u64, room: usize, cols: usize) -> Self {
        let class = |at| Class { rows: Vec::new(), seen: 0, rng: Rng::keyed(seed, FILL, at) };
        Self { cols, room, classes: [class(0), class(1)] }
    }

    /// Takes a row that comes: while there is room it is held, then it takes the place of another with the probability of a uniform
    /// sample. Positives that come late make room among the negatives, and the reverse, up to half.
    pub fn add(&mut self, label: u8, features: &[T]) {
        let (cols, at) = (self.cols, usize::from(label));
        let held = [0, 1].map(|at: usize| self.classes[at].rows.len() / cols);
        let half = self.room / 2;
        let class = &mut self.classes[at];
        class.seen += 1;
        let place = if held[0] + held[1] < self.room {
            Place::New
        } else if held[at] < half.min(class.seen as usize) && held[1 - at] > half {
            // (The sample of the other class stays uniform without any one of its rows.)
            let other = &mut self.classes[1 - at];
            let gone = other.rng.below(held[1 - at] as u32) as usize;
            let last = other.rows.len() - cols;
            other.rows.copy_within(last.., gone * cols);
            other.rows.truncate(last);
            Place::New
        } else {
            let drawn = (class.rng.uniform() * class.seen as f64) as u64;
            if drawn < held[at] as u64 { Place::At(drawn as usize) } else { Place::Nowhere }
        };
        let class = &mut self.classes[at];
        match place {
            Place::New => class.rows.extend_from_slice(features),
            Place::At(row) => class.rows[row * cols..][..cols].copy_from_slice(features),
            Place::Nowhere => {}
        }
    }

    /// Rows that came: negatives and positives.
    pub fn seen(&self) -> [u64; 2] {
        [self.classes[0].seen, self.classes[1].seen]
    }

    /// The rows held, negatives first.
    pub fn into_rows(self) -> undercurve::Result<Dataset<T>> {
        let cols = self.cols;
        let [negatives, positives] = self.classes.map(|class| class.rows);
        let mut labels = vec![0; negatives.len() / cols];
        labels.resize(labels.len() + positives.len() / cols, 1);
        let mut rows = negatives;
        rows.reserve_exact(positives.len());
        rows.extend_from_slice(&positives);
        Dataset::dense(rows, labels, cols)
    }
}

/// Which row in memory gives its place to one that comes.
pub struct Places {
    /// Rows held of each class; 0 where all are.
    held: [u32; 2],
    first: [u32; 2],
    rng: [Rng; 2],
}

impl Places {
    /// Of so many rows of each class, of so many in all.
    pub fn new(seed: u64, held: [u32; 2], all: [u64; 2]) -> Self {
        let part = [0, 1].map(|at: usize| if u64::from(held[at]) < all[at] { held[at] } else { 0 });
        Self { held: part, first: [0, held[0]], rng: [0, 1].map(|at| Rng::keyed(seed, REPLACE, at)) }
    }

    /// Whether all rows are in memory.
    pub fn all(&self) -> bool {
        self.held == [0; 2]
    }

    /// The row that goes for one of this label; none where all are held.
    pub fn next(&mut self, label: u8) -> Option<usize> {
        let at = usize::from(label);
        let held = *self.held.get(at)?;
        (held > 0).then(|| (self.first[at] + self.rng[at].below(held)) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::{Dataset, Places, Sample};

    fn values(data: &Dataset<f64>) -> Vec<f64> {
        let mut all = vec![0.0; data.len()];
        all.iter_mut().enumerate().for_each(|(row, x)| data.rows().copy_row(row, core::slice::from_mut(x)).unwrap());
        all
    }

    fn sample(room: usize, labels: &[u8]) -> (Vec<f64>, usize) {
        let mut sample = Sample::<f64>::new(3, room, 1);
        for (row, &label) in labels.iter().enumerate() {
            sample.add(label, &[row as f64]);
        }
        let data = sample.into_rows().unwrap();
        (values(&data), data.positives())
    }

    #[test]
    fn rows_that_fit_are_held_in_order() {
        assert_eq!(sample(6, &[0, 1, 0, 0, 1]), (vec![0.0, 2.0, 3.0, 1.0, 4.0], 2));
    }

    #[test]
    fn each_class_has_half_or_what_the_other_leaves() {
        let labels = |positives: usize| -> Vec<u8> { (0..1000).map(|row| u8::from(row >= 1000 - positives)).collect() };
        assert_eq!(sample(100, &labels(7)).1, 7);
        assert_eq!(sample(100, &labels(300)).1, 50);
        assert_eq!(sample(100, &labels(990)).1, 90);
        assert_eq!(sample(100, &labels(990)).0.len(), 100);
    }

    #[test]
    fn samples_are_uniform() {
        let mut counts = [0_u32; 10];
        for seed in 0..400 {
            let mut sample = Sample::<f64>::new(seed, 40, 1);
            (0..1000).for_each(|row| sample.add(u8::from(row % 10 == 9), &[f64::from(row)]));
            let data = sample.into_rows().unwrap();
            values(&data).iter().for_each(|row| counts[(row / 100.0) as usize] += 1);
        }
        // 1,600 in the mean, with a deviation of 40.
        assert!(counts.iter().all(|&count| (1420..1780).contains(&count)), "{counts:?}");
    }

    #[test]
    fn places_are_those_of_the_class() {
        let mut places = Places::new(1, [30, 20], [100, 20]);
        assert!((0..200).all(|_| places.next(0).is_some_and(|row| row < 30)) && places.next(1).is_none());
        let mut places = Places::new(1, [30, 20], [30, 90]);
        assert!((0..200).all(|_| places.next(1).is_some_and(|row| (30..50).contains(&row))));
    }
}
