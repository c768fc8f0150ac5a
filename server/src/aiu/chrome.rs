//! Trace Event JSON of one or several ranks, with acelyzer's keys.

use std::io::Write;

use serde_json::{Map, Value as Json, json};

use super::Request;
use super::error::Result;
use super::form::{Form, TimeUnit};
use super::source::Source;
use super::trace::{self, Met};

/// Keys of a document that the output has of its own.
const OWN: [&str; 5] = ["traceEvents", "otherData", "distributedInfo", "displayTimeUnit", "deviceProperties"];

/// Writes the events of these ranks as one document.
///
/// # Errors
/// If bytes are missing or damaged, or the output cannot be written.
pub fn write(ranks: &[Source<'_>], request: &Request, out: &mut dyn Write) -> Result<Met> {
    write!(out, "{{\n\"deviceProperties\":{}", devices(ranks))?;
    write!(out, ",\n\"traceName\":{}", Json::from(request.title()))?;
    write!(out, ",\n\"traceEvents\":[")?;
    let mut separator = "";
    let met = trace::for_each(ranks, &request.form, &mut |event| {
        writeln!(out, "{separator}")?;
        separator = ",";
        Ok(event.write(out)?)
    })?;
    write!(out, "\n]")?;
    for (key, value) in passed(ranks) {
        write!(out, ",\n{}:{value}", Json::from(key))?;
    }
    write!(out, ",\n\"displayTimeUnit\":{}", unit(ranks, &request.form))?;
    writeln!(out, ",\n\"otherData\":{}\n}}", other_data(request))?;
    Ok(met)
}

/// The devices of the ranks: those that PyTorch states, with the rank as their number.
fn devices(ranks: &[Source<'_>]) -> Json {
    let of_rank = |source: &Source<'_>| {
        let stated = source.document.iter().find(|(key, _)| key == "deviceProperties");
        let mut devices = match stated {
            Some((_, Json::Array(devices))) => devices.clone(),
            _ => vec![json!({ "name": "AIU" })],
        };
        for device in devices.iter_mut().filter_map(Json::as_object_mut) {
            device.insert("id".to_owned(), Json::from(source.rank));
        }
        devices
    };
    ranks.iter().flat_map(of_rank).collect()
}

/// The other keys of the documents. Of equal keys the first one counts.
fn passed(ranks: &[Source<'_>]) -> Map<String, Json> {
    let mut passed = Map::new();
    let all = ranks.iter().flat_map(|source| &source.document);
    for (key, value) in all.filter(|(key, _)| !OWN.contains(&key.as_str()) && key != "traceName") {
        passed.entry(key.clone()).or_insert_with(|| value.clone());
    }
    passed
}

fn unit(ranks: &[Source<'_>], form: &Form) -> Json {
    let mut keys = ranks.iter().flat_map(|source| &source.document);
    let stated = keys.find(|(key, _)| key == "displayTimeUnit").map(|(_, value)| value.clone());
    stated.unwrap_or_else(|| Json::from(if form.time_unit == TimeUnit::Ns { "ns" } else { "ms" }))
}

/// What a report says about the trace: the program, and the keys of the document.
#[must_use]
pub fn metadata(ranks: &[Source<'_>], request: &Request) -> Map<String, Json> {
    let mut metadata = match other_data(request) {
        Json::Object(data) => data,
        _ => Map::new(),
    };
    metadata.extend(passed(ranks));
    metadata.insert("deviceProperties".to_owned(), devices(ranks));
    metadata
}

/// The program and the command that wrote a file.
fn other_data(request: &Request) -> Json {
    json!({
        "Application": concat!("nprof ", env!("CARGO_PKG_VERSION")),
        "CmdLine": request.command,
    })
}
