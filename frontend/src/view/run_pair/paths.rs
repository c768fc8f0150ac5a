//! The shapes of a track of two runs as paths of SVG. A picture is [`WIDE`] units wide for the
//! longer run, and its height is in CSS pixels, so that a zoom changes only the visible part.

use std::collections::BTreeMap;
use std::fmt::Write;

use nprof_engine::wire::paired_tracks::{PairedTracks, ProgramStretch, TrackPicture, TracksOfBoth};

use super::sight::PairedSight;

/// Width of the longer run in units of the picture.
pub const WIDE: f64 = 100_000.0;
/// Height of the row of one run.
pub const ROW_PX: f64 = 20.0;
/// Height of the band between both.
pub const BAND_PX: f64 = 18.0;
/// Height of a track.
pub const TRACK_PX: f64 = 2.0 * ROW_PX + BAND_PX;
/// A bar of this width has room for a name, in CSS pixels.
const LABEL_PX: f64 = 34.0;
/// Most names of a track.
const MOST_LABELS: usize = 60;

/// One of the two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairedSide {
    /// The first one, above the band.
    A,
    /// The second one, below.
    B,
}

impl PairedSide {
    /// Its letter.
    #[must_use]
    pub fn letter(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }

    /// Its picture of a track.
    #[must_use]
    pub fn of(self, track: &TracksOfBoth) -> Option<&TrackPicture> {
        match self {
            Self::A => track.a.as_ref(),
            Self::B => track.b.as_ref(),
        }
    }
}

/// How much longer the second run takes for a stretch, relative to the longer one of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StretchTone {
    /// Hardly at all.
    Same,
    /// Somewhat longer.
    Slower,
    /// Much longer.
    MuchSlower,
    /// Somewhat shorter.
    Faster,
    /// Much shorter.
    MuchFaster,
}

/// Part by which lengths of equal work differ.
const EQUAL: f64 = 0.03;
/// Part from which on they differ much.
const MUCH: f64 = 0.25;

impl StretchTone {
    /// The tone of a stretch.
    #[must_use]
    pub fn of(of: &ProgramStretch) -> Self {
        let longer = of.a_length_ps.max(of.b_length_ps).max(1) as f64;
        let part = of.difference_ps() as f64 / longer;
        match (part.abs(), part > 0.0) {
            (size, _) if size < EQUAL => Self::Same,
            (size, true) => {
                if size < MUCH {
                    Self::Slower
                } else {
                    Self::MuchSlower
                }
            }
            (size, false) => {
                if size < MUCH {
                    Self::Faster
                } else {
                    Self::MuchFaster
                }
            }
        }
    }

    /// The name for style sheets.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Slower => "slower",
            Self::MuchSlower => "much-slower",
            Self::Faster => "faster",
            Self::MuchFaster => "much-faster",
        }
    }
}

/// Length of the longer run.
#[must_use]
pub fn longer_ps(of: &PairedTracks) -> i64 {
    of.a.length_ps.max(of.b.length_ps).max(1)
}

/// Units of a time.
fn units(ps: i64, longer_ps: i64) -> f64 {
    ps as f64 / longer_ps as f64 * WIDE
}

/// The busy time of one run as a shape that grows from the band. Empty without the track.
#[must_use]
pub fn busy_path(of: &PairedTracks, track: &TracksOfBoth, side: PairedSide) -> String {
    let mut path = String::new();
    let Some(picture) = side.of(track) else { return path };
    let (base, height) = base_of(side);
    let cell = units(of.cell_ps, longer_ps(of));
    // Writing to memory does not fail.
    let _ = write!(path, "M0 {base}");
    for (at, share) in (0_u32..).zip(&picture.busy) {
        let top = base + height * f64::from(*share) / 255.0;
        let _ = write!(path, "V{top:.1}H{:.0}", cell * f64::from(at + 1));
    }
    let _ = write!(path, "V{base}Z");
    path
}

/// The bars of one run by colour.
#[must_use]
pub fn bar_paths(
    of: &PairedTracks,
    track: &TracksOfBoth,
    side: PairedSide,
    colour: impl Fn(u32) -> u8,
) -> Vec<(u8, String)> {
    let mut paths: BTreeMap<u8, String> = BTreeMap::new();
    let (base, height) = base_of(side);
    let longer = longer_ps(of);
    for bar in side.of(track).iter().flat_map(|picture| &picture.bars) {
        let path = paths.entry(colour(bar.name)).or_default();
        let (left, wide) = (units(bar.start_ps, longer), units(bar.duration_ps, longer));
        let _ = write!(path, "M{left:.2} {base}h{wide:.2}v{height}h-{wide:.2}z");
    }
    paths.into_iter().collect()
}

/// The stretches of the program by tone: each ties its part of the first run to that of the second.
#[must_use]
pub fn stretch_paths(of: &PairedTracks, track: &TracksOfBoth) -> Vec<(StretchTone, String)> {
    let mut paths: BTreeMap<StretchTone, String> = BTreeMap::new();
    let longer = longer_ps(of);
    let (top, bottom) = (ROW_PX, ROW_PX + BAND_PX);
    for one in &track.stretches {
        let path = paths.entry(StretchTone::of(one)).or_default();
        let at = |ps: i64| units(ps, longer);
        let (a, b) = (at(one.a_ps), at(one.b_ps));
        let (a_end, b_end) = (at(one.a_ps + one.a_length_ps), at(one.b_ps + one.b_length_ps));
        let _ = write!(path, "M{a:.2} {top}L{a_end:.2} {top}L{b_end:.2} {bottom}L{b:.2} {bottom}Z");
    }
    paths.into_iter().collect()
}

