//! The nouns of a profile: rank, track, slice, counter, flow, field. [`Sink`] is the interface
//! through which readers of trace formats pass them to the store.

pub mod collective;
pub mod compute_load;
pub mod edge_list;
pub mod field;
mod flop_load;
pub mod flow;
pub mod names;
pub mod power_counter;
pub mod rank;
pub mod rank_marks;
pub mod rank_work;
pub mod role;
pub mod schedule;
pub mod side_tables;
pub mod sink;
pub mod slice;
pub mod stated_edge;
pub mod table;
pub mod template;
pub mod track;
pub mod transfer;
pub mod wait;
pub mod warning;

pub use collective::{
    CallList, CollectiveKind, Communicator, Membership, RankCalls, Signature, TimedBy, WaitingRanks,
};
pub use compute_load::ComputeLoad;
pub use edge_list::{EdgeCode, EdgeList, EdgeSlice};
pub use field::{FieldId, FieldSpec, OwnedValue, Unit, Value};
pub use flop_load::FlopLoad;
pub use flow::{Bind, FlowPhase, FlowPoint};
pub(crate) use names::hash_of;
pub use names::{NameId, Names};
pub use power_counter::PowerCounter;
pub use rank::RankInfo;
pub use rank_marks::{MarkKind, WorkMark};
pub use rank_work::{HostWork, RankWork, WorkClass, WorkNode, WorkQueue, WorkSemaphore};
pub use role::{EngineKind, Identity, MachineSide, Role};
pub use schedule::{Schedule, ScheduledSlice};
pub use side_tables::{SideTables, ValueTable};
pub use sink::Sink;
pub use slice::{SliceForm, SliceKey, SliceRecord};
pub use stated_edge::{Certainty, EdgeReason, NodePoint, StatedEdge, WaitCounts};
pub use table::{TableId, TableKind, TableSpec};
pub use template::{Filled, NumberBits, TemplateId, TemplateValue, Templates};
pub use track::{Nesting, TrackContent, TrackId, TrackSpec};
pub use transfer::{TransferEnd, TransferStep};
pub use wait::{WaitNames, is_wait};
pub use warning::{Warning, WarningKind, Warnings};
