//! The names that Rust code uses: paths after a prefix, and whole words.

use crate::source::ProjectFile;

/// Top modules of the own crate that a source names, by `crate::` or by enough `super::`. Tests
/// count too, but only by `crate::`, because a test module is one level deeper.
#[must_use]
pub fn root_imports(source: &ProjectFile) -> Vec<(usize, String)> {
    let mut found = imports_after(&source.code, "crate::");
    let to_root = "super::".repeat(source.modules().len());
    if !to_root.is_empty() {
        found.extend(imports_after(&source.product, &to_root));
    }
    found
}

/// Line and first name of every path that begins with `prefix`. `prefix{a, b::{c, d}}` gives the
/// first name of each member.
#[must_use]
pub fn imports_after(code: &str, prefix: &str) -> Vec<(usize, String)> {
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

/// The name at the start of a text.
#[must_use]
pub fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    &text[..end]
}

fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

/// Lines, from 1, that have a word as a whole.
#[must_use]
pub fn lines_with_word(text: &str, word: &str) -> Vec<usize> {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let starts = text.match_indices(word).map(|(start, _)| start).filter(|&start| {
        !is_part(text[..start].chars().next_back()) && !is_part(text[start + word.len()..].chars().next())
    });
    starts.map(|start| line_of(text, start)).collect()
}
