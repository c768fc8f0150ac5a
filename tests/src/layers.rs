//! Rules about imports: between the layers of a crate, and between crates. `tests/tidy.rs` applies
//! them to all files.

use crate::imports::{identifier, imports_after, lines_with_word, root_imports};
use crate::source::{ProjectFile, Rule, at};

/// Folders with layers of their own. Each module imports only earlier layers of its folder, and all
/// modules of its own layer.
const ROOMS: [(&str, &[&str]); 3] = [
    (
        "engine/src/ingest",
        &["encoders limits", "texts", "rows", "arrows lanes", "consumer", "producer", "relay"],
    ),
    ("frontend/src/ui", &["text", "controls", "shell", "table", "timeline upload", "profile", "list", "app"]),
    (
        "frontend/src/ui/profile",
        &[
            "open_profile",
            "lit",
            "finding_list",
            "search",
            "ground region_choice time_axis ranks data",
            "run_pair",
            "panels",
            "bar compare compared_findings culprit finding_notice found_places row_tooltip missing_page rail shown_bands slice_menu summary page",
        ],
    ),
];
/// The engine's layers. Each imports only earlier layers.
const ENGINE_LAYERS: [&str; 18] = [
    "base", "exec", "spill", "model", "codec", "block", "index", "segment", "tile", "ingest", "query",
    "metrics", "makers", "rank", "analysis", "insight", "wire", "native",
];
/// The page's layers. Each imports only earlier layers. `draw` draws the data that `fetch` has
/// brought.
const PAGE_LAYERS: [&str; 4] = ["view", "fetch", "draw", "ui"];
/// Modules of capture that the page has.
const RECOGNITION: [&str; 3] = ["importer", "inputs", "probe"];
/// Capture's layers. Each imports only earlier layers. Tests also import the readers.
const CAPTURE_LAYERS: [&str; 8] = [
    "clock json origin owners protobuf refusal",
    "error probe",
    "importer",
    "inputs",
    "archive",
    "files",
    "formats",
    "device",
];
/// Modules of capture for tests.
pub(crate) const FIXTURES: [&str; 2] = ["cases", "fixture"];
/// The readers. Each imports only readers of earlier layers, and no other one of its own.
const READER_LAYERS: [&str; 4] = ["room", "neff trace_event", "neuron_json ntff perfetto", "aiu"];
/// Layers of the server. Modules of one layer can import each other.
const SERVER_LAYERS: [&str; 13] = [
    "assets child_end end_signals file_map kept_file markup memory standard_output terminal units work",
    "store",
    "output print summary warnings",
    "analysis",
    "export ingest",
    "aiu verify",
    "http",
    "child",
    "jobs",
    "app",
    "routes",
    "links listener",
    "cli",
];
/// Modules that compile for the browser and fail when run there.
const IMPURE: [&str; 6] = ["fs", "thread", "net", "process", "env", "os"];
/// Names that give another result in the next run. `FxHashMap` has no random state.
const UNREPEATABLE: [&str; 4] = ["SystemTime", "HashMap", "HashSet", "RandomState"];
const BROWSER: [&str; 4] = ["leptos", "web_sys", "js_sys", "wasm_bindgen"];
/// Folders with the crates that they must not depend on.
const FORBIDDEN_CRATES: [(&str, &[&str]); 5] = [
    ("engine", &["axum", "tokio", "leptos", "web-sys", "nprof-capture", "nprof-server", "nprof-frontend"]),
    ("capture", &["axum", "leptos", "schemars", "web-sys", "nprof-server", "nprof-frontend"]),
    ("server", &["leptos", "web-sys", "nprof-frontend", "nprof-worker"]),
    ("frontend", &["axum", "schemars", "tokio", "nprof-server", "nprof-worker"]),
    // Workers and page reach each other by messages.
    (
        "frontend/worker",
        &["axum", "schemars", "tokio", "leptos", "nprof-capture", "nprof-server", "nprof-frontend"],
    ),
];

/// The rules of this file.
pub const RULES: [Rule; 11] = [
    engine_layers,
    room_layers,
    engine_is_pure,
    capture_is_pure,
    capture_layers,
    reader_layers,
    server_layers,
    page_layers,
    page_reads_no_trace,
    view_is_plain,
    crates,
];

