//! Checks rules that a compiler cannot check: which layer imports which, and the house rules of
//! CONTRIBUTING.md.
//!
//! A rule is a function from one file to its problems. Each has a test on a snippet that breaks it.
//! `tests/src/layers.rs` has the rules and tests of layers.

use std::collections::BTreeMap;
use std::path::Path;

use nprof_tests::circles::circles;
use nprof_tests::imports::{identifier, lines_with_word};
use nprof_tests::layers;
use nprof_tests::shape::{
    COMMENT_COLUMNS_MAX, FUNCTION_LINES_MAX, LongFunction, beginnings, long_functions, named_paths,
    public_types, wide_comments, wide_prose,
};
use nprof_tests::signals::{ManySignals, SIGNALS_MAX, many_signals};
use nprof_tests::source::{ProjectFile, Rule, at, project_root, read_all};

const VAGUE: [&str; 7] = ["util", "utils", "helper", "helpers", "manager", "common", "misc"];
const LINES_MAX: usize = 500;
/// Names that several files can declare: an alias, and types that a macro names.
const NAMELESS: [&str; 2] = ["Result", ""];

#[test]
fn modules_of_a_folder_import_one_way() {
    let sources = read_all(&project_root()).unwrap();
    let found = circles(&sources);
    assert!(found.is_empty(), "modules import each other in a circle:\n{}", found.join("\n"));
}

#[test]
fn the_project_keeps_its_rules() {
    let rules: [Rule; 12] = [
        length,
        comment_width,
        prose_width,
        named_files,
        map_leads_to_files,
        function_length,
        signals,
        module_doc,
        no_allow,
        nothing_left_over,
        no_vague_names,
        damage_has_a_place,
    ];
    let sources = read_all(&project_root()).unwrap();
    assert!(sources.len() > 20, "the project's files were not found");
    let rules = layers::RULES.iter().chain(&rules);
    let problems: Vec<String> = rules.flat_map(|rule| sources.iter().flat_map(rule)).collect();
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}

/// Two public types of a crate do not share a name: a reader would not know which one is meant.
#[test]
fn public_types_have_names_of_their_own() {
    let sources = read_all(&project_root()).unwrap();
    let shared = shared_names(&sources);
    let all: Vec<String> =
        shared.iter().map(|(name, places)| format!("{name:?}: {}", places.join(", "))).collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}

/// Names of several public types of a crate, with the crate and the places.
fn shared_names(sources: &[ProjectFile]) -> Vec<((&str, &str), Vec<String>)> {
    let mut places: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for source in sources {
        let Some((folder, _)) = source.path.split_once("/src/") else { continue };
        for (line, name) in public_types(source).into_iter().filter(|(_, name)| !NAMELESS.contains(name)) {
            places.entry((folder, name)).or_default().push(format!("{}:{line}", source.path));
        }
    }
    places.into_iter().filter(|(_, places)| places.len() > 1).collect()
}

fn length(source: &ProjectFile) -> Vec<String> {
    let lines = source.text.lines().count();
    let is_code = [".rs", ".sh", ".mjs", ".js", ".css"].iter().any(|kind| source.path.ends_with(kind));
    if !is_code || lines <= LINES_MAX {
        return Vec::new();
    }
    vec![at(source, lines, &format!("{lines} lines, at most {LINES_MAX}: split it"))]
}

fn comment_width(source: &ProjectFile) -> Vec<String> {
    let problem = format!("a comment is at most {COMMENT_COLUMNS_MAX} columns wide: wrap it");
    wide_comments(source).into_iter().map(|line| at(source, line, &problem)).collect()
}

fn prose_width(source: &ProjectFile) -> Vec<String> {
    let problem = format!("prose is at most {COMMENT_COLUMNS_MAX} columns wide: wrap it");
    wide_prose(source).into_iter().map(|line| at(source, line, &problem)).collect()
}

fn named_files(source: &ProjectFile) -> Vec<String> {
    let is_missing = |path: &str| !project_root().join(path).exists();
    let missing = named_paths(source).into_iter().filter(|(_, path)| is_missing(path));
    missing.map(|(line, path)| at(source, line, &format!("`{path}` does not exist"))).collect()
}

