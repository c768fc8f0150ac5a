//! Checks rules that a compiler cannot check: which layer imports which, and the house rules of
//! CONTRIBUTING.md.
//!
//! A rule is a function from one file to its problems. Each has a test on a snippet that breaks it.

use nprof_tests::shape::{
    COMMENT_COLUMNS_MAX, FUNCTION_LINES_MAX, LongFunction, long_functions, named_paths, wide_comments,
    wide_prose,
};
use nprof_tests::source::{Source, at, project_root, read_all};

/// The engine's layers. Each imports only earlier layers.
const ENGINE_LAYERS: [&str; 17] = [
    "base", "exec", "spill", "model", "codec", "block", "index", "segment", "tile", "ingest", "query",
    "metrics", "vendor", "rank", "analysis", "wire", "native",
];
/// The page's layers. Each imports only earlier layers. `draw` draws the data that `fetch` has
/// brought.
const PAGE_LAYERS: [&str; 4] = ["view", "fetch", "draw", "ui"];
/// Modules that compile for the browser and fail when run there.
const IMPURE: [&str; 6] = ["fs", "thread", "net", "process", "env", "os"];
/// Names that give another result in the next run. `FxHashMap` has no random state.
const UNREPEATABLE: [&str; 4] = ["SystemTime", "HashMap", "HashSet", "RandomState"];
const BROWSER: [&str; 4] = ["leptos", "web_sys", "js_sys", "wasm_bindgen"];
/// Folders with the crates that they must not depend on.
const FORBIDDEN_CRATES: [(&str, &[&str]); 4] = [
    ("engine", &["axum", "tokio", "leptos", "web-sys", "nprof-capture", "nprof-server", "nprof-frontend"]),
    ("capture", &["axum", "leptos", "web-sys", "nprof-server", "nprof-frontend"]),
    ("server", &["leptos", "web-sys", "nprof-frontend"]),
    ("frontend", &["axum", "tokio", "nprof-server"]),
];
const VAGUE: [&str; 7] = ["util", "utils", "helper", "helpers", "manager", "common", "misc"];
const LINES_MAX: usize = 500;
/// Longer functions, with their files. This list can only shrink.
const LONG_FUNCTIONS: [(&str, &str); 12] = [
    ("benches/src/store.rs", "query"),
    ("capture/src/formats/ntff/instruction.rs", "write"),
    ("engine/src/ingest/finish.rs", "finish"),
    ("engine/src/ingest/relay/tests.rs", "tell"),
    ("engine/src/segment/footer_lists.rs", "read_tracks"),
    ("frontend/src/ui/download.rs", "DownloadMenu"),
    ("frontend/src/ui/profile/data/rows.rs", "Shown"),
    ("frontend/src/ui/profile/search_box.rs", "SearchBox"),
    ("frontend/src/ui/table/tools.rs", "TableTools"),
    ("frontend/src/ui/table/virtual_table.rs", "VirtualTable"),
    ("frontend/src/ui/timeline/areas.rs", "Rows"),
    ("frontend/src/ui/timeline/frame.rs", "paint"),
];

type Rule = fn(&Source) -> Vec<String>;

#[test]
fn the_project_keeps_its_rules() {
    let rules: [Rule; 16] = [
        engine_layers,
        engine_is_pure,
        capture_is_pure,
        page_layers,
        view_is_plain,
        crates,
        length,
        comment_width,
        prose_width,
        named_files,
        function_length,
        module_doc,
        no_allow,
        nothing_left_over,
        no_vague_names,
        damage_has_a_place,
    ];
    let sources = read_all(&project_root()).unwrap();
    assert!(sources.len() > 20, "the project's files were not found");
    let problems: Vec<String> =
        sources.iter().flat_map(|source| rules.iter().flat_map(|rule| rule(source))).collect();
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}

fn engine_layers(source: &Source) -> Vec<String> {
    let modules = source.modules();
    let Some(own_name) = modules.first().filter(|_| source.path.starts_with("engine/src/")) else {
        return Vec::new();
    };
    // Fixtures serve the tests of all layers.
    if *own_name == "fixture" {
        return Vec::new();
    }
    let Some(own) = rank(&ENGINE_LAYERS, Some(own_name)) else {
        return vec![at(source, 1, "say in tests/tests/tidy.rs which layer this is")];
    };
    let mut problems = Vec::new();
    for (line, name) in root_imports(source) {
        if rank(&ENGINE_LAYERS, Some(&name.as_str())) > Some(own) || name == "fixture" {
            problems.push(at(source, line, &format!("`{}` must not import `{name}`", ENGINE_LAYERS[own])));
        }
    }
    problems
}

