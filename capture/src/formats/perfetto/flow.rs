//! Flows that events state by id: the earliest event of an id is the beginning, and each later one
//! goes on from the one before, until an event ends the flow.

use nprof_engine::base::Result;
use nprof_engine::model::{Sink, SliceKey, TrackId, WarningKind};
use nprof_engine::spill::{Scratch, Sorted};

use super::record::FlowKey;

const UNENDED: &str = "a flow that begins and does not end; it gets no arrow";
const UNBEGUN: &str = "a flow that ends or continues without a beginning; it gets no arrow";

/// A flow while its points pass by in the order of time.
#[derive(Debug, Default)]
struct OpenFlow {
    /// The last slice from which the flow goes on.
    from: Option<SliceKey>,
    /// Whether an arrow leaves or reaches that slice.
    has_arrow: bool,
    /// An end before the beginning: the clocks of two writers can differ, and a slice can be
    /// launched from within.
    early: Option<SliceKey>,
}

impl OpenFlow {
    fn finish(&self, id: u64, sink: &mut dyn Sink) {
        let mut warn = |what: &str| sink.warn(WarningKind::UnboundFlow, what, &|| format!("flow {id:#x}"));
        if self.from.is_some() && !self.has_arrow {
            warn(UNENDED);
        }
        if self.early.is_some() {
            warn(UNBEGUN);
        }
    }
}

/// Draws the arrows of all flows.
pub(super) fn link<S: Scratch>(mut points: Sorted<FlowKey, S>, sink: &mut dyn Sink) -> Result<()> {
    let (mut id, mut flow) = (None, OpenFlow::default());
    let mut name = None;
    while let Some(&point) = points.next()? {
        let name = match name {
            Some(name) => name,
            None => *name.insert(sink.name("flow")?),
        };
        if id != Some(point.flow) {
            if let Some(id) = id {
                std::mem::take(&mut flow).finish(id, sink);
            }
            id = Some(point.flow);
        }
        let slice = SliceKey { track: TrackId(point.track), arrival: point.arrival };
        match (flow.from, point.ends) {
            (Some(from), _) if from == slice => {}
            (Some(from), ends) => {
                sink.link(from, slice, name)?;
                flow.from = (!ends).then_some(slice);
                flow.has_arrow = true;
            }
            (None, true) => {
                if flow.early.replace(slice).is_some() {
                    sink.warn(WarningKind::UnboundFlow, UNBEGUN, &|| format!("flow {:#x}", point.flow));
                }
            }
            (None, false) => {
                flow.from = Some(slice);
                flow.has_arrow = false;
                if let Some(early) = flow.early.take() {
                    sink.link(slice, early, name)?;
                    flow.has_arrow = true;
                }
            }
        }
    }
    if let Some(id) = id {
        flow.finish(id, sink);
    }
    Ok(())
}
