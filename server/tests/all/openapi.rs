//! Compares the description of the API with the table of routes and with real answers.

use std::collections::{BTreeMap, BTreeSet};

use axum::body::Body;
use nprof_engine::wire::grammar::{ParameterDoc, ParameterPlace};
use nprof_engine::wire::questions::{QUESTIONS, QuestionRow};
use nprof_server::export::EXPORTS;
use nprof_server::export::table::files;
use nprof_server::routes::router::{DESCRIPTION, ROUTES};
use serde_json::Value;

use crate::stage::{Stage, TRACE, request};

pub fn document() -> Value {
    serde_json::from_str(&DESCRIPTION).unwrap()
}

pub fn resolve<'a>(document: &'a Value, node: &'a Value) -> &'a Value {
    match node.get("$ref").and_then(Value::as_str) {
        Some(reference) => {
            let pointer = reference.strip_prefix('#').unwrap();
            resolve(
                document,
                document.pointer(pointer).unwrap_or_else(|| panic!("{reference} leads nowhere")),
            )
        }
        None => node,
    }
}

/// The reason why a value does not match a schema. Supports the keywords of the document and
/// refuses others.
fn misfit(document: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    let schema = resolve(document, schema);
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "null" => value.is_null(),
        other => panic!("unknown type {other}"),
    };
    for (keyword, wanted) in schema.as_object().unwrap() {
        let fits = match keyword.as_str() {
            "type" => match wanted {
                Value::Array(kinds) => kinds.iter().any(|kind| is(kind.as_str().unwrap())),
                kind => is(kind.as_str().unwrap()),
            },
            "enum" => wanted.as_array().unwrap().contains(value),
            "const" => wanted == value,
            "minimum" => value.as_f64().is_none_or(|value| value >= wanted.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|value| value <= wanted.as_f64().unwrap()),
            "required" => {
                wanted.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some())
            }
            "anyOf" => {
                let branches = wanted.as_array().unwrap().iter();
                branches.filter(|branch| misfit(document, branch, value, at).is_none()).count() > 0
            }
            "prefixItems" => {
                let pairs = wanted.as_array().unwrap().iter().zip(value.as_array().into_iter().flatten());
                pairs.filter_map(|(schema, item)| misfit(document, schema, item, at)).count() == 0
            }
            "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= wanted.as_u64().unwrap()),
            "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= wanted.as_u64().unwrap()),
            "oneOf" => {
                let branches = wanted.as_array().unwrap().iter();
                branches.filter(|branch| misfit(document, branch, value, at).is_none()).count() == 1
            }
            "additionalProperties" => {
                let known = schema["properties"].as_object().unwrap();
                value.as_object().is_none_or(|object| object.keys().all(|key| known.contains_key(key)))
            }
            "properties" | "items" | "description" | "pattern" | "default" | "format" => true,
            other => panic!("{at}: this test does not know the keyword {other}"),
        };
        if !fits {
            return Some(format!("{at}: {value} is not {keyword} {wanted}"));
        }
    }
    let members = value.as_object().into_iter().flatten();
    let of_members = members.filter_map(|(key, member)| {
        let schema = schema.get("properties")?.get(key)?;
        misfit(document, schema, member, &format!("{at}.{key}"))
    });
    let items = value.as_array().into_iter().flatten();
    let of_items = items.filter_map(|item| misfit(document, schema.get("items")?, item, &format!("{at}[]")));
    of_members.chain(of_items).next()
}

#[test]
fn the_document_describes_exactly_the_routes() {
    let document = document();
    let mut described = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let methods = item.as_object().unwrap().keys();
        described.extend(methods.map(|method| (method.to_uppercase(), path.clone())));
    }
    let questions = QUESTIONS.iter().map(|row| ("GET".to_owned(), row.path.to_owned()));
    let others = ROUTES.iter().map(|route| (route.method.to_owned(), route.path.to_owned()));
    let routed: BTreeSet<_> = questions.chain(others).collect();
    assert_eq!(described, routed);
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn the_document_names_the_formats_of_the_table() {
    let document = document();
    let operation = &document["paths"]["/api/profiles/{slug}/export"]["get"];
    let parameters = operation["parameters"].as_array().unwrap();
    let format = parameters.iter().find(|parameter| parameter["name"] == "format").unwrap();
    let keys: Vec<&str> = files().map(|export| export.key).collect();
    assert_eq!(format["schema"]["enum"], serde_json::json!(keys));
    let content = operation["responses"]["200"]["content"].as_object().unwrap().keys();
    let described: BTreeSet<&str> = content.map(String::as_str).collect();
    let media_types = files().map(|export| export.media_type.split(';').next().unwrap());
    assert_eq!(described, media_types.collect());
    for choice in EXPORTS.iter().flat_map(|export| export.choices) {
        let is_described = parameters.iter().any(|parameter| parameter["name"] == choice.parameter());
        assert!(is_described, "{choice:?}");
    }
}

