//! Transfers from rank to rank as slices: from the start of the send to the receipt of the data.

use rustc_hash::FxHashMap;

use super::shown;
use crate::analysis::{Job, Report, passages};
use crate::base::Result;
use crate::exec::Cancel;
use crate::makers::job::schema::Transfer;
use crate::model::track::Initially;
use crate::model::{Identity, NameId, Nesting, Sink, SliceForm, SliceRecord, TrackId, TrackSpec, Value};

/// Writes the transfers of all operations in `order`, on a track for each rank that sends.
/// `numbers` has the number of each operation.
pub(super) fn write(
    job: &Job,
    report: &Report,
    order: &[usize],
    numbers: &[u32],
    sink: &mut dyn Sink,
    cancel: Cancel<'_>,
) -> Result<()> {
    if job.ranks.iter().all(|rank| rank.rest.transfers.is_empty()) {
        return Ok(());
    }
    let of = Transfer::define(sink)?;
    let all = TrackSpec { initially: Initially::Closed, ..TrackSpec::group("Transfers", None, 3) };
    let all = sink.track(all)?;
    let mut tracks: FxHashMap<usize, TrackId> = FxHashMap::default();
    let mut names: FxHashMap<usize, NameId> = FxHashMap::default();
    for &at in order {
        cancel.check()?;
        for one in passages(job, report, at) {
            let [from, to] = [one.from, one.to].map(|rank| job.ranks[rank].rank);
            let track = match tracks.get(&one.from) {
                Some(&track) => track,
                None => {
                    let title = format!("Rank {from} sends");
                    let spec =
                        TrackSpec::slices(&title, Some(all), of.table, Nesting::Concurrent, from.into());
                    *tracks.entry(one.from).or_insert(sink.track(spec.showing(Identity::default()))?)
                }
            };
            let name = match names.get(&one.to) {
                Some(&name) => name,
                None => *names.entry(one.to).or_insert(sink.name(&format!("to rank {to}"))?),
            };
            let [start_ps, end_ps] = [one.sent_ps, one.received_ps].map(shown);
            let fields = [
                (of.operation, Value::Int(numbers[at].into())),
                (of.from_rank, Value::Int(from.into())),
                (of.to_rank, Value::Int(to.into())),
                (of.received, Value::Int(end_ps.saturating_sub(start_ps))),
                (of.from_row, Value::Int(one.rows.0.into())),
                (of.to_row, Value::Int(one.rows.1.into())),
            ];
            // Clocks can be wrong by more than a transfer takes.
            let duration_ps = end_ps.saturating_sub(start_ps).max(0);
            let form = SliceForm::Complete;
            sink.slice(&SliceRecord { track, start_ps, duration_ps, name, form, fields: &fields })?;
        }
    }
    Ok(())
}
