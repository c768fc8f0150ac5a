//! Names and shapes that need a parser: types, files, parameters and sentences, for
//! `tests/names.rs`.

use proc_macro2::TokenTree;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, FnArg, Ident, ItemEnum, ItemMacro, ItemMod, ItemStruct, ItemTrait, ItemType, ItemUnion, Macro,
    Pat, Signature, Type,
};

use crate::source::ProjectFile;

/// Words that are no nouns, though they neither end in "ed" nor in "ing".
const ADJECTIVES: [&str; 51] = [
    "absent",
    "across",
    "again",
    "ahead",
    "apart",
    "asynchronous",
    "beside",
    "better",
    "certain",
    "full",
    "given",
    "held",
    "hidden",
    "inside",
    "kept",
    "known",
    "late",
    "left",
    "local",
    "lost",
    "natural",
    "nearest",
    "next",
    "older",
    "once",
    "only",
    "out",
    "outside",
    "over",
    "own",
    "partial",
    "plain",
    "recent",
    "regular",
    "said",
    "seen",
    "sent",
    "several",
    "shown",
    "shrunk",
    "shut",
    "silent",
    "spoken",
    "stolen",
    "sure",
    "taken",
    "told",
    "torn",
    "unknown",
    "unread",
    "written",
];
/// Nouns that end in "ed" or "ing": things, and the names of tasks.
const NOUNS: [&str; 20] = [
    "pointing",
    "standing",
    "beginning",
    "finding",
    "fitting",
    "heading",
    "listing",
    "matching",
    "meeting",
    "naming",
    "packing",
    "placing",
    "reading",
    "ring",
    "sorting",
    "speed",
    "staging",
    "string",
    "timing",
    "warning",
];
/// Words that begin a sentence about something without a name.
const SUBJECTS_WITHOUT_NAME: [&str; 7] = ["Of", "So many", "What", "Whatever", "Where", "Who", "Whose"];

/// Lines and names of the types that a file declares: structs, enums, unions, traits and aliases.
/// Those of tests do not count. Types inside the braces of a macro do.
#[must_use]
pub fn types(source: &ProjectFile) -> Vec<(usize, String)> {
    let mut found = Types::default();
    visit_product(source, &mut found);
    found.0.iter().map(|name| (name.span().start().line, name.to_string())).collect()
}

/// The tuples that functions of a file have as parameters. Tests and closures do not count.
#[must_use]
pub fn tuple_parameters(source: &ProjectFile) -> Vec<TupleParameter> {
    let mut found = TupleSearch::default();
    visit_product(source, &mut found);
    found.0
}

/// The words of a file's path that are no nouns: a file is named for the thing it defines.
#[must_use]
pub fn adjectives(source: &ProjectFile) -> Vec<String> {
    if !source.path.ends_with(".rs") {
        return Vec::new();
    }
    let parts = source.path.trim_end_matches(".rs").split('/');
    let last_word = |part: &str| part.trim_end_matches("_tests").rsplit('_').next().map(str::to_owned);
    parts.filter_map(last_word).filter(|word| is_adjective(word)).collect()
}

fn is_adjective(word: &str) -> bool {
    let is_participle = (word.ends_with("ed") || word.ends_with("ing")) && !NOUNS.contains(&word);
    is_participle || ADJECTIVES.contains(&word)
}

/// Lines of comments with a sentence about something without a name.
#[must_use]
pub fn sentences_without_name(source: &ProjectFile) -> Vec<usize> {
    if source.code.is_empty() {
        return Vec::new();
    }
    (1..).zip(source.text.lines()).filter(|(_, line)| lacks_subject(line)).map(|(line, _)| line).collect()
}

fn lacks_subject(line: &str) -> bool {
    let Some(comment) = line.trim_start().strip_prefix("//") else { return false };
    let text = comment.trim_start_matches(['/', '!', ' ']);
    let ends = [". ", ": ", "; "].iter().flat_map(|end| text.match_indices(end).map(|(at, _)| at + 2));
    let mut starts = ends.map(|at| &text[at..]).chain([text]);
    starts.any(|sentence| {
        SUBJECTS_WITHOUT_NAME.iter().any(|word| {
            let rest = sentence.strip_prefix(word);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || "_:'".contains(c)))
        })
    })
}

