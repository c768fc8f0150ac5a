//! Errors of HTTP handlers. Only this module maps errors to status codes.

use std::fmt;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use nprof_engine::wire::notes::NotesError;
use nprof_engine::wire::refusal::{Refusal, RefusalKind};

use crate::child_end::ChildEnd;
use crate::export::ExportError;
use crate::ingest::IngestError;
use crate::store::StoreError;

/// Why a request was not answered.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The requested item does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The request itself is wrong.
    #[error("{0}")]
    BadRequest(String),
    /// The request comes from an origin that is not allowed.
    #[error("{0}")]
    Forbidden(String),
    /// The request has no token, and nprof does not know its sender.
    #[error("{0}")]
    Unauthorized(String),
    /// The request conflicts with the current state.
    #[error("{0}")]
    Conflict(String),
    /// The path does not have this method.
    #[error("this path does not accept {0}; /api/openapi.json lists the accepted methods")]
    MethodNotAllowed(String),
    /// The trace in the request cannot be read.
    #[error("{0}")]
    BadTrace(String),
    /// Internal failure. The text is for clients, so it names no path of this machine.
    #[error("{0}")]
    Internal(String),
    /// The program panicked. The message of the panic is for the log.
    #[error("nprof failed at this request because of a bug; the server's output says more; please report it")]
    Panicked,
    /// The engine refused the question.
    #[error("{0}")]
    Refused(Refusal),
}

impl ApiError {
    /// An internal failure: the log gets the error with its paths, the client gets `told`.
    pub fn logged(error: &dyn fmt::Display, told: &str) -> Self {
        tracing::error!("{error}");
        Self::Internal(told.to_owned())
    }

    /// Returns true if neither the request nor the state of the store explains the error.
    #[must_use]
    pub fn is_internal(&self) -> bool {
        matches!(self.kind(), RefusalKind::Internal | RefusalKind::Damaged)
    }

    fn kind(&self) -> RefusalKind {
        match self {
            Self::NotFound(_) => RefusalKind::NotFound,
            Self::BadRequest(_) => RefusalKind::BadQuestion,
            Self::Forbidden(_) => RefusalKind::Forbidden,
            Self::Unauthorized(_) => RefusalKind::Unauthorized,
            Self::Conflict(_) => RefusalKind::Conflict,
            Self::MethodNotAllowed(_) => RefusalKind::MethodNotAllowed,
            Self::BadTrace(_) => RefusalKind::BadTrace,
            Self::Internal(_) | Self::Panicked => RefusalKind::Internal,
            Self::Refused(refusal) => refusal.kind,
        }
    }
}

