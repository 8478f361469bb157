//! Sorting and selecting of keys: the standard library's, or with the feature `compact` one of a twentieth of its code.
//! Keys are unique or indistinguishable, so the order is the same.

use crate::features::{ALLOC, COMPACT};
use crate::real::Real;
use core::cmp::Ordering;

/// Sorts ascending. (The standard library's sort can panic, which programs without an allocator would pay for.)
pub(crate) fn ascending(keys: &mut [u64]) {
    if COMPACT || !ALLOC {
        heap(keys, |a, b| a < b);
    } else {
        keys.sort_unstable();
    }
}

/// Sorts ascending by an order in which no two items are equal, or equal ones are alike; see [`ascending`].
pub(crate) fn ascending_by<E: Copy>(items: &mut [E], compare: impl Fn(E, E) -> Ordering) {
    if COMPACT || !ALLOC {
        heap(items, |&a, &b| compare(a, b).is_lt());
    } else {
        items.sort_unstable_by(|&a, &b| compare(a, b));
    }
}

/// The rows by falling value, the earlier first of equal ones.
pub(crate) fn falling<T: Real>(values: &[T], order: &mut [u32]) {
    order.iter_mut().zip(0..).for_each(|(item, row)| *item = row);
    let key = |row: u32| values[row as usize].key();
    ascending_by(order, |a, b| key(b).cmp(&key(a)).then(a.cmp(&b)));
}

/// [`ascending_by`] by one copy of the sort for all, where comparing takes longer than the call of it.
pub(crate) fn rows_by(items: &mut [u32], compare: &dyn Fn(u32, u32) -> Ordering) {
    ascending_by(items, compare);
}

/// Sorts ascending by the total order, likewise.
pub(crate) fn numbers(items: &mut [f64]) {
    ascending_by(items, |a, b| a.total_cmp(&b));
}

/// Puts the `from`-th to the `to`-th of the items in descending order (by a key, equal keys by the item itself) at their
/// places, in no order between the two. `from <= to < items.len()`.
pub(crate) fn select_descending_by(items: &mut [u32], from: usize, to: usize, key: impl Fn(u32) -> u64) {
    if COMPACT {
        let before = |&a: &u32, &b: &u32| (key(a), a) > (key(b), b);
        select(items, to, &before);
        select(&mut items[..=to], from, &before);
    } else {
        let by_rank = |&item: &u32| core::cmp::Reverse((key(item), item));
        items.select_nth_unstable_by_key(to, by_rank);
        items[..=to].select_nth_unstable_by_key(from, by_rank);
    }
}

/// Puts the item of a place there, those before it before: quickselect, O(n) but where every pivot is a bad one; then by the sort.
fn select<E: Copy>(mut items: &mut [E], mut place: usize, before: &impl Fn(&E, &E) -> bool) {
    for _ in 0..2 * usize::BITS {
        if items.len() < 16 {
            break;
        }
        let (low, middle, high) = (items[0], items[items.len() / 2], items[items.len() - 1]);
        // The median of the three is none of the ends of all, so both parts have an item.
        let (low, high) = if before(&high, &low) { (high, low) } else { (low, high) };
        let pivot = match middle {
            _ if before(&middle, &low) => low,
            _ if before(&high, &middle) => high,
            _ => middle,
        };
        let (mut left, mut right) = (0, items.len() - 1);
        loop {
            while before(&items[left], &pivot) {
                left += 1;
            }
            while before(&pivot, &items[right]) {
                right -= 1;
            }
            if left >= right {
                break;
            }
            items.swap(left, right);
            left += 1;
            right -= 1;
        }
        // Before `left` none comes after the pivot, from there on none before it.
        if place < left {
            items = &mut items[..left];
        } else {
            items = &mut items[left..];
            place -= left;
        }
    }
    heap(items, before);
}

/// Heap sort: n log n whatever the order, in place.
fn heap<E>(items: &mut [E], before: impl Fn(&E, &E) -> bool) {
    let count = items.len();
    for step in (0..count + count / 2).rev() {
        // The first half of the steps makes the heap, each of the others takes its largest.
        let (mut parent, end) = if step >= count {
            (step - count, count)
        } else {
            swap(items, 0, step);
            (0, step)
        };
        while let Some(mut child) = items.get(2 * parent + 1..end).and_then(<[E]>::first) {
            let mut at = 2 * parent + 1;
            if let Some(other) = items.get(at + 1..end).and_then(<[E]>::first)
                && before(child, other)
            {
                (child, at) = (other, at + 1);
            }
            if !items.get(parent).is_some_and(|parent| before(parent, child)) {
                break;
            }
            swap(items, parent, at);
            parent = at;
        }
    }
}

/// Swaps an item with a later one. (`<[E]>::swap` links a panic.)
fn swap<E>(items: &mut [E], first: usize, second: usize) {
    if let Some((head, tail)) = items.split_at_mut_checked(second)
        && let (Some(first), Some(second)) = (head.get_mut(first), tail.first_mut())
    {
        core::mem::swap(first, second);
    }
}

#[cfg(test)]
mod tests {
    use super::{ascending, ascending_by, select_descending_by};
    use crate::rng::Rng;
    use alloc::vec::Vec;
    use rand_core::Rng as _;

    #[test]
    fn orders_are_those_of_the_standard_library() {
        let mut rng = Rng::keyed(1, 2, 3);
        for len in (1..60u32).chain([1000, 5000]) {
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

            let to = rng.below(len);
            let (from, to) = (rng.below(to + 1) as usize, to as usize);
            let mut places: Vec<u32> = (0..len).collect();
            select_descending_by(&mut places, from, to, key);
            stable.sort_by_key(|&at| core::cmp::Reverse((key(at), at)));
            assert_eq!((places[from], places[to]), (stable[from], stable[to]));
            for part in [0..from, from..to + 1, to + 1..len as usize] {
                places[part.clone()].sort_unstable();
                stable[part.clone()].sort_unstable();
                assert_eq!(places[part.clone()], stable[part]);
            }
        }
    }
}
