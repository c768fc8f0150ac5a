//! A good segment with changed bytes, a segment of long lists, or arbitrary bytes: every question
//! ends with an answer or an error, and takes no more memory than the length of the file permits.
//!
//! Built with `--cfg fuzzing`, so that checksums are not compared and changes reach the code behind
//! them.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use crate::bound::{Bound, within};
use nprof_capture::device::simulation::{self, Simulation};
use nprof_engine::base::bytes::Put;
use nprof_engine::base::{Interval, Result};
use nprof_engine::block::ColumnType;
use nprof_engine::codec;
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::makers::{CallIds, collectives};
use nprof_engine::metrics::MetricScope;
use nprof_engine::model::{Nesting, TableId, TableKind, TableSpec, TrackSpec};
use nprof_engine::query;
use nprof_engine::rank::RankView;
use nprof_engine::segment::{
    ColumnMeta, ColumnRole, DictionaryMeta, FlowsMeta, Footer, PieceWriter, Segment, TableMeta, TrackMeta,
    WORDS,
};
use nprof_engine::spill::MemoryScratch;
use nprof_engine::wire::answer;
use nprof_engine::wire::ask::Rank;
use nprof_engine::wire::catalog::{RankDetail, RankEntry};
use nprof_engine::wire::notes::Notes;
use nprof_engine::wire::percent::percent_encoded;
use nprof_engine::wire::questions::{Question, answer_of_rank};
use nprof_engine::wire::refusal::Refusal;
use nprof_engine::wire::regions::RegionList;
use nprof_engine::wire::summary::Summary;

/// Memory of all questions.
const PEAK: Bound = Bound { bytes: 256 << 20, of_byte: 64 };
/// The rows of a hostile segment can be many, so only libFuzzer's limit of time bounds the work.
const ANY: Bound = Bound { bytes: u64::MAX, of_byte: 0 };

const EVENTS: u64 = 300;
/// More events than a small segment can have.
const LARGE_EVENTS: u64 = 9_000;
/// A change is an offset and the bits to flip there.
const CHANGE_LEN: usize = 4;
/// Length of the trailer: the footer's offset, stored length and unpacked length.
const TRAILER_LEN: usize = 36;
const STORED_LEN_AT: usize = 8;
const UNPACKED_LEN_AT: usize = 12;

/// Runs the target on an input.
pub(super) fn run(bytes: &[u8]) {
    let Some((&mode, changes)) = bytes.split_first() else { return };
    match mode % 4 {
        0 => ask(changes.to_vec()),
        1 => ask(changed(large(), changes)),
        2 => ask(with_changed_footer(small(), changes)),
        _ => ask(forged(changes)),
    }
}

/// A segment with its columns behind its footer, and with every kind of table.
fn small() -> &'static [u8] {
    static SMALL: OnceLock<Vec<u8>> = OnceLock::new();
    simulated_once(&SMALL, EVENTS)
}

/// A segment whose columns are pieces of the file.
fn large() -> &'static [u8] {
    static LARGE: OnceLock<Vec<u8>> = OnceLock::new();
    simulated_once(&LARGE, LARGE_EVENTS)
}

fn simulated_once(once: &'static OnceLock<Vec<u8>>, events_per_rank: u64) -> &'static [u8] {
    once.get_or_init(|| {
        let settings = Simulation { ranks: 2, events_per_rank, layers: 1, ..Simulation::default() };
        let scratch = MemoryScratch::default();
        let mut segment = Vec::new();
        let mut builder =
            Builder::new(&scratch, &mut segment, BuildOptions::default()).expect("a vector takes all bytes");
        simulation::capture(&settings, 0, &mut builder, &mut |_| {}).expect("the settings are in range");
        builder.finish().expect("memory is enough");
        segment
    })
}

fn changed(bytes: &[u8], changes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let len = bytes.len();
    for change in changes.chunks_exact(CHANGE_LEN) {
        let offset = u32::from_le_bytes([change[0], change[1], change[2], 0]) as usize;
        bytes[offset % len] ^= change[3];
    }
    bytes
}

/// Changes bytes of the unpacked footer and packs it again. Changes of the compressed bytes would
/// seldom get past zstd.
fn with_changed_footer(segment: &[u8], changes: &[u8]) -> Vec<u8> {
    let (body, trailer) = segment.split_at(segment.len() - TRAILER_LEN);
    let word = |at: usize| u32::from_le_bytes(trailer[at..at + 4].try_into().expect("four bytes")) as usize;
    let (body, stored) = body.split_at(body.len() - word(STORED_LEN_AT));
    let footer = codec::decompress_with(WORDS, stored, word(UNPACKED_LEN_AT)).expect("the segment is good");
    let mut packed = Vec::new();
    codec::compress_with(WORDS, &changed(&footer, changes), &mut packed);
    let mut trailer = trailer.to_vec();
    let len = u32::try_from(packed.len()).expect("a small footer");
    trailer[STORED_LEN_AT..STORED_LEN_AT + 4].copy_from_slice(&len.to_le_bytes());
    [body, &packed, &trailer].concat()
}

/// A segment of lists that the input describes, three bytes for each: where the list goes, its
/// value, and the power of two of its length. Equal numbers take three bytes for each 16,384, so
/// a short input describes long lists.
fn forged(lists: &[u8]) -> Vec<u8> {
    let mut bodies: [Vec<u8>; 10] = Default::default();
    for list in lists.chunks_exact(3).take(200) {
        let body = &mut bodies[usize::from(list[0]) % 10];
        put_equal(i64::from(list[1].cast_signed()), 1 << (list[2] % 28), body);
    }
    let mut file = Vec::new();
    let mut writer = PieceWriter::new(&mut file).expect("a vector takes all bytes");
    let pieces = bodies.map(|body| writer.piece(&body).expect("the lists are short"));
    let [blocks, directory, postings, pyramid, program, totals, chunks, by_from, by_to, _] = pieces;
    let of = TableId(0);
    let spec = TableSpec::new("t", TableKind::Slices, "");
    let rows = 1 << 30;
    let track = TrackMeta {
        spec: TrackSpec::slices("a", None, of, Nesting::Concurrent, 0),
        first_row: 0,
        rows,
        lanes: 1,
        start_ps: 0,
        end_ps: 1 << 40,
        value_range: None,
        pyramid,
        pyramid_bytes: u64::from(pyramid.len),
        program,
        totals,
    };
    let columns = ColumnRole::CORE.map(|role| {
        let kind = if role == ColumnRole::Name { ColumnType::Text } else { ColumnType::Int };
        ColumnMeta { table: of, role, kind, directory, postings, bytes: 0 }
    });
    let footer = Footer {
        tables: vec![TableMeta { spec, first_row: 0, rows, blocks }],
        columns: columns.to_vec(),
        tracks: vec![track],
        dictionary: DictionaryMeta { texts: 4096, chunks, bytes: 0 },
        flows: FlowsMeta { arrows: 1 << 30, by_from, by_to, bytes: u64::from(by_from.len) },
        ..Footer::default()
    };
    writer.finish(footer.encode()).expect("a short footer");
    file
}

fn put_equal(value: i64, count: u64, out: &mut Vec<u8>) {
    let mut chunk = Vec::new();
    codec::encode_ints(&[value], &mut chunk);
    out.put_varint(count);
    (0..count.div_ceil(1 << 14)).for_each(|_| out.put_bytes(&chunk));
}

/// Asks every question, and asserts the memory at the peak.
fn ask(bytes: Vec<u8>) {
    within(bytes.len(), PEAK, ANY, || {
        if let Ok(segment) = Segment::open(bytes) {
            ask_all(&WholeSegment(&segment));
        }
    });
}

/// A segment without a store around it.
struct WholeSegment<'s>(&'s Segment<Vec<u8>>);

