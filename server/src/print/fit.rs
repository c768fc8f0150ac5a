//! Names that fit a width, cut where they differ.
//!
//! Names of kernels are long and begin alike, so a cut at the end would make one of many. The parts
//! of a name that are shown are its head and, for each other name of the list, the place where the
//! two part.
//!
//! *Why different names stay different.* Let `p` be the first place at which two names differ. The
//! rules below show the same places before `p` for both: the head is as long for all names, a place
//! before `p` at which one of them parts from a third name is such a place of the other one, too,
//! and the words before `p` are the same. `p` itself is shown for both.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr as _;

use crate::terminal::visible;

/// Sign for what is left out. It is one column wide.
const GAP: &str = "…";
/// Signs of a name that count. Names of a megabyte differ before.
const MOST_SIGNS: usize = 4096;
/// Joins the signs around it to one.
const JOINER: char = '\u{200d}';

/// Signs that are shown around a place where names part.
#[derive(Debug, Clone, Copy)]
struct CutRule {
    /// Before it, at most to the start of its word.
    before: usize,
    /// From it on.
    behind: usize,
    /// From the last such place on.
    last: usize,
    /// The least head of each name.
    head: usize,
}

/// Rules for a width, the roomiest first. The last one shows as little as tells names apart.
fn rules(width: usize) -> [CutRule; 4] {
    [
        CutRule { before: 16, behind: 8, last: width / 3, head: width / 4 },
        CutRule { before: 8, behind: 4, last: width / 5, head: width / 6 },
        CutRule { before: 4, behind: 2, last: width / 8, head: 1 },
        CutRule { before: 0, behind: 1, last: 1, head: 0 },
    ]
}

/// The names as a terminal shows them, none wider than `width` columns. A name that is too wide is
/// cut where it differs from the others. Different names stay different if the width has room for
/// the places at which they part.
#[must_use]
pub fn fitted(names: &[impl AsRef<str>], width: usize) -> Vec<String> {
    let shown: Vec<Cow<'_, str>> = names.iter().map(|name| visible(name.as_ref())).collect();
    let is_long = |name: &Cow<'_, str>| name.width() > width;
    let mut long: Vec<CutName<'_>> =
        shown.iter().filter(|name| is_long(name)).map(|name| CutName::of(name)).collect();
    part(&mut long);
    let cut = rules(width).iter().find_map(|rule| cut_by(&long, rule, width));
    let mut cut = cut.unwrap_or_else(|| long.iter().map(|name| name.head(width)).collect()).into_iter();
    let mut next = |name: &Cow<'_, str>| if is_long(name) { cut.next() } else { Some(name.to_string()) };
    shown.iter().map(|name| next(name).unwrap_or_default()).collect()
}

/// A name, as a terminal shows it, that fits the width.
#[must_use]
pub fn cut(name: &str, width: usize) -> String {
    fitted(&[name], width).pop().unwrap_or_default()
}

/// A name that does not fit.
struct CutName<'t> {
    /// Its signs, each with its marks, and their widths.
    signs: Vec<(&'t str, usize)>,
    /// Places at which it parts from other names, ascending.
    forks: Vec<usize>,
}

