//! Regular expressions over many texts.
//!
//! Patterns are compiled to automata that read every byte of a text once per state, even for a
//! hostile pattern. Their size and the depth of the pattern are limited. If every match must
//! contain some text, texts without it are skipped at the speed of a plain search.

use regex_automata::meta;
use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::ast::{self, Ast, ClassSetItem};
use regex_syntax::hir::translate::TranslatorBuilder;
use regex_syntax::hir::{Hir, HirKind};

use super::needle::{LetterCase, Needle};
use super::pattern_error::PatternError;
use crate::codec::ColumnTexts;

/// Maximum bytes of a compiled automaton: some ten thousand states. `\w{20}` takes half of it.
const SIZE_MAX: usize = 1 << 20;
/// Maximum bytes of cached states of a lazy DFA.
const CACHE_MAX: usize = 4 << 20;
/// Maximum nesting depth of groups, which is also the recursion depth of the parser.
const DEPTH_MAX: u32 = 50;
/// Number of texts between two checks whether the answer is still wanted.
const TEXTS_BETWEEN: usize = 64;
/// Shortest text that is searched first: a single letter is in nearly every text.
const REQUIRED_MIN: usize = 2;

/// A compiled regular expression.
#[derive(Debug, Clone)]
pub struct Regex {
    automaton: meta::Regex,
    /// Text that every match contains.
    required: Option<Needle>,
}

impl Regex {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// If the pattern is wrong or too large.
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        let ast = ParserBuilder::new().nest_limit(DEPTH_MAX).build().parse(pattern);
        let ast = ast.map_err(|error| wrong(pattern, error.span(), error.kind()))?;
        let case = LetterCase::of(Capitals::of(&ast).into_iter());
        let translate = |any_case: bool| {
            let hir = TranslatorBuilder::new().case_insensitive(any_case).build().translate(pattern, &ast);
            hir.map_err(|error| wrong(pattern, error.span(), error.kind()))
        };
        let config = meta::Config::new()
            .nfa_size_limit(Some(SIZE_MAX))
            .onepass_size_limit(Some(SIZE_MAX))
            .hybrid_cache_capacity(CACHE_MAX);
        let automaton =
            meta::Builder::new().configure(config).build_from_hir(&translate(case == LetterCase::Any)?);
        let automaton = automaton.map_err(|error| PatternError {
            at: None,
            what: match error.size_limit() {
                Some(_) => "it is too large; use fewer repetitions or smaller character classes".to_owned(),
                None => error.to_string(),
            },
        })?;
        // Required text can be read off the pattern only if letters stand for themselves.
        let required = RequiredRuns::longest(&translate(false)?, case);
        let required = required.map(|text| Needle::new(&text, case));
        Ok(Self { automaton, required })
    }

    /// Finds all texts that match, like [`Needle::for_each_match`]. Stops when `is_wanted` returns
    /// `false`.
    pub fn for_each_match(
        &self,
        texts: &ColumnTexts,
        is_wanted: impl Fn() -> bool,
        mut found: impl FnMut(usize),
    ) {
        let (mut looked, mut gave_up) = (0, false);
        let mut look = |at: usize| {
            gave_up = gave_up || looked % TEXTS_BETWEEN == TEXTS_BETWEEN - 1 && !is_wanted();
            looked += 1;
            if !gave_up && self.automaton.is_match(texts.get(at)) {
                found(at);
            }
        };
        match &self.required {
            Some(needle) => needle.for_each_match(texts, look),
            None => (0..texts.len()).for_each(&mut look),
        }
    }
}

fn wrong(pattern: &str, span: &ast::Span, what: &impl ToString) -> PatternError {
    let at = pattern.get(..span.start.offset).map(|before| before.chars().count());
    PatternError { at, what: what.to_string() }
}

/// The literal letters of a pattern.
struct Capitals(Vec<char>);

impl Capitals {
    fn of(ast: &Ast) -> Vec<char> {
        // This visitor never fails.
        ast::visit(ast, Self(Vec::new())).unwrap_or_else(|never: std::convert::Infallible| match never {})
    }
}

impl ast::Visitor for Capitals {
    type Output = Vec<char>;
    type Err = std::convert::Infallible;

    fn finish(self) -> Result<Vec<char>, Self::Err> {
        Ok(self.0)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Self::Err> {
        if let Ast::Literal(literal) = ast {
            self.0.push(literal.c);
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Self::Err> {
        match item {
            ClassSetItem::Literal(literal) => self.0.push(literal.c),
            ClassSetItem::Range(range) => self.0.extend([range.start.c, range.end.c]),
            _ => {}
        }
        Ok(())
    }
}

/// Runs of characters that every match contains.
struct RequiredRuns {
    case: LetterCase,
    current: String,
    longest: String,
}

impl RequiredRuns {
    fn longest(hir: &Hir, case: LetterCase) -> Option<String> {
        let mut runs = Self { case, current: String::new(), longest: String::new() };
        runs.walk(hir);
        runs.cut();
        Some(runs.longest).filter(|text| text.len() >= REQUIRED_MIN)
    }

    /// Recursion is as deep as the pattern, which is limited.
    fn walk(&mut self, hir: &Hir) {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
                Ok(text) => text.chars().for_each(|c| self.take(c)),
                Err(_) => self.cut(),
            },
            HirKind::Capture(capture) => self.walk(&capture.sub),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.walk(part)),
            HirKind::Repetition(repetition) => {
                self.cut();
                if repetition.min > 0 {
                    self.walk(&repetition.sub);
                    self.cut();
                }
            }
            HirKind::Class(_) | HirKind::Alternation(_) => self.cut(),
        }
    }

