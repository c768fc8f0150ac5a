//! Checking a whole segment: every checksum, and that everything can be decoded.

use std::ops::{ControlFlow, Range};

use rustc_hash::FxHashSet;

use super::part::{Part, PartMap};
use crate::base::{ANNEX, Error, Result};
use crate::block::{BlockColumn, BlockValues};
use crate::index::Postings;
use crate::model::{TableId, TrackId, TrackKind};
use crate::segment::{BlockReader, Bytes, ColumnRole, HEADER_LEN, Place, Segment};

/// What the check of a segment has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// So many more bytes have been checked.
    Checked(u64),
    /// A part is damaged. Each is reported once, and what depends on it is not reported.
    Damaged {
        /// Which.
        part: Part,
        /// Where it begins in the file; a block that stands in its column's directory begins where that does.
        offset: u64,
        /// What is wrong with it.
        error: Error,
    },
}

/// Takes findings; breaks where the check shall end.
pub type Report<'a> = &'a mut dyn FnMut(Finding) -> ControlFlow<()>;

impl<B: Bytes> Segment<B> {
    /// Checks all that the footer leads to, and goes on after damage. Header, footer and trailer have been checked when
    /// the segment was opened. What a damaged list would lead to cannot be found, and is not reported.
    ///
    /// Costs as much as reading all columns.
    pub fn verify(&self, report: Report<'_>) -> ControlFlow<()> {
        let mut check = Check { segment: self, map: self.part_map(), damaged: FxHashSet::default(), report };
        let lists = check.map.clone();
        for (bytes, part) in lists.iter() {
            // Blocks come below: those of a row range share what they are decoded with.
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

/// A check under way.
struct Check<'s, B> {
    segment: &'s Segment<B>,
    map: PartMap,
    damaged: FxHashSet<Part>,
    report: Report<'s>,
}

impl<B: Bytes> Check<'_, B> {
    /// Takes the result of decoding a part that has these bytes of the file.
    fn part(&mut self, part: Part, bytes: &Range<u64>, decoded: Result<()>) -> ControlFlow<()> {
        if let Err(error) = decoded {
            // What it was decoded with may be what is damaged.
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
        // What stands in the annex has been checked with the footer.
        let of_file = if bytes.start < ANNEX { bytes.end - bytes.start } else { 0 };
        (self.report)(Finding::Checked(of_file))
    }

    fn table(&mut self, table: TableId) -> ControlFlow<()> {
        let segment = self.segment;
        // Without these lists there are no blocks to be found; the lists have been reported.
        let Ok(blocks) = segment.blocks(table) else { return ControlFlow::Continue(()) };
        let columns: Vec<usize> =
            segment.columns_of(table).filter(|&column| segment.directory(column).is_ok()).collect();
        for block in 0..blocks.len() {
            let Ok(mut reader) = BlockReader::new(segment, table, block) else { continue };
            let pack = blocks.pack_of(block);
            // A block of a pack is called by the first one, which its bytes count for.
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
    /// Where a column's block of a pack is; for one that stands in its column's directory, where that is, without length.
    fn block_place(&self, column: usize, pack: usize) -> Result<Option<Range<u64>>> {
        let directory = self.directory(column)?;
        let start = self.footer().columns[column].directory.offset;
        Ok(directory.places.get(pack).and_then(|place| match *place {
            Place::Absent => None,
            Place::Inline(..) => Some(start..start),
            Place::Piece(piece) => Some(piece.offset..piece.offset.saturating_add(u64::from(piece.len))),
        }))
    }

    /// Whether a column's numbers of texts are all in the dictionary.
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
