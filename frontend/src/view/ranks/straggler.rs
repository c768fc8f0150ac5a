//! The rank that others waited for in an operation, and what it did instead of coming.

use std::cmp::Reverse;
use std::collections::HashMap;

use nprof_engine::base::Interval;
use nprof_engine::base::order::sort_by_key;
use nprof_engine::base::time::PS_PER_NS;
use nprof_engine::model::{SliceForm, is_wait};
use nprof_engine::wire::detail::{OperationMember, SliceEntry};

/// The largest window in which a span is shown, in times its duration.
const WIDEST: i64 = 16;

/// The rank for which others waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Late {
    /// Its number.
    pub rank: u32,
    /// Row of its call in its own timeline.
    pub call: u32,
    /// Row of the call among those of all ranks.
    pub row: u32,
    /// From the first arrival of all ranks to its own.
    pub span: Interval,
}

impl Late {
    /// The awaited member of an operation, else the last one. `None` without members.
    #[must_use]
    pub fn of(members: &[OperationMember]) -> Option<Self> {
        let last = members.iter().max_by_key(|one| (one.is_awaited, one.start_ps))?;
        let first_ps = members.iter().map(|one| one.start_ps).min()?;
        let span = Interval::new(first_ps, last.start_ps);
        Some(Self { rank: last.rank, call: last.call, row: last.row, span })
    }

    /// The window in which the span is seen: the shown one, if the span is a visible part of it.
    #[must_use]
    pub fn window(&self, shown: Interval) -> Interval {
        let Interval { start, end } = self.span;
        let duration_ps = self.span.duration_ps();
        let is_inside = shown.start <= start && end <= shown.end;
        if is_inside && duration_ps.saturating_mul(WIDEST) >= shown.duration_ps() {
            return shown;
        }
        Interval::new(start.0.saturating_sub(duration_ps), end.0.saturating_add(duration_ps))
    }
}

/// The part of a slice in a search for the work of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkPart {
    /// Work of a device.
    Device,
    /// Work of the host, or of a track of which the trace tells no side.
    Host,
    /// No work of its own: a collective operation, or a state such as throttling.
    Nothing,
}

/// The part of a slice inside a span, in picoseconds.
fn inside_ps(slice: &SliceEntry, span: Interval) -> i64 {
    let end_ps = slice.start_ps.saturating_add(slice.duration_ps);
    end_ps.min(span.end.0).saturating_sub(slice.start_ps.max(span.start.0)).max(0)
}

/// The work that a rank did instead of coming at the start of a span: of the name with the most
/// time, the slice with the most time. The time of a slice excludes that of the slices in it.
///
/// A slice that goes on after the span kept nobody from coming at its end. Steps and annotations do
/// so, and they enclose all other work. Such a slice is named only if finished work took less than
/// a quarter of the span. Devices come before the host, which mostly waits for them. A wait is
/// named only if the rank did nothing else.
#[must_use]
pub fn instead(
    slices: &[SliceEntry],
    span: Interval,
    part_of: impl Fn(&SliceEntry) -> WorkPart,
) -> Option<&SliceEntry> {
    /// The least share of a span that says what a rank did.
    const LEAST: i64 = 4;
    let own_ps = own_times(slices, span);
    let all: Vec<(&SliceEntry, i64, WorkPart)> = slices
        .iter()
        .zip(own_ps)
        .filter(|(slice, own_ps)| slice.form != SliceForm::Instant && *own_ps > 0)
        .map(|(slice, own_ps)| (slice, own_ps, part_of(slice)))
        .filter(|(.., part)| *part != WorkPart::Nothing)
        .collect();
    // Clocks of ranks and times of arrivals are rounded.
    let end_ps = span.end.0.saturating_add(PS_PER_NS);
    let is_over = |slice: &SliceEntry| slice.start_ps.saturating_add(slice.duration_ps) <= end_ps;
    let finished = |side: WorkPart| {
        let of_side = all
            .iter()
            .filter(move |(slice, _, part)| *part == side && is_over(slice) && !is_wait(&slice.name));
        let mut by_name: HashMap<&str, i64> = HashMap::new();
        let mut total_ps = 0_i64;
        for (slice, own_ps, _) in of_side.clone() {
            let of_name = by_name.entry(&slice.name).or_default();
            *of_name = of_name.saturating_add(*own_ps);
            total_ps = total_ps.saturating_add(*own_ps);
        }
        let is_enough = total_ps.saturating_mul(LEAST) >= span.duration_ps();
        // If several are equal, the shortest says most.
        let key = |(slice, own_ps, _): &&(&SliceEntry, i64, WorkPart)| {
            (by_name.get(slice.name.as_str()).copied(), *own_ps, tie(slice))
        };
        is_enough.then(|| of_side.max_by_key(key)).flatten()
    };
    let longest = || {
        let key = |(slice, own_ps, part): &&(&SliceEntry, i64, WorkPart)| {
            (!is_wait(&slice.name), *own_ps, *part == WorkPart::Device, tie(slice))
        };
        all.iter().max_by_key(key)
    };
    let found = finished(WorkPart::Device).or_else(|| finished(WorkPart::Host)).or_else(longest);
    found.map(|(slice, ..)| *slice)
}