#[test]
fn every_parameter_of_a_path_is_described_and_every_reference_leads_somewhere() {
    let document = document();
    for (path, item) in document["paths"].as_object().unwrap() {
        let braces: BTreeSet<&str> =
            path.split('{').skip(1).map(|rest| rest.split('}').next().unwrap()).collect();
        for operation in item.as_object().unwrap().values() {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let of_path = parameters.clone().filter(|one| one["in"] == "path");
            let described: BTreeSet<&str> = of_path.map(|one| one["name"].as_str().unwrap()).collect();
            assert_eq!(described, braces, "{path}");
            for one in parameters {
                assert!(one["description"].as_str().unwrap().ends_with('.'), "{path}: {one}");
                assert!(one["in"] != "path" || one["required"] == true, "{path}: {one}");
            }
        }
    }
    let mut nodes = vec![&document];
    while let Some(node) = nodes.pop() {
        resolve(&document, node);
        nodes.extend(node.as_object().into_iter().flatten().map(|(_, child)| child));
        nodes.extend(node.as_array().into_iter().flatten());
    }
}

fn operations(document: &Value) -> impl Iterator<Item = &Value> {
    let paths = document["paths"].as_object().unwrap().values();
    paths.flat_map(|item| item.as_object().unwrap().values())
}

/// Values of parameters for which the profile of the stage has an answer.
async fn known(stage: &Stage) -> BTreeMap<&'static str, String> {
    let detail = stage.json("/api/profiles/small/ranks/0").await;
    let mut tracks = detail["tracks"].as_array().unwrap().iter();
    let counter = tracks.find(|track| track["kind"] == "counter").unwrap();
    let content = detail["entry"]["content"].as_str().unwrap();
    let texts = [
        ("slug", "small"),
        ("content", content),
        ("table", "slice"),
        ("q", "e"),
        ("edits", ""),
        ("with", "small"),
        ("direction", "next"),
    ];
    let numbers =
        [("rank", 0), ("group", 0), ("level", 10), ("index", 0), ("start_ps", 0), ("end_ps", 100_000_000)];
    let texts = texts.map(|(name, text)| (name, text.to_owned()));
    let numbers = numbers.map(|(name, number)| (name, number.to_string()));
    let (row, track) = (stage.row("inner").await.to_string(), counter["id"].to_string());
    let replayed = stage.row("worker").await.to_string();
    let others = [("row", row), (REPLAYED_ROW, replayed), ("track", track), ("at_ps", "80000000".to_owned())];
    texts.into_iter().chain(numbers).chain(others).collect()
}

/// Key of a row whose work is replayed, which work inside of other work is not.
const REPLAYED_ROW: &str = "replayed_row";

/// The address of a question, with the parameters that it needs.
fn address(row: &QuestionRow, known: &BTreeMap<&str, String>) -> String {
    let mut parameters = Vec::new();
    (row.parameters)(&mut parameters);
    let is_slack = row.manner.id == "readSlack";
    let value = |name: &str| {
        let key = if is_slack && name == "row" { REPLAYED_ROW } else { name };
        known.get(key).unwrap_or_else(|| panic!("say in `known` what {name} can be"))
    };
    let (mut path, mut query) = (row.path.to_owned(), Vec::new());
    for ParameterDoc { name, place, is_required, .. } in parameters {
        match place {
            ParameterPlace::Path => path = path.replace(&format!("{{{name}}}"), value(name)),
            ParameterPlace::Query if is_required => query.push(format!("{name}={}", value(name))),
            ParameterPlace::Query => {}
        }
    }
    format!("{path}?{}", query.join("&"))
}

