//! Assembles the tracks of a table: block list, directories and postings, in the order of tracks.

use std::collections::BTreeMap;

use super::track_output::{ColumnOutput, TrackOutput};
use crate::base::{Result, narrow};
use crate::block::{ColumnType, ZoneMap};
use crate::codec::{self, Encoder};
use crate::index::{BlockTexts, encode_postings};
use crate::ingest::encoders::Encoders;
use crate::model::TableId;
use crate::segment::{
    BlockListWriter, ColumnDirectory, ColumnMeta, ColumnRole, DirectoryFrame, Piece, PieceWriter, StoredAt,
};

/// Takes the tracks of one table in order.
#[derive(Debug, Default)]
pub struct TableAssembler {
    blocks: BlockListWriter,
    columns: BTreeMap<(ColumnRole, ColumnType), ColumnOutput>,
    rows: u32,
}

/// The written parts of a table.
#[derive(Debug)]
pub struct WrittenTable {
    /// Number of rows.
    pub rows: u32,
    /// Location of the block list.
    pub blocks: Piece,
    /// Columns with the locations of their directories and postings.
    pub columns: Vec<ColumnMeta>,
}

impl TableAssembler {
    /// Number of rows so far.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Adds the next track.
    pub fn add(&mut self, track: &mut TrackOutput) {
        let before = self.blocks.packs();
        let packs = if track.packed.is_empty() { track.blocks.len() } else { 1 };
        for mut column in track.columns.drain(..) {
            column.pad(packs);
            match self.columns.get_mut(&(column.role, column.kind)) {
                Some(whole) => whole.append(column, before),
                None => {
                    let mut whole = column.like();
                    whole.append(column, before);
                    self.columns.insert((whole.role, whole.kind), whole);
                }
            }
        }
        if track.packed.is_empty() {
            self.blocks.track(&track.blocks);
            track.blocks.iter().for_each(|_| self.blocks.pack(1));
        } else {
            track.blocks.chunks(1).for_each(|block| self.blocks.track(block));
            self.blocks.pack(track.blocks.len());
        }
        self.rows += track.rows;
    }

    /// Writes block list, directories and postings.
    pub fn finish(
        self,
        id: TableId,
        encoders: &Encoders<'_>,
        writer: &mut PieceWriter<'_>,
    ) -> Result<WrittenTable> {
        let mut bytes = Vec::new();
        self.blocks.encode(&mut bytes);
        let blocks = writer.piece(&bytes)?;
        let mut whole: Vec<ColumnOutput> = self.columns.into_values().collect();
        whole.iter_mut().for_each(|column| column.pad(self.blocks.packs()));
        let is_small = writer.has_annex();
        let encoded = encoders.gather(whole.len(), |at, encoder| {
            if is_small { (whole[at].encode_small(encoder), None) } else { whole[at].encode(encoder) }
        });
        let mut columns = Vec::new();
        for (ColumnOutput { role, kind, bytes, .. }, (directory, postings)) in whole.into_iter().zip(encoded)
        {
            let directory = writer.piece(&directory)?;
            let postings = postings.map_or(Ok(Piece::default()), |postings| writer.piece(&postings))?;
            columns.push(ColumnMeta { table: id, role, kind, directory, postings, bytes });
        }
        Ok(WrittenTable { rows: self.rows, blocks, columns })
    }
}

impl ColumnOutput {
    /// Encodes the directory, and the postings if there are any.
    fn encode(&self, encoder: &mut Encoder) -> (Vec<u8>, Option<Vec<u8>>) {
        let mut directory = Vec::new();
        self.directory.encode(DirectoryFrame::Nothing, encoder, &mut directory);
        let postings = self.postings.as_ref().map(|texts| {
            let mut postings = Vec::new();
            encode_postings(texts, encoder, &mut postings);
            postings
        });
        (directory, postings)
    }

    /// Encodes the directory of a small segment. Reading all blocks of a small segment takes no
    /// longer than reading the list of blocks to read.
    fn encode_small(&self, encoder: &mut Encoder) -> Vec<u8> {
        let ColumnDirectory { places, inline, .. } = &self.directory;
        let (places, inline) = (places.clone(), inline.clone());
        let zones = vec![ZoneMap::None; places.len()];
        let mut bytes = Vec::new();
        encoder.within(codec::OuterCompression::Frame, |encoder| {
            ColumnDirectory { places, zones, inline }.encode(DirectoryFrame::Footer, encoder, &mut bytes);
        });
        bytes
    }

    /// An empty column of the same role and type.
    fn like(&self) -> Self {
        let postings = self.kind.is_code().then(BlockTexts::default);
        Self { role: self.role, kind: self.kind, directory: Default::default(), postings, bytes: 0 }
    }

    /// Adds the part of a track. The first pack of the part is pack number `before` of the table.
    fn append(&mut self, part: Self, before: usize) {
        self.pad(before);
        let inline_before = narrow(self.directory.inline.len());
        self.directory.inline.extend_from_slice(&part.directory.inline);
        self.directory.places.extend(part.directory.places.into_iter().map(|place| match place {
            StoredAt::Inline(start, len) => StoredAt::Inline(start + inline_before, len),
            StoredAt::Absent | StoredAt::Piece(_) => place,
        }));
        self.directory.zones.extend(part.directory.zones);
        self.bytes += part.bytes;
        let before = narrow(before);
        match (&mut self.postings, part.postings) {
            (Some(texts), Some(part)) => texts.append(&part, before),
            _ => self.postings = None,
        }
    }
}
