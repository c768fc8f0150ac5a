//! A counter at a moment, and over a span.

use axum::extract::State;
use axum::response::Response;
use nprof_engine::base::Interval;
use nprof_engine::wire::answer;
use serde::Deserialize;

use super::path::{At, With};
use super::ranks::ask;
use super::reply::Form;
use crate::app::App;
use crate::error::ApiError;

/// Which counter.
#[derive(Debug, Deserialize)]
pub struct CounterPath {
    slug: String,
    rank: u32,
    track: u32,
}

/// At which moment, and over which span.
#[derive(Debug, Deserialize)]
pub struct CounterQuery {
    at_ps: i64,
    start_ps: i64,
    end_ps: i64,
}

/// `GET …/ranks/{rank}/counters/{track}?at_ps=&start_ps=&end_ps=`
pub async fn read(
    State(app): State<App>,
    At(at): At<CounterPath>,
    With(query): With<CounterQuery>,
    form: Form,
) -> Result<Response, ApiError> {
    if query.start_ps > query.end_ps {
        return Err(ApiError::BadRequest("end_ps is before start_ps".to_owned()));
    }
    let span = Interval::new(query.start_ps, query.end_ps);
    ask(app, at.slug, at.rank, form, move |rank| {
        Ok(answer::counter(&rank.segment, at.track, query.at_ps, span)?)
    })
    .await
}
