//! Tests of planted causes, of the truth about a job, and of semaphores.

use std::collections::HashMap;

use nprof_engine::fixture::{RecordedSlice, Recorder};
use nprof_engine::makers::neuron::schema::{SEMAPHORE_UPDATE, STACK_FRAME, STACK_FRAME_FILE_NAME};
use nprof_engine::model::{OwnedValue, is_wait};

use super::*;

fn settings(ranks: u32, faults: &[&str]) -> Simulation {
    let faults = faults.iter().map(|fault| fault.parse().unwrap()).collect();
    Simulation { ranks, events_per_rank: 60_000, faults: Some(faults), ..Simulation::default() }
}

fn record(settings: &Simulation, rank: u32) -> Recorder {
    let mut sink = Recorder::default();
    capture(settings, rank, &mut sink, &mut |_| {}).unwrap();
    sink
}

fn text<'a>(slice: &'a RecordedSlice, field: &str) -> &'a str {
    match slice.fields.iter().find(|(name, _)| name == field) {
        Some((_, OwnedValue::Text(text) | OwnedValue::Json(text))) => text,
        other => panic!("{field} is {other:?}"),
    }
}

fn number(slice: &RecordedSlice, field: &str) -> i64 {
    match slice.fields.iter().find(|(name, _)| name == field) {
        Some((_, OwnedValue::Int(value))) => *value,
        other => panic!("{field} is {other:?}"),
    }
}

#[test]
fn a_job_computes_for_most_of_its_time() {
    for (ranks, faults) in [(1, None), (2, None), (8, None), (2, Some(Vec::new()))] {
        let settings = Simulation { ranks, faults, ..Simulation::default() };
        let truth = SimulatedJob::new(&settings).unwrap().truth().unwrap();
        assert!((0.6..0.95).contains(&truth.computing), "{ranks}: {}", truth.computing);
    }
}

#[test]
fn the_share_and_the_length_are_those_of_the_rows() {
    let settings = Simulation { ranks: 2, events_per_rank: 30_000, ..Simulation::default() };
    let truth = SimulatedJob::new(&settings).unwrap().truth().unwrap();
    let (mut busy, mut first, mut last) = (0, i64::MAX, 0);
    for rank in 0..settings.ranks {
        let sink = record(&settings, rank);
        let mut spans = Vec::new();
        for slice in &sink.slices {
            let (path, end) = (sink.path(slice.track), slice.start_ps + slice.duration_ps);
            if path.starts_with("Engines/") || path.starts_with("DMA/") || path.contains("Stream") {
                (first, last) = (first.min(slice.start_ps), last.max(end));
            }
            let computes = path.starts_with("Engines/") && path != "Engines/Sync";
            if computes && !is_wait(&slice.name) && slice.name != "TRIGGER_COLLECTIVE" {
                spans.push((slice.start_ps, end));
            }
        }
        spans.sort_unstable();
        let mut until = i64::MIN;
        for (start, end) in spans {
            busy += (end - start.max(until)).max(0);
            until = until.max(end);
        }
    }
    assert_eq!((truth.span.start.0, truth.span.end.0), (first, last));
    let share = busy as f64 / (2 * (last - first)) as f64;
    assert!((truth.computing - share).abs() < 1e-9, "{} and {share}", truth.computing);
}

#[test]
fn each_cause_acts_and_costs() {
    for fault in [
        "dma-late=3",
        "slow-rank=1",
        "late-rank=2",
        "pause=3",
        "slow-link=1",
        "throttle",
        "throttle=2",
        "host-block",
        "spill",
        "reload",
        "weights-reloaded",
        "out-of-bounds",
        "out-of-bounds=3",
    ] {
        let truth = SimulatedJob::new(&settings(4, &[fault])).unwrap().truth().unwrap();
        let [cause] = &truth.causes[..] else { panic!("{fault}: {:?}", truth.causes) };
        assert_eq!(cause.fault.to_string(), fault);
        assert!(cause.times > 0, "{fault}");
        let span = cause.span.unwrap();
        assert!(truth.span.start <= span.start && span.end <= truth.span.end, "{fault}: {span:?}");
        assert!(cause.cost_ps > 0, "{fault}");
        assert_eq!(cause.cost_ps, truth.span.duration_ps() - truth.sound_ps, "{fault}");
    }
}

#[test]
fn a_slow_rank_costs_a_tenth_of_the_job() {
    for ranks in [2, 8, 64] {
        let truth = SimulatedJob::new(&settings(ranks, &["slow-rank=1"])).unwrap().truth().unwrap();
        let share = truth.causes[0].cost_ps as f64 / truth.span.duration_ps() as f64;
        assert!(share >= 0.1, "{ranks}: {share}");
    }
}

#[test]
fn a_cause_that_another_one_hides_costs_less_than_alone() {
    let cost = |faults: &[&str]| {
        let truth = SimulatedJob::new(&settings(4, faults)).unwrap().truth().unwrap();
        truth.causes[0].cost_ps
    };
    let (alone, hidden) = (cost(&["out-of-bounds=0"]), cost(&["out-of-bounds=0", "slow-rank=1"]));
    assert!(hidden < alone, "{hidden} and {alone}");
}

