//! The tree of tracks of an AIU.

use rustc_hash::FxHashMap;

use crate::base::Result;
use crate::model::track::Initially;
use crate::model::{Identity, Nesting, Role, Sink, TableId, TrackId, TrackSpec, Unit};

use super::Phase;

/// Kind of a track with slices of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LaneKind {
    /// Execution of kernels.
    Compute,
    /// Transfers to the device.
    DataIn,
    /// Transfers from the device.
    DataOut,
    /// Whole collective operations.
    Collective,
    /// Transfers of collective operations that receive.
    Receive,
    /// Transfers of collective operations that send.
    Send,
    /// Other slices with counters.
    Other,
    /// Preparation of kernels, which runs beside the execution of others.
    Prep,
}

impl LaneKind {
    /// The track for a phase. Transfers of collective operations have tracks of their own.
    #[must_use]
    pub fn of(phase: Phase, has_group: bool) -> Self {
        match (phase, has_group) {
            (Phase::Exec, _) => Self::Compute,
            (Phase::Prep, _) => Self::Prep,
            (Phase::DataIn, false) => Self::DataIn,
            (Phase::DataOut, false) => Self::DataOut,
            (Phase::DataIn, true) => Self::Receive,
            (Phase::DataOut, true) => Self::Send,
            (Phase::Whole, _) => Self::Other,
        }
    }

    /// The kind of the tracks of this name.
    #[must_use]
    pub fn of_title(title: &str) -> Option<Self> {
        let (before, number) = title.rsplit_once(' ').unwrap_or((title, ""));
        let title = if number.parse::<u32>().is_ok() { before } else { title };
        let all = [
            Self::Compute,
            Self::DataIn,
            Self::DataOut,
            Self::Collective,
            Self::Receive,
            Self::Send,
            Self::Other,
            Self::Prep,
        ];
        all.into_iter().find(|lane| lane.title() == title)
    }

    fn title(self) -> &'static str {
        match self {
            Self::Compute => "Compute",
            Self::DataIn => "Data in",
            Self::DataOut => "Data out",
            Self::Collective => "Collectives",
            Self::Receive => "Collective receive",
            Self::Send => "Collective send",
            Self::Other => "Other work",
            Self::Prep => "Preparation",
        }
    }

    fn role(self) -> Role {
        match self {
            Self::Compute => Role::Kernels,
            Self::DataIn | Self::DataOut => Role::Queue,
            Self::Collective => Role::Collectives,
            Self::Receive | Self::Send => Role::CollectiveCore,
            Self::Other | Self::Prep => Role::Unknown,
        }
    }
}

/// A counter of an AIU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CounterKind {
    /// Watts between readings of the charge, by the time of the host.
    Power,
    /// Charge per cycle between readings, by the counters of the device, for a kind of slices.
    PowerOf(&'static str),
    /// Ideal time over measured time of the running kernel.
    PtActive,
    /// Preparations that run at the same time.
    ConcurrentPreps,
    /// Bytes per second to the device.
    DataInRate,
    /// Bytes per second from the device.
    DataOutRate,
    /// Bandwidth that PyTorch's dialect states for a transfer.
    TransferRate,
}

impl CounterKind {
    /// Whether samples come in the order of time. Readings by the counters of the device are
    /// ordered by cycles, and the host's times of them need not be.
    fn is_in_order(self) -> bool {
        !matches!(self, Self::PowerOf(_))
    }

    /// Title, unit and position.
    fn shape(self) -> (&'static str, Unit, i64) {
        match self {
            Self::PtActive => ("PT active", Unit::Ratio, 100),
            Self::Power => ("Power", Unit::Watts, 101),
            Self::ConcurrentPreps => ("Concurrent preparations", Unit::Count, 102),
            Self::DataInRate => ("Data in rate", Unit::BytesPerSecond, 103),
            Self::DataOutRate => ("Data out rate", Unit::BytesPerSecond, 104),
            Self::TransferRate => ("Transfer rate", Unit::BytesPerSecond, 105),
            Self::PowerOf(kind) => (kind, Unit::None, 0),
        }
    }

    /// The counter whose track has this name, but [`Self::PowerOf`], and the device that the name
    /// tells.
    #[must_use]
    pub fn of_title(title: &str) -> Option<(Self, Option<u32>)> {
        let (title, device) = match title.split_once(OF_DEVICE) {
            Some((title, device)) => (title, device.parse().ok()),
            None => (title, None),
        };
        // Before tracks of power had a unit, their names had it.
        let title = title.strip_suffix(" (W)").unwrap_or(title);
        let all = [
            Self::Power,
            Self::PtActive,
            Self::ConcurrentPreps,
            Self::DataInRate,
            Self::DataOutRate,
            Self::TransferRate,
        ];
        all.into_iter().find(|counter| counter.shape().0 == title).map(|counter| (counter, device))
    }
}

