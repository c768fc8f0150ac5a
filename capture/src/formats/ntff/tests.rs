//! Small traces, built byte by byte.

use nprof_engine::fixture::{RecordedSlice, Recorder};
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::model::{OwnedValue, SliceForm, WarningKind};
use nprof_engine::spill::MemoryScratch;
use prost::Message;

use super::container::HEADER_LEN;
use super::fixture::{
    BEGIN, DMA, EVENT, INSTRUCTION, SegmentCodes, THROTTLE, TraceFixture, row_access, varied, word,
};
use super::program::WORD_LEN;
use super::*;
use nprof_engine::makers::neuron::Engine;

fn read_in_memory(
    input: &[u8],
    neff: Option<&Neff>,
    sink: &mut Recorder,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    read(input, neff, Space::new(&MemoryScratch::default()), sink, progress)
}

#[track_caller]
fn recorded(trace: TraceFixture) -> Recorder {
    let mut recorder = Recorder::default();
    let (bytes, mut done) = (trace.bytes(), Vec::new());
    read_in_memory(&bytes, None, &mut recorder, &mut |bytes| done.push(bytes)).unwrap();
    assert!(done.is_sorted() && done.last() == Some(&(bytes.len() as u64)), "progress: {done:?}");
    recorder
}

fn shown(slice: &RecordedSlice) -> (&str, i64, i64) {
    (&slice.name, slice.start_ps, slice.duration_ps)
}

#[track_caller]
fn field<'r>(slice: &'r RecordedSlice, name: &str) -> &'r OwnedValue {
    let field = slice.fields.iter().find(|(field, _)| field == name);
    &field.unwrap_or_else(|| panic!("no {name} in {:?}", slice.fields)).1
}

#[track_caller]
fn check_warning(recorder: &Recorder, kind: WarningKind, what: &str, place: &str, count: u64) {
    let warnings = recorder.warnings();
    let found = warnings.iter().find(|w| w.kind == kind && w.what.contains(what));
    let found = found.unwrap_or_else(|| panic!("no warning of {what} in {warnings:?}"));
    assert_eq!((found.first_place.as_str(), found.count), (place, count));
}

#[test]
fn an_instruction_that_runs_twice_makes_two_rows() {
    let mut trace = TraceFixture::new(&[word(0xa4, &[(4, &[5, 9, 0, 0, 16]), (12, &[3])])]);
    trace.run(Engine::Tensor, 1, BEGIN + 5, BEGIN + 8);
    trace.run(Engine::Tensor, 1, BEGIN + 10, BEGIN + 20);
    let recorder = recorded(trace);
    let rows: Vec<_> = recorder.slices_of("instruction").collect();
    assert_eq!(rows.iter().map(|row| shown(row)).collect::<Vec<_>>(), [("NOP", 10, 6), ("NOP", 20, 20)]);
    assert_eq!(*field(rows[0], "operands"), OwnedValue::Text("S[9]>=16 cycle=3 ".into()));
    assert_eq!(*field(rows[0], "evt_wait_time"), OwnedValue::Int(10));
    assert_eq!((field(rows[0], "pc"), field(rows[0], "crc_in")), (&OwnedValue::Int(1), &OwnedValue::Int(7)));
    assert_eq!(recorder.path(rows[0].track), "Engines/Tensor");
    assert_eq!(recorder.warnings(), []);
    assert_eq!((recorder.rank.source.as_str(), recorder.rank.title.as_str()), ("neuron", "/tmp/graph.neff"));
}

#[test]
fn overlapping_runs_of_one_instruction_end_in_the_order_of_their_starts() {
    let mut trace = TraceFixture::new(&[word(0xa2, &[])]);
    for (edge, ticks) in [(0, 5), (0, 7), (1, 9), (1, 20)] {
        trace.edge(Engine::Tensor, 1, edge, 0, BEGIN + ticks);
    }
    let recorder = recorded(trace);
    let rows: Vec<_> = recorder.slices_of("instruction").map(shown).collect();
    assert_eq!(rows, [("DRAIN", 10, 8), ("DRAIN", 14, 26)]);
}

#[test]
fn an_opcode_that_is_not_known_keeps_its_bytes() {
    let mut trace = TraceFixture::new(&[word(0x95, &[(63, &[0xee])])]);
    trace.run(Engine::Tensor, 1, BEGIN + 5, BEGIN + 8);
    let recorder = recorded(trace);
    let row = recorder.slices_of("instruction").next().unwrap();
    assert_eq!(row.name, "Operation(0x95)");
    let raw = format!("95{}ee", "0".repeat(124));
    assert_eq!(*field(row, "raw_instruction"), OwnedValue::Text(raw));
}

