//! Runs: rows of one ordered track that a relay sends together. Each row has a template and no
//! fields of its own. The builder takes a run column by column; row by row costs several times as
//! much.

use crate::model::{NameId, NumberBits, SliceForm, TemplateId, TrackId};

/// Rows of a track in their order.
#[derive(Debug)]
pub struct TrackRun {
    /// The track, whose rows are promised to be in order.
    pub track: TrackId,
    /// The rows.
    pub rows: Vec<RunRow>,
    /// Numeric values of the rows, row by row.
    pub numbers: Vec<NumberBits>,
}

/// A slice or a sample without its numeric values.
#[derive(Debug, Clone, Copy)]
pub struct RunRow {
    /// Start of a slice, or time of a sample.
    pub start_ps: i64,
    /// Duration of a slice, or bits of a sample's value.
    pub second: i64,
    /// Name of a slice.
    pub name: NameId,
    /// Template of the fields.
    pub template: TemplateId,
    /// Form of a slice.
    pub form: SliceForm,
}

impl RunRow {
    /// Value of a sample.
    pub fn value(&self) -> f64 {
        f64::from_bits(self.second.cast_unsigned())
    }
}

/// Times of a row.
#[derive(Debug, Clone, Copy, Default)]
pub struct RowTimes {
    pub start_ps: i64,
    /// 0 for samples.
    pub duration_ps: i64,
}

impl TrackRun {
    /// Creates an empty run.
    pub fn new(track: TrackId) -> Self {
        Self { track, rows: Vec::new(), numbers: Vec::new() }
    }

    /// Latest end, if each row is as the builder stores it: its times are within `limit_ps` of zero
    /// and it is not before the row before it. `last` has the times of the row before the run,
    /// and then those of its last row.
    pub fn check(rows: &[RunRow], is_slices: bool, limit_ps: i64, last: &mut RowTimes) -> Option<i64> {
        let (mut is_fit, mut latest) = (true, i64::MIN);
        let (mut start, mut duration) = (last.start_ps, last.duration_ps);
        for row in rows {
            let duration_ps = if is_slices { row.second } else { 0 };
            let end_ps = row.start_ps.wrapping_add(duration_ps);
            is_fit &= row.start_ps >= -limit_ps && row.start_ps <= limit_ps;
            is_fit &= (0..=limit_ps).contains(&duration_ps) && end_ps <= limit_ps;
            is_fit &= row.start_ps > start || row.start_ps == start && duration_ps <= duration;
            (start, duration) = (row.start_ps, duration_ps);
            latest = latest.max(end_ps);
        }
        *last = RowTimes { start_ps: start, duration_ps: duration };
        is_fit.then_some(latest)
    }
}
