//! The border to HTTP: the only place that knows status codes.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::app::OpenRank;
use crate::ingest::IngestError;
use crate::store::StoreError;

/// Why a request was not answered.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// What was asked for does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The request itself is wrong.
    #[error("{0}")]
    BadRequest(String),
    /// The request comes from where no request should come from.
    #[error("{0}")]
    Forbidden(String),
    /// It contradicts what is there.
    #[error("{0}")]
    Conflict(String),
    /// A method that the path does not have.
    #[error("this path does not take {0}; /api/openapi.json tells what it takes")]
    MethodNotAllowed(String),
    /// A trace that was sent is not one that can be read.
    #[error("{0}")]
    BadTrace(String),
    /// A segment is damaged or was written by a newer nprof.
    #[error("{0}")]
    BadSegment(String),
    /// The same, as long as nobody has said of which segment: [`ApiError::of`] does.
    #[error("{0}")]
    Segment(nprof_engine::base::Error),
    /// Our own failure.
    #[error("{0}")]
    Internal(String),
}

impl ApiError {
    /// Says of an error of the engine which rank's segment it is about, and which part of it.
    #[must_use]
    pub fn of(self, slug: &str, rank: &OpenRank) -> Self {
        let Self::Segment(error) = self else { return self };
        let place = format!("profile \"{slug}\" rank {}", rank.file.rank);
        let named = rank.segment.name_of(error).map(|name| {
            format!(
                "{place}: {name} is damaged; the rest can be read; `nprof verify {slug}` lists all damage, and the \
                 trace ingested again with --force repairs it"
            )
        });
        Self::BadSegment(named.unwrap_or_else(|| format!("{place}: {error}")))
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::BadRequest(_) => StatusCode::BAD_REQUEST,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::Conflict(_) => StatusCode::CONFLICT,
            Self::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::BadTrace(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::BadSegment(_) | Self::Segment(_) | Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// The body of every error.
#[derive(Serialize)]
struct Body<'a> {
    error: &'a str,
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = self.status();
        let message = self.to_string();
        if status.is_server_error() {
            tracing::error!("{message}");
        }
        let mut response = (status, Json(Body { error: &message })).into_response();
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

impl From<&StoreError> for ApiError {
    fn from(error: &StoreError) -> Self {
        match error {
            StoreError::Unknown { .. } => Self::NotFound(error.to_string()),
            StoreError::NameTaken { .. } => Self::Conflict(error.to_string()),
            StoreError::BadName { .. } => Self::BadRequest(error.to_string()),
            _ => Self::Internal(error.to_string()),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Self::from(&error)
    }
}

impl From<&IngestError> for ApiError {
    fn from(error: &IngestError) -> Self {
        match error {
            IngestError::Store(error) => error.into(),
            IngestError::Cancelled => Self::Conflict(error.to_string()),
            IngestError::Write { .. } | IngestError::Segment { .. } | IngestError::Died => {
                Self::Internal(error.to_string())
            }
            _ => Self::BadTrace(error.to_string()),
        }
    }
}

impl From<nprof_engine::base::Error> for ApiError {
    fn from(error: nprof_engine::base::Error) -> Self {
        match error {
            // The caller asked for a row, a track or a tile that does not exist.
            nprof_engine::base::Error::Invalid { what } => Self::NotFound(what.to_owned()),
            nprof_engine::base::Error::Unwanted => Self::Internal(error.to_string()),
            _ => Self::Segment(error),
        }
    }
}

impl From<tokio::task::JoinError> for ApiError {
    fn from(error: tokio::task::JoinError) -> Self {
        Self::Internal(format!("the answer could not be computed: {error}"))
    }
}