#[test]
fn records_of_unknown_kinds_are_kept_and_counted() {
    let mut trace = TraceFixture::new(&[word(0xa2, &[])]);
    trace.record(INSTRUCTION, 0x30201, 31, 0x7060504, 0x0f0e_0d0c_0b0a_0908);
    trace.record(SegmentCodes::new(0, 2), 1, 0, 2, 3);
    trace.record(SegmentCodes::new(9, 9), 1, 0, 2, 3);
    let recorder = recorded(trace);
    assert_eq!(recorder.rows_of("unknown_record").count(), 3);
    let row =
        recorder.rows_of("unknown_record").find(|row| row[0].1 == OwnedValue::Text("instruction".into()));
    assert_eq!(row.unwrap()[3].1, OwnedValue::Text("0102039f0405060708090a0b0c0d0e0f".into()));
    check_warning(
        &recorder,
        WarningKind::UnknownRecord,
        "unknown kind",
        "record 2 of the instruction segment",
        3,
    );
}

#[test]
fn damaged_and_unpaired_records_are_warnings_and_cost_nothing_else() {
    let mut trace = TraceFixture::new(&[word(0xa2, &[])]);
    trace.edge(Engine::Tensor, 1, 1, 0, BEGIN + 1);
    trace.edge(Engine::Sync, 1, 0, 0, BEGIN + 1);
    trace.edge(Engine::Tensor, 1, 0, 0, u64::MAX);
    trace.run(Engine::Tensor, 1, BEGIN + 5, BEGIN + 8);
    trace.record(DMA, 4, 0, 5, BEGIN + 9);
    trace.record(DMA, 4, 9, 1, BEGIN + 9);
    let recorder = recorded(trace);
    assert_eq!(recorder.slices_of("instruction").map(shown).collect::<Vec<_>>(), [("DRAIN", 10, 6)]);
    let (damaged, unpaired) = (WarningKind::DamagedRecord, WarningKind::Unpaired);
    check_warning(&recorder, damaged, "an instruction", "record 3 of the instruction segment", 2);
    check_warning(&recorder, unpaired, "an instruction that ended", "record 2 of the instruction segment", 1);
    check_warning(&recorder, unpaired, "a DMA packet that was written", "record 0 of the DMA segment", 1);
    check_warning(&recorder, damaged, "a DMA record", "record 1 of the DMA segment", 1);
}

#[test]
fn an_instruction_that_hangs_is_shown_to_the_end() {
    let mut trace = TraceFixture::new(&[word(0xa2, &[]), word(0xa4, &[])]);
    trace.edge(Engine::Scalar, 1, 0, 0, BEGIN + 5);
    trace.run(Engine::Tensor, 2, BEGIN + 10, BEGIN + 50);
    let recorder = recorded(trace);
    let hanging = recorder.slices_of("instruction").find(|row| row.form == SliceForm::Unfinished).unwrap();
    assert_eq!(shown(hanging), ("DRAIN", 10, 90));
    let place = "Scalar engine, 10 ps after the start of the run";
    check_warning(&recorder, WarningKind::Unpaired, "never ended", place, 1);
}

#[test]
fn an_engine_that_waits_for_the_next_run_is_no_news() {
    let mut trace = TraceFixture::new(&[word(0xa2, &[]), word(0xa4, &[])]);
    let patch = proto::Patch { offset_bytes: 2 * WORD_LEN as u64, count: 1, kind: 0 };
    trace.subgraph().patches = vec![proto::PatchList { engine: 0, patches: vec![patch] }];
    trace.run(Engine::Tensor, 1, BEGIN + 10, BEGIN + 50);
    trace.edge(Engine::Tensor, 2, 0, 0, BEGIN + 51);
    let recorder = recorded(trace);
    assert_eq!(recorder.slices_of("instruction").count(), 1);
    assert_eq!(recorder.warnings(), []);
}

#[test]
fn what_ran_before_the_run_or_outside_the_program_makes_no_row() {
    let mut trace = TraceFixture::new(&[word(0xa2, &[])]);
    trace.run(Engine::Tensor, 1, BEGIN - 9, BEGIN - 8);
    trace.run(Engine::Tensor, -1, BEGIN + 5, BEGIN + 8);
    trace.packet(0, 2, BEGIN - 9, BEGIN + 8, 64);
    trace.record(EVENT, 0x105, 7, 1, BEGIN - 1);
    let recorder = recorded(trace);
    assert_eq!((recorder.slices.len(), recorder.samples.len()), (0, 0));
    assert_eq!(recorder.warnings(), []);
}