    fn take(&mut self, c: char) {
        // Without regard to case, letters beyond ASCII match other letters. So do k (the Kelvin
        // sign) and s (the long s).
        if self.case == LetterCase::Any && (!c.is_ascii() || matches!(c, 'k' | 's')) {
            self.cut();
        } else {
            self.current.push(c);
        }
    }

    fn cut(&mut self) {
        if self.current.len() > self.longest.len() {
            std::mem::swap(&mut self.longest, &mut self.current);
        }
        self.current.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(pattern: &str, of: &[String]) -> Vec<usize> {
        let mut found = Vec::new();
        let texts: ColumnTexts = of.iter().collect();
        Regex::new(pattern).unwrap().for_each_match(&texts, || true, |at| found.push(at));
        found
    }

    /// Patterns that are concatenated, repeated, optional, or alternatives.
    fn patterns() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            "[abkAB\u{e4}]{1,3}",
            Just("[a-k]".to_owned()),
            Just(".".to_owned()),
            Just(r"\w".to_owned()),
            Just("^".to_owned()),
            Just("$".to_owned()),
            Just(r"\b".to_owned())
        ];
        leaf.prop_recursive(3, 12, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
                (inner.clone(), "[*+?]|\\{2\\}").prop_map(|(of, times)| format!("(?:{of}){times}")),
                (inner.clone(), inner).prop_map(|(one, other)| format!("({one}|{other})")),
            ]
        })
    }

    proptest! {
        #[test]
        fn finds_what_a_match_text_by_text_finds(
            of in prop::collection::vec("[abkAB\u{e4}\u{212a} ]{0,6}", 0..40),
            pattern in patterns(),
        ) {
            let flags = if pattern.replace("\\b", "").replace("\\w", "").chars().any(char::is_uppercase) { "" } else { "(?i)" };
            let plain = meta::Regex::new(&format!("{flags}{pattern}")).unwrap();
            let expected: Vec<usize> = (0..of.len()).filter(|&at| plain.is_match(&of[at])).collect();
            prop_assert_eq!(found(&pattern, &of), expected);
        }

        #[test]
        fn any_text_is_a_pattern_or_says_where_it_is_wrong(pattern in "[a(){}\\[\\]|*+?\\\\p\u{e4}0-9,^$-]{0,12}") {
            if let Err(error) = Regex::new(&pattern) {
                prop_assert!(error.at.is_none_or(|at| at <= pattern.chars().count()), "{error:?}");
                prop_assert!(!error.what.is_empty());
            }
        }
    }

    #[track_caller]
    fn check_required(pattern: &str, expected: Option<&str>) {
        let ast = ast::parse::Parser::new().parse(pattern).unwrap();
        let hir = TranslatorBuilder::new().build().translate(pattern, &ast).unwrap();
        let case = LetterCase::of(Capitals::of(&ast).into_iter());
        assert_eq!(RequiredRuns::longest(&hir, case).as_deref(), expected, "{pattern}");
    }

    #[test]
    fn what_every_match_contains() {
        check_required("dst=0x20.*", Some("t=0x20"));
        check_required("DST=0x20", Some("DST=0x20"));
        check_required("(ab)+c?def", Some("def"));
        check_required("a(b(cd))e", Some("abcde"));
        check_required("^abc$", Some("abc"));
        check_required("(abc){2}", Some("abc"));
        check_required("abc|abd", None);
        check_required("(abc)?", None);
        check_required("a.b", None);
        check_required("x\u{e4}yz", Some("yz"));
        check_required("(?i)ABC", None);
    }

    #[track_caller]
    fn check_wrong(pattern: &str, at: Option<usize>, what: &str) {
        let error = Regex::new(pattern).expect_err(pattern);
        assert_eq!(error.at, at, "{pattern}: {error}");
        assert!(error.what.contains(what), "{pattern}: {error}");
    }

    #[test]
    fn a_wrong_pattern_says_where_and_what() {
        check_wrong("\u{e4}(b", Some(1), "unclosed group");
        check_wrong("a**(", Some(3), "unclosed group");
        check_wrong("*a", Some(0), "repetition operator missing expression");
        check_wrong("ab[c", Some(2), "unclosed character class");
        check_wrong(r"a\q", Some(1), "unrecognized escape");
        check_wrong("(?=a)", Some(0), "look-around");
        check_wrong(r"(a)\1", Some(3), "backreferences are not supported");
        check_wrong(r"\p{Nothing}", Some(0), "nicode property");
    }

    #[test]
    fn hostile_patterns_are_refused_at_once() {
        check_wrong("((a{1000}){1000}){1000}", None, "too large");
        check_wrong(r"\w{5000}", None, "too large");
        let deep = "(".repeat(10_000) + &")".repeat(10_000);
        assert!(Regex::new(&deep).expect_err("too deep").what.contains("nest"));
    }

    #[test]
    fn hostile_texts_take_linear_time() {
        let texts: ColumnTexts = [&"a".repeat(1 << 20)].into_iter().collect();
        let mut count = 0;
        Regex::new("(a*)*(a|aa)+b").unwrap().for_each_match(&texts, || true, |_| count += 1);
        assert_eq!(count, 0);
    }

    #[test]
    fn gives_up_where_nobody_waits() {
        let of = vec!["a".to_owned(); 1000];
        let mut count = 0;
        Regex::new("a|b").unwrap().for_each_match(&of.iter().collect(), || false, |_| count += 1);
        assert_eq!(count, TEXTS_BETWEEN - 1);
    }
}
