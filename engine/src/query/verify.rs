//! Checks a whole segment: verifies every checksum and decodes everything.

use std::ops::{ControlFlow, Range};

use rustc_hash::FxHashSet;

use super::part::{Part, PartMap};
use crate::base::{ANNEX, Error, Result};
use crate::block::{BlockColumn, BlockValues};
use crate::index::Postings;
use crate::model::{TableId, TrackId, TrackKind};
use crate::segment::{BlockReader, Bytes, ColumnRole, HEADER_LEN, Place, Segment};

/// A finding of the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Number of bytes checked since the last finding.
    Checked(u64),
    /// A damaged part. Each part is reported once, without the parts that depend on it.
    Damaged {
        /// The damaged part.
        part: Part,
        /// Offset of the part in the file. For a block stored in its column's directory, the offset
        /// of the directory.
        offset: u64,
        /// Error of the part.
        error: Error,
    },
}

/// Receives findings. `Break` ends the check.
pub type Report<'a> = &'a mut dyn FnMut(Finding) -> ControlFlow<()>;

impl<B: Bytes> Segment<B> {
    /// Checks all parts that the footer leads to, and continues after damage. Header, footer and
    /// trailer were checked when the segment was opened. Parts listed only by a damaged list cannot
    /// be found and are not reported.
    ///
    /// Costs as much as reading all columns.
    pub fn verify(&self, report: Report<'_>) -> ControlFlow<()> {
        let mut check = Check { segment: self, map: self.part_map(), damaged: FxHashSet::default(), report };
        let lists = check.map.clone();
        for (bytes, part) in lists.iter() {
            // Blocks are checked below: blocks of the same rows share the decoded columns that they
            // depend on.
            if !matches!(part, Part::Block(..)) {
                check.part(*part, bytes, self.decode_part(*part))?;
            }
        }
        for id in (0..self.footer().tables.len()).filter_map(|id| u16::try_from(id).ok()) {
            check.table(TableId(id))?;
        }
        ControlFlow::Continue(())
    }

    fn decode_part(&self, part: Part) -> Result<()> {
        match part {
            Part::BlockList(table) => self.blocks(table).map(drop),
            Part::Directory(column) => self.directory(column).and_then(|_| self.zones(column)).map(drop),
            Part::Postings(column) => self.decode_postings(column),
            Part::Program(track) => self.program(track).map(drop),
            Part::Totals(track) => self.totals(track).map(drop),
            Part::Pages(track) => self.pages(track).map(drop),
            Part::Page(track, number) => self.decode_page(track, number),
            Part::Dictionary => self.chunk_pieces().map(drop),
            Part::Chunk(chunk) => self.chunk(chunk).map(drop),
            Part::ArrowList(end) => self.arrow_chunks(end).map(drop),
            Part::Arrows(end, number) => match self.arrow_chunks(end)?.get(number) {
                Some(&(_, piece)) => self.arrow_chunk(piece).map(drop),
                None => Ok(()),
            },
            Part::Block(column, block) => self.block(column, block).map(drop),
        }
    }

    fn decode_postings(&self, column: usize) -> Result<()> {
        let meta = &self.footer().columns[column];
        let mut cursor = self.cursor(meta.postings, "postings")?;
        let postings = Postings::decode(&mut cursor, meta.postings.offset)?;
        let texts = i64::from(self.footer().dictionary.texts);
        let packs = self.blocks(meta.table)?.packs();
        match postings.packs_with(|code| (0..texts).contains(&code))?.max() {
            Some(pack) if pack as usize >= packs => Err(Error::Corrupt {
                what: "postings name a pack that is not there",
                offset: meta.postings.offset,
            }),
            _ => Ok(()),
        }
    }

    fn decode_page(&self, track: TrackId, number: usize) -> Result<()> {
        let meta = &self.footer().tracks[track.0 as usize];
        match (self.pages(track)?.get(number), meta.spec.kind) {
            (Some(page), TrackKind::Slices(..)) => self.slice_cells(page, meta.first_row).map(drop),
            (Some(page), TrackKind::Counter(_)) => self.range_cells(page).map(drop),
            _ => Ok(()),
        }
    }
}

/// State of a check.
struct Check<'s, B> {
    segment: &'s Segment<B>,
    map: PartMap,
    damaged: FxHashSet<Part>,
    report: Report<'s>,
}

impl<B: Bytes> Check<'_, B> {
    /// Reports the result of decoding a part at these bytes of the file.
    fn part(&mut self, part: Part, bytes: &Range<u64>, decoded: Result<()>) -> ControlFlow<()> {
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
                (self.report)(Finding::Damaged { part: culprit, offset, error })?;
            }
        }
        // Parts in the annex were checked with the footer.
        let of_file = if bytes.start < ANNEX { bytes.end - bytes.start } else { 0 };
        (self.report)(Finding::Checked(of_file))
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
                let decoded = reader.column(column).and_then(|values| segment.check_texts(column, values));
                let mut bytes = match segment.block_place(column, pack) {
                    Ok(Some(bytes)) => bytes,
                    _ => continue,
                };
                if block != first {
                    bytes.end = bytes.start;
                }
                self.part(Part::Block(column, first), &bytes, decoded)?;
            }
        }
        ControlFlow::Continue(())
    }
}

impl<B: Bytes> Segment<B> {
    /// Byte range of a column's block of a pack. For a block inside the column's directory, an
    /// empty range at the start of the directory.
    fn block_place(&self, column: usize, pack: usize) -> Result<Option<Range<u64>>> {
        let directory = self.directory(column)?;
        let start = self.footer().columns[column].directory.offset;
        Ok(directory.places.get(pack).and_then(|place| match *place {
            Place::Absent => None,
            Place::Inline(..) => Some(start..start),
            Place::Piece(piece) => Some(piece.offset..piece.offset.saturating_add(u64::from(piece.len))),
        }))
    }

    /// Checks that all text numbers of a column are in the dictionary.
    fn check_texts(&self, column: usize, values: Option<BlockColumn>) -> Result<()> {
        let meta = &self.footer().columns[column];
        let is_code = meta.kind.is_code() || meta.role == ColumnRole::Name;
        let Some(BlockValues::Ints(codes)) = values.as_ref().map(BlockColumn::values).filter(|_| is_code)
        else {
            return Ok(());
        };
        let texts = i64::from(self.footer().dictionary.texts);
        if codes.iter().all(|code| (0..texts).contains(code)) {
            Ok(())
        } else {
            Err(Error::Inconsistent { what: "number of a text that is not there" })
        }
    }
}
