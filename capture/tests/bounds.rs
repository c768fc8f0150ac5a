//! The cost of an ingest is bounded by its input. Traces with many open slices, lanes, threads,
//! names, tables or fields are ingested at one size and at four times that size. The allocated
//! bytes and the counted steps must grow by less than 5, and lanes and threads must take little
//! memory at the peak.

#![expect(clippy::unwrap_used, reason = "a test and its helpers")]

use std::fmt::Write;
use std::sync::Arc;

use nprof_capture::archive::{FileBytes, InMemory, limit, open};
use nprof_capture::files::{ImportJob, MemoryFiles, OneRank};
use nprof_capture::formats::{self, neuron_json, perfetto, trace_event};
use nprof_capture::inputs::{Candidate, plan};
use nprof_engine::base::Interval;
use nprof_engine::fixture::{Counting, Spent, alone, cost};
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::model::{Sink, TrackContent, TrackId};
use nprof_engine::native::write_segment;
use nprof_engine::segment::Segment;
use nprof_engine::spill::{MemoryScratch, Space};
use nprof_engine::tile::slices_in;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Ingests a trace into memory.
fn ingested(bytes: &[u8]) -> (Segment<Vec<u8>>, Spent) {
    ingested_with(bytes, BuildOptions::default())
}

fn ingested_with(bytes: &[u8], options: BuildOptions) -> (Segment<Vec<u8>>, Spent) {
    let (file, cost) = cost(|| segment_of(bytes, options));
    (Segment::open(file).unwrap(), cost)
}

fn segment_of(mut bytes: &[u8], options: BuildOptions) -> Vec<u8> {
    let (scratch, mut file) = (MemoryScratch::default(), Vec::new());
    let mut builder = Builder::new(&scratch, &mut file, options).unwrap();
    let has = |text: &str| memchr::memmem::find(bytes, text.as_bytes()).is_some();
    if has("\"TS1\"") || has("\x03TS1") {
        read_aiu(bytes, &mut builder, Space::new(&scratch));
    } else if bytes.starts_with(b"{\"summary\"") {
        neuron_json::read(&mut bytes, &mut builder, &mut |_| {}).unwrap();
    } else if bytes.starts_with(b"\n") {
        let space = Space { sort_bytes: 1 << 20, ..Space::new(&scratch) };
        let most_unpacked = limit::packets(bytes.len() as u64);
        let context = perfetto::PacketContext { space, origin: None, most_unpacked };
        perfetto::read(&mut bytes, context, &mut builder, &mut |_| {}).unwrap();
    } else {
        let context = trace_event::Context { space: Some(Space::new(&scratch)), origin: None };
        trace_event::read(&mut bytes, context, &mut builder, &mut |_| {}).unwrap();
    }
    builder.finish().unwrap();
    file
}

/// Reads the first rank of a trace of an AIU.
fn read_aiu(bytes: &[u8], builder: &mut dyn Sink, space: Space<'_>) {
    let leaves = open("a.json", FileBytes::new(Arc::new(bytes.to_vec())), &InMemory).leaves;
    let candidates: Vec<Candidate> = leaves.iter().map(|leaf| leaf.candidate.clone()).collect();
    let plans = plan(&candidates).unwrap().plans;
    let files = MemoryFiles(leaves);
    let job = ImportJob { plan: &plans[0], files: &files, space, origin: None, progress: &|_| {} };
    formats::read(&job, &mut OneRank(builder)).unwrap();
}

/// `count` items, with commas between.
fn list(count: u64, item: impl Fn(u64) -> String) -> String {
    (0..count).fold(String::new(), |mut list, at| {
        write!(list, "{}{}", if at > 0 { "," } else { "" }, item(at)).unwrap();
        list
    })
}

fn trace(count: u64, event: impl Fn(u64) -> String) -> String {
    format!("[{}]", list(count, event))
}

