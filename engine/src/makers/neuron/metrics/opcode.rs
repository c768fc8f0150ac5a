//! Number and time of the instructions with an opcode.

use crate::base::{Interval, Result, Time};
use crate::exec::Work;
use crate::index::Postings;
use crate::makers::class_times::ClassTotal;
use crate::makers::window_rows::rows_in_window;
use crate::model::{NameId, TableId, TrackId};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// The instructions with an opcode on these tracks of a table that start in a window, or all of
/// them, from stored sums where there are some.
pub fn total<B: Bytes>(
    segment: &Segment<B>,
    table: TableId,
    tracks: &[TrackId],
    opcode: &str,
    window: Option<Interval>,
    work: Work<'_>,
) -> Result<ClassTotal> {
    let Some(code) = name_code(segment, table, opcode)? else { return Ok(ClassTotal::default()) };
    let of_tracks =
        work.gather(tracks.len(), |at| of_track(segment, table, tracks[at], code, window, work))?;
    Ok(of_tracks.into_iter().fold(ClassTotal::default(), ClassTotal::and))
}

fn of_track<B: Bytes>(
    segment: &Segment<B>,
    table: TableId,
    track: TrackId,
    code: i64,
    window: Option<Interval>,
    work: Work<'_>,
) -> Result<ClassTotal> {
    let (blocks, list) = (segment.blocks_of(track)?, segment.blocks(table)?);
    let (first, totals) = (blocks.start, segment.totals(track)?);
    let mut total = ClassTotal::default();
    for block in
        list.overlapping(blocks, window.unwrap_or(Interval { start: Time(i64::MIN), end: Time(i64::MAX) }))
    {
        work.cancel.check()?;
        let is_whole = window
            .is_none_or(|window| list.starts()[block] >= window.start.0 && list.end(block) < window.end.0);
        if let Some(totals) = totals.filter(|_| is_whole) {
            for of in totals.names(block - first).iter().filter(|of| i64::from(of.name) == code) {
                total = total.and(ClassTotal { count: of.count.into(), total_ps: of.total_ps });
            }
            continue;
        }
        let mut reader = BlockReader::new(segment, table, block)?;
        let wanted = rows_in_window(segment, table, block, window, &mut reader)?;
        let names = reader.core_ints(ColumnRole::Name)?;
        let durations = reader.core_ints(ColumnRole::Duration)?;
        let rows = names[wanted.clone()].iter().zip(&durations[wanted]);
        for (_, duration) in rows.filter(|(name, _)| **name == code) {
            total = total.and(ClassTotal { count: 1, total_ps: duration.unsigned_abs() });
        }
    }
    Ok(total)
}

/// Number of a name that occurs in the rows of a table; `None` if no row has it.
fn name_code<B: Bytes>(segment: &Segment<B>, table: TableId, wanted: &str) -> Result<Option<i64>> {
    let is_wanted = |code: i64| -> Result<bool> {
        let id = NameId(u32::try_from(code).unwrap_or(u32::MAX));
        Ok(segment.text(id)? == wanted)
    };
    let Some(column) = segment.column(table, ColumnRole::Name) else { return Ok(None) };
    let piece = segment.footer().columns[column].postings;
    if piece.len > 0 {
        // The postings list the few names that occur.
        let bytes = segment.piece(piece, "postings")?;
        let postings = Postings::decode(&mut bytes.cursor(), piece.offset)?;
        for &code in postings.codes() {
            if is_wanted(code)? {
                return Ok(Some(code));
            }
        }
        return Ok(None);
    }
    for code in 0..i64::from(segment.footer().dictionary.texts) {
        if is_wanted(code)? {
            return Ok(Some(code));
        }
    }
    Ok(None)
}
