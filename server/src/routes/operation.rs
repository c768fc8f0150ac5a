//! Operations of the API: a route with its description in the terms of OpenAPI.

use axum::routing::MethodRouter;
use nprof_engine::wire::POSTCARD;
use nprof_engine::wire::refusal::{Refusal, RefusalKind};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::http::error::status_of;

/// One operation of the API.
pub struct Route {
    /// HTTP method in capitals.
    pub method: &'static str,
    /// Path with parameters in braces.
    pub path: &'static str,
    /// The handler.
    pub handler: fn() -> MethodRouter<App>,
    /// The description. Schemas of messages are left with the generator.
    pub describe: fn(&mut SchemaGenerator) -> ApiOperation,
}

/// Why any request can be refused.
const OF_ALL: &[RefusalKind] = &[RefusalKind::Unauthorized, RefusalKind::Forbidden, RefusalKind::Internal];

/// The description of an operation.
#[derive(Debug, Clone, Default)]
pub struct ApiOperation {
    id: &'static str,
    summary: &'static str,
    parameters: Vec<Value>,
    body: Option<Value>,
    answers: Map<String, Value>,
    refusals: Vec<RefusalKind>,
}

impl ApiOperation {
    /// An operation without parameters and answers. `id` is its name for generated clients.
    #[must_use]
    pub fn new(id: &'static str, summary: &'static str) -> Self {
        Self { id, summary, ..Self::default() }
    }

    /// Adds parameters.
    #[must_use]
    pub fn with(mut self, parameters: impl IntoIterator<Item = Value>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    /// Adds the content of the request: schemas of media types.
    #[must_use]
    pub fn takes(mut self, content: &Value) -> Self {
        self.body = Some(json!({ "required": true, "content": content }));
        self
    }

    /// Adds an answer with a status and contents: schemas of media types.
    #[must_use]
    pub fn answers(mut self, status: u16, description: &str, content: &Value) -> Self {
        self.answers.insert(status.to_string(), json!({ "description": description, "content": content }));
        self
    }

    /// Adds an answer that is a message, in JSON or postcard.
    #[must_use]
    pub fn message<T: JsonSchema>(self, status: u16, schemas: &mut SchemaGenerator) -> Self {
        let schema = schemas.subschema_for::<T>();
        self.message_of(status, &schema, schemas)
    }

    /// Adds an answer that is a message with this schema, in JSON or postcard.
    #[must_use]
    pub fn message_of(self, status: u16, schema: &Schema, schemas: &SchemaGenerator) -> Self {
        let content = json!({ "application/json": { "schema": schema }, POSTCARD: {} });
        self.answers(status, &said_of(schema, schemas), &content)
    }

    /// Adds an answer without content.
    #[must_use]
    pub fn nothing(mut self, status: u16, description: &str) -> Self {
        self.answers.insert(status.to_string(), json!({ "description": description }));
        self
    }

    /// Adds headers to an answer.
    #[must_use]
    pub fn headers(mut self, status: u16, names: &[&str]) -> Self {
        let text = |name: &&str| ((*name).to_owned(), json!({ "schema": { "type": "string" } }));
        if let Some(Value::Object(answer)) = self.answers.get_mut(&status.to_string()) {
            answer.insert("headers".to_owned(), Value::Object(names.iter().map(text).collect()));
        }
        self
    }

    /// Adds reasons for which the request is refused, beside those that hold for all requests.
    #[must_use]
    pub fn refuses(mut self, kinds: &[RefusalKind]) -> Self {
        self.refusals.extend(kinds);
        self
    }

    /// The operation as an object of OpenAPI.
    #[must_use]
    pub fn object(mut self, schemas: &mut SchemaGenerator) -> Value {
        let schema = schemas.subschema_for::<Refusal>();
        self.refusals.extend(OF_ALL);
        let mut statuses: Vec<(u16, Vec<String>)> = Vec::new();
        for kind in self.refusals {
            let (status, word) =
                (status_of(kind).as_u16(), json!(kind).as_str().unwrap_or_default().to_owned());
            match statuses.iter_mut().find(|(known, _)| *known == status) {
                Some((_, words)) if words.contains(&word) => {}
                Some((_, words)) => words.push(word),
                None => statuses.push((status, vec![word])),
            }
        }
        statuses.sort();
        for (status, words) in statuses {
            let description = format!("The reason of the refusal: {}.", words.join(" or "));
            let content = json!({ "application/json": { "schema": schema } });
            self.answers
                .insert(status.to_string(), json!({ "description": description, "content": content }));
        }
        let mut object = json!({ "operationId": self.id, "summary": self.summary });
        if !self.parameters.is_empty() {
            object["parameters"] = self.parameters.into();
        }
        if let Some(body) = self.body {
            object["requestBody"] = body;
        }
        object["responses"] = self.answers.into();
        object
    }
}

/// The comment on the type of a schema.
fn said_of(schema: &Schema, schemas: &SchemaGenerator) -> String {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
    let named = name.and_then(|name| schemas.definitions().get(name));
    let said = named.and_then(|named| named.get("description")).and_then(Value::as_str);
    prose(said.unwrap_or_default())
}

/// The parameters of a handler: the fields of the struct that it extracts. `place` is `path` or
/// `query`.
#[must_use]
pub fn parameters_of<T: JsonSchema>(place: &str) -> Vec<Value> {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required =
        |name: &str| required.as_array().is_some_and(|names| names.iter().any(|one| one == name));
    let fields = schema.get("properties").and_then(Value::as_object);
    let parameter = |(name, field): (&String, &Value)| {
        let mut schema = field.clone();
        let doc = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        let said = prose(doc.as_ref().and_then(Value::as_str).unwrap_or_default());
        // A parameter is absent, not null.
        if let Some(kinds) = schema.get("type").and_then(Value::as_array) {
            let kind = kinds.iter().find(|kind| *kind != "null").cloned();
            schema["type"] = kind.unwrap_or_default();
        }
        described(name, place, is_required(name), &said, &schema)
    };
    fields.into_iter().flatten().map(parameter).collect()
}

/// A parameter as an object of OpenAPI.
#[must_use]
pub fn described(name: &str, place: &str, is_required: bool, doc: &str, schema: &Value) -> Value {
    let mut object = json!({ "name": name, "in": place, "description": doc, "schema": schema });
    if is_required {
        object["required"] = true.into();
    }
    object
}

/// The text of a comment for readers of JSON: without its line breaks and its links to other items,
/// and with `null` for what is `None` in code.
#[must_use]
pub fn prose(comment: &str) -> String {
    let mut text = String::new();
    let mut rest = comment;
    while let Some((before, after)) = rest.split_once('[') {
        let Some((name, behind)) = after.split_once(']').filter(|(name, _)| name.starts_with('`')) else {
            text.push_str(before);
            text.push('[');
            rest = after;
            continue;
        };
        let behind = match behind.strip_prefix('(') {
            Some(target) => target.split_once(')').map_or("", |(_, behind)| behind),
            None => behind,
        };
        text.push_str(before);
        text.push_str(name);
        rest = behind;
    }
    text.push_str(rest);
    let paragraphs = text.split("\n\n").map(|one| one.split_whitespace().collect::<Vec<_>>().join(" "));
    paragraphs.collect::<Vec<_>>().join("\n\n").replace("`None`", "`null`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_become_prose() {
        let comment = "One\nline, [`Two`] of\n[`Three`](crate::three).\n\nMore [a]; `None` if not.";
        assert_eq!(prose(comment), "One line, `Two` of `Three`.\n\nMore [a]; `null` if not.");
    }
}
