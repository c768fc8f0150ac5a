//! The meaning of each event: phases to slices, samples, flows and metadata.

use nprof_engine::base::Result;
use nprof_engine::model::{FlowPhase, Nesting, RankInfo, Sink, SliceForm, WarningKind};

use super::Context;
use super::async_slices::{AsyncStep, Asyncs, Family};
use super::duration::OpenSlices;
use super::event::EventBytes;
use super::events::EventReceiver;
use super::kineto::{self, Correlations, SliceSide};
use super::memory::AllocationSums;
use super::metadata::{self, Metadata};
use super::output::{EventOutput, EventTable};
use super::text::bytes_of;
use super::thread::RecentThreads;
use super::track::{Id, TimeOnTrack, TrackIndex, TrackRole};
use super::value::WrittenValue;
use super::{counter, flow};

/// State of reading: open slices, names, and facts about the rank.
pub(super) struct TraceEventReader<'s> {
    out: EventOutput<'s>,
    durations: OpenSlices<'s>,
    asyncs: Asyncs<'s>,
    correlations: Correlations,
    memory: AllocationSums,
    metadata: Metadata,
    threads: RecentThreads,
    /// Tracks of annotations by their streams.
    annotated: RecentThreads,
    /// Place of the annotations of a device.
    pub(super) annotations: Annotations,
    event_count: u64,
}

/// Place of the annotations of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Annotations {
    /// On a track of their own.
    #[default]
    Apart,
    /// With the work of their stream.
    WithWork,
}

impl<'s> TraceEventReader<'s> {
    /// A reader with this sink.
    pub(super) fn new(context: Context<'s>, sink: &'s mut dyn Sink) -> Result<Self> {
        let scratch = context.space.map(|space| space.scratch);
        Ok(Self {
            out: EventOutput::new(context, sink)?,
            durations: OpenSlices::new(scratch),
            asyncs: Asyncs::new(scratch),
            correlations: Correlations::default(),
            memory: AllocationSums::default(),
            metadata: Metadata::default(),
            threads: RecentThreads::default(),
            annotated: RecentThreads::default(),
            annotations: Annotations::default(),
            event_count: 0,
        })
    }

    /// Counts an event that a layer took.
    pub(super) fn count_event(&mut self) {
        self.event_count += 1;
    }

    fn thread(&mut self, seen: EventBytes<'_>) -> TrackIndex {
        let tracks = &mut self.out.tracks;
        let cat = seen.cat_bytes();
        let is_device = kineto::side(&cat) == Some(SliceSide::Device);
        let is_host = kineto::is_of_host(&cat);
        let nesting = if is_device { Nesting::Concurrent } else { Nesting::Calls };
        let find = || tracks.thread(EventOutput::pid(seen), EventOutput::tid(seen), nesting);
        let track = self.threads.track(seen, find);
        // Remembered threads are marked, too: an arrow can come before the first kernel.
        if is_device {
            self.out.tracks.on_device(track);
        } else if is_host {
            self.out.tracks.on_host(track);
        }
        track
    }

    /// The track of an annotation. Begins and ends stay on their thread, because an end states no
    /// category.
    fn annotation(&mut self, seen: EventBytes<'_>) -> TrackIndex {
        let tracks = &mut self.out.tracks;
        self.annotated.track(seen, || tracks.annotations(&EventOutput::pid(seen), EventOutput::tid(seen)))
    }

    fn complete(&mut self, seen: EventBytes<'_>, time_ps: i64) -> Result<()> {
        let is_apart = self.annotations == Annotations::Apart && kineto::is_annotation(&seen.cat_bytes());
        let track = if is_apart { self.annotation(seen) } else { self.thread(seen) };
        let (out, place) = (&mut self.out, TimeOnTrack { track, time_ps });
        if !self.correlations.can_have(seen) {
            return self.durations.complete(out, seen, place, EventOutput::emit).map(drop);
        }
        if let Some(key) = self.durations.complete(out, seen, place, EventOutput::emit_keyed)? {
            self.correlations.slice(&mut self.out, seen, key, time_ps)?;
        }
        Ok(())
    }

    fn flow(&mut self, seen: EventBytes<'_>, phase: FlowPhase, time_ps: i64) -> Result<()> {
        if kineto::is_launch_flow(&seen.cat_bytes()) {
            self.correlations.flow_seen();
        }
        let track = self.thread(seen);
        flow::take(&mut self.out, seen, phase, TimeOnTrack { track, time_ps })
    }

