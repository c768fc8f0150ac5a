//! Segments that were made to exhaust memory, with right checksums. A few bytes stand for a list of
//! 2^26 numbers or for hundreds of megabytes of texts. Each ends in an error, and opening it and
//! asking every question takes less than 256 MiB.

#![expect(clippy::unwrap_used, reason = "a test and its helpers")]

use std::ops::ControlFlow;

use nprof_engine::base::bytes::Put;
use nprof_engine::base::{Interval, Result};
use nprof_engine::block::ColumnType;
use nprof_engine::codec;
use nprof_engine::exec::Work;
use nprof_engine::fixture::{Counting, alone, cost};
use nprof_engine::index::Postings;
use nprof_engine::metrics::MetricScope;
use nprof_engine::model::{
    FieldSpec, NameId, Nesting, TableId, TableKind, TableSpec, TrackId, TrackSpec, Warning, WarningKind,
};
use nprof_engine::query::{DensityCells, HitPage, SearchPattern, VerifyFinding, verify};
use nprof_engine::rank::RankView;
use nprof_engine::segment::{
    ArrowEnd, BlockListWriter, CHUNK_TEXTS, ColumnMeta, ColumnRole, Footer, Piece, PieceWriter, PyramidPage,
    Segment, TableMeta, TrackMeta, WORDS, content_id, put_column_key, put_pages, put_pieces,
};
use nprof_engine::tile::{Level, TileId, slice_cells};
use nprof_engine::wire::answer;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Most bytes of memory that a hostile segment takes.
const MOST: u64 = 256 << 20;
/// Entries of a list that would take 512 MiB.
const MANY: u64 = 1 << 26;
/// Values of a chunk of a list.
const CHUNK: u64 = 1 << 14;

/// Appends a list of equal numbers: three bytes for each chunk.
fn put_equal(value: i64, count: u64, out: &mut Vec<u8>) {
    let mut chunk = Vec::new();
    codec::encode_ints(&[value], &mut chunk);
    out.put_varint(count);
    (0..count.div_ceil(CHUNK)).for_each(|_| out.put_bytes(&chunk));
}