fn engine_layers(source: &ProjectFile) -> Vec<String> {
    let modules = source.modules();
    let Some(own_name) = modules.first().filter(|_| source.path.starts_with("engine/src/")) else {
        return Vec::new();
    };
    // Fixtures serve the tests of all layers.
    if *own_name == "fixture" {
        return Vec::new();
    }
    if layer(&ENGINE_LAYERS, own_name).is_none() {
        return vec![at(source, 1, "say in tests/src/layers.rs which layer this is")];
    }
    let mut problems = upward(source, &ENGINE_LAYERS, own_name, &root_imports(source));
    let fixtures =
        imports_after(&source.product, "crate::").into_iter().filter(|(_, name)| name == "fixture");
    problems.extend(fixtures.map(|(line, _)| at(source, line, "fixtures are for tests")));
    problems
}

fn room_layers(source: &ProjectFile) -> Vec<String> {
    let rooms = ROOMS.iter().filter_map(|(folder, layers)| {
        let below = source.path.strip_prefix(folder)?.strip_prefix('/')?;
        (below != "mod.rs").then_some((*folder, *layers, identifier(below)))
    });
    let mut problems = Vec::new();
    for (folder, layers, own) in rooms {
        if layer(layers, own).is_none() {
            problems.push(at(source, 1, "say in tests/src/layers.rs which layer this is"));
            continue;
        }
        let path = folder.split_once("src/").map_or("", |(_, path)| path).replace('/', "::");
        let mut imports = imports_after(&source.code, &format!("crate::{path}::"));
        let to_folder = source.modules().len() - path.split("::").count();
        imports.extend(imports_after(&source.product, &"super::".repeat(to_folder)));
        problems.extend(upward(source, layers, own, &imports));
    }
    problems
}

/// Position of the layer of a module. A layer can have several modules.
fn layer(layers: &[&str], name: &str) -> Option<usize> {
    layers.iter().position(|layer| layer.split(' ').any(|known| known == name))
}

/// Imports of a module of a later layer than the own one.
fn upward(source: &ProjectFile, layers: &[&str], own: &str, imports: &[(usize, String)]) -> Vec<String> {
    let above = imports.iter().filter(|(_, name)| layer(layers, name) > layer(layers, own));
    above.map(|(line, name)| at(source, *line, &format!("`{own}` must not import `{name}`"))).collect()
}

fn engine_is_pure(source: &ProjectFile) -> Vec<String> {
    if !source.path.starts_with("engine/src/") || source.modules().first() == Some(&"native") {
        return Vec::new();
    }
    let mut problems = impure(source);
    for word in UNREPEATABLE {
        for line in lines_with_word(&source.product, word) {
            problems.push(at(
                source,
                line,
                &format!("`{word}`: the engine gives the same result in every run"),
            ));
        }
    }
    // `Instant` without `std::time` is a word of this project: an event without duration.
    let clocks =
        imports_after(&source.product, "std::time::").into_iter().filter(|(_, name)| name == "Instant");
    problems.extend(clocks.map(|(line, _)| at(source, line, "`Instant` does not run in a browser")));
    problems
}

fn capture_is_pure(source: &ProjectFile) -> Vec<String> {
    if source.path.starts_with("capture/src/") { impure(source) } else { Vec::new() }
}

fn impure(source: &ProjectFile) -> Vec<String> {
    let used = imports_after(&source.product, "std::");
    let banned = used.into_iter().filter(|(_, name)| IMPURE.contains(&name.as_str()));
    banned.map(|(line, name)| at(source, line, &format!("`std::{name}` does not run in a browser"))).collect()
}

/// Tests recognise and unpack files of all formats, so they import the readers and their fixtures.
/// A fixture can be built of the fixtures of later layers.
fn capture_layers(source: &ProjectFile) -> Vec<String> {
    let modules = source.modules();
    let (true, [own, .., last] | [own @ last]) = (source.path.starts_with("capture/src/"), &modules[..])
    else {
        return Vec::new();
    };
    if FIXTURES.contains(last) {
        return Vec::new();
    }
    if layer(&CAPTURE_LAYERS, own).is_none() {
        return vec![at(source, 1, "say in tests/src/layers.rs which layer this is")];
    }
    let of_product = imports_after(&source.product, "crate::");
    let mut imports = root_imports(source);
    imports.retain(|import| import.1 != "formats" || of_product.contains(import));
    upward(source, &CAPTURE_LAYERS, own, &imports)
}

