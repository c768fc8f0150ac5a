//! Recognition of nprof's own Perfetto export of a profile of AIUs: a group of tracks for the
//! device whose tracks have the names that nprof gives them, and no process.

use memchr::memmem;
use nprof_engine::makers::aiu::{CounterKind, LaneKind, rank_of_devices};

use super::perfetto;
use crate::protobuf::MessageFields;

/// Field of a packet: descriptor of a track.
pub(super) const TRACK: u32 = 60;
/// Fields of a track's descriptor with its process and its thread.
pub(super) const OF_TRACK: [u32; 2] = [3, 4];
/// Fields of a track's descriptor: number, name, number of the parent, and order of the tracks
/// below.
const UUID: u32 = 1;
const NAME: u32 = 2;
const PARENT: u32 = 5;
const ORDER: u32 = 11;
/// The order of the tracks below is stated.
const EXPLICIT: u64 = 3;
/// Keys of slices that `nprof aiu` or acelyzer has written, with their lengths.
const WRITTEN: [&str; 2] = ["\x03TS1", "\x07jobname"];
/// Name of the group of a rank, before its number.
const RANK: &str = "rank ";

/// An export of a profile of AIUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exported {
    /// Number of the first rank, if it has one.
    pub rank: Option<u32>,
    /// Whether the slices of the device have tracks of nprof, as those of the runtime do.
    pub has_lanes: bool,
}

/// The rank of a group of this name, if an export has several ranks.
#[must_use]
pub fn rank_of_group(name: &str) -> Option<u32> {
    name.strip_prefix(RANK)?.parse().ok()
}

/// A descriptor of a track.
#[derive(Debug, Clone, Copy, Default)]
struct ExportTrack<'a> {
    uuid: u64,
    parent: u64,
    name: &'a str,
    is_ordered: bool,
    has_process: bool,
}

impl<'a> ExportTrack<'a> {
    fn of(descriptor: &'a [u8]) -> Self {
        let mut described = Self::default();
        let mut fields = MessageFields::new(descriptor);
        while let Ok(Some((number, value))) = fields.next() {
            match number {
                UUID => described.uuid = value.number(),
                PARENT => described.parent = value.number(),
                NAME => described.name = str::from_utf8(value.bytes()).unwrap_or_default(),
                ORDER => described.is_ordered = value.number() == EXPLICIT,
                of if OF_TRACK.contains(&of) => described.has_process = true,
                _ => {}
            }
        }
        described
    }
}

/// The export that begins with these bytes, if they are one.
#[must_use]
pub fn exported(head: &[u8]) -> Option<Exported> {
    perfetto::probe(head)?;
    let mut ranks: Vec<(u64, u32)> = Vec::new();
    let mut devices: Vec<(u64, Option<u32>)> = Vec::new();
    let mut found: Option<Exported> = None;
    let mut packets = MessageFields::new(head);
    while let Ok(Some((_, packet))) = packets.next() {
        let mut fields = MessageFields::new(packet.bytes());
        while let Ok(Some((number, value))) = fields.next() {
            if number != TRACK {
                continue;
            }
            let track = ExportTrack::of(value.bytes());
            if track.has_process {
                return None;
            }
            if let Some(rank) = rank_of_group(track.name).filter(|_| track.is_ordered) {
                ranks.push((track.uuid, rank));
            }
            if let Some(number) = rank_of_devices(track.name).filter(|_| track.is_ordered) {
                let rank = ranks.iter().find(|(uuid, _)| *uuid == track.parent).map(|&(_, rank)| rank);
                devices.push((track.uuid, rank.or(number)));
            }
            let device = devices.iter().find(|(uuid, _)| *uuid == track.parent);
            if let Some((&(_, rank), has_lanes)) = device.zip(shown(track.name)) {
                let found = found.get_or_insert(Exported { rank, has_lanes });
                found.has_lanes |= has_lanes;
            }
        }
    }
    found.or_else(|| {
        is_written(head).then(|| Exported { rank: ranks.first().map(|(_, rank)| *rank), has_lanes: false })
    })
}

