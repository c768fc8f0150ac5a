//! Calls of ranks as slices: the waiting part first, then the transfer.

use super::awaited_rank::Awaited;
use super::names::SegmentNames;
use super::{shown, span_of};
use crate::analysis::{Job, Report};
use crate::base::{Interval, Result};
use crate::makers::job::schema::Call;
use crate::model::{NameId, Sink, SliceForm, SliceRecord, TrackId, Value};

/// Writes the slices of calls.
pub(super) struct CallWriter<'a> {
    pub(super) job: &'a Job,
    pub(super) report: &'a Report,
    pub(super) sink: &'a mut dyn Sink,
    pub(super) of: Call,
    pub(super) names: &'a SegmentNames,
}

impl CallWriter<'_> {
    /// Writes a call of a rank: its wait, if there is one, and its transfer.
    pub(super) fn call(
        &mut self,
        rank: usize,
        call: usize,
        track: TrackId,
        number: u32,
        awaited: Option<Awaited>,
    ) -> Result<()> {
        let calls = &self.job.ranks[rank].calls;
        let span = span_of(self.job, self.report, rank, call);
        let until = awaited.map_or(span.start.0, |awaited| awaited.until(rank, span));
        let [start, until, end] = [span.start.0, until, span.end.0].map(shown);
        let name = self.names.kinds[calls.signatures[call] as usize].0;
        if let Some(awaited) = awaited.filter(|_| until > start) {
            let waiting = Interval::new(start, until);
            self.slice(rank, call, track, number, waiting, self.names.waits[awaited.rank])?;
        }
        self.slice(rank, call, track, number, Interval::new(until, end), name)
    }

    fn slice(
        &mut self,
        rank: usize,
        call: usize,
        track: TrackId,
        number: u32,
        during: Interval,
        name: NameId,
    ) -> Result<()> {
        let rank = &self.job.ranks[rank];
        let fields = [
            (self.of.operation, Value::Int(number.into())),
            (self.of.rank, Value::Int(rank.rank.into())),
            (self.of.row, Value::Int(rank.calls.rows[call].into())),
        ];
        let (start_ps, duration_ps) = (during.start.0, during.duration_ps());
        let form = SliceForm::Complete;
        self.sink.slice(&SliceRecord { track, start_ps, duration_ps, name, form, fields: &fields })?;
        Ok(())
    }
}
