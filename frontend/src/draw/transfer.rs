//! Arrows between the rows of ranks: the transfers within the selected operation and the one under
//! the pointer.

use nprof_engine::wire::detail::{OperationMember, SliceDetail};

use super::arrow::Arrow;
use super::front::{FAR_PX, calls_px};
use super::scene::Camera;

/// Limit of drawn arrows. The table of transfers lists the others.
const MOST_ARROWS: usize = 256;

/// Position of the member of a rank. Members are sorted by rank.
fn position(members: &[OperationMember], rank: u32) -> Option<usize> {
    members.binary_search_by_key(&rank, |one| one.rank).ok()
}

/// The arrows of an operation's transfers, from the start of each send to its receipt. Those of
/// ranks whose rows are not shown, and those beside the frame, are left out.
#[must_use]
pub fn transfers(camera: &Camera<'_>, operation: &SliceDetail) -> Vec<Arrow> {
    let mut arrows = Vec::new();
    if operation.transfers.is_empty() {
        return arrows;
    }
    let members = &operation.members;
    let mut middles_px = vec![None; members.len()];
    for row in &camera.layout.rows {
        if let Some((rank, (top_px, foot_px))) = calls_px(camera, row)
            && let Some(at) = position(members, rank)
        {
            middles_px[at] = Some(f64::midpoint(top_px, foot_px));
        }
    }
    let (width_px, area) = (camera.scale.width_px, camera.area);
    let place = |rank: u32, time_ps: i64| {
        let y_px = middles_px[position(members, rank)?]?;
        let x_px = camera.scale.px_from_time(time_ps);
        Some((
            x_px.clamp(-FAR_PX, width_px + FAR_PX),
            y_px.clamp(area.top_px - FAR_PX, area.foot_px() + FAR_PX),
        ))
    };
    let is_beside = |a: f64, b: f64, (start, end): (f64, f64)| a.max(b) < start || a.min(b) > end;
    let (across_px, down_px) = ((0.0, width_px), (area.top_px, area.foot_px()));
    for one in &operation.transfers {
        let ends = place(one.from, one.sent_ps).zip(place(one.to, one.received_ps));
        let Some((from_px, to_px)) = ends else { continue };
        let is_out = is_beside(from_px.0, to_px.0, across_px) || is_beside(from_px.1, to_px.1, down_px);
        if !is_out && arrows.len() < MOST_ARROWS {
            arrows.push(Arrow { from_px, to_px, tag: None });
        }
    }
    arrows
}

#[cfg(test)]
mod tests {
    use nprof_engine::base::Interval;
    use nprof_engine::wire::detail::OperationTransfer;
    use nprof_engine::wire::rank_ref::RankRef;

    use super::*;
    use crate::draw::names::NameColours;
    use crate::draw::palette::Ground;
    use crate::draw::shape::Shape;
    use crate::view::fixture;
    use crate::view::rows::layout::sight::RowSight;
    use crate::view::rows::layout::tests::tracks;
    use crate::view::rows::sheet::Sheet;
    use crate::view::rows::sheet::tests::rank_with;
    use crate::view::source_id::SourceId;
    use crate::view::{Layout, TimeScale};

    /// The arrows of transfers `from to sent received` on a frame of 1000 pixels of a picosecond
    /// each.
    #[track_caller]
    fn check(closed: &[&str], height_px: f64, of: &[(u32, u32, i64, i64)], expected: &[&str]) {
        let rank = rank_with(RankRef::All, tracks("all\nRanks/\n  Rank 0\n  Rank 1*2\n  Rank 2"));
        let sheet = Sheet::of(vec![std::sync::Arc::new(rank)]);
        let layout = Layout::new(&sheet, |track| closed.contains(&track.name.as_str()));
        let (shape, names, ground) = (Shape::new(&sheet), NameColours::default(), Ground::Light);
        let scale = TimeScale { window: Interval::new(0, 1_000), width_px: 1_000.0 };
        let (sheet, source, shape, layout) = (&sheet, SourceId::of_first(RankRef::All), &shape, &layout);
        let (sight, names) = (RowSight::unpinned(height_px, 0.0), &names);
        let camera = Camera { scale, sight, area: sight.others, sheet, source, shape, layout, names, ground };
        let transfer = |&(from, to, sent_ps, received_ps): &(u32, u32, i64, i64)| OperationTransfer {
            row: 0,
            from,
            to,
            sent_ps,
            received_ps,
        };
        let member = |rank| OperationMember {
            rank,
            row: 0,
            call: 0,
            start_ps: 0,
            wait_ps: 0,
            end_ps: 0,
            is_awaited: false,
        };
        let operation = SliceDetail {
            members: (0..3).map(member).collect(),
            transfers: of.iter().map(transfer).collect(),
            ..fixture::detail(fixture::slice(0, 0))
        };
        let arrows = transfers(&camera, &operation);
        let text: Vec<String> =
            arrows.iter().map(|arrow| format!("{:?} to {:?}", arrow.from_px, arrow.to_px)).collect();
        assert_eq!(text, expected);
    }

    #[test]
    fn a_transfer_leads_from_row_to_row() {
        let all = [(0, 1, 100, 300), (1, 2, 250, 400), (2, 0, 390, 380), (2, 7, 0, 1)];
        check(
            &[],
            500.0,
            &all,
            &[
                "(100.0, 59.0) to (300.0, 92.0)",
                "(250.0, 92.0) to (400.0, 125.0)",
                "(390.0, 125.0) to (380.0, 59.0)",
            ],
        );
        check(&["Ranks"], 500.0, &all, &[]);
    }

    #[test]
    fn transfers_beside_the_frame_are_left_out() {
        let all = [(0, 1, -50, -10), (0, 1, 1_001, 1_020), (1, 2, 0, 10), (0, 1, -20, 90_000)];
        check(&[], 80.0, &all, &["(-20.0, 59.0) to (11000.0, 92.0)"]);
    }
}