/// A reader that imports another one breaks when that one changes. Only three readers are made
/// for others.
fn reader_layers(source: &ProjectFile) -> Vec<String> {
    const FORMATS: &str = "formats";
    let modules = source.modules();
    let (true, [FORMATS, own, ..]) = (source.path.starts_with("capture/src/"), &modules[..]) else {
        return Vec::new();
    };
    let Some(own_at) = layer(&READER_LAYERS, own) else {
        return vec![at(source, 1, "say in tests/src/layers.rs which layer this reader is")];
    };
    let imports = imports_after(&source.code, "crate::formats::");
    let of_layers = imports.into_iter().filter_map(|(line, name)| {
        let at = layer(&READER_LAYERS, &name).filter(|_| name != *own)?;
        (at >= own_at).then_some((line, name))
    });
    let problem = |(line, name)| at(source, line, &format!("reader `{own}` must not import reader `{name}`"));
    of_layers.map(problem).collect()
}

fn server_layers(source: &ProjectFile) -> Vec<String> {
    let modules = source.modules();
    let Some(own) = modules.first().filter(|_| source.path.starts_with("server/src/")) else {
        return Vec::new();
    };
    if layer(&SERVER_LAYERS, own).is_none() {
        return vec![at(source, 1, "say in tests/src/layers.rs which layer this is")];
    }
    upward(source, &SERVER_LAYERS, own, &root_imports(source))
}

fn page_layers(source: &ProjectFile) -> Vec<String> {
    let modules = source.modules();
    let Some(own) = modules.first().filter(|_| source.path.starts_with("frontend/src/")) else {
        return Vec::new();
    };
    upward(source, &PAGE_LAYERS, own, &root_imports(source))
}

/// The page only recognises inputs. A native build of the whole workspace would not notice a reader
/// in the page.
fn page_reads_no_trace(source: &ProjectFile) -> Vec<String> {
    if !source.path.starts_with("frontend/src/") {
        return Vec::new();
    }
    let used = imports_after(&source.code, "nprof_capture::").into_iter();
    let others = used.filter(|(_, name)| !RECOGNITION.contains(&name.as_str()));
    others.map(|(line, name)| at(source, line, &format!("the page has no `{name}` of capture"))).collect()
}

