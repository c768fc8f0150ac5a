//! The slice or the stretch at a place of the picture, in words.

use nprof_engine::base::time::short_duration;
use nprof_engine::insight::difference::sentence::signed_time;
use nprof_engine::wire::paired_tracks::{PairedTracks, ProgramBar, ProgramStretch, TracksOfBoth};

use super::paths::{BAND_PX, PairedSide, ROW_PX, longer_ps};

/// The slice or the stretch at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairedPoint<'p> {
    /// A slice of one run.
    Bar(PairedSide, &'p ProgramBar),
    /// A stretch of the program.
    Stretch(&'p ProgramStretch),
}

/// The slice or the stretch at a place of a track: a share of the longer run, and CSS pixels from
/// the top.
#[must_use]
pub fn point_at<'p>(
    of: &PairedTracks,
    track: &'p TracksOfBoth,
    place: f64,
    y_px: f64,
) -> Option<PairedPoint<'p>> {
    let ps = place * longer_ps(of) as f64;
    let down = (y_px - ROW_PX) / BAND_PX;
    let side = match down {
        down if down < 0.0 => PairedSide::A,
        down if down > 1.0 => PairedSide::B,
        _ => return stretch_at(track, ps, down).map(PairedPoint::Stretch),
    };
    let bars = side.of(track).map_or(&[][..], |picture| &picture.bars);
    // The innermost of slices that lie in each other begins last.
    let is_there =
        |bar: &&ProgramBar| (bar.start_ps as f64..(bar.start_ps + bar.duration_ps) as f64).contains(&ps);
    let bar = bars.iter().rev().find(is_there);
    let stretch = || stretch_at(track, ps, if side == PairedSide::A { 0.0 } else { 1.0 });
    bar.map(|bar| PairedPoint::Bar(side, bar)).or_else(|| stretch().map(PairedPoint::Stretch))
}

/// The stretch at a time, on the way down from the first to the second run.
fn stretch_at(track: &TracksOfBoth, ps: f64, down: f64) -> Option<&ProgramStretch> {
    let edge = |a_ps: i64, b_ps: i64| a_ps as f64 * (1.0 - down) + b_ps as f64 * down;
    track.stretches.iter().find(|of| {
        let start = edge(of.a_ps, of.b_ps);
        let end = edge(of.a_ps + of.a_length_ps, of.b_ps + of.b_length_ps);
        (start..end).contains(&ps)
    })
}

impl PairedPoint<'_> {
    /// The times of it in both runs, as shares of the longer one: from the first to the last.
    #[must_use]
    pub fn extent(&self, of: &PairedTracks) -> (f64, f64) {
        let (from_ps, to_ps) = match self {
            Self::Bar(_, bar) => (bar.start_ps, bar.start_ps + bar.duration_ps),
            Self::Stretch(of) => {
                (of.a_ps.min(of.b_ps), (of.a_ps + of.a_length_ps).max(of.b_ps + of.b_length_ps))
            }
        };
        let longer = longer_ps(of) as f64;
        (from_ps as f64 / longer, to_ps as f64 / longer)
    }

    /// Its name and times, for people.
    #[must_use]
    pub fn in_words(&self, of: &PairedTracks, track: &TracksOfBoth) -> String {
        let time = |ps: i64| short_duration(ps as f64);
        match self {
            Self::Bar(side, bar) => {
                let name = of.names.get(bar.name as usize).map_or("", String::as_str);
                let (letter, long, at) = (side.letter(), time(bar.duration_ps), time(bar.start_ps));
                format!("{letter}: {name}, {long} at {at} · {}", track.name)
            }
            Self::Stretch(stretch) => {
                let (a, b) = (time(stretch.a_length_ps), time(stretch.b_length_ps));
                let behind = stretch.b_ps + stretch.b_length_ps - stretch.a_ps - stretch.a_length_ps;
                let so_far = format!("B is {} so far", later(behind));
                match of.cause_of(stretch) {
                    Some(cause) => {
                        let change = signed_time(stretch.difference_ps());
                        format!(
                            "{change} here ({a} in A, {b} in B), most of it {cause}; {so_far} · {}",
                            track.name
                        )
                    }
                    None => format!("{a} in both; {so_far} · {}", track.name),
                }
            }
        }
    }
}

/// By how much the second run is behind.
fn later(behind_ps: i64) -> String {
    match behind_ps {
        0 => "even".to_owned(),
        ps if ps > 0 => format!("{} behind", short_duration(ps as f64)),
        ps => format!("{} ahead", short_duration(ps.unsigned_abs() as f64)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::paths::tests::paired;
    use super::*;

    #[test]
    fn a_place_shows_the_slice_or_the_stretch() {
        let of = paired();
        let track = &of.tracks[0];
        let words = |place: f64, y_px: f64| {
            point_at(&of, track, place, y_px).map(|point| point.in_words(&of, track)).unwrap_or_default()
        };
        assert_eq!(words(0.3, 5.0), "A: MATMUL, 50 ps at 50 ps · qTensor");
        assert_eq!(words(0.9, 5.0), "", "A has ended");
        assert_eq!(words(0.9, 50.0), "B: MATMUL, 150 ps at 50 ps · qTensor");
        assert_eq!(words(0.1, 28.0), "50 ps in both; B is even so far · qTensor");
        let slower =
            "+100 ps here (50 ps in A, 150 ps in B), most of it MATMUL; B is 100 ps behind so far · qTensor";
        assert_eq!(words(0.6, 30.0), slower);
        // The band leans to the right: at its top the first run has ended there.
        assert_eq!((words(0.6, 20.0), words(0.6, 38.0).as_str()), (String::new(), slower));
        let point = point_at(&of, track, 0.6, 30.0).unwrap();
        assert_eq!(point.extent(&of), (0.25, 1.0));
    }
}
