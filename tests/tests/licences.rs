//! Every crate that nprof depends on has a licence that `deny.toml` allows, and comes from the
//! registry. These tests check it because `cargo deny` takes longer to install than everything else
//! together.

use std::process::Command;

use nprof_tests::source::project_root;
use serde_json::Value;

const PLATFORMS: [&str; 2] = ["x86_64-unknown-linux-gnu", "wasm32-unknown-unknown"];

#[test]
fn every_crate_has_an_allowed_licence() {
    let root = project_root();
    let allowed = allowed(&std::fs::read_to_string(root.join("deny.toml")).unwrap());
    assert!(allowed.iter().any(|licence| licence == "MIT"), "deny.toml allows nothing");
    let mut problems = Vec::new();
    for platform in PLATFORMS {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["metadata", "--format-version=1", "--locked", "--filter-platform", platform])
            .current_dir(&root)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
        for package in metadata["packages"].as_array().unwrap() {
            let licence = package["license"].as_str().unwrap_or("none given");
            if !is_allowed(licence, &allowed) {
                problems.push(format!("{} {}: {licence}", package["name"], package["version"]));
            }
        }
    }
    problems.dedup();
    assert!(problems.is_empty(), "not in deny.toml's list:\n{}", problems.join("\n"));
}

/// As `cargo deny check sources`: no crate comes from a repository or another registry.
#[test]
fn every_crate_comes_from_the_registry() {
    const REGISTRY: &str = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";
    let text = std::fs::read_to_string(project_root().join("Cargo.lock")).unwrap();
    let sources: Vec<&str> = text.lines().filter(|line| line.starts_with("source = ")).collect();
    let foreign: Vec<&&str> = sources.iter().filter(|source| **source != REGISTRY).collect();
    assert!(sources.len() > 50 && foreign.is_empty(), "{foreign:?}");
}

/// The strings of `allow = […]` in the section `[licenses]`.
fn allowed(deny: &str) -> Vec<String> {
    let section = deny.split("[licenses]").nth(1).unwrap_or_default();
    let list = section.split("\nallow = [").nth(1).unwrap_or_default();
    let list = list.split(']').next().unwrap_or_default();
    list.lines()
        .filter_map(|line| line.trim().strip_prefix('"')?.split('"').next())
        .map(str::to_owned)
        .collect()
}

/// Whether an SPDX expression can be satisfied: one side of an OR is enough, an AND needs both.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    // Before SPDX, a slash meant OR.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let met = either(&words, &mut at, allowed);
    met && at == words.len()
}

fn either(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut met = both(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        met |= both(words, at, allowed);
    }
    met
}

fn both(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut met = licence(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        met &= licence(words, at, allowed);
    }
    met
}

fn licence(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let Some(&first) = words.get(*at) else { return false };
    *at += 1;
    if first == "(" {
        let met = either(words, at, allowed);
        *at += 1;
        return met;
    }
    let mut name = first.to_owned();
    if words.get(*at) == Some(&"WITH") {
        name = format!("{name} WITH {}", words.get(*at + 1).unwrap_or(&""));
        *at += 2;
    }
    allowed.contains(&name)
}

#[track_caller]
fn check(expression: &str, expected: bool) {
    let allowed = ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
    assert_eq!(is_allowed(expression, &allowed), expected, "{expression}");
}

#[test]
fn expressions_are_read_as_spdx_says() {
    check("MIT", true);
    check("GPL-3.0", false);
    check("MIT OR GPL-3.0", true);
    check("GPL-3.0/MIT", true);
    check("MIT AND GPL-3.0", false);
    check("GPL-3.0 OR MIT AND Zlib", true);
    check("(GPL-3.0 OR MIT) AND Zlib", true);
    check("(GPL-3.0 OR MIT) AND GPL-2.0", false);
    check("Apache-2.0 WITH LLVM-exception OR GPL-3.0", true);
    check("Apache-2.0", false);
    check("MIT MIT", false);
    check("none given", false);
}

#[test]
fn the_list_of_the_section_is_read() {
    let deny =
        "[bans]\nallow = [\n \"x\",\n]\n[licenses]\na = 1\nallow = [\n    \"MIT\",\n    \"Zlib\", # why\n]\n";
    assert_eq!(allowed(deny), ["MIT", "Zlib"]);
}