fn rank(layers: &[&str], name: Option<&&str>) -> Option<usize> {
    layers.iter().position(|layer| Some(layer) == name)
}

fn engine_is_pure(source: &Source) -> Vec<String> {
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

fn capture_is_pure(source: &Source) -> Vec<String> {
    if source.path.starts_with("capture/src/") { impure(source) } else { Vec::new() }
}

fn impure(source: &Source) -> Vec<String> {
    let used = imports_after(&source.product, "std::");
    let banned = used.into_iter().filter(|(_, name)| IMPURE.contains(&name.as_str()));
    banned.map(|(line, name)| at(source, line, &format!("`std::{name}` does not run in a browser"))).collect()
}

fn page_layers(source: &Source) -> Vec<String> {
    let modules = source.modules();
    let Some(own) = rank(&PAGE_LAYERS, modules.first()).filter(|_| source.path.starts_with("frontend/src/"))
    else {
        return Vec::new();
    };
    let mut problems = Vec::new();
    for (line, name) in root_imports(source) {
        if rank(&PAGE_LAYERS, Some(&name.as_str())) > Some(own) {
            problems.push(at(source, line, &format!("`{}` must not import `{name}`", PAGE_LAYERS[own])));
        }
    }
    problems
}

fn view_is_plain(source: &Source) -> Vec<String> {
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
fn crates(source: &Source) -> Vec<String> {
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

fn length(source: &Source) -> Vec<String> {
    let lines = source.text.lines().count();
    let is_code = [".rs", ".sh", ".mjs", ".js", ".css"].iter().any(|kind| source.path.ends_with(kind));
    if !is_code || lines <= LINES_MAX {
        return Vec::new();
    }
    vec![at(source, lines, &format!("{lines} lines, at most {LINES_MAX}: split it"))]
}

fn comment_width(source: &Source) -> Vec<String> {
    let problem = format!("a comment is at most {COMMENT_COLUMNS_MAX} columns wide: wrap it");
    wide_comments(source).into_iter().map(|line| at(source, line, &problem)).collect()
}

fn prose_width(source: &Source) -> Vec<String> {
    let problem = format!("prose is at most {COMMENT_COLUMNS_MAX} columns wide: wrap it");
    wide_prose(source).into_iter().map(|line| at(source, line, &problem)).collect()
}

fn named_files(source: &Source) -> Vec<String> {
    let is_missing = |path: &str| !project_root().join(path).exists();
    let missing = named_paths(source).into_iter().filter(|(_, path)| is_missing(path));
    missing.map(|(line, path)| at(source, line, &format!("`{path}` does not exist"))).collect()
}

fn function_length(source: &Source) -> Vec<String> {
    let long = long_functions(source).into_iter();
    let long = long.filter(|long| !LONG_FUNCTIONS.contains(&(&source.path, long.name)));
    let problem = |long: &LongFunction<'_>| {
        format!("`{}` has {} lines, at most {FUNCTION_LINES_MAX}: split it", long.name, long.lines)
    };
    long.map(|long| at(source, long.start, &problem(&long))).collect()
}

fn module_doc(source: &Source) -> Vec<String> {
    let first = source.text.lines().find(|line| !line.trim().is_empty() && !line.starts_with("#!["));
    let is_missing = source.path.ends_with(".rs") && !first.is_some_and(|line| line.starts_with("//!"));
    if is_missing { vec![at(source, 1, "begin with `//!`: what this module is")] } else { Vec::new() }
}

fn no_allow(source: &Source) -> Vec<String> {
    let is_allow =
        |line: &str| line.contains("[allow(") || (line.contains("cfg_attr(") && line.contains(" allow("));
    let lines = source.code.lines().enumerate().filter(|(_, line)| is_allow(line));
    lines.map(|(index, _)| at(source, index + 1, "`#[expect(…, reason = …)]` instead of `allow`")).collect()
}

fn nothing_left_over(source: &Source) -> Vec<String> {
    // Concatenated here, because otherwise this file would break its own rule.
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME")];
    let macros = [concat!("todo", "!"), concat!("unimpl", "emented!")];
    let folders = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];
    let mut problems = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        for mark in marks.iter().filter(|mark| !lines_with_word(line, mark).is_empty()) {
            problems.push(at(source, index + 1, &format!("{mark}: do it, or open an issue")));
        }
        for name in macros.iter().filter(|name| line.contains(**name)) {
            problems.push(at(source, index + 1, &format!("{name} is no implementation")));
        }
        for folder in folders.iter().filter(|folder| has_folder(line, folder)) {
            problems.push(at(source, index + 1, &format!("{folder} is a folder of one machine")));
        }
    }
    problems
}

