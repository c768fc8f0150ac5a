//! Checks names and shapes: each type has a name of its own, files are named by nouns, pairs have
//! names, and sentences have subjects.
//!
//! Each count has a limit, which can only shrink. The tests print the counts.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test, which prints its counts")]

use std::collections::BTreeMap;

use nprof_tests::names::{adjectives, error_sections, sentences_without_name, tuple_parameters, types};
use nprof_tests::source::{ProjectFile, at, project_root, read_all};

/// Declarations of a type whose name another type has, too.
const SHARED_TYPES: usize = 42;
/// Names that more than two types have.
const NAMES_OF_MANY: usize = 0;
/// Files whose paths contain a word that is no noun.
const ADJECTIVE_FILES: usize = 0;
/// Tuples as parameters of functions.
const TUPLE_PARAMETERS: usize = 0;
/// The part of these whose members are of several types.
const MIXED_PARAMETERS: usize = 0;
/// Sections of documentation that tell of errors.
const ERROR_SECTIONS: usize = 193;
/// Lines of comments with a sentence about something without a name.
const SENTENCES_WITHOUT_NAME: usize = 0;
/// Names that each program or crate declares for itself.
const NAMES_OF_EACH: [&str; 2] = ["Args", "Result"];

fn sources() -> Vec<ProjectFile> {
    read_all(&project_root()).unwrap()
}

/// Fails if there are more problems than the limit allows.
#[track_caller]
fn check_limit(subject: &str, limit: usize, problems: &[String]) {
    println!("{subject}: {}", problems.len());
    let list = problems.join("\n");
    assert!(problems.len() <= limit, "{subject}: {}, at most {limit}\n{list}", problems.len());
}

/// Places of the types by name.
fn places(sources: &[ProjectFile]) -> BTreeMap<String, Vec<String>> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources {
        for (line, name) in types(source) {
            places.entry(name).or_default().push(format!("{}:{line}", source.path));
        }
    }
    places.retain(|name, _| !NAMES_OF_EACH.contains(&name.as_str()));
    places
}

/// Names that at least `least` types have, with the places.
fn shared(places: &BTreeMap<String, Vec<String>>, least: usize) -> Vec<String> {
    let names = places.iter().filter(|(_, places)| places.len() >= least);
    names.map(|(name, places)| format!("{name}: {}", places.join(", "))).collect()
}

#[test]
fn types_have_names_of_their_own() {
    let places = places(&sources());
    println!("types: {}", places.values().map(Vec::len).sum::<usize>());
    let several = places.iter().filter(|(_, places)| places.len() > 1);
    let all: Vec<String> =
        several.flat_map(|(name, places)| places.iter().map(move |at| format!("{at}: {name}"))).collect();
    check_limit("names of more than two types", NAMES_OF_MANY, &shared(&places, 3));
    check_limit("types whose name another type has", SHARED_TYPES, &all);
}

#[test]
fn files_are_named_by_nouns() {
    let problem = |source: &ProjectFile| {
        let words = adjectives(source);
        (!words.is_empty()).then(|| format!("{}: {}", source.path, words.join(", ")))
    };
    let problems: Vec<String> = sources().iter().filter_map(problem).collect();
    check_limit("files named by adjectives", ADJECTIVE_FILES, &problems);
}

#[test]
fn pairs_have_names() {
    let (mut all, mut mixed) = (Vec::new(), Vec::new());
    for source in sources().iter().filter(|source| source.path.contains("/src/")) {
        for parameter in tuple_parameters(source) {
            let problem = at(source, parameter.line, &format!("a tuple in `{}`", parameter.function));
            if !parameter.is_of_one_type {
                mixed.push(problem.clone());
            }
            all.push(problem);
        }
    }
    check_limit("tuples as parameters", TUPLE_PARAMETERS, &all);
    check_limit("tuples of several types as parameters", MIXED_PARAMETERS, &mixed);
}