#[tokio::test]
async fn every_answer_fits_its_schema() {
    let stage = Stage::new();
    let document = document();
    let upload = request("POST", "/api/profiles?name=t.json").body(Body::from(TRACE)).unwrap();
    let job = stage.ask(upload).await;
    let mut covered = BTreeSet::new();
    let mut check = |operation: &str, status: &str, body: &Value| {
        let is_named = |op: &&Value| op.get("operationId").is_some_and(|id| id == operation);
        let described = operations(&document).find(is_named).unwrap();
        let response = resolve(&document, &described["responses"][status]);
        let schema = &response["content"]["application/json"]["schema"];
        assert_eq!(misfit(&document, schema, body, operation), None);
        covered.insert(operation.to_owned());
    };
    check("createProfile", "202", &job.json());
    let known = known(&stage).await;
    for row in QUESTIONS {
        check(row.manner.id, "200", &stage.json(&address(row, &known)).await);
    }
    let (rank, row) = ("/api/profiles/small/ranks/0", &known["row"]);
    for (operation, path) in [
        ("health", "/api/health".to_owned()),
        ("openapi", "/api/openapi.json".to_owned()),
        ("listExports", "/api/exports".to_owned()),
        ("readCounter", format!("{rank}/counters/{}?at_ps=-1&start_ps=-9&end_ps=-5", known["track"])),
        ("readTable", format!("{rank}/tables/counter?limit=1")),
        ("readJob", job.header("location").to_owned()),
    ] {
        check(operation, "200", &stage.json(&path).await);
    }
    for group in stage.json(rank).await["groups"].as_array().unwrap() {
        let path = format!("{rank}/tiles/{}/{}/10/0", known["content"], group["id"]);
        check("readTile", "200", &stage.json(&path).await);
    }
    let nothing = stage.get(&format!("{rank}/slices/{row}/step?direction=previous")).await;
    let responses =
        &document["paths"]["/api/profiles/{slug}/ranks/{rank}/slices/{row}/step"]["get"]["responses"];
    let described = resolve(&document, &responses[nothing.status.as_str()]);
    assert!(described.is_object() && described.get("content").is_none(), "{}", nothing.status);
    assert!(nothing.body.is_empty());
    let regions = "/api/profiles/small/notes/regions";
    for (operation, method, path, status, body) in [
        ("readRegions", "GET", "/api/profiles/small/regions", "200", ""),
        ("addRegion", "POST", regions, "201", r#"{"name":"a","rank":0,"start_ps":1,"end_ps":2}"#),
        ("renameRegion", "PATCH", &format!("{regions}/a"), "200", r#"{"name":"b"}"#),
        ("deleteRegion", "DELETE", &format!("{regions}/b"), "200", ""),
    ] {
        let answer = stage.ask(request(method, path).body(Body::from(body)).unwrap()).await;
        assert_eq!(answer.status.as_str(), status, "{operation}: {}", answer.text());
        check(operation, status, &answer.json());
    }
    check("readProfile", "404", &stage.get("/api/profiles/none").await.json());
    let without_json = ["deleteProfile", "cancelJob", "exportProfile"];
    let all = operations(&document).filter_map(|operation| operation.get("operationId")?.as_str());
    let left: Vec<&str> = all.filter(|id| !covered.contains(*id) && !without_json.contains(id)).collect();
    assert!(left.is_empty(), "not checked: {left:?}");
}

/// The text of the description is that of comments in code.
#[test]
fn all_types_and_answers_are_explained_without_marks_of_code() {
    let document = document();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        assert!(schema["description"].is_string(), "{name}");
    }
    let mut nodes = vec![&document];
    while let Some(node) = nodes.pop() {
        if let Some(said) = node.get("description").and_then(Value::as_str) {
            assert!(!said.is_empty(), "{node}");
            assert!(["::", "[`", "`None`"].iter().all(|mark| !said.contains(mark)), "{said}");
        }
        nodes.extend(node.as_object().into_iter().flatten().map(|(_, child)| child));
        nodes.extend(node.as_array().into_iter().flatten());
    }
    for operation in operations(&document) {
        for (status, response) in operation["responses"].as_object().unwrap() {
            assert!(response["description"].is_string(), "{operation}: {status}");
        }
    }
}

#[test]
fn the_check_finds_what_does_not_fit() {
    let document = document();
    let schema = serde_json::json!({ "$ref": "#/components/schemas/TileGroup" });
    let fits = |text: &str| misfit(&document, &schema, &serde_json::from_str(text).unwrap(), "").is_none();
    assert!(fits(r#"{"id":1,"tracks":[2]}"#));
    for bad in [
        r#"{"id":1}"#,
        r#"{"id":-1,"tracks":[]}"#,
        r#"{"id":1,"tracks":["a"]}"#,
        r#"{"id":1,"tracks":[],"x":0}"#,
        "[]",
    ] {
        assert!(!fits(bad), "{bad}");
    }
}