#[test]
fn packets_of_one_trigger_make_a_transfer() {
    let mut trace = TraceFixture::new(&[word(0xa5, &[(12, &[4])])]);
    trace.run(Engine::Tensor, 1, BEGIN + 5, BEGIN + 8);
    for dma_engine in [0, 1] {
        trace.packet(dma_engine, 1, BEGIN + 10 + u64::from(dma_engine), BEGIN + 30, 2048);
        trace.packet(dma_engine, 1, BEGIN + 31, BEGIN + 40, 4);
    }
    let recorder = recorded(trace);
    let rows: Vec<_> = recorder.slices_of("dma").collect();
    let transfer =
        *rows.iter().find(|row| *field(row, "aggregated") == OwnedValue::Text("yes".into())).unwrap();
    assert_eq!((rows.len(), shown(transfer)), (5, ("data", 20, 60)));
    assert_eq!(recorder.path(transfer.track), "DMA/qSyncSpillReload0 · Q1/Transfers");
    assert_eq!(*field(transfer, "transfer_size"), OwnedValue::Int(4096));
    assert_eq!(*field(transfer, "crc"), OwnedValue::Int(0xabc));
    assert_eq!(*field(rows[0], "subgroup"), OwnedValue::Text("qSyncSpillReload0-Q1-E0".into()));
    let write = recorder.slices_of("instruction").next().unwrap();
    assert_eq!(*field(write, "weight_queue_bytes"), OwnedValue::Int(4096));
    assert_eq!(recorder.links.len(), 1);
    assert_eq!(recorder.links[0].2, "DMA_TRIGGER");
    let pending: Vec<_> = recorder
        .samples
        .iter()
        .filter(|sample| recorder.path(sample.track) == "Counters/Pending DMAs")
        .map(|sample| (sample.time_ps, sample.value))
        .collect();
    assert_eq!(pending, [(10, 1.0), (80, 0.0)]);
}

#[test]
fn semaphores_events_and_throttling() {
    let mut trace = TraceFixture::new(&[word(0xa2, &[])]);
    trace.run(Engine::Tensor, 1, BEGIN + 5, BEGIN + 50);
    trace.record(EVENT, 0xf3_0109, 7, 3, BEGIN + 1);
    trace.record(EVENT, 0xf1_0004, 27, 1, BEGIN + 2);
    trace.record(THROTTLE, 0x08_0006, 0, 7, BEGIN + 3);
    trace.record(THROTTLE, 0x01_0006, 0, 0x80, BEGIN + 10);
    let recorder = recorded(trace);
    let semaphore = recorder.slices_of("semaphore_update").next().unwrap();
    assert_eq!((shown(semaphore), semaphore.form), (("9", 2, 0), SliceForm::Instant));
    assert_eq!(*field(semaphore, "value"), OwnedValue::Int(3));
    assert_eq!(*field(semaphore, "update_source"), OwnedValue::Text("Tensor".into()));
    assert_eq!(shown(recorder.slices_of("event_update").next().unwrap()), ("E[4]", 4, 0));
    let periods: Vec<_> = recorder.slices_of("ham").map(shown).collect();
    assert_eq!(periods, [("activity_0", 6, 14), ("unthrottled", 20, 80)]);
}

