//! Steps of PyTorch's profiler: which step launched a call.
//!
//! The host runs ahead of its device, so the start of a kernel says nothing about marks of the
//! host. A mark on the device counts first, then the launch of the kernel. Without both, the start
//! of the call is all that is known.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::TrackId;
use crate::model::collective::NO_STEP;

/// Name of the annotations of steps, before their number.
const NAME: &str = "ProfilerStep#";

/// The number of a step in the name of its annotation.
pub(super) fn number_of(name: &str) -> Option<u32> {
    name.strip_prefix(NAME)?.parse().ok()
}

/// The begin of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StepMark {
    pub(super) start_ps: i64,
    pub(super) number: u32,
}

/// Key that a stream of a device and the track of its annotations share: the group above them, and
/// the number of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct StreamKey {
    pub(super) group: Option<TrackId>,
    pub(super) number: Option<u32>,
}

/// Origin of a call.
#[derive(Debug, Clone, Copy)]
struct CallOrigin {
    stream: StreamKey,
    start_ps: i64,
    correlation: Option<i64>,
}

/// The marks and launches of a rank.
#[derive(Debug, Default)]
pub(super) struct ProfilerSteps {
    of_device: FxHashMap<StreamKey, Vec<StepMark>>,
    of_host: Vec<StepMark>,
    calls: Vec<CallOrigin>,
    /// Correlations of calls whose launches are wanted.
    wanted: FxHashSet<i64>,
    launches: FxHashMap<i64, i64>,
}

impl ProfilerSteps {
    /// Takes the next call.
    pub(super) fn call(&mut self, stream: StreamKey, start_ps: i64, correlation: Option<i64>) {
        self.calls.push(CallOrigin { stream, start_ps, correlation });
    }

    /// Takes a mark on a stream of the device.
    pub(super) fn mark_of_device(&mut self, stream: StreamKey, mark: StepMark) {
        self.of_device.entry(stream).or_default().push(mark);
    }

    /// Takes a mark on a thread of the host.
    pub(super) fn mark_of_host(&mut self, mark: StepMark) {
        self.of_host.push(mark);
    }

    /// Ends the reading of the device: from now on launches come.
    pub(super) fn end_of_device(&mut self) {
        if self.of_device.is_empty() {
            self.wanted = self.calls.iter().filter_map(|call| call.correlation).collect();
        }
    }

    /// Whether launches are wanted.
    pub(super) fn wants_launches(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Takes a slice of the host that states this correlation.
    pub(super) fn launch(&mut self, correlation: i64, start_ps: i64) {
        if self.wanted.contains(&correlation) {
            self.launches.entry(correlation).or_insert(start_ps);
        }
    }

    /// The number of the step of each call, in the order in which they came. Empty without marks.
    pub(super) fn numbers(mut self) -> Vec<u32> {
        if self.of_device.is_empty() && self.of_host.is_empty() {
            return Vec::new();
        }
        let mut of_all: Vec<StepMark> = self.of_device.values().flatten().copied().collect();
        if of_all.is_empty() {
            of_all = std::mem::take(&mut self.of_host);
        }
        of_all.sort_unstable();
        self.of_device.values_mut().for_each(|marks| marks.sort_unstable());
        let number = |call: &CallOrigin| {
            let launch = call.correlation.and_then(|correlation| self.launches.get(&correlation));
            let time = launch.copied().unwrap_or(call.start_ps);
            let marks = self.of_device.get(&call.stream).unwrap_or(&of_all);
            let before = marks.partition_point(|mark| mark.start_ps <= time);
            before.checked_sub(1).map_or(NO_STEP, |at| marks[at].number)
        };
        self.calls.iter().map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(number: u32, start_ps: i64) -> StepMark {
        StepMark { start_ps, number }
    }

    fn stream(number: u32) -> StreamKey {
        StreamKey { group: Some(TrackId(9)), number: Some(number) }
    }

    #[test]
    fn names_of_steps_end_with_their_number() {
        assert_eq!(number_of("ProfilerStep#12"), Some(12));
        assert_eq!(
            (number_of("ProfilerStep#"), number_of("ProfilerStep"), number_of("aten::add")),
            (None, None, None)
        );
    }

    #[test]
    fn the_launch_decides_and_not_the_start() {
        let mut steps = ProfilerSteps::default();
        // The host is a step ahead: it launches at 11 what starts at 25.
        for (start_ps, correlation) in [(5, None), (12, Some(1)), (25, Some(2)), (26, Some(3))] {
            steps.call(stream(0), start_ps, correlation);
        }
        steps.end_of_device();
        assert!(steps.wants_launches());
        steps.mark_of_host(mark(8, 20));
        steps.mark_of_host(mark(7, 10));
        for (correlation, start_ps) in [(1, 9), (2, 11), (9, 0)] {
            steps.launch(correlation, start_ps);
        }
        assert_eq!(steps.numbers(), [NO_STEP, NO_STEP, 7, 8]);
    }

    #[test]
    fn marks_on_the_device_come_first() {
        let mut steps = ProfilerSteps::default();
        for (number, start_ps) in [(0, 10), (0, 30), (1, 29), (2, 30)] {
            steps.call(stream(number), start_ps, Some(start_ps));
        }
        for (of, number, start_ps) in [(0, 3, 10), (0, 4, 30), (1, 4, 28)] {
            steps.mark_of_device(stream(of), mark(number, start_ps));
        }
        steps.end_of_device();
        assert!(!steps.wants_launches());
        steps.mark_of_host(mark(9, 0));
        // Stream 2 has no marks, so those of all streams count.
        assert_eq!(steps.numbers(), [3, 4, 4, 4]);
        assert!(ProfilerSteps::default().numbers().is_empty());
    }
}