fn map_leads_to_files(source: &ProjectFile) -> Vec<String> {
    let root = project_root();
    let exists = |folders: &[&str], place: &str| {
        let parent = root.join(folders[0]).parent().map(Path::to_path_buf).unwrap_or_default();
        let siblings = folders[1..].iter().map(|folder| parent.join(folder));
        let mut all = siblings.chain([root.join(folders[0]), parent.clone()]);
        all.any(|folder| folder.join(place).is_file())
    };
    let missing = beginnings(source).into_iter().filter(|(_, folders, place)| !exists(folders, place));
    missing.map(|(line, _, place)| at(source, line, &format!("`{place}` does not exist"))).collect()
}

fn function_length(source: &ProjectFile) -> Vec<String> {
    let problem = |long: &LongFunction<'_>| {
        format!("`{}` has {} lines, at most {FUNCTION_LINES_MAX}: split it", long.name, long.lines)
    };
    long_functions(source).iter().map(|long| at(source, long.start, &problem(long))).collect()
}

fn signals(source: &ProjectFile) -> Vec<String> {
    let problem = |of: &ManySignals<'_>| {
        format!("`{}` has {} signals, at most {SIGNALS_MAX}: split it", of.name, of.signals)
    };
    many_signals(source).iter().map(|of| at(source, of.line, &problem(of))).collect()
}

fn module_doc(source: &ProjectFile) -> Vec<String> {
    let first = source.text.lines().find(|line| !line.trim().is_empty() && !line.starts_with("#!["));
    let is_missing = source.path.ends_with(".rs") && !first.is_some_and(|line| line.starts_with("//!"));
    if is_missing { vec![at(source, 1, "begin with `//!`: what this module is")] } else { Vec::new() }
}

fn no_allow(source: &ProjectFile) -> Vec<String> {
    let is_allow =
        |line: &str| line.contains("[allow(") || (line.contains("cfg_attr(") && line.contains(" allow("));
    let lines = source.code.lines().enumerate().filter(|(_, line)| is_allow(line));
    lines.map(|(index, _)| at(source, index + 1, "`#[expect(…, reason = …)]` instead of `allow`")).collect()
}

fn nothing_left_over(source: &ProjectFile) -> Vec<String> {
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
fn damage_has_a_place(source: &ProjectFile) -> Vec<String> {
    // The header really begins at byte 0.
    if source.path == "engine/src/segment/layout.rs" {
        return Vec::new();
    }
    let lines = (1..).zip(source.product.lines());
    let found = lines.filter(|(_, line)| line.contains("Corrupt {") && line.contains("offset: 0 }"));
    found.map(|(line, _)| at(source, line, "say where, or use `Error::Inconsistent`")).collect()
}

fn no_vague_names(source: &ProjectFile) -> Vec<String> {
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

#[track_caller]
fn check(rule: Rule, path: &str, text: &str, expected: usize) {
    let problems = rule(&ProjectFile::new(path, text));
    assert_eq!(problems.len(), expected, "{path}: {text}\n{}", problems.join("\n"));
}

#[test]
fn a_shared_name_is_found() {
    let text = "pub struct A;\npub(super) enum B {}\n#[cfg(test)]\nmod tests {\n    pub struct C;\n}";
    let of = |path| ProjectFile::new(path, text);
    let sources = [of("engine/src/a.rs"), of("engine/src/b.rs"), of("server/src/a.rs")];
    let places = ["engine/src/a.rs:1", "engine/src/b.rs:1"].map(str::to_owned).into();
    assert_eq!(shared_names(&sources), [(("engine", "A"), places)]);
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
    let row = |place: &str| format!("| `engine/src/base`, `exec` | time | `{place}` |");
    for (place, problems) in [("time.rs", 0), ("work.rs", 0), ("exec/work.rs", 0), ("line.rs", 1)] {
        check(map_leads_to_files, "ARCHITECTURE.md", &row(place), problems);
    }
    let long = format!("fn finish() {{{}}}", "\n".repeat(FUNCTION_LINES_MAX));
    check(function_length, "engine/src/a.rs", &long, 1);
    check(function_length, "engine/src/a.rs", &long.replacen('\n', "", 1), 0);
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
