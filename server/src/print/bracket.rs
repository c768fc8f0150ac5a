//! Times between bounds as JSON, alike in all answers.

use nprof_engine::insight::Bracket;
use serde_json::{Value, json};

/// A bracket with the keys of all answers.
#[must_use]
pub fn bracket(of: &Bracket) -> Value {
    json!({"low": of.low_ps, "middle": of.middle_ps, "high": of.high_ps})
}
