//! Jobs: the files of a rank. Each has a span of work on the device, and one of round trips on
//! the host around it.

use nprof_engine::base::narrow;
use nprof_engine::makers::aiu::{AiuClass, Phase};
use rustc_hash::FxHashMap;

use super::device_slice::DeviceSlice;
use crate::formats::trace_event::layer::{LayerEvent, LowerReader};

/// A span of time in picoseconds that grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GrowingSpan {
    pub(super) start_ps: i64,
    pub(super) end_ps: i64,
}

impl GrowingSpan {
    fn cover(of: &mut Option<Self>, start_ps: i64, end_ps: i64) {
        let span = of.get_or_insert(Self { start_ps, end_ps });
        span.start_ps = span.start_ps.min(start_ps);
        span.end_ps = span.end_ps.max(end_ps);
    }

    /// Duration in picoseconds.
    pub(super) fn duration_ps(self) -> i64 {
        self.end_ps.saturating_sub(self.start_ps)
    }
}

/// A file of a rank.
#[derive(Debug, Default)]
pub(super) struct JobFile {
    /// Name of the file.
    pub(super) name: Box<str>,
    /// Slices of the device.
    pub(super) slices: u64,
    /// Executed kernels.
    pub(super) kernels: u64,
    /// Work on the device by the clock of the host.
    pub(super) device: Option<GrowingSpan>,
    /// Starts of the first and the last kernel.
    pub(super) kernel_starts: Option<GrowingSpan>,
    /// Round trips on the host.
    pub(super) host: Option<GrowingSpan>,
}

impl JobFile {
    /// Time that puts the work on the device inside the round trips of the host, in picoseconds. 0
    /// if it is inside, or does not fit.
    pub(super) fn shift_ps(&self) -> i64 {
        let (Some(host), Some(device)) = (self.host, self.device) else { return 0 };
        let is_inside = device.start_ps >= host.start_ps && device.end_ps <= host.end_ps;
        if is_inside || device.duration_ps() > host.duration_ps() {
            return 0;
        }
        host.start_ps.saturating_sub(device.start_ps)
    }
}

/// A file that slices of a device state to come from.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct StatedFile {
    pub(super) name: Box<str>,
    pub(super) device: u16,
}

/// All files of a rank.
#[derive(Debug, Default)]
pub(super) struct JobFiles {
    pub(super) all: Vec<JobFile>,
    /// Numbers of the files that slices of the last file state, on each device.
    stated: FxHashMap<StatedFile, u32>,
}

impl JobFiles {
    /// Begins a file. Returns its number.
    pub(super) fn begin(&mut self, name: &str) -> u32 {
        self.stated.clear();
        self.push(name)
    }

    fn push(&mut self, name: &str) -> u32 {
        self.all.push(JobFile { name: name.into(), ..JobFile::default() });
        narrow(self.all.len() - 1)
    }

    /// The number of the file that a slice of file `job` states, because that one was written from
    /// several. Each device has its own, as it has its own counters. The first one takes the place
    /// of the file itself.
    pub(super) fn named(&mut self, job: u32, file: StatedFile) -> u32 {
        if let Some(&known) = self.stated.get(&file) {
            return known;
        }
        let number = if self.stated.is_empty() {
            self.all[job as usize].name = file.name.clone();
            job
        } else {
            // The round trips do not state their files.
            self.all[job as usize].host = None;
            self.push(&file.name)
        };
        self.stated.insert(file, number);
        number
    }

    /// Notes a slice of the device.
    pub(super) fn device(&mut self, job: u32, held: &DeviceSlice, phase: Phase) {
        let job = &mut self.all[job as usize];
        job.slices += 1;
        GrowingSpan::cover(&mut job.device, held.start_ps, held.end_ps);
        if phase == Phase::Exec {
            job.kernels += 1;
            GrowingSpan::cover(&mut job.kernel_starts, held.start_ps, held.start_ps);
        }
    }

    /// Notes an event of the host.
    pub(super) fn host(&mut self, job: u32, met: LayerEvent<'_>, below: &mut LowerReader<'_, '_>) {
        if self.stated.len() > 1 || AiuClass::of_host(&met.name()) != AiuClass::RoundtripAiu {
            return;
        }
        if let Some(start_ps) = below.known_time(met) {
            let end_ps = start_ps.saturating_add(met.duration().unwrap_or(0));
            GrowingSpan::cover(&mut self.all[job as usize].host, start_ps, end_ps);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(device: (i64, i64), expected: i64) {
        let span = |(start_ps, end_ps)| Some(GrowingSpan { start_ps, end_ps });
        let job = JobFile { host: span((100, 200)), device: span(device), ..JobFile::default() };
        assert_eq!(job.shift_ps(), expected, "{device:?}");
    }

    #[test]
    fn slices_can_state_their_files() {
        let mut jobs = JobFiles::default();
        let first = jobs.begin("export");
        jobs.all[0].host = Some(GrowingSpan { start_ps: 0, end_ps: 9 });
        let of = |name: &str, device| StatedFile { name: name.into(), device };
        assert_eq!([jobs.named(first, of("a", 0)), jobs.named(first, of("a", 0))], [0, 0]);
        assert!(jobs.all[0].host.is_some(), "the round trips are those of the only file");
        assert_eq!([jobs.named(first, of("b", 0)), jobs.named(first, of("a", 0))], [1, 0]);
        assert_eq!(jobs.named(first, of("a", 1)), 2, "of another device");
        let names: Vec<&str> = jobs.all.iter().map(|job| &*job.name).collect();
        assert_eq!((names, jobs.all[0].host), (vec!["a", "b", "a"], None));
        let second = jobs.begin("other");
        assert_eq!((second, jobs.named(second, of("a", 0))), (3, 3));
    }

    #[test]
    fn work_outside_of_its_round_trip_is_shifted() {
        check((110, 190), 0);
        check((500, 560), -400);
        check((-50, 10), 150);
        check((150, 230), -50);
        check((500, 700), 0);
    }
}