/// Text in the name of a counter of one of several devices, before the number of the device.
const OF_DEVICE: &str = ", device ";

/// Defines the tracks of one rank on first use.
#[derive(Debug)]
pub struct AiuTracks {
    /// Number of the device, if the rank has one.
    device: Option<u32>,
    /// Name of the group.
    name: String,
    group: Option<TrackId>,
    power_group: Option<TrackId>,
    lanes: FxHashMap<(LaneKind, u32), TrackId>,
    /// Tracks of each kind so far.
    counts: FxHashMap<LaneKind, u32>,
    /// Tracks of counters, by the device if there are several.
    counters: FxHashMap<(CounterKind, Option<u16>), TrackId>,
}

/// Position of the group of the device, before the threads of the host.
const FIRST: i64 = -1;
/// Name of the group of a device, before its number.
const GROUP: &str = "AIU";
/// Name of the group of several devices, before the number of their rank.
const GROUP_OF_SEVERAL: &str = "AIUs";
const OF_RANK: &str = " of rank ";
/// Name of the group of the counters [`CounterKind::PowerOf`].
const POWER_GROUP: &str = "Charge per cycle";

/// The rank whose devices have a group of this name: its number, if the name has one. The only
/// device of a rank has the number of the rank. `None` for other names.
#[must_use]
pub fn rank_of_devices(name: &str) -> Option<Option<u32>> {
    let (number, before) = match name.strip_prefix(GROUP_OF_SEVERAL) {
        Some(number) => (number, OF_RANK),
        None => (name.strip_prefix(GROUP)?, " "),
    };
    match number {
        "" => Some(None),
        number => number.strip_prefix(before)?.parse().ok().map(Some),
    }
}

impl AiuTracks {
    /// Tracks of the device with this number.
    #[must_use]
    pub fn new(device: Option<u32>) -> Self {
        let name = device.map_or_else(|| GROUP.to_owned(), |device| format!("{GROUP} {device}"));
        Self { device, ..Self::named(name) }
    }

    /// Tracks of all devices of a rank that has several.
    #[must_use]
    pub fn of_several(rank: Option<u32>) -> Self {
        let of_rank = rank.map_or_else(String::new, |rank| format!("{OF_RANK}{rank}"));
        Self::named(format!("{GROUP_OF_SEVERAL}{of_rank}"))
    }

    /// Tracks below a group of this name.
    fn named(name: String) -> Self {
        Self {
            device: None,
            name,
            group: None,
            power_group: None,
            lanes: FxHashMap::default(),
            counts: FxHashMap::default(),
            counters: FxHashMap::default(),
        }
    }

    fn identity(&self, role: Role, number: Option<u32>) -> Identity {
        Identity { chip: self.device, number, ..Identity::of(role) }
    }

    fn group(&mut self, sink: &mut dyn Sink) -> Result<TrackId> {
        if let Some(group) = self.group {
            return Ok(group);
        }
        let group = sink.track(TrackSpec::group(&self.name, None, FIRST))?;
        Ok(*self.group.insert(group))
    }

    /// The track for slices of this kind that one thread of the trace reported.
    pub fn lane(
        &mut self,
        sink: &mut dyn Sink,
        table: TableId,
        lane: LaneKind,
        thread: u32,
    ) -> Result<TrackId> {
        if let Some(&track) = self.lanes.get(&(lane, thread)) {
            return Ok(track);
        }
        let group = self.group(sink)?;
        let count = self.counts.entry(lane).or_default();
        let number = *count;
        *count += 1;
        let name = match number {
            0 => lane.title().to_owned(),
            further => format!("{} {}", lane.title(), further + 1),
        };
        let sort = (lane as i64) * (1 << 20) + i64::from(number);
        let mut spec = TrackSpec::slices(&name, Some(group), table, Nesting::Concurrent, sort);
        if lane == LaneKind::Prep {
            spec.initially = Initially::Closed;
        }
        let track = sink.track(spec.showing(self.identity(lane.role(), Some(number))))?;
        self.lanes.insert((lane, thread), track);
        Ok(track)
    }

