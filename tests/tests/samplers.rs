//! Samplers: each row once an epoch, no row twice in a batch, the right classes and slots, and a cursor that resumes.

use proptest::prelude::*;
use rand_core::{Rng as _, SeedableRng};
use undercurve::Error;
use undercurve::batch::Drawn;
use undercurve::data::Segments;
use undercurve::rng::Rng;
use undercurve::sampler::{AnySampler, Place, Sampler, Shuffle, Stratified};

#[derive(Clone, Debug, PartialEq)]
struct Drawing {
    index: Vec<u32>,
    items: Vec<u32>,
    starts: [u32; 3],
}

fn draw(sampler: &AnySampler, segments: &Segments<'_>, cursor: &mut [u64], order: &mut [u32]) -> Drawing {
    let rows = sampler.rows(segments);
    let (mut index, mut items, mut starts) = (vec![0; rows], vec![0; rows], [0; 3]);
    let to = Place { index: &mut index, items: &mut items, starts: &mut starts };
    sampler.draw(segments, cursor, order, to).unwrap();
    Drawing { index, items, starts }
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
        let (mut memory, mut starts) = (vec![0; labels.len()], [0; 3]);
        let classes = Segments::new(&labels, &mut memory, &mut starts).unwrap();
        let [negatives, positives] = [classes.size(0), classes.size(1)];
        prop_assume!(!stratified || (positives >= a && negatives >= b));
        prop_assume!(stratified || (a + b) as usize <= labels.len());
        let sampler = if stratified {
            AnySampler::Stratified(Stratified::new(seed, a, b).unwrap())
        } else {
            AnySampler::Shuffle(Shuffle::new(seed, a + b).unwrap())
        };
        let (mut cursor, mut order) = ([0; 4], vec![0; labels.len()]);
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
                let epoch = cursor[usize::from(stratified && labels[row as usize] == 1)];
                seen[row as usize][epoch as usize] += 1;
                prop_assert!(seen[row as usize][epoch as usize] <= 1, "row {row} came twice in epoch {epoch}");
            }
            for (&row, &item) in got.index.iter().zip(&got.items) {
                prop_assert_eq!(classes.order()[item as usize], row);
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
    let (mut memory, mut starts) = (vec![0; 24], [0; 3]);
    let classes = Segments::new(&labels, &mut memory, &mut starts).unwrap();
    for sampler in [
        AnySampler::Shuffle(Shuffle::new(5, 6).unwrap()),
        AnySampler::Stratified(Stratified::new(5, 2, 4).unwrap()), // 8 positives and 16 negatives
    ] {
        let (mut cursor, mut order) = ([0; 4], vec![0; 24]);
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

/// Segments of one size are not dealt in step: each has a stream of its own.
#[test]
fn segments_are_shuffled_apart() {
    let labels: Vec<u32> = (0..40).map(|k| k % 2).collect();
    let (mut memory, mut starts) = (vec![0; 40], [0; 3]);
    let segments = Segments::new(&labels, &mut memory, &mut starts).unwrap();
    for sampler in [Stratified::new(5, 20, 20).unwrap(), Stratified::per_segment(5, 20).unwrap()] {
        let sampler = AnySampler::Stratified(sampler);
        let (mut cursor, mut order) = ([0; 4], vec![0; 40]);
        sampler.prepare(&segments, &cursor, &mut order).unwrap();
        for _ in 0..3 {
            let got = draw(&sampler, &segments, &mut cursor, &mut order).index;
            assert!((0..20).any(|k| got[k] / 2 != got[20 + k] / 2), "{got:?}");
        }
    }
}

#[test]
fn what_cannot_be_drawn_is_an_error() {
    let (mut memory, mut starts) = ([0; 3], [0; 3]);
    let segments = Segments::new(&[0u8, 1, 0], &mut memory, &mut starts).unwrap();
    let stratified = |a, b| AnySampler::Stratified(Stratified::new(1, a, b).unwrap());
    let shuffle = |batch| AnySampler::Shuffle(Shuffle::new(1, batch).unwrap());
    let prepare = |sampler: AnySampler, cursor: &[u64]| sampler.prepare(&segments, cursor, &mut [0; 3]);
    // A segment gives what it has, and no more.
    assert_eq!((stratified(2, 1).rows(&segments), stratified(1, 9).rows(&segments)), (2, 3));
    assert_eq!(prepare(stratified(2, 9), &[0; 4]), Ok(()));
    assert_eq!(prepare(shuffle(4), &[0; 4]), Err(Error::Param { what: "batch" }));
    assert_eq!(prepare(shuffle(1), &[0; 3]), Err(Error::Length { what: "cursor", need: 4, got: 3 }));
    // Cursors of larger data.
    assert_eq!(prepare(stratified(1, 1), &[0, 0, 2, 1]), Ok(()));
    assert_eq!(prepare(stratified(1, 1), &[0, 0, 3, 0]), Err(Error::Param { what: "cursor" }));
    assert_eq!(prepare(stratified(1, 1), &[0, 0, 0, 2]), Err(Error::Param { what: "cursor" }));
    assert_eq!(prepare(shuffle(1), &[0, 0, 4, 0]), Err(Error::Param { what: "batch" }));
    assert_eq!(Shuffle::new(1, 0), Err(Error::Param { what: "batch" }));
    assert_eq!(Stratified::per_segment(1, 0), Err(Error::Param { what: "per-class" }));
    assert_eq!(Segments::new(&[0u8, 2], &mut [0; 2], &mut [0; 3]).err(), Some(Error::Label { at: 1 }));
    assert_eq!(Segments::new(&[0u8, 0], &mut [0; 2], &mut [0; 1]).err(), Some(Error::Param { what: "classes" }));
    assert!(Segments::new(&[0u8, 0], &mut [0; 2], &mut [0; 2]).is_ok(), "numbers are one segment");
    let (mut one, mut starts) = ([0; 2], [0; 3]);
    let segments = Segments::new(&[1u8, 1], &mut one, &mut starts).unwrap();
    assert_eq!(stratified(1, 1).prepare(&segments, &[0; 4], &mut [0; 2]), Err(Error::OneClass));
    let whole = shuffle(2);
    assert_eq!(whole.prepare(&segments, &[0; 4], &mut [0; 2]), Ok(()));
    let (mut index, mut items, mut starts) = ([0; 2], [0; 2], [0; 3]);
    let to = Place { index: &mut index, items: &mut items, starts: &mut starts };
    assert_eq!(whole.draw(&segments, &mut [0; 4], &mut [0, 1], to), Ok(Drawn::Uniform));
    assert_eq!(starts, [0, 0, 2]);
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
