//! Any bytes as the bundle of a page without a server: read, checked, and asked about.

use crate::bound::within_reader;
use nprof_engine::exec::Work;
use nprof_engine::wire::ask::RankId;
use nprof_engine::wire::bundle::{Bundle, OpenBundle};
use nprof_engine::wire::questions::{
    FindingsQuestion, ProfileQuestion, ProfilesQuestion, Question, SummaryQuestion, WhatIfQuestion, answer,
};
use nprof_engine::wire::rank_ref::RankRef;

/// Runs the target on an input.
pub(super) fn run(bytes: &[u8]) {
    within_reader(bytes.len(), || read(bytes));
    replay(bytes);
}

/// Asks about a replay. A graph of equal nodes takes few bytes and much memory, up to that of the
/// largest graph that a page replays.
fn replay(bytes: &[u8]) {
    let Ok(bundle) = postcard::from_bytes::<Bundle>(bytes) else { return };
    let profile = bundle.profile.entry.slug.clone();
    let Ok(open) = OpenBundle::<Vec<u8>>::new(bundle) else { return };
    let edits = "rank:3=median\nbandwidth=2".to_owned();
    let _ = answer(&&open, &WhatIfQuestion { profile, edits }.into(), Work::IN_PLACE);
}

fn read(bytes: &[u8]) {
    // The page has a bundle as a zstd frame or plain.
    let Ok(bundle) = postcard::from_bytes::<Bundle>(bytes) else { return };
    let written = postcard::to_allocvec(&bundle).expect("memory is enough");
    let again: Bundle = postcard::from_bytes(&written).expect("it was written by this very type");
    assert_eq!(written, postcard::to_allocvec(&again).expect("memory is enough"));
    let Ok(mut open) = OpenBundle::<Vec<u8>>::new(bundle) else { return };
    assert!(open.open(0, bytes.to_vec()).is_err(), "a bundle is no segment");
    let (name, ranks) = (again.profile.entry.slug, again.profile.ranks);
    let _ = answer(&&open, &ProfilesQuestion.into(), Work::IN_PLACE);
    let _ = answer(&&open, &ProfileQuestion { profile: name.clone() }.into(), Work::IN_PLACE);
    let _ = answer(&&open, &FindingsQuestion::about(&name).into(), Work::IN_PLACE);
    for rank in ranks.iter().map(|entry| entry.rank).chain([RankRef::All]).take(8) {
        let id = RankId { profile: name.clone(), rank };
        let _ =
            answer(&&open, &Question::OfRank(id, SummaryQuestion { window: None }.into()), Work::IN_PLACE);
    }
}
