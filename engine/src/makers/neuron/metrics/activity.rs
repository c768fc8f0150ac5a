//! The slices of a rank by kind, from one sweep over all tracks of its devices: instructions of
//! each engine, packets and transfers of DMA, collectives. The same sweep divides the time.

use super::NamedColumns;
use crate::base::{Interval, Result};
use crate::exec::Work;
use crate::makers::class_times::{
    BlockClasses, Class, ClassTotal, ClassUnion, ClassifiedTrack, Classify, MOST_CLASSES, PieceTimes,
    SweptBlock, of_pieces, pieces,
};
use crate::makers::marked_field::MarkedField;
use crate::makers::neuron::Engine;
use crate::makers::neuron::schema::{DMA, INSTRUCTION};
use crate::makers::time_partition::{Stretch, TimeActivity, activity_of, is_of_device};
use crate::metrics::{MetricGroup, MetricScope, trace};
use crate::model::{Role, TableId, TrackId};
use crate::query;
use crate::segment::{BlockReader, Bytes, Segment};

/// Number of a kind of slices. A kind has two classes: slices that work, and those that wait.
pub type SliceKind = u8;

/// Packets of a queue that software sets up during the run.
pub const SOFTWARE_DYNAMIC: SliceKind = 0;
/// Packets of a queue that hardware sets up during the run.
pub const HARDWARE_DYNAMIC: SliceKind = 1;
/// Packets of other queues.
pub const STATIC: SliceKind = 2;
/// Packets of all queues.
pub const PACKETS: [SliceKind; 3] = [SOFTWARE_DYNAMIC, HARDWARE_DYNAMIC, STATIC];
/// Collective operations.
pub const COLLECTIVE: SliceKind = 3;
/// Steps of the cores for collective operations.
pub const COLLECTIVE_CORE: SliceKind = 4;
/// Whole transfers. Each has one or more packets.
pub const TRANSFER: SliceKind = 5;
/// Slices of a device that only the division of the time counts: computation and transfers.
const OTHER_COMPUTE: SliceKind = 6;
const OTHER_TRANSFER: SliceKind = 7;
/// Instructions of an unknown engine.
const UNKNOWN_ENGINE: SliceKind = 8;
/// Instructions of the first engine. Those of the others follow.
const FIRST_ENGINE: SliceKind = 9;
/// Number of kinds.
const KINDS: usize = FIRST_ENGINE as usize + Engine::ALL.len();

const _: () = assert!(2 * KINDS <= MOST_CLASSES, "each kind has two classes");

/// Instructions of this engine.
pub const fn instructions_of(engine: Engine) -> SliceKind {
    FIRST_ENGINE + engine as SliceKind
}

const fn class_of(kind: SliceKind, waits: bool) -> Class {
    2 * kind + waits as Class
}

// The first unions are those of the kinds, without waits. Numbers of the others:
/// Packets and operations with those that wait, by kind, from the first kind on.
const WITH_WAITS: usize = KINDS;
const PACKETS_WITH_WAITS: usize = WITH_WAITS + COLLECTIVE_CORE as usize + 1;
const ENGINES: usize = PACKETS_WITH_WAITS + 1;
/// Engines, packets and collective operations.
const MOST_WORK: usize = ENGINES + 1;
const ANYTHING: usize = MOST_WORK + 1;
const COMPUTE: usize = ANYTHING + 1;
const COMPUTE_OR_TRANSFER: usize = COMPUTE + 1;
const ALL_OF_DEVICE: usize = COMPUTE_OR_TRANSFER + 1;
const UNIONS: usize = ALL_OF_DEVICE + 1;

/// The unions whose covered time is wanted.
fn unions() -> [ClassUnion; UNIONS] {
    let set = |of: &[usize]| of.iter().fold(0, |set, at| set | 1_u32 << at);
    let kind = usize::from;
    let wait = |of: SliceKind| 1 << class_of(of, true);
    let mut unions = [ClassUnion::default(); UNIONS];
    for (union, of) in unions.iter_mut().zip(0..FIRST_ENGINE + Engine::ALL.len() as SliceKind) {
        union.classes = 1 << class_of(of, false);
    }
    for of in 0..=COLLECTIVE_CORE {
        unions[WITH_WAITS + kind(of)] = ClassUnion { classes: wait(of), unions: set(&[kind(of)]) };
    }
    let with_waits = PACKETS.map(|of| WITH_WAITS + kind(of));
    unions[PACKETS_WITH_WAITS].unions = set(&with_waits);
    let engines = Engine::ALL.map(|engine| kind(instructions_of(engine)));
    unions[ENGINES].unions = set(&engines);
    unions[MOST_WORK].unions = set(&[ENGINES, kind(COLLECTIVE)]) | set(&PACKETS.map(kind));
    // Only waiting packets and operations are missing, and unknown engines.
    let waiting = [WITH_WAITS + kind(COLLECTIVE), PACKETS_WITH_WAITS];
    unions[ANYTHING].unions = set(&[MOST_WORK, kind(UNKNOWN_ENGINE)]) | set(&waiting);
    unions[COMPUTE].unions = set(&[ENGINES, kind(OTHER_COMPUTE)]);
    let other = [OTHER_COMPUTE, OTHER_TRANSFER, TRANSFER, COLLECTIVE_CORE].map(kind);
    unions[COMPUTE_OR_TRANSFER].unions = set(&[MOST_WORK]) | set(&other);
    let core = WITH_WAITS + kind(COLLECTIVE_CORE);
    unions[ALL_OF_DEVICE].unions = set(&[COMPUTE_OR_TRANSFER, core]) | set(&waiting);
    let of_engines = Engine::ALL.map(|engine| wait(instructions_of(engine))).iter().sum::<u32>();
    unions[ALL_OF_DEVICE].classes = of_engines | wait(TRANSFER) | wait(OTHER_COMPUTE);
    unions
}

