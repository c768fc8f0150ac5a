//! Samples of counters, asynchronous slices and instants that the trace itself states.

use std::sync::Arc;

use nprof_engine::model::{OwnedValue, SliceForm};
use serde_json::Value as Json;

use super::args::Args;
use super::error::Result;
use super::event::{Each, Event};
use super::source::{TracePlace, into_json};

/// The first of the counters of slices of the device.
const FIRST_COUNTER: &str = "TS1";

/// Fields of a row with their names.
pub type NamedFields = Vec<(Arc<str>, OwnedValue)>;

/// Parts of a row that are keys of its event.
#[derive(Debug, Default)]
pub struct Own {
    /// Category.
    pub category: Option<String>,
    /// Id of an asynchronous slice.
    pub id: Option<Json>,
    /// Process, if the track does not tell it.
    pub pid: Option<Json>,
    /// Thread, if the track does not tell it.
    pub tid: Option<Json>,
    /// Number of the file, from 0.
    pub file: usize,
    /// The arguments.
    pub args: Args,
}

impl Own {
    /// Splits the fields of a row.
    #[must_use]
    pub fn of(fields: NamedFields) -> Self {
        let mut own = Self::default();
        for (key, value) in fields {
            own.take(key, value);
        }
        own
    }

    /// Whether an instant is what is left of a slice: an end without a begin, or a slice with a
    /// negative duration.
    #[must_use]
    pub fn is_of_slice(&self) -> bool {
        let is_negative = |duration: &Json| duration.as_f64().is_some_and(|us| us < 0.0);
        self.args["ph"] == "E" || is_negative(&self.args["dur"])
    }

    /// Whether the arguments have the first counter of a slice of the device.
    #[must_use]
    pub fn has_counters(&self) -> bool {
        self.args.contains_key(FIRST_COUNTER) || self.args["attr"].get(FIRST_COUNTER).is_some()
    }

    fn take(&mut self, key: Arc<str>, value: OwnedValue) {
        match (&*key, value) {
            ("cat", OwnedValue::Text(category)) => self.category = Some(category),
            ("file_number", OwnedValue::Text(number)) => self.file = number.parse().unwrap_or(0),
            ("id", value) => self.id = Some(into_json(value)),
            ("id2", value) => {
                let id = into_json(value);
                let inner = id.get("local").or_else(|| id.get("global")).cloned();
                self.id = Some(inner.unwrap_or(id));
            }
            ("pid", value) => self.pid = Some(into_json(value)),
            ("tid", value) => self.tid = Some(into_json(value)),
            (other, value) => {
                let inner = other.strip_prefix("args.").map(Arc::<str>::from);
                self.args.insert(inner.unwrap_or_else(|| key.clone()), into_json(value));
            }
        }
    }
}

/// Samples of one time: the series of a counter are one event.
#[derive(Debug, Default)]
pub struct Samples(Vec<Event>);

impl Samples {
    /// Takes a sample of a series of the counter at this place.
    pub fn take(&mut self, place: &TracePlace, pid: Json, time_ps: i128, own: Own, value: f64) {
        let mut own = own;
        let mut text = |key: &str, of_track: &str| {
            let stated = own.args.get(key).and_then(Json::as_str).map(str::to_owned);
            own.args.remove(key);
            stated.unwrap_or_else(|| of_track.to_owned())
        };
        let (counter, series) = (text("counter", &place.counter), text("series", &place.series));
        let number = text("counter_id", &place.counter_id);
        let value = match own.args.get("exact_value") {
            Some(Json::String(exact)) => serde_json::from_str(exact).unwrap_or_else(|_| whole(value)),
            Some(exact) => exact.clone(),
            None => whole(value),
        };
        let id = Some(Json::from(number)).filter(|number| *number != "");
        let is_its = |event: &&mut Event| {
            event.name == counter && event.pid == pid && event.id == id && !event.args.contains_key(&series)
        };
        if let Some(event) = self.0.iter_mut().find(is_its) {
            event.args.insert(Arc::<str>::from(series), value);
            return;
        }
        let mut event = Event::new('C', &counter, time_ps, pid);
        (event.category, event.id) = (Some(own.category.unwrap_or_default()), id);
        event.args.insert(Arc::<str>::from(series), value);
        self.0.push(event);
    }

    /// Writes the samples before the time changes.
    pub fn flush(&mut self, each: &mut Each<'_>) -> Result<()> {
        self.0.drain(..).try_for_each(|event| each(&event))
    }
}

/// A number without a fraction as an integer.
#[must_use]
pub fn whole(value: f64) -> Json {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        #[expect(clippy::cast_possible_truncation, reason = "checked above")]
        let whole = value as i64;
        return Json::from(whole);
    }
    Json::from(value)
}

/// The events of an asynchronous slice: begin and end, or one instant within.
pub fn asynchronous(mut event: Event, duration_ps: i64, form: SliceForm, each: &mut Each<'_>) -> Result<()> {
    event.phase = if form == SliceForm::Instant { 'n' } else { 'b' };
    each(&event)?;
    if form == SliceForm::Complete {
        let time_ps = event.time_ps + i128::from(duration_ps);
        each(&Event { phase: 'e', time_ps, args: Args::default(), ..event })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_of_a_counter_are_one_event() {
        let place = |series: &str| TracePlace {
            pid: Json::from(0),
            tid: Json::Null,
            counter: "queue".to_owned(),
            series: series.to_owned(),
            counter_id: String::new(),
        };
        let mut samples = Samples::default();
        for (series, value) in [("depth", 3.0), ("max", 4.5), ("depth", 5.0)] {
            samples.take(&place(series), Json::from(0), 7, Own::default(), value);
        }
        let mut found = Vec::new();
        let mut each = |event: &Event| {
            found.push(event.args.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>());
            Ok(())
        };
        samples.flush(&mut each).unwrap();
        assert_eq!(found, [vec!["depth=3", "max=4.5"], vec!["depth=5"]]);
    }
}