#[test]
fn results_lead_to_those_who_use_them_and_fill_memory_meanwhile() {
    let load = word(0x01, &[(16, &row_access(0x100, 128)), (32, &[7])]);
    let multiply = word(
        0x02,
        &[(16, &row_access(0x300, 64)), (32, &[7]), (44, &[0xf, 0xf]), (48, &row_access(0x200_0800, 64))],
    );
    let activate =
        word(0x21, &[(16, &row_access(0x200_0800, 64)), (32, &[0xaa, 7, 64]), (48, &row_access(0x100, 64))]);
    let mut trace = TraceFixture::new(&[load, multiply, activate]);
    trace.run(Engine::Tensor, 1, BEGIN + 10, BEGIN + 20);
    trace.run(Engine::Tensor, 2, BEGIN + 20, BEGIN + 30);
    trace.run(Engine::Scalar, 3, BEGIN + 30, BEGIN + 40);
    trace.run(Engine::Tensor, 1, BEGIN + 50, BEGIN + 60);
    let recorder = recorded(trace);
    let place = |key: nprof_engine::model::SliceKey| {
        let slice = &recorder.slices[recorder.index_of(key)];
        (slice.name.as_str(), slice.start_ps)
    };
    let mut links: Vec<_> = recorder.links.iter().map(|&(from, to, _)| (place(from), place(to))).collect();
    links.sort_unstable();
    let product = [(("LDWEIGHTS", 20), ("ACTIVATE", 60)), (("MATMUL", 40), ("ACTIVATE", 60))];
    assert_eq!(links, [&[(("ACTIVATE", 60), ("LDWEIGHTS", 100))], &product[..]].concat());
    let usage = |path: &str| -> Vec<(i64, f64)> {
        let samples = recorder.samples.iter().filter(|sample| recorder.path(sample.track) == path);
        samples.map(|sample| (sample.time_ps, sample.value)).collect()
    };
    assert_eq!(usage("Counters/PSUM usage"), [(40, 0.125), (80, 0.0)]);
    assert_eq!(usage("Counters/SBUF usage"), [(60, f64::from(128.0_f32 / 196_608.0)), (120, 0.0)]);
}

#[test]
fn a_full_buffer_and_an_unknown_chip_are_said() {
    let mut trace = TraceFixture::new(&[word(0xa2, &[])]);
    trace.capture.architecture = 77;
    trace.capture.buffers = vec![proto::Buffer { block_kind: 0, record_kind: 0, size_bytes: 32 }];
    let recorder = recorded(trace);
    let missing = WarningKind::MissingData;
    check_warning(&recorder, missing, "the trace buffer was full", "instruction segment of sg00", 1);
    check_warning(&recorder, missing, "the chip is unknown", "architecture code 77", 1);
}

#[test]
fn without_the_begin_of_the_run_time_starts_with_the_first_record() {
    let mut trace = TraceFixture::new(&[word(0xa2, &[])]);
    trace.segments.clear();
    trace.run(Engine::Tensor, 1, 70, 80);
    let recorder = recorded(trace);
    assert_eq!(recorder.slices_of("instruction").map(shown).collect::<Vec<_>>(), [("DRAIN", 0, 20)]);
    check_warning(
        &recorder,
        WarningKind::MissingData,
        "does not state the start of the run",
        "instruction segment",
        1,
    );
}

#[test]
fn the_program_beside_the_trace_is_told_and_must_be_the_one_that_ran() {
    let names = |recorder: &Recorder| {
        let row = recorder.rows_of("neff_header").next().unwrap().clone();
        row.into_iter().find(|(name, _)| name == "network_name").unwrap().1
    };
    let alone = recorded(TraceFixture::new(&[]));
    assert_eq!(names(&alone), OwnedValue::Text("/tmp/graph.neff".into()));
    let mut neff = vec![0; 1024];
    neff[8..16].copy_from_slice(&1024_u64.to_le_bytes());
    neff[204..220].copy_from_slice(&[7, 7, 7, 0, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9]);
    neff[220..224].copy_from_slice(b"mine");
    neff.extend([0; 1024]);
    let neff = Neff::read(&neff).unwrap();
    for (uuid, warnings) in [(&[7, 7, 7][..], 0), (&[7, 8], 1), (&[], 0)] {
        let mut recorder = Recorder::default();
        let trace = TraceFixture::new(&[]).uuid(uuid).bytes();
        read_in_memory(&trace, Some(&neff), &mut recorder, &mut |_| {}).unwrap();
        assert_eq!(names(&recorder), OwnedValue::Text("mine".into()));
        assert_eq!(recorder.warnings().len(), warnings, "{uuid:?}");
    }
}

