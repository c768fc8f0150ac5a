//! Clocks from counters of made runs.

use proptest::prelude::*;

use super::*;

const PS_PER_US: i64 = 1_000_000;

/// The counter of a device of this frequency at a time.
fn counter(hz: f64, start: u32, time_ps: i64) -> u32 {
    let cycles = (time_ps as f64 / PS_PER_S * hz).round() as i64;
    (i64::from(start) + cycles).rem_euclid(WRAP_INT) as u32
}

fn found(hz: f64, start: u32, jobs: &[(i64, i64)]) -> CounterClock {
    let mut counters = DeviceCounters::new(None);
    for (job, &(begin_ps, shift_ps)) in (0..).zip(jobs) {
        for n in 0..40 {
            let time_ps = begin_ps + n * 250 * PS_PER_US;
            counters.kernel((100e-6 * hz) as u32, 100 * PS_PER_US);
            counters.point(job, time_ps + shift_ps, counter(hz, start, time_ps), 0);
        }
    }
    counters.finish()
}

#[track_caller]
fn check(clock: &CounterClock, hz: f64, basis: Basis) {
    assert!((clock.found_hz / hz - 1.0).abs() < 1e-6, "{} instead of {hz}", clock.found_hz);
    assert_eq!(clock.basis, basis);
}

#[test]
fn the_frequency_is_found_across_overflows() {
    let second = 1_000_000 * PS_PER_US;
    let clock = found(557.05e6, 4_290_000_000, &[(0, 0), (9 * second, 0), (31 * second, 0)]);
    check(&clock, 557.05e6, Basis::Run);
    assert_eq!(clock.wraps, 5);
    assert!(clock.drift_s().abs() < 1e-6);
    assert_eq!([largest(&[2.0, -2.0, 1.0]), largest(&[1.0, -2.0, 2.0]), largest(&[])], [2.0, 2.0, 0.0]);
    let (time_ps, raw) = (31 * second, counter(557.05e6, 4_290_000_000, 31 * second));
    assert_eq!(clock.repaired(2, time_ps, raw).div_euclid(WRAP_INT), 5);
}

#[test]
fn shifted_jobs_do_not_change_the_frequency() {
    let (second, ms) = (1_000_000 * PS_PER_US, 1_000 * PS_PER_US);
    let clock = found(560e6, 77, &[(0, 0), (second, 40 * ms), (2 * second, -25 * ms)]);
    check(&clock, 560e6, Basis::Jobs);
    let shifts: Vec<f64> = clock.shifts_s.iter().map(|s| (s * 1e3).round()).collect();
    assert_eq!(shifts, [0.0, 40.0, -25.0]);
}

/// Jobs that were merged into one file, one after the other or with their slices by time.
#[test]
fn shifted_jobs_in_one_file_do_not_change_the_frequency() {
    let ms = 1_000 * PS_PER_US;
    for jobs in [[(0, 0), (20, 40), (9_000, -25)], [(0, 0), (12, -9), (25, -16)]] {
        let mut ends = Vec::new();
        for (begin_ms, shift_ms) in jobs {
            ends.extend((0..40).map(|n| {
                let time_ps = begin_ms * ms + n * 250 * PS_PER_US;
                (time_ps + shift_ms * ms, counter(557e6, 77, time_ps))
            }));
        }
        for sorted in [false, true] {
            if sorted {
                ends.sort_unstable();
            }
            let mut counters = DeviceCounters::new(None);
            for &(end_ps, counter) in &ends {
                counters.kernel((100e-6 * 557e6) as u32, 100 * PS_PER_US);
                counters.point(0, end_ps, counter, 0);
            }
            let clock = counters.finish();
            check(&clock, 557e6, Basis::Pieces);
            assert_eq!(clock.steps.0, 2, "{jobs:?}");
        }
    }
}

/// Six jobs two hours apart, whose ends the host sees up to a microsecond late.
#[test]
fn a_run_of_half_a_day_keeps_its_scatter() {
    let hz = 557_077_300.0;
    let mut counters = DeviceCounters::new(Some(560e6));
    for job in 0..6 {
        for n in 0..300 {
            let time_ps = i64::from(job) * 7_200_000_000 * PS_PER_US + n * 250 * PS_PER_US;
            let late_ps = (n * 7_919 + i64::from(job) * 104_729) % 1_000 * 1_000;
            counters.point(job as u32, time_ps + late_ps, counter(hz, 77, time_ps), 0);
        }
    }
    let clock = counters.finish();
    assert!((clock.found_hz / hz - 1.0).abs() < 1e-11, "{} instead of {hz}", clock.found_hz);
    assert_eq!(clock.basis, Basis::Run);
    let residual_ns = clock.residual_s.unwrap() * 1e9;
    assert!((250.0..330.0).contains(&residual_ns), "{residual_ns} ns");
    assert!(clock.drift_s().abs() < 100e-9, "{} s", clock.drift_s());
    let by_stated_s = 5.0 * 7_200.0 * (1.0 - hz / 560e6);
    assert!((clock.used_drift_s() / by_stated_s - 1.0).abs() < 1e-4, "{} s", clock.used_drift_s());
}

#[test]
fn without_slices_there_is_a_guess() {
    let clock = DeviceCounters::new(None).finish();
    assert_eq!((clock.basis, clock.wraps), (Basis::Guess, 0));
    assert_eq!(clock.repaired(0, 5, 9), 9);
    assert_eq!(DeviceCounters::new(Some(1e9)).finish().ps(1.0), 1000);
}

proptest! {
    /// The host sees ends up to 20 us late, and pauses of 30 s lie between and within jobs: no
    /// overflow is lost.
    #[test]
    fn late_ends_and_long_pauses_lose_no_overflow(
        start: u32,
        hz in 300e6..1500e6_f64,
        late in prop::collection::vec(0_i64..20_000_000, 160),
        pause_s in 20_i64..60,
    ) {
        let mut counters = DeviceCounters::new(None);
        let mut ends = Vec::new();
        for (n, late_ps) in (0_i64..).zip(late) {
            // Four jobs of 40 kernels, and a pause after each 20.
            let job = u32::try_from(n / 40).unwrap();
            let time_ps = n * 100 * PS_PER_US + n / 20 * pause_s * 1_000_000 * PS_PER_US;
            counters.kernel((60e-6 * hz) as u32, 60 * PS_PER_US + late_ps);
            counters.point(job, time_ps + late_ps, counter(hz, start, time_ps), 0);
            ends.push((job, time_ps, late_ps));
        }
        let clock = counters.finish();
        prop_assert!((clock.found_hz / hz - 1.0).abs() < 1e-6, "{} instead of {hz}", clock.found_hz);
        for (job, time_ps, late_ps) in ends {
            let repaired = clock.repaired(job, time_ps + late_ps, counter(hz, start, time_ps));
            let cycles = (time_ps as f64 / PS_PER_S * hz).round() as i64 + i64::from(start);
            prop_assert_eq!(repaired, cycles);
        }
    }

    /// Order of points and start of the counter change nothing.
    #[test]
    fn order_and_overflow_do_not_matter(start: u32, hz in 300e6..1500e6_f64, gap_s in 0_i64..40) {
        let second = 1_000_000 * PS_PER_US;
        let forward = found(hz, start, &[(0, 0), (gap_s * second, 0)]);
        let from_zero = found(hz, 0, &[(0, 0), (gap_s * second, 0)]);
        prop_assert!((forward.found_hz / hz - 1.0).abs() < 1e-6);
        prop_assert!((forward.found_hz / from_zero.found_hz - 1.0).abs() < 1e-9);
    }
}
