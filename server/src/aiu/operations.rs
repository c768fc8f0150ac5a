//! Slices of whole collective operations, with acelyzer's keys.

use std::collections::BTreeMap;

use nprof_engine::makers::aiu::schema::{AiuCollectiveRow, COLLECTIVES};
use nprof_engine::model::{CollectiveKind, NameId};
use nprof_engine::query::{RowContent, RowOrder, for_each_timed};
use serde_json::Value as Json;

use super::error::{AiuError, Result};
use super::event::{Event, HOST};
use super::form::{EventForm, Forms};
use super::names;
use super::source::Source;
use super::steps::MessageSteps;

/// Ends of kernels outside of operations.
#[derive(Debug, Default)]
pub struct Kernels(Vec<(i128, NameId)>);

impl Kernels {
    /// Takes a kernel.
    pub fn take(&mut self, end_ps: i128, name: NameId) {
        self.0.push((end_ps, name));
    }

    /// The kernel that ends nearest to a time.
    fn nearest(&self, time_ps: i128) -> Option<NameId> {
        let at = self.0.partition_point(|(end_ps, _)| *end_ps < time_ps);
        let near = self.0.get(at.saturating_sub(1)..self.0.len().min(at + 1))?;
        near.iter().min_by_key(|(end_ps, _)| (end_ps - time_ps).abs()).map(|(_, name)| *name)
    }
}

/// The slices of the operations of a rank.
pub fn events(
    source: &Source<'_>,
    form: &EventForm,
    mut kernels: Kernels,
    steps: &MessageSteps,
) -> Result<Vec<Event>> {
    let segment = source.segment;
    let Some(table) = segment.table(COLLECTIVES.name) else { return Ok(Vec::new()) };
    kernels.0.sort_by_key(|(end_ps, _)| *end_ps);
    let fields = &segment.footer().fields;
    let of = AiuCollectiveRow::by(|field| field.name);
    let mut events = Vec::new();
    for_each_timed(segment, &[table], RowOrder::Time, |row| {
        let RowContent::Slice { duration_ps, name, .. } = row.content else { return Ok(()) };
        let group = segment.text(name)?;
        let stated: BTreeMap<&str, &nprof_engine::model::OwnedValue> =
            row.fields.iter().map(|(id, value)| (fields[id.0 as usize].1.name.as_str(), value)).collect();
        let number = |key: &str| stated.get(key).and_then(|value| value.int()).unwrap_or(0);
        let members = match stated.get(of.members) {
            Some(nprof_engine::model::OwnedValue::Text(members)) => members.replace(',', ", "),
            // acelyzer knows only operations whose steps name ranks.
            _ => return Ok(()),
        };
        let start_ps = source.time(row.start_ps);
        let mut event = Event::new('X', title(group), start_ps, Json::from(HOST + i64::from(source.rank)));
        event.duration_ps = Some(duration_ps);
        event.category = Some("user_annotation".to_owned());
        event.tid = Json::from(format!("coll{}", source.rank));
        let args = &mut event.args;
        args.insert("bytes", Json::from(format!("{}B", number(of.bytes))));
        args.insert("collective algorithm type", Json::from(steps.algorithm(group)));
        args.insert("peers", Json::from(format!("{{{members}}}")));
        args.insert("CollGroup", Json::from(group));
        if let Some(kernel) = kernels.nearest(start_ps) {
            let kernel = names::plain(segment.text(kernel)?).name;
            let short = match form.forms {
                Forms::Own => names::shortened(&kernel),
                Forms::Acelyzer => names::shortened_as_acelyzer(&kernel),
            };
            args.insert("rank group compute event", Json::from(short));
        }
        args.insert("Coll_data_size", Json::from(number(of.moved_bytes)));
        args.insert("orig_name", Json::from(group));
        let digits = group.rsplit(|sign: char| !sign.is_ascii_digit()).next().unwrap_or_default();
        if !digits.is_empty() {
            args.insert("external id", Json::from(digits));
        }
        events.push(event);
        Ok::<_, AiuError>(())
    })?;
    Ok(events)
}

/// The title of an operation with this instance.
fn title(group: &str) -> &'static str {
    match CollectiveKind::of_name(group) {
        CollectiveKind::AllGather => "gloo:all_gather",
        CollectiveKind::ReduceScatter => "gloo:reduce_scatter",
        CollectiveKind::Broadcast => "gloo:broadcast",
        CollectiveKind::AllToAll => "gloo:all_to_all",
        CollectiveKind::Reduce => "gloo:reduce",
        CollectiveKind::Gather => "gloo:gather",
        CollectiveKind::Scatter => "gloo:scatter",
        CollectiveKind::Barrier => "gloo:barrier",
        _ => "gloo:all_reduce",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_tell_what_they_do() {
        assert_eq!(title("AllReduce_all_reduce_4"), "gloo:all_reduce");
        assert_eq!(title("AllGather_all_gather_2"), "gloo:all_gather");
    }

    #[test]
    fn the_nearest_kernel_is_found() {
        let kernels = Kernels(vec![(10, NameId(1)), (90, NameId(2)), (200, NameId(3))]);
        let found = [0, 60, 95, 150, 900].map(|time_ps| kernels.nearest(time_ps).map(|name| name.0));
        assert_eq!(found, [Some(1), Some(2), Some(2), Some(3), Some(3)]);
        assert_eq!(Kernels::default().nearest(5), None);
    }
}
