//! Handler of all questions to the store. The engine's grammar reads the path, and one synchronous
//! call of the engine gives the answer. The server decides only the form of the reply.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::native::AllCores;
use nprof_engine::wire::ask::{ProfileStore as _, RankId, TimeLimit};
use nprof_engine::wire::findings::Findings;
use nprof_engine::wire::questions::{
    CriticalPathQuestion, EditSubjectsQuestion, FindingsQuestion, PredictedTracksQuestion, Question,
    RankBalanceQuestion, RankQuestion, RunWaitsQuestion, SlackQuestion, WhatIfQuestion, WhatIfSweepQuestion,
    answer,
};
use nprof_engine::wire::rank_ref::RankRef;
use nprof_engine::wire::refusal::{Refusal, RefusalKind};

use super::client_presence::{ClientInterest, Waiting};
use super::reply::{self, ReplyForm};
use super::{blocking, tiles};
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::peer::Peer;
use crate::http::turns::Turn;
use crate::http::unread_answers::counted;

/// `GET` of the path of any question.
pub async fn read(
    State(app): State<App>,
    peer: Option<Extension<Peer>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let peer = peer.map_or(Peer::Local(None), |Extension(peer)| peer);
    let unread = app.turns().unread();
    let question = Question::parse(uri.path(), uri.query().unwrap_or_default())?;
    // In a process of its own, so it needs no turn.
    match &question {
        Question::OfRank(rank, _) => app.compare(rank).await?,
        Question::Findings(FindingsQuestion { profile, .. }) => app.compare_for_findings(profile).await?,
        Question::CriticalPath(CriticalPathQuestion { profile, .. })
        | Question::RunWaits(RunWaitsQuestion { profile, .. })
        | Question::RankBalance(RankBalanceQuestion { profile, .. })
        | Question::WhatIf(WhatIfQuestion { profile, .. })
        | Question::WhatIfSweep(WhatIfSweepQuestion { profile, .. })
        | Question::PredictedTracks(PredictedTracksQuestion { profile, .. })
        | Question::Slack(SlackQuestion { profile, .. })
        | Question::EditSubjects(EditSubjectsQuestion { profile, .. }) => {
            app.compare(&RankId { profile: profile.clone(), rank: RankRef::All }).await?;
        }
        // Runs are compared on the clocks of their ranks, which need no comparison of ranks.
        Question::Profiles(_)
        | Question::Profile(_)
        | Question::Notes(_)
        | Question::GraphProgress(_)
        | Question::Comparison(_)
        | Question::PairedTracks(_) => {}
    }
    let (waiting, wanted) = Waiting::new();
    let asked = Arc::new(StoreQuestion { app, question, headers, wanted });
    let (app, weight) = (asked.app.clone(), asked.question.manner().weight);
    // A kept answer needs no turn.
    if !app.turns().is_free(weight) && asked.may_be_kept() {
        let kept = Arc::clone(&asked);
        if let Some(reply) = blocking(move || kept.reply(None)).await? {
            return counted(reply, &unread, peer);
        }
    }
    // One call on a thread: no second one has to wake up on the way to a cached tile. The turn ends
    // with the work, which can go on for a moment after its client has left. From then on, the
    // memory of the answer counts as unread.
    let answered = move |turn: &Turn| {
        let reply = asked.reply(Some(turn))?;
        let reply = reply.ok_or_else(|| ApiError::Internal("an answer with a turn is complete".to_owned()));
        counted(reply?, &unread, peer)
    };
    let reply = app.turns().run(weight, answered).await?;
    drop(waiting);
    reply
}

/// A question with what its answer depends on.
struct StoreQuestion {
    app: App,
    question: Question,
    headers: HeaderMap,
    wanted: ClientInterest,
}

impl StoreQuestion {
    /// Whether the answer may need no turn. Looks only at memory: a thread that looks in vain costs
    /// as much as a small tile.
    fn may_be_kept(&self) -> bool {
        match &self.question {
            Question::OfRank(_, RankQuestion::Tile(tile)) => {
                tiles::may_be_kept(&self.app, tile, &self.headers)
            }
            Question::OfRank(_, RankQuestion::Summary(_)) | Question::Findings(_) => true,
            _ => false,
        }
    }

    /// The reply. Without a turn, `None` unless the answer is kept. Blocks.
    fn reply(&self, turn: Option<&Turn>) -> Result<Option<Response>, ApiError> {
        let (app, headers) = (&self.app, &self.headers);
        let form = ReplyForm::of(headers);
        match &self.question {
            Question::OfRank(rank, RankQuestion::Tile(tile)) => {
                let is_cancelled = || !self.wanted.is_wanted();
                let work = Work { cancel: Cancel::when(&is_cancelled), ..Work::IN_PLACE };
                let turn = turn.map(|_| work);
                return tiles::reply(app, &app.rank(rank)?, tile, headers, turn);
            }
            Question::OfRank(rank, RankQuestion::Summary(question)) if question.window.is_none() => {
                if let Some(summary) = app.kept_summary(&app.rank(rank)?) {
                    return form.reply(&*summary).map(Some);
                }
            }
            Question::Findings(question) if turn.is_none() => {
                let Some(found) = app.kept_findings(&question.profile)? else { return Ok(None) };
                return form.reply(&question.part_of(Findings::clone(&found))).map(Some);
            }
            _ => {}
        }
        if turn.is_none() {
            return Ok(None);
        }
        self.answer(form, self.question.manner().time_limit).map(Some)
    }

    /// Computes the answer until it is complete, too late, or nobody waits for it. Blocks.
    fn answer(&self, form: ReplyForm, limit: Option<TimeLimit>) -> Result<Response, ApiError> {
        let until = limit.map(|limit| Instant::now() + Duration::from_secs(limit.seconds.into()));
        let is_late = || until.is_some_and(|until| Instant::now() >= until);
        let is_cancelled = || !self.wanted.is_wanted() || is_late();
        let work = Work { exec: &AllCores, cancel: Cancel::when(&is_cancelled) };
        // The client may have left while the question waited for a thread.
        let answered = work.cancel.check().map_err(Refusal::from);
        match answered.and_then(|()| answer(&self.app, &self.question, work)) {
            Ok(answer) if answer.is_nothing() => Ok(reply::nothing()),
            Ok(answer) => form.reply(&answer),
            Err(refusal) => Err(match limit {
                Some(limit) if refusal.kind == RefusalKind::Cancelled && is_late() => limit.refusal(),
                _ => refusal,
            }
            .into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::IngestProcess;
    use crate::store::Store;

    const RANK: &str = "/api/profiles/a/ranks/0";

    #[test]
    fn a_search_has_a_time_limit_and_its_refusal_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(&dir.path().join("store")).unwrap());
        let app = App::new(store, IngestProcess::of_this_program().unwrap());
        let (_waiting, wanted) = Waiting::new();
        let asked = |path: &str, query| {
            let question = Question::parse(path, query).unwrap();
            StoreQuestion { app: app.clone(), question, headers: HeaderMap::new(), wanted: wanted.clone() }
        };
        let search = asked(&format!("{RANK}/search"), "q=a");
        let limit = search.question.manner().time_limit.unwrap();
        assert_eq!(limit.seconds, 10);
        assert_eq!(asked(&format!("{RANK}/summary"), "").question.manner().time_limit, None);
        let form = ReplyForm::of(&HeaderMap::new());
        let at_once = TimeLimit { seconds: 0, ..limit };
        let late = search.answer(form, Some(at_once)).unwrap_err();
        assert!(late.to_string().contains("the search was stopped after 0 s"), "{late}");
    }
}