/// The status of a refusal.
pub fn status_of(kind: RefusalKind) -> StatusCode {
    match kind {
        RefusalKind::NotFound => StatusCode::NOT_FOUND,
        RefusalKind::Replaced => StatusCode::GONE,
        RefusalKind::BadQuestion | RefusalKind::BadPattern => StatusCode::BAD_REQUEST,
        RefusalKind::BadTrace => StatusCode::UNPROCESSABLE_ENTITY,
        RefusalKind::Conflict => StatusCode::CONFLICT,
        RefusalKind::Forbidden => StatusCode::FORBIDDEN,
        RefusalKind::Unauthorized => StatusCode::UNAUTHORIZED,
        RefusalKind::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        RefusalKind::TooSlow | RefusalKind::Cancelled | RefusalKind::Unavailable => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        RefusalKind::Damaged | RefusalKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The body is JSON. [`crate::routes::reply::refusals`] rewrites it for the page.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let refusal = Refusal::from(self);
        let status = status_of(refusal.kind);
        if status == StatusCode::INTERNAL_SERVER_ERROR || refusal.kind == RefusalKind::Unavailable {
            tracing::error!("{refusal}");
        }
        let mut response = (status, Json(&refusal)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"nprof\""));
        }
        response.extensions_mut().insert(refusal);
        response
    }
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        Self::new(error.kind(), error.to_string())
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<&StoreError> for ApiError {
    fn from(error: &StoreError) -> Self {
        match error {
            StoreError::Unknown { name, .. } => Self::NotFound(format!("there is no profile \"{name}\"")),
            StoreError::UnknownRank { .. } => Self::NotFound(error.to_string()),
            StoreError::ReadOnly { .. } => Self::Forbidden(
                "the store of this server is read only; its profiles cannot be changed".to_owned(),
            ),
            StoreError::Unreadable { .. } => {
                Self::Conflict("this trace is in the store already, but cannot be read there".to_owned())
            }
            StoreError::NameTaken { .. } | StoreError::Ambiguous { .. } | StoreError::Changed { .. } => {
                Self::Conflict(error.to_string())
            }
            StoreError::RefusedNote(refused) => match refused {
                NotesError::Unknown { .. } => Self::NotFound(refused.to_string()),
                NotesError::Taken(_) => Self::Conflict(refused.to_string()),
                NotesError::Name(_) | NotesError::Span(_) | NotesError::TooMany => {
                    Self::BadRequest(refused.to_string())
                }
            },
            StoreError::Notes { what, .. } => {
                Self::logged(error, &format!("the notes of this profile cannot be used ({what})"))
            }
            StoreError::BadName { .. } => Self::BadRequest(error.to_string()),
            StoreError::Create { source, .. } | StoreError::Write { source, .. } => {
                Self::logged(error, &format!("the server cannot write its store ({source})"))
            }
            StoreError::Read { source, .. } => {
                Self::logged(error, &format!("the server cannot read its store ({source})"))
            }
            _ => Self::logged(error, "the server cannot use a profile of its store; its output says more"),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Self::from(&error)
    }
}

impl From<ExportError> for ApiError {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Store(error) => error.into(),
            ExportError::NoRank { .. } | ExportError::NoTable { .. } => Self::NotFound(error.to_string()),
            ExportError::SeveralRanks { .. }
            | ExportError::NothingLeft { .. }
            | ExportError::Reversed { .. }
            | ExportError::BesideProfile { .. }
            | ExportError::TooLarge { .. } => Self::BadRequest(error.to_string()),
            ExportError::Segment { ref place, source } => {
                Self::logged(&error, &format!("{}: {source}", place.for_clients()))
            }
            ExportError::Open { ref place, ref source } => {
                Self::logged(&error, &format!("{}: cannot read ({source})", place.for_clients()))
            }
            ExportError::Unreadable { first, unreadable, readable } => {
                let (first, others) = (Self::from(*first), format!("ranks={readable} exports the others"));
                Self::Internal(format!("{first}; {unreadable} cannot be read, {others}"))
            }
            ExportError::FolderInUse(_) => Self::logged(&error, "the folder is not empty"),
            ExportError::NoPage | ExportError::Cancelled(_) | ExportError::Write(_) => {
                Self::Internal(error.to_string())
            }
        }
    }
}

impl From<&IngestError> for ApiError {
    fn from(error: &IngestError) -> Self {
        match error {
            IngestError::Store(error) => error.into(),
            IngestError::Cancelled => Self::Conflict(error.to_string()),
            IngestError::Refused(refusal) => Self::Refused(refusal.clone()),
            IngestError::Write { .. }
            | IngestError::Segment { .. }
            | IngestError::Start(_)
            | IngestError::Ended(ChildEnd::Killed | ChildEnd::Crashed)
            | IngestError::Spared(_)
            | IngestError::NotCompared
            | IngestError::Died => Self::Internal(error.to_string()),
            _ => Self::BadTrace(error.to_string()),
        }
    }
}

impl From<tokio::task::JoinError> for ApiError {
    fn from(error: tokio::task::JoinError) -> Self {
        if error.is_cancelled() { Self::Internal("the server ends".to_owned()) } else { Self::Panicked }
    }
}
