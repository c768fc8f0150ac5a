//! Long names of a list, shortened so that no two of them look equal. Names of C++ kernels share
//! their first hundred characters and differ behind them.

use nprof_engine::base::order::sort_by;

/// Names up to this length are shown as they are, in characters.
const ROOM: usize = 72;
/// The most that is kept of a shared beginning, in characters.
const HEAD: usize = 32;
/// A cut that saves less than this is not worth its gap, in characters.
const LEAST_SAVED: usize = 16;
/// Names that differ at more places than this are cut at the first ones alone.
const MOST_CUTS: usize = 8;
/// Stands for what was left out.
const GAP: &str = "… ";

/// The names in the same order. If names are longer than 72 characters, parts that several of
/// them share are cut, so that each place where they differ comes soon.
#[must_use]
pub fn told_apart(names: &[String]) -> Vec<String> {
    let mut short = names.to_vec();
    let mut order: Vec<usize> =
        (0..names.len()).filter(|at| names[*at].chars().nth(ROOM).is_some()).collect();
    sort_by(&mut order, |a, b| names[*a].cmp(&names[*b]));
    let long: Vec<&str> = order.iter().map(|at| names[*at].as_str()).collect();
    let mut cut = Vec::with_capacity(long.len());
    tell(&long, 0, "", MOST_CUTS, &mut cut);
    for (at, name) in order.into_iter().zip(cut) {
        short[at] = name;
    }
    short
}

/// Adds the sorted `names`, which share their first `shared` bytes. `shown` stands for those.
fn tell(names: &[&str], shared: usize, shown: &str, cuts: usize, into: &mut Vec<String>) {
    let (Some(first), Some(last)) = (names.first(), names.last()) else { return };
    if first == last || cuts == 0 {
        into.extend(names.iter().map(|name| format!("{shown}{}", &name[shared..])));
        return;
    }
    let end = shared_bytes(first, last);
    let shown = format!("{shown}{}", without_middle(&first[shared..end], shared == 0));
    let next = |name: &&str| name[end..].chars().next();
    for family in names.chunk_by(|one, other| next(one) == next(other)) {
        // Names that share nothing were not cut here.
        let cuts = if end == 0 { cuts } else { cuts - 1 };
        tell(family, end, &shown, cuts, into);
    }
}

/// The length of the common beginning, in bytes.
fn shared_bytes(one: &str, other: &str) -> usize {
    let pairs = one.chars().zip(other.chars());
    pairs.take_while(|(one, other)| one == other).map(|(one, _)| one.len_utf8()).sum()
}

/// A part that several names share, without its middle. `is_start`: the names begin with it.
fn without_middle(part: &str, is_start: bool) -> String {
    let head = if is_start { head(part) } else { first_word(part) };
    let tail = last_word(part).max(head);
    if part[head..tail].chars().count() < LEAST_SAVED {
        return part.to_owned();
    }
    format!("{}{GAP}{}", &part[..head], part[tail..].trim_start_matches(':'))
}

/// The end of the first word, in bytes: in it the names differ from others.
fn first_word(part: &str) -> usize {
    let is_of_word = |sign: &char| sign.is_alphanumeric() || *sign == '_';
    part.chars().take(HEAD).take_while(is_of_word).map(char::len_utf8).sum()
}

/// The start of the last word, with the scopes before it (`at::native::Mul`), in bytes: a word says
/// more than a half of it.
fn last_word(part: &str) -> usize {
    let is_of_word = |sign: &char| sign.is_alphanumeric() || matches!(sign, '_' | ':');
    let word: usize = part.chars().rev().take_while(is_of_word).map(char::len_utf8).sum();
    part.len() - word
}

/// The end of the part that is kept, in bytes: the name of a template, or the first characters.
fn head(part: &str) -> usize {
    let end_of = |count: usize| part.char_indices().nth(count).map_or(part.len(), |(at, _)| at);
    match part.find('<') {
        Some(at) if at < end_of(HEAD + HEAD / 2) => at + 1,
        _ => end_of(HEAD),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(names: &[&str]) -> Vec<String> {
        told_apart(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn each_difference_is_kept_and_what_is_shared_is_cut() {
        let kernel = |width: u32, functor: &str| {
            format!(
                "void at::native::elementwise_kernel<128, {width}, at::native::gpu_kernel_impl_nocast<\
                 at::native::BinaryFunctor<float, at::native::{functor}>>(int)>"
            )
        };
        let (add, mul, other) = (kernel(4, "AddFunctor"), kernel(4, "MulFunctor"), kernel(2, "MulFunctor"));
        let short = apart(&[&mul, "aten::mm", &add, &other]);
        assert_eq!(short[0], "void at::native::elementwise_kernel<128, 4… at::native::MulFunctor>>(int)>");
        assert_eq!(short[1], "aten::mm");
        assert_eq!(short[2], "void at::native::elementwise_kernel<128, 4… at::native::AddFunctor>>(int)>");
        assert_eq!(short[3], other);
    }

    #[test]
    fn short_equal_and_different_names_stay_whole() {
        let long = "x".repeat(100);
        let names = ["a", "a", &long, &long, ""];
        assert_eq!(apart(&names), names);
        let different = [format!("a{long}"), format!("b{long}")];
        assert_eq!(told_apart(&different), different);
        assert!(apart(&[]).is_empty());
    }

    #[test]
    fn different_names_stay_different() {
        use proptest::prelude::*;
        proptest!(|(tails in proptest::collection::btree_set("[a-cß<: ]{0,60}(long tail that is shared)?", 0..8))| {
            let names: Vec<String> = tails.iter().map(|tail| format!("{}{tail}", "ab<ß ".repeat(15))).collect();
            let short: std::collections::BTreeSet<String> = told_apart(&names).into_iter().collect();
            prop_assert_eq!(short.len(), names.len());
        });
    }
}
