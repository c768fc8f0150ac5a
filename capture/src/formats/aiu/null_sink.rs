//! A sink that drops everything, for a first look at a trace.

use nprof_engine::base::Result;
use nprof_engine::model::{
    FieldId, FieldSpec, Filled, FlowPoint, NameId, RankInfo, Sink, SliceKey, SliceRecord, TableId, TableSpec,
    TemplateId, TemplateValue, TrackId, TrackSpec, Value, WarningKind,
};

/// The sink. All ids are zero.
#[derive(Debug)]
pub(super) struct Silent;

impl Sink for Silent {
    fn name(&mut self, _: &str) -> Result<NameId> {
        Ok(NameId(0))
    }

    fn table(&mut self, _: TableSpec) -> Result<TableId> {
        Ok(TableId(0))
    }

    fn field(&mut self, _: TableId, _: FieldSpec) -> Result<FieldId> {
        Ok(FieldId(0))
    }

    fn track(&mut self, _: TrackSpec) -> Result<TrackId> {
        Ok(TrackId(0))
    }

    fn describe_track(&mut self, _: TrackId, _: TrackSpec) -> Result<()> {
        Ok(())
    }

    fn in_order(&mut self, _: TrackId) -> Result<()> {
        Ok(())
    }

    fn template(&mut self, _: TableId, _: &[(FieldId, TemplateValue)]) -> Result<TemplateId> {
        Ok(TemplateId(0))
    }

    fn slice(&mut self, slice: &SliceRecord<'_>) -> Result<SliceKey> {
        Ok(SliceKey { track: slice.track, arrival: 0 })
    }

    fn slice_by(&mut self, _: Filled<'_>, slice: &SliceRecord<'_>) -> Result<SliceKey> {
        self.slice(slice)
    }

    fn sample(&mut self, _: TrackId, _: i64, _: f64, _: &[(FieldId, Value<'_>)]) -> Result<()> {
        Ok(())
    }

    fn sample_by(&mut self, _: Filled<'_>, _: TrackId, _: i64, _: f64) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, _: TableId, _: &[(FieldId, Value<'_>)]) -> Result<()> {
        Ok(())
    }

    fn link(&mut self, _: SliceKey, _: SliceKey, _: NameId) -> Result<()> {
        Ok(())
    }

    fn flow_point(&mut self, _: FlowPoint) -> Result<()> {
        Ok(())
    }

    fn rank(&mut self, _: RankInfo) {}

    fn warn_times(&mut self, _: WarningKind, _: &str, _: u64, _: &dyn Fn() -> String) {}
}
