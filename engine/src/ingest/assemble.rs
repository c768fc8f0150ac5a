//! Putting the tracks of a table together: block list, directories, postings, in the order of tracks.

use std::collections::BTreeMap;

use super::track_writer::{ColumnOutput, TrackOutput};
use crate::base::Result;
use crate::block::ColumnType;
use crate::index::{BlockTexts, encode_postings};
use crate::model::TableId;
use crate::segment::{BlockListWriter, ColumnMeta, ColumnRole, Piece, PieceWriter, Place};

/// Takes the tracks of one table in order.
#[derive(Debug, Default)]
pub struct TableAssembler {
    blocks: BlockListWriter,
    columns: BTreeMap<(ColumnRole, ColumnType), ColumnOutput>,
    rows: u32,
}

/// What a table consists of once it is written.
#[derive(Debug)]
pub struct WrittenTable {
    /// Its rows.
    pub rows: u32,
    /// Its block list.
    pub blocks: Piece,
    /// Its columns.
    pub columns: Vec<ColumnMeta>,
}

impl TableAssembler {
    /// Rows so far.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Adds the next track.
    pub fn add(&mut self, track: &mut TrackOutput) {
        let before = self.blocks.len();
        for mut column in track.columns.drain(..) {
            column.pad(track.blocks.len());
            match self.columns.get_mut(&(column.role, column.kind)) {
                Some(whole) => whole.append(column, before),
                None => {
                    let mut whole = column.like();
                    whole.append(column, before);
                    self.columns.insert((whole.role, whole.kind), whole);
                }
            }
        }
        for &(rows, start_ps, end_ps) in &track.blocks {
            self.blocks.push(rows, start_ps, end_ps);
        }
        self.rows += track.rows;
    }

    /// Writes block list, directories and postings.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(self, id: TableId, writer: &mut PieceWriter<'_>) -> Result<WrittenTable> {
        let mut bytes = Vec::new();
        self.blocks.encode(&mut bytes);
        let blocks = writer.piece(&bytes)?;
        let mut columns = Vec::new();
        for ((role, kind), mut column) in self.columns {
            column.pad(self.blocks.len());
            bytes.clear();
            column.directory.encode(&mut bytes);
            let directory = writer.piece(&bytes)?;
            let mut postings = Piece::default();
            if let Some(texts) = column.postings {
                bytes.clear();
                encode_postings(&texts, &mut bytes);
                postings = writer.piece(&bytes)?;
            }
            columns.push(ColumnMeta { table: id, role, kind, directory, postings, bytes: column.bytes });
        }
        Ok(WrittenTable { rows: self.rows, blocks, columns })
    }
}

impl ColumnOutput {
    /// The same column without blocks.
    fn like(&self) -> Self {
        let postings = self.kind.is_code().then(BlockTexts::default);
        Self { role: self.role, kind: self.kind, directory: Default::default(), postings, bytes: 0 }
    }

    /// Adds a track's part, whose first block is number `before` of the table.
    fn append(&mut self, part: Self, before: usize) {
        self.pad(before);
        let inline_before = u32::try_from(self.directory.inline.len()).unwrap_or(u32::MAX);
        self.directory.inline.extend_from_slice(&part.directory.inline);
        self.directory.places.extend(part.directory.places.into_iter().map(|place| match place {
            Place::Inline(start, len) => Place::Inline(start + inline_before, len),
            Place::Absent | Place::Piece(_) => place,
        }));
        self.directory.zones.extend(part.directory.zones);
        self.bytes += part.bytes;
        let before = u32::try_from(before).unwrap_or(u32::MAX);
        match (&mut self.postings, part.postings) {
            (Some(texts), Some(part)) => texts.append(&part, before),
            _ => self.postings = None,
        }
    }
}
