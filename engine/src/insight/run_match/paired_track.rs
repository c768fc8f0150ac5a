//! Two runs track by track: the busy time and the longest slices of each, and the stretches of the
//! program.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::program_match::{MatchedPair, matched};
use super::stretch::{PairedStretch, RunMoment, StretchCause, stretches};
use super::track_match::{TrackPair, track_pairs};
use super::track_program::{ProgramSlice, RepeatedProgram, RunProgram};
use crate::base::Result;
use crate::exec::{Cancel, Work};
use crate::insight::difference::function;
use crate::model::Role;
use crate::segment::Bytes;

/// Tracks of a picture: those that work most.
const MOST_TRACKS: usize = 32;
/// Bars of each run in all tracks.
const MOST_BARS: usize = 4_000;
/// Bars of one track of a run.
const MOST_BARS_OF_TRACK: usize = 1_000;
/// Spans in which busy time is counted.
const CELLS: i64 = 512;
/// A stretch is no shorter than this part of the longer run.
const STRETCHES: i64 = 240;

/// Two runs track by track. Times are in picoseconds since the begin of each repetition.
#[derive(Debug, Clone, PartialEq)]
pub struct PairedRuns {
    /// The length of the first and of the second repetition.
    pub lengths_ps: (i64, i64),
    /// Length of a span of [`TrackBars::busy`].
    pub cell_ps: i64,
    /// The names of slices.
    pub names: Vec<String>,
    /// The tracks that work most in either run: those that compute, then those that move data, each
    /// from the one that works most.
    pub tracks: Vec<PairedTrack>,
    /// Number of other tracks.
    pub left_out: usize,
}

/// A track of the first run with the one of the second run that is the same.
#[derive(Debug, Clone, PartialEq)]
pub struct PairedTrack {
    /// Its name in the first run, or in the second one of a track that only it has.
    pub name: String,
    /// Its name in the second run, if it is another one.
    pub renamed: Option<String>,
    /// The track in the first run.
    pub a: Option<TrackBars>,
    /// The track in the second run.
    pub b: Option<TrackBars>,
    /// Number of slices that are the same work in both runs.
    pub matched: usize,
    /// The stretches of the program, from the begin to the end of both repetitions. Empty without
    /// matched slices.
    pub stretches: Vec<PairedStretch>,
}

/// The picture of a track in one run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrackBars {
    /// Sum of the durations.
    pub busy_ps: i64,
    /// Number of slices.
    pub count: usize,
    /// The longest slices, by start. Their names are positions in [`PairedRuns::names`].
    pub bars: Vec<ProgramSlice>,
    /// The busy part of each span of [`PairedRuns::cell_ps`], from 0 to 255.
    pub busy: Vec<u8>,
}

/// The work of a track in both runs, before it is drawn.
pub(super) struct PairedWork {
    /// Its name in the first and in the second run.
    pub(super) names: (Option<String>, Option<String>),
    pub(super) role: Role,
    /// The slices of the first and of the second run, by start.
    pub(super) a: Option<Vec<ProgramSlice>>,
    pub(super) b: Option<Vec<ProgramSlice>>,
    /// The slices that are the same work.
    pub(super) pairs: Vec<MatchedPair>,
    /// The names of slices, by their numbers.
    pub(super) texts: Vec<String>,
}

/// A paired track with the names that it uses.
pub(super) struct NamedTrack {
    track: PairedTrack,
    names: Vec<String>,
    order: TrackOrder,
}

/// The order of tracks: what computes stands before what moves data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TrackOrder {
    Computing,
    Moving,
    Other,
}

impl TrackOrder {
    fn of(role: Role) -> Self {
        match role {
            Role::Engine(_) | Role::Kernels => Self::Computing,
            Role::Queue | Role::Collectives | Role::CollectiveCore => Self::Moving,
            _ => Self::Other,
        }
    }
}

/// The names of two runs under common numbers.
#[derive(Default)]
struct SharedNames {
    texts: Vec<String>,
    numbers: FxHashMap<String, u32>,
}

