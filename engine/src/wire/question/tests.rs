//! Tests the invariant of the grammar, and the questions that it refuses.

use proptest::prelude::*;

use super::parameters::Words;
use super::*;
use crate::wire::catalog::ALL_RANKS;

fn spans() -> impl Strategy<Value = Interval> {
    (any::<i64>(), any::<i64>()).prop_map(|(a, b)| Interval::new(a.min(b), a.max(b)))
}

fn tracks() -> impl Strategy<Value = Option<Vec<u32>>> {
    prop::option::of(prop::collection::vec(any::<u32>(), 0..4))
}

fn meaning<T: Copy + fmt::Debug + 'static, const N: usize>(
    words: &Words<T, N>,
) -> impl Strategy<Value = T> + use<T, N> {
    prop::sample::select(words.iter().map(|(_, meaning)| *meaning).collect::<Vec<_>>())
}

fn searches() -> impl Strategy<Value = SearchQuery> {
    let at = (any::<i64>(), any::<u32>()).prop_map(|(start_ps, row)| HitPlace { start_ps, row });
    ("\\PC{0,12}", meaning(&SYNTAXES), at, meaning(&TOWARDS), any::<u32>())
        .prop_map(|(text, syntax, at, toward, limit)| SearchQuery { text, syntax, at, toward, limit })
}

fn of_rank() -> impl Strategy<Value = RankQuestion> {
    let level = (0..=Level::COARSEST.number()).prop_map(|number| Level::new(number).unwrap());
    let tile =
        ("\\PC{1,12}", any::<u32>(), level, any::<i64>()).prop_map(|(content, group, level, index)| {
            RankQuestion::Tile { content, id: TileId { group, level, index } }
        });
    let step = (any::<u32>(), meaning(&DIRECTIONS), prop::collection::vec(any::<u32>(), 0..4))
        .prop_map(|(row, to, closed)| RankQuestion::Step { row, to, closed });
    let rows = ("\\PC{1,12}", prop::option::of(spans()), tracks(), any::<u32>())
        .prop_map(|(table, span, tracks, limit)| RankQuestion::Rows { table, span, tracks, limit });
    prop_oneof![
        Just(RankQuestion::Detail),
        rows,
        Just(RankQuestion::Summary),
        tile,
        any::<u32>().prop_map(RankQuestion::Slice),
        step,
        (any::<u32>(), any::<i64>(), spans()).prop_map(|(track, at_ps, span)| RankQuestion::Counter {
            track,
            at_ps,
            span
        }),
        (spans(), tracks(), any::<u32>()).prop_map(|(span, tracks, limit)| RankQuestion::Events {
            span,
            tracks,
            limit
        }),
        searches().prop_map(RankQuestion::Search),
        (spans(), tracks()).prop_map(|(span, tracks)| RankQuestion::Selection { span, tracks }),
        (spans(), any::<u32>(), tracks()).prop_map(|(span, steps, ranks)| RankQuestion::Waits {
            span,
            steps,
            ranks
        }),
    ]
}

fn questions() -> impl Strategy<Value = Question> {
    let rank = ("\\PC{1,12}", prop_oneof![any::<u32>(), Just(ALL_RANKS)])
        .prop_map(|(profile, rank)| RankId { profile, rank });
    prop_oneof![
        1 => Just(Question::Profiles),
        1 => "\\PC{1,12}".prop_map(Question::Profile),
        9 => (rank, of_rank()).prop_map(|(id, question)| Question::OfRank(id, question)),
    ]
}

fn parse(path: &str) -> Result<Question, Refusal> {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    Question::parse(path, query)
}

/// Whether a path fits a template of [`Question::PATHS`].
fn fits(template: &str, path: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    let (template, path): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
    template.len() == path.len()
        && template.iter().zip(&path).all(|(part, given)| part.starts_with('{') || part == given)
}

proptest! {
    #[test]
    fn reading_what_was_written_gives_the_same_question(question in questions()) {
        prop_assert_eq!(parse(&question.path()), Ok(question));
    }

    #[test]
    fn every_path_is_in_the_list(question in questions()) {
        let path = question.path();
        prop_assert!(Question::PATHS.iter().any(|template| fits(template, &path)), "{}", path);
    }

    #[test]
    fn any_text_is_read_or_refused(path in "(/(api|profiles|ranks|slices|step|1|%4|\\PC{0,4})){0,8}", query in "\\PC{0,40}") {
        let _ = Question::parse(&path, &query);
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
    let search = SearchQuery {
        text: "all to all".to_owned(),
        syntax: Syntax::Text,
        at: HitPlace::FIRST,
        toward: Toward::Next,
        limit: DEFAULT_LIMIT,
    };
    let id = RankId { profile: "a".to_owned(), rank: 0 };
    assert_eq!(by_hand, Question::OfRank(id, RankQuestion::Search(search)));
}

#[test]
fn a_table_by_hand_needs_only_its_name() {
    let by_hand = parse("/api/profiles/a/ranks/0/tables/nc_memory").unwrap();
    let rows =
        RankQuestion::Rows { table: "nc_memory".to_owned(), span: None, tracks: None, limit: DEFAULT_LIMIT };
    assert_eq!(by_hand, Question::OfRank(RankId { profile: "a".to_owned(), rank: 0 }, rows));
}

#[test]
fn limits_are_kept() {
    assert_eq!((limited(7), limited(u32::MAX)), (7, 100_000));
    assert_eq!((limited_rows(7), limited_rows(u32::MAX)), (7, 1_000_000));
}
