//! Segments: one immutable file of one rank.
//!
//! Layout (`docs/format.md` is normative): header, pieces, footer, trailer. A reader takes the
//! trailer, then the footer, then only the pieces that a question needs. Each piece has its own
//! checksum. So a reader works alike on a file, on an object store and inside a web page.
//! The pieces of a small segment stand in the footer's frame, as its annex.

mod anatomy;
mod arrows;
mod block_reader;
mod blocks;
mod code_spans;
mod dictionary;
mod dictionary_writer;
mod directory;
mod flows;
mod footer;
mod footer_codec;
mod footer_codes;
mod footer_lists;
mod layout;
mod lazy_value;
mod limits;
mod lists;
mod open_file;
mod output;
mod pages;
mod pieces;
mod program;
mod reader;
mod room;
mod slice_columns;
mod source;
mod spare;
mod totals;

pub use anatomy::{Anatomy, ColumnAnatomy, TableAnatomy};
pub use block_reader::BlockReader;
pub use blocks::{BlockList, BlockListWriter, TrackRows};
pub use code_spans::CodeSpans;
pub use dictionary::ChunkTexts;
pub use dictionary_writer::{CHUNK_TEXTS, write_dictionary};
pub use directory::{ColumnDirectory, DirectoryFrame, MAX_INLINE, MAX_INLINE_SMALL, StoredAt};
pub use flows::{ArrowChunk, ArrowEnd, CHUNK_ARROWS, FlowsWriter, SliceArrow};
pub use footer::{ColumnMeta, ColumnRole, DictionaryMeta, FlowsMeta, Footer, TableMeta, TrackMeta};
pub use footer_codec::MAX_TRACK_DEPTH;
pub use footer_codes::put_column_key;
pub use layout::{HEADER_LEN, MAGIC, OLDEST_VERSION, Piece, VERSION, WORDS, content_id};
pub use limits::{MAX_CODES, MAX_FIELDS, MAX_TABLES, MAX_TRACKS, MAX_WAITS};
pub use open_file::PieceBytes;
pub use output::{PieceWriter, SegmentOutput};
pub use pages::{PyramidPage, put_pages};
pub use pieces::{put_pieces, read_pieces};
pub use program::{Predicted, Program, ProgramColumn};
pub use reader::{RowPlace, Segment};
pub use slice_columns::SliceColumns;
pub use source::{Bytes, Fetch, Fetched, SourceBytes};
pub use totals::{BlockNameTotal, BlockTotals, BlockTotalsList, TotalsWriter};
