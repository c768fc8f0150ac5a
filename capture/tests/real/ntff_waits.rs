//! Waits for semaphores in real traces: each has the change that ended it and its author, and the
//! time waited is the one that the vendor's tool states.

use std::path::PathBuf;

use nprof_capture::formats::{neuron_json, ntff};
use nprof_engine::exec::Work;
use nprof_engine::ingest::{BuildOptions, Builder};
use nprof_engine::makers;
use nprof_engine::model::stated_edge::NOBODY;
use nprof_engine::model::{EdgeReason, NodePoint, OwnedValue, RankWork, StatedEdge, WaitCounts};
use nprof_engine::query::fields;
use nprof_engine::segment::Segment;
use nprof_engine::spill::{MemoryScratch, Space};

use super::ntff_vendor::traces;

/// The device counts the time waited in cycles of 1.4 GHz, with 16 bits.
const TURN_PS: f64 = 65_536.0 / 1.4 * 1000.0;

/// A trace, or what the vendor's tool exported of it, as a segment.
fn segment_of(path: &PathBuf) -> Segment<Vec<u8>> {
    let (scratch, mut bytes) = (MemoryScratch::default(), Vec::new());
    let mut builder = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
    let input = std::fs::read(path).unwrap();
    match path.extension().is_some_and(|of| of == "json") {
        true => neuron_json::read(&mut input.as_slice(), &mut builder, &mut |_| {}).unwrap(),
        false => ntff::read(&input, None, Space::new(&scratch), &mut builder, &mut |_| {}).unwrap(),
    }
    builder.finish().unwrap();
    Segment::open(bytes).unwrap()
}

/// Time that the vendor's tool states for an instruction, in picoseconds.
fn stated_ps(segment: &Segment<Vec<u8>>, row: u32) -> i64 {
    let field = segment.footer().fields.iter().position(|(_, of)| of.name == "evt_wait_time").unwrap();
    let fields = fields::read(segment, row).unwrap();
    match fields.iter().find(|(of, _)| of.0 as usize == field) {
        Some((_, OwnedValue::Int(ns))) => ns * 1000,
        _ => 0,
    }
}

/// Time waited before a start, without whole turns of the count.
fn counted_ps(edge: &StatedEdge) -> f64 {
    let waited_ps = (edge.met_ps - edge.since_ps.unwrap()) as f64;
    waited_ps - (waited_ps / TURN_PS + 1e-4).floor() * TURN_PS
}

fn all() -> Vec<PathBuf> {
    traces().into_iter().flat_map(|path| [path.with_extension("json"), path]).collect()
}

#[test]
fn every_wait_has_its_change_and_its_author() {
    let mut sum = WaitCounts::default();
    for path in all() {
        let work = makers::work(&segment_of(&path), Work::IN_PLACE).unwrap();
        assert!(work.waits.stated >= 39, "{}: {:?}", path.display(), work.waits);
        sum = sum.plus(work.waits);
    }
    assert!(sum.fulfilled * 100 >= sum.stated * 99, "{sum:?}");
    assert!(sum.charged * 100 >= sum.stated * 95, "{sum:?}");
}

#[test]
fn authors_are_those_that_the_names_of_semaphores_say() {
    for path in all().into_iter().filter(|path| path.extension().is_some_and(|of| of == "json")) {
        let work = makers::work(&segment_of(&path), Work::IN_PLACE).unwrap();
        let party = |work: &RankWork, node: u32| {
            let class = work.classes[work.nodes[node as usize].class as usize];
            work.party(class.queue).to_owned()
        };
        let waits = work.edges.iter().filter(|edge| edge.reason.is_wait() && edge.from != NOBODY);
        for edge in waits {
            let (name, author) = (&work.semaphores[edge.semaphore as usize].name, party(&work, edge.from));
            let Some((_, owner)) = name.split_once(" (") else { continue };
            assert!(author.starts_with(owner.trim_end_matches(')')), "{}: {name} {author}", path.display());
            assert_eq!(edge.reason == EdgeReason::Transfer, owner.starts_with('q'), "{name}");
            let class = |node: u32| work.classes[work.nodes[node as usize].class as usize];
            assert_ne!(class(edge.from).queue, class(edge.node).queue, "{name}");
        }
    }
}

#[test]
fn the_time_waited_is_the_stated_one() {
    let (mut sum_ps, mut stated_sum_ps, mut waits) = (0.0, 0, 0);
    for path in all() {
        let segment = segment_of(&path);
        let work = makers::work(&segment, Work::IN_PLACE).unwrap();
        let measured =
            work.edges.iter().filter(|edge| edge.at == NodePoint::Start && edge.since_ps.is_some());
        for edge in measured.filter(|edge| edge.since_ps < Some(edge.met_ps)) {
            let stated_ps = stated_ps(&segment, work.nodes[edge.node as usize].row);
            let found_ps = counted_ps(&edge);
            assert!((found_ps - stated_ps as f64).abs() <= 1.0, "{}: {edge:?} {stated_ps}", path.display());
            assert!(work.nodes[edge.node as usize].start_ps >= edge.met_ps, "{edge:?}");
            (sum_ps, stated_sum_ps, waits) = (sum_ps + found_ps, stated_sum_ps + stated_ps, waits + 1);
        }
    }
    println!("{waits} waits before a start: {sum_ps} ps, stated {stated_sum_ps} ps");
    assert!((sum_ps - stated_sum_ps as f64).abs() <= f64::from(waits));
}
