//! A sink that counts events and ends the reading when the ingest is cancelled.

use nprof_engine::base::Result;
use nprof_engine::model::{
    FieldId, FieldSpec, Filled, FlowPoint, NameId, RankInfo, Schedule, Sink, SliceKey, SliceRecord, TableId,
    TableSpec, TemplateId, TemplateValue, TrackId, TrackSpec, Value, WarningKind,
};

use crate::work::Meter;

/// Events between two updates of the meter, so that threads do not compete for its cache line.
const STRIDE: u64 = 1024;

/// Counts slices, instants and samples.
pub(super) struct CountingSink<'a> {
    inner: &'a mut dyn Sink,
    meter: &'a Meter,
    pending: u64,
    /// Calls since the last look at the meter, besides those that are counted.
    others: u64,
}

impl<'a> CountingSink<'a> {
    pub(super) fn new(inner: &'a mut dyn Sink, meter: &'a Meter) -> Self {
        Self { inner, meter, pending: 0, others: 0 }
    }

    fn count(&mut self) -> Result<()> {
        self.pending += 1;
        if self.pending < STRIDE {
            return Ok(());
        }
        self.meter.add_events(std::mem::take(&mut self.pending));
        self.meter.check()
    }

    /// Looks at the meter from time to time, for calls that bring no event.
    fn other(&mut self) -> Result<()> {
        self.others += 1;
        if self.others < STRIDE {
            return Ok(());
        }
        self.others = 0;
        self.meter.check()
    }
}

impl Drop for CountingSink<'_> {
    fn drop(&mut self) {
        self.meter.add_events(self.pending);
    }
}

impl Sink for CountingSink<'_> {
    fn name(&mut self, text: &str) -> Result<NameId> {
        self.inner.name(text)
    }

    fn table(&mut self, spec: TableSpec) -> Result<TableId> {
        self.other()?;
        self.inner.table(spec)
    }

    fn field(&mut self, table: TableId, spec: FieldSpec) -> Result<FieldId> {
        self.other()?;
        self.inner.field(table, spec)
    }

    fn track(&mut self, spec: TrackSpec) -> Result<TrackId> {
        self.other()?;
        self.inner.track(spec)
    }

    fn describe_track(&mut self, track: TrackId, spec: TrackSpec) -> Result<()> {
        self.other()?;
        self.inner.describe_track(track, spec)
    }

    fn in_order(&mut self, track: TrackId) -> Result<()> {
        self.inner.in_order(track)
    }

    fn schedule(&mut self, table: TableId, schedule: Schedule) -> Result<()> {
        self.other()?;
        self.inner.schedule(table, schedule)
    }

    fn template(&mut self, table: TableId, parts: &[(FieldId, TemplateValue)]) -> Result<TemplateId> {
        self.other()?;
        self.inner.template(table, parts)
    }

    fn slice(&mut self, slice: &SliceRecord<'_>) -> Result<SliceKey> {
        self.count()?;
        self.inner.slice(slice)
    }

    fn slice_by(&mut self, filled: Filled<'_>, slice: &SliceRecord<'_>) -> Result<SliceKey> {
        self.count()?;
        self.inner.slice_by(filled, slice)
    }

    fn sample(
        &mut self,
        track: TrackId,
        time_ps: i64,
        value: f64,
        fields: &[(FieldId, Value<'_>)],
    ) -> Result<()> {
        self.count()?;
        self.inner.sample(track, time_ps, value, fields)
    }

    fn sample_by(&mut self, filled: Filled<'_>, track: TrackId, time_ps: i64, value: f64) -> Result<()> {
        self.count()?;
        self.inner.sample_by(filled, track, time_ps, value)
    }

    fn row(&mut self, table: TableId, fields: &[(FieldId, Value<'_>)]) -> Result<()> {
        self.other()?;
        self.inner.row(table, fields)
    }

    fn link(&mut self, from: SliceKey, to: SliceKey, name: NameId) -> Result<()> {
        self.other()?;
        self.inner.link(from, to, name)
    }

    fn flow_point(&mut self, point: FlowPoint) -> Result<()> {
        self.other()?;
        self.inner.flow_point(point)
    }

    fn rank(&mut self, info: RankInfo) {
        self.inner.rank(info);
    }

    fn warn_times(&mut self, kind: WarningKind, what: &str, count: u64, place: &dyn Fn() -> String) {
        self.inner.warn_times(kind, what, count, place);
    }
}

#[cfg(test)]
mod tests {
    use nprof_engine::fixture::Recorder;
    use nprof_engine::model::TableKind;

    use super::*;

    #[test]
    fn events_are_counted_and_a_cancelled_ingest_ends() {
        let meter = Meter::default();
        let mut recorder = Recorder::default();
        let mut sink = CountingSink::new(&mut recorder, &meter);
        let spec = TableSpec::new("c", TableKind::Samples, "");
        let table = sink.table(spec).unwrap();
        let unit = nprof_engine::model::Unit::None;
        let track = sink.track(TrackSpec::counter("c", None, table, unit, 0)).unwrap();
        for at in 0..10 {
            sink.sample(track, at, 1.0, &[]).unwrap();
        }
        drop(sink);
        assert_eq!(meter.events(), 10);
        meter.cancel();
        let mut sink = CountingSink::new(&mut recorder, &meter);
        let ended = (0..=STRIDE).find_map(|at| sink.sample(track, at.cast_signed(), 1.0, &[]).err());
        assert_eq!(ended, Some(nprof_engine::base::Error::Cancelled));
    }
}
