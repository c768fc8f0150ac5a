//! Collects the calls of a rank.

use rustc_hash::FxHashMap;

use crate::base::narrow;
use crate::model::collective::NO_NUMBER;
use crate::model::{Communicator, RankCalls, Signature};

/// Whether the trace's own ids of calls are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallIds {
    /// They are left out.
    Skipped,
    /// They are read.
    Read,
}

/// The calls of a rank so far.
#[derive(Debug)]
pub(super) struct CallBook {
    pub(super) rank: RankCalls,
    ids: CallIds,
    communicators: FxHashMap<Communicator, u32>,
    signatures: FxHashMap<Signature, u32>,
}

/// One call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) start_ps: i64,
    pub(super) duration_ps: i64,
    pub(super) signature: u32,
    /// Number in the communicator, if the trace states it.
    pub(super) number: Option<i64>,
    pub(super) row: u32,
    pub(super) id: i64,
}

impl CallBook {
    pub(super) fn new(ids: CallIds) -> Self {
        Self {
            rank: RankCalls::default(),
            ids,
            communicators: FxHashMap::default(),
            signatures: FxHashMap::default(),
        }
    }

    /// Number of a communicator, which is new or known.
    pub(super) fn communicator(&mut self, communicator: Communicator) -> u32 {
        let next = narrow(self.rank.communicators.len());
        *self.communicators.entry(communicator).or_insert_with_key(|new| {
            self.rank.communicators.push(new.clone());
            next
        })
    }

    /// Number of a signature, which is new or known.
    pub(super) fn signature(&mut self, signature: Signature) -> u32 {
        let next = narrow(self.rank.signatures.len());
        *self.signatures.entry(signature).or_insert_with_key(|new| {
            self.rank.signatures.push(new.clone());
            next
        })
    }

    pub(super) fn call(&mut self, call: Call) {
        let calls = &mut self.rank.calls;
        calls.starts_ps.push(call.start_ps);
        calls.durations_ps.push(call.duration_ps);
        calls.signatures.push(call.signature);
        calls.numbers.push(call.number.and_then(|number| u32::try_from(number).ok()).unwrap_or(NO_NUMBER));
        calls.rows.push(call.row);
        if self.ids == CallIds::Read {
            calls.ids.push(call.id);
        }
    }
}
