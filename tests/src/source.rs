//! The project's own files as text, and Rust code without comments and literals. `tests/tidy.rs`
//! uses both.
//!
//! The scanner is not a parser. It knows comments, literals and test modules, which is enough to
//! find the names that a file uses.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders without hand-written files.
const SKIPPED: [&str; 5] = ["target", "node_modules", "dist", "golden", "corpus"];
const KINDS: [&str; 10] = ["rs", "toml", "md", "sh", "py", "mjs", "js", "css", "html", "json"];

/// A check of one file, which returns a line for each problem.
pub type Rule = fn(&ProjectFile) -> Vec<String>;

/// One text file of the project.
pub struct ProjectFile {
    /// Path from the project's top folder, with `/`.
    pub path: String,
    pub text: String,
    /// For Rust: the text with comments and the insides of literals blanked, with all lines in
    /// place. Empty for other files.
    pub code: String,
    /// `code` without test modules; empty for files that contain only tests.
    pub product: String,
}

impl ProjectFile {
    #[must_use]
    pub fn new(path: &str, text: &str) -> Self {
        let code = if path.ends_with(".rs") { blank(text) } else { String::new() };
        let is_test = path.starts_with("tests/")
            || path.starts_with("benches/")
            || path.contains("/tests/")
            || path.ends_with("/tests.rs");
        let product = if is_test { String::new() } else { without_tests(&code) };
        Self { path: path.to_owned(), text: text.to_owned(), code, product }
    }

    /// Module names between the crate's root and this file: `["tile", "build"]` for
    /// `engine/src/tile/build.rs`.
    #[must_use]
    pub fn modules(&self) -> Vec<&str> {
        let Some((_, below)) = self.path.split_once("src/") else { return Vec::new() };
        let below = below.trim_end_matches(".rs");
        below.split('/').filter(|name| !["mod", "lib", "main"].contains(name)).collect()
    }
}

/// Every hand-written text file below `root`, sorted by path.
pub fn read_all(root: &Path) -> io::Result<Vec<ProjectFile>> {
    let mut sources = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if is_skipped(&path) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| KINDS.iter().any(|known| kind == *known)) {
                let relative = path.strip_prefix(root).map_err(io::Error::other)?;
                let relative = relative.to_string_lossy().replace('\\', "/");
                sources.push(ProjectFile::new(&relative, &fs::read_to_string(&path)?));
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

fn is_skipped(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.')
        || name.starts_with("target-")
        || name == "package-lock.json"
        || SKIPPED.contains(&&*name)
}

/// The project's top folder.
#[must_use]
pub fn project_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A problem with a line of a file, prefixed with its place.
#[must_use]
pub fn at(source: &ProjectFile, line: usize, problem: &str) -> String {
    format!("{}:{line}: {problem}", source.path)
}

/// Replaces comments and the insides of literals with spaces.
fn blank(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = literal_end(&chars, at);
        if end > at {
            out.extend(chars[at..end].iter().map(|&c| if c == '\n' { '\n' } else { ' ' }));
            at = end;
        } else {
            out.push(chars[at]);
            at += 1;
        }
    }
    out
}

/// End of the comment or literal that begins at `at`; `at` itself if none begins there.
fn literal_end(chars: &[char], at: usize) -> usize {
    let find = |from: usize, wanted: &[char]| {
        let found = chars[from.min(chars.len())..].windows(wanted.len()).position(|window| window == wanted);
        found.map_or(chars.len(), |offset| from + offset + wanted.len())
    };
    let next = chars.get(at + 1).copied();
    let in_word = at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_');
    match chars[at] {
        '/' if next == Some('/') => at + chars[at..].iter().take_while(|c| **c != '\n').count(),
        '/' if next == Some('*') => block_comment_end(chars, at),
        '"' => string_end(chars, at),
        'r' if !in_word || chars[at - 1] == 'b' => {
            let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
            if chars.get(at + 1 + hashes) != Some(&'"') {
                return at;
            }
            let mut close = vec!['"'];
            close.extend(std::iter::repeat_n('#', hashes));
            find(at + 2 + hashes, &close)
        }
        // A lifetime has no closing quote.
        '\'' if next == Some('\\') => find(at + 3, &['\'']),
        '\'' if chars.get(at + 2) == Some(&'\'') => at + 3,
        _ => at,
    }
}

fn string_end(chars: &[char], at: usize) -> usize {
    let mut end = at + 1;
    while end < chars.len() && chars[end] != '"' {
        end += if chars[end] == '\\' { 2 } else { 1 };
    }
    (end + 1).min(chars.len())
}

fn block_comment_end(chars: &[char], at: usize) -> usize {
    let mut depth = 0_usize;
    let mut end = at;
    while end < chars.len() {
        match (chars[end], chars.get(end + 1)) {
            ('/', Some('*')) => (depth, end) = (depth + 1, end + 2),
            ('*', Some('/')) => (depth, end) = (depth - 1, end + 2),
            _ => end += 1,
        }
        if depth == 0 {
            break;
        }
    }
    end.min(chars.len())
}

/// Blanks every `#[cfg(test)]` item, up to a closing brace at the start of a line or to its
/// semicolon.
fn without_tests(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut in_test = false;
    for line in code.lines() {
        let starts = line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test");
        let was_in_test = in_test || starts;
        in_test =
            was_in_test && !line.starts_with('}') && (starts || in_braces(line) || !line.ends_with(';'));
        if !was_in_test {
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

/// Whether a line lies inside an item: everything there is indented.
fn in_braces(line: &str) -> bool {
    line.starts_with(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_code(text: &str, expected: &str) {
        let words = blank(text).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words, expected, "{text}");
        assert_eq!(blank(text).lines().count(), text.lines().count(), "lines move: {text}");
    }

    #[test]
    fn comments_and_literals_are_blanked() {
        check_code("a // b\nc", "a c");
        check_code("a /* b /* c */ d */ e", "a e");
        check_code(r#"a "b \" c" d"#, "a d");
        check_code("a r#\"b \" c\"# d", "a d");
        check_code("a br\"b\" d", "a b d");
        check_code("a '\"' b '\\'' c", "a b c");
        check_code("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)");
        check_code("for x in y", "for x in y");
        check_code("a // b", "a");
        check_code("a /* b", "a");
        check_code("a \"b", "a");
    }

    #[test]
    fn test_modules_are_no_product() {
        let text = "a\n#[cfg(test)]\nmod tests {\n    b;\n}\nc\n#[cfg(test)]\nmod d;\ne";
        let words = ProjectFile::new("engine/src/x.rs", text).product;
        assert_eq!(words.split_whitespace().collect::<Vec<_>>(), ["a", "c", "e"]);
        assert!(ProjectFile::new("engine/src/x/tests.rs", "a").product.is_empty());
    }

    #[test]
    fn modules_follow_the_path() {
        assert_eq!(ProjectFile::new("engine/src/tile/build.rs", "").modules(), ["tile", "build"]);
        assert_eq!(ProjectFile::new("engine/src/tile/mod.rs", "").modules(), ["tile"]);
        assert!(ProjectFile::new("engine/src/lib.rs", "").modules().is_empty());
    }

    #[test]
    fn the_project_is_found() {
        let sources = read_all(&project_root()).unwrap();
        assert!(sources.iter().any(|source| source.path == "tests/src/source.rs"));
        assert!(sources.iter().all(|source| !source.path.contains("target/")));
    }
}
