//! The parts of a segment's file with their places and display names, so that damage is reported by
//! name.

use std::fmt;
use std::ops::Range;

use crate::base::Error;
use crate::base::order::sort_by_key;
use crate::model::{TableId, TrackId};
use crate::segment::{ArrowEnd, Bytes, ColumnRole, Piece, Segment, StoredAt};

/// A part of a segment. Columns are named by their position in the footer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentPart {
    /// The list of a table's blocks.
    BlockList(TableId),
    /// The directory of a column, with the blocks stored in it.
    Directory(usize),
    /// A block of a column; the first of several blocks in a pack.
    Block(usize, usize),
    /// The postings of a column: for each text, the packs that hold it.
    Postings(usize),
    /// The program of a track.
    Program(TrackId),
    /// The block totals of a track.
    Totals(TrackId),
    /// The page list of a track's pyramid.
    Pages(TrackId),
    /// A page of a track's pyramid.
    Page(TrackId, usize),
    /// The chunk list of the dictionary.
    Dictionary,
    /// A chunk of the dictionary.
    Chunk(usize),
    /// The list of arrow chunks that are sorted by this end.
    ArrowList(ArrowEnd),
    /// A chunk of arrows sorted by this end.
    Arrows(ArrowEnd, usize),
}

/// Display name of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartName {
    /// Kind of the part, e.g. `block`.
    pub kind: &'static str,
    /// Number among the parts of its kind, if there are several.
    pub number: Option<usize>,
    /// Column of the part.
    pub column: Option<String>,
    /// Table of the part.
    pub table: Option<String>,
    /// Track of the part.
    pub track: Option<String>,
}

impl fmt::Display for PartName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)?;
        if let Some(number) = self.number {
            write!(f, " {number}")?;
        }
        for (of, name) in [("column", &self.column), ("table", &self.table), ("track", &self.track)] {
            if let Some(name) = name {
                write!(f, " of {of} {name:?}")?;
            }
        }
        Ok(())
    }
}

/// Byte ranges of the parts of a segment.
#[derive(Debug, Clone, Default)]
pub struct PartMap(Vec<(Range<u64>, SegmentPart)>);

impl PartMap {
    /// The part that contains this byte.
    #[must_use]
    pub fn at(&self, offset: u64) -> Option<SegmentPart> {
        let after = self.0.partition_point(|(bytes, _)| bytes.start <= offset);
        let (bytes, part) = self.0.get(after.checked_sub(1)?)?;
        bytes.contains(&offset).then_some(*part)
    }

    /// All parts with their byte ranges, in file order.
    pub fn iter(&self) -> impl Iterator<Item = &(Range<u64>, SegmentPart)> {
        self.0.iter()
    }
}

/// Finds all parts from the footer. Parts listed only by a damaged list are left out.
#[must_use]
pub fn map<B: Bytes>(segment: &Segment<B>) -> PartMap {
    let mut map = PartMap::default();
    let mut put = |part, piece: Piece| {
        if piece.len > 0 {
            map.0.push((piece.offset..piece.offset.saturating_add(u64::from(piece.len)), part));
        }
    };
    for (id, table) in (0..).map(TableId).zip(&segment.footer().tables) {
        put(SegmentPart::BlockList(id), table.blocks);
    }
    for (at, column) in segment.footer().columns.iter().enumerate() {
        put(SegmentPart::Directory(at), column.directory);
        put(SegmentPart::Postings(at), column.postings);
        let Ok((blocks, directory)) =
            segment.blocks(column.table).and_then(|b| Ok((b, segment.directory(at)?)))
        else {
            continue;
        };
        for (pack, place) in directory.places.iter().enumerate() {
            if let StoredAt::Piece(piece) = *place {
                put(SegmentPart::Block(at, blocks.blocks_of_pack(pack).start), piece);
            }
        }
    }
    for (id, track) in (0..).map(TrackId).zip(&segment.footer().tracks) {
        put(SegmentPart::Program(id), track.program);
        put(SegmentPart::Totals(id), track.totals);
        put(SegmentPart::Pages(id), track.pyramid);
        let pages = segment.pages(id).unwrap_or_default();
        pages.iter().enumerate().for_each(|(number, page)| put(SegmentPart::Page(id, number), page.piece));
    }
    put(SegmentPart::Dictionary, segment.footer().dictionary.chunks);
    let chunks = segment.chunk_pieces().unwrap_or_default().iter();
    chunks.enumerate().for_each(|(number, piece)| put(SegmentPart::Chunk(number), *piece));
    for end in [ArrowEnd::From, ArrowEnd::To] {
        put(SegmentPart::ArrowList(end), segment.arrow_directory(end));
        let chunks = segment.arrow_chunks(end).unwrap_or_default().into_iter();
        chunks.enumerate().for_each(|(number, (_, piece))| put(SegmentPart::Arrows(end, number), piece));
    }
    sort_by_key(&mut map.0, |(bytes, _)| bytes.start);
    // A program that tracks share is a part of one of them.
    map.0.dedup_by(|later, first| later.0 == first.0 && matches!(later.1, SegmentPart::Program(_)));
    map
}

/// The display name of a part.
#[must_use]
pub fn name<B: Bytes>(segment: &Segment<B>, part: SegmentPart) -> PartName {
    let name = |kind, number| PartName { kind, number, column: None, table: None, track: None };
    let table = |id: TableId| segment.footer().tables.get(usize::from(id.0)).map(|t| t.spec.name.clone());
    let of_column = |name: PartName, column: usize| {
        let meta = &segment.footer().columns[column];
        let title = segment.column_name(column);
        let title = match meta.role {
            // A field has a column for each of its types.
            ColumnRole::Field(_) => format!("{title} ({})", meta.kind.title()),
            _ => title.to_owned(),
        };
        PartName { column: Some(title), table: table(meta.table), ..name }
    };
    let of_track = |name: PartName, track: TrackId| {
        let track = segment.footer().tracks.get(track.0 as usize).map(|meta| meta.spec.name.clone());
        PartName { track, ..name }
    };
    match part {
        SegmentPart::BlockList(id) => PartName { table: table(id), ..name("block list", None) },
        SegmentPart::Directory(column) => of_column(name("directory", None), column),
        SegmentPart::Block(column, block) => of_column(name("block", Some(block)), column),
        SegmentPart::Postings(column) => of_column(name("postings", None), column),
        SegmentPart::Program(track) => of_track(name("program", None), track),
        SegmentPart::Totals(track) => of_track(name("totals", None), track),
        SegmentPart::Pages(track) => of_track(name("pyramid directory", None), track),
        SegmentPart::Page(track, page) => of_track(name("pyramid page", Some(page)), track),
        SegmentPart::Dictionary => name("dictionary directory", None),
        SegmentPart::Chunk(chunk) => name("dictionary chunk", Some(chunk)),
        SegmentPart::ArrowList(ArrowEnd::From) => name("directory of arrows by start", None),
        SegmentPart::ArrowList(ArrowEnd::To) => name("directory of arrows by end", None),
        SegmentPart::Arrows(ArrowEnd::From, chunk) => name("chunk of arrows by start", Some(chunk)),
        SegmentPart::Arrows(ArrowEnd::To, chunk) => name("chunk of arrows by end", Some(chunk)),
    }
}

/// The display name of the damaged part that an error reports. Reads all lists of the file, so
/// use it only for messages.
#[must_use]
pub fn name_of<B: Bytes>(segment: &Segment<B>, error: Error) -> Option<PartName> {
    let Error::Corrupt { offset, .. } = error else { return None };
    map(segment).at(offset).map(|part| name(segment, part))
}
