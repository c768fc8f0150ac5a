//! Trace Event JSON of one or several ranks, with acelyzer's keys.

use std::io::Write;

use serde_json::{Map, Value as Json, json};

use super::Request;
use super::error::Result;
use super::event::Each;
use super::form::{EventForm, TimeUnit};
use super::source::{DEVICES, Source};
use super::trace::{self, JobEvents, Met};

/// Keys of a document that the output has of its own.
const OWN: [&str; 5] = ["traceEvents", "otherData", "distributedInfo", "displayTimeUnit", DEVICES];

/// Writes the events of these ranks as one document.
pub fn write(ranks: &[Source<'_>], request: &Request, out: &mut dyn Write) -> Result<(Met, JobEvents)> {
    let each = |each: &mut Each<'_>| trace::for_each(ranks, &request.form, each);
    document(ranks, ranks, request, out, each)
}

/// Writes the events of one of the ranks as a document of its own.
pub fn write_rank(
    ranks: &[Source<'_>],
    at: usize,
    request: &Request,
    shared: &JobEvents,
    out: &mut dyn Write,
) -> Result<()> {
    let each = |each: &mut Each<'_>| trace::for_rank(ranks, at, &request.form, shared, each);
    document(ranks, &ranks[at..=at], request, out, each)
}

/// Writes a document about `of`, some of the ranks.
fn document<T>(
    ranks: &[Source<'_>],
    of: &[Source<'_>],
    request: &Request,
    out: &mut dyn Write,
    events: impl FnOnce(&mut Each<'_>) -> Result<T>,
) -> Result<T> {
    write!(out, "{{\n\"deviceProperties\":{}", devices(of))?;
    write!(out, ",\n\"traceName\":{}", Json::from(request.title()))?;
    write!(out, ",\n\"traceEvents\":[")?;
    let mut separator = "";
    let written = events(&mut |event| {
        writeln!(out, "{separator}")?;
        separator = ",";
        Ok(event.write(out)?)
    })?;
    write!(out, "\n]")?;
    for (key, value) in passed(of) {
        write!(out, ",\n{}:{value}", Json::from(key))?;
    }
    write!(out, ",\n\"displayTimeUnit\":{}", unit(ranks, &request.form))?;
    writeln!(out, ",\n\"otherData\":{}\n}}", other_data(request))?;
    Ok(written)
}

/// The devices of the ranks: those that PyTorch states, with their numbers among the devices of all
/// ranks.
fn devices(ranks: &[Source<'_>]) -> Json {
    let of_rank = |source: &Source<'_>| {
        let stated = source.document.iter().find(|(key, _)| key == DEVICES);
        let mut devices = match stated {
            Some((_, Json::Array(devices))) => devices.clone(),
            _ => vec![json!({ "type": "AIU", "name": "AIU", "core": "PT Array" }); source.devices.max(1)],
        };
        for (device, at) in devices.iter_mut().filter_map(Json::as_object_mut).zip(0..) {
            let own = device.get("id").and_then(Json::as_i64).unwrap_or(at);
            device.insert("id".to_owned(), Json::from(source.device(own)));
        }
        devices
    };
    ranks.iter().flat_map(of_rank).collect()
}

/// The other keys of the documents. The first of equal keys counts.
fn passed(ranks: &[Source<'_>]) -> Map<String, Json> {
    let mut passed = Map::new();
    let all = ranks.iter().flat_map(|source| &source.document);
    for (key, value) in all.filter(|(key, _)| !OWN.contains(&key.as_str()) && key != "traceName") {
        passed.entry(key.clone()).or_insert_with(|| value.clone());
    }
    passed
}

fn unit(ranks: &[Source<'_>], form: &EventForm) -> Json {
    let mut keys = ranks.iter().flat_map(|source| &source.document);
    let stated = keys.find(|(key, _)| key == "displayTimeUnit").map(|(_, value)| value.clone());
    stated.unwrap_or_else(|| Json::from(if form.time_unit == TimeUnit::Ns { "ns" } else { "ms" }))
}

/// Statements of a report about the trace: the program, and the keys of the document.
#[must_use]
pub fn metadata(ranks: &[Source<'_>], request: &Request) -> Map<String, Json> {
    let mut metadata = match other_data(request) {
        Json::Object(data) => data,
        _ => Map::new(),
    };
    metadata.extend(passed(ranks));
    metadata.insert(DEVICES.to_owned(), devices(ranks));
    metadata
}

/// The program and the command that wrote a file.
fn other_data(request: &Request) -> Json {
    json!({
        "Application": concat!("nprof ", env!("CARGO_PKG_VERSION")),
        "CmdLine": request.command,
    })
}
