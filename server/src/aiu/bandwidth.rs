//! Bandwidth of the collective operations of all ranks: the bytes that an operation moves, over the
//! time from its first start to its last end on any rank.

use std::collections::BTreeMap;

use nprof_engine::makers::aiu::schema::{AiuCollectiveRow, COLLECTIVES};
use nprof_engine::model::OwnedValue;
use nprof_engine::query::{RowContent, RowOrder, for_each_timed};
use serde_json::Value as Json;

use super::args::Args;
use super::error::{AiuError, Result};
use super::event::Event;
use super::source::Source;

/// Process of the counter: it belongs to no rank.
const PROCESS: i64 = -1;

/// An operation on all ranks.
#[derive(Debug)]
struct TimedOperation {
    start_ps: i128,
    end_ps: i128,
    bytes: i64,
    ranks: u32,
}

/// The samples of the counter. Operations of a single rank have none.
pub fn samples(ranks: &[Source<'_>]) -> Result<Vec<Event>> {
    let mut operations: BTreeMap<(String, u32), TimedOperation> = BTreeMap::new();
    for source in ranks {
        add(source, &mut operations)?;
    }
    let mut samples = Vec::new();
    for of in operations.into_values().filter(|of| of.ranks > 1 && of.end_ps > of.start_ps) {
        #[expect(clippy::cast_precision_loss, reason = "a rate to print")]
        let gigabytes = of.bytes as f64 * 1e3 / (of.end_ps - of.start_ps) as f64;
        samples.push(sample(of.start_ps, (gigabytes * 1e3).round() / 1e3));
        samples.push(sample(of.end_ps, 0.0));
    }
    samples.sort_by_key(|event| event.time_ps);
    Ok(samples)
}

/// Adds the operations of a rank. Those of one instance are told apart by their order in time.
fn add(source: &Source<'_>, operations: &mut BTreeMap<(String, u32), TimedOperation>) -> Result<()> {
    let Some(table) = source.segment.table(COLLECTIVES.name) else { return Ok(()) };
    let fields = &source.segment.footer().fields;
    let names = AiuCollectiveRow::by(|field| field.name);
    let mut occurrences: BTreeMap<String, u32> = BTreeMap::new();
    for_each_timed(source.segment, &[table], RowOrder::Time, |row| {
        let RowContent::Slice { duration_ps, name, .. } = row.content else { return Ok(()) };
        let is_moved = |field: &&(_, OwnedValue)| {
            let (id, _): &(nprof_engine::model::FieldId, OwnedValue) = field;
            fields[id.0 as usize].1.name == names.moved_bytes
        };
        // Operations whose steps name no ranks have no bandwidth.
        let moved = row.fields.iter().find(is_moved).and_then(|(_, value)| value.int());
        let Some(bytes) = moved else { return Ok(()) };
        let (start_ps, end_ps) =
            (source.time(row.start_ps), source.time(row.start_ps.saturating_add(duration_ps)));
        let name = source.segment.text(name)?.to_owned();
        let nth = occurrences.entry(name.clone()).or_default();
        *nth += 1;
        let of =
            operations.entry((name, *nth)).or_insert(TimedOperation { start_ps, end_ps, bytes, ranks: 0 });
        of.start_ps = of.start_ps.min(start_ps);
        of.end_ps = of.end_ps.max(end_ps);
        of.bytes = of.bytes.max(bytes);
        of.ranks += 1;
        Ok::<_, AiuError>(())
    })
}

fn sample(time_ps: i128, gigabytes: f64) -> Event {
    let mut args = Args::default();
    args.insert("GBps", Json::from(gigabytes));
    let category = Some(String::new());
    Event { category, args, ..Event::new('C', "Coll_Bandwidth", time_ps, Json::from(PROCESS)) }
}
