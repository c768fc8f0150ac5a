//! Inputs to begin with: small generated traces, programs, segments and messages for readers of
//! binary formats, which every change of a format changes, and files of `fuzz/seeds` for readers of
//! text.

use std::error::Error;
use std::fs;
use std::path::Path;

use nprof_capture::archive::fixture::{gzip, tar, tar_of_kinds, zip, zip_of_many, zstd};
use nprof_capture::device::simulation::{self, Simulation};
use nprof_capture::formats::aiu::packet_fixture::packets;
use nprof_capture::formats::neff::{Neff, fixture as neff};
use nprof_capture::formats::ntff::fixture::{
    self as ntff, BEGIN, EVENT, INSTRUCTION, SegmentCodes, TraceFixture, word,
};
use nprof_capture::formats::perfetto::fixture::{ProtoMessage, trace as packets_of, varied, zlib};
use nprof_capture::formats::trace_event;
use nprof_engine::analysis::{JobBuilder, RankInput, matched, report};
use nprof_engine::base::ClockFit;
use nprof_engine::codec;
use nprof_engine::exec::Work;
use nprof_engine::fixture::Recorder;
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::insight::finding::{Coverage, FindingRule, Judgement, RULES, RuleVerdict};
use nprof_engine::insight::{GraphOverlay, JobGraph, RankOverlay};
use nprof_engine::makers::neuron::Engine;
use nprof_engine::makers::{CallIds, collectives, work};
use nprof_engine::metrics::MetricScope;
use nprof_engine::model::Sink;
use nprof_engine::query::row_times;
use nprof_engine::rank::RankView;
use nprof_engine::segment::Segment;
use nprof_engine::spill::{MemoryScratch, NoShelf, Space};
use nprof_engine::tile::{Level, TileId};
use nprof_engine::wire::answer;
use nprof_engine::wire::bundle::{Bundle, BundledRank, BundledWaits};
use nprof_engine::wire::catalog::{NameSlot, ProfileEntry, ProfileInfo, RankEntry};
use nprof_engine::wire::findings::Findings;
use nprof_engine::wire::notes::Notes;
use nprof_engine::wire::refusal::{Refusal, RefusalKind};
use nprof_engine::wire::regions::RegionList;
use nprof_engine::wire::run_path::{PathEntry, PathKindEntry, PathShare, RunPath};
use nprof_engine::wire::run_waits::{RunWaits, StatedWaits, WaitEntry, WaitSpan, WaitTable};

use crate::targets::TARGETS;

/// The result of making seeds.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// First byte of an input of the fuzz target `segment`, which selects how the target uses the rest.
const AS_IT_IS: u8 = 0;
const CHANGED_SEGMENT: u8 = 1;
const CHANGED_FOOTER: u8 = 2;
const FORGED: u8 = 3;
/// Parts of a segment that the fuzz target `segment` forges.
const FORGED_PARTS: u8 = 9;

/// More events than a small segment has. Only a small segment has its columns behind the footer.
const LARGE_EVENTS: u64 = 9_000;

const EVENTS: &str = r#"[
    {"ph":"B","pid":1,"tid":2,"ts":1,"name":"outer"}, {"ph":"X","pid":1,"tid":2,"ts":2,"dur":3,"name":"inner"},
    {"ph":"s","pid":1,"tid":2,"ts":2,"id":7,"cat":"c"}, {"ph":"X","pid":1,"tid":3,"ts":4,"dur":1,"name":"far"},
    {"ph":"f","pid":1,"tid":3,"ts":4,"id":7,"cat":"c"}, {"ph":"i","pid":1,"tid":2,"ts":5,"name":"now"},
    {"ph":"C","pid":1,"ts":1,"name":"load","args":{"a":1,"b":2.5}}, {"ph":"b","pid":1,"ts":1,"id":1,"cat":"d","name":"e"},
    {"ph":"M","pid":1,"name":"process_name","args":{"name":"host"}}, {"ph":"X","ts":"odd"}]"#;