#[test]
fn two_cores_share_an_origin_and_have_tracks_of_their_own() {
    let mut trace = TraceFixture::new(&[word(0xa2, &[])]);
    trace.run(Engine::Tensor, 1, BEGIN + 5, BEGIN + 8);
    trace.packet(0, 2, BEGIN + 5, BEGIN + 8, 64);
    let bytes = trace.bytes();
    let mut capture = NtffContainer::open(&bytes).unwrap().capture;
    let records = &bytes[HEADER_LEN + capture.encoded_len()..];
    let part = &mut capture.nodes[0].parts[0];
    let mut second = part.subgraphs[0].clone();
    second.name = b"sg01".to_vec();
    // The second core has a clock of its own.
    let clocks = second.clocks.as_mut().unwrap();
    clocks.tensor = Some(proto::ClockRate { init: 0, actual: 1, expected: 3 });
    part.subgraphs.push(second);
    let protobuf = capture.encode_to_vec();
    let mut both = bytes[..HEADER_LEN].to_vec();
    both[1..9].copy_from_slice(&(protobuf.len() as u64).to_le_bytes());
    both.extend(protobuf);
    both.extend(records);
    let mut recorder = Recorder::default();
    read_in_memory(&both, None, &mut recorder, &mut |_| {}).unwrap();
    let rows: Vec<_> = recorder
        .slices_of("instruction")
        .map(|row| (recorder.path(row.track), row.start_ps))
        .filter(|(_, start_ps)| *start_ps > 0)
        .collect();
    let second_start = 3 * (BEGIN as i64 + 5) - 2 * BEGIN as i64;
    assert!(rows.contains(&("Engines/Tensor".to_owned(), 10)), "{rows:?}");
    assert!(rows.contains(&("Engines/Tensor · core 1".to_owned(), second_start)), "{rows:?}");
    assert_eq!(recorder.rows_of("model_info").count(), 2);
    let counters: Vec<_> = recorder.samples.iter().map(|sample| recorder.path(sample.track)).collect();
    assert!(counters.contains(&"Counters · core 1/DMA throughput".to_owned()), "{counters:?}");
}

#[track_caller]
fn check_refused(input: &[u8], what: &str) {
    let error = read_in_memory(input, None, &mut Recorder::default(), &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains(what), "{error}");
}

#[test]
fn what_is_no_trace_is_refused_with_a_reason() {
    let good = TraceFixture::new(&[]).bytes();
    let with_byte = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    check_refused(&[], "the file is empty");
    check_refused(&with_byte(0, 4), "NTFF version 4 cannot be read");
    check_refused(&with_byte(0, 0x82), "ntrace.pb");
    check_refused(&with_byte(8, 0x7f), "the limit is");
    check_refused(&with_byte(HEADER_LEN, 0xff), "cannot be decoded");
    check_refused(&good[..HEADER_LEN - 1], "a header of 128 bytes expected");
    check_refused(&good[..good.len() - 1], "32 bytes of records expected, 31 present");
    let mut odd = TraceFixture::new(&[]);
    odd.segments[0].1.push(0);
    check_refused(&odd.bytes(), "33 bytes, which is not a multiple of 16");
    let mut nothing = TraceFixture::new(&[]);
    nothing.segments.clear();
    nothing.capture.nodes[0].parts[0].subgraphs.clear();
    check_refused(&nothing.bytes(), "names no subgraph");
}

/// Instructions on two engines whose records are ordered by their ends, with triggers, transfers in
/// several parts, products and semaphores.
fn long() -> TraceFixture {
    let activate =
        word(0x21, &[(16, &row_access(0x200_0800, 64)), (32, &[0xaa, 7, 64]), (48, &row_access(0x100, 64))]);
    let multiply = word(
        0x02,
        &[(16, &row_access(0x100, 64)), (32, &[7]), (44, &[0xf, 0xf]), (48, &row_access(0x200_0800, 64))],
    );
    let mut trace = TraceFixture::new(&[word(0xa5, &[(12, &[4])]), multiply, activate]);
    for turn in 0..400 {
        let at = BEGIN + 100 * turn;
        trace.run(Engine::Scalar, 3, at + 30, at + 95);
        trace.run(Engine::Tensor, 1, at + 5, at + 8);
        trace.run(Engine::Tensor, 2, at + 10, at + 60 + turn % 7);
        for dma_engine in [1, 0] {
            trace.packet(dma_engine, 1, at + 12 + u64::from(dma_engine), at + 30 + turn % 3, 2048);
            trace.packet(dma_engine, 1, at + 31, at + 40, 4);
        }
        trace.record(EVENT, 0xf3_0109, 7, turn as u32, at + 50 - turn % 50);
    }
    trace
}

#[test]
fn what_does_not_fit_into_memory_is_read_alike() {
    let bytes = long().bytes();
    let with = |sort_bytes| {
        let (scratch, mut recorder) = (MemoryScratch::default(), Recorder::default());
        let space = Space { sort_bytes, ..Space::new(&scratch) };
        read(&bytes, None, space, &mut recorder, &mut |_| {}).unwrap();
        recorder
    };
    let (spilled, in_memory) = (with(2_000), with(Space::SORT_BYTES));
    assert_eq!(spilled.warnings(), []);
    assert_eq!(spilled.slices.len(), 400 * (3 + 5 + 1));
    // One arrow to each transfer, to each activation, and to each product but the first.
    assert_eq!(spilled.links.len(), 400 + 400 + 399);
    assert_eq!(spilled.slices, in_memory.slices);
    assert_eq!(spilled.samples, in_memory.samples);
    assert_eq!(spilled.links, in_memory.links);
}

