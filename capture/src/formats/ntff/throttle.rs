//! Throttling. Each record opens a period that the next one ends.

use nprof_engine::model::{SliceForm, SliceRecord, TrackId, Value, WarningKind};

use super::core::{CoreProgram, NtffOutput};
use super::record::{DeviceRecord, SegmentKind, records};
use crate::error::Error;
use nprof_engine::makers::neuron::schema::{Ham, UNTHROTTLED_KIND, throttle_reason};

/// Payload of a record that ends throttling.
const FULL_SPEED: u32 = 0x80;

/// Reads throttle segments into table `ham`. The last period reaches to `last_ps`, the end of the
/// last instruction.
pub fn read(
    core: &CoreProgram<'_>,
    bytes: &[u8],
    last_ps: i64,
    out: &mut NtffOutput<'_>,
) -> Result<(), Error> {
    let segment = SegmentKind::Throttle.title();
    let mut writer: Option<ThrottleWriter> = None;
    let mut open: Option<(i64, DeviceRecord)> = None;
    for (number, record) in records(bytes) {
        out.record_read();
        let Some(ps) = core.clocks.throttle_ps(record.ticks) else {
            out.damaged("a throttle record without a clock, or with a time out of range", segment, number);
            continue;
        };
        let time_ps = ps - core.origin_ps;
        if writer.is_none() {
            let handles = Ham::define(out.sink)?;
            let track = out.tracks.throttling(out.sink, core.number)?;
            writer = Some(ThrottleWriter { handles, track });
        }
        if let (Some((start_ps, period)), Some(writer)) = (open.replace((time_ps, record)), &writer) {
            if time_ps < start_ps {
                out.sink.warn(
                    WarningKind::AdjustedValue,
                    "throttle records that are not in order of time",
                    &|| format!("record {number} of the {segment} segment"),
                );
            }
            writer.write(start_ps, time_ps, &period, out)?;
        }
    }
    if let (Some((start_ps, period)), Some(writer)) = (open, writer) {
        writer.write(start_ps, last_ps, &period, out)?;
    }
    Ok(())
}

/// Writes the periods of a core.
struct ThrottleWriter {
    handles: Ham,
    track: TrackId,
}

impl ThrottleWriter {
    fn write(
        &self,
        start_ps: i64,
        end_ps: i64,
        record: &DeviceRecord,
        out: &mut NtffOutput<'_>,
    ) -> Result<(), Error> {
        let &Self { handles, track } = self;
        let (k, n, kind) = if record.payload == FULL_SPEED {
            (1, 1, UNTHROTTLED_KIND)
        } else {
            (i64::from(record.payload & 0x7f), i64::from(record.middle), 0)
        };
        let name = out.sink.name(&throttle_reason(kind))?;
        let fields =
            [(handles.k, Value::Int(k)), (handles.n, Value::Int(n)), (handles.kind, Value::Int(kind))];
        // Periods before the origin are kept, so the difference can pass the range of valid times.
        let duration_ps = end_ps.saturating_sub(start_ps).max(0);
        let slice =
            SliceRecord { track, start_ps, duration_ps, name, form: SliceForm::Complete, fields: &fields };
        out.sink.slice(&slice)?;
        Ok(())
    }
}
