//! Asks for the slice of a track that is nearest in time.

use nprof_engine::base::Interval;
use nprof_engine::wire::detail::SliceDetail;
use nprof_engine::wire::questions::{EventsQuestion, SliceQuestion};

use crate::fetch::{FetchError, RankSource};
use crate::view::rows::nearest_slice::nearest_slice;

/// Slices of a span that are compared, the earliest ones.
pub const MOST_SLICES: u32 = 1_000;

/// The slice of a track that begins nearest to a time. The first of `spans` that has a slice
/// decides; each says how many of its slices are compared. `None` if no span has one.
///
/// # Errors
/// If a question has no answer.
pub async fn nearest_in(
    source: RankSource,
    track: u32,
    time_ps: i64,
    spans: impl IntoIterator<Item = (Interval, u32)>,
) -> Result<Option<SliceDetail>, FetchError> {
    for (span, most) in spans {
        let question = EventsQuestion { span, tracks: Some(vec![track]), limit: most };
        let slices = source.clone().ask(question, None).await?.slices;
        if let Some(row) = nearest_slice(&slices, time_ps) {
            return source.ask(SliceQuestion { row }, None).await.map(Some);
        }
    }
    Ok(None)
}