/// Lists of equal numbers, one after the other.
fn equal(lists: &[(i64, u64)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    lists.iter().for_each(|&(value, count)| put_equal(value, count, &mut bytes));
    bytes
}

type Writer<'w> = PieceWriter<'w>;

/// A segment with one table of slices, which has one column of texts, and one track.
fn forged(rows: u32, change: impl FnOnce(&mut Writer<'_>, &mut Footer)) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = PieceWriter::new(&mut file).unwrap();
    let of = TableId(0);
    let spec = TableSpec::new("t", TableKind::Slices, "");
    let mut blocks = BlockListWriter::default();
    blocks.track(&[(rows, 0, 100)]);
    blocks.pack(1);
    let blocks = if rows <= 2048 { piece(&mut writer, |out| blocks.encode(out)) } else { Piece::default() };
    let mut footer = Footer {
        tables: vec![TableMeta { spec, first_row: 0, rows, blocks }],
        fields: vec![(of, FieldSpec::named("f"))],
        columns: vec![ColumnMeta {
            table: of,
            role: ColumnRole::Name,
            kind: ColumnType::Text,
            directory: Piece::default(),
            postings: Piece::default(),
            bytes: 0,
        }],
        tracks: vec![TrackMeta {
            spec: TrackSpec::slices("a", None, of, Nesting::Concurrent, 0),
            first_row: 0,
            rows,
            lanes: 1,
            start_ps: 0,
            end_ps: 100,
            value_range: None,
            pyramid: Piece::default(),
            pyramid_bytes: 0,
            program: Piece::default(),
            totals: Piece::default(),
        }],
        ..Footer::default()
    };
    change(&mut writer, &mut footer);
    writer.finish(footer.encode()).unwrap();
    file
}

fn piece(writer: &mut Writer<'_>, put: impl FnOnce(&mut Vec<u8>)) -> Piece {
    let mut bytes = Vec::new();
    put(&mut bytes);
    writer.piece(&bytes).unwrap()
}

/// Memory at the peak of a piece of work, beyond what was in use before.
fn peak_of<R>(work: impl FnOnce() -> R) -> (R, u64) {
    let (result, cost) = cost(work);
    (result, cost.peak)
}

/// Asks every kind of question.
fn ask_everything(segment: &Segment<Vec<u8>>) {
    let rank = RankView::of(segment);
    let span = Interval::new(0, 1_000);
    let _ = verify::check(segment, &mut |_: VerifyFinding| ControlFlow::Continue(()));
    let _ = segment.anatomy();
    let _ = answer::search(
        rank,
        &SearchPattern::text("a").into(),
        HitPage::first(10),
        DensityCells::NONE,
        Work::IN_PLACE,
    );
    let _ = answer::selection(rank, span, None, None, Work::IN_PLACE);
    let _ = answer::window(rank, span, None, 100, Work::IN_PLACE);
    let _ = answer::summary(rank, 0, &MetricScope::default(), Work::IN_PLACE);
    let _ = answer::slice(rank, 0, Work::IN_PLACE);
    for level in [0, 8, 20] {
        let _ = answer::tile(
            rank,
            TileId { group: 0, level: Level::new(level).unwrap(), index: 0 },
            Work::IN_PLACE,
        );
    }
}

/// Asserts that `question` ends in an error, and that it and all other questions take little
/// memory. The segment can also be refused when it is opened.
#[track_caller]
fn check(name: &str, file: Vec<u8>, question: impl Fn(&Segment<Vec<u8>>) -> Result<()>) {
    let len = file.len();
    assert!(len < 1 << 20, "{name}: {len} bytes are too many for a bomb");
    let (refused, peak) = peak_of(|| match Segment::open(file) {
        Err(_) => true,
        Ok(segment) => {
            let refused = question(&segment).is_err();
            ask_everything(&segment);
            refused
        }
    });
    assert!(refused, "{name}: no error");
    assert!(peak < MOST, "{name}: {len} bytes take {peak}");
}

#[test]
fn long_block_lists_and_directories_are_refused() {
    let _alone = alone();
    let lists: [(&str, &[(i64, u64)]); 3] = [
        ("rows of blocks", &[(MANY as i64, 1), (1, MANY), (0, MANY), (0, MANY), (1, MANY)]),
        ("many real blocks", &[((1 << 23), 1), (2048, 1 << 23), (0, 1 << 23), (0, 1 << 23), (1, 1 << 23)]),
        ("packs", &[(1, 1), (1, 0), (1, 0), (1, 0), (1, MANY)]),
    ];
    for (name, lists) in lists {
        let file = forged(u32::MAX, |writer, footer| {
            footer.tables[0].blocks = piece(writer, |out| out.extend(equal(lists)));
        });
        check(name, file, |segment| segment.blocks(TableId(0)).map(drop));
    }
    for (name, lists) in [("lengths", [(4, MANY), (0, 0)]), ("offsets", [(6, 1), (0, MANY)])] {
        let file = forged(2_000, |writer, footer| {
            footer.columns[0].directory = piece(writer, |out| out.extend(equal(&lists)));
        });
        check(name, file, |segment| segment.directory(0).map(drop));
    }
    let file = forged(2_000, |writer, footer| {
        footer.columns[0].directory = piece(writer, |out| {
            out.extend(equal(&[(1 << 2 | 1, 1), (0, 0)]));
            out.put_bytes(&[0]);
            out.push(1);
            out.extend(equal(&[(0, MANY), (0, MANY)]));
        });
    });
    check("zone maps", file, |segment| segment.zones(0).map(drop));
}

#[test]
fn long_programs_totals_and_pyramids_are_refused() {
    let _alone = alone();
    let key = (ColumnRole::Name, ColumnType::Text);
    let program = |codes: u64, columns: u64| {
        forged(2_000, |writer, footer| {
            footer.tracks[0].program = piece(writer, |out| {
                put_column_key(key.0, key.1, out);
                put_equal(-1, codes, out);
                out.put_varint(columns);
                for _ in 0..columns {
                    out.push(2);
                    put_column_key(key.0, key.1, out);
                    out.push(0);
                    put_equal(0, codes, out);
                }
            });
        })
    };
    for (name, file) in [("codes", program(MANY, 1)), ("columns of a program", program(1 << 20, 2_000))] {
        check(name, file, |segment| segment.program(TrackId(0)).map(drop));
    }
    for (name, count) in [("names of a block", MANY), ("names of totals", 1)] {
        let file = forged(2_000, |writer, footer| {
            footer.tracks[0].totals = piece(writer, |out| {
                out.extend(equal(&[(count as i64, 1), (0, 1)]));
                out.put_varint(MANY);
                out.extend(equal(&[(0, MANY); 5]));
            });
        });
        check(name, file, |segment| segment.totals(TrackId(0)).map(drop));
    }
    let pages = |bytes: u64, lists: &[(i64, u64)]| {
        forged(2_000, |writer, footer| {
            footer.tracks[0].pyramid = piece(writer, |out| out.extend(equal(lists)));
            footer.tracks[0].pyramid_bytes = bytes;
        })
    };
    let many = [(0, MANY); 7];
    for (name, file) in [
        ("pages", pages(1_000, &many)),
        ("pages of a long pyramid", pages(u64::MAX >> 1, &many)),
        ("overlapping pages", pages(1_000, &[(0, 900); 7])),
    ] {
        check(name, file, |segment| segment.pages(TrackId(0)).map(drop));
    }
    let file = forged(2_000, |writer, footer| {
        let page = piece(writer, |out| out.extend(equal(&[(0, MANY); 7])));
        footer.tracks[0].pyramid = piece(writer, |out| {
            put_pages(&[PyramidPage { lane: 0, level: 0, first: 0, last: 9, piece: page }], out);
        });
        footer.tracks[0].pyramid_bytes = u64::from(page.len);
    });
    check("cells of a page", file, |segment| {
        let page = segment.pages(TrackId(0))?[0];
        slice_cells(segment, &page, 0).map(drop)
    });
}

#[test]
fn long_postings_and_arrows_are_refused() {
    let _alone = alone();
    let with_body = |count: u64, body: &[u8]| {
        forged(2_000, |writer, footer| {
            footer.dictionary.texts = 4_000;
            footer.columns[0].postings = piece(writer, |out| {
                out.extend(equal(&[(1, count), (body.len() as i64, count)]));
                out.put_bytes(body);
            });
        })
    };
    // A bitmap of 65,536 containers, each a run of one number: 10 bytes stand for 8 KiB.
    let mut runs = vec![1];
    runs.extend_from_slice(&(0xffff_u32 << 16 | 12347).to_le_bytes());
    runs.resize(runs.len() + 65_536 / 8, 0xff);
    (0..=u16::MAX).for_each(|key| runs.extend([key.to_le_bytes(), [0, 0]].concat()));
    runs.resize(runs.len() + 65_536 * 6, 0);
    for (name, file) in [("postings", with_body(MANY, &[])), ("containers", with_body(1, &runs))] {
        check(name, file, |segment| {
            let piece = segment.footer().columns[0].postings;
            let bytes = segment.piece(piece, "postings")?;
            let postings = Postings::decode(&mut bytes.cursor(), piece.offset)?;
            postings.packs_with(1, |_| true).map(drop)
        });
    }
    let arrows = |bytes: u64, list: &[(i64, u64)]| {
        forged(2_000, |writer, footer| {
            footer.flows.by_from = piece(writer, |out| out.extend(equal(list)));
            (footer.flows.arrows, footer.flows.bytes) = (MANY, bytes);
        })
    };
    for bytes in [1_000, u64::MAX >> 1] {
        let file = arrows(bytes, &[(0, MANY); 4]);
        check("chunks of arrows", file, |segment| segment.arrow_chunks(ArrowEnd::From).map(drop));
    }
    let file = forged(2_000, |writer, footer| {
        let chunk = piece(writer, |out| out.extend(equal(&[(0, MANY); 3])));
        footer.flows.by_from = piece(writer, |out| {
            out.extend(equal(&[(0, 1)]));
            put_pieces(&[chunk], out);
        });
        (footer.flows.arrows, footer.flows.bytes) = (MANY, u64::from(chunk.len));
    });
    check("arrows of a chunk", file, |segment| segment.arrows_from(0).map(drop));
}

/// A column of `count` texts of `len` bytes that are all the same: front-coded, under 100 bytes
/// and one frame.
fn repeated(count: usize, len: usize) -> Vec<u8> {
    let text = "a".repeat(len);
    let mut bytes = Vec::new();
    codec::encode_texts(std::iter::repeat_n(text.as_str(), count), &mut bytes);
    bytes
}

#[test]
fn long_texts_are_refused() {
    let _alone = alone();
    let chunk = repeated(CHUNK_TEXTS, 64_000);
    assert!(chunk.len() < 200, "{} bytes", chunk.len());
    let file = |chunks: usize| {
        forged(2_000, |writer, footer| {
            let chunk = writer.piece(&chunk).unwrap();
            footer.dictionary.chunks = piece(writer, |out| put_pieces(&vec![chunk; chunks], out));
            footer.dictionary.texts = (chunks * CHUNK_TEXTS) as u32;
            footer.dictionary.bytes = u64::from(chunk.len) * chunks as u64;
            // The file has as many bytes as the footer states.
            writer.piece(&vec![0; chunk.len as usize * chunks]).unwrap();
        })
    };
    for chunks in [1, 16] {
        check("a chunk of texts", file(chunks), |segment| segment.text(NameId(0)).map(drop));
    }
    let chunk = repeated(CHUNK_TEXTS, 6_000);
    let file = forged(2_000, |writer, footer| {
        let (count, chunk) = (16, writer.piece(&chunk).unwrap());
        footer.dictionary.chunks = piece(writer, |out| put_pieces(&vec![chunk; count], out));
        footer.dictionary.texts = (count * CHUNK_TEXTS) as u32;
        footer.dictionary.bytes = u64::from(chunk.len) * count as u64;
        writer.piece(&vec![0; chunk.len as usize * count]).unwrap();
    });
    check("a chunk named 16 times", file, |segment| {
        // A search needs the texts for a moment only, and finds them all.
        for chunk in 0..segment.chunk_count() {
            assert_eq!(segment.chunk(chunk)?.len(), CHUNK_TEXTS);
        }
        let mut ids = (0..16).map(|chunk| NameId(chunk * CHUNK_TEXTS as u32));
        ids.try_for_each(|id| segment.text(id).map(drop))
    });
    let file = forged(2_000, |writer, footer| {
        let mut column = vec![0];
        column.extend(repeated(2_000, 120_000));
        footer.columns[0].kind = ColumnType::LongText;
        footer.columns[0].directory = piece(writer, |out| {
            out.extend(equal(&[((column.len() as i64) << 2 | 1, 1), (0, 0)]));
            out.put_bytes(&column);
            out.push(0);
        });
    });
    check("texts in place", file, |segment| segment.block(0, 0).map(drop));
    let file = forged(2_000, |writer, footer| {
        footer.dictionary.texts = u32::MAX;
        footer.dictionary.chunks = piece(writer, |out| out.extend(equal(&[(1, MANY); 3])));
    });
    check("chunks of texts", file, |segment| segment.chunk_pieces().map(drop));
}

/// A segment whose footer unpacks to these bytes.
fn with_footer(unpacked: &[u8]) -> Vec<u8> {
    let mut file = forged(1, |_, _| {});
    file.truncate(16);
    let mut packed = Vec::new();
    codec::compress_with(WORDS, unpacked, &mut packed);
    file.extend(&packed);
    file.extend(16_u64.to_le_bytes());
    file.extend((packed.len() as u32).to_le_bytes());
    file.extend((unpacked.len() as u32).to_le_bytes());
    file.extend(nprof_engine::base::checksum::checksum(&packed).to_le_bytes());
    file.extend(&forged(1, |_, _| {})[8..16]);
    file.extend(b"NPROF\r\n\x1a");
    file
}

#[test]
fn long_footers_are_refused() {
    let _alone = alone();
    let good = with_footer(&Footer::default().encode());
    assert_eq!(
        Segment::open(&good[..]).unwrap().content(),
        content_id(crc_of(&good), good.len() as u64),
        "the forging itself is right"
    );
    let opens = |_: &Segment<Vec<u8>>| Ok(());
    check("a footer of 300 MiB", with_footer(&vec![0; 300 << 20]), opens);
    // Rank and tables, then fields, columns and tracks.
    let start = [0; 8];
    let tail = |lists: &[(i64, u64)]| [&start[..], &equal(lists)].concat();
    check("fields", with_footer(&tail(&[(0, MANY); 2])), opens);
    let no_fields = [&equal(&[(0, 0); 2])[..], &[1, 0, 1, 0, 1, 0]].concat();
    let columns = [&start[..], &no_fields, &equal(&[(0, MANY); 4])].concat();
    check("columns", with_footer(&columns), opens);
    let no_columns = equal(&[(0, 0); 4]);
    let tracks = [&start[..], &no_fields, &no_columns, &equal(&[(0, MANY)])].concat();
    check("tracks", with_footer(&tracks), opens);
    let mut lines = [&start[..], &equal(&[(0, 1); 2]), &[1]].concat();
    lines.put_bytes(&vec![b'\n'; 40 << 20]);
    check("lines", with_footer(&lines), opens);
    let warning =
        Warning { kind: WarningKind::ALL[0], what: String::new(), first_place: String::new(), count: 0 };
    let footer = Footer { warnings: vec![warning; 2 << 20], ..Footer::default() };
    check("warnings", with_footer(&footer.encode()), opens);
    let footer = Footer { waits: (0..1 << 20).collect(), ..Footer::default() };
    check("waits", with_footer(&footer.encode()), opens);
    let lanes = forged(2_000, |_, footer| footer.tracks[0].lanes = u32::MAX);
    check("lanes", lanes, opens);
}

/// Checksum of the footer, as the trailer states it.
fn crc_of(file: &[u8]) -> u32 {
    let at = file.len() - 20;
    u32::from_le_bytes(file[at..at + 4].try_into().unwrap())
}

#[test]
fn a_writer_refuses_a_footer_that_no_reader_takes() {
    let _alone = alone();
    let mut file = Vec::new();
    let writer = PieceWriter::new(&mut file).unwrap();
    assert!(writer.finish(vec![0; 70 << 20]).is_err());
}
