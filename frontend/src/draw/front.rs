//! The arrival front of an operation: a line across the rows of ranks through the times at which
//! they came, and one through the times at which their calls ended.

use nprof_engine::wire::catalog::TrackKind;
use nprof_engine::wire::detail::OperationMember;
use nprof_engine::wire::rank_ref::RankRef;

use super::scene::Camera;
use crate::view::rows::layout::Row;

/// Greatest distance of a point from the frame, in CSS pixels. Canvases draw longer lines wrongly.
pub(super) const FAR_PX: f64 = 10_000.0;

/// Why a front is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontOf {
    /// Its operation is selected.
    Selected,
    /// The pointer rests on its operation.
    Pointed,
}

/// The front of an operation, in CSS pixels from the frame's left and top.
#[derive(Debug, Clone, PartialEq)]
pub struct Front {
    /// Why it is drawn.
    pub of: FrontOf,
    /// Upper and lower end of the mark in each row, from top to bottom.
    pub marks: Vec<Mark>,
    /// The awaited arrival, if its row is shown.
    pub awaited_px: Option<(f64, f64)>,
}

/// The place of a member in its row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mark {
    /// Upper and lower edge of the row's bars.
    pub span_px: (f64, f64),
    /// The arrival.
    pub start_px: f64,
    /// The end of the call.
    pub end_px: f64,
}

/// The front of an operation with these members, which are sorted by rank. Only rows in sight and
/// one beyond each edge have marks. `None` if no row of a member is shown.
#[must_use]
pub fn front(camera: &Camera<'_>, members: &[OperationMember], of: FrontOf) -> Option<Front> {
    let mut found = Front { of, marks: Vec::new(), awaited_px: None };
    let mut above = None;
    for row in &camera.layout.rows {
        let Some((mark, is_awaited)) = mark(camera, members, row) else { continue };
        let (top_px, foot_px) = mark.span_px;
        if foot_px < camera.area.top_px {
            above = Some(mark);
            continue;
        }
        found.marks.extend(above.take());
        found.marks.push(mark);
        if is_awaited {
            found.awaited_px = Some((mark.start_px, f64::midpoint(top_px, foot_px)));
        }
        if top_px > camera.area.foot_px() {
            break;
        }
    }
    (!found.marks.is_empty()).then_some(found)
}

/// The rank whose calls a row shows, with the upper and lower edge of its bars in CSS pixels from
/// the frame's top. `None` for other rows.
pub(super) fn calls_px(camera: &Camera<'_>, row: &Row) -> Option<(u32, (f64, f64))> {
    let track = camera.sheet.tracks().get(row.track)?;
    let is_of_calls = track.kind == TrackKind::Slices && track.source == camera.source.sibling(RankRef::All);
    let rank = track.rank.filter(|_| is_of_calls)?;
    let (top_px, _) = row.lane_px(track, 0);
    let (last_px, height_px) = row.lane_px(track, track.lanes.saturating_sub(1));
    Some((rank, (camera.area.shown_px(top_px), camera.area.shown_px(last_px + height_px))))
}

/// The mark of a row, and whether its rank is the awaited one. `None` for rows of no member.
fn mark(camera: &Camera<'_>, members: &[OperationMember], row: &Row) -> Option<(Mark, bool)> {
    let (rank, span_px) = calls_px(camera, row)?;
    let one = &members[members.binary_search_by_key(&rank, |one| one.rank).ok()?];
    let x_px =
        |time_ps: i64| camera.scale.px_from_time(time_ps).clamp(-FAR_PX, camera.scale.width_px + FAR_PX);
    let mark = Mark { span_px, start_px: x_px(one.start_ps), end_px: x_px(one.end_ps) };
    Some((mark, one.is_awaited))
}

#[cfg(test)]
mod tests {
    use nprof_engine::base::Interval;