impl SharedNames {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.numbers.insert(text.to_owned(), number);
        self.texts.push(text.to_owned());
        number
    }

    /// For each name the number of its function, without arguments of templates and parameters:
    /// compilers put choices of tiles and types there.
    fn functions(&self) -> Vec<u32> {
        let mut of_function = Self::default();
        self.texts.iter().map(|text| of_function.number(function(text))).collect()
    }

    /// Gives the slices of a run the common numbers.
    fn renumber<B: Bytes>(&mut self, of: &RunProgram<'_, B>, slices: &mut [ProgramSlice]) -> Result<()> {
        let mut known: FxHashMap<u32, u32> = FxHashMap::default();
        for slice in slices {
            slice.name = match known.get(&slice.name) {
                Some(number) => *number,
                None => {
                    let number = self.number(of.name(slice.name)?);
                    known.insert(slice.name, number);
                    number
                }
            };
        }
        Ok(())
    }
}

/// Puts the tracks of two runs beside each other within a repetition of each.
pub fn paired_runs<B: Bytes>(
    a: RepeatedProgram<'_, '_, B>,
    b: RepeatedProgram<'_, '_, B>,
    work: Work<'_>,
) -> Result<PairedRuns> {
    let grid = Grid::of(a.1.duration_ps(), b.1.duration_ps());
    let pairs = track_pairs(a, b, work.cancel)?;
    let found = work.gather(pairs.len(), |at| Ok(drawn(paired(a, b, pairs[at], work.cancel)?, grid)))?;
    Ok(picture(found, grid))
}

/// The tracks that work most, with common names.
pub(super) fn picture(found: Vec<NamedTrack>, grid: Grid) -> PairedRuns {
    let worked: Vec<NamedTrack> = found.into_iter().filter(|of| busy_ps(&of.track) > 0).collect();
    let least = nth_largest(worked.iter().map(|of| busy_ps(&of.track)), MOST_TRACKS);
    let all = worked.len();
    let mut names = SharedNames::default();
    let kept = worked.into_iter().filter(|of| busy_ps(&of.track) >= least).take(MOST_TRACKS);
    let mut kept: Vec<NamedTrack> = kept.collect();
    kept.sort_by_key(|of| (of.order, Reverse(busy_ps(&of.track))));
    let mut tracks: Vec<PairedTrack> = kept.into_iter().map(|of| named(of, &mut names)).collect();
    // Each track has its part: the longest slices of all would be those of few tracks.
    let most = MOST_BARS / tracks.len().max(1);
    let pictures = tracks.iter_mut().flat_map(|track| track.a.iter_mut().chain(&mut track.b));
    pictures.for_each(|of| truncate_to_longest(&mut of.bars, most));
    let left_out = all - tracks.len();
    let Grid { lengths_ps, cell_ps, .. } = grid;
    PairedRuns { lengths_ps, cell_ps, names: names.texts, tracks, left_out }
}

/// The steps of a picture, in picoseconds.
#[derive(Clone, Copy)]
pub(super) struct Grid {
    lengths_ps: (i64, i64),
    cell_ps: i64,
    least_ps: i64,
}

impl Grid {
    /// The steps for two repetitions of these lengths.
    pub(super) fn of(a_ps: i64, b_ps: i64) -> Self {
        let (lengths_ps, longer_ps) = ((a_ps, b_ps), a_ps.max(b_ps).max(1));
        let cell_ps = longer_ps.div_euclid(CELLS) + i64::from(longer_ps.rem_euclid(CELLS) > 0);
        Self { lengths_ps, cell_ps, least_ps: longer_ps / STRETCHES }
    }
}

fn busy_ps(of: &PairedTrack) -> i64 {
    let own = |of: &Option<TrackBars>| of.as_ref().map_or(0, |of| of.busy_ps);
    own(&of.a).max(own(&of.b))
}

/// The value that `most` values reach, or the least of all.
fn nth_largest(values: impl Iterator<Item = i64>, most: usize) -> i64 {
    let mut values: Vec<i64> = values.collect();
    values.sort_unstable_by_key(|value| Reverse(*value));
    values.get(most.min(values.len()).saturating_sub(1)).copied().unwrap_or_default()
}