fn view_is_plain(source: &ProjectFile) -> Vec<String> {
    if !source.path.starts_with("frontend/src/view") {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for word in BROWSER {
        for line in lines_with_word(&source.product, word) {
            problems.push(at(source, line, &format!("`view` must not use `{word}`: its tests run natively")));
        }
    }
    problems
}

/// Checks both the dependencies in a manifest and the names in code: a path can reach a crate that
/// another one re-exports.
fn crates(source: &ProjectFile) -> Vec<String> {
    let mut problems = Vec::new();
    for (folder, forbidden) in FORBIDDEN_CRATES {
        for name in forbidden {
            let lines = if source.path == format!("{folder}/Cargo.toml") {
                dependency_lines(&source.text, name)
            } else if source.path.starts_with(&format!("{folder}/src/")) {
                lines_with_word(&source.code, &name.replace('-', "_"))
            } else {
                Vec::new()
            };
            let problem = format!("`{folder}` must not depend on `{name}`");
            problems.extend(lines.into_iter().map(|line| at(source, line, &problem)));
        }
    }
    problems
}

fn dependency_lines(manifest: &str, name: &str) -> Vec<usize> {
    let mut lines = Vec::new();
    let mut in_dependencies = false;
    for (index, line) in manifest.lines().enumerate() {
        let is_named = if line.starts_with('[') {
            in_dependencies = line.trim_end().ends_with("dependencies]");
            line.contains(&format!("dependencies.{name}]"))
        } else {
            in_dependencies && line.split(['.', '=', ' ']).next() == Some(name)
        };
        if is_named {
            lines.push(index + 1);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rule: Rule, path: &str, text: &str, expected: usize) {
        let problems = rule(&ProjectFile::new(path, text));
        assert_eq!(problems.len(), expected, "{path}: {text}\n{}", problems.join("\n"));
    }

    #[test]
    fn engine_layers_import_downward() {
        check(engine_layers, "engine/src/tile/grid.rs", "use crate::base::Time;", 0);
        check(engine_layers, "engine/src/tile/grid.rs", "use crate::tile::Level;", 0);
        check(engine_layers, "engine/src/tile/grid.rs", "use crate::query::Window;", 1);
        check(
            engine_layers,
            "engine/src/base/time.rs",
            "use crate::{base::Id, model::{Rank, Track}, wire};",
            2,
        );
        check(engine_layers, "engine/src/base/mod.rs", "fn f() { crate::model::g() }", 1);
        check(engine_layers, "engine/src/base/time.rs", "use super::super::model::Rank;", 1);
        check(engine_layers, "engine/src/base/time.rs", "use super::id;", 0);
        check(engine_layers, "engine/src/base/time.rs", "use crate::fixture;", 1);
        check(engine_layers, "engine/src/base/time.rs", "// use crate::model::Rank;", 0);
        let tests = |line: &str| format!("#[cfg(test)]\nmod tests {{\n    {line}\n}}");
        check(engine_layers, "engine/src/base/time.rs", &tests("use crate::model::X;"), 1);
        check(engine_layers, "engine/src/base/time.rs", &tests("use crate::fixture;"), 0);
        check(engine_layers, "engine/src/base/time.rs", &tests("use super::super::model;"), 0);
        check(engine_layers, "engine/src/fixture.rs", "use crate::wire::tile;", 0);
        check(engine_layers, "engine/src/new.rs", "", 1);
        check(engine_layers, "engine/src/lib.rs", "use crate::wire::tile;", 0);
        check(engine_layers, "capture/src/base/time.rs", "use crate::model::Rank;", 0);
    }

    #[test]
    fn rooms_import_downward() {
        check(room_layers, "engine/src/ingest/rows/row.rs", "use crate::ingest::producer::Builder;", 1);
        check(room_layers, "engine/src/ingest/rows/row.rs", "use super::super::relay::Batch;", 1);
        check(room_layers, "engine/src/ingest/rows/row.rs", "use super::consumer;", 0);
        check(room_layers, "engine/src/ingest/rows/row.rs", "use crate::ingest::texts::Numbers;", 0);
        check(room_layers, "engine/src/ingest/limits.rs", "use super::rows::Rows;", 1);
        check(room_layers, "engine/src/ingest/relay/mod.rs", "use super::rows::Rows;", 0);
        check(room_layers, "engine/src/ingest/texts/mod.rs", "use super::rows::Rows;", 1);
        check(room_layers, "engine/src/ingest/new.rs", "", 1);
        check(room_layers, "engine/src/ingest/mod.rs", "use relay::Batch;", 0);
        let tests = "#[cfg(test)]\nmod tests {\n    use crate::ingest::producer::Builder;\n}";
        check(room_layers, "engine/src/ingest/rows/row.rs", tests, 1);
    }

    #[test]
    fn engine_and_formats_touch_nothing_outside() {
        check(engine_is_pure, "engine/src/tile/build.rs", "use std::fs::File;", 1);
        check(engine_is_pure, "engine/src/tile/build.rs", "use std::{fs, io::Read, thread};", 2);
        check(engine_is_pure, "engine/src/tile/build.rs", "std::time::Instant::now()", 1);
        check(engine_is_pure, "engine/src/tile/build.rs", "use std::time::{Duration, SystemTime};", 1);
        check(engine_is_pure, "engine/src/tile/build.rs", "use std::time::{Duration, Instant};", 1);
        check(engine_is_pure, "engine/src/tile/build.rs", "EventKind::Instant", 0);
        check(engine_is_pure, "engine/src/tile/build.rs", "HashMap::new()", 1);
        check(engine_is_pure, "engine/src/tile/build.rs", "use rustc_hash::FxHashMap;", 0);
        check(engine_is_pure, "engine/src/native/file.rs", "use std::fs::File;", 0);
        check(capture_is_pure, "capture/src/formats/ntff/mod.rs", "use std::fs;", 1);
        check(capture_is_pure, "capture/src/archive/mod.rs", "use std::fs;", 1);
        check(capture_is_pure, "capture/src/formats/ntff/mod.rs", "use std::io::Read;", 0);
    }

    #[test]
    fn capture_layers_import_downward() {
        check(capture_layers, "capture/src/archive/a.rs", "use crate::{formats, inputs::Found};", 1);
        check(capture_layers, "capture/src/inputs/a.rs", "use crate::archive::Leaf;", 1);
        check(capture_layers, "capture/src/formats/ntff/a.rs", "use crate::{files, probe};", 0);
        check(capture_layers, "capture/src/archive/fixture.rs", "use crate::formats::neff;", 0);
        let tests = |line: &str| format!("#[cfg(test)]\nmod tests {{\n    {line}\n}}");
        check(capture_layers, "capture/src/archive/a.rs", &tests("use crate::formats::neff;"), 0);
        check(capture_layers, "capture/src/archive/a.rs", &tests("use crate::{device, files};"), 2);
        check(capture_layers, "capture/src/new.rs", "", 1);
        check(capture_layers, "capture/src/lib.rs", "use crate::formats;", 0);
    }

    #[test]
    fn page_layers_import_downward() {
        check(page_layers, "frontend/src/view/time/window.rs", "use crate::draw::Glyph;", 1);
        check(page_layers, "frontend/src/fetch/client.rs", "use crate::{draw::Glyph, view::Window};", 1);
        check(page_layers, "frontend/src/draw/text.rs", "use crate::ui::Theme;", 1);
        check(page_layers, "frontend/src/draw/text.rs", "use crate::fetch::Piece;", 0);
        check(page_layers, "capture/src/view/text.rs", "use crate::ui::Theme;", 0);
        check(page_layers, "frontend/src/ui/list.rs", "use crate::{draw, fetch, ui, view};", 0);
        check(view_is_plain, "frontend/src/view/time/window.rs", "use leptos::prelude::*;", 1);
        check(view_is_plain, "frontend/src/view/time/window.rs", "fn f(w: web_sys::Window) {}", 1);
        check(view_is_plain, "frontend/src/ui/list.rs", "use leptos::prelude::*;", 0);
    }

    #[test]
    fn workers_and_page_are_two_programs() {
        check(crates, "frontend/src/ui/list.rs", "use nprof_worker::Answers;", 1);
        check(crates, "frontend/worker/src/main.rs", "use nprof_frontend::fetch::Wanted;", 1);
        check(crates, "frontend/worker/Cargo.toml", "[dependencies]\nleptos.workspace = true", 1);
        check(page_reads_no_trace, "frontend/src/ui/upload.rs", "use nprof_capture::formats;", 1);
        check(page_reads_no_trace, "frontend/src/ui/upload.rs", "use nprof_capture::{inputs, probe::X};", 0);
        check(page_reads_no_trace, "server/src/ingest.rs", "use nprof_capture::formats;", 0);
    }

    #[test]
    fn readers_import_no_other_reader() {
        check(reader_layers, "capture/src/formats/perfetto/a.rs", "use crate::formats::{ntff, room};", 1);
        check(reader_layers, "capture/src/formats/trace_event/a.rs", "use crate::formats::aiu::Taker;", 1);
        check(reader_layers, "capture/src/formats/ntff/a.rs", "use crate::formats::{neff::Neff, room};", 0);
        check(reader_layers, "capture/src/formats/ntff/a.rs", "use crate::formats::ntff::row;", 0);
        check(reader_layers, "capture/src/formats/neff/a.rs", "use crate::formats::trace_event::a;", 1);
        let tests = "#[cfg(test)]\nmod tests {\n    use crate::formats::aiu::Taker;\n}";
        check(reader_layers, "capture/src/formats/perfetto/a.rs", tests, 1);
        check(reader_layers, "capture/src/formats/new/mod.rs", "", 1);
        check(reader_layers, "capture/src/probe/a.rs", "use crate::formats::ntff;", 0);
    }

    #[test]
    fn server_layers_import_downward() {
        check(server_layers, "server/src/store/a.rs", "use crate::ingest::Settings;", 1);
        check(server_layers, "server/src/ingest/a.rs", "use crate::{analysis, http::error, store};", 1);
        check(server_layers, "server/src/http/a.rs", "use crate::cli;", 1);
        check(server_layers, "server/src/child/a.rs", "use crate::http::error;", 0);
        check(server_layers, "server/src/http/a.rs", "use crate::child;", 1);
        check(server_layers, "server/src/app.rs", "use crate::routes;", 1);
        check(server_layers, "server/src/cli/a.rs", "use crate::{http, aiu};", 0);
        check(server_layers, "server/src/new.rs", "", 1);
        check(server_layers, "server/src/lib.rs", "use crate::cli;", 0);
    }

    #[test]
    fn crates_know_only_those_below_them() {
        check(crates, "engine/Cargo.toml", "[dependencies]\ntokio = \"1\"", 1);
        check(crates, "engine/Cargo.toml", "[dependencies]\naxum.workspace = true", 1);
        check(crates, "engine/Cargo.toml", "[dependencies.leptos]\nversion = \"0.8\"", 1);
        check(crates, "engine/Cargo.toml", "[target.'cfg(unix)'.dependencies]\ntokio = \"1\"", 1);
        check(crates, "engine/Cargo.toml", "[features]\ntokio = []", 0);
        check(crates, "capture/src/lib.rs", "use nprof_server::App;", 1);
        check(crates, "server/src/lib.rs", "use nprof_frontend::view;", 1);
        check(crates, "frontend/src/lib.rs", "use nprof_server::App;", 1);
        check(crates, "frontend/src/lib.rs", "use nprof_engine::tile;", 0);
    }
}
