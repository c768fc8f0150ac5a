//! The tracks of two runs beside each other.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::comparison::ComparedSide;
use super::message_times::{TimeField, Timed};
use crate::base::Interval;
use crate::base::time::short_duration;
use crate::insight::run_match::{PairedRuns, PairedStretch, PairedTrack, ProgramSlice, TrackBars};

/// The tracks of two runs beside each other: one repetition of one rank of each. Times are in
/// picoseconds since the begin of the repetition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairedTracks {
    /// The place where the second run falls behind most, in a sentence.
    pub answer: String,
    /// The first run.
    pub a: PairedRun,
    /// The second run.
    pub b: PairedRun,
    /// Length of a span whose busy part a track states.
    pub cell_ps: i64,
    /// The names of slices.
    pub names: Vec<String>,
    /// The tracks that work most in either run.
    pub tracks: Vec<TracksOfBoth>,
    /// Number of other tracks.
    pub left_out: u64,
}

/// The repetition that stands for a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairedRun {
    /// Name of the profile in addresses.
    pub profile: String,
    /// Name for people.
    pub title: String,
    /// Number of its rank.
    pub rank: u32,
    /// Name of the repetition: a step, a region, or the whole run.
    pub repetition: String,
    /// Its begin on the clock of the rank; in a prediction on the one that all ranks share.
    pub start_ps: i64,
    /// Its length.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub length_ps: i64,
}

/// A track of the first run with the one of the second run that is the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TracksOfBoth {
    /// Its name in the first run, or in the second one of a track that only it has.
    pub name: String,
    /// Its name in the second run, if it is another one.
    pub renamed: Option<String>,
    /// The track in the first run.
    pub a: Option<TrackPicture>,
    /// The track in the second run.
    pub b: Option<TrackPicture>,
    /// Number of slices that are the same work in both runs.
    pub matched: u64,
    /// The same parts of the program in both runs, from the begin to the end of both repetitions.
    pub stretches: Vec<ProgramStretch>,
}

/// The picture of a track in one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrackPicture {
    /// Sum of the durations of all slices.
    pub busy_ps: i64,
    /// Number of slices.
    pub count: u64,
    /// The longest slices, by start.
    pub bars: Vec<ProgramBar>,
    /// The busy part of each span, from 0 to 255.
    pub busy: Vec<u8>,
}

/// A slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramBar {
    /// Start.
    pub start_ps: i64,
    /// Duration.
    pub duration_ps: i64,
    /// Position of its name in the list of names.
    pub name: u32,
}

/// The same part of a program in both runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramStretch {
    /// Its start in the first run.
    pub a_ps: i64,
    /// Its start in the second run.
    pub b_ps: i64,
    /// How long the first run takes for it.
    pub a_length_ps: i64,
    /// How long the second run takes for it.
    pub b_length_ps: i64,
    /// The cause of most of its difference. `None` if both take as long.
    pub cause: Option<ProgramCause>,
}

/// The cause of most of the difference of a stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramCause {
    /// Position of the name of the work in the list of names. `None` for time without work.
    pub name: Option<u32>,
    /// How much more time the second run takes for it in this stretch.
    pub difference_ps: i64,
}

/// Part of the longer run that a cause is at least to be spoken of.
const LEAST_SPOKEN: f64 = 0.001;

impl PairedTracks {
    /// The message about two runs with these profiles and repetitions.
    #[must_use]
    pub fn of(of: PairedRuns, a: PairedRun, b: PairedRun) -> Self {
        let mut message = Self {
            answer: String::new(),
            cell_ps: of.cell_ps,
            names: of.names,
            tracks: of.tracks.into_iter().map(Into::into).collect(),
            left_out: of.left_out as u64,
            a,
            b,
        };
        message.answer = message.in_words();
        message
    }

    /// The stretches that differ most, each with its track, from the largest cause. Time without
    /// work comes last: work is its cause. Next to nothing of the whole is left out.
    #[must_use]
    pub fn largest(&self, most: usize) -> Vec<(&TracksOfBoth, &ProgramStretch)> {
        let longer_ps = self.a.length_ps.max(self.b.length_ps);
        let least_ps = ((longer_ps as f64 * LEAST_SPOKEN) as i64).max(1);
        let all = self.tracks.iter().flat_map(|track| track.stretches.iter().map(move |of| (track, of)));
        let mut found: Vec<_> = all
            .filter_map(|(track, of)| Some((of.cause?, track, of)))
            .filter(|(cause, ..)| cause.difference_ps.abs() >= least_ps)
            .collect();
        found.sort_by_key(|(cause, ..)| (cause.name.is_none(), Reverse(cause.difference_ps.abs())));
        found.into_iter().take(most).map(|(_, track, of)| (track, of)).collect()
    }

    /// The cause of a stretch, for people.
    #[must_use]
    pub fn cause_of(&self, of: &ProgramStretch) -> Option<&str> {
        let name = of.cause?.name.and_then(|name| self.names.get(name as usize));
        Some(name.map_or("time without work", String::as_str))
    }

