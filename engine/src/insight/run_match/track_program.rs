//! The programs of the tracks of a run: their slices within one repetition, in the order of their
//! starts.

use std::collections::BTreeMap;

use crate::base::{Interval, Result};
use crate::exec::Cancel;
use crate::makers::{DeviceTrack, each_device_slice};
use crate::model::{Identity, MachineSide, NameId, RankWork, TrackId};
use crate::segment::{Bytes, Segment};

/// A slice of a track. Times are in picoseconds since the begin of the repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramSlice {
    /// Start.
    pub start_ps: i64,
    /// Duration; not negative.
    pub duration_ps: i64,
    /// Number of the name.
    pub name: u32,
}

impl ProgramSlice {
    /// End.
    #[must_use]
    pub fn end_ps(&self) -> i64 {
        self.start_ps.saturating_add(self.duration_ps)
    }

    /// The part of a slice within the repetition, by its times on the clock of the run. `None` if
    /// there is none.
    fn within(span: Interval, start_ps: i64, end_ps: i64, name: u32) -> Option<Self> {
        let (from, to) = (start_ps.max(span.start.0), end_ps.min(span.end.0));
        let is_in = start_ps < span.end.0 && (end_ps > span.start.0 || start_ps >= span.start.0);
        let part = Self {
            start_ps: from.saturating_sub(span.start.0),
            duration_ps: to.saturating_sub(from).max(0),
            name,
        };
        is_in.then_some(part)
    }
}

/// A track of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProgramTrack {
    /// Its name.
    pub(super) name: String,
    /// The part of the machine.
    pub(super) identity: Identity,
}

/// The tracks of the devices of one rank.
#[derive(Debug)]
pub struct RunProgram<'s, B> {
    segment: &'s Segment<B>,
    pub(super) tracks: Vec<ProgramTrack>,
    slices: SlicesOf<'s>,
}

/// The place of the slices of tracks.
#[derive(Debug)]
enum SlicesOf<'s> {
    /// In the segment.
    Stored(Vec<DeviceTrack>),
    /// In the work of the rank: for each track the positions of its nodes.
    Listed(&'s RankWork, Vec<Vec<u32>>),
}

impl<'s, B: Bytes> RunProgram<'s, B> {
    /// The program of stored tracks.
    #[must_use]
    pub fn of_tracks(segment: &'s Segment<B>, of: Vec<DeviceTrack>) -> Self {
        let track = |of: &DeviceTrack| ProgramTrack {
            name: of.name(segment).to_owned(),
            identity: of.identity(segment),
        };
        Self { segment, tracks: of.iter().map(track).collect(), slices: SlicesOf::Stored(of) }
    }

    /// The program of the work of a rank.
    #[must_use]
    pub fn of_work(segment: &'s Segment<B>, work: &'s RankWork) -> Self {
        let mut nodes: BTreeMap<TrackId, (u32, Vec<u32>)> = BTreeMap::new();
        for (at, node) in (0..).zip(&work.nodes) {
            let queue = work.queue_of(node);
            if queue.side == MachineSide::Device {
                let number = work.classes[node.class as usize].queue;
                nodes.entry(queue.track).or_insert_with(|| (number, Vec::new())).1.push(at);
            }
        }
        let track = |(queue, _): &(u32, Vec<u32>)| ProgramTrack {
            name: work.track_name(*queue).to_owned(),
            identity: work.queues[*queue as usize].identity,
        };
        let tracks = nodes.values().map(track).collect();
        let nodes = nodes.into_values().map(|(_, nodes)| nodes).collect();
        Self { segment, tracks, slices: SlicesOf::Listed(work, nodes) }
    }

    /// From the first to the last slice of all tracks. `None` without any.
    pub fn whole(&self, cancel: Cancel<'_>) -> Result<Option<Interval>> {
        let mut whole: Option<Interval> = None;
        for at in 0..self.tracks.len() {
            self.each_slice(at, cancel, &mut |start_ps, end_ps, _| {
                let own = Interval::new(start_ps, end_ps);
                whole = Some(whole.map_or(own, |known| known.cover(own)));
            })?;
        }
        Ok(whole)
    }

    /// The work of the track at this position within a span, by start, with names by number. Waits
    /// are no work: what they wait for is on another track.
    pub(super) fn slices(&self, at: usize, span: Interval, cancel: Cancel<'_>) -> Result<Vec<ProgramSlice>> {
        let mut found = Vec::new();
        let waits = &self.segment.footer().waits;
        let has_waits = matches!(self.slices, SlicesOf::Stored(_));
        self.each_slice(at, cancel, &mut |start_ps, end_ps, name| {
            if !(has_waits && waits.contains(name)) {
                found.extend(ProgramSlice::within(span, start_ps, end_ps, name));
            }
        })?;
        Ok(found)
    }

    /// The text of a name.
    pub(super) fn name(&self, number: u32) -> Result<&str> {
        match &self.slices {
            SlicesOf::Stored(_) => self.segment.text(NameId(number)),
            SlicesOf::Listed(work, _) => Ok(work.name(number).unwrap_or_default()),
        }
    }

    fn each_slice(&self, at: usize, cancel: Cancel<'_>, each: &mut dyn FnMut(i64, i64, u32)) -> Result<()> {
        match &self.slices {
            SlicesOf::Stored(tracks) => {
                each_device_slice(self.segment, tracks[at], None, cancel, &mut |slice| {
                    if let Some(name) = slice.text {
                        each(slice.start_ps, slice.end_ps, name);
                    }
                })
            }
            SlicesOf::Listed(work, nodes) => {
                cancel.check()?;
                let nodes = nodes[at].iter().filter_map(|at| work.nodes.get(*at as usize));
                nodes.for_each(|node| {
                    each(node.start_ps, node.end_ps(), work.classes[node.class as usize].name);
                });
                Ok(())
            }
        }
    }
}

/// One run with the repetition that stands for it.
pub type RepeatedProgram<'p, 's, B> = (&'p RunProgram<'s, B>, Interval);