fn slice(tid: u64, start: u64, duration: u64, more: &str) -> String {
    format!(r#"{{"ph":"X","pid":1,"tid":{tid},"ts":{start},"dur":{duration},"name":"a"{more}}}"#)
}

/// A slice of an AIU: process, thread, name, time in microseconds, and further attributes.
fn work(pid: u64, tid: u64, name: &str, start: u64, more: &str) -> String {
    let cycles = (start * 560) % (1 << 32);
    let stamps: Vec<String> = (1..=5).map(|at| format!(r#""TS{at}":"{cycles}""#)).collect();
    let stamps = stamps.join(",");
    format!(
        r#"{{"ph":"X","pid":{pid},"tid":{tid},"ts":{start},"dur":1,"name":"{name}","attr":{{{stamps}{more}}}}}"#
    )
}

fn one_span(count: u64) -> String {
    trace(count, |_| slice(1, 0, 1, ""))
}

fn threads(count: u64) -> String {
    trace(count, |at| slice(at, at, 1, ""))
}

/// The n-th event of a pair: begins first, then ends.
fn pairs(count: u64, [begin, end]: [&str; 2], of: impl Fn(u64) -> String) -> String {
    trace(2 * count, |at| {
        let ph = if at < count { begin } else { end };
        format!(r#"{{"ph":"{ph}","cat":"c","pid":1,"tid":1,"ts":{at},{}}}"#, of(at % count))
    })
}

type Shape = (&'static str, fn(u64) -> String);

const SHAPES: [Shape; 32] = [
    ("slices of one span", one_span),
    ("nested slices", |count| trace(count, |at| slice(1, at, 2 * (count - at), ""))),
    ("overlapping slices", |count| trace(count, |at| slice(1, at, count, ""))),
    ("begins without ends", |count| {
        trace(count, |at| format!(r#"{{"ph":"B","pid":1,"tid":1,"ts":{at},"name":"a"}}"#))
    }),
    ("ends of the first begin", |count| pairs(count, ["b", "e"], |at| format!(r#""id":1,"name":"n{at}""#))),
    ("ends before all begins", |count| {
        trace(2 * count, |at| {
            let (ph, ts) = if at < count { ("B", count + at) } else { ("E", at - count) };
            format!(r#"{{"ph":"{ph}","pid":1,"tid":1,"ts":{ts},"name":"a"}}"#)
        })
    }),
    ("ids", |count| pairs(count, ["b", "e"], |at| format!(r#""id":{at},"name":"n""#))),
    ("asynchronous names", |count| {
        pairs(count, ["b", "e"], |at| format!(r#""cat":"c{at}","id":{at},"name":"n{at}""#))
    }),
    ("threads", threads),
    ("processes", |count| {
        trace(count, |at| format!(r#"{{"ph":"X","pid":{at},"tid":1,"ts":{at},"dur":1,"name":"a"}}"#))
    }),
    ("counters", |count| {
        trace(count, |at| format!(r#"{{"ph":"C","pid":1,"ts":{at},"name":"c{at}","args":{{"v":1}}}}"#))
    }),
    ("names", |count| {
        trace(count, |at| format!(r#"{{"ph":"X","pid":1,"tid":1,"ts":{at},"dur":1,"name":"n{at}"}}"#))
    }),
    ("fields of threads", |count| {
        trace(count, |at| slice(at, at, 1, &format!(r#","args":{{"k{}":1}}"#, at % 4_000)))
    }),
    ("keys of events", |count| trace(count, |at| slice(1, at, 1, &format!(r#","args":{{"k{at}":1}}"#)))),
    ("numbers of many kinds", |count| {
        trace(count, |at| {
            let half = if at % 2 == 0 { ".5" } else { "" };
            slice(1, at, 1, &format!(r#","args":{{"k{}":{at}{half}}}"#, at % (count / 2)))
        })
    }),
    ("keys of one event", |count| {
        let keys = list(count, |at| format!(r#""k{at}":1"#));
        trace(1, |_| slice(1, 1, 1, &format!(r#","args":{{{keys}}}"#)))
    }),
    ("keys of one stack frame", |count| {
        let keys = list(count, |at| format!(r#""k{at}":1"#));
        format!(r#"{{"traceEvents":[{}],"stackFrames":{{"1":{{{keys}}}}}}}"#, slice(1, 1, 1, ""))
    }),
    ("flows", |count| {
        trace(2 * count, |at| match at % 2 {
            0 => slice(1, at, 2 * count, ""),
            _ => format!(r#"{{"ph":"s","cat":"f","id":{at},"pid":1,"tid":1,"ts":{at},"name":"f"}}"#),
        })
    }),
    ("memory of devices", |count| {
        trace(count, |at| {
            let args = format!(r#"{{"Device Type":1,"Device Id":{at},"Bytes":5}}"#);
            format!(r#"{{"ph":"i","s":"t","pid":1,"tid":1,"ts":{at},"name":"[memory]","args":{args}}}"#)
        })
    }),
    ("tables", |count| {
        format!(r#"{{"summary":[{{"nd_idx":0}}],{}}}"#, list(count, |at| format!(r#""t{at}":[{{"a":1}}]"#)))
    }),
    ("fields of a table", |count| {
        format!(r#"{{"summary":[{{"nd_idx":0}}],"x":[{}]}}"#, list(count, |at| format!(r#"{{"f{at}":1}}"#)))
    }),
    ("fields of a row", |count| {
        format!(r#"{{"summary":[{{"nd_idx":0}}],"x":[{{{}}}]}}"#, list(count, |at| format!(r#""f{at}":1"#)))
    }),
    ("fields of slices", |count| {
        let row = |at| format!(r#"{{"timestamp":{at},"duration":1,"label":"Tensor","f{at}":1}}"#);
        format!(r#"{{"summary":[{{"nd_idx":0}}],"instruction":[{}]}}"#, list(count, row))
    }),
    ("ends without begins in a row", |count| {
        let [begins, ends] = ["{", "]"].map(|bracket| bracket.repeat(count as usize));
        format!(r#"{{"summary":[{{"nd_idx":0}}],"x":[{begins}{ends}]}}"#)
    }),
    ("rows that seem to begin in a row", |count| {
        format!(r#"{{"summary":[{{"nd_idx":0}}],"x":[{}]}}"#, "{,".repeat(100 * count as usize))
    }),
    ("kernels of an AIU", |count| trace(count, |at| work(0, 1, "k Cmpt Exec", at, ""))),
    ("processes of an AIU", |count| trace(count, |at| work(at, 1, "k Cmpt Exec", at, ""))),
    ("threads of an AIU", |count| trace(count, |at| work(0, at, "k Cmpt Exec", at, ""))),
    ("names of an AIU", |count| trace(count, |at| work(0, 1, &format!("k{at}x Cmpt Exec"), at, ""))),
    ("attributes of an AIU", |count| {
        trace(count, |at| work(0, 1, "k Cmpt Exec", at, &format!(r#","k{at}":1"#)))
    }),
    ("operations of an AIU", |count| {
        trace(count, |at| work(0, 1, "r DmaI", at, &format!(r#","CollGroup":"g_{at}","Peers":"0,1,{at}""#)))
    }),
    ("open slices of an AIU", |count| {
        trace(count, |at| {
            work(0, 1, &format!("k{at} Cmpt Exec"), at, "").replace(r#""ph":"X""#, r#""ph":"B""#)
        })
    }),
];

/// Appends a varint.
fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// A message of numbers and of texts or messages, by field.
fn message(numbers: &[(u64, u64)], parts: &[(u64, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for &(field, number) in numbers {
        put_varint(&mut out, field << 3);
        put_varint(&mut out, number);
    }
    for &(field, bytes) in parts {
        put_varint(&mut out, field << 3 | 2);
        put_varint(&mut out, bytes.len() as u64);
        out.extend_from_slice(bytes);
    }
    out
}

/// A Perfetto trace of packets, each with a sequence, a time, and a message under a field.
fn packets(count: u64, of: impl Fn(u64) -> (u64, u64, u64, Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    for at in 0..count {
        let (sequence, ns, field, bytes) = of(at);
        let packet = message(&[(8, ns), (10, sequence)], &[(field, &bytes)]);
        out.extend(message(&[], &[(1, &packet)]));
    }
    out
}

/// An event of a type on a track, with a name.
fn track_event(kind: u64, track: u64, name: &str) -> Vec<u8> {
    message(&[(9, kind), (11, track)], &[(23, name.as_bytes())])
}

const EVENT: u64 = 11;

/// A shape of a Perfetto trace, with its name.
type PacketShape = (&'static str, fn(u64) -> Vec<u8>);

/// Perfetto traces.
const PACKETS: [PacketShape; 17] = [
    ("packets of open slices", |count| packets(count, |at| (1, at, EVENT, track_event(1, 1, "a")))),
    ("packets of ends", |count| packets(count, |at| (1, at, EVENT, track_event(2, 1, "a")))),
    ("packets of nested slices", |count| {
        packets(2 * count, |at| (1, at, EVENT, track_event(1 + at / count, 1, "")))
    }),
    ("packets of other names", |count| {
        packets(2 * count, |at| (1, at, EVENT, track_event(1 + at / count, 1, &format!("n{}", at % count))))
    }),
    ("packets of tracks", |count| packets(count, |at| (1, at, EVENT, track_event(3, at, "a")))),
    ("packets of descriptors", |count| {
        packets(2 * count, |at| match at < count {
            true => (1, at, 60, message(&[(1, at + 1), (5, at)], &[(2, b"t")])),
            false => (1, at, EVENT, track_event(3, at - count, "a")),
        })
    }),
    ("packets in packed packets", |count| {
        let list = packets(1_000, |at| (1, at, EVENT, track_event(3, 1, "a")));
        let packed = message(&[(10, 1)], &[(133, &zstd::encode_all(&*list, 1).unwrap())]);
        message(&[], &vec![(1, &*packed); count as usize / 100])
    }),
    ("packets of sequences", |count| packets(count, |at| (at, at, EVENT, track_event(3, 1, "a")))),
    ("packets of counters", |count| {
        packets(count, |at| (1, at, EVENT, message(&[(9, 4), (11, at), (30, at)], &[])))
    }),
    ("packets of names", |count| packets(count, |at| (1, at, EVENT, track_event(3, 1, &format!("n{at}"))))),
    ("packets of keys", |count| {
        packets(count, |at| {
            let annotation = message(&[(4, at)], &[(10, format!("k{at}").as_bytes())]);
            (1, at, EVENT, message(&[(9, 3), (11, 1)], &[(4, &annotation)]))
        })
    }),
    ("packets of clocks", |count| {
        packets(2 * count, |at| match at % 2 {
            0 => {
                let [own, boot] = [(64, at), (6, at)].map(|(id, ns)| message(&[(1, id), (2, ns)], &[]));
                (at / 2, at, 6, message(&[], &[(1, &own), (1, &boot)]))
            }
            _ => {
                let event = track_event(3, 1, "a");
                (at / 2, at, EVENT, event)
            }
        })
    }),
    ("packets of flows", |count| {
        packets(count, |at| (1, at, EVENT, message(&[(9, 3), (11, 1), (36, at / 3)], &[])))
    }),
    ("packets of an AIU's names", |count| {
        packets(count, |at| (1, at, EVENT, aiu_event(at, 1, &[(23, format!("n{at}").as_bytes())])))
    }),
    ("packets of an AIU's keys", |count| {
        packets(count, |at| {
            let annotation = message(&[(4, at)], &[(10, format!("k{at}").as_bytes())]);
            (1, at, EVENT, aiu_event(at, 1, &[(4, &annotation), (23, b"a")]))
        })
    }),
    ("packets of an AIU's tracks", |count| {
        packets(count, |at| (1, at, EVENT, aiu_event(at, at, &[(23, b"a")])))
    }),
    ("packets of an AIU that share a text that grows", |count| {
        let text = "t".repeat(4 * count as usize);
        let words = message(&[], &[(29, &message(&[(1, 1)], &[(2, text.as_bytes())]))]);
        let shared = message(&[(17, 1)], &[(10, b"text")]);
        let mut out = packets(1, |at| (1, at, 12, words.clone()));
        out.extend(packets(count, |at| (1, at, EVENT, aiu_event(at, 1, &[(4, &shared), (23, b"a")]))));
        out
    }),
];

/// An instant of an AIU's device on a track, with further parts.
fn aiu_event(counter: u64, track: u64, more: &[(u64, &[u8])]) -> Vec<u8> {
    let counter = message(&[(4, counter)], &[(10, b"TS1")]);
    message(&[(9, 3), (11, track)], &[&[(4, &*counter)], more].concat())
}

/// The shapes whose cost grows by 5 or more from one size to four times that size.
fn grown(options: BuildOptions) -> Vec<String> {
    const COUNT: u64 = 2_000;
    /// Steps that the parsing of an item stands for. Growth that a limit keeps below them does not
    /// count.
    const ITEM_STEPS: u64 = 32;
    let grows = |name: &str, of: &dyn Fn(u64) -> Vec<u8>| {
        let [one, four] = [COUNT, 4 * COUNT].map(|count| {
            let cost = ingested_with(&of(count), options).1;
            Spent { steps: cost.steps + ITEM_STEPS * count, ..cost }
        });
        let is_more = four.allocated >= 5 * one.allocated || four.steps >= 5 * one.steps;
        is_more.then(|| format!("{name}: {one:?} became {four:?}"))
    };
    let texts = SHAPES.into_iter().filter_map(|(name, of)| grows(name, &|count| of(count).into_bytes()));
    let packets = PACKETS.into_iter().filter_map(|(name, of)| grows(name, &of));
    texts.chain(packets).collect()
}

#[test]
fn bytes_and_steps_grow_with_the_input_and_not_with_its_square() {
    let _alone = alone();
    assert_eq!(grown(BuildOptions::default()), [""; 0]);
}

/// Rows go to the scratch space from the beginning.
#[test]
fn the_same_holds_if_memory_is_short() {
    let _alone = alone();
    assert_eq!(grown(BuildOptions { sort_bytes: 1 << 16, ..BuildOptions::default() }), [""; 0]);
}

/// Bytes at the peak for each further item between two sizes.
fn peak_of_each(shape: fn(u64) -> String, [few, many]: [u64; 2]) -> u64 {
    let of = |count: u64| ingested(shape(count).as_bytes()).1.peak;
    of(many).saturating_sub(of(few)) / (many - few)
}

#[test]
fn lanes_and_threads_take_little_memory_each() {
    let _alone = alone();
    let of_a_lane = peak_of_each(one_span, [9_000, 15_000]);
    assert!(of_a_lane < 1_500, "{of_a_lane} bytes a lane");
    let of_a_thread = peak_of_each(threads, [3_000, 9_000]);
    assert!(of_a_thread < 2_500, "{of_a_thread} bytes a thread");
}

/// So little memory that a trace of some megabytes has more than fits.
const LITTLE: BuildOptions = BuildOptions {
    sort_bytes: 4 << 20,
    dictionary_bytes: 2 << 20,
    group_bytes: 2 << 20,
    reader_bytes: 2 << 20,
};
/// Events that take more than [`MOST`] bytes if all of them stay in memory.
const MANY: u64 = 800_000;
const MOST: u64 = 64 << 20;

/// Events of which each brings something that is kept until the end, or that must be sorted.
const LARGE: [Shape; 4] = [
    ("different texts", |count| {
        trace(count, |at| slice(1, at, 1, &format!(r#","args":{{"text":"{:0>60}"}}"#, at * 7_919)))
    }),
    ("different names", |count| {
        trace(count, |at| format!(r#"{{"ph":"X","pid":1,"tid":1,"ts":{at},"dur":1,"name":"{at:0>80}"}}"#))
    }),
    ("arrows", |count| {
        trace(count, |at| {
            let ph = if at % 2 == 0 { "s" } else { "f" };
            format!(
                r#"{{"ph":"{ph}","cat":"c","id":{},"pid":1,"tid":{},"ts":{at},"name":"a"}}"#,
                at / 2,
                at % 8
            )
        })
    }),
    ("slices from the last to the first", |count| {
        trace(count, |at| slice(at % 8, count - at, 3, &format!(r#","args":{{"number":{at}}}"#)))
    }),
];

#[test]
fn own_memory_has_a_limit_whatever_the_input() {
    let _alone = alone();
    let directory = std::env::temp_dir();
    let path = directory.join(format!("nprof-bounds-{}.nseg", std::process::id()));
    let peak_of = |text: &str| {
        let mut bytes = text.as_bytes();
        let (written, cost) = cost(|| {
            write_segment(&path, LITTLE, |sink, space| {
                let context = trace_event::Context { space: Some(space), origin: None };
                trace_event::read(&mut bytes, context, sink, &mut |_| {})
            })
        });
        std::fs::remove_file(&path).unwrap();
        assert!(written.is_ok(), "{written:?}");
        cost.peak
    };
    let peaks = LARGE.map(|(name, of)| (name, peak_of(&of(MANY))));
    assert!(peaks.iter().all(|&(_, peak)| peak < MOST), "{peaks:?}");
}

/// More short tracks than are held at once: some are written before others come.
#[test]
fn tracks_that_are_written_early_are_whole() {
    let _alone = alone();
    const COUNT: u64 = 36_000;
    let (segment, _) =
        ingested(trace(COUNT, |at| slice(at, at, 7, &format!(r#","args":{{"at":{at}}}"#))).as_bytes());
    let tracks = &segment.footer().tracks;
    let all = Interval::new(i64::MIN / 4, i64::MAX / 4);
    let mut rows = Vec::new();
    for (id, track) in (0..).map(TrackId).zip(tracks) {
        if !matches!(track.spec.kind, TrackContent::Slices(..)) {
            continue;
        }
        assert_eq!((track.rows, track.lanes), (1, 1), "{:?}", track.spec.name);
        rows.push(track.first_row);
        // Looking at each would take long.
        if id.0 % 997 == 0 || track.first_row > COUNT as u32 - 9 {
            let slices = slices_in(&segment, id, all).unwrap();
            let starts: Vec<i64> = slices.iter().map(|slice| slice.start_ps).collect();
            assert_eq!(starts, [track.start_ps], "{:?}", track.spec.name);
            assert_eq!(format!("Thread {}", track.start_ps / 1_000_000), track.spec.name);
        }
    }
    rows.sort_unstable();
    assert!(rows.into_iter().eq(0..COUNT as u32), "each row belongs to one track");
}