    use super::*;
    use crate::draw::names::NameColours;
    use crate::draw::palette::Ground;
    use crate::draw::shape::Shape;
    use crate::view::rows::layout::RankRows;
    use crate::view::rows::layout::sight::RowSight;
    use crate::view::rows::layout::tests::tracks;
    use crate::view::rows::sheet::Sheet;
    use crate::view::rows::sheet::tests::rank_with;
    use crate::view::source_id::SourceId;
    use crate::view::{Layout, TimeScale};

    /// Members `rank start..end`; the last one is awaited.
    fn members(of: &[(u32, i64, i64)]) -> Vec<OperationMember> {
        let last = of.iter().map(|(_, start, _)| *start).max();
        let member = |&(rank, start_ps, end_ps): &(u32, i64, i64)| OperationMember {
            rank,
            row: 0,
            call: 0,
            start_ps,
            wait_ps: 0,
            end_ps,
            is_awaited: Some(start_ps) == last,
        };
        of.iter().map(member).collect()
    }

    /// The marks as `top..foot start end`, on a frame of 1000 pixels of a picosecond each, and the
    /// awaited arrival.
    fn shown(fit_px: Option<f64>, scroll_px: f64, height_px: f64, of: &[(u32, i64, i64)]) -> String {
        let rank = rank_with(RankRef::All, tracks("all\nRanks/\n  Rank 0\n  Rank 1*2\n  Rank 2\n  Rank 3"));
        let sheet = Sheet::of(vec![std::sync::Arc::new(rank)]);
        // Sorted: the largest number is on top.
        let layout = Layout::of_ranks(&sheet, Some(RankRows { key: std::cmp::Reverse, fit_px }), |_| false);
        let (shape, names) = (Shape::new(&sheet), NameColours::default());
        let sight = RowSight::unpinned(height_px, scroll_px);
        let camera = Camera {
            scale: TimeScale { window: Interval::new(0, 1_000), width_px: 1_000.0 },
            sight,
            area: sight.others,
            sheet: &sheet,
            source: SourceId::of_first(RankRef::All),
            shape: &shape,
            layout: &layout,
            names: &names,
            ground: Ground::Light,
        };
        let Some(front) = front(&camera, &members(of), FrontOf::Selected) else { return "none".to_owned() };
        let mark = |mark: &Mark| {
            let (top, foot) = mark.span_px;
            format!("{top}..{foot} {} {}", mark.start_px, mark.end_px)
        };
        let marks: Vec<String> = front.marks.iter().map(mark).collect();
        let (x, y) = front.awaited_px.unwrap_or((-1.0, -1.0));
        format!("{} | {x} {y}", marks.join(", "))
    }

    #[test]
    fn a_front_passes_through_the_rows_of_its_members_in_their_order() {
        let all = [(0, 10, 90), (1, 70, 91), (3, 30, 92)];
        assert_eq!(shown(None, 0.0, 500.0, &all), "51..67 30 92, 99..133 70 91, 141..157 10 90 | 70 116");
        assert_eq!(shown(None, 0.0, 500.0, &[(9, 10, 90)]), "none");
    }

    #[test]
    fn rows_out_of_sight_keep_the_line_going() {
        let all = [(0, 10, 90), (1, 70, 91), (2, 20, 90), (3, -30_000, 92)];
        // Rank 2 is above the frame and rank 0 below; rank 3 is further away.
        assert_eq!(shown(None, 95.0, 40.0, &all), "-20..-4 20 90, 4..38 70 91, 46..62 10 90 | 70 21");
        assert!(shown(None, 0.0, 500.0, &all).starts_with("51..67 -10000 92, "));
    }

    #[test]
    fn a_front_crosses_strips_of_heat() {
        let all = [(0, 10, 90), (1, 70, 91), (2, 20, 90), (3, 30, 92)];
        let heat = "48..49 30 92, 49..50 20 90, 50..52 70 91, 52..53 10 90 | 70 51";
        assert_eq!(shown(Some(50.0), 0.0, 500.0, &all), heat);
    }
}
