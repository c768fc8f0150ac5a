//! Identifies the server at this port.

use axum::extract::State;
use axum::response::Response;
use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::operation::ApiOperation;
use super::reply::ReplyForm;
use crate::app::App;
use crate::http::error::ApiError;

/// Says that the server is nprof, and with which store. `nprof view` asks for this if its port is
/// taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// Always `nprof`.
    #[schemars(extend("const" = "nprof"))]
    pub service: String,
    /// The version of the program.
    pub version: String,
    /// Id of the store. The same directory gives the same text, which does not reveal the path.
    pub store: String,
}

impl Health {
    /// The report of this program with this store.
    #[must_use]
    pub fn of(root: &std::path::Path) -> Self {
        let path = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        Self {
            service: "nprof".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            store: blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex()[..16].to_owned(),
        }
    }
}

/// `GET /api/health`
pub async fn read(State(app): State<App>, form: ReplyForm) -> Result<Response, ApiError> {
    form.reply(&Health::of(app.store().root()))
}

/// Describes [`read`].
pub fn describe(schemas: &mut SchemaGenerator) -> ApiOperation {
    ApiOperation::new("health", "Who answers at this port.").message::<Health>(200, schemas)
}