/// Matches only the start of a path: after a name or a variable the path is relative to something.
fn has_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-}*)".contains(c))
    })
}

/// Damage at byte 0 would be attributed to the header. An error without a place is `Inconsistent`.
fn damage_has_a_place(source: &Source) -> Vec<String> {
    // The header really begins at byte 0.
    if source.path == "engine/src/segment/layout.rs" {
        return Vec::new();
    }
    let lines = (1..).zip(source.product.lines());
    let found = lines.filter(|(_, line)| line.contains("Corrupt {") && line.contains("offset: 0 }"));
    found.map(|(line, _)| at(source, line, "say where, or use `Error::Inconsistent`")).collect()
}

fn no_vague_names(source: &Source) -> Vec<String> {
    let mut problems = Vec::new();
    let mut parts = source.path.split('/').map(|part| part.split('.').next().unwrap_or(part));
    if parts.any(|part| VAGUE.contains(&part)) {
        problems.push(at(source, 1, "name the file for the one thing it defines"));
    }
    for (index, line) in source.code.lines().enumerate() {
        let Some((_, name)) = line.split_once("mod ") else { continue };
        if VAGUE.contains(&identifier(name)) {
            problems.push(at(source, index + 1, "name the module for the one thing it defines"));
        }
    }
    problems
}

/// Top modules of the own crate that the product code names, by `crate::` or by enough `super::`.
fn root_imports(source: &Source) -> Vec<(usize, String)> {
    let mut found = imports_after(&source.product, "crate::");
    let to_root = "super::".repeat(source.modules().len());
    if !to_root.is_empty() {
        found.extend(imports_after(&source.product, &to_root));
    }
    found
}

/// Line and first name of every path that begins with `prefix`. `prefix{a, b::{c, d}}` gives the
/// first name of each member.
fn imports_after(code: &str, prefix: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (start, _) in code.match_indices(prefix) {
        let before = code[..start].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        let line = line_of(code, start);
        let rest = code[start + prefix.len()..].trim_start();
        match rest.strip_prefix('{') {
            Some(group) => found.extend(group_names(group).into_iter().map(|name| (line, name))),
            None => found.push((line, identifier(rest).to_owned())),
        }
    }
    found
}

