//! Tests the law of addresses, the addresses themselves, and the questions that are refused.

use proptest::prelude::*;

use super::*;
use crate::query::{HitPlace, Syntax};

fn parse(path: &str) -> Result<Question, Refusal> {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    Question::parse(path, query)
}

/// Whether a path fits a template.
fn fits(template: &str, path: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    let (template, path): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
    template.len() == path.len()
        && template.iter().zip(&path).all(|(part, given)| part.starts_with('{') || part == given)
}

proptest! {
    #[test]
    fn reading_what_was_written_gives_the_same_question(question in Question::any()) {
        prop_assert_eq!(parse(&question.path()), Ok(question));
    }

    #[test]
    fn every_path_is_in_the_table(question in Question::any()) {
        let path = question.path();
        prop_assert!(QUESTIONS.iter().any(|row| fits(row.path, &path)), "{}", path);
    }

    #[test]
    fn any_text_is_read_or_refused(path in "(/(api|profiles|ranks|slices|step|1|%4|\\PC{0,4})){0,8}", query in "\\PC{0,40}") {
        let _ = Question::parse(&path, &query);
    }
}

/// Pages of other versions, scripts and caches of tiles have these addresses.
#[test]
fn addresses_stay_as_they_are() {
    let written: Vec<String> = QUESTIONS.iter().map(|row| (row.example)().path()).collect();
    let rank = "/api/profiles/a%20b/ranks/0";
    let known = [
        "/api/profiles".to_owned(),
        "/api/profiles/a%20b".to_owned(),
        "/api/profiles/a%20b/findings?limit=2".to_owned(),
        rank.to_owned(),
        format!("{rank}/tiles/a%20b/1/43/0"),
        format!("{rank}/slices/2"),
        format!("{rank}/slices/2/step?direction=previous_operation&closed=8,9"),
        format!("{rank}/tables/a%20b?limit=2&start_ps=-5&end_ps=7&tracks=3,5"),
        format!("{rank}/counters/2?at_ps=3&start_ps=-5&end_ps=7"),
        format!("{rank}/events?start_ps=-5&end_ps=7&tracks=3,5&limit=2"),
        format!(
            "{rank}/search?q=a%20b&syntax=query&zero_ps=3&at_ps=4&at_row=6&direction=around&limit=2\
             &cells=2&start_ps=-5&end_ps=7"
        ),
        format!("{rank}/search/light?q=a%20b&syntax=query&zero_ps=3&start_ps=-5&end_ps=7&cells=2"),
        format!("{rank}/search/completions?q=a%20b&cursor=2&limit=2"),
        format!("{rank}/selection?start_ps=-5&end_ps=7&tracks=3,5&q=a%20b&syntax=query&zero_ps=3"),
        format!("{rank}/summary?start_ps=-5&end_ps=7"),
        format!("{rank}/waits?start_ps=-5&end_ps=7&steps=2&ranks=3,5"),
        format!("{rank}/activity?quantity=compute"),
    ];
    for address in known {
        assert!(written.contains(&address), "{address} is not among {written:#?}");
    }
}

#[test]
fn parameters_stand_in_the_order_of_the_path_and_are_all_described() {
    for row in QUESTIONS {
        let mut all = Vec::new();
        (row.parameters)(&mut all);
        let of_path: Vec<&str> =
            row.path.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect();
        let in_path = all.iter().filter(|one| one.place == crate::wire::grammar::ParameterPlace::Path);
        assert_eq!(in_path.map(|one| one.name).collect::<Vec<_>>(), of_path, "{}", row.path);
        assert!(all.iter().all(|one| one.doc.ends_with('.')), "{}: {all:?}", row.path);
        assert!(row.doc.ends_with('.') && !row.doc.contains('['), "{}", row.doc);
    }
}

#[track_caller]
fn check_refused(path: &str, kind: RefusalKind, message: &str) {
    let refusal = parse(path).unwrap_err();
    assert_eq!(refusal.kind, kind, "{refusal}");
    assert!(refusal.message.contains(message), "{refusal}");
}

#[test]
fn refusals_name_the_parameter() {
    use RefusalKind::{BadQuestion, NotFound};
    check_refused("/api/profiles/a/ranks/x", BadQuestion, "rank should be a whole number");
    check_refused("/api/profiles/a/ranks/0/nothing", NotFound, "/api/openapi.json");
    check_refused("/api/profiles//ranks/0", NotFound, "no resource at");
    check_refused("/api/profiles/a/ranks/0/events?start_ps=1", BadQuestion, "end_ps is missing");
    check_refused("/api/profiles/a/ranks/0/events?start_ps=2&end_ps=1", BadQuestion, "before start_ps");
    check_refused("/api/profiles/a/ranks/0/slices/1/step?direction=in", BadQuestion, "next, previous");
    check_refused("/api/profiles/a/ranks/0/search?at_row=1&q=a", BadQuestion, "at_row needs at_ps");
    check_refused("/api/profiles/a/ranks/0/search?q=%zz", BadQuestion, "q should be UTF-8");
    check_refused(
        "/api/profiles/a/ranks/0/selection?start_ps=0&end_ps=1&tracks=a",
        BadQuestion,
        "tracks=3,5,7",
    );
    check_refused("/api/profiles/a/ranks/0/tables/b?end_ps=1", BadQuestion, "start_ps is missing");
    check_refused("/api/profiles/a/ranks/0/tables/", NotFound, "no resource at");
    check_refused("/api/profiles/a/ranks/0/tiles/c/0/44/0", NotFound, "the coarsest level is 43");
}

#[test]
fn a_search_by_hand_needs_only_its_text() {
    let by_hand = parse("/api/profiles/a/ranks/0/search?q=all+to%20all").unwrap();
    let search = SearchQuestion {
        text: "all to all".to_owned(),
        syntax: Syntax::Text,
        zero_ps: 0,
        at: HitPlace::FIRST,
        toward: Toward::Next,
        limit: 1_000,
        cells: 0,
        span: None,
    };
    let id = RankId { profile: "a".to_owned(), rank: 0.into() };
    assert_eq!(by_hand, Question::OfRank(id, search.into()));
}

#[test]
fn a_table_by_hand_needs_only_its_name() {
    let by_hand = parse("/api/profiles/a/ranks/0/tables/nc_memory").unwrap();
    let rows = RowsQuestion::of_table("nc_memory", 1_000);
    assert_eq!(by_hand, Question::OfRank(RankId { profile: "a".to_owned(), rank: 0.into() }, rows.into()));
}
