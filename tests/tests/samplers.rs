//! Samplers: each row once an epoch, no row twice in a batch, the right classes and slots, and a cursor that resumes.

use proptest::prelude::*;
use rand_core::{Rng as _, SeedableRng};
use undercurve::Error;
use undercurve::batch::Drawn;
use undercurve::rng::Rng;
use undercurve::sampler::{AnySampler, ByClass, ClassSampler, Classes, Cursor, Sampler, Shuffle, Stratified};

#[derive(Clone, Debug, PartialEq)]
struct Drawing {
    index: Vec<u32>,
    slots: Vec<u32>,
    starts: [u32; 3],
}

fn draw(sampler: &AnySampler, classes: &Classes<'_>, cursor: &mut Cursor, order: &mut [u32]) -> Drawing {
    let (mut index, mut slots) = (vec![0; sampler.rows()], vec![0; sampler.rows()]);
    let starts = sampler.draw(classes, cursor, order, &mut index, &mut slots).unwrap().starts;
    slots.truncate((starts[2] - starts[1]) as usize);
    Drawing { index, slots, starts }
}

proptest! {
    #[test]
    fn draws_are_what_they_promise(
        labels in prop::collection::vec(0..2u8, 4..60),
        stratified: bool,
        a in 1..6u32,
        b in 1..6u32,
        seed: u64,
        stop in 0..30usize,
    ) {
        let mut memory = vec![0; labels.len()];
        let classes = Classes::new(&labels, &mut memory).unwrap();
        let [negatives, positives] = classes.population();
        prop_assume!(!stratified || (positives >= a && negatives >= b));
        prop_assume!(stratified || (a + b) as usize <= labels.len());
        let sampler = if stratified {
            AnySampler::Stratified(Stratified::new(seed, a, b).unwrap())
        } else {
            AnySampler::Shuffle(Shuffle::new(seed, a + b).unwrap())
        };
        let (mut cursor, mut order) = (Cursor::default(), vec![0; labels.len()]);
        sampler.prepare(&classes, &cursor, &mut order).unwrap();
        let mut seen = vec![[0u64; 64]; labels.len()];
        let mut resumed = None;
        for k in 0..30 {
            if k == stop {
                // Somebody else continues from the cursor alone.
                let (mut cursor, mut order) = (cursor, vec![0; labels.len()]);
                sampler.prepare(&classes, &cursor, &mut order).unwrap();
                resumed = Some((0..5).map(|_| draw(&sampler, &classes, &mut cursor, &mut order)).collect::<Vec<_>>());
            }
            let got = draw(&sampler, &classes, &mut cursor, &mut order);
            let [zero, low, rows] = got.starts;
            prop_assert_eq!((zero, rows), (0, a + b));
            prop_assert!(!stratified || low == b);
            for (place, &row) in got.index.iter().enumerate() {
                prop_assert_eq!(u32::from(labels[row as usize]), u32::from(place >= low as usize));
                let epoch = cursor.epoch[usize::from(stratified && labels[row as usize] == 1)];
                seen[row as usize][epoch as usize] += 1;
                prop_assert!(seen[row as usize][epoch as usize] <= 1, "row {row} came twice in epoch {epoch}");
            }
            for (&row, &slot) in got.index[low as usize..].iter().zip(&got.slots) {
                let ordinal = labels[..row as usize].iter().filter(|&&y| y == 1).count();
                prop_assert_eq!(slot as usize, ordinal);
            }
            if let Some(list) = &mut resumed
                && !list.is_empty() {
                prop_assert_eq!(list.remove(0), got);
            }
        }
    }
}

/// An epoch leaves out only what makes no whole batch: where batches divide it, its draws are all the rows.
#[test]
fn batches_that_divide_the_rows_draw_all_of_them_every_epoch() {
    let labels: Vec<u8> = (0..24).map(|k| u8::from(k % 3 == 0)).collect();
    let mut memory = vec![0; 24];
    let classes = Classes::new(&labels, &mut memory).unwrap();
    for sampler in [
        AnySampler::Shuffle(Shuffle::new(5, 6).unwrap()),
        AnySampler::Stratified(Stratified::new(5, 2, 4).unwrap()), // 8 positives and 16 negatives
    ] {
        let (mut cursor, mut order) = (Cursor::default(), vec![0; 24]);
        sampler.prepare(&classes, &cursor, &mut order).unwrap();
        let mut epochs = Vec::new();
        for _ in 0..3 {
            let drawn: Vec<u32> =
                (0..4).flat_map(|_| draw(&sampler, &classes, &mut cursor, &mut order).index).collect();
            let mut sorted = drawn.clone();
            sorted.sort_unstable();
            assert!(sorted.iter().copied().eq(0..24), "{sampler:?}: {drawn:?}");
            epochs.push(drawn);
        }
        assert!(epochs[0] != epochs[1] && epochs[1] != epochs[2], "{sampler:?}: epochs in the same order");
    }
}

