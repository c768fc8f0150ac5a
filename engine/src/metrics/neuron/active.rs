//! When engines were busy: the merged intervals that neuron-profile lists as `active_time`.

use super::Columns;
use super::engines::{ENGINES, WAIT, engine_of, instruction_tracks, text_code};
use crate::base::{Interval, Result};
use crate::model::TrackId;
use crate::segment::{Bytes, Segment};

/// Calls `each` with the busy intervals of every engine: its name in lower case, its track, an interval. Waits for
/// semaphores are no work; intervals that touch are one.
///
/// # Errors
/// Where bytes are missing or damaged, and those of `each`.
pub fn for_each_active<B: Bytes, E: From<crate::base::Error>>(
    segment: &Segment<B>,
    mut each: impl FnMut(&str, TrackId, Interval) -> Result<(), E>,
) -> Result<(), E> {
    let Some(instruction) = Columns::of(segment, "instruction") else { return Ok(()) };
    let tracks = instruction_tracks(segment, &instruction);
    let wait = text_code(segment, &tracks, WAIT)?;
    for track in tracks {
        let name = engine_of(segment, track);
        if !ENGINES.iter().any(|(engine, ..)| *engine == name) {
            continue;
        }
        let name = name.to_lowercase();
        let mut open: Option<Interval> = None;
        for block in segment.blocks_of(track)? {
            let mut closed = Vec::new();
            segment.block_slices(instruction.table(), block, |slice| {
                if Some(i64::from(slice.name)) == wait {
                    return;
                }
                let end_ps = slice.start_ps.saturating_add(slice.duration_ps);
                match &mut open {
                    Some(active) if slice.start_ps <= active.end.0 => {
                        active.end.0 = active.end.0.max(end_ps);
                    }
                    _ => closed.extend(open.replace(Interval::new(slice.start_ps, end_ps))),
                }
            })?;
            closed.into_iter().try_for_each(|interval| each(&name, track, interval))?;
        }
        if let Some(interval) = open {
            each(&name, track, interval)?;
        }
    }
    Ok(())
}