/// Number of sections of a file that tell of errors.
#[must_use]
pub fn error_sections(source: &ProjectFile) -> usize {
    let is_heading = |line: &&str| ["/// # Errors", "//! # Errors"].contains(&line.trim());
    if source.code.is_empty() { 0 } else { source.text.lines().filter(is_heading).count() }
}

/// Visits the product's part of a file. A file that does not parse is a problem for the compiler.
fn visit_product(source: &ProjectFile, visitor: &mut impl for<'ast> Visit<'ast>) {
    if is_product(&source.path)
        && let Ok(file) = syn::parse_file(&source.text)
    {
        visitor.visit_file(&file);
    }
}

fn is_product(path: &str) -> bool {
    let is_of_tests = path.starts_with("tests/tests/")
        || path.split('/').skip(1).any(|part| part == "tests")
        || path.ends_with("tests.rs");
    path.ends_with(".rs") && !is_of_tests
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let cfg = attribute.meta.require_list().map(|list| list.tokens.to_string()).unwrap_or_default();
        attribute.path().is_ident("cfg") && (cfg == "test" || cfg.starts_with("all (test"))
    })
}

#[derive(Default)]
struct Types(Vec<Ident>);

impl<'ast> Visit<'ast> for Types {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        self.0.push(item.ident.clone());
    }

    fn visit_item_enum(&mut self, item: &'ast ItemEnum) {
        self.0.push(item.ident.clone());
    }

    fn visit_item_union(&mut self, item: &'ast ItemUnion) {
        self.0.push(item.ident.clone());
    }

    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        self.0.push(item.ident.clone());
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast ItemType) {
        self.0.push(item.ident.clone());
    }

    fn visit_item_macro(&mut self, item: &'ast ItemMacro) {
        self.visit_macro(&item.mac);
    }

    fn visit_macro(&mut self, item: &'ast Macro) {
        let tokens: Vec<TokenTree> = item.tokens.clone().into_iter().collect();
        for pair in tokens.windows(2) {
            if let [TokenTree::Ident(kind), TokenTree::Ident(name)] = pair
                && ["struct", "enum", "trait"].iter().any(|known| kind == known)
            {
                self.0.push(name.clone());
            }
        }
    }
}

/// A tuple as a parameter.
#[derive(Debug, PartialEq, Eq)]
pub struct TupleParameter {
    /// Line of the parameter, from 1.
    pub line: usize,
    pub function: String,
    /// Whether all members are of one type, as those of `(start, end)` are.
    pub is_of_one_type: bool,
}

#[derive(Default)]
struct TupleSearch(Vec<TupleParameter>);

impl TupleSearch {
    fn take(&mut self, signature: &Signature) {
        for input in &signature.inputs {
            let FnArg::Typed(typed) = input else { continue };
            let members = members(&typed.ty);
            // A type with a short name can be a tuple, too: its pattern tells.
            if members.is_some() || matches!(*typed.pat, Pat::Tuple(_)) {
                self.0.push(TupleParameter {
                    line: typed.span().start().line,
                    function: signature.ident.to_string(),
                    is_of_one_type: members
                        .is_some_and(|members| members.iter().all(|member| *member == members[0])),
                });
            }
        }
    }
}

impl<'ast> Visit<'ast> for TupleSearch {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_signature(&mut self, signature: &'ast Signature) {
        self.take(signature);
    }
}

/// Members of a tuple or of a reference to one. The unit has none and is no tuple.
fn members(parameter: &Type) -> Option<Vec<&Type>> {
    match parameter {
        Type::Tuple(tuple) if !tuple.elems.is_empty() => Some(tuple.elems.iter().collect()),
        Type::Reference(reference) => members(&reference.elem),
        Type::Paren(inner) => members(&inner.elem),
        _ => None,
    }
}
