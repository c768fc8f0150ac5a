//! Circles of imports: modules of one folder that need each other, directly or through others.
//!
//! A name counts as the module that defines it, also if another module hands the name on. A
//! folder's own `mod.rs` is no module of the folder here: parts and their whole may know each
//! other.

use std::collections::{BTreeMap, BTreeSet};

use crate::imports::identifier;
use crate::layers::FIXTURES;
use crate::source::ProjectFile;

/// Path of a module from its crate's folder: `["engine", "tile", "grid"]`.
type ModulePath = Vec<String>;
/// Modules of each folder, with the modules of that folder that each imports.
type Arrows = BTreeMap<ModulePath, BTreeMap<String, BTreeSet<String>>>;

/// Most names that hand a name on.
const MAX_STEPS: usize = 12;
const ITEMS: [&str; 9] =
    ["struct", "enum", "trait", "fn", "const", "static", "type", "union", "macro_rules!"];

/// The names of one module.
#[derive(Default)]
struct Module {
    /// Items that the module defines.
    items: BTreeSet<String>,
    /// Names that the module imports, with their paths.
    imported: BTreeMap<String, Vec<String>>,
    /// Modules whose names it imports all.
    globs: Vec<Vec<String>>,
    /// Paths that the module uses. A path that is only handed on is none of them.
    used: Vec<Vec<String>>,
}

/// Folders with modules that import each other in a circle, as `folder: module module`, sorted.
#[must_use]
pub fn circles(sources: &[ProjectFile]) -> Vec<String> {
    let mut modules = BTreeMap::new();
    for source in sources.iter().filter(|source| !source.product.is_empty()) {
        let is_fixture = source.modules().last().is_some_and(|last| FIXTURES.contains(last));
        if let Some((folder, _)) = source.path.split_once("/src/").filter(|_| !is_fixture) {
            let path =
                [folder].into_iter().chain(source.modules()).map(str::to_owned).collect::<ModulePath>();
            modules.insert(path, Module::of(&source.product));
        }
    }
    let mut found = Vec::new();
    for (folder, arrows) in arrows(&modules) {
        let mut left: BTreeSet<&String> = arrows.keys().collect();
        while let Some(first) = left.pop_first() {
            let after = reached(&arrows, first);
            let circle: Vec<&str> = after
                .iter()
                .filter(|name| reached(&arrows, name).contains(first))
                .map(|name| name.as_str())
                .collect();
            left.retain(|name| !circle.contains(&name.as_str()));
            if circle.len() > 1 {
                found.push(format!("{}: {}", folder.join("/"), circle.join(" ")));
            }
        }
    }
    found
}

/// All modules that a module imports, directly or through others.
fn reached(arrows: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut next = vec![from];
    while let Some(name) = next.pop() {
        for to in arrows.get(name).into_iter().flatten() {
            if found.insert(to.clone()) {
                next.push(to);
            }
        }
    }
    found
}

fn arrows(modules: &BTreeMap<ModulePath, Module>) -> Arrows {
    let mut arrows = Arrows::new();
    for (own, module) in modules {
        for path in &module.used {
            let Some(to) = defining(modules, own, path, MAX_STEPS) else { continue };
            let shared = own.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(to)) = (own.get(shared), to.get(shared)) {
                let folder = arrows.entry(own[..shared].to_vec()).or_default();
                folder.entry(from.clone()).or_default().insert(to.clone());
            }
        }
    }
    arrows
}

/// The module that defines what a path names, seen from a module.
fn defining(
    modules: &BTreeMap<ModulePath, Module>,
    from: &[String],
    path: &[String],
    steps: usize,
) -> Option<ModulePath> {
    let (first, rest) = path.split_first()?;
    let steps = steps.checked_sub(1)?;
    match first.as_str() {
        "crate" => return below(modules, &from[..1], rest, steps),
        "self" => return below(modules, from, rest, steps),
        "super" => {
            let parent = from.get(..from.len() - 1).filter(|parent| !parent.is_empty())?;
            let next = rest.first().is_some_and(|name| name == "super");
            return if next {
                defining(modules, parent, rest, steps)
            } else {
                below(modules, parent, rest, steps)
            };
        }
        _ => {}
    }
    below(modules, from, path, steps)
}

/// The module that defines what a path names, looked up inside a module.
fn below(
    modules: &BTreeMap<ModulePath, Module>,
    of: &[String],
    path: &[String],
    steps: usize,
) -> Option<ModulePath> {
    let steps = steps.checked_sub(1)?;
    let (first, rest) = path.split_first()?;
    let child: ModulePath = of.iter().chain([first]).cloned().collect();
    if modules.contains_key(&child) {
        return below(modules, &child, rest, steps);
    }
    let module = modules.get(of)?;
    if module.items.contains(first) {
        return Some(of.to_vec());
    }
    if let Some(imported) =
        module.imported.get(first).filter(|imported| imported.as_slice() != [first.clone()])
    {
        let whole: Vec<String> = imported.iter().chain(rest).cloned().collect();
        return defining(modules, of, &whole, steps);
    }
    module.globs.iter().find_map(|glob| {
        let whole: Vec<String> = glob.iter().chain(path).cloned().collect();
        let leads_back = glob.first().is_none_or(|name| name == first);
        if leads_back { None } else { defining(modules, of, &whole, steps) }
    })
}

