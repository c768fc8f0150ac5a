//! Number, durations and covered time of classes of slices, over many tracks.
//!
//! The time is divided into pieces, which are tasks of their own. A slice counts in the piece in
//! which it starts, and its time in each piece that it reaches into. A block at a border is decoded
//! in both pieces, so a piece has several blocks of each track.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::device_time::{IntervalList, Union, joined, length};
use crate::base::{Interval, Result};
use crate::block::ROWS;
use crate::exec::Work;
use crate::model::{TableId, TrackId};
use crate::segment::{BlockNameTotal, BlockReader, Bytes, ColumnRole, Segment};

/// Number of a class.
pub(super) type Class = u8;
/// Most classes, and most unions of them.
pub(super) const MOST_CLASSES: usize = 32;

/// Rows of a piece, at least and at most, about. The intervals of a piece stay in memory.
const ROWS_OF_PIECE: (u64, u64) = (1 << 18, 1 << 20);
/// Blocks that a piece has of each track on average, between those limits.
const BLOCKS_OF_TRACK: u64 = 8;
/// Most pieces.
const MOST_PIECES: u64 = 256;

/// Classes of the rows of a block.
#[derive(Debug)]
pub(super) enum BlockClasses {
    /// All rows have this one.
    One(Class),
    /// A class for each row.
    Rows(Vec<Class>),
}

/// Classes of names on one track that are known already.
pub(super) type KnownClasses = FxHashMap<i64, Class>;

/// A block of a track.
#[derive(Debug)]
pub(super) struct SweptBlock<'r, 's, B> {
    pub(super) reader: BlockReader<'s, B>,
    /// The names that occur in it, if they are stored.
    names: Option<&'s [BlockNameTotal]>,
    known: &'r mut KnownClasses,
}

/// Tells the classes of the rows of a block.
pub(super) type Classify<'a, B> = dyn Fn(&mut SweptBlock<'_, '_, B>) -> Result<BlockClasses> + Sync + 'a;

/// A track with the classes of its slices.
pub(super) struct ClassifiedTrack<'a, B> {
    pub(super) track: TrackId,
    pub(super) table: TableId,
    pub(super) classify: &'a Classify<'a, B>,
}

/// Classes whose covered time is wanted together, as sets of numbers. No class is in two unions by
/// itself.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClassUnion {
    pub(super) classes: u32,
    /// Earlier unions, which it contains.
    pub(super) unions: u32,
}

/// Slices of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ClassTotal {
    /// Their number.
    pub(super) count: u64,
    /// Sum of their durations in picoseconds.
    pub(super) total_ps: u64,
}

/// The slices of a piece of the time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PieceTimes {
    /// By class.
    pub(super) totals: [ClassTotal; MOST_CLASSES],
    /// Time in which at least one slice of a union ran, in picoseconds. By union.
    pub(super) covered_ps: Vec<i64>,
}

impl BlockClasses {
    /// One class if all are equal.
    pub(super) fn of(classes: Vec<Class>) -> Self {
        match classes.first() {
            Some(first) if classes.iter().all(|class| class == first) => Self::One(*first),
            _ => Self::Rows(classes),
        }
    }

    /// The class of a row.
    pub(super) fn of_row(&self, row: usize) -> Class {
        match self {
            Self::One(class) => *class,
            Self::Rows(classes) => classes[row],
        }
    }
}

impl<B: Bytes> SweptBlock<'_, '_, B> {
    /// The classes of rows by their names. The rows are read only if their names have several.
    pub(super) fn by_name(
        &mut self,
        mut class: impl FnMut(i64, &mut KnownClasses) -> Result<Class>,
    ) -> Result<BlockClasses> {
        if let Some(names) = self.names.filter(|names| !names.is_empty()) {
            let classes = names.iter().map(|of| class(of.name.into(), self.known)).collect::<Result<_>>()?;
            if let one @ BlockClasses::One(_) = BlockClasses::of(classes) {
                return Ok(one);
            }
        }
        let names = self.reader.core_ints(ColumnRole::Name)?;
        let classes = names.iter().map(|name| class(*name, self.known)).collect::<Result<_>>()?;
        Ok(BlockClasses::of(classes))
    }
}

impl ClassTotal {
    pub(super) fn and(self, other: Self) -> Self {
        let total_ps = self.total_ps.saturating_add(other.total_ps);
        Self { count: self.count.saturating_add(other.count), total_ps }
    }
}