/// Whether slices have counters and the file that `nprof aiu` or acelyzer read them from. nprof has
/// no tracks of its own for such traces without power and ideal cycles.
fn is_written(head: &[u8]) -> bool {
    WRITTEN.iter().all(|key| memmem::find(head, key.as_bytes()).is_some())
}

/// Whether a track with this name of nprof has slices of the device. `None` for other names.
fn shown(name: &str) -> Option<bool> {
    let is_counter = CounterKind::of_title(name).is_some();
    match LaneKind::of_title(name) {
        // nprof finds operations in PyTorch's traces, too.
        Some(LaneKind::Collective) => Some(false),
        Some(_) => Some(true),
        None => is_counter.then_some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message under a field.
    fn message(field: u8, content: &[u8]) -> Vec<u8> {
        // Fields above 15 have a tag of two bytes.
        let tag = u32::from(field) << 3 | 2;
        let low = u8::try_from(tag & 0x7f).unwrap();
        let tag = if tag > 0x7f { vec![low | 0x80, u8::try_from(tag >> 7).unwrap()] } else { vec![low] };
        [tag, vec![u8::try_from(content.len()).unwrap()], content.to_vec()].concat()
    }

    /// The descriptor of a track in a packet: number, parent, name, and whether the order of the
    /// tracks below is stated.
    fn track(uuid: u8, parent: u8, name: &str, is_ordered: bool) -> Vec<u8> {
        let mut descriptor = [&[8, uuid], &*message(2, name.as_bytes()), &[40, parent]].concat();
        if is_ordered {
            descriptor.extend([88, 3]);
        }
        message(1, &[&message(60, &descriptor), &[0x50_u8, 1][..]].concat())
    }

    #[track_caller]
    fn check(packets: &[Vec<u8>], expected: Option<(Option<u32>, bool)>) {
        let head = packets.concat();
        let expected = expected.map(|(rank, has_lanes)| Exported { rank, has_lanes });
        assert_eq!(exported(&head), expected);
        for cut in 0..head.len() {
            let _ = exported(&head[..cut]);
        }
    }

    #[test]
    fn tracks_with_our_names_tell_an_export() {
        let (device, lane) = (track(9, 0, "AIU 3", true), track(10, 9, "Compute 2", false));
        let counter = track(11, 9, "PT active, device 1", false);
        check(&[device.clone(), lane.clone()], Some((Some(3), true)));
        check(&[device.clone(), counter.clone()], Some((Some(3), false)));
        check(&[device.clone(), counter.clone(), lane.clone()], Some((Some(3), true)));
        check(&[device.clone(), track(10, 9, "Collectives", false)], Some((Some(3), false)));
        check(&[track(9, 0, "AIU", true), counter.clone()], Some((None, false)));
        let of_rank = [track(2, 0, "rank 5", true), track(9, 2, "AIU 0", true), lane.clone()];
        check(&of_rank, Some((Some(5), true)));
        // A process that has such a name, other names, and a lane elsewhere.
        check(&[track(9, 0, "AIU 3", false), lane.clone()], None);
        check(&[device.clone(), track(10, 9, "Stream 1", false)], None);
        check(&[device.clone(), track(10, 8, "Compute", false)], None);
        // Slices of a written trace without tracks of nprof.
        let annotated = |key: &str| {
            message(1, &[&message(11, &message(4, &message(10, key.as_bytes()))), &[0x50_u8, 1][..]].concat())
        };
        let keys = [annotated("TS1"), annotated("jobname")];
        check(&[&[track(9, 0, "AIU Device0", true)], &keys[..]].concat(), Some((None, false)));
        check(&[&[track(2, 0, "rank 5", true)], &keys[..]].concat(), Some((Some(5), false)));
        check(&[track(9, 0, "AIU Device0", true), keys[0].clone()], None);
        let process = message(1, &[&message(60, &message(3, &[8, 7])), &[0x50_u8, 1][..]].concat());
        check(&[keys[0].clone(), keys[1].clone(), process.clone()], None);
        check(&[device, lane, process], None);
    }
}
