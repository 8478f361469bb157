//! Sorting of keys: the standard library's, or with the feature `compact` one of a twentieth of its code. Keys are unique
//! or indistinguishable, so the order is the same.

use core::cmp::Ordering;

/// Sorts ascending.
#[cfg(not(feature = "compact"))]
pub(crate) fn ascending(keys: &mut [u64]) {
    keys.sort_unstable();
}

/// Sorts ascending by an order in which no two items are equal.
#[cfg(not(feature = "compact"))]
pub(crate) fn ascending_by(items: &mut [u32], compare: impl Fn(u32, u32) -> Ordering) {
    items.sort_unstable_by(|&a, &b| compare(a, b));
}

/// Puts the `from`-th to the `to`-th of the items in descending order (by a key, equal keys by the item itself) at their
/// places, in no order between the two. `from <= to < items.len()`.
#[cfg(not(feature = "compact"))]
pub(crate) fn select_descending_by(items: &mut [u32], from: usize, to: usize, key: impl Fn(u32) -> u64) {
    let by_rank = |&item: &u32| core::cmp::Reverse((key(item), item));
    items.select_nth_unstable_by_key(to, by_rank);
    items[..=to].select_nth_unstable_by_key(from, by_rank);
}

#[cfg(feature = "compact")]
pub(crate) fn ascending(keys: &mut [u64]) {
    heap(keys, |a, b| a < b);
}

#[cfg(feature = "compact")]
pub(crate) fn ascending_by(items: &mut [u32], compare: impl Fn(u32, u32) -> Ordering) {
    heap(items, |&a, &b| compare(a, b).is_lt());
}

#[cfg(feature = "compact")]
pub(crate) fn select_descending_by(items: &mut [u32], _from: usize, _to: usize, key: impl Fn(u32) -> u64) {
    heap(items, |&a, &b| (key(a), a) > (key(b), b));
}

/// Heap sort: n log n whatever the order, in place.
#[cfg(feature = "compact")]
fn heap<E>(items: &mut [E], before: impl Fn(&E, &E) -> bool) {
    let count = items.len();
    for step in (0..count + count / 2).rev() {
        // The first half of the steps makes the heap, each of the others takes its largest.
        let (mut parent, end) = if step >= count {
            (step - count, count)
        } else {
            items.swap(0, step);
            (0, step)
        };
        loop {
            let mut child = 2 * parent + 1;
            if child >= end {
                break;
            }
            if child + 1 < end && before(&items[child], &items[child + 1]) {
                child += 1;
            }
            if !before(&items[parent], &items[child]) {
                break;
            }
            items.swap(parent, child);
            parent = child;
        }
    }
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::{ascending, ascending_by, select_descending_by};
    use crate::rng::Rng;
    use alloc::vec::Vec;
    use rand_core::Rng as _;

    #[test]
    fn orders_are_those_of_the_standard_library() {
        let mut rng = Rng::keyed(1, 2, 3);
        for len in 1..60u32 {
            let keys: Vec<u64> = (0..len).map(|_| rng.next_u64() % 20).collect();
            let (mut ours, mut theirs) = (keys.clone(), keys.clone());
            ascending(&mut ours);
            theirs.sort();
            assert_eq!(ours, theirs);

            let key = |at: u32| keys[at as usize];
            let mut stable: Vec<u32> = (0..len).collect();
            stable.sort_by_key(|&at| key(at));
            let mut order: Vec<u32> = (0..len).rev().collect();
            ascending_by(&mut order, |a, b| (key(a), a).cmp(&(key(b), b)));
            assert_eq!(order, stable);

            let (from, to) = (rng.below(len) as usize, len as usize - 1);
            let mut places: Vec<u32> = (0..len).collect();
            select_descending_by(&mut places, from, to, key);
            stable.sort_by_key(|&at| core::cmp::Reverse((key(at), at)));
            assert_eq!(places[from], stable[from]);
            places[from..].sort_unstable();
            stable[from..].sort_unstable();
            assert_eq!(places[from..], stable[from..]);
        }
    }
}