/// The slices of a rank.
#[derive(Debug)]
pub struct NeuronActivity {
    totals: [ClassTotal; MOST_CLASSES],
    covered_ps: [u64; UNIONS],
    /// The division of the time, if a slice of a device takes time.
    pub time: Option<MetricGroup>,
}

impl NeuronActivity {
    /// Reads all tracks, or the slices in the window of the scope: a slice counts if it starts in
    /// the window, and its time as far as it lies in it.
    pub fn of<B: Bytes>(segment: &Segment<B>, scope: &MetricScope, work: Work<'_>) -> Result<Self> {
        let dma = NamedColumns::of(segment, DMA.name, work.cancel);
        let classifiers = Classifiers {
            segment,
            instruction: segment.table(INSTRUCTION.name),
            dma: dma.map(|dma| (dma.table(), DmaFields::of(&dma))),
        };
        let tracks: Vec<_> = query::slice::tracks(segment, None)
            .into_iter()
            .filter_map(|track| Some((track, segment.table_of(track)?, classifiers.of_track(track)?)))
            .collect();
        let classified = tracks.iter().map(|(track, table, classify)| {
            let classify: &Classify<'_, B> = &**classify;
            ClassifiedTrack { track: *track, table: *table, classify }
        });
        Self::swept(segment, &classified.collect::<Vec<_>>(), scope, work)
    }

    fn swept<B: Bytes>(
        segment: &Segment<B>,
        tracks: &[ClassifiedTrack<'_, B>],
        scope: &MetricScope,
        work: Work<'_>,
    ) -> Result<Self> {
        let stretch = Stretch::of_device(segment, scope, work)?;
        let bounds = scope.window.unwrap_or(Interval::new(i64::MIN, i64::MAX));
        let whole = || scope.window.unwrap_or_else(|| trace::span(segment));
        let active = stretch.map_or_else(whole, |stretch| stretch.active);
        // Slices before and after the active stretch count, too.
        let mut all_pieces = pieces(segment, tracks, active)?;
        let of_stretch = 1..=all_pieces.len();
        all_pieces.insert(0, Interval::new(bounds.start.0, active.start.0));
        all_pieces.push(Interval::new(active.end.0, bounds.end.0));
        let times = of_pieces(segment, tracks, &unions(), &all_pieces, work)?;
        let mut all =
            Self { totals: [ClassTotal::default(); MOST_CLASSES], covered_ps: [0; UNIONS], time: None };
        for piece in &times {
            all.totals.iter_mut().zip(piece.totals).for_each(|(sum, of)| *sum = sum.and(of));
            all.covered_ps.iter_mut().zip(&piece.covered_ps).for_each(|(sum, ps)| *sum += ps.unsigned_abs());
        }
        let of_time = |piece: &PieceTimes| {
            [COMPUTE, COMPUTE_OR_TRANSFER, ALL_OF_DEVICE].map(|union| piece.covered_ps[union])
        };
        all.time = stretch.map(|stretch| stretch.group(times[of_stretch].iter().map(of_time)));
        Ok(all)
    }

    /// The slices of these kinds, without waits.
    pub fn working(&self, kinds: &[SliceKind]) -> ClassTotal {
        let totals = kinds.iter().map(|kind| self.totals[usize::from(class_of(*kind, false))]);
        totals.fold(ClassTotal::default(), ClassTotal::and)
    }

    /// The slices of these kinds.
    pub fn total(&self, kinds: &[SliceKind]) -> ClassTotal {
        let waiting = kinds.iter().map(|kind| self.totals[usize::from(class_of(*kind, true))]);
        waiting.fold(self.working(kinds), ClassTotal::and)
    }

    /// Time in which at least one packet or operation of a kind was in flight, in picoseconds.
    pub fn covered_ps(&self, kind: SliceKind) -> u64 {
        debug_assert!(kind <= COLLECTIVE_CORE, "packets and operations");
        self.covered_ps[WITH_WAITS + usize::from(kind)]
    }

    /// Time in which at least one instruction of an engine ran that does not wait, in picoseconds.
    pub fn engine_covered_ps(&self, engine: Engine) -> u64 {
        self.covered_ps[usize::from(instructions_of(engine))]
    }

    /// Time in which at least one packet was in flight, in picoseconds.
    pub fn packets_covered_ps(&self) -> u64 {
        self.covered_ps[PACKETS_WITH_WAITS]
    }

    /// Time in which at least one engine worked, or a packet or a collective operation was active,
    /// in picoseconds.
    pub fn active_ps(&self) -> u64 {
        self.covered_ps[ANYTHING]
    }
}

/// Tells the classes of the tracks of a rank.
struct Classifiers<'s, B> {
    segment: &'s Segment<B>,
    instruction: Option<TableId>,
    dma: Option<(TableId, DmaFields)>,
}

