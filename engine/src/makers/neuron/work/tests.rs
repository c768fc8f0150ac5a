//! The work of small ranks whose waits are known.

use std::ops::Range;

use crate::exec::Work;
use crate::ingest::{BuildOptions, Builder};
use crate::makers::neuron::schema::{
    COLLECTIVE_TRIGGER, CcOps, DMA_TRIGGER, Dma, Instruction, Metadata, Queue, SemaphoreUpdate,
};
use crate::makers::neuron::{NeuronTracks, SOURCE};
use crate::model::stated_edge::NOBODY;
use crate::model::{
    Certainty, EdgeReason, FieldId, NodePoint, RankInfo, RankWork, Sink, SliceForm, SliceKey, SliceRecord,
    TrackId, Value, WaitCounts,
};
use crate::segment::Segment;
use crate::spill::MemoryScratch;

const NS: i64 = 1_000;

/// A small rank while it is written. Times are in nanoseconds.
struct SmallRank<'a> {
    sink: Builder<'a>,
    tracks: NeuronTracks,
}

impl SmallRank<'_> {
    fn slice(
        &mut self,
        track: TrackId,
        name: &str,
        ns: Range<i64>,
        fields: &[(FieldId, Value<'_>)],
    ) -> SliceKey {
        let name = self.sink.name(name).unwrap();
        let (start_ps, duration_ps) = (ns.start * NS, (ns.end - ns.start) * NS);
        let form = SliceForm::Complete;
        self.sink.slice(&SliceRecord { track, start_ps, duration_ps, name, form, fields }).unwrap()
    }

    /// An instruction, with the time that it waited before its start.
    fn instruction(
        &mut self,
        label: &str,
        opcode: &str,
        ns: Range<i64>,
        operands: &str,
        wait: i64,
    ) -> SliceKey {
        let of = Instruction::define(&mut self.sink).unwrap();
        let track = self.tracks.engine(&mut self.sink, label, 0).unwrap();
        let fields = [
            (of.operands, Value::Text(operands)),
            (of.evt_wait_time, Value::Int(wait)),
            (of.layer, Value::Text(if opcode == "MATMUL" { "layers.0" } else { "" })),
        ];
        self.slice(track, opcode, ns, &fields)
    }

    /// A packet of the first engine of a queue.
    fn packet(&mut self, queue: Queue<'_>, kind: &str, ns: Range<i64>, size: i64) {
        let of = Dma::define(&mut self.sink).unwrap();
        let track = self.tracks.dma_packets(&mut self.sink, 0, queue, Some(0)).unwrap();
        let fields = [
            (of.transfer_size, Value::Int(size)),
            (of.queue_type, Value::Text(kind)),
            (of.aggregated, Value::Text("no")),
        ];
        self.slice(track, kind, ns, &fields);
    }

    fn change(&mut self, id: &str, time: i64, value: i64) {
        let of = SemaphoreUpdate::define(&mut self.sink).unwrap();
        let track = self.tracks.semaphore(&mut self.sink, 0, id).unwrap();
        let (name, form) = (self.sink.name(id).unwrap(), SliceForm::Instant);
        let fields = [(of.value, Value::Int(value))];
        let record = SliceRecord { track, start_ps: time * NS, duration_ps: 0, name, form, fields: &fields };
        self.sink.slice(&record).unwrap();
    }
}

/// The work of a rank that is written so.
fn work_of(write: impl FnOnce(&mut SmallRank<'_>)) -> RankWork {
    let mut bytes = Vec::new();
    {
        let scratch = MemoryScratch::default();
        let mut sink = Builder::new(&scratch, &mut bytes, BuildOptions::default()).unwrap();
        sink.rank(RankInfo { source: SOURCE.to_owned(), ..RankInfo::default() });
        let metadata = Metadata::define(&mut sink).unwrap();
        sink.row(metadata.table, &[(metadata.pe_clock_others, Value::Float(1.4))]).unwrap();
        let mut rank = SmallRank { sink, tracks: NeuronTracks::default() };
        write(&mut rank);
        rank.sink.finish().unwrap();
    }
    super::read(&Segment::open(bytes).unwrap(), Work::IN_PLACE).unwrap()
}

/// Waiting instruction, awaited work, reason and certainty of the edges that are waits or triggers.
fn edges(work: &RankWork) -> Vec<(String, NodePoint, String, EdgeReason, Certainty)> {
    let name = |node: u32| match node {
        NOBODY => "nobody".to_owned(),
        node => {
            let class = work.classes[work.nodes[node as usize].class as usize];
            let start_ns = work.nodes[node as usize].start_ps / NS;
            format!("{} {start_ns}", work.name(class.name).unwrap())
        }
    };
    let wanted = work.edges.iter().filter(|edge| edge.reason != EdgeReason::Order);
    wanted.map(|edge| (name(edge.node), edge.at, name(edge.from), edge.reason, edge.certainty)).collect()
}

#[test]
fn a_wait_leads_to_the_instruction_that_changed_the_semaphore() {
    let work = work_of(|rank| {
        rank.instruction("Tensor", "LDWEIGHTS", 0..80, " src=a", 0);
        rank.instruction("TensorMatrix", "MATMUL", 10..210, "S[5] (Tensor)++@complete acc_flags=3", 0);
        rank.instruction("Scalar", "NOP", 20..25, " ", 0);
        // The device noticed the change 5 ns before the recorded end of the product.
        rank.change("S[5] (Tensor)", 205, 1);
        rank.instruction("Scalar", "ACTIVATE", 275..375, "S[5] (Tensor)>=1 S[4] (Scalar)++@complete", 180);
        rank.change("S[4] (Scalar)", 376, 1);
        rank.instruction("Vector", "EVENT_SEMAPHORE", 50..450, " setter=0 S[4]==1 S[6]++@complete", 0);
    });
    assert_eq!(
        edges(&work),
        [
            (
                "EVENT_SEMAPHORE 50".to_owned(),
                NodePoint::End,
                "ACTIVATE 275".to_owned(),
                EdgeReason::Semaphore,
                Certainty::Recorded
            ),
            (
                "ACTIVATE 275".to_owned(),
                NodePoint::Start,
                "MATMUL 10".to_owned(),
                EdgeReason::Semaphore,
                Certainty::Recorded
            ),
        ]
    );
    assert_eq!(work.waits, WaitCounts { stated: 2, fulfilled: 2, charged: 2 });
    let wait = work.edges.iter().find(|edge| edge.since_ps.is_some()).unwrap();
    assert_eq!((wait.since_ps, wait.met_ps), (Some(25 * NS), 205 * NS));
    assert_eq!(work.semaphores[wait.semaphore as usize].name, "S[5] (Tensor)");
    assert!(work.is_stated.iter().all(|is_stated| *is_stated), "{work:?}");
    // Products stand on a track of their own, and are of the same engine.
    let mut parties: Vec<&str> = (0..4).map(|queue| work.party(queue)).collect();
    parties.sort_unstable();
    assert_eq!(parties, ["Scalar", "Tensor", "Tensor", "Vector"]);
    let layers = work.classes.iter().filter_map(|class| work.name(class.layer));
    assert_eq!(layers.collect::<Vec<_>>(), ["layers.0"]);
}

#[test]
fn the_count_of_waited_time_turns_over() {
    let work = work_of(|rank| {
        rank.instruction("Tensor", "MATMUL", 0..149_970, "S[5]++@complete", 0);
        rank.instruction("Scalar", "NOP", 100..110, " ", 0);
        rank.change("5", 150_000, 1);
        // 65,536 cycles of 1.4 GHz are 46,811.4 ns; the device has counted the rest of the fourth
        // turn.
        rank.instruction("Scalar", "ACTIVATE", 150_070..150_120, "S[5]>=1 COPY", 9_466);
    });
    let wait = work.edges.iter().find(|edge| edge.reason == EdgeReason::Semaphore).unwrap();
    assert_eq!((wait.since_ps.unwrap() + NS / 2) / NS, 150_000 - 9_466 - 140_434);
}

#[test]
fn what_was_there_before_is_no_wait() {
    let work = work_of(|rank| {
        rank.instruction("Tensor", "MATMUL", 0..100, "S[5]++@complete", 0);
        rank.change("5", 100, 1);
        rank.instruction("Scalar", "ACTIVATE", 900..950, "S[5]>=1 COPY", 25);
    });
    let wait = work.edges.iter().find(|edge| edge.reason == EdgeReason::Semaphore).unwrap();
    assert_eq!((wait.since_ps, wait.met_ps), (Some(100 * NS), 100 * NS));
}

#[test]
fn transfers_lead_to_the_instructions_that_trigger_them() {
    let queue = Queue { name: "qSyncIO0", number: Some(1) };
    let work = work_of(|rank| {
        let trigger = rank.instruction("Sync", "WRITE", 0..40, " data=0x3", 0);
        let of = Dma::define(&mut rank.sink).unwrap();
        let track = rank.tracks.dma_transfers(&mut rank.sink, 0, queue).unwrap();
        let whole = rank.slice(track, "data", 200..410, &[(of.aggregated, Value::Text("yes"))]);
        let name = rank.sink.name(DMA_TRIGGER).unwrap();
        rank.sink.link(trigger, whole, name).unwrap();
        rank.packet(queue, "data", 200..300, 2048);
        rank.packet(queue, "data", 400..410, 4);
        rank.change("S[8] (qSyncIO0)", 560, 16);
        rank.instruction("Tensor", "EVENT_SEMAPHORE", 630..647, "S[8] (qSyncIO0)>=16 setter=0", 500);
    });
    assert_eq!(
        edges(&work),
        [
            (
                "data 200".to_owned(),
                NodePoint::Start,
                "WRITE 0".to_owned(),
                EdgeReason::Trigger,
                Certainty::Recorded
            ),
            (
                "EVENT_SEMAPHORE 630".to_owned(),
                NodePoint::Start,
                "data 400".to_owned(),
                EdgeReason::Transfer,
                Certainty::Assumed
            ),
        ]
    );
    // The whole transfer is not work beside its packets.
    assert_eq!(work.nodes.len(), 4);
    assert!((0..3).any(|queue| work.party(queue) == "qSyncIO0 · Q1"), "{work:?}");
}

#[test]
fn transfers_that_are_set_up_during_the_run_follow_their_instructions() {
    let queue = Queue { name: "", number: Some(0) };
    let work = work_of(|rank| {
        rank.instruction("GpSimd", "DMA_DIRECT2D", 100..100, " semaphore=24 sem_increment=1", 2);
        // The next one is set up before the first one has begun.
        rank.instruction("GpSimd", "DMA_DIRECT2D", 150..150, " semaphore=25 sem_increment=1", 2);
        rank.packet(queue, "software_dynamic", 300..350, 2048);
        rank.packet(queue, "software_dynamic", 360..367, 4);
        rank.packet(queue, "software_dynamic", 400..490, 2048);
        rank.packet(queue, "software_dynamic", 500..507, 4);
        rank.change("S[24] (qGpSimdDynamic)", 520, 1);
        rank.change("S[25] (qGpSimdDynamic)", 660, 1);
        rank.instruction("Tensor", "LDWEIGHTS", 590..670, "S[24] (qGpSimdDynamic)>=1 src=a", 500);
        rank.instruction("Scalar", "ACTIVATE", 730..810, "S[25] (qGpSimdDynamic)>=1 COPY", 500);
    });
    let found: Vec<(String, String)> =
        edges(&work).into_iter().map(|(to, _, from, _, _)| (to, from)).collect();
    let edge = |to: &str, from: &str| (to.to_owned(), from.to_owned());
    assert_eq!(
        found,
        [
            edge("software_dynamic 300", "DMA_DIRECT2D 100"),
            edge("software_dynamic 400", "DMA_DIRECT2D 150"),
            edge("LDWEIGHTS 590", "software_dynamic 360"),
            edge("ACTIVATE 730", "software_dynamic 500"),
        ]
    );
    assert!((0..4).any(|queue| work.party(queue) == "qGpSimdDynamic · Q0"), "{work:?}");
}

#[test]
fn a_collective_operation_changes_the_semaphore_that_its_trigger_names() {
    let work = work_of(|rank| {
        let operands = "semaphore=12 sem_increment=1  ctype=AllReduce";
        let trigger = rank.instruction("GpSimd", "TRIGGER_COLLECTIVE", 0..50, operands, 0);
        let track = rank.tracks.collective_ops(&mut rank.sink, Some(0)).unwrap();
        CcOps::define(&mut rank.sink).unwrap();
        let operation = rank.slice(track, "all-reduce", 50..900, &[]);
        let name = rank.sink.name(COLLECTIVE_TRIGGER).unwrap();
        rank.sink.link(trigger, operation, name).unwrap();
        rank.change("S[12] (CC)", 940, 1);
        rank.instruction("Sync", "WRITE", 1010..1050, "S[12] (CC)>=1 data=0x1", 900);
    });
    let found: Vec<_> = edges(&work).into_iter().map(|(to, _, from, ..)| (to, from)).collect();
    let edge = |to: &str, from: &str| (to.to_owned(), from.to_owned());
    let expected = [edge("all-reduce 50", "TRIGGER_COLLECTIVE 0"), edge("WRITE 1010", "all-reduce 50")];
    assert_eq!(found, expected);
}

#[test]
fn waits_without_a_change_are_counted_and_state_nothing() {
    let work = work_of(|rank| {
        rank.instruction("Tensor", "MATMUL", 0..100, "S[5]++@complete", 0);
        rank.instruction("Scalar", "ACTIVATE", 300..350, "S[5]>=2 COPY", 200);
        rank.change("5", 100, 1);
    });
    assert_eq!(work.waits, WaitCounts { stated: 1, fulfilled: 0, charged: 0 });
    assert_eq!(edges(&work), []);
    let is_stated = |name: &str| {
        let queue = (0..2).find(|queue| work.party(*queue) == name).unwrap();
        work.states_waits(queue)
    };
    assert!(!is_stated("Tensor") && !is_stated("Scalar"));
}