/// A span in pieces of equal length, so that the intervals of each fit into memory.
pub(super) fn pieces<B: Bytes>(
    segment: &Segment<B>,
    tracks: &[ClassifiedTrack<'_, B>],
    span: Interval,
) -> Result<Vec<Interval>> {
    let mut rows = 0;
    for of in tracks {
        let list = segment.blocks(of.table)?;
        let blocks = list.overlapping(segment.blocks_of(of.track)?, span);
        rows += blocks.map(|block| list.rows(block) as u64).sum::<u64>();
    }
    Ok(equal_pieces(span, rows, tracks.len() as u64))
}

/// A span with so many rows of so many tracks, in pieces of equal length.
pub(super) fn equal_pieces(span: Interval, rows: u64, tracks: u64) -> Vec<Interval> {
    let (least, most) = ROWS_OF_PIECE;
    let of_piece = tracks.saturating_mul(BLOCKS_OF_TRACK * ROWS as u64).clamp(least, most);
    let count = i64::try_from(rows.div_ceil(of_piece).clamp(1, MOST_PIECES)).unwrap_or(1);
    let length = span.duration_ps() / count + 1;
    let start = |at: i64| span.start.0.saturating_add(at.saturating_mul(length)).min(span.end.0);
    (0..count).map(|at| Interval::new(start(at), start(at + 1))).collect()
}

/// The slices of these tracks in each piece.
pub(super) fn of_pieces<B: Bytes>(
    segment: &Segment<B>,
    tracks: &[ClassifiedTrack<'_, B>],
    unions: &[ClassUnion],
    pieces: &[Interval],
    work: Work<'_>,
) -> Result<Vec<PieceTimes>> {
    let covering = unions.iter().fold(0, |all, union| all | union.classes);
    work.gather(pieces.len(), |at| {
        let mut sweep = PieceSweep {
            piece: pieces[at],
            covering,
            totals: [ClassTotal::default(); MOST_CLASSES],
            of_track: Default::default(),
            of_class: Default::default(),
        };
        for track in tracks {
            sweep.add_track(segment, track, work)?;
        }
        Ok(sweep.finish(unions))
    })
}

/// A piece with the tracks that are read so far.
struct PieceSweep {
    piece: Interval,
    /// Classes whose intervals are wanted.
    covering: u32,
    totals: [ClassTotal; MOST_CLASSES],
    /// Intervals of the track, by class.
    of_track: [Union; MOST_CLASSES],
    /// Intervals of each track before, by class.
    of_class: [Vec<Rc<IntervalList>>; MOST_CLASSES],
}

impl PieceSweep {
    fn add_track<B: Bytes>(
        &mut self,
        segment: &Segment<B>,
        of: &ClassifiedTrack<'_, B>,
        work: Work<'_>,
    ) -> Result<()> {
        let (mut known, blocks) = (KnownClasses::default(), segment.blocks_of(of.track)?);
        let (first, totals) = (blocks.start, segment.totals(of.track)?);
        for at in segment.blocks(of.table)?.overlapping(blocks, self.piece) {
            work.cancel.check()?;
            let names = totals.map(|totals| totals.names(at - first));
            let reader = BlockReader::new(segment, of.table, at)?;
            let mut block = SweptBlock { reader, names, known: &mut known };
            let starts = block.reader.core_ints(ColumnRole::Start)?;
            let durations = block.reader.core_ints(ColumnRole::Duration)?;
            match (of.classify)(&mut block)? {
                BlockClasses::One(class) => self.add_rows(&starts, &durations, |_| class),
                BlockClasses::Rows(classes) => self.add_rows(&starts, &durations, |at| classes[at]),
            }
        }
        for (of_track, of_class) in self.of_track.iter_mut().zip(&mut self.of_class) {
            let parts = std::mem::take(of_track).settled();
            of_class.extend((!parts.is_empty()).then(|| Rc::new(parts)));
        }
        Ok(())
    }

    fn add_rows(&mut self, starts: &[i64], durations: &[i64], class: impl Fn(usize) -> Class) {
        let (from, to) = (self.piece.start.0, self.piece.end.0);
        let first = starts.partition_point(|&start| start < from);
        let end = starts.partition_point(|&start| start < to);
        for (at, (&start, &duration)) in starts[..end].iter().zip(durations).enumerate() {
            let class = usize::from(class(at)) % MOST_CLASSES;
            if at >= first {
                let one = ClassTotal { count: 1, total_ps: duration.unsigned_abs() };
                self.totals[class] = self.totals[class].and(one);
            }
            let (start, end) = (start.max(from), start.saturating_add(duration).min(to));
            if start < end && self.covering >> class & 1 == 1 {
                self.of_track[class].add(start, end);
            }
        }
    }

    fn finish(self, unions: &[ClassUnion]) -> PieceTimes {
        let mut of_class = self.of_class;
        let mut of_union: Vec<Rc<IntervalList>> = Vec::with_capacity(unions.len());
        for union in unions {
            let in_set = |set: u32| (0..u32::BITS as usize).filter(move |at| set >> at & 1 == 1);
            let mut lists: Vec<Rc<IntervalList>> =
                in_set(union.unions).filter_map(|at| of_union.get(at)).cloned().collect();
            in_set(union.classes).for_each(|class| lists.append(&mut of_class[class]));
            of_union.push(joined(lists));
        }
        let covered_ps = of_union.iter().map(|parts| length(parts)).collect();
        PieceTimes { totals: self.totals, covered_ps }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fixture::{RankTrack, rank_of};
    use crate::makers::call_columns::slice_tracks;
    use crate::model::{NameId, Role};

    /// Both classes, each alone and together.
    const UNIONS: [ClassUnion; 3] = [
        ClassUnion { classes: 1, unions: 0 },
        ClassUnion { classes: 2, unions: 0 },
        ClassUnion { classes: 0, unions: 3 },
    ];
    const NAMES: [&str; 2] = ["gemm", "copy"];

    /// Number, durations and covered times, over all pieces. Slices are track, class, start,
    /// duration.
    fn swept(slices: &[(usize, usize, i64, i64)], pieces: &[Interval]) -> [u64; 7] {
        let track = |track: usize| {
            let of_track = slices.iter().filter(|slice| slice.0 == track);
            let drawn: Vec<_> =
                of_track.map(|&(_, class, start, length)| (NAMES[class], start, start + length)).collect();
            RankTrack::of(Role::Queue, &drawn)
        };
        let segment = rank_of("trace_event", &[0, 1, 2].map(track));
        let classify = |block: &mut SweptBlock<'_, '_, _>| {
            let text = |name: i64| segment.text(NameId(u32::try_from(name).unwrap()));
            block.by_name(|name, _| Ok(u8::from(text(name)? == NAMES[1])))
        };
        let tracks: Vec<_> = slice_tracks(&segment, |_| true)
            .map(|(track, table)| ClassifiedTrack { track, table, classify: &classify })
            .collect();
        let mut sums = [0; 7];
        for piece in of_pieces(&segment, &tracks, &UNIONS, pieces, Work::IN_PLACE).unwrap() {
            let totals = piece.totals[..2].iter().flat_map(|of| [of.count, of.total_ps]);
            let covered = piece.covered_ps.iter().map(|ps| ps.unsigned_abs());
            sums.iter_mut().zip(totals.chain(covered)).for_each(|(sum, of)| *sum += of);
        }
        sums
    }

    proptest! {
        #[test]
        fn pieces_join_without_gaps(
            start in -1_000_i64..1_000,
            length in 0..5_000_i64,
            rows in 0..100_000_000_u64,
            tracks in 0..2_000_u64,
        ) {
            let stretch = Interval::new(start, start + length);
            let pieces = equal_pieces(stretch, rows, tracks);
            let mut at = stretch.start;
            for piece in &pieces {
                prop_assert_eq!(piece.start, at);
                at = piece.end;
            }
            prop_assert_eq!(at, stretch.end);
        }

        #[test]
        fn every_slice_counts_once_however_the_time_is_cut(
            slices in prop::collection::vec((0..3_usize, 0..2_usize, 0..900_i64, 0..50_i64), 1..50),
            mut cuts in prop::collection::vec(0..960_i64, 0..6),
        ) {
            let sum = |of: usize| {
                let of_class = slices.iter().filter(|slice| slice.1 == of);
                of_class.fold((0, 0), |(count, sum), slice| (count + 1, sum + slice.3.unsigned_abs()))
            };
            let covered = |is_in: fn(usize) -> bool| {
                let runs = |at: i64| slices.iter().any(|of| is_in(of.1) && (of.2..of.2 + of.3).contains(&at));
                (0..960).filter(|at| runs(*at)).count() as u64
            };
            let ((first, first_ps), (second, second_ps)) = (sum(0), sum(1));
            let times = [covered(|class| class == 0), covered(|class| class == 1), covered(|_| true)];
            let [one, two, both] = times;
            cuts.extend([i64::MIN, i64::MAX]);
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|pair| Interval::new(pair[0], pair[1])).collect();
            prop_assert_eq!(swept(&slices, &pieces), [first, first_ps, second, second_ps, one, two, both]);
        }
    }
}