/// Order of slices with equal times of their own: the shorter one, then the earlier one.
fn tie(slice: &SliceEntry) -> Reverse<(i64, u32)> {
    Reverse((slice.duration_ps, slice.row))
}

/// The time inside a span that each slice has for itself, without the slices in it.
fn own_times(slices: &[SliceEntry], span: Interval) -> Vec<i64> {
    let mut own: Vec<i64> = slices.iter().map(|slice| inside_ps(slice, span)).collect();
    let mut order: Vec<usize> = (0..slices.len()).collect();
    sort_by_key(&mut order, |&at| (slices[at].start_ps, slices[at].depth));
    // The last slice of each track and depth encloses what follows, one deeper.
    let mut last: HashMap<(u32, u32), usize> = HashMap::new();
    for at in order {
        let slice = &slices[at];
        let above = slice.depth.checked_sub(1).and_then(|depth| last.get(&(slice.track, depth)));
        if let Some(&above) = above {
            own[above] = own[above].saturating_sub(inside_ps(slice, span));
        }
        last.insert((slice.track, slice.depth), at);
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::fixture;

    fn member(rank: u32, start_ps: i64, is_awaited: bool) -> OperationMember {
        OperationMember {
            rank,
            row: rank + 100,
            call: rank + 10,
            start_ps,
            wait_ps: 0,
            end_ps: 900,
            is_awaited,
        }
    }

    #[test]
    fn the_awaited_rank_is_late_else_the_last_one() {
        let span =
            |late: Option<Late>| late.map(|late| (late.rank, late.call, late.span.start.0, late.span.end.0));
        let of = |members: &[OperationMember]| span(Late::of(members));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[member(3, 40, false), member(4, 70, false)]), Some((4, 14, 40, 70)));
        // Receivers of a broadcast wait for the root, also if another receiver comes later.
        assert_eq!(
            of(&[member(3, 40, true), member(4, 70, false), member(5, 10, false)]),
            Some((3, 13, 10, 40))
        );
    }

    #[test]
    fn a_window_that_shows_the_span_stays() {
        let late = Late::of(&[member(1, 1_000, false), member(2, 2_000, true)]).unwrap();
        let stays = Interval::new(0, 16_000);
        assert_eq!(late.window(stays), stays);
        assert_eq!(late.window(Interval::new(0, 17_000)), Interval::new(0, 3_000));
        assert_eq!(late.window(Interval::new(1_500, 9_000)), Interval::new(0, 3_000));
    }

    /// Slices from lines `track depth start..end name`, in picoseconds.
    fn slices(text: &str) -> Vec<SliceEntry> {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let slice = |(row, line): (u32, &str)| {
            let words: Vec<&str> = line.trim().splitn(4, ' ').collect();
            let (start, end) = words[2].split_once("..").unwrap();
            let (start_ps, end_ps): (i64, i64) = (start.parse().unwrap(), end.parse().unwrap());
            SliceEntry {
                row,
                track: words[0].parse().unwrap(),
                depth: words[1].parse().unwrap(),
                name: words[3].to_owned(),
                form: if start_ps == end_ps { SliceForm::Instant } else { SliceForm::Complete },
                ..fixture::slice(start_ps, end_ps - start_ps)
            }
        };
        (0..).zip(lines).map(slice).collect()
    }

    /// Checks what was done from 1 to 2 µs. Tracks from 5 on are of the host, slices of track 9 do
    /// not count.
    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let slices = slices(text);
        let part_of = |slice: &SliceEntry| match slice.track {
            9 => WorkPart::Nothing,
            5..9 => WorkPart::Host,
            _ => WorkPart::Device,
        };
        let found = instead(&slices, Interval::new(1_000_000, 2_000_000), part_of);
        assert_eq!(found.map(|slice| slice.name.as_str()), expected);
    }

    #[test]
    fn the_most_time_inside_wins() {
        check("", None);
        check("1 0 0..1000000 before", None);
        check("1 0 1000000..1400000 a\n1 0 1400000..2000000 b\n9 0 1000000..2000000 call", Some("b"));
        check("1 0 0..1500000 long\n2 0 1100000..1700000 short", Some("short"));
        check("1 0 1500000..1500000 instant", None);
    }

    #[test]
    fn enclosing_slices_count_for_their_own_time() {
        check("1 0 0..5000000 step\n1 1 900000..1900000 load\n1 2 1000000..1100000 read", Some("load"));
        check("1 0 0..5000000 step\n1 1 1200000..1300000 load", Some("step"));
        check("5 0 0..2000000 step\n5 1 900000..1900000 load\n5 2 1000000..1700000 read", Some("read"));
    }

    #[test]
    fn annotations_around_much_work_are_not_named() {
        let kernels = "1 0 1000000..1100000 a\n1 0 1100000..1230000 b\n1 0 1300000..1400000 a";
        check(&format!("2 0 0..9000000 ProfilerStep#13\n{kernels}"), Some("a"));
        check(&format!("5 0 0..9000000 PyTorch Profiler (0)\n{kernels}"), Some("a"));
        check("2 0 0..9000000 step\n1 0 1000000..1100000 a", Some("step"));
    }

    #[test]
    fn what_goes_on_kept_nobody_from_coming() {
        check("1 0 1000000..9000000 range\n2 0 1000000..1250000 kernel", Some("kernel"));
        check("1 0 1000000..9000000 range\n2 0 1000000..1240000 kernel", Some("range"));
        // The end of the span is rounded down to a nanosecond.
        check("1 0 1000000..9000000 range\n2 0 1000000..2000999 kernel", Some("kernel"));
    }

    #[test]
    fn devices_come_before_the_host_unless_they_were_idle() {
        check("5 0 1000000..1900000 launch\n1 0 1000000..1250000 kernel", Some("kernel"));
        check("5 0 1000000..1900000 load\n1 0 1000000..1000010 copy", Some("load"));
        check("5 0 1000000..2000000 synchronize\n1 0 1000000..1000010 copy", Some("copy"));
    }

    #[test]
    fn work_comes_before_waits_and_short_slices_before_long_ones() {
        check("1 0 1000000..2000000 wait for semaphore 3\n2 0 1000000..1000010 copy", Some("copy"));
        check("1 0 1000000..2000000 wait for semaphore 3", Some("wait for semaphore 3"));
        check("1 0 0..2000000 outer\n2 0 1000000..2000000 inner", Some("inner"));
    }
}
