//! Times between bounds as text and JSON, alike in all answers.

use nprof_engine::base::time::short_duration;
use nprof_engine::insight::Bracket;
use serde_json::{Value, json};

/// A bracket with the keys of all answers.
#[must_use]
pub fn bracket(of: &Bracket) -> Value {
    json!({"low": of.low_ps, "middle": of.middle_ps, "high": of.high_ps})
}

/// The bounds of a time that is not negative.
#[must_use]
pub fn between(of: &Bracket) -> String {
    let time = |ps: i64| short_duration(ps as f64);
    format!("between {} and {}", time(of.low_ps.max(0)), time(of.high_ps))
}