/// Notes for all names where they part from each other.
fn part(names: &mut [CutName<'_>]) {
    for one in 1..names.len() {
        let (before, from) = names.split_at_mut(one);
        let name = &mut from[0];
        for other in before {
            let both = name.signs.iter().zip(&other.signs);
            let fork = both.take_while(|(a, b)| a.0 == b.0).count();
            for of in [&mut *name, other] {
                if fork < of.signs.len() {
                    of.forks.push(fork);
                }
            }
        }
    }
    for name in names {
        name.forks.sort_unstable();
        name.forks.dedup();
    }
}

/// All names cut by a rule, with the longest head with which all fit. `None` if none is long enough
/// for the rule.
fn cut_by(names: &[CutName<'_>], rule: &CutRule, width: usize) -> Option<Vec<String>> {
    let with_head = |head: usize| {
        let masks = names.iter().map(|name| {
            let mask = name.mask(head, rule);
            (name.width(&mask) <= width).then_some(mask)
        });
        masks.collect::<Option<Vec<_>>>()
    };
    let masks = (rule.head..width.max(1)).rev().find_map(with_head)?;
    let texts = names.iter().zip(masks).map(|(name, mask)| name.text(&name.filled(mask, width)));
    let texts: Vec<String> = texts.collect();
    // Signs beside each other can be wider than they are alone.
    texts.iter().all(|text| text.width() <= width).then_some(texts)
}

impl<'t> CutName<'t> {
    fn of(text: &'t str) -> Self {
        let mut starts: Vec<usize> = Vec::new();
        let mut is_joined = false;
        for (at, sign) in text.char_indices() {
            let has_own_place = !is_joined && (sign.is_ascii() || text[at..at + sign.len_utf8()].width() > 0);
            if has_own_place || starts.is_empty() {
                if starts.len() == MOST_SIGNS {
                    break;
                }
                starts.push(at);
            }
            is_joined = sign == JOINER;
        }
        let ends = starts.iter().skip(1).copied().chain([text.len()]);
        let sign = |(start, end): (&usize, usize)| (&text[*start..end], text[*start..end].width());
        Self { signs: starts.iter().zip(ends).map(sign).collect(), forks: Vec::new() }
    }

    /// The places that are shown.
    fn mask(&self, head: usize, rule: &CutRule) -> Vec<bool> {
        let count = self.signs.len();
        let mut mask = vec![false; count];
        let mut show = |from: usize, to: usize| mask[from.min(count)..to.min(count)].fill(true);
        show(0, head);
        for &fork in &self.forks {
            show(self.word_start(fork, rule.before), fork + rule.behind);
        }
        let last = self.forks.last().copied().unwrap_or(0);
        show(last, last + rule.last);
        // The sign for a gap takes as much room as a narrow sign.
        for at in 0..count {
            let is_alone = (at == 0 || mask[at - 1]) && mask.get(at + 1).is_none_or(|is_shown| *is_shown);
            if !mask[at] && is_alone && self.signs[at].1 <= 1 {
                mask[at] = true;
            }
        }
        mask
    }

    /// The start of the word at a place, at most `most` signs before it.
    fn word_start(&self, place: usize, most: usize) -> usize {
        let is_word = |at: &usize| self.signs[*at].0.starts_with(|sign: char| sign.is_alphanumeric());
        let before = (place.saturating_sub(most)..place).rev().take_while(is_word);
        before.last().unwrap_or(place)
    }

    /// The shown places with more behind the last one, as far as there is room.
    fn filled(&self, mut mask: Vec<bool>, width: usize) -> Vec<bool> {
        let from = mask.iter().rposition(|is_shown| *is_shown).map_or(0, |last| last + 1);
        for at in from..mask.len() {
            mask[at] = true;
            if self.width(&mask) > width {
                mask[at] = false;
                break;
            }
        }
        mask
    }

    fn width(&self, mask: &[bool]) -> usize {
        self.parts(mask).map(|(_, width)| width).sum()
    }

    fn text(&self, mask: &[bool]) -> String {
        self.parts(mask).map(|(text, _)| text).collect()
    }

    /// The shown signs, and one for each gap.
    fn parts<'m>(&'m self, mask: &'m [bool]) -> impl Iterator<Item = (&'t str, usize)> + 'm {
        let is_gap = |at: usize| !mask[at] && (at == 0 || mask[at - 1]);
        (0..mask.len()).filter_map(move |at| match mask[at] {
            true => Some(self.signs[at]),
            false => is_gap(at).then_some((GAP, 1)),
        })
    }

    /// The first signs, if no more can be told.
    fn head(&self, width: usize) -> String {
        let mut mask = vec![false; self.signs.len()];
        mask = self.filled(mask, width);
        let mut text = self.text(&mask);
        while text.width() > width && text.pop().is_some() {}
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(names: &[&str], width: usize, expected: &[&str]) {
        assert_eq!(fitted(names, width), expected);
    }

    #[test]
    fn names_that_fit_stay() {
        check(&["gemm", "größe", ""], 5, &["gemm", "größe", ""]);
        check(&["日本"], 4, &["日本"]);
    }

    #[test]
    fn names_that_begin_apart_lose_their_ends() {
        check(&["gemm_kernel_of_a_layer", "softmax_of_another_one"], 10, &["gemm_kern…", "softmax_o…"]);
        assert_eq!(cut("abcdef", 4), "abc…");
    }

    #[test]
    fn names_that_begin_alike_show_where_they_part() {
        check(
            &[
                "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, 2>",
                "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>, 2>",
            ],
            44,
            &["void at::native::vectorized_…AddFunctor<flo…", "void at::native::vectorized_…MulFunctor<flo…"],
        );
    }

    #[test]
    fn the_last_sign_can_tell_names_apart() {
        let names = ["layer_with_a_long_name_1", "layer_with_a_long_name_2"];
        check(&names, 10, &["layer_wi…1", "layer_wi…2"]);
        check(&names, 3, &["l…1", "l…2"]);
        check(&["aaaaaaaaaa", "aaaaaaaaaaaaaaa"], 5, &["aaaa…", "aa…a…"]);
    }

    #[test]
    fn wide_signs_and_controls_are_measured_as_shown() {
        assert_eq!(cut("日本語日本語", 5), "日本…");
        assert_eq!(cut("\u{1b}[31m", 9), "\\u{1b}[3…");
        assert_eq!(cut("e\u{301}e\u{301}e\u{301}e\u{301}", 3), "e\u{301}e\u{301}…");
        assert_eq!((cut("日", 1).as_str(), cut("ab", 0).as_str()), ("…", ""));
    }

    /// Names that share beginnings, as those of kernels do.
    fn names() -> impl Strategy<Value = Vec<String>> {
        let part = prop::sample::select(vec![
            "void ",
            "at::",
            "native",
            "<4>",
            "größe",
            "日本",
            "_1",
            "👩\u{200d}🚀",
        ]);
        let name = prop::collection::vec(part, 1..14).prop_map(|parts| parts.concat());
        prop::collection::vec(prop_oneof![name, "\\PC{0,40}"], 1..7)
    }

    proptest! {
        #[test]
        fn no_name_is_wider_than_its_room(names in names(), width in 0_usize..60) {
            for text in fitted(&names, width) {
                prop_assert!(text.width() <= width, "{text:?}");
            }
        }

        #[test]
        fn different_names_stay_different_where_there_is_room(names in names(), more in 0_usize..40) {
            prop_assume!(names.iter().all(|name| !name.contains(GAP)));
            // Each other name can take a gap and a sign, and the widest sign has three columns.
            let width = 2 + (names.len() - 1) * (1 + 3) + more;
            let shown = fitted(&names, width);
            for (at, one) in names.iter().enumerate() {
                for other in 0..at {
                    prop_assert_eq!(one == &names[other], shown[at] == shown[other], "{:?}", shown);
                }
            }
        }
    }
}
