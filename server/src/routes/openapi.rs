//! The description of the API, made from the tables of questions and of routes. Schemas of messages
//! come from their types, so the comments on the types are the text of the description.

use nprof_engine::wire::POSTCARD_ZSTD;
use nprof_engine::wire::grammar::{ParameterDoc, ParameterPlace, ValueForm};
use nprof_engine::wire::questions::{QUESTIONS, QuestionRow};
use nprof_engine::wire::rank_ref::RankRef;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::operation::{ApiOperation, Route, described, prose};

const ABOUT: &str = "Profiles of AI accelerators. Times are picoseconds since the profile's origin. Every JSON \
    answer is also available as postcard: send `Accept: application/x-nprof`. Errors have the form \
    {\"error\": text, \"kind\": word}. A request of somebody else than the user who runs the server needs the \
    token of the printed link; without it every path answers 401. Pages of other sites and unknown host names \
    get 403.";
const COOKIE: &str =
    "A browser gets the cookie when it opens the printed link. The name contains the server's port.";

/// The description of all questions and of these routes, in OpenAPI 3.1.
#[must_use]
pub fn document(routes: &[Route]) -> Value {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut schemas = settings.with_transform(RecursiveTransform(finish)).into_generator();
    let mut paths = Map::new();
    for row in QUESTIONS {
        add(&mut paths, row.path, "get", question(row, &mut schemas).object(&mut schemas));
    }
    for route in routes {
        let operation = (route.describe)(&mut schemas).object(&mut schemas);
        add(&mut paths, route.path, &route.method.to_lowercase(), operation);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "nprof",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": { "name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT" },
        },
        "servers": [{ "url": "/" }],
        "security": [{}, { "token": [] }, { "cookie": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer", "description": "The token of the printed link." },
                "cookie": { "type": "apiKey", "in": "cookie", "name": "nprof-PORT", "description": COOKIE },
            },
            "schemas": schemas.take_definitions(true),
        },
    })
}

fn add(paths: &mut Map<String, Value>, path: &str, method: &str, operation: Value) {
    let item = paths.entry(path).or_insert_with(|| json!({}));
    item[method] = operation;
}

/// Messages have no keys but those of their type.
fn finish(schema: &mut Schema) {
    if schema.get("properties").is_some() {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
    if let Some(Value::String(comment)) = schema.get("description") {
        let said = prose(comment);
        schema.insert("description".to_owned(), said.into());
    }
}

fn question(row: &QuestionRow, schemas: &mut SchemaGenerator) -> ApiOperation {
    let mut parameters = Vec::new();
    (row.parameters)(&mut parameters);
    let schema = (row.schema)(schemas);
    let operation = ApiOperation::new(row.manner.id, row.doc).with(parameters.iter().map(parameter));
    let operation = match row.manner.is_lasting {
        true => lasting(operation, &schema),
        false => operation.message_of(200, &schema, schemas),
    };
    let operation = match row.manner.nothing {
        Some(nothing) => operation.nothing(204, nothing),
        None => operation,
    };
    row.refusals.iter().fold(operation, |operation, kinds| operation.refuses(kinds))
}

/// An answer that caches keep, in the forms of [`super::tiles`].
fn lasting(operation: ApiOperation, schema: &Schema) -> ApiOperation {
    let content = json!({
        POSTCARD_ZSTD: { "schema": { "type": "string", "format": "binary" } },
        "application/json": { "schema": schema },
    });
    operation
        .answers(200, "A zstd frame with a postcard message, or JSON if the request accepts that.", &content)
        .headers(200, &["ETag", "Cache-Control"])
        .nothing(304, "The client has the answer: If-None-Match names its ETag.")
}

fn parameter(of: &ParameterDoc) -> Value {
    let place = match of.place {
        ParameterPlace::Path => "path",
        ParameterPlace::Query => "query",
    };
    described(of.name, place, of.is_required, &of.doc, &schema_of(&of.form))
}

fn schema_of(form: &ValueForm) -> Value {
    let mut schema = match form {
        ValueForm::Text => json!({ "type": "string" }),
        ValueForm::Integer { .. } => json!({ "type": "integer" }),
        ValueForm::Numbers => json!({ "type": "string", "pattern": "^[0-9]*(,[0-9]+)*$" }),
        ValueForm::Rank => {
            json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, { "const": RankRef::ALL_WORD }] })
        }
        ValueForm::Word { words, .. } => json!({ "type": "string", "enum": words }),
    };
    let keys = match form {
        ValueForm::Integer { least, most, default } => {
            vec![("minimum", json!(least)), ("maximum", json!(most)), ("default", json!(default))]
        }
        ValueForm::Word { default, .. } => vec![("default", json!(default))],
        _ => Vec::new(),
    };
    for (key, value) in keys.into_iter().filter(|(_, value)| !value.is_null()) {
        schema[key] = value;
    }
    schema
}
