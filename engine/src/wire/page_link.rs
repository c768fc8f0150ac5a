//! Links that open the page at a place.

use std::fmt::Write as _;

use super::percent::percent_encoded;
use crate::base::Interval;
use crate::insight::finding::Place;

/// The part of a window beside a span, on each side.
const MARGIN: i64 = 4;

/// The window that shows a span with room on both sides.
#[must_use]
pub fn window_around(span: Interval) -> Interval {
    let beside_ps = (span.duration_ps() / MARGIN).max(1);
    Interval::new(span.start.0.saturating_sub(beside_ps), span.end.0.saturating_add(beside_ps))
}

/// The page of a profile, relative to its server.
#[must_use]
pub fn page_of(profile: &str) -> String {
    format!("/profile/{}", percent_encoded(profile))
}

/// The place in the page of its profile, relative to [`page_of`]: rank, window and slice. `None`
/// for a place that is the whole run.
#[must_use]
pub fn place_in_page(place: &Place) -> Option<String> {
    let rank = place.rank.or_else(|| place.ranks.first().copied());
    if rank.is_none() && place.span_ps.is_none() {
        return None;
    }
    let mut link = "?v=2".to_owned();
    // A string takes everything.
    if let Some(rank) = rank {
        let _ = write!(link, "&rank={rank}");
    }
    if place.ranks.len() > 1 {
        let ranks: Vec<String> = place.ranks.iter().map(u32::to_string).collect();
        let _ = write!(link, "&ranks={}", ranks.join(","));
    }
    if let Some((start_ps, end_ps)) = place.span_ps {
        let window = window_around(Interval::new(start_ps, end_ps));
        let _ = write!(link, "&from={}&to={}", window.start.0, window.end.0);
    }
    if let Some(row) = place.row.filter(|_| place.rank.is_some()) {
        let _ = write!(link, "&sel={row}");
    }
    Some(link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_rank_window_and_slice() {
        let link = |place: Place| place_in_page(&place).unwrap_or_default();
        let slice = Place { span_ps: Some((100, 500)), row: Some(7), ..Place::of_rank(3) };
        assert_eq!(link(slice), "?v=2&rank=3&from=0&to=600&sel=7");
        let ranks = Place { ranks: vec![1, 3], ..Place::of_span(10, 10) };
        assert_eq!(link(ranks), "?v=2&rank=1&ranks=1,3&from=9&to=11");
        assert_eq!(link(Place::of_rank(0)), "?v=2&rank=0");
        assert_eq!(link(Place::default()), "");
        assert_eq!(page_of("a b"), "/profile/a%20b");
    }
}