/// The work of a pair of tracks, matched by names.
fn paired<B: Bytes>(
    a: RepeatedProgram<'_, '_, B>,
    b: RepeatedProgram<'_, '_, B>,
    pair: TrackPair,
    cancel: Cancel<'_>,
) -> Result<PairedWork> {
    let mut names = SharedNames::default();
    let mut slices = |of: RepeatedProgram<'_, '_, B>, at: Option<usize>| -> Result<Vec<ProgramSlice>> {
        let Some(at) = at else { return Ok(Vec::new()) };
        let mut slices = of.0.slices(at, of.1, cancel)?;
        names.renumber(of.0, &mut slices)?;
        Ok(slices)
    };
    let (of_a, of_b) = (slices(a, pair.a)?, slices(b, pair.b)?);
    let functions = names.functions();
    let numbers = |of: &[ProgramSlice]| of.iter().map(|slice| slice.name).collect::<Vec<u32>>();
    let less =
        |of: &[ProgramSlice]| of.iter().map(|slice| functions[slice.name as usize]).collect::<Vec<u32>>();
    let pairs = matched(&[&numbers(&of_a), &less(&of_a)], &[&numbers(&of_b), &less(&of_b)]);
    let name = |of: RepeatedProgram<'_, '_, B>, at: Option<usize>| at.map(|at| of.0.tracks[at].name.clone());
    let own = pair.a.map(|at| &a.0.tracks[at]).or(pair.b.map(|at| &b.0.tracks[at]));
    Ok(PairedWork {
        names: (name(a, pair.a), name(b, pair.b)),
        role: own.map_or(Role::Unknown, |track| track.identity.role),
        a: pair.a.map(|_| of_a),
        b: pair.b.map(|_| of_b),
        pairs,
        texts: names.texts,
    })
}

/// The picture of a track in both runs.
pub(super) fn drawn(of: PairedWork, grid: Grid) -> NamedTrack {
    let PairedWork { names: (name_a, name_b), role, a, b, pairs, texts } = of;
    let lengths = RunMoment { a_ps: grid.lengths_ps.0, b_ps: grid.lengths_ps.1 };
    let found = match pairs.is_empty() {
        true => Vec::new(),
        false => {
            let (of_a, of_b) = (a.as_deref().unwrap_or_default(), b.as_deref().unwrap_or_default());
            stretches(&pairs, of_a, of_b, lengths, grid.least_ps)
        }
    };
    let track = PairedTrack {
        renamed: name_b.clone().filter(|name| name_a.as_ref().is_some_and(|other| other != name)),
        name: name_a.or(name_b).unwrap_or_default(),
        a: a.map(|slices| bars(slices, lengths.a_ps, grid.cell_ps)),
        b: b.map(|slices| bars(slices, lengths.b_ps, grid.cell_ps)),
        matched: pairs.len(),
        stretches: found,
    };
    NamedTrack { track, names: texts, order: TrackOrder::of(role) }
}

/// The picture of the slices of a track.
fn bars(mut slices: Vec<ProgramSlice>, length_ps: i64, cell_ps: i64) -> TrackBars {
    let cells = usize::try_from(length_ps.div_euclid(cell_ps) + 1).unwrap_or_default();
    let mut busy_in = vec![0_i64; cells];
    // Slices of other lanes run beside each other: a span is busy once.
    let (mut covered_to_ps, mut busy_ps) = (0, 0);
    for slice in &slices {
        let mut from_ps = slice.start_ps.max(covered_to_ps);
        busy_ps += slice.duration_ps;
        while from_ps < slice.end_ps() {
            let cell = from_ps.div_euclid(cell_ps);
            let to_ps = slice.end_ps().min((cell + 1) * cell_ps);
            if let Some(sum) = usize::try_from(cell).ok().and_then(|cell| busy_in.get_mut(cell)) {
                *sum += to_ps - from_ps;
            }
            from_ps = to_ps;
        }
        covered_to_ps = covered_to_ps.max(slice.end_ps());
    }
    let share = |ps: &i64| (ps.saturating_mul(255) / cell_ps.max(1)).clamp(0, 255) as u8;
    let count = slices.len();
    truncate_to_longest(&mut slices, MOST_BARS_OF_TRACK);
    TrackBars { busy_ps, count, bars: slices, busy: busy_in.iter().map(share).collect() }
}

/// Keeps the longest slices, by start.
fn truncate_to_longest(slices: &mut Vec<ProgramSlice>, most: usize) {
    if slices.len() > most {
        slices.select_nth_unstable_by_key(most, |slice| (Reverse(slice.duration_ps), slice.start_ps));
        slices.truncate(most);
        slices.sort_unstable_by_key(|slice| (slice.start_ps, Reverse(slice.duration_ps)));
    }
}

