//! A Perfetto trace: for ui.perfetto.dev, trace_processor and other readers of TracePackets.
//! `docs/export.md` describes it.
//!
//! Perfetto's times are whole nanoseconds. If an event has finer times, its exact picoseconds are
//! annotations. Slices on a Perfetto track nest or follow each other. So overlapping lanes become
//! tracks of the same name, which Perfetto's page shows as one. Packets are written while rows are
//! read; Perfetto sorts them.

mod events;
pub mod proto;

use std::io::{self, Write};

use nprof_engine::base::Time;
use nprof_engine::exec::Work;
use nprof_engine::model::TrackContent;
use nprof_engine::native::{SegmentFile, StoredFile};
use nprof_engine::rank::RankView;
use prost::Message;

use self::events::PerfettoEvents;
use self::proto::{
    CounterDescriptor, DebugAnnotation, EXPLICIT_ORDER, INSTANT, NEEDS_INTERNED, SEQUENCE_BEGINS,
    TracePacket, TrackDescriptor, TrackEvent, UNIT_BYTES, UNIT_COUNT,
};
use super::{ExportChoices, ExportError, OpenedRank, PreparedExport, RanksOf, RowFailure};
use crate::store::RankFile;
use crate::warnings;

/// The tag of a packet in a trace: field 1, a message.
const PACKET_TAG: u8 = 0x0a;

/// Opens these ranks, to be written as one trace. If there are several ranks, each gets a track
/// with the rank's tracks below.
pub fn prepare<'a>(
    of: RanksOf<'a>,
    choices: &'a ExportChoices,
    work: Work<'_>,
) -> Result<PreparedExport<'a>, ExportError> {
    let starts = of.each().map(|opened| {
        let opened = opened?;
        opened.read(|_| Ok(work.cancel.check()?))?;
        Ok(first_ns(&opened))
    });
    let starts = starts.collect::<Result<Vec<_>, ExportError>>()?;
    let zero = Zero::of(of, starts.into_iter().flatten().min());
    Ok(PreparedExport::new(move |out| {
        for (sequence, opened) in (1..).zip(of.each()) {
            let opened = opened?;
            let rank = opened.rank;
            let mut packets = PacketSink { out: &mut *out, sequence, has_begun: false };
            let place = TraceRank {
                rank,
                view: rank.view(opened.segment()),
                is_alone: of.ranks.len() == 1,
                shift_ns: zero.shift_ns(rank),
                // Tracks of different ranks and traces must not share numbers.
                seed: seed(&rank.content, rank.rank),
            };
            opened.read(|segment| write_rank(segment, &place, choices, &mut packets))?;
        }
        Ok(())
    }))
}

/// A rank's place in the trace.
struct TraceRank<'a> {
    rank: &'a RankFile,
    view: RankView<'a, StoredFile>,
    is_alone: bool,
    /// Nanoseconds added to the shared times.
    shift_ns: i128,
    seed: u64,
}

impl TraceRank<'_> {
    /// Converts a rank's timestamp to the trace's time. Times before 1970 cannot be written and
    /// become 0.
    fn ns(&self, time_ps: i64) -> u64 {
        let ns = i128::from(self.view.shared(Time(time_ps)).floor_ns()) + self.shift_ns;
        u64::try_from(ns.max(0)).unwrap_or(u64::MAX)
    }

    /// A number that no other track or arrow has, with near certainty.
    fn uuid(&self, number: u64) -> u64 {
        mixed(self.seed.wrapping_add(number)).max(1)
    }
}

/// The time zero of the trace.
enum Zero {
    /// 1970, if every rank knows its wall clock. `origin_ns` is that of the shared time zero.
    Unix { origin_ns: i64 },
    /// The ranks' origin, moved back by the nanoseconds that the earliest event lies before it.
    Origin { before_ns: i64 },
}