/// Traces of AIUs that become packets.
const AIU_TRACES: [&str; 3] = [
    include_str!("../seeds/aiu/flex.json"),
    include_str!("../seeds/aiu/chain.json"),
    include_str!("../seeds/aiu/hcoll.json"),
];

/// Inputs of one target.
#[derive(Debug)]
pub struct Seeds {
    /// Name of the target.
    pub target: &'static str,
    /// The inputs.
    pub inputs: Vec<Vec<u8>>,
}

/// Inputs that are made, by target.
pub fn made() -> Result<Vec<Seeds>> {
    let (traces, programs) = (traces(), programs());
    for trace in &traces {
        nprof_capture::formats::ntff::read(
            trace,
            None,
            Space::new(&MemoryScratch::default()),
            &mut Recorder::default(),
            &mut |_| {},
        )?;
    }
    for program in &programs {
        Neff::read(program)?;
    }
    let of = |target, inputs| Seeds { target, inputs };
    let segments = [simulated_segment(60)?, event_segment()?, simulated_segment(LARGE_EVENTS)?];
    Ok(vec![
        of("inputs", inputs(&traces[0])),
        of("ntff", traces),
        of("neff", programs),
        of("perfetto", [vec![varied()], packed_packets()].concat()),
        of("aiu", AIU_TRACES.map(packets).to_vec()),
        of("segment", segment_inputs(&segments)),
        of("tile", messages(&segments)?),
        of("bundle", bundles()?),
        of("question", addresses()),
        of("neuron_json", hostile_tables()),
        of("trace_event", hostile_events()),
        of("overlay", vec![vec![1, 3, 0, 1], vec![0, 1, 1, 0]]),
    ])
}

/// Inputs that are files of the project, by target.
pub fn kept() -> Result<Vec<Seeds>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    let mut kept = Vec::new();
    for target in TARGETS {
        let folder = folder.join(target.name);
        if folder.is_dir() {
            let files = fs::read_dir(&folder)?.map(|entry| fs::read(entry?.path()));
            kept.push(Seeds { target: target.name, inputs: files.collect::<std::io::Result<_>>()? });
        }
    }
    Ok(kept)
}

fn traces() -> Vec<Vec<u8>> {
    let mut twice = ntff::varied();
    twice.run(Engine::Scalar, 1, BEGIN + 5, BEGIN + 8);
    twice.run(Engine::Scalar, 2, BEGIN + 7, BEGIN + 20);
    twice.record(INSTRUCTION, 7, 31, 0, BEGIN + 9);
    twice.record(SegmentCodes::new(2, 2), 1, 2, 3, BEGIN + 9);
    let mut cores = ntff::varied();
    let second = cores.subgraph().clone();
    cores.capture.nodes[0].parts[0].subgraphs.push(second);
    let mut damaged = TraceFixture::new(&[word(0xa2, &[]), word(0x95, &[(63, &[0xee])])]);
    damaged.edge(Engine::Tensor, 1, 1, 0, BEGIN + 3);
    damaged.packet(31, 9, BEGIN + 3, BEGIN + 2, 0xff_ffff);
    for value in [1, 2, 1, 0] {
        damaged.record(EVENT, 0xf3_0105, 7, value, BEGIN + u64::from(value));
    }
    vec![
        TraceFixture::new(&[]).bytes(),
        ntff::varied().bytes(),
        twice.bytes(),
        cores.bytes(),
        damaged.bytes(),
    ]
}

fn programs() -> Vec<Vec<u8>> {
    let (header, members) = (neff::header(), neff::members());
    let packed = neff::gzip(&members);
    vec![[&header[..], &packed].concat(), [&header[..], &members].concat(), packed, members]
}

/// Traces in compressed files and archives.
fn inputs(trace: &[u8]) -> Vec<Vec<u8>> {
    let entries: [(&str, &[u8]); 3] = [
        ("rank_0.json", EVENTS.as_bytes()),
        ("x/rank_1.json.gz", &gzip(EVENTS.as_bytes())),
        ("a.ntff", trace),
    ];
    let (zip, tar) = (zip(&entries), tar(&entries));
    let plain = vec![gzip(EVENTS.as_bytes()), zstd(trace), gzip(&tar), zstd(&zip), zip, tar];
    [plain, hostile_archives()].concat()
}

