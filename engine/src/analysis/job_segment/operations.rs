//! Operations as slices: the waiting part first, then the transfer.

use super::awaited_rank::Awaited;
use super::names::SegmentNames;
use super::shown;
use super::tracks::SegmentTracks;
use crate::analysis::table::rates;
use crate::analysis::{InstanceReport, Job, Presence, Report, algorithm};
use crate::base::{Interval, Result, clamped, signed};
use crate::makers::job::schema::{COMPLETE, Operation};
use crate::model::{FieldId, NameId, Sink, SliceForm, SliceRecord, TrackId, Value};

/// Writes the slices of operations.
pub(super) struct OperationWriter<'a> {
    pub(super) sink: &'a mut dyn Sink,
    pub(super) tracks: &'a SegmentTracks,
    pub(super) fields: OperationFields<'a>,
}

impl OperationWriter<'_> {
    /// Writes an operation.
    pub(super) fn operation(&mut self, number: u32, at: usize, awaited: Option<Awaited>) -> Result<()> {
        let OperationFields { job, report, names, .. } = self.fields;
        let one = &report.operations[at];
        let signature = one.signature as usize;
        let kind = job.signatures[signature].kind;
        let Some(&track) = self.tracks.operations.get(&(one.group, kind)) else { return Ok(()) };
        let fields = self.fields.of(number, at);
        let (first, end) = (one.span.first_ps, one.span.end_ps.max(one.span.first_ps));
        let last = one.span.last_ps.clamp(first, end);
        let [first, last, end] = [first, last, end].map(shown);
        let name = names.kinds[signature].0;
        if let Some(awaited) = awaited.filter(|_| last > first && one.wait_ps > 0) {
            let of_wait = [fields[0]];
            self.slice(track, Interval::new(first, last), names.waits[awaited.rank], &of_wait)?;
            self.slice(track, Interval::new(last, end), name, &fields)
        } else {
            self.slice(track, Interval::new(first, end), name, &fields)
        }
    }

    fn slice(
        &mut self,
        track: TrackId,
        during: Interval,
        name: NameId,
        fields: &[(FieldId, Value<'_>)],
    ) -> Result<()> {
        let (start_ps, duration_ps) = (during.start.0, during.duration_ps());
        self.sink.slice(&SliceRecord {
            track,
            start_ps,
            duration_ps,
            name,
            form: SliceForm::Complete,
            fields,
        })?;
        Ok(())
    }
}

/// Makes the fields of operations.
pub(super) struct OperationFields<'a> {
    pub(super) job: &'a Job,
    pub(super) report: &'a Report,
    pub(super) of: Operation,
    pub(super) names: &'a SegmentNames,
}

impl<'a> OperationFields<'a> {
    /// The fields of an operation.
    pub(super) fn of(&self, number: u32, at: usize) -> Vec<(FieldId, Value<'a>)> {
        let (job, of, one) = (self.job, &self.of, &self.report.operations[at]);
        let signature = &job.signatures[one.signature as usize];
        let calls = self.report.instances.count(at);
        let (kind, dtype) = self.names.kinds[one.signature as usize];
        let (group, members) = self.names.groups[one.group as usize];
        let mut fields = vec![
            (of.operation, Value::Int(number.into())),
            (of.kind, Value::Name(kind)),
            (of.group, Value::Name(group)),
            (of.members, Value::Name(members)),
        ];
        if !signature.dtype.is_empty() {
            fields.push((of.dtype, Value::Name(dtype)));
        }
        if let Some(algorithm) = algorithm(job, self.report, at) {
            fields.push((of.algorithm, Value::Text(algorithm)));
        }
        if signature.bytes > 0 {
            fields.push((of.bytes, Value::Int(clamped(signature.bytes))));
        }
        if let Some(step) = one.step {
            fields.push((of.step, Value::Int(step.into())));
        }
        fields.push((of.calls, Value::Int(signed(calls))));
        fields.push((of.state, Value::Text(state(one))));
        let mut rank = |field, position: Option<usize>| {
            if let Some(rank) = position.and_then(|at| job.ranks.get(at)) {
                fields.push((field, Value::Int(rank.rank.into())));
            }
        };
        rank(of.first_rank, one.first.filter(|_| one.last.is_some()).map(|first| first as usize));
        rank(of.last_rank, one.last.map(|last| last as usize));
        rank(of.root, one.root.map(|root| root as usize));
        let span = one.span;
        if one.last.is_some() {
            fields.push((of.spread, Value::Int(span.last_ps.saturating_sub(span.first_ps))));
            fields.push((of.margin, Value::Int(span.last_ps.saturating_sub(span.second_last_ps))));
            fields.push((of.wait, Value::Int(one.wait_ps)));
        }
        fields.push((of.transfer, Value::Int(one.transfer_ps())));
        if let Some(rates) = rates(job, one) {
            fields.push((of.algorithm_rate, Value::Float(rates.algorithm)));
            fields.push((of.algorithm_rate_with_wait, Value::Float(rates.algorithm_with_wait)));
            fields.push((of.bus_rate, Value::Float(rates.bus)));
            fields.push((of.bus_rate_with_wait, Value::Float(rates.bus_with_wait)));
        }
        fields
    }
}

/// A time in whole picoseconds.
#[expect(clippy::cast_possible_truncation, reason = "times of a job fit, and a cast saturates")]
pub(super) fn rounded(ps: f64) -> i64 {
    ps.round() as i64
}

/// The members that are present, in words.
fn state(one: &InstanceReport) -> &'static str {
    match (one.state.presence, one.state.has_other_kind, one.state.has_other_size) {
        (_, true, _) => "kinds differ",
        (_, _, true) => "sizes differ",
        (Presence::GroupUnknown, ..) => "group unknown",
        (Presence::Complete, ..) => COMPLETE,
        (Presence::Partial, ..) => "other ranks not recorded",
        (Presence::Lost, ..) => "a member's call was not recorded",
        (Presence::MissingAtEnd, ..) => "a member does not come",
    }
}
