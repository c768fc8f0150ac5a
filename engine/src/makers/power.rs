//! Counters of power, by the unit of the counter or by the unit in its name.

use crate::base::{Interval, Result};
use crate::exec::Cancel;
use crate::model::{PowerCounter, TrackContent, TrackId, Unit};
use crate::segment::{Bytes, Segment, TrackMeta};
use crate::tile::for_each_sample_in;

/// Words for watts behind a name, and how many watts each is.
const WORDS: [(&str, f64); 7] = [
    ("watts", 1.0),
    ("watt", 1.0),
    ("w", 1.0),
    ("milliwatts", 1e-3),
    ("milliwatt", 1e-3),
    ("mw", 1e-3),
    ("kw", 1e3),
];

/// All counters of power of a rank. The last value of each holds until its last sample, and so for
/// no time.
pub(super) fn read<B: Bytes>(segment: &Segment<B>, cancel: Cancel<'_>) -> Result<Vec<PowerCounter>> {
    let tracks = (0_u32..).zip(&segment.footer().tracks).filter(|(_, track)| track.rows > 0);
    let counters = tracks.filter_map(|(at, track)| Some((TrackId(at), track, watts_of(track)?)));
    let counter = |(id, track, watts): (TrackId, &TrackMeta, f64)| {
        let mut samples = Vec::new();
        let all = Interval::new(track.start_ps, track.end_ps.saturating_add(1));
        for_each_sample_in(segment, id, all, cancel, |sample| {
            samples.push((sample.time_ps, sample.value * watts));
        })?;
        let end_ps = samples.last().map_or(0, |(time_ps, _)| *time_ps);
        Ok(PowerCounter { name: track.spec.name.clone(), samples, end_ps })
    };
    counters.map(counter).collect()
}

/// Watts of a step of a counter. `None` if it is no counter of power.
fn watts_of(track: &TrackMeta) -> Option<f64> {
    match (track.spec.kind, track.spec.unit) {
        (TrackContent::Counter(_), Unit::Watts) => Some(1.0),
        (TrackContent::Counter(_), Unit::None) => watts_of_name(&track.spec.name),
        _ => None,
    }
}

/// Watts of a step of a counter whose name ends with a unit of power: as `GPU power (mW)` or
/// `package_watts`. A single letter counts in brackets only, or behind the word power.
fn watts_of_name(name: &str) -> Option<f64> {
    let lower = name.to_lowercase();
    let mut words = lower.split(|sign: char| !sign.is_alphanumeric()).rev().filter(|word| !word.is_empty());
    let last = words.next()?;
    let (word, watts) = WORDS.into_iter().find(|(word, _)| *word == last)?;
    let is_in_brackets = [("(", ")"), ("[", "]")]
        .iter()
        .any(|(open, close)| lower.trim_end().ends_with(&format!("{open}{word}{close}")));
    let is_told = word.len() > 2 || is_in_brackets || words.any(|word| word.contains("power"));
    is_told.then_some(watts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: Option<f64>) {
        assert_eq!(watts_of_name(name), expected, "{name}");
    }

    #[test]
    fn names_can_end_with_a_unit_of_power() {
        check("Power (W)", Some(1.0));
        check("gpu_power_mW", Some(1e-3));
        check("HBM [kW]", Some(1e3));
        check("package_watts", Some(1.0));
        check("Power · Watts", Some(1.0));
        for other in ["Power", "w", "tensor w", "MW", "watts per token", "power state", "", "(V)"] {
            check(other, None);
        }
    }
}
