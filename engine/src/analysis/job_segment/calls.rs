//! Calls of ranks as slices: the waiting part first, then the transfer.

use super::awaited_rank::Awaited;
use super::names::SegmentNames;
use super::{shown, span_of};
use crate::analysis::{Job, Report};
use crate::base::Result;
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
        let (start, end) = span_of(self.job, self.report, rank, call);
        let until = awaited.map_or(start, |awaited| awaited.until(rank, (start, end)));
        let [start, until, end] = [start, until, end].map(shown);
        let name = self.names.kinds[calls.signatures[call] as usize].0;
        if let Some(awaited) = awaited.filter(|_| until > start) {
            self.slice(rank, call, track, number, (start, until), self.names.waits[awaited.rank])?;
        }
        self.slice(rank, call, track, number, (until, end), name)
    }

    fn slice(
        &mut self,
        rank: usize,
        call: usize,
        track: TrackId,
        number: u32,
        (start_ps, end_ps): (i64, i64),
        name: NameId,
    ) -> Result<()> {
        let rank = &self.job.ranks[rank];
        let fields = [
            (self.of.operation, Value::Int(number.into())),
            (self.of.rank, Value::Int(rank.rank.into())),
            (self.of.row, Value::Int(rank.calls.rows[call].into())),
        ];
        let duration_ps = end_ps.saturating_sub(start_ps);
        let form = SliceForm::Complete;
        self.sink.slice(&SliceRecord { track, start_ps, duration_ps, name, form, fields: &fields })?;
        Ok(())
    }
}
