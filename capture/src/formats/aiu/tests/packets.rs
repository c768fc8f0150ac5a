//! Traces in Perfetto's form give what they give as JSON.

use super::super::packet_fixture::packets;
use super::*;

/// Reads files of bytes.
fn read_bytes(files: &[(&str, Vec<u8>)]) -> Vec<Recorder> {
    read_through(files, &AiuSettings::default(), |files| files)
}

/// Slices with the fields that do not depend on the form of the file.
fn slices(rank: &Recorder) -> Vec<String> {
    let line = |slice: &RecordedSlice| {
        let mut fields: Vec<String> = slice
            .fields
            .iter()
            .filter(|(name, _)| !["job", "id", "pid", "tid"].contains(&name.as_str()))
            .map(|(name, value)| format!("{name}={value:?}"))
            .collect();
        fields.sort();
        let (start, duration) = (slice.start_ps, slice.duration_ps);
        format!("{}: {} {start}+{duration} {}", rank.path(slice.track), slice.name, fields.join(" "))
    };
    let mut lines: Vec<String> = rank.slices.iter().map(line).collect();
    lines.sort();
    lines
}

/// The tables of the layer, row by row.
fn tables(rank: &Recorder) -> Vec<String> {
    let names =
        ["aiu_clock", "aiu_kernel", "aiu_cycles", "aiu_active", "aiu_category", "aiu_iteration", "aiu_power"];
    let rows = names.iter().flat_map(|table| rank.rows_of(table).map(move |row| format!("{table} {row:?}")));
    rows.chain(jobs(rank)).collect()
}

/// The jobs without their names, which are those of the files.
fn jobs(rank: &Recorder) -> impl Iterator<Item = String> {
    rank.rows_of("aiu_job").map(|row| {
        let fields: Vec<_> = row.iter().filter(|(name, _)| name != "job").collect();
        format!("aiu_job {fields:?}")
    })
}

#[track_caller]
fn check(text: &str, log: &str) {
    let log = ("c.log", log.as_bytes().to_vec());
    let json = read_bytes(&[("a.json", text.as_bytes().to_vec()), log.clone()]);
    let packets = read_bytes(&[("a.pftrace", packets(text)), log]);
    assert_eq!(packets.len(), json.len(), "ranks");
    for (packets, json) in packets.iter().zip(&json) {
        assert_eq!(slices(packets), slices(json));
        assert_eq!(tables(packets), tables(json));
        assert_eq!(packets.rank.rank, json.rank.rank);
        assert_eq!(packets.rank.source, SOURCE);
        let counters = |of: &Recorder| {
            let mut lines: Vec<String> = of
                .samples
                .iter()
                .map(|sample| format!("{} {} {}", of.path(sample.track), sample.time_ps, sample.value))
                .collect();
            lines.sort();
            lines
        };
        assert_eq!(counters(packets), counters(json));
    }
}

const LOG: &str = include_str!("../../../../../fuzz/seeds/aiu/compiler.log");

#[test]
fn the_runtime_gives_the_same_in_both_forms() {
    let device = Device::new(560e6, 4_294_000_000);
    let slices: Vec<String> = (0..40)
        .map(|n| {
            let name = ["mul_1", "add", "conv2d_7", "relu_3"][n % 4];
            let start = 100 + 900 * n as i64;
            let slice = device.slice(&format!("{name} Cmpt Exec"), start, start + 300 + 20 * (n % 4) as i64);
            let slice = slice.late_by(n as i64 % 3);
            format!("{},{}", slice.begin(), slice.end())
        })
        .collect();
    let trip = r#"{"name":"AIU Roundtrip","ph":"X","pid":0,"tid":7,"ts":50,"dur":40000,"args":{"a":[1,2]}}"#;
    let counter = r#"{"name":"queue","ph":"C","pid":0,"tid":7,"ts":60,"args":{"queue":4}}"#;
    check(&format!("[{trip},{counter},{}]", slices.join(",")), LOG);
}

