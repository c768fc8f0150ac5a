//! Slices in nprof's own export that were no slices of threads in the trace.
//!
//! Those of the device become what the runtime wrote: counters of 32 bits, and the times of the
//! host. So everything that follows from them is computed again. Asynchronous slices become their
//! begins and ends.

use nprof_engine::model::{FieldId, SliceForm, SliceRecord, Value};

use super::Translator;
use crate::formats::aiu::attribute::{BYTES, JOB};

/// Fields that follow from the counters, the name and the compiler's tables.
const COMPUTED: [&str; 3] = ["class", "cycles", "wraps"];
const OF_TABLES: [&str; 4] = ["category", "phase", "ideal_cycles", "pt_active"];

/// Keys of an asynchronous event that are fields of its slice.
const OF_PAIRS: [&str; 4] = ["id", "id2", "scope", "tid"];

/// Facts of a slice that are no arguments of the runtime.
#[derive(Debug, Default)]
pub(super) struct Restored<'f> {
    /// Duration by the clock of the host, in picoseconds.
    host_ps: Option<i64>,
    thread: &'f str,
    job: &'f str,
    cat: Option<String>,
    has_ideals: bool,
}

impl Translator<'_, '_> {
    /// Writes a slice of the device.
    pub(super) fn restore(&mut self, slice: &SliceRecord<'_>) {
        let mut of = Restored::default();
        let mut arguments: Vec<(&'static str, FieldId, Value<'_>)> = Vec::with_capacity(slice.fields.len());
        for &(field, value) in slice.fields {
            self.take(field, value, &mut of, &mut arguments);
        }
        self.has_ideals |= of.has_ideals;
        let end_ps = slice.start_ps.saturating_add(slice.duration_ps);
        let host_ps = of.host_ps.unwrap_or(slice.duration_ps);
        let is_unfinished = slice.form == SliceForm::Unfinished;
        // The slice ends when the host saw it end.
        let start_ps = if is_unfinished { slice.start_ps } else { end_ps.saturating_sub(host_ps) };
        let (name, ps) = (self.text(slice.name), self.time_ps(start_ps));
        let mut piece = std::mem::take(&mut self.piece);
        piece.at(self.place.get());
        piece.begin(if is_unfinished { "B" } else { "X" }, &name, ps);
        if !is_unfinished {
            piece.us("dur", host_ps.into());
        }
        if let Some(cat) = &of.cat {
            piece.text("cat", cat);
        }
        piece.member("pid", "0");
        match of.thread.parse::<i64>() {
            Ok(number) => piece.member("tid", &number.to_string()),
            Err(_) => piece.text("tid", of.thread),
        }
        piece.begin_arguments();
        piece.text(JOB, of.job);
        for (key, field, value) in arguments {
            let shared = self.shared(value);
            piece.value(if key.is_empty() { self.key(field) } else { key }, value, &shared);
        }
        piece.end_arguments();
        piece.end();
        self.piece = piece;
    }

    /// Writes an asynchronous slice: its begin and its end, which have its id.
    pub(super) fn pair(&mut self, slice: &SliceRecord<'_>) {
        let (keys, fields) = self.keys(slice.fields);
        let (of_event, arguments): (Vec<_>, Vec<_>) =
            fields.into_iter().partition(|(field, _)| OF_PAIRS.contains(&self.key(*field)));
        let end_ps = slice.start_ps.saturating_add(slice.duration_ps);
        let points = match slice.form {
            SliceForm::Complete => vec![("b", slice.start_ps), ("e", end_ps)],
            SliceForm::Instant => vec![(keys.phase.unwrap_or("n"), slice.start_ps)],
            SliceForm::Unfinished => vec![("b", slice.start_ps)],
        };
        let name = self.text(slice.name);
        let mut piece = std::mem::take(&mut self.piece);
        piece.at(self.place.get());
        for (at, (phase, time_ps)) in points.into_iter().enumerate() {
            piece.begin(phase, &name, self.time_ps(time_ps));
            if let Some(cat) = &keys.cat {
                piece.text("cat", cat);
            }
            self.tracks.place(slice.track, &mut piece);
            self.fields(&mut piece, &of_event);
            if at == 0 && !arguments.is_empty() {
                piece.begin_arguments();
                self.fields(&mut piece, &arguments);
                piece.end_arguments();
            }
            piece.end();
        }
        self.piece = piece;
    }

    /// Takes a field: as an argument of the runtime under its key, or under its own without one.
    fn take<'f>(
        &mut self,
        field: FieldId,
        value: Value<'f>,
        of: &mut Restored<'f>,
        arguments: &mut Vec<(&'static str, FieldId, Value<'f>)>,
    ) {
        const STAMPS: [(&str, &str); 5] =
            [("ts1", "TS1"), ("ts2", "TS2"), ("ts3", "TS3"), ("ts4", "TS4"), ("ts5", "TS5")];
        let key = self.fields.get(field.0 as usize).map_or("", String::as_str);
        let stamp = STAMPS.iter().find(|(of, _)| *of == key);
        match (key, value) {
            ("host_duration", Value::Int(ps)) => of.host_ps = Some(ps),
            ("thread", Value::Text(thread)) => of.thread = thread,
            ("job", Value::Text(job)) => of.job = job,
            ("cat", Value::Text(cat)) => of.cat = Some(cat.to_owned()),
            ("cat", Value::Name(cat)) => of.cat = Some(self.text(cat)),
            ("charge", charge) => arguments.push(("Power", field, charge)),
            ("bytes", bytes) => arguments.push((BYTES, field, bytes)),
            (_, Value::Int(cycles)) if let Some((_, key)) = stamp => {
                // The sum of a counter's overflows and the counter itself.
                arguments.push((key, field, Value::Int(cycles.rem_euclid(1 << 32))));
            }
            (key, _) if COMPUTED.contains(&key) => {}
            (key, _) if OF_TABLES.contains(&key) => of.has_ideals = true,
            _ => arguments.push(("", field, value)),
        }
    }
}