impl<B: Bytes> Classifiers<'_, B> {
    /// The classes of a track. `None` if none of its slices counts.
    fn of_track(&self, track: TrackId) -> Option<Box<Classify<'_, B>>> {
        let segment = self.segment;
        let (table, role) =
            (segment.table_of(track), segment.footer().tracks[track.0 as usize].spec.identity.role);
        let is_instruction = self.instruction.is_some() && table == self.instruction;
        match (role, &self.dma) {
            (Role::Queue, Some((dma, fields))) if table == Some(*dma) => {
                Some(Box::new(|block| of_queue(segment, fields, block)))
            }
            // Instructions of an unknown engine count too.
            (Role::Unknown, _) if is_instruction => Some(by_waits(segment, UNKNOWN_ENGINE)),
            (Role::Engine(of), _) if is_instruction => {
                let engine = Engine::ALL.into_iter().find(|engine| engine.kind() == of)?;
                Some(by_waits(segment, instructions_of(engine)))
            }
            (Role::Collectives, _) => Some(by_waits(segment, COLLECTIVE)),
            (Role::CollectiveCore, _) => Some(by_waits(segment, COLLECTIVE_CORE)),
            _ if is_of_device(role) => Some(Box::new(move |block| {
                block.by_name(|name, known| {
                    Ok(match activity_of(segment, role, name, known)? {
                        TimeActivity::Compute => class_of(OTHER_COMPUTE, false),
                        TimeActivity::Transfer => class_of(OTHER_TRANSFER, false),
                        TimeActivity::Wait => class_of(OTHER_COMPUTE, true),
                    })
                })
            })),
            _ => None,
        }
    }
}

/// The classes of a track whose slices are of one kind.
fn by_waits<B: Bytes>(segment: &Segment<B>, kind: SliceKind) -> Box<Classify<'_, B>> {
    let waits = &segment.footer().waits;
    Box::new(move |block| block.by_name(|name, _| Ok(class_of(kind, waits.contains_stored(name)))))
}

/// The classes of a block of DMA.
fn of_queue<B: Bytes>(
    segment: &Segment<B>,
    fields: &DmaFields,
    block: &mut SweptBlock<'_, '_, B>,
) -> Result<BlockClasses> {
    let waits = block.by_name(|name, _| Ok(Class::from(segment.footer().waits.contains_stored(name))))?;
    let kinds = fields.kinds(segment, &mut block.reader)?;
    Ok(match (kinds, waits) {
        (BlockClasses::One(kind), BlockClasses::One(waits)) => BlockClasses::One(class_of(kind, waits == 1)),
        (kinds, waits) => {
            let class = |row| class_of(kinds.of_row(row), waits.of_row(row) == 1);
            BlockClasses::of((0..block.reader.rows()).map(class).collect())
        }
    })
}

/// The fields that tell the kind of a row of DMA.
#[derive(Debug)]
pub struct DmaFields {
    is_transfer: MarkedField,
    queue: MarkedField,
}

impl DmaFields {
    /// The fields of the table.
    pub fn of<B: Bytes>(dma: &NamedColumns<'_, B>) -> Self {
        let queue = |text: &str| match text {
            "software_dynamic" => SOFTWARE_DYNAMIC,
            "hardware_dynamic" => HARDWARE_DYNAMIC,
            _ => STATIC,
        };
        Self {
            is_transfer: MarkedField::of(dma, "aggregated", 0, |text| u8::from(text == "yes")),
            queue: MarkedField::of(dma, "queue_type", STATIC, queue),
        }
    }

    /// Kinds of the rows of a block. A row is a whole transfer or a packet of one. A packet belongs
    /// to one kind of queue.
    pub fn kinds<B: Bytes>(
        &self,
        segment: &Segment<B>,
        block: &mut BlockReader<'_, B>,
    ) -> Result<BlockClasses> {
        let is_transfer = self.is_transfer.marks(segment, block)?;
        let queue = self.queue.marks(segment, block)?;
        Ok(match (is_transfer, queue) {
            (BlockClasses::One(0), queue) => queue,
            (BlockClasses::One(_), _) => BlockClasses::One(TRANSFER),
            (is_transfer, queue) => {
                let kind = |row| if is_transfer.of_row(row) == 0 { queue.of_row(row) } else { TRANSFER };
                BlockClasses::of((0..block.rows()).map(kind).collect())
            }
        })
    }
}
