//! Random traces of a device whose clock, kernels and pauses are known.

use std::collections::BTreeMap;

use super::*;

/// A kernel of a run: number of the name, and duration and pause before it in microseconds.
type Step = (usize, i64, i64);

const NAMES: [&str; 6] = ["mul_1", "add", "conv2d_7", "relu_3", "softmax", "view-2"];

/// A run of a device, as its files.
#[derive(Debug, Clone)]
struct Run {
    /// Frequency and first reading of the counter.
    device: Device,
    /// Kernels of an iteration.
    word: Vec<Step>,
    iterations: usize,
    /// Pause between iterations in microseconds.
    pause: i64,
    /// The host sees ends later by up to this many microseconds.
    late: i64,
}

/// Start and end of each kernel in microseconds, with its name.
type Truth = Vec<(&'static str, i64, i64)>;

impl Run {
    fn truth(&self) -> Truth {
        let mut time = 50;
        let mut truth = Vec::new();
        for _ in 0..self.iterations {
            for &(name, duration, gap) in &self.word {
                truth.push((NAMES[name], time + gap, time + gap + duration));
                time += gap + duration;
            }
            time += self.pause;
        }
        truth
    }

    /// The files, each with so many kernels, as begins and ends.
    fn files(&self, truth: &Truth, in_file: usize) -> Vec<(String, String)> {
        let jobs = truth.chunks(in_file).enumerate();
        jobs.map(|(job, kernels)| {
            let events: Vec<String> = (0..)
                .zip(kernels)
                .map(|(n, (name, start, end))| {
                    let slice = self.device.slice(&format!("{name} Cmpt Exec"), *start, *end);
                    let slice = slice.late_by((n * 7) % (self.late + 1));
                    format!("{},{}", slice.begin(), slice.end())
                })
                .collect();
            (format!("job_{job}.json"), format!("[{}]", events.join(",")))
        })
        .collect()
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Kernels of a word differ, so that a part of a word is none.
    let order = Just([0_usize, 1, 2, 3, 4, 5]).prop_shuffle();
    let times = prop::collection::vec((5_i64..400, 1_i64..60), 5..=6);
    (order, times).prop_map(|(order, times)| {
        order.into_iter().zip(times).map(|(name, (duration, gap))| (name, duration, gap)).collect()
    })
}

fn runs() -> impl Strategy<Value = Run> {
    let device = (400e6..1200e6_f64, any::<u32>()).prop_map(|(hz, start)| Device::new(hz, start));
    (device, steps(), 3_usize..9, 0_i64..6_000_000, 0_i64..3)
        .prop_map(|(device, word, iterations, pause, late)| Run { device, word, iterations, pause, late })
}

/// The tables and slices of a rank that must not depend on the form of its files.
fn facts(rank: &Recorder) -> Vec<String> {
    let mut facts: Vec<String> = ops(rank)
        .iter()
        .map(|slice| {
            let start_us = (slice.start_ps + 500_000) / 1_000_000;
            format!("{} {start_us}", slice.name)
        })
        .collect();
    for table in ["aiu_iteration", "aiu_active"] {
        facts.extend(rank.rows_of(table).map(|row| {
            let rounded = |(name, value): &(String, OwnedValue)| match value {
                // Whole microseconds, and means of up to seven of them: none is near a half then.
                OwnedValue::Float(value) => format!("{name} {:.0}", value / 1e3 + 0.123),
                other => format!("{name} {other:?}"),
            };
            row.iter().map(rounded).collect::<Vec<String>>().join(" ")
        }));
    }
    facts
}

/// The rows of a table to the last digit, sorted.
fn rows_in_order(rank: &Recorder, table: &str) -> Vec<String> {
    let mut rows: Vec<String> = rank.rows_of(table).map(|row| format!("{row:?}")).collect();
    rows.sort();
    rows
}

/// Overflows before each slice.
fn wraps(rank: &Recorder) -> Vec<i64> {
    ops(rank).iter().map(|slice| int(&slice.fields, "wraps")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The reader finds the hidden truth: durations, sums, busy time, iterations.
    #[test]
    fn the_truth_is_found(run in runs(), in_file in 7_usize..60) {
        let truth = run.truth();
        let files = run.files(&truth, in_file);
        let files: Vec<(&str, String)> = files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
        let rank = read(&files, AiuSettings::default()).remove(0);
        let found = ops(&rank);
        prop_assert_eq!(found.len(), truth.len());
        // Ends that the host sees late tell the frequency less well, the shorter the run is.
        let (first, last) = (truth[0].1, truth[truth.len() - 1].2);
        let off = 2.0 * run.late as f64 / (last - first) as f64;
        for (slice, (name, start, end)) in found.iter().zip(&truth) {
            prop_assert_eq!(slice.name.strip_suffix(" Cmpt Exec"), Some(*name));
            let (duration_us, true_us) = (slice.duration_ps as f64 / 1e6, (end - start) as f64);
            prop_assert!((duration_us - true_us).abs() < 0.02 + true_us * off, "{slice:?}");
        }
        let mut sums: BTreeMap<String, i64> = BTreeMap::new();
        for (name, start, end) in &truth {
            let label = super::super::names::label(&format!("{name} Cmpt Exec"));
            *sums.entry(label).or_default() += end - start;
        }
        for row in rank.rows_of("aiu_kernel") {
            let Some(OwnedValue::Text(name)) = field(row, "name") else { panic!("{row:?}") };
            let sum = sums.get(name).copied().unwrap_or_default() as f64;
            prop_assert!((float(row, "total") / 1e3 / sum - 1.0).abs() < 1e-3 + off, "{row:?}");
        }
        let iterations = rank.rows_of("aiu_iteration").next().expect("a run that repeats");
        prop_assert_eq!(int(iterations, "iterations"), run.iterations as i64 - 1);
        prop_assert_eq!(int(iterations, "kernels"), run.word.len() as i64);
        let period: i64 = run.word.iter().map(|(_, duration, gap)| duration + gap).sum::<i64>() + run.pause;
        // The host sees starts late by up to this.
        let late = run.late as f64 + 0.1;
        prop_assert!((float(iterations, "mean") / 1e3 - period as f64).abs() <= late, "{iterations:?}");
    }

    /// Files in any order give the same.
    #[test]
    fn the_order_of_files_changes_no_fact(
        (run, in_file, order) in (runs(), 7_usize..20)
            .prop_flat_map(|(run, in_file)| {
                let files: Vec<usize> = (0..run.files(&run.truth(), in_file).len()).collect();
                (Just(run), Just(in_file), Just(files).prop_shuffle())
            })
    ) {
        let files = run.files(&run.truth(), in_file);
        let in_order: Vec<usize> = (0..files.len()).collect();
        let [once, shuffled] = [&in_order, &order].map(|order| {
            let files: Vec<(&str, String)> =
                order.iter().map(|&at| (files[at].0.as_str(), files[at].1.clone())).collect();
            read(&files, AiuSettings::default()).remove(0)
        });
        prop_assert_eq!(facts(&shuffled), facts(&once));
        prop_assert_eq!(wraps(&shuffled), wraps(&once));
        for table in ["aiu_clock", "aiu_job", "aiu_power", "aiu_kernel"] {
            prop_assert_eq!(rows_in_order(&shuffled, table), rows_in_order(&once, table));
        }
    }

    /// A counter that drifts and overflows at other times gives the same.
    #[test]
    fn the_counter_changes_no_fact(run in runs(), hz in 400e6..1200e6_f64, start: u32, in_file in 7_usize..60) {
        let truth = run.truth();
        let facts_of = |run: &Run| {
            let files = run.files(&truth, in_file);
            let files: Vec<(&str, String)> =
                files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
            facts(&read(&files, AiuSettings::default()).remove(0))
        };
        let once = facts_of(&run);
        prop_assert_eq!(facts_of(&Run { device: Device::new(hz, start), ..run }), once);
    }
}
