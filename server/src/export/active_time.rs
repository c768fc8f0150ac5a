//! When each engine was busy: the table `active_time` of traces that do not bring it.
//!
//! As neuron-profile defines it: the union of an engine's instructions, without waits for semaphores.

use nprof_engine::base::Error;
use nprof_engine::model::{OwnedValue, TrackId};
use nprof_engine::native::SegmentFile;

use super::rows::{Order, RowContent, TimedRow, for_each_timed};

/// The table that engines' work stands in.
const INSTRUCTION: &str = "instruction";
/// Instructions that only wait.
const WAIT: &str = "EVENT_SEMAPHORE";
/// What the labels of matrix multiplications have after their engine's name.
const MATRIX: &str = "Matrix";

/// An engine's time without a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Busy {
    /// The engine, in small letters.
    pub engine: String,
    /// The physical core within a logical one.
    pub core: i64,
    /// Start in picoseconds.
    pub start_ps: i64,
    /// End in picoseconds.
    pub end_ps: i64,
}

/// Calls `each` with every busy interval, engine by engine, in the order of time.
///
/// # Errors
/// Where the segment is damaged, and those of `each`.
pub fn for_each_busy<E: From<Error>>(
    segment: &SegmentFile,
    mut each: impl FnMut(&Busy) -> Result<(), E>,
) -> Result<(), E> {
    let Some(table) = segment.table(INSTRUCTION) else { return Ok(()) };
    let mut open: Option<(TrackId, Busy)> = None;
    for_each_timed(segment, table, Order::Track, |row: TimedRow| {
        let RowContent::Slice { duration_ps, name, .. } = row.content else { return Ok(()) };
        if segment.text(name)? == WAIT {
            return Ok(());
        }
        let end_ps = row.start_ps.saturating_add(duration_ps);
        if let Some((track, busy)) = &mut open
            && *track == row.track
            && row.start_ps <= busy.end_ps
        {
            busy.end_ps = busy.end_ps.max(end_ps);
            return Ok(());
        }
        let (engine, core) = place(segment, &row);
        if let Some((_, ended)) =
            open.replace((row.track, Busy { engine, core, start_ps: row.start_ps, end_ps }))
        {
            each(&ended)?;
        }
        Ok::<_, E>(())
    })?;
    open.map_or(Ok(()), |(_, last)| each(&last))
}

/// The engine and core that a row names.
fn place(segment: &SegmentFile, row: &TimedRow) -> (String, i64) {
    let field = |name: &str| {
        let mut values = row.fields.iter();
        values.find(|(id, _)| segment.footer().fields[id.0 as usize].1.name == name).map(|(_, value)| value)
    };
    let label = match field("label") {
        Some(OwnedValue::Text(label)) => label.strip_suffix(MATRIX).unwrap_or(label).to_lowercase(),
        _ => String::new(),
    };
    let core = match field("pcore_idx") {
        Some(OwnedValue::Int(core)) => *core,
        _ => 0,
    };
    (label, core)
}
