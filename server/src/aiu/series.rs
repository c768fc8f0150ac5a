//! Counters as acelyzer writes them.

use std::collections::HashMap;

use nprof_engine::makers::aiu::CounterKind;
use nprof_engine::makers::aiu::schema::COUNTERS;
use nprof_engine::model::TrackId;
use nprof_engine::native::SegmentFile;
use serde_json::Value as Json;

use super::args::Args;
use super::event::Event;
use super::form::{EventForm, Series};
use super::host::whole;
use super::source::Source;

/// A counter of an output.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenCounter {
    name: String,
    category: &'static str,
    key: &'static str,
    /// Stored units of one written unit.
    unit: f64,
    /// The device of several ones of the rank.
    device: Option<u32>,
}

/// The counters that nprof computes and the form shows, by track.
#[must_use]
pub fn of(segment: &SegmentFile, form: &EventForm) -> HashMap<TrackId, WrittenCounter> {
    let tracks = (0..).map(TrackId).zip(&segment.footer().tracks);
    tracks.filter_map(|(track, _)| Some((track, of_track(segment, track, form)?))).collect()
}

/// The counter of a track; `None` if the track is none, or the form leaves it out.
fn of_track(segment: &SegmentFile, track: TrackId, form: &EventForm) -> Option<WrittenCounter> {
    let table = segment.table_of(track)?;
    let footer = segment.footer();
    if footer.tables[usize::from(table.0)].spec.name != COUNTERS.name {
        return None;
    }
    let spec = &footer.tracks[track.0 as usize].spec;
    let (counter, device) = match CounterKind::of_title(&spec.name) {
        Some((counter, device)) => (Some(counter), device),
        None => (None, None),
    };
    let written = |name: &str, category, key, unit| WrittenCounter {
        name: name.to_owned(),
        category,
        key,
        unit,
        device,
    };
    let (series, written) = match counter {
        Some(CounterKind::Power) => (Series::PowerTs4, written("Power", "Power4", "Watts", 1.0)),
        Some(CounterKind::PtActive) => (Series::RcuUtil, written("PT Active", "", "Percent", 0.01)),
        Some(CounterKind::ConcurrentPreps) => {
            let category = "Pending Prep Events";
            (Series::PrepQueue, written("ConcurrentPreps", category, "Concurrency", 1.0))
        }
        Some(CounterKind::DataInRate) => (Series::Bandwidth, written("BW DmaI", "", "Bytes", 1e6)),
        Some(CounterKind::DataOutRate) => (Series::Bandwidth, written("BW DmaO", "", "Bytes", 1e6)),
        // The traces of PyTorch state this rate, so no choice is about it.
        Some(CounterKind::TransferRate) => return Some(written("TransferBW", "", "GB/s", 1e9)),
        Some(CounterKind::PowerOf(_)) | None => {
            let name = format!("Power {}", spec.name);
            (Series::PowerTs3, written(&name, "Power3", "Watts", 1.0))
        }
    };
    form.shows(series).then_some(written)
}

impl WrittenCounter {
    /// A sample of the counter of a rank.
    #[must_use]
    pub fn event(&self, source: &Source<'_>, time_ps: i64, value: f64) -> Event {
        let pid = self.pid(source);
        let mut args = Args::default();
        args.insert(self.key, whole(value / self.unit));
        let category = Some(self.category.to_owned());
        Event { category, args, ..Event::new('C', &self.name, source.time(time_ps), Json::from(pid)) }
    }

    /// Whether this is the counter of this name and process.
    #[must_use]
    pub fn is(&self, name: &str, pid: i64, source: &Source<'_>) -> bool {
        self.name == name && self.pid(source) == pid
    }

    fn pid(&self, source: &Source<'_>) -> i64 {
        let of_device = self.device.map(|device| source.device(device.into()));
        of_device.unwrap_or_else(|| i64::from(source.rank))
    }
}