/// The place at the band where the row of a run begins, and its height; upwards is negative.
fn base_of(side: PairedSide) -> (f64, f64) {
    match side {
        PairedSide::A => (ROW_PX, -ROW_PX),
        PairedSide::B => (ROW_PX + BAND_PX, ROW_PX),
    }
}

/// A name on a bar, in shares of the width of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BarLabel {
    /// The run.
    pub side: PairedSide,
    /// Number of the name.
    pub name: u32,
    /// Left edge.
    pub left: f64,
    /// Width.
    pub width: f64,
}

/// The names of a track that have room: those of the widest bars.
#[must_use]
pub fn labels(of: &PairedTracks, track: &TracksOfBoth, sight: PairedSight, width_px: f64) -> Vec<BarLabel> {
    let longer = longer_ps(of) as f64;
    let mut found = Vec::new();
    for side in [PairedSide::A, PairedSide::B] {
        let bars = side.of(track).map_or(&[][..], |picture| &picture.bars);
        for (at, bar) in bars.iter().enumerate() {
            let share = |ps: i64| (ps as f64 / longer - sight.from) / sight.width();
            let left = share(bar.start_ps).max(0.0);
            // A name ends where another bar begins over its own.
            let next_ps = bars.get(at + 1).map_or(i64::MAX, |next| next.start_ps);
            let right = share(bar.start_ps.saturating_add(bar.duration_ps).min(next_ps)).min(1.0);
            if (right - left) * width_px >= LABEL_PX {
                found.push(BarLabel { side, name: bar.name, left, width: right - left });
            }
        }
    }
    found.sort_by(|one, other| other.width.total_cmp(&one.width));
    found.truncate(MOST_LABELS);
    found
}

#[cfg(test)]
pub(super) mod tests {
    use nprof_engine::wire::paired_tracks::{PairedRun, ProgramBar, ProgramCause};

    use super::*;

    /// A run of 100 ps beside one of 200 ps, with one bar that takes twice as long.
    pub fn paired() -> PairedTracks {
        let run = |title: &str, length_ps| PairedRun {
            profile: title.to_owned(),
            title: title.to_owned(),
            rank: 0,
            repetition: "step".to_owned(),
            start_ps: 7,
            length_ps,
        };
        let picture = |from: i64, duration_ps: i64| TrackPicture {
            busy_ps: duration_ps,
            count: 1,
            bars: vec![ProgramBar { start_ps: from, duration_ps, name: 0 }],
            busy: vec![0, 255],
        };
        let stretch = |a_ps, b_ps, a_length_ps, b_length_ps, cause| ProgramStretch {
            a_ps,
            b_ps,
            a_length_ps,
            b_length_ps,
            cause,
        };
        let cause = ProgramCause { name: Some(0), difference_ps: 100 };
        let track = TracksOfBoth {
            name: "qTensor".to_owned(),
            renamed: None,
            a: Some(picture(50, 50)),
            b: Some(picture(50, 150)),
            matched: 1,
            stretches: vec![stretch(0, 0, 50, 50, None), stretch(50, 50, 50, 150, Some(cause))],
        };
        PairedTracks {
            answer: String::new(),
            a: run("a", 100),
            b: run("b", 200),
            cell_ps: 50,
            names: vec!["MATMUL".to_owned()],
            tracks: vec![track],
            left_out: 0,
        }
    }

    #[test]
    fn runs_grow_from_the_band_and_the_band_ties_them() {
        let of = paired();
        let track = &of.tracks[0];
        assert_eq!(busy_path(&of, track, PairedSide::A), "M0 20V20.0H25000V0.0H50000V20Z");
        assert_eq!(busy_path(&of, track, PairedSide::B), "M0 38V38.0H25000V58.0H50000V38Z");
        let bars = bar_paths(&of, track, PairedSide::A, |name| name as u8 + 3);
        assert_eq!(bars, [(3, "M25000.00 20h25000.00v-20h-25000.00z".to_owned())]);
        let tones: Vec<StretchTone> = stretch_paths(&of, track).into_iter().map(|(tone, _)| tone).collect();
        assert_eq!(tones, [StretchTone::Same, StretchTone::MuchSlower]);
        let slower = &stretch_paths(&of, track)[1].1;
        assert_eq!(slower, "M25000.00 20L50000.00 20L100000.00 38L25000.00 38Z");
    }

    #[test]
    fn names_stand_on_bars_with_room() {
        let of = paired();
        let found = labels(&of, &of.tracks[0], PairedSight::default(), 100.0);
        assert_eq!(found.iter().map(|one| one.side).collect::<Vec<_>>(), [PairedSide::B]);
        let mut over = paired();
        over.tracks[0].b.as_mut().unwrap().bars.push(ProgramBar { start_ps: 60, duration_ps: 140, name: 0 });
        let found = labels(&over, &over.tracks[0], PairedSight::default(), 100.0);
        assert_eq!(found.iter().map(|one| one.left).collect::<Vec<_>>(), [0.3], "the other one covers it");
        let near = labels(&of, &of.tracks[0], PairedSight { from: 0.25, to: 0.5 }, 100.0);
        assert_eq!(near.iter().map(|one| (one.left, one.width)).collect::<Vec<_>>(), [(0.0, 1.0); 2]);
    }
}