#[test]
fn rows_come_in_order_whatever_the_order_of_the_records() {
    // More than a block of each kind. Engines come one after the other, or take turns.
    let check = |by_engine: bool| {
        let mut trace = TraceFixture::new(&[word(0xa2, &[])]);
        let turns = 10_000_u64;
        for at in 0..2 * turns {
            let (engine, turn) = if by_engine { (at / turns, at % turns) } else { (at % 2, at / 2) };
            let (start, is_first) = (BEGIN + 10 * turn, engine == 0);
            trace.run(if is_first { Engine::Tensor } else { Engine::Scalar }, 1, start, start + 7);
            trace.packet(engine as u8, 1, start, start + 5 + turn % 9, 64);
            trace.record(EVENT, 0x100 + engine as u32, 7, 1, start);
        }
        let (scratch, mut output) = (MemoryScratch::default(), Vec::new());
        let space = Space { sort_bytes: 1 << 20, ..Space::new(&scratch) };
        // A builder refuses rows out of order.
        let mut builder = Builder::new(&scratch, &mut output, BuildOptions::default()).unwrap();
        read(&trace.bytes(), None, space, &mut builder, &mut |_| {}).unwrap();
        builder.finish().unwrap().events
    };
    assert_eq!(check(true), check(false));
}

#[test]
fn odd_records_of_every_segment_are_kept_or_counted() {
    let mut trace = long();
    for number in 0..3 {
        trace.record(INSTRUCTION, 0x77, 3, number, BEGIN + 3);
        trace.record(DMA, 0, 0, 0x10 | 9, BEGIN + 4);
        trace.record(EVENT, 0x0905, 7, number, BEGIN + 5);
        trace.edge(Engine::Tensor, 1, 1, 0, BEGIN + 20_000 + u64::from(number));
        trace.edge(Engine::Scalar, 3, 0, 0, BEGIN + 90_000);
        trace.record(EVENT, 0x0105, 7, number, u64::MAX);
    }
    let recorder = recorded(trace);
    assert_eq!(recorder.rows_of("unknown_record").count(), 9);
    assert!(recorder.warnings().len() >= 4, "{:?}", recorder.warnings());
}

#[test]
fn starts_that_lost_their_ends_do_not_pile_up() {
    let mut trace = TraceFixture::new(&[word(0xa2, &[])]);
    for start in 0..200 {
        trace.edge(Engine::Tensor, 1, 0, 0, BEGIN + 5 + start);
        trace.record(DMA, 0, 0, 1 << 4 | 1, BEGIN + 5 + start);
    }
    trace.run(Engine::Scalar, 1, BEGIN + 5, BEGIN + 1000);
    let recorder = recorded(trace);
    let unfinished =
        recorder.slices_of("instruction").filter(|row| row.form == SliceForm::Unfinished).count();
    assert_eq!(unfinished, 200, "each has a row");
    let place = "queue 1 on DMA engine 0";
    check_warning(&recorder, WarningKind::Unpaired, "not written for a long time", place, 200 - 64);
    let place = "64 packets at the end of the DMA segment";
    check_warning(&recorder, WarningKind::Unpaired, "never written", place, 1);
}

#[test]
fn every_truncation_is_refused() {
    let good = varied().bytes();
    for keep in 0..good.len() {
        let mut recorder = Recorder::default();
        assert!(read_in_memory(&good[..keep], None, &mut recorder, &mut |_| {}).is_err(), "cut at {keep}");
    }
}

#[test]
fn no_damaged_byte_ends_in_a_panic() {
    let good = varied().bytes();
    let mut read_anyway = 0;
    for at in 0..good.len() {
        for flip in [0x01, 0x10, 0x80, 0xff] {
            let mut bytes = good.clone();
            bytes[at] ^= flip;
            let result = read_in_memory(&bytes, None, &mut Recorder::default(), &mut |_| {});
            read_anyway += usize::from(result.is_ok());
        }
    }
    assert!(read_anyway > good.len(), "most damage costs only a record");
}