/// The first name of each member of a `{…}` group, from after its opening brace.
fn group_names(group: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 1;
    let mut is_start = true;
    for (index, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => is_start = true,
            _ if depth == 1 && is_start && !c.is_whitespace() => {
                names.push(identifier(&group[index..]).to_owned());
                is_start = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}

fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    &text[..end]
}

fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

fn lines_with_word(text: &str, word: &str) -> Vec<usize> {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let starts = text.match_indices(word).map(|(start, _)| start).filter(|&start| {
        !is_part(text[..start].chars().next_back()) && !is_part(text[start + word.len()..].chars().next())
    });
    starts.map(|start| line_of(text, start)).collect()
}

#[track_caller]
fn check(rule: Rule, path: &str, text: &str, expected: usize) {
    let problems = rule(&Source::new(path, text));
    assert_eq!(problems.len(), expected, "{path}: {text}\n{}", problems.join("\n"));
}

#[test]
fn engine_layers_import_downward() {
    check(engine_layers, "engine/src/tile/grid.rs", "use crate::base::Time;", 0);
    check(engine_layers, "engine/src/tile/grid.rs", "use crate::tile::Level;", 0);
    check(engine_layers, "engine/src/tile/grid.rs", "use crate::query::Window;", 1);
    check(engine_layers, "engine/src/base/time.rs", "use crate::{base::Id, model::{Rank, Track}, wire};", 2);
    check(engine_layers, "engine/src/base/mod.rs", "fn f() { crate::model::g() }", 1);
    check(engine_layers, "engine/src/base/time.rs", "use super::super::model::Rank;", 1);
    check(engine_layers, "engine/src/base/time.rs", "use super::id;", 0);
    check(engine_layers, "engine/src/base/time.rs", "use crate::fixture;", 1);
    check(engine_layers, "engine/src/base/time.rs", "// use crate::model::Rank;", 0);
    check(
        engine_layers,
        "engine/src/base/time.rs",
        "#[cfg(test)]\nmod tests {\n    use crate::model::X;\n}",
        0,
    );
    check(engine_layers, "engine/src/fixture.rs", "use crate::wire::tile;", 0);
    check(engine_layers, "engine/src/new.rs", "", 1);
    check(engine_layers, "engine/src/lib.rs", "use crate::wire::tile;", 0);
    check(engine_layers, "capture/src/base/time.rs", "use crate::model::Rank;", 0);
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
fn page_layers_import_downward() {
    check(page_layers, "frontend/src/view/window.rs", "use crate::draw::Glyph;", 1);
    check(page_layers, "frontend/src/fetch/client.rs", "use crate::{draw::Glyph, view::Window};", 1);
    check(page_layers, "frontend/src/draw/text.rs", "use crate::ui::Theme;", 1);
    check(page_layers, "frontend/src/draw/text.rs", "use crate::fetch::Piece;", 0);
    check(page_layers, "capture/src/view/text.rs", "use crate::ui::Theme;", 0);
    check(page_layers, "frontend/src/ui/list.rs", "use crate::{draw, fetch, ui, view};", 0);
    check(view_is_plain, "frontend/src/view/window.rs", "use leptos::prelude::*;", 1);
    check(view_is_plain, "frontend/src/view/window.rs", "fn f(w: web_sys::Window) {}", 1);
    check(view_is_plain, "frontend/src/ui/list.rs", "use leptos::prelude::*;", 0);
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

#[test]
fn the_exceptions_are_needed() {
    let sources = read_all(&project_root()).unwrap();
    let of = |path: &str| sources.iter().find(|source| source.path == path);
    for (path, name) in LONG_FUNCTIONS {
        let is_long =
            of(path).is_some_and(|source| long_functions(source).iter().any(|long| long.name == name));
        assert!(is_long, "take out {path}: {name}");
    }
}

#[test]
fn comments_are_narrow_and_functions_are_short() {
    let wide = format!("// {}", "x".repeat(COMMENT_COLUMNS_MAX - 2));
    check(comment_width, "engine/src/a.rs", &wide, 1);
    let prose = format!("a {}", "x".repeat(COMMENT_COLUMNS_MAX));
    check(prose_width, "docs/a.md", &prose, 1);
    check(prose_width, "docs/a.md", &format!("```\n{prose}\n```\n| {prose}\n{}", "x".repeat(200)), 0);
    check(named_files, "docs/a.md", "`tests/tests/tidy.rs`, `engine/src/base` and `target/a.rs`", 0);
    check(named_files, "docs/a.md", "see `engine/src/no_such_file.rs`", 1);
    check(named_files, "CHANGELOG.md", "see `engine/src/no_such_file.rs`", 0);
    let long = format!("fn finish() {{{}}}", "\n".repeat(FUNCTION_LINES_MAX));
    check(function_length, "engine/src/a.rs", &long, 1);
    check(function_length, "engine/src/ingest/finish.rs", &long, 0);
    check(function_length, "engine/src/ingest/finish.rs", &long.replace("finish", "f"), 1);
}

#[test]
fn files_are_short_documented_and_finished() {
    check(length, "engine/src/a.rs", &"\n".repeat(LINES_MAX), 0);
    check(length, "engine/src/a.rs", &"\n".repeat(LINES_MAX + 1), 1);
    check(module_doc, "engine/src/a.rs", "fn f() {}", 1);
    check(module_doc, "engine/src/a.rs", "", 1);
    check(module_doc, "engine/src/a.rs", "#![no_std]\n\n//! A.", 0);
    check(no_allow, "engine/src/a.rs", "#[allow(dead_code)]", 1);
    check(no_allow, "engine/src/a.rs", "#![allow(dead_code)]", 1);
    check(no_allow, "engine/src/a.rs", "#[cfg_attr(test, allow(dead_code))]", 1);
    check(no_allow, "engine/src/a.rs", "#[expect(dead_code, reason = \"allow(x)\")]", 0);
    check(nothing_left_over, "engine/src/a.rs", concat!("// TO", "DO: x"), 1);
    check(nothing_left_over, "engine/src/a.rs", concat!("todo", "!()"), 1);
    check(nothing_left_over, "docs/a.md", concat!("see /wo", "rk/x and `/ho", "me/y`"), 2);
    check(nothing_left_over, "docs/a.md", concat!("see a/wo", "rk/x"), 0);
    check(no_vague_names, "engine/src/util.rs", "", 1);
    check(no_vague_names, "engine/src/common/a.rs", "", 1);
    check(no_vague_names, "engine/src/a.rs", "mod helpers;", 1);
    check(no_vague_names, "engine/src/a.rs", "mod utility;", 0);
    let zero = "Error::Corrupt { what: \"x\", offset: 0 }";
    check(damage_has_a_place, "engine/src/a.rs", zero, 1);
    check(damage_has_a_place, "engine/src/segment/layout.rs", zero, 0);
    check(damage_has_a_place, "engine/src/a.rs", "Error::Corrupt { what: \"x\", offset }", 0);
}