impl Module {
    /// Reads code without comments, literals and tests.
    fn of(code: &str) -> Self {
        let mut module = Self::default();
        let mut rest = String::new();
        for statement in code.split_inclusive(';') {
            let Some((at, is_handed_on)) = use_at(statement) else {
                rest.push_str(statement);
                continue;
            };
            rest.push_str(&statement[..at]);
            let mut paths = Vec::new();
            tree(&mut Vec::new(), statement[at + 4..].trim_end_matches(';'), &mut paths);
            for (path, name) in paths {
                match name.as_str() {
                    "*" => module.globs.push(path.clone()),
                    _ => {
                        module.imported.insert(name, path.clone());
                    }
                }
                if !is_handed_on {
                    module.used.push(path);
                }
            }
        }
        module.used.extend(paths_of(&rest));
        let words: Vec<&str> = rest.split_whitespace().collect();
        let items = words.windows(2).filter(|pair| ITEMS.contains(&pair[0]));
        module.items = items.map(|pair| identifier(pair[1]).to_owned()).collect();
        module
    }
}

/// Position of the keyword of a `use` at the end of a statement's text, and whether the `use` hands
/// its names on.
fn use_at(statement: &str) -> Option<(usize, bool)> {
    let at = statement.rfind("use ")?;
    let line = statement[..at].rsplit('\n').next()?.trim();
    let is_handed_on = line == "pub" || (line.starts_with("pub(") && line.ends_with(')'));
    (line.is_empty() || is_handed_on).then_some((at, is_handed_on))
}

/// The paths of a `use`, each with the name that it gets. A glob has the name `*`.
fn tree(before: &mut ModulePath, text: &str, paths: &mut Vec<(ModulePath, String)>) {
    let text = text.trim();
    if let Some((path, group)) = text.split_once('{') {
        let own: Vec<String> = path.split("::").map(|part| part.trim().to_owned()).collect();
        let len = before.len();
        before.extend(own.into_iter().filter(|part| !part.is_empty()));
        for member in members(group.strip_suffix('}').unwrap_or(group)) {
            tree(before, member, paths);
        }
        before.truncate(len);
        return;
    }
    let (path, alias) =
        text.split_once(" as ").map_or((text, None), |(path, alias)| (path, Some(alias.trim())));
    let own = path.split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty());
    let mut whole: ModulePath = before.iter().cloned().chain(own).collect();
    if whole.last().is_some_and(|last| last == "self") {
        whole.pop();
    }
    let Some(last) = whole.last().cloned() else { return };
    if last == "*" {
        whole.pop();
    }
    paths.push((whole, alias.map_or(last, str::to_owned)));
}

/// The members of a group, without the commas between.
fn members(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, sign) in group.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&group[start..]);
    found.into_iter().filter(|member| !member.trim().is_empty()).collect()
}

/// Paths of at least two names in code without `use`.
fn paths_of(code: &str) -> Vec<ModulePath> {
    let is_sign = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == ':';
    let words = code.split(|sign: char| !is_sign(sign)).filter(|word| word.contains("::"));
    let path = |word: &str| word.split("::").map(str::to_owned).take_while(|name| !name.is_empty()).collect();
    words.map(path).filter(|path: &ModulePath| path.len() > 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let sources: Vec<ProjectFile> =
            files.iter().map(|(path, text)| ProjectFile::new(path, text)).collect();
        assert_eq!(circles(&sources), expected);
    }

    #[test]
    fn modules_of_a_folder_that_import_each_other_are_found() {
        let b = ("engine/src/b.rs", "use crate::a::A;\npub struct B;");
        check(&[("engine/src/a.rs", "use crate::b::B;\npub struct A;"), b], &["engine: a b"]);
        check(&[("engine/src/a.rs", "pub struct A;\nfn f() { super::b::B::new() }"), b], &["engine: a b"]);
        check(&[("engine/src/a.rs", "pub struct A;"), b], &[]);
        check(&[("engine/src/a.rs", "pub struct A;\n#[cfg(test)]\nmod tests { use crate::b::B; }"), b], &[]);
        check(&[("server/src/a.rs", "use crate::b::B;\npub struct A;"), b], &[]);
    }

    #[test]
    fn a_name_counts_where_it_is_defined() {
        let whole = ("engine/src/t/mod.rs", "mod a;\nmod b;\npub(crate) use a::{A, X as Y};\npub fn f() {}");
        let a = ("engine/src/t/a.rs", "use super::b::B;\npub struct A;\npub struct X;");
        check(&[whole, a, ("engine/src/t/b.rs", "use super::{Y, f};\npub struct B;")], &["engine/t: a b"]);
        check(&[whole, a, ("engine/src/t/b.rs", "use super::f;\npub struct B;")], &[]);
        check(&[whole, a, ("engine/src/u.rs", "use crate::t::A;")], &[]);
        let above = ("engine/src/t/b.rs", "use crate::u::U;\npub struct B;");
        check(&[whole, a, above, ("engine/src/u.rs", "pub struct U(crate::t::A);")], &["engine: t u"]);
    }
}