    fn in_words(&self) -> String {
        if self.tracks.iter().all(|track| track.matched == 0) {
            return "no work of the two runs has the same name, so no place can be named".to_owned();
        }
        let place = |(track, of): (&TracksOfBoth, &ProgramStretch)| {
            let time = of.cause.map_or(0, |cause| cause.difference_ps.abs());
            let (time, at) = (short_duration(time as f64), short_duration(of.a_ps as f64));
            let cause = self.cause_of(of).unwrap_or_default();
            format!("{time} at {at} of A on {}: {cause}", track.name)
        };
        let largest = self.largest(usize::MAX);
        let first = |is_slower: bool| {
            largest.iter().find(|(_, of)| (of.difference_ps() > 0) == is_slower).map(|of| place(*of))
        };
        match (first(true), first(false)) {
            (Some(slower), Some(faster)) => format!("B loses most, {slower}; it gains most, {faster}"),
            (Some(slower), None) => format!("B loses most, {slower}"),
            (None, Some(faster)) => format!("B gains most, {faster}"),
            (None, None) => "no part of the program takes longer in one of the runs".to_owned(),
        }
    }
}

impl PairedRun {
    /// A run whose repetition has this name and span.
    #[must_use]
    pub fn new(side: ComparedSide, rank: u32, repetition: &str, span: Interval) -> Self {
        Self {
            profile: side.profile,
            title: side.title,
            rank,
            repetition: repetition.to_owned(),
            start_ps: span.start.0,
            length_ps: span.duration_ps(),
        }
    }
}

impl ProgramStretch {
    /// How much more the second run takes.
    #[must_use]
    pub fn difference_ps(&self) -> i64 {
        self.b_length_ps.saturating_sub(self.a_length_ps)
    }
}

/// Only the begins of repetitions are on a clock. They are on those of their ranks.
impl Timed for PairedTracks {
    fn each_time(&mut self, _: &mut dyn FnMut(TimeField<'_>)) {}
}

impl From<PairedTrack> for TracksOfBoth {
    fn from(of: PairedTrack) -> Self {
        Self {
            name: of.name,
            renamed: of.renamed,
            a: of.a.map(Into::into),
            b: of.b.map(Into::into),
            matched: of.matched as u64,
            stretches: of.stretches.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<TrackBars> for TrackPicture {
    fn from(of: TrackBars) -> Self {
        let bar = |of: ProgramSlice| ProgramBar {
            start_ps: of.start_ps,
            duration_ps: of.duration_ps,
            name: of.name,
        };
        let bars = of.bars.into_iter().map(bar).collect();
        Self { busy_ps: of.busy_ps, count: of.count as u64, bars, busy: of.busy }
    }
}

impl From<PairedStretch> for ProgramStretch {
    fn from(of: PairedStretch) -> Self {
        Self {
            a_ps: of.a_ps,
            b_ps: of.b_ps,
            a_length_ps: of.a_length_ps,
            b_length_ps: of.b_length_ps,
            cause: of
                .cause
                .map(|cause| ProgramCause { name: cause.name, difference_ps: cause.difference_ps }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: i64 = 1_000_000;

    fn paired(stretches: &[(i64, i64, Option<u32>)]) -> PairedTracks {
        let mut at = (0, 0);
        let stretches: Vec<PairedStretch> = stretches
            .iter()
            .map(|&(a_us, b_us, name)| {
                let (a_length_ps, b_length_ps) = (a_us * US, b_us * US);
                let cause = crate::insight::run_match::StretchCause {
                    name,
                    difference_ps: b_length_ps - a_length_ps,
                };
                let of = PairedStretch {
                    a_ps: at.0,
                    b_ps: at.1,
                    a_length_ps,
                    b_length_ps,
                    cause: Some(cause).filter(|of| of.difference_ps != 0),
                };
                at = (at.0 + a_length_ps, at.1 + b_length_ps);
                of
            })
            .collect();
        let side = |name: &str, ps| {
            let side = ComparedSide { profile: name.to_owned(), title: name.to_owned() };
            PairedRun::new(side, 0, "run", Interval::new(0, ps))
        };
        let track = PairedTrack {
            name: "qTensor".to_owned(),
            renamed: None,
            a: Some(TrackBars::default()),
            b: Some(TrackBars::default()),
            matched: stretches.len().saturating_sub(1),
            stretches,
        };
        let runs = PairedRuns {
            lengths_ps: at,
            cell_ps: 1,
            names: vec!["MATMUL".to_owned()],
            tracks: vec![track],
            left_out: 0,
        };
        PairedTracks::of(runs, side("a", at.0), side("b", at.1))
    }

    #[test]
    fn the_answer_names_the_place_where_time_is_lost_and_won() {
        let answer = |of: &[(i64, i64, Option<u32>)]| paired(of).answer;
        assert_eq!(
            answer(&[(10, 10, None), (20, 20, None)]),
            "no part of the program takes longer in one of the runs"
        );
        assert_eq!(
            answer(&[(10, 10, None), (20, 45, Some(0)), (10, 4, None)]),
            "B loses most, 25.0 µs at 10.0 µs of A on qTensor: MATMUL; \
             it gains most, 6.00 µs at 30.0 µs of A on qTensor: time without work"
        );
        assert_eq!(
            answer(&[(10, 10, None)]),
            "no work of the two runs has the same name, so no place can be named"
        );
    }
}
