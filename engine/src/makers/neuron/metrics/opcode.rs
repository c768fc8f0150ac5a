//! Number and time of the instructions with an opcode.

use crate::base::Result;
use crate::exec::Work;
use crate::index::Postings;
use crate::makers::class_times::ClassTotal;
use crate::model::{NameId, TableId, TrackId};
use crate::segment::{BlockReader, Bytes, ColumnRole, Segment};

/// The instructions with an opcode on these tracks of a table, from stored sums where there are
/// some.
pub fn total<B: Bytes>(
    segment: &Segment<B>,
    table: TableId,
    tracks: &[TrackId],
    opcode: &str,
    work: Work<'_>,
) -> Result<ClassTotal> {
    let Some(code) = name_code(segment, table, opcode)? else { return Ok(ClassTotal::default()) };
    let of_tracks = work.gather(tracks.len(), |at| of_track(segment, table, tracks[at], code, work))?;
    Ok(of_tracks.into_iter().fold(ClassTotal::default(), ClassTotal::and))
}

fn of_track<B: Bytes>(
    segment: &Segment<B>,
    table: TableId,
    track: TrackId,
    code: i64,
    work: Work<'_>,
) -> Result<ClassTotal> {
    let blocks = segment.blocks_of(track)?;
    let mut total = ClassTotal::default();
    if let Some(totals) = segment.totals(track)? {
        let of_blocks = (0..blocks.len()).flat_map(|block| totals.names(block));
        for of in of_blocks.filter(|of| i64::from(of.name) == code) {
            total = total.and(ClassTotal { count: of.count.into(), total_ps: of.total_ps });
        }
        return Ok(total);
    }
    for block in blocks {
        work.cancel.check()?;
        let mut reader = BlockReader::new(segment, table, block)?;
        let names = reader.core_ints(ColumnRole::Name)?;
        let durations = reader.core_ints(ColumnRole::Duration)?;
        for (_, duration) in names.iter().zip(durations).filter(|(name, _)| **name == code) {
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
