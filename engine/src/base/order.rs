//! Stable sorts of short lists, and sets and maps, in little code.
//!
//! A program holds the standard library's sort once for each type and comparison, each 3 to 12 kB
//! of wasm. The page and its workers are downloaded, so they sort what is short (ranks, groups,
//! columns, hits) with the functions of this module: they sort positions, with one copy for all
//! types. That takes two to three times as long. Rows, slices and values of blocks are many, and
//! have the library's sorts.

use std::cmp::Ordering;

/// Sorts by a comparison. Equal items keep their order.
pub fn sort_by<T>(items: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    let swaps = swaps_of(order_of(items.len(), &mut |a, b| compare(&items[a], &items[b])));
    swaps.into_iter().for_each(|(a, b)| items.swap(a, b));
}

/// Sorts by a key, which is computed once for each item. Equal items keep their order.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl FnMut(&T) -> K) {
    let keys: Vec<K> = items.iter().map(key).collect();
    let swaps = swaps_of(order_of(keys.len(), &mut |a, b| keys[a].cmp(&keys[b])));
    swaps.into_iter().for_each(|(a, b)| items.swap(a, b));
}

/// Gathers items in a set or a map one by one. `collect` would sort them first, with a sort of its
/// own for each type.
pub fn gathered<C: Default + Extend<T>, T>(items: impl IntoIterator<Item = T>) -> C {
    let mut all = C::default();
    all.extend(items);
    all
}

/// For each place in the order, the position of its item. `compare` compares positions.
pub fn order_of(count: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| compare(a, b));
    order
}

/// The swaps, at most one for each item, that bring items into this order.
fn swaps_of(mut order: Vec<usize>) -> Vec<(usize, usize)> {
    let mut swaps = Vec::new();
    for start in 0..order.len() {
        let mut place = start;
        // A cycle of places: each one gets the item of the next.
        while order[place] != start {
            let next = std::mem::replace(&mut order[place], place);
            swaps.push((place, next));
            place = next;
        }
        order[place] = place;
    }
    swaps
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lists_are_sorted_as_the_library_sorts_them(keys in prop::collection::vec(0_u8..20, 0..60)) {
            let items: Vec<(u8, usize)> = keys.into_iter().zip(0..).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            let (mut by, mut by_key) = (items.clone(), items);
            sort_by(&mut by, |a, b| a.0.cmp(&b.0));
            sort_by_key(&mut by_key, |item| item.0);
            prop_assert_eq!(&by, &expected);
            prop_assert_eq!(&by_key, &expected);
        }
    }
}