/// The track with names of the picture in place of its own.
fn named(of: NamedTrack, names: &mut SharedNames) -> PairedTrack {
    let NamedTrack { mut track, names: own, .. } = of;
    let mut number = |name: &mut u32| *name = names.number(&own[*name as usize]);
    let bars = track.a.iter_mut().chain(&mut track.b).flat_map(|of| &mut of.bars);
    bars.for_each(|bar| number(&mut bar.name));
    for stretch in &mut track.stretches {
        if let Some(StretchCause { name: Some(name), .. }) = &mut stretch.cause {
            number(name);
        }
    }
    track
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{RankTrack, rank_of};
    use crate::makers::device_tracks_without_launches;
    use crate::model::EngineKind;

    const TENSOR: Role = Role::Engine(EngineKind::Tensor);
    const VECTOR: Role = Role::Engine(EngineKind::Vector);

    fn pairing(a: &[RankTrack], b: &[RankTrack]) -> PairedRuns {
        let (a, b) = (rank_of("trace_event", a), rank_of("trace_event", b));
        let program_a = RunProgram::of_tracks(&a, device_tracks_without_launches(&a));
        let program_b = RunProgram::of_tracks(&b, device_tracks_without_launches(&b));
        let whole = |of: &RunProgram<'_, _>| of.whole(Cancel::NEVER).unwrap().unwrap();
        let spans = (whole(&program_a), whole(&program_b));
        paired_runs((&program_a, spans.0), (&program_b, spans.1), Work::IN_PLACE).unwrap()
    }

    #[test]
    fn a_slower_instruction_is_the_cause_of_its_stretch() {
        let a = [("LOAD", 0, 10), ("MATMUL", 10, 30), ("COPY", 30, 40)];
        let b = [("LOAD", 0, 10), ("MATMUL", 10, 50), ("COPY", 50, 60)];
        let found = pairing(&[RankTrack::of(TENSOR, &a)], &[RankTrack::of(TENSOR, &b)]);
        let [track] = &found.tracks[..] else { panic!("{found:?}") };
        assert_eq!((track.matched, track.a.as_ref().unwrap().count), (3, 3));
        let causes: Vec<_> = track.stretches.iter().filter_map(|of| of.cause).collect();
        let [cause] = causes[..] else { panic!("{causes:?}") };
        assert_eq!(found.names[cause.name.unwrap() as usize], "MATMUL");
        assert_eq!(cause.difference_ps, found.lengths_ps.1 - found.lengths_ps.0);
        let sum: i64 = track.stretches.iter().map(PairedStretch::difference_ps).sum();
        assert_eq!(sum, cause.difference_ps, "all stretches sum up to the difference of the runs");
    }

    #[test]
    fn a_track_that_one_run_lacks_stands_alone() {
        let tensor = RankTrack::of(TENSOR, &[("MATMUL", 0, 40)]);
        let vector = RankTrack::of(VECTOR, &[("ADD", 0, 40)]);
        let found = pairing(&[tensor.clone(), vector], &[tensor]);
        let sides: Vec<_> = found.tracks.iter().map(|of| (of.a.is_some(), of.b.is_some())).collect();
        assert_eq!(sides, [(true, true), (true, false)]);
        assert_eq!(found.tracks[1].stretches, []);
    }

    #[test]
    fn busy_spans_count_slices_of_several_lanes_once() {
        let slice = |start_ps, end_ps| ProgramSlice { start_ps, duration_ps: end_ps - start_ps, name: 0 };
        let of = bars(vec![slice(0, 20), slice(5, 10), slice(25, 30)], 40, 10);
        assert_eq!(of.busy, [255, 255, 127, 0, 0]);
        assert_eq!((of.busy_ps, of.count), (30, 3));
    }

    #[test]
    fn pictures_of_many_slices_keep_the_longest() {
        let mut slices: Vec<ProgramSlice> =
            (0..5_000).map(|at| ProgramSlice { start_ps: at * 10, duration_ps: at % 7, name: 0 }).collect();
        truncate_to_longest(&mut slices, 100);
        assert!(slices.iter().all(|slice| slice.duration_ps == 6));
        assert!(slices.is_sorted_by_key(|slice| slice.start_ps));
        assert_eq!(nth_largest([3, 9, 5].into_iter(), 2), 5);
        assert_eq!(nth_largest([3].into_iter(), 2), 3);
        assert_eq!(nth_largest(std::iter::empty(), 2), 0);
    }
}
