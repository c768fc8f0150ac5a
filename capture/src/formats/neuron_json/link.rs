//! Arrows between rows, drawn once all rows are known.

use std::borrow::Cow;

use nprof_engine::base::Result;
use nprof_engine::model::{NameId, Sink, SliceKey, WarningKind};
use serde::Deserialize;

use super::row::{JsonRow, RowCell};
use nprof_engine::makers::neuron::schema::DMA_TRIGGER;

/// Most rows with an id and references that are kept. Arrows of further rows are not drawn.
const MAX_KEPT: usize = 4 << 20;

/// References between rows. 16 to 24 bytes for each row with an id and for each reference, up to
/// [`MAX_KEPT`] of them.
#[derive(Debug, Default)]
pub(super) struct RowLinks {
    rows: Vec<(u64, SliceKey)>,
    dependencies: Vec<Dependency>,
    /// Instructions that triggered a transfer: their start and the transfer's.
    triggers: Vec<((i64, i64), SliceKey)>,
    /// Transfers that were triggered: their instruction's start and their own.
    triggered: Vec<((i64, i64), SliceKey)>,
}

#[derive(Debug)]
struct Dependency {
    from: u64,
    to: SliceKey,
    name: NameId,
}

#[derive(Deserialize)]
struct Predecessor<'a> {
    id: u64,
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
}

impl RowLinks {
    /// Whether there is room for one more row or reference. If not, counts a warning.
    fn has_room(&self, sink: &mut dyn Sink) -> bool {
        let kept = self.rows.len() + self.dependencies.len() + self.triggers.len() + self.triggered.len();
        if kept >= MAX_KEPT {
            let what = "more dependencies than nprof keeps; this one gets no arrow";
            sink.warn(WarningKind::UnboundFlow, what, &String::new);
        }
        kept < MAX_KEPT
    }

    /// Adds an instruction. Returns false if its list of predecessors cannot be read.
    pub(super) fn instruction(
        &mut self,
        row: &JsonRow<'_>,
        key: SliceKey,
        sink: &mut dyn Sink,
    ) -> Result<bool> {
        if !self.has_room(sink) {
            return Ok(true);
        }
        if let Some(id) = row.id("id") {
            self.rows.push((id, key));
        }
        if let Some(times) = times(row, "timestamp", "trigger") {
            self.triggers.push((times, key));
        }
        let Some(RowCell::Json(list)) = row.get("predecessors") else { return Ok(true) };
        let Ok(list) = serde_json::from_str::<Vec<Predecessor<'_>>>(list) else { return Ok(false) };
        for predecessor in list {
            if !self.has_room(sink) {
                break;
            }
            let name = sink.name(&predecessor.kind)?;
            self.dependencies.push(Dependency { from: predecessor.id, to: key, name });
        }
        Ok(true)
    }

    /// Adds a transfer or a packet.
    pub(super) fn transfer(&mut self, row: &JsonRow<'_>, key: SliceKey, sink: &mut dyn Sink) {
        if let Some(times) = times(row, "trigger", "timestamp")
            && self.has_room(sink)
        {
            self.triggered.push((times, key));
        }
    }

    /// Draws all arrows.
    pub(super) fn draw(mut self, sink: &mut dyn Sink) -> Result<()> {
        self.rows.sort_unstable();
        for Dependency { from, to, name } in self.dependencies {
            match find(&self.rows, from) {
                Some(from) => sink.link(from, to, name)?,
                None => sink.warn(WarningKind::UnboundFlow, "a predecessor is not in the profile", &|| {
                    format!("instruction {from}")
                }),
            }
        }
        self.triggers.sort_unstable();
        for (times, to) in self.triggered {
            match find(&self.triggers, times) {
                Some(from) => {
                    let name = sink.name(DMA_TRIGGER)?;
                    sink.link(from, to, name)?;
                }
                None => sink.warn(
                    WarningKind::UnboundFlow,
                    "the instruction of a transfer is not in the profile",
                    &|| format!("trigger at {} ns", times.0),
                ),
            }
        }
        Ok(())
    }
}

fn times(row: &JsonRow<'_>, first: &str, second: &str) -> Option<(i64, i64)> {
    match (row.get(first), row.get(second)) {
        (Some(RowCell::Int(first)), Some(RowCell::Int(second))) => Some((*first, *second)),
        _ => None,
    }
}

/// The first row with this key. Rows are sorted.
fn find<K: Ord + Copy>(rows: &[(K, SliceKey)], key: K) -> Option<SliceKey> {
    let at = rows.partition_point(|(row, _)| *row < key);
    rows.get(at).filter(|(row, _)| *row == key).map(|(_, slice)| *slice)
}