impl Zero {
    /// The time zero of ranks whose earliest event has this shared time.
    fn of(of: RanksOf<'_>, first_ns: Option<i64>) -> Self {
        let is_known = of.ranks.iter().all(|rank| rank.origin_unix_ns.is_some());
        if let Some(origin_ns) = of.profile.manifest.shared_origin_unix_ns().filter(|_| is_known) {
            return Self::Unix { origin_ns };
        }
        Self::Origin { before_ns: first_ns.unwrap_or(0).min(0).saturating_neg() }
    }

    /// Nanoseconds from the shared times of a rank to the trace's time. A rank without a clock is
    /// placed by its own wall clock.
    fn shift_ns(&self, rank: &RankFile) -> i128 {
        match self {
            Self::Unix { origin_ns } => {
                let own_ns = rank.origin_unix_ns.filter(|_| rank.clock.is_none());
                i128::from(own_ns.unwrap_or(*origin_ns))
            }
            Self::Origin { before_ns } => i128::from(*before_ns),
        }
    }
}

/// The shared time of the earliest event of a rank.
fn first_ns(opened: &OpenedRank<'_>) -> Option<i64> {
    let rank = opened.rank.view(opened.segment());
    let tracks = rank.segment.footer().tracks.iter().filter(|track| track.rows > 0);
    tracks.map(|track| rank.shared(Time(track.start_ps)).floor_ns()).min()
}

/// Writes packets of one sequence.
struct PacketSink<'a> {
    out: &'a mut dyn Write,
    sequence: u32,
    has_begun: bool,
}

impl PacketSink<'_> {
    fn write(&mut self, packet: TracePacket) -> io::Result<()> {
        let begins = if self.has_begun { 0 } else { SEQUENCE_BEGINS };
        self.has_begun = true;
        let packet = TracePacket {
            trusted_packet_sequence_id: Some(self.sequence),
            sequence_flags: Some(begins | NEEDS_INTERNED),
            ..packet
        };
        let mut bytes = vec![PACKET_TAG];
        bytes.extend(packet.encode_length_delimited_to_vec());
        self.out.write_all(&bytes)
    }
}

/// Numbers of the tracks that nprof adds.
const RANK_NUMBER: u64 = 1;
const WARNINGS_NUMBER: u64 = 2;
/// The first number of the rank's own tracks.
const FIRST_TRACK_NUMBER: u64 = 16;

fn write_rank(
    segment: &SegmentFile,
    place: &TraceRank<'_>,
    choices: &ExportChoices,
    packets: &mut PacketSink<'_>,
) -> Result<(), RowFailure> {
    if !place.is_alone {
        let rank = TrackDescriptor {
            uuid: Some(place.uuid(RANK_NUMBER)),
            name: Some(format!("rank {}", place.rank.rank)),
            child_ordering: Some(EXPLICIT_ORDER),
            ..TrackDescriptor::default()
        };
        packets.write(TracePacket { track_descriptor: Some(rank), ..TracePacket::default() })?;
    }
    let tracks = descriptors(segment, place);
    for at in from_the_top(segment) {
        let descriptor = Some(tracks[at].clone());
        packets.write(TracePacket { track_descriptor: descriptor, ..TracePacket::default() })?;
    }
    write_warnings(segment, place, packets)?;
    PerfettoEvents::new(segment, place, &tracks, choices, packets)?.write()
}

/// The tracks as a page lists them: each group before its tracks. A reader that looks at the first
/// bytes finds the groups of a vendor, which come first.
fn from_the_top(segment: &SegmentFile) -> Vec<usize> {
    let tracks = &segment.footer().tracks;
    let spec = |at: usize| tracks.get(at).map(|track| &track.spec);
    let above = |at: &usize| spec(*at)?.parent.map(|parent| parent.0 as usize);
    let place = |at: usize| {
        // A damaged footer can have a cycle of groups: no path is longer than the list.
        let path = std::iter::successors(Some(at), above).take(tracks.len());
        let mut path: Vec<(i64, usize)> = path.map(|at| (spec(at).map_or(0, |spec| spec.sort), at)).collect();
        path.reverse();
        path
    };
    let mut order: Vec<usize> = (0..tracks.len()).collect();
    order.sort_by_cached_key(|&at| place(at));
    order
}

