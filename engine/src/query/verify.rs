//! Checks a whole segment: verifies every checksum and decodes everything.

use std::ops::{ControlFlow, Range};

use rustc_hash::FxHashSet;

use super::part::{self, PartMap, SegmentPart};
use crate::base::{ANNEX, Error, Result};
use crate::block::{BlockColumn, BlockValues};
use crate::index::Postings;
use crate::model::{TableId, TrackContent, TrackId};
use crate::segment::{BlockReader, Bytes, ColumnRole, HEADER_LEN, Segment, StoredAt};
use crate::tile::{range_cells, slice_cells};

/// A finding of the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerifyFinding {
    /// Number of bytes checked since the last finding.
    Checked(u64),
    /// A damaged part. Each part is reported once, without the parts that depend on it.
    Damaged {
        /// The damaged part.
        part: SegmentPart,
        /// Offset of the part in the file. For a block stored in its column's directory, the offset
        /// of the directory.
        offset: u64,
        /// Error of the part.
        error: Error,
    },
}

/// Receives findings. `Break` ends the check.
pub type VerifyReport<'a> = &'a mut dyn FnMut(VerifyFinding) -> ControlFlow<()>;

/// Checks all parts that the footer leads to, and continues after damage. Header, footer and
/// trailer were checked when the segment was opened. Parts listed only by a damaged list cannot
/// be found and are not reported.
///
/// Costs as much as reading all columns.
pub fn check<B: Bytes>(segment: &Segment<B>, report: VerifyReport<'_>) -> ControlFlow<()> {
    let mut check = Check { segment, map: part::map(segment), damaged: FxHashSet::default(), report };
    let lists = check.map.clone();
    for (bytes, part) in lists.iter() {
        // Blocks are checked below: blocks of the same rows share the decoded columns that they
        // depend on.
        if !matches!(part, SegmentPart::Block(..)) {
            check.part(*part, bytes, decode_part(segment, *part))?;
        }
    }
    for id in (0..segment.footer().tables.len()).filter_map(|id| u16::try_from(id).ok()) {
        check.table(TableId(id))?;
    }
    ControlFlow::Continue(())
}

fn decode_part<B: Bytes>(segment: &Segment<B>, part: SegmentPart) -> Result<()> {
    match part {
        SegmentPart::BlockList(table) => segment.blocks(table).map(drop),
        SegmentPart::Directory(column) => {
            segment.directory(column).and_then(|_| segment.zones(column)).map(drop)
        }
        SegmentPart::Postings(column) => decode_postings(segment, column),
        SegmentPart::Program(track) => segment.program(track).map(drop),
        SegmentPart::Totals(track) => segment.totals(track).map(drop),
        SegmentPart::Pages(track) => segment.pages(track).map(drop),
        SegmentPart::Page(track, number) => decode_page(segment, track, number),
        SegmentPart::Dictionary => segment.chunk_pieces().map(drop),
        SegmentPart::Chunk(chunk) => segment.chunk(chunk).map(drop),
        SegmentPart::ArrowList(end) => segment.arrow_chunks(end).map(drop),
        SegmentPart::Arrows(end, number) => match segment.arrow_chunks(end)?.get(number) {
            Some(&(_, piece)) => segment.arrow_chunk(piece).map(drop),
            None => Ok(()),
        },
        SegmentPart::Block(column, block) => segment.block(column, block).map(drop),
    }
}

fn decode_postings<B: Bytes>(segment: &Segment<B>, column: usize) -> Result<()> {
    let meta = &segment.footer().columns[column];
    let bytes = segment.piece(meta.postings, "postings")?;
    let postings = Postings::decode(&mut bytes.cursor(), meta.postings.offset)?;
    let texts = i64::from(segment.footer().dictionary.texts);
    let packs = segment.blocks(meta.table)?.packs();
    postings.packs_with(packs, |code| (0..texts).contains(&code)).map(drop)
}

