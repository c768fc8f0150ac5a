//! Handler of all questions to the store. The engine's grammar reads the path, and one synchronous
//! call of the engine gives the answer. The server decides only the form of the reply.

use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use nprof_engine::exec::{Cancel, Work};
use nprof_engine::native::AllCores;
use nprof_engine::wire::ask::{Answer, Store as _, answer};
use nprof_engine::wire::question::{Question, RankQuestion};
use nprof_engine::wire::refusal::{Refusal, RefusalKind};

use super::reply::{self, Form};
use super::waiting::{Waiting, Wanted};
use super::{blocking, tiles};
use crate::app::App;
use crate::error::ApiError;

/// Time limit of a search. Only a regular expression made to be slow needs more than a second.
const SEARCH_TIME: Duration = Duration::from_secs(10);

/// `GET` of any path of [`Question::PATHS`].
pub async fn read(State(app): State<App>, uri: Uri, headers: HeaderMap) -> Result<Response, ApiError> {
    let question = Question::parse(uri.path(), uri.query().unwrap_or_default())?;
    let (waiting, wanted) = Waiting::new();
    // One blocking call: no second thread has to wake up on the way to a cached tile.
    let reply = blocking(move || reply_to(&app, &question, &headers, &wanted)).await;
    drop(waiting);
    reply
}

/// Blocks.
fn reply_to(
    app: &App,
    question: &Question,
    headers: &HeaderMap,
    wanted: &Wanted,
) -> Result<Response, ApiError> {
    if let Question::OfRank(rank, question @ RankQuestion::Tile { content, id }) = question {
        return tiles::reply(app, (&app.rank(rank)?, question), (content, *id), headers);
    }
    let form = Form::of(headers);
    let is_search = matches!(question, Question::OfRank(_, RankQuestion::Search(_)));
    let until = is_search.then(|| Instant::now() + SEARCH_TIME);
    let is_late = || until.is_some_and(|until| Instant::now() >= until);
    let is_cancelled = || !wanted.is_wanted() || is_late();
    let work = Work { exec: &AllCores, cancel: Cancel::when(&is_cancelled) };
    match answer(app, question, work) {
        Ok(Answer::Nothing) => Ok(reply::nothing()),
        Ok(answer) => form.reply(&answer),
        Err(refusal) if refusal.kind == RefusalKind::Cancelled && is_late() => Err(too_slow().into()),
        Err(refusal) => Err(refusal.into()),
    }
}

fn too_slow() -> Refusal {
    let seconds = SEARCH_TIME.as_secs();
    let what =
        format!("the search was stopped after {seconds} s; use a more specific text or a smaller window");
    Refusal::new(RefusalKind::TooSlow, what)
}
