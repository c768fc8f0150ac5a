//! The tracks, tables and warnings of the ranks that were shown. Each is requested once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use nprof_engine::wire::catalog::RankDetail;
use nprof_engine::wire::questions::DetailQuestion;

use super::Answer;
use super::profile_source::ProfileSource;
use crate::fetch::FetchError;
use crate::view::source_id::SourceId;

/// Limit of ranks that are kept. The shown ranks are always kept.
const MOST_KEPT: usize = 64;

/// Known facts about each rank.
type KnownDetails = BTreeMap<SourceId, Result<Arc<RankDetail>, FetchError>>;

/// The ranks of the open profiles that are known.
#[derive(Debug, Clone, Copy)]
pub struct RankDetails {
    known: RwSignal<KnownDetails>,
}

impl RankDetails {
    /// Requests the wanted ranks. Ranks that failed are requested again after each change of
    /// `attempt`.
    #[must_use]
    pub fn new(of: ProfileSource, wanted: Memo<BTreeSet<SourceId>>, attempt: RwSignal<u32>) -> Self {
        let known = RwSignal::new(KnownDetails::new());
        let under_way = StoredValue::new(BTreeSet::<SourceId>::new());
        Effect::new(move |before: Option<u32>| {
            let attempt = attempt.get();
            let wanted = wanted.get();
            if before.is_some_and(|before| before != attempt) {
                known.update(|known| known.retain(|_, answer| answer.is_ok()));
            }
            for rank in wanted {
                let is_known = known.with_untracked(|known| known.contains_key(&rank));
                if is_known || under_way.with_value(|ranks| ranks.contains(&rank)) {
                    continue;
                }
                under_way.update_value(|ranks| _ = ranks.insert(rank));
                spawn_local(async move {
                    let answer = of.rank(rank).ask(DetailQuestion, None).await.map(Arc::new);
                    under_way.try_update_value(|ranks| ranks.remove(&rank));
                    known.try_update(|known| insert(known, rank, answer));
                });
            }
            attempt
        });
        Self { known }
    }

    /// Known facts about a rank.
    #[must_use]
    pub fn get(self, rank: SourceId) -> Answer<RankDetail> {
        self.known.with(|known| known.get(&rank).cloned())
    }

    /// The content of a rank's segment, if it is known.
    #[must_use]
    pub fn segment_untracked(self, rank: SourceId) -> Option<String> {
        self.known.with_untracked(|known| {
            let detail = known.get(&rank)?.as_ref().ok()?;
            Some(detail.entry.segment().to_owned())
        })
    }
}

fn insert(known: &mut KnownDetails, rank: SourceId, answer: Result<Arc<RankDetail>, FetchError>) {
    known.insert(rank, answer);
    // A rank that somebody shows has further owners.
    let is_shown = |answer: &Result<Arc<RankDetail>, _>| {
        answer.as_ref().is_ok_and(|detail| Arc::strong_count(detail) > 1)
    };
    while known.len() > MOST_KEPT {
        let idle = known.iter().find(|(of, answer)| **of != rank && !is_shown(answer)).map(|(of, _)| *of);
        let Some(idle) = idle else { break };
        known.remove(&idle);
    }
}