/// Archives that took much memory once, or could: headers of a tar about the next file, the map of
/// a sparse file, and a zip that states more entries than it has.
fn hostile_archives() -> Vec<Vec<u8>> {
    let long = [b'n'; 70_000];
    let of_kind = |kind: u8| tar_of_kinds(&[(kind, "@", &long), (b'0', "rank_0.json", EVENTS.as_bytes())]);
    let tars = b"LKxgS".map(of_kind);
    [&tars[..], &[zip_of_many("rank_0.json", EVENTS.as_bytes(), 1 << 24)]].concat()
}

/// Packed packets that cost the square of their length once: very many packets without content.
fn packed_packets() -> Vec<Vec<u8>> {
    let list = packets_of(&vec![ProtoMessage::new(); MANY]);
    let packed = [(50, zlib(&list)), (133, ProtoMessage(zstd(&list)))];
    let repeated = |(field, packed): (u32, ProtoMessage)| {
        packets_of(&vec![ProtoMessage::new().message(field, &packed); MANY / 16])
    };
    packed.map(repeated).to_vec()
}

/// Repetitions in a seed that is hostile by its length: each seed has some ten thousand bytes.
const MANY: usize = 4_000;

/// Tables of neuron-profile that cost the square of their length once, or could.
fn hostile_tables() -> Vec<Vec<u8>> {
    let rows = |rows: String| format!(r#"{{"summary":[{{"nd_idx":0}}],"x":[{rows}]}}"#).into_bytes();
    let same = ["{", "{,", "{]", "}", "{\"a\":[", "\"\\"].map(|part| rows(part.repeat(MANY)));
    let pairs = [("{", "]"), ("[", "}"), ("{\"a\":", "}")];
    let pairs = pairs.map(|(begin, end)| rows(begin.repeat(MANY) + &end.repeat(MANY)));
    same.into_iter().chain(pairs).collect()
}

/// Events that cost the square of their number once, or could.
fn hostile_events() -> Vec<Vec<u8>> {
    let trace = |event: &dyn Fn(usize) -> String| {
        let events: Vec<String> = (0..MANY / 16).map(event).collect();
        format!("[{}]", events.join(",")).into_bytes()
    };
    let slice = |ts: usize, dur: usize| format!(r#"{{"ph":"X","ts":{ts},"dur":{dur},"name":"a"}}"#);
    let end = |at: usize| {
        let (ph, ts) = if at < MANY / 32 { ("B", MANY + at) } else { ("E", at) };
        format!(r#"{{"ph":"{ph}","ts":{ts},"name":"a"}}"#)
    };
    vec![
        trace(&|_| slice(0, 1)),
        trace(&|at| slice(at, MANY - at)),
        trace(&|at| slice(at, MANY)),
        trace(&|at| {
            format!(r#"{{"ph":"X","tid":{at},"ts":1,"dur":1,"name":"n{at}","args":{{"k{at}":{at}.5}}}}"#)
        }),
        trace(&end),
        "[{".repeat(MANY).into_bytes(),
        format!("[{}", r#"{"ph":"X","#.repeat(MANY / 4)).into_bytes(),
    ]
}

fn simulated_segment(events_per_rank: u64) -> Result<Vec<u8>> {
    let settings = Simulation { ranks: 2, events_per_rank, layers: 1, ..Simulation::default() };
    segment_of(|sink| simulation::capture(&settings, 0, sink, &mut |_| {}))
}

fn event_segment() -> Result<Vec<u8>> {
    segment_of(|sink| {
        trace_event::read(&mut EVENTS.as_bytes(), trace_event::Context::default(), sink, &mut |_| {})
    })
}

fn segment_of<E: Error + 'static>(
    fill: impl FnOnce(&mut dyn Sink) -> std::result::Result<(), E>,
) -> Result<Vec<u8>> {
    let scratch = MemoryScratch::default();
    let mut segment = Vec::new();
    let mut builder = Builder::new(&scratch, &mut segment, BuildOptions::default())?;
    fill(&mut builder)?;
    builder.finish()?;
    Ok(segment)
}

fn segment_inputs(segments: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let whole = segments.iter().map(|segment| [&[AS_IT_IS], &segment[..]].concat());
    // An offset of three bytes, and the bits to flip there.
    let changes = [[0x10, 0, 0, 1], [0, 1, 0, 0x80], [0, 8, 0, 0xff], [0x34, 0x12, 0, 4]];
    let changed =
        [CHANGED_SEGMENT, CHANGED_FOOTER].into_iter().map(|mode| [&[mode], changes.as_flattened()].concat());
    // A list of 2^26 equal numbers, three times, for each part of a segment.
    let long = (0..FORGED_PARTS).map(|part| vec![FORGED, part, 1, 26, part, 1, 26, part, 1, 26]);
    whole.chain(changed).chain(long).collect()
}

fn bundles() -> Result<Vec<Vec<u8>>> {
    let rank = RankEntry {
        rank: 3.into(),
        host: None,
        device: None,
        core: Some(1),
        events: 7,
        start_ps: 0,
        end_ps: 9,
        content: "0123456789abcdef".to_owned(),
        input: "trace.json".to_owned(),
        clock: None,
        clock_by: None,
        found: None,
    };
    let entry = ProfileEntry {
        id: "n_0".to_owned(),
        slug: "small".to_owned(),
        aliases: Vec::new(),
        display_name: String::new(),
        created_unix_ms: 0,
        ranks: 1,
        events: 7,
        size_bytes: 100,
        warnings: 0,
        source: "trace-event".to_owned(),
    };
    let profile =
        ProfileInfo { entry, start_ps: 0, end_ps: 9, active_ps: None, ranks: vec![rank], whole: vec![] };
    let summary = Err(Refusal::new(RefusalKind::Damaged, "no metrics".to_owned()));
    let names = vec![NameSlot { kind: "matmul".to_owned(), slot: 2 }];
    let ranks = vec![BundledRank { warnings: Vec::new(), summary, regions: Ok(RegionList::default()) }];
    let verdict = |rule: &FindingRule| RuleVerdict { rule: rule.name, verdict: Judgement::Nothing };
    let verdicts: Vec<RuleVerdict> = RULES.iter().map(verdict).collect();
    let findings = Ok(Findings::of(&verdicts, 5, &Coverage::default()));
    let (notes, path, waits) = (Notes::default(), Ok(path()), Ok(vec![waits()]));
    let bundle = Bundle {
        profile,
        names,
        ranks,
        notes,
        findings,
        path,
        waits,
        balance: Err(Refusal::new(RefusalKind::NotFound, "one rank".to_owned())),
        graph: Ok(graph()?),
        comparisons: Vec::new(),
        paired: Vec::new(),
    };
    Ok(vec![postcard::to_allocvec(&bundle)?])
}

/// The dependency graph of a small simulated rank.
fn graph() -> Result<GraphOverlay> {
    let bytes = simulated_segment(300)?;
    let segment = Segment::open(&bytes[..])?;
    let cancel = Work::IN_PLACE.cancel;
    let calls = collectives(&segment, 3, CallIds::Skipped, cancel)?;
    let mut builder = JobBuilder::default();
    builder.add(RankInput { rank: 3, calls, given: None, stated_ps: 0 });
    let job = builder.finish(cancel)?;
    let report = report(&job, matched(&job, cancel)?, cancel)?;
    let graph =
        JobGraph::new(&job, &report, vec![work(&segment, Work::IN_PLACE)?], &NoShelf, Work::IN_PLACE)?;
    let times = |rows: &[u32]| row_times(&segment, rows, cancel);
    let rank =
        RankOverlay::of(&graph.ranks[0], work(&segment, Work::IN_PLACE)?, &ClockFit::default(), times)?;
    Ok(GraphOverlay::of(&graph, vec![rank]))
}

/// A critical path of one part.
fn path() -> RunPath {
    let part = PathEntry {
        rank: 0,
        track: 2,
        track_name: "Tensor".to_owned(),
        lane: 0,
        row: Some(3),
        name: "matmul".to_owned(),
        kind: PathKindEntry::Work,
        start_ps: 0,
        end_ps: 5,
        count: 1,
    };
    RunPath {
        answer: "the run takes 5 ps".to_owned(),
        start_ps: 0,
        length_ps: 5,
        by_kind: vec![PathShare { name: "work".to_owned(), ps: 5 }],
        by_rank: Vec::new(),
        by_name: Vec::new(),
        names: 1,
        by_engine: vec![PathShare { name: "Tensor".to_owned(), ps: 5 }],
        by_layer: Vec::new(),
        parts: vec![part],
    }
}

/// The waits of a rank, with all keys.
fn waits() -> BundledWaits {
    let name = || Some("Vector".to_owned());
    let entry = WaitEntry {
        rank: 0,
        waiter: Some("Tensor".to_owned()),
        awaited: name(),
        kind: "semaphore".to_owned(),
        wait_ps: 5,
        root: name(),
        text: "Tensor waited for Vector to change S[12]".to_owned(),
        longest_ps: Some(5),
        semaphore: Some("S[12]".to_owned()),
        instruction: Some("MATMUL".to_owned()),
        layer: Some("layer 0".to_owned()),
        source: Some("kernel.py:7".to_owned()),
        row: Some(3),
        awaited_instruction: Some("ACTIVATE".to_owned()),
        awaited_row: Some(2),
        link: Some("?v=2&rank=0".to_owned()),
    };
    let table = WaitTable {
        answer: "queues and threads of the run waited 5 ps".to_owned(),
        wait_ps: 5,
        stated_waits: StatedWaits { stated: 3, fulfilled: 2, charged: 1 },
        dropped_edges: 1,
        total: 1,
        rows: vec![entry],
    };
    let span = WaitSpan {
        rank: 0,
        track: 2,
        lane: 0,
        start_ps: 0,
        end_ps: 5,
        awaited: name(),
        row: Some(3),
        is_within: true,
    };
    BundledWaits { rank: Some(0), waits: RunWaits { table, waits: vec![span], left_out: 1, left_out_ps: 2 } }
}

/// Addresses of all kinds of questions.
fn addresses() -> Vec<Vec<u8>> {
    let rank = "/api/profiles/small/ranks/0";
    let span = "start_ps=-5&end_ps=1000&tracks=0,2";
    let questions =
        ["", "/summary", "/slices/7", "/tiles/0123/2/10/-4", "/slices/7/step?direction=up&closed=1,2"];
    let questions = questions.into_iter().map(|question| format!("{rank}{question}"));
    let spans = ["events", "selection", "tables/a%20b", "counters/3"];
    let spans = spans.into_iter().map(|of| format!("{rank}/{of}?{span}&limit=9&at_ps=3"));
    let search = format!("{rank}/search?q=a%2B(b%7Cc)&syntax=regex&at_ps=3&at_row=4&direction=around");
    questions.chain(spans).chain([search]).map(String::into_bytes).collect()
}

fn messages(segments: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
    let mut messages = Vec::new();
    for bytes in segments {
        let segment = Segment::open(bytes.clone())?;
        for group in 0..u32::try_from(segment.footer().tracks.len())?.min(4) {
            for level in [0, 12, 24] {
                let Some(level) = Level::new(level) else { continue };
                let Ok(tile) =
                    answer::tile(RankView::of(&segment), TileId { group, level, index: 0 }, Work::IN_PLACE)
                else {
                    continue;
                };
                messages.push(postcard::to_allocvec(&tile)?);
            }
        }
        messages.push(postcard::to_allocvec(&answer::slice(RankView::of(&segment), 0, Work::IN_PLACE)?)?);
        messages.push(postcard::to_allocvec(&answer::summary(
            RankView::of(&segment),
            0,
            &MetricScope::default(),
            Work::IN_PLACE,
        )?)?);
    }
    let packed: Vec<Vec<u8>> = messages
        .iter()
        .map(|message| {
            let mut frame = Vec::new();
            codec::compress(message, &mut frame);
            frame
        })
        .collect();
    messages.extend(packed);
    messages.sort();
    messages.dedup();
    Ok(messages)
}
