//! Operations and calls as slices: the waiting part first, then the transfer.

use super::tracks::{Tracks, members};
use crate::analysis::arrival::Arrival;
use crate::analysis::table::rates;
use crate::analysis::{InstanceReport, Job, Presence, Report};
use crate::base::Result;
use crate::model::{FieldId, Form, NameId, Sink, SliceKey, SliceRecord, TrackId, Value, Waiting};
use crate::vendor::joint::schema::{Call, Operation};

/// Writes the slices of operations.
pub(super) struct Writer<'a> {
    job: &'a Job,
    report: &'a Report,
    sink: &'a mut dyn Sink,
    tracks: Tracks,
    operation: Operation,
    call: Call,
    /// For each signature the name of its kind, and the name of its type of elements.
    kinds: Vec<(NameId, NameId)>,
    /// For each group its name and its members.
    groups: Vec<(NameId, NameId)>,
    /// For each rank the name of waiting for it.
    waits: Vec<NameId>,
    /// Name of the arrows from the end of a wait to the arrival that ended it.
    arrival: NameId,
}

/// Fields of a slice.
type Fields<'v> = Vec<(FieldId, Value<'v>)>;

impl<'a> Writer<'a> {
    /// Defines tables, tracks and names.
    pub(super) fn new(job: &'a Job, report: &'a Report, sink: &'a mut dyn Sink) -> Result<Self> {
        let operation = Operation::define(sink)?;
        let call = Call::define(sink)?;
        let tracks = Tracks::define(job, report, (operation.table, call.table), sink)?;
        let mut kinds = Vec::new();
        for signature in &job.signatures {
            kinds.push((sink.name(signature.kind.name())?, sink.name(&signature.dtype)?));
        }
        let mut groups = Vec::new();
        for group in &job.groups {
            groups.push((sink.name(&group.communicator.name)?, sink.name(&members(group))?));
        }
        let mut waits = Vec::new();
        for rank in &job.ranks {
            waits.push(sink.name(&format!("wait for rank {}", rank.rank))?);
        }
        let arrival = sink.name("arrival")?;
        Ok(Self { job, report, sink, tracks, operation, call, kinds, groups, waits, arrival })
    }

    /// Writes an operation and its calls.
    pub(super) fn operation(&mut self, number: i64, at: usize) -> Result<()> {
        let one = &self.report.operations[at];
        let arrivals = self.report.arrivals(self.job, at);
        let awaited = self.awaited(one, &arrivals);
        self.whole(number, one, &arrivals, awaited)?;
        let mut cause = None;
        let mut waits = Vec::new();
        for arrival in &arrivals {
            let (wait, transfer) = self.call(number, one, arrival, awaited)?;
            if Some(arrival.member.rank) == awaited {
                cause = Some(transfer);
            }
            waits.extend(wait);
        }
        if let Some(cause) = cause {
            for wait in waits {
                self.sink.link(wait, cause, self.arrival)?;
            }
        }
        Ok(())
    }

    /// Position of the rank that the others wait for.
    fn awaited(&self, one: &InstanceReport, arrivals: &[Arrival]) -> Option<usize> {
        let root = one.root.map(|root| root as usize);
        match self.job.signatures[one.signature as usize].kind.waiting() {
            Waiting::ForAll => one.last.map(|last| last as usize),
            Waiting::ForRoot => root,
            Waiting::RootForAll => arrivals
                .iter()
                .filter(|arrival| Some(arrival.member.rank) != root)
                .min_by_key(|arrival| arrival.start_ps)
                .map(|arrival| arrival.member.rank),
        }
    }

    /// The operation over all ranks.
    fn whole(
        &mut self,
        number: i64,
        one: &InstanceReport,
        arrivals: &[Arrival],
        awaited: Option<usize>,
    ) -> Result<()> {
        let kind = self.job.signatures[one.signature as usize].kind;
        let Some(&track) = self.tracks.operations.get(&(one.group, kind)) else { return Ok(()) };
        let fields = self.fields_of(number, one, arrivals);
        let (first, end) = (one.span.first_ps, one.span.end_ps.max(one.span.first_ps));
        let last = one.span.last_ps.clamp(first, end);
        if let Some(awaited) = awaited.filter(|_| last > first && one.wait_ps > 0) {
            let of_wait = [fields[0]];
            self.slice(track, (first, last), self.waits[awaited], &of_wait)?;
            self.slice(track, (last, end), self.kinds[one.signature as usize].0, &fields)?;
        } else {
            self.slice(track, (first, end), self.kinds[one.signature as usize].0, &fields)?;
        }
        Ok(())
    }

