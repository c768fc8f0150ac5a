//! The menu of a slice: commands of the page, and changes of the run that a replay can answer. A
//! new entry is a row of a table.

use super::act::{Act, Need};
use super::edit_choice::EditChoice;

/// A part of the menu, under its heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MenuPart {
    /// The heading. Empty if it needs none.
    pub title: &'static str,
    /// The entries.
    pub entries: Vec<MenuEntry>,
}

/// An entry of the menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MenuEntry {
    /// Its words.
    pub words: String,
    /// The keys that do the same.
    pub keys: String,
    /// The effect of its choice.
    pub does: MenuDeed,
}

/// The effect of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MenuDeed {
    /// A command of the page.
    Run(Act),
    /// A change of the run, which the details show: the work, and the share of its time in percent.
    Try(EditChoice, u32),
}

/// The commands, in order. Those that do not work now are left out.
const ACTS: [Act; 4] = [Act::ZoomToSlice, Act::MarkSlice, Act::PinTrack, Act::CopyLink];

/// The changes, in order. A slice has those whose left side it has.
const CHANGES: [(MenuChange, &str); 4] = [
    (MenuChange::Share(50), "{} takes half of its time"),
    (MenuChange::Share(0), "{} takes no time"),
    (MenuChange::Median, "{}"),
    (MenuChange::NoWait, "{}"),
];

/// A kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MenuChange {
    /// The narrowest work of the slice takes this share of its time, in percent.
    Share(u32),
    /// The rank is as fast as the median one.
    Median,
    /// No other rank waits for the rank.
    NoWait,
}

impl MenuChange {
    /// The choice of a slice, with the share of its time.
    fn of(self, choices: &[EditChoice]) -> Option<(EditChoice, u32)> {
        let found = |is_it: fn(&EditChoice) -> bool| choices.iter().find(|choice| is_it(choice)).cloned();
        match self {
            Self::Share(percent) => {
                let narrowest = found(|choice| matches!(choice, EditChoice::Share(_)));
                narrowest.map(|choice| (choice, percent))
            }
            Self::Median => found(|choice| matches!(choice, EditChoice::Median(_))).map(|choice| (choice, 0)),
            Self::NoWait => found(|choice| matches!(choice, EditChoice::NoWait(_))).map(|choice| (choice, 0)),
        }
    }
}

/// The commands that work now.
#[must_use]
pub fn commands(given: &[Need]) -> MenuPart {
    let works = |act: &Act| act.row().missing(given).is_none();
    let entry =
        |act: Act| MenuEntry { words: act.row().what.to_owned(), keys: act.keys(), does: MenuDeed::Run(act) };
    MenuPart { title: "", entries: ACTS.into_iter().filter(works).map(entry).collect() }
}

/// The changes of the run for the left sides of edits that a slice has.
#[must_use]
pub fn changes(subjects: &[String]) -> MenuPart {
    let choices = EditChoice::of(subjects);
    let entry = |(change, form): (MenuChange, &str)| {
        let (choice, percent) = change.of(&choices)?;
        let words = form.replacen("{}", &choice.words(), 1);
        Some(MenuEntry { words, keys: String::new(), does: MenuDeed::Try(choice, percent) })
    };
    MenuPart { title: "What if …", entries: CHANGES.into_iter().filter_map(entry).collect() }
}

/// The entry that a key leads to, of `count` ones, from the one at `now`. `None` if the key moves
/// nowhere.
#[must_use]
pub fn moved(key: &str, now: Option<usize>, count: usize) -> Option<usize> {
    let last = count.checked_sub(1)?;
    match (key, now) {
        ("ArrowDown", Some(now)) if now < last => Some(now + 1),
        ("ArrowUp", Some(now)) if now > 0 => Some(now - 1),
        ("ArrowDown" | "Home", _) => Some(0),
        ("ArrowUp" | "End", _) => Some(last),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(subjects: &[&str]) -> Vec<String> {
        let subjects: Vec<String> = subjects.iter().map(|&subject| subject.to_owned()).collect();
        changes(&subjects).entries.into_iter().map(|entry| entry.words).collect()
    }

    #[test]
    fn changes_are_those_that_the_slice_has() {
        let expected = [
            "all work named gemm takes half of its time",
            "all work named gemm takes no time",
            "rank 3, as on the median rank",
            "no other rank waits for rank 3",
        ];
        assert_eq!(words(&["kernel:gemm", "layer:a", "rank:3"]), expected);
        assert_eq!(words(&["kernel:gemm"]), expected[..2]);
        assert!(words(&[]).is_empty());
    }

    #[test]
    fn a_change_is_the_edit_that_its_words_say() {
        let of = changes(&["transfer:all-reduce".to_owned(), "rank:3".to_owned()]);
        let edits: Vec<String> = of
            .entries
            .iter()
            .map(|entry| match &entry.does {
                MenuDeed::Try(choice, percent) => choice.edit(*percent),
                MenuDeed::Run(_) => String::new(),
            })
            .collect();
        let expected = ["transfer:all-reduce=0.5", "transfer:all-reduce=0", "rank:3=median", "wait:rank 3=0"];
        assert_eq!(edits, expected);
    }

    #[test]
    fn commands_that_do_not_work_are_absent() {
        let acts = |given: &[Need]| commands(given).entries.len();
        assert_eq!(acts(&[]), 0);
        assert_eq!(acts(&[Need::Profile]), 1);
        assert_eq!(acts(&[Need::Profile, Need::Timeline, Need::Slice, Need::TrackOfRanks]), 4);
    }

    #[test]
    fn arrows_lead_round() {
        assert_eq!(moved("ArrowDown", None, 3), Some(0));
        assert_eq!(moved("ArrowDown", Some(2), 3), Some(0));
        assert_eq!(moved("ArrowUp", Some(0), 3), Some(2));
        assert_eq!(moved("ArrowUp", Some(2), 3), Some(1));
        assert_eq!((moved("Home", Some(2), 3), moved("End", Some(0), 3)), (Some(0), Some(2)));
        assert_eq!((moved("a", Some(2), 3), moved("End", None, 0)), (None, None));
    }
}