fn decode_page<B: Bytes>(segment: &Segment<B>, track: TrackId, number: usize) -> Result<()> {
    let meta = &segment.footer().tracks[track.0 as usize];
    match (segment.pages(track)?.get(number), meta.spec.kind) {
        (Some(page), TrackContent::Slices(..)) => slice_cells(segment, page, meta.first_row).map(drop),
        (Some(page), TrackContent::Counter(_)) => range_cells(segment, page).map(drop),
        _ => Ok(()),
    }
}

/// State of a check.
struct Check<'s, B> {
    segment: &'s Segment<B>,
    map: PartMap,
    damaged: FxHashSet<SegmentPart>,
    report: VerifyReport<'s>,
}

impl<B: Bytes> Check<'_, B> {
    /// Reports the result of decoding a part at these bytes of the file.
    fn part(&mut self, part: SegmentPart, bytes: &Range<u64>, decoded: Result<()>) -> ControlFlow<()> {
        if let Err(error) = decoded {
            // The damage can be in another part, which was needed to decode this one.
            let culprit = match error {
                Error::Corrupt { offset, .. } if offset >= HEADER_LEN as u64 && !bytes.contains(&offset) => {
                    self.map.at(offset)
                }
                _ => None,
            };
            let culprit = culprit.unwrap_or(part);
            let own = culprit == part;
            if self.damaged.insert(culprit) {
                let elsewhere = || match error {
                    Error::Corrupt { offset, .. } => offset,
                    _ => bytes.start,
                };
                let offset = if own { bytes.start } else { elsewhere() };
                (self.report)(VerifyFinding::Damaged { part: culprit, offset, error })?;
            }
        }
        // Parts in the annex were checked with the footer.
        let of_file = if bytes.start < ANNEX { bytes.end - bytes.start } else { 0 };
        (self.report)(VerifyFinding::Checked(of_file))
    }

    fn table(&mut self, table: TableId) -> ControlFlow<()> {
        let segment = self.segment;
        // Without these lists no blocks can be found. The lists were already reported.
        let Ok(blocks) = segment.blocks(table) else { return ControlFlow::Continue(()) };
        let columns: Vec<usize> =
            segment.columns_of(table).filter(|&column| segment.directory(column).is_ok()).collect();
        for block in 0..blocks.len() {
            let Ok(mut reader) = BlockReader::new(segment, table, block) else { continue };
            let pack = blocks.pack_of(block);
            // A block of a pack is named after the first block, which counts the bytes.
            let first = blocks.blocks_of_pack(pack).start;
            for &column in &columns {
                let decoded = reader.column(column).and_then(|values| check_texts(segment, column, values));
                let mut bytes = match block_place(segment, column, pack) {
                    Ok(Some(bytes)) => bytes,
                    _ => continue,
                };
                if block != first {
                    bytes.end = bytes.start;
                }
                self.part(SegmentPart::Block(column, first), &bytes, decoded)?;
            }
        }
        ControlFlow::Continue(())
    }
}

/// Byte range of a column's block of a pack. For a block inside the column's directory, an
/// empty range at the start of the directory.
fn block_place<B: Bytes>(segment: &Segment<B>, column: usize, pack: usize) -> Result<Option<Range<u64>>> {
    let directory = segment.directory(column)?;
    let start = segment.footer().columns[column].directory.offset;
    Ok(directory.places.get(pack).and_then(|place| match *place {
        StoredAt::Absent => None,
        StoredAt::Inline(..) => Some(start..start),
        StoredAt::Piece(piece) => Some(piece.offset..piece.offset.saturating_add(u64::from(piece.len))),
    }))
}

/// Checks that all text numbers of a column are in the dictionary.
fn check_texts<B: Bytes>(segment: &Segment<B>, column: usize, values: Option<BlockColumn>) -> Result<()> {
    let meta = &segment.footer().columns[column];
    let is_code = meta.kind.is_code() || meta.role == ColumnRole::Name;
    let Some(BlockValues::Ints(codes)) = values.as_ref().map(BlockColumn::values).filter(|_| is_code) else {
        return Ok(());
    };
    let texts = i64::from(segment.footer().dictionary.texts);
    if codes.iter().all(|code| (0..texts).contains(code)) {
        Ok(())
    } else {
        Err(Error::Inconsistent { what: "number of a missing text" })
    }
}
