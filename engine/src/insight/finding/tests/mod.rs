//! Each rule on an example with a planted cause, on a sound one, and where data is missing.

mod jobs;
mod machines;
mod measures;
mod metrics;
mod stage;

use super::{Facts, Finding, Judgement, RULES, RuleName, findings};
use crate::analysis::{Job, Report};
use crate::exec::Work;
use crate::insight::JobGraph;

/// A job with its analysis and its graph.
struct Analysed {
    job: Job,
    report: Report,
    graph: JobGraph,
}

impl Analysed {
    fn verdict(&self, rule: RuleName) -> Judgement {
        let facts = Facts::new(&self.job, &self.report, &self.graph, Work::IN_PLACE).unwrap();
        let all = findings(&facts).unwrap();
        all.into_iter().find(|one| one.rule == rule).unwrap().verdict
    }

    /// The only finding of a rule.
    #[track_caller]
    fn found(&self, rule: RuleName) -> Finding {
        match self.verdict(rule) {
            Judgement::Found(mut found) if found.len() == 1 => found.remove(0),
            other => panic!("{other:?}"),
        }
    }

    fn length_ps(&self) -> i64 {
        Facts::new(&self.job, &self.report, &self.graph, Work::IN_PLACE).unwrap().length_ps()
    }
}

#[test]
fn each_name_leads_to_its_rule() {
    for rule in &RULES {
        assert_eq!(rule.name.rule().id, rule.id);
    }
}
