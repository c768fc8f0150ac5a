//! Metrics of windows: those of windows that follow each other sum up to those of the run.

use proptest::prelude::*;
use rustc_hash::FxHashMap;

use super::fixture::{DrawnInstruction, DrawnTransfer, neuron_rank};
use super::read;
use crate::base::Interval;
use crate::exec::Work;
use crate::makers::neuron::{Engine, SEMAPHORE_WAIT};
use crate::metrics::MetricScope;
use crate::segment::Segment;

/// End of all drawn work.
const END_PS: i64 = 2_100_000;

/// All numbers by name.
fn numbers(segment: &Segment<Vec<u8>>, window: Option<(i64, i64)>) -> FxHashMap<String, f64> {
    let window = window.map(|(start, end)| Interval::new(start, end));
    let metrics = read(segment, &MetricScope::within(window), Work::IN_PLACE).unwrap();
    let lacks_run = metrics.absent.iter().any(|absent| absent.key == "neuron_run");
    assert_eq!(lacks_run, window.is_some());
    let of_neuron = metrics.groups.into_iter().chain(metrics.time).filter(|group| !group.has_names_of_trace);
    let all = of_neuron.flat_map(|group| group.metrics);
    all.filter_map(|metric| Some((metric.name, metric.value.float()?))).collect()
}

/// Whether a metric is a sum or a time, and no share, mean or rate.
fn adds_up(name: &str) -> bool {
    let is_other = [
        "percent",
        "average",
        "ratio",
        "intensity",
        "bandwidth",
        "cycle",
        "total_time",
        "slice_count",
        "peak_rate",
    ];
    // Operations of an instruction without duration fit into no active time.
    let is_split = name.starts_with("tensor_engine_") && name.ends_with("_flops");
    !is_split && !is_other.iter().any(|part| name.contains(part))
}

/// Whole nanoseconds, like the times of devices.
fn rank(instructions: &[(usize, usize, i64, i64)], transfers: &[(bool, i64, i64)]) -> Segment<Vec<u8>> {
    let names = [("MATMUL", 64, 0), ("ACTIVATE", 0, 0), (SEMAPHORE_WAIT, 0, 0), ("WRITE", 0, 512)];
    let drawn = instructions.iter().map(|&(engine, name, start, length)| {
        let (name, elements, read) = names[name];
        DrawnInstruction(Engine::ALL[engine], name, "layer", start * 1_000, length * 1_000, elements, read)
    });
    let transfers = transfers.iter().map(|&(is_whole, start, length)| {
        DrawnTransfer(is_whole, start * 1_000, length * 1_000, 100 + length)
    });
    neuron_rank(&drawn.collect::<Vec<_>>(), &transfers.collect::<Vec<_>>(), END_PS)
}

#[test]
fn a_window_around_everything_has_the_numbers_of_the_run() {
    let segment =
        rank(&[(0, 0, 0, 900), (1, 1, 300, 100), (0, 3, 950, 50)], &[(true, 100, 200), (false, 2_000, 100)]);
    let whole = numbers(&segment, None);
    let window = numbers(&segment, Some((0, END_PS)));
    for (name, value) in &whole {
        // The limit began with the run, so its end is the length.
        assert_eq!(window.get(name), Some(value), "{name}");
    }
    assert!(whole["hfu_estimated_percent"] > 0.0 && whole["throttle_avg_util_limit_nc0_percent"] == 0.5);
}

proptest! {
    #[test]
    fn windows_that_follow_each_other_sum_up_to_the_run(
        instructions in prop::collection::vec((0..5_usize, 0..4_usize, 0..2_000_i64, 0..60_i64), 1..40),
        transfers in prop::collection::vec((any::<bool>(), 0..2_000_i64, 0..60_i64), 0..20),
        mut cuts in prop::collection::vec(0..2_100_i64, 0..5),
    ) {
        let segment = rank(&instructions, &transfers);
        cuts.extend([0, END_PS / 1_000 + 1]);
        cuts.sort_unstable();
        let mut sums: FxHashMap<String, f64> = FxHashMap::default();
        for pair in cuts.windows(2).filter(|pair| pair[0] < pair[1]) {
            for (name, value) in numbers(&segment, Some((pair[0] * 1_000, pair[1] * 1_000))) {
                *sums.entry(name).or_default() += value;
            }
        }
        for (name, value) in numbers(&segment, None).into_iter().filter(|(name, _)| adds_up(name)) {
            // Start-up and tear-down are those of the whole: the times of the stretch add up.
            let sum = sums.get(&name).copied().unwrap_or(0.0);
            let tolerance = 1e-15 + value.abs() * 1e-9;
            let is_edge = name == "time_starting_up" || name == "time_tearing_down";
            prop_assert!(is_edge || (sum - value).abs() <= tolerance, "{name}: {sum} and {value}");
        }
    }
}