    /// The track of a counter, and of one device if the rank has several.
    pub fn counter(
        &mut self,
        sink: &mut dyn Sink,
        table: TableId,
        counter: CounterKind,
        device: Option<u16>,
    ) -> Result<TrackId> {
        if let Some(&track) = self.counters.get(&(counter, device)) {
            return Ok(track);
        }
        let mut group = self.group(sink)?;
        let (name, unit, sort) = counter.shape();
        if matches!(counter, CounterKind::PowerOf(_)) {
            group = self.power_group(sink, group)?;
        }
        // Counters come after the tracks with slices.
        let name = device.map_or_else(|| name.to_owned(), |device| format!("{name}{OF_DEVICE}{device}"));
        let spec = TrackSpec::counter(&name, Some(group), table, unit, (1 << 40) + sort);
        let track = sink.track(spec.showing(self.identity(Role::Unknown, None)))?;
        if counter.is_in_order() {
            sink.in_order(track)?;
        }
        self.counters.insert((counter, device), track);
        Ok(track)
    }

    fn power_group(&mut self, sink: &mut dyn Sink, above: TrackId) -> Result<TrackId> {
        if let Some(group) = self.power_group {
            return Ok(group);
        }
        let mut spec = TrackSpec::group(POWER_GROUP, Some(above), (1 << 40) + 200);
        spec.initially = Initially::Closed;
        let group = sink.track(spec)?;
        Ok(*self.power_group.insert(group))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Recorder;
    use crate::makers::aiu::schema::{AiuOp, COUNTERS};

    #[test]
    fn each_kind_and_thread_has_one_track() {
        let mut sink = Recorder::default();
        let ops = AiuOp::define(&mut sink).unwrap().table;
        let samples = sink.table(COUNTERS.spec()).unwrap();
        let mut tracks = AiuTracks::new(Some(3));
        let mut lane = |sink: &mut Recorder, lane, thread| tracks.lane(sink, ops, lane, thread).unwrap();
        let first = lane(&mut sink, LaneKind::Compute, 7);
        assert_eq!(first, lane(&mut sink, LaneKind::Compute, 7));
        let second = lane(&mut sink, LaneKind::Compute, 8);
        let prep = lane(&mut sink, LaneKind::Prep, 7);
        let power = tracks.counter(&mut sink, samples, CounterKind::PowerOf("DmaI"), None).unwrap();
        let active = tracks.counter(&mut sink, samples, CounterKind::PtActive, Some(2)).unwrap();
        let name = &sink.tracks[active.0 as usize].name;
        assert_eq!(CounterKind::of_title(name), Some((CounterKind::PtActive, Some(2))), "{name}");
        assert_eq!(CounterKind::of_title("PT active"), Some((CounterKind::PtActive, None)));
        let watts = tracks.counter(&mut sink, samples, CounterKind::Power, None).unwrap();
        let spec = &sink.tracks[watts.0 as usize];
        assert_eq!((spec.name.as_str(), spec.unit.symbol()), ("Power", "W"));
        for name in ["Power", "Power (W)"] {
            assert_eq!(
                CounterKind::of_title(name),
                Some((CounterKind::Power, None)),
                "also of older profiles"
            );
        }
        let paths: Vec<String> = [first, second, prep, power].map(|track| sink.path(track)).to_vec();
        assert_eq!(
            paths,
            ["AIU 3/Compute", "AIU 3/Compute 2", "AIU 3/Preparation", "AIU 3/Charge per cycle/DmaI"]
        );
        for (name, expected) in [
            ("Compute", Some(LaneKind::Compute)),
            ("Compute 2", Some(LaneKind::Compute)),
            ("Collective send 12", Some(LaneKind::Send)),
            ("Compute 2b", None),
        ] {
            assert_eq!(LaneKind::of_title(name), expected, "{name}");
        }
        let devices = ["AIU", "AIU 3", "AIU 3 · python", "AIU3"].map(rank_of_devices);
        assert_eq!(devices, [Some(None), Some(Some(3)), None, None]);
        for rank in [None, Some(3)] {
            let AiuTracks { name, .. } = AiuTracks::of_several(rank);
            assert_eq!(rank_of_devices(&name), Some(rank), "{name}");
        }
        assert_eq!(["AIUs 3", "AIU of rank 3"].map(rank_of_devices), [None, None]);
        let identity = sink.tracks[second.0 as usize].identity;
        assert_eq!(identity, Identity { chip: Some(3), number: Some(1), ..Identity::of(Role::Kernels) });
        assert_eq!(sink.tracks[prep.0 as usize].initially, Initially::Closed);
    }
}