#[test]
fn errors_are_told_where_a_type_does_not_tell_them() {
    let each = |source: &ProjectFile| vec![source.path.clone(); error_sections(source)];
    let sections: Vec<String> = sources().iter().flat_map(each).collect();
    check_limit("sections about errors", ERROR_SECTIONS, &sections);
}

#[test]
fn sentences_have_subjects() {
    let problem = |source: &ProjectFile| {
        let lines = sentences_without_name(source);
        lines.into_iter().map(|line| at(source, line, "name the subject")).collect::<Vec<_>>()
    };
    let problems: Vec<String> = sources().iter().flat_map(problem).collect();
    check_limit("sentences without a named subject", SENTENCES_WITHOUT_NAME, &problems);
}

fn source(text: &str) -> ProjectFile {
    ProjectFile::new("engine/src/a.rs", text)
}

#[test]
fn a_type_is_found_wherever_it_is_declared() {
    let text = "struct A;\npub enum B {}\ntrait C { type X; }\nmod d { type D = u8; }\n\
        table! { pub struct E {} }\nfn f() { struct F; }\nimpl C for A { type X = u8; }\n\
        #[cfg(test)]\nmod tests { struct G; }";
    let names: Vec<(usize, String)> = types(&source(text));
    let expected = [(1, "A"), (2, "B"), (3, "C"), (4, "D"), (5, "E"), (6, "F")];
    assert_eq!(names, expected.map(|(line, name)| (line, name.to_owned())));
    assert!(types(&ProjectFile::new("engine/src/a/tests.rs", text)).is_empty());
    let both = [source("struct A;"), source("enum A {}"), source("struct B;")];
    assert_eq!(shared(&places(&both), 2), ["A: engine/src/a.rs:1, engine/src/a.rs:1"]);
    assert!(shared(&places(&both), 3).is_empty());
}

#[test]
fn a_file_named_by_an_adjective_is_found() {
    for (path, expected) in [
        ("engine/src/held.rs", 1),
        ("engine/src/left_out.rs", 1),
        ("engine/src/opened/sorted.rs", 2),
        ("engine/src/named_tests.rs", 1),
        ("engine/src/sorted_rows.rs", 0),
        ("engine/src/warning.rs", 0),
        ("engine/src/query/mod.rs", 0),
        ("docs/kept.md", 0),
    ] {
        assert_eq!(adjectives(&ProjectFile::new(path, "")).len(), expected, "{path}");
    }
}

#[test]
fn a_tuple_among_the_parameters_is_found() {
    #[track_caller]
    fn check_tuple(text: &str, expected: &[bool]) {
        let found = tuple_parameters(&source(text));
        assert_eq!(found.iter().map(|found| found.is_of_one_type).collect::<Vec<_>>(), expected, "{text}");
    }
    check_tuple("fn f((a, b): (u8, u16)) {}", &[false]);
    check_tuple("fn f(pair: &(u8, u8), c: u8) {}", &[true]);
    check_tuple("impl A { fn f(&self, (a, b): (&str, &[u8])) {} }", &[false]);
    check_tuple("trait A { fn f(&self, pair: (u8, u8)); }", &[true]);
    check_tuple("type P = (u8, u8);\nfn f((a, b): P) {}", &[false]);
    check_tuple("fn f(a: u8, unit: (), all: &[(u8, u8)]) { g(|(a, b)| a) }", &[]);
    check_tuple("#[cfg(test)]\nmod tests { fn f(pair: (u8, u8)) {} }", &[]);
}

#[test]
fn sections_and_sentences_are_found() {
    assert_eq!(error_sections(&source("/// A.\n///\n/// # Errors\n/// If\nfn f() {}\n// # Errors")), 1);
    let text = "/// What is read.\n// A row. Who reads it waits.\n// A row: of both.\n// Of one.\n// Often.\n\
        /// One of two. Whether it is.\nlet a = b; // Where";
    assert_eq!(sentences_without_name(&source(text)), [1, 2, 4]);
}
