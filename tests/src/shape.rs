//! Widths of comments and lengths of functions, for `tests/tidy.rs`.

use crate::imports::identifier;
use crate::source::ProjectFile;

/// Widest comment line.
pub const COMMENT_COLUMNS_MAX: usize = 100;
/// Longest function, from its signature to its closing brace.
pub const FUNCTION_LINES_MAX: usize = 60;

/// A function that is too long.
#[derive(Debug)]
pub struct LongFunction<'a> {
    /// Name of the function.
    pub name: &'a str,
    /// Line of the signature, from 1.
    pub start: usize,
    /// Number of lines.
    pub lines: usize,
}

/// Lines, from 1, with a comment that is too wide. A line with an address cannot be wrapped.
#[must_use]
pub fn wide_comments(source: &ProjectFile) -> Vec<usize> {
    if source.code.is_empty() {
        return Vec::new();
    }
    let is_wide = |line: &str| {
        line.trim_start().starts_with("//")
            && !line.contains("://")
            && line.chars().count() > COMMENT_COLUMNS_MAX
    };
    (1..).zip(source.text.lines()).filter(|(_, line)| is_wide(line)).map(|(at, _)| at).collect()
}

/// Lines of Markdown, from 1, that are too wide. Tables and code cannot be wrapped, and neither can
/// a line without a space.
#[must_use]
pub fn wide_prose(source: &ProjectFile) -> Vec<usize> {
    if !source.path.ends_with(".md") {
        return Vec::new();
    }
    let (mut is_code, mut wide) = (false, Vec::new());
    for (at, line) in (1..).zip(source.text.lines()) {
        let text = line.trim_start();
        if text.starts_with("```") {
            is_code = !is_code;
        }
        let can_wrap = !is_code && !text.starts_with('|') && text.contains(' ');
        if can_wrap && line.chars().count() > COMMENT_COLUMNS_MAX {
            wide.push(at);
        }
    }
    wide
}

/// Paths from the project's top folder that Markdown names as code, with their lines. Changelogs
/// and records of decisions tell of files as they were.
#[must_use]
pub fn named_paths(source: &ProjectFile) -> Vec<(usize, &str)> {
    const TOP: [&str; 8] =
        ["engine/", "capture/", "server/", "frontend/", "tests/", "benches/", "scripts/", "docs/"];
    let is_history = source.path == "CHANGELOG.md" || source.path.starts_with("docs/decisions/");
    if !source.path.ends_with(".md") || is_history {
        return Vec::new();
    }
    let is_path = |text: &str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        TOP.iter().any(|top| text.starts_with(top)) && text.contains('.') && text.chars().all(is_plain)
    };
    (1..)
        .zip(source.text.lines())
        .flat_map(|(at, line)| line.split('`').skip(1).step_by(2).map(move |text| (at, text)))
        .filter(|(_, text)| is_path(text))
        .collect()
}

/// The places where a row of a code map says to begin, with lines and with the folders of the row.
/// The row has the folders in its first cell, the later ones as siblings of the first, and the
/// places in its last.
#[must_use]
pub fn beginnings(source: &ProjectFile) -> Vec<(usize, Vec<&str>, &str)> {
    if source.path != "ARCHITECTURE.md" {
        return Vec::new();
    }
    fn quoted(cell: &str) -> Vec<&str> {
        cell.split('`').skip(1).step_by(2).collect()
    }
    let rows = (1..).zip(source.text.lines()).filter(|(_, line)| line.starts_with("| `"));
    rows.flat_map(|(at, line)| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let (folders, places) = (quoted(cells[0]), cells.last().map_or(Vec::new(), |cell| quoted(cell)));
        places.into_iter().map(move |place| (at, folders.clone(), place))
    })
    .collect()
}

/// Types that a source declares as public, with their lines, from 1.
#[must_use]
pub fn public_types(source: &ProjectFile) -> Vec<(usize, &str)> {
    const KINDS: [&str; 4] = ["pub struct ", "pub enum ", "pub trait ", "pub type "];
    let declared = |line| KINDS.iter().find_map(|kind| str::strip_prefix(str::trim_start(line), kind));
    let lines = (1..).zip(source.product.lines());
    lines.filter_map(|(at, line)| Some((at, identifier(declared(line)?)))).collect()
}

/// The functions that are too long. Nested functions count for themselves and for the outer one.
#[must_use]
pub fn long_functions(source: &ProjectFile) -> Vec<LongFunction<'_>> {
    let code = source.code.as_str();
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let is_word = code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
        let rest = &code[at + "fn ".len()..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let Some(body) = body(after).filter(|_| !is_word && !name.is_empty()) else { continue };
        let lines = 1 + body.matches('\n').count();
        if lines > FUNCTION_LINES_MAX {
            found.push(LongFunction { name, start: 1 + code[..at].matches('\n').count(), lines });
        }
    }
    found
}

/// Text from behind a function's name to its closing brace. `None` for a function without a body.
fn body(after: &str) -> Option<&str> {
    let (mut brackets, mut braces) = (0_i32, 0_i32);
    for (at, sign) in after.char_indices() {
        match sign {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets -= 1,
            ';' if brackets == 0 && braces == 0 => return None,
            '{' => braces += 1,
            '}' => {
                braces -= 1;
                if braces == 0 && brackets == 0 {
                    return Some(&after[..=at]);
                }
            }
            _ => {}
        }
    }
    None
}