/// Classes of one size are not dealt in step: each has a stream of its own.
#[test]
fn classes_are_shuffled_apart() {
    let labels: Vec<u8> = (0..40).map(|k| k % 2).collect();
    let mut memory = vec![0; 40];
    let classes = Classes::new(&labels, &mut memory).unwrap();
    let sampler = AnySampler::Stratified(Stratified::new(5, 20, 20).unwrap());
    let (mut cursor, mut order) = (Cursor::default(), vec![0; 40]);
    sampler.prepare(&classes, &cursor, &mut order).unwrap();
    for _ in 0..3 {
        let got = draw(&sampler, &classes, &mut cursor, &mut order).index;
        assert!((0..20).any(|k| got[k] / 2 != got[20 + k] / 2), "{got:?}");
    }
    let labels: Vec<u32> = (0..40).map(|k| k % 2).collect();
    let (mut rows, mut starts) = (vec![0; 40], vec![0; 3]);
    let by_class = ByClass::new(&labels, &mut rows, &mut starts).unwrap();
    let sampler = ClassSampler::PerClass { seed: 5, rows: 20 };
    let (mut cursor, mut order) = (vec![0; 4], vec![0; 40]);
    sampler.prepare(&by_class, &cursor, &mut order).unwrap();
    for _ in 0..3 {
        let (mut index, mut starts) = (vec![0; 40], vec![0; 3]);
        sampler.draw(&by_class, &mut cursor, &mut order, &mut index, &mut starts).unwrap();
        assert!((0..20).any(|k| index[k] / 2 != index[20 + k] / 2), "{index:?}");
    }
}

#[test]
fn what_cannot_be_drawn_is_an_error() {
    let mut memory = [0; 3];
    let classes = Classes::new(&[0, 1, 0], &mut memory).unwrap();
    let prepare = |sampler: AnySampler| sampler.prepare(&classes, &Cursor::default(), &mut [0; 3]);
    let stratified = |a, b| AnySampler::Stratified(Stratified::new(1, a, b).unwrap());
    assert_eq!(prepare(stratified(2, 1)), Err(Error::Param { what: "positives" }));
    assert_eq!(prepare(stratified(1, 3)), Err(Error::Param { what: "negatives" }));
    assert_eq!(prepare(AnySampler::Shuffle(Shuffle::new(1, 4).unwrap())), Err(Error::Param { what: "batch" }));
    // Cursors of larger data.
    let beyond = |position, sampler: AnySampler| {
        sampler.prepare(&classes, &Cursor { position, ..Cursor::default() }, &mut [0; 3])
    };
    assert_eq!(beyond([2, 1], stratified(1, 1)), Ok(()));
    assert_eq!(beyond([3, 0], stratified(1, 1)), Err(Error::Param { what: "negatives" }));
    assert_eq!(beyond([0, 2], stratified(1, 1)), Err(Error::Param { what: "positives" }));
    assert_eq!(beyond([4, 0], AnySampler::Shuffle(Shuffle::new(1, 1).unwrap())), Err(Error::Param { what: "batch" }));
    assert_eq!(Shuffle::new(1, 0), Err(Error::Param { what: "batch" }));
    assert_eq!(Classes::new(&[0, 2], &mut [0; 2]).map(|c| c.population()), Err(Error::Label { at: 1 }));
    let mut one = [0; 2];
    let classes = Classes::new(&[1, 1], &mut one).unwrap();
    assert_eq!(stratified(1, 1).prepare(&classes, &Cursor::default(), &mut [0; 2]), Err(Error::OneClass));
    let whole = AnySampler::Shuffle(Shuffle::new(1, 2).unwrap());
    assert_eq!(whole.prepare(&classes, &Cursor::default(), &mut [0; 2]), Ok(()));
    let drawn = whole.draw(&classes, &mut Cursor::default(), &mut [0, 1], &mut [0; 2], &mut [0; 2]).unwrap();
    assert_eq!((drawn.starts, drawn.drawn), ([0, 0, 2], Drawn::Uniform));
}

/// The generator is the published one, and its streams never change.
#[test]
fn the_random_stream_is_pinned() {
    let mut ours = Rng::new(42);
    let mut theirs = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(42);
    for _ in 0..1000 {
        assert_eq!(ours.next_u64(), theirs.next_u64());
    }
    let mut resumed = Rng::from_state(ours.state());
    assert_eq!(
        (resumed.next_u32(), resumed.uniform(), resumed.normal()),
        (ours.next_u32(), ours.uniform(), ours.normal())
    );
    let first = |mut rng: Rng| [rng.next_u64(), u64::from(rng.below(1000)), rng.normal().to_bits()];
    assert_eq!(first(Rng::new(1)), PINNED[0]);
    assert_eq!(first(Rng::keyed(1, 2, 3)), PINNED[1]);
    let mut counts = [0u32; 7];
    let mut rng = Rng::new(7);
    (0..70_000).for_each(|_| counts[rng.below(7) as usize] += 1);
    assert!(counts.iter().all(|c| c.abs_diff(10_000) < 400), "{counts:?}");
    assert_eq!(rng.below(0), 0);
}

/// Three draws from each of two streams. They must never change: a seed is an interface.
const PINNED: [[u64; 3]; 2] =
    [[14971601782005023387, 747, 13800820128701426698], [12067005190502232639, 48, 4611213912439356163]];
