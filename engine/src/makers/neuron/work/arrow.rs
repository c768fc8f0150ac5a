//! Arrows from instructions to the transfers that they trigger.

use rustc_hash::FxHashMap;

use super::row_set::RowSet;
use crate::base::Result;
use crate::makers::neuron::schema::{COLLECTIVE_TRIGGER, DMA_COMPLETION, DMA_TRIGGER};
use crate::model::NameId;
use crate::segment::{Bytes, Segment};

/// Meaning of an arrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArrowMeaning {
    Trigger,
    Completion,
    Other,
}

/// The arrows of a rank that tell what work waits for.
#[derive(Debug, Default)]
pub(super) struct WorkArrows {
    /// Row of the instruction that triggered the transfer or operation in a row.
    pub(super) triggers: FxHashMap<u32, u32>,
    /// Rows of a transfer and of the instruction that waited for it.
    pub(super) completions: Vec<(u32, u32)>,
    /// Rows of the instructions.
    pub(super) rows: RowSet,
}

/// Reads the arrows.
pub(super) fn read<B: Bytes>(segment: &Segment<B>) -> Result<WorkArrows> {
    let mut arrows = WorkArrows::default();
    let mut meanings: FxHashMap<NameId, ArrowMeaning> = FxHashMap::default();
    segment.for_each_arrow(|arrow| {
        let meaning = match meanings.get(&arrow.name) {
            Some(known) => *known,
            None => {
                let meaning = match segment.text(arrow.name)? {
                    DMA_TRIGGER | COLLECTIVE_TRIGGER => ArrowMeaning::Trigger,
                    DMA_COMPLETION => ArrowMeaning::Completion,
                    _ => ArrowMeaning::Other,
                };
                *meanings.entry(arrow.name).or_insert(meaning)
            }
        };
        match meaning {
            ArrowMeaning::Trigger => {
                arrows.triggers.insert(arrow.to, arrow.from);
            }
            ArrowMeaning::Completion => arrows.completions.push((arrow.from, arrow.to)),
            ArrowMeaning::Other => {}
        }
        Ok(())
    })?;
    let triggers = arrows.triggers.values().copied();
    arrows.rows = triggers.chain(arrows.completions.iter().map(|(_, to)| *to)).collect();
    Ok(arrows)
}
