//! Words about the clock of the current rank. Pure.

use nprof_engine::base::clamped;
use nprof_engine::wire::catalog::RankEntry;
use nprof_engine::wire::rank_ref::RankRef;

use crate::ui::text::format;
use crate::view::Timebase;
use crate::view::source_id::rank_label;
use crate::view::time::axes::{Shift, is_any_moved};

/// A short text, and its explanation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// For the badge.
    pub text: String,
    /// For its tooltip.
    pub title: String,
}

/// The badge while `current` is the current rank. `None` if no rank stands elsewhere in the other
/// time base.
#[must_use]
pub fn said(ranks: &[RankEntry], current: Option<RankRef>, base: Timebase) -> Option<Said> {
    if !is_any_moved(ranks) {
        return None;
    }
    let rank = ranks.iter().find(|rank| Some(rank.rank) == current && !rank.rank.is_all());
    let shift = rank.map(|rank| (rank.rank, Shift::of(rank)));
    Some(match base {
        Timebase::Aligned => aligned(shift, ranks),
        Timebase::Raw => Said { text: "raw times".to_owned(), title: raw(shift) },
    })
}

fn aligned(shift: Option<(RankRef, Shift)>, ranks: &[RankEntry]) -> Said {
    let Some((rank, shift)) = shift else {
        let moved = ranks.iter().filter(|rank| Shift::of(rank).moves()).count() as u64;
        let title = format!(
            "All ranks are on one clock: {} moved. Press for the times of the traces",
            format::counted(moved, "rank is", "ranks are")
        );
        return Said { text: "aligned".to_owned(), title };
    };
    let name = rank_label(rank);
    if !shift.moves() {
        let title = format!(
            "{name} is where its trace has it; other ranks are moved to its clock. Press for the times of the traces"
        );
        return Said { text: "aligned".to_owned(), title };
    }
    let by = if shift.is_by_hand { "as set by hand" } else { "as the collectives of all ranks show" };
    let text = format!("aligned by {}", with_bound(&shift));
    let title = format!(
        "{} is added to the times of {name}, {by}.{} Press for the times of the trace",
        with_bound(&shift),
        certainty(&shift)
    );
    Said { text, title }
}

fn raw(shift: Option<(RankRef, Shift)>) -> String {
    let of_all = "Each rank is where its own clock has it. Press for aligned times";
    match shift {
        Some((rank, shift)) if shift.moves() => {
            format!("{of_all}: {} moves by {}", rank_label(rank), with_bound(&shift))
        }
        _ => of_all.to_owned(),
    }
}

/// The offset with its sign, and its bound: `+1.2 ms ± 18 µs`.
fn with_bound(shift: &Shift) -> String {
    let sign = if shift.offset_ps < 0 { "−" } else { "+" };
    let size_ps = clamped(shift.offset_ps.unsigned_abs());
    let bound = shift.bound_ps.and_then(|bound_ps| i64::try_from(bound_ps).ok());
    let bound = bound.map_or_else(String::new, |bound_ps| format!(" ± {}", format::duration(bound_ps)));
    format!("{sign}{}{bound}", format::duration(size_ps))
}

fn certainty(shift: &Shift) -> String {
    let bound = match (shift.bound_ps, shift.is_by_hand) {
        (Some(_), false) => {
            " The bound is certain: no rank leaves a collective before the last one has entered it."
        }
        _ => "",
    };
    let drift = match shift.drift_ppb {
        0 => String::new(),
        ppb => format!(" The clock drifts by {:+.2} µs a second.", f64::from(ppb) / 1e3),
    };
    format!("{bound}{drift}")
}

#[cfg(test)]
mod tests {
    use nprof_engine::wire::clock::ClockBy;

    use super::*;
    use crate::view::time::axes::tests::rank;

    const MS: i64 = 1_000_000_000;

    #[track_caller]
    fn check(ranks: &[RankEntry], current: impl Into<RankRef>, base: Timebase, text: &str, part: &str) {
        let said = said(ranks, Some(current.into()), base).expect("clocks that differ");
        assert_eq!(said.text, text);
        assert!(said.title.contains(part), "{}", said.title);
    }

    #[test]
    fn a_moved_rank_says_by_how_much() {
        let ranks = [rank(0, None, Some(0)), rank(1, None, Some(-5 * MS)), rank(2, None, Some(1_200_000))];
        check(&ranks, 1, Timebase::Aligned, "aligned by −5 ms ± 18 ps", "The bound is certain");
        check(&ranks, 2, Timebase::Aligned, "aligned by +1.2 µs ± 18 ps", "times of Rank 2");
        check(&ranks, 0, Timebase::Aligned, "aligned", "other ranks are moved");
        check(&ranks, RankRef::All, Timebase::Aligned, "aligned", "2 ranks are moved");
        check(&ranks, 1, Timebase::Raw, "raw times", "Rank 1 moves by −5 ms");
        let by_hand = [rank(3, Some((MS, ClockBy::Hand)), Some(MS))];
        check(&by_hand, 3, Timebase::Aligned, "aligned by +1 ms ± 18 ps", "as set by hand");
    }

    #[test]
    fn ranks_whose_clocks_agree_say_nothing() {
        let ranks = [rank(0, None, Some(0)), rank(1, None, None)];
        assert_eq!(said(&ranks, Some(1.into()), Timebase::Aligned), None);
        assert_eq!(said(&ranks, Some(1.into()), Timebase::Raw), None);
    }
}
