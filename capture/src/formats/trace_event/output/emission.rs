//! Emission of rows as slices, instants and samples.

use std::borrow::Cow;

use nprof_engine::base::Result;
use nprof_engine::model::{SliceForm, SliceKey, SliceRecord, WarningKind};

use super::EventOutput;
use crate::formats::room::emptied;
use crate::formats::trace_event::event::EventBytes;
use crate::formats::trace_event::slice_flow;
use crate::formats::trace_event::text::{self, Fidelity};
use crate::formats::trace_event::tokens::ValueKind;
use crate::formats::trace_event::track::{TimeOnTrack, TrackIndex};

impl EventOutput<'_> {
    /// Emits the row as a slice or an instant with the name of `seen`. A key that nobody needs is
    /// not read: its parts were just written, and reading both at once would wait for that.
    pub(in crate::formats::trace_event) fn emit(
        &mut self,
        start: TimeOnTrack,
        duration_ps: i64,
        form: SliceForm,
        seen: EventBytes<'_>,
    ) -> Result<()> {
        if seen.event.bind_id.is_present() {
            return self.emit_keyed(start, duration_ps, form, seen).map(drop);
        }
        self.put_slice(start, duration_ps, form, seen).map(drop)
    }

    /// Emits the row like [`EventOutput::emit`]. Returns the key of the slice.
    pub(in crate::formats::trace_event) fn emit_keyed(
        &mut self,
        start: TimeOnTrack,
        duration_ps: i64,
        form: SliceForm,
        seen: EventBytes<'_>,
    ) -> Result<SliceKey> {
        let key = self.put_slice(start, duration_ps, form, seen)?;
        if seen.event.bind_id.is_present() {
            slice_flow::of_slice(self.sink, seen, key, start.time_ps)?;
        }
        Ok(key)
    }

    /// Notes the time of an event on a track.
    fn reach(&mut self, track: TrackIndex, start_ps: i64, end_ps: i64) {
        self.tracks.reach(track, end_ps);
        let (first_ps, last_ps) = self.span_ps.unwrap_or((start_ps, end_ps));
        self.span_ps = Some((first_ps.min(start_ps), last_ps.max(end_ps)));
    }

    #[inline(always)]
    fn put_slice(
        &mut self,
        TimeOnTrack { track, time_ps: start_ps }: TimeOnTrack,
        duration_ps: i64,
        form: SliceForm,
        seen: EventBytes<'_>,
    ) -> Result<SliceKey> {
        let name = seen.name();
        // Only a name that is no valid UTF-8 had to be copied.
        if seen.event.name.kind() == ValueKind::Text && matches!(name, Cow::Owned(_)) {
            self.check_text(seen.event.name.of(seen.bytes), seen.offset);
        }
        let name = self.sink.name(&name)?;
        self.reach(track, start_ps, start_ps.saturating_add(duration_ps));
        let track = self.tracks.id(self.sink, track)?;
        let fields = self.row.values(std::mem::take(&mut self.room));
        let key = self.sink.slice(&SliceRecord { track, start_ps, duration_ps, name, form, fields: &fields });
        self.room = emptied(fields);
        key
    }

    /// Emits the row as a sample.
    pub(in crate::formats::trace_event) fn emit_sample(
        &mut self,
        track: TrackIndex,
        time_ps: i64,
        value: f64,
    ) -> Result<()> {
        self.reach(track, time_ps, time_ps);
        let track = self.tracks.id(self.sink, track)?;
        let fields = self.row.values(std::mem::take(&mut self.room));
        let result = self.sink.sample(track, time_ps, value, &fields);
        self.room = emptied(fields);
        result
    }

    fn check_text(&mut self, inside: &[u8], offset: u64) {
        if text::decode(inside, &mut String::new()) == Fidelity::Adjusted {
            self.warn(WarningKind::AdjustedValue, "a name that is not UTF-8; replaced by U+FFFD", offset);
        }
    }
}
