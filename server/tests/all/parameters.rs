//! Compares the query parameters in the description of the API with the grammar of questions.

use std::collections::{BTreeMap, BTreeSet};

use nprof_engine::wire::questions::{QUESTIONS, Question, QuestionRow};
use nprof_engine::wire::refusal::Refusal;
use serde_json::Value;

use crate::openapi::{document, resolve};

/// A question as a path and its parameters, with the description of all that it can have.
struct Asked {
    template: &'static str,
    path: String,
    given: Vec<(String, String)>,
    described: BTreeMap<String, Value>,
}

impl Asked {
    /// The example of a question, which has all of its parameters.
    fn of(row: &QuestionRow) -> Self {
        let whole = (row.example)().path();
        let (path, query) = whole.split_once('?').unwrap_or((&whole, ""));
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let template = row.path;
        let document = document();
        let parameters = document["paths"][template]["get"]["parameters"].as_array();
        let parameters = parameters.into_iter().flatten().map(|one| resolve(&document, one));
        let of_query = parameters.filter(|one| one["in"] == "query");
        Self {
            template,
            path: path.to_owned(),
            given: pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            described: of_query.map(|one| (one["name"].as_str().unwrap().to_owned(), one.clone())).collect(),
        }
    }

    fn is_required(&self, name: &str) -> bool {
        self.described[name]["required"] == true
    }

    /// Parses the question with some of its parameters, and with one that has another value.
    fn parse(&self, keep: impl Fn(&str) -> bool, other: Option<(&str, &str)>) -> Result<Question, Refusal> {
        let is_other = |name: &str| other.is_some_and(|(other, _)| other == name);
        let given = self.given.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let pairs = given.filter(|(name, _)| keep(name) && !is_other(name)).chain(other);
        let query: Vec<String> = pairs.map(|(name, value)| format!("{name}={value}")).collect();
        Question::parse(&self.path, &query.join("&"))
    }

    /// Asserts that the grammar refuses a value, in a message that names the parameter.
    #[track_caller]
    fn check_refused(&self, name: &str, value: &str) -> String {
        let refused = self.parse(|_| true, Some((name, value)));
        let message = refused.expect_err(&format!("{}: {name}={value}", self.template)).message;
        assert!(message.contains(name), "{message}");
        message
    }
}

fn all_asked() -> Vec<Asked> {
    QUESTIONS.iter().map(Asked::of).collect()
}

#[test]
fn the_document_describes_exactly_the_parameters_of_questions() {
    for asked in all_asked() {
        let written: BTreeSet<&String> = asked.given.iter().map(|(name, _)| name).collect();
        let described: BTreeSet<&String> = asked.described.keys().collect();
        assert_eq!(described, written, "{}", asked.template);
    }
}

#[test]
fn a_question_needs_exactly_the_required_parameters() {
    for asked in all_asked() {
        let short = asked.parse(|name| asked.is_required(name), None);
        assert!(short.is_ok(), "{}: {short:?}", asked.template);
        for missing in asked.described.keys().filter(|name| asked.is_required(name)) {
            let refused = asked.parse(|name| asked.is_required(name) && name != missing, None);
            let message = refused.expect_err(&format!("{} without {missing}", asked.template)).message;
            assert!(message.contains(&format!("{missing} is missing")), "{message}");
        }
    }
}

#[test]
fn the_grammar_has_the_described_values() {
    for asked in all_asked() {
        for (name, parameter) in &asked.described {
            let schema = &parameter["schema"];
            if let Some(words) = schema["enum"].as_array() {
                let words: Vec<&str> = words.iter().map(|word| word.as_str().unwrap()).collect();
                for word in &words {
                    assert!(asked.parse(|_| true, Some((name, word))).is_ok(), "{name}={word}");
                }
                let message = asked.check_refused(name, "no-such-word");
                let (_, known) = message.split_once("one of ").unwrap();
                assert_eq!(known.split(", ").collect::<BTreeSet<_>>(), words.into_iter().collect(), "{name}");
            }
            if schema["type"] == "integer" || schema.get("pattern").is_some() {
                asked.check_refused(name, "a");
            }
            if schema.get("minimum").is_some() {
                asked.check_refused(name, "-1");
            }
        }
    }
}

#[test]
fn defaults_are_those_of_the_grammar() {
    let mut defaults = 0;
    for asked in all_asked() {
        for (name, parameter) in &asked.described {
            let default = match &parameter["schema"]["default"] {
                Value::Null => continue,
                Value::String(word) => word.clone(),
                number => number.to_string(),
            };
            let without = asked.parse(|known| known != name, None);
            assert_eq!(without, asked.parse(|_| true, Some((name, &default))), "{} {name}", asked.template);
            defaults += 1;
        }
    }
    assert!(defaults >= 6, "{defaults} defaults");
}
