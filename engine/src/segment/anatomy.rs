//! A segment's anatomy: where its bytes go, for `nprof inspect` and for tests of size.

use std::collections::BTreeMap;

use super::{Bytes, ColumnRole, Segment};
use crate::base::Result;
use crate::block::{Coding, ColumnType};
use crate::codec;

/// Where a segment's bytes go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anatomy {
    /// Length of the file.
    pub file_bytes: u64,
    /// What it would be if the footer of a small segment, with all of its columns, were not compressed; else the same.
    /// The figures below are parts of this.
    pub unpacked_bytes: u64,
    /// Each table.
    pub tables: Vec<TableAnatomy>,
    /// Texts of the dictionary, and their bytes.
    pub dictionary: (u64, u64),
    /// Arrows, and their bytes.
    pub flows: (u64, u64),
    /// Bytes of the tile pyramids.
    pub pyramid_bytes: u64,
    /// Directories, block lists, postings, footer, header, trailer.
    pub other_bytes: u64,
}

/// Where a table's bytes go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableAnatomy {
    /// Its name.
    pub name: String,
    /// Number of rows.
    pub rows: u64,
    /// Number of blocks.
    pub blocks: u64,
    /// Number of packs.
    pub packs: u64,
    /// Its columns.
    pub columns: Vec<ColumnAnatomy>,
}

/// Where a column's bytes go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnAnatomy {
    /// The role or the field's name.
    pub name: String,
    /// How it is stored.
    pub kind: ColumnType,
    /// Bytes of its blocks.
    pub bytes: u64,
    /// Codecs, each with the number of packs that use it.
    pub codecs: Vec<(&'static str, u64)>,
}

impl<B: Bytes> Segment<B> {
    /// Where the bytes go. Reads every directory, and the first byte of every block.
    ///
    /// # Errors
    /// Where bytes are missing or damaged.
    pub fn anatomy(&self) -> Result<Anatomy> {
        let footer = self.footer();
        let mut tables = Vec::new();
        let mut columns_bytes = 0;
        for (id, meta) in (0_u16..).zip(&footer.tables) {
            let id = crate::model::TableId(id);
            let mut columns = Vec::new();
            for at in self.columns_of(id) {
                columns_bytes += footer.columns[at].bytes;
                columns.push(self.column_anatomy(at)?);
            }
            tables.push(TableAnatomy {
                name: meta.spec.name.clone(),
                rows: u64::from(meta.rows),
                blocks: self.blocks(id)?.len() as u64,
                packs: self.blocks(id)?.packs() as u64,
                columns,
            });
        }
        let pyramid_bytes = footer.tracks.iter().map(|track| track.pyramid_bytes).sum();
        let known = columns_bytes + footer.dictionary.bytes + footer.flows.bytes + pyramid_bytes;
        let unpacked_bytes = self.unpacked_len();
        Ok(Anatomy {
            file_bytes: self.file_len(),
            unpacked_bytes,
            tables,
            dictionary: (u64::from(footer.dictionary.texts), footer.dictionary.bytes),
            flows: (footer.flows.arrows, footer.flows.bytes),
            pyramid_bytes,
            other_bytes: unpacked_bytes.saturating_sub(known),
        })
    }

    fn column_anatomy(&self, at: usize) -> Result<ColumnAnatomy> {
        let meta = &self.footer().columns[at];
        let mut codecs = BTreeMap::new();
        for pack in 0..self.directory(at)?.places.len() {
            let name = match self.pack_bytes(at, pack)? {
                None => "absent",
                Some((bytes, offset)) => {
                    let (coding, values) = crate::block::encoded_values(bytes, offset)?;
                    match coding {
                        Coding::All | Coding::Masked => codec::codec_name(values),
                        Coding::Foretold => "foretold",
                        Coding::Codes => "codes of the program",
                        Coding::AfterEnd => "after the end before",
                        Coding::AfterStart => "after the start before",
                        Coding::Rate => "rates",
                    }
                }
            };
            *codecs.entry(name).or_insert(0) += 1;
        }
        let name = self.column_name(at).to_owned();
        Ok(ColumnAnatomy { name, kind: meta.kind, bytes: meta.bytes, codecs: codecs.into_iter().collect() })
    }

    /// What a column is called: its role, or its field's name.
    #[must_use]
    pub fn column_name(&self, column: usize) -> &str {
        match self.footer().columns[column].role {
            ColumnRole::Field(id) => &self.footer().fields[id.0 as usize].1.name,
            ColumnRole::Start => "start",
            ColumnRole::Duration => "duration",
            ColumnRole::Name => "name",
            ColumnRole::Form => "form",
            ColumnRole::Lane => "lane",
            ColumnRole::LaneShift => "lane shift",
            ColumnRole::Value => "value",
        }
    }
}