#[test]
fn jobs_of_packets_are_shifted_into_their_round_trips() {
    let device = Device::new(560e6, 9);
    // The second job lies 800 us after its round trips, of which the trace has a part as begin and
    // end.
    let job = |start: i64, late: i64| {
        let trip = |phase: &str, us: i64, dur: &str| {
            format!(
                r#"{{"name":"AIU Roundtrip","ph":"{phase}","pid":0,"tid":7,"ts":{us}{dur},"args":{{"a":1}}}}"#
            )
        };
        let slice =
            |at: i64| device.slice("mul_1 Cmpt Exec", start + late + at, start + late + at + 50).complete();
        format!(
            "[{},{},{},{},{}]",
            trip("X", start, r#","dur":150"#),
            trip("B", start + 200, ""),
            slice(10),
            trip("E", start + 400, ""),
            slice(300)
        )
    };
    let jobs_of = [job(1_000, 0), job(3_000, 800)];
    for outside in [OutsideWork::Kept, OutsideWork::Shifted] {
        let settings = AiuSettings { outside, ..AiuSettings::default() };
        let json = jobs_of.iter().zip(["a.json", "b.json"]);
        let json: Vec<(&str, Vec<u8>)> = json.map(|(text, name)| (name, text.clone().into_bytes())).collect();
        let json = read_through(&json, &settings, |files| files).remove(0);
        let written = jobs_of.iter().zip(["a.pftrace", "b.pftrace"]);
        let written: Vec<(&str, Vec<u8>)> = written.map(|(text, name)| (name, packets(text))).collect();
        let read = read_through(&written, &settings, |files| files).remove(0);
        assert_eq!(jobs(&read).collect::<Vec<_>>(), jobs(&json).collect::<Vec<_>>());
        let spans: Vec<[i64; 3]> = read
            .rows_of("aiu_job")
            .map(|row| {
                ["host_start", "host_end", "shift"].map(|name| (float(row, name) / 1e3).round() as i64)
            })
            .collect();
        let zero = spans[0][0];
        assert_eq!(spans, [[zero, zero + 400, 0], [zero + 2_000, zero + 2_400, -810]]);
        let starts: Vec<i64> = ops(&read).iter().map(|slice| slice.start_ps / 1_000_000 - zero).collect();
        let second = if outside == OutsideWork::Shifted { 2_000 } else { 2_810 };
        assert_eq!(starts, [10, 300, second, second + 290]);
    }
}

#[test]
fn packets_tell_the_wall_clock() {
    use crate::formats::perfetto::fixture::{ProtoMessage, packet, trace};
    const WALL_NS: u64 = 1_700_000_000_000_000_000;
    let slice = Device::new(560e6, 9).slice("mul_1 Cmpt Exec", 70_000_100, 70_000_200);
    let text = format!("[{}]", slice.complete());
    // When the trace's clock was 70 s, the wall clock was `wall_ns`.
    let read = |wall_ns: u64| {
        let readings = [(6, 70_000_000_000), (1, wall_ns)];
        let snapshot = readings.iter().fold(ProtoMessage::new(), |snapshot, &(id, ns)| {
            snapshot.message(1, &ProtoMessage::new().number(1, id).number(2, ns))
        });
        let clocks = trace(&[packet(1, 70_000_000_000, 6, &snapshot)]);
        read_bytes(&[("a.pftrace", [clocks, packets(&text)].concat())]).remove(0)
    };
    let wall_of_end = |rank: &Recorder| {
        let slice = ops(rank)[0];
        rank.rank.origin_unix_ns.unwrap() + (slice.start_ps + slice.duration_ps) / 1_000
    };
    assert_eq!(wall_of_end(&read(WALL_NS)), WALL_NS.cast_signed() + 200_000);
    assert_eq!(wall_of_end(&read(WALL_NS + 5)), WALL_NS.cast_signed() + 200_005);
    // Without readings the clock is not known.
    let without = read_bytes(&[("a.pftrace", packets(&text))]).remove(0);
    assert_eq!(without.rank.origin_unix_ns, None);
}

#[test]
fn processes_of_packets_are_ranks() {
    let rank = |pid: u32, start: i64| {
        let slice = Device::new(560e6, 9).slice("mul_1 Cmpt Exec", start, start + 100).complete();
        slice.replace("\"pid\":0", &format!("\"pid\":{pid}"))
    };
    let text = format!("[{},{},{}]", rank(3, 100), rank(1, 150), rank(3, 400));
    check(&text, LOG);
    let ranks = read_bytes(&[("a.pftrace", packets(&text))]);
    assert_eq!(ranks.iter().map(|rank| rank.rank.rank).collect::<Vec<_>>(), [Some(3), Some(1)]);
}

#[test]
fn ranks_of_many_pieces_have_all_their_slices() {
    // More events than one piece of JSON has, of three processes in turn.
    let event = |n: i64| {
        let slice = Device::new(560e6, 9).slice("mul_1 Cmpt Exec", 100 * n, 100 * n + 40).complete();
        slice.replace("\"pid\":0", &format!("\"pid\":{}", n % 3))
    };
    let text = format!("[{}]", (0..9_000).map(event).collect::<Vec<_>>().join(","));
    let json = read(&[("a.json", text.clone())], AiuSettings::default());
    let packets = read_bytes(&[("a.pftrace", packets(&text))]);
    assert_eq!((json.len(), packets.len()), (3, 3));
    for (json, packets) in json.iter().zip(&packets) {
        assert_eq!(ops(packets).len(), 3_000);
        assert_eq!(slices(packets), slices(json));
    }
}

#[test]
fn pytorch_gives_the_same_in_both_forms() {
    let slice = |cat: &str, name: &str, (pid, tid): (u32, u32), (ts, dur): (f64, f64), more: &str| {
        format!(
            r#"{{"ph":"X","cat":"{cat}","name":"{name}","pid":{pid},"tid":{tid},"ts":{ts},"dur":{dur},"args":{{{more}}}}}"#
        )
    };
    // Packets always name processes and threads.
    let name = |what: &str, name: &str| {
        format!(r#"{{"ph":"M","pid":0,"tid":1,"name":"{what}","args":{{"name":"{name}"}}}}"#)
    };
    let mut events = vec![name("process_name", "Process 0"), name("thread_name", "Thread 1")];
    for n in 0..12 {
        let (at, correlation) = (1_000.0 * f64::from(n), format!("\"correlation\":{}", 100 + n));
        let name = ["mul", "add", "relu"][n as usize % 3];
        events.push(slice("cuda_runtime", "aiuLaunchControlBlocks", (9, 9), (at + 1.0, 3.0), &correlation));
        events.push(slice("kernel", name, (0, 1), (at + 6.0, 300.5), &format!("{correlation},\"stream\":1")));
        let rate = r#""bytes":4096,"memory bandwidth (GB/s)":2.5"#;
        events.push(slice("gpu_memcpy", "Memcpy (HtoD)", (0, 1), (at + 400.0, 2.0), rate));
    }
    let text = format!(
        r#"{{"schemaVersion":1,"deviceProperties":[{{"id":0,"name":"AIU"}}],"traceEvents":[{}]}}"#,
        events.join(",")
    );
    check(&text, LOG);
}

#[test]
fn packets_without_an_aiu_are_read_as_perfetto_reads_them() {
    let text = r#"[{"name":"work","ph":"X","pid":3,"tid":1,"ts":10,"dur":5,"args":{}}]"#;
    let leaves = open("a", FileBytes::new(Arc::new(packets(text))), &InMemory).leaves;
    let plans = plan(&[leaves[0].candidate.clone()]).unwrap().plans;
    assert_eq!(plans[0].importer.name, "perfetto");
}

#[test]
fn a_cut_trace_keeps_what_is_whole() {
    let slice = Device::new(560e6, 9).slice("mul_1 Cmpt Exec", 100, 200);
    let text = format!("[{},{}]", slice.complete(), slice.complete());
    let bytes = packets(&text);
    let rank = read_bytes(&[("a.pftrace", bytes[..bytes.len() - 5].to_vec())]).remove(0);
    assert_eq!(ops(&rank).len(), 2);
    let warnings: Vec<String> = rank.warnings().into_iter().map(|warning| warning.what).collect();
    assert!(warnings.iter().any(|what| what.contains("in the middle of a packet")), "{warnings:?}");
}

#[test]
fn warnings_name_the_place_in_the_file() {
    let device = Device::new(560e6, 9);
    let [first, second] = [100, 900].map(|at| device.slice("mul_1 Cmpt Exec", at, at + 200).complete());
    let wide = second.replacen(r#""TS1":""#, r#""TS1":"99999999"#, 1);
    assert_ne!(wide, second);
    let (before, bytes) = (packets(&format!("[{first}]")), packets(&format!("[{first},{wide}]")));
    assert!(bytes.starts_with(&before));
    let rank = read_bytes(&[("a.pftrace", bytes)]).remove(0);
    let of_counter = rank.warnings().into_iter().find(|warning| warning.what.contains("32 bits"));
    assert_eq!(of_counter.map(|warning| warning.first_place), Some(format!("byte {}", before.len())));
}

#[test]
fn a_long_text_that_events_share_is_not_repeated_without_end() {
    use crate::formats::perfetto::fixture::{ProtoMessage, annotation, event, interned, packet, trace};
    let long = "n".repeat(1 << 20);
    let mut packets = vec![packet(
        1,
        0,
        60,
        &ProtoMessage::new().number(1, 9).message(4, &ProtoMessage::new().number(1, 3)),
    )];
    let words = ProtoMessage::new().message(2, &interned(1, &long)).message(29, &interned(1, &long));
    let first = ProtoMessage::new().number(9, 3).number(11, 9).number(10, 1);
    packets.push(packet(1, 1_000, 11, &first).message(12, &words).number(13, 1));
    for n in 0..40 {
        let counter = annotation("TS1").number(4, n);
        let text = annotation("text").number(17, 1);
        let slice = ProtoMessage::new().number(9, 3).number(11, 9).number(10, 1);
        packets.push(packet(1, 2_000 + n, 11, &slice.message(4, &counter).message(4, &text)));
    }
    packets.push(packet(1, 9_000, 11, &event(3, 9, "end")));
    let rank = read_bytes(&[("a.pftrace", trace(&packets))]).remove(0);
    assert_eq!(rank.slices.len(), 42);
    let warning = rank.warnings().into_iter().find(|warning| warning.what.contains("more long texts"));
    assert!(warning.is_some_and(|warning| warning.count > 60), "most of 81 texts are cut");
    assert!(
        rank.slices.iter().any(|slice| slice.name == long)
            && rank.slices.iter().any(|slice| slice.name == long[..256])
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Damaged packets are read or refused, and nothing else happens.
    #[test]
    fn damaged_packets_cause_no_panic(
        which in 0_usize..3,
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let seeds = [
            include_str!("../../../../../fuzz/seeds/aiu/flex.json"),
            include_str!("../../../../../fuzz/seeds/aiu/chain.json"),
            include_str!("../../../../../fuzz/seeds/aiu/hcoll.json"),
        ];
        let mut bytes = packets(seeds[which]);
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let leaves = open("a.pftrace", FileBytes::new(Arc::new(bytes)), &InMemory).leaves;
        let candidates: Vec<_> = leaves.iter().map(|leaf| leaf.candidate.clone()).collect();
        let (scratch, files) = (MemoryScratch::default(), MemoryFiles(leaves));
        for plan in plan(&candidates).map(|planned| planned.plans).unwrap_or_default() {
            let mut recorder = Recorder::default();
            let mut sinks = OneOf { recorder: &mut recorder, nth: 0, count: 1 };
            let space = Space::new(&scratch);
            let job = ImportJob { plan: &plan, files: &files, space, origin: None, progress: &|_| {} };
            let _ = crate::formats::read(&job, &mut sinks);
        }
    }
}