impl Rank for WholeSegment<'_> {
    type Bytes = Vec<u8>;

    fn view(&self) -> RankView<'_, Vec<u8>> {
        RankView::of(self.0)
    }

    fn number(&self) -> Option<u32> {
        Some(0)
    }

    fn tile_content(&self) -> String {
        "content".to_owned()
    }

    fn detail(&self) -> Result<RankDetail> {
        let entry = RankEntry {
            rank: 0.into(),
            device: None,
            core: None,
            events: 0,
            start_ps: 0,
            end_ps: 0,
            content: self.tile_content(),
            input: String::new(),
            host: None,
            clock: None,
            clock_by: None,
            found: None,
        };
        answer::rank_detail(self.view(), entry, &[], [])
    }

    fn summary(&self, window: Option<Interval>, work: Work<'_>) -> std::result::Result<Summary, Refusal> {
        let scope = MetricScope::within(window);
        answer::summary(self.view(), 0, &scope, work).map_err(|error| self.refusal(error))
    }

    fn regions(&self, work: Work<'_>) -> std::result::Result<RegionList, Refusal> {
        answer::regions(self.0, work).map_err(|error| self.refusal(error))
    }

    fn notes(&self) -> std::result::Result<Notes, Refusal> {
        Ok(Notes::default())
    }

    fn place(&self) -> String {
        "the segment".to_owned()
    }

    fn advice(&self) -> String {
        String::new()
    }
}

fn ask_all(rank: &WholeSegment<'_>) {
    let segment = rank.0;
    let _ = segment.anatomy();
    let _ = query::verify::check(segment, &mut |_| ControlFlow::Continue(()));
    let _ = collectives(segment, 0, CallIds::Read, Cancel::NEVER);
    let span = "start_ps=0&end_ps=1000000000";
    let mut questions = vec![
        String::new(),
        "/summary".to_owned(),
        "/regions".to_owned(),
        format!("/events?{span}&limit=100"),
        format!("/selection?{span}"),
        format!("/selection?{span}&tracks=0,1,2"),
        "/search?q=matmul&limit=10".to_owned(),
        "/search?q=size%20%3E%20%5Cd%7Cx&syntax=regex&at_ps=1000000&at_row=3&limit=10".to_owned(),
    ];
    for row in [0, 1, 100, u32::MAX] {
        questions.push(format!("/slices/{row}"));
        for direction in ["next", "previous", "up", "down"] {
            questions.push(format!("/slices/{row}/step?direction={direction}"));
        }
    }
    for table in segment.footer().tables.iter().take(8) {
        questions.push(format!("/tables/{}?limit=100", percent_encoded(&table.spec.name)));
    }
    for at in 0..segment.footer().tracks.len().min(8) {
        questions.push(format!("/counters/{at}?at_ps=1000000&{span}"));
        for level in [0, 8, 20, 43] {
            questions.push(format!("/tiles/content/{at}/{level}/0"));
        }
    }
    for question in questions {
        let (path, query) = question.split_once('?').unwrap_or((&question, ""));
        // The question about a table can have a name that no path has.
        if let Ok(Question::OfRank(_, question)) =
            Question::parse(&format!("/api/profiles/a/ranks/0{path}"), query)
        {
            let _ = answer_of_rank(rank, &question, Work::IN_PLACE);
        }
    }
}
