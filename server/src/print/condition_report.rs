//! Conditions of a user and their outcomes, in the forms that CI systems read.

use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::BytesText;
use serde_json::{Value, json};

/// The outcome of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConditionState {
    /// It does not hold.
    Kept,
    /// It holds.
    Broken,
    /// Nobody can tell.
    Undecided,
}

/// A condition that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedCondition {
    /// The condition in the words of the user.
    pub condition: String,
    /// Its outcome.
    pub state: ConditionState,
    /// Why it holds, or why nobody can tell.
    pub reasons: Vec<String>,
}

impl CheckedCondition {
    /// A condition that holds for these reasons, else one of which nobody can tell for others, else
    /// one that is kept.
    #[must_use]
    pub fn of(condition: &str, broken: Vec<String>, undecided: Vec<String>) -> Self {
        let (state, reasons) = match (broken.is_empty(), undecided.is_empty()) {
            (false, _) => (ConditionState::Broken, broken),
            (true, false) => (ConditionState::Undecided, undecided),
            (true, true) => (ConditionState::Kept, Vec::new()),
        };
        Self { condition: condition.to_owned(), state, reasons }
    }
}

/// A form for a CI system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CiForm {
    /// Annotations of GitHub, a line each.
    Github,
    /// JUnit's XML, a test for each condition.
    Junit,
    /// SARIF 2.1.0, a result for each condition that is not kept.
    Sarif,
}

/// The outcome of a command: its answer and its conditions.
#[derive(Debug, Clone, Copy)]
pub struct ConditionReport<'r> {
    /// The command, such as `nprof diff`.
    pub command: &'r str,
    /// Its answer in a sentence.
    pub answer: &'r str,
    /// The conditions.
    pub checked: &'r [CheckedCondition],
}

impl ConditionReport<'_> {
    /// Writes the report.
    pub fn write(&self, form: CiForm, out: &mut dyn Write) -> io::Result<()> {
        match form {
            CiForm::Github => self.github(out),
            CiForm::Junit => self.junit(out),
            CiForm::Sarif => {
                serde_json::to_writer_pretty(&mut *out, &self.sarif())?;
                writeln!(out)
            }
        }
    }

    fn github(&self, out: &mut dyn Write) -> io::Result<()> {
        let title = property(self.command);
        writeln!(out, "::notice title={title}::{}", message(self.answer))?;
        for one in self.checked {
            let level = match one.state {
                ConditionState::Kept => continue,
                ConditionState::Broken => "error",
                ConditionState::Undecided => "warning",
            };
            let title = property(&format!("{} {}", self.command, one.condition));
            writeln!(out, "::{level} title={title}::{}", message(&one.reasons.join("\n")))?;
        }
        Ok(())
    }

    fn junit(&self, out: &mut dyn Write) -> io::Result<()> {
        let count =
            |state: ConditionState| self.checked.iter().filter(|one| one.state == state).count().to_string();
        let (failures, errors) = (count(ConditionState::Broken), count(ConditionState::Undecided));
        let tests = self.checked.len().to_string();
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        let suite = [
            ("name", self.command),
            ("tests", tests.as_str()),
            ("failures", failures.as_str()),
            ("errors", errors.as_str()),
        ];
        let mut xml = Writer::new_with_indent(&mut *out, b' ', 2);
        xml.create_element("testsuite").with_attributes(suite).write_inner_content(|xml| {
            for one in self.checked {
                let case = [("classname", self.command), ("name", one.condition.as_str())];
                xml.create_element("testcase").with_attributes(case).write_inner_content(|xml| {
                    let element = match one.state {
                        ConditionState::Kept => return Ok(()),
                        ConditionState::Broken => "failure",
                        ConditionState::Undecided => "error",
                    };
                    let reasons = one.reasons.join("\n");
                    let failure = xml.create_element(element).with_attribute(("message", self.answer));
                    failure.write_text_content(BytesText::new(&reasons)).map(drop)
                })?;
            }
            xml.create_element("system-out").write_text_content(BytesText::new(self.answer)).map(drop)
        })?;
        writeln!(out)
    }

    fn sarif(&self) -> Value {
        let rule = |one: &CheckedCondition| json!({"id": one.condition, "shortDescription": {"text": one.condition}});
        let result = |one: &CheckedCondition| {
            let level = match one.state {
                ConditionState::Kept => return None,
                ConditionState::Broken => "error",
                ConditionState::Undecided => "warning",
            };
            Some(
                json!({"ruleId": one.condition, "level": level, "message": {"text": one.reasons.join("\n")}}),
            )
        };
        let driver = json!({
            "name": self.command,
            "version": env!("CARGO_PKG_VERSION"),
            "rules": self.checked.iter().map(rule).collect::<Vec<_>>(),
        });
        let results: Vec<Value> = self.checked.iter().filter_map(result).collect();
        let run = json!({"tool": {"driver": driver}, "results": results});
        json!({"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]})
    }
}

/// A text as the message of a command of GitHub's runners.
fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A text as a property of such a command.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(form: CiForm) -> String {
        let condition = |condition: &str, state: ConditionState, reasons: &[&str]| CheckedCondition {
            condition: condition.to_owned(),
            state,
            reasons: reasons.iter().map(|reason| (*reason).to_owned()).collect(),
        };
        let checked = [
            condition("a > 1%", ConditionState::Kept, &[]),
            condition("b > 2%", ConditionState::Broken, &["b < \"c\" & d", "100 %"]),
            condition("c", ConditionState::Undecided, &["no data"]),
        ];
        let report = ConditionReport { command: "nprof diff", answer: "b <is> slower", checked: &checked };
        let mut text = Vec::new();
        report.write(form, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn signs_of_each_form_are_escaped() {
        let github = report(CiForm::Github);
        assert!(github.contains("::error title=nprof diff b > 2%25::b < \"c\" & d%0A100 %25\n"), "{github}");
        assert!(github.contains("::warning title=nprof diff c::no data\n") && !github.contains("a > 1"));
        let junit = report(CiForm::Junit);
        for part in [
            r#"<testsuite name="nprof diff" tests="3" failures="1" errors="1">"#,
            r#"<testcase classname="nprof diff" name="a &gt; 1%">"#,
            "b &lt; &quot;c&quot; &amp; d\n100 %</failure>",
            "<system-out>b &lt;is&gt; slower</system-out>",
        ] {
            assert!(junit.contains(part), "{part}: {junit}");
        }
        let sarif: Value = serde_json::from_str(&report(CiForm::Sarif)).unwrap();
        let results = sarif["runs"][0]["results"].as_array().unwrap();
        assert_eq!(
            (results.len(), &results[0]["level"], &results[1]["level"]),
            (2, &json!("error"), &json!("warning"))
        );
    }
}