    /// Takes an event that becomes an instant, including those of unknown phases.
    fn instant(&mut self, seen: EventBytes<'_>, phase: &str, time_ps: i64) -> Result<()> {
        let is_known = matches!(
            phase,
            "i" | "I" | "R" | "P" | "N" | "O" | "D" | "v" | "V" | "c" | "(" | ")" | "a" | "="
        );
        if !is_known {
            let what = "an event of an unknown phase; kept as an instant";
            self.out.warn(WarningKind::UnknownRecord, what, seen.offset);
        }
        let scope = if matches!(phase, "i" | "I" | "R") { seen.text(seen.event.s) } else { "t".into() };
        let track = match &*scope {
            "g" => self.out.tracks.global(),
            "p" => self.process_track(seen),
            _ if EventOutput::tid(seen) == Id::Absent => self.process_track(seen),
            _ => self.thread(seen),
        };
        self.out.start_row();
        self.out.add_event(EventTable::Slices, seen)?;
        if !matches!(phase, "i" | "I") {
            self.out.add_text(EventTable::Slices, "ph", phase)?;
        }
        self.out.add_place(EventTable::Slices, seen, track)?;
        self.out.emit(TimeOnTrack { track, time_ps }, 0, SliceForm::Instant, seen)?;
        self.memory.instant(&mut self.out, seen, time_ps)
    }

    fn process_track(&mut self, seen: EventBytes<'_>) -> TrackIndex {
        let process = self.out.tracks.process(&EventOutput::pid(seen));
        self.out.tracks.track(process, TrackRole::Process, Nesting::Concurrent)
    }

    /// Emits the events that wait for others of their file. Others follow in the next file.
    pub(super) fn end_file(&mut self) -> Result<()> {
        let out = &mut self.out;
        self.durations.finish(out)?;
        self.asyncs.finish(out)?;
        self.correlations.link(out)?;
        self.correlations = Correlations::default();
        self.metadata.end_file();
        self.memory.finish(out)
    }

    /// Emits the waiting events, then the names and the order of tracks. Returns the facts about
    /// the rank.
    pub(super) fn close(&mut self) -> Result<RankInfo> {
        self.end_file()?;
        let out = &mut self.out;
        let refused = out.tracks.allowance().refused();
        if refused > 0 {
            let what = "too many processes and tracks; further ones share tracks, and their events have fields \
                that tell them apart";
            out.sink.warn(WarningKind::AdjustedValue, what, &|| format!("{refused} events"));
        }
        out.tracks.describe_all(out.sink)?;
        metadata::track_rows(out)?;
        metadata::clock_row(out)?;
        Ok(self.metadata.rank(out))
    }
}

impl<'s> EventReceiver<'s> for TraceEventReader<'s> {
    fn out(&mut self) -> &mut EventOutput<'s> {
        &mut self.out
    }

    fn event_count(&self) -> u64 {
        self.event_count
    }

    fn metadata(&mut self, key: &str, value: WrittenValue<'_>, offset: u64) -> Result<()> {
        self.metadata.key(&mut self.out, key, value, offset)
    }

    fn unread(&mut self, what: &str, bytes: &[u8], offset: u64) -> Result<()> {
        self.event_count += 1;
        self.out.keep_unread(WarningKind::DamagedRecord, what, bytes, offset)
    }

    fn event(&mut self, seen: EventBytes<'_>) -> Result<()> {
        let phase = bytes_of(seen.bytes, seen.event.ph);
        if phase.is_empty() && is_empty_object(seen.bytes) {
            // Some writers end each list with one, so that each event before has a comma.
            return Ok(());
        }
        self.event_count += 1;
        let out = &mut self.out;
        match &*phase {
            b"M" => return self.metadata.event(out, seen),
            b"" => {
                return out.keep_unread(
                    WarningKind::DamagedRecord,
                    "`ph` is missing",
                    seen.bytes,
                    seen.offset,
                );
            }
            _ => {}
        }
        let Some(time_ps) = out.time(seen)? else { return Ok(()) };
        match &*phase {
            b"X" => self.complete(seen, time_ps),
            b"B" => {
                let track = self.thread(seen);
                self.durations.begin(&mut self.out, seen, track, time_ps)
            }
            b"E" => {
                let track = self.thread(seen);
                self.durations.end(&mut self.out, seen, track, time_ps)
            }
            b"C" => counter::take(out, seen, time_ps),
            b"s" => self.flow(seen, FlowPhase::Start, time_ps),
            b"t" => self.flow(seen, FlowPhase::Step, time_ps),
            b"f" => self.flow(seen, FlowPhase::End, time_ps),
            b"b" => self.asyncs.take(out, seen, Family::Nestable, AsyncStep::Begin, time_ps),
            b"n" => self.asyncs.take(out, seen, Family::Nestable, AsyncStep::Within, time_ps),
            b"e" => self.asyncs.take(out, seen, Family::Nestable, AsyncStep::End, time_ps),
            b"S" => self.asyncs.take(out, seen, Family::Older, AsyncStep::Begin, time_ps),
            b"T" | b"p" => self.asyncs.take(out, seen, Family::Older, AsyncStep::Within, time_ps),
            b"F" => self.asyncs.take(out, seen, Family::Older, AsyncStep::End, time_ps),
            _ => self.instant(seen, &seen.phase(), time_ps),
        }
    }

    fn finish(mut self) -> Result<()> {
        let rank = self.close()?;
        self.out.sink.rank(rank);
        Ok(())
    }
}

/// Whether the text of an object has no keys.
fn is_empty_object(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte.is_ascii_whitespace() || matches!(byte, b'{' | b'}'))
}