    fn fields_of(&self, number: i64, one: &InstanceReport, arrivals: &[Arrival]) -> Fields<'static> {
        let (job, of) = (self.job, &self.operation);
        let signature = &job.signatures[one.signature as usize];
        let (kind, dtype) = self.kinds[one.signature as usize];
        let (group, members) = self.groups[one.group as usize];
        let mut fields = vec![
            (of.operation, Value::Int(number)),
            (of.kind, Value::Name(kind)),
            (of.group, Value::Name(group)),
            (of.members, Value::Name(members)),
        ];
        if !signature.dtype.is_empty() {
            fields.push((of.dtype, Value::Name(dtype)));
        }
        if signature.bytes > 0 {
            fields.push((of.bytes, Value::Int(i64::try_from(signature.bytes).unwrap_or(i64::MAX))));
        }
        if one.step > 0 {
            fields.push((of.step, Value::Int(one.step.into())));
        }
        fields.push((of.calls, Value::Int(i64::try_from(arrivals.len()).unwrap_or(i64::MAX))));
        fields.push((of.state, Value::Text(state(one))));
        let mut rank = |field, position: Option<usize>| {
            if let Some(rank) = position.and_then(|at| job.ranks.get(at)) {
                fields.push((field, Value::Int(rank.rank.into())));
            }
        };
        let first = arrivals.iter().min_by_key(|arrival| arrival.start_ps);
        rank(of.first_rank, first.map(|arrival| arrival.member.rank).filter(|_| one.last.is_some()));
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
            fields.push((of.bus_rate, Value::Float(rates.bus)));
            fields.push((of.bus_rate_with_wait, Value::Float(rates.bus_with_wait)));
        }
        fields
    }

    /// The call of a rank: its wait, if there is one, and its transfer.
    fn call(
        &mut self,
        number: i64,
        one: &InstanceReport,
        arrival: &Arrival,
        awaited: Option<usize>,
    ) -> Result<(Option<SliceKey>, SliceKey)> {
        let rank = &self.job.ranks[arrival.member.rank];
        let track = self.tracks.ranks[arrival.member.rank];
        let of = self.call;
        let (start, end) = (arrival.start_ps, arrival.end_ps.max(arrival.start_ps));
        let until = start.saturating_add(arrival.wait_ps).min(end);
        let call = [
            (of.operation, Value::Int(number)),
            (of.rank, Value::Int(rank.rank.into())),
            (of.row, Value::Int(rank.calls.rows[arrival.member.call].into())),
        ];
        let mut wait = None;
        if let Some(awaited) = awaited.filter(|_| until > start) {
            wait = Some(self.slice(track, (start, until), self.waits[awaited], &call)?);
        }
        let [operation, own, row] = call;
        let fields = [
            operation,
            own,
            row,
            (of.late, Value::Int(start.saturating_sub(one.span.first_ps))),
            (of.wait, Value::Int(arrival.wait_ps)),
            (of.blame, Value::Int(rounded(arrival.blame_ps))),
        ];
        let name = self.kinds[rank.calls.signatures[arrival.member.call] as usize].0;
        Ok((wait, self.slice(track, (until, end), name, &fields)?))
    }

    fn slice(
        &mut self,
        track: TrackId,
        (start_ps, end_ps): (i64, i64),
        name: NameId,
        fields: &[(FieldId, Value<'_>)],
    ) -> Result<SliceKey> {
        let duration_ps = end_ps.saturating_sub(start_ps);
        self.sink.slice(&SliceRecord { track, start_ps, duration_ps, name, form: Form::Complete, fields })
    }
}

/// A time in whole picoseconds.
#[expect(clippy::cast_possible_truncation, reason = "times of a job fit, and a cast saturates")]
pub(super) fn rounded(ps: f64) -> i64 {
    ps.round() as i64
}

/// Who is there, in words.
fn state(one: &InstanceReport) -> &'static str {
    match (one.state.presence, one.state.has_other_kind, one.state.has_other_size) {
        (_, true, _) => "kinds differ",
        (_, _, true) => "sizes differ",
        (Presence::GroupUnknown, ..) => "group unknown",
        (Presence::Complete, ..) => "complete",
        (Presence::Partial, ..) => "other ranks not recorded",
        (Presence::Lost, ..) => "a member's call is lost",
        (Presence::MissingAtEnd, ..) => "a member does not come",
    }
}
