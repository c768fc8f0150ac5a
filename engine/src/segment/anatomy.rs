//! A segment's anatomy: how many bytes each of its parts takes. Used by `nprof inspect` and by
//! tests of size.

use std::collections::BTreeMap;

use super::footer::ColumnRole;
use super::reader::Segment;
use super::source::Bytes;
use crate::base::Result;
use crate::block::{Coding, ColumnType};
use crate::codec;

/// Number of bytes that each part of a segment takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anatomy {
    /// Length of the file.
    pub file_bytes: u64,
    /// Length of the file if the footer of a small segment, with all of its columns, were not
    /// compressed. Equals `file_bytes` for a large segment. The figures below are parts of this
    /// length.
    pub unpacked_bytes: u64,
    /// One entry a table.
    pub tables: Vec<TableAnatomy>,
    /// Number of texts in the dictionary, and their bytes.
    pub dictionary: (u64, u64),
    /// Number of arrows, and their bytes.
    pub flows: (u64, u64),
    /// Bytes of the tile pyramids.
    pub pyramid_bytes: u64,
    /// Bytes of directories, block lists, postings, footer, header and trailer.
    pub other_bytes: u64,
}

/// Number of bytes that a table's columns take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableAnatomy {
    /// Name of the table.
    pub name: String,
    /// Number of rows.
    pub rows: u64,
    /// Number of blocks.
    pub blocks: u64,
    /// Number of packs.
    pub packs: u64,
    /// Columns of the table.
    pub columns: Vec<ColumnAnatomy>,
}

/// Number of bytes that a column takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnAnatomy {
    /// Name of the role or of the field.
    pub name: String,
    /// Type of the stored values.
    pub kind: ColumnType,
    /// Bytes of its blocks.
    pub bytes: u64,
    /// Codecs, each with the number of packs that use it.
    pub codecs: Vec<(String, u64)>,
}

impl<B: Bytes> Segment<B> {
    /// Sums up the bytes of each part. Reads every directory, and the first byte of every block.
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
                None => "absent".to_owned(),
                Some(bytes) => {
                    let (coding, values) = crate::block::encoded_values(&bytes, bytes.offset())?;
                    let from = match coding {
                        Coding::All | Coding::Masked => None,
                        Coding::Predicted => Some("predicted"),
                        Coding::Codes => Some("codes of the program"),
                        Coding::End => Some("end of the program"),
                        Coding::AfterEnd => Some("after the end before"),
                        Coding::AfterStart => Some("after the start before"),
                        Coding::Rate => Some("rates"),
                    };
                    match from {
                        None => codec::codec_name(values).to_owned(),
                        // These hold no column of values.
                        Some(from) if coding == Coding::Rate => from.to_owned(),
                        Some(from) => format!("{from}: {}", codec::codec_name(values)),
                    }
                }
            };
            *codecs.entry(name).or_insert(0) += 1;
        }
        let name = self.column_name(at).to_owned();
        Ok(ColumnAnatomy { name, kind: meta.kind, bytes: meta.bytes, codecs: codecs.into_iter().collect() })
    }

    /// Name of a column for people: its role, or the name of its field.
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