/// The descriptors of all tracks, indexed by track number.
fn descriptors(segment: &SegmentFile, place: &TraceRank<'_>) -> Vec<TrackDescriptor> {
    let tracks = &segment.footer().tracks;
    let mut order: Vec<usize> = (0..tracks.len()).collect();
    order.sort_by_key(|&at| (tracks[at].spec.sort, at));
    let mut places = vec![0; tracks.len()];
    for (place, at) in (0..).zip(order) {
        places[at] = place;
    }
    let descriptor = |(at, place_of): (usize, i32)| {
        let spec = &tracks[at].spec;
        let counter = matches!(spec.kind, TrackContent::Counter(_)).then(|| match spec.unit.symbol() {
            "" => CounterDescriptor::default(),
            "B" => CounterDescriptor { unit: Some(UNIT_BYTES), unit_name: None },
            "count" => CounterDescriptor { unit: Some(UNIT_COUNT), unit_name: None },
            symbol => CounterDescriptor { unit: None, unit_name: Some(symbol.to_owned()) },
        });
        TrackDescriptor {
            uuid: Some(place.uuid(FIRST_TRACK_NUMBER + at as u64)),
            name: Some(spec.name.clone()),
            parent_uuid: parent(segment, place, at),
            counter,
            child_ordering: (spec.kind == TrackContent::Group).then_some(EXPLICIT_ORDER),
            sibling_order_rank: Some(place_of),
        }
    };
    places.iter().copied().enumerate().map(descriptor).collect()
}

/// The parent of this track.
fn parent(segment: &SegmentFile, place: &TraceRank<'_>, at: usize) -> Option<u64> {
    match segment.footer().tracks[at].spec.parent {
        Some(parent) => Some(place.uuid(FIRST_TRACK_NUMBER + u64::from(parent.0))),
        None if place.is_alone => None,
        None => Some(place.uuid(RANK_NUMBER)),
    }
}

/// Writes the warnings of the rank as instants at its start.
fn write_warnings(
    segment: &SegmentFile,
    place: &TraceRank<'_>,
    packets: &mut PacketSink<'_>,
) -> Result<(), RowFailure> {
    let warnings = warnings::of_rank(place.rank, segment.footer());
    if warnings.is_empty() {
        return Ok(());
    }
    let uuid = place.uuid(WARNINGS_NUMBER);
    let track = TrackDescriptor {
        uuid: Some(uuid),
        name: Some("Warnings of nprof".to_owned()),
        parent_uuid: (!place.is_alone).then(|| place.uuid(RANK_NUMBER)),
        ..TrackDescriptor::default()
    };
    packets.write(TracePacket { track_descriptor: Some(track), ..TracePacket::default() })?;
    for warning in warnings {
        let text = |name: &str, text: String| DebugAnnotation {
            name: Some(name.to_owned()),
            string_value: Some(text),
            ..DebugAnnotation::default()
        };
        let count = DebugAnnotation {
            name: Some("count".to_owned()),
            uint_value: Some(warning.count),
            ..DebugAnnotation::default()
        };
        let event = TrackEvent {
            kind: Some(INSTANT),
            name: Some(warning.kind.title().to_owned()),
            track_uuid: Some(uuid),
            debug_annotations: vec![
                text("what", warning.what),
                text("first_place", warning.first_place),
                count,
            ],
            ..TrackEvent::default()
        };
        let timestamp = Some(place.ns(place.rank.start_ps));
        packets.write(TracePacket { timestamp, track_event: Some(event), ..TracePacket::default() })?;
    }
    Ok(())
}

fn seed(content: &str, rank: u32) -> u64 {
    let hash = blake3::hash(format!("nprof perfetto {rank} {content}").as_bytes());
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hash.as_bytes()[..8]);
    u64::from_le_bytes(bytes)
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection, so that different numbers
/// stay different.
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