#[test]
fn a_sound_job_has_no_error_and_no_limit() {
    let sink = record(&settings(2, &[]), 0);
    assert_eq!(sink.slices_of("error").count(), 0);
    assert!(sink.slices_of("ham").all(|slice| slice.name == "unthrottled"));
    let sink = record(&settings(2, &["out-of-bounds", "throttle"]), 0);
    assert_eq!(sink.slices_of("error").count(), 1);
    assert!(sink.slices_of("ham").any(|slice| number(slice, "k") == 7));
}

/// Number of a semaphore, and the lowest value that an instruction waits for.
fn condition(operands: &str) -> Option<(&str, i64)> {
    let (semaphore, rest) = operands.split_once(">=").filter(|(name, _)| name.starts_with("S["))?;
    let value = rest.split(' ').next()?;
    Some((semaphore, value.parse().ok()?))
}

#[test]
fn an_instruction_starts_after_the_change_that_it_waits_for() {
    for faults in [&[][..], &["dma-late=0", "spill", "slow-rank=0"]] {
        let sink = record(&settings(2, faults), 0);
        let mut changes: HashMap<&str, Vec<(i64, i64)>> = HashMap::new();
        for slice in sink.slices_of(SEMAPHORE_UPDATE.name) {
            changes.entry(&slice.name).or_default().push((slice.start_ps, number(slice, "value")));
        }
        changes.values_mut().for_each(|changes| changes.sort_unstable());
        let (mut waits, mut waited) = (0, 0);
        for slice in sink.slices_of("instruction") {
            let Some((semaphore, value)) = condition(text(slice, "operands")) else { continue };
            let before = changes[semaphore].partition_point(|(time, _)| *time < slice.start_ps);
            // The first of the changes since the last zero that fulfil the condition.
            let since = changes[semaphore][..before].iter().rev().take_while(|(_, now)| *now >= value);
            let &(time, _) = since.last().unwrap_or_else(|| panic!("nobody sets {semaphore}: {slice:?}"));
            assert!(slice.start_ps - time >= 70_000, "{slice:?}");
            waits += 1;
            if number(slice, "evt_wait_time") > 0 {
                assert!(slice.start_ps - time <= 71_100, "{} ps: {slice:?}", slice.start_ps - time);
                waited += 1;
            }
        }
        assert!(waits > 5_000 && waited > 1_000, "{waits}, {waited}");
    }
}

#[test]
fn every_change_has_somebody_who_makes_it() {
    let sink = record(&settings(2, &[]), 0);
    let mut ends: HashMap<&str, Vec<i64>> = HashMap::new();
    for slice in sink.slices_of("instruction") {
        ends.entry(text(slice, "subgroup")).or_default().push(slice.start_ps + slice.duration_ps);
    }
    ends.values_mut().for_each(|ends| ends.sort_unstable());
    let mut packets: Vec<i64> = sink.slices_of("dma").map(|dma| dma.start_ps + dma.duration_ps).collect();
    packets.sort_unstable();
    let is_near = |ends: &[i64], low: i64, high: i64| {
        let at = ends.partition_point(|end| *end < low);
        ends.get(at).is_some_and(|end| *end <= high)
    };
    let last = sink.slices_of("instruction").map(|slice| slice.start_ps).max().unwrap();
    for slice in sink.slices_of(SEMAPHORE_UPDATE.name).filter(|slice| slice.start_ps < last) {
        let time = slice.start_ps;
        assert!(
            match text(slice, "update_source") {
                "AXI" => is_near(&packets, time - 140_000, time),
                "CC" => true,
                engine => is_near(&ends[engine], time, time + 60_000),
            },
            "{slice:?}"
        );
    }
}

#[test]
fn stack_frames_lead_to_lines_of_the_source_code() {
    let sink = record(&settings(2, &[]), 0);
    let rows = |table: &str| -> Vec<&Vec<(String, OwnedValue)>> {
        let is_it = |at: usize| sink.tables[at].name == table;
        sink.rows.iter().filter(|(at, _)| is_it(usize::from(at.0))).map(|(_, fields)| fields).collect()
    };
    assert_eq!(rows(STACK_FRAME_FILE_NAME.name).len(), SOURCES.len());
    let frames = rows(STACK_FRAME.name).len() as u64;
    assert!(frames > 10);
    for slice in sink.slices_of("instruction") {
        let (name, line) = text(slice, "nki_source_location").split_once(':').unwrap();
        let file = SOURCES.iter().find(|file| file.name == name).unwrap();
        assert!(file.text.lines().count() >= line.parse().unwrap());
        let ids = text(slice, "stack_frame_ids").trim_matches(['[', ']']);
        assert!(ids.split(',').all(|id| (1..=frames).contains(&id.parse().unwrap())), "{ids}");
    }
}
