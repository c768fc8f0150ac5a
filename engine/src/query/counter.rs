//! A counter at a time and over a span. A value holds from its sample to the next one.

use crate::base::{Error, Interval, Result};
use crate::exec::Cancel;
use crate::model::{TrackContent, TrackId};
use crate::segment::{Bytes, Segment};
use crate::tile::{LaneSample, for_each_sample_in, samples_in};

/// Samples of a counter around a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CounterAt {
    /// The sample whose value holds; `None` before the first sample.
    pub sample: Option<LaneSample>,
    /// The sample before `sample`.
    pub before: Option<LaneSample>,
}

/// Values of a counter over a span.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CounterSpan {
    /// Samples in the span.
    pub samples: u64,
    /// The smallest value that holds in the span.
    pub min: f64,
    /// The largest value that holds in the span.
    pub max: f64,
    /// The mean of the values, weighted by how long each holds in the span.
    pub mean: f64,
}

/// The samples of a counter at a time.
///
/// # Errors
/// `Invalid` if the track is not a counter; otherwise if bytes are missing or damaged.
pub fn at<B: Bytes>(segment: &Segment<B>, track: TrackId, moment: i64) -> Result<CounterAt> {
    check_counter(segment, track)?;
    let sample = samples_in(segment, track, instant(moment))?.last().copied();
    let before = match sample {
        Some(sample) => {
            samples_in(segment, track, Interval::new(sample.time_ps, sample.time_ps))?.last().copied()
        }
        None => None,
    };
    Ok(CounterAt { sample, before })
}

/// The values of a counter over a span, clamped to the span of the rank. `None` if no value
/// holds in the span. Reads all samples of the span, a block at a time.
///
/// # Errors
/// `Invalid` if the track is not a counter; `Cancelled` if the work was cancelled; otherwise if
/// bytes are missing or damaged.
pub fn over<B: Bytes>(
    segment: &Segment<B>,
    track: TrackId,
    span: Interval,
    cancel: Cancel<'_>,
) -> Result<Option<CounterSpan>> {
    check_counter(segment, track)?;
    // The last time of the rank is inside the span.
    let last = segment.footer().tracks.iter().filter(|track| track.rows > 0).map(|track| track.end_ps).max();
    let end = span.end.0.min(last.unwrap_or(i64::MIN).saturating_add(1));
    let start = span.start.0;
    if start >= end {
        return Ok(None);
    }
    let (mut over, mut inside, mut held) = (ValueSums::default(), 0, None::<LaneSample>);
    let hold = |over: &mut ValueSums, sample: LaneSample, until: i64| {
        over.add(sample.value, until.saturating_sub(sample.time_ps.max(start)));
    };
    for_each_sample_in(segment, track, Interval::new(start, end), cancel, |next| {
        if let Some(sample) = held.replace(next) {
            hold(&mut over, sample, next.time_ps);
        }
        inside += u64::from(next.time_ps >= start);
    })?;
    if let Some(last) = held {
        hold(&mut over, last, end);
    }
    Ok(over.of_samples(inside))
}

fn check_counter<B: Bytes>(segment: &Segment<B>, track: TrackId) -> Result<()> {
    match segment.footer().tracks.get(track.0 as usize).map(|track| &track.spec.kind) {
        Some(TrackContent::Counter(_)) => Ok(()),
        _ => Err(Error::Invalid { what: "this track is not a counter" }),
    }
}

fn instant(moment: i64) -> Interval {
    Interval::new(moment, moment.saturating_add(1))
}

/// Sums over the values of a span. Values that are not finite are left out.
#[derive(Debug, Default)]
struct ValueSums {
    extent: Option<(f64, f64)>,
    weighted: f64,
    held_ps: f64,
}

impl ValueSums {
    fn add(&mut self, value: f64, held_ps: i64) {
        if !value.is_finite() {
            return;
        }
        let (min, max) = self.extent.unwrap_or((value, value));
        self.extent = Some((min.min(value), max.max(value)));
        self.weighted += value * held_ps as f64;
        self.held_ps += held_ps as f64;
    }

    fn of_samples(self, samples: u64) -> Option<CounterSpan> {
        let (min, max) = self.extent?;
        // Values that hold for no time have no weight. If no value holds for any time, all stand at
        // the end of the span.
        let mean = if self.held_ps > 0.0 { (self.weighted / self.held_ps).clamp(min, max) } else { max };
        Some(CounterSpan { samples, min, max, mean })
    }
}
